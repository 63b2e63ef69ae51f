"""sum, prod, mean, var, std, all, any, norms and logsumexp; :mod:`theano.tensor.reduce.extremes` has the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.tensor.convert import as_tensor_variable, constant
from theano.tensor.elemwise.functions import abs_, cast, eq, floats, maximum, neq, pow, sqrt, true_div
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.reduce.axes import check_and_normalize_axes, kept, restore_axes
from theano.tensor.reduce.careduce import All, Any_, Prod, Sum, reduced
from theano.tensor.reduce.extremes import max, min
from theano.tensor.reduce.logsumexp import LogSumExp
from theano.tensor.shape.basic import shape_i

if TYPE_CHECKING:
    from theano.tensor.annotations import Axis, TensorLike
    from theano.tensor.type import Tensor

#: What ``theano.tensor`` has of this; what NumPy has of the same name is called for NumPy's of variables.
__all__ = ["all", "any", "logsumexp", "mean", "norm", "prod", "std", "sum", "var"]


def sum(
    input: Any, axis: Any = None, dtype: str | None = None, keepdims: bool = False, acc_dtype: str | None = None,
    initial: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """Return the sum of the elements along axes.

    Parameters
    ----------
    input : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        None for all.
    dtype : str, optional
        Of the result; by default that of the input, 64 bits wide if it is an integer.
    keepdims : bool
        Keep the axes that go, with length 1.
    acc_dtype : str, optional
        In which partial sums are held.
    initial : number, optional
        One more term.

    Returns
    -------
    TensorVariable
        Without the axes; 0 for empty slices, NaN if an element is NaN.

    See Also
    --------
    mean, prod, cumsum, nansum, numpy.sum

    Examples
    --------
    >>> import theano.tensor as T
    >>> sum(T.fmatrix("m"), axis=0).type, sum(T.bmatrix("b"), keepdims=True).type
    (TensorType(float32, vector), TensorType(int64, (True, True)))
    """
    input = as_tensor_variable(input)
    return reduced(Sum(axis=axis, dtype=dtype, acc_dtype=acc_dtype), input, axis, keepdims, initial)


def prod(
    input: TensorLike,
    axis: Axis = None,
    dtype: str | None = None,
    keepdims: bool = False,
    acc_dtype: str | None = None,
    no_zeros_in_input: bool = False,
    initial: TensorLike | None = None,
) -> Tensor:
    """Return the product of the elements along axes.

    Parameters
    ----------
    input : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    dtype : str, optional
        Of the result; by default that of the input, 64 bits wide if it is an integer.
    keepdims : bool, optional
        Keep the axes that go, with length 1.
    acc_dtype : str, optional
        In which partial products are held.
    no_zeros_in_input : bool
        A promise that no element is 0: the gradient becomes a division.
    initial : number, optional
        One more factor.

    Returns
    -------
    TensorVariable
        Without the axes; 1 for empty slices, NaN if an element is NaN.

    See Also
    --------
    sum, cumprod, nanprod, numpy.prod

    Examples
    --------
    >>> import theano.tensor as T
    >>> prod(T.constant([[1, 9], [7, 5]]), axis=0).eval()
    array([ 7, 45])
    """
    input = as_tensor_variable(input)
    op = Prod(axis, dtype=dtype, acc_dtype=acc_dtype, no_zeros_in_input=no_zeros_in_input)
    return reduced(op, input, axis, keepdims, initial)


def mean(
    input: TensorLike,
    axis: Axis = None,
    dtype: str | None = None,
    op: bool = False,
    keepdims: bool = False,
    acc_dtype: str | None = None,
) -> Tensor:
    """Return the mean of the elements along axes.

    Parameters
    ----------
    input : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    dtype : str, optional
        Of the sum that is divided by the number of elements.
    op : bool
        Give real means as float64.
    keepdims : bool, optional
        Keep the axes that go, with length 1.
    acc_dtype : str, optional
        In which partial sums are held.

    Returns
    -------
    TensorVariable
        Without the axes; NaN for empty slices. The mean of integers is float64.

    See Also
    --------
    sum, var, std, average, nanmean, numpy.mean

    Examples
    --------
    >>> import theano.tensor as T
    >>> mean(T.constant([[1.0, 2.0], [5.0, 8.0]]), axis=1).eval()
    array([1.5, 6.5])
    """
    input = as_tensor_variable(input)
    half = dtype == "float16" or (dtype is None and input.type.dtype == "float16")
    # float16 sums overflow long before their mean does.
    total = sum(input, axis, dtype="float32" if half else dtype, keepdims=keepdims, acc_dtype=acc_dtype)
    divisor = "float32" if total.type.dtype in ("float16", "float32", "complex64") else "float64"
    for number in check_and_normalize_axes(input, axis):
        total = true_div(total, cast(shape_i(input, number), divisor))
    if total.type.dtype in scal.discrete_dtypes:
        total = cast(total, divisor)
    if op and total.type.dtype not in scal.complex_dtypes:
        return cast(total, "float64")
    return cast(total, "float16") if half else total


def var(input: TensorLike, axis: Axis = None, ddof: int = 0, keepdims: bool = False, corrected: bool = False) -> Tensor:
    """Return the variance of the elements along axes.

    Parameters
    ----------
    input : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    ddof : int, optional
        The sum of squares is divided by the number of elements less ``ddof``; by 0 if that is not positive.
    keepdims : bool, optional
        Keep the axes that go, with length 1.
    corrected : bool
        Take the rounding error of the mean into account.

    Returns
    -------
    TensorVariable
        Without the axes; NaN for empty slices.

    See Also
    --------
    std, mean, cov, nanvar, numpy.var

    Examples
    --------
    >>> import theano.tensor as T
    >>> var(T.constant([1.0, 3.0]), ddof=1).eval()
    array(2.)
    """
    input = as_tensor_variable(input)
    axes = check_and_normalize_axes(input, axis)
    centred = input - mean(input, axis=axes, keepdims=True)
    squares = centred * centred if input.type.dtype not in scal.complex_dtypes else abs_(centred) ** 2
    if ddof == 0:
        result = mean(squares, axis=axes)
    else:
        count = _count(input, axes, squares.type.dtype)
        free = maximum(count - constant(np.array(ddof, dtype=count.type.dtype)), 0)
        result = sum(squares, axis=axes) / free
    if corrected:
        if ddof == 0:
            error = mean(centred, axis=axes) ** 2
        else:
            error = sum(centred, axis=axes) ** 2 / (_count(input, axes, squares.type.dtype) ** 2)
        result = result - error
    return kept(input, result, axes, keepdims)


def _count(x: Tensor, axes: Sequence[int], dtype: str) -> Tensor:
    total: Tensor = constant(np.array(1, dtype=dtype if dtype[0] == "f" else "float64"))
    for a in axes:
        total = total * cast(shape_i(x, a), total.type.dtype)
    return total


def std(input: TensorLike, axis: Axis = None, ddof: int = 0, keepdims: bool = False, corrected: bool = False) -> Tensor:
    """Return the standard deviation of the elements along axes.

    Parameters
    ----------
    input : tensor
        Of any shape.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    ddof : int, optional
        The divisor is the number of elements less ``ddof``.
    keepdims : bool, optional
        Keep the axes that go, with length 1.
    corrected : bool, optional
        Take the rounding error of the mean into account.

    Returns
    -------
    TensorVariable
        Without the axes; NaN for empty slices.

    See Also
    --------
    var, mean, nanstd, numpy.std

    Examples
    --------
    >>> import theano.tensor as T
    >>> std(T.constant([1.0, 3.0, 1.0, 3.0])).eval()
    array(1.)
    """
    return _root(var(input, axis=axis, ddof=ddof, keepdims=keepdims, corrected=corrected), sqrt)


def _root(total: Tensor, root: Callable[..., object] | Elemwise) -> Tensor:
    """Return the root of a sum of sizes; where all of them are 0 its derivative, which has none, is taken as 0."""
    return neq(total, 0) * root(total + eq(total, 0))


def all(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return whether all elements along axes are true (not 0).

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
        Bool, without the axes; true for empty slices.

    See Also
    --------
    any, numpy.all

    Examples
    --------
    >>> import theano.tensor as T
    >>> all(T.constant([[1, 0], [1, 1]]), axis=0).eval()
    array([ True, False])
    """
    x = as_tensor_variable(x)
    return kept(x, All(axis)(x), axis, keepdims)


