/* Accumulators: what partial results start from, how two are joined, and how a result is stored (accumulate.c). */
#ifndef THEANO_TENSOR_ACCUMULATE_H
#define THEANO_TENSOR_ACCUMULATE_H

#include "kernels.h"
#include "reduce.h"

/* One value of any dtype. */
typedef union {
    uint8_t u1;
    int8_t i1;
    uint16_t u2;
    int16_t i2;
    uint32_t u4;
    int32_t i4;
    uint64_t u8;
    int64_t i8;
    float f4;
    double f8;
    float _Complex c8;
    double _Complex c16;
    char bytes[16];
} th_number;

typedef struct {
    int64_t dtype, size;
    int exact;                                         /* the order of operations does not matter */
    void (*join)(int64_t n, void *a, const void *b);   /* a[i] = a[i] op b[i] */
    void (*fold)(int64_t n, void *a);                  /* a[0] = a[0] op a[1] op ... */
    void (*finish)(int64_t n, void *a);                /* from accumulators to results; NULL where they are the same */
    th_number neutral;                                 /* op with it leaves every value as it is, to the bit */
} th_accumulator;

TH_LOCAL const th_accumulator *th_accumulator_of(int64_t op, int64_t dtype);

/* n copies of a value. */
TH_LOCAL void th_fill(int64_t size, int64_t n, void *to, const void *value);

/* The result of no terms at all: not always what accumulators start from, -0.0 for one. */
TH_LOCAL th_number th_of_nothing(int64_t op, int64_t dtype);

/* n values of one dtype to elements of another, `step` bytes apart. */
TH_LOCAL void th_put(int64_t dtype, const void *values, int64_t n, int64_t to_dtype, char *to, int64_t step);

/* Take in `count` runs of n neighbours, `step` bytes apart, each into one accumulator. */
typedef void (*th_runs)(int64_t count, int64_t n, const char *at, int64_t step, void *acc);

/* logsumexp.c: accumulators are pairs, stored as complex numbers, and become their real part. */
TH_LOCAL extern const th_accumulator th_log_sum_exp_f4, th_log_sum_exp_f8;
TH_LOCAL extern const th_block th_log_sum_exp_block_f4, th_log_sum_exp_block_f8;
TH_LOCAL extern const th_rows th_log_sum_exp_rows_f4, th_log_sum_exp_rows_f8;
TH_LOCAL extern const th_runs th_log_sum_exp_runs_f4, th_log_sum_exp_runs_f8;

/* reduce.c: the driver, with a kernel for many runs where there is one; of one operand and one result. */
TH_LOCAL int th_reduce_runs(th_ctx *ctx, const th_reduction *r, th_block block, th_rows rows, th_runs runs, const th_own *own);

/* Larger and smaller; nan wins, and of equal numbers the first. */
#define TH_LARGER(a, b) ((((a) >= (b)) | ((a) != (a))) ? (a) : (b))
#define TH_SMALLER(a, b) ((((a) <= (b)) | ((a) != (a))) ? (a) : (b))

#endif
