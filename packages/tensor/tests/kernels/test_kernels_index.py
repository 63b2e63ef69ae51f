"""Indexing against NumPy, through the library that was built with the layer: parts read and written, places found."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_harness import call, equal, run
from kernel_toys import DTYPES, VIEW, Array, Toy, is_accepted, node, object_constant, stretching
from layouts import in_all_layouts, laid_out, numbers

from portion import everything, portion
from theano.tensor.index import lowering as parts

MORE = 75 if os.environ.get("SIZES") == "sweep" else 5 if everything() else 2
"""By how much the numbers of examples that hypothesis takes are multiplied."""
rng = np.random.default_rng(0)

BOUND = st.one_of(st.none(), st.integers(-8, 8))
ENTRY = st.one_of(st.integers(-6, 6), st.builds(slice, BOUND, BOUND, st.one_of(st.none(), st.integers(-4, 4))))
MARK = object()


@st.composite
def indexed(draw):
    """A shape, indexes into it, and which parts of them are inputs of the node."""
    shape = tuple(draw(st.lists(st.integers(0, 5), min_size=1, max_size=4)))
    index = tuple(draw(st.lists(ENTRY, min_size=0, max_size=len(shape))))
    inputs: list[np.ndarray] = []

    def part(value):
        if value is None or draw(st.booleans()):
            return value
        inputs.append(np.asarray(value, draw(st.sampled_from(["int8", "int32", "int64"]))))
        return MARK

    listed = tuple(
        slice(part(e.start), part(e.stop), part(e.step)) if isinstance(e, slice) else part(e) for e in index
    )
    kind = draw(st.sampled_from(["C", "F", "negative", "step2", "offset"]))
    return shape, index, listed, inputs, kind


@given(indexed())
@settings(max_examples=100 * MORE, deadline=None)
def test_basic_subtensor(case):
    shape, index, listed, inputs, kind = case
    x = laid_out(np.arange(float(np.prod(shape))).reshape(shape), kind)
    kept = len(shape) - sum(not isinstance(e, slice) for e in index)
    n = node(Toy(idx_list=listed, **VIEW), [x, *inputs], [("float64", kept)])
    kernel = parts.subtensor_kernel(n.op, n)
    try:
        want = x[index]
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error)) as ours:
            run(kernel, n, [x, *inputs])
        if isinstance(error, IndexError):
            assert str(ours.value) == str(error)
        return
    result = run(kernel, n, [x, *inputs])
    assert result.views == (True,)
    np.testing.assert_array_equal(result[0], want)


@given(indexed(), st.booleans(), st.booleans(), st.sampled_from(["float64", "int8", "float32"]))
@settings(max_examples=80 * MORE, deadline=None)
def test_write_basic_subtensor(case, set_it, in_place, dtype):
    shape, index, listed, inputs, kind = case
    x = laid_out(np.arange(float(np.prod(shape))).reshape(shape), kind)
    before = x.copy()
    try:
        want = x.copy()
        y_shape = [n if i % 2 else 1 for i, n in enumerate(np.shape(want[index]))][-2:]
        y = np.arange(1, 1 + np.prod(y_shape)).reshape([int(v) for v in y_shape]).astype(dtype)
        want[index] = y if set_it else want[index] + y
    except (IndexError, ValueError) as error:
        y, want = np.zeros((), dtype), error
    op = Toy(idx_list=listed, set_instead_of_inc=set_it, destroy_map={0: [0]} if in_place else {})
    n = node(op, [x, stretching(y), *inputs], [("float64", len(shape))])
    kernel = parts.inc_subtensor_kernel(op, n)
    if isinstance(want, Exception):
        with pytest.raises(type(want)):
            run(kernel, n, [x, y, *inputs])
        np.testing.assert_array_equal(x, before)
        return
    result = run(kernel, n, [x, y, *inputs])
    np.testing.assert_array_equal(result[0], want)
    np.testing.assert_array_equal(x, want if in_place else before)


@pytest.mark.parametrize("dtype", DTYPES)
def test_increment_every_dtype(dtype):
    x, y = numbers(rng, (4, 5), dtype), numbers(rng, (2, 5), dtype)
    op = Toy(idx_list=(slice(1, 3),), set_instead_of_inc=False)
    want = x.copy()
    want[1:3] = want[1:3] + y
    np.testing.assert_array_equal(call(parts.inc_subtensor_kernel, op, [x, y], (dtype, 2))[0], want)
    with pytest.raises(ValueError, match=r"shape \(3, 5\) does not fit in one of shape \(2, 5\)"):
        call(parts.inc_subtensor_kernel, op, [x, np.zeros((3, 5), dtype)], (dtype, 2))


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows(dtype):
    for kind in ("C", "F", "negative", "step2", "stretched"):
        for shape in [(6,), (6, 3), (6, 2, 4), (6, 1), (6, 0)]:
            x = laid_out(numbers(rng, shape, dtype), kind)
            for rows in (np.array([0, 5, -1, -6, 2, 2], "int64"), np.array([3], "uint8"), np.zeros(0, "int32"), np.arange(12, dtype="int16")[1:9:2] - 3):
                got = call(parts.advanced_subtensor_kernel, Toy(), [x, rows], (dtype, x.ndim))[0]
                np.testing.assert_array_equal(got, x[rows])
                for set_it in (False, True):
                    op = Toy(set_instead_of_inc=set_it)
                    y = numbers(rng, (len(rows), *shape[1:]), dtype)
                    want = x.copy()
                    if set_it:
                        want[rows] = y
                    else:
                        for k, i in enumerate(rows):
                            want[i] = want[i] + y[k]
                    got = call(parts.advanced_inc_subtensor_kernel, op, [x, y, rows], (dtype, x.ndim))[0]
                    np.testing.assert_array_equal(got, want)
    for bad in (6, -7):
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 6"):
            call(parts.advanced_subtensor_kernel, Toy(), [np.zeros(6), np.array([0, bad])], ("float64", 1))
    x = np.zeros(6)
    with pytest.raises(IndexError):
        op = Toy(set_instead_of_inc=True, destroy_map={0: [0]})
        call(parts.advanced_inc_subtensor_kernel, op, [x, np.ones(2), np.array([0, 6])], ("float64", 1))
    assert not x.any()


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 255, 256, 257, 1023, 1024, 1025])
@pytest.mark.parametrize("y_dtype", ["float32", "float64", "int8", "bool"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_long_lists_of_rows(n, dtype, y_dtype):
    """More rows than are checked at once, in every order and more than once, values of another dtype."""
    dtypes = "float32 float64 int32 int8 bool".split()
    for shape in portion([(300,), (300, 5), (300, 1), (300, 2, 3)], 2, always=0, which=dtypes.index(dtype) + dtypes.index(y_dtype)):
        x = numbers(rng, shape, dtype)
        rows = rng.integers(-300, 300, n)
        got = call(parts.advanced_subtensor_kernel, Toy(), [x, rows], (dtype, x.ndim))[0]
        np.testing.assert_array_equal(got, x[rows])
        got = call(parts.advanced_subtensor_kernel, Toy(), [x, rows.astype("int32")], (dtype, x.ndim))[0]
        np.testing.assert_array_equal(got, x[rows])
        for y in (numbers(rng, (n, *shape[1:]), y_dtype), numbers(rng, (), y_dtype), numbers(rng, shape[1:], y_dtype)):
            y = np.asarray(y)
            for set_it in (False, True):
                want = x.copy()
                full = np.broadcast_to(y, (n, *shape[1:])).astype(dtype)
                for k, i in enumerate(rows):
                    want[i] = full[k] if set_it else want[i] + full[k]
                op = Toy(set_instead_of_inc=set_it)
                got = call(parts.advanced_inc_subtensor_kernel, op, [x, stretching(y), rows], (dtype, x.ndim))[0]
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("where", [0, 255, 256, 700])
@pytest.mark.parametrize("bad", [300, -301, 2**63 - 1, -(2**63)])
def test_a_bad_row_among_many_is_found_before_anything_is_written(where, bad):
    x = np.zeros((300, 2))
    rows = rng.integers(-300, 300, 701)
    rows[where] = bad
    message = f"index {bad} is out of bounds for axis 0 with size 300"
    with pytest.raises(IndexError, match=message):
        call(parts.advanced_subtensor_kernel, Toy(), [x[:, 0], rows], ("float64", 1))
    with pytest.raises(IndexError, match=message):
        call(parts.advanced_subtensor_kernel, Toy(), [x, rows], ("float64", 2))
    for set_it in (False, True):
        op = Toy(set_instead_of_inc=set_it, destroy_map={0: [0]})
        with pytest.raises(IndexError, match=message):
            call(parts.advanced_inc_subtensor_kernel, op, [x, np.ones((701, 2)), rows], ("float64", 2))
        assert not x.any()


# -- arrays and masks ------------------------------------------------------------------------------------

INDEX_DTYPES = ("int64", "int32", "int8", "uint8", "uint16")


@st.composite
def advanced(draw):
    """A shape and an index of it with arrays, masks, slices and new axes, now and then out of bounds."""
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=4)))
    common = tuple(draw(st.lists(st.integers(0, 3), min_size=0, max_size=2)))
    entries: list[Any] = []
    axis = 0
    while axis < len(shape) and len(entries) < 6:
        kind = draw(st.sampled_from(["array", "array", "slice", "mask", "new", "end"]))
        if kind == "end":
            break
        if kind == "new":
            entries.append(None)
        elif kind == "slice":
            entries.append(draw(st.builds(slice, BOUND, BOUND, st.sampled_from([None, 1, 2, -1, -3]))))
            axis += 1
        elif kind == "array":
            entries.append(draw(places(common, shape[axis])))
            axis += 1
        else:
            covered = draw(st.integers(0, min(2, len(shape) - axis)))
            mask = np.array(draw(st.lists(st.booleans(), min_size=16, max_size=16)))
            lengths = shape[axis : axis + covered]
            entries.append(mask[: int(np.prod(lengths))].reshape(lengths) if covered else np.array(mask[0]))
            axis += covered
    if not any(isinstance(e, np.ndarray) for e in entries):
        entries.insert(0, np.array(draw(st.booleans())))
    return shape, tuple(entries)


@st.composite
def places(draw, common, size):
    """An array that broadcasts to a shape (or, rarely, does not), mostly of places that exist."""
    ndim = draw(st.integers(0, len(common)))
    lengths = tuple(n if draw(st.integers(0, 4)) else 1 for n in common[len(common) - ndim :])
    beyond = draw(st.integers(0, 30)) == 0
    low, high = (-size - 1, size) if beyond or size == 0 else (-size, size - 1)
    dtype = draw(st.sampled_from(INDEX_DTYPES))
    low = max(low, 0) if dtype.startswith("u") else low
    count = int(np.prod(lengths))
    values = draw(st.lists(st.integers(low, max(low, high)), min_size=count, max_size=count))
    return laid_out(np.array(values, dtype).reshape(lengths), draw(st.sampled_from(["C", "negative", "step2"])))


def result_ndim(shape, entries):
    """Return the number of axes of ``x[entries]``, also where it is an error."""
    arrays = [e for e in entries if isinstance(e, np.ndarray)]
    covered = sum(e.ndim if e.dtype == bool else 1 for e in arrays) + sum(isinstance(e, slice) for e in entries)
    others = len(shape) - covered + sum(e is None or isinstance(e, slice) for e in entries)
    return others + max(1 if e.dtype == bool else e.ndim for e in arrays)


def as_inputs(entries):
    return [e if isinstance(e, np.ndarray) else object_constant(e) for e in entries]


@given(advanced(), st.sampled_from(["C", "F", "negative", "step2", "offset"]), st.sampled_from(DTYPES))
@settings(max_examples=140 * MORE, deadline=None)
def test_advanced_subtensor(case, kind, dtype):
    shape, entries = case
    x = laid_out(numbers(rng, shape, dtype), kind)
    try:
        want = x[entries]
    except IndexError:
        with pytest.raises(IndexError, match="out of bounds|mismatch|did not match"):
            call(parts.advanced_subtensor_kernel, Toy(), [x, *as_inputs(entries)], (dtype, result_ndim(shape, entries)))
        return
    got = call(parts.advanced_subtensor_kernel, Toy(), [x, *as_inputs(entries)], (dtype, want.ndim))[0]
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)


@given(advanced(), st.sampled_from(["C", "F", "negative", "step2"]), st.sampled_from(DTYPES), st.data())
@settings(max_examples=140 * MORE, deadline=None)
def test_advanced_inc_subtensor(case, kind, dtype, data):
    """All orders of what is written: no place twice for "set", which promises nothing then."""
    shape, entries = case
    x = laid_out(numbers(rng, shape, dtype), kind)
    before = x.copy()
    set_it, in_place = data.draw(st.booleans()), data.draw(st.booleans())
    op = Toy(set_instead_of_inc=set_it, destroy_map={0: [0]} if in_place else {})
    try:
        part = x[entries].shape
    except IndexError:
        with pytest.raises(IndexError, match="out of bounds|mismatch|did not match"):
            call(parts.advanced_inc_subtensor_kernel, op, [x, np.zeros((), dtype), *as_inputs(entries)], (dtype, x.ndim))
        np.testing.assert_array_equal(x, before)
        return
    real = "bool int8 uint8 int32 float32 float64".split()
    y_dtype = dtype if data.draw(st.booleans()) else data.draw(st.sampled_from(real))
    y_shape = tuple(1 if data.draw(st.integers(0, 3)) == 0 else n for n in part)[data.draw(st.integers(0, len(part))) :]
    y = laid_out(np.asarray(numbers(rng, y_shape, y_dtype, 0, 4)), "C" if 0 in y_shape else data.draw(st.sampled_from(["C", "F", "negative"])))
    if set_it:
        y = np.ones_like(y)
    want = before.copy()
    if set_it:
        want[entries] = y.astype(dtype)
    else:
        # Repeated first: ufunc.at of NumPy 2.4 reads past a smaller array where x has one axis and the places several.
        np.add.at(want, entries, np.broadcast_to(y.astype(dtype), part))
    got = call(parts.advanced_inc_subtensor_kernel, op, [x, stretching(y), *as_inputs(entries)], (dtype, x.ndim))[0]
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(x, want if in_place else before)


@pytest.mark.parametrize("shape", [(1025,), (1023, 3), (3, 1024), (300, 40), (2, 257, 3), (70, 9, 5)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "complex128", "float16"])
def test_long_lists_of_places(shape, dtype):
    """More than are worked out at once, for every position of the arrays."""
    x = numbers(rng, shape, dtype)
    cases = []
    for axis, size in itertools.product(range(len(shape)), (1, 255, 256, 257, 1000)):
        i = rng.integers(-shape[axis], shape[axis], size)
        cases += [(slice(None),) * axis + (i,), (slice(None),) * axis + (i.reshape(-1, 1), None)]
        if axis:
            cases += [(i % shape[0], *[slice(None)] * (axis - 1), i), (np.arange(shape[0])[:, None], *[slice(None)] * (axis - 1), i)]
    for entries in portion(cases, 3, always=0, which=DTYPES.index(dtype)):
        want = x[entries]
        got = call(parts.advanced_subtensor_kernel, Toy(), [x, *as_inputs(entries)], (dtype, want.ndim))[0]
        equal(got, want)
        y, into = numbers(rng, want.shape, dtype, 0, 3), x.copy()
        np.add.at(into, entries, y)
        op = Toy(set_instead_of_inc=False)
        got = call(parts.advanced_inc_subtensor_kernel, op, [x, y, *as_inputs(entries)], (dtype, x.ndim))[0]
        equal(got, into)


def test_a_length_that_happens_to_be_1_is_not_stretched():
    x, y = np.zeros((4, 5)), np.ones((1, 5))
    for op, kernel, index in [
        (Toy(idx_list=(slice(1, 3),), set_instead_of_inc=True), parts.inc_subtensor_kernel, []),
        (Toy(set_instead_of_inc=False), parts.advanced_inc_subtensor_kernel, [np.array([0, 1])]),
    ]:
        with pytest.raises(ValueError, match=r"\(1, 5\) does not fit in one of shape \(2, 5\).*only if the variable's type"):
            call(kernel, op, [x, y, *index], ("float64", 2))
        assert call(kernel, op, [x, stretching(y), *index], ("float64", 2))[0][0].shape == (5,)


def test_nothing_is_taken_of_nothing():
    """Places are checked although no element is read, unless no place is named."""
    x = np.zeros((0, 3))
    entries = [object_constant(slice(None)), np.array([1, 2])]
    assert call(parts.advanced_subtensor_kernel, Toy(), [x, *entries], ("float64", 2))[0].shape == (0, 2)
    for bad in ([object_constant(slice(None)), np.array([3])], [np.array([0])]):
        with pytest.raises(IndexError, match="out of bounds"):
            call(parts.advanced_subtensor_kernel, Toy(), [x, *bad], ("float64", 2))
    none = np.zeros(0, "int64")
    assert call(parts.advanced_subtensor_kernel, Toy(), [x, none, none], ("float64", 1))[0].shape == (0,)


@pytest.mark.parametrize("dtype", DTYPES)
def test_nonzero(dtype):
    for shape in [(0,), (1,), (7,), (1025,), (3, 0, 2), (5, 33), (2, 3, 40)]:
        for _name, x in in_all_layouts(numbers(rng, shape, dtype, -2, 2)):
            got = call(parts.nonzero_kernel, Toy(), [x], *[("int64", 1)] * x.ndim)
            for ours, numpys in zip(got, np.nonzero(x), strict=True):
                np.testing.assert_array_equal(ours, numpys)
    if np.dtype(dtype).kind in "fc":
        odd = np.array([0.0, -0.0, np.nan, np.inf, 1e-7, 0], dtype)
        np.testing.assert_array_equal(call(parts.nonzero_kernel, Toy(), [odd], ("int64", 1))[0], np.nonzero(odd)[0])
    if dtype.startswith("complex"):
        odd = np.array([complex(0, -0.0), complex(-0.0, 0), 1j, complex(-0.0, np.nan)], dtype)
        np.testing.assert_array_equal(call(parts.nonzero_kernel, Toy(), [odd], ("int64", 1))[0], np.nonzero(odd)[0])


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "bool"])
def test_each_bit_alone_is_not_0(dtype):
    """2.0 has one bit set, as has the smallest number; only that of a sign says nothing."""
    word = np.dtype("uint64") if np.dtype(dtype).itemsize > 8 else np.dtype(f"uint{8 * np.dtype(dtype).itemsize}")
    bits = np.left_shift(np.ones((), word), np.arange(8 * word.itemsize, dtype=word))
    x = (bits if word.itemsize == np.dtype(dtype).itemsize else np.stack([bits, 0 * bits, 0 * bits, bits], 1)).view(dtype).reshape(-1)
    np.testing.assert_array_equal(call(parts.nonzero_kernel, Toy(), [x], ("int64", 1))[0], np.nonzero(x)[0])


def test_what_only_python_can_do():
    vector = np.zeros(3, "int64")
    n = node(Toy(idx_list=(MARK,), **VIEW), [np.zeros((2, 2)), vector], [("float64", 2)])
    assert not is_accepted(parts.subtensor_kernel, n)
    n = node(Toy(), [Array("object", (False,))(), vector], [("object", 1)])
    assert not is_accepted(parts.advanced_subtensor_kernel, n)
