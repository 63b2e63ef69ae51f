/* What a compiled kernel and the running machine say to each other.
 *
 * A kernel is one C function, `int KERNEL(th_ctx *ctx)`. It sees buffers (pointer, shape,
 * strides in bytes), never a Python object: this header includes neither Python.h nor NumPy,
 * and a kernel must not either. It runs with the GIL or without it and must not care.
 *
 * The life of one call:
 *   1. read `ctx->in[i]`: `data`, `ndim`, `shape`, `strides`; the data are never the kernel's to
 *      write unless the op declares that it destroys that input. Any strides may come: negative,
 *      zero, not contiguous. A constant that is no array (None, a slice) comes without data.
 *   2. for each output either `ctx->rt->ensure(ctx, out, shape)` (fresh or reused memory: C order,
 *      writable, CONTENTS UNDEFINED) or `ctx->rt->view(...)` (a window on an input's memory; this is also
 *      how an op works in place: view the whole input, then write through the output).
 *      `out->ndim`, `out->dtype` and `out->itemsize` are set before the kernel starts.
 *      Never keep `out->data` or `out->shape` from before such a call, and size the outputs before a
 *      long computation: `ensure` may have to wait for the GIL.
 *   3. return 0; or `return ctx->rt->fail(ctx, TH_ERR_..., "format", ...)`.
 *   A lazy kernel sets `ctx->need = k` and returns 1: it is called again once input k is
 *   computed. Inputs not yet asked for have `data == NULL`.
 *
 * Every change of this file's layout or meaning raises TH_ABI_VERSION, which is part of every
 * compiled unit's key: a unit built for another version is never loaded.
 */
#ifndef THEANO_ABI_H
#define THEANO_ABI_H

#include <stddef.h>
#include <stdint.h>

#define TH_ABI_VERSION 9

