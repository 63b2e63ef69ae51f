/* Products that are summed for each pixel: the convolution, and its gradient with respect to the images. */

/* One such product. The pixel (z, y, x) of the result meets the pixels of `from` from (z, y, x) times `step` on. */
typedef struct {
    const NAME(pixels) *from;
    int64_t batch, groups, inputs, outputs; /* the last two: channels in a group */
    int64_t count[TH_CONV_AXES], step[TH_CONV_AXES]; /* pixels of the result; step in bytes */
    th_conv_array to;                       /* whose pixel (z, y, x) is at to.at times these */
    const int64_t *x_at, *y_at;             /* for each element of the filter: in pixels, and in packed filters */
    int64_t elements, slice;                /* how many there are, and are summed at a time */
    int64_t joined;                         /* elements of a row of the filter that are one here, of this many times the inputs */
    const char *packed;                     /* filters: (group, panel, element, channel, column) */
    int64_t panels, panel_bytes, group_bytes;
    int64_t rows;                           /* rows of pixels that are computed together */
    char *strips;                           /* space for their results, for each part */
    int64_t row_bytes, strip_bytes, parts, items;
    const th_conv *c;
    const char *repeated;                   /* numbers for each filter, as they meet `together` pixels: (operand, group) */
    int64_t together;
} NAME(product);

INLINE int64_t NAME(panel_column)(const NAME(product) *j, int64_t panel)
{
    const int64_t at = part_at(parts_of(j->outputs, LANES), j->panels, panel) * LANES;
    return at < j->outputs ? at : j->outputs;
}

/* The element-wise loop over `n` pixels. */
static void NAME(finish_pixels)(const NAME(product) *j, int64_t g, int64_t n, char *strip)
{
    const th_conv_map *map = j->c->map;
    const th_loop *loop = map->pixels;
    const char *repeated = j->repeated + g * j->together * j->row_bytes;
    char *data[TH_CONV_LIMIT_OPERANDS];
    for (int k = 1; k < loop->nin; ++k) {
        data[k] = map->data[k];
        if (loop->kind[k] & TH_INVARIANT)
            continue;
        data[k] = (char *)repeated;
        repeated += j->groups * j->together * j->row_bytes;
    }
    for (int64_t many; n > 0; n -= many, strip += many * j->row_bytes) {
        many = n < j->together ? n : j->together;
        data[0] = data[loop->nin] = strip;
        loop->run(many * j->row_bytes / (int64_t)sizeof(T), data, map->numbers);
    }
}

/* Repeat the numbers for each filter, zeros behind them. */
static int NAME(repeat_operands)(th_ctx *ctx, NAME(product) *j)
{
    const th_conv_map *map = j->c->map;
    const th_loop *loop = map->pixels;
    const int64_t size = sizeof(T), fit = TH_CONV_FINISHED * size / j->row_bytes;
    j->together = fit < 1 ? 1 : fit;
    int64_t each = 0;
    for (int k = 1; k < loop->nin; ++k)
        each += !(loop->kind[k] & TH_INVARIANT);
    const int64_t bytes = each * j->groups * j->together * j->row_bytes;
    char *to = ctx->rt->scratch(ctx, (size_t)bytes + 64);
    if (to == NULL)
        return -1;
    memset(to, 0, (size_t)bytes);
    j->repeated = to;
    for (int k = 1; k < loop->nin; ++k)
        if (!(loop->kind[k] & TH_INVARIANT))
            for (int64_t i = 0; i < j->groups * j->together; ++i, to += j->row_bytes)
                for (int64_t o = 0; o < j->outputs; ++o)
                    memcpy(to + o * size, map->data[k] + (i / j->together * j->outputs + o) * map->step[k], sizeof(T));
    return 0;
}

