/* Frames: where one call keeps its values.
 *
 * Making a frame is slow (tables, Python storage cells, thunks bound by their factories) and happens once
 * per call IN FLIGHT, not per call. Between calls a frame keeps what the next call can use: small blocks, and
 * up to two earlier arrays per result (two, because `y = f(x)` in a loop still holds the previous y while
 * the next is computed). Everything else, arguments above all, is dropped when the call ends: a slot
 * that takes such a reference is entered in the frame's `dirty` list, so that cleaning costs what the
 * call used and not what the program has.
 */
#include "core.h"

#include <cstring>
#include <new>

namespace theano {
namespace {

void clear_cells(Slot *slot) {
    if (!slot->cell) return;
    if (PyList_GET_SIZE(slot->cell) > 0) PyList_SetItem(slot->cell, 0, Py_NewRef(Py_None));
    if (PyList_GET_SIZE(slot->computed) > 0) PyList_SetItem(slot->computed, 0, PyLong_FromLong(0));
}

PyObject *one_cell(PyObject *content) { /* steals */
    PyObject *cell = PyList_New(1);
    if (!cell) {
        Py_XDECREF(content);
        return nullptr;
    }
    PyList_SET_ITEM(cell, 0, content);
    return cell;
}

PyObject *cells_of(Frame *frame, const std::vector<int32_t> &slots, bool computed) {
    PyObject *list = PyList_New(Py_ssize_t(slots.size()));
    for (size_t k = 0; list && k < slots.size(); ++k) {
        Slot &slot = frame->slots[slots[k]];
        PyList_SET_ITEM(list, Py_ssize_t(k), Py_NewRef(computed ? slot.computed : slot.cell));
    }
    return list;
}

PyObject *bind_thunk(Frame *frame, const Instr &instr) {
    PyObject *args[4] = {cells_of(frame, instr.in, false), cells_of(frame, instr.in, true), cells_of(frame, instr.out, false),
                         cells_of(frame, instr.out, true)};
    PyObject *bound = nullptr;
    if (args[0] && args[1] && args[2] && args[3]) bound = PyObject_Vectorcall(instr.callable, args, 4, nullptr);
    for (PyObject *arg : args) Py_XDECREF(arg);
    return bound;
}

PyObject *output_storage(const Instr &instr) {
    PyObject *list = PyList_New(Py_ssize_t(instr.out.size()));
    for (size_t k = 0; list && k < instr.out.size(); ++k) {
        PyObject *cell = one_cell(Py_NewRef(Py_None));
        if (!cell) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, Py_ssize_t(k), cell);
    }
    return list;
}

bool fill_slots(Frame *frame) {
    Program *program = frame->program;
    int64_t dims = 0;
    for (size_t k = 0; k < program->slots.size(); ++k) {
        const SlotInfo &info = program->slots[k];
        Slot &slot = frame->slots[k];
        slot.info = &info;
        slot.buf.ndim = info.ndim;
        slot.buf.dtype = info.dtype;
        slot.buf.itemsize = info.itemsize;
        slot.buf.priv = &slot;
        slot.buf.device = info.device;
        slot.buf.shape = frame->dims_store.data() + dims;
        slot.buf.strides = slot.buf.shape + info.ndim;
        dims += 2 * info.ndim;
        if (info.in_thunk) {
            slot.cell = one_cell(Py_NewRef(Py_None));
            slot.computed = one_cell(PyLong_FromLong(0));
            if (!slot.cell || !slot.computed) return false;
        }
    }
    for (int32_t k : program->constants) { /* for the frame's life: never dirty */
        Slot &slot = frame->slots[k];
        slot.dirty = true;
        if (slot.info->has_spec && bind_value(frame, &slot, slot.info->value, false) < 0) return false;
        Py_XSETREF(slot.object, Py_NewRef(slot.info->value));
    }
    return true;
}

bool fill_code(Frame *frame) {
    Program *program = frame->program;
    th_buffer **args = frame->args_store.data();
    for (size_t i = 0; i < program->code.size(); ++i) {
        const Instr &instr = program->code[i];
        th_ctx &ctx = frame->contexts[i];
        ctx.in = args;
        for (int32_t k : instr.in) *args++ = &frame->slots[k].buf;
        ctx.out = args;
        for (int32_t k : instr.out) *args++ = &frame->slots[k].buf;
        ctx.rt = &runtime_table;
        ctx.params = instr.params.data();
        ctx.nin = int32_t(instr.in.size());
        ctx.nout = int32_t(instr.out.size());
        ctx.priv = frame;
        if (instr.kind == INSTR_NATIVE) continue;
        frame->bound[i] = instr.kind == INSTR_PERFORM ? output_storage(instr) : bind_thunk(frame, instr);
        if (!frame->bound[i]) return false;
    }
    return true;
}

void drop_remembered(Slot *slot) {
    Py_CLEAR(slot->last[0]);
    Py_CLEAR(slot->last[1]);
}

} // namespace

