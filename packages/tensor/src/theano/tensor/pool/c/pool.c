/* Pooling and its derivatives: the arguments and their checks. */
#include "pool.h"

/* The axes that are pooled; sizes follow `arrays` inputs. */
static int read_axes(th_ctx *ctx, int arrays, th_pool *p)
{
    const th_pool_params *told = ctx->params;
    const th_buffer *x = ctx->in[0];
    const int nd = p->nd = (int)told->ndim, kept = x->ndim - nd;
    p->mode = (int32_t)told->mode;
    p->with_padding = p->mode == TH_POOL_MODE_MEAN_WITH_PADDING;
    const int needs_elements = p->mode == TH_POOL_MODE_MAX || p->mode == TH_POOL_MODE_MEAN;
    if (th_pool_read_axes(ctx, arrays, nd, (int)told->ignore_border, needs_elements, p->axis))
        return -1;
    p->planes = p->full = p->pooled = 1;
    for (int d = 0; d < kept; ++d)
        p->planes *= x->shape[d];
    for (int d = 0; d < nd; ++d) {
        p->full *= p->axis[d].n;
        p->pooled *= p->axis[d].windows;
    }
    return 0;
}

static int check_shape(th_ctx *ctx, const th_pool *p, int input, const char *what, int pooled)
{
    return th_pool_check_shape(ctx, p->nd, p->axis, input, what, pooled);
}

static const char *packed(th_ctx *ctx, int input)
{
    return th_packed_in(ctx, ctx->in[input], ctx->in[0]->dtype, ctx->in[0]->itemsize);
}

/* Compute all planes, in parts for threads; each part has space for three lines. */
static int run(th_ctx *ctx, th_pool *p, int pooled, th_body f32, th_body f64)
{
    const th_buffer *x = ctx->in[0];
    th_buffer *out = ctx->out[0];
    int64_t shape[TH_MAX_NDIM];
    th_pool_shape(ctx, p->nd, p->axis, pooled, shape);
    if (ctx->rt->ensure(ctx, out, shape))
        return -1;
    p->out = out->data;
    if (!p->planes || !(pooled ? p->pooled : p->full))
        return 0;
    if (!p->pooled) { /* no window, of which each element of the input would get a share */
        memset(p->out, 0, (size_t)(p->planes * p->full * x->itemsize));
        return 0;
    }
    const th_pool_axis *last = p->axis + p->nd - 1;
    const int64_t line = last->n > last->windows ? last->n : last->windows;
    const int64_t per_part = th_grain(0.5 * (double)(p->full + p->pooled));
    p->parts = (p->planes + per_part - 1) / per_part;
    p->line_bytes = (line * x->itemsize + 63) / 64 * 64 + 64;
    p->part_bytes = 3 * p->line_bytes;
    p->space = ctx->rt->scratch(ctx, (size_t)(p->parts * p->part_bytes));
    if (!p->space)
        return -1;
    return ctx->rt->parallel_for(ctx, p->parts, 1, x->dtype == TH_FLOAT32 ? f32 : f64, p);
}

/* inputs: an array, then ws, stride and pad. */
TH_EXPORT int th_kernel_pool(th_ctx *ctx)
{
    th_pool p;
    if (read_axes(ctx, 1, &p) || !(p.x = packed(ctx, 0)))
        return -1;
    return run(ctx, &p, 1, th_pool_f32, th_pool_f64);
}

/* inputs: what was pooled, its largest elements, the gradient of these. */
TH_EXPORT int th_kernel_pool_max_grad(th_ctx *ctx)
{
    th_pool p;
    if (read_axes(ctx, 3, &p) || check_shape(ctx, &p, 1, "maxout", 1) || check_shape(ctx, &p, 2, "gz", 1) ||
        !(p.x = packed(ctx, 0)) || !(p.largest = packed(ctx, 1)) || !(p.given = packed(ctx, 2)))
        return -1;
    return run(ctx, &p, 0, th_pool_max_grad_f32, th_pool_max_grad_f64);
}

/* inputs: what was pooled, its largest elements, something of the first one's shape. */
TH_EXPORT int th_kernel_pool_max_grad_grad(th_ctx *ctx)
{
    th_pool p;
    if (read_axes(ctx, 3, &p) || check_shape(ctx, &p, 1, "maxout", 1) || check_shape(ctx, &p, 2, "ggx", 0) ||
        !(p.x = packed(ctx, 0)) || !(p.largest = packed(ctx, 1)) || !(p.given = packed(ctx, 2)))
        return -1;
    return run(ctx, &p, 1, th_pool_max_grad_grad_f32, th_pool_max_grad_grad_f64);
}

/* inputs: what was pooled, whose shape counts, and the gradient of the sums. */
TH_EXPORT int th_kernel_pool_sum_grad(th_ctx *ctx)
{
    th_pool p;
    if (read_axes(ctx, 2, &p) || check_shape(ctx, &p, 1, "gz", 1) || !(p.given = packed(ctx, 1)))
        return -1;
    return run(ctx, &p, 0, th_pool_sum_grad_f32, th_pool_sum_grad_f64);
}

/* inputs: what is pooled, and something of its shape. */
TH_EXPORT int th_kernel_pool_max_direction(th_ctx *ctx)
{
    th_pool p;
    if (read_axes(ctx, 2, &p) || check_shape(ctx, &p, 1, "eval_point", 0) || !(p.x = packed(ctx, 0)) ||
        !(p.given = packed(ctx, 1)))
        return -1;
    return run(ctx, &p, 1, th_pool_max_direction_f32, th_pool_max_direction_f64);
}
