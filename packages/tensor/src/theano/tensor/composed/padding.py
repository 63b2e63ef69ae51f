"""`pad`: what surrounds a tensor, by all modes of :func:`numpy.pad`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import Variable
from theano.scalar import integer_dtypes
from theano.tensor.composed.quantiles import median
from theano.tensor.composed.ranges import linspace
from theano.tensor.control.checks import CheckedShape
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.alloc import alloc, empty
from theano.tensor.create.arange import arange
from theano.tensor.elemwise import functions as el
from theano.tensor.index.functions import set_subtensor, take
from theano.tensor.join.op import join
from theano.tensor.reduce import extremes
from theano.tensor.reduce import functions as reduce
from theano.tensor.shape.reshape import vector_along

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor

    #: What concerns both sides of an axis: numbers or expressions.
    Pair = tuple[Any, Any]

#: Which keyword each mode takes, and its default.
_KEYWORDS: dict[str, dict[str, object]] = {
    "constant": {"constant_values": 0}, "linear_ramp": {"end_values": 0}, "empty": {}, "edge": {}, "wrap": {},
    "maximum": {"stat_length": None}, "minimum": {"stat_length": None}, "mean": {"stat_length": None},
    "median": {"stat_length": None}, "reflect": {"reflect_type": "even"}, "symmetric": {"reflect_type": "even"},
}  # fmt: skip


def pad(array: TensorLike, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Tensor:
    """Return a tensor with elements before and after each axis, as :func:`numpy.pad` does.

    Parameters
    ----------
    array : tensor
        Of any shape.
    pad_width : int, (before, after), sequence of these for each axis, or dict from axis to these
        How many elements; whole numbers or expressions.
    mode : str
        ``"constant"``, ``"edge"``, ``"empty"``, ``"linear_ramp"``, ``"maximum"``, ``"mean"``, ``"median"``,
        ``"minimum"``, ``"reflect"``, ``"symmetric"`` or ``"wrap"``.
    **kwargs : number, tuple or str
        What belongs to a mode: ``constant_values`` and ``end_values`` (0 by default), ``stat_length`` (how many
        elements at the edge; all by default), ``reflect_type`` (``"even"`` or ``"odd"``).

    Returns
    -------
    tensor
        Of the dtype of ``array``.

    See Also
    --------
    concatenate, numpy.pad

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.pad(T.constant([1, 2, 3]), 2, mode="reflect").eval()
    array([3, 2, 1, 2, 3, 2, 1])
    >>> T.pad(T.constant([[1, 2]]), ((0, 1), (1, 0)), constant_values=9).eval()
    array([[9, 1, 2],
           [9, 9, 9]])
    """
    if mode not in _KEYWORDS:
        raise ValueError(f"pad: mode is {mode!r}; it must be one of {', '.join(map(repr, _KEYWORDS))}")
    if unknown := set(kwargs) - set(_KEYWORDS[mode]):
        raise ValueError(f"pad: the mode {mode!r} does not take {', '.join(sorted(unknown))}")
    array = as_tensor_variable(array)
    options: dict[str, Any] = _KEYWORDS[mode] | kwargs
    widths = _of_axes(pad_width, array.type.ndim, "pad_width")
    if any(isinstance(n, (int, np.integer)) and n < 0 for pair in widths for n in pair):
        raise ValueError(f"pad: pad_width is {pad_width}; it must not be negative")
    if mode in ("constant", "empty"):
        return _constant(array, widths, mode, options.get("constant_values", 0))
    if mode in _STATISTICS:
        lengths = _of_axes(options["stat_length"], array.type.ndim, "stat_length")
        return _each_axis(array, widths, lambda v, i, n: _statistic(v, i, n, mode, lengths[i]))
    if mode == "linear_ramp":
        ends = _of_axes(options["end_values"], array.type.ndim, "end_values")
        return _each_axis(array, widths, lambda v, i, n: _ramp(v, i, n, ends[i]))
    odd = options.get("reflect_type", "even")
    if odd not in ("even", "odd"):
        raise ValueError(f"pad: reflect_type is {odd!r}; it must be 'even' or 'odd'")
    return _each_axis(array, widths, lambda v, i, n: _mirrored(v, i, n, mode, odd == "odd"))


def _of_axes(value: Any, ndim: int, what: str) -> list[Pair]:
    """Return a value before and one after each axis, of one, of a pair, or of one or a pair for each axis."""
    if isinstance(value, dict):
        pairs = {i % ndim: v if isinstance(v, Sequence) else (v, v) for i, v in value.items()}
        return [tuple(pairs.get(i, (0, 0))) for i in range(ndim)]
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Variable) and value.type.ndim:
        value = _elements(as_tensor_variable(value), ndim)
    if not isinstance(value, (list, tuple)):
        return [(value, value)] * ndim
    nested = [list(v) if isinstance(v, (list, tuple, np.ndarray)) else v for v in value]
    if not any(isinstance(v, list) for v in nested):
        if len(nested) == 1:
            return [(nested[0], nested[0])] * ndim
        if len(nested) == 2:
            return [(nested[0], nested[1])] * ndim
    pairs_ = [v * 2 if isinstance(v, list) and len(v) == 1 else v for v in nested]
    if all(isinstance(v, list) and len(v) == 2 for v in pairs_) and len(pairs_) in (1, ndim):
        return [tuple(v) for v in (pairs_ * ndim if len(pairs_) == 1 else pairs_)]
    raise ValueError(f"pad: {what} is {value}; give one value, a pair, or a pair for each of {ndim} axes")


def _elements(value: Tensor, ndim: int) -> list[object]:
    """Return a vector as a pair, or a matrix as a list of pairs."""
    return [value[0], value[1]] if value.type.ndim == 1 else [[value[i, 0], value[i, 1]] for i in range(ndim)]


def _constant(array: Tensor, widths: Sequence[Pair], mode: str, values: object) -> Tensor:
    ends = _of_axes(values, array.type.ndim, "constant_values")
    one = ends[0][0] if ends else 0
    alike = all(v is one or isinstance(v, (int, float)) and v == one for pair in ends for v in pair)
    if not alike:
        return _each_axis(array, widths, lambda v, i, n: [_filled(v, i, n[k], ends[i][k]) for k in (0, 1)])
    shape = [before + array.shape[i] + after for i, (before, after) in enumerate(widths)]
    around = empty(shape, array.type.dtype) if mode == "empty" else alloc(el.cast(one, array.type.dtype), *shape)
    return set_subtensor(
        around[tuple(slice(before, before + array.shape[i]) for i, (before, _) in enumerate(widths))], array
    )


def _filled(v: Tensor, axis: int, n: TensorLike, value: TensorLike) -> Tensor:
    return alloc(el.cast(value, v.type.dtype), *[n if i == axis else v.shape[i] for i in range(v.type.ndim)])


def _each_axis(v: Tensor, widths: Sequence[Pair], sides: Callable[..., Tensor | list[Tensor]]) -> Tensor:
    """Return a tensor padded along one axis after the other; ``sides`` returns what goes before and after."""
    for axis, pair in enumerate(widths):
        if all(isinstance(n, (int, np.integer)) and n == 0 for n in pair):
            continue
        made = sides(v, axis, pair)
        v = join(axis, made[0], v, made[1]) if isinstance(made, list) else made
    return v


def _edge(v: Tensor, axis: int, first: bool) -> Tensor:
    edge = v[tuple([slice(None)] * axis + [0 if first else -1])]
    return edge.dimshuffle(*range(axis), "x", *range(axis, edge.type.ndim))


_STATISTICS: dict[str, Callable[..., Tensor]] = {
    "maximum": extremes.max, "minimum": extremes.min, "mean": reduce.mean, "median": median,
}  # fmt: skip


def _statistic(v: Tensor, axis: int, n: Pair, mode: str, lengths: Pair) -> list[Tensor]:
    sides = []
    check = CheckedShape(f"pad: the axis has no elements for mode {mode!r}")
    v = check(v, el.gt(v.shape[axis], 0))
    for width, length, first in zip(n, lengths, (True, False), strict=True):
        part = v
        if length is not None:
            count = el.minimum(length, v.shape[axis])
            bounds = slice(None, count) if first else slice(v.shape[axis] - count, None)
            part = v[tuple([slice(None)] * axis + [bounds])]
        value = _STATISTICS[mode](part, axis=axis, keepdims=True)
        if v.type.dtype in integer_dtypes and mode in ("mean", "median"):
            value = el.round_half_to_even(value)
        sides.append(_stretched(el.cast(value, v.type.dtype), axis, width))
    return sides


def _stretched(v: Tensor, axis: int, n: TensorLike) -> Tensor:
    return alloc(v, *[n if i == axis else v.shape[i] for i in range(v.type.ndim)])


def _ramp(v: Tensor, axis: int, n: Pair, ends: Pair) -> list[Tensor]:
    sides = []
    for width, end, first in zip(n, ends, (True, False), strict=True):
        edge = _edge(v, axis, first)
        edge = edge.dimshuffle(*[i for i in range(v.type.ndim) if i != axis])
        side = as_tensor_variable(
            linspace(el.cast(end, v.type.dtype), edge, width, endpoint=False, dtype=v.type.dtype, axis=axis)
        )
        sides.append(side if first else side[tuple([slice(None)] * axis + [slice(None, None, -1)])])
    return sides


def _mirrored(v: Tensor, axis: int, n: Pair, mode: str, odd: bool) -> Tensor:
    """Return a tensor padded with its own elements: which ones is a matter of the places alone."""
    length = v.shape[axis]
    places = arange(-n[0], length + n[1])
    if mode == "edge":
        return take(v, el.clip(places, 0, length - 1), axis=axis)
    if mode == "wrap":
        return take(v, el.mod(places, length), axis=axis)
    period = el.maximum(length - 1, 1) if mode == "reflect" else length
    turn, rest = el.int_div(places, period), el.mod(places, period)
    back = el.eq(el.mod(turn, 2), 1)
    last = period if mode == "reflect" else period - 1
    chosen = el.minimum(el.switch(back, last - rest, rest), length - 1)
    found = take(v, chosen, axis=axis)
    if not odd:
        return found
    # Two reflections are a shift by twice the distance of the edges.
    first, end = _edge(v, axis, True), _edge(v, axis, False)
    turn, back = (vector_along(place, axis, v.type.ndim) for place in (el.cast(turn, v.type.dtype), back))
    shift = turn * (end - first)
    return el.switch(back, shift + first + end - found, shift + found)
