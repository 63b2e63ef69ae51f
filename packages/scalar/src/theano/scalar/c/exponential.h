/* exp, expm1 and what is made of them: exp2, tanh, sinh, cosh, sigmoid.
 *
 * Method (W. J. Cody and W. Waite, Software Manual for the Elementary Functions, 1980;
 * P. T. P. Tang, ACM TOMS 15:144, 1989): x = n ln2 + r with |r| <= ln2/2, n ln2 taken
 * off in two parts, exp(r) = 1 + r + r^2 Q(r), then a scaling by 2^n. n is found by
 * adding 1.5*2^52, which leaves its bits at the bottom of the sum. Q is a minimax
 * polynomial (Remez exchange with mpmath, relative error < 2^-61 for double and
 * < 2^-31 for float), evaluated in Estrin's order. Arguments beyond the range are not
 * clamped, which everything would wait for: what comes out there is replaced at the end.
 */

/* @snippet exp_reduce_f64 needs fma bits_f64 */
/* r of x = n ln2 + r; *shifted keeps n in its low bits, *n as a number. */
TH_INLINE double th_exp_reduce_f64(double x, double *n, double *shifted)
{
    const double shift = 0x1.8p52;
    *shifted = TH_FMA(x, 0x1.71547652b82fep+0, shift);
    *n = *shifted - shift;
    return TH_FMA(*n, 0x1.718432a1b0e26p-35, TH_FMA(*n, -0x1.62e42ffp-1, x));
}
/* (exp(r) - 1 - r) / r^2 */
TH_INLINE double th_exp_tail_f64(double r)
{
    double r2 = r * r, r4 = r2 * r2;
    double a = TH_FMA(r, 0x1.5555555555559p-3, 0x1p-1);
    double b = TH_FMA(r, 0x1.111111110f649p-7, 0x1.555555555555ap-5);
    double c = TH_FMA(r, 0x1.a01a01b012737p-13, 0x1.6c16c16c143c9p-10);
    double d = TH_FMA(r, 0x1.71ddf7d5a916cp-19, 0x1.a01a01b0e1b7cp-16);
    double e = TH_FMA(r, 0x1.af5fad8610f20p-26, 0x1.27e4c54441f72p-22);
    double low = TH_FMA(b, r2, a);
    double high = TH_FMA(TH_FMA(0x1.1f95f40781cd9p-29, r2, e), r4, TH_FMA(d, r2, c));
    return TH_FMA(high, r4, low);
}
/* 2^n for a `shifted` as above, n within a double's normal exponents */
TH_INLINE double th_exp2_scale_f64(double shifted)
{
    return th_from_bits_f64((th_bits_f64(shifted) << 52) + 0x3ff0000000000000u);
}

/* @snippet exp2_factors_f64 needs exp_reduce_f64 */
/* 2^n as a product: the first factor is a normal number also where 2^n overflows or is subnormal, so that a
 * result is rounded only by the last product. `tiny` says that n < -1000; n is at most 1027. */
TH_INLINE double th_exp2_factors_f64(double shifted, int tiny, double *rest)
{
    *rest = tiny ? 0x1p-128 : 16.0;
    return th_exp2_scale_f64(shifted + (tiny ? 128.0 : -4.0));
}

/* @snippet exp_plain_f64 needs exp2_factors_f64 */
TH_INLINE double th_exp_plain_f64(double x)
{
    double n, shifted, rest, r = th_exp_reduce_f64(x, &n, &shifted), y, scale;
    scale = th_exp2_factors_f64(shifted, x < -700.0, &rest);
    y = (1.0 + TH_FMA(r * r, th_exp_tail_f64(r), r)) * scale * rest;
    y = x > 710.0 ? __builtin_inf() : y;
    return x < -746.0 ? 0.0 : y;
}

/* @snippet exp_table_f64 needs wide */
/* 2^(i/16); what its roundings leave is a table of its own */
#if TH_WIDE
static const double th_exp_high_f64[16] __attribute__((aligned(64))) = {
    0x1p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
    0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
    0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0,
};
#endif

