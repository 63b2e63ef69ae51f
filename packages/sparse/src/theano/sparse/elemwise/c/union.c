/* The sum, or the product element by element, of two sparse matrices of one format: each line in order, without zeros. */
#include "sparse.h"

/* The matrix with each line in order: itself, or turned twice. */
static int in_order(th_ctx *ctx, th_lines *x, int64_t itemsize, int *twins)
{
    const int form = th_examine(x->indices, x->indptr, 0, x->stored, x->m + 1, x->stored, x->m, x->n);
    if (form == 0)
        return 0;
    *twins = 1;
    const int64_t n = x->stored, across = x->n + 1, lines = x->m + 1;
    int32_t *work = ctx->rt->scratch(ctx, (size_t)(across + lines + 4 * n) * sizeof *work);
    char *data = ctx->rt->scratch(ctx, (size_t)(n * itemsize));
    if (!work || !data)
        return -1;
    int32_t *indptr = work + across, *indices = indptr + lines, *from = indices + n, *between = from + n, *origin = between + n;
    th_lines turned = {.m = x->n, .n = x->m, .stored = n, .indptr = work, .indices = between};
    th_turn(x, work, between, origin);
    th_turn(&turned, indptr, indices, from);
    for (int64_t k = 0; k < n; ++k)
        memcpy(data + k * itemsize, x->data + origin[from[k]] * itemsize, (size_t)itemsize);
    x->indptr = indptr, x->indices = indices, x->data = data;
    return 0;
}

#define MERGE(NAME, T) \
    static int64_t merge_##NAME(const th_lines *x, const th_lines *y, int multiplies, int twins, int32_t *indptr, int32_t *indices, T *data) \
    { \
        const T *a = (const T *)x->data, *b = (const T *)y->data; \
        int64_t n = 0; \
        indptr[0] = 0; \
        for (int64_t i = 0; i < x->m; ++i) { \
            int32_t k = x->indptr[i], l = y->indptr[i]; \
            const int32_t k_end = x->indptr[i + 1], l_end = y->indptr[i + 1]; \
            if (!twins) { /* without a branch that would be guessed wrong half the time */ \
                while (k < k_end && l < l_end) { \
                    const int32_t at_k = x->indices[k], at_l = y->indices[l]; \
                    const int take_k = at_k <= at_l, take_l = at_l <= at_k; \
                    const T left = a[k], right = b[l]; \
                    const T v = multiplies ? left * right : (take_k ? left : 0) + (take_l ? right : 0); \
                    indices[n] = take_k ? at_k : at_l; \
                    data[n] = v; \
                    n += (v != 0) & ((multiplies == 0) | (take_k & take_l)); \
                    k += take_k; \
                    l += take_l; \
                } \
            } \
            while (k < k_end || l < l_end) { \
                const int32_t at_k = k < k_end ? x->indices[k] : INT32_MAX, at_l = l < l_end ? y->indices[l] : INT32_MAX; \
                const int32_t at = at_k < at_l ? at_k : at_l; \
                T left = 0, right = 0; \
                for (; k < k_end && x->indices[k] == at; ++k) \
                    left += a[k]; \
                for (; l < l_end && y->indices[l] == at; ++l) \
                    right += b[l]; \
                const T v = !multiplies ? left + right : at_k == at_l ? left * right : 0; \
                indices[n] = at; \
                data[n] = v; \
                n += v != 0; \
            } \
            indptr[i + 1] = (int32_t)n; \
        } \
        return n; \
    }
MERGE(f32, float)
MERGE(f64, double)

/* inputs: the parts of both matrices; outputs: data, indices, indptr. */
TH_EXPORT int th_kernel_union(th_ctx *ctx)
{
    const th_union_params *how = ctx->params;
    const th_buffer *shape = ctx->in[3], *other = ctx->in[7];
    const int64_t itemsize = ctx->out[0]->itemsize;
    th_lines x, y;
    if (th_lines_of(ctx, &x, 0, 1, how->columns) || th_lines_of(ctx, &y, 4, 5, how->columns))
        return -1;
    if (x.m != y.m || x.n != y.n)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "Shape mismatch: (%d, %d) against (%d, %d).", *(const int32_t *)shape->data,
                       *(const int32_t *)(shape->data + shape->strides[0]), *(const int32_t *)other->data,
                       *(const int32_t *)(other->data + other->strides[0]));
    int twins = 0;
    if (in_order(ctx, &x, itemsize, &twins) || in_order(ctx, &y, itemsize, &twins))
        return -1;
    const int64_t lines = x.m + 1, most = x.stored + y.stored;
    if (most > INT32_MAX)
        return TH_FAIL(ctx, TH_ERR_MEMORY, "two matrices together store more than 2^31 numbers");
    int32_t *indices = ctx->rt->scratch(ctx, (size_t)(most + 1) * sizeof *indices);
    char *data = ctx->rt->scratch(ctx, (size_t)((most + 1) * itemsize));
    if (!indices || !data || ctx->rt->ensure(ctx, ctx->out[2], &lines))
        return -1;
    int32_t *indptr = (int32_t *)ctx->out[2]->data;
    const int64_t n = ctx->out[0]->dtype == TH_FLOAT32
                          ? merge_f32(&x, &y, how->multiplies != 0, twins, indptr, indices, (float *)data)
                          : merge_f64(&x, &y, how->multiplies != 0, twins, indptr, indices, (double *)data);
    if (ctx->rt->ensure(ctx, ctx->out[0], &n) || ctx->rt->ensure(ctx, ctx->out[1], &n))
        return -1;
    memcpy(ctx->out[0]->data, data, (size_t)(n * itemsize));
    memcpy(ctx->out[1]->data, indices, (size_t)n * sizeof *indices);
    return 0;
}
