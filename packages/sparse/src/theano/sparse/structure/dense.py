"""From sparse to dense matrices and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import Apply, Op
from theano.sparse.compressed import CLASSES
from theano.sparse.convert import as_sparse_variable
from theano.sparse.parts.alike import with_data
from theano.sparse.parts.elements import Cells, elements_at
from theano.sparse.parts.op import csm_properties, length
from theano.sparse.type import SparseType
from theano.tensor.convert import as_tensor_variable
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Values
    from theano.graph.variable import Variable
    from theano.sparse.annotations import SparseLike
    from theano.tensor.annotations import Shape
    from theano.tensor.type import Tensor


class DenseFromSparse(Op):
    """The dense matrix of a sparse one.

    Parameters
    ----------
    structured : bool
        The gradient is one with respect to the stored numbers alone; else each place has one, and the gradient,
        a sparse matrix, stores all that are not 0.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> dense_from_sparse(sp.csr_matrix([[0.0, 2.0]])).eval()
    array([[0., 2.]])
    """

    __props__ = ()
    slopes_of_whole = True
    linear_in = (0,)

    def __init__(self, structured: bool = True):
        self.sparse_grad = structured

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other) and isinstance(other, DenseFromSparse) and self.sparse_grad == other.sparse_grad
        )

    def __hash__(self) -> int:
        return hash((type(self), self.sparse_grad))

    def __str__(self) -> str:
        return f"DenseFromSparse{{structured_grad={self.sparse_grad}}}"

    def make_node(self, x: SparseLike) -> Apply:
        """Return the node for a sparse matrix.

        Parameters
        ----------
        x : sparse variable or matrix
            Of any format.

        Returns
        -------
        TensorVariable
            A matrix of the shape and dtype of ``x``.
        """
        x = as_sparse_variable(x)
        return Apply(self, [x], [TensorType(x.type.dtype, (False, False)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Let SciPy do it."""
        output_storage[0][0] = np.asarray(inputs[0].toarray())

    def infer_shape(self, node: Node, shapes: Sequence[Sequence[Tensor]]) -> list[Shape | None]:
        """Return the shape of the input."""
        x = node.inputs[0]
        return [None if x.type.format == "bsr" else (length(x, 0), length(x, 1))]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient where numbers are stored, or all of it."""
        (x,), (g,) = inputs, output_grads
        if not self.sparse_grad:
            return [SparseFromDense(x.type.format)(g)]
        _, *places = csm_properties(x)
        return [with_data(x, elements_at(x.type.format)(*places, g))]


dense_from_sparse = DenseFromSparse()


class SparseFromDense(Op):
    """The sparse matrix that stores what is not 0 in a dense one.

    Parameters
    ----------
    format : "csr", "csc" or "bsr"
        That of the result.

    Examples
    --------
    >>> csr_from_dense([[0.0, 2.0]]).eval().nnz
    1
    """

    __props__ = ("format",)
    slopes_of_whole = True
    linear_in = (0,)
    shapes = "A->A"

    def __init__(self, format: str):
        if format not in CLASSES:
            raise ValueError(f"SparseFromDense: the format must be one of {', '.join(CLASSES)}, not {format!r}")
        self.format = format

    def __str__(self) -> str:
        return f"SparseFromDense{{{self.format}}}"

    def make_node(self, x: Any) -> Apply:
        """Return the node for a dense matrix.

        Parameters
        ----------
        x : tensor of at most 2 dimensions
            A vector is a row, a number a matrix of shape (1, 1).

        Returns
        -------
        SparseVariable
            Of the shape and dtype of ``x``.

        Raises
        ------
        TypeError
            ``x`` has more than 2 dimensions.
        """
        x = as_tensor_variable(x)
        if x.type.ndim > 2:
            raise TypeError(f"{self}: a matrix is needed, but {x} is of type {x.type}")
        if x.type.ndim < 2:
            x = x.dimshuffle(*("x",) * (2 - x.type.ndim), *range(x.type.ndim))
        return Apply(self, [x], [SparseType(self.format, x.type.dtype).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Let SciPy do it."""
        output_storage[0][0] = CLASSES[self.format](inputs[0])

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient as a dense matrix."""
        (x,), (g,) = inputs, output_grads
        found: Tensor = dense_from_sparse(g) if isinstance(g.type, SparseType) else g
        from_one = [axis for axis, one in enumerate(x.type.broadcastable) if one]
        return [found.sum(axis=from_one, keepdims=True) if from_one else found]


csr_from_dense, csc_from_dense = SparseFromDense("csr"), SparseFromDense("csc")

__all__ = ["DenseFromSparse", "SparseFromDense", "csc_from_dense", "csr_from_dense", "dense_from_sparse"]
