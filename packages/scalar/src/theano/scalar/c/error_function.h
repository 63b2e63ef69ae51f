/* erf, erfc, erfcx and the inverses of the first two.
 *
 * erf: below 1, x + x P(x^2); above, 1 - exp(-x^2) R(4/(x + 2)), where R is the rest of the complement when
 * its exponential is taken out. P and R are minimax polynomials (Remez exchange with mpmath; relative
 * error of the result < 2^-60 for double and < 2^-29 for float), their even and odd terms summed apart.
 */

/* @where N is    64     32
 * ERF_MOST       6.0    4.0     erf is 1 above
 */

/* @snippet erf_fN needs exp_reduce_fN */
TH_INLINE floatN th_erf_fN(floatN x)
{
    floatN n, shifted, r, even, odd, small, large;
    floatN a = __builtin_fabs(x), c = a > ERF_MOST ? ERF_MOST : a, z = a > 1.0 ? 1.0 : a * a, w = z * z;
#if N == 64
    even = 0x1.0579b19580346p-34;
    even = TH_FMA(even, w, 0x1.f7a41318d7dddp-27);
    even = TH_FMA(even, w, 0x1.b9def1a0cf517p-20);
    even = TH_FMA(even, w, 0x1.f9a321a1213a6p-14);
    even = TH_FMA(even, w, 0x1.565bcd0db02f1p-8);
    even = TH_FMA(even, w, 0x1.ce2f21a042b20p-4);
    even = TH_FMA(even, w, 0x1.06eba8214db69p-3);
    odd = -0x1.386ac3748bbebp-30;
    odd = TH_FMA(odd, w, -0x1.5f1d36d93c98fp-23);
    odd = TH_FMA(odd, w, -0x1.f4d1df398807ap-17);
    odd = TH_FMA(odd, w, -0x1.c02db3d8ed459p-11);
    odd = TH_FMA(odd, w, -0x1.b82ce3128499dp-6);
    odd = TH_FMA(odd, w, -0x1.812746b0379e6p-2);
#else
    even = 0x1.496a38p-14;
    even = TH_FMA(even, w, 0x1.5405b2p-8);
    even = TH_FMA(even, w, 0x1.ce2cf8p-4);
    even = TH_FMA(even, w, 0x1.06eba8p-3);
    odd = -0x1.a3f702p-11;
    odd = TH_FMA(odd, w, -0x1.b7f90ep-6);
    odd = TH_FMA(odd, w, -0x1.81273ep-2);
#endif
    small = TH_FMA(a, TH_FMA(odd, z, even), a);
    z = 4.0 / (c + 2.0);
    w = z * z;
#if N == 64
    even = -0x1.a786efa7092d5p-17;
    even = TH_FMA(even, w, -0x1.1fcdc548647d8p-10);
    even = TH_FMA(even, w, -0x1.fdd2a39b7fa94p-8);
    even = TH_FMA(even, w, -0x1.47daf8c38da4cp-7);
    even = TH_FMA(even, w, 0x1.e717a5df59ec5p-8);
    even = TH_FMA(even, w, 0x1.1f918d5081ed5p-4);
    even = TH_FMA(even, w, -0x1.9d210de24cd5dp-19);
    odd = 0x1.7566ffef0a560p-13;
    odd = TH_FMA(odd, w, 0x1.f092a0a08dc3fp-9);
    odd = TH_FMA(odd, w, 0x1.41962861d876bp-7);
    odd = TH_FMA(odd, w, 0x1.3b694b4781895p-7);
    odd = TH_FMA(odd, w, 0x1.07687057fd94fp-5);
    odd = TH_FMA(odd, w, 0x1.20f5c3707c48ep-3);
#else
    even = 0x1.45e128p-5;
    even = TH_FMA(even, w, 0x1.963036p-4);
    even = TH_FMA(even, w, 0x1.dc9362p-10);
    odd = -0x1.d88b5ep-8;
    odd = TH_FMA(odd, w, -0x1.0716fap-7);
    odd = TH_FMA(odd, w, 0x1.09f922p-3);
#endif
    r = th_exp_reduce_fN(-(c * c), &n, &shifted);
    large = 1.0 + TH_FMA(r * r, th_exp_tail_fN(r), r);
    large = 1.0 - large * th_exp2_scale_fN(shifted) * TH_FMA(odd, z, even);
    return __builtin_copysign(a < 1.0 ? small : large, x);
}

