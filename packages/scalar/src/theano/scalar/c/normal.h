/* Functions of the normal distribution: one number at a time, in long double. */

/* @snippet ndtri_exp_f64 needs erfinv_f64 erfcinv_f64 */
/* The y whose distribution function is exp(x). Far out from the asymptotic series of that (7.12.1); else one step of Newton's
 * from the inverse error function, in the half of it that has the digits: next to -ln2, where y is 0, of
 * exp(x) - 1/2, above of 1 - exp(x), below of exp(x).
 */
static double th_ndtri_exp_f64(double x)
{
    const long double root = 1.41421356237309504880168872420969808L, density = 0.398942280401432677939946059934381868L;
    if (!(x <= 0.0))
        return __builtin_nan("");
    if (x == 0.0 || x == -__builtin_inf())
        return x == 0.0 ? __builtin_inf() : x;
    if (x < -700.0) {
        long double t = sqrtl(-2.0L * x);
        for (int n = 0; n < 5; n++) {
            long double w = 1.0L / (t * t), sum = 1.0L;
            for (int k = 15; k > 0; k -= 2)
                sum = 1.0L - k * w * sum;
            t -= (x + 0.5L * t * t + logl(t / (density * sum))) / (t + 1.0L / t);
        }
        return -(double)t;
    }
    long double away = (x + 0x1.62e42fefa39efp-1) + 2.319046813846299615494855520993e-17L, upper = x > -0.5 ? -1.0L : 1.0L, p, y;
    if (fabsl(away) < 0.25L) {
        p = expm1l(away);
        y = root * th_erfinv_f64((double)p);
        return (double)(y - 0.5L * (erfl(y / root) - p) / (density * expl(-0.5L * y * y)));
    }
    p = x > -0.5 ? -expm1l(x) : expl(x);
    y = root * th_erfcinv_f64((double)(2.0L * p));
    y += (0.5L * erfcl(y / root) - p) / (density * expl(-0.5L * y * y));
    return -(double)(upper * y);
}

/* @snippet owens_t_f64 needs inline */
/* 1/(2 pi) times the integral of exp(-h^2 (1 + x^2)/2)/(1 + x^2) from 0 to a (D. B. Owen, Annals of Mathematical Statistics 27:1075,
 * 1956), by Gauss's rule of 24 points, for a > 1 by the same of a h and 1/a (his 2.3).
 */
static double th_owens_t_f64(double h, double a)
{
    static const long double at[12] = {
     0.03202844643130281304252L, 0.09555943373680815457932L, 0.1575213398480816871934L, 0.2168967538130225692435L,
     0.2727107356944197678292L, 0.3240468259684877846262L, 0.3700620957892771821219L, 0.410000992986951460977L,
     0.4432077635022005171066L, 0.4691372760013663792618L, 0.4873642779856547490992L, 0.49759360999851068009L}, weight[12] = {
     0.06396909767337607848703L, 0.06291872817341414806069L, 0.06083523646390169560223L, 0.05775283402686280067667L,
     0.05372213505798281739129L, 0.04880932605205694413494L, 0.04309508076597663795859L, 0.03667324070554015286702L,
     0.02964929245771839037318L, 0.0221387194087099030843L, 0.01426569431446683159065L, 0.006170614899993599773403L};
    long double size = __builtin_fabs(h), slope = __builtin_fabs(a), q = 0.5L * erfcl(size * 0.70710678118654752440084436210484904L);
    long double rest = 0.0L, end, sum = 0.0L;
    if (h != h || a != a)
        return __builtin_nan("");
    if (size == __builtin_infl())
        return __builtin_copysign(0.0, a);
    if (slope == __builtin_infl())
        return __builtin_copysign((double)(0.5L * q), a);
    if (slope > 1.0L) {
        long double other = 0.5L * erfcl(size * slope * 0.70710678118654752440084436210484904L);
        rest = 0.5L * (q + other) - q * other;
        size *= slope;
        slope = 1.0L / slope;
    }
    end = size * slope > 9.0L ? 9.0L / size : slope;
    for (int k = 0; k < 24; k++) {
        long double u = end * (k < 12 ? 0.5L - at[k] : 0.5L + at[k - 12]), w = 0.5L * size * size * u * u;
        sum += weight[k % 12] * exp(-(double)w) * (1.0L + ((double)w - w)) / (1.0L + u * u);
    }
    sum *= end * expl(-0.5L * size * size) * 0.159154943091895335768883763372514362L;
    return __builtin_copysign((double)(rest > 0.0L ? rest - sum : sum), a);
}
