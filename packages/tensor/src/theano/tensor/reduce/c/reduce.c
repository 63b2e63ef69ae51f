/* The driver of reductions: walks operands of any strides and hands contiguous elements to a kernel (reduce.h).
 *
 * Two ways to walk, chosen from the strides:
 *   inner   each result is one run over its terms. A run keeps many partial results at once, and hands them up from
 *           level to level after a number of terms, so that a long sum is nearly as accurate as a sum by halves;
 *   outer   a tile of neighbouring results advances together, row by row: for sums over the first axis of a C-ordered
 *           array, and for very short runs.
 * In what order terms are combined depends on shapes and strides only, never on the number of threads.
 */
#include "accumulate.h"
#include "gather.h"
#include "lanes.h"

enum {
    BAND_BYTES = TH_REDUCE_BAND_BYTES,
    TILE_BYTES = TH_REDUCE_TILE_BYTES,
    SMALL_TILE = TH_REDUCE_SMALL_TILE,
    FEW_ROWS = TH_REDUCE_FEW_ROWS,
    SHORT_RUN = TH_REDUCE_SHORT_RUN,
    PIECE = TH_REDUCE_PIECE,
    FLUSH = TH_REDUCE_FLUSH,
    NEAR_TERMS = TH_REDUCE_NEAR_TERMS,
    FOLD = TH_REDUCE_FOLD,
    RUNS = TH_REDUCE_RUNS,
    SHORT_TERMS = TH_REDUCE_SHORT_TERMS,
    TERM_BYTES = TH_REDUCE_TERM_BYTES,
    LEVELS = 3
};
_Static_assert(BAND_BYTES >= TH_MAX_TERMS * 16, "one element of each operand has room in a band");
_Static_assert(TILE_BYTES >= TH_MAX_RESULTS * 16 && TILE_BYTES % 64 == 0, "as has a result of each in a tile, of whole lines");

typedef struct {
    const th_reduction *r;
    th_block block;
    th_rows rows;
    th_runs runs;
    th_four_runs four;
    th_runs plain[TH_MAX_RESULTS]; /* of elements like the accumulators, if `terms` */
    const void *constants;
    int nin, nout, kept, gone; /* operands, results; axes after th_collapse */
    int exact;                 /* in any order the results are the same */
    int simple;                /* all terms of a result are neighbours, and few */
    enum terms { NO_BAND, TERMS, BLOCKS } terms; /* what of several results is brought together (reduce_terms.h) */
    int raw;                   /* accumulators are wanted, not yet results */
    int once[TH_MAX_TERMS];    /* the operand is one number, read by the kernel itself */
    int still[TH_MAX_TERMS];   /* it is one number for each result, as far as terms of one result are taken in */
    int64_t size[TH_MAX_TERMS];
    const th_accumulator *acc[TH_MAX_RESULTS];
    const th_own *own;
    th_accumulator brought[TH_MAX_RESULTS]; /* of `own` */
    th_buffer *const *out;
    char *in[TH_MAX_TERMS + TH_MAX_RESULTS];  /* operands, then results */
    int64_t shape[TH_MAX_NDIM], strides[TH_MAX_NDIM * (TH_MAX_TERMS + TH_MAX_RESULTS)];
    int64_t gone_shape[TH_MAX_NDIM], gone_strides[TH_MAX_NDIM * TH_MAX_TERMS];
    int64_t total;                           /* terms of one result */
    int64_t width, fold, tiles, pieces;      /* outer: results per tile, rows per super-row, cuts of the rows */
    char *scratch;                           /* of pieces */
    int64_t slot;                            /* bytes of one piece in it */
    _Alignas(64) char neutral[TH_MAX_RESULTS][TH_LANE_BYTES];
} job;

typedef struct {
    th_number of[TH_MAX_RESULTS];
} values;

#include "reduce_rows.h"

/* n accumulators of result k to elements of it. */
static void put(const job *j, int k, void *acc, int64_t n, char *to, int64_t step)
{
    if (j->acc[k]->finish && !j->raw)
        j->acc[k]->finish(n, acc);
    th_put(j->acc[k]->dtype, acc, n, j->raw ? j->acc[k]->dtype : j->out[k]->dtype, to, step);
}

