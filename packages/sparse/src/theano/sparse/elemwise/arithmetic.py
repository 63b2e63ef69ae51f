"""Sums, differences, products and quotients of sparse matrices with each other and with dense operands.

Dense operands may have fewer dimensions, or length 1 along one, as with NumPy. What is not stored is 0, in sums as in
products: only the ops whose names begin with ``structured`` leave it alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.graph import Apply, Op
from theano.sparse.convert import as_sparse_or_tensor_variable, as_sparse_variable, is_sparse
from theano.sparse.parts.alike import sp_ones_like, times_each, with_data
from theano.sparse.parts.elements import Cells
from theano.sparse.parts.op import compressed, csm_data, length
from theano.sparse.structure.dense import dense_from_sparse
from theano.sparse.type import SparseType
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.alloc import zeros_like
from theano.tensor.elemwise import functions as F
from theano.tensor.messages import shape_error
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Values
    from theano.graph.variable import Variable
    from theano.sparse.annotations import Sparse, SparseLike, SparseMatrix
    from theano.tensor.annotations import Shape, Shapes, TensorLike
    from theano.tensor.type import Tensor


def as_matrix(y: TensorLike) -> Tensor:
    """Return a dense operand with two dimensions, new ones of length 1 at the left."""
    y = as_tensor_variable(y)
    if y.type.ndim > 2:
        raise TypeError(f"a sparse matrix meets a tensor of {y.type.ndim} dimensions, {y}: at most 2 are possible")
    return y if y.type.ndim == 2 else y.dimshuffle(*("x",) * (2 - y.type.ndim), *range(y.type.ndim))


def fitted(g: Tensor, y: Tensor) -> Tensor:
    """Return the gradient of a dense operand, summed along the axes that were stretched."""
    axes = [axis for axis, one in enumerate(y.type.broadcastable) if one]
    return g.sum(axis=axes, keepdims=True) if axes else g


def refuse_shapes(node: Node, inputs: Sequence[np.ndarray | SparseMatrix]) -> None:
    """Raise the error about operands that are not equally long, unless a type says that one is stretched."""
    (x, y), ones = inputs, getattr(node.inputs[1].type, "broadcastable", (False, False))
    for axis in range(2):
        if x.shape[axis] != y.shape[axis] and not (ones[axis] and y.shape[axis] == 1):
            raise shape_error(
                node, inputs, f"Shape mismatch: {x.shape} against {y.shape}.",
                "The two must be equally long along both axes; dense ones may be 1 long where their type says so.",
            )  # fmt: skip


class _TwoSparse(Op):
    """Base of the ops on two sparse matrices; the result has the format of the first."""

    __props__ = ()
    shapes = "A->A"

    def make_node(self, x: SparseLike, y: SparseLike) -> Apply:
        x, y = compressed(x, self, "input 0"), compressed(y, self, "input 1")
        return Apply(self, [x, y], [SparseType(x.type.format, self.dtype_of(x, y)).make_variable()])

    def dtype_of(self, x: Sparse, y: Sparse) -> str:
        """Return the dtype of the result."""
        return scal.upcast(x.type.dtype, y.type.dtype)


class AddSS(_TwoSparse):
    """The sum of two sparse matrices: it stores what is stored by either and not 0, in order.

    Parameters
    ----------
    x, y : sparse variable
        Of one shape, each of csr or csc format.

    Returns
    -------
    SparseVariable
        Of the format of ``x`` and the common dtype.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> x = sp.csr_matrix([[0.0, 2.0]])
    >>> add_s_s(x, x).eval().toarray()
    array([[0., 4.]])
    """

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Add with SciPy."""
        refuse_shapes(node, inputs)
        x, y = inputs
        out = node.outputs[0].type
        found = (x + y).asformat(out.format).astype(out.dtype)
        found.sort_indices()
        output_storage[0][0] = found

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient for both."""
        return [output_grads[0], output_grads[0]]

    def R_op(self, inputs: Operands, eval_points: Operands) -> list[Variable | None]:
        """Return the sum of the directions."""
        dx, dy = eval_points
        return [dy if dx is None else dx if dy is None else self(dx, dy)]


class AddSSData(_TwoSparse):
    """The sum of two sparse matrices of one structure: their numbers are added, and indices are not compared.

    Parameters
    ----------
    x, y : sparse variable
        Of one type, with the same ``indices`` and ``indptr``.

    Returns
    -------
    SparseVariable
        Of the structure of ``x``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> x = sp.csr_matrix([[0.0, 2.0]])
    >>> add_s_s_data(x, x).eval().toarray()
    array([[0., 4.]])
    """

    def make_node(self, x: SparseLike, y: SparseLike) -> Apply:
        """Return the node; formats must be the same."""
        x, y = compressed(x, self, "input 0"), compressed(y, self, "input 1")
        if x.type != y.type:
            raise NotImplementedError(f"{self}: both matrices must be of one type, not {x.type} and {y.type}")
        return Apply(self, [x, y], [x.type()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Add the numbers."""
        x, y = inputs
        if x.shape != y.shape or x.data.shape != y.data.shape:
            raise shape_error(node, inputs, "The matrices are not of one structure.", "add_s_s adds any two.")
        out = x.copy()
        out.data = x.data + y.data
        output_storage[0][0] = out

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient for both."""
        return [output_grads[0], output_grads[0]]

    def R_op(self, inputs: Operands, eval_points: Operands) -> list[Variable | None]:
        """Return the sum of the directions."""
        dx, dy = eval_points
        return [dy if dx is None else dx if dy is None else self(dx, dy)]


class AddSD(Op):
    """The sum of a sparse and a dense matrix, a dense one.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.
    y : matrix
        Of the same shape.

    Returns
    -------
    TensorVariable
        A matrix of the common dtype.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> add_s_d(sp.csr_matrix([[0.0, 2.0]]), [[1.0, 1.0]]).eval()
    array([[1., 3.]])
    """

    __props__ = ()

    def make_node(self, x: SparseLike, y: Any) -> Apply:
        x, y = compressed(x, self, "input 0"), as_matrix(y)
        return Apply(self, [x, y], [_dense_like(x, scal.upcast(x.type.dtype, y.type.dtype))])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Add with NumPy."""
        refuse_shapes(node, inputs)
        output_storage[0][0] = np.asarray(inputs[0].toarray() + inputs[1], dtype=node.outputs[0].type.dtype)

    def infer_shape(self, node: Node, shapes: Shapes) -> list[Shape]:
        """Return the shape of the sparse matrix: rows of the dense one may be stretched."""
        return [(length(node.inputs[0], 0), length(node.inputs[0], 1))]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient where the sparse matrix stores numbers, and all of it."""
        (x, y), (g,) = inputs, output_grads
        return [sp_ones_like(x) * g, fitted(g, y)]

    def R_op(self, inputs: Operands, eval_points: Operands) -> list[Variable | None]:
        """Return the sum of the directions."""
        (x, y), (dx, dy) = inputs, eval_points
        if dx is None:
            return [None if dy is None else dy + zeros_like(self(x, y))]
        return [dense_from_sparse(dx) if dy is None else self(dx, dy)]


def _dense_like(x: Sparse, dtype: str) -> Tensor:
    return TensorType(dtype, (False, False)).make_variable()


class StructuredAddSV(Op):
    """A sparse matrix with a vector added to the stored numbers of each row.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.
    y : vector
        One number for each column.

    Returns
    -------
    SparseVariable
        Of the structure of ``x``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> structured_add_s_v(sp.csr_matrix([[0.0, 2.0]]), [1.0, 1.0]).eval().toarray()
    array([[0., 3.]])
    """

    __props__ = ()
    shapes = "A->A"

    def make_node(self, x: SparseLike, y: Any) -> Apply:
        x, y = compressed(x, self, "input 0"), as_tensor_variable(y)
        if y.type.ndim != 1:
            raise TypeError(f"{self}: input 1 must be a vector, but {y} is of type {y.type}")
        return Apply(self, [x, y], [SparseType(x.type.format, scal.upcast(x.type.dtype, y.type.dtype)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Add to the numbers."""
        x, y = inputs
        _refuse_vector(node, inputs)
        output_storage[0][0] = _with_numbers(x, x.data + y[_columns(x)], node)

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient, and its sum over the rows."""
        g = output_grads[0]
        return [g, g.sum(axis=0, sparse_grad=True)]

    def R_op(self, inputs: Operands, eval_points: Operands) -> list[Variable | None]:
        """Return the sum of the directions."""
        x, (dx, dy) = inputs[0], eval_points
        if dy is None:
            return [dx]
        return [self(sp_ones_like(x) * 0 if dx is None else dx, dy)]


def _refuse_vector(node: Node, inputs: Sequence[np.ndarray | SparseMatrix]) -> None:
    x, y = inputs
    if len(y) != x.shape[1]:
        raise shape_error(
            node, inputs, f"Shape mismatch: {x.shape[1]} columns against a vector of {len(y)}.",
            "The vector must have an element for each column.",
        )  # fmt: skip


def _columns(x: SparseMatrix) -> np.ndarray:
    """Return the column of each stored number."""
    return x.indices if x.format == "csr" else np.repeat(np.arange(x.shape[1]), np.diff(x.indptr))


def _with_numbers(x: SparseMatrix, data: np.ndarray, node: Node) -> SparseMatrix:
    out = x.astype(node.outputs[0].type.dtype, copy=True)
    out.data = data.astype(node.outputs[0].type.dtype, copy=False)
    return out


class MulSS(_TwoSparse):
    """The product of two sparse matrices, element by element: it stores what both store and is not 0, in order.

    Parameters
    ----------
    x, y : sparse variable
        Of one shape, each of csr or csc format.

    Returns
    -------
    SparseVariable
        Of the format of ``x`` and the common dtype.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> mul_s_s(sp.csr_matrix([[1.0, 2.0]]), sp.csr_matrix([[0.0, 3.0]])).eval().toarray()
    array([[0., 6.]])
    """

    linear_in = (0, 1)

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Multiply with SciPy."""
        refuse_shapes(node, inputs)
        x, y = inputs
        out = node.outputs[0].type
        found = x.multiply(y).asformat(out.format).astype(out.dtype)
        found.sort_indices()
        output_storage[0][0] = found

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient times the other factor."""
        (x, y), (g,) = inputs, output_grads
        return [_conj(y) * g, _conj(x) * g]


class MulSD(Op):
    """The product of a sparse matrix with a dense operand, element by element: of the structure of the first.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.
    y : matrix, vector or scalar
        Broadcasts to the shape of ``x``.

    Returns
    -------
    SparseVariable
        Of the structure of ``x`` and the common dtype.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> mul_s_d(sp.csr_matrix([[0.0, 2.0]]), [[5.0, 3.0]]).eval().toarray()
    array([[0., 6.]])
    """

    __props__ = ()
    linear_in = (0, 1)
    shapes = "A->A"

    def make_node(self, x: SparseLike, y: TensorLike) -> Apply:
        x, y = compressed(x, self, "input 0"), as_matrix(y)
        return Apply(self, [x, y], [SparseType(x.type.format, scal.upcast(x.type.dtype, y.type.dtype)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Multiply the stored numbers."""
        x, y = inputs
        refuse_shapes(node, inputs)
        lines = np.repeat(np.arange(len(x.indptr) - 1), np.diff(x.indptr))
        places = (lines, x.indices) if x.format == "csr" else (x.indices, lines)
        output_storage[0][0] = _with_numbers(x, x.data * np.broadcast_to(y, x.shape)[places], node)

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient times the other factor."""
        (x, y), (g,) = inputs, output_grads
        ours = dense_from_sparse(times_each(_conj(x), g)) if is_sparse(g) else _conj(x) * g
        return [_conj(y) * g, fitted(ours, y)]


class MulSV(Op):
    """The product of a sparse matrix with a vector, which multiplies each row.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.
    y : vector
        One number for each column.

    Returns
    -------
    SparseVariable
        Of the structure of ``x``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> mul_s_v(sp.csr_matrix([[0.0, 2.0]]), [5.0, 3.0]).eval().toarray()
    array([[0., 6.]])
    """

    __props__ = ()

    make_node = StructuredAddSV.make_node
    shapes = "A->A"
    linear_in = (0, 1)

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Multiply the numbers."""
        x, y = inputs
        _refuse_vector(node, inputs)
        output_storage[0][0] = _with_numbers(x, x.data * y[_columns(x)], node)

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient times the other factor; that of the vector summed over the rows."""
        (x, y), (g,) = inputs, output_grads
        return [self(g, _conj(y)), times_each(_conj(x), g).sum(axis=0, sparse_grad=True)]


def _conj(x: Any) -> Any:
    """Return the complex conjugate, which real numbers are themselves."""
    if x.type.dtype not in scal.complex_dtypes:
        return x
    return with_data(x, F.conj(csm_data(x))) if is_sparse(x) else F.conj(x)


add_s_s, add_s_s_data, add_s_d, structured_add_s_v = AddSS(), AddSSData(), AddSD(), StructuredAddSV()
mul_s_s, mul_s_d, mul_s_v = MulSS(), MulSD(), MulSV()


def _pair(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    x, y = as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y)
    if not (is_sparse(x) or is_sparse(y)):
        raise TypeError(f"sparse.{name}: one of the operands must be sparse, but they are {x.type} and {y.type}")
    return x, y


def add(x: Variable, y: Variable | int) -> Any:
    """Return the sum of two matrices, one of which is sparse.

    Parameters
    ----------
    x, y : sparse variable, or tensor of at most two dimensions
        The operands; one at least is sparse.

    Returns
    -------
    variable
        Sparse if both are, else dense. The gradient of a sparse operand is structured where the other is dense.

    See Also
    --------
    sub, mul

    Examples
    --------
    >>> import theano.sparse as S, theano.tensor as T
    >>> add(S.csr_dmatrix("x"), T.dmatrix("y")).type
    TensorType(float64, matrix)
    """
    x, y = _pair("add", x, y)
    if is_sparse(x) and is_sparse(y):
        return add_s_s(x, y)
    return add_s_d(x, y) if is_sparse(x) else add_s_d(y, x)


def sub(x: Any, y: Any) -> Any:
    """Return the difference of two matrices, one of which is sparse; see `add`.

    Parameters
    ----------
    x : sparse variable, or tensor of at most two dimensions
        The left operand.
    y : sparse variable, or tensor of at most two dimensions
        The right operand.

    Returns
    -------
    variable
        Sparse if both are, else dense.

    See Also
    --------
    add

    Examples
    --------
    >>> import theano.sparse as S
    >>> sub(S.csr_dmatrix("x"), S.csr_dmatrix("y")).type
    Sparse[float64, csr]
    """
    x, y = _pair("sub", x, y)
    return add(x, -y)


def mul(x: Any, y: Any) -> Any:
    """Return the product of two operands element by element, one of which is sparse.

    Parameters
    ----------
    x, y : sparse variable, or tensor of at most two dimensions
        The operands; one at least is sparse.

    Returns
    -------
    sparse variable
        It stores numbers where the sparse operand does, or where both do. The gradient of a sparse operand is regular
        where both are sparse, else structured.

    See Also
    --------
    add, div, dot

    Examples
    --------
    >>> import theano.sparse as S
    >>> mul(2.0, S.csr_dmatrix("x")).type
    Sparse[float64, csr]
    """
    x, y = _pair("mul", x, y)
    if is_sparse(x) and is_sparse(y):
        return mul_s_s(x, y)
    return mul_s_d(x, y) if is_sparse(x) else mul_s_d(y, x)


def div(x: Any, y: Any) -> Sparse:
    """Return the stored numbers of a sparse matrix divided by a dense operand.

    The quotient of two sparse matrices is not defined, since most of the second is 0.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.
    y : tensor of at most two dimensions
        The divisors.

    Returns
    -------
    SparseVariable
        It stores numbers where ``x`` does.

    See Also
    --------
    mul

    Examples
    --------
    >>> import theano.sparse as S
    >>> div(S.csr_dmatrix("x"), 2.0).type
    Sparse[float64, csr]
    """
    x, y = as_sparse_variable(x), as_sparse_or_tensor_variable(y)
    if is_sparse(y):
        raise TypeError(f"sparse.div: {y} is sparse, and most of the quotients would be divisions by 0")
    if x.type.dtype in scal.discrete_dtypes and y.type.dtype in scal.discrete_dtypes:
        x = x.astype("floatX")
    return mul_s_d(x, F.true_div(np.ones((), x.type.dtype), y))


__all__ = [
    "AddSD", "AddSS", "AddSSData", "MulSD", "MulSS", "MulSV", "StructuredAddSV", "add", "add_s_d", "add_s_s",
    "add_s_s_data", "div", "mul", "mul_s_d", "mul_s_s", "mul_s_v", "structured_add_s_v", "sub",
]  # fmt: skip
