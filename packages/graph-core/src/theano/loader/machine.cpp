/* The machine: runs the instructions of one frame.
 *
 * Without a lazy instruction the program is a straight line: each instruction once, in order. With
 * one, evaluation is driven by demand: an explicit stack starts with what the results need, an ordinary
 * instruction pushes its missing inputs, a lazy one says itself which it wants. "Done" is a
 * generation number per instruction, so a call that skips a thousand instructions does not pay for
 * clearing a thousand flags.
 *
 * The GIL is given away around a compiled instruction whose estimated work is above kGilWorkNs (the
 * estimate uses the outputs' sizes of the previous call, which is right nearly always and harmless otherwise).
 */
#include "core.h"

#include <algorithm>
#include <cstring>

namespace theano {

PyObject *shape_error = nullptr;

PyObject *take_exception() {
#if PY_VERSION_HEX >= 0x030c0000
    return PyErr_GetRaisedException();
#else
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace && value) PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return value;
#endif
}

void give_exception(PyObject *value) {
#if PY_VERSION_HEX >= 0x030c0000
    PyErr_SetRaisedException(value);
#else
    PyErr_Restore(Py_NewRef(Py_TYPE(value)), value, PyException_GetTraceback(value));
#endif
}

namespace {

constexpr int kSignalInterval = 1024; /* instructions between looks at pending signals */

/* ------------------------------------------------------------------- errors */

PyObject *exception_type(int32_t kind) { /* new reference */
    switch (kind) {
    case TH_ERR_INDEX: return Py_NewRef(PyExc_IndexError);
    case TH_ERR_TYPE: return Py_NewRef(PyExc_TypeError);
    case TH_ERR_MEMORY: return Py_NewRef(PyExc_MemoryError);
    case TH_ERR_ZERODIV: return Py_NewRef(PyExc_ZeroDivisionError);
    case TH_ERR_ASSERT: return Py_NewRef(PyExc_AssertionError);
    case TH_ERR_SHAPE: return Py_NewRef(shape_error);
    case TH_ERR_DEVICE: return device_error("DeviceError", PyExc_RuntimeError);
    case TH_ERR_DEVICE_MEMORY: return device_error("DeviceMemoryError", PyExc_MemoryError);
    case TH_ERR_LINALG: {
        PyObject *module = PyImport_ImportModule("numpy.linalg");
        PyObject *type = module ? PyObject_GetAttrString(module, "LinAlgError") : nullptr;
        Py_XDECREF(module);
        if (type) return type;
        PyErr_Clear();
        return Py_NewRef(PyExc_ValueError);
    }
    default: return Py_NewRef(PyExc_ValueError);
    }
}

PyObject *native_exception(Frame *frame) {
    const char *text = frame->error_kind ? frame->error_text : "a compiled kernel failed and did not say why";
    PyObject *type = exception_type(frame->error_kind);
    PyObject *message = PyUnicode_DecodeUTF8(text, Py_ssize_t(std::strlen(text)), "replace");
    PyObject *made = message ? PyObject_CallOneArg(type, message) : nullptr;
    Py_DECREF(type);
    Py_XDECREF(message);
    if (!made) return nullptr;
    PyObject *kind = PyLong_FromLong(frame->error_kind);
    if (!kind || PyObject_SetAttrString(made, "kind", kind) < 0) PyErr_Clear();
    Py_XDECREF(kind);
    return made;
}

PyObject *describe_table(const int64_t *values, int n) {
    PyObject *tuple = PyTuple_New(n);
    for (int d = 0; tuple && d < n; ++d) PyTuple_SET_ITEM(tuple, d, PyLong_FromLongLong(values[d]));
    return tuple;
}

PyObject *describe(Slot *slot) { /* (shape, strides, dtype name) or None */
    if (slot->info->has_spec && slot->memory != MEM_NONE) {
        return Py_BuildValue("(NNs)", describe_table(slot->buf.shape, slot->buf.ndim), describe_table(slot->buf.strides, slot->buf.ndim),
                             dtype_name[slot->info->dtype]);
    }
    if (slot->object && PyArray_Check(slot->object)) {
        auto *array = reinterpret_cast<PyArrayObject *>(slot->object);
        int n = PyArray_NDIM(array);
        PyObject *name = PyObject_Str(reinterpret_cast<PyObject *>(PyArray_DESCR(array)));
        if (!name) return nullptr;
        return Py_BuildValue("(NNN)", describe_table(reinterpret_cast<const int64_t *>(PyArray_DIMS(array)), n),
                             describe_table(reinterpret_cast<const int64_t *>(PyArray_STRIDES(array)), n), name);
    }
    return Py_NewRef(Py_None);
}

PyObject *describe_inputs(Frame *frame, const Instr &instr) {
    PyObject *list = PyList_New(Py_ssize_t(instr.in.size()));
    for (size_t k = 0; list && k < instr.in.size(); ++k) {
        PyObject *item = describe(frame->slots + instr.in[k]);
        if (!item) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, Py_ssize_t(k), item);
    }
    return list;
}

