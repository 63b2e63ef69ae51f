"""Softmax and cross entropy against plain NumPy in double precision."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_harness import run
from kernel_toys import Toy, is_accepted, node
from layouts import in_all_layouts

from theano.tensor.nnet import lowering_softmax as nnet

SHAPES = [(64, 10), (3, 10), (5, 1000), (70, 32), (9, 33), (8, 1), (1, 1), (0, 4), (20, 64), (500, 200)]
rng = np.random.default_rng(0)


def softmax(x):
    e = np.exp(x.astype("float64") - x.max(axis=1, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=1, keepdims=True)


def call(kernel_of, inputs, *outputs):
    n = node(Toy(), inputs, list(outputs))
    return run(kernel_of(n.op, n), n, inputs)


def cases(dtype, shape):
    return [x for name, x in in_all_layouts((3 * rng.normal(size=shape)).astype(dtype)) if shape[0] or name == "C"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype,rtol", [("float64", 1e-14), ("float32", 6e-6)])
def test_rows(shape, dtype, rtol):
    for x in cases(dtype, shape):
        want = softmax(x)
        np.testing.assert_allclose(call(nnet.softmax_kernel, [x], (dtype, 2))[0], want, rtol=rtol)
        np.testing.assert_allclose(call(nnet.log_softmax_kernel, [x], (dtype, 2))[0], np.log(want), rtol=rtol, atol=rtol)
        b = rng.normal(size=2 * x.shape[1]).astype(dtype)[::2]
        want = softmax(x + b)
        np.testing.assert_allclose(call(nnet.softmax_with_bias_kernel, [x, b], (dtype, 2))[0], want, rtol=rtol)
        for label_dtype in ("int32", "uint8") if x.shape[1] < 256 else ("int64",):
            labels = rng.integers(0, x.shape[1], x.shape[0]).astype(label_dtype)
            loss, rows, place = call(nnet.crossentropy_kernel, [x, b, labels], (dtype, 1), (dtype, 2), (label_dtype, 1))
            np.testing.assert_allclose(rows, want, rtol=rtol)
            np.testing.assert_allclose(loss, -np.log(want[np.arange(len(want)), labels]), rtol=rtol, atol=rtol)
            np.testing.assert_array_equal(place, (x + b).argmax(axis=1) if x.size else [])
        g = rng.normal(size=x.shape).astype(dtype)
        exact = x * (g - (g.astype("float64") * x).sum(axis=1, keepdims=True))
        scale = np.abs(x).max(initial=0) * np.abs(g * x).sum(axis=1).max(initial=0)
        np.testing.assert_allclose(call(nnet.softmax_grad_kernel, [g, x], (dtype, 2))[0], exact, rtol=rtol, atol=rtol * scale)
        for g in (rng.normal(size=x.shape[0]).astype(dtype), np.ones(1, dtype)):
            want = g[:, None] * x
            want[np.arange(len(x)), labels] -= np.broadcast_to(g, len(x))
            got = call(nnet.crossentropy_dx_kernel, [g, x, labels], (dtype, 2))[0]
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("rows", [3, 20])
@pytest.mark.parametrize("columns", [3, 50])
def test_infinities_and_nan(rows, columns):
    x = rng.normal(size=(rows, columns))
    x[0, 1], x[1, 2], x[2, 0] = np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        want = softmax(x)
    np.testing.assert_allclose(call(nnet.softmax_kernel, [x], ("float64", 2))[0], want, rtol=1e-14)
    labels = np.zeros(rows, "int64")
    place = call(nnet.crossentropy_kernel, [x, np.zeros(columns), labels], ("float64", 1), ("float64", 2), ("int64", 1))[2]
    np.testing.assert_array_equal(place, x.argmax(axis=1))
    huge = np.array([[1e300, -1e300, 0.0]])
    np.testing.assert_array_equal(call(nnet.softmax_kernel, [huge], ("float64", 2))[0], [[1, 0, 0]])


@pytest.mark.parametrize("dtype,rtol", [("float64", 1e-14), ("float32", 6e-6)])
def test_what_is_left_over_of_a_row(dtype, rtol):
    """Rows of every length past whole vectors, with special numbers at their ends."""
    ends = [(), (-np.inf,), (np.nan,), (np.inf,), (-1e30, -np.inf), (-np.inf, np.inf), (-90, -104, -746)]
    for columns in [*range(33, 100), 127, 128, 129]:
        x = (3 * rng.normal(size=(len(ends) + 1, columns))).astype(dtype)
        x[-1] = -np.inf
        for row, end in zip(x, ends, strict=False):
            row[columns - len(end) :] = end
        with np.errstate(all="ignore"):
            want = softmax(x)
            logarithms = x - np.log(np.exp(x.astype("f8") - x.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)) - x.max(axis=1, keepdims=True)
        np.testing.assert_allclose(call(nnet.softmax_kernel, [x], (dtype, 2))[0], want, rtol, np.finfo(dtype).smallest_subnormal)
        np.testing.assert_allclose(call(nnet.log_softmax_kernel, [x], (dtype, 2))[0], logarithms, rtol, rtol)


@pytest.mark.parametrize("bad", [-1, 4, 2**40])
def test_labels_are_checked(bad):
    x, b, labels = np.zeros((3, 4)), np.zeros(4), np.array([0, bad, 1])
    with pytest.raises(ValueError, match=f"y_i value out of bounds: row 1 has label {bad}, but there are 4 columns"):
        call(nnet.crossentropy_kernel, [x, b, labels], ("float64", 1), ("float64", 2), ("int64", 1))
    with pytest.raises(ValueError, match="out of bounds"):
        call(nnet.crossentropy_dx_kernel, [np.ones(3), x, labels], ("float64", 2))


def test_shapes_are_checked():
    x = np.zeros((3, 4))
    with pytest.raises(ValueError, match="the bias has 5 elements, the rows have 4"):
        call(nnet.softmax_with_bias_kernel, [x, np.zeros(5)], ("float64", 2))
    with pytest.raises(ValueError, match="2 labels for 3 rows"):
        call(nnet.crossentropy_dx_kernel, [np.ones(3), x, np.zeros(2, "int64")], ("float64", 2))
    with pytest.raises(ValueError, match="axis 1"):
        call(nnet.softmax_grad_kernel, [x, np.zeros((3, 5))], ("float64", 2))


def test_half_precision_and_mixtures_stay_in_python():
    for inputs, outputs in [([np.zeros((2, 2), "float16")], [("float16", 2)]), ([np.zeros((2, 2), "float32")], [("float64", 2)])]:
        n = node(Toy(), inputs, outputs)
        assert not is_accepted(nnet.softmax_kernel, n)
