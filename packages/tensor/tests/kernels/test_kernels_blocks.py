"""Every kernel at the edges of its own blocks, and past blocks of blocks, beside NumPy.

The library is built a second time with sizes that are small (``small_blocks.h``), so that some hundred elements are
several blocks, and some thousand blocks of blocks. Floating-point numbers are whole and small wherever a sum in any
order is exact: then results are equal, not only near. Linear algebra is in ``test_kernels_blocks_algebra.py``.
"""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import test_kernels_blocks_algebra
from blocks import (
    FLOATS,
    OF_LOOPS,
    REAL,
    REAL_HEADER,
    SMALL,
    edges,
    met,
    rng,
    share,
    sizes_of,
    spread,
    whole,
)
from kernel_harness import C_SOURCES, call, compile_many, equal, run, scalar
from kernel_toys import DTYPES, Toy, node
from test_kernels_elemwise import elemwise_node
from test_kernels_nnet import softmax
from test_kernels_order import argsort, best, sort
from test_kernels_reduce import argmax_node, map_reduction, reduction

import theano.scalar as ts
from portion import portion
from theano.graph.kernel import Kernel
from theano.scalar.composite import Composite
from theano.tensor.create import lowering as create
from theano.tensor.elemwise import lowering as elemwise
from theano.tensor.elemwise.lowering import dimshuffle_kernel, elemwise_kernel
from theano.tensor.index import lowering as index
from theano.tensor.join import lowering as join
from theano.tensor.kernels.tuning import tuned
from theano.tensor.nnet import lowering_softmax as nnet
from theano.tensor.reduce.lowering import careduce_kernel, log_sum_exp_kernel, map_reduce_kernel
from theano.tensor.reduce.lowering_argmax import argmax_kernel, argmin_kernel
from theano.tensor.shape import lowering as layout
from theano.tensor.sort import lowering as order

pytestmark = pytest.mark.usefixtures("small")


# -- the tables -----------------------------------------------------------------------------------------------


def test_every_size_has_a_small_one_and_a_test_of_its_edges():
    assert set(SMALL) == set(sizes_of(REAL_HEADER))
    assert all(SMALL[name] < real for name, real in sizes_of(REAL_HEADER).items())
    assert test_kernels_blocks_algebra.ROWS and met == set(SMALL) | set(OF_LOOPS)


NO_SIZES = {
    # Numbers that are no sizes of blocks: codes, and counts of registers and lanes, which are written into loops.
    "accumulate.c": set(), "advanced.c": set(), "cumulate.c": {"SIDE"}, "index.c": set(),
    "logsumexp.c": {"ROWS", "L"}, "reduce.c": {"LEVELS"},
    "softmax.c": {"LANES"}, "factor_f32.c": {"T_IS_FLOAT"}, "factor_f64.c": {"T_IS_FLOAT"}, "gemm_f32.c": {"T_IS_FLOAT"},
    "gemm_f64.c": {"T_IS_FLOAT"}, "conv_f32.c": {"T_IS_FLOAT"}, "conv_f64.c": {"T_IS_FLOAT"}, "conv_sizes.h": {"TH_CONV_AXES"}, "conv_map.c": {"MOST_BYTES"}, "conv_winograd.h": {"TH_PLACES"},
    "conv_depthwise.h": {"TH_DEPTHWISE_ROWS", "TH_DEPTHWISE_COLUMNS"},
    "conv_planes.h": {"TH_CONV_PLANE_ROWS", "TH_CONV_PLANE_ELEMENTS"}, "ctc.c": {"PARTS"},
    "conv_lanes.h": {"LANE_ROWS", "LANE_TERMS"}, "factor_eigh.h": {"SWEEPS", "ABREAST_ROTATED"}, "factor_lu.h": {"UNROLLED"},
    "factor_triangle.h": {"GROUP", "ABREAST"}, "fft.h": {"LARGEST_RADIX", "MOST_STAGES"}, "fft_lines.h": {"WIDTH"},
    "gemm_level2.h": {"FEW_VECTORS", "MOST_NARROW"}, "gemm_pack.h": {"SQUARE"}, "gemm_vector.h": {"VECTOR_BYTES", "ROWS", "VECTORS", "RIGHT_RESTS"}, "fft_stage.h": {"r"},
    "mrg.c": {"BLOCK"}, "mrg_step.h": {"TH_MRG_M1", "TH_MRG_M2"}, "philox.c": {"GROUP", "WORDS", "SIDE_BY_SIDE", "ROUNDS"}, "lanes.h": {"TH_VECTOR", "TH_WIDTH_8", "TH_WIDTH_4"}, "marks.h": {"TH_PLAIN_LOOP"},
    "single.c": {"MOVES_m", "MOVES_s", "_lanes"},
}  # fmt: skip