Frame *frame_new(Program *program) {
    Frame *frame = nullptr;
    try {
        frame = new Frame();
        frame->program = program;
        frame->slot_store.resize(program->slots.size());
        frame->dims_store.resize(size_t(program->ndims) * 2 + 1);
        frame->context_store.resize(program->code.size());
        frame->args_store.resize(size_t(program->nargs) + 1);
        frame->bound_store.resize(program->code.size());
        frame->dirty_store.resize(program->slots.size());
        frame->replaced.reserve(program->updates.size());
        frame->scratch.reserve(8);
        frame->pool.resize(size_t(program->npools));
        if (program->lazy) frame->done.resize(program->code.size());
        if (program->profile.nodes) frame->spent.resize(program->code.size());
    } catch (const std::bad_alloc &) {
        delete frame;
        PyErr_NoMemory();
        return nullptr;
    }
    frame->slots = frame->slot_store.data();
    frame->contexts = frame->context_store.data();
    frame->bound = frame->bound_store.data();
    frame->dirty = frame->dirty_store.data();
    if (!fill_slots(frame) || !fill_code(frame)) {
        frame_delete(frame);
        return nullptr;
    }
    return frame;
}

void scratch_reset(Frame *frame) {
    while (frame->scratch.size() > 1 || (!frame->scratch.empty() && frame->scratch.back()->capacity > kBigBlock)) {
        block_release(frame->scratch.back());
        frame->scratch.pop_back();
    }
    frame->scratch_used = frame->scratch_wanted = 0;
}

void slot_remember(Slot *slot, PyObject *array) {
    if (slot->info->updates) { /* two arrays take turns, the other one is in the shared variable */
        Py_XSETREF(slot->last[0], array);
        return;
    }
    if (PyArray_NBYTES(reinterpret_cast<PyArrayObject *>(array)) > npy_intp(kBigBlock)) {
        Py_DECREF(array);
        return;
    }
    if (slot->last[0]) {
        PyObject *oldest = slot->last[1];
        slot->last[1] = slot->last[0];
        slot->last[0] = array;
        Py_XDECREF(oldest);
    } else {
        slot->last[0] = array;
    }
}

void slot_release(Frame *, Slot *slot) {
    Memory memory = slot->memory;
    PyObject *array = slot->borrowed ? nullptr : slot->array, *object = slot->object;
    slot->borrowed = false;
    slot->array = slot->object = nullptr;
    if (memory != MEM_OWN) {
        slot->memory = MEM_NONE;
        slot->buf.data = nullptr;
    }
    if (slot->lent) {
        block_release(slot->lent);
        slot->lent = nullptr;
    }
    if (slot->own && (slot->own->capacity > kBigBlock)) {
        block_release(slot->own);
        slot->own = nullptr;
        slot->memory = MEM_NONE;
        slot->buf.data = nullptr;
    }
    if (slot->cell) clear_cells(slot);
    Py_XDECREF(object);
    if (!array) return;
#ifndef Py_GIL_DISABLED
    if (slot->fresh) {
        slot->fresh = false;
        slot_remember(slot, array);
        return;
    }
#endif
    Py_DECREF(array);
}

void slot_retire(Frame *frame, Slot *slot) {
    if (slot->dirty) slot_release(frame, slot); /* stays in the dirty list: releasing twice is harmless */
    int32_t pool = slot->info->pool;
    if (pool < 0 || !slot->own) return;
    Block *own = slot->own;
    slot->own = nullptr;
    slot->memory = MEM_NONE;
    slot->buf.data = nullptr;
    if (!frame->pool[pool] && block_alone(own)) {
        frame->pool[pool] = own;
    } else {
        block_release(own);
    }
}

void frame_end_call(Frame *frame) {
    for (int32_t k = 0; k < frame->ndirty; ++k) {
        Slot *slot = frame->slots + frame->dirty[k];
        slot_release(frame, slot);
        slot->dirty = false;
    }
    frame->ndirty = 0;
    for (PyObject *old : frame->replaced) Py_DECREF(old);
    frame->replaced.clear();
    for (int32_t k : frame->program->pooled) {
        if (frame->slots[k].own) slot_retire(frame, frame->slots + k);
    }
    frame->error_kind = 0;
    frame->error_lock.store(0, std::memory_order_relaxed);
}

void frame_free_memory(Frame *frame) {
    for (Slot &slot : frame->slot_store) {
        if (slot.own) {
            block_release(slot.own);
            slot.own = nullptr;
            slot.memory = MEM_NONE;
            slot.buf.data = nullptr;
        }
        drop_remembered(&slot);
    }
    for (Block *&block : frame->pool) {
        if (block) block_release(block);
        block = nullptr;
    }
    for (Block *block : frame->scratch) block_release(block);
    frame->scratch.clear();
}

void frame_delete(Frame *frame) {
    frame_end_call(frame);
    for (int32_t k : frame->program->constants) slot_release(frame, frame->slots + k);
    frame_free_memory(frame);
    for (Slot &slot : frame->slot_store) {
        Py_CLEAR(slot.cell);
        Py_CLEAR(slot.computed);
    }
    for (PyObject *&bound : frame->bound_store) Py_CLEAR(bound);
    delete frame;
}

int frame_traverse(const Frame *frame, visitproc visit, void *arg) {
    for (const Slot &slot : frame->slot_store) {
        Py_VISIT(slot.object);
        Py_VISIT(slot.cell);
        Py_VISIT(slot.computed);
        /* arrays hold numbers only: never part of a cycle, and kept out of gc.get_referents' sight */
    }
    for (PyObject *bound : frame->bound_store) Py_VISIT(bound);
    return 0;
}

} // namespace theano
