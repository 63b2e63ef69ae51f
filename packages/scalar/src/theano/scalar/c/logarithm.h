/* log, log1p, log2, log10, softplus and log1mexp.
 *
 * Method (P. T. P. Tang, ACM TOMS 16:378, 1990, in the table-free form that K. C. Ng gave
 * it): x = 2^e m with sqrt(1/2) <= m < sqrt(2), f = m - 1, s = f/(2 + f),
 * log(m) = f - f^2/2 + s (f^2/2 + R(s^2)), where R is what remains of
 * log((1+s)/(1-s)) - 2s; then e ln2 is added in two parts, the first exactly.
 * R(z)/z is a minimax polynomial (Remez exchange with mpmath, relative error of the
 * logarithm < 2^-59 for double and < 2^-30 for float).
 */

/* @where N is        64                       32
 * DIGITS             52                       23                the bits below the exponent
 * ONE                0x3ff0000000000000u      0x3f800000u       the bits of 1
 * ROOT               0x3fe6a09e00000000u      0x3f3504f3u       those of sqrt(1/2)
 * FRACTION           0x000fffffffffffffu      0x007fffffu       all bits below the exponent
 * LEAST              0x1p-1022                0x1p-126          the least normal number
 * UP                 0x1p54                   0x1p25            makes a normal number of a smaller one
 * UP_LOG2            54.0                     25.0
 * LN2_HIGH           0x1.62e42ffp-1           0x1.62e8p-1       ln2 in two parts, the first of few bits
 * LN2_LOW            -0x1.718432a1b0e26p-35   -0x1.e8082ep-16
 */

/* @snippet log_split_fN needs fma bits_fN */
/* f = m - 1 and the exponent e as a number, for a normal positive x; *biased is e as a number's bits have it */
TH_INLINE floatN th_log_split_fN(floatN x, floatN *e, uintN_t *biased)
{
    const uintN_t root = ROOT;
    uintN_t u = th_bits_fN(x) + (ONE - root);
    *biased = u >> DIGITS;
#if N == 64
    *e = th_from_bits_fN(u >> 52 | 0x4330000000000000u) - (0x1p52 + 1023.0);
#else
    *e = (float)((int32_t)(u >> 23) - 127);
#endif
    return th_from_bits_fN((u & FRACTION) + root) - 1.0;
}
/* R(s^2) */
TH_INLINE floatN th_log_tail_fN(floatN z)
{
#if N == 64
    floatN z2 = z * z, z4 = z2 * z2;
    floatN a = TH_FMA(z, 0x1.999999997e99ap-2, 0x1.5555555555596p-1);
    floatN b = TH_FMA(z, 0x1.c71c510100057p-3, 0x1.2492494322dd4p-2);
    floatN c = TH_FMA(z, 0x1.399ba898672aap-3, 0x1.7466783936dd5p-3);
    return z * TH_FMA(TH_FMA(0x1.2f45602b10ea9p-3, z2, c), z4, TH_FMA(b, z2, a));
#else
    floatN a = TH_FMA(z, 0x1.999a8p-2, 0x1.555554p-1);
    floatN b = TH_FMA(z, 0x1.e3306ep-3, 0x1.24376p-2);
    return z * TH_FMA(b, z * z, a);
#endif
}
/* e ln2 + log(1 + f) + low, for a small `low` */
TH_INLINE floatN th_log_sum_fN(floatN f, floatN e, floatN s, floatN low)
{
    floatN half = 0.5 * f * f;
    low += TH_FMA(e, LN2_LOW, s * (half + th_log_tail_fN(s * s)));
    return TH_FMA(e, LN2_HIGH, f - (half - low));
}

/* @snippet log_plain_fN needs log_split_fN */
TH_INLINE floatN th_log_plain_fN(floatN x)
{
    uintN_t biased;
    floatN e, f, y;
    int tiny = x < LEAST;
    f = th_log_split_fN(tiny ? x * UP : x, &e, &biased);
    e -= tiny ? UP_LOG2 : 0.0;
    y = th_log_sum_fN(f, e, f / (2.0 + f), 0.0);
    y = x < __builtin_inf() ? y : x;
    y = x < 0.0 ? __builtin_nan("") : y;
    return x == 0.0 ? -__builtin_inf() : y;
}

