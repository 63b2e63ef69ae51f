/* Q and R, eigenvalues, singular values and least squares, through LAPACK; reflections of real numbers are our own.
 *
 * A matrix in C order is, to LAPACK, the transposed one. Its singular vectors then come out as they are wanted; where
 * that does not help, the matrix is copied into Fortran's order. */
#include "lapack.h"

/* Memory for `count` elements of a dtype's size; never of none, so that NULL is an error only. */
static void *scratch_for(th_ctx *ctx, int64_t count, int64_t size) { return ctx->rt->scratch(ctx, (size_t)(count > 0 ? count * size : size)); }

/* How much memory LAPACK has asked for in the first number of `work`. */
static int64_t asked(const void *work, int32_t dtype)
{
    return (int64_t)(is_single(dtype) ? (double)*(const float *)work : *(const double *)work);
}

static int64_t real_size(int32_t dtype) { return is_single(dtype) ? 4 : 8; }

/* The matrix with ones on its diagonal. */
static void set_identity(char *data, int64_t rows, int64_t cols, int64_t size, int32_t dtype)
{
    memset(data, 0, (size_t)(rows * cols * size));
    for (int64_t i = 0; i < rows && i < cols; ++i)
        if (is_single(dtype))
            *(float *)(data + i * (cols + 1) * size) = 1;
        else
            *(double *)(data + i * (cols + 1) * size) = 1;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* -- Q and R ------------------------------------------------------------------------------------------- */

typedef void (*geqrf)(const integer *, const integer *, void *, const integer *, void *, void *, const integer *, integer *);
typedef void (*orgqr)(const integer *, const integer *, const integer *, void *, const integer *, const void *, void *,
                      const integer *, integer *);

/* A, in Fortran's order, becomes R above reflections; q, in C order, if there is one, the first columns of their product. */
static int decompose_qr(th_ctx *ctx, const th_buffer *a, char *copy, void *tau, char *q, int64_t columns)
{
    const lapack_params *p = ctx->params;
    const th_qr_params *given = ctx->params;
    const int64_t m = a->shape[0], n = a->shape[1], k = least(m, n), size = a->itemsize;
    if (!is_complex(a->dtype) && (k <= 32 || (double)m * (double)n * (double)k <= (double)p->own)) {
        const matrix to = plain_matrix(q, m, columns, size);
        return OURS(a, th_qr, ctx, p->threads, (matrix){copy, m, n, size, m * size}, tau, to);
    }
    const int64_t capacity = 64 * (n > columns ? n : columns);
    void *work = scratch_for(ctx, capacity, size);
    char *turned = q == NULL ? NULL : scratch_for(ctx, m * columns, size);
    integer rows = integer_of(p, m), cols = integer_of(p, n), count = integer_of(p, k), wanted = integer_of(p, columns),
            lwork = integer_of(p, capacity), info = {0};
    if (work == NULL || (q != NULL && turned == NULL))
        return -1;
    ROUTINE(given, geqrf, geqrf)(&rows, &cols, copy, &rows, tau, work, &lwork, &info);
    if (q == NULL)
        return 0;
    memset(turned, 0, (size_t)(m * columns * size));
    memcpy(turned, copy, (size_t)(m * least(n, columns) * size));
    ROUTINE(given, generate, orgqr)(&rows, &wanted, &count, turned, &rows, tau, work, &lwork, &info);
    th_turn(ctx, q, turned, columns, m, size);
    return 0;
}

TH_EXPORT int th_kernel_qr(th_ctx *ctx)
{
    const th_buffer *a = ctx->in[0];
    const int mode = (int)((const th_qr_params *)ctx->params)->mode;
    const int64_t m = a->shape[0], n = a->shape[1], k = least(m, n), inner = mode == TH_QR_MODE_COMPLETE ? m : k, size = a->itemsize;
    th_buffer *first = ctx->out[0], *r = mode == TH_QR_MODE_R ? first : ctx->out[1];
    const int64_t q_shape[2] = {m, inner}, r_shape[2] = {inner, n}, raw_shape[2] = {n, m};
    if (mode == TH_QR_MODE_RAW ? ctx->rt->ensure(ctx, first, raw_shape) || ctx->rt->ensure(ctx, r, &k)
                       : ctx->rt->ensure(ctx, r, r_shape) || (mode != TH_QR_MODE_R && ctx->rt->ensure(ctx, first, q_shape)))
        return -1;
    char *q = mode == TH_QR_MODE_REDUCED || mode == TH_QR_MODE_COMPLETE ? first->data : NULL;
    if (k == 0) {
        if (q != NULL)
            set_identity(q, m, inner, size, a->dtype);
        return 0;
    }
    char *copy = th_copied(ctx, a, 1);
    void *tau = mode == TH_QR_MODE_RAW ? r->data : scratch_for(ctx, k, size);
    if (copy == NULL || tau == NULL || decompose_qr(ctx, a, copy, tau, q, inner))
        return -1;
    if (mode == TH_QR_MODE_RAW) {
        memcpy(first->data, copy, (size_t)(m * n * size));
        return 0;
    }
    ctx->rt->move(r->data, n * size, size, copy, size, m * size, inner, n, size);
    for (int64_t i = 1; i < inner; ++i)
        memset(r->data + i * n * size, 0, (size_t)(least(i, n) * size));
    return 0;
}

enum { SMALL = TH_EIGH_SMALL };

/* -- eigenvalues of symmetric matrices --------------------------------------------------------------------- */

typedef void (*syevd)(const char *, const char *, const integer *, void *, const integer *, void *, void *, const integer *,
                      void *, const integer *, integer *, size_t, size_t);
typedef void (*heevd)(const char *, const char *, const integer *, void *, const integer *, void *, void *, const integer *,
                      void *, const integer *, void *, const integer *, integer *, size_t, size_t);
typedef void (*sygvd)(const integer *, const char *, const char *, const integer *, void *, const integer *, void *,
                      const integer *, void *, void *, const integer *, void *, const integer *, integer *, size_t, size_t);
typedef void (*hegvd)(const integer *, const char *, const char *, const integer *, void *, const integer *, void *,
                      const integer *, void *, void *, const integer *, void *, const integer *, void *, const integer *,
                      integer *, size_t, size_t);

/* Eigenvalues (and vectors, in place of `a`, as rows) of a copy of a symmetric matrix, with respect to `b` if there is
 * one; what LAPACK says, or -1. `routine` and `complex_routine` take the same but for one array. */
static int64_t decompose_symmetric(th_ctx *ctx, int32_t dtype, const void *routine, int vectors, int lower, char *a, char *b,
                                   int64_t n, void *w)
{
    const lapack_params *p = ctx->params;
    const int64_t size = is_complex(dtype) ? 2 * real_size(dtype) : real_size(dtype), square = vectors || b ? 2 * n * n : 0;
    const int64_t counts[3] = {1 + 70 * n + square, 1 + 5 * n + square, 3 + 5 * n};
    void *work = scratch_for(ctx, counts[0], size), *rwork = scratch_for(ctx, counts[1], real_size(dtype)),
         *iwork = scratch_for(ctx, counts[2], sizeof(int64_t));
    if (work == NULL || rwork == NULL || iwork == NULL)
        return -1;
    integer rows = integer_of(p, n), lwork = integer_of(p, counts[0]), lrwork = integer_of(p, counts[1]),
            liwork = integer_of(p, counts[2]), info = {0}, one = integer_of(p, 1);
    const char *job = vectors ? "V" : "N", *uplo = lower ? "U" : "L";
    if (b == NULL && is_complex(dtype))
        ((heevd)(intptr_t)routine)(job, uplo, &rows, a, &rows, w, work, &lwork, rwork, &lrwork, iwork, &liwork, &info, 1, 1);
    else if (b == NULL)
        ((syevd)(intptr_t)routine)(job, uplo, &rows, a, &rows, w, work, &lwork, iwork, &liwork, &info, 1, 1);
    else if (is_complex(dtype))
        ((hegvd)(intptr_t)routine)(&one, job, uplo, &rows, a, &rows, b, &rows, w, work, &lwork, rwork, &lrwork, iwork, &liwork, &info, 1, 1);
    else
        ((sygvd)(intptr_t)routine)(&one, job, uplo, &rows, a, &rows, b, &rows, w, work, &lwork, iwork, &liwork, &info, 1, 1);
    const int64_t failed = value_of(p, info);
    if (failed > n)
        return TH_FAIL(ctx, TH_ERR_LINALG, "b is not positive definite (its leading minor of order %lld is not)", (long long)(failed - n));
    if (failed != 0)
        return TH_FAIL(ctx, TH_ERR_LINALG, "Eigenvalues did not converge: is there NaN or infinity in the matrix?");
    return 0;
}

/* The other triangle's half of what a Hermitian matrix's transpose differs by. */
static void conjugate(char *data, int32_t dtype, int64_t count)
{
    for (int64_t i = 0; i < count; ++i)
        if (dtype == TH_COMPLEX64)
            ((float *)data)[2 * i + 1] = -((float *)data)[2 * i + 1];
        else
            ((double *)data)[2 * i + 1] = -((double *)data)[2 * i + 1];
}

typedef void (*sytrd)(const char *, const integer *, void *, const integer *, void *, void *, void *, void *, const integer *,
                      integer *, size_t);
typedef void (*stedc)(const char *, const integer *, void *, void *, void *, const integer *, void *, const integer *, void *,
                      const integer *, integer *, size_t);

/* Whether squares of real elements may overflow, vanish, or be no numbers. */
static int is_extreme(const char *a, int32_t dtype, int64_t count)
{
    double largest = 0;
    for (int64_t i = 0; i < count; ++i) {
        const double size = fabs(is_single(dtype) ? ((const float *)a)[i] : ((const double *)a)[i]);
        largest = size > largest || size != size ? size : largest;
    }
    return !(largest < (is_single(dtype) ? 1e12 : 1e100) && largest > (is_single(dtype) ? 1e-12 : 1e-100));
}

/* Large real matrices: LAPACK makes three diagonals and solves those, our own product brings the vectors back. 1 if this
 * is nothing for such a matrix. */
static int eigh_in_parts(th_ctx *ctx, const th_buffer *a, th_buffer *w, th_buffer *v)
{
    const lapack_params *p = ctx->params;
    const th_eigh_params *q = ctx->params;
    const int64_t n = a->shape[0], size = a->itemsize, capacity = 1 + 64 * n + n * n;
    /* The triangle that is read must be LAPACK's lower one, where Householder reflectors are columns. */
    char *copy = th_copied(ctx, a, (int)q->lower), *z = scratch_for(ctx, n * n, size), *e = scratch_for(ctx, 2 * n, size);
    void *work = scratch_for(ctx, capacity, size), *iwork = scratch_for(ctx, 3 + 5 * n, sizeof(int64_t));
    if (copy == NULL || z == NULL || e == NULL || work == NULL || iwork == NULL)
        return -1;
    if (is_extreme(copy, a->dtype, n * n))
        return 1;
    integer rows = integer_of(p, n), lwork = integer_of(p, capacity), liwork = integer_of(p, 3 + 5 * n), info = {0};
    char *scales = e + n * size;
    ROUTINE(q, sytrd, sytrd)("L", &rows, copy, &rows, w->data, e, scales, work, &lwork, &info, 1);
    ROUTINE(q, stedc, stedc)("I", &rows, w->data, e, z, &rows, work, &lwork, iwork, &liwork, &info, 1);
    if (value_of(p, info) != 0)
        return 1;
    const matrix below = {copy + size, n - 1, n - 1, size, n * size}, vectors = {z + size, n - 1, n, size, n * size};
    if (OURS(a, th_reflect, ctx, p->threads, below, scales, vectors))
        return -1;
    th_turn(ctx, v->data, z, n, n, size);
    return 0;
}

TH_EXPORT int th_kernel_eigh(th_ctx *ctx)
{
    const lapack_params *p = ctx->params;
    const th_eigh_params *q = ctx->params;
    const th_buffer *a = ctx->in[0];
    th_buffer *w = ctx->out[0], *v = ctx->out[1];
    if (th_square(ctx, a) || ctx->rt->ensure(ctx, w, a->shape) || ctx->rt->ensure(ctx, v, a->shape))
        return -1;
    const int64_t n = a->shape[0], size = a->itemsize;
    char *given = th_copied(ctx, a, 0);
    if (given == NULL || th_finite(ctx, "Eigenvalues", given, a->dtype, n, n, q->lower ? LOWER : UPPER))
        return -1;
    if (n > SMALL && is_ours(p, a, n)) {
        const int failed = eigh_in_parts(ctx, a, w, v);
        if (failed <= 0)
            return failed;
    } else if (n > 0 && n <= SMALL && !is_complex(a->dtype)) {
        char *rows = scratch_for(ctx, n * n, size);
        const int failed = rows == NULL ? -1
                           : OURS(a, th_eigh, ctx, (int)q->lower, plain_matrix(given, n, n, size), w->data, plain_matrix(rows, n, n, size));
        if (failed == 0)
            th_turn(ctx, v->data, rows, n, n, size);
        if (failed <= 0)
            return failed; /* (else LAPACK may know more) */
    }
    char *copy = th_copied(ctx, a, 0);
    if (copy == NULL || (n > 0 && decompose_symmetric(ctx, a->dtype, q->evd, 1, (int)q->lower, copy, NULL, n, w->data)))
        return -1;
    th_turn(ctx, v->data, copy, n, n, size);
    if (is_complex(a->dtype))
        conjugate(v->data, v->dtype, n * n); /* those of the transposed matrix, which is the conjugate one */
    return 0;
}

TH_EXPORT int th_kernel_eigvalsh(th_ctx *ctx)
{
    const th_eigvalsh_params *q = ctx->params;
    const th_buffer *a = ctx->in[0], *b = q->second ? ctx->in[1] : NULL;
    th_buffer *w = ctx->out[0];
    if (th_square(ctx, a) || (b != NULL && th_square(ctx, b)))
        return -1;
    const int64_t n = a->shape[0];
    if (b != NULL && b->shape[0] != n)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "%lld rows of a against %lld of b: both must have as many", (long long)n, (long long)b->shape[0]);
    if (ctx->rt->ensure(ctx, w, a->shape))
        return -1;
    char *copy = th_copied(ctx, a, 0), *other = b == NULL ? NULL : th_copied(ctx, b, 0);
    if (copy == NULL || (b != NULL && other == NULL))
        return -1;
    const int read = q->lower ? LOWER : UPPER;
    if (th_finite(ctx, "Eigenvalues", copy, a->dtype, n, n, read) ||
        (b != NULL && th_finite(ctx, "Eigenvalues", other, a->dtype, n, n, read)))
        return -1;
    return n > 0 && decompose_symmetric(ctx, a->dtype, q->evd, 0, (int)q->lower, copy, other, n, w->data) ? -1 : 0;
}

