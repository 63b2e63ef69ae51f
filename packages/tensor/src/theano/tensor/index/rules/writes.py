"""Writes to parts of tensors: sums of gradients into one tensor, useless writes, writes of the old values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import Apply, Constant
from theano.rewriting import P, Phase, Rest, local_rule, pattern_vars, phases, rule
from theano.rewriting.pattern import same
from theano.tensor.control.checks import unchecked
from theano.tensor.control.rules.asserts import if_equal
from theano.tensor.create.alloc import Alloc
from theano.tensor.elemwise import functions as F
from theano.tensor.index.advanced import AdvancedIncSubtensor, AdvancedIncSubtensor1, AdvancedSubtensor1
from theano.tensor.index.basic import IncSubtensor, Subtensor
from theano.tensor.index.rules.reads import entries, reverses, same_shape, takes_all
from theano.tensor.rules.predicates import combine, conform, filled_with, made_by, only_used_by, uniform, worth
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.fgraph import FunctionGraph
    from theano.graph.variable import Variable
    from theano.scalar.annotations import Number
    from theano.tensor.type import Tensor


def _all_of_it(op: Any, x: Any, y: Any, numbers: Any, fgraph: Any) -> Any:
    index = entries(op, numbers)
    if y.type != x.type or not all(takes_all(e) or reverses(e) for e in index) or not same_shape(fgraph, x, y):
        return None
    return Subtensor(op.idx_list)(y, *numbers) if any(map(reverses, index)) else y


x, y = pattern_vars("x y")
numbers = Rest("numbers")
_set = P(IncSubtensor, "op", set_instead_of_inc=True)(x, y, numbers)
rule("local_useless_inc_subtensor", _set, _all_of_it,
     doc="A write to all elements, also reversed, is the new value, if that has the shape.")  # fmt: skip


def _is_zero(v: Variable) -> bool:
    return filled_with(v, 0)


rule("local_incsubtensor_of_zeros_to_setsubtensor",
     P(IncSubtensor, "op", set_instead_of_inc=False)(x.where(_is_zero), y, numbers),
     lambda op, x, y, numbers: IncSubtensor(op.idx_list, set_instead_of_inc=True)(x, y, *numbers),
     keeps="close", phases=("canonicalize", "specialize"),
     doc="To add to zeros is to set. (Of what is added, a negative zero is set to what it is.)")  # fmt: skip


_WRITES = (IncSubtensor, AdvancedIncSubtensor, AdvancedIncSubtensor1)


rule("local_incsubtensor_of_zeros", P(_WRITES, set_instead_of_inc=False)(x, worth(0), numbers), x, keeps="close",
     phases=("canonicalize", "stabilize"), tags=("fast_run", "local_incsubtensor_of_allocs"),
     doc="To add 0 is to do nothing, if negative zeros may stay what they are.")  # fmt: skip


def _sets_what_is_there(op: IncSubtensor, x: Tensor, y: Tensor, numbers: tuple[Number, ...]) -> bool:
    there, new = uniform(x), uniform(y)
    if there is None or new is None or not _same_bits(np.asarray(new).astype(x.type.dtype), there):
        return False
    return all(isinstance(e, slice) for e in entries(op, numbers))


rule("local_setsubtensor_of_constants", _set, x,
     when=_sets_what_is_there, phases=("canonicalize", "stabilize"),
     tags=("fast_run", "local_setsubtensor_of_allocs"),
     doc="To set a part to the number that is everywhere is to do nothing.")  # fmt: skip


def _same_bits(a: np.ndarray, b: np.generic) -> bool:
    return a.tobytes() == b.tobytes()


def _written_once(
    op: AdvancedIncSubtensor | AdvancedIncSubtensor1 | IncSubtensor,
    x: Any,
    stretched: Tensor,
    y: Variable,
    numbers: Any,
    fgraph: FunctionGraph,
) -> Tensor | None:
    feature = getattr(fgraph, "shape_feature", None)
    if feature is None:
        return None
    part: Any = Subtensor(op.idx_list)(x, *numbers) if isinstance(op, IncSubtensor) else x[tuple(numbers)]
    if part.type.ndim != stretched.type.ndim:
        return None
    if any(m.owner is not None and part in m.owner.inputs for m in feature.lengths(part)):
        return None  # only reading the part would tell how long it is
    # A dimension of length 1 is stretched in either form; of another one it has to be seen that it fits.
    lengths = zip(feature.lengths(stretched), feature.lengths(part), stretched.type.broadcastable, strict=True)
    pairs = [(unchecked(n), m) for n, m, one in lengths if not one]
    return op(x, if_equal(y, pairs, "what is written has another shape than the part"), *numbers)


rule("local_useless_inc_subtensor_alloc", P(_WRITES, "op")(x, P(Alloc)(y, Rest("lengths")).named("stretched"), numbers),
     _written_once, phases=("stabilize",), tags=("fast_run", "local_useless_inc_subtensor_alloc"),
     doc="What is written is stretched to the part anyway: it need not be repeated before.")  # fmt: skip


def _reads_what_is_written(part: Any, written: Any) -> bool:
    """Return whether one op reads the part that the other one writes, each element of it once."""
    if isinstance(written.op, AdvancedIncSubtensor1):
        places = written.inputs[2]
        once = isinstance(places, Constant) and len(set(places.data.tolist())) == len(places.data)
        return once and not (places.data < 0).any() and isinstance(part.op, AdvancedSubtensor1)
    return isinstance(part.op, Subtensor) and part.op.idx_list == written.op.idx_list


@local_rule([IncSubtensor, AdvancedIncSubtensor1], keeps="finite", phases=("canonicalize",))
def local_set_to_inc_subtensor(node: TensorApply) -> Any:
    """To set a part to itself and something more is to add to it."""
    op: Any = node.op
    x, y, *numbers = node.inputs
    total = made_by(y, F.add)
    if not op.set_instead_of_inc or total is None or y.type.dtype != x.type.dtype:
        return None
    for i, v in enumerate(total.inputs):
        part: Any = v.owner
        if part is None or part.inputs[:1] != [x] or not _reads_what_is_written(part, node):
            continue
        if not all(same(a, b) for a, b in zip(part.inputs[1:], numbers, strict=True)):
            continue
        rest = [w for j, w in enumerate(total.inputs) if j != i]
        more = combine(F.add, rest, y.type.dtype)
        adds = AdvancedIncSubtensor1() if isinstance(op, AdvancedIncSubtensor1) else IncSubtensor(op.idx_list)
        return [conform(adds(x, more, *numbers), node.outputs[0])]
    return None


phases.register(
    "pre_local_IncSubtensor_serialize", Phase("pre_local_IncSubtensor_serialize", "in_to_out"), 0.99, "fast_run"
)


@local_rule([F.add], keeps="close", phases=("pre_local_IncSubtensor_serialize", "canonicalize"), needs=_WRITES)
def local_IncSubtensor_serialize(node: TensorApply) -> Any:
    """``inc(zeros, a) + inc(zeros, b) + c`` becomes ``inc(inc(c, a), b)``: one tensor of full size, not three.

    This is what the gradient of a tensor looks like of which many parts are read.
    """
    out: Tensor = node.outputs[0]
    first, *others = node.inputs
    chains = {v: _chain(v, node) for v in others}
    # Where all others can be moved the first one stays, whatever it is; it is the one that grows long.
    chains[first] = [] if all(chains.values()) and first not in chains else _chain(first, node)
    rest = [v for v in node.inputs if not chains[v]]
    movable = [v for v in node.inputs if chains[v]]
    if not rest and movable:
        rest = [movable.pop(0)]
    if not movable:
        return None
    total: Tensor = combine(F.add, rest, out.type.dtype)
    for v in movable:
        for written in chains[v]:
            total = written.op(total, *written.inputs[1:])
    return [total] if total.type == out.type else None


def _chain(v: Tensor, user: TensorApply) -> list[Apply]:
    """Return the additions to parts, the first one first, that make ``v`` of zeros, or none where it is not so made."""
    found: list[Apply] = []
    total = user.outputs[0]
    while v.owner is not None and isinstance(v.owner.op, _WRITES):
        op: Any = v.owner.op
        if op.set_instead_of_inc or op.inplace or v.type != total.type or not only_used_by(v, user):
            return []
        user = v.owner
        found.append(user)
        v = user.inputs[0]
    return found[::-1] if filled_with(v, 0) else []
