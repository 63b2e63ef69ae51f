/* The loops around the tiles: slices of the summed axis, blocks for the caches, pieces for the threads. */

#define SLICE ((int64_t)(TH_GEMM_SLICE_BYTES / sizeof(T)))
#define RIGHT_BYTES ((int64_t)TH_GEMM_RIGHT_BYTES)
#define LEFT_BYTES ((int64_t)TH_GEMM_LEFT_BYTES)
#define AT_ONCE TH_GEMM_AT_ONCE
#define WORTH_THREADS ((double)TH_GEMM_WORTH_THREADS)

/* `count` things in `parts` parts as equal as they can be: each has `each`, the first `more` have one more. */
typedef struct {
    int64_t parts, each, more;
} cut;

INLINE int64_t parts_of(int64_t count, int64_t most) { return (count + most - 1) / most; }
INLINE cut cut_into(int64_t count, int64_t parts) { return (cut){parts, count / parts, count % parts}; }
INLINE int64_t first_of(const cut *c, int64_t i) { return i * c->each + (i < c->more ? i : c->more); }

typedef struct {
    matrix a, b;
    NAME(ending) end;           /* of the whole product */
    int64_t first_term, terms;  /* this slice */
    int64_t row;                /* the first of the rows that are packed together */
    cut tiles;                  /* these rows */
    cut panels;                 /* the columns, counted in vectors */
    cut blocks;                 /* the panels */
    int64_t first_block;        /* of those in work */
    char *left, *right;         /* space for panels; left is NULL if the factor is read where it lies */
    int64_t slot;               /* bytes of one block of panels */
} NAME(job);

/* -- tiles at the edges --------------------------------------------------------------------------- */

typedef void (*NAME(edge))(const NAME(factors) *f, const NAME(ending) *e, int64_t n);
#define EDGE(R, V) \
    static __attribute__((noinline)) void NAME(edge_##R##_##V)(const NAME(factors) *f, const NAME(ending) *e, int64_t n) \
    { \
        NAME(tile)(R, V, *f, *e, n); \
    }
#define EDGES(R) EDGE(R, 1) EDGE(R, 2) EDGE(R, 3)
#define TALL_EDGES(R) EDGE(R, 1) EDGE(R, 2)
#define NAMES(R) {NAME(edge_##R##_1), NAME(edge_##R##_2), NAME(edge_##R##_3)}
#define TALL_NAMES(R) {NAME(edge_##R##_1), NAME(edge_##R##_2), NULL}
EDGES(1) EDGES(2) EDGES(3) EDGES(4)
#if ROWS == 8
EDGES(5) EDGES(6) EDGES(7) EDGES(8) TALL_EDGES(9) TALL_EDGES(10) TALL_EDGES(11) TALL_EDGES(12)
#else
TALL_EDGES(5) TALL_EDGES(6)
#endif
static const NAME(edge) NAME(edges)[TALL][VECTORS] = {
    NAMES(1), NAMES(2), NAMES(3), NAMES(4),
#if ROWS == 8
    NAMES(5), NAMES(6), NAMES(7), NAMES(8), TALL_NAMES(9), TALL_NAMES(10), TALL_NAMES(11), TALL_NAMES(12),
#else
    TALL_NAMES(5), TALL_NAMES(6),
#endif
};

/* -- blocks --------------------------------------------------------------------------------------- */

/* The first column of a panel. */
INLINE int64_t NAME(column)(const NAME(job) *j, int64_t panel)
{
    const int64_t at = first_of(&j->panels, panel) * LANES;
    return at < j->b.cols ? at : j->b.cols;
}

static void NAME(pack_right)(const NAME(job) *j, char *to, int64_t panel)
{
    const int64_t at = NAME(column)(j, panel), width = NAME(column)(j, panel + 1) - at;
    NAME(pack_panel)(to, COLUMNS * (int64_t)sizeof(T), width, j->terms,
                     j->b.data + j->first_term * j->b.row + at * j->b.col, j->b.col, j->b.row);
}

static void NAME(pack_left)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(job) *j = arg;
    const int64_t size = sizeof(T);
    for (int64_t t = lo; t < hi; ++t) {
        const int64_t at = first_of(&j->tiles, t), width = first_of(&j->tiles, t + 1) - at;
        NAME(pack_panel)(j->left + t * j->terms * ROWS * size, ROWS * size, width, j->terms,
                         j->a.data + (j->row + at) * j->a.row + j->first_term * j->a.col, j->a.row, j->a.col);
    }
}

/* Tiles `t` to `t_end` of the rows times some panels, packed at `right`. */
static void NAME(multiply_panels)(const NAME(job) *j, int64_t t, int64_t t_end, int64_t panel, int64_t panel_end,
                                  const char *right)
{
    const int64_t size = sizeof(T), panel_bytes = j->terms * COLUMNS * size;
    for (; t < t_end; ++t) {
        const int64_t r = first_of(&j->tiles, t), rows = first_of(&j->tiles, t + 1) - r, row = j->row + r;
        NAME(factors) f = {j->left + t * j->terms * ROWS * size, right, j->terms, size, ROWS * size, COLUMNS * size};
        if (j->left == NULL) {
            f.x = j->a.data + row * j->a.row + j->first_term * j->a.col;
            f.x_row = j->a.row;
            f.x_step = j->a.col;
        }
        NAME(ending) e = j->end;
        for (int64_t q = panel; q < panel_end; ++q, f.y += panel_bytes) {
            const int64_t c = NAME(column)(j, q), columns = NAME(column)(j, q + 1) - c;
            e.to = j->end.to + row * e.to_row + c * e.to_col;
            e.from = j->end.from + row * e.from_row + c * e.from_col;
            if (rows == ROWS && columns == COLUMNS && j->left != NULL)
                NAME(whole_tile)(f.x, f.y, f.terms, &e);
            else
                NAME(edges)[rows - 1][parts_of(columns, LANES) - 1](&f, &e, columns);
        }
    }
}

