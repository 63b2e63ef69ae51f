/* Aliasing of arguments: what a program overwrites or stores shares memory with nothing else that it reads or keeps.
 *
 * What a call may overwrite was decided when the program was made: two variables of it were two places in memory. The
 * caller may have given one array for both, or overlapping parts of one, or the array that a shared variable or a
 * default holds. Then what is overwritten is a copy. So is what an update stores as it came: two shared variables never
 * share memory. Programs without such an input skip all of this.
 *
 * Arrays are compared by the ranges of bytes that they span. Those that meet, and values that are no arrays, are
 * shown to the hook `separate`, which knows the types, and returns a copy where memory is really shared.
 */
#include "core.h"

#include <algorithm>
#include <cstdlib>

namespace theano {
namespace {

struct ByteRange {
    const char *low, *high; /* high: behind the last byte */
};

ByteRange byte_range_of(const char *data, int ndim, const int64_t *shape, const int64_t *strides, int64_t itemsize) {
    ByteRange found{data, data + itemsize};
    for (int d = 0; d < ndim; ++d) {
        if (shape[d] == 0) return {data, data};
        const int64_t way = (shape[d] - 1) * strides[d];
        (way < 0 ? found.low : found.high) += way;
    }
    return found;
}

inline bool meet(const ByteRange &one, const ByteRange &other) { return one.low < other.high && other.low < one.high; }

ByteRange byte_range_of(const Slot *slot) {
    return byte_range_of(slot->buf.data, slot->buf.ndim, slot->buf.shape, slot->buf.strides, slot->buf.itemsize);
}

ByteRange byte_range_of(PyArrayObject *array) {
    return byte_range_of(PyArray_BYTES(array), PyArray_NDIM(array), reinterpret_cast<const int64_t *>(PyArray_DIMS(array)),
                      reinterpret_cast<const int64_t *>(PyArray_STRIDES(array)), PyArray_ITEMSIZE(array));
}

bool is_number(PyObject *value) {
    return value == Py_None || PyFloat_Check(value) || PyLong_Check(value) || PyComplex_Check(value) || PyArray_IsScalar(value, Generic);
}

PyObject *value_of(const Slot *slot) { return slot->memory == MEM_ARRAY ? slot->array : slot->object; }

/* What one input might share memory with: a list of (slot, value), made when there is something to put in. */
class Suspects {
  public:
    Suspects(Frame *frame, int32_t number) : frame_(frame), own_(frame->slots + number), number_(number), is_array_(own_->memory == MEM_ARRAY) {
        if (is_array_) mine_ = byte_range_of(own_);
    }
    ~Suspects() { Py_XDECREF(list_); }
    Suspects(const Suspects &) = delete;
    Suspects &operator=(const Suspects &) = delete;

    /* Null if the list is empty, or with an error set. Borrowed. */
    PyObject *find() {
        const Program &program = *frame_->program;
        if (is_array_ && lies_upon_itself(own_)) add(number_, own_->array);
        for (int32_t k : program.fixed) {
            const Slot *slot = frame_->slots + k;
            if (k == number_ || slot->memory == MEM_CELL) continue;
            if (is_array_ && slot->memory == MEM_ARRAY) {
                if (TH_UNLIKELY(meet(mine_, byte_range_of(slot)))) add(k, slot->array);
            } else {
                consider(k, value_of(slot));
            }
        }
        for (PyObject *cell : program.stored) {
            if (PyList_GET_SIZE(cell) > 0) consider(number_, PyList_GET_ITEM(cell, 0));
        }
        return list_;
    }

    bool arrays() const { return arrays_; }

  private:
    void consider(int32_t slot, PyObject *value) {
        if (!value || is_number(value)) return;
        if (!is_array_ || !PyArray_Check(value)) {
            add(slot, value);
        } else if (meet(mine_, byte_range_of(reinterpret_cast<PyArrayObject *>(value)))) {
            add(slot, value);
        }
    }

    void add(int32_t slot, PyObject *value) {
        arrays_ |= is_array_ && PyArray_Check(value);
        if (PyErr_Occurred() || (!list_ && !(list_ = PyList_New(0)))) return;
        PyObject *pair = Py_BuildValue("(iO)", int(slot), value);
        if (pair) PyList_Append(list_, pair);
        Py_XDECREF(pair);
    }

    Frame *frame_;
    const Slot *own_;
    int32_t number_;
    bool is_array_, arrays_ = false;
    ByteRange mine_{nullptr, nullptr};
    PyObject *list_ = nullptr;
};

int bind_copy(Frame *frame, Slot *slot, PyObject *copy) {
    slot_release(frame, slot);
    return slot->info->has_spec ? bind_value(frame, slot, copy, true) : bind_object(frame, slot, copy);
}

/* Asks the hook about what was found, and does as it says. */
int ask(Frame *frame, int32_t number, const Suspects &suspects, PyObject *list) {
    Slot *slot = frame->slots + number;
    PyObject *hook = frame->program->separate;
    if (!hook) return suspects.arrays() ? make_private(frame, slot) : 0;
    PyObject *copy = PyObject_CallFunction(hook, "iOO", int(number), value_of(slot), list);
    if (!copy) return -1;
    const int status = copy == Py_None ? 0 : bind_copy(frame, slot, copy);
    Py_DECREF(copy);
    return status;
}

} // namespace

/* False is certain; and no part of an array that does not do so does. */
bool overlaps_itself(const Slot *slot) {
    if (slot->elements < 2) return false;
    int order[TH_MAX_NDIM], n = 0;
    const int64_t *strides = slot->buf.strides;
    for (int d = 0; d < slot->buf.ndim; ++d) {
        if (slot->buf.shape[d] > 1) order[n++] = d;
    }
    std::sort(order, order + n, [&](int a, int b) { return std::abs(strides[a]) < std::abs(strides[b]); });
    int64_t below = slot->buf.itemsize;
    for (int k = 0; k < n; ++k) {
        const int64_t step = std::abs(strides[order[k]]);
        if (step < below) return true;
        below += (slot->buf.shape[order[k]] - 1) * step;
    }
    return false;
}

int set_apart(Frame *frame) {
    for (int32_t k : frame->program->destroyed) {
        const Slot *slot = frame->slots + k;
        if (!value_of(slot) || slot->memory == MEM_CELL || (slot->memory == MEM_ARRAY && slot->elements == 0)) continue;
        Suspects suspects(frame, k);
        PyObject *list = suspects.find();
        if (TH_LIKELY(!list && !PyErr_Occurred())) continue;
        if (PyErr_Occurred() || ask(frame, k, suspects, list) < 0) return -1;
    }
    return 0;
}

} // namespace theano
