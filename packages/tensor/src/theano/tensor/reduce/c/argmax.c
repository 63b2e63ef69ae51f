/* Where the largest (or smallest) element is: of any axes, alone or with the element itself.
 *
 * As in NumPy, the first of several equal elements wins, and the first nan wins over everything. Each lane of a vector
 * keeps its largest element and the place of it. Short runs, and runs across memory, are searched side by side.
 */
#include "lanes.h"

enum { BLOCK = TH_ARGMAX_BLOCK, TILE = TH_ARGMAX_TILE, NEAR_BYTES = TH_ARGMAX_NEAR_BYTES, SHORT_RUN = TH_ARGMAX_SHORT_RUN, PIECE = TH_ARGMAX_PIECE };
/* Bytes of a tile of short runs. */
enum { ROOM = (TILE + 15) / 16 * SHORT_RUN * 8 };

/* What each element type brings. float16 is searched as float32. */
typedef struct {
    int64_t size;
    /* Take n < 2^31 elements into *best and *place (-1 at first); `start` is the place of the first. 1: the search is
     * over. */
    int (*block)(const void *x, int64_t n, int64_t start, void *best, int64_t *place);
    /* Take row i of w results; rows are counted in int32 or int64. */
    void (*row)(int64_t w, const void *x, int64_t i, void *best, void *place);
    int wide; /* counted in int64 */
} searcher;

#define LANES(X) (256 / (int)sizeof(X))

/* The first of the largest of n >= W elements, in W lanes. The last lanes overlap those before them, which does no harm:
 * an element takes the place of a smaller one only. Lanes without the largest are marked with what is no place. */
#define SCAN(NAME, X, COUNT, TAKES, W, HOW) \
    static int64_t NAME(const X *x, int64_t n) \
    { \
        X lane[W], top[W]; \
        COUNT where[W]; \
        for (int l = 0; l < W; ++l) { \
            top[l] = lane[l] = x[l]; \
            where[l] = 0; \
        } \
        for (int64_t i = W; i < n; i += W) { \
            const int64_t begin = i < n - W ? i : n - W; \
            const X *at = x + begin; \
            const COUNT start = (COUNT)begin; \
            HOW \
            for (COUNT l = 0; l < W; ++l) { \
                const X v = at[l], old = lane[l]; \
                const int take = TAKES(v, old); \
                lane[l] = take ? v : old; \
                where[l] = take ? start : where[l]; \
            } \
        } \
        memcpy(top, lane, sizeof top); \
        for (int half = W / 2; half > 0; half /= 2) \
            for (int l = 0; l < half; ++l) \
                top[l] = TAKES(top[l + half], top[l]) ? top[l + half] : top[l]; \
        for (int l = 0; l < W; ++l) \
            where[l] = (lane[l] == top[0]) | ((lane[l] != lane[l]) & (top[0] != top[0])) ? where[l] + l : INT32_MAX; \
        for (int half = W / 2; half > 0; half /= 2) \
            for (int l = 0; l < half; ++l) \
                where[l] = where[l + half] < where[l] ? where[l + half] : where[l]; \
        return where[0]; \
    }

