"""Order, search and counts: the device against the CPU."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from compare import LAYOUTS, MODE, agree, nodes

import theano
import theano.tensor as T
from theano import gpuarray
from theano.gpuarray.ops import GpuArgSortOp, GpuBincount, GpuSearchsortedOp, GpuSortOp, GpuTopKOp
from theano.tensor.sort.op import TopKOp
from theano.tensor.sort.search import SearchsortedOp

FLOATS = ("float16", "float32", "float64")
WHOLE = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
# Both sides of a block, of two and of many blocks; and of the widths of short lines.
LENGTHS = [1, 2, 3, 31, 32, 33, 512, 513, 1023, 1024, 1025, 2048, 2049, 3072, 5000, 70_001]


def numbers(shape, dtype, seed=0, few=False):
    """Return numbers of all of a dtype's range, or few different ones; floats with some that are none, and both zeros."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype not in FLOATS:
        info = np.iinfo(dtype)
        low, high = (0, 5) if few else (info.min, info.max)
        return rng.integers(low, high, shape, dtype=dtype, endpoint=True)
    x = (rng.integers(-3, 3, shape) if few else rng.normal(size=shape) * 100).astype(dtype)
    special = rng.random(shape)
    for k, value in enumerate((np.nan, np.inf, -np.inf, -0.0, 0.0, -np.nan, np.finfo(dtype).smallest_subnormal)):
        x[(special > k / 40) & (special < (k + 1) / 40)] = value
    return x


def variable(dtype, ndim, name="x"):
    return T.TensorType(dtype, (False,) * ndim)(name)


def ordered(x, axis):
    """Return what is in order; of places, those of a stable sort."""
    return [T.sort(x, axis), T.argsort(x, axis, kind="stable")]


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("dtype", WHOLE + FLOATS)
def test_dtypes(dtype, few):
    x = variable(dtype, 2)
    outputs = [*ordered(x, 1), *ordered(x, 0), *(y for k in (1, -1, 7, -30) for y in T.topk_and_argtopk(x, k, axis=1))]
    f = agree([x], outputs, [numbers((5, 40), dtype, few=few)])
    assert {GpuSortOp, GpuArgSortOp, GpuTopKOp} == {type(n.op) for n in nodes(f)[0]}


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_lengths_around_blocks(dtype, n):
    x, k = variable(dtype, 2), T.lscalar("k")
    lines = 3 if n < 10_000 else 1
    outputs = [*ordered(x, 1), *T.topk_and_argtopk(x, k, axis=1), *T.topk_and_argtopk(x, -k, axis=1)]
    f = theano.function([x, k], outputs, mode=MODE)
    values = numbers((lines, n), dtype, seed=n, few=n % 2 == 0)
    for count in sorted({1, min(n, 5), n // 2 + 1, n}):
        order = np.argsort(values, axis=1, kind="stable")
        taken = [order, order[:, ::-1][:, :count], order[:, :count]]
        for at, (got, places) in enumerate(zip(zip(*[iter(f(values, count))] * 2, strict=True), taken, strict=True)):
            np.testing.assert_array_equal(got[1], places, err_msg=f"{at} {count}")
            np.testing.assert_array_equal(got[0], np.take_along_axis(values, places, 1))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (1, 1), (2, 3, 4), (1, 700, 2), (5, 1, 2, 3)], ids=str)
def test_shapes_and_axes(shape):
    x = variable("float64", len(shape))
    axes = [None, *range(len(shape)), -1]
    outputs = [y for axis in axes for y in ordered(x, axis)]
    outputs += [y for axis in axes[1:] if shape[axis] > 1 for y in T.topk_and_argtopk(x, 2, axis=axis, sorted=False)]
    agree([x], outputs, [numbers(shape, "float64", few=True)], all_there=False)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    x = variable("float32", 3)
    view = (x + 1).dimshuffle(2, 0, 1)[::-1, :, ::2]
    outputs = [y for axis in range(3) for v in (x, view) for y in ordered(v, axis)]
    outputs += [T.argtopk(view, -2, axis=0, idx_dtype=dtype) for dtype in ("uint8", "int16", "uint32")]
    agree([x], outputs, [LAYOUTS[layout](numbers((4, 5, 6), "float32"))], all_there=False)


