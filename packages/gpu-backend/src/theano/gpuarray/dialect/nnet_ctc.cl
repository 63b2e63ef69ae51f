/* Connectionist temporal classification: sums over all alignments of labels with time, on logarithms, in double precision. */
typedef struct {
    int64_t at[5], batch, steps, labels, most; /* lengths of the activations; the places of the longest path */
    int64_t row, space;                        /* numbers of the table and of the working space for a sequence */
    int64_t x[3], cost, slope[3], with_gradient; /* strides in bytes: time, sequence, label */
} ctc_args;

#define X(t, b, k) (*(GLOBAL const NUMBER *)(p0 + a.at[0] + (t) * a.x[0] + (b) * a.x[1] + (k) * a.x[2]))
#define SLOPE(t, k) (*(GLOBAL NUMBER *)(p4 + a.at[4] + (t) * a.slope[0] + b * a.slope[1] + (k) * a.slope[2]))

/* log(exp(a) + exp(b)) */
TH_INLINE double joined(const double a, const double b)
{
    const double most = a > b ? a : b, least = a > b ? b : a;
    return least == -INFINITY ? most : most + log1p(exp(least - most));
}

/* The logarithms of the softmax of a step of a sequence, by a group. */
KERNEL void log_softmax(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, GLOBAL char *p4, ARGUMENTS ctc_args a)
{
    LOCAL double shared[256];
    const int me = LOCAL_ID();
    const int64_t b = GROUP_ID() / a.steps, t = GROUP_ID() - b * a.steps;
    GLOBAL double *to = (GLOBAL double *)(p2 + a.at[2]) + b * a.space + t * a.labels;
    double most = -INFINITY, sum = 0;
    for (int64_t k = me; k < a.labels; k += 256)
        most = (double)X(t, b, k) > most ? (double)X(t, b, k) : most;
    shared[me] = most;
    FIND_LARGEST(shared)
    most = shared[0];
    BARRIER();
    for (int64_t k = me; k < a.labels; k += 256)
        sum += exp((double)X(t, b, k) - most);
    shared[me] = sum;
    SUM_UP(shared)
    sum = most + log(shared[0]);
    for (int64_t k = me; k < a.labels; k += 256)
        to[k] = (double)X(t, b, k) - sum;
}

/* A group for each sequence. p1: for each how many steps, places and different labels it has; its path; the places by label, and
 * where those of each label begin. p2: working space. p3: costs. */
KERNEL void alignments(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, GLOBAL char *p4, ARGUMENTS ctc_args a)
{
    const int me = LOCAL_ID();
    const int64_t b = GROUP_ID();
    GLOBAL const int64_t *table = (GLOBAL const int64_t *)(p1 + a.at[1]) + b * a.row, *path = table + 3;
    GLOBAL const int64_t *order = path + a.most, *heads = order + a.most;
    const int64_t steps = table[0], places = table[1], different = table[2];
    GLOBAL double *log_p = (GLOBAL double *)(p2 + a.at[2]) + b * a.space, *sums = log_p + a.steps * a.labels;
    GLOBAL double *behind = sums + a.steps * a.most, *now = behind + a.most;
    for (int64_t t = 0; t < steps; ++t) {
        GLOBAL double *here = sums + t * a.most;
        for (int64_t s = me; s < places; s += 256) {
            double sum = s < 2 ? 0 : -INFINITY;
            if (t > 0) {
                GLOBAL const double *before = here - a.most;
                sum = before[s];
                if (s >= 1)
                    sum = joined(sum, before[s - 1]);
                if (s >= 2 && path[s] != 0 && path[s] != path[s - 2])
                    sum = joined(sum, before[s - 2]);
            }
            here[s] = sum + log_p[t * a.labels + path[s]];
        }
        GLOBAL_BARRIER();
    }
    GLOBAL const double *last = sums + (steps - 1) * a.most;
    double total = places == 1 ? 0 : -INFINITY;
    if (steps > 0)
        total = places == 1 ? last[0] : joined(last[places - 1], last[places - 2]);
    if (me == 0)
        *(GLOBAL NUMBER *)(p3 + a.at[3] + b * a.cost) = (NUMBER)-total;
    if (!a.with_gradient)
        return;
    const int64_t reached = total > -INFINITY ? steps : 0;
    for (int64_t at = me; at < (a.steps - reached) * a.labels; at += 256)
        SLOPE(reached + at / a.labels, at % a.labels) = 0;
    for (int64_t s = me; s < places; s += 256)
        behind[s] = s >= places - 2 ? 0 : -INFINITY;
    GLOBAL_BARRIER();
    for (int64_t t = reached - 1; t >= 0; --t) {
        GLOBAL const double *here = log_p + t * a.labels, *before = sums + t * a.most;
        for (int64_t k = me; k < a.labels; k += 256)
            SLOPE(t, k) = (NUMBER)exp(here[k]);
        for (int64_t s = me; s < places; s += 256)
            now[s] = behind[s] + here[path[s]];
        GLOBAL_BARRIER();
        for (int64_t d = me; d < different; d += 256) {
            const int64_t k = path[order[heads[d]]];
            double slope = exp(here[k]);
            for (int64_t i = heads[d]; i < heads[d + 1]; ++i)
                slope -= exp(before[order[i]] + behind[order[i]] - total);
            SLOPE(t, k) = (NUMBER)slope;
        }
        GLOBAL_BARRIER();
        for (int64_t s = me; s < places; s += 256) {
            double sum = now[s];
            if (s + 1 < places)
                sum = joined(sum, now[s + 1]);
            if (s + 2 < places && path[s + 2] != 0 && path[s + 2] != path[s])
                sum = joined(sum, now[s + 2]);
            behind[s] = sum;
        }
        GLOBAL_BARRIER();
    }
}
