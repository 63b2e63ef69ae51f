/* Integer functions that C leaves undefined somewhere: division by zero gives 0, and the
 * smallest number divided by -1 wraps, as NumPy has it. One macro body serves all widths;
 * TYPE is the element type, UNSIGNED the type in which it wraps. */

/* @snippet floor_div needs inline */
#define TH_SIGNED_FLOOR_DIV(NAME, TYPE, UNSIGNED)                                         \
    TH_INLINE TYPE NAME(TYPE x, TYPE y)                                                   \
    {                                                                                     \
        int negates = y == -1;                                                            \
        TYPE divisor = (y == 0 || negates) ? 1 : y;                                       \
        TYPE q = (TYPE)(x / divisor);                                                     \
        q = (TYPE)(q - ((x % divisor != 0) & ((x < 0) != (divisor < 0))));                \
        q = negates ? (TYPE)(0u - (UNSIGNED)x) : q;                                       \
        return y == 0 ? 0 : q;                                                            \
    }
#define TH_UNSIGNED_FLOOR_DIV(NAME, TYPE)                                                 \
    TH_INLINE TYPE NAME(TYPE x, TYPE y) { return y == 0 ? 0 : (TYPE)(x / (y == 0 ? 1 : y)); }

/* @snippet mod needs inline */
/* The sign of the result is that of the divisor. */
#define TH_SIGNED_MOD(NAME, TYPE)                                                         \
    TH_INLINE TYPE NAME(TYPE x, TYPE y)                                                   \
    {                                                                                     \
        TYPE divisor = (y == 0 || y == -1) ? 1 : y;                                       \
        TYPE r = (TYPE)(x % divisor);                                                     \
        return (TYPE)(r + (((r != 0) & ((r < 0) != (divisor < 0))) ? divisor : 0));       \
    }
#define TH_UNSIGNED_MOD(NAME, TYPE)                                                       \
    TH_INLINE TYPE NAME(TYPE x, TYPE y) { return y == 0 ? 0 : (TYPE)(x % (y == 0 ? 1 : y)); }

/* @snippet pow needs inline */
/* By squaring, wrapping. A negative exponent truncates the true value: 0 unless x is 1 or -1. */
#define TH_SIGNED_POW(NAME, TYPE, UNSIGNED)                                               \
    TH_INLINE TYPE NAME(TYPE x, TYPE y)                                                   \
    {                                                                                     \
        UNSIGNED result = 1u, base = (UNSIGNED)x, n = (UNSIGNED)y;                        \
        if (y < 0)                                                                        \
            return (TYPE)(x == 1 ? 1 : x == -1 ? ((y & 1) ? -1 : 1) : 0);                 \
        for (; n != 0; n >>= 1, base *= base)                                             \
            result *= (n & 1u) ? base : 1u;                                               \
        return (TYPE)result;                                                              \
    }
#define TH_UNSIGNED_POW(NAME, TYPE, UNSIGNED)                                             \
    TH_INLINE TYPE NAME(TYPE x, TYPE y)                                                   \
    {                                                                                     \
        UNSIGNED result = 1u, base = (UNSIGNED)x, n = (UNSIGNED)y;                        \
        for (; n != 0; n >>= 1, base *= base)                                             \
            result *= (n & 1u) ? base : 1u;                                               \
        return (TYPE)result;                                                              \
    }

/* @snippet floor_div_i8 needs floor_div */
TH_SIGNED_FLOOR_DIV(th_floor_div_i8, int8_t, uint32_t)

/* @snippet mod_i8 needs mod */
TH_SIGNED_MOD(th_mod_i8, int8_t)

/* @snippet pow_i8 needs pow */
TH_SIGNED_POW(th_pow_i8, int8_t, uint32_t)

/* @snippet floor_div_i16 needs floor_div */
TH_SIGNED_FLOOR_DIV(th_floor_div_i16, int16_t, uint32_t)

/* @snippet mod_i16 needs mod */
TH_SIGNED_MOD(th_mod_i16, int16_t)

/* @snippet pow_i16 needs pow */
TH_SIGNED_POW(th_pow_i16, int16_t, uint32_t)

/* @snippet floor_div_i32 needs floor_div */
TH_SIGNED_FLOOR_DIV(th_floor_div_i32, int32_t, uint32_t)

/* @snippet mod_i32 needs mod */
TH_SIGNED_MOD(th_mod_i32, int32_t)

/* @snippet pow_i32 needs pow */
TH_SIGNED_POW(th_pow_i32, int32_t, uint32_t)

/* @snippet floor_div_i64 needs floor_div */
TH_SIGNED_FLOOR_DIV(th_floor_div_i64, int64_t, uint64_t)

/* @snippet mod_i64 needs mod */
TH_SIGNED_MOD(th_mod_i64, int64_t)

/* @snippet pow_i64 needs pow */
TH_SIGNED_POW(th_pow_i64, int64_t, uint64_t)

/* @snippet floor_div_u8 needs floor_div */
TH_UNSIGNED_FLOOR_DIV(th_floor_div_u8, uint8_t)

/* @snippet mod_u8 needs mod */
TH_UNSIGNED_MOD(th_mod_u8, uint8_t)

/* @snippet pow_u8 needs pow */
TH_UNSIGNED_POW(th_pow_u8, uint8_t, uint32_t)

/* @snippet floor_div_u16 needs floor_div */
TH_UNSIGNED_FLOOR_DIV(th_floor_div_u16, uint16_t)

/* @snippet mod_u16 needs mod */
TH_UNSIGNED_MOD(th_mod_u16, uint16_t)

/* @snippet pow_u16 needs pow */
TH_UNSIGNED_POW(th_pow_u16, uint16_t, uint32_t)

/* @snippet floor_div_u32 needs floor_div */
TH_UNSIGNED_FLOOR_DIV(th_floor_div_u32, uint32_t)

/* @snippet mod_u32 needs mod */
TH_UNSIGNED_MOD(th_mod_u32, uint32_t)

/* @snippet pow_u32 needs pow */
TH_UNSIGNED_POW(th_pow_u32, uint32_t, uint32_t)

/* @snippet floor_div_u64 needs floor_div */
TH_UNSIGNED_FLOOR_DIV(th_floor_div_u64, uint64_t)

/* @snippet mod_u64 needs mod */
TH_UNSIGNED_MOD(th_mod_u64, uint64_t)

/* @snippet pow_u64 needs pow */
TH_UNSIGNED_POW(th_pow_u64, uint64_t, uint64_t)
