/* The boundary: Python values on one side, buffer descriptors on the other.
 *
 * `bind_*` makes a slot's descriptor point at a Python value's numbers; nothing is copied unless the array is
 * misaligned or byte-swapped. Strides are taken as they are. An array that is passed unconverted is only borrowed: the
 * caller holds it until the call is over, so nothing need be counted or cleaned. `box` goes the other way and makes the Python
 * value of a slot, at the latest possible moment: only results and the arguments of Python-implemented
 * ops are ever boxed. `array_ensure` gives such slots a NumPy array to compute into from the start, so that
 * boxing them is free, and writes an earlier one again when it has no other reference.
 *
 * Everything here needs the GIL.
 */
#include "core.h"

#include <cstring>

namespace theano {

const int64_t dtype_itemsize[TH_NDTYPES] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 8, 16};
const char *const dtype_name[TH_NDTYPES] = {"bool",   "int8",    "uint8",   "int16",   "uint16",    "int32",   "uint32",
                                            "int64",  "uint64",  "float16", "float32", "float64",   "complex64",
                                            "complex128"};
const int dtype_npy[TH_NDTYPES] = {NPY_BOOL,   NPY_INT8,  NPY_UINT8,   NPY_INT16,   NPY_UINT16,    NPY_INT32,    NPY_UINT32,
                                   NPY_INT64,  NPY_UINT64, NPY_FLOAT16, NPY_FLOAT32, NPY_FLOAT64, NPY_COMPLEX64, NPY_COMPLEX128};
int8_t dtype_of_npy[kNpyTypes];

void boundary_setup() {
    std::memset(dtype_of_npy, -1, sizeof dtype_of_npy);
    for (int code = 0; code < TH_NDTYPES; ++code) dtype_of_npy[dtype_npy[code]] = int8_t(code);
    /* On each platform two C types share a width: both are the same to us. */
    dtype_of_npy[NPY_LONG] = sizeof(long) == 8 ? TH_INT64 : TH_INT32;
    dtype_of_npy[NPY_ULONG] = sizeof(long) == 8 ? TH_UINT64 : TH_UINT32;
    dtype_of_npy[NPY_LONGLONG] = TH_INT64;
    dtype_of_npy[NPY_ULONGLONG] = TH_UINT64;
}

int dtype_code(const char *name) {
    for (int code = 0; code < TH_NDTYPES; ++code) {
        if (std::strcmp(name, dtype_name[code]) == 0) return code;
    }
    return -1;
}

/* NumPy's own sort of a dtype (of places that order the elements, if `places`), which needs neither the GIL nor an array:
 * int (void *elements, [intptr_t *places,] intptr_t n, void *unused). Kinds are numbered as NumPy numbers them. 0: none. */
size_t numpy_sort(const char *dtype, int kind, bool places) {
    const int code = dtype_code(dtype);
    if (code < 0 || kind < 0 || kind >= NPY_NSORTS) return 0;
    PyArray_Descr *descr = PyArray_DescrFromType(dtype_npy[code]);
    if (!descr) {
        PyErr_Clear();
        return 0;
    }
    const PyArray_ArrFuncs *functions = PyDataType_GetArrFuncs(descr);
    Py_DECREF(descr);
    if (!functions) return 0;
    return places ? reinterpret_cast<size_t>(functions->argsort[kind]) : reinterpret_cast<size_t>(functions->sort[kind]);
}

