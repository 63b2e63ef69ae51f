"""What is repeated: fills with the shape of a model, allocations of a shape, and how they pass what works on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.graph import Constant
from theano.rewriting import P, Phase, Rest, local_rule, pattern_vars, phases, rule
from theano.settings import config
from theano.tensor.control.checks import CheckedLength, same_length, unchecked
from theano.tensor.control.rules.asserts import if_equal
from theano.tensor.convert import static_int
from theano.tensor.create.alloc import Alloc, AllocEmpty, alloc, zeros
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.rules.predicates import FAST, made_by, scalar_of
from theano.tensor.shape.basic import patternbroadcast, shape_i
from theano.tensor.shape.rules.layout import is_length_of
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.fgraph import FunctionGraph
    from theano.rewriting.rule import Answer
    from theano.tensor.type import Tensor


def _has_the_pattern(x: Tensor, out: Tensor) -> bool:
    return bool(x.type.broadcastable == out.type.broadcastable)


x, model = pattern_vars("x model")
lengths = Rest("lengths")
rule("local_useless_fill", P(F.second)(model, x), x, when=_has_the_pattern, tags=FAST,
     doc="A fill with something that has the shape already.")  # fmt: skip


@local_rule([Elemwise], phases=("canonicalize",), needs=[F.second])
def local_fill_sink(node: TensorApply) -> Answer:
    """An element-wise op takes what a fill repeats, where another input says the shape as well.

    Otherwise the fill moves behind the op.
    """
    op = scalar_of(node)
    if op is None or op == scal.second or len(node.outputs) != 1:
        return None
    out: Tensor = node.outputs[0]
    fills = [made_by(v, F.second) for v in node.inputs]
    if not any(f is not None for f in fills):
        return None
    inputs = [v if f is None else f.inputs[1] for f, v in zip(fills, node.inputs, strict=True)]
    if any(a.type.dtype != b.type.dtype for a, b in zip(inputs, node.inputs, strict=True)):
        return None
    new: Tensor = node.op(*inputs)
    for f in fills:
        if f is None or new.type.broadcastable == out.type.broadcastable:
            continue
        model: Tensor = f.inputs[0]
        if any(one and not other for one, other in zip(new.type.broadcastable, model.type.broadcastable, strict=True)):
            new = F.second(model, new)
    return [new] if new.type == out.type else None


def _allocated(model: Tensor, x: Tensor, out: Tensor, fgraph: FunctionGraph) -> Tensor:
    if x.type == out.type:
        return x
    lengths = [shape_i(model, i, fgraph) for i in range(out.type.ndim)]
    if any(one and not out.type.broadcastable[i] for i, one in enumerate(model.type.broadcastable)):
        lengths = [shape_i(x if one else model, i, fgraph) for i, one in enumerate(model.type.broadcastable)]
    # Not left to `conform`: where a length is known to be 1, which the type of the fill does not know, that would fill
    # again.
    return patternbroadcast(alloc(x, *lengths), out.type.broadcastable)


rule("local_fill_to_alloc", P(F.second)(model, x), _allocated, phases=("stabilize", "specialize"),
     doc="A fill becomes an allocation, which needs the shape of its model but not the model.")  # fmt: skip


def _has_the_shape(x: Tensor, lengths: tuple[Tensor, ...], out: Tensor, fgraph: FunctionGraph) -> bool:
    # One of another length would be an error: the value must not get through instead.
    return x.type == out.type and all(
        one or is_length_of(n, x, i, fgraph)
        for i, (one, n) in enumerate(zip(x.type.broadcastable, lengths, strict=True))
    )


rule("local_useless_alloc", P(Alloc)(x, lengths), x, when=_has_the_shape,
     phases=("canonicalize", "stabilize", "specialize"),
     doc="An allocation for a value of its own type and shape repeats nothing.")  # fmt: skip


def _allocated_at_once(x: Tensor, inner: Any, repeated: Any, lengths: Any) -> Tensor:
    lengths = list(lengths)
    for i, (n, one) in enumerate(zip(inner, repeated.type.broadcastable, strict=True), len(lengths) - len(inner)):
        if not one and not same_length(n, lengths[i]):
            differs = "alloc: a dimension has another length than what is to be repeated"
            lengths[i] = CheckedLength(differs)(lengths[i], F.eq(lengths[i], n))
    return alloc(x, *lengths)


rule("local_merge_alloc", P(Alloc)(P(Alloc)(x, Rest("inner")).named("repeated"), lengths), _allocated_at_once,
     phases=("canonicalize", "stabilize", "specialize"),
     doc="An allocation of an allocation repeats what the inner one repeats, if that fits.")  # fmt: skip


@local_rule([Elemwise], phases=("specialize",), tags=("fast_run", "local_alloc_elemwise"), needs=[Alloc])
def local_elemwise_alloc(fgraph: FunctionGraph, node: TensorApply) -> Answer:
    """An element-wise op takes what an allocation repeats, where another input has its dimensions.

    A constant that is made of repeated constants alone is repeated itself. That they are equally long is checked unless
    it is known; with ``experimental.local_alloc_elemwise_assert`` off, it is not checked.
    """
    op = scalar_of(node)
    feature = getattr(fgraph, "shape_feature", None)
    if op is None or len(node.outputs) != 1 or feature is None:
        return None
    inputs: list[Tensor] = list(node.inputs)
    (out,) = node.outputs
    for i, v in enumerate(inputs):
        value = _repeated(v)
        if value is None:
            continue
        others = inputs[:i] + inputs[i + 1 :]
        alike = [w for w in others if _is_as_wide(w, v, value)]
        # What constants alone are made of is a constant, which is repeated then.
        if not alike and not all(map(_is_constant, (value, *others))):
            continue
        # What is no allocation itself tells most.
        model = min(alike, key=lambda w: _repeated(w) is not None, default=value)
        axes = [axis for axis, one in enumerate(v.type.broadcastable) if not one]
        lengths, given = feature.lengths(v), feature.lengths(model)
        own = [axis for axis in axes if model.type.broadcastable[axis] and not value.type.broadcastable[axis]]
        if not all(same_length(lengths[axis], shape_i(value, axis, fgraph)) for axis in own):
            continue
        pairs = [(unchecked(lengths[axis]), given[axis]) for axis in axes if not model.type.broadcastable[axis]]
        if config.experimental.local_alloc_elemwise_assert:
            value = if_equal(value, pairs, f"{op}: the operands have different shapes")
        inputs[i] = value
    if all(a is b for a, b in zip(inputs, node.inputs, strict=True)):
        return None
    new = node.op(*inputs)
    if new.type.broadcastable != out.type.broadcastable:
        new = alloc(new, *feature.lengths(out))
    return [new] if new.type == out.type else None


def _is_constant(v: Tensor) -> bool:
    """Return whether a variable is a constant, perhaps one whose dimensions are to be rearranged."""
    while v.owner is not None and isinstance(v.owner.op, DimShuffle):
        v = v.owner.inputs[0]
    return isinstance(v, Constant)


def _repeated(v: Tensor) -> Any:
    """Return what an allocation repeats, with as many dimensions, also where these are rearranged; or None."""
    node = v.owner
    if node is not None and isinstance(node.op, DimShuffle) and len(node.op.new_order) >= node.inputs[0].type.ndim:
        inner = node.inputs[0].owner
        if inner is None or not isinstance(inner.op, Alloc):
            return None
        value = fit_dimensions(inner.inputs[0], node.inputs[0])
        order = node.op.new_order
        return DimShuffle(value.type.broadcastable, order)(value) if set(range(value.type.ndim)) <= set(order) else None
    return fit_dimensions(node.inputs[0], v) if node is not None and isinstance(node.op, Alloc) else None


def _is_as_wide(w: Tensor, v: Tensor, value: Tensor) -> bool:
    """Return whether ``w`` has the dimensions along which ``v`` repeats ``value``."""
    patterns = (w.type.broadcastable, v.type.broadcastable, value.type.broadcastable)
    return not any(one and repeated and not whole for one, whole, repeated in zip(*patterns, strict=True))


def fit_dimensions(value: Tensor, like: Tensor) -> Tensor:
    """Return ``value`` with new dimensions on the left, as many as ``like`` has."""
    missing = like.type.ndim - value.type.ndim
    return value.dimshuffle(*["x"] * missing, *range(value.type.ndim)) if missing else value


def _without_ones(x: Tensor, lengths: tuple[Tensor, ...], out: Tensor, fgraph: FunctionGraph) -> Any:
    new = len(lengths) - x.type.ndim
    ones = next((i for i, n in enumerate(lengths[:new]) if static_int(n) != 1), new)
    if not ones:
        return None
    feature = getattr(fgraph, "shape_feature", None)
    repeats_nothing = ones == new and all(
        one and static_int(lengths[new + i]) == 1 or feature is not None and feature.same_shape(out, x, new + i, i)
        for i, one in enumerate(x.type.broadcastable)
    )
    return fit_dimensions(x if repeats_nothing else alloc(x, *lengths[ones:]), out)


rule("local_canonicalize_alloc", P(Alloc)(x, lengths), _without_ones, phases=("stabilize",),
     doc="An allocation that only adds dimensions of length 1 repeats nothing; otherwise they are added afterwards.",
)  # fmt: skip


rule("local_alloc_unary", P(Elemwise, "f", inplace_pattern={})(P(Alloc)(x, lengths).single_use()),
     lambda f, x, lengths: alloc(f(x), *lengths), when=lambda out: len(out.owner.outputs) == 1, phases=("specialize",),
     doc="A function of a repeated value is computed once and repeated then.")  # fmt: skip


def _adds_dimensions_left(shuffle: DimShuffle) -> int:
    """Return how many dimensions a shuffle adds on the left, all others kept in order; 0 if it does something else."""
    new = sum(d == "x" for d in shuffle.new_order)
    kept = tuple(range(len(shuffle.input_broadcastable)))
    return new if shuffle.new_order == ("x",) * new + kept else 0


rule("local_alloc_dimshuffle", P(Alloc)(P(DimShuffle, "shuffle")(x), lengths), lambda x, lengths: alloc(x, *lengths),
     when=_adds_dimensions_left, phases=("uncanonicalize",),
     doc="An allocation adds dimensions on the left itself.")  # fmt: skip


rule("local_dimshuffle_alloc", P(DimShuffle, "shuffle")(P(Alloc)(x, lengths)),
     lambda shuffle, x, lengths: alloc(x, *[1] * _adds_dimensions_left(shuffle), *lengths), when=_adds_dimensions_left,
     phases=("uncanonicalize",),
     doc="Dimensions that are added to an allocation on the left are lengths 1 of that allocation.")  # fmt: skip


phases.register(
    "local_alloc_empty_to_zeros", Phase("local_alloc_empty_to_zeros", "in_to_out"), 49.3, "alloc_empty_to_zeros"
)


rule("local_alloc_empty_to_zeros", P(AllocEmpty, "op")(lengths), lambda op, lengths: zeros(list(lengths), op.dtype),
     keeps="close", phases=("local_alloc_empty_to_zeros",), tags=("alloc_empty_to_zeros",),
     doc="Memory whose content does not matter is filled with zeros: for those who look for a use of it.")  # fmt: skip
