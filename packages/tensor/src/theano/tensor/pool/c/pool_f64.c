/* Pooling of double; see pool.h. */
#include "pool.h"

#define T double
#define BITS uint64_t
#define NAME(x) x##_f64

#include "pool_planes.h"
