/* Where values go into a sorted vector.
 *
 * Halving, for several values side by side: all of them have as many elements left at each step, so that no step
 * has a branch, and the loads of one value do not wait for those of another.
 */
#include "kernels.h"

enum { SIDE = TH_SEARCH_SIDE };

#define PLAIN(v) (v)
#define LESS(a, b) ((a) < (b))
#define FLOAT_LESS(a, b) (((a) < (b)) | (((b) != (b)) & ((a) == (a)))) /* nan is larger than all numbers */

typedef struct {
    int64_t n;
    const char *x, *v;
    int64_t *places;
    void (*search)(int64_t n, const char *x, int64_t count, const char *v, int64_t *places, int right);
    int64_t itemsize;
    int right;
} searching;

#define STEP(NAME, MEMORY, PLACE, GOES_ON) \
    static inline void step_##NAME(const MEMORY *x, PLACE half, PLACE count, const MEMORY *v, PLACE *places) \
    { \
        TH_INDEPENDENT \
        for (PLACE k = 0; k < count; ++k) \
            places[k] += half & -(PLACE)GOES_ON(x[places[k] + half - 1], v[k]); \
    }
#define SEARCH(NAME, MEMORY, PLACE, LOAD, LESS_) \
    static inline int before_##NAME(MEMORY a, MEMORY b) { return LESS_(LOAD(a), LOAD(b)); } \
    static inline int upto_##NAME(MEMORY a, MEMORY b) { return !LESS_(LOAD(b), LOAD(a)); } \
    STEP(left_##NAME, MEMORY, PLACE, before_##NAME) \
    STEP(right_##NAME, MEMORY, PLACE, upto_##NAME) \
    static TH_LOOP void search_##NAME(int64_t n, const char *x_, int64_t count, const char *v_, int64_t *found, int right) \
    { \
        const MEMORY *x = (const MEMORY *)x_, *v = (const MEMORY *)v_; \
        PLACE places[SIDE] = {0}; \
        for (PLACE left = (PLACE)n, half; left > 0; left -= half) { \
            half = left / 2 + (left == 1); \
            if (count == SIDE) \
                (right ? step_right_##NAME : step_left_##NAME)(x, half, SIDE, v, places); \
            else \
                (right ? step_right_##NAME : step_left_##NAME)(x, half, (PLACE)count, v, places); \
        } \
        for (int64_t k = 0; k < count; ++k) \
            found[k] = places[k]; \
    }

#define TYPES(X) \
    X(TH_BOOL, u1, uint8_t, PLAIN, LESS) \
    X(TH_INT8, i1, int8_t, PLAIN, LESS) \
    X(TH_INT16, i2, int16_t, PLAIN, LESS) \
    X(TH_UINT16, u2, uint16_t, PLAIN, LESS) \
    X(TH_INT32, i4, int32_t, PLAIN, LESS) \
    X(TH_UINT32, u4, uint32_t, PLAIN, LESS) \
    X(TH_INT64, i8, int64_t, PLAIN, LESS) \
    X(TH_UINT64, u8, uint64_t, PLAIN, LESS) \
    X(TH_FLOAT16, f2, uint16_t, th_load_f16, FLOAT_LESS) \
    X(TH_FLOAT32, f4, float, PLAIN, FLOAT_LESS) \
    X(TH_FLOAT64, f8, double, PLAIN, FLOAT_LESS)
/* Vectors hold as many places as elements if both are as wide; a vector of 2^31 elements or more is searched by the wide ones. */
#define ONE(CODE, NAME, MEMORY, LOAD, LESS_) SEARCH(NAME, MEMORY, int64_t, LOAD, LESS_)
TYPES(ONE)
#define NARROW(X) X(TH_INT32, n4, int32_t, PLAIN, LESS) X(TH_UINT32, m4, uint32_t, PLAIN, LESS) X(TH_FLOAT32, f4n, float, PLAIN, FLOAT_LESS)
#define ONE_NARROW(CODE, NAME, MEMORY, LOAD, LESS_) SEARCH(NAME, MEMORY, int32_t, LOAD, LESS_)
NARROW(ONE_NARROW)

static void search_range(void *arg, int64_t lo, int64_t hi)
{
    const searching *s = arg;
    for (; lo < hi; lo += SIDE)
        s->search(s->n, s->x, hi - lo < SIDE ? hi - lo : SIDE, s->v + lo * s->itemsize, s->places + lo, s->right);
}

/* x in the order that the third input says. */
static const char *in_order(th_ctx *ctx, const char *x, int64_t itemsize)
{
    const th_buffer *order = ctx->in[2];
    const int64_t n = ctx->in[0]->shape[0];
    if (order->shape[0] != n) {
        TH_FAIL(ctx, TH_ERR_SHAPE, "sorter has length %lld, but the sorted vector has %lld", (long long)order->shape[0],
                (long long)n);
        return NULL;
    }
    char *made = ctx->rt->scratch(ctx, (size_t)(n ? n : 1) * (size_t)itemsize);
    for (int64_t i = 0; made && i < n; ++i) {
        const int64_t at = th_integer(order, i);
        if (at < 0 || at >= n) {
            TH_FAIL(ctx, TH_ERR_VALUE, "sorter index %lld is out of bounds for a vector of length %lld", (long long)at, (long long)n);
            return NULL;
        }
        memcpy(made + i * itemsize, x + at * itemsize, (size_t)itemsize);
    }
    return made;
}

/* inputs: x, v[, the order that sorts x]. */
TH_EXPORT int th_kernel_searchsorted(th_ctx *ctx)
{
    const th_searchsorted_params *p = ctx->params;
    searching s = {.n = ctx->in[0]->shape[0], .itemsize = p->itemsize, .right = (int)p->right};
    s.x = th_packed_in(ctx, ctx->in[0], (int32_t)p->dtype, p->itemsize);
    s.v = th_packed_in(ctx, ctx->in[1], (int32_t)p->dtype, p->itemsize);
    if (s.x && ctx->nin > 2)
        s.x = in_order(ctx, s.x, p->itemsize);
    if (!s.x || !s.v || ctx->rt->ensure(ctx, ctx->out[0], ctx->in[1]->shape))
        return -1;
    s.places = (int64_t *)ctx->out[0]->data;
#define CHOICE(CODE, NAME, MEMORY, LOAD, LESS_) \
    case CODE: s.search = search_##NAME; break;
    switch (p->dtype == TH_UINT8 ? TH_BOOL : p->dtype) {
        TYPES(CHOICE)
    }
    if (s.n <= INT32_MAX)
        switch (p->dtype) {
            NARROW(CHOICE)
        }
    const int64_t count = th_size(ctx->in[1]->ndim, ctx->in[1]->shape);
    return ctx->rt->parallel_for(ctx, count, th_grain(15.0), search_range, &s);
}
