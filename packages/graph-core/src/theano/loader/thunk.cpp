/* Thunks in C: what computes a node from and into one-element lists, called without arguments.
 *
 * A thunk made of a unit of nested blocks (codegen/blocks.py) owns one block: the unit's `new` makes it for some
 * cells, `run` computes, `delete` gives back what it keeps from call to call. The block only borrows the cells; the thunk
 * holds them. A thunk of a capsule runs a function compiled elsewhere, `int run(void *context)`, where the capsule's
 * pointer is the function and its context the argument: 0 means done, a negative number that a Python exception is set, and
 * k > 0 that input k - 1 is wanted first, upon which the thunk returns the list [k - 1], and is called again.
 *
 * `cthunk` is such a capsule for either, so that compiled code may run the thunks that it is given. The GIL is held.
 */
#include "core.h"

#include <structmember.h>

namespace theano {
namespace {

using New = void *(*)(PyObject *cells);
using Run = int (*)(void *block);
using Delete = void (*)(void *block);

constexpr const char *kCapsule = nullptr; /* the name that programs give theirs */

struct Thunk {
    PyObject_HEAD
    vectorcallfunc call;
    void *block;
    Run run;
    Run failed;
    Delete free;
    PyObject *cells, *computed, *keep, *names, *dict; /* strong, or NULL */
};

PyObject *thunk_error() {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "a thunk in C failed and did not say why");
    return nullptr;
}

/* Where a unit computes several nodes, the exception says whose block failed. */
void thunk_name_block(Thunk *self) {
    const Py_ssize_t which = self->failed ? self->failed(self->block) : 0;
    if (!self->names || which < 1 || which > PyTuple_GET_SIZE(self->names)) return;
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    PyErr_NormalizeException(&kind, &value, &trace);
    PyObject *note = PyUnicode_FromFormat("in the block of %U", PyTuple_GET_ITEM(self->names, which - 1));
    PyObject *done = note ? PyObject_CallMethod(value, "add_note", "O", note) : nullptr;
    Py_XDECREF(note);
    Py_XDECREF(done);
    PyErr_Clear();
    PyErr_Restore(kind, value, trace);
}

PyObject *thunk_done(Thunk *self) {
    for (Py_ssize_t k = 0, n = self->computed ? PyTuple_GET_SIZE(self->computed) : 0; k < n; ++k) {
        if (PyList_SetItem(PyTuple_GET_ITEM(self->computed, k), 0, Py_NewRef(Py_True)) < 0) return nullptr;
    }
    Py_RETURN_NONE;
}

PyObject *thunk_call(PyObject *object, PyObject *const *, size_t nargs, PyObject *names) {
    Thunk *self = reinterpret_cast<Thunk *>(object);
    if (PyVectorcall_NARGS(nargs) != 0 || (names && PyTuple_GET_SIZE(names) != 0)) {
        PyErr_SetString(PyExc_TypeError, "a thunk takes no arguments: its values are in its cells");
        return nullptr;
    }
    Py_INCREF(object); /* its own code may drop the last other reference */
    int status = self->run(self->block);
    PyObject *result = nullptr;
    if (TH_UNLIKELY(status < 0)) {
        thunk_error();
        thunk_name_block(self);
    } else if (TH_UNLIKELY(PyErr_Occurred() != nullptr)) {
        /* an op that sets an exception and goes on has failed all the same */
    } else if (TH_UNLIKELY(status > 0)) {
        result = Py_BuildValue("[i]", status - 1);
    } else {
        result = thunk_done(self);
    }
    Py_DECREF(object);
    return result;
}

int cells_check(PyObject *cells) {
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(cells); ++k) {
        PyObject *cell = PyTuple_GET_ITEM(cells, k);
        if (!PyList_Check(cell) || PyList_GET_SIZE(cell) < 1) {
            PyErr_Format(PyExc_TypeError, "the cells of a thunk are lists of one element, not %R", cell);
            return -1;
        }
    }
    return 0;
}

PyObject *thunk_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"new", "run", "failed", "delete", "cells", "computed", "keep", "names", nullptr};
    Py_ssize_t make = 0, run = 0, failed = 0, free = 0;
    PyObject *cells = nullptr, *computed = nullptr, *keep = nullptr, *said = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "nnnnO!|O!OO!:NativeThunk", const_cast<char **>(names), &make, &run, &failed, &free,
                                     &PyTuple_Type, &cells, &PyTuple_Type, &computed, &keep, &PyTuple_Type, &said))
        return nullptr;
    if (!make || !run || !failed || !free) {
        PyErr_SetString(PyExc_ValueError, "the address of a thunk's function is 0");
        return nullptr;
    }
    if (cells_check(cells) < 0 || (computed && cells_check(computed) < 0)) return nullptr;
    Thunk *self = reinterpret_cast<Thunk *>(type->tp_alloc(type, 0));
    if (!self) return nullptr;
    self->call = thunk_call;
    self->run = reinterpret_cast<Run>(run);
    self->failed = reinterpret_cast<Run>(failed);
    self->cells = Py_NewRef(cells);
    self->computed = Py_XNewRef(computed);
    self->keep = Py_XNewRef(keep);
    self->names = Py_XNewRef(said);
    self->block = reinterpret_cast<New>(make)(cells);
    if (!self->block) {
        Py_DECREF(self);
        return thunk_error();
    }
    self->free = reinterpret_cast<Delete>(free);
    return reinterpret_cast<PyObject *>(self);
}

