"""Places in a flat array as indexes along its axes, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable, get_vector_length, length_if_known
from theano.tensor.shape.broadcast import broadcast_shape_iter
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.tensor.annotations import Shape, Shapes, TensorLike
    from theano.tensor.type import Tensor


class UnravelIndex(Op):
    """Places in a flat array as indexes along each axis; see :func:`unravel_index`.

    Parameters
    ----------
    ndim : int
        Number of axes.
    order : "C" or "F"

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> k, dims = T.lvector("k"), T.lvector("dims")
    >>> theano.function([k, dims], UnravelIndex(2)(k, dims))([1, 5], [2, 3])
    [array([0, 1]), array([1, 2])]
    """

    __props__ = ("ndim", "order")

    def __init__(self, ndim: int, order: Literal["C", "F"] = "C"):
        if order not in ("C", "F"):
            raise ArgumentError(f"order must be 'C' or 'F', not {order!r}")
        self.ndim, self.order = int(ndim), order

    def make_node(self, indices: TensorLike, dims: Any) -> Apply:
        """Return the node for flat places and a shape."""
        indices, dims = as_tensor_variable(indices), as_tensor_variable(dims, ndim=1)
        for v, what in ((indices, "indices"), (dims, "dims")):
            if v.type.dtype not in scal.integer_dtypes:
                raise TypeError(f"unravel_index: {what} must be whole numbers, not {v} of dtype {v.type.dtype}")
        out = TensorType("int64", (False,) * indices.type.ndim)
        return Apply(self, [indices, dims], [out.make_variable() for _ in range(self.ndim)])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Count with NumPy."""
        places, dims = inputs
        found = np.unravel_index(places, tuple(dims), order=self.order)
        for cell, value in zip(output_storage, found, strict=True):
            cell[0] = np.asarray(value, dtype="int64")

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the shape of the places."""
        return [shapes[0]] * self.ndim

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that whole numbers have no derivative."""
        return [[False] * self.ndim] * 2


class RavelMultiIndex(Op):
    """Indexes along each axis as places in a flat array; see :func:`ravel_multi_index`.

    Parameters
    ----------
    mode : "raise", "wrap" or "clip"
    order : "C" or "F"

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> i, j = T.lvectors("i", "j")
    >>> theano.function([i, j], RavelMultiIndex()(i, j, [2, 3]))([0, 1], [1, 2])
    array([1, 5])
    """

    __props__ = ("mode", "order")

    def __init__(self, mode: Literal["raise", "wrap", "clip"] = "raise", order: Literal["C", "F"] = "C"):
        if mode not in ("raise", "wrap", "clip") or order not in ("C", "F"):
            raise ArgumentError(
                f"mode must be 'raise', 'wrap' or 'clip' and order 'C' or 'F', not {mode!r} and {order!r}"
            )
        self.mode, self.order = mode, order

    def make_node(self, *inputs: Any) -> Apply:
        """Return the node for one index for each axis, and a shape."""
        *index, dims = [as_tensor_variable(v) for v in inputs]
        dims = as_tensor_variable(dims, ndim=1)
        for v in (*index, dims):
            if v.type.dtype not in scal.integer_dtypes:
                raise TypeError(f"ravel_multi_index needs whole numbers, not {v} of dtype {v.type.dtype}")
        known = length_if_known(dims)
        if not index or known is not None and known != len(index):
            raise ValueError(f"ravel_multi_index: {len(index)} indexes for a shape of {known} lengths, {dims}")
        ndim = max(v.type.ndim for v in index)
        index = [as_tensor_variable(v, ndim=ndim) for v in index]
        return Apply(self, [*index, dims], [TensorType("int64", (False,) * ndim).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Count with NumPy."""
        *index, dims = inputs
        if self.mode != "raise" and not np.all(dims) and all(i.size for i in index):
            raise ValueError(f"{self}: no index exists in an array of shape {tuple(map(int, dims))}")
        found = np.ravel_multi_index(tuple(index), tuple(dims), mode=self.mode, order=self.order)
        output_storage[0][0] = np.asarray(found, dtype="int64")

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the broadcast shape of the indexes."""
        return [broadcast_shape_iter(shapes[:-1], arrays_are_shapes=True)]

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that whole numbers have no derivative."""
        return [[False] for _ in node.inputs]


def unravel_index(
    indices: TensorLike, dims: TensorLike, order: Literal["C", "F"] = "C", ndim: int | None = None
) -> tuple[Tensor, ...]:
    """Return flat places as indexes along each axis of an array of shape ``dims``.

    Parameters
    ----------
    indices : tensor of int
        Places in the flat array.
    dims : sequence of int, or vector of int
        The shape of the array.
    order : "C" or "F"
        Whether the last or the first axis runs fastest.
    ndim : int, optional
        Length of ``dims``, where the graph does not tell it.

    Returns
    -------
    tuple of int64 tensors
        One for each axis, of the shape of ``indices``.

    Raises
    ------
    TypeError
        ``indices`` or ``dims`` are no whole numbers.
    ValueError
        When the function is called: a place is negative, or too large.

    See Also
    --------
    ravel_multi_index, numpy.unravel_index

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> k = T.lvector("k")
    >>> theano.function([k], unravel_index(k, (2, 3)))([1, 5])
    [array([0, 1]), array([1, 2])]
    """
    if ndim is None:
        ndim = get_vector_length(dims)
    return tuple(UnravelIndex(ndim=ndim, order=order)(indices, dims, return_list=True))


def ravel_multi_index(
    multi_index: Sequence[Tensor],
    dims: object,
    mode: Literal["raise", "wrap", "clip"] = "raise",
    order: Literal["C", "F"] = "C",
) -> Tensor:
    """Return indexes along each axis of an array of shape ``dims`` as places in the flat array.

    Parameters
    ----------
    multi_index : sequence of tensor of int
        One for each axis.
    dims : sequence of int, or vector of int
        The shape of the array.
    mode : "raise", "wrap" or "clip"
        What to do about indexes that do not exist: an error, count on from the other end, or take the nearest.
    order : "C" or "F"
        Whether the last or the first axis runs fastest.

    Returns
    -------
    int64 tensor
        Of the common shape of the indexes.

    Raises
    ------
    TypeError
        An index or ``dims`` holds no whole numbers.
    ValueError
        There are more or fewer indexes than lengths; or, when the function is called, an index does not exist.

    See Also
    --------
    unravel_index, numpy.ravel_multi_index

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> i, j = T.lvectors("i", "j")
    >>> theano.function([i, j], ravel_multi_index((i, j), (2, 3)))([0, 1], [1, 2])
    array([1, 5])
    """
    return RavelMultiIndex(mode=mode, order=order)(*multi_index, dims)
