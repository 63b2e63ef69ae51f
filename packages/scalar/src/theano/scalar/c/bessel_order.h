/* Bessel functions of the first kind of any real order: one number at a time, in long double.
 *
 * Where x is small by the power series (NIST Digital Library of Mathematical Functions, 10.2.2 and 10.25.2). iv for
 * orders above 100 by P. Debye's uniform expansion (10.41.3, 10.41.4). jv far out by Hankel's expansion (10.17.3),
 * between by recurrence from high orders to low ones (J. C. P. Miller, British Association Mathematical Tables 10, 1952),
 * which the sum 10.23.15 normalises; for orders or arguments above 10,000 by Debye's expansions on both sides of x = v
 * (10.19.3, 10.19.6), and close to it by recurrence down from where they hold. (iv of negative orders adds the function
 * of the second kind, 10.27.2.) Every loop has a bound that no argument
 * moves.
 */

/* @snippet sin_pi_f64 needs inline */
#define TH_HALF_PI 1.57079632679489661923132169163975L
/* sin(pi v), exact where it is */
static long double th_sin_pi(long double v)
{
    long double r = fmodl(v, 2.0L), d = r - rintl(r);
    return (fmodl(rintl(r), 2.0L) != 0.0L ? -1.0L : 1.0L) * sinl(2.0L * TH_HALF_PI * d);
}

/* @snippet bessel_order_f64 needs sin_pi_f64 */
/* (x/2)^v/gamma(v + 1) times the sum of (sign x^2/4)^k / (k! (v + 1)...(v + k)) */
static long double th_bessel_series(long double v, long double x, long double sign)
{
    long double half = 0.5L * x, square = sign * half * half, factor, term = 1.0L, sum = 1.0L;
    factor = v < 1700.0L ? powl(half, v) / tgammal(v + 1.0L) : expl(v * logl(half) - lgammal(v + 1.0L));
    if (factor == 0.0L)
        return 0.0L;
    for (int k = 1; k < 5000; k++) {
        term *= square / (k * (v + k));
        sum += term;
        if (k + v > 0.0L && fabsl(term) <= 1e-21L * fabsl(sum) && fabsl(square) < 0.5L * k * (v + k))
            break;
    }
    return factor * sum;
}
/* The sums of Debye's polynomials over even and odd k: over^k times one in w, for over = p/v and w = p^2. With `turn` -1 p is
 * imaginary: signs alternate in pairs, and w is negative.
 */
static long double th_debye(long double over, long double w, long double turn, long double *odd)
{
    static const long double u[11][11] = {
    {1.0L},
    {0.125L, -0.2083333333333333333333L},
    {0.0703125L, -0.4010416666666666666667L, 0.3342013888888888888889L},
    {0.0732421875L, -0.8912109375L, 1.846462673611111111111L, -1.025812596450617283951L},
    {0.112152099609375L, -2.3640869140625L, 8.78912353515625L, -11.20700261622299382716L, 4.669584423426247427984L},
    {0.227108001708984375L, -7.368794359479631696429L, 42.53499874538845486111L, -91.81824154324001736111L,
     84.6362176746007346322L, -28.2120725582002448774L},
    {0.5725014209747314453125L, -26.49143048695155552455L, 218.1905117442115904793L, -699.5796273761325412326L,
     1059.99045252799987793L, -765.2524681411816422995L, 212.570130039217122861L},
    {1.727727502584457397461L, -108.0909197883946555001L, 1200.902913216352462769L, -5305.646978613403108385L,
     11655.39333686453324777L, -13586.55000643413743855L, 8061.722181737309384502L, -1919.45766231840699631L},
    {6.074042001273483037949L, -493.9153047730880124228L, 7109.514302489363721439L, -41192.65496889755129814L,
     122200.4649830174597877L, -203400.1772804155342782L, 192547.0012325315323591L, -96980.59838863751348857L,
     20204.29133096614864345L},
    {24.38052969955606386065L, -2499.830481811209624125L, 45218.76898136272627328L, -331645.1724845635778315L,
     1268365.273321624781626L, -2813563.226586534110708L, 3763271.297656403996402L, -2998015.918538106750091L,
     1311763.614662977200676L, -242919.1879005513334585L},
    {110.0171402692467381712L, -13886.08975371704053197L, 308186.4046126623984804L, -2785618.128086454688959L,
     13288767.16642181832944L, -37567176.66076335130816L, 66344512.2747290266648L, -74105148.21153265774834L,
     50952602.49266464220638L, -19706819.11843222692682L, 3284469.853072037821137L}};
    long double even = 0.0L, step = 1.0L;
    *odd = 0.0L;
    for (int k = 0; k < 11; k++, step *= over) {
        long double sum = 0.0L;
        for (int j = k; j >= 0; j--)
            sum = sum * w + u[k][j];
        if (k % 2) {
            *odd += step * sum;
            step *= turn;
        } else
            even += step * sum;
    }
    return even;
}
/* What a negative order or argument comes to: a sign, or nan; *v and *x are made positive where they can be. */
static double th_bessel_sign(double *v, double *x, int alternates)
{
    int whole = *v == __builtin_floor(*v), odd = whole && __builtin_fmod(*v, 2.0) != 0.0;
    double sign = 1.0;
    if (*x < 0.0 && !whole)
        return __builtin_nan("");
    sign = *x < 0.0 && odd ? -sign : sign;
    *x = __builtin_fabs(*x);
    if (whole && *v < 0.0) {
        sign = odd && alternates ? -sign : sign;
        *v = -*v;
    }
    return sign;
}
static double th_bessel_at_zero(double v, double sign)
{
    if (v >= 0.0)
        return v == 0.0 ? 1.0 : sign * 0.0;
    return __builtin_fmod(__builtin_floor(v), 2.0) == 0.0 ? -__builtin_inf() : __builtin_inf();
}