@pytest.mark.parametrize("path", [p for p in C_SOURCES if p.name != "blocks.h"], ids=lambda p: p.name)
def test_sizes_are_in_their_table(path):
    """A size that a file keeps to itself would be met by no test."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    named = set(re.findall(r"#define +(\w+) +\(?(?:\([a-z0-9_]+\))?\d", text))
    for table in re.findall(r"\benum\s*\{([^}]*)\}", text):
        named |= set(re.findall(r"(\w+)\s*=\s*\d", table))
    arrays = set(re.findall(r"\b[a-zA-Z_]\w* +\w+\[(\d{2,})\]", text)) - {"14", "16", "160"}
    assert named - NO_SIZES.get(path.name, set()) == set() and not arrays


# -- reductions -------------------------------------------------------------------------------------------------

PLACES = [((0,), 0), ((0, 3), 0), ((0, 3), 1), ((3, 0), 0), ((3, 0), 1), ((2, 0, 3), 1), ((2, 0, 3), (0, 2)),
          ((0, 2, 13), (0, 2)), ((3, 2, 0), (0, 2)), ((0, 9), 0), ((9, 0), 0)]  # fmt: skip


def placed(n):
    """Yield shapes in which one length is n, with the axes to be reduced."""
    for shape, axes in PLACES:
        yield tuple(n if length == 0 else length for length in shape), axes if isinstance(axes, tuple) else (axes,)


REDUCED = edges("REDUCE_SHORT_RUN", "REDUCE_PIECE", "REDUCE_FOLD", "REDUCE_RUNS", "REDUCE_FEW_ROWS", "REDUCE_FAR_BYTES",
                "REDUCE_BAND_BYTES", "REDUCE_TILE_BYTES", "REDUCE_SMALL_TILE", "REDUCE_FETCHED_ROW",
                products=((4, "REDUCE_FLUSH", 32), (4, "REDUCE_FLUSH", 64), ("REDUCE_NEAR_TERMS", 32), ("REDUCE_NEAR_TERMS", 64), ("REDUCE_FLUSH", 32), ("REDUCE_FLUSH", 64), ("REDUCE_FLUSH", "REDUCE_FLUSH", 32),
                          ("REDUCE_FLUSH", "REDUCE_FLUSH", "REDUCE_FLUSH", 32)), most=2000)  # fmt: skip
REDUCTIONS = [
    *[("add", d, a, np.add) for d, a in [
        ("bool", "int64"), ("uint8", "uint64"), ("int8", "int64"), ("int32", "int64"), ("int64", "int64"), ("float16", "float32"),
        ("float32", "float32"), ("float32", "float64"), ("float64", "float64"), ("float64", "float32"), ("complex64", "complex64"),
    ]],
    *[("mul", d, a, np.multiply) for d, a in [
        ("int32", "int64"), ("int64", "int64"), ("float32", "float64"), ("float32", "float32"), ("float64", "float64"),
    ]],
    ("mul", "complex128", "complex128", np.multiply),
    *[("maximum", d, d, np.maximum) for d in ("uint16", "int32", "int64", "float32", "float64", "bool")],
    *[("minimum", d, d, np.minimum) for d in ("int8", "int32", "float32", "float64")],
    ("or_", "bool", "bool", np.logical_or), ("and_", "bool", "bool", np.logical_and), ("xor", "int64", "int64", np.bitwise_xor),
]  # fmt: skip


@pytest.mark.parametrize("name, dtype, acc, ufunc", REDUCTIONS, ids=lambda v: v if isinstance(v, str) else "")
def test_reductions(name, dtype, acc, ufunc):
    kernels = {}
    for shape, axes in placed(5):
        n = reduction(name, dtype, acc, acc, axes, len(shape))
        kernels[axes, len(shape)] = careduce_kernel(n.op, n), n
    compile_many([k for k, _ in kernels.values() if isinstance(k, Kernel)])
    for shape, axes in portion(itertools.chain(*map(placed, REDUCED)), 4, always=0, which=REDUCTIONS.index((name, dtype, acc, ufunc))):
        x = rng.choice(np.array([1, -1], dtype), shape) if name == "mul" else whole(shape, dtype)
        if name in ("and_", "or_"):
            x[...] = name == "and_"
            x[tuple(rng.integers(0, length) for length in shape)] ^= True
        want = ufunc.reduce(x, axis=axes, dtype=acc)
        for at, row_by_row in ((x, False), (x, True), (spread(x), True)):
            with tuned(row_by_row=row_by_row, row_by_row_widened=row_by_row):
                equal(run(*kernels[axes, len(shape)], [at])[0], want, shape, axes)


def test_nan_is_found_in_every_block():
    for dtype in FLOATS:
        for name, axes, ndim in itertools.product(("maximum", "minimum"), (0, 1), (2,)):
            n = reduction(name, dtype, dtype, dtype, (axes,), ndim)
            kernel = careduce_kernel(n.op, n)
            for size in REDUCED[::3]:
                x = whole((size, 3) if axes == 0 else (3, size), dtype)
                x[(size - 1, 1) if axes == 0 else (1, size - 1)] = np.nan
                want = np.maximum.reduce(x, axis=axes) if name == "maximum" else np.minimum.reduce(x, axis=axes)
                for row_by_row in (False, True):
                    with tuned(row_by_row=row_by_row):
                        equal(run(kernel, n, [x])[0], want)


SPANS = edges("REDUCE_FAR_BYTES", "REDUCE_PIECE", products=[(4, "REDUCE_FLUSH", n) for n in (16, 32, 64)], most=1000)
"""Lengths on both sides of four blocks of a run."""
SIDE_BY_SIDE = [(count, n) for count in (*edges("REDUCE_RUNS"), 16, 31, 33, 64, 65, 145) for n in (31, 32, 33, 64, 67, 95, 129)]
"""Rows on both sides of what is read in four places at once."""


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("name", ["add", "mul", "maximum", "minimum"])
def test_four_places_at_once_give_the_same_bits(name, dtype):
    """Runs are read in four places where it was measured to be faster; a nan sends their reader back."""
    for ndim, shapes in ((1, [(n,) for n in SPANS]), (2, SIDE_BY_SIDE)):
        n = reduction(name, dtype, dtype, dtype, (ndim - 1,), ndim)
        kernel = careduce_kernel(n.op, n)
        for shape in shapes:
            x = rng.normal(1, 0.01, shape).astype(dtype) if name == "mul" else (100 * rng.normal(size=shape)).astype(dtype)
            for place in (None, 0, shape[0] // 2, -1):
                if place is not None and (dtype == "int64" or name in ("add", "mul")):
                    continue
                if place is not None:
                    x[place] = np.nan if ndim == 1 else np.where(np.arange(shape[1]) % 50 == 7, np.nan, x[place])
                results = []
                for row_by_row in (True, False):
                    with tuned(row_by_row=row_by_row, row_by_row_widened=row_by_row):
                        results.append(run(kernel, n, [x])[0])
                np.testing.assert_array_equal(*results)
                ufunc = {"add": np.add, "mul": np.multiply}.get(name) or getattr(np, name)
                np.testing.assert_allclose(results[1], ufunc.reduce(x.astype("float64"), axis=ndim - 1), rtol=2e-5, atol=2e-2)


@pytest.mark.parametrize("light", [True, False])
def test_terms_of_several_operands(light):
    """Three widths of operand and three results at once; where a term costs much there is a loop over rows only."""
    u, v, w = ts.float64("u"), ts.float32("v"), ts.int8("w")
    first = (u - v) ** 2 if light else ts.exp(u * 0.0) * (u - v) ** 2
    expression = Composite([u, v, w], [first, u * w, u > v])
    reductions = [("add", "float64", "float64"), ("maximum", "float64", "float64"), ("or_", "bool", "bool")]
    kernels = {}
    for shape, axes in placed(5):
        n = map_reduction(expression, reductions, [np.zeros(shape, d) for d in ("float64", "float32", "int8")], axes)
        kernels[axes, len(shape)] = map_reduce_kernel(n.op, n), n
    compile_many([k for k, _ in kernels.values()])
    for shape, axes in portion(itertools.chain(*map(placed, REDUCED[::2])), 2, always=0, which=light):
        x = [whole(shape, d) for d in ("float64", "float32", "int8")]
        terms = (x[0] - x[1]) ** 2, x[0] * x[2], x[0] > x[1]
        want = [f.reduce(t, axis=axes) for f, t in zip((np.add, np.maximum, np.logical_or), terms, strict=True)]
        for at in (x, [spread(a) for a in x], [spread(x[0]), x[1], spread(x[2])]):
            for got, wanted in zip(run(*kernels[axes, len(shape)], at), want, strict=True):
                equal(got, wanted, shape, axes)


TERMS = edges("REDUCE_SHORT_TERMS", "REDUCE_TERM_BYTES", products=(("REDUCE_FLUSH", 32),), most=200)


@pytest.mark.parametrize("light", [True, False])
def test_runs_of_terms(light):
    """Terms of neighbouring results, brought together, of operands that are one after the other and of others."""
    u, v, w, c = ts.float64("u"), ts.float32("v"), ts.int32("w"), ts.float64("c")
    first = (u - v) * c if light else ts.exp(u * 0.0) * (u - v) * c
    patterns = [(False, False), (False, True), (True, False), (True, True)]
    reductions = [("add", "float64", "float32"), ("maximum", "float64", "float64")]
    x = [np.zeros((3, 4), d) for d in ("float64", "float32", "int32", "float64")]
    n = map_reduction(Composite([u, v, w, c], [first, u * w]), reductions, x, (1,), patterns)
    kernel = map_reduce_kernel(n.op, n)
    for columns, rows in itertools.product(TERMS, (1, 3, 40)):
        lengths = [[1 if one else k for k, one in zip((rows, columns), p, strict=True)] for p in patterns]
        x = [whole(shape, a.dtype) for shape, a in zip(lengths, x, strict=True)]
        for at in (x, [x[0][::-1], *x[1:]], [np.repeat(x[0], 2, axis=0)[::2], *x[1:]]):
            got = run(kernel, n, at)
            equal(got[0], ((at[0] - at[1]) * at[3]).sum(axis=1).astype("float32"), rows, columns)
            equal(got[1], (at[0] * at[2]).max(axis=1), rows, columns)


SUMMED = edges("LOGSUMEXP_ROOM", products=(("LOGSUMEXP_STEP", 32), ("LOGSUMEXP_STEP", 64), ("LOGSUMEXP_STEP", "REDUCE_FLUSH", 64)), most=1200)  # fmt: skip
ROWS_TURNED, COLUMNS_TURNED = edges("LOGSUMEXP_GROUP", most=9), edges("LOGSUMEXP_SHORT", most=7)


@pytest.mark.parametrize("dtype", FLOATS)
def test_logarithms_of_sums_of_exponentials(dtype):
    narrow = [((rows, n), (1,)) for rows in ROWS_TURNED for n in COLUMNS_TURNED]
    for shape, axes in itertools.chain(*map(placed, SUMMED), narrow):
        x = (20 * rng.normal(size=shape)).astype(dtype)
        wanted = np.log(np.exp(x - x.max(axes, keepdims=True).astype("float64")).sum(axes)) + x.max(axes)
        for at in (x, spread(x)):
            made = node(Toy(axis=axes), [at], [(dtype, len(shape) - len(axes))])
            got = run(log_sum_exp_kernel(made.op, made), made, [at])[0]
            np.testing.assert_allclose(got, wanted, 40 * np.finfo(dtype).eps, 1e-6 if dtype == "float32" else 1e-14)


SEARCHED = edges("ARGMAX_BLOCK", "ARGMAX_TILE", "ARGMAX_NEAR_BYTES", "ARGMAX_SHORT_RUN", "ARGMAX_PIECE", products=(("ARGMAX_PIECE", "ARGMAX_BLOCK"), ("ARGMAX_PIECE", 1024)),
                 most=50_000)  # fmt: skip


@pytest.mark.parametrize("smallest", [False, True])
@pytest.mark.parametrize("dtype", REAL)
def test_argmax(dtype, smallest):
    """The first of the best, which are many, or one at either end of the last block; the first nan before all."""
    few = lambda n: [((n,), (0,)), ((n, 3), (0,)), ((3, n), (1,)), ((2, n, 3), (0, 1, 2))]
    table = [(n, *place) for n in SEARCHED for place in (placed(n) if n < 500 else few(n))]
    for n, shape, axes in share(table, 4, dtype):
        x = whole(shape, dtype)
        made = argmax_node(dtype, axes, len(shape))
        kernel = (argmin_kernel if smallest else argmax_kernel)(made.op, made)
        low, high = (0, 1) if dtype == "bool" else (-9, 9) if np.dtype(dtype).kind in "if" else (0, 9)
        for best_at in (None, -1, -2):
            if best_at is not None:
                if n < 4 or n % 3:
                    continue
                x[...] = x if dtype != "bool" else smallest
                x.reshape(-1)[best_at] = low if smallest else high
            if best_at == -2 and np.dtype(dtype).kind == "f":
                x.reshape(-1)[-1] = np.nan
            kept = [d for d in range(len(shape)) if d not in axes]
            flat = x.transpose(*kept, *axes).reshape(*(shape[d] for d in kept), -1)
            place = flat.argmin(-1) if smallest else flat.argmax(-1)
            for at in (x, spread(x)):
                value, found = run(kernel, made, [at])
                equal(found, place, shape, axes)
                equal(value, np.take_along_axis(flat, place[..., None], -1)[..., 0])


# -- order ------------------------------------------------------------------------------------------------------

CUMULATED = edges("CUMULATE_BLOCK", products=(("CUMULATE_BLOCK", 4),))


@pytest.mark.parametrize("dtype", DTYPES)
def test_cumulative(dtype):
    for shape, axes in share(itertools.chain(*map(placed, CUMULATED)), 3, dtype):
        x = whole(shape, dtype)
        ones = rng.choice(np.array([1, 1, 0] if np.dtype(dtype).kind in "bu" else [1, -1], dtype), shape)
        for mode, terms, wanted in (("add", x, np.cumsum), ("mul", ones, np.cumprod)):
            want = wanted(terms, axis=axes[0], dtype=dtype)
            for at in (terms, spread(terms)):
                equal(call(order.cumulate_kernel, Toy(axis=axes[0], mode=mode), [at], (dtype, x.ndim))[0], want, shape, axes)


SELECTED = edges("SELECT_PIECE", "SELECT_BITS", "SELECT_SAMPLED", "SELECT_WORTH_SAMPLING", "SELECT_HEAP", products=(("SELECT_PIECE", "SELECT_HEAP"), ("SELECT_PIECE", "SELECT_PIECE"),
                 ("SELECT_WORTH_SAMPLING", "SELECT_SAMPLED")))  # fmt: skip


@pytest.mark.parametrize("dtype", REAL)
def test_the_best_of_a_line(dtype):
    # (more than an eighth: a sample is drawn)
    ks = {n: {1, SMALL["SELECT_HEAP"] + 1, n // 8 + 1, n // 5, n} for n in SELECTED}
    table = [(n, by * k) for n in SELECTED for k in sorted(ks[n]) if 0 < k <= n for by in (1, -1)]
    for n, wanted in share(table, 3, dtype):
        x = whole((2, n), dtype, *((-90, 90) if np.dtype(dtype).kind in "if" else (0, 90)))
        places = best(x, wanted, 1)
        values = np.take_along_axis(x, places, 1)
        for give, at in itertools.product(((True, True), (True, False)), (x, x.copy("F"))):
            op = Toy(axis=1, return_values=give[0], return_indices=give[1])
            got = call(order.topk_kernel, op, [at, scalar(wanted)], (dtype, 2), *[("int64", 2)] * give[1])
            equal(got[0], values, n, wanted)
            if give[1]:
                equal(got[1], places, n, wanted)


@pytest.mark.parametrize("dtype", REAL)
def test_order_of_lines(dtype):
    """These have no blocks of their own; NumPy's sorts have."""
    for n in edges("SELECT_PIECE", "COPY_PIECE"):
        x = whole((n, 3), dtype, *((-90, 90) if np.dtype(dtype).kind in "if" else (0, 90)))
        for axis in (0, 1):
            equal(call(sort, Toy(kind="quicksort"), [x, scalar(axis)], (dtype, 2))[0], np.sort(x, axis), n)
            equal(call(argsort, Toy(kind="stable"), [x, scalar(axis)], ("int64", 2))[0], np.argsort(x, axis, kind="stable"), n)
        found = Toy(axis=None, return_index=True, return_inverse=True, return_counts=True)
        values, *places = call(order.unique_kernel, found, [x], (dtype, 1), *[("int64", 1)] * 3)
        want, first, which, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
        for got, wanted in zip([values, *places], [want, first, which.reshape(-1), counts], strict=True):
            equal(got, wanted, n)


