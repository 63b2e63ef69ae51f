"""Factors by cuSOLVER, of a library on the CPU that asks for what cuSOLVER does and computes by LAPACK, against NumPy."""

from __future__ import annotations

import ctypes
import gc

import numpy as np
import pytest
from host_device import HostDriver, build_fake, there
from scipy.linalg import cython_lapack

import theano
import theano.tensor as T
from theano import gpuarray
from theano.gpuarray import GpuArrayType, GpuContext, as_gpuarray_variable, libraries

FUNCTIONS = ("potrf", "getrf", "getrs", "geqrf", "ormqr", "syevd", "gesvd")

LAYOUTS = {
    "C": lambda x: x.copy(),
    "F": lambda x: np.asfortranarray(x),
    "apart": lambda x: np.concatenate([x, x], axis=1)[:, : x.shape[1]],
    "reversed": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
}


def address_of(capsule):
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, name(capsule))


@pytest.fixture(scope="session")
def solver(tmp_path_factory):
    path = build_fake(tmp_path_factory.mktemp("fake"), "fake_cusolver.c")
    library = ctypes.CDLL(str(path))
    for wide, letter in enumerate("sd"):
        for which, name in enumerate(FUNCTIONS):
            library.fake_lapack(wide, which, ctypes.c_void_p(address_of(cython_lapack.__pyx_capi__[letter + name])))
    context = gpuarray.reg_context("solver", GpuContext("solver", HostDriver(0, str(path))))
    assert libraries.use_cusolver(context.driver.gpu, library)
    return library


@pytest.fixture
def fake(solver):
    yield solver
    ctypes.c_int.in_dll(solver, "fake_refuses").value = 0
    gpuarray.get_context("solver").trim()


def solved(fake):
    """Return how often each function was called."""
    return dict(zip(FUNCTIONS, (ctypes.c_int64 * len(FUNCTIONS)).in_dll(fake, "fake_solved"), strict=True))


def computed(fake, make, *values):
    """Return what a function of matrices gives on the device, and which functions of the library that took."""
    variables = [GpuArrayType(v.dtype.name, (False,) * v.ndim, "solver")() for v in values]
    outputs = make(*variables)
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    mode = theano.compile.get_default_mode().including("gpuarray")
    f = theano.function(variables, [as_gpuarray_variable(v, "solver") for v in outputs], mode=mode)
    before = solved(fake)
    results = [np.asarray(v) for v in f(*(there(v, "solver") for v in values))]
    return results, {name: n - before[name] for name, n in solved(fake).items() if n != before[name]}


def close(dtype):
    return {"rtol": 2e-3, "atol": 2e-3} if dtype == "float32" else {"rtol": 1e-9, "atol": 1e-9}


def matrix(dtype, layout, *shape):
    return LAYOUTS[layout](np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype))


def definite(dtype, layout, n):
    a = matrix(dtype, "C", n, n)
    return LAYOUTS[layout]((a @ a.T + n * np.eye(n)).astype(dtype))


cases = pytest.mark.parametrize("layout", list(LAYOUTS))
dtypes = pytest.mark.parametrize("dtype", ["float32", "float64"])


@cases
@dtypes
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky(fake, dtype, layout, lower):
    for n in (1, 5, 40):
        a = definite(dtype, layout, n)
        (got,), called = computed(fake, lambda x: T.slinalg.Cholesky(lower=lower)(x), a)
        want = np.linalg.cholesky(a.astype("float64"))
        np.testing.assert_allclose(got, want if lower else want.T, **close(dtype))
        assert called == {"potrf": 1}


@dtypes
def test_matrices_that_are_not_positive_definite(fake, dtype):
    a = np.diag(np.array([1, 2, -3, 4], dtype))
    with pytest.raises(np.linalg.LinAlgError, match="order 3"):
        computed(fake, T.slinalg.Cholesky(), a)
    (got,), _ = computed(fake, T.slinalg.Cholesky(on_error="nan"), a)
    assert np.isnan(got).all()


@cases
@dtypes
@pytest.mark.parametrize("columns", [None, 1, 3])
def test_solve(fake, dtype, layout, columns):
    for n in (1, 6, 40):
        a = matrix(dtype, layout, n, n)
        b = matrix(dtype, layout, n, columns) if columns else matrix(dtype, "C", n, 1)[:, 0].copy()
        (got,), called = computed(fake, T.slinalg.solve, a, b)
        np.testing.assert_allclose(got, np.linalg.solve(a.astype("float64"), b), rtol=5e-2 if dtype == "float32" else 1e-8, atol=1e-3)
        assert called == {"getrf": 1, "getrs": 1}


@cases
@dtypes
def test_inverse(fake, dtype, layout):
    for n in (1, 6, 33):
        a = definite(dtype, layout, n) + LAYOUTS["C"](np.triu(np.ones((n, n), dtype)))
        a = LAYOUTS[layout](a)
        (got,), called = computed(fake, T.nlinalg.matrix_inverse, a)
        np.testing.assert_allclose(got, np.linalg.inv(a.astype("float64")), **close(dtype))
        assert called == {"getrf": 1, "getrs": 1}


@dtypes
def test_singular_matrices(fake, dtype):
    a = np.ones((3, 3), dtype)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix: it has no inverse"):
        computed(fake, T.nlinalg.matrix_inverse, a)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix: the equations"):
        computed(fake, T.slinalg.solve, a, a)
    (got,), called = computed(fake, T.slinalg.Solve(on_error="nan"), a, a)
    assert np.isnan(got).all() and called == {"getrf": 1, "getrs": 1}


