/* What the files of this folder that are compiled with the layer share. */
#ifndef THEANO_TENSOR_KERNELS_H
#define THEANO_TENSOR_KERNELS_H

#include <complex.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "abi.h"
#include "c/base.h" /* the scalar layer's: half precision */
#include "loops.h"

#if defined(_WIN32)
#define TH_EXPORT __declspec(dllexport)
#define TH_LOCAL
#else
#define TH_EXPORT __attribute__((visibility("default")))
#define TH_LOCAL __attribute__((visibility("hidden")))
#endif

#define TH_FAIL(ctx, kind, ...) ((ctx)->rt->fail((ctx), (kind), __VA_ARGS__))

/* A strided piece of memory that is no buffer of its own. */
typedef struct {
    char *data;
    int nd;
    int32_t dtype;
    int64_t itemsize;
    int64_t shape[TH_MAX_NDIM], strides[TH_MAX_NDIM];
} th_window;

typedef char th_text[160];

/* copy.c */
TH_LOCAL th_window th_window_of(const th_buffer *b);
TH_LOCAL void th_copy_into(const th_window *to, const th_window *from);
TH_LOCAL void th_add_into(const th_window *to, const th_window *from);
TH_LOCAL int th_stretch(const th_window *to, th_window *from);

/* numbers.c */
TH_LOCAL int64_t th_integer(const th_buffer *b, int64_t i);
TH_LOCAL double th_real(const th_buffer *b);
TH_LOCAL const char *th_shape_text(th_text text, int nd, const int64_t *shape);

#endif
