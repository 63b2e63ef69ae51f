/* Filters of one element that move by one pixel ("pointwise" convolution): products of matrices, of images in place.
 *
 *   forward    output (filters, pixels)  = filters (filters, channels) times image (channels, pixels)
 *   by images  image  (channels, pixels) = filters' transpose times output
 *   by filters kernel (filters, channels) = sum over images: output times image's transpose
 */

/* Where the pixels of a channel or filter follow each other at one step: that step, in bytes; 0 if they do not, or are all one. */
INLINE int64_t NAME(pixel_step)(const th_conv *c, const th_conv_array *a)
{
    int64_t step = 0, next = 0;
    for (int d = TH_CONV_AXES - 1; d >= 0; --d) {
        const int64_t n = c->axis[d].output;
        if (n == 1)
            continue;
        if (a->at[d] == 0 || (step && a->at[d] != next))
            return 0;
        step = step ? step : a->at[d];
        next = a->at[d] * n;
    }
    return step ? step : (int64_t)sizeof(T);
}

INLINE int64_t NAME(pixel_count)(const th_conv *c) { return c->axis[0].output * c->axis[1].output * c->axis[2].output; }

/* Whether a product of matrices with this many terms and rows is faster. Where it is not: an image is less than a vector, or
 * the results are so much larger than their inputs that they cost more to write, line by line, than to compute. */
static int NAME(is_pointwise)(const th_conv *c, int64_t inputs, int64_t outputs)
{
    for (int a = 0; a < TH_CONV_AXES; ++a) {
        const th_conv_axis *z = c->axis + a;
        if (z->kernel != 1 || z->step != 1 || z->before || z->after)
            return 0;
    }
    return c->batch > 0 && inputs >= TH_CONV_POINTWISE && outputs >= TH_CONV_POINTWISE && outputs < 16 * inputs &&
           NAME(pixel_count)(c) * (int64_t)sizeof(T) >= TH_CONV_POINTWISE_BYTES &&
           NAME(pixel_step)(c, &c->image) != 0 && NAME(pixel_step)(c, &c->output) != 0;
}

/* The channels or filters of a group, for `n` pixels of an image from `first` on. */
INLINE matrix NAME(pixels_of)(const th_conv *c, const th_conv_array *a, int64_t image, int64_t group, int64_t lines, int64_t first, int64_t n)
{
    const int64_t step = NAME(pixel_step)(c, a);
    return (matrix){a->data + image * a->outer + group * lines * a->inner + first * step, lines, n, a->inner, step};
}

/* A group's filters, a row each. */
INLINE matrix NAME(filters_of)(const th_conv *c, int64_t group)
{
    return (matrix){c->kernel.data + group * c->filters * c->kernel.outer, c->filters, c->channels, c->kernel.outer, c->kernel.inner};
}

typedef struct {
    const th_conv *c;
    int images;            /* whether the images are what is computed */
    int64_t parts, pieces; /* of all products, by threads; of the pixels of an image */
    char *space;           /* for copies that products make */
    int64_t space_bytes;   /* of a part */
    char *sums;            /* for the gradient of filters: (part, group, filter, channel) */
} NAME(pointwise);

INLINE int64_t NAME(pointwise_items)(const NAME(pointwise) *j) { return j->c->batch * j->c->groups * j->pieces; }

static void NAME(pointwise_item)(const NAME(pointwise) *j, int64_t i, char *space)
{
    const th_conv *c = j->c;
    const int64_t piece = i % j->pieces, g = i / j->pieces % c->groups, b = i / j->pieces / c->groups, count = NAME(pixel_count)(c);
    const int64_t first = part_at(count, j->pieces, piece), end = part_at(count, j->pieces, piece + 1);
    const matrix w = NAME(filters_of)(c, g), x = NAME(pixels_of)(c, &c->image, b, g, c->channels, first, end - first);
    const matrix y = NAME(pixels_of)(c, &c->output, b, g, c->filters, first, end - first);
    if (j->images) {
        NAME(th_gemm_within)(space, NULL, turned(w), y, NULL, x, x);
        return;
    }
    NAME(th_gemm_within)(space, NULL, w, x, NULL, y, y);
    th_conv_finish(c, b, g * c->filters, c->filters, first, end);
}

static void NAME(pointwise_parts)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(pointwise) *j = arg;
    const int64_t items = NAME(pointwise_items)(j);
    for (int64_t part = lo; part < hi; ++part)
        for (int64_t i = part_at(items, j->parts, part); i < part_at(items, j->parts, part + 1); ++i)
            NAME(pointwise_item)(j, i, j->space + part * j->space_bytes);
}

