"""The logarithm of chosen elements of a softmax, with its gradient, where a probability is too small to be a number."""

from itertools import product

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor import nnet
from theano.tensor.nnet import softmax, softmax_graph
from theano.tensor.nnet.labels import labels_of

RNG = np.random.default_rng(11)
ROWS, COLUMNS = 4, 5

#: What is chosen of a matrix, given the classes of its rows.
CHOICES = {
    "one of each row": lambda m, y: m[T.arange(y.shape[0]), y],
    "one of each of the first rows": lambda m, y: m[T.arange(y[1:].shape[0]), y[1:]],
    "a column": lambda m, y: m[:, 1],
    "rows": lambda m, y: m[y % ROWS],
    "pairs, some of them twice": lambda m, y: m[y % ROWS, y],
    "where it is said": lambda m, y: m[T.eq(T.arange(COLUMNS) % 2, 0) & T.eq(y.dimshuffle(0, "x") % 2, 0)],
    "a slice": lambda m, y: m[1:, ::2],
}
SOFTMAXES = {
    "a matrix": lambda x, b: softmax(x),
    "a bias": lambda x, b: softmax(x + b),
    "two biases": lambda x, b: softmax(b + x + b),
    "as users write it": lambda x, b: T.exp(x - x.max(axis=1, keepdims=True)) / T.exp(x - x.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True),
}  # fmt: skip


def _expected(x, b, name):
    """Return the logarithm of a softmax, and what its gradient is for that of the result."""
    rows = x + {"a bias": 1, "two biases": 2}.get(name, 0) * b
    shifted = rows - rows.max(axis=1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return logs, lambda g: g - np.exp(logs) * g.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("softmax_name", "choice"), list(product(SOFTMAXES, CHOICES)))
def test_of_tiny_probabilities(softmax_name, choice):
    x, b, y = T.dmatrix("x"), T.dvector("b"), T.lvector("y")
    chosen = CHOICES[choice](SOFTMAXES[softmax_name](x, b), y)
    places = T.dmatrix("places")
    read = CHOICES[choice](places, y)
    where = theano.function([places, y], [read, theano.grad(read.sum(), places)], on_unused_input="ignore")
    for mean in (False, True):
        cost = T.mean(-T.log(chosen)) if mean else -T.log(chosen).sum()
        f = theano.function([x, b, y], [cost, theano.grad(cost, x)], on_unused_input="ignore")
        for scale in (1.0, 2000.0):
            x_value, b_value = RNG.normal(size=(ROWS, COLUMNS)) * scale, RNG.normal(size=COLUMNS)
            y_value = RNG.permutation(COLUMNS)[:ROWS]
            logs, gradient = _expected(x_value, b_value, softmax_name)
            taken, weights = where(logs, y_value)
            count = taken.size if mean else 1
            value, slope = f(x_value, b_value, y_value)
            np.testing.assert_allclose(value, -taken.sum() / count, rtol=1e-10)
            if softmax_name == "as users write it" and scale > 1:
                continue  # the gradient was taken of a quotient, and is one
            np.testing.assert_allclose(slope, gradient(-weights / count), rtol=1e-8, atol=1e-10)


def test_softmax_of_a_graph_that_shifts_first():
    x = T.dmatrix("x")
    f = theano.function([x], softmax_graph(x))
    assert [node.op for node in f.maker.fgraph.toposort()] == [T.nnet.softmax_op]


@pytest.mark.parametrize("choice", [
    lambda m, y: m[T.arange(y.shape[0]), y], lambda m, y: m[T.arange(y[1:].shape[0]), y[1:]],
    lambda m, y: m[T.arange(m.shape[0]), y],
], ids=["of the classes", "of the first rows", "of the rows"])  # fmt: skip
def test_the_documented_ops_whatever_says_which_rows(choice):
    x, y = T.dmatrix("x"), T.lvector("y")
    cost = -T.log(choice(softmax(x), y)).sum()
    f = theano.function([x, y], cost, mode="FAST_RUN")
    g = theano.function([x, y], theano.grad(cost, x), mode="FAST_RUN")
    assert nnet.crossentropy_softmax_argmax_1hot_with_bias in [node.op for node in f.maker.fgraph.toposort()]
    ops = [node.op for node in g.maker.fgraph.toposort()]
    # The gradient of a sum is one number for all rows, which need not be repeated.
    assert nnet.crossentropy_softmax_1hot_with_bias_dx in ops and not [op for op in ops if isinstance(op, T.Alloc)]
    plain = theano.function([x, y], [cost, theano.grad(cost, x)], mode=theano.Mode("py", None))
    given = RNG.normal(size=(ROWS, COLUMNS)), np.array([0, -1, 3, 2])
    for got, wanted in zip([f(*given), g(*given)], plain(*given), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-10)
    for h in (f, g):
        with pytest.raises(IndexError):
            h(given[0], given[1] + COLUMNS)
        with pytest.raises(IndexError):
            h(given[0][:2], given[1])


def test_how_labels_choose():
    x, b, y = T.dmatrix("x"), T.dvector("b"), T.lvector("y")
    op = nnet.crossentropy_softmax_argmax_1hot_with_bias
    with pytest.raises(ValueError, match="labels must be one of each, first, all"):
        op(x, b, y, "last")
    given = RNG.normal(size=(ROWS, COLUMNS)), RNG.normal(size=COLUMNS), np.array([1, -1])
    for how, rows in (("first", [0, 1]), ("all", None)):
        node = op(x, b, y, how)[0].owner
        assert node.op == op and labels_of(node) == how
        nll = theano.function([x, b, y], [node.outputs[0], theano.grad(node.outputs[0].sum(), x)])
        if rows is None:
            with pytest.raises(IndexError, match="4 rows and 2 labels"):
                nll(*given)
            continue
        logs, _ = _expected(given[0], given[1], "a bias")
        np.testing.assert_allclose(nll(*given)[0], -logs[rows, given[2]], rtol=1e-10)
        assert not nll(*given)[1][2:].any()
    assert labels_of(op(x, b, y)[0].owner) == "each"


def test_slope_of_a_mean_of_sums_of_exponentials_that_vanish():
    x, w = T.dmatrix("x"), T.dscalar("w")
    logs = T.log(T.exp(x).sum(axis=1))
    costs = {"sum": logs.sum(), "mean": logs.mean(), "minus mean": -T.mean(logs), "weighed": (3 * logs / w).mean()}
    f = theano.function([x, w], [theano.grad(cost, x) for cost in costs.values()])
    value = np.array([[-800.0, -801.0, -803.0], [1.0, 0.0, 2.0]])
    rows = np.exp(value - value.max(axis=1, keepdims=True))
    rows /= rows.sum(axis=1, keepdims=True)
    for slope, factor in zip(f(value, 7.0), (1, 0.5, -0.5, 3 / 14), strict=True):
        np.testing.assert_allclose(slope, factor * rows, rtol=1e-12)


@pytest.mark.parametrize("mean", [True, False])
def test_slope_of_such_sums_where_each_is_of_a_shifted_column(mean):
    """As mixtures of one component write them: what each row is multiplied with is divided by itself."""
    x, w = T.dmatrix("x"), T.dmatrix("w")
    logs = T.log(T.sum(T.exp(T.stack([x[:, 0]], axis=1) + T.log(w)), axis=1))
    slope = theano.function([x, w], theano.grad(-logs.mean() if mean else -logs.sum(), x))
    found = slope(np.array([[-800.0], [-1.0]]), np.array([[0.25], [0.75]]))
    np.testing.assert_allclose(found, np.full((2, 1), -0.5 if mean else -1.0), rtol=1e-12)