/* @snippet erfcx_pair_f64 needs residual_f64 */
/* exp(a^2) erfc(a) for a >= 0 as a sum of two numbers. With the pole's half taken out, (1 + 2a) times it stays
 * between 1 and 1.24, and is smooth in u = (4.5 - a)/(4.5 + a) from 0 to infinity (M. Shepherd and J. Laframboise,
 * Math. Comp. 36:249, 1981). The slope in u is so high near 0 that u's own rounding has to be made good. */
TH_INLINE double th_erfcx_pair_f64(double a, double *low)
{
    double top = 4.5 - a, bottom = 4.5 + a, over = 1.0 / bottom, u = top * over, w = u * u, even, odd, p, y, b, slope;
    even = -0x1.7dd6d515da865p-35;
    even = TH_FMA(even, w, 0x1.25ec6425493edp-30);
    even = TH_FMA(even, w, -0x1.10846f3305c60p-26);
    even = TH_FMA(even, w, 0x1.8763ce9aa276ep-23);
    even = TH_FMA(even, w, -0x1.b3a74bc2e21cbp-20);
    even = TH_FMA(even, w, 0x1.0624e335300b9p-17);
    even = TH_FMA(even, w, 0x1.1c53ab6d1aea9p-14);
    even = TH_FMA(even, w, -0x1.851b30c03a4bfp-10);
    even = TH_FMA(even, w, -0x1.d0380b9809d5dp-7);
    even = TH_FMA(even, w, -0x1.a6d21323f40e4p-5);
    even = TH_FMA(even, w, -0x1.7201a6b9b8c4bp-4);
    even = TH_FMA(even, w, -0x1.634e2356a5c30p-5);
    even = TH_FMA(even, w, 0x1.17f9e45814b5bp-3);
    odd = 0x1.4027cbf149c0ep-31;
    odd = TH_FMA(odd, w, -0x1.f17100f769c2cp-28);
    odd = TH_FMA(odd, w, 0x1.91a83525b9ab7p-25);
    odd = TH_FMA(odd, w, -0x1.aae554fc6a556p-24);
    odd = TH_FMA(odd, w, -0x1.5277f31f057d4p-19);
    odd = TH_FMA(odd, w, 0x1.718e6b2574b4ap-15);
    odd = TH_FMA(odd, w, -0x1.7e12b5afed8abp-13);
    odd = TH_FMA(odd, w, -0x1.622bbad1b3734p-8);
    odd = TH_FMA(odd, w, -0x1.e64e75c5cb0dbp-6);
    odd = TH_FMA(odd, w, -0x1.34023c8e6ba8ap-4);
    odd = TH_FMA(odd, w, -0x1.565641b01e784p-4);
    odd = TH_FMA(odd, w, 0x1.112792084c15dp-5);
    odd = u * TH_FMA(odd, u, even);
    p = 0x1.398fa42e218fbp+0 + odd;
    slope = TH_FMA(TH_FMA(-1.286, u, -1.048), w, TH_FMA(0.340, u, 0.274));
    top = (((4.5 - top) - a) - th_residual_f64(u, bottom, top)) - u * (a - (bottom - 4.5));
    odd += (0x1.398fa42e218fbp+0 - p) + TH_FMA(top * over, slope, 0x1.b662d8a75ca54p-54);
    b = TH_FMA(2.0, a, 1.0);
    over = 1.0 / b;
    y = p * over;
    *low = ((odd - th_residual_f64(y, b, p)) - y * (2.0 * a - (b - 1.0))) * over;
    return y;
}

/* @snippet erfc_f64 needs erfcx_pair_f64 exp_pair_f64 */
/* exp(-x^2) erfcx(|x|), and 2 minus that for negative x. */
TH_INLINE double th_erfc_f64(double x)
{
    double a = __builtin_fabs(x), c = a > 27.5 ? 27.5 : a, square = c * c, e, e_low, r, r_low, y;
    r = th_erfcx_pair_f64(c, &r_low);
    e = th_exp_pair_f64(square > 746.0 ? -746.0 : -square, &e_low);
    r_low -= r * th_residual_f64(c, c, square);
    y = TH_FMA(e, r, TH_FMA(e, r_low, e_low * r));
    y = x < 0.0 ? 2.0 - y : y;
    return x == x ? y : x;
}

