/* log, log1p, log2, log10 and softplus.
 *
 * Method (P. T. P. Tang, ACM TOMS 16:378, 1990, in the table-free form that K. C. Ng gave
 * it): x = 2^e m with sqrt(1/2) <= m < sqrt(2), f = m - 1, s = f/(2 + f),
 * log(m) = f - f^2/2 + s (f^2/2 + R(s^2)), where R is what remains of
 * log((1+s)/(1-s)) - 2s; then e ln2 is added in two parts, the first exactly.
 * R(z)/z is a minimax polynomial (Remez exchange with mpmath, relative error of the
 * logarithm < 2^-59 for double and < 2^-30 for float).
 */

/* @snippet log_split_f64 needs fma bits_f64 */
/* f = m - 1 and the exponent e as a number, for a normal positive x; *biased is e + 1023 */
TH_INLINE double th_log_split_f64(double x, double *e, uint64_t *biased)
{
    const uint64_t root = 0x3fe6a09e00000000u;
    uint64_t u = th_bits_f64(x) + (0x3ff0000000000000u - root);
    *biased = u >> 52;
    *e = th_from_bits_f64(u >> 52 | 0x4330000000000000u) - (0x1p52 + 1023.0);
    return th_from_bits_f64((u & 0x000fffffffffffffu) + root) - 1.0;
}
/* R(s^2) */
TH_INLINE double th_log_tail_f64(double z)
{
    double z2 = z * z, z4 = z2 * z2;
    double a = TH_FMA(z, 0x1.999999997e99ap-2, 0x1.5555555555596p-1);
    double b = TH_FMA(z, 0x1.c71c510100057p-3, 0x1.2492494322dd4p-2);
    double c = TH_FMA(z, 0x1.399ba898672aap-3, 0x1.7466783936dd5p-3);
    return z * TH_FMA(TH_FMA(0x1.2f45602b10ea9p-3, z2, c), z4, TH_FMA(b, z2, a));
}
/* e ln2 + log(1 + f) + low, for a small `low` */
TH_INLINE double th_log_sum_f64(double f, double e, double s, double low)
{
    double half = 0.5 * f * f;
    low += TH_FMA(e, -0x1.718432a1b0e26p-35, s * (half + th_log_tail_f64(s * s)));
    return TH_FMA(e, 0x1.62e42ffp-1, f - (half - low));
}

/* @snippet log_plain_f64 needs log_split_f64 */
TH_INLINE double th_log_plain_f64(double x)
{
    uint64_t biased;
    double e, f, y;
    int tiny = x < 0x1p-1022;
    f = th_log_split_f64(tiny ? x * 0x1p54 : x, &e, &biased);
    e -= tiny ? 54.0 : 0.0;
    y = th_log_sum_f64(f, e, f / (2.0 + f), 0.0);
    y = x < __builtin_inf() ? y : x;
    y = x < 0.0 ? __builtin_nan("") : y;
    return x == 0.0 ? -__builtin_inf() : y;
}

/* @snippet log_reduce_wide_f64 needs wide */
/* With a table (P. T. P. Tang, ACM TOMS 16:378, 1990): x = 2^e m with 47/64 <= m < 47/32, and for each sixteenth of that
 * there is a c of so few bits that r = m c - 1 is exact, and below 0.043. log(x) is *s + log(1 + r) + *low: the first part
 * of -log(c) has as few bits as ln2's, so that e ln2 is added to it exactly. Around 1 c is 1. For normal x > 0. */
