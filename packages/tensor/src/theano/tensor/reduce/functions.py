"""sum, prod, mean, var, std, max, min, argmax, all, any and what is built on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.graph import Constant
from theano.scalar.ufuncs import neutral
from theano.tensor.convert import as_tensor_variable, constant
from theano.tensor.elemwise.functions import abs_, cast, eq, floats, maximum, neq, pow, sqrt, switch, true_div
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.reduce.argmax import Argmax, Argmin, MaxAndArgmax
from theano.tensor.reduce.axes import normalize_axes, restore_axes
from theano.tensor.reduce.careduce import All, Any_, CAReduce, Max, Min, Prod, Sum
from theano.tensor.reduce.logsumexp import LogSumExp
from theano.tensor.shape.basic import shape_i

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Axis, TensorLike
    from theano.tensor.type import Tensor

#: What ``theano.tensor`` has of this; what NumPy has of the same name is called for NumPy's of variables.
__all__ = [
    "all", "any", "argmax", "argmin", "check_and_normalize_axes", "largest", "logsumexp", "makeKeepDims", "max",
    "max_and_argmax", "mean", "min", "nanmax", "nanmin", "norm", "prod", "ptp", "smallest", "std", "sum", "var",
]  # fmt: skip


def makeKeepDims(x: Variable, y: Variable, axis: Axis) -> Tensor:
    """Return ``y``, a reduction of ``x`` along ``axis``, with the axes that went back in place, of length 1.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> makeKeepDims(x, x.sum(axis=1), 1).broadcastable
    (False, True)
    """
    x = as_tensor_variable(x)
    axes = normalize_axes(axis, x.type.ndim)
    return restore_axes(y, x, tuple(range(x.type.ndim)) if axes is None else axes)


def check_and_normalize_axes(x: TensorLike, axis: Axis) -> list[int]:
    """Return the axes named by ``axis`` as numbers from 0; all of them for None.

    Parameters
    ----------
    x : tensor
        Its number of dimensions counts.
    axis : int, sequence of int, or None
        Negative numbers count from the last dimension.

    Returns
    -------
    list of int
        In ascending order.

    Examples
    --------
    >>> import theano.tensor as T
    >>> check_and_normalize_axes(T.dtensor3(), (-1, 0))
    [0, 2]
    """
    x = as_tensor_variable(x)
    if x.type.ndim == 0 and axis in (0, -1, None, [], ()):
        return []
    axes = normalize_axes(axis, x.type.ndim)
    return list(range(x.type.ndim)) if axes is None else list(axes)


def names_none(axis: Axis) -> bool:
    """Return whether an axis is an empty list or tuple of axes."""
    return isinstance(axis, (list, tuple)) and not axis


def _all_for_none(axis: Axis) -> Any:
    """Return the axes along which an element is chosen: as in Theano, all of them where ``axis`` names none."""
    return None if names_none(axis) else axis


def _kept(x: Variable, out: Variable, axis: Any, keepdims: bool) -> Any:
    return makeKeepDims(x, out, axis) if keepdims else out


def _reduced(op: CAReduce, x: Variable, axis: Axis, keepdims: bool, initial: TensorLike | None = None) -> Any:
    """Return what a reduction makes of ``x`` and of ``initial``, a number that counts as one more element."""
    out = _kept(x, op(x), axis, keepdims)
    if initial is None:
        return out
    first = _in_dtype(initial, out.type.dtype)
    if isinstance(first, Constant) and first.data == neutral(op.scalar_op, out.type.dtype):
        return out
    return Elemwise(op.scalar_op)(first, out)


def _in_dtype(initial: TensorLike, dtype: str) -> Tensor:
    """Return an initial number in the dtype of a result, if that has it."""
    v = as_tensor_variable(initial)
    if v.type.ndim:
        raise ArgumentError(f"initial is a number, not a tensor of {v.type.ndim} dimensions")
    if isinstance(v, Constant):
        limits = np.iinfo(dtype) if dtype in scal.integer_dtypes else None
        if limits is None or (limits.min <= v.data <= limits.max and v.data == int(v.data)):
            return constant(v.data.astype(dtype))
    elif scal.upcast(v.type.dtype, dtype) == dtype:
        return cast(v, dtype)
    raise TypeError(f"initial={v} is no number of dtype {dtype}, which the reduction has")


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
    return _reduced(Sum(axis=axis, dtype=dtype, acc_dtype=acc_dtype), input, axis, keepdims, initial)


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
    return _reduced(op, input, axis, keepdims, initial)


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
    return _kept(input, result, axes, keepdims)


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
    return _reduced(Max(axis, initial is not None), x, axis, keepdims, initial)


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
    return _reduced(Min(axis, initial is not None), x, axis, keepdims, initial)


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
        return _kept(x, Max(axis)(x), axis, keepdims)
    return _kept(x, CAReduce(scal.fmax, axis)(x), axis, keepdims)


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
        return _kept(x, Min(axis)(x), axis, keepdims)
    return _kept(x, CAReduce(scal.fmin, axis)(x), axis, keepdims)


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
    return _kept(x, Argmax(axis)(x) if x.type.ndim else _zero_place(x), axis, keepdims)


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
    return _kept(x, Argmin(axis)(x) if x.type.ndim else _zero_place(x), axis, keepdims)


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
    return [_kept(a, value, axis, keepdims), _kept(a, place, axis, keepdims)]


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
    return _kept(x, All(axis)(x), axis, keepdims)


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
    return _kept(x, Any_(axis)(x), axis, keepdims)


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
