/* The host's half of softmax and its relatives. */
#include <string.h>

#include "gpu.h"
#include "parameters.h"

typedef th_device_softmax_params params_t;

enum { OPERANDS = 6, GROUP = 256 };
enum { SHORTEST = 32, FEW = 8 }; /* work-items of a row, at least; elements of each, where a row may have more work-items */

typedef struct arguments {
    int64_t at[OPERANDS], rows, columns, step[OPERANDS][2], bias, as_log, loss, is_number, labelled, from_end, lanes, packed;
    double number;
} arguments;

/* A matrix, or a vector: with an element for each row, or with one for each column (`across`). */
static void place(arguments *a, char **pointers, int k, const th_buffer *x, int across)
{
    pointers[k] = x->data;
    a->step[k][0] = x->ndim == 2 ? x->strides[0] : across || x->shape[0] == 1 ? 0 : x->strides[0];
    a->step[k][1] = x->ndim == 2 ? x->strides[1] : across ? x->strides[0] : 0;
}

static int not_as_long(th_ctx *ctx, const char *what, int64_t has, int64_t wanted)
{
    return ctx->rt->fail(ctx, TH_ERR_SHAPE, "%lld %s where there are %lld", (long long)has, what, (long long)wanted);
}

/* How many rows have a label, and whether labels may count from the end: as the tensor layer's softmax.c has it. */
static int read_labels(th_ctx *ctx, const params_t *p, const th_buffer *label, arguments *a)
{
    const int64_t k = label->shape[0], rows = a->rows;
    a->labelled = p->labels == TH_LABELS_FIRST ? k : rows;
    a->from_end = p->labels != TH_LABELS_EACH;
    if (p->labels == TH_LABELS_EACH && k != rows)
        return not_as_long(ctx, "labels", k, rows);
    if (p->labels == TH_LABELS_FIRST && k > rows)
        return ctx->rt->fail(ctx, TH_ERR_INDEX, "index %lld is out of bounds for axis 0 with size %lld", (long long)rows, (long long)rows);
    if (p->labels == TH_LABELS_ALL && k != rows && k != 1)
        return ctx->rt->fail(ctx, TH_ERR_INDEX, "shape mismatch: indexing arrays could not be broadcast together: %lld rows and "
                             "%lld labels", (long long)rows, (long long)k);
    return 0;
}

static int launched(th_ctx *ctx, const params_t *p, int npointers, char **pointers, arguments *a)
{
    const int64_t rows_of_group = GROUP / a->lanes, groups = (a->rows + rows_of_group - 1) / rows_of_group;
    if (groups == 0)
        return 0;
    const int is_long = a->columns > p->kept * a->lanes;
    const th_gpu_kernel *kernel = is_long && p->long_rows ? p->long_rows : p->function;
    const th_gpu_launch launch = {kernel->function, groups, GROUP, npointers, pointers, (int64_t *)a, sizeof *a};
    return th_gpu_launched(p->function->gpu, &launch) ? th_gpu_failed(ctx, p->function->gpu) : 0;
}

/* How many work-items take a row, and whether they read and write packs of it: what each keeps is little where rows are short. */
static void share(const params_t *p, arguments *a, const th_buffer *x, const th_buffer *result)
{
    for (a->lanes = SHORTEST; a->lanes < GROUP && a->lanes * FEW < a->columns;)
        a->lanes *= 2;
    const int whole = a->columns % p->pack == 0 && x->strides[1] != 0;
    if (whole && th_gpu_in_packs(x, p->pack, x->strides[1], 1, x->strides))
        a->packed = th_gpu_in_packs(result, p->pack, result->strides[1], 1, result->strides) ? 3 : 1;
}

static int softmax(th_ctx *ctx, const params_t *p)
{
    const int loss = p->operation == TH_SOFTMAX_OPERATION_LIKELIHOOD;
    const th_buffer *x = ctx->in[0];
    arguments a = {.rows = x->shape[0], .columns = x->shape[1], .bias = p->bias, .as_log = p->as_log, .loss = loss};
    char *pointers[OPERANDS];
    if (p->bias && ctx->in[1]->shape[0] != a.columns)
        return not_as_long(ctx, "elements of the bias", ctx->in[1]->shape[0], a.columns);
    if (loss && read_labels(ctx, p, ctx->in[2], &a))
        return -1;
    th_buffer *result = ctx->out[loss ? 1 : 0];
    if (loss && (ctx->rt->ensure(ctx, ctx->out[0], &a.labelled) || ctx->rt->ensure(ctx, ctx->out[2], x->shape)))
        return -1;
    if (ctx->rt->ensure(ctx, result, x->shape))
        return -1;
    for (int k = 0; k < OPERANDS; ++k)
        pointers[k] = x->data;
    place(&a, pointers, 0, x, 0);
    if (p->bias)
        place(&a, pointers, 1, ctx->in[1], 1);
    place(&a, pointers, 4, result, 0);
    share(p, &a, x, result);
    if (loss) {
        place(&a, pointers, 2, ctx->in[2], 0);
        place(&a, pointers, 3, ctx->out[0], 0);
        place(&a, pointers, 5, ctx->out[2], 0);
    }
    return launched(ctx, p, OPERANDS, pointers, &a);
}

