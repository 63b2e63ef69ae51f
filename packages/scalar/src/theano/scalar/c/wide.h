/* Functions that 512-bit registers make in another way: with tables of sixteen numbers held in two registers, and with
 * the instructions that split a number and scale it by a power of two.
 *
 * A compiler does not find these forms by itself in plain C. So, as in rare.h, a function is declared to have vector
 * forms, named as the x86 vector ABI has it, and these are written here; a widened loop calls the one for its vectors.
 * Lanes that the form does not treat (zeros, infinities, ...) are put right by the plain form, which is the only one
 * where TH_WIDE is 0. A number alone goes through the same form as sixteen of them: a result does not depend on where
 * in a loop it is computed.
 */

/* @snippet wide needs fma */
#if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && defined(__x86_64__) && defined(__ELF__) && defined(__AVX512DQ__)
#define TH_WIDE 1
typedef double th_f64x2 __attribute__((vector_size(16))), th_f64x4 __attribute__((vector_size(32)));
typedef double th_f64x8 __attribute__((vector_size(64)));
typedef float th_f32x4 __attribute__((vector_size(16))), th_f32x8 __attribute__((vector_size(32)));
typedef float th_f32x16 __attribute__((vector_size(64)));
typedef long long th_i64x8 __attribute__((vector_size(64)));
typedef int th_i32x16 __attribute__((vector_size(64)));
#define TH_ALL_f64x8(c) ((th_f64x8){} + (c))
#define TH_ALL_f32x16(c) ((th_f32x16){} + (c))
#define TH_FMA_f64x8(a, b, c) __builtin_ia32_vfmaddpd512_mask((a), (b), (c), -1, 4)
#define TH_FMA_f32x16(a, b, c) __builtin_ia32_vfmaddps512_mask((a), (b), (c), -1, 4)
#define TH_SCALE_f64x8(x, n) __builtin_ia32_scalefpd512_mask((x), (n), (x), -1, 4)
#define TH_SCALE_f32x16(x, n) __builtin_ia32_scalefps512_mask((x), (n), (x), -1, 4)
/* table[index mod 16] */
#define TH_LOOK_f64x8(table, index) \
    __builtin_ia32_vpermt2varpd512_mask((index), *(const th_f64x8 *)(table), *(const th_f64x8 *)((table) + 8), -1)
#define TH_LOOK_f32x16(table, index) \
    __builtin_ia32_permvarsf512_mask(*(const th_f32x16 *)(table), (index), (th_f32x16){}, -1)
