"""Rows of few elements: what is computed of each, against NumPy, with nan in all that lies beside and between the rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import theano
import theano.tensor as T

ROWS = (1, 2, 3, 4, 5, 8, 9, 63, 64, 65, 257)
COLUMNS = (*range(1, 10), 15, 16, 17, 33)


def layouts(rows, columns, dtype, rng):
    """The rows one behind the other, with gaps between them, with elements between theirs, upside down."""
    values = rng.normal(size=(rows, columns)) * 3
    beside = np.nan if dtype.startswith("float") else np.iinfo(dtype).max
    around = np.full((2 * rows, columns + 3), beside, dtype)
    apart = np.full((rows, 2 * columns), beside, dtype)
    dense = np.empty((rows, columns), dtype)
    for place in (dense, around[::2, 1 : columns + 1], apart[:, ::2], around[::-2, 1 : columns + 1]):
        place[...] = values
        yield place


def compiled(dtype, build):
    x = T.TensorType(dtype, (False, False))("x")
    return theano.function([x], build(x))


def compare(f, expected, dtype, rtol):
    rng = np.random.default_rng(5)
    for rows in ROWS:
        for columns in COLUMNS:
            for x in layouts(rows, columns, dtype, rng):
                np.testing.assert_allclose(f(x), expected(x), rtol=rtol, atol=rtol, err_msg=f"{x.shape} {x.strides}")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
@pytest.mark.parametrize("name", ["sum", "max", "min", "prod"])
def test_reduced(name, dtype):
    f = compiled(dtype, lambda x: getattr(x, name)(axis=1))
    if dtype.startswith("float"):
        compare(f, lambda x: getattr(x.astype("float64"), name)(axis=1), dtype, 1e-5 if dtype == "float32" else 1e-11)
    else:
        compare(f, lambda x: getattr(x, name)(axis=1), dtype, 0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logarithms_of_sums_of_exponentials(dtype):
    f = compiled(dtype, lambda x: T.logsumexp(x, axis=1))
    compare(
        f, lambda x: scipy.special.logsumexp(x.astype("float64"), axis=1), dtype, 3e-6 if dtype == "float32" else 1e-13
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["sum", "max", "logsumexp"])
def test_a_row_has_its_own_nan_and_infinity_alone(name, dtype):
    f = compiled(dtype, lambda x: T.logsumexp(x, axis=1) if name == "logsumexp" else getattr(x, name)(axis=1))
    of = {"sum": np.sum, "max": np.max, "logsumexp": scipy.special.logsumexp}[name]
    for columns in COLUMNS:
        for special in (np.nan, np.inf, -np.inf):
            x = np.ones((67, columns), dtype)
            x[::3, columns // 2] = special
            np.testing.assert_allclose(f(x), of(x, axis=1), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_with_a_vector(dtype):
    x, v = T.TensorType(dtype, (False, False))("x"), T.TensorType(dtype, (False,))("v")
    z, a, b = T.TensorType(dtype, (False,))("z"), T.scalar("a", dtype), T.scalar("b", dtype)
    plain, added = theano.function([x, v], T.dot(x, v)), theano.function([x, v, z, a, b], a * T.dot(x, v) + b * z)
    rng, rtol = np.random.default_rng(6), 1e-5 if dtype == "float32" else 1e-13
    for rows in ROWS:
        for columns in COLUMNS[:6]:
            w = rng.normal(size=columns).astype(dtype)
            y = rng.normal(size=2 * rows).astype(dtype)[::2]
            for m in layouts(rows, columns, dtype, rng):
                product = m.astype("float64") @ w.astype("float64")
                np.testing.assert_allclose(plain(m, w), product, rtol=rtol, atol=rtol)
                np.testing.assert_allclose(added(m, w, y, 2, -3), 2 * product - 3 * y, rtol=rtol, atol=10 * rtol)
