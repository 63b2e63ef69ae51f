/* Filters of 3 x 3 that move by one pixel, with 16 multiplications for 2 x 2 results in place of 36: minimal filtering
 * F(2 x 2, 3 x 3) of Lavin and Gray, https://arxiv.org/abs/1509.09308, in all three products.
 *
 *   results  = A' (K . P) A     K = G filter G',  P = B' pixels B     4 x 4 pixels make a tile of 2 x 2 results
 *   d filter = G' (R . P) G     R = A d results A'                    summed over all tiles
 *
 * For each of the 16 places of K, P and R the products over all channels, filters and tiles are a product of matrices.
 * Vectors are cut out of rows of tiles; no image is laid out anew. Elements of K and P are sums of both signs: a pixel that
 * is not finite would spoil all results of its tiles, so that where one is not finite, all are computed in another way. */

enum { TH_PLACES = 16 };

#if defined(__clang__) || __GNUC__ >= 12
#define MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#elif T_IS_FLOAT
typedef int32_t vec_mask __attribute__((vector_size(VECTOR_BYTES)));
#define MIX(a, b, ...) __builtin_shuffle(a, b, (vec_mask){__VA_ARGS__})
#else
typedef int64_t vec_mask __attribute__((vector_size(VECTOR_BYTES)));
#define MIX(a, b, ...) __builtin_shuffle(a, b, (vec_mask){__VA_ARGS__})
#endif
#if VECTOR_BYTES == 64 && T_IS_FLOAT
#define EVEN(a, b) MIX(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define ODD(a, b) MIX(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#define FURTHER(a, b) MIX(a, b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
#define FURTHER_ODD(a, b) MIX(a, b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17)
#define FIRST(a, b) MIX(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define SECOND(a, b) MIX(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif VECTOR_BYTES == 64 || (VECTOR_BYTES == 32 && T_IS_FLOAT)
#define EVEN(a, b) MIX(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define ODD(a, b) MIX(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define FURTHER(a, b) MIX(a, b, 1, 2, 3, 4, 5, 6, 7, 8)
#define FURTHER_ODD(a, b) MIX(a, b, 1, 2, 3, 4, 5, 6, 7, 9)
#define FIRST(a, b) MIX(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define SECOND(a, b) MIX(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif VECTOR_BYTES == 32 || T_IS_FLOAT
#define EVEN(a, b) MIX(a, b, 0, 2, 4, 6)
#define ODD(a, b) MIX(a, b, 1, 3, 5, 7)
#define FURTHER(a, b) MIX(a, b, 1, 2, 3, 4)
#define FURTHER_ODD(a, b) MIX(a, b, 1, 2, 3, 5)
#define FIRST(a, b) MIX(a, b, 0, 4, 1, 5)
#define SECOND(a, b) MIX(a, b, 2, 6, 3, 7)
#else
#define EVEN(a, b) MIX(a, b, 0, 2)
#define ODD(a, b) MIX(a, b, 1, 3)
#define FURTHER(a, b) MIX(a, b, 1, 2)
#define FURTHER_ODD(a, b) MIX(a, b, 1, 3)
#define FIRST(a, b) MIX(a, b, 0, 2)
#define SECOND(a, b) MIX(a, b, 1, 3)
#endif

typedef struct {
    th_conv_array from, to;      /* what pixels are read from, and the results */
    int64_t inner[2], before[2]; /* rows and columns of pixels; zeros before them */
    int64_t count[2], tiles[2];  /* of results */
    int64_t groups, inputs, outputs;
    const char *filters;         /* K: (group, place, input, output) */
    const char *zeros;           /* a row of them */
    int64_t rows, block;         /* rows of tiles of all images, and those of a block */
    int64_t row_bytes;           /* what a block has of a place and channel */
    int64_t items, parts;
    char *space;                 /* for each part: P, and products */
    int64_t part_bytes;
    int64_t *lost;               /* for each part: whether a result is not finite */
    const th_conv *c;
} NAME(tiling);

/* How far the places of a matrix are apart that has `bytes`: rows of all 16 are written side by side, and must not fight for
 * the same places in a cache. */
INLINE int64_t NAME(apart)(int64_t bytes) { return parts_of(bytes, TH_GEMM_PAGE) * TH_GEMM_PAGE + TH_GEMM_PAGE / TH_PLACES; }