/* The first of n accumulators takes in the others. */
static void fold(const job *j, int k, int64_t n, void *acc)
{
    if (j->acc[k]->fold) {
        j->acc[k]->fold(n, acc);
        return;
    }
    for (int64_t half; n > 1; n = half) {
        half = (n + 1) / 2;
        j->acc[k]->join(n - half, acc, (char *)acc + half * j->acc[k]->size);
    }
}

/* -- inner -------------------------------------------------------------------------------------------- */

static void take(const job *j, int64_t n, char *const *p, void *const *acc)
{
    if (j->block) {
        j->block(n, p, acc, j->constants);
        return;
    }
    const int64_t lanes = j->r->lanes, rows = n / lanes, rest = n - rows * lanes;
    int64_t row[TH_MAX_TERMS];
    char *q[TH_MAX_TERMS];
    for (int k = 0; k < j->nin; ++k) {
        row[k] = j->once[k] ? 0 : lanes * j->size[k];
        q[k] = p[k] + rows * row[k];
    }
    if (rows)
        rows_of(j, lanes, rows, p, row, acc);
    if (rest)
        rows_of(j, rest, 1, q, row, acc);
}

/* Accumulators of one result each, level by level. */
typedef struct {
    _Alignas(64) char bytes[LEVELS][TH_MAX_RESULTS][TH_LANE_BYTES];
    int64_t taken, count[LEVELS];
    int levels;
} partials;

static void clear(const job *j, partials *l, int level)
{
    for (int k = 0; k < j->nout; ++k)
        memcpy(l->bytes[level][k], j->neutral[k], (size_t)(j->r->lanes * j->acc[k]->size));
}

static void join_levels(const job *j, partials *l, int to, int from)
{
    for (int k = 0; k < j->nout; ++k)
        j->acc[k]->join(j->r->lanes, l->bytes[to][k], l->bytes[from][k]);
}

static void carry(const job *j, partials *l)
{
    for (int level = 0; level + 1 < LEVELS && l->count[level] >= FLUSH; ++level) {
        if (level + 1 == l->levels) {
            clear(j, l, l->levels);
            l->count[l->levels++] = 0;
        }
        join_levels(j, l, level + 1, level);
        clear(j, l, level);
        l->count[level] = 0;
        ++l->count[level + 1];
    }
}

/* The number of accumulators that may hold a value after `terms` terms. Kernels for plain elements use them in any order. */
static int64_t used(const job *j, int64_t terms) { return terms < j->r->lanes && !j->runs ? terms : j->r->lanes; }

/* All terms of a result are neighbours, and few enough for one level. */
static void inner_block(const job *j, char *const *base, values *v)
{
    _Alignas(64) char memory[TH_MAX_RESULTS][TH_LANE_BYTES];
    void *acc[TH_MAX_RESULTS];
    for (int k = 0; k < j->nout; ++k)
        acc[k] = memcpy(memory[k], j->neutral[k], TH_LANE_BYTES);
    take(j, j->total, base, acc);
    for (int k = 0; k < j->nout; ++k) {
        fold(j, k, used(j, j->total), acc[k]);
        memcpy(&v->of[k], acc[k], sizeof v->of[k]);
    }
}

/* The first of n terms at `x`, four full blocks at a time as long as four remain: the same results as of one block after
 * the other, with four places of memory read at once. Returns how many terms were taken in. */
static int64_t take_four_blocks(const job *j, const char *x, int64_t n, partials *l)
{
    const int64_t lanes = j->r->lanes, block = FLUSH * lanes, bytes = block * j->size[0];
    _Alignas(64) char vectors[4][4 * TH_VECTOR];
    int64_t taken = 0;
    for (; n - taken >= 4 * block; taken += 4 * block, x += 4 * bytes) {
        const int unsure = j->four(block, x, bytes, vectors);
        for (int i = 0; i < 4; ++i) {
            void *acc = l->bytes[0][0];
            char *at = (char *)x + i * bytes;
            if (unsure)
                take(j, block, &at, &acc);
            else
                j->acc[0]->join(4 * TH_VECTOR / j->acc[0]->size, acc, vectors[i]);
            l->count[0] += FLUSH;
            if (!j->exact)
                carry(j, l);
        }
    }
    return taken;
}

