/* Convolution of double; see conv.h. */
#include "conv.h"

#define T double
#define T_IS_FLOAT 0
#define NAME(x) x##_f64

#include "gemm_vector.h"
#include "gemm_pack.h"
#include "conv_tile.h"
#include "conv_layout.h"
#include "conv_within.h"
#include "conv_planes.h"
#include "conv_depthwise.h"
#include "conv_winograd.h"
#include "conv_pointwise.h"
#include "conv_lines.h"
#include "conv_pixels.h"
#include "conv_filters.h"
