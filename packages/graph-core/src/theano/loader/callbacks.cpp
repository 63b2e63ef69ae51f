/* The callbacks that kernels see (th_runtime of abi.h).
 *
 * A kernel may run without the GIL. Callbacks that only touch blocks never need it; those that touch a
 * NumPy array (results, views of arguments) take it back for as long as they do. `fail` may come from several
 * pool threads at once: the first one wins.
 */
#include "core.h"
#include "layout.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace theano {
namespace {

inline Frame *frame_of(th_ctx *ctx) { return static_cast<Frame *>(ctx->priv); }

/* The GIL for one block of code, if the frame has given it away. */
class WithGil {
  public:
    explicit WithGil(Frame *frame) : frame_(frame), taken_(frame->released != nullptr) {
        if (taken_) {
            PyEval_RestoreThread(frame_->released);
            frame_->released = nullptr;
        }
    }
    ~WithGil() {
        if (taken_) frame_->released = PyEval_SaveThread();
    }
    WithGil(const WithGil &) = delete;
    WithGil &operator=(const WithGil &) = delete;

  private:
    Frame *frame_;
    bool taken_;
};

int rt_fail(th_ctx *ctx, int32_t kind, const char *format, ...) {
    Frame *frame = frame_of(ctx);
    int32_t expected = 0;
    if (!frame->error_lock.compare_exchange_strong(expected, 1)) return -1;
    va_list args;
    va_start(args, format);
    std::vsnprintf(frame->error_text, sizeof frame->error_text, format, args);
    va_end(args);
    frame->error_kind = kind;
    return -1;
}

void set_layout(Frame *frame, Slot *slot, const int64_t *shape, int64_t elements) {
    th_lay_out(&slot->buf, shape);
    slot_count(frame, slot, elements);
    slot->laid = true;
}

/* The slot's own block, or the plan's, or a new one. */
Block *own_block(Frame *frame, Slot *slot, size_t bytes) {
    if (!slot->own && slot->info->pool >= 0) {
        slot->own = frame->pool[slot->info->pool];
        frame->pool[slot->info->pool] = nullptr;
    }
    if (slot->own && (slot->own->capacity < bytes || !block_alone(slot->own))) {
        block_release(slot->own); /* too small, or Python still looks at it: theirs now */
        slot->own = nullptr;
    }
    if (!slot->own) slot->own = block_new(bytes, slot->info->device);
    return slot->own;
}

inline bool same_shape(const th_buffer *out, const int64_t *shape) {
    bool same = true;
    for (int d = 0; d < out->ndim; ++d) same &= out->shape[d] == shape[d];
    return same;
}

int no_memory(th_ctx *ctx, const Slot *slot, int64_t elements) {
    return rt_fail(ctx, slot->info->device ? TH_ERR_DEVICE_MEMORY : TH_ERR_MEMORY, "no memory for %lld elements of %s",
                   static_cast<long long>(elements), dtype_name[slot->info->dtype]);
}

int ensure_slowly(th_ctx *ctx, Slot *slot, const int64_t *shape) {
    Frame *frame = frame_of(ctx);
    const SlotInfo *info = slot->info;
    int64_t elements = th_count_elements(info->ndim, info->itemsize, shape);
    if (elements < 0) {
        return rt_fail(ctx, TH_ERR_VALUE, "an output would have a negative length or more bytes than can be addressed");
    }
    if (slot->memory == MEM_ARRAY && slot->fresh && same_shape(&slot->buf, shape)) return 0; /* asked for twice */
    if (slot->array || slot->object || slot->lent) { /* a second `ensure` in the same kernel */
        WithGil gil(frame);
        slot_release(frame, slot);
    }
    if (info->array_backed) {
        int64_t kept[TH_MAX_NDIM]; /* `shape` may be the slot's own table */
        std::copy_n(shape, info->ndim, kept); /* none for a number: then it may be a null pointer, which memcpy forbids */
        WithGil gil(frame);
        if (array_ensure(frame, slot, kept, elements) == 0) return 0;
        PyErr_Clear();
        return no_memory(ctx, slot, elements);
    }
    if (info->ndim == 0 && !info->device) {
        slot->buf.data = slot->cell16;
        slot->memory = MEM_CELL;
        slot->elements = 1;
        return 0;
    }
    size_t bytes = size_t(elements) * size_t(info->itemsize);
    if (!own_block(frame, slot, bytes)) {
        slot->memory = MEM_NONE;
        slot->buf.data = nullptr;
        return no_memory(ctx, slot, elements);
    }
    slot->buf.data = slot->own->data;
    slot->memory = MEM_OWN;
    set_layout(frame, slot, shape, elements);
    if (slot->own->capacity > kBigBlock) slot_mark(frame, slot);
    return 0;
}

/* The common cases in full, each a few ns: the slot still has its block from the last call, or takes the
 * plan's, or, where it is a result, an earlier array; and the shape is that of the last call. */
int rt_ensure(th_ctx *ctx, th_buffer *out, const int64_t *shape) {
    Slot *slot = reinterpret_cast<Slot *>(out);
    if (slot->memory == MEM_OWN) {
        if (TH_LIKELY(same_shape(out, shape) && block_alone(slot->own))) {
            out->data = slot->own->data;
            return 0;
        }
    } else if (slot->laid && slot->memory == MEM_NONE && slot->info->array_backed && !slot->object) {
        Frame *frame = frame_of(ctx);
        if (TH_LIKELY(same_shape(out, shape) && !frame->released)) {
            if (TH_LIKELY(array_again(frame, slot) == 0)) return 0;
            PyErr_Clear();
            return no_memory(ctx, slot, slot->elements);
        }
    } else if (slot->laid && slot->memory == MEM_NONE && slot->info->pool >= 0 && !slot->own) {
        Block *&shared = frame_of(ctx)->pool[slot->info->pool];
        bool fits = shared && shared->capacity <= kBigBlock && shared->capacity >= size_t(slot->elements * out->itemsize);
        if (TH_LIKELY(fits && same_shape(out, shape))) {
            slot->own = shared; /* a block of the plan has no other reference: slot_retire ensures it */
            shared = nullptr;
            slot->memory = MEM_OWN;
            out->data = slot->own->data;
            return 0;
        }
    }
    return ensure_slowly(ctx, slot, shape);
}

int rt_view(th_ctx *ctx, th_buffer *out, const th_buffer *base, char *data, int32_t ndim, const int64_t *shape, const int64_t *strides) {
    Frame *frame = frame_of(ctx);
    Slot *slot = reinterpret_cast<Slot *>(out);
    Slot *owner = static_cast<Slot *>(base->priv);
    if (ndim != out->ndim) return rt_fail(ctx, TH_ERR_VALUE, "a view of %d dimensions where %d are declared", ndim, out->ndim);
    Memory memory = owner->memory == MEM_OWN ? MEM_LENT : owner->memory == MEM_CELL ? MEM_FRAME : owner->memory;
    Block *lent = owner->memory == MEM_OWN ? owner->own : owner->lent;
    PyObject *array = owner->array;
    bool readonly = owner->readonly;
    int64_t elements = 1;
    int64_t kept[2 * TH_MAX_NDIM]; /* the tables given may be the slot's own */
    for (int d = 0; d < ndim; ++d) {
        elements *= kept[d] = shape[d];
        kept[TH_MAX_NDIM + d] = strides[d];
    }
    if (lent) block_retain(lent);
    if (array || slot->array || slot->object) {
        WithGil gil(frame);
        Py_XINCREF(array);
        slot_release(frame, slot);
        slot->array = array;
    } else if (slot->lent) {
        block_release(slot->lent);
    }
    slot->lent = lent;
    slot->memory = memory;
    slot->fresh = slot->laid = false;
    slot->readonly = readonly;
    slot_count(frame, slot, elements);
    out->data = data;
    for (int d = 0; d < ndim; ++d) {
        out->shape[d] = kept[d];
        out->strides[d] = kept[TH_MAX_NDIM + d];
    }
    slot_mark(frame, slot);
    return 0;
}

/* Bump allocation from the frame's blocks; machine.cpp resets it after each instruction. */
void *rt_scratch(th_ctx *ctx, size_t bytes) {
    Frame *frame = frame_of(ctx);
    bytes = (bytes + 63) & ~size_t(63);
    frame->scratch_wanted += bytes;
    Block *last = frame->scratch.empty() ? nullptr : frame->scratch.back();
    if (!last || last->capacity - frame->scratch_used < bytes) {
        size_t size = bytes > 4096 ? bytes : 4096;
        last = block_new(size);
        if (!last) {
            rt_fail(ctx, TH_ERR_MEMORY, "no memory for %zu bytes of scratch", bytes);
            return nullptr;
        }
        try {
            frame->scratch.push_back(last);
        } catch (const std::bad_alloc &) {
            block_release(last);
            rt_fail(ctx, TH_ERR_MEMORY, "no memory for %zu bytes of scratch", bytes);
            return nullptr;
        }
        frame->scratch_used = 0;
    }
    void *place = last->data + frame->scratch_used;
    frame->scratch_used += bytes;
    return place;
}

int rt_parallel_for(th_ctx *ctx, int64_t n, int64_t grain, th_body body, void *arg) {
    int64_t elements = 0; /* of the largest array; outputs follow inputs in the same table */
    for (int k = 0; k < ctx->nin + ctx->nout; ++k) elements = std::max(elements, reinterpret_cast<Slot *>(ctx->in[k])->elements);
    if (pool_worth(elements)) {
        pool_run(n, grain, body, arg);
    } else if (n > 0) {
        body(arg, 0, n);
    }
    return frame_of(ctx)->error_kind ? -1 : 0;
}

/* The elements of an array in one piece: where they are, or in memory that `piece` keeps. NULL: error set. */
const char *in_one_piece(th_ctx *ctx, const th_buffer *from, size_t bytes, Block **piece) {
    if (th_is_packed(from)) return from->data;
    if (!from->device) {
        char *packed = static_cast<char *>(rt_scratch(ctx, bytes));
        if (packed) th_pack(packed, from);
        return packed;
    }
    *piece = block_new(bytes, from->device);
    if (!*piece) {
        rt_fail(ctx, TH_ERR_DEVICE_MEMORY, "no memory for %zu bytes on a device", bytes);
        return nullptr;
    }
    if (device_pack(*piece, from) != 0) {
        rt_fail(ctx, TH_ERR_DEVICE, "the device could not put an array in one piece: %s", device_said(from->device));
        return nullptr;
    }
    return (*piece)->data;
}

int copy_failed(th_ctx *ctx, const th_device *device, size_t bytes) {
    return rt_fail(ctx, TH_ERR_DEVICE, "a transfer of %zu bytes failed: %s", bytes, device_said(device));
}

/* From one memory to another; from device to device directly where that goes, else by way of the host's. */
int copy_across(th_ctx *ctx, const th_device *there, char *to, const th_device *here, const char *from, size_t bytes) {
    if (!here || !there) {
        const th_device *device = there ? there : here;
        const int status = device->copy(device, to, from, bytes, there ? TH_TO_DEVICE : TH_FROM_DEVICE);
        return status ? copy_failed(ctx, device, bytes) : 0;
    }
    const int direct = there->copy_from ? there->copy_from(there, to, here, from, bytes) : 1;
    if (direct <= 0) return direct ? copy_failed(ctx, there, bytes) : 0;
    Block *between = block_new(bytes);
    if (!between) return rt_fail(ctx, TH_ERR_MEMORY, "no memory for %zu bytes between two devices", bytes);
    int status = here->copy(here, between->data, from, bytes, TH_FROM_DEVICE) ? copy_failed(ctx, here, bytes) : 0;
    if (status == 0 && there->copy(there, to, between->data, bytes, TH_TO_DEVICE)) status = copy_failed(ctx, there, bytes);
    block_release(between);
    return status;
}

int rt_transfer(th_ctx *ctx, th_buffer *to, const th_buffer *from) {
    if (!to->device && !from->device) return rt_fail(ctx, TH_ERR_VALUE, "a transfer is to a device's memory or from it");
    if (rt_ensure(ctx, to, from->shape) < 0) return -1;
    const size_t bytes = size_t(reinterpret_cast<const Slot *>(from)->elements * from->itemsize);
    if (bytes == 0) return 0;
    Block *piece = nullptr;
    const char *data = in_one_piece(ctx, from, bytes, &piece);
    const int status = data ? copy_across(ctx, to->device, to->data, from->device, data, bytes) : -1;
    if (piece) block_release(piece);
    return status;
}

/* The same for a kernel that only checks its inputs: it stops once its last output exists. No error is set then, by
 * which machine.cpp recognizes the stop. */
int stop_at_last(th_ctx *ctx) { return ++frame_of(ctx)->asked == ctx->nout ? -1 : 0; }

int checking_ensure(th_ctx *ctx, th_buffer *out, const int64_t *shape) {
    return rt_ensure(ctx, out, shape) < 0 ? -1 : stop_at_last(ctx);
}

int checking_view(th_ctx *ctx, th_buffer *out, const th_buffer *base, char *data, int32_t ndim, const int64_t *shape, const int64_t *strides) {
    return rt_view(ctx, out, base, data, ndim, shape, strides) < 0 ? -1 : stop_at_last(ctx);
}

} // namespace

const th_runtime runtime_table = {TH_ABI_VERSION, rt_ensure, rt_view, rt_fail, rt_scratch, rt_parallel_for, th_elementwise, th_move,
                                  th_size_outputs, rt_transfer};
const th_runtime checking_table = {TH_ABI_VERSION, checking_ensure, checking_view, rt_fail, rt_scratch, rt_parallel_for, th_elementwise, th_move,
                                   th_size_outputs, rt_transfer};

} // namespace theano
