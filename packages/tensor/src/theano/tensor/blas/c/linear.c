/* Products of vectors and matrices: our own (gemm.h) or those of a BLAS, as the parameters say; plain loops for what
 * neither knows.
 *
 * Every product here is C = alpha A B + beta C on strided matrices. BLAS wants one stride of each matrix to be 1 and
 * the other positive: what is not so is copied first. BLAS thinks in columns: a C-ordered matrix is, to it, the
 * transposed one, so a C-ordered result is computed as C' = B' A'.
 */
#include "gemm.h"

/* A count as BLAS reads it: some libraries have 64 bits for it, others 32. */
typedef union {
    int64_t wide;
    int32_t narrow;
} count;

typedef void (*gemm)(const char *, const char *, const count *, const count *, const count *, const void *, const void *,
                     const count *, const void *, const count *, const void *, void *, const count *, size_t, size_t);
typedef void (*gemv)(const char *, const count *, const count *, const void *, const void *, const count *, const void *,
                     const count *, const void *, void *, const count *, size_t);
typedef void (*ger)(const count *, const count *, const void *, const void *, const count *, const void *, const count *, void *,
                    const count *);
typedef float (*dot_f32)(const count *, const void *, const count *, const void *, const count *);
typedef double (*dot_f64)(const count *, const void *, const count *, const void *, const count *);

/* Numbers 0 and 1 of any element type that BLAS knows. */
typedef union {
    float f;
    double d;
    float _Complex c;
    double _Complex z;
} number;

static number number_of(int32_t dtype, double v)
{
    number r;
    memset(&r, 0, sizeof r);
    switch (dtype) {
    case TH_FLOAT32: r.f = (float)v; break;
    case TH_FLOAT64: r.d = v; break;
    case TH_COMPLEX64: r.c = (float)v; break;
    default: r.z = v; break;
    }
    return r;
}

/* -- plain loops ------------------------------------------------------------------------------------ */

/* C = beta C + alpha A B. `alpha` and `beta` are NULL for 1 and 0: integers have only these. */
#define PRODUCT(NAME, TYPE, PLUS, TIMES) \
    static void product_##NAME(matrix a, matrix b, matrix c, const void *alpha, const void *beta) \
    { \
        for (int64_t i = 0; i < c.rows; ++i) { \
            for (int64_t j = 0; j < c.cols; ++j) { \
                TYPE *p = (TYPE *)(c.data + i * c.row + j * c.col); \
                *p = beta ? (TYPE)TIMES(*(const TYPE *)beta, *p) : (TYPE)0; \
            } \
            for (int64_t k = 0; k < a.cols; ++k) { \
                TYPE v = *(const TYPE *)(a.data + i * a.row + k * a.col); \
                if (alpha) \
                    v = (TYPE)TIMES(v, *(const TYPE *)alpha); \
                const char *from = b.data + k * b.row; \
                char *to = c.data + i * c.row; \
                if (b.col == sizeof(TYPE) && c.col == sizeof(TYPE)) { \
                    TH_INDEPENDENT \
                    for (int64_t j = 0; j < c.cols; ++j) \
                        ((TYPE *)to)[j] = (TYPE)PLUS(((TYPE *)to)[j], TIMES(v, ((const TYPE *)from)[j])); \
                } else { \
                    for (int64_t j = 0; j < c.cols; ++j) { \
                        TYPE *p = (TYPE *)(to + j * c.col); \
                        *p = (TYPE)PLUS(*p, TIMES(v, *(const TYPE *)(from + j * b.col))); \
                    } \
                } \
            } \
        } \
    }