namespace {

inline int code_of(PyArrayObject *array) {
    int number = PyArray_TYPE(array);
    return TH_LIKELY(unsigned(number) < unsigned(kNpyTypes)) ? dtype_of_npy[number] : -1;
}

inline bool ones_match(const SlotInfo *info, PyArrayObject *array) {
    for (uint64_t rest = info->ones; rest; rest &= rest - 1) {
        if (PyArray_DIM(array, __builtin_ctzll(rest)) != 1) return false;
    }
    return true;
}

/* Dtype, dimensions and layout as the slot's specification says? */
inline bool fits(const SlotInfo *info, PyArrayObject *array) {
    return code_of(array) == info->dtype && PyArray_NDIM(array) == info->ndim && ones_match(info, array);
}

void bind_cell(Frame *frame, Slot *slot) {
    if (slot->borrowed) slot->array = nullptr; /* an argument of the call before */
    slot->borrowed = false;
    slot->buf.data = slot->cell16;
    slot_count(frame, slot, 1);
    slot->memory = MEM_CELL;
    slot_mark(frame, slot);
}

int type_error(const Slot *slot, PyObject *value) {
    const SlotInfo *info = slot->info;
    if (PyArray_Check(value)) {
        auto *array = reinterpret_cast<PyArrayObject *>(value);
        PyErr_Format(PyExc_TypeError, "expected %s with %d dimensions%s, got %S with %d dimensions", dtype_name[info->dtype],
                     int(info->ndim), info->ones ? " (some of length 1)" : "",
                     reinterpret_cast<PyObject *>(PyArray_DESCR(array)), PyArray_NDIM(array));
    } else {
        PyErr_Format(PyExc_TypeError, "expected %s with %d dimensions, got an object of type %s", dtype_name[info->dtype],
                     int(info->ndim), Py_TYPE(value)->tp_name);
    }
    return -1;
}

/* A NumPy scalar, or a Python number that the dtype can hold, as a zero-dimensional value. */
int bind_number(Frame *frame, Slot *slot, PyObject *value) {
    const SlotInfo *info = slot->info;
    if (info->ndim != 0) return type_error(slot, value);
    if (PyArray_IsScalar(value, Generic)) {
        PyArray_Descr *descr = PyArray_DescrFromScalar(value);
        if (!descr) return -1;
        int number = descr->type_num;
        Py_DECREF(descr);
        if (number >= kNpyTypes || dtype_of_npy[number] != info->dtype) return type_error(slot, value);
        PyArray_ScalarAsCtype(value, slot->cell16);
        bind_cell(frame, slot);
        return 0;
    }
    bool real = PyFloat_Check(value), whole = PyLong_Check(value) && !PyBool_Check(value);
    bool complex_value = PyComplex_Check(value);
    bool accepted = PyBool_Check(value) || (whole && info->dtype != TH_BOOL) || (real && info->dtype >= TH_FLOAT16) ||
                    (complex_value && info->dtype >= TH_COMPLEX64);
    if (!accepted) return type_error(slot, value);
    Py_INCREF(info->descr);
    PyObject *array = PyArray_FromAny(value, info->descr, 0, 0, NPY_ARRAY_CARRAY | NPY_ARRAY_FORCECAST, nullptr);
    if (!array) return -1;
    std::memcpy(slot->cell16, PyArray_DATA(reinterpret_cast<PyArrayObject *>(array)), size_t(info->itemsize));
    Py_DECREF(array);
    bind_cell(frame, slot);
    return 0;
}

/* A new array on `data`, alive as long as `owner` (stolen). */
PyObject *array_on(const Slot *slot, PyObject *owner, bool writable) {
    const SlotInfo *info = slot->info;
    Py_INCREF(info->descr);
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, info->descr, info->ndim, reinterpret_cast<npy_intp *>(slot->buf.shape),
                                           reinterpret_cast<npy_intp *>(slot->buf.strides), slot->buf.data,
                                           writable ? NPY_ARRAY_WRITEABLE : 0, nullptr);
    if (!array) {
        Py_DECREF(owner);
        return nullptr;
    }
    if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject *>(array), owner) < 0) {
        Py_DECREF(array);
        return nullptr;
    }
    return array;
}

void capsule_destroyed(PyObject *capsule) {
    block_release(static_cast<Block *>(PyCapsule_GetPointer(capsule, "theano.block")));
}

PyObject *box_block(Slot *slot, Block *block) {
    PyObject *capsule = PyCapsule_New(block, "theano.block", capsule_destroyed);
    if (!capsule) return nullptr;
    block_retain(block);
    return array_on(slot, capsule, true);
}

bool same_window(const Slot *slot, PyArrayObject *array) {
    if (PyArray_DATA(array) != slot->buf.data || PyArray_NDIM(array) != slot->buf.ndim || code_of(array) != slot->info->dtype)
        return false;
    for (int d = 0; d < slot->buf.ndim; ++d) {
        if (PyArray_DIM(array, d) != slot->buf.shape[d] || PyArray_STRIDE(array, d) != slot->buf.strides[d]) return false;
    }
    return true;
}

PyObject *box_array(Slot *slot) {
    auto *array = reinterpret_cast<PyArrayObject *>(slot->array);
    Py_INCREF(slot->array);
    if (same_window(slot, array)) return slot->array; /* computed in place: the array itself */
    return array_on(slot, slot->array, PyArray_ISWRITEABLE(array) && !slot->readonly);
}