/* B' of four numbers that follow each other. */
INLINE void NAME(spread)(const vec *d, vec *p)
{
    p[0] = d[0] - d[2];
    p[1] = d[1] + d[2];
    p[2] = d[2] - d[1];
    p[3] = d[1] - d[3];
}

/* P of one channel, for some rows of tiles: place e goes to `to + e place_bytes`. */
static void NAME(lay_pixels)(const NAME(tiling) *j, int64_t g, int64_t channel, int64_t first, int64_t end, char *to,
                             int64_t place_bytes)
{
    const int64_t size = sizeof(T), n = j->inner[1], row_bytes = n * size;
    for (int64_t r = first; r < end; ++r, to += j->tiles[1] * size) {
        const int64_t b = r / j->tiles[0], y = 2 * (r % j->tiles[0]) - j->before[0];
        const char *plane = j->from.data + b * j->from.outer + (g * j->inputs + channel) * j->from.inner, *row[4];
        for (int i = 0; i < 4; ++i) {
            const int within = y + i >= 0 && y + i < j->inner[0];
            row[i] = within ? plane + (y + i) * j->from.at[1] : j->zeros;
            /* The rows of the next channel are too far away for the hardware prefetcher. */
            for (int64_t x = 0; within && i >= 2 && x < row_bytes; x += 64)
                __builtin_prefetch(row[i] + j->from.inner + x);
        }
        for (int64_t t = 0; t < j->tiles[1]; t += LANES) {
            const int64_t x = 2 * t - j->before[1];
            const NAME(within) one = NAME(places_within)(x, n), two = NAME(places_within)(x + LANES, n);
            const NAME(within) next = NAME(places_within)(x + 2 * LANES, n);
            vec d[4][4], down[4][4]; /* columns of tiles, then rows: numbers at even places, odd ones, and both one further */
            _Pragma("GCC unroll 4") for (int i = 0; i < 4; ++i) {
                const char *at = row[i] + x * size;
                const vec a = NAME(load_within)(at, one), c = NAME(load_within)(at + VECTOR_BYTES, two);
                const vec further = NAME(load_within)(at + 2 * VECTOR_BYTES, next);
                d[0][i] = EVEN(a, c);
                d[1][i] = ODD(a, c);
                d[2][i] = FURTHER(d[0][i], further);
                d[3][i] = FURTHER_ODD(d[1][i], further);
            }
            _Pragma("GCC unroll 4") for (int k = 0; k < 4; ++k)
                NAME(spread)(d[k], down[k]);
            _Pragma("GCC unroll 4") for (int i = 0; i < 4; ++i) {
                const vec across[4] = {down[0][i], down[1][i], down[2][i], down[3][i]};
                vec p[4];
                NAME(spread)(across, p);
                _Pragma("GCC unroll 4") for (int k = 0; k < 4; ++k)
                    store(to + (4 * i + k) * place_bytes + t * size, p[k]);
            }
        }
    }
}

/* A' of four numbers. */
INLINE void NAME(gather)(const vec *m, vec *y)
{
    y[0] = m[0] + m[1] + m[2];
    y[1] = m[1] - m[2] - m[3];
}

/* `n` results of a row. */
INLINE void NAME(put_results)(char *to, vec even, vec odd, int64_t n)
{
    const vec half[2] = {FIRST(even, odd), SECOND(even, odd)};
    _Pragma("GCC unroll 2") for (int v = 0; v < 2; ++v, n -= LANES, to += VECTOR_BYTES)
        if (n >= LANES)
            store(to, half[v]);
        else if (n > 0)
            store_some(to, half[v], n);
}

/* The results of a vector of tiles, of which there are `many`: 2 x 2 of each. */
INLINE void NAME(gather_tiles)(const int whole, const char *products, int64_t place_bytes, int64_t many, vec out[2][2])
{
    vec down[2][4];
    _Pragma("GCC unroll 4") for (int k = 0; k < 4; ++k) {
        vec m[4], two[2];
        _Pragma("GCC unroll 4") for (int i = 0; i < 4; ++i) {
            const char *at = products + (4 * i + k) * place_bytes;
            m[i] = whole ? load(at) : load_some(at, many);
        }
        NAME(gather)(m, two);
        down[0][k] = two[0];
        down[1][k] = two[1];
    }
    NAME(gather)(down[0], out[0]);
    NAME(gather)(down[1], out[1]);
}

