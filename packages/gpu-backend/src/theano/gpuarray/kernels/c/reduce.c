/* The host's half of reductions.
 *
 * The axes of the results and those that are reduced are each made as few as possible. A group of work-items computes some
 * neighbouring elements of the results, each by a power of two of lanes, which take every so manieth term and are
 * combined in a tree. Where there are too few elements to keep the device busy, terms are cut into parts: one launch leaves
 * the accumulators of each part in memory, another one takes them together. The order is fixed by the lengths and the device.
 */
#include <string.h>

#include "gpu.h"
#include "parameters.h"

typedef th_device_reduction_params params_t;

enum { GROUP = 256, PARTS = 2048 };
enum { SEGMENT = 32, LEAST = 8 }; /* neighbours that are read together; terms of a work-item, where others could take them */

typedef struct plan {
    int64_t kept[TH_MAX_NDIM], terms[TH_MAX_NDIM]; /* lengths */
    int nkept, nterms;
    int64_t n, count; /* elements of the results, terms of each */
    int64_t lanes, parts;
} plan;

/* Rows of strides of the axes that are reduced, or of the others; results have only those. */
static int rows_of(th_ctx *ctx, const params_t *p, int devices, th_buffer *const *operands, int reduced, int64_t *shape, int64_t *strides)
{
    const int ndim = (int)p->axes, nops = devices + (reduced ? 0 : ctx->nout);
    uint64_t inputs = ~p->hosts;
    int count = 0;
    for (int d = 0; d < ndim; ++d)
        count += (int)(p->reduced >> d & 1) == reduced;
    for (int k = 0; k < nops; ++k, inputs &= inputs - 1) {
        const uint64_t ones = k < devices ? p->ones[__builtin_ctzll(inputs)] : 0;
        for (int d = 0, at = 0; d < ndim; ++d) {
            if ((int)(p->reduced >> d & 1) != reduced)
                continue;
            const int64_t step = operands[k]->strides[k < devices ? d : at] * !(ones >> d & 1);
            strides[k * count + at++] = step;
        }
    }
    return th_gpu_collapse(count, shape, nops, strides);
}

/* The lengths of all axes; inputs that disagree are an error. */
static int lengths(th_ctx *ctx, const params_t *p, int64_t *n)
{
    for (int d = 0; d < (int)p->axes; ++d) {
        int first = -1;
        n[d] = 1;
        for (int k = 0; k < ctx->nin; ++k) {
            if (p->ones[k] >> d & 1)
                continue;
            if (first >= 0 && ctx->in[k]->shape[d] != n[d])
                return ctx->rt->fail(ctx, TH_ERR_SHAPE, "Input dimension mis-match: input %d has length %lld along axis %d, but input %d has %lld",
                                     k, (long long)ctx->in[k]->shape[d], d, first, (long long)n[d]);
            if (first < 0) {
                first = k;
                n[d] = ctx->in[k]->shape[d];
            }
        }
    }
    return 0;
}

static int make_outputs(th_ctx *ctx, const params_t *p, plan *q)
{
    int64_t n[TH_MAX_NDIM];
    if (lengths(ctx, p, n))
        return -1;
    q->n = q->count = 1;
    for (int d = 0; d < (int)p->axes; ++d) {
        if (p->reduced >> d & 1) {
            q->terms[q->nterms++] = n[d];
            q->count *= n[d];
        } else {
            q->kept[q->nkept++] = n[d];
            q->n *= n[d];
        }
    }
    for (int k = 0; k < ctx->nout; ++k) {
        if (ctx->rt->ensure(ctx, ctx->out[k], q->kept))
            return -1;
        if ((p->needed >> k & 1) && q->count == 0 && q->n > 0)
            return ctx->rt->fail(ctx, TH_ERR_VALUE, "zero-size array to reduction operation, which has no identity");
    }
    return 0;
}

/* Are the terms of all inputs read in packs? Those of one at least are neighbours. */
static int is_packed(const params_t *p, const plan *q, int nin, th_buffer *const *operands, const int64_t *kept, const int64_t *terms)
{
    int packed = p->width > 1 && q->nterms == 1 && q->count % p->width == 0 && q->count <= 1 << 30, moves = 0;
    for (int k = 0; packed && k < nin; ++k) {
        packed = th_gpu_in_packs(operands[k], p->width, terms[k], q->nkept, kept + k * q->nkept);
        moves |= terms[k] != 0;
    }
    return packed && moves;
}

/* How many work-items take the `count` terms of each of `n` results together, and in how many parts: so many that the device is
 * busy. `neighbours`: terms lie closer to each other than results. */
static void share(const th_gpu *gpu, int64_t n, int64_t count, int neighbours, int64_t *lanes, int64_t *parts)
{
    const int64_t wanted = gpu->processors * 8 * GROUP; /* work-items that keep it busy while each waits for memory */
    int64_t together = 1, most = GROUP;
    while (together < n && together < SEGMENT)
        together *= 2;
    if (!neighbours)
        most /= together;
    *lanes = *parts = 1;
    while (*lanes < most && *lanes < count &&
           ((neighbours && *lanes < SEGMENT && (*lanes < LEAST || *lanes * LEAST < count)) || n * *lanes < wanted))
        *lanes *= 2;
    while (*parts < PARTS && n * *lanes * *parts < wanted && count / (*lanes * *parts * 2) >= 2 * LEAST)
        *parts *= 2;
}

