/* The gamma function and its logarithm.
 *
 * From 6 on Stirling's series, whose remainder is a minimax polynomial in 1/a^2 (DLMF 5.11); below, the argument is
 * brought down by gamma(a) = (a - 1) gamma(a - 1). To the left of 0 the reflection gamma(-a) gamma(a) =
 * -pi/(a sin(pi a)), with sin(pi a) = +-pi r S(r^2) for the distance r to the nearest whole number. Powers of a and
 * products are sums of two numbers. All polynomials and the rational function are made with Arb (Remez exchange;
 * interpolation at Chebyshev nodes in log a); their relative errors are < 2^-58.
 */

/* @snippet stirling_f64 needs log_precise_f64 */
/* log(gamma(a)) for a >= 6 as a sum of two numbers, from the logarithm of a as such */
TH_INLINE double th_stirling_f64(double a, double l, double l_low, double *low)
{
    double h = a - 0.5, over = 1.0 / a, w = over * over, p = h * l, s = p - a, t = s + 0x1.d67f1c864beb5p-1, d;
    d = -0x1.052f46d916968p-6;
    d = TH_FMA(d, w, 0x1.7f47fc49a61a0p-8);
    d = TH_FMA(d, w, -0x1.f32b990dc23cap-10);
    d = TH_FMA(d, w, 0x1.b938ddb9821b1p-11);
    d = TH_FMA(d, w, -0x1.38134daa9eb33p-11);
    d = TH_FMA(d, w, 0x1.a01a01674eae1p-11);
    d = TH_FMA(d, w, -0x1.6c16c16c0fb3ap-9);
    d = TH_FMA(d, w, 0x1.5555555555555p-4);
    *low = TH_FMA(over, d, -0x1.65b5a1b7ff5dfp-55) + th_residual_f64(h, l, p) + h * l_low + ((p - s) - a) + ((s - t) + 0x1.d67f1c864beb5p-1);
    d = t + *low;
    *low += t - d;
    return d;
}

/* @snippet whole_f64 needs bits_f64 */
/* The distance r of a >= 0 to the nearest whole number n; *odd says whether n is odd. */
TH_INLINE double th_to_whole_f64(double a, uint64_t *odd)
{
    double shifted = a + 0x1p52;
    *odd = th_bits_f64(shifted) & 1;
    return a < 0x1p52 ? a - (shifted - 0x1p52) : a - a;
}

/* @snippet sinc_f64 needs fma */
/* sin(pi r)/(pi r) for |r| <= 1/2 as a sum of two numbers */
TH_INLINE double th_sinc_f64(double r, double *low)
{
    double w = r * r, s, y;
    s = -0x1.e786c2ecb1317p-28;
    s = TH_FMA(s, w, 0x1.0fab3f7e321bcp-22);
    s = TH_FMA(s, w, -0x1.d4240bd5a7a06p-18);
    s = TH_FMA(s, w, 0x1.3747193515b60p-13);
    s = TH_FMA(s, w, -0x1.33816aa30b162p-9);
    s = TH_FMA(s, w, 0x1.ac6805cf3241ep-6);
    s = TH_FMA(s, w, -0x1.86a8e4720db32p-3);
    s = TH_FMA(s, w, 0x1.9f9cb402bc46cp-1);
    s = TH_FMA(s, w, -0x1.a51a6625307d3p+0);
    s *= w;
    y = 1.0 + s;
    *low = (1.0 - y) + s;
    return y;
}

