"""Derivatives of cumulative products, where elements are 0, too, and of linear recurrences, which they are made of."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.sort.cumulative import LinearRecurrence, products_of_others


def jacobian(x: np.ndarray) -> np.ndarray:
    """Return d(product up to i)/d(element k), each as the product of the other elements."""
    n = len(x)
    return np.array([[np.prod(np.delete(x[: i + 1], k)) if k <= i else 0 for k in range(n)] for i in range(n)])


def hessians(x: np.ndarray) -> np.ndarray:
    """Return d2(product up to i)/d(element k) d(element l)."""
    n = len(x)
    found = np.zeros((n, n, n))
    for i, k, l in itertools.product(range(n), repeat=3):
        if k != l and max(k, l) <= i:
            found[i, k, l] = np.prod(np.delete(x[: i + 1], [k, l]))
    return found


def test_derivatives_of_products() -> None:
    """To the second order and along directions, for all choices of three numbers in four places."""
    x, d, w = T.dvectors("x", "d", "w")
    y = T.cumprod(x)
    (first,) = T.grad((y * w).sum(), [x])
    second = T.grad((first * d).sum(), x)
    forward = T.Rop(y, x, d)
    f = theano.function([x, d, w], [first, second, forward, T.Rop(forward, x, d)])
    rng = np.random.default_rng(0)
    for value in map(np.array, itertools.product([0.0, 2.0, -3.0], repeat=4)):
        way, weights = rng.integers(-4, 5, (2, 4)).astype(float)
        j, h = jacobian(value), hessians(value)
        wanted = [weights @ j, np.einsum("i,ikl,l", weights, h, way), j @ way, np.einsum("ikl,k,l->i", h, way, way)]
        for found, exact in zip(f(value, way, weights), wanted, strict=True):
            np.testing.assert_array_equal(found, exact)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_axes(dtype: str) -> None:
    """The gradient along each axis of an array, and of the flat one, of lengths 0 and 1, too."""
    x = T.tensor3(dtype=dtype)
    costs = [abs(T.cumprod(x, axis)[..., -1:] if axis is not None else T.cumprod(x)).sum() for axis in (0, 1, -1, None)]
    f = theano.function([x], [T.grad(c, x) for c in costs])
    numbers = np.random.default_rng(1).uniform(0.5, 2, (2, 3, 2)).astype(dtype)
    if "complex" in dtype:
        numbers = (numbers * np.exp(1j * np.arange(12).reshape(2, 3, 2))).astype(dtype)
    step = 1e-6
    for found, axis in zip(f(numbers), (0, 1, -1, None), strict=True):
        wide = numbers.astype("complex128" if "complex" in dtype else "float64")

        def cost(z: np.ndarray, axis: Any = axis) -> float:
            products = np.cumprod(z, axis)
            return float(abs(products[..., -1:] if axis is not None else products).sum())

        for place in np.ndindex(*wide.shape):
            slope = 0
            for unit in (1, 1j)[: 1 + ("complex" in dtype)]:
                move = np.zeros_like(wide)
                move[place] = unit * step
                slope = slope + unit * (cost(wide + move) - cost(wide - move)) / (2 * step)
            accuracy = {"float16": 2e-2, "float32": 1e-5, "complex64": 1e-5}.get(dtype, 1e-7)
            np.testing.assert_allclose(found[place], slope, accuracy, accuracy)
    for shape in ((0, 3, 2), (1, 1, 1), (2, 0, 1)):
        assert [g.shape for g in f(np.ones(shape, dtype))] == [shape] * 4


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128"])
def test_recurrence(dtype: str, transposed: bool) -> None:
    """C against NumPy's loop, in all layouts and at both sides of a block; what it is the matrix of."""
    a, b = T.TensorType(dtype, (False,) * 3)(), T.TensorType(dtype, (False,) * 3)()
    ops = [LinearRecurrence(axis, transposed) for axis in range(3)]
    f = theano.function([a, b], [op(a, b) for op in ops])
    rng = np.random.default_rng(2)
    for shape in ((4, 3, 5), (1, 2, 1), (3, 2, 1025), (0, 2, 3), (2, 0, 3), (1030, 1, 2)):
        values = [(rng.integers(-1, 2, shape) / 1.0).astype(dtype) for _ in range(2)]
        turned = [np.asfortranarray(v) for v in values]
        backwards = [v[::-1, :, ::-1] for v in values]
        for given in (values, turned, backwards, [values[0], backwards[1]]):
            for op, found in zip(ops, f(*given), strict=True):
                storage: list[Any] = [[None]]
                op.perform(op.make_node(a, b), given, storage)
                np.testing.assert_array_equal(found, storage[0][0])
    factors, terms = rng.normal(size=(2, 5, 1, 1))
    matrix = np.eye(5) - np.diag(factors[1:, 0, 0], -1)
    wanted = np.linalg.solve(matrix.T if transposed else matrix, terms[:, 0, 0])
    if dtype == "float64":
        np.testing.assert_allclose(f(factors, terms)[0][:, 0, 0], wanted, 1e-12)
    with pytest.raises(ValueError, match="(?i)mis-match"):
        f(np.ones((2, 2, 2), dtype), np.ones((2, 3, 2), dtype))


def test_derivatives_of_recurrences() -> None:
    from theano.tensor.testing.verify import verify_grad  # it loads what only testers need

    values = [np.random.default_rng(3).normal(size=(4, 2)) for _ in range(2)]
    for transposed in (False, True):
        op = LinearRecurrence(0, transposed)
        verify_grad(op, values, rng=np.random)
        a, b = T.dmatrices("a", "b")
        ways = [T.constant(v) for v in values[::-1]]
        out = op(a, b)
        gradients = T.grad((out * out).sum(), [a, b])
        by_gradient = sum((g * w).sum() for g, w in zip(gradients, ways, strict=True))
        first, second = theano.function([a, b], [by_gradient, (T.Rop(out, [a, b], ways) * 2 * out).sum()])(*values)
        np.testing.assert_allclose(first, second, 1e-12)


def test_recurrence_takes_floats_of_one_shape() -> None:
    with pytest.raises(TypeError, match="two tensors of floating-point numbers with an axis 1"):
        LinearRecurrence(1)(T.dvector("a"), T.dvector("b"))
    with pytest.raises(TypeError, match="floating-point"):
        LinearRecurrence(0)(T.lvector("a"), T.lvector("b"))


def test_products_of_others() -> None:
    x = T.dmatrix("x")
    f = theano.function([x], [products_of_others(x, 0), products_of_others(x, 1)])
    value = np.array([[2.0, 0, 3], [0, 4, 5], [0, 0, 7]])
    first, second = f(value)
    for place in np.ndindex(3, 3):
        assert first[place] == np.delete(value[:, place[1]], place[0]).prod()
        assert second[place] == np.delete(value[place[0]], place[1]).prod()
    assert [v.shape for v in f(np.ones((1, 0)))] == [(1, 0)] * 2
