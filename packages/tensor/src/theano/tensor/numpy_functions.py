"""The counterparts of NumPy's functions where a function of ``theano.tensor`` means something else, or less.

Each has NumPy's parameters, as far as it knows them, and NumPy's meaning; `numpy_calls` hands over what a program gave.

Examples
--------
>>> import numpy as np, theano.tensor as T
>>> np.round(T.constant([0.125, 2.5]), 2).eval()
array([0.12, 2.5 ])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.graph import Variable
from theano.tensor.blas.dot import dot as _dot
from theano.tensor.blas.dot import outer as _outer
from theano.tensor.control.checks import CheckedShape
from theano.tensor.convert import as_tensor_variable, constant
from theano.tensor.create.alloc import alloc
from theano.tensor.create.diagonals import tri
from theano.tensor.elemwise import functions as el
from theano.tensor.functions import cov as _cov
from theano.tensor.index import derived
from theano.tensor.index import functions as index
from theano.tensor.index.functions import nonzero
from theano.tensor.join import op as joining
from theano.tensor.messages import axis_of
from theano.tensor.reduce import extremes
from theano.tensor.reduce import functions as reduce
from theano.tensor.reduce.axes import names_none
from theano.tensor.shape import diagonals, reshape
from theano.tensor.shape.basic import patternbroadcast
from theano.tensor.sort.search import searchsorted as _searchsorted
from theano.tensor.sort.sets import unique as _unique

if TYPE_CHECKING:
    from theano.tensor.annotations import Axis, TensorLike
    from theano.tensor.type import Tensor


def clip(a: TensorLike, a_min: Any = None, a_max: Any = None, min: object = None, max: object = None) -> Tensor:
    """Return ``numpy.clip``: either bound may be left out."""
    a = as_tensor_variable(a)
    low, high = (_beside(bound, a) for bound in ((min if a_min is None else a_min), (max if a_max is None else a_max)))
    # Not our clip, which prefers the lower bound where the two are exchanged.
    a = a if low is None else el.maximum(a, low)
    return a if high is None else el.minimum(a, high)


def _beside(value: Any, *others: Any) -> Any:
    """Return a number of Python's as a constant of the dtype that NumPy gives it beside tensors; others as they are."""
    if type(value) not in (bool, int, float, complex):
        return value
    known = [np.dtype(v.type.dtype) for v in others if isinstance(v, Variable)]
    return constant(np.asarray(value, np.result_type(*known, value)))


