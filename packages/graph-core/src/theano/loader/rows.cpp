/* A program run once for each row of some arrays, results stacked: no Python object is made per row.
 *
 * A row is bound as a window on the array that holds it, what stays the same is bound as in any call, and what the
 * program computes is copied into its place among the rows of a result, which the first row gives its shape. Between rows the
 * frame is cleaned as it is between calls, so that memory is used again.
 */
#include "core.h"

#include <cstring>

namespace theano {
namespace {

int complain(PyObject *type, const char *text) {
    PyErr_SetString(type, text);
    return -1;
}

/* Is `value` an array of rows, each of which is what the slot takes? */
bool holds_rows(const SlotInfo *info, PyObject *value, int64_t n) {
    if (!info->has_spec || info->scalar || !PyArray_CheckExact(value)) return false;
    auto *array = reinterpret_cast<PyArrayObject *>(value);
    const int number = PyArray_TYPE(array);
    if (number >= kNpyTypes || dtype_of_npy[number] != info->dtype || PyArray_NDIM(array) != info->ndim + 1) return false;
    if (!PyArray_ISALIGNED(array) || !PyArray_ISNOTSWAPPED(array) || PyArray_DIM(array, 0) < n) return false;
    for (int d = 0; d < info->ndim; ++d) {
        if ((info->ones >> d & 1) && PyArray_DIM(array, d + 1) != 1) return false;
    }
    return true;
}

/* Like an argument of a call: no reference is taken, and the next row's binding takes its place. */
void bind_row(Frame *frame, Slot *slot, PyArrayObject *rows, int64_t i) {
    int64_t elements = 1;
    for (int d = 0; d < slot->buf.ndim; ++d) {
        elements *= slot->buf.shape[d] = PyArray_DIM(rows, d + 1);
        slot->buf.strides[d] = PyArray_STRIDE(rows, d + 1);
    }
    slot_count(frame, slot, elements);
    slot->buf.data = static_cast<char *>(PyArray_DATA(rows)) + i * PyArray_STRIDE(rows, 0);
    slot->memory = MEM_ARRAY;
    slot->fresh = slot->laid = slot->copied = false;
    slot->borrowed = slot->readonly = true;
    slot->array = reinterpret_cast<PyObject *>(rows);
}

int bind_all(Frame *frame, int64_t moving, PyObject *values, int64_t i) {
    const Program &program = *frame->program;
    for (size_t k = 0; k < program.inputs.size(); ++k) {
        Slot *slot = frame->slots + program.inputs[k].slot;
        PyObject *value = PyTuple_GET_ITEM(values, Py_ssize_t(k));
        if (int64_t(k) < moving) {
            bind_row(frame, slot, reinterpret_cast<PyArrayObject *>(value), i);
        } else if (!bind_borrowed(frame, slot, value, false)) {
            /* also where only Python reads it: what an earlier call bound there is gone */
            const int status = slot->info->has_spec ? bind_value(frame, slot, value, false) : bind_object(frame, slot, value);
            if (status < 0) return -1;
        }
    }
    return bind_shared(frame);
}

void copy_elements(char *to, const char *from, const int64_t *shape, const int64_t *strides, int ndim, int64_t itemsize) {
    if (ndim == 0) {
        std::memcpy(to, from, size_t(itemsize));
    } else if (ndim == 1) {
        th_move(to, 0, itemsize, from, 0, strides[0], 1, shape[0], itemsize);
    } else if (ndim == 2) {
        th_move(to, shape[1] * itemsize, itemsize, from, strides[0], strides[1], shape[0], shape[1], itemsize);
    } else {
        int64_t below = itemsize;
        for (int d = 1; d < ndim; ++d) below *= shape[d];
        for (int64_t i = 0; i < shape[0]; ++i) copy_elements(to + i * below, from + i * strides[0], shape + 1, strides + 1, ndim - 1, itemsize);
    }
}

PyObject *new_rows(const Slot *slot, int64_t n) {
    npy_intp shape[TH_MAX_NDIM + 1] = {npy_intp(n)};
    if (slot->buf.ndim >= TH_MAX_NDIM) {
        PyErr_SetString(PyExc_ValueError, "rows of so many dimensions cannot be stacked");
        return nullptr;
    }
    for (int d = 0; d < slot->buf.ndim; ++d) shape[d + 1] = slot->buf.shape[d];
    Py_INCREF(slot->info->descr);
    return PyArray_NewFromDescr(&PyArray_Type, slot->info->descr, slot->buf.ndim + 1, shape, nullptr, nullptr, 0, nullptr);
}

/* Copies one result into its place. */
int keep_row(Frame *frame, Slot *slot, PyObject *list, size_t k, int64_t i, int64_t n) {
    /* What an op in Python computed for nobody but us has no window yet. */
    if (slot->memory == MEM_NONE && slot->object && bind_value(frame, slot, slot->object, false) < 0) return -1;
    if (slot->memory == MEM_NONE || !slot->buf.data) return complain(PyExc_RuntimeError, "rows: an output was not computed");
    if (i == 0) {
        PyObject *made = new_rows(slot, n);
        if (!made) return -1;
        PyList_SET_ITEM(list, Py_ssize_t(k), made);
    }
    auto *rows = reinterpret_cast<PyArrayObject *>(PyList_GET_ITEM(list, Py_ssize_t(k)));
    for (int d = 0; d < slot->buf.ndim; ++d) {
        if (PyArray_DIM(rows, d + 1) == slot->buf.shape[d]) continue;
        PyErr_Format(PyExc_ValueError, "row %zd of output %zu has length %zd along axis %d, but the rows before it have %zd",
                     Py_ssize_t(i), k, Py_ssize_t(slot->buf.shape[d]), d, Py_ssize_t(PyArray_DIM(rows, d + 1)));
        return -1;
    }
    if (PyArray_SIZE(rows) == 0) return 0;
    char *to = static_cast<char *>(PyArray_DATA(rows)) + i * PyArray_STRIDE(rows, 0);
    copy_elements(to, slot->buf.data, slot->buf.shape, slot->buf.strides, slot->buf.ndim, slot->info->itemsize);
    return 0;
}

int run_all(Frame *frame, int64_t n, int64_t moving, PyObject *values, PyObject *list) {
    const Program &program = *frame->program;
    for (int64_t i = 0; i < n; ++i) {
        if (bind_all(frame, moving, values, i) < 0 || machine_run(frame) < 0) return -1;
        for (size_t k = 0; k < program.outputs.size(); ++k) {
            if (keep_row(frame, frame->slots + program.outputs[k], list, k, i, n) < 0) return -1;
        }
        frame_end_call(frame);
        if ((i & 255) == 255 && PyErr_CheckSignals() < 0) return -1;
    }
    return 0;
}

int check(const Program &program, int64_t n, int64_t moving, PyObject *values) {
    if (n < 1) return complain(PyExc_ValueError, "rows: there must be one row at least");
    if (!program.updates.empty()) return complain(PyExc_ValueError, "rows: the program has updates");
    if (size_t(PyTuple_GET_SIZE(values)) != program.inputs.size() || moving < 0 || moving > PyTuple_GET_SIZE(values))
        return complain(PyExc_TypeError, "rows: there must be one value for each input");
    for (int32_t k : program.outputs) {
        if (!program.slots[k].has_spec || program.slots[k].scalar) return complain(PyExc_TypeError, "rows: an output is no array");
    }
    for (int64_t k = 0; k < moving; ++k) {
        const Input &input = program.inputs[size_t(k)];
        if (input.writable || !holds_rows(&program.slots[input.slot], PyTuple_GET_ITEM(values, Py_ssize_t(k)), n)) {
            PyErr_Format(PyExc_TypeError, "rows: value %zd is not an array of %zd rows that input %zd takes", Py_ssize_t(k), Py_ssize_t(n), Py_ssize_t(k));
            return -1;
        }
    }
    return 0;
}

} // namespace

PyObject *function_rows(PyObject *object, PyObject *args) {
    Py_ssize_t n, moving;
    PyObject *values;
    if (!PyArg_ParseTuple(args, "nnO!:rows", &n, &moving, &PyTuple_Type, &values)) return nullptr;
    Program *program = function_program(object);
    if (!program) {
        PyErr_SetString(PyExc_TypeError, "this Function was never initialised");
        return nullptr;
    }
    if (check(*program, n, moving, values) < 0) return nullptr;
    PyObject *list = PyList_New(Py_ssize_t(program->outputs.size()));
    Frame *frame = list ? function_take_frame(object) : nullptr;
    if (!frame) {
        Py_XDECREF(list);
        return nullptr;
    }
    Profile &profile = program->profile;
    if (profile.on) profile.begin();
    const int64_t start = profile.on ? now_ticks() : 0;
    frame->timed = profile.on; /* all rows are one call */
    if (run_all(frame, n, moving, values, list) < 0) Py_CLEAR(list);
    if (profile.on) profile.end_timed(start, frame->spent, frame->looks);
    function_give_frame(object, frame);
    return list;
}

} // namespace theano