#define SUM(x, y) ((x) + (y))
#define TIMES_WIDE(x, y) ((x) * (y))
/* Short unsigned types become a signed int in C, in which a product may not fit. */
#define TIMES_SHORT(x, y) ((uint32_t)(x) * (uint32_t)(y))
#define EITHER(x, y) ((x) | (y))
#define BOTH(x, y) ((x) & (y))
PRODUCT(b1, uint8_t, EITHER, BOTH)
PRODUCT(u1, uint8_t, SUM, TIMES_SHORT)
PRODUCT(u2, uint16_t, SUM, TIMES_SHORT)
PRODUCT(u4, uint32_t, SUM, TIMES_WIDE)
PRODUCT(u8, uint64_t, SUM, TIMES_WIDE)
PRODUCT(f4, float, SUM, TIMES_WIDE)
PRODUCT(f8, double, SUM, TIMES_WIDE)
PRODUCT(c8, float _Complex, SUM, TIMES_WIDE)
PRODUCT(c16, double _Complex, SUM, TIMES_WIDE)

typedef void (*product)(matrix, matrix, matrix, const void *, const void *);
static const product products[TH_NDTYPES] = {
    [TH_BOOL] = product_b1, [TH_INT8] = product_u1, [TH_UINT8] = product_u1, [TH_INT16] = product_u2,
    [TH_UINT16] = product_u2, [TH_INT32] = product_u4, [TH_UINT32] = product_u4, [TH_INT64] = product_u8,
    [TH_UINT64] = product_u8, [TH_FLOAT32] = product_f4, [TH_FLOAT64] = product_f8, [TH_COMPLEX64] = product_c8,
    [TH_COMPLEX128] = product_c16};

/* -- BLAS ------------------------------------------------------------------------------------------- */

/* Whether the columns of a row are neighbours, and `ld`, which becomes the distance of rows in elements, is one that every
 * BLAS can count. */
static int by_rows(const matrix *m, int64_t size, int64_t *ld)
{
    if (m->cols > 1 && m->col != size)
        return 0;
    if (m->rows <= 1) {
        *ld = m->cols > 0 ? m->cols : 1;
        return 1;
    }
    *ld = m->row / size;
    return m->row > 0 && m->row % size == 0 && *ld >= m->cols && *ld < INT32_MAX;
}

static void window_on(th_window *w, const matrix *m, int32_t dtype, int64_t size)
{
    w->data = m->data;
    w->nd = 2;
    w->dtype = dtype;
    w->itemsize = size;
    w->device = NULL;
    w->shape[0] = m->rows;
    w->shape[1] = m->cols;
    w->strides[0] = m->row;
    w->strides[1] = m->col;
}

/* A C-ordered copy in memory of the call. */
static int packed(th_ctx *ctx, matrix *m, int32_t dtype, int64_t size)
{
    const matrix copy = {ctx->rt->scratch(ctx, (size_t)(m->rows * m->cols * size)), m->rows, m->cols, m->cols * size, size};
    if (copy.data == NULL)
        return -1;
    th_window from, to;
    window_on(&from, m, dtype, size);
    window_on(&to, &copy, dtype, size);
    th_copy(ctx, &to, &from);
    *m = copy;
    return 0;
}

/* 'N' if BLAS sees the transposed matrix (C order), 'T' if it sees it as it is; copies what it cannot see at all. */
static int order_of(th_ctx *ctx, matrix *m, int32_t dtype, int64_t size, char *order, int64_t *ld)
{
    const matrix t = turned(*m);
    *order = 'N';
    if (by_rows(m, size, ld))
        return 0;
    *order = 'T';
    if (by_rows(&t, size, ld))
        return 0;
    *order = 'N';
    return packed(ctx, m, dtype, size) ? -1 : !by_rows(m, size, ld);
}

static int fits(int64_t wide, int64_t a, int64_t b, int64_t c)
{
    return wide || (a < INT32_MAX && b < INT32_MAX && c < INT32_MAX);
}

static count count_of(const blas_params *p, int64_t n) { return p->wide ? (count){.wide = n} : (count){.narrow = (int32_t)n}; }

