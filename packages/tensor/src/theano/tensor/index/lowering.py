"""Parts of tensors read and written, and places found (``c/index.c``, ``c/advanced.c``, ``c/places.c``)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.graph.variable import Constant
from theano.lowering.accepts import ANYTHING, INT64, INTEGERS, Accepts
from theano.lowering.table import Lowering, register
from theano.lowering.targets import ANY
from theano.tensor.index.advanced import AdvancedSubtensor1, BaseAdvancedSubtensor, Nonzero, _AdvancedWrite
from theano.tensor.index.basic import IncSubtensor, Subtensor
from theano.tensor.index.chain import SubtensorChain
from theano.tensor.index.permutation import PermuteRowElements
from theano.tensor.index.ravel import RavelMultiIndex, UnravelIndex
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import VIEW_NS, dtype_of, ndim_of, nothing, ones_of, ready, works_in_place
from theano.tensor.kernels.parameters import Bound, End, IndexEntry, IndexKind, OutOfRange

if TYPE_CHECKING:
    from theano.graph.op import Op
    from theano.scalar.type import Scalar

# -- whole numbers and slices ----------------------------------------------------------------------------

_ABSENT, _ONE = Bound(how=End.ABSENT, value=0), Bound(how=End.KNOWN, value=1)


def _entry(kind: IndexKind, start: Bound = _ABSENT, stop: Bound = _ABSENT, step: Bound = _ABSENT) -> IndexEntry:
    return IndexEntry(kind=kind, start=start, stop=stop, step=step)


# Programs index by the same few numbers again and again: each is packed once.
@lru_cache(256)
def _known(value: int | None) -> Bound:
    return _ABSENT if value is None else _ONE if value == 1 else Bound(how=End.KNOWN, value=int(value))


@lru_cache(256)
def _input(number: int) -> Bound:
    return Bound(how=End.INPUT, value=number)


def _basic_index(idx_list: tuple[slice | Scalar, ...], node: Apply, first: int) -> list[IndexEntry] | None:
    """Return the index of a basic subtensor; symbolic parts are inputs from ``first`` on.

    None where an entry is of a kind that only Python understands.
    """
    return _with_inputs(idx_list, iter(range(first, len(node.inputs))))


def _with_inputs(idx_list: Any, following: Iterator[int]) -> list[IndexEntry] | None:
    def bound(value: object) -> Bound:
        # Anything else (a type, a marker) stands for the next input.
        return _known(value) if value is None or isinstance(value, int) else _input(next(following))

    index = []
    for entry in idx_list:
        if isinstance(entry, slice):
            index.append(_entry(IndexKind.SLICE, bound(entry.start), bound(entry.stop), bound(entry.step)))
        elif entry is None or entry is Ellipsis:
            return None
        else:
            index.append(_entry(IndexKind.NUMBER, bound(entry)))
    return index


@ready("th_kernel_subtensor", work=VIEW_NS)
def subtensor_kernel(op: Subtensor, node: Apply) -> parameters.SubtensorParams | None:
    """Return the view that basic indexes (``op.idx_list``) select."""
    index = _basic_index(op.idx_list, node, 1)
    return None if index is None else parameters.SubtensorParams(index=index)


@ready("th_kernel_subtensor", work=VIEW_NS)
def subtensor_chain_kernel(op: SubtensorChain, node: Apply) -> parameters.SubtensorParams | None:
    """Return the view of a view (``op.parts``)."""
    following = iter(range(1, len(node.inputs)))
    index: list[IndexEntry] = []
    for part in op.parts:
        found = _with_inputs(part.idx_list, following)
        if found is None:
            return None
        index += [_entry(IndexKind.NEXT)] if index else []
        index += found
    return parameters.SubtensorParams(index=index)


@ready("th_kernel_inc_subtensor")
def inc_subtensor_kernel(op: IncSubtensor, node: Apply) -> parameters.IncSubtensorParams | None:
    """Return x with y set in, or added to, a basic subtensor. ``op.set_instead_of_inc`` is read."""
    index = _basic_index(op.idx_list, node, 2)
    return None if index is None else parameters.IncSubtensorParams(write=_write(op, node), index=index)


def _write(op: Any, node: Apply) -> parameters.Write:
    sets, ones = bool(op.set_instead_of_inc), ones_of(node.inputs[1])
    return parameters.Write(in_place=works_in_place(op), sets=sets, ones=ones)


# -- arrays and masks ------------------------------------------------------------------------------------


def _advanced_index(node: Apply, first: int) -> list[IndexEntry] | None:
    """Return the index that the inputs from ``first`` on make.

    None where a slice has ends that only the call knows: it is then a Python object.
    """
    index = []
    for i, entry in enumerate(node.inputs[first:], first):
        dtype = dtype_of(entry)
        if dtype == "bool":
            index.append(_entry(IndexKind.MASK, _input(i)))
        elif dtype in INTEGERS:
            index.append(_entry(IndexKind.ARRAY, _input(i)))
        elif isinstance(entry, Constant) and entry.data is None:
            index.append(_entry(IndexKind.NEW))
        elif isinstance(entry, Constant) and isinstance(entry.data, slice):
            ends = (entry.data.start, entry.data.stop, entry.data.step)
            index.append(_entry(IndexKind.SLICE, *map(_known, ends)))
        else:
            return None
    return index


@ready("th_kernel_advanced_subtensor", work=1.0)
def advanced_subtensor_kernel(op: Op, node: Apply) -> parameters.SubtensorParams | None:
    """Return the elements of x that the further inputs select together."""
    index = _advanced_index(node, 1)
    return None if index is None else parameters.SubtensorParams(index=index)


@ready("th_kernel_advanced_inc_subtensor", work=1.0)
def advanced_inc_subtensor_kernel(op: Op, node: Apply) -> parameters.IncSubtensorParams | None:
    """Return x with y set in, or added to, the elements that the further inputs select together."""
    index = _advanced_index(node, 2)
    return None if index is None else parameters.IncSubtensorParams(write=_write(op, node), index=index)


@ready("th_kernel_nonzero")
def nonzero_kernel(op: Nonzero, node: Apply) -> Parameters:
    """Return the places of the elements that are not 0: a vector for each axis."""
    return nothing


# -- places in flat arrays, and rows in another order -----------------------------------------------------


@ready("th_kernel_unravel", work=4.0)
def unravel_kernel(op: UnravelIndex, node: Apply) -> parameters.OrderParams:
    """Return flat places as an index for each axis. ``op.order`` is read."""
    return parameters.OrderParams(first_fastest=op.order == "F")


@ready("th_kernel_ravel", work=4.0)
def ravel_kernel(op: RavelMultiIndex, node: Apply) -> parameters.RavelParams:
    """Return an index for each axis as flat places. ``op.mode`` and ``op.order`` are read."""
    return parameters.RavelParams(mode=OutOfRange[op.mode.upper()], first_fastest=op.order == "F")


@ready("th_kernel_permute_rows", work=2.0)
def permute_rows_kernel(op: PermuteRowElements, node: Apply) -> parameters.PermuteRowsParams | None:
    """Return the elements of each row in another order, or back in the old one."""
    x, order, _ = node.inputs
    return parameters.PermuteRowsParams(x_ones=ones_of(x), order_ones=ones_of(order)) if ndim_of(x) else None


# -- the table ---------------------------------------------------------------------------------------------

_VIEWED = Accepts("x, *index -> part", dtypes={"index": INTEGERS}, ndim={"index": 0}, view=True)
_SELECTED = Accepts("x, *index -> part", dtypes={"index": ANYTHING}, same=("x part",))



def _numbers(node: Apply) -> range:
    return range(1, len(node.inputs))


def _numbers_of_write(node: Apply) -> range:
    return range(2, len(node.inputs))


register(
    Lowering(Subtensor, subtensor_kernel, _VIEWED, target=ANY, on_host=_numbers, selects=True),
    Lowering(SubtensorChain, subtensor_chain_kernel, _VIEWED, target=ANY, on_host=_numbers, selects=True),
    Lowering(IncSubtensor, inc_subtensor_kernel, Accepts(
        "x, y, *index -> new", dtypes={"index": INTEGERS}, ndim={"index": 0}, same=("x new",), converts=("y x",),
    ), target=ANY, on_host=_numbers_of_write),
    Lowering(AdvancedSubtensor1, advanced_subtensor_kernel, _SELECTED, target=ANY, on_host=_numbers, selects=True),
    Lowering(BaseAdvancedSubtensor, advanced_subtensor_kernel, _SELECTED, target=ANY, on_host=_numbers, selects=True),
    Lowering(_AdvancedWrite, advanced_inc_subtensor_kernel, Accepts(
        "x, y, *index -> new", dtypes={"index": ANYTHING}, same=("x new",), converts=("y x",),
    ), target=ANY, on_host=_numbers_of_write),
    Lowering(Nonzero, nonzero_kernel, Accepts(
        "x -> first, *others", dtypes={"first": INT64, "others": INT64}, ndim={"first": 1},
    )),
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
