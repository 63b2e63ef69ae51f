"""The largest and the smallest elements, and their places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.tensor.convert import as_tensor_variable, constant
from theano.tensor.elemwise.functions import switch
from theano.tensor.reduce.argmax import Argmax, Argmin, MaxAndArgmax
from theano.tensor.reduce.axes import kept, names_none
from theano.tensor.reduce.careduce import CAReduce, Max, Min, reduced

if TYPE_CHECKING:
    from theano.tensor.annotations import Axis, TensorLike
    from theano.tensor.type import Tensor

#: As for :mod:`theano.tensor.reduce.functions`.
__all__ = [
    "argmax", "argmin", "largest", "max", "max_and_argmax", "min", "nanmax", "nanmin", "ptp", "smallest",
]  # fmt: skip


def _all_for_none(axis: Axis) -> Axis:
    """Return the axes along which an element is chosen: as in Theano, all of them where ``axis`` names none."""
    return None if names_none(axis) else axis


def max(x: Any, axis: Any = None, keepdims: bool = False, initial: TensorLike | None = None) -> Tensor:
    """Return the largest elements along axes; NaN where there is one.

    Parameters
    ----------
    x : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    keepdims : bool, optional
        Keep the axes that go, with length 1.
    initial : number, optional
        One more element, without which there must be others.

    Returns
    -------
    TensorVariable
        Without the axes. An empty axis is an error of the call, unless ``initial`` is given. The gradient goes to
        the largest elements.

    See Also
    --------
    min, argmax, max_and_argmax, nanmax, maximum, numpy.max

    Examples
    --------
    >>> import theano.tensor as T
    >>> max(T.dmatrix("m"), axis=1).owner
    Reduce{maximum}{1}(m)
    >>> max(T.zeros((2, 0)), axis=1, initial=-1).eval()
    array([-1., -1.])
    """
    x, axis = as_tensor_variable(x), _all_for_none(axis)
    return reduced(Max(axis, initial is not None), x, axis, keepdims, initial)


def min(x: TensorLike, axis: Axis = None, keepdims: bool = False, initial: TensorLike | None = None) -> Tensor:
    """Return the smallest elements along axes; NaN where there is one.

    Parameters
    ----------
    x : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    keepdims : bool, optional
        Keep the axes that go, with length 1.
    initial : number, optional
        One more element, without which there must be others.

    Returns
    -------
    TensorVariable
        Without the axes. An empty axis is an error of the call, unless ``initial`` is given. The gradient goes to
        the smallest elements.

    See Also
    --------
    max, argmin, nanmin, minimum, numpy.min

    Examples
    --------
    >>> import theano.tensor as T
    >>> min(T.constant([[1, 9], [7, 5]]), axis=0).eval()
    array([1, 5])
    """
    x, axis = as_tensor_variable(x), _all_for_none(axis)
    return reduced(Min(axis, initial is not None), x, axis, keepdims, initial)


def nanmax(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the largest elements along axes, ignoring NaN; NaN if all elements are NaN.

    Parameters
    ----------
    x : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    keepdims : bool, optional
        Keep the axes that go, with length 1.

    Returns
    -------
    TensorVariable
        Without the axes.

    See Also
    --------
    max, nanmin, numpy.nanmax

    Examples
    --------
    >>> import theano.tensor as T
    >>> nanmax(T.constant([[1, float("nan")], [7, 5]]), axis=1).eval()
    array([1., 7.])
    """
    x = as_tensor_variable(x)
    if x.type.dtype in scal.discrete_dtypes:
        return kept(x, Max(axis)(x), axis, keepdims)
    return kept(x, CAReduce(scal.fmax, axis)(x), axis, keepdims)


