"""The products, which differ in what they return and in their gradients."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from theano import scalar as scal
from theano.gradient.absent import DisconnectedType, grad_not_implemented
from theano.graph import Apply, Op
from theano.graph.documentation import SharedSections
from theano.sparse.compressed import CLASSES as FORMATS
from theano.sparse.convert import as_sparse_or_tensor_variable, as_sparse_variable, is_sparse
from theano.sparse.parts.alike import sp_ones_like, times_each
from theano.sparse.parts.elements import Cells, index_vector
from theano.sparse.parts.op import CSM, compressed, csm_properties, length
from theano.sparse.structure.dense import dense_from_sparse
from theano.sparse.type import SparseType
from theano.tensor.blas.dot import dot as dense_dot
from theano.tensor.blas.dot import products
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import conj
from theano.tensor.messages import shape_error
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Values
    from theano.graph.variable import Variable
    from theano.sparse.annotations import Sparse, SparseLike, SparseMatrix
    from theano.tensor.annotations import Shape, Shapes, TensorLike
    from theano.tensor.type import Tensor


def _pair(op: object, x: Any, y: Any, formats: Collection[str] = ("csr", "csc")) -> tuple[Any, Any]:
    """Return two operands as variables, one of which must be sparse, and dense ones of one or two dimensions."""
    x, y = as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y)
    if not (is_sparse(x) or is_sparse(y)):
        raise TypeError(f"{op}: one of the operands must be sparse, but they are {x.type} and {y.type}")
    for v in (x, y):
        if is_sparse(v):
            v.type.format in formats or compressed(v, op)
        elif v.type.ndim not in (1, 2):
            raise TypeError(f"{op}: a dense operand must have 1 or 2 dimensions, but {v} is of type {v.type}")
    return x, y


def _refuse_product(
    node: Node, inputs: Sequence[np.ndarray | SparseMatrix], x: np.ndarray | SparseMatrix, y: np.ndarray | SparseMatrix
) -> None:
    if x.shape[-1] != y.shape[0]:
        raise shape_error(
            node, inputs, f"Shape mismatch: {x.shape[-1]} columns against {y.shape[0]} rows.",
            "The last axis of the first must be as long as the first axis of the second; perhaps one needs .T.",
        )  # fmt: skip


def _lengths(x: Variable, given: Any) -> tuple[Tensor, ...]:
    return (length(x, 0), length(x, 1)) if is_sparse(x) else tuple(given)


def _conj(x: Any) -> Any:
    return conj(x) if not is_sparse(x) and x.type.dtype in scal.complex_dtypes else x


def _transposed(x: Any) -> Variable:
    return _conj(x) if x.type.ndim == 1 else _conj(x).T


def _outer(x: Any, y: Any) -> Tensor:
    """Return the product of a column with a row, of vectors or matrices."""
    x = x.dimshuffle(0, "x") if x.type.ndim == 1 else x
    return dense_dot(x, y.dimshuffle("x", 0) if y.type.ndim == 1 else y)


class Dot(Op):
    """The product of two operands, one of which is sparse, as a dense tensor; see `dot`."""

    __props__ = ()

    def __str__(self) -> str:
        return "Sparse" + type(self).__name__

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y = _pair(self, x, y)
        pattern = (*x.type.broadcastable[:-1], *y.type.broadcastable[1:])
        dtype = scal.upcast(x.type.dtype, y.type.dtype)
        return Apply(self, [x, y], [TensorType(dtype, pattern).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Multiply with SciPy."""
        x, y = inputs
        _refuse_product(node, inputs, x, y)
        found = x @ y if sp.issparse(x) else (y.T @ x.T).T
        found = found.toarray() if sp.issparse(found) else found
        output_storage[0][0] = np.asarray(found, dtype=node.outputs[0].type.dtype)

    def infer_shape(self, node: Node, shapes: Shapes) -> list[Shape]:
        """Return the outer lengths."""
        x, y = (_lengths(v, given) for v, given in zip(node.inputs, shapes, strict=True))
        return [(*x[:-1], *y[1:])]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the products of the gradient with the other factor, which are dense."""
        (x, y), (g,) = inputs, output_grads
        if x.type.ndim == 1:  # a row: its gradient is y times that of the product
            return [_any_dot(_conj(y), g), _outer(_conj(x), g)]
        if y.type.ndim == 1:
            return [_outer(g, _conj(y)), dot(_transposed_of(x), g)]
        of_x = dot(g, y.T) if is_sparse(y) else dense_dot(g, _transposed(y))
        of_y = dot(x.T, g) if is_sparse(x) else dense_dot(_transposed(x), g)
        return [of_x, of_y]

    def R_op(self, inputs: Operands, eval_points: Operands) -> list[Variable | None]:
        """Return the product rule."""
        (x, y), (dx, dy) = inputs, eval_points
        terms = ([] if dx is None else [_any_dot(dx, y)]) + ([] if dy is None else [_any_dot(x, dy)])
        return [sum(terms[1:], terms[0]) if terms else None]


def _transposed_of(x: Sparse) -> Any:
    return x.T if is_sparse(x) else _transposed(x)


def _any_dot(x: Variable, y: Variable) -> Tensor:
    return dot(x, y) if is_sparse(x) or is_sparse(y) else dense_dot(x, y)


_dot = Dot()


def dot(x: Variable | SparseMatrix, y: Variable | Sequence[list[float]]) -> Tensor:
    """Return the product of two operands, one of which is sparse.

    Parameters
    ----------
    x, y : sparse variable, matrix or vector
        The factors; one at least is sparse.

    Returns
    -------
    tensor
        Dense, also of two sparse matrices. The gradient is regular, and dense: one for each place of a sparse
        operand. `structured_dot` has a gradient of the stored numbers alone.

    See Also
    --------
    structured_dot, true_dot, theano.tensor.dot

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> dot(sp.csr_matrix([[0.0, 2.0]]), [[1.0], [3.0]]).eval()
    array([[6.]])
    """
    return _dot(x, y)


class TrueDot(Op):
    """The product of a sparse matrix with another operand, as a sparse matrix; see `true_dot`.

    Parameters
    ----------
    grad_preserves_dense : bool
        Whether the gradient of a dense operand is dense.
    """

    __props__ = ("grad_preserves_dense",)

    def __init__(self, grad_preserves_dense: bool = True):
        self.grad_preserves_dense = grad_preserves_dense

    def make_node(self, x: Any, y: Any) -> Apply:
        """Return the node; where only the second operand is sparse, `true_dot` transposes both."""
        x, y = _pair(self, x, y)
        if not is_sparse(x):
            raise TypeError(f"{self}: the first operand must be sparse, but {x} is of type {x.type}")
        if y.type.ndim != 2:
            raise TypeError(f"{self}: the second operand must be a matrix, but {y} is of type {y.type}")
        return Apply(self, [x, y], [SparseType(x.type.format, scal.upcast(x.type.dtype, y.type.dtype)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Multiply with SciPy."""
        x, y = inputs
        _refuse_product(node, inputs, x, y)
        out = node.outputs[0].type
        output_storage[0][0] = out.format_cls[out.format](x @ y, dtype=out.dtype)

    def infer_shape(self, node: Node, shapes: Sequence[Sequence[Tensor]]) -> list[Shape]:
        """Return the outer lengths."""
        x, y = (_lengths(v, given) for v, given in zip(node.inputs, shapes, strict=True))
        return [(x[0], y[1])]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the products of the gradient with the other factor."""
        (x, y), (g,) = inputs, output_grads
        if not is_sparse(g):  # what follows may have made it dense
            of_y = dot(x.T, g)
            return [dot(g, y.T) if is_sparse(y) else dense_dot(g, y.T), of_y]
        of_x, of_y = true_dot(g, y.T, self.grad_preserves_dense), true_dot(x.T, g, self.grad_preserves_dense)
        if not is_sparse(y) and self.grad_preserves_dense:
            of_y = dense_from_sparse(of_y)
        return [of_x, of_y]

    def R_op(self, inputs: Operands, eval_points: Operands) -> list[Variable | None]:
        """Return the product rule."""
        (x, y), (dx, dy) = inputs, eval_points
        terms = ([] if dx is None else [true_dot(dx, y)]) + ([] if dy is None else [true_dot(x, dy)])
        return [sum(terms[1:], terms[0]) if terms else None]


def true_dot(x: Any, y: Any, grad_preserves_dense: bool = True) -> Any:
    """Return the product of two matrices, one of which is sparse, as a sparse matrix.

    Parameters
    ----------
    x, y : sparse variable or matrix
        The factors; one at least is sparse.
    grad_preserves_dense : bool
        Whether the gradient of a dense operand is dense; else it is sparse, as that of a sparse one is.

    Returns
    -------
    sparse variable
        The gradient is regular.

    See Also
    --------
    dot, structured_dot

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> x = sp.csr_matrix([[0.0, 2.0], [1.0, 0.0]])
    >>> true_dot(x, x).eval().toarray()
    array([[2., 0.],
           [0., 2.]])
    """
    x, y = _pair("true_dot", x, y)
    op = TrueDot(grad_preserves_dense)
    return op(x, y) if is_sparse(x) else op(y.T, x.T).T


class StructuredDot(Op):
    """The product of a sparse matrix with another operand, with a structured gradient; see `structured_dot`.

    Matrices of bsr format are multiplied too, by SciPy; their gradient is not implemented.
    """

    __props__ = ()

    def __str__(self) -> str:
        return type(self).__name__

    def make_node(self, a: Any, b: Any) -> Apply:
        a, b = _pair(self, as_sparse_variable(a), b, FORMATS)
        dtype = scal.upcast(a.type.dtype, b.type.dtype)
        if is_sparse(b):
            return Apply(self, [a, b], [SparseType(a.type.format, dtype).make_variable()])
        return Apply(self, [a, b], [TensorType(dtype, (False, *b.type.broadcastable[1:])).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Multiply with SciPy."""
        a, b = inputs
        _refuse_product(node, inputs, a, b)
        out = node.outputs[0].type
        found = a @ b
        output_storage[0][0] = (
            found.asformat(out.format).astype(out.dtype) if sp.issparse(found) else np.asarray(found, dtype=out.dtype)
        )

    def infer_shape(self, node: Node, shapes: Sequence[Sequence[Tensor]]) -> list[Shape]:
        """Return the outer lengths."""
        a, b = (_lengths(v, given) for v, given in zip(node.inputs, shapes, strict=True))
        return [(a[0], *b[1:])]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient of the stored numbers, and that of the other operand."""
        (a, b), (g,) = inputs, output_grads
        if is_sparse(b) or is_sparse(g):
            of_b = structured_dot(a.T, g)
            return [sp_ones_like(a) * structured_dot(g, b.T), sp_ones_like(b) * of_b if is_sparse(b) else of_b]
        return [structured_dot_grad(a, b, g), structured_dot(a.T, g)]

    def R_op(self, inputs: Operands, eval_points: Operands) -> list[Variable | None]:
        """Return the product rule."""
        (a, b), (da, db) = inputs, eval_points
        terms = ([] if da is None else [structured_dot(da, b)]) + ([] if db is None else [structured_dot(a, db)])
        return [sum(terms[1:], terms[0]) if terms else None]


_structured_dot = StructuredDot()


def structured_dot(x: Any, y: Any) -> Any:
    """Return the product of two operands, one of which is sparse, with a structured gradient.

    Parameters
    ----------
    x, y : sparse variable, matrix or vector
        The factors; one at least is sparse.

    Returns
    -------
    variable
        Sparse if both are, else dense. The gradient of a sparse operand is one of its stored numbers alone.

    See Also
    --------
    dot, true_dot

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> structured_dot(sp.csr_matrix([[0.0, 2.0]]), [[1.0], [3.0]]).eval()
    array([[6.]])
    """
    x, y = _pair("structured_dot", x, y, FORMATS)
    if is_sparse(x):
        return _structured_dot(x, y)
    return _structured_dot(y.T, x.T).T


@products.register
def _of_sparse(a: Tensor, b: Tensor) -> Any:
    """Return what ``theano.dot`` is where an operand is sparse."""
    return structured_dot(a, b) if any(is_sparse(v) or sp.issparse(v) for v in (a, b)) else None


class _ProductsAt(SharedSections, Op):
    """Base of the gradients of `StructuredDot`: the products of rows of two dense matrices, at some places.

    Parameters
    ----------
    a_indices, a_indptr : vector of int
        The structure of the sparse matrix.
    b : matrix
        The other factor.
    g_ab : matrix
        The gradient with respect to the product.

    Returns
    -------
    TensorVariable
        A vector with one number for each that the matrix stores.
    """

    __props__ = ()
    format: str
    linear_in = (2, 3)
    shapes = "A->A"

    def make_node(self, a_indices: Any, a_indptr: Any, b: Any, g_ab: Any) -> Apply:
        parts = [index_vector(a_indices, "indices"), index_vector(a_indptr, "indptr")]
        b, g = as_tensor_variable(b), as_tensor_variable(g_ab)
        if b.type.ndim != g.type.ndim or b.type.ndim not in (1, 2):
            raise TypeError(f"{self}: two matrices or two vectors are needed, not {b.type} and {g.type}")
        dtype = scal.upcast(b.type.dtype, g.type.dtype)
        return Apply(self, [*parts, b, g], [TensorType(dtype, (False,)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Multiply with NumPy."""
        indices, indptr, b, g = inputs
        lines = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        indices = indices[: len(lines)]
        rows, columns = (lines, indices) if self.format == "csr" else (indices, lines)
        dtype = node.outputs[0].type.dtype
        found = g[rows] * b[columns]
        output_storage[0][0] = np.asarray(found if found.ndim == 1 else found.sum(axis=1), dtype=dtype)

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that only the matrices count."""
        return [[False], [False], [True], [True]]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the products of the gradient, which stands at the places, with the matrices."""
        indices, indptr, b, g = inputs
        shape = [g.shape[0], b.shape[0]]
        at = CSM(self.format)(output_grads[0], indices, indptr, as_tensor_variable(shape))
        return [DisconnectedType()(), DisconnectedType()(), structured_dot(at.T, g), structured_dot(at, b)]


