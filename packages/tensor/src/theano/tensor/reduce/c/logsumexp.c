/* The logarithm of a sum of exponentials, in one pass through memory.
 *
 * An accumulator is a pair: the largest element so far, and the sum of the exponentials of elements less it. Each
 * element is looked at twice while it is in the nearest cache: for the largest, after which the sum is scaled once, then
 * for its exponential.
 */
#include "accumulate.h"
#include "c/wide.h"
#include "c/exponential.h"
#include "c/logarithm.h"
#include "lanes.h"

/* exp(x) as a term of a sum that is at least 1: x <= 0 but for +inf, whose sum is not used, and what would be subnormal
 * may as well be the smallest normal number. */
static inline double below_one_f8(double x)
{
    double n, shifted, r;
    x = 0.0 < x ? 0.0 : x;
    x = -708.0 > x ? -708.0 : x;
    r = th_exp_reduce_f64(x, &n, &shifted);
    return (1.0 + TH_FMA(r * r, th_exp_tail_f64(r), r)) * th_exp2_scale_f64(shifted);
}

static inline float below_one_f4(float x)
{
    float n, shifted, r;
    x = 0.0f < x ? 0.0f : x;
    x = -87.0f > x ? -87.0f : x;
    r = th_exp_reduce_f32(x, &n, &shifted);
    return (1.0f + TH_FMAF(r * r, th_exp_tail_f32(r), r)) * th_exp2_scale_f32(shifted);
}

/* What exponentials() does: n is a multiple of a vector's length. */
#if TH_WIDE
#define EACH_BELOW_ONE(F) \
    { \
        for (int64_t i = 0; i < n; i += TH_VECTOR / (int64_t)sizeof *x) { \
            lanes_##F v = load_##F(x + i) - over; \
            v = th_exp_lanes_##F(v, v); \
            memcpy(to + i, &v, sizeof v); \
        } \
    }
#else
#define EACH_BELOW_ONE(F) \
    { \
        TH_INDEPENDENT \
        for (int64_t i = 0; i < n; ++i) \
            to[i] = below_one_##F(x[i] - over); \
    }
#endif

enum { ROWS = 4, ROOM = TH_LOGSUMEXP_ROOM, STEP = TH_LOGSUMEXP_STEP, SHORT = TH_LOGSUMEXP_SHORT, GROUP = TH_LOGSUMEXP_GROUP };

