/* sin, cos and tan.
 *
 * Method (Cody and Waite, as in exponential.h): x = n pi/2 + r with |r| <= pi/4, n pi/2 taken off in three
 * parts. With a fused multiply-add the first part may have all its bits and comes off exactly; the rounding
 * of the second is kept beside r. sin(r) = r + r^3 S(r^2) and cos(r) = 1 - r^2/2 + r^4 C(r^2), S and C minimax
 * polynomials (Remez exchange with mpmath; relative error of the result < 2^-57 for double, < 2^-27 for float).
 * The last two bits of n choose between them and the sign. Far out, where n would lose its last
 * bits, the C library is asked, for a double in long double: glibc's own reduction for double loses
 * four bits at the hardest arguments.
 */

/* @snippet trig_reduce_f64 needs fma select_f64 rare */
/* r - *lost is x - n pi/2, and *quadrant has n in its low bits. */
#if TH_FUSED
#define TH_TRIG_PARTS_f64 {-0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}
#define TH_TRIG_FAR_f64(x, y) (x) * (x) > 0x1p88
#else
#define TH_TRIG_PARTS_f64 {-0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69}
#define TH_TRIG_FAR_f64(x, y) (x) * (x) > 0x1p20
#endif
TH_INLINE double th_trig_reduce_f64(double x, double *lost, uint64_t *quadrant)
{
    const double part[3] = TH_TRIG_PARTS_f64;
    double shifted = TH_FMA(x, 0x1.45f306dc9c883p-1, 0x1.8p52), n = shifted - 0x1.8p52;
    double t = TH_FMA(n, part[0], x), second = n * part[1], r = t - second;
    *quadrant = th_bits_f64(shifted);
    *lost = ((r - t) + second) + TH_FMA(n, part[2], TH_FMA(n, part[1], -second));
    return r;
}