PyObject *box_copy(Slot *slot) {
    Py_INCREF(slot->info->descr);
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, slot->info->descr, slot->info->ndim,
                                           reinterpret_cast<npy_intp *>(slot->buf.shape), nullptr, nullptr, 0, nullptr);
    /* memory inside a frame is zero-dimensional: one element, however the view looks */
    auto *made = reinterpret_cast<PyArrayObject *>(array);
    for (npy_intp k = 0, n = array ? PyArray_SIZE(made) : 0; k < n; ++k)
        std::memcpy(static_cast<char *>(PyArray_DATA(made)) + k * slot->info->itemsize, slot->buf.data, size_t(slot->info->itemsize));
    return array;
}

bool has_weak_references(PyObject *object) {
    Py_ssize_t offset = Py_TYPE(object)->tp_weaklistoffset;
    return offset > 0 && *reinterpret_cast<PyObject **>(reinterpret_cast<char *>(object) + offset) != nullptr;
}

/* ------------------------------------------------- arrays in memory of ours */

/* NumPy's interface for those who bring memory along (NEP 49): the array owns it and hands it back by itself. */
void *handler_new(void *, size_t bytes) { return lent_new(bytes); }
void *handler_zeros(void *, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
    void *data = lent_new(bytes);
    if (data) std::memset(data, 0, bytes);
    return data;
}
void *handler_resize(void *, void *data, size_t bytes) { return lent_resize(data, bytes); }
void handler_free(void *, void *data, size_t) { lent_free(data); }

PyDataMem_Handler handler = {"theano", 1, {nullptr, handler_new, handler_zeros, handler_resize, handler_free}};

} // namespace

PyObject *new_array(PyArray_Descr *descr, int ndim, const int64_t *shape, int64_t elements) {
    static PyObject *capsule = PyCapsule_New(&handler, "mem_handler", nullptr);
    const bool big = capsule && elements > int64_t(kBigBlock) / PyDataType_ELSIZE(descr);
    PyObject *before = nullptr;
    if (big && !(before = PyDataMem_SetHandler(capsule))) return nullptr;
    Py_INCREF(descr);
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, descr, ndim, reinterpret_cast<npy_intp *>(const_cast<int64_t *>(shape)), nullptr,
                                           nullptr, 0, nullptr);
    if (!big) return array;
    PyObject *ours = PyDataMem_SetHandler(before);
    Py_DECREF(before);
    Py_XDECREF(ours);
    if (!ours) Py_CLEAR(array);
    return array;
}

PyObject *empty_array(PyObject *like_shape, PyObject *dtype) {
    PyArray_Dims dims = {nullptr, 0};
    PyArray_Descr *descr = nullptr;
    PyObject *array = nullptr;
    int64_t elements = 1;
    if (PyArray_IntpConverter(like_shape, &dims) && PyArray_DescrConverter(dtype, &descr)) {
        for (int d = 0; d < dims.len && elements; ++d) {
            if (__builtin_mul_overflow(elements, int64_t(dims.ptr[d]), &elements)) elements = INT64_MAX; /* NumPy refuses it */
        }
        if (PyDataType_ELSIZE(descr) > 0 && !PyDataType_REFCHK(descr)) {
            array = new_array(descr, dims.len, reinterpret_cast<const int64_t *>(dims.ptr), elements);
        } else {
            PyErr_SetString(PyExc_TypeError, "empty: arrays of numbers only");
        }
    }
    Py_XDECREF(descr);
    PyDimMem_FREE(dims.ptr);
    return array;
}

namespace {

/* May this earlier result be written again? Only if no reference and no weak reference but ours exists, and
 * its shape, dtype and flags have not changed since. */
bool reusable(const Slot *slot, PyObject *object, const int64_t *shape) {
#ifdef Py_GIL_DISABLED
    return false; /* a reference count read by one thread says nothing here */
#endif
    if (Py_REFCNT(object) != 1) return false;
    auto *array = reinterpret_cast<PyArrayObject *>(object);
    const int wanted = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE | NPY_ARRAY_OWNDATA;
    if ((PyArray_FLAGS(array) & wanted) != wanted || PyArray_BASE(array)) return false;
    if (code_of(array) != slot->info->dtype || PyArray_NDIM(array) != slot->info->ndim || !PyArray_ISNOTSWAPPED(array)) return false;
    for (int d = 0; d < slot->info->ndim; ++d) {
        if (PyArray_DIM(array, d) != shape[d]) return false;
    }
    return !has_weak_references(object);
}

} // namespace

