/* Arguments so rare that they must not slow down the others: there a slower function is called.
 *
 * A call in a branch keeps a loop scalar. So the branch is hidden in a function that has vector forms too,
 * named as the x86 vector ABI has it (_ZGV, a letter for the instruction set, N, the number of lanes, a v
 * for each argument, _, the name; "Vector Function Application Binary Interface", Intel and GNU): a
 * vectorised loop calls the form for its vectors, which looks at all lanes at once and almost always
 * returns what it was given. Elsewhere it is a plain branch: as right, but the loop stays scalar.
 */

/* @snippet rare needs inline */
/* TH_RARE_f64(NAME, TEST, SLOW) defines NAME(x, y, usual): SLOW(x, y) where TEST(x, y), else `usual`. TEST has
 * only operators, without branches: it is used on vectors too. */
#define TH_RARE_SCALAR(T, NAME, TEST, SLOW)                                               \
    NAME(T x, T y, T usual) { (void)y; return __builtin_expect(TEST(x, y), 0) ? SLOW(x, y) : usual; }
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__ELF__)
#define TH_RARE_BEGIN(T, NAME, TEST, SLOW)                                                \
    __attribute__((simd("notinbranch"), const)) T NAME(T x, T y, T usual);                \
    static __attribute__((used)) T NAME##_one(T x, T y, T usual) __asm__(#NAME);          \
    static T TH_RARE_SCALAR(T, NAME##_one, TEST, SLOW)                                    \
    static __attribute__((noinline, cold)) void NAME##_lanes(const T *x, const T *y, T *z, int n) \
    {                                                                                     \
        for (int i = 0; i < n; i++)                                                       \
            z[i] = NAME##_one(x[i], y[i], z[i]);                                          \
    }
#define TH_RARE_FORM(T, NAME, TEST, ISA, V, ANY)                                          \
    static __attribute__((used)) V NAME##_##V(V x, V y, V usual) __asm__("_ZGV" ISA "vvv_" #NAME); \
    static V NAME##_##V(V x, V y, V usual)                                                \
    {                                                                                     \
        if (__builtin_expect(ANY((TEST(x, y))) != 0, 0)) {                                \
            V a = x, b = y, c = usual;                                                    \
            NAME##_lanes((T *)&a, (T *)&b, (T *)&c, sizeof(V) / sizeof(T));               \
            return c;                                                                     \
        }                                                                                 \
        return usual;                                                                     \
    }
typedef double th_f64x2 __attribute__((vector_size(16))), th_f64x4 __attribute__((vector_size(32)));
typedef double th_f64x8 __attribute__((vector_size(64)));
typedef float th_f32x4 __attribute__((vector_size(16))), th_f32x8 __attribute__((vector_size(32)));
typedef float th_f32x16 __attribute__((vector_size(64)));
#define TH_ANY_f64x2(mask) __builtin_ia32_movmskpd((th_f64x2)(mask))
#define TH_ANY_f64x4(mask) __builtin_ia32_movmskpd256((th_f64x4)(mask))
#define TH_ANY_f32x4(mask) __builtin_ia32_movmskps((th_f32x4)(mask))
#define TH_ANY_f32x8(mask) __builtin_ia32_movmskps256((th_f32x8)(mask))
#define TH_ANY_f64x8(mask) __builtin_ia32_ptestmq512(mask, mask, -1)
#define TH_ANY_f32x16(mask) __builtin_ia32_ptestmd512(mask, mask, -1)
#if defined(__AVX512F__)
#define TH_RARE_ZMM(T, NAME, TEST, ISA, V, ANY) TH_RARE_FORM(T, NAME, TEST, "e" ISA, V, ANY)
#else
#define TH_RARE_ZMM(T, NAME, TEST, ISA, V, ANY)
#endif
#if defined(__AVX2__)
#define TH_RARE_YMM(T, NAME, TEST, ISA, V, ANY) TH_RARE_FORM(T, NAME, TEST, "d" ISA, V, ANY)
#elif defined(__AVX__)
#define TH_RARE_YMM(T, NAME, TEST, ISA, V, ANY) TH_RARE_FORM(T, NAME, TEST, "c" ISA, V, ANY)
#else
#define TH_RARE_YMM(T, NAME, TEST, ISA, V, ANY)
#endif
#define TH_RARE_f64(NAME, TEST, SLOW)                                                     \
    TH_RARE_BEGIN(double, NAME, TEST, SLOW)                                               \
    TH_RARE_ZMM(double, NAME, TEST, "N8", th_f64x8, TH_ANY_f64x8)                         \
    TH_RARE_YMM(double, NAME, TEST, "N4", th_f64x4, TH_ANY_f64x4)                         \
    TH_RARE_FORM(double, NAME, TEST, "bN2", th_f64x2, TH_ANY_f64x2)
#define TH_RARE_f32(NAME, TEST, SLOW)                                                     \
    TH_RARE_BEGIN(float, NAME, TEST, SLOW)                                                \
    TH_RARE_ZMM(float, NAME, TEST, "N16", th_f32x16, TH_ANY_f32x16)                       \
    TH_RARE_YMM(float, NAME, TEST, "N8", th_f32x8, TH_ANY_f32x8)                          \
    TH_RARE_FORM(float, NAME, TEST, "bN4", th_f32x4, TH_ANY_f32x4)
#else
#define TH_RARE_f64(NAME, TEST, SLOW) TH_INLINE double TH_RARE_SCALAR(double, NAME, TEST, SLOW)
#define TH_RARE_f32(NAME, TEST, SLOW) TH_INLINE float TH_RARE_SCALAR(float, NAME, TEST, SLOW)
#endif