/* All rows times blocks of panels, each packed just before it is used. */
static void NAME(by_columns)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(job) *j = arg;
    char *right = j->right + lo * j->slot;
    for (int64_t b = j->first_block + lo; b < j->first_block + hi; ++b) {
        const int64_t first = first_of(&j->blocks, b), end = first_of(&j->blocks, b + 1);
        for (int64_t q = first; q < end; ++q)
            NAME(pack_right)(j, right + (q - first) * j->terms * COLUMNS * (int64_t)sizeof(T), q);
        NAME(multiply_panels)(j, 0, j->tiles.parts, first, end, right);
    }
}

/* Some rows times all panels, which are packed. */
static void NAME(by_rows)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(job) *j = arg;
    for (int64_t b = 0; b < j->blocks.parts; ++b) {
        const int64_t first = first_of(&j->blocks, b), end = first_of(&j->blocks, b + 1);
        NAME(multiply_panels)(j, lo, hi, first, end, j->right + first * j->terms * COLUMNS * (int64_t)sizeof(T));
    }
}

static void NAME(pack_panels)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(job) *j = arg;
    for (int64_t q = lo; q < hi; ++q)
        NAME(pack_right)(j, j->right + q * j->terms * COLUMNS * (int64_t)sizeof(T), q);
}

/* body(j, lo, hi) for 0 .. n, on at most `threads` threads; 0: on as many as there are. */
static int NAME(spread)(th_ctx *ctx, int64_t threads, int64_t n, th_body body, NAME(job) *j)
{
    if (threads == 1 || n <= 1) {
        body(j, 0, n);
        return 0;
    }
    return ctx->rt->parallel_for(ctx, n, threads ? parts_of(n, threads) : 1, body, j);
}

/* One slice, one group of rows. */
static int NAME(multiply_group)(th_ctx *ctx, int64_t threads, NAME(job) *j, int rows_apart)
{
    if (j->left != NULL && NAME(spread)(ctx, threads, j->tiles.parts, NAME(pack_left), j))
        return -1;
    if (rows_apart)
        return NAME(spread)(ctx, threads, j->tiles.parts, NAME(by_rows), j);
    for (j->first_block = 0; j->first_block < j->blocks.parts; j->first_block += AT_ONCE) {
        const int64_t left = j->blocks.parts - j->first_block;
        if (NAME(spread)(ctx, threads, left < AT_ONCE ? left : AT_ONCE, NAME(by_columns), j))
            return -1;
    }
    return 0;
}

/* C = alpha A B + beta Z, however large. */
static int NAME(multiply_packed)(th_ctx *ctx, int64_t threads, matrix a, matrix b, NAME(ending) end)
{
    const int64_t size = sizeof(T), m = a.rows, n = b.cols;
    const cut slices = cut_into(a.cols, parts_of(a.cols, SLICE));
    const int64_t longest = parts_of(a.cols, slices.parts), panel_bytes = longest * COLUMNS * size;
    NAME(job) j = {.a = a, .b = b, .end = end};
    if ((double)m * (double)n * (double)a.cols < WORTH_THREADS)
        threads = 1;
    const int64_t vectors = parts_of(n, LANES);
    j.panels = cut_into(vectors, parts_of(vectors, VECTORS));
    int64_t most = RIGHT_BYTES / panel_bytes;
    if (threads != 1 && j.panels.parts < 8 * most)
        most = j.panels.parts / 8;
    j.blocks = cut_into(j.panels.parts, parts_of(j.panels.parts, most < 1 ? 1 : most));
    j.slot = parts_of(j.panels.parts, j.blocks.parts) * panel_bytes;
    /* Threads share the columns, or, if there are too few, the rows. */
    const int rows_apart = threads != 1 && j.blocks.parts < 6;
    const int64_t slots = threads == 1 ? 1 : j.blocks.parts < AT_ONCE ? j.blocks.parts : AT_ONCE;
    const int64_t right_bytes = rows_apart ? j.panels.parts * panel_bytes : slots * j.slot;
    const int64_t together = LEFT_BYTES / (longest * size);
    const cut groups = cut_into(m, parts_of(m, together < ROWS ? ROWS : together));
    /* Rows whose terms are neighbours are as well read where they lie, unless they are read often. */
    const int packed = (a.col != size && a.row != size) || n > 8 * COLUMNS;
    const int64_t left_bytes = packed ? (parts_of(m, groups.parts) + ROWS) * longest * size : 0;
    char *scratch = ctx->rt->scratch(ctx, (size_t)(right_bytes + left_bytes));
    if (scratch == NULL)
        return -1;
    j.right = scratch;
    j.left = packed ? scratch + right_bytes : NULL;
    for (int64_t s = 0; s < slices.parts; ++s) {
        j.first_term = first_of(&slices, s);
        j.terms = first_of(&slices, s + 1) - j.first_term;
        if (s == 1) {
            j.end.from = end.to, j.end.from_row = end.to_row, j.end.from_col = end.to_col;
            j.end.beta = 1;
        }
        if (rows_apart && NAME(spread)(ctx, threads, j.panels.parts, NAME(pack_panels), &j))
            return -1;
        for (int64_t g = 0; g < groups.parts; ++g) {
            j.row = first_of(&groups, g);
            const int64_t rows = first_of(&groups, g + 1) - j.row;
            j.tiles = cut_into(rows, parts_of(rows, ROWS));
            if (NAME(multiply_group)(ctx, threads, &j, rows_apart))
                return -1;
        }
    }
    return 0;
}
