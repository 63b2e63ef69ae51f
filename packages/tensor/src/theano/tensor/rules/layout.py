"""DimShuffle and Reshape: merged, moved towards the inputs, dropped where they change nothing."""

from __future__ import annotations

from typing import Any

from theano.graph import Apply, Constant
from theano.rewriting import local_rule, phases
from theano.tensor.checks import unchecked
from theano.tensor.convert import static_int
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.join import MakeVector
from theano.tensor.rules.words import fit, of_shared_sigmoid, only_used_by, scalar_of
from theano.tensor.shape.basic import Shape, Shape_i
from theano.tensor.shape.reshape import Reshape, holds_all, reshape
from theano.tensor.shape.scalars import ScalarFromTensor, TensorFromScalar


@local_rule([DimShuffle], phases=("canonicalize", "specialize"))
def local_dimshuffle_lift(node: Apply) -> Any:
    """Two shuffles are one; one that keeps everything is none; one of an element-wise result moves to its inputs."""
    op: Any = node.op
    x: Any = node.inputs[0]
    if op.new_order == tuple(range(x.type.ndim)):
        return [x]
    inner = x.owner
    if inner is None:
        return None
    if isinstance(inner.op, DimShuffle):
        order = ["x" if d == "x" else inner.op.new_order[d] for d in op.new_order]
        return [fit(DimShuffle(inner.inputs[0].type.broadcastable, order)(inner.inputs[0]), node.outputs[0])]
    if scalar_of(inner) is None or len(inner.outputs) != 1 or not only_used_by(x, node):
        return None
    if any(of_shared_sigmoid(v) for v in inner.inputs):
        return None  # see local_sigmoid_before_dimshuffle
    # What drops a dimension that the op stretched to 1 everywhere may do so before the op as well.
    shuffled = [DimShuffle(v.type.broadcastable, op.new_order)(v) for v in inner.inputs]
    new = inner.op(*shuffled)
    return [new] if new.type == node.outputs[0].type else None