/* @where N is         64                     32
 * WIDE_LEAST          0x3fe7800000000000LL   0x3f3c0000          the bits of 47/64
 * SIXTEENTH           48                     19                  where those begin that say which sixteenth it is
 * EXPONENT            -0x10000000000000LL    -0x800000
 * WIDE_LN2_HIGH       0x1.62e42fefa38p-1     0x1.62e4p-1
 * WIDE_LN2_LOW        0x1.ef35793c7673p-45   0x1.7f7d1cp-20
 */

/* @snippet log_reduce_wide_fN needs wide */
/* With a table (P. T. P. Tang, ACM TOMS 16:378, 1990): x = 2^e m with 47/64 <= m < 47/32, and for each sixteenth of that
 * there is a c of so few bits that r = m c - 1 is exact, and below 0.043. log(x) is *s + log(1 + r) + *low: the first part
 * of -log(c) has as few bits as ln2's, so that e ln2 is added to it exactly. Around 1 c is 1. For normal x > 0. */
#if TH_WIDE
static const floatN th_log_c_fN[16] __attribute__((aligned(64))) = {
    0x1.58p+0, 0x1.48p+0, 0x1.38p+0, 0x1.3p+0,
    0x1.28p+0, 0x1.18p+0, 0x1.1p+0, 0x1.08p+0,
    0x1p+0, 0x1.ep-1, 0x1.cp-1, 0x1.bp-1,
    0x1.ap-1, 0x1.8p-1, 0x1.7p-1, 0x1.6p-1,
};
static const floatN th_log_high_fN[16] __attribute__((aligned(64))) = {
#if N == 64
    -0x1.2e8e2bae12p-2, -0x1.fb9186d5e4p-3, -0x1.9525a9cf46p-3, -0x1.5ff3070a7ap-3,
    -0x1.29552f82p-3, -0x1.6f0d28ae58p-4, -0x1.f0a30c0118p-5, -0x1.f829b0e78p-6,
    0.0, 0x1.08598b59e4p-4, 0x1.1178e8227ep-3, 0x1.5bf406b544p-3,
    0x1.a93ed3c8aep-3, 0x1.269621134ep-2, 0x1.522ae0738ap-2, 0x1.7fafa3bd81p-2,
#else
    -0x1.2e9p-2, -0x1.fb9p-3, -0x1.9528p-3, -0x1.5ffp-3,
    -0x1.2958p-3, -0x1.6f1p-4, -0x1.f0ap-5, -0x1.f84p-6,
    0.0, 0x1.086p-4, 0x1.1178p-3, 0x1.5bf8p-3,
    0x1.a94p-3, 0x1.2698p-2, 0x1.522cp-2, 0x1.7fbp-2,
#endif
};
static const floatN th_log_low_fN[16] __attribute__((aligned(64))) = {
#if N == 64
    0x1.67b1e99b72bd8p-45, 0x1.d572aab993c87p-47, 0x1.297137d9f158fp-44, 0x1.8586f183bebf2p-44,
    0x1.5b967f4471dfcp-44, 0x1.4b4641b664613p-44, 0x1.d599e83368e91p-45, -0x1.980267c7e09e4p-45,
    0.0, -0x1.7e5dd7009902cp-46, 0x1.1ef78ce2d07f2p-45, -0x1.27023eb68981cp-46,
    -0x1.8724350562169p-45, -0x1.1b61f10522625p-44, 0x1.ebe708164c759p-45, 0x1.46fb79bf6d4cbp-44,
#else
    0x1.d451eep-18, -0x1.86d5e4p-19, 0x1.2b185ep-18, -0x1.83853cp-18,
    0x1.683fp-18, 0x1.6ba8d4p-19, -0x1.86008cp-20, 0x1.64f188p-18,
    0.0, -0x1.9d2988p-18, 0x1.d044fcp-20, -0x1.fca55ep-18,
    -0x1.2c3752p-19, -0x1.deecb2p-18, -0x1.1f8c76p-18, -0x1.7109fap-20,
#endif
};
TH_INLINE th_fNxL th_log_reduce_wide_fN(th_fNxL x, th_fNxL *s, th_fNxL *low)
{
    th_iNxL u = (th_iNxL)x - WIDE_LEAST, index = u >> SIXTEENTH;
    th_fNxL e = __builtin_convertvector(u >> DIGITS, th_fNxL), m = (th_fNxL)((th_iNxL)x - (u & EXPONENT));
    *s = TH_FMA_fNxL(e, TH_ALL_fNxL(WIDE_LN2_HIGH), TH_LOOK_fNxL(th_log_high_fN, index));
    *low = TH_FMA_fNxL(e, TH_ALL_fNxL(WIDE_LN2_LOW), TH_LOOK_fNxL(th_log_low_fN, index));
    return TH_FMA_fNxL(m, TH_LOOK_fNxL(th_log_c_fN, index), TH_ALL_fNxL(-0x1p+0));
}
#endif

