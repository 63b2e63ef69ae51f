"""Reductions against NumPy: operations x axes x dtypes x layouts, accuracy, nan, nothing to reduce; and argmax."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from kernel_harness import compile_many, run
from kernel_toys import Array, Toy, node
from layouts import distance, in_all_layouts, laid_out, numbers

import theano.scalar as ts
from theano.tensor.kernels.reduce import argmax_kernel, careduce_kernel

# Operation, input dtype, dtype of accumulator, dtype of result, NumPy's function.
KINDS = [
    *[("add", d, a, a, np.add) for d, a in [
        ("bool", "int64"), ("int8", "int64"), ("uint8", "uint64"), ("int16", "int64"), ("uint16", "uint64"),
        ("int32", "int64"), ("uint32", "uint64"), ("int64", "int64"), ("uint64", "uint64"), ("float16", "float32"),
        ("float32", "float32"), ("float32", "float64"), ("float64", "float64"), ("complex64", "complex64"),
        ("complex128", "complex128"),
    ]],
    ("add", "float32", "float64", "float32", np.add),
    ("add", "float16", "float32", "float16", np.add),
    ("mul", "float64", "float64", "float64", np.multiply),
    ("mul", "int8", "int64", "int64", np.multiply),
    ("mul", "complex128", "complex128", "complex128", np.multiply),
    *[("maximum", d, d, d, np.maximum) for d in ("int8", "uint8", "int64", "uint64", "float32", "float64", "float16")],
    *[("minimum", d, d, d, np.minimum) for d in ("int16", "uint32", "int32", "float32", "float64")],
    ("and_", "bool", "bool", "bool", np.logical_and), ("or_", "bool", "bool", "bool", np.logical_or),
    ("and_", "int32", "int32", "int32", np.bitwise_and), ("or_", "uint8", "uint8", "uint8", np.bitwise_or),
    ("xor", "int64", "int64", "int64", np.bitwise_xor),
]  # fmt: skip
SHAPES = [(1,), (40,), (200,), (5, 37), (70, 3), (33, 40), (3, 4, 5), (9, 2, 40), (2, 3, 2, 3)]


def axes_of(ndim):
    return [c for r in range(ndim + 1) for c in itertools.combinations(range(ndim), r)]


def reduction(name, dtype, acc, out, axes, ndim):
    op = Toy("Reduce", scalar_op=ts.OPS[name], axis=axes, acc_dtype=acc)
    return node(op, [Array(dtype, (False,) * ndim)()], [(out, ndim - len(axes))])


def some_kernels():
    """Kernels for the test of determinism."""
    for name, dtype, acc, out, _ in KINDS[::4]:
        n = reduction(name, dtype, acc, out, (1,), 2)
        yield careduce_kernel(n.op, n)


@pytest.fixture(scope="module")
def table():
    found = {}
    for name, dtype, acc, out, _ in KINDS:
        full = (name, dtype) == ("add", "float64")
        for ndim in (1, 2, 3, 4) if full else (1, 2):
            for axes in axes_of(ndim) if full else [(0,), (ndim - 1,)]:
                n = reduction(name, dtype, acc, out, axes, ndim)
                found[name, dtype, acc, out, axes, ndim] = (careduce_kernel(n.op, n), n)
    kernels = [k for k, _ in found.values()]
    for start in range(0, len(kernels), 60):
        compile_many(kernels[start : start + 60])
    return found


def expected(ufunc, x, axes, acc, out):
    wide = "float64" if acc.startswith("float") else acc
    out = "complex128" if acc.startswith("complex") else out
    with np.errstate(all="ignore"):
        # No axis at all: NumPy would take that for "reduce nothing" in other words.
        full = ufunc.reduce(x.astype(wide), axis=axes) if axes else x.astype(wide)
        return np.asarray(full).astype(out)


def test_operations_axes_dtypes_layouts(table):
    rng = np.random.default_rng(1)
    ufuncs = {(n, d, a, o): f for n, d, a, o, f in KINDS}
    count = 0
    for (name, dtype, acc, out, axes, ndim), (kernel, n) in table.items():
        for shape in (s for s in SHAPES if len(s) == ndim):
            low, high = (0.8, 1.2) if name == "mul" and dtype != "int8" else (-4, 4)
            for layout, x in in_all_layouts(numbers(rng, shape, dtype, low, high)):
                if layout == "empty":
                    continue
                want = expected(ufuncs[name, dtype, acc, out], x, axes, acc, out)
                got = run(kernel, n, [x])[0]
                if out.startswith(("float", "complex")) and name in ("add", "mul"):
                    terms = expected(ufuncs[name, dtype, acc, out], np.abs(x), axes, acc, np.abs(x).dtype.name)
                    tolerance = (40 if name == "mul" else 8) * np.finfo(out if out == "float16" else acc).eps
                    assert (np.abs(got - want) <= tolerance * np.maximum(terms, np.abs(want)) + 1e-30).all(), (name, dtype, axes, layout)
                else:
                    assert distance(got, want) == 0, (name, dtype, axes, layout, shape)
                count += 1
    assert count >= 1500, count


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 4097, 100_003, 700_000])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sums_are_as_accurate_as_numpys(n, dtype):
    x = np.random.default_rng(2).uniform(size=n).astype(dtype)
    exact = float(np.sum(x.astype("longdouble")))
    kernel_node = reduction("add", dtype, dtype, dtype, (0,), 1)
    kernel = careduce_kernel(kernel_node.op, kernel_node)
    for layout in ("C", "negative", "step2"):
        result = run(kernel, kernel_node, [laid_out(x, layout)])
        ours, theirs = abs(float(result[0]) - exact), abs(float(x.sum()) - exact)
        assert ours <= max(2 * theirs, 4 * np.spacing(np.asarray(exact, dtype)))


def test_long_runs_give_the_same_sum_in_any_pieces():
    x = np.random.default_rng(3).normal(size=1_000_000)
    n = reduction("add", "float64", "float64", "float64", (0,), 1)
    result = run(careduce_kernel(n.op, n), n, [x])
    assert result.pieces > 1
    np.testing.assert_allclose(result[0], x.sum(), rtol=1e-12)


@pytest.mark.parametrize("shape,axes", [((5000, 10), (0,)), ((5000, 10), (1,)), ((400, 700), (0,)), ((400, 700), (1,)), ((60, 70, 80), (0, 2))])
def test_big_ones_run_in_pieces(shape, axes):
    x = np.random.default_rng(4).normal(size=shape)
    for name, ufunc in (("add", np.add), ("maximum", np.maximum)):
        n = reduction(name, "float64", "float64", "float64", axes, len(shape))
        for layout in ("C", "F", "negative", "step2"):
            got = run(careduce_kernel(n.op, n), n, [laid_out(x, layout)])[0]
            np.testing.assert_allclose(got, ufunc.reduce(x, axis=axes), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("shape,axes", [((200,), (0,)), ((3, 200), (1,)), ((200, 3), (0,)), ((6, 7), (0, 1)), ((300, 20), (1,))])
def test_nan_wins(name, shape, axes):
    rng = np.random.default_rng(5)
    n = reduction(name, "float64", "float64", "float64", axes, len(shape))
    kernel = careduce_kernel(n.op, n)
    for _ in range(20):
        x = rng.normal(size=shape)
        x[tuple(rng.integers(0, s) for s in shape)] = np.nan
        np.testing.assert_array_equal(run(kernel, n, [x])[0], getattr(np, name).reduce(x, axis=axes))


def test_nothing_to_reduce():
    for shape, axes in [((0,), (0,)), ((0, 3), (0,)), ((3, 0), (1,)), ((3, 0), (0,)), ((0, 0), (0,)), ((2, 0, 3), (1,))]:
        x = np.zeros(shape)
        for name, ufunc in (("add", np.add), ("mul", np.multiply), ("maximum", np.maximum)):
            n = reduction(name, "float64", "float64", "float64", axes, len(shape))
            kernel = careduce_kernel(n.op, n)
            try:
                want = ufunc.reduce(x, axis=axes)
            except ValueError:
                with pytest.raises(ValueError, match="zero-size array to reduction operation maximum"):
                    run(kernel, n, [x])
                continue
            np.testing.assert_array_equal(run(kernel, n, [x])[0], want)
    for dtype, name, value in [("uint8", "and_", 255), ("bool", "and_", True), ("int64", "or_", 0), ("int16", "and_", -1)]:
        n = reduction(name, dtype, dtype, dtype, (0,), 1)
        assert run(careduce_kernel(n.op, n), n, [np.zeros(0, dtype)])[0] == value


def argmax_node(dtype, axes, ndim, both=True):
    kept = ndim - len(axes)
    outs = [(dtype, kept), ("int64", kept)] if both else [("int64", kept)]
    return node(Toy("Argmax", axis=axes), [Array(dtype, (False,) * ndim)()], outs)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "uint64", "bool"])
def test_argmax(dtype):
    rng = np.random.default_rng(6)
    for shape in [(1,), (1500,), (5, 37), (300, 20), (3, 4, 5)]:
        for axes in axes_of(len(shape)):
            if not axes:
                continue
            n = argmax_node(dtype, axes, len(shape))
            kernel = argmax_kernel(n.op, n)
            for layout, x in in_all_layouts(numbers(rng, shape, dtype, -3, 3)):
                if layout == "empty":
                    continue
                x = x.copy("K") if layout != "stretched" else x
                if dtype.startswith("float") and layout == "C":
                    x[rng.uniform(size=shape) < 0.02] = np.nan
                kept = [d for d in range(x.ndim) if d not in axes]
                rows = x.transpose([*kept, *axes]).reshape([*(x.shape[d] for d in kept), -1])
                largest, place = run(kernel, n, [x])
                np.testing.assert_array_equal(place, rows.argmax(-1))
                np.testing.assert_array_equal(largest, rows.max(-1))
    n = argmax_node(dtype, (0,), 1, both=False)
    np.testing.assert_array_equal(run(argmax_kernel(n.op, n), n, [np.ones(9, dtype)]), [0])
    with pytest.raises(ValueError, match="empty"):
        run(argmax_kernel(n.op, n), n, [np.zeros(0, dtype)])
