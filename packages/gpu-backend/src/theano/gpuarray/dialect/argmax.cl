/* Where the largest element is (or the smallest, SMALLEST), along some of AXES axes; the first one of several. Not-a-number
 * is larger, and smaller, than any number. Launched as reductions are (kernels/c/reduce.c). */
typedef struct {
    int64_t at[1 + OUTPUTS], n, count, lanes, parts, neighbours, nkept, nterms;
    int64_t kept[AXES], terms[AXES], in[1][2][AXES], out[OUTPUTS][AXES];
} whole_args;

typedef struct {
    COMPUTE value;
    int64_t place; /* below 0: nothing was looked at */
} best;

TH_INLINE best better(const best x, const best y)
{
    if (x.place < 0 || y.place < 0)
        return x.place < 0 ? y : x;
    const int x_is_none = x.value != x.value, y_is_none = y.value != y.value;
    const int first = x.place < y.place;
    if (x_is_none || y_is_none)
        return x_is_none && (!y_is_none || first) ? x : y;
    if (x.value == y.value)
        return first ? x : y;
    return SMALLEST ? (x.value < y.value ? x : y) : (x.value > y.value ? x : y);
}

KERNEL void whole(GLOBAL char *p0, GLOBAL char *p1,
#if OUTPUTS == 2
                  GLOBAL char *p2,
#endif
                  ARGUMENTS whole_args a)
{
    LOCAL best shared[256];
    const int lanes = (int)a.lanes, per_group = 256 / lanes, me = LOCAL_ID();
    const int lane = a.neighbours ? me % lanes : me / per_group, which = a.neighbours ? me / lanes : me % per_group;
    const int64_t element = GROUP_ID() * per_group + which;
    int64_t from = a.at[0], left = element;
    best mine;
    mine.value = 0;
    mine.place = -1;
    if (element < a.n) {
        for (int d = (int)a.nkept - 1; d >= 0; --d) {
            const int64_t rest = d ? left / a.kept[d] : 0;
            from += (left - rest * a.kept[d]) * a.in[0][0][d];
            left = rest;
        }
        for (int64_t t = lane; t < a.count; t += lanes) {
            int64_t at = from;
            left = t;
            for (int d = (int)a.nterms - 1; d >= 0; --d) {
                const int64_t rest = d ? left / a.terms[d] : 0;
                at += (left - rest * a.terms[d]) * a.in[0][1][d];
                left = rest;
            }
            best next;
            next.value = LOAD(*(GLOBAL const NUMBER *)(p0 + at));
            next.place = t;
            mine = better(mine, next);
        }
    }
    shared[me] = mine;
    for (int half_of = lanes / 2; half_of > 0; half_of /= 2) {
        BARRIER();
        if (lane < half_of)
            shared[me] = mine = better(mine, shared[me + half_of * (a.neighbours ? 1 : per_group)]);
    }
    if (lane == 0 && element < a.n) {
        int64_t to[OUTPUTS];
        for (int k = 0; k < OUTPUTS; ++k) {
            to[k] = a.at[1 + k];
            left = element;
            for (int d = (int)a.nkept - 1; d >= 0; --d) {
                const int64_t rest = d ? left / a.kept[d] : 0;
                to[k] += (left - rest * a.kept[d]) * a.out[k][d];
                left = rest;
            }
        }
#if OUTPUTS == 2
        *(GLOBAL NUMBER *)(p1 + to[0]) = STORE(mine.value);
        *(GLOBAL int64_t *)(p2 + to[1]) = mine.place;
#else
        *(GLOBAL int64_t *)(p1 + to[0]) = mine.place;
#endif
    }
}
