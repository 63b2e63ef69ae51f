"""Linear algebra of matrices and of stacks of matrices, by the names of :mod:`numpy.linalg`: ``theano.tensor.linalg``.

Each function takes tensors whose last two axes are matrices, and any number of axes before them. Those of
``theano.tensor.nlinalg`` and ``slinalg``, which take one matrix, are the same ops.

Examples
--------
>>> import numpy as np, theano.tensor as T
>>> A = T.dtensor3("A")
>>> T.linalg.inv(A).type, np.linalg.det(A).type
(TensorType(float64, 3D), TensorType(float64, vector))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from theano.tensor.batching.vectorize import vectorize
from theano.tensor.blas.dot import matmul, tensordot
from theano.tensor.blas.dot import outer as _outer
from theano.tensor.composed.products import cross, vecdot
from theano.tensor.composed.shapes import matrix_transpose
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise import functions as el
from theano.tensor.linalg import determinant, equations, factor, functions
from theano.tensor.linalg.factor import Cholesky
from theano.tensor.messages import axis_of
from theano.tensor.numpy_functions import continuous, sum
from theano.tensor.numpy_functions import trace as _trace
from theano.tensor.reduce import functions as reductions
from theano.tensor.reduce.axes import restore_axes
from theano.tensor.shape.diagonals import diagonal as _diagonal

if TYPE_CHECKING:
    from theano.tensor.annotations import Axis, TensorLike
    from theano.tensor.type import Tensor

__all__ = [
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr",
    "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors in columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EigResult(NamedTuple):
    """Eigenvalues and eigenvectors."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class SVDResult(NamedTuple):
    """Left singular vectors, singular values, and right singular vectors in rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class QRResult(NamedTuple):
    """An orthogonal matrix and an upper triangle."""

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: Tensor
    logabsdet: Tensor


def _stacks(a: TensorLike, what: str) -> Tensor:
    a = as_tensor_variable(a)
    if a.type.ndim < 2:
        raise ValueError(f"linalg.{what}: {a} has {a.type.ndim} dimensions; give 2 or more")
    return a


def _each(f: Callable[..., Any], what: str, signature: str, *args: TensorLike) -> Any:
    """Return what a function of matrices gives for each matrix of a stack."""
    tensors = [_stacks(a, what) for a in args]
    return f(*tensors) if all(a.type.ndim == 2 for a in tensors) else vectorize(f, signature)(*tensors)


def cholesky(a: TensorLike, /, *, upper: bool = False) -> Tensor:
    """Return the triangular factor of positive definite matrices.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        Symmetric or Hermitian.
    upper : bool
        Return the upper factor in place of the lower one.

    Returns
    -------
    TensorVariable
        Of the shape of ``a``.

    See Also
    --------
    linalg.solve, linalg.eigh, numpy.linalg.cholesky

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.cholesky(T.constant([[4.0, 2.0], [2.0, 5.0]])).eval()
    array([[2., 0.],
           [1., 2.]])
    """
    return _each(Cholesky(lower=not upper), "cholesky", "(n,n)->(n,n)", a)


def inv(a: TensorLike) -> Tensor:
    """Return the inverses of matrices.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        One matrix or a stack of them.

    Returns
    -------
    TensorVariable
        Of the shape of ``a``. A singular matrix is an error of the call.

    See Also
    --------
    linalg.pinv, linalg.solve, numpy.linalg.inv

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.inv(T.constant([[2.0, 0.0], [0.0, 4.0]])).eval()
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return _each(equations.matrix_inverse, "inv", "(n,n)->(n,n)", a)


def pinv(a: TensorLike) -> Tensor:
    """Return the pseudo-inverses of matrices.

    Parameters
    ----------
    a : tensor, shape (..., m, n)
        One matrix or a stack of them.

    Returns
    -------
    TensorVariable
        Of shape (..., n, m).

    See Also
    --------
    linalg.inv, linalg.lstsq, numpy.linalg.pinv

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.pinv(T.constant([[2.0], [0.0]])).eval()
    array([[0.5, 0. ]])
    """
    return _each(equations.pinv, "pinv", "(m,n)->(n,m)", a)


