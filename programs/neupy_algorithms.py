"""NeuPy 0.6.5: algorithms of first and second order; a convolutional network, saved and loaded; recurrent networks."""

from __future__ import annotations

import tempfile
from pathlib import Path

import dill
import numpy as np
from data import stripes, sums
from neupy import algorithms, environment, layers, storage

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(200, 4))
HEIGHTS = POINTS @ [[1.0], [-2.0], [0.5], [0.0]]
HEIGHTS = (HEIGHTS - HEIGHTS.min()) / (HEIGHTS.max() - HEIGHTS.min())

#: Parameters of each algorithm, and what part of the squared error 30 epochs may leave: what was measured, and more.
ALGORITHMS = {
    "GradientDescent": ({"step": 0.3}, 0.9), "Momentum": ({"step": 0.3, "batch_size": 16}, 0.1),
    "Adadelta": ({"batch_size": 16}, 0.7), "Adagrad": ({"step": 0.5, "batch_size": 16}, 0.7),
    # Its Adam multiplies by the root of the second moment, where it was to divide.
    "Adam": ({"step": 0.1, "batch_size": 16}, 0.97), "Adamax": ({"step": 0.1, "batch_size": 16}, 0.1),
    "RMSProp": ({"step": 0.05, "batch_size": 16}, 0.1), "RPROP": ({}, 0.2), "IRPROPPlus": ({}, 0.1),
    "ConjugateGradient": ({"update_function": "dai_yuan"}, 0.1), "Quickprop": ({"step": 0.3}, 0.1),
    "QuasiNewton": ({"update_function": "bfgs"}, 0.1), "HessianDiagonal": ({}, 0.7), "Hessian": ({}, 0.7),
    "LevenbergMarquardt": ({}, 0.05),
}  # fmt: skip


def regression(name: str) -> None:
    """Fit a plane by a network of one hidden layer."""
    options, most = ALGORITHMS[name]
    environment.reproducible(0)
    shape = [layers.Input(4), layers.Sigmoid(8), layers.Sigmoid(1)]
    network = getattr(algorithms, name)(shape, verbose=False, **options)
    before = float(network.prediction_error(POINTS, HEIGHTS))
    network.train(POINTS, HEIGHTS, epochs=30)
    left = float(network.prediction_error(POINTS, HEIGHTS)) / before
    print(f"{name}: {left:.3f} of the squared error left")
    assert left < most, name
    again = dill.loads(dill.dumps(network))
    np.testing.assert_allclose(again.predict(POINTS), network.predict(POINTS))


def convolution() -> None:
    """Tell upright stripes from others; save the network's parameters and load them into another one."""
    images, labels = stripes(200)
    targets = np.eye(2)[labels]

    def network() -> layers.BaseLayer:
        return layers.join(
            layers.Input((1, 12, 12)), layers.Convolution((4, 3, 3)), layers.BatchNorm(), layers.Relu(),
            layers.MaxPooling((2, 2)), layers.Dropout(0.1), layers.Reshape(), layers.Softmax(2),
        )  # fmt: skip

    environment.reproducible(0)
    trained = algorithms.RMSProp(network(), error="categorical_crossentropy", step=0.01, batch_size=20, verbose=False)
    trained.train(images, targets, epochs=12)
    accuracy = float((trained.predict(images).argmax(1) == labels).mean())
    print(f"stripes: accuracy {accuracy:.3f}")
    assert accuracy > 0.95
    # Layer by layer, as a pickle: its other forms write numbers of NumPy as NumPy 2 shows them.
    with tempfile.TemporaryDirectory() as folder:
        path, other = str(Path(folder) / "parameters"), network()
        storage.save_pickle(trained.connection, path)
        storage.load_pickle(other, path, load_by="order")
    loaded = algorithms.RMSProp(other, error="categorical_crossentropy", verbose=False)
    np.testing.assert_allclose(loaded.predict(images), trained.predict(images), rtol=1e-5, atol=1e-6)


def recurrence(layer: str) -> None:
    """Tell sequences whose first feature has a sum above zero."""
    sequences, labels = sums(300, 6)
    environment.reproducible(0)
    network = algorithms.RMSProp(
        [layers.Input((6, 2)), getattr(layers, layer)(8), layers.Sigmoid(1)],
        error="binary_crossentropy", step=0.03, batch_size=30, verbose=False,
    )  # fmt: skip
    network.train(sequences, labels[:, None].astype(float), epochs=25)
    accuracy = float(((network.predict(sequences)[:, 0] > 0.5) == labels).mean())
    print(f"{layer}: accuracy {accuracy:.3f}")
    assert accuracy > 0.9


if __name__ == "__main__":
    for each in ALGORITHMS:
        regression(each)
    convolution()
    recurrence("LSTM")
    recurrence("GRU")
