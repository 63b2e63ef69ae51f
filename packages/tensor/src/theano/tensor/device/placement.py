"""The pass that says what is computed on another processor.

A graph is written, differentiated and rewritten without a word about devices. When that is done, `Placement` gives the
nodes that a target has lowerings for to that target: their variables become arrays of its device, and transfers are
put where values go from one memory to the other. So a new target changes no op. It runs when everything is fused, and
before it is decided who may overwrite what.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import Apply, Constant, FunctionGraph, Variable
from theano.graph.op_contract import answers
from theano.graph.traverse import ancestors
from theano.loader.module import has_device
from theano.lowering.accepts import FLOATS
from theano.lowering.table import Lowering, find, lower
from theano.lowering.targets import ANY, CPU, Target, targets
from theano.rewriting.context import Context
from theano.tensor.convert import is_tensor
from theano.tensor.device.inner import is_array
from theano.tensor.device.ops import FromDevice, ToDevice
from theano.tensor.device.type import DeviceTensorType
from theano.tensor.elemwise.functions import cast_op
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node


class Placement:
    """The pass that has a target compute all that it has lowerings for.

    Single elements that come from the host stay there: lengths, indices and factors are parameters of kernels. A value
    that both memories need is moved once, a constant when the function is compiled. A node is computed on the device of
    its first input that is on one of the target's devices, and on the target's own where none is.

    An op that holds a graph says itself what of it is where (its method ``place_on_device``).

    Parameters
    ----------
    target : Target
    tag : str, optional
        Under which the pass is entered, to be part of the rewriting of graphs that ops hold; by default the name of the
        target. It is entered under ``placement``, too.

    Examples
    --------
    >>> Placement(Target("cuda", "cuda:0")).name
    'place_on_cuda'
    """

    def __init__(self, target: Target, tag: str | None = None):
        self.target = target
        self.name = f"place_on_{target.name}"
        self.tag = target.name if tag is None else tag

    def __call__(self, fgraph: FunctionGraph, context: Context) -> None:
        """Change ``fgraph``."""
        moved: dict[Variable, dict[str, Variable]] = {}
        order = fgraph.toposort()
        on_host = self._wanted_on_host(fgraph, order)
        there = self._wanted_there(order, on_host)
        placing = Placing(self, context, moved, on_host, there)
        for node in order:
            if isinstance(node.op, ToDevice):
                self._cut(fgraph, context, node)
                continue
            if answers(node.op, "place_on_device"):
                placed = node.op.place_on_device(node, placing)
                if placed is not None:
                    context.replace(fgraph, list(zip(node.outputs, placed, strict=True)), self.name)
                continue
            entry = find(node, self.target)
            if entry is not None and entry.only_lengths:
                self._look_at_lengths(fgraph, context, node)
                continue
            moving = None if entry is None else self._suits(entry, node, on_host, there)
            device = None if moving is None else self._device_of(node, moving, moved)
            if entry is None or device is None or lower(node, self.target) is None:
                continue
            kept = entry.host_inputs(node) or ()
            inputs = [v if i in kept else self._there(v, device, moved) for i, v in enumerate(node.inputs)]
            for i, dtype in self._conversions(entry, node).items():
                inputs[i] = self._converted(node.inputs[i], inputs[i], dtype, moved)
            outputs = [self.type_there(v.type, device).make_variable(v.name) for v in node.outputs]
            Apply(node.op, inputs, outputs)
            back = [self.from_device(v) for v in outputs]
            context.replace(fgraph, list(zip(node.outputs, back, strict=True)), self.name)

    def type_there(self, kind: TensorType, device: str) -> DeviceTensorType:
        """Return the type of the same arrays on a device."""
        return DeviceTensorType(kind.dtype, kind.broadcastable, device)

    def to_device(self, v: Variable, device: str) -> Variable:
        """Return ``v`` moved there."""
        return ToDevice(device)(v)

    def from_device(self, v: Variable) -> Variable:
        """Return ``v`` brought back."""
        return FromDevice()(v)

    def device_for(self, moving: Sequence[Variable]) -> str | None:
        """Return where a node is computed whose inputs are all on the host, or None: there."""
        return self.target.device

    def _cut(self, fgraph: FunctionGraph, context: Context, node: Apply) -> None:
        """Move from where a value is, not from where it was moved to in between."""
        there, source = node.outputs[0], node.inputs[0]
        while source.owner is not None and isinstance(source.owner.op, (FromDevice, ToDevice)):
            source = source.owner.inputs[0]
        if source is not node.inputs[0]:
            direct = source if source.type == there.type else self.to_device(source, there.type.device)
            context.replace(fgraph, [(there, direct)], self.name)

    def _look_at_lengths(self, fgraph: FunctionGraph, context: Context, node: Node) -> None:
        """Let a node that reads nothing but lengths have those of the arrays on the device."""
        origins = [_origin(v) for v in node.inputs]
        if any(v is not None for v in origins):
            origins = [v if origin is None else origin for v, origin in zip(node.inputs, origins, strict=True)]
            fresh = Apply(node.op, origins, [v.type.make_variable(v.name) for v in node.outputs])
            context.replace(fgraph, list(zip(node.outputs, fresh.outputs, strict=True)), self.name)

    def _wanted_on_host(self, fgraph: FunctionGraph, order: Sequence[Apply]) -> set[Apply]:
        """Return the nodes whose results are read on the host only: lengths and indices, and what these come from."""
        found: set[Apply] = set()

        def reads_on_host(client: Any, i: int) -> bool:
            if client == "output" or client in found:
                return client != "output"
            entry = find(client, self.target)
            return entry is not None and not entry.only_lengths and i in (entry.host_inputs(client) or ())

        for node in reversed(order):
            clients = [pair for v in node.outputs for pair in v.clients]
            if clients and all(reads_on_host(client, i) for client, i in clients):
                found.add(node)
        return found

    def _wanted_there(self, order: Sequence[Apply], on_host: set[Apply]) -> set[Variable]:
        """Return the variables that the device reads, wherever they come from."""
        wanted: set[Variable] = set()
        for node in reversed(order):
            if isinstance(node.op, ToDevice):
                wanted.add(node.inputs[0])
                continue
            entry = find(node, self.target)
            if entry is None and answers(node.op, "place_on_device"):
                # What the CPU has a kernel for may well stay there, unless its operands come from a device.
                below = (v for v in ancestors(node.inputs) if is_tensor(v))
                if lower(node) is None or any(v.type.device != CPU.device for v in below):
                    inputs: Sequence[Any] = node.inputs
                    wanted.update(v for v in inputs if is_array(v) and v.type.dtype in FLOATS)
                continue
            moving = None if entry is None else self._moving(entry, node)
            if entry is None or moving is None or node in on_host or _single(node, moving):
                continue
            if answers(node.op, "place_on_device"):  # of what it hands on, what each wanted result comes from
                pattern = node.op.connection_pattern(node)
                reached = (any(row[k] for k, w in enumerate(node.outputs) if w in wanted) for row in pattern)
                wanted.update(v for v, to in zip(node.inputs, reached, strict=True) if to and v in moving)
            elif entry.target is not ANY or not entry.selects and not wanted.isdisjoint(node.outputs):
                wanted.update(moving)
        return wanted

    def _moving(self, entry: Lowering, node: Node) -> list[Variable] | None:
        """Return the inputs that the target reads in its own memory; None where it cannot compute the node."""
        kept = None if entry.only_lengths else entry.host_inputs(node)
        if kept is None or not node.outputs:
            return None
        moving = [v for i, v in enumerate(node.inputs) if i not in kept]
        return moving if all(type(v.type) is TensorType for v in (*moving, *node.outputs)) else None

    def _suits(
        self, entry: Lowering, node: Node, on_host: set[Apply], there: set[Variable]
    ) -> list[Variable] | None:
        """Return the inputs that a node reads on a device if it is computed on one; None: it stays as it is."""
        moving = self._moving(entry, node)
        if moving is None or any(self._device_at(v) for v in moving):
            return moving
        stays = node in on_host or _single(node, moving) or self._moves_here(entry, node, moving, there)
        return None if stays else moving

    def _device_of(
        self, node: Node, moving: list[Variable], moved: dict[Variable, dict[str, Variable]]
    ) -> str | None:
        """Return on which device a node is computed; None: on the host.

        It is that of an input which is on one, or was moved to one; next, that of what its result meets first.
        """
        meet = [v for w in node.outputs for client, _ in w.clients if client != "output" for v in client.inputs]
        known = (
            *(self._device_at(v) for v in moving),
            *(device for v in moving for device in moved.get(v, ())),
            *(self._device_at(v) for v in meet),
        )
        return next(filter(None, known), None) or self.device_for(moving)

    def _device_at(self, v: Variable) -> str | None:
        """Return on which of the target's devices a value is."""
        origin = _origin(v)
        device = CPU.device if origin is None else origin.type.device
        return device if device in targets and targets[device].name == self.target.name else None

    @staticmethod
    def _moves_here(entry: Lowering, node: Node, moving: list[Variable], there: set[Variable]) -> bool:
        """Return whether a node moves elements on the host, where these are.

        It does where the device wants none of the results, and where these are a part of what the device does not
        want: less is transferred.
        """
        return entry.target is ANY and (there.isdisjoint(node.outputs) or entry.selects and there.isdisjoint(moving))

    @staticmethod
    def _conversions(entry: Lowering, node: Node) -> dict[int, str]:
        """Return which inputs have to be of other dtypes, since no device converts what it moves."""
        return entry.accepts.conversions(node) if entry.target is ANY and entry.accepts is not None else {}

    def _converted(
        self, v: Any, there: Any, dtype: str, moved: dict[Variable, dict[str, Variable]]
    ) -> Variable:
        """Return an input of another dtype, converted where it was, or on the host if the device cannot."""
        device = there.type.device
        if _origin(v) is not None and device != CPU.device:
            kind = self.type_there(TensorType(dtype, v.type.broadcastable), device)
            cast_there = Apply(cast_op(dtype), [there], [kind.make_variable()])
            if lower(cast_there, self.target) is not None:
                return cast_there.outputs[0]
        if isinstance(v, Constant):
            made: Variable = TensorType(dtype, v.type.broadcastable).make_constant(np.asarray(v.data).astype(dtype))
        else:
            made = cast_op(dtype)(v)
        return made if device == CPU.device else self._there(made, device, moved)

    def _made_of_numbers(self, v: Variable, device: str) -> Variable | None:
        """Return an array that the host has made of single numbers, such as a fill, made on a device instead."""
        node = v.owner
        entry = None if node is None or not is_array(v) else find(node, self.target)
        if node is None or entry is None or self._moving(entry, node) != [] or lower(node, self.target) is None:
            return None
        outputs = [self.type_there(w.type, device).make_variable(w.name) for w in node.outputs]
        Apply(node.op, node.inputs, outputs)
        return outputs[node.outputs.index(v)]

    def _there(self, v: Variable, device: str, moved: dict[Variable, dict[str, Variable]]) -> Variable:
        origin = _origin(v)
        if origin is not None and origin.type.device == device:
            return origin
        by_device = moved.setdefault(v, {})
        if device not in by_device:
            made = self._made_of_numbers(v, device)
            if isinstance(v, Constant) and has_device(device):
                by_device[device] = self.type_there(v.type, device).make_constant(v.data, v.name)
            elif made is not None:
                by_device[device] = made
            else:
                by_device[device] = self.to_device(v if origin is None else origin, device)
        return by_device[device]


