/* Neighbourhoods of images as rows of a matrix. */
#include "kernels.h"
#include "neighbours_sizes.h"

typedef struct {
    const th_buffer *x;
    th_buffer *out;
    int32_t mode;
    th_neighbours_axis axes[2]; /* rows and columns */
} job;

/* Elements `first` to `first + n` of a row of the image. Beyond its ends they wrap around, or are zeros. */
static void copy_row(const job *j, char *to, const char *row, int64_t first, int64_t n)
{
    const int64_t size = j->x->itemsize, step = j->x->strides[3], length = j->axes[1].n;
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
    const th_neighbours_axis *r = j->axes, *c = j->axes + 1;
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
    int64_t shape[2];
    if (th_neighbours_read(ctx, j.mode, j.axes, shape))
        return -1;
    if (ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    if (!shape[0])
        return 0;
    const int64_t each = j.axes[1].count;
    return ctx->rt->parallel_for(ctx, shape[0] / each, th_grain(0.3 * (double)(each * shape[1])), fill, &j);
}
