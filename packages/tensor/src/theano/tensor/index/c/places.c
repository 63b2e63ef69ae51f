/* Where the elements are that are not 0: one list of places for each axis, in C order. */
#include "kernels.h"

/* "Is not 0" of any type asks for bits other than a sign: those of the mask. (PAIR_BITS has none of complex128's.) */
static uint64_t bits_that_count(int32_t dtype)
{
    switch (dtype) {
    case TH_FLOAT16: return UINT64_C(0x7fff);
    case TH_FLOAT32: return UINT64_C(0x7fffffff);
    case TH_COMPLEX64: return UINT64_C(0x7fffffff7fffffff);
    case TH_FLOAT64: return UINT64_C(0x7fffffffffffffff);
    default: return ~UINT64_C(0);
    }
}

typedef struct { uint64_t a, b; } th_pair;
#define PLAIN_BITS(v) ((uint64_t)(v))
#define PAIR_BITS(v) ((v).a << 1 | (v).b << 1) /* of complex128: both signs fall off */

/* count: how many elements of a line. find: the next of them, at most `left`, without a branch for each. */
#define LINES(NAME, TYPE, BITS) \
    static TH_LOOP int64_t count_##NAME(int64_t n, const char *p, int64_t step, uint64_t mask) \
    { \
        int64_t found = 0; \
        if (step == sizeof(TYPE)) \
            for (int64_t i = 0; i < n; ++i) \
                found += (BITS(((const TYPE *)p)[i]) & mask) != 0; \
        else \
            for (int64_t i = 0; i < n; ++i) \
                found += (BITS(*(const TYPE *)(p + i * step)) & mask) != 0; \
        return found; \
    } \
    static TH_LOOP int64_t find_##NAME(int64_t n, const char *p, int64_t step, uint64_t mask, int64_t left, int64_t *to) \
    { \
        int64_t found = 0; \
        for (int64_t i = 0; i < n && found < left; ++i) { \
            to[found] = i; \
            found += (BITS(*(const TYPE *)(p + i * step)) & mask) != 0; \
        } \
        return found; \
    }
LINES(1, uint8_t, PLAIN_BITS)
LINES(2, uint16_t, PLAIN_BITS)
LINES(4, uint32_t, PLAIN_BITS)
LINES(8, uint64_t, PLAIN_BITS)
LINES(16, th_pair, PAIR_BITS)

typedef int64_t (*counter)(int64_t, const char *, int64_t, uint64_t);
typedef int64_t (*finder)(int64_t, const char *, int64_t, uint64_t, int64_t, int64_t *);

static counter counter_of(int64_t itemsize)
{
    return itemsize == 1 ? count_1 : itemsize == 2 ? count_2 : itemsize == 4 ? count_4 : itemsize == 8 ? count_8 : count_16;
}

static finder finder_of(int64_t itemsize)
{
    return itemsize == 1 ? find_1 : itemsize == 2 ? find_2 : itemsize == 4 ? find_4 : itemsize == 8 ? find_8 : find_16;
}

int64_t th_count_true(const th_buffer *b)
{
    int64_t shape[TH_MAX_NDIM], strides[TH_MAX_NDIM], index[TH_MAX_NDIM] = {0};
    memcpy(shape, b->shape, (size_t)b->ndim * sizeof *shape);
    memcpy(strides, b->strides, (size_t)b->ndim * sizeof *strides);
    const uint64_t mask = bits_that_count(b->dtype);
    const counter count = counter_of(b->itemsize);
    if (th_size(b->ndim, shape) == 0)
        return 0;
    const int nd = th_collapse(1, b->ndim, shape, strides);
    char *p = b->data;
    int64_t found = 0;
    for (int64_t rows = th_size(nd - 1, shape); rows > 0; --rows) {
        found += count(shape[nd - 1], p, strides[nd - 1], mask);
        th_advance(1, nd - 1, shape, strides, index, &p);
    }
    return found;
}

/* The `count` places, one list for each of at least one axis. */
void th_find_true(const th_buffer *b, int64_t count, int64_t *const *places)
{
    const int last = b->ndim - 1;
    int64_t index[TH_MAX_NDIM] = {0};
    const uint64_t mask = bits_that_count(b->dtype);
    const finder find = finder_of(b->itemsize);
    char *p = b->data;
    for (int64_t done = 0; done < count;) {
        const int64_t found = find(b->shape[last], p, b->strides[last], mask, count - done, places[last] + done);
        for (int d = 0; d < last; ++d)
            for (int64_t k = 0; k < found; ++k)
                places[d][done + k] = index[d];
        done += found;
        th_advance(1, last, b->shape, b->strides, index, &p);
    }
}

/* input: an array. outputs: one list for each axis. */
TH_EXPORT int th_kernel_nonzero(th_ctx *ctx)
{
    const int64_t count = th_count_true(ctx->in[0]);
    int64_t *places[TH_MAX_NDIM];
    for (int d = 0; d < ctx->nout; ++d)
        if (ctx->rt->ensure(ctx, ctx->out[d], &count))
            return -1;
    for (int d = 0; d < ctx->nout; ++d)
        places[d] = (int64_t *)ctx->out[d]->data;
    th_find_true(ctx->in[0], count, places);
    return 0;
}
