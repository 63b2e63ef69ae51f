/* The callable: a raw heap type with vectorcall.
 *
 * A call is: take a frame, bind the arguments, read the shared variables, run, box the results, commit the
 * updates, clean the frame, put it back. The common call (all arguments positional, each exactly what its
 * type says) touches no Python object but the arguments and the result. Everything else (keywords,
 * defaults, conversions) goes through `bind_slowly`.
 *
 * Updates are committed only when nothing can fail any more: a failed call leaves every variable as it was. There are
 * two ways for a new value. Either it is computed into another array, and the one the variable held before is remembered by
 * the frame and written again next time if it has no other reference: two arrays take turns. Or, where an
 * instruction that cannot fail half-way makes it from the old value, it is written over that by the last instructions
 * (machine_write), after the results have been boxed. theano/runtime/updates.py says which instructions these are.
 */
#include "core.h"

#include <structmember.h>

#include <new>

namespace theano {
namespace {

constexpr int kRestingFrames = 32; /* kept for later calls; more calls than that at once make and drop frames */

struct FunctionObject {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *dict;
    PyObject *weakrefs;
    Program *program; /* NULL until __init__ */
    Frame *resting;
    int nresting;
};

PyTypeObject *type_object = nullptr;

inline FunctionObject *as_function(PyObject *object) { return reinterpret_cast<FunctionObject *>(object); }

/* ----------------------------------------------------------------- wrong calls */

/* Raises for a wrong call; `detail` is an input's number or a keyword. */
int bad_call(const Program &program, const char *kind, PyObject *detail, const char *text) {
    if (program.on_bad_call) {
        PyObject *error = PyObject_CallFunction(program.on_bad_call, "sO", kind, detail);
        if (!error) return -1;
        if (PyExceptionInstance_Check(error)) {
            PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error)), error);
            Py_DECREF(error);
            return -1;
        }
        Py_DECREF(error);
    }
    PyObject *name = program.name ? Py_NewRef(program.name) : PyUnicode_FromString("function");
    PyObject *shown = PyLong_Check(detail) && PyLong_AsSsize_t(detail) < Py_ssize_t(program.inputs.size())
                          ? program.inputs[size_t(PyLong_AsSsize_t(detail))].name
                          : detail;
    if (shown == Py_None) shown = detail;
    if (name) PyErr_Format(PyExc_TypeError, "%U() %s %R", name, text, shown);
    Py_XDECREF(name);
    return -1;
}

int bad_input(const Program &program, const char *kind, size_t index, const char *text) {
    PyObject *number = PyLong_FromSize_t(index);
    if (number) bad_call(program, kind, number, text);
    Py_XDECREF(number);
    return -1;
}

/* ------------------------------------------------------------------- arguments */

/* One argument that may need converting. */
int bind_argument(Frame *frame, const Input &input, PyObject *value) {
    Slot *slot = frame->slots + input.slot;
    if (bind_exact(frame, slot, value, input.writable)) return 0;
    if (input.casts) {
        const int cast = bind_cast(frame, slot, value);
        if (cast != 0) return cast < 0 ? -1 : 0;
    }
    PyObject *good = input.filter ? PyObject_CallOneArg(input.filter, value) : Py_NewRef(value);
    if (!good) return -1;
    int status = 0;
    if (!bind_exact(frame, slot, good, input.writable)) {
        if (slot->info->has_spec) status = bind_value(frame, slot, good, input.writable);
        if (status == 0) {
            /* an unwritable or misaligned array was copied: Python-implemented ops see the copy */
            PyObject *seen = slot->memory == MEM_ARRAY ? slot->array : good;
            Py_XSETREF(slot->object, Py_NewRef(seen));
            slot_mark(frame, slot);
        }
    }
    Py_DECREF(good);
    return status;
}

Py_ssize_t find_input(const Program &program, PyObject *name) {
    for (size_t k = 0; k < program.inputs.size(); ++k) {
        if (program.inputs[k].name == name) return Py_ssize_t(k);
    }
    for (size_t k = 0; k < program.inputs.size(); ++k) {
        PyObject *own = program.inputs[k].name;
        if (own != Py_None && PyUnicode_Compare(own, name) == 0) return Py_ssize_t(k);
    }
    return -1;
}

int place_keywords(const Program &program, PyObject *const *values, PyObject *names, PyObject **placed) {
    for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(names); ++j) {
        PyObject *name = PyTuple_GET_ITEM(names, j);
        Py_ssize_t k = find_input(program, name);
        if (k < 0) return bad_call(program, "unknown", name, "has no input named");
        if (placed[k]) return bad_input(program, "duplicate", size_t(k), "got two values for input");
        placed[k] = values[j];
    }
    return 0;
}

