/* erf.
 *
 * Below 1, x + x P(x^2); above, 1 - exp(-x^2) R(4/(x + 2)), where R is what is left of the complement when
 * its exponential is taken out. P and R are minimax polynomials (Remez exchange with mpmath; relative
 * error of the result < 2^-60 for double and < 2^-29 for float), their even and odd terms summed apart.
 */

/* @snippet erf_f64 needs exp_reduce_f64 */
TH_INLINE double th_erf_f64(double x)
{
    double n, shifted, r, even, odd, small, large;
    double a = __builtin_fabs(x), c = a > 6.0 ? 6.0 : a, z = a > 1.0 ? 1.0 : a * a, w = z * z;
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
    small = TH_FMA(a, TH_FMA(odd, z, even), a);
    z = 4.0 / (c + 2.0);
    w = z * z;
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
    r = th_exp_reduce_f64(-(c * c), &n, &shifted);
    large = 1.0 + TH_FMA(r * r, th_exp_tail_f64(r), r);
    large = 1.0 - large * th_exp2_scale_f64(shifted) * TH_FMA(odd, z, even);
    return __builtin_copysign(a < 1.0 ? small : large, x);
}

/* @snippet erf_f32 needs exp_reduce_f32 */
TH_INLINE float th_erf_f32(float x)
{
    float n, shifted, r, even, odd, small, large;
    float a = __builtin_fabsf(x), c = a > 4.0f ? 4.0f : a, z = a > 1.0f ? 1.0f : a * a, w = z * z;
    even = 0x1.496a38p-14f;
    even = TH_FMAF(even, w, 0x1.5405b2p-8f);
    even = TH_FMAF(even, w, 0x1.ce2cf8p-4f);
    even = TH_FMAF(even, w, 0x1.06eba8p-3f);
    odd = -0x1.a3f702p-11f;
    odd = TH_FMAF(odd, w, -0x1.b7f90ep-6f);
    odd = TH_FMAF(odd, w, -0x1.81273ep-2f);
    small = TH_FMAF(a, TH_FMAF(odd, z, even), a);
    z = 4.0f / (c + 2.0f);
    w = z * z;
    even = 0x1.45e128p-5f;
    even = TH_FMAF(even, w, 0x1.963036p-4f);
    even = TH_FMAF(even, w, 0x1.dc9362p-10f);
    odd = -0x1.d88b5ep-8f;
    odd = TH_FMAF(odd, w, -0x1.0716fap-7f);
    odd = TH_FMAF(odd, w, 0x1.09f922p-3f);
    r = th_exp_reduce_f32(-(c * c), &n, &shifted);
    large = 1.0f + TH_FMAF(r * r, th_exp_tail_f32(r), r);
    large = 1.0f - large * th_exp2_scale_f32(shifted) * TH_FMAF(odd, z, even);
    return __builtin_copysignf(a < 1.0f ? small : large, x);
}
