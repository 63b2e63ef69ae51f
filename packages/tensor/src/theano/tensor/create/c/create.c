/* New arrays: alloc, eye, arange. */
#include "kernels.h"

/* The lengths that inputs from `first` on hold. */
static int lengths_of(th_ctx *ctx, int first, int count, int64_t *shape)
{
    for (int d = 0; d < count; ++d) {
        shape[d] = th_integer(ctx->in[first + d], 0);
        if (shape[d] < 0)
            return TH_FAIL(ctx, TH_ERR_SHAPE, "length %lld for dimension %d: negative dimensions are not allowed",
                           (long long)shape[d], d);
    }
    return 0;
}

/* inputs: value, lengths; the value is repeated to fill them. */
TH_EXPORT int th_kernel_alloc(th_ctx *ctx)
{
    const th_alloc_params *p = ctx->params;
    int64_t shape[TH_MAX_NDIM];
    if (lengths_of(ctx, 1, ctx->nin - 1, shape) || ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    th_window to, from;
    th_window_of(&to, ctx->out[0]);
    th_window_of(&from, ctx->in[0]);
    if (th_stretch(ctx, &to, &from, p->ones))
        return -1;
    return th_copy(ctx, &to, &from);
}

/* inputs: lengths. The contents are whatever was there. */
TH_EXPORT int th_kernel_alloc_empty(th_ctx *ctx)
{
    int64_t shape[TH_MAX_NDIM];
    return lengths_of(ctx, 0, ctx->nin, shape) ? -1 : ctx->rt->ensure(ctx, ctx->out[0], shape);
}

/* Ones on diagonal k, by one copy of a single element. */
static int ones_on(th_ctx *ctx, const th_buffer *out, int64_t k)
{
    const uint8_t number = 1;
    uint64_t one[2];
    const th_window as_bool = {.data = (char *)&number, .dtype = TH_BOOL, .itemsize = 1};
    const int64_t row = k < 0 ? -k : 0, column = k > 0 ? k : 0, rows = out->shape[0] - row, columns = out->shape[1] - column;
    if (rows <= 0 || columns <= 0)
        return 0;
    th_window part, element;
    th_window_of(&part, out);
    part.data += row * part.strides[0] + column * part.strides[1];
    part.nd = 1;
    part.shape[0] = rows < columns ? rows : columns;
    part.strides[0] += part.strides[1];
    element = (th_window){.data = (char *)one, .dtype = out->dtype, .itemsize = out->itemsize};
    th_copy_into(&element, &as_bool);
    element.nd = 1;
    element.shape[0] = part.shape[0];
    element.strides[0] = 0;
    return th_copy(ctx, &part, &element);
}

/* inputs: rows, columns, the diagonal. */
TH_EXPORT int th_kernel_eye(th_ctx *ctx)
{
    th_buffer *out = ctx->out[0];
    const int below = (int)((const th_eye_params *)ctx->params)->below;
    int64_t shape[2];
    if (lengths_of(ctx, 0, 2, shape) || ctx->rt->ensure(ctx, out, shape))
        return -1;
    const size_t size = (size_t)out->itemsize;
    if (th_clear(ctx, out))
        return -1;
    /* Rows from which the diagonal is left of the first column, or beyond the last, look all the same. */
    const int64_t wanted = th_integer(ctx->in[2], 0), k = wanted < -shape[0] ? -shape[0] : wanted > shape[1] ? shape[1] : wanted;
    if (!below)
        return ones_on(ctx, out, k);
    th_window one;
    th_window_of(&one, out);
    const uint8_t number = 1;
    const th_window from = {.data = (char *)&number, .dtype = TH_BOOL, .itemsize = 1};
    one.nd = 1;
    for (int64_t i = 0; i < shape[0]; ++i) {
        const int64_t end = i + k + 1 < shape[1] ? i + k + 1 : shape[1];
        if (end <= 0)
            continue;
        th_window row = from;
        row.nd = 1;
        row.shape[0] = end;
        row.strides[0] = 0;
        one.data = out->data + i * shape[1] * (int64_t)size;
        one.shape[0] = end;
        one.strides[0] = (int64_t)size;
        th_copy_into(&one, &row);
    }
    return 0;
}

/* As NumPy counts: the step is taken between the first two elements, in the dtype of the result. It may be infinite,
 * which must not be multiplied by 0. */
#define COUNT(TYPE, WIDE, START, SECOND) \
    do { \
        const WIDE first = (WIDE)(TYPE)(START), delta = (WIDE)((WIDE)(TYPE)(SECOND) - first); \
        TYPE *p = (TYPE *)out->data; \
        p[0] = (TYPE)first; \
        for (int64_t i = 1; i < n; ++i) \
            p[i] = (TYPE)(first + (WIDE)i * delta); \
    } while (0)

static void count_integers(th_buffer *out, int64_t n, int64_t start, int64_t step)
{
    /* Of one number the second one may not fit. */
    const int64_t second = (int64_t)((uint64_t)start + (uint64_t)step);
    switch (out->dtype) {
    case TH_INT8: case TH_UINT8: COUNT(uint8_t, uint64_t, start, second); break;
    case TH_INT16: case TH_UINT16: COUNT(uint16_t, uint64_t, start, second); break;
    case TH_INT32: case TH_UINT32: COUNT(uint32_t, uint64_t, start, second); break;
    case TH_INT64: case TH_UINT64: COUNT(uint64_t, uint64_t, start, second); break;
    case TH_FLOAT32: COUNT(float, float, start, second); break;
    default: COUNT(double, double, start, second); break;
    }
}

static void count_reals(th_buffer *out, int64_t n, double start, double step)
{
    const double second = start + step;
    /* Numbers that wrap around do so in 64 bits. */
    const uint64_t first_bits = (uint64_t)th_i64_of_f64(start), second_bits = (uint64_t)th_i64_of_f64(second);
    switch (out->dtype) {
    case TH_INT8: case TH_UINT8: COUNT(uint8_t, uint64_t, first_bits, second_bits); break;
    case TH_INT16: case TH_UINT16: COUNT(uint16_t, uint64_t, first_bits, second_bits); break;
    case TH_INT32: case TH_UINT32: COUNT(uint32_t, uint64_t, first_bits, second_bits); break;
    case TH_INT64: case TH_UINT64: COUNT(uint64_t, uint64_t, first_bits, second_bits); break;
    case TH_FLOAT32: COUNT(float, float, start, second); break;
    default: COUNT(double, double, start, second); break;
    }
}

/* How many numbers there are, and no errors but those that tensor/create/arange.py raises. */
static int steps_of_integers(th_ctx *ctx, int64_t *n)
{
    const int64_t start = th_integer(ctx->in[0], 0), stop = th_integer(ctx->in[1], 0), step = th_integer(ctx->in[2], 0);
    if (step == 0)
        return TH_FAIL(ctx, TH_ERR_ZERODIV, "arange needs a step that is not 0");
    /* Unsigned: the distance of two int64 may not fit in an int64. */
    const uint64_t span = step > 0 ? (stop > start ? (uint64_t)stop - (uint64_t)start : 0)
                                   : (start > stop ? (uint64_t)start - (uint64_t)stop : 0);
    const uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    const uint64_t count = span / stride + (span % stride != 0);
    if (count > INT64_MAX)
        return TH_FAIL(ctx, TH_ERR_VALUE, "arange from %lld to %lld by %lld has %llu numbers, more than a length can be",
                       (long long)start, (long long)stop, (long long)step, (unsigned long long)count);
    *n = (int64_t)count;
    return 0;
}

static int steps_of_reals(th_ctx *ctx, int64_t *n)
{
    const double start = th_real(ctx->in[0]), stop = th_real(ctx->in[1]), step = th_real(ctx->in[2]);
    const double length = (stop - start) / step;
    if (step == 0)
        return TH_FAIL(ctx, TH_ERR_ZERODIV, "arange needs a step that is not 0");
    if (!(fabs(length) < 0x1p63))
        return TH_FAIL(ctx, TH_ERR_VALUE, "arange from %g to %g by %g has no length", start, stop, step);
    /* NumPy's answer where dividing lost the distance: the start alone, if the stop is in the direction of the step. */
    if (length == 0 && start != stop)
        *n = !signbit(length);
    else
        *n = length > 0 ? (int64_t)ceil(length) : 0;
    return 0;
}

/* inputs: start, stop, step. */
TH_EXPORT int th_kernel_arange(th_ctx *ctx)
{
    th_buffer *out = ctx->out[0];
    const int whole = (int)((const th_arange_params *)ctx->params)->whole;
    int64_t n;
    if ((whole ? steps_of_integers(ctx, &n) : steps_of_reals(ctx, &n)) || ctx->rt->ensure(ctx, out, &n))
        return -1;
    if (n == 0)
        return 0;
    if (whole)
        count_integers(out, n, th_integer(ctx->in[0], 0), th_integer(ctx->in[2], 0));
    else
        count_reals(out, n, th_real(ctx->in[0]), th_real(ctx->in[2]));
    return 0;
}

TH_EXPORT int th_kernel_arange_length(th_ctx *ctx)
{
    const int whole = (int)((const th_arange_params *)ctx->params)->whole;
    if (ctx->rt->ensure(ctx, ctx->out[0], NULL))
        return -1;
    int64_t *n = (int64_t *)ctx->out[0]->data;
    return whole ? steps_of_integers(ctx, n) : steps_of_reals(ctx, n);
}
