/* The host's half of element-wise loops. */
#include <string.h>

#include "gpu.h"
#include "parameters.h"

typedef th_device_map_params params_t;

static void shapes_and_strides(th_ctx *ctx, const params_t *p, int nops, th_buffer *const *operands, int64_t *shape, int64_t *strides)
{
    const int ndim = (int)p->axes, devices = nops - ctx->nout;
    for (int d = 0; d < ndim; ++d)
        shape[d] = ctx->out[0]->shape[d];
    uint64_t left = ~p->hosts; /* the inputs, of which the first ones are the operands' */
    for (int k = 0; k < nops; ++k) {
        const uint64_t ones = k < devices ? p->ones[__builtin_ctzll(left)] : 0;
        left &= left - 1;
        for (int d = 0; d < ndim; ++d)
            strides[k * ndim + d] = ones >> d & 1 ? 0 : operands[k]->strides[d];
    }
}

/* Does each operand lie in one piece, or stand still? */
static int is_flat(int left, int nops, th_buffer *const *operands, const int64_t *strides)
{
    if (left > 1)
        return 0;
    for (int k = 0; left && k < nops; ++k) {
        if (strides[k] != 0 && strides[k] != operands[k]->itemsize)
            return 0;
    }
    return 1;
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

TH_EXPORT int th_kernel_gpu_map(th_ctx *ctx)
{
    const params_t *p = ctx->params;
    th_buffer *operands[TH_GPU_POINTERS];
    if (make_outputs(ctx, p))
        return -1;
    const int nops = th_gpu_operands(ctx, p->hosts, operands), ndim = (int)p->axes;
    int64_t shape[TH_MAX_NDIM], *strides = ctx->rt->scratch(ctx, (size_t)(nops * (ndim + 1)) * sizeof *strides), n = 1;
    if (strides == NULL)
        return -1;
    shapes_and_strides(ctx, p, nops, operands, shape, strides);
    for (int d = 0; d < ndim; ++d)
        n *= shape[d];
    if (n == 0)
        return 0;
    const int left = th_gpu_collapse(ndim, shape, nops, strides), flat = is_flat(left, nops, operands, strides);
    char *pointers[TH_GPU_POINTERS];
    int64_t args[TH_GPU_ARGS / 8], *a = args + nops;
    for (int k = 0; k < nops; ++k)
        pointers[k] = operands[k]->data;
    *a++ = n;
    if (flat) {
        for (int k = 0; k < nops; ++k)
            *a++ = left ? strides[k] : 0;
    } else { /* tables of as many axes as the loop was written for; those that are left come first */
        *a++ = left;
        memcpy(a, shape, (size_t)left * sizeof *a);
        a += ndim;
        for (int k = 0; k < nops; ++k, a += ndim)
            memcpy(a, strides + k * left, (size_t)left * sizeof *a);
    }
    const char *end = th_gpu_numbers(ctx, p->hosts, (char *)a, p->constants, p->constant_bytes);
    return th_gpu_launch_items(ctx, flat ? p->flat : p->strided, n, nops, pointers, args, (size_t)(end - (char *)args));
}
