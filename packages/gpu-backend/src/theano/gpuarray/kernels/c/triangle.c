/* The host's half of triangles of ones. */
#include "buffers.h"
#include "gpu.h"
#include "parameters.h"

/* inputs, of the host's: rows, columns, the diagonal. */
TH_EXPORT int th_kernel_gpu_triangle(th_ctx *ctx)
{
    const th_device_triangle_params *p = ctx->params;
    th_gpu *gpu = p->function->gpu;
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
    const th_gpu_launch launch = {p->function->function, (a.all + gpu->group - 1) / gpu->group, gpu->group, 1, &out->data,
                                  (int64_t *)&a, sizeof a};
    return a.all && th_gpu_launched(gpu, &launch) ? th_gpu_failed(ctx, gpu) : 0;
}
