/* Convolution of float32 and float64: what conv.c sees of conv_f32.c and conv_f64.c.
 *
 * Images are copied once into a layout in which the channels of a pixel are neighbours, with zeros around them. Then
 * each of the three products is a sum over runs of neighbours, of which no other copy is made:
 *
 *   forward    out[pixel, filter]  = sum over elements of the filter: over channels
 *   by images  the same, for pixels whose places have the same remainder by the step: each remainder meets some of the
 *              filter's elements, and all of its pixels meet the same
 *   by filters dw[element, channel, filter] = sum over rows of pixels: over pixels
 *
 *   conv_tile.h       the block in registers
 *   conv_layout.h     channels last, and back
 *   conv_within.h     vectors of rows with zeros around them
 *   conv_planes.h     all three where a group has few filters: vectors are then cut out of rows of pixels
 *   conv_depthwise.h  the first two where each channel has filters of its own, of three rows
 *   conv_winograd.h   all three where filters of 3 x 3 move by one pixel
 *   conv_pointwise.h  all three where filters have one element and move by one pixel
 *   conv_lines.h      all three where filters are nearly as long as the image, or lines
 *   conv_pixels.h     the first two products
 *   conv_filters.h    the third
 *   conv_map.c        element-wise loops over results while they are in the cache
 */
#ifndef THEANO_TENSOR_CONV_H
#define THEANO_TENSOR_CONV_H

#include "conv_sizes.h"
#include "gemm.h"
#include "kernels.h"

typedef struct {
    char *data;
    int64_t outer, inner;       /* strides in bytes: batch and channels, or filters and channels */
    int64_t at[TH_CONV_AXES];
} th_conv_array;

/* An element-wise loop over the results. These are its first operand, in the memory of its output. */
typedef struct {
    const th_loop *planes, *pixels;       /* over the results of a filter, and over those of a pixel */
    const char *numbers;                  /* of their own text */
    char *data[TH_CONV_LIMIT_OPERANDS];   /* of operands */
    int64_t step[TH_CONV_LIMIT_OPERANDS]; /* of operands that have a number for each filter, from one to the next */
    int64_t filters, plane, size;         /* in all groups; results of a filter; bytes of one */
} th_conv_map;

typedef struct {
    th_conv_axis axis[TH_CONV_AXES];
    int64_t batch, groups, channels, filters; /* the last two in a group */
    int64_t flip, threads, winograd;
    th_conv_array image, kernel, output;
    const th_conv_map *map;                   /* what becomes of results, or NULL */
} th_conv;

/* conv_map.c: output and operands of the loop, where the results have this shape: 0, or -1 with the error set; and what
 * becomes of the results `first` to `end` of some filters, counted over groups, which are final. */
TH_LOCAL int th_conv_map_sized(th_ctx *ctx, th_conv_map *map, const int64_t *shape);
TH_LOCAL void th_conv_finish(const th_conv *c, int64_t image, int64_t filter, int64_t filters, int64_t first, int64_t end);

static inline int64_t parts_of(int64_t count, int64_t most) { return (count + most - 1) / most; }

/* Where part i of `count` things in `parts` equal parts begins. */
static inline int64_t part_at(int64_t count, int64_t parts, int64_t i)
{
    const int64_t more = count % parts;
    return i * (count / parts) + (i < more ? i : more);
}

/* Into how many parts `items` of `work` multiplications in all are cut for threads. */
static inline int64_t th_conv_parts(const th_conv *c, double work, int64_t items)
{
    if (c->threads == 1 || work < TH_GEMM_WORTH_THREADS)
        return 1;
    return items < TH_CONV_PARTS ? items : TH_CONV_PARTS;
}

/* body(arg, lo, hi) for all parts. 0, or -1 with the error set. */
static inline int th_conv_run(th_ctx *ctx, const th_conv *c, int64_t parts, th_body body, void *arg)
{
    if (c->threads != 1 && parts > 1)
        return ctx->rt->parallel_for(ctx, parts, c->threads ? parts_of(parts, c->threads) : 1, body, arg);
    body(arg, 0, parts);
    return 0;
}

#define TH_CONV(NAME) TH_LOCAL int NAME(th_ctx *ctx, const th_conv *c)
TH_CONV(th_conv_forward_f32);
TH_CONV(th_conv_forward_f64);
TH_CONV(th_conv_images_f32);
TH_CONV(th_conv_images_f64);
TH_CONV(th_conv_filters_f32);
TH_CONV(th_conv_filters_f64);

#endif
