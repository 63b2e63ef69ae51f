/* Reductions: what a kernel that computes terms and the driver that walks the arrays (reduce.c) say to each other.
 *
 * A reduction takes terms, computed from one element of each operand, into results. The kernel knows the terms, the
 * driver knows shapes and strides: it hands over operands whose elements are neighbours, copying them together where
 * they are not. Accumulators start at the neutral element of their operation, so that no first term is special.
 * Needs abi.h.
 */
#ifndef THEANO_TENSOR_REDUCE_H
#define THEANO_TENSOR_REDUCE_H

#include "marks.h"

/* Take in n neighbours: result k has `lanes` accumulators at acc[k], of which element i goes to number i % lanes. */
typedef void (*th_block)(int64_t n, char *const *p, void *const *acc, const void *constants);

/* Take in n rows of w neighbours, operand k's rows row[k] bytes apart; column j goes to the j-th accumulator. w is a
 * multiple of `vector` (th_reduction). */
typedef void (*th_rows)(int64_t w, int64_t n, char *const *p, const int64_t *row, void *const *acc,
                        const void *constants);

typedef struct th_reduction th_reduction;

/* TH_OWN: an operation that the driver does not know, and whose kernel brings what accumulators of it need. */
typedef struct {
    void (*join)(int64_t n, void *a, const void *b); /* a[i] = a[i] op b[i] */
    const void *neutral;                             /* op with it leaves every value as it is */
    const char *refused;                             /* error message for an empty reduction; NULL: the result is `neutral` */
} th_own;

/* `own` has an entry for each result, and may be NULL where none is TH_OWN. */
typedef int (*th_reducer)(th_ctx *ctx, const th_reduction *r, th_block block, th_rows rows, const th_own *own);

#include "reduction.h" /* th_reduction: written from reduction.py */

enum { TH_NOPS = TH_OWN + 1 };

#endif
