/* One of two lists of inputs, whichever the condition says: a lazy kernel, which asks for no input of the other list. */
#include "kernels.h"

static int is_true(const th_buffer *b)
{
    switch (b->dtype) {
    case TH_FLOAT16: return (*(const uint16_t *)b->data & 0x7fff) != 0; /* -0.0 is not true, nan is */
    case TH_COMPLEX64: return ((const float *)b->data)[0] != 0 || ((const float *)b->data)[1] != 0;
    case TH_COMPLEX128: return ((const double *)b->data)[0] != 0 || ((const double *)b->data)[1] != 0;
    case TH_FLOAT32:
    case TH_FLOAT64: return th_real(b) != 0;
    case TH_BOOL: return *(const uint8_t *)b->data != 0;
    default: return th_integer(b, 0) != 0;
    }
}

/* Inputs: the condition, then a value for each output if it is true, then those if it is not. */
TH_EXPORT int th_kernel_choice(th_ctx *ctx)
{
    const th_if_else_params *p = ctx->params;
    const int n = ctx->nout;
    const th_buffer *condition = ctx->in[0];
    if (!condition->data) {
        ctx->need = 0;
        return 1;
    }
    const int first = is_true(condition) ? 1 : 1 + n;
    for (int k = 0; k < n; ++k) {
        if (!ctx->in[first + k]->data) {
            ctx->need = first + k;
            return 1;
        }
    }
    for (int k = 0; k < n; ++k) {
        th_buffer *in = ctx->in[first + k], *out = ctx->out[k];
        th_window from;
        th_window_of(&from, in);
        if (p->as_view ? th_view_of(ctx, out, in, &from) : th_copy_of(ctx, out, &from))
            return -1;
    }
    return 0;
}
