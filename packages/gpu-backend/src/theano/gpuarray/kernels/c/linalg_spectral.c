/* The host's half of Q and R (Householder), of singular values (one-sided Jacobi) and of symmetric eigenvalues (two-sided Jacobi).
 *
 * Rotations run in the rounds of a tournament, of which each has disjoint pairs; sweeps of such rounds go on until one has
 * nothing to do. See Golub and Van Loan, "Matrix Computations" (2013), chapters 5, 8.5 and 8.6.
 */
#include <math.h>
#include <stdlib.h>

#include "buffers.h"
#include "cusolver.h"

enum { SWEEPS = 60 }; /* at most; ten are many */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static double epsilon(const job *j) { return j->size == 4 ? 1.1920928955078125e-07 : 2.220446049250313e-16; }

/* -- Q and R --------------------------------------------------------------------------------------------------------- */

/* The first columns of the product of reflections, in columns. */
static int product_of(job *j, matrix reflections, char *factors, int64_t columns, matrix *q)
{
    const told from_last = {.count = least(reflections.rows, reflections.columns), .option = 1};
    if (th_take_matrix(j, q, reflections.rows, columns, 1) ||
        th_run_each(j, th_told(j)->identity, q->rows * columns, *q, *q, NULL, (told){0}))
        return -1;
    const int done = th_cusolver_reflect(j, reflections, factors, *q);
    if (done)
        return done < 0 ? -1 : 0;
    return th_run(j, th_told(j)->reflect, columns, reflections, *q, factors, from_last);
}

/* inputs: a matrix; outputs: reflections and their factors, or Q and R, or R. */
static int qr(job *j)
{
    th_ctx *ctx = j->ctx;
    const th_matrices *p = th_told(j);
    const matrix a = th_matrix_of(ctx->in[0]);
    const int64_t m = a.rows, n = a.columns, k = least(m, n), inner = p->complete ? m : k;
    const int64_t raw_shape[2] = {n, m}, q_shape[2] = {m, inner}, r_shape[2] = {inner, n};
    th_buffer *first = ctx->out[0], *r = ctx->out[p->raw || p->with_q];
    matrix work, q;
    char *factors;
    if (p->raw) {
        if (ctx->rt->ensure(ctx, first, raw_shape) || ctx->rt->ensure(ctx, r, &k))
            return -1;
        work = th_turned(th_matrix_of(first));
        factors = r->data;
    } else {
        if ((p->with_q && ctx->rt->ensure(ctx, first, q_shape)) || ctx->rt->ensure(ctx, r, r_shape) ||
            th_take_matrix(j, &work, m, n, 1) || (factors = th_take(j, k * j->size)) == NULL)
            return -1;
    }
    if (k && (th_copied(j, work, a) || th_reflections(j, work, factors)))
        return -1;
    if (p->raw)
        return 0;
    const matrix triangle = th_window(work, 0, 0, inner, n), to = th_matrix_of(r);
    if (th_run_each(j, p->take, inner * n, triangle, to, NULL, (told){.lower = TH_UPPER}))
        return -1;
    if (p->with_q && (product_of(j, work, factors, inner, &q) || th_copied(j, th_matrix_of(first), q)))
        return -1;
    return 0;
}

/* -- what both kinds of values share --------------------------------------------------------------------------------- */

/* Numbers with their places, in order. */
typedef struct placed {
    double value;
    int64_t place;
} placed;

