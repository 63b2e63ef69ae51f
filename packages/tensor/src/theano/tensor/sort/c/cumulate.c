/* Sums and products of the elements up to each place, along an axis, and linear recurrences.
 *
 * One after the other, as NumPy does: sums in another order would round otherwise, products in another order overflow
 * where these do not. What limits a single line is the latency of one addition, so several lines go side by side.
 */
#include "kernels.h"

enum { SIDE = 4, BLOCK = TH_CUMULATE_BLOCK };

/* Output and input as [outer][n][inner], packed; they may be the same memory. */
typedef struct {
    char *to;
    const char *from;
    int64_t n, inner;
    void (*lines)(int64_t count, int64_t n, char *to, const char *from);
    void (*columns)(int64_t count, int64_t n, int64_t inner, char *to, const char *from);
    int64_t itemsize, blocks;
} cumulation;

#define PLAIN(v) (v)

#define CUMULATE(NAME, MEMORY, COMPUTE, LOAD, STORE, JOIN) \
    static TH_LOOP void lines_##NAME(int64_t count, int64_t n, char *to_, const char *from_) \
    { \
        MEMORY *to = (MEMORY *)to_; \
        const MEMORY *from = (const MEMORY *)from_; \
        int64_t line = 0; \
        for (; line + SIDE <= count; line += SIDE, to += SIDE * n, from += SIDE * n) { \
            COMPUTE a = LOAD(from[0]), b = LOAD(from[n]), c = LOAD(from[2 * n]), d = LOAD(from[3 * n]); \
            for (int64_t i = 0;;) { \
                const MEMORY ra = STORE(a), rb = STORE(b), rc = STORE(c), rd = STORE(d); \
                to[i] = ra; \
                to[i + n] = rb; \
                to[i + 2 * n] = rc; \
                to[i + 3 * n] = rd; \
                if (++i == n) \
                    break; \
                a = JOIN(LOAD(ra), LOAD(from[i])); \
                b = JOIN(LOAD(rb), LOAD(from[i + n])); \
                c = JOIN(LOAD(rc), LOAD(from[i + 2 * n])); \
                d = JOIN(LOAD(rd), LOAD(from[i + 3 * n])); \
            } \
        } \
        for (; line < count; ++line, to += n, from += n) { \
            MEMORY r = to[0] = from[0]; \
            for (int64_t i = 1; i < n; ++i) { \
                const COMPUTE v = JOIN(LOAD(r), LOAD(from[i])); \
                to[i] = r = STORE(v); \
            } \
        } \
    } \
    static TH_LOOP void columns_##NAME(int64_t count, int64_t n, int64_t inner, char *to_, const char *from_) \
    { \
        MEMORY *to = (MEMORY *)to_; \
        const MEMORY *from = (const MEMORY *)from_; \
        memmove(to, from, (size_t)count * sizeof *to); \
        for (int64_t i = 1; i < n; ++i) { \
            const MEMORY *before = to; \
            to += inner; \
            from += inner; \
            TH_INDEPENDENT \
            for (int64_t k = 0; k < count; ++k) { \
                const COMPUTE v = JOIN(LOAD(before[k]), LOAD(from[k])); \
                to[k] = STORE(v); \
            } \
        } \
    }

#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define OR(a, b) ((a) | (b))
#define AND(a, b) ((a) & (b))
#define TRUTH(v) ((uint8_t)((v) != 0))
/* Without the corrections for infinities of C's own product, which NumPy does not make either. */
#define COMPLEX_MUL(a, b) \
    (__builtin_complex(__real__(a) * __real__(b) - __imag__(a) * __imag__(b), \
                       __real__(a) * __imag__(b) + __imag__(a) * __real__(b)))

/* Integers wrap, and so do the sums of the signed ones computed as unsigned. */
#define TYPES(X) \
    X(TH_BOOL, b1, uint8_t, uint8_t, TRUTH, TRUTH, OR, AND) \
    X(TH_INT8, u1, uint8_t, uint32_t, PLAIN, (uint8_t), ADD, MUL) \
    X(TH_INT16, u2, uint16_t, uint32_t, PLAIN, (uint16_t), ADD, MUL) \
    X(TH_INT32, u4, uint32_t, uint32_t, PLAIN, PLAIN, ADD, MUL) \
    X(TH_INT64, u8, uint64_t, uint64_t, PLAIN, PLAIN, ADD, MUL) \
    INEXACT(X)
