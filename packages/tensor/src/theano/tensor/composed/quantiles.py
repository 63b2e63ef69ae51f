"""Medians, percentiles and quantiles, by all definitions that NumPy has.

The definitions are those of Hyndman and Fan, "Sample Quantiles in Statistical Packages" (1996).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from theano.graph import Variable
from theano.scalar import complex_dtypes, discrete_dtypes
from theano.tensor.control.checks import Assert
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise import functions as el
from theano.tensor.index.functions import take
from theano.tensor.messages import axis_of
from theano.tensor.shape.reshape import reshape
from theano.tensor.sort.op import sort

if TYPE_CHECKING:
    from theano.tensor.annotations import Axis, TensorLike
    from theano.tensor.type import Tensor

    #: From a number of elements and quantiles to places.
    Place = Callable[[Tensor, Tensor], Tensor]


def _between(alpha: float, beta: float) -> Place:
    """Return the place, counted from 0, of a definition with two parameters."""
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _exact(method: str) -> Place:
    """Return the place of a definition that chooses elements, and averages two of them at most."""

    def place(n: Tensor, q: Tensor) -> Tensor:
        at = n * q - 1 if method != "closest_observation" else n * q - 1.5
        low: Tensor = el.floor(at)
        if method == "inverted_cdf":
            return el.switch(el.eq(at, low), low, low + 1)
        if method == "averaged_inverted_cdf":
            return el.switch(el.eq(at, low), low + 0.5, low + 1)
        even = el.eq(el.mod(low, 2.0), 1)  # of halves, the place that is even when counted from 1
        return el.switch(el.and_(el.eq(at, low), even), low, low + 1)

    return place


#: The place of a quantile among sorted elements, by the definition's name.
_PLACES: dict[str, Place] = {
    "linear": lambda n, q: (n - 1) * q,
    "lower": lambda n, q: el.floor((n - 1) * q),
    "higher": lambda n, q: el.ceil((n - 1) * q),
    "midpoint": lambda n, q: (el.floor((n - 1) * q) + el.ceil((n - 1) * q)) * 0.5,
    "nearest": lambda n, q: el.round_half_to_even((n - 1) * q),
    "inverted_cdf": _exact("inverted_cdf"),
    "averaged_inverted_cdf": _exact("averaged_inverted_cdf"),
    "closest_observation": _exact("closest_observation"),
    "interpolated_inverted_cdf": _between(0, 1),
    "hazen": _between(0.5, 0.5),
    "weibull": _between(0, 0),
    "median_unbiased": _between(1 / 3, 1 / 3),
    "normal_unbiased": _between(3 / 8, 3 / 8),
}

#: Definitions that choose an element, of any dtype.
_CHOOSING = frozenset(("lower", "higher", "nearest", "inverted_cdf", "closest_observation"))


def quantile(
    a: TensorLike, q: TensorLike, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """Return quantiles of elements.

    Parameters
    ----------
    a : tensor
        Of real numbers; NaN among them makes the result NaN.
    q : number or tensor
        From 0 to 1.
    axis : int or sequence of int, optional
        All axes by default.
    method : str
        NumPy's name of the definition; ``"linear"`` interpolates between the two nearest elements.
    keepdims : bool
        Keep the axes, with length 1.

    Returns
    -------
    tensor
        The axes of ``q`` come first, then those of ``a`` that are left.

    Raises
    ------
    AssertionError
        When it runs: ``q`` is not between 0 and 1.

    See Also
    --------
    percentile, median, numpy.quantile

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.quantile(T.constant([1.0, 2.0, 4.0]), [0.25, 0.5]).eval()
    array([1.5, 2. ])
    """
    if method not in _PLACES:
        raise ValueError(f"quantile: method is {method!r}; it must be one of {', '.join(_PLACES)}")
    a = as_tensor_variable(a)
    is_number = isinstance(q, (int, float))  # which has no dtype
    q = _probabilities(q)
    if a.type.dtype in complex_dtypes:
        raise TypeError(f"quantile: complex numbers have no order:\n{a} of type {a.type}")
    last, kept = _reduced_last(a, axis)
    values: Tensor = sort(last, axis=-1)
    dtype = a.type.dtype
    if method not in _CHOOSING:
        if dtype == "bool":
            raise TypeError(f"quantile: bool has no differences for {method!r}; convert it, or use method='nearest'")
        of_a = "float64" if dtype in discrete_dtypes else dtype
        dtype = of_a if is_number else np.result_type(of_a, q.type.dtype).name
    flat = el.cast(q, "float64").flatten()
    flat = Assert("quantile: q must be between 0 and 1")(flat, el.and_(el.ge(flat, 0.0), el.le(flat, 1.0)).all())
    n = values.shape[-1]
    place = el.clip(_PLACES[method](el.cast(n, "float64"), flat), 0.0, el.cast(n - 1, "float64"))
    low = el.floor(place)
    found = below = el.cast(take(values, el.cast(low, "int64"), axis=-1), dtype)
    if method not in _CHOOSING:
        above = el.cast(take(values, el.cast(el.ceil(place), "int64"), axis=-1), dtype)
        between = below + (above - below) * el.cast(place - low, dtype)
        found = el.switch(el.eq(below, above), below, between)  # the difference of equal infinities is NaN
    if a.type.dtype not in discrete_dtypes:  # NaN is sorted to the end
        largest = values[..., -1]
        largest = largest.dimshuffle(*range(largest.type.ndim), "x")
        found = el.switch(el.isnan_(largest), np.asarray(np.nan, dtype), found)
    found = found.dimshuffle(found.type.ndim - 1, *range(found.type.ndim - 1))
    if keepdims:
        rest = iter(range(1, found.type.ndim))
        found = found.dimshuffle(0, *[next(rest) if keep else "x" for keep in kept])
    shape = [q.shape[i] for i in range(q.type.ndim)] + [found.shape[i] for i in range(1, found.type.ndim)]
    if q.type.ndim == 1:
        return found
    return found[0] if q.type.ndim == 0 else reshape(found, shape, ndim=len(shape))


def _probabilities(q: TensorLike) -> Tensor:
    """Return what names quantiles as a tensor, of the dtype of NumPy's array of it."""
    return as_tensor_variable(q if isinstance(q, Variable) else np.asarray(q))


