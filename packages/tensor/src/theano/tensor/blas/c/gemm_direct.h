/* Products whose factors are read where they lie: all that are not large. */

#define DIRECT_SLICE ((int64_t)(TH_GEMM_DIRECT_SLICE_BYTES / sizeof(T)))
#define DIRECT_BYTES ((int64_t)TH_GEMM_DIRECT_BYTES)
#define PAGE TH_GEMM_PAGE
#define TURNED_TERMS TH_GEMM_TURNED_TERMS
#define TURNED_WORK TH_GEMM_TURNED_WORK

/* The rows `r` to `end` of a product with up to COLUMNS columns, from `c` on. */
static void NAME(direct_panel)(const NAME(job) *j, int64_t r, int64_t end, int64_t c)
{
    const int64_t n = j->b.cols - c < COLUMNS ? j->b.cols - c : COLUMNS, most = j->b.cols <= 2 * LANES ? TALL : ROWS;
    NAME(factors) f = {j->a.data + r * j->a.row + j->first_term * j->a.col,
                       j->b.data + j->first_term * j->b.row + c * j->b.col, j->terms, j->a.row, j->a.col, j->b.row};
    char panel[TURNED_TERMS * COLUMNS * sizeof(T)] __attribute__((aligned(64)));
    if (j->b.col != (int64_t)sizeof(T) && n > 1) {
        NAME(pack_panel)(panel, COLUMNS * sizeof(T), n, j->terms, f.y, j->b.col, j->b.row);
        f.y = panel;
        f.y_step = COLUMNS * sizeof(T);
    }
    while (r < end) {
        /* Two tiles of like size are better than a whole and a small one. */
        const int64_t left = end - r, rows = left <= most ? left : left < 2 * most ? (left + 1) / 2 : most;
        NAME(ending) e = j->end;
        e.to += r * e.to_row + c * e.to_col;
        e.from += r * e.from_row + c * e.from_col;
        NAME(edges)[rows - 1][parts_of(n, LANES) - 1](&f, &e, n);
        f.x += rows * j->a.row;
        r += rows;
    }
}

static void NAME(direct_columns)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(job) *j = arg;
    for (int64_t q = lo; q < hi; ++q)
        NAME(direct_panel)(j, 0, j->a.rows, q * COLUMNS);
}

/* Groups of `j->slot` rows. */
static void NAME(direct_rows)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(job) *j = arg;
    const int64_t end = hi * j->slot < j->a.rows ? hi * j->slot : j->a.rows;
    for (int64_t c = 0; c < j->b.cols; c += COLUMNS)
        NAME(direct_panel)(j, lo * j->slot, end, c);
}

static int NAME(multiply_direct)(th_ctx *ctx, int64_t threads, matrix a, matrix b, NAME(ending) end)
{
    NAME(job) j = {.a = a, .b = b, .end = end, .terms = a.cols, .slot = 2 * TALL};
    const double work = (double)a.rows * (double)b.cols * (double)a.cols;
    const int64_t panels = parts_of(b.cols, COLUMNS), groups = parts_of(a.rows, j.slot);
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

/* Whether the factors may be read where they lie. */
static int NAME(is_direct)(const matrix *a, const matrix *b)
{
    const int64_t size = sizeof(T), right = b->rows * b->cols * size;
    if (b->col != size && b->cols > 1)
        return a->cols <= TURNED_TERMS && (double)a->rows * (double)b->cols * (double)a->cols < TURNED_WORK;
    if (right > PAGE && a->col != size && (a->row != size || a->rows * a->cols * size > DIRECT_BYTES / 4 || a->col % PAGE == 0))
        return 0;
    return a->rows <= 2 * TALL || (right <= DIRECT_BYTES && (b->row % PAGE != 0 || right <= RIGHT_BYTES));
}