SOUGHT = edges("SEARCH_SIDE", products=(("SEARCH_SIDE", "SEARCH_SIDE"), ("SEARCH_SIDE", 3)))


@pytest.mark.parametrize("dtype", REAL)
def test_search(dtype):
    for n, count in share(itertools.product(SOUGHT, SOUGHT), 2, dtype):
        x, v = np.sort(whole(n, dtype)), whole(count, dtype)
        for side in ("left", "right"):
            equal(call(order.searchsorted_kernel, Toy(side=side), [x, v], ("int64", 1))[0], np.searchsorted(x, v, side), n, count)


# -- rows -------------------------------------------------------------------------------------------------------


GROUPS, COLUMNS = edges("SOFTMAX_GROUP", products=(("SOFTMAX_GROUP", 4),)), edges("SOFTMAX_SHORT", products=((32,),))


@pytest.mark.parametrize("dtype, rtol", [("float64", 1e-14), ("float32", 6e-6)])
def test_softmax(dtype, rtol):
    for rows, columns in share(itertools.product(GROUPS, COLUMNS), 5, dtype):
        x = rng.normal(size=(rows, columns)).astype(dtype)
        b = rng.normal(size=columns).astype(dtype)
        labels = rng.integers(0, columns, rows)
        for at, b_at in ((x, b), (x, spread(b)), (spread(x), b), (x.copy("F"), spread(b))):
            np.testing.assert_allclose(call(nnet.softmax_kernel, Toy(), [at], (dtype, 2))[0], softmax(x), rtol)
            np.testing.assert_allclose(call(nnet.log_softmax_kernel, Toy(), [at], (dtype, 2))[0], np.log(softmax(x)), rtol, rtol)
            want = softmax(x + b)
            loss, p, place = call(nnet.crossentropy_kernel, Toy(), [at, b_at, labels], (dtype, 1), (dtype, 2), ("int64", 1))
            np.testing.assert_allclose(p, want, rtol)
            np.testing.assert_allclose(loss, -np.log(want[np.arange(rows), labels]), rtol, rtol)
            equal(place, (x + b).argmax(1), rows, columns)
        g, wide = whole(x.shape, dtype), p.astype("float64")
        for dy, sm in itertools.product((g, spread(g), g.copy("F")), (p, spread(p), p.copy("F"))):
            got = call(nnet.softmax_grad_kernel, Toy(), [dy, sm], (dtype, 2))[0]
            np.testing.assert_allclose(got, wide * (g - (g * wide).sum(1, keepdims=True)), 1e-4, 20 * rtol)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("columns", [4, 10, 40])
