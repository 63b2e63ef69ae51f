/* The host's half of products. */
#include <string.h>

#include "cublas.h"
#include "parameters.h"

typedef th_device_product_params params_t;

typedef struct matrix {
    int64_t rows, columns, step[3]; /* strides: batch, row, column */
} matrix;

/* The struct of the device functions. */
typedef struct arguments {
    int64_t at[4], batch, m, n, k, a[3], b[3], z[3], c[3], added;
    double factor[2], scale[2]; /* real and imaginary parts */
} arguments;

/* An operand of one or two axes as a matrix; a vector is a row, or a column. */
static matrix as_matrix(const th_buffer *x, int batch, int is_row)
{
    const int64_t *shape = x->shape + batch, *strides = x->strides + batch;
    const int64_t first = batch && x->shape[0] > 1 ? x->strides[0] : 0;
    if (x->ndim - batch == 2)
        return (matrix){shape[0], shape[1], {first, strides[0], strides[1]}};
    if (is_row)
        return (matrix){1, shape[0], {first, 0, strides[0]}};
    return (matrix){shape[0], 1, {first, strides[0], 0}};
}

static int mismatch(th_ctx *ctx, const char *what, int64_t a, int64_t b)
{
    return ctx->rt->fail(ctx, TH_ERR_SHAPE, "Shape mismatch: %s, but they are %lld and %lld", what, (long long)a, (long long)b);
}

/* The output: of its own memory, or that of what is added. */
static int make_output(th_ctx *ctx, const params_t *p, const arguments *a, int left_matrix, int right_matrix)
{
    int64_t shape[3];
    int d = 0;
    if (p->batch)
        shape[d++] = a->batch;
    if (left_matrix)
        shape[d++] = a->m;
    if (right_matrix)
        shape[d++] = a->n;
    th_buffer *out = ctx->out[0];
    if (p->added >= 0) {
        const th_buffer *z = ctx->in[p->added];
        for (int e = 0; e < d; ++e) {
            if (z->shape[e] != shape[e] && z->shape[e] != 1)
                return mismatch(ctx, "what is added to a product has its lengths", z->shape[e], shape[e]);
        }
        if (p->in_place) {
            for (int e = 0; e < d; ++e) {
                if (z->shape[e] != shape[e])
                    return mismatch(ctx, "what a product is added to in place has its lengths", z->shape[e], shape[e]);
            }
            return ctx->rt->view(ctx, out, z, z->data, z->ndim, z->shape, z->strides);
        }
    }
    return ctx->rt->ensure(ctx, out, shape);
}

static void strides_of(const th_buffer *x, int batch, int left_matrix, int64_t *to)
{
    const int64_t *strides = x->strides + batch, *shape = x->shape + batch;
    const int axes = x->ndim - batch;
    to[0] = batch && x->shape[0] > 1 ? x->strides[0] : 0;
    to[1] = axes == 2 || (axes == 1 && left_matrix) ? (shape[0] > 1 ? strides[0] : 0) : 0;
    to[2] = axes == 2 ? (shape[1] > 1 ? strides[1] : 0) : axes == 1 && !left_matrix ? (shape[0] > 1 ? strides[0] : 0) : 0;
}

