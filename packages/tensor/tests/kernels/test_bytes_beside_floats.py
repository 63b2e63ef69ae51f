"""Loops over bytes beside wide numbers, which are converted in chunks: lengths around vectors and chunks, all layouts."""

from itertools import product

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.kernels.chunks import CHUNK

LENGTHS = (1, 7, 8, 9, 63, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 8, 700)
WIDE = ("float32", "float64", "int64")
NARROW = ("bool", "int8", "uint8")


def layouts(a: np.ndarray):
    """Yield an array in other layouts."""
    yield a
    yield np.repeat(a, 3, axis=-1)[..., ::3]
    yield a[..., ::-1].copy()[..., ::-1]


@pytest.mark.parametrize(("wide", "narrow"), list(product(WIDE, NARROW)))
def test_bytes_are_read_and_written_beside_wide_numbers(wide, narrow):
    """Choices, products, comparisons and sums of them give what NumPy gives."""
    x, b, one = T.vector("x", dtype=wide), T.vector("b", dtype=narrow), T.tensor(narrow, (True,))
    y = T.exp(-abs(x) / 8)
    results = [
        T.switch(b, y, -1.0), y * b, T.exp(x / 100) > b, T.switch(one, T.log1p(y), b),
        T.sum(T.switch(b, y, 0.0)), T.max(y * b - one), T.all(y > one * 1.0 - b), T.cast(b * 2 + T.floor(y), narrow),
    ]  # fmt: skip
    f = theano.function([x, b, one], results)
    rng = np.random.default_rng(0)
    for n in LENGTHS:
        values = rng.integers(-50, 50, n).astype(wide)
        given = rng.integers(0, 2 if narrow == "bool" else 100, n).astype(narrow)
        for a, m in zip(layouts(values), layouts(given), strict=True):
            single = given[:1]
            out = f(a, m, single)
            e = np.exp(-abs(values.astype("float64")) / 8)
            whole = given.astype("float64")
            expected = [
                np.where(given, e, -1.0), e * whole, np.exp(values / 100.0) > whole,
                np.where(single, np.log1p(e), whole), np.where(given, e, 0).sum(), (e * whole - single).max(),
                (e > single.astype(float) - whole).all(), (whole * 2 + np.floor(e)).astype("int64").astype(narrow),
            ]  # fmt: skip
            for k, (got, want) in enumerate(zip(out, expected, strict=True)):
                np.testing.assert_allclose(got, want, rtol=3e-5 if wide == "float32" else 1e-12, err_msg=f"{k}, {n}")


def test_a_matrix_with_a_column_of_bytes_and_a_row_of_floats():
    """Bytes that are stretched along rows, and sums along each axis."""
    x, b = T.row("x"), T.tensor("bool", (False, True))
    m = T.matrix("m", dtype="int8")
    z = T.switch(b, T.exp(x), T.log(x)) * m
    f = theano.function([x, b, m], [z, z.sum(0), z.sum(1), T.any(z > 3, axis=0)])
    rng = np.random.default_rng(1)
    for rows, columns in ((1, 1), (3, 130), (130, 3), (17, 256)):
        a = rng.uniform(0.5, 2, (1, columns)).astype(theano.config.floatX)
        c, k = rng.random((rows, 1)) < 0.5, rng.integers(-3, 4, (rows, columns)).astype("int8")
        want = np.where(c, np.exp(a), np.log(a)) * k
        for got, expected in zip(f(a, c, k), [want, want.sum(0), want.sum(1), (want > 3).any(0)], strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-4 if a.dtype == "float32" else 1e-12, atol=1e-5)
