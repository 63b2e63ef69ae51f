/* The different elements, or slices along an axis, in order; where each is met first, which one each is, how often each is.
 *
 * Elements are ordered by NumPy's own sorts, slices by merging; equals keep their order wherever places are wanted. As in
 * NumPy, all nan count as one element, while slices that hold one differ from all others.
 */
#include "kernels.h"

#include <stdlib.h>

typedef int (*sorter)(void *elements, intptr_t n, void *unused);
typedef int (*place_sorter)(void *elements, intptr_t *places, intptr_t n, void *unused);

#define PLAIN(v) (v)
#define LESS(a, b) ((a) < (b))
#define SAME(a, b) ((a) == (b))
#define FLOAT_LESS(a, b) (((a) < (b)) | (((b) != (b)) & ((a) == (a)))) /* nan is larger than all numbers */
#define RE(v) (__real__(v))
#define IM(v) (__imag__(v))
/* By the real part, then the imaginary one; what has a nan is larger, more so with the nan in the real part. */
#define COMPLEX_LESS(a, b) \
    ((RE(a) < RE(b))   ? (IM(a) == IM(a) || IM(b) != IM(b)) \
     : (RE(a) > RE(b)) ? (IM(b) != IM(b) && IM(a) == IM(a)) \
     : (RE(a) == RE(b) || (RE(a) != RE(a) && RE(b) != RE(b))) ? (IM(a) < IM(b) || (IM(b) != IM(b) && IM(a) == IM(a))) \
                                                              : RE(b) != RE(b))

#define TYPES(X) \
    X(TH_BOOL, u1, uint8_t, uint8_t, PLAIN, LESS) \
    X(TH_INT8, i1, int8_t, int8_t, PLAIN, LESS) \
    X(TH_INT16, i2, int16_t, int16_t, PLAIN, LESS) \
    X(TH_UINT16, u2, uint16_t, uint16_t, PLAIN, LESS) \
    X(TH_INT32, i4, int32_t, int32_t, PLAIN, LESS) \
    X(TH_UINT32, u4, uint32_t, uint32_t, PLAIN, LESS) \
    X(TH_INT64, i8, int64_t, int64_t, PLAIN, LESS) \
    X(TH_UINT64, u8, uint64_t, uint64_t, PLAIN, LESS) \
    X(TH_FLOAT16, f2, uint16_t, float, th_load_f16, FLOAT_LESS) \
    X(TH_FLOAT32, f4, float, float, PLAIN, FLOAT_LESS) \
    X(TH_FLOAT64, f8, double, double, PLAIN, FLOAT_LESS) \
    X(TH_COMPLEX64, c8, float _Complex, float _Complex, PLAIN, COMPLEX_LESS) \
    X(TH_COMPLEX128, c16, double _Complex, double _Complex, PLAIN, COMPLEX_LESS)

/* news: for each of n elements in the order of `places` (NULL: as they are) whether it differs from the one before;
 * returns how many do. before: whether slice a of n elements comes before b. same: whether they are one. */
#define FORMS(CODE, NAME, MEMORY, COMPUTE, LOAD, LESS_) \
    static TH_LOOP int64_t news_##NAME(int64_t n, const char *v_, const int64_t *places, uint8_t *news) \
    { \
        const MEMORY *v = (const MEMORY *)v_; \
        int64_t count = 0; \
        for (int64_t i = 1; !places && i < n; ++i) { \
            const COMPUTE a = LOAD(v[i - 1]), b = LOAD(v[i]); \
            news[i] = !((a == b) | ((a != a) & (b != b))); \
        } \
        for (int64_t i = 1; places && i < n; ++i) { \
            const COMPUTE a = LOAD(v[places[i - 1]]), b = LOAD(v[places[i]]); \
            news[i] = !((a == b) | ((a != a) & (b != b))); \
        } \
        if (n > 0) \
            news[0] = 1; \
        for (int64_t i = 0; i < n; ++i) \
            count += news[i]; \
        return count; \
    } \
    static int before_##NAME(int64_t n, const char *a_, const char *b_) \
    { \
        for (int64_t i = 0; i < n; ++i) { \
            const COMPUTE a = LOAD(((const MEMORY *)a_)[i]), b = LOAD(((const MEMORY *)b_)[i]); \
            if (LESS_(a, b)) \
                return 1; \
            if (LESS_(b, a)) \
                return 0; \
        } \
        return 0; \
    } \
    static int same_##NAME(int64_t n, const char *a_, const char *b_) \
    { \
        for (int64_t i = 0; i < n; ++i) \
            if (!(LOAD(((const MEMORY *)a_)[i]) == LOAD(((const MEMORY *)b_)[i]))) \
                return 0; \
        return 1; \
    }
