"""PermuteRowElements: the elements of each row in another order; and the order that undoes one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.arange import arange
from theano.tensor.elemwise.functions import cast
from theano.tensor.index.functions import set_subtensor
from theano.tensor.messages import broadcast_input, shape_error
from theano.tensor.shape.basic import unbroadcast
from theano.tensor.type import Tensor, TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike, Tensors


class PermuteRowElements(Op):
    """The elements of each row in another order, or put back from it.

    Examples
    --------
    >>> import theano.tensor as T
    >>> PermuteRowElements()(T.constant([[5, 6, 7]]), [[2, 0, 1]], 0).eval()
    array([[7, 5, 6]])
    """

    __props__ = ()

    def make_node(self, x: Any, y: Any, inverse: Any) -> Apply:
        """Return the node for a tensor, permutations along the last axis, and whether to undo them."""
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        inverse = as_tensor_variable(np.int64(inverse) if isinstance(inverse, (bool, int)) else inverse, ndim=0)
        if y.type.dtype not in scal.integer_dtypes or inverse.type.dtype not in scal.discrete_dtypes:
            raise ArgumentError("permutations and the flag inverse must be whole numbers")
        ndim = max(x.type.ndim, y.type.ndim)
        x, y = (v.dimshuffle(*["x"] * (ndim - v.type.ndim), *range(v.type.ndim)) for v in (x, y))
        pattern = [a and b for a, b in zip(x.type.broadcastable, y.type.broadcastable, strict=True)]
        return Apply(self, [x, y, inverse], [TensorType(x.type.dtype, pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Permute with NumPy."""
        x, y, inverse = inputs
        if x.shape[-1] != y.shape[-1]:
            raise shape_error(node, inputs, "rows and permutations differ in length.", "They must be equally long.")
        ones = [v.type.broadcastable for v in node.inputs[:2]]
        shape = [b if one else a for one, a, b in zip(ones[0], x.shape, y.shape, strict=True)]
        x, y = broadcast_input(node, inputs, 0, shape), broadcast_input(node, inputs, 1, shape)
        order = y.astype("int64")
        if inverse:
            n = x.shape[-1]
            if ((order < -n) | (order >= n)).any():
                raise IndexError(f"{self}: a permutation of {n} elements holds a place that does not exist")
            order = np.where(order < 0, order + n, order)
            if not np.array_equal(np.sort(order, axis=-1), np.broadcast_to(np.arange(n), order.shape)):
                raise ValueError(f"{self}: a row is no permutation, and cannot be undone")
            order = np.argsort(order, axis=-1)
        output_storage[0][0] = np.take_along_axis(x, order, -1)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the broadcast shape."""
        x, y, _ = node.inputs
        pairs = zip(x.type.broadcastable, shapes[0], shapes[1], strict=True)
        return [tuple(b if one else a for one, a, b in pairs)]

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that only the elements have an influence in the sense of derivatives."""
        return [[True], [False], [False]]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient, permuted the other way."""
        (x, y, inverse), (g,) = inputs, output_grads
        back = self(g, y, 1 - inverse)
        stretched = [i for i, one in enumerate(x.type.broadcastable) if one and not back.type.broadcastable[i]]
        back = back.sum(axis=stretched, keepdims=True) if stretched else back
        return [back, DisconnectedType()(), DisconnectedType()()]


_permute_row_elements = PermuteRowElements()


def permute_row_elements(x: TensorLike, y: TensorLike, inverse: int = 0) -> Tensor:
    """Return ``x`` with the elements of each row in the order of the permutation ``y`` (or, inverse, put back).

    Parameters
    ----------
    x : tensor
        Its last axis is permuted.
    y : tensor of int
        A permutation for all rows, or one for each.
    inverse : int, optional
        1: put the elements back.

    Returns
    -------
    TensorVariable
        Of the shape of ``x``.

    See Also
    --------
    inverse_permutation, take_along_axis

    Examples
    --------
    >>> import theano.tensor as T
    >>> permute_row_elements(T.constant([5, 6, 7]), [2, 0, 1]).eval()
    array([7, 5, 6])
    >>> permute_row_elements(T.constant([7, 5, 6]), [2, 0, 1], inverse=True).eval()
    array([5, 6, 7])
    """
    return _permute_row_elements(x, y, inverse)


def inverse_permutation(perm: TensorLike) -> Tensor:
    """Return the permutation (of the last axis) that undoes ``perm``.

    Parameters
    ----------
    perm : vector or matrix of int
        A permutation of 0 to n - 1, or one in each row.

    Returns
    -------
    TensorVariable
        Of the shape and dtype of ``perm``: ``x[perm][inverse_permutation(perm)]`` is ``x``.

    See Also
    --------
    argsort, permute_row_elements

    Examples
    --------
    >>> import theano.tensor as T
    >>> inverse_permutation(T.constant([2, 0, 1])).eval()
    array([1, 2, 0])
    """
    perm = as_tensor_variable(perm)
    if perm.type.ndim == 1:
        places = arange(perm.shape[0])
        return unbroadcast(set_subtensor(perm.zeros_like()[perm], cast(places, perm.type.dtype)), 0)
    if perm.type.ndim == 2:
        rows = arange(perm.shape[0]).dimshuffle(0, "x")
        places = cast(arange(perm.shape[1]).dimshuffle("x", 0), perm.type.dtype)
        return unbroadcast(set_subtensor(perm.zeros_like()[rows, perm], places + perm.zeros_like()), 1)
    raise ArgumentError(f"a permutation has 1 or 2 dimensions, but {perm} has {perm.type.ndim}")