/* @snippet exp_table_low_f64 needs exp_table_f64 */
#if TH_WIDE
static const double th_exp_low_f64[16] __attribute__((aligned(64))) = {
    0.0, 0x1.8a62e4adc610bp-54, -0x1.19041b9d78a76p-55, 0x1.9b07eb6c70573p-54,
    0x1.6f46ad23182e4p-55, 0x1.ada0911f09ebcp-55, 0x1.d4397afec42e2p-56, 0x1.6324c054647adp-54,
    -0x1.bdd3413b26456p-54, -0x1.41577ee04992fp-55, 0x1.6e9f156864b27p-54, 0x1.c7c46b071f2bep-56,
    0x1.7a1cd345dcc81p-54, 0x1.11065895048ddp-55, 0x1.2ed02d75b3707p-55, -0x1.e9c23179c2893p-54,
};
#endif

/* @snippet exp_reduce_wide_f64 needs exp_table_low_f64 */
/* r of x = n ln2 + r, where n counts sixteenths, so that the floor of n is for the exponent and the low bits of *index
 * for the table; exp(r) - 1 for |r| <= ln2/32 (relative error < 2^-56 of exp(r)). */
#if TH_WIDE
TH_INLINE th_f64x8 th_exp_reduce_wide_f64(th_f64x8 x, th_f64x8 *n, th_i64x8 *index)
{
    th_f64x8 shifted = TH_FMA_f64x8(x, TH_ALL_f64x8(0x1.71547652b82fep+0), TH_ALL_f64x8(0x1.8p+48));
    *index = (th_i64x8)shifted;
    *n = shifted - 0x1.8p+48;
    return TH_FMA_f64x8(*n, TH_ALL_f64x8(-0x1.f473de6af278fp-30), TH_FMA_f64x8(*n, TH_ALL_f64x8(-0x1.62e42fep-1), x));
}
TH_INLINE th_f64x8 th_exp_tail_wide_f64(th_f64x8 r)
{
    th_f64x8 a = TH_FMA_f64x8(r, TH_ALL_f64x8(0x1.11123b491852fp-7), TH_ALL_f64x8(0x1.555555545e7f2p-5)), r2 = r * r, q;
    a = TH_FMA_f64x8(r2, TH_ALL_f64x8(0x1.6c185e4b312efp-10), a);
    q = TH_FMA_f64x8(r, TH_ALL_f64x8(0x1.555555548eba6p-3), TH_ALL_f64x8(0x1.0000000000005p-1));
    return TH_FMA_f64x8(TH_FMA_f64x8(a, r2, q), r2, r);
}
#endif

/* @snippet exp_wide_f64 needs exp_reduce_wide_f64 */
/* No argument needs a question: where x is too large for r to be small, or infinite, r is put back into [-1, 1], and what
 * n scales up or down is positive; nan comes back by n. */
#if TH_WIDE
TH_WIDE_f64(th_exp_wide_f64, 0.0)
TH_INLINE th_f64x8 th_exp_wide_f64_th_f64x8(th_f64x8 x, th_f64x8 unused)
{
    th_i64x8 index;
    th_f64x8 n, r = TH_BOUND_f64x8(th_exp_reduce_wide_f64(x, &n, &index), TH_ALL_f64x8(1.0));
    th_f64x8 a = TH_LOOK_f64x8(th_exp_high_f64, index), low = TH_LOOK_f64x8(th_exp_low_f64, index);
    (void)unused;
    return TH_SCALE_f64x8(a + TH_FMA_f64x8(a, th_exp_tail_wide_f64(r), low), n);
}
#endif

/* @snippet exp_f64 needs exp_wide_f64 exp_plain_f64 */
TH_INLINE double th_exp_f64(double x)
{
#if TH_WIDE
    return th_exp_wide_f64(x, x);
#else
    return th_exp_plain_f64(x);
#endif
}

/* @snippet exp_pair_f64 needs exp2_factors_f64 */
/* exp(x) for -746 <= x <= 712 as a sum of two numbers, about eight bits more than
 * a double; what is built on exp needs them to stay within its error bound. */
TH_INLINE double th_exp_pair_f64(double x, double *low)
{
    double n, shifted, r, t, d, m, scale, rest;
    (void)th_exp_reduce_f64(x, &n, &shifted);
    t = TH_FMA(n, -0x1.62e42ffp-1, x);
    r = TH_FMA(n, 0x1.718432a1b0e26p-35, t);
    d = TH_FMA(n, 0x1.718432a1b0e26p-35, t - r);
    m = TH_FMA(r * r, th_exp_tail_f64(r), d);
    scale = th_exp2_factors_f64(shifted, x < -700.0, &rest);
    t = 1.0 + r;
    m += (1.0 - t) + r;
    r = t + m;
    *low = ((t - r) + m) * scale * rest;
    return r * scale * rest;
}

