"""What an index selects, told before it is applied: kinds of entries, lengths, and errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.graph import Constant, Variable
from theano.tensor.convert import as_tensor_variable, is_tensor, static_int
from theano.tensor.create.alloc import alloc
from theano.tensor.elemwise.functions import abs_, cast, eq, ge, int_div, lt, maximum, sgn, switch
from theano.tensor.index.advanced import AdvancedBooleanIndexingError
from theano.tensor.index.functions import getitem
from theano.tensor.index.lengths import bound, slice_length
from theano.tensor.shape.basic import shape_tuple
from theano.tensor.shape.broadcast import lengths_of
from theano.tensor.type_other import NoneTypeT, SliceType

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def as_index_constant(a: Any) -> Any:
    """Return an entry of an index with its plain numbers as constants, its arrays as tensors.

    Examples
    --------
    >>> as_index_constant(slice(1, None)), as_index_constant(2)
    (slice(ScalarConstant{1}, None, None), ScalarConstant{2})
    """
    if a is None or isinstance(a, Variable):
        return a
    if isinstance(a, slice):
        return slice(*[as_index_constant(n) for n in (a.start, a.stop, a.step)])
    if isinstance(a, (int, np.integer)) and not isinstance(a, bool):
        return scal.get_scalar_type("int64").make_constant(int(a))
    return as_tensor_variable(a)


def make_constant(args: Sequence[Any]) -> tuple[Any, ...]:
    """Return an index with its plain numbers as constants, also those in slices; other entries stay as they are.

    Examples
    --------
    >>> make_constant((1, slice(2, None)))
    (ScalarConstant{1}, slice(ScalarConstant{2}, None, None))
    """
    return tuple(as_index_constant(a) if isinstance(a, (slice, int, np.integer)) else a for a in args)


def is_basic_idx(idx: Any) -> bool:
    """Return whether an entry of an index is a whole number, a slice or None: nothing that needs an array.

    Examples
    --------
    >>> [is_basic_idx(i) for i in (0, slice(2), None, [0, 1])]
    [True, True, True, False]
    """
    if idx is None or isinstance(idx, (slice, int, np.integer)) and not isinstance(idx, (bool, np.bool_)):
        return True
    if not isinstance(idx, Variable):
        return False
    if is_tensor(idx):
        return idx.type.ndim == 0 and idx.type.dtype in scal.integer_dtypes
    return isinstance(idx.type, (SliceType, NoneTypeT, scal.Scalar))


def group_indices(indices: Iterable[Any]) -> list[tuple[bool, list[tuple[int, Any]]]]:
    """Return the entries of an index in runs of basic and of advanced ones, each with its axis.

    Examples
    --------
    >>> group_indices((0, slice(2), [0, 1]))
    [(True, [(0, 0), (1, slice(None, 2, None))]), (False, [(2, [0, 1])])]
    """
    runs: list[tuple[bool, list[tuple[int, Any]]]] = []
    axis = 0
    for entry in indices:
        basic = is_basic_idx(entry)
        if not runs or runs[-1][0] != basic:
            runs.append((basic, []))
        runs[-1][1].append((axis, entry))
        new = entry is None or isinstance(entry, Variable) and isinstance(entry.type, NoneTypeT)
        axis += 0 if new else 1
    return runs


def range_len(slc: slice) -> Tensor:
    """Return how many numbers ``range(start, stop, step)`` has, for a slice of all three.

    Examples
    --------
    >>> range_len(slice(1, 8, 3))
    Elemwise{switch,no_inplace}.0
    """
    start, stop, step = (cast(as_tensor_variable(n), "int64") for n in (slc.start, slc.stop, slc.step))
    size = maximum(switch(ge(step, 0), step, -step), 1)
    span = switch(ge(step, 0), stop - start, start - stop)
    count: Tensor = switch(eq(step, 0), np.int64(0), maximum(int_div(span + size - 1, size), 0))
    return count


def slice_len(slc: slice, n: TensorLike) -> Tensor:
    """Return how many elements a slice takes from an axis of length ``n``.

    Examples
    --------
    >>> slice_len(slice(None, None, 2), 5)
    TensorConstant{3}
    """
    count: Tensor = slice_length(slc, as_tensor_variable(n))
    return count


def basic_shape(shape: Sequence[int], indices: Sequence[object]) -> tuple[Tensor, ...]:
    """Return the lengths that whole numbers, slices and None select from a shape.

    Parameters
    ----------
    shape : sequence of lengths
    indices : sequence

    Examples
    --------
    >>> import theano.tensor as T
    >>> [n.eval() for n in basic_shape((5, 6), (slice(1, None), 0))]
    [array(4)]
    """
    advanced = [i for i in indices if not is_basic_idx(i)]
    if advanced:
        raise ValueError(f"basic_shape: {advanced[0]} is no whole number, slice or None; see indexed_result_shape")
    return indexed_result_shape(shape, indices)


def indexed_result_shape(
    array_shape: TensorLike, indices: Sequence[object], indices_are_shapes: bool = False
) -> tuple[Tensor, ...]:
    """Return the lengths that an index selects from a shape.

    Parameters
    ----------
    array_shape : sequence of lengths, or vector of known length
    indices : sequence
        Whole numbers, slices, None and arrays.
    indices_are_shapes : bool
        Arrays are given by their shapes, as tuples of lengths.

    Examples
    --------
    >>> import theano.tensor as T
    >>> [int(n.eval()) for n in indexed_result_shape((5, 6, 7), (slice(None), (2, 3), 0), indices_are_shapes=True)]
    [5, 2, 3]
    """
    # Shape inference asks nothing but lengths of these, so they are never filled.
    model = alloc(np.int8(0), *lengths_of(array_shape))
    entries = [
        alloc(np.int64(0), *lengths_of(i)) if indices_are_shapes and isinstance(i, (tuple, list)) else i
        for i in indices
    ]
    return shape_tuple(getitem(model, tuple(entries)))


def _int64(n: Any) -> Any:
    return cast(as_tensor_variable(n), "int64")


def get_canonical_form_slice(theslice: Any, length: Any) -> tuple[Any, Any]:
    """Return an index in a form that needs no knowledge of the axis.

    Parameters
    ----------
    theslice : slice or symbolic integer
    length : symbolic integer
        Of the axis.

    Returns
    -------
    tuple
        A slice with ends counted from 0 and a positive step, and the direction (1 or -1) in which its elements
        are to be taken; for a whole number, that number counted from 0, and 1.

    Examples
    --------
    >>> canonical, direction = get_canonical_form_slice(slice(None, None, -1), 5)
    >>> canonical, direction
    (slice(Elemwise{maximum,no_inplace}.0, Elemwise{add,no_inplace}.0, 1), -1)
    """
    if not isinstance(theslice, slice):
        known = static_int(theslice)
        if known is not None and known >= 0:
            return theslice, 1
        return switch(lt(_int64(theslice), 0), _int64(theslice) + length, _int64(theslice)), 1
    step = theslice.step
    known_step = 1 if step is None else static_int(step)
    count = slice_length(theslice, length)
    length = _int64(length)
    if known_step is not None and known_step > 0:
        start = as_tensor_variable(np.int64(0))
        if theslice.start is not None:
            start = bound(theslice.start, length, start, length)
        return slice(start, start + (count - 1) * known_step + switch(ge(count, 1), 1, known_step), known_step), 1
    zero, minus_one = as_tensor_variable(np.int64(0)), as_tensor_variable(np.int64(-1))
    first = length - 1 if theslice.start is None else bound(theslice.start, length, minus_one, length - 1)
    if known_step is not None:
        # The same elements from the other end.
        low = first + (count - 1) * known_step
        return slice(maximum(low, zero), first + 1, -known_step), -1
    forward = zero if theslice.start is None else bound(theslice.start, length, zero, length)
    step = _int64(step)
    begin = switch(ge(step, 0), forward, maximum(first + (count - 1) * step, zero))
    end = switch(ge(step, 0), forward + (count - 1) * step + 1, first + 1)
    return slice(begin, switch(ge(count, 1), end, begin), abs_(step)), sgn(step)


# -- errors ---------------------------------------------------------------------------------------------------------


def check_and_reject_bool(args_el: Any) -> None:
    """Refuse masks in an index.

    Raises
    ------
    AdvancedBooleanIndexingError
        It is one, or holds one.

    Examples
    --------
    >>> check_and_reject_bool([1, slice(None)])
    """
    mask = isinstance(args_el, (bool, np.bool_)) or str(getattr(args_el, "dtype", "")) == "bool"
    if mask:
        raise AdvancedBooleanIndexingError(
            f"{args_el} is a mask, and whole numbers are needed here: take mask.nonzero(), the places where it is true"
        )
    if isinstance(args_el, (list, tuple)):
        for element in args_el:
            check_and_reject_bool(element)


def check_advanced_indexing_dimensions(input: TensorLike, idx_list: Sequence[Any]) -> None:
    """Check that an index fits the number of dimensions of a tensor, and constant masks its lengths.

    Raises
    ------
    IndexError
        There are more entries than dimensions, or a mask has other lengths.

    Examples
    --------
    >>> import theano.tensor as T
    >>> check_advanced_indexing_dimensions(T.dmatrix(), [slice(None), T.lvector()])
    """
    x = as_tensor_variable(input)
    axis = 0
    for entry in idx_list:
        if entry is None or isinstance(entry, Variable) and isinstance(entry.type, NoneTypeT):
            continue
        mask = not isinstance(entry, (slice, bool)) and str(getattr(entry, "dtype", "")) == "bool"
        covered = getattr(entry, "ndim", 1) if mask else 1
        if mask and axis + covered <= x.type.ndim:
            _check_mask(x, axis, entry)
        axis += covered
    if axis > x.type.ndim:
        raise IndexError(f"too many indices for array: {x} has {x.type.ndim} dimensions, but {axis} are indexed")


def _check_mask(x: Tensor, first: int, mask: TensorLike) -> None:
    value = mask.data if isinstance(mask, Constant) else mask
    if not isinstance(value, np.ndarray):
        return  # known at run time
    for i, n in enumerate(value.shape):
        known = 1 if x.type.broadcastable[first + i] else x.data.shape[first + i] if isinstance(x, Constant) else n
        if known != n:
            raise IndexError(
                f"boolean index did not match indexed array along dimension {first + i}; dimension is {known} but "
                f"corresponding boolean dimension is {n}"
            )
