/* The sums or products of the elements up to each place of a line, along some of AXES axes.
 *
 * A group of 256 work-items computes some lines, each by a power of two of lanes, in steps of `items` elements for each lane, on
 * top of what came before. What a step reads goes through local memory: work-items that follow each other read and write what
 * is close in memory, of one line or of several, but each takes elements together that follow each other in one line. Where
 * lines are few and long each is cut into parts of `length` elements, some steps: `totals` leaves that of each part, so that
 * all parts may begin at the same time.
 */
enum {
    ITEMS = sizeof(COMPUTE) > 4 ? 8 : 16, /* of a lane, at most: kernels/c/sort_cumulate.c knows it, too */
    ROW = 256 + 128 / ITEMS + 1           /* of local memory, with gaps, so that rows and columns are in different banks */
};
#define PLACE(row, column) ((row) * ROW + (column) + (int)((uint32_t)(column) / (2 * ITEMS)))

typedef struct {
    int64_t at[3], lines, n, lanes, items, parts, length, neighbours, nkept, nterms;
    int64_t kept[AXES], terms[AXES], step[2][2][AXES]; /* strides in bytes, of the input and the result, of both kinds of axes */
} cumulate_args;

/* `line` and `lane`: those whose elements a work-item reads and writes; `own_line` and `own`: those that it computes. */
#define BEGIN                                                                                       \
    LOCAL COMPUTE shared[512];                                                                      \
    const int lanes = (int)a.lanes, items = (int)a.items, per_group = 256 / lanes, me = LOCAL_ID(); \
    const int lane = a.neighbours ? me % lanes : me / per_group, own = me % lanes;                  \
    const int which = a.neighbours ? me / lanes : me % per_group, step = lanes * items;             \
    const int64_t group = th_quotient(GROUP_ID(), a.parts), part = GROUP_ID() - group * a.parts;    \
    const int64_t line = group * per_group + which, own_line = group * per_group + me / lanes;      \
    const int64_t first = part * a.length, end = first + a.length < a.n ? first + a.length : a.n;   \
    const int there = line < a.lines;

/* What the lanes of each line have becomes that of the first one. */
#define JOIN_LANES                                                                    \
    for (int half_of = lanes / 2; half_of > 0; half_of /= 2) {                        \
        BARRIER();                                                                    \
        if (own < half_of)                                                            \
            shared[me] = JOIN(shared[me], shared[me + half_of]);                      \
    }

#define TERM(p) ((COMPUTE)LOAD(*(GLOBAL const NUMBER *)(p)))
/* Where term `t` of a line of several axes is, in the input or the result. */
#define AT(k, t) th_offset(a.nterms, a.terms, a.step[k][1], t)

/* The elements e * lanes + lane of a step that has `count`: all are asked for before the first is waited for. */
#define READ(read, from, next, count)                                                 \
    GLOBAL const char *at = from + ((next) + lane) * a.step[0][1][0];                 \
    const int64_t hop = lanes * a.step[0][1][0];                                      \
    UNROLL                                                                            \
    for (int e = 0; e < ITEMS; ++e, at += hop)                                        \
        read[e] = e * lanes + lane < count ? TERM(at) : NONE;

/* p0: x, p1: the result, p2: the totals of all parts of all lines; nobody asks for that of the last part */
KERNEL void RESIDENT(4) totals(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS cumulate_args a)
{
    BEGIN
    COMPUTE total = NONE;
    if (there && part + 1 < a.parts) {
        GLOBAL const char *from = p0 + a.at[0] + th_offset(a.nkept, a.kept, a.step[0][0], line);
        /* From its end: a cache has the beginning of each part then, which the other function reads first. */
        for (int64_t next = end - step; next >= first; next -= step) {
            COMPUTE sum = NONE;
            if (a.nterms < 2) {
                COMPUTE read[ITEMS];
                READ(read, from, next, step)
                UNROLL
                for (int e = 0; e < ITEMS; ++e)
                    sum = JOIN(sum, read[e]);
            } else {
                for (int t = lane; t < step; t += lanes)
                    sum = JOIN(sum, TERM(from + AT(0, next + t)));
            }
            total = JOIN(sum, total);
        }
    }
    shared[which * lanes + lane] = total;
    JOIN_LANES
    if (own == 0 && own_line < a.lines)
        *(GLOBAL COMPUTE *)(p2 + a.at[2] + 8 * (own_line * a.parts + part)) = shared[me];
    (void)p1;
}

