/* Complex numbers, which neither language has: the type, and the functions of C's <complex.h>. This text is compiled twice, for
 * REAL numbers that are doubles, with C's names, and for floats, with an f behind each name (`dialect.complex_text`). It has
 * C's values for zeros, infinities and NaN, and its branch cuts. */
typedef struct ALIGNED(2 * sizeof(REAL)) { REAL x, y; } COMPLEX;

#define IS_FINITE(x) (F(fabs)(x) < INFINITY)
#define SIGNED(size, x) F(copysign)((REAL)(size), x)

TH_INLINE COMPLEX MAKE(const REAL x, const REAL y)
{
    COMPLEX z;
    z.x = x;
    z.y = y;
    return z;
}
TH_INLINE REAL F(creal)(const COMPLEX z) { return z.x; }
TH_INLINE REAL F(cimag)(const COMPLEX z) { return z.y; }
TH_INLINE COMPLEX F(conj)(const COMPLEX z) { return MAKE(z.x, -z.y); }
TH_INLINE REAL F(cabs)(const COMPLEX z) { return F(hypot)(z.x, z.y); }
TH_INLINE REAL F(carg)(const COMPLEX z) { return F(atan2)(z.y, z.x); }

/* x y + z */
TH_INLINE COMPLEX F(th_multiply_add)(const COMPLEX x, const COMPLEX y, const COMPLEX z)
{
    return MAKE(F(fma)(x.x, y.x, F(fma)(-x.y, y.y, z.x)), F(fma)(x.x, y.y, F(fma)(x.y, y.x, z.y)));
}

TH_INLINE COMPLEX F(cexp)(const COMPLEX z)
{
    if (z.y == 0)
        return MAKE(F(exp)(z.x), z.y);
    if (!IS_FINITE(z.y) && F(fabs)(z.x) == INFINITY)
        return z.x < 0 ? MAKE(0, 0) : MAKE(INFINITY, NAN);
    /* the exponential may overflow where its product with a small cosine does not: half of it comes before, half after */
    const REAL r = F(exp)(z.x > MOST_EXPONENT ? (REAL)0.5 * z.x : z.x), rest = z.x > MOST_EXPONENT ? r : 1;
    return MAKE(r * F(cos)(z.y) * rest, r * F(sin)(z.y) * rest);
}

TH_INLINE COMPLEX F(clog)(const COMPLEX z)
{
    const REAL x = F(fabs)(z.x), y = F(fabs)(z.y), a = x < y ? y : x, b = x < y ? x : y;
    REAL length;
    if (a > (REAL)0.5 && a < 2) { /* near the unit circle from |z|^2 - 1, with what each rounding left out */
        const REAL p = a * a, q = b * b, d = p - 1, sum = d + q, back = sum - d;
        const REAL lost = (d - (sum - back)) + (q - back) + F(fma)(a, a, -p) + F(fma)(b, b, -q);
        length = (REAL)0.5 * F(log1p)(sum + lost);
    } else if (a > (REAL)0.25 * MOST) {
        length = F(log)(F(hypot)((REAL)0.5 * x, (REAL)0.5 * y)) + (REAL)0.69314718055994530942;
    } else {
        length = F(log)(F(hypot)(x, y));
    }
    return MAKE(length, F(atan2)(z.y, z.x));
}

