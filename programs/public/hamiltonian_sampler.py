"""Hybrid Monte Carlo: a reversible path that keeps its energy, and two distributions that are known."""

from __future__ import annotations

import sys

import numpy as np

import theano
import theano.tensor as T

theano.config.floatX = "float64"
sys.path.insert(0, f"{sys.argv[1]}/hmc/ref_code")
import theano_HMC as hmc  # noqa: E402

rng = np.random.default_rng(0)
mu, cov = np.array([1.0, -2.0]), np.array([[2.0, 0.9], [0.9, 1.0]])
inverse = np.linalg.inv(cov)


def gaussian(x):
    """Return minus the log-density of a normal distribution."""
    return 0.5 * (T.dot(x - mu, inverse) * (x - mu)).sum(axis=1)


def ring(x):
    """Return minus the log-density of a ring of radius 3."""
    return 0.5 * (T.sqrt((x**2).sum(axis=1)) - 3) ** 2 / 0.25


start, speed = T.dmatrices("start", "speed")
end, end_speed = hmc.simulate_dynamics(start, speed, 0.05, 40, gaussian)
before, after = hmc.hamiltonian(start, speed, gaussian), hmc.hamiltonian(end, end_speed, gaussian)
path = theano.function([start, speed], [end, end_speed, before, after])
place, push = rng.normal(size=(5, 2)), rng.normal(size=(5, 2))
there = path(place, push)
back = path(there[0], -there[1])
drift = float(np.abs(there[3] - there[2]).max())
assert np.allclose(back[0], place, atol=1e-9) and drift < 0.01, drift

shown = []
for name, energy in (("normal", gaussian), ("ring", ring)):
    chains = theano.shared(rng.normal(size=(2000, 2)))
    sampler = hmc.HMC_sampler.new_from_shared_positions(chains, energy, initial_stepsize=0.05, stepsize_max=0.5)
    for _ in range(300):
        sampler.draw()
    kept = np.concatenate([sampler.draw() for _ in range(100)])
    rate = float(sampler.avg_acceptance_rate.get_value())
    assert 0.7 < rate < 1, rate
    if name == "normal":
        assert np.abs(kept.mean(0) - mu).max() < 0.08 and np.abs(np.cov(kept.T) - cov).max() < 0.12, kept.mean(0)
        shown.append(f"means {kept.mean(0).round(3)}")
    else:
        r = np.linspace(0, 8, 8001)
        weight = r * np.exp(-0.5 * (r - 3) ** 2 / 0.25)
        known = float((r * weight).sum() / weight.sum())
        radius = float(np.linalg.norm(kept, axis=1).mean())
        assert abs(radius - known) < 0.02, (radius, known)
        shown.append(f"radius {radius:.3f}, known {known:.3f}")
print(f"energy kept to {drift:.4f} and paths reversible; {shown[0]}; {shown[1]}; accepted {rate:.2f}")
