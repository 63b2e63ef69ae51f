/* Order along an axis: sort and argsort by NumPy's own functions, the k best by a heap.
 *
 * Lines along the axis are ordered one by one, each by one thread. NumPy's functions are handed over by address; they
 * need no GIL, and use the widest instructions of the CPU. Their order is NumPy's: nan is larger than all numbers.
 */
#include "kernels.h"

#include <stdlib.h>

typedef int (*sorter)(void *elements, intptr_t n, void *unused);
typedef int (*place_sorter)(void *elements, intptr_t *places, intptr_t n, void *unused);

/* The window with one axis moved to the end. */
static th_window axis_last(const th_buffer *b, int axis)
{
    th_window w;
    th_window_of(&w, b);
    for (int d = axis; d < w.nd - 1; ++d) {
        w.shape[d] = b->shape[d + 1];
        w.strides[d] = b->strides[d + 1];
    }
    if (w.nd) {
        w.shape[w.nd - 1] = b->shape[axis];
        w.strides[w.nd - 1] = b->strides[axis];
    }
    return w;
}

/* A packed window of that shape. */
static th_window packed_like(const th_window *w, char *data, int32_t dtype, int64_t itemsize)
{
    th_window made;
    made.data = data;
    made.nd = w->nd;
    made.dtype = dtype;
    made.itemsize = itemsize;
    for (int d = w->nd - 1; d >= 0; itemsize *= w->shape[d], --d) {
        made.shape[d] = w->shape[d];
        made.strides[d] = itemsize;
    }
    return made;
}

static int is_packed(const th_window *w)
{
    int64_t stride = w->itemsize;
    for (int d = w->nd - 1; d >= 0; stride *= w->shape[d], --d)
        if (w->shape[d] != 1 && w->strides[d] != stride)
            return 0;
    return 1;
}

static void *scratch_for(th_ctx *ctx, int64_t n, int64_t itemsize)
{
    return ctx->rt->scratch(ctx, (size_t)(n > 0 ? n : 1) * (size_t)itemsize);
}

/* The elements with lines together: where they are, if they are so already, else a copy. */
static char *lines_of(th_ctx *ctx, const th_window *w)
{
    if (is_packed(w))
        return w->data;
    char *scratch = scratch_for(ctx, th_size(w->nd, w->shape), w->itemsize);
    if (scratch) {
        const th_window copy = packed_like(w, scratch, w->dtype, w->itemsize);
        th_copy_into(&copy, w);
    }
    return scratch;
}

typedef struct {
    const th_runtime *rt;
    th_window from, to; /* the axis last; what is before it are the lines */
    int64_t n, k;
    sorter sort;
    place_sorter sort_places;
    void (*select)(int64_t n, int64_t k, const char *v, int64_t *places);
    void (*collect)(int64_t n, int64_t k, const char *v, const char *worst, int64_t *places);
    int64_t (*filter)(int64_t n, int64_t most, const char *v, const char *worst, int64_t *places);
    char *elements;  /* all lines */
    char *values;    /* the k best of each line, if their places are not requested */
    int64_t *places; /* of the k best of each line */
    int smallest, failed;
} lines;

/* The elements of a line one after the other in `scratch`, or where they are. */
static char *line_at(const lines *s, char *from, char *scratch)
{
    const int last = s->from.nd - 1;
    const int64_t size = s->from.itemsize, step = s->from.strides[last];
    if (step == size && s->sort_places)
        return from;
    s->rt->move(scratch, 0, size, from, 0, step, 1, s->n, size);
    return scratch;
}