def any(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return whether any element along axes is true (not 0).

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
        Bool, without the axes; false for empty slices.

    See Also
    --------
    all, numpy.any

    Examples
    --------
    >>> import theano.tensor as T
    >>> any(T.constant([[0, 0], [1, 0]]), axis=0).eval()
    array([ True, False])
    """
    x = as_tensor_variable(x)
    return kept(x, Any_(axis)(x), axis, keepdims)


def norm(x: TensorLike, ord: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the ``ord``-norm of the elements along axes.

    Parameters
    ----------
    x : tensor
        Of any shape.
    ord : number
        2 for the Euclidean norm; ``float("inf")`` and ``float("-inf")`` for the largest and the smallest
        absolute value; 0 for the number of elements that are not 0.
    axis : int, sequence of int or None, optional
        Along which axes; None for all.
    keepdims : bool, optional
        Keep the axes that go, with length 1.

    Returns
    -------
    TensorVariable
        Without the axes, of a float dtype.

    Raises
    ------
    ArgumentError
        ``ord`` is no number.

    See Also
    --------
    linalg.norm, numpy.linalg.norm

    Examples
    --------
    >>> import theano.tensor as T
    >>> norm(T.constant([3.0, 4.0]), 2).eval()
    array(5.)
    """
    x = as_tensor_variable(x)
    if isinstance(ord, (str, list, tuple)):
        raise ArgumentError(f"norm: the kind of norm is a number, as 2 or inf, not {ord!r}")
    if not isinstance(ord, (int, float)) or ord <= 0 or ord % 2 or x.type.dtype in scal.complex_dtypes:
        x = abs_(x)  # of an even power it makes no difference, but for the second derivative at 0
    if ord == 0:
        return sum(neq(x, 0), axis=axis, keepdims=keepdims)
    if ord == float("inf"):
        return max(x, axis=axis, keepdims=keepdims)
    if ord == float("-inf"):
        return min(x, axis=axis, keepdims=keepdims)
    total = sum(pow(x, ord), axis=axis, keepdims=keepdims)
    return _root(total, lambda s: pow(s, 1.0 / ord)) if ord > 1 else pow(total, 1.0 / ord)


def logsumexp(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return ``log(sum(exp(x)))`` along axes, computed so that large elements do not overflow.

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
        Without the axes; minus infinity for empty slices. Its derivative is the softmax.

    See Also
    --------
    sum, exp, logaddexp, scipy.special.logsumexp

    Examples
    --------
    >>> import theano.tensor as T
    >>> logsumexp(T.dmatrix("m"), axis=1).type
    TensorType(float64, vector)
    """
    x = floats(as_tensor_variable(x))
    axes = check_and_normalize_axes(x, axis)
    result = LogSumExp(tuple(axes))(x)
    return restore_axes(result, x, axes) if keepdims else result
