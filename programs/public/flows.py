"""Normalizing flows, autoregressive and by coupling layers: densities that integrate to 1, near those of their data."""

from __future__ import annotations

import random
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
import ml.step_strategies as steps
from ml.models import mafs, nvps
from ml.trainers import SGD

RNG = np.random.default_rng(0)
first = RNG.normal(0, 1, 4000)
x = np.stack([first, RNG.normal(0.5 * first**2 - 0.5, 0.4)], axis=1)
entropy = float(np.log(2 * np.pi * np.e) + np.log(0.4))  # that of the source
# Orders are drawn: NumPy 1.25 compares an order, which is an array, with a word element by element.
grid = np.stack(np.meshgrid(np.linspace(-6, 6, 241), np.linspace(-6, 20, 521), indexing="ij"), axis=-1)

found = {}
for name, make in (
    ("autoregressive", lambda: mafs.MaskedAutoregressiveFlow(2, [24], "tanh", 3, input_order="random")),
    ("coupling", lambda: nvps.RealNVP(2, [24], "tanh", "relu", 4, batch_norm=True)),
    ("mixture", lambda: mafs.MaskedAutoregressiveFlow_on_MADE(2, [24], "tanh", 2, 3, input_order="random")),
):
    mafs.rng.seed(0)
    np.random.seed(0)
    random.seed(0)
    model = make()
    trainer = SGD(model, [x[:3000]], model.trn_loss, val_data=[x[3000:]], val_loss=model.trn_loss,
                  step=steps.Adam(a=3e-3))  # fmt: skip
    trainer.train(minibatch=100, maxepochs=40, monitor_every=5, verbose=False)
    loss = -model.eval(x[3000:]).mean()
    whole = model.eval(grid.reshape(-1, 2), log=False).sum() * 0.05 * 0.05
    assert entropy - 0.1 < loss < entropy + 0.15, (name, loss, entropy)
    assert abs(whole - 1) < 0.02, (name, whole)
    drawn = model.gen(4000)
    assert np.abs(drawn.mean(axis=0)).max() < 0.15, (name, drawn.mean(axis=0))
    found[name] = loss
print(f"entropy of the source {entropy:.3f}; negative log-likelihoods: "
      + ", ".join(f"{name} {loss:.3f}" for name, loss in found.items()))  # fmt: skip
