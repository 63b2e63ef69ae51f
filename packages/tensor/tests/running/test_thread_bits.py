"""Results have the same bits for any number of threads (docs/tutorial/reproducibility.md)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.pool import pool_2d
from theano.tensor.random import MRG_RandomStreams, PhiloxStreams

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
    "running sum": lambda v, m, tall, t: T.cumsum(v),
    "counts with weights": lambda v, m, tall, t: T.bincount(T.cast(abs(v) * 100, "int64"), v, minlength=9),
    "repeated indices": lambda v, m, tall, t: T.inc_subtensor(T.zeros((900,))[T.cast(abs(v) * 100, "int64")], v),
    "matrix product": lambda v, m, tall, t: T.dot(m, m.T),
    "tall matrix product": lambda v, m, tall, t: T.dot(tall.T, tall),
    "matrix and vector": lambda v, m, tall, t: T.dot(tall.T, v[:20_000]),
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
