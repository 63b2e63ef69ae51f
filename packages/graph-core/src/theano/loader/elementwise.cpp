/* Element-wise loops: everything about them but the arithmetic.
 *
 * A generated element-wise kernel is one loop over neighbours and a table of what its types say (th_loop of abi.h).
 * What is the same for all of them is here, compiled once: checking shapes, sizing outputs, making the loop
 * nest short, threads, and bringing elements together that are not neighbours.
 *
 * The work is cut into tiles that fit in the first-level cache. An operand whose part of a tile is one run
 * of neighbours is used where it lies; any other is gathered into a buffer before (an input) or scattered
 * from one after (an output). So a kernel needs no second loop for strides, and rows of ten elements cost no more than
 * long ones: many of them make one tile.
 *
 * Written in what C and C++ have in common: the kernels' tests include it in a runtime of their own.
 */
#include "abi.h"
#include "move.h"

#include <string.h>

#if defined(_MSC_VER)
#include <malloc.h>
#define TH_ALLOCA _alloca
#else
#define TH_ALLOCA __builtin_alloca
#endif

/* Below this many nanoseconds of work a loop stays on the thread that called it; above, it is cut
 * into pieces of about kPieceNs. */
static const double kSerialNs = 60000.0, kPieceNs = 25000.0;

static const int64_t kTileBytes = 24 << 10; /* of buffers, per tile: half of a first-level cache */
static const int64_t kTileMost = 1024;      /* elements */
static const int64_t kShortRow = 128;       /* shorter rows go several to a tile */
static const int64_t kLongRun = 32;         /* elements that are worth a run */
static const int64_t kHeldMost = 512;       /* elements of a tile of a long row whose buffer is filled once for the row */

/* Tiles where neighbours lie along another axis: rows, bytes of what is turned around,
 * and elements of a row. */
static const int64_t kBand = 16, kBandBytes = 24 << 10, kBandMost = 256;

/* One loop nest, made ready: see walk_rows. */
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
    int bands;               /* tiles are of kBand rows: see walk_bands */
} walk;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int moves(const th_loop *loop, int k) { return k >= loop->nin || !(loop->kind[k] & TH_STILL); }

/* ------------------------------------------------------------------------------ running */

/* Less than a vector: a call of memcpy would take longer than the copy. */
static void copy_few(char *to, const char *from, int64_t bytes) {
    for (; bytes >= 8; bytes -= 8, to += 8, from += 8) memcpy(to, from, 8);
    for (; bytes > 0; --bytes) *to++ = *from++;
}

/* n neighbours of each operand. The kernel takes whole vectors only; the rest is one vector of copies. */
static void run(const walk *w, int64_t n, char *const *data) {
    const th_loop *loop = w->loop;
    const int64_t lanes = loop->lanes, rest = n & (lanes - 1), whole = n - rest;
    if (whole) loop->run(whole, data, w->params);
    if (!rest) return;
    char **at = (char **)TH_ALLOCA((size_t)w->nop * sizeof(char *));
    int64_t room = 0;
    for (int k = 0; k < w->nop; ++k) room += moves(loop, k) ? lanes * w->itemsize[k] : 0;
    char *pad = (char *)TH_ALLOCA((size_t)room + 128);
    pad += (64 - ((uintptr_t)pad & 63)) & 63;
    for (int64_t i = 0; i < room; i += 64) memset(pad + i, 0, 64);
    for (int k = 0; k < w->nop; ++k) {
        at[k] = data[k];
        if (!moves(loop, k)) continue;
        at[k] = pad;
        pad += lanes * w->itemsize[k];
        if (k < loop->nin) copy_few(at[k], data[k] + whole * w->itemsize[k], rest * w->itemsize[k]);
    }
    loop->run(lanes, at, w->params);
    for (int k = loop->nin; k < w->nop; ++k)
        copy_few(data[k] + whole * w->itemsize[k], at[k], rest * w->itemsize[k]);
}

/* What one thread needs to gather and scatter. */
typedef struct {
    char **buffer, **at; /* per operand: its buffer, and where the loop finds it */
    const char **held;   /* per operand: what its buffer holds, if that does not move from tile to tile */
    int64_t *held_size;
} desk;

