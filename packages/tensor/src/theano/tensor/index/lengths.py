"""How long a slice is, on symbols and on numbers, and the shape of what arrays and masks select."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.tensor.convert import as_tensor_variable, is_tensor, static_int
from theano.tensor.elemwise.functions import abs_, add, cast, eq, ge, int_div, lt, maximum, minimum, switch
from theano.tensor.shape.basic import Shape_i
from theano.tensor.type_other import MakeSlice, NoneTypeT, SliceConstant, SliceType, as_index_variable

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


def is_mask(entry: object) -> bool:
    """Return whether an entry of an index is a tensor of booleans."""
    return is_tensor(entry) and entry.type.dtype == "bool"


def slice_parts(entry: Variable) -> slice:
    """Return a slice variable as a slice of variables, numbers and None."""
    if isinstance(entry, SliceConstant):
        return entry.data
    if entry.owner is not None and isinstance(entry.owner.op, MakeSlice):
        return slice(*[None if isinstance(v.type, NoneTypeT) else v for v in entry.owner.inputs])
    raise NotImplementedError(f"the ends of the slice {entry} are not known to the graph")


def _layout(x: Any, idx: Sequence[Variable]) -> tuple[list[tuple[str, Any, int]], int]:
    """Return what each entry does, the axis of ``x`` it starts at, and where the arrays' axes go in the result.

    Kinds are "new", "slice", "keep" and "array"; the place is -1 without an array.
    """
    plan: list[tuple[str, Any, int]] = []
    axis = 0
    for entry in idx:
        kind: Any = entry.type
        if isinstance(kind, NoneTypeT):
            plan.append(("new", entry, axis))
        elif isinstance(kind, SliceType):
            plan.append(("slice", entry, axis))
            axis += 1
        else:
            plan.append(("array", entry, axis))
            axis += kind.ndim if is_mask(entry) else 1
    if axis > x.type.ndim:
        raise IndexError(f"too many indices for array: {x} has {x.type.ndim} dimensions, but {axis} are indexed")
    plan += [("keep", None, i) for i in range(axis, x.type.ndim)]
    arrays = [i for i, (kind, _, _) in enumerate(plan) if kind == "array"]
    if not arrays:
        return plan, -1
    together = arrays == list(range(arrays[0], arrays[-1] + 1))
    return plan, arrays[0] if together else 0


def _array_ndim(entry: Tensor) -> int:
    # A mask selects a list of places: one axis, however many it covers; a mask without axes adds one.
    return 1 if is_mask(entry) else entry.type.ndim


def adv_index_broadcastable_pattern(a: Tensor, idx: Sequence[Variable | slice]) -> tuple[bool, ...]:
    """Return the broadcast pattern of ``a[idx]``, the same as in Theano.

    One array beside whole slices keeps its own lengths of 1, and, if it is a vector, those of ``a``. Several arrays, or
    a mask, select an unknown number. A slice keeps a length of 1 that it surely takes.

    Parameters
    ----------
    a : tensor
        What is indexed.
    idx : sequence
        Slices, None, and tensors of whole numbers or booleans.

    Returns
    -------
    tuple of bool
        Which dimensions of ``a[idx]`` have length 1.

    Examples
    --------
    >>> import theano.tensor as T
    >>> adv_index_broadcastable_pattern(T.dmatrix(), [T.lvector(), slice(None)])
    (False, False)
    """
    variables = [as_index_variable(i) for i in idx]
    plan, place = _layout(a, variables)
    arrays = [entry for kind, entry, _ in plan if kind == "array"]
    ndim = max((_array_ndim(e) for e in arrays), default=0)
    rest = [kind == "keep" or kind == "slice" and _is_whole(entry) for kind, entry, _ in plan if kind != "array"]
    alone = len(arrays) == 1 and all(rest) and not is_mask(arrays[0])
    pattern: list[bool] = []
    for position, (kind, entry, axis) in enumerate(plan):
        if arrays and position == place:
            pattern += arrays[0].type.broadcastable if alone else (False,) * ndim
        if kind == "new":
            pattern.append(True)
        elif kind != "array":
            kept = kind == "keep" or keeps_one(_known_parts(entry))
            pattern.append(kept and a.type.broadcastable[axis] and not (alone and ndim != 1))
    return tuple(pattern)


def _is_whole(entry: Variable) -> bool:
    return isinstance(entry, SliceConstant) and entry.data == slice(None)


def _known_parts(entry: Variable) -> slice:
    """Return the parts of a slice; one that takes nothing where the graph does not know them."""
    try:
        return slice_parts(entry)
    except NotImplementedError:
        return slice(0, 0)


def advanced_shape(x: Tensor, idx: Sequence[Variable], x_shape: Sequence[Any]) -> tuple[Tensor, ...]:
    """Return the lengths of ``x[idx]``."""
    plan, place = _layout(x, idx)
    arrays = [entry for kind, entry, _ in plan if kind == "array"]
    ndim = max((_array_ndim(e) for e in arrays), default=0)
    one = as_tensor_variable(np.int64(1))
    group: list[Tensor] = []
    for k in range(ndim):
        lengths = [_array_length(e, k - ndim + _array_ndim(e)) for e in arrays if k >= ndim - _array_ndim(e)]
        total: Any = None
        for n in lengths:
            if n is not None:
                # NumPy lets a length of 1 stretch, also where the type does not know it.
                total = n if total is None else switch(eq(total, 1), n, total)
        group.append(one if total is None else total)
    result: list[Tensor] = []
    for position, (kind, entry, axis) in enumerate(plan):
        if arrays and position == place:
            result += group
        if kind == "new":
            result.append(one)
        elif kind == "keep":
            result.append(x_shape[axis])
        elif kind == "slice":
            result.append(slice_length(slice_parts(entry), x_shape[axis]))
    return tuple(result)


def _array_length(entry: Tensor, axis: int) -> Any:
    """Return the length of an index array along an axis, or None where it stretches."""
    if is_mask(entry):
        return cast(entry, "int64").sum()
    return None if entry.type.broadcastable[axis] else entry.shape[axis]


def keeps_one(entry: slice) -> bool:
    """Return whether a slice surely takes the only element of an axis of length 1, counted from the left.

    Theano knows nothing of ``x[-1:]``, and updates compare patterns.

    Examples
    --------
    >>> keeps_one(slice(None)), keeps_one(slice(0, 3)), keeps_one(slice(1, None)), keeps_one(slice(-1, None))
    (True, True, False, False)
    """
    ends = (entry.start, entry.stop, entry.step)
    parts = [None if n is None else static_int(n) for n in ends]
    known = all(k is not None or n is None for k, n in zip(parts, ends, strict=True))
    return known and parts[2] != 0 and (parts[0] or 0) >= 0 and len(range(*slice(*parts).indices(1))) == 1
