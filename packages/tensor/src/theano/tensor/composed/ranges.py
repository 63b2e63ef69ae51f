"""Evenly spaced numbers, and matrices made of lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano.graph import Variable
from theano.scalar import complex_dtypes, discrete_dtypes, integer_dtypes
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.arange import arange
from theano.tensor.create.diagonals import eye
from theano.tensor.elemwise import functions as el
from theano.tensor.shape.reshape import moveaxis
from theano.tensor.type import dtype_name

if TYPE_CHECKING:
    from theano.tensor.annotations import Length, TensorLike
    from theano.tensor.type import Tensor


def linspace(
    start: TensorLike, stop: TensorLike, num: Length = 50, endpoint: bool = True, retstep: bool = False,
    dtype: str | None = None, axis: int = 0,
) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """Return evenly spaced numbers.

    Parameters
    ----------
    start, stop : tensor
        The first number, and the last. They broadcast against each other.
    num : int or scalar of int, optional
        How many numbers.
    endpoint : bool
        False: ``stop`` is left out, and the numbers are ``(stop - start) / num`` apart.
    retstep : bool
        Return the distance, too.
    dtype : str, optional
        By default float64, or float32 where both ends are.
    axis : int
        The axis of the result along which the numbers go.

    Returns
    -------
    TensorVariable, or tuple of TensorVariable
        The numbers; with ``retstep`` also their distance.

    See Also
    --------
    arange, logspace, geomspace, numpy.linspace

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linspace(0.0, 1.0, 5).eval()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    numbers, step = _spaced(*_ends(start, stop), num, endpoint)
    if dtype is not None:
        dtype = dtype_name(dtype)
        numbers = el.cast(el.floor(numbers) if dtype in integer_dtypes else numbers, dtype)
    numbers = moveaxis(numbers, 0, axis) if axis else numbers
    return (numbers, step) if retstep else numbers


def _spaced(first: Tensor, last: Tensor, num: Length, endpoint: bool) -> tuple[Tensor, Tensor]:
    """Return evenly spaced numbers along the first axis, and the distance between them."""
    if isinstance(num, (int, np.integer)) and num < 0:
        raise ValueError(f"linspace: num is {num}; it must not be negative")
    work = first.type.dtype
    count = as_tensor_variable(num)
    if count.type.ndim or count.type.dtype not in discrete_dtypes:
        raise TypeError(f"linspace: num must be a whole number, not {count} of type {count.type}")
    intervals = count - 1 if endpoint else count
    step = (last - first) / el.cast(el.maximum(intervals, 1), work)
    ndim = step.type.ndim
    place = arange(count).dimshuffle(0, *["x"] * ndim)
    start, stop, distance = (
        v.dimshuffle(*["x"] * (1 + ndim - v.type.ndim), *range(v.type.ndim)) for v in (first, last, step)
    )
    numbers = start + el.cast(place, work) * distance
    if endpoint:  # exactly, whatever the sum was rounded to
        numbers = el.switch(el.and_(el.eq(place, intervals), el.gt(place, 0)), stop, numbers)
    return numbers, el.switch(el.gt(intervals, 0), step, as_tensor_variable(np.array(np.nan, work)))


def _ends(start: TensorLike, stop: TensorLike) -> tuple[Tensor, Tensor]:
    """Return both ends in the dtype that NumPy computes with."""
    ends = [as_tensor_variable(v) for v in (start, stop)]
    known = [np.dtype(v.type.dtype) for v, given in zip(ends, (start, stop), strict=True) if _has_dtype(given)]
    dtype = np.result_type(*known, 1.0).name if known else "float64"
    return el.cast(ends[0], dtype), el.cast(ends[1], dtype)


def _has_dtype(given: object) -> bool:
    return isinstance(given, (Variable, np.ndarray, np.generic))


