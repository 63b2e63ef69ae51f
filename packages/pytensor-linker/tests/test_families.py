"""Reductions, shapes, indices, joins, linear algebra and special functions beside PyTensor's Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from comparing import RNG, Performed, compare, value
from pytensor.ifelse import ifelse
from pytensor.raise_op import Assert
from pytensor.tensor.fft import rfft
from pytensor.tensor.signal import convolve1d

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), ()])
def test_reductions(dtype: str, axis: Any) -> None:
    x = pt.tensor(dtype=dtype, shape=(None, None, None))
    made = [pt.sum(x, axis=axis), pt.prod(x, axis=axis)]
    if dtype != "complex128":
        made += [pt.max(x, axis=axis), pt.min(x, axis=axis)]
    if dtype == "bool":
        made += [pt.all(x, axis=axis), pt.any(x, axis=axis)]
    compare([x], made, [value(dtype, (2, 3, 4), -2, 2)], rtol=1e-5)


def test_reductions_of_no_axis() -> None:
    x = pt.dscalar("x")
    assert float(pytensor.function([x], x.sum(axis=-1), mode="THEANO")(2.0)) == 2.0  # its `perform` refuses


def test_reductions_of_nothing() -> None:
    x = pt.dmatrix("x")
    compare([x], [x.sum(axis=0), x.prod(), pt.logsumexp(x, axis=1)], [np.ones((3, 0))])
    largest = [x.max(axis=0, initial=-np.inf), x.max(initial=-np.inf), (2 * x).min(axis=0, initial=np.inf)]
    for points in (np.ones((0, 3)), np.arange(6.0).reshape(2, 3)):
        compare([x], largest, [points])


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_places_order_and_running_sums(axis: int | None) -> None:
    x = pt.dmatrix("x")
    compare([x], [pt.argmax(x, axis=axis), pt.argmin(x, axis=axis), pt.cumsum(x, axis=axis), pt.cumprod(x, axis=axis),
                  pt.repeat(x, 3, axis=axis), pt.sort(x, axis=axis), pt.argsort(x, axis=axis)], [value("float64", (4, 5))])  # fmt: skip


def test_sets() -> None:
    x = pt.lvector("x")
    compare([x], pt.unique(x, return_index=True, return_inverse=True, return_counts=True), [np.array([3, 1, 3, 2, 1])])
    compare([x], pt.searchsorted(pt.sort(x), x), [np.array([3, 1, 3, 2, 1])])


def _shapes(x: Any) -> list[Any]:
    return [x.T, x.reshape((-1, 2)), x.flatten(), x.dimshuffle(1, "x", 0), x.shape, pt.specify_shape(x, (4, None)),
            pt.diagonal(x), pt.join_dims(x), pt.split_dims(x, (2, 3), axis=1), pt.expand_dims(x, 1)]  # fmt: skip


def _made(x: Any) -> list[Any]:
    return [pt.alloc(x[0], 3, 6), pt.eye(3, 4, 1), pt.arange(x.shape[0]), pt.zeros_like(x), pt.stack([x, x + 1]),
            pt.concatenate([x, x], axis=1), *pt.split(x, [1, 3], axis=0), pt.tril(x), pt.full((2, 3), x[0, 0])]  # fmt: skip


def _read(x: Any) -> list[Any]:
    i = pt.as_tensor([0, 2, 2])
    return [x[1], x[-1, 2:], x[::2, ::-1], x[:, None, 3], x[i], x[i, 1], x[i[:, None], i], x[x > 0], x[:, np.array([True, False] * 3)],
            x[i, ..., 1:3], pt.take(x, i, axis=1), *pt.nonzero(x > 0)]  # fmt: skip


def _written(x: Any) -> list[Any]:
    i = pt.as_tensor([0, 2, 2])
    return [x[1].set(0.0), x[1:, 2].inc(x[0, 0]), x[::2, ::-1].set(x[::2]), x[i].inc(1.0), x[i].set(2.0), x[i, i].inc(3.0),
            x[x > 0].set(0.0), x[x > 0].inc(1.0), x[i, 1:3].inc(x[:3, 1:3]), pt.fill_diagonal(x, 1.0)]  # fmt: skip


def _special(x: Any) -> list[Any]:
    return [pt.special.softmax(x, axis=1), pt.special.log_softmax(x, axis=0), pt.logsumexp(x, axis=1), pt.log1mexp(-abs(x)),
            pt.special.softmax(x, axis=None), pt.logaddexp(x, 1.0),
            pt.betainc(abs(x) + 1, 2.0, 0.3), pt.diff(x), pt.clip(x, -1, 1), pt.var(x, axis=0), pt.mean(x)]  # fmt: skip


@pytest.mark.parametrize("expressions", [_shapes, _made, _read, _written, _special])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_families(expressions: Callable[[Any], list[Any]], dtype: str) -> None:
    x = pt.tensor("x", dtype=dtype, shape=(None, None))
    compare([x], expressions(x), [value(dtype, (4, 6))], rtol=1e-5)


def _factors(a: Any) -> list[Any]:
    spd = a @ a.mT + 5 * pt.eye(3)
    b = a[..., 0]
    L = pt.linalg.cholesky(spd)
    return [L, pt.linalg.inv(spd), pt.linalg.det(spd), *pt.linalg.slogdet(spd), pt.linalg.solve(spd, a),
            pt.linalg.solve(spd, b, b_ndim=1), pt.linalg.solve_triangular(L, a, lower=True), pt.linalg.expm(a / 5),
            pt.linalg.svd(a, compute_uv=False),
            pt.linalg.cho_solve((L, True), a), a @ spd, pt.linalg.pinv(a)]  # fmt: skip


@pytest.mark.parametrize("batch", [(), (2,), (2, 4)])
def test_linear_algebra_in_batches(batch: tuple[int, ...]) -> None:
    a = pt.tensor("a", dtype="float64", shape=(*(None for _ in batch), 3, 3))
    with Performed() as seen:
        compare([a], _factors(a), [value("float64", (*batch, 3, 3))], rtol=1e-7)
    assert not seen.lines


def test_decompositions_rebuild_their_matrix() -> None:
    a = pt.dmatrix("a")
    q, r = pt.linalg.qr(a, mode="economic")
    w, v = pt.linalg.eigh(a @ a.T)
    p, l, u = pt.linalg.lu(a)
    compare([a], [q @ r, v @ pt.diag(w) @ v.T, p @ l @ u], [value("float64", (4, 4))], rtol=1e-7)


@pytest.mark.parametrize("lower", [True, False])
def test_generalised_eigenvalues(lower: bool) -> None:
    """Of which one triangle of each matrix is read; PyMC's CAR asks for them."""
    a, b = pt.dmatrix("a"), pt.dmatrix("b")
    root = value("float64", (4, 4))
    with Performed() as seen:
        compare([a, b], pt.linalg.eigvalsh(a, b, lower=lower), [value("float64", (4, 4)), root @ root.T + 3 * np.eye(4)], rtol=1e-9)
    assert not seen.lines


