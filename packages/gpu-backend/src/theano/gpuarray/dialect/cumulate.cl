/* The sums or products of the elements up to each place of a line, along some of AXES axes.
 *
 * A group of 256 work-items computes some lines, each by a power of two of lanes: as many neighbours at once as there are
 * lanes, on top of what came before. Where lines are few and long each is cut into parts: `totals` leaves that of each part,
 * so that all parts may begin at the same time.
 */
typedef struct {
    int64_t at[3], lines, n, lanes, parts, neighbours, nkept, nterms;
    int64_t kept[AXES], terms[AXES], step[2][2][AXES]; /* strides in bytes, of the input and the result, of both kinds of axes */
} cumulate_args;

#define BEGIN                                                                         \
    LOCAL COMPUTE shared[256];                                                        \
    const int lanes = (int)a.lanes, per_group = 256 / lanes, me = LOCAL_ID();         \
    const int lane = a.neighbours ? me % lanes : me / per_group;                      \
    const int which = a.neighbours ? me / lanes : me % per_group;                     \
    const int apart = a.neighbours ? 1 : per_group;                                   \
    const int64_t group = GROUP_ID() / a.parts, part = GROUP_ID() - group * a.parts;  \
    const int64_t line = group * per_group + which, length = (a.n - 1) / a.parts + 1; \
    const int64_t first = part * length, end = first + length < a.n ? first + length : a.n;

#define TERM(t) LOAD(*(GLOBAL const NUMBER *)(p0 + from + th_offset(a.nterms, a.terms, a.step[0][1], t)))

/* p0: x, p1: the result, p2: the totals of all parts of all lines */
KERNEL void totals(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS cumulate_args a)
{
    BEGIN
    COMPUTE total = NONE;
    if (line < a.lines) {
        const int64_t from = a.at[0] + th_offset(a.nkept, a.kept, a.step[0][0], line);
        for (int64_t t = first + lane; t < end; t += lanes)
            total = JOIN(total, TERM(t));
    }
    shared[me] = total;
    for (int half_of = lanes / 2; half_of > 0; half_of /= 2) {
        BARRIER();
        if (lane < half_of)
            shared[me] = JOIN(shared[me], shared[me + half_of * apart]);
    }
    if (lane == 0 && line < a.lines)
        *(GLOBAL COMPUTE *)(p2 + a.at[2] + 8 * (line * a.parts + part)) = shared[me];
    (void)p1;
}

/* the same; there are totals where there are parts */
KERNEL void cumulated(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS cumulate_args a)
{
    BEGIN
    const int there = line < a.lines;
    const int64_t from = a.at[0] + (there ? th_offset(a.nkept, a.kept, a.step[0][0], line) : 0);
    const int64_t to = a.at[1] + (there ? th_offset(a.nkept, a.kept, a.step[1][0], line) : 0);
    COMPUTE before = NONE;
    for (int64_t k = 0; there && k < part; ++k)
        before = JOIN(before, *(GLOBAL const COMPUTE *)(p2 + a.at[2] + 8 * (line * a.parts + k)));
    for (int64_t next = first; next < end; next += lanes) {
        const int64_t t = next + lane;
        shared[me] = there && t < end ? TERM(t) : NONE;
        for (int back = 1; back < lanes; back *= 2) {
            BARRIER();
            const COMPUTE other = lane >= back ? shared[me - back * apart] : NONE;
            BARRIER();
            shared[me] = JOIN(other, shared[me]);
        }
        BARRIER();
        if (there && t < end)
            *(GLOBAL NUMBER *)(p1 + to + th_offset(a.nterms, a.terms, a.step[1][1], t)) = STORE(JOIN(before, shared[me]));
        before = JOIN(before, shared[me + (lanes - 1 - lane) * apart]);
        BARRIER();
    }
}
