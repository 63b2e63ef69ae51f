/* Where values go into a sorted vector: a work-item for each. Not-a-number is larger than all numbers. */
enum { AXES = 16 };

typedef struct {
    int64_t at[3], n, count, right, step, axes;
    int64_t shape[AXES], strides[AXES]; /* of the values */
} search_args;

/* p0: the sorted vector, p1: values, p2: places, in one piece */
KERNEL void search(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS search_args a)
{
    const int64_t id = GLOBAL_ID();
    if (id >= a.count)
        return;
    const int64_t at = a.at[1] + th_offset(a.axes, a.shape, a.strides, id);
    const COMMON value = V_LOAD(*(GLOBAL const V *)(p1 + at));
    int64_t low = 0, high = a.n;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        const COMMON x = X_LOAD(*(GLOBAL const X *)(p0 + a.at[0] + middle * a.step));
        if (a.right ? !LESS(value, x) : LESS(x, value))
            low = middle + 1;
        else
            high = middle;
    }
    ((GLOBAL int64_t *)(p2 + a.at[2]))[id] = low;
}
