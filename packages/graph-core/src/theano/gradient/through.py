"""Derivatives of a node that stands for an expression: those of the expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from theano.gradient.absent import DisconnectedType, connection_pattern
from theano.gradient.barriers import ViewOp
from theano.gradient.forward import Rop
from theano.gradient.reverse import grad
from theano.graph.traverse import toposort
from theano.graph.variable import Constant, Variable

#: The expression on given inputs, as a list.
Expand = Callable[[Sequence[Any]], list[Any]]


def connections(expand: Expand, inputs: Sequence[Variable]) -> list[list[bool]]:
    """Return for each input and each output of an expression whether the one influences the other."""
    wanted = expand(inputs)
    reached: dict[Variable, set[int]] = {}
    for i, v in enumerate(inputs):
        reached.setdefault(v, set()).add(i)
    for node in toposort(wanted, inputs):
        pattern = connection_pattern(node)
        for j, out in enumerate(node.outputs):
            ways = (reached.get(v, set()) for v, row in zip(node.inputs, pattern, strict=True) if row[j])
            reached[out] = set().union(*ways)
    return [[i in reached.get(v, ()) for v in wanted] for i in range(len(inputs))]


def backward(expand: Expand, inputs: Sequence[Variable], output_grads: Sequence[Variable]) -> list[Any]:
    """Return the gradients of an expression, given those of its outputs; disconnected ones where there are none."""
    own = [view(v) for v in inputs]
    pairs = zip(expand(own), output_grads, strict=True)
    # A known gradient is all of it: an output that others are made of, or that is listed twice, gets theirs as well.
    seeds = {ViewOp()(v): g for v, g in pairs if not isinstance(g.type, DisconnectedType)}
    gradients: list[Any] = grad(
        None, own, known_grads=seeds, disconnected_inputs="ignore", return_disconnected="disconnected",
    )  # fmt: skip
    return gradients


def forward(expand: Expand, inputs: Sequence[Variable], eval_points: Sequence[Variable | None]) -> list[Any]:
    """Return the directions of the outputs of an expression, None where there are none."""
    own = [view(v) for v in inputs]
    along = [(v, d) for v, d in zip(own, eval_points, strict=True) if d is not None]
    directions: list[Any] = Rop(
        expand(own), [v for v, _ in along], [d for _, d in along],
        disconnected_outputs="ignore", return_disconnected="none",
    )  # fmt: skip
    return directions


def view(v: Variable) -> Variable:
    """Return a variable worth the same, so that an input that depends on another one is not followed further.

    A constant is copied instead: what it is worth may say how long or how often, and a view would hide that.
    """
    return v.clone() if isinstance(v, Constant) else ViewOp()(v)
