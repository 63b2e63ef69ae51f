"""Sums of what is made of an array and a stretched one: along all axes, some, or none that is summed; against NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.reduce.map_reduce import MapReduce

AXES = [axes for count in (1, 2, 3) for axes in itertools.combinations(range(3), count)]
SHAPES = [(2, 3, 5), (9, 40, 33), (3, 1, 300), (70, 2, 3), (0, 3, 4), (4, 0, 3), (1, 1, 1), (5, 6000, 2)]


def orders(x):
    """The same numbers in other orders of memory."""
    yield x
    yield np.asfortranarray(x)
    yield x.transpose(1, 2, 0).copy().transpose(2, 0, 1)
    apart = np.full((*x.shape[:-1], 2 * x.shape[-1]), np.nan, x.dtype)
    apart[..., ::-2] = x
    yield apart[..., ::-2]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("stretched", AXES, ids=str)
@pytest.mark.parametrize("summed", AXES, ids=str)
def test_sums_of_squares_of_distances(summed, stretched, dtype):
    x, w = T.TensorType(dtype, (False,) * 3)("x"), T.TensorType(dtype, (False,) * 3)("w")
    q = T.TensorType(dtype, tuple(d in stretched for d in range(3)))("q")
    f = theano.function([x, q, w], [T.sum(w * T.sqr(x - q), axis=summed), T.max(T.abs_(x - q), axis=summed)])
    assert any(isinstance(node.op, MapReduce) for node in f.maker.fgraph.apply_nodes)
    rng = np.random.default_rng(3)
    for shape in SHAPES:
        values, weights = rng.normal(size=shape).astype(dtype), rng.uniform(size=shape).astype(dtype)
        of = rng.normal(size=[1 if d in stretched else n for d, n in enumerate(shape)]).astype(dtype)
        if 0 in [shape[d] for d in summed]:
            with pytest.raises(ValueError, match="no identity"):
                f(values, of, weights)
            continue
        wide = [v.astype("float64") for v in (values, of, weights)]
        wanted = (wide[2] * (wide[0] - wide[1]) ** 2).sum(summed)
        largest = np.abs(values - of).max(summed)
        for ordered, at in zip(orders(values), orders(of), strict=True):
            total, most = f(ordered, at, weights)
            np.testing.assert_allclose(total, wanted, rtol=2e-6 if dtype == "float32" else 1e-12)
            np.testing.assert_array_equal(most, largest)