/* the same; there are totals where there are parts */
KERNEL void RESIDENT(4) cumulated(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS cumulate_args a)
{
    BEGIN
    LOCAL COMPUTE tile[ITEMS * ROW];
    const int slot = PLACE(0, which * lanes + lane), begin = own * items / lanes, rest = own * items - begin * lanes;
    const int own_at = PLACE(begin, me - own + rest), in_a_row = items == ITEMS && lanes >= ITEMS;
    GLOBAL const char *from = p0 + a.at[0] + (there ? th_offset(a.nkept, a.kept, a.step[0][0], line) : 0);
    GLOBAL char *to = p1 + a.at[1] + (there ? th_offset(a.nkept, a.kept, a.step[1][0], line) : 0);
    COMPUTE before = NONE;
    if (part > 0) {
        for (int64_t k = own; own_line < a.lines && k < part; k += lanes)
            before = JOIN(before, *(GLOBAL const COMPUTE *)(p2 + a.at[2] + 8 * (own_line * a.parts + k)));
        shared[me] = before;
        JOIN_LANES
        BARRIER();
        before = shared[me - own];
    }
    for (int64_t next = first; next < end; next += step) {
        const int count = there ? (int)(end - next < step ? end - next : step) : 0;
        COMPUTE some[ITEMS], total = NONE, earlier = before;
        if (a.nterms < 2) {
            READ(some, from, next, count)
            UNROLL
            for (int e = 0; e < ITEMS; ++e)
                tile[slot + e * ROW] = some[e];
        } else {
            for (int e = 0, t = lane; e < items; ++e, t += lanes)
                tile[slot + e * ROW] = t < count ? TERM(from + AT(0, next + t)) : NONE;
        }
        BARRIER();
        if (in_a_row) {
            UNROLL
            for (int e = 0; e < ITEMS; ++e)
                some[e] = total = JOIN(total, tile[own_at + e]);
        } else {
            for (int e = 0, row = begin, column = rest; e < items; ++e) {
                tile[PLACE(row, me - own + column)] = total = JOIN(total, tile[PLACE(row, me - own + column)]);
                if (++column == lanes) {
                    column = 0;
                    ++row;
                }
            }
        }
        /* Each round reads one half of `shared` and writes the other one. */
        int half_at = 0;
        shared[me] = total;
        for (int back = 1; back < lanes; back *= 2, half_at ^= 256) {
            BARRIER();
            if (own >= back)
                total = JOIN(shared[half_at + me - back], total);
            shared[(half_at ^ 256) + me] = total;
        }
        BARRIER();
        if (own > 0)
            earlier = JOIN(before, shared[half_at + me - 1]);
        before = JOIN(before, shared[half_at + me - own + lanes - 1]);
        if (in_a_row) {
            UNROLL
            for (int e = 0; e < ITEMS; ++e)
                tile[own_at + e] = JOIN(earlier, some[e]);
        } else {
            for (int e = 0, row = begin, column = rest; e < items; ++e) {
                tile[PLACE(row, me - own + column)] = JOIN(earlier, tile[PLACE(row, me - own + column)]);
                if (++column == lanes) {
                    column = 0;
                    ++row;
                }
            }
        }
        BARRIER();
        if (a.nterms < 2) {
            GLOBAL char *at = to + (next + lane) * a.step[1][1][0];
            const int64_t hop = lanes * a.step[1][1][0];
            UNROLL
            for (int e = 0; e < ITEMS; ++e, at += hop)
                if (e * lanes + lane < count)
                    *(GLOBAL NUMBER *)at = STORE(tile[slot + e * ROW]);
        } else {
            for (int e = 0, t = lane; t < count; ++e, t += lanes)
                *(GLOBAL NUMBER *)(to + AT(1, next + t)) = STORE(tile[slot + e * ROW]);
        }
    }
}
