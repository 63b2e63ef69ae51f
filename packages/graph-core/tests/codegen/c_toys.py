"""Types and ops with C: the double of the documentation, and one that notes what is done with it and fails when told."""

# ruff: noqa: C408, UP031 -- the double stands as the documentation writes it.

import sys

from theano.graph import Apply, Type
from theano.graph.op import COp


class Double(Type):
    """Python floats; the C texts are those of "Implementing double in C"."""

    def filter(self, x, strict=False, allow_downcast=None):
        if strict and not isinstance(x, float):
            raise TypeError("Expected a float!")
        return float(x)

    def values_eq_approx(self, x, y, tolerance=1e-4):
        return abs(x - y) / (x + y) < tolerance

    def __str__(self):
        return "double"

    def c_declare(self, name, sub):
        return """
        double %(name)s;
        """ % dict(name=name)

    def c_init(self, name, sub):
        return """
        %(name)s = 0.0;
        """ % dict(name=name)

    def c_extract(self, name, sub, **kwargs):
        return """
        if (!PyFloat_Check(py_%(name)s)) {
            PyErr_SetString(PyExc_TypeError, "expected a float");
            %(fail)s
        }
        %(name)s = PyFloat_AsDouble(py_%(name)s);
        """ % dict(sub, name=name)

    def c_sync(self, name, sub):
        return """
        Py_XDECREF(py_%(name)s);
        py_%(name)s = PyFloat_FromDouble(%(name)s);
        if (!py_%(name)s) {
            printf("PyFloat_FromDouble failed on: %%f\\n", %(name)s);
            Py_XINCREF(Py_None);
            py_%(name)s = Py_None;
        }
        """ % dict(name=name)

    def c_cleanup(self, name, sub):
        return ""


double = Double()


class BinaryDoubleOp(COp):
    """What two numbers give, by the operator that C and Python share."""

    __props__ = ("name", "sign")

    def __init__(self, name, sign):
        self.name, self.sign = name, sign

    def make_node(self, x, y):
        return Apply(self, [x, y], [double()])

    def __str__(self):
        return self.name

    def c_code(self, node, name, inputs, outputs, sub):
        return f"{outputs[0]} = {inputs[0]} {self.sign} {inputs[1]};"

    def c_code_cache_version(self):
        return (1,)


add, mul, sub = (BinaryDoubleOp(name, sign) for name, sign in [("add", "+"), ("mul", "*"), ("sub", "-")])

NOTES = """
static long watched_live = 0;
/* Appends a text to the list sys.c_toys_log; whether it is sys.c_toys_fail. */
static bool watched_note(const char *what) {
    PyObject *log = PySys_GetObject("c_toys_log"), *fail = PySys_GetObject("c_toys_fail");
    PyObject *text = PyUnicode_FromString(what);
    if (log && text) PyList_Append(log, text);
    bool fails = fail && text && PyUnicode_Check(fail) && PyUnicode_Compare(fail, text) == 0;
    Py_XDECREF(text);
    return fails;
}
static void *watched_take(void) { ++watched_live; return malloc(16); }
static void watched_give(void *memory) { if (memory) { --watched_live; free(memory); } }
"""


def watch(what, fail):
    """Return C that notes ``what``, and fails there when told."""
    return f'if (watched_note("{what}")) {{ PyErr_SetString(PyExc_ValueError, "{what}"); {fail} }}'


class Watched(Double):
    """Doubles whose C holds memory, notes each step, and fails at the step that ``sys.c_toys_fail`` names."""

    __props__ = ()

    def c_support_code(self):
        return [NOTES]

    def c_code_cache_version(self):
        return (1,)

    def c_declare(self, name, sub):
        return f"double {name}; void *memory_{name} = NULL;"

    def c_init(self, name, sub):
        return f"memory_{name} = watched_take(); {name} = 0; {watch('init ' + name, sub['fail'])}"

    def c_extract(self, name, sub, **kwargs):
        return f"memory_{name} = watched_take(); {watch('extract ' + name, sub['fail'])}" + super().c_extract(name, sub)

    def c_sync(self, name, sub):
        return f"{watch('sync ' + name, sub['fail'])}" + super().c_sync(name, sub)

    def c_cleanup(self, name, sub):
        return f'watched_note("cleanup {name}"); watched_give(memory_{name});'


watched = Watched()


class WatchedAdd(COp):
    """Adds, holding memory for the call and for the life of the thunk."""

    __props__ = ("number",)

    def __init__(self, number):
        self.number = number

    def make_node(self, x, y):
        return Apply(self, [x, y], [watched()])

    def c_code_cache_version(self):
        return (1,)

    def c_support_code_struct(self, node, name):
        return f"void *kept_{name};"

    def c_init_code_struct(self, node, name, sub):
        return f"kept_{name} = watched_take(); {watch('struct ' + name, sub['fail'])}"

    def c_cleanup_code_struct(self, node, name):
        return f'watched_note("free {name}"); watched_give(kept_{name});'

    def c_code(self, node, name, inputs, outputs, sub):
        x, y = inputs
        return f"""
        void *scratch = watched_take();
        {watch("code " + name, sub["fail"])}
        {outputs[0]} = {x} + {y};
        """

    def c_code_cleanup(self, node, name, inputs, outputs, sub):
        return f'watched_note("cleanup {name}"); watched_give(scratch);'


class Live(COp):
    """How many pieces of memory the watched texts of its own unit hold."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [watched()])

    def c_code_cache_version(self):
        return (1,)

    def c_code(self, node, name, inputs, outputs, sub):
        return f"{outputs[0]} = (double)watched_live;"


def told(fail=None):
    """Begin a new log, let one step fail, and return the log."""
    sys.c_toys_log, sys.c_toys_fail = [], fail
    return sys.c_toys_log
