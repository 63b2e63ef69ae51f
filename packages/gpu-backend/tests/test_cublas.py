"""Products by cuBLAS: how operands are put in its words, against SciPy's BLAS; and the calls, of a library on the CPU."""

from __future__ import annotations

import ctypes
import ctypes.util
import itertools

import numpy as np
import pytest
from host_device import build_fake
from scipy.linalg import blas

import theano
import theano.tensor as T
from theano.gpuarray import GpuArrayType, as_gpuarray_variable, asarray, libraries, ops
from theano.gpuarray.context import GpuContext, get_context, reg_context
from theano.gpuarray.drivers import CudaDriver
from theano.gpuarray.kernels.library import library


class Gemm(ctypes.Structure):
    """The struct ``th_gpu_gemm``."""

    _fields_ = [
        ("swapped", ctypes.c_int64), ("transposed", ctypes.c_int64 * 2), ("m", ctypes.c_int64), ("n", ctypes.c_int64),
        ("k", ctypes.c_int64), ("count", ctypes.c_int64), ("leading", ctypes.c_int64 * 3), ("step", ctypes.c_int64 * 3),
    ]  # fmt: skip


LAYOUTS = {
    "C": lambda x: x.copy(),
    "F": lambda x: np.swapaxes(np.swapaxes(x, -1, -2).copy(), -1, -2),
    "rows apart": lambda x: np.concatenate([x, x], axis=-1)[..., : x.shape[-1]],
    "columns apart": lambda x: np.swapaxes(LAYOUTS["rows apart"](np.swapaxes(x, -1, -2)), -1, -2),
    "every second column": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "reversed": lambda x: x[..., ::-1].copy()[..., ::-1],
    "one for all": lambda x: np.broadcast_to(x[..., :1], x.shape),
}


def described(a, b, c):
    """Return what BLAS is told of a product of three-dimensional arrays, or None where it has no words for it."""
    numbers = ctypes.c_int64 * 4
    lengths = numbers(a.shape[0], a.shape[1], b.shape[2], a.shape[2])
    told = Gemm()
    strides = [numbers(*x.strides) for x in (a, b, c)]
    found = library().th_gpu_gemm_of(lengths, *strides, a.itemsize, ctypes.byref(told))
    return told if found else None


def by_columns(x, g, rows, columns, leading, step):
    """Return matrix g of memory as BLAS sees it: columns at a distance."""
    return np.lib.stride_tricks.as_strided(
        x[g : g + 1] if step else x, (rows, columns), (x.itemsize, leading * x.itemsize), writeable=False
    )


def evaluated(told, a, b, c, alpha, beta):
    """Compute with SciPy's BLAS, of the very memory that the description names."""
    first, second = (b, a) if told.swapped else (a, b)
    gemm = blas.get_blas_funcs("gemm", (a,))
    found = []
    for g in range(told.count):
        kinds = [
            (told.k, told.m) if told.transposed[0] else (told.m, told.k),
            (told.n, told.k) if told.transposed[1] else (told.k, told.n),
            (told.m, told.n),
        ]
        seen = [by_columns(x, g, *kind, told.leading[i], told.step[i] or 0)
                for i, (x, kind) in enumerate(zip((first, second, c), kinds, strict=True))]  # fmt: skip
        value = gemm(alpha, seen[0], seen[1], beta, seen[2], trans_a=told.transposed[0], trans_b=told.transposed[1])
        found.append(value.T if told.swapped else value)
    return np.array(found)


SIZES = [(1, 3, 4, 5), (2, 3, 4, 5), (3, 1, 4, 5), (2, 3, 1, 5), (2, 3, 4, 1), (1, 1, 1, 1), (1, 1, 1, 6), (2, 1, 5, 1), (1, 7, 7, 7)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_what_blas_is_told(dtype, size):
    batch, m, n, k = size
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype(dtype) for shape in ((batch, m, k), (batch, k, n), (batch, m, n))]
    told_of = 0
    for layouts in itertools.product(LAYOUTS, LAYOUTS, ("C", "F", "rows apart", "columns apart", "every second column")):
        a, b, c = (LAYOUTS[layout](x) for layout, x in zip(layouts, arrays, strict=True))
        told = described(a, b, c)
        plain = {"C", "F", "rows apart", "columns apart"}
        assert told is not None or not plain.issuperset(layouts), layouts
        if told is None:
            continue
        told_of += 1
        assert [told.leading[i] >= 1 for i in range(3)] == [True] * 3
        np.testing.assert_allclose(
            evaluated(told, a, b, c, 2.0, 0.5), 2 * (a.astype("float64") @ b) + 0.5 * c,
            rtol=1e-4 if dtype == "float32" else 1e-12, atol=1e-5 if dtype == "float32" else 1e-12, err_msg=str(layouts),
        )  # fmt: skip
    assert told_of >= 64


def test_batches_may_share_an_operand():
    a = np.broadcast_to(np.random.default_rng(0).normal(size=(1, 3, 4)), (5, 3, 4))
    b, c = np.random.default_rng(1).normal(size=(5, 4, 2)), np.zeros((5, 3, 2))
    told = described(a, b, c)
    assert told.count == 5 and 0 in list(told.step)[:2]
    np.testing.assert_allclose(evaluated(told, a, b, c, 1.0, 0.0), a @ b)


