"""A tour of the tensor layer: from symbols to numbers, by the ops' own Python form."""

from __future__ import annotations

import numpy as np
from oracle import run

import theano
import theano.tensor as T


def test_symbols_have_types():
    x = T.dmatrix("x")
    assert str(x.type) == "TensorType(float64, matrix)"
    assert str(x[0].type) == "TensorType(float64, vector)"
    assert str((x > 0).type) == "TensorType(bool, matrix)"
    assert str(x.sum(axis=0, keepdims=True).type) == "TensorType(float64, row)"


def test_an_expression_is_a_graph():
    x = T.dmatrix("x")
    y = x * 2.0
    assert y.owner.op.name == "Elemwise{mul,no_inplace}"
    assert str(y.owner.inputs) == "[x, InplaceDimShuffle{x,x}.0]"
    assert str(y.owner.inputs[1].owner.inputs) == "[TensorConstant{2.0}]"
    assert theano.pp(y) == "(x * TensorConstant{2.0})"


def test_ops_compute():
    x = T.dmatrix("x")
    value = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(run(T.exp(-x).sum(axis=0), {x: value}), np.exp(-value).sum(axis=0))


def test_a_gradient_is_another_expression():
    x, w = T.dmatrix("x"), T.dvector("w")
    cost = T.nnet.sigmoid(T.dot(x, w)).sum()
    value, weights = np.arange(6.0).reshape(2, 3) / 6, np.array([1.0, -1.0, 0.5])
    s = 1 / (1 + np.exp(-value @ weights))
    np.testing.assert_allclose(run(theano.grad(cost, w), {x: value, w: weights}), value.T @ (s * (1 - s)))


def test_parts_are_read_and_written():
    v = T.dvector("v")
    out = T.set_subtensor(v[1:3], 0)
    np.testing.assert_array_equal(run(out, {v: np.arange(5.0)}), [0, 0, 0, 3, 4])
    np.testing.assert_array_equal(run(v[::-2], {v: np.arange(5.0)}), [4, 2, 0])


def test_shapes_are_known_without_computing():
    x = T.dmatrix("x")
    node = T.dot(x, x.T).owner
    n = T.lscalar("n")
    assert node.op.infer_shape(node, [(n, 5), (5, n)]) == [(n, n)]


def test_types_refuse_what_does_not_fit():
    x = T.dmatrix("x")
    try:
        run(x + x, {x: np.zeros(3)})
    except TypeError as exc:
        assert "Wrong number of dimensions" in str(exc)
