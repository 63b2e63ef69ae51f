"""Gaussian processes for control (kusanagi): predictions of uncertain inputs, against equations and sampling."""

from __future__ import annotations

import sys

import numpy as np

import theano

sys.path[:0] = [sys.argv[1], f"{sys.argv[1]}/lasagne_master"]
from kusanagi.ghost import regression  # noqa: E402

rng = np.random.default_rng(0)
np.random.seed(0)
x = rng.uniform(-2, 2, (40, 2))
y = np.stack([np.sin(x[:, 0]) + 0.3 * x[:, 1], np.cos(x[:, 1])], axis=1) + 0.05 * rng.normal(size=(40, 2))
x, y = x.astype(theano.config.floatX), y.astype(theano.config.floatX)
at, spread = np.array([0.4, -0.3]), np.diag([0.05, 0.02])
gp = regression.GP_UI(X_dataset=x, Y_dataset=y)
gp.train()
mean, cov, cross = gp(at, spread)

# What a Gaussian process of these lengths says of a certain place, by its equations; then over many uncertain places.
places = rng.multivariate_normal(at, spread, 40000)
means, variances = [], []
for hyp, seen in zip(gp.hyp.eval(), y.T):
    lengths, signal, noise = hyp[:2], hyp[2], hyp[3]
    kernel = lambda a, b: signal**2 * np.exp(-0.5 * (((a[:, None] - b[None]) / lengths) ** 2).sum(-1))  # noqa: B023
    inner = np.linalg.cholesky(kernel(x, x) + noise**2 * np.eye(len(x)))
    toward = np.linalg.solve(inner, kernel(x, places))
    means.append(toward.T @ np.linalg.solve(inner, seen))
    variances.append(signal**2 - (toward**2).sum(0))
assert np.allclose(mean, np.mean(means, axis=1), atol=3e-3), (mean, np.mean(means, axis=1))
known = np.cov(means) + np.diag(np.mean(variances, axis=1))
assert np.allclose(cov, known, atol=2e-3), (cov, known)
both = np.linalg.solve(spread, np.cov(places.T, means)[:2, 2:])
assert np.allclose(cross, both, atol=2e-2), (cross, both)
sparse = regression.SPGP_UI(X_dataset=x, Y_dataset=y)
sparse.train()
assert np.allclose(sparse(at, spread)[0], mean, atol=2e-2)
print(f"of an uncertain input, mean {mean.round(3)} and variance {np.diag(cov).round(4)}; "
      f"by {len(places)} samples {np.mean(means, axis=1).round(3)} and {np.diag(known).round(4)}")  # fmt: skip
