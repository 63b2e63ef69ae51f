/* The incomplete gamma functions and the derivatives of psi: one number at a time, in long double.
 *
 * The lower function by its series (NIST Digital Library of Mathematical Functions, 8.11.4), the upper one for x > a + 1
 * by its continued fraction (8.9.2, evaluated as W. J. Lentz does); for a > 1000 and x near a both by the uniform
 * expansion of N. Temme (8.12). For small a and x the upper one is 1 - w (1 + a sum (-x)^n/(n! (a + n))) with expm1 in
 * place of 1 - w. Their common factor x^a exp(-x)/gamma(a + 1) is made from x/a, so that its exponent is no
 * difference of large numbers. psi's derivatives are sums of powers, the rest of them by Euler and Maclaurin (25.11.7).
 * Every loop has a bound that no argument moves.
 */

/* @snippet log_excess_f64 needs inline */
/* mu - log(1 + mu) for |mu| <= 0.4 */
static long double th_log_excess_near(long double mu)
{
    long double power = mu * mu, sum = 0.0L;
    for (int k = 2; k < 60 && fabsl(power) > 1e-21L * sum; k++, power *= -mu)
        sum += power / k;
    return sum;
}
/* log(gamma(a)) beside its Stirling form (a - 1/2) log(a) - a + log(2 pi)/2, for a >= 20 (5.11.1) */
static long double th_stirling_rest(long double a)
{
    static const long double term[8] = {
     8.333333333333333333333e-2L, -2.777777777777777777778e-3L, 7.936507936507936507937e-4L, -5.952380952380952380952e-4L,
     8.417508417508417508418e-4L, -1.917526917526917526918e-3L, 6.41025641025641025641e-3L, -2.955065359477124183007e-2L};
    long double w = 1.0L / (a * a), sum = 0.0L;
    for (int k = 7; k >= 0; k--)
        sum = sum * w + term[k];
    return sum / a;
}

