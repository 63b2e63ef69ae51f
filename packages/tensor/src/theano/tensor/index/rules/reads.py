"""Parts of tensors that are read: merged, moved towards the inputs, or read where they were written."""

from __future__ import annotations

from typing import Any

import numpy as np

from theano.graph import Apply, Constant, Variable
from theano.rewriting import P, Phase, Rest, local_rule, pattern_vars, phases, rule
from theano.rewriting.pattern import same
from theano.tensor.blas.dot import Dot
from theano.tensor.convert import static_int
from theano.tensor.create.alloc import Alloc
from theano.tensor.create.arange import ARange
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.index.advanced import (
    AdvancedBooleanIncSubtensor,
    AdvancedBooleanSubtensor,
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    slice_parts,
)
from theano.tensor.index.basic import IncSubtensor, Subtensor, fill_entries
from theano.tensor.index.chain import SubtensorChain
from theano.tensor.index.functions import set_subtensor
from theano.tensor.join.op import MakeVector
from theano.tensor.rules.predicates import conform, filled_with, only_used_by, scalar_of
from theano.tensor.shape.rules.layout import is_length_of
from theano.tensor.shape.scalars import ScalarFromTensor
from theano.tensor.type import TensorApply, TensorType
from theano.tensor.type_other import MakeSlice, NoneTypeT, SliceType

FULL = slice(None, None, None)


@local_rule([SubtensorChain], phases=("canonicalize", "specialize"), tags=("fast_run", "fast_compile"))
def local_subtensor_chain_apart(node: Apply[SubtensorChain]) -> Any:
    """In a graph that was rewritten before, a part of a part is taken apart: the other rules look at one index."""
    return [conform(node.op.expression(*node.inputs), node.outputs[0])]


def entries(node: Apply[Subtensor | IncSubtensor]) -> list[Any]:
    """Return the index of a node, its numbers put in: ints where they are known, variables where not."""
    first = 2 if isinstance(node.op, IncSubtensor) else 1

    def number(v: Any) -> Any:
        known = static_int(v)
        return v if known is None else known

    return fill_entries(node.op.idx_list, node.inputs[first:], number)


def is_known(entry: Any) -> bool:
    """Return whether an entry consists of numbers that are known."""
    parts = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,)
    return all(p is None or isinstance(p, (int, np.integer)) for p in parts)


def takes_all(entry: Any) -> bool:
    """Return whether an entry takes a whole axis, whatever its length."""
    if not isinstance(entry, slice) or not is_known(entry):
        return False
    return entry.start in (None, 0) and entry.stop is None and entry.step in (None, 1)


def _is_whole(x: Any, out: Any, fgraph: Any) -> bool:
    index = enumerate(entries(out.owner))
    return all(takes_all(e) or _goes_to_the_end(e, x, i, fgraph) or _covers(e, x, i, fgraph) for i, e in index)


x, value = pattern_vars("x value")
numbers = Rest("numbers")
rule("local_useless_subtensor", P(Subtensor)(x, numbers), x, when=_is_whole, phases=("canonicalize", "specialize"),
     doc="A part that is the whole: slices without ends, or up to the length that is there.")  # fmt: skip


def _goes_to_the_end(entry: Any, x: Any, i: int, fgraph: Any) -> bool:
    """Return whether a slice takes axis ``i`` of ``x`` from the first element to what is its length."""
    if not isinstance(entry, slice) or not isinstance(entry.stop, Variable):
        return False
    if not takes_all(slice(entry.start, None, entry.step)):
        return False
    stop = entry.stop
    if stop.owner is not None and isinstance(stop.owner.op, ScalarFromTensor):
        stop = stop.owner.inputs[0]
    return is_length_of(stop, x, i, fgraph)