def test_largest_of_rows_that_are_not_finite(dtype, columns):
    """The place of a row's largest element is NumPy's: of the first nan, else of the first of the largest."""
    x = rng.choice(np.array([np.nan, np.inf, -np.inf, 0, 1, 1], dtype), (200, columns), p=[0.05, 0.1, 0.25, 0.2, 0.2, 0.2])
    x[:3] = [[-np.inf], [np.inf], [np.nan]]
    labels = rng.integers(0, columns, len(x))
    place = call(nnet.crossentropy_kernel, Toy(), [x, np.zeros(columns, dtype), labels], (dtype, 1), (dtype, 2), ("int64", 1))[2]
    equal(place, x.argmax(1), columns)


# -- copies -----------------------------------------------------------------------------------------------------

COPIED = edges("COPY_CHUNK", "COPY_BAND", "COPY_PIECE", products=(("COPY_PIECE", "COPY_BAND"), ("COPY_CHUNK", 3), ("COPY_LONG",)), most=500)


@pytest.mark.parametrize("dtype", DTYPES)
def test_copies(dtype):
    """Lines, matrices turned around, axes in every order."""
    shapes = [((n,), (n, 4), (4, n), (3, n, 4), (n, n) if n < 50 else (n, 7)) for n in COPIED]
    for shape in share(itertools.chain(*shapes), 3, dtype):
        x = whole(shape, dtype)
        for axes in itertools.permutations(range(x.ndim)):
            equal(call(dimshuffle_kernel, Toy(new_order=axes), [x], (dtype, x.ndim))[0], x.transpose(axes), shape, axes)
        for at in (x[::-1], spread(x), spread(x)[::2]):
            equal(call(layout.copy_kernel, Toy(), [at], (dtype, x.ndim))[0], at, shape)
        joined = call(join.join_kernel, Toy(view=-1), [scalar(0), x, spread(x)], (dtype, x.ndim))[0]
        equal(joined, np.concatenate([x, x]), shape)


