"""The exponential of a matrix in C, beside SciPy's, identities and other precisions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from arrays import LAYOUTS, lay

import theano
import theano.tensor as T
from theano.gradient import verify_grad
from theano.tensor.linalg.gradients import ExpmGrad

slinalg = T.slinalg

DTYPES = ["float32", "float64", "complex64", "complex128"]


def compiled(dtype):
    a = T.TensorType(dtype, (False, False))("a")
    f = theano.function([a], slinalg.expm(a))
    (node,) = f.maker.fgraph.toposort()
    assert node.op.c_kernel(node) is not None
    return f


def numbers(n, dtype, scale=1.0, seed=3):
    rng = np.random.default_rng(seed)
    made = rng.normal(size=(n, n)) * scale / np.sqrt(max(n, 1))
    return (made + 1j * rng.normal(size=(n, n)) * scale / np.sqrt(max(n, 1)) if dtype[0] == "c" else made).astype(dtype)


def near(found, expected, dtype, tolerance=None):
    assert found.dtype == dtype and found.shape == expected.shape
    tolerance = tolerance or (1e-5 if dtype in ("float32", "complex64") else 1e-12)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1e-300, np.abs(expected).max(initial=0)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [0, 1e-9, 3e-3, 0.1, 0.5, 1.5, 4, 20])
def test_sizes_and_every_degree(dtype, scale):
    f = compiled(dtype)
    wide = "complex128" if dtype[0] == "c" else "float64"
    for n in (0, 1, 2, 3, 7, 16, 33, 50):
        x = numbers(n, dtype, scale)
        near(f(x), scipy.linalg.expm(x.astype(wide)), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts(dtype):
    f = compiled(dtype)
    for n in (1, 5, 20):
        x = numbers(n, dtype)
        for layout in LAYOUTS:
            if layout == "empty":
                continue
            given = lay(x, layout)
            near(f(given), scipy.linalg.expm(np.array(given, dtype=dtype)), dtype)


def test_what_is_known():
    f = compiled("float64")
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    for angle in (1e-8, 0.3, 3.0, 40.0):
        c, s = np.cos(angle), np.sin(angle)
        near(f(angle * turn), np.array([[c, -s], [s, c]]), "float64", 2e-14 * max(1, angle))
    np.testing.assert_allclose(f(np.diag([-700.0, 0.0, 1.0, 20.0])).diagonal(), np.exp([-700, 0, 1, 20]), rtol=1e-12)
    # Far from normal: what is neglected is not small where norms of powers alone say so.
    near(f([[1.0, 1e6], [0.0, -1.0]]), np.array([[np.e, 1e6 * np.sinh(1)], [0, 1 / np.e]]), "float64", 1e-13)
    x = numbers(30, "float64", 3)
    np.testing.assert_allclose(np.linalg.det(f(x)), np.exp(np.trace(x)), rtol=1e-9)
    near(f(x) @ f(-x), np.eye(30), "float64", 1e-9)


def test_no_number():
    f = compiled("float64")
    for x in ([[np.nan, 0.0], [0.0, 1.0]], [[np.inf, 1.0], [0.0, 1.0]], [[1e200, 1.0], [0.0, -1e200]]):
        assert np.isnan(f(x)).all()
    with pytest.raises(ValueError, match="square"):
        f(np.ones((2, 3)))


@pytest.mark.parametrize("n", [1, 2, 4])
def test_gradients(n):
    rng = np.random.default_rng(5)
    verify_grad(slinalg.expm, [rng.normal(size=(n, n))], rng=rng)
    a, g = T.dmatrices("a", "g")
    f = theano.function([a, g], ExpmGrad()(a, g))
    for node in f.maker.fgraph.toposort():
        assert node.op.c_kernel(node) is not None or node.op.c_code_cache_version() is not None, node
    x, e = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    near(f(x, e), scipy.linalg.expm_frechet(x.T, e, compute_expm=False), "float64")
