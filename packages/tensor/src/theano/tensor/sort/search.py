"""SearchsortedOp: the places where values go into a sorted vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from theano import scalar as scal
from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.tensor.convert import (
    as_tensor_variable,
    gradient_dtype,
)
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import TensorLike, Tensors
    from theano.tensor.type import Tensor


class SearchsortedOp(Op):
    """The places where values would go into a sorted vector.

    Parameters
    ----------
    side : "left" or "right"
        Before or after elements that are equal.

    Examples
    --------
    >>> import theano.tensor as T
    >>> SearchsortedOp(side="right")(T.constant([1, 2, 4]), T.constant([2, 3])).eval()
    array([2, 2])
    """

    __props__ = ("side",)
    shapes = ",A->A"

    def __init__(self, side: Literal["left", "right"] = "left"):
        if side not in ("left", "right"):
            raise ValueError(f"'side' must be 'left' or 'right', not {side!r}")
        self.side = side

    def make_node(self, x: TensorLike, v: Variable, sorter: Any = None) -> Apply:
        """Return the node for a vector, values, and (if the vector is not sorted itself) the order that sorts it."""
        x, v = as_tensor_variable(x, ndim=1), as_tensor_variable(v)
        inputs = [x, v]
        if sorter is not None:
            sorter = as_tensor_variable(sorter, ndim=1)
            if sorter.type.dtype not in scal.integer_dtypes:
                raise TypeError(f"sorter must be an integer vector, not {sorter} of type {sorter.type}")
            inputs.append(sorter)
        return Apply(self, inputs, [v.type.clone(dtype="int64").make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Search with NumPy."""
        x, v = inputs[:2]
        found = np.searchsorted(x, v, side=self.side, sorter=inputs[2] if len(inputs) == 3 else None)
        output_storage[0][0] = np.asarray(found, dtype="int64")

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return zeros: places jump."""
        zeros_ = [x.zeros_like(dtype=gradient_dtype(x.type.dtype)) for x in inputs[:2]]
        return [*zeros_, *(DisconnectedType()() for _ in inputs[2:])]


def searchsorted(
    x: TensorLike, v: TensorLike, side: Literal["left", "right"] = "left", sorter: object = None
) -> Tensor:
    """Return the places where ``v`` would go into the sorted vector ``x`` to keep it sorted.

    Parameters
    ----------
    x : vector
        Its elements ascend, in the order of ``sorter`` where that is given.
    v : tensor
        What would go in.
    side : "left" or "right"
        Whether before or behind equal elements.
    sorter : vector of int, optional
        The order that sorts ``x``.

    Returns
    -------
    TensorVariable
        Of int64, of the shape of ``v``.

    See Also
    --------
    digitize, argsort, numpy.searchsorted

    Examples
    --------
    >>> import theano.tensor as T
    >>> searchsorted(T.constant([1, 2, 4]), T.constant([0, 2, 9])).eval()
    array([0, 1, 3])
    """
    return SearchsortedOp(side=side)(x, v) if sorter is None else SearchsortedOp(side=side)(x, v, sorter)
