"""Convolutions, Fourier transforms, places in flat arrays, and rarer decompositions beside PyTensor's Python and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
import scipy.linalg
from comparing import Performed, compare, value
from pytensor import grad
from pytensor.compile.builders import OpFromGraph
from pytensor.tensor.fft import irfft, rfft
from pytensor.tensor.linalg.decomposition.lu import pivot_to_permutation
from pytensor.tensor.linalg.solvers.lstsq import lstsq
from pytensor.tensor.signal import convolve1d, convolve2d

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def _vectors(dtype: str, *shapes: tuple[int, ...]) -> tuple[list[Any], list[Any]]:
    variables = [pt.tensor(dtype=dtype, shape=(None,) * len(shape)) for shape in shapes]
    return variables, [value(dtype, shape) for shape in shapes]


@pytest.mark.parametrize("lengths", [(9, 4), (4, 9), (5, 5), (6, 1)])
@pytest.mark.parametrize("mode", ["full", "valid", "same"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_convolutions_of_vectors_and_their_gradients(lengths: tuple[int, int], mode: Any, dtype: str) -> None:
    variables, values = _vectors(dtype, (lengths[0],), (lengths[1],))
    y = convolve1d(*variables, mode=mode)
    with Performed() as seen:
        f = compare(variables, [y, *grad((y * pt.arange(1, y.shape[0] + 1)).sum(), variables)], values, rtol=1e-5)
    assert not seen.lines
    if mode != "same" or lengths[0] > lengths[1]:  # NumPy's is as long as the longer operand
        np.testing.assert_allclose(f(*values)[0], np.convolve(*values, mode=mode), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["int8", "int64", "bool", "complex128"])
@pytest.mark.parametrize("mode", ["full", "valid"])
def test_convolutions_of_other_numbers(dtype: str, mode: Any) -> None:
    for lengths in [(9, 4), (4, 9)]:
        variables, values = _vectors(dtype, (lengths[0],), (lengths[1],))
        with Performed() as seen:
            compare(variables, convolve1d(*variables, mode=mode), values)
        assert not seen.lines


@pytest.mark.parametrize("batches", [((3,), ()), ((), (3,)), ((3,), (3,)), ((1,), (3,)), ((2, 1), (3,)), ((1,), (1, 1))])
@pytest.mark.parametrize("mode", ["full", "valid"])
def test_convolutions_in_batches(batches: tuple[tuple[int, ...], tuple[int, ...]], mode: Any) -> None:
    shapes = [(*batch, n) for batch, n in zip(batches, (8, 3), strict=True)]
    variables = [pt.tensor(dtype="float64", shape=tuple(1 if n == 1 else None for n in shape)) for shape in shapes]
    values = [value("float64", shape) for shape in shapes]
    y = convolve1d(*variables, mode=mode)
    with Performed() as seen:
        compare(variables, [y, *grad((y**2).sum(), variables)], values, rtol=1e-9)
    assert not seen.lines


def test_batches_known_to_have_one_member() -> None:
    shapes = [(1, 3, 3), (2, 3, 3), (1, 1, 3, 3)]
    a, b, c = (pt.tensor(dtype="float64", shape=shape) for shape in shapes)
    outputs = [pt.linalg.inv(a), pt.linalg.solve(a, b), pt.linalg.solve(c, b), pt.linalg.solve(c, a), pt.linalg.solve(b, c),
               *pt.linalg.lu(c), pt.linalg.det(a), pt.linalg.solve(a, a[0, :, 0], b_ndim=1)]  # fmt: skip
    with Performed() as seen:
        compare([a, b, c], outputs, [value("float64", shape) + 4 * np.eye(3) for shape in shapes], rtol=1e-8)
    assert not seen.lines


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
@pytest.mark.parametrize("shapes", [((6, 7), (3, 2)), ((3, 2), (6, 7)), ((2, 6, 7), (3, 2))])
def test_convolutions_of_matrices(mode: Any, shapes: Any) -> None:
    variables, values = _vectors("float64", *shapes)
    y = convolve2d(*variables, mode=mode, method="direct")
    with Performed() as seen:
        compare(variables, [y, *grad((y**2).sum(), variables)], values, rtol=1e-9)
    assert not seen.lines


@pytest.mark.parametrize("shape", [(3, 8), (2, 7), (1, 1), (0, 4), (2, 3, 4)])
@pytest.mark.parametrize("norm", [None, "ortho", "no_norm"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_fourier_transforms_and_their_gradients(shape: tuple[int, ...], norm: Any, dtype: str) -> None:
    x, given = pt.tensor(dtype=dtype, shape=(None,) * len(shape)), value(dtype, shape, -0.1, 0.1)
    spectrum = rfft(x, norm=norm)
    back = irfft(spectrum, norm=norm, is_odd=bool(shape[-1] % 2))
    with Performed() as seen:
        f = compare([x], [spectrum, back, grad((spectrum**3).sum(), x), grad((back**3).sum(), x)], [given], rtol=1e-4)
    assert not seen.lines
    if norm is None and len(shape) == 2:
        np.testing.assert_allclose(f(given)[0] @ [1, 1j], np.fft.rfft(given), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["int64", "int32", "int8"])
def test_places_in_flat_arrays(order: Any, dtype: str) -> None:
    k = pt.tensor(dtype=dtype, shape=(None, None))
    i, j = pt.unravel_index(k, (3, 4), order=order)
    far = pt.lvector("far")
    outputs = [i, j, pt.ravel_multi_index((i, j), (3, 4), order=order), pt.unravel_index(k[0, 0], (3, 4))[1],
               pt.ravel_multi_index((far, far), (3, 4), mode="wrap"), pt.ravel_multi_index((far, far), (3, 4), mode="clip")]  # fmt: skip
    with Performed() as seen:
        f = compare([k, far], outputs, [np.array([[0, 5, 11], [7, 2, 1]], dtype), np.array([-1, 2, 9])])
    assert not seen.lines
    with pytest.raises(ValueError):
        f(np.full((1, 1), 12, dtype), np.arange(3))


def test_a_window() -> None:
    n = pt.lscalar("n")
    with Performed() as seen:
        f = compare([n], pt.bartlett(n), [5])
    assert not seen.lines
    for length in (-1, 0, 1, 2, 6):
        np.testing.assert_allclose(f(length)[0], np.bartlett(length), rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64"])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_eigenvalues_of_any_matrix(dtype: str, batch: tuple[int, ...]) -> None:
    a = pt.tensor(dtype=dtype, shape=(*(None for _ in batch), None, None))
    given = value(dtype, (*batch, 4, 4))
    with Performed() as seen:
        f = pytensor.function([a], pt.linalg.eig(a), mode="THEANO")
    assert not seen.lines
    w, v = f(given)
    assert w.dtype == v.dtype == np.promote_types(dtype, "complex64")
    near = 1e-4 if dtype == "float32" else 1e-10
    np.testing.assert_allclose(given @ v, v * w[..., None, :], atol=near)
    np.testing.assert_allclose(np.linalg.norm(v, axis=-2), 1, rtol=near)
    np.testing.assert_allclose(np.sort_complex(w.ravel().round(3)), np.sort_complex(np.linalg.eigvals(given).ravel().round(3)), atol=2e-3)


@pytest.mark.parametrize("lower", [True, False])
def test_generalised_eigenvectors_and_gradients_of_eigenvalues(lower: bool) -> None:
    a, b = pt.dmatrix("a"), pt.dmatrix("b")
    root = value("float64", (4, 4))
    values = [value("float64", (4, 4)), root @ root.T + 3 * np.eye(4)]
    w, v = pt.linalg.eigh(a, b, lower=lower)
    of_values = (pt.linalg.eigvalsh(a, b, lower=lower) ** 2).sum()
    with Performed() as seen:
        f = compare([a, b], [w, abs(v), *grad(of_values, [a, b])], values, rtol=1e-7)
    assert not seen.lines
    symmetric = np.tril(values[0]) + np.tril(values[0], -1).T if lower else np.triu(values[0]) + np.triu(values[0], 1).T
    np.testing.assert_allclose(f(*values)[0], scipy.linalg.eigh(symmetric, values[1])[0], rtol=1e-9)


def test_solutions_and_inverses() -> None:
    a, b, cut = pt.dmatrix("a"), pt.dmatrix("b"), pt.dscalar("cut")
    tall, high = value("float64", (6, 3)), value("float64", (6, 2))
    with Performed() as seen:
        f = pytensor.function([a, b, cut], lstsq(a, b, cut), mode="THEANO")
        for got, wanted in zip(f(tall, high, 1e-10), np.linalg.lstsq(tall, high, 1e-10), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-9)
        block, right, many = pt.dtensor4("block"), pt.dmatrix("right"), value("float64", (2, 3, 2, 3))
        compare([block], pt.linalg.tensorinv(block), [many], rtol=1e-7)
        compare([block, right], pt.linalg.tensorsolve(block, right), [many, value("float64", (2, 3))], rtol=1e-7)
        square = value("float64", (4, 4))
        compare([a], pt.linalg.pinv(a, hermitian=True), [square], rtol=1e-7)
        compare([a], pt.linalg.solve(a, a[:, 0], assume_a="her"), [square], rtol=1e-7)
        for shape in [(5, 3), (3, 5), (4, 4)]:
            compare([a], abs(pt.linalg.qr(a, mode="r")), [value("float64", shape)], rtol=1e-9)
    assert not seen.lines


def test_in_loops_and_in_graphs_that_are_ops() -> None:
    x, k = pt.dmatrix("x"), pt.dvector("k")
    rows = pytensor.scan(lambda row: convolve1d(row, k, mode="same"), sequences=x, return_updates=False)
    u, v = pt.dvectors("u", "v")
    graph = OpFromGraph([u, v], [convolve1d(u, v), rfft(u[None])])
    with Performed() as seen:
        compare([x, k], [rows, *grad((rows**2).sum(), [x, k]), *graph(x[0], k)], [value("float64", (3, 7)), value("float64", (3,))], rtol=1e-9)
    assert not seen.lines


@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_elimination(batch: tuple[int, ...], dtype: str) -> None:
    a = pt.tensor(dtype=dtype, shape=(*(None for _ in batch), None, None))
    given = value(dtype, (*batch, 5, 5))
    outputs = [*pt.linalg.lu(a), *pt.linalg.lu(a, p_indices=True), *pt.linalg.lu(a, permute_l=True), *pt.linalg.lu_factor(a)]
    with Performed() as seen:
        f = compare([a], outputs, [given], rtol=1e-3 if dtype == "float32" else 1e-9)
    assert not seen.lines
    p, lower, upper = f(given)[:3]
    np.testing.assert_allclose(p @ lower @ upper, given, atol=1e-5)


@pytest.mark.parametrize("n", [0, 1, 6, 60])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_solutions_by_elimination_and_gradients(n: int, batch: tuple[int, ...]) -> None:
    a = pt.tensor(dtype="float64", shape=(*(None for _ in batch), None, None))
    b = pt.dvector("b")
    given, right = value("float64", (*batch, n, n)), value("float64", (n,))
    solutions = [pt.linalg.lu_solve(pt.linalg.lu_factor(a), b, trans=trans, b_ndim=1) for trans in (False, True)]
    with Performed() as seen:
        f = compare([a, b], [*solutions, *grad(sum(pt.tanh(x).sum() for x in solutions), [a, b])], [given, right], rtol=1e-6)
    assert not seen.lines
    np.testing.assert_allclose(f(given, right)[0], np.linalg.solve(given, np.broadcast_to(right, given.shape[:-1])[..., None])[..., 0], rtol=1e-6)


def test_gradients_of_factors_and_a_singular_matrix() -> None:
    a, weights = pt.dmatrix("a"), value("float64", (4, 4))
    cost = [(pt.linalg.lu(a)[k] * weights).sum() for k in (1, 2)] + [(pt.linalg.lu_factor(a)[0] * weights).sum()]
    with Performed() as seen:
        compare([a], [grad(c, a) for c in cost], [value("float64", (4, 4))], rtol=1e-8)
        compare([a], pt.linalg.lu_factor(a)[0], [np.diag([1.0, 0.0, 2.0])])
    assert not seen.lines


@pytest.mark.parametrize("inverse", [True, False])
def test_exchanges_of_rows(inverse: bool) -> None:
    pivots = pt.ivector("pivots")
    with Performed() as seen:
        for given in ([2, 1, 3, 3], [0], []):
            compare([pivots], pivot_to_permutation(pivots, inverse=inverse), [np.array(given, "int32")])
    assert not seen.lines


@pytest.mark.parametrize("inverse", [True, False])
def test_rows_in_another_order_and_choices(inverse: bool) -> None:
    x, order = pt.dmatrix("x"), pt.lvector("order")
    numbers, table = pt.lvector("numbers"), pt.dmatrix("table")
    outputs = [pt.permute_row_elements(x, order, inverse=inverse), pt.inverse_permutation(order),
               pt.choose(numbers, table, mode="wrap"), pt.choose(numbers, table, mode="clip")]  # fmt: skip
    given = [value("float64", (2, 4)), np.array([2, 0, 3, 1]), np.array([-1, 2, 9]), value("float64", (4, 3))]
    with Performed() as seen:
        compare([x, order, numbers, table], outputs, given)
        compare([x, order], grad((outputs[0] ** 2).sum(), x), given[:2])
    assert not seen.lines