class Placing:
    """What an op is given that says itself where its operands are: what was found out of the graph so far.

    Attributes
    ----------
    placement : Placement
    context : Context
    on_host : set of Apply
        The nodes whose results only the host reads.
    there : set of Variable
        What the device reads, wherever it comes from.
    """

    def __init__(
        self, placement: Placement, context: Context, moved: dict[Variable, dict[str, Variable]],
        on_host: set[Apply], there: set[Variable],
    ):  # fmt: skip
        self.placement, self.context, self.on_host, self.there = placement, context, on_host, there
        self._moved = moved

    def device_at(self, v: Variable) -> str | None:
        """Return on which device a value is, None: on the host."""
        return self.placement._device_at(v)

    def device_of(self, node: Node, moving: list[Variable]) -> str | None:
        """Return on which device a node would be computed that reads ``moving`` there."""
        return self.placement._device_of(node, moving, self._moved)

    def on(self, v: Variable, device: str | None) -> Variable:
        """Return a value of the host's on a device; with None as it is."""
        return v if device is None else self.placement._there(v, device, self._moved)


def _origin(v: Variable) -> Variable | None:
    """Return the variable on a device of which ``v`` is a copy on the host."""
    return v.owner.inputs[0] if v.owner is not None and isinstance(v.owner.op, FromDevice) else None


def _single(node: Node, moving: list[Variable]) -> bool:
    """Return whether a node computes single elements from single elements."""
    return all(all(v.type.broadcastable) for v in (*moving, *node.outputs))
