"""Triangles and ranges against NumPy, where programs for Theano leave the usual: stacks, fractions, negative sizes, bool."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T

n = T.lscalar("n")


def test_sizes_of_triangles_are_those_of_numpy():
    numbers = [
        (-1,), (0,), (2.5,), (3, -1), (-1, 3), (2, 2.5, 1), (2.5, 3, -1), (0, -1), (np.float32(1.5), np.int8(2)), (-2.5, 2)
    ]
    made = [T.tri(*each) for each in numbers] + [T.tri(n * 1.25, n), T.tri(-1, n), T.tri(n, -3)]
    wanted = [np.tri(*each) for each in numbers] + [np.tri(2.5, 2), np.tri(-1, 2), np.tri(2, -3)]
    for found, array in zip(theano.function([n], made)(2), wanted, strict=True):
        np.testing.assert_array_equal(found, array, strict=True)
    with pytest.raises(ValueError, match="negative dimensions"):
        T.tri(n).eval({n: -1})


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
def test_triangles_of_stacks(mode):
    rng = np.random.default_rng(0)
    stack, deep = rng.normal(size=(2, 3, 4)), rng.integers(-9, 9, (2, 1, 4, 3)).astype("int16")
    s, d = T.dtensor3("s"), T.TensorType("int16", (False, True, False, False))("d")
    cases = [(f, k, of) for f in ("tril", "triu") for k in (-1, 0, 2) for of in (0, 1)]
    made = [getattr(T, f)((s, d)[of], k) for f, k, of in cases]
    slope = T.grad((T.tril(s) * s).sum(), s)
    *found, of_s = theano.function([s, d], [*made, slope], mode=mode)(stack, deep)
    for (f, k, of), array in zip(cases, found, strict=True):
        np.testing.assert_array_equal(array, getattr(np, f)((stack, deep)[of], k), strict=True)
    np.testing.assert_allclose(of_s, 2 * np.tril(stack))


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
def test_ranges_of_bool(mode):
    made = [T.arange(n, dtype="bool"), T.arange(1, n + 3, 2, dtype="bool"), T.arange(-1, 2, dtype="bool")]
    for found, wanted in zip(theano.function([n], made, mode=mode)(2), ([0, 1], [1, 1], [1, 0, 1]), strict=True):
        np.testing.assert_array_equal(found, np.array(wanted, "bool"), strict=True)


def test_differences_of_bool():
    b = T.TensorType("bool", (False, False))("b")
    value = np.random.default_rng(1).random((4, 5)) < 0.5
    for args in ((), (2,), (1, 0), (3, 1)):
        np.testing.assert_array_equal(T.diff(b, *args).eval({b: value}), np.diff(value, *args), strict=True)
