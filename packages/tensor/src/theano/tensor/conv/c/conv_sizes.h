/* What a convolution is asked for: its axes, and whether the shapes of arrays fit them. Devices have the same (theano.gpuarray). */
#ifndef THEANO_TENSOR_CONV_SIZES_H
#define THEANO_TENSOR_CONV_SIZES_H

#include "buffers.h"
#include "parameters.h"

enum { TH_CONV_AXES = 3 };

/* One axis. Images of 2 dimensions have a first axis of length 1. */
typedef struct {
    int64_t image, kernel, output; /* lengths */
    int64_t before, after;         /* zeros around the image */
    int64_t step, dilation;
} th_conv_axis;

/* The axes that are convolved, with lengths of image and filters: those of the buffers, or of a vector of them. */
TH_HELPER void th_conv_read_axes(const th_conv_params *p, int nd, const int64_t *image, const int64_t *kernel, th_conv_axis *axes)
{
    for (int a = 0; a < TH_CONV_AXES; ++a) {
        th_conv_axis *z = axes + a;
        const int own = a - (TH_CONV_AXES - nd);
        if (own < 0) {
            *z = (th_conv_axis){1, 1, 1, 0, 0, 1, 1};
            continue;
        }
        const th_conv_axis_params *q = p->axes + own;
        const int64_t covered = (kernel[own] - 1) * q->dilation + 1;
        *z = (th_conv_axis){.image = image[own], .kernel = kernel[own], .step = q->step, .dilation = q->dilation};
        switch (q->border) {
        case TH_BORDER_FULL: z->before = z->after = covered - 1; break;
        case TH_BORDER_HALF: z->before = z->after = covered / 2; break;
        case TH_BORDER_GIVEN:
            z->before = q->before;
            z->after = q->after;
            break;
        default: break;
        }
        const int64_t free = z->image + z->before + z->after - covered;
        z->output = free < 0 || z->kernel < 1 ? 0 : free / z->step + 1;
    }
}

/* Do shapes belong together? `top` is NULL where the output is what is computed. */
TH_HELPER int th_conv_check(th_ctx *ctx, const th_conv_axis *axes, int64_t groups, int64_t image_channels, int64_t kernel_channels,
                            int64_t filters, const th_buffer *top)
{
    if (image_channels != kernel_channels * groups)
        return TH_FAIL(ctx, TH_ERR_SHAPE,
                       "the image has %lld channels, the filters have %lld in each of %lld groups (num_groups).",
                       (long long)image_channels, (long long)kernel_channels, (long long)groups);
    if (filters % groups)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "%lld filters cannot be split into num_groups=%lld groups.", (long long)filters,
                       (long long)groups);
    for (int a = 0; a < TH_CONV_AXES; ++a)
        if (axes[a].output < 1)
            return TH_FAIL(ctx, TH_ERR_SHAPE,
                           "the filters do not fit into the image: along an axis they have %lld elements, dilated by %lld, and "
                           "the image has %lld, with %lld zeros before and %lld after it (border_mode).",
                           (long long)axes[a].kernel, (long long)axes[a].dilation, (long long)axes[a].image,
                           (long long)axes[a].before, (long long)axes[a].after);
    for (int d = 2; top != NULL && d < top->ndim; ++d)
        if (top->shape[d] != axes[TH_CONV_AXES - top->ndim + d].output)
            return TH_FAIL(ctx, TH_ERR_SHAPE, "the output has %lld elements along axis %d, but image and filters make %lld.",
                           (long long)top->shape[d], d, (long long)axes[TH_CONV_AXES - top->ndim + d].output);
    return 0;
}

/* Input 2: the lengths of what is computed. */
TH_HELPER int th_conv_read_lengths(th_ctx *ctx, int nd, int64_t *lengths)
{
    const th_buffer *b = ctx->in[2];
    if (b->shape[0] != nd)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "%lld lengths are given, for %d axes.", (long long)b->shape[0], nd);
    for (int d = 0; d < nd; ++d) {
        lengths[d] = th_integer(b, d);
        if (lengths[d] < 0)
            return TH_FAIL(ctx, TH_ERR_SHAPE, "length %lld is negative.", (long long)lengths[d]);
    }
    return 0;
}

/* Is there an output for each image; or for each filter? */
TH_HELPER int th_conv_check_count(th_ctx *ctx, const char *what, int64_t count, int64_t outputs)
{
    return count == outputs ? 0 : TH_FAIL(ctx, TH_ERR_SHAPE, "there are %lld %s, and outputs of %lld.", (long long)count, what,
                                          (long long)outputs);
}

#endif
