/* arcsin, arccos, arctan, arctan2.
 *
 * Below 1/2 arcsin(x) = x + x^3 P(x^2); above, pi/2 - 2 arcsin(sqrt((1 - x)/2)), and arccos has the same two
 * pieces (Cody and Waite, Software Manual for the Elementary Functions, 1980, chapter 8). arctan(x) =
 * x + x^3 P(x^2) up to 1, and from there pi/2 - arctan(1/x). The P are minimax polynomials (Remez exchange
 * with mpmath; relative error of the result < 2^-56 for double, < 2^-27 for float). What the
 * constants pi and pi/2 lack is added to the smaller term.
 */

/* @where N is    64                        32
 * HALF_PI_LOW    0x1.1a62633145c07p-54     -0x1.777a5cp-25       what pi/2, rounded, lacks,
 * QUARTER_LOW    0x1.1a62633145c07p-55     -0x1.777a5cp-26       pi/4
 * PI_LOW         0x1.1a62633145c07p-53     -0x1.777a5cp-24       and pi
 */

/* @snippet arcsin_poly_fN needs fma */
/* (arcsin(s) - s)/s^3 for z = s^2 <= 1/4 */
TH_INLINE floatN th_arcsin_poly_fN(floatN z)
{
#if N == 64
    floatN z2 = z * z, z4 = z2 * z2, z8 = z4 * z4;
    floatN a = TH_FMA(z, 0x1.333333332e10bp-4, 0x1.5555555555577p-3);
    floatN b = TH_FMA(z, 0x1.f1c71a939d669p-6, 0x1.6db6db7215395p-5);
    floatN c = TH_FMA(z, 0x1.1c49ecf095401p-6, 0x1.6e8bdf0bf3f96p-6);
    floatN d = TH_FMA(z, 0x1.758278034d17ep-7, 0x1.ca1fe6e4a74a5p-7);
    floatN e = TH_FMA(z, 0x1.e4d2a88628292p-9, 0x1.614ed11a3d6ap-7);
    floatN f = TH_FMA(z, -0x1.5886466733925p-6, 0x1.63f9213b4981fp-6);
    a = TH_FMA(b, z2, a);
    c = TH_FMA(d, z2, c);
    e = TH_FMA(f, z2, e);
    a = TH_FMA(c, z4, a);
    e = TH_FMA(0x1.0b732f5e4906p-5, z4, e);
    return TH_FMA(e, z8, a);
#else
    floatN z2 = z * z, z4 = z2 * z2;
    floatN a = TH_FMA(z, 0x1.3301fcp-4, 0x1.5555c8p-3);
    floatN b = TH_FMA(z, 0x1.8c2d84p-6, 0x1.747d06p-5);
    a = TH_FMA(b, z2, a);
    return TH_FMA(0x1.596d62p-5, z4, a);
#endif
}

/* @snippet arcsin_fN needs arcsin_poly_fN */
TH_INLINE floatN th_arcsin_fN(floatN x)
{
    floatN a = __builtin_fabs(x), z = a <= 0.5 ? a * a : 0.5 - 0.5 * a;
    floatN s = a <= 0.5 ? a : sqrt(z), p = th_arcsin_poly_fN(z) * z * s;
    floatN y = a <= 0.5 ? a + p : 0x1.921fb54442d18p+0 - 2.0 * (s + (p - QUARTER_LOW));
    return __builtin_copysign(y, x);
}

/* @snippet arccos_fN needs arcsin_poly_fN */
TH_INLINE floatN th_arccos_fN(floatN x)
{
    floatN a = __builtin_fabs(x), z = a <= 0.5 ? a * a : 0.5 - 0.5 * a;
    floatN s = a <= 0.5 ? x : sqrt(z), p = th_arcsin_poly_fN(z) * z * s;
    floatN middle = 0x1.921fb54442d18p+0 - (s + (p - HALF_PI_LOW));
    floatN y = x < 0.0 ? 0x1.921fb54442d18p+1 - 2.0 * (s + (p - HALF_PI_LOW)) : 2.0 * (s + p);
    return a <= 0.5 ? middle : y;
}