/* @where N is     64                                  32
 * LANES           0xff                                0xffff
 * CLASS           __builtin_ia32_fpclasspd512_mask    __builtin_ia32_fpclassps512_mask
 */

/* @snippet log_wide_fN needs log_reduce_wide_fN log_plain_fN */
#if TH_WIDE
#define TH_PLAIN_log_fN(x, y) th_log_plain_fN(x)
TH_WIDE_REST(floatN, th_fNxL, th_log_wide_fN, TH_PLAIN_log_fN)
TH_INLINE th_fNxL th_log_wide_fN_th_fNxL(th_fNxL x, th_fNxL y)
{
    th_fNxL low, s, r = th_log_reduce_wide_fN(x, &s, &low), r2 = r * r, p, q;
#if N == 64
    th_fNxL r4 = r2 * r2, t;
    p = TH_FMA_fNxL(r, TH_ALL_fNxL(0x1.555555555555bp-2), TH_ALL_fNxL(-0.5));
    q = TH_FMA_fNxL(r, TH_ALL_fNxL(0x1.9999999985745p-3), TH_ALL_fNxL(-0x1.ffffffffff407p-3));
    p = TH_FMA_fNxL(q, r2, p);
    q = TH_FMA_fNxL(r, TH_ALL_fNxL(0x1.249249d0c833cp-3), TH_ALL_fNxL(-0x1.55555562d1cb2p-3));
    t = TH_FMA_fNxL(r, TH_ALL_fNxL(0x1.c717ff702c961p-4), TH_ALL_fNxL(-0x1.ffff5e694abf7p-4));
    q = TH_FMA_fNxL(t, r2, q);
    t = TH_FMA_fNxL(r, TH_ALL_fNxL(0x1.79cf08b47c2cep-4), TH_ALL_fNxL(-0x1.9b255510a25abp-4));
    q = TH_FMA_fNxL(t, r4, q);
    p = TH_FMA_fNxL(q, r4, p);
#else
    p = TH_FMA_fNxL(r, TH_ALL_fNxL(0x1.555514p-2), TH_ALL_fNxL(-0.5));
    q = TH_FMA_fNxL(r, TH_ALL_fNxL(0x1.9c0fap-3), TH_ALL_fNxL(-0x1.0042c8p-2));
    p = TH_FMA_fNxL(q, r2, p);
#endif
    s += r + TH_FMA_fNxL(r2, p, low);
    int which = CLASS(x, 0xff, -1) & LANES;
    return __builtin_expect(which, 0) ? th_log_wide_fN_rest(x, y, s, which) : s;
}
#endif

/* @snippet log_fN needs log_wide_fN */
#if TH_WIDE
TH_WIDE_fN(th_log_wide_fN, 1.0)
#endif
TH_INLINE floatN th_log_fN(floatN x)
{
#if TH_WIDE
    return th_log_wide_fN(x, x);
#else
    return th_log_plain_fN(x);
#endif
}

/* @where N is     64         32
 * TWICE_BIAS      2046u      254u       of exponents: 2^-e has it less *biased
 * FAR             0x1p60     0x1p30     from here on 1 + x is x, with some bits to spare
 */

/* @snippet log1p_pair_fN needs log_split_fN */
/* log(1 + x + low) for finite x > -1 and a small `low`: log(u) for u = 1 + x rounded, plus c/u for what the
 * rounding took away. */
TH_INLINE floatN th_log1p_pair_fN(floatN x, floatN low)
{
    uintN_t biased;
    floatN u = 1.0 + x, b = u - 1.0, c = ((1.0 - (u - b)) + (x - b)) + low, e, f, s;
    f = th_log_split_fN(u, &e, &biased);
    s = f / (2.0 + f);
    /* c/u = (c 2^-e)/m, and 1/m = (1 - s)/(1 + s) need only a few bits */
    c *= th_from_bits_fN((TWICE_BIAS - biased) << DIGITS) * (1.0 - s) * (1.0 - s * (1.0 - s));
    return th_log_sum_fN(f, e, s, x > FAR ? 0.0 : c);
}

