"""Arrays of other libraries, and memory that is no array, as arrays on the same memory.

Three protocols are understood, in this order: what NumPy itself takes (``__array__``, ``__array_interface__``,
``__array_struct__``), the buffer interface of Python, and DLPack. So tensors of torch, columns and tables of PyArrow,
polars and pandas, data arrays of xarray, ``memoryview``, ``array.array`` and arrays of ctypes are inputs, shared
values and constants like arrays of NumPy. What is on a device is its library's to copy to the host.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from theano.graph.variable import Variable

_BY_NUMPY = ("__array_interface__", "__array_struct__", "__array__")
_OURS = (np.ndarray, np.generic, bool, int, float, complex, str, bytes, list, tuple, Variable)


def _is_buffer(value: object) -> bool:
    """Return whether a value has the buffer interface and numbers of a stated dtype; bytes are text as often as not."""
    # An array of the module `array` exists only if that module is imported.
    module: Any = sys.modules.get("array")
    return isinstance(value, (memoryview, ctypes.Array)) or (module is not None and isinstance(value, module.array))


def speaks(value: object) -> bool:
    """Return whether a value is no array of NumPy's, but has its elements in memory and says so.

    Examples
    --------
    >>> speaks(memoryview(b"abc")), speaks(np.zeros(3)), speaks([1, 2]), speaks(b"abc")
    (True, False, False, False)
    """
    if isinstance(value, _OURS):
        return False
    kind = type(value)
    return _is_buffer(value) or hasattr(kind, "__dlpack__") or any(hasattr(value, name) for name in _BY_NUMPY)


def in_memory(value: Any) -> Any:
    """Return what speaks one of the protocols as an array on its memory, anything else as it is.

    Raises
    ------
    ValueError
        The other library will not have it: it is on a device, say, or is part of a computation that it records.

    Examples
    --------
    >>> import array
    >>> numbers = array.array("d", [1, 2, 3])
    >>> same = in_memory(numbers)
    >>> numbers[0] = 7
    >>> same, in_memory("text")
    (array([7., 2., 3.]), 'text')
    """
    if not speaks(value):
        return value
    by_numpy = _is_buffer(value) or any(hasattr(value, name) for name in _BY_NUMPY)
    try:
        return np.asarray(value) if by_numpy else np.from_dlpack(value)
    except (RuntimeError, TypeError, BufferError) as problem:
        raise ValueError(
            f"the memory of a {type(value).__module__}.{type(value).__name__} cannot be had: {problem}"
        ) from problem


__all__ = ["in_memory", "speaks"]
