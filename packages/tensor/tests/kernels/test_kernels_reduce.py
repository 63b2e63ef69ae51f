"""Reductions against NumPy: operations x axes x dtypes x layouts, accuracy, nan, nothing to reduce; and argmax."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from kernel_harness import compile_many, run
from kernel_toys import Array, Toy, node
from layouts import distance, in_all_layouts, laid_out, numbers

import theano.scalar as ts
from theano.scalar.composite import Composite
from theano.tensor.kernels.common import library_paths
from theano.tensor.reduce.lowering import careduce_kernel, map_reduce_kernel
from theano.tensor.reduce.lowering_argmax import argmax_kernel, argmin_kernel

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


@pytest.fixture(scope="module", params=["built", "generated"])
def table(request):
    """The kernels of all kinds; once more as they would be if none were built with the layer."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "generated":
            patch.setattr("theano.tensor.reduce.lowering._BUILT", {})
        return kernels_of_all_kinds()


def kernels_of_all_kinds():
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


def moved(x, places):
    """Return a copy of an array that starts so many elements behind a multiple of 64 bytes."""
    raw = np.empty(x.nbytes + 128 + places * x.itemsize, "uint8")
    start = -raw.ctypes.data % 64 + places * x.itemsize
    there = raw[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
    there[...] = x
    return there


ALIGNMENTS = [
    ("add", "float64", "float64"), ("add", "float32", "float64"), ("add", "float32", "float32"), ("mul", "float64", "float64"),
    ("maximum", "float32", "float32"), ("minimum", "float64", "float64"), ("maximum", "int32", "int32"), ("add", "bool", "int64"),
]  # fmt: skip


@pytest.mark.parametrize("name,dtype,acc", ALIGNMENTS)
def test_where_an_array_starts_changes_no_bit(name, dtype, acc):
    """Vectors are read at multiples of their size, wherever a run starts."""
    rng = np.random.default_rng(11)
    shapes = [(n,) for n in (1, 7, 8, 9, 31, 32, 33, 40, 63, 65, 127, 1023, 1025, 4096, 4103, 140_000)]
    shapes += [(3, 5), (20, 7), (20, 9), (19, 16), (5, 17), (9, 33), (17, 70), (40, 300), (70, 40), (5, 2100), (6, 40, 70)]
    for shape in shapes:
        low, high = (0.9, 1.1) if name == "mul" else (-9, 9)
        x = numbers(rng, shape, dtype, low, high)
        for axes in axes_of(len(shape))[1:]:
            n = reduction(name, dtype, acc, acc, axes, len(shape))
            kernel = careduce_kernel(n.op, n)
            want = run(kernel, n, [moved(x, 0)])[0]
            for places in range(1, 16, 2):
                np.testing.assert_array_equal(run(kernel, n, [moved(x, places)])[0], want, err_msg=f"{shape} {axes} {places}")


@pytest.mark.parametrize("level", list(library_paths()))
def test_lengths_at_each_level(level):
    """Vectors are as wide as the level's registers, so that other lengths are special."""
    rng = np.random.default_rng(14)
    for name, dtype, acc, ufunc in [("add", "float64", "float64", np.add), ("add", "float32", "float64", np.add),
                                    ("maximum", "float32", "float32", np.maximum), ("minimum", "int64", "int64", np.minimum)]:  # fmt: skip
        for axes in ((0,), (1,)):
            n = reduction(name, dtype, acc, acc, axes, 2)
            kernel = replace(careduce_kernel(n.op, n), library=library_paths()[level])
            for length, others in itertools.product((*range(1, 40), 63, 64, 65, 1023, 1024, 1025), (5, 19)):
                x = numbers(rng, (others, length) if axes == (1,) else (length, others), dtype, -4, 4)
                for layout in ("C", "F", "negative"):
                    want = ufunc.reduce(x, axis=axes, dtype=acc)
                    np.testing.assert_allclose(run(kernel, n, [laid_out(x, layout)])[0], want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("level", list(library_paths()))
def test_short_rows_do_not_depend_on_others(level):
    """Several are computed together, and the last ones in another way."""
    rng = np.random.default_rng(15)
    for name, dtype, acc in [("add", "float64", "float64"), ("add", "float32", "float64"), ("mul", "float32", "float32")]:
        n = reduction(name, dtype, acc, acc, (1,), 2)
        kernel = replace(careduce_kernel(n.op, n), library=library_paths()[level])
        for length in (*range(1, 70), 127, 128, 129):
            x = rng.normal(size=(19, length)).astype(dtype)
            alone = np.concatenate([run(kernel, n, [x[i : i + 1]])[0] for i in range(len(x))])
            np.testing.assert_array_equal(run(kernel, n, [x])[0], alone, err_msg=f"{name} {length}")


@pytest.mark.parametrize("level", list(library_paths()))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_nan_anywhere_in_short_rows(level, dtype):
    rng = np.random.default_rng(16)
    for name, ufunc in (("maximum", np.maximum), ("minimum", np.minimum)):
        n = reduction(name, dtype, dtype, dtype, (1,), 2)
        kernel = replace(careduce_kernel(n.op, n), library=library_paths()[level])
        for length in range(1, 40):
            for place in range(length):
                x = rng.normal(size=(19, length)).astype(dtype)
                x[place % 19, place] = np.nan
                np.testing.assert_array_equal(run(kernel, n, [x])[0], ufunc.reduce(x, axis=1), err_msg=f"{name} {length} {place}")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_infinities_of_both_signs_are_no_nan(dtype):
    """A sum of what is compared tells whether to look for a nan: these make it one without any."""
    for shape in [(9,), (40,), (300,), (5000,), (30, 5), (30, 12), (30, 200), (7, 500)]:
        for axes in axes_of(len(shape))[1:]:
            for name, ufunc in (("maximum", np.maximum), ("minimum", np.minimum)):
                x = np.random.default_rng(12).normal(size=shape).astype(dtype)
                x.flat[3], x.flat[5] = np.inf, -np.inf
                n = reduction(name, dtype, dtype, dtype, axes, len(shape))
                kernel = careduce_kernel(n.op, n)
                np.testing.assert_array_equal(run(kernel, n, [x])[0], ufunc.reduce(x, axis=axes))
                x.flat[-1] = np.nan
                np.testing.assert_array_equal(run(kernel, n, [x])[0], ufunc.reduce(x, axis=axes))


@pytest.mark.parametrize("axes", [(0, 2), (0, 3), (0, 1, 3), (0, 2, 3)])
@pytest.mark.parametrize("shape", [(7, 5, 3, 70), (64, 2, 5, 100), (3, 1, 6, 5000), (2, 3, 300, 1)])
def test_gone_axes_around_kept_ones(shape, axes):
    """The sum over the first and the last axis goes in two steps, of plain elements and of terms."""
    x = np.random.default_rng(13).normal(size=shape)
    u = ts.float64("u")
    for layout in ("C", "F", "negative", "step2"):
        there = laid_out(x, layout)
        for name, ufunc in (("add", np.add), ("minimum", np.minimum)):
            n = reduction(name, "float64", "float64", "float64", axes, 4)
            np.testing.assert_allclose(run(careduce_kernel(n.op, n), n, [there])[0], ufunc.reduce(x, axis=axes), rtol=1e-10, atol=1e-12)
        n = map_reduction(Composite([u], [u * u, -u]), [("add", "float64", "float64"), ("maximum", "float64", "float64")], [x], axes)
        squares, largest = run(map_reduce_kernel(n.op, n), n, [there])
        np.testing.assert_allclose(squares, (x * x).sum(axes), rtol=1e-12)
        np.testing.assert_array_equal(largest, (-x).max(axes))


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


@pytest.mark.parametrize("level", list(library_paths()))
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "int16", "uint8"])
def test_argmax_of_long_runs(level, dtype):
    """Places of the first of several, of the first nan, with infinities, at the ends of blocks; and the smallest."""
    rng = np.random.default_rng(15)
    for smallest in (False, True):
        n = argmax_node(dtype, (1,), 2, both=False)
        kernel = replace((argmin_kernel if smallest else argmax_kernel)(n.op, n), library=library_paths()[level])
        for length in (1, 31, 64, 127, 128, 129, 600, 1025, 4095, 4096, 4097, 9000):
            x = numbers(rng, (12, length), dtype, -4, 4)
            x[1] = x[0, 0]
            x[2, -1] = x[3, 0] = x[3, length // 2] = x.min() if smallest else x.max()
            x[4] = np.sort(x[4])
            x[5] = x[4][::-1]
            if dtype.startswith("float"):
                x[6, length // 2], x[6, length // 3] = np.inf, -np.inf
                x[7, length // 2 :], x[8, -1], x[9, 0] = np.nan, np.nan, np.nan
                x[10], x[11] = np.inf, -np.inf
            want = x.argmin(1) if smallest else x.argmax(1)
            for there in (x, moved(x, 3)):
                np.testing.assert_array_equal(run(kernel, n, [there])[0], want, err_msg=f"{length} {smallest}")


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_argmax_in_pieces(dtype):
    x = numbers(np.random.default_rng(16), (500_000,), dtype, -1000, 1000)
    x[[3, 70_000, 400_000]] = x.max() + 1
    x[[5, 70_001, 400_001]] = x.min() - 1
    for smallest, wanted in ((False, 3), (True, 5)):
        n = argmax_node(dtype, (0,), 1, both=False)
        assert run((argmin_kernel if smallest else argmax_kernel)(n.op, n), n, [x])[0] == wanted
    if dtype != "int64":
        x[100_000] = np.nan
        assert run(argmax_kernel(n.op, n), n, [x])[0] == 100_000


def map_reduction(expression, reductions, arrays, axes, patterns=None):
    """Return a node that reduces terms; ``reductions`` are (operation, accumulator, result)."""
    patterns = patterns or [(False,) * a.ndim for a in arrays]
    ops = [Toy("Reduce", scalar_op=ts.OPS[name], axis=axes, acc_dtype=acc) for name, acc, _ in reductions]
    terms = [t.dtype for t in expression.output_types([ts.get_scalar_type(a.dtype.name) for a in arrays])]
    op = Toy("MapReduce", scalar_op=expression, reductions=ops, term_dtypes=lambda _: terms)
    ins = [Array(a.dtype.name, p)() for a, p in zip(arrays, patterns, strict=True)]
    return node(op, ins, [(out, arrays[0].ndim - len(axes)) for _, _, out in reductions])


def squares_and_more():
    u, v, w = ts.float64("u"), ts.float32("v"), ts.int32("w")
    return Composite([u, v, w], [(u - v) ** 2, u * w + 0.5, ts.exp(v) > w])


SQUARES = [("add", "float64", "float64"), ("maximum", "float64", "float64"), ("or_", "bool", "bool")]


def expected_squares(u, v, w, axes):
    terms = (u - v) ** 2, u * w + 0.5, np.exp(v) > w
    return [f.reduce(np.broadcast_to(t, u.shape), axis=axes) for f, t in zip((np.add, np.maximum, np.logical_or), terms, strict=True)]


@pytest.mark.parametrize("pattern", [(False, False, False), (True, False, False), (False, True, True), (True, True, True)])
def test_terms_of_several_operands(pattern):
    """Every axes, every layout, operands that broadcast, three results of different dtypes."""
    rng = np.random.default_rng(7)
    full = (False, False, False)
    for shape in [(3, 4, 5), (9, 2, 40), (70, 3, 8), (1, 1, 1), (2, 300, 7), (5, 8, 1025)]:
        narrow = tuple(1 if one else n for one, n in zip(pattern, shape, strict=True))
        arrays = numbers(rng, shape, "float64"), numbers(rng, narrow, "float32"), numbers(rng, narrow, "int32")
        for axes in axes_of(3):
            n = map_reduction(squares_and_more(), SQUARES, arrays, axes, [full, pattern, pattern])
            kernel = map_reduce_kernel(n.op, n)
            for layout in ("C", "F", "transposed", "negative", "step2", "columns", "stretched"):
                u = laid_out(arrays[0], layout)
                v = laid_out(arrays[1], "F" if layout == "C" else "C")
                got = run(kernel, n, [u, v, arrays[2]])
                for g, want in zip(got, expected_squares(u, v, arrays[2], axes), strict=True):
                    np.testing.assert_allclose(g, want, rtol=1e-12, atol=1e-12, err_msg=f"{shape} {axes} {layout}")


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 31, 32, 33, 1023, 1024, 1025, 4095, 4096, 4097, 300_000])
@pytest.mark.parametrize("heavy", [False, True])
def test_lengths_of_runs(n, heavy):
    x = np.random.default_rng(8).uniform(-1, 1, size=n)
    u = ts.float64("u")
    expression = Composite([u], [ts.exp(u) if heavy else u * u, u])
    node_ = map_reduction(expression, [("add", "float64", "float64"), ("mul", "float64", "float64")], [x], (0,))
    for a in (x, x[::-1], np.repeat(x, 3)[::3]):
        got = run(map_reduce_kernel(node_.op, node_), node_, [a])
        np.testing.assert_allclose(got[0], (np.exp(a) if heavy else a * a).sum(), rtol=1e-13)
        np.testing.assert_allclose(got[1], np.multiply.reduce(a), rtol=1e-10)


def test_accurate_sums_of_terms():
    """As accurate as by halves: against the sum of the rounded terms in long doubles."""
    x = np.random.default_rng(9).uniform(size=3_000_001)
    u = ts.float64("u")
    for expression, terms in ((Composite([u], [u * u]), x * x), (Composite([u], [ts.sqrt(u) + ts.log1p(u)]), None)):
        n = map_reduction(expression, [("add", "float64", "float64")], [x], (0,))
        got = run(map_reduce_kernel(n.op, n), n, [x])[0]
        terms = np.sqrt(x) + np.log1p(x) if terms is None else terms
        exact = float(terms.astype("longdouble").sum())
        assert abs(got - exact) <= 4 * np.spacing(exact)


def test_operands_that_do_not_match():
    u, v = ts.float64("u"), ts.float64("v")
    n = map_reduction(Composite([u, v], [u * v]), [("add", "float64", "float64")], [np.ones((2, 3)), np.ones((2, 3))], (0,))
    with pytest.raises(ValueError, match="along axis 1, input 1 has length 4 but input 0 has 3"):
        run(map_reduce_kernel(n.op, n), n, [np.ones((2, 3)), np.ones((2, 4))])


def test_nan_wins_among_terms():
    rng = np.random.default_rng(10)
    u = ts.float64("u")
    kinds = [("maximum", "float64", "float64"), ("minimum", "float64", "float64")]
    for shape, axes in [((200,), (0,)), ((3, 200), (1,)), ((200, 30), (0,)), ((6, 70), (0, 1))]:
        n = map_reduction(Composite([u], [-u, u]), kinds, [np.ones(shape)], axes)
        kernel = map_reduce_kernel(n.op, n)
        for _ in range(10):
            x = rng.normal(size=shape)
            x[tuple(rng.integers(0, s) for s in shape)] = np.nan
            got = run(kernel, n, [x])
            np.testing.assert_array_equal(got[0], np.maximum.reduce(-x, axis=axes))
            np.testing.assert_array_equal(got[1], np.minimum.reduce(x, axis=axes))


def test_negative_zero_stays():
    for n_ in (1, 5, 40, 5000):
        n = reduction("add", "float64", "float64", "float64", (0,), 1)
        assert np.signbit(run(careduce_kernel(n.op, n), n, [np.full(n_, -0.0)])[0])
    assert not np.signbit(run(careduce_kernel(n.op, n), n, [np.zeros(0)])[0])
