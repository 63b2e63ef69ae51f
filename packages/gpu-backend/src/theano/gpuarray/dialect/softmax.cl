/* Softmax of the rows of a matrix and its relatives; a group of 256 work-items computes a row.
 *
 * A label that is the number of no column makes its row's likelihood and gradient not-a-number: there is nobody to tell. */
typedef struct {
    int64_t at[6], rows, columns;
    int64_t step[6][2]; /* strides in bytes: row, column */
    int64_t bias, as_log, loss, is_number;
    int64_t labelled, from_end; /* how many rows have a label; whether negative labels count from the last column */
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

/* p0: x, p1: bias (or x), p2: labels (or x), p3: likelihood (or the result), p4: the result, p5: largest places */
KERNEL void softmax_rows(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, GLOBAL char *p4, GLOBAL char *p5,
                         ARGUMENTS rows_args a)
{
    LOCAL COMPUTE shared[256];
    LOCAL int64_t places[256];
    const int me = LOCAL_ID();
    const int64_t i = GROUP_ID();
    COMPUTE largest = -INFINITY;
    int64_t place = -1;
    for (int64_t j = me; j < a.columns; j += 256) {
        const COMPUTE x = LOAD(ELEMENT(p0, 0, i, j)) + (a.bias ? LOAD(ELEMENT(p1, 1, 0, j)) : (COMPUTE)0);
        if (place < 0 || x > largest || (x != x && largest == largest)) {
            largest = x;
            place = j;
        }
    }
    shared[me] = largest;
    places[me] = place;
    for (int half_of = 128; half_of > 0; half_of /= 2) {
        BARRIER();
        if (me < half_of) {
            const COMPUTE x = shared[me], y = shared[me + half_of];
            const int64_t px = places[me], py = places[me + half_of];
            const int other = py >= 0 && (px < 0 || (x == x && y != y) || y > x || ((x == y || (x != x && y != y)) && py < px));
            shared[me] = other ? y : x;
            places[me] = other ? py : px;
        }
    }
    BARRIER();
    largest = shared[0];
    place = places[0];
    BARRIER();
    COMPUTE sum = 0;
    for (int64_t j = me; j < a.columns; j += 256)
        sum += exp_of(LOAD(ELEMENT(p0, 0, i, j)) + (a.bias ? LOAD(ELEMENT(p1, 1, 0, j)) : (COMPUTE)0) - largest);
    shared[me] = sum;
    SUM_UP(shared)
    sum = shared[0];
    const COMPUTE log_sum = LOG(sum);
    for (int64_t j = me; j < a.columns; j += 256) {
        const COMPUTE shifted = LOAD(ELEMENT(p0, 0, i, j)) + (a.bias ? LOAD(ELEMENT(p1, 1, 0, j)) : (COMPUTE)0) - largest;
        ELEMENT(p4, 4, i, j) = STORE(a.as_log ? shifted - log_sum : exp_of(shifted) / sum);
    }
    if (a.loss && me == 0 && i < a.labelled) {
        const int64_t label = column_of(LABEL_AT(p2, 2, i), a.columns, a.from_end);
        const int known = label >= 0 && label < a.columns;
        const COMPUTE x = known ? LOAD(ELEMENT(p0, 0, i, label)) + (a.bias ? LOAD(ELEMENT(p1, 1, 0, label)) : (COMPUTE)0) : (COMPUTE)NAN;
        ELEMENT(p3, 3, i, 0) = STORE(log_sum - (x - largest));
    }
    if (a.loss && me == 0) {
        *(GLOBAL LABEL *)(p5 + a.at[5] + i * a.step[5][0]) = (LABEL)place;
    }
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
