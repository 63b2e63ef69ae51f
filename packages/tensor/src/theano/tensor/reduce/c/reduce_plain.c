/* Reductions of arrays of the common dtypes: the loops of one operand whose terms are its elements. */
#include "accumulate.h"
#include "lanes.h"

#define ADD(a, v) ((a) + (v))
#define MUL(a, v) ((a) * (v))
#define AND(a, v) ((a) & (v))
#define OR(a, v) ((a) | (v))

/* -- runs: all terms of a result are neighbours ------------------------------------------------------- */

/* What the lanes of a run are: term i is in lane i % 4W, of four vectors of W. The terms are read at multiples of a vector,
 * `behind` before the run's start: then lane i holds what belongs into lane i - behind, and is slid there in the end.
 * A nan loses the comparisons of an order, so these watch a sum, which a nan (rarely something else) makes nan.
 *
 * A run of up to four vectors is a vector in the same order without that; `few_runs` takes as many runs as a vector has
 * elements, `readable` if a whole vector from the start of each may be read.
 *
 * OP: on vectors; JOIN: on numbers, where a nan wins; WATCH: takes a vector into the watched sum; NANS: whether
 * that has become nan. */
#define RUNS(NAME, LOAD, X, A, OP, JOIN, NEUTRAL, WATCH, NANS) \
    TH_INLINE lanes_##A none_##NAME(void) \
    { \
        lanes_##A v; \
        for (int l = 0; l < WIDTH(A); ++l) \
            v[l] = NEUTRAL; \
        return v; \
    } \
    TH_INLINE lanes_##A few_##NAME(const X *x, int64_t n) \
    { \
        lanes_##A v; \
        TYPE(A) t[WIDTH(A)]; \
        TH_INTO_ONE_VECTOR \
        for (int l = 0; l < WIDTH(A); ++l) \
            t[l] = l < n ? (TYPE(A))x[l] : NEUTRAL; \
        memcpy(&v, t, sizeof v); \
        return v; \
    } \
    TH_INLINE void run_##NAME(const X *x, int64_t n, int64_t behind, lanes_##A *t, lanes_##A *watched) \
    { \
        enum { W = WIDTH(A) }; \
        const lanes_##A none = none_##NAME(); \
        lanes_##A a = none, b = none, c = none, d = none, last, v; \
        if (n < W) { \
            a = few_##NAME(x, n); \
            WATCH(*watched, a); \
        } else { \
            v = load_##LOAD(x); \
            last = load_##LOAD(x + n - W); \
            WATCH(*watched, v); \
            WATCH(*watched, last); \
            a = slide_##A(none, v, W - behind); \
            x += W - behind; \
            n -= W - behind; \
            for (; n >= 4 * W; n -= 4 * W, x += 4 * W) { \
                lanes_##A p = load_##LOAD(x), q = load_##LOAD(x + W); \
                lanes_##A r = load_##LOAD(x + 2 * W), s = load_##LOAD(x + 3 * W); \
                WATCH##_FOUR(*watched, p, q, r, s); \
                b = OP(b, p); \
                c = OP(c, q); \
                d = OP(d, r); \
                a = OP(a, s); \
            } \
            last = rest_##A(last, none, n % W); \
            if (n < W) { \
                b = OP(b, last); \
            } else { \
                v = load_##LOAD(x); \
                b = OP(b, v); \
                WATCH(*watched, v); \
                if (n < 2 * W) { \
                    c = OP(c, last); \
                } else { \
                    v = load_##LOAD(x + W); \
                    c = OP(c, v); \
                    WATCH(*watched, v); \
                    if (n < 3 * W) { \
                        d = OP(d, last); \
                    } else { \
                        v = load_##LOAD(x + 2 * W); \
                        d = OP(d, v); \
                        WATCH(*watched, v); \
                        a = OP(a, last); \
                    } \
                } \
            } \
        } \
        t[0] = slide_##A(a, b, behind); \
        t[1] = slide_##A(b, c, behind); \
        t[2] = slide_##A(c, d, behind); \
        t[3] = slide_##A(d, a, behind); \
    } \
    static void block_##NAME(int64_t n, char *const *p, void *const *acc, const void *constants) \
    { \
        enum { W = WIDTH(A) }; \
        const X *x = (const X *)p[0]; \
        TYPE(A) *to = acc[0], lane[4 * W]; \
        lanes_##A t[4], watched = {0}; \
        (void)constants; \
        run_##NAME(x, n, n < 4 * W ? 0 : th_behind(x, sizeof *x, W), t, &watched); \
        memcpy(lane, t, sizeof lane); \
        for (int l = 0; l < 4 * W; ++l) \
            to[l] = JOIN(to[l], lane[l]); \
        if (NANS(watched)) \
            for (int64_t i = 0; i < n; ++i) \
                if (x[i] != x[i]) { \
                    to[0] = (TYPE(A))x[i]; \
                    break; \
                } \
    } \
    static int four_##NAME(int64_t n, const char *at, int64_t apart, void *vectors) \
    { \
        enum { W = WIDTH(A) }; \
        const lanes_##A none = none_##NAME(); \
        const X *x = (const X *)at; \
        lanes_##A t[4][4], watched = {0}; \
        apart /= (int64_t)sizeof(X); \
        for (int i = 0; i < 16; ++i) \
            t[i / 4][i % 4] = none; \
        for (; n >= 4 * W; n -= 4 * W, x += 4 * W) \
            UNROLLED \
            for (int i = 0; i < 4; ++i) { \
                const X *run = x + i * apart; \
                lanes_##A p = load_##LOAD(run), q = load_##LOAD(run + W); \
                lanes_##A r = load_##LOAD(run + 2 * W), s = load_##LOAD(run + 3 * W); \
                WATCH##_FOUR(watched, p, q, r, s); \
                t[i][0] = OP(t[i][0], p); \
                t[i][1] = OP(t[i][1], q); \
                t[i][2] = OP(t[i][2], r); \
                t[i][3] = OP(t[i][3], s); \
            } \
        for (int i = 0; i < 4; ++i) \
            for (int k = 0; k * W < n; ++k) { \
                const X *run = x + i * apart; \
                const lanes_##A v = n - k * W < W ? rest_##A(load_##LOAD(run + n - W), none, n - k * W) : load_##LOAD(run + k * W); \
                WATCH(watched, v); \
                t[i][k] = OP(t[i][k], v); \
            } \
        memcpy(vectors, t, sizeof t); \
        return NANS(watched); \
    } \
    TH_INLINE void few_runs_##NAME(int64_t some, int64_t n, const char *at, int64_t step, int readable, TYPE(A) *to) \
    { \
        enum { W = WIDTH(A) }; \
        const count_##A which = leading_##A(n); \
        const lanes_##A none = none_##NAME(); \
        lanes_##A row[W], t[4], watched = {0}; \
        const char *next = at; \
        if (n < W && readable) { \
            for (int64_t i = 0; i < some; ++i, next += step) { \
                row[i] = chosen_##A(which, load_##LOAD((const X *)next), none); \
                WATCH(watched, row[i]); \
            } \
        } else if (n < W) { \
            for (int64_t i = 0; i < some; ++i, next += step) { \
                row[i] = few_##NAME((const X *)next, n); \
                WATCH(watched, row[i]); \
            } \
        } else if (n <= 2 * W) { \
            UNROLLED \
            for (int64_t i = 0; i < some; ++i, next += step) { \
                lanes_##A v = load_##LOAD((const X *)next), last = load_##LOAD((const X *)next + n - W); \
                WATCH##_TWO(watched, v, last); \
                row[i] = OP(v, rest_##A(last, none, n - W)); \
            } \
        } else if (n <= 3 * W) { \
            UNROLLED \
            for (int64_t i = 0; i < some; ++i, next += step) { \
                const X *x = (const X *)next; \
                lanes_##A p = load_##LOAD(x), q = load_##LOAD(x + W), last = load_##LOAD(x + n - W); \
                WATCH##_TWO(watched, p, q); \
                WATCH(watched, last); \
                row[i] = OP(OP(p, rest_##A(last, none, n - 2 * W)), q); \
            } \
        } else if (n <= 4 * W) { \
            UNROLLED \
            for (int64_t i = 0; i < some; ++i, next += step) { \
                const X *x = (const X *)next; \
                lanes_##A p = load_##LOAD(x), q = load_##LOAD(x + W); \
                lanes_##A r = load_##LOAD(x + 2 * W), last = load_##LOAD(x + n - W); \
                WATCH##_FOUR(watched, p, q, r, last); \
                row[i] = OP(OP(p, r), OP(q, rest_##A(last, none, n - 3 * W))); \
            } \
        } else if (n < 8 * W) { \
            for (int64_t i = 0; i < some; ++i, next += step) { \
                run_##NAME((const X *)next, n, 0, t, &watched); \
                row[i] = OP(OP(t[0], t[2]), OP(t[1], t[3])); \
            } \
        } else { \
            for (int64_t i = 0; i < some; ++i, next += step) { \
                run_##NAME((const X *)next, n, th_behind(next, sizeof(X), W), t, &watched); \
                row[i] = OP(OP(t[0], t[2]), OP(t[1], t[3])); \
            } \
        } \
        TH_INTO_ONE_VECTOR \
        for (int64_t i = some; i < W; ++i) \
            row[i] = none; \
        TH_FOLD_ROWS_##A(OP, row) \
        memcpy(to, row, (size_t)some * sizeof *to); \
        if (NANS(watched)) \
            for (int64_t i = 0; i < some; ++i) \
                for (int64_t k = 0; k < n; ++k) { \
                    const X v = ((const X *)(at + i * step))[k]; \
                    if (v != v) { \
                        to[i] = (TYPE(A))v; \
                        break; \
                    } \
                } \
    } \
    static void runs_##NAME(int64_t count, int64_t n, const char *at, int64_t step, void *results) \
    { \
        enum { W = WIDTH(A) }; \
        const int64_t behind_end = (W - n) * (int64_t)sizeof(X); \
        TYPE(A) *to = results; \
        for (; count >= W; count -= W, at += W * step, to += W) \
            few_runs_##NAME(W, n, at, step, step > 0 && step * (count - W) >= behind_end, to); \
        if (count > 0) \
            few_runs_##NAME(count, n, at, step, 0, to); \
    } \
    static void far_runs_##NAME(int64_t count, int64_t n, const char *at, int64_t step, void *results) \
    { \
        enum { W = WIDTH(A) }; \
        const int64_t quarter = n < 8 * W ? 0 : count / 4 / W * W; \
        TYPE(A) *to = results; \
        for (int64_t done = 0; done < quarter; done += W) { \
            lanes_##A row[4][W], t[4][4]; \
            for (int64_t i = 0; i < W; ++i) { \
                if (four_##NAME(n, at + (done + i) * step, quarter * step, t)) { \
                    runs_##NAME(count, n, at, step, results); \
                    return; \
                } \
                for (int s = 0; s < 4; ++s) \
                    row[s][i] = OP(OP(t[s][0], t[s][2]), OP(t[s][1], t[s][3])); \
            } \
            for (int s = 0; s < 4; ++s) { \
                TH_FOLD_ROWS_##A(OP, row[s]) \
                memcpy(to + s * quarter + done, row[s], sizeof row[s][0]); \
            } \
        } \
        runs_##NAME(count - 4 * quarter, n, at + 4 * quarter * step, step, to + 4 * quarter); \
    }

#if defined(__GNUC__) && !defined(__clang__)
#define UNROLLED _Pragma("GCC unroll 4")
#else
#define UNROLLED _Pragma("unroll")
#endif

#define TYPE(A) __typeof__(((lanes_##A){0})[0])
#define WIDTH(A) (TH_VECTOR / (int)sizeof(TYPE(A)))

#define NO_WATCH(sum, v) (void)(sum)
#define NO_WATCH_FOUR(sum, p, q, r, s) (void)(sum)
#define NO_WATCH_TWO(sum, p, q) (void)(sum)
#define NEVER(sum) 0
#define WATCH_SUM(sum, v) (sum) += (v)
#define WATCH_SUM_TWO(sum, p, q) \
    do { \
        TH_HELD(p); \
        TH_HELD(q); \
        (sum) += (p) + (q); \
    } while (0)
#define WATCH_SUM_FOUR(sum, p, q, r, s) \
    do { \
        TH_HELD(p); \
        TH_HELD(q); \
        TH_HELD(r); \
        TH_HELD(s); \
        (sum) += ((p) + (q)) + ((r) + (s)); \
    } while (0)

/* -- rows: results are neighbours ----------------------------------------------------------------------- */

enum order { NEAR, FAR, ROW_BY_ROW };

#define ROWS_IN(ORDER, FUNCTION, NAME) \
    static void FUNCTION(int64_t w, int64_t n, char *const *p, const int64_t *row, void *const *acc, \
                         const void *constants) \
    { \
        (void)constants; \
        these_rows_##NAME(w, n, p[0], row[0], acc[0], ORDER); \
    }

/* Where the operand is in a cache, four rows at a time, as a tree: accumulators are read and written once for four terms.
 * From memory, some machines are faster if four places are read at once, others if one row is read after the other, in the
 * order of their addresses (th_tuning says which). The next four rows are fetched ahead if they are short: the CPU
 * itself fetches along a row, but not from one to the next. Most columns are taken in at multiples of a vector. The first
 * and the last few are held in vectors of their own, which reach over columns in between; of these vectors only the few are
 * kept. */
#define ROWS(NAME, LOAD, X, A, FOUR, JOIN) \
    static void few_columns_##NAME(int64_t w, int64_t n, const char *at, int64_t step, TYPE(A) *a) \
    { \
        for (; n > 0; --n, at += step) \
            for (int64_t j = 0; j < w; ++j) \
                a[j] = JOIN(a[j], (TYPE(A))((const X *)at)[j]); \
    } \
    TH_INLINE void these_rows_##NAME(int64_t w, int64_t n, const char *at, int64_t step, TYPE(A) *a, enum order order) \
    { \
        enum { W = WIDTH(A) }; \
        const int64_t from = w < 4 * W ? 0 : -th_behind(at, sizeof(X), W) & (W - 1); \
        const int64_t to = w - (w - from) % W; \
        if (w < W) { \
            few_columns_##NAME(w, n, at, step, a); \
            return; \
        } \
        lanes_##A first = load_##A(a), last = load_##A(a + w - W); \
        for (; order != ROW_BY_ROW && n >= 4; n -= 4, at += 4 * step) { \
            const X *x = (const X *)at, *y = (const X *)(at + step); \
            const X *z = (const X *)(at + 2 * step), *u = (const X *)(at + 3 * step); \
            first = FOUR(A, first, load_##LOAD(x), load_##LOAD(y), load_##LOAD(z), load_##LOAD(u)); \
            for (int64_t j = from; j < to; j += W) { \
                if (order == FAR) { \
                    __builtin_prefetch((const char *)(x + j) + 4 * step); \
                    __builtin_prefetch((const char *)(y + j) + 4 * step); \
                    __builtin_prefetch((const char *)(z + j) + 4 * step); \
                    __builtin_prefetch((const char *)(u + j) + 4 * step); \
                } \
                const lanes_##A v = FOUR(A, load_##A(a + j), load_##LOAD(x + j), load_##LOAD(y + j), \
                                         load_##LOAD(z + j), load_##LOAD(u + j)); \
                memcpy(a + j, &v, sizeof v); \
            } \
            x += w - W, y += w - W, z += w - W, u += w - W; \
            last = FOUR(A, last, load_##LOAD(x), load_##LOAD(y), load_##LOAD(z), load_##LOAD(u)); \
        } \
        for (; n > 0; --n, at += step) { \
            const X *x = (const X *)at; \
            first = FOUR##_ONE(A, first, load_##LOAD(x)); \
            for (int64_t j = from; j < to; j += W) { \
                const lanes_##A v = FOUR##_ONE(A, load_##A(a + j), load_##LOAD(x + j)); \
                memcpy(a + j, &v, sizeof v); \
            } \
            last = FOUR##_ONE(A, last, load_##LOAD(x + w - W)); \
        } \
        memcpy(a, &first, (size_t)from * sizeof *a); \
        memcpy(a + to, (const char *)&last + (W - (w - to)) * (int64_t)sizeof *a, (size_t)(w - to) * sizeof *a); \
    } \
    ROWS_IN(NEAR, rows_##NAME, NAME) \
    ROWS_IN(FAR, far_rows_##NAME, NAME) \
    ROWS_IN(ROW_BY_ROW, row_by_row_##NAME, NAME)

#define ADD_ROWS(A, a, x, y, z, u) ((a) + (((x) + (y)) + ((z) + (u))))
#define ADD_ROWS_ONE(A, a, x) ((a) + (x))
#define MUL_ROWS(A, a, x, y, z, u) ((a) * (((x) * (y)) * ((z) * (u))))
#define MUL_ROWS_ONE(A, a, x) ((a) * (x))
#define MAX_ROWS(A, a, x, y, z, u) larger_rows_##A(a, x, y, z, u)
#define MAX_ROWS_ONE(A, a, x) larger_row_##A(a, x)
#define MIN_ROWS(A, a, x, y, z, u) smaller_rows_##A(a, x, y, z, u)
#define MIN_ROWS_ONE(A, a, x) smaller_row_##A(a, x)
#define ORDER_ROWS(OP, A) \
    TH_INLINE lanes_##A OP##_rows_##A(lanes_##A a, lanes_##A x, lanes_##A y, lanes_##A z, lanes_##A u) \
    { \
        TH_HELD(x); TH_HELD(y); TH_HELD(z); TH_HELD(u); \
        return nan_or_##A(OP##_##A(OP##_##A(OP##_##A(x, y), OP##_##A(z, u)), a), x, y, z, u); \
    } \
    TH_INLINE lanes_##A OP##_row_##A(lanes_##A a, lanes_##A x) { return nan_or_##A(OP##_##A(x, a), x, x, x, x); }
ORDER_ROWS(larger, f8)
ORDER_ROWS(larger, f4)
ORDER_ROWS(larger, i8)
ORDER_ROWS(larger, i4)
ORDER_ROWS(smaller, f8)
ORDER_ROWS(smaller, f4)
ORDER_ROWS(smaller, i8)
ORDER_ROWS(smaller, i4)

/* -- bytes: truths ------------------------------------------------------------------------------------ */

#define BYTES(NAME, OP) \
    static void block_##NAME(int64_t n, char *const *p, void *const *acc, const void *constants) \
    { \
        const uint8_t *x = (const uint8_t *)p[0]; \
        uint8_t *a = acc[0], lane[TH_LANE_BYTES]; \
        (void)constants; \
        memcpy(lane, a, sizeof lane); \
        for (; n >= TH_LANE_BYTES; n -= TH_LANE_BYTES, x += TH_LANE_BYTES) \
            for (int l = 0; l < TH_LANE_BYTES; ++l) \
                lane[l] = OP(lane[l], x[l]); \
        memcpy(a, lane, sizeof lane); \
        TH_INDEPENDENT \
        for (int64_t i = 0; i < n; ++i) \
            a[i] = OP(a[i], x[i]); \
    } \
    static void rows_##NAME(int64_t w, int64_t n, char *const *p, const int64_t *row, void *const *acc, \
                            const void *constants) \
    { \
        uint8_t *a = acc[0]; \
        (void)constants; \
        for (int64_t i = 0; i < n; ++i) { \
            const uint8_t *x = (const uint8_t *)p[0] + i * row[0]; \
            TH_INDEPENDENT \
            for (int64_t j = 0; j < w; ++j) \
                a[j] = OP(a[j], x[j]); \
        } \
    }
BYTES(and_u1, AND)
BYTES(or_u1, OR)

/* -- what there is ------------------------------------------------------------------------------------ */

#define FIELD(MAKE) \
    MAKE(f8, double, f8) MAKE(f4f8, float, f8) MAKE(f4, float, f4) MAKE(i8, int64_t, i8) MAKE(i4i8, int32_t, i8) \
    MAKE(u1i8, uint8_t, i8)
/* -0.0: 0.0 would make +0.0 of a sum of negative zeros. */
#define SUMS(NAME, X, A) \
    RUNS(add_##NAME, NAME, X, A, ADD, ADD, (TYPE(A))-0.0, NO_WATCH, NEVER) \
    ROWS(add_##NAME, NAME, X, A, ADD_ROWS, ADD)
#define PRODUCTS(NAME, X, A) \
    RUNS(mul_##NAME, NAME, X, A, MUL, MUL, 1, NO_WATCH, NEVER) \
    ROWS(mul_##NAME, NAME, X, A, MUL_ROWS, MUL)
FIELD(SUMS)
FIELD(PRODUCTS)
#define ORDER(N, X, LOW, HIGH, WATCH, NANS) \
    RUNS(max_##N, N, X, N, larger_##N, TH_LARGER, LOW, WATCH, NANS) \
    RUNS(min_##N, N, X, N, smaller_##N, TH_SMALLER, HIGH, WATCH, NANS) \
    ROWS(max_##N, N, X, N, MAX_ROWS, TH_LARGER) \
    ROWS(min_##N, N, X, N, MIN_ROWS, TH_SMALLER)
ORDER(f8, double, (double)-INFINITY, (double)INFINITY, WATCH_SUM, any_nan_f8)
ORDER(f4, float, -INFINITY, INFINITY, WATCH_SUM, any_nan_f4)
ORDER(i8, int64_t, INT64_MIN, INT64_MAX, NO_WATCH, NEVER)
ORDER(i4, int32_t, INT32_MIN, INT32_MAX, NO_WATCH, NEVER)

#define LOOPS(OP, X, ACC, NAME) \
    {TH_##OP, TH_##X, TH_##ACC, \
     {{block_##NAME, rows_##NAME, runs_##NAME, NULL}, \
      {block_##NAME, far_rows_##NAME, far_runs_##NAME, four_##NAME}, \
      {block_##NAME, row_by_row_##NAME, runs_##NAME, NULL}}}
#define SUM_LOOPS(OP, NAME) \
    LOOPS(OP, FLOAT64, FLOAT64, NAME##_f8), LOOPS(OP, FLOAT32, FLOAT64, NAME##_f4f8), \
    LOOPS(OP, FLOAT32, FLOAT32, NAME##_f4), LOOPS(OP, INT64, INT64, NAME##_i8), \
    LOOPS(OP, UINT64, UINT64, NAME##_i8), LOOPS(OP, INT32, INT64, NAME##_i4i8), \
    LOOPS(OP, BOOL, INT64, NAME##_u1i8), LOOPS(OP, UINT8, UINT64, NAME##_u1i8)
#define ORDER_LOOPS(OP, NAME) \
    LOOPS(OP, FLOAT64, FLOAT64, NAME##_f8), LOOPS(OP, FLOAT32, FLOAT32, NAME##_f4), \
    LOOPS(OP, INT64, INT64, NAME##_i8), LOOPS(OP, INT32, INT32, NAME##_i4)

#define TRUTH(NAME) {block_##NAME, rows_##NAME, NULL, NULL}
#define TRUTHS(OP, NAME) {TH_##OP, TH_BOOL, TH_BOOL, {TRUTH(NAME), TRUTH(NAME), TRUTH(NAME)}}

static const struct {
    int64_t op, x, acc;
    th_reduce_loops loops[3]; /* by `order` */
} plain[] = {
    SUM_LOOPS(ADD, add), SUM_LOOPS(MUL, mul), ORDER_LOOPS(MAX, max), ORDER_LOOPS(MIN, min),
    TRUTHS(AND, and_u1), TRUTHS(OR, or_u1), TRUTHS(MAX, or_u1), TRUTHS(MIN, and_u1),
};

th_runs th_plain_runs(int64_t op, int64_t dtype)
{
    for (size_t i = 0; i < sizeof plain / sizeof *plain; ++i)
        if (plain[i].op == op && plain[i].x == dtype && plain[i].acc == dtype)
            return plain[i].loops[NEAR].runs;
    return NULL;
}

static int64_t bytes_of(const th_buffer *x)
{
    int64_t bytes = x->itemsize;
    for (int d = 0; d < x->ndim; ++d)
        bytes *= x->shape[d];
    return bytes;
}

/* How many bytes are between neighbours along the innermost axis that goes. */
static int64_t reach_of(const th_reduction *r, const th_buffer *x)
{
    int64_t stride = 0;
    for (int d = 0; d < x->ndim; ++d)
        stride = r->gone >> d & 1 ? x->strides[d] : stride;
    return stride < 0 ? -stride : stride;
}

static enum order order_of(const th_ctx *ctx, const th_reduction *r)
{
    const th_tuning *tuning = r->tuning;
    const int widened = ctx->in[0]->dtype == TH_FLOAT32 && r->result[0].dtype == TH_FLOAT64;
    if (bytes_of(ctx->in[0]) < TH_REDUCE_FAR_BYTES)
        return NEAR;
    return (widened ? tuning->row_by_row_widened : tuning->row_by_row) ? ROW_BY_ROW : FAR;
}

/* params: a th_reduction of one operand and one result. */
TH_EXPORT int th_kernel_reduce(th_ctx *ctx)
{
    const th_reduction *r = ctx->params;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; ++i)
        if (plain[i].op == r->result[0].op && plain[i].x == ctx->in[0]->dtype && plain[i].acc == r->result[0].dtype) {
            const enum order order = order_of(ctx, r);
            th_reduce_loops loops = plain[i].loops[order];
            if (order == FAR && reach_of(r, ctx->in[0]) > TH_REDUCE_FETCHED_ROW)
                loops.rows = plain[i].loops[NEAR].rows;
            return th_reduce_by(ctx, r, &loops, NULL);
        }
    if (r->result[0].op == TH_LOG_SUM_EXP && ctx->in[0]->dtype == TH_FLOAT32)
        return th_reduce_by(ctx, r, &th_log_sum_exp_loops_f4, NULL);
    if (r->result[0].op == TH_LOG_SUM_EXP && ctx->in[0]->dtype == TH_FLOAT64)
        return th_reduce_by(ctx, r, &th_log_sum_exp_loops_f8, NULL);
    return TH_FAIL(ctx, TH_ERR_TYPE, "no reduction %d of dtype %d in dtype %d was built", (int)r->result[0].op,
                   (int)ctx->in[0]->dtype, (int)r->result[0].dtype);
}
