"""The memory layouts in which every kernel must give the same answers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

LAYOUTS = ("C", "F", "transposed", "negative", "step2", "stretched", "offset", "empty", "scalar", "columns")


def laid_out(array: np.ndarray, layout: str) -> np.ndarray:
    """Return an array like ``array`` (equal to it, except for "stretched", "empty" and "scalar") in another layout."""
    if array.ndim == 0:
        return array
    if layout == "C":
        return np.ascontiguousarray(array)
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "transposed":
        # Neither C nor F from three axes on.
        axes = [*range(1, array.ndim), 0]
        back = np.argsort(axes)
        return np.ascontiguousarray(array.transpose(axes)).transpose(back)
    if layout == "negative":
        flip = (slice(None, None, -1),) * array.ndim
        return np.ascontiguousarray(array[flip])[flip]
    if layout == "step2":
        buffer = np.zeros([2 * n for n in array.shape], array.dtype)
        window = buffer[(slice(None, None, 2),) * array.ndim]
        window[...] = array
        return window
    if layout == "columns":
        # The last axis strided, the others not.
        buffer = np.zeros((*array.shape[:-1], 3 * array.shape[-1]), array.dtype)
        buffer[..., ::3] = array
        return buffer[..., ::3]
    if layout == "stretched":
        return np.broadcast_to(array[:1], array.shape)
    if layout == "offset":
        buffer = np.zeros([n + 3 for n in array.shape], array.dtype)
        window = buffer[tuple(slice(1, 1 + n) for n in array.shape)]
        window[...] = array
        return window
    if layout == "empty":
        return np.zeros((0, *array.shape[1:]), array.dtype)
    assert layout == "scalar"
    return array.reshape(-1)[0].reshape(())


def in_all_layouts(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield ``array`` in every layout that keeps its number of axes."""
    for layout in LAYOUTS:
        if layout != "scalar" and array.ndim:
            yield layout, laid_out(array, layout)
    if not array.ndim:
        yield "scalar", array


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, low: float = -4, high: float = 4) -> np.ndarray:
    """Return random numbers of a dtype between two bounds."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if kind == "u":
        low = max(0, int(np.ceil(low)))
        return rng.integers(low, max(low + 1, int(high)), shape).astype(dtype)
    if kind == "i":
        return rng.integers(int(np.ceil(low)), max(int(np.ceil(low)) + 1, int(high)), shape).astype(dtype)
    values = rng.uniform(low, high, shape)
    if kind == "c":
        values = values + 1j * rng.uniform(low, high, shape)
    return np.asarray(values, dtype)


def distance(got: np.ndarray, wanted: np.ndarray) -> float:
    """Return the largest distance between two arrays in units of the last place of the wanted one (0 for equal, nan too)."""
    assert got.dtype == wanted.dtype, f"{got.dtype} is not {wanted.dtype}"
    assert got.shape == wanted.shape, f"{got.shape} is not {wanted.shape}"
    if got.dtype.kind in "biu":
        return float(np.max(got != wanted, initial=0)) * np.inf if (got != wanted).any() else 0.0
    if got.dtype.kind == "c":
        # Rounding errors of one part may be as large as those of the other.
        size = np.maximum(np.abs(wanted), np.abs(got))
        with np.errstate(all="ignore"):
            apart = np.abs(got - wanted) / np.spacing(size.astype(wanted.real.dtype))
        same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    else:
        with np.errstate(all="ignore"):
            apart = np.abs(got.astype("longdouble") - wanted.astype("longdouble")) / np.spacing(np.abs(wanted))
        same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    apart = np.where(same, 0, apart)
    return float(np.max(np.where(np.isnan(apart), np.inf, apart), initial=0))
