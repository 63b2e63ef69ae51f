/* The gradient of a convolution with respect to its filters: for each of their elements a product of the pixels that it
 * meets and the results that these go into. */

typedef struct {
    const th_conv *c;
    const NAME(pixels) *image, *output;
    int64_t *x_at, *y_at; /* where each row of results begins, and the pixels that it meets */
    int64_t rows, band;   /* rows of results in all, and those that are summed at a time */
    char *sums;           /* (group, element, channel, filter) */
    int64_t tiles;        /* of channels */
} NAME(filter_job);

/* Elements lo to hi of the filters, counted over groups, too. */
static void NAME(filter_elements)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(filter_job) *j = arg;
    const th_conv *c = j->c;
    const int64_t size = sizeof(T), elements = c->axis[0].kernel * c->axis[1].kernel * c->axis[2].kernel;
    const int64_t panels = parts_of(parts_of(c->filters, LANES), VECTORS), vectors = parts_of(c->filters, LANES);
    for (int64_t r = 0; r < j->rows; r += j->band) {
        const int64_t left = j->rows - r;
        const NAME(walk) w = {
            j->x_at + r, j->y_at + r, left < j->band ? left : j->band, c->axis[2].output, size,
            c->axis[2].step * j->image->at[2], j->output->at[2],
        };
        for (int64_t i = lo; i < hi; ++i) {
            const int64_t g = i / elements, e = i % elements;
            const int64_t k[] = {e / (c->axis[1].kernel * c->axis[2].kernel), e / c->axis[2].kernel % c->axis[1].kernel, e % c->axis[2].kernel};
            const char *x = j->image->data + g * c->channels * size;
            for (int a = 0; a < TH_CONV_AXES; ++a)
                x += k[a] * c->axis[a].dilation * j->image->at[a];
            for (int64_t q = 0; q < panels; ++q) {
                const int64_t column = part_at(vectors, panels, q) * LANES, next = part_at(vectors, panels, q + 1) * LANES;
                const int64_t columns = (next < c->filters ? next : c->filters) - column;
                NAME(walk_rows)(&w, x, j->output->data + (g * c->filters + column) * size,
                                j->sums + (i * c->channels * c->filters + column) * size, c->filters * size, c->channels, columns, r > 0);
            }
        }
    }
}

/* The filters from sums: (group, element, channel, filter). */
static void NAME(put_elements)(const th_conv *c, const char *sums)
{
    const th_conv_axis *z = c->axis;
    const int64_t size = sizeof(T), elements = z[0].kernel * z[1].kernel * z[2].kernel;
    int64_t k[TH_CONV_AXES], e = 0;
    for (k[0] = 0; k[0] < z[0].kernel; ++k[0])
        for (k[1] = 0; k[1] < z[1].kernel; ++k[1])
            for (k[2] = 0; k[2] < z[2].kernel; ++k[2], ++e)
                for (int64_t g = 0; g < c->groups; ++g)
                    for (int64_t f = 0; f < c->filters; ++f) {
                        char *to = c->kernel.data + (g * c->filters + f) * c->kernel.outer + NAME(element_at)(c, k);
                        const char *from = sums + ((g * elements + e) * c->channels * c->filters + f) * size;
                        for (int64_t i = 0; i < c->channels; ++i)
                            memcpy(to + i * c->kernel.inner, from + i * c->filters * size, sizeof(T));
                    }
}

/* The same gradient with images and results exchanged: element k of a filter is then the one at the same distance from its end.
 * 0 if the convolution has steps, groups or wider borders than filters. */