/* @snippet expm1_f64 needs exp_reduce_f64 */
/* 2^n (exp(r) - 1) + (2^n - 1), in halves so that n = 1024 does not overflow early. */
TH_INLINE double th_expm1_f64(double x)
{
    double n, shifted, r, m, s, y;
    r = th_exp_reduce_f64(x, &n, &shifted);
    m = TH_FMA(r * r, th_exp_tail_f64(r), r);
    s = th_exp2_scale_f64(shifted - 1.0);
    y = 2.0 * TH_FMA(m, s, s - 0.5);
    y = n == 0.0 ? m : y;
    y = x > 710.0 ? __builtin_inf() : y;
    y = x < -50.0 ? -1.0 : y;
    return x == 0.0 ? x : y;
}

/* @snippet tanh_f64 needs exp_reduce_f64 */
/* Below 0.625 an odd minimax polynomial (relative error < 2^-56), above
 * 1 - 2/(exp(2|x|) + 1). */
TH_INLINE double th_tanh_f64(double x)
{
    double n, shifted, r, e, p, y, z4, z8;
    double a = __builtin_fabs(x), z = a * a;
    r = th_exp_reduce_f64(2.0 * a, &n, &shifted);
    e = th_exp2_scale_f64(shifted);
    e = TH_FMA(TH_FMA(r * r, th_exp_tail_f64(r), r), e, e);
    y = 1.0 - 2.0 / (e + 1.0);
    y = a > 22.0 ? 1.0 : y;
    z4 = z * z;
    z8 = z4 * z4;
    p = TH_FMA(TH_FMA(z, 0x1.664f4781f6d95p-6, -0x1.ba1ba1b53104ap-5), z4,
               TH_FMA(z, 0x1.111111110b0c7p-3, -0x1.5555555555503p-2));
    e = TH_FMA(TH_FMA(z, 0x1.336ae5de52e60p-11, -0x1.7d696a6bf8692p-10), z4,
               TH_FMA(z, 0x1.d6cf3ca4d7a4ap-9, -0x1.226e16da0163fp-7));
    r = TH_FMA(-0x1.0e3d6526527bfp-16, z4, TH_FMA(z, 0x1.43e17724a6a20p-14, -0x1.df7a894ed4dbap-13));
    p = TH_FMA(TH_FMA(r, z8, e), z8, p);
    return __builtin_copysign(a < 0.625 ? TH_FMA(a * z, p, a) : y, x);
}

/* @snippet sigmoid_plain_f64 needs exp_reduce_f64 */
/* 1/(1 + exp(-x)), where exp(-x) = 2^n + q. Of the sum, 1 + 2^n is exact, or what it loses does not count, and one step of
 * Newton's method makes good what q and the quotient lose. The left tail, where 2^n would overflow, is computed
 * 2^128 times as large, without the 1: by masks, since gcc makes two ways of a condition that is asked three times, and vectors
 * go both. */
TH_INLINE double th_sigmoid_plain_f64(double x)
{
    double n, shifted, r = th_exp_reduce_f64(-x, &n, &shifted), scale, q, d, y;
    uint64_t one = 0x3ff0000000000000u, tail = -(uint64_t)(x < -600.0), back = one - (tail & 0x0800000000000000u);
    scale = th_from_bits_f64((th_bits_f64(shifted) << 52) + back);
    q = scale * TH_FMA(r * r, th_exp_tail_f64(r), r);
    d = th_from_bits_f64(one & ~tail) + scale;
    y = 1.0 / (d + q);
    y = TH_FMA(y, TH_FMA(-q, y, TH_FMA(-d, y, 1.0)), y) * th_from_bits_f64(back);
    y = x > 700.0 ? 1.0 : y;
    return x < -746.0 ? 0.0 : y;
}

/* @snippet exp2_f64 needs exp2_factors_f64 */
/* The distance to the nearest whole number is exact; the rest is as for exp. */
TH_INLINE double th_exp2_f64(double x)
{
    double shifted = x + 0x1.8p52, r = (x - (shifted - 0x1.8p52)) * 0x1.62e42fefa39efp-1, rest, y, scale;
    scale = th_exp2_factors_f64(shifted, x < -1000.0, &rest);
    y = (1.0 + TH_FMA(r * r, th_exp_tail_f64(r), r)) * scale * rest;
    y = x > 1025.0 ? __builtin_inf() : y;
    return x < -1080.0 ? 0.0 : y;
}