int bind_slowly(Frame *frame, PyObject *const *args, size_t nargs, PyObject *kwnames) {
    const Program &program = *frame->program;
    size_t count = program.inputs.size();
    if (nargs > count) return bad_input(program, "too_many", nargs, "got too many arguments:");
    std::vector<PyObject *> placed(count, nullptr); /* borrowed from the caller */
    for (size_t k = 0; k < nargs; ++k) placed[k] = args[k];
    if (kwnames && place_keywords(program, args + nargs, kwnames, placed.data()) < 0) return -1;
    for (size_t k = 0; k < count; ++k) {
        const Input &input = program.inputs[k];
        if (!placed[k] && (input.required || PyList_GET_SIZE(input.default_cell) < 1))
            return bad_input(program, "missing", k, "misses input");
    }
    for (size_t k = 0; k < count; ++k) {
        const Input &input = program.inputs[k];
        PyObject *value = Py_NewRef(placed[k] ? placed[k] : PyList_GET_ITEM(input.default_cell, 0));
        int status = bind_argument(frame, input, value);
        Py_DECREF(value);
        if (status < 0) return -1;
    }
    return 0;
}

int bind_arguments(Frame *frame, PyObject *const *args, size_t nargs, PyObject *kwnames) {
    const Program &program = *frame->program;
    if (TH_UNLIKELY(nargs != program.inputs.size() || (kwnames && PyTuple_GET_SIZE(kwnames) > 0)))
        return bind_slowly(frame, args, nargs, kwnames);
    for (size_t k = 0; k < nargs; ++k) {
        const Input &input = program.inputs[k];
        if (TH_LIKELY(bind_borrowed(frame, frame->slots + input.slot, args[k], input.writable))) continue;
        if (bind_argument(frame, input, args[k]) < 0) return -1;
    }
    return 0;
}

/* The values of shared variables that are no arrays as they should be, and the copies of those that are overwritten. */
int complete_shared(Frame *frame) {
    for (int32_t k : frame->program->shared) {
        Slot *slot = frame->slots + k;
        if (slot->memory == MEM_NONE && slot->info->has_spec && slot->info->native_use) {
            PyObject *value = Py_NewRef(slot->object);
            const int status = bind_value(frame, slot, value, false);
            Py_DECREF(value);
            if (status < 0) return -1;
        }
        if (slot->info->overwritten == OVERWRITE_COPY && make_private(frame, slot) < 0) return -1;
    }
    return 0;
}

} // namespace

/* All values are those of one moment: first each is held, and only then is anything done that may let another thread run. */
int bind_shared(Frame *frame) {
    bool complete = true;
    for (int32_t k : frame->program->shared) {
        Slot *slot = frame->slots + k;
        PyObject *cell = slot->info->value;
        if (TH_UNLIKELY(PyList_GET_SIZE(cell) < 1)) {
            PyErr_SetString(PyExc_RuntimeError, "a shared variable's storage has been emptied");
            return -1;
        }
        PyObject *value = PyList_GET_ITEM(cell, 0);
        if (TH_LIKELY(bind_exact(frame, slot, value, false))) {
            complete &= slot->info->overwritten != OVERWRITE_COPY;
        } else {
            slot->object = Py_NewRef(value);
            slot_mark(frame, slot);
            complete = false;
        }
    }
    return TH_LIKELY(complete) ? 0 : complete_shared(frame);
}

