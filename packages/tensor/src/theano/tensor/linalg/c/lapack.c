/* Cholesky's factor, inverses, determinants and equations: by our own factorisations (factor.h), or through LAPACK.
 *
 * LAPACK thinks in columns: a matrix in C order is, to it, the transposed one. A lower triangle in C order is its upper
 * one, and A x = b is solved with the factors of A' by asking for the transposed solution. Our own elimination is
 * written for neighbours in columns as well, and is given A' too. What is overwritten is copied first. */
#include "lapack.h"

char *th_copied(th_ctx *ctx, const th_buffer *b, int by_columns)
{
    th_window from, to;
    th_window_of(&from, b);
    th_window_of(&to, b);
    int64_t size = b->itemsize;
    for (int i = 0; i < from.nd; ++i) {
        const int d = by_columns ? i : from.nd - 1 - i;
        to.strides[d] = size;
        size *= from.shape[d];
    }
    to.data = ctx->rt->scratch(ctx, (size_t)(size > 0 ? size : 1));
    if (to.data != NULL)
        th_copy(ctx, &to, &from);
    return to.data;
}

void th_copy_out(th_ctx *ctx, const th_buffer *to, const th_buffer *from)
{
    th_window t, f;
    th_window_of(&t, to);
    th_window_of(&f, from);
    th_copy(ctx, &t, &f);
}

void th_turn(th_ctx *ctx, char *to, const char *from, int64_t rows, int64_t cols, int64_t size)
{
    if (rows > 0 && cols > 0)
        ctx->rt->move(to, size, rows * size, from, cols * size, size, rows, cols, size);
}

int th_square(th_ctx *ctx, const th_buffer *a)
{
    if (a->shape[0] == a->shape[1])
        return 0;
    return TH_FAIL(ctx, TH_ERR_SHAPE, "a square matrix is needed, not one of shape (%lld, %lld)",
                   (long long)a->shape[0], (long long)a->shape[1]);
}

static int is_finite(const char *number, int32_t dtype)
{
    return is_single(dtype) ? isfinite(*(const float *)number) : isfinite(*(const double *)number);
}

int th_finite(th_ctx *ctx, const char *what, const char *data, int32_t dtype, int64_t m, int64_t n, int read)
{
    const int64_t parts = is_complex(dtype) ? 2 : 1, size = is_single(dtype) ? 4 : 8;
    for (int64_t i = 0; i < m; ++i) {
        const int64_t first = read == UPPER ? i : 0, last = read == LOWER ? i + 1 : n;
        for (int64_t j = (i * n + first) * parts; j < (i * n + last) * parts; ++j)
            if (!is_finite(data + j * size, dtype))
                return TH_FAIL(ctx, TH_ERR_LINALG, "%s did not converge: the matrix must not contain infs or NaNs", what);
    }
    return 0;
}

typedef void (*potrf)(const char *, const integer *, void *, const integer *, integer *, size_t);
typedef void (*getrf)(const integer *, const integer *, void *, const integer *, void *, integer *);
typedef void (*getri)(const integer *, void *, const integer *, const void *, void *, const integer *, integer *);
typedef void (*getrs)(const char *, const integer *, const integer *, const void *, const integer *, const void *, void *,
                      const integer *, integer *, size_t);
typedef void (*trtrs)(const char *, const char *, const char *, const integer *, const integer *, const void *,
                      const integer *, void *, const integer *, integer *, size_t, size_t, size_t);

/* NaN in each element of a result, a complex number being two. */
static int fill_with_nan(const th_buffer *out, int64_t count)
{
    count *= is_complex(out->dtype) ? 2 : 1;
    for (int64_t i = 0; i < count; ++i)
        if (is_single(out->dtype))
            ((float *)out->data)[i] = (float)NAN;
        else
            ((double *)out->data)[i] = (double)NAN;
    return 0;
}

/* -- Cholesky ----------------------------------------------------------------------------------------- */

