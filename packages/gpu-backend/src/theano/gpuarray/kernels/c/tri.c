/* The host's half of triangles of ones. */
#include <string.h>

#include "buffers.h"
#include "gpu.h"
#include "parameters.h"

/* inputs: rows, columns, the diagonal (the host's). */
TH_EXPORT int th_kernel_gpu_tri(th_ctx *ctx)
{
    const th_device_tri_params *p = ctx->params;
    th_gpu *gpu = p->function->gpu;
    int64_t shape[2], k = th_integer(ctx->in[2], 0);
    for (int d = 0; d < 2; ++d) {
        shape[d] = th_integer(ctx->in[d], 0);
        if (shape[d] < 0)
            return TH_FAIL(ctx, TH_ERR_SHAPE, "length %lld for dimension %d: negative dimensions are not allowed", (long long)shape[d], d);
    }
    if (ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    k = k < -shape[0] ? -shape[0] : k > shape[1] ? shape[1] : k;
    struct {
        int64_t at[1], n, columns, diagonal, bytes;
        uint64_t one;
    } a = {.n = shape[0] * shape[1], .columns = shape[1], .diagonal = k, .bytes = ctx->out[0]->itemsize};
    memcpy(&a.one, p->one, sizeof a.one);
    char *pointers[] = {ctx->out[0]->data};
    const th_gpu_launch what = {p->function->function, (a.n + gpu->group - 1) / gpu->group, gpu->group, 1, pointers, (int64_t *)&a, sizeof a};
    return a.n && th_gpu_launched(gpu, &what) ? th_gpu_failed(ctx, gpu) : 0;
}
