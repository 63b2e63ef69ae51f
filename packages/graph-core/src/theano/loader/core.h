/* The parts of the machine, declared in one place.
 *
 * A compiled Theano function is three things:
 *
 *   Program   what to do: slots, instructions in order, inputs, outputs, updates. Never changes.
 *   Frame     where one call keeps its values. A call in flight owns one; frames at rest
 *             wait in the function's list, so calls from several threads and recursion are right
 *             by construction.
 *   Function  the Python object: a Program, its resting frames, hooks.
 *
 * and these files do the work:
 *
 *   memory.cpp    refcounted blocks of numbers and the free list of big ones     (no Python)
 *   pool.cpp      the threads behind parallel_for                                (no Python)
 *   elementwise.cpp  loops over strided operands, for generated kernels              (no Python)
 *   move.cpp      copies of rectangles from any strides to any others               (no Python)
 *   boundary.cpp  Python value <-> buffer descriptor
 *   device_array.cpp  the same for values in the memory of a device
 *   dlpack.cpp        their exchange with other libraries
 *   argument_aliasing.cpp  copies of inputs that are overwritten and share memory
 *   locks.cpp     calls that update the same stored value, one after the other
 *   machine.cpp   runs the instructions of a frame; the callbacks kernels see
 *   program.cpp   reads the Python description of a program
 *   frame.cpp     makes, cleans and destroys frames
 *   thunk.cpp     the compiled thunks of ops that users write in C
 *   function.cpp  the vectorcall type: arguments in, results and updates out
 *   profile.cpp   counts and times of calls
 *   loop.cpp      the same program for each step of a loop
 *   direct.cpp    functions as C functions for other libraries, run by the machine of exported models
 *
 * THE RULE OF OWNERSHIP. A slot's numbers live in exactly one of: the slot itself (`cell16`, zero
 * dimensions), a Block (`own`, kept between calls, or `lent` by the slot that this one is a view of), or a
 * NumPy array (`array`). Before memory that was kept is written again, its reference count must say
 * that the frame alone knows it: nothing that escaped to Python is ever overwritten.
 */
#ifndef THEANO_LOADER_CORE_H
#define THEANO_LOADER_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifndef NPY_NO_DEPRECATED_API
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#endif
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL theano_loader_array_api
#ifndef THEANO_LOADER_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "abi.h"
#include "move.h"
#include "profile.h"

#define TH_LIKELY(x) __builtin_expect(!!(x), 1)
#define TH_UNLIKELY(x) __builtin_expect(!!(x), 0)

