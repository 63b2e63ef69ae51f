/* The product of two sparse matrices, the places of each line in the order in which they come up first.
 *
 * A line of the result is a sum of lines of the second matrix. For each place of a line a vector says which line stored
 * something there last, and another where: what comes up for the first time is appended, all else is added. That it is
 * the first time is mostly true, or mostly false, and therefore guessed right. */
#include "vectors.h"

typedef struct {
    int32_t line, at;
} seen; /* the last line that stored something at a place, counted from 1, and where */

#define MULTIPLY(NAME, T) \
    static int64_t multiply_##NAME(const th_lines *x, const th_lines *y, int32_t *indptr, int32_t *restrict indices, T *restrict data, seen *last) \
    { \
        const int32_t final = (int32_t)x->stored - 1; \
        int64_t n = 0; \
        indptr[0] = 0; \
        for (int64_t i = 0; i < x->m; ++i) { \
            for (int32_t k = x->indptr[i]; k < x->indptr[i + 1]; ++k) { \
                const int32_t j = x->indices[k]; \
                const T v = ((const T *)x->data)[k]; \
                const int32_t *restrict at = y->indices + y->indptr[j]; \
                const T *restrict w = (const T *)y->data + y->indptr[j]; \
                const int32_t count = y->indptr[j + 1] - y->indptr[j]; \
                const int32_t soon = y->indptr[x->indices[k + 4 < final ? k + 4 : final]]; \
                __builtin_prefetch(y->indices + soon); \
                __builtin_prefetch((const T *)y->data + soon); \
                __builtin_prefetch((const T *)y->data + soon + 64 / sizeof(T)); \
                for (int32_t l = 0; l < count; ++l) { \
                    seen *s = last + at[l]; \
                    if (s->line != (int32_t)i + 1) { \
                        *s = (seen){(int32_t)i + 1, (int32_t)n}; \
                        indices[n] = at[l]; \
                        data[n++] = v * w[l]; \
                    } else { \
                        data[s->at] += v * w[l]; \
                    } \
                } \
            } \
            indptr[i + 1] = (int32_t)n; \
        } \
        return n; \
    }
MULTIPLY(f32, float)
MULTIPLY(f64, double)

/* inputs: the parts of both matrices; outputs: data, indices, indptr. */
TH_EXPORT int th_kernel_sparse_sparse(th_ctx *ctx)
{
    const th_compressed_params *how = ctx->params;
    th_lines x, y;
    if (th_lines_of(ctx, &x, 0, 1, how->columns) || th_lines_of(ctx, &y, 4, 5, how->columns))
        return -1;
    const int64_t left = how->columns ? x.m : x.n, right = how->columns ? y.n : y.m;
    if (left != right)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "Shape mismatch: %lld columns against %lld rows.", (long long)left, (long long)right);
    if (how->columns) { /* the columns of the product are sums of columns of the first */
        const th_lines t = x;
        x = y, y = t;
    }
    const int64_t lines = x.m + 1, itemsize = ctx->out[0]->itemsize;
    const size_t room = (size_t)(y.n + 1) * sizeof(seen);
    int64_t most = 0; /* products of numbers, and so stored ones at most */
    for (int64_t k = 0; k < x.indptr[x.m]; ++k)
        most += y.indptr[x.indices[k] + 1] - y.indptr[x.indices[k]];
    most = most < x.m * y.n ? most : x.m * y.n;
    if (most > INT32_MAX)
        return TH_FAIL(ctx, TH_ERR_MEMORY, "the product may store %lld numbers, more than int32 can count", (long long)most);
    if (ctx->rt->ensure(ctx, ctx->out[2], &lines))
        return -1;
    seen *last = ctx->rt->scratch(ctx, room);
    int32_t *indices = ctx->rt->scratch(ctx, (size_t)(most + 1) * sizeof *indices);
    char *data = ctx->rt->scratch(ctx, (size_t)((most + 1) * itemsize));
    if (!last || !indices || !data)
        return -1;
    memset(last, 0, room);
    int32_t *indptr = (int32_t *)ctx->out[2]->data;
    const int64_t n = ctx->out[0]->dtype == TH_FLOAT32 ? multiply_f32(&x, &y, indptr, indices, (float *)data, last)
                                                       : multiply_f64(&x, &y, indptr, indices, (double *)data, last);
    if (ctx->rt->ensure(ctx, ctx->out[0], &n) || ctx->rt->ensure(ctx, ctx->out[1], &n))
        return -1;
    memcpy(ctx->out[0]->data, data, (size_t)(n * itemsize));
    memcpy(ctx->out[1]->data, indices, (size_t)n * sizeof *indices);
    return 0;
}
