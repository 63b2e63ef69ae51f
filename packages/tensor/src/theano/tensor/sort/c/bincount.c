/* How often each whole number from 0 occurs, or the sum of the weights of its occurrences. */
#include "kernels.h"

#define COUNT(CODE, TYPE, LOAD, STORE) \
    case CODE: \
        for (int64_t i = 0; i < n; ++i) { \
            TYPE *to = (TYPE *)sums + places[i]; \
            *to = STORE(LOAD(*to) + LOAD(((const TYPE *)weights)[i])); \
        } \
        break;
#define PLAIN(v) (v)

static void add_weights(int32_t dtype, int64_t n, const int64_t *places, const char *weights, char *sums)
{
    switch (dtype) {
        COUNT(TH_FLOAT16, uint16_t, th_load_f16, th_store_f16)
        COUNT(TH_FLOAT32, float, PLAIN, PLAIN)
        COUNT(TH_FLOAT64, double, PLAIN, PLAIN)
        COUNT(TH_COMPLEX64, float _Complex, PLAIN, PLAIN)
        COUNT(TH_COMPLEX128, double _Complex, PLAIN, PLAIN)
    }
}

/* inputs: a vector of whole numbers, the least length of the result, perhaps weights. */
TH_EXPORT int th_kernel_bincount(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0], *w = ctx->nin > 2 ? ctx->in[2] : NULL;
    th_buffer *out = ctx->out[0];
    const int64_t n = x->shape[0], *places = (const int64_t *)th_packed_in(ctx, x, TH_INT64, 8);
    int64_t length = th_integer(ctx->in[1], 0), most = -1, least = 0;
    if (!places)
        return -1;
    if (length < 0)
        return TH_FAIL(ctx, TH_ERR_VALUE, "minlength must not be negative, but is %lld", (long long)length);
    if (w && w->shape[0] != n)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "%lld weights are given for %lld numbers", (long long)w->shape[0], (long long)n);
    for (int64_t i = 0; i < n; ++i) {
        most = places[i] > most ? places[i] : most;
        least = places[i] < least ? places[i] : least;
    }
    if (least < 0)
        return TH_FAIL(ctx, TH_ERR_VALUE, "bincount counts numbers from 0, but was given %lld", (long long)least);
    if (most == INT64_MAX)
        return TH_FAIL(ctx, TH_ERR_MEMORY, "not enough memory to count numbers up to %lld", (long long)most);
    length = most >= length ? most + 1 : length;
    if (ctx->rt->ensure(ctx, out, &length))
        return -1;
    memset(out->data, 0, (size_t)(length * out->itemsize));
    if (w) {
        const char *weights = th_packed_in(ctx, w, out->dtype, out->itemsize);
        if (!weights)
            return -1;
        add_weights(out->dtype, n, places, weights, out->data);
    } else {
        for (int64_t i = 0; i < n; ++i)
            ++((int64_t *)out->data)[places[i]];
    }
    return 0;
}