/* A vector as BLAS wants it: a positive stride. */
static int vector_of(th_ctx *ctx, char **data, int64_t n, int64_t *step, int32_t dtype, int64_t size)
{
    if (n <= 1)
        *step = size;
    if (*step > 0 && *step % size == 0 && *step / size < INT32_MAX)
        return 0;
    matrix m = {*data, 1, n, 0, *step};
    if (packed(ctx, &m, dtype, size))
        return -1;
    *data = m.data;
    *step = size;
    return 0;
}

/* Whether our own routines compute a product of these lengths. */
static int is_own(const blas_params *p, int32_t dtype, int64_t m, int64_t n, int64_t k)
{
    const th_tuning *tuning = p->tuning;
    if (dtype != TH_FLOAT32 && dtype != TH_FLOAT64)
        return 0;
    const int64_t up_to = tuning == NULL ? p->own : dtype == TH_FLOAT32 ? tuning->own_float32 : tuning->own_float64;
    return (double)m * (double)n * (double)k <= (double)up_to;
}

/* Whether the library computes a product of these lengths, though `is_own` speaks for ours: libraries have kernels for
 * small matrices. They are measured with square ones: a product may take up to 4 times as many multiplications as that of
 * square matrices with its shortest length. */
static int is_small_of_library(const blas_params *p, int32_t dtype, int64_t m, int64_t n, int64_t k)
{
    const th_tuning *tuning = p->tuning;
    if (tuning == NULL || p->gemm == 0)
        return 0;
    const int is_single = dtype == TH_FLOAT32;
    const int64_t up_to = is_single ? tuning->small_up_to_float32 : tuning->small_up_to_float64;
    const int64_t above = is_single ? tuning->small_above_float32 : tuning->small_above_float64;
    const double work = (double)m * (double)n * (double)k;
    const int64_t least = m < n ? (m < k ? m : k) : (n < k ? n : k);
    return work > (double)above && work <= (double)up_to && work <= 4.0 * (double)(least * least * least);
}

/* What one of our routines gives for float or double. */
#define OWN(NAME, DTYPE, ...) ((DTYPE) == TH_FLOAT32 ? NAME##_f32(__VA_ARGS__) : NAME##_f64(__VA_ARGS__))

static int own_multiply(th_ctx *ctx, int64_t threads, int32_t dtype, const void *alpha, matrix a, matrix b,
                        const void *beta, matrix z, matrix c)
{
    return OWN(th_gemm, dtype, ctx, threads, alpha, a, b, beta, z, c);
}

/* `to` becomes what `from` is, unless it is the same. */
static void start_as(th_ctx *ctx, matrix to, matrix from, int32_t dtype, int64_t size)
{
    if (to.data == from.data)
        return;
    th_window source, target;
    window_on(&source, &from, dtype, size);
    window_on(&target, &to, dtype, size);
    th_copy(ctx, &target, &source);
}

/* y = alpha A x + beta z, of vectors as matrices with one column */
static int apply(th_ctx *ctx, const blas_params *p, int32_t dtype, int64_t size, const void *alpha, matrix a, matrix x,
                 const void *beta, matrix z, matrix y)
{
    if (is_own(p, dtype, a.rows, a.cols, 1)) {
        const int done = OWN(th_gemv, dtype, ctx, p->threads, alpha, a, x.data, x.row, beta, z.data, z.row, y.data, y.row);
        return done == 1 ? own_multiply(ctx, p->threads, dtype, alpha, a, x, beta, z, y) : done;
    }
    if (beta)
        start_as(ctx, y, z, dtype, size);
    if (p->gemv == 0 || a.rows == 0 || a.cols == 0 || !fits(p->wide, a.rows, a.cols, 0) ||
        (a.rows > 1 && (y.row <= 0 || y.row % size || y.row / size >= INT32_MAX))) {
        products[dtype](a, x, y, alpha, beta);
        return 0;
    }
    const number one = number_of(dtype, 1.0), zero = number_of(dtype, 0.0);
    char order;
    int64_t ld;
    if (order_of(ctx, &a, dtype, size, &order, &ld) || vector_of(ctx, &x.data, a.cols, &x.row, dtype, size))
        return -1;
    /* BLAS sees the transposed of a C-ordered matrix. */
    const char trans = order == 'N' ? 'T' : 'N';
    const count m = count_of(p, order == 'N' ? a.cols : a.rows), n = count_of(p, order == 'N' ? a.rows : a.cols);
    const count next = count_of(p, ld), dx = count_of(p, x.row / size), dy = count_of(p, a.rows == 1 ? 1 : y.row / size);
    ((gemv)(intptr_t)p->gemv)(&trans, &m, &n, alpha ? alpha : &one, a.data, &next, x.data, &dx, beta ? beta : &zero, y.data, &dy, 1);
    return 0;
}

