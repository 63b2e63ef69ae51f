/* Neighbourhoods of images as rows of a matrix. */
#include "kernels.h"

/* An axis: its length, how many neighbourhoods there are, their size and step, and how far before it the first begins. */
typedef struct {
    int64_t n, count, size, step, before;
} axis;

static int read_axis(th_ctx *ctx, int32_t mode, int64_t k, axis *a)
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
    *a = (axis){.n = n, .size = size, .step = step};
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

typedef struct {
    const th_buffer *x;
    th_buffer *out;
    int32_t mode;
    axis rows, columns;
} job;

/* Elements `first` to `first + n` of a row of the image, as far as they lie in it; going on at the other side, or zeros. */
static void copy_row(const job *j, char *to, const char *row, int64_t first, int64_t n)
{
    const int64_t size = j->x->itemsize, step = j->x->strides[3], length = j->columns.n;
    int64_t i = 0;
    for (; i < n && first + i < 0; ++i)
        if (j->mode == TH_NEIGHBOURS_WRAP_CENTERED)
            memcpy(to + i * size, row + (first + i + length) * step, (size_t)size);
        else
            memset(to + i * size, 0, (size_t)size);
    const int64_t end = first + n > length ? length - first : n;
    if (step == size && i < end) {
        memcpy(to + i * size, row + (first + i) * step, (size_t)((end - i) * size));
        i = end;
    }
    for (; i < end; ++i)
        memcpy(to + i * size, row + (first + i) * step, (size_t)size);
    for (; i < n; ++i)
        if (j->mode == TH_NEIGHBOURS_WRAP_CENTERED)
            memcpy(to + i * size, row + (first + i - length) * step, (size_t)size);
        else
            memset(to + i * size, 0, (size_t)size);
}

/* The neighbourhoods whose first row is one of `lo` to `hi` rows, counted through all planes. */
static void fill(void *arg, int64_t lo, int64_t hi)
{
    const job *j = arg;
    const axis *r = &j->rows, *c = &j->columns;
    const int64_t size = j->x->itemsize;
    char *to = j->out->data + lo * c->count * r->size * c->size * size;
    for (int64_t each = lo; each < hi; ++each) {
        const int64_t plane = each / r->count, a = each % r->count, channels = j->x->shape[1];
        const char *image = j->x->data + plane / channels * j->x->strides[0] + plane % channels * j->x->strides[1];
        for (int64_t b = 0; b < c->count; ++b)
            for (int64_t i = 0; i < r->size; ++i, to += c->size * size) {
                int64_t row = a * r->step + i - r->before;
                if (j->mode == TH_NEIGHBOURS_WRAP_CENTERED)
                    row = row < 0 ? row + r->n : row >= r->n ? row - r->n : row;
                if (row < 0 || row >= r->n)
                    memset(to, 0, (size_t)(c->size * size));
                else
                    copy_row(j, to, image + row * j->x->strides[2], b * c->step - c->before, c->size);
            }
    }
}

/* inputs: images, the size of a neighbourhood, the step from one to the next. */
TH_EXPORT int th_kernel_images2neibs(th_ctx *ctx)
{
    const th_images2neibs_params *p = ctx->params;
    job j = {.x = ctx->in[0], .out = ctx->out[0], .mode = (int32_t)p->mode};
    if (ctx->in[1]->shape[0] != 2 || ctx->in[2]->shape[0] != 2)
        return TH_FAIL(ctx, TH_ERR_VALUE, "neib_shape and neib_step must be two numbers each, not %lld and %lld",
                       (long long)ctx->in[1]->shape[0], (long long)ctx->in[2]->shape[0]);
    if (read_axis(ctx, j.mode, 0, &j.rows) || read_axis(ctx, j.mode, 1, &j.columns))
        return -1;
    const int64_t lines = j.x->shape[0] * j.x->shape[1] * j.rows.count, elements = j.rows.size * j.columns.size;
    const int64_t shape[2] = {lines * j.columns.count, elements};
    if (ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    if (!shape[0])
        return 0;
    return ctx->rt->parallel_for(ctx, lines, th_grain(0.3 * (double)(j.columns.count * elements)), fill, &j);
}
