/* Subtensors: basic indexes as views, lists of rows as copies, and writing or adding into both. */
#include "kernels.h"

/* One of start, stop, step, index: absent, known when compiled, or an input. */
enum { ABSENT = 0, KNOWN = 1, INPUT = 2 };
enum { INDEX = 0, SLICE = 1 };

static int64_t component(th_ctx *ctx, const int64_t *c)
{
    return c[0] == INPUT ? th_integer(ctx->in[c[1]], 0) : c[1];
}

static int bounded(th_ctx *ctx, int64_t *i, int axis, int64_t n)
{
    if (*i < -n || *i >= n)
        return TH_FAIL(ctx, TH_ERR_INDEX, "index %lld is out of bounds for axis %d with size %lld", (long long)*i, axis,
                       (long long)n);
    *i += *i < 0 ? n : 0;
    return 0;
}

static int64_t clipped(int64_t i, int64_t n, int64_t low, int64_t high)
{
    if (i < 0)
        i += n;
    return i < low ? low : i > high ? high : i;
}

/* Python's rule for slices: start, step and the number of elements. */
static int sliced(th_ctx *ctx, const int64_t *c, int64_t n, int64_t *start, int64_t *step, int64_t *count)
{
    *step = c[4] == ABSENT ? 1 : component(ctx, c + 4);
    if (*step == 0)
        return TH_FAIL(ctx, TH_ERR_VALUE, "slice step cannot be zero");
    const int up = *step > 0;
    const int64_t low = up ? 0 : -1, high = up ? n : n - 1;
    *start = c[0] == ABSENT ? (up ? 0 : n - 1) : clipped(component(ctx, c), n, low, high);
    const int64_t stop = c[2] == ABSENT ? (up ? n : -1) : clipped(component(ctx, c + 2), n, low, high);
    const int64_t span = up ? stop - *start : *start - stop;
    /* A step longer than the axis reaches one element, whatever its exact length. */
    const int64_t limit = n > 0 ? n : 1;
    *step = *step > limit ? limit : *step < -limit ? -limit : *step;
    const int64_t stride = up ? *step : -*step;
    *count = span > 0 ? (span - 1) / stride + 1 : 0;
    return 0;
}

/* Apply the indexes of the parameters (number, then for each a kind and three components) to a window. */
static int indexed(th_ctx *ctx, const int64_t *p, th_window *w)
{
    const int entries = (int)*p++;
    int kept = 0;
    for (int d = 0; d < entries; ++d, p += 7) {
        if (p[0] == INDEX) {
            int64_t i = component(ctx, p + 1);
            if (bounded(ctx, &i, d, w->shape[d]))
                return -1;
            w->data += i * w->strides[d];
            continue;
        }
        int64_t start = 0, step = 1, count = 0;
        if (sliced(ctx, p + 1, w->shape[d], &start, &step, &count))
            return -1;
        /* An empty slice points nowhere: data stays inside its memory. */
        if (count > 0)
            w->data += start * w->strides[d];
        w->shape[kept] = count;
        w->strides[kept++] = w->strides[d] * step;
    }
    for (int d = entries; d < w->nd; ++d, ++kept) {
        w->shape[kept] = w->shape[d];
        w->strides[kept] = w->strides[d];
    }
    w->nd = kept;
    return 0;
}

TH_EXPORT int th_kernel_subtensor(th_ctx *ctx)
{
    th_window w = th_window_of(ctx->in[0]);
    if (indexed(ctx, ctx->params, &w))
        return -1;
    return ctx->rt->view(ctx, ctx->out[0], ctx->in[0], w.data, w.nd, w.shape, w.strides);
}

/* The output that starts as x: x itself or a copy of it. */
static int started(th_ctx *ctx, int64_t in_place)
{
    const th_buffer *x = ctx->in[0];
    th_buffer *out = ctx->out[0];
    if (in_place)
        return ctx->rt->view(ctx, out, x, x->data, x->ndim, x->shape, x->strides);
    if (ctx->rt->ensure(ctx, out, x->shape))
        return -1;
    const th_window to = th_window_of(out), from = th_window_of(x);
    th_copy_into(&to, &from);
    return 0;
}

