/* Reductions of arrays of the common dtypes: the loops of one operand whose terms are its elements. */
#include "accumulate.h"

#define ADD(a, v) ((a) + (v))
#define MUL(a, v) ((a) * (v))
#define AND(a, v) ((a) & (v))
#define OR(a, v) ((a) | (v))
#define MAX(a, v) ((v) > (a) ? (v) : (a))
#define MIN(a, v) ((v) < (a) ? (v) : (a))

/* Lanes: four vector registers of 512 bits. More of them, and the compiler no longer keeps them in registers. */
#define LANES(ACC) (256 / (int)sizeof(ACC))

/* Four rows at a time, as a tree: accumulators are read and written once for four terms. */
#define PLAIN(NAME, X, ACC, OP) \
    static void block_##NAME(int64_t n, char *const *p, void *const *acc, const void *constants) \
    { \
        const X *x = (const X *)p[0]; \
        ACC *a = acc[0], lane[LANES(ACC)]; \
        (void)constants; \
        memcpy(lane, a, sizeof lane); \
        for (; n >= LANES(ACC); n -= LANES(ACC), x += LANES(ACC)) \
            for (int l = 0; l < LANES(ACC); ++l) \
                lane[l] = OP(lane[l], (ACC)x[l]); \
        memcpy(a, lane, sizeof lane); \
        TH_INDEPENDENT \
        for (int64_t i = 0; i < n; ++i) \
            a[i] = OP(a[i], (ACC)x[i]); \
    } \
    static void rows_##NAME(int64_t w, int64_t n, char *const *p, const int64_t *row, void *const *acc, \
                            const void *constants) \
    { \
        const char *at = p[0]; \
        const int64_t step = row[0]; \
        ACC *a = acc[0]; \
        (void)constants; \
        for (; n >= 4; n -= 4, at += 4 * step) { \
            const X *x = (const X *)at, *y = (const X *)(at + step), *z = (const X *)(at + 2 * step); \
            const X *u = (const X *)(at + 3 * step); \
            TH_INDEPENDENT \
            for (int64_t j = 0; j < w; ++j) { \
                const ACC xy = OP((ACC)x[j], (ACC)y[j]), zu = OP((ACC)z[j], (ACC)u[j]); \
                a[j] = OP(a[j], OP(xy, zu)); \
            } \
        } \
        for (; n > 0; --n, at += step) { \
            const X *x = (const X *)at; \
            TH_INDEPENDENT \
            for (int64_t j = 0; j < w; ++j) \
                a[j] = OP(a[j], (ACC)x[j]); \
        } \
    }

/* The larger or smaller of floats. A nan would lose the comparisons; it is looked for apart.
 * One comparison after the other: of nested ones, compilers make jumps. */
#define ORDER(NAME, X, OP) \
    static void block_##NAME(int64_t n, char *const *p, void *const *acc, const void *constants) \
    { \
        const X *x = (const X *)p[0]; \
        X *a = acc[0], lane[LANES(X)], nan[LANES(X)]; \
        (void)constants; \
        memcpy(lane, a, sizeof lane); \
        memset(nan, 0, sizeof nan); \
        for (; n >= LANES(X); n -= LANES(X), x += LANES(X)) { \
            for (int l = 0; l < LANES(X); ++l) \
                lane[l] = OP(lane[l], x[l]); \
            for (int l = 0; l < LANES(X); ++l) \
                nan[l] = x[l] != x[l] ? x[l] : nan[l]; \
        } \
        for (int l = 0; l < LANES(X); ++l) \
            a[l] = nan[l] != nan[l] ? nan[l] : lane[l]; \
        for (int64_t i = 0; i < n; ++i) \
            a[i] = x[i] != x[i] ? x[i] : OP(a[i], x[i]); \
    } \
    static void rows_##NAME(int64_t w, int64_t n, char *const *p, const int64_t *row, void *const *acc, \
                            const void *constants) \
    { \
        const char *at = p[0]; \
        const int64_t step = row[0]; \
        X *a = acc[0]; \
        (void)constants; \
        for (; n >= 4; n -= 4, at += 4 * step) { \
            const X *x = (const X *)at, *y = (const X *)(at + step), *z = (const X *)(at + 2 * step); \
            const X *u = (const X *)(at + 3 * step); \
            TH_INDEPENDENT \
            for (int64_t j = 0; j < w; ++j) { \
                X best = OP(a[j], x[j]); \
                best = OP(best, y[j]); \
                best = OP(best, z[j]); \
                best = OP(best, u[j]); \
                best = x[j] != x[j] ? x[j] : best; \
                best = y[j] != y[j] ? y[j] : best; \
                best = z[j] != z[j] ? z[j] : best; \
                a[j] = u[j] != u[j] ? u[j] : best; \
            } \
        } \
        for (; n > 0; --n, at += step) { \
            const X *x = (const X *)at; \
            TH_INDEPENDENT \
            for (int64_t j = 0; j < w; ++j) { \
                const X best = OP(a[j], x[j]); \
                a[j] = x[j] != x[j] ? x[j] : best; \
            } \
        } \
    }

