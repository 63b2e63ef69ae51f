/* The host's half of the exponential of a matrix: the steps of `expm.h` on a device. */
#include "expm.h"

#include "linalg_matrix.h"

struct expm {
    job *j;
    int64_t n;
    matrix m[EXPM_MATRICES], one; /* 1 in each of n rows */
    char *sums[2];
};

static int multiply(const expm *e, int to, int a, int b) { return th_product(e->j, e->m[to], e->m[a], e->m[b]); }

static int power_norm(const expm *e, int a, int count, double by, double *norm)
{
    job *j = e->j;
    double *sums = j->ctx->rt->scratch(j->ctx, (size_t)e->n * sizeof *sums);
    if (sums == NULL)
        return -1;
    for (int step = 0; step < count; ++step) {
        const matrix x = step ? (matrix){e->sums[(step - 1) % 2], e->n, 1, j->size, 0} : e->one;
        if (th_run(j, th_told(j)->absolute_sums, e->n, e->m[a], x, e->sums[step % 2], (told){.factor = by}))
            return -1;
    }
    if (th_to_host(j, sums, e->sums[(count - 1) % 2], e->n * j->size))
        return -1;
    *norm = 0;
    for (int64_t i = 0; i < e->n; ++i)
        *norm = sums[i] > *norm || sums[i] != sums[i] ? sums[i] : *norm;
    return 0;
}

static int combine(const expm *e, int to, const double *factors, double ones)
{
    job *j = e->j;
    const matrix m = e->m[to], diagonal = {m.data, m.rows, 1, m.row + m.column, 0};
    int begun = factors[to] != 0;
    if (begun && factors[to] != 1 && th_run_each(j, th_told(j)->take, m.rows * m.rows, m, m, NULL, (told){.factor = factors[to]}))
        return -1;
    for (int k = 0; k < EXPM_MATRICES; ++k) {
        const th_gpu_kernel *kernel = begun ? th_told(j)->add : th_told(j)->take;
        if (k == to || factors[k] == 0)
            continue;
        if (th_run_each(j, kernel, m.rows * m.rows, e->m[k], m, NULL, (told){.factor = factors[k]}))
            return -1;
        begun = 1;
    }
    return ones != 0 ? th_run_each(j, th_told(j)->add, m.rows, e->one, diagonal, NULL, (told){.factor = ones}) : 0;
}

static int solve_w(const expm *e)
{
    int64_t status;
    if (th_eliminate(e->j, e->m[EXPM_W]) || th_status(e->j, &status))
        return -1;
    if (status)
        return e->j->ctx->rt->fail(e->j->ctx, TH_ERR_LINALG, "the exponential was not found: is there NaN or infinity in the matrix?");
    return th_solve_factors(e->j, e->m[EXPM_W], e->m[EXPM_U]);
}

static int begin(expm *e, matrix a, int narrow)
{
    job *j = e->j;
    const double one = 1;
    for (int k = 0; k < EXPM_MATRICES; ++k)
        if (th_take_matrix(j, e->m + k, e->n, e->n, 0))
            return -1;
    e->one = (matrix){th_take_copy(j, &one, sizeof one), e->n, 1, 0, 0};
    e->sums[0] = th_take(j, e->n * j->size);
    e->sums[1] = th_take(j, e->n * j->size);
    if (e->one.data == NULL || e->sums[0] == NULL || e->sums[1] == NULL || th_take_table(j, e->n))
        return -1;
    return narrow ? th_run_each(j, th_told(j)->from_single, e->n * e->n, a, e->m[EXPM_A], NULL, (told){0}) : th_copied(j, e->m[EXPM_A], a);
}

/* The exponential of a number, in matrix A. */
static int of_number(const expm *e)
{
    double x;
    if (th_to_host(e->j, &x, e->m[EXPM_A].data, sizeof x))
        return -1;
    x = exp(x);
    return th_to_device(e->j, e->m[EXPM_A].data, &x, sizeof x);
}

/* input: a square matrix; output: its exponential. All is computed in double. */
TH_EXPORT int th_kernel_gpu_expm(th_ctx *ctx)
{
    const int narrow = ctx->in[0]->dtype == TH_FLOAT32;
    int found = EXPM_A;
    job j;
    if (th_square(ctx, ctx->in[0]) || ctx->rt->ensure(ctx, ctx->out[0], ctx->in[0]->shape))
        return -1;
    const matrix out = th_matrix_of(ctx->out[0]);
    if (out.rows == 0)
        return 0;
    th_job_begin(&j, ctx, ((const th_matrices *)ctx->params)->tiled->gpu);
    j.size = sizeof(double);
    j.dtype = TH_FLOAT64;
    expm e = {.j = &j, .n = out.rows};
    int status = begin(&e, th_matrix_of(ctx->in[0]), narrow);
    if (status == 0)
        status = e.n == 1 ? of_number(&e) : exponential(&e, &found);
    /* NaN, as on the CPU, where the matrix is too large to be squared */
    if (status > 0)
        status = th_run_each(&j, th_told(&j)->take, e.n * e.n, e.m[EXPM_A], e.m[EXPM_A], NULL, (told){.factor = (double)NAN});
    if (status == 0)
        status = narrow ? th_run_each(&j, th_told(&j)->to_single, e.n * e.n, e.m[found], out, NULL, (told){0}) : th_copied(&j, out, e.m[found]);
    return th_job_end(&j, status);
}
