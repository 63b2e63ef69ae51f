"""Bilinear upsampling against NumPy's interpolation along rows and then along columns."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.gradient import verify_grad
from theano.tensor.conv import upsampling as conv

RATIOS = (1, 2, 3, 4, 5)
FRACTIONS: tuple[Any, ...] = ((3, 2), (4, 2), (2, 3), ((3, 2), (2, 1)), ((1, 1), (5, 4)))
SHAPES = ((2, 3, 3, 4), (1, 1, 1, 5), (1, 2, 4, 1), (0, 1, 2, 2))


def along(x: np.ndarray, axis: int, up: int, step: int) -> np.ndarray:
    """Interpolate ``up - 1`` elements between two, as many around the first as around others, and take some."""
    n = x.shape[axis]
    at = (np.arange(0, n * up, step) - (up - 1) // 2) / up
    line: Any = lambda row: np.interp(at, np.arange(n), row)
    return np.apply_along_axis(line, axis, x) if x.size else np.zeros((*x.shape[:axis], len(at), *x.shape[axis + 1 :]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values(dtype: str) -> None:
    x = T.tensor4("x", dtype=dtype)
    fractions = [Fraction(r) for r in RATIOS] + [f if isinstance(f[0], tuple) else Fraction(*f) for f in FRACTIONS]
    made = [conv.bilinear_upsampling(x, r) for r in RATIOS] + [conv.frac_bilinear_upsampling(x, f) for f in FRACTIONS]
    f = theano.function([x], [*made, conv.bilinear_upsampling(x, frac_ratio=(3, 2))])
    for shape in SHAPES:
        value = np.random.default_rng(0).normal(size=shape).astype(dtype)
        for got, each in zip(f(value), [*fractions, Fraction(3, 2)], strict=True):
            rows, columns = (Fraction(*pair) for pair in each) if isinstance(each, tuple) else (each, each)
            wanted = along(along(value, 2, *rows.as_integer_ratio()), 3, *columns.as_integer_ratio())
            assert got.shape == wanted.shape and got.dtype == theano.config.floatX, (shape, rows, columns)
            np.testing.assert_allclose(got, wanted, rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-6)


def test_gradients() -> None:
    value = np.random.default_rng(0).normal(size=(1, 2, 2, 3))
    verify_grad(lambda x: conv.bilinear_upsampling(x, 3), [value], rng=np.random.RandomState(0))
    verify_grad(lambda x: conv.frac_bilinear_upsampling(x, ((3, 2), (2, 1))), [value], rng=np.random.RandomState(0))


def test_kernels() -> None:
    n = T.lscalar("n")
    triangles = theano.function([n], [conv.bilinear_kernel_1D(n, normalize) for normalize in (True, False)])
    for ratio in RATIOS:
        wanted = np.minimum(np.arange(1, 2 * ratio), np.arange(2 * ratio - 1, 0, -1))
        for got, highest in zip(triangles(ratio), (ratio, 1), strict=True):
            np.testing.assert_allclose(got, wanted / highest, rtol=1e-6)
    for ratio, rows, columns in (((3, 2), 3, 2), (2, 2, 2)):
        for normalize in (True, False):
            pyramid = np.outer(*(conv.bilinear_kernel_1D(r, normalize).eval() for r in (rows, columns)))
            np.testing.assert_allclose(conv.bilinear_kernel_2D(ratio, normalize).eval(), pyramid)


def test_arguments() -> None:
    x, value = T.tensor4("x"), np.ones((1, 1, 2, 2), theano.config.floatX)
    same = [
        conv.bilinear_upsampling(x, T.constant(2)), conv.bilinear_upsampling(x, ratio=np.int8(2)),
        conv.bilinear_upsampling(x, 2, None, 1, 1, False), conv.bilinear_upsampling(x, frac_ratio=(2, 1)),
    ]  # fmt: skip
    assert all(np.array_equal(y, np.ones((1, 1, 4, 4))) for y in theano.function([x], same)(value))
    for ratio, frac in ((None, None), (2, (2, 1))):
        with pytest.raises(ValueError, match="either ratio or frac_ratio"):
            conv.bilinear_upsampling(x, ratio, frac)
    with pytest.raises(TypeError, match="ratio must be known when the graph is made"):
        conv.bilinear_upsampling(x, T.lscalar("n"))
    for images in (T.matrix(), T.tensor3()):
        with pytest.raises(TypeError, match=f"4 dimensions, .* not of {images.ndim}"):
            conv.bilinear_upsampling(images, 2)
    for frac in (2, [3, 2], (3, 2, 1)):
        with pytest.raises(ValueError, match="frac_ratio must be a tuple"):
            conv.frac_bilinear_upsampling(x, frac)