/* Space for the parts; -1 with the error set if there is not enough. */
static int NAME(make_space)(th_ctx *ctx, NAME(pointwise) *j, int64_t bytes)
{
    j->space_bytes = parts_of(bytes, 64) * 64;
    j->space = ctx->rt->scratch(ctx, (size_t)(j->parts * j->space_bytes));
    return j->space == NULL ? -1 : 0;
}

/* Convolve, or do it backwards. 0, or -1 with the error set. */
static int NAME(convolve_pointwise)(th_ctx *ctx, const th_conv *c, int images)
{
    const int64_t count = NAME(pixel_count)(c);
    NAME(pointwise) j = {.c = c, .images = images, .pieces = parts_of(count, TH_CONV_POINTWISE_PIXELS)};
    const double work = (double)(c->batch * c->groups * count) * (double)(c->channels * c->filters);
    j.parts = th_conv_parts(c, work, NAME(pointwise_items)(&j));
    /* The first piece is the largest. */
    const int64_t most = part_at(count, j.pieces, 1);
    const matrix w = NAME(filters_of)(c, 0), x = NAME(pixels_of)(c, &c->image, 0, 0, c->channels, 0, most);
    const matrix y = NAME(pixels_of)(c, &c->output, 0, 0, c->filters, 0, most);
    if (NAME(make_space)(ctx, &j, images ? NAME(th_gemm_space)(turned(w), y, x) : NAME(th_gemm_space)(w, x, y)))
        return -1;
    return th_conv_run(ctx, c, j.parts, NAME(pointwise_parts), &j);
}

/* Sum over the images of some parts, each into sums of its own. */
static void NAME(weigh_pointwise_parts)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(pointwise) *j = arg;
    const th_conv *c = j->c;
    const int64_t size = sizeof(T), each = c->filters * c->channels * size, count = NAME(pixel_count)(c);
    const T one = 1;
    for (int64_t part = lo; part < hi; ++part)
        for (int64_t b = part_at(c->batch, j->parts, part); b < part_at(c->batch, j->parts, part + 1); ++b)
            for (int64_t g = 0; g < c->groups; ++g) {
                char *sums = j->sums + (part * c->groups + g) * each;
                const matrix s = {sums, c->filters, c->channels, c->channels * size, size};
                const T *beta = b > part_at(c->batch, j->parts, part) ? &one : NULL;
                NAME(th_gemm_within)(j->space + part * j->space_bytes, NULL, NAME(pixels_of)(c, &c->output, b, g, c->filters, 0, count),
                                     turned(NAME(pixels_of)(c, &c->image, b, g, c->channels, 0, count)), beta, s, s);
            }
}

/* The gradient of the filters. Of how many parts a sum consists, the batch decides, not the threads. */
static int NAME(weigh_pointwise)(th_ctx *ctx, const th_conv *c)
{
    const int64_t size = sizeof(T), each = c->filters * c->channels, all = c->groups * each, count = NAME(pixel_count)(c);
    NAME(pointwise) j = {.c = c, .parts = c->batch < TH_CONV_SUMS ? c->batch : TH_CONV_SUMS};
    j.sums = ctx->rt->scratch(ctx, (size_t)(j.parts * all * size));
    const matrix s = {j.sums, c->filters, c->channels, c->channels * size, size};
    if (j.sums == NULL || NAME(make_space)(ctx, &j, NAME(th_gemm_space)(NAME(pixels_of)(c, &c->output, 0, 0, c->filters, 0, count),
                                                                       turned(NAME(pixels_of)(c, &c->image, 0, 0, c->channels, 0, count)), s)))
        return -1;
    if ((double)(c->batch * count) * (double)all < TH_GEMM_WORTH_THREADS)
        NAME(weigh_pointwise_parts)(&j, 0, j.parts);
    else if (th_conv_run(ctx, c, j.parts, NAME(weigh_pointwise_parts), &j))
        return -1;
    T *sums = (T *)j.sums;
    for (int64_t part = 1; part < j.parts; ++part)
        for (int64_t i = 0; i < all; ++i)
            sums[i] += sums[part * all + i];
    for (int64_t f = 0; f < c->groups * c->filters; ++f)
        for (int64_t i = 0; i < c->channels; ++i)
            memcpy(c->kernel.data + f * c->kernel.outer + i * c->kernel.inner, sums + f * c->channels + i, sizeof(T));
    return 0;
}
