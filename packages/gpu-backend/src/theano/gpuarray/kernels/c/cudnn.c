/* Convolutions and their gradients by cuDNN, where Python has found it (`libraries.py`).
 *
 * cuDNN has tensors of any positive strides, but filters in one piece, and as many zeros before an image as behind it. What it has
 * no words for kernels of ours compute. Of its algorithms the one is taken that it thinks the fastest, of those that give the same
 * result each time and for which there is memory to work in.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "conv.h"
#include "cudnn.h"

enum { MOST = TH_CUDNN_AXES, ALGORITHMS = 10, CHOSEN = 64 };

/* All that an algorithm is chosen by: lengths, and distances in elements. */
typedef struct geometry {
    int direction, type, ndim, groups, mode, math;
    int image[MOST], image_steps[MOST], output[MOST], output_steps[MOST], kernel[MOST], padding[3], step[3], dilation[3];
} geometry;

struct th_cudnn_choice {
    geometry of;
    int algorithm, math; /* -1: none will do */
    size_t bytes;
};
typedef th_cudnn_choice choice;

/* The arguments of `run`. */
typedef struct told {
    choice chosen;
    char *image, *kernel, *output, *workspace;
} told;

/* -- in cuDNN's words ------------------------------------------------------------------------------------------------ */

int th_cudnn_describe(int ndim, const int64_t *length, const int64_t *stride, int64_t size, int *lengths, int *steps)
{
    int64_t whole = 1;
    for (int d = ndim - 1; d >= 0; --d) {
        const int64_t step = length[d] == 1 ? whole : stride[d] / size; /* of one element it is what cuDNN likes */
        if (length[d] < 1 || step < 1 || (length[d] > 1 && stride[d] % size) || length[d] > INT_MAX / step)
            return 0;
        lengths[d] = (int)length[d];
        steps[d] = (int)step;
        whole = step * length[d];
    }
    return 1;
}

static int describe_tensor(const tensor *t, int64_t outer, int64_t inner, const int64_t *places, int axes, int64_t size, int *lengths,
                           int *steps)
{
    int64_t length[MOST] = {outer, inner}, stride[MOST] = {t->outer, t->inner};
    for (int d = 0; d < axes; ++d) {
        length[2 + d] = places[TH_CONV_AXES - axes + d];
        stride[2 + d] = t->at[TH_CONV_AXES - axes + d];
    }
    return th_cudnn_describe(2 + axes, length, stride, size, lengths, steps);
}

static int lies_in_one_piece(const geometry *g, const int *steps)
{
    int whole = 1;
    for (int d = g->ndim - 1; d >= 0; whole *= g->kernel[d], --d)
        if (steps[d] != whole)
            return 0;
    return 1;
}

/* An axis along which nothing happens: images of two dimensions have one. */
static int is_left_out(const th_conv_axis *s) { return s->image == 1 && s->kernel == 1 && s->output == 1 && s->before == 0; }

static int describe(const convolution *q, int tf32, int64_t size, int32_t dtype, geometry *g)
{
    const int axes = is_left_out(q->axis) ? 2 : 3;
    int64_t image[TH_CONV_AXES], kernel[TH_CONV_AXES], output[TH_CONV_AXES];
    int steps[MOST];
    memset(g, 0, sizeof *g);
    g->direction = (int)q->p->direction;
    g->type = th_cudnn_type(dtype);
    g->ndim = 2 + axes;
    g->groups = (int)q->groups;
    g->mode = q->p->conv.flip ? TH_CUDNN_CONVOLUTION : TH_CUDNN_CROSS_CORRELATION;
    g->math = dtype == TH_FLOAT32 && !tf32 ? TH_CUDNN_FMA_MATH : TH_CUDNN_DEFAULT_MATH;
    if (q->p->unshared || q->groups > INT_MAX)
        return 0;
    for (int d = 0; d < TH_CONV_AXES; ++d) {
        const th_conv_axis *s = q->axis + d;
        const int own = d - (TH_CONV_AXES - axes);
        image[d] = s->image;
        kernel[d] = s->kernel;
        output[d] = s->output;
        if (s->before != s->after || s->before > INT_MAX || s->step > INT_MAX || s->dilation > INT_MAX)
            return 0;
        if (own < 0)
            continue;
        g->padding[own] = (int)s->before;
        g->step[own] = (int)s->step;
        g->dilation[own] = (int)s->dilation;
    }
    return describe_tensor(&q->image, q->batch, q->groups * q->channels, image, axes, size, g->image, g->image_steps) &&
           describe_tensor(&q->output, q->batch, q->groups * q->filters, output, axes, size, g->output, g->output_steps) &&
           describe_tensor(&q->kernel, q->groups * q->filters, q->channels, kernel, axes, size, g->kernel, steps) &&
           lies_in_one_piece(g, steps);
}