JOINED, TOGETHER = edges("JOIN_RUN", most=50), edges("JOIN_MOST", most=50)


@pytest.mark.parametrize("dtype", DTYPES)
def test_joins(dtype):
    """Rows of runs of each length, and of each number of tensors; the last one packed, and not."""
    for n in JOINED:
        for parts in ([whole((4, n), dtype)] * 2, [whole((3, n, 2), dtype), whole((3, 1, 2), dtype)]):
            for last in (parts[-1], spread(parts[-1])):
                joined = call(join.join_kernel, Toy(view=-1), [scalar(1), parts[0], last], (dtype, last.ndim))[0]
                equal(joined, np.concatenate([parts[0], last], 1), n)
    for n in TOGETHER:
        parts = [whole((4, 11), dtype)] * n
        if n:
            equal(call(join.join_kernel, Toy(view=-1), [scalar(1), *parts], (dtype, 2))[0], np.concatenate(parts, 1), n)


@pytest.mark.parametrize("to", DTYPES)
def test_conversions(to):
    for dtype in DTYPES:
        if dtype.startswith("complex") and not to.startswith("complex"):
            continue
        for n in edges("COPY_CHUNK"):
            x, y = whole((2, n), dtype, 0, 4), whole((2, n), to, 0, 4)
            equal(call(create.alloc_kernel, Toy(), [spread(x), scalar(2), scalar(n)], (to, 2))[0], x.astype(to), dtype, n)
            op = Toy(idx_list=(slice(None),), set_instead_of_inc=False)
            kernel = index.inc_subtensor_kernel(op, made := node(op, [y, x], [(to, 2)]))
            if kernel is not None:
                want = y | (x != 0) if to == "bool" else y + x.astype(to)
                equal(run(kernel, made, [y, spread(x)])[0], want, dtype, n)


