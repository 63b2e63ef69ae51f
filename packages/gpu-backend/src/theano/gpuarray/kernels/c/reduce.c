/* The host's half of reductions.
 *
 * The axes of the results and those that are reduced are each made as few as possible. A group of work-items computes some
 * neighbouring elements of the results, or packs of them, each by a power of two of lanes, which take every so manieth term and
 * are combined in a tree. Where there are too few elements to keep the device busy, terms are cut into parts: one launch leaves
 * the accumulators of each part in memory, another one takes them together. The order is fixed by the lengths and the device.
 */
#include <string.h>

#include "gpu.h"
#include "parameters.h"

typedef th_device_reduction_params params_t;

enum { GROUP = 256, PARTS = 2048 };
enum { SEGMENT = 32, LEAST = 8 }; /* neighbours that are read together; terms of a work-item, where others could take them */
enum { SEGMENT_OF_PACKS = 16, PACKS = 4 }; /* packs that are read together; as many as there are at least for each work-item */

typedef struct plan {
    int64_t kept[TH_MAX_NDIM], terms[TH_MAX_NDIM]; /* lengths */
    int64_t *kept_steps, *term_steps; /* strides: rows of those of inputs; of the kept axes, then those of results */
    int nkept, nterms, nin;
    int neighbours, packed; /* have terms a smaller stride than results; are they read in packs */
    int64_t n, count; /* elements of the results, terms of each */
    int64_t width; /* elements of a work-item: 1, or those of a pack */
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

/* Are the terms of all inputs read in packs? A sole input that stands still is not: the text has no form for that. */
static int is_packed(const params_t *p, const plan *q, th_buffer *const *operands)
{
    int packed = p->width > 1 && q->nterms == 1 && (q->nin > 1 || q->term_steps[0]) && q->count % p->width == 0 && q->count <= 1 << 30;
    for (int k = 0; packed && k < q->nin; ++k)
        packed = th_gpu_in_packs(operands[k], p->width, q->term_steps[k], q->nkept, q->kept_steps + k * q->nkept);
    return packed;
}

/* As many work-items as keep the device busy while each waits for memory. */
static int64_t enough(const th_gpu *gpu) { return gpu->processors * 8 * GROUP; }

/* Are the terms of neighbouring elements read in packs? Few of them are read faster one by one, by more work-items. */
static int in_columns(const params_t *p, const plan *q, th_buffer *const *operands)
{
    const int last = q->nkept - 1;
    int packed = p->columns && !q->packed && !q->neighbours && q->nterms < 3 && q->n <= 1 << 30 && q->count <= 1 << 30 &&
                 q->kept[last] % p->width == 0 && q->n / p->width * q->count >= enough(p->terms->gpu) * PACKS &&
                 (q->nin > 1 || q->kept_steps[last]);
    for (int k = 0; packed && k < q->nin; ++k) {
        const int64_t *steps = q->kept_steps + k * q->nkept;
        packed = th_gpu_in_packs(operands[k], p->width, steps[last], last, steps) &&
                 th_gpu_in_packs(operands[k], p->width, steps[last], q->nterms, q->term_steps + k * q->nterms);
    }
    return packed;
}

/* The number of work-items that share the terms of each element, or of each pack of elements, and the number of parts: as
 * many as occupy the device. */
static void share(const th_gpu *gpu, plan *q)
{
    /* Half as many where they take packs: registers have room for no more of those at a time. */
    const int64_t wanted = enough(gpu) / (q->width > 1 ? 2 : 1), n = q->n / q->width, count = q->count;
    int64_t together = 1, most = GROUP, lanes = 1, parts = 1;
    while (together < n && together < (q->width > 1 ? SEGMENT_OF_PACKS : SEGMENT))
        together *= 2;
    if (!q->neighbours)
        most /= together;
    while (lanes < most && lanes < count &&
           ((q->neighbours && lanes < SEGMENT && (lanes < LEAST || lanes * LEAST < count)) || n * lanes < wanted))
        lanes *= 2;
    while (parts < PARTS && n * lanes * parts < wanted && count / (lanes * parts * 2) >= 2 * LEAST)
        parts *= 2;
    q->lanes = lanes;
    q->parts = parts;
}

static int launch(th_gpu *gpu, const th_gpu_kernel *kernel, int64_t groups, int npointers, char **pointers, int64_t *args, const char *end)
{
    const th_gpu_launch what = {kernel->function, groups, GROUP, npointers, pointers, args, (size_t)(end - (char *)args)};
    return th_gpu_launched(gpu, &what);
}

/* Of a power of two. A work-item that shifts by it needs no division. */
static int64_t exponent(int64_t power) { return __builtin_ctzll((unsigned long long)power); }

/* Groups for n elements of `lanes` lanes each. */
static int64_t groups_of(int64_t n, int64_t lanes) { return (n + GROUP / lanes - 1) / (GROUP / lanes); }

/* A row of a table that has `room`. Returns its end. */
static int64_t *put(int64_t *to, int room, int many, const int64_t *row)
{
    memset(to, 0, (size_t)room * sizeof *to);
    memcpy(to, row, (size_t)many * sizeof *to);
    return to + room;
}

/* As many axes as the tables of a launch have room for. */
static int axes_of_tables(const params_t *p) { return p->axes ? (int)p->axes : 1; }

/* The accumulators of all parts, into the results. */
static int finish(th_ctx *ctx, const params_t *p, const plan *q, char *left)
{
    th_gpu *gpu = p->finish->gpu;
    const int nout = ctx->nout, room = axes_of_tables(p);
    int64_t args[TH_GPU_ARGS / 8], *a = args + 1 + nout, lanes = 1;
    char *pointers[TH_GPU_POINTERS] = {left};
    while (lanes < GROUP && lanes < q->parts && q->n * lanes < gpu->processors * GROUP)
        lanes *= 2;
    *a++ = q->n;
    *a++ = exponent(lanes);
    *a++ = q->parts;
    *a++ = q->nkept;
    a = put(a, room, q->nkept, q->kept);
    for (int k = 0; k < nout; ++k) {
        a = put(a, room, q->nkept, q->kept_steps + (q->nin + k) * q->nkept);
        pointers[1 + k] = ctx->out[k]->data;
    }
    return launch(gpu, p->finish, groups_of(q->n, lanes), 1 + nout, pointers, args, (char *)a);
}

/* How far neighbours along the last axis are from each other, in the input where they are furthest: in others they may stand still. */
static int64_t furthest(int nin, int axes, const int64_t *steps)
{
    int64_t found = 0;
    for (int k = 0; axes && k < nin; ++k) {
        const int64_t apart = th_gpu_distance(steps[(k + 1) * axes - 1]);
        found = apart > found ? apart : found;
    }
    return found;
}

/* How the loop goes over its operands. */
static int describe(th_ctx *ctx, const params_t *p, th_buffer *const *operands, plan *q)
{
    const int nops = q->nin + ctx->nout, room = axes_of_tables(p) + 1;
    if ((q->kept_steps = ctx->rt->scratch(ctx, (size_t)((q->nin + nops) * room) * sizeof *q->kept_steps)) == NULL)
        return -1;
    q->term_steps = q->kept_steps + nops * room;
    q->nkept = rows_of(ctx, p, q->nin, operands, 0, q->kept, q->kept_steps);
    q->nterms = rows_of(ctx, p, q->nin, operands, 1, q->terms, q->term_steps);
    q->neighbours = q->nkept == 0 || furthest(q->nin, q->nterms, q->term_steps) <= furthest(q->nin, q->nkept, q->kept_steps);
    q->packed = is_packed(p, q, operands);
    q->width = in_columns(p, q, operands) ? p->width : 1;
    if (q->packed)
        q->count /= p->width;
    share(p->terms->gpu, q);
    return 0;
}

/* The arguments of `terms` or `columns` after the operands' offsets; for the latter packs are elements. Returns the end. */
static int64_t *tell(const params_t *p, const plan *q, int nout, int64_t *a)
{
    const int room = axes_of_tables(p), terms_room = room < 2 ? 2 : room;
    *a++ = q->n / q->width;
    *a++ = q->count;
    *a++ = exponent(q->lanes);
    *a++ = exponent(q->parts);
    *a++ = q->neighbours;
    *a++ = q->packed;
    *a++ = q->nkept;
    *a++ = q->nterms;
    const int last = q->nkept ? q->nkept - 1 : 0;
    int64_t *row = a;
    a = put(a, room, q->nkept, q->kept);
    row[last] /= q->width;
    a = put(a, terms_room, q->nterms, q->terms);
    for (int k = 0; k < q->nin + nout; ++k) {
        row = a;
        a = put(a, k < q->nin ? terms_room : room, q->nkept, q->kept_steps + k * q->nkept);
        row[last] *= q->width;
        if (k < q->nin)
            a = put(a, terms_room, q->nterms, q->term_steps + k * q->nterms);
    }
    return a;
}

TH_EXPORT int th_kernel_gpu_reduce(th_ctx *ctx)
{
    const params_t *p = ctx->params;
    th_gpu *gpu = p->terms->gpu;
    th_buffer *operands[TH_GPU_POINTERS];
    plan q = {.nkept = 0};
    if (make_outputs(ctx, p, &q))
        return -1;
    if (q.n == 0)
        return 0;
    const int nops = th_gpu_operands(ctx, p->hosts, operands);
    q.nin = nops - ctx->nout;
    if (describe(ctx, p, operands, &q))
        return -1;
    char *pointers[TH_GPU_POINTERS], *left = NULL;
    int64_t args[TH_GPU_ARGS / 8], *a = tell(p, &q, ctx->nout, args + nops + 1);
    const char *end = th_gpu_numbers(ctx, p->hosts, (char *)a, p->constants, p->constant_bytes);
    const size_t bytes = q.parts > 1 ? (size_t)(q.n * q.parts * p->accumulators) : 0;
    if (bytes && (left = th_gpu_scratch(gpu, bytes)) == NULL)
        return th_gpu_no_room(ctx, bytes);
    for (int k = 0; k < nops; ++k)
        pointers[k] = operands[k]->data;
    pointers[nops] = left ? left : ctx->out[0]->data;
    const th_gpu_kernel *kernel = q.width > 1 ? p->columns : p->terms;
    int status = launch(gpu, kernel, groups_of(q.n / q.width, q.lanes) * q.parts, nops + 1, pointers, args, end);
    if (status == 0 && left)
        status = finish(ctx, p, &q, left);
    if (left)
        th_gpu_scratch_release(gpu, left, bytes);
    return status ? th_gpu_failed(ctx, gpu) : 0;
}
