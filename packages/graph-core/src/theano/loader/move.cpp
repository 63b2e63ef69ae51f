/* Rectangles of elements copied from one pair of strides to another, as fast as memory allows.
 *
 * Everything that brings elements together comes here: tiles of element-wise loops, and copies, joins and reshapes of
 * the layers above (`move` of abi.h). Rows of neighbours are handed to memcpy; small constant steps are shuffled out of
 * whole vectors; where the neighbours of one side are the columns of the other, squares are turned around in registers.
 *
 * The inner loops are compiled for each level of x86-64 from the same text, move_level.h, and the machine's is taken at
 * the first call: copies do not depend on it but in time.
 *
 * Written in what C and C++ have in common: the kernels' tests include it in a runtime of their own.
 */
#include "move.h"

#include <string.h>

#define MOVE_TYPE(T) typedef T __attribute__((aligned(1), may_alias))
MOVE_TYPE(uint8_t) move_1;
MOVE_TYPE(uint16_t) move_2;
MOVE_TYPE(uint32_t) move_4;
MOVE_TYPE(uint64_t) move_8;
typedef struct {
    move_8 half[2];
} move_16;

#define MOVE_RESTRICT __restrict__
#define MOVE_FETCH(address) __builtin_prefetch(address)
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define MOVE_ZIP(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#endif
#endif
/* Zips of the lower and upper halves of each 16 bytes: MOVE_LOW_(elements in 16 bytes)_(times 16 bytes). */
#define MOVE_LOW_2_1 0, 2
#define MOVE_HIGH_2_1 1, 3
#define MOVE_LOW_4_1 0, 4, 1, 5
#define MOVE_HIGH_4_1 2, 6, 3, 7
#define MOVE_LOW_8_1 0, 8, 1, 9, 2, 10, 3, 11
#define MOVE_HIGH_8_1 4, 12, 5, 13, 6, 14, 7, 15
#define MOVE_LOW_16_1 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define MOVE_HIGH_16_1 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define MOVE_LOW_2_2 0, 4, 2, 6
#define MOVE_HIGH_2_2 1, 5, 3, 7
#define MOVE_LOW_4_2 0, 8, 1, 9, 4, 12, 5, 13
#define MOVE_HIGH_4_2 2, 10, 3, 11, 6, 14, 7, 15
#define MOVE_LOW_8_2 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27
#define MOVE_HIGH_8_2 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31
#define MOVE_LOW_16_2 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, \
    16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55
#define MOVE_HIGH_16_2 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47, \
    24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63
#define MOVE_ALL_2 0, 1, 2, 3
#define MOVE_ALL_4 0, 1, 2, 3, 4, 5, 6, 7
#define MOVE_ALL_8 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define MOVE_ALL_16 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
#define MOVE_BOTH(a, b, T) MOVE_BOTH_##T(a, b)
#define MOVE_BOTH_move_1(a, b) MOVE_ZIP(a, b, MOVE_ALL_16)
#define MOVE_BOTH_move_2(a, b) MOVE_ZIP(a, b, MOVE_ALL_8)
#define MOVE_BOTH_move_4(a, b) MOVE_ZIP(a, b, MOVE_ALL_4)
#define MOVE_BOTH_move_8(a, b) MOVE_ZIP(a, b, MOVE_ALL_2)

typedef struct {
    void (*rows)(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows, int64_t bytes);
    void (*line)(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n);
    void (*turn)(char *to, int64_t to_row, const char *from, int64_t from_step, int64_t rows, int64_t n);
} mover;

static const int64_t kStripe = 32, kBlock = 32; /* rows and columns that are turned around together */
/* Bytes of a row: whole vectors from kNarrow; up to kShort they were faster than memcpy, at 1200 by half, at 4000 by a tenth. */
static const int64_t kNarrow = 64, kShort = 6144;
/* Bytes that memcpy is given at once: above the size of the second cache, glibc leaves its fastest way of copying (0.8 of the
 * speed was measured for pieces of 2 MiB). */
static const int64_t kPiece = 1 << 18;

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static inline void swap(int64_t *a, int64_t *b) {
    const int64_t kept = *a;
    *a = *b;
    *b = kept;
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O3")
#endif
#define MOVE_LEVEL _base
#define MOVE_WIDE 16
#include "move_level.h"
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define MOVE_LEVELS
#pragma GCC push_options
#pragma GCC target("avx2,prefer-vector-width=256")
#define MOVE_LEVEL _v3
#define MOVE_WIDE 32
#include "move_level.h"
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,prefer-vector-width=512")
#define MOVE_LEVEL _v4
#define MOVE_WIDE 64
#include "move_level.h"
#pragma GCC pop_options
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

static const mover *find_movers(void) {
#ifdef MOVE_LEVELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq"))
        return movers_v4;
    if (__builtin_cpu_supports("avx2")) return movers_v3;
#endif
    return movers_base;
}

static const mover *movers(void) {
    static const mover *found; /* threads that come at once all find the same */
    const mover *all = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (!all) {
        all = find_movers();
        __atomic_store_n(&found, all, __ATOMIC_RELAXED);
    }
    return all;
}

static inline const mover *mover_of(const mover *all, int64_t itemsize) {
    return all + (itemsize == 1 ? 0 : itemsize == 2 ? 1 : itemsize == 4 ? 2 : itemsize == 8 ? 3 : 4);
}

/* Less than a call of memcpy would take; the last piece overlaps the one before. */
static inline void copy_short(char *to, const char *from, int64_t bytes) {
    if (bytes >= 16) {
        for (int64_t i = 0; i + 16 < bytes; i += 16) memcpy(to + i, from + i, 16);
        memcpy(to + bytes - 16, from + bytes - 16, 16);
    } else if (bytes >= 8) {
        memcpy(to, from, 8);
        memcpy(to + bytes - 8, from + bytes - 8, 8);
    } else {
        for (int64_t i = 0; i < bytes; ++i) to[i] = from[i];
    }
}

/* Neighbours by memcpy, in pieces. No part of the loops over rows: inlined, it slowed the narrow ones down. */
static __attribute__((noinline)) void copy_long(char *to, const char *from, int64_t bytes) {
    for (; bytes > kPiece; bytes -= kPiece, to += kPiece, from += kPiece) memcpy(to, from, (size_t)kPiece);
    memcpy(to, from, (size_t)bytes);
}

static void move_with(const mover *m, char *to, int64_t to_row, int64_t to_step, const char *from, int64_t from_row,
                      int64_t from_step, int64_t rows, int64_t n, int64_t itemsize) {
    if (rows == 1 || n == 1) { /* one line */
        const int64_t all = rows * n, t = rows == 1 ? to_step : to_row, f = rows == 1 ? from_step : from_row;
        if (t == itemsize && f == itemsize)
            copy_long(to, from, all * itemsize);
        else
            m->line(to, t, from, f, all);
        return;
    }
    /* The inner loop: contiguous writes; else contiguous reads; else the longer loop. */
    const int written = (to_step == itemsize) - (to_row == itemsize), read = (from_step == itemsize) - (from_row == itemsize);
    const int turns = written ? written < 0 : read ? read < 0 : rows > n;
    if (turns) {
        swap(&rows, &n);
        swap(&to_row, &to_step);
        swap(&from_row, &from_step);
    }
    const int64_t bytes = n * itemsize;
    if (to_step == itemsize && from_step == itemsize && to_row == bytes && from_row == bytes) {
        copy_long(to, from, rows * bytes);
    } else if (to_step == itemsize && from_step == itemsize && bytes >= kNarrow && bytes <= kShort) {
        m->rows(to, to_row, from, from_row, rows, bytes);
    } else if (to_step == itemsize && from_step == itemsize) {
        for (int64_t r = 0; r < rows; ++r, to += to_row, from += from_row)
            if (bytes < kNarrow)
                copy_short(to, from, bytes);
            else
                copy_long(to, from, bytes);
    } else if (to_step == itemsize && from_row == itemsize && m->turn && rows >= 4 && n >= 4) {
        m->turn(to, to_row, from, from_step, rows, n);
    } else if (n < 8 && rows > n) { /* the longer loop inside after all */
        for (int64_t i = 0; i < n; ++i) m->line(to + i * to_step, to_row, from + i * from_step, from_row, rows);
    } else {
        for (int64_t r = 0; r < rows; ++r, to += to_row, from += from_row) m->line(to, to_step, from, from_step, n);
    }
}

void th_move(char *to, int64_t to_row, int64_t to_step, const char *from, int64_t from_row, int64_t from_step,
             int64_t rows, int64_t n, int64_t itemsize) {
    move_with(mover_of(movers(), itemsize), to, to_row, to_step, from, from_row, from_step, rows, n, itemsize);
}
