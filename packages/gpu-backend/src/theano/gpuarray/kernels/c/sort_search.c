/* The host's half of searches in sorted vectors, and of counts. */
#include <string.h>

#include "buffers.h"
#include "sort.h"
#include "parameters.h"

enum { AXES = 16 };

/* inputs: a sorted vector, values. */
TH_EXPORT int th_kernel_gpu_search(th_ctx *ctx)
{
    const th_device_search_params *p = ctx->params;
    const th_buffer *x = ctx->in[0], *v = ctx->in[1];
    struct {
        int64_t at[3], n, count, right, step, axes, shape[AXES], strides[AXES];
    } a = {.n = x->shape[0], .count = 1, .right = p->right, .step = x->strides[0]};
    int64_t shape[TH_MAX_NDIM], strides[TH_MAX_NDIM];
    if (ctx->rt->ensure(ctx, ctx->out[0], v->shape))
        return -1;
    for (int d = 0; d < v->ndim; ++d) {
        shape[d] = v->shape[d];
        strides[d] = v->strides[d];
        a.count *= shape[d];
    }
    if (a.count == 0)
        return 0;
    a.axes = th_gpu_collapse(v->ndim, shape, 1, strides);
    memcpy(a.shape, shape, (size_t)a.axes * sizeof *shape);
    memcpy(a.strides, strides, (size_t)a.axes * sizeof *strides);
    char *pointers[] = {a.n ? x->data : v->data, v->data, ctx->out[0]->data};
    return th_gpu_launch_items(ctx, p->function, a.count, 3, pointers, &a, sizeof a);
}

/* Reads an integer from device memory, as th_integer does from the host's. */
static int read_number(th_ctx *ctx, th_gpu *gpu, const th_buffer *like, char *from, int64_t *to)
{
    char value[8];
    th_buffer one = {.data = value, .dtype = like->dtype};
    if (gpu->memory.copy(&gpu->memory, value, from, (size_t)like->itemsize, TH_FROM_DEVICE))
        return th_gpu_failed(ctx, gpu);
    *to = th_integer(&one, 0);
    return 0;
}

/* How long the result is: the smallest and the largest number are read back. */
static int length_of(th_ctx *ctx, th_gpu *gpu, const th_buffer *x, char *sorted, int64_t *length)
{
    const int64_t n = x->shape[0];
    int64_t least = 0, most = -1;
    if (n && (read_number(ctx, gpu, x, sorted, &least) || read_number(ctx, gpu, x, sorted + (n - 1) * x->itemsize, &most)))
        return -1;
    if (least < 0 || (n && most < 0))
        return TH_FAIL(ctx, TH_ERR_VALUE, "bincount counts numbers from 0, but was given %lld", (long long)(least < 0 ? least : most));
    if (most == INT64_MAX)
        return TH_FAIL(ctx, TH_ERR_MEMORY, "not enough memory to count numbers up to %lld", (long long)most);
    *length = most >= *length ? most + 1 : *length;
    return 0;
}

static int counted(th_ctx *ctx, const th_device_bincount_params *p, char *room, int64_t length)
{
    const th_buffer *x = ctx->in[0], *w = p->weighted ? ctx->in[2] : NULL;
    th_gpu *gpu = p->count->gpu;
    const int64_t n = x->shape[0];
    char *sorted = room + 8 * n;
    const th_gpu_order order = {p->blocks, p->merge, p->put, x->data, sorted, room, x->dtype, x->itemsize, 8, n, n, 0,
                                {x->strides[0], x->itemsize, 8}, 0, {0}, {{0}}};
    if (th_gpu_sort(ctx, &order) || length_of(ctx, gpu, x, sorted, &length) || ctx->rt->ensure(ctx, ctx->out[0], &length))
        return -1;
    struct {
        int64_t at[4], n, bins, weighted, step;
    } a = {.n = n, .bins = length, .weighted = w != NULL, .step = w ? w->strides[0] : 0};
    char *pointers[] = {sorted, room, w && n ? w->data : room, length ? ctx->out[0]->data : room};
    return th_gpu_launch_items(ctx, p->count, length, 4, pointers, &a, sizeof a);
}

/* inputs: a vector of whole numbers, the least length of the result (the host's), perhaps weights. */
TH_EXPORT int th_kernel_gpu_bincount(th_ctx *ctx)
{
    const th_device_bincount_params *p = ctx->params;
    const th_buffer *x = ctx->in[0], *w = p->weighted ? ctx->in[2] : NULL;
    th_gpu *gpu = p->count->gpu;
    const int64_t n = x->shape[0], length = th_integer(ctx->in[1], 0);
    if (length < 0)
        return TH_FAIL(ctx, TH_ERR_VALUE, "minlength must not be negative, but is %lld", (long long)length);
    if (w && w->shape[0] != n)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "%lld weights are given for %lld numbers", (long long)w->shape[0], (long long)n);
    const size_t bytes = (size_t)(n ? n : 1) * 16;
    char *room = th_gpu_scratch(gpu, bytes);
    if (room == NULL)
        return th_gpu_no_room(ctx, bytes);
    const int status = counted(ctx, p, room, length);
    th_gpu_scratch_release(gpu, room, bytes);
    return status;
}
