"""Reductions that leave NaN out, and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano.scalar import complex_dtypes, discrete_dtypes
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise import functions as el
from theano.tensor.numpy_functions import continuous, prod, sum
from theano.tensor.reduce.axes import normalize_axes
from theano.tensor.shape.reshape import squeeze
from theano.tensor.sort.cumulative import cumprod, cumsum

if TYPE_CHECKING:
    from theano.tensor.annotations import Axis, TensorLike
    from theano.tensor.type import Tensor


def _filled(a: TensorLike, number: float) -> Tensor:
    """Return a tensor with a number in the place of each NaN."""
    a = as_tensor_variable(a)
    if a.type.dtype in discrete_dtypes:
        return a
    return el.switch(_is_nan(a), np.asarray(number, a.type.dtype), a)


def _is_nan(a: Tensor) -> Tensor:
    if a.type.dtype in complex_dtypes:
        return el.or_(el.isnan_(el.real(a)), el.isnan_(el.imag(a)))
    return el.isnan_(a)


def nansum(a: TensorLike, axis: Axis = None, dtype: str | None = None, keepdims: bool = False) -> Tensor:
    """Return the sum of elements, in which NaN counts as 0.

    Parameters
    ----------
    a : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        All axes by default.
    dtype : str, optional
        Of the result.
    keepdims : bool
        Keep the axes, with length 1.

    Returns
    -------
    TensorVariable
        Without the axes.

    See Also
    --------
    sum, nanmean, numpy.nansum

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.nansum(T.constant([1.0, float("nan"), 2.0])).eval()
    array(3.)
    """
    return sum(_filled(a, 0), axis, dtype, keepdims)


def nanprod(a: TensorLike, axis: Axis = None, dtype: str | None = None, keepdims: bool = False) -> Tensor:
    """Return the product of elements, in which NaN counts as 1.

    Parameters
    ----------
    a : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    dtype : str, optional
        Of the result.
    keepdims : bool, optional
        Keep the axes that go, with length 1.

    Returns
    -------
    TensorVariable
        Without the axes.

    See Also
    --------
    prod, nansum, numpy.nanprod

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.nanprod(T.constant([3.0, float("nan"), 2.0])).eval()
    array(6.)
    """
    return prod(_filled(a, 1), axis, dtype, keepdims)


def nancumsum(a: TensorLike, axis: int | None = None) -> Tensor:
    """Return running sums, in which NaN counts as 0.

    Parameters
    ----------
    a : tensor
        Of any shape.
    axis : int or None, optional
        Along which axis; None for the flat tensor.

    Returns
    -------
    TensorVariable
        Of the shape of ``a``; a vector for ``axis=None``.

    See Also
    --------
    cumsum, nancumprod, numpy.nancumsum

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.nancumsum(T.constant([1.0, float("nan"), 2.0])).eval()
    array([1., 1., 3.])
    """
    return cumsum(_filled(a, 0), axis)


def nancumprod(a: TensorLike, axis: int | None = None) -> Tensor:
    """Return running products, in which NaN counts as 1.

    Parameters
    ----------
    a : tensor
        Of any shape.
    axis : int or None, optional
        Along which axis; None for the flat tensor.

    Returns
    -------
    TensorVariable
        Of the shape of ``a``; a vector for ``axis=None``.

    See Also
    --------
    cumprod, nancumsum, numpy.nancumprod

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.nancumprod(T.constant([3.0, float("nan"), 2.0])).eval()
    array([3., 3., 6.])
    """
    return cumprod(_filled(a, 1), axis)


def _count(a: Tensor, axis: Axis, dtype: str) -> Tensor:
    """Return how many elements are not NaN, along axes that are kept."""
    return el.cast(sum(el.eq(_is_nan(a), np.asarray(False)), axis, "int64", True), dtype)


def nanmean(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the mean of the elements that are not NaN; NaN where all are.

    Parameters
    ----------
    a : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    keepdims : bool
        Keep the axes that go, with length 1.

    Returns
    -------
    TensorVariable
        Without the axes.

    See Also
    --------
    mean, nanvar, numpy.nanmean

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.nanmean(T.constant([1.0, float("nan"), 2.0])).eval()
    array(1.5)
    """
    return _without_axes(_mean(continuous(a), axis), axis, keepdims)


def _mean(a: Tensor, axis: Axis) -> Tensor:
    mean: Tensor = sum(_filled(a, 0), axis, None, True) / _count(a, axis, a.type.dtype)
    return mean


def _without_axes(kept: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    """Return a reduction without the axes of length 1 that it has left."""
    axes = normalize_axes(axis, kept.type.ndim)
    return kept if keepdims else squeeze(kept, range(kept.type.ndim) if axes is None else axes)


def nanvar(a: TensorLike, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Return the variance of the elements that are not NaN.

    Parameters
    ----------
    a : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    ddof : int, optional
        The divisor is the number of elements less this; where that is not positive, the result is NaN.
    keepdims : bool
        Keep the axes that go, with length 1.

    Returns
    -------
    TensorVariable
        Without the axes.

    See Also
    --------
    var, nanstd, numpy.nanvar

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.nanvar(T.constant([1.0, float("nan"), 2.0])).eval()
    array(0.25)
    """
    a = continuous(a)
    distance = _filled(el.abs_(a - _mean(a, axis)), 0)
    dtype = distance.type.dtype
    count = _count(a, axis, dtype) - np.asarray(ddof, dtype)
    count = el.switch(el.gt(count, np.zeros((), dtype)), count, np.asarray(np.nan, dtype))
    return _without_axes(sum(el.sqr(distance), axis, None, True) / count, axis, keepdims)


def nanstd(a: TensorLike, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Return the standard deviation of the elements that are not NaN.

    Parameters
    ----------
    a : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    ddof : int, optional
        The divisor is the number of elements less ``ddof``.
    keepdims : bool, optional
        Keep the axes that go, with length 1.

    Returns
    -------
    TensorVariable
        Without the axes.

    See Also
    --------
    std, nanvar, numpy.nanstd

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.nanstd(T.constant([1.0, float("nan"), 2.0])).eval()
    array(0.5)
    """
    return el.sqrt(nanvar(a, axis, ddof, keepdims))


def count_nonzero(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return how many elements are not 0.

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
    TensorVariable
        Of int64, without the axes.

    See Also
    --------
    nonzero, sum, numpy.count_nonzero

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.count_nonzero(T.constant([[0, 1], [2, 3]]), axis=0).eval()
    array([1, 2])
    """
    a = as_tensor_variable(a)
    return sum(el.neq(a, np.zeros((), a.type.dtype)), axis, "int64", keepdims)
