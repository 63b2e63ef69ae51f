"""Downhill 0.4: each of its optimisers on a least-squares problem whose solution is known, and a factorised matrix."""

from __future__ import annotations

import downhill
import numpy as np

import theano
import theano.tensor as T

RNG = np.random.default_rng(0)
RATES = {"sgd": 0.1, "nag": 0.05, "rprop": 0.01, "rmsprop": 0.01, "adagrad": 0.3, "adadelta": 0.1, "esgd": 0.05,
         "adam": 0.02}  # fmt: skip


def straight_line(algorithm: str, rate: float) -> float:
    """Fit coefficients by least squares; return how far they end from those of linear algebra."""
    x = RNG.normal(size=(200, 4)).astype(theano.config.floatX)
    y = (x @ [1.0, -2.0, 0.5, 3.0] + RNG.normal(0, 0.1, 200)).astype(theano.config.floatX)
    w = theano.shared(np.zeros(4, theano.config.floatX), name="w")
    inputs, outputs = T.matrix("inputs"), T.vector("outputs")
    downhill.minimize(
        ((inputs.dot(w) - outputs) ** 2).mean(), [x, y], params=[w], inputs=[inputs, outputs], algo=algorithm,
        learning_rate=rate, batch_size=50, max_updates=2000, patience=50, min_improvement=0,
    )  # fmt: skip
    return float(np.abs(w.get_value() - np.linalg.lstsq(x, y, rcond=None)[0]).max())


def factors() -> None:
    """Write a matrix of rank 3 as a product, with a penalty on one of the factors."""
    data = (RNG.normal(size=(100, 3)) @ RNG.normal(size=(3, 20))).astype(theano.config.floatX)
    u = theano.shared(RNG.normal(size=(100, 3)).astype(theano.config.floatX), name="u")
    v = theano.shared(RNG.normal(size=(3, 20)).astype(theano.config.floatX), name="v")
    x = T.matrix("x")
    error = ((x - u.dot(v)) ** 2).mean()
    downhill.minimize(
        error + 1e-6 * abs(u).mean(), [data], params=[u, v], inputs=[x], batch_size=100, monitors=[("error", error)],
        algo="rmsprop", learning_rate=0.01, momentum=0.9, max_gradient_norm=10, max_updates=3000, patience=100,
        min_improvement=0,
    )  # fmt: skip
    left = float(np.mean((data - u.get_value() @ v.get_value()) ** 2) / np.mean(data**2))
    print(f"factors of a matrix: {left:.1e} of its squares left")
    assert left < 1e-2


for name, rate in RATES.items():
    distance = straight_line(name, rate)
    print(f"{name}: {distance:.4f} from the solution of least squares")
    assert distance < 0.1, name
factors()