/* @snippet gamma_f64 needs select_f64 stirling_f64 whole_f64 sinc_f64 exp_reduce_f64 */
TH_INLINE double th_times_f64(double a, double a_low, double b, double b_low, double *low)
{
    double p = a * b;
    *low = th_residual_f64(a, b, p) + TH_FMA(a, b_low, a_low * b);
    return p;
}
/* The parts are brought together as a quotient of two numbers with their rests, so that there is one rounding. */
TH_INLINE double th_gamma_f64(double x)
{
    uint64_t odd;
    double a = __builtin_fabs(x), r = th_to_whole_f64(a, &odd), c = a > 186.0 ? 186.0 : a;
    double v = r < 0.0 ? r + 0.5 : r - 0.5, w = v * v, even, odds, n, shifted, half, t, m, y;
    double top, top_low, bottom, bottom_low, many, many_low, f, f_low, s, s_low, l, l_low;
    uint64_t negative = x < 0.0, small = a < 6.0, least = a < 1.0;
    /* gamma(a) = many/f, or 1/(a f) below 1 */
    many = (a >= 2.0) & small ? a - 1.0 : 1.0;
    many = th_times_f64(many, 0.0, (a >= 3.0) & small ? a - 2.0 : 1.0, 0.0, &many_low);
    many = th_times_f64(many, many_low, (a >= 4.0) & small ? a - 3.0 : 1.0, 0.0, &many_low);
    many = th_times_f64(many, many_low, (a >= 5.0) & small ? a - 4.0 : 1.0, 0.0, &many_low);
    even = 0x1.20895e09e8d94p-26;
    even = TH_FMA(even, w, 0x1.f2f7ed0eb0f44p-25);
    even = TH_FMA(even, w, -0x1.d24cf69c69413p-17);
    even = TH_FMA(even, w, 0x1.3f8460aa0d02ap-13);
    even = TH_FMA(even, w, 0x1.15f7f06010ea3p-9);
    even = TH_FMA(even, w, -0x1.5955cc3971a31p-5);
    even = TH_FMA(even, w, 0x1.669be41a93887p-3);
    even = TH_FMA(even, w, -0x1.514d3d90584b3p-5);
    odds = -0x1.82a7ca6397333p-24;
    odds = TH_FMA(odds, w, 0x1.2172d7009d446p-19);
    odds = TH_FMA(odds, w, 0x1.a96373fc5dc7cp-16);
    odds = TH_FMA(odds, w, -0x1.232bd8523f40fp-10);
    odds = TH_FMA(odds, w, 0x1.b16203e544f95p-8);
    odds = TH_FMA(odds, w, 0x1.a18540be3369ap-5);
    odds = TH_FMA(odds, w, -0x1.0da5a671c048cp-1);
    odds = v * TH_FMA(odds, v, even);
    f = 0x1.20dd750429b6dp+0 + odds;
    f_low = ((0x1.20dd750429b6dp+0 - f) + odds) + 0x1.229c95d170530p-56;
    /* exp(+-log(gamma(a))) without the factor 2^n */
    l = th_log_precise_f64(c, &l_low);
    l = th_stirling_f64(c, l, l_low, &l_low);
    l = th_from_bits_f64(th_bits_f64(l) ^ negative << 63);
    l_low = th_from_bits_f64(th_bits_f64(l_low) ^ negative << 63);
    (void)th_exp_reduce_f64(l, &n, &shifted);
    t = TH_FMA(n, -0x1.62e42ffp-1, l);
    s = TH_FMA(n, 0x1.718432a1b0e26p-35, t);
    l_low += TH_FMA(n, 0x1.718432a1b0e26p-35, t - s);
    m = s * s * th_exp_tail_f64(s);
    m = TH_FMA(l_low, 1.0 + (s + m), m);
    t = 1.0 + s;
    m += (1.0 - t) + s;
    /* a r S */
    s = th_sinc_f64(r, &s_low);
    s = th_times_f64(s, s_low, r, 0.0, &s_low);
    s = th_times_f64(s, s_low, least ? 1.0 : c, 0.0, &s_low);
    s = th_times_f64(s, s_low, many, many_low, &s_low);
    top = th_select_f64(small, th_select_f64(negative, f, many), t);
    top_low = th_select_f64(small, th_select_f64(negative, f_low, many_low), m);
    f = th_times_f64(f, f_low, least ? a : 1.0, 0.0, &f_low);
    bottom = th_select_f64(negative, s, th_select_f64(small, f, 1.0));
    bottom_low = th_select_f64(negative, s_low, th_select_f64(small, f_low, 0.0));
    half = TH_FMA(n, 0.5, 0x1.8p52);
    m = th_select_f64(small, 1.0, th_exp2_scale_f64(half));
    t = th_select_f64(small, 1.0, th_exp2_scale_f64(n - (half - 0x1.8p52) + 0x1.8p52));
    top *= m;
    top_low *= m;
    y = top / bottom;
    m = y + ((top_low - th_residual_f64(y, bottom, top)) - y * bottom_low) / bottom;
    y = __builtin_fabs(y) < __builtin_inf() ? m : y;
    y *= t;
    y = th_from_bits_f64(th_bits_f64(y) ^ (negative & ~odd) << 63);
    y = (x < 0.0) & (r == 0.0) ? __builtin_nan("") : y;
    y = a == 0.0 ? __builtin_copysign(__builtin_inf(), x) : y;
    return x == x ? y : x;
}

