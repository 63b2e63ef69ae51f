/* What kernels are written with, in OpenCL C 1.2. */
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
#define KERNEL __kernel
#define DEVICE
#define GLOBAL __global
#define ARGUMENTS const
#define LOCAL __local
#define CONSTANT_TABLE __constant
#define UNROLL _Pragma("unroll")
#define LOOP
#define RESIDENT(groups)
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
/* What the group wrote to global memory, too, is seen behind it. */
#define GLOBAL_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define GLOBAL_ID() ((int64_t)get_global_id(0))
#define GROUP_ID() ((int64_t)get_group_id(0))
#define LOCAL_ID() ((int)get_local_id(0))
#define LOCAL_SIZE() ((int)get_local_size(0))
#define TH_INLINE static inline
#define ALIGNED(n) __attribute__((aligned(n)))
#define INT64_C(x) x##L
#define UINT64_C(x) x##UL
#define INT64_MIN LONG_MIN
#define INT32_MIN INT_MIN
TH_INLINE uint64_t th_bits_f64(double x) { return as_ulong(x); }
TH_INLINE double th_from_bits_f64(uint64_t u) { return as_double(u); }
TH_INLINE uint32_t th_bits_f32(float x) { return as_uint(x); }
TH_INLINE float th_from_bits_f32(uint32_t u) { return as_float(u); }
TH_INLINE float th_exp2_approx(float x) { return exp2(x); }
/* By their bits: INFINITY and NAN may be made of these. */
#define __builtin_inf() as_double(0x7ff0000000000000UL)
#define __builtin_inff() as_float(0x7f800000)
#define __builtin_nan(x) as_double(0x7ff8000000000000UL)
#define __builtin_nanf(x) as_float(0x7fc00000)
#define sqrtf(x) sqrt((float)(x))
#define fabsf(x) fabs((float)(x))
#define floorf(x) floor((float)(x))
#define ceilf(x) ceil((float)(x))
#define truncf(x) trunc((float)(x))
#define rintf(x) rint((float)(x))
#define fminf(x, y) fmin((float)(x), (float)(y))
#define fmaxf(x, y) fmax((float)(x), (float)(y))
#define fmodf(x, y) fmod((float)(x), (float)(y))
#define copysignf(x, y) copysign((float)(x), (float)(y))
#define fmaf(x, y, z) fma((float)(x), (float)(y), (float)(z))
/* Words that are names of variables in C. */
#define half half_
#define kernel kernel_
#define global global_
#define local local_
#define constant constant_
#define private private_