#if TH_WIDE
static const double th_log_c_f64[16] __attribute__((aligned(64))) = {
    0x1.58p+0, 0x1.48p+0, 0x1.38p+0, 0x1.3p+0,
    0x1.28p+0, 0x1.18p+0, 0x1.1p+0, 0x1.08p+0,
    0x1p+0, 0x1.ep-1, 0x1.cp-1, 0x1.bp-1,
    0x1.ap-1, 0x1.8p-1, 0x1.7p-1, 0x1.6p-1,
};
static const double th_log_high_f64[16] __attribute__((aligned(64))) = {
    -0x1.2e8e2bae12p-2, -0x1.fb9186d5e4p-3, -0x1.9525a9cf46p-3, -0x1.5ff3070a7ap-3,
    -0x1.29552f82p-3, -0x1.6f0d28ae58p-4, -0x1.f0a30c0118p-5, -0x1.f829b0e78p-6,
    0.0, 0x1.08598b59e4p-4, 0x1.1178e8227ep-3, 0x1.5bf406b544p-3,
    0x1.a93ed3c8aep-3, 0x1.269621134ep-2, 0x1.522ae0738ap-2, 0x1.7fafa3bd81p-2,
};
static const double th_log_low_f64[16] __attribute__((aligned(64))) = {
    0x1.67b1e99b72bd8p-45, 0x1.d572aab993c87p-47, 0x1.297137d9f158fp-44, 0x1.8586f183bebf2p-44,
    0x1.5b967f4471dfcp-44, 0x1.4b4641b664613p-44, 0x1.d599e83368e91p-45, -0x1.980267c7e09e4p-45,
    0.0, -0x1.7e5dd7009902cp-46, 0x1.1ef78ce2d07f2p-45, -0x1.27023eb68981cp-46,
    -0x1.8724350562169p-45, -0x1.1b61f10522625p-44, 0x1.ebe708164c759p-45, 0x1.46fb79bf6d4cbp-44,
};
TH_INLINE th_f64x8 th_log_reduce_wide_f64(th_f64x8 x, th_f64x8 *s, th_f64x8 *low)
{
    th_i64x8 u = (th_i64x8)x - 0x3fe7800000000000LL, index = u >> 48;
    th_f64x8 e = __builtin_convertvector(u >> 52, th_f64x8), m = (th_f64x8)((th_i64x8)x - (u & -0x10000000000000LL));
    *s = TH_FMA_f64x8(e, TH_ALL_f64x8(0x1.62e42fefa38p-1), TH_LOOK_f64x8(th_log_high_f64, index));
    *low = TH_FMA_f64x8(e, TH_ALL_f64x8(0x1.ef35793c7673p-45), TH_LOOK_f64x8(th_log_low_f64, index));
    return TH_FMA_f64x8(m, TH_LOOK_f64x8(th_log_c_f64, index), TH_ALL_f64x8(-0x1p+0));
}
#endif

/* @snippet log_wide_f64 needs log_reduce_wide_f64 log_plain_f64 */
#if TH_WIDE
#define TH_PLAIN_log_f64(x, y) th_log_plain_f64(x)
TH_WIDE_f64(th_log_wide_f64, 1.0)
TH_WIDE_REST(double, th_f64x8, th_log_wide_f64, TH_PLAIN_log_f64)
TH_INLINE th_f64x8 th_log_wide_f64_th_f64x8(th_f64x8 x, th_f64x8 y)
{
    th_f64x8 low, s, r = th_log_reduce_wide_f64(x, &s, &low), r2 = r * r, r4 = r2 * r2, p, q, t;
    p = TH_FMA_f64x8(r, TH_ALL_f64x8(0x1.555555555555bp-2), TH_ALL_f64x8(-0.5));
    q = TH_FMA_f64x8(r, TH_ALL_f64x8(0x1.9999999985745p-3), TH_ALL_f64x8(-0x1.ffffffffff407p-3));
    p = TH_FMA_f64x8(q, r2, p);
    q = TH_FMA_f64x8(r, TH_ALL_f64x8(0x1.249249d0c833cp-3), TH_ALL_f64x8(-0x1.55555562d1cb2p-3));
    t = TH_FMA_f64x8(r, TH_ALL_f64x8(0x1.c717ff702c961p-4), TH_ALL_f64x8(-0x1.ffff5e694abf7p-4));
    q = TH_FMA_f64x8(t, r2, q);
    t = TH_FMA_f64x8(r, TH_ALL_f64x8(0x1.79cf08b47c2cep-4), TH_ALL_f64x8(-0x1.9b255510a25abp-4));
    q = TH_FMA_f64x8(t, r4, q);
    p = TH_FMA_f64x8(q, r4, p);
    s += r + TH_FMA_f64x8(r2, p, low);
    int which = __builtin_ia32_fpclasspd512_mask(x, 0xff, -1) & 0xff;
    return __builtin_expect(which, 0) ? th_log_wide_f64_rest(x, y, s, which) : s;
}
#endif

