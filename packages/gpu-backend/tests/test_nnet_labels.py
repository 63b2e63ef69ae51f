"""Connectionist temporal classification and products of chosen blocks: the device against the CPU."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from compare import LAYOUTS, MODE, agree, nodes

import theano
import theano.tensor as T
from theano.tensor.nnet.blocksparse import SparseBlockGemv, SparseBlockOuter, sparse_block_dot
from theano.tensor.nnet.ctc import ConnectionistTemporalClassification, ctc, of_sequence

DTYPES = ("float32", "float64")


# -- CTC -------------------------------------------------------------------------------------------------------------


def case(steps, batch, labels, length, dtype="float64", seed=0):
    """Return activations, labels (padded, with repeated ones and blanks) and lengths of sequences."""
    rng = np.random.default_rng(seed)
    spelled = rng.integers(0, labels, (batch, length)) if labels else np.full((batch, length), -1)
    for b in range(batch):
        spelled[b, rng.integers(0, length + 1) :] = -1
    lengths = rng.integers(0, steps + 1, batch)
    lengths[: batch // 2] = steps
    return rng.normal(size=(steps, batch, labels)).astype(dtype), spelled.astype("int32"), lengths.astype("int32")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("steps,batch,labels,length", [
    (1, 1, 2, 1), (5, 3, 4, 2), (12, 7, 5, 6), (30, 2, 300, 9), (6, 2, 1, 3), (0, 3, 4, 2), (4, 0, 3, 2), (4, 3, 3, 0), (280, 2, 5, 135),
])  # fmt: skip
def test_costs_and_gradients(steps, batch, labels, length, dtype):
    x, y, n = T.TensorType(dtype, (False,) * 3)("x"), T.imatrix("y"), T.ivector("n")
    values = case(steps, batch, labels, length, dtype)
    f = agree([x, y, n], list(ConnectionistTemporalClassification()(x, y, n).owner.outputs), values, 1e-4 if dtype == "float32" else 1e-10)
    assert [type(n.op).__name__ for n in nodes(f)[0]] == ["GpuConnectionistTemporalClassification"]
    costs, gradient = f(*values)
    for b in range(batch):
        row = values[1][b][: np.argmax(np.r_[values[1][b], -1] < 0)]
        cost, slope = of_sequence(values[0][: values[2][b], b].astype("float64"), row)
        np.testing.assert_allclose(costs[b], cost, rtol=2e-5)
        np.testing.assert_allclose(gradient[: values[2][b], b], slope, atol=2e-5)
        assert not gradient[values[2][b] :, b].any()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_activations(layout):
    x, y, n, w = T.dtensor3("x"), T.lmatrix("y"), T.wvector("n"), T.dvector("w")
    value, labels, lengths = case(9, 4, 5, 3)
    cost = ctc(T.exp(x.dimshuffle(1, 0, 2))[:, ::-1], y, n)
    outputs = [cost, T.grad((cost * w).sum(), x), ctc(x.dimshuffle(1, 0, 2), y[::-1], n)]
    # a cost is infinite where a sequence is too short: its gradient is 0
    values = [LAYOUTS[layout](value.transpose(1, 0, 2)), labels.astype("int64"), np.array([9, 9, 1, 7], "int16"), np.arange(4.0)]
    agree([x, y, n, w], outputs, values, 1e-9, all_there=False)


def test_costs_alone():
    x, y, n = T.ftensor3("x"), T.imatrix("y"), T.ivector("n")
    op = ConnectionistTemporalClassification(compute_grad=False)
    agree([x, y, n], op(x, y, n), case(8, 3, 4, 3, "float32"), 1e-5)


def test_labels_that_do_not_fit(on_device):
    x, y, n = T.dtensor3("x"), T.imatrix("y"), T.ivector("n")
    f = on_device([x, y, n], ctc(x, y, n))
    good = np.zeros((3, 2, 4)), np.array([[1, -1], [2, 3]], "int32"), np.array([3, 2], "int32")
    for change, message in (
        ((1, np.array([[4, -1], [1, 1]], "int32")), "there is a label 4, and there are 4 activations"),
        ((2, np.array([4, 1], "int32")), "input_lengths has 4; there are activations of 3 steps"),
        ((2, np.array([-1, 1], "int32")), "input_lengths has -1"),
        ((1, np.array([[1, 2]], "int32")), "activations are of 2 sequences, labels of 1"),
        ((0, np.zeros((3, 2, 0))), "there is a label 1|there are steps without activations"),
    ):
        values = list(good)
        values[change[0]] = change[1]
        with pytest.raises(ValueError, match=message):
            f(*values)


# -- chosen blocks ---------------------------------------------------------------------------------------------------


def blocks(dtype, batch=3, rows=2, columns=4, height=3, width=5, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "W": rng.normal(size=(6, 7, height, width)).astype(dtype), "h": rng.normal(size=(batch, rows, height)).astype(dtype),
        "g": rng.normal(size=(batch, columns, width)).astype(dtype), "rows": rng.integers(-6, 6, (batch, rows)),
        "columns": rng.integers(-7, 7, (batch, columns)),
    }  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(3, 2, 4, 3, 5), (1, 1, 1, 1, 1), (2, 9, 8, 17, 33), (0, 2, 2, 3, 3), (2, 0, 3, 2, 2), (2, 3, 0, 2, 2), (2, 3, 2, 0, 4), (2, 3, 2, 4, 0)], ids=str)
def test_chosen_blocks(sizes, dtype):
    v = blocks(dtype, *sizes)
    W, h, g = T.TensorType(dtype, (False,) * 4)("W"), T.TensorType(dtype, (False,) * 3)("h"), T.TensorType(dtype, (False,) * 3)("g")
    rows, columns = T.lmatrices("rows", "columns")
    outputs = [
        SparseBlockGemv()(g, W, h, rows, columns), SparseBlockOuter()(W, h, g, rows, columns),
        SparseBlockOuter()(T.exp(W), h, g, rows, columns, np.asarray(-0.5, dtype)), SparseBlockGemv()(T.exp(g), W, h, rows, columns),
    ]  # fmt: skip
    f = agree([W, h, g, rows, columns], outputs, [v[k] for k in ("W", "h", "g", "rows", "columns")], 1e-4 if dtype == "float32" else 1e-11)
    there = [n.op for n in nodes(f)[0] if isinstance(n.op, (SparseBlockGemv, SparseBlockOuter))]
    assert len(there) == 4 and sum(op.inplace for op in there) == 2
    assert {type(op).__name__ for op in there} == {"GpuSparseBlockGemv", "GpuSparseBlockOuter"}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_and_layouts_of_blocks(layout):
    v = blocks("float64")
    W, h, b = T.dtensor4("W"), T.dtensor3("h"), T.dmatrix("b")
    rows, columns = T.imatrices("rows", "columns")
    out = sparse_block_dot(W.dimshuffle(1, 0, 2, 3), T.exp(h)[:, ::-1], columns[:, :2], b, rows)
    outputs = [out, *T.grad(T.sqr(out).sum(), [W, h, b])]
    values = [LAYOUTS[layout](v["W"]), LAYOUTS[layout](v["h"]), np.ones((6, 5)), v["rows"].astype("int32"), v["columns"].astype("int32")]
    agree([W, h, b, rows, columns], outputs, values, 1e-9, all_there=False)


def test_numbers_of_no_block_and_shapes(on_device):
    v = blocks("float64")
    W, h, g, rows, columns = T.dtensor4("W"), T.dtensor3("h"), T.dtensor3("g"), *T.lmatrices("rows", "columns")
    gemv = on_device([W, h, g, rows, columns], SparseBlockGemv()(g, W, h, rows, columns))
    outer = on_device([W, h, g, rows, columns], SparseBlockOuter()(W, h, g, rows, columns))
    for f in (gemv, outer):
        for key, value in (("rows", 6), ("rows", -7), ("columns", 7)):
            bad = {**v, key: np.full_like(v[key], value)}
            with pytest.raises(IndexError, match="there is a block number"):
                f(*(bad[k] for k in ("W", "h", "g", "rows", "columns")))
        for key in ("W", "h", "g", "rows"):
            bad = {**v, key: v[key][..., :1] if key != "rows" else v[key][:, :1]}
            with pytest.raises(ValueError, match="shapes do not belong together"):
                f(*(bad[k] for k in ("W", "h", "g", "rows", "columns")))


def test_blocks_of_a_shared_value_are_updated_in_place(context):
    v = blocks("float64")
    W, h, g, rows, columns = theano.shared(v["W"]), T.dtensor3("h"), T.dtensor3("g"), *T.lmatrices("rows", "columns")
    f = theano.function([h, g, rows, columns], [], mode=MODE, updates=[(W, SparseBlockOuter()(W, h, g, rows, columns))])
    wanted = v["W"].copy()
    for b in range(3):
        for i in range(2):
            for j in range(4):
                wanted[v["rows"][b, i], v["columns"][b, j]] += np.outer(v["h"][b, i], v["g"][b, j])
    f(v["h"], v["g"], v["rows"], v["columns"])
    np.testing.assert_allclose(W.get_value(), wanted, rtol=1e-12)


def test_documented_names():
    blocksparse, names = (importlib.import_module(f"theano.gpuarray.{name}") for name in ("blocksparse", "ctc"))

    x, y, n = theano.gpuarray.GpuArrayType("float32", (False,) * 3)("x"), T.imatrix("y"), T.ivector("n")
    f = theano.function([x, y, n], names.gpu_ctc(x, y, n), mode=MODE)
    assert [node for node in nodes(f)[0] if isinstance(node.op, names.GpuConnectionistTemporalClassification)]
    found = f(theano.gpuarray.asarray(np.zeros((3, 2, 3), "float32")), [[1, 2], [1, -1]], [3, 2])
    np.testing.assert_allclose(np.asarray(found), [1.686399, 1.098612], rtol=1e-5)
    assert issubclass(blocksparse.GpuSparseBlockGemv, SparseBlockGemv) and blocksparse.GpuSparseBlockOuter(True).inplace