/* -- calls ----------------------------------------------------------------------------------------------------------- */

static int set_descriptors(struct th_gpu_cudnn *dnn, const geometry *g, int math)
{
    int status = dnn->cudnnSetTensorNdDescriptor(dnn->image, g->type, g->ndim, g->image, g->image_steps);
    if (status == 0)
        status = dnn->cudnnSetTensorNdDescriptor(dnn->output, g->type, g->ndim, g->output, g->output_steps);
    if (status == 0)
        status = dnn->cudnnSetFilterNdDescriptor(dnn->kernel, g->type, TH_CUDNN_TENSOR_NCHW, g->ndim, g->kernel);
    if (status == 0) /* sums of float16 are of float32 */
        status = dnn->cudnnSetConvolutionNdDescriptor(dnn->convolution, g->ndim - 2, g->padding, g->step, g->dilation, g->mode,
                                                      g->type == TH_CUDNN_DATA_DOUBLE ? TH_CUDNN_DATA_DOUBLE : TH_CUDNN_DATA_FLOAT);
    if (status == 0)
        status = dnn->cudnnSetConvolutionGroupCount(dnn->convolution, g->groups);
    return status ? status : dnn->cudnnSetConvolutionMathType(dnn->convolution, math);
}

/* The algorithm for a geometry; -1: none exists. */
static void choose(struct th_gpu_cudnn *dnn, choice *c)
{
    th_cudnn_algorithm all[ALGORITHMS];
    int count = 0, status = set_descriptors(dnn, &c->of, c->of.math);
    c->algorithm = -1;
    if (status == 0 && c->of.direction == TH_CONV_DIRECTION_FORWARD)
        status = dnn->cudnnGetConvolutionForwardAlgorithm_v7(dnn->handle, dnn->image, dnn->kernel, dnn->convolution, dnn->output,
                                                             ALGORITHMS, &count, all);
    else if (status == 0 && c->of.direction == TH_CONV_DIRECTION_FILTERS)
        status = dnn->cudnnGetConvolutionBackwardFilterAlgorithm_v7(dnn->handle, dnn->image, dnn->output, dnn->convolution, dnn->kernel,
                                                                    ALGORITHMS, &count, all);
    else if (status == 0)
        status = dnn->cudnnGetConvolutionBackwardDataAlgorithm_v7(dnn->handle, dnn->kernel, dnn->output, dnn->convolution, dnn->image,
                                                                  ALGORITHMS, &count, all);
    for (int k = 0; k < count && status == 0 && c->algorithm < 0; ++k) {
        const int exact = c->of.math != TH_CUDNN_FMA_MATH || all[k].math == TH_CUDNN_FMA_MATH;
        if (all[k].status || !all[k].is_deterministic || all[k].bytes > dnn->room || !exact)
            continue;
        c->algorithm = all[k].number;
        c->math = all[k].math;
        c->bytes = all[k].bytes;
    }
}

static choice chosen_for(struct th_gpu_cudnn *dnn, const geometry *g)
{
    pthread_mutex_lock(&dnn->lock);
    const int known = dnn->count < CHOSEN ? dnn->count : CHOSEN;
    for (int k = 0; k < known; ++k) {
        if (memcmp(&dnn->chosen[k].of, g, sizeof *g) == 0) {
            const choice found = dnn->chosen[k];
            pthread_mutex_unlock(&dnn->lock);
            return found;
        }
    }
    choice made;
    memset(&made, 0, sizeof made);
    made.of = *g;
    choose(dnn, &made);
    dnn->chosen[dnn->count++ % CHOSEN] = made;
    pthread_mutex_unlock(&dnn->lock);
    return made;
}

