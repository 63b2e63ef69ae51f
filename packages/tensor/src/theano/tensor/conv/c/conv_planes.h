/* Convolutions with few channels or few filters in a group, such as those of each channel by itself: the vectors are cut
 * out of rows of pixels, not of filters, and no result is laid out anew.
 *
 * The planes of a group are copied with zeros around them, in which a row is split by the remainders of its places by the
 * step: the pixels that an element of a filter meets are then neighbours. */

enum { TH_CONV_PLANE_ROWS = 4, TH_CONV_PLANE_FILTERS = ROWS, TH_CONV_PLANE_ELEMENTS = 9 };

/* Planes of one group. The pixel x of a row goes to place before + x spread. */
typedef struct {
    th_conv_array from;
    int64_t channels;
    int64_t inner[TH_CONV_AXES], before[TH_CONV_AXES], spread[TH_CONV_AXES], length[TH_CONV_AXES];
    int64_t step, piece;                /* of a row: into how many pieces it is split, elements of each */
    int64_t at[2], plane;               /* bytes of a slice, of a row and of all */
} NAME(planes);

static void NAME(lay_planes)(NAME(planes) *p)
{
    const int64_t size = sizeof(T);
    p->piece = parts_of(p->length[2], p->step) + LANES; /* vectors are read whole */
    p->at[1] = p->step * p->piece * size;
    p->at[0] = p->length[1] * p->at[1];
    p->plane = p->length[0] * p->at[0];
}

/* The pixels that have a place along an axis. */
INLINE void NAME(placed)(const NAME(planes) *p, int axis, int64_t *lo, int64_t *hi)
{
    const int64_t before = p->before[axis], spread = p->spread[axis], last = p->length[axis] - 1 - before;
    *lo = before < 0 ? parts_of(-before, spread) : 0;
    *hi = last < 0 ? 0 : last / spread + 1;
    *hi = *hi < p->inner[axis] ? *hi : p->inner[axis];
}

/* A row of neighbours; zeros follow up to the end of a vector. */
INLINE void NAME(copy_line)(char *to, const char *from, int64_t n)
{
    for (int64_t x = 0; x < n; x += LANES, to += VECTOR_BYTES, from += VECTOR_BYTES)
        store(to, n - x >= LANES ? load(from) : load_some(from, n - x));
}

/* Everything but the pixels is 0 already. */
static void NAME(copy_planes)(const NAME(planes) *p, int64_t batch, int64_t group, char *to)
{
    const int64_t size = sizeof(T);
    int64_t lo[TH_CONV_AXES], hi[TH_CONV_AXES];
    for (int a = 0; a < TH_CONV_AXES; ++a)
        NAME(placed)(p, a, lo + a, hi + a);
    const char *from = p->from.data + batch * p->from.outer + group * p->channels * p->from.inner;
    for (int64_t i = 0; i < p->channels; ++i, to += p->plane, from += p->from.inner)
        for (int64_t z = lo[0]; z < hi[0]; ++z)
            for (int64_t y = lo[1]; y < hi[1]; ++y) {
                const char *row = from + z * p->from.at[0] + y * p->from.at[1];
                char *line = to + (p->before[0] + z * p->spread[0]) * p->at[0] + (p->before[1] + y * p->spread[1]) * p->at[1];
                if (p->step == 1 && p->spread[2] == 1 && p->from.at[2] == size) {
                    NAME(copy_line)(line + (p->before[2] + lo[2]) * size, row + lo[2] * size, hi[2] - lo[2]);
                    continue;
                }
                /* One of both steps is 1: a pixel's place is the next one of its piece, or that of the next piece. */
                const int64_t place = p->before[2] + lo[2] * p->spread[2];
                int64_t piece = place % p->step, at = place / p->step;
                for (int64_t x = lo[2]; x < hi[2]; ++x) {
                    memcpy(line + (piece * p->piece + at) * size, row + x * p->from.at[2], sizeof(T));
                    const int wraps = piece + 1 == p->step;
                    at += wraps ? p->spread[2] : 0;
                    piece = wraps ? 0 : piece + 1;
                }
            }
}

