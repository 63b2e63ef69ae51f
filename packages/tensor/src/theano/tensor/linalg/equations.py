"""Equations: inverses and solutions.

Gradients are those of Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008), and for the pseudo-inverse of Golub and Pereyra (1973).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.errors import ArgumentError
from theano.graph import Apply, Variable
from theano.tensor.blas.dot import dot, outer
from theano.tensor.compound import Compound
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.diagonals import tril, triu
from theano.tensor.elemwise.functions import conjugate
from theano.tensor.linalg.common import (
    LinAlgError,
    MatrixOp,
    adjoint,
    identity,
    matrix_type,
    must_be_finite,
    raise_or_nan,
    real_dtype,
    under_type,
)
from theano.tensor.messages import describe, shape_error
from theano.tensor.shape.reshape import reshape
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.tensor.annotations import Directions, TensorLike, Tensors
    from theano.tensor.type import Tensor

MATRIX_STRUCTURES = ("general", "symmetric", "lower_triangular", "upper_triangular", "hermitian", "banded",
                     "diagonal", "toeplitz")  # fmt: skip


class MatrixInverse(MatrixOp):
    """The inverse of a square matrix.

    Parameters
    ----------
    x : matrix, shape (n, n)
        Integers count as float64.

    Returns
    -------
    TensorVariable
        Of the shape of ``x``; the derivative in a direction d is ``-inv(x) d inv(x)``.

    Raises
    ------
    numpy.linalg.LinAlgError
        While running: the matrix is singular.
    theano.errors.ShapeError
        While running: it is not square.

    See Also
    --------
    nlinalg.pinv, slinalg.solve, linalg.inv, numpy.linalg.inv

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A = T.dmatrix("A")
    >>> theano.function([A], matrix_inverse(A))([[2, 0], [0, 4]]) + 0.0
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """

    shapes = "A->A"

    def make_node(self, x: TensorLike) -> Apply:
        x = self.matrix(x)
        return Apply(self, [x], [x.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Invert with NumPy."""
        output_storage[0][0] = np.linalg.inv(self.square(node, inputs))

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return ``-X' G X'`` for the inverse X."""
        (x,), (inverse,), (g,) = inputs, outputs, output_grads
        turned = adjoint(inverse)
        return [under_type(-dot(dot(turned, g), turned), x)]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return ``-X dA X``."""
        inverse = self(inputs[0])
        return [None if eval_points[0] is None else -dot(dot(inverse, eval_points[0]), inverse)]


