/* A program run once for each step of a loop: no Python object is made per step.
 *
 * The program's inputs are, in this order, rows of sequences, earlier rows of states, carried values, and what stays the
 * same; its outputs are the next row of each state, rows of results, the next carried values, and perhaps whether to stop.
 *
 * A row is bound as a window on the array that holds it. States are written into a buffer that the caller has made, in
 * which their first rows are stored. Results are stacked in arrays that the first step gives their shape. Both are rings where
 * they have fewer rows than steps are run. A carried value has two arrays, which take turns; where the program
 * overwrites its input, one is enough. From the second step on, instructions write rows in their final place
 * (`Row::aim`), if all of them are compiled: an op in Python could keep an array on memory that is written again.
 * Between steps the frame is cleaned as it is between calls, so that memory is used again.
 *
 * Arrays may be in the memory of a device: windows are bound, results written and copies made there.
 */
#include "core.h"

#include <chrono>
#include <cstring>
#include <new>
#include <utility>

namespace theano {
namespace {

constexpr int64_t kLookInterval = 64;       /* steps between looks at the clock */
constexpr std::chrono::milliseconds kYield(5); /* between looks at signals, and chances for other threads */
constexpr std::chrono::microseconds kBrief(20);  /* a step below this keeps the GIL */
/* Bounds of steps and bytes from which a matrix that each step reads is made C-contiguous, aligned to a line of the cache. */
constexpr int64_t kWorthLaying = 16, kLine = 64;
constexpr npy_intp kLeastLaid = 1 << 10, kMostLaid = 1 << 22;

int complain(PyObject *type, const char *text) {
    PyErr_SetString(type, text);
    return -1;
}

char *data_of(PyArrayObject *array) { return static_cast<char *>(PyArray_DATA(array)); }

/* An array of the host's or of a device's, of which rows are read or written. */
struct Array {
    PyObject *object = nullptr;
    DeviceView there = {}; /* without a block: it is NumPy's */

    explicit Array(PyObject *value) : object(value), there(value ? device_view(value) : DeviceView{}) {}
    PyArrayObject *here() const { return reinterpret_cast<PyArrayObject *>(object); }
    char *data() const { return there.block ? there.data : data_of(here()); }
    int64_t length(int d) const { return there.block ? there.shape[d] : PyArray_DIM(here(), d); }
    int64_t stride(int d) const { return there.block ? there.strides[d] : PyArray_STRIDE(here(), d); }
    int ndim() const { return there.block ? there.ndim : PyArray_NDIM(here()); }
};

/* ----------------------------------------------------------------------- copies */

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

/* What a slot holds to a place in its memory, element after element. -1: Python error set. */
int copy_to(char *to, const Slot *slot) {
    if (!slot->elements) return 0;
    if (!slot->info->device) {
        copy_elements(to, slot->buf.data, slot->buf.shape, slot->buf.strides, slot->buf.ndim, slot->info->itemsize);
        return 0;
    }
    Block place{{1}, to, size_t(slot->elements * slot->info->itemsize), slot->info->device};
    return device_pack(&place, &slot->buf) < 0 ? complain(PyExc_RuntimeError, "loop: the device could not copy a row") : 0;
}

/* A new array for what a slot holds; for as many of it as `rows`, if that is not negative. */
PyObject *new_like(const Slot *slot, int64_t rows) {
    int64_t shape[TH_MAX_NDIM + 1], elements = slot->elements * (rows >= 0 ? rows : 1);
    int ndim = 0;
    if (rows >= 0) shape[ndim++] = rows;
    if (slot->buf.ndim + ndim > TH_MAX_NDIM) return complain(PyExc_ValueError, "rows have too many dimensions to be stacked"), nullptr;
    for (int d = 0; d < slot->buf.ndim; ++d) shape[ndim++] = slot->buf.shape[d];
    if (slot->info->device) return new_device_array(slot->info->device, slot->info->dtype, ndim, shape);
    return new_array(slot->info->descr, ndim, shape, elements);
}

/* What all steps read: `value`, or a copy that is quicker to read; new reference. */
PyObject *laid(PyObject *value, int64_t steps) {
    auto *array = reinterpret_cast<PyArrayObject *>(value);
    if (steps < kWorthLaying || !PyArray_CheckExact(value) || PyArray_NDIM(array) != 2 || !PyArray_ISNUMBER(array)) return Py_NewRef(value);
    const npy_intp bytes = PyArray_NBYTES(array);
    const bool lies_well = PyArray_IS_C_CONTIGUOUS(array) && reinterpret_cast<uintptr_t>(data_of(array)) % kLine == 0;
    if (lies_well || bytes < kLeastLaid || bytes > kMostLaid || !PyArray_ISBEHAVED_RO(array)) return Py_NewRef(value);
    npy_intp space = bytes + kLine;
    PyObject *memory = PyArray_SimpleNew(1, &space, NPY_UINT8);
    if (!memory) return nullptr;
    char *data = data_of(reinterpret_cast<PyArrayObject *>(memory));
    data += (kLine - int64_t(reinterpret_cast<uintptr_t>(data) % kLine)) % kLine;
    Py_INCREF(PyArray_DESCR(array));
    PyObject *copy = PyArray_NewFromDescr(&PyArray_Type, PyArray_DESCR(array), 2, PyArray_DIMS(array), nullptr, data, NPY_ARRAY_CARRAY, nullptr);
    if (!copy || PyArray_SetBaseObject(reinterpret_cast<PyArrayObject *>(copy), memory) < 0) { /* takes the memory in any case */
        if (!copy) Py_DECREF(memory);
        Py_XDECREF(copy);
        return nullptr;
    }
    copy_elements(data, data_of(array), reinterpret_cast<const int64_t *>(PyArray_DIMS(array)),
                  reinterpret_cast<const int64_t *>(PyArray_STRIDES(array)), 2, PyArray_ITEMSIZE(array));
    return copy;
}

/* An output of an op in Python that only the loop reads has no window yet. */
int see(Frame *frame, Slot *slot) {
    if (slot->memory == MEM_NONE && slot->object && bind_value(frame, slot, slot->object, false) < 0) return -1;
    if (slot->memory == MEM_NONE || !slot->buf.data) return complain(PyExc_RuntimeError, "loop: an output was not computed");
    return 0;
}

/* -------------------------------------------------------------------- windows */

/* Of memory that the loop owns: a slot that has it as its own block does not free it. */
void keep_memory(const th_device *, char *, size_t) {}
const th_device windows = {nullptr, keep_memory, nullptr, nullptr, nullptr};

/* An input that is one row of an array. */
struct Window {
    Slot *slot;
    Array array;
    int64_t row, rows; /* which one, of how many: the first follows the last */

