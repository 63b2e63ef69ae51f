"""Views, copies, indexing and new arrays against NumPy, through the library that was built with the layer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_harness import run
from kernel_toys import Array, Toy, node
from layouts import in_all_layouts, laid_out, numbers

from theano.tensor.kernels import layout

DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()
VIEW = {"view_map": {0: [0]}}
rng = np.random.default_rng(0)


def scalar(value, dtype="int64"):
    return np.asarray(value, dtype)


def call(kernel_of, op, inputs, *outputs):
    n = node(op, inputs, list(outputs))
    kernel = kernel_of(op, n)
    assert kernel is not None
    return run(kernel, n, inputs)


def test_dimshuffle():
    for dtype in DTYPES:
        for name, x in in_all_layouts(numbers(rng, (2, 3, 4), dtype)):
            for order in [(2, 0, 1), ("x", 1, 0, 2), (0, "x", 1, 2, "x")]:
                want = x.transpose([d for d in order if d != "x"])
                for i, d in enumerate(order):
                    want = np.expand_dims(want, i) if d == "x" else want
                for attributes in (VIEW, {}):
                    result = call(layout.dimshuffle_kernel, Toy(new_order=order, **attributes), [x], (dtype, len(order)))
                    np.testing.assert_array_equal(result[0], want, err_msg=name)
                    assert result.views == (bool(attributes),)
    x = np.zeros((1, 3))
    assert call(layout.dimshuffle_kernel, Toy(new_order=(1,), **VIEW), [x], ("float64", 1))[0].shape == (3,)
    with pytest.raises(ValueError, match="dimension 0 is dropped, but has length 2"):
        call(layout.dimshuffle_kernel, Toy(new_order=(1,), **VIEW), [np.zeros((2, 3))], ("float64", 1))


@pytest.mark.parametrize("shape", [(6, 4), (2, 3, 4), (24,), (1, 24, 1), (4, 1, 6)])
def test_reshape(shape):
    for target in [(24,), (4, 6), (2, 12), (2, 2, 6), (-1,), (3, -1), (1, 24), (24, 1, 1), (2, 3, 2, 2), (2, 3, 4)]:
        for name, x in in_all_layouts(np.arange(24.0).reshape(shape)):
            if name == "empty":
                continue
            lengths = np.array(target)
            result = call(layout.reshape_kernel, Toy(**VIEW), [x, lengths], ("float64", len(target)))
            np.testing.assert_array_equal(result[0], x.reshape(target), err_msg=f"{name} {target}")
            if np.shares_memory(x, x.reshape(target)):
                assert result.views == (True,), f"{name} {shape} {target}"


def test_reshape_of_nothing_and_of_one():
    for shape, target in [((0, 3), (3, 0)), ((0,), (0, 5)), ((0, 3), (-1, 3)), ((), (1, 1)), ((1, 1), ()), ((1,), (-1,))]:
        result = call(layout.reshape_kernel, Toy(**VIEW), [np.zeros(shape), np.array(target, "int64")], ("float64", len(target)))
        assert result[0].shape == np.zeros(shape).reshape(target).shape
    for target in [(5,), (-1, 4), (-1, -1), (-2, -3), (0, -1), (2**62, 4)]:
        with pytest.raises(ValueError, match="cannot reshape 6 elements"):
            call(layout.reshape_kernel, Toy(**VIEW), [np.zeros((2, 3)), np.array(target)], ("float64", len(target)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_copy_alloc_join_split(dtype):
    for _name, x in in_all_layouts(numbers(rng, (3, 40, 33), dtype)):
        result = call(layout.copy_kernel, Toy(), [x], (dtype, 3))
        np.testing.assert_array_equal(result[0], x)
        for axis in (0, 1, -1):
            other = numbers(rng, tuple(2 if d == axis % 3 else n for d, n in enumerate(x.shape)), dtype)
            joined = call(layout.join_kernel, Toy(view=-1), [scalar(axis, "int8"), x, other, x], (dtype, 3))
            np.testing.assert_array_equal(joined[0], np.concatenate([x, other, x], axis))
            sizes = np.array([x.shape[axis] - 1, 0, 1] if x.shape[axis] else [0, 0, 0], "int32")
            for attributes in ({"view_map": {i: [0] for i in range(3)}}, {}):
                parts = call(layout.split_kernel, Toy(**attributes), [x, scalar(axis), sizes], *[(dtype, 3)] * 3)
                for part, want in zip(parts, np.split(x, np.cumsum(sizes)[:-1], axis), strict=True):
                    np.testing.assert_array_equal(part, want)
    value = numbers(rng, (4, 1), dtype)
    filled = call(layout.alloc_kernel, Toy(), [value, scalar(2), scalar(4, "int8"), scalar(5)], (dtype, 3))
    np.testing.assert_array_equal(filled[0], np.broadcast_to(value, (2, 4, 5)))


def test_alloc_converts_and_checks():
    for source in DTYPES:
        for target in DTYPES:
            value = np.array([0, 1, 3, 100]).astype(source)
            n = node(Toy(), [value, scalar(2), scalar(4)], [(target, 2)])
            kernel = layout.alloc_kernel(n.op, n)
            if kernel is None:
                assert source.startswith("complex") and not target.startswith("complex")
                continue
            want = np.broadcast_to(value.astype(target), (2, 4))
            np.testing.assert_array_equal(run(kernel, n, [value, scalar(2), scalar(4)])[0], want)
    with pytest.raises(ValueError, match=r"shape \(3,\) to shape \(2, 4\)"):
        call(layout.alloc_kernel, Toy(), [np.zeros(3), scalar(2), scalar(4)], ("float64", 2))
    with pytest.raises(ValueError, match="negative"):
        call(layout.alloc_kernel, Toy(), [np.zeros(()), scalar(-2)], ("float64", 1))
    assert call(layout.alloc_empty_kernel, Toy(), [scalar(3), scalar(0)], ("int8", 2))[0].shape == (3, 0)


def test_big_integers_survive_conversion():
    big = np.array([2**63 + 5, 2**64 - 1], "uint64")
    for target in ("uint64", "int64", "float64", "float32", "bool"):
        got = call(layout.alloc_kernel, Toy(), [big, scalar(2)], (target, 1))[0]
        np.testing.assert_array_equal(got, big.astype(target))


def test_errors_of_join_and_split():
    x = np.zeros((2, 3))
    with pytest.raises(ValueError, match=r"tensor 1 has shape \(2, 4\).*differ along axis 1"):
        call(layout.join_kernel, Toy(view=-1), [scalar(0), x, np.zeros((2, 4))], ("float64", 2))
    with pytest.raises(IndexError, match="Join axis 2 out of bounds"):
        call(layout.join_kernel, Toy(view=-1), [scalar(2), x, x], ("float64", 2))
    for sizes, text in [([1, 1], "add up to 2"), ([4, -1], "negative"), ([3], "2 pieces, but 1")]:
        with pytest.raises(ValueError, match=text):
            call(layout.split_kernel, Toy(), [x, scalar(1), np.array(sizes)], *[("float64", 2)] * 2)


def test_shapes_and_vectors():
    x = np.zeros((4, 0, 3), "int8")
    np.testing.assert_array_equal(call(layout.shape_kernel, Toy(), [x], ("int64", 1))[0], x.shape)
    assert call(layout.shape_i_kernel, Toy(i=2), [x], ("int64", 0))[0] == 3
    assert call(layout.shape_kernel, Toy(), [np.zeros(())], ("int64", 1))[0].shape == (0,)
    parts = [scalar(v, "float32") for v in (1, 2.5, -3)]
    np.testing.assert_array_equal(call(layout.make_vector_kernel, Toy(), parts, ("float32", 1))[0], [1, 2.5, -3])


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in ("bool", "float16", "complex64", "complex128")])
def test_arange(dtype):
    for start, stop, step in [(0, 10, 1), (3, 20, 4), (10, 0, -3), (5, 5, 1), (0, -4, 1), (0, 7, 7)]:
        if dtype.startswith("u") and step < 0:
            continue
        got = call(layout.arange_kernel, Toy(), [scalar(v) for v in (start, stop, step)], (dtype, 1))[0]
        np.testing.assert_array_equal(got, np.arange(start, stop, step, dtype))
    for start, stop, step in [(0, 1, 0.1), (0.5, 20, 1.7), (3, -3, -0.75)] if dtype.startswith("f") else []:
        got = call(layout.arange_kernel, Toy(), [scalar(v, "float64") for v in (start, stop, step)], (dtype, 1))[0]
        np.testing.assert_array_equal(got, np.arange(start, stop, step, dtype))
    with pytest.raises(ZeroDivisionError):
        call(layout.arange_kernel, Toy(), [scalar(v) for v in (0, 5, 0)], (dtype, 1))


# -- indexing ------------------------------------------------------------------------------------------

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
@settings(max_examples=500, deadline=None)
def test_basic_subtensor(case):
    shape, index, listed, inputs, kind = case
    x = laid_out(np.arange(float(np.prod(shape))).reshape(shape), kind)
    kept = len(shape) - sum(not isinstance(e, slice) for e in index)
    n = node(Toy(idx_list=listed, **VIEW), [x, *inputs], [("float64", kept)])
    kernel = layout.subtensor_kernel(n.op, n)
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
@settings(max_examples=400, deadline=None)
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
    n = node(op, [x, y, *inputs], [("float64", len(shape))])
    kernel = layout.inc_subtensor_kernel(op, n)
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
    np.testing.assert_array_equal(call(layout.inc_subtensor_kernel, op, [x, y], (dtype, 2))[0], want)
    with pytest.raises(ValueError, match=r"shape \(3, 5\) into a subtensor of shape \(2, 5\)"):
        call(layout.inc_subtensor_kernel, op, [x, np.zeros((3, 5), dtype)], (dtype, 2))


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows(dtype):
    for kind in ("C", "F", "negative", "step2", "stretched"):
        for shape in [(6,), (6, 3), (6, 2, 4), (6, 1), (6, 0)]:
            x = laid_out(numbers(rng, shape, dtype), kind)
            for rows in (np.array([0, 5, -1, -6, 2, 2], "int64"), np.array([3], "uint8"), np.zeros(0, "int32"), np.arange(12, dtype="int16")[1:9:2] - 3):
                got = call(layout.advanced_subtensor1_kernel, Toy(), [x, rows], (dtype, x.ndim))[0]
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
                    got = call(layout.advanced_inc_subtensor1_kernel, op, [x, y, rows], (dtype, x.ndim))[0]
                    np.testing.assert_array_equal(got, want)
    for bad in (6, -7):
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 6"):
            call(layout.advanced_subtensor1_kernel, Toy(), [np.zeros(6), np.array([0, bad])], ("float64", 1))
    x = np.zeros(6)
    with pytest.raises(IndexError):
        op = Toy(set_instead_of_inc=True, destroy_map={0: [0]})
        call(layout.advanced_inc_subtensor1_kernel, op, [x, np.ones(2), np.array([0, 6])], ("float64", 1))
    assert not x.any()


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 255, 256, 257, 1023, 1024, 1025])
@pytest.mark.parametrize("y_dtype", ["float32", "float64", "int8", "bool"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_long_lists_of_rows(n, dtype, y_dtype):
    """More rows than are checked at once, in every order and more than once, values of another dtype."""
    for shape in [(300,), (300, 5), (300, 1), (300, 2, 3)]:
        x = numbers(rng, shape, dtype)
        rows = rng.integers(-300, 300, n)
        got = call(layout.advanced_subtensor1_kernel, Toy(), [x, rows], (dtype, x.ndim))[0]
        np.testing.assert_array_equal(got, x[rows])
        got = call(layout.advanced_subtensor1_kernel, Toy(), [x, rows.astype("int32")], (dtype, x.ndim))[0]
        np.testing.assert_array_equal(got, x[rows])
        for y in (numbers(rng, (n, *shape[1:]), y_dtype), numbers(rng, (), y_dtype), numbers(rng, shape[1:], y_dtype)):
            y = np.asarray(y)
            for set_it in (False, True):
                want = x.copy()
                full = np.broadcast_to(y, (n, *shape[1:])).astype(dtype)
                for k, i in enumerate(rows):
                    want[i] = full[k] if set_it else want[i] + full[k]
                op = Toy(set_instead_of_inc=set_it)
                got = call(layout.advanced_inc_subtensor1_kernel, op, [x, y, rows], (dtype, x.ndim))[0]
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("where", [0, 255, 256, 700])
@pytest.mark.parametrize("bad", [300, -301, 2**63 - 1, -(2**63)])
def test_a_bad_row_among_many_is_found_before_anything_is_written(where, bad):
    x = np.zeros((300, 2))
    rows = rng.integers(-300, 300, 701)
    rows[where] = bad
    message = f"index {bad} is out of bounds for axis 0 with size 300"
    with pytest.raises(IndexError, match=message):
        call(layout.advanced_subtensor1_kernel, Toy(), [x[:, 0], rows], ("float64", 1))
    with pytest.raises(IndexError, match=message):
        call(layout.advanced_subtensor1_kernel, Toy(), [x, rows], ("float64", 2))
    for set_it in (False, True):
        op = Toy(set_instead_of_inc=set_it, destroy_map={0: [0]})
        with pytest.raises(IndexError, match=message):
            call(layout.advanced_inc_subtensor1_kernel, op, [x, np.ones((701, 2)), rows], ("float64", 2))
        assert not x.any()


def test_what_only_python_can_do():
    obj = Array("object", (False,))()
    assert layout.copy_kernel(Toy(), node(Toy(), [obj], [("float64", 1)])) is None
    vector = np.zeros(3, "int64")
    n = node(Toy(idx_list=(MARK,), **VIEW), [np.zeros((2, 2)), vector], [("float64", 2)])
    assert layout.subtensor_kernel(n.op, n) is None
