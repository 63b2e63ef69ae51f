/* pow, and 1/sqrt.
 *
 * |x|^y = exp(y log|x|). The product is as large as 745, so the logarithm needs eleven bits more than a double has:
 * it is made as a sum of two doubles (the algorithm of logarithm.h, its first two terms in T. J. Dekker's
 * arithmetic, Numer. Math. 18:224, 1971), and so is the product. In float everything is computed in double.
 * The signs and the special cases are those of C99 (Annex F). The polynomials are minimax
 * (Remez exchange with mpmath; relative error of the logarithm < 2^-73 for double, < 2^-37 for float).
 */

/* @snippet residual_fN needs fma bits_fN */
/* a b - p for a p that is a b rounded (without a fused multiply-add, Dekker's splitting, and a float's in double) */
TH_INLINE floatN th_residual_fN(floatN a, floatN b, floatN p)
{
#if TH_FUSED
    return TH_FMA(a, b, -p);
#else
#if N == 64
    floatN a1 = th_from_bits_fN(th_bits_fN(a) & 0xfffffffff8000000u), a2 = a - a1;
    floatN b1 = th_from_bits_fN(th_bits_fN(b) & 0xfffffffff8000000u), b2 = b - b1;
    return ((a1 * b1 - p) + (a1 * b2 + a2 * b1)) + a2 * b2;
#else
    return (float)((double)a * b - p);
#endif
#endif
}

/* @snippet log_precise_f64 needs log_split_f64 residual_f64 */
/* log(x) for finite x > 0 as a sum of two numbers, to 2^-65 of itself. What s is rounded by counts as often as
 * the slope 2/(1 - s^2) of the logarithm says, and 1/(2 + f) is (1 - s)/2. */
TH_INLINE double th_log_precise_f64(double x, double *low)
{
    uint64_t biased;
    int tiny = x < 0x1p-1022;
    double e, f = th_log_split_f64(tiny ? x * 0x1p54 : x, &e, &biased), d = 2.0 + f, s = f / d;
    double z = s * s, z_low = th_residual_f64(s, s, z), z2 = z * z, z4 = z2 * z2;
    double cube = s * z, cube_low = TH_FMA(s, z_low, th_residual_f64(s, z, cube));
    double s_low = -TH_FMA(s, f - (d - 2.0), th_residual_f64(s, d, f)) * (1.0 - s);
    double a = TH_FMA(z, 0x1.2492492492f56p-2, 0x1.9999999999996p-2);
    double b = TH_FMA(z, 0x1.745d1829f0381p-3, 0x1.c71c71c595949p-3);
    double c = TH_FMA(z, 0x1.112077197e71cp-3, 0x1.3b136499b6155p-3);
    double g = TH_FMA(z, 0x1.ead1aebbd9674p-4, 0x1.de3c1610c47abp-4), p, q, q_low, t, t_low, sum, all;
    p = z * TH_FMA(TH_FMA(g, z2, c), z4, TH_FMA(b, z2, a));
    q = 0x1.5555555555555p-1 + p;
    q_low = ((0x1.5555555555555p-1 - q) + p) + TH_FMA(z_low, 0.41, 0x1.5555555555555p-55);
    t = cube * q;
    t_low = TH_FMA(cube, q_low, TH_FMA(cube_low, q, th_residual_f64(cube, q, t)));
    e -= tiny ? 54.0 : 0.0;
    p = e * 0x1.62e42ffp-1;
    sum = TH_FMA(2.0, s, p);
    all = sum + t;
    s_low = TH_FMA(s_low, z + z2, TH_FMA(e, -0x1.718432a1b0e26p-35, s_low)) + TH_FMA(2.0, s, p - sum);
    t_low += s_low + ((sum - all) + t);
    p = all + t_low;
    *low = (all - p) + t_low;
    return p;
}

/* @snippet pow_ends_fN needs inline */
/* From |x|^y to x^y: the sign where y is odd, nan for a fraction of a negative number; and 1 to any power and
 * anything to the power 0, be it nan, is 1. */
TH_INLINE floatN th_pow_ends_fN(floatN x, floatN y, floatN power)
{
    floatN half = 0.5 * y;
    int whole = __builtin_floor(y) == y, odd = whole & (__builtin_floor(half) != half);
    power = (y == 0.0) | (__builtin_fabs(x) == 1.0) ? 1.0 : power;
    power = odd ? __builtin_copysign(power, x) : power;
    return (x < 0.0) & (x > -__builtin_inf()) & !whole ? __builtin_nan("") : power;
}