/* The results of one filter, for some rows of tiles. What comes out is 0, or not where a result is not finite. */
static vec NAME(put_tiles)(const NAME(tiling) *j, int64_t g, int64_t filter, int64_t first, int64_t end, const char *products,
                           int64_t place_bytes)
{
    const int64_t size = sizeof(T);
    vec lost = {0};
    for (int64_t r = first; r < end; ++r, products += j->tiles[1] * size) {
        const int64_t b = r / j->tiles[0], y = 2 * (r % j->tiles[0]);
        char *to = j->to.data + b * j->to.outer + (g * j->outputs + filter) * j->to.inner + y * j->to.at[1];
        for (int64_t x = 0; x < j->tiles[1]; x += LANES) {
            const int64_t many = j->tiles[1] - x, n = j->count[1] - 2 * x;
            vec out[2][2];
            if (many >= LANES)
                NAME(gather_tiles)(1, products + x * size, place_bytes, LANES, out);
            else
                NAME(gather_tiles)(0, products + x * size, place_bytes, many, out);
            _Pragma("GCC unroll 2") for (int i = 0; i < 2; ++i) {
                if (y + i < j->count[0])
                    NAME(put_results)(to + i * j->to.at[1] + 2 * x * size, out[i][0], out[i][1], n);
                lost += (out[i][0] + out[i][1]) * (T)0;
            }
        }
    }
    return lost;
}

/* One block of one group. */
static int NAME(convolve_block)(const NAME(tiling) *j, int64_t g, int64_t first, char *space)
{
    const int64_t size = sizeof(T), left = j->rows - first, end = first + (left < j->block ? left : j->block), none = 0;
    const int64_t of_pixels = NAME(apart)(j->inputs * j->row_bytes), of_products = NAME(apart)(j->outputs * j->row_bytes);
    const int64_t of_filters = NAME(apart)(j->inputs * j->outputs * size);
    char *pixels = space, *products = pixels + TH_PLACES * of_pixels;
    for (int64_t i = 0; i < j->inputs; ++i)
        NAME(lay_pixels)(j, g, i, first, end, pixels + i * j->row_bytes, of_pixels);
    const int64_t vectors = parts_of((end - first) * j->tiles[1], LANES), panels = parts_of(vectors, VECTORS);
    const NAME(walk) w = {&none, &none, 1, j->inputs, size, j->outputs * size, j->row_bytes};
    for (int64_t e = 0; e < TH_PLACES; ++e) {
        const char *filters = j->filters + (g * TH_PLACES + e) * of_filters;
        for (int64_t q = 0; q < panels; ++q) {
            const int64_t at = part_at(vectors, panels, q), n = part_at(vectors, panels, q + 1) - at;
            NAME(walk_rows)(&w, filters, pixels + e * of_pixels + at * VECTOR_BYTES,
                            products + e * of_products + at * VECTOR_BYTES, j->row_bytes, j->outputs, n * LANES, 0);
        }
    }
    vec lost = {0};
    for (int64_t o = 0; o < j->outputs; ++o)
        lost += NAME(put_tiles)(j, g, o, first, end, products + o * j->row_bytes, of_products);
    for (int64_t r = first, next; r < end; r = next) { /* an image, or what the block has of it */
        const int64_t b = r / j->tiles[0], y = 2 * (r - b * j->tiles[0]);
        next = (b + 1) * j->tiles[0] < end ? (b + 1) * j->tiles[0] : end;
        const int64_t below = 2 * (next - b * j->tiles[0]), last = below < j->count[0] ? below : j->count[0];
        th_conv_finish(j->c, b, g * j->outputs, j->outputs, y * j->count[1], last * j->count[1]);
    }
    return sum_of(lost) != 0;
}

static void NAME(convolve_parts)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(tiling) *j = arg;
    const int64_t blocks = parts_of(j->rows, j->block);
    for (int64_t part = lo; part < hi; ++part)
        for (int64_t i = part_at(j->items, j->parts, part); i < part_at(j->items, j->parts, part + 1) && !j->lost[part]; ++i)
            j->lost[part] = NAME(convolve_block)(j, i / blocks, i % blocks * j->block, j->space + part * j->part_bytes);
}

