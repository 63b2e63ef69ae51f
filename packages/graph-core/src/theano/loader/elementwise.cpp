/* Element-wise loops: everything about them but the arithmetic.
 *
 * A generated element-wise kernel is one loop over neighbours and a table of what its types say (th_loop of abi.h).
 * What is the same for all of them is here, compiled once: checking shapes, sizing outputs, making the loop
 * nest short, threads, and bringing elements together that are not neighbours.
 *
 * The work is cut into tiles that fit in the first-level cache. An operand whose part of a tile is one run
 * of neighbours is used in place; any other is gathered into a buffer before (an input) or scattered
 * from one after (an output). So a kernel needs no second loop for strides, and rows of ten elements cost no more than
 * long ones: many of them make one tile. Where an input is stretched and the arithmetic takes less time than a buffer,
 * the kernel has a loop over rows as well (`rows` of th_loop), which keeps what stands still along a row in a register.
 * Where the arithmetic is next to nothing, so that buffers would take longer than it, there is one for any strides, too.
 *
 * Written in what C and C++ have in common: the kernels' tests include it in a runtime of their own.
 */
#include "abi.h"
#include "move.h"

#include <string.h>

/* Below this many nanoseconds of work a loop stays on the thread that called it; above, it is cut
 * into pieces of about kPieceNs. */
static const double kSerialNs = 60000.0, kPieceNs = 25000.0;

static const int64_t kTileBytes = 24 << 10; /* of buffers, per tile: half of a first-level cache */
static const int64_t kTileMost = 1024;      /* elements */
static const int64_t kShortRow = 128;       /* shorter rows go several to a tile */
static const int64_t kFewestInRow = 4;      /* elements of a row that the loop over rows is worth, */
static const int64_t kFewestInSame = 16;    /* and where no input stands still along it, so that tiles need no filling */
static const int64_t kLongRun = 32;         /* elements that are worth a run */
static const int64_t kHeldMost = 512;       /* elements of a tile of a long row whose buffer is filled once for the row */

/* Tiles of operands that are contiguous along another axis: most rows, bytes to transpose, and elements of a row. A tile
 * is as many rows as one line of the cache has elements, so that no line is read twice, and as long as the second-level
 * cache allows: of 1,000 x 1,000 doubles plus their transpose, tiles of 8 x 1,000 took two thirds of the time of 16 x 256. */
static const int64_t kTransposedRows = 16, kTransposedBytes = 64 << 10, kTransposedMost = 1024;
static const int64_t kLineBytes = 64;

static const int64_t kScatteredBytes = 8; /* of an element of all operands that are not contiguous: see serves_strides */

/* One loop nest, made ready: see run_long_rows. */
typedef struct {
    const th_loop *loop;
    const char *params;
    int nop, nd;
    int64_t tile;            /* elements of a tile, a multiple of loop->lanes */
    char *const *data;       /* per operand */
    const int64_t *itemsize; /* per operand */
    const int64_t *shape;    /* per axis */
    const int64_t *strides;  /* per axis, one for each operand */
    int gathers;             /* some operand needs a buffer */
    int64_t transposed;      /* rows of a tile, if it is transposed: see run_transposed_tiles */
} loop_nest;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int moves(const th_loop *loop, int k) { return k >= loop->nin || !(loop->kind[k] & TH_INVARIANT); }

/* ------------------------------------------------------------------------------ running */

/* Less than a vector: a call of memcpy would take longer than the copy. */
static void copy_few(char *to, const char *from, int64_t bytes) {
    for (; bytes >= 8; bytes -= 8, to += 8, from += 8) memcpy(to, from, 8);
    for (; bytes > 0; --bytes) *to++ = *from++;
}

