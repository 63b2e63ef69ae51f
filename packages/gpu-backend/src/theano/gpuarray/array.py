"""`GpuArray`: an array in the memory of a device, as Python holds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from theano.gpuarray.exchange import adopt_interface, adopt_tensor, c_strides, driver_of, interface_of, lend
from theano.loader.module import DeviceArray, has_device
from theano.settings import config
from theano.tensor.device.type import on_device, on_host


class GpuArray(DeviceArray):
    """An array in the memory of a device: results of functions, values of shared variables.

    ``numpy.asarray(a)`` copies it to the host, :func:`asarray` makes one. Its parts, its transpose and its reshaped
    forms are windows on the same memory.

    Attributes
    ----------
    shape, strides : tuple of int
    dtype : numpy.dtype
    ndim, size, nbytes, itemsize : int
    context_name : str or None
    """

    @property
    def dtype(self) -> np.dtype[Any]:
        """Its dtype."""
        return np.dtype(self.dtype_name)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def offset(self) -> int:
        """How many bytes behind the beginning of its memory it begins; a kernel adds them to its pointer."""
        return self.address - self.memory[0]

    @property
    def context_name(self) -> str | None:
        """The name under which its device was started."""
        return context_name_of(self.device)

    @property
    def T(self) -> Self:
        """The array with its axes in the opposite order, on the same memory."""
        return self.window(0, self.shape[::-1], self.strides[::-1])

    def transpose(self, *axes: int) -> Self:
        """Return the array with its axes in another order, on the same memory."""
        order = [int(a) % self.ndim for a in axes] or list(range(self.ndim))[::-1]
        if sorted(order) != list(range(self.ndim)):
            raise ValueError(f"axes {axes} of an array of {self.ndim} dimensions")
        return self.window(0, [self.shape[a] for a in order], [self.strides[a] for a in order])

    def copy(self) -> Self:
        """Return the same numbers in memory of their own, in C order."""
        return self.packed()

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Self:
        return self.packed()

    def reshape(self, *shape: Any) -> Self:
        """Return the same numbers in another shape, without a copy if they are contiguous."""
        lengths = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        wanted = np.empty(self.shape, "V1").reshape(lengths).shape if self.size < 1 else _filled_in(lengths, self.size)
        whole = self if self.in_one_piece else self.packed()
        return whole.window(0, wanted, c_strides(wanted, self.itemsize))

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __getitem__(self, key: Any) -> Self:
        """Return a part that integers, slices, None and ``...`` pick, on the same memory."""
        # NumPy says which part it is, on an array of the same lengths that takes no memory.
        shadow = np.lib.stride_tricks.as_strided(np.empty((1,), "V1"), self.shape, self.strides)
        part = shadow[key]
        if not isinstance(part, np.ndarray):
            part = shadow[(*key, ...) if isinstance(key, tuple) else (key, ...)]
        if part.base is None or part.dtype != shadow.dtype:
            raise TypeError("parts of an array on a device are picked by integers, slices, None and ...")
        offset = part.__array_interface__["data"][0] - shadow.__array_interface__["data"][0]
        return self.window(offset, part.shape, part.strides)

    def __array__(self, dtype: str | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("numbers on a device are not seen by NumPy without a copy")
        made = on_host(self)
        return made if dtype is None else made.astype(dtype, copy=False)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the kind of the device and its number, as DLPack has them: 2 is CUDA, 4 OpenCL."""
        return driver_of(self.device).dlpack_device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return the array as a capsule of DLPack, on the same memory: `theano.gpuarray.exchange.lend`."""
        return lend(self, stream, max_version, dl_device, copy)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The array for libraries of CUDA, on the same memory; on other devices the attribute is missing."""
        return interface_of(self, self.dtype)

    def __reduce__(self) -> tuple[object, ...]:
        return _from_host, (np.asarray(self), self.context_name)

    def __repr__(self) -> str:
        return f"GpuArray({np.asarray(self)!r}, on {self.device})"

    def __str__(self) -> str:
        return str(np.asarray(self))

    def __float__(self) -> float:
        return float(np.asarray(self))

    def __int__(self) -> int:
        return int(np.asarray(self))

    def __bool__(self) -> bool:
        return bool(np.asarray(self))