SHAPES = [(1, 1), (5, 3), (3, 5), (4, 4), (40, 33), (33, 40)]


@cases
@dtypes
@pytest.mark.parametrize("mode", ["reduced", "complete", "r", "raw"])
def test_qr(fake, dtype, layout, mode):
    for shape in SHAPES:
        a = matrix(dtype, layout, *shape)
        got, called = computed(fake, lambda x: T.nlinalg.qr(x, mode), a)
        want = np.linalg.qr(a.astype("float64"), mode)
        for g, w in zip(got, want if isinstance(want, tuple) else [want], strict=True):
            np.testing.assert_allclose(g, w, **close(dtype))
        assert called == ({"geqrf": 1, "ormqr": 1} if mode in ("reduced", "complete") else {"geqrf": 1})


@cases
@dtypes
@pytest.mark.parametrize("full", [True, False])
def test_svd(fake, dtype, layout, full):
    for shape in SHAPES:
        a = matrix(dtype, layout, *shape)
        (u, s, vt), called = computed(fake, lambda x: T.nlinalg.svd(x, full_matrices=full), a)
        want = np.linalg.svd(a.astype("float64"), full_matrices=full)
        assert [v.shape for v in (u, s, vt)] == [v.shape for v in want] and called == {"gesvd": 1}
        np.testing.assert_allclose(s, want[1], **close(dtype))
        k = len(s)
        np.testing.assert_allclose(u[:, :k] * s @ vt[:k], a, **close(dtype))
        np.testing.assert_allclose(u.T @ u, np.eye(u.shape[1]), **close(dtype))
        np.testing.assert_allclose(vt @ vt.T, np.eye(vt.shape[0]), **close(dtype))


@cases
@dtypes
def test_singular_values(fake, dtype, layout):
    for shape in SHAPES:
        a = matrix(dtype, layout, *shape) * np.asarray(1e-30, dtype)  # far from 1
        (s,), called = computed(fake, lambda x: T.nlinalg.svd(x, compute_uv=False), a)
        np.testing.assert_allclose(s, np.linalg.svd(a.astype("float64"), compute_uv=False), rtol=2e-3, atol=1e-33)
        assert called == {"gesvd": 1}


@cases
@dtypes
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_symmetric_eigenvalues(fake, dtype, layout, triangle):
    for n in (1, 5, 40):
        a = matrix(dtype, layout, n, n)
        (w, v), called = computed(fake, lambda x: T.nlinalg.eigh(x, triangle), a)
        kept = (np.tril if triangle == "L" else np.triu)(a.astype("float64"))
        whole = kept + kept.T - np.diag(np.diag(kept))
        np.testing.assert_allclose(w, np.linalg.eigvalsh(whole), **close(dtype))
        np.testing.assert_allclose(v * w @ v.T, whole, **close(dtype))
        assert called == {"syevd": 1}


@dtypes
def test_eigenvalues_with_respect_to_another_matrix(fake, dtype):
    a, b = definite(dtype, "C", 6), definite(dtype, "F", 6)
    (w,), called = computed(fake, lambda x, y: T.slinalg.eigvalsh(x, y), a, b)
    want = np.sort(np.linalg.eigvals(np.linalg.solve(b.astype("float64"), a)).real)
    np.testing.assert_allclose(w, want, **close(dtype))
    assert called == {"potrf": 1, "syevd": 1}


ALL = {
    "potrf": lambda x: T.slinalg.Cholesky()(x),
    "getrf": T.nlinalg.matrix_inverse,
    "geqrf": T.nlinalg.qr,
    "syevd": T.nlinalg.eigh,
    "gesvd": T.nlinalg.svd,
}


@pytest.mark.parametrize("name", list(ALL))
def test_a_library_that_refuses(fake, name):
    """What it says is the error, and no memory is lost."""
    context = gpuarray.get_context("solver")
    a = definite("float64", "C", 4)
    computed(fake, ALL[name], a)
    ctypes.c_int.in_dll(fake, "fake_refuses").value = 7
    live = context.counts()["live"]
    with pytest.raises(gpuarray.DeviceError, match=r"cusolverDn\w+ \(7\)"):
        computed(fake, ALL[name], a)
    assert context.counts()["live"] == live


@pytest.mark.parametrize("name", list(ALL))
def test_no_memory(fake, name):
    """Whichever piece there is no room for: an error that says so, and no memory is lost."""
    context, a = gpuarray.get_context("solver"), there(definite("float64", "C", 4), "solver")
    x = GpuArrayType("float64", (False, False), "solver")()
    outputs = ALL[name](x)
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    mode = theano.compile.get_default_mode().including("gpuarray")
    gc.collect()
    live = context.counts()["live"]
    for n in range(1, 30):
        f = theano.function([x], [as_gpuarray_variable(v, "solver") for v in outputs], mode=mode)
        context.fail("allocate", n)
        try:
            f(a)
        except gpuarray.DeviceMemoryError:
            assert n < 29
        else:
            break
        finally:
            context.fail("allocate", 0)
        del f
        gc.collect()
        assert context.counts()["live"] == live
    assert n > 2


def test_a_library_without_the_functions(fake):
    assert not libraries.use_cusolver(gpuarray.get_context("solver").driver.gpu, ctypes.CDLL(None))
