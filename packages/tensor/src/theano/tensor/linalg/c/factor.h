/* Our own factorisations of matrices of float32 and float64: what lapack.c sees of them.
 *
 * They are recursions on halves (Toledo, "Locality of reference in LU decomposition with partial pivoting", SIAM J.
 * Matrix Anal. Appl. 18, 1997; Gustavson, IBM J. Res. Dev. 41, 1997): nearly all of the work is done by our own
 * product of matrices (gemm.h), and the remaining blocks fit into the first-level cache.
 *
 *   factor_work.h      memory that is used again by one product after the other
 *   factor_triangle.h  equations with a triangle, and its inverse
 *   factor_cholesky.h  Cholesky's factor
 *   factor_lu.h        elimination with row exchanges
 *   factor_qr.h        reflections
 *   factor_eigh.h      eigenvalues and eigenvectors of small symmetric matrices
 *   factor_f32.c, factor_f64.c  all of these, for one element type
 *
 * A matrix is a window with any strides (multiples of its element's size). What is computed for an element does not
 * depend on how many threads there are. */
#ifndef THEANO_TENSOR_FACTOR_H
#define THEANO_TENSOR_FACTOR_H

#include "gemm.h"

/* All return -1 with the error set if out of memory; `threads` is as for th_gemm. */
#define TH_FACTOR(S) \
    /* T X = B in place of B, for a triangle of which the other half is not read; `unit`: nor is the diagonal, of ones. */ \
    TH_LOCAL int th_triangular_##S(th_ctx *ctx, int64_t threads, int upper, int unit, matrix t, matrix b); \
    /* The lower half of A becomes L, with L L' = A. The first leading minor that is not positive, or 0. */ \
    TH_LOCAL int64_t th_cholesky_##S(th_ctx *ctx, int64_t threads, matrix a); \
    /* A square matrix whose columns' elements are neighbours becomes L and U, rows i and pivots[i] (counted from 0) \
     * having been exchanged in this order. The first pivot (counted from 1) that is 0, or 0. */ \
    TH_LOCAL int64_t th_lu_##S(th_ctx *ctx, int64_t threads, matrix a, int64_t *pivots); \
    /* The lower half of T, not 0 on its diagonal, becomes its inverse. */ \
    TH_LOCAL int th_triangle_inverse_##S(th_ctx *ctx, int64_t threads, matrix t); \
    /* A, whose columns' elements are neighbours, becomes R above the vectors of its reflections; the first columns \
     * of their product go to q (any number, not more than its rows), unless q.data is NULL. */ \
    TH_LOCAL int th_qr_##S(th_ctx *ctx, int64_t threads, matrix a, void *scales, matrix q); \
    /* Q becomes the product of the reflections below the diagonal of A, times what it was. */ \
    TH_LOCAL int th_reflect_##S(th_ctx *ctx, int64_t threads, matrix a, const void *scales, matrix q); \
    /* Eigenvalues in ascending order, and eigenvectors as rows of z, in C order, of a symmetric matrix in C order, of \
     * which one triangle is read and both are overwritten. 1 if that does not converge. */ \
    TH_LOCAL int th_eigh_##S(th_ctx *ctx, int lower, matrix a, void *values, matrix z);
TH_FACTOR(f32)
TH_FACTOR(f64)

#endif
