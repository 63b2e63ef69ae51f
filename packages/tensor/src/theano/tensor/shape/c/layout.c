/* Views and copies: reshape, rebroadcast, lengths. */
#include "kernels.h"

/* y = x, C-ordered. */
TH_EXPORT int th_kernel_copy(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0];
    th_buffer *y = ctx->out[0];
    if (x->ndim == 0 && !x->device) {
        if (ctx->rt->ensure(ctx, y, x->shape))
            return -1;
        memcpy(y->data, x->data, (size_t)x->itemsize);
        return 0;
    }
    th_window w;
    th_window_of(&w, x);
    return th_copy_of(ctx, y, &w);
}

/* y = x if x is C-contiguous; otherwise a copy. */
TH_EXPORT int th_kernel_contiguous(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0];
    const int packed = th_packed(x, x->ndim) || th_size(x->ndim, x->shape) == 0;
    return packed ? th_alias(ctx, ctx->out[0], x) : th_kernel_copy(ctx);
}

/* y views x. */
TH_EXPORT int th_kernel_rebroadcast(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0];
    const th_rebroadcast_params *p = ctx->params;
    for (int d = 0; d < x->ndim; ++d)
        if ((p->ones >> d & 1) && x->shape[d] != 1)
            return TH_FAIL(ctx, TH_ERR_SHAPE, "dimension %d was declared to have length 1, but has length %lld", d,
                           (long long)x->shape[d]);
    return th_alias(ctx, ctx->out[0], x);
}

/* inputs: x, the lengths it must have. y views x. */
TH_EXPORT int th_kernel_specify_shape(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0], *wanted = ctx->in[1];
    int wrong = wanted->shape[0] != x->ndim;
    for (int d = 0; d < x->ndim && !wrong; ++d)
        wrong = th_integer(wanted, d) != x->shape[d];
    if (wrong) {
        int64_t lengths[TH_MAX_NDIM];
        const int nd = wanted->shape[0] < TH_MAX_NDIM ? (int)wanted->shape[0] : TH_MAX_NDIM;
        th_text a, b;
        for (int d = 0; d < nd; ++d)
            lengths[d] = th_integer(wanted, d);
        return TH_FAIL(ctx, TH_ERR_ASSERT, "expected shape %s, got %s", th_shape_text(a, nd, lengths),
                       th_shape_text(b, x->ndim, x->shape));
    }
    return th_alias(ctx, ctx->out[0], x);
}

/* The wanted lengths, with -1 worked out. */
static int wanted_shape(th_ctx *ctx, const th_buffer *x, const th_buffer *lengths, int nd, int64_t *shape)
{
    const int64_t size = th_size(x->ndim, x->shape);
    int64_t product = 1;
    if (lengths->shape[0] != nd)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "%d lengths are needed for %d dimensions, got %lld", nd, nd,
                       (long long)lengths->shape[0]);
    for (int d = 0; d < nd; ++d)
        shape[d] = th_integer(lengths, d);
    int open = -1, wrong = 0;
    for (int d = 0; d < nd && !wrong; ++d) {
        if (shape[d] == -1 && open < 0)
            open = d;
        else if (shape[d] < 0 || __builtin_mul_overflow(product, shape[d], &product))
            wrong = 1;
    }
    if (!wrong && open >= 0) {
        wrong = product == 0 || size % product != 0;
        shape[open] = wrong ? -1 : size / product;
    } else {
        wrong |= product != size;
    }
    th_text from, to;
    return wrong ? TH_FAIL(ctx, TH_ERR_SHAPE, "cannot reshape %lld elements of shape %s into shape %s", (long long)size,
                           th_shape_text(from, x->ndim, x->shape), th_shape_text(to, nd, shape))
                 : 0;
}

/* Strides that show x, in C order, under another shape; 0 if no such strides exist. */
static int strides_for(const th_buffer *x, int nd, const int64_t *shape, int64_t *strides)
{
    /* Axes of x that continue each other make one block; new axes must fill each block exactly. */
    int d = nd - 1;
    for (int axis = x->ndim - 1; axis >= 0; --axis) {
        if (x->shape[axis] == 1)
            continue;
        int64_t length = x->shape[axis], step = x->strides[axis], end = step * length;
        while (axis > 0 && (x->shape[axis - 1] == 1 || x->strides[axis - 1] == end)) {
            --axis;
            length *= x->shape[axis];
            end = x->shape[axis] == 1 ? end : end * x->shape[axis];
        }
        for (; length > 1; --d) {
            if (d < 0 || length % shape[d] != 0)
                return 0;
            strides[d] = step;
            step *= shape[d];
            length /= shape[d];
        }
    }
    for (; d >= 0; --d)
        strides[d] = x->itemsize;
    return 1;
}

/* inputs: x, lengths. */
TH_EXPORT int th_kernel_reshape(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0];
    th_buffer *y = ctx->out[0];
    const th_reshape_params *p = ctx->params;
    int64_t shape[TH_MAX_NDIM], strides[TH_MAX_NDIM];
    if (wanted_shape(ctx, x, ctx->in[1], y->ndim, shape))
        return -1;
    if (p->may_view && th_size(y->ndim, shape) > 0 && strides_for(x, y->ndim, shape, strides))
        return ctx->rt->view(ctx, y, x, x->data, y->ndim, shape, strides);
    if (ctx->rt->ensure(ctx, y, shape))
        return -1;
    /* The result's memory, in the shape of x. */
    th_window from, to;
    th_window_of(&from, x);
    th_window_of(&to, x);
    int64_t step = x->itemsize;
    to.data = y->data;
    for (int d = to.nd - 1; d >= 0; --d) {
        to.strides[d] = step;
        step *= to.shape[d];
    }
    return th_copy(ctx, &to, &from);
}

TH_EXPORT int th_kernel_shape(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0];
    const int64_t n = x->ndim;
    if (ctx->rt->ensure(ctx, ctx->out[0], &n))
        return -1;
    memcpy(ctx->out[0]->data, x->shape, (size_t)n * sizeof n);
    return 0;
}

TH_EXPORT int th_kernel_shape_i(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0];
    const int64_t i = ((const th_axis_params *)ctx->params)->axis;
    if (i >= x->ndim)
        return TH_FAIL(ctx, TH_ERR_INDEX, "axis %lld of a tensor that has %d dimensions", (long long)i, x->ndim);
    if (ctx->rt->ensure(ctx, ctx->out[0], NULL))
        return -1;
    *(int64_t *)ctx->out[0]->data = x->shape[i];
    return 0;
}
