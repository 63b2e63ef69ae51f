"""The elements of dense matrices at the places of a sparse one, and back: vectors between the two worlds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.sparse.compressed import assembled
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import cast
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike
    from theano.tensor.type import Tensor

INDEX = TensorType("int32", (False,))
"""The type of indices, of indptr and of the shape."""

Cells = Sequence[list[Any]]


def index_vector(v: TensorLike, name: str) -> Tensor:
    """Return ``v`` as a vector of int32, under the name that errors call it."""
    v = as_tensor_variable(v)
    if v.type.ndim != 1 or v.type.dtype not in _INTEGERS:
        raise TypeError(f"{name} of a sparse matrix must be a vector of integers, but {v} is of type {v.type}")
    return v if v.type.dtype == "int32" else cast(v, "int32")


_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


class ElementsAt(Op):
    """The elements of a dense matrix at the places where a sparse one stores numbers.

    Inputs: indices, indptr and shape of the sparse matrix, and the dense one, which may be of length 1 along an axis
    where the sparse one is longer.

    Parameters
    ----------
    format : "csr" or "csc"

    Examples
    --------
    >>> ElementsAt("csr")([1, 0], [0, 1, 2], [2, 2], [[1.0, 2.0], [3.0, 4.0]]).eval()
    array([2., 3.])
    """

    __props__ = ("format",)
    linear_in = (3,)
    shapes = "A->A"

    def __init__(self, format: str):
        self.format = format

    def make_node(self, indices: TensorLike, indptr: TensorLike, shape: TensorLike, dense: TensorLike) -> Apply:
        parts = [index_vector(v, name) for v, name in ((indices, "indices"), (indptr, "indptr"), (shape, "shape"))]
        dense = as_tensor_variable(dense)
        if dense.type.ndim != 2:
            raise TypeError(f"ElementsAt: a dense matrix is needed, but {dense} is of type {dense.type}")
        return Apply(self, [*parts, dense], [TensorType(dense.type.dtype, (False,)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Read with NumPy."""
        indices, indptr, shape, dense = inputs
        for axis, one in enumerate(node.inputs[3].type.broadcastable):
            if dense.shape[axis] != shape[axis] and not one:
                raise ValueError(
                    f"a dense matrix of shape {dense.shape} meets a sparse one of shape {tuple(map(int, shape))}"
                )
        lines = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        places = (lines, indices[: len(lines)]) if self.format == "csr" else (indices[: len(lines)], lines)
        output_storage[0][0] = np.broadcast_to(dense, tuple(shape))[places]

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that only the elements count."""
        return [[False], [False], [False], [True]]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient at these places, summed along an axis of length 1."""
        (indices, indptr, shape, dense), (g,) = inputs, output_grads
        found = Scattered(self.format)(g, indices, indptr, shape)
        for axis, one in enumerate(dense.type.broadcastable):
            found = found.sum(axis=axis, keepdims=True) if one else found
        return [*(DisconnectedType()() for _ in range(3)), found]


elements_at = ElementsAt


class Scattered(Op):
    """The dense matrix of the parts of a sparse one: data, indices, indptr and shape.

    Numbers that are stored for one place are added.

    Parameters
    ----------
    format : "csr" or "csc"

    Examples
    --------
    >>> Scattered("csr")([2.0, 3.0], [1, 0], [0, 1, 2], [2, 2]).eval()
    array([[0., 2.],
           [3., 0.]])
    """

    __props__ = ("format",)
    linear_in = (0,)

    def __init__(self, format: str):
        self.format = format

    def make_node(self, data: TensorLike, indices: TensorLike, indptr: TensorLike, shape: TensorLike) -> Apply:
        parts = [index_vector(v, name) for v, name in ((indices, "indices"), (indptr, "indptr"), (shape, "shape"))]
        data = as_tensor_variable(data)
        return Apply(self, [data, *parts], [TensorType(data.type.dtype, (False, False)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Let SciPy do it."""
        output_storage[0][0] = assembled(self.format, *inputs).toarray()

    def infer_shape(self, node: Node, shapes: Shapes) -> list[Shape]:
        """Return the shape that was given."""
        return [(node.inputs[3][0], node.inputs[3][1])]

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that only the data count."""
        return [[True], [False], [False], [False]]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return what of the gradient is where the data were."""
        return [elements_at(self.format)(*inputs[1:], output_grads[0]), *(DisconnectedType()() for _ in range(3))]
