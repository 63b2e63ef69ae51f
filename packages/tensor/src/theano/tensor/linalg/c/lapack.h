/* What the files that call LAPACK share.
 *
 * LAPACK counts in 32 or in 64 bits, as the library was built; each routine is called through the type that fits. */
#ifndef THEANO_TENSOR_LAPACK_H
#define THEANO_TENSOR_LAPACK_H

#include "factor.h"

typedef union {
    int32_t i32;
    int64_t i64;
} integer;

/* A routine of the parameters. These all begin with `lapack_params`, and what need not know which kernel they are of reads
 * them as such. */
#define ROUTINE(q, name, type) ((type)(intptr_t)(q)->name)

static inline integer integer_of(const lapack_params *p, int64_t v)
{
    integer r = {0};
    if (p->wide)
        r.i64 = v;
    else
        r.i32 = (int32_t)v;
    return r;
}

static inline int64_t value_of(const lapack_params *p, integer v) { return p->wide ? v.i64 : v.i32; }
static inline int is_complex(int32_t dtype) { return dtype == TH_COMPLEX64 || dtype == TH_COMPLEX128; }
static inline int is_single(int32_t dtype) { return dtype == TH_FLOAT32 || dtype == TH_COMPLEX64; }

/* Whether a matrix of n rows is factored by us. */
static inline int is_ours(const lapack_params *p, const th_buffer *a, int64_t n)
{
    return !is_complex(a->dtype) && (n <= 32 || (double)n * (double)n * (double)n <= (double)p->own);
}

/* A whole matrix or vector in memory of the call: in C order, or in Fortran's if `by_columns`. */
TH_LOCAL char *th_copied(th_ctx *ctx, const th_buffer *b, int by_columns);
/* The same into an output that has been given its shape. */
TH_LOCAL void th_copy_out(th_ctx *ctx, const th_buffer *to, const th_buffer *from);
/* `rows` x `cols` elements from one order of axes to the other. */
TH_LOCAL void th_turn(th_ctx *ctx, char *to, const char *from, int64_t rows, int64_t cols, int64_t size);
/* Rows i and pivots[i] exchanged, from the last to the first. */
TH_LOCAL void th_exchange_back(char *x, const int64_t *pivots, int64_t rows, int64_t row_bytes);
/* 0, or an error that says what shape there is. */
TH_LOCAL int th_square(th_ctx *ctx, const th_buffer *a);

/* 0, or an error if the part that is read of m x n elements in C order is not finite: what LAPACK does with such numbers differs
 * from library to library, and goes as far as iterating for ever and writing outside its arrays. `what` it is to find. */
enum { LOWER, UPPER, WHOLE };
TH_LOCAL int th_finite(th_ctx *ctx, const char *what, const char *data, int32_t dtype, int64_t m, int64_t n, int read);

/* Calls one of our factorisations for the dtype of a buffer. */
#define OURS(b, name, ...) ((b)->dtype == TH_FLOAT32 ? name##_f32(__VA_ARGS__) : name##_f64(__VA_ARGS__))

/* The matrix in C order at `data`. */
static inline matrix plain_matrix(char *data, int64_t rows, int64_t cols, int64_t size)
{
    return (matrix){data, rows, cols, cols * size, size};
}

#endif
