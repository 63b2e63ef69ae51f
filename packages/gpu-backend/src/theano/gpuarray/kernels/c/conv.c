/* The host's half of convolution and its gradients: which product of matrices it is. */
#include <string.h>

#include "conv.h"

typedef th_device_convolution_params params_t;

enum { DEPTH = 16, GROUP = 256, PARTS = 64, LEAST_TERMS = 8 * DEPTH };

/* The structs of the device functions. */
typedef struct conv_index {
    int64_t count, length[4], a[4], b[4], c[4], step[3];
} conv_index;

typedef struct arguments {
    int64_t at[3], a, b, c, m, am, cm, parts, share, guarded, by_rows, by_columns, place[3], length[3];
    conv_index z, n, k;
} arguments;

static tensor tensor_of(const th_buffer *b, int nd)
{
    tensor t = {.data = b->data, .outer = b->strides[0], .inner = b->strides[b->ndim - nd - 1]};
    for (int d = 0; d < nd; ++d) {
        t.at[TH_CONV_AXES - nd + d] = b->strides[b->ndim - nd + d];
        t.own[TH_CONV_AXES - nd + d] = b->ndim > nd + 2 ? b->strides[1 + d] : 0;
    }
    return t;
}

/* ----------------------------------------------------------------------------------------------- the three products */

/* An index over channels, filters or images: its length, and strides of A, B and C. */
static void outer(conv_index *x, int64_t length, int64_t a, int64_t b, int64_t c)
{
    x->length[0] = length;
    x->a[0] = a;
    x->b[0] = b;
    x->c[0] = c;
}

/* An index along axis `d`, with the step that it makes in B, whose stride there is `stride`. */
static void inner(conv_index *x, int d, int64_t length, int64_t step, int64_t stride, int64_t a, int64_t c)
{
    x->length[1 + d] = length;
    x->step[d] = step;
    x->b[1 + d] = step * stride;
    x->a[1 + d] = a;
    x->c[1 + d] = c;
}

/* An array of filters, reversed if they are: the stride along an axis, and what the first element's address changes by. */
static int64_t along_filter(const convolution *q, int d, int64_t *first)
{
    const int64_t stride = q->kernel.at[d];
    if (!q->p->conv.flip)
        return stride;
    *first += (q->axis[d].kernel - 1) * stride;
    return -stride;
}

/* Rows are filters, columns all places of all images, or, where these have filters of their own, all images. */
static void forward(const convolution *q, arguments *g)
{
    const tensor *x = &q->image, *w = &q->kernel, *y = &q->output;
    g->m = q->filters;
    g->am = w->outer;
    g->cm = y->inner;
    outer(&g->z, q->groups, q->filters * w->outer, q->channels * x->inner, q->filters * y->inner);
    outer(&g->n, q->batch, 0, x->outer, y->outer);
    outer(&g->k, q->channels, w->inner, x->inner, 0);
    for (int d = 0; d < TH_CONV_AXES; ++d) {
        const th_conv_axis *s = q->axis + d;
        inner(q->p->unshared ? &g->z : &g->n, d, s->output, s->step, x->at[d], w->own[d], y->at[d]);
        inner(&g->k, d, s->kernel, s->dilation, x->at[d], along_filter(q, d, &g->a), 0);
        g->place[d] = -s->before;
        g->length[d] = s->image;
        g->b += g->place[d] * x->at[d];
    }
    g->by_columns = 1;
}

/* Rows are filters, columns their elements in all channels, terms all places of all images. */
static void filters(const convolution *q, arguments *g)
{
    const tensor *x = &q->image, *w = &q->kernel, *y = &q->output;
    g->m = q->filters;
    g->am = y->inner;
    g->cm = w->outer;
    outer(&g->z, q->groups, q->filters * y->inner, q->channels * x->inner, q->filters * w->outer);
    outer(&g->n, q->channels, 0, x->inner, w->inner);
    outer(&g->k, q->batch, y->outer, x->outer, 0);
    for (int d = 0; d < TH_CONV_AXES; ++d) {
        const th_conv_axis *s = q->axis + d;
        inner(q->p->unshared ? &g->z : &g->k, d, s->output, s->step, x->at[d], y->at[d], w->own[d]);
        inner(&g->n, d, s->kernel, s->dilation, x->at[d], 0, along_filter(q, d, &g->c));
        g->place[d] = -s->before;
        g->length[d] = s->image;
        g->b += g->place[d] * x->at[d];
    }
}

/* Rows are channels, columns pixels of all images, terms the elements of all filters. Pixels of an
 * axis with equal index modulo the stride use every k-th filter element, from a first one on, and adjacent places. Other
 * elements fall between places. So each remainder is a product of its own. */
