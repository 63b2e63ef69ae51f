/* Functions of floating numbers that are neither in <math.h> nor of one line, with the results
 * that Python and NumPy give at zeros, infinities and nan. */

/* @snippet divmod_f64 needs fma rare */
/* The remainder has the divisor's sign, also where it is zero; the quotient is made from it, so
 * that the two always agree. */
TH_INLINE double th_divmod_slow_f64(double x, double y, double *remainder)
{
    double r = fmod(x, y), q = (x - r) / y, whole;
    int other_side = (r != 0) & ((y < 0) != (r < 0));
    if (y == 0) {
        *remainder = r;
        return x / y;
    }
    q -= other_side ? 1 : 0;
    *remainder = r != 0 ? r + (other_side ? y : 0) : copysign(0.0, y);
    whole = floor(q);
    whole += q - whole > 0.5 ? 1 : 0;
    return q != 0 ? whole : copysign(0.0, x / y);
}
/* The same where the quotient is so small that it is a whole number's worth of bits: the fused product gives the
 * remainder exactly, and the quotient, if rounded up to a whole number, is one too large. */
TH_INLINE double th_divmod_f64(double x, double y, double *remainder)
{
    double exact = x / y, q = __builtin_floor(exact), r = q == 0 ? x : TH_FMA(-q, y, x);
    int other_side = ((r < 0) & (y > 0)) | ((r > 0) & (y < 0));
    q -= other_side ? 1.0 : 0.0;
    r += other_side ? y : 0.0;
    *remainder = r == 0 ? __builtin_copysign(r, y) : r;
    return y == 0 ? exact : (r == r ? q : r);
}
#define TH_FAR_QUOTIENT_f64(x, y) \
    ((((x) > (y) * 0x1p49) & ((x) > (y) * -0x1p49)) | (((x) < (y) * 0x1p49) & ((x) < (y) * -0x1p49)))

/* @snippet floor_div_f64 needs divmod_f64 */
#if TH_FUSED
TH_INLINE double th_floor_div_slow_f64(double x, double y) { double r; return th_divmod_slow_f64(x, y, &r); }
TH_RARE_f64(th_floor_div_far_f64, TH_FAR_QUOTIENT_f64, th_floor_div_slow_f64)
TH_INLINE double th_floor_div_f64(double x, double y)
{
    double r;
    return th_floor_div_far_f64(x, y, th_divmod_f64(x, y, &r));
}
#else
TH_INLINE double th_floor_div_f64(double x, double y) { double r; return th_divmod_slow_f64(x, y, &r); }
#endif

/* @snippet mod_f64 needs divmod_f64 */
#if TH_FUSED
TH_INLINE double th_mod_slow_f64(double x, double y) { double r; (void)th_divmod_slow_f64(x, y, &r); return r; }
TH_RARE_f64(th_mod_far_f64, TH_FAR_QUOTIENT_f64, th_mod_slow_f64)
TH_INLINE double th_mod_f64(double x, double y)
{
    double r;
    (void)th_divmod_f64(x, y, &r);
    return th_mod_far_f64(x, y, r);
}
#else
TH_INLINE double th_mod_f64(double x, double y) { double r; (void)th_divmod_slow_f64(x, y, &r); return r; }
#endif

/* @snippet round_away_f64 needs inline */
/* Halves go away from zero. Adding 0.5 first would round the number just below 0.5 up. */
TH_INLINE double th_round_away_f64(double x)
{
    double a = fabs(x), whole = floor(a);
    return copysign(whole + (a - whole >= 0.5 ? 1 : 0), x);
}

/* @snippet max_f64 needs inline */
/* nan wins: a comparison with it gives y, and then x != x says whose it is. So written, this is one instruction and a
 * blend. */
TH_INLINE double th_max_f64(double x, double y) { double r = x > y ? x : y; return x != x ? x : r; }

/* @snippet min_f64 needs inline */
TH_INLINE double th_min_f64(double x, double y) { double r = x < y ? x : y; return x != x ? x : r; }