/* Where the pixels begin that an element of a filter meets, which is at these places before the first of them. */
INLINE int64_t NAME(plane_offset)(const NAME(planes) *p, const int64_t *place)
{
    return place[0] * p->at[0] + place[1] * p->at[1] + (place[2] % p->step * p->piece + place[2] / p->step) * (int64_t)sizeof(T);
}

/* Whether planes are less work than adjacent channels, in multiplications for each pixel. Vectors of pixels
 * end with a row, vectors of filters with a group; a pixel's channels are moved there and back, which takes as long as some
 * fifty multiplications; and planes that leave the second-level cache are read more slowly. */
static int NAME(suits_planes)(const th_conv *c, int64_t inputs, int64_t outputs, int64_t width)
{
    const th_conv_axis *z = c->axis;
    int64_t bytes = inputs * (int64_t)sizeof(T);
    for (int a = 0; a < TH_CONV_AXES; ++a)
        bytes *= z[a].image + z[a].before + z[a].after;
    if (width == 0)
        return 0;
    const double terms = (double)(z[0].kernel * z[1].kernel * z[2].kernel * inputs), filled = (double)(parts_of(width, LANES) * LANES) / (double)width;
    /* The more filters share the pixels of a vector, the fewer times it is read. */
    const double each = (outputs < 4 ? 2.0 : 1.15) * (bytes > TH_CONV_SLICE_BYTES ? 1.5 : 1.0);
    return (double)outputs * terms * filled * each < (double)(parts_of(outputs, LANES) * LANES) * terms + 50.0 * (double)(inputs + outputs);
}

/* -- for each pixel ------------------------------------------------------------------------------------------ */

typedef struct {
    NAME(planes) from;
    int64_t groups, outputs, terms;
    int64_t count[TH_CONV_AXES], step[2]; /* results; between these, in bytes of planes */
    th_conv_array to;
    const int64_t *offsets;               /* of each term; first those of the filter's first element along the outer axis */
    const T *weights;                     /* (group, tile of outputs, term, output) */
    int outer;                            /* 1 or 2 */
    int64_t elements, apart;              /* of the outer axis, and how many places from one to the next */
    int64_t moves, lo, hi;                /* along it: places from a result to the next; those of pixels */
    char *space;
    int64_t items, parts;
    const th_conv *c;
} NAME(plane_job);

/* `n` results of a row. */
INLINE void NAME(put_line)(char *to, vec sums, int64_t x_step, int64_t n)
{
    if (x_step != (int64_t)sizeof(T)) {
        T plain[LANES];
        store(plain, sums);
        for (int64_t l = 0; l < (n < LANES ? n : LANES); ++l)
            memcpy(to + l * x_step, plain + l, sizeof(T));
    } else if (n >= LANES) {
        store(to, sums);
    } else {
        store_some(to, sums, n);
    }
}

/* Terms of results `first` to `end` of the outer axis: all others are products with zeros beside the image. */
typedef struct {
    int64_t first, end;
} NAME(met);
INLINE NAME(met) NAME(terms_met)(const NAME(plane_job) *j, int64_t first, int64_t end)
{
    const int64_t each = j->terms / j->elements, below = j->lo - (end - 1) * j->moves, above = j->hi - first * j->moves;
    const int64_t lo = below > 0 ? parts_of(below, j->apart) : 0, hi = above > 0 ? parts_of(above, j->apart) : 0;
    const int64_t last = hi < j->elements ? hi : j->elements;
    return lo < last ? (NAME(met)){lo * each, last * each} : (NAME(met)){0, 0};
}

/* A tile of some vectors of pixels: of `many` rows for one filter, or of one row for `many` filters. Weights are those of all
 * filters in a tile, term by term. */
