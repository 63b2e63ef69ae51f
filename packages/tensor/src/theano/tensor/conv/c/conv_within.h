/* Vectors of rows that have zeros before and after them, which are not written anywhere.
 *
 * The places from x on that are in a row of `n`, and their numbers; the others are 0. */
#if defined(__AVX512F__) && T_IS_FLOAT
typedef __mmask16 NAME(within);
#elif defined(__AVX512F__)
typedef __mmask8 NAME(within);
#elif VECTOR_BYTES == 32
typedef __m256i NAME(within);
#else
typedef struct { int64_t lo, hi; } NAME(within);
#endif
INLINE NAME(within) NAME(places_within)(int64_t x, int64_t n)
{
    const int64_t lo = x < 0 ? (x < -LANES ? LANES : -x) : 0, hi = n < x ? 0 : n - x < LANES ? n - x : LANES;
#if defined(__AVX512F__)
    return (NAME(within))(((1u << hi) - 1) & ~((1u << lo) - 1));
#elif VECTOR_BYTES == 32 && T_IS_FLOAT
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), behind = _mm256_set1_epi32((int)hi);
    return _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32((int)lo), lane), _mm256_cmpgt_epi32(behind, lane));
#elif VECTOR_BYTES == 32
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3), behind = _mm256_set1_epi64x(hi);
    return _mm256_andnot_si256(_mm256_cmpgt_epi64(_mm256_set1_epi64x(lo), lane), _mm256_cmpgt_epi64(behind, lane));
#else
    return (NAME(within)){lo, hi};
#endif
}
INLINE vec NAME(load_within)(const char *p, NAME(within) places)
{
#if defined(__AVX512F__) && T_IS_FLOAT
    return (vec)_mm512_maskz_loadu_ps(places, p);
#elif defined(__AVX512F__)
    return (vec)_mm512_maskz_loadu_pd(places, p);
#elif VECTOR_BYTES == 32 && T_IS_FLOAT
    return (vec)_mm256_maskload_ps((const float *)p, places);
#elif VECTOR_BYTES == 32
    return (vec)_mm256_maskload_pd((const double *)p, places);
#else
    if (places.lo == 0 && places.hi == LANES)
        return load(p);
    T some[LANES] = {0};
    for (int64_t l = places.lo; l < places.hi; ++l)
        memcpy(some + l, p + l * (int64_t)sizeof(T), sizeof(T));
    return load(some);
#endif
}

/* A row of `n` zeros. NULL with the error set if out of memory. */
static const char *NAME(row_of_zeros)(th_ctx *ctx, int64_t n)
{
    char *zeros = ctx->rt->scratch(ctx, (size_t)n * sizeof(T) + 64);
    if (zeros != NULL)
        memset(zeros, 0, (size_t)n * sizeof(T));
    return zeros;
}
