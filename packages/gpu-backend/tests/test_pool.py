"""Pooling and its derivatives: the device against the CPU."""

from __future__ import annotations

import importlib
from functools import cache

import numpy as np
import pytest
from compare import LAYOUTS, MODE, ON_CPU, TOLERANCES, agree, nodes

import theano
import theano.tensor as T
from theano.gpuarray import ops as there
from theano.tensor.pool import (
    AveragePoolGrad,
    DownsampleFactorMaxGradGrad,
    MaxPoolGrad,
    MaxPoolRop,
    Pool,
    max_pool_2d_same_size,
    pool_2d,
    pool_3d,
)

MODES = ("max", "sum", "average_inc_pad", "average_exc_pad")
DTYPES = ("float16", "float32", "float64")

#: Shape; ws, stride and pad, of as many axes as are pooled; whether the border is ignored.
GEOMETRIES = [
    ((7,), (3,), (2,), (1,), True),
    ((2, 9), (2,), (2,), (0,), False),
    ((4, 4), (2, 2), (2, 2), (0, 0), True),
    ((3, 2, 5, 7), (2, 3), (2, 3), (0, 0), False),
    ((3, 2, 5, 7), (3, 2), (1, 2), (2, 1), True),
    ((2, 3, 6, 5), (2, 1), (3, 4), (0, 0), True),
    ((2, 3, 6, 5), (2, 2), (3, 3), (0, 0), False),
    ((2, 3, 6, 5), (6, 5), (1, 1), (0, 0), True),
    ((2, 3, 4, 4), (5, 2), (1, 1), (0, 0), True),
    ((2, 3, 4, 4), (5, 5), (2, 1), (0, 0), False),
    ((2, 5, 4, 6), (2, 3, 2), (1, 2, 2), (1, 0, 1), True),
    ((2, 3, 2, 5, 4, 6), (2, 2, 3), (2, 1, 2), (0, 0, 0), False),
    ((2, 3, 4, 3, 4), (2, 2, 2, 2), (1, 2, 1, 2), (1, 0, 1, 0), True),
    ((3, 70, 64, 33), (3, 2), (2, 2), (1, 0), True),
]
EMPTY = [
    ((0, 3, 4, 4), (2, 2), (2, 2), (0, 0), True),
    ((2, 3, 0, 4), (2, 2), (1, 1), (1, 1), True),
    ((2, 3, 4, 0), (2, 2), (2, 2), (0, 0), False),
    ((2, 3, 1, 4), (2, 2), (2, 2), (0, 0), True),
]


@cache
def compiled(op, dtype, ndim, mode):
    arrays = [T.TensorType(dtype, (False,) * ndim)(name) for name in op.arrays]
    sizes = [T.lvector(name) for name in ("ws", "stride", "pad")]
    return theano.function([*arrays, *sizes], op(*arrays, *sizes), mode=mode, on_unused_input="ignore")


def same(op, *given):
    """Return what the CPU computes, having seen that the device computes the same."""
    x, sizes = given[0], [np.asarray(v, "int64") for v in given[-3:]]
    on_device, on_cpu = (compiled(op, x.dtype.name, x.ndim, mode) for mode in (MODE, ON_CPU))
    assert [type(n.op).__name__ for n in nodes(on_device)[0]] == [f"Gpu{type(op).__name__}"]
    found, wanted = (f(*given[:-3], *sizes) for f in (on_device, on_cpu))
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    close = TOLERANCES[x.dtype.name]
    np.testing.assert_allclose(found, wanted, close, close, err_msg=f"{op} of {x.shape} by {given[-3:]}")
    return wanted


def all_ops_are_the_same(x, mode, ignore_border, sizes, layout=np.asarray):
    """Pool an array and take all derivatives of that, of which each is an op."""
    rng, nd = np.random.default_rng(1), len(sizes[0])
    y = same(Pool(ignore_border, mode, nd), x, *sizes)
    g, direction = (layout(rng.normal(size=like.shape).astype(x.dtype)) for like in (y, x))
    if mode == "max":
        same(MaxPoolGrad(ignore_border, nd), x, layout(y), g, *sizes)
        same(DownsampleFactorMaxGradGrad(ignore_border, "max", nd), x, layout(y), direction, *sizes)
        same(MaxPoolRop(ignore_border, "max", nd), x, direction, *sizes)
    else:
        same(AveragePoolGrad(ignore_border, mode, nd), x, g, *sizes)


