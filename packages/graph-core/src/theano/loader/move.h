/* Copies of rectangles of elements: move.cpp. */
#ifndef THEANO_MOVE_H
#define THEANO_MOVE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C"
#endif
/* rows x n elements from one pair of strides (bytes) to another; any strides. The two must not overlap. */
void th_move(char *to, int64_t to_row, int64_t to_step, const char *from, int64_t from_row, int64_t from_step,
             int64_t rows, int64_t n, int64_t itemsize);

#endif
