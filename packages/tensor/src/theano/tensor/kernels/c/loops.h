/* Walking strided arrays: what generated kernels and those built ahead have in common.
 *
 * Needs abi.h and string.h. Everything is static: each unit has its own copy of what it uses.
 */
#ifndef THEANO_TENSOR_LOOPS_H
#define THEANO_TENSOR_LOOPS_H

#include "marks.h"

/* Whether the elements are C-contiguous. */
TH_HELPER int th_packed(const th_buffer *b, int ndim)
{
    int64_t expected = b->itemsize;
    for (int d = ndim - 1; d >= 0; --d) {
        if (b->shape[d] != 1) {
            if (b->strides[d] != expected)
                return 0;
            expected *= b->shape[d];
        }
    }
    return 1;
}

TH_HELPER int64_t th_size(int ndim, const int64_t *shape)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; ++d) {
        TH_PLAIN_LOOP;
        n *= shape[d];
    }
    return n;
}

/* Make a loop nest over `nop` operands as short as it can be: axes of length 1 go, the others are
 * ordered from the largest strides to the smallest, and an axis that merely continues the next one (in every
 * operand) is joined to it. `strides` holds, for each axis, one stride per operand.
 * Returns the number of axes left, at least 1. Only for loops whose order does not matter. */
TH_ONCE int th_collapse(int nop, int nd, int64_t *shape, int64_t *strides)
{
    int64_t reach[TH_MAX_NDIM], row[TH_MAX_NDIM];
    int kept = 0;
    for (int d = 0; d < nd; ++d) {
        if (shape[d] == 1)
            continue;
        int64_t length = shape[d], sum = 0;
        for (int k = 0; k < nop; ++k) {
            TH_PLAIN_LOOP;
            row[k] = strides[d * nop + k];
            sum += row[k] < 0 ? -row[k] : row[k];
        }
        int at = kept++;
        for (; at > 0 && reach[at - 1] < sum; --at) {
            reach[at] = reach[at - 1];
            shape[at] = shape[at - 1];
            memcpy(strides + at * nop, strides + (at - 1) * nop, (size_t)nop * sizeof(int64_t));
        }
        reach[at] = sum;
        shape[at] = length;
        memcpy(strides + at * nop, row, (size_t)nop * sizeof(int64_t));
    }
    if (kept == 0) {
        shape[0] = 1;
        memset(strides, 0, (size_t)nop * sizeof(int64_t));
        return 1;
    }
    int last = 0;
    for (int d = 1; d < kept; ++d) {
        int merges = 1;
        for (int k = 0; k < nop; ++k) {
            TH_PLAIN_LOOP;
            merges &= strides[last * nop + k] == shape[d] * strides[d * nop + k];
        }
        if (merges) {
            shape[last] *= shape[d];
        } else {
            ++last;
            shape[last] = shape[d];
        }
        memmove(strides + last * nop, strides + d * nop, (size_t)nop * sizeof(int64_t));
    }
    return last + 1;
}

/* Put `index` and the operands' pointers at the `position`-th point of the first `nd` axes. */
TH_ONCE void th_seek(int nop, int nd, const int64_t *shape, const int64_t *strides, int64_t position,
                       int64_t *index, char **data)
{
    for (int d = nd - 1; d >= 0; --d) {
        index[d] = position % shape[d];
        position /= shape[d];
        for (int k = 0; k < nop; ++k) {
            TH_PLAIN_LOOP;
            data[k] += index[d] * strides[d * nop + k];
        }
    }
}

/* The last axis has come to its end: on to the next point of the axes before it. */
TH_ONCE void th_carry(int nop, int nd, const int64_t *shape, const int64_t *strides, int64_t *index, char **data)
{
    for (int d = nd - 1; d >= 0; --d) {
        const int64_t *step = strides + d * nop;
        if (index[d] < shape[d])
            return;
        for (int k = 0; k < nop; ++k) {
            TH_PLAIN_LOOP;
            data[k] -= shape[d] * step[k];
        }
        index[d] = 0;
        if (d > 0) {
            ++index[d - 1];
            for (int k = 0; k < nop; ++k) {
                TH_PLAIN_LOOP;
                data[k] += step[k - nop];
            }
        }
    }
}

/* Go to the next point of the first `nd` axes. */
TH_HELPER void th_advance(int nop, int nd, const int64_t *shape, const int64_t *strides, int64_t *index, char **data)
{
    const int d = nd - 1;
    if (d < 0)
        return;
    for (int k = 0; k < nop; ++k)
        data[k] += strides[d * nop + k];
    if (++index[d] == shape[d])
        th_carry(nop, nd, shape, strides, index, data);
}

TH_ERROR int th_mismatch(th_ctx *ctx, int axis, int i, int64_t length_i, int j, int64_t length_j)
{
    const char *hint = length_i == 1 || length_j == 1
                           ? ". A length of 1 is stretched only if the variable's type says it is always 1"
                           : "";
    return ctx->rt->fail(ctx, TH_ERR_SHAPE,
                         "Input dimension mis-match: along axis %d, input %d has length %lld but input %d has %lld%s",
                         axis, j, (long long)length_j, i, (long long)length_i, hint);
}

#endif