/* n neighbours of each operand. The kernel takes whole vectors only; the rest is one vector of copies. */
static void run(const loop_nest *nest, int64_t n, char *const *data) {
    const th_loop *loop = nest->loop;
    const int64_t lanes = loop->lanes, rest = n & (lanes - 1), whole = n - rest;
    if (whole) loop->run(whole, data, nest->params);
    if (!rest) return;
    char **at = (char **)__builtin_alloca((size_t)nest->nop * sizeof(char *));
    int64_t memory = 0;
    for (int k = 0; k < nest->nop; ++k) memory += moves(loop, k) ? lanes * nest->itemsize[k] : 0;
    char *pad = (char *)__builtin_alloca((size_t)memory + 128);
    pad += (64 - ((uintptr_t)pad & 63)) & 63;
    for (int64_t i = 0; i < memory; i += 64) memset(pad + i, 0, 64);
    for (int k = 0; k < nest->nop; ++k) {
        at[k] = data[k];
        if (!moves(loop, k)) continue;
        at[k] = pad;
        pad += lanes * nest->itemsize[k];
        if (k < loop->nin) copy_few(at[k], data[k] + whole * nest->itemsize[k], rest * nest->itemsize[k]);
    }
    loop->run(lanes, at, nest->params);
    for (int k = loop->nin; k < nest->nop; ++k)
        copy_few(data[k] + whole * nest->itemsize[k], at[k], rest * nest->itemsize[k]);
}

/* What one thread needs to gather and scatter. */
typedef struct {
    char **buffer, **at; /* per operand: its buffer, and where the loop finds it */
    const char **held;   /* per operand: what its buffer holds, if that does not move from tile to tile */
    int64_t *held_size;
} workspace;

/* Each row of a tile by itself; those in buffers follow each other. */
static void run_by_row(const loop_nest *nest, const workspace *d, char *const *p, const int64_t *row, int64_t rows, int64_t n) {
    char **at = (char **)__builtin_alloca((size_t)nest->nop * sizeof(char *));
    memcpy(at, d->at, (size_t)nest->nop * sizeof(char *));
    for (int64_t r = 0; r < rows; ++r) {
        nest->loop->run(n, at, nest->params);
        for (int k = 0; k < nest->nop; ++k)
            if (moves(nest->loop, k)) at[k] += d->at[k] == p[k] ? row[k] : n * nest->itemsize[k];
    }
}

/* Whether each row of a tile is better run by itself: it is long enough, and some operand has contiguous rows with
 * gaps between them, so that it needs no buffer then. */
static int runs_by_row(const loop_nest *nest, const int64_t *step, const int64_t *row, int64_t n) {
    if (n < kLongRun || n & (nest->loop->lanes - 1)) return 0;
    for (int k = 0; k < nest->nop; ++k)
        if (moves(nest->loop, k) && step[k] == nest->itemsize[k] && row[k] != n * nest->itemsize[k] && (row[k] || k >= nest->loop->nin)) return 1;
    return 0;
}

/* rows x n elements from `p` on, rows along the axis before the last. */
static void run_tile(const loop_nest *nest, const workspace *d, char *const *p, int64_t rows, int64_t n) {
    const int nin = nest->loop->nin;
    const int64_t *step = nest->strides + (nest->nd - 1) * nest->nop, *row = step - (rows > 1 ? nest->nop : 0);
    const int by_row = rows > 1 && runs_by_row(nest, step, row, n);
    for (int k = 0; k < nest->nop; ++k) {
        const int64_t size = nest->itemsize[k];
        d->at[k] = p[k];
        if (!moves(nest->loop, k) || (step[k] == size && (rows == 1 || by_row || row[k] == n * size))) continue;
        d->at[k] = d->buffer[k];
        if (k >= nin || (d->held[k] == p[k] && d->held_size[k] >= rows * n)) continue;
        th_move(d->buffer[k], n * size, size, p[k], row[k], step[k], rows, n, size);
        /* The same elements again for the next tile, where all of them or whole rows repeat. */
        const int repeats = rows == 1 ? step[k] == 0 : row[k] == 0;
        d->held[k] = repeats ? p[k] : NULL;
        d->held_size[k] = rows * n;
    }
    if (by_row)
        run_by_row(nest, d, p, row, rows, n);
    else
        run(nest, rows * n, d->at);
    for (int k = nin; k < nest->nop; ++k)
        if (d->at[k] != p[k]) th_move(p[k], row[k], step[k], d->at[k], n * nest->itemsize[k], nest->itemsize[k], rows, n, nest->itemsize[k]);
}

