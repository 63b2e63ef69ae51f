"""l. Graphs of hundreds and thousands of nodes: mostly about the time to compile them."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import Workload, normal, registry
from benchmarks.workloads.training import layers, network, network_by_hand, parameters

TABLE: dict[str, Workload] = {}
add = registry(TABLE)
LENGTH = 110


def chain(xp: Any, x: Any, w: Any) -> Any:
    """Return a number that depends on x and w through a long chain of small steps."""
    h = x
    for i in range(LENGTH):
        h = xp.tanh(h * (1.0 + 0.01 * i) + 0.1 * (i % 7))
        if i % 4 == 0:
            h = xp.dot(h, w)
        if i % 5 == 1:
            h = h - xp.mean(h, 0)
        if i % 7 == 2:
            h = h * xp.sigmoid(xp.sum(h, 1))[:, None]
        if i % 9 == 3:
            h = xp.exp(-(h**2)) + h / (2 + h**2)
    return xp.sum(h**2)


def chain_gradient(xp: Any, x: Any, w: Any) -> list:
    cost, (gx, gw) = xp.value_and_grad(lambda x, w: chain(xp, x, w), [x, w])
    return [cost, gx, gw]


def chain_gradient_by_hand(x: np.ndarray, w: np.ndarray) -> list:
    h, back = x, []
    gw = np.zeros_like(w)

    def through_product(h: np.ndarray) -> Any:
        def step(d: np.ndarray) -> np.ndarray:
            nonlocal gw
            gw = gw + h.T @ d
            return d @ w.T

        return step

    def through_gate(h: np.ndarray, gate: np.ndarray) -> Any:
        return lambda d: d * gate + ((d * h).sum(1) * (gate * (1 - gate))[:, 0])[:, None]

    for i in range(LENGTH):
        h = np.tanh(h * (1.0 + 0.01 * i) + 0.1 * (i % 7))
        back.append(lambda d, t=h, i=i: d * (1 - t * t) * (1.0 + 0.01 * i))
        if i % 4 == 0:
            back.append(through_product(h))
            h = h @ w
        if i % 5 == 1:
            back.append(lambda d: d - d.mean(0))
            h = h - h.mean(0)
        if i % 7 == 2:
            gate = (1 / (1 + np.exp(-h.sum(1))))[:, None]
            back.append(through_gate(h, gate))
            h = h * gate
        if i % 9 == 3:
            bell, q = np.exp(-(h**2)), 2 + h**2
            back.append(lambda d, h=h, bell=bell, q=q: d * (-2 * h * bell + (2 - h**2) / q**2))
            h = bell + h / q
    d = 2 * h
    for step in reversed(back):
        d = step(d)
    return [(h**2).sum(), d, gw]


def small_weights(rng: np.random.RandomState) -> dict[str, np.ndarray]:
    return {"x": rng.standard_normal((64, 64)), "w": 0.15 * rng.standard_normal((64, 64))}


add("l_chain_grad", small_weights, chain_gradient, by_hand=chain_gradient_by_hand, compiled=True, tolerance={"float64": 1e-7})

MLP20 = (100,) * 20 + (10,)
add("l_mlp20_step", layers(MLP20, 60, 0.1), network("tanh"), by_hand=network_by_hand("tanh"), state=parameters(20), compiled=True)

# Others of the same kinds, so that nothing is tuned to those above.


def deep_elementwise(xp: Any, x: Any, y: Any) -> list:
    h = x
    for i in range(60):
        h = xp.tanh(h + y * (0.1 * i)) if i % 3 else h * y + x
    return [h]


add("l_deep_elementwise", normal(x=1000, y=1000), deep_elementwise, compiled=True)
add("l_relu12_step", layers((64,) * 12 + (10,), 32, 0.15), network("relu"), by_hand=network_by_hand("relu"), state=parameters(12),
    compiled=True)  # fmt: skip
add("l_one_kernel", normal(x=1000, y=1000), lambda xp, x, y: [xp.exp(x) * y + 1], compiled=True)
