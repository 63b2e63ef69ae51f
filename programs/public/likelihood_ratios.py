"""Distributions for likelihood-free inference (carl): its own checks against SciPy, and a mixture fitted."""

from __future__ import annotations

import importlib
import inspect
import sys

import numpy as np

import theano

sys.path.insert(0, sys.argv[1])
from carl.distributions import Exponential, Mixture, MultivariateNormal, Normal

# Its tests yield checks, as nose ran them; those of histograms want what NumPy 1.24 dropped.
checks = 0
for module in ("normal", "exponential", "uniform", "mixture", "base", "transforms", "sampler"):
    tests = importlib.import_module(f"tests.distributions.test_{module}")
    for name, test in inspect.getmembers(tests, inspect.isfunction):
        if name.startswith("test_") and "histogram" not in inspect.getsource(test).lower():
            for check, *arguments in test() or [(lambda: None,)]:
                check(*arguments)
                checks += 1

x = np.random.default_rng(0).normal(size=(4000, 1))
x[:1200] = 4 + 0.5 * x[:1200]
mixture = Mixture(components=[Normal(mu=-1.0, sigma=2.0), Normal(mu=3.0, sigma=1.0)], weights=[0.5])
mixture.fit(x, constraints=[{"param": mixture.weights[0], "type": "ineq", "fun": lambda w: np.minimum(w, 1 - w).min()},
                            *({"param": p.sigma, "type": "ineq", "fun": lambda s: float(np.min(s)) - 1e-3}
                              for p in mixture.components)])  # fmt: skip
found = sorted((float(p.mu.eval()), float(p.sigma.eval())) for p in mixture.components)
assert np.allclose(found, [(0, 1), (4, 0.5)], atol=0.1), found
pair = MultivariateNormal(mu=np.zeros(2), sigma=np.array([[1.0, 0.4], [0.4, 2.0]]))
slope = theano.function([pair.X], theano.grad(pair.nll_.sum(), pair.X))(np.ones((1, 2)))
assert np.allclose(slope, np.linalg.solve([[1.0, 0.4], [0.4, 2.0]], np.ones(2)))
assert abs(float(Exponential(inverse_scale=2.0).pdf(np.array([[0.5]]))[0]) - 2 * np.exp(-1)) < 1e-12
print(f"{checks} of its checks; a mixture fitted: " + ", ".join(f"{mu:.3f} ± {sigma:.3f}" for mu, sigma in found))
