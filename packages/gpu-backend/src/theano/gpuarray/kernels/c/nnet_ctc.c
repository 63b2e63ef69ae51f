/* The host's half of connectionist temporal classification. The host reads labels and lengths, so that a wrong one is an error. */
#include "ctc_labels.h"
#include "job.h"
#include "parameters.h"

typedef th_device_alignments_params params_t;

/* The struct of the device functions. */
typedef struct arguments {
    int64_t at[5], batch, steps, labels, most, row, space, x[3], cost, slope[3], with_gradient;
} arguments;

/* The table's row of a sequence. The places of a label follow each other, so that one work-item adds them in their order. `first`
 * has a -1 for each label, and `next` room for each place. */
static void write_row(const arguments *a, const th_buffer *labels, int64_t b, int64_t steps, int64_t *row, int64_t *next, int64_t *first)
{
    const int64_t places = 2 * th_ctc_count(labels, b) + 1;
    int64_t *path = row + 3, *order = path + a->most, *heads = order + a->most, different = 0, at = 0;
    for (int64_t s = places - 1; s >= 0; --s) {
        path[s] = s % 2 ? th_ctc_label(labels, b, s / 2) : 0;
        next[s] = first[path[s]]; /* lists of the places of each label, in ascending order */
        first[path[s]] = s;
    }
    for (int64_t s = 0; s < places; ++s) {
        if (first[path[s]] != s)
            continue;
        heads[different++] = at;
        for (int64_t k = s; k >= 0; k = next[k])
            order[at++] = k;
    }
    heads[different] = at;
    for (int64_t s = 0; s < places; ++s)
        first[path[s]] = -1;
    row[0] = steps;
    row[1] = places;
    row[2] = different;
}

static int ctc(job *j)
{
    th_ctx *ctx = j->ctx;
    const params_t *p = ctx->params;
    const th_buffer *x = ctx->in[0], *labels = ctx->in[1];
    th_buffer *costs = ctx->out[0], *slope = ctx->nout > 1 ? ctx->out[1] : NULL;
    arguments a = {.batch = x->shape[1], .steps = x->shape[0], .labels = x->shape[2], .most = 2 * labels->shape[1] + 1,
                   .with_gradient = slope != NULL};
    if (th_ctc_check(ctx) || ctx->rt->ensure(ctx, costs, &a.batch) || (slope && ctx->rt->ensure(ctx, slope, x->shape)))
        return -1;
    if (a.batch == 0)
        return 0;
    a.row = 3 * a.most + 4;
    a.space = a.steps * (a.labels + a.most) + 2 * a.most;
    a.cost = costs->strides[0];
    for (int d = 0; d < 3; ++d) {
        a.x[d] = x->strides[d];
        a.slope[d] = slope ? slope->strides[d] : 0;
    }
    const int64_t bytes = a.batch * a.row * 8, known = a.labels > 0 ? a.labels : 1;
    int64_t *table = ctx->rt->scratch(ctx, (size_t)bytes), *next = ctx->rt->scratch(ctx, (size_t)a.most * 8);
    int64_t *first = ctx->rt->scratch(ctx, (size_t)known * 8);
    if (!table || !next || !first)
        return -1;
    for (int64_t k = 0; k < known; ++k)
        first[k] = -1;
    for (int64_t b = 0; b < a.batch; ++b)
        write_row(&a, labels, b, th_integer(ctx->in[2], b), table + b * a.row, next, first);
    char *there = th_take_copy(j, table, bytes), *space = there ? th_take(j, a.batch * a.space * 8) : NULL;
    if (space == NULL)
        return -1;
    /* an operand without elements has no memory: the table stands in for it */
    const int empty = a.steps * a.labels == 0;
    char *pointers[5] = {empty ? there : x->data, there, space, costs->data, slope && !empty ? slope->data : there};
    if (!empty && th_launch(j, p->log_softmax, a.batch * a.steps, 5, pointers, &a, sizeof a))
        return -1;
    return th_launch(j, p->alignments, a.batch, 5, pointers, &a, sizeof a);
}

TH_EXPORT int th_kernel_gpu_ctc(th_ctx *ctx)
{
    job j;
    th_job_begin(&j, ctx, ((const params_t *)ctx->params)->alignments->gpu);
    return th_job_end(&j, ctc(&j));
}
