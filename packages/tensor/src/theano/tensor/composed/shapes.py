"""Dimensions that are added, and axes that are reversed or turned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from theano.tensor.convert import as_tensor_variable
from theano.tensor.expressions.ops import broadcast_to
from theano.tensor.messages import axis_of
from theano.tensor.shape.broadcast import broadcast_shape
from theano.tensor.shape.reshape import transpose

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def expand_dims(a: TensorLike, axis: int | Sequence[int]) -> Tensor:
    """Return a tensor with further axes of length 1, as :func:`numpy.expand_dims` does.

    Parameters
    ----------
    a : tensor
        Of any shape.
    axis : int or sequence of int
        Where the new axes are in the result.

    Returns
    -------
    TensorVariable
        Of more dimensions.

    See Also
    --------
    shape_padaxis, squeeze, numpy.expand_dims

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.expand_dims(T.dmatrix("x"), (0, 2)).broadcastable
    (True, False, True, False)
    """
    a = as_tensor_variable(a)
    axes = [axis] if isinstance(axis, (int, np.integer)) else list(axis)
    ndim = a.type.ndim + len(axes)
    if any(not -ndim <= i < ndim for i in axes):
        raise np.exceptions.AxisError(f"expand_dims: axis is {axis}, and the result has {ndim} dimensions")
    new = {int(i) % ndim for i in axes}
    if len(new) < len(axes):
        raise ValueError(f"expand_dims: axis is {axis}, which names an axis twice")
    old = iter(range(a.type.ndim))
    return a.dimshuffle(*["x" if i in new else next(old) for i in range(ndim)])


def flip(m: TensorLike, axis: int | Sequence[int] | None = None) -> Tensor:
    """Return a tensor with the elements along axes in reverse order.

    Parameters
    ----------
    m : tensor
        Of any shape.
    axis : int or sequence of int, optional
        All axes by default.

    Returns
    -------
    TensorVariable
        Of the shape of ``m``.

    See Also
    --------
    fliplr, flipud, roll, numpy.flip

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.flip(T.constant([[1, 2], [3, 4]]), 1).eval()
    array([[2, 1],
           [4, 3]])
    """
    m = as_tensor_variable(m)
    if axis is None:
        axis = range(m.type.ndim)
    axes = {axis_of(m, i, "flip") for i in ([axis] if isinstance(axis, (int, np.integer)) else axis)}
    return m[tuple(slice(None, None, -1 if i in axes else None) for i in range(m.type.ndim))] if axes else m


def fliplr(m: TensorLike) -> Tensor:
    """Return a tensor with its second axis in reverse order.

    Parameters
    ----------
    m : tensor
        Of two dimensions or more.

    Returns
    -------
    TensorVariable
        Of the shape of ``m``.

    See Also
    --------
    flip, flipud, numpy.fliplr

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.fliplr(T.constant([[1, 2], [3, 4]])).eval()
    array([[2, 1],
           [4, 3]])
    """
    return flip(m, 1)


def flipud(m: TensorLike) -> Tensor:
    """Return a tensor with its first axis in reverse order.

    Parameters
    ----------
    m : tensor
        Of one dimension or more.

    Returns
    -------
    TensorVariable
        Of the shape of ``m``.

    See Also
    --------
    flip, fliplr, numpy.flipud

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.flipud(T.constant([[1, 2], [3, 4]])).eval()
    array([[3, 4],
           [1, 2]])
    """
    return flip(m, 0)


def rot90(m: TensorLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """Return a tensor turned by quarters in the plane of two axes.

    Parameters
    ----------
    m : tensor
        Of two dimensions or more.
    k : int
        How many quarters, from the first axis towards the second.
    axes : (int, int)
        The plane.

    Returns
    -------
    TensorVariable
        Of the shape of ``m``, with the two axes exchanged for an odd ``k``.

    See Also
    --------
    flip, transpose, numpy.rot90

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.rot90(T.constant([[1, 2], [3, 4]])).eval()
    array([[2, 4],
           [1, 3]])
    """
    m = as_tensor_variable(m)
    if len(axes) != 2:
        raise ValueError(f"rot90: axes must be two axes, not {axes}")
    first, second = (axis_of(m, i, "rot90") for i in axes)
    if first == second:
        raise ValueError(f"rot90: axes must be two different axes, not {axes}")
    if k % 4 == 0:
        return m
    if k % 4 == 2:
        return flip(m, (first, second))
    order = list(range(m.type.ndim))
    order[first], order[second] = second, first
    return transpose(flip(m, second), order) if k % 4 == 1 else flip(transpose(m, order), second)


def matrix_transpose(x: TensorLike, /) -> Tensor:
    """Return a tensor with its last two axes exchanged.

    Parameters
    ----------
    x : tensor, shape (..., n, m)
        One matrix or a stack of them.

    Returns
    -------
    TensorVariable
        Of shape (..., m, n).

    See Also
    --------
    transpose, numpy.matrix_transpose

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.matrix_transpose(T.constant([[1, 2], [3, 4]])).eval()
    array([[1, 3],
           [2, 4]])
    """
    x = as_tensor_variable(x)
    if x.type.ndim < 2:
        raise ValueError(f"matrix_transpose: {x} has {x.type.ndim} dimensions; give 2 or more")
    return x.dimshuffle(*range(x.type.ndim - 2), x.type.ndim - 1, x.type.ndim - 2)


def atleast_1d(*arys: TensorLike) -> Tensor | tuple[Tensor, ...]:
    """Return tensors of one dimension or more.

    Parameters
    ----------
    *arys : tensor
        One or more.

    Returns
    -------
    TensorVariable, or tuple of TensorVariable
        One for each argument; by itself for a single one.

    See Also
    --------
    expand_dims, numpy.atleast_1d

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.atleast_1d(T.dscalar("x")).type
    TensorType(float64, (True,))
    """
    return _one_or_all([at_least(a, 1) for a in arys])


def atleast_2d(*arys: TensorLike) -> Tensor | tuple[Tensor, ...]:
    """Return tensors of two dimensions or more; a vector becomes a row.

    Parameters
    ----------
    *arys : tensor
        One or more.

    Returns
    -------
    TensorVariable, or tuple of TensorVariable
        One for each argument; by itself for a single one.

    See Also
    --------
    expand_dims, numpy.atleast_2d

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.atleast_2d(T.dvector("x")).type
    TensorType(float64, row)
    """
    return _one_or_all([at_least(a, 2) for a in arys])


def atleast_3d(*arys: TensorLike) -> Tensor | tuple[Tensor, ...]:
    """Return tensors of three dimensions or more: (1, n, 1) for a vector, (m, n, 1) for a matrix.

    Parameters
    ----------
    *arys : tensor
        One or more.

    Returns
    -------
    TensorVariable, or tuple of TensorVariable
        One for each argument; by itself for a single one.

    See Also
    --------
    expand_dims, numpy.atleast_3d

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.atleast_3d(T.dvector("x")).broadcastable
    (True, False, True)
    """
    return _one_or_all([at_least(a, 3) for a in arys])


def at_least(a: TensorLike, ndim: int) -> Tensor:
    """Return a tensor of ``ndim`` dimensions or more; of three, the last one is new before the first one is."""
    a = as_tensor_variable(a)
    missing = ndim - a.type.ndim
    if missing <= 0:
        return a
    last = ndim == 3
    return a.dimshuffle(*["x"] * (missing - last), *range(a.type.ndim), *["x"] * last)


def _one_or_all(found: list[Tensor]) -> Tensor | tuple[Tensor, ...]:
    return found[0] if len(found) == 1 else tuple(found)


def broadcast_arrays(*args: TensorLike) -> tuple[Tensor, ...]:
    """Return tensors stretched to their common shape.

    A length of 1 stretches where the type of the variable knows it.

    Parameters
    ----------
    *args : tensor
        What is stretched.

    Returns
    -------
    tuple of TensorVariable
        One for each argument.

    See Also
    --------
    broadcast_to, broadcast_shape, numpy.broadcast_arrays

    Examples
    --------
    >>> import theano.tensor as T
    >>> [v.eval().shape for v in T.broadcast_arrays(T.ones((1, 3)), T.ones((2, 1)))]
    [(2, 3), (2, 3)]
    """
    tensors = [as_tensor_variable(a) for a in args]
    return tuple(broadcast_to(a, broadcast_shape(*tensors)) for a in tensors) if len(tensors) > 1 else tuple(tensors)