/* -- eigenvalues of any matrix ----------------------------------------------------------------------------- */

typedef void (*geev)(const char *, const char *, const integer *, void *, const integer *, void *, void *, void *,
                     const integer *, void *, const integer *, void *, const integer *, integer *, size_t, size_t);
typedef void (*complex_geev)(const char *, const char *, const integer *, void *, const integer *, void *, void *,
                             const integer *, void *, const integer *, void *, const integer *, void *, integer *, size_t, size_t);

static int has_imaginary(const char *wi, int32_t dtype, int64_t n)
{
    for (int64_t i = 0; i < n; ++i)
        if (is_single(dtype) ? ((const float *)wi)[i] != 0 : ((const double *)wi)[i] != 0)
            return 1;
    return 0;
}

TH_EXPORT int th_kernel_eig(th_ctx *ctx)
{
    const lapack_params *p = ctx->params;
    const th_eig_params *q = ctx->params;
    const th_buffer *a = ctx->in[0];
    th_buffer *w = ctx->out[0], *v = ctx->out[1];
    if (th_square(ctx, a) || ctx->rt->ensure(ctx, w, a->shape) || ctx->rt->ensure(ctx, v, a->shape))
        return -1;
    const int64_t n = a->shape[0], size = a->itemsize, capacity = 70 * n;
    if (n == 0)
        return 0;
    char *copy = th_copied(ctx, a, 1), *other = scratch_for(ctx, 2 * n, size), *vectors = scratch_for(ctx, n * n, size);
    void *work = scratch_for(ctx, capacity, size);
    if (copy == NULL || other == NULL || vectors == NULL || work == NULL ||
        th_finite(ctx, "Eigenvalues", copy, a->dtype, n, n, WHOLE))
        return -1;
    integer rows = integer_of(p, n), lwork = integer_of(p, capacity), one = integer_of(p, 1), info = {0};
    if (is_complex(a->dtype))
        ROUTINE(q, geev, complex_geev)("N", "V", &rows, copy, &rows, w->data, NULL, &one, vectors, &rows, work, &lwork, other, &info, 1, 1);
    else
        ROUTINE(q, geev, geev)("N", "V", &rows, copy, &rows, w->data, other, NULL, &one, vectors, &rows, work, &lwork, &info, 1, 1);
    if (value_of(p, info) != 0)
        return TH_FAIL(ctx, TH_ERR_LINALG, "Eigenvalues did not converge: is there NaN or infinity in the matrix?");
    if (!is_complex(a->dtype) && has_imaginary(other, a->dtype, n))
        return TH_FAIL(ctx, TH_ERR_LINALG, "the matrix has complex eigenvalues, but the type says real numbers: cast the "
                       "matrix to complex128, or use eigh if it is symmetric");
    th_turn(ctx, v->data, vectors, n, n, size);
    return 0;
}