@pytest.mark.filterwarnings("ignore:(invalid value|divide by zero)")  # of the CPU, where windows are empty
@pytest.mark.parametrize(
    ("shape", "ws", "stride", "pad", "ignore_border"), GEOMETRIES + EMPTY, ids=[str(g) for g in GEOMETRIES + EMPTY]
)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", MODES)
def test_geometries(mode, dtype, shape, ws, stride, pad, ignore_border):
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    all_ops_are_the_same(x, mode, ignore_border, (ws, stride, pad))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mode", MODES)
def test_layouts_of_arguments(mode, layout):
    x = np.random.default_rng(0).normal(size=(2, 3, 5, 6)).astype("float32")
    all_ops_are_the_same(LAYOUTS[layout](x), mode, True, ((2, 3), (1, 2), (1, 0)), LAYOUTS[layout])


@pytest.mark.parametrize("axes", [(0, 1, 2, 3), (1, 0, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)], ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_views_on_the_device(mode, axes):
    """Strides of any order and sign, and stretched axes."""
    v = T.dtensor4("v")
    view = lambda u: u.dimshuffle(axes)[::-1, :, ::2, 1:]
    y = Pool(True, mode, 2)(view(T.exp(v)), (2, 2), (1, 1), (1, 0))
    stretched = T.alloc(T.exp(v)[:, 0, 0].dimshuffle(0, "x", "x", 1), 4, 5, 6, 7)
    stretched = Pool(True, mode, 2)(stretched.dimshuffle(axes), (2, 3))
    outputs = [y, T.grad((y * T.sin(y)).sum(), v), stretched, T.grad(T.sqr(stretched).sum(), v)]
    f = agree([v], outputs, [np.random.default_rng(0).normal(size=(4, 5, 6, 7))], 1e-10, all_there=False)
    assert not [n for n in nodes(f)[1] if isinstance(n.op, Pool | MaxPoolGrad | AveragePoolGrad)]


def drawn(rng):
    """Return what is pooled, how, and by which sizes."""
    nd, kept, ignore_border = int(rng.integers(1, 4)), int(rng.integers(0, 3)), bool(rng.integers(2))
    ws, stride, mode = rng.integers(1, 5, nd), rng.integers(1, 5, nd), str(rng.choice(MODES))
    # A window may lie in the padding alone where that has a sum or a mean.
    most = ws + 4 * (mode in ("sum", "average_inc_pad") and rng.random() < 0.3)
    pad = rng.integers(0, most) if ignore_border else np.zeros(nd, int)
    shape = (*rng.integers(1, 4, kept), *rng.integers(0 if rng.random() < 0.1 else 1, 12, nd))
    x = rng.integers(-3, 4, shape) if rng.random() < 0.5 else rng.normal(size=shape)
    x = x.astype(rng.choice(DTYPES))
    if x.size and rng.random() < 0.3:
        x.flat[rng.integers(x.size)] = rng.choice([np.nan, np.inf, -np.inf])
    return x, mode, ignore_border, (ws, stride, pad)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(16))
