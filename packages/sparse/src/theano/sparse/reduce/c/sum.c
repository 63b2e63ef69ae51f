/* Sums of the stored numbers, of each line or of each place along the lines. */
#include "sparse.h"

typedef struct {
    const th_lines *x;
    char *out;
} sums;

#define SUMS(NAME, T) \
    static void along_##NAME(void *arg, int64_t lo, int64_t hi) \
    { \
        const sums *s = arg; \
        for (int64_t i = lo; i < hi; ++i) { \
            T sum = 0; \
            for (int32_t k = s->x->indptr[i]; k < s->x->indptr[i + 1]; ++k) \
                sum += ((const T *)s->x->data)[k]; \
            ((T *)s->out)[i] = sum; \
        } \
    } \
    static void across_##NAME(const sums *s) \
    { \
        const int32_t end = s->x->indptr[s->x->m]; \
        memset(s->out, 0, (size_t)s->x->n * sizeof(T)); \
        for (int32_t k = 0; k < end; ++k) \
            ((T *)s->out)[s->x->indices[k]] += ((const T *)s->x->data)[k]; \
    }
SUMS(f32, float)
SUMS(f64, double)

/* inputs: data, indices, indptr, shape. */
TH_EXPORT int th_kernel_sum_of_parts(th_ctx *ctx)
{
    const th_sum_params *how = ctx->params;
    th_lines x;
    if (th_lines_of(ctx, &x, 0, 1, how->columns))
        return -1;
    if (ctx->rt->ensure(ctx, ctx->out[0], how->along ? &x.m : &x.n))
        return -1;
    sums s = {.x = &x, .out = ctx->out[0]->data};
    const int single = ctx->out[0]->dtype == TH_FLOAT32;
    if (how->along)
        return th_over_lines(ctx, &x, 1.0, single ? along_f32 : along_f64, &s);
    if (x.n)
        (single ? across_f32 : across_f64)(&s);
    return 0;
}