/* Each row of a tile by itself; those in buffers follow each other. */
static void run_apart(const walk *w, const desk *d, char *const *p, const int64_t *row, int64_t rows, int64_t n) {
    char **at = (char **)TH_ALLOCA((size_t)w->nop * sizeof(char *));
    memcpy(at, d->at, (size_t)w->nop * sizeof(char *));
    for (int64_t r = 0; r < rows; ++r) {
        w->loop->run(n, at, w->params);
        for (int k = 0; k < w->nop; ++k)
            if (moves(w->loop, k)) at[k] += d->at[k] == p[k] ? row[k] : n * w->itemsize[k];
    }
}

/* Whether each row of a tile is better run by itself: it is long enough, and the rows of some operand, though not what is
 * between them, lie as neighbours, so that it needs no buffer then. */
static int runs_apart(const walk *w, const int64_t *step, const int64_t *row, int64_t n) {
    if (n < kLongRun || n & (w->loop->lanes - 1)) return 0;
    for (int k = 0; k < w->nop; ++k)
        if (moves(w->loop, k) && step[k] == w->itemsize[k] && row[k] != n * w->itemsize[k] && (row[k] || k >= w->loop->nin)) return 1;
    return 0;
}

/* rows x n elements from `p` on, rows along the axis before the last. */
static void tile(const walk *w, const desk *d, char *const *p, int64_t rows, int64_t n) {
    const int nin = w->loop->nin;
    const int64_t *step = w->strides + (w->nd - 1) * w->nop, *row = step - (rows > 1 ? w->nop : 0);
    const int apart = rows > 1 && runs_apart(w, step, row, n);
    for (int k = 0; k < w->nop; ++k) {
        const int64_t size = w->itemsize[k];
        d->at[k] = p[k];
        if (!moves(w->loop, k) || (step[k] == size && (rows == 1 || apart || row[k] == n * size))) continue;
        d->at[k] = d->buffer[k];
        if (k >= nin || (d->held[k] == p[k] && d->held_size[k] >= rows * n)) continue;
        th_move(d->buffer[k], n * size, size, p[k], row[k], step[k], rows, n, size);
        /* The same elements again for the next tile, where all of them or whole rows repeat. */
        const int repeats = rows == 1 ? step[k] == 0 : row[k] == 0;
        d->held[k] = repeats ? p[k] : NULL;
        d->held_size[k] = rows * n;
    }
    if (apart)
        run_apart(w, d, p, row, rows, n);
    else
        run(w, rows * n, d->at);
    for (int k = nin; k < w->nop; ++k)
        if (d->at[k] != p[k]) th_move(p[k], row[k], step[k], d->at[k], n * w->itemsize[k], w->itemsize[k], rows, n, w->itemsize[k]);
}

/* Put `index` and the operands' pointers at the `position`-th point of the first `nd` axes. */
static void seek(const walk *w, int nd, int64_t position, int64_t *index, char **p) {
    for (int d = nd - 1; d >= 0; --d) {
        index[d] = position % w->shape[d];
        position /= w->shape[d];
        for (int k = 0; k < w->nop; ++k) p[k] += index[d] * w->strides[d * w->nop + k];
    }
}

/* Go to the next point of the first `nd` axes. */
static void advance(const walk *w, int nd, int64_t *index, char **p) {
    for (int d = nd - 1; d >= 0; --d) {
        const int64_t *step = w->strides + d * w->nop;
        const int carries = ++index[d] == w->shape[d];
        const int64_t back = carries ? w->shape[d] - 1 : -1;
        for (int k = 0; k < w->nop; ++k) p[k] -= back * step[k];
        if (!carries) return;
        index[d] = 0;
    }
}

/* Bytes of an operand's buffer: a whole tile; of bands, what lies as neighbours in different rows needs one for the
 * edges only, which are less than kLongRun wide. */
static int64_t buffer_size(const walk *w, int k) {
    if (!w->gathers || !moves(w->loop, k)) return 0;
    const int64_t *step = w->strides + (w->nd - 1) * w->nop + k;
    const int edges = w->bands && step[0] == w->itemsize[k] && step[-w->nop] != 0;
    return w->itemsize[k] * (edges ? least(w->tile, kBand * kLongRun) : w->tile);
}

/* A desk in `room`, which is at least desk_size(w) bytes. */
static size_t desk_size(const walk *w) {
    size_t size = (size_t)w->nop * 4 * sizeof(char *) + 64;
    for (int k = 0; k < w->nop; ++k) size += (size_t)buffer_size(w, k);
    return size;
}

