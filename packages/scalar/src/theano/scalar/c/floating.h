/* Functions of floating numbers that are neither in <math.h> nor of one line, with the results
 * that Python and NumPy give at zeros, infinities and nan. */

/* @snippet divmod_f64 needs inline */
/* The remainder has the divisor's sign, also where it is zero; the quotient is made from it, so
 * that the two always agree. */
TH_INLINE double th_divmod_f64(double x, double y, double *remainder)
{
    double r = fmod(x, y), q = (x - r) / y, whole;
    int other_side = (r != 0) & ((y < 0) != (r < 0));
    if (y == 0) {
        *remainder = r;
        return x / y;
    }
    q -= other_side ? 1 : 0;
    *remainder = r != 0 ? r + (other_side ? y : 0) : copysign(0, y);
    whole = floor(q);
    whole += q - whole > 0.5 ? 1 : 0;
    return q != 0 ? whole : copysign(0, x / y);
}

/* @snippet floor_div_f64 needs divmod_f64 */
TH_INLINE double th_floor_div_f64(double x, double y) { double r; return th_divmod_f64(x, y, &r); }

/* @snippet mod_f64 needs divmod_f64 */
TH_INLINE double th_mod_f64(double x, double y) { double r; (void)th_divmod_f64(x, y, &r); return r; }

/* @snippet round_away_f64 needs inline */
/* Halves go away from zero. Adding 0.5 first would round the number just below 0.5 up. */
TH_INLINE double th_round_away_f64(double x)
{
    double a = fabs(x), whole = floor(a);
    return copysign(whole + (a - whole >= 0.5 ? 1 : 0), x);
}

/* @snippet max_f64 needs inline */
/* nan wins: a comparison with it is false, and then x != x says whose it is. */
TH_INLINE double th_max_f64(double x, double y) { return ((x >= y) | (x != x)) ? x : y; }

/* @snippet min_f64 needs inline */
TH_INLINE double th_min_f64(double x, double y) { return ((x <= y) | (x != x)) ? x : y; }

/* @snippet divmod_f32 needs inline */
/* The remainder has the divisor's sign, also where it is zero; the quotient is made from it, so
 * that the two always agree. */
TH_INLINE float th_divmod_f32(float x, float y, float *remainder)
{
    float r = fmodf(x, y), q = (x - r) / y, whole;
    int other_side = (r != 0) & ((y < 0) != (r < 0));
    if (y == 0) {
        *remainder = r;
        return x / y;
    }
    q -= other_side ? 1 : 0;
    *remainder = r != 0 ? r + (other_side ? y : 0) : copysignf(0, y);
    whole = floorf(q);
    whole += q - whole > 0.5f ? 1 : 0;
    return q != 0 ? whole : copysignf(0, x / y);
}

/* @snippet floor_div_f32 needs divmod_f32 */
TH_INLINE float th_floor_div_f32(float x, float y) { float r; return th_divmod_f32(x, y, &r); }

/* @snippet mod_f32 needs divmod_f32 */
TH_INLINE float th_mod_f32(float x, float y) { float r; (void)th_divmod_f32(x, y, &r); return r; }

/* @snippet round_away_f32 needs inline */
/* Halves go away from zero. Adding 0.5 first would round the number just below 0.5 up. */
TH_INLINE float th_round_away_f32(float x)
{
    float a = fabsf(x), whole = floorf(a);
    return copysignf(whole + (a - whole >= 0.5f ? 1 : 0), x);
}

/* @snippet max_f32 needs inline */
/* nan wins: a comparison with it is false, and then x != x says whose it is. */
TH_INLINE float th_max_f32(float x, float y) { return ((x >= y) | (x != x)) ? x : y; }

/* @snippet min_f32 needs inline */
TH_INLINE float th_min_f32(float x, float y) { return ((x <= y) | (x != x)) ? x : y; }
