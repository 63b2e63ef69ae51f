/* Products of matrices by cuBLAS, where Python has found it (`libraries.py`).
 *
 * cuBLAS knows matrices by columns, and of each either the distance of columns or, of its transpose, that of rows. What
 * an array of any strides is in these words, one pure function says (`th_gpu_gemm_of`); where it has none, the product is
 * computed by a kernel of ours.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "cublas.h"

enum { OP_N = 0, OP_T = 1, R_32F = 0, R_64F = 1, R_16F = 2, COMPUTE_32F = 68, COMPUTE_64F = 70, FAST_TF32 = 77, DEFAULT_ALGO = -1 };

struct th_gpu_cublas {
    void *handle, *stream; /* that it is on */
    char *workspace; /* NULL: its own */
    size_t workspace_bytes;
    int tf32;
    pthread_mutex_t lock; /* a handle is for one thread at a time */
#define X(name, takes) int(*name) takes;
    TH_CUBLAS_FUNCTIONS(X)
#undef X
};

/* A matrix by columns: the distance of its columns (transposed: of its rows), or 0 where it has none. In elements. */
static int64_t leading(int64_t rows, int64_t columns, int64_t by_row, int64_t by_column, int *transposed)
{
    const int64_t one_row = rows > 1 ? rows : 1, one_column = columns > 1 ? columns : 1;
    *transposed = OP_N;
    if ((rows <= 1 || by_row == 1) && (columns <= 1 || by_column >= one_row))
        return columns <= 1 ? one_row : by_column;
    *transposed = OP_T;
    if ((columns <= 1 || by_column == 1) && (rows <= 1 || by_row >= one_column))
        return rows <= 1 ? one_column : by_row;
    return 0;
}

static int in_elements(const int64_t *bytes, int64_t itemsize, int64_t *to)
{
    for (int d = 0; d < 3; ++d) {
        if (bytes[d] % itemsize)
            return 0;
        to[d] = bytes[d] / itemsize;
    }
    return 1;
}

/* `lengths`: batch, m, n, k. Strides of A, B and C in bytes: batch, row, column. Returns whether BLAS has words for it. */
TH_EXPORT int th_gpu_gemm_of(const int64_t *lengths, const int64_t *a, const int64_t *b, const int64_t *c, int64_t itemsize,
                             th_gpu_gemm *to)
{
    int64_t x[3], y[3], z[3];
    const int64_t batch = lengths[0], m = lengths[1], n = lengths[2], k = lengths[3];
    for (int d = 0; d < 4; ++d) {
        if (lengths[d] < 1 || lengths[d] > INT_MAX)
            return 0;
    }
    if (!in_elements(a, itemsize, x) || !in_elements(b, itemsize, y) || !in_elements(c, itemsize, z))
        return 0;
    if (batch > 1 && (x[0] < 0 || y[0] < 0 || z[0] < 0))
        return 0;
    int turned, first, second;
    const int64_t ldc = leading(m, n, z[1], z[2], &turned);
    /* by rows: the transpose is by columns, and is the product of the transposes in the other order */
    const int64_t ldx = turned ? leading(k, m, x[2], x[1], &first) : leading(m, k, x[1], x[2], &first);
    const int64_t ldy = turned ? leading(n, k, y[2], y[1], &second) : leading(k, n, y[1], y[2], &second);
    if (ldc == 0 || ldx == 0 || ldy == 0 || ldc > INT_MAX || ldx > INT_MAX || ldy > INT_MAX)
        return 0;
    *to = (th_gpu_gemm){.swapped = turned, .count = batch, .k = k, .m = turned ? n : m, .n = turned ? m : n};
    to->transposed[0] = turned ? second : first;
    to->transposed[1] = turned ? first : second;
    to->leading[0] = turned ? ldy : ldx;
    to->leading[1] = turned ? ldx : ldy;
    to->leading[2] = ldc;
    to->step[0] = batch > 1 ? (turned ? y : x)[0] : 0;
    to->step[1] = batch > 1 ? (turned ? x : y)[0] : 0;
    to->step[2] = batch > 1 ? z[0] : 0;
    return 1;
}

