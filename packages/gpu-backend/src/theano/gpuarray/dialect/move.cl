/* Elements moved from one strided array to another. Along one axis, if `place` is not -1, a table says where they are. */
#define MOVE_AXES 19
#define MOST 4

typedef struct {
    int64_t n, axes, place, each, apart[2], shape[MOVE_AXES], from[MOVE_AXES], to[MOVE_AXES];
} move_axes;

typedef struct {
    int64_t at[3];
    move_axes axes;
} move_args;

typedef struct {
    int64_t at[1];
    move_axes axes;
    uint64_t value[2];
} fill_args;

typedef struct {
    uint64_t low, high;
} sixteen_bytes;

/* What is copied at once begins where that is possible: who launches a copy sees to it. */
typedef struct ALIGNED(16) {
    uint64_t low, high;
} sixteen_together;

/* Where a work-item begins, in both: `x` and `y`. */
#define WALK                                                                          \
    int64_t left = GLOBAL_ID(), x = a.at[0], y = a.at[1];                             \
    if (left >= a.axes.n)                                                             \
        return;                                                                       \
    GLOBAL const int64_t *table = (GLOBAL const int64_t *)(p2 + a.at[2]);             \
    LOOP                                                                              \
    for (int d = (int)a.axes.axes - 1; d >= 0; --d) {                                 \
        const int64_t rest = d ? th_quotient(left, a.axes.shape[d]) : 0, i = left - rest * a.axes.shape[d]; \
        x += d == a.axes.place ? table[2 * i] : i * a.axes.from[d];                   \
        y += d == a.axes.place ? table[2 * i + 1] : i * a.axes.to[d];                 \
        left = rest;                                                                  \
    }

/* For each of what a work-item moves: all are asked for before the first is waited for. */
#define EACH(e)                                                                       \
    UNROLL                                                                            \
    for (int e = 0; e < MOST; ++e)                                                    \
        if (e < a.axes.each)

/* The table has, for each place, where it is in both. */
#define COPY(NAME, TYPE, WHOLE)                                                       \
    KERNEL void copy##NAME(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS move_args a) \
    {                                                                                 \
        WALK                                                                          \
        WHOLE read[MOST];                                                             \
        EACH(e) read[e] = *(GLOBAL const WHOLE *)(p0 + x + e * a.axes.apart[0]);      \
        EACH(e) *(GLOBAL WHOLE *)(p1 + y + e * a.axes.apart[1]) = read[e];            \
    }                                                                                 \
    KERNEL void fill##NAME(GLOBAL char *p0, ARGUMENTS fill_args a)                        \
    {                                                                                 \
        if (GLOBAL_ID() >= a.axes.n)                                                  \
            return;                                                                   \
        GLOBAL char *y = p0 + a.at[0] + th_offset(a.axes.axes, a.axes.shape, a.axes.to, GLOBAL_ID()); \
        sixteen_bytes value;                                                          \
        value.low = a.value[0];                                                       \
        value.high = a.value[1];                                                      \
        *(GLOBAL TYPE *)y = FIRST_##NAME(value);                                      \
    }
#define FIRST_1(v) ((uint8_t)(v).low)
#define FIRST_2(v) ((uint16_t)(v).low)
#define FIRST_4(v) ((uint32_t)(v).low)
#define FIRST_8(v) ((v).low)
#define FIRST_16(v) (v)
COPY(1, uint8_t, uint8_t)
COPY(2, uint16_t, uint16_t)
COPY(4, uint32_t, uint32_t)
COPY(8, uint64_t, uint64_t)
COPY(16, sixteen_bytes, sixteen_together)

typedef struct {
    int64_t at[2], tiles[2], length[2], from[2], to[2]; /* along two axes: neighbours are `from[0]` apart in x, `to[1]` in y */
    int64_t axes, shape[MOVE_AXES], outer_from[MOVE_AXES], outer_to[MOVE_AXES]; /* the others */
} transpose_args;

/* What is transposed goes through a tile of local memory, so that work-items that follow each other read neighbours, and write
 * neighbours. The rows of a tile are a word longer than they need be: so a column is in different banks. */