/* W. Kahan, Branch cuts for complex elementary functions, 1987; scaled where |z| would overflow or lose digits. */
TH_INLINE COMPLEX F(csqrt)(const COMPLEX z)
{
    REAL x = z.x, y = z.y, scale = 1;
    if (x == 0 && y == 0)
        return MAKE(0, y);
    if (F(fabs)(y) == INFINITY)
        return MAKE(INFINITY, y);
    if (x == INFINITY)
        return MAKE(x, y != y ? y : SIGNED(0, y));
    if (x == -INFINITY)
        return y != y ? MAKE(y, INFINITY) : MAKE(0, SIGNED(INFINITY, y));
    const REAL largest = F(fabs)(x) < F(fabs)(y) ? F(fabs)(y) : F(fabs)(x);
    if (largest > (REAL)0.25 * MOST) {
        x *= (REAL)0.0625;
        y *= (REAL)0.0625;
        scale = 4;
    } else if (largest < 4 * LEAST) {
        x *= 0x1p60f;
        y *= 0x1p60f;
        scale = 0x1p-30f;
    }
    const REAL root = F(sqrt)((REAL)0.5 * (F(fabs)(x) + F(hypot)(x, y))), other = y / (2 * root);
    if (x >= 0)
        return MAKE(root * scale, other * scale);
    return MAKE(F(fabs)(other) * scale, F(copysign)(root, y) * scale);
}

TH_INLINE COMPLEX F(cpow)(const COMPLEX z, const COMPLEX power)
{
    const COMPLEX l = F(clog)(z);
    return F(cexp)(MAKE(power.x * l.x - power.y * l.y, power.x * l.y + power.y * l.x));
}

TH_INLINE COMPLEX F(csinh)(const COMPLEX z)
{
    const REAL x = F(fabs)(z.x);
    if (z.y == 0)
        return MAKE(F(sinh)(z.x), z.y);
    if (!IS_FINITE(z.y) && (x == 0 || x == INFINITY))
        return MAKE(z.x, NAN);
    if (x > MOST_EXPONENT) { /* as in cexp */
        const REAL r = F(exp)((REAL)0.5 * x);
        return MAKE(SIGNED(0.5f, z.x) * r * F(cos)(z.y) * r, (REAL)0.5 * r * F(sin)(z.y) * r);
    }
    return MAKE(F(sinh)(z.x) * F(cos)(z.y), F(cosh)(z.x) * F(sin)(z.y));
}

TH_INLINE COMPLEX F(ccosh)(const COMPLEX z)
{
    const REAL x = F(fabs)(z.x);
    if (z.y == 0)
        return MAKE(F(cosh)(z.x), SIGNED(1, z.x) * z.y);
    if (!IS_FINITE(z.y) && (x == 0 || x == INFINITY))
        return x == 0 ? MAKE(NAN, 0) : MAKE(INFINITY, NAN);
    if (x > MOST_EXPONENT) {
        const REAL r = F(exp)((REAL)0.5 * x);
        return MAKE((REAL)0.5 * r * F(cos)(z.y) * r, SIGNED(0.5f, z.x) * r * F(sin)(z.y) * r);
    }
    return MAKE(F(cosh)(z.x) * F(cos)(z.y), F(sinh)(z.x) * F(sin)(z.y));
}

TH_INLINE COMPLEX F(ctanh)(const COMPLEX z)
{
    const REAL x = F(fabs)(z.x), y = z.y;
    if (z.x != z.x)
        return MAKE(z.x, y == 0 ? y : NAN);
    if (!IS_FINITE(y))
        return x == INFINITY ? MAKE(SIGNED(1, z.x), 0) : MAKE(x == 0 ? z.x : NAN, NAN);
    if (x > MOST_TANH) {
        const REAL e = F(exp)(-x);
        return MAKE(SIGNED(1, z.x), 4 * F(sin)(y) * F(cos)(y) * e * e);
    }
    const REAL t = F(tan)(y), beta = 1 + t * t, s = F(sinh)(z.x), rho = F(sqrt)(1 + s * s), below = 1 + beta * s * s;
    return MAKE(beta * rho * s / below, t / below);
}

/* Of the sine and its inverse: f(z) = -i g(i z). */
TH_INLINE COMPLEX F(csin)(const COMPLEX z)
{
    const COMPLEX w = F(csinh)(MAKE(-z.y, z.x));
    return MAKE(w.y, -w.x);
}
TH_INLINE COMPLEX F(ccos)(const COMPLEX z) { return F(ccosh)(MAKE(-z.y, z.x)); }
TH_INLINE COMPLEX F(ctan)(const COMPLEX z)
{
    const COMPLEX w = F(ctanh)(MAKE(-z.y, z.x));
    return MAKE(w.y, -w.x);
}

