/* What kernels of any library ask about buffers in the host's memory, and how they say that something is wrong. */
#ifndef THEANO_TENSOR_BUFFERS_H
#define THEANO_TENSOR_BUFFERS_H

#include <stdint.h>
#include <stdio.h>

#include "abi.h"
#include "marks.h"

#define TH_FAIL(ctx, kind, ...) ((ctx)->rt->fail((ctx), (kind), __VA_ARGS__))

/* The i-th element of a vector of integers (or the element of a 0-d buffer, i = 0); inline, since it reads the labels of
 * many rows. */
static inline int64_t th_integer(const th_buffer *b, int64_t i)
{
    const char *p = b->data + (b->ndim ? i * b->strides[0] : 0);
    switch (b->dtype) {
    case TH_BOOL: return *(const uint8_t *)p != 0;
    case TH_INT8: return *(const int8_t *)p;
    case TH_UINT8: return *(const uint8_t *)p;
    case TH_INT16: return *(const int16_t *)p;
    case TH_UINT16: return *(const uint16_t *)p;
    case TH_INT32: return *(const int32_t *)p;
    case TH_UINT32: return *(const uint32_t *)p;
    default: return *(const int64_t *)p;
    }
}

typedef char th_text[160];

/* A shape in a message, written as Python writes a tuple. */
TH_HELPER const char *th_shape_text(th_text text, int nd, const int64_t *shape)
{
    size_t at = 0;
    text[at++] = '(';
    for (int d = 0; d < nd && at < sizeof(th_text) - 32; ++d)
        at += (size_t)snprintf(text + at, sizeof(th_text) - at, d ? ", %lld" : "%lld", (long long)shape[d]);
    snprintf(text + at, sizeof(th_text) - at, nd == 1 ? ",)" : ")");
    return text;
}

#endif
