/* Products of matrices and vectors of float; see gemm.h. */
#include "gemm.h"

#define T float
#define T_IS_FLOAT 1
#define NAME(x) x##_f32

#include "gemm_vector.h"
#include "gemm_pack.h"
#include "gemm_tile.h"
#include "gemm_blocks.h"
#include "gemm_direct.h"
#include "gemm_dispatch.h"
#include "gemm_level2.h"