/* Lines lo .. hi; each is copied, if need be, ordered, and its elements or places put where they belong. */
static void sort_lines(void *arg, int64_t lo, int64_t hi)
{
    lines *s = arg;
    const int last = s->from.nd - 1;
    const int64_t n = s->n, size = s->from.itemsize, step = s->to.strides[last];
    const int direct = step == s->to.itemsize;
    /* The places first: they need the stricter alignment. */
    int64_t *own = malloc((size_t)(n * (size + (int64_t)sizeof *own)));
    char *scratch = (char *)(own + n);
    int64_t strides[2 * TH_MAX_NDIM], index[TH_MAX_NDIM] = {0};
    char *p[2] = {s->from.data, s->to.data};
    for (int d = 0; d < last; ++d) {
        strides[2 * d] = s->from.strides[d];
        strides[2 * d + 1] = s->to.strides[d];
    }
    th_seek(2, last, s->from.shape, strides, lo, index, p);
    int failed = own == NULL;
    for (; lo < hi && !failed; ++lo, th_advance(2, last, s->from.shape, strides, index, p)) {
        if (s->sort_places) {
            int64_t *places = direct ? (int64_t *)p[1] : own;
            for (int64_t i = 0; i < n; ++i)
                places[i] = i;
            failed = s->sort_places(line_at(s, p[0], scratch), (intptr_t *)places, n, NULL);
            if (!direct)
                s->rt->move(p[1], 0, step, (char *)places, 0, sizeof *places, 1, n, sizeof *places);
        } else {
            char *v = line_at(s, p[0], direct ? p[1] : scratch);
            failed = s->sort(v, n, NULL);
            if (!direct)
                s->rt->move(p[1], 0, step, v, 0, size, 1, n, size);
        }
    }
    free(own);
    if (failed)
        __atomic_store_n(&s->failed, 1, __ATOMIC_RELAXED);
}

static int in_lines(th_ctx *ctx, lines *s, th_body body, double work)
{
    const int64_t count = s->n ? th_size(s->from.nd - 1, s->from.shape) : 0;
    if (ctx->rt->parallel_for(ctx, count, th_grain(work * (double)s->n), body, s))
        return -1;
    return s->failed ? TH_FAIL(ctx, TH_ERR_MEMORY, "not enough memory to sort %lld elements", (long long)s->n) : 0;
}

/* inputs: x, axis. */
TH_EXPORT int th_kernel_sort(th_ctx *ctx)
{
    const th_sort_params *p = ctx->params;
    const int nd = ctx->in[0]->ndim;
    int64_t axis = th_integer(ctx->in[1], 0);
    if (axis < -nd || axis >= nd)
        return TH_FAIL(ctx, TH_ERR_INDEX, "axis %lld is out of bounds for array of dimension %d", (long long)axis, nd);
    axis += axis < 0 ? nd : 0;
    if (ctx->rt->ensure(ctx, ctx->out[0], ctx->in[0]->shape))
        return -1;
    lines s = {.rt = ctx->rt,
               .n = ctx->in[0]->shape[axis],
               .from = axis_last(ctx->in[0], (int)axis),
               .to = axis_last(ctx->out[0], (int)axis)};
    if (p->places)
        s.sort_places = (place_sorter)(intptr_t)p->function;
    else
        s.sort = (sorter)(intptr_t)p->function;
    return in_lines(ctx, &s, sort_lines, 20.0);
}

/* -------------------------------------------------------------------------------------- the k best */

#define PLAIN(v) (v)
#define LESS(a, b) ((a) < (b))
#define MORE(a, b) ((a) > (b))
#define FLOAT_LESS(a, b) ((a) < (b) || ((b) != (b) && (a) == (a)))
#define FLOAT_MORE(a, b) FLOAT_LESS(b, a)

/* A heap of places, the worst on top. Elements are met in such an order that of equals the one met first stays: of the
 * largest the last one, as a stable sort read from its end has it, of the smallest the first. Pieces without anything better
 * than the worst are passed over at once. */
enum { PIECE = TH_SELECT_PIECE, BIT = TH_SELECT_BITS };
#define SELECT(NAME, MEMORY, COMPUTE, LOAD, BETTER, FROM_END) \
    static void sink_##NAME(const MEMORY *v, int64_t *heap, int64_t k, int64_t at) \
    { \
        const int64_t moved = heap[at]; \
        const COMPUTE value = LOAD(v[moved]); \
        for (int64_t child; (child = 2 * at + 1) < k; at = child) { \
            COMPUTE below = LOAD(v[heap[child]]); \
            if (child + 1 < k) { \
                const COMPUTE other = LOAD(v[heap[child + 1]]); \
                const int later = FROM_END ? heap[child + 1] < heap[child] : heap[child + 1] > heap[child]; \
                if (BETTER(below, other) || (!BETTER(other, below) && later)) { \
                    below = other; \
                    ++child; \
                } \
            } \
            const int later = FROM_END ? heap[child] < moved : heap[child] > moved; \
            if (!(BETTER(value, below) || (!BETTER(below, value) && later))) \
                break; \
            heap[at] = heap[child]; \
        } \
        heap[at] = moved; \
    } \
    static TH_LOOP void select_##NAME(int64_t n, int64_t k, const char *elements, int64_t *heap) \
    { \
        const MEMORY *v = (const MEMORY *)elements; \
        for (int64_t i = 0; i < k; ++i) \
            heap[i] = FROM_END ? n - 1 - i : i; \
        for (int64_t i = k / 2; i-- > 0;) \
            sink_##NAME(v, heap, k, i); \
        for (int64_t i = k; i < n;) { \
            const int64_t m = n - i < PIECE ? n - i : PIECE; \
            const MEMORY *piece = FROM_END ? v + n - i - m : v + i; \
            const COMPUTE worst = LOAD(v[heap[0]]); \
            int any = m < PIECE; \
            if (!any) \
                for (int64_t j = 0; j < PIECE; ++j) \
                    any |= BETTER(LOAD(piece[j]), worst); \
            if (any) \
                for (int64_t j = 0; j < m; ++j) { \
                    const int64_t at = FROM_END ? n - 1 - i - j : i + j; \
                    if (BETTER(LOAD(v[at]), LOAD(v[heap[0]]))) { \
                        heap[0] = at; \
                        sink_##NAME(v, heap, k, 0); \
                    } \
                } \
            i += m; \
        } \
        for (int64_t m = k; m-- > 1;) { \
            const int64_t worst = heap[0]; \
            heap[0] = heap[m]; \
            heap[m] = worst; \
            sink_##NAME(v, heap, m, 0); \
        } \
    }