namespace {

/* The descriptor of an array that another reference keeps alive for as long as the slot has it. */
inline void describe_array(Frame *frame, Slot *slot, PyArrayObject *array) {
    int64_t elements = 1;
    const npy_intp *shape = PyArray_DIMS(array), *strides = PyArray_STRIDES(array);
    for (int d = 0, n = slot->buf.ndim; d < n; ++d) {
        /* copied: an op in Python may change array.shape in place, which moves NumPy's own table */
        elements *= slot->buf.shape[d] = shape[d];
        slot->buf.strides[d] = strides[d];
    }
    slot_count(frame, slot, elements);
    slot->buf.data = static_cast<char *>(PyArray_DATA(array));
    slot->memory = MEM_ARRAY;
    slot->fresh = slot->laid = slot->copied = slot->borrowed = false;
    slot->readonly = !PyArray_ISWRITEABLE(array);
    slot->array = reinterpret_cast<PyObject *>(array);
}

/* Exactly what the slot's specification says? */
inline bool is_exact(const SlotInfo *info, PyObject *value, bool writable) {
    if (!PyArray_CheckExact(value)) return false;
    auto *array = reinterpret_cast<PyArrayObject *>(value);
    int wanted = NPY_ARRAY_ALIGNED | (writable ? NPY_ARRAY_WRITEABLE : 0);
    return fits(info, array) && (PyArray_FLAGS(array) & wanted) == wanted && PyArray_ISNOTSWAPPED(array);
}

} // namespace

void bind_array(Frame *frame, Slot *slot, PyArrayObject *array) {
    Py_INCREF(array);
    describe_array(frame, slot, array);
    slot_mark(frame, slot);
}

bool bind_exact(Frame *frame, Slot *slot, PyObject *value, bool writable) {
    const SlotInfo *info = slot->info;
    if (!info->has_spec) return false;
    if (TH_UNLIKELY(info->device != nullptr)) return bind_device_array(frame, slot, value);
    if (info->scalar) {
        if (Py_TYPE(value) != info->scalar_type) return false;
        PyArray_ScalarAsCtype(value, slot->cell16);
        bind_cell(frame, slot);
    } else {
        if (!is_exact(info, value, writable)) return false;
        bind_array(frame, slot, reinterpret_cast<PyArrayObject *>(value));
    }
    Py_INCREF(value);
    slot->object = value;
    return true;
}

/* Takes no reference and leaves nothing to clean: the next call's binding takes its place. */
bool bind_borrowed(Frame *frame, Slot *slot, PyObject *value, bool writable) {
    const SlotInfo *info = slot->info;
    if (TH_UNLIKELY(!info->has_spec || info->scalar || info->device)) return bind_exact(frame, slot, value, writable);
    if (TH_UNLIKELY(!is_exact(info, value, writable))) return false;
    describe_array(frame, slot, reinterpret_cast<PyArrayObject *>(value));
    slot->borrowed = true;
    return true;
}

int bind_value(Frame *frame, Slot *slot, PyObject *value, bool writable) {
    if (slot->info->device) return bind_device_array(frame, slot, value) ? 0 : type_error(slot, value);
    if (!PyArray_Check(value)) return bind_number(frame, slot, value);
    auto *array = reinterpret_cast<PyArrayObject *>(value);
    if (!fits(slot->info, array)) return type_error(slot, value);
    if (PyArray_ISALIGNED(array) && PyArray_ISNOTSWAPPED(array) && (!writable || PyArray_ISWRITEABLE(array))) {
        bind_array(frame, slot, array);
        return 0;
    }
    Py_INCREF(slot->info->descr);
    PyObject *copy = PyArray_FromAny(value, slot->info->descr, 0, 0, NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY, nullptr);
    if (!copy) return -1;
    bind_array(frame, slot, reinterpret_cast<PyArrayObject *>(copy));
    Py_DECREF(copy);
    return 0;
}

