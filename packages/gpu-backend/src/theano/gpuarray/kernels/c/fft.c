/* The host's half of Fourier transforms of real batches: one axis after the other. */
#include "buffers.h"
#include "job.h"
#include "parameters.h"

typedef th_device_transform_params params_t;

/* Lines of complex numbers in a packed array, and as much room beside it; `data` and `room` change places with each stage. */
typedef struct lines {
    char *data, *room;
    int nd;
    int64_t shape[TH_MAX_NDIM];
} lines;

static int64_t size_of(int nd, const int64_t *shape)
{
    int64_t size = 1;
    for (int d = 0; d < nd; ++d)
        size *= shape[d];
    return size;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

enum { LARGEST_FACTOR = 61 }; /* Lengths with larger ones are transformed by a convolution. */

/* The next factor of n, fours first; 0: it is too large. */
static int64_t factor_of(int64_t n)
{
    if (n % 4 == 0)
        return 4;
    if (n % 2 == 0)
        return 2;
    for (int64_t r = 3; r <= LARGEST_FACTOR; r += 2)
        if (n % r == 0)
            return r;
    return 0;
}

static int has_large_factor(int64_t n)
{
    for (int64_t r; n > 1; n /= r)
        if ((r = factor_of(n)) == 0)
            return 1;
    return 0;
}

static void exchange_rooms(lines *f)
{
    char *data = f->data;
    f->data = f->room;
    f->room = data;
}

/* A transform by a stage for each factor of the length. */
static int stages(job *j, lines *f, int axis, int back)
{
    const params_t *p = j->ctx->params;
    const int64_t n = f->shape[axis];
    struct {
        int64_t at[1], n;
    } of_roots = {.n = n};
    struct {
        int64_t at[3], n, inner, all, before, radix, back;
    } a = {.n = n, .inner = size_of(f->nd - axis - 1, f->shape + axis + 1), .all = size_of(f->nd, f->shape), .before = 1, .back = back};
    char *roots = th_take(j, 2 * n * j->size);
    if (roots == NULL || th_launch(j, p->roots, (n + 255) / 256, 1, &roots, &of_roots, sizeof of_roots))
        return -1;
    for (int64_t left = n; left > 1; left /= a.radix, a.before *= a.radix) {
        a.radix = factor_of(left);
        char *pointers[3] = {f->data, f->room, roots};
        if (th_launch(j, p->stage, (a.all + 255) / 256, 3, pointers, &a, sizeof a))
            return -1;
        exchange_rooms(f);
    }
    th_give_back(j); /* the roots */
    return 0;
}

/* Lines of `from`, as long as those of `to` or cut or filled up, times the numbers of a table. */
static int modulate(job *j, const lines *from, char *to, int64_t length, int64_t used, char *table, double scale)
{
    const params_t *p = j->ctx->params;
    struct {
        int64_t at[3], from, to, inner, all, used;
        double scale;
    } a = {.from = from->shape[1], .to = length, .inner = from->shape[2], .all = from->shape[0] * length * from->shape[2],
           .used = used, .scale = scale};
    char *pointers[3] = {from->data, to, table};
    return th_launch(j, p->modulate, (a.all + 255) / 256, 3, pointers, &a, sizeof a);
}

/* A transform of any length, by a convolution whose length is a power of two. */
static int by_convolution(job *j, lines *f, int axis, int back)
{
    const params_t *p = j->ctx->params;
    const int64_t n = f->shape[axis], outer = size_of(axis, f->shape), inner = size_of(f->nd - axis - 1, f->shape + axis + 1);
    struct {
        int64_t at[2], n, m, back;
    } a = {.n = n, .m = 4, .back = back};
    while (a.m < 2 * n - 1)
        a.m *= 2;
    const lines narrow = {.data = f->data, .nd = 3, .shape = {outer, n, inner}};
    lines wide = {.nd = 3, .shape = {outer, a.m, inner}}, other = {.nd = 1, .shape = {a.m}};
    const int64_t all = 2 * outer * a.m * inner * j->size;
    char *chirp = th_take(j, 2 * n * j->size);
    if (!chirp || !(other.data = th_take(j, 2 * a.m * j->size)) || !(other.room = th_take(j, 2 * a.m * j->size)) ||
        !(wide.data = th_take(j, all)) || !(wide.room = th_take(j, all)))
        return -1;
    char *pointers[2] = {chirp, other.data};
    if (th_launch(j, p->chirps, (a.m + 255) / 256, 2, pointers, &a, sizeof a) || stages(j, &other, 0, 0) ||
        modulate(j, &narrow, wide.data, a.m, n, chirp, 1.0) || stages(j, &wide, 1, 0) ||
        modulate(j, &wide, wide.data, a.m, a.m, other.data, 1.0) || stages(j, &wide, 1, 1) ||
        modulate(j, &wide, f->room, n, n, chirp, 1.0 / (double)a.m))
        return -1;
    exchange_rooms(f);
    for (int k = 0; k < 5; ++k)
        th_give_back(j);
    return 0;
}

static int transform(job *j, lines *f, int axis, int back)
{
    if (f->shape[axis] == 1 || size_of(f->nd, f->shape) == 0)
        return 0;
    return has_large_factor(f->shape[axis]) ? by_convolution(j, f, axis, back) : stages(j, f, axis, back);
}

/* Input 1: the lengths of the signal, one for each of `count` axes. */
static int read_lengths(th_ctx *ctx, int64_t *lengths, int count)
{
    const th_buffer *s = ctx->in[1];
    if (s->shape[0] != count)
        return ctx->rt->fail(ctx, TH_ERR_SHAPE, "%lld lengths of the signal for %d axes: there must be one for each axis but the first",
                             (long long)s->shape[0], count);
    for (int i = 0; i < count; ++i) {
        lengths[i] = th_integer(s, i);
        if (lengths[i] < 1 || lengths[i] > INT64_MAX / 256)
            return ctx->rt->fail(ctx, TH_ERR_VALUE, "a signal of length %lld has no Fourier transform (length %d of the signal)",
                                 (long long)lengths[i], i);
    }
    return 0;
}

/* The strides of a packed array of complex numbers, and at last that from a real part to the imaginary one. */
static void packed(int nd, const int64_t *shape, int64_t size, int64_t *strides)
{
    int64_t step = 2 * size;
    strides[nd] = size;
    for (int d = nd - 1; d >= 0; step *= shape[d], --d)
        strides[d] = step;
}

/* What an array and lines have both, from or to the lines; of the first `axes` axes (nd: real parts, nd + 1: both parts). */
static int exchange(job *j, const lines *f, int axes, const th_buffer *b, int into_lines)
{
    int64_t shape[TH_MAX_NDIM + 1], strides[TH_MAX_NDIM + 1];
    for (int d = 0; d < axes; ++d)
        shape[d] = d < f->nd ? least(f->shape[d], b->shape[d]) : 2;
    packed(f->nd, f->shape, j->size, strides);
    return into_lines ? th_move(j, axes, shape, f->data, strides, b->data, b->strides, -1, NULL)
                      : th_move(j, axes, shape, b->data, b->strides, f->data, strides, -1, NULL);
}

static int begin(job *j, lines *f, int64_t numbers)
{
    f->data = th_take(j, 2 * numbers * j->size);
    f->room = f->data ? th_take(j, 2 * numbers * j->size) : NULL;
    return f->room ? th_fill_with_zeros(j, f->data, 2 * numbers) : -1;
}

/* inputs: a batch of signals of any layout; their lengths, to which they are cut or filled up. */
static int rfft(job *j)
{
    th_ctx *ctx = j->ctx;
    const th_buffer *a = ctx->in[0];
    th_buffer *out = ctx->out[0];
    lines f = {.nd = a->ndim, .shape = {a->shape[0]}};
    int64_t shape[TH_MAX_NDIM + 1];
    if (read_lengths(ctx, f.shape + 1, f.nd - 1))
        return -1;
    for (int d = 0; d < f.nd; ++d)
        shape[d] = f.shape[d];
    shape[f.nd - 1] = f.shape[f.nd - 1] / 2 + 1;
    shape[f.nd] = 2;
    if (ctx->rt->ensure(ctx, out, shape))
        return -1;
    if (f.shape[0] == 0)
        return 0;
    if (begin(j, &f, size_of(f.nd, f.shape)) || exchange(j, &f, f.nd, a, 1) || transform(j, &f, f.nd - 1, 0) ||
        exchange(j, &f, f.nd + 1, out, 0))
        return -1;
    f.data = out->data;
    f.shape[f.nd - 1] = shape[f.nd - 1];
    for (int axis = f.nd - 2; axis > 0; --axis)
        if (transform(j, &f, axis, 0))
            return -1;
    return f.data == out->data ? 0 : exchange(j, &f, f.nd + 1, out, 0);
}

/* inputs: a batch of spectra of any layout; the lengths of the signals. They are not scaled. */
static int irfft(job *j)
{
    th_ctx *ctx = j->ctx;
    const params_t *p = ctx->params;
    const th_buffer *a = ctx->in[0];
    th_buffer *out = ctx->out[0];
    lines f = {.nd = a->ndim - 1, .shape = {a->shape[0]}};
    if (a->shape[f.nd] != 2)
        return ctx->rt->fail(ctx, TH_ERR_SHAPE, "the last axis holds real and imaginary part, so its length is 2, not %lld",
                             (long long)a->shape[f.nd]);
    if (read_lengths(ctx, f.shape + 1, f.nd - 1) || ctx->rt->ensure(ctx, out, f.shape))
        return -1;
    struct {
        int64_t at[2], n, all;
    } completed = {.n = f.shape[f.nd - 1], .all = size_of(f.nd, f.shape)};
    if (completed.all == 0)
        return 0;
    f.shape[f.nd - 1] = completed.n / 2 + 1;
    if (begin(j, &f, completed.all) || exchange(j, &f, f.nd + 1, a, 1))
        return -1;
    for (int axis = 1; axis < f.nd - 1; ++axis)
        if (transform(j, &f, axis, 1))
            return -1;
    char *pointers[2] = {f.data, f.room};
    if (th_launch(j, p->complete, (completed.all + 255) / 256, 2, pointers, &completed, sizeof completed))
        return -1;
    exchange_rooms(&f);
    f.shape[f.nd - 1] = completed.n;
    return transform(j, &f, f.nd - 1, 1) || exchange(j, &f, f.nd, out, 0) ? -1 : 0;
}

#define KERNEL(name)                          \
    TH_EXPORT int th_kernel_gpu_##name(th_ctx *ctx) \
    {                                         \
        job j;                                \
        th_job_begin(&j, ctx, ((const params_t *)ctx->params)->stage->gpu); \
        return th_job_end(&j, name(&j));      \
    }
KERNEL(rfft)
KERNEL(irfft)