/* The places of the k best elements, given the worst of them: all that are better, and as many equals as are missing. */
#define COLLECT(NAME, MEMORY, COMPUTE, LOAD, BETTER, FROM_END) \
    static TH_LOOP void collect_##NAME(int64_t n, int64_t k, const char *elements, const char *worst_, int64_t *places) \
    { \
        const MEMORY *v = (const MEMORY *)elements; \
        const COMPUTE worst = LOAD(*(const MEMORY *)worst_); \
        int64_t equals = k, found = 0; \
        for (int64_t i = 0; i < n; ++i) \
            equals -= BETTER(LOAD(v[i]), worst) != 0; \
        for (int64_t j = 0; j < n && found < k; ++j) { \
            const int64_t i = FROM_END ? n - 1 - j : j; \
            const int better = BETTER(LOAD(v[i]), worst); \
            const int equal = !better && !BETTER(worst, LOAD(v[i])) && equals > 0; \
            places[found] = i; \
            found += better || equal; \
            equals -= equal; \
        } \
    }

/* The places of all elements that are not worse than one, in the same order; how many, or -1 for more than `most`. */
#define FILTER(NAME, MEMORY, COMPUTE, LOAD, BETTER, FROM_END) \
    static TH_LOOP int64_t filter_##NAME(int64_t n, int64_t most, const char *elements, const char *worst_, int64_t *places) \
    { \
        const MEMORY *v = (const MEMORY *)elements; \
        const COMPUTE worst = LOAD(*(const MEMORY *)worst_); \
        int64_t found = 0; \
        for (int64_t i = 0; i < n && found + PIECE <= most; i += PIECE) { \
            const int64_t m = n - i < PIECE ? n - i : PIECE; \
            const MEMORY *piece = FROM_END ? v + n - i - m : v + i; \
            int any = m < PIECE; \
            if (!any) \
                for (int64_t j = 0; j < PIECE; ++j) \
                    any |= !BETTER(worst, LOAD(piece[j])); \
            for (int64_t j = 0; j < m && any; j += BIT) { \
                int here = m - j < BIT; \
                const int64_t bits = here ? m - j : BIT, first = FROM_END ? m - j - bits : j; \
                if (!here) \
                    for (int64_t b = 0; b < BIT; ++b) \
                        here |= !BETTER(worst, LOAD(piece[first + b])); \
                for (int64_t b = 0; b < bits && here; ++b) { \
                    const int64_t at = first + (FROM_END ? bits - 1 - b : b); \
                    places[found] = piece - v + at; \
                    found += !BETTER(worst, LOAD(piece[at])); \
                } \
            } \
        } \
        return found + PIECE <= most ? found : -1; \
    }

