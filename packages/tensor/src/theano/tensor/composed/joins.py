"""Tensors put beside each other, by NumPy's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from theano.tensor.composed.shapes import at_least
from theano.tensor.convert import as_tensor_variable
from theano.tensor.expressions.ops import broadcast_to
from theano.tensor.join.op import join
from theano.tensor.shape.reshape import vector_along

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def vstack(tup: Sequence[TensorLike]) -> Tensor:
    """Return tensors joined along their first axis; a vector counts as a row.

    Parameters
    ----------
    tup : sequence of tensor
        What is joined.

    Returns
    -------
    TensorVariable
        Of the dtype that all are converted to.

    See Also
    --------
    concatenate, stack, numpy.vstack

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.vstack([T.constant([1, 2]), T.constant([3, 4])]).eval()
    array([[1, 2],
           [3, 4]])
    """
    return join(0, *(at_least(a, 2) for a in tup))


def hstack(tup: Sequence[TensorLike]) -> Tensor:
    """Return tensors joined along their second axis, or vectors along their only one.

    Parameters
    ----------
    tup : sequence of tensor
        What is joined.

    Returns
    -------
    TensorVariable
        Of the dtype that all are converted to.

    See Also
    --------
    concatenate, stack, numpy.hstack

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.hstack([T.constant([1, 2]), T.constant([3])]).eval()
    array([1, 2, 3])
    """
    parts = [at_least(a, 1) for a in tup]
    return join(0 if parts and parts[0].type.ndim == 1 else 1, *parts)


def dstack(tup: Sequence[TensorLike]) -> Tensor:
    """Return tensors joined along their third axis.

    Parameters
    ----------
    tup : sequence of tensor
        What is joined.

    Returns
    -------
    TensorVariable
        Of the dtype that all are converted to.

    See Also
    --------
    concatenate, stack, numpy.dstack

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.dstack([T.constant([1, 2]), T.constant([3, 4])]).eval()
    array([[[1, 3],
            [2, 4]]])
    """
    return join(2, *(at_least(a, 3) for a in tup))


def column_stack(tup: Sequence[TensorLike]) -> Tensor:
    """Return a matrix of columns: vectors, or the columns of matrices.

    Parameters
    ----------
    tup : sequence of tensor
        What is joined.

    Returns
    -------
    TensorVariable
        Of the dtype that all are converted to.

    See Also
    --------
    concatenate, stack, numpy.column_stack

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.column_stack([T.constant([1, 2]), T.constant([3, 4])]).eval()
    array([[1, 3],
           [2, 4]])
    """
    parts = [as_tensor_variable(a) for a in tup]
    return join(1, *(a if a.type.ndim >= 2 else at_least(a, 1).dimshuffle(0, "x") for a in parts))


def append(arr: TensorLike, values: TensorLike, axis: int | None = None) -> Tensor:
    """Return a tensor with others behind it: flat ones, or along an axis.

    Parameters
    ----------
    arr : tensor
        Of any shape.
    values : tensor
        What comes behind it.
    axis : int or None, optional
        Along which axis; None for the flat tensor.

    Returns
    -------
    TensorVariable
        Longer along the axis.

    See Also
    --------
    concatenate, numpy.append

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.append(T.constant([1, 2]), [3, 4]).eval()
    array([1, 2, 3, 4])
    """
    parts = as_tensor_variable(arr), as_tensor_variable(values)
    return join(0, *(a.flatten() for a in parts)) if axis is None else join(axis, *parts)


def meshgrid(*xi: TensorLike, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Return the coordinates of a grid, one tensor for each axis.

    Parameters
    ----------
    *xi : vector
        The coordinates along each axis.
    copy : bool
        Accepted, as results are values of their own.
    sparse : bool
        Leave each result as long as its own axis, with lengths of 1 along the others.
    indexing : "xy" or "ij"
        Whether the first vector goes along the second axis (``"xy"``), or along the first.

    Returns
    -------
    tuple of TensorVariable
        One for each of ``xi``.

    See Also
    --------
    mgrid, broadcast_arrays, numpy.meshgrid

    Examples
    --------
    >>> import theano.tensor as T
    >>> X, Y = T.meshgrid(T.constant([1, 2, 3]), T.constant([4, 5]))
    >>> X.eval(), Y.eval()
    (array([[1, 2, 3],
           [1, 2, 3]]), array([[4, 4, 4],
           [5, 5, 5]]))
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is {indexing!r}; it must be 'xy' or 'ij'")
    axes = [as_tensor_variable(x).flatten() for x in xi]
    ndim = len(axes)
    places = list(range(ndim))
    if indexing == "xy" and ndim > 1:
        places[:2] = 1, 0
    spread = [vector_along(a, i, ndim) for a, i in zip(axes, places, strict=True)]
    if sparse or ndim < 2:
        return tuple(spread)
    lengths = [axes[places[i]].shape[0] for i in range(ndim)]
    return tuple(broadcast_to(a, lengths) for a in spread)
