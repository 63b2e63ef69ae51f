"""Classes that people derive from our ops: what they say is what is computed."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.compile.copy_ops import DeepCopyOp
from theano.tensor.blas.dot import Dot


class Shifted(DeepCopyOp):
    """A copy plus 1, in Python."""

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] + 1


class ShiftedInC(DeepCopyOp):
    """A copy plus 1, in C."""

    def c_code_cache_version(self):
        return (1,)

    def c_code(self, node, name, inames, onames, sub):
        x, z, fail = inames[0], onames[0], sub["fail"]
        return f"""
        Py_XDECREF({z});
        {z} = (PyArrayObject *)PyArray_NewCopy({x}, NPY_CORDER);
        if (!{z}) {fail}
        *(npy_float64 *)PyArray_DATA({z}) += 1;
        """


class Product(Dot):
    """A product that is off by 1."""

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0].dot(inputs[1]) + 1)


@pytest.mark.parametrize("op", [Shifted(), ShiftedInC(), Product()])
def test_what_a_class_derived_from_ours_says_is_what_is_computed(op):
    x = T.dvector("x")
    f = theano.function([x], op(x, x) if isinstance(op, Product) else op(x))
    assert f([2.0]).tolist() == (5.0 if isinstance(op, Product) else [3.0])