/* The filters as they are used: K. `at` are the positions of their elements. */
static void NAME(spread_filters)(const th_conv *c, NAME(tiling) *j, const int64_t *at, int64_t i_step, int64_t o_step, char *to)
{
    const int64_t size = sizeof(T), of_place = NAME(apart)(j->inputs * j->outputs * size);
    for (int64_t g = 0; g < j->groups; ++g, to += TH_PLACES * of_place)
        for (int64_t i = 0; i < j->inputs; ++i)
            for (int64_t o = 0; o < j->outputs; o += LANES) {
                const int64_t n = j->outputs - o < LANES ? j->outputs - o : LANES;
                const char *from = c->kernel.data + g * c->filters * c->kernel.outer + i * i_step + o * o_step;
                T plain[LANES] = {0};
                vec k[3][3], down[4][3];
                for (int e = 0; e < 9; ++e) {
                    for (int64_t l = 0; l < n; ++l)
                        memcpy(plain + l, from + at[e] + l * o_step, sizeof(T));
                    k[e / 3][e % 3] = load(plain);
                }
                for (int e = 0; e < 3; ++e) {
                    const vec ends = k[0][e] + k[2][e];
                    down[0][e] = k[0][e];
                    down[1][e] = (ends + k[1][e]) * (T)0.5;
                    down[2][e] = (ends - k[1][e]) * (T)0.5;
                    down[3][e] = k[2][e];
                }
                for (int e = 0; e < 4; ++e) {
                    const vec ends = down[e][0] + down[e][2];
                    const vec across[4] = {down[e][0], (ends + down[e][1]) * (T)0.5, (ends - down[e][1]) * (T)0.5, down[e][2]};
                    for (int f = 0; f < 4; ++f)
                        store_some(to + (4 * e + f) * of_place + (i * j->outputs + o) * size, across[f], n);
                }
            }
}

/* Cut rows of tiles into blocks whose pixels and products, for `channels` in all, stay in the second-level cache. */
static void NAME(cut_tiles)(NAME(tiling) *j, int64_t batch, int64_t channels)
{
    const int64_t size = sizeof(T);
    for (int a = 0; a < 2; ++a)
        j->tiles[a] = parts_of(j->count[a], 2);
    j->rows = batch * j->tiles[0];
    const int64_t fit = TH_CONV_TILE_BYTES / (TH_PLACES * channels * size), most = fit < COLUMNS ? COLUMNS : fit;
    j->block = most / j->tiles[1] < 1 ? 1 : most / j->tiles[1];
    j->block = parts_of(j->rows, parts_of(j->rows, j->block));
    j->row_bytes = (parts_of(j->block * j->tiles[1], LANES) + 1) * VECTOR_BYTES;
}

/* Whether it is less work. What is counted is multiplications of a tile; laying out its pixels and results takes as long as
 * 140 of each channel and filter, and filters as long as they would take for fifty tiles. Filters that leave the caches
 * would be read anew for each block. */
static int NAME(suits_tiles)(const th_conv *c, int64_t inputs, int64_t outputs, int images)
{
    const th_conv_axis *z = c->axis;
    const int plain = z[0].kernel == 1 && z[0].image == 1 && z[0].output == 1 && z[1].kernel == 3 && z[2].kernel == 3;
    const int64_t size = sizeof(T);
    if (!plain || !c->winograd || TH_PLACES * inputs * outputs * size > TH_CONV_TILE_FILTERS)
        return 0;
    if (c->image.at[2] != size || c->output.at[2] != size)
        return 0;
    int64_t count[2];
    for (int a = 1; a < TH_CONV_AXES; ++a) {
        if (z[a].step != 1 || z[a].dilation != 1 || z[a].before > 2 || z[a].after > 2)
            return 0;
        count[a - 1] = images ? z[a].image : z[a].output;
    }
    const double rows = (double)(c->batch * parts_of(count[0], 2)), row = (double)parts_of(count[1], 2);
    const double filled = (double)(parts_of(parts_of(count[1], 2), LANES) * LANES), work = (double)(inputs * outputs);
    const double results = (double)c->batch * (double)(count[0] * count[1]) / 4; /* less than one for each tile at odd edges */
    return 36 * results * work > (16 * rows * row + 800) * work + 140 * rows * filled * (double)(inputs + outputs);
}

