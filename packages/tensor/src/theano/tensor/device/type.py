"""Arrays in the memory of another processor: their type."""

from __future__ import annotations

import copyreg
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from theano.graph import BufferSpec, Constant
from theano.loader.module import DeviceArray, device_array_class
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Value


def on_device(device: str, value: np.ndarray) -> DeviceArray:
    """Return a copy of an array of the host's in the memory of a device.

    Parameters
    ----------
    device : str
        Its name, as :func:`theano.loader.module.add_device` was given it.
    value : ndarray

    Raises
    ------
    ValueError
        The device does not exist.
    MemoryError
        It has no room.
    """
    made = device_array_class(device).empty(device, value.dtype.name, value.shape)
    made.write_from(np.ascontiguousarray(value))
    return made


def on_host(value: Any) -> np.ndarray:
    """Return a copy of a device's array in the host's memory; arrays of the host's are returned as they are."""
    if not isinstance(value, DeviceArray):
        return np.asarray(value)
    made = np.empty(value.shape, value.dtype_name)
    (value if value.in_one_piece else value.packed()).read_into(made)
    return made


def _pickled(value: DeviceArray) -> tuple[Any, ...]:
    return on_device, (value.device, on_host(value))


copyreg.pickle(DeviceArray, _pickled)


class DeviceTensorType(TensorType):
    """Arrays in the memory of a device: kernels of its target see them, and Python in a `DeviceArray`.

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

    def filter(  # type: ignore[override]  # an array, but not one of NumPy's
        self, value: Value, strict: bool = False, allow_downcast: bool | None = None
    ) -> DeviceArray:
        """Return ``value`` as an array on the device.

        Parameters
        ----------
        value : DeviceArray, or what the type of such arrays on the host takes
        strict : bool
            Take only what is on the device already.
        allow_downcast : bool or None
            As for `TensorType.filter`.

        Raises
        ------
        TypeError
            The array is on another device, of another dtype or broadcast pattern; or ``strict`` and on the host.
        """
        if isinstance(value, DeviceArray):
            if (value.device, value.dtype_name, value.ndim) != (self.device, self.dtype, self.ndim):
                raise TypeError(
                    f"{self} takes no {value.ndim}-dimensional array of {value.dtype_name} on {value.device}"
                )
            if any(one and length != 1 for one, length in zip(self.broadcastable, value.shape, strict=True)):
                raise TypeError(f"{self} takes no array of shape {value.shape}")
            return value
        if strict:
            raise TypeError(f"{self} is in the memory of {self.device}: transfer a {self.on_host()} that has the value")
        return on_device(self.device, self.on_host().filter(value, strict, allow_downcast))

    @staticmethod
    def values_eq(a: Value, b: Value, force_same_dtype: bool = True) -> bool:
        """Return whether two arrays are the same, NaN being the same as NaN."""
        return TensorType.values_eq(on_host(a), on_host(b), force_same_dtype)

    @staticmethod
    def values_eq_approx(a: Value, b: Value, *args: Any, **kwargs: Any) -> bool:
        """Return whether two arrays are nearly the same, as `TensorType.values_eq_approx` has it."""
        return TensorType.values_eq_approx(on_host(a), on_host(b), *args, **kwargs)

    def may_share_memory(self, a: Value, b: Value) -> bool:
        """Return whether two arrays are windows on memory that overlaps."""
        if not (isinstance(a, DeviceArray) and isinstance(b, DeviceArray)) or a.device != b.device:
            return False
        (first, size), (second, other_size) = a.memory, b.memory
        return first < second + other_size and second < first + size

    def make_constant(self, value: Value, name: str | None = None) -> Constant[Self]:  # type: ignore[override]
        """Return a constant whose value is on the device."""
        return Constant(self, self.filter(value), name)

    def value_copy(self, value: DeviceArray) -> DeviceArray:  # type: ignore[override]
        """Return the same numbers in memory of their own."""
        return value.packed()

    def value_zeros(self, shape: Sequence[int]) -> DeviceArray:  # type: ignore[override]
        """Return an array of zeros of this dtype."""
        return on_device(self.device, super().value_zeros(shape))

    def constant_signature(self, value: DeviceArray) -> Hashable:
        """Return what tells the constants of this type apart: their numbers."""
        return self.device, self.on_host().constant_signature(on_host(value))

    def buffer_spec(self) -> BufferSpec:
        """Return how compiled code sees the arrays of this type."""
        return super().buffer_spec()._replace(device=self.device)

    def __str__(self) -> str:
        return f"{super().__str__()} on {self.device}"
