/* Convolution, and its gradients with respect to images and filters. */
#include "conv.h"

/* The strides of a tensor whose first two axes are `outer` and `inner`. */
static th_conv_array array_of(const th_buffer *b, int nd)
{
    th_conv_array a = {.data = b->data, .outer = b->strides[0], .inner = b->strides[1]};
    for (int d = 0; d < nd; ++d)
        a.at[TH_CONV_AXES - nd + d] = b->strides[2 + d];
    return a;
}

/* All but the arrays, and how many images there are, of a convolution whose axes have been read. */
static int begin(th_ctx *ctx, const th_conv_params *p, th_conv *c, int64_t image_channels, int64_t kernel_channels, int64_t filters,
                 const th_buffer *top)
{
    c->groups = p->groups;
    c->flip = p->flip;
    c->threads = p->threads;
    c->winograd = p->winograd;
    if (th_conv_check(ctx, c->axis, p->groups, image_channels, kernel_channels, filters, top))
        return -1;
    c->channels = kernel_channels;
    c->filters = filters / p->groups;
    return 0;
}

static int convolve(th_ctx *ctx, const th_conv_params *p, th_conv_map *map)
{
    const th_buffer *image = ctx->in[0], *kernel = ctx->in[1];
    const int nd = image->ndim - 2;
    th_conv c = {.batch = 0};
    th_conv_read_axes(p, nd, image->shape + 2, kernel->shape + 2, c.axis);
    if (begin(ctx, p, &c, image->shape[1], kernel->shape[1], kernel->shape[0], NULL))
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
    th_conv c = {.batch = 0};
    if (th_conv_read_lengths(ctx, nd, shape + 2))
        return -1;
    th_conv_read_axes(p, nd, image->shape + 2, shape + 2, c.axis);
    if (th_conv_check_count(ctx, "images", image->shape[0], top->shape[0]) ||
        begin(ctx, p, &c, image->shape[1], shape[1], shape[0], top) ||
        ctx->rt->ensure(ctx, ctx->out[0], shape))
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
    th_conv c = {.batch = 0};
    if (th_conv_read_lengths(ctx, nd, shape + 2))
        return -1;
    th_conv_read_axes(p, nd, shape + 2, kernel->shape + 2, c.axis);
    if (th_conv_check_count(ctx, "filters", kernel->shape[0], top->shape[1]) ||
        begin(ctx, p, &c, shape[1], kernel->shape[1], kernel->shape[0], top) ||
        ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    c.batch = top->shape[0];
    c.image = array_of(ctx->out[0], nd);
    c.kernel = array_of(kernel, nd);
    c.output = array_of(top, nd);
    return (top->dtype == TH_FLOAT32 ? th_conv_images_f32 : th_conv_images_f64)(ctx, &c);
}
