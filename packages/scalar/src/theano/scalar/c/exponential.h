/* exp, expm1 and functions of them: exp2, tanh, sinh, cosh, sigmoid.
 *
 * Method (W. J. Cody and W. Waite, Software Manual for the Elementary Functions, 1980;
 * P. T. P. Tang, ACM TOMS 15:144, 1989): x = n ln2 + r with |r| <= ln2/2, n ln2 taken
 * off in two parts, exp(r) = 1 + r + r^2 Q(r), then a scaling by 2^n. n is found by
 * adding 1.5*2^52, which leaves its bits at the bottom of the sum. Q is a minimax
 * polynomial (Remez exchange with mpmath, relative error < 2^-61 for double and
 * < 2^-31 for float), evaluated in Estrin's order. Arguments beyond the range are not
 * clamped, which everything would wait for: what comes out there is replaced at the end.
 */

/* @where N is        64                      32
 * SHIFT              0x1.8p52                0x1.8p23          a sum with it has a whole number in its last bits
 * DIGITS             52                      23                the bits below the exponent
 * ONE                0x3ff0000000000000u     0x3f800000u       the bits of 1
 * MINUS_LN2_HIGH     -0x1.62e42ffp-1         -0x1.62e8p-1      -ln2 in two parts, the first of few bits
 * MINUS_LN2_LOW      0x1.718432a1b0e26p-35   0x1.e8082ep-16
 * EXP_MOST           710.0                   89.0              exp is infinite above,
 * EXP_LEAST          -746.0                  -105.0            zero below
 * EXP_TINY           -700.0                  -80.0             and perhaps subnormal below
 */

/* @snippet exp_reduce_fN needs fma bits_fN */
/* r of x = n ln2 + r; *shifted keeps n in its low bits, *n as a number. */
TH_INLINE floatN th_exp_reduce_fN(floatN x, floatN *n, floatN *shifted)
{
    const floatN shift = SHIFT;
    *shifted = TH_FMA(x, 0x1.71547652b82fep+0, shift);
    *n = *shifted - shift;
    return TH_FMA(*n, MINUS_LN2_LOW, TH_FMA(*n, MINUS_LN2_HIGH, x));
}
/* (exp(r) - 1 - r) / r^2 */
TH_INLINE floatN th_exp_tail_fN(floatN r)
{
#if N == 64
    floatN r2 = r * r, r4 = r2 * r2;
    floatN a = TH_FMA(r, 0x1.5555555555559p-3, 0x1p-1);
    floatN b = TH_FMA(r, 0x1.111111110f649p-7, 0x1.555555555555ap-5);
    floatN c = TH_FMA(r, 0x1.a01a01b012737p-13, 0x1.6c16c16c143c9p-10);
    floatN d = TH_FMA(r, 0x1.71ddf7d5a916cp-19, 0x1.a01a01b0e1b7cp-16);
    floatN e = TH_FMA(r, 0x1.af5fad8610f20p-26, 0x1.27e4c54441f72p-22);
    floatN low = TH_FMA(b, r2, a);
    floatN high = TH_FMA(TH_FMA(0x1.1f95f40781cd9p-29, r2, e), r4, TH_FMA(d, r2, c));
    return TH_FMA(high, r4, low);
#else
    floatN r2 = r * r;
    floatN a = TH_FMA(r, 0x1.555556p-3, 0x1p-1);
    floatN b = TH_FMA(r, 0x1.11108ep-7, 0x1.5554acp-5);
    floatN c = TH_FMA(r, 0x1.a1a316p-13, 0x1.6d75ccp-10);
    return TH_FMA(TH_FMA(c, r2, b), r2, a);
#endif
}
/* 2^n for a `shifted` as above, n within a number's normal exponents */
TH_INLINE floatN th_exp2_scale_fN(floatN shifted)
{
    return th_from_bits_fN((th_bits_fN(shifted) << DIGITS) + ONE);
}

/* @where N is        64           32
 * TINY_FACTOR        0x1p-128     0x1p-64
 * TINY_SHIFT         128.0        64.0         what it takes from n
 * EXP2_MOST          1025.0       129.0        as for exp
 * EXP2_LEAST         -1080.0      -155.0
 * EXP2_TINY          -1000.0      -110.0
 */

/* @snippet exp2_factors_fN needs exp_reduce_fN */
/* 2^n as a product: the first factor is a normal number also where 2^n overflows or is subnormal, so that a
 * result is rounded only by the last product. `tiny` says that n < EXP2_TINY; n is at most 2 above EXP2_MOST. */
