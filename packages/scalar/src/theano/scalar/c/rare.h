/* Arguments so rare that they must not slow down the others: there the C library is asked.
 *
 * A call in a branch keeps a loop scalar. So the branch is hidden in a function that has vector forms too,
 * named as the x86 vector ABI has it (_ZGV, a letter for the instruction set, N, the number of lanes, a v
 * for each argument, _, the name; "Vector Function Application Binary Interface", Intel and GNU): a
 * vectorised loop calls the form for its vectors, which looks at all lanes at once and almost always
 * returns what it was given. Elsewhere it is a plain branch: as right, but the loop stays scalar.
 */

/* @snippet rare needs inline */
/* TH_RARE(S, NAME, LIMIT, SLOW): NAME(x, y) is SLOW(x) where |x| > LIMIT, else y; S is f64 or f32. */
#define TH_RARE_SCALAR(T, NAME, LIMIT, SLOW)                                              \
    NAME(T x, T y) { return __builtin_expect(x * x > LIMIT * LIMIT, 0) ? SLOW(x) : y; }
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__ELF__)
#define TH_RARE_BEGIN(T, NAME, LIMIT, SLOW)                                               \
    __attribute__((simd("notinbranch"), const)) T NAME(T x, T y);                         \
    static __attribute__((used)) T NAME##_scalar(T x, T y) __asm__(#NAME);                \
    static T TH_RARE_SCALAR(T, NAME##_scalar, LIMIT, SLOW)                                \
    static __attribute__((noinline, cold)) void NAME##_lanes(const T *x, T *y, int n)     \
    {                                                                                     \
        for (int i = 0; i < n; i++)                                                       \
            y[i] = NAME##_scalar(x[i], y[i]);                                             \
    }
#define TH_RARE_FORM(T, NAME, LIMIT, BYTES, PREFIX, ANY)                                  \
    typedef T NAME##_v##BYTES __attribute__((vector_size(BYTES)));                        \
    static __attribute__((used)) NAME##_v##BYTES NAME##_in##BYTES(NAME##_v##BYTES x, NAME##_v##BYTES y) \
        __asm__("_ZGV" PREFIX "vv_" #NAME);                                               \
    static NAME##_v##BYTES NAME##_in##BYTES(NAME##_v##BYTES x, NAME##_v##BYTES y)         \
    {                                                                                     \
        const NAME##_v##BYTES squared = x * x, limit = (NAME##_v##BYTES){0} + LIMIT * LIMIT; \
        if (__builtin_expect(ANY != 0, 0)) {                                              \
            NAME##_v##BYTES a = x, b = y;                                                 \
            NAME##_lanes((T *)&a, (T *)&b, BYTES / sizeof(T));                            \
            return b;                                                                     \
        }                                                                                 \
        return y;                                                                         \
    }
#if defined(__AVX512F__)
#define TH_RARE_f64_64(T, N, L) TH_RARE_FORM(T, N, L, 64, "eN8", __builtin_ia32_cmppd512_mask(squared, limit, 30, -1, 4))
#define TH_RARE_f32_64(T, N, L) TH_RARE_FORM(T, N, L, 64, "eN16", __builtin_ia32_cmpps512_mask(squared, limit, 30, -1, 4))
#else
#define TH_RARE_f64_64(T, N, L)
#define TH_RARE_f32_64(T, N, L)
#endif
#if defined(__AVX2__)
#define TH_RARE_YMM "d"
#else
#define TH_RARE_YMM "c"
#endif
#if defined(__AVX__)
#define TH_RARE_f64_32(T, N, L) \
    TH_RARE_FORM(T, N, L, 32, TH_RARE_YMM "N4", __builtin_ia32_movmskpd256((__typeof__(x))(squared > limit)))
#define TH_RARE_f32_32(T, N, L) \
    TH_RARE_FORM(T, N, L, 32, TH_RARE_YMM "N8", __builtin_ia32_movmskps256((__typeof__(x))(squared > limit)))
#else
#define TH_RARE_f64_32(T, N, L)
#define TH_RARE_f32_32(T, N, L)
#endif
#define TH_RARE_f64_16(T, N, L) \
    TH_RARE_FORM(T, N, L, 16, "bN2", __builtin_ia32_movmskpd((__typeof__(x))(squared > limit)))
#define TH_RARE_f32_16(T, N, L) \
    TH_RARE_FORM(T, N, L, 16, "bN4", __builtin_ia32_movmskps((__typeof__(x))(squared > limit)))
#define TH_RARE(S, T, NAME, LIMIT, SLOW)                                                  \
    TH_RARE_BEGIN(T, NAME, LIMIT, SLOW)                                                   \
    TH_RARE_##S##_64(T, NAME, LIMIT) TH_RARE_##S##_32(T, NAME, LIMIT) TH_RARE_##S##_16(T, NAME, LIMIT)
#else
#define TH_RARE(S, T, NAME, LIMIT, SLOW) TH_INLINE T TH_RARE_SCALAR(T, NAME, LIMIT, SLOW)
#endif