class MatrixPinv(MatrixOp):
    """The Moore-Penrose pseudo-inverse of a matrix: the inverse where there is one, least squares elsewhere.

    Examples
    --------
    >>> import theano.tensor as T
    >>> MatrixPinv()(T.constant([[2.0], [0.0]])).eval()
    array([[0.5, 0. ]])
    """

    shapes = "ij->ji"

    def make_node(self, x: TensorLike) -> Apply:
        x = self.matrix(x)
        return Apply(self, [x], [x.type.clone(broadcastable=x.type.broadcastable[::-1]).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        must_be_finite("SVD", inputs[0])
        output_storage[0][0] = np.linalg.pinv(inputs[0]).astype(node.outputs[0].type.dtype, copy=False)

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient where the rank does not change."""
        (x,), (z,), (g,) = inputs, outputs, output_grads
        left, right = identity(x) - dot(x, z), identity(z) - dot(z, x)
        found = (
            -dot(dot(z.T, g), z.T)
            + dot(dot(left, g.T), dot(z, z.T))
            + dot(dot(z.T, z), dot(g.T, right))
        )
        return [under_type(found, x)]


class Solve(MatrixOp):
    """The solution x of ``A x = b``.

    Parameters
    ----------
    A_structure : str
        The structure of A: "general", "symmetric", "lower_triangular" or "upper_triangular"; of a triangular matrix
        the other triangle is not read. The other names of ``MATRIX_STRUCTURES`` are solved as general.
    lower : bool
        Which triangle of a symmetric matrix is read.
    overwrite_A, overwrite_b : bool
        Without effect: what may be overwritten is for the machine to find out.
    on_error : "raise" or "nan"
        What a singular matrix gives: an error, or a solution of which all elements are NaN. A call may give it as
        well: ``solve(A, b, on_error="nan")``.

    Raises
    ------
    numpy.linalg.LinAlgError
        While running, with ``on_error="raise"``: A is singular.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A, b = T.dmatrix("A"), T.dvector("b")
    >>> theano.function([A, b], solve(A, b))([[2, 0], [0, 4]], [2, 2])
    array([1. , 0.5])
    >>> theano.function([A, b], solve(A, b, on_error="nan"))([[2, 0], [0, 0]], [2, 2])
    array([nan, nan])
    """

    __props__ = ("A_structure", "lower", "overwrite_A", "overwrite_b", "on_error")
    on_error = "raise"  # as in pickles from before there was this
    shapes = "ij,iA->jA"

    def __init__(
        self, A_structure: str = "general", lower: bool = False, overwrite_A: bool = False, overwrite_b: bool = False,
        on_error: str = "raise",
    ):  # fmt: skip
        if A_structure not in MATRIX_STRUCTURES:
            raise ValueError(f"A_structure must be one of {', '.join(MATRIX_STRUCTURES)}, not {A_structure!r}")
        self.A_structure, self.lower = A_structure, bool(lower)
        self.overwrite_A, self.overwrite_b = bool(overwrite_A), bool(overwrite_b)
        self.on_error = raise_or_nan(on_error)

    @property
    def triangle(self) -> str:
        """``"lower"``, ``"upper"`` or ``""``: which triangle alone is there."""
        return self.A_structure.removesuffix("_triangular") if self.A_structure.endswith("triangular") else ""

    def make_node(self, A: TensorLike, b: Any, on_error: str | None = None) -> Apply:
        """Return the node for a matrix and a vector or matrix.

        Parameters
        ----------
        A : matrix, shape (n, n)
            Floats or complex numbers.
        b : vector or matrix, shape (n,) or (n, k)
            One right side, or one in each column.
        on_error : "raise" or "nan", optional
            In place of what the op says.

        Returns
        -------
        TensorVariable
            Of the shape of ``b``, and of the dtype in which both meet.
        """
        if on_error not in (None, self.on_error):
            return Solve(self.A_structure, self.lower, self.overwrite_A, self.overwrite_b, on_error).make_node(A, b)
        A, b = self.same_dtype(self.matrix(A, what="A"), self.matrix(b, (1, 2), "b"))
        return Apply(self, [A, b], [b.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Solve with NumPy, or SciPy where the matrix is a triangle."""
        self.square(node, inputs)
        A, b = inputs
        if A.shape[0] != b.shape[0]:
            raise shape_error(
                node, inputs, f"{A.shape[0]} rows of A against {b.shape[0]} of b.", "Both must have as many rows."
            )
        if A.size == 0 or b.size == 0:
            output_storage[0][0] = np.zeros_like(b)
            return
        try:
            output_storage[0][0] = self._solved(A, b)
        except LinAlgError:
            if self.on_error == "raise":
                raise
            output_storage[0][0] = np.full_like(b, np.nan)

    def _solved(self, A: np.ndarray, b: np.ndarray) -> np.ndarray:
        if self.triangle:
            import scipy.linalg  # 0.2 s that only those pay who solve without LAPACK's own kernel

            try:
                return scipy.linalg.solve_triangular(A, b, lower=self.triangle == "lower", check_finite=False)
            except LinAlgError:
                raise LinAlgError("singular matrix: a number on the diagonal is 0") from None
        given = A
        if self.A_structure == "symmetric":
            given = np.tril(A) + np.tril(A, -1).T if self.lower else np.triu(A) + np.triu(A, 1).T
        return np.linalg.solve(given, b)

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Solve with the transposed matrix: for b directly, for A times the solution."""
        (A, b), (x,), (g,) = inputs, outputs, output_grads
        other = {"lower": "upper_triangular", "upper": "lower_triangular"}.get(self.triangle, self.A_structure)
        for_b = Solve(other, lower=not self.lower, on_error=self.on_error)(adjoint(A), g)
        for_A = -(outer(for_b, conjugate(x)) if b.type.ndim == 1 else dot(for_b, adjoint(x)))
        if self.triangle or self.A_structure == "symmetric":
            reads_lower = self.triangle == "lower" or (self.A_structure == "symmetric" and self.lower)
            if self.A_structure == "symmetric":
                for_A = for_A + for_A.T - identity(for_A) * for_A
            for_A = tril(for_A) if reads_lower else triu(for_A)
        return [under_type(for_A, A), under_type(for_b, b)]


class TensorInv(Compound, MatrixOp):
    """The inverse of a tensor in the sense of ``tensordot(a, tensorinv(a), ind)`` being the identity.

    Parameters
    ----------
    ind : int
        How many first axes count as rows.

    Examples
    --------
    >>> import theano.tensor as T
    >>> TensorInv(1)(T.constant([[2.0, 0.0], [0.0, 4.0]])).eval()
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """

    __props__ = ("ind",)

    def __init__(self, ind: int = 2):
        if ind <= 0:
            raise ValueError(f"tensorinv: ind must be positive, not {ind}")
        self.ind = int(ind)

    def convert(self, a: Any) -> list[Variable]:
        """Return the tensor as a variable of floating-point numbers."""
        return [self.matrix(a, tuple(range(self.ind, 33)), "the tensor")]

    def expression(self, a: Tensor) -> Tensor:
        """Return the inverse of the matrix that the tensor stands for."""
        lengths = [a.shape[i] for i in range(a.type.ndim)]
        rows, columns = lengths[: self.ind], lengths[self.ind :]
        inverse = matrix_inverse(reshape(a, (_count(rows), _count(columns)), ndim=2))
        return reshape(inverse, [*columns, *rows], ndim=a.type.ndim)


class TensorSolve(Compound, MatrixOp):
    """The solution x of ``tensordot(a, x, x.ndim) = b``.

    Parameters
    ----------
    axes : tuple of int, optional
        Axes of ``a`` that are moved to its end first.

    Examples
    --------
    >>> import theano.tensor as T
    >>> TensorSolve()(T.constant([[2.0, 0.0], [0.0, 4.0]]), T.constant([2.0, 2.0])).eval()
    array([1. , 0.5])
    """

    __props__ = ("axes",)

    def __init__(self, axes: Sequence[int] | None = None):
        self.axes = None if axes is None else tuple(int(i) for i in axes)

    def convert(self, a: Any, b: Any) -> list[Any]:
        """Return the tensors as variables of one floating-point dtype."""
        a, b = as_tensor_variable(a), as_tensor_variable(b)
        if a.type.ndim < b.type.ndim:
            raise ArgumentError(
                f"{self}: a must have as many dimensions as b ({b.type.ndim}), and those of x:\n{describe(a)}"
            )
        return self.same_dtype(self.matrix(a, (a.type.ndim,)), self.matrix(b, (b.type.ndim,)))

    def expression(self, a: Tensor, b: Tensor) -> Tensor:
        """Return the solution with the matrix that the tensor stands for."""
        order = _moved_to_end(self.axes, a.type.ndim)
        turned = a.dimshuffle(*order)
        lengths = [turned.shape[i] for i in range(b.type.ndim, a.type.ndim)]
        found = solve(reshape(turned, (b.size, _count(lengths)), ndim=2), b.flatten())
        return reshape(found, lengths, ndim=len(lengths))


def _count(lengths: Sequence[Tensor]) -> Any:
    """Return how many elements there are with these lengths."""
    return reduce(mul, lengths) if lengths else 1


def _moved_to_end(axes: tuple[int, ...] | None, ndim: int) -> list[int]:
    """Return the order of axes after those named were moved to the end, one after the other."""
    order = list(range(ndim))
    for axis in axes or ():
        order.remove(axis % ndim)
        order.append(axis % ndim)
    return order


class lstsq(MatrixOp):
    """The x for which ``a x`` is nearest to ``b``: solution, residuals, rank and singular values.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> a, b, cut = T.dmatrix("a"), T.dvector("b"), T.dscalar("rcond")
    >>> x, residuals, rank, s = lstsq()(a, b, cut)
    >>> theano.function([a, b, cut], x)([[1, 0], [1, 1], [1, 2]], [1, 3, 5], -1).round(6)
    array([1., 2.])
    """

    def make_node(self, x: TensorLike, y: Variable, rcond: TensorLike) -> Apply:
        """Return the node for a matrix, a vector or matrix, and the ratio below which singular values count as 0."""
        y = as_tensor_variable(y)
        x, y = self.same_dtype(self.matrix(x), self.matrix(y, (1, 2)))
        rcond = as_tensor_variable(rcond)
        dtype = x.type.dtype
        outputs: list[Variable] = [
            matrix_type(dtype, y.type.ndim).make_variable(),
            matrix_type(real_dtype(dtype), 1).make_variable(),
            matrix_type("int64", 0).make_variable(),
            matrix_type(real_dtype(dtype), 1).make_variable(),
        ]
        return Apply(self, [x, y, rcond], outputs)

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        must_be_finite("SVD", inputs[0])
        found = np.linalg.lstsq(inputs[0], inputs[1], rcond=float(inputs[2]))
        for cell, value, v in zip(output_storage, found, node.outputs, strict=True):
            cell[0] = np.asarray(value, dtype=v.type.dtype)


def pinv(a: TensorLike) -> Tensor:
    """Return the pseudo-inverse of a matrix.

    Parameters
    ----------
    a : matrix, shape (m, n)
        Of any rank.

    Returns
    -------
    TensorVariable
        A matrix of shape (n, m).

    See Also
    --------
    nlinalg.matrix_inverse, linalg.pinv, numpy.linalg.pinv

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A = T.dmatrix("A")
    >>> theano.function([A], pinv(A))([[2.0], [0.0]])
    array([[0.5, 0. ]])
    """
    return MatrixPinv()(a)


def cho_solve(c_and_lower: tuple[Tensor, bool], b: TensorLike, on_error: str = "raise") -> Tensor:
    """Return the x for which ``A x`` is ``b``, given Cholesky's factor of A.

    Parameters
    ----------
    c_and_lower : (matrix, bool)
        The factor, and whether it is the lower one, as for :func:`scipy.linalg.cho_solve`.
    b : vector or matrix
        The right hand side.
    on_error : "raise" or "nan"
        What a factor with a 0 on its diagonal gives, as for :class:`Solve`.

    Returns
    -------
    TensorVariable
        Of the shape of ``b``.

    See Also
    --------
    slinalg.cholesky, slinalg.solve, scipy.linalg.cho_solve

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A, b = T.dmatrix("A"), T.dvector("b")
    >>> x = cho_solve((T.slinalg.cholesky(A), True), b)
    >>> theano.function([A, b], x)([[4, 2], [2, 5]], [6, 7]).round(6) + 0.0
    array([1., 1.])
    """
    factor, lower = c_and_lower
    factor = as_tensor_variable(factor)
    if factor.type.ndim != 2:
        raise TypeError(f"cho_solve: the factor must be a matrix:\n{describe(factor)}")
    turned = adjoint(factor)
    low, high = (factor, turned) if lower else (turned, factor)
    return solve_upper_triangular(high, solve_lower_triangular(low, b, on_error=on_error), on_error=on_error)


def tensorinv(a: TensorLike, ind: int = 2) -> Tensor:
    """Return the inverse of a tensor; see :class:`TensorInv`.

    Parameters
    ----------
    a : tensor
        The products of its first ``ind`` lengths and of the others are equal.
    ind : int, optional
        How many axes come first.

    Returns
    -------
    TensorVariable
        The axes behind ``ind`` first.

    See Also
    --------
    nlinalg.tensorsolve, numpy.linalg.tensorinv

    Examples
    --------
    >>> import theano.tensor as T
    >>> tensorinv(T.dtensor4("a")).ndim
    4
    """
    return TensorInv(ind)(a)


def tensorsolve(a: TensorLike, b: TensorLike, axes: Sequence[int] | None = None) -> Tensor:
    """Return the x for which ``tensordot(a, x, x.ndim)`` is ``b``; see :class:`TensorSolve`.

    Parameters
    ----------
    a : tensor
        Of shape ``b.shape + x.shape``; as a matrix it is square.
    b : tensor
        The right hand side.
    axes : tuple of int, optional
        Axes of ``a`` that go to the right first.

    Returns
    -------
    TensorVariable
        The solution.

    See Also
    --------
    nlinalg.tensorinv, numpy.linalg.tensorsolve

    Examples
    --------
    >>> import theano.tensor as T
    >>> tensorsolve(T.dtensor3("a"), T.dmatrix("b")).ndim
    1
    """
    return TensorSolve(axes)(a, b)


matrix_inverse = MatrixInverse()
solve = Solve()
solve_symmetric = Solve(A_structure="symmetric")
solve_lower_triangular = Solve(A_structure="lower_triangular", lower=True)
solve_upper_triangular = Solve(A_structure="upper_triangular", lower=False)