static int NAME(exchanged)(const th_conv *c, th_conv *to)
{
    *to = *c;
    to->image = c->output, to->output = c->image;
    to->channels = c->filters, to->filters = c->channels;
    to->kernel.outer = c->kernel.inner, to->kernel.inner = c->kernel.outer;
    to->flip = !c->flip;
    for (int a = 0; a < TH_CONV_AXES; ++a) {
        const th_conv_axis z = c->axis[a];
        const int64_t covered = (z.kernel - 1) * z.dilation;
        if (z.step != 1 || z.before > covered || z.after > covered)
            return 0;
        to->axis[a] = (th_conv_axis){z.output, z.kernel, z.image, covered - z.before, covered - z.after, 1, z.dilation};
    }
    return c->groups == 1;
}

int NAME(th_conv_filters)(th_ctx *ctx, const th_conv *c)
{
    if (NAME(is_pointwise)(c, c->channels, c->channels))
        return NAME(weigh_pointwise)(ctx, c);
    NAME(lines_axes) axes;
    if (NAME(suits_lines)(c, TH_LINES_FILTERS, &axes))
        return NAME(convolve_lines)(ctx, c, TH_LINES_FILTERS, axes);
    th_conv other;
    if (NAME(exchanged)(c, &other) && NAME(others_cost)(&other, TH_LINES_FILTERS) < 0.6 * NAME(others_cost)(c, TH_LINES_FILTERS))
        return NAME(th_conv_filters)(ctx, &other);
    if (NAME(weighs_planes)(c))
        return NAME(weigh_planes)(ctx, c);
    if (NAME(suits_tiles)(c, c->channels, c->filters, 0)) {
        const int found = NAME(weigh_tiles)(ctx, c);
        if (found <= 0)
            return found;
    }
    const th_conv_axis *z = c->axis;
    const int64_t size = sizeof(T), elements = z[0].kernel * z[1].kernel * z[2].kernel, none[] = {0, 0, 0};
    int64_t inner[TH_CONV_AXES], before[TH_CONV_AXES], after[TH_CONV_AXES], places[TH_CONV_AXES];
    for (int a = 0; a < TH_CONV_AXES; ++a) {
        inner[a] = z[a].image;
        before[a] = z[a].before;
        after[a] = z[a].after;
        places[a] = z[a].output;
    }
    NAME(pixels) image, output;
    if (NAME(channels_last)(ctx, c, c->image, c->groups * c->channels, inner, before, after, &image))
        return -1;
    if (NAME(channels_last)(ctx, c, c->output, c->groups * c->filters, places, none, none, &output))
        return -1;
    const int64_t each = places[0] * places[1], rows = c->batch * each, sums = c->groups * elements * c->channels * c->filters;
    NAME(filter_job) j = {.c = c, .image = &image, .output = &output, .rows = rows};
    j.x_at = ctx->rt->scratch(ctx, (size_t)(2 * rows + 1) * sizeof(int64_t));
    j.sums = ctx->rt->scratch(ctx, (size_t)(sums * size) + 64);
    if (j.x_at == NULL || j.sums == NULL)
        return -1;
    j.y_at = j.x_at + rows;
    for (int64_t r = 0; r < rows; ++r) {
        const int64_t b = r / each, zi = r % each / places[1], y = r % places[1];
        j.x_at[r] = b * image.image + zi * z[0].step * image.at[0] + y * z[1].step * image.at[1];
        j.y_at[r] = b * output.image + zi * output.at[0] + y * output.at[1];
    }
    const int64_t of_row = places[2] * (z[2].step * image.at[2] + output.at[2]);
    j.band = of_row > 0 ? TH_CONV_BAND_BYTES / of_row : 1;
    j.band = j.band < 1 ? 1 : j.band;
    if (rows == 0 || places[2] == 0)
        memset(j.sums, 0, (size_t)(sums * size));
    const int64_t items = c->groups * elements;
    if ((double)sums * (double)rows * (double)places[2] < TH_GEMM_WORTH_THREADS)
        NAME(filter_elements)(&j, 0, items);
    else if (th_conv_run(ctx, c, items, NAME(filter_elements), &j))
        return -1;
    NAME(put_elements)(c, j.sums);
    return 0;
}