# -- indexes ----------------------------------------------------------------------------------------------------

INDEXED = edges("SELECTION_CHUNK", "TAKE_TOGETHER", "TAKE_AHEAD", products=(("SELECTION_CHUNK", 3), ("TAKE_TOGETHER", 2)))
edges("TAKE_FAR_BYTES")  # 20 elements are some of one byte, some of sixteen


@pytest.mark.parametrize("places_dtype", ["int8", "uint16", "int32", "int64"])
@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_lists_of_places(dtype, places_dtype):
    signed = places_dtype.startswith("int")
    sources = (lambda: whole(20, dtype), lambda: whole((20, 3), dtype), lambda: spread(whole((20, 3), dtype)), lambda: whole((3, 20), dtype).T)
    for n, source in share(itertools.product(INDEXED, sources), 3, dtype, places_dtype):
        x = source()
        places = rng.integers(-20 if signed else 0, 20, n).astype(places_dtype)
        for at in (places, np.abs(places) % 20, spread(places)):
            at = at.astype(places_dtype)
            equal(call(index.advanced_subtensor_kernel, Toy(), [x, at], (dtype, x.ndim))[0], x[at], n)
            if signed and at is places:
                for where in (0, n - 1):
                    bad = places.copy()
                    bad[where] = 20
                    with pytest.raises(IndexError, match="index 20 is out of bounds for axis 0 with size 20"):
                        call(index.advanced_subtensor_kernel, Toy(), [x, bad], (dtype, x.ndim))
        y = whole((n, *x.shape[1:]), dtype)
        for set_it in (True, False):
            want = x.copy()
            if set_it:
                want[places] = y
            else:
                np.add.at(want, places, y)
            got = call(index.advanced_inc_subtensor_kernel, Toy(set_instead_of_inc=set_it), [x, y, places], (dtype, x.ndim))[0]
            equal(got, want, n, set_it)


