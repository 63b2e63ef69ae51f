/* Arrays in a device's memory, as Python holds them: results of functions, values of shared variables.
 *
 * A DeviceArray is a window on a Block: an address, lengths and strides. Its numbers are for kernels; Python
 * can have them copied, if they are contiguous, and make other windows. A device may name a subclass, in which
 * results then come.
 */
#include "core.h"

#include <structmember.h>

#include <cstring>

namespace theano {
namespace {

struct DeviceArray {
    PyObject_VAR_HEAD
    Block *block;
    const char *device_name; /* the registry's, for good */
    char *data;
    int32_t dtype, ndim;
    int64_t elements;
    PyObject *weakrefs;
    int64_t table[1]; /* lengths, then strides in bytes */
};

PyTypeObject *base_type = nullptr;

inline DeviceArray *as_array(PyObject *object) { return reinterpret_cast<DeviceArray *>(object); }
inline int64_t *shape_of(DeviceArray *array) { return array->table; }
inline int64_t *strides_of(DeviceArray *array) { return array->table + array->ndim; }
inline bool is_device_array(PyObject *value) { return base_type && PyObject_TypeCheck(value, base_type); }

/* A window without its table; takes a reference to the block. */
DeviceArray *make(PyTypeObject *type, Block *block, const char *device_name, char *data, int32_t dtype, int32_t ndim) {
    PyObject *made = type->tp_alloc(type, 2 * ndim);
    if (!made) return nullptr;
    DeviceArray *array = as_array(made);
    block_retain(block);
    array->block = block;
    array->device_name = device_name;
    array->data = data;
    array->dtype = dtype;
    array->ndim = ndim;
    return array;
}

void fill(DeviceArray *array, const int64_t *shape, const int64_t *strides) {
    array->elements = 1;
    for (int d = 0; d < array->ndim; ++d) array->elements *= shape_of(array)[d] = shape[d];
    int64_t stride = dtype_itemsize[array->dtype];
    for (int d = array->ndim - 1; d >= 0; --d) {
        strides_of(array)[d] = strides ? strides[d] : stride;
        stride *= shape[d] > 1 ? shape[d] : 1;
    }
}

bool in_one_piece(DeviceArray *array) {
    int64_t stride = dtype_itemsize[array->dtype];
    if (array->elements == 0) return true;
    for (int d = array->ndim - 1; d >= 0; --d) {
        if (shape_of(array)[d] != 1 && strides_of(array)[d] != stride) return false;
        stride *= shape_of(array)[d];
    }
    return true;
}

void deallocate(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    if (as_array(self)->weakrefs) PyObject_ClearWeakRefs(self);
    if (as_array(self)->block) block_release(as_array(self)->block);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Numbers from a tuple into a table; -1: Python error set. */
int read_numbers(PyObject *given, int64_t *table, Py_ssize_t count, const char *what) {
    PyObject *items = PySequence_Fast(given, what);
    if (!items) return -1;
    int status = PySequence_Fast_GET_SIZE(items) == count ? 0 : -1;
    if (status < 0) PyErr_Format(PyExc_ValueError, "%s are as many as the dimensions", what);
    for (Py_ssize_t d = 0; status == 0 && d < count; ++d) {
        table[d] = PyLong_AsLongLong(PySequence_Fast_GET_ITEM(items, d));
        if (PyErr_Occurred()) status = -1;
    }
    Py_DECREF(items);
    return status;
}

/* The bytes of an array in C order, or -1 with an error set. */
int64_t bytes_of(const int64_t *shape, Py_ssize_t ndim, int64_t itemsize) {
    int64_t bytes = itemsize;
    bool empty = false, overflow = false;
    for (Py_ssize_t d = 0; d < ndim; ++d) {
        if (shape[d] < 0) {
            PyErr_SetString(PyExc_ValueError, "a length is negative");
            return -1;
        }
        empty |= shape[d] == 0;
        if (shape[d]) overflow |= __builtin_mul_overflow(bytes, shape[d], &bytes);
    }
    if (!empty && overflow) {
        PyErr_SetString(PyExc_ValueError, "an array of more bytes than can be addressed");
        return -1;
    }
    return empty ? 0 : bytes;
}

int read_dtype(const char *name) {
    const int dtype = dtype_code(name);
    if (dtype < 0) PyErr_Format(PyExc_TypeError, "no array on a device has the dtype '%s'", name);
    return dtype;
}

/* An error of a class of theano.errors; always NULL. */
template <typename... Parts>
PyObject *complain(const char *name, PyObject *otherwise, const char *format, Parts... parts) {
    PyObject *type = device_error(name, otherwise);
    PyErr_Format(type, format, parts...);
    Py_DECREF(type);
    return nullptr;
}

PyObject *no_memory(int64_t bytes, const char *name, const th_device *device) {
    return complain("DeviceMemoryError", PyExc_MemoryError, "no memory for %lld bytes on %s: %s", static_cast<long long>(bytes), name, device_said(device));
}

/* A new array, whose numbers are anything. */
PyObject *make_unset(PyTypeObject *type, const DeviceEntry *entry, int32_t dtype, int32_t ndim, const int64_t *shape) {
    const int64_t bytes = bytes_of(shape, ndim, dtype_itemsize[dtype]);
    if (bytes < 0) return nullptr;
    Block *block = block_new(size_t(bytes), entry->device);
    if (!block) return no_memory(bytes, entry->name, entry->device);
    DeviceArray *array = make(type, block, entry->name, block->data, dtype, ndim);
    block_release(block);
    if (array) fill(array, shape, nullptr);
    return reinterpret_cast<PyObject *>(array);
}

/* empty(device, dtype, shape): the numbers are anything. */
PyObject *empty(PyObject *cls, PyObject *args) {
    const char *device, *dtype_text;
    PyObject *shape_given;
    if (!PyArg_ParseTuple(args, "ssO:empty", &device, &dtype_text, &shape_given)) return nullptr;
    const DeviceEntry *entry = device_entry(device);
    if (!entry) {
        PyErr_Format(PyExc_ValueError, "unknown device '%s'", device);
        return nullptr;
    }
    const int dtype = read_dtype(dtype_text);
    const Py_ssize_t ndim = dtype < 0 ? -1 : PySequence_Size(shape_given);
    if (ndim < 0) return nullptr;
    int64_t shape[TH_MAX_NDIM];
    if (ndim > TH_MAX_NDIM) return PyErr_Format(PyExc_ValueError, "more than %d dimensions", TH_MAX_NDIM);
    if (read_numbers(shape_given, shape, ndim, "lengths") < 0) return nullptr;
    return make_unset(reinterpret_cast<PyTypeObject *>(cls), entry, dtype, int32_t(ndim), shape);
}

/* adopt(device, address, size, owner): memory of another owner as an array of bytes, which keeps `owner` alive. */
PyObject *adopt(PyObject *cls, PyObject *args) {
    const char *device;
    PyObject *address_given, *owner;
    long long size;
    if (!PyArg_ParseTuple(args, "sOLO:adopt", &device, &address_given, &size, &owner)) return nullptr;
    const DeviceEntry *entry = device_entry(device);
    if (!entry || size < 0) return PyErr_Format(PyExc_ValueError, entry ? "a length is negative" : "unknown device '%s'", device);
    char *address = static_cast<char *>(PyLong_AsVoidPtr(address_given));
    if (PyErr_Occurred()) return nullptr;
    Block *block = new (std::nothrow) Block{{1}, address, size_t(size), entry->device, nullptr};
    if (!block) return PyErr_NoMemory();
    block->owner = Py_NewRef(owner);
    DeviceArray *array = make(reinterpret_cast<PyTypeObject *>(cls), block, entry->name, address, TH_UINT8, 1);
    block_release(block);
    if (!array) return nullptr;
    const int64_t shape = size;
    fill(array, &shape, nullptr);
    return reinterpret_cast<PyObject *>(array);
}

/* capsule(device_type, device_id, data, offset, owner, versioned): the array as DLPack has it. */
PyObject *capsule(PyObject *self, PyObject *args) {
    DeviceArray *array = as_array(self);
    int device_type, device_id, versioned;
    PyObject *data_given, *owner;
    unsigned long long offset;
    if (!PyArg_ParseTuple(args, "iiOKOp:capsule", &device_type, &device_id, &data_given, &offset, &owner, &versioned)) return nullptr;
    char *data = static_cast<char *>(PyLong_AsVoidPtr(data_given));
    if (PyErr_Occurred()) return nullptr;
    return dlpack_capsule({device_type, device_id, data, offset, array->dtype, array->ndim, shape_of(array), strides_of(array)}, owner, versioned);
}

/* window(offset, shape, strides, dtype=None): other elements of the same memory, from `offset` bytes behind the first. */
PyObject *window(PyObject *self, PyObject *args) {
    DeviceArray *base = as_array(self);
    long long offset;
    PyObject *shape_given, *strides_given;
    const char *dtype_text = nullptr;
    if (!PyArg_ParseTuple(args, "LOO|z:window", &offset, &shape_given, &strides_given, &dtype_text)) return nullptr;
    const int dtype = dtype_text ? read_dtype(dtype_text) : base->dtype;
    const Py_ssize_t ndim = dtype < 0 ? -1 : PySequence_Size(shape_given);
    if (ndim < 0) return nullptr;
    if (ndim > TH_MAX_NDIM) return PyErr_Format(PyExc_ValueError, "more than %d dimensions", TH_MAX_NDIM);
    int64_t shape[TH_MAX_NDIM], strides[TH_MAX_NDIM];
    if (read_numbers(shape_given, shape, ndim, "lengths") < 0 || read_numbers(strides_given, strides, ndim, "strides") < 0) return nullptr;
    /* all elements must be inside the block */
    int64_t low = (base->data - base->block->data) + offset, high = low + dtype_itemsize[dtype];
    bool none = false, wrong = false;
    for (Py_ssize_t d = 0; d < ndim; ++d) {
        none |= shape[d] == 0;
        wrong |= shape[d] < 0;
        int64_t reach;
        wrong |= __builtin_mul_overflow(shape[d] - 1, strides[d], &reach);
        if (!wrong && reach > 0) wrong |= __builtin_add_overflow(high, reach, &high);
        if (!wrong && reach < 0) wrong |= __builtin_add_overflow(low, reach, &low);
    }
    if (wrong || (!none && (low < 0 || high > int64_t(base->block->capacity)))) {
        PyErr_SetString(PyExc_ValueError, "a window beyond the memory of its array");
        return nullptr;
    }
    DeviceArray *array = make(Py_TYPE(self), base->block, base->device_name, base->data + (none ? 0 : offset), dtype, int32_t(ndim));
    if (!array) return nullptr;
    fill(array, shape, strides);
    return reinterpret_cast<PyObject *>(array);
}

th_buffer buffer_of(DeviceArray *array) {
    return {array->data, array->ndim, array->dtype, shape_of(array), strides_of(array), dtype_itemsize[array->dtype], nullptr, array->block->device};
}

/* packed(): the same numbers in memory of their own, in C order. */
PyObject *packed(PyObject *self, PyObject *) {
    DeviceArray *from = as_array(self);
    const int64_t bytes = from->elements * dtype_itemsize[from->dtype];
    Block *block = block_new(size_t(bytes), from->block->device);
    if (!block) return no_memory(bytes, from->device_name, from->block->device);
    const th_buffer buffer = buffer_of(from);
    int status = 0;
    if (bytes) {
        Py_BEGIN_ALLOW_THREADS
        status = device_pack(block, &buffer);
        Py_END_ALLOW_THREADS
    }
    DeviceArray *array = status < 0 ? nullptr : make(Py_TYPE(self), block, from->device_name, block->data, from->dtype, from->ndim);
    block_release(block);
    if (status < 0) return complain("DeviceError", PyExc_RuntimeError, "%s could not copy an array: %s", from->device_name, device_said(from->block->device));
    if (!array) return nullptr;
    fill(array, shape_of(from), nullptr);
    return reinterpret_cast<PyObject *>(array);
}

/* Copies between this array, which is contiguous, and a buffer of the host of the same size. */
PyObject *exchange(PyObject *self, PyObject *buffer, int32_t direction) {
    DeviceArray *array = as_array(self);
    Py_buffer host;
    if (PyObject_GetBuffer(buffer, &host, PyBUF_C_CONTIGUOUS | (direction == TH_FROM_DEVICE ? PyBUF_WRITABLE : 0)) < 0) return nullptr;
    const int64_t bytes = array->elements * dtype_itemsize[array->dtype];
    int status = 0;
    if (!in_one_piece(array) || host.len != bytes) {
        PyErr_SetString(PyExc_ValueError, "arrays of the same bytes in one piece are wanted");
        status = 1;
    } else if (bytes) {
        char *there = static_cast<char *>(host.buf);
        Py_BEGIN_ALLOW_THREADS
        status = direction == TH_TO_DEVICE ? array->block->device->copy(array->block->device, array->data, there, size_t(bytes), direction)
                                           : array->block->device->copy(array->block->device, there, array->data, size_t(bytes), direction);
        Py_END_ALLOW_THREADS
        if (status)
            complain("DeviceError", PyExc_RuntimeError, "a transfer of %lld bytes failed on %s: %s", static_cast<long long>(bytes),
                     array->device_name, device_said(array->block->device));
    }
    PyBuffer_Release(&host);
    return status ? nullptr : Py_NewRef(Py_None);
}

PyObject *read_into(PyObject *self, PyObject *buffer) { return exchange(self, buffer, TH_FROM_DEVICE); }
PyObject *write_from(PyObject *self, PyObject *buffer) { return exchange(self, buffer, TH_TO_DEVICE); }

/* copy_from(other): all numbers of an array on another device, both in one piece; False: not without the host. */
PyObject *copy_from(PyObject *self, PyObject *given) {
    if (!is_device_array(given)) return PyErr_Format(PyExc_TypeError, "an array on a device is wanted");
    DeviceArray *to = as_array(self), *from = as_array(given);
    const int64_t bytes = to->elements * dtype_itemsize[to->dtype];
    if (!in_one_piece(to) || !in_one_piece(from) || from->elements * dtype_itemsize[from->dtype] != bytes)
        return PyErr_Format(PyExc_ValueError, "arrays of the same bytes in one piece are wanted");
    const th_device *device = to->block->device;
    int status = device->copy_from ? 0 : 1;
    if (bytes && status == 0) {
        Py_BEGIN_ALLOW_THREADS
        status = device->copy_from(device, to->data, from->block->device, from->data, size_t(bytes));
        Py_END_ALLOW_THREADS
    }
    if (status < 0)
        return complain("DeviceError", PyExc_RuntimeError, "a transfer of %lld bytes to %s failed: %s", static_cast<long long>(bytes), to->device_name,
                        device_said(device));
    return PyBool_FromLong(status == 0);
}

PyObject *tuple_of(const int64_t *values, int n) {
    PyObject *tuple = PyTuple_New(n);
    for (int d = 0; tuple && d < n; ++d) PyTuple_SET_ITEM(tuple, d, PyLong_FromLongLong(values[d]));
    return tuple;
}

PyObject *get_shape(PyObject *self, void *) { return tuple_of(shape_of(as_array(self)), as_array(self)->ndim); }
PyObject *get_strides(PyObject *self, void *) { return tuple_of(strides_of(as_array(self)), as_array(self)->ndim); }
PyObject *get_dtype(PyObject *self, void *) { return PyUnicode_FromString(dtype_name[as_array(self)->dtype]); }
PyObject *get_device(PyObject *self, void *) { return PyUnicode_FromString(as_array(self)->device_name); }
PyObject *get_ndim(PyObject *self, void *) { return PyLong_FromLong(as_array(self)->ndim); }
PyObject *get_size(PyObject *self, void *) { return PyLong_FromLongLong(as_array(self)->elements); }
PyObject *get_address(PyObject *self, void *) { return PyLong_FromVoidPtr(as_array(self)->data); }
PyObject *get_memory(PyObject *self, void *) {
    DeviceArray *array = as_array(self);
    return Py_BuildValue("(Nn)", PyLong_FromVoidPtr(array->block->data), Py_ssize_t(array->block->capacity));
}
PyObject *get_in_one_piece(PyObject *self, void *) { return PyBool_FromLong(in_one_piece(as_array(self))); }

/* assign(other): the numbers of an array of the same shape and dtype on the same device, which is no part of this one. */
PyObject *assign(PyObject *self, PyObject *given) {
    DeviceArray *to = as_array(self);
    if (!is_device_array(given)) return PyErr_Format(PyExc_TypeError, "assign takes an array of a device's, not a %s", Py_TYPE(given)->tp_name);
    DeviceArray *from = as_array(given);
    bool same = from->block->device == to->block->device && from->dtype == to->dtype && from->ndim == to->ndim;
    for (int d = 0; same && d < to->ndim; ++d) same = shape_of(from)[d] == shape_of(to)[d];
    if (!same) {
        PyErr_SetString(PyExc_ValueError, "assign takes an array of the same shape, dtype and device");
        return nullptr;
    }
    const th_device *device = to->block->device;
    const th_buffer source = buffer_of(from), target = buffer_of(to);
    int status = 0;
    if (to->elements) {
        Py_BEGIN_ALLOW_THREADS
        status = device->gather ? device->gather(device, &target, &source, -1, nullptr) : -1;
        Py_END_ALLOW_THREADS
    }
    if (status < 0) return PyErr_Format(PyExc_RuntimeError, "%s could not copy an array", to->device_name);
    Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"empty", empty, METH_VARARGS | METH_CLASS, "empty(device, dtype, shape): an array whose numbers are anything."},
    {"adopt", adopt, METH_VARARGS | METH_CLASS, "adopt(device, address, size, owner): foreign memory, as an array of bytes."},
    {"capsule", capsule, METH_VARARGS, "capsule(device_type, device_id, data, offset, owner, versioned): for DLPack; bytes."},
    {"copy_from", copy_from, METH_O, "copy_from(other): copy all numbers from another device; False: not without the host."},
    {"window", window, METH_VARARGS, "window(offset, shape, strides, dtype=None): other elements of the same memory; bytes."},
    {"packed", packed, METH_NOARGS, "packed(): the same numbers in memory of their own, in C order."},
    {"assign", assign, METH_O, "assign(other): copy all numbers of an array of the same shape on the same device."},
    {"read_into", read_into, METH_O, "read_into(buffer): copy all numbers to the host."},
    {"write_from", write_from, METH_O, "write_from(buffer): copy all numbers from the host."},
    {nullptr},
};

PyGetSetDef properties[] = {
    {"shape", get_shape, nullptr, "Lengths."},
    {"strides", get_strides, nullptr, "Strides in bytes."},
    {"dtype_name", get_dtype, nullptr, "The name of its dtype."},
    {"device", get_device, nullptr, "The name of the device."},
    {"ndim", get_ndim, nullptr, "How many dimensions it has."},
    {"size", get_size, nullptr, "How many elements it has."},
    {"address", get_address, nullptr, "Where its first element is, to kernels of the device."},
    {"memory", get_memory, nullptr, "The address and the bytes of the memory that it is a part of."},
    {"in_one_piece", get_in_one_piece, nullptr, "Whether its elements lie one after the other, row by row."},
    {nullptr},
};

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(DeviceArray, weakrefs), READONLY},
    {nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocate)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_members, members},
    {Py_tp_doc, const_cast<char *>("An array in the memory of a device.")},
    {0, nullptr},
};

