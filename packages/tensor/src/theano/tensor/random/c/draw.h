/* What kernels that draw random numbers share: the size that is asked for, and the memory of both outputs. */
#ifndef THEANO_TENSOR_DRAW_H
#define THEANO_TENSOR_DRAW_H

#include "buffers.h"

/* Make output 0, the next state, in the memory of the state where that is wanted, and output 1, the numbers, of which
 * there may be `most`; input 1 has the lengths. *count becomes how many there are. */
TH_HELPER int th_draw_outputs(th_ctx *ctx, int64_t in_place, int64_t most, int64_t *count)
{
    const th_buffer *state = ctx->in[0], *size = ctx->in[1];
    th_buffer *out = ctx->out[1];
    int64_t shape[TH_MAX_NDIM];
    if (size->shape[0] != out->ndim)
        return TH_FAIL(ctx, TH_ERR_VALUE, "the size has %lld lengths, and must have %d, as ndim says",
                       (long long)size->shape[0], (int)out->ndim);
    *count = 1;
    for (int d = 0; d < out->ndim; ++d) {
        shape[d] = th_integer(size, d);
        if (shape[d] < 0)
            return TH_FAIL(ctx, TH_ERR_VALUE, "length %d of the size is %lld; lengths must be 0 or more", d,
                           (long long)shape[d]);
        if (__builtin_mul_overflow(*count, shape[d], count) || *count > most)
            return TH_FAIL(ctx, TH_ERR_VALUE, "the size has more elements than the %lld that may be drawn at once",
                           (long long)most);
    }
    if (in_place ? ctx->rt->view(ctx, ctx->out[0], state, state->data, state->ndim, state->shape, state->strides)
                 : ctx->rt->ensure(ctx, ctx->out[0], state->shape))
        return -1;
    return ctx->rt->ensure(ctx, out, shape);
}

#endif