/* Put `index` and the operands' pointers at the `position`-th point of the first `nd` axes. */
static void seek(const loop_nest *nest, int nd, int64_t position, int64_t *index, char **p) {
    for (int d = nd - 1; d >= 0; --d) {
        index[d] = position % nest->shape[d];
        position /= nest->shape[d];
        for (int k = 0; k < nest->nop; ++k) p[k] += index[d] * nest->strides[d * nest->nop + k];
    }
}

/* Go to the next point of the first `nd` axes. */
static void advance(const loop_nest *nest, int nd, int64_t *index, char **p) {
    for (int d = nd - 1; d >= 0; --d) {
        const int64_t *step = nest->strides + d * nest->nop;
        const int carries = ++index[d] == nest->shape[d];
        const int64_t back = carries ? nest->shape[d] - 1 : -1;
        for (int k = 0; k < nest->nop; ++k) p[k] -= back * step[k];
        if (!carries) return;
        index[d] = 0;
    }
}

/* Bytes of an operand's buffer: a whole tile. In transposed tiles, an operand that is contiguous across rows needs one
 * for the edges only, which are less than kLongRun wide. */
static int64_t buffer_size(const loop_nest *nest, int k) {
    if (!nest->gathers || !moves(nest->loop, k)) return 0;
    const int64_t *step = nest->strides + (nest->nd - 1) * nest->nop + k;
    const int edges = nest->transposed && step[0] == nest->itemsize[k] && step[-nest->nop] != 0;
    return nest->itemsize[k] * (edges ? least(nest->tile, nest->transposed * kLongRun) : nest->tile);
}

/* A workspace in `memory`, which is at least workspace_size(nest) bytes. */
static size_t workspace_size(const loop_nest *nest) {
    size_t size = (size_t)nest->nop * 4 * sizeof(char *) + 64;
    for (int k = 0; k < nest->nop; ++k) size += (size_t)buffer_size(nest, k);
    return size;
}

static workspace workspace_in(const loop_nest *nest, char *memory) {
    const size_t n = (size_t)nest->nop;
    workspace d;
    d.buffer = (char **)(void *)memory;
    d.at = d.buffer + n;
    d.held = (const char **)(d.at + n);
    d.held_size = (int64_t *)(void *)(d.held + n);
    memory = (char *)(d.held_size + n);
    memory += (64 - ((uintptr_t)memory & 63)) & 63;
    for (int k = 0; k < nest->nop; ++k) {
        d.buffer[k] = memory;
        d.held[k] = NULL;
        d.held_size[k] = 0;
        memory += buffer_size(nest, k);
    }
    return d;
}

/* Elements lo to hi, counted along the last axis first: long rows. */
static void run_long_rows(void *arg, int64_t lo, int64_t hi) {
    const loop_nest *nest = (const loop_nest *)arg;
    const int outer = nest->nd - 1;
    const int64_t n = nest->shape[outer], *step = nest->strides + outer * nest->nop;
    char **p = (char **)__builtin_alloca((size_t)nest->nop * sizeof(char *)), **q = (char **)__builtin_alloca((size_t)nest->nop * sizeof(char *));
    int64_t index[TH_MAX_NDIM], skip = lo % n;
    const workspace d = workspace_in(nest, (char *)__builtin_alloca(workspace_size(nest)));
    memcpy(p, nest->data, (size_t)nest->nop * sizeof(char *));
    seek(nest, outer, lo / n, index, p);
    while (lo < hi) {
        const int64_t end = least(n, skip + hi - lo), most = nest->gathers ? nest->tile : end;
        lo += end - skip;
        for (; skip < end; skip += most) {
            for (int k = 0; k < nest->nop; ++k) q[k] = p[k] + skip * step[k];
            run_tile(nest, &d, q, 1, least(most, end - skip));
        }
        skip = 0;
        advance(nest, outer, index, p);
    }
}