/* The contents of every slot, for detailed reports of failures. */
PyObject *describe_slots(Frame *frame) {
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && k < frame->program->slots.size(); ++k) {
        PyObject *item = describe(frame->slots + k);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* Turns the failure of an instruction into the Python exception to raise, with the hook's help. */
int report(Frame *frame, size_t index) {
    PyObject *error = PyErr_Occurred() ? take_exception() : native_exception(frame);
    frame->error_kind = 0;
    frame->error_lock.store(0);
    if (!error) return -1;
    PyObject *hook = frame->program->on_error;
    if (hook && PyErr_GivenExceptionMatches(error, PyExc_Exception)) {
        PyObject *inputs = describe_inputs(frame, frame->program->code[index]);
        PyObject *slots = inputs ? describe_slots(frame) : nullptr;
        PyObject *better = slots ? PyObject_CallFunction(hook, "nOOO", Py_ssize_t(index), error, inputs, slots) : nullptr;
        Py_XDECREF(inputs);
        Py_XDECREF(slots);
        if (!better) {
            Py_DECREF(error);
            return -1; /* the hook's own exception */
        }
        if (PyExceptionInstance_Check(better)) {
            Py_SETREF(error, better);
        } else {
            Py_DECREF(better);
        }
    }
    give_exception(error);
    return -1;
}

/* ------------------------------------------------------------- instructions */

int run_without_gil(Frame *frame, const Instr &instr, th_ctx *ctx) {
    frame->released = PyEval_SaveThread();
    int status = instr.run(ctx);
    PyThreadState *state = frame->released;
    frame->released = nullptr;
    PyEval_RestoreThread(state);
    if (status >= 0 && PyErr_CheckSignals() < 0) return -1;
    return status;
}

inline int run_native(Frame *frame, const Instr &instr, th_ctx *ctx) {
    int64_t elements = 0;
    if (TH_UNLIKELY(frame->largest > instr.gil_limit) && !frame->brief) {
        th_buffer **buffer = ctx->in; /* outputs follow inputs in the same table */
        for (int k = ctx->nin + ctx->nout; k > 0; --k, ++buffer) {
            int64_t here = reinterpret_cast<Slot *>(*buffer)->elements;
            elements = here > elements ? here : elements;
        }
    }
    int status = TH_LIKELY(elements <= instr.gil_limit) ? instr.run(ctx) : run_without_gil(frame, instr, ctx);
    if (TH_UNLIKELY(frame->scratch_wanted)) scratch_reset(frame);
    return status;
}

/* The exception carries the position and who is to blame, for the hook that knows the node. */
int missing_output(size_t k, const char *who) {
    PyErr_Format(PyExc_RuntimeError, "%s left output %zu empty", who, k);
    PyObject *error = take_exception();
    PyObject *left = Py_BuildValue("(sn)", who, Py_ssize_t(k));
    if (!left || PyObject_SetAttrString(error, "left_empty", left) < 0) PyErr_Clear();
    Py_XDECREF(left);
    give_exception(error);
    return -1;
}

int run_perform(Frame *frame, const Instr &instr, size_t index) {
    PyObject *storage = frame->bound[index];
    PyObject *inputs = PyList_New(Py_ssize_t(instr.in.size()));
    if (!inputs) return -1;
    for (size_t k = 0; k < instr.in.size(); ++k) {
        PyObject *value = box(frame, frame->slots + instr.in[k]);
        if (!value) {
            Py_DECREF(inputs);
            return -1;
        }
        PyList_SET_ITEM(inputs, Py_ssize_t(k), Py_NewRef(value));
    }
    PyObject *args[3] = {instr.node, inputs, storage};
    PyObject *result = PyObject_Vectorcall(instr.callable, args, 3, nullptr);
    Py_DECREF(inputs);
    Py_XDECREF(result);
    int status = result ? 0 : -1;
    for (size_t k = 0; k < instr.out.size(); ++k) {
        PyObject *cell = Py_ssize_t(k) < PyList_GET_SIZE(storage) ? PyList_GET_ITEM(storage, Py_ssize_t(k)) : nullptr;
        if (!cell || !PyList_Check(cell) || PyList_GET_SIZE(cell) < 1) {
            if (status == 0) status = missing_output(k, "perform");
            continue;
        }
        PyObject *value = Py_NewRef(PyList_GET_ITEM(cell, 0));
        PyList_SetItem(cell, 0, Py_NewRef(Py_None));
        if (status == 0 && value == Py_None && frame->slots[instr.out[k]].info->has_spec) status = missing_output(k, "perform");
        if (status == 0) status = bind_object(frame, frame->slots + instr.out[k], value);
        Py_DECREF(value);
    }
    return status;
}

bool is_done(const Frame *frame, const Slot *slot) {
    int32_t producer = slot->info->producer;
    return producer < 0 || !frame->program->lazy || frame->done[producer] == frame->generation;
}

int set_cell(PyObject *cell, PyObject *value) { return PyList_SetItem(cell, 0, Py_NewRef(value)); }

/* Calls the bound thunk; *wanted is what it returned (new reference). */
int run_thunk(Frame *frame, const Instr &instr, size_t index, PyObject **wanted) {
    for (int32_t k : instr.in) {
        Slot *slot = frame->slots + k;
        bool done = is_done(frame, slot);
        PyObject *value = done ? box(frame, slot) : Py_None;
        if (!value || set_cell(slot->cell, value) < 0) return -1;
        if (PyList_SetItem(slot->computed, 0, PyLong_FromLong(done)) < 0) return -1;
        slot_mark(frame, slot);
    }
    PyObject *result = PyObject_CallNoArgs(frame->bound[index]);
    if (!result) return -1;
    *wanted = result;
    if (instr.lazy && result != Py_None && PyObject_IsTrue(result) == 1 && PySequence_Check(result)) return 1;
    const char *who = is_native_thunk(frame->bound[index]) ? "the C code" : "the thunk";
    for (size_t k = 0; k < instr.out.size(); ++k) {
        Slot *slot = frame->slots + instr.out[k];
        if (PyList_GET_SIZE(slot->cell) < 1) return missing_output(k, who);
        PyObject *value = PyList_GET_ITEM(slot->cell, 0);
        if (value == Py_None && slot->info->has_spec) return missing_output(k, who);
        if (bind_object(frame, slot, value) < 0) return -1;
        if (PyList_SetItem(slot->computed, 0, PyLong_FromLong(1)) < 0) return -1;
    }
    return 0;
}

int run_python(Frame *frame, const Instr &instr, size_t index) {
    if (instr.kind == INSTR_PERFORM) return run_perform(frame, instr, index);
    PyObject *wanted = nullptr;
    int status = run_thunk(frame, instr, index, &wanted);
    Py_XDECREF(wanted);
    return status;
}

/* ------------------------------------------------------------------- profiles */

void note_shapes(Frame *frame, size_t index) {
    Program *program = frame->program;
    for (int32_t k : program->code[index].out) {
        const th_buffer &buf = frame->slots[k].buf;
        if (!buf.data) continue;
        int64_t bytes = buf.itemsize;
        for (int32_t d = 0; d < buf.ndim; ++d) bytes *= buf.shape[d];
        std::vector<int64_t> &noted = program->profile.noted[k];
        if (!noted.empty() && noted[0] >= bytes) continue;
        noted.assign(1, bytes);
        noted.insert(noted.end(), buf.shape, buf.shape + buf.ndim);
        noted.insert(noted.end(), buf.strides, buf.strides + buf.ndim);
    }
}

/* With the GIL held: functions may run in several threads. */
inline void count_instruction(Frame *frame, size_t index) {
    Profile &profile = frame->program->profile;
    profile.runs[index]++;
    if (TH_UNLIKELY(profile.shapes)) note_shapes(frame, index);
}

inline void spend(Frame *frame, size_t index, int64_t ticks) {
    frame->looks++;
    frame->spent[index] += std::max(ticks - int64_t(pace.cost), int64_t(0));
}

/* The same where a look at the time before it was for this instruction alone. */
inline void spend_apart(Frame *frame, size_t index, int64_t ticks) {
    frame->looks++;
    spend(frame, index, ticks);
}

/* -------------------------------------------------------------- straight line */

enum Watch { UNWATCHED, COUNTED, TIMED };

template <Watch WATCH> int run_straight(Frame *frame) {
    Program *program = frame->program;
    size_t count = program->commit_start;
    const Instr *code = program->code.data();
    th_ctx *contexts = frame->contexts;
    int64_t before = WATCH == TIMED ? now_ticks() : 0; /* one look at the clock between two instructions */
    for (size_t i = 0; i < count; ++i) {
        const Instr &instr = code[i];
        int status = TH_LIKELY(instr.kind == INSTR_NATIVE) ? run_native(frame, instr, contexts + i) : run_python(frame, instr, i);
        if (TH_UNLIKELY(status != 0)) {
            if (status > 0) PyErr_SetString(PyExc_RuntimeError, "a kernel asks for an input although all are computed");
            return report(frame, i);
        }
        if (WATCH == TIMED) {
            const int64_t now = now_ticks();
            spend(frame, i, now - before);
            before = now;
        }
        if (WATCH != UNWATCHED) count_instruction(frame, i);
        for (int32_t k = 0; k < instr.nfrees; ++k) slot_retire(frame, frame->slots + instr.frees[k]);
        if (TH_UNLIKELY((i & (kSignalInterval - 1)) == kSignalInterval - 1) && PyErr_CheckSignals() < 0) return -1;
    }
    return 0;
}

/* ---------------------------------------------------------------------- lazy */

/* Pushes the instruction that computes a slot, unless that is done. */
bool push_missing(Frame *frame, int32_t k) {
    Slot *slot = frame->slots + k;
    if (is_done(frame, slot)) return false;
    frame->stack.push_back(slot->info->producer);
    return true;
}

/* The inputs that a lazy instruction asked for. */
int push_wanted(Frame *frame, const Instr &instr, PyObject *wanted) {
    PyObject *items = PySequence_Fast(wanted, "a lazy thunk returns None or a list of input numbers");
    if (!items) return -1;
    bool pushed = false;
    for (Py_ssize_t j = 0; j < PySequence_Fast_GET_SIZE(items); ++j) {
        Py_ssize_t k = PyLong_AsSsize_t(PySequence_Fast_GET_ITEM(items, j));
        if (k < 0 || size_t(k) >= instr.in.size()) {
            if (!PyErr_Occurred()) PyErr_Format(PyExc_IndexError, "a lazy thunk asked for input %zd of %zu", k, instr.in.size());
            Py_DECREF(items);
            return -1;
        }
        pushed |= push_missing(frame, instr.in[size_t(k)]);
    }
    Py_DECREF(items);
    if (pushed) return 0;
    PyErr_SetString(PyExc_RuntimeError, "a lazy thunk asks for inputs that are computed already");
    return -1;
}

/* 0 done, 1 inputs were pushed, -1 error. */
int step_lazy(Frame *frame, const Instr &instr, size_t index) {
    if (instr.kind == INSTR_THUNK) {
        PyObject *wanted = nullptr;
        int status = run_thunk(frame, instr, index, &wanted);
        if (status == 1) status = push_wanted(frame, instr, wanted) < 0 ? -1 : 1;
        Py_XDECREF(wanted);
        return status;
    }
    th_ctx *ctx = frame->contexts + index;
    for (int k = 0; k < ctx->nin; ++k) {
        Slot *slot = reinterpret_cast<Slot *>(ctx->in[k]);
        if (!is_done(frame, slot)) slot->buf.data = nullptr;
    }
    ctx->need = -1;
    int status = run_native(frame, instr, ctx);
    if (status != 1) return status;
    if (ctx->need >= 0 && ctx->need < ctx->nin && push_missing(frame, instr.in[size_t(ctx->need)])) return 1;
    PyErr_Format(PyExc_RuntimeError, "a lazy kernel asks for input %d, which is not missing", int(ctx->need));
    return -1;
}

/* After the last reader of a value, whatever order demand chose, drop it. */
void retire_inputs(Frame *frame, const Instr &instr) {
    for (int32_t k : instr.in) {
        const SlotInfo &info = frame->program->slots[k];
        if (!info.freeable) continue;
        bool dead = true;
        for (int32_t reader : info.readers) dead &= frame->done[reader] == frame->generation;
        if (dead) slot_retire(frame, frame->slots + k);
    }
}

template <Watch WATCH> int run_lazy(Frame *frame) {
    Program *program = frame->program;
    frame->generation++;
    auto &stack = frame->stack;
    stack.assign(program->wanted.rbegin(), program->wanted.rend());
    for (unsigned steps = 1; !stack.empty(); ++steps) {
        int32_t index = stack.back();
        if (frame->done[index] == frame->generation) {
            stack.pop_back();
            continue;
        }
        const Instr &instr = program->code[index];
        bool waits = false;
        for (int32_t k : instr.control_dependencies) waits |= push_missing(frame, k);
        if (!instr.lazy) {
            for (int32_t k : instr.in) waits |= push_missing(frame, k);
        }
        if (waits) continue;
        const int64_t start = WATCH == TIMED ? now_ticks() : 0;
        int status;
        if (instr.lazy) {
            status = step_lazy(frame, instr, size_t(index));
        } else if (instr.kind == INSTR_NATIVE) {
            status = run_native(frame, instr, frame->contexts + index);
        } else {
            status = run_python(frame, instr, size_t(index));
        }
        if (WATCH == TIMED) spend_apart(frame, size_t(index), now_ticks() - start);
        if (WATCH != UNWATCHED) count_instruction(frame, size_t(index));
        if (status > 0 && !instr.lazy) {
            PyErr_SetString(PyExc_RuntimeError, "a kernel that is not declared lazy asks for an input");
            status = -1;
        }
        if (status < 0) return report(frame, size_t(index));
        if (steps % kSignalInterval == 0 && PyErr_CheckSignals() < 0) return -1;
        if (status > 0) continue;
        frame->done[index] = frame->generation;
        stack.pop_back();
        retire_inputs(frame, instr);
    }
    return 0;
}

/* ------------------------------------------------------------- the last instructions */

/* Runs a kernel up to the point where it has checked everything and has its outputs. 0: no error. */
int check_native(Frame *frame, const Instr &instr, th_ctx *ctx) {
    frame->asked = 0;
    ctx->rt = &checking_table;
    int status = instr.run(ctx);
    ctx->rt = &runtime_table;
    if (frame->scratch_wanted) scratch_reset(frame);
    return status < 0 && frame->error_kind == 0 && frame->asked == ctx->nout ? 0 : -1;
}

/* Are the lengths and strides of an instruction's inputs those of its last run? */
bool same_layout(const th_ctx *ctx, const std::vector<int64_t> &seen) {
    size_t at = 0;
    for (int k = 0; k < ctx->nin; ++k) {
        for (int d = 0; d < ctx->in[k]->ndim; ++d, at += 2) {
            if (at >= seen.size() || seen[at] != ctx->in[k]->shape[d] || seen[at + 1] != ctx->in[k]->strides[d]) return false;
        }
    }
    return true;
}

void note_scratch(Frame *frame, Instr &instr, const th_ctx *ctx) {
    instr.scratch_wanted = frame->scratch_wanted;
    if (!instr.scratch_wanted) return;
    instr.scratch_layout.clear();
    for (int k = 0; k < ctx->nin; ++k) {
        for (int d = 0; d < ctx->in[k]->ndim; ++d) {
            instr.scratch_layout.push_back(ctx->in[k]->shape[d]);
            instr.scratch_layout.push_back(ctx->in[k]->strides[d]);
        }
    }
}

/* Scratch memory for the last instructions, before one of them writes. False: how much they want is not known, since one
 * never ran or ran on another layout; so that it may yet fail for want of memory. */
bool reserve_scratch(Frame *frame) {
    Program *program = frame->program;
    size_t wanted = 0;
    for (size_t i = program->commit_start; i < program->code.size(); ++i) {
        const Instr &instr = program->code[i];
        if (instr.scratch_wanted == SIZE_MAX) return false;
        if (TH_LIKELY(instr.scratch_wanted == 0)) continue;
        if (!same_layout(frame->contexts + i, instr.scratch_layout)) return false;
        wanted = std::max(wanted, instr.scratch_wanted);
    }
    if (wanted == 0 || (!frame->scratch.empty() && frame->scratch.back()->capacity >= wanted)) return true;
    Block *block = block_new(wanted);
    if (!block) return false;
    frame->scratch.push_back(block); /* there is room for one: frame_new */
    return true;
}

/* The write phase: no way out of it but to the end. */
int write_all(Frame *frame) {
    Program *program = frame->program;
    const bool timed = program->profile.nodes && frame->timed;
    for (size_t i = program->commit_start; i < program->code.size(); ++i) {
        Instr &instr = program->code[i];
        const int64_t start = timed ? now_ticks() : 0;
        frame->scratch_used = frame->scratch_wanted = 0;
        int status = instr.run(frame->contexts + i);
        if (TH_UNLIKELY(status != 0)) return report(frame, i);
        if (TH_UNLIKELY(frame->scratch_wanted || instr.scratch_wanted)) note_scratch(frame, instr, frame->contexts + i);
        if (timed) spend_apart(frame, i, now_ticks() - start);
        if (program->profile.nodes) count_instruction(frame, i);
        for (int32_t k = 0; k < instr.nfrees; ++k) {
            /* What Python has seen may have a weak reference, whose callback would let other threads run. */
            if (!program->slots[instr.frees[k]].python_use) slot_retire(frame, frame->slots + instr.frees[k]);
        }
    }
    return 0;
}

} // namespace

