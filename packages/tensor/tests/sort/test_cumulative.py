"""Sums and products up to each place have the dtype of NumPy's, unless a program gives one."""

from __future__ import annotations

import numpy as np

import theano
import theano.tensor as T

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64", "complex64"]


def largest(dtype):
    """Return a matrix of the largest numbers of a dtype, whose sums run over it."""
    many = True if dtype == "bool" else np.iinfo(dtype).max if dtype[0] in "iu" else 1.5
    return np.full((2, 3), many, dtype)


def test_dtypes_are_numpys():
    given, found, wanted = [], [], []
    for dtype in DTYPES:
        x, value = T.matrix(dtype=dtype), largest(dtype)
        given.append((x, value))
        for axis in (None, 0, 1, -1):
            found += [T.cumsum(x, axis), x.cumsum(axis), np.cumsum(x, axis), T.cumprod(x, axis), x.cumprod(axis)]
            wanted += [np.cumsum(value, axis)] * 3 + [np.cumprod(value, axis)] * 2
        for chosen in ("int8", np.float64, dtype):
            if dtype[0] != "c":
                found += [T.cumsum(x, 1, dtype=chosen), x.cumprod(axis=0, dtype=chosen), np.cumsum(x, dtype=chosen)]
                wanted += [np.cumsum(value, 1, chosen), np.cumprod(value, 0, chosen), np.cumsum(value, dtype=chosen)]
    for ours, theirs in zip(theano.function([x for x, _ in given], found)(*(v for _, v in given)), wanted, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