/* The arguments of `multiply`: all of a product. */
typedef struct product {
    th_gpu_gemm g;
    const char *first, *second;
    char *c;
    double alpha, beta;
    int64_t dtype;
} product;

/* Products are asked for on one stream and, while they are recorded, on another. */
static int on_stream(th_gpu_cublas *blas, void *stream)
{
    int status = blas->stream == stream ? 0 : blas->cublasSetStream_v2(blas->handle, stream);
    if (status == 0 && blas->stream != stream && blas->workspace)
        status = blas->cublasSetWorkspace_v2(blas->handle, blas->workspace, blas->workspace_bytes); /* a new stream takes it away */
    blas->stream = status ? NULL : stream;
    return status;
}

static int multiply(th_gpu *gpu, void *stream, const void *told)
{
    const product *p = told;
    const th_gpu_gemm *g = &p->g;
    th_gpu_cublas *blas = gpu->cublas;
    const float singles[2] = {(float)p->alpha, (float)p->beta};
    const double doubles[2] = {p->alpha, p->beta};
    const int wide = p->dtype == TH_FLOAT64, type = wide ? R_64F : p->dtype == TH_FLOAT16 ? R_16F : R_32F;
    const void *factors[2] = {wide ? (const void *)&doubles[0] : &singles[0], wide ? (const void *)&doubles[1] : &singles[1]};
    const int compute = wide ? COMPUTE_64F : p->dtype == TH_FLOAT32 && blas->tf32 ? FAST_TF32 : COMPUTE_32F;
    pthread_mutex_lock(&blas->lock);
    int status = on_stream(blas, stream);
    if (status == 0)
        status = blas->cublasGemmStridedBatchedEx(blas->handle, (int)g->transposed[0], (int)g->transposed[1], (int)g->m, (int)g->n, (int)g->k, factors[0],
                            p->first, type, (int)g->leading[0], g->step[0], p->second, type, (int)g->leading[1], g->step[1],
                            factors[1], p->c, type, (int)g->leading[2], g->step[2], (int)g->count, compute, DEFAULT_ALGO);
    pthread_mutex_unlock(&blas->lock);
    if (status)
        th_gpu_complain(gpu, "cublasGemmStridedBatchedEx", status);
    return status ? -1 : 0;
}

int th_gpu_gemm_by_cublas(th_gpu *gpu, const th_gpu_gemm *g, int32_t dtype, double alpha, const char *a, const char *b,
                          double beta, char *c)
{
    const product p = {.g = *g, .first = g->swapped ? b : a, .second = g->swapped ? a : b, .c = c, .alpha = alpha, .beta = beta,
                       .dtype = dtype};
    __atomic_add_fetch(&gpu->counts.launches, 1, __ATOMIC_RELAXED);
    return th_gpu_run_later(gpu, multiply, &p, sizeof p);
}

/* Let a device of CUDA multiply by cuBLAS, a library that was opened; `workspace`: the bytes that it may use; `tf32`: products of
 * float32 may leave out digits. 0; what cuBLAS said; or -1: it lacks a function. */
TH_EXPORT int th_gpu_use_cublas(th_gpu *gpu, void *library, int64_t workspace, int tf32)
{
    th_gpu_cublas *made = calloc(1, sizeof *made);
    void *stream = gpu->driver->enter ? gpu->driver->enter(gpu) : NULL;
    int status = made == NULL || stream == NULL ? -1 : 0;
#define X(name, takes)                                                                      \
    if (status == 0 && (*(void **)&made->name = dlsym(library, #name)) == NULL)             \
        status = -1;
    TH_CUBLAS_FUNCTIONS(X)
#undef X
    if (status == 0)
        status = made->cublasCreate_v2(&made->handle);
    if (status == 0) {
        /* memory of its own, which it would take while it is recorded */
        made->workspace = workspace > 0 ? gpu->driver->allocate(gpu, (size_t)workspace) : NULL;
        made->workspace_bytes = (size_t)workspace;
        status = on_stream(made, stream);
    }
    if (status) {
        if (made && made->workspace)
            gpu->driver->release(gpu, made->workspace, made->workspace_bytes);
        free(made);
        return status;
    }
    made->tf32 = tf32;
    pthread_mutex_init(&made->lock, NULL);
    gpu->cublas = made;
    return 0;
}
