"""A convolutional network and an LSTM in Keras 2.2.5 over Theano: trained, saved, loaded, and asked again."""

from __future__ import annotations

import tempfile
from pathlib import Path

import keras
import numpy as np
from data import stripes, sums
from keras import layers


def learn(name: str, model: keras.Model, inputs: np.ndarray, labels: np.ndarray, epochs: int) -> None:
    """Train a classifier, and compare what it answers after it was saved and loaded, whole and its weights alone."""
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    losses = model.fit(inputs, labels, batch_size=20, epochs=epochs, verbose=0).history["loss"]
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


assert keras.backend.backend() == "theano"
np.random.seed(1)
images, upright = stripes(200)
pictures = keras.Sequential()
pictures.add(
    layers.Conv2D(8, (3, 3), padding="same", activation="relu", input_shape=(1, 12, 12), data_format="channels_first")
)
pictures.add(layers.BatchNormalization(axis=1))
pictures.add(layers.MaxPooling2D(data_format="channels_first"))
pictures.add(layers.Flatten())
pictures.add(layers.Dropout(0.2))
pictures.add(layers.Dense(2, activation="softmax"))
learn("convolutional network", pictures, images.astype("float32"), upright, 8)

sequences, positive = sums(300)
memory = keras.Sequential()
memory.add(layers.LSTM(12, input_shape=sequences.shape[1:]))
memory.add(layers.Dense(2, activation="softmax"))
learn("LSTM", memory, sequences, positive, 25)