/* C = beta Z + alpha x y', of a column and a row. */
static int own_add_outer(th_ctx *ctx, const blas_params *p, int32_t dtype, int64_t size, const void *alpha, matrix x,
                         matrix y, const void *beta, matrix z, matrix c)
{
    if (c.row == size && c.col != size)
        return own_add_outer(ctx, p, dtype, size, alpha, turned(y), turned(x), beta, turned(z), turned(c));
    const int done = OWN(th_ger, dtype, ctx, p->threads, alpha, x.data, x.row, y.data, y.col, beta, z, c);
    return done == 1 ? own_multiply(ctx, p->threads, dtype, alpha, x, y, beta, z, c) : done;
}

/* C = alpha A B + beta Z */
static int multiply(th_ctx *ctx, const blas_params *p, int32_t dtype, int64_t size, const void *alpha, matrix a, matrix b,
                    const void *beta, matrix z, matrix c)
{
    if (c.rows == 0 || c.cols == 0)
        return 0;
    if (c.cols == 1)
        return apply(ctx, p, dtype, size, alpha, a, b, beta, z, c);
    if (c.rows == 1)
        return apply(ctx, p, dtype, size, alpha, turned(b), turned(a), beta, turned(z), turned(c));
    /* Of a matrix and its own transpose half is computed. */
    const int halved = is_own_transpose(a, b);
    if (is_own(p, dtype, c.rows, c.cols, halved ? (a.cols + 1) / 2 : a.cols) &&
        (halved || !is_small_of_library(p, dtype, c.rows, c.cols, a.cols)))
        return a.cols == 1 ? own_add_outer(ctx, p, dtype, size, alpha, a, b, beta, z, c)
                           : own_multiply(ctx, p->threads, dtype, alpha, a, b, beta, z, c);
    if (beta)
        start_as(ctx, c, z, dtype, size);
    if (p->gemm == 0 || a.cols == 0 || !fits(p->wide, c.rows, c.cols, a.cols)) {
        products[dtype](a, b, c, alpha, beta);
        return 0;
    }
    int64_t lda, ldb, ldc;
    if (!by_rows(&c, size, &ldc)) {
        const matrix t = turned(c);
        if (by_rows(&t, size, &ldc))
            return multiply(ctx, p, dtype, size, alpha, turned(b), turned(a), beta, t, t);
        matrix whole = c;
        if (packed(ctx, &whole, dtype, size) || multiply(ctx, p, dtype, size, alpha, a, b, beta, whole, whole))
            return -1;
        start_as(ctx, c, whole, dtype, size);
        return 0;
    }
    const number one = number_of(dtype, 1.0), zero = number_of(dtype, 0.0);
    char order_a, order_b;
    if (order_of(ctx, &a, dtype, size, &order_a, &lda) || order_of(ctx, &b, dtype, size, &order_b, &ldb))
        return -1;
    const count n = count_of(p, c.cols), m = count_of(p, c.rows), k = count_of(p, a.cols);
    const count next_a = count_of(p, lda), next_b = count_of(p, ldb), next_c = count_of(p, ldc);
    ((gemm)(intptr_t)p->gemm)(&order_b, &order_a, &n, &m, &k, alpha ? alpha : &one, b.data, &next_b, a.data, &next_a,
                              beta ? beta : &zero, c.data, &next_c, 1, 1);
    return 0;
}