def det(a: TensorLike) -> Tensor:
    """Return the determinants of matrices.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        One matrix or a stack of them.

    Returns
    -------
    TensorVariable
        Of shape (...).

    See Also
    --------
    linalg.slogdet, numpy.linalg.det

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.det(T.constant([[2.0, 0.0], [0.0, 4.0]])).eval()
    array(8.)
    """
    return _each(determinant.det, "det", "(n,n)->()", a)


def slogdet(a: TensorLike) -> SlogdetResult:
    """Return the signs of determinants, and the logarithms of their absolute values.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        One matrix or a stack of them.

    Returns
    -------
    tuple of TensorVariable
        Signs and logarithms, each of shape (...).

    See Also
    --------
    linalg.det, numpy.linalg.slogdet

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.slogdet(T.constant([[-1.0, 0.0], [0.0, 1.0]])).sign.eval()
    array(-1.)
    """
    return SlogdetResult(*_each(determinant.slogdet, "slogdet", "(n,n)->(),()", a))


def solve(a: TensorLike, b: TensorLike, on_error: str = "raise") -> Tensor:
    """Return the x for which ``a @ x`` is ``b``.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        The coefficients.
    b : tensor
        A vector, or of shape (..., n, k), as for :func:`numpy.linalg.solve`.
    on_error : "raise" or "nan"
        What a singular matrix gives: an error, or a solution of which all elements are NaN.

    Returns
    -------
    TensorVariable
        Of the shape of ``b``.

    See Also
    --------
    linalg.inv, linalg.lstsq, numpy.linalg.solve

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.solve(T.constant([[2.0, 0.0], [0.0, 4.0]]), T.constant([1.0, 1.0])).eval()
    array([0.5 , 0.25])
    """
    a, b = _stacks(a, "solve"), as_tensor_variable(b)
    op = equations.Solve(on_error=on_error)
    if b.type.ndim == 1:
        return op(a, b) if a.type.ndim == 2 else vectorize(op, "(n,n),(n)->(n)")(a, b)
    return _each(op, "solve", "(n,n),(n,k)->(n,k)", a, b)


def lstsq(a: TensorLike, b: TensorLike, rcond: float | None = None) -> list[Tensor]:
    """Return the least-squares solution, residuals, rank and singular values of one equation.

    Parameters
    ----------
    a : matrix, shape (m, n)
        The coefficients.
    b : vector or matrix
        The right hand side.
    rcond : number, optional
        Singular values below this times the largest count as 0.

    Returns
    -------
    list of TensorVariable
        The solution, the sums of squared residuals, the rank and the singular values.

    See Also
    --------
    linalg.solve, linalg.pinv, numpy.linalg.lstsq

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.lstsq(T.constant([[1.0], [1.0]]), T.constant([1.0, 3.0]))[0].eval()
    array([2.])
    """
    return equations.lstsq()(a, b, -1.0 if rcond is None else rcond)


def eigh(a: TensorLike, UPLO: str = "L") -> EighResult:
    """Return eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        One matrix or a stack of them.
    UPLO : str, optional
        "L" or "U": which triangle is read.

    Returns
    -------
    tuple of TensorVariable
        Eigenvalues of shape (..., n) in ascending order and eigenvectors, the columns of (..., n, n).

    See Also
    --------
    linalg.eig, linalg.eigvalsh, numpy.linalg.eigh

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.eigh(T.constant([[2.0, 0.0], [0.0, 1.0]])).eigenvalues.eval()
    array([1., 2.])
    """
    return EighResult(*_each(lambda v: factor.eigh(v, UPLO), "eigh", "(n,n)->(n),(n,n)", a))


