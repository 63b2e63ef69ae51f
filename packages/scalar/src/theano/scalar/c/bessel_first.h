/* Bessel functions of the first kind.
 *
 * Below 7.5 polynomials in the distance from 2 and from 6, j1's of j1(x)/x; above, M cos(theta), where M^2 x and x times
 * what theta has beyond x - pi/4 (x - 3 pi/4) are polynomials in 1/x^2 (NIST Digital Library of Mathematical Functions,
 * 10.18); theta is reduced as the argument of a cosine is, so that no digit of x is lost. Near a zero the error is absolute,
 * in units of the last place of M. All polynomials are minimax (Remez exchange with mpmath; error < 2^-57). Where the
 * trigonometric functions are left to the C library, two terms of the asymptotic series are enough.
 */

/* @snippet bessel_phase_f64 needs trig_reduce_f64 */
/* r - *lost is a - pi/4 + phi - n pi/2, and *quadrant has n in its low bits. */
TH_INLINE double th_bessel_phase_f64(double a, double phi, double *lost, uint64_t *quadrant)
{
    const double part[3] = TH_TRIG_PARTS_f64;
    double shifted = TH_FMA(a - 0x1.921fb54442d18p-1, 0x1.45f306dc9c883p-1, 0x1.8p52), n = shifted - 0x1.8p52;
    double t = TH_FMA(n, part[0], a), second = n * part[1], r = t - second;
    double q = 0x1.921fb54442d18p-1 - phi, s = r - q, d = s - r;
    *quadrant = th_bits_f64(shifted);
    *lost = ((r - t) + second) + TH_FMA(n, part[2], TH_FMA(n, part[1], -second));
    *lost += (((0x1.921fb54442d18p-1 - q) - phi) + 0x1.1a62633145c07p-55) - ((r - (s - d)) - (q + d));
    return s;
}