#define INEXACT(X) \
    X(TH_FLOAT16, f2, uint16_t, float, th_load_f16, th_store_f16, ADD, MUL) \
    X(TH_FLOAT32, f4, float, float, PLAIN, PLAIN, ADD, MUL) \
    X(TH_FLOAT64, f8, double, double, PLAIN, PLAIN, ADD, MUL) \
    X(TH_COMPLEX64, c8, float _Complex, float _Complex, PLAIN, PLAIN, ADD, COMPLEX_MUL) \
    X(TH_COMPLEX128, c16, double _Complex, double _Complex, PLAIN, PLAIN, ADD, COMPLEX_MUL)

#define BOTH(CODE, NAME, MEMORY, COMPUTE, LOAD, STORE, PLUS, TIMES) \
    CUMULATE(add_##NAME, MEMORY, COMPUTE, LOAD, STORE, PLUS) \
    CUMULATE(mul_##NAME, MEMORY, COMPUTE, LOAD, STORE, TIMES)
TYPES(BOTH)

static void choose(cumulation *c, int32_t dtype, int multiply)
{
#define CHOICE(CODE, NAME, MEMORY, COMPUTE, LOAD, STORE, PLUS, TIMES) \
    case CODE: \
        c->lines = multiply ? lines_mul_##NAME : lines_add_##NAME; \
        c->columns = multiply ? columns_mul_##NAME : columns_add_##NAME; \
        break;
    /* Unsigned integers are signed ones with other names. */
    switch (dtype == TH_UINT8 || dtype == TH_UINT16 || dtype == TH_UINT32 || dtype == TH_UINT64 ? dtype - 1 : dtype) {
        TYPES(CHOICE)
    }
}

static void cumulate_lines(void *arg, int64_t lo, int64_t hi)
{
    const cumulation *c = arg;
    const int64_t at = lo * c->n * c->itemsize;
    c->lines(hi - lo, c->n, c->to + at, c->from + at);
}

/* Blocks of neighbouring columns: `blocks` of them for each point of the outer axes. */
static void cumulate_columns(void *arg, int64_t lo, int64_t hi)
{
    const cumulation *c = arg;
    for (; lo < hi; ++lo) {
        const int64_t first = lo % c->blocks * BLOCK, left = c->inner - first;
        const int64_t at = (lo / c->blocks * c->n * c->inner + first) * c->itemsize;
        c->columns(left < BLOCK ? left : BLOCK, c->n, c->inner, c->to + at, c->from + at);
    }
}

/* input: x. */
TH_EXPORT int th_kernel_cumulate(th_ctx *ctx)
{
    const th_cumulate_params *p = ctx->params;
    const int64_t axis = p->axis;
    const th_buffer *x = ctx->in[0];
    th_buffer *out = ctx->out[0];
    const int64_t size = th_size(x->ndim, x->shape);
    if (ctx->rt->ensure(ctx, out, axis < 0 ? &size : x->shape))
        return -1;
    if (size == 0)
        return 0;
    cumulation c = {.to = out->data, .from = x->data, .itemsize = x->itemsize, .n = size, .inner = 1};
    if (!th_packed(x, x->ndim)) {
        th_window from, to;
        th_window_of(&from, x);
        th_window_of(&to, x);
        int64_t stride = x->itemsize;
        to.data = out->data;
        for (int d = x->ndim - 1; d >= 0; stride *= x->shape[d], --d)
            to.strides[d] = stride;
        th_copy_into(&to, &from);
        c.from = out->data;
    }
    if (axis >= 0) {
        c.n = x->shape[axis];
        c.inner = th_size(x->ndim - (int)axis - 1, x->shape + axis + 1);
    }
    choose(&c, x->dtype, (int)p->multiplies);
    const int64_t outer = size / (c.n * c.inner);
    if (c.inner == 1)
        return ctx->rt->parallel_for(ctx, outer, th_grain((double)c.n * 0.5), cumulate_lines, &c);
    c.blocks = (c.inner + BLOCK - 1) / BLOCK;
    const double width = (double)(c.inner < BLOCK ? c.inner : BLOCK);
    return ctx->rt->parallel_for(ctx, outer * c.blocks, th_grain((double)c.n * width * 0.3), cumulate_columns, &c);
}

/* -- linear recurrences ------------------------------------------------------------------------------------- */

/* All as [outer][n][inner], packed; from the last place to the first where the step is negative. */
typedef struct {
    char *to;
    const char *a, *b;
    int64_t n, inner, itemsize, blocks, step;
    void (*columns)(int64_t count, int64_t n, int64_t step, char *to, const char *a, const char *b);
} recurrence;

/* A single column advances in a register: its memory would be waited for. */
#define RECUR(CODE, NAME, MEMORY, COMPUTE, LOAD, STORE, PLUS, TIMES) \
    static TH_LOOP void recur_##NAME(int64_t count, int64_t n, int64_t step, char *to_, const char *a_, const char *b_) \
    { \
        MEMORY *to = (MEMORY *)to_; \
        const MEMORY *a = (const MEMORY *)a_, *b = (const MEMORY *)b_; \
        if (count == 1) { \
            MEMORY r = to[0] = b[0]; \
            for (int64_t i = 1; i < n; ++i, a += step) { \
                const COMPUTE v = PLUS(TIMES(LOAD(*a), LOAD(r)), LOAD(*(b += step))); \
                *(to += step) = r = STORE(v); \
            } \
            return; \
        } \
        memcpy(to, b, (size_t)count * sizeof *to); \
        for (int64_t i = 1; i < n; ++i, a += step) { \
            const MEMORY *before = to; \
            to += step; \
            b += step; \
            TH_INDEPENDENT \
            for (int64_t k = 0; k < count; ++k) { \
                const COMPUTE v = PLUS(TIMES(LOAD(a[k]), LOAD(before[k])), LOAD(b[k])); \
                to[k] = STORE(v); \
            } \
        } \
    }
INEXACT(RECUR)

static void recur(void *arg, int64_t lo, int64_t hi)
{
    const recurrence *r = arg;
    const int64_t last = r->n - 1;
    for (; lo < hi; ++lo) {
        const int64_t first = lo % r->blocks * BLOCK, left = r->inner - first;
        const int64_t start = (lo / r->blocks * r->n + (r->step < 0 ? last : 0)) * r->inner + first;
        const int64_t factor = r->step < 0 || last == 0 ? start : start + r->step;
        r->columns(left < BLOCK ? left : BLOCK, r->n, r->step, r->to + start * r->itemsize, r->a + factor * r->itemsize,
                   r->b + start * r->itemsize);
    }
}

/* inputs: a, b; y[k] = a[k] * y[k - 1] + b[k] from y[0] = b[0] on, or y[k] = a[k + 1] * y[k + 1] + b[k] from the end. */
TH_EXPORT int th_kernel_linear_recurrence(th_ctx *ctx)
{
    const th_linear_recurrence_params *p = ctx->params;
    const th_buffer *a = ctx->in[0], *b = ctx->in[1];
    th_buffer *out = ctx->out[0];
    for (int d = 0; d < a->ndim; ++d)
        if (a->shape[d] != b->shape[d])
            return th_mismatch(ctx, d, 0, a->shape[d], 1, b->shape[d]);
    if (ctx->rt->ensure(ctx, out, a->shape))
        return -1;
    const int64_t size = th_size(a->ndim, a->shape);
    if (size == 0)
        return 0;
    recurrence r = {.to = out->data, .itemsize = a->itemsize, .n = a->shape[p->axis]};
    r.a = th_packed_in(ctx, a, a->dtype, a->itemsize);
    r.b = th_packed_in(ctx, b, b->dtype, b->itemsize);
    if (r.a == NULL || r.b == NULL)
        return -1;
    r.inner = th_size(a->ndim - (int)p->axis - 1, a->shape + p->axis + 1);
    r.step = p->transposed ? -r.inner : r.inner;
    r.blocks = (r.inner + BLOCK - 1) / BLOCK;
#define RECURRENCE(CODE, NAME, MEMORY, COMPUTE, LOAD, STORE, PLUS, TIMES) \
    case CODE: \
        r.columns = recur_##NAME; \
        break;
    switch (a->dtype) {
        INEXACT(RECURRENCE)
    }
    const double width = (double)(r.inner < BLOCK ? r.inner : BLOCK);
    return ctx->rt->parallel_for(ctx, size / (r.n * r.inner) * r.blocks, th_grain((double)r.n * width * 0.5), recur, &r);
}
