/* The host's half of neighbourhoods as rows. */
#include <string.h>

#include "gpu.h"
#include "neighbours_sizes.h"
#include "parameters.h"

typedef th_device_neighbours_params params_t;

/* The struct of the device function. */
typedef struct arguments {
    int64_t at[2], n, words, wraps, channels, step[4], line, element;
    th_neighbours_axis axes[2];
} arguments;

/* inputs: images, the size of a neighbourhood, the step from one to the next. */
TH_EXPORT int th_kernel_gpu_neighbours(th_ctx *ctx)
{
    const params_t *p = ctx->params;
    const th_buffer *x = ctx->in[0];
    th_buffer *out = ctx->out[0];
    int64_t shape[2];
    arguments a = {.channels = x->shape[1], .words = x->itemsize == 16 ? 2 : 1, .wraps = p->mode == TH_NEIGHBOURS_WRAP_CENTERED};
    if (th_neighbours_read(ctx, (int32_t)p->mode, a.axes, shape) || ctx->rt->ensure(ctx, out, shape))
        return -1;
    a.n = shape[0] * shape[1];
    if (a.n == 0)
        return 0;
    memcpy(a.step, x->strides, sizeof a.step);
    a.line = out->strides[0];
    a.element = out->strides[1];
    char *pointers[] = {x->data, out->data};
    return th_gpu_launch_items(ctx, p->function, a.n, 2, pointers, &a, sizeof a);
}
