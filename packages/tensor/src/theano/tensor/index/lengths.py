"""How long a slice is, worked out on symbols and on numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano.tensor.convert import as_tensor_variable, static_int
from theano.tensor.elemwise.functions import abs_, add, cast, ge, int_div, lt, maximum, minimum, switch
from theano.tensor.shape.basic import Shape_i

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.type import Tensor


def _int64(n: Any) -> Any:
    return cast(as_tensor_variable(n), "int64")


def bound(n: Any, length: Any, low: Variable, high: Variable) -> Any:
    """Return an end of a slice counted from 0 and clamped to ``low .. high``."""
    known = static_int(n)
    if known is not None:
        # Half of the work is known not to happen.
        counted = as_tensor_variable(np.int64(known)) if known >= 0 else length + np.int64(known)
        return minimum(counted, high) if known >= 0 else maximum(counted, low)
    n = _int64(n)
    return minimum(maximum(switch(lt(n, 0), n + length, n), low), high)


def slice_length(part: slice, length: Any) -> Any:
    """Return the number of elements that a slice takes from an axis.

    Parameters
    ----------
    part : slice
        Of numbers, symbolic integers or None.
    length : symbolic integer
        Of the axis.

    Examples
    --------
    >>> import theano.tensor as T
    >>> slice_length(slice(None), T.lscalar("n")), slice_length(slice(2, None, -1), as_tensor_variable(5))
    (n, TensorConstant{3})
    """
    start, stop, step = part.start, part.stop, part.step
    if start is None and stop is None and step is None:
        return length
    numbers = [None if v is None else static_int(v) for v in (start, stop, step)]
    n = static_int(length)
    if n is not None and all(k is not None or v is None for k, v in zip(numbers, (start, stop, step), strict=True)):
        return as_tensor_variable(np.int64(len(range(*slice(*numbers).indices(n)))))
    length = _int64(length)
    if start is None and stop is None and numbers[2] in (1, -1):
        return length
    known_step = 1 if step is None else static_int(step)
    if known_step is None:
        forward, backward = _span(start, stop, length, True), _span(start, stop, length, False)
        step = _int64(step)
        span = switch(ge(step, 0), forward, backward)
        size = maximum(abs_(step), 1)
        return maximum(int_div(span + size - 1, size), 0)
    if known_step == 0:
        raise ValueError("slice step cannot be zero")
    rest = _rest(length, numbers[0]) if stop is None and known_step == 1 else None
    if rest is not None:
        return rest
    span, size = _span(start, stop, length, known_step > 0), abs(known_step)
    if size == 1:
        return span if start is None and stop is None else maximum(span, 0)
    return maximum(int_div(span + (size - 1), size), 0)


def _rest(length: Tensor, start: int | None) -> Any:
    """Return ``length - start`` where that is known to be no less than 0: the length is that of a tensor and more."""
    node = length.owner
    if not start or start < 0 or node is None or node.op != add or len(node.inputs) != 2:
        return None
    for v, more in (node.inputs, node.inputs[::-1]):
        known = static_int(more)
        if known is not None and known >= start and v.owner is not None and isinstance(v.owner.op, Shape_i):
            return v if known == start else v + np.int64(known - start)
    return None


def _span(start: Any, stop: Any, length: Tensor, forward: bool) -> Tensor:
    """Return how far it is from start to stop (negative: nothing is taken)."""
    zero, minus_one = as_tensor_variable(np.int64(0)), as_tensor_variable(np.int64(-1))
    if forward:
        end = length if stop is None else bound(stop, length, zero, length)
        return end if start is None or static_int(start) == 0 else end - bound(start, length, zero, length)
    first = length - 1 if start is None else bound(start, length, minus_one, length - 1)
    last = minus_one if stop is None else bound(stop, length, minus_one, length - 1)
    return first - last
