"""Parmesan, parts for variational inference on Lasagne: its densities against SciPy, and a posterior that is known."""

from __future__ import annotations

import sys
import types

import lasagne
import numpy as np
from scipy import stats

import theano
import theano.tensor as T

sys.path.insert(0, sys.argv[1])
sys.modules["pkg_resources"] = types.SimpleNamespace(get_distribution=lambda name: types.SimpleNamespace(version="0.1"))
from parmesan import distributions, layers  # noqa: E402

theano.config.floatX = "float64"
rng = np.random.default_rng(0)
x, m, v = T.dmatrices("x", "m", "v")
at, mean, var = rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), rng.uniform(0.5, 2, (3, 2))
d = distributions
f = theano.function([x, m, v], [
    d.log_normal(x, m, T.sqrt(v)), d.log_normal1(x, m, v), d.log_normal2(x, m, T.log(v)), d.log_stdnormal(x),
    d.kl_normal1_stdnormal(m, v), d.kl_normal2_stdnormal(m, T.log(v)), d.kl_normal1_normal1(m, v, x, v + 1),
    d.kl_normal2_normal2(m, T.log(v), x, T.log(v + 1)),
])  # fmt: skip
found = f(at, mean, var)
apart = 0.5 * (var + mean**2 - 1 - np.log(var))
between = 0.5 * (np.log((var + 1) / var) + (var + (mean - at) ** 2) / (var + 1) - 1)
known = [*[stats.norm.logpdf(at, mean, np.sqrt(var))] * 3, stats.norm.logpdf(at), apart, apart, between, between]
assert all(np.allclose(a, b) for a, b in zip(found, known, strict=True))

# z is normal, and what is seen is z + z^2 / 2 with noise: the evidence is an integral on a grid.
seen, noise = 1.5, 0.5
grid = np.linspace(-8, 6, 20001)
joint = stats.norm.logpdf(grid) + stats.norm.logpdf(seen, grid + 0.5 * grid**2, noise)
evidence = float(np.log(np.trapezoid(np.exp(joint), grid)))
lasagne.random.set_rng(np.random.RandomState(0))
one = lasagne.layers.InputLayer((1, 1))
mu, log_var = (lasagne.layers.DenseLayer(one, 1, nonlinearity=None) for _ in range(2))
z = start = layers.SampleLayer(mu, log_var, eq_samples=300, iw_samples=1, seed=1)
logs = []
for _ in range(6):
    flow = layers.NormalizingPlanarFlowLayer(z)
    z = layers.ListIndexLayer(flow, index=0)
    logs.append(layers.ListIndexLayer(flow, index=1))
mean0, log_var0, first, last, *dets = lasagne.layers.get_output([mu, log_var, start, z, *logs], T.ones((1, 1)))
bound = (
    distributions.log_stdnormal(last) + distributions.log_normal1(seen, last + 0.5 * last**2, noise**2)
    - distributions.log_normal2(first, mean0, log_var0)
).sum(axis=1).mean() + sum(d.mean() for d in dets)  # fmt: skip
params = lasagne.layers.get_all_params([z, *logs], trainable=True)
train = theano.function([], bound, updates=lasagne.updates.adam(-bound, params, learning_rate=0.01))
plain = float(np.mean([train() for _ in range(20)]))
best = float(np.mean([train() for _ in range(2700)][-200:]))
assert plain < best < evidence + 0.01 and evidence - best < 0.15, (plain, best, evidence)
print(f"densities as SciPy's; bound from {plain:.2f} to {best:.3f}, evidence {evidence:.3f}")
