"""Rules by which parameters are rearranged rather than the numbers that are drawn from them.

They keep the distribution of what is drawn, not the numbers: these are drawn in another order, or fewer of them. So no
phase has these rules; who works with distributions asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import Op
from theano.rewriting import local_rule
from theano.rewriting.literals import conform
from theano.tensor.create.alloc import alloc
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.expressions.ops import broadcast_to
from theano.tensor.index.advanced import AdvancedBooleanSubtensor, AdvancedSubtensor, AdvancedSubtensor1
from theano.tensor.index.basic import Subtensor, get_idx_list
from theano.tensor.random.broadcasting import broadcast_params
from theano.tensor.random.op import RandomVariable
from theano.tensor.shape.basic import Shape, Shape_i, shape_tuple
from theano.tensor.shape.broadcast import lengths_of

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.graph.fgraph import FunctionGraph
    from theano.graph.variable import Variable
    from theano.rewriting.rule import Answer
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def lift_rv_shapes(node: Node) -> Any:
    """Return the node whose parameters have the whole shape, and which needs no size; False for another op's node.

    The numbers are the same.

    Examples
    --------
    >>> from theano.tensor.random.basic import normal
    >>> node = lift_rv_shapes(normal([0.0, 1.0], 5.0, size=(3, 2)).owner)
    >>> node.inputs[3].eval().tolist()
    [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    """
    if not isinstance(node.op, RandomVariable):
        return False
    rng, size, dtype, *params = node.inputs
    lengths = lengths_of(size)
    stretched = broadcast_params(params, node.op.ndims_params)
    if lengths and node.op.ndim_supp:
        stretched = [broadcast_to(p, (*lengths, *shape_tuple(p))) for p in stretched]
    elif lengths:
        counts = zip(stretched, node.op.ndims_params, strict=True)
        stretched = [broadcast_to(p, (*lengths, *shape_tuple(p)[p.type.ndim - n :])) for p, n in counts]
    return node.op.make_node(rng, None, dtype, *stretched)


def _rearranged(node: Node) -> Node | None:
    """Return the node of the numbers that ``node`` rearranges, if only their shape has another use."""
    numbers = node.inputs[0]
    drawn: Any = numbers.owner
    if drawn is None or not isinstance(drawn.op, RandomVariable):
        return None
    # Only of single numbers is it known which dimensions of the parameters belong to which of the result.
    if drawn.op.ndim_supp or any(drawn.op.ndims_params) or numbers is not drawn.outputs[1]:
        return None
    others = (client for client, _ in numbers.clients if client is not node)
    return drawn if all(isinstance(getattr(c, "op", None), (Shape, Shape_i)) for c in others) else None


def _instead(node: Node, drawn: Node, size: Sequence[TensorLike], params: Sequence[Variable]) -> Any:
    """Return that numbers drawn anew, and the state after them, take the places of those before."""
    rng, _, dtype, *_ = drawn.inputs
    # The parameters are those of the node, not those that users of the distribution give.
    numbers = Op.__call__(drawn.op, rng, list(size), dtype, *params)
    result = conform(numbers, node.outputs[0])
    if result is None:
        return False
    # Clients of the state after the draw continue from the state after the new one.
    after, state = drawn.outputs[0], numbers.owner.outputs[0]
    return {after: state, node.outputs[0]: result} if after.clients else [result]


@local_rule([DimShuffle], keeps="approximate", phases=())
def local_dimshuffle_rv_lift(fgraph: object, node: Node) -> Answer:
    """``normal(mu, std).T`` is distributed as ``normal(mu.T, std.T)``.

    Left alone is what mixes the dimensions that only the size has with those of the parameters.
    """
    drawn = _rearranged(node)
    if drawn is None:
        return False
    _, size, _, *params = drawn.inputs
    order = node.op.new_order
    ndim = node.inputs[0].type.ndim
    replicated = ndim - max((p.type.ndim for p in params), default=0)
    of_params = [d >= replicated for d in order if d != "x"]
    if of_params != sorted(of_params):
        return False
    lengths = lengths_of(size)
    moved = [_moved(p, order, ndim, bool(lengths)) for p in params]
    if any(p is None for p in moved):
        return False
    return _instead(node, drawn, [1 if d == "x" else lengths[d] for d in order] if lengths else (), moved)


def _moved(p: Any, order: Sequence[Any], ndim: int, sized: bool) -> Any:
    """Return a parameter in the order of the numbers' dimensions; None where one would be dropped that may be longer.

    Where the size is given, the parameter needs no leading dimensions of length 1.
    """
    offset = ndim - p.type.ndim
    own: list[Any] = [d - offset if d != "x" and d >= offset else "x" for d in order]
    while sized and own and own[0] == "x":
        del own[0]
    if any(d not in own and not one for d, one in enumerate(p.type.broadcastable)):
        return None
    return p if own == list(range(p.type.ndim)) else DimShuffle(p.type.broadcastable, own)(p)


@local_rule(
    [Subtensor, AdvancedSubtensor1, AdvancedSubtensor, AdvancedBooleanSubtensor], keeps="approximate", phases=()
)
def local_subtensor_rv_lift(fgraph: FunctionGraph, node: Node) -> Answer:
    """``normal(mu, std)[i]`` is distributed as ``normal(mu[i], std[i])``: only the read elements are drawn."""
    drawn = _rearranged(node)
    if drawn is None:
        return False
    _, size, _, *params = drawn.inputs
    lengths = drawn.op._infer_shape(size, params)
    # Shape inference asks nothing but lengths of this, so it is never filled.
    model = alloc(np.int8(0), *lengths)
    wanted = shape_tuple(node.op(model, *node.inputs[1:]))
    return _instead(node, drawn, wanted, _indexed(node, params, lengths))


def _indexed(node: Node, params: Sequence[Tensor], lengths: Sequence[Tensor]) -> list[Tensor]:
    """Return the parameters of the numbers that an index asks for."""
    if not isinstance(node.op, Subtensor):
        return [node.op(broadcast_to(p, tuple(lengths)), *node.inputs[1:]) if p.type.ndim else p for p in params]
    # Each entry is about a dimension of its own: those of replications leave the parameters alone.
    replicated = len(lengths) - max((p.type.ndim for p in params), default=0)
    entries = get_idx_list(node.inputs, node.op.idx_list)[replicated:]
    if not entries:
        return list(params)
    return [broadcast_to(p, tuple(lengths[replicated:]))[entries] if p.type.ndim else p for p in params]
