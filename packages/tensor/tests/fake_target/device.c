/* A device for tests: memory whose addresses nobody else can use, since one bit of them is turned. */
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

/* As the kernels of a real device do it: element by element. */
static int pack(const th_device *device, char *to, const th_buffer *from)
{
    int64_t index[TH_MAX_NDIM] = {0}, n = 1;
    for (int d = 0; d < from->ndim; ++d)
        n *= from->shape[d];
    const char *at = turned(from->data);
    for (int64_t k = 0; k < n; ++k) {
        memcpy(turned(to) + k * from->itemsize, at, (size_t)from->itemsize);
        for (int d = from->ndim - 1; d >= 0; --d) {
            at += from->strides[d];
            if (++index[d] < from->shape[d])
                break;
            at -= index[d] * from->strides[d];
            index[d] = 0;
        }
    }
    return 0;
}

const th_device fake_device = {allocate, release, copy, pack};

void fake_counts(int64_t *to) { memcpy(to, counts, sizeof counts); }
