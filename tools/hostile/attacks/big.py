"""Graphs that are deep, wide, nested or many, within the limits of time and stack."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from hostile.finding import Finding, expect

BYTES_PER_NODE = 2000  # of debugprint

Shape = Callable[[Any, Any, int, np.random.Generator], list[Any]]


def _chain(lib: Any, x: Any, n: int, rng: np.random.Generator) -> list[Any]:
    for k in rng.integers(0, 5, n):
        steps = (lib.tanh, lambda v: v * 0.5, lambda v: lib.sin(v) + 0.1, lambda v: v[::-1], abs)
        x = steps[k](x)
    return [x]


def _ladder(lib: Any, x: Any, n: int, rng: np.random.Generator) -> list[Any]:
    a, b = x, x + 1
    for _ in range(n):
        a, b = (a + b) * 0.5, (a - b) * 0.25
    return [a, b]


def _wide(lib: Any, x: Any, n: int, rng: np.random.Generator) -> list[Any]:
    total = 0 * x
    for k in range(n):
        total = total + x * float(k % 17)
    return [total]


def _same(lib: Any, x: Any, n: int, rng: np.random.Generator) -> list[Any]:
    y = 0.0 * x
    for _ in range(n):
        y = y + x
    return [y]


def _many(lib: Any, x: Any, n: int, rng: np.random.Generator) -> list[Any]:
    return [lib.sin(x * float(k)) for k in range(n // 5)]


def _joined(lib: Any, x: Any, n: int, rng: np.random.Generator) -> list[Any]:
    return [lib.concatenate([lib.cos(x + float(k)) for k in range(n // 3)])]


def _nested(lib: Any, x: Any, n: int, rng: np.random.Generator) -> list[Any]:
    for _ in range(n // 8):
        x = lib.where(x > 0.5, x * 0.9, lib.sqrt(abs(x) + 0.1)) - x.mean() * 0.1
    return [x]


def _squares(lib: Any, x: Any, n: int, rng: np.random.Generator) -> list[Any]:
    for _ in range(min(n, 300)):
        x = lib.tanh(x * x + x * x - x)  # as a tree it has 4 ** 300 leaves
    return [x]


SHAPES: tuple[Shape, ...] = (_chain, _ladder, _wide, _same, _many, _joined, _nested, _squares)


def attack(rng: np.random.Generator) -> Finding | None:
    """Compile, differentiate, print and pickle one big graph."""
    shape = SHAPES[rng.integers(len(SHAPES))]
    n = int(rng.choice([50, 200, 600, 1500]))
    said = f"{shape.__name__[1:]} of {n}"
    seed = int(rng.integers(10**6))
    value = np.round(rng.uniform(-1, 1, 4), 2)
    x = T.dvector("x")
    outputs = shape(T, x, n, np.random.default_rng(seed))
    wanted = shape(np, value, n, np.random.default_rng(seed))
    gradient = bool(rng.random() < 0.3) and n <= 600
    if gradient:
        outputs = [*outputs, T.grad(sum(out.sum() for out in outputs), x)]
    f = theano.function([x], outputs)
    found = f(value)
    for w, g in zip(wanted, found, strict=False):
        expect(np.allclose(w, g, rtol=1e-6, atol=1e-9), "a big graph is wrong", f"{said} {w} {g}")
    if gradient:
        _compare_gradient(shape, value, n, seed, found[-1], said)
    nodes = len(f.maker.fgraph.apply_nodes) + n
    text = theano.printing.debugprint(f, file="str")
    short = len(text) <= BYTES_PER_NODE * nodes
    expect(short, "debugprint grows faster than the graph", f"{said}: {len(text)} bytes, {nodes} nodes")
    again = pickle.loads(pickle.dumps(f))(value)
    expect(all(map(np.array_equal, again, found)), "another function from a pickle", said)
    return None


def _compare_gradient(shape: Shape, value: np.ndarray, n: int, seed: int, found: np.ndarray, said: str) -> None:
    """Compare with differences: along one direction, where the graph is smooth enough to tell."""
    direction = np.array([0.3, -0.2, 0.5, 0.1])

    def total(step: float) -> float:
        return float(sum(np.sum(out) for out in shape(np, value + step * direction, n, np.random.default_rng(seed))))

    coarse, fine = ((total(h) - total(-h)) / (2 * h) for h in (1e-5, 5e-6))
    if abs(coarse - fine) < 1e-4 * (1 + abs(fine)):
        slope = float(found @ direction)
        right = abs(slope - fine) < 1e-2 * (1 + abs(fine))
        expect(right, "a gradient of a big graph is wrong", f"{said}: {slope} {fine}")