def round(a: TensorLike, decimals: int = 0) -> Tensor:
    """Return ``numpy.round``: halves go to the even neighbour, and whole numbers stay."""
    a = as_tensor_variable(a)
    if a.type.dtype in scal.complex_dtypes:
        raise TypeError("numpy.round of complex numbers has no counterpart: round their real and imaginary parts.")
    if a.type.dtype in scal.discrete_dtypes:
        if decimals < 0 or a.type.dtype == "bool":
            raise TypeError(f"numpy.round of {a.type.dtype} to {decimals} decimals has no counterpart")
        return a
    if decimals == 0:
        return el.round_half_to_even(a)
    factor = np.asarray(10.0 ** abs(decimals), a.type.dtype)
    return el.round_half_to_even(a * factor) / factor if decimals > 0 else el.round_half_to_even(a / factor) * factor


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Return ``numpy.where``: with one argument, the indices of true elements."""
    if x is None and y is None:
        return nonzero(condition)
    x, y = _beside(x, y), _beside(y, x)
    return el.where(condition, x, y)


def size(a: Tensor, axis: int | None = None) -> Tensor:
    """Return ``numpy.size``: the number of elements, or a length."""
    return a.size if axis is None else a.shape[axis_of(a, axis, "numpy.size")]


def squeeze(a: Tensor, axis: Any = None) -> Tensor:
    """Return ``numpy.squeeze``; a length that turns out to be 1 at run time is refused, for the type kept its axis."""
    squeezed = reshape.squeeze(a, axis)
    if axis is None and squeezed.type.ndim:
        check = CheckedShape(
            "numpy.squeeze: a length is 1 that the type of the variable does not know, so its axis is still there. "
            "Name it: numpy.squeeze(x, axis)."
        )
        squeezed = check(squeezed, *(el.neq(squeezed.shape[i], 1) for i in range(squeezed.type.ndim)))
    return squeezed


def ravel(a: TensorLike, order: str = "C") -> Tensor:
    """Return ``numpy.ravel``: the elements row by row."""
    if order not in ("C", "K", "A"):
        raise TypeError(f"numpy.ravel in the order {order!r} has no counterpart: transpose before it")
    return reshape.flatten(as_tensor_variable(a))


def concatenate(arrays: Sequence[TensorLike], axis: int | None = 0, dtype: str | None = None) -> Tensor:
    """Return ``numpy.concatenate``: of flat tensors where the axis is None."""
    parts = [as_tensor_variable(a) for a in arrays]
    if axis is None:
        parts, axis = [a.flatten() for a in parts], 0
    return joining.join(axis, *_converted(parts, dtype))


def stack(arrays: Sequence[TensorLike], axis: int = 0, dtype: str | None = None) -> Tensor:
    """Return ``numpy.stack``."""
    parts = _converted([as_tensor_variable(a) for a in arrays], dtype)
    return joining.stack(parts, axis=axis_of(parts[0].dimshuffle("x", *range(parts[0].type.ndim)), axis, "numpy.stack"))


def _converted(parts: Sequence[Tensor], dtype: str | None) -> list[Tensor]:
    return [a if dtype is None else el.cast(a, dtype) for a in parts]


def diag(v: TensorLike, k: int = 0) -> Tensor:
    """Return ``numpy.diag``, which takes vectors and matrices alone."""
    v = as_tensor_variable(v)
    if v.type.ndim not in (1, 2):
        raise ValueError(f"numpy.diag takes a vector or a matrix, and {v} has {v.type.ndim} dimensions: numpy.diagonal")
    return diagonals.diag(v, k)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Return ``numpy.diff``."""
    a = as_tensor_variable(a)
    if a.type.ndim == 0:
        raise ValueError("numpy.diff takes a tensor of 1 dimension or more")
    if n < 0:
        raise ValueError(f"numpy.diff: n is {n}; differences are taken 0 times or more")
    axis = axis_of(a, axis, "numpy.diff")
    if prepend is not None or append is not None:
        parts = [_as_array(part) for part in (prepend, a, append) if part is not None]
        lengths = [1 if i == axis else a.shape[i] for i in range(a.type.ndim)]
        a = joining.join(axis, *(part if part.type.ndim else alloc(part, *lengths) for part in parts))
    return derived.diff(a, n, axis)


def roll(a: Tensor, shift: Any, axis: Any = None) -> Any:
    """Return ``numpy.roll``: along several axes one after the other."""
    if not isinstance(axis, (list, tuple)) and not isinstance(shift, (list, tuple)):
        return index.roll(a, shift, axis)
    if axis is None:
        for part in shift:
            a = index.roll(a, part)
        return a
    shifts, axes = (list(v) if isinstance(v, (list, tuple)) else [v] for v in (shift, axis))
    count = max(len(shifts), len(axes))
    for one, along in zip(_repeated(shifts, count), _repeated(axes, count), strict=True):
        a = index.roll(a, one, along)
    return a


def _repeated(values: list[Any], count: int) -> list[int]:
    return values * count if len(values) == 1 else values


