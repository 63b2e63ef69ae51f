/* The loops around the tiles: slices of the summed axis, blocks for the caches, pieces for the threads. */

#define PACKED_BYTES ((int64_t)TH_GEMM_PACKED_BYTES)
#define PASSING_BYTES ((int64_t)TH_GEMM_PASSING_BYTES)
#define SHARED_CELLS ((int64_t)TH_GEMM_SHARED_CELLS)
#define PASSING_ROWS ((int64_t)TH_GEMM_PASSING_ROWS)
#define NEAR_BYTES ((int64_t)TH_GEMM_NEAR_BYTES)
#define WORTH_THREADS ((double)TH_GEMM_WORTH_THREADS)

/* `count` things in `parts` parts as equal as they can be: each has `each`, the first `more` have one more. */
typedef struct {
    int64_t parts, each, more;
} cut;

INLINE int64_t parts_of(int64_t count, int64_t most) { return (count + most - 1) / most; }
INLINE cut cut_into(int64_t count, int64_t parts) { return (cut){parts, count / parts, count % parts}; }
INLINE int64_t first_of(const cut *c, int64_t i) { return i * c->each + (i < c->more ? i : c->more); }

/* A block of a factor, in panels: rows of the left factor, columns of the right one, for the terms of a slice. */
typedef struct {
    const char *from;             /* the block's first element in the unpacked factor; strides in bytes */
    int64_t line_step, term_step; /* from one row or column to the next, from one term to the next */
    int64_t lines;
    cut panels;         /* the lines, counted in units: */
    int64_t unit, wide; /* one row, or the columns of a vector; lines for which a panel has space */
    char *packed;       /* NULL if the factor is read in place */
} NAME(side);

typedef struct {
    NAME(side) left, right;
    NAME(ending) end;  /* of this block of the product */
    int64_t terms;
    int64_t below;     /* the block's first row less its first column, where only what is not above the diagonal is wanted */
    cut rows, columns; /* cells: panels of the left factor, and of the right one, that are multiplied together */
} NAME(job);

/* -- tiles at the edges --------------------------------------------------------------------------- */

typedef void (*NAME(edge))(const NAME(factors) *f, const NAME(ending) *e, int64_t n);
#define EDGE(R, V) \
    static __attribute__((noinline)) void NAME(edge_##R##_##V)(const NAME(factors) *f, const NAME(ending) *e, int64_t n) \
    { \
        NAME(tile)(R, V, *f, e, n); \
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

/* The first line of a panel. */
INLINE int64_t NAME(line)(const NAME(side) *s, int64_t panel)
{
    const int64_t at = first_of(&s->panels, panel) * s->unit;
    return at < s->lines ? at : s->lines;
}

/* The bytes of `lines` lines in panels. */
INLINE int64_t NAME(bytes)(int64_t lines, int64_t wide, int64_t terms) { return parts_of(lines, wide) * wide * terms * (int64_t)sizeof(T); }

/* Pack panels `lo` to `hi`. Where a term's numbers are neighbours, some terms of all panels are packed before the next
 * ones: memory is then read in long runs. */
static void NAME(pack_side)(const NAME(side) *s, int64_t terms, int64_t lo, int64_t hi)
{
    const int64_t step = s->wide * (int64_t)sizeof(T), at_once = s->line_step == (int64_t)sizeof(T) ? TERMS_AHEAD : terms;
    for (int64_t p = 0; p < terms; p += at_once)
        for (int64_t q = lo; q < hi; ++q) {
            const int64_t at = NAME(line)(s, q), width = NAME(line)(s, q + 1) - at, some = terms - p < at_once ? terms - p : at_once;
            /* Stores would wait for lines that are not in the caches yet, where each panel takes few of them at a time. */
            if (at_once < terms)
                for (int64_t i = 0; i < some * step; i += 64)
                    __builtin_prefetch(s->packed + ((q + PANELS_AHEAD) * terms + p) * step + i, 1, 2);
            NAME(pack_panel)(s->packed + (q * terms + p) * step, step, width, some, s->from + at * s->line_step + p * s->term_step,
                             s->line_step, s->term_step);
        }
}

static void NAME(pack_left)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(job) *j = arg;
    NAME(pack_side)(&j->left, j->terms, lo, hi);
}

static void NAME(pack_right)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(job) *j = arg;
    NAME(pack_side)(&j->right, j->terms, lo, hi);
}

