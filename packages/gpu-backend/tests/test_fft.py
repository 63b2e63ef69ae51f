"""Fourier transforms of real batches: the device against NumPy, whose truth is in wider floats."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from compare import LAYOUTS, MODE, agree, nodes

import theano
import theano.tensor as T
from theano.tensor import fft

DTYPES = ("float32", "float64")
#: Each factor by itself and beside others, squares, both sides of a group of work-items;
#: then what is transformed by a convolution.
LENGTHS = (*range(1, 18), 25, 49, 61, 64, 120, 121, 128, 210, 255, 256, 1000, 2048, 67, 134, 257, 1009, 67 * 71)


def tensor(dtype, ndim, name="x"):
    return T.TensorType(dtype, (False,) * ndim)(name)


def parts(z):
    return np.stack([z.real, z.imag], axis=-1)


def near(found, expected, dtype, length=1):
    """Assert that numbers differ by rounding, which grows with the root of the largest prime factor."""
    assert found.dtype == dtype and found.shape == expected.shape
    if found.size:
        scale = np.sqrt(np.mean(np.square(expected, dtype="float64"))) or 1.0
        bound = (16 + 2 * length**0.5) * np.finfo(dtype).eps * scale
        assert np.abs(found - expected).max() <= bound, (found.shape, np.abs(found - expected).max() / bound)


def on_the_device(op, dtype, ndim):
    x, s = tensor(dtype, ndim), T.lvector("s")
    f = theano.function([x, s], op(x, s), mode=MODE)
    assert [type(n.op).__name__ for n in nodes(f)[0]] == ["CuRFFTOp" if op is fft.rfft_op else "CuIRFFTOp"]
    return f


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_length_forth_and_back(dtype):
    rng, forth, back = np.random.default_rng(0), on_the_device(fft.rfft_op, dtype, 2), on_the_device(fft.irfft_op, dtype, 3)
    for n in LENGTHS:
        x = rng.normal(size=(3, n)).astype(dtype)
        near(forth(x, [n]), parts(np.fft.rfft(x.astype("longdouble"))), dtype, n)
        z = rng.normal(size=(3, n // 2 + 1, 2)).astype(dtype)
        wide = z.astype("longdouble")
        near(back(z, [n]), np.fft.irfft(wide[..., 0] + 1j * wide[..., 1], n) * n, dtype, n)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape,s", [
    ((2, 5, 6), (5, 6)), ((2, 5, 6), (8, 4)), ((2, 5, 6), (3, 9)), ((1, 1, 1), (1, 1)), ((0, 4, 4), (4, 4)), ((2, 0, 3), (4, 3)),
    ((2, 3, 4, 5), (3, 4, 5)), ((3, 2, 3, 2), (5, 1, 7)), ((2, 16, 16), (16, 16)), ((2, 70, 3), (67, 71)), ((1, 3, 2, 2, 3), (3, 2, 2, 3)),
], ids=str)  # fmt: skip
def test_several_axes_that_are_cut_or_filled_up(shape, s, dtype):
    rng, ndim = np.random.default_rng(1), len(shape)
    x, axes = rng.normal(size=shape).astype(dtype), tuple(range(1, ndim))
    wide = x.astype("longdouble") if x.size or not shape[0] else np.zeros((shape[0], *s))
    near(on_the_device(fft.rfft_op, dtype, ndim)(x, list(s)), parts(np.fft.rfftn(wide, s=s, axes=axes)), dtype)
    z = rng.normal(size=(*shape, 2)).astype(dtype)
    wide = z.astype("longdouble") if z.size or not shape[0] else np.zeros((shape[0], *s, 2))
    wanted = np.fft.irfftn(wide[..., 0] + 1j * wide[..., 1], s=s, axes=axes) * np.prod(s)
    near(on_the_device(fft.irfft_op, dtype, ndim + 1)(z, list(s)), wanted, dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    x = tensor("float64", 3)
    y = T.exp(x)
    outputs = [fft.rfft(x), fft.rfft(y[:, ::-1, ::2]), fft.rfft(y.dimshuffle(2, 0, 1)), fft.irfft(y.dimshuffle(1, 0, 2), is_odd=True)]
    agree([x], outputs, [LAYOUTS[layout](np.random.default_rng(2).normal(size=(4, 6, 2)))], 1e-11, all_there=False)


@pytest.mark.parametrize("norm", [None, "ortho", "no_norm"])
@pytest.mark.parametrize("is_odd", [False, True])
def test_norms_and_gradients(is_odd, norm):
    x, w = tensor("float64", 3), tensor("float64", 4)
    value = np.random.default_rng(3).normal(size=(2, 4, 8 + is_odd))
    spectrum = fft.rfft(x, norm=norm)
    back = fft.irfft(spectrum * w, norm=norm, is_odd=is_odd)
    weights = np.random.default_rng(4).normal(size=(2, 4, 5, 2))
    outputs = [spectrum, back, *T.grad((back**3).sum(), [x, w]), T.Rop(back, x, T.sqr(x))]
    f = agree([x, w], outputs, [value, weights], 1e-9, all_there=False)
    assert not [n for n in nodes(f)[1] if isinstance(n.op, (fft.RFFTOp, fft.IRFFTOp))]


def test_what_has_no_transform(on_device):
    x, z, s = tensor("float64", 2), tensor("float64", 3), T.lvector("s")
    forth, back = on_device([x, s], fft.rfft_op(x, s)), on_device([z, s], fft.irfft_op(z, s))
    for f, value in ((forth, np.ones((2, 3))), (back, np.ones((2, 3, 2)))):
        with pytest.raises(ValueError, match="2 lengths of the signal for 1 axes"):
            f(value, [3, 4])
        with pytest.raises(ValueError, match="a signal of length 0 has no Fourier transform"):
            f(value, [0])
    with pytest.raises(ValueError, match="so its length is 2, not 3"):
        back(np.ones((2, 3, 3)), [4])


def test_documented_names_compute_on_the_device():
    names = importlib.import_module("theano.gpuarray.fft")

    x = theano.gpuarray.GpuArrayType("float64", (False, False))("x")
    value = np.random.default_rng(0).normal(size=(3, 7))
    f = theano.function([x], [names.curfft(x, "ortho"), names.cuirfft(names.curfft(x), is_odd=True)], mode=MODE)
    spectrum, back = (np.asarray(v) for v in f(theano.gpuarray.asarray(value)))
    np.testing.assert_allclose(spectrum, parts(np.fft.rfft(value, norm="ortho")), atol=1e-12)
    np.testing.assert_allclose(back, value, atol=1e-12)
    assert [n for n in nodes(f)[0] if isinstance(n.op, names.CuRFFTOp)] and [n for n in nodes(f)[0] if isinstance(n.op, names.CuIRFFTOp)]
