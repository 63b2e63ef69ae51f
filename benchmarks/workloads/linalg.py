"""n. Linear algebra: factorisations, equations, determinants, and the log-density of a Gaussian process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.workload import BOTH, SEED, Workload, registry

TABLE: dict[str, Workload] = {}
add = registry(TABLE)
LOOSE = {"float64": 1e-8, "float32": 1e-2}
SIZES = (10, 100, 500)


def square(n: int) -> Callable[[np.random.RandomState], dict[str, np.ndarray]]:
    """Return a maker of a matrix that is far from singular."""
    return lambda rng: {"x": rng.standard_normal((n, n)) + 2 * np.sqrt(n) * np.eye(n)}


def definite(n: int, **more: Any) -> Callable[[np.random.RandomState], dict[str, np.ndarray]]:
    """Return a maker of a symmetric positive definite matrix, and of normal numbers beside it."""

    def make(rng: np.random.RandomState) -> dict[str, np.ndarray]:
        x = rng.standard_normal((n, n))
        return {"x": x @ x.T / n + np.eye(n), **{name: rng.standard_normal(shape) for name, shape in more.items()}}

    return make


def equations(n: int, columns: int) -> Callable[[np.random.RandomState], dict[str, np.ndarray]]:
    """Return a maker of a matrix that is far from singular, and of right-hand sides; 0 columns are a vector."""
    return lambda rng: {**square(n)(rng), "y": rng.standard_normal((n, columns) if columns else n)}


def triangle(n: int, columns: int) -> Callable[[np.random.RandomState], dict[str, np.ndarray]]:
    """Return a maker of a well conditioned lower triangle, and of right-hand sides."""

    def make(rng: np.random.RandomState) -> dict[str, np.ndarray]:
        made = definite(n, y=(n, columns) if columns else n)(rng)
        return {**made, "x": np.linalg.cholesky(made["x"])}

    return make


def gives_back(make: Callable, together: Callable[..., Any]) -> Callable[[list], bool]:
    """Return a judge of factors, whose signs are free: put together they must be the matrix again, within rounding."""

    def judge(results: list) -> bool:
        x = make(np.random.RandomState(SEED))["x"]
        error = np.abs(together(*[np.asarray(r, dtype="float64") for r in results]) - x).max()
        return bool(error < (1e-9 if results[0].dtype == np.float64 else 1e-3) * np.abs(x).max())

    return judge


# Operations of the classical algorithms (G. Golub, C. Van Loan, "Matrix Computations", 4th ed., 2013): of the eigenvalues and the
# singular values the reduction to two diagonals and the way back of the vectors, without what is done on the diagonals.
for n in SIZES:
    add(f"n_cholesky_{n}", definite(n), lambda xp, x: [xp.cholesky(x)], dtypes=BOTH, tolerance=LOOSE, flops=n**3 / 3)
    add(f"n_inverse_{n}", square(n), lambda xp, x: [xp.inverse(x)], dtypes=BOTH, tolerance=LOOSE, flops=2 * n**3)
    add(f"n_solve_{n}", equations(n, 0), lambda xp, x, y: [xp.solve(x, y)], tolerance=LOOSE, flops=2 * n**3 / 3)
    add(f"n_triangular_{n}", triangle(n, 0), lambda xp, x, y: [xp.solve_lower(x, y)], tolerance=LOOSE, reads=n * n / 2)
    add(f"n_det_{n}", lambda rng, n=n: {"x": square(n)(rng)["x"] / (2.2 * np.sqrt(n))}, lambda xp, x: [xp.det(x)], tolerance=LOOSE,
        flops=2 * n**3 / 3)  # fmt: skip
    add(f"n_eigh_{n}", definite(n), lambda xp, x: list(xp.eigh(x)), accept=gives_back(definite(n), lambda w, v: v * w @ v.T),
        flops=10 * n**3 / 3)  # fmt: skip
    add(f"n_svd_{n}", square(n), lambda xp, x: list(xp.svd(x)), accept=gives_back(square(n), lambda u, s, v: u * s @ v),
        flops=20 * n**3 / 3)  # fmt: skip
    add(f"n_qr_{n}", square(n), lambda xp, x: list(xp.qr(x)), accept=gives_back(square(n), lambda q, r: q @ r), flops=8 * n**3 / 3)

# Others of the same kinds, so that nothing is tuned to those above.
add("n_solve_100x100", equations(100, 100), lambda xp, x, y: [xp.solve(x, y)], dtypes=BOTH, tolerance=LOOSE, flops=8 * 100**3 / 3)
add("n_solve_4", equations(4, 0), lambda xp, x, y: [xp.solve(x, y)], tolerance=LOOSE)
add("n_triangular_300x300", triangle(300, 300), lambda xp, x, y: [xp.solve_lower(x, y)], dtypes=BOTH, tolerance=LOOSE, flops=300**3)
add("n_cholesky_4", definite(4), lambda xp, x: [xp.cholesky(x)], dtypes=BOTH, tolerance=LOOSE)
add("n_cholesky_250", definite(250), lambda xp, x: [xp.cholesky(x)], tolerance=LOOSE, flops=250**3 / 3)
add("n_inverse_40", square(40), lambda xp, x: [xp.inverse(x)], tolerance=LOOSE)
add("n_singular_values_100", square(100), lambda xp, x: [xp.singular_values(x)], tolerance=LOOSE, flops=8 * 100**3 / 3)
add("n_eigh_30", definite(30), lambda xp, x: list(xp.eigh(x)), accept=gives_back(definite(30), lambda w, v: v * w @ v.T))

# -- the log-density of a Gaussian process, and its gradient with respect to scale, length and data -----------------

HALF_LOG_2PI = 0.9189385332046727


def process(n: int) -> Callable[[np.random.RandomState], dict[str, np.ndarray]]:
    """Return a maker of squared distances between places, data there, and two parameters."""

    def make(rng: np.random.RandomState) -> dict[str, np.ndarray]:
        at = rng.standard_normal((n, 2))
        apart = ((at[:, None] - at[None]) ** 2).sum(-1)
        return {"d": apart, "e": np.eye(n), "y": rng.standard_normal(n), "s": np.asarray(1.3), "g": np.asarray(0.8)}

    return make


def log_density(xp: Any, d: Any, e: Any, y: Any, s: Any, g: Any) -> list:
    def cost(y: Any, s: Any, g: Any) -> Any:
        factor = xp.cholesky(s * xp.exp(-g * d) + 0.1 * e)
        z = xp.solve_lower(factor, y)
        return -0.5 * xp.sum(z * z) - xp.sum(xp.log(xp.diagonal(factor))) - HALF_LOG_2PI * d.shape[0]

    total, gradients = xp.value_and_grad(cost, [y, s, g])
    return [total, *gradients]


def log_density_by_hand(d: np.ndarray, e: np.ndarray, y: np.ndarray, s: np.ndarray, g: np.ndarray) -> list:
    kernel = np.exp(-g * d)
    k = s * kernel + 0.1 * e
    inverse = np.linalg.inv(k)
    a = inverse @ y
    total = -0.5 * y @ a - np.log(np.diag(np.linalg.cholesky(k))).sum() - HALF_LOG_2PI * len(y)
    for_k = 0.5 * (np.outer(a, a) - inverse)
    return [np.asarray(total), -a, np.asarray((for_k * kernel).sum()), np.asarray((for_k * kernel * -d * s).sum())]


for n in (5, 50, 300):
    add(f"n_gaussian_grad_{n}", process(n), log_density, by_hand=log_density_by_hand, tolerance=LOOSE)