TH_INLINE floatN th_exp2_factors_fN(floatN shifted, int tiny, floatN *rest)
{
    *rest = tiny ? TINY_FACTOR : 16.0;
    return th_exp2_scale_fN(shifted + (tiny ? TINY_SHIFT : -4.0));
}

/* @snippet exp_plain_fN needs exp2_factors_fN */
TH_INLINE floatN th_exp_plain_fN(floatN x)
{
    floatN n, shifted, rest, r = th_exp_reduce_fN(x, &n, &shifted), y, scale;
    scale = th_exp2_factors_fN(shifted, x < EXP_TINY, &rest);
    y = (1.0 + TH_FMA(r * r, th_exp_tail_fN(r), r)) * scale * rest;
    y = x > EXP_MOST ? __builtin_inf() : y;
    return x < EXP_LEAST ? 0.0 : y;
}

/* @snippet exp_table_fN needs wide */
/* 2^(i/16); what its roundings leave is a table of its own */
#if TH_WIDE
static const floatN th_exp_high_fN[16] __attribute__((aligned(64))) = {
    0x1p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
    0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
    0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0,
};
#endif

/* @snippet exp_table_low_fN needs exp_table_fN */
#if TH_WIDE
static const floatN th_exp_low_fN[16] __attribute__((aligned(64))) = {
#if N == 64
    0.0, 0x1.8a62e4adc610bp-54, -0x1.19041b9d78a76p-55, 0x1.9b07eb6c70573p-54,
    0x1.6f46ad23182e4p-55, 0x1.ada0911f09ebcp-55, 0x1.d4397afec42e2p-56, 0x1.6324c054647adp-54,
    -0x1.bdd3413b26456p-54, -0x1.41577ee04992fp-55, 0x1.6e9f156864b27p-54, 0x1.c7c46b071f2bep-56,
    0x1.7a1cd345dcc81p-54, 0x1.11065895048ddp-55, 0x1.2ed02d75b3707p-55, -0x1.e9c23179c2893p-54,
#else
    0.0, 0x1.9f3122p-25, -0x1.c15742p-27, 0x1.ceac48p-25,
    0x1.4636e2p-25, 0x1.824684p-25, -0x1.593abcp-25, -0x1.5bd5ecp-27,
    0x1.9fcef4p-26, -0x1.829fdp-25, 0x1.15506ep-27, 0x1.51f848p-27,
    -0x1.a94b14p-26, -0x1.3d56b2p-27, -0x1.822dbcp-27, 0x1.52486cp-27,
#endif
};
#endif

/* @where N is             64                        32
 * WIDE_SHIFT              0x1.8p+48                 0x1.8p+19           as SHIFT, for sixteenths
 * WIDE_MINUS_LN2_HIGH     -0x1.62e42fep-1           -0x1.62e8p-1
 * WIDE_MINUS_LN2_LOW      -0x1.f473de6af278fp-30    0x1.e8082ep-16
 * EXP_TABLE               exp_table_low_f64         exp_table_f32       a float is exact enough without the low parts
 */

/* @snippet exp_reduce_wide_fN needs exp_table_fN */
/* r of x = n ln2 + r, where n counts sixteenths, so that the floor of n is for the exponent and the low bits of *index
 * for the table; exp(r) - 1 for |r| <= ln2/32 (relative error of exp(r) < 2^-56 for double, < 2^-29 for float). */
#if TH_WIDE
TH_INLINE th_fNxL th_exp_reduce_wide_fN(th_fNxL x, th_fNxL *n, th_iNxL *index)
{
    th_fNxL shifted = TH_FMA_fNxL(x, TH_ALL_fNxL(0x1.71547652b82fep+0), TH_ALL_fNxL(WIDE_SHIFT));
    *index = (th_iNxL)shifted;
    *n = shifted - WIDE_SHIFT;
    return TH_FMA_fNxL(*n, TH_ALL_fNxL(WIDE_MINUS_LN2_LOW), TH_FMA_fNxL(*n, TH_ALL_fNxL(WIDE_MINUS_LN2_HIGH), x));
}
TH_INLINE th_fNxL th_exp_tail_wide_fN(th_fNxL r)
{
#if N == 64
    th_fNxL a = TH_FMA_fNxL(r, TH_ALL_fNxL(0x1.11123b491852fp-7), TH_ALL_fNxL(0x1.555555545e7f2p-5)), r2 = r * r, q;
    a = TH_FMA_fNxL(r2, TH_ALL_fNxL(0x1.6c185e4b312efp-10), a);
    q = TH_FMA_fNxL(r, TH_ALL_fNxL(0x1.555555548eba6p-3), TH_ALL_fNxL(0x1.0000000000005p-1));
    return TH_FMA_fNxL(TH_FMA_fNxL(a, r2, q), r2, r);
#else
    return TH_FMA_fNxL(TH_FMA_fNxL(r, TH_ALL_fNxL(0x1.555764p-3), TH_ALL_fNxL(0x1.00022p-1)), r * r, r);
#endif
}
#endif