INLINE void NAME(plane_tile)(const int many, const int filters, const int vectors, const NAME(plane_job) *j, const char *from,
                             const T *weights, NAME(met) met, char *to, int64_t n)
{
    vec sums[TH_CONV_PLANE_FILTERS][2];
    const int64_t step = j->step[1], next = filters ? j->to.inner : j->to.at[1];
    _Pragma("GCC unroll 8") for (int i = 0; i < many; ++i)
        _Pragma("GCC unroll 2") for (int v = 0; v < vectors; ++v)
            sums[i][v] = (vec){0};
    for (int64_t t = met.first; t < met.end; ++t) {
        const char *p = from + j->offsets[t];
        if (filters) {
            vec pixels[2];
            _Pragma("GCC unroll 2") for (int v = 0; v < vectors; ++v)
                pixels[v] = load(p + v * VECTOR_BYTES);
            _Pragma("GCC unroll 8") for (int i = 0; i < many; ++i) {
                const vec weight = all(weights[t * many + i]);
                _Pragma("GCC unroll 2") for (int v = 0; v < vectors; ++v)
                    sums[i][v] = fused(weight, pixels[v], sums[i][v]);
            }
        } else {
            const vec weight = all(weights[t]);
            _Pragma("GCC unroll 8") for (int i = 0; i < many; ++i)
                _Pragma("GCC unroll 2") for (int v = 0; v < vectors; ++v)
                    sums[i][v] = fused(weight, load(p + i * step + v * VECTOR_BYTES), sums[i][v]);
        }
    }
    _Pragma("GCC unroll 8") for (int i = 0; i < many; ++i)
        _Pragma("GCC unroll 2") for (int v = 0; v < vectors; ++v)
            NAME(put_line)(to + i * next + v * LANES * j->to.at[2], sums[i][v], j->to.at[2], n - v * LANES);
}

/* A row, or several, of pixels. */
#define PLANE_ROWS(MANY, FILTERS) \
    static __attribute__((noinline)) void NAME(plane_row_##MANY##_##FILTERS)(const NAME(plane_job) *j, const char *from, \
                                                                             const T *weights, int64_t y, char *to) \
    { \
        const NAME(met) of_rows = NAME(terms_met)(j, y, y + (FILTERS ? 1 : MANY)); \
        for (int64_t x = 0; x < j->count[2]; x += 2 * LANES) { \
            const int64_t n = j->count[2] - x; \
            const NAME(met) met = j->outer == 1 ? of_rows : NAME(terms_met)(j, x, x + 2 * LANES); \
            if (n > LANES) \
                NAME(plane_tile)(MANY, FILTERS, 2, j, from + x * (int64_t)sizeof(T), weights, met, to + x * j->to.at[2], n); \
            else \
                NAME(plane_tile)(MANY, FILTERS, 1, j, from + x * (int64_t)sizeof(T), weights, met, to + x * j->to.at[2], n); \
        } \
    }
PLANE_ROWS(1, 0)
PLANE_ROWS(4, 0)
PLANE_ROWS(4, 1)
#if ROWS == 8
PLANE_ROWS(8, 1)
#define PLANE_FILTERS(LEFT) ((LEFT) >= 8 ? 8 : (LEFT) >= 4 ? 4 : 1)
#else
#define PLANE_FILTERS(LEFT) ((LEFT) >= 4 ? 4 : 1)
#endif

/* One filter, or several, of image b; the first is filter f of all groups. */
static void NAME(plane_filters)(const NAME(plane_job) *j, int64_t b, int64_t f, int64_t filters, const char *planes, const T *weights)
{
    char *plane = j->to.data + b * j->to.outer + f * j->to.inner;
    const int64_t all_rows = j->count[0] * j->count[1];
    int64_t finished = 0;
    for (int64_t z = 0; z < j->count[0]; ++z)
        for (int64_t y = 0; y < j->count[1];) {
            const char *from = planes + z * j->step[0] + y * j->step[1];
            char *to = plane + z * j->to.at[0] + y * j->to.at[1];
            const int several = filters == 1 && j->count[1] - y >= TH_CONV_PLANE_ROWS;
            if (several)
                NAME(plane_row_4_0)(j, from, weights, y, to);
            else if (filters == 1)
                NAME(plane_row_1_0)(j, from, weights, y, to);
#if ROWS == 8
            else if (filters == 8)
                NAME(plane_row_8_1)(j, from, weights, y, to);
#endif
            else
                NAME(plane_row_4_1)(j, from, weights, y, to);
            y += several ? TH_CONV_PLANE_ROWS : 1;
            const int64_t rows = z * j->count[1] + y;
            if ((rows - finished) * j->count[2] < TH_CONV_FINISHED && rows < all_rows)
                continue;
            th_conv_finish(j->c, b, f, filters, finished * j->count[2], rows * j->count[2]);
            finished = rows;
        }
}

