"""What is repeated: fills with the shape of a model, allocations of a shape, and how they pass what works on them."""

from __future__ import annotations

from typing import Any

from theano import scalar as scal
from theano.graph import Apply
from theano.rewriting import Phase, local_rule, phases
from theano.settings import config
from theano.tensor.convert import static_int
from theano.tensor.create import Alloc, AllocEmpty, alloc, zeros
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.rules.layout import is_length_of
from theano.tensor.rules.words import FAST, fit, made_by, only_used_by, scalar_of
from theano.tensor.shape.basic import patternbroadcast, shape_i


@local_rule([F.second], tags=FAST, phases=("canonicalize",))
def local_useless_fill(node: Apply) -> Any:
    """A fill with something that has the shape already."""
    value: Any = node.inputs[1]
    if value.type.broadcastable == node.outputs[0].type.broadcastable:  # type: ignore[attr-defined]
        return [fit(value, node.outputs[0])]
    return None


@local_rule([Elemwise], phases=("canonicalize",))
def local_fill_sink(node: Apply) -> Any:
    """An element-wise op takes what a fill repeats, where another input says the shape as well.

    Otherwise the fill moves behind the op.
    """
    op = scalar_of(node)
    if op is None or op == scal.second or len(node.outputs) != 1:
        return None
    out: Any = node.outputs[0]
    fills = [made_by(v, F.second) for v in node.inputs]
    if not any(f is not None for f in fills):
        return None
    inputs = [v if f is None else f.inputs[1] for f, v in zip(fills, node.inputs, strict=True)]
    if any(a.type.dtype != b.type.dtype for a, b in zip(inputs, node.inputs, strict=True)):  # type: ignore[attr-defined]
        return None
    new: Any = node.op(*inputs)
    for f in fills:
        if f is None or new.type.broadcastable == out.type.broadcastable:
            continue
        model: Any = f.inputs[0]
        if any(one and not other for one, other in zip(new.type.broadcastable, model.type.broadcastable, strict=True)):
            new = F.second(model, new)
    return [new] if new.type == out.type else None


@local_rule([F.second], keeps="exact", phases=("stabilize", "specialize"))
def local_fill_to_alloc(fgraph: Any, node: Apply) -> Any:
    """A fill becomes an allocation, which needs the shape of its model but not the model."""
    model, value = node.inputs
    out: Any = node.outputs[0]
    if value.type == out.type:  # type: ignore[attr-defined]
        return [value]
    lengths = [shape_i(model, i, fgraph) for i in range(out.type.ndim)]
    if any(one and not out.type.broadcastable[i] for i, one in enumerate(model.type.broadcastable)):  # type: ignore[attr-defined]
        lengths = [
            shape_i(value if one else model, i, fgraph)
            for i, one in enumerate(model.type.broadcastable)  # type: ignore[attr-defined]
        ]
    # Not `fit`: where a length is known to be 1 and the type of the fill does not know it, that would fill once more.
    return [patternbroadcast(alloc(value, *lengths), out.type.broadcastable)]


@local_rule([Alloc], phases=("canonicalize", "stabilize", "specialize"))
def local_useless_alloc(fgraph: Any, node: Apply) -> Any:
    """An allocation for a value of its own type and shape repeats nothing."""
    value, *lengths = node.inputs
    if value.type != node.outputs[0].type:
        return None
    # One of another length would be an error: the value must not get through instead.
    pairs = zip(value.type.broadcastable, lengths, strict=True)  # type: ignore[attr-defined]
    fits = all(one or is_length_of(n, value, i, fgraph) for i, (one, n) in enumerate(pairs))
    return [value] if fits else None


