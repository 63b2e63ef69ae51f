"""Derivatives of helpers where an element is 0, elements are equal or all alike, infinite, or where units saturate.

Each row is an expression, a value, the exact gradient of the sum weighted by 1, 2, ..., and the exact derivative of
that along 1, 2, ...: from formulas, or, at a kink, what Theano 1.0.5 gives where it gives a number, else a subgradient.
The R-operator must agree with the gradient on each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import norm as norm_distribution

import theano
import theano.tensor as T
from theano.tensor import nnet
from theano.tensor.linalg.functions import norm

inf, nan = np.inf, np.nan
ANY = None


class Row(NamedTuple):
    name: str
    build: Any
    x: Any
    first: Any
    second: Any = ANY


def elements(name: str, build: Any, first: Any, second: Any) -> Row:
    """Return a row for 0, -0, 800, -800, infinity and minus infinity, without their weights."""
    x, weights = [0.0, -0.0, 800.0, -800.0, inf, -inf], np.arange(1.0, 7)
    return Row(name, build, x, weights * first, weights * weights * second)


_ONES, _ZEROS = np.ones(6), np.zeros(6)
_STEP = np.array([0, 0, 1, 0, 1, 0])
ELEMENTS = [
    elements("relu", nnet.relu, [0.5, 0.5, 1, 0, 1, 0], _ZEROS),  # 1.0.5: half way
    elements("leaky relu", lambda x: nnet.relu(x, 0.1), [0.55, 0.55, 1, 0.1, 1, 0.1], _ZEROS),
    elements("elu", nnet.elu, [1, 1, 1, 0, 1, 0], [1, 1, 0, 0, 0, 0]),  # 1.0.5: at 0 that of the left
    elements("elu of 2", lambda x: nnet.elu(x, 2), [2, 2, 1, 0, 1, 0], [2, 2, 0, 0, 0, 0]),
    elements("softplus", nnet.softplus, [0.5, 0.5, 1, 0, 1, 0], [0.25, 0.25, 0, 0, 0, 0]),
    elements("sigmoid", nnet.sigmoid, [0.25, 0.25, 0, 0, 0, 0], _ZEROS),
    elements("ultra_fast_sigmoid", nnet.ultra_fast_sigmoid, [0.25, 0.25, 0, 0, 0, 0], _ZEROS),
    elements("hard_sigmoid", nnet.hard_sigmoid, [0.2, 0.2, 0, 0, 0, 0], _ZEROS),
    elements("softsign", nnet.softsign, [1, 1, 1 / 801**2, 1 / 801**2, 0, 0], [0, 0, -2 / 801**3, 2 / 801**3, nan, nan]),
    elements("abs", abs, [0, 0, 1, -1, 1, -1], _ZEROS),
    elements("maximum", lambda x: T.maximum(x, 0), [1, 1, 1, 0, 1, 0], _ZEROS),  # 1.0.5: the first of equal ones
    elements("maximum, second", lambda x: T.maximum(0, x), _STEP, _ZEROS),
    elements("clip", lambda x: T.clip(x, 0, 800), [1, 1, 1, 0, 0, 0], _ZEROS),
    elements("switch", lambda x: T.switch(x > 0, x, 0), _STEP, _ZEROS),
    elements("square", lambda x: x ** T.constant(2.0), [0, 0, 1600, -1600, inf, -inf], 2 * _ONES),
    *[
        elements(f"cross entropy of {t}", lambda x, t=t: nnet.sigmoid_binary_crossentropy(x, T.zeros_like(x) + t),
                 [0.5 - t, 0.5 - t, 1 - t, -t, 1 - t, -t], [0.25, 0.25, 0, 0, 0, 0])
        for t in (0, 0.25, 1)
    ],
]  # fmt: skip

_V, _W = np.array([3.0, 0, 4]), np.array([1.0, 2, 3])
_U = _V / 5
_TIES = [2.0, 2, 1]


def _norm_rows(name: str, of: Any) -> list[Row]:
    return [
        Row(name, of, _V, _U, (_W - _U * (_U @ _W)) / 5),
        Row(f"{name} of 0", of, [0.0, -0.0, 0], [0, 0, 0], [0, 0, 0]),  # a subgradient; 1.0.5: NaN
    ]


VECTORS = [
    *_norm_rows("norm 2", lambda x: x.norm(2)),
    *_norm_rows("linear algebra's", lambda x: norm(x, None)),
    *_norm_rows("linear algebra's 2", lambda x: norm(x, 2)),
    *_norm_rows("Frobenius", lambda x: norm(x.dimshuffle("x", 0), "fro")),
    Row("norm 1", lambda x: x.norm(1), [3.0, 0, -4], [1, 0, -1], [0, 0, 0]),
    Row("norm 4", lambda x: x.norm(4), [2.0, 0, 0], [1, 0, 0], [0, 0, 0]),
    Row("norm inf", lambda x: x.norm(inf), [3.0, 0, -3], [1, 0, -1], [0, 0, 0]),  # 1.0.5: all that are as large
    Row("max", T.max, _TIES, [1, 1, 0], [0, 0, 0]), Row("min", T.min, [1.0, 1, 2], [1, 1, 0], [0, 0, 0]),
    Row("max and place", lambda x: T.max_and_argmax(x)[0], _TIES, [1, 1, 0], [0, 0, 0]),
    Row("range of one value", lambda x: x.ptp(), [2.0, 2, 2], [0, 0, 0], [0, 0, 0]),
    Row("mean", T.mean, [2.0, 2, 2], [1 / 3, 1 / 3, 1 / 3], [0, 0, 0]),
    Row("var", T.var, [2.0, 2, 2], [0, 0, 0], [-2 / 3, 0, 2 / 3]),
    Row("std", T.std, [2.0, 2, 2], [0, 0, 0], [0, 0, 0]),  # a subgradient; 1.0.5: NaN
    Row("prod, one 0", T.prod, [2.0, 0, 3], [0, 6, 0], [6, 9, 4]),
    Row("prod, two 0", T.prod, [0.0, 0, 3], [0, 0, 0], [6, 3, 0]),
    Row("prod, only 0", T.prod, [0.0, 0, 0], [0, 0, 0], [0, 0, 0]),
    Row("logsumexp", T.logsumexp, [-inf, 800, 800], [0, 0.5, 0.5], [0, -0.25, 0.25]),
    Row("sort", T.sort, [1.0, 1, 0], [2, 3, 1], [0, 0, 0]),
]  # fmt: skip

_SATURATED = [[800.0, 0, -800]]
_T = np.array([[0.2, 0.3, 0.5]])
MATRICES = [
    Row("softmax", nnet.softmax, [[-inf, 800.0, 800]], [[0, -0.25, 0.25]], [[0, 0, 0]]),
    Row("logsoftmax", nnet.logsoftmax, _SATURATED, [[-5, 2, 3]], [[0, 0, 0]]),
    # Their second derivatives are stable only where the program takes them of logsoftmax.
    Row("log of softmax", lambda x: T.log(nnet.softmax(x)), _SATURATED, [[-5, 2, 3]]),
    Row("entropy of a class", lambda x: nnet.categorical_crossentropy(nnet.softmax(x), T.constant([2])), _SATURATED, [[1, 0, -1]]),
    Row("entropy of classes", lambda x: nnet.categorical_crossentropy(nnet.softmax(x), T.constant(_T)), _SATURATED, [[1, 0, 0]] - _T),
    Row("certain class", lambda x: nnet.categorical_crossentropy(x, T.constant([1])), [[0.0, 1]], [[0, -1]], [[0, 2]]),
]  # fmt: skip


def check(rows: list[Row], ndim: int, mode: str) -> None:
    inputs, outputs, values = [], [], []
    for row in rows:
        value = np.asarray(row.x, "float64")
        x = T.TensorType("float64", (False,) * ndim)()
        out = row.build(x)
        way = 1.0 + np.arange(value.size).reshape(value.shape)
        weights = (1.0 + T.arange(out.size)).reshape(out.shape, ndim=out.ndim)
        first = T.grad((out * weights).sum(), x)
        second = T.grad(T.sum(first * way), x, disconnected_inputs="ignore")
        along = T.sum(T.Rop(out, x, T.constant(way)) * weights)
        inputs.append(x)
        values.append(value)
        outputs += [first, second if row.second is not ANY else first, along]
    found = theano.function(inputs, outputs, mode=mode)(*values)
    for i, row in enumerate(rows):
        first, second, along = found[3 * i : 3 * i + 3]
        np.testing.assert_allclose(first, row.first, 1e-12, 1e-14, err_msg=row.name)
        if row.second is not ANY:
            # inf / inf of the expression as written; a rule may find the limit.
            wanted = np.where(np.isnan(row.second) & (second == 0), 0.0, row.second)
            np.testing.assert_allclose(second, wanted, 1e-12, 1e-14, err_msg=f"second derivative of {row.name}")
        by_gradient = (first * (1.0 + np.arange(first.size).reshape(first.shape))).sum()
        np.testing.assert_allclose(along, by_gradient, 1e-12, 1e-14, err_msg=f"R-operator of {row.name}")


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_elements(mode: str) -> None:
    check(ELEMENTS, 1, mode)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_vectors(mode: str) -> None:
    check(VECTORS, 1, mode)


def test_rows_of_matrices() -> None:
    check(MATRICES, 2, "FAST_RUN")


def test_products_with_logarithms() -> None:
    """``x log y`` is 0 for x = 0, whatever y is: so is its derivative by y."""
    x, y = T.dvectors("x", "y")
    first = T.grad(T.xlogx.xlogy0(x, y).sum(), [x, y])
    mixed = T.grad(first[1].sum(), [x, y])
    f = theano.function([x, y], [T.grad(T.xlogx.xlogx(x).sum(), x), *first, *mixed])
    wanted = [[-inf, -inf, 1], [-inf, np.log(2), 0], [0, 0, 1], [1, 0.5, 1], [0, 0, -1]]
    np.testing.assert_allclose(f([0.0, 0, 1], [0.0, 2, 1]), wanted)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_tails_of_a_distribution_by_two_formulas(sign: int) -> None:
    """Each formula overflows where the other is chosen, and its derivative of 0 * inf must not come through."""
    x = T.dvector("x")
    z = sign * x
    lower, upper = T.log(T.erfcx(-z / 2**0.5) / 2) - z**2 / 2, T.log1p(-T.erfc(z / 2**0.5) / 2)
    slope = theano.grad(T.switch(z < -1, lower, upper).sum(), x)
    given = np.array([-1e3, -50, -10, -1.5, -1, 0, 1, 1.5, 10, 50, 1e3])
    expected = sign * np.exp(norm_distribution.logpdf(given) - norm_distribution.logcdf(sign * given))
    np.testing.assert_allclose(theano.function([x], slope)(given), expected, rtol=1e-10, atol=1e-300)