static int launch(th_gpu *gpu, const th_gpu_kernel *kernel, int64_t groups, int npointers, char **pointers, int64_t *args, const char *end)
{
    const th_gpu_launch what = {kernel->function, groups, GROUP, npointers, pointers, args, (size_t)(end - (char *)args)};
    return th_gpu_launched(gpu, &what);
}

/* Groups for n elements of so many lanes each. */
static int64_t groups_of(int64_t n, int64_t lanes) { return (n + GROUP / lanes - 1) / (GROUP / lanes); }

/* The accumulators of all parts, into the results; `tables`: the strides of these. */
static int finish(th_ctx *ctx, const params_t *p, const plan *q, char *left, const int64_t *tables)
{
    th_gpu *gpu = p->finish->gpu;
    const int nout = ctx->nout, room = p->axes ? (int)p->axes : 1;
    int64_t args[TH_GPU_ARGS / 8], *a = args + 1 + nout, lanes = 1;
    char *pointers[TH_GPU_POINTERS] = {left};
    while (lanes < GROUP && lanes < q->parts && q->n * lanes < gpu->processors * GROUP)
        lanes *= 2;
    *a++ = q->n;
    *a++ = lanes;
    *a++ = q->parts;
    *a++ = q->nkept;
    memcpy(a, q->kept, (size_t)room * sizeof *a);
    memcpy(a + room, tables, (size_t)(nout * room) * sizeof *a);
    a += (1 + nout) * room;
    for (int k = 0; k < nout; ++k)
        pointers[1 + k] = ctx->out[k]->data;
    return launch(gpu, p->finish, groups_of(q->n, lanes), 1 + nout, pointers, args, (char *)a);
}

TH_EXPORT int th_kernel_gpu_reduce(th_ctx *ctx)
{
    const params_t *p = ctx->params;
    th_gpu *gpu = p->terms->gpu;
    th_buffer *operands[TH_GPU_POINTERS];
    const int nout = ctx->nout, room = p->axes ? (int)p->axes : 1, terms_room = room < 2 ? 2 : room; /* of tables */
    plan q = {.nkept = 0};
    if (make_outputs(ctx, p, &q))
        return -1;
    if (q.n == 0)
        return 0;
    const int nin = th_gpu_operands(ctx, p->hosts, operands) - nout;
    int64_t *kept = ctx->rt->scratch(ctx, (size_t)((2 * nin + nout) * (room + 1)) * sizeof *kept), *terms = kept + (nin + nout) * (room + 1);
    if (kept == NULL)
        return -1;
    q.nkept = rows_of(ctx, p, nin, operands, 0, q.kept, kept);
    q.nterms = rows_of(ctx, p, nin, operands, 1, q.terms, terms);
    const int64_t inner_term = q.nterms ? terms[q.nterms - 1] : 0, inner_kept = q.nkept ? kept[q.nkept - 1] : INT64_MAX;
    const int neighbours = (inner_term < 0 ? -inner_term : inner_term) <= (inner_kept < 0 ? -inner_kept : inner_kept);
    const int packed = is_packed(p, &q, nin, operands, kept, terms);
    if (packed)
        q.count /= p->width;
    share(gpu, q.n, q.count, neighbours, &q.lanes, &q.parts);
    /* what `terms` is told; the tables are of as many axes as the loop has */
    char *pointers[TH_GPU_POINTERS], *left = NULL;
    int64_t args[TH_GPU_ARGS / 8], *a = args + nin + nout + 1;
    *a++ = q.n;
    *a++ = q.count;
    *a++ = q.lanes;
    *a++ = q.parts;
    *a++ = neighbours;
    *a++ = packed;
    *a++ = q.nkept;
    *a++ = q.nterms;
    memset(a, 0, (size_t)((1 + nout) * room + (1 + 2 * nin) * terms_room) * sizeof *a);
    memcpy(a, q.kept, (size_t)q.nkept * sizeof *a);
    a += room;
    memcpy(a, q.terms, (size_t)q.nterms * sizeof *a);
    a += terms_room;
    for (int k = 0; k < nin; ++k, a += 2 * terms_room) {
        memcpy(a, kept + k * q.nkept, (size_t)q.nkept * sizeof *a);
        memcpy(a + terms_room, terms + k * q.nterms, (size_t)q.nterms * sizeof *a);
    }
    int64_t *results = a;
    for (int k = 0; k < nout; ++k, a += room)
        memcpy(a, kept + (nin + k) * q.nkept, (size_t)q.nkept * sizeof *a);
    const char *end = th_gpu_numbers(ctx, p->hosts, (char *)a, p->constants, p->constant_bytes);
    const size_t bytes = q.parts > 1 ? (size_t)(q.n * q.parts * p->accumulators) : 0;
    if (bytes && (left = th_gpu_scratch(gpu, bytes)) == NULL)
        return th_gpu_no_room(ctx, bytes);
    for (int k = 0; k < nin + nout; ++k)
        pointers[k] = operands[k]->data;
    pointers[nin + nout] = left ? left : ctx->out[0]->data;
    int status = launch(gpu, p->terms, groups_of(q.n, q.lanes) * q.parts, nin + nout + 1, pointers, args, end);
    if (status == 0 && left)
        status = finish(ctx, p, &q, left, results);
    if (left)
        th_gpu_scratch_release(gpu, left, bytes);
    return status ? th_gpu_failed(ctx, gpu) : 0;
}
