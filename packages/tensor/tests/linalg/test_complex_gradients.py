"""Gradients of complex matrices, dC/d(re) + i dC/d(im) of a real cost, and derivatives along directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

import theano
import theano.tensor as T

nlinalg, slinalg = T.nlinalg, T.slinalg
rng = np.random.default_rng(0)


def numbers(*shape: int) -> np.ndarray:
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


RIGHT, COLUMN, REGULAR, SINGULAR = numbers(3, 2), numbers(3), numbers(3, 3), numbers(3, 1) @ numbers(1, 3)
#: Expressions, NumPy's of the same, and where: a singular matrix is one but for rounding, and there with a 0, too.
MATRICES: list[tuple[Any, Any, np.ndarray]] = [
    (lambda a: T.dot(a, a), lambda a: a @ a, REGULAR),
    (nlinalg.matrix_inverse, np.linalg.inv, REGULAR),
    (nlinalg.det, np.linalg.det, REGULAR), (nlinalg.det, np.linalg.det, SINGULAR),
    (nlinalg.det, np.linalg.det, np.diag([1 + 1j, 0, 2])),
    (lambda a: nlinalg.slogdet(a)[0], lambda a: np.linalg.slogdet(a)[0], REGULAR),
    (lambda a: nlinalg.slogdet(a)[1], lambda a: np.linalg.slogdet(a)[1], REGULAR),
    (lambda a: slinalg.solve(a, RIGHT), lambda a: np.linalg.solve(a, RIGHT), REGULAR),
    (lambda a: slinalg.solve(a, COLUMN), lambda a: np.linalg.solve(a, COLUMN), REGULAR),
    (lambda a: slinalg.solve(REGULAR, a), lambda a: np.linalg.solve(REGULAR, a), RIGHT),
    (lambda a: slinalg.solve_lower_triangular(a, RIGHT), lambda a: np.linalg.solve(np.tril(a), RIGHT), REGULAR),
    (slinalg.expm, scipy.linalg.expm, REGULAR),
    (T.prod, np.prod, COLUMN), (T.prod, np.prod, np.array([1 + 1j, 0, 2])),
    (lambda a: T.prod(a, no_zeros_in_input=True), np.prod, COLUMN),
    (T.cumprod, np.cumprod, COLUMN), (T.cumprod, np.cumprod, np.array([1 + 1j, 0, 2])),
]  # fmt: skip


def test_against_differences() -> None:
    inputs, outputs, weights = [], [], []
    for build, plain, value in MATRICES:
        a = T.TensorType("complex128", (False,) * value.ndim)()
        weights.append(numbers(*np.shape(plain(value))))
        outputs.append(T.grad(T.real(build(a) * T.constant(weights[-1])).sum(), a))
        inputs.append(a)
    found = theano.function(inputs, outputs)(*[value for _, _, value in MATRICES])
    step = 1e-6
    for (_, plain, value), weight, gradient in zip(MATRICES, weights, found, strict=True):
        cost = lambda z, plain=plain, weight=weight: float(np.real(plain(z) * weight).sum())
        for place in np.ndindex(*value.shape):
            slope = 0j
            for unit in (1, 1j):
                move = np.zeros(value.shape, complex)
                move[place] = unit * step
                slope += unit * (cost(value + move) - cost(value - move)) / (2 * step)
            np.testing.assert_allclose(gradient[place], slope, 1e-5, 1e-6)


def test_along_directions() -> None:
    inputs, outputs, ways = [], [], []
    for build, _, value in MATRICES:
        a = T.TensorType("complex128", (False,) * value.ndim)()
        ways.append(numbers(*value.shape))
        outputs.append(T.Rop(build(a), a, T.constant(ways[-1])))
        inputs.append(a)
    found = theano.function(inputs, outputs)(*[value for _, _, value in MATRICES])
    step = 1e-6
    for (_, plain, value), way, along in zip(MATRICES, ways, found, strict=True):
        wanted = (plain(value + step * way) - plain(value - step * way)) / (2 * step)
        np.testing.assert_allclose(along, wanted, 1e-6, 1e-7)
