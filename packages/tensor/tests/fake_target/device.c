/* A device for tests: memory whose addresses nobody else can use, since one bit of them is turned. */
#include <complex.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"

#define TURNED ((uintptr_t)1 << 52)

static int64_t counts[3]; /* bytes that are there, transfers to the device, and from it */
int64_t fake_limit = -1;  /* bytes that there is room for; -1: no end */

static char *turned(const char *p) { return (char *)((uintptr_t)p ^ TURNED); }

static char *allocate(const th_device *device, size_t bytes)
{
    char *p = fake_limit >= 0 && counts[0] + (int64_t)bytes > fake_limit ? NULL : malloc(bytes);
    if (p == NULL)
        return NULL;
    memset(p, 0xa5, bytes); /* a kernel that reads what it never wrote finds no zeros */
    __atomic_add_fetch(&counts[0], (int64_t)bytes, __ATOMIC_RELAXED);
    return turned(p);
}

static void release(const th_device *device, char *p, size_t bytes)
{
    __atomic_sub_fetch(&counts[0], (int64_t)bytes, __ATOMIC_RELAXED);
    free(turned(p));
}

static int copy(const th_device *device, char *to, const char *from, size_t bytes, int32_t direction)
{
    if (direction == TH_TO_DEVICE)
        memcpy(turned(to), from, bytes);
    else
        memcpy(to, turned(from), bytes);
    __atomic_add_fetch(&counts[1 + direction], 1, __ATOMIC_RELAXED);
    return 0;
}

/* Element by element, as the kernels of a real device do it: `what` gets the addresses that the host can use. */
typedef void (*each)(char *to, const char *from, const th_buffer *like);

static void walk(const th_buffer *to, const th_buffer *from, int axis, const int64_t *to_offsets, const int64_t *from_offsets, each what)
{
    int64_t n = 1;
    for (int d = 0; d < to->ndim; ++d)
        n *= to->shape[d];
    for (int64_t k = 0; k < n; ++k) {
        int64_t left = k, q = 0, p = 0;
        for (int d = to->ndim - 1; d >= 0; --d) {
            const int64_t i = left % to->shape[d];
            left /= to->shape[d];
            q += d == axis && to_offsets ? to_offsets[i] : i * to->strides[d];
            p += d == axis && from_offsets ? from_offsets[i] : i * from->strides[d];
        }
        what(turned(to->data) + q, (from->device ? turned(from->data) + p : from->data), to);
    }
}

static void set_one(char *to, const char *from, const th_buffer *like) { memcpy(to, from, (size_t)like->itemsize); }

#define ADD(CODE, TYPE) \
    case CODE: *(TYPE *)to = (TYPE)(*(TYPE *)to + *(const TYPE *)from); break;
static void add_one(char *to, const char *from, const th_buffer *like)
{
    switch (like->dtype) {
    case TH_BOOL: *to |= *from; break;
        ADD(TH_INT8, uint8_t)
        ADD(TH_UINT8, uint8_t)
        ADD(TH_INT16, uint16_t)
        ADD(TH_UINT16, uint16_t)
        ADD(TH_INT32, uint32_t)
        ADD(TH_UINT32, uint32_t)
        ADD(TH_INT64, uint64_t)
        ADD(TH_UINT64, uint64_t)
        ADD(TH_FLOAT16, _Float16)
        ADD(TH_FLOAT32, float)
        ADD(TH_FLOAT64, double)
        ADD(TH_COMPLEX64, float _Complex)
        ADD(TH_COMPLEX128, double _Complex)
    }
}

static int gather(const th_device *device, const th_buffer *to, const th_buffer *from, int axis, const int64_t *offsets)
{
    walk(to, from, axis, NULL, offsets, set_one);
    return 0;
}

static int scatter(const th_device *device, const th_buffer *to, const th_buffer *from, int axis, const int64_t *offsets, int adds)
{
    walk(to, from, axis, offsets, NULL, adds ? add_one : set_one);
    return 0;
}

const th_device fake_device = {allocate, release, copy, gather, scatter};

void fake_counts(int64_t *to) { memcpy(to, counts, sizeof counts); }
