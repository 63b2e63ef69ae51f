"""Products of vectors and matrices: the device against the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from compare import LAYOUTS, agree, nodes

import theano.tensor as T


def numbers(shape, dtype, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("m,k,n", [
    (1, 1, 1), (3, 4, 5), (64, 16, 64), (65, 17, 63), (7, 64, 1), (1, 300, 200), (130, 5, 70), (0, 3, 2), (3, 0, 2), (2, 3, 0), (2, 1000, 3),
])  # fmt: skip
def test_matrices(dtype, m, k, n):
    x, y = T.matrix("x", dtype), T.matrix("y", dtype)
    tolerance = {"float16": 0.03, "float32": 2e-4, "float64": 1e-11}[dtype]
    agree([x, y], T.dot(x, y), [numbers((m, k), dtype), numbers((k, n), dtype, 1)], tolerance)


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_layouts(left, right):
    x, y = T.dmatrices("x", "y")
    agree(
        [x, y],
        [T.dot(x, y), T.dot(x.T, y.T)],
        [LAYOUTS[left](numbers((20, 20), "float64")), LAYOUTS[right](numbers((20, 20), "float64", 1))],
    )


def test_vectors():
    x, y, m = T.dvector("x"), T.dvector("y"), T.dmatrix("m")
    values = [numbers(500, "float64"), numbers(500, "float64", 1), numbers((500, 500), "float64", 2)]
    f = agree([x, y, m], [T.dot(x, y), T.dot(m, y), T.dot(x, m), T.outer(x, y)], values, 1e-10)
    assert not [n for n in nodes(f)[1] if n.outputs[0].type.ndim]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_that_are_added(dtype):
    z, x, y, a, v, w = (
        T.matrix("z", dtype),
        T.matrix("x", dtype),
        T.matrix("y", dtype),
        T.scalar("a", dtype),
        T.vector("v", dtype),
        T.vector("w", dtype),
    )
    values = [
        numbers((30, 20), dtype),
        numbers((30, 40), dtype, 1),
        numbers((40, 20), dtype, 2),
        np.asarray(0.5, dtype),
        numbers(20, dtype, 3),
        numbers(30, dtype, 4),
    ]
    tolerance = 1e-4 if dtype == "float32" else 1e-11
    f = agree([z, x, y, a], z * 2 - a * T.dot(x, y), values[:4], tolerance)
    assert "GpuGemm" in [type(n.op).__name__ for n in nodes(f)[0]]
    f = agree([z, v, w, a], w - a * T.dot(z, v), [values[0], values[4], values[5], values[3]], tolerance)
    assert "GpuGemv" in [type(n.op).__name__ for n in nodes(f)[0]]
    f = agree([z, v, w, a], z + a * T.outer(w, v), [values[0], values[4], values[5], values[3]], tolerance)
    assert "GpuGer" in [type(n.op).__name__ for n in nodes(f)[0]]


@pytest.mark.parametrize(
    "left,right",
    [
        ((5, 3, 4), (5, 4, 6)),
        ((5, 3, 4), (5, 4)),
        ((5, 4), (5, 4, 6)),
        ((0, 3, 4), (0, 4, 6)),
        ((2, 70, 33), (2, 33, 65)),
    ],
)
def test_many_pairs(left, right):
    x, y = T.TensorType("float64", (False,) * len(left))("x"), T.TensorType("float64", (False,) * len(right))("y")
    f = agree([x, y], T.batched_dot(x, y), [numbers(left, "float64"), numbers(right, "float64", 1)], 1e-11)
    assert "GpuBatchedDot" in [type(n.op).__name__ for n in nodes(f)[0]]


def test_shapes_that_do_not_fit(on_device):
    x, y = T.dmatrices("x", "y")
    with pytest.raises(ValueError, match="Shape mismatch"):
        on_device([x, y], T.dot(x, y))(np.zeros((2, 3)), np.zeros((2, 3)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (40, 10), (2, 700), (300, 255), (5, 256), (0, 4)], ids=str)
def test_softmax(dtype, shape):
    x, b, y = T.matrix("x", dtype), T.vector("b", dtype), T.ivector("y")
    rng = np.random.default_rng(0)
    values = [
        numbers(shape, dtype) * 5,
        numbers(shape[1], dtype, 1),
        rng.integers(0, shape[1], shape[0]).astype("int32"),
    ]
    tolerance = {"float16": 0.03, "float32": 2e-5, "float64": 1e-11}[dtype]
    p = T.nnet.softmax(x + b)
    agree([x, b], [p, T.nnet.softmax(x), T.nnet.logsoftmax(x)], values[:2], tolerance)
    cost = T.nnet.categorical_crossentropy(p, y)
    agree([x, b, y], [cost, *T.grad(cost.mean(), [x, b])] if shape[0] else [cost], values, tolerance)
    agree([x], T.grad((T.nnet.softmax(x) ** 2).sum(), x), values[:1], tolerance)


def test_softmax_of_large_and_infinite_numbers():
    x = T.dmatrix("x")
    value = np.array([[1000.0, 0.0, -1000.0], [-np.inf, 0.0, 1.0], [np.nan, 1.0, 2.0], [1e308, 1e308, 0.0]])
    agree([x], [T.nnet.softmax(x), T.nnet.logsoftmax(x)], [value])


def test_a_label_of_no_column_gives_no_number(on_device):
    x, b, y = T.dmatrix("x"), T.dvector("b"), T.lvector("y")
    cost = T.nnet.categorical_crossentropy(T.nnet.softmax(x + b), y)
    f = on_device([x, b, y], [cost, T.grad(cost.sum(), x)])
    values, slopes = f(np.zeros((3, 2)), np.zeros(2), [0, 5, 1])
    np.testing.assert_allclose(values, [np.log(2), np.nan, np.log(2)])
    assert np.isnan(slopes[1]).all() and np.isfinite(slopes[[0, 2]]).all()