#define TRANSPOSE(NAME, TYPE, SIDE)                                                        \
    KERNEL void transpose##NAME(GLOBAL char *p0, GLOBAL char *p1, ARGUMENTS transpose_args a)   \
    {                                                                                 \
        enum { EACH_ROW = 256 / SIDE, STEPS = SIDE / EACH_ROW, PADDED = SIDE + (sizeof(TYPE) < 4 ? 4 / sizeof(TYPE) : 1) }; \
        LOCAL TYPE tile[SIDE * PADDED];                                               \
        const int near = LOCAL_ID() % SIDE, far = LOCAL_ID() / SIDE;                  \
        const int64_t row = th_quotient(GROUP_ID(), a.tiles[1]), outer = th_quotient(row, a.tiles[0]); \
        const int64_t i = (row - outer * a.tiles[0]) * SIDE, j = (GROUP_ID() - row * a.tiles[1]) * SIDE; \
        const int high = a.length[0] - i < SIDE ? (int)(a.length[0] - i) : SIDE;      \
        const int wide = a.length[1] - j < SIDE ? (int)(a.length[1] - j) : SIDE;      \
        GLOBAL const char *x = p0 + a.at[0] + i * a.from[0] + j * a.from[1];          \
        GLOBAL char *y = p1 + a.at[1] + i * a.to[0] + j * a.to[1];                    \
        x += th_offset(a.axes, a.shape, a.outer_from, outer) + near * a.from[0] + far * a.from[1]; \
        y += th_offset(a.axes, a.shape, a.outer_to, outer) + far * a.to[0] + near * a.to[1]; \
        TYPE read[STEPS];                                                             \
        UNROLL                                                                        \
        for (int e = 0; e < STEPS; ++e)                                               \
            if (near < high && far + e * EACH_ROW < wide)                             \
                read[e] = *(GLOBAL const TYPE *)(x + e * EACH_ROW * a.from[1]);       \
        UNROLL                                                                        \
        for (int e = 0; e < STEPS; ++e)                                               \
            if (near < high && far + e * EACH_ROW < wide)                             \
                tile[(far + e * EACH_ROW) * PADDED + near] = read[e];                 \
        BARRIER();                                                                    \
        UNROLL                                                                        \
        for (int e = 0; e < STEPS; ++e)                                               \
            if (near < wide && far + e * EACH_ROW < high)                             \
                *(GLOBAL TYPE *)(y + e * EACH_ROW * a.to[0]) = tile[near * PADDED + far + e * EACH_ROW]; \
    }
TRANSPOSE(1, uint8_t, 64)
TRANSPOSE(2, uint16_t, 64)
TRANSPOSE(4, uint32_t, 64)
TRANSPOSE(8, uint64_t, 32)
TRANSPOSE(16, sixteen_bytes, 32)

/* The table has, for each place, where it is in `to` and where the list of its terms begins; and then the lists. */
#define ADD(NAME, TYPE, SUM)                                                          \
    KERNEL void add_##NAME(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS move_args a) \
    {                                                                                 \
        int64_t left = GLOBAL_ID(), begin = 0, end = 1;                               \
        if (left >= a.axes.n)                                                         \
            return;                                                                   \
        GLOBAL const char *x = p0 + a.at[0];                                          \
        GLOBAL char *y = p1 + a.at[1];                                                \
        GLOBAL const int64_t *table = (GLOBAL const int64_t *)(p2 + a.at[2]), *lists = table; \
        for (int d = (int)a.axes.axes - 1; d >= 0; --d) {                             \
            const int64_t rest = d ? th_quotient(left, a.axes.shape[d]) : 0, i = left - rest * a.axes.shape[d]; \
            if (d == a.axes.place) {                                                  \
                y += table[2 * i];                                                    \
                begin = table[2 * i + 1];                                             \
                end = table[2 * i + 3];                                               \
                lists = table + 2 * (a.axes.shape[d] + 1);                            \
            } else {                                                                  \
                x += i * a.axes.from[d];                                              \
                y += i * a.axes.to[d];                                                \
            }                                                                         \
            left = rest;                                                              \
        }                                                                             \
        if (begin >= end) /* there may be no terms: what is there is another's to write */ \
            return;                                                                   \
        TYPE sum = *(GLOBAL const TYPE *)y;                                           \
        for (int64_t k = begin; k < end; ++k) {                                       \
            const TYPE term = *(GLOBAL const TYPE *)(x + (a.axes.place < 0 ? 0 : lists[k])); \
            sum = SUM;                                                                \
        }                                                                             \
        *(GLOBAL TYPE *)y = sum;                                                      \
    }

typedef struct {
    float re, im;
} two_floats;
typedef struct {
    double re, im;
} two_doubles;
TH_INLINE two_floats plus_floats(two_floats a, two_floats b)
{
    a.re += b.re;
    a.im += b.im;
    return a;
}
TH_INLINE two_doubles plus_doubles(two_doubles a, two_doubles b)
{
    a.re += b.re;
    a.im += b.im;
    return a;
}
ADD(bool, uint8_t, sum | term)
ADD(int8, uint8_t, (uint8_t)(sum + term))
ADD(int16, uint16_t, (uint16_t)(sum + term))
ADD(int32, uint32_t, sum + term)
ADD(int64, uint64_t, sum + term)
ADD(float16, uint16_t, th_store_f16(th_load_f16(sum) + th_load_f16(term)))
ADD(float32, float, sum + term)
ADD(float64, double, sum + term)
ADD(complex64, two_floats, plus_floats(sum, term))
ADD(complex128, two_doubles, plus_doubles(sum, term))
