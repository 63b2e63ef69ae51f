"""DimShuffle and Reshape: merged, moved towards the inputs, dropped where they change nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.graph import Constant
from theano.rewriting import P, Var, local_rule, pattern_vars, phases, rule
from theano.tensor.control.checks import unchecked
from theano.tensor.convert import static_int
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.join.op import MakeVector
from theano.tensor.rules.predicates import conform, function_of, only_used_by, scalar_of
from theano.tensor.shape.basic import Shape, Shape_i
from theano.tensor.shape.reshape import Reshape, holds_all, reshape
from theano.tensor.shape.scalars import ScalarFromTensor, TensorFromScalar
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.fgraph import FunctionGraph
    from theano.graph.op import Op
    from theano.graph.variable import Variable
    from theano.rewriting.context import Context
    from theano.rewriting.rule import Answer
    from theano.tensor.type import Tensor


# A function, since it is asked at each shuffle, of which graphs have many: as three patterns it takes twice as long.
@local_rule([DimShuffle], phases=("canonicalize", "specialize"))
def local_dimshuffle_lift(node: TensorApply) -> Answer:
    """Two shuffles are one; one that keeps everything is none; one of an element-wise result moves to its inputs."""
    op: Any = node.op
    x: Tensor = node.inputs[0]
    if _keeps_all(op.new_order, x.type.broadcastable):
        return [x]
    inner = x.owner
    if inner is None:
        return None
    if isinstance(inner.op, DimShuffle):
        order = ["x" if d == "x" else inner.op.new_order[d] for d in op.new_order]
        return [conform(DimShuffle(inner.inputs[0].type.broadcastable, order)(inner.inputs[0]), node.outputs[0])]
    if scalar_of(inner) is None or len(inner.outputs) != 1 or not only_used_by(x, node):
        return None
    # What drops a dimension that the op stretched to 1 everywhere may do so before the op as well.
    shuffled = [DimShuffle(v.type.broadcastable, op.new_order)(v) for v in inner.inputs]
    new = inner.op(*shuffled)
    return [new] if new.type == node.outputs[0].type else None


def _keeps_all(order: Sequence[int | str], pattern: Sequence[bool]) -> bool:
    """Return whether a shuffle changes nothing: dimensions of length 1 may change places, go and come."""
    return len(order) == len(pattern) and all(
        d == i or one and (d == "x" or pattern[int(d)]) for i, (d, one) in enumerate(zip(order, pattern, strict=True))
    )


def _in_between_cannot_fail(out: Any, fgraph: Any) -> bool:
    between = out.owner.inputs[0].owner
    return _cannot_fail(between, fgraph) or _asks_for_as_many(between, out.owner)


def _asks_for_as_many(between: TensorApply, after: TensorApply) -> bool:
    """Return whether two reshapes fail for the same numbers of elements: they ask for equally many, with no -1."""
    counts = {_count_asked(node) for node in (between, after)}
    return len(counts) == 1 and None not in counts


def _count_asked(node: TensorApply) -> int | None:
    """Return how many elements a reshape asks for, where that is known."""
    asked = lengths_in(node.inputs[1])
    known = [None] if asked is None else [static_int(n) for n in asked]
    lengths = [n for n in known if n is not None and n >= 0]
    return math.prod(lengths) if len(lengths) == len(known) else None


x, shape = pattern_vars("x shape")
rule("local_reshape_chain", P(Reshape, "op")(P(Reshape)(x, Var("between")), shape), P("op")(x, shape),
     when=_in_between_cannot_fail,
     doc="The shape that the elements had in between does not matter, where they could take it for certain.",
)  # fmt: skip


def _has_that_shape(x: Tensor, shape: Tensor, out: Tensor, fgraph: FunctionGraph) -> bool:
    if x.type.ndim != out.type.ndim:
        return False
    if shape.owner is not None and isinstance(shape.owner.op, Shape) and shape.owner.inputs[0] is x:
        return True
    lengths = lengths_in(shape)
    if lengths is None or x.type.broadcastable != out.type.broadcastable:
        return False
    others = [n for i, n in enumerate(lengths) if not is_length_of(n, x, i, fgraph)]
    # All lengths but one as they are: a -1 is the remaining one, unless one of them is 0.
    open_ = len(others) == 1 and static_int(others[0]) == -1
    return not others or open_ and all((static_int(n) or 0) > 0 for n in lengths if n is not others[0])


rule("local_useless_reshape", P(Reshape)(x, shape), x, when=_has_that_shape,
     phases=("canonicalize", "stabilize", "specialize"), doc="A reshape to the shape that is there.")  # fmt: skip


def lengths_in(shape: Variable) -> list[Any] | None:
    """Return the lengths that a vector consists of, one by one; None where they are not known apart."""
    if isinstance(shape, Constant):
        return [shape.type.clone(broadcastable=()).make_constant(n) for n in shape.data]
    if shape.owner is not None and isinstance(shape.owner.op, MakeVector):
        return list(shape.owner.inputs)
    if shape.owner is not None and isinstance(shape.owner.op, Shape):
        return [Shape_i(i)(shape.owner.inputs[0]) for i in range(shape.owner.inputs[0].type.ndim)]
    return None


def _cannot_fail(node: TensorApply, fgraph: FunctionGraph) -> bool:
    """Return whether a reshape is certain to find as many elements as it asks for."""
    asked, feature = lengths_in(node.inputs[1]), getattr(fgraph, "shape_feature", None)
    return asked is not None and feature is not None and holds_all(asked, feature.lengths(node.inputs[0]))


def is_length_of(n: Any, x: Any, i: int, fgraph: FunctionGraph) -> bool:
    """Return whether ``n`` is for certain the length of dimension ``i`` of ``x``."""
    known = static_int(n)
    if x.type.broadcastable[i]:
        return known == 1
    if n.owner is not None and isinstance(n.owner.op, Shape_i) and n.owner.op.i == i and n.owner.inputs[0] is x:
        return True
    feature = getattr(fgraph, "shape_feature", None)
    if feature is None:
        return False
    own = unchecked(feature.lengths(x)[i])
    return own is unchecked(n) or (known is not None and static_int(own) == known)


def _as_shuffle(x: Any, shape: Variable, out: Any, fgraph: Any) -> Any:
    wide_in = [i for i, one in enumerate(x.type.broadcastable) if not one]
    wide_out = [i for i, one in enumerate(out.type.broadcastable) if not one]
    if len(wide_in) != len(wide_out) or x.type.ndim == out.type.ndim and wide_in == wide_out:
        return None
    if len(wide_in) > 1:
        asked = lengths_in(shape)
        pairs = zip(wide_in, wide_out, strict=True)
        if asked is None or not all(is_length_of(asked[b], x, a, fgraph) for a, b in pairs):
            return None
    # One dimension that is not known to be 1, on both sides: it holds all elements.
    elif wide_in and not _cannot_fail(out.owner, fgraph):
        return None
    order: list[Any] = ["x"] * out.type.ndim
    for a, b in zip(wide_in, wide_out, strict=True):
        order[b] = a
    return DimShuffle(x.type.broadcastable, order)(x)


rule("local_reshape_to_dimshuffle", P(Reshape)(x, shape), _as_shuffle, phases=("canonicalize",),
     doc="Lengths 1 that a reshape adds or drops are better said by a shuffle of dimensions.")  # fmt: skip


rule("local_reshape_of_number", P(Reshape)(x, shape), lambda x: MakeVector(x.type.dtype)(x),
     when=lambda x, shape: not x.type.ndim and isinstance(shape, Constant) and list(shape.data) == [-1],
     phases=("canonicalize",),
     doc="A number reshaped to as many elements as it has is a vector of one number.")  # fmt: skip


rule("local_reshape_lift", P(Reshape, "op")(function_of(x).single_use(), shape),
     lambda f, op, x, shape: f(reshape(x, shape, ndim=op.ndim)), phases=("canonicalize", "stabilize"),
     doc="A reshape of an element-wise op of one input moves before it.")  # fmt: skip


def _long_axes(pattern: tuple[bool, ...], order: Any) -> list[int]:
    """Return the axes of ``order`` that may be longer than 1."""
    return [d for d in order if d != "x" and not pattern[d]]


def keeps_long_axes(shuffle: DimShuffle, x: Tensor) -> bool:
    """Return whether a shuffle only adds, drops or moves dimensions of length 1."""
    pattern = x.type.broadcastable
    return _long_axes(pattern, shuffle.new_order) == _long_axes(pattern, range(len(pattern)))


_reshaped_shuffle = P(Reshape, "op")(P(DimShuffle, "shuffle")(x), shape)
rule("local_useless_dimshuffle_in_reshape", _reshaped_shuffle, P("op")(x, shape), when=keeps_long_axes,
     phases=("canonicalize", "specialize"),
     doc="A shuffle that only adds, drops or moves dimensions of length 1 changes nothing for a reshape.")  # fmt: skip


def _only_adds_axes(shuffle: DimShuffle, x: Tensor) -> bool:
    return tuple(d for d in shuffle.new_order if d != "x") == tuple(range(x.type.ndim))


rule("local_reshape_dimshuffle", _reshaped_shuffle, P("op")(x, shape), when=_only_adds_axes, phases=("uncanonicalize",),
     doc="Dimensions of length 1 that are added just before a reshape are not needed.")  # fmt: skip


rule("local_tensor_scalar_tensor", P(TensorFromScalar)(P(ScalarFromTensor)(x)), x,
     phases=("canonicalize", "specialize"),
     doc="A tensor made a scalar and a tensor again.")  # fmt: skip


rule("local_scalar_tensor_scalar", P(ScalarFromTensor)(P(TensorFromScalar)(x)), x,
     phases=("canonicalize", "specialize"),
     doc="A scalar made a tensor and a scalar again.")  # fmt: skip


# Shuffles move towards the inputs so that element-wise nodes meet and are fused; what is then left is undone here.


def _order_of_all(node: TensorApply) -> tuple[int, ...] | None:
    """Return the order of axes in which an element-wise node reads every input that has more than one element."""
    orders = set()
    for v in node.inputs:
        if all(v.type.broadcastable):
            continue
        op: Any = v.owner.op if v.owner is not None else None
        orders.add(op.new_order if isinstance(op, DimShuffle) else None)
    order: Any = orders.pop() if len(orders) == 1 else None
    if order is None or order == tuple(range(len(order))) or set(order) != set(range(len(order))):
        return None
    return order if all(_axes_before(v) == len(order) for v in node.inputs) else None


def _axes_before(v: Any) -> int:
    return v.type.ndim if all(v.type.broadcastable) else v.owner.inputs[0].type.ndim


def compute_before_shuffles(fgraph: FunctionGraph, context: Context) -> None:
    """Element-wise nodes whose inputs are all transposed alike compute first: the result is transposed."""
    for node in fgraph.toposort():
        op: Op = node.op
        if type(op) is not Elemwise or op.inplace_pattern:
            continue
        order = _order_of_all(node)
        if order is None:
            continue
        plain = [v if all(v.type.broadcastable) else v.owner.inputs[0] for v in node.inputs]
        made: list[Any] = op.make_node(*plain).outputs
        shuffled = [DimShuffle(v.type.broadcastable, order)(v) for v in made]
        if all(new.type == old.type for new, old in zip(shuffled, node.outputs, strict=True)):
            fgraph.replace_all(zip(node.outputs, shuffled, strict=True), "compute_before_shuffles")


phases.register("compute_before_shuffles", compute_before_shuffles, 49.2, "fast_run")
