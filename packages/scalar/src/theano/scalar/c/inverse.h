/* arcsin, arccos, arctan, arctan2.
 *
 * Below 1/2 arcsin(x) = x + x^3 P(x^2); above, pi/2 - 2 arcsin(sqrt((1 - x)/2)), and arccos has the same two
 * pieces (Cody and Waite, Software Manual for the Elementary Functions, 1980, chapter 8). arctan(x) =
 * x + x^3 P(x^2) up to 1, and from there pi/2 - arctan(1/x). The P are minimax polynomials (Remez exchange
 * with mpmath; relative error of the result < 2^-56 for double, < 2^-27 for float). What the
 * constants pi and pi/2 lack is added to the smaller term.
 */

/* @snippet arcsin_poly_f64 needs fma */
/* (arcsin(s) - s)/s^3 for z = s^2 <= 1/4 */
TH_INLINE double th_arcsin_poly_f64(double z)
{
    double z2 = z * z, z4 = z2 * z2, z8 = z4 * z4;
    double a = TH_FMA(z, 0x1.333333332e10bp-4, 0x1.5555555555577p-3);
    double b = TH_FMA(z, 0x1.f1c71a939d669p-6, 0x1.6db6db7215395p-5);
    double c = TH_FMA(z, 0x1.1c49ecf095401p-6, 0x1.6e8bdf0bf3f96p-6);
    double d = TH_FMA(z, 0x1.758278034d17ep-7, 0x1.ca1fe6e4a74a5p-7);
    double e = TH_FMA(z, 0x1.e4d2a88628292p-9, 0x1.614ed11a3d6ap-7);
    double f = TH_FMA(z, -0x1.5886466733925p-6, 0x1.63f9213b4981fp-6);
    a = TH_FMA(b, z2, a);
    c = TH_FMA(d, z2, c);
    e = TH_FMA(f, z2, e);
    a = TH_FMA(c, z4, a);
    e = TH_FMA(0x1.0b732f5e4906p-5, z4, e);
    return TH_FMA(e, z8, a);
}

/* @snippet arcsin_f64 needs arcsin_poly_f64 */
TH_INLINE double th_arcsin_f64(double x)
{
    double a = __builtin_fabs(x), z = a <= 0.5 ? a * a : 0.5 - 0.5 * a;
    double s = a <= 0.5 ? a : sqrt(z), p = th_arcsin_poly_f64(z) * z * s;
    double y = a <= 0.5 ? a + p : 0x1.921fb54442d18p+0 - 2.0 * (s + (p - 0x1.1a62633145c07p-55));
    return __builtin_copysign(y, x);
}

/* @snippet arccos_f64 needs arcsin_poly_f64 */
TH_INLINE double th_arccos_f64(double x)
{
    double a = __builtin_fabs(x), z = a <= 0.5 ? a * a : 0.5 - 0.5 * a;
    double s = a <= 0.5 ? x : sqrt(z), p = th_arcsin_poly_f64(z) * z * s;
    double middle = 0x1.921fb54442d18p+0 - (s + (p - 0x1.1a62633145c07p-54));
    double y = x < 0.0 ? 0x1.921fb54442d18p+1 - 2.0 * (s + (p - 0x1.1a62633145c07p-54)) : 2.0 * (s + p);
    return a <= 0.5 ? middle : y;
}

/* @snippet arctan_beyond_f64 needs fma */
/* arctan(u) - u for |u| <= 1 */
TH_INLINE double th_arctan_beyond_f64(double u)
{
    double z = u * u;
    double z2 = z * z, z4 = z2 * z2, z8 = z4 * z4, z16 = z8 * z8;
    double a = TH_FMA(z, 0x1.99999999955bp-3, -0x1.5555555555526p-2);
    double b = TH_FMA(z, 0x1.c71c717fcc154p-4, -0x1.249249237f46dp-3);
    double c = TH_FMA(z, 0x1.3b136698b7b59p-4, -0x1.745d11ae471b3p-4);
    double d = TH_FMA(z, 0x1.e1bba646dedccp-5, -0x1.110e511fc5423p-4);
    double e = TH_FMA(z, 0x1.82dada9601e68p-5, -0x1.ae5e72e3fd20ap-5);
    double f = TH_FMA(z, 0x1.2c2e82baca463p-5, -0x1.59a40ce6ba61cp-5);
    double g = TH_FMA(z, 0x1.683d8349f9465p-6, -0x1.e9fa9b7ccbb5cp-6);
    double h = TH_FMA(z, 0x1.d7bad0bad15f4p-8, -0x1.c79121e19d58ep-7);
    double i = TH_FMA(z, 0x1.b3fbe7ba0b07ep-11, -0x1.7a3aebd045d34p-9);
    double j = TH_FMA(z, 0x1.bbec80d6d7c93p-17, -0x1.3f367adde1d6fp-13);
    a = TH_FMA(b, z2, a);
    c = TH_FMA(d, z2, c);
    e = TH_FMA(f, z2, e);
    g = TH_FMA(h, z2, g);
    i = TH_FMA(j, z2, i);
    a = TH_FMA(c, z4, a);
    e = TH_FMA(g, z4, e);
    a = TH_FMA(e, z8, a);
    return TH_FMA(i, z16, a) * (u * z);
}

/* @snippet arctan_f64 needs arctan_beyond_f64 */
TH_INLINE double th_arctan_f64(double x)
{
    double a = __builtin_fabs(x), u = a > 1.0 ? -1.0 / a : a, p = th_arctan_beyond_f64(u);
    return __builtin_copysign(a > 1.0 ? 0x1.921fb54442d18p+0 + (u + (p + 0x1.1a62633145c07p-54)) : u + p, x);
}