/* @snippet gammaln_f64 needs select_f64 stirling_f64 whole_f64 sinc_f64 log_plain_f64 */
/* log|gamma(x)|. From 1/2 to 3 it is (a - 1)(a - 2) times a rational function, so that it is exact around its zeros
 * 1 and 2; to there it is brought down from 6, and up from 0. */
TH_INLINE double th_gammaln_f64(double x)
{
    uint64_t odd, negative = x < 0.0, small, least;
    double a = __builtin_fabs(x), r = th_to_whole_f64(a, &odd), many, top, bottom, s, s_low, l, l_low, u, y, y_low;
    double first, second, off;
    small = a < 6.0;
    least = a < 0.5;
    many = a >= 3.0 ? a - 1.0 : 1.0;
    many *= a >= 4.0 ? a - 2.0 : 1.0;
    many *= a >= 5.0 ? a - 3.0 : 1.0;
    u = a >= 3.0 ? a - 1.0 : a;
    u -= a >= 4.0 ? 1.0 : 0.0;
    u -= a >= 5.0 ? 1.0 : 0.0;
    u = a < 6.0 ? u : 2.5;
    first = th_select_f64(least, a, u - 1.0);
    off = th_select_f64(least, 1.0, 2.0);
    second = u - off;
    y = first * second;
    y_low = th_residual_f64(first, second, y) + first * (u - (second + off));
    u = th_select_f64(least, a + 1.0, u);
    top = -0x1.29b6756b67538p-1;
    top = TH_FMA(top, u, -0x1.ba6326e3fe2fbp+4);
    top = TH_FMA(top, u, -0x1.25905b73b9a6dp+8);
    top = TH_FMA(top, u, -0x1.a7d63dfdffbedp+9);
    top = TH_FMA(top, u, 0x1.3eab55575e781p+7);
    top = TH_FMA(top, u, 0x1.6f4f1316a3855p+11);
    top = TH_FMA(top, u, 0x1.79673977a49b1p+11);
    top = TH_FMA(top, u, 0x1.f8117a3d312cap+9);
    top = TH_FMA(top, u, 0x1.ac55d3d12ba3bp+6);
    top = TH_FMA(top, u, 0x1.326d5b21bb4a7p+1);
    bottom = 0x1.59dc018569a41p+0;
    bottom = TH_FMA(bottom, u, 0x1.2e4d91242602dp+6);
    bottom = TH_FMA(bottom, u, 0x1.10ee7b2bff62ep+10);
    bottom = TH_FMA(bottom, u, 0x1.7178a8d36def2p+12);
    bottom = TH_FMA(bottom, u, 0x1.aec464fd81c17p+13);
    bottom = TH_FMA(bottom, u, 0x1.c452bcd857452p+13);
    bottom = TH_FMA(bottom, u, 0x1.a3d9ffb66fc04p+12);
    bottom = TH_FMA(bottom, u, 0x1.3e1457ab2e447p+10);
    bottom = TH_FMA(bottom, u, 0x1.43558e4dd02c8p+6);
    bottom = TH_FMA(bottom, u, 0x1p+0);
    top /= bottom;
    first = 0.4375 + top;
    y_low = TH_FMA(y, (0.4375 - first) + top, y_low * first);
    second = y * first;
    y_low += th_residual_f64(y, first, second);
    y = second;
    /* the logarithm of what multiplies or divides: many, a, or a sin(pi a)/pi */
    s = th_sinc_f64(r, &s_low) * __builtin_fabs(r) * th_select_f64(least, 1.0, a);
    u = th_select_f64(negative, s * many, th_select_f64(least, a, many));
    l = th_log_precise_f64(th_select_f64(small, u, a), &l_low);
    u = th_stirling_f64(a, l, l_low, &s_low);
    s = th_log_plain_f64(s);
    s = th_select_f64(negative, s, 0.0);
    least |= negative;
    l = th_from_bits_f64(th_bits_f64(l) ^ least << 63);
    l_low = th_from_bits_f64(th_bits_f64(l_low) ^ least << 63);
    y = th_from_bits_f64(th_bits_f64(y) ^ negative << 63);
    y_low = th_from_bits_f64(th_bits_f64(y_low) ^ negative << 63);
    u = th_from_bits_f64(th_bits_f64(u) ^ negative << 63);
    first = y + l;
    off = first - l;
    y_low += l_low + ((y - off) + (l - (first - off)));
    y = th_select_f64(small, first + y_low, u - s);
    y = a > 0x1.754d9278b51a7p+1014 ? __builtin_inf() : y;
    y = (r == 0.0) & (x <= 0.0) ? __builtin_inf() : y;
    y = a == __builtin_inf() ? x : y;
    return x == x ? y : x;
}