/* @snippet erfcx_f64 needs erfcx_pair_f64 exp_pair_f64 */
/* For negative x it is 2 exp(x^2) - erfcx(|x|). */
TH_INLINE double th_erfcx_f64(double x)
{
    double a = __builtin_fabs(x), b = a > 27.0 ? 27.0 : a, square = b * b, e, e_low, r, r_low, y;
    r = th_erfcx_pair_f64(a > 0x1p1022 ? 0x1p1022 : a, &r_low);
    e = th_exp_pair_f64(square > 712.0 ? 712.0 : square, &e_low);
    y = (2.0 * e - r) + (2.0 * TH_FMA(e, th_residual_f64(b, b, square), e_low) - r_low);
    y = 2.0 * e < __builtin_inf() ? y : __builtin_inf();
    y = x < 0.0 ? y : r + r_low;
    y = x > 0x1p1000 ? 0x1.20dd750429b6dp-1 / x : y;
    return x == x ? y : x;
}

/* @snippet erfinv_core_f64 needs erfcx_pair_f64 log_plain_f64 */
/* The y with erf(y) = x and erfc(y) = q, for one of x and q = 1 - x that is exact, and x >= 0. Below 27/32 x times a
 * minimax polynomial in log(1 - x^2) (M. Giles, GPU Computing Gems, 2011); above, s less a rational function of s =
 * sqrt(-log q), to 2^-27 of itself, and from there one step of Halley's method on log(erfc(y)) = log(q). */
TH_INLINE double th_erfinv_core_f64(double x, double x_low, double q)
{
    int middle = x < 0.84375;
    double w = -th_log_plain_f64(middle ? TH_FMA(-x, x, 1.0) : q), s = w > 1.8 ? __builtin_sqrt(w) : 1.35, p, y, r, r_low, step;
    s = s < 28.0 ? s : 28.0;
    p = 0x1.75dd262898becp-19;
    p = TH_FMA(p, s, 0x1.d336424522682p-9);
    p = TH_FMA(p, s, 0x1.2e13460d390c8p-3);
    p = TH_FMA(p, s, 0x1.f18200f98978bp-1);
    p = TH_FMA(p, s, 0x1.a5a5aa7913de3p-1);
    p = TH_FMA(p, s, 0x1.ae5ac804aecc7p-6);
    y = 0x1.3ec2baaefe2a3p-10;
    y = TH_FMA(y, s, 0x1.3f9319ee846d8p-4);
    y = TH_FMA(y, s, 0x1.be7a3126249f2p-1);
    y = TH_FMA(y, s, 0x1.10ef1d3c527b1p+1);
    y = TH_FMA(y, s, 0x1.58a3a97276dd1p+0);
    y = TH_FMA(y, s, 0x1p+0);
    y = s - p / y;
    r = th_erfcx_pair_f64(y, &r_low);
    p = y * y;
    step = ((p - w) + th_residual_f64(y, y, p)) - th_log_plain_f64(r);
    p = -0x1.c5bf891b4ef6bp-1 * r * step;
    y += p * TH_FMA(y, p, TH_FMA(0.5, step, 1.0));
    s = w * (middle ? 1.0 : 0.0);
    p = 0x1.13fb0d388144cp-34;
    p = TH_FMA(p, s, -0x1.a3da4b4122dbbp-31);
    p = TH_FMA(p, s, 0x1.48b50f755f2d0p-30);
    p = TH_FMA(p, s, 0x1.7e55b1b0119ebp-26);
    p = TH_FMA(p, s, -0x1.3c7de7282a101p-25);
    p = TH_FMA(p, s, -0x1.0fe02759198c7p-20);
    p = TH_FMA(p, s, 0x1.0f21dc4f5678ap-19);
    p = TH_FMA(p, s, 0x1.87013f1cd9a47p-15);
    p = TH_FMA(p, s, -0x1.0c86b7b6aadccp-13);
    p = TH_FMA(p, s, -0x1.3211025f0400ap-9);
    p = TH_FMA(p, s, 0x1.7a72e72c222abp-7);
    p = TH_FMA(p, s, 0x1.db29fb2fee5d5p-3);
    p = x * TH_FMA(s, p, -0x1.618f13eb7ca89p-55);
    s = x * 0x1.c5bf891b4ef6bp-1 + p;
    s *= s;
    /* what x has lost, times the slope, exp(y^2) sqrt(pi)/2 */
    p += x_low * TH_FMA(s, 0.89 + s * (0.443 + 0.15 * s), 0.886);
    p = TH_FMA(x, 0x1.c5bf891b4ef6bp-1, p);
    return middle ? p : y;
}

