"""Transfers between the host and devices, and conversions to variables on one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theano.gpuarray.array import GpuArray, asarray, device_name
from theano.gpuarray.type import GpuArrayType
from theano.graph import Apply, Variable
from theano.tensor.convert import as_tensor_variable
from theano.tensor.device.ops import FromDevice, ToDevice
from theano.tensor.type import TensorType


class GpuFromHost(ToDevice):
    """A copy of an array in the memory of a device.

    Parameters
    ----------
    context_name : str or None

    Examples
    --------
    >>> import theano.tensor as T
    >>> GpuFromHost(None)(T.fvector("x")).type
    GpuArrayType<None>(float32, vector)
    """

    __props__ = ("context_name",)

    def __init__(self, context_name: str | None = None):
        super().__init__(device_name(context_name))
        self.context_name = context_name

    def make_node(self, x: Any) -> Apply:
        """Return the node for an array of the host's."""
        x = as_tensor_variable(x)
        if not isinstance(x.type, TensorType):
            raise TypeError(f"{self} takes an array of the host's, not {x} of type {x.type}")
        return Apply(self, [x], [GpuArrayType(x.type.dtype, x.type.broadcastable, self.context_name)()])

    def perform(self, node: Apply, inputs: Sequence[Any], outputs: Sequence[list[Any]]) -> None:
        """Copy it."""
        outputs[0][0] = asarray(inputs[0], self.context_name)

    def __str__(self) -> str:
        return f"GpuFromHost<{self.context_name}>"


class HostFromGpu(FromDevice):
    """A copy of a device's array in the host's memory.

    Examples
    --------
    >>> HostFromGpu()(GpuArrayType("float32", (False,))("x")).type
    TensorType(float32, vector)
    """

    def perform(self, node: Apply, inputs: Sequence[Any], outputs: Sequence[list[Any]]) -> None:
        """Copy it."""
        outputs[0][0] = np.asarray(inputs[0])

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        """Return the gradient, moved to where the input is."""
        moved = GpuFromHost(inputs[0].type.context_name)
        return [moved(g) if type(g.type) is TensorType else g for g in output_gradients]

    def __str__(self) -> str:
        return "HostFromGpu(gpuarray)"


host_from_gpu = HostFromGpu()


class GpuToGpu(ToDevice):
    """A copy of a device's array in the memory of another device.

    Parameters
    ----------
    context_name : str or None
        Where it goes.
    """

    __props__ = ("context_name",)

    def __init__(self, context_name: str | None = None):
        super().__init__(device_name(context_name))
        self.context_name = context_name

    def make_node(self, x: Any) -> Apply:
        """Return the node for an array of a device's."""
        if not isinstance(getattr(x, "type", None), GpuArrayType):
            raise TypeError(f"{self} takes an array on a device, not {x}")
        return Apply(self, [x], [GpuArrayType(x.type.dtype, x.type.broadcastable, self.context_name)()])

    def perform(self, node: Apply, inputs: Sequence[Any], outputs: Sequence[list[Any]]) -> None:
        """Copy it, by way of the host."""
        outputs[0][0] = asarray(np.asarray(inputs[0]), self.context_name)

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        """Return the gradient, moved to where the input is."""
        return [as_gpuarray_variable(g, inputs[0].type.context_name) for g in output_gradients]

    def __str__(self) -> str:
        return f"GpuToGpu<{self.context_name}>"


def as_gpuarray_variable(x: Any, context_name: str | None = None) -> Any:
    """Return ``x`` as a variable on a device.

    What has just been brought from there is not moved back: it is the variable that it was brought from.

    Parameters
    ----------
    x : variable or array_like
    context_name : str, optional

    Examples
    --------
    >>> g = GpuArrayType("float32", (False,))("g")
    >>> as_gpuarray_variable(host_from_gpu(g)) is g
    True
    """
    if hasattr(x, "_as_GpuArrayVariable"):
        return x._as_GpuArrayVariable(context_name)
    if isinstance(x, Variable) and x.owner is not None and isinstance(x.owner.op, FromDevice):
        origin = x.owner.inputs[0]
        if origin.type.context_name == context_name:
            return origin
    if isinstance(x, GpuArray):
        return GpuArrayType(x.dtype_name, (False,) * x.ndim, x.context_name).make_constant(x)
    return GpuFromHost(context_name)(x)


def infer_context_name(*variables: Any) -> str | None:
    """Return the context that most speaks for some variables: that of the first one that is on a device, or came from it.

    Raises
    ------
    ValueError
        None of them is, and there is no default context.

    Examples
    --------
    >>> g = GpuArrayType("float32", (False,), "dev1")("g")
    >>> infer_context_name(host_from_gpu(g), g)
    'dev1'
    """
    from theano.gpuarray.context import get_context

    for v in variables:
        for w in (v, *(v.owner.inputs[:1] if getattr(v, "owner", None) is not None else ())):
            if isinstance(getattr(w, "type", None), GpuArrayType):
                name: str | None = w.type.context_name
                return name
    get_context(None)
    return None


def transfer(x: Any, target: str) -> Any:
    """Return ``x`` on the device of a context, or None where ``target`` is the name of none (`theano.tensor.transfer`)."""
    from theano.gpuarray.context import is_started

    if target is not None and not is_started(target):
        return None
    return as_gpuarray_variable(x, target)
