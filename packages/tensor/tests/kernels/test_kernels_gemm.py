"""Our own products of float32 and float64: exact on whole numbers, close on others, the same however they are run."""

from __future__ import annotations

import ctypes
import itertools
from dataclasses import replace

import numpy as np
import pytest
from kernel_harness import equal, run
from kernel_toys import Toy, node
from layouts import laid_out
from test_kernels_all import spec_of

from portion import portion
from theano.loader.module import Function, Library, get_threads, set_threads
from theano.settings import config
from theano.tensor.blas import choice as blas_choice
from theano.tensor.blas import lowering as blas
from theano.tensor.blas.library import BlasLibrary, find_blas
from theano.tensor.kernels import common, tuning

rng = np.random.default_rng(3)
FLOATS = ("float32", "float64")
LEVELS = list(common.library_paths())
# Around the widths of vectors, tiles, slices of the sum and blocks, and each of them long or short.
SHAPES = [
    (1, 1, 1), (2, 3, 2), (7, 8, 9), (9, 1, 8), (8, 7, 1), (10, 10, 10), (12, 40, 5), (13, 65, 17), (25, 3, 49), (31, 64, 33),
    (48, 33, 47), (5, 0, 4), (0, 3, 4), (3, 4, 0), (100, 100, 100), (3, 1025, 70), (60, 784, 10), (784, 60, 10), (10, 60, 300),
    (130, 400, 150), (65, 1024, 129), (300, 800, 30), (30, 1600, 40),
]  # fmt: skip
ORDERS = ["CC", "FC", "CF", "FF", "negative C", "C step2", "step2 negative"]
LARGE = [(1023, 30, 1025), (257, 1025, 513), (40, 700, 1600), (900, 1200, 12)]


@pytest.fixture(autouse=True)
def own():
    with config.change_flags(blas__gemm="own"):
        yield


def whole(shape, dtype):
    """Whole numbers small enough that every order of additions is exact."""
    return rng.integers(-3, 4, shape).astype(dtype)


def share(cases, one_in, dtype, level, other=0):
    """Return a part of a table, another one for each dtype and level: between them, they try all of it."""
    return portion(cases, one_in, always=0, which=FLOATS.index(dtype) + 2 * LEVELS.index(level) + other)


def kernel(kernel_of, op, inputs, ndim, level=LEVELS[-1]):
    n = node(op, inputs, [(inputs[0].dtype.name, ndim)])
    found = kernel_of(op, n)
    assert found is not None
    return replace(found, library=common.library_paths()[level]), n


def call(kernel_of, op, inputs, ndim, level=LEVELS[-1]):
    return run(*kernel(kernel_of, op, inputs, ndim, level), inputs)[0]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layouts", ORDERS)
def test_product(dtype, level, layouts):
    left, right = (["C", "F"]["CF".index(c)] for c in layouts) if len(layouts) == 2 else layouts.split()
    large = LARGE if level == LEVELS[-1] and len(layouts) == 2 else []
    for m, k, n in [*share(SHAPES, 2, dtype, level, ORDERS.index(layouts)), *share(large, 4, dtype, level, ORDERS.index(layouts))]:
        a, b = laid_out(whole((m, k), dtype), left), laid_out(whole((k, n), dtype), right)
        np.testing.assert_array_equal(call(blas.dot_kernel, Toy(), [a, b], 2, level), a @ b, err_msg=f"{m} {k} {n}")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("in_place", [False, True])
def test_gemm(dtype, level, in_place):
    op = Toy(destroy_map={0: [0]} if in_place else {})
    table = itertools.product(SHAPES, ("C", "F", "step2", "negative"), [(1, 1), (-2, 0.5), (0.5, 0)])
    for (m, k, n), layout, (alpha, beta) in share(table, 5, dtype, level, in_place):
        x, y, z = whole((m, k), dtype), whole((k, n), dtype), laid_out(whole((m, n), dtype), layout)
        want = beta * z + alpha * (x @ y)
        start = z.copy("K") if not in_place else z
        numbers = [np.array(alpha, dtype), np.array(beta, dtype)]
        got = call(blas.gemm_kernel, op, [start, numbers[0], x, y, numbers[1]], 2, level)
        equal(got, want, m, k, n, layout, alpha, beta)
        assert (start == (want if in_place else z)).all()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_products_with_vectors(dtype, level):
    half, two = (np.array(v, dtype) for v in (0.5, 2))
    shapes = [(1, 1), (3, 7), (4, 8), (5, 9), (1, 1025), (1025, 1), (9, 40), (33, 130), (2500, 17), (17, 2500), (0, 4), (4, 0)]
    table = itertools.product(shapes, ("C", "F", "step2", "negative"), ("C", "step2", "negative"))
    for (m, n), layout, step in share(table, 5, dtype, level):
        a, x, y = laid_out(whole((m, n), dtype), layout), laid_out(whole((n,), dtype), step), laid_out(whole((m,), dtype), step)
        note = m, n, layout, step
        equal(call(blas.dot_kernel, Toy(), [a, x], 1, level), a @ x, *note)
        equal(call(blas.dot_kernel, Toy(), [y, a], 1, level), y @ a, *note)
        equal(call(blas.dot_kernel, Toy(), [x, x], 0, level), x @ x, *note)
        equal(call(blas.gemv_kernel, Toy(), [y, two, a, x, half], 1, level), 2 * (a @ x) + y / 2, *note)
        equal(call(blas.ger_kernel, Toy(), [a, half, y, x], 2, level), a + np.outer(y, x) / 2, *note)
        start, want = a.copy("K"), 3 * a + 2 * np.outer(y, x)
        start *= 3
        call(blas.ger_kernel, Toy(destroy_map={0: [0]}), [start, two, y, x], 2, level)
        equal(start, want, *note)


