"""Reductions, and where the largest element is: the device against the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from compare import FLOATS, LAYOUTS, WHOLE, agree, nodes, numbers, variable

import theano.tensor as T


@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 1), (0, 2), (1, 2)], ids=str)
@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 300, 2), (300, 1, 1), (2, 2, 700), (0, 3, 2)], ids=str)
def test_axes(axis, shape):
    x = T.dtensor3("x")
    value = numbers(shape, "float64")
    outputs = [x.sum(axis=axis), T.prod(T.cos(x), axis=axis), (x * x).sum(axis=axis)]
    if 0 not in shape:
        outputs += [x.max(axis=axis), T.exp(x).min(axis=axis)]
    agree([x], outputs, [value])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", [0, 1], ids=str)
def test_reductions_of_any_layout(layout, axis):
    x = T.fmatrix("x")
    agree([x], [x.sum(axis=axis), x.max(axis=axis)], [LAYOUTS[layout](numbers((40, 70), "float32"))])


@pytest.mark.parametrize("dtype", FLOATS + WHOLE)
def test_dtypes_of_reductions(dtype):
    x = variable(dtype, 2)
    outputs = [x.sum(axis=1), x.max(axis=0), x.min()] if dtype != "bool" else [x.sum(axis=1), x.any(axis=0), x.all()]
    agree([x], outputs, [numbers((6, 9), dtype)])


@pytest.mark.parametrize(
    "count", [1, 2, 15, 16, 17, 31, 33, 255, 256, 257, 511, 513, 4095, 4097, 8193, 70_001, 300_000]
)
def test_both_sides_of_every_split(count):
    x = T.dvector("x")
    value = np.arange(count, dtype="float64") % 97 - 40
    agree([x], [x.sum(), x.max(), (x * x).sum()], [value], 1e-13)


@pytest.mark.parametrize("shape", [(2, 100_000), (100_000, 2), (700, 700), (3, 40_000)], ids=str)
@pytest.mark.parametrize("axis", [0, 1])
def test_parts_of_long_sums(shape, axis):
    x = T.dmatrix("x")
    agree([x], [x.sum(axis=axis), x.min(axis=axis)], [numbers(shape, "float64")], 1e-10)


def test_nan_in_extremes():
    x = T.dmatrix("x")
    value = numbers((5, 300), "float64")
    value[1, 7] = value[3, 299] = np.nan
    agree([x], [x.max(axis=1), x.min(axis=0), x.max()], [value])


@pytest.mark.parametrize("dtype", (*FLOATS, "int32", "bool"))
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2)], ids=str)
def test_places_of_extremes(dtype, axis):
    x = variable(dtype, 3)
    value = numbers((4, 50, 3), dtype)
    f = agree([x], T.argmax(x, axis=axis), [value])
    assert type(nodes(f)[0][0].op).__name__ == "GpuArgmax"
    if dtype not in ("bool",):
        agree([x], T.argmin(x, axis=axis), [value])


def test_the_first_of_equal_ones_and_of_those_that_are_no_numbers():
    x = T.dmatrix("x")
    value = np.zeros((6, 600))
    value[1, 300:] = 1
    value[2, [5, 400]] = np.nan
    value[3] = -np.inf
    agree([x], [T.argmax(x, axis=1), T.argmax(x, axis=0)], [value])
    np.testing.assert_array_equal(agree([x], T.argmax(x, axis=1), [value])(value)[0], value.argmax(1))
