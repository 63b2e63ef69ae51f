"""Linear algebra and Fourier transforms: values, shapes, gradients to order two, directions; LAPACK against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import test_cases as checks
from arrays import lay
from cases import Case
from oracle import run

import theano
import theano.tensor as T
from theano.errors import ShapeError
from theano.tensor import fft

nlinalg, slinalg = T.nlinalg, T.slinalg

n3, n4, tall = (3, 3), (4, 4), (4, 3)


def positive(x):
    """A symmetric positive definite matrix, of any square one."""
    return x.T.dot(x) + 2 * np.eye(3) if isinstance(x, np.ndarray) else T.dot(x.T, x) + 2 * T.eye(3)


def triangular(x):
    """A matrix whose diagonal is far from 0, of any square one."""
    return x + 5 * np.eye(3) if isinstance(x, np.ndarray) else x + 5 * T.eye(3)


def apart(x):
    """A symmetric matrix whose eigenvalues differ, of any small one."""
    d = np.diag([1.0, 20.0, 40.0])
    return (x + x.T) / 2 + (d if isinstance(x, np.ndarray) else T.constant(d))


def apart_tall(x):
    """A matrix of 4 rows whose singular values differ, of any small one."""
    d = np.zeros((4, 3))
    d[[0, 1, 2], [0, 1, 2]] = 10.0, 20.0, 40.0
    return x + (d if isinstance(x, np.ndarray) else T.constant(d))


def np_rfft(x, s=None):
    found = np.fft.rfftn(x, s=s, axes=tuple(range(1, x.ndim)))
    return np.stack([found.real, found.imag], axis=-1)


def np_irfft(x, odd):
    n = (x.shape[-2] - 1) * 2 + odd
    found = x[..., 0] + 1j * x[..., 1]
    return np.fft.irfftn(found, s=(*found.shape[1:-1], n), axes=tuple(range(1, found.ndim)))


small = ((3, 3), -0.5, 0.5)
CASES = [
    Case("inverse", lambda x: nlinalg.matrix_inverse(triangular(x)), lambda x: np.linalg.inv(triangular(x)), (small,)),
    Case("pinv_tall", lambda x: nlinalg.pinv(apart_tall(x)), lambda x: np.linalg.pinv(apart_tall(x)), (tall,)),
    Case("pinv_wide", lambda x: nlinalg.pinv(apart_tall(x).T), lambda x: np.linalg.pinv(apart_tall(x).T), (tall,)),
    Case("slogdet", lambda x: nlinalg.slogdet(triangular(x))[1], lambda x: np.linalg.slogdet(triangular(x))[1], (small,)),
    Case("det", lambda x: nlinalg.det(triangular(x)), lambda x: np.linalg.det(triangular(x)), (small,)),
    Case("solve_m", lambda a, b: slinalg.solve(triangular(a), b), lambda a, b: np.linalg.solve(triangular(a), b), (small, (3, 2))),
    Case("solve_v", lambda a, b: slinalg.solve(triangular(a), b), lambda a, b: np.linalg.solve(triangular(a), b), (small, (3,))),
    Case(
        "solve_symmetric",
        lambda a, b: slinalg.solve_symmetric(positive(a), b),
        lambda a, b: np.linalg.solve(positive(a), b),
        (small, (3, 2)),
    ),
    Case(
        "solve_symmetric_reads_one_triangle",
        lambda a, b: slinalg.Solve("symmetric", lower=True)(triangular(a), b),
        lambda a, b: np.linalg.solve(np.tril(triangular(a)) + np.tril(a, -1).T, b),
        (small, (3, 2)),
    ),
    Case(
        "solve_lower",
        lambda a, b: slinalg.solve_lower_triangular(triangular(a), b),
        lambda a, b: np.linalg.solve(np.tril(triangular(a)), b),
        (n3, (3, 2)),
    ),
    Case(
        "solve_upper",
        lambda a, b: slinalg.solve_upper_triangular(triangular(a), b),
        lambda a, b: np.linalg.solve(np.triu(triangular(a)), b),
        (n3, (3,)),
    ),
    Case("cholesky", lambda x: slinalg.cholesky(positive(x)), lambda x: np.linalg.cholesky(positive(x)), (n3,)),
    Case("cholesky_upper", lambda x: slinalg.Cholesky(lower=False)(positive(x)), lambda x: np.linalg.cholesky(positive(x)).T, (n3,)),
    Case("cho_solve", lambda x, b: slinalg.cho_solve((slinalg.cholesky(positive(x)), True), b), lambda x, b: np.linalg.solve(positive(x), b), (small, (3, 2))),
    Case("cho_solve_upper", lambda x, b: slinalg.cho_solve((slinalg.Cholesky(False)(positive(x)), False), b), lambda x, b: np.linalg.solve(positive(x), b), (small, (3,))),
    Case("qr_q", lambda x: nlinalg.qr(apart_tall(x))[0], lambda x: np.linalg.qr(apart_tall(x))[0], (tall,)),
    Case("qr_r", lambda x: nlinalg.qr(apart_tall(x))[1], lambda x: np.linalg.qr(apart_tall(x))[1], (tall,)),
    Case("qr_r_alone", lambda x: nlinalg.qr(apart_tall(x), "r"), lambda x: np.linalg.qr(apart_tall(x), "r"), (tall,)),
    Case("qr_complete", lambda x: nlinalg.qr(x, "complete")[0], lambda x: np.linalg.qr(x, "complete")[0], (tall,), False),
    Case("svd_s", lambda x: nlinalg.svd(apart_tall(x), compute_uv=False), lambda x: np.linalg.svd(apart_tall(x))[1], (tall,)),
    Case("svd_u", lambda x: nlinalg.svd(apart_tall(x), 0)[0], lambda x: np.linalg.svd(apart_tall(x), False)[0], (tall,)),
    Case("svd_vt", lambda x: nlinalg.svd(apart_tall(x).T, 0)[2], lambda x: np.linalg.svd(apart_tall(x).T, False)[2], (tall,)),
    Case("svd_full", lambda x: nlinalg.svd(x)[0], lambda x: np.linalg.svd(x)[0], (tall,), False),
    Case("eigh_w", lambda x: nlinalg.eigh(apart(x))[0], lambda x: np.linalg.eigh(apart(x))[0], (small,)),
    Case("eigh_v", lambda x: nlinalg.eigh(apart(x))[1], lambda x: np.linalg.eigh(apart(x))[1], (small,)),
    Case("eigh_upper", lambda x: nlinalg.eigh(triangular(x), "U")[0], lambda x: np.linalg.eigh(triangular(x), "U")[0], (n3,)),
    Case("eig_w", lambda x: nlinalg.eig(apart(x))[0], lambda x: np.linalg.eig(apart(x))[0].real, (small,), False),
    Case(
        "eigvalsh",
        lambda a, b: slinalg.eigvalsh(apart(a), positive(b)),
        lambda a, b: scipy.linalg.eigvalsh(apart(a), positive(b)),
        (small, small),
    ),
    Case("expm", slinalg.expm, scipy.linalg.expm, (small,)),
    Case("matrix_power", lambda x: nlinalg.matrix_power(x, 5), lambda x: np.linalg.matrix_power(x, 5), (small,)),
    Case("matrix_power_0", lambda x: nlinalg.matrix_power(x, 0) + x, lambda x: np.eye(3) + x, (small,)),
    Case("matrix_power_neg", lambda x: nlinalg.matrix_power(triangular(x), -2), lambda x: np.linalg.matrix_power(triangular(x), -2), (small,)),
    Case("matrix_dot", nlinalg.matrix_dot, lambda x, y, z: x @ y @ z, (tall, n3, (3, 2))),
    Case("kron", slinalg.kron, np.kron, ((2, 3), (4, 2))),
    Case("kron_v", slinalg.kron, lambda a, b: np.kron(a[None], b), ((3,), (4, 2))),
    Case("trace_nlinalg", nlinalg.trace, np.trace, (n4,)),
    Case("tensorinv", lambda x: nlinalg.tensorinv(x.reshape((2, 3, 6)) + np.eye(6).reshape(2, 3, 6) * 9, 2), lambda x: np.linalg.tensorinv(x.reshape(2, 3, 6) + np.eye(6).reshape(2, 3, 6) * 9, 2), ((6, 6),)),
    Case("tensorsolve", lambda a, b: nlinalg.tensorsolve(a.reshape((2, 3, 6)) + np.eye(6).reshape(2, 3, 6) * 9, b), lambda a, b: np.linalg.tensorsolve(a.reshape(2, 3, 6) + np.eye(6).reshape(2, 3, 6) * 9, b), ((6, 6), (2, 3))),
    Case("rfft", fft.rfft, np_rfft, ((2, 6),)),
    Case("rfft_odd_2d", fft.rfft, np_rfft, ((2, 3, 5),)),
    Case("rfft_ortho", lambda x: fft.rfft(x, "ortho"), lambda x: np_rfft(x) / np.sqrt(6), ((2, 6),)),
    Case("irfft", fft.irfft, lambda x: np_irfft(x, 0), ((2, 4, 2),)),
    Case("irfft_odd", lambda x: fft.irfft(x, is_odd=True), lambda x: np_irfft(x, 1), ((2, 3, 4, 2),)),
    Case("irfft_no_norm", lambda x: fft.irfft(x, "no_norm"), lambda x: np_irfft(x, 0) * 6, ((2, 4, 2),)),
]  # fmt: skip
for _ord in (None, 1, 2, 3, 0, np.inf, -np.inf):
    CASES.append(Case(f"vector_norm_{_ord}", lambda x, o=_ord: nlinalg.norm(x, o), lambda x, o=_ord: np.linalg.norm(x, o), ((5,),), _ord not in (0,)))  # fmt: skip
for _ord in (None, "fro", 1, -1, 2, -2, "nuc", np.inf, -np.inf):
    CASES.append(Case(f"matrix_norm_{_ord}", lambda x, o=_ord: nlinalg.norm(apart_tall(x), o), lambda x, o=_ord: np.linalg.norm(apart_tall(x), o), (tall,)))  # fmt: skip

ALL = [pytest.param(c, id=c.name) for c in CASES]
SMOOTH = [pytest.param(c, id=c.name) for c in CASES if c.smooth]


@pytest.mark.parametrize("case", ALL)
def test_value_and_shape(case):
    checks.test_value(case)
    checks.test_inferred_shapes(case)


@pytest.mark.parametrize("case", SMOOTH)
def test_gradient_and_direction(case):
    checks.test_gradient_to_order_two(case, 23)
    checks.test_direction(case, 31)


# -- LAPACK, called from C, against NumPy ----------------------------------------------------------------------

LAPACK = {
    "inverse": (lambda a, b: nlinalg.matrix_inverse(a), lambda a, b: np.linalg.inv(a)),
    "det": (lambda a, b: nlinalg.det(a), lambda a, b: np.linalg.det(a)),
    "slogdet": (lambda a, b: nlinalg.slogdet(a)[1], lambda a, b: np.linalg.slogdet(a)[1]),
    "cholesky": (lambda a, b: slinalg.cholesky(T.dot(a, a.T)), lambda a, b: np.linalg.cholesky(a @ a.T)),
    "upper": (lambda a, b: slinalg.Cholesky(False)(T.dot(a, a.T)), lambda a, b: np.linalg.cholesky(a @ a.T).T),
    "solve": (slinalg.solve, np.linalg.solve),
    "symmetric": (slinalg.solve_symmetric, lambda a, b: np.linalg.solve(np.triu(a) + np.triu(a, 1).T, b)),
    "lower": (slinalg.solve_lower_triangular, lambda a, b: np.linalg.solve(np.tril(a), b)),
    "triangle": (slinalg.solve_upper_triangular, lambda a, b: np.linalg.solve(np.triu(a), b)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LAPACK)
def test_compiled_like_numpy(name, dtype):
    build, reference = LAPACK[name]
    rng = np.random.default_rng(7)
    for columns in (None, 1, 3):
        b = T.TensorType(dtype, (False,) * (1 if columns is None else 2))("b")
        a = T.TensorType(dtype, (False, False))("a")
        f = theano.function([a, b], build(a, b), on_unused_input="ignore")
        for n in (0, 1, 2, 7, 33):
            x = (rng.normal(size=(n, n)) + 6 * np.eye(n)).astype(dtype)
            y = rng.normal(size=n if columns is None else (n, columns)).astype(dtype)
            for layout in ("C", "F", "reversed", "step2", "offset", "unaligned"):
                found = f(lay(x, layout), lay(y, layout))
                expected = reference(x, y)
                assert found.dtype == dtype and found.shape == expected.shape
                scale = max(1.0, float(np.abs(expected).max(initial=0)))
                tolerance = (2e-4 if dtype == "float32" else 1e-11) * scale
                np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", LAPACK)
def test_has_a_kernel(name):
    a, b = T.dmatrix(), T.dmatrix()
    node = LAPACK[name][0](a, b).owner
    assert node.op.c_kernel(node) is not None


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_what_cannot_be_solved(mode):
    a, b = T.dmatrix("a"), T.dvector("b")
    with pytest.raises(np.linalg.LinAlgError, match="[Ss]ingular"):
        theano.function([a], nlinalg.matrix_inverse(a), mode=mode)(np.zeros((2, 2)))
    with pytest.raises(np.linalg.LinAlgError, match="[Ss]ingular"):
        theano.function([a, b], slinalg.solve(a, b), mode=mode)(np.zeros((2, 2)), np.ones(2))
    with pytest.raises(np.linalg.LinAlgError, match="[Ss]ingular"):
        theano.function([a, b], slinalg.solve_lower_triangular(a, b), mode=mode)(np.zeros((2, 2)), np.ones(2))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        theano.function([a], slinalg.cholesky(a), mode=mode)(-np.eye(2))
    assert np.isnan(theano.function([a], slinalg.Cholesky(on_error="nan")(a), mode=mode)(-np.eye(2))).all()
    assert theano.function([a], nlinalg.det(a), mode=mode)(np.zeros((2, 2))) == 0
    for expression in (nlinalg.matrix_inverse(a), nlinalg.det(a), slinalg.cholesky(a), slinalg.expm(a)):
        with pytest.raises(ShapeError, match=r"square.*\(2, 3\)"):
            theano.function([a], expression, mode=mode)(np.ones((2, 3)))
    with pytest.raises(ShapeError, match="3 rows of A against 2 of b"):
        theano.function([a, b], slinalg.solve(a, b), mode=mode)(np.eye(3), np.ones(2))


def test_bad_arguments():
    v, m = T.dvector("v"), T.dmatrix("m")
    with pytest.raises(TypeError, match=r"must be a matrix"):
        nlinalg.matrix_inverse(v)
    with pytest.raises(ValueError, match="A_structure must be one of"):
        slinalg.Solve("round")
    with pytest.raises(ValueError, match="mode of qr"):
        nlinalg.qr(m, "nonsense")
    with pytest.raises(ValueError, match="no norm of a matrix"):
        nlinalg.norm(m, 3)
    with pytest.raises(ValueError, match="norm must be"):
        fft.rfft(m, "loud")
    with pytest.raises(np.linalg.LinAlgError, match="complex eigenvalues"):
        theano.function([m], nlinalg.eig(m)[0])(np.array([[0.0, 1.0], [-1.0, 0.0]]))


def test_eigvalsh_of_one_matrix():
    a = T.dmatrix("a")
    value = np.array([[2.0, 1.0], [1.0, 3.0]])
    out = slinalg.eigvalsh(a, None)
    np.testing.assert_allclose(theano.function([a], out)(value), scipy.linalg.eigvalsh(value))
    found = theano.function([a], theano.grad(out.sum(), a))(value)
    np.testing.assert_allclose(found, np.eye(2), atol=1e-12)


def test_least_squares():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(6, 3)), rng.normal(size=(6, 2))
    a, b, cut = T.dmatrix(), T.dmatrix(), T.dscalar()
    found = theano.function([a, b, cut], nlinalg.lstsq()(a, b, cut))(x, y, -1)
    for mine, theirs in zip(found, np.linalg.lstsq(x, y, rcond=-1)):
        np.testing.assert_allclose(mine, theirs)


def test_integers_and_half_precision_are_brought_up():
    assert nlinalg.det(T.imatrix()).dtype == "float64"
    assert slinalg.solve(T.imatrix(), T.fvector()).dtype == "float64"
    assert nlinalg.matrix_inverse(T.TensorType("float16", (False, False))()).dtype == "float32"
    a = T.imatrix("a")
    assert run(nlinalg.det(a), {a: np.array([[2, 0], [0, 3]], dtype="int32")}) == pytest.approx(6)


@pytest.mark.parametrize(
    ("op", "dimensions"),
    [
        (slinalg.CholeskyGrad(), (2, 2, 2)), (nlinalg.EighGrad(), (2, 1, 2, 1, 2)), (slinalg.EigvalshGrad(), (2, 2, 1)),
        (slinalg.ExpmGrad(), (2, 2)),
    ],
    ids=lambda x: str(x)[:12],
)  # fmt: skip
def test_gradients_of_factorisations_take_so_many_dimensions(op, dimensions):
    """The matrix, the factors, the gradients of these, and nothing else in any place."""
    inputs = [T.dmatrix() if n == 2 else T.dvector() for n in dimensions]
    assert op(*inputs, return_list=True)[0].type.ndim == 2
    for i, n in enumerate(dimensions):
        wrong = [*inputs[:i], T.dvector() if n == 2 else T.dmatrix(), *inputs[i + 1 :]]
        with pytest.raises(TypeError, match=f"input {i} must have {n} dimensions"):
            op(*wrong)
    with pytest.raises(TypeError, match=f"takes {len(dimensions)} inputs, got {len(dimensions) - 1}"):
        op(*inputs[1:])


def test_gradients_of_factorisations_read_the_lower_triangle_if_nobody_says_otherwise():
    assert slinalg.CholeskyGrad().lower and slinalg.EigvalshGrad().lower and nlinalg.EighGrad().UPLO == "L"