class StructuredDotGradCSC(_ProductsAt):
    """The gradient of `structured_dot` with respect to the numbers that a csc matrix stores.

    Examples
    --------
    >>> import theano.sparse as S, scipy.sparse as sp
    >>> x = sp.csc_matrix([[0.0, 2.0], [3.0, 0.0]])
    >>> S.sdg_csc(x.indices, x.indptr, [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]).eval()
    array([23., 39.])
    """

    format = "csc"


class StructuredDotGradCSR(_ProductsAt):
    """The gradient of `structured_dot` with respect to the numbers that a csr matrix stores.

    Examples
    --------
    >>> import theano.sparse as S, scipy.sparse as sp
    >>> x = sp.csr_matrix([[0.0, 2.0], [3.0, 0.0]])
    >>> S.sdg_csr(x.indices, x.indptr, [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]).eval()
    array([39., 23.])
    """

    format = "csr"


sdg_csc, sdg_csr = StructuredDotGradCSC(), StructuredDotGradCSR()


def structured_dot_grad(sparse_A: Sparse, dense_B: TensorLike, ga: TensorLike) -> Sparse:
    """Return the gradient of ``structured_dot(sparse_A, dense_B)`` with respect to the numbers of the first.

    Parameters
    ----------
    sparse_A : sparse variable
        The left factor.
    dense_B : matrix or vector
        The right factor.
    ga : matrix or vector
        The gradient with respect to the product.

    Returns
    -------
    TensorVariable
        A vector: one for each stored number.

    See Also
    --------
    structured_dot

    Examples
    --------
    >>> import theano.sparse as S, theano.tensor as T
    >>> structured_dot_grad(S.csc_dmatrix("A"), T.dmatrix("B"), T.dmatrix("g")).type
    Sparse[float64, csc]
    """
    _, indices, indptr, lengths = csm_properties(sparse_A)
    format = sparse_A.type.format
    data = (sdg_csr if format == "csr" else sdg_csc)(indices, indptr, dense_B, ga)
    return CSM(format)(data, indices, indptr, lengths)


