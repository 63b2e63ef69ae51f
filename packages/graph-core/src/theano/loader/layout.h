/* The memory layout of arrays: what the machine and exported models (theano/aot) count and copy alike.
 *
 * Written in what C and C++ have in common. */
#ifndef THEANO_LAYOUT_H
#define THEANO_LAYOUT_H

#include <string.h>

#include "abi.h"
#include "move.h"

/* Number of elements, or -1: a negative length or more bytes than can be addressed. */
static inline int64_t th_count_elements(int ndim, int64_t itemsize, const int64_t *shape) {
    int64_t elements = 1, bytes;
    int empty = 0, overflow = 0;
    for (int d = 0; d < ndim; ++d) {
        if (shape[d] < 0) return -1;
        if (shape[d] == 0) {
            empty = 1;
        } else if (__builtin_mul_overflow(elements, shape[d], &elements)) {
            overflow = 1;
        }
    }
    if (empty) return 0;
    return overflow || __builtin_mul_overflow(elements, itemsize, &bytes) ? -1 : elements;
}

/* The shape and the strides of a buffer in C order. */
static inline void th_lay_out(th_buffer *buffer, const int64_t *shape) {
    int64_t stride = buffer->itemsize;
    for (int d = buffer->ndim - 1; d >= 0; --d) {
        buffer->shape[d] = shape[d];
        buffer->strides[d] = stride;
        stride *= shape[d] > 1 ? shape[d] : 1;
    }
}

/* The elements of an array of at least one axis, one after the other, row by row; there is at least one. */
static inline void th_pack(char *to, const th_buffer *from) {
    const int nd = from->ndim, outer = nd > 2 ? nd - 2 : 0;
    const int64_t rows = nd > 1 ? from->shape[nd - 2] : 1, n = from->shape[nd - 1], size = from->itemsize;
    int64_t index[TH_MAX_NDIM];
    const char *at = from->data;
    memset(index, 0, sizeof index);
    for (;; to += rows * n * size) {
        int d = outer - 1;
        th_move(to, n * size, size, at, nd > 1 ? from->strides[nd - 2] : 0, from->strides[nd - 1], rows, n, size);
        for (; d >= 0; --d) {
            at += from->strides[d];
            if (++index[d] < from->shape[d]) break;
            at -= from->shape[d] * from->strides[d];
            index[d] = 0;
        }
        if (d < 0) return;
    }
}

#endif
