"""Sums and products of sparse matrices as ops on their parts: what compiled code computes."""

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
    from theano.tensor.annotations import Shape, TensorLike


class Union(Op):
    """The sum, or the product element by element, of two sparse matrices of one format: data, indices and indptr.

    Inputs: the parts of both. Each line of the result is in order, and no zeros are stored.

    Parameters
    ----------
    format : "csr" or "csc"
    multiplies : bool
        Whether it is the product.
    """

    __props__ = ("format", "multiplies")

    def __init__(self, format: str, multiplies: bool):
        self.format, self.multiplies = format, multiplies

    def make_node(self, *parts: TensorLike) -> Apply:
        inputs = [as_tensor_variable(v) for v in parts]
        dtype = scal.upcast(inputs[0].type.dtype, inputs[4].type.dtype)
        return Apply(self, inputs, [TensorType(dtype, (False,))(), INDEX(), INDEX()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Compute with SciPy."""
        x, y = assembled(self.format, *inputs[:4]), assembled(self.format, *inputs[4:])
        found = (x.multiply(y) if self.multiplies else x + y).asformat(self.format)
        found.sort_indices()
        for cell, value in zip(output_storage, (found.data, found.indices, found.indptr), strict=True):
            cell[0] = np.asarray(value, dtype=node.outputs[0].type.dtype if cell is output_storage[0] else "int32")

    def infer_shape(self, node: Node, shapes: Sequence[Any]) -> list[Shape]:
        """Return the known lengths: the number of lines."""
        return [None, None, shapes[2]]
