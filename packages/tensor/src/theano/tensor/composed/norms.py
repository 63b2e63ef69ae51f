"""Norms of vectors and matrices, condition numbers and ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano.tensor.composed.equations import inv
from theano.tensor.composed.factors import eigvalsh, svdvals
from theano.tensor.composed.stacks import stack_of
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise import functions as el
from theano.tensor.messages import axis_of
from theano.tensor.numpy_functions import continuous, sum
from theano.tensor.reduce import extremes
from theano.tensor.reduce import functions as reductions
from theano.tensor.reduce.axes import restore_axes

if TYPE_CHECKING:
    from theano.tensor.annotations import Axis, TensorLike
    from theano.tensor.type import Tensor


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
        return extremes.max(size, axis, keepdims)
    if ord == -np.inf:
        return extremes.min(size, axis, keepdims)
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
        found = sum(values, -1) if ord == "nuc" else (extremes.max if ord == 2 else extremes.min)(values, -1)
    elif ord in (1, -1, np.inf, -np.inf):
        sums = reductions.sum(el.abs_(moved), axis=-2 if abs(ord) == 1 else -1)
        found = (extremes.max if ord > 0 else extremes.min)(sums, axis=-1)
    else:
        raise ValueError(f"linalg.norm: norm {ord!r} is not defined for matrices")
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
    x = stack_of(x, "matrix_norm")
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
    x = stack_of(x, "cond")
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
    A = stack_of(A, "matrix_rank")
    values = el.abs_(eigvalsh(A)) if hermitian else svdvals(A)
    if tol is None:
        length = el.cast(el.maximum(A.shape[-1], A.shape[-2]), values.type.dtype)
        least = extremes.max(values, -1, keepdims=True) * length * np.finfo(values.type.dtype).eps
    else:
        bound = as_tensor_variable(tol)
        least = bound.dimshuffle(*range(bound.type.ndim), "x")
    return sum(el.gt(values, least), -1, "int64")