@pytest.mark.parametrize("dtype", FLOATS)
def test_batched(dtype):
    for shape in [(1, 3, 4, 5), (64, 30, 30, 30), (5, 100, 100, 100), (3, 1, 4, 5), (4, 20, 70, 1), (0, 2, 2, 2), (2, 90, 800, 50)]:
        for turn in (False, True):
            x, y = whole((shape[0], shape[1], shape[2]), dtype), whole((shape[0], shape[2], shape[3]), dtype)
            if turn:
                x, y = x.transpose(0, 2, 1).copy().transpose(0, 2, 1), y[:, ::-1]
            np.testing.assert_array_equal(call(blas.batched_dot_kernel, Toy(), [x, y], 3), x @ y)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(33, 3000, 29), (400, 400, 400), (1, 5000, 3), (200, 1, 200)])
def test_close_to_more_digits(dtype, level, shape):
    m, k, n = shape
    a, b = rng.normal(size=(m, k)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)
    exact = a.astype(np.longdouble) @ b.astype(np.longdouble)
    # The error of a sum of k products in any order is at most about k times the rounding of their absolute sum.
    bound = np.finfo(dtype).eps * (np.abs(a).astype(np.longdouble) @ np.abs(b).astype(np.longdouble)) * max(4, k**0.5)
    assert (np.abs(call(blas.dot_kernel, Toy(), [a, b], 2, level) - exact) <= bound).all()


def test_special_values():
    a, b = np.ones((20, 30)), np.ones((30, 20))
    a[3, 4], b[7, 8] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(call(blas.dot_kernel, Toy(), [a, b], 2), a @ b)
    z, one, zero = np.full((20, 20), np.nan), np.array(1.0), np.array(0.0)
    got = call(blas.gemm_kernel, Toy(), [z, one, np.ones((20, 3)), np.ones((3, 20)), zero], 2)
    np.testing.assert_array_equal(got, np.full((20, 20), 3.0))
    got = call(blas.gemv_kernel, Toy(), [z[0], one, np.ones((20, 3)), np.ones(3), zero], 1)
    np.testing.assert_array_equal(got, np.full(20, 3.0))