def sum(
    a: TensorLike, axis: Axis = None, dtype: str | None = None, keepdims: bool = False,
    initial: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """Return ``numpy.sum``: elements are converted before they are added."""
    a = as_tensor_variable(a)
    return reduce.sum(a if dtype is None else el.cast(a, dtype), axis, dtype, keepdims, initial=initial)


def prod(
    a: TensorLike, axis: Axis = None, dtype: str | None = None, keepdims: bool = False,
    initial: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """Return ``numpy.prod``."""
    a = as_tensor_variable(a)
    return reduce.prod(a if dtype is None else el.cast(a, dtype), axis, dtype, keepdims, initial=initial)


def mean(a: TensorLike, axis: Axis = None, dtype: str | None = None, keepdims: bool = False) -> Tensor:
    """Return ``numpy.mean``."""
    a, _ = _continuous(a, dtype, "mean")
    return reduce.mean(a, axis, keepdims=keepdims)


def var(
    a: Any, axis: Axis = None, dtype: str | None = None, ddof: int = 0, keepdims: bool = False, correction: Any = None
) -> Tensor:
    """Return ``numpy.var``; halves are computed with in float32."""
    a, dtype = _continuous(a, dtype, "var")
    if a.type.ndim == 0 and axis not in (None, ()):
        raise np.exceptions.AxisError(f"numpy.var: axis {axis} is out of range for a scalar")
    wide = el.cast(a, "float32") if dtype == "float16" else a
    found = reduce.var(wide, axis, ddof if correction is None else correction, keepdims)
    return el.cast(found, dtype) if dtype == "float16" else found


def std(
    a: Tensor,
    axis: Axis = None,
    dtype: str | None = None,
    ddof: int = 0,
    keepdims: bool = False,
    correction: object = None,
) -> Tensor:
    """Return ``numpy.std``."""
    return el.sqrt(var(a, axis, dtype, ddof, keepdims, correction))


def continuous(a: TensorLike) -> Tensor:
    """Return a tensor, of whole numbers in float64."""
    a = as_tensor_variable(a)
    return el.cast(a, "float64") if a.type.dtype in scal.discrete_dtypes else a


def _continuous(a: TensorLike, dtype: Any, what: str) -> tuple[Variable, str]:
    """Return a tensor in the dtype in which its moments are computed, and that dtype."""
    a = as_tensor_variable(a)
    dtype = dtype or ("float64" if a.type.dtype in scal.discrete_dtypes else a.type.dtype)
    if dtype in scal.discrete_dtypes:
        raise TypeError(f"numpy.{what} in {dtype} has no counterpart: cast its result")
    return el.cast(a, dtype), dtype


def trace(a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: str | None = None) -> Tensor:
    """Return ``numpy.trace``: elements are converted before they are added."""
    return sum(diagonals.diagonal(a, offset, axis1, axis2), -1, dtype)


def ptp(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return ``numpy.ptp``, which bool does not have."""
    a = as_tensor_variable(a)
    if a.type.dtype == "bool":
        raise TypeError("numpy.ptp is a difference, which bool does not have")
    return _largest(a, axis, keepdims) - _smallest(a, axis, keepdims)


def _largest(a: Variable, axis: Axis = None, keepdims: bool = False, initial: TensorLike | None = None) -> Any:
    """Return ``numpy.max``, which reduces nothing where ``axis`` names none; that of Theano then reduces all."""
    if names_none(axis):
        return as_tensor_variable(a) if initial is None else el.maximum(a, initial)
    return extremes.max(a, axis, keepdims, initial)


def _smallest(a: TensorLike, axis: Axis = None, keepdims: bool = False, initial: TensorLike | None = None) -> Any:
    """Return ``numpy.min``, as :func:`_largest`."""
    if names_none(axis):
        return as_tensor_variable(a) if initial is None else el.minimum(a, initial)
    return extremes.min(a, axis, keepdims, initial)


def argmax(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return ``numpy.argmax``, along one axis or all."""
    return extremes.argmax(a, _one_axis(a, axis, "argmax"), keepdims)


def argmin(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return ``numpy.argmin``, along one axis or all."""
    return extremes.argmin(a, _one_axis(a, axis, "argmin"), keepdims)


def _one_axis(a: TensorLike, axis: Axis, what: str) -> Any:
    if axis is not None and not isinstance(axis, (int, np.integer)):
        raise TypeError(f"numpy.{what} takes one axis, not {axis!r}; theano.tensor.{what} takes several")
    a = as_tensor_variable(a)
    return axis if axis is None or a.type.ndim == 0 and axis in (0, -1) else axis_of(a, int(axis), f"numpy.{what}")


def tril(m: TensorLike, k: object = 0) -> Tensor:
    """Return ``numpy.tril``: of each matrix in the last two axes, and NaN above the diagonal is replaced, too."""
    return _triangle(m, k, "tril")


def triu(m: TensorLike, k: object = 0) -> Tensor:
    """Return ``numpy.triu``."""
    return _triangle(m, k, "triu")


def _triangle(m: TensorLike, k: Any, what: str) -> Tensor:
    m = as_tensor_variable(m)
    if m.type.ndim < 2:
        raise ValueError(f"numpy.{what}: {m} has {m.type.ndim} dimensions; give 2 or more")
    below = tri(m.shape[-2], m.shape[-1], k if what == "tril" else k - 1, dtype="bool")
    below = below.dimshuffle(*["x"] * (m.type.ndim - 2), 0, 1)
    zero = constant(np.zeros((), m.type.dtype))
    return patternbroadcast(el.switch(below, *((m, zero) if what == "tril" else (zero, m))), m.type.broadcastable)


def dot(a: TensorLike, b: TensorLike) -> Tensor:
    """Return ``numpy.dot``."""
    return _dot(_as_array(a), _as_array(b))


def outer(a: TensorLike, b: TensorLike) -> Tensor:
    """Return ``numpy.outer``."""
    return _outer(_as_array(a), _as_array(b))


def _as_array(value: TensorLike) -> Tensor:
    """Return a tensor, of a number of Python's in the dtype of NumPy's array of it."""
    return as_tensor_variable(value if isinstance(value, Variable) else np.asarray(value))


def cov(
    m: TensorLike,
    y: TensorLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    dtype: str | None = None,
) -> Tensor:
    """Return ``numpy.cov``: in float64 at least, and a number for one variable."""
    given = [as_tensor_variable(v) for v in ((m,) if y is None else (m, y))]
    wide = dtype or np.result_type("float64", *(v.type.dtype for v in given)).name
    rows, *more = (el.cast(v, wide) for v in given)
    return el.cast(_cov(rows, more[0] if more else None, rowvar, bias, ddof), wide)


def searchsorted(a: TensorLike, v: TensorLike, side: Any = "left", sorter: Any = None) -> Tensor:
    """Return ``numpy.searchsorted``, in a vector."""
    a = as_tensor_variable(a)
    if a.type.ndim != 1:
        raise ValueError(f"numpy.searchsorted looks in a vector, and {a} has {a.type.ndim} dimensions")
    return _searchsorted(a, v, side, sorter)


def unique(
    ar: TensorLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
) -> Any:
    """Return ``numpy.unique``: which result each element is has the shape of the elements."""
    ar = as_tensor_variable(ar)
    found: Any = _unique(ar, return_index, return_inverse, return_counts, axis)
    if return_inverse and axis is None:
        place = 1 + return_index
        found[place] = reshape.reshape(found[place], ar.shape, ndim=ar.type.ndim)
    return found


#: By the name of NumPy's function.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        argmax, argmin, clip, concatenate, cov, diag, diff, dot, mean, outer, prod, ptp, ravel, roll, round,
        searchsorted, size, squeeze, stack, std, sum, trace, tril, triu, unique, var, where,
    )
}  # fmt: skip
FUNCTIONS |= {"max": _largest, "amax": _largest, "min": _smallest, "amin": _smallest}