def device_name(context_name: str | None) -> str:
    """Return what the loader calls the device of a context.

    Examples
    --------
    >>> device_name(None), device_name("dev1")
    ('gpu', 'gpu:dev1')
    """
    return "gpu" if context_name is None else f"gpu:{context_name}"


def context_name_of(device: str) -> str | None:
    """Return the name of the context that the loader knows as ``device``.

    Examples
    --------
    >>> context_name_of("gpu"), context_name_of("gpu:dev1")
    (None, 'dev1')
    """
    return device.partition(":")[2] or None


def asarray(value: Any, context_name: str | None = None, dtype: Any = None) -> GpuArray:
    """Return a value as an array on a device.

    An array that is there already is returned as it is; one of another library that has the CUDA array interface is
    used where it is. Everything else is copied, from another device directly where the driver can.

    Parameters
    ----------
    value : array_like or GpuArray
    context_name : str, optional
    dtype : optional

    Raises
    ------
    BufferError
        It is on another device than the context's, or in memory of which that knows nothing.
    DeviceMemoryError
        The memory of the device does not suffice.
    """
    device = device_name(context_name)
    if not isinstance(value, GpuArray) and hasattr(value, "__cuda_array_interface__"):
        value = adopt_interface(value, device, GpuArray)
    if isinstance(value, GpuArray) and dtype in (None, value.dtype):
        if value.device == device:
            return value
        made: Any = GpuArray.empty(device, value.dtype_name, value.shape)
        if made.copy_from(value if value.in_one_piece else value.packed()):
            return made
    made = on_device(device, np.asarray(value, dtype))
    assert isinstance(made, GpuArray)
    return made


def from_dlpack(value: Sequence[float], context_name: str | None = None, copy: bool | None = None) -> GpuArray:
    """Return an array that speaks DLPack as an array on a device, on the same memory where it is there.

    Parameters
    ----------
    value : object with ``__dlpack__`` and ``__dlpack_device__``
        An array of any library; one of the host's is copied to the device.
    context_name : str, optional
    copy : bool, optional
        True: always; False: never.

    Raises
    ------
    BufferError
        It is on another device or context of a driver, or a copy is refused that would be needed.

    Examples
    --------
    >>> from_dlpack([1.0])
    Traceback (most recent call last):
     ...
    TypeError: a list does not speak DLPack
    """
    if not hasattr(value, "__dlpack__") or not hasattr(value, "__dlpack_device__"):
        raise TypeError(f"a {type(value).__name__} does not speak DLPack")
    found = adopt_tensor(value, device_name(context_name), GpuArray)
    if found is not None:
        assert isinstance(found, GpuArray)
        return found.packed() if copy else found
    if copy is False:
        raise BufferError("an array of the host's goes to a device by a copy")
    return asarray(np.from_dlpack(value), context_name)


def _from_host(value: np.ndarray, context_name: str | None) -> Any:
    """Return an array that was pickled: on its device, or on the host where a flag allows that."""
    if not has_device(device_name(context_name)) and config.experimental.unpickle_gpu_on_cpu:
        return value
    return asarray(value, context_name)


def _filled_in(lengths: Any, size: int) -> tuple[int, ...]:
    given = tuple(int(n) for n in lengths)
    known = int(np.prod([n for n in given if n >= 0], dtype=np.int64))
    if given.count(-1) > 1 or (-1 in given and (known == 0 or size % known)) or (-1 not in given and known != size):
        raise ValueError(f"cannot reshape an array of {size} elements into {given}")
    return tuple(size // known if n < 0 else n for n in given)