TH_EXPORT int th_kernel_cholesky(th_ctx *ctx)
{
    const lapack_params *p = ctx->params;
    const th_cholesky_params *q = ctx->params;
    const th_buffer *a = ctx->in[0];
    th_buffer *out = ctx->out[0];
    const int lower = (int)q->lower, nan_on_error = (int)q->nan_on_error;
    if (th_square(ctx, a) || ctx->rt->ensure(ctx, out, a->shape))
        return -1;
    const int64_t rows = a->shape[0], size = out->itemsize;
    if (rows == 0)
        return 0;
    th_copy_out(ctx, out, a);
    int64_t failed;
    if (is_ours(p, a, rows)) {
        const matrix m = plain_matrix(out->data, rows, rows, size);
        const matrix whole = lower ? m : (matrix){m.data, rows, rows, m.col, m.row};
        failed = OURS(out, th_cholesky, ctx, p->threads, whole);
        if (failed < 0)
            return -1;
    } else {
        integer n = integer_of(p, rows), info = {0};
        ROUTINE(q, potrf, potrf)(lower ? "U" : "L", &n, out->data, &n, &info, 1);
        failed = value_of(p, info);
        for (int64_t i = 0; i < rows && !failed; ++i)
            failed = is_finite(out->data + i * (rows + 1) * size, out->dtype) ? 0 : i + 1;
    }
    if (failed && !nan_on_error)
        return TH_FAIL(ctx, TH_ERR_LINALG, "the matrix is not positive definite (its leading minor of order %lld is not)",
                       (long long)failed);
    if (failed)
        return fill_with_nan(out, rows * rows);
    for (int64_t i = 0; i < rows; ++i) {
        char *row = out->data + i * rows * size;
        memset(lower ? row + (i + 1) * size : row, 0, (size_t)((lower ? rows - i - 1 : i) * size));
    }
    return 0;
}

/* -- inverse and determinant ---------------------------------------------------------------------------- */

/* Elimination of the transposed matrix, in place of a copy; the first pivot that is 0 (counted from 1), 0, or -1. */
static int64_t eliminate(th_ctx *ctx, const lapack_params *p, const th_buffer *a, char *lu, int64_t rows, int64_t *pivots,
                         getrf routine)
{
    const matrix m = plain_matrix(lu, rows, rows, a->itemsize);
    if (is_ours(p, a, rows))
        return OURS(a, th_lu, ctx, p->threads, (matrix){m.data, rows, rows, m.col, m.row}, pivots);
    integer n = integer_of(p, rows), info = {0};
    routine(&n, &n, lu, &n, pivots, &info);
    return value_of(p, info);
}

void th_exchange_back(char *x, const int64_t *pivots, int64_t rows, int64_t row_bytes)
{
    for (int64_t i = rows - 1; i >= 0; --i) {
        char *a = x + i * row_bytes, *b = x + pivots[i] * row_bytes, kept[TH_FACTOR_EXCHANGED];
        for (int64_t at = 0, n; a != b && at < row_bytes; at += n) {
            n = row_bytes - at < (int64_t)sizeof kept ? row_bytes - at : (int64_t)sizeof kept;
            memcpy(kept, a + at, (size_t)n);
            memcpy(a + at, b + at, (size_t)n);
            memcpy(b + at, kept, (size_t)n);
        }
    }
}

/* The inverse from our factors of A': A = U' L' P. */
static int inverse_of_factors(th_ctx *ctx, const lapack_params *p, const th_buffer *out, const char *lu, const int64_t *pivots,
                              int64_t rows)
{
    const int64_t size = out->itemsize;
    const matrix factors = plain_matrix((char *)lu, rows, rows, size), to = plain_matrix(out->data, rows, rows, size);
    for (int64_t i = 0; i < rows; ++i) {
        memcpy(to.data + i * to.row, lu + i * to.row, (size_t)((i + 1) * size));
        memset(to.data + i * to.row + (i + 1) * size, 0, (size_t)((rows - i - 1) * size));
    }
    if (OURS(out, th_triangle_inverse, ctx, p->threads, to) || OURS(out, th_triangular, ctx, p->threads, 1, 1, factors, to))
        return -1;
    th_exchange_back(out->data, pivots, rows, to.row);
    return 0;
}