/* The terms lo .. hi of the result whose operands start at `base`, in the order of the collapsed axes. */
static void inner(const job *j, char *const *base, int64_t lo, int64_t hi, values *v)
{
    const int outer = j->gone - 1, nin = j->nin;
    const int64_t n = j->gone_shape[outer], lanes = j->r->lanes;
    const int64_t *step = j->gone_strides + outer * nin;
    partials l;
    void *acc[TH_MAX_RESULTS];
    char *p[TH_MAX_TERMS], *q[TH_MAX_TERMS];
    int64_t index[TH_MAX_NDIM], skip = lo % n, room = FLUSH * lanes, bytes = 0;
    int direct[TH_MAX_TERMS], bands = 0;
    const int together = n < SHORT_RUN && outer > 0; /* several short runs as one */
    const int64_t all = hi - lo;
    _Alignas(64) char band[BAND_BYTES];

    for (int k = 0; k < nin; ++k) {
        p[k] = base[k];
        direct[k] = j->still[k] || (step[k] == j->size[k] && !together);
        bytes += direct[k] ? 0 : j->size[k];
        bands |= !direct[k];
    }
    if (bands && room * bytes > BAND_BYTES)
        room = BAND_BYTES / bytes;
    if (bands && !together && room > NEAR_TERMS * lanes)
        room = NEAR_TERMS * lanes;
    for (int k = 0; k < j->nout; ++k)
        acc[k] = l.bytes[0][k];
    l.levels = 1;
    l.count[0] = l.taken = 0;
    clear(j, &l, 0);
    th_seek(nin, outer, j->gone_shape, j->gone_strides, lo / n, index, p);
    if (j->four && outer == 0 && !bands) {
        const int64_t taken = take_four_blocks(j, p[0] + skip * step[0], all, &l);
        lo += taken;
        skip += taken;
    }
    while (lo < hi) {
        int64_t filled = 0;
        do {
            int64_t count = n - skip < hi - lo ? n - skip : hi - lo;
            count = count < room - filled ? count : room - filled;
            char *to = band;
            for (int k = 0; k < nin; ++k) {
                char *from = p[k] + skip * step[k];
                q[k] = from;
                if (direct[k])
                    continue;
                gather(j->size[k], to + filled * j->size[k], from, step[k], count);
                q[k] = to;
                to += room * j->size[k];
            }
            filled += count;
            lo += count;
            skip += count;
            if (skip == n) {
                th_advance(nin, outer, j->gone_shape, j->gone_strides, index, p);
                skip = 0;
            }
        } while (together && filled < room && lo < hi);
        take(j, filled, q, acc);
        l.count[0] += (filled + lanes - 1) / lanes;
        if (!j->exact)
            carry(j, &l);
    }
    for (int level = 1; level < l.levels; ++level)
        join_levels(j, &l, 0, level);
    for (int k = 0; k < j->nout; ++k) {
        fold(j, k, used(j, all), acc[k]);
        memcpy(&v->of[k], acc[k], sizeof v->of[k]);
    }
}

static void inner_results(void *arg, int64_t lo, int64_t hi)
{
    const job *j = arg;
    const int nop = j->nin + j->nout;
    char *p[TH_MAX_TERMS + TH_MAX_RESULTS];
    int64_t index[TH_MAX_NDIM];
    values v;
    memcpy(p, j->in, (size_t)nop * sizeof *p);
    th_seek(nop, j->kept, j->shape, j->strides, lo, index, p);
    for (; lo < hi; ++lo) {
        if (j->simple)
            inner_block(j, p, &v);
        else
            inner(j, p, 0, j->total, &v);
        for (int k = 0; k < j->nout; ++k)
            put(j, k, &v.of[k], 1, p[j->nin + k], 0);
        th_advance(nop, j->kept, j->shape, j->strides, index, p);
    }
}