def eigvalsh(a: TensorLike, UPLO: str = "L") -> Tensor:
    """Return the eigenvalues of symmetric or Hermitian matrices.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        One matrix or a stack of them.
    UPLO : str, optional
        "L" or "U": which triangle is read.

    Returns
    -------
    TensorVariable
        Of shape (..., n), in ascending order.

    See Also
    --------
    linalg.eigh, linalg.eigvals, numpy.linalg.eigvalsh

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.eigvalsh(T.constant([[2.0, 0.0], [0.0, 1.0]])).eval()
    array([1., 2.])
    """
    return eigh(a, UPLO).eigenvalues


def eig(a: TensorLike) -> EigResult:
    """Return eigenvalues and eigenvectors of matrices.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        One matrix or a stack of them.

    Returns
    -------
    tuple of TensorVariable
        Eigenvalues of shape (..., n) and eigenvectors, the columns of (..., n, n).

    Raises
    ------
    ValueError
        When it runs: eigenvalues of a real matrix are complex, for the dtype does not depend on values.

    See Also
    --------
    linalg.eigh, linalg.eigvals, numpy.linalg.eig

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.eig(T.constant([[2.0, 0.0], [0.0, 1.0]])).eigenvalues.eval()
    array([2., 1.])
    """
    return EigResult(*_each(factor.eig, "eig", "(n,n)->(n),(n,n)", a))


def eigvals(a: TensorLike) -> Tensor:
    """Return the eigenvalues of matrices; see :func:`eig`.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        One matrix or a stack of them.

    Returns
    -------
    TensorVariable
        Of shape (..., n).

    See Also
    --------
    linalg.eig, linalg.eigvalsh, numpy.linalg.eigvals

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.eigvals(T.constant([[2.0, 0.0], [0.0, 1.0]])).eval()
    array([2., 1.])
    """
    return eig(a).eigenvalues


def svd(a: TensorLike, full_matrices: bool = True, compute_uv: bool = True) -> SVDResult | Tensor:
    """Return the singular value decomposition of matrices.

    Parameters
    ----------
    a : tensor, shape (..., m, n)
        One matrix or a stack of them.
    full_matrices : bool, optional
        Whether U and V' are square.
    compute_uv : bool, optional
        Whether U and V' are computed at all.

    Returns
    -------
    tuple of TensorVariable, or TensorVariable
        U, the singular values in descending order, and V'; without ``compute_uv`` the singular values.

    See Also
    --------
    linalg.svdvals, linalg.eigh, numpy.linalg.svd

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.svd(T.constant([[3.0, 0.0], [0.0, 4.0]]), compute_uv=False).eval()
    array([4., 3.])
    """
    if not compute_uv:
        return svdvals(a)
    signature = "(m,n)->(m,m),(k),(n,n)" if full_matrices else "(m,n)->(m,k),(k),(k,n)"
    return SVDResult(*_each(lambda v: factor.svd(v, full_matrices), "svd", signature, a))


def svdvals(x: TensorLike) -> Tensor:
    """Return the singular values of matrices.

    Parameters
    ----------
    x : tensor, shape (..., m, n)
        One matrix or a stack of them.

    Returns
    -------
    TensorVariable
        In descending order along the last axis.

    See Also
    --------
    linalg.svd, numpy.linalg.svdvals

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.svdvals(T.constant([[3.0, 0.0], [0.0, 4.0]])).eval()
    array([4., 3.])
    """
    return _each(lambda v: factor.svd(v, compute_uv=False), "svdvals", "(m,n)->(k)", x)


def qr(a: TensorLike, mode: str = "reduced") -> QRResult | Tensor:
    """Return matrices as products of orthogonal ones and upper triangles.

    Parameters
    ----------
    a : tensor, shape (..., m, n)
        One matrix or a stack of them.
    mode : "reduced", "complete" or "r"
        Q of shape (..., m, k), of (..., m, m), or none.

    Returns
    -------
    tuple of TensorVariable, or TensorVariable
        Q and R; of mode "r" R alone.

    See Also
    --------
    linalg.svd, numpy.linalg.qr

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.qr(T.constant([[2.0, 0.0], [0.0, 1.0]]), "r").eval().shape
    (2, 2)
    """
    if mode == "r":
        return _each(lambda v: factor.qr(v, "r"), "qr", "(m,n)->(k,n)", a)
    signature = "(m,n)->(m,k),(k,n)" if mode == "reduced" else "(m,n)->(m,m),(m,n)"
    return QRResult(*_each(lambda v: factor.qr(v, mode), "qr", signature, a))


