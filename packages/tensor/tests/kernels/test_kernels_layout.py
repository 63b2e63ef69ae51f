"""Views, copies and new arrays against NumPy, through the library that was built with the layer."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from kernel_harness import call, run, scalar
from kernel_toys import DTYPES, VIEW, Array, Toy, node, stretching
from layouts import in_all_layouts, numbers

from theano.tensor.kernels import layout

rng = np.random.default_rng(0)


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
    lengths = [scalar(2), scalar(4, "int8"), scalar(5)]
    filled = call(layout.alloc_kernel, Toy(), [stretching(value), *lengths], (dtype, 3))
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
            kernel = layout.alloc_kernel(n.op, n)
            if kernel is None:
                assert source.startswith("complex") and not target.startswith("complex")
                continue
            want = np.broadcast_to(value.astype(target), (2, 4))
            np.testing.assert_array_equal(run(kernel, n, [value, scalar(2), scalar(4)])[0], want)
    with pytest.raises(ValueError, match=r"shape \(3,\) does not fit in one of shape \(2, 4\)"):
        call(layout.alloc_kernel, Toy(), [np.zeros(3), scalar(2), scalar(4)], ("float64", 2))
    with pytest.raises(ValueError, match=r"shape \(1,\) .* only if the variable's type says"):
        call(layout.alloc_kernel, Toy(), [np.zeros(1), scalar(4)], ("float64", 1))
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


def test_what_only_python_can_do():
    obj = Array("object", (False,))()
    assert layout.copy_kernel(Toy(), node(Toy(), [obj], [("float64", 1)])) is None
