"""A variational autoencoder in plain Theano with Adam: trained on bits whose likelihood is known."""

from __future__ import annotations

import sys

import numpy as np

import theano

theano.config.floatX = "float32"
sys.path.insert(0, sys.argv[1])
from VAE import VAE  # noqa: E402

RNG, NOISE = np.random.default_rng(0), 0.05
kinds = RNG.integers(0, 2, (4, 16))
x = (kinds[RNG.integers(0, 4, 2000)] ^ (RNG.random((2000, 16)) < NOISE)).astype("float32")
# The bits are a mixture of four kinds, each with noise: no model's likelihood is above theirs on average.
wrong = np.abs(x[:, None] - kinds[None]).sum(axis=2)
known = float(np.log((NOISE**wrong * (1 - NOISE) ** (16 - wrong)).mean(axis=1)).mean())

np.random.seed(0)
model = VAE(False, 32, 32, 3, x, batch_size=100, learning_rate=0.003)
for epoch in range(1, 401):
    bounds = [float(model.update(batch, epoch)) for batch in np.random.permutation(20)]
bound = float(np.mean([model.likelihood(x) for _ in range(10)]))
assert known - 0.7 < bound < known + 0.05, (bound, known)
model.save_parameters(".")
before = model.decode(np.zeros((1, 1, 3), "float32"))
model.params["W_zh"].set_value(np.zeros((3, 32), "float32"))
model.params["W_hx"].set_value(np.zeros((32, 16), "float32"))
model.load_parameters(".")
assert np.array_equal(before, model.decode(np.zeros((1, 1, 3), "float32")))
print(f"lower bound {bound:.2f}, log-likelihood of the source {known:.2f}; saved and loaded")