TH_EXPORT int th_kernel_inverse(th_ctx *ctx)
{
    const lapack_params *p = ctx->params;
    const th_inverse_params *q = ctx->params;
    const th_buffer *a = ctx->in[0];
    th_buffer *out = ctx->out[0];
    if (th_square(ctx, a) || ctx->rt->ensure(ctx, out, a->shape))
        return -1;
    const int64_t rows = a->shape[0], capacity = rows * 64;
    if (rows == 0)
        return 0;
    const int ours = is_ours(p, a, rows);
    int64_t *pivots = ctx->rt->scratch(ctx, (size_t)rows * sizeof(int64_t));
    char *work = ours ? th_copied(ctx, a, 0) : ctx->rt->scratch(ctx, (size_t)(capacity * out->itemsize));
    if (pivots == NULL || work == NULL)
        return -1;
    if (!ours)
        th_copy_out(ctx, out, a);
    int64_t failed = eliminate(ctx, p, a, ours ? work : out->data, rows, pivots, ROUTINE(q, getrf, getrf));
    if (failed == 0 && ours)
        return inverse_of_factors(ctx, p, out, work, pivots, rows);
    if (failed == 0) {
        integer n = integer_of(p, rows), lwork = integer_of(p, capacity), info = {0};
        ROUTINE(q, getri, getri)(&n, out->data, &n, pivots, work, &lwork, &info);
        failed = value_of(p, info);
    }
    if (failed > 0)
        return TH_FAIL(ctx, TH_ERR_LINALG, "Singular matrix: it has no inverse; pinv gives the pseudo-inverse");
    return failed ? -1 : 0;
}

/* A number of a floating-point dtype, and back. */
static double complex number_at(const char *at, int32_t dtype)
{
    switch (dtype) {
    case TH_FLOAT32: return *(const float *)at;
    case TH_FLOAT64: return *(const double *)at;
    case TH_COMPLEX64: return *(const float complex *)at;
    default: return *(const double complex *)at;
    }
}

static void put_number(char *at, int32_t dtype, double complex v)
{
    switch (dtype) {
    case TH_FLOAT32: *(float *)at = (float)creal(v); break;
    case TH_FLOAT64: *(double *)at = creal(v); break;
    case TH_COMPLEX64: *(float complex *)at = (float complex)v; break;
    default: *(double complex *)at = v;
    }
}

/* The factors of the first input, or of it turned, and the exchanges of their rows; NULL where memory is short or the
 * library refuses. */
static char *eliminated(th_ctx *ctx, int turned, int64_t **pivots)
{
    const th_elimination_params *q = ctx->params;
    const th_buffer *a = ctx->in[0];
    const int64_t rows = a->shape[0];
    *pivots = ctx->rt->scratch(ctx, (size_t)(rows + 1) * sizeof(int64_t));
    char *lu = th_copied(ctx, a, turned);
    if (*pivots == NULL || lu == NULL)
        return NULL;
    if (rows > 0 && eliminate(ctx, ctx->params, a, lu, rows, *pivots, ROUTINE(q, getrf, getrf)) < 0)
        return NULL;
    return lu;
}

/* The row that a row was exchanged with; libraries count from 1, in their own integers. */
static int64_t exchanged_with(const lapack_params *p, int ours, const int64_t *pivots, int64_t i)
{
    return ours ? pivots[i] : (p->wide ? pivots[i] : ((const int32_t *)pivots)[i]) - 1;
}