/* The sum of x[i] y[i], in the 16 bytes at `out`. */
static int inner(th_ctx *ctx, const blas_params *p, int32_t dtype, int64_t size, int64_t n, char *x, int64_t x_step,
                 char *y, int64_t y_step, char *out)
{
    const matrix row = {x, 1, n, n * size, x_step}, column = {y, n, 1, y_step, size}, sum = {out, 1, 1, size, size};
    if (p->dot == 0 || n == 0 || !fits(p->wide, n, 0, 0) || is_own(p, dtype, n, 1, 1) ||
        (dtype != TH_FLOAT32 && dtype != TH_FLOAT64))
        return apply(ctx, p, dtype, size, NULL, row, column, NULL, sum, sum);
    if (vector_of(ctx, &x, n, &x_step, dtype, size) || vector_of(ctx, &y, n, &y_step, dtype, size))
        return -1;
    const count terms = count_of(p, n), dx = count_of(p, x_step / size), dy = count_of(p, y_step / size);
    if (dtype == TH_FLOAT32)
        *(float *)out = ((dot_f32)(intptr_t)p->dot)(&terms, x, &dx, y, &dy);
    else
        *(double *)out = ((dot_f64)(intptr_t)p->dot)(&terms, x, &dx, y, &dy);
    return 0;
}

/* -- kernels ---------------------------------------------------------------------------------------- */

/* A vector is a column. */
static matrix matrix_of(const th_buffer *b)
{
    if (b->ndim == 1)
        return (matrix){b->data, b->shape[0], 1, b->strides[0], b->itemsize};
    return (matrix){b->data, b->shape[0], b->shape[1], b->strides[0], b->strides[1]};
}

/* y = alpha x A + beta z, of a row x, step by step of `x_step` bytes, and columns of A and y that are neighbours: 0, or 1 with
 * nothing done. */
static int short_row(const blas_params *p, const th_buffer *out, const void *alpha, const char *x, int64_t x_step, int64_t terms,
                     const char *a, int64_t next, int64_t n, const void *beta, const char *z, int64_t z_step)
{
    if (!is_own(p, out->dtype, terms, n, 1))
        return 1;
    return OWN(th_short_row, out->dtype, alpha, x, x_step, terms, a, next, n, beta, z, z_step, out->data);
}

/* Whether the elements along the last axis are neighbours. */
static int ends_packed(const th_buffer *b) { return b->strides[b->ndim - 1] == b->itemsize; }

static int disagree(th_ctx *ctx, const char *what, const th_buffer *x, const th_buffer *y, int64_t left, int64_t right)
{
    th_text a, b;
    return TH_FAIL(ctx, TH_ERR_SHAPE, "%s: shapes %s and %s do not fit together: %lld against %lld", what,
                   th_shape_text(a, x->ndim, x->shape), th_shape_text(b, y->ndim, y->shape), (long long)left,
                   (long long)right);
}

/* inputs: x, y (1 or 2 axes each), and a number to multiply with if there is a third. */
TH_EXPORT int th_kernel_dot(th_ctx *ctx)
{
    const blas_params *p = ctx->params;
    const th_buffer *x = ctx->in[0], *y = ctx->in[1];
    th_buffer *z = ctx->out[0];
    const void *alpha = ctx->nin > 2 ? ctx->in[2]->data : NULL;
    const int64_t k = x->shape[x->ndim - 1], size = z->itemsize;
    if (k != y->shape[0])
        return disagree(ctx, "dot", x, y, k, y->shape[0]);
    const int64_t shape[2] = {x->ndim == 2 ? x->shape[0] : y->ndim == 2 ? y->shape[1] : 1, y->ndim == 2 ? y->shape[1] : 1};
    if (ctx->rt->ensure(ctx, z, shape))
        return -1;
    if (x->ndim == 1 && y->ndim == 1)
        return inner(ctx, p, z->dtype, size, k, x->data, x->strides[0], y->data, y->strides[0], z->data);
    if (y->ndim == 2 && (x->ndim == 1 || shape[0] == 1) && ends_packed(y) &&
        short_row(p, z, alpha, x->data, x->strides[x->ndim - 1], k, y->data, y->strides[0], y->shape[1], NULL, z->data, size) == 0)
        return 0;
    const matrix c = matrix_of(z), a = matrix_of(x), b = matrix_of(y);
    if (x->ndim == 1)
        return shape[0] == 0 ? 0 : apply(ctx, p, z->dtype, size, alpha, turned(b), a, NULL, c, c);
    if (y->ndim == 1)
        return shape[0] == 0 ? 0 : apply(ctx, p, z->dtype, size, alpha, a, b, NULL, c, c);
    return multiply(ctx, p, z->dtype, size, alpha, a, b, NULL, c, c);
}

