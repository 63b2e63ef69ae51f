/* Pooling of float; see pool.h. */
#include "pool.h"

#define T float
#define BITS uint32_t
#define NAME(x) x##_f32

#include "pool_planes.h"
