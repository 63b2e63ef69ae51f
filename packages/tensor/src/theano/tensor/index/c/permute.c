/* The elements of each row in another order, or put back from it. */
#include "kernels.h"

typedef struct { uint64_t a, b; } th_pair;

#define PUT(BYTES, TYPE) \
    case BYTES: \
        for (int64_t i = 0; i < n; ++i) { \
            const int64_t at = order[i] + (order[i] < 0 ? n : 0); \
            if (back) \
                ((TYPE *)to)[at] = *(const TYPE *)(from + i * step); \
            else \
                ((TYPE *)to)[i] = *(const TYPE *)(from + at * step); \
        } \
        break;

static void permute_row(int64_t n, const int64_t *order, int back, int64_t itemsize, char *to, const char *from, int64_t step)
{
    switch (itemsize) {
        PUT(1, uint8_t)
        PUT(2, uint16_t)
        PUT(4, uint32_t)
        PUT(8, uint64_t)
        PUT(16, th_pair)
    }
}

/* Places must exist; to be undone, none may be named twice. */
static int check_rows(th_ctx *ctx, int64_t rows, int64_t n, const int64_t *order, int back, int axis)
{
    uint8_t *seen = ctx->rt->scratch(ctx, (size_t)(n ? n : 1));
    if (!seen)
        return -1;
    for (int64_t r = 0; r < rows; ++r, order += n) {
        memset(seen, 0, (size_t)n);
        for (int64_t i = 0; i < n; ++i) {
            int64_t at = order[i];
            if (th_bounded(ctx, &at, axis, n))
                return -1;
            if (back && seen[at]++)
                return TH_FAIL(ctx, TH_ERR_VALUE, "row %lld is no permutation, and cannot be undone: %lld occurs twice", (long long)r,
                               (long long)at);
        }
    }
    return 0;
}

/* inputs: x, permutations along the last axis, whether to undo them. */
TH_EXPORT int th_kernel_permute_rows(th_ctx *ctx)
{
    const th_permute_rows_params *p = ctx->params;
    const th_buffer *x = ctx->in[0], *y = ctx->in[1];
    const int last = x->ndim - 1, back = th_integer(ctx->in[2], 0) != 0;
    const int64_t n = y->shape[last], rows = th_size(last, y->shape);
    if (x->shape[last] != n)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "rows and permutations differ in length: %lld and %lld", (long long)x->shape[last],
                       (long long)n);
    int64_t shape[TH_MAX_NDIM], strides[2 * TH_MAX_NDIM], index[TH_MAX_NDIM] = {0}, width = n * 8;
    for (int d = last - 1; d >= 0; width *= y->shape[d], --d) {
        const int x_goes = (p->x_ones >> d & 1) == 0, y_goes = (p->order_ones >> d & 1) == 0;
        if (x_goes && y_goes && x->shape[d] != y->shape[d])
            return th_mismatch(ctx, d, 0, x->shape[d], 1, y->shape[d]);
        shape[d] = x_goes ? x->shape[d] : y->shape[d];
        strides[2 * d] = x_goes ? x->strides[d] : 0;
        strides[2 * d + 1] = y_goes ? width : 0;
    }
    shape[last] = n;
    const int64_t *order = (const int64_t *)th_packed_in(ctx, y, TH_INT64, 8);
    if (!order || check_rows(ctx, rows, n, order, back, last) || ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    char *from[2] = {x->data, (char *)order}, *to = ctx->out[0]->data;
    for (int64_t r = n ? th_size(last, shape) : 0; r > 0; --r, to += n * x->itemsize) {
        permute_row(n, (const int64_t *)from[1], back, x->itemsize, to, from[0], x->strides[last]);
        th_advance(2, last, shape, strides, index, from);
    }
    return 0;
}
