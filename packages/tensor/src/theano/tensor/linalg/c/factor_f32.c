/* Factorisations of matrices of float; see factor.h. */
#include "factor.h"

#define T float
#define T_IS_FLOAT 1
#define NAME(x) x##_f32

#include "gemm_vector.h"
#include "factor_work.h"
#include "factor_triangle.h"
#include "factor_cholesky.h"
#include "factor_lu.h"
#include "factor_qr.h"
#include "factor_eigh.h"