/* top: the largest; sum: relative to SHIFT(top). Where top is infinite, nothing is taken off. */
#define LOG_SUM_EXP(F, X, INF, LOG) \
    typedef struct { \
        X top, sum; \
    } pair_##F; \
    static inline X shift_##F(X top) { return ((top == INF) | (top == -INF)) ? 0 : top; } \
    /* What a sum is worth under a higher top; nan stays. */ \
    static inline X scaled_##F(X sum, X old, X top) \
    { \
        const X factor = below_one_##F(shift_##F(old) - shift_##F(top)); \
        return sum * (old == -INF ? 0 : factor); \
    } \
    static void join_##F(int64_t n, void *to, const void *from) \
    { \
        pair_##F *a = to; \
        const pair_##F *b = from; \
        for (int64_t i = 0; i < n; ++i) { \
            const X top = b[i].top > a[i].top ? b[i].top : a[i].top; \
            a[i].sum = scaled_##F(a[i].sum, a[i].top, top) + scaled_##F(b[i].sum, b[i].top, top); \
            a[i].top = top; \
        } \
    } \
    static void fold_##F(int64_t n, void *at) \
    { \
        enum { WHOLE = TH_LANE_BYTES / sizeof(pair_##F) }; \
        pair_##F *a = at; \
        X top[WHOLE], sum[WHOLE], best[WHOLE]; \
        if (n > WHOLE) { \
            for (int64_t i = 1; i < n; ++i) \
                join_##F(1, a, a + i); \
            return; \
        } \
        for (int l = 0; l < (int)WHOLE; ++l) { \
            best[l] = top[l] = l < n ? a[l].top : -INF; \
            sum[l] = l < n ? a[l].sum : 0; \
        } \
        for (int half = WHOLE / 2; half > 0; half /= 2) \
            for (int l = 0; l < half; ++l) \
                best[l] = best[l + half] > best[l] ? best[l + half] : best[l]; \
        const X over = best[0]; \
        for (int l = 0; l < (int)WHOLE; ++l) \
            sum[l] = scaled_##F(sum[l], top[l], over); \
        for (int half = WHOLE / 2; half > 0; half /= 2) \
            for (int l = 0; l < half; ++l) \
                sum[l] += sum[l + half]; \
        a[0] = (pair_##F){over, sum[0]}; \
    } \
    static void finish_##F(int64_t n, void *at) \
    { \
        pair_##F *a = at; \
        for (int64_t i = 0; i < n; ++i) { \
            const X usual = a[i].top + LOG(a[i].sum); \
            const int infinite = (a[i].top == INF) | (a[i].top == -INF); \
            a[i].top = (infinite & (a[i].sum == a[i].sum)) ? a[i].top : usual; \
        } \
    } \
    /* exp(x - over), of whole vectors; apart, so that these are all that the compiler sees. */ \
    static __attribute__((noinline)) void exponentials_##F(int64_t n, const X *x, X over, X *to) EACH_BELOW_ONE(F) \
    /* Neighbours, looked at twice while they are in the nearest cache; meanwhile what comes `next` is fetched. */ \
    static pair_##F whole_##F(const X *x, int64_t n, const X *next) \
    { \
        enum { W = TH_VECTOR / sizeof(X), L = 4 * W }; \
        const int64_t whole = n - n % L, left = (n % L + W - 1) / W * W; \
        _Alignas(64) X rest[L], e[STEP * L]; \
        lanes_##F a, b, c, d; \
        for (int l = 0; l < (int)L; ++l) \
            rest[l] = l < n - whole ? x[whole + l] : -INF; \
        for (int l = 0; l < (int)W; ++l) \
            a[l] = -INF; \
        b = c = d = a; \
        for (int64_t i = 0; i < whole; i += L) { \
            a = larger_##F(load_##F(x + i), a); \
            b = larger_##F(load_##F(x + i + W), b); \
            c = larger_##F(load_##F(x + i + 2 * W), c); \
            d = larger_##F(load_##F(x + i + 3 * W), d); \
        } \
        for (int64_t i = 0; i < left; i += W) \
            a = larger_##F(load_##F(rest + i), a); \
        a = across_larger_##F(larger_##F(larger_##F(a, b), larger_##F(c, d))); \
        const X top = a[0], over = shift_##F(top); \
        a = b = c = d = (lanes_##F){0}; \
        for (int64_t i = 0, m; i < whole; i += m) { \
            m = whole - i < STEP * L ? whole - i : STEP * L; \
            for (int64_t k = 0; k < m; k += 64 / (int64_t)sizeof(X)) \
                __builtin_prefetch(next + i + k); \
            exponentials_##F(m, x + i, over, e); \
            for (int64_t k = 0; k < m; k += L) { \
                a += load_##F(e + k); \
                b += load_##F(e + k + W); \
                c += load_##F(e + k + 2 * W); \
                d += load_##F(e + k + 3 * W); \
            } \
        } \
        exponentials_##F(left, rest, over, e); \
        for (int64_t k = 0; k < left; k += W) \
            a += load_##F(e + k); \
        a = across_sum_##F((a + b) + (c + d)); \
        return (pair_##F){top, a[0]}; \
    } \
    static void block_##F(int64_t n, char *const *p, void *const *acc, const void *constants) \
    { \
        const pair_##F found = whole_##F((const X *)p[0], n, (const X *)p[0] + n); \
        (void)constants; \
        join_##F(1, acc[0], &found); \
    } \
    /* Several runs of few elements, turned around: neighbours are of one place in all runs. */ \
    static void short_runs_##F(int64_t count, int64_t n, const char *at, int64_t step, pair_##F *to) \
    { \
        X x[SHORT * GROUP], top[GROUP], sum[GROUP]; \
        for (int64_t i = 0; i < count; ++i, at += step) \
            for (int64_t k = 0; k < n; ++k) \
                x[k * GROUP + i] = ((const X *)at)[k]; \
        for (int64_t i = 0; i < count; ++i) \
            top[i] = -INF; \
        for (int64_t k = 0; k < n; ++k) \
            for (int64_t i = 0; i < count; ++i) \
                top[i] = x[k * GROUP + i] > top[i] ? x[k * GROUP + i] : top[i]; \
        for (int64_t i = 0; i < count; ++i) \
            sum[i] = 0; \
        for (int64_t k = 0; k < n; ++k) { \
            TH_INDEPENDENT \
            for (int64_t i = 0; i < count; ++i) \
                sum[i] += below_one_##F(x[k * GROUP + i] - shift_##F(top[i])); \
        } \
        for (int64_t i = 0; i < count; ++i) \
            to[i] = (pair_##F){top[i], sum[i]}; \
    } \
    static void runs_##F(int64_t count, int64_t n, const char *at, int64_t step, void *results) \
    { \
        if (n <= SHORT) { \
            for (int64_t i = 0; i < count; i += GROUP) \
                short_runs_##F(count - i < GROUP ? count - i : GROUP, n, at + i * step, step, (pair_##F *)results + i); \
            return; \
        } \
        for (int64_t i = 0; i < count; ++i) \
            ((pair_##F *)results)[i] = whole_##F((const X *)(at + i * step), n, (const X *)(at + (i + 1) * step)); \
    } \
    static void rows_##F(int64_t w, int64_t n, char *const *p, const int64_t *row, void *const *acc, \
                         const void *constants) \
    { \
        pair_##F *a = acc[0]; \
        (void)constants; \
        for (int64_t done = 0; done < w; done += ROOM) { \
            const int64_t m = w - done < ROOM ? w - done : ROOM; \
            X top[ROOM], sum[ROOM]; \
            const char *at = p[0] + done * (int64_t)sizeof(X); \
            for (int64_t j = 0; j < m; ++j) { \
                top[j] = a[done + j].top; \
                sum[j] = a[done + j].sum; \
            } \
            for (int64_t i = 0; i < n; i += ROWS) { \
                const X *x[ROWS]; \
                for (int64_t r = 0; r < ROWS; ++r) \
                    x[r] = (const X *)(at + (i + r < n ? i + r : i) * row[0]); \
                const X *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3]; \
                const int64_t left = n - i; \
                TH_INDEPENDENT \
                for (int64_t j = 0; j < m; ++j) { \
                    X high = x0[j] > top[j] ? x0[j] : top[j]; \
                    high = x1[j] > high ? x1[j] : high; \
                    high = x2[j] > high ? x2[j] : high; \
                    high = x3[j] > high ? x3[j] : high; \
                    const X over = shift_##F(high); \
                    X s = scaled_##F(sum[j], top[j], high) + below_one_##F(x0[j] - over); \
                    const X e1 = below_one_##F(x1[j] - over), e2 = below_one_##F(x2[j] - over); \
                    const X e3 = below_one_##F(x3[j] - over); \
                    s += left > 1 ? e1 : 0; \
                    s += left > 2 ? e2 : 0; \
                    sum[j] = s + (left > 3 ? e3 : 0); \
                    top[j] = high; \
                } \
            } \
            for (int64_t j = 0; j < m; ++j) \
                a[done + j] = (pair_##F){top[j], sum[j]}; \
        } \
    } \
    const th_reduce_loops th_log_sum_exp_loops_##F = {block_##F, rows_##F, runs_##F, NULL};

LOG_SUM_EXP(f4, float, INFINITY, th_log_f32)
LOG_SUM_EXP(f8, double, (double)INFINITY, th_log_f64)

const th_accumulator th_log_sum_exp_f4 = {TH_COMPLEX64, 8, 0, join_f4, fold_f4, finish_f4, {.c8 = CMPLXF(-INFINITY, 0)}};
const th_accumulator th_log_sum_exp_f8 = {TH_COMPLEX128, 16, 0, join_f8, fold_f8, finish_f8, {.c16 = CMPLX(-INFINITY, 0)}};