/* Makes space for an output that is the first input with something added: that input itself, or a new one. */
static int room_for_sum(th_ctx *ctx, int64_t in_place)
{
    const th_buffer *z = ctx->in[0];
    th_buffer *out = ctx->out[0];
    return in_place ? ctx->rt->view(ctx, out, z, z->data, z->ndim, z->shape, z->strides) : ctx->rt->ensure(ctx, out, z->shape);
}

static int result_mismatch(th_ctx *ctx, const char *what, const th_buffer *z, int nd, const int64_t *shape)
{
    th_text a, b;
    return TH_FAIL(ctx, TH_ERR_SHAPE, "%s: a product of shape %s cannot be added to shape %s", what,
                   th_shape_text(a, nd, shape), th_shape_text(b, z->ndim, z->shape));
}

/* Whether a number of a BLAS element type is 0: then what it multiplies is not read, nan or not. */
static int is_zero(const th_buffer *b)
{
    number v;
    memset(&v, 0, sizeof v);
    memcpy(&v, b->data, (size_t)b->itemsize);
    switch (b->dtype) {
    case TH_FLOAT32: return v.f == 0;
    case TH_FLOAT64: return v.d == 0;
    case TH_COMPLEX64: return v.c == 0;
    default: return v.z == 0;
    }
}

/* What BLAS cannot see is copied, before an output is asked for: an update of a shared variable in its place must not
 * fail for want of memory once it has begun to write. */
static int readable(th_ctx *ctx, const blas_params *p, matrix *m, int32_t dtype, int64_t size)
{
    char order;
    int64_t ld;
    return p->gemm == 0 || m->rows == 0 || m->cols == 0 ? 0 : order_of(ctx, m, dtype, size, &order, &ld);
}

/* inputs: z, a, x, y, b; the result is b z + a x y. */
TH_EXPORT int th_kernel_gemm(th_ctx *ctx)
{
    const blas_params *p = ctx->params;
    const th_buffer *z = ctx->in[0], *x = ctx->in[2], *y = ctx->in[3], *b = ctx->in[4];
    th_buffer *out = ctx->out[0];
    if (x->shape[1] != y->shape[0])
        return disagree(ctx, "gemm", x, y, x->shape[1], y->shape[0]);
    const int64_t shape[2] = {x->shape[0], y->shape[1]};
    if (z->shape[0] != shape[0] || z->shape[1] != shape[1])
        return result_mismatch(ctx, "gemm", z, 2, shape);
    const void *beta = is_zero(b) ? NULL : b->data;
    matrix left = matrix_of(x), right = matrix_of(y);
    if (!is_own(p, out->dtype, shape[0], shape[1], x->shape[1]) &&
        (readable(ctx, p, &left, out->dtype, out->itemsize) || readable(ctx, p, &right, out->dtype, out->itemsize)))
        return -1;
    if (room_for_sum(ctx, p->in_place))
        return -1;
    if (shape[0] == 1 && ends_packed(y) && ends_packed(out) &&
        short_row(p, out, ctx->in[1]->data, x->data, x->strides[1], x->shape[1], y->data, y->strides[0], shape[1], beta, z->data,
                  z->strides[1]) == 0)
        return 0;
    return multiply(ctx, p, out->dtype, out->itemsize, ctx->in[1]->data, left, right, beta, matrix_of(z), matrix_of(out));
}