/* @snippet log_f64 needs log_wide_f64 */
TH_INLINE double th_log_f64(double x)
{
#if TH_WIDE
    return th_log_wide_f64(x, x);
#else
    return th_log_plain_f64(x);
#endif
}

/* @snippet log1p_pair_f64 needs log_split_f64 */
/* log(1 + x + low) for finite x > -1 and a small `low`: log(u) for u = 1 + x rounded, plus c/u for what the
 * rounding took away. */
TH_INLINE double th_log1p_pair_f64(double x, double low)
{
    uint64_t biased;
    double u = 1.0 + x, b = u - 1.0, c = ((1.0 - (u - b)) + (x - b)) + low, e, f, s;
    f = th_log_split_f64(u, &e, &biased);
    s = f / (2.0 + f);
    /* c/u = (c 2^-e)/m, and 1/m = (1 - s)/(1 + s) need only a few bits */
    c *= th_from_bits_f64((2046u - biased) << 52) * (1.0 - s) * (1.0 - s * (1.0 - s));
    return th_log_sum_f64(f, e, s, x > 0x1p60 ? 0.0 : c);
}

/* @snippet log1p_f64 needs log1p_pair_f64 */
TH_INLINE double th_log1p_f64(double x)
{
    double y = th_log1p_pair_f64(x, 0.0);
    y = x < __builtin_inf() ? y : x;
    y = x < -1.0 ? __builtin_nan("") : y;
    y = x == -1.0 ? -__builtin_inf() : y;
    return x == 0.0 ? x : y;
}

/* @snippet arcsinh_f64 needs log1p_pair_f64 */
/* log1p(a + (a^2/(1 + sqrt(1 + a^2)))), and log(2a) far out. */
TH_INLINE double th_arcsinh_f64(double x)
{
    double a = __builtin_fabs(x), square = a * a, more = square / (1.0 + sqrt(1.0 + square));
    double t = a + more, y;
    int far = a > 0x1p60;
    y = th_log1p_pair_f64(far ? a : t, far ? 0.0 : (a - t) + more) + (far ? 0x1.62e42fefa39efp-1 : 0.0);
    return __builtin_copysign(a < __builtin_inf() ? y : a, x);
}

/* @snippet arccosh_f64 needs log1p_pair_f64 */
/* log1p(t + sqrt(t^2 + 2t)) for t = x - 1, and log(2x) far out. Near 1 the root is the result, so it gets
 * back what its argument and it were rounded by. */
TH_INLINE double th_arccosh_f64(double x)
{
    double t = x - 1.0, lost = (x - t) - 1.0, twice = 2.0 * t, w = TH_FMA(t, t, twice), root = sqrt(w), y;
    double left = TH_FMA(-root, root, w) + TH_FMA(t, t, twice - w), sum = t + root;
    int far = x > 0x1p60;
    left *= 0.5 / (w > 0.0 ? root : 1.0);
    left += (t > root ? (t - sum) + root : (root - sum) + t) + 2.0 * lost;
    y = th_log1p_pair_f64(far ? x : sum, far ? 0.0 : left) + (far ? 0x1.62e42fefa39efp-1 : 0.0);
    y = x < __builtin_inf() ? y : x;
    return x < 1.0 ? __builtin_nan("") : (x == 1.0 ? 0.0 : y);
}

/* @snippet arctanh_f64 needs log1p_pair_f64 */
/* log1p(2a/(1 - a))/2 */
TH_INLINE double th_arctanh_f64(double x)
{
    double a = __builtin_fabs(x), d = 1.0 - a, over = 1.0 / (a < 1.0 ? d : 1.0), t = 2.0 * a * over, y;
    y = 0.5 * th_log1p_pair_f64(t, (TH_FMA(-t, d, 2.0 * a) - t * ((1.0 - d) - a)) * over);
    y = a < 1.0 ? y : (a == 1.0 ? __builtin_inf() : __builtin_nan(""));
    return __builtin_copysign(y, x);
}

