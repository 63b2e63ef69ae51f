/* What a program in C sees of an exported model.
 *
 * NAME.h, which is written with the model, declares its functions in these terms. A model is opened once and then
 * called as often as wanted. One model serves one thread at a time; several that were opened from one folder know
 * nothing of each other.
 */
#ifndef THEANO_MODEL_H
#define THEANO_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types; float16 is two bytes. */
enum {
    THEANO_BOOL = 0,
    THEANO_INT8 = 1,
    THEANO_UINT8 = 2,
    THEANO_INT16 = 3,
    THEANO_UINT16 = 4,
    THEANO_INT32 = 5,
    THEANO_UINT32 = 6,
    THEANO_INT64 = 7,
    THEANO_UINT64 = 8,
    THEANO_FLOAT16 = 9,
    THEANO_FLOAT32 = 10,
    THEANO_FLOAT64 = 11,
    THEANO_COMPLEX64 = 12,
    THEANO_COMPLEX128 = 13
};

/* What a call returns; the model's message says more. After an error all stored values are as they were. */
enum {
    THEANO_OK = 0,
    THEANO_ERR_VALUE = 1,
    THEANO_ERR_INDEX = 2,
    THEANO_ERR_TYPE = 3, /* an input of another dtype or number of dimensions, or none */
    THEANO_ERR_MEMORY = 4,
    THEANO_ERR_ZERODIV = 5,
    THEANO_ERR_ASSERT = 6,
    THEANO_ERR_LINALG = 7, /* a matrix that is singular, not positive definite, ... */
    THEANO_ERR_SHAPE = 8,  /* lengths that do not fit each other, or the type of an input */
    THEANO_ERR_FILE = 20   /* a file of the model that cannot be read or written */
};

/* An array. Of an input the elements are only read; data == NULL requests the default value, if it has one. A result
 * is in the model's memory, as long as no other call of the same function is made and the model is open. */
typedef struct theano_array {
    void *data;
    int32_t dtype;
    int32_t ndim;
    const int64_t *shape;
    const int64_t *strides; /* in bytes; NULL: C order */
} theano_array;

typedef struct theano_model theano_model;

/* Runs body(arg, lo, hi) for disjoint ranges that cover 0 .. n, on as many threads as it likes, and returns when all are
 * done; a range shorter than `grain` is not worth a thread. */
typedef void (*theano_parallel)(int64_t n, int64_t grain, void (*body)(void *arg, int64_t lo, int64_t hi), void *arg);

#ifdef __cplusplus
}
#endif
#endif