static void images(const convolution *q, const int64_t *remainder, arguments *g)
{
    const tensor *x = &q->image, *w = &q->kernel, *y = &q->output;
    g->m = q->channels;
    g->am = w->inner;
    g->cm = x->inner;
    outer(&g->z, q->groups, q->filters * w->outer, q->filters * y->inner, q->channels * x->inner);
    outer(&g->n, q->batch, 0, y->outer, x->outer);
    outer(&g->k, q->filters, w->outer, y->inner, 0);
    for (int d = 0; d < TH_CONV_AXES; ++d) {
        const th_conv_axis *s = q->axis + d;
        const int64_t from = remainder[d] + s->before, pixels = (s->image - remainder[d] + s->step - 1) / s->step;
        int64_t first = 0, every = 1;
        while (first < s->kernel && first < s->step && (from - first * s->dilation) % s->step)
            ++first;
        while (every * s->dilation % s->step)
            ++every;
        const int meets = first < s->kernel && (from - first * s->dilation) % s->step == 0;
        const int64_t back = every * s->dilation / s->step, stride = along_filter(q, d, &g->a), own = w->own[d];
        g->place[d] = meets ? (from - first * s->dilation) / s->step : 0;
        g->length[d] = s->output;
        g->a += first * stride + g->place[d] * own;
        g->b += g->place[d] * y->at[d];
        g->c += remainder[d] * x->at[d];
        inner(q->p->unshared ? &g->z : &g->n, d, pixels, 1, y->at[d], own, s->step * x->at[d]);
        inner(&g->k, d, meets ? (s->kernel - first + every - 1) / every : 0, -back, y->at[d], every * stride - back * own, 0);
    }
    g->guarded = q->p->unshared;
    g->by_columns = 1;
}

/* -------------------------------------------------------------------------------------------------------- launches */

/* An index of which the other kind took the places has one of length 1 for each axis. */
static void count(conv_index *x)
{
    x->count = x->length[0];
    for (int d = 1; d < 4; ++d) {
        if (x->step[d - 1] == 0)
            x->length[d] = 1;
        x->count *= x->length[d];
    }
}

/* Split sums that are long enough into as many parts as occupy the device. */
static void share(const th_gpu *gpu, arguments *g, int64_t tiles)
{
    g->parts = 1;
    while (g->parts < PARTS && tiles * g->parts < 2 * gpu->processors && g->k.count / (2 * g->parts) >= LEAST_TERMS)
        g->parts *= 2;
    g->share = (g->k.count + g->parts * DEPTH - 1) / (g->parts * DEPTH) * DEPTH;
}

static int launch(th_ctx *ctx, const params_t *p, char *a, char *b, char *c, arguments *g)
{
    th_gpu *gpu = p->square->gpu;
    count(&g->z);
    count(&g->n);
    count(&g->k);
    const int64_t elements = g->z.count * g->m * g->n.count;
    if (elements == 0)
        return 0;
    const int low = g->m <= 16;
    const int64_t rows = low ? 16 : 64, columns = low ? 128 : 64;
    const int64_t tiles = g->z.count * ((g->m + rows - 1) / rows) * ((g->n.count + columns - 1) / columns);
    share(gpu, g, tiles);
    g->by_rows = g->k.length[3] > 1 ? th_gpu_distance(g->k.a[3]) <= th_gpu_distance(g->am) : 1;
    const size_t bytes = (size_t)(g->parts * elements) * 8;
    char *parts = g->parts > 1 ? th_gpu_scratch(gpu, bytes) : NULL;
    if (g->parts > 1 && parts == NULL)
        return th_gpu_no_room(ctx, bytes);
    char *pointers[] = {a, b, parts ? parts : c}, *sums[] = {parts, c};
    const th_gpu_kernel *function = low ? p->low : p->square;
    const th_gpu_launch product = {function->function, tiles * g->parts, GROUP, 3, pointers, (int64_t *)g, sizeof *g};
    int status = th_gpu_launched(gpu, &product);
    if (parts) {
        const th_gpu_launch finish = {p->finish->function, (elements + gpu->group - 1) / gpu->group, gpu->group, 2, sums, (int64_t *)g,
                                      sizeof *g};
        status = status ? status : th_gpu_launched(gpu, &finish);
        th_gpu_scratch_release(gpu, parts, bytes);
    }
    return status ? th_gpu_failed(ctx, gpu) : 0;
}

static int launch_images(th_ctx *ctx, const convolution *q)
{
    const th_conv_axis *s = q->axis;
    int64_t r[TH_CONV_AXES];
    for (r[0] = 0; r[0] < s[0].step && r[0] < s[0].image; ++r[0]) {
        for (r[1] = 0; r[1] < s[1].step && r[1] < s[1].image; ++r[1]) {
            for (r[2] = 0; r[2] < s[2].step && r[2] < s[2].image; ++r[2]) {
                arguments g = {.a = 0};
                images(q, r, &g);
                if (launch(ctx, q->p, q->kernel.data, q->output.data, q->image.data, &g))
                    return -1;
            }
        }
    }
    return 0;
}