/* -- singular values --------------------------------------------------------------------------------------- */

typedef void (*gesdd)(const char *, const integer *, const integer *, void *, const integer *, void *, void *, const integer *,
                      void *, const integer *, void *, const integer *, void *, integer *, size_t);
typedef void (*complex_gesdd)(const char *, const integer *, const integer *, void *, const integer *, void *, void *,
                              const integer *, void *, const integer *, void *, const integer *, void *, void *, integer *, size_t);

/* The transposed matrix V S U' of a copy of an m x n matrix in C order: V' and U are right in C order again. */
static int decompose_singular(th_ctx *ctx, const th_buffer *a, const void *address, const char *job, void *s, void *u, void *vt)
{
    const lapack_params *p = ctx->params;
    const int64_t m = a->shape[0], n = a->shape[1], k = least(m, n), widest = m > n ? m : n, size = a->itemsize;
    const int paired = is_complex(a->dtype);
    const int64_t reals = paired ? k * (5 * k + 7) + 2 * widest * k + 2 * k * k + k : 0;
    char *copy = th_copied(ctx, a, 0);
    void *iwork = scratch_for(ctx, 8 * k, sizeof(int64_t)), *rwork = scratch_for(ctx, reals, real_size(a->dtype));
    double number[2] = {0, 0};
    void *work = number;
    if (copy == NULL || iwork == NULL || rwork == NULL || th_finite(ctx, "SVD", copy, a->dtype, m, n, WHOLE))
        return -1;
    integer rows = integer_of(p, n), cols = integer_of(p, m), lwork = integer_of(p, -1), info = {0},
            of_u = integer_of(p, *job == 'S' ? k : m);
    for (int asking = 1; asking >= 0; --asking) {
        if (paired)
            ((complex_gesdd)(intptr_t)address)(job, &rows, &cols, copy, &rows, s, vt, &rows, u, &of_u, work, &lwork, rwork, iwork, &info, 1);
        else
            ((gesdd)(intptr_t)address)(job, &rows, &cols, copy, &rows, s, vt, &rows, u, &of_u, work, &lwork, iwork, &info, 1);
        if (asking) {
            const int64_t capacity = asked(work, a->dtype) + 1;
            work = scratch_for(ctx, capacity, size);
            lwork = integer_of(p, capacity);
            if (work == NULL)
                return -1;
        }
    }
    if (value_of(p, info) != 0)
        return TH_FAIL(ctx, TH_ERR_LINALG, "SVD did not converge: is there NaN or infinity in the matrix?");
    return 0;
}