namespace {

/* --------------------------------------------------------------------- results */

PyObject *collect(Frame *frame) {
    const Program &program = *frame->program;
    auto value = [&](size_t k) { return frame->slots[program.outputs[k]].object; };
    switch (program.returns) {
    case RETURN_ONE: return Py_NewRef(value(0));
    case RETURN_NONE: return Py_NewRef(Py_None);
    case RETURN_LIST: {
        PyObject *list = PyList_New(Py_ssize_t(program.outputs.size()));
        for (size_t k = 0; list && k < program.outputs.size(); ++k) PyList_SET_ITEM(list, Py_ssize_t(k), Py_NewRef(value(k)));
        return list;
    }
    case RETURN_DICT: break;
    }
    PyObject *dict = PyDict_New();
    for (size_t k = 0; dict && k < program.outputs.size(); ++k) {
        if (PyDict_SetItem(dict, PyList_GET_ITEM(program.keys, Py_ssize_t(k)), value(k)) < 0) Py_CLEAR(dict);
    }
    return dict;
}

/* Can the array a shared variable held before be kept to be written again? (Whether it is alone is asked then.) */
bool worth_keeping(const Slot *slot, PyObject *old) {
#ifdef Py_GIL_DISABLED
    return false;
#else
    return slot->fresh && slot->info->has_spec && !slot->info->scalar && PyArray_CheckExact(old) &&
           (PyArray_FLAGS(reinterpret_cast<PyArrayObject *>(old)) & NPY_ARRAY_OWNDATA) && Py_REFCNT(old) <= 3;
#endif
}

void commit(Frame *frame) {
    const Program &program = *frame->program;
    for (const Update &update : program.updates) {
        Slot *slot = frame->slots + update.slot;
        if (PyList_GET_SIZE(update.cell) < 1) continue; /* the storage was emptied: nothing to store into */
        PyObject *old = PyList_GET_ITEM(update.cell, 0);
        PyObject *value = slot->object;
        if (old == value) continue;
        PyList_SET_ITEM(update.cell, 0, Py_NewRef(value));
        if (slot->info->base >= 0) slot = frame->slots + slot->info->base;
        PyObject *dropped = old; /* which may run Python code: not before all is stored */
        if (worth_keeping(slot, old)) {
            dropped = slot->last[0];
            slot->last[0] = nullptr;
            slot_remember(slot, old);
        }
        if (dropped) frame->replaced.push_back(dropped);
        slot->fresh = false; /* the variable's now: not ours to write again */
    }
}

inline bool has_object(Frame *frame, int32_t k) { return TH_LIKELY(frame->slots[k].object != nullptr) || box(frame, frame->slots + k); }

/* The last instructions compute into existing arrays: boxing a result takes a reference and cannot fail. */
inline bool box_updates(Frame *frame, bool committed) {
    for (const Update &update : frame->program->updates) {
        if (update.committed == committed && !has_object(frame, update.slot)) return false;
    }
    return true;
}

PyObject *finish(Frame *frame) {
    const Program &program = *frame->program;
    for (int32_t k : program.outputs) {
        if (!has_object(frame, k)) return nullptr;
    }
    if (program.updates.empty()) return collect(frame);
    if (!box_updates(frame, false)) return nullptr;
    PyObject *result = collect(frame);
    if (!result) return nullptr;
    if (program.commit_start < program.code.size() && (machine_write(frame) < 0 || !box_updates(frame, true))) {
        Py_DECREF(result);
        return nullptr;
    }
    commit(frame);
    return result;
}

/* ------------------------------------------------------------------------ call */

Frame *take_frame(FunctionObject *self) {
    Frame *frame = self->resting;
    if (TH_UNLIKELY(!frame)) return frame_new(self->program);
    self->resting = frame->next;
    self->nresting--;
    return frame;
}

void rest_frame(FunctionObject *self, Frame *frame) {
    if (TH_UNLIKELY(self->nresting >= kRestingFrames)) {
        frame_delete(frame);
        return;
    }
    frame->next = self->resting;
    self->resting = frame;
    self->nresting++;
}

void give_frame(FunctionObject *self, Frame *frame) {
    frame_end_call(frame);
    rest_frame(self, frame);
}

/* The handler of a keyword that is about the call rather than an input; borrowed, NULL without one. */
PyObject *option_handler(const Program &program, PyObject *kwnames) {
    for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(kwnames); ++j) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, j);
        PyObject *handler = find_input(program, name) < 0 ? PyDict_GetItemWithError(program.options, name) : nullptr;
        if (handler) return handler;
    }
    return nullptr;
}

PyObject *call_with_option(PyObject *handler, PyObject *object, PyObject *const *args, size_t nargs, PyObject *kwnames) {
    PyObject *positional = PyTuple_New(Py_ssize_t(nargs)), *keywords = PyDict_New(), *result = nullptr;
    bool ok = positional && keywords;
    for (size_t k = 0; ok && k < nargs; ++k) PyTuple_SET_ITEM(positional, Py_ssize_t(k), Py_NewRef(args[k]));
    for (Py_ssize_t j = 0; ok && j < PyTuple_GET_SIZE(kwnames); ++j)
        ok = PyDict_SetItem(keywords, PyTuple_GET_ITEM(kwnames, j), args[nargs + size_t(j)]) == 0;
    if (ok) result = PyObject_CallFunctionObjArgs(handler, object, positional, keywords, nullptr);
    Py_XDECREF(positional);
    Py_XDECREF(keywords);
    return result;
}

