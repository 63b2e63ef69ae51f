"""Ops that stand for an expression make room for it."""

from __future__ import annotations

from typing import Any

from theano.graph import Apply
from theano.rewriting import local_rule
from theano.tensor.compound import Compound
from theano.tensor.named import Flatten, Tile
from theano.tensor.rules.words import fit, only_used_by, scalar_of, uniform


# These two speak of the ops by name, so they come before the rule that replaces such ops.
@local_rule([Flatten], phases=("canonicalize", "stabilize"))
def local_flatten_lift(node: Apply) -> Any:
    """An element-wise op of one input that is flattened moves behind that."""
    inner = node.inputs[0].owner
    if scalar_of(inner) is None or len(inner.inputs) != 1 or len(inner.outputs) != 1:  # type: ignore[union-attr]
        return None
    if not only_used_by(node.inputs[0], node):
        return None
    return [fit(inner.op(node.op(inner.inputs[0])), node.outputs[0])]  # type: ignore[union-attr]


@local_rule([Tile], phases=("canonicalize", "stabilize"))
def local_useless_tile(node: Apply) -> Any:
    """A tensor repeated once along each axis is that tensor, with dimensions of length 1 on its left."""
    x: Any = node.inputs[0]
    out: Any = node.outputs[0]
    if uniform(node.inputs[1]) != 1 or x.type.ndim > out.type.ndim:
        return None
    new = fit(x.dimshuffle(*["x"] * (out.type.ndim - x.type.ndim), *range(x.type.ndim)), out)
    return None if new is None else [new]


@local_rule([Compound], tags=("fast_run", "fast_compile"), phases=("canonicalize",))
def local_expand_compound(node: Apply) -> Any:
    """The expression in place of the op that stands for it."""
    made = node.op.expand(node.inputs)  # type: ignore[attr-defined]
    return [fit(new, old) for new, old in zip(made, node.outputs, strict=True)]
