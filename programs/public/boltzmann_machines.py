"""Morb, restricted Boltzmann machines of units, parameters and statistics: against a machine that is summed over."""

from __future__ import annotations

import itertools
import sys

import numpy as np

import theano
import theano.tensor as T

sys.path[:0] = [sys.argv[1], f"{sys.argv[1]}/morb"]
from morb import monitors, rbms, stats, trainers, updaters  # noqa: E402

RNG = np.random.default_rng(0)
np.random.seed(0)
kinds = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]])
data = (kinds[RNG.integers(0, 2, 960)] ^ (RNG.random((960, 6)) < 0.05)).astype(float)
rbm = rbms.BinaryBinaryRBM(6, 3)
for variable in rbm.variables:
    variable.set_value(0.1 * RNG.normal(size=variable.get_value().shape))
v = {rbm.v: T.matrix("v")}
s = stats.cd_stats(rbm, v, visible_units=[rbm.v], hidden_units=[rbm.h], k=5, mean_field_for_stats=[rbm.v, rbm.h])
moves = {variable: variable + 0.005 * updaters.CDUpdater(rbm, variable, s) for variable in rbm.variables}
trainer = trainers.MinibatchTrainer(rbm, moves)
energy = rbm.free_energy([rbm.h], s["data"])
train = trainer.compile_function(v, mb_size=32, monitors=[monitors.reconstruction_mse(s, rbm.v), T.mean(energy)])
energies = theano.function([v[rbm.v]], rbm.free_energy([rbm.h], v))

states = np.array(list(itertools.product([0, 1], repeat=6)), float)


def likelihood() -> float:
    """Return the mean log-likelihood of the data by the sum over all states."""
    return float(-energies(data).mean() - np.log(np.exp(-energies(states)).sum()))


W, bv, bh = (p.get_value() for p in (rbm.W.var, rbm.bv.var, rbm.bh.var))
known = -states @ bv - np.log1p(np.exp(states @ W + bh)).sum(axis=1)
assert np.allclose(energies(states), known)
first = likelihood()
for _ in range(60):
    errors = [float(error) for error, _ in train({rbm.v: data})]
wrong = np.abs(data[:, None] - kinds[None]).sum(axis=2)
best = float(np.log((0.05**wrong * 0.95 ** (6 - wrong)).mean(axis=1)).mean())
last = likelihood()
assert best - 0.3 < last < best + 0.05, (first, last, best)
print(f"log-likelihood {first:.2f} -> {last:.2f}, of the source {best:.2f}; error of reconstruction {errors[-1]:.3f}")
