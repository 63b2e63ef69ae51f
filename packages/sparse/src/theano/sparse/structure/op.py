"""Transposes, diagonals, stacks, and matrices tidied up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from theano import scalar as scal
from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.sparse.compressed import assembled
from theano.sparse.parts.elements import Cells
from theano.sparse.parts.op import as_format, compressed, length
from theano.sparse.type import SparseType
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import minimum
from theano.tensor.index.advanced import AdvancedSubtensor1, advanced_subtensor1, sparse_gradient
from theano.tensor.messages import shape_error
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Values
    from theano.graph.variable import Variable
    from theano.sparse.annotations import Sparse, SparseLike
    from theano.tensor.annotations import Shape, Shapes
    from theano.tensor.type import Tensor

_OTHER = {"csr": "csc", "csc": "csr"}


class _Linear(Op):
    """Base of ops of one input whose derivative along a direction is what they make of it."""

    __props__: tuple[str, ...] = ()
    linear_in = (0,)


class Transpose(_Linear):
    """The transpose: csr becomes csc, and csc becomes csr, of the same arrays.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.

    Returns
    -------
    SparseVariable
        Of the other format and the same dtype.

    Examples
    --------
    >>> import theano.sparse as S
    >>> transpose(S.csr_dmatrix("x")).type
    Sparse[float64, csc]
    """

    view_map = {0: [0]}
    slopes_of_whole = True
    shapes = "ij->ji"

    def __str__(self) -> str:
        return "Sparse" + type(self).__name__

    def make_node(self, x: Sparse) -> Apply:
        x = compressed(x, self)
        return Apply(self, [x], [SparseType(_OTHER[x.type.format], x.type.dtype).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Transpose with SciPy."""
        output_storage[0][0] = inputs[0].T

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the transpose of the gradient."""
        return [output_grads[0].T]


transpose = Transpose()


class Diag(_Linear):
    """The diagonal of a square sparse matrix, a dense vector.

    Parameters
    ----------
    x : sparse variable
        Square.

    Returns
    -------
    TensorVariable
        A vector of the dtype of ``x``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> diag(sp.csr_matrix([[1.0, 2.0], [0.0, 3.0]])).eval()
    array([1., 3.])
    """

    def make_node(self, x: SparseLike) -> Apply:
        x = compressed(x, self)
        return Apply(self, [x], [TensorType(x.type.dtype, (False,)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Take it out with SciPy."""
        (x,) = inputs
        if x.shape[0] != x.shape[1]:
            raise shape_error(
                node, inputs, f"a matrix of shape {x.shape} is not square.", "Diag is for square matrices."
            )
        output_storage[0][0] = x.diagonal()

    def infer_shape(self, node: Node, shapes: Shapes) -> list[Shape]:
        """Return the shorter length."""
        return [(minimum(length(node.inputs[0], 0), length(node.inputs[0], 1)),)]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the diagonal matrix of the gradient."""
        return [as_format(square_diagonal(output_grads[0]), inputs[0].type.format)]


diag = Diag()


class SquareDiagonal(_Linear):
    """The csc matrix with a vector on its diagonal.

    Parameters
    ----------
    diag : vector
        The diagonal.

    Returns
    -------
    SparseVariable
        Of csc format, with a row and a column for each number.

    Examples
    --------
    >>> square_diagonal([1.0, 3.0]).eval().toarray()
    array([[1., 0.],
           [0., 3.]])
    """

    shapes = "i->ii"

    def make_node(self, diag: Any) -> Apply:
        diag = as_tensor_variable(diag)
        if diag.type.ndim != 1:
            raise TypeError(f"{self}: a vector is needed, but {diag} is of type {diag.type}")
        return Apply(self, [diag], [SparseType("csc", diag.type.dtype).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Put it together."""
        n = len(inputs[0])
        places = np.arange(n + 1, dtype="int32")
        output_storage[0][0] = assembled("csc", inputs[0].copy(), places[:n].copy(), places, (n, n))

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the diagonal of the gradient."""
        return [diag(output_grads[0])]


square_diagonal = SquareDiagonal()


class EnsureSortedIndices(_Linear):
    """A matrix itself, with the indices of each line in order.

    Parameters
    ----------
    inplace : bool
        Whether the input is sorted rather than a copy.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> ensure_sorted_indices(sp.csr_matrix(([1.0, 2.0], [1, 0], [0, 2]))).eval().indices
    array([0, 1], dtype=int32)
    """

    __props__ = ("inplace",)
    shapes = "A->A"

    def __init__(self, inplace: bool):
        self.inplace = inplace
        self.view_map = {0: [0]}
        if inplace:
            self.view_map = {}
            self.destroy_map = {0: [0]}

    def __str__(self) -> str:
        return type(self).__name__ + ("{inplace}" if self.inplace else "{no_inplace}")

    def make_node(self, x: Sparse) -> Apply:
        """Return the node for a matrix.

        Parameters
        ----------
        x : sparse variable
            Of csr or csc format.

        Returns
        -------
        SparseVariable
            Of the type of ``x``.
        """
        x = compressed(x, self)
        return Apply(self, [x], [x.type()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Sort with SciPy."""
        (x,) = inputs
        if self.inplace:
            x.has_sorted_indices = False
            x.sort_indices()
        elif not assembled(x.format, x.data, x.indices, x.indptr, x.shape).has_sorted_indices:
            x = x.copy()
            x.has_sorted_indices = False
            x.sort_indices()
        output_storage[0][0] = x

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient as it is."""
        return [output_grads[0]]


ensure_sorted_indices = EnsureSortedIndices(inplace=False)


class Remove0(_Linear):
    """A matrix without the zeros that it stores.

    Parameters
    ----------
    inplace : bool
        Whether they are removed from the input rather than from a copy.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> remove0(sp.csr_matrix(([1.0, 0.0], [0, 1], [0, 2]))).eval().nnz
    1
    """

    __props__ = ("inplace",)
    shapes = "A->A"

    def __init__(self, inplace: bool = False):
        self.inplace = inplace
        if inplace:
            self.destroy_map = {0: [0]}

    def __str__(self) -> str:
        return type(self).__name__ + ("{inplace}" if self.inplace else "")

    def make_node(self, x: SparseLike) -> Apply:
        """Return the node for a matrix.

        Parameters
        ----------
        x : sparse variable
            Of csr or csc format.

        Returns
        -------
        SparseVariable
            Of the type of ``x``.
        """
        x = compressed(x, self)
        return Apply(self, [x], [x.type()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Remove them with SciPy."""
        x = inputs[0] if self.inplace else inputs[0].copy()
        x.eliminate_zeros()
        output_storage[0][0] = x

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient as it is."""
        return [output_grads[0]]


remove0 = Remove0()


def clean(x: SparseLike) -> Sparse:
    """Return a matrix without stored zeros, the indices of each line in order.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.

    Returns
    -------
    SparseVariable
        The same matrix.

    See Also
    --------
    remove0, ensure_sorted_indices

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> clean(sp.csr_matrix(([0.0, 2.0], [1, 0], [0, 2]), shape=(1, 2))).eval().nnz
    1
    """
    return ensure_sorted_indices(remove0(x))


# -- stacks ----------------------------------------------------------------------------------------------------


class HStack(Op):
    """Sparse matrices side by side.

    Parameters
    ----------
    format : "csr", "csc" or None
        Of the result; csc by default.
    dtype : str or None
        Of the result; the one that holds all of them by default.
    """

    __props__ = ("format", "dtype")
    axis = 1
    linear_in = (slice(None),)

    def __init__(self, format: str | None = None, dtype: str | None = None):
        self.format = "csc" if format is None else format
        if dtype is None:
            raise ValueError(
                f"{type(self).__name__}: the dtype of the result must be given; hstack and vstack find it out"
            )
        self.dtype = dtype

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.format},{self.dtype})"

    def make_node(self, *mat: Sparse) -> Apply:
        if not mat:
            raise ValueError(f"{type(self).__name__}: the list of matrices to stack is empty")
        blocks = [compressed(x, self, f"input {i}") for i, x in enumerate(mat)]
        return Apply(self, blocks, [SparseType(self.format, self.dtype).make_variable()])

    def perform(self, node: Node, block: Values, output_storage: Cells) -> None:
        """Stack with SciPy."""
        other = 1 - self.axis
        if len({x.shape[other] for x in block}) != 1:
            raise shape_error(
                node, block, f"Shape mismatch: the shapes are {', '.join(str(x.shape) for x in block)}.",
                f"All must have as many {('rows', 'columns')[other]}.",
            )  # fmt: skip
        stack = sp.hstack if self.axis else sp.vstack
        output_storage[0][0] = stack([sp.coo_matrix(x) for x in block], format=self.format).astype(self.dtype)

    def infer_shape(self, node: Node, shapes: Shapes) -> list[Shape]:
        """Return the sum of the lengths along the axis, and the other one of the first."""
        total: Tensor = sum((length(x, self.axis) for x in node.inputs[1:]), length(node.inputs[0], self.axis))
        other = length(node.inputs[0], 1 - self.axis)
        return [(other, total) if self.axis else (total, other)]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the parts of the gradient."""
        (g,), start = output_grads, as_tensor_variable(np.int64(0))
        found = []
        for x in inputs:
            end = start + length(x, self.axis)
            part = g[:, start:end] if self.axis else g[start:end]
            found.append(part.astype(x.type.dtype) if x.type.dtype in scal.continuous_dtypes else part)
            start = end
        return found


