/* What every other snippet stands on: bit casts, fused multiply-add, selects.
 *
 * The functions of this folder are plain C without branches, loops or tables, so
 * that a compiler widens them inside a `for` loop to whatever vectors it has.
 * A block starts at a `@snippet NAME [needs NAME ...]` comment; a kernel gets only
 * the blocks that it uses (theano.scalar.c.support).
 *
 * A block for N, such as exp_fN, is for double and for float: floatN and uintN_t are their types, names in capitals
 * have values in tables for both (theano.scalar.c.widths).
 */

/* @snippet inline */
#if defined(__GNUC__) || defined(__clang__)
#define TH_INLINE static inline __attribute__((always_inline, unused))
#else
#define TH_INLINE static inline
#endif

/* @snippet fma needs inline */
/* Without the instruction, fma() would be a slow library call: the plain form is
 * used instead, and the algorithms below stay right with it (their constants have
 * enough trailing zeros), only up to half an ULP less accurate. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__aarch64__)
#define TH_FUSED 1
#define TH_FMA(a, b, c) __builtin_fma((a), (b), (c))
#define TH_FMAF(a, b, c) __builtin_fmaf((a), (b), (c))
#else
#define TH_FUSED 0
#define TH_FMA(a, b, c) ((a) * (b) + (c))
#define TH_FMAF(a, b, c) ((a) * (b) + (c))
#endif

/* @snippet cmplx needs inline */
/* Some C libraries make complex numbers for GCC only. */
#ifndef CMPLX
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif
#ifndef CMPLXF
#define CMPLXF(re, im) __builtin_complex((float)(re), (float)(im))
#endif

/* @snippet bits_fN needs inline */
TH_INLINE uintN_t th_bits_fN(floatN x) { uintN_t u; memcpy(&u, &x, sizeof u); return u; }
TH_INLINE floatN th_from_bits_fN(uintN_t u) { floatN x; memcpy(&x, &u, sizeof x); return x; }

/* @snippet select_fN needs bits_fN */
/* which ? a : b, in a form that the compiler does not make branches of where one condition decides often, as it does
 * where an expression has the sine and the cosine of one number: then nothing is widened. */
TH_INLINE floatN th_select_fN(uintN_t which, floatN a, floatN b)
{
    return th_from_bits_fN((th_bits_fN(a) & (0 - which)) | (th_bits_fN(b) & (which - 1)));
}

/* @snippet half needs bits_f32 */
/* IEEE binary16 is only a storage format here: loaded to float, stored from float.
 * A half's bits, moved to a float's places, are its value times 2^-112, subnormals
 * included; only infinity and nan need their exponent completed. */
TH_INLINE float th_load_f16(uint16_t h)
{
    uint32_t magnitude = (uint32_t)(h & 0x7fffu) << 13;
    float x = th_from_bits_f32(magnitude) * 0x1p112f;
    uint32_t u = th_bits_f32(x) | (magnitude >= 0x0f800000u ? 0x7f800000u : 0u);
    return th_from_bits_f32(u | (uint32_t)(h & 0x8000u) << 16);
}
/* To nearest, ties to even. Subnormal results are rounded by the addition of 0.5,
 * whose last place is the half's smallest step; the others by carrying into the
 * kept bits. */
TH_INLINE uint16_t th_store_f16(float x)
{
    uint32_t u = th_bits_f32(x), sign = u >> 16 & 0x8000u;
    u &= 0x7fffffffu;
    uint32_t small = th_bits_f32(th_from_bits_f32(u) + 0.5f) - 0x3f000000u;
    uint32_t normal = (u - 0x38000000u + 0xfffu + (u >> 13 & 1u)) >> 13;
    uint32_t special = u > 0x7f800000u ? 0x7e00u : 0x7c00u;
    uint32_t r = u < 0x38800000u ? small : normal;
    r = u >= 0x47800000u ? special : r;
    return (uint16_t)(r | sign);
}

/* @snippet round_f16 needs half bits_f64 */
/* The half nearest to a double, as a float. Going through the nearest float would
 * round twice; the float rounded to odd keeps "there was more" in its last bit. */
TH_INLINE float th_round_f16(double x)
{
    uint32_t u = th_bits_f32((float)x);
    double up = (double)th_from_bits_f32(u);
    u -= (up < 0 ? -up : up) > (x < 0 ? -x : x);
    u |= (double)th_from_bits_f32(u) != x;
    return th_load_f16(th_store_f16(th_from_bits_f32(u)));
}

/* @snippet cast_fN needs inline */
/* Floats to whole numbers, every value defined and the same in vectors and out of them (C leaves to the machine what
 * does not fit; `Cast` says what it is here): out of range is the least number of 32 or 64 bits, narrower dtypes take
 * its low bits, and what only an unsigned number holds is counted from the middle of its range. */
TH_INLINE int32_t th_i32_of_fN(floatN x) { return (int32_t)(__builtin_fabs(x) < 0x1p31 ? x : -0x1p31); }
TH_INLINE int64_t th_i64_of_fN(floatN x) { return (int64_t)(__builtin_fabs(x) < 0x1p63 ? x : -0x1p63); }
TH_INLINE uint32_t th_u32_of_fN(floatN x)
{
    return (uint32_t)th_i32_of_fN(x >= 0x1p31 ? x - 0x1p31 : x) ^ (x >= 0x1p31 ? 0x80000000u : 0u);
}
TH_INLINE uint64_t th_u64_of_fN(floatN x)
{
    return (uint64_t)th_i64_of_fN(x >= 0x1p63 ? x - 0x1p63 : x) ^ (x >= 0x1p63 ? UINT64_C(1) << 63 : 0);
}