static int ascending(const void *x, const void *y)
{
    const placed *a = x, *b = y;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static int descending(const void *x, const void *y)
{
    const placed *a = x, *b = y;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* The power of two that brings the largest element of the operand near 1, so that squares neither overflow nor vanish. */
static int scale_of(job *j, const char *what, matrix a, int64_t triangle, double *scale)
{
    double most = 0;
    char number[8], *there = th_take(j, j->size);
    if (there == NULL || th_run(j, th_told(j)->largest, 1, a, a, there, (told){.lower = triangle}) || th_to_host(j, number, there, j->size))
        return -1;
    most = th_number_at(j, number, 0);
    if (!isfinite(most))
        return j->ctx->rt->fail(j->ctx, TH_ERR_LINALG, "%s did not converge: the matrix must not contain infs or NaNs", what);
    int exponent = 0;
    frexp(most, &exponent);
    const int bound = j->size == 4 ? 120 : 1000;
    exponent = exponent > bound ? bound : exponent < -bound ? -bound : exponent;
    *scale = ldexp(1.0, -exponent);
    return 0;
}

/* Numbers of the device, on the host. */
static char *read_numbers(job *j, const char *from, int64_t n)
{
    char *numbers = j->ctx->rt->scratch(j->ctx, (size_t)(n * j->size));
    return numbers == NULL || th_to_host(j, numbers, from, n * j->size) ? NULL : numbers;
}

/* Numbers in order and no longer scaled, to an output; and where each was. */
static int64_t *put_in_order(job *j, const char *numbers, int64_t n, double scale, th_buffer *out, int (*order)(const void *, const void *))
{
    placed *all = j->ctx->rt->scratch(j->ctx, (size_t)n * sizeof *all);
    int64_t *places = j->ctx->rt->scratch(j->ctx, (size_t)n * sizeof *places);
    char *sorted = j->ctx->rt->scratch(j->ctx, (size_t)(n * j->size));
    if (!all || !places || !sorted)
        return NULL;
    for (int64_t i = 0; i < n; ++i)
        all[i] = (placed){th_number_at(j, numbers, i), i};
    qsort(all, (size_t)n, sizeof *all, order);
    for (int64_t i = 0; i < n; ++i) {
        places[i] = all[i].place;
        th_put_number(j, sorted, i, all[i].value / scale);
    }
    return th_to_device(j, out->data, sorted, n * j->size) ? NULL : places;
}

/* Sweeps over all pairs of n columns, each by the rounds of `round`, until one has nothing to do. */
static int sweep(job *j, const char *what, int64_t n, matrix a, matrix b, char *vectors, double bound,
                 int (*round)(job *, int64_t, matrix, matrix, char *, double))
{
    const int64_t none = 0;
    int64_t busy = n > 1;
    for (int count = 0; busy && count < SWEEPS; ++count) {
        if (th_to_device(j, j->table, &none, sizeof none))
            return -1;
        for (int64_t k = 0; k < n + n % 2 - 1; ++k)
            if (round(j, k, a, b, vectors, bound))
                return -1;
        if (th_status(j, &busy))
            return -1;
    }
    return busy ? j->ctx->rt->fail(j->ctx, TH_ERR_LINALG, "%s did not converge", what) : 0;
}

/* -- singular values ------------------------------------------------------------------------------------------------- */

static int round_of_columns(job *j, int64_t k, matrix a, matrix v, char *vectors, double bound)
{
    const told told = {.first = k, .count = vectors ? v.rows : 0, .factor = bound};
    return th_run(j, th_told(j)->rotate_columns, (a.columns + 1) / 2, a, v, j->table, told);
}

/* A matrix of as many rows as columns at least, turned by V so that its columns U diag(s) are orthogonal: all in columns, in no
 * order. Values are multiplied by `scale`. */
typedef struct decomposed {
    matrix us, v;
    char *s;
    double scale;
} decomposed;

static int decompose(job *j, matrix a, int vectors, decomposed *d)
{
    const th_matrices *p = th_told(j);
    const int64_t k = a.columns;
    *d = (decomposed){.scale = 1};
    if (scale_of(j, "SVD", a, TH_WHOLE, &d->scale) || th_take_table(j, 0) || th_take_matrix(j, &d->us, a.rows, k, 1) ||
        th_run_each(j, p->take, a.rows * k, a, d->us, NULL, (told){.factor = d->scale}))
        return -1;
    if (vectors && (th_take_matrix(j, &d->v, k, k, 1) || th_run_each(j, p->identity, k * k, d->v, d->v, NULL, (told){0})))
        return -1;
    d->s = th_take(j, k * j->size);
    return d->s == NULL ||
           sweep(j, "SVD", k, d->us, vectors ? d->v : d->us, d->v.data, epsilon(j) * sqrt((double)a.rows), round_of_columns) ||
           th_run(j, p->column_norms, k, d->us, d->us, d->s, (told){0}) ? -1 : 0;
}

/* U (in columns, as many as `columns`) from U diag(s) with columns in the order of s: Q of its reflections, and R is diagonal. */
static int left_vectors(job *j, matrix us, int64_t columns, matrix to)
{
    matrix q;
    char *factors = th_take(j, us.columns * j->size);
    if (factors == NULL || th_reflections(j, us, factors) || product_of(j, us, factors, columns, &q) ||
        th_run_each(j, th_told(j)->take_signs, us.rows * us.columns, us, q, NULL, (told){0}))
        return -1;
    return th_copied(j, to, q);
}

/* The same by cuSOLVER, if it is there: 1, 0 or -1. The matrix has as many rows as columns at least. */
static int svd_by_cusolver(job *j, matrix a, th_buffer *s, matrix left, matrix right)
{
    const int vectors = (int)th_told(j)->vectors;
    double scale;
    matrix work, u, vt;
    char *values;
    if (!th_cusolver_is_there(j))
        return 0;
    if (scale_of(j, "SVD", a, TH_WHOLE, &scale) || th_take_matrix(j, &work, a.rows, a.columns, 1) ||
        th_run_each(j, th_told(j)->take, a.rows * a.columns, a, work, NULL, (told){.factor = scale}) ||
        (values = th_take(j, a.columns * j->size)) == NULL ||
        (vectors && (th_take_matrix(j, &u, a.rows, left.columns, 1) || th_take_matrix(j, &vt, a.columns, a.columns, 1))))
        return -1;
    const int done = th_cusolver_svd(j, work, values, vectors ? &u : NULL, vectors ? &vt : NULL);
    if (done <= 0)
        return done;
    const char *numbers = read_numbers(j, values, a.columns);
    if (numbers == NULL || put_in_order(j, numbers, a.columns, scale, s, descending) == NULL)
        return -1;
    return vectors && (th_copied(j, left, u) || th_copied(j, right, th_turned(vt))) ? -1 : 1;
}

/* inputs: a matrix; outputs: U, the singular values and V', or these values. */
static int svd(job *j)
{
    th_ctx *ctx = j->ctx;
    const th_matrices *p = th_told(j);
    matrix a = th_matrix_of(ctx->in[0]), sorted;
    const int64_t m = a.rows, n = a.columns, k = least(m, n);
    const int64_t u_shape[2] = {m, p->complete ? m : k}, v_shape[2] = {p->complete ? n : k, n};
    th_buffer *s = ctx->out[p->vectors ? 1 : 0];
    decomposed d;
    if (ctx->rt->ensure(ctx, s, &k) ||
        (p->vectors && (ctx->rt->ensure(ctx, ctx->out[0], u_shape) || ctx->rt->ensure(ctx, ctx->out[2], v_shape))))
        return -1;
    const matrix u = p->vectors ? th_matrix_of(ctx->out[0]) : a, vt = p->vectors ? th_matrix_of(ctx->out[2]) : a;
    if (k == 0) /* without singular values, U and V' are any orthogonal matrices */
        return p->vectors && (th_run_each(j, p->identity, u.rows * u.columns, u, u, NULL, (told){0}) ||
                              th_run_each(j, p->identity, vt.rows * vt.columns, vt, vt, NULL, (told){0})) ? -1 : 0;
    /* of the transposed matrix U is V, and V is U */
    const matrix tall = m < n ? th_turned(a) : a, right = m < n ? u : th_turned(vt), left = m < n ? th_turned(vt) : u;
    const int done = svd_by_cusolver(j, tall, s, left, right);
    if (done)
        return done < 0 ? -1 : 0;
    if (decompose(j, tall, (int)p->vectors, &d))
        return -1;
    const char *numbers = read_numbers(j, d.s, k);
    const int64_t *order = numbers == NULL ? NULL : put_in_order(j, numbers, k, d.scale, s, descending);
    if (order == NULL)
        return -1;
    if (!p->vectors)
        return 0;
    if (th_permuted(j, right, d.v, order) || th_take_matrix(j, &sorted, d.us.rows, k, 1) || th_permuted(j, sorted, d.us, order))
        return -1;
    return left_vectors(j, sorted, left.columns, left);
}

/* -- pseudo-inverses ------------------------------------------------------------------------------------------------- */

/* Two matrices whose product is the pseudo-inverse of `a`, without singular values up to a share of the largest one; how many
 * are left, and all of them, in order, if an output is given. */
static int inverse_factors(job *j, matrix a, double share, th_buffer *values, matrix *first, matrix *second, int64_t *rank)
{
    const int turned = a.rows < a.columns;
    const int64_t k = turned ? a.rows : a.columns;
    decomposed d;
    double largest = 0;
    if (decompose(j, turned ? th_turned(a) : a, 1, &d))
        return -1;
    char *numbers = read_numbers(j, d.s, k);
    if (numbers == NULL || (values && put_in_order(j, numbers, k, d.scale, values, descending) == NULL))
        return -1;
    for (int64_t i = 0; i < k; ++i)
        largest = fmax(largest, th_number_at(j, numbers, i));
    *rank = 0;
    for (int64_t i = 0; i < k; ++i) {
        const double value = th_number_at(j, numbers, i);
        const int kept = value > share * largest;
        *rank += kept;
        th_put_number(j, numbers, i, kept ? 1 / value : 0);
    }
    /* the one half, U diag(s) diag(1/s), is of size 1; the other, V diag(1/s), has the size of the result */
    if (th_to_device(j, d.s, numbers, k * j->size) ||
        th_run_each(j, th_told(j)->scale_columns, d.us.rows * k, d.us, d.us, d.s, (told){0}) ||
        th_run_each(j, th_told(j)->scale_columns, k * k, d.v, d.v, d.s, (told){.factor = d.scale}))
        return -1;
    *first = turned ? d.us : d.v;
    *second = th_turned(turned ? d.v : d.us);
    return 0;
}

/* input: a matrix; output: its pseudo-inverse. */
static int pinv(job *j)
{
    th_ctx *ctx = j->ctx;
    const matrix a = th_matrix_of(ctx->in[0]);
    const int64_t shape[2] = {a.columns, a.rows};
    int64_t rank;
    matrix first, second;
    if (ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    if (a.rows == 0 || a.columns == 0)
        return 0;
    return inverse_factors(j, a, 1e-15, NULL, &first, &second, &rank) || th_product(j, th_matrix_of(ctx->out[0]), first, second) ? -1 : 0;
}

/* The squared norms of the columns of b - a x. */
static int write_residuals(job *j, matrix a, matrix x, matrix b, th_buffer *out)
{
    matrix rest;
    if (b.columns == 0)
        return 0;
    return th_take_matrix(j, &rest, b.rows, b.columns, 1) || th_copied(j, rest, b) || th_subtract_product(j, rest, a, x) ||
           th_run(j, th_told(j)->column_norms, rest.columns, rest, rest, out->data, (told){.option = 1}) ? -1 : 0;
}

/* inputs: a, b and a share of the largest singular value, or a negative number: half an epsilon, as LAPACK has it; outputs: x,
 * residuals where x is the only solution of too many equations, the rank, singular values. */
static int lstsq(job *j)
{
    th_ctx *ctx = j->ctx;
    const th_buffer *share = ctx->in[2];
    const double given = share->dtype < TH_FLOAT16 ? (double)th_integer(share, 0) : th_gpu_number(share);
    const matrix a = th_matrix_of(ctx->in[0]), b = th_matrix_of(ctx->in[1]);
    const int64_t m = a.rows, n = a.columns, k = least(m, n), x_shape[2] = {n, b.columns}, none = 0;
    int64_t rank = 0;
    matrix first, second, part;
    if (b.rows != m) /* NumPy's class of error, as on the CPU */
        return ctx->rt->fail(ctx, TH_ERR_LINALG, "Incompatible dimensions: %lld rows of a against %lld of b: both must have as many",
                             (long long)m, (long long)b.rows);
    if (ctx->rt->ensure(ctx, ctx->out[0], x_shape) || ctx->rt->ensure(ctx, ctx->out[2], NULL) || ctx->rt->ensure(ctx, ctx->out[3], &k))
        return -1;
    const matrix x = th_matrix_of(ctx->out[0]);
    if (k == 0 && th_fill_with_zeros(j, x.data, n * x.columns))
        return -1;
    if (k && (inverse_factors(j, a, given < 0 ? epsilon(j) / 2 : given, ctx->out[3], &first, &second, &rank) ||
              th_take_matrix(j, &part, k, b.columns, 0) || th_product(j, part, second, b) || th_product(j, x, first, part)))
        return -1;
    const int certain = rank == n && m > n;
    if (th_to_device(j, ctx->out[2]->data, &rank, sizeof rank) || ctx->rt->ensure(ctx, ctx->out[1], certain ? &x.columns : &none))
        return -1;
    return certain ? write_residuals(j, a, x, b, ctx->out[1]) : 0;
}

/* -- symmetric eigenvalues ------------------------------------------------------------------------------------------- */

static int round_of_both(job *j, int64_t k, matrix a, matrix turns, char *vectors, double bound)
{
    const int64_t pairs = turns.rows;
    const told told = {.first = k, .count = pairs, .factor = bound};
    matrix shape = a;
    shape.columns = vectors ? a.rows : 0; /* the rows of the vectors */
    return th_run_each(j, th_told(j)->angles, pairs, a, turns, j->table, told) ||
           th_run_each(j, th_told(j)->rotate_both_sides, pairs * (pairs + shape.columns), shape, turns, vectors, told) ? -1 : 0;
}

/* The eigenvalues, to `w`, and the vectors, to `to`, of a symmetric matrix of which a triangle is read. */
static int symmetric(job *j, matrix a, int64_t triangle, th_buffer *w, const matrix *to)
{
    const th_matrices *p = th_told(j);
    const int64_t n = a.rows;
    matrix work, turns, v = {0}, values;
    double scale;
    if (scale_of(j, "Eigenvalues", a, triangle, &scale) || th_take_table(j, 0) || th_take_matrix(j, &work, n, n, 1) ||
        th_take_matrix(j, &turns, (n + 1) / 2, 2, 1) || th_take_matrix(j, &values, n, 1, 1) ||
        th_run_each(j, p->take, n * n, a, work, NULL, (told){.lower = triangle, .option = TH_SYMMETRIC, .factor = scale}))
        return -1;
    const int done = th_cusolver_symmetric(j, work, values.data, to != NULL);
    if (done < 0)
        return -1;
    if (done)
        v = work;
    else if (to && (th_take_matrix(j, &v, n, n, 1) || th_run_each(j, p->identity, n * n, v, v, NULL, (told){0})))
        return -1;
    /* the off-diagonal remainder is far below the rounding of the largest element */
    if (done == 0 && (sweep(j, "Eigenvalues", n, work, turns, v.data, epsilon(j) * 1e-3, round_of_both) ||
        th_copied(j, values, (matrix){work.data, n, 1, work.row + work.column, j->size})))
        return -1;
    const char *numbers = read_numbers(j, values.data, n);
    const int64_t *order = numbers == NULL ? NULL : put_in_order(j, numbers, n, scale, w, ascending);
    return order == NULL ? -1 : to ? th_permuted(j, *to, v, order) : 0;
}

static int64_t triangle_of(const job *j) { return th_told(j)->lower ? TH_LOWER : TH_UPPER; }

/* inputs: a symmetric matrix; outputs: its eigenvalues and eigenvectors. */
static int eigh(job *j)
{
    th_ctx *ctx = j->ctx;
    const th_buffer *a = ctx->in[0];
    if (th_square(ctx, a) || ctx->rt->ensure(ctx, ctx->out[0], a->shape) || ctx->rt->ensure(ctx, ctx->out[1], a->shape))
        return -1;
    const matrix to = th_matrix_of(ctx->out[1]);
    return to.rows ? symmetric(j, th_matrix_of(a), triangle_of(j), ctx->out[0], &to) : 0;
}

/* L^-1 a L'^-1 for b = L L', in both triangles. */
static int with_respect_to(job *j, matrix a, matrix b, matrix *inside)
{
    const told both = {.lower = triangle_of(j), .option = TH_SYMMETRIC};
    double scale;
    int64_t failed;
    matrix factor;
    if (scale_of(j, "Eigenvalues", b, triangle_of(j), &scale) || th_take_matrix(j, inside, a.rows, a.rows, 0) ||
        th_take_matrix(j, &factor, a.rows, a.rows, 0) || th_take_table(j, 0) || th_copied(j, factor, b) ||
        th_run_each(j, th_told(j)->take, a.rows * a.rows, a, *inside, NULL, both))
        return -1;
    if (!th_told(j)->lower)
        factor = th_turned(factor);
    if (th_factor_cholesky(j, factor) || th_status(j, &failed))
        return -1;
    if (failed)
        return j->ctx->rt->fail(j->ctx, TH_ERR_LINALG, "b is not positive definite (its leading minor of order %lld is not)", (long long)failed);
    return th_triangular(j, factor, 1, 0, *inside) || th_triangular(j, factor, 1, 0, th_turned(*inside)) ? -1 : 0;
}

/* inputs: a symmetric matrix, and another one or None; output: eigenvalues. */
static int eigvalsh(job *j)
{
    th_ctx *ctx = j->ctx;
    const th_buffer *a = ctx->in[0];
    if (th_square(ctx, a))
        return -1;
    if (th_told(j)->second) {
        if (th_square(ctx, ctx->in[1]))
            return -1;
        if (ctx->in[1]->shape[0] != a->shape[0])
            return ctx->rt->fail(ctx, TH_ERR_SHAPE, "%lld rows of a against %lld of b: both must have as many", (long long)a->shape[0],
                                 (long long)ctx->in[1]->shape[0]);
    }
    if (ctx->rt->ensure(ctx, ctx->out[0], a->shape))
        return -1;
    matrix m = th_matrix_of(a), inside;
    double scale;
    if (m.rows == 0)
        return 0;
    if (!th_told(j)->second)
        return symmetric(j, m, triangle_of(j), ctx->out[0], NULL);
    if (scale_of(j, "Eigenvalues", m, triangle_of(j), &scale) || with_respect_to(j, m, th_matrix_of(ctx->in[1]), &inside))
        return -1;
    return symmetric(j, inside, TH_LOWER, ctx->out[0], NULL);
}

#define KERNEL(name)                          \
    TH_EXPORT int th_kernel_gpu_##name(th_ctx *ctx) \
    {                                         \
        job j;                                \
        th_job_begin(&j, ctx, ((const th_matrices *)ctx->params)->tiled->gpu);                \
        return th_job_end(&j, name(&j));      \
    }
KERNEL(qr)
KERNEL(svd)
KERNEL(pinv)
KERNEL(lstsq)
KERNEL(eigh)
KERNEL(eigvalsh)
