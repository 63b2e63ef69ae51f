/* Diagonals taken out, written in and made. */
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
        return th_view_of(ctx, ctx->out[0], ctx->in[0], &part);
    return th_copy_of(ctx, ctx->out[0], &part);
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
