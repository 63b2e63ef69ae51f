"""Gradients of repeated elements: each has the sum over its copies, and nothing of the others."""

import itertools

import numpy as np
import pytest

import theano
import theano.tensor as T

SHAPE = (2, 3)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_gradient_of_repeated_elements(axis):
    x, counts = T.dmatrix(), T.lvector()
    number = T.lscalar()
    of_each, of_all = T.repeat(x, counts, axis=axis), T.repeat(x, number, axis=axis)
    w = of_each.type()
    f = theano.function([x, counts, w], T.grad((of_each * w).sum(), x))
    g = theano.function([x, number, w], T.grad((of_all * w).sum(), x))
    length = 6 if axis is None else SHAPE[axis]
    value, origins = np.zeros(SHAPE), np.arange(6).reshape(SHAPE)
    for each in itertools.islice(itertools.product([0, 1, 3], repeat=length), 0, None, 7):
        places = np.repeat(origins, each, axis=axis)
        # Large, small and infinite ones beside each other: a difference of running sums would lose them.
        weights = np.resize([1e17, 1.0, np.inf, 1e-3, 2.0], places.shape)
        wanted = np.zeros(6)
        np.add.at(wanted, places.ravel(), weights.ravel())
        np.testing.assert_allclose(f(value, each, weights), wanted.reshape(SHAPE), rtol=1e-15)
    for n in range(3):
        places = np.repeat(origins, n, axis=axis)
        wanted = np.zeros(6)
        np.add.at(wanted, places.ravel(), 1.5)
        np.testing.assert_array_equal(g(value, n, np.full(places.shape, 1.5)), wanted.reshape(SHAPE))