/* Elements lo to hi, counted along the last axis first, by the kernel's loop over rows. */
static void run_rows(void *arg, int64_t lo, int64_t hi) {
    const loop_nest *nest = (const loop_nest *)arg;
    const int outer = nest->nd - 2;
    const int64_t m = nest->shape[outer], n = nest->shape[outer + 1];
    const int64_t *row = nest->strides + outer * nest->nop, *step = row + nest->nop;
    char **p = (char **)__builtin_alloca((size_t)nest->nop * sizeof(char *));
    int64_t index[TH_MAX_NDIM], at = lo / n % m, skip = lo % n;
    memcpy(p, nest->data, (size_t)nest->nop * sizeof(char *));
    seek(nest, outer, lo / n / m, index, p);
    for (int k = 0; k < nest->nop; ++k) p[k] += at * row[k] + skip * step[k];
    while (lo < hi) {
        /* the rest of a row that another piece has begun, whole rows, the beginning of one */
        const int64_t whole = skip || hi - lo < n ? 0 : least(m - at, (hi - lo) / n), few = least(n - skip, hi - lo);
        const int64_t rows = whole ? whole : 1, done = whole ? n : few;
        nest->loop->rows(rows, done, p, row, nest->params);
        lo += rows * done;
        at += rows;
        for (int k = 0; k < nest->nop; ++k) p[k] += rows * row[k] - skip * step[k];
        skip = 0;
        if (at < m) continue;
        at = 0;
        for (int k = 0; k < nest->nop; ++k) p[k] -= m * row[k];
        advance(nest, outer, index, p);
    }
}

/* Rows lo to hi, all of them short: several make a tile. */
static void run_short_rows(void *arg, int64_t lo, int64_t hi) {
    const loop_nest *nest = (const loop_nest *)arg;
    const int outer = nest->nd - 2;
    const int64_t m = nest->shape[outer], n = nest->shape[outer + 1], *row = nest->strides + outer * nest->nop;
    const int64_t whole_rows = nest->tile / n, most = whole_rows > 8 ? whole_rows & ~(int64_t)7 : whole_rows; /* whole squares of what is turned */
    char **p = (char **)__builtin_alloca((size_t)nest->nop * sizeof(char *)), **q = (char **)__builtin_alloca((size_t)nest->nop * sizeof(char *));
    int64_t index[TH_MAX_NDIM], skip = lo % m;
    const workspace d = workspace_in(nest, (char *)__builtin_alloca(workspace_size(nest)));
    memcpy(p, nest->data, (size_t)nest->nop * sizeof(char *));
    seek(nest, outer, lo / m, index, p);
    while (lo < hi) {
        const int64_t end = least(m, skip + hi - lo);
        lo += end - skip;
        for (; skip < end; skip += most) {
            for (int k = 0; k < nest->nop; ++k) q[k] = p[k] + skip * row[k];
            run_tile(nest, &d, q, least(most, end - skip), n);
        }
        skip = 0;
        advance(nest, outer, index, p);
    }
}

/* Tiles lo to hi, counted down the rows first: some operand is contiguous along the axis before the last. Consecutive
 * tiles read adjacent memory of it. */
static void run_transposed_tiles(void *arg, int64_t lo, int64_t hi) {
    const loop_nest *nest = (const loop_nest *)arg;
    const int outer = nest->nd - 2;
    const int64_t m = nest->shape[outer], n = nest->shape[outer + 1], *row = nest->strides + outer * nest->nop, *step = row + nest->nop;
    const int64_t high = nest->transposed, width = nest->tile / high, columns = (n + width - 1) / width, lines = (m + high - 1) / high;
    char **p = (char **)__builtin_alloca((size_t)nest->nop * sizeof(char *)), **q = (char **)__builtin_alloca((size_t)nest->nop * sizeof(char *));
    int64_t index[TH_MAX_NDIM];
    const workspace d = workspace_in(nest, (char *)__builtin_alloca(workspace_size(nest)));
    memcpy(p, nest->data, (size_t)nest->nop * sizeof(char *));
    seek(nest, outer, lo / (columns * lines), index, p);
    for (; lo < hi; ++lo) {
        const int64_t r = lo % lines * high, c = lo / lines % columns * width;
        for (int k = 0; k < nest->nop; ++k) q[k] = p[k] + r * row[k] + c * step[k];
        const int64_t all = least(width, n - c), rest = all & (nest->loop->lanes - 1), rows = least(high, m - r);
        if (all > rest) run_tile(nest, &d, q, rows, all - rest);
        for (int k = 0; k < nest->nop; ++k) q[k] += (all - rest) * step[k];
        if (rest) run_tile(nest, &d, q, rows, rest);
        if ((lo + 1) % (columns * lines) == 0) advance(nest, outer, index, p);
    }
}