typedef void (*gebrd)(const integer *, const integer *, void *, const integer *, void *, void *, void *, void *, void *,
                      const integer *, integer *);
typedef void (*bdsdc)(const char *, const char *, const integer *, void *, void *, void *, const integer *, void *,
                      const integer *, void *, void *, void *, void *, integer *, size_t, size_t);

/* Real matrices that are about square: LAPACK makes two diagonals and solves those, our own product brings the vectors
 * back. The matrix, or its transpose if that is the taller one, has `m` rows and `n` columns. 1 if this is nothing for it. */
static int svd_in_parts(th_ctx *ctx, const th_buffer *a, th_buffer *u, th_buffer *s, th_buffer *vt, int full)
{
    const lapack_params *p = ctx->params;
    const th_svd_params *q = ctx->params;
    const int tall = a->shape[0] >= a->shape[1];
    const int64_t m = a->shape[!tall], n = a->shape[tall], size = a->itemsize, capacity = 64 * (m + n) + 3 * n * n + 4 * n;
    const int64_t columns = full ? m : n;
    char *copy = th_copied(ctx, a, tall), *left = scratch_for(ctx, m * columns, size), *right = scratch_for(ctx, n * n, size),
         *small = scratch_for(ctx, n * n, size), *e = scratch_for(ctx, 3 * n, size);
    void *work = scratch_for(ctx, capacity, size), *iwork = scratch_for(ctx, 8 * n, sizeof(int64_t));
    if (copy == NULL || left == NULL || right == NULL || small == NULL || e == NULL || work == NULL || iwork == NULL)
        return -1;
    if (th_finite(ctx, "SVD", copy, a->dtype, m * n, 1, WHOLE))
        return -1;
    if (is_extreme(copy, a->dtype, m * n))
        return 1;
    char *left_scales = e + n * size, *right_scales = left_scales + n * size;
    integer rows = integer_of(p, m), cols = integer_of(p, n), lwork = integer_of(p, capacity), info = {0};
    ROUTINE(q, gebrd, gebrd)(&rows, &cols, copy, &rows, s->data, e, left_scales, right_scales, work, &lwork, &info);
    ROUTINE(q, bdsdc, bdsdc)("U", "I", &cols, s->data, e, small, &cols, right, &cols, NULL, NULL, work, iwork, &info, 1, 1);
    if (value_of(p, info) != 0)
        return 1;
    /* On the left: below the diagonal are reflections; the rest of the product is that of an identity. */
    memset(left, 0, (size_t)(m * columns * size));
    for (int64_t j = 0; j < n; ++j)
        memcpy(left + j * m * size, small + j * n * size, (size_t)(n * size));
    for (int64_t j = n; j < columns; ++j) {
        if (is_single(a->dtype))
            *(float *)(left + (j * m + j) * size) = 1;
        else
            *(double *)(left + (j * m + j) * size) = 1;
    }
    if (OURS(a, th_reflect, ctx, p->threads, (matrix){copy, m, n, size, m * size}, left_scales, (matrix){left, m, columns, size, m * size}))
        return -1;
    /* On the right they are rows, from the second column on. */
    ctx->rt->move(small, size, (n - 1) * size, copy + m * size, m * size, size, n - 1, n - 1, size);
    if (OURS(a, th_reflect, ctx, p->threads, (matrix){small, n - 1, n - 1, size, (n - 1) * size}, right_scales,
             (matrix){right + n * size, n - 1, n, n * size, size}))
        return -1;
    if (tall) {
        th_turn(ctx, u->data, left, columns, m, size);
        th_turn(ctx, vt->data, right, n, n, size);
    } else {
        memcpy(u->data, right, (size_t)(n * n * size));
        memcpy(vt->data, left, (size_t)(m * columns * size));
    }
    return 0;
}

