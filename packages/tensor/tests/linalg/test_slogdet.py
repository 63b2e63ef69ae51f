"""Logarithms of determinants that no double holds: as a function, and where a program takes them of ``det``."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.linalg.determinant import SLogDet

det, slogdet = T.nlinalg.det, T.nlinalg.slogdet
A, B, c = T.dmatrix("A"), T.dmatrix("B"), T.dscalar("c")
rng = np.random.default_rng(0)


def definite(n: int, scale: float) -> np.ndarray:
    m = rng.normal(size=(n, n))
    return scale * (m @ m.T / n + np.eye(n))


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_values_are_numpys(dtype: str, mode: str) -> None:
    x = T.matrix(dtype=dtype)
    f = theano.function([x], slogdet(x), mode=mode)
    for n in (0, 1, 2, 3, 7, 40):
        given = rng.normal(size=(n, n)) * 3
        given = (given + 1j * rng.normal(size=(n, n)) if dtype[0] == "c" else given).astype(dtype)
        singular = given.copy()
        singular[-1:] = 0
        for value in (given, given[::-1], -given, singular, given.T):
            for ours, theirs in zip(f(value), np.linalg.slogdet(value), strict=True):
                assert ours.dtype == theirs.dtype
                np.testing.assert_allclose(ours, theirs, 1e-4 if dtype in ("float32", "complex64") else 1e-12)


def test_gradient_of_the_sign_is_zero() -> None:
    np.testing.assert_array_equal(theano.function([A], T.grad(slogdet(A)[0], A))(np.ones((2, 2))), 0)


#: Logarithms with determinants in them; their coefficients for log(det(A)) and log(det(B)), and what else they add.
LOGARITHMS = {
    "log": (T.log(det(A)), 1, 0, 0),
    "absolute": (T.log(abs(det(A))), 1, 0, 0),
    "square": (T.log(T.sqr(det(A))), 2, 0, 0),
    "power": (T.log(det(A) ** 3), 3, 0, 0),
    "reciprocal": (T.log(1 / det(A)), -1, 0, 0),
    "normal distribution": (T.log(1 / T.sqrt((2 * np.pi) ** 3 * det(A))), -0.5, 0, -1.5 * np.log(2 * np.pi)),
    "quotient": (T.log(c * det(A) / det(B)), 1, -1, np.log(3.0)),
    "moved": (T.log(det(A).dimshuffle("x", "x"))[0, 0], 1, 0, 0),
    "two users": (T.log(det(A)) + 0 * T.log(det(A)) ** 2, 1, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_logarithms_of_determinants_and_their_gradients(scale: float) -> None:
    costs = [cost for cost, *_ in LOGARITHMS.values()]
    slopes = [T.grad(cost, A) for cost in costs]
    f = theano.function([A, B, c], [*costs, *slopes], on_unused_input="ignore")
    a, b = definite(300, scale), definite(300, 1 / scale)
    (_, of_a), (_, of_b) = np.linalg.slogdet(a), np.linalg.slogdet(b)
    found, inverse = f(a, b, 3.0), np.linalg.inv(a).T
    for i, (name, (_, m, n, more)) in enumerate(LOGARITHMS.items()):
        np.testing.assert_allclose(found[i], m * of_a + n * of_b + more, 1e-10, err_msg=name)
        np.testing.assert_allclose(found[len(costs) + i], m * inverse, 1e-8, abs(inverse).max() * 1e-8, err_msg=name)


def test_signs() -> None:
    f = theano.function([A], [T.log(det(A)), T.log(abs(det(A))), T.log(-det(A))])
    swapped = 5.0 * np.eye(400)[[1, 0, *range(2, 400)]]
    np.testing.assert_allclose(f(swapped), [np.nan, 400 * np.log(5), 400 * np.log(5)], 1e-13)
    np.testing.assert_array_equal(f(np.zeros((2, 2)))[:2], -np.inf)


def test_a_matrix_that_is_factored_anyway_is_factored_once() -> None:
    f = theano.function([A], [T.log(det(A)), T.slinalg.cholesky(A)])
    ops = [type(node.op).__name__ for node in f.maker.fgraph.toposort()]
    assert ops.count("Cholesky") == 1 and not {"Det", "SLogDet"} & set(ops)
    m = definite(300, 1e3)
    np.testing.assert_allclose(f(m)[0], np.linalg.slogdet(m)[1], 1e-13)


def test_node_by_node() -> None:
    node, storage = SLogDet().make_node(A), [[None], [None]]
    node.op.perform(node, [np.array([[0.0, 2], [4, 0]])], storage)
    np.testing.assert_allclose([cell[0] for cell in storage], [-1, np.log(8)])