TYPES(FORMS)

typedef struct {
    int64_t (*news)(int64_t n, const char *v, const int64_t *places, uint8_t *news);
    int (*before)(int64_t n, const char *a, const char *b);
    int (*same)(int64_t n, const char *a, const char *b);
} forms;

static forms forms_of(int32_t dtype)
{
#define CHOICE(CODE, NAME, MEMORY, COMPUTE, LOAD, LESS_) \
    case CODE: return (forms){news_##NAME, before_##NAME, same_##NAME};
    switch (dtype == TH_UINT8 ? TH_BOOL : dtype) {
        TYPES(CHOICE)
    }
    return (forms){0};
}

/* Merging, from runs of one to all: `order` holds the places of n slices of `width` elements, `scratch` as many. */
static int64_t *merged(const forms *f, int64_t n, int64_t width, int64_t bytes, const char *v, int64_t *order, int64_t *scratch)
{
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t start = 0; start < n; start += 2 * run) {
            int64_t a = start, b = start + run < n ? start + run : n, at = start;
            const int64_t a_end = b, b_end = b + run < n ? b + run : n;
            while (a < a_end && b < b_end) {
                const int later = f->before(width, v + order[b] * bytes, v + order[a] * bytes);
                scratch[at++] = order[later ? b++ : a++];
            }
            memcpy(scratch + at, order + a, (size_t)(a_end - a) * sizeof *scratch);
            memcpy(scratch + at + a_end - a, order + b, (size_t)(b_end - b) * sizeof *scratch);
        }
        int64_t *swap = order;
        order = scratch;
        scratch = swap;
    }
    return order;
}

typedef struct {
    int64_t n, width; /* slices, and elements of each */
    char *v;          /* packed */
    const int64_t *order;
    uint8_t *news;
    int64_t count;
} findings;

static int out_of_memory(th_ctx *ctx, int64_t n)
{
    return TH_FAIL(ctx, TH_ERR_MEMORY, "not enough memory to sort %lld elements", (long long)n);
}

/* The order of single elements: of themselves, in a copy, or of their places. */
static int order_elements(th_ctx *ctx, findings *s, int64_t itemsize, int32_t dtype, int with_places)
{
    const th_unique_params *p = ctx->params;
    const size_t bytes = (size_t)(s->n ? s->n : 1);
    if (with_places) {
        int64_t *places = ctx->rt->scratch(ctx, bytes * sizeof *places);
        if (!places)
            return -1;
        for (int64_t i = 0; i < s->n; ++i)
            places[i] = i;
        if (((place_sorter)(intptr_t)p->sort_places)(s->v, (intptr_t *)places, s->n, NULL))
            return out_of_memory(ctx, s->n);
        s->order = places;
    } else {
        char *copy = ctx->rt->scratch(ctx, bytes * (size_t)itemsize);
        if (!copy)
            return -1;
        memcpy(copy, s->v, (size_t)(s->n * itemsize));
        if (((sorter)(intptr_t)p->sort)(copy, s->n, NULL))
            return out_of_memory(ctx, s->n);
        s->v = copy;
        s->order = NULL;
    }
    s->count = forms_of(dtype).news(s->n, s->v, s->order, s->news);
    return 0;
}

static int order_slices(th_ctx *ctx, findings *s, int64_t itemsize, int32_t dtype)
{
    const forms f = forms_of(dtype);
    const int64_t bytes = s->width * itemsize;
    int64_t *order = ctx->rt->scratch(ctx, (size_t)(s->n ? s->n : 1) * 2 * sizeof *order);
    if (!order)
        return -1;
    for (int64_t i = 0; i < s->n; ++i)
        order[i] = i;
    const int64_t *sorted = s->order = merged(&f, s->n, s->width, bytes, s->v, order, order + s->n);
    s->count = 0;
    for (int64_t i = 0; i < s->n; ++i) {
        s->news[i] = i == 0 || !f.same(s->width, s->v + sorted[i - 1] * bytes, s->v + sorted[i] * bytes);
        s->count += s->news[i];
    }
    return 0;
}

