"""m. Logarithms of many small densities and their gradient: what a sampler calls again and again."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import Workload, registry

TABLE: dict[str, Workload] = {}
add = registry(TABLE)
HALF_LOG_2PI = 0.9189385332046727


def parameters_and_data(count: int, data: int = 50) -> Any:
    """Return a maker of six vectors of data, and of parameters: numbers at even places, vectors of five at odd ones."""

    def make(rng: np.random.RandomState) -> dict[str, np.ndarray]:
        made = {f"y{i}": rng.standard_normal(data) for i in range(6)}
        for i in range(count):
            made[f"p{i:02d}"] = np.asarray(rng.standard_normal(5 if i % 2 else ()) * 0.3)
        return made

    return make


def split(arrays: dict[str, Any]) -> tuple[list, list]:
    """Return data and parameters."""
    return [v for k, v in arrays.items() if k[0] == "y"], [v for k, v in arrays.items() if k[0] == "p"]


def log_density(xp: Any, data: list, p: Any) -> Any:
    """Return the sum of the logarithms of densities of six kinds, in turn."""
    total = 0.0
    for i in range(len(p)):
        kind, a = i % 6, p[i]
        if kind == 0:  # normal data with this mean
            total = total + xp.sum(-0.5 * (data[0] - a) ** 2 - HALF_LOG_2PI)
        elif kind == 1:  # a normal prior whose logarithmic deviation is the parameter before
            total = total + xp.sum(-0.5 * (a / xp.exp(p[i - 1])) ** 2 - p[i - 1])
        elif kind == 2:  # normal data with this logarithmic deviation
            total = total + xp.sum(-0.5 * ((data[2] - p[i - 2]) / xp.exp(a)) ** 2 - a - HALF_LOG_2PI)
        elif kind == 3:  # gamma priors of exp(a)
            total = total + xp.sum(2.0 * a - 1.5 * xp.exp(a))
        elif kind == 4:  # data from Student's t around this place
            total = total + xp.sum(-2.5 * xp.log1p((data[4] - a) ** 2 / 4.0))
        else:  # logistic priors
            total = total + xp.sum(-a - 2.0 * xp.log1p(xp.exp(-a)))
    return total


def with_gradient(xp: Any, **arrays: Any) -> list:
    data, p = split(arrays)
    total, gradients = xp.value_and_grad(lambda *p: log_density(xp, data, p), p)
    return [total, *gradients]


def with_gradient_by_hand(**arrays: Any) -> list:
    data, p = split(arrays)
    total, g = 0.0, [np.zeros_like(a) for a in p]
    for i, a in enumerate(p):
        kind = i % 6
        if kind == 0:
            d = data[0] - a
            total += (-0.5 * d * d - HALF_LOG_2PI).sum()
            g[i] += d.sum()
        elif kind == 1:
            z = a / np.exp(p[i - 1])
            total += (-0.5 * z * z - p[i - 1]).sum()
            g[i] -= z / np.exp(p[i - 1])
            g[i - 1] += (z * z - 1).sum()
        elif kind == 2:
            z = (data[2] - p[i - 2]) / np.exp(a)
            total += (-0.5 * z * z - a - HALF_LOG_2PI).sum()
            g[i] += (z * z - 1).sum()
            g[i - 2] += (z / np.exp(a)).sum()
        elif kind == 3:
            total += (2.0 * a - 1.5 * np.exp(a)).sum()
            g[i] += 2.0 - 1.5 * np.exp(a)
        elif kind == 4:
            d = data[4] - a
            total += (-2.5 * np.log1p(d * d / 4.0)).sum()
            g[i] += (5.0 * d / (4.0 + d * d)).sum()
        else:
            e = np.exp(-a)
            total += (-a - 2.0 * np.log1p(e)).sum()
            g[i] += -1.0 + 2.0 * e / (1.0 + e)
    return [np.asarray(total), *g]


add("m_logp30_grad", parameters_and_data(30), with_gradient, by_hand=with_gradient_by_hand, compiled=True)
# Others of the same kind, so that nothing is tuned to the one above.
add("m_logp30", parameters_and_data(30), lambda xp, **arrays: [log_density(xp, *split(arrays))])
add("m_logp6_grad", parameters_and_data(6, 10), with_gradient, by_hand=with_gradient_by_hand)
add("m_logp60_grad", parameters_and_data(60, 20), with_gradient, by_hand=with_gradient_by_hand, compiled=True)
