"""Random graphs on the device, against their values without rewriting; GPU_GRAPHS says how many (the sweep: 10,000).

Each second one also has what the tensor layer's graphs never have, and devices have kernels for: pooling, cumulative sums and
products, where the largest element is, parts by several arrays of indices, diagonals, products of many pairs.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from compare import MODE, nodes

import theano
import theano.tensor as T
from theano.gradient import zero_grad
from theano.tensor.pool import pool_2d

# The writer of random graphs is that of the tensor layer's tests.
sys.path.append(str(Path(__file__).resolve().parents[2] / "tensor" / "tests"))
from random_graphs import Writer, well_behaved

GRAPHS = int(os.environ.get("GPU_GRAPHS", "80"))  # every check tries one block
BLOCK = 10


class DeviceWriter(Writer):
    """Writes graphs with more of what devices have kernels for."""

    def step(self):
        return self.wider() if self.rng.random() < 0.1 else super().step()

    def wider(self):
        rng = self.rng
        m, n, v = self.of_type(False, False), self.of_type(False, False), self.of_type(False)
        axis = int(rng.integers(2))
        rows, columns = T.constant(rng.integers(-3, 3, 4)), T.constant(rng.integers(0, 4, 4))
        whole = T.floor(m * 2)  # so that rounding decides of no place: what is equal is so exactly
        images = m.dimshuffle("x", "x", 0, 1)
        of_pairs = lambda: T.batched_dot(m.dimshuffle(0, "x", 1), n.dimshuffle(0, 1, "x")).reshape((3, 1))
        return [
            lambda: T.cumsum(m, axis=axis), lambda: T.cumsum(m)[:4], lambda: T.cumprod(T.tanh(v)),
            lambda: T.argmax(whole, axis=1, keepdims=True) + v, lambda: T.argmin(whole, axis=0), lambda: T.argmax(whole),
            lambda: T.max_and_argmax(whole, axis=0)[0],
            lambda: m[rows, columns], lambda: T.inc_subtensor(m[rows, columns], v), lambda: T.set_subtensor(m[[2, 0]], n[1:]),
            lambda: m[:, columns], lambda: T.set_subtensor(v[columns[::-1]], m[rows, 0]), lambda: m[(whole > 0).nonzero()].sum(),
            lambda: T.diag(T.dot(m.T, n)), lambda: T.diag(v)[1:] + m, lambda: T.eye(3, 4, axis) * n, of_pairs,
            lambda: pool_2d(images, (2, 2), ignore_border=False, mode="sum")[0, 0].sum() + m,
            lambda: pool_2d(images, (1, 2), (1, 1), ignore_border=True, mode="average_exc_pad")[0, 0].sum(axis=1, keepdims=True),
            lambda: zero_grad(pool_2d(images, (2, 2), (1, 1), ignore_border=True)[0, 0].max()) * v,
            lambda: T.nnet.logsoftmax(m), lambda: T.nnet.softmax(m + v.dimshuffle("x", 0)),
        ][int(rng.integers(22))]()  # fmt: skip


@pytest.mark.parametrize("block", range(GRAPHS // BLOCK))
def test_random_graphs(block):
    compared = worth = 0
    for seed in range(BLOCK * block, BLOCK * (block + 1)):
        writer = (Writer, DeviceWriter)[seed % 2](seed)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            outputs = writer.write()
            wanted = well_behaved(outputs, writer.inputs, writer.values)
            if wanted is None:
                continue
            f = theano.function(writer.inputs, outputs, mode=MODE, on_unused_input="ignore")
            compared += 1
            worth += bool(nodes(f)[0])
            for w, found in zip(wanted, f(*writer.values), strict=True):
                np.testing.assert_allclose(found, w, rtol=2e-3, atol=2e-3, err_msg=f"seed {seed}")
    # What has but single elements, or only moves them, stays on the host.
    assert 4 * worth >= compared
