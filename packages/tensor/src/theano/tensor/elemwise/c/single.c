/* Element-wise loops of single operations, so that a function of one of them needs no compiler.
 *
 * A generated kernel has its loop and a table of what its types say (th_loop of abi.h); here the loop is one of those below,
 * and the table comes with the call. theano/tensor/elemwise/single.py finds a loop by its name, th_single_OP_DTYPE, with what
 * moves along the axes after it for two operands: `mm` both, `sm` the second one, `ms` the first one, while the other stands
 * still. What an operation is in C is the scalar layer's (theano/scalar), whose functions are called; a test holds each loop
 * to the one that is generated, bit for bit.
 */
#include "kernels.h"

/* The scalar layer's, each after those that it builds on. */
#include "c/wide.h"
#include "c/rare.h"
#include "c/floating.h"
#include "c/exponential.h"
#include "c/logarithm.h"
#include "c/trigonometric.h"

typedef void (*loop_run)(int64_t n, char *const *data, const char *params);
typedef void (*loop_strided)(int64_t n, char *const *data, const int64_t *step, const char *params);

static int single(th_ctx *ctx, loop_run run, loop_strided strided, const uint8_t *kind, int32_t nin, int32_t lanes)
{
    const th_single *p = ctx->params;
    const uint64_t ones[] = {(uint64_t)p->ones[0], (uint64_t)p->ones[1]};
    const int32_t over = (int32_t)p->over;
    const th_loop loop = {run, ones, kind, &over, (double)p->work * 1e-3, nin, 1, (int32_t)p->ndim, lanes, NULL, 0, strided};
    return ctx->rt->elementwise(ctx, &loop);
}

#define MOVES(LETTER) MOVES_##LETTER
#define MOVES_m 1
#define MOVES_s 0
#define KIND(LETTER) KIND_##LETTER
#define KIND_m TH_FULL
#define KIND_s TH_INVARIANT

/* The loop over strided elements; the strides, in bytes, are constants where the compiler is to make vectors. */
#define LOOP_OF_ONE(NAME, T, RESULT)                                                                                   \
    static inline __attribute__((always_inline)) void NAME##_loop(int64_t n, char *const *data, int64_t x_step, int64_t r_step) \
    {                                                                                                                  \
        const char *xs = data[0];                                                                                      \
        char *rs = data[1];                                                                                            \
        TH_INDEPENDENT                                                                                                 \
        for (int64_t i = 0; i < n; ++i) {                                                                              \
            const T x = *(const T *)(xs + i * x_step);                                                                 \
            *(T *)(rs + i * r_step) = RESULT;                                                                          \
        }                                                                                                              \
    }
#define LOOP_OF_TWO(NAME, T, X, Y, RESULT)                                                                             \
    static inline __attribute__((always_inline)) void NAME##_loop(int64_t n, char *const *data, int64_t x_step, int64_t y_step, int64_t r_step) \
    {                                                                                                                  \
        const char *xs = data[0], *ys = data[1];                                                                       \
        char *rs = data[2];                                                                                            \
        const T x0 = *(const T *)xs, y0 = *(const T *)ys;                                                              \
        TH_INDEPENDENT                                                                                                 \
        for (int64_t i = 0; i < n; ++i) {                                                                              \
            const T x = MOVES(X) ? *(const T *)(xs + i * x_step) : x0, y = MOVES(Y) ? *(const T *)(ys + i * y_step) : y0; \
            *(T *)(rs + i * r_step) = RESULT;                                                                          \
        }                                                                                                              \
    }

