/* Elements that arrays on the device name: where they are, and the tables by which `copy` and `add` of move.cl move them. */
enum { AXES = 16, TAKE = 0, SET = 1 };

/* The points of a group of axes, in C order, and how an operand goes along them. */
typedef struct {
    int64_t n, axes, shape[AXES], strides[AXES];
} group_points;

TH_INLINE int64_t point_at(const group_points *g, const int64_t point) { return th_offset(g->axes, g->shape, g->strides, point); }

typedef struct {
    int64_t at[3], bytes, is_signed, size, step, entry;
    int64_t start, adds; /* what offsets begin with, or whether they go on from what is there */
    group_points points;
} locate_args;

/* p0: an array of places along an axis, p1: offsets, p2: number and place of an entry that is out of bounds */
KERNEL void locate(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS locate_args a)
{
    const int64_t i = GLOBAL_ID();
    if (i >= a.points.n)
        return;
    GLOBAL const char *from = p0 + a.at[0] + point_at(&a.points, i);
    GLOBAL int64_t *to = (GLOBAL int64_t *)(p1 + a.at[1]) + i, *wrong = (GLOBAL int64_t *)(p2 + a.at[2]);
    int64_t place = 0;
    if (a.bytes == 1)
        place = a.is_signed ? (int64_t)*(GLOBAL const int8_t *)from : (int64_t)*(GLOBAL const uint8_t *)from;
    else if (a.bytes == 2)
        place = a.is_signed ? (int64_t)*(GLOBAL const int16_t *)from : (int64_t)*(GLOBAL const uint16_t *)from;
    else if (a.bytes == 4)
        place = a.is_signed ? (int64_t)*(GLOBAL const int32_t *)from : (int64_t)*(GLOBAL const uint32_t *)from;
    else
        place = *(GLOBAL const int64_t *)from;
    if (place < -a.size || place >= a.size) { /* whoever comes last is the one that the error names */
        wrong[0] = a.entry;
        wrong[1] = place;
        place = 0;
    }
    *to = (a.adds ? *to : a.start) + (place < 0 ? place + a.size : place) * a.step;
}

typedef struct {
    int64_t at[4], what, step;
    group_points points; /* of what is written */
} table_args;

/* p0: offsets (sorted, where something is written), p1: the points that they are of, p2: the table */
KERNEL void tables(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS table_args a)
{
    const int64_t i = GLOBAL_ID(), n = a.points.n;
    GLOBAL const int64_t *offsets = (GLOBAL const int64_t *)(p0 + a.at[0]), *points = (GLOBAL const int64_t *)(p1 + a.at[1]);
    GLOBAL int64_t *table = (GLOBAL int64_t *)(p2 + a.at[2]);
    if (i > n)
        return;
    if (a.what == TAKE) {
        if (i < n) {
            table[2 * i] = offsets[i];
            table[2 * i + 1] = i * a.step;
        }
        return;
    }
    int64_t end = i; /* behind the last one with the same offset */
    for (int64_t high = n; end < high;) {
        const int64_t middle = (end + high) / 2;
        if (offsets[middle] == offsets[i])
            end = middle + 1;
        else
            high = middle;
    }
    if (a.what == SET) { /* all that go to a place take the last one there */
        if (i < n) {
            table[2 * i] = point_at(&a.points, points[end - 1]);
            table[2 * i + 1] = offsets[i];
        }
        return;
    }
    /* The first one of a place has the list of them all, the others an empty one. */
    table[2 * i] = i < n ? offsets[i] : 0;
    table[2 * i + 1] = i == 0 || i == n || offsets[i - 1] != offsets[i] ? i : end;
    if (i < n)
        table[2 * (n + 1) + i] = point_at(&a.points, points[i]);
}