/* @snippet half_exp_f64 needs exp_reduce_f64 */
/* exp(x)/2 for x >= 0: it overflows no earlier than sinh and cosh do. */
TH_INLINE double th_half_exp_f64(double x)
{
    double n, shifted, r = th_exp_reduce_f64(x, &n, &shifted);
    r = (1.0 + TH_FMA(r * r, th_exp_tail_f64(r), r)) * th_exp2_scale_f64(shifted - 4.0) * 8.0;
    return x > 711.0 ? __builtin_inf() : r;
}

/* @snippet cosh_f64 needs half_exp_f64 */
TH_INLINE double th_cosh_f64(double x)
{
    double t = th_half_exp_f64(__builtin_fabs(x));
    return t + 0.25 / t;
}

/* @snippet sinh_f64 needs half_exp_f64 */
/* Below 1 an odd minimax polynomial (relative error < 2^-62), above from the exponential. */
TH_INLINE double th_sinh_f64(double x)
{
    double a = __builtin_fabs(x), t = th_half_exp_f64(a), z = a * a, z2 = z * z, p, q;
    p = TH_FMA(z, 0x1.11111111110a1p-7, 0x1.5555555555556p-3);
    q = TH_FMA(z, 0x1.71de3a45f7149p-19, 0x1.a01a01a0291fdp-13);
    p = TH_FMA(q, z2, p);
    q = TH_FMA(0x1.b4cf799be9580p-41, z2, TH_FMA(z, 0x1.611a3a1cd3fd3p-33, 0x1.ae64676694795p-26));
    p = TH_FMA(q, z2 * z2, p);
    return __builtin_copysign(a < 1.0 ? TH_FMA(a * z, p, a) : t - 0.25 / t, x);
}

/* @snippet exp_reduce_f32 needs fma bits_f32 */
TH_INLINE float th_exp_reduce_f32(float x, float *n, float *shifted)
{
    const float shift = 0x1.8p23f;
    *shifted = TH_FMAF(x, 0x1.715476p+0f, shift);
    *n = *shifted - shift;
    return TH_FMAF(*n, 0x1.e8082ep-16f, TH_FMAF(*n, -0x1.62e8p-1f, x));
}
TH_INLINE float th_exp_tail_f32(float r)
{
    float r2 = r * r;
    float a = TH_FMAF(r, 0x1.555556p-3f, 0x1p-1f);
    float b = TH_FMAF(r, 0x1.11108ep-7f, 0x1.5554acp-5f);
    float c = TH_FMAF(r, 0x1.a1a316p-13f, 0x1.6d75ccp-10f);
    return TH_FMAF(TH_FMAF(c, r2, b), r2, a);
}
TH_INLINE float th_exp2_scale_f32(float shifted)
{
    return th_from_bits_f32((th_bits_f32(shifted) << 23) + 0x3f800000u);
}

/* @snippet exp2_factors_f32 needs exp_reduce_f32 */
/* 2^n as a product: the first factor is a normal number also where 2^n overflows or is subnormal, so that a
 * result is rounded only by the last product. `tiny` says that n < -110; n is at most 131. */
TH_INLINE float th_exp2_factors_f32(float shifted, int tiny, float *rest)
{
    *rest = tiny ? 0x1p-64f : 16.0f;
    return th_exp2_scale_f32(shifted + (tiny ? 64.0f : -4.0f));
}

/* @snippet exp_plain_f32 needs exp2_factors_f32 */
TH_INLINE float th_exp_plain_f32(float x)
{
    float n, shifted, rest, r = th_exp_reduce_f32(x, &n, &shifted), y, scale;
    scale = th_exp2_factors_f32(shifted, x < -80.0f, &rest);
    y = (1.0f + TH_FMAF(r * r, th_exp_tail_f32(r), r)) * scale * rest;
    y = x > 89.0f ? __builtin_inff() : y;
    return x < -105.0f ? 0.0f : y;
}

/* @snippet exp_table_f32 needs wide */
#if TH_WIDE
static const float th_exp_high_f32[16] __attribute__((aligned(64))) = {
    0x1p+0f, 0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
    0x1.306fep+0f, 0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
    0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
    0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f,
};
#endif

