"""Ops with C code and one fault each; `SoundC` has none."""

from __future__ import annotations

import numpy as np

import theano
import theano.tensor as T

ALLOCATE = """
npy_intp n = PyArray_DIMS({x})[0];
if (!{z} || PyArray_DIMS({z})[0] != n) {{
    Py_XDECREF({z});
    {z} = (PyArrayObject *)PyArray_EMPTY(1, PyArray_DIMS({x}), NPY_FLOAT64, 0);
    if (!{z}) {{ {fail} }}
}}
"""
LOOP = """
for (npy_intp i = 0; i < n; i++)
    *(double *)PyArray_GETPTR1({z}, i) = 2 * *(double *)PyArray_GETPTR1({x}, i);
"""


class SoundC(theano.Op):
    """Twice a vector, in Python and in C, by the book."""

    __props__ = ()
    text = ALLOCATE + LOOP

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        if x.type != T.dvector:
            raise TypeError("a vector of float64")
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * 2

    def c_code(self, node, name, inputs, outputs, sub):
        return self.text.format(x=inputs[0], z=outputs[0], fail=sub["fail"])

    def c_code_cache_version(self):
        return (1, self.text)

    def infer_shape(self, node, shapes):
        return shapes

    def grad(self, inputs, output_grads):
        return [output_grads[0] * 2]


class DiffersFromPython(SoundC):
    text = SoundC.text.replace("= 2 *", "= 3 *")


class MissingIncref(SoundC):
    """Hands its input on as if it had a reference to give."""

    view_map = {0: [0]}
    text = "Py_XDECREF({z}); {z} = {x};"

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0]

    def grad(self, inputs, output_grads):
        return [output_grads[0]]


class ExtraIncrefOfInput(SoundC):
    text = SoundC.text + "Py_INCREF({x});"


class ExtraIncrefOfOutput(SoundC):
    text = SoundC.text + "Py_INCREF({z});"


class LeaksWhatItMade(SoundC):
    text = "PyObject *spare = PyDict_New();" + SoundC.text


class Unversioned(SoundC):
    def c_code_cache_version(self):
        return ()


class WritesItsInput(SoundC):
    text = SoundC.text + "if (n) *(double *)PyArray_GETPTR1({x}, 0) = -1;"


class UndeclaredViewInC(SoundC):
    """A view only in C: Python copies."""

    text = "Py_XDECREF({z}); Py_INCREF({x}); {z} = {x};"

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0].copy()

    def grad(self, inputs, output_grads):
        return [output_grads[0]]


class IgnoresStrides(SoundC):
    text = ALLOCATE + """
    const double *from = (const double *)PyArray_DATA({x});
    for (npy_intp i = 0; i < n; i++)
        *(double *)PyArray_GETPTR1({z}, i) = 2 * from[PyArray_STRIDES({x})[0] > 0 ? i : -i];
    """


class IgnoresStridesOfTheOutput(SoundC):
    text = ALLOCATE + """
    double *to = (double *)PyArray_DATA({z});
    for (npy_intp i = 0; i < n; i++)
        to[PyArray_STRIDES({z})[0] > 0 ? i : -i] = 2 * *(double *)PyArray_GETPTR1({x}, i);
    """


class AddsToOldMemory(SoundC):
    text = """
    npy_intp n = PyArray_DIMS({x})[0];
    if (!{z} || PyArray_DIMS({z})[0] != n) {{
        Py_XDECREF({z});
        {z} = (PyArrayObject *)PyArray_ZEROS(1, PyArray_DIMS({x}), NPY_FLOAT64, 0);
        if (!{z}) {{ {fail} }}
    }}
    for (npy_intp i = 0; i < n; i++)
        *(double *)PyArray_GETPTR1({z}, i) += 2 * *(double *)PyArray_GETPTR1({x}, i);
    """


class StatefulC(SoundC):
    text = "static double calls = 0; calls += 1;" + SoundC.text.replace("= 2 *", "= calls + 2 *")


class WrongDtypeInC(SoundC):
    text = """
    Py_XDECREF({z});
    {z} = (PyArrayObject *)PyArray_Cast({x}, NPY_FLOAT32);
    """


class FailsWithoutAnError(SoundC):
    """Jumps to the failure, and does not say why."""

    text = "if (PyArray_DIMS({x})[0] > 0) {{ {fail} }}" + SoundC.text


X = np.arange(1.0, 6.0)
