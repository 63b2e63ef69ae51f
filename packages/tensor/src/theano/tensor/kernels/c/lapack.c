/* Factorisations and solutions of equations through LAPACK.
 *
 * LAPACK thinks in columns: a matrix in C order is, to it, the transposed one. A lower triangle in C order is its upper
 * one, and A x = b is solved with the factors of A' by asking for the transposed solution. Every matrix is copied first,
 * since the routines overwrite what they are given.
 *
 * LAPACK counts in 32 or in 64 bits, as the library was built; each routine is called through the type that fits. */
#include "kernels.h"

typedef union {
    int32_t i32;
    int64_t i64;
} integer;

/* The parameters start with this; choices and addresses of routines follow. */
typedef struct {
    int64_t wide;
    int64_t rest[4];
} lapack_params;

static integer integer_of(const lapack_params *p, int64_t v)
{
    integer r = {0};
    if (p->wide)
        r.i64 = v;
    else
        r.i32 = (int32_t)v;
    return r;
}

static int64_t value_of(const lapack_params *p, integer v) { return p->wide ? v.i64 : v.i32; }

/* A whole matrix or vector in C order, in memory of the call. */
static char *copied(th_ctx *ctx, const th_buffer *b)
{
    th_window from, to;
    th_window_of(&from, b);
    th_window_of(&to, b);
    int64_t size = b->itemsize;
    for (int d = from.nd - 1; d >= 0; --d) {
        to.strides[d] = size;
        size *= from.shape[d];
    }
    to.data = ctx->rt->scratch(ctx, (size_t)(size > 0 ? size : 1));
    if (to.data != NULL)
        th_copy(ctx, &to, &from);
    return to.data;
}

/* The same into an output that has been given its shape. */
static void copy_out(th_ctx *ctx, const th_buffer *to, const th_buffer *from)
{
    th_window t, f;
    th_window_of(&t, to);
    th_window_of(&f, from);
    th_copy(ctx, &t, &f);
}

static int square(th_ctx *ctx, const th_buffer *a)
{
    if (a->shape[0] == a->shape[1])
        return 0;
    return TH_FAIL(ctx, TH_ERR_SHAPE, "a square matrix is needed, not one of shape (%lld, %lld)",
                   (long long)a->shape[0], (long long)a->shape[1]);
}

typedef void (*potrf)(const char *, const integer *, void *, const integer *, integer *, size_t);
typedef void (*getrf)(const integer *, const integer *, void *, const integer *, void *, integer *);
typedef void (*getri)(const integer *, void *, const integer *, const void *, void *, const integer *, integer *);
typedef void (*getrs)(const char *, const integer *, const integer *, const void *, const integer *, const void *, void *,
                      const integer *, integer *, size_t);
typedef void (*trtrs)(const char *, const char *, const char *, const integer *, const integer *, const void *,
                      const integer *, void *, const integer *, integer *, size_t, size_t, size_t);

#define ROUTINE(p, i, type) ((type)(intptr_t)(p)->rest[i])

/* -- Cholesky ----------------------------------------------------------------------------------------- */

#define FINISH_FACTOR(TYPE) \
    static void finish_##TYPE(TYPE *a, int64_t n, int lower, int failed) \
    { \
        for (int64_t i = 0; i < n; ++i) \
            for (int64_t j = 0; j < n; ++j) \
                if (failed) \
                    a[i * n + j] = (TYPE)NAN; \
                else if (lower ? j > i : j < i) \
                    a[i * n + j] = 0; \
    }
FINISH_FACTOR(float)
FINISH_FACTOR(double)