/* @snippet exp_table_low_f32 needs exp_table_f32 */
#if TH_WIDE
static const float th_exp_low_f32[16] __attribute__((aligned(64))) = {
    0.0f, 0x1.9f3122p-25f, -0x1.c15742p-27f, 0x1.ceac48p-25f,
    0x1.4636e2p-25f, 0x1.824684p-25f, -0x1.593abcp-25f, -0x1.5bd5ecp-27f,
    0x1.9fcef4p-26f, -0x1.829fdp-25f, 0x1.15506ep-27f, 0x1.51f848p-27f,
    -0x1.a94b14p-26f, -0x1.3d56b2p-27f, -0x1.822dbcp-27f, 0x1.52486cp-27f,
};
#endif

/* @snippet exp_reduce_wide_f32 needs exp_table_f32 */
/* As in double (relative error < 2^-29). */
#if TH_WIDE
TH_INLINE th_f32x16 th_exp_reduce_wide_f32(th_f32x16 x, th_f32x16 *n, th_i32x16 *index)
{
    th_f32x16 shifted = TH_FMA_f32x16(x, TH_ALL_f32x16(0x1.715476p+0f), TH_ALL_f32x16(0x1.8p+19f));
    *index = (th_i32x16)shifted;
    *n = shifted - 0x1.8p+19f;
    return TH_FMA_f32x16(*n, TH_ALL_f32x16(0x1.e8082ep-16f), TH_FMA_f32x16(*n, TH_ALL_f32x16(-0x1.62e8p-1f), x));
}
TH_INLINE th_f32x16 th_exp_tail_wide_f32(th_f32x16 r)
{
    return TH_FMA_f32x16(TH_FMA_f32x16(r, TH_ALL_f32x16(0x1.555764p-3f), TH_ALL_f32x16(0x1.00022p-1f)), r * r, r);
}
#endif

/* @snippet exp_wide_f32 needs exp_reduce_wide_f32 */
/* As in double, but for the low parts of the table: without them it is as exact as the plain form. */
#if TH_WIDE
TH_WIDE_f32(th_exp_wide_f32, 0.0f)
TH_INLINE th_f32x16 th_exp_wide_f32_th_f32x16(th_f32x16 x, th_f32x16 unused)
{
    th_i32x16 index;
    th_f32x16 n, r = TH_BOUND_f32x16(th_exp_reduce_wide_f32(x, &n, &index), TH_ALL_f32x16(1.0f));
    th_f32x16 a = TH_LOOK_f32x16(th_exp_high_f32, index);
    (void)unused;
    return TH_SCALE_f32x16(TH_FMA_f32x16(a, th_exp_tail_wide_f32(r), a), n);
}
#endif

/* @snippet exp_f32 needs exp_wide_f32 exp_plain_f32 */
TH_INLINE float th_exp_f32(float x)
{
#if TH_WIDE
    return th_exp_wide_f32(x, x);
#else
    return th_exp_plain_f32(x);
#endif
}

/* @snippet expm1_f32 needs exp_reduce_f32 */
TH_INLINE float th_expm1_f32(float x)
{
    float n, shifted, r, m, s, y;
    r = th_exp_reduce_f32(x, &n, &shifted);
    m = TH_FMAF(r * r, th_exp_tail_f32(r), r);
    s = th_exp2_scale_f32(shifted - 1.0f);
    y = 2.0f * TH_FMAF(m, s, s - 0.5f);
    y = n == 0.0f ? m : y;
    y = x > 89.0f ? __builtin_inff() : y;
    y = x < -25.0f ? -1.0f : y;
    return x == 0.0f ? x : y;
}

/* @snippet tanh_f32 needs exp_reduce_f32 */
TH_INLINE float th_tanh_f32(float x)
{
    float n, shifted, r, e, p, y;
    float a = __builtin_fabsf(x), z = a * a;
    r = th_exp_reduce_f32(2.0f * a, &n, &shifted);
    e = th_exp2_scale_f32(shifted);
    e = TH_FMAF(TH_FMAF(r * r, th_exp_tail_f32(r), r), e, e);
    y = 1.0f - 2.0f / (e + 1.0f);
    y = a > 10.0f ? 1.0f : y;
    p = TH_FMAF(-0x1.76ac22p-8f, z, 0x1.5256dap-6f);
    p = TH_FMAF(p, z, -0x1.b8444ap-5f);
    p = TH_FMAF(p, z, 0x1.110768p-3f);
    p = TH_FMAF(p, z, -0x1.555534p-2f);
    return __builtin_copysignf(a < 0.625f ? TH_FMAF(a * z, p, a) : y, x);
}