/* @snippet trig_reduce_f32 needs fma select_f32 rare */
/* r - *lost is x - n pi/2, and *quadrant has n in its low bits. */
#define TH_TRIG_FAR_f32(x, y) (x) * (x) > 0x1p32f
TH_INLINE float th_trig_reduce_f32(float x, float *lost, uint32_t *quadrant)
{
    float shifted = TH_FMAF(x, 0x1.45f306p-1f, 0x1.8p23f), n = shifted - 0x1.8p23f, r;
    *quadrant = th_bits_f32(shifted);
#if TH_FUSED
    float t = TH_FMAF(n, -0x1.921fb4p+0f, x), second = n * 0x1.4442dp-24f;
    r = t - second;
    *lost = ((r - t) + second) + TH_FMAF(n, 0x1.84698ap-48f, TH_FMAF(n, 0x1.4442dp-24f, -second));
#else
    double t = ((double)x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a626331p-34;
    r = (float)t;
    *lost = (float)(r - t);
#endif
    return r;
}

/* @snippet sin_near_fN needs trig_reduce_fN */
/* what r has beyond sin(r - lost): subtracted, it leaves a zero its sign */
TH_INLINE floatN th_sin_near_fN(floatN r, floatN lost)
{
    floatN z = r * r;
#if N == 64
    floatN z2 = z * z;
    floatN a = TH_FMA(z, 0x1.111111110f724p-7, -0x1.5555555555548p-3);
    floatN b = TH_FMA(z, 0x1.71de3552cbaf5p-19, -0x1.a01a019be6deap-13);
    floatN c = TH_FMA(z, 0x1.5d8aad7fa2e32p-33, -0x1.ae5e496d77adep-26);
    return TH_FMA(-r * z, TH_FMA(TH_FMA(c, z2, b), z2, a), lost);
#else
    floatN p = TH_FMA(TH_FMA(z, -0x1.991c34p-13, 0x1.1106c6p-7), z, -0x1.555544p-3);
    return TH_FMA(-r * z, p, lost);
#endif
}

/* @snippet cos_near_fN needs trig_reduce_fN */
/* cos(r - lost) as a first part and what it has beyond that */
TH_INLINE floatN th_cos_near_fN(floatN r, floatN lost, floatN *beyond)
{
#if N == 64
    floatN z = r * r, z2 = z * z, half = 0.5 * z, first = 1.0 - half;
    floatN a = TH_FMA(z, -0x1.6c16c16c14ep-10, 0x1.555555555554ap-5);
    floatN b = TH_FMA(z, -0x1.27e4f7cd31f63p-22, 0x1.a01a019c5c397p-16);
    floatN c = TH_FMA(z, -0x1.8f99cbb0a5dc1p-37, 0x1.1ee9c335d18d2p-29);
    *beyond = ((1.0 - first) - half) + TH_FMA(z2, TH_FMA(TH_FMA(c, z2, b), z2, a), r * lost);
#else
    floatN z = r * r, half = 0.5 * z, first = 1.0 - half;
    floatN p = TH_FMA(TH_FMA(z, 0x1.99e61cp-16, -0x1.6c0c24p-10), z, 0x1.55554ap-5);
    *beyond = ((1.0 - first) - half) + TH_FMA(z * z, p, r * lost);
#endif
    return first;
}

/* @where N is    64      32
 * SIN            sinl    sinf
 * COS            cosl    cosf
 * TAN            tanl    tanf
 */

/* @snippet sin_fN needs sin_near_fN cos_near_fN */
#define TH_FAR_sin_fN(x, y) SIN(x)
TH_RARE_fN(th_far_sin_fN, TH_TRIG_FAR_fN, TH_FAR_sin_fN)
TH_INLINE floatN th_sin_fN(floatN x)
{
    uintN_t quadrant;
    floatN lost, beyond, r = th_trig_reduce_fN(x, &lost, &quadrant), c = th_cos_near_fN(r, lost, &beyond);
    floatN y = th_select_fN(quadrant & 1, c + beyond, r - th_sin_near_fN(r, lost));
    return th_far_sin_fN(x, x, th_from_bits_fN(th_bits_fN(y) ^ (quadrant & 2) << (N - 2)));
}

/* @snippet cos_fN needs sin_near_fN cos_near_fN */
#define TH_FAR_cos_fN(x, y) COS(x)
TH_RARE_fN(th_far_cos_fN, TH_TRIG_FAR_fN, TH_FAR_cos_fN)
TH_INLINE floatN th_cos_fN(floatN x)
{
    uintN_t quadrant;
    floatN lost, beyond, r = th_trig_reduce_fN(x, &lost, &quadrant), c = th_cos_near_fN(r, lost, &beyond);
    floatN y = th_select_fN(quadrant & 1, r - th_sin_near_fN(r, lost), c + beyond);
    return th_far_cos_fN(x, x, th_from_bits_fN(th_bits_fN(y) ^ ((quadrant + 1) & 2) << (N - 2)));
}

/* @snippet tan_fN needs sin_near_fN cos_near_fN */
/* The quotient of sine and cosine, or of cosine and minus sine, each a sum of two numbers: they
 * and the division together would lose three bits. */
#define TH_FAR_tan_fN(x, y) TAN(x)
TH_RARE_fN(th_far_tan_fN, TH_TRIG_FAR_fN, TH_FAR_tan_fN)
TH_INLINE floatN th_tan_fN(floatN x)
{
    uintN_t quadrant;
    floatN lost, sl, cl, r = th_trig_reduce_fN(x, &lost, &quadrant), c, s, c0, top, bottom, q, left;
    int odd = (int)(quadrant & 1);
    c0 = th_cos_near_fN(r, lost, &cl);
    c = c0 + cl;
    cl += c0 - c;
    sl = -th_sin_near_fN(r, lost);
    s = r + sl;
    sl += r - s;
    top = odd ? c : s;
    bottom = odd ? s : c;
    lost = 1.0 / bottom;
    q = top * lost;
    left = TH_FMA(q, bottom, -top) + (odd ? TH_FMA(q, sl, -cl) : TH_FMA(q, cl, -sl));
    q = TH_FMA(-left, lost, q);
    return th_far_tan_fN(x, x, th_from_bits_fN(th_bits_fN(q) ^ quadrant << (N - 1)));
}