/* @snippet pow_plain_f64 needs log_precise_f64 exp2_factors_f64 pow_ends_f64 */
TH_INLINE double th_pow_plain_f64(double x, double y)
{
    double a = __builtin_fabs(x), l, low, p, n, shifted, scale, rest, r, t, m;
    l = th_log_precise_f64(a, &low);
    l = a < __builtin_inf() ? l : a;
    l = a == 0.0 ? -__builtin_inf() : l;
    p = y * l;
    low = TH_FMA(y, low, th_residual_f64(y, l, p));
    (void)th_exp_reduce_f64(p, &n, &shifted);
    scale = th_exp2_factors_f64(shifted, p < -700.0, &rest);
    t = TH_FMA(n, -0x1.62e42ffp-1, p);
    r = TH_FMA(n, 0x1.718432a1b0e26p-35, t);
    low += TH_FMA(n, 0x1.718432a1b0e26p-35, t - r);
    m = r * r * th_exp_tail_f64(r);
    t = 1.0 + r;
    m += TH_FMA(low, t + m, (1.0 - t) + r);
    t = (t + m) * scale * rest;
    t = p > 710.0 ? __builtin_inf() : t;
    t = p < -746.0 ? 0.0 : t;
    return th_pow_ends_f64(x, y, t);
}

/* @snippet pow_plain_f32 needs log_split_f64 exp_reduce_f64 pow_ends_f32 */
TH_INLINE float th_pow_plain_f32(float x, float y)
{
    uint64_t biased;
    double a = __builtin_fabsf(x), e, f = th_log_split_f64(a, &e, &biased), s = f / (2.0 + f), z = s * s, p, n, r, q;
    q = TH_FMA(TH_FMA(z, 0x1.e2ff2c026bdbp-3, 0x1.2438a0dc8b275p-2), z * z,
               TH_FMA(z, 0x1.999a7b507dd2ap-2, 0x1.555554fd3de16p-1));
    p = TH_FMA(e, 0x1.62e42fefa39efp-1, TH_FMA(s * z, q, 2.0 * s));
    p = a < __builtin_inf() ? p : a;
    p = a == 0.0 ? -__builtin_inf() : p;
    p *= y;
    e = TH_FMA(p, 0x1.71547652b82fep+0, 0x1.8p52);
    n = e - 0x1.8p52;
    r = TH_FMA(n, 0x1.718432a1b0e26p-35, TH_FMA(n, -0x1.62e42ffp-1, p));
    z = r * r;
    q = TH_FMA(TH_FMA(r, 0x1.9f82db7de4db3p-13, 0x1.6d96ab3188fd4p-10), z,
               TH_FMA(r, 0x1.1113f86ec8138p-7, 0x1.55548889757cp-5));
    q = TH_FMA(q, z, TH_FMA(r, 0x1.55555178234aap-3, 0x1.0000003a6cd85p-1));
    n = (1.0 + TH_FMA(q, z, r)) * th_exp2_scale_f64(e);
    n = p > 90.0 ? __builtin_inf() : n;
    return th_pow_ends_f32(x, y, (float)(p < -110.0 ? 0.0 : n));
}

/* @where N is         64                                  32
 * LANES               0xff                                0xffff
 * CLASS               __builtin_ia32_fpclasspd512_mask    __builtin_ia32_fpclassps512_mask
 * COMPARE             __builtin_ia32_cmppd512_mask        __builtin_ia32_cmpps512_mask
 * SHIFT               0x1.8p52                            0x1.8p23
 * MINUS_LN2_HIGH      -0x1.62e42fefa38p-5                 -0x1.62e4p-5          a sixteenth of -ln2, in two parts
 * MINUS_LN2_LOW       -0x1.ef35793c7673p-49               -0x1.7f7d1cp-24
 * RANGE_SQUARE        555000.0                            10820.0             of y log(x) beyond which the plain form is asked
 * EXP_TABLE           exp_table_low_f64                   exp_table_f32
 */

/* @snippet pow_wide_fN needs log_reduce_wide_fN exp_reduce_wide_fN EXP_TABLE pow_plain_fN */
/* The logarithm from a table, and 2^(i/16) too, which takes the exponential's argument below ln2/32. (Relative error of
 * the polynomials < 2^-69 of the logarithm, < 2^-56 of the exponential; for float < 2^-34 and < 2^-29.) */