PyType_Spec spec = {"theano.loader._loader.DeviceArray", int(offsetof(DeviceArray, table)), int(sizeof(int64_t)),
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

} // namespace

PyObject *device_array_type() {
    if (!base_type) base_type = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
    return Py_XNewRef(reinterpret_cast<PyObject *>(base_type));
}

bool bind_device_array(Frame *frame, Slot *slot, PyObject *value) {
    const SlotInfo *info = slot->info;
    if (!is_device_array(value)) return false;
    DeviceArray *array = as_array(value);
    if (array->block->device != info->device || array->dtype != info->dtype || array->ndim != info->ndim) return false;
    for (uint64_t rest = info->ones; rest; rest &= rest - 1) {
        if (shape_of(array)[__builtin_ctzll(rest)] != 1) return false;
    }
    std::memcpy(slot->buf.shape, shape_of(array), size_t(array->ndim) * sizeof(int64_t));
    std::memcpy(slot->buf.strides, strides_of(array), size_t(array->ndim) * sizeof(int64_t));
    bind_device_window(frame, slot, array->block, array->data);
    Py_XSETREF(slot->object, Py_NewRef(value));
    return true;
}

void bind_device_window(Frame *frame, Slot *slot, Block *block, char *data) {
    block_retain(block);
    if (slot->lent) block_release(slot->lent);
    slot->lent = block;
    int64_t elements = 1;
    for (int d = 0; d < slot->buf.ndim; ++d) elements *= slot->buf.shape[d];
    slot_count(frame, slot, elements);
    slot->buf.data = data;
    slot->memory = MEM_LENT;
    slot->fresh = slot->laid = slot->copied = slot->borrowed = false;
    Py_CLEAR(slot->object);
    slot_mark(frame, slot);
}

