/* Element-wise loops over the results of a convolution, a piece at a time while that is in the cache.
 *
 * Beside the results there are operands of one number, and some that have a number for each filter. Where the results of a
 * filter are contiguous, neither advances. Where those of a pixel are, the operands of filters do (conv_pixels.h). */
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
    if (ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    map->data[0] = ctx->out[0]->data;
    map->size = ctx->out[0]->itemsize;
    return 0;
}

void th_conv_finish(const th_conv *c, int64_t image, int64_t filter, int64_t filters, int64_t first, int64_t end)
{
    enum { MOST_BYTES = 128 }; /* of a vector */
    const th_conv_map *map = c->map;
    if (map == NULL)
        return;
    const th_loop *loop = map->planes;
    const int64_t rest = (end - first) % loop->lanes, whole = end - first - rest, size = map->size;
    for (int64_t f = filter; f < filter + filters; ++f) {
        char *results = map->data[0] + ((image * map->filters + f) * map->plane + first) * size, *data[TH_CONV_LIMIT_OPERANDS];
        for (int k = 1; k < loop->nin; ++k)
            data[k] = map->data[k] + f * map->step[k];
        data[0] = data[loop->nin] = results;
        if (whole)
            loop->run(whole, data, map->numbers);
        if (rest == 0)
            continue;
        /* The last ones, less than a vector, are copied to where there is space for one. */
        _Alignas(64) char pad[MOST_BYTES] = {0};
        data[0] = data[loop->nin] = memcpy(pad, results + whole * size, (size_t)(rest * size));
        loop->run(loop->lanes, data, map->numbers);
        memcpy(results + whole * size, pad, (size_t)(rest * size));
    }
}