/* @snippet psi_f64 needs select_f64 whole_f64 residual_f64 log_plain_f64 */
/* The derivative of gammaln: up to 6 a rational function, with the zero near 1.46 taken out as a sum of two numbers;
 * beyond, the logarithm and a series (DLMF 5.11). psi(a) = psi(1 + a) - 1/a below 1, and
 * psi(-a) = psi(1 + a) + pi cot(pi a). */
TH_INLINE double th_psi_f64(double x)
{
    uint64_t odd, negative = x < 0.0, up = x < 1.0, small;
    double a = __builtin_fabs(x), r = th_to_whole_f64(a, &odd), b = th_select_f64(up, a + 1.0, a), u, w, top, bottom, y;
    double y_low, d, t, even, odds, one;
    small = b < 6.0;
    u = th_select_f64(up, a, b - 1.0);
    u = u < 5.0 ? u : 5.0;
    top = -0x1.1cc9a31bed6a6p-23;
    top = TH_FMA(top, u, -0x1.124bce8427a81p-16);
    top = TH_FMA(top, u, -0x1.1d674e968950bp-11);
    top = TH_FMA(top, u, -0x1.c860966f8003fp-8);
    top = TH_FMA(top, u, -0x1.213ca9fda4e38p-5);
    top = TH_FMA(top, u, -0x1.d0bb70d129413p-6);
    top = TH_FMA(top, u, 0x1.4829d89ac3f6dp-2);
    top = TH_FMA(top, u, 0x1.eb0986b07f9dap-1);
    top = TH_FMA(top, u, 0x1.8831d34c4a4bcp-1);
    bottom = 0x1.27f8816b0f76fp-22;
    bottom = TH_FMA(bottom, u, 0x1.36e8be6da9c6bp-15);
    bottom = TH_FMA(bottom, u, 0x1.7af5c686eb99dp-10);
    bottom = TH_FMA(bottom, u, 0x1.8b2fd1e1e7cdap-6);
    bottom = TH_FMA(bottom, u, 0x1.9b8141f15d08fp-3);
    bottom = TH_FMA(bottom, u, 0x1.c6dcd92f1b16bp-1);
    bottom = TH_FMA(bottom, u, 0x1.09fb8f7dedc0dp+1);
    bottom = TH_FMA(bottom, u, 0x1.2f1437ccb858ep+1);
    bottom = TH_FMA(bottom, u, 0x1p+0);
    y = th_select_f64(small, top, 1.0) / th_select_f64(small, bottom, b);
    w = y * y;
    top = 0x1.b7e2b78a743a2p-3;
    top = TH_FMA(top, w, -0x1.2d61163c84154p-4);
    top = TH_FMA(top, w, 0x1.558e5cefe8c66p-6);
    top = TH_FMA(top, w, -0x1.f03d7df16de6bp-8);
    top = TH_FMA(top, w, 0x1.1110809bd844ep-8);
    top = TH_FMA(top, w, -0x1.04104049ee81ap-8);
    top = TH_FMA(top, w, 0x1.11111110d6c36p-7);
    top = TH_FMA(top, w, -0x1.555555555553cp-4);
    even = th_log_plain_f64(b);
    odds = TH_FMA(w, top, -0.5 * y);
    top = even + odds;
    odds = b < 0x1p1000 ? odds + (even - top) : 0.0;
    d = a - th_select_f64(up, 0x1.d8b618d5af8fcp-2, 0x1.762d86356be3fp+0);
    bottom = d - 0x1.b86a722197829p-54;
    w = 0.484375 + y;
    u = TH_FMA((0.484375 - w) + y, bottom, w * ((d - bottom) - 0x1.b86a722197829p-54));
    y = w * bottom;
    u += th_residual_f64(w, bottom, y);
    y = th_select_f64(small, y, top);
    y_low = th_select_f64(small, u, odds);
    w = r * r;
    u = w * w;
    even = -0x1.28193b55ecb17p+4;
    even = TH_FMA(even, u, -0x1.9ac5ba563130fp+1);
    even = TH_FMA(even, u, 0x1.b9555f3f09f6dp+0);
    even = TH_FMA(even, u, 0x1.fefb967e6bb24p+0);
    even = TH_FMA(even, u, 0x1.0003812b0b198p+1);
    even = TH_FMA(even, u, 0x1.00412e16e9a2cp+1);
    even = TH_FMA(even, u, 0x1.0470984c0859ep+1);
    even = TH_FMA(even, u, 0x1.a51a6625307d3p+1);
    odds = 0x1.273f9e7564cb9p+4;
    odds = TH_FMA(odds, u, 0x1.e143ff17a92dbp+3);
    odds = TH_FMA(odds, u, 0x1.b5faf35dd7992p+1);
    odds = TH_FMA(odds, u, 0x1.04f90721b8021p+1);
    odds = TH_FMA(odds, u, 0x1.000aac3171963p+1);
    odds = TH_FMA(odds, u, 0x1.001025604e574p+1);
    odds = TH_FMA(odds, u, 0x1.010b36afef8fcp+1);
    odds = TH_FMA(odds, u, 0x1.151322ac7d852p+1);
    one = th_select_f64(negative, 1.0, -1.0);
    d = th_select_f64(negative, r, a);
    t = one / d;
    top = t * (-one * th_residual_f64(t, d, one));
    top = __builtin_fabs(t) < 0x1p1000 ? top : 0.0;
    top = TH_FMA(th_select_f64(negative, -r, 0.0), TH_FMA(odds, w, even), top);
    top += y_low;
    w = t + y;
    u = w - t;
    top += (t - (w - u)) + (y - u);
    w = __builtin_fabs(t) < 0x1p1000 ? w + top : t;
    y = th_select_f64(up, w, y + y_low);
    y = (x < 0.0) & (r == 0.0) ? __builtin_nan("") : y;
    return x == 0.0 ? -1.0 / x : y;
}

