/* Vectors of the width of a register, of one element type. */
#ifndef THEANO_SPARSE_VECTORS_H
#define THEANO_SPARSE_VECTORS_H

#include "sparse.h"

#if defined(__AVX512F__)
enum { TH_VECTOR = 64 };
#elif defined(__AVX__)
enum { TH_VECTOR = 32 };
#else
enum { TH_VECTOR = 16 };
#endif

/* At any address of an element. */
typedef double th_vf64 __attribute__((vector_size(TH_VECTOR), aligned(8), may_alias));
typedef float th_vf32 __attribute__((vector_size(TH_VECTOR), aligned(4), may_alias));

#endif
