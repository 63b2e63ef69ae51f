"""Variables whose values are on a device: their type, variables, constants and shared variables, and the transfers.

They need each other: a variable on a device is used on the host through a transfer, whose gradient is one back.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from theano.compile.shared import SharedVariable
from theano.errors import MethodNotDefined
from theano.gpuarray.array import GpuArray, asarray, device_name
from theano.gpuarray.context import GpuContext, get_context, is_started
from theano.gradient import DisconnectedType
from theano.graph import Apply, Constant, Type, Variable
from theano.tensor.convert import as_tensor_variable
from theano.tensor.device.ops import FromDevice, ToDevice
from theano.tensor.device.type import DeviceTensorType
from theano.tensor.operators import transfers
from theano.tensor.type import TensorType
from theano.tensor.var import Operators

if TYPE_CHECKING:
    from theano.graph.annotations import Operands, Storage, Value, Values
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


class GpuArrayType(DeviceTensorType):
    """Arrays in the memory of a device.

    Parameters
    ----------
    dtype : str
    broadcastable : sequence of bool
    context_name : str, optional
        Of the context; None is the default one.
    name : str, optional

    Examples
    --------
    >>> GpuArrayType("float32", (False, False))
    GpuArrayType<None>(float32, matrix)
    """

    __props__ = ("dtype", "broadcastable", "context_name")

    context_name: str | None  # type: ignore[assignment]  # the name of the context

    def __init__(
        self, dtype: str, broadcastable: Sequence[bool], context_name: str | None = None, name: str | None = None
    ):
        super().__init__(dtype, broadcastable, device_name(context_name), name)
        self.context_name = context_name

    @classmethod
    def instance_key(  # type: ignore[override]  # made with the name of a context
        cls, dtype: str, broadcastable: Sequence[bool], context_name: str | None = None, name: str | None = None
    ) -> Hashable:
        """Return what tells the types without a name apart."""
        return super().instance_key(dtype, broadcastable, device_name(context_name), name)

    @property
    def context(self) -> GpuContext:
        """The context; ContextNotDefined if no device was started under its name."""
        return get_context(self.context_name)

    def clone(self, dtype: str | None = None, broadcastable: Sequence[bool] | None = None) -> GpuArrayType:
        """Return a type like this one, of the same context."""
        return GpuArrayType(
            self.dtype if dtype is None else dtype,
            self.broadcastable if broadcastable is None else broadcastable,
            self.context_name,
            self.name,
        )

    def make_variable(self, name: str | None = None) -> GpuArrayVariable:  # type: ignore[override]
        """Return a variable of this type."""
        return GpuArrayVariable(self, name=name)

    def make_constant(self, value: Value, name: str | None = None) -> GpuArrayConstant:  # type: ignore[override]
        """Return a constant of this type."""
        return GpuArrayConstant(self, self.filter(value), name)

    def c_declare(self, name: str, sub: Any, check_input: bool = True) -> str:
        """Raise MethodNotDefined: C of the host's has no form for these arrays, so ops are computed by ``perform``."""
        raise MethodNotDefined("c_declare", type(self), str(self))

    def filter(self, value: Value, strict: bool = False, allow_downcast: bool | None = None) -> Value:
        """Return ``value`` as an array on the device; one of another library's that is there is used where it is."""
        if not isinstance(value, GpuArray) and hasattr(value, "__cuda_array_interface__"):
            value = asarray(value, self.context_name)
        return super().filter(value, strict, allow_downcast)

    def filter_variable(self, other: Any, allow_convert: bool = True) -> Variable[Self]:
        """Return a variable or a value as a variable of this type, moved to the device if it is on the host."""
        if isinstance(other, Variable) and not isinstance(other.type, GpuArrayType):
            other = as_gpuarray_variable(other, self.context_name)
        return Type.filter_variable(self, other, allow_convert)

    def __str__(self) -> str:
        return f"GpuArrayType<{self.context_name}>({TensorType.__str__(self.on_host()).partition('(')[2]}"

    __repr__ = __str__


