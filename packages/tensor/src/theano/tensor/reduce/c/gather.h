/* Elements at some distance from each other, brought together. */
#ifndef THEANO_TENSOR_GATHER_H
#define THEANO_TENSOR_GATHER_H

#include <stdint.h>
#include <string.h>

#define GATHER(TYPE) \
    do { \
        TYPE *x = (TYPE *)to; \
        if (step == 0) { \
            const TYPE v = *(const TYPE *)from; \
            for (int64_t i = 0; i < n; ++i) \
                x[i] = v; \
        } else if (step == 2 * (int64_t)sizeof(TYPE)) { /* a distance that the compiler knows: shuffled out of vectors */ \
            const TYPE *y = (const TYPE *)from; \
            for (int64_t i = 0; i < n; ++i) \
                x[i] = y[2 * i]; \
        } else { \
            for (int64_t i = 0; i < n; ++i) \
                x[i] = *(const TYPE *)(from + i * step); \
        } \
    } while (0)

typedef struct {
    uint64_t a, b;
} sixteen;

static void gather(int64_t size, char *restrict to, const char *restrict from, int64_t step, int64_t n)
{
    if (step == size) {
        memcpy(to, from, (size_t)(n * size));
        return;
    }
    switch (size) {
    case 1: GATHER(uint8_t); break;
    case 2: GATHER(uint16_t); break;
    case 4: GATHER(uint32_t); break;
    case 8: GATHER(uint64_t); break;
    default: GATHER(sixteen); break;
    }
}

#endif