#define BLOCK_BY_SCAN(NAME, X, COUNT, TAKES) \
    SCAN(long_##NAME, X, COUNT, TAKES, LANES(X), ) \
    SCAN(short_##NAME, X, COUNT, TAKES, (LANES(X) / 4), TH_INTO_ONE_VECTOR) \
    static int block_##NAME(const void *at, int64_t n, int64_t start, void *best, int64_t *place) \
    { \
        const X *x = at; \
        int64_t first = 0; \
        if (n >= 4 * LANES(X)) \
            first = long_##NAME(x, n); \
        else if (n >= LANES(X) / 4) \
            first = short_##NAME(x, n); \
        else \
            for (int64_t i = 1; i < n; ++i) \
                first = TAKES(x[i], x[first]) ? i : first; \
        if (*place < 0 || TAKES(x[first], *(X *)best)) { \
            *(X *)best = x[first]; \
            *place = start + first; \
        } \
        return x[first] != x[first]; \
    }

/* The types that vectors compare directly: the largest of a block alone, which tells whether to look for its place at all.
 * A sum is watched, which a nan (rarely something else) makes nan. */
#define BLOCK_BY_VALUE(NAME, N, X, COUNT, TAKES, BETTER, WATCH, NANS) \
    SCAN(short_##NAME, X, COUNT, TAKES, (LANES(X) / 4), TH_INTO_ONE_VECTOR) \
    static int64_t place_##NAME(const X *x, int64_t n, X value) \
    { \
        enum { W = TH_VECTOR / sizeof(X) }; \
        lanes_##N v; \
        int64_t i = 0; \
        for (int l = 0; l < (int)W; ++l) \
            v[l] = value; \
        while (i + 4 * (int)W <= n && !any_of_##N(v, load_##N(x + i), load_##N(x + i + W), load_##N(x + i + 2 * W), \
                                                  load_##N(x + i + 3 * W))) \
            i += 4 * (int)W; \
        for (; i + (int)W <= n; i += W) { \
            const uint32_t bits = equal_##N(v, load_##N(x + i)); \
            if (bits) \
                return i + __builtin_ctz(bits); \
        } \
        while (i < n && x[i] != value) \
            ++i; \
        return i; \
    } \
    static int block_##NAME(const void *at, int64_t n, int64_t start, void *best, int64_t *place) \
    { \
        enum { W = TH_VECTOR / sizeof(X) }; \
        const X *x = at; \
        int64_t first = 0; \
        if (n < 8 * (int)W) { \
            if (n >= LANES(X) / 4) \
                first = short_##NAME(x, n); \
            else \
                for (int64_t i = 1; i < n; ++i) \
                    first = TAKES(x[i], x[first]) ? i : first; \
        } else { \
            lanes_##N a = load_##N(x), b = a, c = a, d = load_##N(x + n - W), sum = a + d; \
            int64_t i = (int)W - th_behind(x, sizeof(X), W); \
            for (; i + 4 * (int)W <= n; i += 4 * (int)W) { \
                for (int line = 0; line < 4 * TH_VECTOR; line += 64) /* of what comes next, while this one is in the nearest cache */ \
                    __builtin_prefetch((const char *)(x + i + n) + line); \
                lanes_##N p = load_##N(x + i), q = load_##N(x + i + W); \
                lanes_##N r = load_##N(x + i + 2 * W), s = load_##N(x + i + 3 * W); \
                WATCH(sum, p, q, r, s); \
                a = BETTER(a, p); \
                b = BETTER(b, q); \
                c = BETTER(c, r); \
                d = BETTER(d, s); \
            } \
            for (; i + (int)W <= n; i += W) { \
                const lanes_##N p = load_##N(x + i); \
                sum += p; \
                a = BETTER(a, p); \
            } \
            a = BETTER(BETTER(a, b), BETTER(c, d)); \
            X value = a[0]; \
            for (int l = 1; l < (int)W; ++l) \
                value = TAKES(a[l], value) ? a[l] : value; \
            first = n; \
            if (NANS(sum)) \
                for (first = 0; first < n && x[first] == x[first]; ++first) \
                    ; \
            if (first == n) { \
                if (*place >= 0 && !TAKES(value, *(X *)best)) \
                    return 0; \
                first = place_##NAME(x, n, value); \
            } \
        } \
        if (*place < 0 || TAKES(x[first], *(X *)best)) { \
            *(X *)best = x[first]; \
            *place = start + first; \
        } \
        return x[first] != x[first]; \
    }
#define NEVER(sum) 0
#define NO_WATCH(sum, p, q, r, s) (void)(sum)
#define WATCH_SUM(sum, p, q, r, s) \
    do { \
        TH_HELD(p); \
        TH_HELD(q); \
        TH_HELD(r); \
        TH_HELD(s); \
        (sum) += ((p) + (q)) + ((r) + (s)); \
    } while (0)

#define ROW(NAME, X, COUNT, TAKES) \
    static void row_##NAME(int64_t w, const void *at, int64_t i, void *best, void *place) \
    { \
        const X *x = at; \
        X *b = best; \
        COUNT *where = place; \
        TH_INDEPENDENT \
        for (int64_t j = 0; j < w; ++j) { \
            const X v = x[j], old = b[j]; \
            const int take = TAKES(v, old); \
            b[j] = take ? v : old; \
            where[j] = take ? (COUNT)i : where[j]; \
        } \
    }

#define LARGER(v, old) ((v) > (old))
#define SMALLER(v, old) ((v) < (old))
#define LARGER_OR_NAN(v, old) (!((v) <= (old)) & ((old) == (old)))
#define SMALLER_OR_NAN(v, old) (!((v) >= (old)) & ((old) == (old)))
#define BY_SCAN(NAME, X, COUNT) \
    BLOCK_BY_SCAN(largest_##NAME, X, COUNT, LARGER) ROW(largest_##NAME, X, COUNT, LARGER) \
    BLOCK_BY_SCAN(smallest_##NAME, X, COUNT, SMALLER) ROW(smallest_##NAME, X, COUNT, SMALLER)
#define BY_VALUE(NAME, X, COUNT, UP, DOWN, WATCH, NANS) \
    BLOCK_BY_VALUE(largest_##NAME, NAME, X, COUNT, UP, larger_##NAME, WATCH, NANS) ROW(largest_##NAME, X, COUNT, UP) \
    BLOCK_BY_VALUE(smallest_##NAME, NAME, X, COUNT, DOWN, smaller_##NAME, WATCH, NANS) ROW(smallest_##NAME, X, COUNT, DOWN)
BY_VALUE(f4, float, int32_t, LARGER_OR_NAN, SMALLER_OR_NAN, WATCH_SUM, any_nan_f4)
BY_VALUE(f8, double, int64_t, LARGER_OR_NAN, SMALLER_OR_NAN, WATCH_SUM, any_nan_f8)
BY_VALUE(i4, int32_t, int32_t, LARGER, SMALLER, NO_WATCH, NEVER)
BY_VALUE(i8, int64_t, int64_t, LARGER, SMALLER, NO_WATCH, NEVER)
BY_SCAN(i1, int8_t, int32_t)
BY_SCAN(u1, uint8_t, int32_t)
BY_SCAN(i2, int16_t, int32_t)
BY_SCAN(u2, uint16_t, int32_t)
BY_SCAN(u4, uint32_t, int32_t)
BY_SCAN(u8, uint64_t, int64_t)

#define SEARCHER(NAME, SIZE) {SIZE, block_##NAME, row_##NAME, SIZE == 8}
#define SEARCHERS(WHICH) \
    {[TH_BOOL] = SEARCHER(WHICH##_u1, 1),    [TH_INT8] = SEARCHER(WHICH##_i1, 1),    [TH_UINT8] = SEARCHER(WHICH##_u1, 1), \
     [TH_INT16] = SEARCHER(WHICH##_i2, 2),   [TH_UINT16] = SEARCHER(WHICH##_u2, 2),  [TH_INT32] = SEARCHER(WHICH##_i4, 4), \
     [TH_UINT32] = SEARCHER(WHICH##_u4, 4),  [TH_INT64] = SEARCHER(WHICH##_i8, 8),   [TH_UINT64] = SEARCHER(WHICH##_u8, 8), \
     [TH_FLOAT16] = SEARCHER(WHICH##_f4, 4), [TH_FLOAT32] = SEARCHER(WHICH##_f4, 4), [TH_FLOAT64] = SEARCHER(WHICH##_f8, 8)}
static const searcher searchers[2][TH_NDTYPES] = {SEARCHERS(largest), SEARCHERS(smallest)};

typedef struct {
    const th_runtime *rt;
    const searcher *s;
    char *x, *value; /* value: NULL if only places are wanted */
    int64_t *place;
    int32_t dtype;
    int64_t itemsize;
    int kept, gone;
    int64_t shape[TH_MAX_NDIM], strides[TH_MAX_NDIM];
    int64_t gone_shape[TH_MAX_NDIM], gone_strides[TH_MAX_NDIM]; /* in the order in which places count */
    int64_t total, tile; /* tile: results that are searched side by side */
    char *scratch;
} job;

typedef struct {
    _Alignas(8) char best[8];
    int64_t place;
} winner;

static void gather(const job *j, char *to, const char *from, int64_t step, int64_t n)
{
#define COPY(TYPE) \
    for (int64_t i = 0; i < n; ++i) \
    ((TYPE *)to)[i] = *(const TYPE *)(from + i * step)
    if (j->dtype == TH_FLOAT16)
        for (int64_t i = 0; i < n; ++i)
            ((float *)to)[i] = th_load_f16(*(const uint16_t *)(from + i * step));
    else if (step == j->itemsize)
        memcpy(to, from, (size_t)(n * step));
    else if (j->itemsize == 8)
        COPY(uint64_t);
    else if (j->itemsize == 4)
        COPY(uint32_t);
    else if (j->itemsize == 2)
        COPY(uint16_t);
    else
        COPY(uint8_t);
}

static void put(const job *j, int64_t at, const void *best)
{
    if (j->dtype == TH_FLOAT16)
        ((uint16_t *)j->value)[at] = th_store_f16(*(const float *)best);
    else
        memcpy(j->value + at * j->itemsize, best, (size_t)j->itemsize);
}

/* The elements lo .. hi of the run that starts at `base`. */
static winner search(const job *j, const char *base, int64_t lo, int64_t hi)
{
    const int outer = j->gone - 1;
    const int64_t n = j->gone_shape[outer], step = j->gone_strides[outer];
    const int direct = step == j->itemsize && j->dtype != TH_FLOAT16, together = n < SHORT_RUN && outer > 0;
    winner w = {.place = -1};
    int64_t index[TH_MAX_NDIM], skip = lo % n;
    char *p = (char *)base;
    _Alignas(64) char buffer[BLOCK * 8];
    th_seek(1, outer, j->gone_shape, j->gone_strides, lo / n, index, &p);
    while (lo < hi) {
        const int64_t start = lo;
        const char *x = p + skip * step;
        int64_t filled = 0;
        do {
            int64_t count = n - skip < hi - lo ? n - skip : hi - lo;
            count = count < BLOCK - filled ? count : BLOCK - filled;
            if (!direct || together) {
                gather(j, buffer + filled * j->s->size, p + skip * step, step, count);
                x = buffer;
            }
            filled += count;
            lo += count;
            skip += count;
            if (skip == n) {
                th_advance(1, outer, j->gone_shape, j->gone_strides, index, &p);
                skip = 0;
            }
        } while (together && filled < BLOCK && lo < hi);
        if (j->s->block(x, filled, start, w.best, &w.place))
            break;
    }
    return w;
}

static void reduce_inner(void *arg, int64_t lo, int64_t hi)
{
    const job *j = arg;
    int64_t index[TH_MAX_NDIM];
    char *p = j->x;
    th_seek(1, j->kept, j->shape, j->strides, lo, index, &p);
    const int whole = j->gone == 1 && j->total <= BLOCK && j->gone_strides[0] == j->itemsize && j->dtype != TH_FLOAT16;
    for (; lo < hi; ++lo) {
        winner w = {.place = -1};
        if (whole)
            j->s->block(p, j->total, 0, w.best, &w.place);
        else
            w = search(j, p, 0, j->total);
        j->place[lo] = w.place;
        if (j->value)
            put(j, lo, w.best);
        th_advance(1, j->kept, j->shape, j->strides, index, &p);
    }
}

static void pieces(void *arg, int64_t lo, int64_t hi)
{
    const job *j = arg;
    for (; lo < hi; ++lo) {
        const int64_t start = lo * PIECE, left = j->total - start;
        ((winner *)j->scratch)[lo] = search(j, j->x, start, start + (left < PIECE ? left : PIECE));
    }
}

/* One long run, in pieces; then the winners of all pieces as a run. */
static int single(th_ctx *ctx, job *j)
{
    const int64_t n = (j->total + PIECE - 1) / PIECE;
    j->scratch = ctx->rt->scratch(ctx, (size_t)n * (sizeof(winner) + 8));
    if (j->scratch == NULL || ctx->rt->parallel_for(ctx, n, 1, pieces, j))
        return -1;
    const winner *w = (const winner *)j->scratch;
    char *best = j->scratch + n * (int64_t)sizeof(winner);
    winner last = {.place = -1};
    for (int64_t i = 0; i < n; ++i)
        memcpy(best + i * j->s->size, w[i].best, (size_t)j->s->size);
    j->s->block(best, n, 0, last.best, &last.place);
    j->place[0] = w[last.place].place;
    if (j->value)
        put(j, 0, last.best);
    return 0;
}

/* `lo` and `hi` count tiles of the last kept axis. */
static void reduce_outer(void *arg, int64_t lo, int64_t hi)
{
    const job *j = arg;
    const int inner = j->kept - 1;
    const int64_t width = j->shape[inner], next = j->strides[inner], tiles = (width + j->tile - 1) / j->tile;
    const int direct = next == j->itemsize && j->dtype != TH_FLOAT16;
    const int64_t size = j->s->size;
    _Alignas(64) char best[TILE * 8], row[TILE * 8], turned[ROOM];
    _Alignas(64) int64_t place[TILE];
    for (; lo < hi; ++lo) {
        const int64_t start = lo % tiles * j->tile, w = width - start < j->tile ? width - start : j->tile;
        const int64_t first = lo / tiles * width + start;
        int64_t index[TH_MAX_NDIM], inside[TH_MAX_NDIM] = {0};
        char *p = j->x;
        th_seek(1, inner, j->shape, j->strides, lo / tiles, index, &p);
        p += start * next;
        memset(place, 0, sizeof place);
        if (!direct && j->gone == 1 && j->dtype != TH_FLOAT16 && w * j->total * size <= ROOM) {
            j->rt->move(turned, size, w * size, p, next, j->gone_strides[0], w, j->total, size);
            memcpy(best, turned, (size_t)(w * size));
            for (int64_t i = 1; i < j->total; ++i)
                j->s->row(w, turned + i * w * size, i, best, place);
        } else {
            gather(j, best, p, next, w);
            for (int64_t i = 1; i < j->total; ++i) {
                th_advance(1, j->gone, j->gone_shape, j->gone_strides, inside, &p);
                if (!direct)
                    gather(j, row, p, next, w);
                j->s->row(w, direct ? p : row, i, best, place);
            }
        }
        for (int64_t k = 0; k < w; ++k)
            j->place[first + k] = j->s->wide ? place[k] : ((const int32_t *)place)[k];
        if (j->value)
            for (int64_t k = 0; k < w; ++k)
                put(j, first + k, best + k * j->s->size);
    }
}

/* Axes that merely continue the next one are joined to it; the order stays. */
static int joined(int nd, int64_t *shape, int64_t *strides)
{
    int last = -1;
    for (int d = 0; d < nd; ++d) {
        if (shape[d] == 1)
            continue;
        if (last >= 0 && strides[last] == shape[d] * strides[d])
            shape[last] *= shape[d];
        else
            shape[++last] = shape[d];
        strides[last] = strides[d];
    }
    if (last < 0) {
        shape[0] = 1;
        strides[0] = 0;
        return 1;
    }
    return last + 1;
}

static int64_t size_of(int64_t stride) { return stride < 0 ? -stride : stride; }

/* The number of results that advance together, `apart` bytes from each other: memory between them stays in the nearest cache. */
static int64_t tile_of(int64_t apart)
{
    const int64_t near = apart ? NEAR_BYTES / apart : TILE, whole = near > 8 ? near / 8 * 8 : near, least = (TILE + 15) / 16;
    return whole > TILE ? TILE : whole < least ? least : whole;
}

/* Results: the largest elements if two are wanted; their places. */
TH_EXPORT int th_kernel_argmax(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0];
    const th_argmax_params *p = ctx->params;
    int64_t kept = 1, shape[TH_MAX_NDIM];
    job j;
    j.rt = ctx->rt;
    j.s = &searchers[p->smallest][x->dtype];
    j.x = x->data;
    j.dtype = x->dtype;
    j.itemsize = x->itemsize;
    j.kept = j.gone = 0;
    j.total = 1;
    for (int d = 0; d < x->ndim; ++d) {
        if (p->searched >> d & 1) {
            j.gone_strides[j.gone] = x->strides[d];
            j.total *= j.gone_shape[j.gone++] = x->shape[d];
        } else {
            j.strides[j.kept] = x->strides[d];
            j.shape[j.kept] = x->shape[d];
            kept *= shape[j.kept++] = x->shape[d];
        }
    }
    for (int i = 0; i < ctx->nout; ++i)
        if (ctx->rt->ensure(ctx, ctx->out[i], shape))
            return -1;
    if (kept == 0)
        return 0;
    if (j.total == 0)
        return TH_FAIL(ctx, TH_ERR_VALUE, "attempt to get argmax of an empty sequence");
    j.value = ctx->nout == 2 ? ctx->out[0]->data : NULL;
    j.place = (int64_t *)ctx->out[ctx->nout - 1]->data;
    j.kept = joined(j.kept, j.shape, j.strides);
    j.gone = joined(j.gone, j.gone_shape, j.gone_strides);
    const double each = 0.15 * (double)j.total, work = each * (double)kept;
    if (kept == 1 && work >= TH_SERIAL_NS && j.total > 2 * PIECE)
        return single(ctx, &j);
    const int64_t run = j.gone_shape[j.gone - 1], width = j.shape[j.kept - 1];
    const int nearer = size_of(j.gone_strides[j.gone - 1]) <= size_of(j.strides[j.kept - 1]);
    const int sideways = width >= 8 && (run < SHORT_RUN || !nearer) && j.total < INT32_MAX;
    if (sideways) {
        j.tile = tile_of(size_of(j.strides[j.kept - 1]));
        const int64_t n = kept / width * ((width + j.tile - 1) / j.tile);
        if (work >= TH_SERIAL_NS)
            return ctx->rt->parallel_for(ctx, n, th_grain(each * (double)(width < j.tile ? width : j.tile)), reduce_outer, &j);
        reduce_outer(&j, 0, n);
        return 0;
    }
    if (work >= TH_SERIAL_NS)
        return ctx->rt->parallel_for(ctx, kept, th_grain(each), reduce_inner, &j);
    reduce_inner(&j, 0, kept);
    return 0;
}