/* @snippet incomplete_gamma_f64 needs log_excess_f64 */
/* mu - log(1 + mu) for mu = x/a - 1 */
static long double th_log_excess(long double a, long double x)
{
    long double mu = (x - a) / a;
    return fabsl(mu) > 0.4L ? mu - logl(x / a) : th_log_excess_near(mu);
}
/* log(gamma(1 + a)) for a >= 0 */
static long double th_log_gamma_beside_one(long double a)
{
    static const long double term[25] = {
     -5.772156649015328606065e-1L, 8.224670334241132182362e-1L, -4.006856343865314284666e-1L, 2.70580808427784547879e-1L,
     -2.073855510286739852663e-1L, 1.695571769974081899524e-1L, -1.4404989676884611812e-1L, 1.255096695247430424223e-1L,
     -1.113342658695646904909e-1L, 1.000994575127818085337e-1L, -9.095401714582904223261e-2L, 8.335384054610900402489e-2L,
     -7.693251641135219147283e-2L, 7.143294629536133605923e-2L, -6.66687058824204680329e-2L, 6.250095514121304074198e-2L,
     -5.882397865868458233896e-2L, 5.555576762740361110221e-2L, -5.263167937961666073363e-2L, 5.000004769810169363981e-2L,
     -4.761907033014222799078e-2L, 4.545455629320466944241e-2L, -4.347826605304025936135e-2L, 4.166666915034121046914e-2L,
     -4.000000119214014058609e-2L};
    long double sum = 0.0L;
    if (a > 0.2L)
        return lgammal(1.0L + a);
    for (int k = 24; k >= 0; k--)
        sum = (sum + term[k]) * a;
    return sum;
}
/* x^a exp(-x)/gamma(a + 1) */
static long double th_gamma_factor(long double a, long double x)
{
    if (a < 20.0L)
        return expl(a * logl(x) - x - th_log_gamma_beside_one(a));
    return expl(-a * th_log_excess(a, x) - th_stirling_rest(a)) / sqrtl(6.283185307179586476925286766559L * a);
}
/* Both functions near x = a, for large a: the upper one if `upper`. */
static long double th_gamma_uniform(long double a, long double x, int upper)
{
    static const long double c[6][18] = {
    {-3.333333333333333333333e-1L, 8.333333333333333333333e-2L, -1.481481481481481481481e-2L, 1.157407407407407407407e-3L,
     3.527336860670194003527e-4L, -1.787551440329218106996e-4L, 3.919263178522437781697e-5L, -2.185448510679992161474e-6L,
     -1.854062210715159960702e-6L, 8.296711340953086005016e-7L, -1.766595273682607930436e-7L, 6.707853543401498580369e-9L,
     1.026180978424030804257e-8L, -4.382036018453353186553e-9L, 9.147699582236790234182e-10L, -2.551419399494624976688e-11L,
     -5.830772132550425067464e-11L, 2.436194802066741624369e-11L},
    {-1.851851851851851851852e-3L, -3.472222222222222222222e-3L, 2.645502645502645502646e-3L, -9.902263374485596707819e-4L,
     2.057613168724279835391e-4L, -4.018775720164609053498e-7L, -1.809855033448997783703e-5L, 7.649160916081110084637e-6L,
     -1.612090089456344600378e-6L, 4.647127802807434342261e-9L, 1.378633446915720959312e-7L, -5.752545603517704964022e-8L,
     1.195162859977814732431e-8L, -1.754324171974764762375e-11L, -1.009154371060041262746e-9L, 4.162792991842582636234e-10L,
     -8.563907026492980638074e-11L, 6.067215101604758615127e-14L},
    {4.133597883597883597884e-3L, -2.681327160493827160494e-3L, 7.716049382716049382716e-4L, 2.009387860082304526749e-6L,
     -1.073665322636516052154e-4L, 5.292344882912012541642e-5L, -1.276063518861872771338e-5L, 3.42357873409613807419e-8L,
     1.372195730906293320559e-6L, -6.298992138380055022907e-7L, 1.428061420606424179158e-7L, -2.047709842199086601492e-10L,
     -1.409252991086752105329e-8L, 6.228974084922022033564e-9L, -1.367048839661711349927e-9L, 9.428356159014678195477e-13L,
     1.287225240008931805955e-10L, -5.564595613436332114654e-11L},
    {6.494341563786008230453e-4L, 2.294720936213991769547e-4L, -4.691894943952557121281e-4L, 2.677206320628388529623e-4L,
     -7.561801671883976410725e-5L, -2.396505113867296651933e-7L, 1.108265411534730236148e-5L, -5.6749528269915965675e-6L,
     1.423090073243588391455e-6L, -2.786108029152814224058e-11L, -1.695840409193027728986e-7L, 8.099464905388082363353e-8L,
     -1.911116848597365406067e-8L, 2.392862043980811796864e-12L, 2.062013181548879843699e-9L, -9.460496661855132173754e-10L,
     2.154104977577490783801e-10L, -1.388823336813903046034e-14L},
    {-8.618882909167116986047e-4L, 7.84039221720066627474e-4L, -2.990724803031901797334e-4L, -1.463845257884341817812e-6L,
     6.641498215465122186659e-5L, -3.968365047179434664431e-5L, 1.137572697067841909806e-5L, 2.507497226237532801652e-10L,
     -1.695414953655830601472e-6L, 8.907507532205309688829e-7L, -2.292934834000804870572e-7L, 2.956794137544049046966e-11L,
     2.886582974270878362973e-8L, -1.418973943780321938948e-8L, 3.446358049946489706595e-9L, -2.302451717452806713202e-13L,
     -3.940923302804640527507e-10L, 1.860233896850450191343e-10L},
    {-3.367985533663581503088e-4L, -6.972813758365857774294e-5L, 2.772753244959392078734e-4L, -1.993257051618884770034e-4L,
     6.797780477937207838816e-5L, 1.419062920643967014834e-7L, -1.359404818976869327846e-5L, 8.018470256334201539719e-6L,
     -2.29148117650809517038e-6L, -3.252473551298453951662e-10L, 3.465284649108526495592e-7L, -1.844718719117134327653e-7L,
     4.824096703789418075638e-8L, -1.798946672174351530258e-14L, -6.306194500013523435175e-9L, 3.162417628774567937738e-9L,
     -7.840924253697429290008e-10L, 5.192679165254040723776e-15L}};
    long double half = th_log_excess(a, x), eta = sqrtl(2.0L * half), sum = 0.0L, inner;
    eta = x < a ? -eta : eta;
    for (int k = 5; k >= 0; k--) {
        inner = 0.0L;
        for (int n = 17; n >= 0; n--)
            inner = inner * eta + c[k][n];
        sum = sum / a + inner;
    }
    sum *= expl(-a * half) / sqrtl(6.283185307179586476925286766559L * a);
    eta *= sqrtl(0.5L * a);
    return upper ? 0.5L * erfcl(eta) + sum : 0.5L * erfcl(-eta) - sum;
}
static long double th_gamma_series(long double a, long double x)
{
    long double term = 1.0L, sum = 1.0L;
    for (int n = 1; n < 20000 && term > 1e-20L * sum; n++)
        sum += term *= x / (a + n);
    return sum;
}
static long double th_gamma_fraction(long double a, long double x)
{
    long double b = x + 1.0L - a, c = 1e300L, d = 1.0L / b, h = d, step = 0.0L, e;
    for (int n = 1; n < 20000 && fabsl(step - 1.0L) > 1.5L * __LDBL_EPSILON__; n++) {
        e = -n * (n - a);
        b += 2.0L;
        d = 1.0L / (e * d + b);
        c = b + e / c;
        step = c * d;
        h *= step;
    }
    return h;
}
/* The upper function for x < 1.5, over gamma(1 + a) */
static long double th_gamma_upper_small(long double a, long double x)
{
    long double w = a * logl(x) - th_log_gamma_beside_one(a), sum = 0.0L, term = 1.0L;
    for (int n = 1; n < 40; n++)
        sum += (term *= -x / n) / (a + n);
    return (a > 0.0L ? -expm1l(w) / a : -logl(x) - 0.5772156649015328606065L) - expl(w) * sum;
}
/* The regularised functions: the upper one if `upper`. */
static long double th_gamma_part(long double a, long double x, int upper)
{
    long double w, far = __builtin_infl();
    if (!(a >= 0.0L) || !(x >= 0.0L) || (a == 0.0L && x == 0.0L) || (a == far && x == far))
        return __builtin_nanl("");
    if (x == 0.0L || a == far)
        return upper;
    if (a == 0.0L || x == far)
        return !upper;
    if (a > 1000.0L && x > 0.75L * a && x < 1.25L * a)
        return th_gamma_uniform(a, x, upper);
    if (x >= a + 1.0L && x >= 1.5L) {
        w = th_gamma_factor(a, x) * a * th_gamma_fraction(a, x);
        return upper ? w : 1.0L - w;
    }
    if (upper && x < 1.5L)
        return a * th_gamma_upper_small(a, x);
    w = th_gamma_factor(a, x) * th_gamma_series(a, x);
    return upper ? 1.0L - w : w;
}

