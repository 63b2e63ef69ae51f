/* Complex arithmetic as NumPy does it, without the recovery of infinities that C's own product and
 * quotient pay for with a function call. Complex numbers are made, taken apart and given to functions here, and nothing
 * else: so the text serves languages, too, that have no complex numbers and make structs of them. */

/* @snippet add_c2N needs cmplx */
TH_INLINE floatN _Complex th_add_c2N(floatN _Complex x, floatN _Complex y)
{
    return CMPLX(creal(x) + creal(y), cimag(x) + cimag(y));
}

/* @snippet sub_c2N needs cmplx */
TH_INLINE floatN _Complex th_sub_c2N(floatN _Complex x, floatN _Complex y)
{
    return CMPLX(creal(x) - creal(y), cimag(x) - cimag(y));
}

/* @snippet neg_c2N needs cmplx */
TH_INLINE floatN _Complex th_neg_c2N(floatN _Complex x) { return CMPLX(-creal(x), -cimag(x)); }

/* @snippet equal_c2N needs inline */
TH_INLINE int th_equal_c2N(floatN _Complex x, floatN _Complex y)
{
    return (creal(x) == creal(y)) & (cimag(x) == cimag(y));
}

/* @snippet truth_c2N needs inline */
TH_INLINE int th_truth_c2N(floatN _Complex x) { return (creal(x) != 0) | (cimag(x) != 0); }

/* @snippet mul_c2N needs cmplx */
TH_INLINE floatN _Complex th_mul_c2N(floatN _Complex x, floatN _Complex y)
{
    floatN a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
    return CMPLX(a * c - b * d, a * d + b * c);
}

/* @snippet div_c2N needs cmplx */
/* R. L. Smith, CACM 5:435, 1962: divides by the larger part first, so that nothing overflows early. */
TH_INLINE floatN _Complex th_div_c2N(floatN _Complex x, floatN _Complex y)
{
    floatN a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
    if (fabs(c) >= fabs(d)) {
        floatN ratio = d / c, scale = 1 / (c + d * ratio);
        if (c == 0 && d == 0)
            return CMPLX(a / fabs(c), b / fabs(c));
        return CMPLX((a + b * ratio) * scale, (b - a * ratio) * scale);
    } else {
        floatN ratio = c / d, scale = 1 / (d + c * ratio);
        return CMPLX((a * ratio + b) * scale, (b * ratio - a) * scale);
    }
}

/* @snippet c64_of_c128 needs cmplx */
TH_INLINE float _Complex th_c64_of_c128(double _Complex x) { return CMPLXF(creal(x), cimag(x)); }

/* @snippet c128_of_c64 needs cmplx */
TH_INLINE double _Complex th_c128_of_c64(float _Complex x) { return CMPLX(crealf(x), cimagf(x)); }

/* @snippet inv_c2N needs div_c2N */
TH_INLINE floatN _Complex th_inv_c2N(floatN _Complex x) { return th_div_c2N(CMPLX(1, 0), x); }

/* @snippet pow_c2N needs cmplx */
/* The C library goes through log(x), which zero has not. */
TH_INLINE floatN _Complex th_pow_c2N(floatN _Complex x, floatN _Complex y)
{
    if (creal(y) == 0 && cimag(y) == 0)
        return CMPLX(1, 0);
    if (creal(x) == 0 && cimag(x) == 0)
        return creal(y) > 0 ? CMPLX(0, 0) : CMPLX(NAN, NAN);
    return cpow(x, y);
}

/* @snippet log1p_c2N needs cmplx */
/* Near 0 from the square of |1 + x| less 1, which adding 1 to x would round away. */
TH_INLINE floatN _Complex th_log1p_c2N(floatN _Complex x)
{
    floatN a = creal(x), b = cimag(x), square = a * (2 + a) + b * b;
    return CMPLX(fabs(square) < 0.5 ? 0.5 * log1p(square) : log(hypot(1 + a, b)), atan2(b, 1 + a));
}

/* @snippet expm1_c2N needs cmplx */
TH_INLINE floatN _Complex th_expm1_c2N(floatN _Complex x)
{
    floatN a = creal(x), b = cimag(x), half = sin(0.5 * b);
    return CMPLX(expm1(a) * cos(b) - 2 * half * half, exp(a) * sin(b));
}

/* @snippet exp2_c2N needs cmplx */
TH_INLINE floatN _Complex th_exp2_c2N(floatN _Complex x)
{
    return cexp(CMPLX(creal(x) * 0.69314718055994530942, cimag(x) * 0.69314718055994530942));
}

/* @snippet log2_c2N needs cmplx */
TH_INLINE floatN _Complex th_log2_c2N(floatN _Complex x)
{
    floatN _Complex y = clog(x);
    return CMPLX(creal(y) * 1.44269504088896340736, cimag(y) * 1.44269504088896340736);
}

/* @snippet log10_c2N needs cmplx */
TH_INLINE floatN _Complex th_log10_c2N(floatN _Complex x)
{
    floatN _Complex y = clog(x);
    return CMPLX(creal(y) * 0.43429448190325182765, cimag(y) * 0.43429448190325182765);
}