/* @snippet bessel_second_f64 needs sin_pi_f64 */
/* N. M. Temme's series (Journal of Computational Physics 19:324, 1975) for small x and the orders u and u + 1 next to 0; from these
 * by recurrence to the order v >= 0, upwards as it is stable.
 */
static long double th_bessel_second_near(long double v, long double x)
{
    /* 1/gamma(1 + u) is the sum of term[k] u^k */
    static const long double term[22] = {
     1.0L, 0.5772156649015328606065L, -0.655878071520253881077L, -0.042002635034095235529L, 0.1665386113822914895017L,
     -0.04219773455554433674821L, -0.009621971527876973562115L, 0.007218943246663099542395L,
     -0.001165167591859065112114L, -0.0002152416741149509728157L, 0.0001280502823881161861532L,
     -0.00002013485478078823865569L, -0.000001250493482142670657345L, 0.000001133027231981695882374L,
     -2.05633841697760710345e-7L, 6.116095104481415817862e-9L, 5.002007644469222930056e-9L,
     -1.181274570487020144588e-9L, 1.043426711691100510492e-10L, 7.78226343990507125405e-12L,
     -3.696805618642205708188e-12L, 5.100370287454475979015e-13L};
    long double u = v - rintl(v), l = logl(2.0L / x), s = u * l, e = expl(s), even = 0.0L, odd = 0.0L, c = 1.0L;
    long double sinh_s = fabsl(s) < 0.5L ? sinhl(s) : 0.5L * (e - 1.0L / e), f, p, q, sum, next;
    for (int k = 20; k >= 0; k -= 2) {
        even = even * u * u + term[k];
        odd = odd * u * u + term[k + 1];
    }
    f = (u == 0.0L ? 1.0L : 2.0L * TH_HALF_PI * u / th_sin_pi(u))
        * (l * even * (s == 0.0L ? 1.0L : sinh_s / s) - odd * 0.5L * (e + 1.0L / e));
    p = 0.5L * e / (even + u * odd);
    q = 0.5L / e / (even - u * odd);
    sum = f;
    next = p;
    for (int k = 1; k < 30 && c > 1e-22L; k++) {
        f = (k * f + p + q) / (k * k - u * u);
        p /= k - u;
        q /= k + u;
        c *= 0.25L * x * x / k;
        sum += c * f;
        next += c * (p - k * f);
    }
    next *= 2.0L / x;
    for (; u < v - 0.5L; u += 1.0L) { /* the orders u and u + 1 */
        long double above = 2.0L * (u + 1.0L) / x * next + sum;
        sum = next;
        next = above;
    }
    return sum;
}
/* exp(x) times the function of the second kind, for v >= 0 and x > 0: half the integral of exp(v t - x (cosh(t) - 1)) over all t
 * (10.32.9), by the trapezoidal rule, whose error falls exponentially with its step, a part of the width of the bell. For small
 * v the terms of t and -t are one, with the hyperbolic cosines by recurrence; for large v from the largest term to both sides.
 */