/* The determinant; with two outputs its sign, or phase, and the logarithm of its absolute value. */
TH_EXPORT int th_kernel_det(th_ctx *ctx)
{
    const lapack_params *p = ctx->params;
    const th_buffer *a = ctx->in[0];
    for (int i = 0; i < ctx->nout; ++i)
        if (th_square(ctx, a) || ctx->rt->ensure(ctx, ctx->out[i], NULL))
            return -1;
    const int64_t rows = a->shape[0];
    const int ours = is_ours(p, a, rows);
    int64_t *pivots;
    const char *lu = eliminated(ctx, 0, &pivots);
    if (lu == NULL)
        return -1;
    double complex product = 1;
    double real = 1, logarithm = 0;
    for (int64_t i = 0; i < rows; ++i) {
        const int64_t pivot = exchanged_with(p, ours, pivots, i);
        const double complex d = number_at(lu + i * (rows + 1) * a->itemsize, a->dtype);
        const double size = ctx->nout == 2 ? cabs(d) : 1;
        double complex factor = pivot == i ? d : -d;
        if (ctx->nout == 2) {
            logarithm += log(size);
            factor = is_complex(a->dtype) ? factor / (size == 0 ? 1 : size) : creal(factor) < 0 ? -1 : size != 0;
        }
        if (is_complex(a->dtype))
            product *= factor;
        else
            real *= creal(factor); /* (the product of complex numbers makes NaN of infinity times 0 i) */
    }
    put_number(ctx->out[0]->data, ctx->out[0]->dtype, is_complex(a->dtype) ? product : real);
    if (ctx->nout == 2)
        put_number(ctx->out[1]->data, ctx->out[1]->dtype, logarithm);
    return 0;
}

/* L and U in one matrix, the row that each was exchanged with in turn, and the order of the rows after that. */
TH_EXPORT int th_kernel_lu(th_ctx *ctx)
{
    const lapack_params *p = ctx->params;
    const th_buffer *a = ctx->in[0];
    if (th_square(ctx, a))
        return -1;
    for (int i = 0; i < 3; ++i)
        if (ctx->rt->ensure(ctx, ctx->out[i], a->shape))
            return -1;
    const int64_t rows = a->shape[0];
    const int ours = is_ours(p, a, rows);
    int64_t *pivots;
    const char *lu = eliminated(ctx, 1, &pivots);
    if (lu == NULL)
        return -1;
    th_turn(ctx, ctx->out[0]->data, lu, rows, rows, a->itemsize);
    int32_t *exchanged = (int32_t *)ctx->out[1]->data;
    int64_t *order = (int64_t *)ctx->out[2]->data;
    for (int64_t i = 0; i < rows; ++i)
        order[i] = i;
    for (int64_t i = 0; i < rows; ++i) {
        const int64_t found = exchanged_with(p, ours, pivots, i), kept = order[i];
        const int64_t with = found > i && found < rows ? found : i; /* (of NaN a library may say anything) */
        exchanged[i] = (int32_t)with;
        order[i] = order[with];
        order[with] = kept;
    }
    return 0;
}

/* -- solutions ------------------------------------------------------------------------------------------ */

static int same_rows(th_ctx *ctx, const th_buffer *a, const th_buffer *b)
{
    if (th_square(ctx, a))
        return -1;
    if (a->shape[0] == b->shape[0])
        return 0;
    return TH_FAIL(ctx, TH_ERR_SHAPE, "%lld rows of A against %lld of b: both must have as many",
                   (long long)a->shape[0], (long long)b->shape[0]);
}

static void mirror(char *a, int64_t n, int64_t size, int from_lower)
{
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < i; ++j) {
            char *low = a + (i * n + j) * size, *high = a + (j * n + i) * size;
            memcpy(from_lower ? high : low, from_lower ? low : high, (size_t)size);
        }
}

/* What both kernels of equations begin with: the shape of the result and its rows and columns; 1 if that is all. */
static int begin_equations(th_ctx *ctx, int64_t *rows, int64_t *columns)
{
    const th_buffer *a = ctx->in[0], *b = ctx->in[1];
    if (same_rows(ctx, a, b) || ctx->rt->ensure(ctx, ctx->out[0], b->shape))
        return -1;
    *rows = a->shape[0];
    *columns = b->ndim == 2 ? b->shape[1] : 1;
    return *rows == 0 || *columns == 0;
}