/* @snippet erfinv_f64 needs erfinv_core_f64 */
TH_INLINE double th_erfinv_f64(double x)
{
    double a = __builtin_fabs(x), y = th_erfinv_core_f64(a, 0.0, 1.0 - a);
    y = a == 1.0 ? __builtin_inf() : y;
    y = a > 1.0 ? __builtin_nan("") : y;
    return x < 0.0 ? -y : y;
}

/* @snippet erfcinv_f64 needs erfinv_core_f64 */
TH_INLINE double th_erfcinv_f64(double x)
{
    double q = x > 1.0 ? 2.0 - x : x, a = 1.0 - q, y = th_erfinv_core_f64(a, (1.0 - a) - q, q);
    y = q == 0.0 ? __builtin_inf() : y;
    y = q < 0.0 ? __builtin_nan("") : y;
    return x < 1.0 ? y : -y;
}

/* @snippet exp_short_f64 needs exp_reduce_f64 */
/* exp(x) to 2^-28 of itself, enough for a float's result, where it is a normal double */
TH_INLINE double th_exp_short_f64(double x)
{
    double n, shifted, r = th_exp_reduce_f64(x, &n, &shifted), p;
    p = 0x1.6db5b901eefb3p-10;
    p = TH_FMA(p, r, 0x1.123b641771f80p-7);
    p = TH_FMA(p, r, 0x1.55545db17cf0bp-5);
    p = TH_FMA(p, r, 0x1.55548efd4afe3p-3);
    p = TH_FMA(p, r, 0x1.0000004f522cap-1);
    return (1.0 + TH_FMA(r * r, p, r)) * th_exp2_scale_f64(shifted);
}

/* @snippet erfcx_short_f64 needs fma */
/* exp(a^2) erfc(a) for a >= 0 to 2^-32 of itself, as t P(t) with t = 3.5/(a + 3.5) */
TH_INLINE double th_erfcx_short_f64(double a)
{
    double t = 3.5 / (a + 3.5), w = t * t, even, odd;
    even = 0x1.2e6a0b195e8a3p-4;
    even = TH_FMA(even, w, 0x1.3b9692333da26p-2);
    even = TH_FMA(even, w, 0x1.85072f6226e9bp-3);
    even = TH_FMA(even, w, 0x1.7a6db5391dd0dp-4);
    even = TH_FMA(even, w, 0x1.f7783006ce7c7p-4);
    even = TH_FMA(even, w, 0x1.3ca8a6452689ep-3);
    even = TH_FMA(even, w, 0x1.4a21aa4f0e638p-3);
    odd = -0x1.374bae78449adp-7;
    odd = TH_FMA(odd, w, -0x1.bd72a34f27356p-3);
    odd = TH_FMA(odd, w, -0x1.0a07f76409ac9p-2);
    odd = TH_FMA(odd, w, -0x1.ed05a1797bb19p-7);
    odd = TH_FMA(odd, w, 0x1.89b16dea42ab1p-4);
    odd = TH_FMA(odd, w, 0x1.21a6ab35cf4cfp-3);
    odd = TH_FMA(odd, w, 0x1.4a21a868c81ddp-3);
    return t * TH_FMA(odd, t, even);
}

/* @snippet erfc_plain_f32 needs exp_reduce_f32 residual_f32 */
/* exp(-a^2) (1 + g)/(1 + 2a), where g = (1 + 2a) erfcx(a) - 1 is between 0 and 0.24, so that of the errors of both exp and
 * g a part counts; g is v P(v - 1) with v = 2a/(a + 3) (absolute error < 2^-27), and right to its last digits where a is
 * small. What a^2 and the quotient lose is added. Since -a^2 is not positive, 2^n is 2^(n+64), a normal number, and 2^-64. */
