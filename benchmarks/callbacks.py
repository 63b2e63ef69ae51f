"""How long SciPy's integrators, filters and optimisers take with compiled functions and with plain Python.

    python benchmarks/callbacks.py

Each line is one problem. All ways to state it take turns in each round; printed are medians of the rounds, as multiples
of the first one.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.integrate import nquad, quad, solve_ivp
from scipy.ndimage import generic_filter
from scipy.optimize import minimize

import theano
import theano.tensor as T

ROUNDS = 21


def in_turns(what: str, ways: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> None:
    """Time some ways to do one thing and print what each takes, as a multiple of the first."""
    taken: dict[str, list[int]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, way in ways.items():
            start = time.perf_counter_ns()
            way()
            taken[name].append(time.perf_counter_ns() - start)
    medians = {name: statistics.median(times[1:]) for name, times in taken.items()}
    first = next(iter(medians.values()))
    print(f"{what}: {first / 1e3:.1f} us; " + ", ".join(f"{name} {ns / first:.2f}" for name, ns in medians.items()))


def integrals() -> None:
    """One and three dimensions, and a sum of many terms."""
    x, a = T.dscalars("x", "a")
    f = theano.function([x, a], T.exp(-a * x**2) * T.cos(5 * x))
    ways = {"callable": theano.scipy_callable(f), "function": f,
            "math": lambda x, a: math.exp(-a * x**2) * math.cos(5 * x),
            "numpy": lambda x, a: np.exp(-a * x**2) * np.cos(5 * x)}  # fmt: skip
    damped = {n: lambda g=g: quad(g, 0, 10, args=(0.3,), limit=200) for n, g in ways.items()}
    in_turns("quad, exp(-a x^2) cos 5x", damped)
    weights = np.random.default_rng(0).random(64)
    series = theano.function([x], T.sum(weights * T.sin(x * np.arange(64.0))))
    ways = {"callable": theano.scipy_callable(series), "function": series,
            "numpy": lambda x: (weights * np.sin(x * np.arange(64.0))).sum()}  # fmt: skip
    in_turns("quad, 64 terms of a series", {n: lambda g=g: quad(g, 0, 3, limit=200) for n, g in ways.items()})
    v = [T.dscalar() for _ in range(3)]
    bump = theano.function(v, T.exp(-(v[0] ** 2 + v[1] ** 2 + v[2] ** 2)))
    ways = {"callable": theano.scipy_callable(bump), "function": bump,
            "math": lambda x, y, z: math.exp(-(x * x + y * y + z * z))}  # fmt: skip
    many = {n: lambda g=g: nquad(g, [[0, 1]] * 3, opts={"epsabs": 1e-4}) for n, g in ways.items()}
    in_turns("nquad, 3 dimensions", many, 7)


def images() -> None:
    """A filter of 3 x 3 pixels."""
    v, image = T.dvector("v"), np.random.default_rng(0).random((100, 100))
    f = theano.function([v], v.max() - v.min())
    ways = {"callable": theano.scipy_callable(f, "filter"), "function": f, "numpy": lambda w: w.max() - w.min()}
    in_turns("generic_filter, 100 x 100", {n: lambda g=g: generic_filter(image, g, 3) for n, g in ways.items()}, 9)


def optimisers() -> None:
    """Logistic regression, and an equation of van der Pol's."""
    rng = np.random.default_rng(1)
    points = rng.normal(size=(400, 20))
    labels = 1.0 * (points @ rng.normal(size=20) > 0)
    w, b, X, y = theano.shared(np.zeros(20)), theano.shared(0.0), T.dmatrix(), T.dvector()
    score = X.dot(w) + b
    objective = theano.scipy_objective((T.log1p(T.exp(score)) - y * score).mean() + 0.01 * T.sum(w**2), [w, b], [X, y])

    def by_hand(p, X, y):
        score = X @ p[:-1] + p[-1]
        off = 1 / (1 + np.exp(-score)) - y
        value = (np.logaddexp(0, score) - y * score).mean() + 0.01 * (p[:-1] ** 2).sum()
        return value, np.append(X.T @ off / len(y) + 0.02 * p[:-1], off.mean())

    start, args = objective.x0, (points, labels)
    in_turns("value and gradient, 400 x 20", {
        "objective": lambda: objective(start, *args), "numpy by hand": lambda: by_hand(start, *args),
    })  # fmt: skip
    in_turns("minimize (BFGS), 400 x 20", {
        "objective": lambda: minimize(objective, start, args, jac=True, method="BFGS"),
        "numpy by hand": lambda: minimize(by_hand, start, args, jac=True, method="BFGS"),
        "numpy, differences": lambda: minimize(lambda p, *a: by_hand(p, *a)[0], start, args, method="BFGS"),
    }, 9)  # fmt: skip
    t, u = T.dscalar(), T.dvector()
    f = theano.function([t, u], T.stack([u[1], 5 * (1 - u[0] ** 2) * u[1] - u[0]]), on_unused_input="ignore")
    plain = lambda t, u: np.array([u[1], 5 * (1 - u[0] ** 2) * u[1] - u[0]])
    in_turns("solve_ivp, van der Pol", {
        "function": lambda: solve_ivp(f, (0, 20), [2.0, 0.0]), "numpy": lambda: solve_ivp(plain, (0, 20), [2.0, 0.0]),
    }, 9)  # fmt: skip


if __name__ == "__main__":
    integrals()
    images()
    optimisers()