/* @snippet log1p_fN needs log1p_pair_fN */
TH_INLINE floatN th_log1p_fN(floatN x)
{
    floatN y = th_log1p_pair_fN(x, 0.0);
    y = x < __builtin_inf() ? y : x;
    y = x < -1.0 ? __builtin_nan("") : y;
    y = x == -1.0 ? -__builtin_inf() : y;
    return x == 0.0 ? x : y;
}

/* @snippet arcsinh_fN needs log1p_pair_fN */
/* log1p(a + (a^2/(1 + sqrt(1 + a^2)))), and log(2a) far out. */
TH_INLINE floatN th_arcsinh_fN(floatN x)
{
    floatN a = __builtin_fabs(x), square = a * a, more = square / (1.0 + sqrt(1.0 + square));
    floatN t = a + more, y;
    int far = a > FAR;
    y = th_log1p_pair_fN(far ? a : t, far ? 0.0 : (a - t) + more) + (far ? 0x1.62e42fefa39efp-1 : 0.0);
    return __builtin_copysign(a < __builtin_inf() ? y : a, x);
}

/* @snippet arccosh_fN needs log1p_pair_fN */
/* log1p(t + sqrt(t^2 + 2t)) for t = x - 1, and log(2x) far out. Near 1 the root is the result, so it gets
 * back what its argument and it were rounded by. */
TH_INLINE floatN th_arccosh_fN(floatN x)
{
    floatN t = x - 1.0, lost = (x - t) - 1.0, twice = 2.0 * t, w = TH_FMA(t, t, twice), root = sqrt(w), y;
    floatN left = TH_FMA(-root, root, w) + TH_FMA(t, t, twice - w), sum = t + root;
    int far = x > FAR;
    left *= 0.5 / (w > 0.0 ? root : 1.0);
    left += (t > root ? (t - sum) + root : (root - sum) + t) + 2.0 * lost;
    y = th_log1p_pair_fN(far ? x : sum, far ? 0.0 : left) + (far ? 0x1.62e42fefa39efp-1 : 0.0);
    y = x < __builtin_inf() ? y : x;
    return x < 1.0 ? __builtin_nan("") : (x == 1.0 ? 0.0 : y);
}

/* @snippet arctanh_fN needs log1p_pair_fN */
/* log1p(2a/(1 - a))/2 */
TH_INLINE floatN th_arctanh_fN(floatN x)
{
    floatN a = __builtin_fabs(x), d = 1.0 - a, over = 1.0 / (a < 1.0 ? d : 1.0), t = 2.0 * a * over, y;
    y = 0.5 * th_log1p_pair_fN(t, (TH_FMA(-t, d, 2.0 * a) - t * ((1.0 - d) - a)) * over);
    y = a < 1.0 ? y : (a == 1.0 ? __builtin_inf() : __builtin_nan(""));
    return __builtin_copysign(y, x);
}

/* @where N is      64                        32
 * FIRST_BITS       0xffffffff00000000u       0xfffff000u       products of this many bits with *_HIGH are exact
 * LOG2_E_HIGH      0x1.71547653p+0           0x1.716p+0
 * LOG2_E_LOW       -0x1.1f407a220bc01p-34    -0x1.7135a8p-13
 * LOG10_E_HIGH     0x1.bcb7b152p-2           0x1.bccp-2
 * LOG10_E_LOW      0x1.b9438ca9aadd5p-36     -0x1.09d5b2p-15
 * LOG10_2_HIGH     0x1.3441350ap-2           0x1.344p-2
 * LOG10_2_LOW      -0x1.0c0219dc1da99p-39    0x1.3509f8p-18
 */

/* @snippet log_parts_fN needs log_split_fN */
/* log(1 + f) as a sum: the first part has 21 bits, so that its products with 33-bit constants are exact; a float's
 * has 12, and so have these constants. */
TH_INLINE floatN th_log_parts_fN(floatN f, floatN *low)
{
    floatN half = 0.5 * f * f, s = f / (2.0 + f), first = f - half, high;
    high = th_from_bits_fN(th_bits_fN(first) & FIRST_BITS);
    *low = (first - high) + ((f - first) - half) + s * (half + th_log_tail_fN(s * s));
    return high;
}
/* What every logarithm gives at the ends of its domain. */
TH_INLINE floatN th_log_ends_fN(floatN x, floatN y)
{
    y = x < __builtin_inf() ? y : x;
    y = x < 0.0 ? __builtin_nan("") : y;
    return x == 0.0 ? -__builtin_inf() : y;
}