/* @snippet exp_wide_fN needs exp_reduce_wide_fN EXP_TABLE */
/* No argument needs a question: where x is too large for r to be small, or infinite, r is put back into [-1, 1], and what
 * n scales up or down is positive; nan comes back by n. */
#if TH_WIDE
TH_INLINE th_fNxL th_exp_wide_fN_th_fNxL(th_fNxL x, th_fNxL unused)
{
    th_iNxL index;
    th_fNxL n, r = TH_BOUND_fNxL(th_exp_reduce_wide_fN(x, &n, &index), TH_ALL_fNxL(1.0));
    th_fNxL a = TH_LOOK_fNxL(th_exp_high_fN, index);
    (void)unused;
#if N == 64
    return TH_SCALE_fNxL(a + TH_FMA_fNxL(a, th_exp_tail_wide_fN(r), TH_LOOK_fNxL(th_exp_low_fN, index)), n);
#else
    return TH_SCALE_fNxL(TH_FMA_fNxL(a, th_exp_tail_wide_fN(r), a), n);
#endif
}
#endif

/* @snippet exp_fN needs exp_wide_fN exp_plain_fN */
#if TH_WIDE
TH_WIDE_fN(th_exp_wide_fN, 0.0)
#endif
TH_INLINE floatN th_exp_fN(floatN x)
{
#if TH_WIDE
    return th_exp_wide_fN(x, x);
#else
    return th_exp_plain_fN(x);
#endif
}

/* @snippet exp_pair_fN needs exp2_factors_fN */
/* exp(x) as a sum of two numbers, about eight bits more than one, for x from EXP_LEAST to 2 above EXP_MOST; what is
 * built on exp needs them to stay within its error bound. */
TH_INLINE floatN th_exp_pair_fN(floatN x, floatN *low)
{
    floatN n, shifted, r, t, d, m, scale, rest;
    (void)th_exp_reduce_fN(x, &n, &shifted);
    t = TH_FMA(n, MINUS_LN2_HIGH, x);
    r = TH_FMA(n, MINUS_LN2_LOW, t);
    d = TH_FMA(n, MINUS_LN2_LOW, t - r);
    m = TH_FMA(r * r, th_exp_tail_fN(r), d);
    scale = th_exp2_factors_fN(shifted, x < EXP_TINY, &rest);
    t = 1.0 + r;
    m += (1.0 - t) + r;
    r = t + m;
    *low = ((t - r) + m) * scale * rest;
    return r * scale * rest;
}

/* @where N is         64                      32
 * EXPM1_LEAST         -50.0                   -25.0           expm1 is -1 below
 * TANH_MOST           22.0                    10.0            tanh is 1 above
 * SIGMOID_MOST        700.0                   87.0            sigmoid is 1 above
 * SIGMOID_TAIL        -600.0                  -60.0           exp(-x) may overflow below
 * DOWN                0x0800000000000000u     0x20000000u     a factor of 2^-128, or 2^-64, in an exponent's bits
 * HALF_EXP_MOST       711.0                   90.0            exp(x)/2 is infinite above
 */

/* @snippet expm1_fN needs exp_reduce_fN */
/* 2^n (exp(r) - 1) + (2^n - 1), in halves so that the largest n does not overflow early. */
TH_INLINE floatN th_expm1_fN(floatN x)
{
    floatN n, shifted, r, m, s, y;
    r = th_exp_reduce_fN(x, &n, &shifted);
    m = TH_FMA(r * r, th_exp_tail_fN(r), r);
    s = th_exp2_scale_fN(shifted - 1.0);
    y = 2.0 * TH_FMA(m, s, s - 0.5);
    y = n == 0.0 ? m : y;
    y = x > EXP_MOST ? __builtin_inf() : y;
    y = x < EXPM1_LEAST ? -1.0 : y;
    return x == 0.0 ? x : y;
}