/* Convolve, or do it backwards. 0, -1 with the error set, or 1: a result is not finite. */
static int NAME(convolve_tiles)(th_ctx *ctx, const th_conv *c, int images)
{
    const th_conv_axis *z = c->axis;
    const int64_t size = sizeof(T), inputs = images ? c->filters : c->channels, outputs = images ? c->channels : c->filters;
    NAME(tiling) j = {
        .from = images ? c->output : c->image, .to = images ? c->image : c->output, .groups = c->groups,
        .inputs = inputs, .outputs = outputs, .c = c,
    };
    for (int a = 0; a < 2; ++a) {
        j.inner[a] = images ? z[a + 1].output : z[a + 1].image;
        j.before[a] = images ? 2 - z[a + 1].before : z[a + 1].before;
        j.count[a] = images ? z[a + 1].image : z[a + 1].output;
    }
    NAME(cut_tiles)(&j, c->batch, inputs + outputs);
    j.items = j.groups * parts_of(j.rows, j.block);
    const double work = (double)(TH_PLACES * j.groups * j.rows * j.tiles[1]) * (double)(inputs * outputs);
    j.parts = th_conv_parts(c, work, j.items);
    j.part_bytes = TH_PLACES * (NAME(apart)(inputs * j.row_bytes) + NAME(apart)(outputs * j.row_bytes));
    char *filters = ctx->rt->scratch(ctx, (size_t)(j.groups * TH_PLACES * NAME(apart)(inputs * outputs * size)));
    j.space = ctx->rt->scratch(ctx, (size_t)(j.parts * j.part_bytes));
    j.lost = ctx->rt->scratch(ctx, (size_t)j.parts * sizeof(int64_t));
    j.zeros = NAME(row_of_zeros)(ctx, j.inner[1]);
    if (filters == NULL || j.space == NULL || j.lost == NULL || j.zeros == NULL)
        return -1;
    int64_t at[9];
    for (int64_t e = 0; e < 9; ++e) {
        const int64_t back = images ? 8 - e : e, k[] = {0, back / 3, back % 3};
        at[e] = NAME(element_at)(c, k);
    }
    const int64_t outer = c->kernel.outer, inner = c->kernel.inner;
    NAME(spread_filters)(c, &j, at, images ? outer : inner, images ? inner : outer, filters);
    j.filters = filters;
    memset(j.lost, 0, (size_t)j.parts * sizeof(int64_t));
    if (th_conv_run(ctx, c, j.parts, NAME(convolve_parts), &j))
        return -1;
    for (int64_t part = 0; part < j.parts; ++part)
        if (j.lost[part])
            return 1;
    return 0;
}

/* -- the gradient with respect to filters ---------------------------------------------------------------------- */

/* The same job: `to` is where the results' gradients are, and `sums` has K's, (part, group, place, channel, filter). */
typedef struct {
    NAME(tiling) tiling;
    int64_t wide;               /* filters, in whole vectors */
    int64_t result_bytes, sum_bytes;
    char *sums;
} NAME(filter_tiling);