/* What devices put off during the instructions is asked for by their end: results may be seen, and updates stored, after that. */
int run_on_devices(Frame *frame) {
    const Program &program = *frame->program;
    for (const th_device *device : program.devices) device->begin(device);
    int status = machine_run(frame);
    for (const th_device *device : program.devices) {
        if (device->finish(device) == 0 || status < 0) continue;
        PyObject *type = device_error("DeviceError", PyExc_RuntimeError);
        PyErr_Format(type, "the device failed: %s", device_said(device));
        Py_DECREF(type);
        status = -1;
    }
    return status;
}

inline int run_instructions(Frame *frame) { return TH_LIKELY(frame->program->devices.empty()) ? machine_run(frame) : run_on_devices(frame); }

/* What is updated is locked before it, or the default of an argument, is read, and until the new value is stored. */
inline PyObject *run(Frame *frame, PyObject *const *args, size_t nargs, PyObject *kwnames) {
    const Program &program = *frame->program;
    const bool careful = program.careful;
    if (careful && TH_UNLIKELY(locks_take(program.locks) < 0)) return nullptr;
    PyObject *result = nullptr;
    if (TH_LIKELY(bind_arguments(frame, args, nargs, kwnames) == 0 && bind_shared(frame) == 0 &&
                  (!careful || program.destroyed.empty() || set_apart(frame) == 0) && run_instructions(frame) == 0))
        result = finish(frame);
    if (careful) locks_give(program.locks);
    return result;
}

PyObject *profiled_call(FunctionObject *self, PyObject *const *args, size_t nargs, PyObject *kwnames) {
    Profile &profile = self->program->profile; /* the function lives as long as it is called */
    const bool timed = profile.begin();
    const int64_t start = timed ? now_ticks() : 0;
    Frame *frame = take_frame(self);
    if (TH_UNLIKELY(!frame)) {
        profile.abandon();
        return nullptr;
    }
    frame->timed = timed;
    PyObject *result = run(frame, args, nargs, kwnames);
    frame_end_call(frame);
    if (timed) profile.end_timed(start, frame->spent, frame->looks);
    else profile.end();
    rest_frame(self, frame);
    return result;
}

PyObject *call(PyObject *object, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    FunctionObject *self = as_function(object);
    Program *program = self->program;
    if (TH_UNLIKELY(!program)) {
        PyErr_SetString(PyExc_TypeError, "this Function was never initialised: Function.__init__ was not called");
        return nullptr;
    }
    if (TH_UNLIKELY(kwnames && program->options)) {
        if (PyObject *handler = option_handler(*program, kwnames))
            return call_with_option(handler, object, args, size_t(PyVectorcall_NARGS(nargsf)), kwnames);
        if (PyErr_Occurred()) return nullptr;
    }
    if (TH_UNLIKELY(program->profile.on)) return profiled_call(self, args, size_t(PyVectorcall_NARGS(nargsf)), kwnames);
    Frame *frame = take_frame(self);
    if (TH_UNLIKELY(!frame)) return nullptr;
    PyObject *result = run(frame, args, size_t(PyVectorcall_NARGS(nargsf)), kwnames);
    give_frame(self, frame);
    return result;
}

/* --------------------------------------------------------------------- the type */

PyObject *function_new(PyTypeObject *type, PyObject *, PyObject *) {
    PyObject *object = type->tp_alloc(type, 0); /* zeroed */
    if (object) as_function(object)->vectorcall = call;
    return object;
}

int function_init(PyObject *object, PyObject *args, PyObject *kwargs) {
    FunctionObject *self = as_function(object);
    PyObject *mapping = nullptr;
    if (!PyArg_ParseTuple(args, "|O:Function", &mapping)) return -1;
    if (self->program) {
        PyErr_SetString(PyExc_RuntimeError, "a Function is initialised once");
        return -1;
    }
    PyObject *entries = PyDict_New();
    if (!entries) return -1;
    int status = -1;
    Program *program = nullptr;
    if ((!mapping || mapping == Py_None || PyDict_Update(entries, mapping) == 0) && (!kwargs || PyDict_Update(entries, kwargs) == 0)) {
        try {
            program = new Program();
            if (program_read(*program, entries)) status = 0;
        } catch (const std::bad_alloc &) {
            PyErr_NoMemory();
        }
    }
    Py_DECREF(entries);
    if (status == 0) {
        if (Frame *frame = frame_new(program)) { /* constants that do not fit are an error here, not at the first call */
            self->program = program;
            give_frame(self, frame);
            return 0;
        }
    }
    if (program) program_clear(*program);
    delete program;
    return -1;
}

