/* Vectors as wide as the registers, and what runs of elements need of them (reduce_plain.c, argmax.c).
 *
 * With AVX-512 a vector is as long as a line of the cache. There, runs are read at multiples of a vector, because of
 * others each would take two lines. As no result may depend on where an array starts, lanes are slid by what its
 * start is off.
 */
#ifndef THEANO_TENSOR_LANES_H
#define THEANO_TENSOR_LANES_H

#include "kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define TH_VECTOR 64
#define TH_REGISTER(KIND) __m512##KIND
#define TH_REGISTERS(WHAT) _mm512_##WHAT
#define TH_WIDTH_8 8
#define TH_WIDTH_4 16
#elif defined(__AVX2__)
#define TH_VECTOR 32
#define TH_REGISTER(KIND) __m256##KIND
#define TH_REGISTERS(WHAT) _mm256_##WHAT
#define TH_WIDTH_8 4
#define TH_WIDTH_4 8
#else
#define TH_VECTOR 16
#define TH_REGISTER(KIND) __m128##KIND
#define TH_REGISTERS(WHAT) _mm_##WHAT
#define TH_WIDTH_8 2
#define TH_WIDTH_4 4
#endif
#define TH_WHOLE_LINES (TH_VECTOR == 64)

#define TH_INLINE static inline __attribute__((always_inline, unused))

/* Keep a vector in a register: for a second use, compilers like to read memory again. */
#if defined(__x86_64__)
#define TH_HELD(v) __asm__("" : "+v"(v))
#elif defined(__aarch64__)
#define TH_HELD(v) __asm__("" : "+w"(v))
#else
#define TH_HELD(v) (void)0
#endif

/* How many elements `x` is behind a place at which runs are read, for vectors of w elements. */
TH_INLINE int64_t th_behind(const void *x, int64_t size, int64_t w)
{
    return TH_WHOLE_LINES ? (int64_t)((uintptr_t)x / (uintptr_t)size % (uintptr_t)w) : 0;
}

/* TH_PICK: lanes of a, then of b, by number. */
#if defined(__clang__)
#define TH_PICK(N, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define TH_PICK(N, a, b, ...) __builtin_shuffle(a, b, (count_##N){__VA_ARGS__})
#endif

/* slide_N: lanes m and up of `a`, then those of `b`, for 0 <= m <= W.
 * rest_N: the last n lanes of `v`, all others from `none`; where runs are read at multiples of a vector, these lanes come
 * first, where the next n elements would be. */
#if TH_WHOLE_LINES && !defined(__clang__)
#define TH_SLIDE(N, X, INT) \
    TH_INLINE lanes_##N slide_##N(lanes_##N a, lanes_##N b, int64_t m) \
    { \
        count_##N place; \
        for (int l = 0; l < TH_VECTOR / (int)sizeof(X); ++l) \
            place[l] = (INT)l; \
        return __builtin_shuffle(a, b, place + (INT)m); \
    }
#else
#define TH_SLIDE(N, X, INT) \
    TH_INLINE lanes_##N slide_##N(lanes_##N a, lanes_##N b, int64_t m) \
    { \
        X both[2 * TH_VECTOR / sizeof(X)]; \
        memcpy(both, &a, sizeof a); \
        memcpy(both + TH_VECTOR / sizeof(X), &b, sizeof b); \
        memcpy(&a, both + m, sizeof a); \
        return a; \
    }
#endif
#if TH_WHOLE_LINES
#define TH_REST(N, X, INT) \
    TH_INLINE lanes_##N rest_##N(lanes_##N v, lanes_##N none, int64_t n) \
    { \
        return slide_##N(v, none, TH_VECTOR / (int64_t)sizeof(X) - n); \
    }
#else
static const int32_t th_all_or_none[] = {0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};
#define TH_REST(N, X, INT) \
    TH_INLINE lanes_##N rest_##N(lanes_##N v, lanes_##N none, int64_t n) \
    { \
        count_##N keep; \
        const char *zeros = (const char *)(th_all_or_none + 8) - TH_VECTOR; \
        memcpy(&keep, zeros + n * (int64_t)sizeof(X), sizeof keep); \
        return chosen_##N(keep, v, none); \
    }
#endif

/* lanes_N: a vector; count_N: as many integers of the same size.
 * leading_N: -1 in the first n lanes, 0 in the others; chosen_N: lanes of `v` where `which` is -1, of `none` where it is 0. */