static desk desk_in(const walk *w, char *room) {
    const size_t n = (size_t)w->nop;
    desk d;
    d.buffer = (char **)(void *)room;
    d.at = d.buffer + n;
    d.held = (const char **)(d.at + n);
    d.held_size = (int64_t *)(void *)(d.held + n);
    room = (char *)(d.held_size + n);
    room += (64 - ((uintptr_t)room & 63)) & 63;
    for (int k = 0; k < w->nop; ++k) {
        d.buffer[k] = room;
        d.held[k] = NULL;
        d.held_size[k] = 0;
        room += buffer_size(w, k);
    }
    return d;
}

/* Elements lo to hi, counted along the last axis first: long rows. */
static void walk_rows(void *arg, int64_t lo, int64_t hi) {
    const walk *w = (const walk *)arg;
    const int outer = w->nd - 1;
    const int64_t n = w->shape[outer], *step = w->strides + outer * w->nop;
    char **p = (char **)TH_ALLOCA((size_t)w->nop * sizeof(char *)), **q = (char **)TH_ALLOCA((size_t)w->nop * sizeof(char *));
    int64_t index[TH_MAX_NDIM], skip = lo % n;
    const desk d = desk_in(w, (char *)TH_ALLOCA(desk_size(w)));
    memcpy(p, w->data, (size_t)w->nop * sizeof(char *));
    seek(w, outer, lo / n, index, p);
    while (lo < hi) {
        const int64_t end = least(n, skip + hi - lo), most = w->gathers ? w->tile : end;
        lo += end - skip;
        for (; skip < end; skip += most) {
            for (int k = 0; k < w->nop; ++k) q[k] = p[k] + skip * step[k];
            tile(w, &d, q, 1, least(most, end - skip));
        }
        skip = 0;
        advance(w, outer, index, p);
    }
}

/* Rows lo to hi, all of them short: several make a tile. */
static void walk_short_rows(void *arg, int64_t lo, int64_t hi) {
    const walk *w = (const walk *)arg;
    const int outer = w->nd - 2;
    const int64_t m = w->shape[outer], n = w->shape[outer + 1], *row = w->strides + outer * w->nop;
    const int64_t fit = w->tile / n, most = fit > 8 ? fit & ~(int64_t)7 : fit; /* whole squares of what is turned */
    char **p = (char **)TH_ALLOCA((size_t)w->nop * sizeof(char *)), **q = (char **)TH_ALLOCA((size_t)w->nop * sizeof(char *));
    int64_t index[TH_MAX_NDIM], skip = lo % m;
    const desk d = desk_in(w, (char *)TH_ALLOCA(desk_size(w)));
    memcpy(p, w->data, (size_t)w->nop * sizeof(char *));
    seek(w, outer, lo / m, index, p);
    while (lo < hi) {
        const int64_t end = least(m, skip + hi - lo);
        lo += end - skip;
        for (; skip < end; skip += most) {
            for (int k = 0; k < w->nop; ++k) q[k] = p[k] + skip * row[k];
            tile(w, &d, q, least(most, end - skip), n);
        }
        skip = 0;
        advance(w, outer, index, p);
    }
}

/* Tiles lo to hi of kBand rows each: some operand has its neighbours along the axis before the last. */
static void walk_bands(void *arg, int64_t lo, int64_t hi) {
    const walk *w = (const walk *)arg;
    const int outer = w->nd - 2;
    const int64_t m = w->shape[outer], n = w->shape[outer + 1], *row = w->strides + outer * w->nop, *step = row + w->nop;
    const int64_t width = w->tile / kBand, across = (n + width - 1) / width, down = (m + kBand - 1) / kBand;
    char **p = (char **)TH_ALLOCA((size_t)w->nop * sizeof(char *)), **q = (char **)TH_ALLOCA((size_t)w->nop * sizeof(char *));
    int64_t index[TH_MAX_NDIM];
    const desk d = desk_in(w, (char *)TH_ALLOCA(desk_size(w)));
    memcpy(p, w->data, (size_t)w->nop * sizeof(char *));
    seek(w, outer, lo / (across * down), index, p);
    for (; lo < hi; ++lo) {
        const int64_t r = lo / across % down * kBand, c = lo % across * width;
        for (int k = 0; k < w->nop; ++k) q[k] = p[k] + r * row[k] + c * step[k];
        const int64_t all = least(width, n - c), rest = all & (w->loop->lanes - 1), rows = least(kBand, m - r);
        if (all > rest) tile(w, &d, q, rows, all - rest);
        for (int k = 0; k < w->nop; ++k) q[k] += (all - rest) * step[k];
        if (rest) tile(w, &d, q, rows, rest);
        if ((lo + 1) % (across * down) == 0) advance(w, outer, index, p);
    }
}

