/* Where the largest element is (or the smallest, SMALLEST), along some of AXES axes; the first one of several. Not-a-number
 * is larger, and smaller, than any number. `reduce.cl` follows. */
typedef struct ALIGNED(16) {
    COMPUTE value;
    int64_t place; /* below 0: nothing was looked at */
} state;

TH_INLINE state nothing(void)
{
    state none;
    none.value = 0;
    none.place = -1;
    return none;
}

/* Not-a-number is better than numbers, and as good as itself. */
#define IS_BETTER(x, y) (!(SMALLEST ? (x) >= (y) : (x) <= (y)) && (y) == (y))

/* Choices between values, since branches would keep the loads of other elements waiting. */
TH_INLINE state joined(const state x, const state y)
{
    const int is_x = IS_BETTER(x.value, y.value) || (x.place < y.place && !IS_BETTER(y.value, x.value));
    const int chosen = y.place < 0 || (x.place >= 0 && is_x);
    state z;
    z.value = chosen ? x.value : y.value;
    z.place = chosen ? x.place : y.place;
    return z;
}

/* Of what was read, the first place of the best; a later one wins only if it is better. */
#define TAKE(mine, read, few, number)                                                    \
    COMPUTE best = LOAD(read[0]);                                                        \
    int e = 0;                                                                           \
    UNROLL                                                                               \
    for (int next = 1; next < MANY; ++next) {                                            \
        const COMPUTE x = LOAD(read[next]);                                              \
        const int wins = next < (few) && IS_BETTER(x, best);                             \
        best = wins ? x : best;                                                          \
        e = wins ? next : e;                                                             \
    }                                                                                    \
    const int taken = mine.place < 0 || IS_BETTER(best, mine.value);                     \
    mine.value = taken ? best : mine.value;                                              \
    mine.place = taken ? (number) : mine.place;

#if OUTPUTS == 2
#define RESULTS GLOBAL char *p1, GLOBAL char *p2
#define WRITE(mine, element, a)                                                          \
    *(GLOBAL NUMBER *)(p1 + (a).at[1] + th_offset((a).nkept, (a).kept, (a).out[0], element)) = STORE((mine).value); \
    *(GLOBAL int64_t *)(p2 + (a).at[2] + th_offset((a).nkept, (a).kept, (a).out[1], element)) = (mine).place;
#else
#define RESULTS GLOBAL char *p1
#define WRITE(mine, element, a)                                                          \
    *(GLOBAL int64_t *)(p1 + (a).at[1] + th_offset((a).nkept, (a).kept, (a).out[0], element)) = (mine).place;
#endif