/* inputs: y, alpha, A, x, beta; the result is beta y + alpha A x. */
TH_EXPORT int th_kernel_gemv(th_ctx *ctx)
{
    const blas_params *p = ctx->params;
    const th_buffer *y = ctx->in[0], *a = ctx->in[2], *x = ctx->in[3], *b = ctx->in[4];
    th_buffer *out = ctx->out[0];
    if (a->shape[1] != x->shape[0])
        return disagree(ctx, "gemv", a, x, a->shape[1], x->shape[0]);
    if (y->shape[0] != a->shape[0])
        return result_mismatch(ctx, "gemv", y, 1, a->shape);
    const void *beta = is_zero(b) ? NULL : b->data;
    if (room_for_sum(ctx, p->in_place))
        return -1;
    if (a->shape[0] == 0)
        return 0;
    if (a->strides[0] == a->itemsize && ends_packed(out) &&
        short_row(p, out, ctx->in[1]->data, x->data, x->strides[0], x->shape[0], a->data, a->strides[1], a->shape[0], beta, y->data,
                  y->strides[0]) == 0)
        return 0;
    return apply(ctx, p, out->dtype, out->itemsize, ctx->in[1]->data, matrix_of(a), matrix_of(x), beta, matrix_of(y),
                 matrix_of(out));
}

/* inputs: A, alpha, x, y; the result is A + alpha x y'. */
TH_EXPORT int th_kernel_ger(th_ctx *ctx)
{
    const blas_params *p = ctx->params;
    const th_buffer *x = ctx->in[2], *y = ctx->in[3];
    th_buffer *out = ctx->out[0];
    const int64_t shape[2] = {x->shape[0], y->shape[0]}, size = out->itemsize;
    if (ctx->in[0]->shape[0] != shape[0] || ctx->in[0]->shape[1] != shape[1])
        return result_mismatch(ctx, "ger", ctx->in[0], 2, shape);
    if (room_for_sum(ctx, p->in_place))
        return -1;
    if (shape[0] == 0 || shape[1] == 0)
        return 0;
    const void *alpha = ctx->in[1]->data;
    const number one = number_of(out->dtype, 1.0);
    matrix c = matrix_of(out);
    const matrix z = matrix_of(ctx->in[0]);
    if (is_own(p, out->dtype, c.rows, c.cols, 1))
        return own_add_outer(ctx, p, out->dtype, size, alpha, matrix_of(x), turned(matrix_of(y)), &one, z, c);
    start_as(ctx, c, z, out->dtype, size);
    char *left = y->data, *right = x->data;
    int64_t left_step = y->strides[0], right_step = x->strides[0], ld;
    if (!by_rows(&c, size, &ld)) {
        c = turned(c);
        left = x->data, right = y->data;
        left_step = x->strides[0], right_step = y->strides[0];
    }
    if (p->ger == 0 || !by_rows(&c, size, &ld) || !fits(p->wide, c.rows, c.cols, ld)) {
        products[out->dtype]((matrix){right, c.rows, 1, right_step, size}, (matrix){left, 1, c.cols, size, left_step}, c,
                             alpha, &one);
        return 0;
    }
    if (vector_of(ctx, &left, c.cols, &left_step, out->dtype, size) ||
        vector_of(ctx, &right, c.rows, &right_step, out->dtype, size))
        return -1;
    const count m = count_of(p, c.cols), n = count_of(p, c.rows), next = count_of(p, ld);
    const count dl = count_of(p, left_step / size), dr = count_of(p, right_step / size);
    ((ger)(intptr_t)p->ger)(&m, &n, alpha, left, &dl, right, &dr, c.data, &next);
    return 0;
}

#include "linear_pairs.h"