enum { WORTH_PARTS = TH_SVD_WORTH_PARTS };

TH_EXPORT int th_kernel_svd(th_ctx *ctx)
{
    const lapack_params *p = ctx->params;
    const th_svd_params *q = ctx->params;
    const th_buffer *a = ctx->in[0];
    const int full = (int)q->full, vectors = (int)q->vectors;
    const int64_t m = a->shape[0], n = a->shape[1], k = least(m, n), size = a->itemsize;
    th_buffer *s = ctx->out[vectors ? 1 : 0], *u = ctx->out[0], *vt = ctx->out[vectors ? 2 : 0];
    const int64_t u_shape[2] = {m, full ? m : k}, v_shape[2] = {full ? n : k, n};
    if (ctx->rt->ensure(ctx, s, &k) || (vectors && (ctx->rt->ensure(ctx, u, u_shape) || ctx->rt->ensure(ctx, vt, v_shape))))
        return -1;
    if (k == 0) {
        if (vectors) {
            set_identity(u->data, u_shape[0], u_shape[1], size, a->dtype);
            set_identity(vt->data, v_shape[0], v_shape[1], size, a->dtype);
        }
        return 0;
    }
    const int64_t longest = m > n ? m : n;
    if (vectors && k >= WORTH_PARTS && longest <= k + k / 2 && is_ours(p, a, longest)) {
        const int failed = svd_in_parts(ctx, a, u, s, vt, full);
        if (failed <= 0)
            return failed;
    }
    return decompose_singular(ctx, a, q->gesdd, !vectors ? "N" : full ? "A" : "S", s->data, vectors ? u->data : NULL,
                              vectors ? vt->data : NULL);
}