#define TYPES(X) \
    X(TH_BOOL, u1, uint8_t, uint8_t, PLAIN, LESS, MORE) \
    X(TH_INT8, i1, int8_t, int8_t, PLAIN, LESS, MORE) \
    X(TH_INT16, i2, int16_t, int16_t, PLAIN, LESS, MORE) \
    X(TH_UINT16, u2, uint16_t, uint16_t, PLAIN, LESS, MORE) \
    X(TH_INT32, i4, int32_t, int32_t, PLAIN, LESS, MORE) \
    X(TH_UINT32, u4, uint32_t, uint32_t, PLAIN, LESS, MORE) \
    X(TH_INT64, i8, int64_t, int64_t, PLAIN, LESS, MORE) \
    X(TH_UINT64, u8, uint64_t, uint64_t, PLAIN, LESS, MORE) \
    X(TH_FLOAT16, f2, uint16_t, float, th_load_f16, FLOAT_LESS, FLOAT_MORE) \
    X(TH_FLOAT32, f4, float, float, PLAIN, FLOAT_LESS, FLOAT_MORE) \
    X(TH_FLOAT64, f8, double, double, PLAIN, FLOAT_LESS, FLOAT_MORE)
#define BOTH(CODE, NAME, MEMORY, COMPUTE, LOAD, DOWN, UP) \
    SELECT(smallest_##NAME, MEMORY, COMPUTE, LOAD, DOWN, 0) \
    SELECT(largest_##NAME, MEMORY, COMPUTE, LOAD, UP, 1) \
    COLLECT(smallest_##NAME, MEMORY, COMPUTE, LOAD, DOWN, 0) \
    COLLECT(largest_##NAME, MEMORY, COMPUTE, LOAD, UP, 1) \
    FILTER(smallest_##NAME, MEMORY, COMPUTE, LOAD, DOWN, 0) \
    FILTER(largest_##NAME, MEMORY, COMPUTE, LOAD, UP, 1)
TYPES(BOTH)

static void select_lines(void *arg, int64_t lo, int64_t hi)
{
    lines *s = arg;
    for (int64_t line = lo; line < hi; ++line)
        s->select(s->n, s->k, s->elements + line * s->n * s->from.itemsize, s->places + line * s->k);
}

/* Where k is no small part of a line. One element in SAMPLED, ordered, tells of an element that a little more than k are
 * not worse than (Floyd and Rivest, "Expected time bounds for selection", CACM 18, 1975); if that comes true, these alone are
 * ordered. Else all of a copy is, to know the worst. What is collected for the largest comes from the end, so that an order
 * of it read backwards has the later of equals first. */
enum { SAMPLED = TH_SELECT_SAMPLED, WORTH_SAMPLING = TH_SELECT_WORTH_SAMPLING };

static int64_t candidates_by_sample(const lines *s, const char *v, char *scratch, int64_t *places, int64_t most)
{
    const int64_t size = s->from.itemsize, drawn = s->n / SAMPLED;
    const double expected = (double)s->k * (double)drawn / (double)s->n, rank = expected + 4 * sqrt(expected) + 4;
    if (s->n < WORTH_SAMPLING || rank >= (double)drawn / 2)
        return 0;
    for (int64_t i = 0; i < drawn; ++i)
        memcpy(scratch + i * size, v + i * SAMPLED * size, (size_t)size);
    if (s->sort(scratch, drawn, NULL))
        return 0;
    const char *worst = scratch + (s->smallest ? (int64_t)rank : drawn - 1 - (int64_t)rank) * size;
    const int64_t found = s->filter(s->n, most, v, worst, places);
    return found < s->k ? 0 : found;
}

/* The best k of elements in their order, each of which has a place; `order` has space for all of them. */
static int best_of(const lines *s, char *copy, int64_t count, const int64_t *candidates, int64_t *order, int64_t *places)
{
    for (int64_t i = 0; i < count; ++i)
        order[i] = i;
    const int failed = s->sort_places(copy, (intptr_t *)order, count, NULL);
    for (int64_t i = 0; i < s->k; ++i)
        places[i] = candidates[s->smallest ? order[i] : count - 1 - order[count - 1 - i]];
    return failed;
}

static void order_lines(void *arg, int64_t lo, int64_t hi)
{
    lines *s = arg;
    const int64_t n = s->n, k = s->k, size = s->from.itemsize, most = n / 4 > k ? n / 4 : k;
    char *copy = malloc((size_t)(n * size));
    int64_t *candidates = malloc((size_t)most * 2 * sizeof *candidates);
    int failed = copy == NULL || candidates == NULL;
    for (; lo < hi && !failed; ++lo) {
        const char *v = s->elements + lo * n * size;
        int64_t count = candidates_by_sample(s, v, copy, candidates, most);
        if (count == 0) {
            memcpy(copy, v, (size_t)(n * size));
            failed = s->sort(copy, n, NULL);
            s->collect(n, k, v, copy + (s->smallest ? k - 1 : n - k) * size, candidates);
            count = k;
        }
        for (int64_t i = 0; i < count; ++i)
            memcpy(copy + i * size, v + candidates[s->smallest ? i : count - 1 - i] * size, (size_t)size);
        if (s->values == NULL) {
            failed |= best_of(s, copy, count, candidates, candidates + most, s->places + lo * k);
            continue;
        }
        failed |= s->sort(copy, count, NULL);
        for (int64_t i = 0; i < k; ++i)
            memcpy(s->values + (lo * k + i) * size, copy + (s->smallest ? i : count - 1 - i) * size, (size_t)size);
    }
    free(copy);
    free(candidates);
    if (failed)
        __atomic_store_n(&s->failed, 1, __ATOMIC_RELAXED);
}

/* Output `i`: something for the k best of each line, found in lines. */
static void put_back(th_ctx *ctx, int i, int axis, const th_window *found)
{
    const th_window to = axis_last(ctx->out[i], axis);
    th_copy_into(&to, found);
}

static char *values_of(th_ctx *ctx, const lines *s, int64_t count)
{
    const int64_t size = s->from.itemsize;
    char *values = scratch_for(ctx, count * s->k, size);
    for (int64_t line = 0; values && line < count; ++line)
        for (int64_t i = line * s->k; i < (line + 1) * s->k; ++i)
            memcpy(values + i * size, s->elements + (line * s->n + s->places[i]) * size, (size_t)size);
    return values;
}

/* inputs: x, k (the largest, or for a negative number the smallest). */
TH_EXPORT int th_kernel_topk(th_ctx *ctx)
{
    const th_topk_params *p = ctx->params;
    const th_buffer *b = ctx->in[0];
    const int axis = (int)p->axis;
    const int64_t wanted = th_integer(ctx->in[1], 0), n = b->shape[axis], k = wanted < 0 ? -wanted : wanted;
    if (wanted == 0 || k > n || k < 0)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "topk: kth must be 1 to %lld, the length of axis %d, or its negative; got %lld",
                       (long long)n, axis, (long long)wanted);
    int64_t shape[TH_MAX_NDIM];
    memcpy(shape, b->shape, (size_t)b->ndim * sizeof *shape);
    shape[axis] = k;
    for (int i = 0; i < ctx->nout; ++i)
        if (ctx->rt->ensure(ctx, ctx->out[i], shape))
            return -1;
    lines s = {.rt = ctx->rt, .n = n, .k = k, .smallest = wanted < 0, .from = axis_last(b, axis)};
    const int64_t count = th_size(b->ndim, b->shape) / n;
    s.elements = lines_of(ctx, &s.from);
    s.sort = (sorter)(intptr_t)p->sort;
    s.sort_places = (place_sorter)(intptr_t)p->sort_places;
    const int many = k > TH_SELECT_HEAP && k > n / (2 * TH_SELECT_HEAP) && s.sort && s.sort_places;
    if (many && !p->places)
        s.values = scratch_for(ctx, count * k, b->itemsize);
    else
        s.places = scratch_for(ctx, count * k, sizeof(int64_t));
    if (!s.elements || !(s.places || s.values))
        return -1;
#define CHOICE(CODE, NAME, MEMORY, COMPUTE, LOAD, DOWN, UP) \
    case CODE: \
        s.select = wanted > 0 ? select_largest_##NAME : select_smallest_##NAME; \
        s.collect = wanted > 0 ? collect_largest_##NAME : collect_smallest_##NAME; \
        s.filter = wanted > 0 ? filter_largest_##NAME : filter_smallest_##NAME; \
        break;
    switch (b->dtype == TH_UINT8 ? TH_BOOL : b->dtype) {
        TYPES(CHOICE)
    }
    if (in_lines(ctx, &s, many ? order_lines : select_lines, many ? 20.0 : 1.0))
        return -1;
    th_window part = s.from;
    part.shape[b->ndim - 1] = k;
    if (p->values) {
        char *values = s.values ? s.values : values_of(ctx, &s, count);
        if (!values)
            return -1;
        const th_window found = packed_like(&part, values, b->dtype, b->itemsize);
        put_back(ctx, 0, axis, &found);
    }
    if (p->places) {
        const th_window found = packed_like(&part, (char *)s.places, TH_INT64, sizeof(int64_t));
        put_back(ctx, p->values != 0, axis, &found);
    }
    return 0;
}