PyObject *thunk_of_capsule(PyObject *type, PyObject *args) {
    PyObject *capsule = nullptr, *computed = nullptr, *keep = nullptr;
    if (!PyArg_ParseTuple(args, "O!|O!O:of_capsule", &PyCapsule_Type, &capsule, &PyTuple_Type, &computed, &keep)) return nullptr;
    void *run = PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
    if (!run || (computed && cells_check(computed) < 0)) return nullptr;
    auto *cls = reinterpret_cast<PyTypeObject *>(type);
    Thunk *self = reinterpret_cast<Thunk *>(cls->tp_alloc(cls, 0));
    if (!self) return nullptr;
    self->call = thunk_call;
    self->run = reinterpret_cast<Run>(run);
    self->block = PyCapsule_GetContext(capsule);
    self->computed = Py_XNewRef(computed);
    self->keep = PyTuple_Pack(2, capsule, keep ? keep : Py_None);
    if (!self->keep || PyErr_Occurred()) {
        Py_DECREF(self);
        return nullptr;
    }
    return reinterpret_cast<PyObject *>(self);
}

int thunk_traverse(PyObject *object, visitproc visit, void *arg) {
    Thunk *self = reinterpret_cast<Thunk *>(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->cells);
    Py_VISIT(self->computed);
    Py_VISIT(self->keep);
    Py_VISIT(self->dict);
    return 0;
}

/* The cells stay: the block borrows them until it goes. A cycle through them is broken by the lists. */
int thunk_clear(PyObject *object) {
    Thunk *self = reinterpret_cast<Thunk *>(object);
    Py_CLEAR(self->computed);
    Py_CLEAR(self->dict);
    return 0;
}

void thunk_dealloc(PyObject *object) {
    Thunk *self = reinterpret_cast<Thunk *>(object);
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (self->free) {
        PyObject *kind, *value, *trace; /* an op's cleanup may be run while an exception is on its way */
        PyErr_Fetch(&kind, &value, &trace);
        self->free(self->block);
        PyErr_Restore(kind, value, trace);
    }
    thunk_clear(object);
    Py_CLEAR(self->cells);
    Py_CLEAR(self->keep);
    Py_CLEAR(self->names);
    type->tp_free(object);
    Py_DECREF(type);
}

void capsule_free(PyObject *capsule) { Py_XDECREF(static_cast<PyObject *>(PyCapsule_GetContext(capsule))); }

/* What a capsule runs: the thunk itself, which it holds. */
int run_held(void *context) {
    PyObject *result = PyObject_CallNoArgs(static_cast<PyObject *>(context));
    if (!result) return -1;
    int status = 0;
    if (PyList_Check(result) && PyList_GET_SIZE(result) > 0) status = int(PyLong_AsLong(PyList_GET_ITEM(result, 0))) + 1;
    Py_DECREF(result);
    return status;
}

PyObject *thunk_capsule(PyObject *object, void *) {
    PyObject *capsule = PyCapsule_New(reinterpret_cast<void *>(run_held), kCapsule, capsule_free);
    if (capsule && PyCapsule_SetContext(capsule, Py_NewRef(object)) < 0) Py_CLEAR(capsule);
    return capsule;
}

PyObject *thunk_failed(PyObject *object, void *) {
    Thunk *self = reinterpret_cast<Thunk *>(object);
    return PyLong_FromLong(self->failed ? self->failed(self->block) : 0);
}

PyGetSetDef getset[] = {
    {"cthunk", thunk_capsule, nullptr, "A capsule of int run(void *context), with its context.", nullptr},
    {"failed", thunk_failed, nullptr, "The number of the block that failed in the last call; 0: none.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    {"of_capsule", thunk_of_capsule, METH_VARARGS | METH_CLASS, "of_capsule(capsule, computed=(), keep=None)"},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Thunk, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Thunk, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char *>("NativeThunk(new, run, failed, delete, cells, computed=(), keep=None, names=()): a compiled thunk and its cells.")},
    {Py_tp_new, reinterpret_cast<void *>(thunk_new)},
    {Py_tp_dealloc, reinterpret_cast<void *>(thunk_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void *>(thunk_traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(thunk_clear)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_tp_members, members},
    {0, nullptr},
};

PyType_Spec spec = {"theano.loader.module.NativeThunk", sizeof(Thunk), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

} // namespace

PyObject *thunk_type() { return PyType_FromSpec(&spec); }

bool is_native_thunk(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    return PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) && PyType_GetSlot(type, Py_tp_dealloc) == reinterpret_cast<void *>(thunk_dealloc);
}

/* Runs the thunk of a capsule: 0, the number of the input wanted plus 1, or -1 with the Python error set. */
int run_cthunk(PyObject *capsule) {
    auto run = reinterpret_cast<Run>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
    if (!run) return -1;
    int status = run(PyCapsule_GetContext(capsule));
    if (status < 0) thunk_error();
    return status;
}

} // namespace theano
