/* The host's half of reductions.
 *
 * The axes of the results and those that are reduced are each made as few as possible. A group of work-items computes some
 * neighbouring elements of the results, each by a power of two of lanes, which take every so manieth term and are
 * combined in a tree. Where there are too few elements to keep the device busy, terms are cut into parts: one launch leaves
 * the accumulators of each part in memory, another one takes them together. The order is fixed by the lengths.
 */
#include <string.h>

#include "gpu.h"
#include "parameters.h"

typedef th_device_reduction_params params_t;

enum { GROUP = 256, PARTS = 256 };

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

void th_gpu_share(const th_gpu *gpu, int64_t n, int64_t count, int neighbours, int64_t *lanes, int64_t *parts)
{
    const int64_t wanted = gpu->processors * 2 * GROUP; /* work-items that keep it busy */
    *lanes = *parts = 1;
    while (*lanes < GROUP && *lanes < count && ((neighbours && *lanes < 32) || n * *lanes < wanted))
        *lanes *= 2;
    while (*parts < PARTS && n * *lanes * *parts < wanted && count / (*lanes * *parts * 2) >= 16)
        *parts *= 2;
}

static int launch(th_gpu *gpu, const th_gpu_kernel *kernel, int64_t groups, int64_t group, int npointers, char **pointers, int64_t *args, const char *end)
{
    const th_gpu_launch what = {kernel->function, groups, group, npointers, pointers, args, (size_t)(end - (char *)args)};
    return th_gpu_launched(gpu, &what);
}

TH_EXPORT int th_kernel_gpu_reduce(th_ctx *ctx)
{
    const params_t *p = ctx->params;
    th_gpu *gpu = p->whole->gpu;
    th_buffer *operands[TH_GPU_POINTERS];
    const int nout = ctx->nout, ndim = (int)p->axes;
    plan q = {.nkept = 0};
    if (make_outputs(ctx, p, &q))
        return -1;
    if (q.n == 0)
        return 0;
    const int nin = th_gpu_operands(ctx, p->hosts, operands) - nout;
    int64_t *kept = ctx->rt->scratch(ctx, (size_t)((2 * nin + nout) * (ndim + 1)) * sizeof *kept), *terms = kept + (nin + nout) * (ndim + 1);
    if (kept == NULL)
        return -1;
    q.nkept = rows_of(ctx, p, nin, operands, 0, q.kept, kept);
    q.nterms = rows_of(ctx, p, nin, operands, 1, q.terms, terms);
    const int64_t inner_term = q.nterms ? terms[q.nterms - 1] : 0, inner_kept = q.nkept ? kept[q.nkept - 1] : INT64_MAX;
    const int neighbours = (inner_term < 0 ? -inner_term : inner_term) <= (inner_kept < 0 ? -inner_kept : inner_kept);
    th_gpu_share(gpu, q.n, q.count, neighbours, &q.lanes, &q.parts);
    if (p->parts == NULL)
        q.parts = 1;
    /* what `whole` and `parts` are told; the tables are of as many axes as the loop has */
    char *pointers[TH_GPU_POINTERS];
    int64_t args[TH_GPU_ARGS / 8];
    const int cut = q.parts > 1, npointers = nin + (cut ? 1 : nout);
    int64_t *a = args + npointers;
    *a++ = q.n;
    *a++ = q.count;
    *a++ = q.lanes;
    *a++ = q.parts;
    *a++ = neighbours;
    *a++ = q.nkept;
    *a++ = q.nterms;
    memset(a, 0, (size_t)((2 + 2 * nin + nout) * ndim) * sizeof *a);
    memcpy(a, q.kept, (size_t)q.nkept * sizeof *a);
    memcpy(a + ndim, q.terms, (size_t)q.nterms * sizeof *a);
    a += 2 * ndim;
    for (int k = 0; k < nin; ++k, a += 2 * ndim) {
        memcpy(a, kept + k * q.nkept, (size_t)q.nkept * sizeof *a);
        memcpy(a + ndim, terms + k * q.nterms, (size_t)q.nterms * sizeof *a);
    }
    int64_t *results = a;
    for (int k = 0; k < nout; ++k, a += ndim)
        memcpy(a, kept + (nin + k) * q.nkept, (size_t)q.nkept * sizeof *a);
    const char *end = th_gpu_numbers(ctx, p->hosts, (char *)a, p->constants, p->constant_bytes);
    const int64_t per_group = GROUP / q.lanes, groups = (q.n + per_group - 1) / per_group;
    for (int k = 0; k < nin; ++k)
        pointers[k] = operands[k]->data;
    if (!cut) {
        for (int k = 0; k < nout; ++k)
            pointers[nin + k] = ctx->out[k]->data;
        return launch(gpu, p->whole, groups, GROUP, npointers, pointers, args, end) ? th_gpu_failed(ctx, gpu) : 0;
    }
    const size_t bytes = (size_t)(q.n * q.parts * p->accumulators);
    char *left = th_gpu_scratch(gpu, bytes);
    if (left == NULL)
        return th_gpu_no_room(ctx, bytes);
    pointers[nin] = left;
    int status = launch(gpu, p->parts, groups * q.parts, GROUP, npointers, pointers, args, end);
    if (status == 0) {
        int64_t last[TH_GPU_ARGS / 8], *b = last + 1 + nout;
        *b++ = q.n;
        *b++ = q.parts;
        *b++ = q.nkept;
        memcpy(b, q.kept, (size_t)ndim * sizeof *b);
        memcpy(b + ndim, results, (size_t)(nout * ndim) * sizeof *b);
        b += (1 + nout) * ndim;
        pointers[0] = left;
        for (int k = 0; k < nout; ++k)
            pointers[1 + k] = ctx->out[k]->data;
        status = launch(gpu, p->finish, (q.n + gpu->group - 1) / gpu->group, gpu->group, 1 + nout, pointers, last, (char *)b);
    }
    th_gpu_scratch_release(gpu, left, bytes);
    return status ? th_gpu_failed(ctx, gpu) : 0;
}