TH_EXPORT int th_kernel_solve(th_ctx *ctx)
{
    const lapack_params *p = ctx->params;
    const th_solve_params *q = ctx->params;
    const th_buffer *a = ctx->in[0], *b = ctx->in[1];
    th_buffer *out = ctx->out[0];
    int64_t rows, columns;
    const int begun = begin_equations(ctx, &rows, &columns);
    if (begun)
        return begun < 0 ? -1 : 0;
    const int64_t size = a->itemsize, ours = is_ours(p, a, rows);
    char *lu = th_copied(ctx, a, 0), *x = ours ? out->data : th_copied(ctx, b, 1);
    int64_t *pivots = ctx->rt->scratch(ctx, (size_t)rows * sizeof(int64_t));
    if (lu == NULL || x == NULL || pivots == NULL)
        return -1;
    if (q->symmetric != TH_SYMMETRY_NONE)
        mirror(lu, rows, size, q->symmetric == TH_SYMMETRY_LOWER);
    const int64_t failed = eliminate(ctx, p, a, lu, rows, pivots, ROUTINE(q, getrf, getrf));
    if (failed > 0)
        return q->nan_on_error
                   ? fill_with_nan(out, rows * columns)
                   : TH_FAIL(ctx, TH_ERR_LINALG, "Singular matrix: the equations have no single solution; see lstsq");
    if (failed < 0)
        return -1;
    if (ours) {
        const matrix factors = plain_matrix(lu, rows, rows, size), to = plain_matrix(x, rows, columns, size);
        th_copy_out(ctx, out, b);
        if (OURS(a, th_triangular, ctx, p->threads, 0, 0, factors, to) || OURS(a, th_triangular, ctx, p->threads, 1, 1, factors, to))
            return -1;
        th_exchange_back(x, pivots, rows, columns * size);
        return 0;
    }
    integer n = integer_of(p, rows), nrhs = integer_of(p, columns), info = {0};
    ROUTINE(q, getrs, getrs)("T", &n, &nrhs, lu, &n, pivots, x, &n, &info, 1);
    th_turn(ctx, out->data, x, columns, rows, size);
    return 0;
}

/* A triangle in place, or a copy if its elements are not aligned. */
static int readable(th_ctx *ctx, const th_buffer *a, matrix *m)
{
    const int64_t size = a->itemsize, bits = (int64_t)(intptr_t)a->data | a->strides[0] | a->strides[1];
    *m = (matrix){a->data, a->shape[0], a->shape[1], a->strides[0], a->strides[1]};
    if (bits & (size - 1))
        *m = plain_matrix(th_copied(ctx, a, 0), a->shape[0], a->shape[1], size);
    return m->data == NULL ? -1 : 0;
}

TH_EXPORT int th_kernel_solve_triangular(th_ctx *ctx)
{
    const lapack_params *p = ctx->params;
    const th_solve_triangular_params *q = ctx->params;
    const th_buffer *a = ctx->in[0], *b = ctx->in[1];
    th_buffer *out = ctx->out[0];
    int64_t rows, columns, failed = 0;
    const int begun = begin_equations(ctx, &rows, &columns), lower = (int)q->lower;
    if (begun)
        return begun < 0 ? -1 : 0;
    const int64_t size = a->itemsize;
    if (is_ours(p, a, rows) || (columns == 1 && !is_complex(a->dtype))) {
        matrix t;
        if (readable(ctx, a, &t))
            return -1;
        for (int64_t i = rows - 1; i >= 0; --i)
            failed = creal(number_at(t.data + i * (t.row + t.col), a->dtype)) == 0 ? i + 1 : failed;
        if (failed == 0) {
            th_copy_out(ctx, out, b);
            return OURS(a, th_triangular, ctx, p->threads, !lower, 0, t, plain_matrix(out->data, rows, columns, size));
        }
    } else {
        char *t = th_copied(ctx, a, 0), *x = th_copied(ctx, b, 1);
        if (t == NULL || x == NULL)
            return -1;
        integer n = integer_of(p, rows), nrhs = integer_of(p, columns), info = {0};
        ROUTINE(q, trtrs, trtrs)(lower ? "U" : "L", "T", "N", &n, &nrhs, t, &n, x, &n, &info, 1, 1, 1);
        failed = value_of(p, info);
        if (failed == 0)
            th_turn(ctx, out->data, x, columns, rows, size);
    }
    if (failed && q->nan_on_error)
        return fill_with_nan(out, rows * columns);
    if (failed)
        return TH_FAIL(ctx, TH_ERR_LINALG, "singular matrix: number %lld on the diagonal is 0", (long long)(failed - 1));
    return 0;
}