/* The same, by the kernel for many runs. */
static void inner_runs(void *arg, int64_t lo, int64_t hi)
{
    const job *j = arg;
    const int inner = j->kept - 1;
    const int64_t *step = j->strides + inner * 2;
    _Alignas(64) char results[RUNS * sizeof(th_number)];
    while (lo < hi) {
        char *p[2] = {j->in[0], j->in[1]};
        int64_t index[TH_MAX_NDIM];
        th_seek(2, j->kept, j->shape, j->strides, lo, index, p);
        int64_t count = j->shape[inner] - index[inner];
        count = count < hi - lo ? count : hi - lo;
        count = count < RUNS ? count : RUNS;
        j->runs(count, j->total, p[0], step[0], results);
        put(j, 0, results, count, p[1], step[1]);
        lo += count;
    }
}

static void inner_pieces(void *arg, int64_t lo, int64_t hi)
{
    const job *j = arg;
    for (; lo < hi; ++lo) {
        const int64_t start = lo * PIECE, left = j->total - start;
        inner(j, j->in, start, start + (left < PIECE ? left : PIECE), (values *)j->scratch + lo);
    }
}

/* All terms go to one result. */
static int single(th_ctx *ctx, job *j, double work)
{
    values v, *part = &v;
    const int64_t pieces = (j->total + PIECE - 1) / PIECE;
    if (j->simple) {
        inner_block(j, j->in, &v);
    } else if (work < TH_SERIAL_NS || pieces < 2) {
        inner(j, j->in, 0, j->total, &v);
    } else {
        j->scratch = ctx->rt->scratch(ctx, (size_t)pieces * sizeof v);
        if (j->scratch == NULL || ctx->rt->parallel_for(ctx, pieces, 1, inner_pieces, j))
            return -1;
        part = (values *)j->scratch;
        for (int64_t m = pieces; m > 1; m = (m + 1) / 2)
            for (int64_t i = 0; i < (m + 1) / 2; ++i) {
                const values other = part[2 * i + 1 < m ? 2 * i + 1 : 2 * i];
                part[i] = part[2 * i];
                if (2 * i + 1 < m)
                    for (int k = 0; k < j->nout; ++k)
                        j->acc[k]->join(1, &part[i].of[k], &other.of[k]);
            }
    }
    for (int k = 0; k < j->nout; ++k)
        put(j, k, &part->of[k], 1, j->in[j->nin + k], 0);
    return 0;
}

#include "reduce_terms.h"
#include "reduce_tiles.h"

/* -- the choice --------------------------------------------------------------------------------------- */

static int64_t reach(int n, const int64_t *strides)
{
    int64_t sum = 0;
    for (int k = 0; k < n; ++k)
        sum += strides[k] < 0 ? -strides[k] : strides[k];
    return sum;
}

/* Whether the rows of every operand follow each other in memory, so that several count as one. */
static int follows(const job *j, const int64_t *next, const int64_t *row, int64_t width)
{
    for (int k = 0; k < j->nin; ++k)
        if (!j->once[k] && (next[k] != j->size[k] || row[k] != width * next[k]))
            return 0;
    return 1;
}

/* All terms of a result after each other. */
static int walk_along(th_ctx *ctx, job *j, int64_t kept, double ns)
{
    const double each = ns * (double)j->total;
    const th_body walk = j->terms ? inner_terms : j->simple && j->runs ? inner_runs : inner_results;
    if (each * (double)kept >= TH_SERIAL_NS)
        return ctx->rt->parallel_for(ctx, kept, th_grain(each), walk, j);
    walk(j, 0, kept);
    return 0;
}

static int is_simple(const job *j)
{
    int simple = j->gone == 1 && j->total <= (j->exact ? PIECE : FLUSH * j->r->lanes);
    for (int k = 0; k < j->nin; ++k)
        simple &= j->still[k] || j->gone_strides[k] == j->size[k];
    return simple;
}

#include "reduce_two_steps.h"

