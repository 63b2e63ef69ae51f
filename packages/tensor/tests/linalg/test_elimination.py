"""Factors of elimination beside SciPy's, and their gradient beside finite differences."""

import numpy as np
import pytest
import scipy.linalg
from oracle import run

import theano
import theano.tensor as T

slinalg = T.slinalg

rng = np.random.default_rng(8)

DTYPES = ("float32", "float64", "complex64", "complex128")


def matrix(dtype, *shape):
    """Return numbers, for which a pivot is below the diagonal now and then."""
    drawn = rng.normal(size=shape)
    return np.asarray(drawn + 1j * rng.normal(size=shape) if dtype.startswith("complex") else drawn, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 2, 5, 33, 150])
def test_factors(dtype, n):
    a = T.matrix("a", dtype)
    outputs = [*slinalg.lu_factor(a), *slinalg.lu(a), slinalg.lu(a, p_indices=True)[0], *slinalg.lu(a, permute_l=True)]
    given = matrix(dtype, n, n)
    for layout in (given, given.T, np.repeat(given, 2, 0)[::2]):
        if n:
            factors, exchanged = scipy.linalg.lu_factor(layout)
            wanted = [factors, exchanged, *scipy.linalg.lu(layout), scipy.linalg.lu(layout, p_indices=True)[0],
                      *scipy.linalg.lu(layout, permute_l=True)]  # fmt: skip
        else:
            wanted = [np.zeros((0,) if k in (1, 5) else (0, 0)) for k in range(len(outputs))]
        for found in (theano.function([a], outputs)(layout), run(outputs, {a: layout})):
            for got, expected in zip(found, wanted, strict=True):
                assert got.shape == expected.shape
                np.testing.assert_allclose(got, expected, atol=n * 100 * np.finfo(dtype).eps)
    assert [v.type.dtype for v in outputs[:3]] == [dtype, "int32", given.real.dtype]


def test_singular_matrices_and_whole_numbers():
    a = T.lmatrix("a")
    f = theano.function([a], slinalg.lu(a))
    for given in ([[1, 2], [2, 4]], [[0, 0], [0, 0]], [[0, 1], [0, 2]]):
        p, lower, upper = f(given)
        np.testing.assert_allclose(p @ lower @ upper, given)
        assert np.diag(upper).prod() == 0


def test_what_is_no_number_has_rows_in_some_order():
    a = T.dmatrix("a")
    f = theano.function([a], slinalg.LUFactor()(a))
    for n in (3, 40, 200):
        for bad in (np.nan, np.inf):
            given = matrix("float64", n, n)
            given[n // 2, n // 2] = bad
            for x in (given, np.full((n, n), bad)):
                assert sorted(f(x)[2]) == list(range(n))


@pytest.mark.parametrize("which", range(2))
def test_gradients(which):
    a = T.dmatrix("a")
    given, weights = matrix("float64", 4, 4), matrix("float64", 4, 4)
    cost = (slinalg.lu(a)[1 + which] * weights).sum() + (slinalg.lu_factor(a)[0] ** 2).sum()
    f, g = theano.function([a], cost), theano.function([a], T.grad(cost, a))
    slopes = np.zeros((4, 4))
    for place in np.ndindex(4, 4):
        step = np.zeros((4, 4))
        step[place] = 1e-6
        slopes[place] = (f(given + step) - f(given - step)) / 2e-6
    np.testing.assert_allclose(g(given), slopes, rtol=1e-4, atol=1e-5)


def test_batches():
    a = T.dmatrix("a")
    rows = T.dtensor3("rows")
    f = theano.function([rows], theano.vectorize_graph(slinalg.lu(a), {a: rows}))
    given = matrix("float64", 3, 4, 4)
    p, lower, upper = f(given)
    np.testing.assert_allclose(p @ lower @ upper, given, atol=1e-12)
    assert f(given[:0])[1].shape == (0, 4, 4)
