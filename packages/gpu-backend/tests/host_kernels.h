// What kernels are written with, in C++ for the CPU: tests run them on the driver of fake_cuda.c. The work-items of a group are
// coroutines of one thread, which take turns at barriers.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

// A function as the driver of fake_cuda.c calls it.
struct host_function {
    void (*run)(const host_function *, int64_t groups, int64_t group, char *const *pointers, const void *told);
    void *kernel;
    int64_t pointers, bytes;
};

namespace host {
enum { MOST = 1024, STACK = 1 << 16 };
inline thread_local int64_t group_id, local_id, local_size;
inline thread_local ucontext_t scheduler, item[MOST];
inline thread_local bool done[MOST];
inline thread_local char *stacks;
inline thread_local const host_function *function;
inline thread_local char *const *pointers;
inline thread_local const void *told;

inline void yield() { const int64_t me = local_id; swapcontext(&item[me], &scheduler); }

inline void call()
{
    void *p[16] = {};
    for (int64_t k = 0; k < function->pointers; ++k)
        p[k] = pointers[k];
    p[function->pointers] = const_cast<void *>(told);
    using general = void (*)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *);
    reinterpret_cast<general>(function->kernel)(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15]);
}

inline void begin() { call(); done[local_id] = true; yield(); }

inline void run_group()
{
    for (int64_t k = 0; k < local_size; ++k) {
        done[k] = false;
        getcontext(&item[k]);
        item[k].uc_stack.ss_sp = stacks + k * STACK;
        item[k].uc_stack.ss_size = STACK;
        item[k].uc_link = nullptr;
        makecontext(&item[k], begin, 0);
    }
    for (int64_t left = local_size; left > 0;) {
        for (int64_t k = 0; k < local_size; ++k) {
            if (done[k])
                continue;
            local_id = k;
            swapcontext(&scheduler, &item[k]);
            left -= done[k];
        }
    }
}

inline void run(const host_function *f, int64_t groups, int64_t group, char *const *given, const void *struct_given)
{
    function = f, pointers = given, told = struct_given, local_size = group;
    if (stacks == nullptr)
        stacks = static_cast<char *>(std::malloc(std::size_t(MOST) * STACK));
    for (group_id = 0; group_id < groups; ++group_id)
        run_group();
}
} // namespace host

#undef NAN
#undef INFINITY
#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#define KERNEL extern "C"
#define DEVICE
#define GLOBAL
#define LOCAL static thread_local
#define CONSTANT_TABLE static const
#define ALIGNED(n) alignas(n)
#define UNROLL
#define LOOP
#define RESIDENT(groups)
#define BARRIER() host::yield()
#define GLOBAL_BARRIER() host::yield()
#define GLOBAL_ID() (host::group_id * host::local_size + host::local_id)
#define GROUP_ID() (host::group_id)
#define LOCAL_ID() ((int)host::local_id)
#define LOCAL_SIZE() ((int)host::local_size)
#define TH_INLINE static inline
TH_INLINE uint64_t th_bits_f64(double x) { uint64_t u; std::memcpy(&u, &x, sizeof u); return u; }
TH_INLINE double th_from_bits_f64(uint64_t u) { double x; std::memcpy(&x, &u, sizeof x); return x; }
TH_INLINE uint32_t th_bits_f32(float x) { uint32_t u; std::memcpy(&u, &x, sizeof u); return u; }
TH_INLINE float th_from_bits_f32(uint32_t u) { float x; std::memcpy(&x, &u, sizeof x); return x; }
TH_INLINE float th_exp2_approx(float x) { return exp2f(x); }