/* @snippet log_parts_f64 needs log_split_f64 */
/* log(1 + f) as a sum: the first part has 21 bits, so that its products with 33-bit constants are exact. */
TH_INLINE double th_log_parts_f64(double f, double *low)
{
    double half = 0.5 * f * f, s = f / (2.0 + f), first = f - half, high;
    high = th_from_bits_f64(th_bits_f64(first) & 0xffffffff00000000u);
    *low = (first - high) + ((f - first) - half) + s * (half + th_log_tail_f64(s * s));
    return high;
}
/* What every logarithm gives at the ends of its domain. */
TH_INLINE double th_log_ends_f64(double x, double y)
{
    y = x < __builtin_inf() ? y : x;
    y = x < 0.0 ? __builtin_nan("") : y;
    return x == 0.0 ? -__builtin_inf() : y;
}

/* @snippet log2_f64 needs log_parts_f64 */
TH_INLINE double th_log2_f64(double x)
{
    uint64_t biased;
    double e, f, high, low, product, w;
    int tiny = x < 0x1p-1022;
    f = th_log_split_f64(tiny ? x * 0x1p54 : x, &e, &biased);
    e -= tiny ? 54.0 : 0.0;
    high = th_log_parts_f64(f, &low);
    product = high * 0x1.71547653p+0;
    low = TH_FMA(low, 0x1.71547652b82fep+0, high * -0x1.1f407a220bc01p-34);
    w = e + product;
    return th_log_ends_f64(x, w + (low + ((e - w) + product)));
}

/* @snippet log10_f64 needs log_parts_f64 */
TH_INLINE double th_log10_f64(double x)
{
    uint64_t biased;
    double e, f, high, low, product, w, y;
    int tiny = x < 0x1p-1022;
    f = th_log_split_f64(tiny ? x * 0x1p54 : x, &e, &biased);
    e -= tiny ? 54.0 : 0.0;
    high = th_log_parts_f64(f, &low);
    product = high * 0x1.bcb7b152p-2;
    low = TH_FMA(low, 0x1.bcb7b1526e50ep-2, high * 0x1.b9438ca9aadd5p-36);
    low = TH_FMA(e, -0x1.0c0219dc1da99p-39, low);
    y = e * 0x1.3441350ap-2;
    w = y + product;
    return th_log_ends_f64(x, w + (low + ((y - w) + product)));
}

/* @snippet softplus_f64 needs exp_pair_f64 log_split_f64 */
/* max(x, 0) + log1p(exp(-|x|)): the exponential arrives as a pair, so that its own
 * error does not add to the logarithm's. The last sum is written without a choice between
 * sums: in a loop over softplus(x) and softplus(-x) that would become a branch. */
TH_INLINE double th_softplus_f64(double x)
{
    uint64_t biased;
    double low, t, u, b, c, e, f, s, y, a = __builtin_fabs(x);
    t = th_exp_pair_f64(-a, &low);
    t = a > 746.0 ? 0.0 : t;
    u = 1.0 + t;
    b = u - 1.0;
    c = (t - b) + low;
    f = th_log_split_f64(u, &e, &biased);
    s = f / (2.0 + f);
    c *= (e == 0.0 ? 1.0 : 0.5) * (1.0 - s) * (1.0 - s * (1.0 - s));
    y = th_log_sum_f64(f, e, s, c);
    y = t < 0x1p-60 ? t : y;
    y = x == x ? y : x;
    return (x > 0.0 ? x : 0.0) + y;
}

/* @snippet log_split_f32 needs fma bits_f32 */
TH_INLINE float th_log_split_f32(float x, float *e, uint32_t *biased)
{
    const uint32_t root = 0x3f3504f3u;
    uint32_t u = th_bits_f32(x) + (0x3f800000u - root);
    *biased = u >> 23;
    *e = (float)((int32_t)(u >> 23) - 127);
    return th_from_bits_f32((u & 0x007fffffu) + root) - 1.0f;
}
TH_INLINE float th_log_tail_f32(float z)
{
    float a = TH_FMAF(z, 0x1.999a8p-2f, 0x1.555554p-1f);
    float b = TH_FMAF(z, 0x1.e3306ep-3f, 0x1.24376p-2f);
    return z * TH_FMAF(b, z * z, a);
}
TH_INLINE float th_log_sum_f32(float f, float e, float s, float low)
{
    float half = 0.5f * f * f;
    low += TH_FMAF(e, -0x1.e8082ep-16f, s * (half + th_log_tail_f32(s * s)));
    return TH_FMAF(e, 0x1.62e8p-1f, f - (half - low));
}