def test_groups_of_places_and_masks():
    for n in INDEXED:
        x = whole((6, 7, 2), "float64")
        rows, columns = rng.integers(-6, 6, (n, 2)), rng.integers(0, 7, (1, 2))
        equal(call(index.advanced_subtensor_kernel, Toy(), [x, rows, columns], ("float64", 3))[0], x[rows, columns], n)
        mask = rng.random(n) < 0.5
        line = whole(n, "int32")
        equal(call(index.advanced_subtensor_kernel, Toy(), [line, mask], ("int32", 1))[0], line[mask], n)
        equal(call(index.nonzero_kernel, Toy(), [line], ("int64", 1))[0], line.nonzero()[0], n)


# -- what has no blocks of its own ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_families_without_blocks(dtype):
    for n in (1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 257):
        x, places = whole((3, n), dtype), np.stack([rng.permutation(n) for _ in range(3)])
        got = call(index.permute_rows_kernel, Toy(), [x, places, scalar(0)], (dtype, 2))[0]
        equal(got, np.take_along_axis(x, places, 1), n)
        equal(call(index.permute_rows_kernel, Toy(), [got, places, scalar(1)], (dtype, 2))[0], x, n)
        times = rng.integers(0, 3, n)
        equal(call(layout.repeat_kernel, Toy(axis=1), [spread(x), times], (dtype, 2))[0], x.repeat(times, 1), n)
        for count, found in zip(call(index.nonzero_kernel, Toy(), [spread(x)], ("int64", 1), ("int64", 1)), x.nonzero(), strict=True):
            equal(count, found, n)
        diagonal = Toy(offset=1, axis1=0, axis2=1)
        equal(call(layout.extract_diagonal_kernel, diagonal, [x], (dtype, 1))[0], np.diagonal(x, 1), n)
        numbers = rng.integers(0, n, n)
        if np.dtype(dtype).kind in "fc" and dtype != "float16":
            got = call(order.bincount_kernel, Toy(), [numbers, scalar(n), x[0]], (dtype, 1))[0]
            equal(got, sum(np.where(np.arange(n) == k, w, 0) for k, w in zip(numbers, x[0], strict=True)), n)
        equal(call(order.bincount_kernel, Toy(), [numbers, scalar(n)], ("int64", 1))[0], np.bincount(numbers, minlength=n), n)
        for c in "CF":
            shape = (n, 3)
            index_ = call(index.unravel_kernel, Toy(order=c), [places, np.array(shape)], ("int64", 2), ("int64", 2))
            equal(np.ravel_multi_index(tuple(index_), shape, order=c), places, n)


