"""``verify_grad`` finds wrong gradients, and only those."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.gradient import GradientError, numeric_grad, verify_grad

POINT = np.array([[0.3, -1.2, 2.0], [0.1, 0.7, -0.4]])


def rng():
    return np.random.RandomState(3)


class Wrong(theano.gof.Op):
    """The square, with a gradient that is wrong by a factor, in one element only if asked."""

    __props__ = ("factor", "one")

    def __init__(self, factor, one=False):
        self.factor, self.one = factor, one

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return theano.gof.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] ** 2

    def grad(self, inputs, output_grads):
        right = 2 * inputs[0] * output_grads[0]
        if self.one:
            return [T.inc_subtensor(right[0, 1], self.factor)]
        return [right * self.factor]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fun", [T.tanh, lambda x: T.dot(x, x.T), lambda x: T.nnet.softmax(x), lambda x: x.sum()])
def test_right_gradients_pass(fun, dtype):
    verify_grad(fun, [POINT.astype(dtype)], rng=rng())


def test_wrong_gradients_are_found():
    verify_grad(Wrong(1), [POINT], rng=rng())
    with pytest.raises(GradientError, match="finite differences say"):
        verify_grad(Wrong(1.01), [POINT], rng=rng())
    with pytest.raises(GradientError) as caught:
        verify_grad(Wrong(0.5, one=True), [POINT], rng=rng())
    assert (caught.value.arg, caught.value.err_pos, caught.value.shape) == (0, 1, (2, 3))
    with pytest.raises(GradientError):
        verify_grad(Wrong(np.nan), [POINT], rng=rng())


def test_tolerances_are_the_users():
    verify_grad(Wrong(1.01), [POINT], rng=rng(), rel_tol=0.1)
    with pytest.raises(GradientError):
        verify_grad(Wrong(1.0001), [POINT], rng=rng(), rel_tol=1e-6, abs_tol=1e-6)


def test_what_it_refuses():
    with pytest.raises(TypeError, match="dtype int64"):
        verify_grad(T.sqr, [np.arange(3)], rng=rng())
    with pytest.raises(TypeError, match="RandomState"):
        verify_grad(T.sqr, [POINT])
    with pytest.raises(NotImplementedError, match="one output"):
        verify_grad(lambda x: [x, x], [POINT], rng=rng())


def test_numeric_gradient_of_several_points():
    found = numeric_grad(lambda x, y: (x * y).sum(), [POINT, 2 * POINT])
    for mine, right in zip(found.gf, [2 * POINT, POINT]):
        np.testing.assert_allclose(mine, right, rtol=1e-6)
    assert found.max_err([2 * POINT, POINT], 1e-4, 1e-4)[2] < 1e-6
    assert found.max_err([2 * POINT, POINT + np.eye(2, 3)], 1e-4, 1e-4)[:2] == (1, 0)
    with pytest.raises(ValueError, match="there are 2 gradients"):
        found.abs_rel_errors([POINT])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_step_is_the_one_of_the_class(dtype):
    visited = []

    def cost(x):
        visited.append(float(x[0]))
        return x.sum()

    numeric_grad(cost, np.zeros(1, dtype))
    np.testing.assert_allclose(np.ptp(visited), 2 * numeric_grad.type_eps[dtype], rtol=1e-6)
