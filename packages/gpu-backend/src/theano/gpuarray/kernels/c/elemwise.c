/* The host's half of element-wise loops. */
#include <string.h>

#include "gpu.h"
#include "parameters.h"

typedef th_device_map_params params_t;

/* What the loop sees: axes in the order of the memory of the first result, as few as there can be, but one. */
typedef struct nest {
    int nops, left;
    int64_t shape[TH_MAX_NDIM + TH_GPU_TILING], *strides; /* strides: as many for each operand as axes are left */
} nest;

/* If results have the layout of transposed operands, order the axes so that results are contiguous in the loop, too. */
static void put_in_order(nest *q, int ndim, int64_t *steps)
{
    for (int last = 1; last < ndim; ++last) {
        for (int d = last; d > 0 && steps[d - 1] < steps[d]; --d) {
            th_gpu_swap(&steps[d - 1], &steps[d]);
            th_gpu_swap(&q->shape[d - 1], &q->shape[d]);
            for (int k = 0; k < q->nops; ++k)
                th_gpu_swap(&q->strides[k * ndim + d - 1], &q->strides[k * ndim + d]);
        }
    }
}

static void describe(th_ctx *ctx, const params_t *p, th_buffer *const *operands, nest *q)
{
    const int ndim = (int)p->axes, devices = q->nops - ctx->nout;
    int64_t steps[TH_MAX_NDIM];
    uint64_t left = ~p->hosts; /* the inputs, of which the first ones are the operands' */
    for (int d = 0; d < ndim; ++d) {
        q->shape[d] = ctx->out[0]->shape[d];
        steps[d] = th_gpu_distance(ctx->out[0]->strides[d]);
    }
    for (int k = 0; k < q->nops; ++k) {
        const uint64_t ones = k < devices ? p->ones[__builtin_ctzll(left)] : 0;
        left &= left - 1;
        for (int d = 0; d < ndim; ++d)
            q->strides[k * ndim + d] = ones >> d & 1 ? 0 : operands[k]->strides[d];
    }
    put_in_order(q, ndim, steps);
    q->left = th_gpu_collapse(ndim, q->shape, q->nops, q->strides);
    if (q->left == 0) {
        q->left = 1;
        q->shape[0] = 1;
        memset(q->strides, 0, (size_t)q->nops * sizeof *q->strides);
    }
}

/* Can packs be written? */
static int is_packed(const params_t *p, const nest *q, int nout, th_buffer *const *operands)
{
    const int last = q->left - 1;
    int packed = last == 0 || q->shape[last] % p->width == 0;
    for (int k = q->nops - nout; packed && k < q->nops; ++k) {
        const int64_t *strides = q->strides + k * q->left;
        packed = th_gpu_in_packs(operands[k], p->width, strides[last], last, strides);
    }
    return packed;
}

/* The operands whose elements form packs, as a mask; `along`: the strides of all operands along the last axis. */
static int64_t packs_of(const params_t *p, const nest *q, th_buffer *const *operands, int64_t *along)
{
    const int last = q->left - 1;
    uint64_t packs = 0;
    for (int k = 0; k < q->nops; ++k) {
        const int64_t *strides = q->strides + k * q->left;
        along[k] = strides[last];
        if (along[k] != 0 && th_gpu_in_packs(operands[k], p->width, along[k], last, strides))
            packs |= (uint64_t)1 << k;
    }
    return (int64_t)packs;
}

static int make_outputs(th_ctx *ctx, const params_t *p)
{
    uint8_t kind[TH_GPU_POINTERS];
    int32_t over[TH_GPU_POINTERS];
    for (int k = 0; k < ctx->nin; ++k)
        kind[k] = (uint8_t)p->kinds[k];
    for (int k = 0; k < ctx->nout; ++k)
        over[k] = (int32_t)p->over[k];
    const th_loop loop = {NULL, p->ones, kind, over, 1.0, ctx->nin, ctx->nout, (int32_t)p->axes, 1, NULL, 0, NULL};
    return ctx->rt->size_outputs(ctx, &loop);
}

TH_EXPORT int th_kernel_gpu_elemwise(th_ctx *ctx)
{
    const params_t *p = ctx->params;
    th_buffer *operands[TH_GPU_POINTERS];
    if (make_outputs(ctx, p))
        return -1;
    nest q = {.nops = th_gpu_operands(ctx, p->hosts, operands)};
    const int room = p->axes > 1 ? (int)p->axes + TH_GPU_TILING : 1; /* of tables, as map_code has it */
    if ((q.strides = ctx->rt->scratch(ctx, (size_t)(q.nops * (room + 1)) * sizeof *q.strides)) == NULL)
        return -1;
    describe(ctx, p, operands, &q);
    int64_t n = 1, along[TH_GPU_POINTERS];
    const int packed = is_packed(p, &q, ctx->nout, operands), last = q.left - 1;
    const int64_t pack = packed ? p->width : 1, of_row = q.shape[last], packs = packs_of(p, &q, operands, along);
    const int64_t row = q.shape[last] = (of_row + pack - 1) / pack;
    for (int k = 0; k < q.nops; ++k)
        q.strides[k * q.left + last] *= pack;
    q.left = th_gpu_tile(q.left, q.shape, q.nops, q.strides);
    for (int d = 0; d < q.left; ++d)
        n *= q.shape[d];
    if (n == 0)
        return 0;
    char *pointers[TH_GPU_POINTERS];
    int64_t args[TH_GPU_ARGS / 8], *a = args + q.nops;
    *a++ = n;
    *a++ = q.left;
    *a++ = of_row - (row - 1) * pack;
    *a++ = packs;
    /* tables of as many axes as the loop was written for; those that are left come first */
    memset(a, 0, (size_t)((q.nops + 1) * room) * sizeof *a);
    memcpy(a, q.shape, (size_t)q.left * sizeof *a);
    a += room;
    for (int k = 0; k < q.nops; ++k, a += room)
        memcpy(a, q.strides + k * q.left, (size_t)q.left * sizeof *a);
    for (int k = 0; k < q.nops; ++k) {
        pointers[k] = operands[k]->data;
        *a++ = along[k];
    }
    const char *end = th_gpu_numbers(ctx, p->hosts, (char *)a, p->constants, p->constant_bytes);
    return th_gpu_launch_items(ctx, packed ? p->rows : p->strided, n, q.nops, pointers, args, (size_t)(end - (char *)args));
}
