"""The same numbers, lying in memory in every way that an array can lie."""

from __future__ import annotations

from typing import Any

import numpy as np

LAYOUTS = ("C", "F", "transposed", "reversed", "step2", "offset", "stretched", "unaligned", "swapped", "empty")


def lay(a: np.ndarray, layout: str) -> np.ndarray:
    """Return an array equal to ``a`` (or, for "stretched" and "empty", of its type) in a given layout."""
    if a.ndim == 0 and layout not in ("unaligned", "swapped"):
        return a
    if layout == "C":
        return np.ascontiguousarray(a)
    if layout == "F":
        return np.asfortranarray(a)
    if layout == "transposed":
        return np.ascontiguousarray(a.T).T
    if layout == "reversed":
        return a[(slice(None, None, -1),) * a.ndim].copy()[(slice(None, None, -1),) * a.ndim] if a.ndim else a
    if layout == "step2":
        return _inside(a, [2 * n for n in a.shape], slice(None, None, 2))
    if layout == "offset":
        return _inside(a, [n + 1 for n in a.shape], slice(1, None))
    if layout == "stretched":
        return np.broadcast_to(a[:1], a.shape) if a.ndim and len(a) else a
    if layout == "unaligned":
        raw = np.empty(a.nbytes + 1, dtype="uint8")[1:]
        out = raw.view(a.dtype).reshape(a.shape) if a.size else a.copy()
        out[...] = a
        return out
    if layout == "swapped":
        return a.astype(a.dtype.newbyteorder())
    if layout == "empty":
        return a[:0] if a.ndim else a
    raise ValueError(layout)


def _inside(a: np.ndarray, shape: Any, window: slice) -> np.ndarray:
    buffer = np.zeros(shape, dtype=a.dtype)
    view = buffer[(window,) * a.ndim]
    view[...] = a
    return view


def sample(
    dtype: str, shape: tuple[int, ...], rng: np.random.Generator, low: float = -4, high: float = 4
) -> np.ndarray:
    """Return random numbers of a dtype; whole numbers where the dtype has no others."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    if kind in "iu":
        first = max(int(np.ceil(low)), 0 if kind == "u" else -100)
        return np.asarray(rng.integers(first, max(int(high), first) + 1, shape)).astype(dtype)
    if kind == "c":
        return np.asarray(rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape)).astype(dtype)
    return np.asarray(rng.uniform(low, high, shape)).astype(dtype)
