"""Transfers between the host's memory and a device's, as nodes like any others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.lowering.targets import CPU
from theano.tensor.device.type import DeviceTensorType
from theano.tensor.type import Tensor, TensorType

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Tensors


def is_number_of_host(v: Any) -> bool:
    """Return whether ``v`` is a single number that has not been on a device: it can go along with a launch.

    Examples
    --------
    >>> import theano.tensor as T
    >>> is_number_of_host(T.scalar()), is_number_of_host(T.vector())
    (True, False)
    >>> is_number_of_host(FromDevice()(ToDevice("cuda")(T.scalar())))
    False
    """
    return (
        v.type.device == CPU.device
        and all(v.type.broadcastable)
        and not v.type.dtype.startswith("complex")
        and not (v.owner is not None and isinstance(v.owner.op, FromDevice))
    )


class _Transfer(Op):
    """Between the host's memory and a device's."""

    shapes = "A->A"


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
    linear_in = (0,)

    def __init__(self, device: str):
        self.device = device

    def make_node(self, x: Tensor) -> Apply:
        """Return the node for an array of the host's or of another device's."""
        if not isinstance(x.type, TensorType):
            raise TypeError(f"{self} takes an array, not {x} of type {x.type}")
        return Apply(self, [x], [DeviceTensorType(x.type.dtype, x.type.broadcastable, self.device).make_variable()])

    def L_op(self, inputs: Tensors, outputs: Tensors, output_gradients: Tensors) -> list[Variable]:
        """Return the gradient, moved to where the input is."""
        back = FromDevice() if inputs[0].type.device == CPU.device else ToDevice(inputs[0].type.device)
        return [g if isinstance(g.type, DisconnectedType) or g.type.device == inputs[0].type.device else back(g)
                for g in output_gradients]  # fmt: skip


class FromDevice(_Transfer):
    """A copy of a device's array in the host's memory.

    Examples
    --------
    >>> import theano.tensor as T
    >>> FromDevice()(ToDevice("cuda")(T.fvector("x"))).type
    TensorType(float32, vector)
    """

    __props__ = ()
    linear_in = (0,)

    def make_node(self, x: Tensor) -> Apply:
        """Return the node for an array of a device's."""
        if not isinstance(x.type, DeviceTensorType):
            raise TypeError(f"{self} takes an array in the memory of a device, not {x} of type {x.type}")
        return Apply(self, [x], [x.type.on_host().make_variable()])

    def L_op(self, inputs: Tensors, outputs: Tensors, output_gradients: Tensors) -> list[Variable]:
        """Return the gradient, moved to where the input is."""
        device = inputs[0].type.device
        return [g if isinstance(g.type, (DeviceTensorType, DisconnectedType)) else ToDevice(device)(g)
                for g in output_gradients]  # fmt: skip
