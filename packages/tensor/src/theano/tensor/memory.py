"""The memory layout of arrays: copies of the same layout, memory of any layout, numbers that stand out.

Who checks ops (``DebugMode``, ``NanGuardMode``, ``check_op``) asks `ArrayInspection` for these.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.runtime.inspection import Extremes, Inspection, inspections
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike


class ArrayInspection(Inspection):
    """How the modes that check nodes look at arrays.

    Examples
    --------
    >>> import theano.tensor as T
    >>> ArrayInspection(T.dvector).extremes(np.array([1.0, np.nan]))
    Extremes(nan=1, inf=0, largest=1.0)
    """

    kind: TensorType

    def copy_as_laid_out(self, value: TensorLike) -> np.ndarray:
        """Return a copy with the same strides, be they negative, zero or wide."""
        return laid_out_copy(value) if type(value) is np.ndarray else self.kind.value_copy(value)

    def same_bytes(self, a: TensorLike, b: TensorLike) -> bool:
        """Return whether two arrays agree to the last bit."""
        if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
            return False
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()

    def same_layout(self, a: Any, b: Any) -> bool:
        """Return whether two arrays have the same strides, along dimensions where strides mean something."""
        along = [(n, s, t) for n, s, t in zip(np.shape(a), a.strides, b.strides, strict=True)]
        return np.size(a) == 0 or all(n == 1 or s == t for n, s, t in along)

    def spare_memory(self, value: TensorLike, form: str, ndim: int) -> Iterator[tuple[str, Any]]:
        """Yield arrays that ``value`` could be written into."""
        yield from spare_arrays(np.asarray(value), self.kind.broadcastable, form, ndim)

    def extremes(self, value: TensorLike) -> Extremes | None:
        """Return what is NaN, infinite or large; integers are what they are."""
        return extremes_of(value) if self.kind.numpy_dtype.kind in "fc" else None

    def same_where_finite(self, a: Any, b: Any) -> bool:
        """Return whether ``b`` is ``a`` within rounding, where ``a`` is neither infinite nor NaN."""
        return bool(self.kind.values_eq_approx(a, b, allow_remove_inf=True, allow_remove_nan=True))


inspections.register(TensorType, ArrayInspection)


def laid_out_copy(value: np.ndarray) -> np.ndarray:
    """Return a copy with the strides of ``value``, in memory of its own.

    Examples
    --------
    >>> x = np.arange(6.0)[::-2]
    >>> laid_out_copy(x), laid_out_copy(x).strides, np.may_share_memory(laid_out_copy(x), x)
    (array([5., 3., 1.]), (-16,), False)
    """
    if value.size == 0:
        return np.empty_like(value)
    steps = [(n - 1) * s for n, s in zip(value.shape, value.strides, strict=True)]
    before = -sum(min(step, 0) for step in steps)
    size = before + sum(max(step, 0) for step in steps) + value.itemsize
    # Bytes at the same distance from a full alignment, so that what was not aligned is not aligned again.
    offset = (value.__array_interface__["data"][0] - before) % 64
    raw = np.zeros(size + 128, dtype=np.uint8)
    start = (-raw.__array_interface__["data"][0]) % 64 + offset
    copy = np.ndarray(value.shape, value.dtype, raw.data, start + before, value.strides)
    copy[...] = value
    return copy


def spare_arrays(
    value: np.ndarray, broadcastable: Sequence[bool], form: str, ndim: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield arrays of the dtype of ``value`` in which there is rubbish; see `Inspection.spare_memory`.

    Examples
    --------
    >>> for name, array in spare_arrays(np.zeros((2, 1)), (False, True), "strided", 1):
    ...     print(name, array.shape, array.strides)
    strided by (1, 2) (2, 1) (16, 16)
    strided by (1, -1) (2, 1) (8, -8)
    strided by (1, -2) (2, 1) (16, -16)
    """
    if form == "previous":
        yield form, _with_rubbish(laid_out_copy(value))
    elif form == "c_contiguous":
        yield form, _with_rubbish(np.empty(value.shape, value.dtype))
    elif form == "f_contiguous":
        yield form, _with_rubbish(np.empty(value.shape, value.dtype, order="F"))
    elif form == "strided":
        last = min(value.ndim, ndim)
        for steps in itertools.product((1, 2, -1, -2), repeat=last):
            if any(step != 1 for step in steps):
                whole = (1,) * (value.ndim - last) + steps
                yield f"strided by {whole}", _strided(value, whole)
    elif form == "wrong_size":
        for shape in _other_shapes(value.shape, broadcastable):
            yield f"of wrong size {shape}", _with_rubbish(np.empty(shape, value.dtype))


def _strided(value: np.ndarray, steps: Sequence[int]) -> np.ndarray:
    wide = np.empty([n * abs(s) for n, s in zip(value.shape, steps, strict=True)], value.dtype)
    return _with_rubbish(wide)[tuple(slice(None, None, s) for s in steps)]


def _other_shapes(shape: Sequence[int], broadcastable: Sequence[bool]) -> Iterator[tuple[int, ...]]:
    """Yield shapes that differ from ``shape`` where the type lets them."""
    free = [d for d, one in enumerate(broadcastable) if not one]
    found = [[(d, +1)] for d in free] + [[(d, -1)] for d in free]
    if len(free) > 1:
        found += [[(d, change) for d in free] for change in (+1, -1)]
    for changes in found:
        other = list(shape)
        for d, change in changes:
            other[d] = max(other[d] + change, 0)
        if tuple(other) != tuple(shape):
            yield tuple(other)


def _with_rubbish(array: np.ndarray) -> np.ndarray:
    """Fill an array with numbers that no computation gives."""
    # Small enough for every dtype, and such that a sum that starts from it is wrong by more than rounding.
    array[...] = array.dtype.kind == "b" or 77
    return array


def extremes_of(value: TensorLike) -> Extremes:
    """Return how many elements are NaN and infinite, and the largest of the others by absolute value.

    Examples
    --------
    >>> extremes_of(np.array([1.0, -5.0, np.inf]))
    Extremes(nan=0, inf=1, largest=5.0)
    """
    array = np.asarray(value)
    with np.errstate(all="ignore"):
        nan, inf = np.isnan(array), np.isinf(array)
        ordinary = np.abs(array[~(nan | inf)])
        largest = float(ordinary.max()) if ordinary.size else 0.0
    return Extremes(int(nan.sum()), int(inf.sum()), largest)
