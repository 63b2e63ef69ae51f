/* Connectionist temporal classification: sums over all alignments of labels with time, on logarithms. */
#include "ctc_labels.h"
#include "kernels.h"

enum { PARTS = 16 }; /* of the work: each has space for the sums of a sequence */

typedef struct {
    const th_buffer *x, *labels, *lengths;
    th_buffer *costs, *gradient;
    int64_t batch, parts, most; /* sequences, parts of the work, the longest path */
    char *space;
    int64_t bytes; /* of a part */
} job;

static double at(const th_buffer *x, const char *p)
{
    return x->dtype == TH_FLOAT32 ? *(const float *)p : *(const double *)p;
}

static void put(const th_buffer *x, char *p, double value)
{
    if (x->dtype == TH_FLOAT32)
        *(float *)p = (float)value;
    else
        *(double *)p = value;
}

/* log(exp(a) + exp(b)) */
static inline double joined(double a, double b)
{
    const double most = a > b ? a : b, least = a > b ? b : a;
    return least == -INFINITY ? most : most + log1p(exp(least - most));
}

/* Does a way lead from two places before to place `s`, past a blank? */
static inline int skips(const int64_t *path, int64_t s)
{
    return s >= 2 && path[s] != 0 && path[s] != path[s - 2];
}

/* The logarithms of the softmax of each step. */
static void log_softmax(const th_buffer *x, int64_t b, int64_t steps, double *to)
{
    const int64_t n = x->shape[2];
    for (int64_t t = 0; t < steps; ++t, to += n) {
        const char *from = x->data + t * x->strides[0] + b * x->strides[1];
        double most = -INFINITY, sum = 0.0;
        for (int64_t k = 0; k < n; ++k) {
            to[k] = at(x, from + k * x->strides[2]);
            most = to[k] > most ? to[k] : most;
        }
        for (int64_t k = 0; k < n; ++k)
            sum += exp(to[k] - most);
        sum = most + log(sum);
        for (int64_t k = 0; k < n; ++k)
            to[k] -= sum;
    }
}

/* The probability of all beginnings of alignments that end at each place, by time. The result is that of all alignments. */
static double forwards(const double *log_p, int64_t labels, int64_t steps, const int64_t *path, int64_t places, double *sums)
{
    for (int64_t t = 0; t < steps; ++t, log_p += labels, sums += places)
        for (int64_t s = 0; s < places; ++s) {
            const double *before = sums - places;
            double sum = s < 2 ? 0.0 : -INFINITY;
            if (t > 0) {
                sum = before[s];
                if (s >= 1)
                    sum = joined(sum, before[s - 1]);
                if (skips(path, s))
                    sum = joined(sum, before[s - 2]);
            }
            sums[s] = sum + log_p[path[s]];
        }
    if (steps == 0)
        return places == 1 ? 0.0 : -INFINITY;
    return places == 1 ? sums[-1] : joined(sums[-1], sums[-2]);
}

static void write_gradient(const job *j, int64_t b, int64_t t, const double *values)
{
    const th_buffer *g = j->gradient;
    char *to = g->data + t * g->strides[0] + b * g->strides[1];
    for (int64_t k = 0; k < g->shape[2]; ++k)
        put(g, to + k * g->strides[2], values ? values[k] : 0.0);
}

static void one_sequence(const job *j, int64_t b, char *space)
{
    const int64_t n = j->x->shape[2], all = j->x->shape[0], steps = th_integer(j->lengths, b);
    const int64_t spelled = th_ctc_count(j->labels, b), places = 2 * spelled + 1;
    double *log_p = (double *)space, *sums = log_p + all * n, *behind = sums + all * j->most, *now = behind + j->most;
    double *slope = now + j->most;
    int64_t *path = (int64_t *)(slope + n);
    for (int64_t s = 0; s < places; ++s)
        path[s] = s % 2 ? th_ctc_label(j->labels, b, s / 2) : 0;
    log_softmax(j->x, b, steps, log_p);
    const double total = forwards(log_p, n, steps, path, places, sums);
    put(j->costs, j->costs->data + b * j->costs->strides[0], -total);
    if (!j->gradient)
        return;
    const int possible = total > -INFINITY;
    for (int64_t t = possible ? steps : 0; t < all; ++t)
        write_gradient(j, b, t, NULL);
    for (int64_t s = 0; s < places; ++s)
        behind[s] = s >= places - 2 ? 0.0 : -INFINITY;
    for (int64_t t = steps - 1; possible && t >= 0; --t) {
        const double *here = log_p + t * n, *before = sums + t * places;
        for (int64_t k = 0; k < n; ++k)
            slope[k] = exp(here[k]);
        for (int64_t s = 0; s < places; ++s) {
            slope[path[s]] -= exp(before[s] + behind[s] - total);
            now[s] = behind[s] + here[path[s]];
        }
        write_gradient(j, b, t, slope);
        for (int64_t s = 0; s < places; ++s) {
            double sum = now[s];
            if (s + 1 < places)
                sum = joined(sum, now[s + 1]);
            if (s + 2 < places && skips(path, s + 2))
                sum = joined(sum, now[s + 2]);
            behind[s] = sum;
        }
    }
}

static void sequences(void *arg, int64_t lo, int64_t hi)
{
    const job *j = arg;
    for (int64_t part = lo; part < hi; ++part)
        for (int64_t b = j->batch * part / j->parts; b < j->batch * (part + 1) / j->parts; ++b)
            one_sequence(j, b, j->space + part * j->bytes);
}

/* inputs: activations, labels, how many steps each sequence has; outputs: costs, perhaps the gradient of activations. */
TH_EXPORT int th_kernel_ctc(th_ctx *ctx)
{
    job j = {.x = ctx->in[0], .labels = ctx->in[1], .lengths = ctx->in[2], .costs = ctx->out[0],
             .gradient = ctx->nout > 1 ? ctx->out[1] : NULL};
    j.batch = j.x->shape[1];
    if (th_ctc_check(ctx) || ctx->rt->ensure(ctx, j.costs, &j.batch) ||
        (j.gradient && ctx->rt->ensure(ctx, j.gradient, j.x->shape)))
        return -1;
    if (!j.batch)
        return 0;
    const int64_t steps = j.x->shape[0], n = j.x->shape[2];
    j.most = 2 * j.labels->shape[1] + 1;
    j.parts = j.batch < PARTS ? j.batch : PARTS;
    j.bytes = (steps * (n + j.most) + 2 * j.most + n) * (int64_t)sizeof(double) + j.most * (int64_t)sizeof(int64_t);
    j.bytes = (j.bytes + 63) / 64 * 64;
    j.space = ctx->rt->scratch(ctx, (size_t)(j.parts * j.bytes));
    return j.space ? ctx->rt->parallel_for(ctx, j.parts, 1, sequences, &j) : -1;
}
