/* The host's half of pooling and its derivatives. */
#include <string.h>

#include "pool.h"

typedef th_device_pool_params params_t;

enum { OPERANDS = 4 };

/* The arrays that an operation is given behind the first one, and which of them have the shape of the windows. */
static const struct form {
    int arrays, pools; /* with the first one; whether the result has the shape of the windows */
    const char *name[2];
    int pooled[2];
} forms[] = {
    [TH_POOL_OPERATION_MAX] = {1, 1, {NULL}, {0}},
    [TH_POOL_OPERATION_SUM] = {1, 1, {NULL}, {0}},
    [TH_POOL_OPERATION_MAX_GRADIENT] = {3, 0, {"maxout", "gz"}, {1, 1}},
    [TH_POOL_OPERATION_MAX_GRADIENT_GRADIENT] = {3, 1, {"maxout", "ggx"}, {1, 0}},
    [TH_POOL_OPERATION_SUM_GRADIENT] = {2, 0, {"gz"}, {1}},
    [TH_POOL_OPERATION_MAX_DIRECTION] = {2, 1, {"eval_point"}, {0}},
};

static int needs_elements(const params_t *p)
{
    const int sums = p->operation == TH_POOL_OPERATION_SUM || p->operation == TH_POOL_OPERATION_SUM_GRADIENT;
    return !sums || (p->mean && !p->with_padding);
}

/* The struct `pool_args` of the device's half, whose tables are of as many axes as there are. Returns its end. */
static int64_t *write_args(int64_t *a, const params_t *p, const th_pool_axis *axes, th_buffer *const *operands, int count, int64_t n)
{
    const int nd = (int)p->ndim, all = operands[0]->ndim - nd, room = all ? all : 1;
    int64_t kept[TH_MAX_NDIM], strides[OPERANDS * TH_MAX_NDIM];
    for (int k = 0; k < count; ++k)
        memcpy(strides + k * all, operands[k]->strides, (size_t)all * sizeof *strides);
    memcpy(kept, operands[0]->shape, (size_t)all * sizeof *kept);
    const int left = th_gpu_collapse(all, kept, count, strides);
    memset(a, 0, OPERANDS * sizeof *a);
    a += OPERANDS;
    *a++ = n;
    *a++ = p->mean;
    *a++ = p->with_padding;
    *a++ = left;
    memcpy(a, axes, (size_t)nd * sizeof *axes);
    a += (size_t)nd * sizeof *axes / sizeof *a;
    memset(a, 0, (size_t)(OPERANDS * (nd + room) + room) * sizeof *a);
    for (int k = 0; k < count; ++k)
        memcpy(a + k * nd, operands[k]->strides + all, (size_t)nd * sizeof *a);
    a += OPERANDS * nd;
    memcpy(a, kept, (size_t)left * sizeof *a);
    a += room;
    for (int k = 0; k < count; ++k)
        memcpy(a + k * room, strides + k * left, (size_t)left * sizeof *a);
    return a + OPERANDS * room;
}

TH_EXPORT int th_kernel_gpu_pool(th_ctx *ctx)
{
    const params_t *p = ctx->params;
    const struct form *form = forms + p->operation;
    const int nd = (int)p->ndim, count = form->arrays + 1;
    th_pool_axis axes[TH_MAX_NDIM];
    if (th_pool_read_axes(ctx, form->arrays, nd, (int)p->ignore_border, needs_elements(p), axes))
        return -1;
    for (int k = 1; k < form->arrays; ++k) {
        if (th_pool_check_shape(ctx, nd, axes, k, form->name[k - 1], form->pooled[k - 1]))
            return -1;
    }
    int64_t shape[TH_MAX_NDIM], n = 1;
    th_pool_shape(ctx, nd, axes, form->pools, shape);
    if (ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    for (int d = 0; d < ctx->in[0]->ndim; ++d)
        n *= shape[d];
    if (n == 0)
        return 0;
    const int done = th_cudnn_pool(ctx, p, axes);
    if (done)
        return done < 0 ? -1 : 0;
    th_buffer *operands[OPERANDS] = {NULL};
    char *pointers[OPERANDS];
    for (int k = 0; k < count; ++k) {
        operands[k] = k < form->arrays ? ctx->in[k] : ctx->out[0];
        pointers[k] = operands[k]->data;
    }
    int64_t args[TH_GPU_ARGS / 8];
    const int64_t *end = write_args(args, p, axes, operands, count, n);
    return th_gpu_launch_items(ctx, p->function, n, count, pointers, args, (size_t)(end - args) * sizeof *args);
}
