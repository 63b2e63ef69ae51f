"""CumOp: the sums or products of the elements up to each place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theano import scalar as scal
from theano.graph import Apply, Op
from theano.scalar.numpy_errors import NUMPY_ERRORS
from theano.tensor.convert import (
    as_tensor_variable,
    constant,
    gradient_dtype,
)
from theano.tensor.elemwise.functions import cast, true_div
from theano.tensor.index.functions import getitem
from theano.tensor.reduce.careduce import sum_dtype
from theano.tensor.type import TensorApply, TensorType, dtype_name


class CumOp(Op):
    """Sums or products of the elements up to each place.

    Parameters
    ----------
    axis : int or None
        None: of the flat tensor.
    mode : "add" or "mul"

    The result has the dtype of the tensor, and runs over where that is too small; :func:`cumsum` widens it.

    Examples
    --------
    >>> import theano.tensor as T
    >>> CumOp(axis=0, mode="mul")(T.constant([2, 3, 4])).eval()
    array([ 2,  6, 24])
    """

    __props__ = ("axis", "mode")

    def __init__(self, axis: int | None = None, mode: str = "add"):
        if mode not in ("add", "mul"):
            raise ValueError(f"CumOp: mode is {mode!r}; it must be 'add' or 'mul'")
        if axis is not None and not isinstance(axis, (int, np.integer)):
            raise TypeError(f"CumOp: an axis is a whole number or None, not {axis!r}")
        self.axis, self.mode = None if axis is None else int(axis), mode

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.axis}, {self.mode}}}"

    def make_node(self, x: Any) -> Apply:
        """Return the node."""
        x = as_tensor_variable(x)
        if self.axis is None:
            return Apply(self, [x], [TensorType(x.type.dtype, (False,)).make_variable()])
        if not -x.type.ndim <= self.axis < x.type.ndim:
            raise ValueError(f"axis(={self.axis}) out of bounds: {x} has {x.type.ndim} dimensions")
        return Apply(self, [x], [x.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Accumulate with NumPy."""
        (x,) = inputs
        accumulate = np.cumsum if self.mode == "add" else np.cumprod
        with np.errstate(**NUMPY_ERRORS):
            output_storage[0][0] = accumulate(x, axis=self.axis, dtype=x.dtype)

    def infer_shape(self, node: TensorApply, shapes: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the shape of the tensor, or its size."""
        if self.axis is not None:
            return [shapes[0]]
        total: Any = constant(np.int64(1))
        for i, n in enumerate(shapes[0]):
            total = n if i == 0 else total * n
        return [(total,)]

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return the gradient accumulated from the other end."""
        (x,), (g,) = inputs, output_grads
        if x.type.dtype in scal.discrete_dtypes:
            return [x.zeros_like(dtype=gradient_dtype(x.type.dtype))]
        values = x.flatten() if self.axis is None else x
        axis = 0 if self.axis is None else self.axis % x.type.ndim
        back = (slice(None),) * axis + (slice(None, None, -1),)
        term = g if self.mode == "add" else g * outputs[0]
        total = getitem(CumOp(axis)(getitem(term, back)), back)
        total = total if self.mode == "add" else true_div(total, values)
        return [total.reshape(x.shape, ndim=x.type.ndim) if self.axis is None else total]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return the direction accumulated."""
        (x,), (dx,) = inputs, eval_points
        if dx is None:
            return [None]
        if self.mode == "add":
            return [self(dx)]
        return [self(x) * CumOp(self.axis)(dx / x)]


def CumsumOp(axis: int | None = None) -> CumOp:
    """Return ``CumOp(axis, mode="add")``, under its older name.

    Examples
    --------
    >>> import theano.tensor as T
    >>> CumsumOp(axis=0)(T.constant([2, 3, 4])).eval()
    array([2, 5, 9])
    """
    return CumOp(axis, mode="add")


def CumprodOp(axis: int | None = None) -> CumOp:
    """Return ``CumOp(axis, mode="mul")``, under its older name.

    Examples
    --------
    >>> import theano.tensor as T
    >>> CumprodOp(axis=0)(T.constant([2, 3, 4])).eval()
    array([ 2,  6, 24])
    """
    return CumOp(axis, mode="mul")


def cumsum(x: Any, axis: int | None = None, dtype: str | None = None) -> Any:
    """Return the sums of the elements up to each place, along an axis.

    Parameters
    ----------
    x : tensor
    axis : int or None
        None: of the flat tensor.
    dtype : str, optional
        Of the elements that are added, and of the result. By default small integers and bool are added in int64
        (uint64 from unsigned), as :func:`sum` and NumPy do it. Theano 1.0.5 kept their dtype, and ran over; its
        results are those of ``dtype=x.dtype``.

    Returns
    -------
    tensor
        Of the shape of ``x``; a vector for ``axis=None``.

    Examples
    --------
    >>> import theano.tensor as T
    >>> cumsum(T.constant([[1, 2], [3, 4]]), axis=0).eval()
    array([[1, 2],
           [4, 6]])
    >>> m = T.constant(np.array([100, 100], "int8"))
    >>> cumsum(m).eval(), cumsum(m, dtype="int8").eval()
    (array([100, 200]), array([100, -56], dtype=int8))
    """
    return CumOp(axis=axis, mode="add")(_wide(x, dtype))


def cumprod(x: Any, axis: int | None = None, dtype: str | None = None) -> Any:
    """Return the products of the elements up to each place, along an axis.

    Parameters
    ----------
    x, axis, dtype
        As for :func:`cumsum`.

    Examples
    --------
    >>> import theano.tensor as T
    >>> cumprod(T.constant([[1, 2], [3, 4]]), axis=1).eval()
    array([[ 1,  2],
           [ 3, 12]])
    """
    return CumOp(axis=axis, mode="mul")(_wide(x, dtype))


def _wide(x: Any, dtype: str | None) -> Any:
    x = as_tensor_variable(x)
    return cast(x, sum_dtype(x.type.dtype) if dtype is None else dtype_name(dtype))
