"""Parts of tensors read and written, and places found (``c/index.c``, ``c/advanced.c``, ``c/places.c``)."""

from __future__ import annotations

from typing import Any

from theano.codegen.kernel import Builtin
from theano.graph.apply import Apply
from theano.graph.variable import Constant
from theano.tensor.kernels.common import (
    VIEW_NS,
    are_known,
    builtin,
    dtype_of,
    is_convertible,
    is_integer,
    is_view,
    ndim_of,
    ones_of,
    same_dtype,
    works_in_place,
)

# How index.c names the numbers of an index, and it and advanced.c the kinds of entries.
_ABSENT, _KNOWN, _INPUT = 0, 1, 2
_NUMBER, _SLICE, _NEW, _ARRAY, _MASK = range(5)
_ENTRY = 7


# -- whole numbers and slices ----------------------------------------------------------------------------


def _basic_index(idx_list: Any, node: Apply, first: int) -> list[int] | None:
    """Return the index of a basic subtensor as index.c reads it; symbolic parts are inputs from ``first`` on.

    None where an entry is of a kind that only Python understands.
    """
    following = iter(range(first, len(node.inputs)))

    def part(value: Any) -> tuple[int, int]:
        if value is None:
            return (_ABSENT, 0)
        if isinstance(value, int):
            return (_KNOWN, int(value))
        # Anything else (a type, a marker) stands for the next input.
        return (_INPUT, next(following))

    params = [len(idx_list)]
    for entry in idx_list:
        if isinstance(entry, slice):
            params += [_SLICE, *part(entry.start), *part(entry.stop), *part(entry.step)]
        elif entry is None or entry is Ellipsis:
            return None
        else:
            params += [_NUMBER, *part(entry), 0, 0, 0, 0]
    numbers = node.inputs[first:]
    return params if all(ndim_of(v) == 0 and is_integer(dtype_of(v)) for v in numbers) else None


def subtensor_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the view that basic indexes (``op.idx_list``) select."""
    if not are_known(node) or not is_view(op):
        return None
    params = _basic_index(op.idx_list, node, 1)
    return None if params is None else builtin("th_kernel_subtensor", *params, work=VIEW_NS)


def inc_subtensor_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return x with y set in, or added to, a basic subtensor. ``op.set_instead_of_inc`` is read."""
    params = _basic_index(op.idx_list, node, 2) if _is_writable(node) and are_known(node) else None
    return None if params is None else builtin("th_kernel_inc_subtensor", *_writing(op, node), *params)


def _is_writable(node: Apply) -> bool:
    """Return whether the result has the type of the tensor, and what is written can be converted to it."""
    x, y = node.inputs[:2]
    return same_dtype(x, node.outputs[0]) and is_convertible(y, x)


def _writing(op: Any, node: Apply) -> tuple[int, int, int]:
    return int(works_in_place(op)), int(op.set_instead_of_inc), ones_of(node.inputs[1])


# -- arrays and masks ------------------------------------------------------------------------------------


def _advanced_index(node: Apply, first: int) -> list[int] | None:
    """Return the index that the inputs from ``first`` on make, as advanced.c reads it.

    None where a slice has ends that only the call knows: it is then a Python object.
    """
    entries = node.inputs[first:]
    params = [len(entries)]
    for i, entry in enumerate(entries, first):
        dtype = dtype_of(entry)
        if dtype == "bool":
            found = (_MASK, i)
        elif is_integer(dtype):
            found = (_ARRAY, i)
        elif isinstance(entry, Constant) and entry.data is None:
            found = (_NEW,)
        elif isinstance(entry, Constant) and isinstance(entry.data, slice):
            ends = (entry.data.start, entry.data.stop, entry.data.step)
            found = (_SLICE, *(n for end in ends for n in ((_ABSENT, 0) if end is None else (_KNOWN, int(end)))))
        else:
            return None
        params += [*found, *[0] * (_ENTRY - len(found))]
    return params


def _arrays(node: Apply, first: int) -> list[Any]:
    return [v for v in node.inputs[first:] if dtype_of(v)]


def advanced_subtensor_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the elements of x that the further inputs select together."""
    x, out = node.inputs[0], node.outputs[0]
    if not are_known(node, [x, out, *_arrays(node, 1)]) or not same_dtype(x, out):
        return None
    params = _advanced_index(node, 1)
    return None if params is None else builtin("th_kernel_advanced_subtensor", *params, work=1.0)


def advanced_inc_subtensor_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return x with y set in, or added to, the elements that the further inputs select together."""
    x, y = node.inputs[:2]
    if not are_known(node, [x, y, *node.outputs, *_arrays(node, 2)]) or not _is_writable(node):
        return None
    params = _advanced_index(node, 2)
    if params is None:
        return None
    return builtin("th_kernel_advanced_inc_subtensor", *_writing(op, node), *params, work=1.0)


def nonzero_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the places of the elements that are not 0: a vector for each axis."""
    if not are_known(node) or {dtype_of(v) for v in node.outputs} != {"int64"}:
        return None
    return builtin("th_kernel_nonzero")


# -- places in flat arrays, and rows in another order -----------------------------------------------------


def unravel_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return flat places as an index for each axis. ``op.order`` is read."""
    if not _all_integers(node) or not node.outputs:
        return None
    return builtin("th_kernel_unravel", int(op.order == "F"), work=4.0)


def ravel_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return an index for each axis as flat places. ``op.mode`` and ``op.order`` are read."""
    if not _all_integers(node):
        return None
    return builtin("th_kernel_ravel", ("raise", "wrap", "clip").index(op.mode), int(op.order == "F"), work=4.0)


def _all_integers(node: Apply) -> bool:
    places = {dtype_of(v) for v in node.outputs}
    return are_known(node) and all(is_integer(dtype_of(v)) for v in node.inputs) and places == {"int64"}


def permute_rows_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the elements of each row in another order, for inputs x, permutations, whether to undo them."""
    x, order, _ = node.inputs
    if not are_known(node) or not is_integer(dtype_of(order)) or not same_dtype(x, node.outputs[0]) or not ndim_of(x):
        return None
    return builtin("th_kernel_permute_rows", ones_of(x), ones_of(order), work=2.0)
