/* Softmax of the rows of a matrix and its relatives; a group of 256 work-items computes a row, or some.
 * LARGER(x, y) passes over not-a-number: it comes back with the sum.
 *
 * A label that is the number of no column makes its row's likelihood and gradient not-a-number: there is nobody to tell. */
typedef struct {
    int64_t at[6], rows, columns;
    int64_t step[6][2]; /* strides in bytes: row, column */
    int64_t bias, as_log, loss, is_number;
    int64_t labelled, from_end; /* how many rows have a label; whether negative labels count from the last column */
    int64_t lanes, packed; /* work-items of a row; 1: x lies in packs, 2: and the result does */
    double number; /* the gradient of all likelihoods, where it is a number of the host's */
} rows_args;

#define ELEMENT(p, k, i, j) (*(GLOBAL NUMBER *)(p + a.at[k] + (i) * a.step[k][0] + (j) * a.step[k][1]))
#define LABEL_AT(p, k, i) (*(GLOBAL const LABEL *)(p + a.at[k] + (i) * a.step[k][0]))

/* The column of a label. */
TH_INLINE int64_t column_of(const int64_t label, const int64_t columns, const int64_t from_end)
{
    return label < 0 && from_end ? label + columns : label;
}

TH_INLINE COMPUTE exp_of(const COMPUTE x) { return EXP(x); }

/* Infinities are not subtracted from numbers of which none was seen yet. */
TH_INLINE COMPUTE shift_of(const COMPUTE largest) { return largest == -INFINITY ? (COMPUTE)0 : largest; }

typedef struct ALIGNED(16) {
    NUMBER v[PACK];
} pack;

/* Which row and which of its work-items one is. A step takes KEPT elements of a row for each of them, into registers: packs of
 * neighbours where those of x lie in packs, so that they are read 16 bytes at once. Element e of a step is number COLUMN(e) of it. */
#define BEGIN                                                                            \
    LOCAL COMPUTE shared[256];                                                           \
    LOCAL int64_t places[256];                                                           \
    const int lanes = (int)a.lanes, me = LOCAL_ID(), lane = me % lanes, first_of_row = me - lane, packed = (int)a.packed; \
    const int first = packed ? lane * PACK : lane, near = packed ? 1 : lanes, far = lanes * PACK; \
    const int64_t i = GROUP_ID() * (256 / lanes) + me / lanes, columns = i < a.rows ? a.columns : 0; \
    COMPUTE kept[KEPT];
#define COLUMN(e) (first + (e) / PACK * far + (e) % PACK * near)

/* Where the elements of a step are in an operand, and how many it has. */
#define STEP(k, p, row, from)                                                            \
    GLOBAL char *at##k = p + a.at[k] + (row) * a.step[k][0] + ((from) + first) * a.step[k][1]; \
    const int64_t near##k = near * a.step[k][1], far##k = far * a.step[k][1];
#define PLACE(k, e) (at##k + (e) / PACK * far##k + (e) % PACK * near##k)
#define LEFT(from) const int left = columns - (from) < KEPT * 256 ? (int)(columns - (from)) : KEPT * 256;

/* For each pack of a step that some work-item of the row has elements of. */
#define EACH_PACK(e)                                                                     \
    UNROLL                                                                               \
    for (int e = 0; e < KEPT; e += PACK)                                                 \
        if (e * lanes < left)
#define EACH_OF_PACK(v)                                                                  \
    UNROLL                                                                               \
    for (int v = 0; v < PACK; ++v)

/* Past the end of a row there is what changes neither its largest element nor its sum. */
#define READ(from)                                                                       \
    {                                                                                    \
        STEP(0, p0, i, from)                                                             \
        EACH_PACK(e)                                                                     \
        {                                                                                \
            if (packed && COLUMN(e) < left) {                                            \
                const pack read = *(GLOBAL const pack *)PLACE(0, e);                     \
                EACH_OF_PACK(v) kept[e + v] = LOAD(read.v[v]);                           \
            } else {                                                                     \
                EACH_OF_PACK(v) kept[e + v] = COLUMN(e + v) < left ? LOAD(*(GLOBAL const NUMBER *)PLACE(0, e + v)) : (COMPUTE)-INFINITY; \
            }                                                                            \
        }                                                                                \
        if (a.bias) {                                                                    \
            STEP(1, p1, 0, from)                                                         \
            EACH_PACK(e)                                                                 \
            EACH_OF_PACK(v) kept[e + v] += COLUMN(e + v) < left ? LOAD(*(GLOBAL const NUMBER *)PLACE(1, e + v)) : (COMPUTE)0; \
        }                                                                                \
    }

