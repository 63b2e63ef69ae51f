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

/* @snippet log_f64 needs log_split_f64 */
TH_INLINE double th_log_f64(double x)
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
 * error does not add to the logarithm's. */
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
    return x > 0.0 ? x + y : (x == x ? y : x);
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

/* @snippet log_f32 needs log_split_f32 */
TH_INLINE float th_log_f32(float x)
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
    return x > 0.0f ? x + y : (x == x ? y : x);
}
