/* The steps that operations of linear algebra are made of. */
#include "cusolver.h"

/* The struct of the device functions. */
typedef struct arguments {
    int64_t at[3], rows, columns, first, count, step[2][2], lower, option;
    double factor;
} arguments;

/* That of products (`blas.cl`). */
typedef struct product {
    int64_t at[4], batch, m, n, k, a[3], b[3], z[3], c[3], added;
    double factor[2], scale[2];
} product;

/* -- memory ---------------------------------------------------------------------------------------------------------- */

int th_take_table(job *j, int64_t rows)
{
    const int64_t none = 0;
    j->table = th_take(j, (rows + 1) * (int64_t)sizeof none);
    return j->table ? th_to_device(j, j->table, &none, sizeof none) : -1;
}

int th_take_matrix(job *j, matrix *m, int64_t rows, int64_t columns, int by_columns)
{
    *m = (matrix){th_take(j, rows * columns * j->size), rows, columns, by_columns ? j->size : columns * j->size,
                  by_columns ? rows * j->size : j->size};
    return m->data ? 0 : -1;
}

int th_status(job *j, int64_t *status) { return th_to_host(j, status, j->table, sizeof *status); }

/* -- launches -------------------------------------------------------------------------------------------------------- */

int th_run(job *j, const th_gpu_kernel *kernel, int64_t groups, matrix a, matrix b, char *third, told t)
{
    arguments args = {.rows = a.rows, .columns = a.columns, .first = t.first, .count = t.count, .lower = t.lower, .option = t.option,
                      .step = {{a.row, a.column}, {b.row, b.column}}, .factor = t.factor == 0.0 ? 1.0 : t.factor};
    char *pointers[3] = {a.data, b.data, third ? third : a.data};
    return th_launch(j, kernel, groups, 3, pointers, &args, sizeof args);
}

int th_run_each(job *j, const th_gpu_kernel *kernel, int64_t items, matrix a, matrix b, char *third, told t)
{
    return th_run(j, kernel, (items + 255) / 256, a, b, third, t);
}

static int multiplied(job *j, matrix c, matrix a, matrix b, int added, double factor)
{
    product args = {.batch = 1, .m = c.rows, .n = c.columns, .k = a.columns, .a = {0, a.row, a.column}, .b = {0, b.row, b.column},
                    .z = {0, c.row, c.column}, .c = {0, c.row, c.column}, .added = added, .factor = {factor}, .scale = {1.0}};
    char *pointers[4] = {a.data, b.data, c.data, c.data};
    const int64_t tiles = (c.rows + 63) / 64 * ((c.columns + 63) / 64);
    return th_launch(j, th_told(j)->tiled, tiles, 4, pointers, &args, sizeof args);
}

int th_product(job *j, matrix c, matrix a, matrix b) { return multiplied(j, c, a, b, 0, 1.0); }

int th_subtract_product(job *j, matrix c, matrix a, matrix b) { return a.columns ? multiplied(j, c, a, b, 1, -1.0) : 0; }

/* -- matrices -------------------------------------------------------------------------------------------------------- */

matrix th_matrix_of(const th_buffer *b)
{
    if (b->ndim == 0)
        return (matrix){b->data, 1, 1, b->itemsize, b->itemsize};
    return (matrix){b->data, b->shape[0], b->ndim == 2 ? b->shape[1] : 1, b->strides[0], b->ndim == 2 ? b->strides[1] : b->itemsize};
}

matrix th_window(matrix m, int64_t i, int64_t j, int64_t rows, int64_t columns)
{
    return (matrix){m.data + i * m.row + j * m.column, rows, columns, m.row, m.column};
}

matrix th_turned(matrix m) { return (matrix){m.data, m.columns, m.rows, m.column, m.row}; }

int th_square(th_ctx *ctx, const th_buffer *a)
{
    if (a->shape[0] == a->shape[1])
        return 0;
    return ctx->rt->fail(ctx, TH_ERR_SHAPE, "a square matrix is needed, not one of shape (%lld, %lld)", (long long)a->shape[0],
                         (long long)a->shape[1]);
}