TH_INLINE float th_erfc_plain_f32(float x)
{
    float n, shifted, r, even, odd, e, g, u, v, w, d, y, lost, a = __builtin_fabsf(x);
    w = a * a;
    r = th_exp_reduce_f32(-w, &n, &shifted) - th_residual_f32(a, a, w);
    e = TH_FMAF(r * r, th_exp_tail_f32(r), r);
    v = 2.0f * a / (a + 3.0f);
    u = v - 1.0f;
    w = u * u;
    even = -0x1.0ad472p-11f;
    even = TH_FMAF(even, w, 0x1.d54c64p-15f);
    even = TH_FMAF(even, w, 0x1.7971aap-4f);
    even = TH_FMAF(even, w, 0x1.5d409ep-2f);
    even = TH_FMAF(even, w, 0x1.03148cp-2f);
    odd = -0x1.191a8ep-12f;
    odd = TH_FMAF(odd, w, 0x1.493776p-9f);
    odd = TH_FMAF(odd, w, -0x1.86d25cp-6f);
    odd = TH_FMAF(odd, w, -0x1.b0fd28p-3f);
    odd = TH_FMAF(odd, w, -0x1.8df4d0p-2f);
    g = v * TH_FMAF(odd, u, even);
    g = TH_FMAF(e, g, e + g);
    d = TH_FMAF(2.0f, a, 1.0f);
    v = 1.0f / d;
    y = 1.0f + g;
    lost = TH_FMAF(2.0f, a, 1.0f - d) * v + th_residual_f32(v, d, 1.0f);
    lost = ((1.0f - y) + g) - lost * y;
    y = TH_FMAF(v, y, v * lost) * th_exp2_scale_f32(shifted + 64.0f) * 0x1p-64f;
    y = a > 10.25f ? 0.0f : y;
    return x < 0.0f ? 2.0f - y : y;
}

/* @snippet erfc_wide_f32 needs exp_reduce_wide_f32 exp_table_low_f32 */
/* exp(-a^2) as for pow, with what a^2 loses; erfcx(a) for each quarter of a power of two of a + 1 from a polynomial of its
 * own in the distance from the middle, whose coefficients are looked up (relative error < 2^-27). */
