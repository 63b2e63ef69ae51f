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
 *   conv_pixels.h     the first two products
 *   conv_filters.h    the third
 */
#ifndef THEANO_TENSOR_CONV_H
#define THEANO_TENSOR_CONV_H

#include "kernels.h"

enum { TH_CONV_AXES = 3 };

/* One axis. Images of 2 dimensions have a first axis of length 1. */
typedef struct {
    int64_t image, kernel, output; /* lengths */
    int64_t before, after;         /* zeros around the image */
    int64_t step, dilation;
} th_conv_axis;

typedef struct {
    char *data;
    int64_t outer, inner;       /* strides in bytes: batch and channels, or filters and channels */
    int64_t at[TH_CONV_AXES];
} th_conv_array;

typedef struct {
    th_conv_axis axis[TH_CONV_AXES];
    int64_t batch, groups, channels, filters; /* the last two in a group */
    int64_t flip, threads, winograd;
    th_conv_array image, kernel, output;
} th_conv;

#define TH_CONV(NAME) TH_LOCAL int NAME(th_ctx *ctx, const th_conv *c)
TH_CONV(th_conv_forward_f32);
TH_CONV(th_conv_forward_f64);
TH_CONV(th_conv_images_f32);
TH_CONV(th_conv_images_f64);
TH_CONV(th_conv_filters_f32);
TH_CONV(th_conv_filters_f64);

#endif
