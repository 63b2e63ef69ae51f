/* Arrays that other libraries read where they are: capsules of DLPack, made and read.
 *
 * The structs are those of DLPack's C interface (dlpack.h, version 1.0), as a consumer written in any language has them.
 * A capsule has one tensor; who takes it renames the capsule, and calls the tensor's deleter when done.
 */
#include "core.h"

#include <cstring>

namespace theano {
namespace {

struct DLDevice {
    int32_t type, id;
};

struct DLDataType {
    uint8_t code, bits;
    uint16_t lanes;
};

struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides; /* elements; no strides: C order */
    uint64_t byte_offset;
};

struct Plain { /* DLManagedTensor */
    DLTensor tensor;
    void *context;
    void (*deleter)(Plain *);
};

struct Versioned { /* DLManagedTensorVersioned */
    uint32_t major, minor;
    void *context;
    void (*deleter)(Versioned *);
    uint64_t flags;
    DLTensor tensor;
};

enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_COMPLEX = 5, DL_BOOL = 6 };

/* By our numbers. */
constexpr DLDataType types[TH_NDTYPES] = {
    {DL_BOOL, 8, 1},   {DL_INT, 8, 1},    {DL_UINT, 8, 1},   {DL_INT, 16, 1},   {DL_UINT, 16, 1},  {DL_INT, 32, 1},       {DL_UINT, 32, 1},
    {DL_INT, 64, 1},   {DL_UINT, 64, 1},  {DL_FLOAT, 16, 1}, {DL_FLOAT, 32, 1}, {DL_FLOAT, 64, 1}, {DL_COMPLEX, 64, 1}, {DL_COMPLEX, 128, 1},
};

template <typename Managed> constexpr const char *fresh_name = nullptr;
template <> constexpr const char *fresh_name<Plain> = "dltensor";
template <> constexpr const char *fresh_name<Versioned> = "dltensor_versioned";
template <typename Managed> constexpr const char *used_name = nullptr;
template <> constexpr const char *used_name<Plain> = "used_dltensor";
template <> constexpr const char *used_name<Versioned> = "used_dltensor_versioned";
constexpr const char *kept_name = "theano.dlpack.kept";

/* ------------------------------------------------------------------- ours, for others */

/* A tensor with its owner and its table behind it, in one piece of memory. */
template <typename Managed> struct Lent {
    Managed managed; /* FIRST: what the consumer gives back */
    PyObject *owner;
    int64_t table[1]; /* lengths, then strides */
};

template <typename Managed> void give_back(Managed *managed) {
    auto *lent = reinterpret_cast<Lent<Managed> *>(managed);
    if (Py_IsInitialized()) { /* else the interpreter is gone, and its objects with it */
        const PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(lent->owner);
        PyGILState_Release(state);
    }
    std::free(lent);
}

/* A capsule without a consumer still has its first name. */
template <typename Managed> void drop_capsule(PyObject *capsule) {
    if (!PyCapsule_IsValid(capsule, fresh_name<Managed>)) return;
    auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, fresh_name<Managed>));
    if (managed->deleter) managed->deleter(managed);
}

void say_version(Plain *) {}
void say_version(Versioned *managed) {
    managed->major = 1;
    managed->minor = 0;
}

template <typename Managed> PyObject *lend(const Exchanged &what, PyObject *owner) {
    const int64_t itemsize = dtype_itemsize[what.dtype];
    auto *lent = static_cast<Lent<Managed> *>(std::calloc(1, sizeof(Lent<Managed>) + 2 * size_t(what.ndim) * sizeof(int64_t)));
    if (!lent) return PyErr_NoMemory();
    for (int d = 0; d < what.ndim; ++d) {
        lent->table[d] = what.shape[d];
        lent->table[what.ndim + d] = what.strides[d] / itemsize;
        if (what.strides[d] % itemsize) {
            std::free(lent);
            return PyErr_Format(PyExc_BufferError, "DLPack has no strides between elements: %lld bytes for elements of %lld",
                                static_cast<long long>(what.strides[d]), static_cast<long long>(itemsize));
        }
    }
    say_version(&lent->managed);
    lent->managed.deleter = give_back<Managed>;
    lent->managed.tensor = {what.data, {what.device_type, what.device_id}, what.ndim, types[what.dtype], lent->table, lent->table + what.ndim, what.offset};
    PyObject *capsule = PyCapsule_New(&lent->managed, fresh_name<Managed>, drop_capsule<Managed>);
    if (!capsule) {
        std::free(lent);
        return nullptr;
    }
    lent->owner = Py_NewRef(owner);
    return capsule;
}

