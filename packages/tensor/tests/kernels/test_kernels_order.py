"""Cumulative sums, order and search against NumPy, through the library that was built with the layer."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_harness import call, scalar
from kernel_toys import DTYPES, Toy, is_accepted, node
from layouts import in_all_layouts, laid_out, numbers

from theano.tensor.sort import lowering as order

REAL = [d for d in DTYPES if not d.startswith("complex")]
SIZES = [0, 1, 7, 8, 9, 1023, 1024, 1025]
rng = np.random.default_rng(0)


def odd_numbers(size, dtype):
    """Return numbers with many equals among them, and with nan, infinities and both zeros where there are such."""
    x = numbers(rng, (size,), dtype, -9, 9).round() if np.dtype(dtype).kind in "fc" else numbers(rng, (size,), dtype, -9, 9)
    if np.dtype(dtype).kind in "fc" and size > 8:
        x[rng.integers(0, size, 6)] = [np.nan, np.inf, -np.inf, np.nan, 0.5, -7.25]
    return x


# -- cumulative ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["add", "mul"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_cumulative(dtype, mode):
    """Bit for bit: in NumPy's order, in the type itself. NumPy rounds complex products less often on some CPUs."""
    wanted = np.cumsum if mode == "add" else np.cumprod
    rounding = {"complex64": 1e-6, "complex128": 1e-15}.get(dtype, 0) * 2000 if mode == "mul" else 0
    low, high = (-0.9, 0.9) if rounding else (-2, 3)
    for shape in [(), (0,), (1,), (1025,), (5, 9), (4, 2050), (2050, 3), (3, 0, 2), (2, 7, 5)]:
        for name, x in in_all_layouts(numbers(rng, shape, dtype, low, high)):
            for axis in [None, *range(len(shape)), *range(-len(shape), 0)]:
                want = wanted(x, axis=axis, dtype=dtype)
                got = call(order.cumulate_kernel, Toy(axis=axis, mode=mode), [x], (dtype, want.ndim))[0]
                assert got.shape == want.shape
                if rounding:
                    np.testing.assert_allclose(got, want, rounding, rounding, err_msg=name)
                else:
                    np.testing.assert_array_equal(got, want, err_msg=name)


def test_cumulative_odd_numbers():
    for dtype in ("float16", "float32", "float64"):
        x = np.array([1, np.inf, 2, -np.inf, 3, 0, np.nan, 1], dtype)
        with np.errstate(all="ignore"):
            for mode, wanted in (("add", np.cumsum), ("mul", np.cumprod)):
                got = call(order.cumulate_kernel, Toy(axis=0, mode=mode), [x], (dtype, 1))[0]
                np.testing.assert_array_equal(got, wanted(x, dtype=dtype))


# -- sort ------------------------------------------------------------------------------------------------


sort, argsort = order.sort_kernel, order.argsort_kernel


@pytest.mark.parametrize("kind", ["quicksort", "heapsort", "mergesort", "stable"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sort_of_lines(dtype, kind):
    for size in SIZES:
        x = odd_numbers(size, dtype)
        got = call(sort, Toy(kind=kind), [x, scalar(-1)], (dtype, 1))[0]
        np.testing.assert_array_equal(got, np.sort(x))
        places = call(argsort, Toy(kind=kind), [x, scalar(0, "int8")], ("int64", 1))[0]
        np.testing.assert_array_equal(x[places], np.sort(x))
        np.testing.assert_array_equal(np.sort(places), np.arange(size))
        if kind in ("mergesort", "stable"):
            np.testing.assert_array_equal(places, np.argsort(x, kind="stable"))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "complex64", "bool"])
