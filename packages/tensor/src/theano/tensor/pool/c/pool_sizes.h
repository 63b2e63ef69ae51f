/* What pooling is asked for: the axes by the vectors ws, stride and pad, and whether the shapes of arrays fit them. */
#ifndef THEANO_TENSOR_POOL_SIZES_H
#define THEANO_TENSOR_POOL_SIZES_H

#include <inttypes.h>

#include "buffers.h"
#include "pool_axes.h"

TH_HELPER int th_pool_read_vector(th_ctx *ctx, int input, const char *what, int nd, int64_t *to)
{
    const th_buffer *b = ctx->in[input];
    if (b->shape[0] != nd)
        return TH_FAIL(ctx, TH_ERR_VALUE, "ws, stride and pad must be %d numbers each; %s has %" PRId64, nd, what, b->shape[0]);
    for (int d = 0; d < nd; ++d)
        to[d] = th_integer(b, d);
    return 0;
}

TH_HELPER int64_t th_pool_windows(const th_pool_axis *a, int ignore_border)
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

/* The axes that are pooled. Sizes follow `arrays` inputs, the first of which has the shape. Where each window needs an
 * element, one in the padding alone is an error: its sum is 0, but it has no largest element, and no mean. */
TH_HELPER int th_pool_read_axes(th_ctx *ctx, int arrays, int nd, int ignore_border, int needs_elements, th_pool_axis *axes)
{
    const th_buffer *x = ctx->in[0];
    const int kept = x->ndim - nd;
    int64_t ws[TH_MAX_NDIM], stride[TH_MAX_NDIM], pad[TH_MAX_NDIM];
    if (th_pool_read_vector(ctx, arrays, "ws", nd, ws) || th_pool_read_vector(ctx, arrays + 1, "stride", nd, stride) ||
        th_pool_read_vector(ctx, arrays + 2, "pad", nd, pad))
        return -1;
    for (int d = 0; d < nd; ++d) {
        th_pool_axis *a = axes + d;
        *a = (th_pool_axis){.n = x->shape[kept + d], .size = ws[d], .stride = stride[d], .pad = pad[d]};
        if (a->size < 1 || a->stride < 1)
            return TH_FAIL(ctx, TH_ERR_VALUE, "ws and stride must be positive: along axis %d ws is %" PRId64 ", stride %" PRId64,
                           d, a->size, a->stride);
        if (a->pad < 0 || (a->pad && !ignore_border))
            return TH_FAIL(ctx, TH_ERR_VALUE, "pad must not be negative, and needs ignore_border=True: along axis %d pad is %" PRId64,
                           d, a->pad);
        if (a->pad >= a->size && needs_elements)
            return TH_FAIL(ctx, TH_ERR_VALUE, "pad must be smaller than ws: along axis %d pad is %" PRId64 ", ws %" PRId64,
                           d, a->pad, a->size);
        a->windows = th_pool_windows(a, ignore_border);
    }
    return 0;
}

/* The shape of the windows, or that of the first input. */
TH_HELPER void th_pool_shape(th_ctx *ctx, int nd, const th_pool_axis *axes, int pooled, int64_t *shape)
{
    const th_buffer *x = ctx->in[0];
    for (int d = 0; d < x->ndim; ++d) {
        const int own = d - (x->ndim - nd);
        shape[d] = own < 0 || !pooled ? x->shape[d] : axes[own].windows;
    }
}

/* Does an array have the shape of the windows, or that of the first input? */
TH_HELPER int th_pool_check_shape(th_ctx *ctx, int nd, const th_pool_axis *axes, int input, const char *what, int pooled)
{
    const th_buffer *x = ctx->in[0], *b = ctx->in[input];
    int64_t wanted[TH_MAX_NDIM];
    int same = 1;
    th_pool_shape(ctx, nd, axes, pooled, wanted);
    for (int d = 0; d < x->ndim; ++d)
        same &= b->shape[d] == wanted[d];
    th_text has, needs;
    return same ? 0 : TH_FAIL(ctx, TH_ERR_VALUE, "%s has shape %s; %s is needed", what, th_shape_text(has, x->ndim, b->shape),
                              th_shape_text(needs, x->ndim, wanted));
}

#endif
