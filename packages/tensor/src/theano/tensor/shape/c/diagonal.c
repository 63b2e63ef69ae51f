/* Diagonals taken out, written in and made; matrices of ones on and below one. */
#include "kernels.h"

/* The part of a window that is diagonal `offset` of the matrices that two axes span, as its last axis. */
static void diagonal_of(th_window *part, const th_window *w, const th_diagonal *p)
{
    const int64_t offset = p->offset;
    const int first = (int)p->first, second = (int)p->second;
    part->data = w->data;
    part->dtype = w->dtype;
    part->itemsize = w->itemsize;
    part->device = w->device;
    part->nd = 0;
    for (int d = 0; d < w->nd; ++d)
        if (d != first && d != second) {
            part->shape[part->nd] = w->shape[d];
            part->strides[part->nd++] = w->strides[d];
        }
    const int64_t rows = w->shape[first] + (offset < 0 ? offset : 0), columns = w->shape[second] - (offset > 0 ? offset : 0);
    const int64_t n = rows < columns ? rows : columns;
    if (n > 0)
        part->data += offset > 0 ? offset * w->strides[second] : -offset * w->strides[first];
    part->shape[part->nd] = n > 0 ? n : 0;
    part->strides[part->nd++] = w->strides[first] + w->strides[second];
}

/* input: x. */
TH_EXPORT int th_kernel_extract_diagonal(th_ctx *ctx)
{
    const th_extract_diagonal_params *p = ctx->params;
    th_window x, part;
    th_window_of(&x, ctx->in[0]);
    diagonal_of(&part, &x, &p->diagonal);
    if (p->as_view)
        return ctx->rt->view(ctx, ctx->out[0], ctx->in[0], part.data, part.nd, part.shape, part.strides);
    if (ctx->rt->ensure(ctx, ctx->out[0], part.shape))
        return -1;
    th_window to;
    th_window_of(&to, ctx->out[0]);
    return th_copy(ctx, &to, &part);
}

/* inputs: x, the diagonal. */
TH_EXPORT int th_kernel_set_diagonal(th_ctx *ctx)
{
    const th_set_diagonal_params *p = ctx->params;
    th_window x, part, values;
    th_window_of(&x, ctx->in[0]);
    th_window_of(&values, ctx->in[1]);
    diagonal_of(&part, &x, &p->diagonal);
    if (th_stretch(ctx, &part, &values, p->ones) || th_started(ctx, 0))
        return -1;
    th_window_of(&x, ctx->out[0]);
    diagonal_of(&part, &x, &p->diagonal);
    return th_copy(ctx, &part, &values);
}

/* input: the diagonals, as last axis. */
TH_EXPORT int th_kernel_alloc_diagonal(th_ctx *ctx)
{
    const th_diagonal *p = &((const th_alloc_diagonal_params *)ctx->params)->diagonal;
    th_window values, all, part;
    th_window_of(&values, ctx->in[0]);
    const int64_t size = values.shape[values.nd - 1] + (p->offset < 0 ? -p->offset : p->offset);
    int64_t shape[TH_MAX_NDIM];
    for (int d = 0, rest = 0; d < values.nd + 1; ++d)
        shape[d] = d == p->first || d == p->second ? size : values.shape[rest++];
    if (ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    if (th_clear(ctx, ctx->out[0]))
        return -1;
    th_window_of(&all, ctx->out[0]);
    diagonal_of(&part, &all, p);
    return th_copy(ctx, &part, &values);
}

/* Ones on diagonal k, by one copy of a single element. */
static int ones_on(th_ctx *ctx, const th_buffer *out, int64_t k)
{
    const uint8_t number = 1;
    uint64_t one[2];
    th_window matrix, part, as_bool = {.data = (char *)&number, .dtype = TH_BOOL, .itemsize = 1}, element;
    th_window_of(&matrix, out);
    const int64_t rows = matrix.shape[0], columns = matrix.shape[1];
    const th_diagonal diagonal = {.offset = k < -rows ? -rows : k > columns ? columns : k, .first = 0, .second = 1};
    diagonal_of(&part, &matrix, &diagonal);
    element = (th_window){.data = (char *)one, .dtype = out->dtype, .itemsize = out->itemsize};
    th_copy_into(&element, &as_bool);
    element.nd = 1;
    element.shape[0] = part.shape[0];
    element.strides[0] = 0;
    return th_copy(ctx, &part, &element);
}

/* inputs: rows, columns, the diagonal. */
TH_EXPORT int th_kernel_eye(th_ctx *ctx)
{
    th_buffer *out = ctx->out[0];
    const int below = (int)((const th_eye_params *)ctx->params)->below;
    int64_t shape[2], k = th_integer(ctx->in[2], 0);
    for (int d = 0; d < 2; ++d) {
        shape[d] = th_integer(ctx->in[d], 0);
        if (shape[d] < 0)
            return TH_FAIL(ctx, TH_ERR_SHAPE, "length %lld for dimension %d: negative dimensions are not allowed",
                           (long long)shape[d], d);
    }
    if (ctx->rt->ensure(ctx, out, shape))
        return -1;
    const size_t size = (size_t)out->itemsize;
    if (th_clear(ctx, out))
        return -1;
    if (!below)
        return ones_on(ctx, out, k);
    /* Rows from which the diagonal is left of the first column, or beyond the last, look all the same. */
    k = k < -shape[0] ? -shape[0] : k > shape[1] ? shape[1] : k;
    th_window one;
    th_window_of(&one, out);
    const uint8_t number = 1;
    const th_window from = {.data = (char *)&number, .dtype = TH_BOOL, .itemsize = 1};
    one.nd = 1;
    for (int64_t i = 0; i < shape[0]; ++i) {
        const int64_t end = i + k + 1 < shape[1] ? i + k + 1 : shape[1];
        if (end <= 0)
            continue;
        th_window row = from;
        row.nd = 1;
        row.shape[0] = end;
        row.strides[0] = 0;
        one.data = out->data + i * shape[1] * (int64_t)size;
        one.shape[0] = end;
        one.strides[0] = (int64_t)size;
        th_copy_into(&one, &row);
    }
    return 0;
}
