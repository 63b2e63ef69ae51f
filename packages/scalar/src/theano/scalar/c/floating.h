/* Functions of floating numbers that are neither in <math.h> nor of one line, with the results
 * that Python and NumPy give at zeros, infinities and nan. */

/* @where N is       64         32
 * MOST_QUOTIENT     0x1p49     0x1p20     a quotient up to this is a whole number exactly
 */

/* @snippet divmod_fN needs fma rare */
/* The remainder has the divisor's sign, also where it is zero; the quotient is made from it, so
 * that the two always agree. */
TH_INLINE floatN th_divmod_slow_fN(floatN x, floatN y, floatN *remainder)
{
    floatN r = fmod(x, y), q = (x - r) / y, whole;
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
TH_INLINE floatN th_divmod_fN(floatN x, floatN y, floatN *remainder)
{
    floatN exact = x / y, q = __builtin_floor(exact), r = q == 0 ? x : TH_FMA(-q, y, x);
    int other_side = ((r < 0) & (y > 0)) | ((r > 0) & (y < 0));
    q -= other_side ? 1.0 : 0.0;
    r += other_side ? y : 0.0;
    *remainder = r == 0 ? __builtin_copysign(r, y) : r;
    return y == 0 ? exact : (r == r ? q : r);
}
#define TH_FAR_QUOTIENT_fN(x, y) \
    ((((x) > (y) * MOST_QUOTIENT) & ((x) > (y) * -MOST_QUOTIENT)) | (((x) < (y) * MOST_QUOTIENT) & ((x) < (y) * -MOST_QUOTIENT)))

/* @snippet floor_div_fN needs divmod_fN */
#if TH_FUSED
TH_INLINE floatN th_floor_div_slow_fN(floatN x, floatN y) { floatN r; return th_divmod_slow_fN(x, y, &r); }
TH_RARE_fN(th_floor_div_far_fN, TH_FAR_QUOTIENT_fN, th_floor_div_slow_fN)
TH_INLINE floatN th_floor_div_fN(floatN x, floatN y)
{
    floatN r;
    return th_floor_div_far_fN(x, y, th_divmod_fN(x, y, &r));
}
#else
TH_INLINE floatN th_floor_div_fN(floatN x, floatN y) { floatN r; return th_divmod_slow_fN(x, y, &r); }
#endif

/* @snippet mod_fN needs divmod_fN */
#if TH_FUSED
TH_INLINE floatN th_mod_slow_fN(floatN x, floatN y) { floatN r; (void)th_divmod_slow_fN(x, y, &r); return r; }
TH_RARE_fN(th_mod_far_fN, TH_FAR_QUOTIENT_fN, th_mod_slow_fN)
TH_INLINE floatN th_mod_fN(floatN x, floatN y)
{
    floatN r;
    (void)th_divmod_fN(x, y, &r);
    return th_mod_far_fN(x, y, r);
}
#else
TH_INLINE floatN th_mod_fN(floatN x, floatN y) { floatN r; (void)th_divmod_slow_fN(x, y, &r); return r; }
#endif

/* @snippet round_away_fN needs inline */
/* Halves go away from zero. Adding 0.5 first would round the number just below 0.5 up. */
TH_INLINE floatN th_round_away_fN(floatN x)
{
    floatN a = fabs(x), whole = floor(a);
    return copysign(whole + (a - whole >= 0.5 ? 1 : 0), x);
}

/* @snippet max_fN needs inline */
/* nan wins: a comparison with it gives y, and then x != x says whose it is. So written, this is one instruction and a
 * blend. */
TH_INLINE floatN th_max_fN(floatN x, floatN y) { floatN r = x > y ? x : y; return x != x ? x : r; }

/* @snippet min_fN needs inline */
TH_INLINE floatN th_min_fN(floatN x, floatN y) { floatN r = x < y ? x : y; return x != x ? x : r; }
