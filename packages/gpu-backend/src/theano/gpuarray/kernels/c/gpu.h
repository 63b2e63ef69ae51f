/* A processor with memory of its own, as the host's half of a kernel sees it.
 *
 * A kernel has two halves. One is a function in the device's language, which Python writes and has compiled. The other one
 * is in this library: it makes the outputs, looks at lengths and strides, and launches the first. What it launches is
 * a `th_gpu_kernel`, whose address comes with its parameters.
 *
 * What a device function is given: one pointer for each operand, and one struct by value. That begins with one number for
 * each pointer, the bytes from the pointer to the operand's first element: a driver whose memory has handles rather than
 * addresses (OpenCL) passes the handle as the pointer.
 *
 * All launches and copies of a device happen one after the other, in the order in which they were asked for. So memory
 * may be given back, and used again, as soon as the last launch that uses it was asked for.
 */
#ifndef THEANO_GPU_H
#define THEANO_GPU_H

#include <pthread.h>

#include "abi.h"

#define TH_EXPORT __attribute__((visibility("default")))

typedef struct th_gpu th_gpu;

enum { TH_GPU_POINTERS = 48, TH_GPU_ARGS = 3968 }; /* at most: operands of a launch, bytes of its struct */

typedef struct th_gpu_launch {
    void *function;
    int64_t groups, group; /* how many groups of work-items, and of how many each */
    int npointers;
    char *const *pointers;
    int64_t *args; /* the struct; the driver writes its first `npointers` numbers */
    size_t bytes;
} th_gpu_launch;

/* A launch of a user's kernel: its parameters are those of its text, without a struct. */
typedef struct th_gpu_call {
    void *function;
    int64_t groups[3], group[3]; /* how many groups of work-items, and of how many each, along three axes */
    int64_t shared;              /* bytes of local memory whose size is not in the text */
    int nargs;
    const int64_t *bytes; /* of each number; 0: an array's memory */
    void **values;        /* where each number is; of an array the address of its memory */
} th_gpu_call;

typedef struct th_gpu_driver {
    char *(*allocate)(th_gpu *, size_t bytes); /* NULL: out of memory */
    void (*release)(th_gpu *, char *memory, size_t bytes);
    int (*copy)(th_gpu *, char *to, const char *from, size_t bytes, int32_t direction); /* done when it returns */
    int (*launch)(th_gpu *, const th_gpu_launch *);
    int (*call)(th_gpu *, const th_gpu_call *);
    void *(*enter)(th_gpu *); /* CUDA's: its stream, with its context made that of this thread; NULL: it failed */
    int (*wait)(th_gpu *); /* until all that was asked for is done */
    /* From another device's memory, after all that either was asked for and before all that follows: 0 asked for; 1 not
     * between these two; -1. */
    int (*copy_from)(th_gpu *, char *to, th_gpu *other, const char *from, size_t bytes);
    void (*stop)(th_gpu *);
} th_gpu_driver;

/* A library's call: it asks for what it does on that stream. 0, or -1 with `error` set. */
typedef int th_gpu_run(th_gpu *gpu, void *stream, const void *told);

/* A launch, or a library's call, that waits in a list (`commands.c`). Behind it are the addresses of operands, and then the
 * struct, or the parameters of `run`. */
typedef struct th_gpu_command {
    void *function;
    th_gpu_run *run; /* NULL: a launch of `function` */
    int64_t groups, group, npointers, bytes;
} th_gpu_command;

static inline char **th_gpu_pointers(const th_gpu_command *c) { return (char **)(c + 1); }
static inline char *th_gpu_told(const th_gpu_command *c) { return (char *)(th_gpu_pointers(c) + c->npointers); }
static inline const th_gpu_command *th_gpu_next(const th_gpu_command *c)
{
    return (const th_gpu_command *)(th_gpu_told(c) + (c->bytes + 7) / 8 * 8);
}