@local_rule([AdvancedSubtensor1], phases=("canonicalize", "specialize"))
def local_useless_AdvancedSubtensor1(fgraph: Any, node: Apply) -> Any:
    """All rows, one after the other."""
    x, places = node.inputs
    feature = getattr(fgraph, "shape_feature", None)
    length = None if feature is None else static_int(feature.lengths(x)[0])
    if length is None or x.type != node.outputs[0].type:
        return None
    if isinstance(places, Constant):
        return [x] if list(places.data) == list(range(length)) else None
    counted = places.owner
    if counted is None or not isinstance(counted.op, ARange):
        return None
    return [x] if [static_int(v) for v in counted.inputs] == [0, length, 1] else None


def _covers(entry: Any, x: Any, i: int, fgraph: Any) -> bool:
    """Return whether a slice from the first element ends no earlier than axis ``i`` of ``x``, of known length."""
    feature = getattr(fgraph, "shape_feature", None)
    if feature is None or not isinstance(entry, slice) or not takes_all(slice(entry.start, None, entry.step)):
        return False
    length = static_int(feature.lengths(x)[i])
    return length is not None and is_known(entry) and entry.stop >= length


@local_rule([Subtensor], phases=("canonicalize",))
def local_useless_slice(node: TensorApply[Subtensor]) -> Any:
    """Slices of whole axes at the end of an index say nothing."""
    index = entries(node)
    kept = list(index)
    while kept and takes_all(kept[-1]):
        kept.pop()
    if len(kept) == len(index) or not kept:
        return None
    return [conform(node.inputs[0][tuple(kept)], node.outputs[0])]


@local_rule([Subtensor], phases=("canonicalize", "specialize"), tags=("fast_run", "fast_compile_gpu"))
def local_subtensor_make_vector(node: Apply[Subtensor]) -> Any:
    """An element of a vector of scalars is that scalar; a slice is a shorter vector."""
    made: Any = node.inputs[0].owner
    if made is None or not isinstance(made.op, MakeVector):
        return None
    (entry,) = entries(node)
    if not is_known(entry):
        return None
    if isinstance(entry, slice):
        return [conform(made.op(*made.inputs[entry]), node.outputs[0])]
    if not -len(made.inputs) <= entry < len(made.inputs):
        return None  # an error, which belongs to run time
    return [conform(made.inputs[entry], node.outputs[0])]


@local_rule([AdvancedSubtensor1], phases=("canonicalize", "specialize"), tags=("fast_run", "fast_compile_gpu"))
def local_places_of_make_vector(node: Apply) -> Any:
    """Elements of a vector of scalars at known places are a vector of these."""
    made, places = node.inputs[0].owner, node.inputs[1]
    if made is None or not isinstance(made.op, MakeVector) or not isinstance(places, Constant):
        return None
    if not all(-len(made.inputs) <= i < len(made.inputs) for i in places.data):
        return None  # an error, which belongs to run time
    return [conform(made.op(*[made.inputs[i] for i in places.data]), node.outputs[0])]


@local_rule([Subtensor], phases=("canonicalize",), tags=("fast_run", "fast_compile"))
def local_subtensor_lift(node: Apply[Subtensor]) -> Any:
    """A part of an element-wise result is computed from the parts of the inputs, if nobody wants the rest."""
    x: Any = node.inputs[0]
    inner = x.owner
    if inner is None or scalar_of(inner) is None or len(inner.outputs) != 1 or not only_used_by(x, node):
        return None
    index = entries(node)
    # The shape must come from inputs that are cut themselves, or from none: then nothing is lost.
    if any(v.type.broadcastable != x.type.broadcastable and not all(v.type.broadcastable) for v in inner.inputs):
        return None
    return [conform(inner.op(*[_same_part(v, x, index) for v in inner.inputs]), node.outputs[0])]


def _same_part(v: Any, x: Any, index: list[Any]) -> Any:
    """Return the part of an input that goes into a part of the result ``x``."""
    local: list[Any] = []
    for axis, entry in enumerate(index):
        # An input that is repeated along an axis is the same at every place of it.
        stretched = v.type.broadcastable[axis] and not x.type.broadcastable[axis]
        local.append((FULL if isinstance(entry, slice) else 0) if stretched else entry)
    return v if all(isinstance(e, slice) and takes_all(e) for e in local) else v[tuple(local)]