#define FIELD(MAKE) \
    MAKE(f8, double, double) MAKE(f4f8, float, double) MAKE(f4, float, float) MAKE(i8, uint64_t, uint64_t) \
    MAKE(i4i8, int32_t, int64_t) MAKE(u1i8, uint8_t, uint64_t)
#define SUMS(NAME, X, ACC) PLAIN(add_##NAME, X, ACC, ADD) PLAIN(mul_##NAME, X, ACC, MUL)
FIELD(SUMS)
PLAIN(max_i8, int64_t, int64_t, MAX)
PLAIN(min_i8, int64_t, int64_t, MIN)
PLAIN(max_i4, int32_t, int32_t, MAX)
PLAIN(min_i4, int32_t, int32_t, MIN)
ORDER(max_f8, double, MAX)
ORDER(min_f8, double, MIN)
ORDER(max_f4, float, MAX)
ORDER(min_f4, float, MIN)
PLAIN(and_u1, uint8_t, uint8_t, AND)
PLAIN(or_u1, uint8_t, uint8_t, OR)

#define LOOPS(OP, X, ACC, NAME) {TH_##OP, TH_##X, TH_##ACC, block_##NAME, rows_##NAME}
#define SUM_LOOPS(OP, NAME) \
    LOOPS(OP, FLOAT64, FLOAT64, NAME##_f8), LOOPS(OP, FLOAT32, FLOAT64, NAME##_f4f8), \
    LOOPS(OP, FLOAT32, FLOAT32, NAME##_f4), LOOPS(OP, INT64, INT64, NAME##_i8), \
    LOOPS(OP, UINT64, UINT64, NAME##_i8), LOOPS(OP, INT32, INT64, NAME##_i4i8), \
    LOOPS(OP, BOOL, INT64, NAME##_u1i8), LOOPS(OP, UINT8, UINT64, NAME##_u1i8)
#define ORDER_LOOPS(OP, NAME) \
    LOOPS(OP, FLOAT64, FLOAT64, NAME##_f8), LOOPS(OP, FLOAT32, FLOAT32, NAME##_f4), \
    LOOPS(OP, INT64, INT64, NAME##_i8), LOOPS(OP, INT32, INT32, NAME##_i4)

static const struct {
    int64_t op, x, acc;
    th_block block;
    th_rows rows;
} plain[] = {
    SUM_LOOPS(ADD, add), SUM_LOOPS(MUL, mul), ORDER_LOOPS(MAX, max), ORDER_LOOPS(MIN, min),
    LOOPS(AND, BOOL, BOOL, and_u1), LOOPS(OR, BOOL, BOOL, or_u1), LOOPS(MAX, BOOL, BOOL, or_u1),
    LOOPS(MIN, BOOL, BOOL, and_u1),
};

TH_EXPORT int th_reduce(th_ctx *ctx, const th_reduction *r, th_block block, th_rows rows);

/* params: a th_reduction of one operand and one result. */
TH_EXPORT int th_kernel_reduce(th_ctx *ctx)
{
    const th_reduction *r = ctx->params;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; ++i)
        if (plain[i].op == r->result[0].op && plain[i].x == ctx->in[0]->dtype && plain[i].acc == r->result[0].dtype)
            return th_reduce(ctx, r, plain[i].block, plain[i].rows);
    if (r->result[0].op == TH_LOG_SUM_EXP && ctx->in[0]->dtype == TH_FLOAT32)
        return th_reduce(ctx, r, th_log_sum_exp_block_f4, th_log_sum_exp_rows_f4);
    if (r->result[0].op == TH_LOG_SUM_EXP && ctx->in[0]->dtype == TH_FLOAT64)
        return th_reduce(ctx, r, th_log_sum_exp_block_f8, th_log_sum_exp_rows_f8);
    return TH_FAIL(ctx, TH_ERR_TYPE, "no reduction %d of dtype %d in dtype %d was built", (int)r->result[0].op,
                   (int)ctx->in[0]->dtype, (int)r->result[0].dtype);
}
