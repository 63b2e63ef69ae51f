"""Sums and products up to each place: the device against the CPU."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from compare import LAYOUTS, MODE, ONLY_SOURCES, agree, nodes

import theano
import theano.tensor as T
from conftest import DEVICE
from theano import gpuarray
from theano.gpuarray.kernels.library import library
from theano.gpuarray.ops import GpuCumOp
from theano.tensor.sort.cumulative import CumOp

FLOATS = ("float16", "float32", "float64")
DTYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", *FLOATS)
SHAPES = [(1,), (0,), (7,), (257,), (3, 4), (0, 4), (4, 0), (5, 300), (300, 5), (2, 70, 3), (2, 1, 3, 2)]
#: A step of 8, 16, ... lanes has 8 or 16 elements of each; where there are four of 256 lanes a line is cut into parts.
STEPS = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]
TOLERANCES = {"float16": 3e-2, "float32": 2e-5, "float64": 1e-12}


def numbers(shape, dtype, seed=0):
    """Return numbers of which neither sums nor products leave the dtype, if it is one of floats."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in FLOATS:
        return rng.choice([-1.0, 1.0], shape).astype(dtype) * rng.uniform(0.95, 1.05, shape).astype(dtype)
    return rng.integers(0 if dtype.startswith("u") else -9, 9, shape).astype(dtype)


def small(shape, dtype, seed=0):
    """Return numbers of which sums are exact in any order."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) < 1 / 1000
    return rng.integers(-1, 2, shape).astype(dtype)


def variable(dtype, ndim):
    return T.TensorType(dtype, (False,) * ndim)("x")


def cumulated(x, axes):
    return [CumOp(axis, mode)(x) for axis in axes for mode in ("add", "mul")]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_wrap_around_as_on_the_cpu(dtype):
    f = agree([v := variable(dtype, 2)], cumulated(v, (None, 0, 1)), [numbers((9, 20), dtype)], TOLERANCES.get(dtype))
    assert {type(n.op) for n in nodes(f)[0]} == {GpuCumOp}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_shapes_and_axes(dtype, shape):
    v = variable(dtype, len(shape))
    agree([v], cumulated(v, (None, *range(len(shape)), -1)), [numbers(shape, dtype)])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)], ids=str)
def test_layouts(order, layout):
    v = variable("float32", 3)
    view = T.exp(v).dimshuffle(order)[::-1, :, ::2]
    outputs = [*cumulated(v, (None, 0, 1)), *cumulated(view, (None, 0, 1, 2))]
    agree([v], outputs, [LAYOUTS[layout](numbers((4, 5, 6), "float32"))], 1e-3, all_there=False)


@pytest.mark.parametrize("count", [2, 31, 32, 33, 255, 256, 257, 511, 513, 4095, 8191, 8193, 16385, 70_001, 300_000])
def test_both_sides_of_every_split(count):
    v, w = variable("int64", 1), T.TensorType("int64", (False, False))("w")
    x = np.random.default_rng(count).integers(-9, 9, count)
    outputs = [T.cumsum(v), T.cumsum(w, axis=1), T.cumsum(w.T, axis=0), T.cumsum(w)]
    agree([v, w], outputs, [x, np.stack([x, 2 * x, -x])], all_there=False)


@pytest.mark.parametrize("count", [step + more for step in STEPS for more in (-1, 0, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "bool"])
def test_both_sides_of_every_step(dtype, count):
    """Terms that are neighbours in memory, lines that are, both from their ends, and all elements of two axes as one line."""
    v, w, wide = (T.TensorType(dtype, (False, False))(name) for name in ("v", "w", "wide"))
    outputs = [T.cumsum(v, axis=1), T.cumsum(v[::-1, ::-1], axis=1), T.cumsum(v[:, ::-1]), T.cumsum(v)]
    outputs += [T.cumsum(w, axis=0), T.cumsum(w[::-1, ::2], axis=0), T.cumsum(wide, axis=0), CumOp(0, "mul")(wide)]
    values = [small(shape, dtype, count) for shape in ((2, count), (count, 3), (count // 8, 18))]
    agree([v, w, wide], outputs, values, 1e-12, all_there=False)


@pytest.fixture(scope="session")
def many_processors():
    """Start a context where a device of OpenCL passes for one of 132 processors: lines are cut into hundreds of parts."""
    plain = library().th_gpu_opencl
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library(), "th_gpu_opencl", lambda *args: plain(*args[:-1], 132))
        return gpuarray.init_dev(DEVICE, "processors").name


@pytest.mark.parametrize("shape", [(1_200_000,), (1_081_343,), (3, 400_001), (100_003, 5), (70_001, 20)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_hundreds_of_parts(many_processors, dtype, shape):
    x = small(shape, dtype)
    v = theano.shared(x, target=many_processors)
    axis = int(np.argmax(shape))
    f = theano.function([], [T.cumsum(v, axis=axis), T.cumsum(v[::-1], axis=axis), T.cumsum(v)], mode=MODE)
    assert [type(n.op) for n in nodes(f)[0]].count(GpuCumOp) >= 2
    if ONLY_SOURCES:
        return
    wanted = [np.cumsum(x, axis), np.cumsum(x[::-1], axis), np.cumsum(x)]
    for got, want in zip(f(), wanted, strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "shape", [(2, 100_000), (100_000, 2), (700, 700), (40_000, 3), (100, 2000), (20, 70_000)], ids=str
)
@pytest.mark.parametrize("axis", [0, 1])
def test_many_lines_and_long_ones(shape, axis):
    v = variable("float64", 2)
    agree([v], cumulated(v, (axis,)), [numbers(shape, "float64")], 1e-8)


@pytest.mark.parametrize("count", [5, 300, 20_000])
def test_what_is_no_number_stays_from_there_on(count):
    v = variable("float64", 1)
    x = np.zeros(count)
    x[count // 2], x[-2] = np.inf, -np.inf
    x[0] = -0.0
    (found,) = agree([v], T.cumsum(v), [x])(x)
    assert np.signbit(found[0]) and np.isinf(found[count // 2]) and np.isnan(found[-2:]).all()


@pytest.mark.parametrize("mode", ["add", "mul"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_derivatives(axis, mode):
    v, d = variable("float64", 2), T.dmatrix("d")
    y = CumOp(axis, mode)(T.exp(v))
    slope = T.grad(T.sqr(y).sum(), v)
    values = [numbers((6, 7), "float64", seed) / 10 for seed in range(2)]
    f = agree([v, d], [slope, T.grad(slope.sum(), v), T.Rop(y, v, d)], values, 1e-9, all_there=False)
    assert not [n for n in nodes(f)[1] if isinstance(n.op, CumOp)]


def test_its_documented_name():
    assert importlib.import_module("theano.gpuarray.extra_ops").GpuCumOp is GpuCumOp
