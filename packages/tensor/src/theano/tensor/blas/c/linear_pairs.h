/* Products of many pairs of matrices; a part of linear.c, which includes it. */
#ifndef THEANO_TENSOR_LINEAR_PAIRS_H
#define THEANO_TENSOR_LINEAR_PAIRS_H

/* Pairs of matrices one after the other. */
typedef struct {
    th_ctx *ctx;
    const blas_params *p;
    int32_t dtype;
    int64_t size, a_next, b_next, c_next;
    matrix a, b, c;
    int64_t batch, parts; /* of our own products, each part with space of its own */
    char *space;
    int64_t space_bytes;
} pairs;

static void multiply_parts(void *arg, int64_t lo, int64_t hi)
{
    const pairs *j = arg;
    for (int64_t part = lo; part < hi; ++part) {
        const int64_t first = part * j->batch / j->parts, some = (part + 1) * j->batch / j->parts - first;
        char *space = j->space + part * j->space_bytes;
        matrix a = j->a, b = j->b, c = j->c;
        a.data += first * j->a_next, b.data += first * j->b_next, c.data += first * j->c_next;
        OWN(th_gemm_batch, j->dtype, space, a, b, c, j->a_next, j->b_next, j->c_next, some);
    }
}

/* Multiply the pairs by our own product, parts of them on threads. 0, or -1 with the error set. */
static int multiply_own(pairs *j)
{
    const double work = (double)j->c.rows * (double)j->c.cols * (double)j->a.cols * (double)j->batch;
    const int64_t bytes = OWN(th_gemm_space, j->dtype, j->a, j->b, j->c);
    j->parts = 1;
    if (j->p->threads != 1 && work > TH_GEMM_WORTH_THREADS) {
        const int64_t worth = (int64_t)(work / TH_GEMM_BATCH_WORK) + 1, most = j->batch < TH_GEMM_BATCH_PARTS ? j->batch : TH_GEMM_BATCH_PARTS;
        j->parts = worth < most ? worth : most;
    }
    j->space_bytes = (bytes + 63) / 64 * 64;
    if (j->space_bytes && (j->space = j->ctx->rt->scratch(j->ctx, (size_t)(j->parts * j->space_bytes))) == NULL)
        return -1;
    if (j->parts == 1) {
        multiply_parts(j, 0, 1);
        return 0;
    }
    return j->ctx->rt->parallel_for(j->ctx, j->parts, j->p->threads ? (j->parts + j->p->threads - 1) / j->p->threads : 1, multiply_parts, j);
}

/* Multiply the pairs by whatever is the way for them. 0, or -1 with the error set. */
static int multiply_pairs(pairs *j, int own)
{
    if (own && j->batch > 1 && j->c.rows > 1 && j->c.cols > 1 && j->a.cols != 1)
        return multiply_own(j);
    matrix a = j->a, b = j->b, c = j->c;
    for (int64_t i = 0; i < j->batch; ++i, a.data += j->a_next, b.data += j->b_next, c.data += j->c_next)
        if (multiply(j->ctx, j->p, j->dtype, j->size, NULL, a, b, NULL, c, c))
            return -1;
    return 0;
}

/* Matrices that BLAS cannot see would be copied once per product: the whole batch is copied at once instead. `m` is the first. */
static int readable_batch(th_ctx *ctx, const th_buffer *x, matrix *m)
{
    const int64_t size = x->itemsize, row = m->cols * size, whole = m->rows * row;
    const matrix t = turned(*m);
    int64_t ld;
    if (by_rows(m, size, &ld) || by_rows(&t, size, &ld))
        return 0;
    th_window from, to;
    th_window_of(&from, x);
    th_window_of(&to, x);
    to.data = ctx->rt->scratch(ctx, (size_t)(x->shape[0] * whole));
    if (to.data == NULL)
        return -1;
    to.strides[0] = whole;
    to.strides[1] = x->ndim == 3 ? row : size;
    to.strides[x->ndim - 1] = size;
    th_copy(ctx, &to, &from);
    *m = (matrix){to.data, m->rows, m->cols, row, size};
    return 0;
}

/* inputs: x (b, m, k) or (b, k), y (b, k, n) or (b, k). */
TH_EXPORT int th_kernel_batched_dot(th_ctx *ctx)
{
    const blas_params *p = ctx->params;
    const th_buffer *x = ctx->in[0], *y = ctx->in[1];
    th_buffer *z = ctx->out[0];
    const int xm = x->ndim == 3, yn = y->ndim == 3;
    const int64_t batch = x->shape[0], m = xm ? x->shape[1] : 1, k = x->shape[x->ndim - 1], n = yn ? y->shape[2] : 1;
    const int64_t size = z->itemsize;
    if (batch != y->shape[0])
        return disagree(ctx, "batched dot", x, y, batch, y->shape[0]);
    if (k != y->shape[1])
        return disagree(ctx, "batched dot", x, y, k, y->shape[1]);
    int64_t shape[3] = {batch};
    int nd = 1;
    if (xm)
        shape[nd++] = m;
    if (yn)
        shape[nd++] = n;
    if (ctx->rt->ensure(ctx, z, shape))
        return -1;
    matrix a = {x->data, m, k, xm ? x->strides[1] : k * size, x->strides[x->ndim - 1]};
    matrix b = {y->data, k, n, y->strides[1], yn ? y->strides[2] : size};
    const matrix c = {z->data, m, n, n * size, size};
    const int own = is_own(p, z->dtype, m, n, k);
    if (batch > 1 && k > 0 && p->gemm && !own && (readable_batch(ctx, x, &a) || readable_batch(ctx, y, &b)))
        return -1;
    const int64_t a_next = a.data == x->data ? x->strides[0] : m * k * size;
    const int64_t b_next = b.data == y->data ? y->strides[0] : k * n * size;
    pairs j = {ctx, p, z->dtype, size, a_next, b_next, m * n * size, a, b, c, .batch = batch};
    return multiply_pairs(&j, own);
}

#endif
