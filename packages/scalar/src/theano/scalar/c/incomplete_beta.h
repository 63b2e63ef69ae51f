/* The incomplete beta function and its derivatives: one number at a time, in long double.
 *
 * Below (a + 1)/(a + b + 2) by its continued fraction (NIST Digital Library of Mathematical Functions, 8.17.22, evaluated as
 * W. J. Lentz does), above that as 1 minus the other integral (8.17.4). Where nothing is left, or the fraction is long, and for the
 * derivatives, the integral itself by the trapezoidal rule, on the side of x where its terms have one sign: with
 * t = x exp(-s) and s = c exp(w - exp(-w)) the rule converges exponentially (H. Takahasi and M. Mori, 1974); c is about the
 * width of the bell. The exponent of (t/x)^a ((1 - t)/(1 - x))^b, a difference of large numbers near the bell's peak, is made
 * of the offset a - (a + b) x and of what logarithms are beside their first terms (A. R. DiDonato and A. H. Morris, ACM TOMS
 * 18:360, 1992, have the factor x^a (1 - x)^b/B(a, b) so). Every loop has a bound that no argument moves.
 */

/* @snippet incomplete_beta_f64 needs log_excess_f64 */
typedef struct {
    long double a, b, x, y, offset; /* y = 1 - x, and a - (a + b) x = a y - b x */
} th_beta;
static th_beta th_beta_exchanged(th_beta of)
{
    th_beta other = {of.b, of.a, of.y, of.x, -of.offset};
    return other;
}
/* r - 1 - log(r) for r = 1 + mu */
static long double th_log_excess_at(long double mu, long double r)
{
    return fabsl(mu) > 0.4L ? mu - (mu < -0.9L ? logl(r) : log1pl(mu)) : th_log_excess_near(mu);
}
/* log(x^a y^b/B(a, b)) */
static long double th_beta_log_factor(th_beta of)
{
    long double a = of.a, b = of.b, sum = a + b, x = of.x, y = of.y, rest, log_y = x < 0.5L ? log1pl(-x) : logl(y);
    if (a > b)
        return th_beta_log_factor(th_beta_exchanged(of));
    if (b < 20.0L)
        return a * logl(x) + b * log_y + lgammal(sum) - lgammal(a) - lgammal(b);
    rest = th_stirling_rest(sum) - th_stirling_rest(b);
    if (a < 20.0L)
        return a * logl(b * x) + b * log_y - lgammal(a) + (sum - 0.5L) * log1pl(a / b) - a + rest;
    rest -= th_stirling_rest(a);
    rest -= a * th_log_excess_at(-of.offset / a, x * (sum / a)) + b * th_log_excess_at(of.offset / b, y * (sum / b));
    return rest + 0.5L * logl(a / sum * b / 6.283185307179586476925286766559L);
}
/* The integral of t^(a-1) (1-t)^(b-1) over x^a y^b, from 0 to x, times
 * weight 0: 1; weight 1: start + log(t/x); weight 2: start + log((1 - t)/y) */
static long double th_beta_integral(th_beta of, int weight, long double start)
{
    long double a = of.a, b = of.b, x = of.x, y = of.y, sum = 0.0L, step = 0.0625L;
    long double size = 1.0L / (1.0L + x / y + sqrtl(a + a * a / (b + 1.0L)));
    for (int n = -70; n < 32000; n++) {
        long double w = n * step, e = expl(-w), s = size * expl(w - e), u = -expm1l(-s), z = x / y * u, log_z = log1pl(z), term;
        if (u < 0.4L && z < 0.4L)
            term = -u / y * of.offset - a * th_log_excess_near(-u) - b * th_log_excess_near(z);
        else
            term = b * log_z - a * s;
        term = expl(term) * s * (1.0L + e) / (y + x * u);
        term *= weight == 0 ? 1.0L : start + (weight == 1 ? -s : log_z);
        sum += term;
        if (n > 0 && fabsl(term) <= 1e-21L * fabsl(sum))
            break;
    }
    return sum * step;
}

