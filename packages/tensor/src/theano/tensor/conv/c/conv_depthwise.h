/* Where each channel has filters of its own, of three rows that move by one pixel: images are read in place. A row of
 * pixels is read once for the four rows of results that it goes into. */

enum { TH_DEPTHWISE_ROWS = 4, TH_DEPTHWISE_COLUMNS = 7 };

typedef struct {
    th_conv_array from, to;
    int64_t inner[2], before[2], count[2]; /* rows and columns of pixels, zeros before them, and results */
    int64_t columns, dilation;             /* of a filter */
    int64_t groups, outputs;
    const T *weights;                      /* (group, output, column, row) */
    const char *zeros;
    int64_t items, parts;
    const th_conv *c;
} NAME(depthwise);

/* A tile of `vectors` vectors from column x on; of its rows `many` are wanted. */
INLINE void NAME(depthwise_tile)(const int vectors, const NAME(depthwise) *j, const char *const *row, const T *weights, int64_t x,
                                 char *to, int64_t many)
{
    const int64_t size = sizeof(T), n = j->count[1] - x;
    vec sums[TH_DEPTHWISE_ROWS][2];
    _Pragma("GCC unroll 4") for (int i = 0; i < TH_DEPTHWISE_ROWS; ++i)
        _Pragma("GCC unroll 2") for (int v = 0; v < vectors; ++v)
            sums[i][v] = (vec){0};
    for (int64_t k = 0; k < j->columns; ++k, weights += 3) {
        const int64_t first = x + k * j->dilation - j->before[1];
        const vec weight[3] = {all(weights[0]), all(weights[1]), all(weights[2])};
        NAME(within) places[2];
        _Pragma("GCC unroll 2") for (int v = 0; v < vectors; ++v)
            places[v] = NAME(places_within)(first + v * LANES, j->inner[1]);
        _Pragma("GCC unroll 6") for (int r = 0; r < TH_DEPTHWISE_ROWS + 2; ++r)
            _Pragma("GCC unroll 2") for (int v = 0; v < vectors; ++v) {
                const vec pixels = NAME(load_within)(row[r] + first * size + v * VECTOR_BYTES, places[v]);
                _Pragma("GCC unroll 3") for (int l = 0; l < 3; ++l)
                    if (r - l >= 0 && r - l < TH_DEPTHWISE_ROWS)
                        sums[r - l][v] = fused(weight[l], pixels, sums[r - l][v]);
            }
    }
    _Pragma("GCC unroll 4") for (int i = 0; i < TH_DEPTHWISE_ROWS; ++i)
        if (i < many)
            _Pragma("GCC unroll 2") for (int v = 0; v < vectors; ++v) {
                char *at = to + i * j->to.at[1] + v * VECTOR_BYTES;
                const int64_t left = n - v * LANES;
                if (left >= LANES)
                    store(at, sums[i][v]);
                else
                    store_some(at, sums[i][v], left);
            }
}

/* One filter of one image. */
static void NAME(depthwise_plane)(const NAME(depthwise) *j, const char *plane, const T *weights, char *to)
{
    const int64_t size = sizeof(T);
    for (int64_t y = 0; y < j->count[0]; y += TH_DEPTHWISE_ROWS, to += TH_DEPTHWISE_ROWS * j->to.at[1]) {
        const char *row[TH_DEPTHWISE_ROWS + 2];
        for (int64_t r = 0; r < TH_DEPTHWISE_ROWS + 2; ++r) {
            const int64_t at = y + r - j->before[0];
            row[r] = at >= 0 && at < j->inner[0] ? plane + at * j->from.at[1] : j->zeros;
        }
        int64_t x = 0;
        for (; x + LANES < j->count[1]; x += 2 * LANES)
            NAME(depthwise_tile)(2, j, row, weights, x, to + x * size, j->count[0] - y);
        if (x < j->count[1])
            NAME(depthwise_tile)(1, j, row, weights, x, to + x * size, j->count[0] - y);
    }
}

/* Parts lo to hi of the items, each a filter of an image. */
static void NAME(depthwise_parts)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(depthwise) *j = arg;
    const int64_t filters = j->groups * j->outputs;
    for (int64_t i = part_at(j->items, j->parts, lo); i < part_at(j->items, j->parts, hi); ++i) {
        const int64_t b = i / filters, f = i % filters;
        NAME(depthwise_plane)(j, j->from.data + b * j->from.outer + f / j->outputs * j->from.inner, j->weights + f * 3 * j->columns,
                              j->to.data + b * j->to.outer + f * j->to.inner);
        th_conv_finish(j->c, b, f, 1, 0, j->count[0] * j->count[1]);
    }
}

static int NAME(suits_depthwise)(const th_conv *c, int64_t inputs, int64_t outputs)
{
    const th_conv_axis *z = c->axis;
    const int64_t size = sizeof(T);
    if (c->image.at[2] != size || c->output.at[2] != size || z[0].kernel != 1 || z[0].image != 1 || z[0].output != 1)
        return 0;
    const int filter = z[1].kernel == 3 && z[1].dilation == 1 && z[1].step == 1 && z[2].kernel <= TH_DEPTHWISE_COLUMNS;
    return filter && z[2].step == 1 && inputs == 1 && outputs < 4; /* more of them share the pixels of a vector */
}

/* Convolve, or do it backwards. 0, or -1 with the error set. */
static int NAME(convolve_depthwise)(th_ctx *ctx, const th_conv *c, int images)
{
    const th_conv_axis *z = c->axis;
    NAME(depthwise) j = {
        .from = images ? c->output : c->image, .to = images ? c->image : c->output, .groups = c->groups,
        .outputs = images ? c->channels : c->filters, .columns = z[2].kernel, .dilation = z[2].dilation, .c = c,
    };
    for (int a = 0; a < 2; ++a) {
        const th_conv_axis *axis = z + a + 1;
        j.inner[a] = images ? axis->output : axis->image;
        j.before[a] = images ? (axis->kernel - 1) * axis->dilation - axis->before : axis->before;
        j.count[a] = images ? axis->image : axis->output;
    }
    const int64_t filters = j.groups * j.outputs;
    j.items = c->batch * filters;
    if (j.items == 0 || j.count[0] == 0)
        return 0;
    T *weights = ctx->rt->scratch(ctx, (size_t)(filters * 3 * j.columns) * sizeof(T));
    j.zeros = NAME(row_of_zeros)(ctx, j.inner[1]);
    if (weights == NULL || j.zeros == NULL)
        return -1;
    j.weights = weights;
    const int64_t o_step = images ? c->kernel.inner : c->kernel.outer;
    for (int64_t e = 0; e < 3 * j.columns; ++e) {
        const int64_t at[] = {0, e % 3, e / 3}, back[] = {0, 2 - e % 3, j.columns - 1 - e / 3};
        const char *element = c->kernel.data + NAME(element_at)(c, images ? back : at);
        for (int64_t g = 0; g < j.groups; ++g)
            for (int64_t o = 0; o < j.outputs; ++o)
                memcpy(weights + (g * j.outputs + o) * 3 * j.columns + e, element + g * c->filters * c->kernel.outer + o * o_step, sizeof(T));
    }
    const double work = (double)j.items * (double)(j.count[0] * j.count[1] * 3 * j.columns);
    j.parts = th_conv_parts(c, work, j.items);
    return th_conv_run(ctx, c, j.parts, NAME(depthwise_parts), &j);
}
