"""What both versions of Keras are asked to do with a network."""

from __future__ import annotations

import tempfile
from pathlib import Path

import keras
import keras.models
import numpy as np


def learn(name: str, model: keras.models.Model, inputs: np.ndarray, labels: np.ndarray, **training: int) -> None:
    """Train a classifier, and compare what it answers after it was saved and loaded, whole and its weights alone.

    ``training`` says for how many epochs: by ``epochs``, or ``nb_epoch`` in Keras 1.
    """
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    losses = model.fit(inputs, labels, batch_size=20, verbose=0, **training).history["loss"]
    accuracy = model.evaluate(inputs, labels, verbose=0)[1]
    print(f"{name}: loss {losses[0]:.3f} -> {losses[-1]:.3f}, accuracy {accuracy:.3f}")
    assert losses[-1] < losses[0] / 2 and accuracy > 0.9, name
    answers = model.predict(inputs)
    with tempfile.TemporaryDirectory() as folder:
        model.save(str(Path(folder) / "model.h5"))
        model.save_weights(str(Path(folder) / "weights.h5"))
        whole = keras.models.load_model(str(Path(folder) / "model.h5"))
        rebuilt = keras.models.model_from_json(model.to_json())
        rebuilt.load_weights(str(Path(folder) / "weights.h5"))
    for other in (whole, rebuilt):
        np.testing.assert_allclose(other.predict(inputs), answers, rtol=1e-5)
    whole.train_on_batch(inputs[:20], labels[:20])  # its optimiser was saved, too