/* @snippet gammainc_f64 needs incomplete_gamma_f64 */
static double th_gammainc_f64(double k, double x) { return (double)th_gamma_part(k, x, 0); }

/* @snippet gammaincc_f64 needs incomplete_gamma_f64 */
static double th_gammaincc_f64(double k, double x) { return (double)th_gamma_part(k, x, 1); }

/* @snippet chi2sf_f64 needs incomplete_gamma_f64 */
static double th_chi2sf_f64(double x, double k)
{
    return k > 0.0 && x < 0.0 ? 1.0 : (double)th_gamma_part(0.5L * k, 0.5L * x, 1);
}

/* @snippet gammal_f64 needs incomplete_gamma_f64 */
/* For large k the factor gamma(k), beyond all numbers, is not divided by to be multiplied with again. */
static double th_gammal_f64(double k, double x)
{
    if (k > 1500.0 && k < __builtin_inf() && x >= 0.0 && x <= k)
        return (double)(expl(k * logl(x) - x) / k * th_gamma_series(k, x));
    return (double)(th_gamma_part(k, x, 0) * tgammal(k));
}

/* @snippet gammau_f64 needs incomplete_gamma_f64 */
static double th_gammau_f64(double k, double x)
{
    long double a = k;
    if (k >= 0.0 && x == __builtin_inf())
        return k == x ? __builtin_nan("") : 0.0;
    if (k == 0.0 && x > 0.0 && x < 1.5)
        return (double)th_gamma_upper_small(0.0L, x);
    if (k >= 0.0 && x >= 1.5 && x > k + 1.0 && (k < 1000.0 || x > 1.25 * k))
        return (double)(expl(a * logl(x) - x) * th_gamma_fraction(a, x));
    if (k > 1755.0 && k < __builtin_inf() && x >= 0.0)
        return __builtin_inf();
    return (double)(th_gamma_part(k, x, 1) * tgammal(k));
}

