"""The compiled Fourier transforms: every length, layout and dtype beside NumPy's, and beside ``perform``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from arrays import LAYOUTS, lay

import theano
import theano.tensor as T
from theano.tensor import fft

DTYPES = ["float32", "float64"]
# Each radix by itself and beside others, a square, prime factors beyond the radices; then what is not short.
LENGTHS = [*range(1, 68), 81, 97, 121, 127, 128, 169, 210, 243, 256, 509, 961, 1000, 1009, 2048, 2310]


def tensor(dtype, ndim, name="x"):
    return T.TensorType(dtype, (False,) * ndim)(name)


def parts(z):
    return np.stack([z.real, z.imag], axis=-1)


def spectrum(x, s):
    """The truth, in numbers wider than float64 where the platform has them."""
    if 0 in x.shape[1:]:
        x = np.zeros((len(x), *s))  # filled up
    return np.fft.rfftn(x.astype("longdouble"), s=s, axes=tuple(range(1, x.ndim)))


def signal(z, s):
    if 0 in z.shape[1:]:
        return np.zeros((len(z), *s))
    wide = z.astype("longdouble")
    axes = tuple(range(1, z.ndim - 1))
    return np.fft.irfftn(wide[..., 0] + 1j * wide[..., 1], s=s, axes=axes) * np.prod(s)


def near(found, expected, dtype, ulps=16):
    assert found.dtype == dtype
    assert found.shape == expected.shape
    if found.size:
        scale = np.sqrt(np.mean(np.square(expected, dtype="float64"))) or 1.0
        assert np.abs(found - expected).max() <= ulps * np.finfo(dtype).eps * scale, found.shape


def compiled(op, dtype, ndim):
    x, s = tensor(dtype, ndim), T.lvector("s")
    f = theano.function([x, s], op(x, s))
    for node in f.maker.fgraph.toposort():
        assert node.op.c_kernel(node) is not None, node
    return f


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_length_forth_and_back(dtype):
    forth, back = compiled(fft.rfft_op, dtype, 2), compiled(fft.irfft_op, dtype, 3)
    rng = np.random.default_rng(1)
    for n in LENGTHS:
        for count in (1, 9, 35) if n < 300 else (1, 17):
            x = rng.normal(size=(count, n)).astype(dtype)
            z = forth(x, [n])
            near(z, parts(spectrum(x, (n,))), dtype)
            near(back(z, [n]), signal(z, (n,)), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_long(dtype):
    forth, back = compiled(fft.rfft_op, dtype, 2), compiled(fft.irfft_op, dtype, 3)
    rng = np.random.default_rng(2)
    for n in (2**16, 3**9, 30030, 10007, 2**15 + 1):
        x = rng.normal(size=(2, n)).astype(dtype)
        z = forth(x, [n])
        near(z, parts(spectrum(x, (n,))), dtype, 24)
        near(back(z, [n]), signal(z, (n,)), dtype, 24)


def test_a_single_frequency_is_exact_where_it_can_be():
    forth = compiled(fft.rfft_op, "float64", 2)
    for n in (4, 8, 12, 64):
        x = np.tile([1.0, 0.0, -1.0, 0.0], n // 4)[None]
        expected = np.zeros((1, n // 2 + 1, 2))
        expected[0, n // 4, 0] = n / 2
        np.testing.assert_allclose(forth(x, [n]), expected, rtol=0, atol=1e-14)


# Shapes; lengths to which signals are cut or filled up.
SHAPES = [((3, 8), (8,)), ((20, 7), (10,)), ((2, 12), (5,)), ((3, 6, 10), (6, 10)), ((2, 5, 8), (7, 3)), ((4, 3, 7), (2, 9)),
          ((2, 3, 4, 5), (3, 4, 5)), ((1, 4, 3, 6), (2, 5, 8)), ((0, 4), (4,)), ((2, 0), (3,)), ((2, 0, 4), (2, 6))]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape, s", SHAPES)
def test_layouts_and_axes(shape, s, dtype):
    forth, back = compiled(fft.rfft_op, dtype, len(shape)), compiled(fft.irfft_op, dtype, len(shape) + 1)
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=shape).astype(dtype), rng.normal(size=(*shape, 2)).astype(dtype)
    for layout in LAYOUTS:
        given, halved = lay(x, layout), lay(z, layout)
        near(forth(given, s), parts(spectrum(given, s)), dtype)
        near(back(halved, s), signal(halved, s), dtype)


@pytest.mark.parametrize("shape", [(40, 9), (1, 40, 70), (30, 3, 64), (2, 33, 5, 4)])
def test_beside_perform(shape):
    for op, value in (
        (fft.rfft_op, np.random.default_rng(4).normal(size=shape)),
        (fft.irfft_op, np.random.default_rng(4).normal(size=(*shape, 2))),
    ):
        s = np.array(shape[1:])
        f = compiled(op, "float64", value.ndim)
        node, cell = op(tensor("float64", value.ndim), T.lvector()).owner, [None]
        op.perform(node, [value, s], [cell])
        near(f(value, s), cell[0], "float64", 32)


@pytest.mark.parametrize("norm", [None, "ortho", "no_norm"])
@pytest.mark.parametrize("n", [6, 7])
def test_norms(norm, n):
    x = T.dmatrix("x")
    value = np.random.default_rng(5).normal(size=(3, n))
    z = fft.rfft(x, norm)
    found, again = theano.function([x], [z, fft.irfft(z, norm, is_odd=bool(n % 2))])(value)
    scale = np.sqrt(n) if norm == "ortho" else 1
    np.testing.assert_allclose(found, parts(np.fft.rfft(value)) / scale, atol=1e-13)
    np.testing.assert_allclose(again, value * (n if norm == "no_norm" else 1), atol=1e-12)


def test_many_lengths_in_many_threads():
    """More lengths than are remembered, each met by several threads at once."""
    forth = compiled(fft.rfft_op, "float64", 2)
    values = np.random.default_rng(6).normal(size=(2, 1400))

    def check(n):
        x = values[:, :n]
        found, expected = forth.copy()(x, [n]) if n % 100 == 0 else forth(x, [n]), parts(np.fft.rfft(x))
        return np.abs(found - expected).max() < 1e-12 * n

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(check, [n for n in range(2, 1400) for _ in range(2)]))


def test_lengths_that_make_no_sense():
    forth, back = compiled(fft.rfft_op, "float64", 3), compiled(fft.irfft_op, "float64", 3)
    x, z = np.ones((2, 3, 4)), np.ones((2, 3, 2))
    with pytest.raises(ValueError, match="length 0 has no Fourier transform"):
        forth(x, [3, 0])
    with pytest.raises(ValueError, match="length -2 has no Fourier transform"):
        back(z, [-2])
    with pytest.raises(ValueError, match="1 lengths of the signal for 2 axes"):
        forth(x, [3])
    with pytest.raises(ValueError, match="length is 2, not 4"):
        back(x, [4])