#define WRITE(from, value)                                                               \
    {                                                                                    \
        STEP(4, p4, i, from)                                                             \
        EACH_PACK(e)                                                                     \
        {                                                                                \
            pack written;                                                                \
            EACH_OF_PACK(v)                                                              \
            {                                                                            \
                const COMPUTE x = kept[e + v];                                           \
                written.v[v] = STORE(value);                                             \
            }                                                                            \
            if (packed == 3 && COLUMN(e) < left) {                                       \
                *(GLOBAL pack *)PLACE(4, e) = written;                                   \
            } else {                                                                     \
                EACH_OF_PACK(v)                                                          \
                if (COLUMN(e + v) < left)                                                \
                    *(GLOBAL NUMBER *)PLACE(4, e + v) = written.v[v];                    \
            }                                                                            \
        }                                                                                \
    }

/* What the work-items of a row have becomes one: of x, which each has, and y, another's. */
#define OVER_ROW(numbers, x, y, value)                                                   \
    for (int half_of = lanes / 2; half_of > 0; half_of /= 2) {                           \
        BARRIER();                                                                       \
        if (lane < half_of) {                                                            \
            x = numbers[me];                                                             \
            y = numbers[me + half_of];                                                   \
            numbers[me] = value;                                                         \
        }                                                                                \
    }                                                                                    \
    BARRIER();

TH_INLINE int64_t smaller(const int64_t x, const int64_t y) { return y < x ? y : x; }

/* The first place of the largest element among those that were read; one of not-a-number, as less than 0, goes before any. */
#define LOOK_FOR(from)                                                                   \
    EACH_PACK(e)                                                                         \
    EACH_OF_PACK(v)                                                                      \
    if (COLUMN(e + v) < left && !(kept[e + v] < largest))                                \
        place = smaller(place, (from) + COLUMN(e + v) - (kept[e + v] == largest ? 0 : columns));

#define FINISH_LOSS                                                                      \
    if (a.loss) {                                                                        \
        places[me] = place;                                                              \
        int64_t one, other;                                                              \
        OVER_ROW(places, one, other, smaller(one, other))                                \
        if (lane == 0 && i < a.rows)                                                     \
            *(GLOBAL LABEL *)(p5 + a.at[5] + i * a.step[5][0]) = (LABEL)(a.columns ? places[me] + (places[me] < 0 ? a.columns : 0) : -1); \
        if (lane == 0 && i < a.labelled) {                                               \
            const int64_t label = column_of(LABEL_AT(p2, 2, i), a.columns, a.from_end);  \
            const int known = label >= 0 && label < a.columns;                           \
            const COMPUTE x = known ? LOAD(ELEMENT(p0, 0, i, label)) + (a.bias ? LOAD(ELEMENT(p1, 1, 0, label)) : (COMPUTE)0) : (COMPUTE)NAN; \
            ELEMENT(p3, 3, i, 0) = STORE(log_sum - (x - largest));                       \
        }                                                                                \
    }

/* Rows that a step takes whole.
 * p0: x, p1: bias (or x), p2: labels (or x), p3: likelihood (or the result), p4: the result, p5: largest places */
KERNEL void RESIDENT(sizeof(COMPUTE) > 4 ? 3 : 4)
    softmax_rows(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, GLOBAL char *p4, GLOBAL char *p5, ARGUMENTS rows_args a)
{
    BEGIN
    COMPUTE largest = -INFINITY, sum = 0, one, other;
    int64_t place = a.columns;
    LEFT(0)
    READ(0)
    EACH_PACK(e)
    EACH_OF_PACK(v) largest = LARGER(largest, kept[e + v]);
    shared[me] = largest;
    OVER_ROW(shared, one, other, LARGER(one, other))
    largest = shared[first_of_row];
    BARRIER();
    if (a.loss) {
        LOOK_FOR(0)
    }
    EACH_PACK(e)
    EACH_OF_PACK(v)
    {
        const COMPUTE shifted = kept[e + v] - largest, power = exp_of(shifted);
        sum += power;
        kept[e + v] = a.as_log ? shifted : power;
    }
    shared[me] = sum;
    OVER_ROW(shared, one, other, one + other)
    sum = shared[first_of_row];
    const COMPUTE log_sum = LOG(sum), factor = a.as_log ? (COMPUTE)1 : 1 / sum, less = a.as_log ? log_sum : (COMPUTE)0;
    WRITE(0, x * factor - less)
    FINISH_LOSS
}

