"""Pooling against a plain loop over windows, its derivatives against differences."""

from functools import partial
from importlib import import_module
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

import theano
import theano.tensor as T
from theano.tensor.pool import AveragePoolGrad, MaxPoolGrad, Pool, max_pool_2d_same_size, pool_2d, pool_3d

MODES = ("max", "sum", "average_inc_pad", "average_exc_pad")


def lengths(n, ws, stride, pad, ignore_border):
    """Return the begin and end of each window along an axis of the padded array, from what the words mean."""
    found, start = [], -pad
    while start < n + pad:
        if start + ws <= n + pad:
            found.append((start, start + ws))
        elif not ignore_border:
            if not (stride < ws and found and found[-1][1] >= n):
                found.append((start, n))
        start += stride
    return found


def by_loop(x, ws, stride, pad, mode, ignore_border):
    nd = len(ws)
    last = x.shape[x.ndim - nd :]
    axes = [lengths(n, w, s, p, ignore_border) for n, w, s, p in zip(last, ws, stride, pad)]
    out = np.zeros((*x.shape[: x.ndim - nd], *map(len, axes)), x.dtype)
    for place in product(*(range(len(a)) for a in axes)):
        bounds = [a[i] for a, i in zip(axes, place)]
        window = x[(..., *(slice(max(b, 0), max(min(e, n), 0)) for (b, e), n in zip(bounds, last)))]
        last_axes = tuple(range(-nd, 0))
        count = np.prod([e - b for b, e in bounds] if mode == "average_inc_pad" else window.shape[-nd:])
        value = window.max(last_axes) if mode == "max" else window.sum(last_axes)
        out[(..., *place)] = value / count if mode.startswith("average") else value
    return out


def compiled(nd, ndim, mode, ignore_border, dtype="float64"):
    x, sizes = T.TensorType(dtype, (False,) * ndim)("x"), [T.lvector(n) for n in ("ws", "stride", "pad")]
    out = Pool(ignore_border, mode, nd)(x, *sizes)
    return theano.function([x, *sizes], [out, out.shape])


@pytest.mark.parametrize("ignore_border", [True, False])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("nd", [1, 2, 3])
def test_against_a_loop(nd, mode, ignore_border):
    rng = np.random.default_rng(nd)
    f = compiled(nd, nd + 1, mode, ignore_border)
    for _ in range(40):
        ws, stride = rng.integers(1, 5, nd), rng.integers(1, 6, nd)
        most = ws + 4 * (mode in ("sum", "average_inc_pad"))  # windows in the padding alone have a sum
        pad = rng.integers(0, most) if ignore_border else np.zeros(nd, int)
        x = rng.normal(size=(2, *rng.integers(1, 8, nd)))
        value, shape = f(x, ws, stride, pad)
        expected = by_loop(x, ws, stride, pad, mode, ignore_border)
        assert_allclose(value, expected, rtol=1e-12)
        assert tuple(shape) == expected.shape
        assert tuple(Pool.out_shape(x.shape, tuple(ws), ignore_border, tuple(stride), tuple(pad), nd)) == expected.shape


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "int64"])
def test_dtypes_and_layouts(dtype):
    f = compiled(2, 3, "max", True, dtype)
    x = np.random.default_rng(0).integers(-50, 50, (3, 6, 8)).astype(dtype)
    sizes = (2, 3), (2, 1), (1, 0)
    for view in (x, np.asfortranarray(x), x.transpose(0, 2, 1), x[::-1, ::2, ::-1], x[1:, 1:, 1:], x[:0]):
        value = f(view, *sizes)[0]
        assert value.dtype == dtype
        assert_allclose(value, by_loop(view, *sizes, "max", True))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("nd", "ws", "stride", "pad"), [(2, (2, 3), (1, 2), (1, 0)), (3, (2, 1, 2), (2, 1, 1), (0, 0, 1))]
)
def test_derivatives(nd, ws, stride, pad, mode):
    rng = np.random.default_rng(1)
    x = rng.permutation(2 * 4**nd).reshape(2, *(4,) * nd) * 0.1  # all different, further apart than the differences
    pooled = lambda v: Pool(True, mode, nd)(v, ws, stride, pad)
    theano.gradient.verify_grad(pooled, [x], rng=np.random.RandomState(1))
    weights = rng.normal(size=pooled(T.constant(x)).eval().shape)
    slope = lambda v: theano.grad((T.sqr(pooled(v)) * weights).sum(), v)
    theano.gradient.verify_grad(slope, [x], rng=np.random.RandomState(1))
    v, d = T.TensorType("float64", (False,) * (nd + 1))("v"), rng.normal(size=x.shape)
    forward = theano.Rop(pooled(v), v, T.constant(d)).eval({v: x})
    backward = theano.grad((pooled(v) * weights).sum(), v).eval({v: x})
    assert_allclose((forward * weights).sum(), (backward * d).sum(), rtol=1e-10)


