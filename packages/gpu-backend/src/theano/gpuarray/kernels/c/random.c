/* The host's half of random numbers, whose states stay on the device. */
#include "gpu.h"
#include "parameters.h"

#include "draw.h"

/* inputs: states, a row of 6 for each stream; lengths (the host's). outputs: the next states, numbers. */
TH_EXPORT int th_kernel_gpu_mrg(th_ctx *ctx)
{
    const th_device_mrg_params *p = ctx->params;
    const th_buffer *states = ctx->in[0];
    struct {
        int64_t at[3], streams, count, bytes, state[2], next[2];
    } a = {.streams = states->shape[0]};
    if (states->shape[1] != 6)
        return TH_FAIL(ctx, TH_ERR_VALUE, "the states of MRG31k3p have 6 columns, not %lld", (long long)states->shape[1]);
    if (th_draw_outputs(ctx, p->in_place, INT32_MAX, &a.count))
        return -1;
    if (a.streams == 0)
        return a.count == 0 ? 0 : TH_FAIL(ctx, TH_ERR_VALUE, "there are no streams to draw from: the states have no row");
    a.bytes = ctx->out[1]->itemsize;
    for (int d = 0; d < 2; ++d) {
        a.state[d] = states->strides[d];
        a.next[d] = ctx->out[0]->strides[d];
    }
    char *pointers[] = {states->data, ctx->out[0]->data, a.count ? ctx->out[1]->data : states->data};
    return th_gpu_launch_items(ctx, p->function, a.streams, 3, pointers, &a, sizeof a);
}

enum { GROUP = 64 }; /* blocks that are drawn together */

/* inputs: the state (key, stream, counter); lengths (the host's). outputs: the next state, numbers of 4 or 8 bytes. */
TH_EXPORT int th_kernel_gpu_philox(th_ctx *ctx)
{
    const th_device_philox_params *p = ctx->params;
    const th_buffer *state = ctx->in[0];
    struct {
        int64_t at[2], count, kind, bytes, blocks, state, next;
    } a = {.kind = p->kind};
    if (state->shape[0] != 3)
        return TH_FAIL(ctx, TH_ERR_VALUE, "the state of Philox is key, stream and counter, not %lld numbers",
                       (long long)state->shape[0]);
    if (th_draw_outputs(ctx, p->in_place, INT64_MAX / 16, &a.count))
        return -1;
    a.bytes = ctx->out[1]->itemsize;
    const int64_t each = GROUP * 16 / a.bytes;
    a.blocks = (a.count + each - 1) / each * GROUP;
    a.state = state->strides[0];
    a.next = ctx->out[0]->strides[0];
    char *numbers[] = {state->data, ctx->out[1]->data}, *states[] = {state->data, ctx->out[0]->data};
    const int status = th_gpu_launch_items(ctx, p->draw, a.blocks, 2, numbers, &a, sizeof a);
    return status ? status : th_gpu_launch_items(ctx, p->advance, 1, 2, states, &a, sizeof a);
}

/* inputs: a matrix of probabilities, n uniform numbers for each row; n (the host's). */
TH_EXPORT int th_kernel_gpu_categories(th_ctx *ctx)
{
    const th_device_categories_params *p = ctx->params;
    th_gpu *gpu = p->function->gpu;
    const th_buffer *rows = ctx->in[0], *unis = ctx->in[1];
    const int64_t n = th_integer(ctx->in[2], 0), outcomes = rows->shape[1];
    struct {
        int64_t at[4], rows, outcomes, trials, replace, p[2], u, out[2];
    } a = {.rows = rows->shape[0], .outcomes = outcomes, .trials = n, .replace = p->replace, .u = unis->strides[0]};
    if (n < 0 || unis->shape[0] != a.rows * n)
        return TH_FAIL(ctx, TH_ERR_VALUE,
                       "%lld uniform numbers are given for %lld rows of probabilities and n = %lld. Give %lld.",
                       (long long)unis->shape[0], (long long)a.rows, (long long)n, (long long)(a.rows * n));
    if (p->chooses && !p->replace && n > outcomes)
        return TH_FAIL(ctx, TH_ERR_VALUE, "%lld different outcomes are wanted, and there are %lld", (long long)n, (long long)outcomes);
    const int64_t shape[2] = {a.rows, p->chooses ? n : outcomes};
    if (ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    if (shape[0] * shape[1] == 0)
        return 0;
    for (int d = 0; d < 2; ++d) {
        a.p[d] = rows->strides[d];
        a.out[d] = ctx->out[0]->strides[d];
    }
    const size_t bytes = (size_t)(a.rows * (outcomes ? outcomes : 1)) * 8;
    char *room = th_gpu_scratch(gpu, bytes);
    if (room == NULL)
        return th_gpu_no_room(ctx, bytes);
    /* An empty array has no memory: nothing of it is read. */
    char *pointers[] = {outcomes ? rows->data : room, n ? unis->data : room, ctx->out[0]->data, room};
    const int status = th_gpu_launch_items(ctx, p->function, a.rows, 4, pointers, &a, sizeof a);
    th_gpu_scratch_release(gpu, room, bytes);
    return status;
}
