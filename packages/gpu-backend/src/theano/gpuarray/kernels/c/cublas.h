/* Products of matrices by cuBLAS (`cublas.c`). */
#ifndef THEANO_GPU_CUBLAS_H
#define THEANO_GPU_CUBLAS_H

#include "gpu.h"

/* NAME, what it takes: enumerations are ints, handles and what is on the device addresses */
#define TH_CUBLAS_FUNCTIONS(X)                                                                                                    \
    X(cublasCreate_v2, (void **))                                                                                                 \
    X(cublasSetStream_v2, (void *, void *))                                                                                       \
    X(cublasSetWorkspace_v2, (void *, void *, size_t))                                                                            \
    X(cublasGemmStridedBatchedEx,                                                                                                 \
      (void *, int, int, int, int, int, const void *, const void *, int, int, long long, const void *, int, int, long long,       \
       const void *, void *, int, int, long long, int, int, int))

/* A product as BLAS takes it, by columns: C = alpha op(A) op(B) + beta C of `count` triples; distances in elements. */
typedef struct th_gpu_gemm {
    int64_t swapped;       /* whether BLAS is given the right operand first */
    int64_t transposed[2]; /* of what it is given first and second */
    int64_t m, n, k, count;
    int64_t leading[3], step[3]; /* within a matrix, and from one to the next: of the first, the second and C */
} th_gpu_gemm;

TH_EXPORT int th_gpu_gemm_of(const int64_t *lengths, const int64_t *a, const int64_t *b, const int64_t *c, int64_t itemsize,
                             th_gpu_gemm *to);

/* 0, or -1 with `error` set. */
int th_gpu_gemm_by_cublas(th_gpu *gpu, const th_gpu_gemm *g, int32_t dtype, double alpha, const char *a, const char *b,
                          double beta, char *c);

#endif