/* @snippet tri_gamma_f64 needs select_f64 whole_f64 residual_f64 sinc_f64 */
/* The derivative of psi, in the same way: psi'(a) = psi'(1 + a) + 1/a^2 below 1, and
 * psi'(-a) = pi^2/sin(pi a)^2 - psi'(1 + a). */
TH_INLINE double th_tri_gamma_f64(double x)
{
    uint64_t odd, negative = x < 0.0, up = x < 1.0, small;
    double a = __builtin_fabs(x), r = th_to_whole_f64(a, &odd), b = th_select_f64(up, a + 1.0, a), u, w, top, bottom, y;
    double d, d_low, t, s;
    small = b < 6.0;
    u = th_select_f64(up, a, b - 1.0);
    u = u < 5.0 ? u : 5.0;
    top = -0x1.48e4a5fcb7645p-41;
    top = TH_FMA(top, u, 0x1.ac5f19181c98ep-9);
    top = TH_FMA(top, u, 0x1.6a4a170e8c6b1p-5);
    top = TH_FMA(top, u, 0x1.077a6a08dafd0p-2);
    top = TH_FMA(top, u, 0x1.a3a9a14be22dap-1);
    top = TH_FMA(top, u, 0x1.80e72fb96a39ep+0);
    top = TH_FMA(top, u, 0x1.815a97ef8ac3ep+0);
    top = TH_FMA(top, u, 0x1.4a34cc4a60fa6p-1);
    bottom = 0x1.ac5f18dc4e5b9p-8;
    bottom = TH_FMA(bottom, u, 0x1.7c2363164b4c9p-4);
    bottom = TH_FMA(bottom, u, 0x1.260a724cb334dp-1);
    bottom = TH_FMA(bottom, u, 0x1.fdde475a37e9bp+0);
    bottom = TH_FMA(bottom, u, 0x1.099a05a061abfp+2);
    bottom = TH_FMA(bottom, u, 0x1.4a152f4e25697p+2);
    bottom = TH_FMA(bottom, u, 0x1.c16dc62d07c0fp+1);
    bottom = TH_FMA(bottom, u, 0x1p+0);
    top /= bottom;
    y = 1.0 / b;
    w = y * y;
    bottom = -0x1.9572efd4cb31bp+1;
    bottom = TH_FMA(bottom, w, 0x1.009f6d23de80ep+0);
    bottom = TH_FMA(bottom, w, -0x1.fdfc1a07a7ecdp-3);
    bottom = TH_FMA(bottom, w, 0x1.360cbc43d778ap-4);
    bottom = TH_FMA(bottom, w, -0x1.110fe72a8e982p-5);
    bottom = TH_FMA(bottom, w, 0x1.86185e88b82e6p-6);
    bottom = TH_FMA(bottom, w, -0x1.1111111021e66p-5);
    bottom = TH_FMA(bottom, w, 0x1.5555555555488p-3);
    top = th_select_f64(small, top, TH_FMA(w, bottom, 0.5 * y));
    y = TH_FMA(y, top - th_residual_f64(y, b, 1.0), y);
    s = th_sinc_f64(r, &d_low);
    s = th_select_f64(negative, s, 1.0);
    d_low = th_select_f64(negative, d_low, 0.0);
    u = th_select_f64(negative, r, a);
    d = u * s;
    t = 1.0 / d;
    bottom = t * -(th_residual_f64(t, d, 1.0) + t * (th_residual_f64(u, s, d) + u * d_low));
    w = t * t;
    top = th_residual_f64(t, t, w) + 2.0 * t * bottom;
    top = w < 0x1p900 ? top : 0.0;
    y = th_from_bits_f64(th_bits_f64(y) ^ negative << 63);
    y = th_select_f64(up, w + (y + top), y);
    y = x == -__builtin_inf() ? __builtin_nan("") : y;
    y = x == __builtin_inf() ? 0.0 : y;
    return x == x ? y : x;
}

