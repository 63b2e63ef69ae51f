/* Inputs that the program overwrites, apart from all else that it reads or keeps.
 *
 * What a call may overwrite was decided when the program was made: two variables of it were two places in memory. The
 * caller may have given one array for both, or overlapping parts of one, or the array that a shared variable or a
 * default holds. Then what is overwritten is a copy. Where no input is overwritten, nothing of this is ever asked.
 *
 * Arrays are compared by the stretches of memory that they span. Those that meet, and values that are no arrays, are
 * shown to the hook `separate`, which knows the types, and returns a copy where memory is really shared.
 */
#include "core.h"

#include <algorithm>

namespace theano {
namespace {

struct Stretch {
    const char *low, *high; /* high: behind the last byte */
};

Stretch stretch_of(const char *data, int ndim, const int64_t *shape, const int64_t *strides, int64_t itemsize) {
    Stretch found{data, data + itemsize};
    for (int d = 0; d < ndim; ++d) {
        if (shape[d] == 0) return {data, data};
        const int64_t way = (shape[d] - 1) * strides[d];
        (way < 0 ? found.low : found.high) += way;
    }
    return found;
}

bool meet(const Slot *slot, PyArrayObject *other) {
    const Stretch mine = stretch_of(slot->buf.data, slot->buf.ndim, slot->buf.shape, slot->buf.strides, slot->buf.itemsize);
    const Stretch its = stretch_of(PyArray_BYTES(other), PyArray_NDIM(other), reinterpret_cast<const int64_t *>(PyArray_DIMS(other)),
                                   reinterpret_cast<const int64_t *>(PyArray_STRIDES(other)), PyArray_ITEMSIZE(other));
    return mine.low < its.high && its.low < mine.high;
}

bool is_number(PyObject *value) {
    return value == Py_None || PyFloat_Check(value) || PyLong_Check(value) || PyComplex_Check(value) || PyArray_IsScalar(value, Generic);
}

PyObject *value_of(const Slot *slot) { return slot->memory == MEM_ARRAY ? slot->array : slot->object; }

/* What an input might share memory with: a list of (slot, value), made when there is something to put in. */
class Suspects {
  public:
    explicit Suspects(const Slot *own) : own_(own) {}
    ~Suspects() { Py_XDECREF(list_); }
    Suspects(const Suspects &) = delete;
    Suspects &operator=(const Suspects &) = delete;

    void consider(int32_t slot, PyObject *value) {
        if (!value || is_number(value)) return;
        if (own_->memory == MEM_ARRAY && PyArray_Check(value)) {
            if (!meet(own_, reinterpret_cast<PyArrayObject *>(value))) return;
            arrays_ = true;
        }
        add(slot, value);
    }

    void add(int32_t slot, PyObject *value) {
        if (!list_ && !(list_ = PyList_New(0))) failed_ = true;
        PyObject *pair = failed_ ? nullptr : Py_BuildValue("(iO)", int(slot), value);
        failed_ |= !pair || PyList_Append(list_, pair) < 0;
        Py_XDECREF(pair);
    }

    PyObject *list() const { return list_; } /* borrowed; NULL: there are none */
    bool arrays() const { return arrays_; }
    bool failed() const { return failed_; }

  private:
    const Slot *own_;
    PyObject *list_ = nullptr;
    bool arrays_ = false, failed_ = false;
};

void collect(Frame *frame, int32_t own, Suspects &suspects) {
    const Program &program = *frame->program;
    const auto cell = [&](int32_t slot, PyObject *list) {
        if (list && PyList_GET_SIZE(list) > 0) suspects.consider(slot, PyList_GET_ITEM(list, 0));
    };
    if (lies_upon_itself(frame->slots + own)) suspects.add(own, value_of(frame->slots + own));
    for (const Input &input : program.inputs) {
        if (input.slot != own) suspects.consider(input.slot, value_of(frame->slots + input.slot));
        cell(input.slot, input.default_cell);
    }
    for (int32_t k : program.shared) suspects.consider(k, value_of(frame->slots + k));
    for (int32_t k : program.constants) suspects.consider(k, value_of(frame->slots + k));
    for (const Update &update : program.updates) cell(own, update.cell);
}

int bind_copy(Frame *frame, Slot *slot, PyObject *copy) {
    slot_release(frame, slot);
    return slot->info->has_spec ? bind_value(frame, slot, copy, true) : bind_object(frame, slot, copy);
}

} // namespace

bool lies_upon_itself(const Slot *slot) {
    if (slot->memory != MEM_ARRAY || slot->elements < 2 || PyArray_ISONESEGMENT(reinterpret_cast<PyArrayObject *>(slot->array))) return false;
    int order[TH_MAX_NDIM], n = 0;
    const int64_t *strides = slot->buf.strides;
    for (int d = 0; d < slot->buf.ndim; ++d) {
        if (slot->buf.shape[d] > 1) order[n++] = d;
    }
    std::sort(order, order + n, [&](int a, int b) { return std::abs(strides[a]) < std::abs(strides[b]); });
    int64_t below = slot->buf.itemsize;
    for (int k = 0; k < n; ++k) {
        const int64_t step = std::abs(strides[order[k]]);
        if (step < below) return true; /* or may: no slice of an array that does not is like this */
        below += (slot->buf.shape[order[k]] - 1) * step;
    }
    return false;
}

int set_apart(Frame *frame) {
    const Program &program = *frame->program;
    for (int32_t k : program.destroyed) {
        Slot *slot = frame->slots + k;
        if (!value_of(slot) || slot->memory == MEM_CELL || (slot->memory == MEM_ARRAY && slot->elements == 0)) continue;
        Suspects suspects(slot);
        collect(frame, k, suspects);
        if (suspects.failed()) return -1;
        if (TH_LIKELY(!suspects.list())) continue;
        if (!program.separate) {
            if (suspects.arrays() || lies_upon_itself(slot)) {
                if (make_private(frame, slot) < 0) return -1;
            }
            continue;
        }
        PyObject *copy = PyObject_CallFunction(program.separate, "iOO", int(k), value_of(slot), suspects.list());
        if (!copy) return -1;
        const int status = copy == Py_None ? 0 : bind_copy(frame, slot, copy);
        Py_DECREF(copy);
        if (status < 0) return -1;
    }
    return 0;
}

} // namespace theano