/* Panel t of the left factor times panel q of the right one, which is packed at `panel`. */
INLINE void NAME(multiply_panels)(const NAME(job) *j, int64_t t, int64_t q, const char *panel)
{
    const NAME(side) *l = &j->left, *r = &j->right;
    const int64_t size = sizeof(T), row = NAME(line)(l, t), rows = NAME(line)(l, t + 1) - row;
    const int64_t column = NAME(line)(r, q), columns = NAME(line)(r, q + 1) - column;
    if (column >= row + rows + j->below)
        return;
    NAME(factors) f = {l->from + row * l->line_step, panel, j->terms, l->line_step, l->term_step, COLUMNS * size};
    NAME(ending) e = j->end;
    int64_t to_at = row * e.to_row + column * e.to_col;
    __asm__("" : "+r"(to_at)); /* or both places would be computed as one vector, from numbers just stored one by one */
    e.to += to_at;
    e.from += row * e.from_row + column * e.from_col;
    if (l->packed != NULL) {
        f.x = l->packed + t * j->terms * ROWS * size;
        f.x_row = size;
        f.x_step = ROWS * size;
    }
    if (rows != ROWS || columns != COLUMNS || (l->packed == NULL && f.x_step != size))
        NAME(edges)[rows - 1][parts_of(columns, LANES) - 1](&f, &e, columns);
    else
        (l->packed != NULL ? NAME(tile_of_panels) : NAME(tile_of_rows))(f.x, f.x_row, f.y, f.terms, &e);
}

/* In a cell, a panel of one factor rests in the first-level cache while all of the other one's go by. */
static void NAME(multiply_cells)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(job) *j = arg;
    const char *right = j->right.packed;
    const int64_t panel = j->terms * COLUMNS * (int64_t)sizeof(T), cells = j->rows.parts * j->columns.parts;
    const int is_half = j->below < j->right.lines;
    for (int64_t k = lo; k < hi; ++k) {
        /* Of a half, the first, the last, the second, ...: lines are of all lengths, and each thread has long and short ones. */
        const int64_t i = !is_half ? k : k % 2 ? cells - 1 - k / 2 : k / 2, r = i % j->rows.parts, c = i / j->rows.parts;
        const int64_t t_end = first_of(&j->rows, r + 1), q_end = first_of(&j->columns, c + 1);
#if RIGHT_RESTS
        for (int64_t q = first_of(&j->columns, c); q < q_end; ++q)
            for (int64_t t = first_of(&j->rows, r); t < t_end; ++t)
                NAME(multiply_panels)(j, t, q, right + q * panel);
#else
        for (int64_t t = first_of(&j->rows, r); t < t_end; ++t)
            for (int64_t q = first_of(&j->columns, c); q < q_end; ++q)
                NAME(multiply_panels)(j, t, q, right + q * panel);
#endif
    }
}

/* Panels lo to hi of the right factor, each packed when its turn comes: few rows go by, and it is in the first-level cache
 * while they do. */
static void NAME(multiply_as_packed)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(job) *j = arg;
    const NAME(side) *r = &j->right;
    char panel[SLICE * COLUMNS * sizeof(T)] __attribute__((aligned(64)));
    for (int64_t q = lo; q < hi; ++q) {
        const int64_t column = NAME(line)(r, q), columns = NAME(line)(r, q + 1) - column;
        NAME(pack_panel)(panel, COLUMNS * (int64_t)sizeof(T), columns, j->terms, r->from + column * r->line_step, r->line_step, r->term_step);
        for (int64_t t = 0; t < j->left.panels.parts; ++t)
            NAME(multiply_panels)(j, t, q, panel);
    }
}

/* Cut the panels of a block into cells: the second-level cache holds what goes by in one, and there are enough for threads. */
static void NAME(cut_into_cells)(NAME(job) *j, int shared)
{
    const NAME(side) *passing = RIGHT_RESTS ? &j->left : &j->right, *resting = RIGHT_RESTS ? &j->right : &j->left;
    const int64_t most = PASSING_BYTES / (j->terms * passing->wide * (int64_t)sizeof(T)), rest = resting->panels.parts;
    const int64_t parts = parts_of(passing->panels.parts, most < 1 ? 1 : most), cells = shared ? parts_of(SHARED_CELLS, parts) : 1;
    *(RIGHT_RESTS ? &j->rows : &j->columns) = cut_into(passing->panels.parts, parts);
    *(RIGHT_RESTS ? &j->columns : &j->rows) = cut_into(rest, cells < rest ? cells : rest);
}

/* body(j, lo, hi) for 0 .. n, on at most `threads` threads; 0: on as many as there are. */
static int NAME(spread)(th_ctx *ctx, int64_t threads, int64_t n, th_body body, const void *j)
{
    if (threads == 1 || n <= 1) {
        body((void *)j, 0, n);
        return 0;
    }
    return ctx->rt->parallel_for(ctx, n, threads ? parts_of(n, threads) : 1, body, (void *)j);
}

