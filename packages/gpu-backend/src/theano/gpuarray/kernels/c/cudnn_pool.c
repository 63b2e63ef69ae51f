/* Means of windows, and their gradient, by cuDNN, where Python has found it (`libraries.py`).
 *
 * It has the mean of windows that all fit, with as much padding before the elements as behind them, along two or three axes of
 * images with channels. Kernels of ours (`pool.c`) compute the rest:
 *
 * - largest elements: of -inf alone cuDNN 9.19 gives the least number that is finite;
 * - sums: a mean times the number of elements is not the sum to the last digit, nor whole where its terms are;
 * - what is derived from largest elements: where several of a window are the largest, each of them gets the gradient here and
 *   on the CPU, while NVIDIA's documents leave open which of them get it. Whether there are several, only the values say;
 * - windows that the border cuts (ignore_border=False, where the last one does not fit), or that cover padding alone;
 * - arrays whose elements are not neighbours along the last axis: the documents of cuDNN 8 exclude them.
 */
#include <limits.h>
#include <string.h>

#include "cudnn.h"
#include "pool.h"

typedef th_device_pool_params params_t;

enum { PLACES = TH_CUDNN_AXES - 2 };

/* The arguments of `pool`. The images are what is pooled, or its gradient; `pooled` has an element for each window. */
typedef struct pooling {
    int is_gradient, type, mode, ndim;
    int image[TH_CUDNN_AXES], image_steps[TH_CUDNN_AXES], pooled[TH_CUDNN_AXES], pooled_steps[TH_CUDNN_AXES];
    int size[PLACES], padding[PLACES], step[PLACES];
    char *image_data, *pooled_data;
} pooling;

/* -- in cuDNN's words ------------------------------------------------------------------------------------------------ */

/* Does each window fit, and reach an element, and would another one not fit? */
static int fits(const th_pool_axis *a)
{
    const int64_t end = (a->windows - 1) * a->stride + a->size, all = a->n + 2 * a->pad;
    return a->pad < a->size && end <= all && all < end + a->stride && a->size <= INT_MAX && a->stride <= INT_MAX;
}

/* Lengths and strides of an array: axes that are not pooled as images and channels, and `places` others. */
static void spread(const th_buffer *b, int left, const int64_t *kept, const int64_t *kept_stride, int nd, int places, int64_t *length,
                   int64_t *stride)
{
    for (int d = 0; d < TH_CUDNN_AXES; ++d) {
        length[d] = 1;
        stride[d] = 0;
    }
    memcpy(length + 2 - left, kept, (size_t)left * sizeof *kept);
    memcpy(stride + 2 - left, kept_stride, (size_t)left * sizeof *kept);
    memcpy(length + 2 + places - nd, b->shape + b->ndim - nd, (size_t)nd * sizeof *length);
    memcpy(stride + 2 + places - nd, b->strides + b->ndim - nd, (size_t)nd * sizeof *stride);
}

static int describe_arrays(const th_buffer *image, const th_buffer *pooled, int nd, int places, pooling *g)
{
    const int all = image->ndim - nd;
    int64_t kept[TH_MAX_NDIM], strides[2 * TH_MAX_NDIM], length[TH_CUDNN_AXES], stride[TH_CUDNN_AXES];
    memcpy(kept, image->shape, (size_t)all * sizeof *kept);
    memcpy(strides, image->strides, (size_t)all * sizeof *strides);
    memcpy(strides + all, pooled->strides, (size_t)all * sizeof *strides);
    const int left = th_gpu_collapse(all, kept, 2, strides);
    if (left > 2)
        return 0;
    spread(image, left, kept, strides, nd, places, length, stride);
    if (!th_cudnn_describe(g->ndim, length, stride, image->itemsize, g->image, g->image_steps))
        return 0;
    spread(pooled, left, kept, strides + left, nd, places, length, stride);
    return th_cudnn_describe(g->ndim, length, stride, image->itemsize, g->pooled, g->pooled_steps) &&
           g->image_steps[g->ndim - 1] == 1 && g->pooled_steps[g->ndim - 1] == 1;
}

static int describe(th_ctx *ctx, const params_t *p, const th_pool_axis *axes, pooling *g)
{
    const int nd = (int)p->ndim, places = nd == 1 ? 2 : nd; /* along one axis: images of one line */
    const th_buffer *image = ctx->in[0], *pooled = ctx->out[0];
    memset(g, 0, sizeof *g);
    g->is_gradient = p->operation == TH_POOL_OPERATION_SUM_GRADIENT;
    if (nd > PLACES || !p->mean || !(g->is_gradient || p->operation == TH_POOL_OPERATION_SUM))
        return 0;
    if (g->is_gradient) {
        image = ctx->out[0];
        pooled = ctx->in[1];
    }
    g->type = th_cudnn_type(image->dtype);
    g->mode = p->with_padding ? TH_CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING : TH_CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING;
    g->ndim = 2 + places;
    g->image_data = image->data;
    g->pooled_data = pooled->data;
    for (int d = 0; d < places; ++d) {
        const th_pool_axis line = {.n = 1, .windows = 1, .size = 1, .stride = 1}, *a = d < places - nd ? &line : axes + d - (places - nd);
        if (!fits(a))
            return 0;
        g->size[d] = (int)a->size;
        g->padding[d] = (int)a->pad;
        g->step[d] = (int)a->stride;
    }
    return describe_arrays(image, pooled, nd, places, g);
}

/* -- calls ----------------------------------------------------------------------------------------------------------- */

static int pool(struct th_gpu_cudnn *dnn, const void *told)
{
    const pooling *g = told;
    const void *one = th_cudnn_factor(g->type, 1), *none = th_cudnn_factor(g->type, 0);
    int status = dnn->cudnnSetTensorNdDescriptor(dnn->image, g->type, g->ndim, g->image, g->image_steps);
    if (status == 0)
        status = dnn->cudnnSetTensorNdDescriptor(dnn->output, g->type, g->ndim, g->pooled, g->pooled_steps);
    if (status == 0) /* what is not a number is larger than any number */
        status = dnn->cudnnSetPoolingNdDescriptor(dnn->pooling, g->mode, TH_CUDNN_PROPAGATE_NAN, g->ndim - 2, g->size, g->padding,
                                                  g->step);
    if (status)
        return status;
    if (!g->is_gradient)
        return dnn->cudnnPoolingForward(dnn->handle, dnn->pooling, one, dnn->image, g->image_data, none, dnn->output, g->pooled_data);
    /* The gradient of a mean depends on neither the images nor their means. cuDNN wants addresses of them nevertheless, of the
     * strides that their gradients have: these are in their place. */
    return dnn->cudnnPoolingBackward(dnn->handle, dnn->pooling, one, dnn->output, g->pooled_data, dnn->output, g->pooled_data,
                                     dnn->image, g->image_data, none, dnn->image, g->image_data);
}

static int run(th_gpu *gpu, void *stream, const void *told) { return th_cudnn_run(gpu, stream, pool, told, "pooling by cuDNN"); }

int th_cudnn_pool(th_ctx *ctx, const params_t *p, const th_pool_axis *axes)
{
    th_gpu *gpu = p->function->gpu;
    pooling g;
    if (gpu->cudnn == NULL || !describe(ctx, p, axes, &g))
        return 0;
    __atomic_add_fetch(&gpu->counts.launches, 1, __ATOMIC_RELAXED);
    return th_gpu_run_later(gpu, run, &g, sizeof g) ? th_gpu_failed(ctx, gpu) : 1;
}
