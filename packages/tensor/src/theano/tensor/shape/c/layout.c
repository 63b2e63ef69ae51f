/* Views and copies: dimshuffle, reshape, shape, join, split. */
#include "kernels.h"

static int view_of(th_ctx *ctx, th_buffer *out, const th_buffer *base, const th_window *w)
{
    return ctx->rt->view(ctx, out, base, w->data, w->nd, w->shape, w->strides);
}

static int copy_of(th_ctx *ctx, th_buffer *out, const th_window *w)
{
    if (ctx->rt->ensure(ctx, out, w->shape))
        return -1;
    th_window to;
    th_window_of(&to, out);
    return th_copy(ctx, &to, w);
}

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
    return copy_of(ctx, y, &w);
}

/* y = the whole of x, in its own memory. */
TH_EXPORT int th_kernel_alias(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0];
    return ctx->rt->view(ctx, ctx->out[0], x, x->data, x->ndim, x->shape, x->strides);
}

/* y = x where its elements lie one after the other, in C order; otherwise a copy. */
TH_EXPORT int th_kernel_contiguous(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0];
    const int packed = th_packed(x, x->ndim) || th_size(x->ndim, x->shape) == 0;
    return packed ? th_kernel_alias(ctx) : th_kernel_copy(ctx);
}

/* The axes reordered, dropped and added. */
TH_EXPORT int th_kernel_dimshuffle(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0];
    const th_dimshuffle_params *p = ctx->params;
    const int64_t *order = p->axes;
    th_window w;
    for (int d = 0; d < x->ndim; ++d)
        if ((p->dropped >> d & 1) && x->shape[d] != 1)
            return TH_FAIL(ctx, TH_ERR_SHAPE,
                           "dimension %d is dropped, but has length %lld: only dimensions of length 1 can go",
                           d, (long long)x->shape[d]);
    w.data = x->data;
    w.nd = (int)p->count_axes;
    w.dtype = x->dtype;
    w.itemsize = x->itemsize;
    w.device = x->device;
    for (int d = 0; d < w.nd; ++d) {
        w.shape[d] = order[d] < 0 ? 1 : x->shape[order[d]];
        w.strides[d] = order[d] < 0 ? x->itemsize : x->strides[order[d]];
    }
    return p->copies ? copy_of(ctx, ctx->out[0], &w) : view_of(ctx, ctx->out[0], x, &w);
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
    return th_kernel_alias(ctx);
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
    return th_kernel_alias(ctx);
}

/* y = x, if all other inputs are true. */
TH_EXPORT int th_kernel_assert(th_ctx *ctx)
{
    const th_message_params *said = ctx->params;
    for (int i = 1; i < ctx->nin; ++i)
        if (th_real(ctx->in[i]) == 0)
            return TH_FAIL(ctx, (int)said->error, "%s", said->text);
    return th_kernel_alias(ctx);
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

/* Strides that show x, in C order, under another shape; 0 if there are none. */
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

static int axis_of(th_ctx *ctx, const char *what, const th_buffer *number, int nd)
{
    const int64_t axis = th_integer(number, 0);
    if (axis < -nd || axis >= nd)
        return TH_FAIL(ctx, TH_ERR_INDEX, "%s axis %lld out of bounds [-%d, %d)", what, (long long)axis, nd, nd);
    return (int)(axis < 0 ? axis + nd : axis);
}

/* inputs: axis, tensors. */
TH_EXPORT int th_kernel_join(th_ctx *ctx)
{
    const int64_t viewed = ((const th_join_params *)ctx->params)->viewed;
    const th_buffer *first = ctx->in[1];
    th_buffer *out = ctx->out[0];
    const int axis = axis_of(ctx, "Join", ctx->in[0], first->ndim);
    if (axis < 0)
        return -1;
    int64_t shape[TH_MAX_NDIM], total = 0;
    memcpy(shape, first->shape, (size_t)first->ndim * sizeof *shape);
    for (int k = 1; k < ctx->nin; ++k) {
        const th_buffer *x = ctx->in[k];
        total += x->shape[axis];
        for (int d = 0; d < x->ndim; ++d) {
            th_text a, b;
            if (d != axis && x->shape[d] != first->shape[d])
                return TH_FAIL(ctx, TH_ERR_SHAPE,
                               "cannot join along axis %d: tensor %d has shape %s, tensor 0 has shape %s; they differ along axis %d",
                               axis, k - 1, th_shape_text(a, x->ndim, x->shape),
                               th_shape_text(b, first->ndim, first->shape), d);
        }
    }
    if (viewed >= 0 && ctx->in[viewed + 1]->shape[axis] == total) {
        const th_buffer *x = ctx->in[viewed + 1];
        return ctx->rt->view(ctx, out, x, x->data, x->ndim, x->shape, x->strides);
    }
    shape[axis] = total;
    if (ctx->rt->ensure(ctx, out, shape))
        return -1;
    th_window to, from;
    th_window_of(&to, out);
    for (int k = 1; k < ctx->nin; ++k) {
        th_window_of(&from, ctx->in[k]);
        to.shape[axis] = from.shape[axis];
        if (th_copy(ctx, &to, &from))
            return -1;
        to.data += to.shape[axis] * to.strides[axis];
    }
    return 0;
}

/* inputs: x, axis, lengths. */
TH_EXPORT int th_kernel_split(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0], *lengths = ctx->in[2];
    const th_split_params *p = ctx->params;
    const int axis = axis_of(ctx, "Split", ctx->in[1], x->ndim);
    if (axis < 0)
        return -1;
    if (lengths->shape[0] != ctx->nout)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "split into %d pieces, but %lld lengths are given", ctx->nout,
                       (long long)lengths->shape[0]);
    int64_t total = 0, negative = 0;
    for (int i = 0; i < ctx->nout; ++i) {
        total += th_integer(lengths, i);
        negative |= th_integer(lengths, i) < 0;
    }
    if (negative)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "the lengths of a split must not be negative");
    if (total != x->shape[axis])
        return TH_FAIL(ctx, TH_ERR_SHAPE, "the lengths of a split add up to %lld, but axis %d has length %lld",
                       (long long)total, axis, (long long)x->shape[axis]);
    th_window w;
    th_window_of(&w, x);
    for (int i = 0; i < ctx->nout; ++i) {
        w.shape[axis] = th_integer(lengths, i);
        if (p->copies[i] ? copy_of(ctx, ctx->out[i], &w) : view_of(ctx, ctx->out[i], x, &w))
            return -1;
        w.data += w.shape[axis] * w.strides[axis];
    }
    return 0;
}