#ifdef __cplusplus
extern "C" {
#endif

/* Element types. float16 is stored, never computed in. */
enum {
    TH_BOOL = 0,
    TH_INT8 = 1,
    TH_UINT8 = 2,
    TH_INT16 = 3,
    TH_UINT16 = 4,
    TH_INT32 = 5,
    TH_UINT32 = 6,
    TH_INT64 = 7,
    TH_UINT64 = 8,
    TH_FLOAT16 = 9,
    TH_FLOAT32 = 10,
    TH_FLOAT64 = 11,
    TH_COMPLEX64 = 12,
    TH_COMPLEX128 = 13,
    TH_NDTYPES = 14
};

/* What went wrong; each becomes a Python exception when the GIL is held again. */
enum {
    TH_ERR_VALUE = 1,   /* ValueError */
    TH_ERR_INDEX = 2,   /* IndexError */
    TH_ERR_TYPE = 3,    /* TypeError */
    TH_ERR_MEMORY = 4,  /* MemoryError */
    TH_ERR_ZERODIV = 5, /* ZeroDivisionError */
    TH_ERR_ASSERT = 6,  /* AssertionError */
    TH_ERR_LINALG = 7,  /* numpy.linalg.LinAlgError */
    TH_ERR_SHAPE = 8,   /* theano.loader.module.KernelShapeError, a ValueError */
    TH_ERR_DEVICE = 9,  /* theano.errors.DeviceError: a device failed */
    TH_ERR_DEVICE_MEMORY = 10 /* theano.errors.DeviceMemoryError: it has no room */
};

#define TH_MAX_NDIM 64

typedef struct th_device th_device;

typedef struct th_buffer {
    char *data;       /* NULL: not computed */
    int32_t ndim;
    int32_t dtype;
    int64_t *shape;   /* ndim entries; NULL allowed when ndim == 0 */
    int64_t *strides; /* bytes */
    int64_t itemsize;
    void *priv;       /* the runtime's: owner of the memory */
    const th_device *device; /* in whose memory it is; NULL: the host's */
} th_buffer;

typedef struct th_ctx th_ctx;

/* Part of a loop: the indices lo <= i < hi. Runs on any thread, without the GIL perhaps. */
typedef void (*th_body)(void *arg, int64_t lo, int64_t hi);

/* An element-wise kernel as data: what its types say, and its loop over neighbours. */
enum {
    TH_SOME = 0,  /* the operand moves along some axes of the outputs */
    TH_INVARIANT = 1, /* along none: it is one element */
    TH_FULL = 2   /* along all that are longer than 1 */
};

typedef struct th_loop {
    /* n (a multiple of `lanes`) neighbours of each operand, inputs first; those marked TH_INVARIANT do not move. */
    void (*run)(int64_t n, char *const *data, const char *params);
    const uint64_t *ones; /* per input: bit d is set if axis d is 1 long by its type */
    const uint8_t *kind;  /* per input */
    const int32_t *over;  /* per output: the input it overwrites, or -1 */
    double work;          /* nanoseconds per element */
    int32_t nin, nout, ndim, lanes;
    /* The same for rows of n (any number) neighbours each, where some input is stretched, and the loop is short enough to be
     * written twice; or NULL. Those in `still` are one element per row; `step`, per operand: bytes from row to row. */
    void (*rows)(int64_t rows, int64_t n, char *const *data, const int64_t *step, const char *params);
    uint64_t still; /* bit k: operand k, of 64 at most, is an input that is 1 long along the last axis, by its type */
    /* The same for n elements (any number) that are `step` bytes apart, per operand, where the loop is short; or NULL. */
    void (*strided)(int64_t n, char *const *data, const int64_t *step, const char *params);
} th_loop;

/* Memory of another processor, which nothing but the functions here and that processor's kernels may read or write. The
 * functions may be called by several threads at once, with the GIL or without it. A kernel of the host's that computes
 * nothing, but moves elements, serves all devices by them. */
enum { TH_TO_DEVICE = 0, TH_FROM_DEVICE = 1, TH_NO_ROOM = -2 };

struct th_device {
    char *(*allocate)(const th_device *, size_t bytes);             /* NULL: out of memory */
    void (*release)(const th_device *, char *memory, size_t bytes); /* as many as were asked for */
    /* Between the host's memory and the device's; returns when it is done. 0, or -1. */
    int (*copy)(const th_device *, char *to, const char *from, size_t bytes, int32_t direction);
    /* Elements from one array to another of the same shape and dtype, with any strides; the two do not overlap. Both are on
     * the device, or `from` is one element of the host's that fills `to`. Where `axis` is not -1, `offsets` has, for each
     * place along it, how many bytes from its first one it is in `from` (gather) or in `to` (scatter), in place of the
     * stride; for a place that is named twice, the last one counts, or, where `adds` is not 0, each is added in turn. 0,
     * or -1, or TH_NO_ROOM. NULL: nothing is moved there. */
    int (*gather)(const th_device *, const th_buffer *to, const th_buffer *from, int axis, const int64_t *offsets);
    int (*scatter)(const th_device *, const th_buffer *to, const th_buffer *from, int axis, const int64_t *offsets, int adds);
    /* From the memory of `other` to this one's, without the host: 0 asked for, and in order with all that either is asked
     * for; 1 not between these two; -1. NULL: never. */
    int (*copy_from)(const th_device *, char *to, const th_device *other, const char *from, size_t bytes);
    /* What went wrong last. NULL: it does not say. */
    const char *(*error)(const th_device *);
    /* A function that uses the device begins and ends a call on this thread. What the device is asked for in between it may put
     * off until the end, or until a result is needed before, and then do at once. `finish`: 0, or -1. NULL: nothing is
     * put off. */
    void (*begin)(const th_device *);
    int (*finish)(const th_device *);
};

typedef struct th_runtime {
    int abi_version;

    /* `out` becomes writable C-contiguous memory of that shape (out->ndim entries), 64-byte aligned
     * where the runtime allocates it. Contents undefined. 0, or -1 with the error set. */
    int (*ensure)(th_ctx *ctx, th_buffer *out, const int64_t *shape);

    /* `out` becomes a window on `base`'s memory and keeps it alive. `data` must be inside base.
     * dtype and itemsize of `out` stay; `ndim` must equal what the type of `out` says. */
    int (*view)(th_ctx *ctx, th_buffer *out, const th_buffer *base, char *data, int32_t ndim,
                const int64_t *shape, const int64_t *strides);

    /* Sets the pending error from a printf format; always returns -1. */
    int (*fail)(th_ctx *ctx, int32_t kind, const char *fmt, ...);

    /* Memory (64-byte aligned) that lives until this call of the kernel returns. NULL: error set.
     * Call it from the kernel's own thread only. */
    void *(*scratch)(th_ctx *ctx, size_t bytes);

    /* body(arg, lo, hi) for disjoint ranges that cover 0 .. n, each at least `grain` long where
     * possible, on the pool's threads and this one; returns when all are done. 0, or -1. Choose the
     * grain for at least 20 us of work. May be called from inside a body (then it runs there). */
    int (*parallel_for)(th_ctx *ctx, int64_t n, int64_t grain, th_body body, void *arg);

    /* All of an element-wise kernel: shapes, outputs, any strides, threads. For at least one axis. */
    int (*elementwise)(th_ctx *ctx, const th_loop *loop);

    /* rows x n elements from one pair of strides (bytes) to another, at the speed of memory. The two do not overlap. */
    void (*move)(char *to, int64_t to_row, int64_t to_step, const char *from, int64_t from_row, int64_t from_step,
                 int64_t rows, int64_t n, int64_t itemsize);

    /* How `elementwise` begins, for kernels with loops of their own: the inputs' shapes are held to each other, and the
     * outputs are made. `run` and `work` of the table are not read. */
    int (*size_outputs)(th_ctx *ctx, const th_loop *loop);

    /* `out` becomes a copy of `in`, where one of them at least is on a device. */
    int (*transfer)(th_ctx *ctx, th_buffer *out, const th_buffer *in);
} th_runtime;

struct th_ctx {
    th_buffer **in;
    th_buffer **out;
    const th_runtime *rt;
    const void *params; /* the instruction's own bytes, 8-byte aligned */
    int32_t nin, nout;
    int32_t need;       /* lazy kernels: the input wanted next */
    void *priv;
};

/* 0 done; 1 input ctx->need is wanted first; -1 error set through rt->fail. */
typedef int (*th_thunk)(th_ctx *ctx);

/* Exported by every compiled unit; the loader compares it with the key it looked for. */
/* const char theano_unit_key[]; */

#ifdef __cplusplus
}
#endif
#endif