def _reduced_last(a: Tensor, axis: Axis) -> tuple[Tensor, list[bool]]:
    """Return a tensor whose last axis holds what is reduced, and which axes of ``a`` stay."""
    ndim = a.type.ndim
    named = range(ndim) if axis is None else [axis] if isinstance(axis, (int, np.integer)) else axis
    axes = sorted(axis_of(a, int(i), "quantile") for i in named)  # type: ignore[union-attr,arg-type]
    if len(set(axes)) < len(axes):
        raise ValueError(f"quantile: axis is {axis}, which names an axis twice")
    kept = [i not in axes for i in range(ndim)]
    rest = [i for i in range(ndim) if kept[i]]
    moved = a.dimshuffle(*rest, *axes)
    if len(axes) != 1:
        lengths = [a.shape[i] for i in rest]
        moved = reshape(moved, [*lengths, -1], ndim=len(rest) + 1) if axes else moved.dimshuffle(*rest, "x")
    return moved, kept


def percentile(
    a: TensorLike, q: TensorLike, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """Return percentiles of elements: :func:`quantile` at ``q / 100``.

    Parameters
    ----------
    a : tensor
        Of real numbers; NaN among them makes the result NaN.
    q : number or tensor
        From 0 to 100.
    axis : int or sequence of int, optional
        All axes by default.
    method : str, optional
        NumPy's name of the definition.
    keepdims : bool, optional
        Keep the axes, with length 1.

    Returns
    -------
    TensorVariable
        The axes of ``q`` come first, then those of ``a`` that are left.

    See Also
    --------
    quantile, median, numpy.percentile

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.percentile(T.constant([1.0, 2.0, 4.0]), 25).eval()
    array(1.5)
    """
    parts = q / 100 if isinstance(q, (int, float)) else el.true_div(_probabilities(q), np.float64(100))
    return quantile(a, parts, axis, method, keepdims)


def median(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the median of elements: the middle one, or the mean of the two in the middle.

    Parameters
    ----------
    a : tensor
        Of real numbers; NaN among them makes the result NaN.
    axis : int or sequence of int, optional
        All axes by default.
    keepdims : bool
        Keep the axes, with length 1.

    Returns
    -------
    TensorVariable
        Without the axes.

    See Also
    --------
    quantile, mean, numpy.median

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.median(T.constant([[1.0, 7.0, 4.0], [2.0, 0.0, 8.0]]), axis=1).eval()
    array([4., 2.])
    """
    a = as_tensor_variable(a)
    return quantile(el.cast(a, "int8") if a.type.dtype == "bool" else a, 0.5, axis, keepdims=keepdims)