/* -------------------------------------------------------------------------- making ready */

/* Make the loop nest as short as it can be: axes of length 1 go, the others are ordered from the largest strides
 * to the smallest, and an axis that merely continues the next one (in every operand) is joined to it.
 * Returns the number of axes left, at least 1. */
static int collapse(int nop, int nd, int64_t *shape, int64_t *strides) {
    int64_t reach[TH_MAX_NDIM], *row = (int64_t *)TH_ALLOCA((size_t)nop * sizeof(int64_t));
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
        int joins = 1;
        for (int k = 0; k < nop; ++k) joins &= strides[last * nop + k] == shape[d] * strides[d * nop + k];
        if (joins) {
            shape[last] *= shape[d];
        } else {
            shape[++last] = shape[d];
        }
        memmove(strides + last * nop, strides + d * nop, width);
    }
    return last + 1;
}

/* Elements of a tile, so that the buffers of all operands fit in the cache. */
static int64_t tile_size(const walk *w) {
    int64_t bytes = 1;
    for (int k = 0; k < w->nop; ++k) bytes += moves(w->loop, k) ? w->itemsize[k] : 0;
    const int64_t size = least(kTileBytes / bytes, kTileMost);
    return size < kShortRow ? kShortRow : size & ~(int64_t)63;
}

/* The same where a tile is kBand rows: only what is not packed along the last axis needs a buffer. */
static int64_t band_size(const walk *w) {
    const int64_t *step = w->strides + (w->nd - 1) * w->nop;
    int64_t bytes = 0;
    for (int k = 0; k < w->nop; ++k) bytes += moves(w->loop, k) && step[k] != w->itemsize[k] ? w->itemsize[k] : 0;
    const int64_t width = least(kBandBytes / (bytes * kBand), kBandMost) & ~(int64_t)63;
    return kBand * (width < 64 ? 64 : width);
}

/* The axis along which an operand that is not packed along the last one has its neighbours, or -1. */
static int other_axis(const walk *w) {
    const int64_t *step = w->strides + (w->nd - 1) * w->nop;
    for (int k = 0; k < w->nop; ++k) {
        if (!moves(w->loop, k) || step[k] == w->itemsize[k] || step[k] == 0) continue;
        for (int d = w->nd - 2; d >= 0; --d)
            if (w->strides[d * w->nop + k] == w->itemsize[k]) return d;
    }
    return -1;
}

/* Make an axis the one before the last; the others keep their order. */
static void bring_inside(int nop, int nd, int axis, int64_t *shape, int64_t *strides, int64_t *room) {
    const size_t width = (size_t)nop * sizeof(int64_t);
    const int64_t length = shape[axis];
    memcpy(room, strides + axis * nop, width);
    for (int d = axis; d < nd - 2; ++d) {
        shape[d] = shape[d + 1];
        memcpy(strides + d * nop, strides + (d + 1) * nop, width);
    }
    shape[nd - 2] = length;
    memcpy(strides + (nd - 2) * nop, room, width);
}

static int start(th_ctx *ctx, const walk *w, int64_t n, double ns, th_body body) {
    if (ns * (double)n < kSerialNs) {
        body((void *)w, 0, n);
        return 0;
    }
    const double grain = kPieceNs / ns;
    return ctx->rt->parallel_for(ctx, n, grain < 1.0 ? 1 : (int64_t)grain, body, (void *)w);
}

