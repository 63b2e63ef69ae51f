/* Elements moved from one strided array to another. Along one axis, if `place` is not -1, a table says where they are. */
#define MOVE_AXES 19
#define COPIES 4

typedef struct {
    int64_t n, axes, place, apart, shape[MOVE_AXES], from[MOVE_AXES], to[MOVE_AXES];
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

/* The table has, for each place, where it is in both. A work-item copies COPIES elements, so that it need not wait for the table, and
 * then for the element, of one before it asks for the next. */
#define COPY(NAME, TYPE, WHOLE)                                                       \
    KERNEL void copy##NAME(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS move_args a) \
    {                                                                                 \
        const int64_t first = GROUP_ID() * LOCAL_SIZE() * COPIES + LOCAL_ID();        \
        GLOBAL const int64_t *table = (GLOBAL const int64_t *)(p2 + a.at[2]);         \
        int64_t left[COPIES], x[COPIES], y[COPIES];                                   \
        UNROLL                                                                        \
        for (int e = 0; e < COPIES; ++e) { /* past the last one, the last one */      \
            left[e] = first + e * LOCAL_SIZE() < a.axes.n ? first + e * LOCAL_SIZE() : a.axes.n - 1; \
            x[e] = a.at[0];                                                           \
            y[e] = a.at[1];                                                           \
        }                                                                             \
        LOOP                                                                          \
        for (int d = (int)a.axes.axes - 1; d >= 0; --d) {                             \
            UNROLL                                                                    \
            for (int e = 0; e < COPIES; ++e) {                                        \
                const int64_t rest = d ? th_quotient(left[e], a.axes.shape[d]) : 0, i = left[e] - rest * a.axes.shape[d]; \
                x[e] += d == a.axes.place ? table[2 * i] : i * a.axes.from[d];        \
                y[e] += d == a.axes.place ? table[2 * i + 1] : i * a.axes.to[d];      \
                left[e] = rest;                                                       \
            }                                                                         \
        }                                                                             \
        WHOLE read[COPIES];                                                           \
        UNROLL                                                                        \
        for (int e = 0; e < COPIES; ++e)                                              \
            read[e] = *(GLOBAL const WHOLE *)(p0 + x[e]);                             \
        UNROLL                                                                        \
        for (int e = 0; e < COPIES; ++e)                                              \
            if (first + e * LOCAL_SIZE() < a.axes.n)                                  \
                *(GLOBAL WHOLE *)(p1 + y[e]) = read[e];                               \
    }                                                                                 \
    KERNEL void fill##NAME(GLOBAL char *p0, ARGUMENTS fill_args a)                        \
    {                                                                                 \
        int64_t left = GLOBAL_ID();                                                   \
        if (left >= a.axes.n)                                                         \
            return;                                                                   \
        GLOBAL char *y = p0 + a.at[0];                                                \
        for (int d = (int)a.axes.axes - 1; d >= 0; --d) {                             \
            const int64_t rest = d ? th_quotient(left, a.axes.shape[d]) : 0;                              \
            y += (left - rest * a.axes.shape[d]) * a.axes.to[d];                      \
            left = rest;                                                              \
        }                                                                             \
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

/* 16 bytes of neighbours in y, which are none in x: there each is `apart` from the one before it. */
#define TURN(NAME, TYPE, MANY)                                                        \
    typedef struct ALIGNED(16) {                                                      \
        TYPE v[MANY];                                                                 \
    } together##NAME;                                                                 \
    KERNEL void turn##NAME(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS move_args a) \
    {                                                                                 \
        if (GLOBAL_ID() >= a.axes.n)                                                  \
            return;                                                                   \
        GLOBAL const char *x = p0 + a.at[0] + th_offset(a.axes.axes, a.axes.shape, a.axes.from, GLOBAL_ID()); \
        together##NAME pack;                                                          \
        UNROLL                                                                        \
        for (int e = 0; e < MANY; ++e)                                                \
            pack.v[e] = *(GLOBAL const TYPE *)(x + e * a.axes.apart);                 \
        *(GLOBAL together##NAME *)(p1 + a.at[1] + th_offset(a.axes.axes, a.axes.shape, a.axes.to, GLOBAL_ID())) = pack; \
        (void)p2;                                                                     \
    }
TURN(1, uint8_t, 16)
TURN(2, uint16_t, 8)
TURN(4, uint32_t, 4)
TURN(8, uint64_t, 2)

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