TH_EXPORT int th_kernel_cholesky(th_ctx *ctx)
{
    const lapack_params *p = ctx->params;
    const th_buffer *a = ctx->in[0];
    th_buffer *out = ctx->out[0];
    const int lower = (int)p->rest[0], nan_on_error = (int)p->rest[1];
    if (square(ctx, a) || ctx->rt->ensure(ctx, out, a->shape))
        return -1;
    const int64_t rows = a->shape[0];
    if (rows == 0)
        return 0;
    copy_out(ctx, out, a);
    integer n = integer_of(p, rows), info = {0};
    ROUTINE(p, 2, potrf)(lower ? "U" : "L", &n, out->data, &n, &info, 1);
    const int64_t failed = value_of(p, info);
    if (failed && !nan_on_error)
        return TH_FAIL(ctx, TH_ERR_LINALG, "the matrix is not positive definite (its leading minor of order %lld is not)",
                       (long long)failed);
    if (out->dtype == TH_FLOAT32)
        finish_float((float *)out->data, rows, lower, failed != 0);
    else
        finish_double((double *)out->data, rows, lower, failed != 0);
    return 0;
}

/* -- inverse and determinant ---------------------------------------------------------------------------- */

TH_EXPORT int th_kernel_inverse(th_ctx *ctx)
{
    const lapack_params *p = ctx->params;
    const th_buffer *a = ctx->in[0];
    th_buffer *out = ctx->out[0];
    if (square(ctx, a) || ctx->rt->ensure(ctx, out, a->shape))
        return -1;
    const int64_t rows = a->shape[0], room = rows * 64;
    if (rows == 0)
        return 0;
    void *pivots = ctx->rt->scratch(ctx, (size_t)rows * sizeof(int64_t));
    void *work = ctx->rt->scratch(ctx, (size_t)(room * out->itemsize));
    if (pivots == NULL || work == NULL)
        return -1;
    copy_out(ctx, out, a);
    integer n = integer_of(p, rows), lwork = integer_of(p, room), info = {0};
    ROUTINE(p, 0, getrf)(&n, &n, out->data, &n, pivots, &info);
    if (value_of(p, info) == 0)
        ROUTINE(p, 1, getri)(&n, out->data, &n, pivots, work, &lwork, &info);
    if (value_of(p, info) != 0)
        return TH_FAIL(ctx, TH_ERR_LINALG, "Singular matrix: it has no inverse; pinv gives the pseudo-inverse");
    return 0;
}

TH_EXPORT int th_kernel_det(th_ctx *ctx)
{
    const lapack_params *p = ctx->params;
    const th_buffer *a = ctx->in[0];
    th_buffer *out = ctx->out[0];
    if (square(ctx, a) || ctx->rt->ensure(ctx, out, NULL))
        return -1;
    const int64_t rows = a->shape[0];
    void *pivots = ctx->rt->scratch(ctx, (size_t)(rows + 1) * sizeof(int64_t));
    char *lu = copied(ctx, a);
    if (pivots == NULL || lu == NULL)
        return -1;
    integer n = integer_of(p, rows), info = {0};
    if (rows > 0)
        ROUTINE(p, 0, getrf)(&n, &n, lu, &n, pivots, &info);
    double product = 1;
    for (int64_t i = 0; i < rows; ++i) {
        const int64_t pivot = p->wide ? ((const int64_t *)pivots)[i] : ((const int32_t *)pivots)[i];
        const double d = out->dtype == TH_FLOAT32 ? ((const float *)lu)[i * rows + i] : ((const double *)lu)[i * rows + i];
        product *= pivot == i + 1 ? d : -d;
    }
    if (out->dtype == TH_FLOAT32)
        *(float *)out->data = (float)product;
    else
        *(double *)out->data = product;
    return 0;
}

/* -- solutions ------------------------------------------------------------------------------------------ */

static void transpose(const char *from, char *to, int64_t rows, int64_t cols, int64_t size)
{
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < cols; ++j)
            memcpy(to + (j * rows + i) * size, from + (i * cols + j) * size, (size_t)size);
}

static int same_rows(th_ctx *ctx, const th_buffer *a, const th_buffer *b)
{
    if (square(ctx, a))
        return -1;
    if (a->shape[0] == b->shape[0])
        return 0;
    return TH_FAIL(ctx, TH_ERR_SHAPE, "%lld rows of A against %lld of b: both must have as many",
                   (long long)a->shape[0], (long long)b->shape[0]);
}