namespace {

/* A number into a cell, if the dtype holds it exactly. */
bool store_whole(int64_t value, int32_t dtype, char *cell) {
    const auto store = [&](auto number) {
        std::memcpy(cell, &number, sizeof number);
        return true;
    };
    const auto within = [&](int64_t low, int64_t high) { return value >= low && value <= high; };
    switch (dtype) {
    case TH_INT8: return within(INT8_MIN, INT8_MAX) && store(int8_t(value));
    case TH_UINT8: return within(0, UINT8_MAX) && store(uint8_t(value));
    case TH_INT16: return within(INT16_MIN, INT16_MAX) && store(int16_t(value));
    case TH_UINT16: return within(0, UINT16_MAX) && store(uint16_t(value));
    case TH_INT32: return within(INT32_MIN, INT32_MAX) && store(int32_t(value));
    case TH_UINT32: return within(0, UINT32_MAX) && store(uint32_t(value));
    case TH_INT64: return store(value);
    case TH_UINT64: return value >= 0 && store(uint64_t(value));
    case TH_FLOAT32: return within(-(int64_t(1) << 24), int64_t(1) << 24) && store(float(value));
    case TH_FLOAT64: return within(-(int64_t(1) << 53), int64_t(1) << 53) && store(double(value));
    default: return false;
    }
}

bool store_real(double value, int32_t dtype, char *cell) {
    const float narrow = float(value);
    if (dtype == TH_FLOAT64) std::memcpy(cell, &value, sizeof value);
    if (dtype == TH_FLOAT32) std::memcpy(cell, &narrow, sizeof narrow);
    return dtype == TH_FLOAT64 || (dtype == TH_FLOAT32 && (double(narrow) == value || value != value));
}

/* A Python or NumPy number into a cell, without loss; false: not one of ours. No error is set. */
bool store_number(PyObject *value, int32_t dtype, char *cell) {
    if (PyFloat_CheckExact(value) || Py_TYPE(value) == &PyDoubleArrType_Type)
        return store_real(PyFloat_AS_DOUBLE(value), dtype, cell);
    PyObject *whole = nullptr;
    if (PyLong_CheckExact(value)) {
        whole = Py_NewRef(value);
    } else if (PyArray_IsScalar(value, Integer)) {
        whole = PyNumber_Index(value);
    }
    if (!whole) {
        PyErr_Clear();
        return false;
    }
    int overflow = 0;
    const int64_t number = PyLong_AsLongLongAndOverflow(whole, &overflow);
    Py_DECREF(whole);
    return !overflow && store_whole(number, dtype, cell);
}

} // namespace

int bind_cast(Frame *frame, Slot *slot, PyObject *value) {
    const SlotInfo *info = slot->info;
    if (!info->has_spec || info->scalar || info->device) return 0;
    if (!PyArray_Check(value)) {
        if (info->ndim != 0 || !store_number(value, info->dtype, slot->cell16)) return 0;
        bind_cell(frame, slot);
        return 1;
    }
    auto *array = reinterpret_cast<PyArrayObject *>(value);
    if (!PyArray_CheckExact(value) || code_of(array) < 0 || PyArray_NDIM(array) != info->ndim || !ones_match(info, array) ||
        !PyArray_CanCastSafely(PyArray_TYPE(array), dtype_npy[info->dtype]))
        return 0;
    Py_INCREF(info->descr);
    PyObject *made = PyArray_FromArray(array, info->descr, NPY_ARRAY_BEHAVED | NPY_ARRAY_ENSURECOPY);
    if (!made) return -1;
    bind_array(frame, slot, reinterpret_cast<PyArrayObject *>(made));
    slot->object = made;
    return 1;
}

int bind_object(Frame *frame, Slot *slot, PyObject *value) {
    if (slot->info->has_spec && slot->info->native_use && bind_value(frame, slot, value, false) < 0) return -1;
    if (slot->info->device && slot->memory == MEM_NONE && bind_value(frame, slot, value, false) < 0) return -1;
    Py_INCREF(value);
    Py_XSETREF(slot->object, value);
    slot_mark(frame, slot);
    return 0;
}

PyObject *box(Frame *frame, Slot *slot) {
    if (slot->object) return slot->object;
    PyObject *made = nullptr;
    if (slot->memory == MEM_NONE || !slot->info->has_spec) {
        PyErr_SetString(PyExc_RuntimeError, "a value is wanted that no instruction has computed");
    } else if (slot->info->device) {
        made = box_device_array(slot);
    } else if (slot->info->scalar) {
        made = PyArray_Scalar(slot->buf.data, slot->info->descr, nullptr);
    } else if (slot->memory == MEM_ARRAY) {
        made = box_array(slot);
    } else if (slot->memory == MEM_OWN) {
        made = box_block(slot, slot->own);
    } else if (slot->memory == MEM_LENT) {
        made = box_block(slot, slot->lent);
    } else {
        made = box_copy(slot);
    }
    slot->object = made;
    if (made) slot_mark(frame, slot);
    return made;
}

