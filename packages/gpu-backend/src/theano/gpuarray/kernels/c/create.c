/* The host's half of triangles of ones. */
#include "buffers.h"
#include "gpu.h"
#include "parameters.h"

/* inputs, of the host's: rows, columns, the diagonal. */
TH_EXPORT int th_kernel_gpu_tri(th_ctx *ctx)
{
    const th_device_triangle_params *p = ctx->params;
    th_buffer *out = ctx->out[0];
    int64_t shape[2], k = th_integer(ctx->in[2], 0);
    for (int d = 0; d < 2; ++d) {
        shape[d] = th_integer(ctx->in[d], 0);
        if (shape[d] < 0)
            return ctx->rt->fail(ctx, TH_ERR_SHAPE, "length %lld for dimension %d: negative dimensions are not allowed",
                                 (long long)shape[d], d);
    }
    if (ctx->rt->ensure(ctx, out, shape))
        return -1;
    struct {
        int64_t at[1], columns, all, diagonal, step[2];
    } a = {.columns = shape[1], .all = shape[0] * shape[1], .diagonal = k < -shape[0] ? -shape[0] : k > shape[1] ? shape[1] : k,
           .step = {out->strides[0], out->strides[1]}};
    return th_gpu_launch_items(ctx, p->function, a.all, 1, &out->data, &a, sizeof a);
}
