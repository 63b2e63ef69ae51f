/* Complex arithmetic as NumPy does it, without the recovery of infinities that C's own product and
 * quotient pay for with a function call. */

/* @snippet cmplx needs inline */
#ifndef CMPLX
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif
#ifndef CMPLXF
#define CMPLXF(re, im) __builtin_complex((float)(re), (float)(im))
#endif

/* @snippet mul_c128 needs cmplx */
TH_INLINE double _Complex th_mul_c128(double _Complex x, double _Complex y)
{
    double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
    return CMPLX(a * c - b * d, a * d + b * c);
}

/* @snippet div_c128 needs cmplx */
/* R. L. Smith, CACM 5:435, 1962: divides by the larger part first, so that nothing overflows early. */
TH_INLINE double _Complex th_div_c128(double _Complex x, double _Complex y)
{
    double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
    if (fabs(c) >= fabs(d)) {
        double ratio = d / c, scale = 1 / (c + d * ratio);
        if (c == 0 && d == 0)
            return CMPLX(a / fabs(c), b / fabs(c));
        return CMPLX((a + b * ratio) * scale, (b - a * ratio) * scale);
    } else {
        double ratio = c / d, scale = 1 / (d + c * ratio);
        return CMPLX((a * ratio + b) * scale, (b * ratio - a) * scale);
    }
}

/* @snippet mul_c64 needs cmplx */
TH_INLINE float _Complex th_mul_c64(float _Complex x, float _Complex y)
{
    float a = crealf(x), b = cimagf(x), c = crealf(y), d = cimagf(y);
    return CMPLXF(a * c - b * d, a * d + b * c);
}

/* @snippet div_c64 needs cmplx */
/* R. L. Smith, CACM 5:435, 1962: divides by the larger part first, so that nothing overflows early. */
TH_INLINE float _Complex th_div_c64(float _Complex x, float _Complex y)
{
    float a = crealf(x), b = cimagf(x), c = crealf(y), d = cimagf(y);
    if (fabsf(c) >= fabsf(d)) {
        float ratio = d / c, scale = 1 / (c + d * ratio);
        if (c == 0 && d == 0)
            return CMPLXF(a / fabsf(c), b / fabsf(c));
        return CMPLXF((a + b * ratio) * scale, (b - a * ratio) * scale);
    } else {
        float ratio = c / d, scale = 1 / (d + c * ratio);
        return CMPLXF((a * ratio + b) * scale, (b * ratio - a) * scale);
    }
}

/* @snippet pow_c128 needs cmplx */
/* The C library goes through log(x), which zero has not. */
TH_INLINE double _Complex th_pow_c128(double _Complex x, double _Complex y)
{
    if (y == 0)
        return 1;
    if (x == 0)
        return creal(y) > 0 ? CMPLX(0, 0) : CMPLX(NAN, NAN);
    return cpow(x, y);
}

/* @snippet pow_c64 needs cmplx */
/* The C library goes through log(x), which zero has not. */
TH_INLINE float _Complex th_pow_c64(float _Complex x, float _Complex y)
{
    if (y == 0)
        return 1;
    if (x == 0)
        return crealf(y) > 0 ? CMPLXF(0, 0) : CMPLXF(NAN, NAN);
    return cpowf(x, y);
}
