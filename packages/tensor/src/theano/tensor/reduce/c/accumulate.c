/* Accumulators of every operation and dtype. */
#include "accumulate.h"

/* Unsigned: whole numbers wrap. Types below 32 bits would be promoted to a signed int, in which products may not fit. */
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define MUL_SHORT(a, b) ((uint32_t)(a) * (uint32_t)(b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
/* The product of what is not 0. */
#define NONZERO(a, b) ((a) == 0 ? (b) : (b) == 0 ? (a) : MUL(a, b))
#define NONZERO_SHORT(a, b) ((a) == 0 ? (b) : (b) == 0 ? (a) : MUL_SHORT(a, b))

#define PAIR(NAME, TYPE, OP) \
    static void join_##NAME(int64_t n, void *to, const void *from) \
    { \
        TYPE *a = to; \
        const TYPE *b = from; \
        TH_INDEPENDENT \
        for (int64_t i = 0; i < n; ++i) \
            a[i] = (TYPE)OP(a[i], b[i]); \
    } \
    static void fold_##NAME(int64_t n, void *at) \
    { \
        enum { WHOLE = TH_LANE_BYTES / sizeof(TYPE) }; \
        TYPE *a = at, t[WHOLE / 2]; \
        if (n == WHOLE) { \
            for (size_t l = 0; l < WHOLE / 2; ++l) \
                t[l] = (TYPE)OP(a[l], a[l + WHOLE / 2]); \
            for (size_t l = 0; l < WHOLE / 4; ++l) \
                t[l] = (TYPE)OP(t[l], t[l + WHOLE / 4]); \
            for (size_t l = 0; l < WHOLE / 8; ++l) \
                t[l] = (TYPE)OP(t[l], t[l + WHOLE / 8]); \
            for (size_t l = 0; l < WHOLE / 16; ++l) \
                t[l] = (TYPE)OP(t[l], t[l + WHOLE / 16]); \
            a = memcpy(at, t, WHOLE / 16 * sizeof(TYPE)); \
            n = WHOLE / 16; \
        } \
        while (n > 1) { \
            const int64_t half = (n + 1) / 2; \
            TH_INDEPENDENT \
            for (int64_t i = 0; i < n - half; ++i) \
                a[i] = (TYPE)OP(a[i], a[i + half]); \
            n = half; \
        } \
    }

typedef float _Complex c8;
typedef double _Complex c16;

#define EACH_UNSIGNED(MAKE) MAKE(u1, uint8_t) MAKE(u2, uint16_t) MAKE(u4, uint32_t) MAKE(u8, uint64_t)
#define EACH_SIGNED(MAKE) MAKE(i1, int8_t) MAKE(i2, int16_t) MAKE(i4, int32_t) MAKE(i8, int64_t)
#define EACH_REAL(MAKE) MAKE(f4, float) MAKE(f8, double)

#define BITS(N, T) PAIR(add_##N, T, ADD) PAIR(and_##N, T, AND) PAIR(or_##N, T, OR) PAIR(xor_##N, T, XOR)
#define ORDER(N, T) PAIR(max_##N, T, TH_LARGER) PAIR(min_##N, T, TH_SMALLER)
#define FIELD(N, T) PAIR(add_##N, T, ADD) PAIR(mul_##N, T, MUL) PAIR(nonzero_##N, T, NONZERO)
EACH_UNSIGNED(BITS)
EACH_UNSIGNED(ORDER)
EACH_SIGNED(ORDER)
EACH_REAL(ORDER)
EACH_REAL(FIELD)
FIELD(c8, c8)
FIELD(c16, c16)
PAIR(mul_u1, uint8_t, MUL_SHORT)
PAIR(mul_u2, uint16_t, MUL_SHORT)
PAIR(mul_u4, uint32_t, MUL)
PAIR(mul_u8, uint64_t, MUL)
PAIR(nonzero_u1, uint8_t, NONZERO_SHORT)
PAIR(nonzero_u2, uint16_t, NONZERO_SHORT)
PAIR(nonzero_u4, uint32_t, NONZERO)
PAIR(nonzero_u8, uint64_t, NONZERO)


#define CELL(N, DTYPE, EXACT, KIND, VALUE) \
    {DTYPE, sizeof(((th_number *)0)->N), EXACT, join_##KIND, fold_##KIND, NULL, {.N = VALUE}}
#define WHOLE(OP, U1, U2, U4, U8, VALUE) \
    [TH_INT8] = CELL(u1, TH_INT8, 1, U1, (uint8_t)(VALUE)), [TH_UINT8] = CELL(u1, TH_UINT8, 1, U1, (uint8_t)(VALUE)), \
    [TH_INT16] = CELL(u2, TH_INT16, 1, U2, (uint16_t)(VALUE)), \
    [TH_UINT16] = CELL(u2, TH_UINT16, 1, U2, (uint16_t)(VALUE)), \
    [TH_INT32] = CELL(u4, TH_INT32, 1, U4, (uint32_t)(VALUE)), \
    [TH_UINT32] = CELL(u4, TH_UINT32, 1, U4, (uint32_t)(VALUE)), \
    [TH_INT64] = CELL(u8, TH_INT64, 1, U8, (uint64_t)(VALUE)), \
    [TH_UINT64] = CELL(u8, TH_UINT64, 1, U8, (uint64_t)(VALUE))
#define REALS(KIND, EXACT, VALUE) \
    [TH_FLOAT32] = CELL(f4, TH_FLOAT32, EXACT, KIND##_f4, (float)(VALUE)), \
    [TH_FLOAT64] = CELL(f8, TH_FLOAT64, EXACT, KIND##_f8, VALUE)
#define COMPLEXES(KIND, RE, IM) \
    [TH_COMPLEX64] = CELL(c8, TH_COMPLEX64, 0, KIND##_c8, CMPLXF(RE, IM)), \
    [TH_COMPLEX128] = CELL(c16, TH_COMPLEX128, 0, KIND##_c16, CMPLX(RE, IM))
#define BOOL(KIND, VALUE) [TH_BOOL] = CELL(u1, TH_BOOL, 1, KIND, VALUE)

static const th_accumulator accumulators[TH_NOPS][TH_NDTYPES] = {
    /* -0.0: 0.0 would make +0.0 of a sum of negative zeros. */
    [TH_ADD] = {WHOLE(add, add_u1, add_u2, add_u4, add_u8, 0), REALS(add, 0, -0.0), COMPLEXES(add, -0.0, -0.0)},
    [TH_MUL] = {WHOLE(mul, mul_u1, mul_u2, mul_u4, mul_u8, 1), REALS(mul, 0, 1.0), COMPLEXES(mul, 1.0, 0.0)},
    [TH_MUL_NONZERO] = {WHOLE(nonzero, nonzero_u1, nonzero_u2, nonzero_u4, nonzero_u8, 1), REALS(nonzero, 0, 1.0),
                        COMPLEXES(nonzero, 1.0, 0.0)},
    [TH_AND] = {WHOLE(and, and_u1, and_u2, and_u4, and_u8, -1), BOOL(and_u1, 1)},
    [TH_OR] = {WHOLE(or, or_u1, or_u2, or_u4, or_u8, 0), BOOL(or_u1, 0)},
    [TH_XOR] = {WHOLE(xor, xor_u1, xor_u2, xor_u4, xor_u8, 0), BOOL(xor_u1, 0)},
    [TH_MAX] = {BOOL(max_u1, 0), REALS(max, 1, -INFINITY),
                [TH_INT8] = CELL(i1, TH_INT8, 1, max_i1, INT8_MIN), [TH_UINT8] = CELL(u1, TH_UINT8, 1, max_u1, 0),
                [TH_INT16] = CELL(i2, TH_INT16, 1, max_i2, INT16_MIN), [TH_UINT16] = CELL(u2, TH_UINT16, 1, max_u2, 0),
                [TH_INT32] = CELL(i4, TH_INT32, 1, max_i4, INT32_MIN), [TH_UINT32] = CELL(u4, TH_UINT32, 1, max_u4, 0),
                [TH_INT64] = CELL(i8, TH_INT64, 1, max_i8, INT64_MIN), [TH_UINT64] = CELL(u8, TH_UINT64, 1, max_u8, 0)},
    [TH_MIN] = {BOOL(min_u1, 1), REALS(min, 1, INFINITY),
                [TH_INT8] = CELL(i1, TH_INT8, 1, min_i1, INT8_MAX), [TH_UINT8] = CELL(u1, TH_UINT8, 1, min_u1, UINT8_MAX),
                [TH_INT16] = CELL(i2, TH_INT16, 1, min_i2, INT16_MAX),
                [TH_UINT16] = CELL(u2, TH_UINT16, 1, min_u2, UINT16_MAX),
                [TH_INT32] = CELL(i4, TH_INT32, 1, min_i4, INT32_MAX),
                [TH_UINT32] = CELL(u4, TH_UINT32, 1, min_u4, UINT32_MAX),
                [TH_INT64] = CELL(i8, TH_INT64, 1, min_i8, INT64_MAX),
                [TH_UINT64] = CELL(u8, TH_UINT64, 1, min_u8, UINT64_MAX)},
};

const th_accumulator *th_accumulator_of(int64_t op, int64_t dtype)
{
    if (op == TH_LOG_SUM_EXP)
        return dtype == TH_COMPLEX64 ? &th_log_sum_exp_f4 : &th_log_sum_exp_f8;
    return &accumulators[op][dtype];
}

th_number th_of_nothing(int64_t op, int64_t dtype)
{
    return op == TH_ADD ? (th_number){.bytes = {0}} : th_accumulator_of(op, dtype)->neutral;
}

void th_fill(int64_t size, int64_t n, void *to, const void *value)
{
    char *p = to;
    int64_t done = 1;
#define FILL(T)                                                                           \
    if (size == (int64_t)sizeof(T)) {                                                     \
        T v, *x = to;                                                                     \
        memcpy(&v, value, sizeof v);                                                      \
        for (int64_t i = 0; i < n; ++i)                                                   \
            x[i] = v;                                                                     \
        return;                                                                           \
    }
    FILL(uint64_t)
    FILL(uint32_t)
#undef FILL
    if (n <= 0)
        return;
    memcpy(p, value, (size_t)size);
    for (; 2 * done <= n; done *= 2)
        memcpy(p + done * size, p, (size_t)(done * size));
    memcpy(p + done * size, p, (size_t)((n - done) * size));
}

/* -- results ------------------------------------------------------------------------------------------ */

/* A value in the widest type of its kind. */
typedef struct {
    enum { SIGNED, UNSIGNED, REAL, COMPLEX } kind;
    int64_t i;
    uint64_t u;
    double re, im;
} wide;

static wide widened(int64_t dtype, const void *p)
{
    th_number v;
    memcpy(&v, p, dtype == TH_COMPLEX128 ? 16 : dtype == TH_INT64 || dtype == TH_UINT64 || dtype == TH_FLOAT64 ||
                  dtype == TH_COMPLEX64 ? 8 : dtype == TH_INT32 || dtype == TH_UINT32 || dtype == TH_FLOAT32 ? 4 :
                  dtype == TH_INT16 || dtype == TH_UINT16 ? 2 : 1);
    switch (dtype) {
    case TH_BOOL: case TH_UINT8: return (wide){UNSIGNED, .u = v.u1};
    case TH_INT8: return (wide){SIGNED, .i = v.i1};
    case TH_INT16: return (wide){SIGNED, .i = v.i2};
    case TH_UINT16: return (wide){UNSIGNED, .u = v.u2};
    case TH_INT32: return (wide){SIGNED, .i = v.i4};
    case TH_UINT32: return (wide){UNSIGNED, .u = v.u4};
    case TH_INT64: return (wide){SIGNED, .i = v.i8};
    case TH_UINT64: return (wide){UNSIGNED, .u = v.u8};
    case TH_FLOAT32: return (wide){REAL, .re = (double)v.f4};
    case TH_FLOAT64: return (wide){REAL, .re = v.f8};
    case TH_COMPLEX64: return (wide){COMPLEX, .re = (double)crealf(v.c8), .im = (double)cimagf(v.c8)};
    default: return (wide){COMPLEX, .re = creal(v.c16), .im = cimag(v.c16)};
    }
}

static double real_of(wide v) { return v.kind == SIGNED ? (double)v.i : v.kind == UNSIGNED ? (double)v.u : v.re; }

static int64_t whole_of(wide v)
{
    return v.kind == SIGNED ? v.i : v.kind == UNSIGNED ? (int64_t)v.u : v.re < 0x1p63 ? (int64_t)v.re : (int64_t)(uint64_t)v.re;
}

static void narrowed(wide v, int64_t dtype, char *y)
{
    th_number out;
    size_t size = 1;
    switch (dtype) {
    case TH_BOOL: out.u1 = v.kind == SIGNED ? v.i != 0 : v.kind == UNSIGNED ? v.u != 0 : v.re != 0 || v.im != 0; break;
    case TH_INT8: case TH_UINT8: out.u1 = (uint8_t)whole_of(v); break;
    case TH_INT16: case TH_UINT16: out.u2 = (uint16_t)whole_of(v), size = 2; break;
    case TH_INT32: case TH_UINT32: out.u4 = (uint32_t)whole_of(v), size = 4; break;
    case TH_INT64: case TH_UINT64: out.i8 = whole_of(v), size = 8; break;
    case TH_FLOAT16: out.u2 = th_store_f16(th_round_f16(real_of(v))), size = 2; break;
    case TH_FLOAT32: out.f4 = v.kind == SIGNED ? (float)v.i : v.kind == UNSIGNED ? (float)v.u : (float)v.re, size = 4; break;
    case TH_FLOAT64: out.f8 = real_of(v), size = 8; break;
    case TH_COMPLEX64: out.c8 = CMPLXF((float)real_of(v), (float)(v.kind == COMPLEX ? v.im : 0)), size = 8; break;
    default: out.c16 = CMPLX(real_of(v), v.kind == COMPLEX ? v.im : 0), size = 16; break;
    }
    memcpy(y, &out, size);
}

#define COPY(FROM, TO) \
    do { \
        const FROM *x = values; \
        if (step == sizeof(TO)) { \
            TH_INDEPENDENT \
            for (int64_t i = 0; i < n; ++i) \
                ((TO *)to)[i] = (TO)x[i]; \
        } else { \
            for (int64_t i = 0; i < n; ++i) \
                *(TO *)(to + i * step) = (TO)x[i]; \
        } \
    } while (0)

void th_put(int64_t dtype, const void *values, int64_t n, int64_t to_dtype, char *to, int64_t step)
{
    const int64_t size = accumulators[TH_ADD][dtype].size + (dtype == TH_BOOL);
    if (dtype == TH_FLOAT64 && to_dtype == TH_FLOAT32)
        COPY(double, float);
    else if (dtype != to_dtype)
        for (int64_t i = 0; i < n; ++i)
            narrowed(widened(dtype, (const char *)values + i * size), to_dtype, to + i * step);
    else if (size == 8)
        COPY(uint64_t, uint64_t);
    else if (size == 4)
        COPY(uint32_t, uint32_t);
    else
        for (int64_t i = 0; i < n; ++i)
            memcpy(to + i * step, (const char *)values + i * size, (size_t)size);
}