/* What a driver has that does many commands in one call. Each function may fail, and nothing has been asked for then. */
typedef struct th_gpu_recorder {
    void *(*record)(th_gpu *, const th_gpu_command *first, int64_t count); /* NULL: it cannot */
    int (*change)(th_gpu *, void *recording, int64_t k, const th_gpu_command *to); /* of the same function and sizes */
    int (*replay)(th_gpu *, void *recording);
    void (*forget)(th_gpu *, void *recording);
} th_gpu_recorder;

typedef struct th_gpu_kernel {
    th_gpu *gpu;
    void *function;
} th_gpu_kernel;

/* Memory that was given back, by size class (`memory.c`). */
enum { TH_GPU_CLASSES = 44 * 8 };
typedef struct th_gpu_waiting th_gpu_waiting;

typedef struct th_gpu_cublas th_gpu_cublas; /* `cublas.c` */
typedef struct th_gpu_cusolver th_gpu_cusolver; /* `cusolver.c` */
typedef struct th_gpu_cudnn th_gpu_cudnn; /* `cudnn.h` */
typedef struct th_gpu_commands th_gpu_commands; /* `commands.c` */

typedef struct th_gpu_counts {
    int64_t live, waiting, peak; /* bytes in use, bytes that wait to be used again, the most ever in use */
    int64_t to, from, launches, allocations;
    int64_t between, taken, refused; /* copies from another device; bytes that the driver gave; how often it gave none */
    int64_t recorded, replayed;      /* lists of commands */
} th_gpu_counts;

/* Memory that was taken at the start, in pieces (`arena.c`): those that are free, by address. */
typedef struct th_gpu_free th_gpu_free;
typedef struct th_gpu_arena {
    char *start;
    size_t bytes;
    th_gpu_free *free;
} th_gpu_arena;

char *th_gpu_arena_take(th_gpu_arena *arena, size_t bytes); /* NULL: no piece is long enough */
int th_gpu_arena_give(th_gpu_arena *arena, char *memory, size_t bytes); /* 0: it is no piece of it */

/* Tests: what can be made to fail. */
enum { TH_GPU_ALLOCATE, TH_GPU_LAUNCH, TH_GPU_COPY, TH_GPU_WAIT, TH_GPU_FAULTS };

/* What moves elements (`move.c`): copies, those of what is transposed, and a number of the host's everywhere, by the logarithm of an
 * item's bytes; sums by dtype. */
typedef struct th_gpu_movers {
    th_gpu_kernel *copy[5], *transpose[5], *fill[5], *add[TH_NDTYPES];
} th_gpu_movers;

struct th_gpu {
    th_device memory; /* FIRST: the loader knows a device by it */
    const th_gpu_driver *driver;
    void *state;        /* the driver's */
    int64_t group;      /* work-items of a group where a kernel does not care */
    int64_t processors; /* how many groups it runs at the same time, at least */
    int64_t limit;      /* bytes of memory that may be taken; 0: no end */
    int64_t fail_in[TH_GPU_FAULTS]; /* tests: the call that fails, counted from 1; 0: none */
    int keeps;          /* whether memory that is given back waits to be used again */
    th_gpu_arena arena;
    th_gpu_movers movers;
    th_gpu_commands *commands; /* what waits to be asked for; NULL: nothing ever does */
    th_gpu_cublas *cublas; /* NULL: products are computed by kernels of ours */
    th_gpu_cusolver *cusolver; /* NULL: and factors */
    th_gpu_cudnn *cudnn; /* NULL: and convolutions, and what windows give */
    th_gpu_counts counts;
    pthread_mutex_t lock;
    th_gpu_waiting *waiting[TH_GPU_CLASSES];
    char error[256]; /* what the driver said last */
};

void th_gpu_setup(th_gpu *gpu, const th_gpu_driver *driver, void *state);
int th_gpu_gather(const th_device *device, const th_buffer *to, const th_buffer *from, int axis, const int64_t *offsets);
int th_gpu_scatter(const th_device *device, const th_buffer *to, const th_buffer *from, int axis, const int64_t *offsets, int adds);
/* The same, by a table that is on the device: move.cl says what is in it for `n` places along the axis. `offsets`: what all of
 * its entries are made of multiples of, joined by "or". */
