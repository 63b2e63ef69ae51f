/* Assertions. */
#include "kernels.h"

/* y = x, if all other inputs are true. */
TH_EXPORT int th_kernel_assert(th_ctx *ctx)
{
    const th_message_params *said = ctx->params;
    for (int i = 1; i < ctx->nin; ++i)
        if (th_real(ctx->in[i]) == 0)
            return TH_FAIL(ctx, (int)said->error, "%s", said->text);
    return th_alias(ctx, ctx->out[0], ctx->in[0]);
}
