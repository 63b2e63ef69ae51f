/* Python is never asked to import this library (theano.loader opens it by its path), but
 * the tools that build and ship extension modules expect one. TH_MODULE is its name, which tells the levels of
 * instructions apart that the library is built for. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define TH_JOIN_(a, b) a##b
#define TH_JOIN(a, b) TH_JOIN_(a, b)
#define TH_STRING_(a) #a
#define TH_STRING(a) TH_STRING_(a)

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, TH_STRING(TH_MODULE), "C kernels of the tensor layer, called by address.", -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC TH_JOIN(PyInit_, TH_MODULE)(void) { return PyModule_Create(&definition); }
