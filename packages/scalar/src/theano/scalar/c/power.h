/* pow.
 *
 * |x|^y = exp(y log|x|). The product is as large as 745, so the logarithm needs eleven bits more than a double has:
 * it is made as a sum of two doubles (the algorithm of logarithm.h, its first two terms in T. J. Dekker's
 * arithmetic, Numer. Math. 18:224, 1971), and so is the product. In float everything is computed in double.
 * The signs and the special cases are those of C99 (Annex F). The polynomials are minimax
 * (Remez exchange with mpmath; relative error of the logarithm < 2^-73 for double, < 2^-37 for float).
 */

/* @snippet residual_f64 needs fma bits_f64 */
/* a b - p for a p that is a b rounded (Dekker's splitting where there is no fused multiply-add) */
TH_INLINE double th_residual_f64(double a, double b, double p)
{
#if TH_FUSED
    return TH_FMA(a, b, -p);
#else
    double a1 = th_from_bits_f64(th_bits_f64(a) & 0xfffffffff8000000u), a2 = a - a1;
    double b1 = th_from_bits_f64(th_bits_f64(b) & 0xfffffffff8000000u), b2 = b - b1;
    return ((a1 * b1 - p) + (a1 * b2 + a2 * b1)) + a2 * b2;
#endif
}

/* @snippet log_precise_f64 needs log_split_f64 residual_f64 */
/* log(x) for finite x > 0 as a sum of two numbers, to 2^-66 of itself */
TH_INLINE double th_log_precise_f64(double x, double *low)
{
    uint64_t biased;
    int tiny = x < 0x1p-1022;
    double e, f = th_log_split_f64(tiny ? x * 0x1p54 : x, &e, &biased), d = 2.0 + f, over = 1.0 / d;
    double s = f * over, s_low = -(th_residual_f64(s, d, f) + s * (f - (d - 2.0))) * over;
    double z = s * s, z_low = th_residual_f64(s, s, z) + 2.0 * s * s_low, z2 = z * z, z4 = z2 * z2;
    double cube = s * z, cube_low = th_residual_f64(s, z, cube) + (s * z_low + s_low * z);
    double a = TH_FMA(z, 0x1.2492492492f56p-2, 0x1.9999999999996p-2);
    double b = TH_FMA(z, 0x1.745d1829f0381p-3, 0x1.c71c71c595949p-3);
    double c = TH_FMA(z, 0x1.112077197e71cp-3, 0x1.3b136499b6155p-3);
    double g = TH_FMA(z, 0x1.ead1aebbd9674p-4, 0x1.de3c1610c47abp-4), p, q, q_low, t, t_low, sum, all;
    p = z * TH_FMA(TH_FMA(g, z2, c), z4, TH_FMA(b, z2, a));
    q = 0x1.5555555555555p-1 + p;
    q_low = ((0x1.5555555555555p-1 - q) + p) + TH_FMA(z_low, 0.41, 0x1.5555555555555p-55);
    t = cube * q;
    t_low = th_residual_f64(cube, q, t) + (cube * q_low + cube_low * q);
    e -= tiny ? 54.0 : 0.0;
    p = e * 0x1.62e42ffp-1;
    sum = p + 2.0 * s;
    all = sum + t;
    t_low += ((p - sum) + 2.0 * s) + ((sum - all) + t) + TH_FMA(e, -0x1.718432a1b0e26p-35, 2.0 * s_low);
    p = all + t_low;
    *low = (all - p) + t_low;
    return p;
}

/* @snippet pow_ends_f64 needs bits_f64 */
/* From |x|^y to x^y: the sign, nan for a fraction of a negative number, and 1. */
TH_INLINE double th_pow_ends_f64(double x, double y, double power)
{
    double b = __builtin_fabs(y), shifted = b < 0x1p52 ? b + 0x1p52 : b;
    int whole = (b < 0x1p52 ? shifted - 0x1p52 : b) == b, odd = whole & (b < 0x1p53) & (int)(th_bits_f64(shifted) & 1);
    power = (x < 0.0) & (x > -__builtin_inf()) & !whole & (b == b) ? __builtin_nan("") : power;
    power = odd ? __builtin_copysign(power, x) : power;
    return ((y == 0.0) | (x == 1.0) | ((x == -1.0) & (b == __builtin_inf()))) ? 1.0 : power;
}