/* -------------------------------------------------------------------------- making ready */

/* Make the loop nest as short as it can be: axes of length 1 go, the others are ordered from the largest strides
 * to the smallest, and an axis that merely continues the next one (in every operand) is joined to it.
 * Returns the number of axes left, at least 1. */
static int collapse(int nop, int nd, int64_t *shape, int64_t *strides) {
    int64_t reach[TH_MAX_NDIM], *row = (int64_t *)__builtin_alloca((size_t)nop * sizeof(int64_t));
    const size_t width = (size_t)nop * sizeof(int64_t);
    int kept = 0;
    for (int d = 0; d < nd; ++d) {
        if (shape[d] == 1) continue;
        int64_t length = shape[d], sum = 0;
        memcpy(row, strides + d * nop, width);
        for (int k = 0; k < nop; ++k) sum += row[k] < 0 ? -row[k] : row[k];
        int at = kept++;
        for (; at > 0 && reach[at - 1] < sum; --at) {
            reach[at] = reach[at - 1];
            shape[at] = shape[at - 1];
            memcpy(strides + at * nop, strides + (at - 1) * nop, width);
        }
        reach[at] = sum;
        shape[at] = length;
        memcpy(strides + at * nop, row, width);
    }
    if (kept == 0) {
        shape[0] = 1;
        memset(strides, 0, width);
        return 1;
    }
    int last = 0;
    for (int d = 1; d < kept; ++d) {
        int merges = 1;
        for (int k = 0; k < nop; ++k) merges &= strides[last * nop + k] == shape[d] * strides[d * nop + k];
        if (merges) {
            shape[last] *= shape[d];
        } else {
            shape[++last] = shape[d];
        }
        memmove(strides + last * nop, strides + d * nop, width);
    }
    return last + 1;
}

/* Elements of a tile, so that the buffers of all operands fit in the cache. */
static int64_t tile_size(const loop_nest *nest) {
    int64_t bytes = 1;
    for (int k = 0; k < nest->nop; ++k) bytes += moves(nest->loop, k) ? nest->itemsize[k] : 0;
    const int64_t size = least(kTileBytes / bytes, kTileMost);
    return size < kShortRow ? kShortRow : size & ~(int64_t)63;
}

/* The same where tiles are transposed, and the rows of one: only what is not packed along the last axis needs a buffer. */
static void size_transposed_tiles(loop_nest *nest) {
    const int64_t *step = nest->strides + (nest->nd - 1) * nest->nop;
    int64_t bytes = 0, smallest = kLineBytes;
    for (int k = 0; k < nest->nop; ++k) {
        if (!moves(nest->loop, k) || step[k] == nest->itemsize[k]) continue;
        bytes += nest->itemsize[k];
        if (step[k - nest->nop] == nest->itemsize[k]) smallest = least(smallest, nest->itemsize[k]);
    }
    nest->transposed = least(kLineBytes / smallest, kTransposedRows);
    const int64_t width = least(kTransposedBytes / (bytes * nest->transposed), kTransposedMost) & ~(int64_t)63;
    nest->tile = nest->transposed * (width < 64 ? 64 : width);
}

/* The axis along which an operand that is not packed along the last one has its neighbours, or -1. */
static int other_axis(const loop_nest *nest) {
    const int64_t *step = nest->strides + (nest->nd - 1) * nest->nop;
    for (int k = 0; k < nest->nop; ++k) {
        if (!moves(nest->loop, k) || step[k] == nest->itemsize[k] || step[k] == 0) continue;
        for (int d = nest->nd - 2; d >= 0; --d)
            if (nest->strides[d * nest->nop + k] == nest->itemsize[k]) return d;
    }
    return -1;
}

