"""Products as ops on the parts of sparse matrices: what compiled code computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.graph import Apply, Op
from theano.sparse.compressed import assembled
from theano.sparse.parts.elements import INDEX, Cells
from theano.tensor.convert import as_tensor_variable
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Values
    from theano.tensor.annotations import Shape, Shapes, TensorLike
    from theano.tensor.type import Tensor


class ProductOfParts(Op):
    """The product of a sparse matrix with a dense operand, of one or two dimensions.

    Inputs: data, indices, indptr and shape of the one, and the other.

    Parameters
    ----------
    format : "csr" or "csc"

    Examples
    --------
    >>> ProductOfParts("csr")([2.0], np.array([1], "int32"), np.array([0, 1], "int32"), np.array([1, 2], "int32"),
    ...                       [[1.0], [3.0]]).eval()
    array([[6.]])
    """

    __props__ = ("format",)

    def __init__(self, format: str):
        self.format = format

    def make_node(
        self, data: TensorLike, indices: TensorLike, indptr: TensorLike, shape: TensorLike, b: TensorLike
    ) -> Apply:
        inputs = [as_tensor_variable(v) for v in (data, indices, indptr, shape, b)]
        dtype = scal.upcast(inputs[0].type.dtype, inputs[4].type.dtype)
        return Apply(self, inputs, [TensorType(dtype, (False, *inputs[4].type.broadcastable[1:])).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Multiply with SciPy."""
        *parts, b = inputs
        output_storage[0][0] = np.asarray(assembled(self.format, *parts) @ b, dtype=node.outputs[0].type.dtype)

    def infer_shape(self, node: Node, shapes: Shapes) -> list[Shape]:
        """Return the outer lengths."""
        return [(node.inputs[3][0], *shapes[4][1:])]


class AddedProduct(Op):
    """``alpha * a b + z`` of a sparse matrix ``a`` and dense ones ``b`` and ``z``.

    Inputs: alpha, the parts of ``a``, ``b`` and ``z``.

    Parameters
    ----------
    format : "csr" or "csc"
    inplace : bool
        Whether ``z`` is overwritten.
    """

    __props__ = ("format", "inplace")

    def __init__(self, format: str, inplace: bool = False):
        self.format, self.inplace = format, inplace
        if inplace:
            self.destroy_map = {0: [6]}

    def __str__(self) -> str:
        return f"AddedProduct{{{self.format},{'inplace' if self.inplace else 'no_inplace'}}}"

    def make_node(self, alpha: Any, data: Any, indices: Any, indptr: Any, shape: Any, b: Any, z: Any) -> Apply:
        inputs = [as_tensor_variable(v) for v in (alpha, data, indices, indptr, shape, b, z)]
        dtype = scal.upcast(*(inputs[i].type.dtype for i in (0, 1, 5, 6)))
        if self.inplace and (inputs[6].type.dtype != dtype or any(inputs[6].type.broadcastable)):
            raise TypeError(f"{self}: z of type {inputs[6].type} cannot hold a matrix of {dtype}")
        return Apply(self, inputs, [TensorType(dtype, (False, False)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Multiply with SciPy."""
        alpha, *parts, b, z = inputs
        found = alpha * (assembled(self.format, *parts) @ b) + z
        if self.inplace:
            z[...] = found
            found = z
        output_storage[0][0] = np.asarray(found, dtype=node.outputs[0].type.dtype)

    def infer_shape(self, node: Node, shapes: Shapes) -> list[Shape]:
        """Return the outer lengths."""
        return [(node.inputs[4][0], shapes[5][1])]


class SparseProduct(Op):
    """The product of two sparse matrices of one format: data, indices and indptr.

    Inputs: the parts of both. The places of each line are in the order in which they come up first.

    Parameters
    ----------
    format : "csr" or "csc"
    """

    __props__ = ("format",)

    def __init__(self, format: str):
        self.format = format

    def make_node(self, *parts: Any) -> Apply:
        inputs = [as_tensor_variable(v) for v in parts]
        dtype = scal.upcast(inputs[0].type.dtype, inputs[4].type.dtype)
        return Apply(self, inputs, [TensorType(dtype, (False,))(), INDEX(), INDEX()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Write all products down, and add those of one place."""
        x, y = inputs[:4], inputs[4:]
        if x[3][1] != y[3][0]:
            raise ValueError(f"Shape mismatch: {x[3][1]} columns against {y[3][0]} rows.")
        if self.format == "csc":  # the columns of the product are sums of columns of the first
            x, y = y, x
        width = int(y[3][1 if self.format == "csr" else 0])
        lines = np.repeat(np.arange(len(x[2]) - 1), np.diff(x[2]))
        counts = np.diff(y[2])[x[1]]
        first = np.repeat(y[2][x[1]] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts) if len(counts) else 0
        each = (np.arange(counts.sum()) + first).astype("int64")
        places = np.repeat(lines, counts) * width + y[1][each]
        _, where, inverse = np.unique(places, return_index=True, return_inverse=True)
        order = np.argsort(where)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        data = np.zeros(len(order), node.outputs[0].type.dtype)
        np.add.at(data, rank[inverse], np.repeat(x[0], counts) * y[0][each])
        stored = places[where[order]]
        ends = np.searchsorted(stored // max(width, 1), np.arange(len(x[2])))
        found = (data, (stored % max(width, 1)).astype("int32"), ends.astype("int32"))
        for cell, value in zip(output_storage, found, strict=True):
            cell[0] = value

    def infer_shape(self, node: Node, shapes: Sequence[Sequence[Tensor]]) -> list[Shape | None]:
        """Return the known lengths: the number of lines."""
        lines = node.inputs[3][0] if self.format == "csr" else node.inputs[7][1]
        return [None, None, (lines + 1,)]
