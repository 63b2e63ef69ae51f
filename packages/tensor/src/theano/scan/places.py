"""Loops on a device: which sequences, states and results are in its memory, as the pass that places graphs asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.compile.mode import get_mode
from theano.graph.apply import Apply
from theano.graph.variable import Variable
from theano.lowering.table import lower
from theano.scan.spec import LoopSpec
from theano.tensor.device.inner import PlacedPart, came_from_there, is_array, may_be_there, moved, places_of

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.scan.op import Scan
    from theano.tensor.device.placement import Placing


def placed(op: Scan, node: Node, placing: Placing) -> Sequence[Variable] | None:
    """Return what takes the place of a loop's outputs: those of one whose rows are on a device where steps are.

    A loop that is one function stays on the host, if it is over numbers, or over arrays that are there.
    """
    parts = _parts(op.spec, node)
    arrays = [part.outer for part in parts if part.inside and is_array(op.inner.inputs[part.inside[0]])]
    if not any(came_from_there(v, placing) for v in arrays) and lower(node) is not None:
        return None
    device = placing.device_of(node, [v for v in node.inputs[1:] if may_be_there(v)])
    if device is None:
        return None
    tag = placing.placement.tag
    query = get_mode(op.mode).including(tag).excluding("inplace").optimizer
    places = places_of(op.inner, parts, query, placing, device)
    if not places:
        return None
    inner, made = moved(op.inner, places, placing)
    options = {**op.options, "including": (*op.including, tag)}
    loop = type(op)(op.spec, inner, made, op.name, truncate=op.truncate, **options)
    outer: list[Any] = list(node.inputs)
    for k, part in enumerate(parts):
        if part.inside:
            outer[1 + k] = placing.on(part.outer, places.inputs[part.inside[0]])
    kinds = loop.output_types(outer)
    fresh = Apply(loop, outer, [kind.make_variable(v.name) for v, kind in zip(node.outputs, kinds, strict=True)])
    return [
        v if at is None else placing.placement.from_device(v)
        for v, at in zip(fresh.outputs, places.outputs, strict=False)
    ]


def _parts(spec: LoopSpec, node: Apply[Any, Any]) -> list[PlacedPart]:
    """Return the variables with one place: the inputs in the order of the outer inputs, then the other results."""
    given = spec.outer_inputs(node.inputs)
    own = spec.inner_inputs(range(_count(spec)))
    made = spec.inner_outputs(range(spec.stacked + spec.carried + int(spec.until)))
    return [
        *(PlacedPart(v, taps) for v, taps in zip(given.sequences, own.sequences, strict=True)),
        *(PlacedPart(v, taps, k) for v, taps, k in zip(given.states, own.states, made.states, strict=True)),
        *(PlacedPart(v, [i], k) for v, i, k in zip(given.carried, own.carried, made.carried, strict=True)),
        *(PlacedPart(v, [i]) for v, i in zip(given.fixed, own.fixed, strict=True)),
        *(PlacedPart(None, [], k) for k in made.mapped),
    ]


def _count(spec: LoopSpec) -> int:
    """Return how many inputs a step has."""
    return sum(map(len, (*spec.sequences, *spec.states))) + spec.carried + spec.fixed
