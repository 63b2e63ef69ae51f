/* What neighbourhoods of images are asked for: both axes. Devices have the same (theano.gpuarray). */
#ifndef THEANO_TENSOR_NEIGHBOURS_SIZES_H
#define THEANO_TENSOR_NEIGHBOURS_SIZES_H

#include "buffers.h"
#include "parameters.h"

/* An axis: its length, how many neighbourhoods there are, their size and step, and how far before it the first begins. */
typedef struct {
    int64_t n, count, size, step, before;
} th_neighbours_axis;

TH_HELPER int th_neighbours_read_axis(th_ctx *ctx, int32_t mode, int64_t k, th_neighbours_axis *a)
{
    const int64_t n = ctx->in[0]->shape[2 + k], size = th_integer(ctx->in[1], k), step = th_integer(ctx->in[2], k);
    if (size <= 0 || step <= 0)
        return TH_FAIL(ctx, TH_ERR_VALUE, "neib_shape and neib_step must be positive; along an axis they are %lld and %lld",
                       (long long)size, (long long)step);
    if (mode == TH_NEIGHBOURS_WRAP_CENTERED && size % 2 == 0)
        return TH_FAIL(ctx, TH_ERR_TYPE, "neib_shape must be odd, not %lld", (long long)size);
    if (n < size && mode != TH_NEIGHBOURS_IGNORE_BORDERS)
        return TH_FAIL(ctx, TH_ERR_TYPE, "the image has %lld elements along an axis, the neighbourhood %lld", (long long)n,
                       (long long)size);
    *a = (th_neighbours_axis){.n = n, .size = size, .step = step};
    if (mode == TH_NEIGHBOURS_FULL)
        a->before = size - 1;
    else if (mode == TH_NEIGHBOURS_HALF || mode == TH_NEIGHBOURS_WRAP_CENTERED)
        a->before = size / 2;
    if (mode == TH_NEIGHBOURS_WRAP_CENTERED) {
        a->count = (n + step - 1) / step;
        return 0;
    }
    const int64_t free = n + 2 * a->before - size;
    a->count = free < 0 ? 0 : free / step + 1;
    if (mode != TH_NEIGHBOURS_IGNORE_BORDERS && free % step)
        return TH_FAIL(ctx, TH_ERR_TYPE, "an axis of %lld elements, with neib_shape %lld and neib_step %lld, is not covered to "
                       "its end; mode 'ignore_borders' leaves the rest out", (long long)n, (long long)size, (long long)step);
    return 0;
}

/* Both axes, and the shape of the matrix. */
TH_HELPER int th_neighbours_read(th_ctx *ctx, int32_t mode, th_neighbours_axis *axes, int64_t *shape)
{
    const th_buffer *x = ctx->in[0];
    if (ctx->in[1]->shape[0] != 2 || ctx->in[2]->shape[0] != 2)
        return TH_FAIL(ctx, TH_ERR_VALUE, "neib_shape and neib_step must be two numbers each, not %lld and %lld",
                       (long long)ctx->in[1]->shape[0], (long long)ctx->in[2]->shape[0]);
    if (th_neighbours_read_axis(ctx, mode, 0, axes) || th_neighbours_read_axis(ctx, mode, 1, axes + 1))
        return -1;
    shape[0] = x->shape[0] * x->shape[1] * axes[0].count * axes[1].count;
    shape[1] = axes[0].size * axes[1].size;
    return 0;
}

#endif
