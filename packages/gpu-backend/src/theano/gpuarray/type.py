"""`GpuArrayType`: arrays in the memory of a device, and the variables, constants and shared variables of that type."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np

from theano.compile.shared import SharedVariable
from theano.gpuarray.array import GpuArray, asarray, context_name_of, device_name
from theano.gpuarray.context import GpuContext, get_context
from theano.graph import Constant, Type, Variable
from theano.tensor.device.type import DeviceTensorType
from theano.tensor.operators import TensorOperators
from theano.tensor.type import TensorType


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

    def __init__(
        self, dtype: str, broadcastable: Sequence[bool], context_name: str | None = None, name: str | None = None
    ):
        super().__init__(dtype, broadcastable, device_name(context_name), name)

    @classmethod
    def instance_key(  # type: ignore[override]  # made with the name of a context
        cls, dtype: str, broadcastable: Sequence[bool], context_name: str | None = None, name: str | None = None
    ) -> Hashable:
        """Return what tells the types without a name apart."""
        return super().instance_key(dtype, broadcastable, device_name(context_name), name)

    @property
    def context_name(self) -> str | None:
        """The name of the context."""
        return context_name_of(self.device)

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

    def make_constant(self, value: Any, name: str | None = None) -> GpuArrayConstant:  # type: ignore[override]
        """Return a constant of this type."""
        return GpuArrayConstant(self, self.filter(value), name)

    def filter_variable(self, other: Any, allow_convert: bool = True) -> Variable[Self]:
        """Return a variable or a value as a variable of this type, moved to the device if it is on the host."""
        from theano.gpuarray.basic_ops import as_gpuarray_variable

        if isinstance(other, Variable) and not isinstance(other.type, GpuArrayType) and allow_convert:
            other = as_gpuarray_variable(other, self.context_name)
        return Type.filter_variable(self, other, allow_convert)

    def __str__(self) -> str:
        return f"GpuArrayType<{self.context_name}>({TensorType.__str__(self.on_host()).partition('(')[2]}"

    __repr__ = __str__


class _OnDevice(TensorOperators):
    """What variables on a device have: the operators of arrays, which compute what they would on the host."""

    type: GpuArrayType

    def _as_TensorVariable(self) -> Any:  # noqa: N802 - NumPy-like protocol of the old system
        """Return the value on the host; rules keep what follows on the device."""
        from theano.gpuarray.basic_ops import host_from_gpu

        return host_from_gpu(self)

    def _as_GpuArrayVariable(self, context_name: str | None) -> Any:  # noqa: N802
        """Return the variable, moved to another context if need be."""
        from theano.gpuarray.basic_ops import GpuToGpu

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

    def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> Any:
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

    def set_value(self, value: Any, borrow: bool = False) -> None:
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


#: What the old system called it.
GpuArrayVariable.SharedVariable = GpuArraySharedVariable  # type: ignore[attr-defined]


def gpuarray_shared_constructor(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    broadcastable: Sequence[bool] | None = None,
    target: str | None | type[Any] = Ellipsis,  # type: ignore[assignment]
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
