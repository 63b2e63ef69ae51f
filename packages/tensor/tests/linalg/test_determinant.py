"""Derivatives of the determinant to the second order, of matrices of every rank; and what stays of their plans."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.linalg.determinant import Adjugate, AdjugateAlong, det

A, D = T.dmatrices("A", "D")
SLOPE = T.grad(det(A), A)
OUTPUTS = [SLOPE, T.grad((SLOPE * D).sum(), A), T.Rop(SLOPE, A, D), T.Rop(det(A), A, D), Adjugate()(A)]


def cofactors(m: np.ndarray) -> np.ndarray:
    minor = lambda i, j: np.delete(np.delete(m, i, 0), j, 1)
    n = len(m)
    return np.array([[(-1) ** (i + j) * np.linalg.det(minor(i, j)) for j in range(n)] for i in range(n)]).reshape(n, n)


def cofactors_along(m: np.ndarray, way: np.ndarray) -> np.ndarray:
    """Return the derivative of the cofactors along a way, on which they are a polynomial of degree ``n - 1``."""
    n = len(m)
    steps = np.arange(n) - (n - 1) / 2
    values = np.array([cofactors(m + t * way) for t in steps]).reshape(n, -1)
    return np.linalg.solve(np.vander(steps, increasing=True), values)[1].reshape(n, n) if n > 1 else np.zeros((1, 1))


def matrices(n: int, rank: int) -> list[np.ndarray]:
    """Return matrices of whole numbers of a rank, diagonal and nilpotent ones among them."""
    rng = np.random.default_rng(10 * n + rank)
    products = [rng.integers(-3, 4, (n, rank)) @ rng.integers(-3, 4, (rank, n)) for _ in range(3)]
    shifted = np.diag([1.0] * rank + [0] * (n - 1 - rank), 1) if rank < n else np.eye(n)[::-1]
    return [m.astype(float) for m in (*products, np.diag([1.0] * rank + [0] * (n - rank)), shifted)]


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_every_rank(mode: str) -> None:
    f = theano.function([A, D], OUTPUTS, mode=mode)
    for n in range(1, 6):
        for rank in range(n + 1):
            for m in matrices(n, rank):
                way = np.random.default_rng(rank).integers(-2, 3, (n, n)).astype(float)
                first, second = cofactors(m), cofactors_along(m, way)
                found = f(m, way)
                scale = max(1.0, abs(m).max()) ** (n - 1)
                for value, exact in zip(found, [first, second, second, (first * way).sum(), first.T], strict=True):
                    np.testing.assert_allclose(value, exact, 0, 1e-11 * scale, err_msg=f"{m.tolist()}, {way.tolist()}")


def test_node_by_node() -> None:
    """Outside of compiled code, and for numbers whose determinant is too small for a double."""
    for m in (np.diag([2.0, 0, 0]), np.diag([1e-200, 2e-200]), np.array([[2.0, 1], [1, 1]])):
        for op in (Adjugate(), AdjugateAlong()):
            inputs = [A, D][: len(op.make_node(*[A, D][: 1 + isinstance(op, AdjugateAlong)]).inputs)]
            given, storage = [m, np.ones_like(m)][: len(inputs)], [[None]]
            op.perform(op.make_node(*inputs), given, storage)
            exact = cofactors(m).T if len(inputs) == 1 else cofactors_along(m.T, np.ones_like(m))
            np.testing.assert_allclose(storage[0][0], exact, 1e-12, 1e-15)


def test_single_precision() -> None:
    x = T.fmatrix("x")
    slope = T.grad(det(x), x)
    assert slope.dtype == "float32"
    found = theano.function([x], slope)(np.float32([[1, 2, 3], [2, 4, 6], [1, 0, 1]]))
    np.testing.assert_allclose(found, [[4, 4, -4], [-2, -2, 2], [0, 0, 0]], 1e-5, 1e-5)


def test_third_derivative() -> None:
    way = T.dmatrix("way")
    second = T.grad((T.grad(det(A), A) * D).sum(), A)
    third = T.grad((second * way).sum(), A)
    m, d, w = np.random.default_rng(5).normal(size=(3, 4, 4))
    found, f = theano.function([A, D, way], third)(m, d, w), theano.function([A, D], second)
    step = 1e-5
    wanted = (f(m + step * w, d) - f(m - step * w, d)) / (2 * step)
    np.testing.assert_allclose(found, wanted, 1e-7, 1e-8)


@pytest.mark.parametrize("cost", [T.log, lambda d: T.log(abs(d)), lambda d: T.log(d**2), T.inv], ids="log abs square inv".split())
def test_what_divides_by_the_determinant_has_no_other_form(cost: Any) -> None:
    slope = T.grad(cost(det(A)), A)
    f = theano.function([A, D], [slope, T.grad((slope * D).sum(), A)], on_unused_input="ignore")
    assert not {"SVD", "IfElse", "Adjugate"} & {type(node.op).__name__ for node in f.maker.fgraph.toposort()}


def test_logarithm_of_large_matrices() -> None:
    """The determinant overflows, its logarithm's derivatives do not: it cancels."""
    m = 1e3 * np.eye(200) + np.random.default_rng(6).normal(size=(200, 200))
    found = theano.function([A], T.grad(T.log(det(A)), A))(m)
    np.testing.assert_allclose(found, np.linalg.inv(m).T, 1e-9)
