/* Index arrays: what is wrong with them, and the same places by the other axis. */
#include "sparse.h"

#define EXAMINE(NAME, INT, UINT) \
    static int NAME(const INT *indices, const INT *indptr, int64_t m, int64_t n) \
    { \
        int decreases = 0; \
        for (int64_t i = 0; i < m; ++i) \
            decreases |= indptr[i + 1] < indptr[i]; \
        if (decreases) \
            return -3; \
        const int64_t end = indptr[m]; \
        /* Neighbours that do not increase are counted, and so are those at the seams between lines: where these are all */ \
        /* of them, each line increases. The sign of a difference is what a vector counts with the fewest instructions. */ \
        const UINT *at = (const UINT *)indices; \
        UINT largest = end ? at[0] : 0, all = 0, seams = 0; \
        for (int64_t k = 1; k < end; ++k) { \
            largest = at[k] > largest ? at[k] : largest; \
            all += (at[k] - at[k - 1] - 1) >> (8 * sizeof(UINT) - 1); \
        } \
        if (end && largest >= (UINT)n) \
            return -5; \
        if (all == 0) \
            return 0; \
        int64_t from = 0, to = m; /* lines that begin neither with the first number nor behind the last */ \
        while (from < m && indptr[from] == 0) \
            ++from; \
        while (to > from && indptr[to - 1] == end) \
            --to; \
        INT next = indptr[from]; /* carried, which keeps the compiler from vectors put together number by number */ \
        for (int64_t i = from; i < to; ++i) { \
            const INT here = next; \
            next = indptr[i + 1]; \
            seams += (next > here) && (at[here] <= at[here - 1]); \
        } \
        return all == seams ? 0 : TH_DISORDERED; \
    }
EXAMINE(examine_32, int32_t, uint32_t)
EXAMINE(examine_64, int64_t, uint64_t)

int th_examine(const void *indices, const void *indptr, int wide, int64_t n_indices, int64_t n_indptr, int64_t stored,
               int64_t m, int64_t n)
{
    if (m < 0 || n < 0 || n_indptr != m + 1)
        return -1;
    const int64_t first = wide ? *(const int64_t *)indptr : *(const int32_t *)indptr;
    const int64_t end = wide ? ((const int64_t *)indptr)[m] : ((const int32_t *)indptr)[m];
    if (first != 0)
        return -2;
    if (end > n_indices && end > stored) { /* the walk over indptr must not hide what it is */
        for (int64_t i = 0; i < m; ++i)
            if (wide ? ((const int64_t *)indptr)[i + 1] < ((const int64_t *)indptr)[i]
                     : ((const int32_t *)indptr)[i + 1] < ((const int32_t *)indptr)[i])
                return -3;
    }
    if (stored != n_indices)
        return -6;
    if (end > stored)
        return -4;
    if (end < 0)
        return -3;
    const int found = wide ? examine_64(indices, indptr, m, n) : examine_32(indices, indptr, m, n);
    return found < 0 ? found : found | (end < stored ? TH_LONGER : 0);
}

const void *th_packed_vector(th_ctx *ctx, const th_buffer *b)
{
    const int64_t n = b->shape[0], size = b->itemsize;
    if (n <= 1 || b->strides[0] == size)
        return b->data;
    char *copy = ctx->rt->scratch(ctx, (size_t)(n * size));
    if (copy)
        ctx->rt->move(copy, n * size, size, b->data, 0, b->strides[0], 1, n, size);
    return copy;
}

int th_lines_of(th_ctx *ctx, th_lines *lines, int data, int first, int64_t columns)
{
    const th_buffer *indices = ctx->in[first], *indptr = ctx->in[first + 1], *shape = ctx->in[first + 2];
    const int64_t rows = *(const int32_t *)shape->data, cols = *(const int32_t *)(shape->data + shape->strides[0]);
    lines->m = columns ? cols : rows;
    lines->n = columns ? rows : cols;
    lines->stored = indices->shape[0];
    lines->data = NULL;
    if (!(lines->indices = th_packed_vector(ctx, indices)) || !(lines->indptr = th_packed_vector(ctx, indptr)))
        return -1;
    if (data >= 0) {
        if (ctx->in[data]->shape[0] != lines->stored)
            return TH_FAIL(ctx, TH_ERR_SHAPE, "%lld numbers are given for a matrix that stores %lld",
                           (long long)ctx->in[data]->shape[0], (long long)lines->stored);
        if (!(lines->data = th_packed_vector(ctx, ctx->in[data])) && lines->stored)
            return -1;
    }
    return 0;
}

void th_turn(const th_lines *x, int32_t *indptr, int32_t *indices, int32_t *from)
{
    memset(indptr, 0, (size_t)(x->n + 1) * sizeof *indptr);
    for (int64_t k = 0; k < x->stored; ++k)
        ++indptr[x->indices[k] + 1];
    for (int64_t j = 0; j < x->n; ++j)
        indptr[j + 1] += indptr[j];
    for (int64_t i = 0; i < x->m; ++i)
        for (int32_t k = x->indptr[i]; k < x->indptr[i + 1]; ++k) {
            const int32_t at = indptr[x->indices[k]]++;
            indices[at] = (int32_t)i;
            if (from)
                from[at] = k;
        }
    memmove(indptr + 1, indptr, (size_t)x->n * sizeof *indptr);
    indptr[0] = 0;
}

/* The first line that begins at or behind a stored number. */
static int64_t line_at(const th_lines *x, int64_t number)
{
    int64_t lo = 0, hi = x->m;
    while (lo < hi) {
        const int64_t middle = (lo + hi) / 2;
        if (x->indptr[middle] < number)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static void pieces(void *arg, int64_t lo, int64_t hi)
{
    const th_split *s = arg;
    const int64_t n = s->lines->stored;
    const int64_t first = lo == 0 ? 0 : line_at(s->lines, n * lo / s->pieces);
    const int64_t last = hi == s->pieces ? s->lines->m : line_at(s->lines, n * hi / s->pieces);
    if (first < last)
        s->body(s->arg, first, last);
}

int th_over_lines(th_ctx *ctx, const th_lines *lines, double ns, void (*body)(void *, int64_t, int64_t), void *arg)
{
    const double work = ns * (double)lines->stored + 2.0 * (double)lines->m;
    if (work < 3 * TH_PIECE_NS) {
        body(arg, 0, lines->m);
        return 0;
    }
    int64_t n = (int64_t)(work / TH_PIECE_NS);
    n = n > 1024 ? 1024 : n;
    th_split s = {lines, n, body, arg};
    return ctx->rt->parallel_for(ctx, n, 1, pieces, &s);
}
