/* Where the largest element is (or the smallest, SMALLEST), along some of AXES axes; the first one of several. Not-a-number
 * is larger, and smaller, than any number. Launched as reductions are (kernels/c/reduce.c). */
enum { MANY = 8, TERMS = AXES < 2 ? 2 : AXES }; /* elements that are read before they are compared; of tables */

typedef struct {
    int64_t at[2 + OUTPUTS], n, count, lanes, parts, neighbours, packed, nkept, nterms;
    int64_t kept[AXES], terms[TERMS], in[1][2][TERMS], out[OUTPUTS][AXES];
} terms_args;

typedef struct {
    int64_t at[1 + OUTPUTS], n, lanes, parts, nkept, kept[AXES], out[OUTPUTS][AXES];
} finish_args;

typedef struct ALIGNED(16) {
    COMPUTE value;
    int64_t place; /* below 0: nothing was looked at */
} best;

/* Choices between values, since branches would keep the loads of other elements waiting. */
TH_INLINE best better(const best x, const best y)
{
    const int x_is_none = x.value != x.value, y_is_none = y.value != y.value, first = x.place < y.place;
    const int wins = SMALLEST ? x.value < y.value : x.value > y.value;
    const int is_x = x_is_none || y_is_none ? x_is_none && (!y_is_none || first) : x.value == y.value ? first : wins;
    const int chosen = y.place < 0 || (x.place >= 0 && is_x);
    best z;
    z.value = chosen ? x.value : y.value;
    z.place = chosen ? x.place : y.place;
    return z;
}

TH_INLINE best one(const COMPUTE value, const int64_t place)
{
    best made;
    made.value = value;
    made.place = place;
    return made;
}

/* The best of the lanes of each element becomes that of the first one. */
#define TAKE_BEST(apart)                                                                 \
    shared[me] = mine;                                                                   \
    for (int half_of = lanes / 2; half_of > 0; half_of /= 2) {                           \
        BARRIER();                                                                       \
        if (lane < half_of)                                                              \
            shared[me] = mine = better(mine, shared[me + half_of * (apart)]);            \
    }

#if OUTPUTS == 2
#define RESULTS GLOBAL char *p1, GLOBAL char *p2
#define WRITE(mine, element, a)                                                          \
    *(GLOBAL NUMBER *)(p1 + (a).at[FIRST] + place_of(element, (a).nkept, (a).kept, (a).out[0])) = STORE((mine).value); \
    *(GLOBAL int64_t *)(p2 + (a).at[FIRST + 1] + place_of(element, (a).nkept, (a).kept, (a).out[1])) = (mine).place;
#else
#define RESULTS GLOBAL char *p1
#define WRITE(mine, element, a)                                                          \
    *(GLOBAL int64_t *)(p1 + (a).at[FIRST] + place_of(element, (a).nkept, (a).kept, (a).out[0])) = (mine).place;
#endif
#define FIRST 1 /* of the results among the operands */

/* Where an element is, by the lengths and strides of some axes. */
TH_INLINE int64_t place_of(const int64_t element, const int64_t axes, const int64_t *length, const int64_t *stride)
{
    int64_t left = element, at = 0;
    for (int d = (int)axes - 1; d >= 0; --d) {
        const int64_t rest = d ? th_quotient(left, length[d]) : 0;
        at += (left - rest * length[d]) * stride[d];
        left = rest;
    }
    return at;
}

KERNEL void terms(GLOBAL char *p0, RESULTS, GLOBAL char *last, ARGUMENTS terms_args a)
{
    LOCAL best shared[256];
    const int lanes = (int)a.lanes, per_group = 256 / lanes, me = LOCAL_ID();
    const int lane = a.neighbours ? me % lanes : me / per_group, which = a.neighbours ? me / lanes : me % per_group;
    const int64_t group = GROUP_ID() / a.parts, part = GROUP_ID() - group * a.parts, step = lanes * a.parts;
    const int64_t element = group * per_group + which;
    best mine = one(0, -1);
    if (element < a.n) {
        GLOBAL const char *from = p0 + a.at[0] + place_of(element, a.nkept, a.kept, a.in[0][0]);
        if (a.nterms < 2 && a.count <= 1 << 30) {
            const int64_t next = step * a.in[0][1][0];
            int64_t t = part * lanes + lane, at = t * a.in[0][1][0];
            for (int left = (int)((a.count - t + step - 1) / step); left > 0; left -= MANY) {
                NUMBER read[MANY];
                UNROLL
                for (int e = 0; e < MANY; ++e, at += next) /* past the last one, the first */
                    read[e] = *(GLOBAL const NUMBER *)(from + (e < left ? at : 0));
                UNROLL
                for (int e = 0; e < MANY; ++e, t += step) { /* a later one wins only if it is better */
                    const COMPUTE x = LOAD(read[e]);
                    const int wins = SMALLEST ? x < mine.value : x > mine.value;
                    const int taken = e < left && (mine.place < 0 || wins || (x != x && mine.value == mine.value));
                    mine.value = taken ? x : mine.value;
                    mine.place = taken ? t : mine.place;
                }
            }
        } else {
            for (int64_t t = part * lanes + lane; t < a.count; t += step)
                mine = better(mine, one(LOAD(*(GLOBAL const NUMBER *)(from + place_of(t, a.nterms, a.terms, a.in[0][1]))), t));
        }
    }
    TAKE_BEST(a.neighbours ? 1 : per_group)
    if (lane == 0 && element < a.n) {
        if (a.parts == 1) {
            WRITE(mine, element, a)
        } else {
            *(GLOBAL best *)(last + a.at[1 + OUTPUTS] + (part * a.n + element) * (int64_t)sizeof mine) = mine;
        }
    }
}

KERNEL void finish(GLOBAL char *p0, RESULTS, ARGUMENTS finish_args a)
{
    LOCAL best shared[256];
    const int lanes = (int)a.lanes, per_group = 256 / lanes, me = LOCAL_ID(), lane = me / per_group, which = me % per_group;
    const int64_t element = GROUP_ID() * per_group + which;
    best mine = one(0, -1);
    for (int64_t part = lane; element < a.n && part < a.parts; part += lanes)
        mine = better(mine, *(GLOBAL const best *)(p0 + a.at[0] + (part * a.n + element) * (int64_t)sizeof mine));
    TAKE_BEST(per_group)
    if (lane == 0 && element < a.n) {
        WRITE(mine, element, a)
    }
}