/* Some rows of pixels of one image and group. Row r is (r / count[1], r % count[1]). */
static void NAME(pixel_rows)(const NAME(product) *j, int64_t b, int64_t g, int64_t first, int64_t end, char *strip)
{
    const int64_t size = sizeof(T), n = j->count[2], strip_row = j->row_bytes;
    const char *image = j->from->data + b * j->from->image + g * j->inputs * size;
    for (int64_t q = 0; q < j->panels; ++q) {
        const int64_t column = NAME(panel_column)(j, q), columns = NAME(panel_column)(j, q + 1) - column;
        const int64_t width = parts_of(columns, LANES) * LANES;
        const char *panel = j->packed + g * j->group_bytes + q * j->panel_bytes;
        for (int64_t e = 0; e < j->elements; e += j->slice) {
            const int64_t left = j->elements - e;
            /* The offset of an element's filters in a panel depends on its width. */
            const NAME(walk) w = {
                j->x_at + e, j->y_at + q * j->elements + e, left < j->slice ? left : j->slice, j->inputs, j->step[2], size, width * size,
            };
            for (int64_t r = first; r < end; ++r) {
                const char *x = image + r / j->count[1] * j->step[0] + r % j->count[1] * j->step[1];
                NAME(walk_rows)(&w, x, panel, strip + (r - first) * n * strip_row + column * size, strip_row, n, columns, e > 0);
            }
        }
    }
    if (j->elements == 0)
        memset(strip, 0, (size_t)((end - first) * n * strip_row));
    if (j->c->map != NULL)
        NAME(finish_pixels)(j, g, (end - first) * n, strip);
    char *to = j->to.data + b * j->to.outer + g * j->outputs * j->to.inner;
    for (int64_t r = first; r < end; ++r)
        NAME(put_row)(strip + (r - first) * n * strip_row, strip_row, n, j->outputs,
                      to + r / j->count[1] * j->to.at[0] + r % j->count[1] * j->to.at[1], j->to.inner, j->to.at[2]);
}

/* Parts lo to hi of all items. An item is some rows of one image and group. */
static void NAME(pixel_parts)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(product) *j = arg;
    const int64_t rows = j->count[0] * j->count[1], blocks = parts_of(rows, j->rows);
    for (int64_t part = lo; part < hi; ++part)
        for (int64_t i = part_at(j->items, j->parts, part); i < part_at(j->items, j->parts, part + 1); ++i) {
            const int64_t block = i % blocks, g = i / blocks % j->groups, b = i / blocks / j->groups;
            const int64_t first = part_at(rows, blocks, block), end = part_at(rows, blocks, block + 1);
            NAME(pixel_rows)(j, b, g, first, end, j->strips + part * j->strip_bytes);
        }
}

static int NAME(run_pixels)(th_ctx *ctx, const th_conv *c, NAME(product) *j)
{
    const int64_t size = sizeof(T), rows = j->count[0] * j->count[1], n = j->count[2];
    if (j->batch == 0 || rows == 0 || n == 0 || j->outputs == 0)
        return 0;
    j->rows = parts_of(TH_CONV_PIXELS, n);
    j->rows = j->rows < rows ? j->rows : rows;
    j->items = j->batch * j->groups * parts_of(rows, j->rows);
    const double work = (double)j->items * (double)j->rows * (double)(n * j->elements * j->inputs * j->outputs);
    j->c = c;
    j->parts = th_conv_parts(c, work, j->items);
    /* Element-wise loops take whole vectors: rows are filled up for them. */
    j->row_bytes = c->map == NULL ? j->outputs * size : parts_of(j->outputs * size, 64) * 64;
    j->strip_bytes = parts_of(j->rows * n * j->row_bytes, 64) * 64;
    j->strips = ctx->rt->scratch(ctx, (size_t)(j->parts * j->strip_bytes));
    if (j->strips == NULL || (c->map != NULL && NAME(repeat_operands)(ctx, j)))
        return -1;
    if (j->row_bytes > j->outputs * size)
        memset(j->strips, 0, (size_t)(j->parts * j->strip_bytes));
    return th_conv_run(ctx, c, j->parts, NAME(pixel_parts), j);
}