/* By cuBLAS, if it is there and has words for the operands: 1; 0 if not; -1 with the error set. */
static int by_cublas(th_ctx *ctx, th_gpu *gpu, const params_t *p, const arguments *a, char *const *pointers)
{
    const int64_t lengths[4] = {a->batch, a->m, a->n, a->k};
    const th_buffer *out = ctx->out[0];
    th_gpu_gemm g;
    if (gpu->cublas == NULL || out->dtype >= TH_COMPLEX64 || !th_gpu_gemm_of(lengths, a->a, a->b, a->c, out->itemsize, &g))
        return 0;
    const double beta = a->added ? a->scale[0] : 0.0;
    if (beta != 0.0 && !p->in_place) { /* what is added goes where the result will be */
        const th_buffer *z = ctx->in[p->added];
        int64_t strides[3];
        for (int d = 0; d < out->ndim; ++d)
            strides[d] = z->shape[d] > 1 ? z->strides[d] : 0;
        th_buffer spread = *z;
        spread.shape = out->shape;
        spread.strides = strides;
        if (th_gpu_gather(&gpu->memory, out, &spread, -1, NULL))
            return th_gpu_failed(ctx, gpu);
    }
    const int status = th_gpu_gemm_by_cublas(gpu, &g, out->dtype, a->factor[0], pointers[0], pointers[1], beta, out->data);
    return status ? th_gpu_failed(ctx, gpu) : 1;
}

/* The real and the imaginary part of a number of the host's. */
static void parts_of(const th_buffer *x, double *parts)
{
    float narrow[2];
    if (x->dtype == TH_COMPLEX64) {
        memcpy(narrow, x->data, sizeof narrow);
        parts[0] = narrow[0];
        parts[1] = narrow[1];
    } else if (x->dtype == TH_COMPLEX128) {
        memcpy(parts, x->data, 2 * sizeof *parts);
    } else {
        parts[0] = th_gpu_number(x);
        parts[1] = 0.0;
    }
}

TH_EXPORT int th_kernel_gpu_blas(th_ctx *ctx)
{
    const params_t *p = ctx->params;
    th_gpu *gpu = p->tiled->gpu;
    const int batch = (int)p->batch;
    const th_buffer *x = ctx->in[p->left], *y = ctx->in[p->right];
    const int left_matrix = p->outer || x->ndim - batch == 2, right_matrix = p->outer || y->ndim - batch == 2;
    const matrix u = as_matrix(x, batch, !p->outer), v = as_matrix(y, batch, (int)p->outer);
    arguments a = {.batch = batch ? x->shape[0] : 1, .m = u.rows, .n = v.columns, .k = u.columns, .factor = {1.0}, .scale = {1.0}};
    if (batch && x->shape[0] != y->shape[0])
        return mismatch(ctx, "the first axes of operands are as long as each other", x->shape[0], y->shape[0]);
    if (u.columns != v.rows)
        return mismatch(ctx, "the columns of the left operand are as many as the rows of the right one", u.columns, v.rows);
    if (make_output(ctx, p, &a, left_matrix, right_matrix))
        return -1;
    if (a.batch * a.m * a.n == 0)
        return 0;
    memcpy(a.a, u.step, sizeof a.a);
    memcpy(a.b, v.step, sizeof a.b);
    strides_of(ctx->out[0], batch, left_matrix, a.c);
    char *pointers[4] = {x->data, y->data, x->data, ctx->out[0]->data};
    if (p->added >= 0) {
        a.added = 1;
        strides_of(ctx->in[p->added], batch, left_matrix, a.z);
        pointers[2] = ctx->in[p->added]->data;
    }
    if (p->factor >= 0)
        parts_of(ctx->in[p->factor], a.factor);
    if (p->scale >= 0)
        parts_of(ctx->in[p->scale], a.scale);
    const int done = by_cublas(ctx, gpu, p, &a, pointers);
    if (done)
        return done < 0 ? -1 : 0;
    const int64_t tiles = a.batch * ((a.m + 63) / 64) * ((a.n + 63) / 64), elements = a.batch * a.m * a.n;
    /* one element a group wastes nothing where sums are long and a tile would be mostly empty */
    const int thin = (a.m < 8 || a.n < 8) && a.k >= 64;
    const th_gpu_launch launch = {thin ? p->thin->function : p->tiled->function, thin ? elements : tiles, 256, 4, pointers,
                                  (int64_t *)&a, sizeof a};
    return th_gpu_launched(gpu, &launch) ? th_gpu_failed(ctx, gpu) : 0;
}