def test_windows_drawn_at_random(seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        all_ops_are_the_same(*drawn(rng))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("pool", [pool_2d, pool_3d])
@pytest.mark.parametrize("mode", MODES)
def test_derivatives_of_graphs(mode, pool, dtype):
    """Gradients, second derivatives and derivatives along a direction, none of it on the host."""
    nd = 3 if pool is pool_3d else 2
    x, d = T.TensorType(dtype, (False,) * (nd + 2))("x"), T.TensorType(dtype, (False,) * (nd + 2))("d")
    y = pool(T.tanh(x), (2,) * nd, True, (1,) * nd, (1,) * nd, mode=mode)
    slope = T.grad(T.sqr(y).sum(), x)
    outputs = [y, slope, T.grad(T.sqr(slope).sum(), x), T.Rop(y, x, d), T.Rop(slope, x, d)]
    rng = np.random.default_rng(0)
    shape = (2, 3, *range(4, 4 + nd))
    f = agree([x, d], outputs, [rng.normal(size=shape).astype(dtype) for _ in range(2)], 20 * TOLERANCES[dtype])
    used = {type(n.op).__name__ for n in nodes(f)[0]}
    ops = ["MaxPoolGrad", "DownsampleFactorMaxGradGrad", "MaxPoolRop"] if mode == "max" else ["AveragePoolGrad"]
    assert {"GpuPool", *map("Gpu{}".format, ops)} <= used


def test_what_is_no_number_is_the_largest():
    x = np.zeros((6, 6), "float32")
    x[1, 1] = x[4, 5] = np.nan
    x[2:4] = -np.inf
    all_ops_are_the_same(x, "max", True, ((2, 2), (2, 2), (0, 0)))
    assert np.isnan(same(Pool(True), x, (2, 2), (2, 2), (0, 0))).sum() == 2


def test_all_of_the_largest_get_the_gradient():
    x, sizes = np.ones((4, 4), "float32"), ((2, 2), (2, 2), (0, 0))
    g = np.arange(4, dtype="float32").reshape(2, 2)
    found = same(MaxPoolGrad(True), x, np.ones((2, 2), "float32"), g, *sizes)
    np.testing.assert_array_equal(found, g.repeat(2, 0).repeat(2, 1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_same_size_keeps_the_largest(dtype):
    x = T.TensorType(dtype, (False,) * 3)("x")
    agree([x], max_pool_2d_same_size(x, (2, 3)), [np.random.default_rng(2).normal(size=(2, 5, 7)).astype(dtype)])


def test_nothing_is_moved_in_between(context):
    x, n = T.ftensor4("x"), T.lscalar("n")
    y = pool_2d(T.tanh(x), (n, n + 1), ignore_border=True, mode="max")
    cost = T.sqr(pool_2d(T.exp(y), (2, 2), ignore_border=False, mode="average_inc_pad") - 1).sum()
    value = np.random.default_rng(0).normal(size=(2, 3, 8, 12)).astype("float32")
    f = agree([x, n], [cost, T.grad(cost, x)], [value, 2], all_there=False)
    assert {v.type.dtype for node in nodes(f)[1] for v in node.outputs} == {"int64"}, "the host has only the sizes"
    before = context.counts()
    f(value, 2)
    after = context.counts()
    assert (after["to"] - before["to"], after["from"] - before["from"]) == (1, 2)


WRONG = [
    (Pool(True), [(4, 4)], ((0, 1), (1, 1), (0, 0))),
    (Pool(True), [(4, 4)], ((2, 2), (1, 0), (0, 0))),
    (Pool(True), [(4, 4)], ((2, 2), (1, 1), (-1, 0))),
    (Pool(True), [(4, 4)], ((2, 2), (1, 1), (0, 2))),
    (Pool(True), [(4, 4)], ((2, 2, 2), (1, 1), (0, 0))),
    (Pool(False), [(4, 4)], ((2, 2), (1, 1), (1, 0))),
    (Pool(True, "average_exc_pad"), [(4, 4)], ((2, 2), (1, 1), (2, 0))),
    (MaxPoolGrad(True), [(4, 4), (3, 3), (2, 2)], ((2, 2), (2, 2), (0, 0))),
    (MaxPoolGrad(True), [(4, 4), (2, 2), (2, 3)], ((2, 2), (2, 2), (0, 0))),
    (DownsampleFactorMaxGradGrad(True), [(4, 4), (2, 2), (2, 2)], ((2, 2), (2, 2), (0, 0))),
    (AveragePoolGrad(True), [(4, 4), (4, 4)], ((2, 2), (2, 2), (0, 0))),
    (MaxPoolRop(True), [(4, 4), (2, 2)], ((2, 2), (2, 2), (0, 0))),
]


@pytest.mark.parametrize(("op", "shapes", "sizes"), WRONG, ids=str)
def test_what_does_not_fit_is_said_as_on_the_cpu(op, shapes, sizes):
    said = []
    for mode in (MODE, ON_CPU):
        with pytest.raises(ValueError) as found:
            compiled(op, "float32", 2, mode)(*(np.ones(s, "float32") for s in shapes), *map(np.array, sizes))
        said.append(str(found.value).splitlines()[0])
    assert said[0] == said[1]


def test_names_that_programs_look_for():
    old = importlib.import_module("theano.gpuarray.pool")
    for op in (Pool, MaxPoolGrad, AveragePoolGrad, DownsampleFactorMaxGradGrad, MaxPoolRop):
        cls = getattr(there, f"Gpu{op.__name__}")
        assert issubclass(cls, op) and getattr(old, cls.__name__) is cls
