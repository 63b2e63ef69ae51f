/* Softmax of the rows of a matrix, its logarithm, its cross entropy with classes, and the gradients of both. */
#include "lanes.h"

#include "c/wide.h"
#include "c/exponential.h"
#include "c/logarithm.h"

enum { SHORT = TH_SOFTMAX_SHORT, GROUP = TH_SOFTMAX_GROUP };

/* How many rows of n numbers stay with one thread: how many a group of short ones has decides the order of its sums. */
static inline int64_t rows_together(int64_t n) { return n <= SHORT ? GROUP : 1; }

static int not_one_each(th_ctx *ctx, const char *what, int64_t count, int64_t rows)
{
    return TH_FAIL(ctx, TH_ERR_SHAPE, "%lld %s for %lld rows", (long long)count, what, (long long)rows);
}

/* Labels as an index: [arange(k), label] of the first k rows, or [arange(rows), label] of all, where one label alone stands
 * for many. It counts from the end where it is negative. */
static int labels_of(th_ctx *ctx, th_buffer *label, int64_t how, int64_t rows, int64_t columns)
{
    if (how == TH_LABELS_ALL && label->shape[0] == 1) {
        label->shape[0] = rows;
        label->strides[0] = 0;
    }
    const int64_t k = label->shape[0];
    if (how == TH_LABELS_FIRST && k > rows)
        return TH_FAIL(ctx, TH_ERR_INDEX, "index %lld is out of bounds for axis 0 with size %lld", (long long)rows, (long long)rows);
    if (how == TH_LABELS_ALL && k != rows)
        return TH_FAIL(ctx, TH_ERR_INDEX, "shape mismatch: indexing arrays could not be broadcast together: %lld rows and "
                       "%lld labels", (long long)rows, (long long)k);
    for (int64_t i = 0; i < k; ++i) {
        const int64_t column = th_integer(label, i);
        if (column < -columns || column >= columns)
            return TH_FAIL(ctx, TH_ERR_INDEX, "index %lld is out of bounds for axis 1 with size %lld", (long long)column,
                           (long long)columns);
    }
    return 0;
}

static inline int64_t label_at(const th_buffer *label, int64_t i, int64_t columns)
{
    const int64_t k = th_integer(label, i);
    return k < 0 ? k + columns : k;
}

/* One label for each row, each the number of a column. */
static int check_labels(th_ctx *ctx, const th_buffer *label, int64_t rows, int64_t columns)
{
    if (label->shape[0] != rows)
        return not_one_each(ctx, "labels", label->shape[0], rows);
    for (int64_t i = 0; i < rows; ++i) {
        const int64_t k = th_integer(label, i);
        if (k < 0 || k >= columns)
            return TH_FAIL(ctx, TH_ERR_VALUE,
                           "y_i value out of bounds: row %lld has label %lld, but there are %lld columns, counted from 0",
                           (long long)i, (long long)k, (long long)columns);
    }
    return 0;
}

/* The labels that choose from a matrix, checked; `table` is memory for their length and step. */
static int chosen_labels(th_ctx *ctx, int input, int64_t how, const th_buffer *m, th_buffer *label, int64_t *table)
{
    *label = *ctx->in[input];
    if (how == TH_LABELS_EACH)
        return check_labels(ctx, label, m->shape[0], m->shape[1]);
    table[0] = label->shape[0];
    table[1] = label->strides[0];
    label->shape = table;
    label->strides = table + 1;
    return labels_of(ctx, label, how, m->shape[0], m->shape[1]);
}

static void put_place(const th_buffer *place, int64_t row, int64_t value)
{
    char *to = place->data + row * place->itemsize;
    switch (place->itemsize) {
    case 1: *(int8_t *)to = (int8_t)value; break;
    case 2: *(int16_t *)to = (int16_t)value; break;
    case 4: *(int32_t *)to = (int32_t)value; break;
    default: *(int64_t *)to = value; break;
    }
}

#define REAL float
#define INTEGER int32_t
#define NAME(WHAT) WHAT##_f4
#define EXP th_exp_f32
#define LOG th_log_f32
#define LANES 32
#define VECTOR TH_WIDTH_4
#include "softmax_rows.h"
#undef REAL
#undef INTEGER
#undef NAME
#undef EXP
#undef LOG
#undef LANES
#undef VECTOR
#define REAL double
#define INTEGER int64_t
#define NAME(WHAT) WHAT##_f8
#define EXP th_exp_f64
#define LOG th_log_f64
#define LANES 32
#define VECTOR TH_WIDTH_8
#include "softmax_rows.h"

/* inputs: x, perhaps b, perhaps labels. Results: the softmax of x + b; or minus its logarithm at the labels, the softmax,
 * and where the largest elements are. */