/* @snippet j0_f64 needs bessel_phase_f64 residual_f64 sin_near_f64 cos_near_f64 select_f64 */
static double th_slow_j0_f64(double x)
{
    long double c, s;
    double a = __builtin_fabs(x);
    if (!(a >= 0x1p44))
        return j0(x);
    if (a == __builtin_inf())
        return 0.0;
    c = cosl(a);
    s = sinl(a);
    a = (double)((c + s + (s - c) * (0.125 / a)) / (0x1.c5bf891b4ef6bp+0 * sqrtl(a)));
    return a;
}
#define TH_FAR_j0_f64(x, y) th_slow_j0_f64(x)
TH_RARE_f64(th_far_j0_f64, TH_TRIG_FAR_f64, TH_FAR_j0_f64)
TH_INLINE double th_j0_f64(double x)
{
    uint64_t quadrant, near;
    double a = __builtin_fabs(x), b = a > 7.5 ? a : 7.5, over = 1.0 / b, z = 56.25 * over * over, t, w, even, odd;
    double w_low, even_low, odd_low, y, r, lost, c, beyond, s, low;
    near = a < 4.0;
    t = a - th_select_f64(near, 2.0, 6.0);
    w = t * t;
    w_low = th_residual_f64(t, t, w);
    even = th_select_f64(near, 0x1.74cec1d9266b9p-57, -0x1.c3189d17146afp-56);
    even = TH_FMA(even, w, th_select_f64(near, -0x1.e8cdc1df39da1p-49, 0x1.27dc5c3a1053dp-47));
    even = TH_FMA(even, w, th_select_f64(near, 0x1.dfa5343563232p-41, -0x1.2333bb435852p-39));
    even = TH_FMA(even, w, th_select_f64(near, -0x1.6568d039d7a24p-33, 0x1.b37de5c0063b2p-32));
    even = TH_FMA(even, w, th_select_f64(near, 0x1.830f806f0c01cp-26, -0x1.d96b409d248c4p-25));
    even = TH_FMA(even, w, th_select_f64(near, -0x1.1d8e5c5f99fbp-19, 0x1.5eca549df6efep-18));
    even = TH_FMA(even, w, th_select_f64(near, 0x1.037d2bd15f54bp-13, -0x1.40d55deca0eb8p-12));
    even = TH_FMA(even, w, th_select_f64(near, -0x1.e1bc6e745fad6p-9, 0x1.2ff8250ad6e98p-7));
    y = th_select_f64(near, 0x1.081365fc429cfp-5, -0x1.92f6814c2d227p-4);
    low = TH_FMA(even, w, y);
    beyond = TH_FMA(even, w, y - low);
    y = th_select_f64(near, 0x1.ca873fb24cef8p-3, 0x1.3485802986392p-3);
    even = TH_FMA(low, w, y);
    even_low = TH_FMA(low, w, y - even) + TH_FMA(low, w_low, TH_FMA(beyond, w, th_select_f64(near, -0x1.ac82990217885p-58, 0x1.589c7972fd67ap-57)));
    odd = th_select_f64(near, 0x1.7fcd3b14d75f7p-60, -0x1.572021ff34af9p-61);
    odd = TH_FMA(odd, w, th_select_f64(near, -0x1.1e5e0d456ba41p-51, 0x1.027d5146a45c2p-52));
    odd = TH_FMA(odd, w, th_select_f64(near, 0x1.4469f36064efp-43, -0x1.2da3b8779fba4p-44));
    odd = TH_FMA(odd, w, th_select_f64(near, -0x1.1dc995d5372efp-35, 0x1.133b2eafc4714p-36));
    odd = TH_FMA(odd, w, th_select_f64(near, 0x1.7a5aa5103e226p-28, -0x1.7b7697cd74422p-29));
    odd = TH_FMA(odd, w, th_select_f64(near, -0x1.66d1662c1a0e4p-21, 0x1.78f324ff6e953p-22));
    odd = TH_FMA(odd, w, th_select_f64(near, 0x1.c7cdf40f631e1p-15, -0x1.f7f41b78c929dp-16));
    odd = TH_FMA(odd, w, th_select_f64(near, -0x1.5e2dc23b76dc6p-9, 0x1.96ad62dbc1e75p-10));
    y = th_select_f64(near, 0x1.1146db833191ep-4, -0x1.427fa0b72ec06p-5);
    low = TH_FMA(odd, w, y);
    beyond = TH_FMA(odd, w, y - low);
    y = th_select_f64(near, -0x1.27487958371fp-1, 0x1.1b530367f4bbfp-2);
    odd = TH_FMA(low, w, y);
    odd_low = TH_FMA(low, w, y - odd) + TH_FMA(low, w_low, TH_FMA(beyond, w, th_select_f64(near, 0x1.332eb87dc5deep-56, -0x1.8545cb2a6f992p-56)));
    y = TH_FMA(odd, t, even) + TH_FMA(odd_low, t, even_low);
    odd = 0x1.5bbeb2059e93dp-29;
    odd = TH_FMA(odd, z, -0x1.4f110617dfc81p-26);
    odd = TH_FMA(odd, z, 0x1.2bc5e249b29b9p-24);
    odd = TH_FMA(odd, z, -0x1.4fe6c75262fffp-23);
    odd = TH_FMA(odd, z, 0x1.1038c9dd7e5d7p-22);
    odd = TH_FMA(odd, z, -0x1.66fa9c864ed21p-22);
    odd = TH_FMA(odd, z, 0x1.b8dd7a4f46c78p-22);
    odd = TH_FMA(odd, z, -0x1.2865d623aaa6ap-21);
    odd = TH_FMA(odd, z, 0x1.fdaedf86ab185p-21);
    odd = TH_FMA(odd, z, -0x1.3ab21199273d5p-19);
    odd = TH_FMA(odd, z, 0x1.34d34eacdd908p-17);
    odd = TH_FMA(odd, z, -0x1.15ced3428f60ep-14);
    odd = TH_FMA(odd, z, 0x1.2f684bda0b542p-10);
    odd = TH_FMA(odd, z, -0x1.fffffffffffffp-4);
    r = th_bessel_phase_f64(b, odd * over, &lost, &quadrant);
    c = th_cos_near_f64(r, lost, &beyond);
    c = th_select_f64(quadrant & 1, r - th_sin_near_f64(r, lost), c + beyond);
    c = th_from_bits_f64(th_bits_f64(c) ^ ((quadrant + 1) & 2) << 62);
    even = -0x1.a2dd55c50fb07p-32;
    even = TH_FMA(even, z, 0x1.974940838e5f2p-29);
    even = TH_FMA(even, z, -0x1.713e75aa57f24p-27);
    even = TH_FMA(even, z, 0x1.a63a8146b48d3p-26);
    even = TH_FMA(even, z, -0x1.61905c5abd1dfp-25);
    even = TH_FMA(even, z, 0x1.ec4ed80f01a87p-25);
    even = TH_FMA(even, z, -0x1.4a58e442768c3p-24);
    even = TH_FMA(even, z, 0x1.fb27d5131ba82p-24);
    even = TH_FMA(even, z, -0x1.043df964015d7p-22);
    even = TH_FMA(even, z, 0x1.92035e150f833p-21);
    even = TH_FMA(even, z, -0x1.07b896465d6cfp-18);
    even = TH_FMA(even, z, 0x1.6406095e68b4dp-15);
    even = TH_FMA(even, z, -0x1.72db9f21afdebp-10);
    even = TH_FMA(even, z, 0x1.45f306dc9c883p-1);
    w = even * over;
    s = __builtin_sqrt(w);
    low = TH_FMA(-w, b, even) * over + TH_FMA(-s, s, w);
    b = s * c + low * (0.7854 * s * b) * c;
    y = a < 7.5 ? y : b;
    y = x == x ? y : x;
    return th_far_j0_f64(x, x, y);
}

