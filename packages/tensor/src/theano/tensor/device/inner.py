"""Ops that hold a graph, on a device: which values of the graph are in its memory.

What the graph reads and makes on the device is known when it has been rewritten and placed. So that is tried: with
arrays in the device's memory, as far as they may be there, a copy of the graph is rewritten as it will be when it is
compiled; what the device then does not read, or not make, is left to the host.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.compile.expression import InnerGraph
from theano.graph import FunctionGraph, Variable
from theano.lowering.table import find
from theano.lowering.targets import CPU
from theano.records import NamedTuple
from theano.rewriting import rewrite
from theano.tensor.device.ops import FromDevice, ToDevice
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.tensor.device.placement import Placing

# How often it is tried again because what repeats turned out to be elsewhere than was thought.
_TRIALS = 4


class PlacedPart(NamedTuple):
    """What has one place: an outer input, what stands for it (or for rows of it) inside, and what becomes of it there.

    Attributes
    ----------
    outer : Variable or None
        None for a result, which is no input.
    inside : list of int
        Inputs of the inner graph.
    output : int or None
        The output of the inner graph that takes the place of the input in the next run.
    """

    outer: Any
    inside: Sequence[int]
    output: int | None = None


class Places(NamedTuple):
    """On which devices (None: on the host) the inputs and outputs of an inner graph are."""

    inputs: list[str | None]
    outputs: list[str | None]

    def __bool__(self) -> bool:
        return any(self.inputs) or any(self.outputs)


def may_be_there(v: Variable) -> bool:
    """Return whether a device may hold a value: an array of real numbers.

    Examples
    --------
    >>> import theano.tensor as T
    >>> may_be_there(T.fvector()), may_be_there(T.cvector())
    (True, False)
    """
    return type(v.type) is TensorType and not v.type.dtype.startswith("complex")


def is_array(v: Any) -> bool:
    """Return whether a device may hold a value that is more than a single number."""
    return may_be_there(v) and not all(v.type.broadcastable)


def stacked_type(row: Any) -> TensorType:
    """Return the type of arrays with rows like ``row``, in the memory where it is."""
    pattern = (False, *row.type.broadcastable)
    if row.type.device == CPU.device:
        return TensorType(row.type.dtype, pattern)
    kind: TensorType = row.type.clone(broadcastable=pattern)
    return kind


def came_from_there(v: Variable, placing: Placing) -> bool:
    """Return whether a value is on a device, and is not a mere fill that may as well be made on the host."""
    if not placing.device_at(v):
        return False
    made = v.owner.inputs[0].owner if v.owner is not None else None
    return made is None or any(not all(w.type.broadcastable) for w in made.inputs if isinstance(w.type, TensorType))


def places_of(inner: InnerGraph, parts: Sequence[PlacedPart], query: Any, placing: Placing, device: str) -> Places:
    """Return on which devices what an op's graph reads and makes had better be.

    Parameters
    ----------
    inner : InnerGraph
    parts : list of PlacedPart
        Of all its inputs and outputs. Single numbers are on a device if they are there already, or are made there.
    query : Query
        By which the graph is rewritten when it is compiled.
    placing : Placing
    device : str
        Where what has no place yet goes.
    """
    given: dict[int, str] = {}
    for k, part in enumerate(parts):
        if part.inside and all(may_be_there(inner.inputs[i]) for i in part.inside):
            known = placing.device_at(part.outer)
            if known or is_array(inner.inputs[part.inside[0]]):
                given[k] = known or device
    for _ in range(_TRIALS):
        reads, makes = _tried(inner, parts, given, query, placing, device)
        repeats = {
            k: given.get(k, device)
            for k, p in enumerate(parts)
            if p.inside and p.output is not None and makes[p.output]
        }
        others = {k: at for k, at in given.items() if parts[k].output is None}
        if {**repeats, **others} == given:
            break
        given = {**repeats, **others}
    inputs: list[str | None] = [None] * len(inner.inputs)
    outputs: list[str | None] = [None] * len(inner.outputs)
    for k, part in enumerate(parts):
        if part.output is None:
            at = given.get(k) if any(reads[i] for i in part.inside) else None
        else:
            at = given.get(k) if part.inside else device if makes[part.output] else None
            outputs[part.output] = at
        for i in part.inside:
            inputs[i] = at
    return Places(inputs, outputs)


def _tried(
    inner: InnerGraph, parts: Sequence[PlacedPart], given: dict[int, str], query: Any, placing: Placing, device: str
) -> tuple[list[bool], list[bool]]:
    """Return which inputs a device reads, and which outputs one makes, if some are in its memory."""
    inputs: list[str | None] = [None] * len(inner.inputs)
    for k, at in given.items():
        for i in parts[k].inside:
            inputs[i] = at
    outputs = [device if may_be_there(v) else None for v in inner.outputs]
    fgraph: Any = FunctionGraph(*moved(inner, Places(inputs, outputs), placing))
    rewrite(fgraph, query, placing.context.settings)
    there = {i for part in parts if part.inside and placing.device_at(part.outer) for i in part.inside}
    reads = [_is_read(v, placing, i in there) for i, v in enumerate(fgraph.inputs)]
    makes = [at is not None and not _comes_from_host(v) for v, at in zip(fgraph.outputs, outputs, strict=True)]
    return reads, makes


def _is_read(v: Any, placing: Placing, is_there: bool) -> bool:
    """Return whether a value on a device is needed there; one that is there already stays if nothing but lengths is."""
    clients = [client for client, _ in v.clients]
    brought_back = any(client != "output" and isinstance(client.op, FromDevice) for client in clients)
    return any(_reads(client, placing) for client in clients) or (is_there and not brought_back)


def _reads(client: Any, placing: Placing) -> bool:
    """Return whether a client of a value on a device needs it there."""
    if client == "output":
        return True
    if isinstance(client.op, FromDevice):
        return False
    entry = find(client, placing.placement.target)
    return entry is None or not entry.only_lengths


def _comes_from_host(v: Any) -> bool:
    return v.owner is not None and isinstance(v.owner.op, ToDevice)


def moved(inner: InnerGraph, places: Places, placing: Placing) -> tuple[list[Variable], list[Variable]]:
    """Return an op's graph with inputs and outputs in other places, and transfers to where it has them itself."""
    placement = placing.placement
    known: Sequence[Any] = inner.inputs
    inputs = [
        v.type.make_variable(v.name) if at is None else placement.type_there(v.type, at).make_variable(v.name)
        for v, at in zip(known, places.inputs, strict=True)
    ]
    on_host = [v if at is None else placement.from_device(v) for v, at in zip(inputs, places.inputs, strict=True)]
    made = inner.on(on_host)
    return inputs, [v if at is None else placement.to_device(v, at) for v, at in zip(made, places.outputs, strict=True)]
