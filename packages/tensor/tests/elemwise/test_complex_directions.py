"""Derivatives along a direction of every element-wise function that takes complex numbers, against differences."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.errors import MethodNotDefined
from theano.tensor.elemwise.functions import elementwise_functions

Z = np.array([0.3 + 0.7j, 1.2 - 0.4j, -0.6 + 0.2j, 0.8 + 1.1j])
W = np.array([0.9 - 0.3j, 0.4 + 0.6j, 1.1 + 0.5j, -0.7 + 0.8j])
D, E = (np.random.default_rng(k).normal(size=4) + 1j * np.random.default_rng(k + 9).normal(size=4) for k in (0, 1))
STEP = 1e-6


def of_complex():
    """Yield the functions that take complex128, by name, with how many inputs they have."""
    for name, op in sorted(elementwise_functions().items()):
        count = op.scalar_op.nin if op.scalar_op.nin > 0 else 2
        try:
            y = op(*[T.zvector() for _ in range(count)])
        except TypeError:
            continue
        if y.type.dtype not in T.discrete_dtypes and count <= 2:
            yield name, count


FUNCTIONS = list(of_complex())


def test_they_are_found():
    names = [name for name, _ in FUNCTIONS]
    assert len(names) > 25 and {"exp", "real", "imag", "conj", "abs_", "angle", "mul", "true_div"} <= set(names)


@pytest.mark.parametrize("name, count", FUNCTIONS, ids=[name for name, _ in FUNCTIONS])
def test_along_a_direction(name, count):
    op = elementwise_functions()[name]
    inputs, points = [T.zvector() for _ in range(count)], [T.zvector() for _ in range(count)]
    y = op(*inputs)
    try:
        along = T.Rop(y, inputs, points)
    except MethodNotDefined:
        pytest.skip("it has no derivative")
    assert along.type == y.type
    values, directions = (Z, W)[:count], (D, E)[:count]
    f = theano.function(inputs, y, on_unused_input="ignore")
    ahead = f(*[v + STEP * d for v, d in zip(values, directions, strict=True)])
    behind = f(*[v - STEP * d for v, d in zip(values, directions, strict=True)])
    got = theano.function([*inputs, *points], along, on_unused_input="ignore")(*values, *directions)
    np.testing.assert_allclose(got, (ahead - behind) / (2 * STEP), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("of", [
    T.real, T.imag, abs, T.conj, T.angle, T.exp, lambda z: T.sin(z) * T.conj(z), lambda z: T.real(z) * z,
])  # fmt: skip
def test_complex_numbers_on_the_way_of_real_ones(of):
    x, v = T.dvector(), T.dvector()
    y = of(x * (0.5 - 2j) + 1j)
    along = T.Rop(y, x, v)
    assert along.type == y.type
    at, way = np.array([0.4, -1.3]), np.array([1.0, 0.5])
    f = theano.function([x], y)
    want = (f(at + STEP * way) - f(at - STEP * way)) / (2 * STEP)
    np.testing.assert_allclose(theano.function([x, v], along)(at, way), want, rtol=1e-7, atol=1e-8)