/* The references to a shared variable's array that its slot, and what was computed from it in this call, hold. Those of
 * another shared variable or an argument are not ours: they would see the array change. */
Py_ssize_t own_references(Frame *frame, const Slot *own, PyObject *array) {
    Py_ssize_t count = 0;
    for (int32_t k = 0; k < frame->ndirty; ++k) {
        const Slot *slot = frame->slots + frame->dirty[k];
        if (slot != own && slot->info->kind != SLOT_TEMP) continue;
        count += (slot->array == array) + (slot->object == array);
        if (!slot->object || slot->object == array || !PyArray_CheckExact(slot->object)) continue;
        /* a view that was made for Python, if no reference to it remains */
        auto *made = reinterpret_cast<PyArrayObject *>(slot->object);
        count += PyArray_BASE(made) == array && Py_REFCNT(slot->object) == 1;
    }
    return count;
}

bool is_private(Frame *frame, Slot *slot) {
    if (slot->memory != MEM_ARRAY || slot->copied) return true; /* a number, or a copy: in the frame already */
    if (!PyArray_CheckExact(slot->array)) return false;
#ifdef Py_GIL_DISABLED
    return false; /* a reference count read by one thread says nothing here */
#endif
    auto *array = reinterpret_cast<PyArrayObject *>(slot->array);
    const int wanted = NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE | NPY_ARRAY_OWNDATA;
    if ((PyArray_FLAGS(array) & wanted) != wanted || PyArray_BASE(array) || has_weak_references(slot->array) || lies_upon_itself(slot))
        return false;
    PyObject *cell = slot->info->value;
    Py_ssize_t stored = PyList_GET_SIZE(cell) > 0 && PyList_GET_ITEM(cell, 0) == slot->array;
    return Py_REFCNT(slot->array) == stored + own_references(frame, slot, slot->array);
}

int make_private(Frame *frame, Slot *slot) {
    if (slot->info->device) return 0; /* nothing that was given is overwritten there: read_devices */
    if (slot->memory != MEM_ARRAY || slot->copied) return 0;
    PyObject *copy = new_array(slot->info->descr, slot->info->ndim, slot->buf.shape, slot->elements);
    if (!copy) return -1;
    auto *to = reinterpret_cast<PyArrayObject *>(copy), *from = reinterpret_cast<PyArrayObject *>(slot->array);
    if (PyArray_IS_C_CONTIGUOUS(from)) {
        std::memcpy(PyArray_DATA(to), PyArray_DATA(from), size_t(PyArray_NBYTES(from)));
    } else if (PyArray_CopyInto(to, from) < 0) { /* which may give the GIL away */
        Py_DECREF(copy);
        return -1;
    }
    slot_release(frame, slot);
    bind_array(frame, slot, reinterpret_cast<PyArrayObject *>(copy));
    slot->object = copy;
    slot->copied = true;
    return 0;
}

namespace {

/* An earlier array without other references (its reference becomes the caller's), else a new one. */
inline PyObject *next_array(Slot *slot, const int64_t *shape, int64_t elements) {
    for (PyObject *&last : slot->last) {
        if (last && reusable(slot, last, shape)) {
            PyObject *array = last;
            last = nullptr;
            return array;
        }
    }
    return new_array(slot->info->descr, slot->info->ndim, shape, elements);
}

} // namespace

/* The shape, and so the layout, of the slot's last array. */
int array_again(Frame *frame, Slot *slot) {
    PyObject *array = next_array(slot, slot->buf.shape, slot->elements);
    if (TH_UNLIKELY(!array)) return -1;
    slot->array = Py_NewRef(array);
    slot->object = array;
    slot->buf.data = static_cast<char *>(PyArray_DATA(reinterpret_cast<PyArrayObject *>(array)));
    slot->memory = MEM_ARRAY;
    slot->fresh = true;
    slot_mark(frame, slot);
    return 0;
}

int array_ensure(Frame *frame, Slot *slot, const int64_t *shape, int64_t elements) {
    PyObject *array = next_array(slot, shape, elements);
    if (!array) return -1;
    bind_array(frame, slot, reinterpret_cast<PyArrayObject *>(array));
    slot->object = array; /* the reference that made it */
    slot->fresh = slot->laid = true;
    return 0;
}

} // namespace theano
