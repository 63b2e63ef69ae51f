/* Modified Bessel functions of the first kind.
 *
 * Below 8 the power series' shape, a minimax polynomial in x^2; above, exp(x)/sqrt(x) times one in 16/x - 1 (J. M. Blair and
 * C. A. Edwards, AECL-4928, 1974, divide the line in the same way). The exponential is squared from that of x/2, so that
 * it overflows no earlier than the result; what the products lose is added. The polynomials are made with Arb (Remez
 * exchange; relative error < 2^-57).
 */

/* @snippet horner_step_f64 needs residual_f64 */
/* w p + c for a p with its rest, and the rest of that */
TH_INLINE double th_horner_step_f64(double w, double p, double *low, double c)
{
    double t = w * p, s = t + c, d = s - t;
    *low = TH_FMA(w, *low, th_residual_f64(w, p, t)) + ((t - (s - d)) + (c - d));
    return s;
}

/* @snippet bessel_large_f64 needs exp_pair_f64 residual_f64 */
/* exp(a) (g + g_low)/sqrt(a), for over = 1/sqrt(a) rounded */
TH_INLINE double th_bessel_large_f64(double a, double over, double g, double g_low)
{
    double t = over * over, e, e_low, y, low, p;
    low = -0.5 * (th_residual_f64(a, t, 1.0) + a * th_residual_f64(over, over, t));
    y = g * over;
    low = TH_FMA(y, low, th_residual_f64(g, over, y) + g_low * over);
    e = th_exp_pair_f64(0.5 * a, &e_low);
    p = e * y;
    low = th_residual_f64(e, y, p) + TH_FMA(e, low, 2.0 * e_low * y);
    y = e * p;
    p = y + (th_residual_f64(e, p, y) + e * low);
    return y < __builtin_inf() ? p : y;
}

/* @snippet i0_f64 needs bessel_large_f64 horner_step_f64 */
TH_INLINE double th_i0_f64(double x)
{
    double a = __builtin_fabs(x), b = a > 8.0 ? a : 8.0, w = a * a, z, over, t, even, odd, y, g;
    w = w > 64.0 ? 64.0 : w;
    even = 0x1.1c726f3cc01e0p-110;
    even = TH_FMA(even, w, 0x1.10c180b010b5cp-101);
    even = TH_FMA(even, w, 0x1.f28d9f80d66bep-92);
    even = TH_FMA(even, w, 0x1.40a85b34508aap-82);
    even = TH_FMA(even, w, 0x1.69e5bd290e207p-73);
    even = TH_FMA(even, w, 0x1.55ff57f2b4806p-64);
    even = TH_FMA(even, w, 0x1.0b31531d97505p-55);
    even = TH_FMA(even, w, 0x1.522a413c6c52ep-47);
    even = TH_FMA(even, w, 0x1.522a441fe216ep-39);
    even = TH_FMA(even, w, 0x1.02e85c06e0714p-31);
    even = TH_FMA(even, w, 0x1.23456789c4326p-24);
    even = TH_FMA(even, w, 0x1.c71c71c71abd5p-18);
    even = TH_FMA(even, w, 0x1.c71c71c71c834p-12);
    odd = 0.0;
    even = th_horner_step_f64(w, even, &odd, 0x1.ffffffffffff5p-7);
    even = th_horner_step_f64(w, even, &odd, 0x1p-2);
    y = w * even;
    /* what the square has lost, times the slope, which is several times the function's size */
    g = a < 8.0 ? th_residual_f64(a, a, w) : 0.0;
    t = TH_FMA(TH_FMA(TH_FMA(TH_FMA(7.289e-08, w, -1.149e-05), w, 0.0006472), w, -0.01621), w, 0.2385) * g;
    t = TH_FMA(y, t, t) + TH_FMA(w, odd, th_residual_f64(w, even, y));
    y += 1.0 + t;
    b = b > 720.0 ? 720.0 : b;
    over = 1.0 / __builtin_sqrt(b);
    t = TH_FMA(16.0 * over, over, -1.0);
    z = t * t;
    even = -0x1.8c63b9ea85e50p-36;
    even = TH_FMA(even, z, 0x1.6c1fa5afd4608p-33);
    even = TH_FMA(even, z, -0x1.4b6c305cf3674p-31);
    even = TH_FMA(even, z, 0x1.adca69823248dp-30);
    even = TH_FMA(even, z, -0x1.e71078d8eecf0p-29);
    even = TH_FMA(even, z, 0x1.043e1b357fca4p-27);
    even = TH_FMA(even, z, -0x1.cd000b22f495cp-27);
    even = TH_FMA(even, z, 0x1.03a45abcc270cp-27);
    even = TH_FMA(even, z, 0x1.51cdd8a76cee0p-25);
    even = TH_FMA(even, z, 0x1.3f49a95c576d1p-22);
    even = TH_FMA(even, z, 0x1.75e5ee7121d9ap-17);
    even = TH_FMA(even, z, 0x1.b87969bb93b9ap-9);
    odd = -0x1.fc3493e382ff4p-35;
    odd = TH_FMA(odd, z, 0x1.e4fe29e8affafp-32);
    odd = TH_FMA(odd, z, -0x1.b1a2e70548d15p-30);
    odd = TH_FMA(odd, z, 0x1.ebe35c1f056d7p-29);
    odd = TH_FMA(odd, z, -0x1.957d2a1c46e7dp-28);
    odd = TH_FMA(odd, z, 0x1.fc7ad96cd4a41p-28);
    odd = TH_FMA(odd, z, -0x1.72954bcd50c9cp-28);
    odd = TH_FMA(odd, z, -0x1.cfe7af9ee923dp-28);
    odd = TH_FMA(odd, z, 0x1.7234e1c28ff7ep-26);
    odd = TH_FMA(odd, z, 0x1.7d0f0a19f0ac8p-24);
    odd = TH_FMA(odd, z, 0x1.8e513a79a0520p-20);
    odd = TH_FMA(odd, z, 0x1.1daa72b5e26b9p-13);
    odd = t * TH_FMA(odd, t, even);
    g = 0x1.9bd428ad249a5p-2 + odd;
    odd += (0x1.9bd428ad249a5p-2 - g) + -0x1.b9a45c73bf984p-56;
    b = th_bessel_large_f64(b, over, g, odd);
    y = a < 8.0 ? y : b;
    return x == x ? y : x;
}

