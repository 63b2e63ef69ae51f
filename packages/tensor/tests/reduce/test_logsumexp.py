"""logsumexp: one op for every way to write it, against SciPy, over dtypes, axes, layouts, sizes, infinities and nan."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.special

import theano
import theano.tensor as T
from theano.gradient import grad
from theano.tensor.reduce.logsumexp import LogSumExp

x = T.dmatrix("x")
R = np.random.default_rng(0)
WAYS = {
    "plain": lambda axis, keep: T.log(T.sum(T.exp(x), axis=axis, keepdims=keep)),
    "function": lambda axis, keep: T.logsumexp(x, axis=axis, keepdims=keep),
    "by hand": lambda axis, keep: (
        T.log(T.sum(T.exp(x - x.max(axis=axis, keepdims=True)), axis=axis, keepdims=keep)) + x.max(axis=axis, keepdims=keep)
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("axis,keep", list(itertools.product([None, 0, 1], [False, True])))
def test_every_way_to_write_it_is_one_op(way, axis, keep):
    f = theano.function([x], WAYS[way](axis, keep))
    ops = [n.op for n in f.maker.fgraph.toposort()]
    assert sum(isinstance(op, LogSumExp) for op in ops) == 1
    assert len([op for op in ops if not isinstance(op, T.elemwise.DimShuffle)]) == 1, ops
    value = R.normal(size=(7, 40)) * 300
    np.testing.assert_allclose(f(value), scipy.special.logsumexp(value, axis=axis, keepdims=keep), rtol=1e-13)


def test_another_shift_is_added():
    m = T.dvector("m")
    f = theano.function([x, m], T.log(T.exp(x - m.dimshuffle(0, "x")).sum(axis=1)) + 2 * m)
    value, shift = R.normal(size=(3, 5)), R.normal(size=3)
    want = scipy.special.logsumexp(value - shift[:, None], axis=1) + 2 * shift
    np.testing.assert_allclose(f(value, shift), want, rtol=1e-13)
    # The shift lies along the other axis: it is no shift of a row.
    n = T.drow("n")
    g = theano.function([x, n], T.log(T.exp(x - n).sum(axis=1)) + n.sum())
    np.testing.assert_allclose(g(value, value[:1]), scipy.special.logsumexp(value - value[:1], axis=1) + value[:1].sum())


@pytest.mark.parametrize("dtype,rtol", [("float64", 3e-15), ("float32", 3e-7), ("float16", 2e-3)])
def test_dtypes_axes_layouts_sizes(dtype, rtol):
    for shape in [(1,), (7,), (8,), (9,), (1023,), (1024,), (1025,), (200_000,), (3, 10), (500, 10), (10, 500), (40, 33, 5)]:
        v = T.TensorType(dtype, (False,) * len(shape))("v")
        for axes in [c for r in range(1, len(shape) + 1) for c in itertools.combinations(range(len(shape)), r)]:
            f = theano.function([v], LogSumExp(axes)(v))
            base = (R.normal(size=shape) * 20).astype(dtype)
            strided = np.repeat(base, 2, axis=0)[::2]
            for value in (base, np.asfortranarray(base), base[::-1], strided, np.broadcast_to(base[:1], shape)):
                got, want = f(value), scipy.special.logsumexp(value.astype("float64"), axis=axes)
                assert got.dtype == dtype
                np.testing.assert_allclose(got, want, rtol=rtol, atol=20 * rtol)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_infinities_and_nan(dtype):
    v = T.TensorType(dtype, (False, False))("v")
    for axis in (0, 1):
        f = theano.function([v], LogSumExp(axis)(v))
        for n in (1, 3, 20, 70, 300):
            value = (R.normal(size=(6, n)) * 3).astype(dtype)
            value[0, n // 2] = np.inf
            value[1] = -np.inf
            value[2, n - 1] = np.nan
            value[3, 0] = -np.inf
            value[4] = -5000
            value[4, n // 3] = 5000
            value[5, 0], value[5, n - 1] = np.nan, np.inf
            value = value if axis == 1 else np.ascontiguousarray(value.T)
            with np.errstate(all="ignore"):
                want = scipy.special.logsumexp(value.astype("float64"), axis=axis)
            np.testing.assert_allclose(f(value), want, rtol=1e-6)


def test_of_nothing():
    f = theano.function([x], LogSumExp(1)(x))
    assert f(np.zeros((2, 0))).tolist() == [-np.inf, -np.inf] and f(np.zeros((0, 2))).shape == (0,)


def test_gradients():
    value = R.normal(size=(4, 6)) * 3
    out = LogSumExp(1)(x)
    f = theano.function([x], grad((out * np.arange(4.0)).sum(), x))
    want = np.arange(4.0)[:, None] * scipy.special.softmax(value, axis=1)
    np.testing.assert_allclose(f(value), want, rtol=1e-12)
    theano.gradient.verify_grad(lambda a: LogSumExp(0)(a), [value], rng=np.random.RandomState(0))
    stable = theano.function([x], grad(T.log(T.exp(x).sum(axis=1)).sum(), x))
    np.testing.assert_allclose(stable(value), scipy.special.softmax(value, axis=1), rtol=1e-12)


def test_whole_numbers_are_refused():
    with pytest.raises(TypeError, match="real numbers"):
        LogSumExp(0)(T.lvector())