/* Make an axis the one before the last; the others keep their order. */
static void bring_inside(int nop, int nd, int axis, int64_t *shape, int64_t *strides, int64_t *saved) {
    const size_t width = (size_t)nop * sizeof(int64_t);
    const int64_t length = shape[axis];
    memcpy(saved, strides + axis * nop, width);
    for (int d = axis; d < nd - 2; ++d) {
        shape[d] = shape[d + 1];
        memcpy(strides + d * nop, strides + (d + 1) * nop, width);
    }
    shape[nd - 2] = length;
    memcpy(strides + (nd - 2) * nop, saved, width);
}

/* Whether the kernel's loop over rows serves these strides: along the last axis an operand stands still or has neighbours,
 * as the types say. Rows of few elements are cheaper where many make a tile. */
static int serves_rows(const loop_nest *nest) {
    const th_loop *loop = nest->loop;
    const int64_t *step = nest->strides + (nest->nd - 1) * nest->nop;
    if (!loop->rows || nest->nd < 2 || nest->shape[nest->nd - 1] < (loop->still ? kFewestInRow : kFewestInSame)) return 0;
    for (int k = 0; k < nest->nop; ++k)
        if (moves(loop, k) && step[k] != (loop->still >> k & 1 ? 0 : nest->itemsize[k])) return 0;
    return 1;
}

/* Elements lo to hi, counted along the last axis first, by the kernel's loop for any strides. */
static void run_strided(void *arg, int64_t lo, int64_t hi) {
    const loop_nest *nest = (const loop_nest *)arg;
    const int outer = nest->nd - 1;
    const int64_t n = nest->shape[outer], *step = nest->strides + outer * nest->nop;
    char **p = (char **)__builtin_alloca((size_t)nest->nop * sizeof(char *));
    int64_t index[TH_MAX_NDIM], skip = lo % n;
    memcpy(p, nest->data, (size_t)nest->nop * sizeof(char *));
    seek(nest, outer, lo / n, index, p);
    for (int k = 0; k < nest->nop; ++k) p[k] += skip * step[k];
    while (lo < hi) {
        const int64_t few = least(n - skip, hi - lo);
        nest->loop->strided(few, p, step, nest->params);
        lo += few;
        for (int k = 0; k < nest->nop; ++k) p[k] -= skip * step[k];
        skip = 0;
        advance(nest, outer, index, p);
    }
}

/* Whether the kernel's loop for any strides takes less time than to gather: of fewer bytes, whole vectors are shuffled
 * into the buffers. (Measured for 1 to 16 bytes: 0.5 to 0.9 of the time from 8 bytes on, 1.1 to 6 times below.) */
static int serves_strides(const loop_nest *nest) {
    const int64_t *step = nest->strides + (nest->nd - 1) * nest->nop;
    int64_t bytes = 0;
    for (int k = 0; k < nest->nop; ++k)
        if (moves(nest->loop, k) && step[k] && step[k] != nest->itemsize[k]) bytes += nest->itemsize[k];
    return nest->loop->strided && bytes >= kScatteredBytes;
}

static int start(th_ctx *ctx, const loop_nest *nest, int64_t n, double ns, th_body body) {
    if (ns * (double)n < kSerialNs) {
        body((void *)nest, 0, n);
        return 0;
    }
    const double grain = kPieceNs / ns;
    return ctx->rt->parallel_for(ctx, n, grain < 1.0 ? 1 : (int64_t)grain, body, (void *)nest);
}