@local_rule([Alloc], phases=("canonicalize", "stabilize", "specialize"))
def local_merge_alloc(node: Apply) -> Any:
    """An allocation of an allocation repeats what the inner one repeats, where that has no more dimensions than fit."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Alloc) or not all(node.inputs[0].type.broadcastable):  # type: ignore[attr-defined]
        return None
    return [fit(alloc(inner.inputs[0], *node.inputs[1:]), node.outputs[0])]


@local_rule([Elemwise], phases=("specialize",), tags=("fast_run", "local_alloc_elemwise"))
def local_elemwise_alloc(fgraph: Any, node: Apply) -> Any:
    """An element-wise op takes what an allocation repeats, where another input has the same shape for certain.

    With the flag ``experimental.local_alloc_elemwise_assert`` off, one that has the same dimensions is taken to have
    the same shape: that the two agree is then checked by nobody.
    """
    op = scalar_of(node)
    if op is None or len(node.outputs) != 1:
        return None
    feature = getattr(fgraph, "shape_feature", None)
    if feature is None:
        return None
    inputs = list(node.inputs)
    unchecked = not config.experimental.local_alloc_elemwise_assert
    for i, v in enumerate(inputs):
        made = v.owner
        if made is None or not isinstance(made.op, Alloc):
            continue
        value: Any = fit_dimensions(made.inputs[0], v)
        others = [w for j, w in enumerate(inputs) if j != i and not isinstance(w.owner and w.owner.op, Alloc)]
        alike = [w for w in others if w.type.broadcastable == v.type.broadcastable]  # type: ignore[attr-defined]
        if any(unchecked or feature.same_shape(w, v) for w in alike):
            inputs[i] = value
    if all(a is b for a, b in zip(inputs, node.inputs, strict=True)):
        return None
    new = node.op(*inputs)
    return [new] if new.type == node.outputs[0].type else None


def fit_dimensions(value: Any, like: Any) -> Any:
    """Return ``value`` with new dimensions on the left, as many as ``like`` has."""
    missing = like.type.ndim - value.type.ndim
    return value.dimshuffle(*["x"] * missing, *range(value.type.ndim)) if missing else value




@local_rule([Alloc], phases=("stabilize",))
def local_canonicalize_alloc(fgraph: Any, node: Apply) -> Any:
    """An allocation that only adds dimensions of length 1 repeats nothing."""
    value: Any = node.inputs[0]
    lengths = node.inputs[1:]
    new = len(lengths) - value.type.ndim
    if not new or any(static_int(n) != 1 for n in lengths[:new]):
        return None
    feature = getattr(fgraph, "shape_feature", None)
    for i, one in enumerate(value.type.broadcastable):
        if one and static_int(lengths[new + i]) == 1:
            continue
        if feature is None or not feature.same_shape(node.outputs[0], value, new + i, i):
            return None
    return [fit(fit_dimensions(value, node.outputs[0]), node.outputs[0])]


@local_rule([Elemwise], phases=("specialize",))
def local_alloc_unary(node: Apply) -> Any:
    """A function of a repeated value is computed once and repeated then."""
    if scalar_of(node) is None or len(node.inputs) != 1 or len(node.outputs) != 1:
        return None
    made: Any = node.inputs[0].owner
    if made is None or not isinstance(made.op, Alloc) or not only_used_by(node.inputs[0], node):
        return None
    return [fit(alloc(node.op(made.inputs[0]), *made.inputs[1:]), node.outputs[0])]


def _adds_dimensions_left(op: Any) -> int:
    """Return how many dimensions a shuffle adds on the left, all others kept in order; 0 if it does something else."""
    new = sum(d == "x" for d in op.new_order)
    kept = tuple(range(len(op.input_broadcastable)))
    return new if op.new_order == ("x",) * new + kept else 0


@local_rule([Alloc], phases=("uncanonicalize",))
def local_alloc_dimshuffle(node: Apply) -> Any:
    """An allocation adds dimensions on the left itself."""
    shuffled: Any = node.inputs[0].owner
    if shuffled is None or not isinstance(shuffled.op, DimShuffle) or not _adds_dimensions_left(shuffled.op):
        return None
    return [fit(alloc(shuffled.inputs[0], *node.inputs[1:]), node.outputs[0])]


@local_rule([DimShuffle], phases=("uncanonicalize",))
def local_dimshuffle_alloc(node: Apply) -> Any:
    """Dimensions that are added to an allocation on the left are lengths 1 of that allocation."""
    made: Any = node.inputs[0].owner
    new = _adds_dimensions_left(node.op)
    if made is None or not isinstance(made.op, Alloc) or not new:
        return None
    return [fit(alloc(made.inputs[0], *[1] * new, *made.inputs[1:]), node.outputs[0])]


phases.register(
    "local_alloc_empty_to_zeros", Phase("local_alloc_empty_to_zeros", "in_to_out"), 49.3, "alloc_empty_to_zeros"
)


@local_rule([AllocEmpty], keeps="close", phases=("local_alloc_empty_to_zeros",), tags=("alloc_empty_to_zeros",))
def local_alloc_empty_to_zeros(node: Apply) -> Any:
    """Memory whose content does not matter is filled with zeros: for those who look for a use of it."""
    return [fit(zeros(node.inputs, node.op.dtype), node.outputs[0])]  # type: ignore[attr-defined]