int th_gpu_move_by_table(th_gpu *gpu, const th_buffer *to, const th_buffer *from, int axis, int64_t n, char *table, int64_t offsets,
                         int adds);
int th_gpu_launched(th_gpu *gpu, const th_gpu_launch *launch); /* 0, or -1 with `error` set */
int th_gpu_called(th_gpu *gpu, const th_gpu_call *call); /* the same */
void th_gpu_complain(th_gpu *gpu, const char *what, int code);

/* A launch, and a library's call, now or, within a call of a function, together with what follows. 0, or -1 with `error` set. */
int th_gpu_launch_later(th_gpu *gpu, const th_gpu_launch *launch);
int th_gpu_run_later(th_gpu *gpu, th_gpu_run *run, const void *told, size_t bytes);
TH_EXPORT int th_gpu_submit(th_gpu *gpu); /* ask for what was put off: before anything else is asked of the driver, the same */
void th_gpu_use_recorder(th_gpu *gpu, const th_gpu_recorder *recorder);
TH_EXPORT void th_gpu_forget_recordings(th_gpu *gpu);

/* Device memory for one kernel; given back by the caller once its launches were asked for. */
char *th_gpu_scratch(th_gpu *gpu, size_t bytes);
void th_gpu_scratch_release(th_gpu *gpu, char *memory, size_t bytes);

/* The error of a kernel whose launch failed, and of one that got no scratch: always -1. */
int th_gpu_failed(th_ctx *ctx, th_gpu *gpu);
/* Launch for at least `n` work-items in groups of the device's choice, if any; the error is set where it fails. */
int th_gpu_launch_items(th_ctx *ctx, const th_gpu_kernel *kernel, int64_t n, int npointers, char **pointers, void *args, size_t bytes);
int th_gpu_no_room(th_ctx *ctx, size_t bytes);

/* The operands of a launch: inputs but those in the mask `hosts`, then outputs. Returns how many there are. */
int th_gpu_operands(th_ctx *ctx, uint64_t hosts, th_buffer **operands);

/* The numbers of the inputs in the mask, in eight bytes each, and what follows them in a struct. Returns its end. */
char *th_gpu_numbers(th_ctx *ctx, uint64_t hosts, char *to, const void *constants, int64_t bytes);

/* A float32 or float64 of the host's. */
double th_gpu_number(const th_buffer *x);

/* Can packs of this many elements be read at once, 16 bytes at most, along an axis of which `step` is the stride? Elements that stand
 * still are read one by one. `others`: the strides along the other axes. */
int th_gpu_in_packs(const th_buffer *b, int64_t width, int64_t step, int axes, const int64_t *others);

static inline void th_gpu_swap(int64_t *x, int64_t *y)
{
    const int64_t kept = *x;
    *x = *y;
    *y = kept;
}

/* How far neighbours along an axis are from each other, by its stride. */
static inline int64_t th_gpu_distance(int64_t step) { return step < 0 ? -step : step; }

/* Fewer axes that see the same elements: those of length 1 are left out, and neighbours become one where every operand
 * allows it. `strides` has `nops` rows of `ndim`, in bytes; they and `shape` are written over. Returns how many are left. */
int th_gpu_collapse(int ndim, int64_t *shape, int nops, int64_t *strides);

/* Where elements that are neighbours along another axis in some operand are further apart along the last, as in a transposed one,
 * both axes are walked in tiles, so that what neighbouring work-items read and write fills whole sectors of memory in all operands:
 * two more axes, where the lengths allow it. `shape` and `strides` have room for them; otherwise as above. */
enum { TH_GPU_TILING = 2 };
int th_gpu_tile(int axes, int64_t *shape, int nops, int64_t *strides);

#endif
