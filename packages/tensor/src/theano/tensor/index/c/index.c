/* Subtensors: basic indexes as views, and writing or adding into them. (Lists of places: advanced.c.) */
#include "kernels.h"

static int64_t known(th_ctx *ctx, const th_bound *b)
{
    return b->how == TH_END_INPUT ? th_integer(ctx->in[b->value], 0) : b->value;
}

int th_bounded(th_ctx *ctx, int64_t *i, int axis, int64_t n)
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
int th_sliced(th_ctx *ctx, const th_index_entry *e, int64_t n, int64_t *start, int64_t *step, int64_t *count)
{
    *step = e->step.how == TH_END_ABSENT ? 1 : known(ctx, &e->step);
    if (*step == 0)
        return TH_FAIL(ctx, TH_ERR_VALUE, "slice step cannot be zero");
    const int up = *step > 0;
    const int64_t low = up ? 0 : -1, high = up ? n : n - 1;
    *start = e->start.how == TH_END_ABSENT ? (up ? 0 : n - 1) : clipped(known(ctx, &e->start), n, low, high);
    const int64_t stop = e->stop.how == TH_END_ABSENT ? (up ? n : -1) : clipped(known(ctx, &e->stop), n, low, high);
    const int64_t span = up ? stop - *start : *start - stop;
    /* A step longer than the axis reaches one element, whatever its exact length. */
    const int64_t limit = n > 0 ? n : 1;
    *step = *step > limit ? limit : *step < -limit ? -limit : *step;
    const int64_t stride = up ? *step : -*step;
    *count = span > 0 ? (span - 1) / stride + 1 : 0;
    return 0;
}

/* Apply an index of numbers and slices to a window. */
static int indexed_once(th_ctx *ctx, int64_t entries, const th_index_entry *e, th_window *w)
{
    int kept = 0;
    for (int d = 0; d < entries; ++d, ++e) {
        if (e->kind == TH_INDEX_KIND_NUMBER) {
            int64_t i = known(ctx, &e->start);
            if (th_bounded(ctx, &i, d, w->shape[d]))
                return -1;
            w->data += i * w->strides[d];
            continue;
        }
        int64_t start = 0, step = 1, count = 0;
        if (th_sliced(ctx, e, w->shape[d], &start, &step, &count))
            return -1;
        /* An empty slice points nowhere: data stays inside its memory. */
        if (count > 0)
            w->data += start * w->strides[d];
        w->shape[kept] = count;
        w->strides[kept++] = w->strides[d] * step;
    }
    for (int d = (int)entries; d < w->nd; ++d, ++kept) {
        w->shape[kept] = w->shape[d];
        w->strides[kept] = w->strides[d];
    }
    w->nd = kept;
    return 0;
}

/* The same for several indexes, one after the other. */
static int indexed(th_ctx *ctx, int64_t entries, const th_index_entry *e, th_window *w)
{
    int64_t begin = 0;
    for (int64_t i = 0; i < entries; ++i)
        if (e[i].kind == TH_INDEX_KIND_NEXT) {
            if (indexed_once(ctx, i - begin, e + begin, w))
                return -1;
            begin = i + 1;
        }
    return indexed_once(ctx, entries - begin, e + begin, w);
}

TH_EXPORT int th_kernel_subtensor(th_ctx *ctx)
{
    const th_subtensor_params *p = ctx->params;
    th_window w;
    th_window_of(&w, ctx->in[0]);
    if (indexed(ctx, p->count_index, p->index, &w))
        return -1;
    return th_view_of(ctx, ctx->out[0], ctx->in[0], &w);
}

/* The output that starts as x: x itself or a copy of it. */
int th_started(th_ctx *ctx, int64_t in_place)
{
    const th_buffer *x = ctx->in[0];
    th_buffer *out = ctx->out[0];
    if (in_place)
        return th_alias(ctx, out, x);
    th_window from;
    th_window_of(&from, x);
    return th_copy_of(ctx, out, &from);
}

/* inputs: x, y, indexes. */
TH_EXPORT int th_kernel_inc_subtensor(th_ctx *ctx)
{
    const th_inc_subtensor_params *p = ctx->params;
    /* Indexes and shapes are checked before anything is written: a failed call leaves x as it was. */
    th_window region, y;
    th_window_of(&region, ctx->in[0]);
    th_window_of(&y, ctx->in[1]);
    if (indexed(ctx, p->count_index, p->index, &region))
        return -1;
    if (th_stretch(ctx, &region, &y, p->write.ones) || th_started(ctx, p->write.in_place))
        return -1;
    th_window_of(&region, ctx->out[0]);
    if (indexed(ctx, p->count_index, p->index, &region))
        return -1;
    return p->write.sets ? th_copy(ctx, &region, &y) : th_add(ctx, &region, &y);
}