/* @snippet stirling_f32 needs log_short_f64 */
TH_INLINE double th_stirling_f32(double a, double l)
{
    double over = 1.0 / a, w = over * over, d;
    d = 0x1.91a9d506e12f1p-11;
    d = TH_FMA(d, w, -0x1.6c0a25e8e4d5cp-9);
    d = TH_FMA(d, w, 0x1.555554fc9e1e2p-4);
    return (a - 0.5) * l - a + TH_FMA(over, d, 0x1.d67f1c864beb5p-1);
}

/* @snippet sinc_f32 needs fma */
TH_INLINE double th_sinc_f32(double r)
{
    double w = r * r, s;
    s = -0x1.24f9abd3a935ep-9;
    s = TH_FMA(s, w, 0x1.abe34e043c53bp-6);
    s = TH_FMA(s, w, -0x1.86a6b08b3ce91p-3);
    s = TH_FMA(s, w, 0x1.9f9cab789b54dp-1);
    s = TH_FMA(s, w, -0x1.a51a660cac6e1p+0);
    s = TH_FMA(s, w, 0x1.ffffffffd17f6p-1);
    return s;
}

/* @snippet gamma_f32 needs select_f64 stirling_f32 whole_f64 sinc_f32 exp_short_f64 */
/* As in double, where nothing is lost on the way. */
TH_INLINE float th_gamma_f32(float x)
{
    uint64_t odd, negative = x < 0.0f, small, least;
    double a = __builtin_fabs((double)x), r = th_to_whole_f64(a, &odd), c = a > 50.0 ? 50.0 : a, v, many, f, s, l, y;
    small = a < 6.0;
    least = a < 1.0;
    v = r < 0.0 ? r + 0.5 : r - 0.5;
    many = (a >= 2.0) & (a < 6.0) ? a - 1.0 : 1.0;
    many *= (a >= 3.0) & (a < 6.0) ? a - 2.0 : 1.0;
    many *= (a >= 4.0) & (a < 6.0) ? a - 3.0 : 1.0;
    many *= (a >= 5.0) & (a < 6.0) ? a - 4.0 : 1.0;
    f = -0x1.1e635f3729304p-10;
    f = TH_FMA(f, v, 0x1.20dfd1a536d0ep-9);
    f = TH_FMA(f, v, 0x1.b1157b5bd42bbp-8);
    f = TH_FMA(f, v, -0x1.5976611082a2bp-5);
    f = TH_FMA(f, v, 0x1.a1863f306eac1p-5);
    f = TH_FMA(f, v, 0x1.669c75a1768cbp-3);
    f = TH_FMA(f, v, -0x1.0da5a70a9b631p-1);
    f = TH_FMA(f, v, -0x1.514d489e68748p-5);
    f = TH_FMA(f, v, 0x1.20dd7504a5938p+0);
    l = th_stirling_f32(c, th_log_short_f64(c));
    l = th_exp_short_f64(th_from_bits_f64(th_bits_f64(l) ^ negative << 63));
    s = th_sinc_f32(r) * r * many * th_select_f64(least, 1.0, c);
    y = th_select_f64(small, th_select_f64(negative, f, many), l);
    f *= th_select_f64(least, a, 1.0);
    y /= th_select_f64(negative, s, th_select_f64(small, f, 1.0));
    y = th_from_bits_f64(th_bits_f64(y) ^ (negative & ~odd) << 63);
    y = (x < 0.0f) & (r == 0.0) ? __builtin_nan("") : y;
    y = a == 0.0 ? __builtin_copysign(__builtin_inf(), (double)x) : y;
    return x == x ? (float)y : x;
}

