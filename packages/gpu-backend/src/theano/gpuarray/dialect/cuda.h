/* What kernels are written with, in CUDA C++. */
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define KERNEL extern "C" __global__
#define DEVICE __device__
#define GLOBAL
/* Of the struct of a launch. Without the second word each work-item has a copy of it, where tables are read by index. */
#define ARGUMENTS const __grid_constant__
#define LOCAL __shared__
#define CONSTANT_TABLE __device__ const
#define UNROLL _Pragma("unroll")
#define LOOP _Pragma("unroll 1") /* whose code is short */
#define RESIDENT(groups) __launch_bounds__(256, groups) /* limits registers so that a processor runs `groups` groups of 256 */
#define BARRIER() __syncthreads()
#define GLOBAL_BARRIER() __syncthreads()
#define GLOBAL_ID() ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)
#define GROUP_ID() ((int64_t)blockIdx.x)
#define LOCAL_ID() ((int)threadIdx.x)
#define LOCAL_SIZE() ((int)blockDim.x)
#define TH_INLINE __device__ __forceinline__
#define ALIGNED(n) __align__(n)
#define INT64_C(x) x##LL
#define UINT64_C(x) x##ULL
#define INT64_MIN (-INT64_C(9223372036854775807) - 1)
#define INT32_MIN (-2147483647 - 1)
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
TH_INLINE uint64_t th_bits_f64(double x) { return (uint64_t)__double_as_longlong(x); }
TH_INLINE double th_from_bits_f64(uint64_t u) { return __longlong_as_double((int64_t)u); }
TH_INLINE uint32_t th_bits_f32(float x) { return __float_as_uint(x); }
TH_INLINE float th_from_bits_f32(uint32_t u) { return __uint_as_float(u); }
#define __builtin_inf() ((double)INFINITY)
#define __builtin_inff() INFINITY
#define __builtin_nan(x) ((double)NAN)
#define __builtin_nanf(x) NAN
/* 2^x by one instruction, with an error of about two units in the last place; 0 where that is no normal number. */
TH_INLINE float th_exp2_approx(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
/* Half precision is converted by the processor: by its bits it takes longer than memory gives numbers. */
TH_INLINE float th_load_f16(uint16_t h)
{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
    return x;
}
TH_INLINE uint16_t th_store_f16(float x)
{
    uint16_t h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
}