def logspace(
    start: TensorLike, stop: TensorLike, num: Length = 50, endpoint: bool = True, base: TensorLike = 10.0,
    dtype: str | None = None, axis: int = 0,
) -> Tensor:  # fmt: skip
    """Return numbers whose logarithms are evenly spaced: powers of ``base`` from ``start`` to ``stop``.

    Parameters
    ----------
    start : tensor
        The first number.
    stop : tensor
        The last number; both broadcast against each other.
    num : int or scalar of int, optional
        How many numbers.
    endpoint : bool, optional
        False: ``stop`` is left out.
    base : number, optional
        The base of the powers.
    dtype : str, optional
        Of the result.
    axis : int, optional
        The axis of the result along which the numbers go.

    Returns
    -------
    TensorVariable
        A vector for numbers without dimensions.

    See Also
    --------
    geomspace, linspace, numpy.logspace

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.logspace(0.0, 2.0, 3).eval()
    array([  1.,  10., 100.])
    """
    base = as_tensor_variable(base)
    if base.type.ndim:
        raise ValueError(f"logspace: base must be a number, and {base} has {base.type.ndim} dimensions")
    exponents, _ = _spaced(*_ends(start, stop), num, endpoint)
    powers = el.pow(el.cast(base, exponents.type.dtype), exponents)
    powers = moveaxis(powers, 0, axis) if axis else powers
    return powers if dtype is None else el.cast(powers, dtype_name(dtype))


def geomspace(
    start: TensorLike, stop: TensorLike, num: Length = 50, endpoint: bool = True, dtype: str | None = None,
    axis: int = 0,
) -> Tensor:  # fmt: skip
    """Return numbers of a constant ratio from ``start`` to ``stop``, real numbers of one sign.

    Parameters
    ----------
    start : tensor
        The first number.
    stop : tensor
        The last number; both broadcast against each other.
    num : int or scalar of int, optional
        How many numbers.
    endpoint : bool, optional
        False: ``stop`` is left out.
    dtype : str, optional
        Of the result.
    axis : int, optional
        The axis of the result along which the numbers go.

    Returns
    -------
    TensorVariable
        A vector for numbers without dimensions.

    See Also
    --------
    logspace, linspace, numpy.geomspace

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.geomspace(1.0, 8.0, 4).eval()
    array([1., 2., 4., 8.])
    """
    first, last = _ends(start, stop)
    if first.type.dtype in complex_dtypes:
        raise TypeError("geomspace: complex ends are not supported; compute exp(linspace(log(start), log(stop)))")
    first, last = el.cast(first, "float64"), el.cast(last, "float64")
    logs, _ = _spaced(as_tensor_variable(np.zeros((), first.type.dtype)), el.log10(last / first), num, endpoint)
    ratios = el.pow(np.asarray(10.0, first.type.dtype), logs)
    numbers = first * ratios
    if endpoint:
        place = arange(as_tensor_variable(num)).dimshuffle(0, *["x"] * (numbers.type.ndim - 1))
        at_end = el.and_(el.eq(place, as_tensor_variable(num) - 1), el.gt(place, 0))
        numbers = el.switch(at_end, last, numbers)
    numbers = moveaxis(numbers, 0, axis) if axis else numbers
    return numbers if dtype is None else el.cast(numbers, dtype_name(dtype))


def identity(n: Length, dtype: str | None = None) -> Tensor:
    """Return the identity matrix, of float64 by default as NumPy's.

    Parameters
    ----------
    n : int or scalar of int
        Number of rows and columns.
    dtype : str, optional
        Of the result.

    Returns
    -------
    TensorVariable
        A matrix of shape (n, n).

    See Also
    --------
    eye, numpy.identity

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.identity(2).eval()
    array([[1., 0.],
           [0., 1.]])
    """
    return eye(n, dtype="float64" if dtype is None else dtype_name(dtype))


def vander(x: TensorLike, N: Length | None = None, increasing: bool = False) -> Tensor:
    """Return the matrix of the powers of a vector's elements, one row for each.

    Parameters
    ----------
    x : vector
        The bases.
    N : int, optional
        How many powers; as many as elements by default.
    increasing : bool
        Begin with the power 0.

    Returns
    -------
    TensorVariable
        A matrix of shape (len(x), N).

    See Also
    --------
    numpy.vander

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.vander(T.constant([2, 3]), 3).eval()
    array([[4, 2, 1],
           [9, 3, 1]])
    """
    x = as_tensor_variable(x)
    if x.type.ndim != 1:
        raise ValueError(f"vander: x must be a vector, and {x} has {x.type.ndim} dimensions")
    exponents = arange(x.shape[0] if N is None else N)
    powers = exponents if increasing else exponents[::-1]
    wide = el.cast(x, np.promote_types(x.type.dtype, int).name)
    return el.pow(wide.dimshuffle(0, "x"), el.cast(powers, wide.type.dtype).dimshuffle("x", 0))