/* @snippet divmod_f32 needs fma rare */
/* The remainder has the divisor's sign, also where it is zero; the quotient is made from it, so
 * that the two always agree. */
TH_INLINE float th_divmod_slow_f32(float x, float y, float *remainder)
{
    float r = fmodf(x, y), q = (x - r) / y, whole;
    int other_side = (r != 0) & ((y < 0) != (r < 0));
    if (y == 0) {
        *remainder = r;
        return x / y;
    }
    q -= other_side ? 1 : 0;
    *remainder = r != 0 ? r + (other_side ? y : 0) : copysignf(0.0f, y);
    whole = floorf(q);
    whole += q - whole > 0.5f ? 1 : 0;
    return q != 0 ? whole : copysignf(0.0f, x / y);
}
/* The same where the quotient is so small that it is a whole number's worth of bits: the fused product gives the
 * remainder exactly, and the quotient, if rounded up to a whole number, is one too large. */
TH_INLINE float th_divmod_f32(float x, float y, float *remainder)
{
    float exact = x / y, q = __builtin_floorf(exact), r = q == 0 ? x : TH_FMAF(-q, y, x);
    int other_side = ((r < 0) & (y > 0)) | ((r > 0) & (y < 0));
    q -= other_side ? 1.0f : 0.0f;
    r += other_side ? y : 0.0f;
    *remainder = r == 0 ? __builtin_copysignf(r, y) : r;
    return y == 0 ? exact : (r == r ? q : r);
}
#define TH_FAR_QUOTIENT_f32(x, y) \
    ((((x) > (y) * 0x1p20f) & ((x) > (y) * -0x1p20f)) | (((x) < (y) * 0x1p20f) & ((x) < (y) * -0x1p20f)))

/* @snippet floor_div_f32 needs divmod_f32 */
#if TH_FUSED
TH_INLINE float th_floor_div_slow_f32(float x, float y) { float r; return th_divmod_slow_f32(x, y, &r); }
TH_RARE_f32(th_floor_div_far_f32, TH_FAR_QUOTIENT_f32, th_floor_div_slow_f32)
TH_INLINE float th_floor_div_f32(float x, float y)
{
    float r;
    return th_floor_div_far_f32(x, y, th_divmod_f32(x, y, &r));
}
#else
TH_INLINE float th_floor_div_f32(float x, float y) { float r; return th_divmod_slow_f32(x, y, &r); }
#endif

/* @snippet mod_f32 needs divmod_f32 */
#if TH_FUSED
TH_INLINE float th_mod_slow_f32(float x, float y) { float r; (void)th_divmod_slow_f32(x, y, &r); return r; }
TH_RARE_f32(th_mod_far_f32, TH_FAR_QUOTIENT_f32, th_mod_slow_f32)
TH_INLINE float th_mod_f32(float x, float y)
{
    float r;
    (void)th_divmod_f32(x, y, &r);
    return th_mod_far_f32(x, y, r);
}
#else
TH_INLINE float th_mod_f32(float x, float y) { float r; (void)th_divmod_slow_f32(x, y, &r); return r; }
#endif

/* @snippet round_away_f32 needs inline */
/* Halves go away from zero. Adding 0.5 first would round the number just below 0.5 up. */
TH_INLINE float th_round_away_f32(float x)
{
    float a = fabsf(x), whole = floorf(a);
    return copysignf(whole + (a - whole >= 0.5f ? 1 : 0), x);
}

/* @snippet max_f32 needs inline */
/* nan wins: a comparison with it gives y, and then x != x says whose it is. So written, this is one instruction and a
 * blend. */
TH_INLINE float th_max_f32(float x, float y) { float r = x > y ? x : y; return x != x ? x : r; }

/* @snippet min_f32 needs inline */
TH_INLINE float th_min_f32(float x, float y) { float r = x < y ? x : y; return x != x ? x : r; }