/* @snippet pow_f64 needs log_precise_f64 exp_reduce_f64 pow_ends_f64 */
TH_INLINE double th_pow_f64(double x, double y)
{
    double a = __builtin_fabs(x), l, low, p, n, shifted, half, r, t, m;
    l = th_log_precise_f64(a, &low);
    l = a < __builtin_inf() ? l : a;
    l = a == 0.0 ? -__builtin_inf() : l;
    p = y * l;
    low = __builtin_fabs(p) > 800.0 ? 0.0 : th_residual_f64(y, l, p) + y * low;
    p = p > 710.0 ? 710.0 : p;
    p = p < -746.0 ? -746.0 : p;
    (void)th_exp_reduce_f64(p, &n, &shifted);
    t = TH_FMA(n, -0x1.62e42ffp-1, p);
    r = TH_FMA(n, 0x1.718432a1b0e26p-35, t);
    low += TH_FMA(n, 0x1.718432a1b0e26p-35, t - r);
    m = r * r * th_exp_tail_f64(r);
    m = TH_FMA(low, 1.0 + (r + m), m);
    t = 1.0 + r;
    m += (1.0 - t) + r;
    half = TH_FMA(n, 0.5, 0x1.8p52);
    t = (t + m) * th_exp2_scale_f64(half) * th_exp2_scale_f64(n - (half - 0x1.8p52) + 0x1.8p52);
    return th_pow_ends_f64(x, y, t);
}

/* @snippet pow_ends_f32 needs bits_f32 */
TH_INLINE float th_pow_ends_f32(float x, float y, float power)
{
    float b = __builtin_fabsf(y), shifted = b < 0x1p23f ? b + 0x1p23f : b;
    int whole = (b < 0x1p23f ? shifted - 0x1p23f : b) == b, odd = whole & (b < 0x1p24f) & (int)(th_bits_f32(shifted) & 1);
    power = (x < 0.0f) & (x > -__builtin_inff()) & !whole & (b == b) ? __builtin_nanf("") : power;
    power = odd ? __builtin_copysignf(power, x) : power;
    return ((y == 0.0f) | (x == 1.0f) | ((x == -1.0f) & (b == __builtin_inff()))) ? 1.0f : power;
}

/* @snippet pow_f32 needs log_split_f64 exp_reduce_f64 pow_ends_f32 */
TH_INLINE float th_pow_f32(float x, float y)
{
    uint64_t biased;
    double a = __builtin_fabs((double)x), e, f = th_log_split_f64(a, &e, &biased), s = f / (2.0 + f), z = s * s, p, n, r, q;
    q = TH_FMA(TH_FMA(z, 0x1.e2ff2c026bdbp-3, 0x1.2438a0dc8b275p-2), z * z,
               TH_FMA(z, 0x1.999a7b507dd2ap-2, 0x1.555554fd3de16p-1));
    p = TH_FMA(e, 0x1.62e42fefa39efp-1, TH_FMA(s * z, q, 2.0 * s));
    p = a < __builtin_inf() ? p : a;
    p = a == 0.0 ? -__builtin_inf() : p;
    p *= y;
    p = p > 90.0 ? 90.0 : p;
    p = p < -110.0 ? -110.0 : p;
    e = TH_FMA(p, 0x1.71547652b82fep+0, 0x1.8p52);
    n = e - 0x1.8p52;
    r = TH_FMA(n, 0x1.718432a1b0e26p-35, TH_FMA(n, -0x1.62e42ffp-1, p));
    z = r * r;
    q = TH_FMA(TH_FMA(r, 0x1.9f82db7de4db3p-13, 0x1.6d96ab3188fd4p-10), z, TH_FMA(r, 0x1.1113f86ec8138p-7, 0x1.55548889757cp-5));
    q = TH_FMA(q, z, TH_FMA(r, 0x1.55555178234aap-3, 0x1.0000003a6cd85p-1));
    return th_pow_ends_f32(x, y, (float)((1.0 + TH_FMA(q, z, r)) * th_exp2_scale_f64(e)));
}