/* The same for longer rows, which are read twice: each work-item's sum is one beside the largest element so far. */
KERNEL void softmax_long_rows(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, GLOBAL char *p4, GLOBAL char *p5,
                              ARGUMENTS rows_args a)
{
    BEGIN
    COMPUTE largest = -INFINITY, sum = 0, one, other;
    int64_t place = a.columns;
    for (int64_t from = 0; from < columns; from += KEPT * lanes) {
        const COMPUTE before = largest;
        LEFT(from)
        READ(from)
        EACH_PACK(e)
        EACH_OF_PACK(v) largest = LARGER(largest, kept[e + v]);
        sum *= exp_of(before - shift_of(largest));
        EACH_PACK(e)
        EACH_OF_PACK(v) sum += exp_of(kept[e + v] - shift_of(largest));
    }
    shared[me] = largest;
    OVER_ROW(shared, one, other, LARGER(one, other))
    sum *= exp_of(largest - shift_of(shared[first_of_row]));
    largest = shared[first_of_row];
    BARRIER();
    shared[me] = sum;
    OVER_ROW(shared, one, other, one + other)
    sum = shared[first_of_row];
    const COMPUTE log_sum = LOG(sum), factor = 1 / sum;
    for (int64_t from = 0; from < columns; from += KEPT * lanes) {
        LEFT(from)
        READ(from)
        if (a.loss) {
            LOOK_FOR(from)
        }
        WRITE(from, a.as_log ? x - largest - log_sum : exp_of(x - largest) * factor)
    }
    FINISH_LOSS
}

/* p0: dy, p1: the softmax, p2: the result */
KERNEL void softmax_gradient(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS rows_args a)
{
    LOCAL COMPUTE shared[256];
    const int me = LOCAL_ID();
    const int64_t i = GROUP_ID();
    COMPUTE sum = 0;
    for (int64_t j = me; j < a.columns; j += 256)
        sum += LOAD(ELEMENT(p0, 0, i, j)) * LOAD(ELEMENT(p1, 1, i, j));
    shared[me] = sum;
    SUM_UP(shared)
    sum = shared[0];
    for (int64_t j = me; j < a.columns; j += 256)
        ELEMENT(p2, 2, i, j) = STORE((LOAD(ELEMENT(p0, 0, i, j)) - sum) * LOAD(ELEMENT(p1, 1, i, j)));
}

/* p0: dy, one for all rows or one each (unless it is a number of the host's), p1: the softmax, p2: labels, p3: the result */
KERNEL void likelihood_gradient(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, ARGUMENTS rows_args a)
{
    const int64_t i = GROUP_ID();
    if (i >= a.labelled) {
        for (int64_t j = LOCAL_ID(); j < a.columns; j += 256)
            ELEMENT(p3, 3, i, j) = STORE((COMPUTE)0);
        return;
    }
    const int64_t label = column_of(LABEL_AT(p2, 2, i), a.columns, a.from_end);
    const COMPUTE given = a.is_number ? (COMPUTE)a.number : LOAD(ELEMENT(p0, 0, i, 0));
    const COMPUTE dy = label >= 0 && label < a.columns ? given : (COMPUTE)NAN;
    for (int64_t j = LOCAL_ID(); j < a.columns; j += 256)
        ELEMENT(p3, 3, i, j) = STORE(dy * LOAD(ELEMENT(p1, 1, i, j)) - (j == label ? dy : (COMPUTE)0));
}

/* p0: probabilities, p1: labels, p2: the result */
KERNEL void label_logarithms(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS rows_args a)
{
    const int64_t i = GLOBAL_ID();
    if (i >= a.rows)
        return;
    const int64_t label = LABEL_AT(p1, 1, i);
    const COMPUTE p = label >= 0 && label < a.columns ? LOAD(ELEMENT(p0, 0, i, label)) : (COMPUTE)NAN;
    ELEMENT(p2, 2, i, 0) = STORE(-LOG(p));
}

/* p0: dy, p1: probabilities, p2: labels, p3: the result */
KERNEL void label_logarithms_gradient(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, ARGUMENTS rows_args a)
{
    const int64_t i = GROUP_ID(), label = LABEL_AT(p2, 2, i);
    const int known = label >= 0 && label < a.columns;
    const COMPUTE slope = known ? -LOAD(ELEMENT(p0, 0, i, 0)) / LOAD(ELEMENT(p1, 1, i, label)) : (COMPUTE)NAN;
    for (int64_t j = LOCAL_ID(); j < a.columns; j += 256)
        ELEMENT(p3, 3, i, j) = STORE(j == label || !known ? slope : (COMPUTE)0);
}
