/* Products whose factors are read in place: all that are not large. */

#define DIRECT_SLICE ((int64_t)(TH_GEMM_DIRECT_SLICE_BYTES / sizeof(T)))
#define DIRECT_BYTES ((int64_t)TH_GEMM_DIRECT_BYTES)
#define PAGE TH_GEMM_PAGE
#define FEW_ROWS TH_GEMM_FEW_ROWS
#define UNPACKED_ROWS TH_GEMM_UNPACKED_ROWS
#define FEW_TERMS TH_GEMM_FEW_TERMS
#define ACROSS_ROWS TH_GEMM_ACROSS_ROWS
#define TURNED_TERMS TH_GEMM_TURNED_TERMS
#define TURNED_WORK TH_GEMM_TURNED_WORK

typedef struct {
    matrix a, b;
    NAME(ending) end;
    int64_t first_term, terms; /* this slice */
    int64_t group;             /* rows that a thread takes at a time */
    cut panels;                /* the columns, in vectors */
} NAME(direct_job);

/* Panels of like width are better than whole ones and a small one. */
INLINE cut NAME(panels_of)(int64_t columns)
{
    const int64_t vectors = parts_of(columns, LANES);
    return vectors <= VECTORS ? (cut){1, vectors, 0} : cut_into(vectors, parts_of(vectors, VECTORS));
}

/* The rows `r` to `end` of panel q of a product. */
static void NAME(direct_panel)(const NAME(direct_job) *j, int64_t r, int64_t end, int64_t q)
{
    const int64_t c = first_of(&j->panels, q) * LANES, c_end = first_of(&j->panels, q + 1) * LANES;
    const int64_t n = (c_end < j->b.cols ? c_end : j->b.cols) - c, most = n <= 2 * LANES ? TALL : ROWS;
    NAME(factors) f = {j->a.data + r * j->a.row + j->first_term * j->a.col,
                       j->b.data + j->first_term * j->b.row + c * j->b.col, j->terms, j->a.row, j->a.col, j->b.row};
    char panel[TURNED_TERMS * COLUMNS * sizeof(T)] __attribute__((aligned(64)));
    if (j->b.col != (int64_t)sizeof(T) && n > 1) {
        NAME(pack_panel)(panel, COLUMNS * sizeof(T), n, j->terms, f.y, j->b.col, j->b.row);
        f.y = panel;
        f.y_step = COLUMNS * sizeof(T);
    }
    NAME(ending) e = j->end;
    e.to += r * e.to_row + c * e.to_col;
    e.from += r * e.from_row + c * e.from_col;
    while (r < end) {
        /* Two tiles of like size are better than a whole and a small one. */
        const int64_t left = end - r, rows = left <= most ? left : left < 2 * most ? (left + 1) / 2 : most;
        NAME(edges)[rows - 1][parts_of(n, LANES) - 1](&f, &e, n);
        f.x += rows * j->a.row;
        e.to += rows * e.to_row;
        e.from += rows * e.from_row;
        r += rows;
    }
}

static void NAME(direct_columns)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(direct_job) *j = arg;
    for (int64_t q = lo; q < hi; ++q)
        NAME(direct_panel)(j, 0, j->a.rows, q);
}

/* Groups of rows. */
static void NAME(direct_rows)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(direct_job) *j = arg;
    const int64_t end = hi * j->group < j->a.rows ? hi * j->group : j->a.rows;
    for (int64_t q = 0; q < j->panels.parts; ++q)
        NAME(direct_panel)(j, lo * j->group, end, q);
}

static int NAME(multiply_direct)(th_ctx *ctx, int64_t threads, matrix a, matrix b, NAME(ending) end)
{
    NAME(direct_job) j = {.a = a, .b = b, .end = end, .terms = a.cols, .group = 2 * TALL, .panels = NAME(panels_of)(b.cols)};
    const double work = (double)a.rows * (double)b.cols * (double)a.cols;
    const int64_t panels = j.panels.parts, groups = parts_of(a.rows, j.group);
    if (a.cols <= DIRECT_SLICE && work < WORTH_THREADS) {
        NAME(direct_columns)(&j, 0, panels);
        return 0;
    }
    const cut slices = cut_into(a.cols, parts_of(a.cols, DIRECT_SLICE));
    if (work < WORTH_THREADS)
        threads = 1;
    for (int64_t s = 0; s < slices.parts; ++s) {
        j.first_term = first_of(&slices, s);
        j.terms = first_of(&slices, s + 1) - j.first_term;
        if (s == 1) {
            j.end.from = end.to, j.end.from_row = end.to_row, j.end.from_col = end.to_col;
            j.end.beta = 1;
        }
        const int by_columns = threads == 1 || panels >= groups;
        if (NAME(spread)(ctx, threads, by_columns ? panels : groups, by_columns ? NAME(direct_columns) : NAME(direct_rows), &j))
            return -1;
    }
    return 0;
}

/* Whether all terms, `step` bytes apart, fit in the first-level cache at once: eight fit if whole pages are between them. */
INLINE int NAME(is_spread)(int64_t terms, int64_t step)
{
    const int64_t power = step & -step;
    return terms * (power < PAGE ? power : PAGE) < 8 * PAGE;
}

/* Whether the factors are read in place: packing would be much of the work, or they stay in the caches. */
static int NAME(is_direct)(const matrix *a, const matrix *b)
{
    const int64_t size = sizeof(T);
    if (b->col != size && b->cols > 1)
        return a->cols <= TURNED_TERMS && (double)a->rows * (double)b->cols * (double)a->cols < TURNED_WORK;
    if (a->rows <= FEW_ROWS || a->cols <= FEW_TERMS)
        return 1;
    /* A narrow factor without gaps is read in one run, as fast as from a copy; so is the other one, or each of its rows is. */
    if (b->cols <= COLUMNS && b->row == b->cols * size && (a->col == size || (a->rows <= ACROSS_ROWS && a->col == a->rows * size)))
        return 1;
    if (a->col != size && b->cols > COLUMNS && (a->row != size || a->rows * a->cols * size > DIRECT_BYTES || !NAME(is_spread)(a->cols, a->col)))
        return 0;
    const int64_t right = b->rows * b->cols * size;
    /* Few rows leave little to gain from a copy of what goes by, and steps of less than a page are fetched ahead. */
    if (!RIGHT_RESTS && a->rows <= UNPACKED_ROWS && a->col == size && right <= PASSING_BYTES && b->row < PAGE)
        return 1;
    return right <= DIRECT_BYTES && NAME(is_spread)(b->rows, b->row);
}