/* @snippet log_plain_f32 needs log_split_f32 */
TH_INLINE float th_log_plain_f32(float x)
{
    uint32_t biased;
    float e, f, y;
    int tiny = x < 0x1p-126f;
    f = th_log_split_f32(tiny ? x * 0x1p25f : x, &e, &biased);
    e -= tiny ? 25.0f : 0.0f;
    y = th_log_sum_f32(f, e, f / (2.0f + f), 0.0f);
    y = x < __builtin_inff() ? y : x;
    y = x < 0.0f ? __builtin_nanf("") : y;
    return x == 0.0f ? -__builtin_inff() : y;
}

/* @snippet log_reduce_wide_f32 needs wide */
/* As in double. */
#if TH_WIDE
static const float th_log_c_f32[16] __attribute__((aligned(64))) = {
    0x1.58p+0f, 0x1.48p+0f, 0x1.38p+0f, 0x1.3p+0f,
    0x1.28p+0f, 0x1.18p+0f, 0x1.1p+0f, 0x1.08p+0f,
    0x1p+0f, 0x1.ep-1f, 0x1.cp-1f, 0x1.bp-1f,
    0x1.ap-1f, 0x1.8p-1f, 0x1.7p-1f, 0x1.6p-1f,
};
static const float th_log_high_f32[16] __attribute__((aligned(64))) = {
    -0x1.2e9p-2f, -0x1.fb9p-3f, -0x1.9528p-3f, -0x1.5ffp-3f,
    -0x1.2958p-3f, -0x1.6f1p-4f, -0x1.f0ap-5f, -0x1.f84p-6f,
    0.0f, 0x1.086p-4f, 0x1.1178p-3f, 0x1.5bf8p-3f,
    0x1.a94p-3f, 0x1.2698p-2f, 0x1.522cp-2f, 0x1.7fbp-2f,
};
static const float th_log_low_f32[16] __attribute__((aligned(64))) = {
    0x1.d451eep-18f, -0x1.86d5e4p-19f, 0x1.2b185ep-18f, -0x1.83853cp-18f,
    0x1.683fp-18f, 0x1.6ba8d4p-19f, -0x1.86008cp-20f, 0x1.64f188p-18f,
    0.0f, -0x1.9d2988p-18f, 0x1.d044fcp-20f, -0x1.fca55ep-18f,
    -0x1.2c3752p-19f, -0x1.deecb2p-18f, -0x1.1f8c76p-18f, -0x1.7109fap-20f,
};
TH_INLINE th_f32x16 th_log_reduce_wide_f32(th_f32x16 x, th_f32x16 *s, th_f32x16 *low)
{
    th_i32x16 u = (th_i32x16)x - 0x3f3c0000, index = u >> 19;
    th_f32x16 e = __builtin_convertvector(u >> 23, th_f32x16), m = (th_f32x16)((th_i32x16)x - (u & -0x800000));
    *s = TH_FMA_f32x16(e, TH_ALL_f32x16(0x1.62e4p-1f), TH_LOOK_f32x16(th_log_high_f32, index));
    *low = TH_FMA_f32x16(e, TH_ALL_f32x16(0x1.7f7d1cp-20f), TH_LOOK_f32x16(th_log_low_f32, index));
    return TH_FMA_f32x16(m, TH_LOOK_f32x16(th_log_c_f32, index), TH_ALL_f32x16(-0x1p+0f));
}
#endif

