/* How often each whole number occurs among sorted ones: a work-item for each, which finds where those like it begin and end;
 * or the sum of their weights, in the order in which these came. */
typedef struct {
    int64_t at[4], n, bins, weighted, step;
} count_args;

TH_INLINE int64_t those_below(GLOBAL const NUMBERS *sorted, int64_t n, int64_t bound)
{
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if ((int64_t)sorted[middle] < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* p0: sorted numbers, p1: their places, p2: weights, p3: the result, in one piece */
KERNEL void count(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, ARGUMENTS count_args a)
{
    const int64_t bin = GLOBAL_ID();
    if (bin >= a.bins)
        return;
    GLOBAL const NUMBERS *sorted = (GLOBAL const NUMBERS *)(p0 + a.at[0]);
    const int64_t begin = those_below(sorted, a.n, bin), end = those_below(sorted, a.n, bin + 1);
    GLOBAL NUMBER *to = (GLOBAL NUMBER *)(p3 + a.at[3]) + bin;
    if (!a.weighted) {
        *to = (NUMBER)(end - begin);
        return;
    }
    NUMBER sum = STORE((COMPUTE)0);
    for (int64_t k = begin; k < end; ++k) {
        const int64_t place = ((GLOBAL const int64_t *)(p1 + a.at[1]))[k];
        sum = STORE(LOAD(sum) + LOAD(*(GLOBAL const NUMBER *)(p2 + a.at[2] + place * a.step)));
    }
    *to = sum;
}