DeviceView device_view(PyObject *value) {
    if (!is_device_array(value)) return {};
    DeviceArray *array = as_array(value);
    return {array->block, array->data, array->dtype, array->ndim, shape_of(array), strides_of(array)};
}

PyObject *packed_device_array(PyObject *array) { return packed(array, nullptr); }

PyObject *new_device_array(const th_device *device, int32_t dtype, int32_t ndim, const int64_t *shape) {
    const DeviceEntry *entry = device_entry_of(device);
    PyTypeObject *type = entry->array_class ? reinterpret_cast<PyTypeObject *>(entry->array_class) : base_type;
    return make_unset(type, entry, dtype, ndim, shape);
}

PyObject *box_device_array(const Slot *slot) {
    const DeviceEntry *entry = device_entry_of(slot->info->device);
    Block *block = slot->memory == MEM_OWN ? slot->own : slot->lent;
    PyTypeObject *type = entry->array_class ? reinterpret_cast<PyTypeObject *>(entry->array_class) : base_type;
    DeviceArray *array = make(type, block, entry->name, slot->buf.data, slot->info->dtype, slot->info->ndim);
    if (!array) return nullptr;
    fill(array, slot->buf.shape, slot->buf.strides);
    return reinterpret_cast<PyObject *>(array);
}

} // namespace theano
