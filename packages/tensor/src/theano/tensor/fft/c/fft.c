/* The Fourier transform of real batches, and back: one axis after the other (fft.h). */
#include "fft.h"

void th_fft_root(int64_t k, int64_t n, double *cosine, double *sine)
{
    /* The angle from the nearest quarter of a turn, and what its rounding lost. */
    const double high = 6.283185307179586, low = 2.4492935982947064e-16, whole = 4.0 * (double)n;
    const int64_t quarter = (8 * k / n + 1) / 2, rest = 4 * k - quarter * n;
    const double turn = (double)rest / whole, lost = -fma(turn, whole, -(double)rest) / whole;
    const double x = turn * high, d = fma(turn, high, -x) + turn * low + lost * high;
    const double c = cos(x) - d * sin(x), s = sin(x) + d * cos(x);
    switch (quarter % 4) {
    case 0: *cosine = c, *sine = s; break;
    case 1: *cosine = -s, *sine = c; break;
    case 2: *cosine = -c, *sine = -s; break;
    default: *cosine = s, *sine = -c;
    }
}

int64_t th_fft_factors(int64_t n, int *radices, int *count)
{
    *count = 0;
    for (; n % 8 == 0; n /= 8)
        radices[(*count)++] = 8;
    for (int r = 4; r <= LARGEST_RADIX; r = r == 4 ? 2 : r == 2 ? 3 : r + 2)
        for (; n % r == 0; n /= r)
            radices[(*count)++] = r;
    return n;
}

static int transform(th_ctx *ctx, const fft_lines *f)
{
    return ctx->out[0]->dtype == TH_FLOAT32 ? th_fft_f32(ctx, f) : th_fft_f64(ctx, f);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Input 1: the lengths of the signal, one for each of `count` axes. */
static int read_lengths(th_ctx *ctx, int64_t *lengths, int count)
{
    const th_buffer *s = ctx->in[1];
    if (s->shape[0] != count)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "%lld lengths of the signal for %d axes: there must be one for each axis but the first",
                       (long long)s->shape[0], count);
    for (int i = 0; i < count; ++i) {
        lengths[i] = th_integer(s, i);
        if (lengths[i] < 1 || lengths[i] > INT64_MAX / 256)
            return TH_FAIL(ctx, TH_ERR_VALUE, "a signal of length %lld has no Fourier transform (length %d of the signal)",
                           (long long)lengths[i], i);
    }
    return 0;
}

/* All axes but `axis` of a packed array of `nd` axes of numbers of `size` bytes, read and written in place. */
static void set_packed(fft_lines *f, char *data, int nd, const int64_t *shape, int axis, int64_t size)
{
    f->from = f->to = data;
    f->nd = 0;
    f->rows = 1;
    int64_t strides[TH_MAX_NDIM], stride = size;
    for (int d = nd - 1; d >= 0; stride *= shape[d], --d)
        strides[d] = stride;
    for (int d = 0; d < nd; ++d) {
        if (d == axis)
            continue;
        f->shape[f->nd] = f->limit[f->nd] = shape[d];
        f->from_strides[f->nd] = f->to_strides[f->nd] = strides[d];
        f->rows *= shape[d];
        ++f->nd;
    }
    f->length = f->have = shape[axis];
    f->from_step = f->to_step = strides[axis];
    f->from_imaginary = f->to_imaginary = size / 2;
}

/* The same but read from an array with any strides, whose lines may be longer or shorter. */
static void read_from(fft_lines *f, const th_buffer *from, int nd, int axis)
{
    f->from = from->data;
    for (int d = 0, i = 0; d < nd; ++d) {
        if (d == axis)
            continue;
        f->limit[i] = from->shape[d];
        f->from_strides[i++] = from->strides[d];
    }
    f->from_step = from->strides[axis];
    f->from_imaginary = from->ndim > nd ? from->strides[nd] : 0;
    f->have = from->shape[axis];
}

/* inputs: a batch of signals of any layout; their lengths, to which they are cut or filled up. */
TH_EXPORT int th_kernel_rfft(th_ctx *ctx)
{
    const th_buffer *a = ctx->in[0];
    th_buffer *out = ctx->out[0];
    const int nd = a->ndim;
    int64_t shape[TH_MAX_NDIM] = {a->shape[0]};
    if (read_lengths(ctx, shape + 1, nd - 1))
        return -1;
    const int64_t length = shape[nd - 1], size = 2 * out->itemsize;
    shape[nd - 1] = length / 2 + 1;
    shape[nd] = 2;
    if (ctx->rt->ensure(ctx, out, shape))
        return -1;
    fft_lines f = {.kind = FFT_FROM_REAL};
    set_packed(&f, out->data, nd, shape, nd - 1, size);
    read_from(&f, a, nd, nd - 1);
    f.length = length;
    f.have = least(f.have, length);
    if (transform(ctx, &f))
        return -1;
    f.kind = FFT_FORTH;
    for (int axis = nd - 2; axis > 0; --axis) {
        set_packed(&f, out->data, nd, shape, axis, size);
        if (transform(ctx, &f))
            return -1;
    }
    return 0;
}

/* inputs: a batch of spectra of any layout; the lengths of the signals. They are not scaled. */
TH_EXPORT int th_kernel_irfft(th_ctx *ctx)
{
    const th_buffer *a = ctx->in[0];
    th_buffer *out = ctx->out[0];
    const int nd = a->ndim - 1, last = nd - 1;
    if (a->shape[nd] != 2)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "the last axis holds real and imaginary part, so its length is 2, not %lld",
                       (long long)a->shape[nd]);
    int64_t shape[TH_MAX_NDIM] = {a->shape[0]}, count = 1;
    if (read_lengths(ctx, shape + 1, last) || ctx->rt->ensure(ctx, out, shape))
        return -1;
    const int64_t length = shape[last], size = 2 * out->itemsize;
    fft_lines f = {.kind = FFT_TO_REAL}, real;
    set_packed(&real, out->data, nd, shape, last, out->itemsize);
    shape[last] = length / 2 + 1;
    for (int d = 0; d < nd; ++d)
        count *= shape[d];
    char *between = last == 1 ? NULL : ctx->rt->scratch(ctx, (size_t)(count > 0 ? count * size : size));
    if (last > 1 && between == NULL)
        return -1;
    f.kind = FFT_BACK;
    for (int axis = 1; axis < last; ++axis) {
        set_packed(&f, between, nd, shape, axis, size);
        if (axis == 1)
            read_from(&f, a, nd, axis);
        f.have = least(f.have, f.length);
        if (transform(ctx, &f))
            return -1;
    }
    f.kind = FFT_TO_REAL;
    set_packed(&f, between, nd, shape, last, size);
    if (last == 1)
        read_from(&f, a, nd, last);
    f.have = least(f.have, f.length);
    f.length = length;
    f.to = out->data;
    memcpy(f.to_strides, real.to_strides, sizeof f.to_strides);
    f.to_step = real.to_step;
    return transform(ctx, &f);
}
