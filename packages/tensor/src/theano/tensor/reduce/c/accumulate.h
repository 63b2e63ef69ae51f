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

/* Read four runs of n neighbours, `apart` bytes apart, at once: of each, what a block would have made of it, in four vectors.
 * Returns whether a nan may be among the terms: then the vectors mean nothing. */
typedef int (*th_four_runs)(int64_t n, const char *at, int64_t apart, void *vectors);

/* The loops of a reduction. Of `runs` and `four`, which take one operand into one result, either may be NULL. */
typedef struct {
    th_block block;
    th_rows rows;
    th_runs runs;
    th_four_runs four;
} th_reduce_loops;

/* logsumexp.c: accumulators are pairs, stored as complex numbers, and become their real part. */
TH_LOCAL extern const th_accumulator th_log_sum_exp_f4, th_log_sum_exp_f8;
TH_LOCAL extern const th_reduce_loops th_log_sum_exp_loops_f4, th_log_sum_exp_loops_f8;

/* reduce_plain.c: the loop over runs of elements like the accumulators, or NULL. */
TH_LOCAL th_runs th_plain_runs(int64_t op, int64_t dtype);

/* reduce.c: the driver. */
TH_LOCAL int th_reduce_by(th_ctx *ctx, const th_reduction *r, const th_reduce_loops *loops, const th_own *own);

/* Larger and smaller; nan wins, and of equal numbers the first. */
#define TH_LARGER(a, b) ((((a) >= (b)) | ((a) != (a))) ? (a) : (b))
#define TH_SMALLER(a, b) ((((a) <= (b)) | ((a) != (a))) ? (a) : (b))

#endif