/* @snippet log_wide_f32 needs log_reduce_wide_f32 log_plain_f32 */
#if TH_WIDE
#define TH_PLAIN_log_f32(x, y) th_log_plain_f32(x)
TH_WIDE_f32(th_log_wide_f32, 1.0f)
TH_WIDE_REST(float, th_f32x16, th_log_wide_f32, TH_PLAIN_log_f32)
TH_INLINE th_f32x16 th_log_wide_f32_th_f32x16(th_f32x16 x, th_f32x16 y)
{
    th_f32x16 low, s, r = th_log_reduce_wide_f32(x, &s, &low), r2 = r * r, p, q;
    p = TH_FMA_f32x16(r, TH_ALL_f32x16(0x1.555514p-2f), TH_ALL_f32x16(-0.5f));
    q = TH_FMA_f32x16(r, TH_ALL_f32x16(0x1.9c0fap-3f), TH_ALL_f32x16(-0x1.0042c8p-2f));
    p = TH_FMA_f32x16(q, r2, p);
    s += r + TH_FMA_f32x16(r2, p, low);
    int which = __builtin_ia32_fpclassps512_mask(x, 0xff, -1) & 0xffff;
    return __builtin_expect(which, 0) ? th_log_wide_f32_rest(x, y, s, which) : s;
}
#endif

/* @snippet log_f32 needs log_wide_f32 */
TH_INLINE float th_log_f32(float x)
{
#if TH_WIDE
    return th_log_wide_f32(x, x);
#else
    return th_log_plain_f32(x);
#endif
}

/* @snippet log1p_pair_f32 needs log_split_f32 */
/* log(1 + x + low) for finite x > -1 and a small `low`: log(u) for u = 1 + x rounded, plus c/u for what the
 * rounding took away. */
TH_INLINE float th_log1p_pair_f32(float x, float low)
{
    uint32_t biased;
    float u = 1.0f + x, b = u - 1.0f, c = ((1.0f - (u - b)) + (x - b)) + low, e, f, s;
    f = th_log_split_f32(u, &e, &biased);
    s = f / (2.0f + f);
    /* c/u = (c 2^-e)/m, and 1/m = (1 - s)/(1 + s) need only a few bits */
    c *= th_from_bits_f32((254u - biased) << 23) * (1.0f - s) * (1.0f - s * (1.0f - s));
    return th_log_sum_f32(f, e, s, x > 0x1p30f ? 0.0f : c);
}

/* @snippet log1p_f32 needs log1p_pair_f32 */
TH_INLINE float th_log1p_f32(float x)
{
    float y = th_log1p_pair_f32(x, 0.0f);
    y = x < __builtin_inff() ? y : x;
    y = x < -1.0f ? __builtin_nanf("") : y;
    y = x == -1.0f ? -__builtin_inff() : y;
    return x == 0.0f ? x : y;
}

/* @snippet arcsinh_f32 needs log1p_pair_f32 */
/* log1p(a + (a^2/(1 + sqrt(1 + a^2)))), and log(2a) far out. */
TH_INLINE float th_arcsinh_f32(float x)
{
    float a = __builtin_fabsf(x), square = a * a, more = square / (1.0f + sqrtf(1.0f + square));
    float t = a + more, y;
    int far = a > 0x1p30f;
    y = th_log1p_pair_f32(far ? a : t, far ? 0.0f : (a - t) + more) + (far ? 0x1.62e43p-1f : 0.0f);
    return __builtin_copysignf(a < __builtin_inff() ? y : a, x);
}

/* @snippet arccosh_f32 needs log1p_pair_f32 */
/* log1p(t + sqrt(t^2 + 2t)) for t = x - 1, and log(2x) far out. Near 1 the root is the result, so it gets
 * back what its argument and it were rounded by. */
TH_INLINE float th_arccosh_f32(float x)
{
    float t = x - 1.0f, lost = (x - t) - 1.0f, twice = 2.0f * t, w = TH_FMAF(t, t, twice), root = sqrtf(w), y;
    float left = TH_FMAF(-root, root, w) + TH_FMAF(t, t, twice - w), sum = t + root;
    int far = x > 0x1p30f;
    left *= 0.5f / (w > 0.0f ? root : 1.0f);
    left += (t > root ? (t - sum) + root : (root - sum) + t) + 2.0f * lost;
    y = th_log1p_pair_f32(far ? x : sum, far ? 0.0f : left) + (far ? 0x1.62e43p-1f : 0.0f);
    y = x < __builtin_inff() ? y : x;
    return x < 1.0f ? __builtin_nanf("") : (x == 1.0f ? 0.0f : y);
}

