"""Elements by their places along an axis, and places by value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano.scalar import complex_dtypes, discrete_dtypes
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.arange import arange
from theano.tensor.elemwise import functions as el
from theano.tensor.index.functions import getitem, set_subtensor
from theano.tensor.join.op import join
from theano.tensor.messages import axis_of
from theano.tensor.shape.reshape import vector_along
from theano.tensor.sort.op import argsort
from theano.tensor.sort.op import sort as sort_
from theano.tensor.sort.search import searchsorted

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def take_along_axis(arr: TensorLike, indices: TensorLike, axis: int | None = -1) -> Tensor:
    """Return the elements at places along an axis, one row of places for each row of elements.

    Parameters
    ----------
    arr : tensor
        Of any shape.
    indices : tensor of int
        Of as many dimensions as ``arr``; along the others both broadcast against each other.
    axis : int, optional
        None: both count as flat.

    Returns
    -------
    TensorVariable
        Of the common shape, with that of ``indices`` along the axis.

    See Also
    --------
    take, put_along_axis, numpy.take_along_axis

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.constant([[3, 1, 2], [4, 6, 5]])
    >>> T.take_along_axis(x, T.argsort(x, axis=1), axis=1).eval()
    array([[1, 2, 3],
           [4, 5, 6]])
    """
    arr, indices, axis = _alike(arr, indices, axis, "take_along_axis")
    return getitem(arr, _grid(arr, indices, axis))


def put_along_axis(arr: TensorLike, indices: TensorLike, values: TensorLike, axis: int | None) -> Tensor:
    """Return a tensor with elements at places along an axis replaced.

    :func:`numpy.put_along_axis` writes into its argument; this returns the new tensor.

    Parameters
    ----------
    arr : tensor
        Of any shape.
    indices : tensor of int
        Of as many dimensions as ``arr``.
    values : tensor
        What to put there; it broadcasts to the shape of ``indices``.
    axis : int, optional
        None: ``arr`` counts as flat.

    Returns
    -------
    TensorVariable
        Of the shape and dtype of ``arr``.

    See Also
    --------
    take_along_axis, set_subtensor, numpy.put_along_axis

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.put_along_axis(T.constant([[1, 2], [3, 4]]), [[1], [0]], 9, axis=1).eval()
    array([[1, 9],
           [9, 4]])
    """
    given = as_tensor_variable(arr)
    arr, indices, along = _alike(arr, indices, axis, "put_along_axis")
    changed = set_subtensor(getitem(arr, _grid(arr, indices, along)), values)
    return changed.reshape(given.shape, ndim=given.type.ndim) if axis is None else changed


def _alike(arr: TensorLike, indices: TensorLike, axis: int | None, what: str) -> tuple[Tensor, Tensor, int]:
    tensor, places = as_tensor_variable(arr), as_tensor_variable(indices)
    if places.type.dtype not in discrete_dtypes or places.type.dtype == "bool":
        raise IndexError(f"{what}: indices must be whole numbers, not of dtype {places.type.dtype}")
    if axis is None:
        tensor, axis = tensor.flatten(), 0
    if tensor.type.ndim != places.type.ndim:
        raise ValueError(
            f"{what}: indices has {places.type.ndim} dimensions, and the tensor {tensor.type.ndim}; give as many"
        )
    return tensor, places, axis_of(tensor, axis, what)


def _grid(arr: Tensor, indices: Tensor, axis: int) -> tuple[Tensor, ...]:
    """Return the indices of all axes: places of their own but along one."""
    ndim = arr.type.ndim
    return tuple(
        indices if i == axis else vector_along(arange(arr.shape[i]), i, ndim) for i in range(ndim)
    )


def digitize(x: TensorLike, bins: TensorLike, right: bool = False) -> Tensor:
    """Return the number of the bin of each element; bins have increasing or decreasing bounds.

    Parameters
    ----------
    x : tensor
        Of any shape.
    bins : vector
        The bounds.
    right : bool
        Whether a bin holds its right bound in place of its left one.

    Returns
    -------
    TensorVariable
        Of int64, of the shape of ``x``.

    See Also
    --------
    searchsorted, numpy.digitize

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.digitize(T.constant([0.5, 2.0, 9.0]), T.constant([1.0, 2.0, 3.0])).eval()
    array([0, 2, 3])
    """
    x, bins = as_tensor_variable(x), as_tensor_variable(bins)
    if x.type.dtype in complex_dtypes:
        raise TypeError(f"digitize: complex numbers have no order:\n{x} of type {x.type}")
    if bins.type.ndim != 1:
        raise ValueError(f"digitize: bins must be a vector, and {bins} has {bins.type.ndim} dimensions")
    rising = searchsorted(bins, x, side="left" if right else "right")
    falling = bins.shape[0] - searchsorted(bins[::-1], x, side="left" if right else "right")
    return el.switch(el.gt(bins[0], bins[-1]), falling, rising)


def isin(element: TensorLike, test_elements: TensorLike, invert: bool = False) -> Tensor:
    """Return for each element whether it is among others.

    Parameters
    ----------
    element : tensor
        Of any shape.
    test_elements : tensor
        The others, of any shape.
    invert : bool
        Return the contrary.

    Returns
    -------
    TensorVariable
        Bool, of the shape of ``element``.

    See Also
    --------
    unique, numpy.isin

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.isin(T.constant([1, 2, 3]), T.constant([3, 1, 7])).eval()
    array([ True, False,  True])
    """
    element, others = as_tensor_variable(element), as_tensor_variable(test_elements)
    dtype = np.result_type(element.type.dtype, others.type.dtype).name
    wanted, sorted_ = el.cast(element, dtype), sort_(el.cast(others, dtype).flatten())
    before, after = (searchsorted(sorted_, wanted, side=side) for side in ("left", "right"))
    found = el.eq(before, after) if invert else el.neq(before, after)
    if dtype in discrete_dtypes:
        return found
    return el.or_(found, el.isnan_(wanted)) if invert else el.and_(found, el.eq(wanted, wanted))


def interp(
    x: TensorLike, xp: TensorLike, fp: TensorLike, left: TensorLike | None = None, right: TensorLike | None = None,
    period: TensorLike | None = None,
) -> Tensor:
    """Return a piecewise linear function, given at points, at others.

    Parameters
    ----------
    x : tensor
        Where to evaluate it.
    xp, fp : vector
        The points, in increasing order unless ``period`` is given, and the values there.
    left, right : number, optional
        The values below the first point and above the last; those at these points by default.
    period : number, optional
        The function repeats after this distance.

    Returns
    -------
    TensorVariable
        Of the shape of ``x``; its derivative by ``x`` is the slope.

    See Also
    --------
    searchsorted, numpy.interp

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.interp(T.constant([0.5, 3.0]), [0.0, 1.0, 2.0], [0.0, 10.0, 20.0]).eval()
    array([ 5., 20.])
    """
    at: Tensor = el.cast(as_tensor_variable(x), "float64")
    points: Tensor = el.cast(as_tensor_variable(xp), "float64")
    values = as_tensor_variable(fp)
    if values.type.dtype != "complex128":
        values = el.cast(values, "float64")
    if points.type.ndim != 1 or values.type.ndim != 1:
        found = f"{points.type.ndim} and {values.type.ndim} dimensions"
        raise ValueError(f"interp: xp and fp must be vectors; they have {found}")
    if period is not None:
        length: Tensor = el.abs_(el.cast(period, "float64"))
        at, points, left, right = el.mod(at, length), el.mod(points, length), None, None
        order = argsort(points)
        points, values = points[order], values[order]
        points = join(0, points[-1:] - length, points, points[:1] + length)
        values = join(0, values[-1:], values, values[:1])
    last = points.shape[0] - 1
    place = el.clip(searchsorted(points, at, side="right") - 1, 0, el.maximum(last - 1, 0))
    after = el.minimum(place + 1, last)
    width = points[after] - points[place]
    slope = (values[after] - values[place]) / el.switch(el.eq(width, 0), 1.0, width)
    between = el.switch(el.eq(at, points[after]), values[after], slope * (at - points[place]) + values[place])
    between = el.switch(el.lt(at, points[0]), values[0] if left is None else left, between)
    between = el.switch(el.gt(at, points[last]), values[last] if right is None else right, between)
    return el.switch(el.isnan_(at), at, between)
