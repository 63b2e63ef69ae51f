/* Factors of matrices by cuSOLVER (`cusolver.c`). */
#ifndef THEANO_GPU_CUSOLVER_H
#define THEANO_GPU_CUSOLVER_H

#include "linalg_matrix.h"

/* NAME, what it takes: enumerations are ints, handles and what is on the device addresses */
#define TH_CUSOLVER_FUNCTIONS(X)                                                                                                  \
    X(cusolverDnCreate, (void **))                                                                                                \
    X(cusolverDnSetStream, (void *, void *))                                                                                      \
    X(cusolverDnCreateParams, (void **))                                                                                          \
    X(cusolverDnXpotrf_bufferSize, (void *, void *, int, int64_t, int, const void *, int64_t, int, size_t *, size_t *))           \
    X(cusolverDnXpotrf, (void *, void *, int, int64_t, int, void *, int64_t, int, void *, size_t, void *, size_t, int *))         \
    X(cusolverDnXgetrf_bufferSize, (void *, void *, int64_t, int64_t, int, const void *, int64_t, int, size_t *, size_t *))       \
    X(cusolverDnXgetrf,                                                                                                           \
      (void *, void *, int64_t, int64_t, int, void *, int64_t, int64_t *, int, void *, size_t, void *, size_t, int *))            \
    X(cusolverDnXgetrs,                                                                                                           \
      (void *, void *, int, int64_t, int64_t, int, const void *, int64_t, const int64_t *, int, void *, int64_t, int *))          \
    X(cusolverDnXgeqrf_bufferSize,                                                                                                \
      (void *, void *, int64_t, int64_t, int, const void *, int64_t, int, const void *, int, size_t *, size_t *))                 \
    X(cusolverDnXgeqrf,                                                                                                           \
      (void *, void *, int64_t, int64_t, int, void *, int64_t, int, void *, int, void *, size_t, void *, size_t, int *))          \
    X(cusolverDnSormqr_bufferSize,                                                                                                \
      (void *, int, int, int, int, int, const float *, int, const float *, const float *, int, int *))                            \
    X(cusolverDnSormqr, (void *, int, int, int, int, int, const float *, int, const float *, float *, int, float *, int, int *))  \
    X(cusolverDnDormqr_bufferSize,                                                                                                \
      (void *, int, int, int, int, int, const double *, int, const double *, const double *, int, int *))                         \
    X(cusolverDnDormqr,                                                                                                           \
      (void *, int, int, int, int, int, const double *, int, const double *, double *, int, double *, int, int *))                \
    X(cusolverDnXsyevd_bufferSize,                                                                                                \
      (void *, void *, int, int, int64_t, int, const void *, int64_t, int, const void *, int, size_t *, size_t *))                \
    X(cusolverDnXsyevd,                                                                                                           \
      (void *, void *, int, int, int64_t, int, void *, int64_t, int, void *, int, void *, size_t, void *, size_t, int *))         \
    X(cusolverDnXgesvd_bufferSize,                                                                                                \
      (void *, void *, signed char, signed char, int64_t, int64_t, int, const void *, int64_t, int, const void *, int,            \
       const void *, int64_t, int, const void *, int64_t, int, size_t *, size_t *))                                               \
    X(cusolverDnXgesvd,                                                                                                           \
      (void *, void *, signed char, signed char, int64_t, int64_t, int, void *, int64_t, int, void *, int, void *, int64_t, int,  \
       void *, int64_t, int, void *, size_t, void *, size_t, int *))

int th_cusolver_is_there(const job *j); /* for numbers of this dtype */

/* Each function returns 1 when it has done its work, 0 where cuSOLVER is not there, or has no words for the operands, -1 with the
 * error set. */
int th_cusolver_cholesky(job *j, matrix a);                          /* the lower triangle becomes L; the table has the status */
/* x becomes the solution of A y = x, and A its factors; the table has the status */
int th_cusolver_solve(job *j, matrix a, matrix x);
int th_cusolver_reflections(job *j, matrix a, char *factors);        /* R and the reflections in place of A */
int th_cusolver_reflect(job *j, matrix reflections, char *factors, matrix c); /* c becomes Q c */
int th_cusolver_symmetric(job *j, matrix a, char *values, int vectors);       /* vectors, or anything, in place of A */
/* Of a matrix of as many rows as columns at least, which is written over; u and vt: NULL, or what they have room for. */
int th_cusolver_svd(job *j, matrix a, char *values, const matrix *u, const matrix *vt);

#endif