class _OnDevice(Operators):
    """What variables on a device have: the operators of arrays, which compute what they would on the host."""

    type: GpuArrayType

    def _as_TensorVariable(self) -> Tensor:
        """Return the value on the host; rules keep what follows on the device."""
        return host_from_gpu(self)

    def _as_GpuArrayVariable(self, context_name: str | None) -> Any:
        """Return the variable, moved to another context if need be."""
        return self if self.type.context_name == context_name else GpuToGpu(context_name)(self)


class GpuArrayVariable(_OnDevice, Variable[GpuArrayType]):
    """A variable whose values are on a device."""


class GpuArrayConstant(_OnDevice, Constant[GpuArrayType]):
    """A constant whose value is on a device."""

    def __str__(self) -> str:
        return self.name if self.name is not None else f"GpuArrayConstant{{{np.asarray(self.data)}}}"


class GpuArraySharedVariable(_OnDevice, SharedVariable):
    """A shared variable whose value stays on a device, where functions read and update it.

    Examples
    --------
    >>> GpuArraySharedVariable.__mro__[2].__name__
    'TensorOperators'
    """

    def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> Value:
        """Return the value.

        Parameters
        ----------
        borrow : bool
            With ``return_internal_type``: the array itself rather than a copy.
        return_internal_type : bool
            The array on the device; else a copy on the host.
        """
        value = self.container.value
        if not return_internal_type:
            return np.asarray(value)
        return value if borrow else copy.copy(value)

    def set_value(self, value: Value, borrow: bool = False) -> None:
        """Store a value: an array of the device, or one of the host that is copied there.

        Parameters
        ----------
        value : array_like or GpuArray
        borrow : bool
            Keep an array of the device itself rather than a copy.
        """
        if isinstance(value, GpuArray) and not borrow:
            value = copy.copy(value)
        self.container.value = value


#: The same under another name.
GpuArrayVariable.SharedVariable = GpuArraySharedVariable  # type: ignore[attr-defined]


class _ToContext(ToDevice):
    """A copy of an array in the memory of a context's device."""

    __props__ = ("context_name",)

    def __init__(self, context_name: str | None = None):
        super().__init__(device_name(context_name))
        self.context_name = context_name

    def make_node(self, x: Tensor) -> Apply:
        """Return the node for an array."""
        return Apply(self, [x], [GpuArrayType(x.type.dtype, x.type.broadcastable, self.context_name)()])

    def perform(self, node: Apply, inputs: Values, outputs: Storage) -> None:
        """Copy it, from another device directly where that goes."""
        outputs[0][0] = asarray(inputs[0], self.context_name)

    def __str__(self) -> str:
        return f"{type(self).__name__}<{self.context_name}>"


class GpuFromHost(_ToContext):
    """A copy of an array of the host's in the memory of a device.

    Parameters
    ----------
    context_name : str or None

    Examples
    --------
    >>> import theano.tensor as T
    >>> GpuFromHost(None)(T.fvector("x")).type
    GpuArrayType<None>(float32, vector)
    """

    def make_node(self, x: TensorLike) -> Apply:
        """Return the node for an array of the host's."""
        x = as_tensor_variable(x)
        if type(x.type) is not TensorType:
            raise TypeError(f"{self} takes an array of the host's, not {x} of type {x.type}")
        return super().make_node(x)

    def L_op(self, inputs: Operands, outputs: Operands, output_gradients: Operands) -> list[Variable]:
        """Return the gradient, brought back to the host."""
        return [g if isinstance(g.type, DisconnectedType) else as_tensor_variable(g) for g in output_gradients]