static long double th_bessel_second(long double v, long double x)
{
    long double step = 0.6L / sqrtl(12.0L + hypotl(v, x)), peak, sum = 0.5L;
    if (v < 1000.0L && x < 1.0L)
        return expl(x) * th_bessel_second_near(v, x);
    if (v < 30.0L && v < 10.0L * x) {
        long double half = sinhl(0.5L * step), first = 2.0L * half * half, less = first, before = 0.0L;
        long double grow = expl(v * step), twice = grow + 1.0L / grow, c = 0.5L * twice, c_before = 1.0L;
        for (int k = 1; k < 2000; k++) {
            long double w = x * less, term = exp(-(double)w) * (1.0L + ((double)w - w)) * c, next;
            sum += term;
            if (term <= 1e-22L * sum)
                break;
            next = 2.0L * (first * less + first + less) - before;
            before = less;
            less = next;
            next = twice * c - c_before;
            c_before = c;
            c = next;
        }
        return step * sum;
    }
    peak = asinhl(v / x);
    sum = 0.0L;
    for (int side = -1; side <= 1; side += 2)
        for (int k = side > 0; k < 2000; k++) {
            long double t = peak + side * k * step, half = sinhl(0.5L * t), term = expl(v * t - 2.0L * x * half * half);
            sum += term;
            if (term <= 1e-22L * sum)
                break;
        }
    return 0.5L * step * sum;
}

/* @snippet kve_f64 needs bessel_second_f64 */
static double th_kve_f64(double v, double x)
{
    if (v != v || !(x >= 0.0) || (x == __builtin_inf() && __builtin_fabs(v) == x))
        return __builtin_nan("");
    if (x == 0.0 || __builtin_fabs(v) == __builtin_inf())
        return __builtin_inf();
    return x == __builtin_inf() ? 0.0 : (double)th_bessel_second(__builtin_fabs(v), x);
}

/* @snippet modified_bessel_f64 needs bessel_order_f64 bessel_second_f64 */
/* iv, or if `scaled` exp(-|x|) iv. Debye's expansion holds for large x too, whatever the order is: p/v is 1/hypot(v, x). */
static double th_modified_bessel(double v, double x, int scaled)
{
    double least = v == __builtin_inf() && x >= 0.0 && x < v ? 0.0 : __builtin_nan(""), sign = th_bessel_sign(&v, &x, 0);
    long double order = __builtin_fabs(v), less = scaled ? x : 0.0L, h, even, odd, eta, found;
    if (x != x || v != v || sign != sign)
        return __builtin_nan("");
    if (order == __builtin_inf())
        return least;
    if (x == 0.0)
        return th_bessel_at_zero(v, sign);
    if (x == __builtin_inf())
        return scaled ? sign * 0.0 : sign * x;
    h = hypotl(order, x);
    if (h <= 100.0L && v < 0.0 && x > 2.0) {
        found = expl(-less) * th_bessel_series(order, x, 1.0L);
        return (double)(found + th_sin_pi(order) / TH_HALF_PI * expl(-less - x) * th_bessel_second(order, x));
    }
    if (h <= 100.0L)
        return sign * (double)(expl(-less) * th_bessel_series(v, x, 1.0L));
    eta = (scaled ? order * (order / (h + x)) : h) - order * asinhl(order / x);
    even = th_debye(1.0L / h, order / h * (order / h), 1.0L, &odd);
    found = expl(eta) / sqrtl(4.0L * TH_HALF_PI * h) * (even + odd);
    if (v < 0.0)
        found += th_sin_pi(order) * expl(-eta - 2.0L * less) / sqrtl(TH_HALF_PI * h) * (even - odd);
    return sign * (double)found;
}

/* @snippet iv_f64 needs modified_bessel_f64 */
static double th_iv_f64(double v, double x) { return th_modified_bessel(v, x, 0); }

/* @snippet ive_f64 needs modified_bessel_f64 */
static double th_ive_f64(double v, double x) { return th_modified_bessel(v, x, 1); }