/* Instructions that overwrite shared variables run at the very end, when all results exist, and without releasing
 * the GIL. So no thread sees a value half written, or takes a reference after the check that none exists. A single
 * instruction checks before it writes; where there are several, all check before the first one writes. Where
 * one may still fail for want of scratch memory (a first call, new shapes of a product), copies are overwritten instead. */
int machine_write(Frame *frame) {
    Program *program = frame->program;
    const size_t count = program->code.size();
    if (count - program->commit_start > 1) {
        for (size_t i = program->commit_start; i < count; ++i) {
            if (check_native(frame, program->code[i], frame->contexts + i) < 0) return report(frame, i);
        }
    }
    const bool safe = reserve_scratch(frame);
    for (bool settled = false; !settled;) { /* again after each copy: it may have given the GIL away */
        settled = true;
        for (int32_t k : program->overwritten) {
            Slot *slot = frame->slots + k;
            if (is_private(frame, slot) && (safe || slot->copied || slot->memory != MEM_ARRAY)) continue;
            if (make_private(frame, slot) < 0) return report(frame, program->commit_start);
            settled = false;
        }
    }
    int status = write_all(frame);
    if (frame->scratch_used || frame->scratch.size() > 0) scratch_reset(frame);
    return status;
}

template <Watch WATCH> int run_either(Frame *frame) {
    return frame->program->lazy ? run_lazy<WATCH>(frame) : run_straight<WATCH>(frame);
}

int machine_run(Frame *frame) {
    if (TH_LIKELY(!frame->program->profile.nodes)) return run_either<UNWATCHED>(frame);
    if (!frame->timed) return run_either<COUNTED>(frame);
    frame->looks++; /* the one before the first instruction; a lazy program has two at each */
    return run_either<TIMED>(frame);
}

} // namespace theano