/* @snippet arctanh_f32 needs log1p_pair_f32 */
/* log1p(2a/(1 - a))/2 */
TH_INLINE float th_arctanh_f32(float x)
{
    float a = __builtin_fabsf(x), d = 1.0f - a, over = 1.0f / (a < 1.0f ? d : 1.0f), t = 2.0f * a * over, y;
    y = 0.5f * th_log1p_pair_f32(t, (TH_FMAF(-t, d, 2.0f * a) - t * ((1.0f - d) - a)) * over);
    y = a < 1.0f ? y : (a == 1.0f ? __builtin_inff() : __builtin_nanf(""));
    return __builtin_copysignf(y, x);
}

/* @snippet log_parts_f32 needs log_split_f32 */
/* log(1 + f) as a sum: the first part has 12 bits, so that its products with 12-bit constants are exact. */
TH_INLINE float th_log_parts_f32(float f, float *low)
{
    float half = 0.5f * f * f, s = f / (2.0f + f), first = f - half, high;
    high = th_from_bits_f32(th_bits_f32(first) & 0xfffff000u);
    *low = (first - high) + ((f - first) - half) + s * (half + th_log_tail_f32(s * s));
    return high;
}
/* What every logarithm gives at the ends of its domain. */
TH_INLINE float th_log_ends_f32(float x, float y)
{
    y = x < __builtin_inff() ? y : x;
    y = x < 0.0f ? __builtin_nanf("") : y;
    return x == 0.0f ? -__builtin_inff() : y;
}

/* @snippet log2_f32 needs log_parts_f32 */
TH_INLINE float th_log2_f32(float x)
{
    uint32_t biased;
    float e, f, high, low, product, w;
    int tiny = x < 0x1p-126f;
    f = th_log_split_f32(tiny ? x * 0x1p25f : x, &e, &biased);
    e -= tiny ? 25.0f : 0.0f;
    high = th_log_parts_f32(f, &low);
    product = high * 0x1.716p+0f;
    low = TH_FMAF(low, 0x1.715476p+0f, high * -0x1.7135a8p-13f);
    w = e + product;
    return th_log_ends_f32(x, w + (low + ((e - w) + product)));
}

/* @snippet log10_f32 needs log_parts_f32 */
TH_INLINE float th_log10_f32(float x)
{
    uint32_t biased;
    float e, f, high, low, product, w, y;
    int tiny = x < 0x1p-126f;
    f = th_log_split_f32(tiny ? x * 0x1p25f : x, &e, &biased);
    e -= tiny ? 25.0f : 0.0f;
    high = th_log_parts_f32(f, &low);
    product = high * 0x1.bccp-2f;
    low = TH_FMAF(low, 0x1.bcb7b2p-2f, high * -0x1.09d5b2p-15f);
    low = TH_FMAF(e, 0x1.3509f8p-18f, low);
    y = e * 0x1.344p-2f;
    w = y + product;
    return th_log_ends_f32(x, w + (low + ((y - w) + product)));
}

/* @snippet softplus_f32 needs exp_pair_f32 log_split_f32 */
TH_INLINE float th_softplus_f32(float x)
{
    uint32_t biased;
    float low, t, u, b, c, e, f, s, y, a = __builtin_fabsf(x);
    t = th_exp_pair_f32(-a, &low);
    t = a > 105.0f ? 0.0f : t;
    u = 1.0f + t;
    b = u - 1.0f;
    c = (t - b) + low;
    f = th_log_split_f32(u, &e, &biased);
    s = f / (2.0f + f);
    c *= (e == 0.0f ? 1.0f : 0.5f) * (1.0f - s) * (1.0f - s * (1.0f - s));
    y = th_log_sum_f32(f, e, s, c);
    y = t < 0x1p-30f ? t : y;
    y = x == x ? y : x;
    return (x > 0.0f ? x : 0.0f) + y;
}