/* One slice of C = alpha A B + beta Z; with `half`, what is above the diagonal may be left out. */
static int NAME(multiply_slice)(th_ctx *ctx, int64_t threads, matrix a, matrix b, NAME(ending) end, int half, const cut *groups,
                                const cut *blocks, char *left, char *right)
{
    const int64_t units = parts_of(b.cols, LANES);
    for (int64_t n = 0; n < blocks->parts; ++n) {
        const int64_t u = first_of(blocks, n), u_end = first_of(blocks, n + 1), column = u * LANES;
        NAME(job) j = {.terms = a.cols};
        j.right = (NAME(side)){b.data + column * b.col, b.col, b.row, (u_end == units ? b.cols : u_end * LANES) - column,
                               cut_into(u_end - u, parts_of(u_end - u, VECTORS)), LANES, COLUMNS, right};
        if (right != NULL && NAME(spread)(ctx, threads, j.right.panels.parts, NAME(pack_right), &j))
            return -1;
        for (int64_t g = 0; g < groups->parts; ++g) {
            const int64_t row = first_of(groups, g), rows = first_of(groups, g + 1) - row;
            j.left = (NAME(side)){a.data + row * a.row, a.row, a.col, rows, cut_into(rows, parts_of(rows, ROWS)), 1, ROWS, left};
            j.below = half ? row - column : b.cols;
            j.end = end;
            j.end.to += row * end.to_row + column * end.to_col;
            j.end.from += row * end.from_row + column * end.from_col;
            if (left != NULL && NAME(spread)(ctx, threads, j.left.panels.parts, NAME(pack_left), &j))
                return -1;
            if (right == NULL) {
                if (NAME(spread)(ctx, threads, j.right.panels.parts, NAME(multiply_as_packed), &j))
                    return -1;
                continue;
            }
            NAME(cut_into_cells)(&j, threads != 1);
            if (NAME(spread)(ctx, threads, j.rows.parts * j.columns.parts, NAME(multiply_cells), &j))
                return -1;
        }
    }
    return 0;
}

/* How a product is blocked: slices of its terms, blocks of both factors, and bytes of their packed copies. */
typedef struct {
    cut slices, groups, blocks;
    int64_t left_bytes, right_bytes; /* 0 if that factor is read in place, or packed panel by panel */
} NAME(blocking);

static NAME(blocking) NAME(blocking_of)(const matrix *a, const matrix *b)
{
    const int64_t size = sizeof(T), m = a->rows, n = b->cols;
    const cut slices = cut_into(a->cols, parts_of(a->cols, SLICE));
    const int64_t longest = parts_of(a->cols, slices.parts), most = PACKED_BYTES / (longest * size);
    const cut groups = cut_into(m, parts_of(m, most < ROWS ? ROWS : most));
    const cut blocks = cut_into(parts_of(n, LANES), parts_of(n, most < COLUMNS ? COLUMNS : most));
    /* Contiguous terms are read in place: always if their panel rests in the first-level cache, else unless they are read
     * often. Contiguous rows, too, are read in place unless they are read often. */
    const int often = n > 8 * COLUMNS, packed = a->col == size ? RIGHT_RESTS && often : a->row != size || often;
    return (NAME(blocking)){
        slices, groups, blocks, packed ? NAME(bytes)(parts_of(m, groups.parts), ROWS, longest) : 0,
        m <= PASSING_ROWS && b->rows * n * size <= NEAR_BYTES ? 0 : NAME(bytes)(parts_of(parts_of(n, LANES), blocks.parts) * LANES, COLUMNS, longest),
    };
}

/* C = alpha A B + beta Z, however large; `half` as above. Packed copies are in `space`; if it is NULL, in memory of the call. */
static int NAME(multiply_packed)(th_ctx *ctx, int64_t threads, matrix a, matrix b, NAME(ending) end, int half, char *space)
{
    const NAME(blocking) k = NAME(blocking_of)(&a, &b);
    if ((double)a.rows * (double)b.cols * (double)a.cols < WORTH_THREADS)
        threads = 1;
    if (space == NULL && k.right_bytes + k.left_bytes)
        space = ctx->rt->scratch(ctx, (size_t)(k.right_bytes + k.left_bytes));
    if (space == NULL && k.right_bytes + k.left_bytes)
        return -1;
    for (int64_t s = 0; s < k.slices.parts; ++s) {
        const int64_t first = first_of(&k.slices, s), terms = first_of(&k.slices, s + 1) - first;
        const matrix as = {a.data + first * a.col, a.rows, terms, a.row, a.col}, bs = {b.data + first * b.row, terms, b.cols, b.row, b.col};
        if (NAME(multiply_slice)(ctx, threads, as, bs, end, half, &k.groups, &k.blocks, k.left_bytes ? space + k.right_bytes : NULL,
                                 k.right_bytes ? space : NULL))
            return -1;
        end.from = end.to, end.from_row = end.to_row, end.from_col = end.to_col;
        end.beta = 1;
    }
    return 0;
}
