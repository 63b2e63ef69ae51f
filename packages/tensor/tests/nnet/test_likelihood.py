"""The logarithm of chosen elements of a softmax, with its gradient, where a probability is too small to be a number."""

from itertools import product

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.nnet import softmax, softmax_graph

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