/* R of some rows of tiles, (place, tile, filter); `lines` are two rows of results with their filters side by side. */
static void NAME(lay_results)(const NAME(filter_tiling) *f, int64_t g, int64_t first, int64_t end, char *lines, char *to,
                              int64_t place_bytes)
{
    const NAME(tiling) *j = &f->tiling;
    const int64_t size = sizeof(T), step = f->wide * size, line = 2 * j->tiles[1] * step;
    for (int64_t r = first; r < end; ++r) {
        const int64_t b = r / j->tiles[0], y = 2 * (r % j->tiles[0]), n = j->count[1];
        for (int64_t i = 0; i < 2; ++i) {
            char *row = lines + i * line;
            if (y + i >= j->count[0]) {
                memset(row, 0, (size_t)line);
                continue;
            }
            const char *from = j->to.data + b * j->to.outer + g * j->outputs * j->to.inner + (y + i) * j->to.at[1];
            memset(row + n * step, 0, (size_t)(line - n * step));
            for (int64_t o = 0; o < j->outputs; o += SQUARE)
                for (int64_t x = 0; x < n; x += SQUARE)
                    NAME(turn_square)(row + x * step + o * size, step, j->outputs - o < SQUARE ? j->outputs - o : SQUARE,
                                      n - x < SQUARE ? n - x : SQUARE, from + o * j->to.inner + x * size, j->to.inner);
        }
        for (int64_t x = 0; x < j->tiles[1]; ++x, to += step)
            for (int64_t o = 0; o < step; o += VECTOR_BYTES) {
                const char *at = lines + 2 * x * step + o;
                const vec t[2][2] = {{load(at), load(at + line)}, {load(at + step), load(at + line + step)}};
                vec down[2][4];
                _Pragma("GCC unroll 2") for (int k = 0; k < 2; ++k) {
                    down[k][0] = t[k][0];
                    down[k][1] = t[k][0] + t[k][1];
                    down[k][2] = t[k][0] - t[k][1];
                    down[k][3] = -t[k][1];
                }
                _Pragma("GCC unroll 4") for (int i = 0; i < 4; ++i) {
                    const vec across[4] = {down[0][i], down[0][i] + down[1][i], down[0][i] - down[1][i], -down[1][i]};
                    _Pragma("GCC unroll 4") for (int k = 0; k < 4; ++k)
                        store(to + (4 * i + k) * place_bytes + o, across[k]);
                }
            }
    }
}

/* The sums of one part. */
static void NAME(weigh_part)(const NAME(filter_tiling) *f, int64_t part)
{
    const NAME(tiling) *j = &f->tiling;
    const int64_t size = sizeof(T), step = f->wide * size, none = 0, blocks = parts_of(j->rows, j->block);
    const int64_t of_pixels = NAME(apart)(j->inputs * j->row_bytes), of_sums = NAME(apart)(j->inputs * step);
    const int64_t vectors = f->wide / LANES, panels = parts_of(vectors, VECTORS);
    const int64_t begin = part_at(blocks, j->parts, part), stop = part_at(blocks, j->parts, part + 1);
    char *pixels = j->space + part * j->part_bytes, *results = pixels + TH_PLACES * of_pixels;
    char *lines = results + f->result_bytes;
    memset(lines, 0, (size_t)(4 * j->tiles[1] * step)); /* behind the last filter they stay so */
    for (int64_t g = 0; g < j->groups; ++g)
        for (int64_t block = begin; block < stop; ++block) {
            const int64_t first = block * j->block, left = j->rows - first, end = first + (left < j->block ? left : j->block);
            const int64_t terms = (end - first) * j->tiles[1], of_results = NAME(apart)(terms * step);
            for (int64_t i = 0; i < j->inputs; ++i)
                NAME(lay_pixels)(j, g, i, first, end, pixels + i * j->row_bytes, of_pixels);
            NAME(lay_results)(f, g, first, end, lines, results, of_results);
            const NAME(walk) w = {&none, &none, 1, terms, j->row_bytes, size, step};
            for (int64_t e = 0; e < TH_PLACES; ++e)
                for (int64_t q = 0; q < panels; ++q) {
                    const int64_t at = part_at(vectors, panels, q), n = part_at(vectors, panels, q + 1) - at;
                    NAME(walk_rows)(&w, pixels + e * of_pixels, results + e * of_results + at * VECTOR_BYTES,
                                    f->sums + part * f->sum_bytes + (g * TH_PLACES + e) * of_sums + at * VECTOR_BYTES, step,
                                    j->inputs, n * LANES, block > begin);
                }
        }
}

static void NAME(weigh_tile_parts)(void *arg, int64_t lo, int64_t hi)
{
    for (int64_t part = lo; part < hi; ++part)
        NAME(weigh_part)(arg, part);
}

/* G' of four numbers. */
INLINE void NAME(gather_filter)(const vec *u, vec *k)
{
    const vec ends = (u[1] + u[2]) * (T)0.5;
    k[0] = u[0] + ends;
    k[1] = (u[1] - u[2]) * (T)0.5;
    k[2] = ends + u[3];
}