static int many(th_ctx *ctx, job *j, int64_t kept, double ns)
{
    j->terms = terms_of(j);
    const int nop = j->nin + j->nout;
    const int64_t *next = j->strides + (j->kept - 1) * nop, *row = j->gone_strides + (j->gone - 1) * j->nin;
    const int64_t width = j->shape[j->kept - 1], run = j->gone_shape[j->gone - 1];
    const double each = ns * (double)j->total;
    int64_t sizes = 0;
    for (int k = 0; k < j->nout; ++k)
        sizes += j->acc[k]->size;
    const int64_t most = (j->total < FEW_ROWS ? SMALL_TILE : TILE_BYTES) / sizes;
    const int joined = follows(j, next, row, width) && 2 * width <= most;
    const int nearer = reach(j->nin, row) <= reach(j->nin, next);
    const int in_runs = nearer && ((j->simple && j->runs) || j->terms == TERMS);
    if (in_runs || (run >= SHORT_RUN ? nearer || (width < 16 && !joined) : width < 8 && !joined))
        return walk_along(ctx, j, kept, ns);
    j->fold = joined ? (most < FOLD ? most : FOLD) / width : 1;
    j->fold = j->fold > run ? run : j->fold < 1 ? 1 : j->fold;
    j->width = most / j->fold;
    if (nearer) {
        /* Runs too short for an inner reduction: they are transposed, and that should stay in the cache. */
        const int64_t fits = (BAND_BYTES / 2) / (run * (j->size[0] > 0 ? j->size[0] : 1));
        j->width = j->width > fits ? (fits < 64 ? 64 : fits) : j->width;
        j->width = j->width > most ? most : j->width;
    }
    /* A row of what must be copied to be neighbours has room in a band. */
    int64_t copied = 0;
    for (int k = 0; k < j->nin; ++k)
        copied += j->once[k] || next[k] == j->size[k] ? 0 : j->size[k];
    if (copied * j->width > BAND_BYTES)
        j->width = BAND_BYTES / copied;
    j->width = width < j->width ? width : j->width;
    j->tiles = (width + j->width - 1) / j->width;
    const int64_t units = kept / width * j->tiles;
    if (each * (double)kept < TH_SERIAL_NS) {
        outer_tiles(j, 0, units);
        return 0;
    }
    j->pieces = units >= 8 ? 1 : j->total / 64 < 16 ? j->total / 64 : 16;
    if (j->pieces > 1)
        return in_pieces(ctx, j, units);
    return ctx->rt->parallel_for(ctx, units, th_grain(each * (double)j->width), outer_tiles, j);
}

static int nothing(th_ctx *ctx, const job *j, int64_t kept)
{
    for (int k = 0; k < j->nout; ++k) {
        const int64_t op = j->r->result[k].op;
        if ((op == TH_MAX || op == TH_MIN) && j->r->result[k].needs_terms)
            return TH_FAIL(ctx, TH_ERR_VALUE, "zero-size array to reduction operation %s, which has no identity",
                           op == TH_MAX ? "maximum" : "minimum");
        if (op == TH_OWN && j->own[k].refused)
            return TH_FAIL(ctx, TH_ERR_VALUE, "zero-size array to reduction operation %s, which has no identity",
                           j->own[k].refused);
        const th_number value = op == TH_OWN ? j->acc[k]->neutral : th_of_nothing(op, j->acc[k]->dtype);
        for (int64_t i = 0; i < kept; ++i)
            th_put(j->acc[k]->dtype, &value, 1, j->out[k]->dtype, j->out[k]->data + i * j->out[k]->itemsize, 0);
    }
    return 0;
}

/* The lengths of the loop, which operands of unequal length make impossible. */
static int lengths(th_ctx *ctx, const th_reduction *r, int64_t *shape)
{
    for (int d = 0; d < r->ndim; ++d) {
        int first = -1;
        shape[d] = 1;
        for (int k = 0; k < r->nin; ++k) {
            if (r->stretched[k] >> d & 1)
                continue;
            if (first < 0) {
                first = k;
                shape[d] = ctx->in[k]->shape[d];
            } else if (ctx->in[k]->shape[d] != shape[d]) {
                return th_mismatch(ctx, d, first, shape[d], k, ctx->in[k]->shape[d]);
            }
        }
    }
    return 0;
}

/* The driver: `block` or `rows` may be NULL where the other will do. */
TH_EXPORT int th_reduce(th_ctx *ctx, const th_reduction *r, th_block block, th_rows rows, const th_own *own)
{
    return th_reduce_by(ctx, r, &(th_reduce_loops){block, rows, NULL, NULL}, own);
}