static int convolve(struct th_gpu_cudnn *dnn, const void *what)
{
    const told *t = what;
    const choice *c = &t->chosen;
    const void *one = th_cudnn_factor(c->of.type, 1), *none = th_cudnn_factor(c->of.type, 0);
    const int status = set_descriptors(dnn, &c->of, c->math);
    if (status)
        return status;
    switch (c->of.direction) {
    case TH_CONV_DIRECTION_FORWARD:
        return dnn->cudnnConvolutionForward(dnn->handle, one, dnn->image, t->image, dnn->kernel, t->kernel, dnn->convolution,
                                            c->algorithm, t->workspace, c->bytes, none, dnn->output, t->output);
    case TH_CONV_DIRECTION_FILTERS:
        return dnn->cudnnConvolutionBackwardFilter(dnn->handle, one, dnn->image, t->image, dnn->output, t->output, dnn->convolution,
                                                   c->algorithm, t->workspace, c->bytes, none, dnn->kernel, t->kernel);
    default:
        return dnn->cudnnConvolutionBackwardData(dnn->handle, one, dnn->kernel, t->kernel, dnn->output, t->output, dnn->convolution,
                                                 c->algorithm, t->workspace, c->bytes, none, dnn->image, t->image);
    }
}

int th_cudnn_run(th_gpu *gpu, void *stream, th_cudnn_calls *calls, const void *told, const char *what)
{
    struct th_gpu_cudnn *dnn = gpu->cudnn;
    pthread_mutex_lock(&dnn->lock);
    int status = dnn->stream == stream ? 0 : dnn->cudnnSetStream(dnn->handle, stream);
    dnn->stream = status ? NULL : stream;
    if (status == 0)
        status = calls(dnn, told);
    pthread_mutex_unlock(&dnn->lock);
    if (status)
        th_gpu_complain(gpu, what, status);
    return status ? -1 : 0;
}

static int run(th_gpu *gpu, void *stream, const void *what)
{
    return th_cudnn_run(gpu, stream, convolve, what, "a convolution by cuDNN");
}

int th_cudnn_convolve(th_ctx *ctx, const convolution *q)
{
    th_gpu *gpu = q->p->square->gpu;
    const th_buffer *out = ctx->out[0];
    geometry g;
    if (gpu->cudnn == NULL || !describe(q, gpu->cudnn->tf32, out->itemsize, out->dtype, &g))
        return 0;
    if (gpu->driver->enter(gpu) == NULL)
        return th_gpu_failed(ctx, gpu);
    told t;
    memset(&t, 0, sizeof t);
    t.chosen = chosen_for(gpu->cudnn, &g);
    t.image = q->image.data;
    t.kernel = q->kernel.data;
    t.output = q->output.data;
    if (t.chosen.algorithm < 0)
        return 0;
    const size_t bytes = t.chosen.bytes;
    if (bytes && (t.workspace = th_gpu_scratch(gpu, bytes)) == NULL)
        return 0; /* ours needs less */
    __atomic_add_fetch(&gpu->counts.launches, 1, __ATOMIC_RELAXED);
    const int status = th_gpu_run_later(gpu, run, &t, sizeof t);
    if (t.workspace)
        th_gpu_scratch_release(gpu, t.workspace, bytes);
    return status ? th_gpu_failed(ctx, gpu) : 1;
}

/* Let a device of CUDA convolve and pool by cuDNN, an opened library. `room`: the most bytes of a workspace; `tf32`: products
 * of float32 may leave out digits. Returns 0, the error of cuDNN, or -1 if it lacks a function. */
TH_EXPORT int th_gpu_use_cudnn(th_gpu *gpu, void *library, int64_t room, int tf32)
{
    struct th_gpu_cudnn *made = calloc(1, sizeof *made);
    int status = made == NULL || gpu->driver->enter == NULL || gpu->driver->enter(gpu) == NULL ? -1 : 0;
    if (status == 0 && (made->chosen = calloc(CHOSEN, sizeof *made->chosen)) == NULL)
        status = -1;
#define X(name, takes)                                                                      \
    if (status == 0 && (*(void **)&made->name = dlsym(library, #name)) == NULL)             \
        status = -1;
    TH_CUDNN_FUNCTIONS(X)
#undef X
    if (status == 0)
        status = made->cudnnCreate(&made->handle);
    if (status == 0)
        status = made->cudnnCreateTensorDescriptor(&made->image);
    if (status == 0)
        status = made->cudnnCreateTensorDescriptor(&made->output);
    if (status == 0)
        status = made->cudnnCreateFilterDescriptor(&made->kernel);
    if (status == 0)
        status = made->cudnnCreateConvolutionDescriptor(&made->convolution);
    if (status == 0)
        status = made->cudnnCreatePoolingDescriptor(&made->pooling);
    if (status) {
        if (made)
            free(made->chosen);
        free(made);
        return status;
    }
    made->room = (size_t)room;
    made->tf32 = tf32;
    pthread_mutex_init(&made->lock, NULL);
    gpu->cudnn = made;
    return 0;
}