/* @snippet gammainc_der_f64 needs incomplete_gamma_f64 */
static long double th_long_psi(long double x)
{
    long double sum = 0.0L, w;
    for (; x < 20.0L; x += 1.0L)
        sum += 1.0L / x;
    w = 1.0L / (x * x);
    w *= 1.0L / 12 - w * (1.0L / 120 - w * (1.0L / 252 - w * (1.0L / 240 - w * (1.0L / 132 - w * (691.0L / 32760 - w / 12)))));
    return logl(x) - 0.5L / x - w - sum;
}
/* 1/gamma(k) times the integral of t^(k-1) exp(-t) (log(t) - psi(k)), below x or above it: where the logarithm has one
 * sign. With t = x exp(-s) below, t = x + s above and s = c exp(w - exp(-w)) the trapezoidal rule converges exponentially
 * (H. Takahasi and M. Mori, 1974); c is about the width of the bell at k.
 */
static double th_gammainc_der_f64(double k, double x)
{
    long double a = k > 0.0 ? k : 0x1p-1022L, sum = 0.0L, start, size, step = 0.0625L;
    if (!(k >= 0.0) || !(x >= 0.0) || (k == __builtin_inf() && k == x) || (k == 0.0 && x == 0.0))
        return __builtin_nan("");
    if (k == __builtin_inf() || x == __builtin_inf() || x == 0.0)
        return 0.0;
    if (x < 0.5) {
        /* The series of gammainc, term by term: they have one sign. */
        long double factor = 1.0L;
        start = logl(x) - th_long_psi(a + 1.0L);
        for (int n = 1; n < 40; n++) {
            sum += factor * start;
            factor *= x / (a + n);
            start -= 1.0L / (a + n);
        }
        return (double)(sum * th_gamma_factor(a, x));
    }
    start = logl(x) - th_long_psi(a);
    size = start < 0.0L ? 1.0L / (1.0L + sqrtl(a)) : 1.0L;
    for (int n = -70; n < 16000; n++) {
        long double w = n * step, e = expl(-w), s = size * expl(w - e);
        long double r = start < 0.0L ? -s : log1pl(s / x);
        long double term = expl(a * r - (start < 0.0L ? x * expm1l(r) : s)) * (start + r) * s * (1.0L + e);
        term = start < 0.0L ? term : -term / (x + s);
        sum += term;
        if (n > 0 && fabsl(term) <= 1e-20L * fabsl(sum))
            break;
    }
    return (double)(sum * step * a * th_gamma_factor(a, x));
}

/* @snippet tail_normal_f64 needs inline */
/* The z beyond which a normal variable is with the probability p <= 1/2, to three digits (M. Abramowitz and I. A. Stegun, 26.2.23) */
static long double th_tail_normal(long double p)
{
    long double t = sqrtl(-2.0L * logl(p));
    return t - (2.515517L + t * (0.802853L + t * 0.010328L)) / (1.0L + t * (1.432788L + t * (0.189269L + t * 0.001308L)));
}

/* @snippet gamma_quantile_f64 needs incomplete_gamma_f64 tail_normal_f64 */
/* The x at which the regularised lower function, or the upper one, is p: by Newton's method for the logarithm of that of both
 * which is at most 1/2, as a function of log(x). It is concave, so that a step from one side is never too
 * long. The first x is that of the lower function's first term, and E. B. Wilson's and M. M. Hilferty's (1931).
 */