TH_EXPORT int th_kernel_softmax(th_ctx *ctx)
{
    const th_softmax_params *p = ctx->params;
    const int bias = (int)p->bias, as_log = (int)p->as_log, loss = (int)p->loss;
    const th_buffer *x = ctx->in[0];
    if (bias && ctx->in[1]->shape[0] != x->shape[1])
        return TH_FAIL(ctx, TH_ERR_SHAPE, "the bias has %lld elements, the rows have %lld",
                       (long long)ctx->in[1]->shape[0], (long long)x->shape[1]);
    int64_t labels[2];
    th_buffer label;
    if (loss && chosen_labels(ctx, 2, p->labels, x, &label, labels))
        return -1;
    for (int i = 0; i < ctx->nout; ++i)
        if (ctx->rt->ensure(ctx, ctx->out[i], loss && i == 0 ? label.shape : x->shape))
            return -1;
    if (x->shape[0] == 0 || x->shape[1] == 0)
        return 0;
    return (x->dtype == TH_FLOAT32 ? softmax_f4 : softmax_f8)(ctx, bias, as_log, loss ? &label : NULL);
}

/* inputs: dy, sm. */
TH_EXPORT int th_kernel_softmax_grad(th_ctx *ctx)
{
    const th_buffer *dy = ctx->in[0], *sm = ctx->in[1];
    for (int d = 0; d < 2; ++d)
        if (dy->shape[d] != sm->shape[d])
            return th_mismatch(ctx, d, 0, dy->shape[d], 1, sm->shape[d]);
    if (ctx->rt->ensure(ctx, ctx->out[0], sm->shape))
        return -1;
    return (sm->dtype == TH_FLOAT32 ? softmax_grad_f4 : softmax_grad_f8)(ctx);
}

/* inputs: dy (one, or one for each row), sm, labels. */
TH_EXPORT int th_kernel_crossentropy_dx(th_ctx *ctx)
{
    const th_buffer *dy = ctx->in[0], *sm = ctx->in[1];
    const int64_t how = ((const th_crossentropy_dx_params *)ctx->params)->labels;
    int64_t labels[2];
    th_buffer label;
    if (how == TH_LABELS_EACH && dy->shape[0] != sm->shape[0] && dy->shape[0] != 1)
        return not_one_each(ctx, "gradients", dy->shape[0], sm->shape[0]);
    if (chosen_labels(ctx, 2, how, sm, &label, labels))
        return -1;
    if (dy->shape[0] != label.shape[0] && dy->shape[0] != 1)
        return not_one_each(ctx, "gradients", dy->shape[0], label.shape[0]);
    if (ctx->rt->ensure(ctx, ctx->out[0], sm->shape))
        return -1;
    return (sm->dtype == TH_FLOAT32 ? loss_grad_f4 : loss_grad_f8)(ctx, &label);
}

/* One probability of each row, as float64 has it exactly, or as float32 has float16. */
static double picked(const th_buffer *b, int64_t row, int64_t column)
{
    const char *at = b->data + row * b->strides[0] + column * b->strides[1];
    return b->dtype == TH_FLOAT64 ? *(const double *)at
           : b->dtype == TH_FLOAT32 ? (double)*(const float *)at : (double)th_load_f16(*(const uint16_t *)at);
}

static void put_real(int32_t dtype, char *to, double value)
{
    switch (dtype) {
    case TH_FLOAT16: *(uint16_t *)to = th_store_f16((float)value); break;
    case TH_FLOAT32: *(float *)to = (float)value; break;
    default: *(double *)to = value; break;
    }
}

/* inputs: probabilities, labels. Minus the logarithm of the one at each row's label. */
TH_EXPORT int th_kernel_crossentropy_1hot(th_ctx *ctx)
{
    const th_buffer *p = ctx->in[0], *label = ctx->in[1];
    th_buffer *out = ctx->out[0];
    if (check_labels(ctx, label, p->shape[0], p->shape[1]) || ctx->rt->ensure(ctx, out, p->shape))
        return -1;
    for (int64_t i = 0; i < p->shape[0]; ++i) {
        const double v = picked(p, i, th_integer(label, i));
        const double found = p->dtype == TH_FLOAT64 ? th_log_f64(v) : (double)th_log_f32((float)v);
        put_real(out->dtype, out->data + i * out->itemsize, -found);
    }
    return 0;
}

/* inputs: the gradient of each cross entropy, probabilities, labels. */
TH_EXPORT int th_kernel_crossentropy_1hot_grad(th_ctx *ctx)
{
    const th_buffer *g = ctx->in[0], *p = ctx->in[1], *label = ctx->in[2];
    th_buffer *out = ctx->out[0];
    const int64_t rows = p->shape[0], columns = p->shape[1];
    if (g->shape[0] != rows)
        return not_one_each(ctx, "gradients", g->shape[0], rows);
    if (check_labels(ctx, label, rows, columns) || ctx->rt->ensure(ctx, out, p->shape))
        return -1;
    memset(out->data, 0, (size_t)(rows * columns * out->itemsize));
    for (int64_t i = 0; i < rows; ++i) {
        const int64_t k = th_integer(label, i);
        th_buffer one = *g;
        one.data += i * g->strides[0];
        one.ndim = 0;
        const double v = picked(p, i, k), slope = -th_real(&one);
        const double found = out->dtype == TH_FLOAT64 ? slope / v : (double)((float)slope / (float)v);
        put_real(out->dtype, out->data + (i * columns + k) * out->itemsize, found);
    }
    return 0;
}