/* @snippet gammaln_f32 needs select_f64 stirling_f32 whole_f64 sinc_f32 */
TH_INLINE float th_gammaln_f32(float x)
{
    uint64_t odd, negative = x < 0.0f, small, least;
    double a = __builtin_fabs((double)x), r = th_to_whole_f64(a, &odd), many, top, bottom, s, l, u, y;
    small = a < 6.0;
    least = a < 0.5;
    many = a >= 3.0 ? a - 1.0 : 1.0;
    many *= a >= 4.0 ? a - 2.0 : 1.0;
    many *= a >= 5.0 ? a - 3.0 : 1.0;
    u = a >= 3.0 ? a - 1.0 : a;
    u -= a >= 4.0 ? 1.0 : 0.0;
    u -= a >= 5.0 ? 1.0 : 0.0;
    u = a < 6.0 ? u : 2.5;
    y = th_select_f64(least, a * (a - 1.0), (u - 1.0) * (u - 2.0));
    u = th_select_f64(least, a + 1.0, u);
    top = 0x1.22b9562455378p-5;
    top = TH_FMA(top, u, 0x1.5dfb30f91ee57p+2);
    top = TH_FMA(top, u, 0x1.71448db8bac2ap+5);
    top = TH_FMA(top, u, 0x1.41dfea1086bf3p+6);
    top = TH_FMA(top, u, 0x1.079855bbf2c91p+5);
    top = TH_FMA(top, u, 0x1.292db54f61cd0p+1);
    bottom = 0x1.d7f4591d713a1p+0;
    bottom = TH_FMA(bottom, u, 0x1.01c744173ee87p+5);
    bottom = TH_FMA(bottom, u, 0x1.cfe176e20bb76p+6);
    bottom = TH_FMA(bottom, u, 0x1.c0ecc851bf0e8p+6);
    bottom = TH_FMA(bottom, u, 0x1.abfd8ecdc9b0ap+4);
    bottom = TH_FMA(bottom, u, 0x1p+0);
    y *= top / bottom;
    s = th_sinc_f32(r) * __builtin_fabs(r) * th_select_f64(least, 1.0, a);
    u = th_select_f64(negative, s * many, th_select_f64(least, a, many));
    l = th_log_short_f64(th_select_f64(small, u, a));
    u = th_stirling_f32(a, l);
    l = th_from_bits_f64(th_bits_f64(l) ^ (least | negative) << 63);
    y = th_select_f64(small, th_from_bits_f64(th_bits_f64(y) ^ negative << 63) + l,
                      th_from_bits_f64(th_bits_f64(u) ^ negative << 63)
                          - th_select_f64(negative, th_log_short_f64(s), 0.0));
    y = (r == 0.0) & (x <= 0.0f) ? __builtin_inf() : y;
    y = a == __builtin_inf() ? (double)x : y;
    return x == x ? (float)y : x;
}