@local_rule([Reshape], phases=("canonicalize",))
def local_reshape_chain(fgraph: Any, node: Apply) -> Any:
    """The shape that the elements had in between does not matter, where they could take it for certain."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Reshape) or not _cannot_fail(inner, fgraph):
        return None
    return [fit(node.op(inner.inputs[0], node.inputs[1]), node.outputs[0])]


@local_rule([Reshape], phases=("canonicalize", "stabilize", "specialize"))
def local_useless_reshape(fgraph: Any, node: Apply) -> Any:
    """A reshape to the shape that is there."""
    x: Any = node.inputs[0]
    out: Any = node.outputs[0]
    if x.type.ndim != out.type.ndim:
        return None
    shape = node.inputs[1]
    if shape.owner is not None and isinstance(shape.owner.op, Shape) and shape.owner.inputs[0] is x:
        return [fit(x, out)]
    lengths = _asked(node)
    if lengths is None:
        return None
    others = [n for i, n in enumerate(lengths) if not is_length_of(n, x, i, fgraph)]
    # All lengths but one as they are: a -1 is the remaining one, unless one of them is 0.
    open_ = len(others) == 1 and static_int(others[0]) == -1
    if others and not (open_ and all((static_int(n) or 0) > 0 for n in lengths if n is not others[0])):
        return None
    return [fit(x, out)] if x.type.broadcastable == out.type.broadcastable else None


def _asked(node: Apply) -> list[Any] | None:
    """Return the lengths that a reshape asks for, one by one."""
    shape: Any = node.inputs[1]
    if isinstance(shape, Constant):
        return [shape.type.clone(broadcastable=()).make_constant(n) for n in shape.data]
    if shape.owner is not None and isinstance(shape.owner.op, MakeVector):
        return list(shape.owner.inputs)
    if shape.owner is not None and isinstance(shape.owner.op, Shape):
        return [Shape_i(i)(shape.owner.inputs[0]) for i in range(shape.owner.inputs[0].type.ndim)]
    return None


def _cannot_fail(node: Apply, fgraph: Any) -> bool:
    """Return whether a reshape is certain to find as many elements as it asks for."""
    asked, feature = _asked(node), getattr(fgraph, "shape_feature", None)
    return asked is not None and feature is not None and holds_all(asked, feature.lengths(node.inputs[0]))


def is_length_of(n: Any, x: Any, i: int, fgraph: Any) -> bool:
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


@local_rule([Reshape], phases=("canonicalize",))
def local_reshape_to_dimshuffle(fgraph: Any, node: Apply) -> Any:
    """Lengths 1 that a reshape adds or drops are better said by a shuffle of dimensions."""
    x: Any = node.inputs[0]
    out: Any = node.outputs[0]
    wide_in = [i for i, one in enumerate(x.type.broadcastable) if not one]
    wide_out = [i for i, one in enumerate(out.type.broadcastable) if not one]
    # One dimension that is not known to be 1, on both sides: it holds all elements.
    if len(wide_in) > 1 or len(wide_in) != len(wide_out) or x.type.ndim == out.type.ndim and wide_in == wide_out:
        return None
    if wide_in and not _cannot_fail(node, fgraph):
        return None
    order: list[Any] = ["x"] * out.type.ndim
    for a, b in zip(wide_in, wide_out, strict=True):
        order[b] = a
    return [fit(DimShuffle(x.type.broadcastable, order)(x), out)]


@local_rule([Reshape], phases=("canonicalize", "stabilize"))
def local_reshape_lift(node: Apply) -> Any:
    """A reshape of an element-wise op of one input moves before it."""
    inner = node.inputs[0].owner
    if inner is None or scalar_of(inner) is None or len(inner.inputs) != 1 or len(inner.outputs) != 1:
        return None
    if not only_used_by(node.inputs[0], node):
        return None
    moved = reshape(inner.inputs[0], node.inputs[1], ndim=node.op.ndim)  # type: ignore[attr-defined]
    new = inner.op(moved)
    return [fit(new, node.outputs[0])]


def _long_axes(pattern: Any, order: Any) -> list[Any]:
    """Return the axes of ``order`` that may be longer than 1."""
    return [d for d in order if d != "x" and not pattern[d]]


@local_rule([Reshape], phases=("canonicalize", "specialize"))
def local_useless_dimshuffle_in_reshape(node: Apply) -> Any:
    """A shuffle that only adds, drops or moves dimensions of length 1 changes nothing for a reshape."""
    inner: Any = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, DimShuffle):
        return None
    pattern = inner.inputs[0].type.broadcastable
    if _long_axes(pattern, inner.op.new_order) != _long_axes(pattern, range(len(pattern))):
        return None
    new = fit(node.op(inner.inputs[0], node.inputs[1]), node.outputs[0])
    return None if new is None else [new]


@local_rule([Reshape], phases=("uncanonicalize",))
def local_reshape_dimshuffle(node: Apply) -> Any:
    """Dimensions of length 1 that are added just before a reshape are not needed."""
    inner: Any = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, DimShuffle):
        return None
    if tuple(d for d in inner.op.new_order if d != "x") != tuple(range(inner.inputs[0].type.ndim)):
        return None
    return [fit(node.op(inner.inputs[0], node.inputs[1]), node.outputs[0])]


@local_rule([TensorFromScalar], phases=("canonicalize", "specialize"))
def local_tensor_scalar_tensor(node: Apply) -> Any:
    """A tensor made a scalar and a tensor again."""
    inner = node.inputs[0].owner
    return [inner.inputs[0]] if inner is not None and isinstance(inner.op, ScalarFromTensor) else None


@local_rule([ScalarFromTensor], phases=("canonicalize", "specialize"))
def local_scalar_tensor_scalar(node: Apply) -> Any:
    """A scalar made a tensor and a scalar again."""
    inner = node.inputs[0].owner
    return [inner.inputs[0]] if inner is not None and isinstance(inner.op, TensorFromScalar) else None


# Shuffles move towards the inputs so that element-wise nodes meet and are fused; what is then left is undone here.


def _order_of_all(node: Apply) -> tuple[int, ...] | None:
    """Return the order of axes in which an element-wise node reads every input that has more than one element."""
    orders = set()
    for v in node.inputs:
        if all(v.type.broadcastable):  # type: ignore[attr-defined]
            continue
        op: Any = v.owner.op if v.owner is not None else None
        orders.add(op.new_order if isinstance(op, DimShuffle) else None)
    order = orders.pop() if len(orders) == 1 else None
    if order is None or order == tuple(range(len(order))) or set(order) != set(range(len(order))):
        return None
    return order if all(_axes_before(v) == len(order) for v in node.inputs) else None


def _axes_before(v: Any) -> int:
    return v.type.ndim if all(v.type.broadcastable) else v.owner.inputs[0].type.ndim  # type: ignore[no-any-return]


def compute_before_shuffles(fgraph: Any, context: Any) -> None:
    """Element-wise nodes whose inputs are all transposed alike compute first: the result is transposed."""
    for node in fgraph.toposort():
        op: Any = node.op
        if type(op) is not Elemwise or op.inplace_pattern:
            continue
        order = _order_of_all(node)
        if order is None:
            continue
        plain = [v if all(v.type.broadcastable) else v.owner.inputs[0] for v in node.inputs]
        made = op.make_node(*plain).outputs
        shuffled = [DimShuffle(v.type.broadcastable, order)(v) for v in made]
        if all(new.type == old.type for new, old in zip(shuffled, node.outputs, strict=True)):
            fgraph.replace_all(zip(node.outputs, shuffled, strict=True), "compute_before_shuffles")


phases.register("compute_before_shuffles", compute_before_shuffles, 49.2, "fast_run")
