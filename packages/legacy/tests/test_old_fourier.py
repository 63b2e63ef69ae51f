"""``theano.tensor.fourier``: transforms along one axis against NumPy's, and their gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.legacy.fourier import Fourier, fft

rng = np.random.default_rng(3)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "complex64", "int8", "bool"])
@pytest.mark.parametrize("n", [None, 1, 3, 4, 9])
@pytest.mark.parametrize("axis", [None, 0, 1, -2])
def test_values_and_shapes(dtype, n, axis):
    value = rng.normal(size=(5, 4)) * (1 + 2j if dtype.startswith("complex") else 1)
    value = value.astype(dtype)
    x = T.matrix(dtype=dtype)
    want = np.fft.fft(value, n, -1 if axis is None else axis)
    f = theano.function([x], [fft(x, n, axis), fft(x, n, axis).shape])
    for at in (value, value[::-1], np.asfortranarray(value)):
        found, shape = f(at)
        expected = want if at is not value[::-1] else np.fft.fft(at, n, -1 if axis is None else axis)
        assert found.dtype == "complex128"
        np.testing.assert_allclose(found, np.fft.fft(at, n, -1 if axis is None else axis), rtol=1e-6, atol=1e-5)
        np.testing.assert_array_equal(shape, expected.shape)


def test_lengths_and_axes_may_be_symbolic():
    x, n, axis = T.dmatrix(), T.iscalar(), T.lscalar()
    y = Fourier()(x, n, axis)
    f = theano.function([x, n, axis], [y, y.shape])
    g = theano.function([x, axis], fft(x, None, axis).shape)
    value = rng.normal(size=(5, 4))
    for axis_ in (0, 1, -1, -2):
        for n_ in (2, 7):
            found, shape = f(value, n_, axis_)
            np.testing.assert_allclose(found, np.fft.fft(value, n_, axis_), atol=1e-12)
            np.testing.assert_array_equal(shape, found.shape)
        np.testing.assert_array_equal(g(value, axis_), value.shape)


@pytest.mark.parametrize("n", [None, 3, 4, 9])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_gradients(n, axis):
    value = rng.normal(size=(3, 4, 2))
    shape = np.fft.fft(value, n, axis).shape
    ups, sides = rng.normal(size=shape), rng.normal(size=shape)
    theano.gradient.verify_grad(
        lambda x: (T.real(fft(x, n, axis)) * ups + T.imag(fft(x, n, axis)) * sides).sum(),
        [value], rng=np.random.RandomState(0),
    )


def test_what_cannot_be_transformed():
    x = T.dmatrix("x")
    with pytest.raises(TypeError, match="has no axis"):
        fft(T.dscalar("s"))
    with pytest.raises(ValueError, match="x has 2 dimensions and no axis 2"):
        fft(x, None, 2)
    with pytest.raises(TypeError, match="must be whole numbers"):
        fft(x, 2.5)
    n = T.iscalar()
    with pytest.raises(ValueError, match="0 elements cannot be transformed"):
        theano.function([x, n], fft(x, n))(np.ones((2, 2)), 0)
    with pytest.raises(NotImplementedError, match="an axis that is known"):
        T.grad(T.real(fft(x, None, n)).sum(), x)