/* @snippet beta_of_f64 needs incomplete_beta_f64 residual_f64 */
static th_beta th_beta_of(long double a, long double b, double x)
{
    double p = (double)a * x, q = (double)b * x;
    long double s = a - p, rest = th_residual_f64((double)a, x, p) + th_residual_f64((double)b, x, q);
    th_beta of = {a, b, x, 1.0L - x, (s - q) + (((a - s) - p) - rest)};
    return of;
}
static int th_beta_outside(double a, double b, double x)
{
    double far = __builtin_inf();
    return !(a >= 0.0) || !(b >= 0.0) || !(x >= 0.0) || x > 1.0 || (a == 0.0 && b == 0.0) || (a == far && b == far);
}

/* @snippet beta_ratio_f64 needs incomplete_beta_f64 */
/* The regularised function over its factor; nan where the fraction is long. */
static long double th_beta_fraction(long double a, long double b, long double x)
{
    long double c = 1.0L, d = 1.0L / (1.0L - (a + b) * x / (a + 1.0L)), h = d, e, step;
    for (int m = 1; m < 1000; m++) {
        e = m * (b - m) * x / ((a + (2 * m - 1)) * (a + 2 * m));
        d = 1.0L / (1.0L + e * d);
        c = 1.0L + e / c;
        h *= c * d;
        e = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + (2 * m + 1)));
        d = 1.0L / (1.0L + e * d);
        c = 1.0L + e / c;
        step = c * d;
        h *= step;
        if (fabsl(step - 1.0L) <= 1.5L * __LDBL_EPSILON__)
            return h / a;
    }
    return __builtin_nanl("");
}
/* The regularised function over its factor, for a, b > 0 and 0 < x < 1 */
static long double th_beta_ratio(th_beta of, long double log_factor)
{
    long double a = of.a, b = of.b, found;
    if (of.x <= (a + 1.0L) / (a + b + 2.0L)) {
        found = th_beta_fraction(a, b, of.x);
        if (found == found)
            return found;
    } else {
        found = th_beta_fraction(b, a, of.y);
        found = (found == found ? found : th_beta_integral(th_beta_exchanged(of), 0, 0.0L)) * expl(log_factor);
        if (found < 0.9L)
            return (1.0L - found) * expl(-log_factor);
    }
    return th_beta_integral(of, 0, 0.0L);
}

/* @snippet betainc_f64 needs beta_of_f64 beta_ratio_f64 */
static double th_betainc_f64(double a, double b, double x)
{
    if (th_beta_outside(a, b, x))
        return __builtin_nan("");
    if (x == 0.0 || x == 1.0)
        return x;
    if (a == 0.0 || b == __builtin_inf())
        return 1.0;
    if (b == 0.0 || a == __builtin_inf())
        return 0.0;
    th_beta of = th_beta_of(a, b, x);
    long double log_factor = th_beta_log_factor(of), ratio = th_beta_ratio(of, log_factor);
    return ratio < __builtin_infl() ? (double)(ratio * expl(log_factor)) : 1.0;
}

/* @snippet betaincinv_f64 needs beta_ratio_f64 tail_normal_f64 */
/* By Newton's method for the logarithm of the function, or of 1 less the function, as a function of log(x/(1-x)), which is
 * concave. The first x is that of the function's first term, and that of a normal distribution of log(x/(1-x)).
 */