/* @snippet arctan2_f64 needs arctan_beyond_f64 bits_f64 */
/* The smaller of |x| and |y| over the larger, and the angle of the octant that it is measured from. Equal
 * infinities make 45 degrees, zeros none, as C99 has it. */
TH_INLINE double th_arctan2_f64(double y, double x)
{
    double a = __builtin_fabs(y), b = __builtin_fabs(x), top = a > b ? b : a, bottom = a > b ? a : b;
    double u = top / bottom, p, first, rest;
    int left = (int)(th_bits_f64(x) >> 63);
    u = a == b ? (a > 0.0 ? 1.0 : 0.0) : u;
    u = left != (a > b) ? -u : u;
    p = th_arctan_beyond_f64(u);
    first = a > b ? 0x1.921fb54442d18p+0 : (left ? 0x1.921fb54442d18p+1 : 0.0);
    rest = a > b ? 0x1.1a62633145c07p-54 : (left ? 0x1.1a62633145c07p-53 : 0.0);
    u = first + (u + (p + rest));
    return __builtin_copysign(u, y);
}

/* @snippet arcsin_poly_f32 needs fma */
/* (arcsin(s) - s)/s^3 for z = s^2 <= 1/4 */
TH_INLINE float th_arcsin_poly_f32(float z)
{
    float z2 = z * z, z4 = z2 * z2;
    float a = TH_FMAF(z, 0x1.3301fcp-4f, 0x1.5555c8p-3f);
    float b = TH_FMAF(z, 0x1.8c2d84p-6f, 0x1.747d06p-5f);
    a = TH_FMAF(b, z2, a);
    return TH_FMAF(0x1.596d62p-5f, z4, a);
}

/* @snippet arcsin_f32 needs arcsin_poly_f32 */
TH_INLINE float th_arcsin_f32(float x)
{
    float a = __builtin_fabsf(x), z = a <= 0.5f ? a * a : 0.5f - 0.5f * a;
    float s = a <= 0.5f ? a : sqrtf(z), p = th_arcsin_poly_f32(z) * z * s;
    float y = a <= 0.5f ? a + p : 0x1.921fb6p+0f - 2.0f * (s + (p - -0x1.777a5cp-26f));
    return __builtin_copysignf(y, x);
}

/* @snippet arccos_f32 needs arcsin_poly_f32 */
TH_INLINE float th_arccos_f32(float x)
{
    float a = __builtin_fabsf(x), z = a <= 0.5f ? a * a : 0.5f - 0.5f * a;
    float s = a <= 0.5f ? x : sqrtf(z), p = th_arcsin_poly_f32(z) * z * s;
    float middle = 0x1.921fb6p+0f - (s + (p - -0x1.777a5cp-25f));
    float y = x < 0.0f ? 0x1.921fb6p+1f - 2.0f * (s + (p - -0x1.777a5cp-25f)) : 2.0f * (s + p);
    return a <= 0.5f ? middle : y;
}

/* @snippet arctan_beyond_f32 needs fma */
/* arctan(u) - u for |u| <= 1 */
TH_INLINE float th_arctan_beyond_f32(float u)
{
    float z = u * u;
    float z2 = z * z, z4 = z2 * z2, z8 = z4 * z4;
    float a = TH_FMAF(z, 0x1.9991e4p-3f, -0x1.55553ep-2f);
    float b = TH_FMAF(z, 0x1.c091acp-4f, -0x1.2420bp-3f);
    float c = TH_FMAF(z, 0x1.dad594p-5f, -0x1.58280ep-4f);
    float d = TH_FMAF(z, 0x1.66e38p-7f, -0x1.ff6a2p-6f);
    a = TH_FMAF(b, z2, a);
    c = TH_FMAF(d, z2, c);
    a = TH_FMAF(c, z4, a);
    return TH_FMAF(-0x1.d985acp-10f, z8, a) * (u * z);
}

/* @snippet arctan_f32 needs arctan_beyond_f32 */
TH_INLINE float th_arctan_f32(float x)
{
    float a = __builtin_fabsf(x), u = a > 1.0f ? -1.0f / a : a, p = th_arctan_beyond_f32(u);
    return __builtin_copysignf(a > 1.0f ? 0x1.921fb6p+0f + (u + (p + -0x1.777a5cp-25f)) : u + p, x);
}

/* @snippet arctan2_f32 needs arctan_beyond_f32 bits_f32 */
/* The smaller of |x| and |y| over the larger, and the angle of the octant that it is measured from. Equal
 * infinities make 45 degrees, zeros none, as C99 has it. */
TH_INLINE float th_arctan2_f32(float y, float x)
{
    float a = __builtin_fabsf(y), b = __builtin_fabsf(x), top = a > b ? b : a, bottom = a > b ? a : b;
    float u = top / bottom, p, first, rest;
    int left = (int)(th_bits_f32(x) >> 31);
    u = a == b ? (a > 0.0f ? 1.0f : 0.0f) : u;
    u = left != (a > b) ? -u : u;
    p = th_arctan_beyond_f32(u);
    first = a > b ? 0x1.921fb6p+0f : (left ? 0x1.921fb6p+1f : 0.0f);
    rest = a > b ? -0x1.777a5cp-25f : (left ? -0x1.777a5cp-24f : 0.0f);
    u = first + (u + (p + rest));
    return __builtin_copysignf(u, y);
}