/* inputs: x, y, indexes. params: in place, set (not add), then as for subtensor. */
TH_EXPORT int th_kernel_inc_subtensor(th_ctx *ctx)
{
    const int64_t *p = ctx->params;
    /* Indexes and shapes are checked before anything is written: a failed call leaves x as it was. */
    th_window region = th_window_of(ctx->in[0]), y = th_window_of(ctx->in[1]);
    if (indexed(ctx, p + 2, &region))
        return -1;
    th_text a, b;
    if (th_stretch(&region, &y))
        return TH_FAIL(ctx, TH_ERR_SHAPE, "cannot write a value of shape %s into a subtensor of shape %s",
                       th_shape_text(a, y.nd, y.shape), th_shape_text(b, region.nd, region.shape));
    if (started(ctx, p[0]))
        return -1;
    region = th_window_of(ctx->out[0]);
    if (indexed(ctx, p + 2, &region))
        return -1;
    (p[1] ? th_copy_into : th_add_into)(&region, &y);
    return 0;
}

static int checked_rows(th_ctx *ctx, const th_buffer *rows, int64_t n)
{
    for (int64_t k = 0; k < rows->shape[0]; ++k) {
        int64_t i = th_integer(rows, k);
        if (bounded(ctx, &i, 0, n))
            return -1;
    }
    return 0;
}

static th_window row_of(const th_window *w, int64_t i)
{
    th_window row = {.data = w->data + i * w->strides[0], .nd = w->nd - 1, .dtype = w->dtype, .itemsize = w->itemsize};
    memcpy(row.shape, w->shape + 1, (size_t)row.nd * sizeof(int64_t));
    memcpy(row.strides, w->strides + 1, (size_t)row.nd * sizeof(int64_t));
    return row;
}

/* The length of a row in bytes if it is one piece of memory, else -1. */
static int64_t solid(const th_window *w)
{
    int64_t bytes = w->itemsize;
    for (int d = w->nd - 1; d > 0; --d) {
        if (w->shape[d] != 1 && w->strides[d] != bytes)
            return -1;
        bytes *= w->shape[d];
    }
    return bytes;
}

/* inputs: x, rows. */
TH_EXPORT int th_kernel_take_rows(th_ctx *ctx)
{
    const th_buffer *rows = ctx->in[1];
    th_buffer *out = ctx->out[0];
    const th_window x = th_window_of(ctx->in[0]);
    const int64_t n = rows->shape[0];
    int64_t shape[TH_MAX_NDIM];
    memcpy(shape, x.shape, (size_t)x.nd * sizeof *shape);
    shape[0] = n;
    if (checked_rows(ctx, rows, x.shape[0]) || ctx->rt->ensure(ctx, out, shape))
        return -1;
    const int64_t bytes = solid(&x), step = out->strides[0];
    if (n == 0 || bytes == 0)
        return 0;
    for (int64_t k = 0; k < n; ++k) {
        int64_t i = th_integer(rows, k);
        i += i < 0 ? x.shape[0] : 0;
        if (bytes == 8) {
            memcpy(out->data + k * 8, x.data + i * x.strides[0], 8);
        } else if (bytes > 0) {
            memcpy(out->data + k * step, x.data + i * x.strides[0], (size_t)bytes);
        } else {
            const th_window from = row_of(&x, i);
            th_window to = from;
            int64_t inner = x.itemsize;
            to.data = out->data + k * step;
            for (int d = to.nd - 1; d >= 0; --d) {
                to.strides[d] = inner;
                inner *= to.shape[d];
            }
            th_copy_into(&to, &from);
        }
    }
    return 0;
}

/* inputs: x, y, rows. params: in place, set (not add). A row that is named twice is added to twice. */
TH_EXPORT int th_kernel_inc_rows(th_ctx *ctx)
{
    const int64_t *p = ctx->params;
    const th_buffer *rows = ctx->in[2];
    th_window whole = th_window_of(ctx->in[0]), y = th_window_of(ctx->in[1]);
    const int64_t size = whole.shape[0];
    th_text a, b;
    whole.shape[0] = rows->shape[0];
    if (th_stretch(&whole, &y))
        return TH_FAIL(ctx, TH_ERR_SHAPE, "cannot write a value of shape %s into rows of shape %s",
                       th_shape_text(a, y.nd, y.shape), th_shape_text(b, whole.nd, whole.shape));
    if (checked_rows(ctx, rows, size) || started(ctx, p[0]))
        return -1;
    const th_window out = th_window_of(ctx->out[0]);
    for (int64_t k = 0; k < rows->shape[0]; ++k) {
        int64_t i = th_integer(rows, k);
        const th_window to = row_of(&out, i < 0 ? i + size : i), from = row_of(&y, k);
        (p[1] ? th_copy_into : th_add_into)(&to, &from);
    }
    return 0;
}