class SamplingDot(Op):
    """The product ``x y.T`` at the places where a sparse matrix stores numbers, times these; see `sampling_dot`.

    Parameters
    ----------
    x, y : matrix
        Dense; both have as many columns.
    p : sparse variable
        Of csr or csc format, with a row for each of ``x`` and a column for each row of ``y``.

    Returns
    -------
    SparseVariable
        Of the structure of ``p``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> sampling_dot([[1.0, 2.0]], [[3.0, 4.0]], sp.csr_matrix([[10.0]])).eval().toarray()
    array([[110.]])
    """

    __props__ = ()
    linear_in = (0, 1, 2)
    shapes = ",,A->A"

    def make_node(self, x: Any, y: Any, p: SparseLike) -> Apply:
        x, y, p = as_tensor_variable(x), as_tensor_variable(y), compressed(p, self, "input 2")
        for v in (x, y):
            if v.type.ndim != 2:
                raise TypeError(f"{self}: the factors must be matrices, but {v} is of type {v.type}")
        dtype = scal.upcast(x.type.dtype, y.type.dtype, p.type.dtype)
        return Apply(self, [x, y, p], [SparseType(p.type.format, dtype).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Multiply with NumPy, at the places alone."""
        x, y, p = inputs
        if x.shape[1] != y.shape[1] or p.shape != (x.shape[0], y.shape[0]):
            raise shape_error(
                node, inputs, f"Shape mismatch: {x.shape} times the transpose of {y.shape}, at places of {p.shape}.",
                "The factors must have as many columns, and the places the shape of the product.",
            )  # fmt: skip
        lines = np.repeat(np.arange(len(p.indptr) - 1), np.diff(p.indptr))
        rows, columns = (lines, p.indices) if p.format == "csr" else (p.indices, lines)
        out = p.astype(node.outputs[0].type.dtype, copy=True)
        out.data = np.asarray(p.data * (x[rows] * y[columns]).sum(axis=1), dtype=out.dtype)
        output_storage[0][0] = out

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradients of the factors; that of the sampled matrix is not implemented."""
        (x, y, p), (g,) = inputs, output_grads
        at = times_each(p, g) if is_sparse(g) else p * g
        return [dot(at, y), dot(at.T, x), grad_not_implemented(self, 2, p)]


sampling_dot = SamplingDot()


class Usmm(Op):
    """``alpha * x y + z``, of which one of ``x`` and ``y`` is sparse: a dense matrix.

    Parameters
    ----------
    alpha : scalar
        A factor.
    x, y : sparse variable or matrix
        The factors of the product, one of them sparse.
    z : matrix
        What is added.

    Returns
    -------
    TensorVariable
        A matrix of the shape of ``z``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> usmm(2.0, sp.csr_matrix([[0.0, 2.0]]), [[1.0], [3.0]], [[1.0]]).eval()
    array([[13.]])
    """

    __props__ = ()

    def __str__(self) -> str:
        return "Usmm{no_inplace}"

    def make_node(self, alpha: Any, x: Any, y: Any, z: Any) -> Apply:
        x, y = _pair(self, x, y)
        alpha, z = as_tensor_variable(alpha), as_tensor_variable(z)
        if not all(alpha.type.broadcastable):
            raise TypeError(f"{self}: alpha must be one number, but {alpha} is of type {alpha.type}")
        alpha = alpha.dimshuffle() if alpha.type.ndim else alpha
        if (x.type.ndim, y.type.ndim, z.type.ndim) != (2, 2, 2):
            raise TypeError(f"{self}: x, y and z must be matrices, not {x.type}, {y.type} and {z.type}")
        dtype = scal.upcast(alpha.type.dtype, x.type.dtype, y.type.dtype, z.type.dtype)
        return Apply(self, [alpha, x, y, z], [TensorType(dtype, (False, False)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Multiply with SciPy."""
        alpha, x, y, z = inputs
        _refuse_product(node, inputs, x, y)
        found = x @ y if sp.issparse(x) else (y.T @ x.T).T
        found = found.toarray() if sp.issparse(found) else found
        if found.shape != z.shape and not all(
            m == n or one and n == 1
            for m, n, one in zip(found.shape, z.shape, node.inputs[3].type.broadcastable, strict=True)
        ):
            raise shape_error(node, inputs, f"Shape mismatch: a product of shape {found.shape} against {z.shape}.",
                              "z must have the shape of the product.")  # fmt: skip
        output_storage[0][0] = np.asarray(alpha * found + z, dtype=node.outputs[0].type.dtype)

    def infer_shape(self, node: Node, shapes: Sequence[Sequence[Tensor]]) -> list[Shape]:
        """Return the outer lengths."""
        x, y = (_lengths(node.inputs[i], shapes[i]) for i in (1, 2))
        return [(x[0], y[1])]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradients of the sum: those of `dot`, times alpha."""
        (alpha, x, y, z), (g,) = inputs, output_grads
        of_x, of_y = _dot.grad([x, y], [alpha * g])
        ones = [axis for axis, one in enumerate(z.type.broadcastable) if one]
        return [(g * dot(x, y)).sum(), of_x, of_y, g.sum(axis=ones, keepdims=True) if ones else g]

    def R_op(self, inputs: Operands, eval_points: Operands) -> list[Variable | None]:
        """Return the product rule."""
        (alpha, x, y, _), (da, dx, dy, dz) = inputs, eval_points
        terms = [] if da is None else [da * dot(x, y)]
        terms += [alpha * _any_dot(*pair) for pair, d in (((dx, y), dx), ((x, dy), dy)) if d is not None]
        terms += [] if dz is None else [dz]
        return [sum(terms[1:], terms[0]) if terms else None]


usmm = Usmm()

__all__ = [
    "Dot", "SamplingDot", "StructuredDot", "StructuredDotGradCSC", "StructuredDotGradCSR", "TrueDot", "Usmm", "dot",
    "sampling_dot", "sdg_csc", "sdg_csr", "structured_dot", "structured_dot_grad", "true_dot", "usmm",
]  # fmt: skip
