"""Inverses, determinants and solutions of equations of matrices and of stacks of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from theano.tensor.batching.vectorize import vectorize
from theano.tensor.composed.stacks import each, stack_of
from theano.tensor.convert import as_tensor_variable
from theano.tensor.linalg import determinant, equations

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: Tensor
    logabsdet: Tensor


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
    return each(equations.matrix_inverse, "inv", "(n,n)->(n,n)", a)


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
    return each(equations.pinv, "pinv", "(m,n)->(n,m)", a)


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
    return each(determinant.det, "det", "(n,n)->()", a)


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
    return SlogdetResult(*each(determinant.slogdet, "slogdet", "(n,n)->(),()", a))


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
    a, b = stack_of(a, "solve"), as_tensor_variable(b)
    op = equations.Solve(on_error=on_error)
    if b.type.ndim == 1:
        return op(a, b) if a.type.ndim == 2 else vectorize(op, "(n,n),(n)->(n)")(a, b)
    return each(op, "solve", "(n,n),(n,k)->(n,k)", a, b)


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