def _slope(v, g, sizes, mode):
    return AveragePoolGrad(True, mode)(v, g, *sizes)


@pytest.mark.parametrize("mode", ["sum", "average_inc_pad"])
def test_derivatives_where_windows_lie_in_the_padding(mode):
    rng = np.random.default_rng(3)
    for ws, stride, pad in (((2, 3), (1, 2), (3, 1)), ((2, 1), (2, 2), (2, 4))):
        x = rng.normal(size=(2, 4, 3))
        shape = Pool.out_shape(x.shape, ws, True, stride, pad)
        slope = partial(_slope, sizes=(ws, stride, pad), mode=mode)
        theano.gradient.verify_grad(slope, [x, rng.normal(size=shape)], rng=np.random.RandomState(1))


def test_sizes_and_arrays_by_name():
    x, m = T.constant(np.arange(12.0).reshape(3, 4)), T.dmatrix("m")
    by_position, by_name = Pool(True)(x, (2, 2), None, (1, 0)), Pool(True)(x, pad=(1, 0), ws=(2, 2))
    assert_allclose(by_name.eval(), by_position.eval())
    assert MaxPoolGrad(True)(x, m, gz=m, ws=(2, 2)).owner.inputs[2] is m
    for given, named in (((x, (2, 2)), {"ws": (2, 2)}), ((x, (2, 2)), {"size": 2}), ((), {"ws": (2, 2)}), ((x,) * 5, {})):
        with pytest.raises(TypeError, match="Pool takes x, ws, stride, pad"):
            Pool(True)(*given, **named)


def test_all_of_the_largest_get_the_gradient():
    x = T.constant(np.ones((2, 2)))
    assert_allclose(theano.grad(pool_2d(x, (2, 2), ignore_border=True).sum(), x).eval(), np.ones((2, 2)))


def test_same_size_keeps_the_largest():
    x = np.random.default_rng(2).normal(size=(2, 5, 4)) + 3
    expected = np.zeros_like(x)  # as is what too little is left of for a window: the last row and column
    for n, i, j in product(range(2), (0, 2), (0,)):
        part = x[n, i : i + 2, j : j + 3]
        expected[n, i : i + 2, j : j + 3] = np.where(part == part.max(), part, 0)
    assert_allclose(max_pool_2d_same_size(T.constant(x), (2, 3)).eval(), expected)


def test_documented_spellings():
    pool = import_module("theano.tensor.signal.pool")

    x = T.constant(np.arange(16.0).reshape(4, 4))
    expected = pool_2d(x, (2, 2), True, (1, 1)).eval()
    with pytest.warns(DeprecationWarning, match="ds is called ws"):
        assert_allclose(pool.pool_2d(x, ds=(2, 2), ignore_border=True, stride=(1, 1)).eval(), expected)


@pytest.mark.parametrize(
    ("error", "match", "kwargs"),
    [
        (ValueError, "ws, the size", {}),
        (ValueError, "not both", {"ws": (2, 2), "ds": (2, 2)}),
        (ValueError, "mode must be one of", {"ws": (2, 2), "mode": "median"}),
        (ValueError, "must be 2 whole numbers", {"ws": (2, 2, 2)}),
        (TypeError, "must be 2 whole numbers", {"ws": (2.0, 2.0)}),
        (NotImplementedError, "ignore_border=True", {"ws": (2, 2), "pad": (1, 1), "ignore_border": False}),
    ],
)
def test_what_cannot_be_is_said(error, match, kwargs):
    with pytest.raises(error, match=match):
        pool_2d(T.dmatrix(), **{"ignore_border": True, **kwargs})


def test_too_few_dimensions():
    with pytest.raises(NotImplementedError, match="dimension >= 3"):
        pool_3d(T.dmatrix(), (1, 1, 1), True)


def test_sizes_are_checked_when_known():
    f = compiled(2, 2, "max", True)
    for sizes in (((0, 1), (1, 1), (0, 0)), ((2, 2), (1, 0), (0, 0)), ((2, 2), (1, 1), (-1, 0))):
        with pytest.raises(ValueError, match="must"):
            f(np.ones((3, 3)), *sizes)
    g = MaxPoolGrad(True)(T.dmatrix("x"), T.dmatrix("m"), T.dmatrix("g"), (2, 2))
    with pytest.raises(ValueError, match="maxout has shape"):
        theano.function(g.owner.inputs[:3], g)(np.ones((4, 4)), np.ones((3, 3)), np.ones((2, 2)))