/* Items lo to hi, each a group of an image. */
static void NAME(plane_items)(const NAME(plane_job) *j, int64_t lo, int64_t hi, char *space)
{
    memset(space, 0, (size_t)(j->from.channels * j->from.plane));
    for (int64_t item = lo; item < hi; ++item) {
        const int64_t b = item / j->groups, g = item % j->groups;
        NAME(copy_planes)(&j->from, b, g, space);
        for (int64_t o = 0, filters; o < j->outputs; o += filters) {
            filters = PLANE_FILTERS(j->outputs - o);
            NAME(plane_filters)(j, b, g * j->outputs + o, filters, space, j->weights + (g * j->outputs + o) * j->terms);
        }
    }
}

static void NAME(plane_parts)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(plane_job) *j = arg;
    for (int64_t part = lo; part < hi; ++part)
        NAME(plane_items)(j, part_at(j->items, j->parts, part), part_at(j->items, j->parts, part + 1),
                          j->space + part * j->from.channels * j->from.plane);
}

/* Offsets of all terms, and the weights of filters in their order. 0, or -1 with the error set. */
static int NAME(pack_planes)(th_ctx *ctx, NAME(plane_job) *j, int images)
{
    const th_conv *c = j->c;
    const th_conv_axis *z = c->axis;
    const int64_t inputs = j->from.channels, inner = z[0].kernel * z[1].kernel * z[2].kernel / j->elements;
    int64_t *offsets = ctx->rt->scratch(ctx, (size_t)(j->terms + 1) * sizeof(int64_t));
    T *weights = ctx->rt->scratch(ctx, (size_t)(c->groups * j->outputs * j->terms + 1) * sizeof(T));
    if (offsets == NULL || weights == NULL)
        return -1;
    j->offsets = offsets;
    j->weights = weights;
    const int64_t i_step = images ? c->kernel.outer : c->kernel.inner, o_step = images ? c->kernel.inner : c->kernel.outer;
    int64_t p[TH_CONV_AXES]; /* steps from the first place that an element meets */
    for (p[0] = 0; p[0] < z[0].kernel; ++p[0])
        for (p[1] = 0; p[1] < z[1].kernel; ++p[1])
            for (p[2] = 0; p[2] < z[2].kernel; ++p[2]) {
                int64_t place[TH_CONV_AXES], k[TH_CONV_AXES];
                for (int a = 0; a < TH_CONV_AXES; ++a) {
                    place[a] = p[a] * z[a].dilation;
                    k[a] = images ? z[a].kernel - 1 - p[a] : p[a];
                }
                const int64_t e = p[j->outer] * inner * inputs + (j->outer == 1 ? p[0] * z[2].kernel + p[2] : p[0]);
                for (int64_t i = 0; i < inputs; ++i)
                    offsets[e + i * inner] = i * j->from.plane + NAME(plane_offset)(&j->from, place);
                for (int64_t g = 0; g < c->groups; ++g)
                    for (int64_t first = 0, filters; first < j->outputs; first += filters) {
                        filters = PLANE_FILTERS(j->outputs - first);
                        T *tile = weights + (g * j->outputs + first) * j->terms;
                        const char *kernel = c->kernel.data + g * c->filters * c->kernel.outer + first * o_step + NAME(element_at)(c, k);
                        for (int64_t i = 0; i < inputs; ++i)
                            for (int64_t o = 0; o < filters; ++o)
                                memcpy(tile + (e + i * inner) * filters + o, kernel + o * o_step + i * i_step, sizeof(T));
                    }
            }
    return 0;
}