/* `least` with the sign of x where |x| is not below `least`, or x is no number; else x */
#define TH_BOUND_f64x8(x, least) __builtin_ia32_rangepd512_mask((x), (least), 2, (x), -1, 4)
#define TH_BOUND_f32x16(x, least) __builtin_ia32_rangeps512_mask((x), (least), 2, (x), -1, 4)
#define TH_SQRT_f64x8(x) __builtin_ia32_sqrtpd512_mask((x), (x), -1, 4)
#define TH_SQRT_f32x16(x) __builtin_ia32_sqrtps512_mask((x), (x), -1, 4)
#define TH_ABS_f64x8(x) ((th_f64x8)((th_i64x8)(x) & 0x7fffffffffffffff))
#define TH_ABS_f32x16(x) ((th_f32x16)((th_i32x16)(x) & 0x7fffffff))
/* a where a comparison holds, else b; the larger and the smaller of two numbers, and nan if one is nan */
#define TH_WIDE_CHOICES(F, I, LARGER, SMALLER)                                            \
    TH_INLINE th_##F TH_CHOOSE_##F(th_##I which, th_##F a, th_##F b)                      \
    {                                                                                     \
        return (th_##F)((which & (th_##I)a) | (~which & (th_##I)b));                      \
    }                                                                                     \
    TH_INLINE th_##F TH_MAX_##F(th_##F a, th_##F b) { return TH_CHOOSE_##F(a != a, a, LARGER(a, b, a, -1, 4)); } \
    TH_INLINE th_##F TH_MIN_##F(th_##F a, th_##F b) { return TH_CHOOSE_##F(a != a, a, SMALLER(a, b, a, -1, 4)); }
TH_WIDE_CHOICES(f64x8, i64x8, __builtin_ia32_maxpd512_mask, __builtin_ia32_minpd512_mask)
TH_WIDE_CHOICES(f32x16, i32x16, __builtin_ia32_maxps512_mask, __builtin_ia32_minps512_mask)
/* vectors that need not begin at a line */
typedef double th_f64x8_near __attribute__((vector_size(64), aligned(8), may_alias));
typedef float th_f32x16_near __attribute__((vector_size(64), aligned(4), may_alias));
/* A function for 64 bytes is called NAME_th_f64x8: a loop that is written for such vectors has it inline. After it,
 * TH_WIDE_f64(NAME, FILLER) declares NAME(x, y) and all its other forms, for loops that the compiler widens. Shorter
 * vectors are filled up with FILLER. Of TH_WIDE_REST(double, th_f64x8, NAME, PLAIN),
 * NAME_rest(x, y, z, which) puts PLAIN(x, y) into the lanes of z that have a bit in `which`. */
#define TH_WIDE_FORM(NAME, ISA, V, L, FILLER)                                             \
    static __attribute__((used)) V NAME##_##V(V x, V y) __asm__("_ZGV" ISA "vv_" #NAME);  \
    static V NAME##_##V(V x, V y)                                                         \
    {                                                                                     \
        L a = (L){} + FILLER, b = a;                                                      \
        memcpy(&a, &x, sizeof x);                                                         \
        memcpy(&b, &y, sizeof y);                                                         \
        a = NAME##_called(a, b);                                                          \
        memcpy(&x, &a, sizeof x);                                                         \
        return x;                                                                         \
    }
#define TH_WIDE_BEGIN(T, NAME, ISA, L)                                                    \
    __attribute__((simd("notinbranch"), const)) T NAME(T x, T y);                         \
    TH_INLINE L NAME##_##L(L x, L y);                                                     \
    static __attribute__((used, noinline)) L NAME##_called(L x, L y) __asm__("_ZGV" ISA "vv_" #NAME); \
    static L NAME##_called(L x, L y) { return NAME##_##L(x, y); }                         \
    static __attribute__((used)) T NAME##_one(T x, T y) __asm__(#NAME);                   \
    static T NAME##_one(T x, T y) { return NAME##_called(x - (L){}, y - (L){})[0]; }
#define TH_WIDE_f64(NAME, FILLER)                                                         \
    TH_WIDE_BEGIN(double, NAME, "eN8", th_f64x8)                                          \
    TH_WIDE_FORM(NAME, "dN4", th_f64x4, th_f64x8, FILLER)                                 \
    TH_WIDE_FORM(NAME, "bN2", th_f64x2, th_f64x8, FILLER)
#define TH_WIDE_f32(NAME, FILLER)                                                         \
    TH_WIDE_BEGIN(float, NAME, "eN16", th_f32x16)                                         \
    TH_WIDE_FORM(NAME, "dN8", th_f32x8, th_f32x16, FILLER)                                \
    TH_WIDE_FORM(NAME, "bN4", th_f32x4, th_f32x16, FILLER)
#define TH_WIDE_REST(T, L, NAME, PLAIN)                                                   \
    static __attribute__((noinline)) L NAME##_rest(L x, L y, L z, int which)              \
    {                                                                                     \
        T a[sizeof x / sizeof(T)], b[sizeof x / sizeof(T)], c[sizeof x / sizeof(T)];      \
        memcpy(a, &x, sizeof x);                                                          \
        memcpy(b, &y, sizeof y);                                                          \
        memcpy(c, &z, sizeof z);                                                          \
        for (int i = 0; i < (int)(sizeof x / sizeof(T)); i++)                             \
            c[i] = which >> i & 1 ? PLAIN(a[i], b[i]) : c[i];                             \
        memcpy(&z, c, sizeof z);                                                          \
        return z;                                                                         \
    }
#else
#define TH_WIDE 0
#endif
