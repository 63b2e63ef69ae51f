/* Element-wise loops over the results of a convolution, a piece at a time while that is in the cache.
 *
 * Beside the results there are operands of one number, and some that have a number for each filter. Where the results of a
 * filter lie as neighbours, neither moves; where those of a pixel do, the latter do (conv_pixels.h). */
#include "conv.h"

int th_conv_map_sized(th_ctx *ctx, th_conv_map *map, const int64_t *shape)
{
    const th_loop *loop = map->planes;
    map->filters = shape[1];
    map->plane = 1;
    for (int d = 2; d < ctx->out[0]->ndim; ++d)
        map->plane *= shape[d];
    for (int k = 1; k < loop->nin; ++k) {
        const th_buffer *b = ctx->in[k + 1]; /* behind images and filters */
        map->data[k] = b->data;
        if (map->pixels->kind[k] & TH_INVARIANT)
            continue;
        if (b->shape[1] != shape[1])
            return TH_FAIL(ctx, TH_ERR_SHAPE, "there are %lld filters, and %lld numbers to be combined with their results.",
                           (long long)shape[1], (long long)b->shape[1]);
        map->step[k] = b->strides[1];
    }
    for (int k = 0; k < loop->nout; ++k) {
        if (ctx->rt->ensure(ctx, ctx->out[k], shape))
            return -1;
        map->data[loop->nin + k] = ctx->out[k]->data;
    }
    map->data[0] = map->data[loop->nin];
    map->size = ctx->out[0]->itemsize;
    return 0;
}

/* `n` results from `data` on; the last ones, less than a vector, are copied to where there is space for one. */
static void run_piece(const th_conv_map *map, char *const *data, int64_t n)
{
    enum { MOST_BYTES = 128 }; /* of a vector */
    const th_loop *loop = map->planes;
    const int64_t rest = n % loop->lanes, whole = n - rest, size = map->size;
    if (whole)
        loop->run(whole, data, map->numbers);
    if (rest == 0)
        return;
    _Alignas(64) char pads[TH_CONV_LIMIT_OPERANDS][MOST_BYTES];
    char *at[TH_CONV_LIMIT_OPERANDS];
    for (int k = 0; k < loop->nin + loop->nout; ++k)
        at[k] = k == 0 || k >= loop->nin ? pads[k] : data[k];
    memset(pads[0], 0, MOST_BYTES);
    memcpy(pads[0], data[0] + whole * size, (size_t)(rest * size));
    loop->run(loop->lanes, at, map->numbers);
    for (int k = loop->nin; k < loop->nin + loop->nout; ++k)
        memcpy(data[k] + whole * size, pads[k], (size_t)(rest * size));
}

void th_conv_finish(const th_conv *c, int64_t image, int64_t filter, int64_t filters, int64_t first, int64_t end)
{
    const th_conv_map *map = c->map;
    if (map == NULL)
        return;
    const th_loop *loop = map->planes;
    for (int64_t f = filter; f < filter + filters; ++f) {
        const int64_t place = ((image * map->filters + f) * map->plane + first) * map->size;
        char *data[TH_CONV_LIMIT_OPERANDS];
        for (int k = 0; k < loop->nin + loop->nout; ++k)
            data[k] = map->data[k] + (k == 0 || k >= loop->nin ? place : f * map->step[k]);
        run_piece(map, data, end - first);
    }
}
