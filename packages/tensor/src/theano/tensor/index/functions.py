"""``x[...]``, ``set_subtensor``, ``inc_subtensor``, ``take`` and what is built on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError, IndexDtypeError
from theano.graph import Variable
from theano.tensor.convert import as_tensor_variable, is_tensor, whole_number
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.functions import cast, clip, mod
from theano.tensor.index.advanced import (
    AdvancedBooleanIncSubtensor,
    AdvancedBooleanSubtensor,
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    Nonzero,
    advanced_boolean_subtensor,
    advanced_subtensor,
    advanced_subtensor1,
)
from theano.tensor.index.basic import IncSubtensor, Subtensor, entry_variables
from theano.tensor.join.op import join
from theano.tensor.messages import axis_of, describe
from theano.tensor.shape.basic import addbroadcast, unbroadcast
from theano.tensor.shape.reshape import Reshape, reshape
from theano.tensor.type_other import NoneTypeT, SliceConstant, SliceType

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def _entry(value: Any) -> Any:
    """Return one entry of an index in one of few forms: None, a slice, a number, a tensor."""
    if isinstance(value, SliceConstant):
        return value.data
    if isinstance(value, Variable):
        if isinstance(value.type, NoneTypeT):
            return None
        if isinstance(value.type, scal.Scalar):
            return as_tensor_variable(value)
        return value
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return slice(*[v if (number := whole_number(v)) is None else number for v in parts])
    if isinstance(value, (bool, np.bool_)):
        return as_tensor_variable(np.asarray(value))
    if isinstance(value, (list, tuple, np.ndarray)):
        if isinstance(value, (list, tuple)) and len(value) == 0:
            return as_tensor_variable(np.asarray([], dtype="int64"))
        if isinstance(value, np.ndarray) and (number := whole_number(value)) is not None:
            return number
        return as_tensor_variable(np.asarray(value, dtype=bool) if _all_bool(value) else value)
    return value


def _all_bool(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(_all_bool, value))
    return isinstance(value, (bool, np.bool_))


def _is_simple(entry: TensorLike) -> bool:
    if is_tensor(entry):
        return entry.type.ndim == 0 and entry.type.dtype != "bool"
    return not (isinstance(entry, Variable) and isinstance(entry.type, SliceType))


def _covers(entry: Any) -> int:
    """Return how many axes an entry uses up."""
    if entry is None:
        return 0
    return entry.type.ndim if is_tensor(entry) and entry.type.dtype == "bool" else 1


def _without_ellipsis(x: Any, args: Any) -> list[Any]:
    # A list that holds a slice is read as a tuple, as NumPy did until 1.23: programs build such an index axis by axis.
    several = isinstance(args, tuple) or (isinstance(args, list) and any(isinstance(a, slice) for a in args))
    entries = list(args) if several else [args]
    places = [i for i, a in enumerate(entries) if a is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    entries = [a if a is Ellipsis else _entry(a) for a in entries]
    used = sum(_covers(a) for a in entries if a is not Ellipsis)
    if used > x.type.ndim:
        raise IndexError(f"too many indices for array: {x} has {x.type.ndim} dimensions, but {used} are indexed")
    if places:
        fill = [slice(None)] * (x.type.ndim - used)
        entries[places[0] : places[0] + 1] = fill
    return entries


def getitem(x: Variable, args: Any) -> Any:
    """Return ``x[args]``, by NumPy's rules; a list that holds a slice stands for a tuple.

    Parameters
    ----------
    x : tensor
    args : whole number, slice, None, Ellipsis, tensor, array, list, or tuple of these
    """
    entries = _without_ellipsis(x, args)
    for entry in entries:
        _check_dtype(x, entry)
    if all(map(_is_simple, entries)):
        return _simple(x, entries, all(map(_names_axes, args if isinstance(args, (tuple, list)) else (args,))))
    if len(entries) == 1 and is_tensor(entries[0]) and entries[0].type.ndim == 1 and entries[0].type.dtype != "bool":
        return advanced_subtensor1(x, entries[0])
    if any(is_tensor(e) and e.type.dtype == "bool" for e in entries):
        return advanced_boolean_subtensor(x, *entries)
    return advanced_subtensor(x, *entries)


def _check_dtype(x: Variable, entry: TensorLike) -> None:
    parts = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,)
    for part in parts:
        if isinstance(part, (float, np.floating, str)):
            instead = "A tensor has no names: give a number" if isinstance(part, str) else "Write int(i)"
            raise IndexDtypeError(
                f"an index of {x} must be whole numbers, slices, None, Ellipsis or arrays of these, not {part!r}. "
                f"{instead}."
            )
        if is_tensor(part) and part.type.dtype not in scal.discrete_dtypes:
            raise IndexDtypeError(
                f"an index must be whole numbers or booleans, not of dtype {part.type.dtype}:\n{describe(part)}\n"
                "  Cast it, for instance with T.cast(i, 'int64')."
            )


_SIGNED = frozenset(scal.integer_dtypes) - frozenset(scal.uint_dtypes)


def _names_axes(entry: TensorLike) -> bool:
    """Return whether None beside this entry is a dimshuffle to Theano, which indexes as NumPy does beside any other."""
    parts = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,)
    return not any(
        isinstance(p, np.ndarray) or isinstance(p, Variable) and getattr(p.type, "dtype", "") not in _SIGNED
        for p in parts
    )


def _simple(x: Any, entries: Sequence[Any], names_axes: bool) -> Variable:
    """Return a part by whole numbers and slices, then put new axes in.

    To Theano, an index with None is a dimshuffle of the axes that it names: those after them are dropped if all are
    known to have length 1. Where Theano has no meaning, because others are left, they stay, as in NumPy.
    """
    basic = [e for e in entries if e is not None]
    if len(basic) == len(entries):
        return Subtensor(basic)(x, *entry_variables(basic)) if basic else x
    whole = all(isinstance(e, slice) and e == slice(None) for e in basic)
    part = x if whole else Subtensor(basic)(x, *entry_variables(basic))
    order: list[int | str] = []
    axis = 0
    for e in entries:
        if e is None:
            order.append("x")
        elif isinstance(e, slice):
            order.append(axis)
            axis += 1
    if not (names_axes and all(part.type.broadcastable[axis:])):
        order += range(axis, part.type.ndim)
    return DimShuffle(part.type.broadcastable, order)(part)


# -- writing ---------------------------------------------------------------------------------------------


def set_subtensor(
    x: TensorLike, y: TensorLike, inplace: bool = False, tolerate_inplace_aliasing: bool = False
) -> Tensor:
    """Return a tensor with a part of it replaced.

    Parameters
    ----------
    x : indexed tensor
        An expression such as ``a[1:3]``, that says both the tensor and the part.
    y : tensor
        What to put there; it broadcasts to the part.
    inplace : bool
        Write into the tensor itself. (Rewriting does so by itself where that is safe.).
    tolerate_inplace_aliasing : bool
        Accept that ``x`` and ``y`` share memory.

    Returns
    -------
    TensorVariable
        Of the shape and dtype of ``a``, which stays as it is.

    See Also
    --------
    inc_subtensor, switch, fill_diagonal

    Examples
    --------
    >>> import theano.tensor as T
    >>> v = T.dvector("v")
    >>> set_subtensor(v[10:20], 5).owner.op
    IncSubtensor{Set;int64:int64:}
    """
    return inc_subtensor(x, y, inplace, True, tolerate_inplace_aliasing)


def inc_subtensor(
    x: TensorLike,
    y: TensorLike,
    inplace: bool = False,
    set_instead_of_inc: bool = False,
    tolerate_inplace_aliasing: bool = False,
) -> Tensor:
    """Return a tensor with a part of it increased.

    Parameters
    ----------
    x : indexed tensor
        An expression such as ``a[1:3]``, that says both the tensor and the part.
    y : tensor
        What to add; it broadcasts to the part. Where an array names a place twice, it is added twice.
    inplace : bool
        As for :func:`set_subtensor`.
    set_instead_of_inc : bool
        Replace in place of adding.
    tolerate_inplace_aliasing : bool
        As for :func:`set_subtensor`.

    Returns
    -------
    TensorVariable
        Of the shape and dtype of ``a``, which stays as it is.

    See Also
    --------
    set_subtensor

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> theano.function([x], inc_subtensor(x[1:], 10))([1, 2, 3])
    array([ 1., 12., 13.])
    >>> theano.function([x], inc_subtensor(x[[0, 0]], 10))([1, 2, 3])
    array([21.,  2.,  3.])
    """
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if y.type.ndim > x.type.ndim:
        raise ArgumentError(
            f"Trying to increment a {x.type.ndim}-dimensional subtensor with a {y.type.ndim}-dimensional value:\n"
            f"{describe(x)}\n{describe(y)}"
        )
    offset = x.type.ndim - y.type.ndim
    for axis, one in enumerate(y.type.broadcastable):
        if x.type.broadcastable[axis + offset] and not one:
            y = addbroadcast(y, axis)  # its length can only be 1
    if x.owner is None:
        raise TypeError(
            f"x must be the result of a subtensor operation, such as a[1:3], not the plain variable {x}. "
            "To replace all of it, use y itself (or T.fill(x, y))."
        )
    op, inputs = x.owner.op, x.owner.inputs
    how = {"inplace": inplace, "set_instead_of_inc": set_instead_of_inc}
    if isinstance(op, Subtensor):
        aliased = [(0, 1)] if tolerate_inplace_aliasing else None
        return IncSubtensor(op.idx_list, destroyhandler_tolerate_aliased=aliased, **how)(inputs[0], y, *inputs[1:])
    if isinstance(op, AdvancedSubtensor1):
        return AdvancedIncSubtensor1(**how)(inputs[0], y, inputs[1])
    if isinstance(op, AdvancedSubtensor):
        return AdvancedIncSubtensor(**how)(inputs[0], y, *inputs[1:])
    if isinstance(op, AdvancedBooleanSubtensor):
        return AdvancedBooleanIncSubtensor(**how)(inputs[0], y, *inputs[1:])
    if isinstance(op, DimShuffle):
        back = _shuffled_back(op, x, y)
        return inc_subtensor(inputs[0], back, inplace, set_instead_of_inc, tolerate_inplace_aliasing)
    if isinstance(op, Reshape):
        if y.type.ndim:
            # Element for element only if y has them all.
            y = reshape(y if y.type.ndim == x.type.ndim and not any(y.type.broadcastable) else y + x.zeros_like(),
                        inputs[0].shape, ndim=inputs[0].type.ndim)
        return inc_subtensor(inputs[0], y, inplace, set_instead_of_inc, tolerate_inplace_aliasing)
    raise TypeError(f"x must be the result of a subtensor operation, such as a[1:3], not of {op}:\n{describe(x)}")


def _shuffled_back(op: DimShuffle, x: Tensor, y: Tensor) -> Tensor:
    """Return what is written to a dimshuffled part, in the order of the part itself."""
    y = DimShuffle(y.type.broadcastable, ["x"] * (x.type.ndim - y.type.ndim) + list(range(y.type.ndim)))(y)
    places = {d: i for i, d in enumerate(op.new_order) if d != "x"}
    return y.dimshuffle(*[places.get(i, "x") for i in range(len(op.input_broadcastable))])


# -- functions on top --------------------------------------------------------------------------------------


def take(a: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Tensor:
    """Return elements or slices of ``a`` along an axis.

    Parameters
    ----------
    a : tensor
        Of any shape.
    indices : tensor of int
        Of any shape, which takes the place of the axis.
    axis : int, optional
        Without it, ``a`` counts as flat.
    mode : "raise", "wrap" or "clip"
        What to do about places that do not exist.

    Returns
    -------
    TensorVariable
        Of the shape of ``a`` with that of ``indices`` in place of the axis.

    See Also
    --------
    take_along_axis, compress, numpy.take

    Examples
    --------
    >>> import theano.tensor as T
    >>> take(T.dmatrix("m"), T.lmatrix("i"), axis=1).ndim
    3
    """
    a, indices = as_tensor_variable(a), as_tensor_variable(indices)
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"take: mode is {mode!r}; it must be 'raise', 'wrap' or 'clip'")
    if axis is None:
        a, axis = a.flatten(), 0
    axis = axis_of(a, axis, "take")
    if mode == "wrap":
        indices = mod(indices, cast(a.shape[axis], "int64"))
    elif mode == "clip":
        indices = clip(indices, 0, cast(a.shape[axis], "int64") - 1)
    return getitem(a, (slice(None),) * axis + (indices,))


def flatnonzero(a: TensorLike) -> Tensor:
    """Return the places of the elements that are not 0, in the flattened tensor.

    Parameters
    ----------
    a : tensor
        Of any shape.

    Returns
    -------
    TensorVariable
        A vector of int64.

    See Also
    --------
    nonzero, nonzero_values, numpy.flatnonzero

    Examples
    --------
    >>> import theano.tensor as T
    >>> flatnonzero(T.constant([[0, 1], [2, 0]])).eval()
    array([1, 2])
    """
    a = as_tensor_variable(a)
    if a.type.ndim == 0:
        raise ValueError(f"flatnonzero only supports non-scalar arrays, but {a} has no dimension")
    return nonzero(a.flatten())[0]


def nonzero_values(a: TensorLike) -> Tensor:
    """Return the elements that are not 0, in C order.

    Parameters
    ----------
    a : tensor
        Of any shape.

    Returns
    -------
    TensorVariable
        A vector.

    See Also
    --------
    nonzero, flatnonzero

    Examples
    --------
    >>> import theano.tensor as T
    >>> nonzero_values(T.constant([0, 3, 0, 4])).eval()
    array([3, 4])
    """
    a = as_tensor_variable(a)
    return a.flatten()[flatnonzero(a)]


def roll(x: TensorLike, shift: TensorLike, axis: int | None = None) -> Tensor:
    """Return ``x`` with its elements moved along an axis, those that fall off coming in at the other end.

    Parameters
    ----------
    x : tensor
        Of any shape.
    shift : int or scalar of int
        By how many places; towards the end where it is positive.
    axis : int, optional
        Without it, ``x`` is rolled as if it were flat.

    Returns
    -------
    TensorVariable
        Of the shape of ``x``.

    See Also
    --------
    flip, numpy.roll

    Examples
    --------
    >>> import theano.tensor as T
    >>> roll(T.dvector("v"), 2)
    Join.0
    """
    x, shift = as_tensor_variable(x), as_tensor_variable(shift)
    if shift.type.dtype not in scal.integer_dtypes or shift.type.ndim:
        raise TypeError(f"roll: the shift must be one whole number, not {shift} of type {shift.type}")
    if axis is None:
        return roll(x.flatten(), shift, 0).reshape(x.shape, ndim=x.type.ndim) if x.type.ndim != 1 else roll(x, shift, 0)
    axis = axis_of(x, axis, "roll")
    length = x.shape[axis]
    # A shift by a whole turn or more is the rest of it.
    cut = -cast(shift, "int64") % _at_least_one(length)
    before = (slice(None),) * axis
    return join(axis, getitem(x, (*before, slice(cut, None))), getitem(x, (*before, slice(0, cut))))


def _at_least_one(n: Tensor) -> Tensor:
    return clip(n, 1, np.int64(2**62))


def nonzero(a: TensorLike, return_matrix: bool = False) -> Any:
    """Return the places of the elements of ``a`` that are not 0.

    Parameters
    ----------
    a : tensor
        Of any shape.
    return_matrix : bool
        One matrix with a row for each axis, in place of a tuple of vectors.

    Returns
    -------
    tuple of TensorVariable, or TensorVariable
        A vector of int64 for each axis, or a matrix of them.

    See Also
    --------
    flatnonzero, nonzero_values, switch, numpy.nonzero

    Examples
    --------
    >>> import theano.tensor as T
    >>> [v.eval() for v in nonzero(T.constant([[0, 1], [2, 0]]))]
    [array([0, 1]), array([1, 0])]
    """
    places = Nonzero()(a, return_list=True)
    return unbroadcast(as_tensor_variable(list(places)), 0) if return_matrix else tuple(places)
