"""Products against NumPy: dtypes x layouts x shapes, our own, with the BLAS found, and with SciPy's."""

from __future__ import annotations

import itertools
import mmap

import numpy as np
import pytest
from kernel_harness import equal, run
from kernel_toys import Toy, is_accepted, node
from layouts import LAYOUTS, laid_out

import theano
import theano.tensor as T
from portion import portion
from theano.settings import config
from theano.tensor.blas import library as blas_library
from theano.tensor.blas import lowering as blas

FLOATS = ("float32", "float64", "complex64", "complex128")
DOTTED = (*FLOATS, "bool", "int8", "uint16", "int32", "int64", "uint64")
KEPT = [name for name in LAYOUTS if name not in ("empty", "scalar")]
SHAPES = [
    ((3, 4), (4, 5)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((0, 4), (4, 5)), ((3, 0), (0, 5)), ((1, 4), (4, 1)),
    ((1, 1), (1, 1)), ((0,), (0,)), ((20, 30), (30, 17)), ((3, 4), (4, 0)), ((1, 5), (5, 3)), ((0,), (0, 3)), ((2, 0), (0,)),
]  # fmt: skip
rng = np.random.default_rng(0)

LIBRARIES = {
    "found": blas_library.find_blas(),
    "scipy": blas_library._from_scipy() or blas_library.BlasLibrary("none"),
    "none": blas_library.BlasLibrary("none: own loops"),
}


@pytest.fixture(params=sorted(LIBRARIES))
def library(request, monkeypatch):
    monkeypatch.setattr(blas, "find_blas", lambda: LIBRARIES[request.param])
    with config.change_flags(blas__gemm="library"):
        yield request.param


def share(cases, one_in, *numbers):
    """Return a part of a table, another one for each dtype and library."""
    return portion(cases, one_in, always=0, which=sum(numbers))


def whole(shape, dtype):
    """Whole numbers, so that any order of additions gives the same."""
    a = rng.integers(-4, 5, shape)
    if dtype == "bool":
        return np.asarray(a > 0)
    a = a.astype(dtype)
    return (a + 1j * rng.integers(-3, 4, shape)).astype(dtype) if dtype.startswith("complex") else a


def call(kernel_of, op, inputs, dtype, ndim):
    n = node(op, inputs, [(dtype, ndim)])
    kernel = kernel_of(op, n)
    assert kernel is not None
    return run(kernel, n, inputs)


def test_blas_is_found():
    assert LIBRARIES["found"].addresses, blas.describe_blas()
    assert LIBRARIES["scipy"].addresses
    for dtype in FLOATS:
        for routine in ("gemm", "gemv", "ger"):
            assert LIBRARIES["found"].address(routine, dtype)
    assert "gemm" in blas.describe_blas()


@pytest.mark.parametrize("dtype", DOTTED)
def test_dot(dtype, library):
    which = DOTTED.index(dtype), sorted(LIBRARIES).index(library)
    for (left, right), first, second in share(itertools.product(SHAPES, KEPT, KEPT), 5, *which):
        x, y = laid_out(whole(left, dtype), first), laid_out(whole(right, dtype), second)
        equal(call(blas.dot_kernel, Toy(), [x, y], dtype, x.ndim + y.ndim - 2)[0], np.dot(x, y), left, right, first, second)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("in_place", [False, True])
def test_gemm_gemv_ger(dtype, in_place, library):
    op = Toy(destroy_map={0: [0]} if in_place else {})
    a = np.array(2, dtype)

    def start(z):
        """What may be overwritten: every element its own memory."""
        if not in_place:
            return z
        buffer = np.zeros([3 * n for n in z.shape], dtype)
        window = buffer[(slice(None, None, 3),) * z.ndim] if 0 in z.strides else z.copy("K")
        window[...] = z
        return window

    shapes = [(3, 4, 5), (1, 4, 5), (3, 4, 1), (3, 0, 5), (0, 3, 2), (1, 1, 1)]
    factors = [np.array(v, dtype) for v in (0, 1, 2.5)]
    which = FLOATS.index(dtype), in_place, sorted(LIBRARIES).index(library)
    for (m, k, n), b, first, second in share(itertools.product(shapes, factors, KEPT, KEPT), 7, *which):
        x, z = laid_out(whole((m, k), dtype), first), laid_out(whole((m, n), dtype), second)
        y = laid_out(whole((k, n), dtype), ("C", "F", "negative")[rng.integers(3)])
        want, z = b * z + a * (x @ y), start(z)
        equal(call(blas.gemm_kernel, op, [z, a, x, y, b], dtype, 2)[0], want, m, k, n, first, second)
        assert not in_place or (z == want).all()
        v = laid_out(whole((m,), dtype), second)
        y = laid_out(whole((k,), dtype), ("C", "step2", "negative")[rng.integers(3)])
        want, v = b * v + a * (x @ y), start(v)
        equal(call(blas.gemv_kernel, op, [v, a, x, y, b], dtype, 1)[0], want, m, k, n, first, second)
    for (m, _, n), *names in share(itertools.product(shapes, KEPT, KEPT, KEPT), 29, *which):
        z, x, y = (laid_out(whole(shape, dtype), name) for shape, name in zip(((m, n), (m,), (n,)), names, strict=True))
        want, zz = z + a * np.outer(x, y), start(z)
        equal(call(blas.ger_kernel, op, [zz, a, x, y], dtype, 2)[0], want, m, n, *names)


def test_product_with_a_number(library):
    x, y, a = whole((3, 4), "float64"), whole((4, 2), "float64"), np.array(0.5)
    np.testing.assert_array_equal(call(blas.dot22scalar_kernel, Toy(), [x, y, a], "float64", 2)[0], 0.5 * (x @ y))


def test_zero_times_nan_is_not_read(library):
    z, x = np.full((2, 2), np.nan), np.ones((2, 2))
    one, zero = np.array(1.0), np.array(0.0)
    np.testing.assert_array_equal(call(blas.gemm_kernel, Toy(), [z, one, x, x, zero], "float64", 2)[0], x @ x)


@pytest.mark.parametrize("dtype", ["float64", "complex64", "int32"])
def test_batched_dot(dtype, library):
    for left, right in [((6, 3, 4), (6, 4, 5)), ((6, 4), (6, 4, 5)), ((6, 3, 4), (6, 4)), ((6, 4), (6, 4)), ((0, 3, 4), (0, 4, 5)), ((2, 3, 0), (2, 0, 2)), ((1, 1, 1), (1, 1, 1))]:
        for x in (laid_out(whole(left, dtype), name) for name in KEPT):
            for y in (laid_out(whole(right, dtype), name) for name in KEPT):
                terms = f"b{'m' * (x.ndim - 2)}k,bk{'n' * (y.ndim - 2)}->b{'m' * (x.ndim - 2)}{'n' * (y.ndim - 2)}"
                got = call(blas.batched_dot_kernel, Toy(), [x, y], dtype, x.ndim + y.ndim - 3)[0]
                np.testing.assert_array_equal(got, np.einsum(terms, x, y))


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_rows_farther_apart_than_32_bits_count(dtype, library):
    """A BLAS that counts in 32 bits cannot be told their distance. The memory between them is never touched."""
    apart, rows = (1 << 31) + 5, 3
    bytes_ = (apart * (rows - 1) + 8) * np.dtype(dtype).itemsize
    try:
        memory = mmap.mmap(-1, bytes_, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000))
    except (OSError, AttributeError, ValueError):
        pytest.skip(f"this system gives no address space of {bytes_} bytes")
    x = np.ndarray((rows, 4), dtype, memory, 0, (apart * np.dtype(dtype).itemsize, np.dtype(dtype).itemsize))
    x[...] = whole((rows, 4), dtype)
    y, v, one = whole((4, 5), dtype), whole(4, dtype), np.ones((), dtype)
    np.testing.assert_array_equal(call(blas.dot_kernel, Toy(), [x, y], dtype, 2)[0], x @ y)
    np.testing.assert_array_equal(call(blas.dot_kernel, Toy(), [y.T.copy(), x.T], dtype, 2)[0], y.T @ x.T)
    np.testing.assert_array_equal(call(blas.dot_kernel, Toy(), [x, v], dtype, 1)[0], x @ v)
    op = Toy(destroy_map={0: [0]})
    want = x + np.outer(y[0, :rows], v)
    call(blas.ger_kernel, op, [x, one, y[0, :rows].copy(), v], dtype, 2)
    np.testing.assert_array_equal(x, want)


