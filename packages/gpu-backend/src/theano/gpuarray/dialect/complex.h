/* Complex numbers, which neither language has: the type, and the functions of C's <complex.h>. They have C's values for zeros,
 * infinities and NaN, and its branch cuts.
 */

/* @where N is       64                         32
 * MOST              1.7976931348623157e308     3.40282346e38      the largest number,
 * LEAST             2.2250738585072014e-308    1.17549435e-38     the least normal one
 * ROOT_OF_MOST      3.35195198e153             4.6116858e18
 * MOST_EXPONENT     709.0                      88.0               exp overflows soon after it
 * MOST_TANH         22.0                       11.0               tanh is 1 above
 */

/* @snippet complex_c2N */
typedef struct ALIGNED(2 * sizeof(floatN)) { floatN x, y; } th_c2N;

TH_INLINE th_c2N CMPLX(const floatN x, const floatN y)
{
    th_c2N z;
    z.x = x;
    z.y = y;
    return z;
}
TH_INLINE floatN creal(const th_c2N z) { return z.x; }
TH_INLINE floatN cimag(const th_c2N z) { return z.y; }
TH_INLINE th_c2N conj(const th_c2N z) { return CMPLX(z.x, -z.y); }
TH_INLINE floatN cabs(const th_c2N z) { return hypot(z.x, z.y); }
TH_INLINE floatN carg(const th_c2N z) { return atan2(z.y, z.x); }

/* x y + z */
TH_INLINE th_c2N th_multiply_add_c2N(const th_c2N x, const th_c2N y, const th_c2N z)
{
    return CMPLX(fma(x.x, y.x, fma(-x.y, y.y, z.x)), fma(x.x, y.y, fma(x.y, y.x, z.y)));
}

TH_INLINE th_c2N cexp(const th_c2N z)
{
    if (z.y == 0)
        return CMPLX(exp(z.x), z.y);
    if (!(fabs(z.y) < INFINITY) && fabs(z.x) == INFINITY)
        return z.x < 0 ? CMPLX(0, 0) : CMPLX(INFINITY, NAN);
    /* the exponential may overflow where its product with a small cosine does not: half of it comes before, half after */
    const floatN r = exp(z.x > MOST_EXPONENT ? 0.5 * z.x : z.x), rest = z.x > MOST_EXPONENT ? r : 1;
    return CMPLX(r * cos(z.y) * rest, r * sin(z.y) * rest);
}

TH_INLINE th_c2N clog(const th_c2N z)
{
    const floatN x = fabs(z.x), y = fabs(z.y), a = x < y ? y : x, b = x < y ? x : y;
    floatN length;
    if (a > 0.5 && a < 2) { /* near the unit circle from |z|^2 - 1, with what each rounding left out */
        const floatN p = a * a, q = b * b, d = p - 1, sum = d + q, back = sum - d;
        const floatN lost = (d - (sum - back)) + (q - back) + fma(a, a, -p) + fma(b, b, -q);
        length = 0.5 * log1p(sum + lost);
    } else if (a > 0.25 * MOST) {
        length = log(hypot(0.5 * x, 0.5 * y)) + 0.69314718055994530942;
    } else {
        length = log(hypot(x, y));
    }
    return CMPLX(length, atan2(z.y, z.x));
}

/* W. Kahan, Branch cuts for complex elementary functions, 1987; scaled where |z| would overflow or lose digits. */
TH_INLINE th_c2N csqrt(const th_c2N z)
{
    floatN x = z.x, y = z.y, scale = 1;
    if (x == 0 && y == 0)
        return CMPLX(0, y);
    if (fabs(y) == INFINITY)
        return CMPLX(INFINITY, y);
    if (x == INFINITY)
        return CMPLX(x, y != y ? y : copysign(0.0, y));
    if (x == -INFINITY)
        return y != y ? CMPLX(y, INFINITY) : CMPLX(0, copysign((floatN)INFINITY, y));
    const floatN largest = fabs(x) < fabs(y) ? fabs(y) : fabs(x);
    if (largest > 0.25 * MOST) {
        x *= 0.0625;
        y *= 0.0625;
        scale = 4;
    } else if (largest < 4 * LEAST) {
        x *= 0x1p60;
        y *= 0x1p60;
        scale = 0x1p-30;
    }
    const floatN root = sqrt(0.5 * (fabs(x) + hypot(x, y))), other = y / (2 * root);
    if (x >= 0)
        return CMPLX(root * scale, other * scale);
    return CMPLX(fabs(other) * scale, copysign(root, y) * scale);
}

TH_INLINE th_c2N cpow(const th_c2N z, const th_c2N power)
{
    const th_c2N l = clog(z);
    return cexp(CMPLX(power.x * l.x - power.y * l.y, power.x * l.y + power.y * l.x));
}

TH_INLINE th_c2N csinh(const th_c2N z)
{
    const floatN x = fabs(z.x);
    if (z.y == 0)
        return CMPLX(sinh(z.x), z.y);
    if (!(fabs(z.y) < INFINITY) && (x == 0 || x == INFINITY))
        return CMPLX(z.x, NAN);
    if (x > MOST_EXPONENT) { /* as in cexp */
        const floatN r = exp(0.5 * x);
        return CMPLX(copysign(0.5, z.x) * r * cos(z.y) * r, 0.5 * r * sin(z.y) * r);
    }
    return CMPLX(sinh(z.x) * cos(z.y), cosh(z.x) * sin(z.y));
}

