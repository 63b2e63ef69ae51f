"""e. Training steps: cost, gradient and update of every parameter in one call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.workload import BOTH, Workload, registry

TABLE: dict[str, Workload] = {}
add = registry(TABLE)
RATE = 0.01
SLOPES = {"tanh": lambda h: 1 - h * h, "relu": lambda h: (h > 0).astype(h.dtype)}
APPLY = {"tanh": np.tanh, "relu": lambda z: np.maximum(z, 0)}


def layers(sizes: Sequence[int], batch: int, scale: float) -> Any:
    """Return a maker of a batch, labels, weights W0, W1, ... and biases b0, b1, ..."""

    def make(rng: np.random.RandomState) -> dict[str, np.ndarray]:
        made = {"x": rng.standard_normal((batch, sizes[0])), "y": rng.randint(0, sizes[-1], batch)}
        for i, (above, below) in enumerate(pairwise(sizes)):
            made[f"W{i}"] = rng.standard_normal((above, below)) * scale
            made[f"b{i}"] = np.zeros(below)
        return made

    return make


def parameters(count: int) -> tuple[str, ...]:
    """Return the names of the parameters of some layers."""
    return tuple(f"{kind}{i}" for i in range(count) for kind in "Wb")


def network(kind: str) -> Any:
    """Return the step of gradient descent for a network of any depth with one kind of activation."""

    def step(xp: Any, x: Any, y: Any, **params: Any) -> Any:
        names, count = list(params), len(params) // 2

        def cost(*values: Any) -> Any:
            p, h = dict(zip(names, values)), x
            for i in range(count):
                h = xp.dot(h, p[f"W{i}"]) + p[f"b{i}"]
                if i < count - 1:
                    h = getattr(xp, kind)(h)
            return xp.cross_entropy(h, y)

        value, gradients = xp.value_and_grad(cost, list(params.values()))
        return [value], {name: params[name] - RATE * g for name, g in zip(names, gradients)}

    return step


def network_by_hand(kind: str) -> Any:
    """Return the same in NumPy, with the gradient worked out by hand."""

    def step(x: Any, y: Any, **p: Any) -> Any:
        count, seen = len(p) // 2, [x]
        for i in range(count):
            z = seen[-1] @ p[f"W{i}"] + p[f"b{i}"]
            seen.append(APPLY[kind](z) if i < count - 1 else z)
        cost, d = cross_entropy_by_hand(seen[-1], y)
        new = {}
        for i in reversed(range(count)):
            new[f"W{i}"] = p[f"W{i}"] - RATE * (seen[i].T @ d)
            new[f"b{i}"] = p[f"b{i}"] - RATE * d.sum(0)
            if i:
                d = (d @ p[f"W{i}"].T) * SLOPES[kind](seen[i])
        return [cost], new

    return step


def cross_entropy_by_hand(z: np.ndarray, y: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return the mean negative log-likelihood of labels, and its gradient with respect to the scores."""
    z = z - z.max(1, keepdims=True)
    e = np.exp(z)
    total = e.sum(1, keepdims=True)
    rows = np.arange(len(y))
    cost = (np.log(total[:, 0]) - z[rows, y]).mean()
    d = e / total
    d[rows, y] -= 1
    d /= len(y)
    return cost, d


def descent(sizes: Sequence[int], batch: int, kind: str = "tanh", scale: float = 0.05) -> dict[str, Any]:
    """Return what the training step of a network is, as a workload is told."""
    work = sum(2 * batch * a * b for a, b in pairwise(sizes)) * 3 - 2 * batch * sizes[0] * sizes[1]
    return {"inputs": layers(sizes, batch, scale), "body": network(kind), "state": parameters(len(sizes) - 1),
            "flops": work, "by_hand": network_by_hand(kind)}  # fmt: skip


def training(name: str, sizes: Sequence[int], batch: int, kind: str = "tanh", scale: float = 0.05, **rest: Any) -> None:
    """Add the training step of a network."""
    add(name, **descent(sizes, batch, kind, scale), **rest)


for batch in (1, 60, 600):
    training(f"e_logreg_b{batch}", (784, 10), batch, scale=0.01, dtypes=BOTH, compiled=batch == 60)
for batch in (1, 60, 600):
    training(f"e_mlp_b{batch}", (784, 500, 10), batch, dtypes=BOTH, compiled=batch == 60)
training("e_mlp_small_b32", (64, 128, 10), 32, dtypes=BOTH)
training("e_relu_deep_b64", (256, 256, 256, 256, 100), 64, kind="relu", dtypes=BOTH)


def momentum(xp: Any, x: Any, y: Any, w: Any, v: Any) -> Any:
    cost, (g,) = xp.value_and_grad(lambda w: xp.mean((xp.dot(x, w) - y) ** 2), [w])
    return [cost], {"w": w + 0.9 * v - RATE * g, "v": 0.9 * v - RATE * g}


def momentum_by_hand(x: Any, y: Any, w: Any, v: Any) -> Any:
    d = x @ w - y
    v = 0.9 * v - RATE * (2 / len(y)) * (x.T @ d)
    return [(d * d).mean()], {"w": w + v, "v": v}


add("e_regression_momentum",
    lambda rng: {"x": rng.standard_normal((100, 50)), "y": rng.standard_normal(100), "w": np.zeros(50), "v": np.zeros(50)},
    momentum, state=("w", "v"), by_hand=momentum_by_hand, dtypes=BOTH)  # fmt: skip
