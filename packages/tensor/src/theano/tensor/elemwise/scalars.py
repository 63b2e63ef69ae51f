"""Scalar ops that only tensors need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano import scalar as scal

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Tensors


def _skip_zeros(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(x == 0, y, np.where(y == 0, x, x * y))


class MulWithoutZeros(scal.BinaryScalarOp):
    """The product of two numbers, or one of them where the other is 0.

    Parameters
    ----------
    x, y : scalar
        The numbers.

    Returns
    -------
    ScalarVariable
        Of the dtype in which both meet.

    Examples
    --------
    >>> MulWithoutZeros().impl(0, 5), MulWithoutZeros().impl(2, 5)
    (np.int64(5), np.int64(10))
    """

    type_rule = staticmethod(scal.upcast_out)
    arguments = ("x", "y")
    numpy_function = staticmethod(_skip_zeros)
    c_form = "({x} == 0 ? {y} : ({y} == 0 ? {x} : {x} * {y}))"
    identity = 1
    commutative = True
    associative = True

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient: none to a number that is 0, all of it to one whose partner is."""
        (g,) = output_grads
        pairs = zip(inputs, reversed(inputs), strict=True)
        return [scal.switch(scal.eq(v, 0), v.zeros_like(), g * scal.switch(scal.eq(w, 0), 1, w)) for v, w in pairs]


mul_without_zeros = MulWithoutZeros(scal.upcast_out, name="mul_without_zeros")
