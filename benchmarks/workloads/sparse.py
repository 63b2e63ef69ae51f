"""j. A sparse matrix times a dense one, and a classifier of texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.frameworks.base import NotAvailable
from benchmarks.workload import Workload, registry

TABLE: dict[str, Workload] = {}
add = registry(TABLE)


def sparse_matrix(rng: np.random.RandomState, shape: tuple[int, int], density: float) -> Any:
    try:
        import scipy.sparse  # not every worker has SciPy
    except ImportError as error:
        raise NotAvailable("SciPy is not there") from error

    matrix = scipy.sparse.random(*shape, density, "csr", random_state=rng)
    matrix.sort_indices()
    return matrix


def sparse_and_dense(rng: np.random.RandomState) -> dict[str, Any]:
    return {"s": sparse_matrix(rng, (10000, 10000), 1e-3), "d": rng.standard_normal((10000, 64))}


def gradient(xp: Any, s: Any, d: Any) -> list:
    cost, (g,) = xp.value_and_grad(lambda d: 0.5 * xp.sum(xp.sparse_dot(s, d) ** 2), [d])
    return [cost, g]


def gradient_by_hand(s: Any, d: Any) -> list:
    out = s @ d
    return [0.5 * (out * out).sum(), s.T @ out]


add("j_spmm", sparse_and_dense, lambda xp, s, d: [xp.sparse_dot(s, d)], by_hand=lambda s, d: [s @ d], flops=2e5 * 64)
add("j_spmm_grad", sparse_and_dense, gradient, by_hand=gradient_by_hand, flops=4e5 * 64)

# Others of the same kinds, so that nothing is tuned to those above.


def sparse_and_vector(rng: np.random.RandomState) -> dict[str, Any]:
    return {"s": sparse_and_dense(rng)["s"], "d": rng.standard_normal(10000)}


# An index is half as long as a number.
add("j_spmv", sparse_and_vector, lambda xp, s, d: [xp.sparse_dot(s, d)], by_hand=lambda s, d: [s @ d], reads=1.6e5, writes=1e4)
add("j_spmv_grad", sparse_and_vector, gradient, by_hand=gradient_by_hand, reads=3.2e5, writes=2e4)


def words(rng: np.random.RandomState) -> dict[str, Any]:
    """Return counts of words, labels, and weights."""
    s = sparse_matrix(rng, (4000, 20000), 0.005)
    return {"s": s, "y": (rng.random_sample(4000) > 0.5) * 1.0, "w": 0.01 * rng.standard_normal(20000)}


def logistic(xp: Any, s: Any, y: Any, w: Any) -> Any:
    def cost(w: Any) -> Any:
        z = xp.sparse_dot(s, w)
        return xp.mean(xp.softplus(z) - y * z)

    value, (g,) = xp.value_and_grad(cost, [w])
    return [value], {"w": w - 0.1 * g}


def logistic_by_hand(s: Any, y: Any, w: Any) -> Any:
    z = s @ w
    e = np.exp(-np.abs(z))
    p = np.where(z > 0, 1, e) / (1 + e)
    return [(np.maximum(z, 0) + np.log1p(e) - y * z).mean()], {"w": w - 0.1 / len(y) * (s.T @ (p - y))}


add("j_logistic", words, logistic, state=("w",), by_hand=logistic_by_hand, flops=1.6e6)


def small(rng: np.random.RandomState) -> dict[str, Any]:
    return {"s": sparse_matrix(rng, (10, 10), 0.3), "d": rng.standard_normal((10, 10))}


add("j_small", small, lambda xp, s, d: [xp.sparse_dot(s, d)], by_hand=lambda s, d: [s @ d], flops=600)