class VStack(HStack):
    """Sparse matrices one below the other; see `HStack`."""

    axis = 0


def hstack(blocks: Sequence[SparseLike], format: str | None = None, dtype: str | None = None) -> Sparse:
    """Return sparse matrices side by side.

    Parameters
    ----------
    blocks : sequence of sparse variables
        Of equally many rows.
    format : "csr" or "csc", optional
        Of the result; csc by default.
    dtype : str, optional
        Of the result; the one that holds all of them by default.

    Returns
    -------
    SparseVariable
        Its columns are those of all blocks.

    See Also
    --------
    vstack

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> hstack([sp.eye(2, format="csr"), sp.eye(2, format="csc")]).eval().shape
    (2, 4)
    """
    return _stacked(HStack, blocks, format, dtype)


def vstack(blocks: Sequence[SparseLike], format: str | None = None, dtype: str | None = None) -> Sparse:
    """Return sparse matrices one below the other; see `hstack`.

    Parameters
    ----------
    blocks : sequence of sparse variable
        Of equally many columns.
    format : "csr" or "csc", optional
        Of the result; csc by default.
    dtype : str, optional
        Of the result; the one that holds all of them by default.

    Returns
    -------
    SparseVariable
        Its rows are those of all blocks.

    See Also
    --------
    hstack

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> vstack([sp.eye(2, format="csr"), sp.eye(2, format="csc")]).eval().shape
    (4, 2)
    """
    return _stacked(VStack, blocks, format, dtype)


