/* Products of rows of two dense matrices, at the places of a sparse one. */
#include "vectors.h"

typedef struct {
    const th_lines *at;
    const char *x, *y; /* the rows that lines name, and those that indices name */
    int64_t n, ldx, ldy; /* elements */
    char *out;
} products;

#define PRODUCTS(NAME, T, V) \
    static void places_##NAME(void *arg, int64_t lo, int64_t hi) \
    { \
        const products *p = arg; \
        const int64_t n = p->n, lanes = TH_VECTOR / sizeof(T); \
        const int32_t *indices = p->at->indices, *indptr = p->at->indptr; \
        const int32_t last = (int32_t)p->at->stored - 1; \
        for (int64_t i = lo; i < hi; ++i) { \
            const T *x = (const T *)p->x + i * p->ldx; \
            for (int32_t k = indptr[i]; k < indptr[i + 1]; ++k) { \
                const T *y = (const T *)p->y + indices[k] * p->ldy; \
                const int32_t next = k + 4 < last ? k + 4 : last; \
                const char *soon = (const char *)((const T *)p->y + indices[next] * p->ldy); \
                for (int64_t byte = 0; byte < n * (int64_t)sizeof(T) && byte < 512; byte += 64) \
                    __builtin_prefetch(soon + byte); \
                V a = {0}, b = {0}; \
                int64_t c = 0; \
                for (; c + 2 * lanes <= n; c += 2 * lanes) { \
                    a += *(const V *)(x + c) * *(const V *)(y + c); \
                    b += *(const V *)(x + c + lanes) * *(const V *)(y + c + lanes); \
                } \
                a += b; \
                T sum = 0; \
                for (int64_t l = 0; l < lanes; ++l) \
                    sum += a[l]; \
                for (; c < n; ++c) \
                    sum += x[c] * y[c]; \
                ((T *)p->out)[k] = sum; \
            } \
        } \
    }
PRODUCTS(f32, float, th_vf32)
PRODUCTS(f64, double, th_vf64)

static const char *rows_of(th_ctx *ctx, const th_buffer *b, int64_t *ld)
{
    const int64_t rows = b->shape[0], n = b->ndim > 1 ? b->shape[1] : 1, size = b->itemsize;
    const int64_t step = b->ndim > 1 ? b->strides[1] : size;
    if ((n <= 1 || step == size) && b->strides[0] % size == 0) {
        *ld = b->strides[0] / size;
        return b->data;
    }
    *ld = n;
    char *copy = ctx->rt->scratch(ctx, (size_t)(rows * n * size));
    if (copy)
        ctx->rt->move(copy, n * size, size, b->data, b->strides[0], step, rows, n, size);
    return copy;
}

/* inputs: indices, indptr, b, g: the products of row i of g with row j of b, at each place (i, j). */
TH_EXPORT int th_kernel_products_at(th_ctx *ctx)
{
    const th_compressed_params *how = ctx->params;
    const th_buffer *b = ctx->in[2], *g = ctx->in[3];
    const th_buffer *by_line = how->columns ? b : g, *by_index = how->columns ? g : b;
    th_lines at = {.m = ctx->in[1]->shape[0] - 1, .n = by_index->shape[0], .stored = ctx->in[0]->shape[0]};
    const int64_t columns = g->ndim > 1 ? g->shape[1] : 1;
    if ((b->ndim > 1 ? b->shape[1] : 1) != columns)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "Shape mismatch: rows of %lld elements against rows of %lld",
                       (long long)(b->ndim > 1 ? b->shape[1] : 1), (long long)columns);
    if (by_line->shape[0] != at.m)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "Shape mismatch: %lld rows against %lld lines of the places",
                       (long long)by_line->shape[0], (long long)at.m);
    if (!(at.indices = th_packed_vector(ctx, ctx->in[0])) || !(at.indptr = th_packed_vector(ctx, ctx->in[1])))
        return -1;
    const int found = th_examine(at.indices, at.indptr, 0, at.stored, at.m + 1, at.stored, at.m, at.n);
    if (found < 0 || found & TH_LONGER)
        return TH_FAIL(ctx, TH_ERR_VALUE, "the places are no matrix of %lld lines of %lld", (long long)at.m, (long long)at.n);
    if (ctx->rt->ensure(ctx, ctx->out[0], &at.stored))
        return -1;
    products p = {.at = &at, .n = columns, .out = ctx->out[0]->data};
    if (at.stored == 0)
        return 0;
    if (!(p.x = rows_of(ctx, by_line, &p.ldx)) || !(p.y = rows_of(ctx, by_index, &p.ldy)))
        return -1;
    return th_over_lines(ctx, &at, 3.0 + 0.2 * (double)columns, ctx->out[0]->dtype == TH_FLOAT32 ? places_f32 : places_f64, &p);
}