/* Any strides. */
static int run_general(th_ctx *ctx, loop_nest *nest, int64_t n, const int64_t *full_shape) {
    const th_loop *loop = nest->loop;
    const int nop = nest->nop, ndim = loop->ndim;
    int64_t shape[TH_MAX_NDIM], *strides = (int64_t *)__builtin_alloca((size_t)(ndim * nop) * sizeof(int64_t));
    memcpy(shape, full_shape, (size_t)ndim * sizeof(int64_t));
    for (int k = 0; k < nop; ++k) {
        const th_buffer *b = k < loop->nin ? ctx->in[k] : ctx->out[k - loop->nin];
        const uint64_t ones = k < loop->nin ? loop->ones[k] : 0;
        for (int d = 0; d < ndim; ++d) strides[d * nop + k] = ones >> d & 1 ? 0 : b->strides[d];
    }
    nest->nd = collapse(nop, ndim, shape, strides);
    nest->shape = shape;
    nest->strides = strides;
    const int64_t inner = shape[nest->nd - 1], *step = strides + (nest->nd - 1) * nop;
    if (serves_rows(nest)) return start(ctx, nest, n, loop->work, run_rows);
    nest->tile = tile_size(nest);
    /* Long rows that are contiguous in all operands are computed in place. */
    const int many = nest->nd > 1 && inner < kShortRow;
    nest->gathers = many;
    for (int k = 0; k < nop; ++k) nest->gathers |= moves(loop, k) && step[k] != nest->itemsize[k];
    for (int k = 0; k < nop; ++k)
        if (!many && moves(loop, k) && step[k] == 0) nest->tile = least(nest->tile, kHeldMost);
    const int axis = nest->gathers && !many ? other_axis(nest) : -1;
    if (axis >= 0 && shape[axis] >= 8) {
        bring_inside(nop, nest->nd, axis, shape, strides, (int64_t *)__builtin_alloca((size_t)nop * sizeof(int64_t)));
        size_transposed_tiles(nest);
        const int64_t m = shape[nest->nd - 2], high = nest->transposed, width = nest->tile / high;
        const int64_t tiles = (n / (m * inner)) * ((m + high - 1) / high) * ((inner + width - 1) / width);
        return start(ctx, nest, tiles, loop->work * (double)nest->tile, run_transposed_tiles);
    }
    if (many) return start(ctx, nest, n / inner, loop->work * (double)inner, run_short_rows);
    if (nest->gathers && serves_strides(nest)) return start(ctx, nest, n, loop->work, run_strided);
    return start(ctx, nest, n, loop->work, run_long_rows);
}

static int mismatch(th_ctx *ctx, int axis, int i, int64_t length_i, int j, int64_t length_j) {
    const char *hint = length_i == 1 || length_j == 1
                           ? ". A length of 1 is stretched only if the variable's type says it is always 1"
                           : "";
    return ctx->rt->fail(ctx, TH_ERR_SHAPE,
                         "Input dimension mis-match: along axis %d, input %d has length %lld but input %d has %lld%s",
                         axis, j, (long long)length_j, i, (long long)length_i, hint);
}

#ifdef __cplusplus
extern "C"
#endif
int th_is_packed(const th_buffer *b) {
    int64_t expected = b->itemsize;
    for (int d = b->ndim - 1; d >= 0; --d) {
        if (b->shape[d] != 1) {
            if (b->strides[d] != expected) return 0;
            expected *= b->shape[d];
        }
    }
    return 1;
}

/* The common case, settled in one pass over the types and tables: all inputs that are not one element have the same
 * shape and are packed. Returns that shape and counts its elements, or NULL: look closer. */
static const int64_t *same_and_packed(const th_ctx *ctx, const th_loop *loop, int64_t *n) {
    const th_buffer *first = NULL;
    const int ndim = loop->ndim;
    for (int k = 0; k < loop->nin; ++k) {
        if (loop->kind[k] == TH_INVARIANT) continue;
        if (loop->kind[k] != TH_FULL) return NULL;
        const th_buffer *b = ctx->in[k];
        if (!first) first = b;
        int64_t count = 1;
        for (int d = ndim - 1; d >= 0; --d) {
            if (b->shape[d] != first->shape[d] || b->strides[d] != count * b->itemsize) return NULL;
            count *= b->shape[d];
        }
        *n = count;
    }
    return first ? first->shape : NULL;
}

