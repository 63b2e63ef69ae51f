/* Complex arithmetic as NumPy does it, without the recovery of infinities that C's own product and
 * quotient pay for with a function call. Complex numbers are made, taken apart and given to functions here, and nothing
 * else: so the text serves languages, too, that have no complex numbers and make structs of them. */

/* @snippet add_c128 needs cmplx */
TH_INLINE double _Complex th_add_c128(double _Complex x, double _Complex y)
{
    return CMPLX(creal(x) + creal(y), cimag(x) + cimag(y));
}

/* @snippet sub_c128 needs cmplx */
TH_INLINE double _Complex th_sub_c128(double _Complex x, double _Complex y)
{
    return CMPLX(creal(x) - creal(y), cimag(x) - cimag(y));
}

/* @snippet neg_c128 needs cmplx */
TH_INLINE double _Complex th_neg_c128(double _Complex x) { return CMPLX(-creal(x), -cimag(x)); }

/* @snippet equal_c128 needs inline */
TH_INLINE int th_equal_c128(double _Complex x, double _Complex y)
{
    return (creal(x) == creal(y)) & (cimag(x) == cimag(y));
}

/* @snippet truth_c128 needs inline */
TH_INLINE int th_truth_c128(double _Complex x) { return (creal(x) != 0) | (cimag(x) != 0); }

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

/* @snippet add_c64 needs cmplx */
TH_INLINE float _Complex th_add_c64(float _Complex x, float _Complex y)
{
    return CMPLXF(crealf(x) + crealf(y), cimagf(x) + cimagf(y));
}

/* @snippet sub_c64 needs cmplx */
TH_INLINE float _Complex th_sub_c64(float _Complex x, float _Complex y)
{
    return CMPLXF(crealf(x) - crealf(y), cimagf(x) - cimagf(y));
}

/* @snippet neg_c64 needs cmplx */
TH_INLINE float _Complex th_neg_c64(float _Complex x) { return CMPLXF(-crealf(x), -cimagf(x)); }

/* @snippet equal_c64 needs inline */
TH_INLINE int th_equal_c64(float _Complex x, float _Complex y)
{
    return (crealf(x) == crealf(y)) & (cimagf(x) == cimagf(y));
}

/* @snippet truth_c64 needs inline */
TH_INLINE int th_truth_c64(float _Complex x) { return (crealf(x) != 0) | (cimagf(x) != 0); }

/* @snippet c64_of_c128 needs cmplx */
TH_INLINE float _Complex th_c64_of_c128(double _Complex x) { return CMPLXF(creal(x), cimag(x)); }

/* @snippet c128_of_c64 needs cmplx */
TH_INLINE double _Complex th_c128_of_c64(float _Complex x) { return CMPLX(crealf(x), cimagf(x)); }

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

/* @snippet inv_c128 needs div_c128 */
TH_INLINE double _Complex th_inv_c128(double _Complex x) { return th_div_c128(CMPLX(1, 0), x); }

/* @snippet pow_c128 needs cmplx */
/* The C library goes through log(x), which zero has not. */
TH_INLINE double _Complex th_pow_c128(double _Complex x, double _Complex y)
{
    if (creal(y) == 0 && cimag(y) == 0)
        return CMPLX(1, 0);
    if (creal(x) == 0 && cimag(x) == 0)
        return creal(y) > 0 ? CMPLX(0, 0) : CMPLX(NAN, NAN);
    return cpow(x, y);
}

/* @snippet inv_c64 needs div_c64 */
TH_INLINE float _Complex th_inv_c64(float _Complex x) { return th_div_c64(CMPLXF(1, 0), x); }

/* @snippet pow_c64 needs cmplx */
/* The C library goes through log(x), which zero has not. */
TH_INLINE float _Complex th_pow_c64(float _Complex x, float _Complex y)
{
    if (crealf(y) == 0 && cimagf(y) == 0)
        return CMPLXF(1, 0);
    if (crealf(x) == 0 && cimagf(x) == 0)
        return crealf(y) > 0 ? CMPLXF(0, 0) : CMPLXF(NAN, NAN);
    return cpowf(x, y);
}

/* @snippet log1p_c128 needs cmplx */
/* Near 0 from the square of |1 + x| less 1, which adding 1 to x would round away. */
TH_INLINE double _Complex th_log1p_c128(double _Complex x)
{
    double a = creal(x), b = cimag(x), square = a * (2 + a) + b * b;
    return CMPLX(fabs(square) < 0.5 ? 0.5 * log1p(square) : log(hypot(1 + a, b)), atan2(b, 1 + a));
}

/* @snippet expm1_c128 needs cmplx */
TH_INLINE double _Complex th_expm1_c128(double _Complex x)
{
    double a = creal(x), b = cimag(x), half = sin(0.5 * b);
    return CMPLX(expm1(a) * cos(b) - 2 * half * half, exp(a) * sin(b));
}

/* @snippet exp2_c128 needs cmplx */
TH_INLINE double _Complex th_exp2_c128(double _Complex x)
{
    return cexp(CMPLX(creal(x) * 0.69314718055994530942, cimag(x) * 0.69314718055994530942));
}

/* @snippet log2_c128 needs cmplx */
TH_INLINE double _Complex th_log2_c128(double _Complex x)
{
    double _Complex y = clog(x);
    return CMPLX(creal(y) * 1.44269504088896340736, cimag(y) * 1.44269504088896340736);
}

/* @snippet log10_c128 needs cmplx */
TH_INLINE double _Complex th_log10_c128(double _Complex x)
{
    double _Complex y = clog(x);
    return CMPLX(creal(y) * 0.43429448190325182765, cimag(y) * 0.43429448190325182765);
}

/* @snippet log1p_c64 needs cmplx */
TH_INLINE float _Complex th_log1p_c64(float _Complex x)
{
    float a = crealf(x), b = cimagf(x), square = a * (2 + a) + b * b;
    return CMPLXF(fabsf(square) < 0.5f ? 0.5f * log1pf(square) : logf(hypotf(1 + a, b)), atan2f(b, 1 + a));
}

/* @snippet expm1_c64 needs cmplx */
TH_INLINE float _Complex th_expm1_c64(float _Complex x)
{
    float a = crealf(x), b = cimagf(x), half = sinf(0.5f * b);
    return CMPLXF(expm1f(a) * cosf(b) - 2 * half * half, expf(a) * sinf(b));
}

/* @snippet exp2_c64 needs cmplx */
TH_INLINE float _Complex th_exp2_c64(float _Complex x)
{
    return cexpf(CMPLXF(crealf(x) * 0.69314718055994530942f, cimagf(x) * 0.69314718055994530942f));
}

/* @snippet log2_c64 needs cmplx */
TH_INLINE float _Complex th_log2_c64(float _Complex x)
{
    float _Complex y = clogf(x);
    return CMPLXF(crealf(y) * 1.44269504088896340736f, cimagf(y) * 1.44269504088896340736f);
}

/* @snippet log10_c64 needs cmplx */
TH_INLINE float _Complex th_log10_c64(float _Complex x)
{
    float _Complex y = clogf(x);
    return CMPLXF(crealf(y) * 0.43429448190325182765f, cimagf(y) * 0.43429448190325182765f);
}
