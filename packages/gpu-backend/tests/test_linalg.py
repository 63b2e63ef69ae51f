"""Linear algebra: the device against the CPU where an answer is unique, and against what defines a factor."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
import scipy.linalg
from compare import LAYOUTS, MODE, agree, nodes

import theano
import theano.tensor as T
from theano.tensor.device.ops import FromDevice, ToDevice
from theano.tensor.linalg.equations import Solve, lstsq
from theano.tensor.linalg.factor import SVD, Cholesky, Eigvalsh, QRFull, QRIncomplete

DTYPES = ("float32", "float64")
#: Both sides of a block of 32, of a tile of 64, and of two.
SIZES = (0, 1, 2, 16, 32, 33, 65, 130)
EPSILON = {dtype: np.finfo(dtype).eps for dtype in DTYPES}


def numbers(shape, dtype="float64", seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def positive(n, dtype="float64", seed=0):
    x = numbers((n, n), "float64", seed)
    return (x @ x.T + n * np.eye(n)).astype(dtype)


def on_the_device(inputs, outputs, values):
    """Return what the device computes, without the names that it gives."""
    f = theano.function(inputs, outputs, mode=MODE, on_unused_input="ignore")
    there, here = nodes(f)
    assert there and not [n for n in here if any(v.type.ndim for v in n.outputs)], here
    return f(*values)


def near(got, want, dtype, size):
    """Assert that two arrays differ by rounding, which grows with the size of the matrix."""
    np.testing.assert_allclose(got, want, rtol=0, atol=20 * (size + 1) * EPSILON[dtype] * max(1.0, np.abs(want).max(initial=0)))


def check_orthogonal(q, dtype):
    near(q.T @ q, np.eye(q.shape[1]), dtype, len(q))


# -- Cholesky, equations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky(dtype, n):
    x, v = T.matrix("x", dtype), positive(n, dtype)
    spoilt = v + np.triu(np.full_like(v, np.nan), 1), v + np.tril(np.full_like(v, np.nan), -1)
    low, = on_the_device([x], [Cholesky(True)(x)], [spoilt[0]])
    high, = on_the_device([x], [Cholesky(False, "nan")(x)], [spoilt[1]])
    assert low.dtype == high.dtype == dtype
    near(low, np.linalg.cholesky(v) if n else v, dtype, n)
    near(high, low.T, dtype, n)
    assert not np.triu(low, 1).any() and not np.tril(high, -1).any()


@pytest.mark.parametrize("place", [0, 1, 31, 32, 40, 69])
@pytest.mark.parametrize("lower", [True, False])
def test_what_has_no_factor(lower, place, on_device):
    x, v = T.dmatrix("x"), positive(70)
    for bad in (-1.0, 0.0, np.nan, np.inf):
        v[place, place] = bad
        with pytest.raises(np.linalg.LinAlgError, match=f"leading minor of order {place + 1 if bad != np.inf else '.*'}"):
            on_device([x], Cholesky(lower)(x))(v)
        assert np.isnan(on_device([x], Cholesky(lower, "nan")(x))(v)).all()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_equations_of_any_kind(dtype, n):
    a, b, c = T.matrix("a", dtype), T.matrix("b", dtype), T.vector("c", dtype)
    values = [numbers((n, n), dtype) + 3 * np.eye(n, dtype=dtype), numbers((n, 70), dtype, 1), numbers(n, dtype, 2)]
    ops = [Solve(), Solve("symmetric"), Solve("symmetric", lower=True)]
    outputs = [op(a, right) for op in ops for right in (b, c)] + [T.nlinalg.matrix_inverse(a)]
    found = on_the_device([a, b, c], outputs, values)
    A = values[0].astype("float64")
    wholes = [A, np.triu(A) + np.triu(A, 1).T, np.tril(A) + np.tril(A, -1).T]
    for k, x in enumerate(found[:-1]):
        right, whole = values[1 + k % 2], wholes[k // 2]
        assert x.dtype == dtype and x.shape == right.shape
        near(whole @ x, right, dtype, 20 * n)
    near(A @ found[-1], np.eye(n), dtype, 20 * n)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_triangles(dtype, n):
    a, b, c = T.matrix("a", dtype), T.matrix("b", dtype), T.vector("c", dtype)
    values = [numbers((n, n), dtype) / max(n, 1) + np.eye(n, dtype=dtype), numbers((n, 300), dtype, 1), numbers(n, dtype, 2)]
    outputs, wanted = [], []
    for lower in (True, False):
        op = Solve("lower_triangular" if lower else "upper_triangular")
        for right, value in ((b, values[1]), (c, values[2])):
            outputs.append(op(a, right))
            wanted.append(scipy.linalg.solve_triangular(values[0], value, lower=lower) if n else value)
    for got, want in zip(on_the_device([a, b, c], outputs, values), wanted, strict=True):
        near(got, want, dtype, n)


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_layouts(left, right):
    a, b = T.dmatrices("a", "b")
    x = T.exp(a)  # views of it are on the device
    outputs = [
        Solve()(a, b), Solve()(x.T, b[::-1]), Solve("lower_triangular")(x[::-1, ::-1], b[:, ::2]),
        Cholesky()(T.dot(x, x.T) + 9 * T.eye(20)), Cholesky(False)((T.dot(x, x.T) + 9 * T.eye(20))[::-1, ::-1]),
        T.nlinalg.matrix_inverse(x.T + 9 * T.eye(20)), T.nlinalg.det(x[:, ::-1] + 2 * T.eye(20)), QRIncomplete("r")(x[::2].T),
        T.nlinalg.pinv(x[::-2, :15]), lstsq()(x.T[:, ::2], b[:, ::-3], -1)[0], T.slinalg.expm(x[::-2, 1::2] / 99),
    ]  # fmt: skip
    values = [LAYOUTS[left](numbers((20, 20)) + 6 * np.eye(20)), LAYOUTS[right](numbers((20, 20), seed=1))]
    agree([a, b], outputs, values, 1e-6, all_there=False)


@pytest.mark.parametrize("dtype", DTYPES)
def test_determinants(dtype):
    a = T.matrix("a", dtype)
    for n in (0, 1, 2, 5, 33, 65):
        value = (numbers((n, n), dtype) / max(1, n) ** 0.5 + np.eye(n, dtype=dtype)).astype(dtype)
        (got,) = on_the_device([a], [T.nlinalg.det(a)], [value])
        np.testing.assert_allclose(got, np.linalg.det(value.astype("float64")), rtol=500 * EPSILON[dtype])
        if n > 1:
            value[1] = value[0] * 2
            assert abs(on_the_device([a], [T.nlinalg.det(a)], [value])[0]) < 1e3 * EPSILON[dtype]


def test_pivots_are_chosen_in_the_whole_column():
    a, b, n = T.dmatrix("a"), T.dvector("b"), 75
    order = np.random.default_rng(0).permutation(n)
    agree([a, b], [Solve()(a, b), T.nlinalg.matrix_inverse(a), T.nlinalg.det(a)], [np.eye(n)[order], np.arange(n) * 1.0])
    tiny = np.array([[1e-20, 1.0], [1.0, 1.0]])
    agree([a, b], Solve()(a, b), [tiny, np.array([1.0, 2.0])])


def test_bad_equations(on_device):
    a, b = T.dmatrices("a", "b")
    flat, rows = np.ones((40, 40)), np.zeros((40, 2))
    for outputs, value in ((Solve()(a, b), flat), (T.nlinalg.matrix_inverse(a), flat), (Solve()(a, b), np.zeros((40, 40)))):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            on_device([a, b], outputs, on_unused_input="ignore")(value, rows)
    for place in (0, 5, 33, 39):
        value = np.eye(40)
        value[place, place] = value[39, 39] = 0
        for structure in ("lower_triangular", "upper_triangular"):
            with pytest.raises(np.linalg.LinAlgError, match=f"number {place} on the diagonal is 0"):
                on_device([a, b], Solve(structure)(a, b))(value, rows)
    kinds = [Solve(kind, on_error="nan") for kind in ("general", "symmetric", "lower_triangular", "upper_triangular")]
    f = on_device([a, b], [op(a, b) for op in kinds])
    value[5, 5], value[39, 39] = 0, 1
    assert all(np.isnan(x).all() for x in f(value, rows))
    np.testing.assert_array_equal(f(np.eye(40), rows), np.stack([rows] * 4))
    for op in (Solve(), Solve("lower_triangular")):
        with pytest.raises(ValueError, match="a square matrix is needed"):
            on_device([a, b], op(a, b))(np.ones((3, 2)), rows)
        with pytest.raises(ValueError, match="3 rows of A against 40"):
            on_device([a, b], op(a, b))(np.eye(3), rows)
    for f in (Cholesky(), T.nlinalg.matrix_inverse, T.nlinalg.det, T.nlinalg.eigh):
        with pytest.raises(ValueError, match="a square matrix is needed"):
            on_device([a], f(a))(np.ones((3, 2)))


def test_nothing_is_lost_where_a_factor_fails(on_device, context):
    a, w = T.dmatrix("a"), theano.shared(np.eye(3))
    f = on_device([a], T.nlinalg.matrix_inverse(a), updates=[(w, Cholesky()(a))])
    f(4 * np.eye(3))
    live = context.counts()["live"]
    for bad in (-np.eye(3), np.zeros((3, 3)), np.ones((2, 3))):
        with pytest.raises((np.linalg.LinAlgError, ValueError)):
            f(bad)
        np.testing.assert_array_equal(w.get_value(), 2 * np.eye(3))
    assert context.counts()["live"] <= live


# -- orthogonal factors ----------------------------------------------------------------------------------------------

SHAPES = [(0, 0), (0, 3), (3, 0), (1, 1), (1, 5), (5, 1), (2, 2), (31, 33), (32, 32), (65, 64), (40, 130), (300, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_qr(dtype, shape):
    a, value = T.matrix("a", dtype), numbers(shape, dtype)
    outputs = [*QRFull("reduced")(a), *QRFull("complete")(a), QRIncomplete("r")(a), *QRFull("raw")(a)]
    q, r, full_q, full_r, alone, raw, factors = on_the_device([a], outputs, [value])
    m, n = shape
    k, size = min(shape), max(shape)
    assert [x.shape for x in (q, r, full_q, full_r, alone)] == [(m, k), (k, n), (m, m), (m, n), (k, n)]
    for left, right in ((q, r), (full_q, full_r)):
        near(left @ right, value, dtype, size)
        check_orthogonal(left, dtype)
        assert not np.tril(right, -1).any()
    near(alone, r, dtype, 0)
    # the signs are LAPACK's, too
    wanted = np.linalg.qr(value, mode="raw") if k else (np.zeros((n, m)), np.zeros(0))
    near(raw, wanted[0], dtype, 10 * size)
    near(factors, wanted[1], dtype, 10 * size)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_singular_values(dtype, shape):
    a, value = T.matrix("a", dtype), numbers(shape, dtype)
    m, n = shape
    k, size = min(shape), max(shape)
    outputs = [*SVD(True)(a), *SVD(False)(a), SVD(compute_uv=False)(a)]
    full_u, s, full_v, u, also_s, v, alone = on_the_device([a], outputs, [value])
    assert [x.shape for x in (full_u, s, full_v, u, v)] == [(m, m), (k,), (n, n), (m, k), (k, n)]
    near(s, np.linalg.svd(value.astype("float64"), compute_uv=False) if k else s, dtype, size)
    near(also_s, s, dtype, 0)
    near(alone, s, dtype, size)
    near(u * s @ v, value, dtype, size)
    near(full_u[:, :k] * s @ full_v[:k], value, dtype, size)
    for x in (full_u, u, full_v.T, v.T):
        check_orthogonal(x, dtype)


def with_values(s, m, n, seed=0):
    """Return a matrix with these singular values."""
    left, right = (np.linalg.qr(numbers((k, k), seed=seed + k))[0] for k in (m, n))
    return left[:, : len(s)] * s @ right[: len(s)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["zero", "one", "rank 3", "wide range", "equal", "large", "small", "subnormal"])
def test_singular_values_of_difficult_matrices(kind, dtype):
    top, least = (1e37, 1e-40) if dtype == "float32" else (1e300, 1e-310)
    value = {
        "zero": np.zeros((7, 5)), "one": np.ones((20, 30)), "rank 3": with_values(np.array([3.0, 2, 1]), 40, 35),
        "wide range": with_values(10.0 ** -np.arange(20), 30, 20), "equal": with_values(np.ones(33), 33, 33),
        "large": top * with_values(np.array([1.0, 0.5]), 10, 2), "small": with_values(np.array([1.0, 0.5]), 10, 2) / top,
        "subnormal": np.full((3, 3), least),
    }[kind].astype(dtype)  # fmt: skip
    a = T.matrix("a", dtype)
    u, s, v = on_the_device([a], SVD(True)(a), [value])
    exact, largest = np.linalg.svd(value.astype("float64"), compute_uv=False), max(np.abs(value).max(), least)
    tolerance = 400 * EPSILON[dtype] * float(largest) + 4 * float(np.finfo(dtype).smallest_subnormal)
    np.testing.assert_allclose(s, exact, rtol=0, atol=tolerance)
    k = len(s)
    np.testing.assert_allclose(u[:, :k].astype("float64") * s @ v[:k], value, rtol=0, atol=tolerance)
    check_orthogonal(u, dtype)
    check_orthogonal(v.T, dtype)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_symmetric_eigenvalues(dtype, n):
    a, value = T.matrix("a", dtype), numbers((n, n), dtype)
    low, high = np.tril(value) + np.tril(value, -1).T, np.triu(value) + np.triu(value, 1).T
    outputs = [*T.nlinalg.eigh(a, "L"), *T.nlinalg.eigh(a, "U"), Eigvalsh(True)(a, None), Eigvalsh(False)(a, None)]
    w, v, w_high, v_high, alone, alone_high = on_the_device([a], outputs, [value])
    for whole, values, vectors, without in ((low, w, v, alone), (high, w_high, v_high, alone_high)):
        near(values, np.linalg.eigvalsh(whole.astype("float64")) if n else values, dtype, n)
        near(without, values, dtype, n)
        near(vectors * values @ vectors.T, whole, dtype, n)
        check_orthogonal(vectors, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["zero", "diagonal", "equal", "opposite", "rank 1", "large", "small"])
def test_eigenvalues_of_difficult_matrices(kind, dtype):
    q, top = np.linalg.qr(numbers((9, 9)))[0], 1e37 if dtype == "float32" else 1e300
    values = np.arange(-4.0, 5)
    value = {
        "zero": np.zeros((9, 9)), "diagonal": np.diag(values[::-1]), "equal": q * np.ones(9) @ q.T, "opposite": q * values @ q.T,
        "rank 1": np.ones((9, 9)), "large": q * values @ q.T * top / 8, "small": q * values @ q.T / top,
    }[kind].astype(dtype)  # fmt: skip
    a = T.matrix("a", dtype)
    w, v = on_the_device([a], T.nlinalg.eigh(a), [value])
    tolerance = 100 * EPSILON[dtype] * float(np.abs(value).max()) + 8 * float(np.finfo(dtype).smallest_subnormal)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(value.astype("float64")), rtol=0, atol=tolerance)
    np.testing.assert_allclose(v.astype("float64") * w @ v.T, value, rtol=0, atol=tolerance)
    check_orthogonal(v, dtype)


@pytest.mark.parametrize("n", [0, 1, 2, 33, 65])
@pytest.mark.parametrize("lower", [True, False])
def test_eigenvalues_with_respect_to_another_matrix(lower, n):
    a, b = T.dmatrices("a", "b")
    values = [numbers((n, n)), positive(n) + (np.triu if lower else np.tril)(np.full((n, n), np.nan), 1 if lower else -1)]
    agree([a, b], Eigvalsh(lower)(a, b), values, 1e-10)


def test_what_does_not_converge(on_device):
    a, b = T.dmatrices("a", "b")
    for bad in (np.nan, np.inf):
        value = np.eye(40)
        value[3, 37] = bad
        for f in (SVD(compute_uv=False)(a), T.nlinalg.eigh(a, "U")[0], Eigvalsh(False)(a, None), Eigvalsh(False)(b, a)):
            with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
                on_device([a, b], f, on_unused_input="ignore")(value, np.eye(40))
        # what the other triangle holds is nobody's concern
        assert np.array_equal(on_device([a], T.nlinalg.eigh(a, "L")[0])(value), np.ones(40))
    with pytest.raises(np.linalg.LinAlgError, match="b is not positive definite .*order 2"):
        on_device([a, b], Eigvalsh()(a, b))(np.eye(3), np.diag([1.0, -1, 1]))
    with pytest.raises(ValueError, match="2 rows of a against 3"):
        on_device([a, b], Eigvalsh()(a, b))(np.eye(2), np.eye(3))


# -- pseudo-inverses, least squares ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_pseudo_inverses(dtype, shape):
    a, value = T.matrix("a", dtype), numbers(shape, dtype)
    found, turned = on_the_device([a], [T.nlinalg.pinv(a), T.nlinalg.pinv(a.T)], [value])
    assert found.dtype == dtype
    wanted = np.linalg.pinv(value.astype("float64"))
    near(found, wanted, dtype, 10 * max(shape))
    near(turned, wanted.T, dtype, 10 * max(shape))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", ["small", "usual", "large"])
def test_pseudo_inverses_where_singular_values_are_zero(size, dtype):
    by = {"small": 1e-20, "usual": 1.0, "large": 1e20}[size]
    a, value = T.matrix("a", dtype), (by * np.array([[3.0, 0, 0, 4], [0, 0, 0, 0], [0, 0, 2, 0]])).astype(dtype)
    zeros, found = on_the_device([a], [T.nlinalg.pinv(0 * a), T.nlinalg.pinv(a)], [value])
    assert not zeros.any()
    wanted = np.array([[0.12, 0, 0], [0, 0, 0], [0, 0, 0.5], [0.16, 0, 0]])
    near(found.astype("float64") * by, wanted, dtype, 1)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_least_squares(dtype, shape):
    a, b, c = T.matrix("a", dtype), T.matrix("b", dtype), T.vector("c", dtype)
    m, n = shape
    values = [numbers(shape, dtype), numbers((m, 70), dtype, 1), numbers(m, dtype, 2)]
    found = on_the_device([a, b, c], [*lstsq()(a, b, -1), *lstsq()(a, c, 1e-5), *lstsq()(a, b[:, :0], 0)], values)
    rights = [values[1], values[2], values[1][:, :0]]
    for k, right in enumerate(rights):
        x, residuals, rank, s = found[4 * k : 4 * k + 4]
        exact, sums, count, singular = np.linalg.lstsq(values[0].astype("float64"), right.astype("float64"))
        assert [v.dtype for v in (x, residuals, s)] == [dtype] * 3 and rank == count
        assert x.shape == exact.shape and residuals.shape == sums.shape and s.shape == singular.shape
        near(x, exact, dtype, 10 * max(shape))
        near(residuals, sums, dtype, 10 * max(shape))
        near(s, singular, dtype, max(shape))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(40, 35), (35, 40)], ids=str)
def test_least_squares_without_small_singular_values(shape, dtype):
    a, b, share = T.matrix("a", dtype), T.vector("b", dtype), T.scalar("share", dtype)
    value, right = with_values(np.array([3.0, 2, 1, 1e-3]), *shape).astype(dtype), numbers(shape[0], dtype)
    f = theano.function([a, b, share], lstsq()(a, b, share), mode=MODE)
    for least, wanted in ((1e-2, 3), (1e-5, 4), (0.5, 2)):
        x, residuals, rank, _ = f(value, right, np.asarray(least, dtype))
        exact = np.linalg.lstsq(value.astype("float64"), right.astype("float64"), rcond=least)[0]
        assert rank == wanted and residuals.size == 0
        near(x, exact, dtype, 1e4 if wanted == 4 else 40)


def test_least_squares_read_singular_values_once(on_device, context):
    x, y = T.dmatrix("x"), T.dmatrix("y")
    functions = on_device([x], T.nlinalg.pinv(x)), on_device([x, y], lstsq()(x, y, np.float64(1e-12)))
    a, b = numbers((9, 5)), numbers((9, 3), seed=1)
    counted = []
    for f, values in zip(functions, ([a], [a, b]), strict=True):
        before = context.counts()["from"]
        results = f(*values)
        counted.append(context.counts()["from"] - before - len(f.maker.fgraph.outputs))
    assert counted[0] == counted[1], "residuals are squared on the device, and ranks are known from what is read anyway"
    np.testing.assert_allclose(results[1], ((b - a @ results[0]) ** 2).sum(axis=0))


def test_general_eigenvalues_are_the_hosts_between_two_transfers(on_device):
    x = T.dmatrix("x")
    values, vectors = T.nlinalg.eig(T.exp(x) * 2)
    f = on_device([x], T.dot(vectors, values) + 1)
    assert [type(n.op).__name__ for n in nodes(f)[1]] == ["Eig"]
    moves = [type(n.op).__name__ for n in f.maker.fgraph.toposort() if isinstance(n.op, (ToDevice, FromDevice))]
    assert moves == ["GpuFromHost", "HostFromGpu", "GpuFromHost", "GpuFromHost", "HostFromGpu"]
    a = np.log(np.array([[2.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 4.0]]))
    w, v = np.linalg.eig(np.exp(a) * 2)
    np.testing.assert_allclose(f(a), v @ w + 1)
    with pytest.raises(np.linalg.LinAlgError, match="complex eigenvalues"):
        f(np.log(np.array([[1.0, 9.0, 1e-9], [1e-9, 1.0, 9.0], [9.0, 1e-9, 1.0]])))


def test_what_has_no_pseudo_inverse(on_device):
    a, b = T.dmatrices("a", "b")
    for bad in (np.nan, np.inf):
        value = np.eye(3)
        value[2, 1] = bad
        for f in (T.nlinalg.pinv(a), lstsq()(a, b, -1)[0]):
            with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
                on_device([a, b], f, on_unused_input="ignore")(value, np.eye(3))
    with pytest.raises(np.linalg.LinAlgError, match="3 rows of a against 2 of b"):
        on_device([a, b], lstsq()(a, b, -1)[0])(np.eye(3), np.eye(2))


# -- the exponential -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0, 1e-9, 3e-3, 0.1, 0.5, 1.5, 4, 20])
@pytest.mark.parametrize("dtype", DTYPES)
def test_exponentials_by_every_approximant(dtype, scale):
    a = T.matrix("a", dtype)
    f = theano.function([a], [T.slinalg.expm(a), T.slinalg.expm(a.T)], mode=MODE)
    assert [type(n.op).__name__ for n in nodes(f)[0]].count("GpuExpm") == 2
    for n in SIZES[:-1]:
        value = numbers((n, n), dtype) * np.asarray(scale / max(n, 1) ** 0.5, dtype)
        found, turned = f(value)
        wanted = scipy.linalg.expm(value.astype("float64"))
        assert found.dtype == dtype
        near(found, wanted, dtype, n)
        near(turned, wanted.T, dtype, n)


def test_exponentials_that_are_known(on_device):
    a = T.dmatrix("a")
    f = on_device([a], T.slinalg.expm(a))
    for angle in (1e-8, 0.3, 3.0, 40.0):
        c, s = np.cos(angle), np.sin(angle)
        np.testing.assert_allclose(f([[0.0, -angle], [angle, 0.0]]), [[c, -s], [s, c]], rtol=0, atol=2e-14 * max(1, angle))
    np.testing.assert_allclose(f(np.diag([-700.0, 0.0, 1.0, 20.0])).diagonal(), np.exp([-700, 0, 1, 20]), rtol=1e-12)
    # far from normal: what is neglected is not small where norms of powers alone say so
    wanted = np.array([[np.e, 1e6 * np.sinh(1)], [0, 1 / np.e]])
    np.testing.assert_allclose(f([[1.0, 1e6], [0.0, -1.0]]), wanted, rtol=0, atol=1e-7)
    assert np.array_equal(f([[np.inf]]), [[np.inf]])
    for bad in ([[np.nan, 0.0], [0.0, 1.0]], [[np.inf, 1.0], [0.0, 1.0]], [[1e200, 1.0], [0.0, -1e200]]):
        assert np.isnan(f(bad)).all()
    with pytest.raises(ValueError, match="a square matrix is needed"):
        f(np.ones((2, 3)))


# -- gradients, names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 5, 40])
def test_gradients(n):
    a, b = T.dmatrices("a", "b")
    s = T.dot(a, a.T) + n * T.eye(n)
    weights = T.as_tensor_variable(numbers((n, n), seed=3))
    costs = [
        (Cholesky()(s) * weights).sum(), (Cholesky(False)(s) ** 2 * weights).sum(), (Solve()(a + 4 * T.eye(n), b) * weights).sum(),
        (Solve("symmetric")(s, b) * weights).sum(), (Solve("lower_triangular")(s, b) * weights).sum(),
        (Solve("upper_triangular")(s, b[:, 0]) * weights[0]).sum(), T.log(T.nlinalg.det(s / n)),
        (T.nlinalg.matrix_inverse(a + 4 * T.eye(n)) * weights).sum(), (QRFull("reduced")(s)[0] * weights).sum(),
        (QRIncomplete("r")(s) * weights).sum(), (T.nlinalg.eigh(s)[0] ** 2).sum(), SVD(compute_uv=False)(s).sum(),
        (SVD(False)(s)[0] ** 2 * weights).sum(), (T.nlinalg.pinv(a[: n // 2 + 1]) * weights[:, : n // 2 + 1]).sum(),
        (T.slinalg.expm(a) * weights).sum(),
    ]  # fmt: skip
    gradients = [g for cost in costs for g in T.grad(cost, [a, b], disconnected_inputs="ignore")]
    agree([a, b], gradients, [numbers((n, n)) / n**0.5, numbers((n, n), seed=1)], 1e-7, all_there=False)


def test_documented_names_compute_on_the_device():
    names = importlib.import_module("theano.gpuarray.linalg")

    a, b = theano.gpuarray.GpuArrayType("float64", (False, False))("a"), T.dvector("b")
    value, right = numbers((5, 5)) + 6 * np.eye(5), numbers(5)
    symmetric = positive(5)
    cases = [
        (names.gpu_solve(a, b), names.GpuCusolverSolve, value, np.linalg.solve(value, right)),
        (names.gpu_solve(a, b, trans="T"), names.GpuCusolverSolve, value, np.linalg.solve(value.T, right)),
        (names.gpu_solve(a, b, "symmetric", "T"), names.GpuCusolverSolve, symmetric, np.linalg.solve(symmetric, right)),
        (names.gpu_solve_lower_triangular(a, b), names.GpuCublasTriangularSolve, value, np.linalg.solve(np.tril(value), right)),
        (names.gpu_solve_lower_triangular(a, b, "T"), names.GpuCublasTriangularSolve, value, np.linalg.solve(np.tril(value).T, right)),
        (names.gpu_solve_upper_triangular(a, b, "C"), names.GpuCublasTriangularSolve, value, np.linalg.solve(np.triu(value).T, right)),
        (names.gpu_cholesky(a), names.GpuCholesky, symmetric, np.linalg.cholesky(symmetric)),
        (names.GpuMagmaCholesky(False)(a), names.GpuMagmaCholesky, symmetric, np.linalg.cholesky(symmetric).T),
        (names.gpu_svd(a, compute_uv=0), names.GpuMagmaSVD, value, np.linalg.svd(value, compute_uv=False)),
        (names.gpu_matrix_inverse(a), names.GpuMagmaMatrixInverse, value, np.linalg.inv(value)),
        (names.gpu_qr(a)[1], names.GpuMagmaQR, value, np.linalg.qr(value)[1]),
        (names.gpu_qr(a, complete=False), names.GpuMagmaQR, value, np.linalg.qr(value, "r")),
        (names.GpuMagmaEigh()(a)[0], names.GpuMagmaEigh, symmetric, np.linalg.eigvalsh(symmetric)),
        (names.GpuMagmaEigh("U", compute_v=False)(a), names.GpuMagmaEigh, symmetric, np.linalg.eigvalsh(symmetric)),
    ]  # fmt: skip
    for result, name, given, wanted in cases:
        f = theano.function([a, b], result, mode=MODE, on_unused_input="ignore")
        assert [n for n in nodes(f)[0] if isinstance(n.op, name)]
        np.testing.assert_allclose(np.asarray(f(theano.gpuarray.asarray(given), right)), wanted, rtol=1e-10, atol=1e-12)
    assert not isinstance(Cholesky(), names.GpuCholesky) and isinstance(names.GpuCholesky(), names.GpuCholesky)
    general = theano.function([a, b], names.gpu_solve(a, b), mode=MODE).maker.fgraph.toposort()
    assert not [n for n in general if isinstance(n.op, names.GpuCublasTriangularSolve)]