class HostFromGpu(FromDevice):
    """A copy of a device's array in the host's memory.

    Examples
    --------
    >>> HostFromGpu()(GpuArrayType("float32", (False,))("x")).type
    TensorType(float32, vector)
    """

    def perform(self, node: Apply, inputs: Values, outputs: Storage) -> None:
        """Copy it."""
        outputs[0][0] = np.asarray(inputs[0])

    def L_op(self, inputs: Operands, outputs: Operands, output_gradients: Operands) -> list[Variable]:
        """Return the gradient, moved to where the input is."""
        return [g if isinstance(g.type, DisconnectedType) else as_gpuarray_variable(g, inputs[0].type.context_name)
                for g in output_gradients]  # fmt: skip

    def __str__(self) -> str:
        return "HostFromGpu(gpuarray)"


host_from_gpu = HostFromGpu()


class GpuToGpu(_ToContext):
    """A copy of a device's array in the memory of another device.

    Parameters
    ----------
    context_name : str or None
        Where it goes.

    Examples
    --------
    >>> GpuToGpu("dev1")(GpuArrayType("float32", (False,))("x")).type
    GpuArrayType<dev1>(float32, vector)
    """

    def make_node(self, x: Tensor) -> Apply:
        """Return the node for an array of a device's."""
        if not isinstance(getattr(x, "type", None), GpuArrayType):
            raise TypeError(f"{self} takes an array on a device, not {x}")
        return super().make_node(x)

    def L_op(self, inputs: Operands, outputs: Operands, output_gradients: Operands) -> list[Variable]:
        """Return the gradient, moved to where the input is."""
        return [g if isinstance(g.type, DisconnectedType) else as_gpuarray_variable(g, inputs[0].type.context_name)
                for g in output_gradients]  # fmt: skip


def as_gpuarray_variable(x: Any, context_name: str | None = None) -> Tensor:
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
    """Return the context that speaks for some variables: that of the first one that is on a device or came from it.

    Raises
    ------
    ValueError
        None of them is, and no default context is set.

    Examples
    --------
    >>> g = GpuArrayType("float32", (False,), "dev1")("g")
    >>> infer_context_name(host_from_gpu(g), g)
    'dev1'
    """
    for v in variables:
        for w in (v, *(v.owner.inputs[:1] if getattr(v, "owner", None) is not None else ())):
            if isinstance(getattr(w, "type", None), GpuArrayType):
                name: str | None = w.type.context_name
                return name
    get_context(None)
    return None


@transfers.register
def transfer(x: TensorLike, target: str | None) -> Any:
    """Return ``x`` on the device of a context, or None where ``target`` names none (`theano.tensor.transfer` asks)."""
    if not is_started(target):
        return None
    return as_gpuarray_variable(x, target)


def gpuarray_shared_constructor(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    broadcastable: Sequence[bool] | None = None,
    target: Any = Ellipsis,
) -> GpuArraySharedVariable:
    """Return a shared variable whose value is on a device.

    Parameters
    ----------
    value : ndarray or GpuArray
    name : str, optional
    strict, allow_downcast : bool
        How later values are taken.
    borrow : bool
        Keep an array of the device itself rather than a copy.
    broadcastable : sequence of bool, optional
        False along all axes by default.
    target : str or None
        The name of the context; by default the default one.

    Raises
    ------
    TypeError
        It is no array, or for the CPU.
    ContextNotDefined
        No device was started under that name.
    """
    if target in ("gpu", "cpu"):
        raise TypeError(f"{target!r} is not the name of a context")
    if not isinstance(value, (np.ndarray, np.generic, GpuArray)):
        raise TypeError(f"an array is wanted, not a {type(value).__name__}")
    context_name = None if target is Ellipsis else target
    get_context(context_name)
    pattern = (False,) * value.ndim if broadcastable is None else tuple(broadcastable)
    kept = value if borrow else copy.copy(value) if isinstance(value, GpuArray) else value
    made = asarray(kept, context_name)
    kind = GpuArrayType(str(value.dtype), pattern, context_name)
    return GpuArraySharedVariable(name=name, type=kind, value=made, strict=strict, allow_downcast=allow_downcast)