/* @snippet tanh_fN needs exp_reduce_fN */
/* Below 0.625 an odd minimax polynomial (relative error < 2^-56 for double), above 1 - 2/(exp(2|x|) + 1). */
TH_INLINE floatN th_tanh_fN(floatN x)
{
    floatN n, shifted, r, e, p, y;
    floatN a = __builtin_fabs(x), z = a * a;
    r = th_exp_reduce_fN(2.0 * a, &n, &shifted);
    e = th_exp2_scale_fN(shifted);
    e = TH_FMA(TH_FMA(r * r, th_exp_tail_fN(r), r), e, e);
    y = 1.0 - 2.0 / (e + 1.0);
    y = a > TANH_MOST ? 1.0 : y;
#if N == 64
    floatN z4 = z * z, z8 = z4 * z4;
    p = TH_FMA(TH_FMA(z, 0x1.664f4781f6d95p-6, -0x1.ba1ba1b53104ap-5), z4,
               TH_FMA(z, 0x1.111111110b0c7p-3, -0x1.5555555555503p-2));
    e = TH_FMA(TH_FMA(z, 0x1.336ae5de52e60p-11, -0x1.7d696a6bf8692p-10), z4,
               TH_FMA(z, 0x1.d6cf3ca4d7a4ap-9, -0x1.226e16da0163fp-7));
    r = TH_FMA(-0x1.0e3d6526527bfp-16, z4, TH_FMA(z, 0x1.43e17724a6a20p-14, -0x1.df7a894ed4dbap-13));
    p = TH_FMA(TH_FMA(r, z8, e), z8, p);
#else
    p = TH_FMA(-0x1.76ac22p-8, z, 0x1.5256dap-6);
    p = TH_FMA(p, z, -0x1.b8444ap-5);
    p = TH_FMA(p, z, 0x1.110768p-3);
    p = TH_FMA(p, z, -0x1.555534p-2);
#endif
    return __builtin_copysign(a < 0.625 ? TH_FMA(a * z, p, a) : y, x);
}

/* @snippet sigmoid_plain_fN needs exp_reduce_fN */
/* 1/(1 + exp(-x)), where exp(-x) = 2^n + q. Of the sum, 1 + 2^n is exact, or what it loses does not count, and one step of
 * Newton's method makes good what q and the quotient lose. The left tail, where 2^n would overflow, is computed
 * 2^128 times as large (a float's 2^64), without the 1: by masks, since gcc makes two ways of a condition that is asked
 * three times, and vectors go both. */
TH_INLINE floatN th_sigmoid_plain_fN(floatN x)
{
    floatN n, shifted, r = th_exp_reduce_fN(-x, &n, &shifted), scale, q, d, y;
    uintN_t one = ONE, tail = -(uintN_t)(x < SIGMOID_TAIL), back = one - (tail & DOWN);
    scale = th_from_bits_fN((th_bits_fN(shifted) << DIGITS) + back);
    q = scale * TH_FMA(r * r, th_exp_tail_fN(r), r);
    d = th_from_bits_fN(one & ~tail) + scale;
    y = 1.0 / (d + q);
    y = TH_FMA(y, TH_FMA(-q, y, TH_FMA(-d, y, 1.0)), y) * th_from_bits_fN(back);
    y = x > SIGMOID_MOST ? 1.0 : y;
    return x < EXP_LEAST ? 0.0 : y;
}

/* @snippet exp2_fN needs exp2_factors_fN */
/* The distance to the nearest whole number is exact; the rest is as for exp. */
TH_INLINE floatN th_exp2_fN(floatN x)
{
    floatN shifted = x + SHIFT, r = (x - (shifted - SHIFT)) * 0x1.62e42fefa39efp-1, rest, y, scale;
    scale = th_exp2_factors_fN(shifted, x < EXP2_TINY, &rest);
    y = (1.0 + TH_FMA(r * r, th_exp_tail_fN(r), r)) * scale * rest;
    y = x > EXP2_MOST ? __builtin_inf() : y;
    return x < EXP2_LEAST ? 0.0 : y;
}

/* @snippet half_exp_fN needs exp_reduce_fN */
/* exp(x)/2 for x >= 0: it overflows no earlier than sinh and cosh do. */
TH_INLINE floatN th_half_exp_fN(floatN x)
{
    floatN n, shifted, r = th_exp_reduce_fN(x, &n, &shifted);
    r = (1.0 + TH_FMA(r * r, th_exp_tail_fN(r), r)) * th_exp2_scale_fN(shifted - 4.0) * 8.0;
    return x > HALF_EXP_MOST ? __builtin_inf() : r;
}