/* Any strides. */
static int run_general(th_ctx *ctx, walk *w, int64_t n, const int64_t *full_shape) {
    const th_loop *loop = w->loop;
    const int nop = w->nop, ndim = loop->ndim;
    int64_t shape[TH_MAX_NDIM], *strides = (int64_t *)TH_ALLOCA((size_t)(ndim * nop) * sizeof(int64_t));
    memcpy(shape, full_shape, (size_t)ndim * sizeof(int64_t));
    for (int k = 0; k < nop; ++k) {
        const th_buffer *b = k < loop->nin ? ctx->in[k] : ctx->out[k - loop->nin];
        const uint64_t ones = k < loop->nin ? loop->ones[k] : 0;
        for (int d = 0; d < ndim; ++d) strides[d * nop + k] = ones >> d & 1 ? 0 : b->strides[d];
    }
    w->nd = collapse(nop, ndim, shape, strides);
    w->shape = shape;
    w->strides = strides;
    const int64_t inner = shape[w->nd - 1], *step = strides + (w->nd - 1) * nop;
    w->tile = tile_size(w);
    /* Long rows that all operands have as neighbours are computed where they lie. */
    const int many = w->nd > 1 && inner < kShortRow;
    w->gathers = many;
    for (int k = 0; k < nop; ++k) w->gathers |= moves(loop, k) && step[k] != w->itemsize[k];
    for (int k = 0; k < nop; ++k)
        if (!many && moves(loop, k) && step[k] == 0) w->tile = least(w->tile, kHeldMost);
    const int axis = w->gathers && !many ? other_axis(w) : -1;
    if (axis >= 0 && shape[axis] >= 8) {
        bring_inside(nop, w->nd, axis, shape, strides, (int64_t *)TH_ALLOCA((size_t)nop * sizeof(int64_t)));
        w->bands = 1;
        w->tile = band_size(w);
        const int64_t m = shape[w->nd - 2], width = w->tile / kBand;
        const int64_t tiles = (n / (m * inner)) * ((m + kBand - 1) / kBand) * ((inner + width - 1) / width);
        return start(ctx, w, tiles, loop->work * (double)w->tile, walk_bands);
    }
    if (many) return start(ctx, w, n / inner, loop->work * (double)inner, walk_short_rows);
    return start(ctx, w, n, loop->work, walk_rows);
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
        if (loop->kind[k] == TH_STILL) continue;
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

/* The outputs in that shape, and where all operands lie. (In line: a call of it is felt in the shortest loops.) */
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
static int run_flat(th_ctx *ctx, walk *w, int64_t n) {
    if (w->loop->work * (double)n < kSerialNs) {
        run(w, n, w->data);
        return 0;
    }
    int64_t *steps = (int64_t *)TH_ALLOCA((size_t)w->nop * sizeof(int64_t));
    for (int k = 0; k < w->nop; ++k) steps[k] = moves(w->loop, k) ? w->itemsize[k] : 0;
    w->shape = &n;
    w->strides = steps;
    return start(ctx, w, n, w->loop->work, walk_rows);
}

#ifdef __cplusplus
extern "C"
#endif
int th_elementwise(th_ctx *ctx, const th_loop *loop) {
    const int nin = loop->nin, nop = nin + loop->nout;
    char **data = (char **)TH_ALLOCA((size_t)nop * sizeof(char *));
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
            if (loop->kind[k] != TH_STILL) flat &= loop->kind[k] == TH_FULL && th_is_packed(ctx->in[k]);
    }
    if (make_outputs(ctx, loop, shape, data)) return -1;
    if (n == 0) return 0;
    if (flat && loop->lanes == 1 && loop->work * (double)n < kSerialNs) {
        loop->run(n, data, (const char *)ctx->params);
        return 0;
    }
    int64_t *itemsize = (int64_t *)TH_ALLOCA((size_t)nop * sizeof(int64_t));
    for (int k = 0; k < nop; ++k) itemsize[k] = (k < nin ? ctx->in[k] : ctx->out[k - nin])->itemsize;
    walk w = {loop, (const char *)ctx->params, nop, 1, 0, data, itemsize, shape, itemsize, 0, 0};
    return flat ? run_flat(ctx, &w, n) : run_general(ctx, &w, n, shape);
}

#ifdef __cplusplus
extern "C"
#endif
int th_size_outputs(th_ctx *ctx, const th_loop *loop) {
    char **data = (char **)TH_ALLOCA((size_t)(loop->nin + loop->nout + 1) * sizeof(char *));
    int64_t shape[TH_MAX_NDIM];
    if (find_shape(ctx, loop, shape)) return -1;
    return make_outputs(ctx, loop, shape, data);
}
