/* Lines in order, stably: blocks of BLOCK elements are ordered in local memory, and then merged, two runs at a time.
 *
 * What is ordered are pairs of a key, a whole number that is ordered as the elements are, and a place, so that one text
 * serves all dtypes; not-a-number is behind all numbers, and zeros of both signs are equal. Where only the first `keep`
 * elements of a line are wanted, no run keeps more. The order of a line from its end, by the opposite keys, is that of
 * the largest first. */
enum { BLOCK = 1024, KEPT_AXES = 16, UNSIGNED = 0, SIGNED = 1, FLOAT = 2 };

typedef struct {
    int64_t at[5], lines, n, keep, bytes, kind, from_end;
    int64_t width;            /* of a line in a block: the next power of 2 */
    int64_t run, pitch, next; /* elements of a line that a run orders, how far runs are apart, and how far they will be */
    int64_t place_bytes;      /* of the places that are wanted; 0: none are */
    int64_t values;           /* whether the elements are wanted */
    int64_t step[3];          /* strides along a line in bytes: of x, of the elements and the places that are wanted */
    int64_t nkept, kept[KEPT_AXES], kept_step[3][KEPT_AXES];
} sort_args;

TH_INLINE int64_t line_at(const sort_args *a, int operand, const int64_t line)
{
    return th_offset(a->nkept, a->kept, a->kept_step[operand], line);
}

TH_INLINE KEY key_of(const sort_args *a, GLOBAL const char *p)
{
    uint64_t u = 0;
    if (a->bytes == 1)
        u = *(GLOBAL const uint8_t *)p;
    else if (a->bytes == 2)
        u = *(GLOBAL const uint16_t *)p;
    else if (a->bytes == 4)
        u = *(GLOBAL const uint32_t *)p;
    else
        u = *(GLOBAL const uint64_t *)p;
    const uint64_t top = (uint64_t)1 << (8 * a->bytes - 1), all = top - 1 + top;
    if (a->kind == SIGNED)
        u ^= top;
    if (a->kind == FLOAT) {
        const uint64_t size = u & (top - 1);
        const uint64_t infinite = a->bytes == 2 ? 0x7c00u : a->bytes == 4 ? 0x7f800000u : UINT64_C(0x7ff0000000000000);
        u = size > infinite ? all : size == 0 ? top : (u & top) ? ~u & all : u | top;
    }
    return (KEY)(a->from_end ? all - u : u);
}

TH_INLINE int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

/* p0: x, p1: keys, p2: places */
KERNEL void sort_blocks(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS sort_args a)
{
    LOCAL KEY keys[BLOCK];
    LOCAL int from[BLOCK];
    const int me = LOCAL_ID(), width = (int)a.width;
    const int64_t runs = (a.n - 1) / a.run + 1, first = GROUP_ID() * (BLOCK / width);
    for (int e = me; e < BLOCK; e += 256) {
        const int64_t number = first + e / width, line = number / runs, i = (number - line * runs) * a.run + e % width;
        keys[e] = (KEY)0 - 1; /* where a line ends: behind all others, since its place is behind theirs */
        if (line < a.lines && i < a.n)
            keys[e] = key_of(&a, p0 + a.at[0] + line_at(&a, 0, line) + i * a.step[0]);
        from[e] = e;
    }
    for (int k = 2; k <= width; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            BARRIER();
            for (int pair = me; pair < BLOCK / 2; pair += 256) {
                const int x = pair / j * 2 * j + pair % j, y = x + j;
                const KEY kx = keys[x], ky = keys[y];
                const int fx = from[x], fy = from[y];
                const int later = kx > ky || (kx == ky && fx > fy), falls = ((x & (width - 1)) & k) != 0;
                if (later != falls) {
                    keys[x] = ky;
                    keys[y] = kx;
                    from[x] = fy;
                    from[y] = fx;
                }
            }
        }
    }
    BARRIER();
    for (int e = me; e < BLOCK; e += 256) {
        const int64_t number = first + e / width, line = number / runs, block = number - line * runs, t = e % width;
        if (line >= a.lines || t >= least(least(a.run, a.n - block * a.run), a.keep))
            continue;
        const int64_t to = number * a.pitch + t;
        ((GLOBAL KEY *)(p1 + a.at[1]))[to] = keys[e];
        ((GLOBAL int64_t *)(p2 + a.at[2]))[to] = block * a.run + from[e] % width;
    }
}

/* How many of the first `count` keys come before `key`; or before it or with it. */
TH_INLINE int64_t rank_of(GLOBAL const KEY *keys, int64_t count, KEY key, int or_with)
{
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (keys[middle] < key || (or_with && keys[middle] == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* p0: keys, p1: places, p2: keys of runs twice as long, p3: their places */
KERNEL void merge_runs(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, ARGUMENTS sort_args a)
{
    const int64_t id = GLOBAL_ID(), number = id / a.pitch, t = id - number * a.pitch;
    const int64_t runs = (a.n - 1) / a.run + 1, line = number / runs, run = number - line * runs, other = run ^ 1;
    if (line >= a.lines || t >= least(least(a.run, a.n - run * a.run), a.keep))
        return;
    GLOBAL const KEY *keys = (GLOBAL const KEY *)(p0 + a.at[0]);
    const KEY key = keys[id];
    int64_t to = t;
    if (other < runs)
        to += rank_of(keys + (line * runs + other) * a.pitch, least(least(a.run, a.n - other * a.run), a.keep), key, other < run);
    if (to >= a.keep)
        return;
    to += (line * ((runs + 1) / 2) + run / 2) * a.next;
    ((GLOBAL KEY *)(p2 + a.at[2]))[to] = key;
    ((GLOBAL int64_t *)(p3 + a.at[3]))[to] = ((GLOBAL const int64_t *)(p1 + a.at[1]))[id];
}

/* p0: x, p1: places, p2: the first `keep` elements of each line, p3: their places */
KERNEL void put_in_order(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, ARGUMENTS sort_args a)
{
    const int64_t id = GLOBAL_ID(), line = id / a.keep, t = id - line * a.keep;
    if (line >= a.lines)
        return;
    const int64_t i = ((GLOBAL const int64_t *)(p1 + a.at[1]))[line * a.pitch + t], place = a.from_end ? a.n - 1 - i : i;
    if (a.values) {
        GLOBAL const char *from = p0 + a.at[0] + line_at(&a, 0, line) + i * a.step[0];
        GLOBAL char *to = p2 + a.at[2] + line_at(&a, 1, line) + t * a.step[1];
        if (a.bytes == 1)
            *(GLOBAL uint8_t *)to = *(GLOBAL const uint8_t *)from;
        else if (a.bytes == 2)
            *(GLOBAL uint16_t *)to = *(GLOBAL const uint16_t *)from;
        else if (a.bytes == 4)
            *(GLOBAL uint32_t *)to = *(GLOBAL const uint32_t *)from;
        else
            *(GLOBAL uint64_t *)to = *(GLOBAL const uint64_t *)from;
    }
    if (a.place_bytes) {
        GLOBAL char *to = p3 + a.at[3] + line_at(&a, 2, line) + t * a.step[2];
        if (a.place_bytes == 1)
            *(GLOBAL uint8_t *)to = (uint8_t)place;
        else if (a.place_bytes == 2)
            *(GLOBAL uint16_t *)to = (uint16_t)place;
        else if (a.place_bytes == 4)
            *(GLOBAL uint32_t *)to = (uint32_t)place;
        else
            *(GLOBAL int64_t *)to = place;
    }
}