/* @snippet cosh_fN needs half_exp_fN */
TH_INLINE floatN th_cosh_fN(floatN x)
{
    floatN t = th_half_exp_fN(__builtin_fabs(x));
    return t + 0.25 / t;
}

/* @snippet sinh_fN needs half_exp_fN */
/* Below 1 an odd minimax polynomial (relative error < 2^-62 for double, < 2^-33 for float), above from the exponential. */
TH_INLINE floatN th_sinh_fN(floatN x)
{
    floatN a = __builtin_fabs(x), t = th_half_exp_fN(a), z = a * a, p;
#if N == 64
    floatN z2 = z * z, q;
    p = TH_FMA(z, 0x1.11111111110a1p-7, 0x1.5555555555556p-3);
    q = TH_FMA(z, 0x1.71de3a45f7149p-19, 0x1.a01a01a0291fdp-13);
    p = TH_FMA(q, z2, p);
    q = TH_FMA(0x1.b4cf799be9580p-41, z2, TH_FMA(z, 0x1.611a3a1cd3fd3p-33, 0x1.ae64676694795p-26));
    p = TH_FMA(q, z2 * z2, p);
#else
    p = TH_FMA(TH_FMA(z, 0x1.7a267cp-19, 0x1.9ffe12p-13), z, 0x1.111136p-7);
    p = TH_FMA(p, z, 0x1.555556p-3);
#endif
    return __builtin_copysign(a < 1.0 ? TH_FMA(a * z, p, a) : t - 0.25 / t, x);
}

/* @where N is     64                                32
 * LANES           0xff                              0xffff                a bit for each
 * RECIPROCAL      __builtin_ia32_rcp14pd512_mask    __builtin_ia32_rcp14ps512_mask
 * COMPARE         __builtin_ia32_cmppd512_mask      __builtin_ia32_cmpps512_mask
 * WIDE_SQUARE     0x1.de84p+18                      0x1.ce4p+12           beyond it the plain form
 */

/* @snippet sigmoid_wide_fN needs exp_reduce_wide_fN exp_table_low_fN sigmoid_plain_fN */
/* 1/(1 + exp(-x)): the exponential is 2^n (a + q) with a from a table; 1/((1 + 2^n a) + 2^n q) by Newton's method from
 * 14 bits, its residual from both terms, so that their sum need not be exact. */
#if TH_WIDE
#define TH_PLAIN_sigmoid_fN(x, y) th_sigmoid_plain_fN(x)
TH_WIDE_REST(floatN, th_fNxL, th_sigmoid_wide_fN, TH_PLAIN_sigmoid_fN)
TH_INLINE th_fNxL th_sigmoid_wide_fN_th_fNxL(th_fNxL x, th_fNxL unused)
{
    th_iNxL index;
    th_fNxL n, q = th_exp_tail_wide_fN(th_exp_reduce_wide_fN(-x, &n, &index)), a = TH_LOOK_fNxL(th_exp_high_fN, index), d, y;
    q = TH_FMA_fNxL(a, q, TH_LOOK_fNxL(th_exp_low_fN, index));
    d = TH_ALL_fNxL(0x1p+0) + TH_SCALE_fNxL(a, n);
    q = TH_SCALE_fNxL(q, n);
    y = RECIPROCAL(d + q, d, -1);
    a = TH_FMA_fNxL(-q, y, TH_FMA_fNxL(-d, y, TH_ALL_fNxL(0x1p+0)));
    y = TH_FMA_fNxL(y, a, y);
#if N == 64
    a = TH_FMA_fNxL(-q, y, TH_FMA_fNxL(-d, y, TH_ALL_fNxL(0x1p+0)));
    y = TH_FMA_fNxL(y, a, y);
#endif
    int which = ~COMPARE(x * x, TH_ALL_fNxL(WIDE_SQUARE), 1, -1, 4) & LANES;
    return __builtin_expect(which, 0) ? th_sigmoid_wide_fN_rest(x, unused, y, which) : y;
}
#endif

/* @snippet sigmoid_fN needs sigmoid_wide_fN */
#if TH_WIDE
TH_WIDE_fN(th_sigmoid_wide_fN, 0.0)
#endif
TH_INLINE floatN th_sigmoid_fN(floatN x)
{
#if TH_WIDE
    return th_sigmoid_wide_fN(x, x);
#else
    return th_sigmoid_plain_fN(x);
#endif
}