static const th_accumulator *brought(job *j, int k, int64_t dtype)
{
    th_accumulator *acc = &j->brought[k];
    *acc = (th_accumulator){.dtype = dtype, .size = th_accumulator_of(TH_MAX, dtype)->size, .join = j->own[k].join};
    memcpy(&acc->neutral, j->own[k].neutral, (size_t)acc->size);
    return acc;
}

int th_reduce_by(th_ctx *ctx, const th_reduction *r, const th_reduce_loops *loops, const th_own *own)
{
    job j;
    const int nin = (int)r->nin, nout = (int)r->nout, nop = nin + nout;
    int64_t loop[TH_MAX_NDIM], shape[TH_MAX_NDIM], kept = 1;
    int nkept = 0, ngone = 0;
    if (lengths(ctx, r, loop))
        return -1;
    j.total = 1;
    for (int d = 0; d < r->ndim; ++d) {
        if (r->gone >> d & 1)
            j.total *= j.gone_shape[ngone++] = loop[d];
        else
            kept *= shape[nkept++] = loop[d];
    }
    for (int k = 0; k < nout; ++k)
        if (ctx->rt->ensure(ctx, ctx->out[k], shape))
            return -1;
    j.r = r;
    j.block = loops->block;
    j.rows = loops->rows;
    j.runs = loops->runs;
    j.four = loops->four;
    j.own = own;
    j.constants = r->constants;
    j.nin = nin;
    j.nout = nout;
    j.out = ctx->out;
    j.exact = 1;
    j.raw = 0;
    j.terms = NO_BAND;
    for (int k = 0; k < nout; ++k) {
        const int64_t op = r->result[k].op, dtype = r->result[k].dtype;
        j.acc[k] = op == TH_OWN ? brought(&j, k, dtype) : th_accumulator_of(op, dtype);
        j.exact &= j.acc[k]->exact;
        j.in[nin + k] = ctx->out[k]->data;
    }
    if (j.total == 0)
        return nothing(ctx, &j, kept);
    if (kept == 0)
        return 0;
    for (int k = 0; k < nout; ++k)
        th_fill(j.acc[k]->size, r->lanes, j.neutral[k], &j.acc[k]->neutral);
    j.simple = nkept == 0 && j.total <= (j.exact ? PIECE : FLUSH * r->lanes);
    for (int k = 0; k < nin; ++k) {
        const th_buffer *x = ctx->in[k];
        j.once[k] = r->stretched[k] == UINT64_MAX;
        j.still[k] = j.once[k] || (j.block != NULL && (r->still >> k & 1));
        j.size[k] = x->itemsize;
        j.in[k] = x->data;
        j.simple &= j.once[k] || (r->stretched[k] == 0 && th_packed(x, (int)r->ndim));
    }
    if (j.simple)
        return single(ctx, &j, 0.0);
    for (int k = 0; k < nin; ++k) {
        for (int d = 0, at = 0, gone = 0; d < r->ndim; ++d) {
            const int64_t stride = r->stretched[k] >> d & 1 ? 0 : ctx->in[k]->strides[d];
            if (r->gone >> d & 1)
                j.gone_strides[gone++ * nin + k] = stride;
            else
                j.strides[at++ * nop + k] = stride;
        }
    }
    j.gone = th_collapse(nin, ngone, j.gone_shape, j.gone_strides);
    j.simple = is_simple(&j);
    const double ns = 1e-3 * (double)r->work;
    if (kept == 1)
        return single(ctx, &j, ns * (double)j.total);
    memcpy(j.shape, shape, (size_t)nkept * sizeof *shape);
    j.kept = nkept;
    for (int k = 0; k < nout; ++k)
        for (int d = 0; d < nkept; ++d)
            j.strides[d * nop + nin + k] = ctx->out[k]->strides[d];
    if (on_both_sides(&j))
        return in_two_steps(ctx, &j, kept, ns);
    j.kept = th_collapse(nop, nkept, j.shape, j.strides);
    return many(ctx, &j, kept, ns);
}