    char *place() const { return array.data() + row * array.stride(0); }
    void advance() { row = row + 1 == rows ? 0 : row + 1; }

    /* Like an argument of a call: no reference is taken, and the next row's binding takes its place. What an earlier
     * loop has left may be of another array at the same address: the first row is bound in full. */
    void bind(Frame *frame, bool first) const {
        if (TH_LIKELY(!first && slot->borrowed && slot->array == array.object && !slot->object)) {
            slot->buf.data = place();
            return;
        }
        int64_t elements = 1;
        for (int d = 0; d < slot->buf.ndim; ++d) {
            elements *= slot->buf.shape[d] = array.length(d + 1);
            slot->buf.strides[d] = array.stride(d + 1);
        }
        if (array.there.block) return bind_device_window(frame, slot, array.there.block, place());
        slot_count(frame, slot, elements);
        slot->buf.data = place();
        slot->memory = MEM_ARRAY;
        slot->fresh = slot->laid = slot->copied = false;
        slot->borrowed = slot->readonly = true;
        slot->array = array.object;
    }
};

/* An output, and the place where it is stored after the step. */
struct Row {
    Slot *slot;
    Slot *made = nullptr; /* the slot for which an instruction asks memory, once it is aimed at the place */

    /* After a first step: can the instruction that computes this write it into memory of ours? */
    void find(const Frame *frame) {
        Slot *base = slot->info->base < 0 ? slot : frame->slots + slot->info->base;
        /* On a device a block of its own, which no plan gives to others; on the host an array, or the slot itself. */
        const bool there = slot->info->device != nullptr;
        const bool own = there ? base->memory == MEM_OWN && base->info->pool < 0 : base->memory == MEM_ARRAY && base->fresh;
        const bool whole = own && base->buf.data == slot->buf.data && base->elements == slot->elements &&
                           th_is_packed(&base->buf) && th_is_packed(&slot->buf);
        if (whole && (slot->buf.ndim || there) && slot->elements) made = base;
    }