/* Operations that take less time than to gather operands: any strides. */
#define SHORT_OF_ONE(NAME, T, RESULT)                                                                                  \
    LOOP_OF_ONE(NAME, T, RESULT)                                                                                       \
    static void NAME##_run(int64_t n, char *const *data, const char *params)                                           \
    {                                                                                                                  \
        (void)params;                                                                                                  \
        NAME##_loop(n, data, sizeof(T), sizeof(T));                                                                    \
    }                                                                                                                  \
    static void NAME##_strided(int64_t n, char *const *data, const int64_t *step, const char *params)                  \
    {                                                                                                                  \
        (void)params;                                                                                                  \
        NAME##_loop(n, data, step[0], step[1]);                                                                        \
    }                                                                                                                  \
    TH_EXPORT int th_single_##NAME(th_ctx *ctx)                                                                        \
    {                                                                                                                  \
        static const uint8_t kind[] = {TH_FULL};                                                                       \
        return single(ctx, NAME##_run, NAME##_strided, kind, 1, 1);                                                    \
    }
#define SHORT_OF_TWO(NAME, T, X, Y, RESULT)                                                                            \
    LOOP_OF_TWO(NAME, T, X, Y, RESULT)                                                                                 \
    static void NAME##_run(int64_t n, char *const *data, const char *params)                                           \
    {                                                                                                                  \
        (void)params;                                                                                                  \
        NAME##_loop(n, data, sizeof(T), sizeof(T), sizeof(T));                                                         \
    }                                                                                                                  \
    static void NAME##_strided(int64_t n, char *const *data, const int64_t *step, const char *params)                  \
    {                                                                                                                  \
        (void)params;                                                                                                  \
        NAME##_loop(n, data, step[0], step[1], step[2]);                                                               \
    }                                                                                                                  \
    TH_EXPORT int th_single_##NAME(th_ctx *ctx)                                                                        \
    {                                                                                                                  \
        static const uint8_t kind[] = {KIND(X), KIND(Y)};                                                              \
        return single(ctx, NAME##_run, NAME##_strided, kind, 2, 1);                                                    \
    }

/* The same over vectors of 64 bytes, for a function that has a form for these: it is inline here. Two at a time keep the
 * units busier (0.82 to 0.92 of the time in the caches); past the last vector, it is computed again. n is a multiple of a
 * vector. */
#define LOOP_OF_VECTORS(NAME, V, FORM)                                                                                 \
    static inline __attribute__((always_inline)) void NAME##_loop(int64_t n, char *const *data, int64_t x_step, int64_t r_step) \
    {                                                                                                                  \
        const char *const xs = data[0];                                                                                \
        char *const rs = data[1];                                                                                      \
        const int64_t last = n - (int64_t)sizeof(V) / x_step;                                                          \
        for (int64_t i = 0; i <= last; i += 2 * (int64_t)sizeof(V) / x_step) {                                         \
            const int64_t next = i < last ? i + (int64_t)sizeof(V) / x_step : last;                                    \
            V x, y;                                                                                                    \
            memcpy(&x, xs + i * x_step, sizeof x);                                                                     \
            memcpy(&y, xs + next * x_step, sizeof y);                                                                  \
            x = FORM(x, x);                                                                                            \
            y = FORM(y, y);                                                                                            \
            memcpy(rs + i * r_step, &x, sizeof x);                                                                     \
            memcpy(rs + next * r_step, &y, sizeof y);                                                                  \
        }                                                                                                              \
    }

/* Functions: whole vectors only, since the rest costs less as one more vector. */
#define FUNCTION(NAME, T, LOOP)                                                                                        \
    LOOP                                                                                                               \
    enum { NAME##_lanes = 64 / sizeof(T) };                                                                            \
    static void NAME##_run(int64_t n, char *const *data, const char *params)                                           \
    {                                                                                                                  \
        (void)params;                                                                                                  \
        NAME##_loop(n & -(int64_t)NAME##_lanes, data, sizeof(T), sizeof(T));                                           \
    }                                                                                                                  \
    TH_EXPORT int th_single_##NAME(th_ctx *ctx)                                                                        \
    {                                                                                                                  \
        static const uint8_t kind[] = {TH_FULL};                                                                       \
        return single(ctx, NAME##_run, NULL, kind, 1, NAME##_lanes);                                                   \
    }

#define UNARY(OP, F64, F32) SHORT_OF_ONE(OP##_float64, double, F64) SHORT_OF_ONE(OP##_float32, float, F32)
#define BINARY_OF(OP, DTYPE, T, RESULT)                                                                                \
    SHORT_OF_TWO(OP##_##DTYPE##_mm, T, m, m, RESULT)                                                                   \
    SHORT_OF_TWO(OP##_##DTYPE##_sm, T, s, m, RESULT)                                                                   \
    SHORT_OF_TWO(OP##_##DTYPE##_ms, T, m, s, RESULT)
#define BINARY(OP, F64, F32) BINARY_OF(OP, float64, double, F64) BINARY_OF(OP, float32, float, F32)
#define FUNCTIONS(OP)                                                                                                  \
    FUNCTION(OP##_float64, double, LOOP_OF_ONE(OP##_float64, double, th_##OP##_f64(x)))                                \
    FUNCTION(OP##_float32, float, LOOP_OF_ONE(OP##_float32, float, th_##OP##_f32(x)))
#if TH_WIDE
#define WIDE_FUNCTIONS(OP)                                                                                             \
    FUNCTION(OP##_float64, double, LOOP_OF_VECTORS(OP##_float64, th_f64x8, th_##OP##_wide_f64_th_f64x8))               \
    FUNCTION(OP##_float32, float, LOOP_OF_VECTORS(OP##_float32, th_f32x16, th_##OP##_wide_f32_th_f32x16))
#else
#define WIDE_FUNCTIONS FUNCTIONS
#endif

UNARY(neg, -x, -x)
UNARY(abs_, fabs(x), fabsf(x))
UNARY(sqr, x * x, x * x)
UNARY(sqrt, sqrt(x), sqrtf(x))
UNARY(inv, 1 / x, 1 / x)
BINARY(add, x + y, x + y)
BINARY(sub, x - y, x - y)
BINARY(mul, x * y, x * y)
BINARY(true_div, x / y, x / y)
BINARY(maximum, th_max_f64(x, y), th_max_f32(x, y))
BINARY(minimum, th_min_f64(x, y), th_min_f32(x, y))
WIDE_FUNCTIONS(exp)
FUNCTIONS(expm1)
WIDE_FUNCTIONS(log)
FUNCTIONS(log1p)
FUNCTIONS(tanh)
WIDE_FUNCTIONS(sigmoid)
FUNCTIONS(softplus)
FUNCTIONS(sin)
FUNCTIONS(cos)