# -- element by element -----------------------------------------------------------------------------------------

ALONG = edges("kTileMost", "kShortRow", "kFewestInRow", "kFewestInSame", "kLongRun", "kHeldMost", "kTransposedRows", "kTransposedMost", "kLineBytes", "kScatteredBytes", "kStripe", "kBlock", "kTileBytes", "kTransposedBytes", most=1100)  # fmt: skip


@pytest.mark.parametrize("by_row", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements(dtype, by_row, monkeypatch):
    """Rows; tiles of rows, of transposed rows and of whole lines; what is gathered, held, or used where it lies."""
    if not by_row:
        monkeypatch.setattr(elemwise, "_BY_ROW", -1)
    x_, y_ = (ts.get_scalar_type(dtype)(name) for name in "xy")
    op = ts.or_ if dtype == "bool" else Composite([x_, y_], [x_ * y_ + x_])
    kernels = {}
    for ones in ((False, False), (False, True), (True, False)):
        inputs = [np.zeros((2, 2), dtype)] * 2
        n = elemwise_node(op, inputs, [(False, False), ones])
        kernels[ones] = elemwise_kernel(n.op, n), n
    compile_many([k for k, _ in kernels.values()])
    for shape in share([shape for n in ALONG for shape in ((n, 3), (3, n), (17, n), (n, 17))], 3, dtype):
        x = whole(shape, dtype)
        for ones, (kernel, made) in kernels.items():
            y = whole(tuple(1 if one else length for one, length in zip(ones, shape, strict=True)), dtype)
            want = x | y if dtype == "bool" else x * y + x
            for at in (x, spread(x), x.copy("F"), x[::-1].copy()[::-1]):
                equal(run(kernel, made, [at, y])[0], want, shape, ones)


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_apart(dtype):
    """Each operand with a stride of its own, forwards and backwards, beside one that stands still: gathered, or read in place."""
    op = ts.or_ if dtype == "bool" else ts.mul
    inputs = [np.zeros((2, 2), dtype)] * 2
    kernels = [(elemwise_kernel(n.op, n), n) for ones in ((False, False), (True, False)) for n in [elemwise_node(op, inputs, [(False, False), ones])]]
    compile_many([k for k, _ in kernels])
    for n, (first, second) in itertools.product((1, 31, 127, 128, 1000), itertools.product((1, -1, 2, 5, -3), repeat=2)):
        for (kernel, made), rows in zip(kernels, (3, 1), strict=True):
            x = whole((3, n * abs(first)), dtype)[:, ::first][:, :n]
            y = whole((rows, n * abs(second)), dtype)[:, ::second][:, :n]
            equal(run(kernel, made, [x, y])[0], x | y if dtype == "bool" else x * y, n, first, second)


BYTES = edges("kNarrow", "kShort", "kPiece", most=1 << 20)


def test_long_copies_of_neighbours():
    """Rows of bytes around the sizes from which they are copied otherwise, and lines past the size of a piece."""
    for size in BYTES:
        x = rng.integers(0, 256, (3, size + 5)).astype("uint8")
        equal(call(layout.copy_kernel, Toy(), [x[:, :size]], ("uint8", 2))[0], x[:, :size], size)
        equal(call(layout.copy_kernel, Toy(), [x[0, :size]], ("uint8", 1))[0], x[0, :size], size)
