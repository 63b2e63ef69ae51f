/* Outcomes with given probabilities, drawn with uniform numbers: a work-item for each row of probabilities. */
typedef struct {
    int64_t at[4], rows, outcomes, trials, replace;
    int64_t p[2], u, out[2]; /* strides in bytes */
} category_args;

#define PROBABILITY(row, j) LOAD(*(GLOBAL const NUMBER *)(p0 + a.at[0] + (row) * a.p[0] + (j) * a.p[1]))
#define UNI_OF(row, t) UNI_LOAD(*(GLOBAL const UNI *)(p1 + a.at[1] + ((t) * a.rows + (row)) * a.u))
#define RESULT_AT(row, j) (*(GLOBAL RESULT *)(p2 + a.at[2] + (row) * a.out[0] + (j) * a.out[1]))

/* p0: probabilities, p1: uniform numbers, p2: how often each outcome comes up, p3: room for a count of each */
KERNEL void multinomial(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, ARGUMENTS category_args a)
{
    const int64_t row = GLOBAL_ID();
    if (row >= a.rows)
        return;
    GLOBAL int64_t *counts = (GLOBAL int64_t *)(p3 + a.at[3]) + row; /* rows are neighbours */
    for (int64_t j = 0; j < a.outcomes; ++j)
        counts[j * a.rows] = 0;
    for (int64_t t = 0; t < a.trials; ++t) {
        const double u = (double)UNI_OF(row, t);
        double bound = 0;
        int64_t place = 0;
        for (int64_t j = 0; j < a.outcomes; ++j) {
            bound += (double)PROBABILITY(row, j);
            place += bound <= u;
        }
        if (place < a.outcomes)
            ++counts[place * a.rows];
    }
    for (int64_t j = 0; j < a.outcomes; ++j)
        RESULT_AT(row, j) = RESULT_STORE(counts[j * a.rows]);
}

/* p0: probabilities, p1: uniform numbers, p2: the outcomes, p3: room for the probabilities that are left */
KERNEL void choice(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, ARGUMENTS category_args a)
{
    const int64_t row = GLOBAL_ID();
    if (row >= a.rows)
        return;
    GLOBAL NUMBER *left = (GLOBAL NUMBER *)(p3 + a.at[3]) + row;
    for (int64_t j = 0; j < a.outcomes; ++j)
        left[j * a.rows] = STORE(PROBABILITY(row, j));
    for (int64_t t = 0; t < a.trials; ++t) {
        const double u = (double)UNI_OF(row, t);
        NUMBER bound = STORE((COMPUTE)0);
        int64_t place = 0;
        for (int64_t j = 0; j < a.outcomes; ++j) {
            bound = STORE(LOAD(bound) + LOAD(left[j * a.rows]));
            place += (double)LOAD(bound) <= u;
        }
        const int hit = place < a.outcomes;
        RESULT_AT(row, t) = RESULT_STORE(hit ? place : -1);
        if (!hit || a.replace)
            continue;
        left[place * a.rows] = STORE((COMPUTE)0);
        NUMBER sum = STORE((COMPUTE)0);
        for (int64_t j = 0; j < a.outcomes; ++j)
            sum = STORE(LOAD(sum) + LOAD(left[j * a.rows]));
        for (int64_t j = 0; j < a.outcomes; ++j)
            left[j * a.rows] = STORE(LOAD(left[j * a.rows]) / LOAD(sum));
    }
}
