/* The host's half of Cholesky's factor, of equations, inverses and determinants. */
#include "cusolver.h"

/* NaN in all elements of a matrix's result, if the status says that the result does not exist. */
static int nan_if_failed(job *j, matrix m)
{
    return th_run_each(j, th_told(j)->take, m.rows * m.columns, m, m, j->table, (told){.option = TH_NAN});
}

static int singular(job *j, const char *what)
{
    int64_t status;
    if (th_status(j, &status))
        return -1;
    return status ? j->ctx->rt->fail(j->ctx, TH_ERR_LINALG, "Singular matrix: %s", what) : 0;
}

static int cholesky(job *j)
{
    th_ctx *ctx = j->ctx;
    const int lower = (int)th_told(j)->lower;
    int64_t failed = 0;
    if (th_square(ctx, ctx->in[0]) || ctx->rt->ensure(ctx, ctx->out[0], ctx->in[0]->shape))
        return -1;
    const matrix a = th_matrix_of(ctx->in[0]), out = th_matrix_of(ctx->out[0]);
    if (a.rows == 0)
        return 0;
    if (th_take_table(j, 0) || th_copied(j, out, a) || th_factor_cholesky(j, lower ? out : th_turned(out)))
        return -1;
    if (!th_told(j)->nan_on_error && th_status(j, &failed))
        return -1;
    if (failed)
        return ctx->rt->fail(ctx, TH_ERR_LINALG, "the matrix is not positive definite (its leading minor of order %lld is not)",
                             (long long)failed);
    return th_run_each(j, th_told(j)->take, out.rows * out.columns, out, out, j->table,
                       (told){.lower = lower ? TH_LOWER : TH_UPPER, .option = TH_NAN});
}

/* A copy of a square matrix, of which one triangle may be all that counts. */
static int copy_of(job *j, matrix a, matrix *lu)
{
    const told symmetric = {.lower = th_told(j)->lower ? TH_LOWER : TH_UPPER, .option = TH_SYMMETRIC};
    if (th_take_table(j, a.rows) || th_take_matrix(j, lu, a.rows, a.rows, 0))
        return -1;
    return th_told(j)->symmetric ? th_run_each(j, th_told(j)->take, a.rows * a.rows, a, *lu, NULL, symmetric) : th_copied(j, *lu, a);
}

/* x becomes the solution of A y = x. If A is singular, x becomes NaN, or an error ends with `what`. */
static int solution(job *j, matrix a, matrix x, const char *what)
{
    matrix lu;
    if (copy_of(j, a, &lu))
        return -1;
    const int done = th_cusolver_solve(j, lu, x);
    if (done < 0 || (!done && (th_eliminate(j, lu) || th_solve_factors(j, lu, x))))
        return -1;
    return th_told(j)->nan_on_error ? nan_if_failed(j, x) : singular(j, what);
}

int th_solve_factors(job *j, matrix lu, matrix x)
{
    return th_run_each(j, th_told(j)->exchange, x.columns, x, x, j->table, (told){.count = lu.rows}) ||
           th_triangular(j, lu, 1, 1, x) || th_triangular(j, lu, 0, 0, x) ? -1 : 0;
}

static int inverse(job *j)
{
    th_ctx *ctx = j->ctx;
    if (th_square(ctx, ctx->in[0]) || ctx->rt->ensure(ctx, ctx->out[0], ctx->in[0]->shape))
        return -1;
    const matrix out = th_matrix_of(ctx->out[0]);
    if (out.rows == 0)
        return 0;
    if (th_run_each(j, th_told(j)->identity, out.rows * out.rows, out, out, NULL, (told){0}))
        return -1;
    return solution(j, th_matrix_of(ctx->in[0]), out, "it has no inverse; pinv gives the pseudo-inverse");
}

static int determinant(job *j)
{
    th_ctx *ctx = j->ctx;
    matrix lu;
    if (th_square(ctx, ctx->in[0]) || ctx->rt->ensure(ctx, ctx->out[0], NULL))
        return -1;
    const matrix a = th_matrix_of(ctx->in[0]), out = th_matrix_of(ctx->out[0]);
    if (a.rows == 0)
        return th_run(j, th_told(j)->identity, 1, out, out, NULL, (told){0});
    if (copy_of(j, a, &lu) || th_eliminate(j, lu))
        return -1;
    return th_run(j, th_told(j)->diagonal_product, 1, lu, out, j->table, (told){0});
}

/* What both kinds of equations begin with: the result's shape and a copy of the right side in it; 1 if that is all. */
static int begin(job *j)
{
    th_ctx *ctx = j->ctx;
    const th_buffer *a = ctx->in[0], *b = ctx->in[1];
    if (th_square(ctx, a))
        return -1;
    if (a->shape[0] != b->shape[0])
        return ctx->rt->fail(ctx, TH_ERR_SHAPE, "%lld rows of A against %lld of b: both must have as many", (long long)a->shape[0],
                             (long long)b->shape[0]);
    if (ctx->rt->ensure(ctx, ctx->out[0], b->shape))
        return -1;
    const matrix x = th_matrix_of(ctx->out[0]);
    return x.rows * x.columns == 0 ? 1 : th_copied(j, x, th_matrix_of(b));
}

static int solve(job *j)
{
    const int begun = begin(j);
    if (begun)
        return begun < 0 ? -1 : 0;
    return solution(j, th_matrix_of(j->ctx->in[0]), th_matrix_of(j->ctx->out[0]), "the equations have no single solution; see lstsq");
}

static int solve_triangular(job *j)
{
    th_ctx *ctx = j->ctx;
    int64_t status;
    const int begun = begin(j);
    if (begun)
        return begun < 0 ? -1 : 0;
    const matrix x = th_matrix_of(ctx->out[0]);
    if (th_take_table(j, 0) || th_triangular(j, th_matrix_of(ctx->in[0]), (int)th_told(j)->lower, 0, x))
        return -1;
    if (th_told(j)->nan_on_error)
        return nan_if_failed(j, x);
    if (th_status(j, &status))
        return -1;
    return status ? ctx->rt->fail(ctx, TH_ERR_LINALG, "singular matrix: number %lld on the diagonal is 0", (long long)(status - 1)) : 0;
}

#define KERNEL(name, step)                    \
    TH_EXPORT int th_kernel_gpu_##name(th_ctx *ctx) \
    {                                         \
        job j;                                \
        th_job_begin(&j, ctx, ((const th_matrices *)ctx->params)->tiled->gpu);                \
        return th_job_end(&j, step(&j));      \
    }
KERNEL(cholesky, cholesky)
KERNEL(inverse, inverse)
KERNEL(det, determinant)
KERNEL(solve, solve)
KERNEL(solve_triangular, solve_triangular)
