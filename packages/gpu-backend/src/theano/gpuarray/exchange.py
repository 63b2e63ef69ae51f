"""Memory that is shared with other libraries: DLPack, for all devices, and the CUDA array interface.

Zero-copy in both directions: the importer keeps the owner of the memory alive, and pending work is ordered before the
exchange. On CUDA one library's stream waits for the other's; on OpenCL queues are not shared, so the host waits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from theano.gpuarray.drivers import CudaDriver, Driver
from theano.gpuarray.errors import ContextNotDefined
from theano.loader.module import DeviceArray, read_capsule

HOST = (1, 0)
"""The processor's own memory, as DLPack has devices: a kind and a number."""

_ON_HOST = (1, 3)  # memory of the processor; the same, in pages that CUDA knows

#: The drivers of devices that were started, by what the loader calls these.
started: dict[str, Driver] = {}


def driver_of(device: str) -> Driver:
    """Return the driver of a device.

    Raises
    ------
    ContextNotDefined
        It was not started.
    """
    if device not in started:
        raise ContextNotDefined(f"no device was started as {device.partition(':')[2] or None!r}")
    return started[device]


class _Lent:
    """An array of ours that another library uses; when that is done, we go on after all that it asked for."""

    def __init__(self, array: DeviceArray, driver: Driver, stream: int | None):
        self._array, self._driver, self._stream = array, driver, stream

    def __del__(self) -> None:
        self._driver.taken_back(self._stream)


class _Adopted:
    """Memory of another library's that we use; it is given back when all that we asked for is done."""

    def __init__(self, keeper: Any, driver: Driver, address: int):
        self._keeper, self._driver, self._address = keeper, driver, address

    def __del__(self) -> None:
        self._driver.forget(self._address)


def lend(
    array: DeviceArray,
    stream: int | None,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """Return a capsule of DLPack: what ``__dlpack__`` is asked for.

    Raises
    ------
    BufferError
        A copy is refused that would be needed, or the device is another one.
    ValueError
        The stream cannot be one of the device's.
    """
    driver = driver_of(array.device)
    if dl_device is not None and tuple(map(int, dl_device)) != driver.dlpack_device:
        if tuple(map(int, dl_device)) != HOST or copy is False:
            raise BufferError(f"an array on {driver.name}, DLPack's {driver.dlpack_device}, is not on {dl_device}")
        return np.asarray(array).__dlpack__()
    source = array.packed() if copy else array
    driver.hand_over(stream)
    data, offset = driver.lend(source.address) if source.size else (0, 0)
    versioned = max_version is not None and max_version[0] >= 1
    return source.capsule(*driver.dlpack_device, data, offset, _Lent(source, driver, stream), versioned)


def adopt_tensor(value: Any, device: str, array_class: type[DeviceArray]) -> DeviceArray | None:
    """Return an array on the memory of what speaks DLPack; None where that is the host's.

    Raises
    ------
    BufferError
        It is on another device, or in memory of which the device knows nothing.
    """
    driver = driver_of(device)
    place = tuple(map(int, value.__dlpack_device__()))
    if place[0] in _ON_HOST:
        return None
    if place != driver.dlpack_device:
        mine = driver.dlpack_device
        raise BufferError(f"an array on DLPack's device {place} is not on {driver.name}, which is {mine}")
    try:
        capsule = value.__dlpack__(stream=driver.stream, max_version=(1, 0))
    except TypeError:  # a producer from before version 1
        capsule = value.__dlpack__(stream=driver.stream)
    kind, number, data, offset, dtype, shape, strides, _, keeper = read_capsule(capsule)
    if (kind, number) != place:
        raise BufferError(f"an array that says it is on DLPack's device {place} gave one on {(kind, number)}")
    found = (0, None) if 0 in shape else driver.adopt(data)
    if found is None:
        raise BufferError(f"{driver.name} cannot use memory of another context of its driver")
    address, whole = found
    low, high = _extent(shape, strides, np.dtype(dtype).itemsize)
    if whole is None:  # an address rather than a buffer
        address, whole, offset = address + offset + low, high - low, -low
    memory = array_class.adopt(device, address, whole, _Adopted(keeper, driver, address))
    return memory.window(offset, shape, strides, dtype)


def interface_of(array: DeviceArray, dtype: np.dtype[Any]) -> dict[str, Any]:
    """Return the CUDA array interface, version 3, of an array.

    Raises
    ------
    AttributeError
        It is on no device of CUDA.
    """
    driver = driver_of(array.device)
    if not isinstance(driver, CudaDriver):
        raise AttributeError(f"an array on {driver.name} has no CUDA array interface: that is no device of CUDA")
    return {
        "shape": array.shape, "typestr": dtype.str, "data": (array.address if array.size else 0, False),
        "strides": None if array.in_one_piece else array.strides, "version": 3, "stream": driver.stream,
    }  # fmt: skip


def adopt_interface(value: Any, device: str, array_class: type[DeviceArray]) -> DeviceArray:
    """Return an array on the memory of what has the CUDA array interface.

    Raises
    ------
    BufferError
        The device is not CUDA's, or another one; the array has a mask.
    ValueError
        The stream is none.
    """
    driver = driver_of(device)
    if not isinstance(driver, CudaDriver):
        raise BufferError(f"memory of CUDA's is not on {driver.name}")
    said = value.__cuda_array_interface__
    if said.get("mask") is not None:
        raise BufferError("an array with a mask has no form on a device")
    dtype, shape = np.dtype(said["typestr"]), tuple(said["shape"])
    strides = said.get("strides") or c_strides(shape, dtype.itemsize)
    address, stream = said["data"][0], said.get("stream")
    if stream == 0:
        raise ValueError("stream 0 of a CUDA array interface could be either of two: it says 1 or 2, or None")
    low, high = _extent(shape, strides, dtype.itemsize)
    if high > low:
        driver.adopt(address)
    if stream is not None:
        driver.follow(stream)
    memory = array_class.adopt(device, address + low, high - low, _Adopted(value, driver, address))
    return memory.window(-low, shape, strides, dtype.name)


def _extent(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """Return where the first and the last byte of an array are, seen from its first element.

    Examples
    --------
    >>> _extent((3, 2), (-16, 8), 8), _extent((3, 0), (8, 8), 8)
    ((-32, 16), (0, 0))
    """
    if 0 in shape:
        return 0, 0
    reach = [(n - 1) * step for n, step in zip(shape, strides, strict=True)]
    return sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + itemsize


def c_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return the strides of an array in C order.

    Examples
    --------
    >>> c_strides((2, 3), 8)
    (24, 8)
    """
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))