    /* Let the next step compute it at `place`. */
    void aim(char *place) const {
        if (!made->own || made->own->device != &windows) {
            Block *block = new (std::nothrow) Block{{1}, place, size_t(made->elements * made->info->itemsize), &windows};
            if (!block) return; /* it is copied, then */
            if (made->own) block_release(made->own);
            made->own = block;
        }
        made->own->data = place;
        made->buf.data = place;
        made->memory = MEM_OWN;
    }

    bool lies_at(const char *place) const { return slot->buf.data == place && th_is_packed(&slot->buf); }

    ~Row() {
        if (!made || !made->own || made->own->device != &windows) return;
        block_release(made->own);
        made->own = nullptr;
        made->memory = MEM_NONE;
        made->buf.data = nullptr;
    }
};

/* Rows of an output in an array: a state in its buffer, or a result. */
struct Stack {
    Row out;
    Array array;          /* of a result: none before the first step; then strong */
    int64_t row, rows;    /* where the next one goes, and how many there are */
    Py_ssize_t number;    /* of the output, for messages */

    char *place() const { return array.data() + row * array.stride(0); }

    int keep(Frame *frame, int64_t step) {
        Slot *slot = out.slot;
        if (see(frame, slot) < 0) return -1;
        if (TH_UNLIKELY(!array.object)) {
            array = Array(new_like(slot, rows));
            if (!array.object) return -1;
        }
        for (int d = 0; d < slot->buf.ndim; ++d) {
            if (array.length(d + 1) == slot->buf.shape[d]) continue;
            PyErr_Format(PyExc_ValueError, "row %zd of output %zd has length %zd along axis %d, but %s %zd", Py_ssize_t(step),
                         number, Py_ssize_t(slot->buf.shape[d]), d,
                         step ? "the rows before it have" : "what it begins with (outputs_info) has",
                         Py_ssize_t(array.length(d + 1)));
            return -1;
        }
        if (!out.lies_at(place()) && copy_to(place(), slot) < 0) return -1;
        row = row + 1 == rows ? 0 : row + 1;
        return 0;
    }
};

/* A value that each step replaces. */
struct Carried {
    Slot *in;
    Row out;
    PyObject *now = nullptr, *next = nullptr; /* strong */

    bool is_array() const { return out.slot->info->has_spec; }
    Array array() const { return Array(now); }
    Array spare() const { return Array(next); }

    bool fits(const Array &array) const {
        const Slot *slot = out.slot;
        bool same = array.object && array.ndim() == slot->buf.ndim;
        for (int d = 0; same && d < slot->buf.ndim; ++d) same = array.length(d) == slot->buf.shape[d];
        return same;
    }

    int keep(Frame *frame) {
        if (!is_array()) {
            PyObject *value = box(frame, out.slot);
            if (!value) return -1;
            Py_XSETREF(now, Py_NewRef(value));
            return 0;
        }
        if (see(frame, out.slot) < 0) return -1;
        if (fits(array()) && out.lies_at(array().data())) return 0; /* it was overwritten */
        if (!fits(spare())) { /* the first step; or the value grows */
            out.made = nullptr;
            Py_XSETREF(next, new_like(out.slot, -1));
            if (!next) return -1;
        }
        if (!out.lies_at(spare().data()) && copy_to(spare().data(), out.slot) < 0) return -1;
        std::swap(now, next);
        return 0;
    }

    ~Carried() {
        Py_XDECREF(now);
        Py_XDECREF(next);
    }
};

/* ------------------------------------------------------------------- the loop */

struct Loop {
    Frame *frame;
    std::vector<PyObject *> fixed; /* strong */
    size_t first_fixed = 0;        /* the number of that input */
    std::vector<Window> windows;
    std::vector<Stack> states, results;
    std::vector<Carried> carried;
    Slot *until = nullptr;
    bool compiled = true; /* whether all instructions are */

    ~Loop() {
        for (Stack &each : results) Py_XDECREF(each.array.object);
        for (PyObject *each : fixed) Py_DECREF(each);
    }

