"""Reading and writing parts, against NumPy: thousands of indexes that hypothesis thinks of."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import run, shapes

import theano
import theano.tensor as T
from theano.tensor.index.lengths import slice_length

SHAPES = st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple)


@st.composite
def slices(draw, symbolic=False):
    ends = st.none() | st.integers(-6, 6)
    return slice(draw(ends), draw(ends), draw(st.none() | st.integers(-3, 3).filter(bool)))


@st.composite
def indexed(draw, advanced: bool):
    """Return a shape and an index for it."""
    shape = draw(SHAPES)
    entries: list = []
    axis = 0
    lengths = draw(st.sampled_from([(2,), (3,), (1,), (2, 2)]))
    while axis < len(shape):
        n = shape[axis]
        kinds = ["slice", "none"] + ["int"] * bool(n) + (["array", "mask"] if advanced else [])
        kind = draw(st.sampled_from(kinds))
        if kind == "none":
            if len(entries) < 5:
                entries.append(None)
            continue
        if kind == "slice":
            entries.append(draw(slices()))
        elif kind == "int":
            entries.append(draw(st.integers(-n, n - 1)))
        elif kind == "array":
            size = int(np.prod(lengths))
            if n == 0:
                entries.append(slice(None))
            else:
                places = draw(st.lists(st.integers(-n, n - 1), min_size=size, max_size=size))
                entries.append(np.array(places, dtype="int64").reshape(lengths))
        else:
            entries.append(np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool))
        axis += 1
        if draw(st.integers(0, 5)) == 0:
            break
    if draw(st.integers(0, 4)) == 0 and not any(isinstance(e, np.ndarray) for e in entries):
        entries.append(Ellipsis)
    return shape, tuple(entries)


def symbols(index):
    """Return an index with symbols in place of some numbers, and the values of these."""
    values = {}

    def symbol(number):
        if number is None:
            return None
        s = T.lscalar()
        values[s] = number
        return s

    out = []
    for i, e in enumerate(index):
        if isinstance(e, slice):
            out.append(slice(symbol(e.start), e.stop, symbol(e.step)) if i % 2 else e)
        elif isinstance(e, int):
            out.append(symbol(e) if i % 2 else e)
        elif isinstance(e, np.ndarray):
            v = T.TensorType(e.dtype.name, (False,) * e.ndim)()
            values[v] = e
            out.append(v)
        else:
            out.append(e)
    return tuple(out), values


def numpy_accepts(value, index):
    try:
        return value[index]
    except IndexError:
        return None


def check_read(shape, index):
    value = np.arange(float(np.prod(shape))).reshape(shape)
    expected = numpy_accepts(value, index)
    if expected is None:
        return
    x = T.TensorType("float64", (False,) * len(shape))("x")
    for symbolic in (False, True):
        written, extra = symbols(index) if symbolic else (index, {})
        out = x[written]
        actual = run(out, {x: value, **extra})
        np.testing.assert_array_equal(actual, expected)
        if out.owner is not None:
            assert shapes(out.owner, {x: value, **extra}) == [expected.shape]


def check_write(shape, index, mode):
    value = np.arange(float(np.prod(shape))).reshape(shape)
    part = numpy_accepts(value, index)
    if part is None:
        return
    x = T.TensorType("float64", (False,) * len(shape))("x")
    out = x[index]
    if out is x or all(e is None or e is Ellipsis or isinstance(e, slice) and e == slice(None) for e in index):
        return
    y = np.random.default_rng(0).normal(size=part.shape)
    expected = value.copy()
    if mode == "set":
        # Where one place is written twice, which value stays is nobody's promise.
        y = np.full(part.shape, 9.0)
        expected[index] = y
    else:
        np.add.at(expected, index, y)
    function = T.set_subtensor if mode == "set" else T.inc_subtensor
    target = T.TensorType("float64", out.broadcastable)("y")
    np.testing.assert_allclose(run(function(out, target), {x: value, target: y}), expected)


@settings(max_examples=250, deadline=None)
@given(indexed(advanced=False))
def test_basic_read(case):
    check_read(*case)


@settings(max_examples=250, deadline=None)
@given(indexed(advanced=True))
def test_advanced_read(case):
    check_read(*case)


@settings(max_examples=200, deadline=None)
@given(indexed(advanced=False), st.sampled_from(["set", "inc"]))
def test_basic_write(case, mode):
    check_write(*case, mode)


@settings(max_examples=200, deadline=None)
@given(indexed(advanced=True), st.sampled_from(["set", "inc"]))
def test_advanced_write(case, mode):
    check_write(*case, mode)


def test_the_length_of_a_slice_of_known_numbers_is_a_constant():
    ends, i = (None, -6, -2, -1, 0, 1, 2, 6), T.lscalar("i")
    for start, stop, step, length in itertools.product(ends, ends, (None, -2, -1, 1, 3), range(5)):
        for known in (slice(start, stop, step), slice(*(None if e is None else T.constant(e) for e in (start, stop, step)))):
            count = slice_length(known, T.constant(length))
            assert isinstance(count, T.Constant) and count.data == len(range(length)[start:stop:step]), (known, length)
    for unknown in (slice(i, 3), slice(0, i), slice(None, 3, i), slice(i, None)):
        for value in (-2, -1, 1, 2):
            numbers = (value if e is i else e for e in (unknown.start, unknown.stop, unknown.step))
            assert run(slice_length(unknown, T.constant(4)), {i: value}) == len(range(4)[slice(*numbers)])


def test_the_length_of_a_part_is_told_by_the_slice_of_a_vector_alone():
    v, m = T.constant([1.0, 2.0, 3.0, 4.0]), T.constant(np.ones((4, 3)))
    i = T.lscalar("i")
    known = T.stack([i, i, i, i])
    for part, length in ((v[1:], 3), (known[::2], 2), (known[1:][:-1], 2)):
        assert T.get_vector_length(part) == length
    for part in (known[i:], m[i], m[1:, 0], T.Subtensor([])(T.dvector())):
        with pytest.raises(ValueError, match="known only at run time"):
            T.get_vector_length(part)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_perform_writes_what_is_stretched_without_storing_it_stretched(dtype):
    x, r = T.TensorType(dtype, (False, False))("x"), T.TensorType(dtype, (True, False))("r")
    node = T.set_subtensor(x[1:], r, inplace=True).owner
    value, row, cell = np.zeros((1001, 1000), dtype), np.arange(1000, dtype=dtype)[None], [None]
    tracemalloc.start()
    try:
        node.op.perform(node, [value, row, *(v.data for v in node.inputs[2:])], [cell])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert cell[0] is value and (value[1:] == row).all() and not value[0].any()
    assert peak < value.nbytes / 10


def test_text():
    x, i = T.dmatrix("x"), T.iscalar("i")
    assert str(x[i].owner.op) == "Subtensor{int32}"
    assert str(x[0].owner.op) == "Subtensor{int64}"
    assert str(x[1:3, ::2].owner.op) == "Subtensor{int64:int64:, ::int64}"
    assert str(T.inc_subtensor(x[0], 1).owner.op) == "IncSubtensor{Inc;int64}"
    assert str(T.set_subtensor(x[[0]], 1).owner.op) == "AdvancedIncSubtensor1{no_inplace,set}"
    assert x[0].owner.op == x[5].owner.op and x[0].owner.op != x[:, 0].owner.op


def test_in_place():
    x, y = T.dmatrix("x"), T.dvector("y")
    value = np.zeros((3, 4))
    out = T.set_subtensor(x[1], y, inplace=True)
    assert out.owner.op.destroy_map == {0: [0]}
    assert run(out, {x: value, y: np.ones(4)}) is value and value[1].sum() == 4


@pytest.mark.parametrize(
    ("index", "error", "words"),
    [
        (5, IndexError, "out of bounds"), ((0, 0, 0), IndexError, "too many"), ((Ellipsis, Ellipsis), IndexError, "ellipsis"),
        (1.5, IndexError, "whole numbers"), ("a", IndexError, "whole numbers"), ([7], IndexError, "out of bounds"),
        ((slice(None), [1, 9]), IndexError, "out of bounds"), (np.ones(5, bool), IndexError, "boolean|mask"),
        (slice(None, None, 0), ValueError, "zero"),
    ],
)  # fmt: skip
def test_bad_index(index, error, words):
    x = T.dmatrix("x")
    with pytest.raises(error, match=words) as caught:
        run(x[index], {x: np.zeros((3, 4))})
    assert len(str(caught.value).splitlines()) <= 10


def test_bad_writes():
    x, v = T.dmatrix("x"), T.dvector("v")
    with pytest.raises(TypeError, match="subtensor"):
        T.set_subtensor(x, 1)
    with pytest.raises(TypeError, match="dimensional"):
        T.set_subtensor(v[0], v)
    with pytest.raises(TypeError, match="subtensor"):
        T.set_subtensor(T.exp(x), 1)
    with pytest.raises(ValueError, match="does not fit"):
        run(T.set_subtensor(x[0], v), {x: np.zeros((3, 4)), v: np.zeros(3)})


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_a_length_that_happens_to_be_1_is_not_stretched(mode):
    """The type of what is written says what its gradient looks like; see T.addbroadcast."""
    x, v, r = T.dmatrix("x"), T.dvector("v"), T.drow("r")
    value = np.zeros((3, 4))
    for part in (x[0], x[1:], x[[0, 2]], x[[0, 1], [1, 2]], x[T.constant([True, False, True])]):
        for function in (T.set_subtensor, T.inc_subtensor):
            f = theano.function([x, v], function(part, v), mode=mode)
            with pytest.raises(ValueError, match=r"\(1,\) does not fit in .*"):
                f(value, np.ones(1))
    for part in (x[1:], x[[0, 2]]):
        f = theano.function([x, r], T.inc_subtensor(part, r), mode=mode)
        assert f(value, np.ones((1, 4))).sum() == 8
    f = theano.function([v], T.alloc(v, 3, 4), mode=mode)
    with pytest.raises(ValueError, match="only if the variable's type says"):
        f(np.ones(1))
    assert f(np.ones(4)).shape == (3, 4)


def test_c_form_where_numpy_and_perform_agree():
    """Arrays, masks, new axes and slices that are known run compiled; so do those whose ends are symbols, when read."""
    x, i, j, n = T.dtensor3("x"), T.ivector("i"), T.lmatrix("j"), T.lscalar("n")
    m = T.TensorType("bool", (False, False))("m")
    value = np.arange(60.0).reshape(3, 4, 5)
    given = {i: np.array([2, 0, -1], "int32"), j: np.array([[0], [3]]), m: value[:, :, 0] > 20, n: 3}
    for index in [(i, j), (i, slice(None), j), (slice(1, None), i), (None, i, None, j), (m,), (m, i[0]), (slice(None, n), i), (i, slice(n, 0, -2))]:
        out = x[index]
        wanted = run(out, {x: value, **given})
        f = theano.function([x, *given], out, on_unused_input="ignore", mode="FAST_RUN")
        for node in f.maker.fgraph.toposort():
            assert node.op.c_kernel(node) is not None, node
        np.testing.assert_array_equal(f(value, *given.values()), wanted)


def test_a_list_with_slices_is_a_tuple():
    x = T.tensor3("x")
    given = np.arange(24.0).reshape(2, 3, 4)
    every, back = slice(None), slice(None, None, -1)
    indices = [[every, back, every], [1, back], [every, [0, 2]], [back], [0, every, 1], [None, every], [every, T.constant([0, 2])]]
    outputs = theano.function([x], [x[index] for index in indices])(given)
    for index, out in zip(indices, outputs, strict=True):
        whole = tuple(getattr(i, "data", i) if isinstance(i, T.Constant) else i for i in index)
        assert np.array_equal(out, given[whole])
    # A list of numbers alone is one index.
    assert np.array_equal(theano.function([x], x[[1, 0]])(given), given[[1, 0]])


@pytest.mark.parametrize("index", [lambda s, i: (s,), lambda s, i: (s, i), lambda s, i: (i, s)])
def test_slices_as_values(index):
    """A slice may be an argument; only when the function runs is it known where it ends."""
    x, i, part = T.dmatrix("x"), T.lvector("i"), T.slicetype("part")
    read = x[index(part, i)]
    f = theano.function([x, i, part], [read, T.set_subtensor(read, 7.0)], on_unused_input="ignore")
    value, rows = np.arange(25.0).reshape(5, 5), np.array([3, 0, 3])
    for taken in (slice(1, 3), slice(None), slice(None, None, -2), slice(4, 1), slice(-3, None)):
        written = value.copy()
        written[index(taken, rows)] = 7.0
        got = f(value, rows, taken)
        np.testing.assert_array_equal(got[0], value[index(taken, rows)])
        np.testing.assert_array_equal(got[1], written)
