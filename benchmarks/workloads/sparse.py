"""j. A sparse matrix times a dense one."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.frameworks.base import NotAvailable
from benchmarks.workload import Workload, registry

TABLE: dict[str, Workload] = {}
add = registry(TABLE)


def sparse_and_dense(rng: np.random.RandomState) -> dict[str, Any]:
    try:
        import scipy.sparse  # not every worker has SciPy
    except ImportError as error:
        raise NotAvailable("SciPy is not there") from error

    matrix = scipy.sparse.random(10000, 10000, 1e-3, "csr", random_state=rng)
    matrix.sort_indices()
    return {"s": matrix, "d": rng.standard_normal((10000, 64))}


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


add("j_spmv", sparse_and_vector, lambda xp, s, d: [xp.sparse_dot(s, d)], by_hand=lambda s, d: [s @ d], flops=2e5)
add("j_spmv_grad", sparse_and_vector, gradient, by_hand=gradient_by_hand, flops=4e5)