int th_permuted(job *j, matrix to, matrix from, const int64_t *order)
{
    const int64_t shape[2] = {to.rows, to.columns}, to_strides[2] = {to.row, to.column}, strides[2] = {from.row, from.column};
    int64_t *offsets = NULL;
    if (order != NULL && (offsets = j->ctx->rt->scratch(j->ctx, (size_t)to.columns * sizeof *offsets)) == NULL)
        return -1;
    for (int64_t c = 0; order != NULL && c < to.columns; ++c)
        offsets[c] = order[c] * from.column;
    return th_move(j, 2, shape, to.data, to_strides, from.data, strides, order ? 1 : -1, offsets);
}

int th_copied(job *j, matrix to, matrix from) { return th_permuted(j, to, from, NULL); }

/* -- factors --------------------------------------------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

int th_factor_cholesky(job *j, matrix a)
{
    const int done = th_cusolver_cholesky(j, a);
    if (done)
        return done < 0 ? -1 : 0;
    for (int64_t k = 0; k < a.rows; k += TH_BLOCK) {
        const int64_t n = least(TH_BLOCK, a.rows - k), below = a.rows - k - n;
        const matrix block = th_window(a, k, k, n, n), panel = th_window(a, k + n, k, below, n);
        if (th_run(j, th_told(j)->cholesky_block, 1, block, block, j->table, (told){.first = k}))
            return -1;
        /* what is below is X with X L' = A: a triangle's equations for its rows */
        if (below && (th_triangular(j, block, 1, 0, th_turned(panel)) ||
                      th_subtract_product(j, th_window(a, k + n, k + n, below, below), panel, th_turned(panel))))
            return -1;
    }
    return 0;
}

int th_triangular(job *j, matrix t, int lower, int unit, matrix x)
{
    const int64_t blocks = (t.rows + TH_BLOCK - 1) / TH_BLOCK;
    for (int64_t step = 0; step < blocks; ++step) {
        const int64_t k = (lower ? step : blocks - 1 - step) * TH_BLOCK, n = least(TH_BLOCK, t.rows - k);
        const matrix block = th_window(t, k, k, n, n), solved = th_window(x, k, 0, n, x.columns);
        const int64_t from = lower ? k + n : 0, rest = lower ? t.rows - k - n : k;
        const told told = {.first = k, .lower = lower, .option = unit};
        /* the kernel takes its columns from the right side */
        matrix shape = block;
        shape.columns = x.columns;
        if (th_run_each(j, th_told(j)->triangle_block, x.columns, shape, solved, j->table, told) ||
            th_subtract_product(j, th_window(x, from, 0, rest, x.columns), th_window(t, from, k, rest, n), solved))
            return -1;
    }
    return 0;
}

int th_eliminate(job *j, matrix a)
{
    for (int64_t k = 0; k < a.rows; k += TH_BLOCK) {
        const int64_t n = least(TH_BLOCK, a.rows - k), rest = a.rows - k - n;
        const matrix panel = th_window(a, k, k, a.rows - k, n), left = th_window(a, 0, 0, a.rows, k);
        const matrix right = th_window(a, 0, k + n, a.rows, rest), row = th_window(a, k, k + n, n, rest);
        const told exchanged = {.first = k, .count = n};
        if (th_run(j, th_told(j)->eliminate_panel, 1, panel, panel, j->table, (told){.first = k}) ||
            th_run_each(j, th_told(j)->exchange, k, left, left, j->table, exchanged) ||
            th_run_each(j, th_told(j)->exchange, rest, right, right, j->table, exchanged))
            return -1;
        if (rest && (th_triangular(j, th_window(a, k, k, n, n), 1, 1, row) ||
                     th_subtract_product(j, th_window(a, k + n, k + n, rest, rest), th_window(a, k + n, k, rest, n), row)))
            return -1;
    }
    return 0;
}

int th_reflections(job *j, matrix a, char *factors)
{
    const int64_t count = least(a.rows, a.columns);
    const int done = th_cusolver_reflections(j, a, factors);
    if (done)
        return done < 0 ? -1 : 0;
    for (int64_t k = 0; k < count; k += TH_BLOCK) {
        const int64_t n = least(TH_BLOCK, a.columns - k), used = least(n, count - k), rest = a.columns - k - n;
        const matrix panel = th_window(a, k, k, a.rows - k, n), others = th_window(a, k, k + n, a.rows - k, rest);
        if (th_run(j, th_told(j)->reflect_panel, 1, panel, panel, factors, (told){.first = k}) ||
            th_run(j, th_told(j)->reflect, rest, panel, others, factors, (told){.first = k, .count = used}))
            return -1;
    }
    return 0;
}