def test_sort_along_every_axis_of_every_layout(dtype):
    for shape in [(4, 5), (3, 2, 40), (2, 0, 3), (1, 9, 1)]:
        for name, x in in_all_layouts(numbers(rng, shape, dtype)):
            before = x.copy()
            for axis in range(-len(shape), len(shape)):
                got = call(sort, Toy(kind="quicksort"), [x, scalar(axis)], (dtype, x.ndim))[0]
                np.testing.assert_array_equal(got, np.sort(x, axis), err_msg=name)
                got = call(argsort, Toy(kind="stable"), [x, scalar(axis)], ("int64", x.ndim))[0]
                np.testing.assert_array_equal(got, np.argsort(x, axis, kind="stable"), err_msg=name)
            np.testing.assert_array_equal(x, before)
    for axis in (2, -3):
        with pytest.raises(IndexError, match=f"axis {axis} is out of bounds"):
            call(sort, Toy(kind="quicksort"), [np.zeros((2, 2)), scalar(axis)], ("float64", 2))


# -- the k best ------------------------------------------------------------------------------------------


def best(x, k, axis):
    """Return the places that a stable sort gives: of equals, the last of the largest and the first of the smallest."""
    places = np.argsort(x, axis=axis, kind="stable")
    places = np.flip(places, axis) if k > 0 else places
    return np.take(places, np.arange(abs(k)), axis=axis)


@pytest.mark.parametrize("dtype", REAL)
def test_topk(dtype):
    """Few of a line come from a heap, many from a sort; both give the same."""
    op = Toy(axis=0, return_values=True, return_indices=True)
    for size in SIZES[1:]:
        x = odd_numbers(size, dtype)
        for k in {1, 2, 5, 63, 65, size // 2, size - 1, size} - {0}:
            for wanted in (k, -k) if k <= size else ():
                values, places = call(order.topk_kernel, op, [x, scalar(wanted)], (dtype, 1), ("int64", 1))
                np.testing.assert_array_equal(places, best(x, wanted, 0), err_msg=f"{size} {wanted}")
                np.testing.assert_array_equal(values, x[places])


def test_sort_of_half_precision():
    """Many equal numbers, which NumPy's own quicksort of float16 with wide vectors has been seen to leave unordered."""
    x = (np.random.default_rng(4).normal(size=4096) * 50 // 30).astype("float16")
    expected = np.sort(x.astype("float32")).astype("float16")
    got = call(order.sort_kernel, Toy(kind="quicksort"), [x, scalar(0)], ("float16", 1))[0]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "float16"])
