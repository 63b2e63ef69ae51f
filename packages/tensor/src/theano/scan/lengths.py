"""How long the results of a step are: whether that is the same in each step, and from what it follows.

Nothing is computed for it but lengths, and values that are the same in each step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from theano.compile.expression import InnerGraph
from theano.graph.clone import clone_replace
from theano.graph.fgraph import FunctionGraph
from theano.graph.traverse import walk
from theano.graph.variable import Constant, Variable
from theano.scan.spec import LoopSpec
from theano.tensor.convert import is_tensor
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.shape.basic import Shape_i

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.tensor.shape.rules.shapes import ShapeFeature
    from theano.tensor.type import Tensor

Lengths = tuple[Any, ...]


def lengths_of_step(
    inner: InnerGraph, spec: LoopSpec, inputs: Sequence[Variable], lengths: Sequence[Lengths]
) -> list[Lengths | None]:
    """Return for each output of a step how long it is in all steps, or None where that is not known beforehand.

    Parameters
    ----------
    inner : InnerGraph
        One step.
    spec : LoopSpec
    inputs : list of Variable
        The outer inputs.
    lengths : list of tuple of Variable
        Their lengths.
    """
    graph = FunctionGraph(inner.inputs, inner.outputs)
    feature = _shapes()
    graph.attach_feature(feature)
    found = [feature.lengths(v) if is_tensor(v) else None for v in graph.outputs]
    own, given, long = spec.inner_inputs(graph.inputs), spec.outer_inputs(inputs), spec.outer_inputs(lengths)
    outside: dict[Variable, Any] = {}  # lengths that are the same in each step, of inner inputs
    for taps, shape in zip((*own.sequences, *own.states), (*long.sequences, *long.states), strict=True):
        outside.update((v, shape[1:]) for v in taps)
    outside.update(zip(own.fixed, long.fixed, strict=True))
    replaced = spec.inner_outputs(found).carried
    steady: dict[Variable, Any] = {v: n for v, n in zip(own.carried, long.carried, strict=True) if is_tensor(v)}
    # Carried values keep their lengths if each does so as long as all of them do.
    while lost := [
        v for v, n in zip(own.carried, replaced, strict=True)
        if v in steady and not (_is_length_of(v, n) and _known(n, {**outside, **steady}, own.fixed))
    ]:  # fmt: skip
        for v in lost:
            del steady[v]
    outside.update(steady)
    values = dict(zip(own.fixed, given.fixed, strict=True))
    return [
        _said_outside(n, outside, values) if n is not None and _known(n, outside, own.fixed) else None for n in found
    ]


def lengths_within(inputs: Sequence[Tensor], values: Sequence[Tensor]) -> list[Lengths]:
    """Return how long some values are, in terms of the inputs that they are computed from."""
    graph = FunctionGraph(list(inputs), list(values))
    feature = _shapes()
    graph.attach_feature(feature)
    found = [feature.lengths(v) for v in graph.outputs]
    back = dict(zip(graph.inputs, inputs, strict=True))
    return [tuple(clone_replace(lengths, back, strict=False)) for lengths in found]


def asks_for_lengths(node: Node) -> bool:
    """Return whether a node asks of its first input nothing but how long it is: a length, or a fill of that shape."""
    return isinstance(node.op, Shape_i) or (isinstance(node.op, Elemwise) and node.op == F.second)


def is_length_of(n: Variable, v: Tensor) -> bool:
    """Return whether ``n`` is written as the number of rows of ``v``."""
    return n.owner is not None and isinstance(n.owner.op, Shape_i) and n.owner.op.i == 0 and n.owner.inputs[0] is v


def _shapes() -> ShapeFeature:
    # Imported here: the rules are loaded for rewriting, and these answers are needed only then.
    from theano.tensor.shape.rules.shapes import ShapeFeature

    return ShapeFeature()


def _is_length_of(v: Tensor, lengths: Lengths) -> bool:
    """Return whether ``lengths`` are those of ``v`` itself."""
    return all(
        b or (n.owner is not None and isinstance(n.owner.op, Shape_i) and n.owner.op.i == i and n.owner.inputs[0] is v)
        for i, (n, b) in enumerate(zip(lengths, v.type.broadcastable, strict=True))
    )


def _walk(lengths: Lengths, outside: dict[Variable, tuple[Tensor, ...]]) -> Iterable[Variable]:
    """Yield what lengths are computed from, down to lengths that are known outside."""

    def below(v: Variable) -> list[Variable] | None:
        return None if v.owner is None or _is_known_length(v, outside) else v.owner.inputs

    return walk(lengths, below)


def _is_known_length(v: Variable, outside: dict[Variable, tuple[Tensor, ...]]) -> bool:
    return v.owner is not None and isinstance(v.owner.op, Shape_i) and v.owner.inputs[0] in outside


def _known(lengths: Lengths, outside: dict[Variable, tuple[Tensor, ...]], fixed: Sequence[Variable]) -> bool:
    """Return whether lengths speak of nothing but known ones, and of values that are the same in each step."""
    leaves = [v for v in _walk(lengths, outside) if v.owner is None]
    return all(isinstance(v, Constant) or v in fixed for v in leaves)


def _said_outside(
    lengths: Lengths, outside: dict[Variable, tuple[Tensor, ...]], values: dict[Variable, Variable]
) -> Lengths:
    known = [v for v in _walk(lengths, outside) if _is_known_length(v, outside)]
    said: dict[Variable, Tensor] = {v: outside[v.owner.inputs[0]][v.owner.op.i] for v in known if v.owner is not None}
    return tuple(clone_replace(lengths, {**values, **said}, strict=False))