@pytest.mark.parametrize("change", [
    lambda a, b, c: (a[:, :, ::-1], b[:, ::-1], c),  # backwards
    lambda a, b, c: (a[::-1], b, c),  # batches backwards
    lambda a, b, c: (np.broadcast_to(a[:, :1], a.shape), b, c),  # one row for all
    lambda a, b, c: (a[:, :, :0], b[:, :0], c),  # nothing to add up
    lambda a, b, c: (a, b, np.zeros((2, 3, 8))[:, :, ::2]),
])  # fmt: skip
def test_what_blas_has_no_words_for(change):
    assert described(*change(np.ones((2, 3, 4)), np.ones((2, 4, 4)), np.zeros((2, 3, 4)))) is None


def test_lengths_beyond_those_of_blas():
    big = np.lib.stride_tricks.as_strided(np.zeros(1), (1, 2**31, 1), (0, 8, 8))
    assert described(big, np.ones((1, 1, 1)), big) is None


# -- the calls ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def fake(tmp_path_factory):
    path = build_fake(tmp_path_factory.mktemp("fake"), "fake_cublas.c")
    found = ctypes.CDLL(str(path))
    context = reg_context("fake", GpuContext("fake", CudaDriver(0, str(path))))
    assert libraries.use_cublas(context.driver.gpu, found)
    return found


def counted(fake, name):
    return ctypes.c_int64.in_dll(fake, f"fake_{name}").value


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_a_graph(fake, on_device, dtype):
    rng = np.random.default_rng(0)
    x, y, z = (GpuArrayType(dtype, (False, False), "fake")(name) for name in "xyz")
    values = [rng.normal(size=shape).astype(dtype) for shape in ((5, 7), (7, 4), (5, 4))]
    f = on_device([x, y], [as_gpuarray_variable(v, "fake") for v in (T.dot(x, y), T.dot(y.T, x.T), T.dot(x, y[:, 0]))])
    before = counted(fake, "products"), counted(fake, "launches")
    got = [np.asarray(v) for v in f(*(asarray(v, "fake") for v in values[:2]))]
    assert (counted(fake, "products"), counted(fake, "launches")) == (before[0] + 3, before[1])
    wanted = [values[0] @ values[1], (values[0] @ values[1]).T, values[0] @ values[1][:, 0]]
    for g, w in zip(got, wanted, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-5)
    assert counted(fake, "computes") == (68 if dtype == "float32" else 70)  # with all digits


def test_products_that_are_added_in_place(fake, on_device):
    rng = np.random.default_rng(1)
    start, a, b = (rng.normal(size=shape) for shape in ((3, 4, 5), (3, 4, 6), (3, 6, 5)))
    x, y = (GpuArrayType("float64", (False,) * 3, "fake")(name) for name in "xy")
    c = T.TensorType("float64", (False,) * 3)("c")  # of the host, so that what is overwritten is a copy
    f = theano.function(
        [c, x, y], ops.GpuGemmBatch(True)(as_gpuarray_variable(c, "fake"), 0.5, x, y, 2.0),
        mode=theano.compile.get_default_mode().including("gpuarray"), accept_inplace=True,
    )  # fmt: skip
    before = counted(fake, "products"), counted(fake, "launches")
    got = f(start, asarray(a, "fake"), asarray(b, "fake"))
    assert (counted(fake, "products"), counted(fake, "launches")) == (before[0] + 1, before[1])
    np.testing.assert_allclose(np.asarray(got), 2 * start + 0.5 * (a @ b))


def test_what_is_added_is_copied_first(fake, on_device):
    z, x = (GpuArrayType("float64", (False, False), "fake")(name) for name in "zx")
    f = on_device([z, x], as_gpuarray_variable(z + 2 * T.dot(x, x), "fake"))
    before = counted(fake, "products"), counted(fake, "launches")
    f(asarray(np.ones((3, 3)), "fake"), asarray(np.ones((3, 3)), "fake"))
    # The copy is a kernel, which computes nothing on this device.
    assert (counted(fake, "products"), counted(fake, "launches")) == (before[0] + 1, before[1] + 1)


def test_our_own_kernels_where_blas_has_no_words(fake, on_device):
    x, y = (GpuArrayType("float64", (False, False), "fake")(name) for name in "xy")
    f = on_device([x, y], as_gpuarray_variable(T.dot(x[:, ::-1], y), "fake"))
    before = counted(fake, "products"), counted(fake, "launches")
    f(asarray(np.ones((3, 3)), "fake"), asarray(np.ones((3, 3)), "fake"))
    assert (counted(fake, "products"), counted(fake, "launches")) == (before[0], before[1] + 1)


def test_shapes_that_do_not_fit(fake, on_device):
    x = GpuArrayType("float64", (False, False), "fake")("x")
    f = on_device([x], as_gpuarray_variable(T.dot(x, x), "fake"))
    with pytest.raises(ValueError, match="Shape mismatch"):
        f(asarray(np.ones((3, 2)), "fake"))


def test_what_is_not_found():
    assert libraries.find("no_such_library") is None and list(libraries.places("no_such_library")) == []


def test_a_library_without_the_functions(fake):
    assert not libraries.use_cublas(get_context("fake").driver.gpu, ctypes.CDLL(ctypes.util.find_library("m")))
