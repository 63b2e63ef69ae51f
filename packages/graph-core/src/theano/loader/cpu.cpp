/* Which instructions this CPU and its system let a process use. */
#include "core.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace theano {

/* The level of the x86-64 psABI, 1 to 4; 0 on other architectures. The compiler's own query also asks whether
 * the system saves the wide registers; what it has no name for in older compilers comes from cpuid. */
int cpu_level() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    unsigned a, b, c1 = 0, c8 = 0, d;
    if (!__get_cpuid(1, &a, &b, &c1, &d)) return 1;
    if (!__get_cpuid(0x80000001u, &a, &b, &c8, &d)) return 1;
    const bool cmpxchg16b = c1 & (1u << 13), movbe = c1 & (1u << 22), f16c = c1 & (1u << 29);
    const bool lahf = c8 & 1u, lzcnt = c8 & (1u << 5);
    if (!(cmpxchg16b && lahf && __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"))) return 1;
    if (!(movbe && f16c && lzcnt && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
          __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")))
        return 2;
    if (!(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")))
        return 3;
    return 4;
#else
    return 0;
#endif
}

} // namespace theano
