"""Generative stochastic networks: a denoising chain that is trained through its steps, and samples."""

from __future__ import annotations

import pickle
import sys
import types

import numpy as np
import PIL.Image

import theano

theano.config.floatX = "float32"
sys.path.insert(0, sys.argv[1])
import model  # noqa: E402

RNG = np.random.default_rng(0)
kinds = np.zeros((2, 8, 8), "float32")
kinds[0, :, :4], kinds[1, :4] = 1, 1  # the left half, and the upper half
kinds = kinds.reshape(2, 64)


def images(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return images, and of which kind they are."""
    y = RNG.integers(0, 2, count)
    return (kinds[y] + 0.05 * RNG.random((count, 64)).astype("float32")).clip(0, 1), y


with open("mnist.pkl", "wb") as file:
    pickle.dump([images(1000), images(100), images(100)], file)


class Enough(Exception):
    """Raised where the program begins to make 10,000 samples."""


def save(name: str, samples: np.ndarray) -> None:
    """Keep what it would save."""
    np.savez("kept", samples)
    raise Enough


likelihood = types.ModuleType("likelihood_estimation_parzen")
sys.modules["likelihood_estimation_parzen"] = likelihood
tile = model.tile_raster_images  # with lengths that are floats, which NumPy 1.12 dropped
model.tile_raster_images = lambda x, shape, parts: tile(x, tuple(map(int, shape)), parts)
state = types.SimpleNamespace(
    K=2, N=4, n_epoch=15, batch_size=100, hidden_add_noise_sigma=0.5, input_salt_and_pepper=0.3, learning_rate=0.25,
    momentum=0.5, annealing=0.995, hidden_size=40, act="tanh", dataset="MNIST", data_path=".", vis_init=0,
    noiseless_h1=1, input_sampling=0, test_model=0,
)  # fmt: skip
model.numpy.save, kept = save, np.save
try:
    model.experiment(state, None)
except Enough:
    pass
model.numpy.save = kept
with open("params_epoch_15.pkl", "rb") as file:
    params = pickle.load(file)
assert [p.get_value().shape for p in params] == [(64, 40), (40, 40), (64,), (40,), (40,)]
assert PIL.Image.open("samples_epoch_15.png").size[0] > 100
samples = np.load("kept.npz")["arr_0"][200:]
far = np.abs(samples[:, None] - kinds).mean(axis=2)
assert far.min(axis=1).mean() < 0.1, far.min(axis=1).mean()
print(f"{len(samples)} samples, {far.min(axis=1).mean():.3f} from an image of the two kinds")
