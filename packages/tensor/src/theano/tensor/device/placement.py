"""Arrays in the memory of another processor: their type, the transfers, and the pass that says what is computed there.

A graph is written, differentiated and rewritten without a word about devices. When all that is done, `Placement` gives
the nodes that a target has lowerings for to that target: their variables become arrays of its device, and transfers are
put where values go from one memory to the other. So a new target changes no op.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from theano.gradient import DisconnectedType
from theano.graph import Apply, BufferSpec, FunctionGraph, Op, Variable
from theano.lowering.table import lower
from theano.lowering.targets import Target
from theano.rewriting.context import Context
from theano.tensor.type import Tensor, TensorApply, TensorType


class DeviceTensorType(TensorType):
    """Arrays in the memory of a device: only kernels of its target see them, no Python does.

    Parameters
    ----------
    dtype, broadcastable, name
        As for `TensorType`.
    device : str

    Examples
    --------
    >>> DeviceTensorType("float32", (False,), "cuda").buffer_spec().device
    'cuda'
    >>> DeviceTensorType("float32", (False,), "cuda") == TensorType("float32", (False,))
    False
    """

    __props__ = ("dtype", "broadcastable", "device")

    def __init__(self, dtype: str, broadcastable: Sequence[bool], device: str, name: str | None = None):
        super().__init__(dtype, broadcastable, name)
        self.device = device

    @classmethod
    def instance_key(  # type: ignore[override]  # made with a device, which the base has none of
        cls, dtype: str, broadcastable: Sequence[bool], device: str, name: str | None = None
    ) -> Hashable:
        """Return what tells the types without a name apart."""
        key = super().instance_key(dtype, broadcastable, name)
        return None if key is None else (device, key)

    def clone(self, dtype: str | None = None, broadcastable: Sequence[bool] | None = None) -> DeviceTensorType:
        """Return a type like this one, on the same device."""
        return DeviceTensorType(
            self.dtype if dtype is None else dtype,
            self.broadcastable if broadcastable is None else broadcastable,
            self.device,
            self.name,
        )

    def on_host(self) -> TensorType:
        """Return the type of the same arrays in the host's memory."""
        return TensorType(self.dtype, self.broadcastable)

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Refuse any value.

        Raises
        ------
        TypeError
            Always: a value of Python's is in the host's memory.
        """
        raise TypeError(f"{self} is in the memory of {self.device}: transfer a {self.on_host()} that has the value")

    def buffer_spec(self) -> BufferSpec:
        """Return how compiled code sees the arrays of this type."""
        return super().buffer_spec()._replace(device=self.device)

    def __str__(self) -> str:
        return f"{super().__str__()} on {self.device}"


class _Transfer(Op):
    """Between the host's memory and a device's."""

    def infer_shape(self, node: TensorApply, shapes: Sequence[Any]) -> list[Any]:
        """Return the shape of the input."""
        return [shapes[0]]


class ToDevice(_Transfer):
    """A copy of an array in the memory of a device.

    Parameters
    ----------
    device : str

    Examples
    --------
    >>> import theano.tensor as T
    >>> ToDevice("cuda")(T.vector("x")).type.device
    'cuda'
    """

    __props__ = ("device",)

    def __init__(self, device: str):
        self.device = device

    def make_node(self, x: Tensor) -> Apply:
        """Return the node for an array of the host's."""
        if not isinstance(x.type, TensorType) or isinstance(x.type, DeviceTensorType):
            raise TypeError(f"{self} takes an array in the host's memory, not {x} of type {x.type}")
        return Apply(self, [x], [DeviceTensorType(x.type.dtype, x.type.broadcastable, self.device).make_variable()])

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        """Return the gradient, brought back."""
        return [FromDevice()(g) if isinstance(g.type, DeviceTensorType) else g for g in output_gradients]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return the direction, moved as the value is."""
        return [None if e is None else self(e) for e in eval_points]


class FromDevice(_Transfer):
    """A copy of a device's array in the host's memory.

    Examples
    --------
    >>> import theano.tensor as T
    >>> FromDevice()(ToDevice("cuda")(T.fvector("x"))).type
    TensorType(float32, vector)
    """

    __props__ = ()

    def make_node(self, x: Tensor) -> Apply:
        """Return the node for an array of a device's."""
        if not isinstance(x.type, DeviceTensorType):
            raise TypeError(f"{self} takes an array in the memory of a device, not {x} of type {x.type}")
        return Apply(self, [x], [x.type.on_host().make_variable()])

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        """Return the gradient, moved to where the input is."""
        device = inputs[0].type.device
        return [g if isinstance(g.type, (DeviceTensorType, DisconnectedType)) else ToDevice(device)(g)
                for g in output_gradients]  # fmt: skip

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return the direction, moved as the value is."""
        return [None if e is None else self(e) for e in eval_points]


class Placement:
    """The pass that has a target compute all that it has lowerings for.

    It runs last: rules see ops and never devices. A value that both memories need is moved once.

    Parameters
    ----------
    target : Target

    Examples
    --------
    >>> Placement(Target("cuda", "cuda:0")).name
    'place_on_cuda'
    """

    def __init__(self, target: Target):
        self.target = target
        self.name = f"place_on_{target.name}"

    def __call__(self, fgraph: FunctionGraph, context: Context) -> None:
        """Change ``fgraph``."""
        moved: dict[Variable, Variable] = {}
        for node in fgraph.toposort():
            if not self._suits(node):
                continue
            inputs = [self._there(v, moved) for v in node.inputs]
            outputs = [self._type(v).make_variable() for v in node.outputs]
            Apply(node.op, inputs, outputs)
            back = [FromDevice()(v) for v in outputs]
            context.replace(fgraph, list(zip(node.outputs, back, strict=True)), self.name)

    def _suits(self, node: Apply[Any, Any]) -> bool:
        on_host = all(type(v.type) is TensorType for v in (*node.inputs, *node.outputs))
        return on_host and bool(node.inputs) and lower(node, self.target) is not None

    def _there(self, v: Variable, moved: dict[Variable, Variable]) -> Variable:
        if v.owner is not None and isinstance(v.owner.op, FromDevice):
            return v.owner.inputs[0]
        if v not in moved:
            moved[v] = ToDevice(self.target.device)(v)
        return moved[v]

    def _type(self, v: Variable[Any]) -> DeviceTensorType:
        return DeviceTensorType(v.type.dtype, v.type.broadcastable, self.target.device)