/* @snippet exp_pair_f32 needs exp2_factors_f32 */
TH_INLINE float th_exp_pair_f32(float x, float *low)
{
    float n, shifted, r, t, d, m, scale, rest;
    (void)th_exp_reduce_f32(x, &n, &shifted);
    t = TH_FMAF(n, -0x1.62e8p-1f, x);
    r = TH_FMAF(n, 0x1.e8082ep-16f, t);
    d = TH_FMAF(n, 0x1.e8082ep-16f, t - r);
    m = TH_FMAF(r * r, th_exp_tail_f32(r), d);
    scale = th_exp2_factors_f32(shifted, x < -80.0f, &rest);
    t = 1.0f + r;
    m += (1.0f - t) + r;
    r = t + m;
    *low = ((t - r) + m) * scale * rest;
    return r * scale * rest;
}

/* @snippet sigmoid_plain_f32 needs exp_reduce_f32 */
TH_INLINE float th_sigmoid_plain_f32(float x)
{
    float n, shifted, r = th_exp_reduce_f32(-x, &n, &shifted), scale, q, d, y;
    uint32_t one = 0x3f800000u, tail = -(uint32_t)(x < -60.0f), back = one - (tail & 0x20000000u);
    scale = th_from_bits_f32((th_bits_f32(shifted) << 23) + back);
    q = scale * TH_FMAF(r * r, th_exp_tail_f32(r), r);
    d = th_from_bits_f32(one & ~tail) + scale;
    y = 1.0f / (d + q);
    y = TH_FMAF(y, TH_FMAF(-q, y, TH_FMAF(-d, y, 1.0f)), y) * th_from_bits_f32(back);
    y = x > 87.0f ? 1.0f : y;
    return x < -105.0f ? 0.0f : y;
}

/* @snippet exp2_f32 needs exp2_factors_f32 */
/* The distance to the nearest whole number is exact; the rest is as for exp. */
TH_INLINE float th_exp2_f32(float x)
{
    float shifted = x + 0x1.8p23f, r = (x - (shifted - 0x1.8p23f)) * 0x1.62e43p-1f, rest, y, scale;
    scale = th_exp2_factors_f32(shifted, x < -110.0f, &rest);
    y = (1.0f + TH_FMAF(r * r, th_exp_tail_f32(r), r)) * scale * rest;
    y = x > 129.0f ? __builtin_inff() : y;
    return x < -155.0f ? 0.0f : y;
}

/* @snippet half_exp_f32 needs exp_reduce_f32 */
/* exp(x)/2 for x >= 0: it overflows no earlier than sinh and cosh do. */
TH_INLINE float th_half_exp_f32(float x)
{
    float n, shifted, r = th_exp_reduce_f32(x, &n, &shifted);
    r = (1.0f + TH_FMAF(r * r, th_exp_tail_f32(r), r)) * th_exp2_scale_f32(shifted - 4.0f) * 8.0f;
    return x > 90.0f ? __builtin_inff() : r;
}

/* @snippet cosh_f32 needs half_exp_f32 */
TH_INLINE float th_cosh_f32(float x)
{
    float t = th_half_exp_f32(__builtin_fabsf(x));
    return t + 0.25f / t;
}

/* @snippet sinh_f32 needs half_exp_f32 */
/* Below 1 an odd minimax polynomial (relative error < 2^-33), above from the exponential. */
TH_INLINE float th_sinh_f32(float x)
{
    float a = __builtin_fabsf(x), t = th_half_exp_f32(a), z = a * a, p;
    p = TH_FMAF(TH_FMAF(z, 0x1.7a267cp-19f, 0x1.9ffe12p-13f), z, 0x1.111136p-7f);
    p = TH_FMAF(p, z, 0x1.555556p-3f);
    return __builtin_copysignf(a < 1.0f ? TH_FMAF(a * z, p, a) : t - 0.25f / t, x);
}