/* @snippet jv_f64 needs bessel_order_f64 */
static long double th_cos_pi(long double v) { return th_sin_pi(v + 0.5L); }
static long double th_bessel_hankel(long double v, long double x)
{
    long double mu = 4.0L * v * v, term = 1.0L, p = 1.0L, q = 0.0L, c, s, shift = 0.5L * v + 0.25L;
    for (int k = 1; k < 200; k++) {
        long double next = term * (mu - (2.0L * k - 1.0L) * (2.0L * k - 1.0L)) / (k * 8.0L * x);
        if (fabsl(next) > fabsl(term) && k > fabsl(v))
            break;
        term = next;
        if (k % 2)
            q += k % 4 == 1 ? term : -term;
        else
            p += k % 4 == 0 ? term : -term;
        if (fabsl(term) < 1e-22L)
            break;
    }
    c = cosl(x) * th_cos_pi(shift) + sinl(x) * th_sin_pi(shift);
    s = sinl(x) * th_cos_pi(shift) - cosl(x) * th_sin_pi(shift);
    return (p * c - q * s) / sqrtl(TH_HALF_PI * x);
}
/* For x below 25 the sum of all orders says how large the results are, above it Hankel's expansion for the least two. */
static long double th_bessel_recurrence(long double v, long double x)
{
    long double low = v - floorl(v), upper = v > x ? v : x, above = 0.0L, here = 1e-290L, below, sum = 0.0L, found = 0.0L;
    int64_t top = (int64_t)(upper + 30.0L + 12.0L * cbrtl(upper)) & ~(int64_t)1, at = (int64_t)floorl(v);
    long double least[2] = {0.0L, 0.0L};
    /* The weight of the order low + 2k: (low + 2k) gamma(low + k)/k!, for low = 0 twice 1 but for k = 0. */
    long double weight = low > 0.0L ? expl(lgammal(low + top / 2) - lgammal(1.0L + top / 2)) : 2.0L / top;
    for (int64_t n = top; n >= 0 || n >= at; n--) {
        if (n == at)
            found = here;
        if (n == 0 || n == 1)
            least[n] = here;
        if (x < 25.0L && n >= 0 && n % 2 == 0) {
            int64_t k = n / 2;
            sum += here * (low > 0.0L ? (low + n) * weight : k ? 2.0L : 1.0L);
            if (low > 0.0L && k > 0)
                weight *= k / (low + k - 1.0L);
        }
        below = 2.0L * (low + n) / x * here - above;
        above = here;
        here = below;
        if (fabsl(here) > 1e290L) {
            here *= 1e-290L;
            above *= 1e-290L;
            found *= 1e-290L;
            sum *= 1e-290L;
            least[0] *= 1e-290L;
            least[1] *= 1e-290L;
        }
    }
    if (x < 25.0L)
        return found / sum * (low > 0.0L ? powl(0.5L * x, low) : 1.0L);
    return fabsl(least[0]) > fabsl(least[1]) ? found / least[0] * th_bessel_hankel(low, x)
                                             : found / least[1] * th_bessel_hankel(low + 1.0L, x);
}
/* jv, and the function of the second kind with it, for v > 0 that is far from x beside the cube root of v */
static long double th_bessel_debye(long double v, long double x, long double *second)
{
    long double z = x / v, root = sqrtl(fabsl(1.0L - z) * (1.0L + z)), even, odd, size, phase;
    if (z < 1.0L) {
        even = th_debye(1.0L / (root * v), 1.0L / (root * root), 1.0L, &odd);
        phase = v * (root + logl(z / (1.0L + root)));
        size = sqrtl(4.0L * TH_HALF_PI * v * root);
        *second = -2.0L * expl(-phase) / size * (even - odd);
        return expl(phase) / size * (even + odd);
    }
    even = th_debye(1.0L / (root * v), -1.0L / (root * root), -1.0L, &odd);
    phase = v * (root - atanl(root)) - 0.5L * TH_HALF_PI;
    size = 1.0L / sqrtl(TH_HALF_PI * v * root);
    *second = size * (sinl(phase) * even - cosl(phase) * odd);
    return size * (cosl(phase) * even + sinl(phase) * odd);
}
static int th_debye_holds(long double v, long double x)
{
    long double z = x / v, w = fabsl(1.0L - z) * (1.0L + z);
    return w * sqrtl(w) * v > 270.0L;
}
static long double th_bessel_large(long double v, long double x)
{
    long double order = fabsl(v), second, above, here, below;
    if (th_debye_holds(order, x)) {
        here = th_bessel_debye(order, x, &second);
        return v > 0.0L ? here : th_cos_pi(order) * here - th_sin_pi(order) * second;
    }
    if (v < 0.0L || v > 1e12L)
        return __builtin_nanl("");
    int64_t steps = (int64_t)(x - v + 22.0L * cbrtl(x)) + 1;
    steps = steps > 1 ? steps : 1;
    above = th_bessel_debye(v + steps + 1, x, &second);
    here = th_bessel_debye(v + steps, x, &second);
    for (int64_t n = steps; n > 0; n--) {
        below = 2.0L * (v + n) / x * here - above;
        above = here;
        here = below;
    }
    return here;
}
static double th_jv_f64(double v, double x)
{
    double least = v == __builtin_inf() && x >= 0.0 && x < v ? 0.0 : __builtin_nan("");
    double sign = th_bessel_sign(&v, &x, 1), order = __builtin_fabs(v);
    if (x != x || v != v || sign != sign)
        return __builtin_nan("");
    if (order == __builtin_inf())
        return least;
    if (x == 0.0)
        return th_bessel_at_zero(v, sign);
    if (x == __builtin_inf())
        return 0.0;
    if (x < 8.0 || x * x < 4.0 * (v + 1.0))
        return sign * (double)th_bessel_series(v, x, -1.0L);
    if (x > 40.0 && x > 0.5 * v * v)
        return sign * (double)th_bessel_hankel(v, x);
    return sign * (double)(x <= 10000.0 && order <= 10000.0 ? th_bessel_recurrence(v, x) : th_bessel_large(v, x));
}