/* @snippet j1_f64 needs bessel_phase_f64 residual_f64 sin_near_f64 cos_near_f64 select_f64 */
static double th_slow_j1_f64(double x)
{
    long double c, s;
    double a = __builtin_fabs(x);
    if (!(a >= 0x1p44))
        return j1(x);
    if (a == __builtin_inf())
        return __builtin_copysign(0.0, x);
    c = cosl(a);
    s = sinl(a);
    a = (double)((s - c + (s + c) * (0.375 / a)) / (0x1.c5bf891b4ef6bp+0 * sqrtl(a)));
    return x < 0.0 ? -a : a;
}
#define TH_FAR_j1_f64(x, y) th_slow_j1_f64(x)
TH_RARE_f64(th_far_j1_f64, TH_TRIG_FAR_f64, TH_FAR_j1_f64)
TH_INLINE double th_j1_f64(double x)
{
    uint64_t quadrant, near;
    double a = __builtin_fabs(x), b = a > 7.5 ? a : 7.5, over = 1.0 / b, z = 56.25 * over * over, t, w, even, odd;
    double w_low, even_low, odd_low, y, r, lost, c, beyond, s, low;
    near = a < 4.0;
    t = a - th_select_f64(near, 2.0, 6.0);
    w = t * t;
    w_low = th_residual_f64(t, t, w);
    even = th_select_f64(near, 0x1.c67d2bf98648dp-62, -0x1.2627dbd2eb234p-60);
    even = TH_FMA(even, w, th_select_f64(near, -0x1.3d4e9d8708fefp-53, 0x1.9a701d6dd0fa5p-52));
    even = TH_FMA(even, w, th_select_f64(near, 0x1.4c246671e9617p-45, -0x1.afa0a749262dep-44));
    even = TH_FMA(even, w, th_select_f64(near, -0x1.066fee924956fp-37, 0x1.56def4c9ea431p-36));
    even = TH_FMA(even, w, th_select_f64(near, 0x1.27b5f5d316472p-30, -0x1.8516204b2fefdp-29));
    even = TH_FMA(even, w, th_select_f64(near, -0x1.aceebeddf15bdp-24, 0x1.1eaeb191c6471p-22));
    even = TH_FMA(even, w, th_select_f64(near, 0x1.34135fad68c33p-18, -0x1.bc8a7c4609743p-17));
    even = TH_FMA(even, w, th_select_f64(near, 0x1.3390ed0d36786p-15, 0x1.980e7e7fc1c0dp-14));
    y = th_select_f64(near, -0x1.84e7b36c14a5p-7, 0x1.a7edb220a9ed4p-7);
    low = TH_FMA(even, w, y);
    beyond = TH_FMA(even, w, y - low);
    y = th_select_f64(near, 0x1.27487958371fp-2, -0x1.79c4048a9ba53p-5);
    even = TH_FMA(low, w, y);
    even_low = TH_FMA(low, w, y - even) + TH_FMA(low, w_low, TH_FMA(beyond, w, th_select_f64(near, -0x1.2804a069d56acp-57, -0x1.f1215109b8738p-59)));
    odd = th_select_f64(near, 0x1.340139a69df3cp-64, -0x1.9083aca017d2fp-65);
    odd = TH_FMA(odd, w, th_select_f64(near, -0x1.f1033079db474p-56, 0x1.47320e23f21c4p-56));
    odd = TH_FMA(odd, w, th_select_f64(near, 0x1.3aaf4f987a0e4p-47, -0x1.ace8123454484p-48));
    odd = TH_FMA(odd, w, th_select_f64(near, -0x1.3a871ff366e14p-39, 0x1.bca6e6a11dbf9p-40));
    odd = TH_FMA(odd, w, th_select_f64(near, 0x1.e0cea364c20dcp-32, -0x1.6033b38d42679p-32));
    odd = TH_FMA(odd, w, th_select_f64(near, -0x1.0d5c014b9a9ddp-24, 0x1.96c9d479b85cbp-25));
    odd = TH_FMA(odd, w, th_select_f64(near, 0x1.a11308e932632p-18, -0x1.3f8a4766492ddp-18));
    odd = TH_FMA(odd, w, th_select_f64(near, -0x1.9874d08ae3d88p-12, 0x1.2fd4c351f96fdp-12));
    y = th_select_f64(near, 0x1.b35210f03a2cp-7, -0x1.114d0bb756441p-7);
    low = TH_FMA(odd, w, y);
    beyond = TH_FMA(odd, w, y - low);
    y = th_select_f64(near, -0x1.694d52d747c64p-3, 0x1.4b9a56f48d5d3p-5);
    odd = TH_FMA(low, w, y);
    odd_low = TH_FMA(low, w, y - odd) + TH_FMA(low, w_low, TH_FMA(beyond, w, th_select_f64(near, 0x1.71cb767f65968p-58, -0x1.155291abb2289p-59)));
    y = TH_FMA(odd, t, even) + TH_FMA(odd_low, t, even_low);
    y *= a;
    odd = -0x1.87c3e10b8d837p-29;
    odd = TH_FMA(odd, z, 0x1.79e73b9f435cap-26);
    odd = TH_FMA(odd, z, -0x1.52a76eb2192f5p-24);
    odd = TH_FMA(odd, z, 0x1.7c71e99279f7bp-23);
    odd = TH_FMA(odd, z, -0x1.35a410e41f334p-22);
    odd = TH_FMA(odd, z, 0x1.9b61f922bd869p-22);
    odd = TH_FMA(odd, z, -0x1.ffef6e45433fdp-22);
    odd = TH_FMA(odd, z, 0x1.5ff7c8a3490a8p-21);
    odd = TH_FMA(odd, z, -0x1.39ad0d24c4a77p-20);
    odd = TH_FMA(odd, z, 0x1.9a88ef2084094p-19);
    odd = TH_FMA(odd, z, -0x1.beb4371827717p-17);
    odd = TH_FMA(odd, z, 0x1.ebaa66f1ab2ebp-14);
    odd = TH_FMA(odd, z, -0x1.7e4b17e4ad382p-9);
    odd = TH_FMA(odd, z, 0x1.8p-2);
    r = th_bessel_phase_f64(b, odd * over, &lost, &quadrant);
    c = th_cos_near_f64(r, lost, &beyond);
    c = th_select_f64(quadrant & 1, c + beyond, r - th_sin_near_f64(r, lost));
    c = th_from_bits_f64(th_bits_f64(c) ^ (quadrant & 2) << 62);
    even = 0x1.d64e8592f48b1p-32;
    even = TH_FMA(even, z, -0x1.c9ced69c3e31dp-29);
    even = TH_FMA(even, z, 0x1.9fb99a92774a9p-27);
    even = TH_FMA(even, z, -0x1.dc9b80fc091eep-26);
    even = TH_FMA(even, z, 0x1.90d4ac2adb45dp-25);
    even = TH_FMA(even, z, -0x1.192ed9d8d79b2p-24);
    even = TH_FMA(even, z, 0x1.7e5e09ab64077p-24);
    even = TH_FMA(even, z, -0x1.2be8cf5444ad6p-23);
    even = TH_FMA(even, z, 0x1.3e1a6c7e7711p-22);
    even = TH_FMA(even, z, -0x1.027035e11581cp-20);
    even = TH_FMA(even, z, 0x1.7135a19383da4p-18);
    even = TH_FMA(even, z, -0x1.28afb27bfd389p-14);
    even = TH_FMA(even, z, 0x1.1624b759446a8p-8);
    even = TH_FMA(even, z, 0x1.45f306dc9c883p-1);
    w = even * over;
    s = __builtin_sqrt(w);
    low = TH_FMA(-w, b, even) * over + TH_FMA(-s, s, w);
    b = s * c + low * (0.7854 * s * b) * c;
    y = a < 7.5 ? y : b;
    y = th_from_bits_f64(th_bits_f64(y) ^ (th_bits_f64(x) & 0x8000000000000000u));
    y = x == x ? y : x;
    return th_far_j1_f64(x, x, y);
}