/* The filters' gradients. What comes out is 0, or not where one is not finite. */
static vec NAME(put_filters)(const th_conv *c, const NAME(filter_tiling) *f, const int64_t *at)
{
    const NAME(tiling) *j = &f->tiling;
    const int64_t size = sizeof(T), step = f->wide * size;
    vec lost = {0};
    for (int64_t g = 0; g < j->groups; ++g)
        for (int64_t i = 0; i < j->inputs; ++i)
            for (int64_t o = 0; o < j->outputs; o += LANES) {
                vec u[4][4], down[4][3];
                for (int e = 0; e < TH_PLACES; ++e) {
                    const char *from = f->sums + (g * TH_PLACES + e) * NAME(apart)(j->inputs * step) + i * step + o * size;
                    u[e % 4][e / 4] = load(from);
                    for (int64_t part = 1; part < j->parts; ++part)
                        u[e % 4][e / 4] += load(from + part * f->sum_bytes);
                }
                for (int e = 0; e < 4; ++e)
                    NAME(gather_filter)(u[e], down[e]);
                const int64_t n = j->outputs - o < LANES ? j->outputs - o : LANES;
                char *to = c->kernel.data + (g * c->filters + o) * c->kernel.outer + i * c->kernel.inner;
                for (int e = 0; e < 3; ++e) {
                    const vec row[4] = {down[0][e], down[1][e], down[2][e], down[3][e]};
                    vec k[3];
                    NAME(gather_filter)(row, k);
                    for (int d = 0; d < 3; ++d) {
                        T plain[LANES];
                        store(plain, k[d]);
                        for (int64_t l = 0; l < n; ++l)
                            memcpy(to + at[3 * e + d] + l * c->kernel.outer, plain + l, sizeof(T));
                        lost += k[d] * (T)0;
                    }
                }
            }
    return lost;
}

/* 0, -1 with the error set, or 1: an element is not finite. */
static int NAME(weigh_tiles)(th_ctx *ctx, const th_conv *c)
{
    const th_conv_axis *z = c->axis;
    const int64_t size = sizeof(T);
    NAME(filter_tiling) f = {
        .tiling = {.from = c->image, .to = c->output, .groups = c->groups, .inputs = c->channels, .outputs = c->filters},
        .wide = parts_of(c->filters, LANES) * LANES,
    };
    NAME(tiling) *j = &f.tiling;
    for (int a = 0; a < 2; ++a) {
        j->inner[a] = z[a + 1].image;
        j->before[a] = z[a + 1].before;
        j->count[a] = z[a + 1].output;
    }
    NAME(cut_tiles)(j, c->batch, c->channels + f.wide);
    const double work = (double)(TH_PLACES * j->groups * j->rows * j->tiles[1]) * (double)(c->channels * c->filters);
    const int64_t blocks = parts_of(j->rows, j->block);
    /* Parts are the same for any number of threads, and so are the sums. */
    j->parts = work < TH_GEMM_WORTH_THREADS ? 1 : blocks < TH_CONV_SUMS ? blocks : TH_CONV_SUMS;
    f.result_bytes = TH_PLACES * NAME(apart)(j->block * j->tiles[1] * f.wide * size);
    f.sum_bytes = j->groups * TH_PLACES * NAME(apart)(c->channels * f.wide * size);
    j->part_bytes = TH_PLACES * NAME(apart)(c->channels * j->row_bytes) + f.result_bytes + 4 * j->tiles[1] * f.wide * size;
    j->space = ctx->rt->scratch(ctx, (size_t)(j->parts * j->part_bytes));
    f.sums = ctx->rt->scratch(ctx, (size_t)(j->parts * f.sum_bytes));
    j->zeros = NAME(row_of_zeros)(ctx, j->inner[1]);
    if (j->space == NULL || f.sums == NULL || j->zeros == NULL)
        return -1;
    if (th_conv_run(ctx, c, j->parts, NAME(weigh_tile_parts), &f))
        return -1;
    int64_t at[9];
    for (int64_t e = 0; e < 9; ++e) {
        const int64_t k[] = {0, e / 3, e % 3};
        at[e] = NAME(element_at)(c, k);
    }
    return sum_of(NAME(put_filters)(c, &f, at)) != 0;
}