    int bind(int64_t step) {
        const Program &program = *frame->program;
        for (const Window &each : windows) each.bind(frame, step == 0);
        for (const Carried &each : carried) {
            if (each.is_array() ? !bind_borrowed(frame, each.in, each.now, true) && bind_value(frame, each.in, each.now, true) < 0
                                : bind_object(frame, each.in, each.now) < 0)
                return -1;
        }
        for (size_t k = first_fixed; k < program.inputs.size(); ++k) {
            Slot *slot = frame->slots + program.inputs[k].slot;
            PyObject *value = fixed[k - first_fixed];
            if (step && slot->borrowed && slot->array == value && !slot->object) continue; /* as the last step left it */
            if (bind_borrowed(frame, slot, value, false)) continue;
            /* also where only Python reads it: what an earlier call bound there is gone */
            const int status = slot->info->has_spec ? bind_value(frame, slot, value, false) : bind_object(frame, slot, value);
            if (status < 0) return -1;
        }
        return bind_shared(frame);
    }

    /* From the first step it is known what asks for memory. */
    void find_makers() {
        if (!compiled) return;
        for (Stack &each : states) each.out.find(frame);
        for (Stack &each : results) each.out.find(frame);
        for (Carried &each : carried) {
            if (each.is_array()) each.out.find(frame);
        }
    }

    void aim() const {
        for (const Stack &each : states) {
            if (each.out.made) each.out.aim(each.place());
        }
        for (const Stack &each : results) {
            if (each.out.made) each.out.aim(each.place());
        }
        for (const Carried &each : carried) {
            if (each.out.made && each.next) each.out.aim(each.spare().data());
        }
    }

    int keep(int64_t step) {
        if (step == 0) find_makers();
        for (Stack &each : states) {
            if (each.keep(frame, step) < 0) return -1;
        }
        for (Stack &each : results) {
            if (each.keep(frame, step) < 0) return -1;
        }
        for (Carried &each : carried) {
            if (each.keep(frame) < 0) return -1;
        }
        for (Window &each : windows) each.advance();
        return 0;
    }

    /* 1: this was the last step; 0: it was not; -1: Python error set. */
    int stops() const {
        if (!until) return 0;
        if (see(frame, until) < 0) return -1;
        for (int64_t k = 0; k < until->info->itemsize; ++k) {
            if (until->buf.data[k]) return 1;
        }
        return 0;
    }

    /* How many steps were run; -1: Python error set, and `failed` says in which. */
    int64_t run(int64_t n, int64_t *failed) {
        using clock = std::chrono::steady_clock;
        auto yielded = clock::now(), looked = yielded;
        for (int64_t step = 0; step < n; ++step) {
            *failed = step;
            if (step) aim();
            if (bind(step) < 0 || machine_run(frame) < 0) return -1;
            const int stop = stops();
            if (stop < 0 || keep(step) < 0) return -1;
            frame_end_call(frame);
            if (stop) return step + 1;
            /* The first step makes things that all others find. */
            if (step == 0) looked = clock::now();
            if (step != 1 && (step & (kLookInterval - 1)) != kLookInterval - 1) continue;
            const auto now = clock::now();
            frame->brief = now - looked < (step == 1 ? 1 : kLookInterval) * kBrief;
            looked = now;
            if (now - yielded < kYield) continue;
            yielded = now;
            if (PyErr_CheckSignals() < 0) return -1;
            Py_BEGIN_ALLOW_THREADS;
            Py_END_ALLOW_THREADS;
        }
        return n;
    }
};

/* ------------------------------------------------------------- checks of arrays */

/* Are the elements of `array` what the slot takes, in the memory where it takes them? */
bool holds_elements(const SlotInfo *info, const Array &array) {
    if (!info->has_spec || info->scalar) return false;
    if (array.there.block) return array.there.block->device == info->device && array.there.dtype == info->dtype;
    if (info->device || !PyArray_CheckExact(array.object)) return false;
    const int number = PyArray_TYPE(array.here());
    return number < kNpyTypes && dtype_of_npy[number] == info->dtype && PyArray_ISALIGNED(array.here()) && PyArray_ISNOTSWAPPED(array.here());
}

/* Is `array` one of at least that many rows, each of which is what the slot takes? */
bool holds_rows(const SlotInfo *info, const Array &array, int64_t rows) {
    if (!holds_elements(info, array) || array.ndim() != info->ndim + 1 || array.length(0) < rows) return false;
    for (int d = 0; d < info->ndim; ++d) {
        if ((info->ones >> d & 1) && array.length(d + 1) != 1) return false;
    }
    return true;
}

/* May rows be written into it, one after the other? */
bool takes_rows(const Array &array) {
    if (!array.there.block) return PyArray_IS_C_CONTIGUOUS(array.here()) && PyArray_ISWRITEABLE(array.here());
    int64_t stride = dtype_itemsize[array.there.dtype];
    for (int d = array.ndim() - 1; d >= 0; stride *= array.length(d), --d) {
        if (array.length(d) > 1 && array.stride(d) != stride) return false;
        if (array.length(d) == 0) return true;
    }
    return true;
}

struct Request {
    Py_ssize_t n;
    PyObject *sequences, *states, *carried, *fixed, *mapped;
    int until;
};

/* The inputs and outputs are taken in their order, each by what asks for it. */
struct Reader {
    Loop &loop;
    const Program &program;
    const Request &request;
    size_t input = 0, output = 0;