/* The outputs' shape from the inputs'; -1: they do not agree. */
static int find_shape(th_ctx *ctx, const th_loop *loop, int64_t *shape) {
    for (int d = 0; d < loop->ndim; ++d) {
        int first = -1;
        shape[d] = 1;
        for (int k = 0; k < loop->nin; ++k) {
            if (loop->ones[k] >> d & 1) continue;
            const int64_t length = ctx->in[k]->shape[d];
            if (first < 0) {
                first = k;
                shape[d] = length;
            } else if (length != shape[d]) {
                return mismatch(ctx, d, first, shape[d], k, length);
            }
        }
    }
    return 0;
}

/* The outputs in that shape, and the addresses of all operands. (Inline: a call would slow the shortest loops.) */
static inline __attribute__((always_inline)) int make_outputs(th_ctx *ctx, const th_loop *loop, const int64_t *shape, char **data) {
    for (int k = 0; k < loop->nin; ++k) data[k] = ctx->in[k]->data;
    for (int j = 0; j < loop->nout; ++j) {
        th_buffer *b = ctx->out[j];
        if (loop->over[j] >= 0) {
            const th_buffer *x = ctx->in[loop->over[j]];
            if (ctx->rt->view(ctx, b, x, x->data, x->ndim, x->shape, x->strides)) return -1;
        } else if (ctx->rt->ensure(ctx, b, shape)) {
            return -1;
        }
        data[loop->nin + j] = b->data;
    }
    return 0;
}

/* One run over everything: every operand is packed (or one element, which stands still). */
static int run_flat(th_ctx *ctx, loop_nest *nest, int64_t n) {
    if (nest->loop->work * (double)n < kSerialNs) {
        run(nest, n, nest->data);
        return 0;
    }
    int64_t *steps = (int64_t *)__builtin_alloca((size_t)nest->nop * sizeof(int64_t));
    for (int k = 0; k < nest->nop; ++k) steps[k] = moves(nest->loop, k) ? nest->itemsize[k] : 0;
    nest->shape = &n;
    nest->strides = steps;
    return start(ctx, nest, n, nest->loop->work, run_long_rows);
}

#ifdef __cplusplus
extern "C"
#endif
int th_elementwise(th_ctx *ctx, const th_loop *loop) {
    const int nin = loop->nin, nop = nin + loop->nout;
    char **data = (char **)__builtin_alloca((size_t)nop * sizeof(char *));
    int64_t own[TH_MAX_NDIM], n;
    const int64_t *shape = same_and_packed(ctx, loop, &n);
    int flat = shape != NULL;
    if (!flat) {
        shape = own;
        if (find_shape(ctx, loop, own)) return -1;
        n = 1;
        for (int d = 0; d < loop->ndim; ++d) n *= own[d];
        flat = 1; /* packed in a way that only lengths of 1 hide? */
        for (int k = 0; k < nin; ++k)
            if (loop->kind[k] != TH_INVARIANT) flat &= loop->kind[k] == TH_FULL && th_is_packed(ctx->in[k]);
    }
    if (make_outputs(ctx, loop, shape, data)) return -1;
    if (n == 0) return 0;
    if (flat && loop->lanes == 1 && loop->work * (double)n < kSerialNs) {
        loop->run(n, data, (const char *)ctx->params);
        return 0;
    }
    int64_t *itemsize = (int64_t *)__builtin_alloca((size_t)nop * sizeof(int64_t));
    for (int k = 0; k < nop; ++k) itemsize[k] = (k < nin ? ctx->in[k] : ctx->out[k - nin])->itemsize;
    loop_nest nest = {loop, (const char *)ctx->params, nop, 1, 0, data, itemsize, shape, itemsize, 0, 0};
    return flat ? run_flat(ctx, &nest, n) : run_general(ctx, &nest, n, shape);
}

#ifdef __cplusplus
extern "C"
#endif
int th_size_outputs(th_ctx *ctx, const th_loop *loop) {
    char **data = (char **)__builtin_alloca((size_t)(loop->nin + loop->nout + 1) * sizeof(char *));
    int64_t shape[TH_MAX_NDIM];
    if (find_shape(ctx, loop, shape)) return -1;
    return make_outputs(ctx, loop, shape, data);
}