/* The elements, one after the other, the axis in front. */
static char *in_front(th_ctx *ctx, const th_buffer *x, int axis)
{
    if (axis <= 0)
        return (char *)(intptr_t)th_packed_in(ctx, x, x->dtype, x->itemsize);
    th_buffer turned = *x;
    int64_t shape[TH_MAX_NDIM], strides[TH_MAX_NDIM];
    shape[0] = x->shape[axis];
    strides[0] = x->strides[axis];
    for (int d = 1, from = 0; d < x->ndim; ++d, ++from) {
        from += from == axis;
        shape[d] = x->shape[from];
        strides[d] = x->strides[from];
    }
    turned.shape = shape;
    turned.strides = strides;
    return (char *)(intptr_t)th_packed_in(ctx, &turned, x->dtype, x->itemsize);
}

/* Output 0: the slices that are new, in order, put back along their axis. */
static int put_values(th_ctx *ctx, const findings *s, int axis)
{
    const th_buffer *x = ctx->in[0];
    th_buffer *out = ctx->out[0];
    int64_t shape[TH_MAX_NDIM];
    if (axis >= 0)
        memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
    shape[axis < 0 ? 0 : axis] = s->count;
    if (ctx->rt->ensure(ctx, out, shape))
        return -1;
    const int64_t inner = axis < 0 ? 1 : th_size(x->ndim - axis - 1, x->shape + axis + 1), outer = s->width / (inner ? inner : 1);
    const int64_t piece = inner * x->itemsize, bytes = s->width * x->itemsize;
    int64_t at = 0;
    for (int64_t i = 0; bytes && i < s->n; ++i) {
        if (!s->news[i])
            continue;
        const char *from = s->v + (s->order ? s->order[i] : i) * bytes;
        if (axis < 0 && bytes == 8) { /* most often */
            memcpy(out->data + at++ * 8, from, 8);
            continue;
        }
        for (int64_t o = 0; o < outer; ++o)
            memcpy(out->data + (o * s->count + at) * piece, from + o * piece, (size_t)piece);
        ++at;
    }
    return 0;
}

static int put_places(th_ctx *ctx, const findings *s, int first, int which, int counts)
{
    int at = 1;
    int64_t *to[3] = {0};
    const int wanted[3] = {first, which, counts};
    for (int k = 0; k < 3; ++k)
        if (wanted[k] && ctx->rt->ensure(ctx, ctx->out[at++], k == 1 ? &s->n : &s->count))
            return -1;
    at = 1;
    for (int k = 0; k < 3; ++k)
        to[k] = wanted[k] ? (int64_t *)ctx->out[at++]->data : NULL;
    int64_t rank = -1;
    for (int64_t i = 0; i < s->n; ++i) {
        const int64_t place = s->order ? s->order[i] : i;
        rank += s->news[i];
        if (to[0] && s->news[i])
            to[0][rank] = place;
        if (to[1])
            to[1][place] = rank;
        if (to[2])
            to[2][rank] = s->news[i] ? 1 : to[2][rank] + 1;
    }
    return 0;
}

/* input: x. */
TH_EXPORT int th_kernel_unique(th_ctx *ctx)
{
    const th_unique_params *p = ctx->params;
    const th_buffer *x = ctx->in[0];
    const int axis = (int)p->axis;
    findings s = {.n = axis < 0 ? th_size(x->ndim, x->shape) : x->shape[axis], .width = 1};
    for (int d = 0; axis >= 0 && d < x->ndim; ++d)
        s.width *= d == axis ? 1 : x->shape[d];
    s.v = in_front(ctx, x, axis);
    s.news = ctx->rt->scratch(ctx, (size_t)(s.n ? s.n : 1));
    if (!s.v || !s.news)
        return -1;
    if (axis < 0 ? order_elements(ctx, &s, x->itemsize, x->dtype, p->first || p->inverse) : order_slices(ctx, &s, x->itemsize, x->dtype))
        return -1;
    return put_values(ctx, &s, axis) || put_places(ctx, &s, (int)p->first, (int)p->inverse, (int)p->counts) ? -1 : 0;
}
