/* The library as a module of Python, which has one function. Kernels are called by address (theano.loader opens the
 * library by its path). TH_MODULE is its name, which tells the levels of instructions apart. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "sparse.h"

#define TH_JOIN_(a, b) a##b
#define TH_JOIN(a, b) TH_JOIN_(a, b)
#define TH_STRING_(a) #a
#define TH_STRING(a) TH_STRING_(a)

static int is_integers(const Py_buffer *b)
{
    return b->ndim == 1 && b->format && b->format[0] && !b->format[1] && strchr("ilq", b->format[0]) &&
           (b->itemsize == 4 || b->itemsize == 8);
}

/* examine(indices, indptr, stored, m, n): the number of the first problem, or flags. */
static PyObject *examine(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
    (void)module;
    if (n_args != 5)
        return PyErr_Format(PyExc_TypeError, "examine takes 5 arguments, not %zd", n_args);
    const int64_t stored = PyLong_AsLongLong(args[2]), m = PyLong_AsLongLong(args[3]), n = PyLong_AsLongLong(args[4]);
    if (PyErr_Occurred())
        return NULL;
    Py_buffer indices, indptr;
    if (PyObject_GetBuffer(args[0], &indices, PyBUF_ND | PyBUF_FORMAT) < 0)
        return NULL;
    if (PyObject_GetBuffer(args[1], &indptr, PyBUF_ND | PyBUF_FORMAT) < 0) {
        PyBuffer_Release(&indices);
        return NULL;
    }
    PyObject *found = NULL;
    if (!is_integers(&indices) || !is_integers(&indptr) || indices.itemsize != indptr.itemsize)
        PyErr_SetString(PyExc_TypeError, "indices and indptr must be vectors of int32, or of int64");
    else
        found = PyLong_FromLong(th_examine(indices.buf, indptr.buf, indices.itemsize == 8, indices.shape[0],
                                           indptr.shape[0], stored, m, n));
    PyBuffer_Release(&indices);
    PyBuffer_Release(&indptr);
    return found;
}

static PyMethodDef methods[] = {
    {"examine", (PyCFunction)(void (*)(void))examine, METH_FASTCALL, "What is to be said against index arrays, as a number."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, TH_STRING(TH_MODULE), "C kernels of the sparse layer, called by address.", -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC TH_JOIN(PyInit_, TH_MODULE)(void) { return PyModule_Create(&definition); }