/* The product of the singular vectors, V (whose conjugate transpose is `vt`) times U', into a packed matrix. */
static int join_singular(th_ctx *ctx, th_buffer *out, char *vt, char *u, int64_t n, int64_t k, int64_t m)
{
    const lapack_params *p = ctx->params;
    const int64_t size = out->itemsize, single = is_single(out->dtype), half = size / 2;
    const matrix left = {vt, n, k, size, n * size}, right = {u, k, m, size, k * size}, to = plain_matrix(out->data, n, m, size);
    if (!is_complex(out->dtype))
        return OURS(out, th_gemm, ctx, p->threads, NULL, left, right, NULL, to, to);
    /* Four products of real matrices, conjugated: Re = Vr Ur - Vi Ui, Im = -Vr Ui - Vi Ur. */
    for (int i = 0; i < 4; ++i) {
        const int of_v = i & 1, imaginary = i >> 1, of_u = of_v ^ imaginary;
        const matrix a = {left.data + of_v * half, n, k, left.row, left.col}, b = {right.data + of_u * half, k, m, right.row, right.col};
        const matrix c = {to.data + imaginary * half, n, m, to.row, to.col};
        const double sign = i == 0 ? 1 : -1, one = 1;
        const float single_sign = (float)sign, single_one = 1;
        if (single ? th_gemm_f32(ctx, p->threads, &single_sign, a, b, of_v ? &single_one : NULL, c, c)
                   : th_gemm_f64(ctx, p->threads, &sign, a, b, of_v ? &one : NULL, c, c))
            return -1;
    }
    return 0;
}