static double th_betaincinv_f64(double a, double b, double p)
{
    double far = __builtin_inf();
    long double u, normal, log_p = p > 0.5 ? log1pl(-p) : logl(p), log_factor, ratio, step;
    if (!(a > 0.0) || !(b > 0.0) || !(p >= 0.0) || p > 1.0 || ((a == far || b == far) && p > 0.0 && p < 1.0))
        return __builtin_nan("");
    if (p == 0.0 || p == 1.0)
        return p;
    th_beta of = {p > 0.5 ? b : a, p > 0.5 ? a : b, 0.0L, 0.0L, 0.0L};
    u = (log_p + logl(of.a) + lgammal(of.a) + lgammal(of.b) - lgammal(of.a + of.b)) / of.a;
    normal = logl(of.a / of.b) - th_tail_normal(expl(log_p)) * sqrtl(1.0L / of.a + 1.0L / of.b);
    u = of.a > 5.0L && of.b > 5.0L && normal > u ? normal : u;
    for (int n = 0; n < 200 && fabsl(u) < 11000.0L; n++) {
        of.x = 1.0L / (1.0L + expl(-u));
        of.y = 1.0L / (1.0L + expl(u));
        of.offset = of.a * of.y - of.b * of.x;
        log_factor = th_beta_log_factor(of);
        ratio = th_beta_ratio(of, log_factor);
        step = (log_p - logl(ratio) - log_factor) * ratio;
        u += step < -30.0L ? -30.0L : step;
        if (!(fabsl(step) * (1.0L + sqrtl(of.a < of.b ? of.a : of.b)) >= 1e-9L))
            break;
    }
    return (double)(1.0L / (1.0L + expl(p > 0.5 ? u : -u)));
}

/* @snippet betainc_slope_f64 needs beta_of_f64 */
/* psi(a + b) - psi(a), exact for small b too (5.11.2) */
static long double th_psi_step(long double a, long double b)
{
    static const long double term[7] = {1.0L / 12, -1.0L / 120, 1.0L / 252, -1.0L / 240, 1.0L / 132, -691.0L / 32760, 1.0L / 12};
    long double sum = 0.0L, v, w, first, step, power;
    for (; a < 20.0L; a += 1.0L)
        sum += b / (a * (a + b));
    w = 1.0L / (a * a);
    power = v = 1.0L / ((a + b) * (a + b));
    step = first = b / a * ((2.0L * a + b) / (a * (a + b))) / (a + b);
    for (int k = 0; k < 7; k++) { /* step: a^-(2k+2) - (a + b)^-(2k+2) */
        sum += term[k] * step;
        step = w * step + power * first;
        power *= v;
    }
    return sum + log1pl(b / a) + 0.5L * b / (a * (a + b));
}
/* The derivative with respect to a: the integral with the weight log(t) - psi(a) + psi(a + b) */
static long double th_betainc_slope(th_beta of)
{
    long double a = of.a, b = of.b, start = (of.x < 0.5L ? logl(of.x) : log1pl(-of.y)) + th_psi_step(a, b);
    if (start < 0.0L)
        return th_beta_integral(of, 1, start) * expl(th_beta_log_factor(of));
    return -th_beta_integral(th_beta_exchanged(of), 2, start) * expl(th_beta_log_factor(of));
}
static double th_betainc_edge(double a, double b, double x)
{
    if (th_beta_outside(a, b, x) || (a == 0.0 && x == 0.0) || (b == 0.0 && x == 1.0))
        return __builtin_nan("");
    return a == __builtin_inf() || b == __builtin_inf() || x == 0.0 || x == 1.0 ? 0.0 : 1.0;
}

/* @snippet betainc_der_a_f64 needs betainc_slope_f64 */
static double th_betainc_der_a_f64(double a, double b, double x)
{
    double edge = th_betainc_edge(a, b, x);
    if (edge != 1.0 || b == 0.0)
        return edge == 1.0 ? 0.0 : edge;
    return (double)th_betainc_slope(th_beta_of(a > 0.0 ? a : 0x1p-9000L, b, x));
}

/* @snippet betainc_der_b_f64 needs betainc_slope_f64 */
static double th_betainc_der_b_f64(double a, double b, double x)
{
    double edge = th_betainc_edge(a, b, x);
    if (edge != 1.0 || a == 0.0)
        return edge == 1.0 ? 0.0 : edge;
    return -(double)th_betainc_slope(th_beta_exchanged(th_beta_of(a, b > 0.0 ? b : 0x1p-9000L, x)));
}