/* ------------------------------------------------------------------- others', for us */

template <typename Managed> void drop_kept(PyObject *keeper) {
    auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(keeper, kept_name));
    if (managed->deleter) managed->deleter(managed);
}

uint64_t flags_of(const Plain *) { return 0; }
uint64_t flags_of(const Versioned *managed) { return managed->flags; }
bool is_known(const Plain *) { return true; }
bool is_known(const Versioned *managed) { return managed->major == 1; }

int dtype_of(const DLDataType &wanted) {
    for (int k = 0; k < TH_NDTYPES; ++k) {
        if (types[k].code == wanted.code && types[k].bits == wanted.bits && wanted.lanes == 1) return k;
    }
    return -1;
}

template <typename Managed> PyObject *take(PyObject *capsule) {
    auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, fresh_name<Managed>));
    if (!is_known(managed)) return PyErr_Format(PyExc_BufferError, "a tensor of a version of DLPack that is not known here");
    const DLTensor &tensor = managed->tensor;
    const int dtype = dtype_of(tensor.dtype);
    if (dtype < 0 || tensor.ndim < 0 || tensor.ndim > TH_MAX_NDIM)
        return PyErr_Format(PyExc_BufferError, "no array has elements of DLPack's kind %d of %d bits, %d lanes, in %d dimensions",
                            int(tensor.dtype.code), int(tensor.dtype.bits), int(tensor.dtype.lanes), int(tensor.ndim));
    PyObject *shape = PyTuple_New(tensor.ndim), *strides = PyTuple_New(tensor.ndim);
    int64_t step = dtype_itemsize[dtype];
    for (int d = tensor.ndim - 1; shape && strides && d >= 0; --d) {
        PyTuple_SET_ITEM(shape, d, PyLong_FromLongLong(tensor.shape[d]));
        PyTuple_SET_ITEM(strides, d, PyLong_FromLongLong(tensor.strides ? tensor.strides[d] * dtype_itemsize[dtype] : step));
        step *= tensor.shape[d] > 1 ? tensor.shape[d] : 1;
    }
    PyObject *keeper = shape && strides ? PyCapsule_New(managed, kept_name, drop_kept<Managed>) : nullptr;
    if (!keeper) {
        Py_XDECREF(shape);
        Py_XDECREF(strides);
        return nullptr;
    }
    PyCapsule_SetName(capsule, used_name<Managed>); /* from here on the tensor is the keeper's */
    PyCapsule_SetDestructor(capsule, nullptr);
    return Py_BuildValue("(iiNKsNNKN)", int(tensor.device.type), int(tensor.device.id), PyLong_FromVoidPtr(tensor.data),
                         static_cast<unsigned long long>(tensor.byte_offset), dtype_name[dtype], shape, strides,
                         static_cast<unsigned long long>(flags_of(managed)), keeper);
}

} // namespace

PyObject *dlpack_capsule(const Exchanged &what, PyObject *owner, bool versioned) {
    return versioned ? lend<Versioned>(what, owner) : lend<Plain>(what, owner);
}

PyObject *dlpack_read(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, fresh_name<Versioned>)) return take<Versioned>(capsule);
    if (PyCapsule_IsValid(capsule, fresh_name<Plain>)) return take<Plain>(capsule);
    return PyErr_Format(PyExc_BufferError, "a capsule of DLPack is wanted, of which the tensor was not taken yet");
}

} // namespace theano