    Slot *next_input() { return input < program.inputs.size() ? loop.frame->slots + program.inputs[input++].slot : nullptr; }
    Slot *next_output() { return output < program.outputs.size() ? loop.frame->slots + program.outputs[output++] : nullptr; }

    int too_few(const char *what) {
        PyErr_Format(PyExc_TypeError, "loop: the program has no %s for each of what is given", what);
        return -1;
    }

    int read_window(PyObject *value, int64_t first, int64_t wanted, int64_t rows) {
        const size_t number = input;
        Slot *slot = next_input();
        if (!slot) return too_few("input");
        const Array array(value);
        if (first < 0 || program.inputs[number].writable || !holds_rows(slot->info, array, wanted)) {
            PyErr_Format(PyExc_TypeError, "loop: what is given is not an array of %zd rows that input %zu takes", Py_ssize_t(wanted), number);
            return -1;
        }
        loop.windows.push_back({slot, array, first, rows < 0 ? array.length(0) + 1 : rows});
        return 0;
    }

    int read_sequences() {
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(request.sequences); ++k) {
            PyObject *array;
            Py_ssize_t offset;
            if (!PyArg_ParseTuple(PyTuple_GET_ITEM(request.sequences, k), "On:loop", &array, &offset)) return -1;
            if (read_window(array, offset, offset + request.n, -1) < 0) return -1;
        }
        return 0;
    }

    int read_states() {
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(request.states); ++k) {
            PyObject *buffer, *taps;
            Py_ssize_t first;
            if (!PyArg_ParseTuple(PyTuple_GET_ITEM(request.states, k), "OnO!:loop", &buffer, &first, &PyTuple_Type, &taps)) return -1;
            Slot *slot = next_output();
            if (!slot) return too_few("output");
            /* The row that is written is none of those that are read. */
            const Array array(buffer);
            if (first < 0 || !holds_rows(slot->info, array, first + 1) || !takes_rows(array)) {
                PyErr_Format(PyExc_TypeError, "loop: the buffer of state %zd does not take the rows of its output", k);
                return -1;
            }
            const int64_t rows = array.length(0);
            for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(taps); ++i) {
                const Py_ssize_t tap = PyLong_AsSsize_t(PyTuple_GET_ITEM(taps, i));
                if (tap == -1 && PyErr_Occurred()) return -1;
                if (tap >= 0) return complain(PyExc_ValueError, "loop: a step sees earlier rows of a state");
                if (read_window(buffer, first + tap, first + 1, rows) < 0) return -1;
            }
            loop.states.push_back({{slot}, array, first, rows, k});
        }
        return 0;
    }

    /* What a carried value begins with, in memory of the loop's. */
    static PyObject *own_value(const Carried &each, PyObject *value) {
        if (!each.is_array()) return Py_NewRef(value);
        if (!each.in->info->device) return PyArray_FROM_OF(value, NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY);
        if (holds_elements(each.in->info, Array(value))) return packed_device_array(value);
        PyErr_SetString(PyExc_TypeError, "loop: a carried value is not an array on the device of its input");
        return nullptr;
    }

    int read_carried() {
        const auto count = size_t(PyTuple_GET_SIZE(request.carried));
        loop.carried.reserve(count);
        for (size_t k = 0; k < count; ++k) {
            Slot *in = next_input(), *out = next_output();
            if (!in || !out) return too_few(in ? "output" : "input");
            if (in->info->has_spec != out->info->has_spec || in->info->scalar || in->info->device != out->info->device)
                return complain(PyExc_TypeError, "loop: a carried value is of one type before and after a step");
            loop.carried.push_back({in, {out}});
            Carried &each = loop.carried.back();
            PyObject *value = PyTuple_GET_ITEM(request.carried, Py_ssize_t(k));
            /* the caller's value is not written over */
            each.now = own_value(each, value);
            if (!each.now) return -1;
        }
        return 0;
    }

    int read_results() {
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(request.mapped); ++k) {
            Slot *slot = next_output();
            if (!slot) return too_few("output");
            const Py_ssize_t rows = PyLong_AsSsize_t(PyTuple_GET_ITEM(request.mapped, k));
            if (rows == -1 && PyErr_Occurred()) return -1;
            if (rows < 1) return complain(PyExc_ValueError, "loop: of a result one row at least is stored");
            if (!slot->info->has_spec || slot->info->scalar) return complain(PyExc_TypeError, "loop: an output is no array");
            loop.results.push_back({{slot}, Array(nullptr), 0, rows, k});
        }
        return 0;
    }

    int read_fixed() {
        loop.first_fixed = input;
        loop.fixed.reserve(size_t(PyTuple_GET_SIZE(request.fixed)));
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(request.fixed); ++k) {
            PyObject *value = laid(PyTuple_GET_ITEM(request.fixed, k), request.n);
            if (!value) return -1;
            loop.fixed.push_back(value);
        }
        return 0;
    }

    int read() {
        if (request.n < 1) return complain(PyExc_ValueError, "loop: there must be one step at least");
        if (!program.updates.empty()) return complain(PyExc_ValueError, "loop: the program has updates");
        if (read_sequences() < 0 || read_states() < 0 || read_results() < 0 || read_carried() < 0) return -1;
        if (request.until && !(loop.until = next_output())) return too_few("output");
        if (loop.until && loop.until->info->device) return complain(PyExc_TypeError, "loop: whether to stop is read on the host");
        if (read_fixed() < 0) return -1;
        const size_t given = input + loop.fixed.size();
        if (given != program.inputs.size() || output != program.outputs.size())
            return complain(PyExc_TypeError, "loop: the program has inputs or outputs for which nothing is given");
        for (const Instr &instr : program.code) loop.compiled &= instr.kind == INSTR_NATIVE;
        return 0;
    }
};

