"""Views, copies and new arrays against NumPy, through the library that was built with the layer."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from kernel_harness import call, run, scalar
from kernel_toys import DTYPES, VIEW, Array, Toy, is_accepted, node, stretching
from layouts import in_all_layouts, laid_out, numbers

from portion import portion
from theano.tensor.create import lowering as create
from theano.tensor.elemwise.lowering import dimshuffle_kernel
from theano.tensor.join import lowering as join
from theano.tensor.shape import lowering as layout

rng = np.random.default_rng(0)


def test_dimshuffle():
    for dtype in DTYPES:
        for name, x in in_all_layouts(numbers(rng, (2, 3, 4), dtype)):
            for order in [(2, 0, 1), ("x", 1, 0, 2), (0, "x", 1, 2, "x")]:
                want = x.transpose([d for d in order if d != "x"])
                for i, d in enumerate(order):
                    want = np.expand_dims(want, i) if d == "x" else want
                for attributes in (VIEW, {}):
                    result = call(dimshuffle_kernel, Toy(new_order=order, **attributes), [x], (dtype, len(order)))
                    np.testing.assert_array_equal(result[0], want, err_msg=name)
                    assert result.views == (bool(attributes),)
    x = np.zeros((1, 3))
    assert call(dimshuffle_kernel, Toy(new_order=(1,), **VIEW), [x], ("float64", 1))[0].shape == (3,)
    with pytest.raises(ValueError, match="dimension 0 is dropped, but has length 2"):
        call(dimshuffle_kernel, Toy(new_order=(1,), **VIEW), [np.zeros((2, 3))], ("float64", 1))


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
            joined = call(join.join_kernel, Toy(view=-1), [scalar(axis, "int8"), x, other, x], (dtype, 3))
            np.testing.assert_array_equal(joined[0], np.concatenate([x, other, x], axis))
            sizes = np.array([x.shape[axis] - 1, 0, 1] if x.shape[axis] else [0, 0, 0], "int32")
            for attributes in ({"view_map": {i: [0] for i in range(3)}}, {}):
                parts = call(join.split_kernel, Toy(**attributes), [x, scalar(axis), sizes], *[(dtype, 3)] * 3)
                for part, want in zip(parts, np.split(x, np.cumsum(sizes)[:-1], axis), strict=True):
                    np.testing.assert_array_equal(part, want)
    value = numbers(rng, (4, 1), dtype)
    lengths = [scalar(2), scalar(4, "int8"), scalar(5)]
    filled = call(create.alloc_kernel, Toy(), [stretching(value), *lengths], (dtype, 3))
    np.testing.assert_array_equal(filled[0], np.broadcast_to(value, (2, 4, 5)))


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
def test_copies_that_threads_share(dtype):
    long = numbers(rng, (2**21 + 13,), dtype)
    for x in (long, long[::2], long[::-1], long[1:]):
        result = call(layout.copy_kernel, Toy(), [x], (dtype, 1))
        np.testing.assert_array_equal(result[0], x)
        assert result.pieces > 1 or x.nbytes < 2**21
    for shape in ((533, 701), (67, 129, 35), (3, 300, 201)):
        x = np.resize(long, shape)
        for axes in itertools.permutations(range(x.ndim)):
            y = x.transpose(axes)
            for z in (y, y[::-1], y[..., ::2], y[:, 1:], np.broadcast_to(y[:1], y.shape)):
                np.testing.assert_array_equal(call(layout.copy_kernel, Toy(), [z], (dtype, x.ndim))[0], z)


def test_alloc_converts_and_checks():
    for source in DTYPES:
        for target in DTYPES:
            value = np.array([0, 1, 3, 100]).astype(source)
            n = node(Toy(), [value, scalar(2), scalar(4)], [(target, 2)])
            if not is_accepted(create.alloc_kernel, n):
                assert source.startswith("complex") and not target.startswith("complex")
                continue
            kernel = create.alloc_kernel(n.op, n)
            want = np.broadcast_to(value.astype(target), (2, 4))
            np.testing.assert_array_equal(run(kernel, n, [value, scalar(2), scalar(4)])[0], want)
    with pytest.raises(ValueError, match=r"shape \(3,\) does not fit in one of shape \(2, 4\)"):
        call(create.alloc_kernel, Toy(), [np.zeros(3), scalar(2), scalar(4)], ("float64", 2))
    with pytest.raises(ValueError, match=r"shape \(1,\) .* only if the variable's type says"):
        call(create.alloc_kernel, Toy(), [np.zeros(1), scalar(4)], ("float64", 1))
    with pytest.raises(ValueError, match="negative"):
        call(create.alloc_kernel, Toy(), [np.zeros(()), scalar(-2)], ("float64", 1))
    assert call(create.alloc_empty_kernel, Toy(), [scalar(3), scalar(0)], ("int8", 2))[0].shape == (3, 0)


def test_big_integers_survive_conversion():
    big = np.array([2**63 + 5, 2**64 - 1], "uint64")
    for target in ("uint64", "int64", "float64", "float32", "bool"):
        got = call(create.alloc_kernel, Toy(), [big, scalar(2)], (target, 1))[0]
        np.testing.assert_array_equal(got, big.astype(target))


def test_what_is_not_0_is_true():
    for value in (np.array([0.5, 0, -0.0, np.nan, 256, -1e-300]), np.array([256, 0, -1, 2**62]), np.array([0.25, 0, 512], "float16")):
        got = call(create.alloc_kernel, Toy(), [value, scalar(len(value))], ("bool", 1))[0]
        np.testing.assert_array_equal(got, value.astype(bool))


@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
@pytest.mark.parametrize("axis", [1, 2])
def test_rows_of_a_join(dtype, axis):
    """Packed tensors run by run, around the length from which runs are; others, and too many, one after the other."""
    rng = np.random.default_rng(7)
    for lengths in [(1, 1), (0, 5), (15, 17), (16, 16), (17, 14, 1), (3, 400), (2,) * 31, (20,) * 32, (20,) * 33]:
        shapes = [tuple(length if d == axis else (7, 3, 5)[d] for d in range(3)) for length in lengths]
        parts = [numbers(rng, shape, dtype) for shape in shapes]
        want = np.concatenate(parts, axis)
        for way in ("C", "F", "offset"):
            there = [laid_out(part, way) if k == len(parts) - 1 else part for k, part in enumerate(parts)]
            got = call(join.join_kernel, Toy(view=-1), [scalar(axis, "int8"), *there], (dtype, 3))[0]
            np.testing.assert_array_equal(got, want, err_msg=f"{lengths} {way}")


def test_errors_of_join_and_split():
    x = np.zeros((2, 3))
    with pytest.raises(ValueError, match=r"tensor 1 has shape \(2, 4\).*differ along axis 1"):
        call(join.join_kernel, Toy(view=-1), [scalar(0), x, np.zeros((2, 4))], ("float64", 2))
    with pytest.raises(IndexError, match="Join axis 2 out of bounds"):
        call(join.join_kernel, Toy(view=-1), [scalar(2), x, x], ("float64", 2))
    for sizes, text in [([1, 1], "add up to 2"), ([4, -1], "negative"), ([3], "2 pieces, but 1")]:
        with pytest.raises(ValueError, match=text):
            call(join.split_kernel, Toy(), [x, scalar(1), np.array(sizes)], *[("float64", 2)] * 2)


def test_shapes_and_vectors():
    x = np.zeros((4, 0, 3), "int8")
    np.testing.assert_array_equal(call(layout.shape_kernel, Toy(), [x], ("int64", 1))[0], x.shape)
    assert call(layout.shape_i_kernel, Toy(i=2), [x], ("int64", 0))[0] == 3
    assert call(layout.shape_kernel, Toy(), [np.zeros(())], ("int64", 1))[0].shape == (0,)
    parts = [scalar(v, "float32") for v in (1, 2.5, -3)]
    np.testing.assert_array_equal(call(join.make_vector_kernel, Toy(), parts, ("float32", 1))[0], [1, 2.5, -3])


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in ("bool", "float16", "complex64", "complex128")])
def test_arange(dtype):
    for start, stop, step in [(0, 10, 1), (3, 20, 4), (10, 0, -3), (5, 5, 1), (0, -4, 1), (0, 7, 7)]:
        if dtype.startswith("u") and step < 0:
            continue
        got = call(create.arange_kernel, Toy(), [scalar(v) for v in (start, stop, step)], (dtype, 1))[0]
        np.testing.assert_array_equal(got, np.arange(start, stop, step, dtype))
    for start, stop, step in [(0, 1, 0.1), (0.5, 20, 1.7), (3, -3, -0.75)] if dtype.startswith("f") else []:
        got = call(create.arange_kernel, Toy(), [scalar(v, "float64") for v in (start, stop, step)], (dtype, 1))[0]
        np.testing.assert_array_equal(got, np.arange(start, stop, step, dtype))
    with pytest.raises(ZeroDivisionError):
        call(create.arange_kernel, Toy(), [scalar(v) for v in (0, 5, 0)], (dtype, 1))


# -- repeats and diagonals ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_repeat(dtype):
    for shape in [(0,), (5,), (3, 4), (2, 3, 5)]:
        for name, x in in_all_layouts(numbers(rng, shape, dtype)):
            for axis in [None, *range(-x.ndim, x.ndim)]:
                n = x.size if axis is None else x.shape[axis]
                for repeats in (np.array(3), np.array([2], "int8"), rng.integers(0, 4, n), np.zeros(n, "uint8")):
                    want = np.repeat(x, repeats, axis)
                    got = call(layout.repeat_kernel, Toy(axis=axis), [x, repeats], (dtype, want.ndim))[0]
                    assert got.shape == want.shape
                    np.testing.assert_array_equal(got, want, err_msg=name)
    for repeats, words in [(np.array([1, 2]), "2 numbers of repeats are given for 3"), (np.array(-1), "negative"),
                           (np.array([2**62, 2**62, 2**62]), "too large")]:  # fmt: skip
        with pytest.raises((ValueError, MemoryError), match=words):
            call(layout.repeat_kernel, Toy(axis=0), [np.zeros(3), repeats], ("float64", 1))


def test_specify_shape():
    x = np.zeros((2, 0, 3))
    result = call(layout.specify_shape_kernel, Toy(**VIEW), [x, np.array([2, 0, 3], "int8")], ("float64", 3))
    assert result.views == (True,) and result[0].shape == x.shape
    for wrong in ([2, 0, 4], [2, 0], [2, 0, 3, 1], []):
        with pytest.raises(AssertionError, match=r"expected shape \(.*, got \(2, 0, 3\)"):
            call(layout.specify_shape_kernel, Toy(**VIEW), [x, np.array(wrong, "int64")], ("float64", 3))


@pytest.mark.parametrize("dtype", DTYPES)
def test_diagonals(dtype):
    axes = [(0, 1), (1, 0), (-1, 0)]
    laid = [given for shape in [(4, 4), (3, 6), (5, 2), (0, 3), (3, 4, 2)] for given in in_all_layouts(numbers(rng, shape, dtype))]
    table = itertools.product(laid, axes, (0, 1, -2, 9, -9))
    for (name, x), (first, second), offset in portion(table, 4, which=DTYPES.index(dtype)):
        want = x.diagonal(offset, first, second)
        for how in ({}, VIEW):
            op = Toy(offset=offset, axis1=first, axis2=second, **how)
            got = call(layout.extract_diagonal_kernel, op, [x], (dtype, x.ndim - 1))
            assert got[0].shape == want.shape and got.views == (bool(how),)
            np.testing.assert_array_equal(got[0], want, err_msg=name)
        y, into = numbers(rng, want.shape, dtype), x.copy()
        window = into.diagonal(offset, first, second)
        window.flags.writeable = True
        window[...] = y
        got = call(layout.set_diagonal_kernel, op, [x, y], (dtype, x.ndim))[0]
        np.testing.assert_array_equal(got, into, err_msg=name)
    with pytest.raises(ValueError, match=r"\(1,\) does not fit in one of shape \(3,\).*only if"):
        call(layout.set_diagonal_kernel, Toy(offset=0, axis1=0, axis2=1), [np.zeros((3, 3)), np.ones(1)], ("float64", 2))


@pytest.mark.parametrize("dtype", DTYPES)
def test_alloc_diagonal_and_eye(dtype):
    for shape in [(0,), (4,), (2, 3)]:
        for name, x in in_all_layouts(numbers(rng, shape, dtype)):
            for offset in (0, 2, -1):
                for first, second in [(0, 1), (-1, 0)]:
                    size = x.shape[-1] + abs(offset)
                    want = np.moveaxis(np.zeros((*x.shape[:-1], size, size), dtype), (-2, -1), (first, second)).copy()
                    window = want.diagonal(offset, first, second)
                    window.flags.writeable = True
                    window[...] = x
                    op = Toy(offset=offset, axis1=first, axis2=second)
                    got = call(layout.alloc_diagonal_kernel, op, [x], (dtype, x.ndim + 1))[0]
                    assert got.shape == want.shape
                    np.testing.assert_array_equal(got, want, err_msg=name)
    for rows, columns in [(0, 3), (3, 0), (1, 1), (4, 4), (3, 7), (9, 2)]:
        for k in (0, 1, -1, 5, -5, 2**62, -(2**62)):
            for below, numpys in ((False, np.eye), (True, np.tri)):
                inputs = [scalar(rows), scalar(columns, "int8"), scalar(k)]
                got = call(create.tri_kernel if below else create.eye_kernel, Toy(), inputs, (dtype, 2))[0]
                wanted = numpys(rows, columns, max(-20, min(k, 20)), dtype=dtype)
                np.testing.assert_array_equal(got, wanted)
    with pytest.raises(ValueError, match="negative"):
        call(create.eye_kernel, Toy(), [scalar(-1), scalar(2), scalar(0)], ("int8", 2))


def test_what_only_python_can_do():
    obj = Array("object", (False,))()
    assert not is_accepted(layout.copy_kernel, node(Toy(), [obj], [("float64", 1)]))
