/* The logarithm of sums of exponentials along some of AXES axes: the largest number so far, and the sum of what the others are
 * beside it, so that nothing overflows. `reduce.cl` follows.
 *
 * POWER is the exponential of what an element is beside the largest, 0 or less. In float it is a power of two by the device's own
 * instruction: its exponent is off by half a unit in the last place, as the difference is, and so is an element that is as far
 * from 0; and what is too small for a normal number is 0, since the sum is 1 or more. */
typedef struct ALIGNED(16) {
    COMPUTE largest;
    double sum;
} state;

TH_INLINE state nothing(void)
{
    state none;
    none.largest = -INFINITY;
    none.sum = 0;
    return none;
}

/* Infinities are not subtracted: their exponentials are 0, or infinite. */
TH_INLINE COMPUTE shift_of(const COMPUTE largest) { return largest - largest == 0 ? largest : (COMPUTE)0; }

/* A sum beside the largest number so far, as one beside another that is at least as large. */
TH_INLINE double beside(const state x, const COMPUTE largest)
{
    return x.largest == largest ? x.sum : x.largest == -INFINITY ? x.sum * 0 : x.sum * (double)POWER(x.largest - largest);
}

TH_INLINE state joined(const state x, const state y)
{
    state z;
    z.largest = y.largest > x.largest ? y.largest : x.largest;
    z.sum = beside(x, z.largest) + beside(y, z.largest);
    return z;
}

#define TAKE(mine, read, few, number)                                                    \
    state next = mine;                                                                   \
    UNROLL                                                                               \
    for (int e = 0; e < MANY; ++e)                                                       \
        next.largest = e < (few) && LOAD(read[e]) > next.largest ? LOAD(read[e]) : next.largest; \
    COMPUTE powers = 0; /* of few: conversions to double take long */                    \
    UNROLL                                                                               \
    for (int e = 0; e < MANY; ++e)                                                       \
        powers += e < (few) ? POWER(LOAD(read[e]) - shift_of(next.largest)) : (COMPUTE)0; \
    next.sum = beside(mine, next.largest) + (double)powers;                              \
    mine = next;

#define RESULTS GLOBAL char *p1
#define WRITE(mine, element, a)                                                          \
    *(GLOBAL NUMBER *)(p1 + (a).at[1] + th_offset((a).nkept, (a).kept, (a).out[0], element)) = \
        STORE(LOG((COMPUTE)(mine).sum) + shift_of((mine).largest));