int function_traverse(PyObject *object, visitproc visit, void *arg) {
    FunctionObject *self = as_function(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->dict);
    if (self->program) {
        int status = program_traverse(*self->program, visit, arg);
        if (status) return status;
    }
    for (Frame *frame = self->resting; frame; frame = frame->next) {
        int status = frame_traverse(frame, visit, arg);
        if (status) return status;
    }
    return 0;
}

int function_clear(PyObject *object) {
    FunctionObject *self = as_function(object);
    Py_CLEAR(self->dict);
    while (Frame *frame = self->resting) {
        self->resting = frame->next;
        self->nresting--;
        frame_delete(frame);
    }
    if (Program *program = self->program) {
        self->program = nullptr;
        program_clear(*program);
        delete program;
    }
    return 0;
}

void function_dealloc(PyObject *object) {
    FunctionObject *self = as_function(object);
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (self->weakrefs) PyObject_ClearWeakRefs(object);
    function_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

PyObject *free_memory(PyObject *object, PyObject *) {
    for (Frame *frame = as_function(object)->resting; frame; frame = frame->next) frame_free_memory(frame);
    Py_RETURN_NONE;
}

PyObject *is_lazy(PyObject *object, void *) {
    Program *program = as_function(object)->program;
    return PyBool_FromLong(program && program->lazy);
}

PyObject *frames_at_rest(PyObject *object, void *) { return PyLong_FromLong(as_function(object)->nresting); }

PyMethodDef methods[] = {
    {"profile_counts", profile_counts, METH_NOARGS, "Return (calls, ns, [(calls, ns) of each instruction]), or None without profiling."},
    {"profile_timed", profile_timed, METH_NOARGS, "Return how many of the calls were timed, or None without profiling."},
    {"profile_reset", profile_reset, METH_NOARGS, "Set all profile counts to zero."},
    {"profile_shapes", profile_shapes, METH_NOARGS,
     "Return, for each instruction and output, (bytes, shape, strides) of the largest value; None where that is not noted."},
    {"loop", function_loop, METH_VARARGS,
     "loop(n, sequences, states, carried, fixed, mapped, until)\n--\n\nRun for each of at most `n` steps; return (steps, results, carried values)."},
    {"direct", function_direct, METH_O,
     "direct(kind)\n--\n\nReturn two capsules: a C function of that kind (its name is the signature), and what it is called with."},
    {"free", free_memory, METH_NOARGS, "Drop the memory kept for the next call."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef properties[] = {
    {"lazy", is_lazy, nullptr, "Whether evaluation is driven by demand.", nullptr},
    {"frames_at_rest", frames_at_rest, nullptr, "How many frames wait for the next call.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char *>("Function(program)\n--\n\nA program that can be called; see theano.loader.module.")},
    {Py_tp_new, reinterpret_cast<void *>(function_new)},
    {Py_tp_init, reinterpret_cast<void *>(function_init)},
    {Py_tp_dealloc, reinterpret_cast<void *>(function_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void *>(function_traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(function_clear)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_members, members},
    {0, nullptr},
};

PyType_Spec spec = {"theano.loader._loader.Function", sizeof(FunctionObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

} // namespace

Program *function_program(PyObject *function) { return as_function(function)->program; }
Frame *function_take_frame(PyObject *function) { return take_frame(as_function(function)); }
void function_give_frame(PyObject *function, Frame *frame) { give_frame(as_function(function), frame); }

PyObject *function_type() {
    if (!type_object) type_object = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
    return Py_XNewRef(reinterpret_cast<PyObject *>(type_object));
}

PyObject *enable_vectorcall(PyObject *cls) {
    auto *type = reinterpret_cast<PyTypeObject *>(cls);
    if (!PyType_Check(cls) || !PyType_IsSubtype(type, type_object)) {
        PyErr_SetString(PyExc_TypeError, "enable_vectorcall takes a subclass of Function");
        return nullptr;
    }
    if (type->tp_call != PyVectorcall_Call) {
        PyErr_Format(PyExc_TypeError, "%s defines __call__: calls must go through it", type->tp_name);
        return nullptr;
    }
    /* Python 3.12 lets heap types inherit this; 3.11 does not, and an instance call then packs a tuple. */
    type->tp_vectorcall_offset = type_object->tp_vectorcall_offset;
    type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    return Py_NewRef(cls);
}

} // namespace theano