/* Pack the filters: `chosen` are those of their elements that count, as offsets in bytes. */
static int NAME(pack_filters)(th_ctx *ctx, const th_conv *c, NAME(product) *j, const int64_t *chosen, int64_t out_step, int64_t in_step)
{
    const int64_t size = sizeof(T), own = j->inputs / j->joined;
    j->panels = parts_of(parts_of(j->outputs, LANES), VECTORS);
    j->panel_bytes = j->elements * j->inputs * COLUMNS * size;
    j->group_bytes = j->panels * j->panel_bytes;
    char *packed = ctx->rt->scratch(ctx, (size_t)(j->groups * j->group_bytes + 64));
    int64_t *at = ctx->rt->scratch(ctx, (size_t)(j->panels * j->elements + 1) * sizeof(int64_t));
    if (packed == NULL || at == NULL)
        return -1;
    j->packed = packed;
    j->y_at = at;
    /* The position of the filters of the next group: further filters forward, and the same backward, where these are inputs. */
    const int64_t group_step = c->filters * c->kernel.outer;
    for (int64_t q = 0; q < j->panels; ++q) {
        const int64_t column = NAME(panel_column)(j, q), columns = NAME(panel_column)(j, q + 1) - column;
        const int64_t width = parts_of(columns, LANES) * LANES;
        for (int64_t e = 0; e < j->elements; ++e)
            at[q * j->elements + e] = e * j->inputs * width * size;
        for (int64_t g = 0; g < j->groups; ++g)
            for (int64_t e = 0; e < j->elements; ++e)
                for (int64_t i = 0; i < j->inputs; ++i) {
                    char *to = packed + g * j->group_bytes + q * j->panel_bytes + (e * j->inputs + i) * width * size;
                    const char *from = c->kernel.data + g * group_step + chosen[e * j->joined + i / own] + i % own * in_step + column * out_step;
                    for (int64_t o = 0; o < columns; ++o)
                        memcpy(to + o * size, from + o * out_step, sizeof(T));
                    memset(to + columns * size, 0, (size_t)((width - columns) * size));
                }
    }
    return 0;
}

/* How many elements of a filter are summed at a time: a slice of their panel stays in the second-level cache. */
INLINE int64_t NAME(slice_of)(int64_t inputs)
{
    const int64_t most = TH_CONV_SLICE_BYTES / (inputs * COLUMNS * (int64_t)sizeof(T) + 1);
    return most < 1 ? 1 : most;
}

/* Take elements of a row of the filter as one where the pixels that they meet are neighbours: runs are longer then. */
static void NAME(join_runs)(NAME(product) *j, int64_t *x_at, int64_t joined)
{
    const int64_t run = j->inputs * (int64_t)sizeof(T);
    j->joined = 1;
    if (joined < 2)
        return;
    for (int64_t e = 0; e + 1 < j->elements; ++e)
        if ((e + 1) % joined && x_at[e + 1] != x_at[e] + run)
            return;
    j->joined = joined;
    j->elements /= joined;
    j->inputs *= joined;
    j->slice = NAME(slice_of)(j->inputs);
    for (int64_t e = 0; e < j->elements; ++e)
        x_at[e] = x_at[e * joined];
}

int NAME(th_conv_forward)(th_ctx *ctx, const th_conv *c)
{
    const th_conv_axis *z = c->axis;
    if (NAME(suits_depthwise)(c, c->channels, c->filters))
        return NAME(convolve_depthwise)(ctx, c, 0);
    if (NAME(is_pointwise)(c, c->channels, c->filters))
        return NAME(convolve_pointwise)(ctx, c, 0);
    NAME(lines_axes) axes;
    if (NAME(suits_lines)(c, TH_LINES_FORWARD, &axes))
        return NAME(convolve_lines)(ctx, c, TH_LINES_FORWARD, axes);
    if (NAME(suits_planes)(c, c->channels, c->filters, z[2].output))
        return NAME(convolve_planes)(ctx, c, 0);
    if (NAME(suits_tiles)(c, c->channels, c->filters, 0)) {
        const int found = NAME(convolve_tiles)(ctx, c, 0);
        if (found <= 0)
            return found;
    }
    const int64_t inner[] = {z[0].image, z[1].image, z[2].image}, before[] = {z[0].before, z[1].before, z[2].before};
    const int64_t after[] = {z[0].after, z[1].after, z[2].after}, elements = z[0].kernel * z[1].kernel * z[2].kernel;
    NAME(pixels) from;
    if (NAME(channels_last)(ctx, c, c->image, c->groups * c->channels, inner, before, after, &from))
        return -1;
    int64_t *x_at = ctx->rt->scratch(ctx, (size_t)(2 * elements + 1) * sizeof(int64_t)), *chosen = x_at + elements, e = 0;
    if (x_at == NULL)
        return -1;
    int64_t k[TH_CONV_AXES];
    for (k[0] = 0; k[0] < z[0].kernel; ++k[0])
        for (k[1] = 0; k[1] < z[1].kernel; ++k[1])
            for (k[2] = 0; k[2] < z[2].kernel; ++k[2], ++e) {
                x_at[e] = chosen[e] = 0;
                for (int a = 0; a < TH_CONV_AXES; ++a)
                    x_at[e] += k[a] * z[a].dilation * from.at[a];
                chosen[e] = NAME(element_at)(c, k);
            }
    NAME(product) j = {
        .from = &from, .batch = c->batch, .groups = c->groups, .inputs = c->channels, .outputs = c->filters, .to = c->output,
        .x_at = x_at, .elements = elements, .slice = NAME(slice_of)(c->channels),
    };
    for (int a = 0; a < TH_CONV_AXES; ++a) {
        j.count[a] = z[a].output;
        j.step[a] = z[a].step * from.at[a];
    }
    NAME(join_runs)(&j, x_at, z[2].kernel);
    if (NAME(pack_filters)(ctx, c, &j, chosen, c->kernel.outer, c->kernel.inner))
        return -1;
    return NAME(run_pixels)(ctx, c, &j);
}

