"""Results have the same bits for any number of threads (docs/tutorial/reproducibility.md)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import theano
import theano.tensor as T
from theano.tensor.pool import pool_2d
from theano.tensor.random import MRG_RandomStreams, PhiloxStreams


def cross_entropy(x: Any, labels: Any) -> Any:
    """Return the gradient of the mean cross entropy of the rows' softmax with classes."""
    return T.grad(T.nnet.categorical_crossentropy(T.nnet.softmax(x), np.asarray(labels)).mean(), x)


def solved(t: Any, b: Any) -> Any:
    """Return the solutions with the lower and with the upper triangle of a matrix, made safe to divide by."""
    t = t + 3 * T.eye(t.shape[0])
    return T.slinalg.solve_upper_triangular(t, T.slinalg.solve_lower_triangular(t, b))


#: What is computed of a long vector, a matrix, a tall matrix and images; each is large enough to be split.
CASES: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "sum": lambda v, m, tall, t: v.sum(),
    "variance": lambda v, m, tall, t: v.var(),
    "norm": lambda v, m, tall, t: T.sqr(v).sum(),
    "product with itself": lambda v, m, tall, t: T.dot(v, v[::-1]),
    "sum of a map": lambda v, m, tall, t: T.exp(T.tanh(v)).sum(),
    "sums of columns": lambda v, m, tall, t: T.exp(m).sum(axis=0),
    "sums of tall columns": lambda v, m, tall, t: tall.sum(axis=0),
    "sums of rows": lambda v, m, tall, t: T.exp(m).sum(axis=1),
    "sum of a part": lambda v, m, tall, t: m[::2, ::3].sum(),
    "logsumexp": lambda v, m, tall, t: T.log(T.exp(v).sum()),
    "softmax and its gradient": lambda v, m, tall, t: T.grad(T.sqr(T.nnet.softmax(m)).sum(), m),
    "cross entropy of few long rows": lambda v, m, tall, t: cross_entropy(v[:900_000].reshape((9, 100_000)), [3, 99_999, 0, 7, 8, 9, 1, 2, 5]),
    "cross entropy of many short rows": lambda v, m, tall, t: cross_entropy(tall, np.arange(20_000) % 37),
    "running sum": lambda v, m, tall, t: T.cumsum(v),
    "counts with weights": lambda v, m, tall, t: T.bincount(T.cast(abs(v) * 100, "int64"), v, minlength=9),
    "repeated indices": lambda v, m, tall, t: T.inc_subtensor(T.zeros((900,))[T.cast(abs(v) * 100, "int64")], v),
    "matrix product": lambda v, m, tall, t: T.dot(m, m.T),
    "tall matrix product": lambda v, m, tall, t: T.dot(tall.T, tall),
    "matrix and vector": lambda v, m, tall, t: T.dot(tall.T, v[:20_000]),
    "equations with a triangle": lambda v, m, tall, t: solved(m[:600, :600] / 30, m[:600]),
    "equations with a large triangle": lambda v, m, tall, t: solved(v[:810_000].reshape((900, 900)) / 30, v[-450_000:].reshape((900, 500))),
    "elimination": lambda v, m, tall, t: T.nlinalg.matrix_inverse(m[:600, :600]),
    "convolution and its gradients": lambda v, m, tall, t: T.grad(T.sqr(T.nnet.conv2d(t, t[:5, :, :3, :3])).sum(), t),
    "pooling": lambda v, m, tall, t: pool_2d(t, (2, 2), ignore_border=True, mode="average_exc_pad"),
    "Fourier transform": lambda v, m, tall, t: T.fft.rfft(m),
    "loop over rows": lambda v, m, tall, t: theano.map(lambda row: T.exp(row).sum(), m)[0],
    "recurrence": lambda v, m, tall, t: theano.scan(lambda r, a: T.tanh(a + r), m, T.zeros((607,)))[0][-1],
    "MRG_RandomStreams": lambda v, m, tall, t: MRG_RandomStreams(3).normal((100_001,)),
    "PhiloxStreams": lambda v, m, tall, t: PhiloxStreams(3).normal(size=(100_001,)),
}
INPUTS = T.dvector("v"), T.dmatrix("m"), T.dmatrix("tall"), T.dtensor4("t")


@cache
def values() -> list[np.ndarray]:
    """Return arguments with odd lengths."""
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape) for shape in [(1_000_001,), (703, 607), (20_000, 37), (8, 6, 31, 29)]]


@pytest.mark.parametrize("name", CASES)
def test_bits_do_not_depend_on_the_number_of_threads(name):
    found = {}
    for threads in (1, 2, 3, 8):
        # BLAS libraries have threads of their own: nothing is promised of these.
        with theano.config.change_flags({"threads": threads, "blas.gemm": "own"}):
            f = theano.function([*INPUTS], CASES[name](*INPUTS), on_unused_input="ignore")
        found[threads] = f(*values()).tobytes()
    assert len(set(found.values())) == 1, [n for n, bits in found.items() if bits != found[1]]


@pytest.mark.parametrize("shape", [(5, 40_000), (64, 3_000), (4_000, 30), (1, 200_000)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cross_entropy_of_rows_shared_by_threads(shape, dtype):
    x, labels = T.matrix(dtype=dtype), T.ivector()
    losses = T.nnet.categorical_crossentropy(T.nnet.softmax(x), labels)
    rng = np.random.default_rng(1)
    given, places = rng.normal(size=shape).astype(dtype), rng.integers(0, shape[1], shape[0], dtype="int32")
    with theano.config.change_flags(threads=3):
        found, slopes = theano.function([x, labels], [losses, T.grad(losses.sum(), x)])(given, places)
    logs = scipy.special.log_softmax(given.astype("float64"), axis=1)
    rows = np.arange(shape[0])
    want = np.exp(logs)
    want[rows, places] -= 1
    tolerance = 64 * np.finfo(dtype).eps
    np.testing.assert_allclose(found, -logs[rows, places], tolerance)
    np.testing.assert_allclose(slopes, want, 8 * tolerance, tolerance)


@pytest.mark.parametrize("shape", [(200, 300), (320, 1000), (900, 260), (40, 9000), (33, 8000)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_right_hand_sides_shared_by_threads(shape, dtype):
    t, b = T.matrix(dtype=dtype), T.matrix(dtype=dtype)
    rng = np.random.default_rng(2)
    triangle = (rng.normal(size=(shape[0], shape[0])) / 30 + 3 * np.eye(shape[0])).astype(dtype)
    sides = rng.normal(size=shape).astype(dtype)
    with theano.config.change_flags(threads=3):
        f = theano.function([t, b], [T.slinalg.solve_lower_triangular(t, b), T.slinalg.solve_upper_triangular(t, b)])
    for given in (sides, np.asfortranarray(sides), sides[:, ::-1]):
        for found, lower in zip(f(triangle, given), (True, False), strict=True):
            want = scipy.linalg.solve_triangular(triangle.astype("float64"), given.astype("float64"), lower=lower)
            np.testing.assert_allclose(found, want, 0, 2000 * np.finfo(dtype).eps)