TH_INLINE th_c2N ccosh(const th_c2N z)
{
    const floatN x = fabs(z.x);
    if (z.y == 0)
        return CMPLX(cosh(z.x), copysign(1.0, z.x) * z.y);
    if (!(fabs(z.y) < INFINITY) && (x == 0 || x == INFINITY))
        return x == 0 ? CMPLX(NAN, 0) : CMPLX(INFINITY, NAN);
    if (x > MOST_EXPONENT) {
        const floatN r = exp(0.5 * x);
        return CMPLX(0.5 * r * cos(z.y) * r, copysign(0.5, z.x) * r * sin(z.y) * r);
    }
    return CMPLX(cosh(z.x) * cos(z.y), sinh(z.x) * sin(z.y));
}

TH_INLINE th_c2N ctanh(const th_c2N z)
{
    const floatN x = fabs(z.x), y = z.y;
    if (z.x != z.x)
        return CMPLX(z.x, y == 0 ? y : NAN);
    if (!(fabs(y) < INFINITY))
        return x == INFINITY ? CMPLX(copysign(1.0, z.x), 0) : CMPLX(x == 0 ? z.x : NAN, NAN);
    if (x > MOST_TANH) {
        const floatN e = exp(-x);
        return CMPLX(copysign(1.0, z.x), 4 * sin(y) * cos(y) * e * e);
    }
    const floatN t = tan(y), beta = 1 + t * t, s = sinh(z.x), rho = sqrt(1 + s * s), below = 1 + beta * s * s;
    return CMPLX(beta * rho * s / below, t / below);
}

/* Of the sine and its inverse: f(z) = -i g(i z). */
TH_INLINE th_c2N csin(const th_c2N z)
{
    const th_c2N w = csinh(CMPLX(-z.y, z.x));
    return CMPLX(w.y, -w.x);
}
TH_INLINE th_c2N ccos(const th_c2N z) { return ccosh(CMPLX(-z.y, z.x)); }
TH_INLINE th_c2N ctan(const th_c2N z)
{
    const th_c2N w = ctanh(CMPLX(-z.y, z.x));
    return CMPLX(w.y, -w.x);
}

/* An infinite number as a direction: of its parts, those that are infinite are ones, the others zeros; NaN stays. */
TH_INLINE floatN th_direction_fN(const floatN x) { return x != x ? x : copysign(fabs(x) == INFINITY ? 1.0 : 0.0, x); }

TH_INLINE th_c2N casin(const th_c2N z)
{
    if (fabs(z.x) == INFINITY || fabs(z.y) == INFINITY)
        return CMPLX(atan2(th_direction_fN(z.x), fabs(th_direction_fN(z.y))), copysign((floatN)INFINITY, z.y));
    const th_c2N m = csqrt(CMPLX(1 - z.x, -z.y)), p = csqrt(CMPLX(1 + z.x, z.y));
    return CMPLX(z.x == 0 ? z.x : atan2(z.x, m.x * p.x - m.y * p.y), asinh(m.x * p.y - m.y * p.x));
}
TH_INLINE th_c2N cacos(const th_c2N z)
{
    if (fabs(z.x) == INFINITY || fabs(z.y) == INFINITY)
        return CMPLX(atan2(fabs(th_direction_fN(z.y)), th_direction_fN(z.x)), copysign((floatN)INFINITY, -z.y));
    const th_c2N m = csqrt(CMPLX(1 - z.x, -z.y)), p = csqrt(CMPLX(1 + z.x, z.y));
    return CMPLX(2 * atan2(m.x, p.x), asinh(p.x * m.y - p.y * m.x));
}
TH_INLINE th_c2N casinh(const th_c2N z)
{
    const th_c2N w = casin(CMPLX(-z.y, z.x));
    return CMPLX(w.y, -w.x);
}
TH_INLINE th_c2N cacosh(const th_c2N z)
{
    const th_c2N w = cacos(z);
    return CMPLX(fabs(w.y), copysign(w.x, z.y));
}

TH_INLINE th_c2N catanh(const th_c2N z)
{
    const floatN x = fabs(z.x), y = fabs(z.y), pi_2 = 1.57079632679489661923;
    if (x == 0)
        return CMPLX(z.x, atan(z.y));
    if (x == INFINITY || y == INFINITY)
        return CMPLX(copysign(0.0, z.x), z.y != z.y ? z.y : copysign(pi_2, z.y));
    if (x == 1 && y == 0)
        return CMPLX(copysign((floatN)INFINITY, z.x), z.y);
    if (x > ROOT_OF_MOST || y > ROOT_OF_MOST) {
        const floatN length = hypot(x, y);
        return CMPLX(copysign(x / length / length, z.x), copysign(pi_2, z.y));
    }
    const floatN above = y + 1 / ROOT_OF_MOST; /* not 0, where z is 1 */
    const floatN re = x == 1 ? log(sqrt(sqrt(4 + y * y)) / sqrt(above))
                           : 0.25 * log1p(4 * x / ((1 - x) * (1 - x) + above * above));
    const floatN im = x == 1 ? 0.5 * (pi_2 + atan(0.5 * above))
                           : 0.5 * atan2(2 * y, (1 - x) * (1 + x) - above * above);
    return CMPLX(copysign(re, z.x), copysign(im, z.y));
}
TH_INLINE th_c2N catan(const th_c2N z)
{
    const th_c2N w = catanh(CMPLX(-z.y, z.x));
    return CMPLX(w.y, -w.x);
}
