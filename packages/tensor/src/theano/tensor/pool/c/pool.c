/* Pooling and its derivatives: what is asked for, and whether it fits. */
#include "pool.h"

#include <inttypes.h>

static int read_vector(th_ctx *ctx, int input, const char *what, int nd, int64_t *to)
{
    const th_buffer *b = ctx->in[input];
    if (b->shape[0] != nd)
        return TH_FAIL(ctx, TH_ERR_VALUE, "ws, stride and pad must be %d numbers each; %s has %" PRId64, nd, what, b->shape[0]);
    for (int d = 0; d < nd; ++d)
        to[d] = th_integer(b, d);
    return 0;
}

static int64_t windows_of(const th_pool_axis *a, int ignore_border)
{
    const int64_t n = a->n, s = a->stride;
    if (ignore_border) {
        const int64_t free = n + 2 * a->pad - a->size;
        return free < 0 ? 0 : free / s + 1;
    }
    if (s >= a->size)
        return (n + s - 1) / s;
    return n <= a->size ? 1 : (n - a->size + s - 1) / s + 1;
}

/* The axes that are pooled. Sizes follow `arrays` inputs, the first of which has the shape. */
static int read_axes(th_ctx *ctx, int arrays, th_pool *p)
{
    const th_pool_params *told = ctx->params;
    const th_buffer *x = ctx->in[0];
    const int nd = p->nd = (int)told->ndim, kept = x->ndim - nd;
    int64_t ws[TH_MAX_NDIM], stride[TH_MAX_NDIM], pad[TH_MAX_NDIM];
    if (read_vector(ctx, arrays, "ws", nd, ws) || read_vector(ctx, arrays + 1, "stride", nd, stride) ||
        read_vector(ctx, arrays + 2, "pad", nd, pad))
        return -1;
    p->mode = (int32_t)told->mode;
    p->planes = p->full = p->pooled = 1;
    for (int d = 0; d < kept; ++d)
        p->planes *= x->shape[d];
    for (int d = 0; d < nd; ++d) {
        th_pool_axis *a = p->axis + d;
        *a = (th_pool_axis){.n = x->shape[kept + d], .size = ws[d], .stride = stride[d], .pad = pad[d]};
        if (a->size < 1 || a->stride < 1)
            return TH_FAIL(ctx, TH_ERR_VALUE, "ws and stride must be positive: along axis %d ws is %" PRId64 ", stride %" PRId64,
                           d, a->size, a->stride);
        if (a->pad < 0 || (a->pad && !told->ignore_border))
            return TH_FAIL(ctx, TH_ERR_VALUE, "pad must not be negative, and needs ignore_border=True: along axis %d pad is %" PRId64,
                           d, a->pad);
        /* The sum of a window that lies in the padding alone is 0; it has no largest element, and no mean. */
        if (a->pad >= a->size && (p->mode == TH_POOL_MODE_MAX || p->mode == TH_POOL_MODE_MEAN))
            return TH_FAIL(ctx, TH_ERR_VALUE, "pad must be smaller than ws: along axis %d pad is %" PRId64 ", ws %" PRId64,
                           d, a->pad, a->size);
        a->windows = windows_of(a, told->ignore_border);
        p->full *= a->n;
        p->pooled *= a->windows;
    }
    return 0;
}

/* Does an array have the shape of the windows, or that of the first input? */
static int check_shape(th_ctx *ctx, const th_pool *p, int input, const char *what, int pooled)
{
    const th_buffer *x = ctx->in[0], *b = ctx->in[input];
    int64_t wanted[TH_MAX_NDIM];
    int same = 1;
    for (int d = 0; d < x->ndim; ++d) {
        const int own = d - (x->ndim - p->nd);
        wanted[d] = own < 0 || !pooled ? x->shape[d] : p->axis[own].windows;
        same &= b->shape[d] == wanted[d];
    }
    th_text has, needs;
    return same ? 0 : TH_FAIL(ctx, TH_ERR_VALUE, "%s has shape %s; %s is needed", what, th_shape_text(has, x->ndim, b->shape),
                              th_shape_text(needs, x->ndim, wanted));
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
    for (int d = 0; d < x->ndim; ++d) {
        const int own = d - (x->ndim - p->nd);
        shape[d] = own < 0 || !pooled ? x->shape[d] : p->axis[own].windows;
    }
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