def matrix_power(a: TensorLike, n: int) -> Tensor:
    """Return powers of square matrices by a whole number, negative ones included.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        One matrix or a stack of them.
    n : int
        The exponent.

    Returns
    -------
    TensorVariable
        Of the shape of ``a``.

    See Also
    --------
    linalg.inv, numpy.linalg.matrix_power

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.matrix_power(T.constant([[1.0, 1.0], [0.0, 1.0]]), 3).eval()
    array([[1., 3.],
           [0., 1.]])
    """
    return _each(lambda v: functions.matrix_power(v, n), "matrix_power", "(n,n)->(n,n)", a)


def diagonal(x: TensorLike, /, *, offset: int = 0) -> Tensor:
    """Return the diagonals of matrices.

    Parameters
    ----------
    x : tensor, shape (..., m, n)
        One matrix or a stack of them.
    offset : int, optional
        Which diagonal; above the main one where it is positive.

    Returns
    -------
    TensorVariable
        Of shape (..., k).

    See Also
    --------
    linalg.trace, diagonal, numpy.linalg.diagonal

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.diagonal(T.constant([[1, 2], [3, 4]])).eval()
    array([1, 4])
    """
    return _diagonal(_stacks(x, "diagonal"), offset, -2, -1)


def trace(x: TensorLike, /, *, offset: int = 0, dtype: str | None = None) -> Tensor:
    """Return the sums of the diagonals of matrices.

    Parameters
    ----------
    x : tensor, shape (..., m, n)
        One matrix or a stack of them.
    offset : int, optional
        Which diagonal.
    dtype : str, optional
        Of the sums.

    Returns
    -------
    TensorVariable
        Of shape (...).

    See Also
    --------
    linalg.diagonal, trace, numpy.linalg.trace

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.trace(T.constant([[1, 2], [3, 4]])).eval()
    array(5)
    """
    return _trace(_stacks(x, "trace"), offset, -2, -1, dtype)


