"""SpSum, and the scaling of rows and columns, which is its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.graph import Apply, Op
from theano.sparse.parts.alike import sp_ones_like, times_each
from theano.sparse.parts.elements import Cells, index_vector
from theano.sparse.parts.op import compressed, length
from theano.sparse.structure.dense import SparseFromDense, dense_from_sparse
from theano.sparse.type import SparseType
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.alloc import ones_like
from theano.tensor.messages import shape_error
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Values
    from theano.graph.variable import Variable
    from theano.sparse.annotations import Sparse, SparseLike
    from theano.tensor.annotations import Shape, Shapes, TensorLike
    from theano.tensor.type import Tensor


class SpSum(Op):
    """The sum of all elements of a sparse matrix, of each column (axis 0) or of each row (axis 1).

    Parameters
    ----------
    axis : None, 0 or 1
        Negative axes count from the last.
    sparse_grad : bool
        Whether the gradient is structured.
    """

    __props__ = ("axis",)
    linear_in = (0,)

    def __init__(self, axis: int | None = None, sparse_grad: bool = True):
        if axis not in (None, 0, 1, -1, -2):
            raise ValueError(f"SpSum: a matrix has no axis {axis!r}; it is None, 0 or 1")
        self.axis = axis if axis is None else axis % 2
        self.structured = sparse_grad

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpSum) and (self.axis, self.structured) == (other.axis, other.structured)

    def __hash__(self) -> int:
        return hash((type(self), self.axis, self.structured))

    def __str__(self) -> str:
        return f"SpSum{{axis={self.axis}}}"

    def make_node(self, x: SparseLike) -> Apply:
        x = compressed(x, self)
        return Apply(self, [x], [TensorType(x.type.dtype, () if self.axis is None else (False,)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Add the stored numbers; SciPy's own sum would sort the indices of the matrix that it is given."""
        (x,), dtype = inputs, node.outputs[0].type.dtype
        if self.axis is None:
            output_storage[0][0] = np.asarray(x.data.sum(dtype=dtype))
        else:
            output_storage[0][0] = _sums(x.format, self.axis, x.data, x.indices, x.indptr, x.shape).astype(
                dtype, copy=False
            )

    def infer_shape(self, node: Node, shapes: Shapes) -> list[Shape]:
        """Return the length of the other axis."""
        return [() if self.axis is None else (length(node.inputs[0], 1 - self.axis),)]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient for each element that was added: those stored, or all."""
        (x,), (g,) = inputs, output_grads
        if x.type.dtype in scal.discrete_dtypes:
            return [x.zeros_like(dtype="floatX")]
        if not self.structured:
            wide = g if self.axis is None else g.dimshuffle("x", 0) if self.axis == 0 else g.dimshuffle(0, "x")
            return [SparseFromDense(x.type.format)(wide * ones_like(dense_from_sparse(x)))]
        ones = sp_ones_like(x)
        return [ones * g if self.axis is None else (col_scale if self.axis == 0 else row_scale)(ones, g)]


def _sums(
    format: str,
    axis: int,
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    shape: np.ndarray | tuple[int, ...],
) -> np.ndarray:
    """Return the sums of stored numbers over an axis."""
    sums = np.zeros(shape[1 - axis], data.dtype)
    lines = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    np.add.at(sums, lines if (format == "csr") == (axis == 1) else indices[: len(lines)], data[: len(lines)])
    return sums


def sp_sum(x: Any, axis: int | None = None, sparse_grad: bool = False) -> Tensor:
    """Return the sum of a sparse matrix, a dense tensor.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.
    axis : None, 0 or 1
        None adds all elements, 0 those of each column, 1 those of each row.
    sparse_grad : bool
        Whether the gradient is structured: one of the stored numbers alone.

    Returns
    -------
    TensorVariable
        Without dimensions, or a vector.

    See Also
    --------
    theano.tensor.sum

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> sp_sum(sp.csr_matrix([[0.0, 2.0], [1.0, 1.0]]), axis=1).eval()
    array([2., 2.])
    """
    return SpSum(axis, sparse_grad)(x)


class _Scale(Op):
    """Base of the two scales."""

    __props__ = ()
    axis: int
    linear_in = (0, 1)
    shapes = "A->A"

    def make_node(self, x: SparseLike, s: Any) -> Apply:
        x, s = compressed(x, self, "input 0"), as_tensor_variable(s)
        if s.type.ndim != 1:
            raise TypeError(f"{self}: input 1 must be a vector, but {s} is of type {s.type}")
        return Apply(self, [x, s], [SparseType(x.type.format, scal.upcast(x.type.dtype, s.type.dtype)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Multiply the stored numbers."""
        x, s = inputs
        if len(s) != x.shape[self.axis]:
            raise shape_error(
                node, inputs, f"Shape mismatch: a matrix of shape {x.shape} against {len(s)} scales.",
                f"There must be one for each {('row', 'column')[self.axis]}.",
            )  # fmt: skip
        along = (self.axis == 1) == (x.format == "csr")
        y = x.astype(node.outputs[0].type.dtype, copy=True)
        y.data = y.data * (s[x.indices] if along else np.repeat(s, np.diff(x.indptr)))
        y.data = y.data.astype(node.outputs[0].type.dtype, copy=False)
        output_storage[0][0] = y

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the scaled gradient, and the sums of what each scale multiplies."""
        (x, s), (g,) = inputs, output_grads
        return [self(g, s), times_each(x, g).sum(axis=1 - self.axis, sparse_grad=True)]


class ColScaleCSC(_Scale):
    """A sparse matrix whose columns are multiplied by the elements of a vector."""

    axis = 1


class RowScaleCSC(_Scale):
    """A sparse matrix whose rows are multiplied by the elements of a vector."""

    axis = 0


def col_scale(x: SparseLike, s: TensorLike) -> Sparse:
    """Return a sparse matrix whose columns are multiplied by the elements of ``s``.

    The gradient is structured.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.
    s : vector
        One element for each column.

    Returns
    -------
    SparseVariable
        It stores numbers where ``x`` does.

    See Also
    --------
    row_scale, mul

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> col_scale(sp.csr_matrix([[1.0, 2.0]]), [3.0, 4.0]).eval().toarray()
    array([[3., 8.]])
    """
    return ColScaleCSC()(x, s)


def row_scale(x: SparseLike, s: TensorLike) -> Sparse:
    """Return a sparse matrix whose rows are multiplied by the elements of ``s``.

    The gradient is structured.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.
    s : vector
        One element for each row.

    Returns
    -------
    SparseVariable
        It stores numbers where ``x`` does.

    See Also
    --------
    col_scale, mul

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> row_scale(sp.csr_matrix([[1.0, 2.0]]), [3.0]).eval().toarray()
    array([[3., 6.]])
    """
    return RowScaleCSC()(x, s)


class SumOfParts(Op):
    """The sums of the stored numbers of each line, or of each place along the lines.

    Inputs: data, indices, indptr and shape.

    Parameters
    ----------
    format : "csr" or "csc"
    axis : 0 or 1
        The axis that is summed over.

    Examples
    --------
    >>> SumOfParts("csr", 1)([2.0, 3.0], [1, 0], [0, 2], [1, 2]).eval()
    array([5.])
    """

    __props__ = ("format", "axis")

    def __init__(self, format: str, axis: int):
        self.format, self.axis = format, axis

    def make_node(self, data: Any, indices: Any, indptr: Any, shape: Any) -> Apply:
        parts = [index_vector(v, name) for v, name in ((indices, "indices"), (indptr, "indptr"), (shape, "shape"))]
        data = as_tensor_variable(data)
        return Apply(self, [data, *parts], [TensorType(data.type.dtype, (False,)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Add with NumPy."""
        output_storage[0][0] = _sums(self.format, self.axis, *inputs)

    def infer_shape(self, node: Node, shapes: Shapes) -> list[Shape]:
        """Return the length of the other axis."""
        return [(node.inputs[3][1 - self.axis],)]


__all__ = ["ColScaleCSC", "RowScaleCSC", "SpSum", "col_scale", "row_scale", "sp_sum"]
