/* What kernels of programs are written with that name libgpuarray's words, in both languages. */
#define WITHIN_KERNEL DEVICE
#define GLOBAL_MEM GLOBAL
#define LOCAL_MEM LOCAL
#define local_barrier() BARRIER()
#define ga_bool uint8_t
#define ga_byte int8_t
#define ga_ubyte uint8_t
#define ga_short int16_t
#define ga_ushort uint16_t
#define ga_int int32_t
#define ga_uint uint32_t
#define ga_long int64_t
#define ga_ulong uint64_t
#define ga_float float
#define ga_double double
#define ga_size uint64_t
#define ga_ssize int64_t
typedef struct ga_half { uint16_t data; } ga_half;
#define load_half(p) ga_half2float(*(p))
#define store_half(p, number) (*(p) = ga_float2half(number))
#ifdef __OPENCL_VERSION__
/* People write OpenCL C too, in which these are words. */
#undef half
#undef kernel
#undef global
#undef local
#undef constant
#undef private
#define LOCAL_MEM_ARG __local
TH_INLINE float ga_half2float(const ga_half h) { return vload_half(0, (const half *)&h.data); }
TH_INLINE ga_half ga_float2half(const float number)
{
    ga_half h;
    vstore_half(number, 0, (half *)&h.data);
    return h;
}
#define LID_0 ((ga_int)get_local_id(0))
#define LID_1 ((ga_int)get_local_id(1))
#define LID_2 ((ga_int)get_local_id(2))
#define LDIM_0 ((ga_int)get_local_size(0))
#define LDIM_1 ((ga_int)get_local_size(1))
#define LDIM_2 ((ga_int)get_local_size(2))
#define GID_0 ((ga_int)get_group_id(0))
#define GID_1 ((ga_int)get_group_id(1))
#define GID_2 ((ga_int)get_group_id(2))
#define GDIM_0 ((ga_int)get_num_groups(0))
#define GDIM_1 ((ga_int)get_num_groups(1))
#define GDIM_2 ((ga_int)get_num_groups(2))
#define GA_WARP_SIZE 1
#define GA_DECL_SHARED_PARAM(type, name) , __local type *name
#define GA_DECL_SHARED_BODY(type, name)
#define REQD_WG_SIZE(X, Y, Z) __attribute__((reqd_work_group_size(X, Y, Z)))
#define atom_add_ig(a, b) atomic_add(a, b)
#define atom_add_Ig(a, b) atomic_add(a, b)
#define atom_xchg_ig(a, b) atomic_xchg(a, b)
#define atom_xchg_Ig(a, b) atomic_xchg(a, b)
#define atom_xchg_fg(a, b) atomic_xchg(a, b)
TH_INLINE float atom_add_fg(volatile __global float *to, const float value)
{
    volatile __global uint *bits = (volatile __global uint *)to;
    uint before = *bits, seen;
    while ((seen = atomic_cmpxchg(bits, before, as_uint(as_float(before) + value))) != before)
        before = seen;
    return as_float(before);
}
#else
#define LOCAL_MEM_ARG
TH_INLINE float ga_half2float(const ga_half h)
{
    float number;
    asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(h.data));
    return number;
}
TH_INLINE ga_half ga_float2half(const float number)
{
    ga_half h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.data) : "f"(number));
    return h;
}
#define LID_0 ((ga_int)threadIdx.x)
#define LID_1 ((ga_int)threadIdx.y)
#define LID_2 ((ga_int)threadIdx.z)
#define LDIM_0 ((ga_int)blockDim.x)
#define LDIM_1 ((ga_int)blockDim.y)
#define LDIM_2 ((ga_int)blockDim.z)
#define GID_0 ((ga_int)blockIdx.x)
#define GID_1 ((ga_int)blockIdx.y)
#define GID_2 ((ga_int)blockIdx.z)
#define GDIM_0 ((ga_int)gridDim.x)
#define GDIM_1 ((ga_int)gridDim.y)
#define GDIM_2 ((ga_int)gridDim.z)
#define GA_WARP_SIZE 32
#define GA_DECL_SHARED_PARAM(type, name)
#define GA_DECL_SHARED_BODY(type, name) extern __shared__ type name[];
#define REQD_WG_SIZE(X, Y, Z) __launch_bounds__(X * Y * Z)
#define atom_add_ig(a, b) atomicAdd(a, b)
#define atom_add_Ig(a, b) atomicAdd(a, b)
#define atom_add_fg(a, b) atomicAdd(a, b)
#define atom_xchg_ig(a, b) atomicExch(a, b)
#define atom_xchg_Ig(a, b) atomicExch(a, b)
#define atom_xchg_fg(a, b) atomicExch(a, b)
#endif
