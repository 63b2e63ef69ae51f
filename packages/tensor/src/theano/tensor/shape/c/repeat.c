/* Each element repeated along an axis. */
#include "kernels.h"

/* inputs: x, how often (one number, or one for each place along the axis). */
TH_EXPORT int th_kernel_repeat(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0], *repeats = ctx->in[1];
    const int64_t axis = ((const th_axis_params *)ctx->params)->axis, size = th_size(x->ndim, x->shape);
    const int64_t n = axis < 0 ? size : x->shape[axis];
    const int64_t inner = axis < 0 ? 1 : th_size(x->ndim - (int)axis - 1, x->shape + axis + 1);
    const int one = repeats->ndim == 0 || repeats->shape[0] == 1;
    if (!one && repeats->shape[0] != n)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "%lld numbers of repeats are given for %lld elements", (long long)repeats->shape[0],
                       (long long)n);
    int64_t total = 0, shape[TH_MAX_NDIM];
    for (int64_t i = 0; i < n; ++i) {
        const int64_t times = th_integer(repeats, one ? 0 : i);
        if (times < 0)
            return TH_FAIL(ctx, TH_ERR_VALUE, "repeats may not contain negative values: %lld", (long long)times);
        if (__builtin_add_overflow(total, times, &total))
            return TH_FAIL(ctx, TH_ERR_MEMORY, "the sum of repeats is too large");
    }
    if (axis >= 0)
        memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
    shape[axis < 0 ? 0 : axis] = total;
    if (ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    const char *from = x->data;
    if (!th_packed(x, x->ndim)) {
        th_window source, packed;
        th_window_of(&source, x);
        th_window_of(&packed, x);
        int64_t stride = x->itemsize;
        packed.data = ctx->rt->scratch(ctx, (size_t)(size ? size : 1) * (size_t)x->itemsize);
        for (int d = x->ndim - 1; d >= 0; stride *= x->shape[d], --d)
            packed.strides[d] = stride;
        if (!packed.data)
            return -1;
        th_copy_into(&packed, &source);
        from = packed.data;
    }
    char *to = ctx->out[0]->data;
    const int64_t bytes = inner * x->itemsize;
    const th_line move = th_mover(x->itemsize);
    for (int64_t at = 0; bytes && at < size / inner; ++at, from += bytes) {
        const int64_t times = th_integer(repeats, one ? 0 : at % n);
        if (inner == 1)
            move(times, to, x->itemsize, from, 0);
        else
            for (int64_t k = 0; k < times; ++k)
                memcpy(to + k * bytes, from, (size_t)bytes);
        to += times * bytes;
    }
    return 0;
}