#define TH_LANES(N, X, INT) \
    typedef X lanes_##N __attribute__((vector_size(TH_VECTOR))); \
    typedef INT count_##N __attribute__((vector_size(TH_VECTOR))); \
    TH_INLINE count_##N leading_##N(int64_t n) \
    { \
        count_##N which; \
        for (int l = 0; l < TH_VECTOR / (int)sizeof(X); ++l) \
            which[l] = l < n ? -1 : 0; \
        return which; \
    } \
    TH_INLINE lanes_##N chosen_##N(count_##N which, lanes_##N v, lanes_##N none) \
    { \
        return (lanes_##N)(((count_##N)v & which) | ((count_##N)none & ~which)); \
    } \
    TH_SLIDE(N, X, INT) \
    TH_REST(N, X, INT) \
    TH_INLINE lanes_##N load_##N(const X *x) \
    { \
        lanes_##N v; \
        memcpy(&v, x, sizeof v); \
        return v; \
    }
TH_LANES(f8, double, int64_t)
TH_LANES(f4, float, int32_t)
TH_LANES(i8, int64_t, int64_t)
TH_LANES(i4, int32_t, int32_t)

/* load_X_N: as many elements of another type as there are lanes. */
#if TH_WHOLE_LINES /* here and below: compilers convert by halves */
TH_INLINE lanes_f8 load_f4f8(const float *x) { return (lanes_f8)_mm512_cvtps_pd(_mm256_loadu_ps(x)); }
TH_INLINE lanes_i8 load_i4i8(const int32_t *x)
{
    return (lanes_i8)_mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)x));
}
TH_INLINE lanes_i8 load_u1i8(const uint8_t *x)
{
    return (lanes_i8)_mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)x));
}
#elif TH_VECTOR == 32
TH_INLINE lanes_f8 load_f4f8(const float *x) { return (lanes_f8)_mm256_cvtps_pd(_mm_loadu_ps(x)); }
TH_INLINE lanes_i8 load_i4i8(const int32_t *x)
{
    return (lanes_i8)_mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)x));
}
TH_INLINE lanes_i8 load_u1i8(const uint8_t *x)
{
    int32_t four;
    memcpy(&four, x, sizeof four);
    return (lanes_i8)_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four));
}
#else
#define TH_LOAD_AS(NAME, X, N) \
    TH_INLINE lanes_##N load_##NAME(const X *x) \
    { \
        typedef X near __attribute__((vector_size(TH_WIDTH_8 * sizeof(X)))); \
        near v; \
        memcpy(&v, x, sizeof v); \
        return __builtin_convertvector(v, lanes_##N); \
    }
TH_LOAD_AS(f4f8, float, f8)
TH_LOAD_AS(i4i8, int32_t, i8)
TH_LOAD_AS(u1i8, uint8_t, i8)
#endif

/* Fold rows, each in a vector, to one vector of their results, in steps: two vectors that hold rows of g lanes each
 * become one that holds rows of g / 2 lanes, their first halves taken together with their second halves.
 * row: as many vectors as a vector has lanes, which are overwritten. */
#define TH_HALF(l, g, more) (l) / ((g) / 2) * (g) + (l) % ((g) / 2) + (more)
#define TH_HALVES_2(l, g, more) TH_HALF(l, g, more), TH_HALF((l) + 1, g, more)
#define TH_HALVES_4(l, g, more) TH_HALVES_2(l, g, more), TH_HALVES_2((l) + 2, g, more)
#define TH_HALVES_8(l, g, more) TH_HALVES_4(l, g, more), TH_HALVES_4((l) + 4, g, more)
#define TH_HALVES_16(l, g, more) TH_HALVES_8(l, g, more), TH_HALVES_8((l) + 8, g, more)
#define TH_FOLD_STEP(N, W, OP, row, g) \
    for (int i = 0; i < (g) / 2; ++i) \
        row[i] = OP(TH_PICK(N, row[2 * i], row[2 * i + 1], TH_HALVES_##W(0, g, 0)), \
                    TH_PICK(N, row[2 * i], row[2 * i + 1], TH_HALVES_##W(0, g, (g) / 2)));
#define TH_FOLD_2(N, W, OP, row) TH_FOLD_STEP(N, W, OP, row, 2)
#define TH_FOLD_4(N, W, OP, row) TH_FOLD_STEP(N, W, OP, row, 4) TH_FOLD_2(N, W, OP, row)
#define TH_FOLD_8(N, W, OP, row) TH_FOLD_STEP(N, W, OP, row, 8) TH_FOLD_4(N, W, OP, row)
#define TH_FOLD_16(N, W, OP, row) TH_FOLD_STEP(N, W, OP, row, 16) TH_FOLD_8(N, W, OP, row)
#define TH_FOLD_(N, W, OP, row) TH_FOLD_##W(N, W, OP, row)
#define TH_FOLD(N, W, OP, row) TH_FOLD_(N, W, OP, row)
#define TH_FOLD_ROWS_f8(OP, row) TH_FOLD(f8, TH_WIDTH_8, OP, row)
#define TH_FOLD_ROWS_f4(OP, row) TH_FOLD(f4, TH_WIDTH_4, OP, row)
#define TH_FOLD_ROWS_i8(OP, row) TH_FOLD(i8, TH_WIDTH_8, OP, row)
#define TH_FOLD_ROWS_i4(OP, row) TH_FOLD(i4, TH_WIDTH_4, OP, row)

/* Larger and smaller, lane by lane: `b` where one is nan or both are as large. */
#define TH_ORDER(N) \
    TH_INLINE lanes_##N larger_##N(lanes_##N a, lanes_##N b) \
    { \
        const count_##N take = a > b; \
        return (lanes_##N)(((count_##N)a & take) | ((count_##N)b & ~take)); \
    } \
    TH_INLINE lanes_##N smaller_##N(lanes_##N a, lanes_##N b) \
    { \
        const count_##N take = a < b; \
        return (lanes_##N)(((count_##N)a & take) | ((count_##N)b & ~take)); \
    }
#define TH_ORDER_IN_REGISTERS(N, M, S) \
    TH_INLINE lanes_##N larger_##N(lanes_##N a, lanes_##N b) { return (lanes_##N)TH_REGISTERS(max_##S)((M)a, (M)b); } \
    TH_INLINE lanes_##N smaller_##N(lanes_##N a, lanes_##N b) { return (lanes_##N)TH_REGISTERS(min_##S)((M)a, (M)b); }
#if defined(__x86_64__)
TH_ORDER_IN_REGISTERS(f8, TH_REGISTER(d), pd)
TH_ORDER_IN_REGISTERS(f4, TH_REGISTER(), ps)
#else
TH_ORDER(f8)
TH_ORDER(f4)
#endif
#if TH_WHOLE_LINES
TH_ORDER_IN_REGISTERS(i8, __m512i, epi64)
TH_ORDER_IN_REGISTERS(i4, __m512i, epi32)
#else
TH_ORDER(i8)
TH_ORDER(i4)
#endif

/* across_OP_N: one vector's lanes combined by halves, in all lanes. */
#define TH_OTHERS_2(l, half) (l) ^ (half), ((l) + 1) ^ (half)
#define TH_OTHERS_4(l, half) TH_OTHERS_2(l, half), TH_OTHERS_2((l) + 2, half)
#define TH_OTHERS_8(l, half) TH_OTHERS_4(l, half), TH_OTHERS_4((l) + 4, half)
#define TH_OTHERS_16(l, half) TH_OTHERS_8(l, half), TH_OTHERS_8((l) + 8, half)
#define TH_ACROSS_STEP(N, W, OP, v, half) v = OP(v, TH_PICK(N, v, v, TH_OTHERS_##W(0, half)));
#define TH_ACROSS_2(N, W, OP, v) TH_ACROSS_STEP(N, W, OP, v, 1)
#define TH_ACROSS_4(N, W, OP, v) TH_ACROSS_STEP(N, W, OP, v, 2) TH_ACROSS_2(N, W, OP, v)
#define TH_ACROSS_8(N, W, OP, v) TH_ACROSS_STEP(N, W, OP, v, 4) TH_ACROSS_4(N, W, OP, v)
#define TH_ACROSS_16(N, W, OP, v) TH_ACROSS_STEP(N, W, OP, v, 8) TH_ACROSS_8(N, W, OP, v)
#define TH_ACROSS_(N, W, OP, v) TH_ACROSS_##W(N, W, OP, v)
#define TH_ACROSS(NAME, N, W, OP) \
    TH_INLINE lanes_##N across_##NAME##_##N(lanes_##N v) \
    { \
        TH_ACROSS_(N, W, OP, v) \
        return v; \
    }
#define TH_PLUS(a, b) ((a) + (b))
TH_ACROSS(larger, f8, TH_WIDTH_8, larger_f8)
TH_ACROSS(larger, f4, TH_WIDTH_4, larger_f4)
TH_ACROSS(sum, f8, TH_WIDTH_8, TH_PLUS)
TH_ACROSS(sum, f4, TH_WIDTH_4, TH_PLUS)

/* bits_N: of each lane of a comparison that holds, a bit. */
#if TH_WHOLE_LINES
TH_INLINE uint32_t bits_8(count_i8 holds) { return _mm512_movepi64_mask((__m512i)holds); }
TH_INLINE uint32_t bits_4(count_i4 holds) { return _mm512_movepi32_mask((__m512i)holds); }
#elif defined(__x86_64__)
TH_INLINE uint32_t bits_8(count_i8 holds) { return (uint32_t)TH_REGISTERS(movemask_pd)((TH_REGISTER(d))holds); }
TH_INLINE uint32_t bits_4(count_i4 holds) { return (uint32_t)TH_REGISTERS(movemask_ps)((TH_REGISTER())holds); }
#else
#define TH_BITS(NAME, N) \
    TH_INLINE uint32_t NAME(count_##N holds) \
    { \
        uint32_t bits = 0; \
        for (int l = 0; l < (int)(sizeof holds / sizeof holds[0]); ++l) \
            bits |= (uint32_t)(holds[l] & 1) << l; \
        return bits; \
    }
TH_BITS(bits_8, i8)
TH_BITS(bits_4, i4)
#endif

/* equal_N: the lanes of a vector that are equal to v's, as bits. any_of_N: whether there are any in four vectors. */
#define TH_EQUAL(N, SIZE) \
    TH_INLINE uint32_t equal_##N(lanes_##N v, lanes_##N a) { return bits_##SIZE(a == v); } \
    TH_INLINE int any_of_##N(lanes_##N v, lanes_##N a, lanes_##N b, lanes_##N c, lanes_##N d) \
    { \
        return bits_##SIZE(((a == v) | (b == v)) | ((c == v) | (d == v))) != 0; \
    }
TH_EQUAL(f8, 8)
TH_EQUAL(f4, 4)
TH_EQUAL(i8, 8)
TH_EQUAL(i4, 4)

/* any_nan_N: whether any lane is nan. nan_or_N: `best`, but nan where any of four is. */
#if TH_WHOLE_LINES
#define TH_NANS(N, M, MASK, S, VALUE) \
    TH_INLINE int any_nan_##N(lanes_##N v) { return _mm512_cmp_##S##_mask((M)v, (M)v, _CMP_UNORD_Q) != 0; } \
    TH_INLINE lanes_##N nan_or_##N(lanes_##N best, lanes_##N x, lanes_##N y, lanes_##N z, lanes_##N u) \
    { \
        const MASK xy = _mm512_cmp_##S##_mask((M)x, (M)y, _CMP_UNORD_Q); \
        const MASK zu = _mm512_cmp_##S##_mask((M)z, (M)u, _CMP_UNORD_Q); \
        return (lanes_##N)_mm512_mask_mov_##S((M)best, (MASK)(xy | zu), _mm512_set1_##S(VALUE)); \
    }
#else
#define TH_NANS(N, M, MASK, S, VALUE) \
    TH_INLINE int any_nan_##N(lanes_##N v) { return TH_BITS_OF_##S(v != v) != 0; } \
    TH_INLINE lanes_##N nan_or_##N(lanes_##N best, lanes_##N x, lanes_##N y, lanes_##N z, lanes_##N u) \
    { \
        const count_##N nan = ((x != x) | (y != y)) | ((z != z) | (u != u)); \
        return (lanes_##N)((count_##N)best | nan); /* all bits are a nan, too */ \
    }
#endif
#define TH_BITS_OF_pd bits_8
#define TH_BITS_OF_ps bits_4
TH_NANS(f8, __m512d, __mmask8, pd, (double)NAN)
TH_NANS(f4, __m512, __mmask16, ps, NAN)
/* Integers have none. */
#define nan_or_i8(best, x, y, z, u) (best)
#define nan_or_i4(best, x, y, z, u) (best)

/* exp(x) of a vector x, as th_exp_lanes_X(x, x), where TH_WIDE of the scalar layer's c/wide.h is 1: c/exponential.h has it. */
#define th_exp_lanes_f8 th_exp_wide_f64_th_f64x8
#define th_exp_lanes_f4 th_exp_wide_f32_th_f32x16

#endif
