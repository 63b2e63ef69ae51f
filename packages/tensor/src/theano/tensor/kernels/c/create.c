/* New arrays: alloc, make_vector, arange. */
#include "kernels.h"

static int lengths_of(th_ctx *ctx, int first, int64_t *shape)
{
    for (int d = 0; d < ctx->nin - first; ++d) {
        shape[d] = th_integer(ctx->in[first + d], 0);
        if (shape[d] < 0)
            return TH_FAIL(ctx, TH_ERR_SHAPE, "length %lld for dimension %d: negative dimensions are not allowed",
                           (long long)shape[d], d);
    }
    return 0;
}

/* inputs: value, lengths; the value is repeated to fill them. params: axes of it that are 1 long by its type. */
TH_EXPORT int th_kernel_alloc(th_ctx *ctx)
{
    int64_t shape[TH_MAX_NDIM];
    if (lengths_of(ctx, 1, shape) || ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    th_window to, from;
    th_window_of(&to, ctx->out[0]);
    th_window_of(&from, ctx->in[0]);
    if (th_stretch(ctx, &to, &from, *(const uint64_t *)ctx->params))
        return -1;
    th_copy(ctx, &to, &from);
    return 0;
}

/* inputs: lengths. The contents are whatever was there. */
TH_EXPORT int th_kernel_alloc_empty(th_ctx *ctx)
{
    int64_t shape[TH_MAX_NDIM];
    return lengths_of(ctx, 0, shape) ? -1 : ctx->rt->ensure(ctx, ctx->out[0], shape);
}

/* inputs: numbers of one dtype. */
TH_EXPORT int th_kernel_make_vector(th_ctx *ctx)
{
    const int64_t n = ctx->nin;
    if (ctx->rt->ensure(ctx, ctx->out[0], &n))
        return -1;
    char *p = ctx->out[0]->data;
    const size_t size = (size_t)ctx->out[0]->itemsize;
    for (int i = 0; i < ctx->nin; ++i)
        memcpy(p + (size_t)i * size, ctx->in[i]->data, size);
    return 0;
}

/* As NumPy counts: the step is taken between the first two elements, in the dtype of the result. */
#define COUNT(TYPE, WIDE) \
    do { \
        const WIDE first = (WIDE)(TYPE)start, delta = (WIDE)(TYPE)(start + step) - first; \
        TYPE *p = (TYPE *)out->data; \
        for (int64_t i = 0; i < n; ++i) \
            p[i] = (TYPE)(first + (WIDE)i * delta); \
    } while (0)

static void count_integers(th_buffer *out, int64_t n, int64_t start, int64_t step)
{
    switch (out->dtype) {
    case TH_INT8: case TH_UINT8: COUNT(uint8_t, uint64_t); break;
    case TH_INT16: case TH_UINT16: COUNT(uint16_t, uint64_t); break;
    case TH_INT32: case TH_UINT32: COUNT(uint32_t, uint64_t); break;
    case TH_INT64: case TH_UINT64: COUNT(uint64_t, uint64_t); break;
    case TH_FLOAT32: COUNT(float, float); break;
    default: COUNT(double, double); break;
    }
}

static void count_reals(th_buffer *out, int64_t n, double start, double step)
{
    switch (out->dtype) {
    case TH_INT8: case TH_UINT8: COUNT(int8_t, int64_t); break;
    case TH_INT16: case TH_UINT16: COUNT(int16_t, int64_t); break;
    case TH_INT32: case TH_UINT32: COUNT(int32_t, int64_t); break;
    case TH_INT64: case TH_UINT64: COUNT(int64_t, int64_t); break;
    case TH_FLOAT32: COUNT(float, float); break;
    default: COUNT(double, double); break;
    }
}

/* inputs: start, stop, step. params: whether all three are integers. */
TH_EXPORT int th_kernel_arange(th_ctx *ctx)
{
    th_buffer *out = ctx->out[0];
    const int whole = *(const int64_t *)ctx->params != 0;
    int64_t n;
    if (whole) {
        const int64_t start = th_integer(ctx->in[0], 0), stop = th_integer(ctx->in[1], 0), step = th_integer(ctx->in[2], 0);
        if (step == 0)
            return TH_FAIL(ctx, TH_ERR_ZERODIV, "arange needs a step that is not 0");
        /* Unsigned: the distance of two int64 may not fit in an int64. */
        const uint64_t span = step > 0 ? (stop > start ? (uint64_t)stop - (uint64_t)start : 0)
                                       : (start > stop ? (uint64_t)start - (uint64_t)stop : 0);
        const uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
        n = (int64_t)(span / stride + (span % stride != 0));
        if (ctx->rt->ensure(ctx, out, &n))
            return -1;
        count_integers(out, n, start, step);
    } else {
        const double start = th_real(ctx->in[0]), stop = th_real(ctx->in[1]), step = th_real(ctx->in[2]);
        const double length = ceil((stop - start) / step);
        if (step == 0)
            return TH_FAIL(ctx, TH_ERR_ZERODIV, "arange needs a step that is not 0");
        if (!(length < 4e18))
            return TH_FAIL(ctx, TH_ERR_VALUE, "arange from %g to %g by %g has no length", start, stop, step);
        n = length > 0 ? (int64_t)length : 0;
        if (ctx->rt->ensure(ctx, out, &n))
            return -1;
        count_reals(out, n, start, step);
    }
    return 0;
}
