/* Products of matrices and vectors of double; see gemm.h. */
#include "gemm.h"

#define T double
#define T_IS_FLOAT 0
#define NAME(x) x##_f64

#include "gemm_vector.h"
#include "gemm_pack.h"
#include "gemm_tile.h"
#include "gemm_blocks.h"
#include "gemm_direct.h"
#include "gemm_dispatch.h"
#include "gemm_level2.h"

/* The instructions that products are made of at this level, for the doctor. */
TH_EXPORT const char th_vectors[] = VECTOR_NAME;