/* Convolve, or do it backwards: then the results are `images`, made of outputs that are spread by the steps. */
static int NAME(convolve_planes)(th_ctx *ctx, const th_conv *c, int images)
{
    const th_conv_axis *z = c->axis;
    const int64_t elements = z[0].kernel * z[1].kernel * z[2].kernel, inputs = images ? c->filters : c->channels;
    NAME(plane_job) j = {
        .from = {.from = images ? c->output : c->image, .channels = inputs, .step = images ? 1 : z[2].step},
        .groups = c->groups, .outputs = images ? c->channels : c->filters, .terms = inputs * elements,
        .to = images ? c->image : c->output, .items = c->batch * c->groups, .c = c,
    };
    for (int a = 0; a < TH_CONV_AXES; ++a) {
        const int64_t covered = (z[a].kernel - 1) * z[a].dilation;
        j.from.inner[a] = images ? z[a].output : z[a].image;
        j.from.before[a] = images ? covered - z[a].before : z[a].before;
        j.from.spread[a] = images ? z[a].step : 1;
        j.from.length[a] = images ? z[a].image + covered : z[a].image + z[a].before + z[a].after;
        j.count[a] = images ? z[a].image : z[a].output;
    }
    if (j.items == 0 || j.outputs == 0 || j.count[0] * j.count[1] * j.count[2] == 0)
        return 0;
    NAME(lay_planes)(&j.from);
    for (int a = 0; a < 2; ++a)
        j.step[a] = (images ? 1 : z[a].step) * j.from.at[a];
    j.outer = z[1].kernel > 1 ? 1 : 2;
    j.elements = z[j.outer].kernel;
    j.apart = z[j.outer].dilation;
    j.moves = images ? 1 : z[j.outer].step;
    NAME(placed)(&j.from, j.outer, &j.lo, &j.hi);
    j.lo = j.from.before[j.outer] + j.lo * j.from.spread[j.outer];
    j.hi = j.from.before[j.outer] + (j.hi - 1) * j.from.spread[j.outer] + 1;
    const double work = (double)j.items * (double)(j.count[0] * j.count[1] * j.count[2]) * (double)(j.terms * j.outputs);
    j.parts = th_conv_parts(c, work, j.items);
    j.space = ctx->rt->scratch(ctx, (size_t)(j.parts * inputs * j.from.plane) + 64);
    if (j.space == NULL || NAME(pack_planes)(ctx, &j, images))
        return -1;
    return th_conv_run(ctx, c, j.parts, NAME(plane_parts), &j);
}

/* -- for each filter ----------------------------------------------------------------------------------------- */

typedef struct {
    const th_conv *c;
    NAME(planes) image, output;
    const int64_t *offsets; /* of each element, and where its sum goes, as bytes */
    const int64_t *places;
    int64_t elements, parts, bytes;
    char *space;            /* for each part: planes of images and of outputs, and sums */
} NAME(weigh_job);

/* Add the products of a plane of outputs with the pixels that some elements of a filter meet to their sums. */
INLINE void NAME(weigh_tile)(const int elements, const NAME(weigh_job) *j, const char *image, const char *output,
                             const int64_t *offsets, char *to)
{
    vec sums[TH_CONV_PLANE_ELEMENTS];
    const th_conv_axis *z = j->c->axis;
    const int64_t width = parts_of(z[2].output, LANES) * VECTOR_BYTES;
    _Pragma("GCC unroll 9") for (int e = 0; e < elements; ++e)
        sums[e] = load(to + e * VECTOR_BYTES);
    for (int64_t s = 0; s < z[0].output; ++s)
        for (int64_t y = 0; y < z[1].output; ++y) {
            const char *row = output + s * j->output.at[0] + y * j->output.at[1];
            const char *from = image + s * z[0].step * j->image.at[0] + y * z[1].step * j->image.at[1];
            for (int64_t x = 0; x < width; x += VECTOR_BYTES) {
                const vec top = load(row + x);
                _Pragma("GCC unroll 9") for (int e = 0; e < elements; ++e)
                    sums[e] = fused(top, load(from + offsets[e] + x), sums[e]);
            }
        }
    _Pragma("GCC unroll 9") for (int e = 0; e < elements; ++e)
        store(to + e * VECTOR_BYTES, sums[e]);
}