static int launch_all(th_ctx *ctx, const convolution *q)
{
    arguments g = {.a = 0};
    switch (q->p->direction) {
    case TH_CONV_DIRECTION_FORWARD: forward(q, &g); return launch(ctx, q->p, q->kernel.data, q->image.data, q->output.data, &g);
    case TH_CONV_DIRECTION_FILTERS: filters(q, &g); return launch(ctx, q->p, q->output.data, q->image.data, q->kernel.data, &g);
    default: return launch_images(ctx, q);
    }
}

/* ---------------------------------------------------------------------------------------------------------- shapes */

/* Do unshared filters have one for each place? */
static int check_places(th_ctx *ctx, const params_t *p, const th_conv_axis *axes, int nd, const int64_t *kernel)
{
    for (int d = 0; p->unshared && d < nd; ++d)
        if (kernel[1 + d] != axes[TH_CONV_AXES - nd + d].output)
            return ctx->rt->fail(ctx, TH_ERR_SHAPE, "there are unshared filters for %lld places along an axis, but %lld places.",
                                 (long long)kernel[1 + d], (long long)axes[TH_CONV_AXES - nd + d].output);
    return 0;
}

/* The shapes of all three, of which one is computed: that of the result is written. */
static int read_shapes(th_ctx *ctx, convolution *q, int nd, int64_t *image, int64_t *kernel, int64_t *output)
{
    const params_t *p = q->p;
    const int to_filters = p->direction == TH_CONV_DIRECTION_FILTERS, to_images = p->direction == TH_CONV_DIRECTION_IMAGES;
    const int places = p->unshared ? nd : 0;
    int64_t *lengths = kernel + 2 + places, *channels = kernel + 1 + places;
    const th_buffer *first = ctx->in[0], *second = ctx->in[1], *top = to_filters || to_images ? second : NULL;
    memcpy(to_images ? kernel : image, first->shape, (size_t)first->ndim * sizeof *image);
    memcpy(top ? output : kernel, second->shape, (size_t)second->ndim * sizeof *image);
    if (top && th_conv_read_lengths(ctx, nd, to_filters ? lengths : image + 2))
        return -1;
    if (to_filters) {
        kernel[0] = output[1];
        memcpy(kernel + 1, output + 2, (size_t)places * sizeof *kernel);
        *channels = image[1] / p->conv.groups;
        if (th_conv_check_count(ctx, "images", image[0], output[0]))
            return -1;
    } else if (to_images) {
        image[0] = output[0];
        image[1] = *channels * p->conv.groups;
        if (th_conv_check_count(ctx, "filters", kernel[0], output[1]))
            return -1;
    }
    th_conv_read_axes(&p->conv, nd, image + 2, lengths, q->axis);
    if (th_conv_check(ctx, q->axis, p->conv.groups, image[1], *channels, kernel[0], top) || check_places(ctx, p, q->axis, nd, kernel))
        return -1;
    output[0] = image[0];
    output[1] = kernel[0];
    for (int d = 0; d < nd; ++d)
        output[2 + d] = q->axis[TH_CONV_AXES - nd + d].output;
    q->batch = image[0];
    q->groups = p->conv.groups;
    q->channels = *channels;
    q->filters = kernel[0] / p->conv.groups;
    return 0;
}

/* inputs: images and filters; images, the gradient of the output, and lengths of filters; or filters, that gradient, and
 * lengths of images. */
TH_EXPORT int th_kernel_gpu_conv(th_ctx *ctx)
{
    convolution q = {.p = ctx->params};
    const int to_images = q.p->direction == TH_CONV_DIRECTION_IMAGES, to_filters = q.p->direction == TH_CONV_DIRECTION_FILTERS;
    const int nd = ctx->in[to_images ? 1 : 0]->ndim - 2;
    int64_t image[TH_MAX_NDIM], kernel[TH_MAX_NDIM], output[TH_MAX_NDIM];
    if (read_shapes(ctx, &q, nd, image, kernel, output) ||
        ctx->rt->ensure(ctx, ctx->out[0], to_images ? image : to_filters ? kernel : output))
        return -1;
    q.image = tensor_of(to_images ? ctx->out[0] : ctx->in[0], nd);
    q.kernel = tensor_of(to_filters ? ctx->out[0] : ctx->in[to_images ? 0 : 1], nd);
    q.output = tensor_of(to_images || to_filters ? ctx->in[1] : ctx->out[0], nd);
    const int done = th_cudnn_convolve(ctx, &q);
    return done ? (done < 0 ? -1 : 0) : launch_all(ctx, &q);
}
