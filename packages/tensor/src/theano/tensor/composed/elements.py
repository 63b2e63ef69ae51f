"""Functions of single elements, made of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano.scalar import complex_dtypes, discrete_dtypes
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise import functions as el
from theano.tensor.functions import of_one_truth
from theano.tensor.nnet.activation import softplus
from theano.tensor.numpy_calls import dtype_of_result
from theano.tensor.numpy_functions import continuous

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def isfinite(x: TensorLike) -> Tensor:
    """Return where ``x`` is neither infinite nor NaN.

    Parameters
    ----------
    x : tensor
        Of any shape.

    Returns
    -------
    TensorVariable
        Bool, of the shape of ``x``.

    See Also
    --------
    isnan, isinf, numpy.isfinite

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.isfinite(T.constant([1.0, float("inf"), float("nan")])).eval()
    array([ True, False, False])
    """
    x = as_tensor_variable(x)
    if x.type.dtype in discrete_dtypes:
        return of_one_truth(x, True)
    if x.type.dtype in complex_dtypes:
        return el.and_(isfinite(el.real(x)), isfinite(el.imag(x)))
    return el.lt(el.abs_(x), np.asarray(np.inf, x.type.dtype))


def nan_to_num(
    x: TensorLike, copy: bool = True, nan: TensorLike = 0.0, posinf: TensorLike | None = None,
    neginf: TensorLike | None = None,
) -> Tensor:
    """Return ``x`` with numbers in the place of NaN and of infinities.

    Parameters
    ----------
    x : tensor
        Of any shape.
    copy : bool
        Accepted, as the result is a value of its own.
    nan, posinf, neginf : number or tensor
        What takes the place of NaN and of the infinities: 0, and the largest and smallest number of the dtype.

    Returns
    -------
    TensorVariable
        Of the shape and dtype of ``x``.

    See Also
    --------
    isnan, switch, numpy.nan_to_num

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.nan_to_num(T.constant([1.0, float("nan"), float("inf")]), posinf=9.0).eval()
    array([1., 0., 9.])
    """
    x = as_tensor_variable(x)
    dtype = x.type.dtype
    if dtype in discrete_dtypes:
        return x
    if dtype in complex_dtypes:
        parts = (nan_to_num(v, nan=nan, posinf=posinf, neginf=neginf) for v in (el.real(x), el.imag(x)))
        return el.complex(*parts)
    limits = np.finfo(dtype)
    high = el.cast(limits.max if posinf is None else posinf, dtype)
    low = el.cast(limits.min if neginf is None else neginf, dtype)
    found = el.switch(el.eq(x, np.asarray(np.inf, dtype)), high, x)
    found = el.switch(el.eq(x, np.asarray(-np.inf, dtype)), low, found)
    return el.switch(el.isnan_(x), el.cast(nan, dtype), found)


def logical_and(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return where both operands are not 0.

    Parameters
    ----------
    x1 : tensor
        The first operand.
    x2 : tensor
        The second one; both broadcast against each other.

    Returns
    -------
    TensorVariable
        Bool, of the common shape.

    See Also
    --------
    all, any, bitwise_and, numpy.logical_and

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.logical_and(T.constant([0, 1, 2]), T.constant([1, 0, 3])).eval()
    array([False, False,  True])
    """
    return el.and_(_truth(x1), _truth(x2))