static double th_gamma_quantile(double k, double p, int upper)
{
    long double a = k, less = p > 0.5 ? 1.0L - p : p, log_p = logl(less), x, w, f, step;
    if (!(k >= 0.0) || !(p >= 0.0) || p > 1.0)
        return __builtin_nan("");
    if (p == 0.0 || p == 1.0)
        return (p == 0.0) == !upper ? 0.0 : __builtin_inf();
    if (k == 0.0 || k == __builtin_inf())
        return __builtin_nan("");
    upper = p > 0.5 ? !upper : upper;
    w = 1.0L - 1.0L / (9.0L * a) + (upper ? 1.0L : -1.0L) * th_tail_normal(less) / (3.0L * sqrtl(a));
    if (upper)
        x = a <= 1.0L ? -log_p : a * w * w * w;
    else {
        x = expl((log_p + th_log_gamma_beside_one(a)) / a);
        x = a > 1.0L && w > 0.0L && a * w * w * w > x ? a * w * w * w : x;
    }
    for (int n = 0; n < 100 && x > 0.0L; n++) {
        f = th_gamma_part(a, x, upper);
        step = (logl(f) - log_p) * f / (a * th_gamma_factor(a, x));
        step = step > 3.0L ? 3.0L : step;
        x *= expl(upper ? step : -step);
        if (fabsl(step) * (1.0L + sqrtl(a)) < 1e-9L)
            break;
    }
    return (double)x;
}

/* @snippet gammaincinv_f64 needs gamma_quantile_f64 */
static double th_gammaincinv_f64(double k, double p) { return th_gamma_quantile(k, p, 0); }

/* @snippet gammainccinv_f64 needs gamma_quantile_f64 */
static double th_gammainccinv_f64(double k, double p) { return th_gamma_quantile(k, p, 1); }

/* @snippet polygamma_f64 needs psi_f64 */
/* x^s times the sum of (x + k)^-s over all k >= 0, for x > 0 and s >= 2 */
static long double th_hurwitz_zeta(long double s, long double x)
{
    static const long double term[10] = {
     8.333333333333333333333e-2L, -1.388888888888888888889e-3L, 3.306878306878306878307e-5L, -8.267195767195767195767e-7L,
     2.087675698786809897921e-8L, -5.284190138687493184848e-10L, 1.338253653068467883283e-11L, -3.38968029632258286683e-13L,
     8.586062056277844564136e-15L, -2.174868698558061873042e-16L};
    long double sum = 0.0L, power = 1.0L, y = x;
    for (int k = 0; k < 2000 && y < 20.0L + s && power > 1e-21L * sum; k++) {
        sum += power;
        y = x + (k + 1);
        power = powl(x / y, s);
    }
    if (power <= 1e-21L * sum)
        return sum;
    sum += power * (y / (s - 1.0L) + 0.5L);
    power *= s / y;
    for (int k = 0; k < 10; k++, power *= (s + 2 * k - 1.0L) * (s + 2 * k) / (y * y))
        sum += term[k] * power;
    return sum;
}
/* gamma(s) times the sum of (x + k)^-s over all k >= 0, for x > 0 */
static long double th_positive_polygamma(long double s, long double x)
{
    long double first = s < 1700.0L ? tgammal(s) * powl(x, -s) : expl(lgammal(s) - s * logl(x));
    return first == 0.0L || first > 1e4000L ? first : first * th_hurwitz_zeta(s, x);
}
/* To the left of 0 the sum goes over the whole numbers on both sides: 0 itself is at the distance d. */
static double th_polygamma_f64(double n, double x)
{
    long double s = n + 1.0L, sign = __builtin_fmod(n, 2.0) == 0.0 ? -1.0L : 1.0L, d, sum;
    if (!(n >= 0.0) || n != __builtin_floor(n) || x != x || n == __builtin_inf())
        return __builtin_nan("");
    if (n == 0.0)
        return th_psi_f64(x);
    if (x == __builtin_inf())
        return (double)sign * 0.0;
    if (x <= 0.0 && x == __builtin_floor(x))
        return (double)sign * __builtin_inf();
    if (x > 0.0)
        return (double)(sign * th_positive_polygamma(s, x));
    d = x - __builtin_rint(x);
    sum = th_positive_polygamma(s, 1.0L - d) - th_positive_polygamma(s, 1.0L - x);
    sum = th_positive_polygamma(s, 1.0L + d) + sign * sum;
    return (double)(sign * (sum + (s < 1700.0L ? tgammal(s) : __builtin_infl()) * powl(d, -s)));
}
