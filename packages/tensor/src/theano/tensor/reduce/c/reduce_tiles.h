/* Tiles of neighbouring results that advance together, row by row; a part of reduce.c, which includes it. */
#ifndef THEANO_TENSOR_REDUCE_TILES_H
#define THEANO_TENSOR_REDUCE_TILES_H

/* The rows lo .. hi of the w results whose operands start at `base`. */
static void outer(const job *j, int64_t w, char *const *base, int64_t lo, int64_t hi, void *const *acc)
{
    const int outer = j->gone - 1, nin = j->nin;
    const int64_t n = j->gone_shape[outer], fold = j->fold;
    const int64_t *row = j->gone_strides + outer * nin, *next = j->strides + (j->kept - 1) * (nin + j->nout);
    int64_t index[TH_MAX_NDIM], wide[TH_MAX_TERMS], skip = lo % n;
    char *p[TH_MAX_TERMS], *q[TH_MAX_TERMS];
    _Alignas(64) char band[BAND_BYTES];
    for (int k = 0; k < nin; ++k) {
        p[k] = base[k];
        wide[k] = row[k] * fold;
    }
    for (int k = 0; k < j->nout; ++k)
        th_fill(j->acc[k]->size, w * fold, acc[k], j->neutral[k]);
    th_seek(nin, outer, j->gone_shape, j->gone_strides, lo / n, index, p);
    while (lo < hi) {
        const int64_t count = n - skip < hi - lo ? n - skip : hi - lo, whole = count / fold;
        for (int k = 0; k < nin; ++k)
            q[k] = p[k] + skip * row[k];
        if (whole)
            take_rows(j, w * fold, whole, q, next, wide, acc, band);
        for (int k = 0; k < nin; ++k)
            q[k] += whole * wide[k];
        if (count % fold)
            take_rows(j, w, count % fold, q, next, row, acc, band);
        lo += count;
        skip = 0;
        th_advance(nin, outer, j->gone_shape, j->gone_strides, index, p);
    }
    for (int k = 0; k < j->nout; ++k)
        for (int64_t f = 1; f < fold; ++f)
            j->acc[k]->join(w, acc[k], (char *)acc[k] + f * w * j->acc[k]->size);
}

/* Where tile `unit` is; returns its width. */
static int64_t tile_of(const job *j, int64_t unit, char **p)
{
    const int inner = j->kept - 1, nop = j->nin + j->nout;
    const int64_t start = unit % j->tiles * j->width, left = j->shape[inner] - start;
    int64_t index[TH_MAX_NDIM];
    memcpy(p, j->in, (size_t)nop * sizeof *p);
    th_seek(nop, inner, j->shape, j->strides, unit / j->tiles, index, p);
    for (int k = 0; k < nop; ++k)
        p[k] += start * j->strides[inner * nop + k];
    return left < j->width ? left : j->width;
}

static void put_tile(const job *j, int64_t w, char *const *p, void *const *acc)
{
    const int64_t *step = j->strides + (j->kept - 1) * (j->nin + j->nout) + j->nin;
    for (int k = 0; k < j->nout; ++k)
        put(j, k, acc[k], w, p[j->nin + k], step[k]);
}

/* Accumulators side by side in a piece of memory. A kernel for plain elements takes them in at multiples of a vector; there,
 * accumulators should be at multiples of a vector as well. */
static void place(const job *j, const char *x, char *memory, void **acc)
{
    if (j->runs) {
        const int64_t size = j->acc[0]->size;
        memory += th_behind(x, j->size[0], TH_VECTOR / size) * size;
    }
    for (int k = 0; k < j->nout; ++k) {
        acc[k] = memory;
        memory += (j->width * j->fold * j->acc[k]->size + 63) / 64 * 64;
    }
}

static void outer_tiles(void *arg, int64_t lo, int64_t hi)
{
    const job *j = arg;
    char *p[TH_MAX_TERMS + TH_MAX_RESULTS];
    void *acc[TH_MAX_RESULTS];
    _Alignas(64) char memory[TILE_BYTES + TH_MAX_RESULTS * 64];
    for (; lo < hi; ++lo) {
        const int64_t w = tile_of(j, lo, p);
        place(j, p[0], memory, acc);
        outer(j, w, p, 0, j->total, acc);
        put_tile(j, w, p, acc);
    }
}

/* The rows of each tile in pieces: wide tiles, each read in the order of memory, and still work for several threads. */
static void outer_pieces(void *arg, int64_t lo, int64_t hi)
{
    const job *j = arg;
    char *p[TH_MAX_TERMS + TH_MAX_RESULTS];
    void *acc[TH_MAX_RESULTS];
    for (; lo < hi; ++lo) {
        const int64_t w = tile_of(j, lo / j->pieces, p), i = lo % j->pieces;
        place(j, p[0], j->scratch + lo * j->slot, acc);
        outer(j, w, p, j->total * i / j->pieces, j->total * (i + 1) / j->pieces, acc);
    }
}

static int in_pieces(th_ctx *ctx, job *j, int64_t units)
{
    char *p[TH_MAX_TERMS + TH_MAX_RESULTS];
    void *acc[TH_MAX_RESULTS], *more[TH_MAX_RESULTS];
    j->slot = TILE_BYTES + TH_MAX_RESULTS * 64;
    j->scratch = ctx->rt->scratch(ctx, (size_t)(units * j->pieces * j->slot));
    if (j->scratch == NULL || ctx->rt->parallel_for(ctx, units * j->pieces, 1, outer_pieces, j))
        return -1;
    for (int64_t unit = 0; unit < units; ++unit) {
        const int64_t w = tile_of(j, unit, p);
        place(j, p[0], j->scratch + unit * j->pieces * j->slot, acc);
        for (int64_t i = 1; i < j->pieces; ++i) {
            place(j, p[0], j->scratch + (unit * j->pieces + i) * j->slot, more);
            for (int k = 0; k < j->nout; ++k)
                j->acc[k]->join(w, acc[k], more[k]);
        }
        put_tile(j, w, p, acc);
    }
    return 0;
}

#endif
