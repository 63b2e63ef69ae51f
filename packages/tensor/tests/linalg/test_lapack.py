"""The compiled factorisations, ours and LAPACK's: every dtype, layout and size, put together again or beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from arrays import lay

import theano
import theano.tensor as T
from theano.loader.module import get_threads, set_threads
from theano.tensor.linalg.hints import Hint
from theano.tensor.type_other import NoneConst

nlinalg, slinalg = T.nlinalg, T.slinalg

DTYPES = ["float32", "float64", "complex64", "complex128"]
LAYOUTS = ("C", "F", "reversed", "unaligned")
TALL, WIDE = [(0, 0), (1, 1), (5, 3), (40, 33), (6, 0), (7, 7)], [(3, 5), (33, 45), (33, 70), (0, 4)]


def matrix(dtype, name="a"):
    return T.TensorType(dtype, (False, False))(name)


def numbers(shape, dtype, seed=3):
    rng = np.random.default_rng(seed)
    made = rng.normal(size=shape)
    return (made + 1j * rng.normal(size=shape) if dtype.startswith("complex") else made).astype(dtype)


def near(found, expected, dtype):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    tolerance = (1e-3 if dtype in ("float32", "complex64") else 1e-10) * max(1.0, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def compiled(inputs, outputs):
    """A function of which no node runs in Python."""
    f = theano.function(inputs, outputs)
    for node in f.maker.fgraph.toposort():
        if type(node.op).__module__.startswith("theano.tensor.linalg"):
            assert node.op.c_kernel(node) is not None
    return f


def is_orthonormal(q, dtype):
    near(q.conj().T @ q, np.eye(q.shape[1]), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["reduced", "complete", "raw", "r"])
def test_qr(mode, dtype):
    a = matrix(dtype)
    f = compiled([a], nlinalg.qr(a, mode))
    for shape in TALL + WIDE + [(200, 150)]:
        x = numbers(shape, dtype)
        for layout in LAYOUTS if shape[0] < 100 else ("C",):
            found, expected = f(lay(x, layout)), np.linalg.qr(x, mode)
            if mode == "r":
                found, expected = [found], [expected]
            for mine, theirs in zip(found, expected, strict=True):
                assert mine.dtype == theirs.dtype == dtype
                near(mine, theirs, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [False, True])
def test_svd(full, dtype):
    a = matrix(dtype)
    f = compiled([a], [*nlinalg.svd(a, full), nlinalg.svd(a, full, False)])
    for shape in [*TALL, *WIDE, (32, 32), (110, 100), (100, 130)]:
        x = numbers(shape, dtype)
        for layout in LAYOUTS if len(x) < 100 else ("C",):
            u, s, vt, alone = f(lay(x, layout))
            expected = np.linalg.svd(x, full)
            assert [v.shape for v in (u, s, vt)] == [v.shape for v in expected]
            assert (u.dtype, s.dtype, vt.dtype) == tuple(v.dtype for v in expected)
            near(s, expected[1], dtype)
            near(alone, expected[1], dtype)
            k = min(shape)
            near(u[:, :k] * s @ vt[:k], x, dtype)
            is_orthonormal(u, dtype)
            is_orthonormal(vt.conj().T, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("uplo", ["L", "U"])
def test_eigh(uplo, dtype):
    a, b = matrix(dtype), matrix(dtype, "b")
    alone = slinalg.eigvalsh(a, NoneConst, lower=uplo == "L")
    f = compiled([a, b], [*nlinalg.eigh(a, uplo), alone, slinalg.eigvalsh(a, b, lower=uplo == "L")])
    for n in (0, 1, 3, 33, 120):
        x = numbers((n, n), dtype)
        other = x @ x.conj().T + n * np.eye(n, dtype=dtype)
        triangle = np.tril(x, -1) if uplo == "L" else np.triu(x, 1)
        whole = triangle + triangle.conj().T + np.diag(np.diag(x).real).astype(dtype)
        for layout in LAYOUTS if n < 100 else ("C",):
            w, v, values, relative = f(lay(x, layout), lay(other, layout))
            assert w.dtype == whole.real.dtype and v.dtype == dtype
            near(w, np.linalg.eigvalsh(whole), dtype)
            near(values, w, dtype)
            near(v * w @ v.conj().T, whole, dtype)
            is_orthonormal(v, dtype)
            near(relative, scipy.linalg.eigvalsh(whole, other) if n else w, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eig(dtype):
    a = matrix(dtype)
    f = compiled([a], nlinalg.eig(a))
    for n in (0, 1, 4, 20):
        x = numbers((n, n), dtype)
        if not dtype.startswith("complex"):
            x = x + x.T
        for layout in LAYOUTS:
            w, v = f(lay(x, layout))
            near(np.sort_complex(w), np.sort_complex(np.linalg.eigvals(x)), dtype)
            near(x @ v, v * w, dtype)
            near((abs(v) ** 2).sum(0), np.ones(n), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_pinv(dtype):
    a = matrix(dtype)
    f = compiled([a], nlinalg.pinv(a))
    for shape in TALL + WIDE:
        x = numbers(shape, dtype)
        for layout in LAYOUTS:
            near(f(lay(x, layout)), np.linalg.pinv(x), dtype)
    assert (f(np.zeros((3, 2), dtype=dtype)) == 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [None, 0, 1, 3])
def test_lstsq(columns, dtype):
    a, cut = matrix(dtype), T.dscalar("cut")
    b = T.TensorType(dtype, (False,) * (1 if columns is None else 2))("b")
    node = nlinalg.lstsq()(a, b, cut)[0].owner
    assert node.op.c_kernel(node) is not None
    f = theano.function([a, b, cut], node.outputs)
    for shape in TALL + WIDE:
        x = numbers(shape, dtype)
        if shape == (5, 3):
            x[:, 2] = x[:, 1]  # of rank 2
        y = numbers(shape[:1] if columns is None else (shape[0], columns), dtype, 5)
        expected = np.linalg.lstsq(x, y, rcond=1e-5)
        for layout in LAYOUTS:
            for mine, theirs in zip(f(lay(x, layout), lay(y, layout), 1e-5), expected, strict=True):
                near(mine, theirs, dtype)


SOLVED = {
    "inverse": (lambda a, b: nlinalg.matrix_inverse(a), lambda a, b: np.linalg.inv(a)),
    "det": (lambda a, b: nlinalg.det(a / 6), lambda a, b: np.linalg.det(a / 6)),
    "sign": (lambda a, b: nlinalg.slogdet(a)[0], lambda a, b: np.linalg.slogdet(a)[0]),
    "slogdet": (lambda a, b: nlinalg.slogdet(a)[1], lambda a, b: np.linalg.slogdet(a)[1]),
    "solve": (slinalg.solve, np.linalg.solve),
    "symmetric": (slinalg.solve_symmetric, lambda a, b: np.linalg.solve(np.triu(a) + np.triu(a, 1).T, b)),
    "lower": (slinalg.solve_lower_triangular, lambda a, b: np.linalg.solve(np.tril(a), b)),
    "upper": (slinalg.solve_upper_triangular, lambda a, b: np.linalg.solve(np.triu(a), b)),
}


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", SOLVED)
def test_equations_of_complex_numbers(name, dtype):
    a = matrix(dtype)
    for columns in (None, 1, 3):
        b = T.TensorType(dtype, (False,) * (1 if columns is None else 2))("b")
        f = theano.function([a, b], SOLVED[name][0](a, b), on_unused_input="ignore")
        for n in (0, 1, 2, 33):
            x = numbers((n, n), dtype) + 6 * np.eye(n, dtype=dtype)
            y = numbers(n if columns is None else (n, columns), dtype, 5)
            for layout in LAYOUTS:
                near(f(lay(x, layout), lay(y, layout)), SOLVED[name][1](x, y), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky(lower, dtype):
    a = matrix(dtype)
    f = compiled([a], slinalg.Cholesky(lower)(a))
    for n in (0, 1, 2, 7, 33, 100):
        x = numbers((n, n), dtype)
        x = x @ x.conj().T + n * np.eye(n, dtype=dtype)
        expected = np.linalg.cholesky(x)
        half = np.tril(x) if lower else np.triu(x)  # only this is read
        for layout in LAYOUTS:
            near(f(lay(half, layout)), expected if lower else expected.conj().T, dtype)


# -- our own recursions, at the borders of their blocks, and the same problems by LAPACK -------------------------

BORDERS = (8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 97, 130, 257)


@pytest.mark.parametrize("choice", ["own", "library"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_borders_of_blocks(dtype, choice):
    a, b = matrix(dtype), matrix(dtype, "b")
    with theano.config.change_flags(blas__gemm=choice):
        f = compiled([a], [slinalg.cholesky(a), slinalg.Cholesky(False)(a), nlinalg.matrix_inverse(a), *nlinalg.qr(a)])
        g, h = compiled([a, b], slinalg.solve(a, b)), compiled([a, b], [slinalg.solve_lower_triangular(a, b), slinalg.solve_upper_triangular(a.T, b)])
    for n in BORDERS:
        x = numbers((n, n), "float64")
        x = (x @ x.T / n + np.eye(n)).astype(dtype)
        low, inverse = np.linalg.cholesky(x), np.linalg.inv(x)
        *found, q, r = f(x)
        for mine, theirs in zip(found, [low, low.T, inverse], strict=True):
            near(mine, theirs, dtype)
        for columns in (1, 23, 24, n):
            y = numbers((n, columns), dtype, 5)
            near(g(x, y), np.linalg.solve(x, y), dtype)
            expected = [scipy.linalg.solve_triangular(low, y, lower=True), scipy.linalg.solve_triangular(low.T, y)]
            for mine, theirs in zip(h(low, y), expected, strict=True):
                near(mine, theirs, dtype)
        near(q @ r, x, dtype)
        is_orthonormal(q, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [501, 777])
def test_large_ones_on_any_number_of_threads(n, dtype):
    """The second is so large that threads are woken for products inside an elimination."""
    a, b = matrix(dtype), matrix(dtype, "b")
    with theano.config.change_flags(blas__gemm="own"):
        f = compiled([a, b], [slinalg.cholesky(a), nlinalg.matrix_inverse(a), slinalg.solve(a, b), slinalg.solve_lower_triangular(a, b)])
        g = compiled([a], nlinalg.qr(a))
    x, y = numbers((n, n), "float64"), numbers((n, 30), dtype, 5)
    x = (x @ x.T / n + np.eye(n)).astype(dtype)
    before, results = get_threads(), []
    try:
        for threads in (1, 2, 3):
            set_threads(threads)
            results.append([np.asarray(r) for r in (*f(x, y), *g(x))])
    finally:
        set_threads(before)
    lower, inverse, solved, of_triangle, q, r = results[0]
    wide = x.astype("float64")
    near(lower, np.linalg.cholesky(wide), dtype)
    near(inverse @ wide, np.eye(n), dtype)
    near(wide @ solved, y, dtype)
    near(np.tril(wide) @ of_triangle, y, dtype)
    near(q @ r, x, dtype)
    for others in results[1:]:
        assert all(one.tobytes() == other.tobytes() for one, other in zip(results[0], others, strict=True))


@pytest.mark.parametrize("n", [3, 20, 50, 100])
def test_pivots_are_the_largest(n):
    """Elimination without exchanges loses all digits here."""
    x = numbers((n, n), "float64")
    x[np.arange(n), np.arange(n)] = 1e-18
    a, b = T.dmatrix("a"), T.dvector("b")
    y = numbers(n, "float64", 5)
    near(theano.function([a, b], slinalg.solve(a, b))(x, y), np.linalg.solve(x, y), "float64")
    swap = np.eye(n)[::-1]
    assert theano.function([a], nlinalg.det(a))(swap) == np.linalg.det(swap)
    near(theano.function([a], nlinalg.matrix_inverse(a))(swap), swap, "float64")


@pytest.mark.parametrize("dtype", DTYPES)
def test_singular_matrices_give_nan_where_that_is_asked_for(dtype):
    a, b, v = matrix(dtype), matrix(dtype, "b"), T.vector("v", dtype)
    kinds = ("general", "symmetric", "lower_triangular", "upper_triangular")
    outputs = [slinalg.Solve(kind, on_error="nan")(a, right) for kind in kinds for right in (b, v)]
    f = compiled([a, b, v], [*outputs, slinalg.cho_solve((a, True), v, on_error="nan")])
    plain = theano.function([a, b, v], outputs, mode=theano.Mode("py", None))
    for n in (1, 2, 40, 100):
        right, column, eye = numbers((n, 3), dtype), numbers(n, dtype, 4), np.eye(n, dtype=dtype)
        *found, by_factor = f(eye, right, column)
        for x in found:
            near(x, right if x.ndim == 2 else column, dtype)
        near(by_factor, column, dtype)
        for place in {0, n // 2, n - 1}:
            x = eye.copy()
            x[place, place] = 0
            for got, want in zip(f(x, right, column), [*plain(x, right, column), column], strict=True):
                assert got.shape == want.shape and got.dtype == want.dtype and np.isnan(got).all()
    assert [x.shape for x in f(eye[:0, :0], right[:0], column[:0])[:2]] == [(0, 3), (0,)]


def test_singular_matrices_without_an_error_in_gradients_and_by_rules():
    a, v = T.dmatrix("a"), T.dvector("v")
    hinted = {hint: Hint(**{hint: True})(a) for hint in ("psd", "lower_triangular")}
    outputs = [slinalg.solve(a, v, on_error="nan"), *(slinalg.solve(m, v, on_error="nan") for m in hinted.values())]
    outputs += T.grad(outputs[0].sum(), [a, v])
    f = theano.function([a, v], outputs)
    right = np.arange(1.0, 4)
    for x in f(np.diag([1.0, 0, 2]), right):
        assert np.isnan(x).all()
    for x in f(np.diag([1.0, 4, 2]), right)[:3]:
        near(x, right / [1, 4, 2], "float64")
    with pytest.raises(ValueError, match="on_error must be 'raise' or 'nan'"):
        slinalg.solve(a, v, on_error="ignore")


@pytest.mark.parametrize("n", [2, 40, 100])
def test_singular_at_any_place(n):
    a, b = T.dmatrix("a"), T.dvector("b")
    inverse, solve, det = (theano.function([a, b], e, on_unused_input="ignore") for e in (nlinalg.matrix_inverse(a), slinalg.solve(a, b), nlinalg.det(a)))  # fmt: skip
    lower, factor = theano.function([a, b], slinalg.solve_lower_triangular(a, b)), theano.function([a], slinalg.cholesky(a))
    for place in {0, n // 2, n - 1}:
        x, y = np.eye(n), np.ones(n)
        x[place, place] = 0
        for f in (inverse, solve, lower):
            with pytest.raises(np.linalg.LinAlgError, match="[Ss]ingular"):
                f(x, y)
        assert det(x, y) == 0
        x[place, place] = -1
        with pytest.raises(np.linalg.LinAlgError, match=rf"not positive definite.*order {place + 1} "):
            factor(x)


def test_sizes_that_overflow_a_square():
    """The length of a column is found without squares that overflow or vanish."""
    a = T.dmatrix("a")
    f = theano.function([a], nlinalg.qr(a))
    for scale in (1e-200, 1e200):
        x = numbers((6, 4), "float64") * scale
        q, r = f(x)
        near(q @ (r / scale), x / scale, "float64")


@pytest.mark.parametrize("expression", [nlinalg.svd, nlinalg.eigh, nlinalg.pinv, nlinalg.eig])
def test_what_does_not_converge(expression):
    a = T.dmatrix("a")
    f = theano.function([a], expression(a))
    try:
        found = f(np.full((5, 5), np.nan))
    except np.linalg.LinAlgError as error:
        assert "converge" in str(error)
    else:
        assert all(np.isnan(np.real(v)).any() for v in (found if isinstance(found, list) else [found]))


def hard_matrices(n):
    """Symmetric matrices with equal, tiny or far apart eigenvalues."""
    q = np.linalg.qr(numbers((n, n), "float64"))[0]
    graded = (q * 10.0 ** -np.arange(n)) @ q.T
    yield from (np.eye(n), np.zeros((n, n)), np.ones((n, n)), (graded + graded.T) / 2)
    yield np.diag(10.0 ** -np.arange(n))
    yield np.diag(10.0 ** -np.arange(n)[::-1])
    yield 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    yield from ((q + q.T) * scale for scale in (1e-30, 1e30))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_eigh_of_hard_matrices(dtype):
    a = matrix(dtype)
    f = compiled([a], [*nlinalg.eigh(a), *nlinalg.eigh(a, "U")])
    for n in (2, 3, 9, 17, 31, 32, 33, 64, 127, 160, 161):
        for x in hard_matrices(n):
            x = x.astype(dtype)
            scale = float(np.abs(x).max()) or 1.0
            w, v, *other = f(x)
            near(v.astype("float64") * (w / scale) @ v.T, x / scale, dtype)
            is_orthonormal(v.astype("float64"), dtype)
            near(w / scale, np.linalg.eigvalsh(x.astype("float64") / scale), dtype)
            assert (np.diff(w) >= 0).all()
            near(other[0] / scale, w / scale, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_svd_of_hard_matrices(dtype):
    a = matrix(dtype)
    f = compiled([a], nlinalg.svd(a))
    for n in (3, 31, 32, 33, 64, 100):
        for x in hard_matrices(n):
            x = x.astype(dtype)
            scale = float(np.abs(x).max()) or 1.0
            u, s, vt = f(x)
            near(u.astype("float64") * (s / scale) @ vt, x / scale, dtype)
            is_orthonormal(u.astype("float64"), dtype)
            is_orthonormal(vt.astype("float64"), dtype)
            near(s / scale, np.linalg.svd(x.astype("float64") / scale, compute_uv=False), dtype)


def test_reflections_of_numbers_near_zero():
    a = T.dmatrix("a")
    x = numbers((7, 4), "float64") * 1e-310
    q, r = theano.function([a], nlinalg.qr(a))(x)
    is_orthonormal(q, "float64")
    np.testing.assert_allclose(q @ (r * 1e300), x * 1e300, rtol=0, atol=1e-22)


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_as_matrices(dtype):
    a, b = T.TensorType(dtype, (False,) * 4)("a"), matrix(dtype, "b")
    three, v = T.TensorType(dtype, (False,) * 3)("three"), T.TensorType(dtype, (False,))("v")
    f = compiled([a, b, three, v], [
        nlinalg.tensorinv(a), nlinalg.tensorsolve(a, b), nlinalg.tensorsolve(a, b.T, axes=(1, -4)),
        nlinalg.tensorinv(three, 1), nlinalg.tensorsolve(three, v), nlinalg.tensorsolve(three, b, axes=(0,)),
    ])  # fmt: skip
    x = numbers((6, 6), dtype).reshape(2, 3, 3, 2)
    y, w = numbers((2, 3), dtype, 4), numbers((6,), dtype, 5)
    z = numbers((6, 6), dtype, 6).reshape(6, 2, 3)
    for layout in LAYOUTS:
        given = [lay(each, layout) for each in (x, y, z, w)]
        found = f(*given)
        last = np.linalg.tensorsolve(z, y, axes=(0,))
        expected = [np.linalg.tensorinv(x), np.linalg.tensorsolve(x, y), np.linalg.tensorsolve(x, y.T, axes=(1, 0)),
                    np.linalg.tensorinv(z, 1), np.linalg.tensorsolve(z, w), last]  # fmt: skip
        for mine, theirs in zip(found, expected, strict=True):
            near(mine, theirs, dtype)