#if TH_WIDE
static const float th_erfcx_pieces_f32[8][16] __attribute__((aligned(64))) = {
    {0x1.781718p-2f, 0x1.23bfp-2f, 0x1.d8cd76p-3f, 0x1.8c743cp-3f, 0x1.3e1d1ep-3f, 0x1.f5c69cp-4f, 0x1.9d9f1p-4f, 0x1.5f62c6p-4f,
     0x1.1ea8c4p-4f, 0x1.dc5aeep-5f, 0.0f, 0.0f, 0x1.bea28ap-1f, 0x1.5eb2ecp-1f, 0x1.1d248cp-1f, 0x1.da8c6ep-2f},
    {-0x1.aa8576p-3f, -0x1.0c20cap-3f, -0x1.69c51p-4f, -0x1.02d064p-4f, -0x1.52ac14p-5f, -0x1.aa5ffep-6f, -0x1.23a926p-6f, -0x1.a6b59ap-7f,
     -0x1.1a5888p-7f, -0x1.86b9aep-8f, 0.0f, 0.0f, -0x1.d132f8p-1f, -0x1.39adb4p-1f, -0x1.bae1cp-2f, -0x1.4255eap-2f},
    {0x1.b3d1a8p-4f, 0x1.c88c74p-5f, 0x1.056444p-5f, 0x1.4359e8p-6f, 0x1.5d9194p-7f, 0x1.62e9e8p-8f, 0x1.955fcp-9f, 0x1.f70f18p-10f,
     0x1.141094p-10f, 0x1.3ed8a2p-11f, 0.0f, 0.0f, 0x1.8407dep-1f, 0x1.d1385p-2f, 0x1.2597aep-2f, 0x1.7f3328p-3f},
    {-0x1.99768p-5f, -0x1.6c6b68p-6f, -0x1.674a5cp-7f, -0x1.8453e4p-8f, -0x1.5e98fap-9f, -0x1.21b464p-10f, -0x1.15c942p-11f, -0x1.2838a2p-12f,
     -0x1.0bf17cp-13f, -0x1.02df7p-14f, 0.0f, 0.0f, -0x1.1589d2p-1f, -0x1.2d7958p-2f, -0x1.59f0b4p-3f, -0x1.9b0e9ep-4f},
    {0x1.66a4ap-6f, 0x1.1323f8p-7f, 0x1.d86758p-9f, 0x1.c1f4ccp-10f, 0x1.5681f6p-11f, 0x1.d056a8p-13f, 0x1.77a4ecp-14f, 0x1.59564ep-15f,
     0x1.0249bp-16f, 0x1.a2463ap-18f, 0.0f, 0.0f, 0x1.610f44p-2f, 0x1.5fb6ecp-3f, 0x1.730e02p-4f, 0x1.958dcp-5f},
    {-0x1.2c8646p-7f, -0x1.9085c8p-9f, -0x1.2d5e02p-10f, -0x1.fc8d54p-12f, -0x1.4e1c8p-13f, -0x1.739a14p-15f, -0x1.fb5db2p-17f, -0x1.923666p-18f,
     -0x1.faf954p-20f, -0x1.52c0cap-21f, 0.0f, 0.0f, -0x1.9b7a44p-3f, -0x1.7ad5fcp-4f, -0x1.721a64p-5f, -0x1.76b232p-6f},
    {0x1.d767p-9f, 0x1.132ddep-10f, 0x1.7084dep-12f, 0x1.15026p-13f, 0x1.35f7d6p-15f, 0x1.1f21e8p-17f, 0x1.4dcc48p-19f, 0x1.cc5a12p-21f,
     0x1.e1be88p-23f, 0x1.0f35b4p-24f, 0.0f, 0.0f, 0x1.b7c5cep-4f, 0x1.79c996p-5f, 0x1.56765cp-6f, 0x1.464642p-7f},
    {0x1.40acp+0f, 0x1.c02p+0f, 0x1.2054p+1f, 0x1.602ap+1f, 0x1.bfe4p+1f, 0x1.1ff4p+2f, 0x1.5feep+2f, 0x1.a017p+2f,
     0x1p+3f, 0x1.34d7p+3f, 0.0f, 0.0f, 0x1.02p-3f, 0x1.818p-2f, 0x1.3fep-1f, 0x1.c17p-1f},
};
TH_INLINE th_f32x16 th_erfc_wide_f32_th_f32x16(th_f32x16 x, th_f32x16 unused)
{
    th_f32x16 a = (th_f32x16)((th_i32x16)x & 0x7fffffff), z, t, r, q, d, y;
    (void)unused;
    a = __builtin_ia32_minps512_mask(TH_ALL_f32x16(10.25f), a, a, -1, 4); /* nan stays */
    z = a * a;
    t = TH_FMA_f32x16(z, TH_ALL_f32x16(-0x1.715476p+4f), TH_ALL_f32x16(0x1.8p23f));
    th_i32x16 index = (th_i32x16)t, part = (th_i32x16)(a + 1.0f) >> 21;
    t -= 0x1.8p23f;
    r = TH_FMA_f32x16(t, TH_ALL_f32x16(-0x1.62e4p-5f), -z);
    r = TH_FMA_f32x16(t, TH_ALL_f32x16(-0x1.7f7d1cp-24f), r - TH_FMA_f32x16(a, a, -z));
    q = th_exp_tail_wide_f32(r);
    d = a - TH_LOOK_f32x16(th_erfcx_pieces_f32[7], part);
    y = TH_LOOK_f32x16(th_erfcx_pieces_f32[6], part);
    y = TH_FMA_f32x16(y, d, TH_LOOK_f32x16(th_erfcx_pieces_f32[5], part));
    y = TH_FMA_f32x16(y, d, TH_LOOK_f32x16(th_erfcx_pieces_f32[4], part));
    y = TH_FMA_f32x16(y, d, TH_LOOK_f32x16(th_erfcx_pieces_f32[3], part));
    y = TH_FMA_f32x16(y, d, TH_LOOK_f32x16(th_erfcx_pieces_f32[2], part));
    y = TH_FMA_f32x16(y, d, TH_LOOK_f32x16(th_erfcx_pieces_f32[1], part));
    y = TH_FMA_f32x16(y, d, TH_LOOK_f32x16(th_erfcx_pieces_f32[0], part));
    a = TH_LOOK_f32x16(th_exp_high_f32, index);
    q = a + TH_FMA_f32x16(a, q, TH_LOOK_f32x16(th_exp_low_f32, index));
    y = TH_SCALE_f32x16(q * y, t * 0.0625f);
    return __builtin_ia32_subps512_mask(TH_ALL_f32x16(2.0f), y, y, __builtin_ia32_cmpps512_mask(x, (th_f32x16){}, 1, -1, 4), 4);
}
#endif

