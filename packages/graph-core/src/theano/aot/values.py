"""Values as NumPy's files: the format ``.npy``, version 1, written from the buffer interface."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from theano.loader.abi import abi_constants

if TYPE_CHECKING:
    from theano.graph.annotations import Value

#: How the format names the dtypes; elements of one byte have no order.
_DESCR = {
    "bool": "|b1", "int8": "|i1", "uint8": "|u1", "int16": "<i2", "uint16": "<u2", "int32": "<i4", "uint32": "<u4",
    "int64": "<i8", "uint64": "<u8", "float16": "<f2", "float32": "<f4", "float64": "<f8", "complex64": "<c8",
    "complex128": "<c16",
}  # fmt: skip
assert {f"TH_{name.upper()}" for name in _DESCR} <= abi_constants().keys()


def npy_bytes(value: Value, dtype: str) -> bytes:
    """Return an array as the bytes of a file.

    Parameters
    ----------
    value : object
        Something with the buffer interface, of numbers in this machine's order, which is that of the file.
    dtype : str

    Examples
    --------
    >>> import io, numpy as np
    >>> np.load(io.BytesIO(npy_bytes(np.arange(6.0).reshape(2, 3).T, "float64"))).tolist()
    [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    """
    view = memoryview(value)
    lengths = view.shape or ()
    shape = f"{lengths[0]}," if len(lengths) == 1 else ", ".join(map(str, lengths))
    text = f"{{'descr': '{_DESCR[dtype]}', 'fortran_order': False, 'shape': ({shape}), }}"
    padding = -(len(text) + 11) % 64
    header = f"{text}{' ' * padding}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + view.tobytes()