/* @snippet sigmoid_wide_f64 needs exp_reduce_wide_f64 sigmoid_plain_f64 */
/* 1/(1 + exp(-x)): the exponential is 2^n (a + q) with a from a table; 1/((1 + 2^n a) + 2^n q) by Newton's method from
 * 14 bits, its residual from both terms, so that their sum need not be exact. */
#if TH_WIDE
#define TH_PLAIN_sigmoid_f64(x, y) th_sigmoid_plain_f64(x)
TH_WIDE_f64(th_sigmoid_wide_f64, 0.0)
TH_WIDE_REST(double, th_f64x8, th_sigmoid_wide_f64, TH_PLAIN_sigmoid_f64)
TH_INLINE th_f64x8 th_sigmoid_wide_f64_th_f64x8(th_f64x8 x, th_f64x8 unused)
{
    th_i64x8 index;
    th_f64x8 n, q = th_exp_tail_wide_f64(th_exp_reduce_wide_f64(-x, &n, &index)), a = TH_LOOK_f64x8(th_exp_high_f64, index), d, y;
    q = TH_FMA_f64x8(a, q, TH_LOOK_f64x8(th_exp_low_f64, index));
    d = TH_ALL_f64x8(0x1p+0) + TH_SCALE_f64x8(a, n);
    q = TH_SCALE_f64x8(q, n);
    y = __builtin_ia32_rcp14pd512_mask(d + q, d, -1);
    a = TH_FMA_f64x8(-q, y, TH_FMA_f64x8(-d, y, TH_ALL_f64x8(0x1p+0)));
    y = TH_FMA_f64x8(y, a, y);
    a = TH_FMA_f64x8(-q, y, TH_FMA_f64x8(-d, y, TH_ALL_f64x8(0x1p+0)));
    y = TH_FMA_f64x8(y, a, y);
    int which = ~__builtin_ia32_cmppd512_mask(x * x, TH_ALL_f64x8(0x1.de84p+18), 1, -1, 4) & 0xff;
    return __builtin_expect(which, 0) ? th_sigmoid_wide_f64_rest(x, unused, y, which) : y;
}
#endif

/* @snippet sigmoid_f64 needs sigmoid_wide_f64 */
TH_INLINE double th_sigmoid_f64(double x)
{
#if TH_WIDE
    return th_sigmoid_wide_f64(x, x);
#else
    return th_sigmoid_plain_f64(x);
#endif
}

/* @snippet sigmoid_wide_f32 needs exp_reduce_wide_f32 exp_table_low_f32 sigmoid_plain_f32 */
/* As in double. */
#if TH_WIDE
#define TH_PLAIN_sigmoid_f32(x, y) th_sigmoid_plain_f32(x)
TH_WIDE_f32(th_sigmoid_wide_f32, 0.0f)
TH_WIDE_REST(float, th_f32x16, th_sigmoid_wide_f32, TH_PLAIN_sigmoid_f32)
TH_INLINE th_f32x16 th_sigmoid_wide_f32_th_f32x16(th_f32x16 x, th_f32x16 unused)
{
    th_i32x16 index;
    th_f32x16 n, q = th_exp_tail_wide_f32(th_exp_reduce_wide_f32(-x, &n, &index)), a = TH_LOOK_f32x16(th_exp_high_f32, index), d, y;
    q = TH_FMA_f32x16(a, q, TH_LOOK_f32x16(th_exp_low_f32, index));
    d = TH_ALL_f32x16(0x1p+0f) + TH_SCALE_f32x16(a, n);
    q = TH_SCALE_f32x16(q, n);
    y = __builtin_ia32_rcp14ps512_mask(d + q, d, -1);
    a = TH_FMA_f32x16(-q, y, TH_FMA_f32x16(-d, y, TH_ALL_f32x16(0x1p+0f)));
    y = TH_FMA_f32x16(y, a, y);
    int which = ~__builtin_ia32_cmpps512_mask(x * x, TH_ALL_f32x16(0x1.ce4p+12f), 1, -1, 4) & 0xffff;
    return __builtin_expect(which, 0) ? th_sigmoid_wide_f32_rest(x, unused, y, which) : y;
}
#endif

/* @snippet sigmoid_f32 needs sigmoid_wide_f32 */
TH_INLINE float th_sigmoid_f32(float x)
{
#if TH_WIDE
    return th_sigmoid_wide_f32(x, x);
#else
    return th_sigmoid_plain_f32(x);
#endif
}
