"""Parts of tensors that are read: merged, moved towards the inputs, or read where they were written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import Constant, Variable
from theano.rewriting import P, Phase, Rest, Var, pattern_vars, phases, rule
from theano.rewriting.pattern import same
from theano.tensor.blas.dot import Dot
from theano.tensor.convert import static_int
from theano.tensor.create.alloc import Alloc
from theano.tensor.create.arange import ARange
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
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
from theano.tensor.index.functions import set_subtensor
from theano.tensor.index.lengths import slice_parts
from theano.tensor.join.op import MakeVector
from theano.tensor.rules.predicates import filled_with, is_only_output
from theano.tensor.shape.basic import Rebroadcast
from theano.tensor.shape.rules.layout import is_length_of
from theano.tensor.shape.scalars import ScalarFromTensor
from theano.tensor.type import TensorType
from theano.tensor.type_other import MakeSlice, NoneTypeT, SliceType

if TYPE_CHECKING:
    from theano.graph.fgraph import FunctionGraph
    from theano.scalar.annotations import Number
    from theano.tensor.annotations import TensorLike
    from theano.tensor.index.advanced import BaseAdvancedIncSubtensor, BaseAdvancedSubtensor
    from theano.tensor.type import Tensor

FULL = slice(None, None, None)


x, value = pattern_vars("x value")
numbers = Rest("numbers")
read = P(Subtensor, "op")(x, numbers)
EVERYWHERE = ("canonicalize", "specialize")

rule("local_subtensor_chain_apart", P(SubtensorChain, "op")(x, numbers),
     lambda op, x, numbers: op.expression(x, *numbers), phases=EVERYWHERE, tags=("fast_run", "fast_compile"),
     doc="In a graph that was rewritten before, a part of a part is taken apart: the other rules look at one index.",
)  # fmt: skip


def entries(op: IncSubtensor | Subtensor, numbers: Any) -> list[Any]:
    """Return the index of a read or write, its numbers put in: ints where they are known, variables where not."""

    def number(v: Number) -> Number | int:
        known = static_int(v)
        return v if known is None else known

    return fill_entries(op.idx_list, numbers, number)


def is_known(entry: int | slice) -> bool:
    """Return whether an entry consists of numbers that are known."""
    parts = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,)
    return all(p is None or isinstance(p, (int, np.integer)) for p in parts)


def takes_all(entry: Number | int | slice) -> bool:
    """Return whether an entry takes a whole axis, whatever its length."""
    if not isinstance(entry, slice) or not is_known(entry):
        return False
    return entry.start in (None, 0) and entry.stop is None and entry.step in (None, 1)


def _is_whole(op: Subtensor, x: Tensor, numbers: tuple[Number, ...], fgraph: FunctionGraph) -> bool:
    index = enumerate(entries(op, numbers))
    return all(takes_all(e) or _goes_to_the_end(e, x, i, fgraph) or _covers(e, x, i, fgraph) for i, e in index)


rule("local_useless_subtensor", read, x, when=_is_whole, phases=EVERYWHERE,
     doc="A part that is the whole: slices without ends, or up to the length that is there.")  # fmt: skip


def _goes_to_the_end(entry: Number | int | slice, x: Tensor, i: int, fgraph: FunctionGraph) -> bool:
    """Return whether a slice takes axis ``i`` of ``x`` from the first element to what is its length."""
    if not isinstance(entry, slice) or not isinstance(entry.stop, Variable):
        return False
    if not takes_all(slice(entry.start, None, entry.step)):
        return False
    stop = entry.stop
    if stop.owner is not None and isinstance(stop.owner.op, ScalarFromTensor):
        stop = stop.owner.inputs[0]
    return is_length_of(stop, x, i, fgraph)


def _are_all_rows(x: Tensor, places: Tensor, out: Tensor, fgraph: FunctionGraph) -> bool:
    feature = getattr(fgraph, "shape_feature", None)
    length = None if feature is None else static_int(feature.lengths(x)[0])
    if length is None or x.type != out.type:
        return False
    if isinstance(places, Constant):
        return list(places.data) == list(range(length))
    counted = places.owner
    return (
        counted is not None
        and isinstance(counted.op, ARange)
        and [static_int(v) for v in counted.inputs] == [0, length, 1]
    )


places = Var("places")
rule("local_useless_AdvancedSubtensor1", P(AdvancedSubtensor1)(x, places), x, when=_are_all_rows, phases=EVERYWHERE,
     doc="All rows, one after the other.")  # fmt: skip


def _covers(entry: Any, x: Variable, i: int, fgraph: object) -> bool:
    """Return whether a slice from the first element ends no earlier than axis ``i`` of ``x``, of known length."""
    feature = getattr(fgraph, "shape_feature", None)
    if feature is None or not isinstance(entry, slice) or not takes_all(slice(entry.start, None, entry.step)):
        return False
    length = static_int(feature.lengths(x)[i])
    return length is not None and is_known(entry) and entry.stop >= length


def _without_whole_axes(op: Subtensor, x: Tensor, numbers: tuple[Number, ...]) -> Any:
    index = entries(op, numbers)
    kept = list(index)
    while kept and takes_all(kept[-1]):
        kept.pop()
    return x[tuple(kept)] if 0 < len(kept) < len(index) else None


rule("local_useless_slice", read, _without_whole_axes, doc="Slices of whole axes at the end of an index say nothing.")


scalars = P(MakeVector, "made")(Rest("members"))


def _chosen(op: Subtensor, numbers: tuple[Number, ...], made: MakeVector, members: tuple[Tensor, ...]) -> Tensor | None:
    (entry,) = entries(op, numbers)
    if not is_known(entry):
        return None
    if isinstance(entry, slice):
        return made(*members[entry])
    # Outside is an error, which belongs to run time.
    return members[entry] if -len(members) <= entry < len(members) else None


rule("local_subtensor_make_vector", P(Subtensor, "op")(scalars, numbers), _chosen, phases=EVERYWHERE,
     tags=("fast_run", "fast_compile_gpu"),
     doc="An element of a vector of scalars is that scalar; a slice is a shorter vector.")  # fmt: skip


def _lie_inside(members: tuple[Tensor, ...], places: Tensor) -> bool:
    # Outside is an error, which belongs to run time.
    return isinstance(places, Constant) and all(-len(members) <= i < len(members) for i in places.data)


rule("local_places_of_make_vector", P(AdvancedSubtensor1)(scalars, places),
     lambda made, members, places: made(*[members[i] for i in places.data]), when=_lie_inside, phases=EVERYWHERE,
     tags=("fast_run", "fast_compile_gpu"),
     doc="Elements of a vector of scalars at known places are a vector of these.")  # fmt: skip


def _part_of_inputs(
    op: Subtensor, numbers: tuple[Number, ...], f: Elemwise, inputs: tuple[Tensor, ...], whole: Tensor
) -> Any:
    # The shape must come from inputs that are cut themselves, or from none: then nothing is lost.
    if any(v.type.broadcastable != whole.type.broadcastable and not all(v.type.broadcastable) for v in inputs):
        return None
    index = entries(op, numbers)
    return f(*[_same_part(v, whole, index) for v in inputs])


_element_wise = P(Elemwise, "f", inplace_pattern={})(Rest("inputs")).where(is_only_output).single_use()
rule("local_subtensor_lift", P(Subtensor, "op")(_element_wise.named("whole"), numbers), _part_of_inputs,
     tags=("fast_run", "fast_compile"),
     doc="A part of an element-wise result is computed from the parts of the inputs, if the rest is unused.",
)  # fmt: skip


def _same_part(v: Tensor, x: Tensor, index: list[Number | int | slice]) -> Tensor:
    """Return the part of an input that goes into a part of the result ``x``."""
    local: list[Number | int | slice] = []
    for axis, entry in enumerate(index):
        # An input that is repeated along an axis is the same at every place of it.
        stretched = v.type.broadcastable[axis] and not x.type.broadcastable[axis]
        local.append((FULL if isinstance(entry, slice) else 0) if stretched else entry)
    return v if all(isinstance(e, slice) and takes_all(e) for e in local) else v[tuple(local)]


def _merged(op: Subtensor, numbers: tuple[Number, ...], inner: Subtensor, there: tuple[Number, ...], x: Tensor) -> Any:
    merged: list[int | slice] = []
    rest = entries(op, numbers)
    for entry in entries(inner, there):
        one = _compose(entry, rest.pop(0)) if rest and isinstance(entry, slice) else entry
        if one is None:
            return None
        merged.append(one)
    return x[tuple(merged + rest)]


part = P(Subtensor, "inner")(x, Rest("there"))
part_of_part = P(Subtensor, "op")(part, numbers)
rule("local_subtensor_merge", part_of_part, _merged, phases=EVERYWHERE,
     doc="A part of a part is one part, where the numbers are known and do not count from the end.")  # fmt: skip


def _only_element(op: Subtensor, numbers: tuple[Number, ...], x: Tensor) -> Tensor | None:
    index = entries(op, numbers)
    if x.type.ndim != 1 or not isinstance(index[0], slice) or not is_known(index[0]):
        return None
    start, stop, step = index[0].start or 0, index[0].stop, index[0].step
    # Outside is an error in either form.
    return x[start].dimshuffle("x") if start >= 0 and stop == start + 1 and step in (None, 1) else None


rule("local_subtensor_of_one", P(Rebroadcast)(read), _only_element, phases=EVERYWHERE,
     doc="A part of a vector that is declared to be one element is that element.")  # fmt: skip


phases.register("subtensor_chain", Phase("subtensor_chain", "out_to_in"), 102, "fast_run")


def _chained(
    op: Subtensor, numbers: tuple[Number, ...], inner: Subtensor, there: tuple[Number, ...], x: Tensor
) -> Tensor | None:
    if type(x.type) is not TensorType:
        return None
    parts = [part.idx_list for each in (inner, op) for part in getattr(each, "parts", (each,))]
    return SubtensorChain(parts)(x, *there, *numbers)


# It comes after everything that looks at subtensors, and after what places nodes on other targets.
rule("local_subtensor_chain", P(Subtensor, "op")(part.single_use(), numbers), _chained, phases=("subtensor_chain",),
     doc="A part of a part is one view if the inner part has no other use; the index may depend on lengths.",
)  # fmt: skip


def reverses(entry: Any) -> bool:
    """Return whether an entry takes a whole axis backwards."""
    return isinstance(entry, slice) and is_known(entry) and (entry.start, entry.stop, entry.step) == (None, None, -1)


def _from_the_front(entry: object) -> bool:
    """Return whether a slice goes forward from a known place, wherever it ends."""
    if not isinstance(entry, slice) or not is_known(slice(entry.start, None, entry.step)):
        return False
    return (entry.start or 0) >= 0 and (entry.step or 1) > 0


def _compose(a: slice, b: int | slice) -> Any:
    """Return the entry that does what ``a``, then ``b`` do, or None where that depends on the length of the axis."""
    if takes_all(b):
        return a
    if takes_all(a):
        return b
    if reverses(a):
        # From the other end: an index that was out of range is so still.
        return FULL if reverses(b) else -1 - b if is_known(b) and not isinstance(b, slice) else None
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


def _reads_what_was_set(
    read: Subtensor,
    written: IncSubtensor,
    numbers: tuple[Number, ...],
    there: tuple[Number, ...],
    value: Tensor,
    out: Tensor,
    fgraph: FunctionGraph,
) -> bool:
    if written.idx_list != read.idx_list or len(there) != len(numbers):
        return False
    if not all(same(a, b) for a, b in zip(there, numbers, strict=True)):
        return False
    return value.type == out.type and same_shape(fgraph, value, out)


_written = P(IncSubtensor, "written", set_instead_of_inc=True)(x, value, Rest("there"))
rule("local_subtensor_inc_subtensor", P(Subtensor, "read")(_written, numbers), value, when=_reads_what_was_set,
     phases=EVERYWHERE, doc="A read at the place of a write returns the written value.")  # fmt: skip


def _ends_before(read: Any, written: Any) -> bool:
    """Return whether of two slices the first takes the front of an axis, and the second begins later."""
    if not isinstance(read, slice) or not is_known(read) or not _from_the_front(written):
        return False
    if read.start or read.step not in (None, 1) or read.stop is None:
        return False
    return bool(0 <= read.stop <= (written.start or 0))


def _lies_before(
    read: Subtensor,
    numbers: tuple[Number, ...],
    written: IncSubtensor,
    x: Tensor,
    value: Tensor,
    there: tuple[Number, ...],
    fgraph: FunctionGraph,
) -> bool:
    first = [each[0] if each else None for each in (entries(read, numbers), entries(written, there))]
    # The value has to fit for certain: otherwise the error would be lost.
    return _ends_before(*first) and same_shape(fgraph, Subtensor(written.idx_list)(x, *there), value)


rule("local_subtensor_before_inc_subtensor",
     P(Subtensor, "read")(P(IncSubtensor, "written")(x, value, Rest("there")), numbers), P("read")(x, numbers),
     when=_lies_before, phases=EVERYWHERE,
     doc="What is written further down an axis is not seen at its front.")  # fmt: skip


def same_shape(fgraph: FunctionGraph, a: Tensor, b: TensorLike) -> bool:
    """Return whether two variables have one shape for certain: a value that is written may also be repeated."""
    feature = getattr(fgraph, "shape_feature", None)
    return all(a.type.broadcastable) or (feature is not None and feature.same_shape(a, b))


def _repeated_less(
    op: Subtensor,
    numbers: tuple[Number, ...],
    repeat: Alloc,
    value: Tensor,
    lengths: tuple[Tensor, ...],
    out: Any,
    fgraph: FunctionGraph,
) -> Any:
    feature = getattr(fgraph, "shape_feature", None)
    one = all(value.type.broadcastable)
    # Of something that is there in full for others, a part costs nothing; that of a constant is a constant.
    free = one or isinstance(value, Constant) or len(out.owner.inputs[0].clients) == 1
    if feature is None or not free:
        return None
    index = entries(op, numbers)
    index += [FULL] * (len(lengths) - len(index))
    new = len(lengths) - value.type.ndim
    part: list[Any] = []
    for axis, (entry, length) in enumerate(zip(index, lengths, strict=True)):
        own = axis - new
        if own >= 0 and not value.type.broadcastable[own]:
            # Repeating the value checks this length: the index must take the whole axis, or the length must be certain.
            if not takes_all(entry) and not is_length_of(length, value, own, fgraph):
                return None
            part.append(entry)
            continue
        known = static_int(length)
        # An integer index may be out of bounds, which must be detected.
        if not isinstance(entry, slice) and (known is None or not is_known(entry) or not -known <= entry < known):
            return None
        if own >= 0:
            part.append(FULL if isinstance(entry, slice) else 0)
    if one:
        return repeat(value.dimshuffle() if value.type.ndim else value, *feature.lengths(out))
    return repeat(value if all(map(takes_all, part)) else value[tuple(part)], *feature.lengths(out))


rule("local_subtensor_of_alloc", P(Subtensor, "op")(P(Alloc, "repeat")(value, Rest("lengths")), numbers),
     _repeated_less, phases=EVERYWHERE, doc="A part of something repeated is its part, repeated less often.",
)  # fmt: skip


def _slices_first(index: Any) -> tuple[tuple[Any, ...], list[Any]] | None:
    """Return an index as its slices, and the rest of the index after them.

    It is None where all ends are numbers, and where a slice is a value of its own whose ends no expression gives.
    """
    slices = [e for e in index if isinstance(e.type, SliceType) and not isinstance(e, Constant)]
    if not slices or not all(e.owner is not None and isinstance(e.owner.op, MakeSlice) for e in slices):
        return None
    first: list[slice] = []
    rest: list[Tensor | slice] = []
    for entry in index:
        if isinstance(entry.type, SliceType):
            first.append(slice_parts(entry))
            rest.append(FULL)
            continue
        rest.append(entry)
        if not isinstance(entry.type, NoneTypeT):
            first += [FULL] * (entry.type.ndim if entry.type.dtype == "bool" else 1)
    return tuple(first), rest


def _read_from_slices(op: BaseAdvancedSubtensor, x: Tensor, index: tuple[Variable, ...]) -> Any:
    found = _slices_first(index)
    return None if found is None else op(x[found[0]], *found[1])


index = Rest("index")
rule("local_slices_before_arrays", P((AdvancedSubtensor, AdvancedBooleanSubtensor), "op")(x, index), _read_from_slices,
     phases=("specialize",),
     doc="Slices with symbolic ends become a view first; the remaining index has arrays and whole axes, and runs in C.",
)  # fmt: skip


def _written_to_slices(op: BaseAdvancedIncSubtensor, x: Tensor, value: Tensor, index: tuple[Variable, ...]) -> Any:
    found = _slices_first(index)
    if found is None:
        return None
    part = x[found[0]]
    return set_subtensor(part, op(part, value, *found[1]))


rule("local_slices_before_writes", P((AdvancedIncSubtensor, AdvancedBooleanIncSubtensor), "op")(x, value, index),
     _written_to_slices, phases=("specialize",),
     doc="The same for what is written: into a view of the slices, which takes its place in the whole.")  # fmt: skip


def _without_axes(op: Subtensor, x: Tensor, numbers: tuple[Number, ...]) -> Any:
    index = entries(op, numbers)
    dropped = [a for a, e in enumerate(index) if not isinstance(e, slice)]
    if not dropped or not all(x.type.broadcastable[a] and is_known(index[a]) and index[a] in (0, -1) for a in dropped):
        return None
    if not all(takes_all(e) for e in index if isinstance(e, slice)):
        return None
    return DimShuffle(x.type.broadcastable, [a for a in range(x.type.ndim) if a not in dropped])(x)


rule("local_subtensor_remove_broadcastable_index", read, _without_axes, phases=("specialize",),
     doc="Indexing an axis of length 1 drops the axis.")  # fmt: skip


def _dropped_by_index(shuffle: DimShuffle, inner: Subtensor, x: Tensor, there: tuple[Number, ...]) -> Any:
    index = entries(inner, there)
    index += [FULL] * (x.type.ndim - len(index))
    sliced = [a for a, e in enumerate(index) if isinstance(e, slice)]
    order = shuffle.new_order
    gone = [d for d in range(len(sliced)) if d not in order]
    if not gone or not all(x.type.broadcastable[sliced[d]] and takes_all(index[sliced[d]]) for d in gone):
        return None
    for d in gone:
        index[sliced[d]] = 0
    left = [d for d in range(len(sliced)) if d not in gone]
    new: Tensor = x[tuple(index)]
    order = tuple(d if isinstance(d, str) else left.index(d) for d in order)
    return new if order == tuple(range(new.type.ndim)) else new.dimshuffle(*order)


rule("local_dimshuffle_subtensor", P(DimShuffle, "shuffle")(part), _dropped_by_index, phases=("uncanonicalize",),
     doc="An axis of length 1 that a part keeps only to be dropped afterwards is dropped by the index.")  # fmt: skip


def _product_of_parts(op: Subtensor, numbers: tuple[Number, ...], product: Dot, a: Tensor, b: Tensor) -> Tensor:
    index = entries(op, numbers)
    rows = a.type.ndim - 1
    of_a, of_b = index[:rows], index[rows:]
    # The columns of a matrix; a vector has no axis left to index.
    return product(a[tuple(of_a)] if of_a else a, b[(FULL, *of_b)] if of_b else b)


rule("local_subtensor_of_dot", P(Subtensor, "op")(P(Dot, "product")(Var("a"), Var("b")).single_use(), numbers),
     _product_of_parts, keeps="close", phases=("stabilize",),
     doc="A part of a product is the product of a part: of the rows of the first factor, the columns of the second.",
)  # fmt: skip


def _is_what_was_set(written: AdvancedIncSubtensor1, x: Tensor, value: Tensor, places: Tensor, out: Tensor) -> bool:
    if not written.set_instead_of_inc and not filled_with(x, 0) or value.type != out.type:
        return False
    if not isinstance(places, Constant) or not isinstance(x, Constant):
        return False  # an index may be out of bounds, which must be detected
    where = np.where(places.data < 0, places.data + len(x.data), places.data)
    return bool(np.all((where >= 0) & (where < len(x.data)))) and len(np.unique(where)) == len(where)


# Rows that were added to zeros count as set: a negative zero among them stays one.
_written_rows = P(AdvancedIncSubtensor1, "written")(x, value, places)
rule("local_adv_sub1_adv_inc_sub1", P(AdvancedSubtensor1)(_written_rows, places), value, when=_is_what_was_set,
     keeps="close", phases=("stabilize",),
     doc="Rows that are read where they were just set, at places that are known and differ, are what was set.",
)  # fmt: skip