def _stacked(kind: type[HStack], blocks: Sequence[Any], format: str | None, dtype: str | None) -> Sparse:
    blocks = [compressed(x, kind.__name__, f"block {i}") for i, x in enumerate(blocks)]
    if dtype is None:
        dtype = scal.upcast(*(x.type.dtype for x in blocks))
    return kind(format=format, dtype=dtype)(*blocks)


# -- a matrix of rows ------------------------------------------------------------------------------------------


def sparse_grad(var: Tensor) -> Tensor:
    """Return rows of a matrix, read by a list of places, with a sparse gradient for the matrix.

    Parameters
    ----------
    var : variable
        ``x[places]``.

    Raises
    ------
    TypeError
        It is anything else.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, places = T.dmatrix("x"), T.lvector("places")
    >>> theano.grad(sparse_grad(x[places]).sum(), x).type
    Sparse[float64, csc]
    """
    if var.owner is None or not isinstance(var.owner.op, AdvancedSubtensor1):
        raise TypeError(f"sparse_grad is for rows that a list names, x[places], not for {var}")
    return AdvancedSubtensor1(sparse_grad=True)(*var.owner.inputs)


class ConstructSparseFromList(Op):
    """The csc matrix of the shape of ``x`` that is 0 but in some rows, which are those of a dense matrix.

    Inputs: ``x``, a dense matrix that only says the shape; the rows, a dense matrix; and the number of the row for
    each, a vector of integers. Rows that are named several times are added.

    Parameters
    ----------
    x : matrix
        Its shape is that of the result; its numbers are not read.
    values : matrix
        The rows.
    ilist : vector of int
        The number of each row in the result. Rows of the same number are added.

    Returns
    -------
    SparseVariable
        Of csc format and the dtype of ``x``.

    Examples
    --------
    >>> construct_sparse_from_list(np.zeros((3, 2)), [[1.0, 2.0]], [2]).eval().toarray()
    array([[0., 0.],
           [0., 0.],
           [1., 2.]])
    """

    __props__ = ()
    linear_in = (1,)
    shapes = "A->A"

    def make_node(self, x: Any, values: Any, ilist: Any) -> Apply:
        x, values, ilist = map(as_tensor_variable, (x, values, ilist))
        if ilist.type.dtype not in scal.integer_dtypes:
            raise TypeError(f"{self}: the numbers of the rows must be integers, but {ilist} is of type {ilist.type}")
        if ilist.type.ndim != 1:
            raise TypeError(f"{self}: the numbers of the rows must be a vector, but {ilist} is of type {ilist.type}")
        if x.type.ndim != 2:
            raise TypeError(f"{self}: a matrix must say the shape, but {x} is of type {x.type}")
        if values.type.ndim != 2:
            raise TypeError(f"{self}: the rows must be a matrix, but {values} is of type {values.type}")
        return Apply(self, [x, values, ilist], [SparseType("csc", x.type.dtype).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Put it together."""
        x, values, ilist = inputs
        if values.shape != (len(ilist), x.shape[1]):
            raise shape_error(
                node, inputs, f"Shape mismatch: rows of shape {values.shape} for {len(ilist)} places.",
                f"There must be one of {x.shape[1]} elements for each.",
            )  # fmt: skip
        places = np.where(ilist < 0, ilist + x.shape[0], ilist)
        if len(places) and (places.min() < 0 or places.max() >= x.shape[0]):
            raise IndexError(f"{self}: a row is named that is none of {x.shape[0]}: {ilist}")
        rows, columns = np.repeat(places, x.shape[1]), np.tile(np.arange(x.shape[1]), len(ilist))
        made = sp.coo_matrix((values.reshape(-1), (rows, columns)), shape=x.shape, dtype=x.dtype).tocsc()
        output_storage[0][0] = made

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that the numbers are those of the rows."""
        return [[True], [True], [False]]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient, and its rows."""
        (x, _, ilist), (g,) = inputs, output_grads
        dense = g.toarray() if isinstance(g.type, SparseType) else g
        return [x.zeros_like(), advanced_subtensor1(dense, ilist), DisconnectedType()()]


construct_sparse_from_list = ConstructSparseFromList()
sparse_gradient.register(lambda x, g, places: construct_sparse_from_list(x, g, places))

__all__ = [
    "ConstructSparseFromList", "Diag", "EnsureSortedIndices", "HStack", "Remove0", "SquareDiagonal", "Transpose",
    "VStack", "clean", "construct_sparse_from_list", "diag", "ensure_sorted_indices", "hstack", "remove0",
    "square_diagonal", "transpose", "vstack",
]  # fmt: skip