/* V S^-1 U', without the singular values that are too small. */
TH_EXPORT int th_kernel_pinv(th_ctx *ctx)
{
    const th_pinv_params *q = ctx->params;
    const th_buffer *a = ctx->in[0];
    th_buffer *out = ctx->out[0];
    const int64_t m = a->shape[0], n = a->shape[1], k = least(m, n), size = a->itemsize, shape[2] = {n, m};
    if (ctx->rt->ensure(ctx, out, shape))
        return -1;
    if (k == 0)
        return 0;
    char *u = scratch_for(ctx, m * k, size), *vt = scratch_for(ctx, k * n, size), *s = scratch_for(ctx, k, size);
    if (u == NULL || vt == NULL || s == NULL || decompose_singular(ctx, a, q->gesdd, "S", s, u, vt))
        return -1;
    const int single = is_single(a->dtype);
    const int64_t wide = is_complex(a->dtype) ? 2 * n : n;
    const double largest = single ? *(float *)s : *(double *)s;
    for (int64_t i = 0; i < k; ++i) {
        const double value = single ? ((float *)s)[i] : ((double *)s)[i], factor = value > 1e-15 * largest ? 1 / value : 0;
        for (int64_t j = 0; j < wide; ++j)
            if (single)
                ((float *)vt)[i * wide + j] *= (float)factor;
            else
                ((double *)vt)[i * wide + j] *= factor;
    }
    return join_singular(ctx, out, vt, u, n, k, m);
}

/* -- least squares ----------------------------------------------------------------------------------------- */

typedef void (*gelsd)(const integer *, const integer *, const integer *, void *, const integer *, void *, const integer *,
                      void *, const void *, integer *, void *, const integer *, void *, integer *);
typedef void (*complex_gelsd)(const integer *, const integer *, const integer *, void *, const integer *, void *,
                              const integer *, void *, const void *, integer *, void *, const integer *, void *, void *, integer *);

