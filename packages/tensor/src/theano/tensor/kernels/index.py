"""Parts of tensors read and written, and places found (``c/index.c``, ``c/advanced.c``, ``c/places.c``)."""

from __future__ import annotations

from typing import Any

from theano.graph.apply import Apply
from theano.graph.variable import Constant
from theano.lowering.accepts import ANYTHING, INT64, INTEGERS, Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.index.advanced import AdvancedSubtensor1, BaseAdvancedSubtensor, Nonzero, _AdvancedWrite
from theano.tensor.index.basic import IncSubtensor, Subtensor
from theano.tensor.index.ravel import RavelMultiIndex, UnravelIndex
from theano.tensor.kernels.common import VIEW_NS, dtype_of, ndim_of, ones_of, ready, works_in_place
from theano.tensor.transfer import PermuteRowElements

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
    return params


@ready("th_kernel_subtensor", work=VIEW_NS)
def subtensor_kernel(op: Any, node: Apply) -> list[int] | None:
    """Return the view that basic indexes (``op.idx_list``) select."""
    return _basic_index(op.idx_list, node, 1)


@ready("th_kernel_inc_subtensor")
def inc_subtensor_kernel(op: Any, node: Apply) -> list[int] | None:
    """Return x with y set in, or added to, a basic subtensor. ``op.set_instead_of_inc`` is read."""
    params = _basic_index(op.idx_list, node, 2)
    return None if params is None else [*_writing(op, node), *params]


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
            found: tuple[int, ...] = (_MASK, i)
        elif dtype in INTEGERS:
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


@ready("th_kernel_advanced_subtensor", work=1.0)
def advanced_subtensor_kernel(op: Any, node: Apply) -> list[int] | None:
    """Return the elements of x that the further inputs select together."""
    return _advanced_index(node, 1)


@ready("th_kernel_advanced_inc_subtensor", work=1.0)
def advanced_inc_subtensor_kernel(op: Any, node: Apply) -> list[int] | None:
    """Return x with y set in, or added to, the elements that the further inputs select together."""
    params = _advanced_index(node, 2)
    return None if params is None else [*_writing(op, node), *params]


@ready("th_kernel_nonzero")
def nonzero_kernel(op: Any, node: Apply) -> tuple[int, ...]:
    """Return the places of the elements that are not 0: a vector for each axis."""
    return ()


# -- places in flat arrays, and rows in another order -----------------------------------------------------


@ready("th_kernel_unravel", work=4.0)
def unravel_kernel(op: Any, node: Apply) -> tuple[int, ...]:
    """Return flat places as an index for each axis. ``op.order`` is read."""
    return (int(op.order == "F"),)


@ready("th_kernel_ravel", work=4.0)
def ravel_kernel(op: Any, node: Apply) -> tuple[int, ...]:
    """Return an index for each axis as flat places. ``op.mode`` and ``op.order`` are read."""
    return ("raise", "wrap", "clip").index(op.mode), int(op.order == "F")


@ready("th_kernel_permute_rows", work=2.0)
def permute_rows_kernel(op: Any, node: Apply) -> tuple[int, ...] | None:
    """Return the elements of each row in another order, or back in the old one."""
    x, order, _ = node.inputs
    return (ones_of(x), ones_of(order)) if ndim_of(x) else None


# -- the table ---------------------------------------------------------------------------------------------

_SELECTED = Accepts("x, *index -> part", dtypes={"index": ANYTHING}, same=("x part",))

register(
    Lowering(Subtensor, subtensor_kernel, Accepts(
        "x, *index -> part", dtypes={"index": INTEGERS}, ndim={"index": 0}, view=True,
    )),
    Lowering(IncSubtensor, inc_subtensor_kernel, Accepts(
        "x, y, *index -> new", dtypes={"index": INTEGERS}, ndim={"index": 0}, same=("x new",), converts=("y x",),
    )),
    Lowering(AdvancedSubtensor1, advanced_subtensor_kernel, _SELECTED),
    Lowering(BaseAdvancedSubtensor, advanced_subtensor_kernel, _SELECTED),
    Lowering(_AdvancedWrite, advanced_inc_subtensor_kernel, Accepts(
        "x, y, *index -> new", dtypes={"index": ANYTHING}, same=("x new",), converts=("y x",),
    )),
    Lowering(Nonzero, nonzero_kernel, Accepts("x -> first, *others", dtypes={"first": INT64, "others": INT64})),
    Lowering(UnravelIndex, unravel_kernel, Accepts(
        "places, lengths -> first, *others",
        dtypes={"places": INTEGERS, "lengths": INTEGERS, "first": INT64, "others": INT64},
    )),
    Lowering(RavelMultiIndex, ravel_kernel, Accepts(
        "*index -> places", dtypes={"index": INTEGERS, "places": INT64},
    )),
    Lowering(PermuteRowElements, permute_rows_kernel, Accepts(
        "x, order, back -> y", dtypes={"order": INTEGERS}, same=("x y",),
    )),
)  # fmt: skip