/* @snippet arctan_beyond_fN needs fma */
/* arctan(u) - u for |u| <= 1 */
TH_INLINE floatN th_arctan_beyond_fN(floatN u)
{
    floatN z = u * u;
#if N == 64
    floatN z2 = z * z, z4 = z2 * z2, z8 = z4 * z4, z16 = z8 * z8;
    floatN a = TH_FMA(z, 0x1.99999999955bp-3, -0x1.5555555555526p-2);
    floatN b = TH_FMA(z, 0x1.c71c717fcc154p-4, -0x1.249249237f46dp-3);
    floatN c = TH_FMA(z, 0x1.3b136698b7b59p-4, -0x1.745d11ae471b3p-4);
    floatN d = TH_FMA(z, 0x1.e1bba646dedccp-5, -0x1.110e511fc5423p-4);
    floatN e = TH_FMA(z, 0x1.82dada9601e68p-5, -0x1.ae5e72e3fd20ap-5);
    floatN f = TH_FMA(z, 0x1.2c2e82baca463p-5, -0x1.59a40ce6ba61cp-5);
    floatN g = TH_FMA(z, 0x1.683d8349f9465p-6, -0x1.e9fa9b7ccbb5cp-6);
    floatN h = TH_FMA(z, 0x1.d7bad0bad15f4p-8, -0x1.c79121e19d58ep-7);
    floatN i = TH_FMA(z, 0x1.b3fbe7ba0b07ep-11, -0x1.7a3aebd045d34p-9);
    floatN j = TH_FMA(z, 0x1.bbec80d6d7c93p-17, -0x1.3f367adde1d6fp-13);
    a = TH_FMA(b, z2, a);
    c = TH_FMA(d, z2, c);
    e = TH_FMA(f, z2, e);
    g = TH_FMA(h, z2, g);
    i = TH_FMA(j, z2, i);
    a = TH_FMA(c, z4, a);
    e = TH_FMA(g, z4, e);
    a = TH_FMA(e, z8, a);
    return TH_FMA(i, z16, a) * (u * z);
#else
    floatN z2 = z * z, z4 = z2 * z2, z8 = z4 * z4;
    floatN a = TH_FMA(z, 0x1.9991e4p-3, -0x1.55553ep-2);
    floatN b = TH_FMA(z, 0x1.c091acp-4, -0x1.2420bp-3);
    floatN c = TH_FMA(z, 0x1.dad594p-5, -0x1.58280ep-4);
    floatN d = TH_FMA(z, 0x1.66e38p-7, -0x1.ff6a2p-6);
    a = TH_FMA(b, z2, a);
    c = TH_FMA(d, z2, c);
    a = TH_FMA(c, z4, a);
    return TH_FMA(-0x1.d985acp-10, z8, a) * (u * z);
#endif
}

/* @snippet arctan_fN needs arctan_beyond_fN */
TH_INLINE floatN th_arctan_fN(floatN x)
{
    floatN a = __builtin_fabs(x), u = a > 1.0 ? -1.0 / a : a, p = th_arctan_beyond_fN(u);
    return __builtin_copysign(a > 1.0 ? 0x1.921fb54442d18p+0 + (u + (p + HALF_PI_LOW)) : u + p, x);
}

/* @snippet arctan2_fN needs arctan_beyond_fN bits_fN */
/* The smaller of |x| and |y| over the larger, and the angle of the octant that it is measured from. Equal
 * infinities make 45 degrees, zeros none, as C99 has it. */
TH_INLINE floatN th_arctan2_fN(floatN y, floatN x)
{
    floatN a = __builtin_fabs(y), b = __builtin_fabs(x), top = a > b ? b : a, bottom = a > b ? a : b;
    floatN u = top / bottom, p, first, rest;
    int left = (int)(th_bits_fN(x) >> (N - 1));
    u = a == b ? (a > 0.0 ? 1.0 : 0.0) : u;
    u = left != (a > b) ? -u : u;
    p = th_arctan_beyond_fN(u);
    first = a > b ? 0x1.921fb54442d18p+0 : (left ? 0x1.921fb54442d18p+1 : 0.0);
    rest = a > b ? HALF_PI_LOW : (left ? PI_LOW : 0.0);
    u = first + (u + (p + rest));
    return __builtin_copysign(u, y);
}
