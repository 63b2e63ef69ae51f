/* The exponential of a matrix on the CPU.
 *
 * A complex matrix R + iI becomes the real one of its blocks R, -I, I, R, whose exponential has the same form. */
#include "expm.h"
#include "lapack.h"

struct expm {
    th_ctx *ctx;
    int64_t threads, n;
    double *m[EXPM_MATRICES], *sums; /* two rows */
};

static matrix whole(const expm *e, int k) { return plain_matrix((char *)e->m[k], e->n, e->n, sizeof(double)); }

static int multiply(const expm *e, int to, int a, int b)
{
    return th_gemm_f64(e->ctx, e->threads, NULL, whole(e, a), whole(e, b), NULL, whole(e, to), whole(e, to));
}

static int power_norm(const expm *e, int a, int count, double by, double *norm)
{
    const int64_t n = e->n;
    const double *from = e->m[a];
    double *x = e->sums, *y = e->sums + n, most = 0;
    for (int64_t j = 0; j < n; ++j)
        x[j] = 1;
    for (int step = 0; step < count; ++step) {
        memset(y, 0, (size_t)n * sizeof(double));
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < n; ++j)
                y[j] += fabs(from[i * n + j]) * x[i];
        for (int64_t j = 0; j < n; ++j)
            x[j] = y[j] / by;
    }
    for (int64_t j = 0; j < n; ++j)
        most = x[j] > most || x[j] != x[j] ? x[j] : most;
    *norm = most;
    return 0;
}

static int combine(const expm *e, int to, const double *factors, double ones)
{
    const int64_t n = e->n;
    double *out = e->m[to];
    for (int64_t i = 0; i < n * n; ++i)
        out[i] = factors[to] != 0 ? factors[to] * out[i] : 0;
    for (int k = 0; k < EXPM_MATRICES; ++k)
        for (int64_t i = 0; i < n * n && k != to && factors[k] != 0; ++i)
            out[i] += factors[k] * e->m[k][i];
    for (int64_t i = 0; i < n && ones != 0; ++i)
        out[i * (n + 1)] += ones;
    return 0;
}

static int solve_w(const expm *e)
{
    int64_t *pivots = e->ctx->rt->scratch(e->ctx, (size_t)e->n * sizeof(int64_t));
    if (pivots == NULL)
        return -1;
    /* Elimination is given the transposed matrix, whose columns' elements are neighbours: see lapack.c. */
    const matrix m = whole(e, EXPM_W), turned = {m.data, m.cols, m.rows, m.col, m.row}, u = whole(e, EXPM_U);
    const int64_t failed = th_lu_f64(e->ctx, e->threads, turned, pivots);
    if (failed > 0)
        return TH_FAIL(e->ctx, TH_ERR_LINALG, "the exponential was not found: is there NaN or infinity in the matrix?");
    if (failed < 0 || th_triangular_f64(e->ctx, e->threads, 0, 0, m, u) || th_triangular_f64(e->ctx, e->threads, 1, 1, m, u))
        return -1;
    th_exchange_back(u.data, pivots, e->n, e->n * (int64_t)sizeof(double));
    return 0;
}

/* A square matrix as doubles in C order: an element, or a block of 2 x 2, for each of its elements. */
static void load_matrix(double *to, const th_buffer *a)
{
    const int64_t n = a->shape[0], wide = is_complex(a->dtype) ? 2 * n : n, half = a->itemsize / 2;
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
            const char *at = a->data + i * a->strides[0] + j * a->strides[1];
            double parts[2];
            for (int k = 0; k <= is_complex(a->dtype); ++k)
                if (is_single(a->dtype)) {
                    float x;
                    memcpy(&x, at + k * half, sizeof x);
                    parts[k] = x;
                } else {
                    memcpy(parts + k, at + k * half, sizeof(double));
                }
            to[i * wide + j] = parts[0];
            if (wide > n) {
                to[(i + n) * wide + j + n] = parts[0];
                to[(i + n) * wide + j] = parts[1];
                to[i * wide + j + n] = -parts[1];
            }
        }
}

static void store_matrix(const th_buffer *out, const double *from)
{
    const int64_t n = out->shape[0], parts = is_complex(out->dtype) ? 2 : 1, wide = parts * n;
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
            for (int64_t k = 0; k < parts; ++k) {
                const double x = from == NULL ? (double)NAN : from[(i + k * n) * wide + j];
                if (is_single(out->dtype))
                    ((float *)out->data)[(i * n + j) * parts + k] = (float)x;
                else
                    ((double *)out->data)[(i * n + j) * parts + k] = x;
            }
}

/* input: a square matrix of any layout. */
TH_EXPORT int th_kernel_expm(th_ctx *ctx)
{
    const th_buffer *a = ctx->in[0];
    th_buffer *out = ctx->out[0];
    if (th_square(ctx, a) || ctx->rt->ensure(ctx, out, a->shape))
        return -1;
    const int64_t n = a->shape[0] * (is_complex(a->dtype) ? 2 : 1), size = (n * n + 7) / 8 * 8;
    if (n == 0)
        return 0;
    double *scratch = ctx->rt->scratch(ctx, (size_t)(EXPM_MATRICES * size + 2 * n) * sizeof(double));
    if (scratch == NULL)
        return -1;
    expm e = {.ctx = ctx, .threads = ((const th_expm_params *)ctx->params)->threads, .n = n, .sums = scratch + EXPM_MATRICES * size};
    for (int k = 0; k < EXPM_MATRICES; ++k)
        e.m[k] = scratch + k * size;
    int found = EXPM_A, status = 0;
    load_matrix(e.m[EXPM_A], a);
    if (n == 1)
        e.m[EXPM_A][0] = exp(e.m[EXPM_A][0]);
    else
        status = exponential(&e, &found);
    if (status < 0)
        return -1;
    store_matrix(out, status ? NULL : e.m[found]);
    return 0;
}
