"""Probabilistic back-propagation: moments of a layer against sampling, and a Bayesian network that knows its noise."""

from __future__ import annotations

import os
import sys

import numpy as np

sys.path[:0] = [f"{sys.argv[1]}/theano/PBP_net"]
import PBP_net  # noqa: E402

import theano  # noqa: E402

assert "PBP" not in os.path.dirname(theano.__file__)
rng = np.random.default_rng(0)
np.random.seed(0)
net = PBP_net.PBP_net(rng.normal(size=(20, 3)), rng.normal(size=20), [40], n_epochs=0)
layer = net.pbp_instance.network.layers[0]
mean, spread = rng.normal(size=3), rng.uniform(0.1, 0.5, 3)
m_in, v_in = theano.tensor.dvectors("m", "v")
m, v = theano.function([m_in, v_in], layer.output_probabilistic(m_in, v_in))(mean, spread)
drawn = np.concatenate([mean + np.sqrt(spread) * rng.normal(size=(20000, 3)), np.ones((20000, 1))], axis=1)
weights = layer.m_w.get_value() + np.sqrt(layer.v_w.get_value()) * rng.normal(
    size=(20000, *layer.m_w.get_value().shape)
)
linear = np.einsum("nij,nj->ni", weights, drawn) / 2
assert np.allclose(np.maximum(linear, 0).mean(0), m, atol=0.1), np.abs(np.maximum(linear, 0).mean(0) - m).max()
assert np.allclose(np.maximum(linear, 0).var(0), v, atol=0.2)

x = rng.uniform(-2, 2, (150, 1))
y = np.sin(1.5 * x[:, 0]) + 0.1 * rng.normal(size=150)
net = PBP_net.PBP_net(x, y, [25], normalize=True, n_epochs=20)
inside, outside = np.linspace(-1.8, 1.8, 50)[:, None], np.array([[-8.0], [8.0]])
found, variance, noise = net.predict(inside)
error = float(np.sqrt(np.mean((found - np.sin(1.5 * inside[:, 0])) ** 2)))
assert error < 0.25 and net.predict(outside)[1].min() > 5 * variance.mean(), (error, variance.mean())
net.sample_weights()
sampled = [net.pbp_instance.predict_deterministic(row) for row in inside]
assert np.isfinite(sampled).all()
net.save_to_file("network.gz")
again = PBP_net.load_PBP_net_from_file("network.gz")
assert np.array_equal(again.predict(inside)[0], found)
print(f"error {error:.3f}, noise {np.sqrt(noise):.3f}; pickled with its functions and asked again")
