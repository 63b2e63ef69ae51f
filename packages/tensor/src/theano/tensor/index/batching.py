"""Batching rules of indexing: a full slice in front, or, for indices that have a batch axis, the number of each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.tensor.batching.batched_node import BatchedNode, batches
from theano.tensor.convert import is_tensor
from theano.tensor.create.arange import arange
from theano.tensor.index.advanced import (
    AdvancedBooleanIncSubtensor,
    AdvancedBooleanSubtensor,
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
)
from theano.tensor.index.basic import IncSubtensor, Subtensor, fill_entries
from theano.tensor.index.chain import SubtensorChain
from theano.tensor.shape.scalars import tensor_from_scalar
from theano.tensor.type_other import NoneTypeT

if TYPE_CHECKING:
    from theano.scalar.annotations import Number
    from theano.tensor.index.advanced import BaseAdvancedIncSubtensor
    from theano.tensor.type import Tensor


@batches(Subtensor)
def _part(given: BatchedNode) -> Tensor | None:
    entries = _entries(given, 1)
    return None if entries is None else _read(given, entries)


@batches(SubtensorChain)
def _part_of_part(given: BatchedNode) -> Any:
    nodes = given.op.nodes(*given.node.inputs)
    (rows, *numbers), (many, *batched) = given.inputs, given.batched
    for node in nodes:
        n = len(node.inputs) - 1
        one = BatchedNode(node, [rows, *numbers[:n]], [many, *batched[:n]])
        numbers, batched = numbers[n:], batched[n:]
        if any(one.batched):
            rows, many = _part(one), True
        else:
            rows = node.op(*one.inputs)
        if rows is None:
            return None
    return rows


@batches(IncSubtensor)
def _written(given: BatchedNode) -> Tensor | None:
    op = given.op
    if not given.only(0, 1):
        entries = _entries(given, 2)
        writer = AdvancedIncSubtensor(set_instead_of_inc=op.set_instead_of_inc)
        return None if entries is None else _write(given, entries, writer)
    x, y, *numbers = given.inputs
    kept = given.ndim(0) - sum(not isinstance(e, slice) for e in op.idx_list)
    into = given.full(0)
    new = IncSubtensor((slice(None), *op.idx_list), set_instead_of_inc=op.set_instead_of_inc)
    return new(into, given.aligned(1, kept) if given.batched[1] else y, *numbers)


def _entries(given: BatchedNode, first: int) -> list[_Entry] | None:
    """Return the entries of a basic index, whose numbers are the inputs from ``first``; None if ends of slices move."""
    numbers = [_Number(v, many) for v, many in zip(given.inputs[first:], given.batched[first:], strict=True)]
    found: list[_Entry] = []
    for entry in fill_entries(given.op.idx_list, numbers):
        if isinstance(entry, slice):
            ends = (entry.start, entry.stop, entry.step)
            if any(end is not None and end.many for end in ends):
                return None
            found.append(_Entry(slice(*(None if end is None else _tensor(end.value) for end in ends)), False, 0))
        else:
            found.append(_Entry(_tensor(entry.value), entry.many, 0))
    return found


def _tensor(v: Number) -> Tensor:
    return v if is_tensor(v) else tensor_from_scalar(v)


class _Number:
    def __init__(self, value: Any, many: bool):
        self.value, self.many = value, many


class _Entry:
    """An entry of an index: what it is, whether it has a batch axis, and the dimensions of a row of it.

    A tensor of any dimensions is an array in the sense of NumPy; slices and None are not.
    """

    def __init__(self, value: Any, many: bool, ndim: int):
        self.value, self.many, self.ndim = value, many, ndim

    @property
    def is_array(self) -> bool:
        return is_tensor(self.value)

    @property
    def adds(self) -> int:
        """How many dimensions of the result it stands for, if it is no array: slices keep one, None adds one."""
        return 0 if self.is_array else 1


@batches(AdvancedSubtensor1, AdvancedSubtensor, AdvancedBooleanSubtensor)
def _taken(given: BatchedNode) -> Any:
    entries = _advanced_entries(given, 1)
    return None if entries is None else _read(given, entries)


@batches(AdvancedIncSubtensor1, AdvancedIncSubtensor, AdvancedBooleanIncSubtensor)
def _put(given: BatchedNode) -> Any:
    entries = _advanced_entries(given, 2)
    if entries is None:
        return None
    general = AdvancedIncSubtensor if isinstance(given.op, AdvancedIncSubtensor1) else type(given.op)
    return _write(given, entries, general(set_instead_of_inc=given.op.set_instead_of_inc))


def _advanced_entries(given: BatchedNode, first: int) -> list[_Entry] | None:
    """Return the entries of an advanced index; None where each row has a mask of its own, or a slice."""
    found = []
    masked = False
    for row, v, many in zip(given.node.inputs[first:], given.inputs[first:], given.batched[first:], strict=True):
        mask = is_tensor(row) and row.type.dtype == "bool"
        masked = masked or mask
        # A mask selects a list of places.
        found.append(_Entry(v, many, 1 if mask else getattr(row.type, "ndim", 0)))
    return None if masked and not given.only(0, first - 1) else found


class _Layout:
    """The positions of a part's axes, for one row and for all of them.

    The axes of arrays come where the first array stands, or in front of all where the arrays are apart.
    """

    def __init__(self, given: BatchedNode, entries: Sequence[_Entry], into: bool):
        arrays = [i for i, e in enumerate(entries) if e.is_array]
        together = arrays == list(range(arrays[0], arrays[-1] + 1)) if arrays else True
        #: Dimensions that the arrays have together, and how many dimensions come before these.
        self.width = max((entries[i].ndim for i in arrays), default=0)
        self.before = sum(e.adds for e in entries[: arrays[0]]) if arrays and together else 0
        moving = any(e.many for e in entries)
        values = [self._wide(e) for e in entries]
        if moving and (given.batched[0] or into):
            # Each row of the index is for that row of the tensor: one more array, which has all arrays' axes in front.
            number = arange(given.n).dimshuffle(0, *["x"] * self.width)
            self.index = [number, *values]
            self.batch, self.arrays = 0, 1
        elif moving:
            self.index = values
            self.batch, self.arrays = self.before, self.before + 1
        else:
            self.index = [slice(None), *values]
            self.batch = 0 if together else self.width
            self.arrays = self.before + 1 if together else 0

    def _wide(self, entry: _Entry) -> Any:
        """Return an array with its batch axis in front of the axes that all arrays have together."""
        v = entry.value
        if isinstance(getattr(v, "type", None), NoneTypeT):
            return None
        if not entry.many or entry.ndim == self.width:
            return v
        return v.dimshuffle(0, *["x"] * (self.width - entry.ndim), *range(1, entry.ndim + 1))

    def order(self, ndim: int) -> list[int]:
        """Return for each axis of all rows' parts, batch axis first, where the index puts it."""
        arrays = list(range(self.arrays, self.arrays + self.width))
        rest = [i for i in range(ndim) if i != self.batch and i not in arrays]
        return [self.batch, *rest[: self.before], *arrays, *rest[self.before :]]


def _read(given: BatchedNode, entries: list[_Entry]) -> Any:
    layout = _Layout(given, entries, into=False)
    part = given.inputs[0][tuple(layout.index)]
    order = layout.order(part.type.ndim)
    return part if order == list(range(part.type.ndim)) else part.dimshuffle(*order)


def _write(given: BatchedNode, entries: list[_Entry], writer: BaseAdvancedIncSubtensor) -> Any:
    layout = _Layout(given, entries, into=True)
    x = given.full(0)
    ndim = x[tuple(layout.index)].type.ndim
    y = given.aligned(1, ndim - 1)
    order = layout.order(ndim)
    back = [order.index(i) for i in range(ndim)]
    return writer(x, y if order == back == list(range(ndim)) else y.dimshuffle(*back), *layout.index)