/* @snippet erfc_f32 needs erfc_wide_f32 erfc_plain_f32 */
#if TH_WIDE
TH_WIDE_f32(th_erfc_wide_f32, 0.0f)
#endif
TH_INLINE float th_erfc_f32(float x)
{
#if TH_WIDE
    return th_erfc_wide_f32(x, x);
#else
    return th_erfc_plain_f32(x);
#endif
}

/* @snippet erfcx_f32 needs exp_short_f64 erfcx_short_f64 */
TH_INLINE float th_erfcx_f32(float x)
{
    double a = __builtin_fabs((double)x), c = a > 11.0 ? 11.0 : a, y = th_erfcx_short_f64(a);
    y = x < 0.0f ? 2.0 * th_exp_short_f64(c * c) - y : y;
    return x == x ? (float)y : x;
}

/* @snippet log_short_f64 needs log_split_f64 */
/* log(x) to 2^-37 of itself, enough for a float's result, for normal x > 0 */
TH_INLINE double th_log_short_f64(double x)
{
    uint64_t biased;
    double e, f = th_log_split_f64(x, &e, &biased), s = f / (2.0 + f), z = s * s, p;
    p = 0x1.e2f9f16b27251p-3;
    p = TH_FMA(p, z, 0x1.2438c1faf6bdfp-2);
    p = TH_FMA(p, z, 0x1.999a7ad35afebp-2);
    p = TH_FMA(p, z, 0x1.555554fd83879p-1);
    return TH_FMA(e, 0x1.62e42fefa39efp-1, TH_FMA(s * z, p, 2.0 * s));
}

/* @snippet erfinv_core_f32 needs log_short_f64 */
/* As in double; the rational function alone is near enough. */
TH_INLINE double th_erfinv_core_f32(double x, double q)
{
    int middle = x < 0.84375;
    double w = -th_log_short_f64(middle ? 1.0 - x * x : q), s = w > 1.8 ? __builtin_sqrt(w) : 1.35, p, y;
    s = s < 11.0 ? s : 11.0;
    p = 0x1.748f340f95859p-13;
    p = TH_FMA(p, s, 0x1.1438ae3e44025p-4);
    p = TH_FMA(p, s, 0x1.95880b0b65a7bp-1);
    p = TH_FMA(p, s, 0x1.c2336ae1b2892p-1);
    p = TH_FMA(p, s, 0x1.b867d2fb16f48p-7);
    y = 0x1.cad1e750a58a8p-6;
    y = TH_FMA(y, s, 0x1.3468125d7306ep-1);
    y = TH_FMA(y, s, 0x1.ef439f7dff503p+0);
    y = TH_FMA(y, s, 0x1.42465c4ac2bdep+0);
    y = TH_FMA(y, s, 0x1p+0);
    y = s - p / y;
    w = middle ? w : 0.0;
    p = -0x1.2a386dea3f720p-19;
    p = TH_FMA(p, w, 0x1.c13bd9096c300p-15);
    p = TH_FMA(p, w, -0x1.18663b2ec2099p-13);
    p = TH_FMA(p, w, -0x1.31c159b79d5f4p-9);
    p = TH_FMA(p, w, 0x1.7a6eef8218d2cp-7);
    p = TH_FMA(p, w, 0x1.db29ffe61f69dp-3);
    p = TH_FMA(p, w, 0x1.c5bf8917b30abp-1);
    return middle ? x * p : y;
}

/* @snippet erfinv_f32 needs erfinv_core_f32 */
TH_INLINE float th_erfinv_f32(float x)
{
    double a = __builtin_fabs((double)x), y = th_erfinv_core_f32(a, 1.0 - a);
    y = a == 1.0 ? __builtin_inf() : y;
    y = a <= 1.0 ? y : __builtin_nan("");
    return (float)(x < 0.0f ? -y : y);
}

/* @snippet erfcinv_f32 needs erfinv_core_f32 */
TH_INLINE float th_erfcinv_f32(float x)
{
    double q = x > 1.0f ? 2.0 - x : x, y = th_erfinv_core_f32(1.0 - q, q);
    y = q == 0.0 ? __builtin_inf() : y;
    y = q >= 0.0 ? y : __builtin_nan("");
    return (float)(x < 1.0f ? y : -y);
}
