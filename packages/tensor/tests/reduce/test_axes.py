"""Axes and lengths as users write them: each form that is taken, each that is refused, on both sides of each bound."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracle import run

import theano.tensor as T
from theano.tensor.index.lengths import slice_length
from theano.tensor.reduce.axes import normalize_axes


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_axes_are_counted_from_0_in_order(ndim):
    for axis in range(-ndim, ndim):
        wanted = (axis % ndim,)
        for written in (
            axis,
            float(axis),
            np.int8(axis),
            np.array(axis),
            np.array([axis]),
            [axis],
            (axis,),
            T.constant(axis),
            T.constant([axis]),
        ):
            assert normalize_axes(written, ndim) == wanted, written
    assert normalize_axes(None, ndim) is None and normalize_axes((), ndim) == ()
    assert normalize_axes(list(range(ndim))[::-1], ndim) == normalize_axes(np.arange(ndim), ndim) == tuple(range(ndim))


@pytest.mark.parametrize(
    ("axis", "ndim", "error"),
    [
        (2, 2, ValueError), (-3, 2, ValueError), (0, 0, ValueError), (-1, 0, ValueError), ((0, 0), 2, ValueError), ((1, -1), 2, ValueError),
        (0.5, 2, TypeError), (True, 2, TypeError), ("0", 2, (TypeError, ValueError)), (np.array([0.0]), 2, TypeError), (np.array([[0]]), 2, TypeError),
        ([np.array([0]), 1], 2, TypeError), (1j, 2, TypeError),
    ],
)  # fmt: skip
def test_axes_that_are_none(axis, ndim, error):
    with pytest.raises(error):
        normalize_axes(axis, ndim)


@pytest.mark.parametrize("step", [None, 2, -1, -3])
def test_slices_of_numbers_and_of_symbols_against_python(step):
    """How many elements: ends before, at and behind both ends of the axis."""
    n, names = T.lscalar("n"), T.lscalars("start", "stop", "step")
    ends = (None, -3, -1, 0, 2)
    for start, stop in itertools.product(ends, ends):
        numbers = (start, stop, step)
        symbols = tuple(v if v is None else s for v, s in zip(numbers, names, strict=True))
        for form in (slice(*numbers), slice(*symbols)):
            given = dict(zip(names, (v or 0 for v in numbers), strict=True))
            for length in (0, 2, 5):
                count = run(T.as_tensor_variable(slice_length(form, n)), {**given, n: length})
                assert int(count) == len(range(length)[start:stop:step]), (form, length)