/* @snippet log2_fN needs log_parts_fN */
TH_INLINE floatN th_log2_fN(floatN x)
{
    uintN_t biased;
    floatN e, f, high, low, product, w;
    int tiny = x < LEAST;
    f = th_log_split_fN(tiny ? x * UP : x, &e, &biased);
    e -= tiny ? UP_LOG2 : 0.0;
    high = th_log_parts_fN(f, &low);
    product = high * LOG2_E_HIGH;
    low = TH_FMA(low, 0x1.71547652b82fep+0, high * LOG2_E_LOW);
    w = e + product;
    return th_log_ends_fN(x, w + (low + ((e - w) + product)));
}

/* @snippet log10_fN needs log_parts_fN */
TH_INLINE floatN th_log10_fN(floatN x)
{
    uintN_t biased;
    floatN e, f, high, low, product, w, y;
    int tiny = x < LEAST;
    f = th_log_split_fN(tiny ? x * UP : x, &e, &biased);
    e -= tiny ? UP_LOG2 : 0.0;
    high = th_log_parts_fN(f, &low);
    product = high * LOG10_E_HIGH;
    low = TH_FMA(low, 0x1.bcb7b1526e50ep-2, high * LOG10_E_LOW);
    low = TH_FMA(e, LOG10_2_LOW, low);
    y = e * LOG10_2_HIGH;
    w = y + product;
    return th_log_ends_fN(x, w + (low + ((y - w) + product)));
}

/* @where N is       64         32
 * NEXT_TO_NOTHING   0x1p-60    0x1p-30    log1p(t) is t below
 * EXP_LEAST         746.0      105.0      exp(-a) is 0 above
 */

/* @snippet softplus_fN needs exp_pair_fN log_split_fN */
/* max(x, 0) + log1p(exp(-|x|)): the exponential arrives as a pair, so that its own
 * error does not add to the logarithm's. The last sum is written without a choice between
 * sums: in a loop over softplus(x) and softplus(-x) that would become a branch. */
TH_INLINE floatN th_softplus_fN(floatN x)
{
    uintN_t biased;
    floatN low, t, u, b, c, e, f, s, y, a = __builtin_fabs(x);
    t = th_exp_pair_fN(-a, &low);
    t = a > EXP_LEAST ? 0.0 : t;
    u = 1.0 + t;
    b = u - 1.0;
    c = (t - b) + low;
    f = th_log_split_fN(u, &e, &biased);
    s = f / (2.0 + f);
    c *= (e == 0.0 ? 1.0 : 0.5) * (1.0 - s) * (1.0 - s * (1.0 - s));
    y = th_log_sum_fN(f, e, s, c);
    y = t < NEXT_TO_NOTHING ? t : y;
    y = x == x ? y : x;
    return (x > 0.0 ? x : 0.0) + y;
}

/* @snippet log1mexp_fN needs exp_pair_fN expm1_fN log_split_fN select_fN */
/* log(u + c) for u + c = 1 - exp(x), with the exponential as a pair; above -ln2 u is -expm1(x) (M. Maechler, 2012). */
TH_INLINE floatN th_log1mexp_fN(floatN x)
{
    uintN_t biased, near = x > -0x1.62e43p-1, tiny;
    floatN low, t, u, c, e, f, s, y;
    t = th_exp_pair_fN(x, &low);
    t = x < -EXP_LEAST ? 0.0 : t;
    low = x < -EXP_LEAST ? 0.0 : low;
    u = 1.0 - t;
    c = th_select_fN(near, 0.0, ((1.0 - u) - t) - low);
    u = th_select_fN(near, -th_expm1_fN(x), u);
    tiny = u < LEAST;
    f = th_log_split_fN(th_select_fN(tiny, u * UP, u), &e, &biased);
    e -= th_select_fN(tiny, UP_LOG2, 0.0);
    s = f / (2.0 + f);
    c *= (e == 0.0 ? 1.0 : 2.0) * (1.0 - s) * (1.0 - s * (1.0 - s));
    y = -__builtin_fabs(th_log_sum_fN(f, e, s, c));
    y = x == 0.0 ? -__builtin_inf() : y;
    y = x > 0.0 ? __builtin_nan("") : y;
    return x == x ? y : x;
}