def through_the_machine(found, n, inputs):
    library = Library(found.library)
    slots = [("input", spec_of(v), None) for v in n.inputs] + [("temp", spec_of(n.outputs[0]), None)]
    places = list(range(len(inputs)))
    return Function(
        slots=slots,
        instructions=[("c", library.symbol(found.symbol), found.packed, places, [len(inputs)], found.work)],
        inputs=[(i, f"x{i}", True, None, None) for i in places],
        outputs=[len(inputs)],
        returns="one",
        keepalive=library,
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kernel_of, shapes", [
    (blas.dot_kernel, [(300, 300), (300, 300)]),
    (blas.dot_kernel, [(2000, 200), (200, 20)]),
    (blas.dot_kernel, [(33, 1700), (1700, 1100)]),
    (blas.dot_kernel, [(700, 1000), (1000, 900)]),
    (blas.dot_kernel, [(701, 1001), (1001,)]),
    (blas.dot_kernel, [(701,), (701, 1001)]),
    (blas.batched_dot_kernel, [(40, 60, 60), (40, 60, 60)]),
    (blas.batched_dot_kernel, [(5, 150, 170), (5, 170, 130)]),
])  # fmt: skip
def test_threads_and_places_change_nothing(dtype, kernel_of, shapes, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    inputs = [rng.normal(size=s).astype(dtype) for s in shapes]
    found, n = kernel(kernel_of, Toy(), inputs, sum(map(len, shapes)) - 2 - (len(shapes[0]) == 3))
    f, before = through_the_machine(found, n, inputs), get_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            set_threads(threads)
            for offset in (0, 1, 3):
                moved = []
                for a in inputs:
                    buffer = np.empty(a.size + offset, dtype)
                    buffer[offset:] = a.ravel()
                    moved.append(buffer[offset:].reshape(a.shape))
                results.append(f(*moved).tobytes())
    finally:
        set_threads(before)
    assert len(set(results)) == 1


def test_the_choice():
    def up_to(library, **flags):
        with config.change_flags(**{"blas__gemm": "auto", "cpu_level": "auto", **flags}):
            return blas_choice.choose_gemm(library).up_to

    none, old, wide = BlasLibrary("none"), *(BlasLibrary("b", addresses={("gemm", "float64"): 1}, core=c) for c in ("Haswell", "SkylakeX"))
    for flag in ("auto", "own", "library"):
        assert up_to(none, blas__gemm=flag) > 10**18
    assert up_to(old, blas__gemm="own") > 10**18
    assert up_to(old, blas__gemm="library") < 0
    assert up_to(old, cpu_level="baseline") < 0
    if "v4" in LEVELS:
        assert up_to(old) > 10**18
        assert 10**6 < up_to(wide) < 10**10
    if "v3" in LEVELS:
        assert 10**6 < up_to(old, cpu_level="v3") < 10**10


def test_the_choice_for_factors():
    def up_to(library, **flags):
        with config.change_flags(**{"blas__gemm": "auto", "cpu_level": "auto", **flags}):
            return blas_choice.choose_gemm(library).up_to, blas_choice.factored_by_us(library)

    none, wide = BlasLibrary("none"), BlasLibrary("b", addresses={("gemm", "float64"): 1}, core="SkylakeX")
    for library, flags in ((none, {}), (wide, {"blas__gemm": "own"}), (wide, {"blas__gemm": "library"}), (wide, {"cpu_level": "baseline"})):
        products, factors = up_to(library, **flags)
        assert products == factors
    if "v3" in LEVELS:
        products, factors = up_to(wide, cpu_level="v3")
        assert products == factors
    if "v4" in LEVELS:
        products, factors = up_to(wide)
        assert products < factors == blas_choice.FACTORED


def test_the_library_says_its_core():
    library = find_blas()
    if "openblas" not in library.example and "scipy_" not in library.example:
        pytest.skip("the BLAS found is no OpenBLAS")
    assert library.core.isalnum()


def test_limits_of_threads(monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "4,2")
    assert blas_choice.thread_limit() == 0
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert blas_choice.thread_limit() == 3
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    assert blas_choice.thread_limit() == 1


@pytest.mark.parametrize("dtype", FLOATS)
def test_small_square_products_are_the_librarys_where_values_say_so(dtype, monkeypatch):
    """The library's routine only notes that it was called."""
    called = []
    routine = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 15)(lambda *given: called.append(given))
    library = BlasLibrary("counts", addresses={("gemm", dtype): ctypes.cast(routine, ctypes.c_void_p).value}, core="Zen")
    monkeypatch.setattr(blas, "find_blas", lambda: library)
    monkeypatch.setattr(blas, "choose_gemm", lambda library: blas_choice.GemmChoice(500**3, by_size=True))

    def is_librarys(m, k, n, transposed=False):
        called.clear()
        a = whole((m, k), dtype)
        call(blas.dot_kernel, Toy(), [a, a.T if transposed else whole((k, n), dtype)], 2)
        return bool(called)

    names = (f"own_{dtype}", f"small_above_{dtype}", f"small_up_to_{dtype}")
    with tuning.tuned(**dict(zip(names, (blas_choice.ALWAYS, 16**3, 64**3), strict=True))):
        for shape in ((17, 17, 17), (40, 40, 40), (64, 64, 64), (20, 40, 40), (40, 20, 40), (40, 40, 20)):
            assert is_librarys(*shape), shape
        for shape in ((16, 16, 16), (64, 65, 64), (20, 41, 40), (41, 40, 20), (1, 64, 64), (64, 64, 1), (2, 90, 90), (99, 99, 99)):
            assert not is_librarys(*shape), shape
        assert not is_librarys(40, 40, 40, transposed=True), "half of it is computed"
    with tuning.tuned(**dict(zip(names, (30**3, 16**3, 64**3), strict=True))):
        assert is_librarys(99, 99, 99) and is_librarys(20, 20, 20) and not is_librarys(16, 16, 16)
    with tuning.tuned(**dict(zip(names, (blas_choice.ALWAYS, 0, 0), strict=True))):
        assert not any(is_librarys(n, n, n) for n in (2, 16, 17, 40, 64, 99))
