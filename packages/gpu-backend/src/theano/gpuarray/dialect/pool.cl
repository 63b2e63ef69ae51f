/* Pooling over windows of the last POOLED axes, and its derivatives; a work-item computes an element of the result.
 *
 * A window has a box of elements, and an element lies in a box of windows: each kernel walks over the one or the other, line
 * by line along the last axis. Nothing is added to what another work-item adds to, so results are always the same.
 */
typedef struct {
    int64_t at[4], n, mean, with_padding, nkept;
    th_pool_axis axis[POOLED];
    int64_t step[4][POOLED]; /* strides in bytes */
    int64_t kept[KEPT], kept_step[4][KEPT]; /* of the axes that are not pooled */
} pool_args;

typedef struct {
    int64_t lo[POOLED], hi[POOLED], at[POOLED];
} box;

#define LAST (POOLED - 1)
#define ELEMENT(p, address) (*(GLOBAL NUMBER *)(p + (address)))

/* Element number `left` of a result: where it is along the pooled axes, and where its plane begins in each operand. */
TH_INLINE void find(const pool_args *a, int64_t left, int pools, int64_t *place, int64_t *plane)
{
    for (int d = LAST; d >= 0; --d) {
        const int64_t length = pools ? a->axis[d].windows : a->axis[d].n, rest = left / length;
        place[d] = left - rest * length;
        left = rest;
    }
    for (int k = 0; k < 4; ++k)
        plane[k] = a->at[k];
    for (int d = (int)a->nkept - 1; d >= 0; --d) {
        const int64_t rest = d ? left / a->kept[d] : 0, i = left - rest * a->kept[d];
        for (int k = 0; k < 4; ++k)
            plane[k] += i * a->kept_step[k][d];
        left = rest;
    }
}

/* The elements of a window; 0 if there is none. */
TH_INLINE int elements_of(const pool_args *a, const int64_t *window, box *b)
{
    int some = 1;
    for (int d = 0; d < POOLED; ++d) {
        b->lo[d] = b->at[d] = th_pool_lo(&a->axis[d], window[d]);
        b->hi[d] = th_pool_hi(&a->axis[d], window[d]);
        some &= b->lo[d] < b->hi[d];
    }
    return some;
}

/* The windows that have an element; 0 if there is none. */
TH_INLINE int windows_of(const pool_args *a, const int64_t *element, box *b)
{
    int some = 1;
    for (int d = 0; d < POOLED; ++d) {
        th_pool_around(&a->axis[d], element[d], &b->lo[d], &b->hi[d]);
        b->at[d] = b->lo[d];
        some &= b->lo[d] < b->hi[d];
    }
    return some;
}

/* The next line of a box along the last axis, or 0 behind the last one. */
TH_INLINE int next_line(box *b)
{
    for (int d = LAST - 1; d >= 0; --d) {
        if (++b->at[d] < b->hi[d])
            return 1;
        b->at[d] = b->lo[d];
    }
    return 0;
}

/* Where operand `k` has an index of its pooled axes, from the begin of its plane. */
TH_INLINE int64_t address(const pool_args *a, int k, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < POOLED; ++d)
        at += index[d] * a->step[k][d];
    return at;
}

/* The sum over a window, or its share of one: divided by how many elements it has if means are wanted. */
TH_INLINE COMPUTE divided(const pool_args *a, COMPUTE sum, const int64_t *window, int64_t last)
{
    int64_t count = 1;
    if (!a->mean)
        return sum;
    for (int d = 0; d < POOLED; ++d)
        count *= th_pool_count(&a->axis[d], d < LAST ? window[d] : last, (int)a->with_padding);
    return sum / (COMPUTE)count;
}

/* For each element or window of a box: `u` and `v` are where operands U and V have it, `i` is its index along the last axis. */
#define EACH(U, V)                                                                                             \
    for (int more = some; more; more = next_line(&b))                                                          \
        for (int64_t i = b.lo[LAST], u = plane[U] + address(&a, U, b.at), v = plane[V] + address(&a, V, b.at); \
             i < b.hi[LAST]; ++i, u += a.step[U][LAST], v += a.step[V][LAST])

#define BEGIN(FIND, POOLS)                     \
    const int64_t number = GLOBAL_ID();        \
    if (number >= a.n)                         \
        return;                                \
    int64_t place[POOLED], plane[4];           \
    box b;                                     \
    find(&a, number, POOLS, place, plane);     \
    const int some = FIND(&a, place, &b);

/* p0: x, p1: the result; not-a-number is larger than any number */
KERNEL void pool_max(GLOBAL char *p0, GLOBAL char *p1, ARGUMENTS pool_args a)
{
    BEGIN(elements_of, 1)
    COMPUTE largest = -INFINITY;
    EACH(0, 0) {
        const COMPUTE x = LOAD(ELEMENT(p0, u));
        largest = largest != largest || largest > x ? largest : x;
    }
    ELEMENT(p1, plane[1] + address(&a, 1, place)) = STORE(largest);
}

/* p0: x, p1: the result */
KERNEL void pool_sum(GLOBAL char *p0, GLOBAL char *p1, ARGUMENTS pool_args a)
{
    BEGIN(elements_of, 1)
    COMPUTE sum = 0;
    EACH(0, 0)
        sum += LOAD(ELEMENT(p0, u));
    ELEMENT(p1, plane[1] + address(&a, 1, place)) = STORE(divided(&a, sum, place, place[LAST]));
}

/* p0: x, p1: its largest elements, p2: their gradient, p3: the result */
KERNEL void pool_max_grad(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, ARGUMENTS pool_args a)
{
    BEGIN(windows_of, 0)
    const COMPUTE x = LOAD(ELEMENT(p0, plane[0] + address(&a, 0, place)));
    COMPUTE sum = 0;
    EACH(1, 2) {
        if (LOAD(ELEMENT(p1, u)) == x)
            sum += LOAD(ELEMENT(p2, v));
    }
    ELEMENT(p3, plane[3] + address(&a, 3, place)) = STORE(sum);
}

/* p0: x, p1: its largest elements, p2: what is summed where they are, p3: the result */
KERNEL void pool_max_grad_grad(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, ARGUMENTS pool_args a)
{
    BEGIN(elements_of, 1)
    const COMPUTE largest = LOAD(ELEMENT(p1, plane[1] + address(&a, 1, place)));
    COMPUTE sum = 0;
    EACH(0, 2) {
        if (LOAD(ELEMENT(p0, u)) == largest)
            sum += LOAD(ELEMENT(p2, v));
    }
    ELEMENT(p3, plane[3] + address(&a, 3, place)) = STORE(sum);
}

/* p0: x, of which nothing is read; p1: the gradient of the sums, p2: the result */
KERNEL void pool_sum_grad(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS pool_args a)
{
    BEGIN(windows_of, 0)
    COMPUTE sum = 0;
    EACH(1, 1)
        sum += divided(&a, LOAD(ELEMENT(p1, u)), b.at, i);
    ELEMENT(p2, plane[2] + address(&a, 2, place)) = STORE(sum);
}

/* p0: x, p1: that of which the elements are taken where the first of the largest of x are, p2: the result */
KERNEL void pool_max_direction(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS pool_args a)
{
    BEGIN(elements_of, 1)
    COMPUTE largest = 0, found = 0;
    int begun = 0;
    EACH(0, 1) {
        const COMPUTE x = LOAD(ELEMENT(p0, u));
        if (!begun || x > largest) {
            largest = x;
            found = LOAD(ELEMENT(p1, v));
        }
        begun = 1;
    }
    ELEMENT(p2, plane[2] + address(&a, 2, place)) = STORE(found);
}
