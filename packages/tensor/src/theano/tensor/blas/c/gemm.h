/* Our own product of matrices of float32 and float64: what linear.c sees of it.
 *
 * The plan is that of Goto and van de Geijn ("Anatomy of high-performance matrix multiplication", ACM TOMS 34, 2008)
 * and of BLIS (Van Zee and van de Geijn, ACM TOMS 41, 2015): a small block of the result is kept in registers while
 * all of a slice of the summed axis goes by; blocks of the factors are copied ("packed") into the order in which they
 * are then read, so that any strides will do, and are chosen so large that they stay in a level of the cache.
 *
 *   gemm_vector.h  vectors of the CPU that this library is built for
 *   gemm_pack.h    copying a block of a factor into panels
 *   gemm_tile.h    the block in registers
 *   gemm_blocks.h  the loops around it, for one thread or several, with packed factors
 *   gemm_direct.h  the loops for factors that are read in place
 *   gemm_dispatch.h which of the two, and in which orientation
 *   gemm_level2.h  products with a vector
 *   gemm_f32.c, gemm_f64.c  all of these, for one element type
 *
 * Each element of a product is the sum of its terms in their order, in slices whose lengths depend on the shapes and
 * the order of axes in memory: neither where the data begin nor the number of threads changes a bit of the result.
 */
#ifndef THEANO_TENSOR_GEMM_H
#define THEANO_TENSOR_GEMM_H

#include "kernels.h"

typedef struct {
    char *data;
    int64_t rows, cols, row, col; /* lengths; strides in bytes */
} matrix;

static inline __attribute__((unused)) matrix turned(matrix m) { return (matrix){m.data, m.cols, m.rows, m.col, m.row}; }

/* Whether B is A's own transpose: the product is symmetric then. */
static inline __attribute__((unused)) int is_own_transpose(matrix a, matrix b)
{
    return a.data == b.data && a.row == b.col && a.col == b.row && a.rows == b.cols;
}

/* C = alpha A B + beta Z. `alpha` NULL is 1; `beta` NULL is 0, and then Z is not read. Z is C itself, or does not
 * overlap it. A and B overlap neither. `threads` is how many may work at once, 0 for as many as there are.
 * 0, or -1 with the error set. */
#define TH_GEMM(NAME, T) \
    TH_LOCAL int NAME(th_ctx *ctx, int64_t threads, const T *alpha, matrix a, matrix b, const T *beta, matrix z, matrix c)
TH_GEMM(th_gemm_f32, float);
TH_GEMM(th_gemm_f64, double);

/* The bytes that such a product needs for copies; and the product in that space, by the thread that asks for it alone. */
#define TH_GEMM_SPACE(NAME) TH_LOCAL int64_t NAME(matrix a, matrix b, matrix c)
TH_GEMM_SPACE(th_gemm_space_f32);
TH_GEMM_SPACE(th_gemm_space_f64);
#define TH_GEMM_WITHIN(NAME, T) \
    TH_LOCAL void NAME(char *space, const T *alpha, matrix a, matrix b, const T *beta, matrix z, matrix c)
TH_GEMM_WITHIN(th_gemm_within_f32, float);
TH_GEMM_WITHIN(th_gemm_within_f64, double);
/* `count` consecutive products C = A B in that workspace; `*_next`: strides from one matrix to the next, in bytes. */
#define TH_GEMM_BATCH(NAME) \
    TH_LOCAL void NAME(char *space, matrix a, matrix b, matrix c, int64_t a_next, int64_t b_next, int64_t c_next, int64_t count)
TH_GEMM_BATCH(th_gemm_batch_f32);
TH_GEMM_BATCH(th_gemm_batch_f64);

/* y = alpha A x + beta z, likewise; 1, with nothing done, for a layout that this does not know: th_gemm knows all. */
#define TH_GEMV(NAME, T) \
    TH_LOCAL int NAME(th_ctx *ctx, int64_t threads, const T *alpha, matrix a, char *x, int64_t x_step, const T *beta, \
                      char *z, int64_t z_step, char *y, int64_t y_step)
TH_GEMV(th_gemv_f32, float);
TH_GEMV(th_gemv_f64, double);

/* y = alpha x A + beta z, where x is one row of `count` numbers, and the n columns of A and of y are neighbours; 1, with
 * nothing done, if these are many. What steps of loops do: told apart before anything else, and in plain numbers, for a
 * struct that was just written part by part is slow to read. */
#define TH_SHORT_ROW(NAME, T) \
    TH_LOCAL int NAME(const T *alpha, const char *x, int64_t x_step, int64_t count, const char *a, int64_t next, int64_t n, \
                      const T *beta, const char *z, int64_t z_step, char *y)
TH_SHORT_ROW(th_short_row_f32, float);
TH_SHORT_ROW(th_short_row_f64, double);

/* C = beta Z + alpha x y', likewise. */
#define TH_GER(NAME, T) \
    TH_LOCAL int NAME(th_ctx *ctx, int64_t threads, const T *alpha, char *x, int64_t x_step, char *y, int64_t y_step, \
                      const T *beta, matrix z, matrix c)
TH_GER(th_ger_f32, float);
TH_GER(th_ger_f64, double);

#endif