/* The solution in place of `b`, which has max(m, n) rows, one column after the other; the rank, or -1. */
static int64_t solve_squares(th_ctx *ctx, const th_buffer *a, char *b, int64_t columns, void *s, double cut)
{
    const lapack_params *p = ctx->params;
    const th_lstsq_params *q = ctx->params;
    const int64_t m = a->shape[0], n = a->shape[1], longest = m > n ? m : n, size = a->itemsize;
    const float single_cut = (float)cut;
    const void *rcond = is_single(a->dtype) ? (const void *)&single_cut : (const void *)&cut;
    char *copy = th_copied(ctx, a, 1);
    double number[2] = {0, 0}, reals[2] = {0, 0};
    int64_t whole[2] = {0, 0};
    void *work = number, *rwork = reals, *iwork = whole;
    integer rows = integer_of(p, m), cols = integer_of(p, n), nrhs = integer_of(p, columns), of_b = integer_of(p, longest),
            rank = {0}, lwork = integer_of(p, -1), info = {0};
    if (copy == NULL || th_finite(ctx, "SVD", copy, a->dtype, m * n, 1, WHOLE))
        return -1;
    for (int asking = 1; asking >= 0; --asking) {
        if (is_complex(a->dtype))
            ROUTINE(q, gelsd, complex_gelsd)(&rows, &cols, &nrhs, copy, &rows, b, &of_b, s, rcond, &rank, work, &lwork, rwork, iwork, &info);
        else
            ROUTINE(q, gelsd, gelsd)(&rows, &cols, &nrhs, copy, &rows, b, &of_b, s, rcond, &rank, work, &lwork, iwork, &info);
        if (asking) {
            const int64_t capacity = asked(number, a->dtype) + 1;
            rwork = scratch_for(ctx, asked(reals, a->dtype) + 1, real_size(a->dtype));
            iwork = scratch_for(ctx, (p->wide ? whole[0] : *(int32_t *)whole) + 1, sizeof(int64_t));
            work = scratch_for(ctx, capacity, size);
            lwork = integer_of(p, capacity);
            if (work == NULL || rwork == NULL || iwork == NULL)
                return -1;
        }
    }
    if (value_of(p, info) != 0)
        return TH_FAIL(ctx, TH_ERR_LINALG, "SVD did not converge in linear least squares: is there NaN or infinity in the input?");
    return value_of(p, rank);
}

static double squared(const char *at, int32_t dtype)
{
    switch (dtype) {
    case TH_FLOAT32: return (double)*(const float *)at * *(const float *)at;
    case TH_FLOAT64: return *(const double *)at * *(const double *)at;
    case TH_COMPLEX64: return (double)((const float *)at)[0] * ((const float *)at)[0] + (double)((const float *)at)[1] * ((const float *)at)[1];
    default: return ((const double *)at)[0] * ((const double *)at)[0] + ((const double *)at)[1] * ((const double *)at)[1];
    }
}

TH_EXPORT int th_kernel_lstsq(th_ctx *ctx)
{
    const th_buffer *a = ctx->in[0], *y = ctx->in[1];
    th_buffer *x = ctx->out[0], *residuals = ctx->out[1], *rank_out = ctx->out[2], *s = ctx->out[3];
    const int64_t m = a->shape[0], n = a->shape[1], k = least(m, n), longest = m > n ? m : n, size = a->itemsize;
    const int64_t columns = y->ndim == 2 ? y->shape[1] : 1, x_shape[2] = {n, columns}, none = 0;
    const int64_t capacity = columns > 0 ? columns : 1; /* (rank and singular values are wanted without a right-hand side too) */
    if (y->shape[0] != m) /* (NumPy's class of error here, as for the other ops that are NumPy's functions) */
        return TH_FAIL(ctx, TH_ERR_LINALG, "Incompatible dimensions: %lld rows of a against %lld of b: both must have as many", (long long)m, (long long)y->shape[0]);
    if (ctx->rt->ensure(ctx, x, x_shape) || ctx->rt->ensure(ctx, s, &k) || ctx->rt->ensure(ctx, rank_out, NULL))
        return -1;
    char *given = th_copied(ctx, y, 1), *b = scratch_for(ctx, longest * capacity, size);
    if (given == NULL || b == NULL)
        return -1;
    memset(b, 0, (size_t)(longest * capacity * size));
    for (int64_t j = 0; j < columns; ++j)
        memcpy(b + j * longest * size, given + j * m * size, (size_t)(m * size));
    const int64_t rank = k == 0 ? 0 : solve_squares(ctx, a, b, capacity, s->data, th_real(ctx->in[2]));
    if (rank < 0)
        return -1;
    *(int64_t *)rank_out->data = rank;
    if (columns > 0 && n > 0)
        ctx->rt->move(x->data, columns * size, size, b, size, longest * size, n, columns, size);
    const int certain = rank == n && m > n;
    if (ctx->rt->ensure(ctx, residuals, certain ? &columns : &none))
        return -1;
    for (int64_t j = 0; certain && j < columns; ++j) {
        double sum = 0;
        for (int64_t i = n; i < m; ++i)
            sum += squared(b + (j * longest + i) * size, a->dtype);
        if (is_single(residuals->dtype))
            ((float *)residuals->data)[j] = (float)sum;
        else
            ((double *)residuals->data)[j] = sum;
    }
    return 0;
}
