/* A driver of CUDA, and cuBLAS, that a test runs on the CPU: memory is the host's, and launches are only counted. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static int here;
EXPORT int64_t fake_launches, fake_products, fake_computes;

EXPORT int cuInit(unsigned flags) { (void)flags; return 0; }
EXPORT int cuDeviceGet(int *device, int number) { *device = number; return 0; }
EXPORT int cuDeviceGetName(char *name, int room, int device) { (void)device; strncpy(name, "fake", (size_t)room); return 0; }
EXPORT int cuDeviceGetAttribute(int *to, int which, int device) { (void)device; *to = which == 75 ? 8 : which == 76 ? 0 : 4; return 0; }
EXPORT int cuDevicePrimaryCtxRetain(void **to, int device) { (void)device; *to = &here; return 0; }
EXPORT int cuDevicePrimaryCtxRelease_v2(int device) { (void)device; return 0; }
EXPORT int cuCtxSetCurrent(void *context) { return context == &here ? 0 : 1; }
EXPORT int cuStreamCreate(void **to, unsigned flags) { (void)flags; *to = &here; return 0; }
EXPORT int cuStreamSynchronize(void *stream) { (void)stream; return 0; }
EXPORT int cuMemAlloc_v2(uint64_t *to, size_t bytes) { *to = (uint64_t)(uintptr_t)malloc(bytes); return *to == 0; }
EXPORT int cuMemFree_v2(uint64_t memory) { free((void *)(uintptr_t)memory); return 0; }
EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
    (void)stream;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    (void)stream;
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return 0;
}
EXPORT int cuModuleLoadData(void **to, const void *binary) { (void)binary; *to = &here; return 0; }
EXPORT int cuModuleGetFunction(void **to, void *module, const char *name) { (void)module; (void)name; *to = &here; return 0; }
EXPORT int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned shared, void *stream,
                          void **args, void **extra)
{
    (void)f, (void)a, (void)b, (void)c, (void)d, (void)e, (void)g, (void)shared, (void)stream, (void)args, (void)extra;
    fake_launches++;
    return 0;
}

EXPORT int cublasCreate_v2(void **handle) { *handle = &fake_products; return 0; }
EXPORT int cublasSetStream_v2(void *handle, void *stream) { return handle != &fake_products || stream != &here; }

static double load(const char *x, int type, int64_t k) { return type == 1 ? ((const double *)x)[k] : ((const float *)x)[k]; }

/* As the documentation of cuBLAS defines it, by columns. */
EXPORT int cublasGemmStridedBatchedEx(void *handle, int transa, int transb, int m, int n, int k, const void *alpha, const void *a,
                                      int atype, int lda, long long stride_a, const void *b, int btype, int ldb, long long stride_b,
                                      const void *beta, void *c, int ctype, int ldc, long long stride_c, int count, int compute, int algo)
{
    const int ra = transa ? k : m, rb = transb ? n : k;
    if (handle != &fake_products || atype != btype || btype != ctype || (ctype != 0 && ctype != 1) || algo != -1)
        return 15;
    if (lda < ra || ldb < rb || ldc < m || lda < 1 || ldb < 1 || ldc < 1)
        return 7;
    fake_products++;
    fake_computes = compute;
    const double x = load(alpha, ctype, 0), y = load(beta, ctype, 0);
    for (int64_t g = 0; g < count; ++g) {
        for (int64_t i = 0; i < m; ++i) {
            for (int64_t j = 0; j < n; ++j) {
                double sum = 0;
                for (int64_t l = 0; l < k; ++l)
                    sum += load(a, atype, g * stride_a + (transa ? l + i * lda : i + l * lda)) *
                           load(b, btype, g * stride_b + (transb ? j + l * ldb : l + j * ldb));
                const int64_t at = g * stride_c + i + j * ldc;
                const double value = x * sum + (y == 0 ? 0 : y * load(c, ctype, at));
                if (ctype == 1)
                    ((double *)c)[at] = value;
                else
                    ((float *)c)[at] = (float)value;
            }
        }
    }
    return 0;
}
