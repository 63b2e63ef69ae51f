"""scikit-neuralnetwork 0.7 on Lasagne: a classifier and a regressor, through the interface of scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
from sknn.mlp import Classifier, Layer, Regressor

rng = np.random.default_rng(0)
points = rng.uniform(-1, 1, (400, 2))
rings = np.digitize(np.hypot(*points.T), [0.5, 0.9])
layers = [Layer("Tanh", units=24), Layer("Softmax")]
classifier = Classifier(layers=layers, learning_rule="adam", learning_rate=0.01, n_iter=80, random_state=1)
classifier.fit(points, rings)
accuracy = np.mean(classifier.predict(points).ravel() == rings)
print(f"points in three rings: accuracy {accuracy:.3f}")
assert accuracy > 0.9
again = pickle.loads(pickle.dumps(classifier))
np.testing.assert_allclose(again.predict_proba(points), classifier.predict_proba(points), rtol=1e-5)

line = Regressor(layers=[Layer("Linear")], learning_rule="sgd", learning_rate=0.02, n_iter=100, random_state=1)
targets = points @ [[2.0], [-1.0]] + 0.5
line.fit(points, targets)
error = float(np.abs(line.predict(points) - targets).max())
print(f"a plane: largest error {error:.4f}")
assert error < 0.05
