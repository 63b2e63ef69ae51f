/* What the files of this layer that are compiled with it share. */
#ifndef THEANO_SPARSE_H
#define THEANO_SPARSE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "parameters.h" /* written from parameters.py */

#if defined(_WIN32)
#define TH_EXPORT __declspec(dllexport)
#define TH_LOCAL
#else
#define TH_EXPORT __attribute__((visibility("default")))
#define TH_LOCAL __attribute__((visibility("hidden")))
#endif
#define TH_INDEPENDENT _Pragma("GCC ivdep")
#define TH_FAIL(ctx, kind, ...) ((ctx)->rt->fail((ctx), (kind), __VA_ARGS__))

/* Nanoseconds of work that are worth a piece for a thread. */
enum { TH_PIECE_NS = 25000 };

/* A matrix of compressed lines: m of them, each of n places. The indices are known to be in range. */
typedef struct {
    int64_t m, n, stored;
    const char *data;
    const int32_t *indices, *indptr;
} th_lines;

/* lines.c: what is wrong with index arrays (a negative number, as compressed.py lists them), or flags. */
enum { TH_DISORDERED = 1, TH_LONGER = 2 };
TH_LOCAL int th_examine(const void *indices, const void *indptr, int wide, int64_t n_indices, int64_t n_indptr,
                        int64_t stored, int64_t m, int64_t n);

/* Inputs as packed vectors: the buffer itself, or a copy in scratch memory. NULL: error set. */
TH_LOCAL const void *th_packed_vector(th_ctx *ctx, const th_buffer *b);

/* The parts in ctx->in[data, first .. first + 2]: indices, indptr and shape; data may be -1. 0, or -1. */
TH_LOCAL int th_lines_of(th_ctx *ctx, th_lines *lines, int data, int first, int64_t columns);

/* The same places by the other axis, each line in order. `from` (if not NULL) becomes where each number came from. */
TH_LOCAL void th_turn(const th_lines *x, int32_t *indptr, int32_t *indices, int32_t *from);

/* Lines lo <= i < hi of about equal numbers of stored elements go to each piece of a loop over threads. */
typedef struct {
    const th_lines *lines;
    int64_t pieces;
    void (*body)(void *arg, int64_t lo, int64_t hi);
    void *arg;
} th_split;
TH_LOCAL int th_over_lines(th_ctx *ctx, const th_lines *lines, double ns, void (*body)(void *, int64_t, int64_t), void *arg);

#endif