def logical_or(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return where one of the operands is not 0.

    Parameters
    ----------
    x1 : tensor
        The first operand.
    x2 : tensor
        The second one; both broadcast against each other.

    Returns
    -------
    TensorVariable
        Bool, of the common shape.

    See Also
    --------
    all, any, bitwise_or, numpy.logical_or

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.logical_or(T.constant([0, 1, 2]), T.constant([0, 0, 3])).eval()
    array([False,  True,  True])
    """
    return el.or_(_truth(x1), _truth(x2))


def logical_xor(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return where exactly one of the operands is not 0.

    Parameters
    ----------
    x1 : tensor
        The first operand.
    x2 : tensor
        The second one; both broadcast against each other.

    Returns
    -------
    TensorVariable
        Bool, of the common shape.

    See Also
    --------
    all, any, bitwise_xor, numpy.logical_xor

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.logical_xor(T.constant([0, 1, 2]), T.constant([0, 0, 3])).eval()
    array([False,  True, False])
    """
    return el.xor(_truth(x1), _truth(x2))


def logical_not(x: TensorLike) -> Tensor:
    """Return where the operand is 0.

    Parameters
    ----------
    x : tensor
        Of any shape.

    Returns
    -------
    TensorVariable
        Bool, of the shape of ``x``.

    See Also
    --------
    bitwise_not, numpy.logical_not

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.logical_not(T.constant([0, 1, 2])).eval()
    array([ True, False, False])
    """
    return el.invert(_truth(x))


def _truth(x: TensorLike) -> Tensor:
    x = as_tensor_variable(x)
    return x if x.type.dtype == "bool" else el.neq(x, np.zeros((), x.type.dtype))


def isposinf(x: TensorLike) -> Tensor:
    """Return where ``x`` is plus infinity.

    Parameters
    ----------
    x : tensor
        Of any shape.

    Returns
    -------
    TensorVariable
        Bool, of the shape of ``x``.

    See Also
    --------
    isinf, isneginf, numpy.isposinf

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.isposinf(T.constant([1.0, float("inf"), -float("inf")])).eval()
    array([False,  True, False])
    """
    return _is_infinity(x, np.inf)


def isneginf(x: TensorLike) -> Tensor:
    """Return where ``x`` is minus infinity.

    Parameters
    ----------
    x : tensor
        Of any shape.

    Returns
    -------
    TensorVariable
        Bool, of the shape of ``x``.

    See Also
    --------
    isinf, isposinf, numpy.isneginf

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.isneginf(T.constant([1.0, float("inf"), -float("inf")])).eval()
    array([False, False,  True])
    """
    return _is_infinity(x, -np.inf)


def _is_infinity(x: TensorLike, value: float) -> Tensor:
    x = as_tensor_variable(x)
    if x.type.dtype in complex_dtypes:
        raise TypeError(f"{x} is complex: infinity has no sign there")
    if x.type.dtype in discrete_dtypes:
        return of_one_truth(x, False)
    return el.eq(x, np.asarray(value, x.type.dtype))


def logaddexp(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the logarithm of ``exp(x1) + exp(x2)``, for numbers of any size.

    Parameters
    ----------
    x1 : tensor
        The first operand.
    x2 : tensor
        The second one; both broadcast against each other.

    Returns
    -------
    TensorVariable
        Of the common shape.

    See Also
    --------
    logsumexp, logaddexp2, numpy.logaddexp

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.logaddexp(T.constant([-1000.0]), T.constant([-1000.0])).eval()
    array([-999.30685282])
    """
    x1, x2 = _as_floats(np.logaddexp, x1, x2)
    # Equal infinities have no difference.
    alike = el.and_(el.eq(x1, x2), el.isinf_(x1))
    difference = el.switch(alike, np.zeros((), x1.type.dtype), x1 - x2)
    return el.switch(el.gt(x1, x2), x1 + softplus(-difference), x2 + softplus(difference))


def logaddexp2(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the logarithm to the base 2 of ``2**x1 + 2**x2``.

    Parameters
    ----------
    x1 : tensor
        The first operand.
    x2 : tensor
        The second one; both broadcast against each other.

    Returns
    -------
    TensorVariable
        Of the common shape.

    See Also
    --------
    logaddexp, numpy.logaddexp2

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.logaddexp2(T.constant([3.0]), T.constant([3.0])).eval()
    array([4.])
    """
    x1, x2 = _as_floats(np.logaddexp2, x1, x2)
    two = np.asarray(np.log(2.0), x1.type.dtype)
    return logaddexp(x1 * two, x2 * two) / two


def _as_floats(f: np.ufunc, *args: TensorLike) -> list[Tensor]:
    """Return operands in the dtype that NumPy's function computes with; Python's numbers have none of their own."""
    dtype = dtype_of_result(f, args)
    return [el.cast(as_tensor_variable(x), dtype) for x in args]


def heaviside(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return 0 where ``x1`` is negative, 1 where it is positive, and ``x2`` where it is 0.

    Parameters
    ----------
    x1 : tensor
        The first operand.
    x2 : tensor
        The second one; both broadcast against each other.

    Returns
    -------
    TensorVariable
        Of the common shape; its derivative by ``x1`` is 0.

    See Also
    --------
    switch, sgn, numpy.heaviside

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.heaviside(T.constant([-1.0, 0.0, 2.0]), 0.5).eval()
    array([0. , 0.5, 1. ])
    """
    x1, x2 = _as_floats(np.heaviside, x1, x2)
    zero, one = np.zeros((), x1.type.dtype), np.ones((), x1.type.dtype)
    side = el.switch(el.lt(x1, zero), zero, el.switch(el.gt(x1, zero), one, x2))
    return el.switch(el.isnan_(x1), x1, side)


def copysign(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return ``x1`` with the signs of ``x2``, that of -0 included.

    Parameters
    ----------
    x1 : tensor
        The first operand.
    x2 : tensor
        The second one; both broadcast against each other.

    Returns
    -------
    TensorVariable
        Of the common shape.

    See Also
    --------
    abs_, sgn, numpy.copysign

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.copysign(T.constant([1.0, -2.0]), T.constant([-0.0, 3.0])).eval()
    array([-1.,  2.])
    """
    x1, x2 = _as_floats(np.copysign, x1, x2)
    size = el.abs_(x1)
    # One divided by -0 is negative.
    negative = el.or_(el.lt(x2, np.zeros((), x2.type.dtype)), el.and_(el.eq(x2, 0), el.lt(el.inv(x2), 0)))
    return el.switch(negative, -size, size)


def float_power(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return powers in float64, or complex128, of operands of any dtype.

    Parameters
    ----------
    x1 : tensor
        The first operand.
    x2 : tensor
        The second one; both broadcast against each other.

    Returns
    -------
    TensorVariable
        Of the common shape.

    See Also
    --------
    power, numpy.float_power

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.float_power(T.constant([2, 3]), -1).eval()
    array([0.5       , 0.33333333])
    """
    return el.pow(*_as_floats(np.float_power, x1, x2))


def sinc(x: TensorLike) -> Tensor:
    """Return ``sin(pi x) / (pi x)``, and 1 at 0.

    Parameters
    ----------
    x : tensor
        Of any shape.

    Returns
    -------
    TensorVariable
        Of the shape of ``x``.

    See Also
    --------
    sin, numpy.sinc

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.sinc(T.constant([0.0, 0.5])).eval()
    array([1.        , 0.63661977])
    """
    number = continuous(x)
    angle: Tensor = number * np.asarray(np.pi, number.type.dtype)
    # A divisor that is not 0, in the derivatives as well; they are 0 at 0.
    at_zero = el.eq(angle, 0)
    divisor = el.switch(at_zero, np.ones((), angle.type.dtype), angle)
    return el.switch(at_zero, np.ones((), angle.type.dtype), el.sin(divisor) / divisor)


def digamma(x: TensorLike) -> Tensor:
    """Return the derivative of the logarithm of the gamma function, by SciPy's name; it is `psi`.

    Parameters
    ----------
    x : tensor
        Of any shape.

    Returns
    -------
    TensorVariable
        Of the shape of ``x``.

    See Also
    --------
    gammaln, polygamma, scipy.special.digamma

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.digamma(T.constant([1.0])).eval()
    array([-0.57721566])
    """
    return el.psi(x)
