/* Factorisations of matrices of double; see factor.h. */
#include "factor.h"

#define T double
#define T_IS_FLOAT 0
#define NAME(x) x##_f64

#include "gemm_vector.h"
#include "factor_work.h"
#include "factor_triangle.h"
#include "factor_cholesky.h"
#include "factor_lu.h"
#include "factor_qr.h"
#include "factor_eigh.h"
