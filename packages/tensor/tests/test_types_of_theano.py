"""Dtypes and patterns of calls whose type is a matter of choice: what Theano 1.0.5 chose, with the values of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T

rng = np.random.default_rng(5)
M = rng.normal(size=(3, 4))
I = np.array([[3, -2, 0], [1, 5, -7]], "int32")
B, F = I.astype("int8"), M.astype("float32")
Z = (M + 1j * M[::-1]).astype("complex64")
K = np.array([3, 1, 3, 0], "int8")
IMAGES, FILTERS = rng.normal(size=(1, 1, 4, 5)).astype("float32"), rng.normal(size=(2, 1, 2, 3))


def correlated(images, filters):
    """Return the convolution of one image of one channel with filters, by its definition."""
    rows, columns = images.shape[2] - 1, images.shape[3] - 2
    turned = filters[:, :, ::-1, ::-1]
    return np.array([[[[(images[0, 0, i : i + 2, j : j + 3] * one[0]).sum() for j in range(columns)] for i in range(rows)] for one in turned]])


#: An expression of variables, their values, the dtype that Theano 1.0.5 gives it, and what NumPy makes of the values.
ALL_AXES = [
    *((lambda x, f=f: f(x, axis=()), [M], "float64", g(M)) for f, g in [(T.max, np.max), (T.min, np.min), (T.ptp, np.ptp)]),
    *((lambda x, f=f: f(x, axis=[]), [M], "int64", g(M)) for f, g in [(T.argmax, np.argmax), (T.argmin, np.argmin)]),
    (lambda x: x.max(axis=()), [M], "float64", M.max()),
    (lambda x: T.max_and_argmax(x, axis=())[1], [M], "int64", M.argmax()),
    (lambda x: T.sum(x, axis=()), [M], "float64", M),
    (lambda x: np.max(x, axis=()), [M], "float64", M),
]
FLOATS = [
    *((lambda x, f=f: f(x), [B], "float32", B) for f in (T.ceil, T.floor, T.trunc)),
    *((lambda x, f=f: f(x), [I], "float64", I) for f in (T.ceil, T.floor, T.trunc)),
    (lambda x: x.floor(), [B > 0], "float32", B > 0),
    (T.angle, [F], "float64", np.where(F < 0, np.pi, 0.0)),
    (T.angle, [B], "float64", np.where(B < 0, np.pi, 0.0)),
    (T.angle, [Z], "float64", np.angle(Z.astype("complex128"))),
    (T.nnet.relu, [B], "float32", np.maximum(B, 0)),
    (T.nnet.relu, [I], "float64", np.maximum(I, 0)),
    (T.nnet.relu, [B > 0], "float32", B > 0),
    (lambda x: T.nnet.relu(x, 0.3), [B], "float64", np.where(B > 0, B, 0.3 * B)),
    (T.nnet.hard_sigmoid, [B], "float32", np.clip(B * np.float32(0.2) + np.float32(0.5), 0, 1)),
    (lambda x: T.nlinalg.norm(x, np.inf), [K], "float64", np.linalg.norm(K, np.inf)),
    (lambda x: T.mean(x, op=True), [F], "float64", F.mean(dtype="float32")),
]
OTHERS = [
    (lambda: T.arange(2.5), [], "float32", np.arange(2.5)),
    (lambda: T.arange(1, 2.5, 0.5), [], "float32", np.arange(1, 2.5, 0.5)),
    (lambda: T.arange(np.float64(2.5)), [], "float64", np.arange(2.5)),
    (lambda: T.constant(True), [], "int8", 1),
    (lambda: T.constant([True]), [], "bool", [True]),
    (T.cov, [F], "float64", np.cov(F, dtype="float32")),
    (lambda x: T.cov(x[0]), [M], "float64", np.cov(M[0])),
    (T.nnet.conv2d, [IMAGES, FILTERS], "float32", correlated(IMAGES, FILTERS)),
    (T.nnet.conv2d, [IMAGES.astype("float64"), FILTERS.astype("float32")], "float64", correlated(IMAGES, FILTERS)),
    (lambda x: T.nnet.abstract_conv.bilinear_upsampling(x, 1), [IMAGES], "float64", IMAGES),
]  # fmt: skip


@pytest.mark.parametrize("table", [ALL_AXES, FLOATS, OTHERS], ids=["all axes", "floats", "others"])
def test_types_and_values(table):
    inputs, outputs, values = [], [], []
    for build, given, _, _ in table:
        symbols = [T.TensorType(v.dtype.name, (False,) * v.ndim)() for v in given]
        inputs += symbols
        outputs.append(build(*symbols))
        values += given
    found = theano.function(inputs, outputs)(*values)
    for k, ((_, _, dtype, wanted), out, value) in enumerate(zip(table, outputs, found, strict=True)):
        assert (out.type.dtype, value.dtype.name) == (dtype, dtype), k
        assert out.type.ndim == np.ndim(wanted), k
        np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-5, err_msg=str(k))