@pytest.mark.parametrize("spread", ["normal", "few values", "one value", "sorted", "nan", "sample misleads"])
def test_topk_of_long_lines(dtype, spread):
    """Lines of which a sample says what may be among the best: where it is right, and where it is not."""
    rng = np.random.default_rng(4)
    for n in (4096, 20001):
        x = rng.normal(size=n) * 50
        if spread == "few values":
            x = x // 30
        elif spread == "one value":
            x = x * 0
        elif spread == "sorted":
            x = np.sort(x)
        elif spread == "nan":
            if np.dtype(dtype).kind != "f":
                continue
            x[rng.integers(0, n, n // 3)] = np.nan
        elif spread == "sample misleads":
            x[::32] = 100 + np.arange(len(x[::32])) % 20
        x = x.astype(dtype)
        by_size = np.argsort(x, kind="stable")
        for wanted in (n // 100, -(n // 100), n // 20, -(n // 20), n // 2, n):
            places = by_size[-wanted:][::-1] if wanted > 0 else by_size[:-wanted]
            for values_too in (True, False):
                op = Toy(axis=0, return_values=values_too, return_indices=True)
                outputs = ((dtype, 1), ("int64", 1)) if values_too else (("int64", 1),)
                got = call(order.topk_kernel, op, [x, scalar(wanted)], *outputs)
                np.testing.assert_array_equal(got[-1], places)
            op = Toy(axis=0, return_values=True, return_indices=False)
            alone = call(order.topk_kernel, op, [x, scalar(wanted)], (dtype, 1))[0]
            np.testing.assert_array_equal(alone, x[places])


@pytest.mark.parametrize("dtype", ["float64", "int8", "float16"])
def test_topk_along_every_axis_of_every_layout(dtype):
    for shape in [(4, 5), (3, 2, 40), (1, 9, 1)]:
        for name, x in in_all_layouts(numbers(rng, shape, dtype)):
            for axis in range(-len(shape), len(shape)):
                for k in (1, -1, x.shape[axis], -x.shape[axis]) if x.shape[axis] else ():
                    want = best(x, k, axis)
                    op = Toy(axis=axis, return_values=True, return_indices=False)
                    got = call(order.topk_kernel, op, [x, scalar(k, "int8")], (dtype, x.ndim))[0]
                    np.testing.assert_array_equal(got, np.take_along_axis(x, want, axis), err_msg=name)
                    op = Toy(axis=axis, return_values=False, return_indices=True)
                    got = call(order.topk_kernel, op, [x, scalar(k)], ("int16", x.ndim))[0]
                    np.testing.assert_array_equal(got, want, err_msg=name)
    op = Toy(axis=1, return_values=True, return_indices=False)
    for k in (0, 4, -4, -(2**63)):
        with pytest.raises(ValueError, match="kth must be 1 to 3, the length of axis 1"):
            call(order.topk_kernel, op, [np.zeros((2, 3)), scalar(k)], ("float64", 2))


# -- search ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", REAL)
def test_searchsorted(dtype, side):
    for size in SIZES:
        x = np.sort(odd_numbers(size, dtype))
        for shape in [(0,), (1,), (31,), (33,), (4, 40), ()]:
            v = np.asarray(odd_numbers(int(np.prod(shape)), dtype).reshape(shape))
            got = call(order.searchsorted_kernel, Toy(side=side), [x, v], ("int64", v.ndim))[0]
            np.testing.assert_array_equal(got, np.searchsorted(x, v, side))


@pytest.mark.parametrize("x_dtype", REAL)
@pytest.mark.parametrize("v_dtype", ["int8", "uint64", "int64", "float32", "float64"])
def test_searchsorted_compares_in_the_common_type(x_dtype, v_dtype):
    x, v = np.sort(numbers(rng, (40,), x_dtype, -9, 9)), numbers(rng, (50,), v_dtype, -9, 9)
    got = call(order.searchsorted_kernel, Toy(side="left"), [x, v], ("int64", 1))[0]
    np.testing.assert_array_equal(got, np.searchsorted(x, v))


def test_searchsorted_layouts_and_sorter():
    for _name, x in in_all_layouts(np.sort(rng.normal(size=50))):
        for v in (laid_out(rng.normal(size=(4, 5)), "F"), rng.normal(size=9)[::-2]):
            got = call(order.searchsorted_kernel, Toy(side="left"), [x, v], ("int64", v.ndim))[0]
            np.testing.assert_array_equal(got, np.searchsorted(x, v))
    x, v = rng.normal(size=50), rng.normal(size=20)
    places = np.argsort(x)
    got = call(order.searchsorted_kernel, Toy(side="right"), [x, v, places.astype("int32")], ("int64", 1))[0]
    np.testing.assert_array_equal(got, np.searchsorted(x, v, "right", sorter=places))
    for bad, words in [(places[1:], "sorter has length 49"), (places - 1, "sorter index -1 is out"), (places + 1, "sorter index 50 is out")]:
        with pytest.raises(ValueError, match=words):
            call(order.searchsorted_kernel, Toy(side="left"), [x, v, bad], ("int64", 1))


def test_what_only_python_can_do():
    z = np.zeros(3, "complex64")
    for kernel_of, op, inputs in [
        (order.topk_kernel, Toy(axis=0, return_values=True, return_indices=False), [z, scalar(1)]),
        (order.searchsorted_kernel, Toy(side="left"), [z, z]),
        (sort, Toy(kind="stable"), [z, scalar(1.0, "float64")]),
    ]:
        n = node(op, inputs, [("complex64", 1)])
        assert not is_accepted(kernel_of, n)
