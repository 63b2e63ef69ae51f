"""Rectangles of elements are copied right from any strides to any others, by the loops of every level of instructions."""

from __future__ import annotations

import ctypes
import itertools

import numpy as np
import pytest
from kernel_harness import runtime

SIDES = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 40, 67]
DTYPES = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64", 16: "complex128"}
SENTINEL = 0xC5


def window(rng, rows, n, size, kind, offset):
    """Return bytes, the place of the first element and two strides that show rows x n elements in them."""
    steps = {
        "C": (n, 1),
        "F": (1, rows),
        "wide": (n + 3, 1),
        "tall": (1, rows + 5),
        "step2": (2 * n, 2),
        "step3": (3 * n + 1, 3),
        "step4": (4 * n, 4),
        "step5": (5 * n, 5),
        "turned3": (3, 3 * rows),
        "back": (-n, -1),
        "back2": (-2 * n, -2),
        "still": (0, 1),
        "column": (1, 0),
        "one": (0, 0),
    }[kind]
    low = sum(min(0, s) * (m - 1) for s, m in zip(steps, (rows, n), strict=True))
    high = sum(max(0, s) * (m - 1) for s, m in zip(steps, (rows, n), strict=True))
    data = rng.integers(0, 256, (high - low + 1) * size + offset, dtype=np.uint8)
    return data, offset - low * size, tuple(s * size for s in steps)


def elements(data, first, strides, rows, n, size):
    """Return the elements of a window as bytes: rows x n x size."""
    return np.lib.stride_tricks.as_strided(data[first:], (rows, n, size), (*strides, 1))


def check(level, rng, rows, n, size, to_kind, from_kind, offset=0):
    to, to_first, to_strides = window(rng, rows, n, size, to_kind, offset)
    source, from_first, from_strides = window(rng, rows, n, size, from_kind, offset)
    wanted = to.copy()
    elements(wanted, to_first, to_strides, rows, n, size)[...] = elements(source, from_first, from_strides, rows, n, size)
    code = runtime().move_at_level(
        ctypes.c_int(level),
        ctypes.c_void_p(to.ctypes.data + to_first),
        *map(ctypes.c_int64, to_strides),
        ctypes.c_void_p(source.ctypes.data + from_first),
        *map(ctypes.c_int64, (*from_strides, rows, n, size)),
    )
    if code:
        pytest.skip("this machine lacks the instructions")
    np.testing.assert_array_equal(to, wanted, err_msg=f"{rows} x {n} of {size}, {from_kind} to {to_kind}")


TO = ["C", "F", "wide", "tall", "step2", "back"]
FROM = ["C", "F", "wide", "tall", "step2", "step3", "step4", "step5", "turned3", "back", "back2", "still", "column", "one"]


@pytest.mark.parametrize("level", range(3))
@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_every_pair_of_strides(level, size):
    rng = np.random.default_rng(level)
    for to_kind, from_kind in itertools.product(TO, FROM):
        for rows, n in ((1, 1), (1, 40), (40, 1), (3, 50), (50, 3), (20, 37), (37, 20), (7, 9)):
            check(level, rng, rows, n, size, to_kind, from_kind)


@pytest.mark.parametrize("level", range(3))
@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_matrices_of_every_size_are_turned(level, size):
    rng = np.random.default_rng(level)
    for rows, n in itertools.product(SIDES, SIDES):
        check(level, rng, rows, n, size, "C", "tall")
        check(level, rng, rows, n, size, "tall", "C")


@pytest.mark.parametrize("level", range(3))
@pytest.mark.parametrize("size", [2, 4, 8, 16])
def test_elements_that_are_not_aligned(level, size):
    rng = np.random.default_rng(level)
    for to_kind, from_kind in itertools.product(TO, FROM):
        check(level, rng, 19, 35, size, to_kind, from_kind, offset=1)


@pytest.mark.parametrize("level", range(3))
@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_lines_of_every_length(level, size):
    rng = np.random.default_rng(level)
    for from_kind in FROM:
        for n in (*SIDES, 63, 64, 65, 127, 129, 1023):
            check(level, rng, 1, n, size, "C", from_kind)
            check(level, rng, 2, n, size, "wide", from_kind)


@pytest.mark.parametrize("level", range(3))
@pytest.mark.parametrize("size", [1, 4, 16])
def test_rows_on_both_sides_of_every_change_of_method(level, size):
    rng = np.random.default_rng(level)
    for length in (15, 16, 17, 63, 64, 65, 127, 128, 192, 1200, 6143, 6144, 6145, 7000):
        for to_kind, from_kind in (("wide", "C"), ("C", "wide"), ("wide", "wide")):
            check(level, rng, 3, -(-length // size), size, to_kind, from_kind, offset=size)


@pytest.mark.parametrize("length", [2**18 - 1, 2**18, 2**18 + 1, 2**19, 3 * 2**18 + 77])
def test_long_lines_are_copied_whole(length):
    rng = np.random.default_rng(length)
    check(0, rng, 1, length, 1, "C", "C")
    check(0, rng, 2, length, 1, "wide", "wide")
    check(0, rng, 3, length, 1, "C", "C")