static int gradient(th_ctx *ctx, const params_t *p)
{
    const int loss = p->operation == TH_SOFTMAX_OPERATION_LIKELIHOOD_GRADIENT;
    const th_buffer *dy = ctx->in[0], *sm = ctx->in[1];
    arguments a = {.rows = sm->shape[0], .columns = sm->shape[1], .lanes = GROUP};
    char *pointers[OPERANDS];
    if (loss && read_labels(ctx, p, ctx->in[2], &a))
        return -1;
    if (loss && dy->shape[0] != a.labelled && dy->shape[0] != 1)
        return not_as_long(ctx, "gradients of likelihoods", dy->shape[0], a.labelled);
    if (!loss && (dy->shape[0] != a.rows || dy->shape[1] != a.columns))
        return not_as_long(ctx, "rows or columns of the gradient", dy->shape[dy->shape[0] == a.rows], dy->shape[0] == a.rows ? a.columns : a.rows);
    if (ctx->rt->ensure(ctx, ctx->out[0], sm->shape))
        return -1;
    place(&a, pointers, 1, sm, 0);
    if (p->number) {
        a.is_number = 1;
        a.number = th_gpu_number(dy);
        pointers[0] = sm->data;
    } else {
        place(&a, pointers, 0, dy, 0);
    }
    if (loss)
        place(&a, pointers, 2, ctx->in[2], 0);
    place(&a, pointers, loss ? 3 : 2, ctx->out[0], 0);
    return launched(ctx, p, loss ? 4 : 3, pointers, &a);
}

/* inputs: probabilities and labels; output: minus the logarithms of the probabilities at the labels. */
static int logarithms(th_ctx *ctx, const params_t *p)
{
    const th_buffer *x = ctx->in[0];
    arguments a = {.rows = x->shape[0], .columns = x->shape[1], .lanes = GROUP};
    char *pointers[OPERANDS];
    if (read_labels(ctx, p, ctx->in[1], &a) || ctx->rt->ensure(ctx, ctx->out[0], x->shape))
        return -1;
    place(&a, pointers, 0, x, 0);
    place(&a, pointers, 1, ctx->in[1], 0);
    place(&a, pointers, 2, ctx->out[0], 0);
    return a.rows ? th_gpu_launch_items(ctx, p->function, a.rows, 3, pointers, &a, sizeof a) : 0;
}

static int logarithms_gradient(th_ctx *ctx, const params_t *p)
{
    const th_buffer *dy = ctx->in[0], *x = ctx->in[1];
    arguments a = {.rows = x->shape[0], .columns = x->shape[1], .lanes = GROUP};
    char *pointers[OPERANDS];
    if (read_labels(ctx, p, ctx->in[2], &a))
        return -1;
    if (dy->shape[0] != a.rows)
        return not_as_long(ctx, "gradients of logarithms", dy->shape[0], a.rows);
    if (ctx->rt->ensure(ctx, ctx->out[0], x->shape))
        return -1;
    place(&a, pointers, 0, dy, 0);
    place(&a, pointers, 1, x, 0);
    place(&a, pointers, 2, ctx->in[2], 0);
    place(&a, pointers, 3, ctx->out[0], 0);
    return launched(ctx, p, 4, pointers, &a);
}

TH_EXPORT int th_kernel_gpu_softmax(th_ctx *ctx)
{
    const params_t *p = ctx->params;
    if (p->operation == TH_SOFTMAX_OPERATION_LOGARITHM)
        return logarithms(ctx, p);
    if (p->operation == TH_SOFTMAX_OPERATION_LOGARITHM_GRADIENT)
        return logarithms_gradient(ctx, p);
    return p->operation == TH_SOFTMAX_OPERATION_SOFTMAX || p->operation == TH_SOFTMAX_OPERATION_LIKELIHOOD ? softmax(ctx, p) : gradient(ctx, p);
}
