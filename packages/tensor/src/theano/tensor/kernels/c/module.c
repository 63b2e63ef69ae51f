/* Python is never asked to import this library (theano.loader opens it by its path), but
 * the tools that build and ship extension modules expect one. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_kernels", "C kernels of the tensor layer, called by address.", -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernels(void) { return PyModule_Create(&definition); }
