"""Derivatives with respect to whole numbers and bool: those that the same expression has for fractions of the same value.

What is whole itself is flat, backwards and forwards, unless its numbers are only moved (``Op.slopes_of_whole``).
"""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.ifelse import ifelse

W = T.dvector("w")
#: Expressions of a vector and of W whose values are fractions.
EXPRESSIONS = {
    "exp": lambda x, w: T.exp(x),
    "product": lambda x, w: x * w,
    "quotient": lambda x, w: w / (x + 1.5),
    "power": lambda x, w: w**x,
    "base": lambda x, w: (x + 1.5) ** w,
    "switch": lambda x, w: T.switch(w > 1, x, w),
    "largest": lambda x, w: T.maximum(x, w),
    "mean": lambda x, w: (x * w).mean() * w,
    "scaled": lambda x, w: T.tanh(x * 0.5) - T.nnet.sigmoid(x),
    "std": lambda x, w: (x * w).std(),
    "join": lambda x, w: T.concatenate([x, w]) ** 2,
    "cast": lambda x, w: T.sin(T.cast(x, "float64")),
    "dot": lambda x, w: T.dot(x, w),
    "complex": lambda x, w: abs(x * (1 + 2j)) + w,
    "reshape": lambda x, w: T.exp(x.reshape((3, 1))) * w,
    "sort": lambda x, w: T.exp(T.sort(x)) * w,
    "branch": lambda x, w: ifelse(w.sum() > 0, x * 1.5 + w, w),
}


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint16"])
def test_derivatives(dtype):
    x, real = T.TensorType(dtype, (False,))("x"), T.dvector("real")
    value, weights = np.array([2, 0, 3]).astype(dtype), np.array([0.5, 1.25, 2.0])
    given = [theano.grad(f(v, W).sum(), v) for f in EXPRESSIONS.values() for v in (x, real)]
    along = [theano.Rop(f(v, W), v, W) for f in EXPRESSIONS.values() for v in (x, real)]
    found = theano.function([x, real, W], given + along)(value, value.astype("float64"), weights)
    names = [*EXPRESSIONS, *(f"{name}, along" for name in EXPRESSIONS)]
    for name, whole, fraction, g in zip(names, found[::2], found[1::2], (given + along)[::2], strict=True):
        assert g.type.dtype.startswith("float"), name
        np.testing.assert_allclose(whole, fraction, rtol=3e-6, err_msg=name)  # of bool in float32


def test_what_is_whole_is_flat():
    i = T.lvector("i")
    f = lambda v: [T.grad(v(i), i), T.grad(v(i) * 1.5, i)]
    whole = [lambda i: i.sum(), lambda i: (i * i).max(), lambda i: i.prod(), lambda i: T.dot(i, i), lambda i: i[0]]
    for g in theano.function([i], [g for v in whole for g in f(v)])([1, 2, 4]):
        assert g.dtype == "float64" and not g.any()
    assert T.Rop(i.sum(), i, i).eval({i: [1, 2, 4]}) == 0


def test_places_are_flat():
    x = T.dmatrix("x")
    for v in (T.max_and_argmax(x, 0)[1], T.argmax(x, 0), T.argmin(x, 1), T.argsort(x)):
        np.testing.assert_array_equal(T.grad(v.sum(), x).eval({x: np.eye(3)}), np.zeros((3, 3)), strict=True)


def test_what_is_flat_does_not_meet_infinite_derivatives():
    x, v = T.dvectors("x", "v")
    zero = T.eq(x, 0)
    f = [zero * T.log(x), T.sum(zero.dimshuffle(0, "x") * T.log(x), 0), zero, zero * 2.0, T.argmax(x), T.isnan(x).sum()]
    found = theano.function([x, v], T.Rop(f, x, v))([0, 2], [3, 5])
    np.testing.assert_array_equal(found[0], [np.inf, 0])
    for d in found[2:]:
        assert d.dtype.kind == "f" and not d.any()
    with pytest.raises(theano.errors.DisconnectedInputError):
        T.Rop(x.shape[0] * 1.5, x, v)