/* The pixels of the image whose places, counted from the first zero, leave `phase` as remainders by the steps. */
static int NAME(image_phase)(th_ctx *ctx, const th_conv *c, const NAME(pixels) *from, const int64_t *phase)
{
    const th_conv_axis *z = c->axis;
    const int64_t all_elements = z[0].kernel * z[1].kernel * z[2].kernel;
    NAME(product) j = {
        .from = from, .batch = c->batch, .groups = c->groups, .inputs = c->filters, .outputs = c->channels, .to = c->image,
        .slice = NAME(slice_of)(c->filters),
    };
    int64_t first[TH_CONV_AXES]; /* the first such place */
    for (int a = 0; a < TH_CONV_AXES; ++a) {
        const int64_t behind = (phase[a] - z[a].before % z[a].step + z[a].step) % z[a].step;
        first[a] = z[a].before + behind;
        j.count[a] = behind < z[a].image ? (z[a].image - 1 - behind) / z[a].step + 1 : 0;
        j.step[a] = from->at[a];
        j.to.data += behind * c->image.at[a];
        j.to.at[a] = c->image.at[a] * z[a].step;
    }
    int64_t *x_at = ctx->rt->scratch(ctx, (size_t)(2 * all_elements + 1) * sizeof(int64_t)), *chosen = x_at + all_elements;
    if (x_at == NULL)
        return -1;
    int64_t k[TH_CONV_AXES], met = 0;
    for (k[2] = 0; k[2] < z[2].kernel; ++k[2])
        met += (first[2] - k[2] * z[2].dilation) % z[2].step == 0;
    for (k[0] = 0; k[0] < z[0].kernel; ++k[0])
        for (k[1] = 0; k[1] < z[1].kernel; ++k[1])
            for (k[2] = z[2].kernel - 1; k[2] >= 0; --k[2]) { /* backwards: the pixels that they meet go forwards */
                int64_t at = 0;
                int meets = 1;
                for (int a = 0; a < TH_CONV_AXES; ++a) {
                    const int64_t apart = first[a] - k[a] * z[a].dilation;
                    meets &= apart % z[a].step == 0;
                    at += (apart / z[a].step + from->before[a]) * from->at[a];
                }
                if (!meets)
                    continue;
                x_at[j.elements] = at;
                chosen[j.elements++] = NAME(element_at)(c, k);
            }
    j.x_at = x_at;
    NAME(join_runs)(&j, x_at, met);
    if (NAME(pack_filters)(ctx, c, &j, chosen, c->kernel.inner, c->kernel.outer))
        return -1;
    return NAME(run_pixels)(ctx, c, &j);
}

/* The convolution by one pixel whose images are the pixels of a phase, with the elements of filters that these meet: 0 if
 * no such pixels exist. */
