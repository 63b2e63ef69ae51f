"""CTC against sums over all alignments, and its gradient against differences; C against NumPy."""

from itertools import groupby, product

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.nnet.ctc import ConnectionistTemporalClassification, ctc, of_sequence
from theano.tensor.nnet.ctc_expression import costs


def by_enumeration(x, labels):
    """Return minus the logarithm of the sum over all alignments that read as the labels."""
    p = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    total = 0.0
    for path in product(range(x.shape[1]), repeat=len(x)):
        if [k for k, _ in groupby(path) if k] == list(labels):
            total += np.prod(p[range(len(x)), path])
    with np.errstate(divide="ignore"):
        return -np.log(total)


def batch(rng, steps, count, symbols, most, dtype="float64"):
    lengths = rng.integers(1, steps + 1, count)
    labels = np.full((count, most), -1)
    for row in labels:
        n = rng.integers(0, most + 1)
        row[:n] = rng.integers(1, symbols, n)
    return rng.normal(size=(steps, count, symbols)).astype(dtype), labels, lengths


X, L, N = T.dtensor3("x"), T.lmatrix("labels"), T.lvector("lengths")


def test_costs_are_those_of_all_alignments():
    x, labels, lengths = batch(np.random.default_rng(0), 5, 60, 3, 3)
    found = theano.function([X, L, N], ctc(X, L, N))(x, labels, lengths)
    for b, cost in enumerate(found):
        expected = by_enumeration(x[: lengths[b], b], [k for k in labels[b] if k >= 0])
        np.testing.assert_allclose(cost, expected, rtol=1e-12)
    assert np.isinf(found).any() and np.isfinite(found).any()


@pytest.mark.parametrize("count", [1, 15, 16, 17, 40])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_c_against_numpy(dtype, count):
    rng = np.random.default_rng(count)
    v = T.tensor3("v", dtype=dtype)
    op = ConnectionistTemporalClassification()
    outputs = op.make_node(v, L.astype("int32"), N).outputs
    compiled, plain = (theano.function([v, L, N], outputs, mode=theano.Mode(linker, None)) for linker in ("vm", "py"))
    for view in (lambda x: x, lambda x: np.asfortranarray(x), lambda x: x[::-1, :, ::-1]):
        x, labels, lengths = batch(rng, 9, count, 4, 3, dtype)
        for a, b in zip(compiled(view(x), labels, lengths), plain(view(x), labels, lengths), strict=True):
            assert a.dtype == b.dtype == dtype
            np.testing.assert_allclose(a, b, rtol=1e-5 if dtype == "float32" else 1e-10, atol=1e-6)


def test_gradient_is_that_of_differences():
    rng = np.random.default_rng(3)
    x, _, lengths = batch(rng, 6, 4, 4, 2)
    labels = np.array([[1, 1], [2, 3], [1, -1], [-1, -1]])
    lengths[:] = [6, 4, 2, 3]
    theano.gradient.verify_grad(lambda v: ctc(v, labels, lengths), [x], rng=np.random.RandomState(0))
    g = theano.function([X], theano.grad(ConnectionistTemporalClassification(False)(X, labels, lengths).sum(), X))(x)
    assert (g[4:, 1] == 0).all() and (g[:4, 1] != 0).all()


def test_too_short_for_its_labels():
    cost, gradient = of_sequence(np.zeros((1, 3)), np.array([1, 2]))
    assert cost == np.inf and (gradient == 0).all()


def test_long_sequences_neither_overflow_nor_vanish():
    x = np.random.default_rng(0).normal(size=(2000, 1, 5)) * 30
    labels = np.resize([1, 2, 3, 4], (1, 300))
    cost, gradient = theano.function([X, L, N], [ctc(X, L, N), T.grad(ctc(X, L, N).sum(), X)])(x, labels, [2000])
    assert np.isfinite(cost).all() and np.isfinite(gradient).all()
    np.testing.assert_allclose(gradient.sum(axis=2), 0, atol=1e-9)  # a softmax does not see what is added to all


@pytest.mark.parametrize("most", [0, 1, 3])
def test_the_expression_is_the_same(most):
    x, labels, lengths = batch(np.random.default_rng(most), 6, 25, 4, most)
    wanted, slope = theano.function([X, L, N], [ctc(X, L, N), T.grad(ctc(X, L, N).sum(), X)])(x, labels, lengths)
    found, gradient = theano.function([X, L, N], [costs(X, L, N), T.grad(costs(X, L, N).sum(), X)])(x, labels, lengths)
    np.testing.assert_allclose(found, np.where(np.isinf(wanted), 0, wanted), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gradient, slope, rtol=1e-9, atol=1e-12)
    assert most < 3 or np.isinf(wanted).any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_second_derivatives_are_those_of_differences(dtype):
    rng = np.random.default_rng(5)
    x, _, _ = batch(rng, 6, 6, 4, 2)
    labels, lengths = np.array([[1, 1], [2, 3], [1, -1], [-1, -1], [3, 1], [2, 2]]), [6, 4, 2, 3, 0, 2]
    direction = rng.normal(size=x.shape)
    v, d = T.tensor3("v", dtype=dtype), T.tensor3("d", dtype=dtype)
    weights = np.array([1, -2, 0.5, 3, 1, 1])
    slope = T.grad((ctc(v, labels, lengths) * weights.astype(dtype)).sum(), v)
    second = theano.function([v, d], T.grad((slope * d).sum(), v))(x.astype(dtype), direction.astype(dtype))
    assert second.dtype == dtype and np.isfinite(second).all()
    first = theano.function([X], T.grad((ctc(X, labels, lengths) * weights).sum(), X))
    differences = (first(x + 1e-5 * direction) - first(x - 1e-5 * direction)) / 2e-5
    np.testing.assert_allclose(second, differences, atol=1e-6 if dtype == "float32" else 1e-8)
    assert (second[:, 4:] == 0).all(), "of what is too short for its labels"


def test_a_gradient_that_nobody_uses_is_not_computed():
    def computed(outputs):
        nodes = theano.function([X, L, N], outputs).maker.fgraph.toposort()
        return [n.op.compute_grad for n in nodes if isinstance(n.op, ConnectionistTemporalClassification)]

    cost = ctc(X, L, N)
    assert computed(cost) == [False]
    assert computed([cost, T.grad(cost.sum(), X)]) == [True]
    assert computed(ConnectionistTemporalClassification().make_node(X, L, N).outputs[1]) == [True]
