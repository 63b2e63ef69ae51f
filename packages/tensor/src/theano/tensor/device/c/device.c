/* Transfers between the host's memory and a device's. */
#include "kernels.h"

TH_EXPORT int th_kernel_transfer(th_ctx *ctx)
{
    return ctx->rt->transfer(ctx, ctx->out[0], ctx->in[0]);
}