/* @snippet psi_f32 needs select_f64 whole_f64 log_short_f64 */
TH_INLINE float th_psi_f32(float x)
{
    uint64_t odd, negative = x < 0.0f, up = x < 1.0f, small;
    double a = __builtin_fabs((double)x), r = th_to_whole_f64(a, &odd), u = th_select_f64(up, a, a - 1.0), b = 1.0 + u;
    double w, top, bottom, y;
    small = u < 5.0;
    u = u < 5.0 ? u : 5.0;
    top = -0x1.31bfdf7ce9098p-19;
    top = TH_FMA(top, u, 0x1.e2fa39702512dp-13);
    top = TH_FMA(top, u, 0x1.2169aac270186p-5);
    top = TH_FMA(top, u, 0x1.b4b12aa84d32ap-2);
    top = TH_FMA(top, u, 0x1.64328acafefd0p+0);
    top = TH_FMA(top, u, 0x1.4018e9a2cff88p+0);
    bottom = 0x1.2942de2465ddap-7;
    bottom = TH_FMA(bottom, u, 0x1.703291afe24bdp-3);
    bottom = TH_FMA(bottom, u, 0x1.ef2d6d3960550p-1);
    bottom = TH_FMA(bottom, u, 0x1.cbdbfa0a04164p+0);
    bottom = TH_FMA(bottom, u, 0x1p+0);
    y = th_select_f64(small, top, 1.0) / th_select_f64(small, bottom, b);
    w = y * y;
    top = -0x1.ecdf835feaf02p-9;
    top = TH_FMA(top, w, 0x1.10f5a4bfd60adp-7);
    top = TH_FMA(top, w, -0x1.5555515f6f82ap-4);
    top = th_log_short_f64(b < 0x1p1000 ? b : 1.0) + TH_FMA(w, top, -0.5 * y);
    bottom = (a - th_select_f64(up, 0x1.d8b618d5af8fcp-2, 0x1.762d86356be3fp+0)) - 0x1.b86a722197829p-54;
    y = th_select_f64(small, bottom * y, top);
    w = r * r;
    top = 0x1.bf60a1b4c37d1p+2;
    top = TH_FMA(top, w, -0x1.c9aa7fae8dbf0p-1);
    top = TH_FMA(top, w, 0x1.680355f046a68p+1);
    top = TH_FMA(top, w, 0x1.df7caada7ac05p+0);
    top = TH_FMA(top, w, 0x1.01ba339e2203ap+1);
    top = TH_FMA(top, w, 0x1.00f856c726386p+1);
    top = TH_FMA(top, w, 0x1.0471107ad633bp+1);
    top = TH_FMA(top, w, 0x1.1513218798b38p+1);
    top = TH_FMA(top, w, 0x1.a51a6625a5726p+1);
    top = th_select_f64(negative, 1.0 / r - r * top, -1.0 / a);
    y += th_select_f64(up, top, 0.0);
    y = (x < 0.0f) & (r == 0.0) ? __builtin_nan("") : y;
    y = x == 0.0f ? -1.0 / (double)x : y;
    y = x == __builtin_inff() ? __builtin_inf() : y;
    return x == x ? (float)y : x;
}