def test_wrong_shapes_are_named(library):
    x, y = np.zeros((3, 4)), np.zeros((5, 6))
    with pytest.raises(ValueError, match=r"dot: shapes \(3, 4\) and \(5, 6\) do not fit together: 4 against 5"):
        call(blas.dot_kernel, Toy(), [x, y], "float64", 2)
    one = np.array(1.0)
    with pytest.raises(ValueError, match=r"gemm: a product of shape \(3, 2\) cannot be added to shape \(3, 3\)"):
        call(blas.gemm_kernel, Toy(), [np.zeros((3, 3)), one, x, np.zeros((4, 2)), one], "float64", 2)
    with pytest.raises(ValueError, match=r"batched dot: shapes \(2, 3, 4\) and \(3, 4, 5\).*2 against 3"):
        call(blas.batched_dot_kernel, Toy(), [np.zeros((2, 3, 4)), np.zeros((3, 4, 5))], "float64", 3)


def test_mixed_dtypes_stay_in_python():
    n = node(Toy(), [np.zeros((2, 2)), np.zeros((2, 2), "float32")], [("float64", 2)])
    assert not is_accepted(blas.dot_kernel, n)


@pytest.fixture
def numpys_file():
    """The path of the BLAS that NumPy has loaded, as a library that somebody names."""
    found = blas_library._in_process()
    if found is None:
        pytest.skip("NumPy has not loaded a BLAS of its own")
    return found.path


def test_a_library_is_named_by_its_path(numpys_file):
    with config.change_flags(blas__ldflags=numpys_file):
        found = blas_library.find_blas()
        assert (found.path, found.source) == (numpys_file, f"blas.ldflags={numpys_file}")
        a = np.arange(6.0).reshape(2, 3)
        x = T.dmatrix("x")
        with config.change_flags(blas__gemm="library"):
            np.testing.assert_array_equal(theano.function([x], T.dot(x, x.T))(a), a @ a.T)


def test_a_library_is_named_as_for_a_linker(numpys_file, tmp_path):
    (tmp_path / "libmine.so.3").symlink_to(numpys_file)
    with config.change_flags(blas__ldflags=f"-L{tmp_path} -lmine"):
        assert blas_library.find_blas().path == str(tmp_path / "libmine.so.3")


@pytest.mark.parametrize("words", ["-lthere_is_no_such_blas", "-L/nowhere -lm", "/nowhere/libblas.so"])
def test_a_library_that_is_no_blas_is_told_and_done_without(words):
    blas_library._find.cache_clear()
    with config.change_flags(blas__ldflags=words), pytest.warns(UserWarning, match=r"gives no BLAS") as told:
        assert blas_library.find_blas().path == blas_library._find("").path
    assert words in str(told[0].message) and "leave the flag empty" in str(told[0].message)