@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (5, 2)])
def test_diagonals_written(shape: tuple[int, int]) -> None:
    x, v, k = pt.dmatrix("x"), pt.dscalar("v"), pt.lscalar("k")
    with Performed() as seen:
        for offset in (-1, 0, 1):
            compare([x, v, k], [pt.fill_diagonal(x, v), pt.fill_diagonal_offset(x, v, k)], [value("float64", shape), 7.0, offset])
        cube = pt.dtensor3("cube")
        compare([cube], pt.fill_diagonal(cube, 2), [value("float64", (3, 3, 3))])
    assert not seen.lines


def test_a_matrix_that_has_no_factor_or_solution_gives_nan() -> None:
    a, b = pt.dmatrix("a"), pt.dmatrix("b")
    compare([a], pt.linalg.cholesky(a), [-np.eye(3)])
    solutions = [pt.linalg.solve(a, b), *(pt.linalg.solve_triangular(a, b, lower=lower) for lower in (True, False))]
    compare([a, b], solutions, [np.diag([1.0, 0, 2]), np.ones((3, 3))])
    stack = pt.dtensor3("stack")
    values = [np.stack([np.eye(3), np.diag([1.0, 0, 2])]), np.ones((3, 3))]
    compare([stack, b], [pt.linalg.solve(stack, b), pt.linalg.solve_triangular(stack, b)], values)


def test_choice_and_checks() -> None:
    c, x = pt.bscalar("c"), pt.dvector("x")
    f = compare([c, x], [ifelse(c, x * 2, x[:1]), Assert("must be positive")(x, pt.all(x > 0))], [1, np.ones(3)])
    with pytest.raises(AssertionError, match="must be positive"):
        f(1, -np.ones(3))


def test_fourier_and_convolution() -> None:
    x, k = pt.dvector("x"), pt.dvector("k")
    compare([x, k], [convolve1d(x, k, mode=m) for m in ("full", "valid", "same")],
            [RNG.normal(size=9), RNG.normal(size=4)], rtol=1e-9)  # fmt: skip
    rows = pt.dmatrix("rows")
    compare([rows], rfft(rows), [RNG.normal(size=(3, 8))], rtol=1e-9)
