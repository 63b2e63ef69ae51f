/* Axes reordered, dropped and added. */
#include "kernels.h"

TH_EXPORT int th_kernel_dimshuffle(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0];
    const th_dimshuffle_params *p = ctx->params;
    const int64_t *order = p->axes;
    th_window w;
    for (int d = 0; d < x->ndim; ++d)
        if ((p->dropped >> d & 1) && x->shape[d] != 1)
            return TH_FAIL(ctx, TH_ERR_SHAPE,
                           "dimension %d is dropped, but has length %lld: only dimensions of length 1 can go",
                           d, (long long)x->shape[d]);
    w.data = x->data;
    w.nd = (int)p->count_axes;
    w.dtype = x->dtype;
    w.itemsize = x->itemsize;
    w.device = x->device;
    for (int d = 0; d < w.nd; ++d) {
        w.shape[d] = order[d] < 0 ? 1 : x->shape[order[d]];
        w.strides[d] = order[d] < 0 ? x->itemsize : x->strides[order[d]];
    }
    return p->copies ? th_copy_of(ctx, ctx->out[0], &w) : th_view_of(ctx, ctx->out[0], x, &w);
}