#if TH_WIDE
TH_WIDE_REST(floatN, th_fNxL, th_pow_wide_fN, th_pow_plain_fN)
TH_INLINE th_fNxL th_pow_wide_fN_th_fNxL(th_fNxL x, th_fNxL y)
{
    th_fNxL low, s, r = th_log_reduce_wide_fN(x, &s, &low), r2, a, b, p, q, t;
    th_iNxL index;
    /* s + r - r^2/2 without loss, and what follows */
    a = s + r;
    low += (s - a) + r;
    r2 = r * r;
    b = TH_FMA_fNxL(r2, TH_ALL_fNxL(-0.5), a);
    t = TH_FMA_fNxL(r2, TH_ALL_fNxL(-0.5), a - b);
    low = TH_FMA_fNxL(TH_FMA_fNxL(r, r, -r2), TH_ALL_fNxL(-0.5), low) + t;
#if N == 64
    th_fNxL r4 = r2 * r2;
    p = TH_FMA_fNxL(r, TH_ALL_fNxL(-0x1.000000000000dp-2), TH_ALL_fNxL(0x1.5555555555556p-2));
    q = TH_FMA_fNxL(r, TH_ALL_fNxL(-0x1.55555555349afp-3), TH_ALL_fNxL(0x1.99999999978a9p-3));
    p = TH_FMA_fNxL(q, r2, p);
    q = TH_FMA_fNxL(r, TH_ALL_fNxL(-0x1.000000dc1eb11p-3), TH_ALL_fNxL(0x1.2492493a5feb4p-3));
    t = TH_FMA_fNxL(r, TH_ALL_fNxL(-0x1.9994c09ee125ep-4), TH_ALL_fNxL(0x1.c71baa7232d16p-4));
    q = TH_FMA_fNxL(t, r2, q);
    t = TH_FMA_fNxL(r, TH_ALL_fNxL(-0x1.5aa6352738032p-4), TH_ALL_fNxL(0x1.75f8b295eff34p-4));
    q = TH_FMA_fNxL(t, r4, q);
    p = TH_FMA_fNxL(q, r4, p);
#else
    p = TH_FMA_fNxL(r, TH_ALL_fNxL(-0x1.ffff66p-3), TH_ALL_fNxL(0x1.55554ap-2));
    q = TH_FMA_fNxL(r, TH_ALL_fNxL(-0x1.578376p-3), TH_ALL_fNxL(0x1.9a4dc8p-3));
    p = TH_FMA_fNxL(q, r2, p);
#endif
    low = TH_FMA_fNxL(r * r2, p, low);
    a = b + low;
    low += b - a;
    /* times y, and the exponential */
    p = y * a;
    low = TH_FMA_fNxL(y, low, TH_FMA_fNxL(y, a, -p));
    t = TH_FMA_fNxL(p, TH_ALL_fNxL(0x1.71547652b82fep+4), TH_ALL_fNxL(SHIFT));
    index = (th_iNxL)t;
    t -= SHIFT;
    r = TH_FMA_fNxL(t, TH_ALL_fNxL(MINUS_LN2_HIGH), p);
    r = TH_FMA_fNxL(t, TH_ALL_fNxL(MINUS_LN2_LOW), r + low);
    q = th_exp_tail_wide_fN(r);
    a = TH_LOOK_fNxL(th_exp_high_fN, index);
#if N == 64
    q = a + TH_FMA_fNxL(a, q, TH_LOOK_fNxL(th_exp_low_fN, index));
#else
    q = TH_FMA_fNxL(a, q, a);
#endif
    q = TH_SCALE_fNxL(q, t * 0.0625);
    /* what is not a normal positive number to a finite power, and what is beyond the range */
    int which = CLASS(x, 0xff, -1) & LANES;
    which |= ~COMPARE(p * p, TH_ALL_fNxL(RANGE_SQUARE), 1, -1, 4) & LANES;
    return __builtin_expect(which, 0) ? th_pow_wide_fN_rest(x, y, q, which) : q;
}
#endif

/* @snippet pow_fN needs pow_wide_fN */
#if TH_WIDE
TH_WIDE_fN(th_pow_wide_fN, 1.0)
#endif
TH_INLINE floatN th_pow_fN(floatN x, floatN y)
{
#if TH_WIDE
    return th_pow_wide_fN(x, y);
#else
    return th_pow_plain_fN(x, y);
#endif
}

/* @where N is     64                                  32
 * INVERSE_ROOT    __builtin_ia32_rsqrt14pd512_mask    __builtin_ia32_rsqrt14ps512_mask
 */

/* @snippet rsqrt_plain_fN needs inline */
TH_INLINE floatN th_rsqrt_plain_fN(floatN x) { return 1.0 / __builtin_sqrt(x); }

/* @snippet rsqrt_wide_fN needs wide rsqrt_plain_fN */
/* 1/sqrt(x) from the instruction that knows 14 bits, by a step of the third order, and for double one of Newton's: half
 * the time of a root and a division. */
#if TH_WIDE
#define TH_PLAIN_rsqrt_fN(x, y) th_rsqrt_plain_fN(x)
TH_WIDE_REST(floatN, th_fNxL, th_rsqrt_wide_fN, TH_PLAIN_rsqrt_fN)
TH_INLINE th_fNxL th_rsqrt_wide_fN_th_fNxL(th_fNxL x, th_fNxL unused)
{
    th_fNxL y = INVERSE_ROOT(x, x, -1), e = TH_FMA_fNxL(-x * y, y, TH_ALL_fNxL(1.0));
    y = TH_FMA_fNxL(y * e, TH_FMA_fNxL(e, TH_ALL_fNxL(0.375), TH_ALL_fNxL(0.5)), y);
#if N == 64
    e = TH_FMA_fNxL(-x * y, y, TH_ALL_fNxL(1.0));
    y = TH_FMA_fNxL(y * 0.5, e, y);
#endif
    int which = CLASS(x, 0xff, -1) & LANES;
    return __builtin_expect(which, 0) ? th_rsqrt_wide_fN_rest(x, unused, y, which) : y;
}
#endif

/* @snippet rsqrt_fN needs rsqrt_wide_fN rsqrt_plain_fN */
#if TH_WIDE
TH_WIDE_fN(th_rsqrt_wide_fN, 1.0)
#endif
TH_INLINE floatN th_rsqrt_fN(floatN x)
{
#if TH_WIDE
    return th_rsqrt_wide_fN(x, x);
#else
    return th_rsqrt_plain_fN(x);
#endif
}