/* (steps, results, carried values). */
PyObject *answer(Loop &loop, int64_t steps) {
    PyObject *results = PyList_New(0), *carried = PyList_New(0);
    bool good = results && carried;
    for (size_t k = 0; good && k < loop.results.size(); ++k) good = PyList_Append(results, loop.results[k].array.object) == 0;
    for (size_t k = 0; good && k < loop.carried.size(); ++k) good = PyList_Append(carried, loop.carried[k].now) == 0;
    PyObject *made = good ? Py_BuildValue("(nOO)", Py_ssize_t(steps), results, carried) : nullptr;
    Py_XDECREF(results);
    Py_XDECREF(carried);
    return made;
}

/* The exception says in its attribute `step` where it happened. */
void name_step(int64_t step) {
    PyObject *error = take_exception(), *number = PyLong_FromLongLong(step);
    if (!number || PyObject_SetAttrString(error, "step", number) < 0) PyErr_Clear();
    Py_XDECREF(number);
    give_exception(error);
}

PyObject *run(Frame *frame, const Request &request) {
    Loop loop{frame};
    if (Reader{loop, *frame->program, request}.read() < 0) return nullptr;
    int64_t failed = 0;
    const int64_t steps = loop.run(request.n, &failed);
    if (steps >= 0) return answer(loop, steps);
    name_step(failed);
    return nullptr;
}

} // namespace

PyObject *function_loop(PyObject *object, PyObject *args) {
    Request request;
    if (!PyArg_ParseTuple(args, "nO!O!O!O!O!p:loop", &request.n, &PyTuple_Type, &request.sequences, &PyTuple_Type, &request.states,
                          &PyTuple_Type, &request.carried, &PyTuple_Type, &request.fixed, &PyTuple_Type, &request.mapped, &request.until))
        return nullptr;
    Program *program = function_program(object);
    if (!program) return complain(PyExc_TypeError, "this Function was never initialised"), nullptr;
    Frame *frame = function_take_frame(object);
    if (!frame) return nullptr;
    Profile &profile = program->profile;
    if (profile.on) profile.begin();
    const int64_t start = profile.on ? now_ticks() : 0;
    frame->timed = profile.on; /* all steps are one call */
    PyObject *made = run(frame, request);
    frame->brief = false;
    if (profile.on) profile.end_timed(start, frame->spent, frame->looks);
    function_give_frame(object, frame);
    return made;
}

} // namespace theano
