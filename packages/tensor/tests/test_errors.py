"""Bad input: the right exception, in at most ten lines, that name what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import run

import theano.tensor as T
from theano.errors import ShapeError

m, n, v, s, k = T.dmatrix("m"), T.dmatrix("n"), T.dvector("v"), T.dscalar("s"), T.lvector("k")
M, N, V, K = np.zeros((3, 4)), np.zeros((4, 3)), np.zeros(5), np.array([0, 1])

AT_BUILD = [
    (lambda: T.nnet.softmax(T.lmatrix()), TypeError, ["Softmax", "int64"]),
    (lambda: T.nnet.categorical_crossentropy(m, s), TypeError, ["rank mismatch", "m", "s"]),
    (lambda: T.blas.Dot()(m, T.dtensor3("t")), TypeError, ["Dot", "t", "3-d"]),
    (lambda: T.join(0, m, v), TypeError, ["same number of dimensions", "m", "v"]),
    (lambda: T.join(3, m, n), IndexError, ["axis 3"]),
    (lambda: T.join(0, s, s), TypeError, ["stack"]),
    (lambda: T.concatenate(m), TypeError, ["list"]),
    (lambda: T.stack([]), ValueError, ["empty"]),
    (lambda: m.sum(axis=2), ValueError, ["axis 2", "2 dimensions"]),
    (lambda: m.sum(axis=(0, 0)), ValueError, ["twice"]),
    (lambda: m.sum(axis=1.5), TypeError, ["1.5"]),
    (lambda: T.zmatrix().sum(acc_dtype="float64"), TypeError, ["complex128", "acc_dtype"]),
    (lambda: m.dimshuffle(1), ValueError, ["drop", "non-broadcastable"]),
    (lambda: m.dimshuffle(0, 0, 1), ValueError, ["twice"]),
    (lambda: m.dimshuffle(0, 1, 2), ValueError, ["2 axes"]),
    (lambda: m.dimshuffle("y", 0, 1), ValueError, ["'x'"]),
    (lambda: m.reshape((2, 1.5)), TypeError, ["whole numbers"]),
    (lambda: m.reshape((-1, -1)), ValueError, ["one -1"]),
    (lambda: m.reshape(k), ValueError, ["ndim"]),
    (lambda: m.reshape(2, [3]), ValueError, ["integer"]),
    (lambda: m.flatten(3), ValueError, ["3 dimensions"]),
    (lambda: T.addbroadcast(m, 2), ValueError, ["axis 2"]),
    (lambda: T.patternbroadcast(m, (True,) * 3), ValueError, ["pattern"]),
    (lambda: T.specify_shape(m, (3,)), AssertionError, ["2 dimensions"]),
    (lambda: T.zeros((2, s)), TypeError, ["whole number", "float64"]),
    (lambda: T.alloc(m, 3), TypeError, ["2 dimensions"]),
    (lambda: T.eye(s), TypeError, ["whole number"]),
    (lambda: T.cast(T.zvector(), "float64"), TypeError, ["T.real"]),
    (lambda: T.and_(m, m), TypeError, ["bits"]),
    (lambda: T.dmatrix("m") % T.zmatrix("z"), Exception, ["complex"]),
    (lambda: T.exp(m, m), TypeError, ["1 input"]),
    (lambda: T.exp("text"), TypeError, ["text"]),
    (lambda: T.take(m, k, axis=5), ValueError, ["axis 5"]),
    (lambda: T.take(m, k, mode="no"), ValueError, ["mode"]),
    (lambda: T.tensordot(m, n, 3), ValueError, ["3 axes"]),
    (lambda: T.tensordot(m, n, [[0, 1], [0]]), ValueError, ["as many"]),
    (lambda: T.tensordot(m, n, [[5], [0]]), ValueError, ["only 2"]),
    (lambda: T.round(m, "up"), ValueError, ["half_to_even"]),
    (lambda: T.tile(m, k), ValueError, ["ndim"]),
    (lambda: T.repeat(m, s), TypeError, ["whole"]),
    (lambda: T.cumsum(m, axis=2), ValueError, ["axis"]),
    (lambda: T.diag(s), ValueError, ["vector"]),
    (lambda: T.get_vector_length(v), ValueError, ["run time"]),
    (lambda: T.elemwise.Elemwise(T.scal.add, {0: 0})(T.drow(), m), ValueError, ["broadcast"]),
    (lambda: T.elemwise.Elemwise(T.scal.add, {0: 0})(T.fmatrix(), m), TypeError, ["memory", "float32"]),
]  # fmt: skip

AT_RUN = [
    (m + n, {m: M, n: N}, ShapeError, ["axis 0", "3 against 4", "m", "n", "(3, 4)", "(4, 3)", "float64"]),
    (m + n, {m: M, n: M[:1]}, ShapeError, ["addbroadcast"]),
    (T.dot(m, v), {m: M, v: V}, ShapeError, ["4", "5", "m", "v"]),
    (T.blas._dot22(m, n), {m: M, n: M}, ShapeError, ["4", "3"]),
    (m.reshape((5, 2)), {m: M}, ShapeError, ["12 elements", "(5, 2)"]),
    (m.max(axis=0), {m: M[:0]}, ValueError, ["axis [0]"]),
    (m.argmax(axis=0), {m: M[:0]}, ValueError, ["axis [0]"]),
    (T.join(0, m, n), {m: M, n: N}, ShapeError, ["(3, 4)", "(4, 3)"]),
    (T.split(v, [1, 1], 2)[0], {v: V}, ShapeError, ["5"]),
    (T.alloc(v, 3, 4), {v: V}, ShapeError, ["(5,)"]),
    (T.addbroadcast(m, 0) * 2, {m: M}, ShapeError, ["dimension 0", "length 3"]),
    (T.specify_shape(m, (2, 4)), {m: M}, AssertionError, ["(2, 4)", "(3, 4)"]),
    (m[k], {m: M, k: K + 5}, IndexError, ["m", "k"]),
    (T.nnet.categorical_crossentropy(m, k), {m: M, k: K}, ShapeError, ["2 classes", "3 rows"]),
    (T.nnet.categorical_crossentropy(m, k), {m: M[:2], k: K + 4}, ValueError, ["out of bounds", "class 5"]),
    (T.nnet.softmax_with_bias(m, v), {m: M, v: V}, ShapeError, ["5"]),
    (T.arange(T.constant(0), T.constant(4), k[0]), {k: K}, ZeroDivisionError, ["step"]),
    (T.topk(v, 6), {v: V}, ValueError, ["kth"]),
    (T.repeat(m, k, axis=0), {m: M, k: K}, ShapeError, ["m", "k"]),
]


@pytest.mark.parametrize(("build", "error", "words"), AT_BUILD)
def test_while_building(build, error, words):
    with pytest.raises(error) as caught:
        build()
    text = str(caught.value)
    assert len(text.splitlines()) <= 10
    for word in words:
        assert word in text


@pytest.mark.parametrize(("out", "values", "error", "words"), AT_RUN)
def test_while_running(out, values, error, words):
    with pytest.raises(error) as caught:
        run(out, values)
    text = str(caught.value)
    assert len(text.splitlines()) <= 10, text
    for word in words:
        assert word in text


def test_the_users_line_is_named():
    a, b = T.dvector("a"), T.dvector("b")
    with pytest.raises(ShapeError, match=r"created at .*test_errors\.py:\d+"):
        run(a + b, {a: np.zeros(2), b: np.zeros(3)})
