"""DRAW: a recurrent variational autoencoder that reads and writes an image through attention."""

from __future__ import annotations

import sys

import numpy as np

import theano
import theano.tensor as T

theano.config.floatX = "float32"
np.random.seed(0)  # the program seeds with numbers that NumPy draws
sys.path.insert(0, f"{sys.argv[1]}/mnist-captions")
import draw  # noqa: E402
from attention import SelectiveAttentionModel  # noqa: E402

draw.batch_size = 25

RNG = np.random.default_rng(0)
# A filter of the attention is a normalised Gaussian: reading a constant image gives the constant.
model = SelectiveAttentionModel(28, 28, 5)
given, image = T.matrix(), T.matrix()
g_y, g_x, delta, sigma, gamma = model.matrix2att(given)
read = theano.function([given, image], model.read(image, g_y, g_x, delta, sigma))
assert np.allclose(read(np.zeros((3, 5), "float32"), np.full((3, 784), 0.3, "float32")), 0.3, atol=1e-3)

# Images: a bright square of 8 by 8 at one of four places.
images = np.zeros((700, 28, 28), "float32")
for i, place in enumerate(RNG.integers(0, 4, 700)):
    y, x = 4 + 12 * (place // 2), 4 + 12 * (place % 2)
    images[i, y : y + 8, x : x + 8] = 1
images = images.reshape(700, 784)
np.random.seed(0)
vae = draw.ReccurentAttentionVAE(784, 5, 12, 24, 24, 5, 4, images[:600], valData=images[600:])
before = vae.validate()
vae.train(0.01, 10)
after = vae.validate()
drawn, places = vae.sample_from_prior(4)
assert drawn.shape == (4, 25, 784) and places.shape == (4, 25, 5)
assert abs(before[2] - 784 * np.log(2)) < 20 and after[2] < 150, (before, after)
vae.save_weights("weights.h5", None, None, None)
loaded = draw.ReccurentAttentionVAE(
    784, 5, 12, 24, 24, 5, 4, images[:600], valData=images[600:], pathToWeights="weights.h5"
)
again = loaded.validate()
assert abs(again[2] - after[2]) < 2, (again, after)
print(f"bound {before[2]:.0f} -> {after[2]:.1f}; loaded from HDF5: {again[2]:.1f}")
