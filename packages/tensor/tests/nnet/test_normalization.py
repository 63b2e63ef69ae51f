"""Batch normalisation against NumPy, in each layout; gradients of all orders against differences."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.nnet import normalization as bn

rng = np.random.default_rng(0)
AXES = [("per-activation", (0,), 2), ("spatial", (0, 2, 3), 4), ((1,), (1,), 2), ((0, 1), (0, 1), 3), ((0, 2), (0, 2), 3), ((0,), (0,), 4)]


def plain(x, gamma, beta, axes, epsilon):
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    invstd = 1 / np.sqrt(var + epsilon)
    return (x - mean) * gamma * invstd + beta, mean, invstd, var


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize(("axes", "numbers", "ndim"), AXES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_training(axes, numbers, ndim, short, dtype):
    shape = (4, 3, 5, 2)[:ndim]
    full = tuple(1 if d in numbers else n for d, n in enumerate(shape))
    kept = tuple(n for d, n in enumerate(shape) if d not in numbers)
    x = (rng.normal(size=shape) * 3 + 1).astype(dtype)
    parameters = [rng.uniform(0.5, 2, full).astype(dtype) for _ in range(4)]
    given = [p.reshape(kept) if short else p for p in parameters]
    v, ps = T.TensorType(dtype, (False,) * ndim)(), [T.TensorType(dtype, (False,) * p.ndim)() for p in given]
    outputs = bn.batch_normalization_train(v, *ps[:2], axes, 1e-2, 0.3, *ps[2:])
    f = theano.function([v, *ps], list(outputs))
    found = f(x, *given)
    out, mean, invstd, var = plain(x.astype("float64"), *parameters[:2], numbers, 1e-2)
    m = np.prod([shape[d] for d in numbers])
    wanted = [out, mean, invstd, parameters[2] * 0.7 + mean * 0.3, parameters[3] * 0.7 + m / (m - 1) * var * 0.3]
    close = 1e-4 if dtype == "float32" else 1e-10
    for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
        assert a.dtype == dtype
        np.testing.assert_allclose(a, b.reshape(kept) if short and k else b, close, close)
    test = theano.function([v, *ps], bn.batch_normalization_test(v, *ps, axes, 1e-2))(x, *given)
    expected = (x - parameters[2]) * parameters[0] / np.sqrt(parameters[3] + 1e-2) + parameters[1]
    np.testing.assert_allclose(test, expected, close, close)


@pytest.mark.parametrize(("axes", "numbers", "ndim"), AXES[:4])
def test_gradients(axes, numbers, ndim):
    rng = np.random.default_rng(0)  # at other points the second derivatives are as large as the differences are coarse
    shape = (3, 2, 2, 2)[:ndim]
    kept = tuple(n for d, n in enumerate(shape) if d not in numbers)
    x, gamma, beta = rng.normal(size=shape), rng.normal(size=kept), rng.normal(size=kept)
    weights = rng.normal(size=shape)

    def cost(x, gamma, beta):
        out, mean, invstd = bn.batch_normalization_train(x, gamma, beta, axes)
        return (T.sqr(out) * weights).sum(), (T.sqr(out) * weights).sum() + (mean * gamma).sum() + (invstd * beta).sum()

    check = lambda f: theano.gradient.verify_grad(f, [x, gamma, beta], rng=np.random.RandomState(0))
    for which in range(2):
        check(lambda *v, k=which: cost(*v)[k])
        check(lambda *v, k=which: sum(T.sqr(g).sum() for g in T.grad(cost(*v)[k], list(v))))
    known = [rng.normal(size=kept), rng.uniform(1, 2, kept)]
    theano.gradient.verify_grad(
        lambda x, *p: bn.batch_normalization_test(x, *p, axes), [x, gamma, beta, *known], rng=np.random.RandomState(0)
    )


@pytest.mark.parametrize("mode", ["low_mem", "high_mem"])
def test_the_older_function(mode):
    given = [rng.uniform(1, 2, (3, 4))] + [rng.uniform(1, 2, (1, 4)) for _ in range(4)]
    vs = [T.TensorType("float64", (k > 0, False))() for k in range(5)]
    out = bn.batch_normalization(*vs, mode=mode)
    x, gamma, beta, mean, std = given
    np.testing.assert_allclose(theano.function(vs, out)(*given), (x - mean) * (gamma / std) + beta)
    theano.gradient.verify_grad(
        lambda *v: bn.batch_normalization(*(a if k == 0 else T.addbroadcast(a, 0) for k, a in enumerate(v)), mode=mode),
        given, rng=np.random.RandomState(0),
    )  # fmt: skip


def test_wrong_input():
    x, v = T.dmatrix("x"), T.dvector("v")
    with pytest.raises(ValueError, match="running_mean and running_var are given both"):
        bn.batch_normalization_train(x, v, v, running_mean=v)
    with pytest.raises(ValueError, match="parameters must have 1 dimensions.*gamma: 1, beta: 2"):
        bn.batch_normalization_train(x, v, x)
    with pytest.raises(ValueError, match="epsilon must be at least 1e-05"):
        bn.batch_normalization_test(x, v, v, v, v, epsilon=1e-6)
    with pytest.raises(ValueError, match="axes must be numbers from 0 to 1"):
        bn.batch_normalization_train(x, v, v, axes=(2,))
    with pytest.raises(ValueError, match="'per-activation', 'spatial'"):
        bn.batch_normalization_train(x, v, v, axes="all")
    with pytest.raises(ValueError, match="'low_mem' or 'high_mem'"):
        bn.batch_normalization(x, x, x, x, x, mode="fast")


def test_axes_as_any_sequence():
    x, v = T.matrix("x"), T.vector("v")
    given, kept = np.arange(6.0).reshape(2, 3), np.ones(3)
    outputs = [bn.batch_normalization_test(x, v, v, v, v, axes, 1e-2) for axes in ((0,), [0], np.array([0]), range(1))]
    first, *others = theano.function([x, v], outputs)(given, kept)
    assert all(np.array_equal(first, other) for other in others)


def test_complex_numbers_have_real_variances():
    z = rng.normal(size=(4, 3)) + 1j * rng.normal(size=(4, 3))
    v, ones = T.TensorType("complex128", (False, False))("v"), T.ones((1, 3))
    found = theano.function([v], list(bn.batch_normalization_train(v, ones, 0 * ones, (0,), 1e-2, 0.3, 0 * ones, ones)))(z)
    out, mean, invstd, var = plain(z, 1, 0, 0, 1e-2)
    for a, b in zip(found, [out, mean, invstd, 0.3 * mean, 0.7 + 0.4 * var], strict=True):
        np.testing.assert_allclose(a, b, 1e-10)