def test_many_short_lines_and_a_long_one():
    x = variable("float32", 2)
    for shape in ((3000, 7), (7, 3000)):
        agree([x], [y for axis in (0, 1) for y in ordered(x, axis)], [numbers(shape, "float32", few=True)])


def test_gradients():
    x, d = T.dmatrix("x"), T.dmatrix("d")
    y = T.sort(T.exp(x), axis=1)
    best = T.topk(T.exp(x), 3, axis=0)
    slope = T.grad((T.sqr(y) * T.arange(6)).sum() + T.sqr(best).sum(), x)
    values = [numbers((5, 6), "float64", seed, few=True) for seed in range(2)]
    values = [np.nan_to_num(v, posinf=1, neginf=-1) + np.arange(30).reshape(5, 6) / 100 for v in values]
    agree([x, d], [slope, T.Rop(y, x, d)], values, all_there=False)


def test_wrong_numbers_are_the_errors_of_the_cpu():
    k = T.lscalar("k")
    there = gpuarray.gpuarray_shared_constructor(np.ones((2, 3), "float32"))
    f = theano.function([k], T.topk(there, k), mode=MODE)
    for wrong in (0, 4, -4):
        with pytest.raises(ValueError, match="kth must be 1 to 3"):
            f(wrong)
    g = theano.function([k], T.sort(there, k), mode=MODE)
    with pytest.raises(IndexError):
        g(2)
    np.testing.assert_array_equal(f(2), np.ones((2, 2)))


PAIRS = [
    ("float32", "float32"),
    ("float16", "float16"),
    ("int64", "int64"),
    ("float64", "int32"),
    ("uint8", "float32"),
    ("uint64", "int64"),
]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtypes", PAIRS, ids=str)
def test_searchsorted(dtypes, side):
    x, v, m = variable(dtypes[0], 1), variable(dtypes[1], 1, "v"), variable(dtypes[1], 3, "m")
    search = SearchsortedOp(side)
    for n in (0, 1, 2, 257):
        values = (
            np.sort(numbers(n, dtypes[0], n, few=True)),
            numbers(300, dtypes[1], 1, few=True),
            numbers((3, 4, 5), dtypes[1], 2),
        )
        f = agree(
            [x, v, m],
            [search(x, v), search(x, m.dimshuffle(1, 2, 0)[:, ::-1]), search(x[::2], v[:0])],
            values,
            all_there=False,
        )
        assert GpuSearchsortedOp in {type(node.op) for node in nodes(f)[0]}


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_bincount(dtype):
    x, w, least = variable(dtype, 1), {d: variable(d, 1, d) for d in FLOATS}, T.lscalar("least")
    there = [T.bincount(x, weights=v, minlength=least) for v in (None, *w.values())]
    for n in (0, 1, 500, 3000):
        places = np.random.default_rng(n).integers(0, 37, n).astype(dtype)
        weights = [np.random.default_rng(n).normal(size=n).astype(d) for d in w]
        f = agree([x, *w.values(), least], there, [places, *weights, np.int64(n % 50)], 1e-15)
        assert GpuBincount in {type(node.op) for node in nodes(f)[0]}


def test_counts_of_what_is_below_zero():
    x = T.lvector("x")
    f = theano.function([x], T.bincount(x), mode=MODE)
    with pytest.raises(ValueError, match="counts numbers from 0"):
        f(np.array([3, -1, 2]))


def test_documented_names():
    found = importlib.import_module("theano.gpuarray.sort")
    assert found.GpuTopKOp is GpuTopKOp and issubclass(GpuTopKOp, TopKOp)
    assert found.GpuSort is GpuSortOp and found.GpuArgSort is GpuArgSortOp