static int NAME(phase_of)(const th_conv *c, const int64_t *phase, th_conv *to)
{
    *to = *c;
    for (int a = 0; a < TH_CONV_AXES; ++a) {
        const th_conv_axis z = c->axis[a];
        const int64_t r = phase[a], behind = ((r - z.before) % z.step + z.step) % z.step;
        th_conv_axis *own = to->axis + a;
        own->image = behind < z.image ? (z.image - 1 - behind) / z.step + 1 : 0;
        own->kernel = r < z.kernel ? (z.kernel - 1 - r) / z.step + 1 : 0;
        own->before = (behind + z.before - r) / z.step;
        own->after = own->output - 1 + own->kernel - own->image - own->before;
        own->step = 1;
        to->image.data += behind * c->image.at[a];
        to->image.at[a] *= z.step;
        to->kernel.data += (c->flip ? z.kernel - 1 - r - z.step * (own->kernel - 1) : r) * c->kernel.at[a];
        to->kernel.at[a] *= z.step;
        if (own->image == 0)
            return 0;
    }
    return 1;
}

/* Whether the pixels of an image fall into phases, which are convolutions by one pixel. */
static int NAME(moves)(const th_conv *c)
{
    int moves = 0, plain = 1;
    for (int a = 0; a < TH_CONV_AXES; ++a) {
        moves |= c->axis[a].step > 1;
        plain &= c->axis[a].dilation == 1 || c->axis[a].kernel == 1;
    }
    return moves && plain;
}

/* The gradient by the images, phase by phase, each in its own way. */
static int NAME(each_phase)(th_ctx *ctx, const th_conv *c)
{
    int64_t phase[TH_CONV_AXES];
    for (phase[0] = 0; phase[0] < c->axis[0].step; ++phase[0])
        for (phase[1] = 0; phase[1] < c->axis[1].step; ++phase[1])
            for (phase[2] = 0; phase[2] < c->axis[2].step; ++phase[2]) {
                th_conv own;
                if (!NAME(phase_of)(c, phase, &own))
                    continue;
                if (own.axis[0].kernel * own.axis[1].kernel * own.axis[2].kernel == 0)
                    NAME(clear_lines)(&own, TH_LINES_IMAGES, 0, own.batch, own.groups * own.channels);
                else if (NAME(th_conv_images)(ctx, &own))
                    return -1;
            }
    return 0;
}

int NAME(th_conv_images)(th_ctx *ctx, const th_conv *c)
{
    const th_conv_axis *z = c->axis;
    if (NAME(suits_depthwise)(c, c->filters, c->channels))
        return NAME(convolve_depthwise)(ctx, c, 1);
    if (NAME(is_pointwise)(c, c->filters, c->channels))
        return NAME(convolve_pointwise)(ctx, c, 1);
    NAME(lines_axes) axes;
    if (NAME(suits_lines)(c, TH_LINES_IMAGES, &axes))
        return NAME(convolve_lines)(ctx, c, TH_LINES_IMAGES, axes);
    if (NAME(suits_planes)(c, c->filters, c->channels, z[2].image))
        return NAME(moves)(c) ? NAME(each_phase)(ctx, c) : NAME(convolve_planes)(ctx, c, 1);
    if (NAME(suits_tiles)(c, c->filters, c->channels, 1)) {
        const int found = NAME(convolve_tiles)(ctx, c, 1);
        if (found <= 0)
            return found;
    }
    int64_t inner[TH_CONV_AXES], before[TH_CONV_AXES], after[TH_CONV_AXES], phase[TH_CONV_AXES];
    for (int a = 0; a < TH_CONV_AXES; ++a) {
        const int64_t last = (z[a].image - 1 + z[a].before) / z[a].step;
        inner[a] = z[a].output;
        before[a] = parts_of((z[a].kernel - 1) * z[a].dilation, z[a].step);
        after[a] = last < z[a].output ? 0 : last - z[a].output + 1;
    }
    NAME(pixels) from;
    if (NAME(channels_last)(ctx, c, c->output, c->groups * c->filters, inner, before, after, &from))
        return -1;
    for (phase[0] = 0; phase[0] < z[0].step; ++phase[0])
        for (phase[1] = 0; phase[1] < z[1].step; ++phase[1])
            for (phase[2] = 0; phase[2] < z[2].step; ++phase[2])
                if (NAME(image_phase)(ctx, c, &from, phase))
                    return -1;
    return 0;
}
