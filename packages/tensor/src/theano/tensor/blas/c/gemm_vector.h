/* Vectors of the element type T, as wide as the registers of the level that this library is built for.
 *
 * Included with T and NAME(x) defined; T_IS_FLOAT tells the two types apart. */
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

/* A tile is ROWS rows of VECTORS vectors. Its sums, a row's vectors of the right factor and one number of the left
 * factor fit into the registers: 32 of them with AVX-512 and NEON, else 16. With RIGHT_RESTS, a panel of the right factor
 * rests in the first-level cache while those of the left one go by, else the other way round: the narrower one should
 * go by, but a whole panel of the widest vectors leaves no space in that cache. */
#if defined(__AVX512F__)
#define VECTOR_NAME "AVX-512"
#define VECTOR_BYTES 64
#define ROWS 8
#define RIGHT_RESTS 0
#elif defined(__AVX2__) && defined(__FMA__)
#define VECTOR_NAME "AVX2"
#define VECTOR_BYTES 32
#define ROWS 4
#define RIGHT_RESTS 1
#elif defined(__ARM_NEON) && defined(__aarch64__)
#define VECTOR_NAME "NEON"
#define VECTOR_BYTES 16
#define ROWS 8
#define RIGHT_RESTS 0
#else
#define VECTOR_NAME "vectors of 128 bits"
#define VECTOR_BYTES 16
#define ROWS 4
#define RIGHT_RESTS 1
#endif
#define VECTORS 3
/* A tile of fewer vectors may have more rows. */
#define TALL (ROWS * 3 / 2)
#define LANES ((int64_t)(VECTOR_BYTES / sizeof(T)))
#define COLUMNS (VECTORS * LANES)
/* The terms of a slice: a panel of the factor that rests then takes three quarters of a small first-level cache. Up
 * to as many terms, each element of a product is one sum, whatever the shape. */
#define SLICE ((int64_t)(TH_GEMM_RESTING_BYTES / ((RIGHT_RESTS ? COLUMNS : ROWS) * (int64_t)sizeof(T))))

typedef T vec __attribute__((vector_size(VECTOR_BYTES), may_alias));
/* The same at any address, unaligned. */
typedef T vec_at __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));

#define INLINE static inline __attribute__((always_inline, unused))

INLINE vec load(const void *p) { return *(const vec_at *)p; }
INLINE void store(void *p, vec v) { *(vec_at *)p = v; }
INLINE vec all(T x) { return x - (vec){0}; }

/* a b + c, rounded once where the CPU can. */
INLINE vec fused(vec a, vec b, vec c)
{
#if defined(__AVX512F__) && T_IS_FLOAT
    return (vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX512F__)
    return (vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif VECTOR_BYTES == 32 && T_IS_FLOAT
    return (vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif VECTOR_BYTES == 32
    return (vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__ARM_NEON) && defined(__aarch64__) && T_IS_FLOAT
    return (vec)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#elif defined(__ARM_NEON) && defined(__aarch64__)
    return (vec)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
    return a * b + c;
#endif
}

/* The first n <= LANES elements at p, the others 0; and back. Nothing beyond them is touched. */
INLINE vec load_some(const void *p, int64_t n)
{
#if defined(__AVX512F__) && T_IS_FLOAT
    return (vec)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#elif defined(__AVX512F__)
    return (vec)_mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), p);
#elif VECTOR_BYTES == 32 && T_IS_FLOAT
    static const int32_t mask[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return (vec)_mm256_maskload_ps(p, _mm256_loadu_si256((const __m256i *)(mask + 8 - n)));
#elif VECTOR_BYTES == 32
    static const int64_t mask[8] = {-1, -1, -1, -1};
    return (vec)_mm256_maskload_pd(p, _mm256_loadu_si256((const __m256i *)(mask + 4 - n)));
#else
    vec v = {0};
    for (int64_t l = 0; l < n; ++l)
        memcpy((T *)&v + l, (const T *)p + l, sizeof(T));
    return v;
#endif
}

INLINE void store_some(void *p, vec v, int64_t n)
{
#if defined(__AVX512F__) && T_IS_FLOAT
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)v);
#elif defined(__AVX512F__)
    _mm512_mask_storeu_pd(p, (__mmask8)((1u << n) - 1), (__m512d)v);
#elif VECTOR_BYTES == 32
    /* AMD's CPUs take dozens of cycles for a masked store. */
    char *to = p;
    if (n == LANES) {
        store(p, v);
        return;
    }
    __m128i part = _mm256_castsi256_si128((__m256i)v);
    int64_t bytes = n * (int64_t)sizeof(T);
    if (bytes & 16) {
        _mm_storeu_si128((__m128i *)to, part);
        part = _mm256_extracti128_si256((__m256i)v, 1);
        to += 16;
    }
    if (bytes & 8) {
        _mm_storel_epi64((__m128i *)to, part);
        part = _mm_unpackhi_epi64(part, part);
        to += 8;
    }
    if (bytes & 4)
        _mm_storeu_si32(to, part);
#else
    for (int64_t l = 0; l < n; ++l)
        memcpy((T *)p + l, (T *)&v + l, sizeof(T));
#endif
}

/* The sum of a vector's elements, in halves. */
INLINE T sum_of(vec v)
{
#if defined(__AVX512F__) && T_IS_FLOAT
    return _mm512_reduce_add_ps((__m512)v);
#elif defined(__AVX512F__)
    return _mm512_reduce_add_pd((__m512d)v);
#else
    T part[LANES], *p = part;
    store(part, v);
    for (int64_t n = LANES / 2; n > 0; n /= 2)
        for (int64_t l = 0; l < n; ++l)
            p[l] += p[l + n];
    return p[0];
#endif
}
