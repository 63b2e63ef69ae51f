"""Shards of data, which need not be in memory: parts of files, and arrays that Dask makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from theano.tensor.type import Tensor


@dataclass(frozen=True)
class Mapped:
    """A part of a file that an array is: what travels instead of its numbers, to workers that see the same file."""

    path: str
    offset: int
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def open(self) -> np.ndarray:
        """Return the array; it takes memory while referenced, and only the parts that were read."""
        if not all(self.shape):
            return np.empty(self.shape, self.dtype)
        extent = self.dtype.itemsize + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        raw = np.memmap(self.path, np.uint8, "r", self.offset, (extent,))
        return np.ndarray(self.shape, self.dtype, raw, strides=self.strides)


@dataclass(frozen=True)
class Made:
    """An array that tasks of Dask make: a future, which has it, or what makes it anew whenever it is asked for."""

    source: Any
    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def lazy(self) -> bool:
        """Whether it is made anew each time."""
        return hasattr(type(self.source), "compute")  # of a Delayed, which has attributes of any name

    def open(self) -> np.ndarray:
        """Return the array in this process."""
        found: np.ndarray = self.source.compute(scheduler="synchronous") if self.lazy else self.source.result()
        return found


def mapped(array: object) -> Any:
    """Return the part of a file that an array is, if `numpy.memmap` maps one; the array itself otherwise.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "x.npy")
    >>> np.save(path, np.arange(12.0).reshape(4, 3))
    >>> part = mapped(np.load(path, mmap_mode="r")[2:])
    >>> part.offset, part.shape, part.open().tolist()
    (176, (2, 3), [[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]])
    """
    if not isinstance(array, np.ndarray) or any(s < 0 for s in array.strides):
        return array
    # Views of views have the first one as their base, or a map that knows where it begins.
    whole: Any = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    # Of a map in mode "c" the file does not have what was written into it.
    if not isinstance(whole, np.memmap) or whole.filename is None or whole.mode == "c":
        return array
    ahead = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return Mapped(str(whole.filename), whole.offset + ahead, array.dtype, array.shape, array.strides)


def opened(array: object) -> Any:
    """Return an array that can be worked on."""
    return array.open() if isinstance(array, (Mapped, Made)) else array


def split(x: Tensor, value: object, axis: int, count: int) -> list[np.ndarray]:
    """Return the shards of a value for an input: those it is given as, the chunks of a dask array, or even parts.

    Parameters
    ----------
    x : Variable
    value : array, dask array, or list of arrays or of Dask's futures
    axis : int
        Along which the input is sharded.
    count : int
        Into how many parts an array is split that is given as a whole.
    """
    if hasattr(value, "to_delayed") and hasattr(value, "chunks"):
        return _chunks(x, value, axis)
    if isinstance(value, (list, tuple)) and value:
        if all(hasattr(type(v), "add_done_callback") and hasattr(v, "client") for v in value):
            return _futures(x, value)
        if all(isinstance(v, np.ndarray) and v.ndim == x.type.ndim for v in value):
            return [x.type.filter(v, allow_downcast=None) for v in value]
    return np.array_split(x.type.filter(value, allow_downcast=None), count, axis=axis)


def _chunks(x: Any, value: Any, axis: int) -> list[Any]:
    """Return the chunks of a dask array along an axis; those of other axes are joined."""
    if value.ndim != x.type.ndim:
        raise TypeError(f"distributed.function: {x} has {x.type.ndim} dimensions, but the dask array has {value.ndim}")
    lengths = value.chunks[axis]
    if any(n != n for n in lengths):
        raise ValueError(
            f"distributed.function: Dask does not know how long the chunks for {x} are: give "
            "array.compute_chunk_sizes(), or frame.to_dask_array(lengths=True)"
        )
    whole = value.rechunk({i: -1 for i in range(value.ndim) if i != axis}).astype(_wanted(x, value.dtype))
    shapes = [(*value.shape[:axis], int(n), *value.shape[axis + 1 :]) for n in lengths]
    blocks = whole.to_delayed().ravel()
    return [Made(block, shape, whole.dtype) for block, shape in zip(blocks, shapes, strict=True)]


def _futures(x: Any, futures: Sequence[Any]) -> list[Any]:
    client = futures[0].client
    found = client.gather([client.submit(_described, f) for f in futures])
    for shape, dtype in found:
        if len(shape) != x.type.ndim or dtype != x.type.dtype:
            raise TypeError(
                f"distributed.function: {x} is of type {x.type}, but a future has an array of {dtype} with "
                f"{len(shape)} dimensions"
            )
    return [Made(f, shape, dtype) for f, (shape, dtype) in zip(futures, found, strict=True)]


def _described(array: Any) -> tuple[tuple[int, ...], np.dtype]:
    return np.shape(array), np.asarray(array).dtype


def _wanted(x: Any, dtype: np.dtype) -> str:
    wanted: str = x.type.dtype
    if not np.can_cast(dtype, wanted):
        raise TypeError(f"distributed.function: {x} is of {wanted}, which {dtype} cannot be turned into without loss")
    return wanted
