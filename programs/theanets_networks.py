"""theanets 0.7.3: a classifier of points in rings, an autoencoder, and a recurrent regressor that adds up."""

from __future__ import annotations

import numpy as np
import theanets

rng = np.random.default_rng(0)
points = rng.uniform(-1, 1, (400, 2)).astype("float32")
rings = np.digitize(np.hypot(*points.T), [0.5, 0.9]).astype("int32")
classifier = theanets.Classifier([2, (24, "tanh"), 3])
classifier.train([points, rings], algo="rmsprop", learning_rate=0.02, batch_size=50, max_updates=600, patience=60)
accuracy = float((classifier.predict(points) == rings).mean())
print(f"points in three rings: accuracy {accuracy:.3f}")
assert accuracy > 0.9
probabilities = classifier.predict_proba(points)
np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)

plane = (rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6))).astype("float32")
autoencoder = theanets.Autoencoder([6, (2, "linear"), 6])
autoencoder.train([plane], algo="rmsprop", learning_rate=0.01, batch_size=50, max_updates=1500, patience=100)
left = float(((autoencoder.predict(plane) - plane) ** 2).mean() / (plane**2).mean())
print(f"autoencoder of a plane: {left:.1e} of its squares left")
assert left < 1e-2

steps = rng.uniform(-0.5, 0.5, (200, 8, 1)).astype("float32")  # sequences, steps, features
sums = steps.cumsum(axis=1)
recurrent = theanets.recurrent.Regressor([1, ("lstm", 10), 1])
recurrent.train([steps, sums], algo="adam", learning_rate=0.02, batch_size=50, max_updates=600, patience=60)
error = float(((recurrent.predict(steps) - sums) ** 2).mean() / (sums**2).mean())
print(f"sums of sequences by an LSTM: {error:.1e} of their squares left")
assert error < 0.1