static void NAME(weigh_group)(const NAME(weigh_job) *j, int64_t g, char *space)
{
    const th_conv *c = j->c;
    const int64_t many = TH_CONV_PLANE_ELEMENTS, pairs = c->filters * c->channels;
    char *outputs = space + c->channels * j->image.plane, *sums = outputs + c->filters * j->output.plane;
    memset(space, 0, (size_t)(c->channels * j->image.plane + c->filters * j->output.plane + pairs * j->elements * VECTOR_BYTES));
    for (int64_t b = 0; b < c->batch; ++b) {
        NAME(copy_planes)(&j->image, b, g, space);
        NAME(copy_planes)(&j->output, b, g, outputs);
        for (int64_t pair = 0; pair < pairs; ++pair) {
            const char *image = space + pair % c->channels * j->image.plane, *output = outputs + pair / c->channels * j->output.plane;
            char *to = sums + pair * j->elements * VECTOR_BYTES;
            int64_t e = 0;
            for (; e + many <= j->elements; e += many)
                NAME(weigh_tile)(TH_CONV_PLANE_ELEMENTS, j, image, output, j->offsets + e, to + e * VECTOR_BYTES);
            for (; e + 3 <= j->elements; e += 3)
                NAME(weigh_tile)(3, j, image, output, j->offsets + e, to + e * VECTOR_BYTES);
            for (; e < j->elements; ++e)
                NAME(weigh_tile)(1, j, image, output, j->offsets + e, to + e * VECTOR_BYTES);
        }
    }
    for (int64_t pair = 0; pair < pairs; ++pair)
        for (int64_t e = 0; e < j->elements; ++e) {
            T lanes[LANES], sum = 0;
            memcpy(lanes, sums + (pair * j->elements + e) * VECTOR_BYTES, VECTOR_BYTES);
            for (int64_t l = 0; l < LANES; ++l)
                sum += lanes[l];
            memcpy(c->kernel.data + (g * c->filters + pair / c->channels) * c->kernel.outer + pair % c->channels * c->kernel.inner + j->places[e],
                   &sum, sizeof(T));
        }
}

static void NAME(weigh_parts)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(weigh_job) *j = arg;
    for (int64_t part = lo; part < hi; ++part)
        for (int64_t g = part_at(j->c->groups, j->parts, part); g < part_at(j->c->groups, j->parts, part + 1); ++g)
            NAME(weigh_group)(j, g, j->space + part * j->bytes);
}

/* Whether that is less work: a vector of filters, of which some are empty, or each filter, in vectors of pixels. */
static int NAME(weighs_planes)(const th_conv *c)
{
    const int64_t width = c->axis[2].output;
    return width > 0 && 2 * c->filters * parts_of(width, LANES) <= parts_of(c->filters, LANES) * width;
}

static int NAME(weigh_planes)(th_ctx *ctx, const th_conv *c)
{
    const th_conv_axis *z = c->axis;
    NAME(weigh_job) j = {.c = c, .elements = z[0].kernel * z[1].kernel * z[2].kernel,
                         .image = {.from = c->image, .channels = c->channels, .step = z[2].step},
                         .output = {.from = c->output, .channels = c->filters, .step = 1}};
    for (int a = 0; a < TH_CONV_AXES; ++a) {
        j.image.inner[a] = z[a].image;
        j.image.before[a] = z[a].before;
        j.image.length[a] = z[a].image + z[a].before + z[a].after;
        j.output.inner[a] = j.output.length[a] = z[a].output;
        j.image.spread[a] = j.output.spread[a] = 1;
    }
    NAME(lay_planes)(&j.image);
    NAME(lay_planes)(&j.output);
    j.bytes = c->channels * j.image.plane + c->filters * j.output.plane + c->filters * c->channels * j.elements * VECTOR_BYTES;
    const double work = (double)(c->batch * c->groups * c->filters * c->channels * j.elements) *
                        (double)(z[0].output * z[1].output * z[2].output);
    j.parts = th_conv_parts(c, work, c->groups);
    j.space = ctx->rt->scratch(ctx, (size_t)(j.parts * j.bytes) + 64);
    int64_t *offsets = ctx->rt->scratch(ctx, (size_t)(2 * j.elements + 1) * sizeof(int64_t)), *places = offsets + j.elements;
    if (j.space == NULL || offsets == NULL)
        return -1;
    int64_t k[TH_CONV_AXES], e = 0;
    for (k[0] = 0; k[0] < z[0].kernel; ++k[0])
        for (k[1] = 0; k[1] < z[1].kernel; ++k[1])
            for (k[2] = 0; k[2] < z[2].kernel; ++k[2], ++e) {
                const int64_t place[] = {k[0] * z[0].dilation, k[1] * z[1].dilation, k[2] * z[2].dilation};
                offsets[e] = NAME(plane_offset)(&j.image, place);
                places[e] = NAME(element_at)(c, k);
            }
    j.offsets = offsets;
    j.places = places;
    return th_conv_run(ctx, c, j.parts, NAME(weigh_parts), &j);
}
