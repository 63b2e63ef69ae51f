"""A softmax in two levels, the table of what was taken for what, columns in front."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.nnet import classes as nnet
from theano.tensor.nnet import confusion_matrix, h_softmax

rng = np.random.default_rng(0)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def test_two_levels():
    batch, features, classes, inside, outputs = 5, 3, 4, 3, 11
    x, w1, b1 = rng.normal(size=(batch, features)), rng.normal(size=(features, classes)), rng.normal(size=classes)
    w2, b2 = rng.normal(size=(classes, features, inside)), rng.normal(size=(classes, inside))
    each = softmax(np.einsum("bf,cfo->bco", x, w2) + b2) * softmax(x @ w1 + b1)[:, :, None]
    everything = each.reshape(batch, -1)[:, :outputs]
    vs = [T.dmatrix(), T.dmatrix(), T.dvector(), T.dtensor3(), T.dmatrix()]
    make = lambda target=None: lambda x, *w: h_softmax(x, batch, outputs, classes, inside, *w, target)
    f = theano.function(vs, make()(*vs))
    np.testing.assert_allclose(f(x, w1, b1, w2, b2), everything)
    target = rng.integers(0, outputs, batch)
    g = theano.function(vs, make(target)(*vs))
    np.testing.assert_allclose(g(x, w1, b1, w2, b2), everything[np.arange(batch), target])
    theano.gradient.verify_grad(make(target), [x, w1, b1, w2, b2], rng=np.random.RandomState(0))


def test_confusion_matrix():
    actual, pred = rng.integers(0, 4, (2, 50)) * 3
    table, order = (v.eval() for v in confusion_matrix(T.constant(actual), T.constant(pred)))
    np.testing.assert_array_equal(order, np.unique([actual, pred]))
    for i, a in enumerate(order):
        for j, p in enumerate(order):
            assert table[i, j] == ((actual == a) & (pred == p)).sum()
    with pytest.raises(ValueError, match="pred must be a vector"):
        confusion_matrix(T.lvector(), T.lmatrix())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_columns_in_front(dtype):
    m, s = T.matrix("m", dtype=dtype), T.scalar("s", dtype=dtype)
    value = rng.normal(size=(3, 2)).astype(dtype)
    f = theano.function([m, s], [nnet.prepend_scalar_to_each_row(s, m), nnet.prepend_1_to_each_row(m), nnet.prepend_0_to_each_row(m)])
    for found, number in zip(f(value, 5), (5, 1, 0), strict=True):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, np.c_[np.full(3, number, dtype), value])
    check = lambda s, m: nnet.prepend_scalar_to_each_row(s, m)
    theano.gradient.verify_grad(check, [np.array(2.0), rng.normal(size=(3, 2))], rng=np.random.RandomState(0))
