/* Convolution, and its gradients with respect to images and filters. */
#include "conv.h"

/* The axes that are convolved, with lengths of image and filters: those of the buffers, or of a vector of them. */
static void read_axes(const th_conv_params *p, int nd, const int64_t *image, const int64_t *kernel, th_conv *c)
{
    *c = (th_conv){.groups = p->groups, .flip = p->flip, .threads = p->threads, .winograd = p->winograd};
    for (int a = 0; a < TH_CONV_AXES; ++a) {
        th_conv_axis *z = c->axis + a;
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

/* The strides of a tensor whose first two axes are `outer` and `inner`. */
static th_conv_array array_of(const th_buffer *b, int nd)
{
    th_conv_array a = {.data = b->data, .outer = b->strides[0], .inner = b->strides[1]};
    for (int d = 0; d < nd; ++d)
        a.at[TH_CONV_AXES - nd + d] = b->strides[2 + d];
    return a;
}

/* Do shapes belong together? Lengths of axes are in `c`; `top` is NULL where the output is what is computed. */
static int check(th_ctx *ctx, th_conv *c, int64_t image_channels, int64_t kernel_channels, int64_t filters, const th_buffer *top)
{
    if (image_channels != kernel_channels * c->groups)
        return TH_FAIL(ctx, TH_ERR_SHAPE,
                       "the image has %lld channels, the filters have %lld in each of %lld groups (num_groups).",
                       (long long)image_channels, (long long)kernel_channels, (long long)c->groups);
    if (filters % c->groups)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "%lld filters cannot be split into num_groups=%lld groups.", (long long)filters,
                       (long long)c->groups);
    for (int a = 0; a < TH_CONV_AXES; ++a)
        if (c->axis[a].output < 1)
            return TH_FAIL(ctx, TH_ERR_SHAPE,
                           "the filters do not fit into the image: along an axis they have %lld elements, dilated by %lld, and "
                           "the image has %lld, with %lld zeros before and %lld after it (border_mode).",
                           (long long)c->axis[a].kernel, (long long)c->axis[a].dilation, (long long)c->axis[a].image,
                           (long long)c->axis[a].before, (long long)c->axis[a].after);
    c->channels = kernel_channels;
    c->filters = filters / c->groups;
    for (int d = 2; top != NULL && d < top->ndim; ++d)
        if (top->shape[d] != c->axis[TH_CONV_AXES - top->ndim + d].output)
            return TH_FAIL(ctx, TH_ERR_SHAPE, "the output has %lld elements along axis %d, but image and filters make %lld.",
                           (long long)top->shape[d], d, (long long)c->axis[TH_CONV_AXES - top->ndim + d].output);
    return 0;
}

static int read_lengths(th_ctx *ctx, int nd, int64_t *lengths)
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

static int convolve(th_ctx *ctx, const th_conv_params *p, th_conv_map *map)
{
    const th_buffer *image = ctx->in[0], *kernel = ctx->in[1];
    const int nd = image->ndim - 2;
    th_conv c;
    read_axes(p, nd, image->shape + 2, kernel->shape + 2, &c);
    if (check(ctx, &c, image->shape[1], kernel->shape[1], kernel->shape[0], NULL))
        return -1;
    int64_t shape[2 + TH_CONV_AXES] = {image->shape[0], kernel->shape[0]};
    for (int d = 0; d < nd; ++d)
        shape[2 + d] = c.axis[TH_CONV_AXES - nd + d].output;
    if (map == NULL ? ctx->rt->ensure(ctx, ctx->out[0], shape) : th_conv_map_sized(ctx, map, shape))
        return -1;
    c.batch = image->shape[0];
    c.image = array_of(image, nd);
    c.kernel = array_of(kernel, nd);
    c.output = array_of(ctx->out[0], nd);
    c.map = map;
    return (image->dtype == TH_FLOAT32 ? th_conv_forward_f32 : th_conv_forward_f64)(ctx, &c);
}

/* inputs: images, filters. */
TH_EXPORT int th_kernel_conv(th_ctx *ctx) { return convolve(ctx, ctx->params, NULL); }

/* inputs: images, filters, and the operands of the loops behind their first one, which are the results. */
TH_EXPORT int th_conv_elementwise(th_ctx *ctx, const th_loop *planes, const th_loop *pixels)
{
    const th_conv_elemwise_params *p = ctx->params;
    th_conv_map map = {.planes = planes, .pixels = pixels, .numbers = (const char *)p->numbers};
    return convolve(ctx, &p->conv, &map);
}

/* inputs: images, the gradient of the output, lengths of filters. */
TH_EXPORT int th_kernel_conv_filters(th_ctx *ctx)
{
    const th_buffer *image = ctx->in[0], *top = ctx->in[1];
    const th_conv_params *p = ctx->params;
    const int nd = image->ndim - 2;
    int64_t shape[2 + TH_CONV_AXES] = {top->shape[1], image->shape[1] / p->groups};
    th_conv c;
    if (read_lengths(ctx, nd, shape + 2))
        return -1;
    read_axes(p, nd, image->shape + 2, shape + 2, &c);
    if (image->shape[0] != top->shape[0])
        return TH_FAIL(ctx, TH_ERR_SHAPE, "there are %lld images, and outputs of %lld.", (long long)image->shape[0],
                       (long long)top->shape[0]);
    if (check(ctx, &c, image->shape[1], shape[1], shape[0], top) || ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    c.batch = image->shape[0];
    c.image = array_of(image, nd);
    c.kernel = array_of(ctx->out[0], nd);
    c.output = array_of(top, nd);
    return (image->dtype == TH_FLOAT32 ? th_conv_filters_f32 : th_conv_filters_f64)(ctx, &c);
}

/* inputs: filters, the gradient of the output, lengths of images. */
TH_EXPORT int th_kernel_conv_images(th_ctx *ctx)
{
    const th_buffer *kernel = ctx->in[0], *top = ctx->in[1];
    const th_conv_params *p = ctx->params;
    const int nd = top->ndim - 2;
    int64_t shape[2 + TH_CONV_AXES] = {top->shape[0], kernel->shape[1] * p->groups};
    th_conv c;
    if (read_lengths(ctx, nd, shape + 2))
        return -1;
    read_axes(p, nd, shape + 2, kernel->shape + 2, &c);
    if (kernel->shape[0] != top->shape[1])
        return TH_FAIL(ctx, TH_ERR_SHAPE, "there are %lld filters, and outputs of %lld.", (long long)kernel->shape[0],
                       (long long)top->shape[1]);
    if (check(ctx, &c, shape[1], kernel->shape[1], kernel->shape[0], top) || ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    c.batch = top->shape[0];
    c.image = array_of(ctx->out[0], nd);
    c.kernel = array_of(kernel, nd);
    c.output = array_of(top, nd);
    return (top->dtype == TH_FLOAT32 ? th_conv_images_f32 : th_conv_images_f64)(ctx, &c);
}