namespace theano {

static_assert(sizeof(npy_intp) == sizeof(int64_t), "the loader assumes a 64-bit platform");

/* ---------------------------------------------------------------- memory.cpp */

constexpr size_t kBigBlock = size_t(1) << 20; /* above: not kept by frames, shared through a free list */

struct Block {
    std::atomic<int32_t> refs;
    char *data;
    size_t capacity;
    const th_device *device; /* nullptr: the host's memory */
    PyObject *owner;         /* strong: whose memory it is, if not ours; dropped with the GIL */
};

Block *block_new(size_t bytes, const th_device *device = nullptr); /* one reference; nullptr when memory is out */
void block_release(Block *block);
inline void block_retain(Block *block) { block->refs.fetch_add(1, std::memory_order_relaxed); }
/* Acquire: what the last other owner did with the memory is over before we write it. */
inline bool block_alone(const Block *block) { return block->refs.load(std::memory_order_acquire) == 1; }
/* Memory for a NumPy array to own: from the free list where it is big, else from malloc. */
void *lent_new(size_t bytes);
void *lent_resize(void *data, size_t bytes);
void lent_free(void *data);
size_t memory_cached();             /* bytes waiting in the free list */
void memory_trim(size_t keep);      /* give back to the system all but `keep` bytes */
void memory_set_limit(size_t bytes); /* how much the free list may hold */
size_t memory_get_limit();
/* Devices by name. One that was added stays, and so does what it points to. */
struct DeviceEntry {
    const char *name;
    const th_device *device;
    PyObject *array_class; /* strong: the subclass of DeviceArray in which results come, or NULL */
};
void device_add(const char *name, const th_device *device, PyObject *array_class);
const DeviceEntry *device_entry(const char *name);              /* nullptr: unknown */
const DeviceEntry *device_entry_of(const th_device *device);
inline const th_device *device_named(const char *name) {
    const DeviceEntry *entry = device_entry(name);
    return entry ? entry->device : nullptr;
}
/* An array of a device's into the memory of a block of its, element after element. -1: the device cannot. */
int device_pack(Block *to, const th_buffer *from);
/* What a device says of its last failure. */
inline const char *device_said(const th_device *device) { return device->error ? device->error(device) : "it does not say why"; }
PyObject *device_error(const char *name, PyObject *otherwise); /* new reference to that class of theano.errors */

/* ------------------------------------------------------------------ pool.cpp */

void pool_run(int64_t n, int64_t grain, th_body body, void *arg);
void pool_set_threads(int n); /* 0: as many as this process may use */
int pool_get_threads();
void pool_set_least(int64_t elements); /* an instruction on smaller arrays stays on its thread */
bool pool_worth(int64_t elements);

/* ----------------------------------------------------------- elementwise.cpp */

extern "C" int th_elementwise(th_ctx *ctx, const th_loop *loop);
extern "C" int th_size_outputs(th_ctx *ctx, const th_loop *loop);
extern "C" int th_is_packed(const th_buffer *buffer); /* its elements are contiguous, in C order */

/* cpu.cpp */
int cpu_level();

/* --------------------------------------------------------------- the program */

enum SlotKind : uint8_t { SLOT_INPUT, SLOT_CONSTANT, SLOT_SHARED, SLOT_TEMP };
enum InstrKind : uint8_t { INSTR_NATIVE, INSTR_PERFORM, INSTR_THUNK };
/* What happens to a shared variable's own array: nothing; or the last instructions overwrite it, once nothing
 * can fail any more and if no other reference holds it (else a copy); or a copy is overwritten from the start. */
enum Overwritten : uint8_t { OVERWRITE_NOTHING, OVERWRITE_LAST, OVERWRITE_COPY };
enum Returns : uint8_t { RETURN_ONE, RETURN_LIST, RETURN_NONE, RETURN_DICT };

struct SlotInfo {
    SlotKind kind = SLOT_TEMP;
    bool has_spec = false;      /* numbers; otherwise only Python objects */
    bool scalar = false;        /* the Python value is a NumPy scalar */
    bool native_use = false;    /* some compiled instruction reads it */
    bool python_use = false;    /* some Python instruction touches it */
    bool result = false;        /* returned or stored by an update */
    bool updates = false;       /* stored by an update */
    bool array_backed = false;  /* `ensure` makes a NumPy array: Python will see the value */
    bool freeable = false;      /* may be dropped after its last use */
    bool in_thunk = false;      /* needs Python storage cells */
    Overwritten overwritten = OVERWRITE_NOTHING;
    int32_t dtype = -1;
    int32_t ndim = 0;
    int32_t pool = -1;          /* memory plan: which shared buffer, -1 for one of its own */
    int32_t producer = -1;      /* instruction that computes it */
    int32_t base = -1;          /* results: the slot whose array this one shares, if it has no own */
    uint64_t ones = 0;          /* bit d: dimension d has length 1 */
    int64_t itemsize = 0;
    const th_device *device = nullptr; /* in whose memory it is; nullptr: the host's */
    PyArray_Descr *descr = nullptr; /* strong */
    PyTypeObject *scalar_type = nullptr; /* borrowed from NumPy, which keeps it for ever */
    PyObject *value = nullptr;  /* strong: constant's object or shared variable's cell */
    std::vector<int32_t> readers;
};

struct Instr {
    /* first what the straight loop reads */
    th_thunk run = nullptr;
    int64_t gil_limit = INT64_MAX; /* more elements than this: release the GIL */
    InstrKind kind = INSTR_NATIVE;
    bool lazy = false;
    int32_t nfrees = 0;
    const int32_t *frees = nullptr;
    /* then the rest */
    std::vector<int32_t> in, out, control_dependencies, frees_list;
    std::vector<uint64_t> params; /* uint64_t: 8-byte aligned */
    /* among the last instructions: how much scratch memory it wanted when it last ran, on inputs of which layout */
    size_t scratch_wanted = SIZE_MAX;
    std::vector<int64_t> scratch_layout;
    PyObject *callable = nullptr; /* strong: perform, or the thunk's factory */
    PyObject *node = nullptr;     /* strong */
};

struct Input {
    int32_t slot;
    bool required;
    int32_t writable;       /* 1: the function writes into it, 2: it stores it; then a read-only array is copied */
    bool casts;             /* what NumPy casts safely need not go through the filter */
    PyObject *name;         /* strong: str or None */
    PyObject *default_cell; /* strong or NULL */
    PyObject *filter;       /* strong or NULL */
};

struct Update {
    PyObject *cell; /* strong: one-element list */
    int32_t slot;
    bool committed; /* one of the last instructions computes it */
};

struct ValueLock;

struct Program {
    std::vector<SlotInfo> slots;
    std::vector<Instr> code;
    std::vector<Input> inputs;
    std::vector<int32_t> outputs;
    std::vector<Update> updates;
    std::vector<int32_t> constants, shared, wanted; /* wanted: instructions that results need (lazy) */
    std::vector<int32_t> pooled;                    /* slots with a plan */
    std::vector<int32_t> overwritten;               /* shared slots that the last instructions write into */
    std::vector<int32_t> destroyed;                 /* slots of inputs that are overwritten, then of those that are stored ... */
    std::vector<int32_t> fixed;                     /* ... and, if there are any, those of all other values a call starts with */
    std::vector<PyObject *> stored;                 /* ... and cells that values come from or go to; borrowed */
    std::vector<const th_device *> devices;         /* that calls begin and end on */
    std::vector<ValueLock *> locks;                 /* of the cells that are updated, in the order in which they are taken */
    bool careful = false;                           /* whether there is anything in one of these two */
    size_t commit_start = 0;                        /* where those begin; the number of instructions without any */
    PyObject *keys = nullptr;                       /* strong: list, when a dict is returned */
    PyObject *on_error = nullptr, *on_bad_call = nullptr, *keepalive = nullptr, *name = nullptr;
    PyObject *separate = nullptr; /* strong, or NULL: copies an input that shares memory with something else */
    PyObject *options = nullptr; /* strong: dict from keyword to callable, or NULL */
    Returns returns = RETURN_LIST;
    bool lazy = false;
    int32_t npools = 0;
    int64_t ndims = 0; /* of all slots together */
    int64_t nargs = 0; /* of all instructions together */
    Profile profile;
};

bool program_read(Program &program, PyObject *description); /* false: Python error set */
int program_traverse(const Program &program, visitproc visit, void *arg);
void program_clear(Program &program);

/* ----------------------------------------------------------------- the frame */

enum Memory : uint8_t {
    MEM_NONE,   /* no numbers (not computed, or a Python object only) */
    MEM_CELL,   /* in cell16 */
    MEM_OWN,    /* in `own` */
    MEM_LENT,   /* in `lent`: a view of another slot's block */
    MEM_ARRAY,  /* in `array` */
    MEM_FRAME   /* in another slot's cell16: a view of a zero-dimensional value */
};

struct Slot {
    th_buffer buf; /* FIRST: a th_buffer* of ours is a Slot* */
    int64_t elements;
    Memory memory;
    bool fresh;    /* `array` came from ensure: only this function made it */
    bool readonly; /* `array` may not be written through */
    bool copied;   /* `array` is a copy that this frame made to write over */
    bool dirty;    /* holds references that end with the call */
    bool borrowed; /* `array` is an argument: the caller holds it until the call is over */
    bool laid;     /* shape and strides are those of C-contiguous memory, from an earlier `ensure` */
    Block *own;
    Block *lent;
    PyObject *array;   /* strong, unless borrowed */
    PyObject *object;  /* strong: the value as Python sees it; NULL until it is requested */
    PyObject *last[2]; /* strong: earlier results, written again once no other reference has them */
    const SlotInfo *info;
    PyObject *cell, *computed; /* strong: storage of Python thunks, one-element lists */
    alignas(16) char cell16[16];
};

struct Frame {
    Frame *next;
    Program *program;
    Slot *slots;
    th_ctx *contexts;
    PyObject **bound; /* per instruction: perform's output storage, or the bound thunk */
    int32_t *dirty;
    int32_t ndirty;
    uint64_t generation; /* lazy: an instruction is done when done[i] == generation */
    std::vector<uint64_t> done;
    std::vector<int32_t> stack;
    std::vector<Block *> pool;
    std::vector<Block *> scratch;
    std::vector<PyObject *> replaced; /* strong: what shared variables held before this call */
    size_t scratch_used;   /* of the last block */
    size_t scratch_wanted; /* by this instruction, in all */
    int64_t largest; /* no slot has had more elements since the frame was made */
    int32_t asked; /* outputs that the kernel being checked has asked for */
    PyThreadState *released; /* not NULL while the GIL is given away */
    bool brief;    /* it is kept: a loop runs short steps, and gives it away between some of them */
    bool timed;    /* profiles: whether this call is */
    int64_t looks; /* at the time, within this call */
    std::vector<int64_t> spent; /* ticks in each instruction in this call */
    int32_t error_kind;
    std::atomic<int32_t> error_lock;
    char error_text[512];
    /* storage behind the pointers above */
    std::vector<Slot> slot_store;
    std::vector<int64_t> dims_store;
    std::vector<th_ctx> context_store;
    std::vector<th_buffer *> args_store;
    std::vector<PyObject *> bound_store;
    std::vector<int32_t> dirty_store;
};

Frame *frame_new(Program *program); /* nullptr: Python error set */
void frame_end_call(Frame *frame);  /* drop what belonged to the call, keep what the next can use */
void frame_free_memory(Frame *frame);
void frame_delete(Frame *frame);
int frame_traverse(const Frame *frame, visitproc visit, void *arg);
void scratch_reset(Frame *frame);   /* drop what an instruction asked for, keep a small block */
void slot_release(Frame *frame, Slot *slot);   /* drop the references that end with the call */
void slot_retire(Frame *frame, Slot *slot);    /* after its last use: also hand its memory on */
void slot_remember(Slot *slot, PyObject *array); /* keep (steals) an array to write again */

inline void slot_mark(Frame *frame, Slot *slot) {
    if (!slot->dirty) {
        slot->dirty = true;
        frame->dirty[frame->ndirty++] = int32_t(slot - frame->slots);
    }
}

inline void slot_count(Frame *frame, Slot *slot, int64_t elements) {
    slot->elements = elements;
    if (TH_UNLIKELY(elements > frame->largest)) frame->largest = elements;
}

/* -------------------------------------------------------------- boundary.cpp */

extern const int64_t dtype_itemsize[TH_NDTYPES];
extern const char *const dtype_name[TH_NDTYPES];
size_t numpy_sort(const char *dtype, int kind, bool places);
extern const int dtype_npy[TH_NDTYPES];
constexpr int kNpyTypes = 24;
extern int8_t dtype_of_npy[kNpyTypes]; /* NumPy type number -> code, -1: none */

void boundary_setup();
int dtype_code(const char *name); /* -1: unknown */
void bind_array(Frame *frame, Slot *slot, PyArrayObject *array); /* takes a new reference */
bool bind_exact(Frame *frame, Slot *slot, PyObject *value, bool writable); /* fast path; false: no match, no error */
bool bind_borrowed(Frame *frame, Slot *slot, PyObject *value, bool writable); /* the same for what outlives the call */
int bind_cast(Frame *frame, Slot *slot, PyObject *value); /* what casts without loss: 1; 0: another way; -1: error set */
int bind_value(Frame *frame, Slot *slot, PyObject *value, bool writable); /* full path; -1: TypeError set */
int bind_object(Frame *frame, Slot *slot, PyObject *value);      /* + remembers value as slot->object */
PyObject *box(Frame *frame, Slot *slot);                         /* borrowed; NULL: error set */
/* A new array in C order; a big one uses recycled memory. */
PyObject *new_array(PyArray_Descr *descr, int ndim, const int64_t *shape, int64_t elements);
PyObject *empty_array(PyObject *shape, PyObject *dtype); /* the same for what Python says */
int array_ensure(Frame *frame, Slot *slot, const int64_t *shape, int64_t elements); /* GIL held */
int array_again(Frame *frame, Slot *slot); /* the same in the shape that the slot's table says, where it is `laid` */
int make_private(Frame *frame, Slot *slot); /* a copy of the shared variable's array takes its place; -1: MemoryError */
bool is_private(Frame *frame, Slot *slot);  /* only the variable and this frame, or this frame alone, refer to the array */

/* ----------------------------------------------------------------- device_array.cpp */

PyObject *device_array_type(); /* new reference to the heap type, made once */
bool bind_device_array(Frame *frame, Slot *slot, PyObject *value); /* false: another kind of value; no error is set */
PyObject *box_device_array(const Slot *slot); /* new reference; NULL: error set */
/* What a DeviceArray is a window on; a null block: it is none. The tables live as long as the array. */
struct DeviceView {
    Block *block = nullptr;
    char *data = nullptr;
    int32_t dtype = -1, ndim = 0;
    const int64_t *shape = nullptr, *strides = nullptr;
};
DeviceView device_view(PyObject *value);
PyObject *new_device_array(const th_device *device, int32_t dtype, int32_t ndim, const int64_t *shape); /* NULL: error set */
PyObject *packed_device_array(PyObject *array); /* a copy in C order; NULL: error set */
/* `slot` becomes an array in the memory of a block, which it keeps alive for this call. Its tables give the layout. */
void bind_device_window(Frame *frame, Slot *slot, Block *block, char *data);

/* ----------------------------------------------------------------- dlpack.cpp */

/* A capsule of the array in which `tensor` says device, address, dtype and lengths; it keeps `owner`. */
struct Exchanged {
    int32_t device_type, device_id;
    char *data;
    uint64_t offset; /* bytes from `data` to the first element */
    int32_t dtype, ndim;
    const int64_t *shape, *strides; /* bytes */
};
PyObject *dlpack_capsule(const Exchanged &what, PyObject *owner, bool versioned);
PyObject *dlpack_read(PyObject *capsule);

/* ----------------------------------------------------------------- argument_aliasing.cpp */

int set_apart(Frame *frame); /* copies what an input that is overwritten shares with anything else; -1: Python error set */
bool overlaps_itself(const Slot *slot);

/* May two elements of an array share memory? */
inline bool lies_upon_itself(const Slot *slot) {
    return !PyArray_ISONESEGMENT(reinterpret_cast<PyArrayObject *>(slot->array)) && overlaps_itself(slot);
}

/* ----------------------------------------------------------------- locks.cpp */

struct Waiter;

/* All with the GIL held. A thread is named by pthread_self(), which is never 0 and survives a fork. */
struct ValueLock {
    uintptr_t owner; /* 0: it is free */
    int64_t again;   /* how often the owner has taken it beside the first time */
    Waiter *queue;
    PyObject *cell;  /* borrowed: who uses the lock holds it */
    uint64_t number;
    int64_t users;
};

ValueLock *lock_of(PyObject *cell); /* a user more; nullptr: MemoryError set */
void lock_drop(ValueLock *lock);    /* a user less */
int lock_slowly(ValueLock *lock, uintptr_t me);
void unlock_slowly(ValueLock *lock);
int store_locked(PyObject *cell, PyObject *value); /* waits for calls that update the cell; -1: Python error set */
void locks_after_fork();

inline uintptr_t this_thread() { return (uintptr_t)pthread_self(); } /* an integer or a pointer */

/* -1: Python error set. */
inline int lock(ValueLock *lock, uintptr_t me) {
    if (TH_UNLIKELY(lock->owner != 0)) return lock_slowly(lock, me);
    lock->owner = me;
    return 0;
}

inline void unlock(ValueLock *lock) {
    if (TH_UNLIKELY(lock->again || lock->queue)) return unlock_slowly(lock);
    lock->owner = 0;
}

inline void locks_give(const std::vector<ValueLock *> &taken) {
    for (ValueLock *each : taken) unlock(each);
}

/* -1: none is taken, Python error set. */
inline int locks_take(const std::vector<ValueLock *> &wanted) {
    if (wanted.empty()) return 0;
    const uintptr_t me = this_thread();
    for (ValueLock *const &each : wanted) {
        if (TH_LIKELY(lock(each, me) == 0)) continue;
        for (ValueLock *const *taken = wanted.data(); taken != &each; ++taken) unlock(*taken);
        return -1;
    }
    return 0;
}

/* --------------------------------------------------------------- machine.cpp */

int machine_run(Frame *frame);          /* all but the last instructions; -1: Python error set */
int machine_write(Frame *frame);        /* the last ones: -1 and nothing is written, or 0 */
extern PyObject *shape_error;           /* KernelShapeError */
PyObject *take_exception();             /* the current Python exception, cleared; new reference */
void give_exception(PyObject *value);   /* makes it the current one; steals */
extern const th_runtime runtime_table;
extern const th_runtime checking_table; /* stops a kernel at its last output: all is checked, nothing written */

/* ----------------------------------------------------------------- thunk.cpp */

PyObject *thunk_type();                 /* new reference to the heap type */
int run_cthunk(PyObject *capsule);      /* -1: Python error set */
bool is_native_thunk(PyObject *object);

/* -------------------------------------------------------------- function.cpp */

PyObject *function_type();              /* new reference to the heap type, made once */
Program *function_program(PyObject *function); /* NULL before __init__ */
Frame *function_take_frame(PyObject *function); /* nullptr: Python error set */
void function_give_frame(PyObject *function, Frame *frame); /* ends the call */
int bind_shared(Frame *frame);
PyObject *enable_vectorcall(PyObject *cls); /* new reference to cls */

/* --------------------------------------------------------------- profile.cpp */

PyObject *profile_counts(PyObject *function, PyObject *);
PyObject *profile_timed(PyObject *function, PyObject *);
PyObject *profile_reset(PyObject *function, PyObject *);
PyObject *profile_shapes(PyObject *function, PyObject *);

/* ------------------------------------------------------------------ loop.cpp */

PyObject *function_loop(PyObject *function, PyObject *args);

/* ---------------------------------------------------------------- direct.cpp */

PyObject *function_direct(PyObject *function, PyObject *kind);
PyObject *direct_message(PyObject *capsule); /* new reference: str, or None where no call has failed since it was last asked */

} // namespace theano
#endif