@local_rule([Subtensor], phases=("canonicalize", "specialize"))
def local_subtensor_merge(node: Apply[Subtensor]) -> Any:
    """A part of a part is one part, where the numbers are known and do not count from the end."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Subtensor):
        return None
    first, second = entries(inner), entries(node)
    merged: list[Any] = []
    rest = list(second)
    for entry in first:
        if not isinstance(entry, slice):
            merged.append(entry)
            continue
        if not rest:
            merged.append(entry)
            continue
        one = _compose(entry, rest.pop(0))
        if one is None:
            return None
        merged.append(one)
    return [conform(inner.inputs[0][tuple(merged + rest)], node.outputs[0])]


phases.register("subtensor_chain", Phase("subtensor_chain", "out_to_in"), 102, "fast_run")


@local_rule([Subtensor], phases=("subtensor_chain",))
def local_subtensor_chain(node: Apply[Subtensor]) -> Any:
    """A part of a part that nobody else reads is one view, also where the index depends on lengths.

    It comes after everything that looks at subtensors, and after what places nodes on other targets.
    """
    x: Any = node.inputs[0]
    inner = x.owner
    if inner is None or not isinstance(inner.op, Subtensor) or not only_used_by(x, node):
        return None
    if type(inner.inputs[0].type) is not TensorType:
        return None
    parts = [part.idx_list for v in (inner, node) for part in getattr(v.op, "parts", (v.op,))]
    return [conform(SubtensorChain(parts)(*inner.inputs, *node.inputs[1:]), node.outputs[0])]


def _reverses(entry: Any) -> bool:
    """Return whether an entry takes a whole axis backwards."""
    return isinstance(entry, slice) and is_known(entry) and (entry.start, entry.stop, entry.step) == (None, None, -1)


def _from_the_front(entry: Any) -> bool:
    """Return whether a slice goes forward from a known place, wherever it ends."""
    if not isinstance(entry, slice) or not is_known(slice(entry.start, None, entry.step)):
        return False
    return (entry.start or 0) >= 0 and (entry.step or 1) > 0


def _compose(a: Any, b: Any) -> Any:
    """Return the entry that does what ``a``, then ``b`` do, or None where that depends on the length of the axis."""
    if takes_all(b):
        return a
    if takes_all(a):
        return b
    if _reverses(a):
        # From the other end: an index that was out of range is so still.
        return FULL if _reverses(b) else -1 - b if is_known(b) and not isinstance(b, slice) else None
    if isinstance(b, slice) and b.stop is None and all(_from_the_front(e) for e in (a, b)) and a.step in (None, 1):
        return slice((a.start or 0) + (b.start or 0), a.stop, b.step)
    if not is_known(a) or not is_known(b) or a.step not in (None, 1):
        return None
    start = a.start or 0
    if start < 0 or (a.stop is not None and a.stop < 0):
        return None
    if not isinstance(b, slice):
        # Within the slice for certain only if the slice has no end; otherwise the check would be lost.
        return start + b if b >= 0 and a.stop is None else None
    if b.step is not None and b.step < 1 or (b.start or 0) < 0 or (b.stop is not None and b.stop < 0):
        return None
    stops = [n for n in (a.stop, None if b.stop is None else start + b.stop) if n is not None]
    return slice(start + (b.start or 0), min(stops) if stops else None, b.step)


def _reads_what_was_set(read: Any, written: Any, numbers: Any, there: Any, value: Any, out: Any, fgraph: Any) -> bool:
    if written.idx_list != read.idx_list or len(there) != len(numbers):
        return False
    if not all(same(a, b) for a, b in zip(there, numbers, strict=True)):
        return False
    return value.type == out.type and same_shape(fgraph, value, out)


_written = P(IncSubtensor, "written", set_instead_of_inc=True)(x, value, Rest("there"))
rule("local_subtensor_inc_subtensor", P(Subtensor, "read")(_written, numbers), value, when=_reads_what_was_set,
     phases=("canonicalize", "specialize"), doc="What was just set at a place is what is read there.")  # fmt: skip


def _ends_before(read: Any, written: Any) -> bool:
    """Return whether of two slices the first takes the front of an axis, and the second begins later."""
    if not isinstance(read, slice) or not is_known(read) or not _from_the_front(written):
        return False
    if read.start or read.step not in (None, 1) or read.stop is None:
        return False
    return bool(0 <= read.stop <= (written.start or 0))


@local_rule([Subtensor], phases=("canonicalize", "specialize"))
def local_subtensor_before_inc_subtensor(fgraph: Any, node: Apply[Subtensor]) -> Any:
    """What is written further down an axis is not seen at its front."""
    made: Any = node.inputs[0].owner
    if made is None or not isinstance(made.op, IncSubtensor):
        return None
    first = [each[0] if each else None for each in (entries(node), entries(made))]
    x, value, *there = made.inputs
    # The value has to fit for certain: otherwise the error would be lost.
    if not _ends_before(*first) or not same_shape(fgraph, Subtensor(made.op.idx_list)(x, *there), value):
        return None
    return [conform(node.op(x, *node.inputs[1:]), node.outputs[0])]


def same_shape(fgraph: Any, a: Any, b: Any) -> bool:
    """Return whether two variables have one shape for certain: a value that is written may also be repeated."""
    feature = getattr(fgraph, "shape_feature", None)
    return all(a.type.broadcastable) or (feature is not None and feature.same_shape(a, b))


@local_rule([Subtensor], phases=("canonicalize", "specialize"))
def local_subtensor_of_alloc(fgraph: Any, node: Apply[Subtensor]) -> Any:
    """A part of a repeated number is that number repeated less often."""
    made: Any = node.inputs[0].owner
    if made is None or not isinstance(made.op, Alloc) or not all(made.inputs[0].type.broadcastable):
        return None
    feature = getattr(fgraph, "shape_feature", None)
    out: Any = node.outputs[0]
    if feature is None:
        return None
    for entry, length in zip(entries(node), made.inputs[1:], strict=False):
        known = static_int(length)
        # A number may lie outside, which has to be found out.
        if not isinstance(entry, slice) and (known is None or not is_known(entry) or not -known <= entry < known):
            return None
    value = made.inputs[0]
    if value.type.ndim:
        value = value.dimshuffle()
    lengths = feature.lengths(out)
    return [conform(made.op(value, *lengths), out)]


def _slices_first(index: Any) -> tuple[tuple[Any, ...], list[Any]] | None:
    """Return an index as its slices, and what is left when they are taken.

    It is None where all ends are numbers, and where a slice is a value of its own whose ends no expression gives.
    """
    slices = [e for e in index if isinstance(e.type, SliceType) and not isinstance(e, Constant)]
    if not slices or not all(e.owner is not None and isinstance(e.owner.op, MakeSlice) for e in slices):
        return None
    first: list[Any] = []
    rest: list[Any] = []
    for entry in index:
        if isinstance(entry.type, SliceType):
            first.append(slice_parts(entry))
            rest.append(FULL)
            continue
        rest.append(entry)
        if not isinstance(entry.type, NoneTypeT):
            first += [FULL] * (entry.type.ndim if entry.type.dtype == "bool" else 1)
    return tuple(first), rest


@local_rule([AdvancedSubtensor, AdvancedBooleanSubtensor], phases=("specialize",))
def local_slices_before_arrays(node: Apply) -> Any:
    """Slices with symbolic ends are a view taken first: what is left is an index of arrays and whole axes, in C."""
    x: Any = node.inputs[0]
    found = _slices_first(node.inputs[1:])
    return None if found is None else [conform(node.op(x[found[0]], *found[1]), node.outputs[0])]


@local_rule([AdvancedIncSubtensor, AdvancedBooleanIncSubtensor], phases=("specialize",))
def local_slices_before_writes(node: Apply) -> Any:
    """The same for what is written: into a view of the slices, which takes its place in the whole."""
    x: Any = node.inputs[0]
    found = _slices_first(node.inputs[2:])
    if found is None:
        return None
    part = x[found[0]]
    return [conform(set_subtensor(part, node.op(part, node.inputs[1], *found[1])), node.outputs[0])]


@local_rule([Subtensor], phases=("specialize",))
def local_subtensor_remove_broadcastable_index(node: Apply[Subtensor]) -> Any:
    """The only element along an axis of length 1 is what is left when the axis is dropped."""
    x: Any = node.inputs[0]
    index = entries(node)
    dropped = [a for a, e in enumerate(index) if not isinstance(e, slice)]
    if not dropped or not all(x.type.broadcastable[a] and is_known(index[a]) and index[a] in (0, -1) for a in dropped):
        return None
    if not all(takes_all(e) for e in index if isinstance(e, slice)):
        return None
    kept = [a for a in range(x.type.ndim) if a not in dropped]
    return [conform(DimShuffle(x.type.broadcastable, kept)(x), node.outputs[0])]


@local_rule([DimShuffle], phases=("uncanonicalize",))
def local_dimshuffle_subtensor(node: TensorApply[DimShuffle]) -> Any:
    """An axis of length 1 that a part keeps only to be dropped afterwards is dropped by the index."""
    part: Any = node.inputs[0].owner
    if part is None or not isinstance(part.op, Subtensor):
        return None
    x: Any = part.inputs[0]
    index = entries(part)
    index += [FULL] * (x.type.ndim - len(index))
    sliced = [a for a, e in enumerate(index) if isinstance(e, slice)]
    order = node.op.new_order
    gone = [d for d in range(len(sliced)) if d not in order]
    if not gone or not all(x.type.broadcastable[sliced[d]] and takes_all(index[sliced[d]]) for d in gone):
        return None
    for d in gone:
        index[sliced[d]] = 0
    left = [d for d in range(len(sliced)) if d not in gone]
    new: Any = x[tuple(index)]
    order = tuple(d if isinstance(d, str) else left.index(d) for d in order)
    return [conform(new if order == tuple(range(new.type.ndim)) else new.dimshuffle(*order), node.outputs[0])]


@local_rule([Subtensor], keeps="close", phases=("stabilize",))
def local_subtensor_of_dot(node: Apply[Subtensor]) -> Any:
    """A part of a product is the product of a part: of the rows of the first factor, the columns of the second."""
    product: Any = node.inputs[0].owner
    if product is None or not isinstance(product.op, Dot) or not only_used_by(node.inputs[0], node):
        return None
    a, b = product.inputs
    index = entries(node)
    rows = a.type.ndim - 1
    of_a, of_b = index[:rows], index[rows:]
    a = a[tuple(of_a)] if of_a else a
    if of_b:
        # The columns of a matrix; of a vector there is nothing left to take.
        b = b[(FULL, *of_b)]
    return [conform(product.op(a, b), node.outputs[0])]


@local_rule([AdvancedSubtensor1], keeps="close", phases=("stabilize",))
def local_adv_sub1_adv_inc_sub1(node: Apply) -> Any:
    """Rows that are read where they were just set, at places that are known and differ, are what was set.

    Rows that were added to zeros count as set: a negative zero among them stays one.
    """
    written: Any = node.inputs[0].owner
    places: Any = node.inputs[1]
    if written is None or not isinstance(written.op, AdvancedIncSubtensor1):
        return None
    x, value = written.inputs[:2]
    if not written.op.set_instead_of_inc and not filled_with(x, 0) or value.type != node.outputs[0].type:
        return None
    if not isinstance(places, Constant) or not isinstance(x, Constant) or not places.equals(written.inputs[2]):
        return None  # a place may lie outside, which has to be found out
    where = np.where(places.data < 0, places.data + len(x.data), places.data)
    inside = bool(np.all((where >= 0) & (where < len(x.data))))
    return [value] if inside and len(np.unique(where)) == len(where) else None