def outer(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return the matrix of all products of two vectors' elements.

    Parameters
    ----------
    x1 : vector
        The rows.
    x2 : vector
        The columns.

    Returns
    -------
    TensorVariable
        A matrix of shape (len(x1), len(x2)).

    See Also
    --------
    outer, numpy.linalg.outer

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.outer(T.constant([1, 2]), T.constant([3, 4])).eval()
    array([[3, 4],
           [6, 8]])
    """
    vectors = [as_tensor_variable(v) for v in (x1, x2)]
    for v in vectors:
        if v.type.ndim != 1:
            raise ValueError(f"linalg.outer: {v} has {v.type.ndim} dimensions; give vectors")
    return _outer(*vectors)


def multi_dot(arrays: Sequence[TensorLike]) -> Tensor:
    """Return the product of matrices; a vector may stand at either end.

    The products are computed from left to right.

    Parameters
    ----------
    arrays : sequence of matrix
        Two or more.

    Returns
    -------
    TensorVariable
        A matrix; a vector or a number where vectors stand at the ends.

    See Also
    --------
    dot, matmul, numpy.linalg.multi_dot

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.multi_dot([T.ones((2, 3)), T.ones((3, 4)), T.ones((4, 1))]).eval()
    array([[12.],
           [12.]])
    """
    if len(arrays) < 2:
        raise ValueError(f"linalg.multi_dot: give two matrices or more, not {len(arrays)}")
    return reduce(matmul, map(as_tensor_variable, arrays))


def norm(x: TensorLike, ord: float | str | None = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return norms of vectors or matrices.

    Parameters
    ----------
    x : tensor
        Of any shape.
    ord : number, "fro" or "nuc", optional
        As for :func:`numpy.linalg.norm`; the root of the sum of squares by default.
    axis : int or (int, int), optional
        Of vectors, or of matrices; by default those of ``x``, which is then a vector or a matrix unless ``ord`` is
        None.
    keepdims : bool
        Keep the axes, with length 1.

    Returns
    -------
    TensorVariable
        Without the axes.

    See Also
    --------
    linalg.vector_norm, linalg.matrix_norm, numpy.linalg.norm

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.norm(T.constant([[3.0, 4.0], [0.0, 0.0]]), axis=1).eval()
    array([5., 0.])
    """
    x = as_tensor_variable(x)
    if axis is None:
        if ord is None:
            return _root_of_squares(x, None, keepdims)
        if x.type.ndim not in (1, 2):
            raise ValueError(f"linalg.norm: {x} has {x.type.ndim} dimensions; name the axis of vectors or matrices")
        axis = tuple(range(x.type.ndim))
    axes = [axis] if isinstance(axis, (int, np.integer)) else list(axis)  # type: ignore[arg-type]
    if len(axes) == 1:
        return _vector(x, 2 if ord is None else ord, axis_of(x, int(axes[0]), "linalg.norm"), keepdims)
    return _matrix(x, "fro" if ord is None else ord, [axis_of(x, int(i), "linalg.norm") for i in axes], keepdims)


def _root_of_squares(x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    return el.sqrt(sum(el.sqr(el.abs_(continuous(x))), axis, None, keepdims))


def _vector(x: Tensor, ord: float | str, axis: Axis, keepdims: bool) -> Tensor:
    if isinstance(ord, str):
        raise ValueError(f"linalg.norm: {ord!r} is a norm of matrices, and {axis} is one axis")
    size = el.abs_(continuous(x))
    if ord == np.inf:
        return reductions.max(size, axis, keepdims)
    if ord == -np.inf:
        return reductions.min(size, axis, keepdims)
    if ord == 0:
        return sum(el.cast(el.neq(size, 0), size.type.dtype), axis, None, keepdims)
    if ord == 1:
        return sum(size, axis, None, keepdims)
    if ord == 2:
        return el.sqrt(sum(el.sqr(size), axis, None, keepdims))
    power = np.asarray(ord, size.type.dtype)
    return el.pow(sum(el.pow(size, power), axis, None, keepdims), 1 / power)


def _matrix(x: Tensor, ord: float | str, axes: list[int], keepdims: bool) -> Tensor:
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"linalg.norm: axis must be one axis or two different ones, not {axes}")
    if ord == "fro":
        return _root_of_squares(x, axes, keepdims)
    rest = [i for i in range(x.type.ndim) if i not in axes]
    moved = continuous(x.dimshuffle(*rest, *axes))
    if ord in ("nuc", 2, -2):
        values = svdvals(moved)
        found = sum(values, -1) if ord == "nuc" else (reductions.max if ord == 2 else reductions.min)(values, -1)
    elif ord in (1, -1, np.inf, -np.inf):
        sums = reductions.sum(el.abs_(moved), axis=-2 if abs(ord) == 1 else -1)
        found = (reductions.max if ord > 0 else reductions.min)(sums, axis=-1)
    else:
        raise ValueError(f"linalg.norm: there is no norm {ord!r} of matrices")
    return restore_axes(found, x, axes) if keepdims else found


def vector_norm(x: TensorLike, *, axis: Axis = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """Return norms of vectors along axes, or of all elements.

    Parameters
    ----------
    x : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    keepdims : bool, optional
        Keep the axes that go, with length 1.
    ord : number, optional
        2 for the Euclidean norm.

    Returns
    -------
    TensorVariable
        Without the axes.

    See Also
    --------
    linalg.norm, linalg.matrix_norm, numpy.linalg.vector_norm

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.vector_norm(T.constant([3.0, 4.0])).eval()
    array(5.)
    """
    return _vector(as_tensor_variable(x), ord, axis, keepdims)


def matrix_norm(x: TensorLike, *, keepdims: bool = False, ord: float | str = "fro") -> Tensor:
    """Return norms of matrices, by the names of :func:`norm`.

    Parameters
    ----------
    x : tensor, shape (..., m, n)
        One matrix or a stack of them.
    keepdims : bool, optional
        Keep the axes that go, with length 1.
    ord : number or str, optional
        As for :func:`norm`.

    Returns
    -------
    TensorVariable
        Of shape (...).

    See Also
    --------
    linalg.norm, linalg.vector_norm, numpy.linalg.matrix_norm

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.matrix_norm(T.constant([[3.0, 0.0], [0.0, 4.0]])).eval()
    array(5.)
    """
    x = _stacks(x, "matrix_norm")
    return _matrix(x, ord, [x.type.ndim - 2, x.type.ndim - 1], keepdims)


def cond(x: TensorLike, p: float | str | None = None) -> Tensor:
    """Return condition numbers of matrices.

    Parameters
    ----------
    x : tensor, shape (..., m, n)
        One matrix or a stack of them.
    p : None, 1, -1, 2, -2, inf, -inf, "fro" or "nuc", optional
        The order of the norm; 2 by default.

    Returns
    -------
    TensorVariable
        Of shape (...).

    See Also
    --------
    linalg.norm, linalg.svdvals, numpy.linalg.cond

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.cond(T.constant([[4.0, 0.0], [0.0, 2.0]])).eval()
    array(2.)
    """
    x = _stacks(x, "cond")
    if p in (None, 2, -2):
        values = svdvals(x)
        first, last = values[..., 0], values[..., -1]
        return last / first if p == -2 else first / last
    return matrix_norm(x, ord=p) * matrix_norm(inv(x), ord=p)


def matrix_rank(A: TensorLike, tol: TensorLike | None = None, hermitian: bool = False) -> Tensor:
    """Return the ranks of matrices: how many singular values are above a tolerance.

    Parameters
    ----------
    A : tensor, shape (..., m, n)
        One matrix or a stack of them.
    tol : number, optional
        By default the largest singular value times the larger length times the dtype's precision.
    hermitian : bool
        The matrices are symmetric or Hermitian: use eigenvalues.

    Returns
    -------
    TensorVariable
        Of int64, of shape (...).

    See Also
    --------
    linalg.svdvals, numpy.linalg.matrix_rank

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.matrix_rank(T.constant([[1.0, 2.0], [2.0, 4.0]])).eval()
    array(1)
    """
    A = _stacks(A, "matrix_rank")
    values = el.abs_(eigvalsh(A)) if hermitian else svdvals(A)
    if tol is None:
        length = el.cast(el.maximum(A.shape[-1], A.shape[-2]), values.type.dtype)
        least = reductions.max(values, -1, keepdims=True) * length * np.finfo(values.type.dtype).eps
    else:
        bound = as_tensor_variable(tol)
        least = bound.dimshuffle(*range(bound.type.ndim), "x")
    return sum(el.gt(values, least), -1, "int64")


def tensorinv(a: TensorLike, ind: int = 2) -> Tensor:
    """Return the inverse of a tensor under products along ``ind`` axes.

    Parameters
    ----------
    a : tensor
        As a matrix it is square.
    ind : int, optional
        How many axes come first.

    Returns
    -------
    TensorVariable
        The axes behind ``ind`` first.

    See Also
    --------
    linalg.tensorsolve, numpy.linalg.tensorinv

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.tensorinv(T.dtensor4("a")).ndim
    4
    """
    return equations.tensorinv(a, ind)


def tensorsolve(a: TensorLike, b: TensorLike, axes: Sequence[int] | None = None) -> Tensor:
    """Return the x for which ``tensordot(a, x, x.ndim)`` is ``b``.

    Parameters
    ----------
    a : tensor
        As a matrix it is square.
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
    linalg.tensorinv, numpy.linalg.tensorsolve

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.tensorsolve(T.dtensor3("a"), T.dmatrix("b")).ndim
    1
    """
    return equations.tensorsolve(a, b, axes)