/* An infinite number as a direction: of its parts, those that are infinite are ones, the others zeros; NaN stays. */
TH_INLINE REAL F(th_direction)(const REAL x) { return x != x ? x : SIGNED(F(fabs)(x) == INFINITY ? 1 : 0, x); }

TH_INLINE COMPLEX F(casin)(const COMPLEX z)
{
    if (F(fabs)(z.x) == INFINITY || F(fabs)(z.y) == INFINITY)
        return MAKE(F(atan2)(F(th_direction)(z.x), F(fabs)(F(th_direction)(z.y))), SIGNED(INFINITY, z.y));
    const COMPLEX m = F(csqrt)(MAKE(1 - z.x, -z.y)), p = F(csqrt)(MAKE(1 + z.x, z.y));
    return MAKE(z.x == 0 ? z.x : F(atan2)(z.x, m.x * p.x - m.y * p.y), F(asinh)(m.x * p.y - m.y * p.x));
}
TH_INLINE COMPLEX F(cacos)(const COMPLEX z)
{
    if (F(fabs)(z.x) == INFINITY || F(fabs)(z.y) == INFINITY)
        return MAKE(F(atan2)(F(fabs)(F(th_direction)(z.y)), F(th_direction)(z.x)), SIGNED(INFINITY, -z.y));
    const COMPLEX m = F(csqrt)(MAKE(1 - z.x, -z.y)), p = F(csqrt)(MAKE(1 + z.x, z.y));
    return MAKE(2 * F(atan2)(m.x, p.x), F(asinh)(p.x * m.y - p.y * m.x));
}
TH_INLINE COMPLEX F(casinh)(const COMPLEX z)
{
    const COMPLEX w = F(casin)(MAKE(-z.y, z.x));
    return MAKE(w.y, -w.x);
}
TH_INLINE COMPLEX F(cacosh)(const COMPLEX z)
{
    const COMPLEX w = F(cacos)(z);
    return MAKE(F(fabs)(w.y), F(copysign)(w.x, z.y));
}

TH_INLINE COMPLEX F(catanh)(const COMPLEX z)
{
    const REAL x = F(fabs)(z.x), y = F(fabs)(z.y), pi_2 = (REAL)1.57079632679489661923;
    if (x == 0)
        return MAKE(z.x, F(atan)(z.y));
    if (x == INFINITY || y == INFINITY)
        return MAKE(SIGNED(0, z.x), z.y != z.y ? z.y : F(copysign)(pi_2, z.y));
    if (x == 1 && y == 0)
        return MAKE(SIGNED(INFINITY, z.x), z.y);
    if (x > ROOT_OF_MOST || y > ROOT_OF_MOST) {
        const REAL length = F(hypot)(x, y);
        return MAKE(F(copysign)(x / length / length, z.x), F(copysign)(pi_2, z.y));
    }
    const REAL above = y + 1 / ROOT_OF_MOST; /* not 0, where z is 1 */
    const REAL re = x == 1 ? F(log)(F(sqrt)(F(sqrt)(4 + y * y)) / F(sqrt)(above))
                           : (REAL)0.25 * F(log1p)(4 * x / ((1 - x) * (1 - x) + above * above));
    const REAL im = x == 1 ? (REAL)0.5 * (pi_2 + F(atan)((REAL)0.5 * above))
                           : (REAL)0.5 * F(atan2)(2 * y, (1 - x) * (1 + x) - above * above);
    return MAKE(F(copysign)(re, z.x), F(copysign)(im, z.y));
}
TH_INLINE COMPLEX F(catan)(const COMPLEX z)
{
    const COMPLEX w = F(catanh)(MAKE(-z.y, z.x));
    return MAKE(w.y, -w.x);
}