def nanmin(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the smallest elements along axes, ignoring NaN; NaN if all elements are NaN.

    Parameters
    ----------
    x : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    keepdims : bool, optional
        Keep the axes that go, with length 1.

    Returns
    -------
    TensorVariable
        Without the axes.

    See Also
    --------
    min, nanmax, numpy.nanmin

    Examples
    --------
    >>> import theano.tensor as T
    >>> nanmin(T.constant([[1, float("nan")], [7, 5]]), axis=1).eval()
    array([1., 5.])
    """
    x = as_tensor_variable(x)
    if x.type.dtype in scal.discrete_dtypes:
        return kept(x, Min(axis)(x), axis, keepdims)
    return kept(x, CAReduce(scal.fmin, axis)(x), axis, keepdims)


def argmax(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the places of the largest elements along axes, the first where several are as large.

    With ``axis`` None, or several axes, the place is counted in C order.

    Parameters
    ----------
    x : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    keepdims : bool, optional
        Keep the axes that go, with length 1.

    Returns
    -------
    TensorVariable
        Of int64, without the axes. NaN counts as the largest. An empty axis is an error of the call.

    See Also
    --------
    argmin, max, max_and_argmax, numpy.argmax

    Examples
    --------
    >>> import theano.tensor as T
    >>> argmax(T.constant([[1, 9, 3], [7, 5, 6]]), axis=1).eval()
    array([1, 0])
    """
    x, axis = as_tensor_variable(x), _all_for_none(axis)
    return kept(x, Argmax(axis)(x) if x.type.ndim else _zero_place(x), axis, keepdims)


def argmin(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the places of the smallest elements along axes, the first where several are as small.

    Parameters
    ----------
    x : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    keepdims : bool, optional
        Keep the axes that go, with length 1.

    Returns
    -------
    TensorVariable
        Of int64, without the axes. NaN counts as the smallest. An empty axis is an error of the call.

    See Also
    --------
    argmax, min, numpy.argmin

    Examples
    --------
    >>> import theano.tensor as T
    >>> argmin(T.constant([[1, 9, 3], [7, 5, 6]]), axis=1).eval()
    array([0, 1])
    """
    x, axis = as_tensor_variable(x), _all_for_none(axis)
    return kept(x, Argmin(axis)(x) if x.type.ndim else _zero_place(x), axis, keepdims)


def _zero_place(x: Tensor) -> Tensor:
    return constant(np.array(0, dtype="int64"))


def max_and_argmax(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> list[Tensor]:
    """Return the largest elements along axes and their places.

    Parameters
    ----------
    a : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    keepdims : bool, optional
        Keep the axes that go, with length 1.

    Returns
    -------
    list of TensorVariable
        Values and places (int64), without the axes.

    See Also
    --------
    max, argmax

    Examples
    --------
    >>> import theano.tensor as T
    >>> value, place = max_and_argmax(T.dmatrix("m"), axis=1)
    >>> value.type, place.type
    (TensorType(float64, vector), TensorType(int64, vector))
    """
    a, axis = as_tensor_variable(a), _all_for_none(axis)
    if a.type.ndim == 0:
        if axis not in (None, 0, -1):
            raise ArgumentError(f"axis {axis} of a tensor without dimensions")
        return [a, _zero_place(a)]
    value, place = MaxAndArgmax(axis)(a)
    return [kept(a, value, axis, keepdims), kept(a, place, axis, keepdims)]


def ptp(a: TensorLike, axis: Axis = None) -> Tensor:
    """Return the range of the elements along an axis: the largest less the smallest.

    Parameters
    ----------
    a : tensor
        Of any shape.
    axis : int or None, optional
        Along which axis; None for all.

    Returns
    -------
    TensorVariable
        Without the axis.

    See Also
    --------
    max, min, numpy.ptp

    Examples
    --------
    >>> import theano.tensor as T
    >>> ptp(T.constant([[1, 9], [7, 5]]), axis=1).eval()
    array([8, 2])
    """
    a = as_tensor_variable(a)
    return max(a, axis) - min(a, axis)


def largest(*args: TensorLike) -> Tensor:
    """Return the largest of some tensors, element by element.

    Parameters
    ----------
    *args : tensor
        They broadcast against each other.

    Returns
    -------
    TensorVariable
        Of the common shape.

    See Also
    --------
    smallest, maximum, max

    Examples
    --------
    >>> import theano.tensor as T
    >>> largest(T.constant([1, 5]), T.constant([3, 2])).eval()
    array([3, 5])
    """
    return _fold(args, lambda a, b: switch(a > b, a, b))


def smallest(*args: Tensor) -> Tensor:
    """Return the smallest of some tensors, element by element.

    Parameters
    ----------
    *args : tensor
        They broadcast against each other.

    Returns
    -------
    TensorVariable
        Of the common shape.

    See Also
    --------
    largest, minimum, min

    Examples
    --------
    >>> import theano.tensor as T
    >>> smallest(T.constant([1, 5]), T.constant([3, 2])).eval()
    array([1, 2])
    """
    return _fold(args, lambda a, b: switch(a < b, a, b))


def _fold(args: Sequence[Any], choose: Any) -> Tensor:
    if not args:
        raise TypeError("at least one tensor is needed")
    result = as_tensor_variable(args[0])
    for a in args[1:]:
        result = choose(result, as_tensor_variable(a))
    return result