/* The right-hand sides as LAPACK wants them, one column after the other; where `columns` is 1, that is how they are. */
static char *right_sides(th_ctx *ctx, const th_buffer *b, int64_t rows, int64_t columns)
{
    char *plain = copied(ctx, b);
    if (plain == NULL || columns == 1)
        return plain;
    char *turned = ctx->rt->scratch(ctx, (size_t)(rows * columns * b->itemsize));
    if (turned != NULL)
        transpose(plain, turned, rows, columns, b->itemsize);
    return turned;
}

static void solutions(const char *x, const th_buffer *out, int64_t rows, int64_t columns)
{
    if (columns == 1)
        memcpy(out->data, x, (size_t)(rows * out->itemsize));
    else
        transpose(x, out->data, columns, rows, out->itemsize);
}

static void mirror(char *a, int64_t n, int64_t size, int from_lower)
{
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < i; ++j) {
            char *low = a + (i * n + j) * size, *high = a + (j * n + i) * size;
            memcpy(from_lower ? high : low, from_lower ? low : high, (size_t)size);
        }
}

TH_EXPORT int th_kernel_solve(th_ctx *ctx)
{
    const lapack_params *p = ctx->params;
    const th_buffer *a = ctx->in[0], *b = ctx->in[1];
    th_buffer *out = ctx->out[0];
    if (same_rows(ctx, a, b) || ctx->rt->ensure(ctx, out, b->shape))
        return -1;
    const int64_t rows = a->shape[0], columns = b->ndim == 2 ? b->shape[1] : 1;
    if (rows == 0 || columns == 0)
        return 0;
    char *lu = copied(ctx, a), *x = right_sides(ctx, b, rows, columns);
    void *pivots = ctx->rt->scratch(ctx, (size_t)rows * sizeof(int64_t));
    if (lu == NULL || x == NULL || pivots == NULL)
        return -1;
    if (p->rest[0])
        mirror(lu, rows, a->itemsize, p->rest[0] == 1);
    integer n = integer_of(p, rows), nrhs = integer_of(p, columns), info = {0};
    ROUTINE(p, 1, getrf)(&n, &n, lu, &n, pivots, &info);
    if (value_of(p, info) != 0)
        return TH_FAIL(ctx, TH_ERR_LINALG, "Singular matrix: the equations have no single solution; see lstsq");
    ROUTINE(p, 2, getrs)("T", &n, &nrhs, lu, &n, pivots, x, &n, &info, 1);
    solutions(x, out, rows, columns);
    return 0;
}

TH_EXPORT int th_kernel_solve_triangular(th_ctx *ctx)
{
    const lapack_params *p = ctx->params;
    const th_buffer *a = ctx->in[0], *b = ctx->in[1];
    th_buffer *out = ctx->out[0];
    if (same_rows(ctx, a, b) || ctx->rt->ensure(ctx, out, b->shape))
        return -1;
    const int64_t rows = a->shape[0], columns = b->ndim == 2 ? b->shape[1] : 1;
    if (rows == 0 || columns == 0)
        return 0;
    char *t = copied(ctx, a), *x = right_sides(ctx, b, rows, columns);
    if (t == NULL || x == NULL)
        return -1;
    integer n = integer_of(p, rows), nrhs = integer_of(p, columns), info = {0};
    ROUTINE(p, 1, trtrs)(p->rest[0] ? "U" : "L", "T", "N", &n, &nrhs, t, &n, x, &n, &info, 1, 1, 1);
    if (value_of(p, info) != 0)
        return TH_FAIL(ctx, TH_ERR_LINALG, "singular matrix: number %lld on the diagonal is 0",
                       (long long)(value_of(p, info) - 1));
    solutions(x, out, rows, columns);
    return 0;
}