/* @snippet i1_f64 needs bessel_large_f64 horner_step_f64 */
TH_INLINE double th_i1_f64(double x)
{
    double a = __builtin_fabs(x), b = a > 8.0 ? a : 8.0, w = a * a, z, over, t, even, odd, y, g;
    w = w > 64.0 ? 64.0 : w;
    even = 0x1.1791cec1284b2p-114;
    even = TH_FMA(even, w, 0x1.2734eabced642p-105);
    even = TH_FMA(even, w, 0x1.1c0d44ade87ecp-95);
    even = TH_FMA(even, w, 0x1.8ad95c8e53b22p-86);
    even = TH_FMA(even, w, 0x1.e2801c744e541p-77);
    even = TH_FMA(even, w, 0x1.f17433e9619b9p-68);
    even = TH_FMA(even, w, 0x1.ab820f6a47fe5p-59);
    even = TH_FMA(even, w, 0x1.2c97573db58c0p-50);
    even = TH_FMA(even, w, 0x1.522a44102a8abp-42);
    even = TH_FMA(even, w, 0x1.27e4fb766886ap-34);
    even = TH_FMA(even, w, 0x1.845c8a0cf62b5p-27);
    even = TH_FMA(even, w, 0x1.6c16c16c161cbp-20);
    even = TH_FMA(even, w, 0x1.c71c71c71c790p-14);
    odd = 0.0;
    even = th_horner_step_f64(w, even, &odd, 0x1.5555555555553p-8);
    even = th_horner_step_f64(w, even, &odd, 0x1p-3);
    y = w * even;
    /* what the square has lost, times the slope, which is several times the function's size */
    g = a < 8.0 ? th_residual_f64(a, a, w) : 0.0;
    t = TH_FMA(TH_FMA(TH_FMA(TH_FMA(1.152e-08, w, -1.955e-06), w, 0.000126), w, -0.004208), w, 0.124) * g;
    t = TH_FMA(y, t, t) + TH_FMA(w, odd, th_residual_f64(w, even, y));
    g = 1.0 + y;
    y = 0.5 * (a * g + a * (((1.0 - g) + y) + t));
    b = b > 720.0 ? 720.0 : b;
    over = 1.0 / __builtin_sqrt(b);
    t = TH_FMA(16.0 * over, over, -1.0);
    z = t * t;
    even = 0x1.6e4a0f15fb860p-36;
    even = TH_FMA(even, z, -0x1.50a134c6d0b1ap-33);
    even = TH_FMA(even, z, 0x1.3485d551ae431p-31);
    even = TH_FMA(even, z, -0x1.978b8d699f44dp-30);
    even = TH_FMA(even, z, 0x1.dc2585373d3abp-29);
    even = TH_FMA(even, z, -0x1.075525f27c16dp-27);
    even = TH_FMA(even, z, 0x1.e27ca76f05a20p-27);
    even = TH_FMA(even, z, -0x1.21a4025651bfap-27);
    even = TH_FMA(even, z, -0x1.72797798645f6p-25);
    even = TH_FMA(even, z, -0x1.761380ff6615cp-22);
    even = TH_FMA(even, z, -0x1.f89c2305a42a8p-17);
    even = TH_FMA(even, z, -0x1.3f796198ee631p-7);
    odd = 0x1.07d3a444fcaf4p-34;
    odd = TH_FMA(odd, z, -0x1.f7e69e11ca893p-32);
    odd = TH_FMA(odd, z, 0x1.c3184687ee231p-30);
    odd = TH_FMA(odd, z, -0x1.007b55e5d4563p-28);
    odd = TH_FMA(odd, z, 0x1.a928240c838a6p-28);
    odd = TH_FMA(odd, z, -0x1.0dea1cea6021fp-27);
    odd = TH_FMA(odd, z, 0x1.99afd5a66838ep-28);
    odd = TH_FMA(odd, z, 0x1.cf0238e21e45ep-28);
    odd = TH_FMA(odd, z, -0x1.9191d42c38fa1p-26);
    odd = TH_FMA(odd, z, -0x1.ad8d4724cc7dbp-24);
    odd = TH_FMA(odd, z, -0x1.ec8e1077175c9p-20);
    odd = TH_FMA(odd, z, -0x1.cbc54df1e8deep-13);
    odd = t * TH_FMA(odd, t, even);
    g = 0x1.8ebe783a84030p-2 + odd;
    odd += (0x1.8ebe783a84030p-2 - g) + -0x1.b9bc6c8f53fc7p-58;
    b = th_bessel_large_f64(b, over, g, odd);
    y = a < 8.0 ? y : b;
    y = x < 0.0 ? -y : y;
    return x == x ? y : x;
}
