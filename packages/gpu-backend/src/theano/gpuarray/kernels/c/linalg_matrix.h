/* Linear algebra on a device: matrices, and the steps that operations are made of. Errors are set where they are found; each
 * function returns 0, or -1 then. */
#ifndef THEANO_GPU_LINALG_MATRIX_H
#define THEANO_GPU_LINALG_MATRIX_H

#include "job.h"
#include "parameters.h"

typedef th_device_matrices_params th_matrices;

enum { TH_BLOCK = 32 };                              /* as `linalg_matrix.cl` has it */
enum { TH_WHOLE = 0, TH_LOWER = 1, TH_UPPER = 2 };      /* the part of a matrix that is read, */
enum { TH_ZEROS = 0, TH_NAN = 1, TH_SYMMETRIC = 2 };    /* and what is elsewhere: options of `take` */

typedef struct matrix {
    char *data;
    int64_t rows, columns, row, column; /* strides in bytes */
} matrix;

static inline const th_matrices *th_told(const job *j) { return j->ctx->params; }

/* The parameters of kernels beside their operands (`matrix_args` of `linalg_matrix.cl`). */
typedef struct told {
    int64_t first, count, lower, option;
    double factor;
} told;

int th_take_table(job *j, int64_t rows); /* a status, which is 0, and room for the rows that are exchanged */
int th_take_matrix(job *j, matrix *m, int64_t rows, int64_t columns, int by_columns);

/* A kernel of this many groups. Where one needs no `b` or no third operand, these are `a` and NULL. */
int th_run(job *j, const th_gpu_kernel *kernel, int64_t groups, matrix a, matrix b, char *third, told t);
int th_run_each(job *j, const th_gpu_kernel *kernel, int64_t items, matrix a, matrix b, char *third, told t);

matrix th_matrix_of(const th_buffer *b); /* a vector is one column */
matrix th_window(matrix m, int64_t i, int64_t j, int64_t rows, int64_t columns);
matrix th_turned(matrix m);
int th_square(th_ctx *ctx, const th_buffer *a);
int th_copied(job *j, matrix to, matrix from);
int th_permuted(job *j, matrix to, matrix from, const int64_t *order); /* columns of `from`, as many as `to` has */
int th_product(job *j, matrix c, matrix a, matrix b);                   /* c = a b */
int th_subtract_product(job *j, matrix c, matrix a, matrix b);          /* c -= a b */
int th_status(job *j, int64_t *status);

int th_factor_cholesky(job *j, matrix a);                      /* the lower triangle becomes L */
int th_eliminate(job *j, matrix a);                            /* L and U in place of A; what was exchanged is in the table */
int th_solve_factors(job *j, matrix lu, matrix x);             /* x becomes the solution of A y = x, by L and U */
int th_triangular(job *j, matrix t, int lower, int unit, matrix x); /* x becomes the solution of T y = x */
int th_reflections(job *j, matrix a, char *factors);           /* R and the reflections in place of A */

static inline double th_number_at(const job *j, const void *numbers, int64_t i)
{
    return j->size == 4 ? (double)((const float *)numbers)[i] : ((const double *)numbers)[i];
}
static inline void th_put_number(const job *j, void *numbers, int64_t i, double x)
{
    if (j->size == 4)
        ((float *)numbers)[i] = (float)x;
    else
        ((double *)numbers)[i] = x;
}

#endif
