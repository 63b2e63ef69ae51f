"""A convolutional network and an LSTM in Keras 2.2.5 over Theano: trained, saved, loaded, and asked again."""

from __future__ import annotations

import keras
import numpy as np
from data import stripes, sums
from keras import layers
from keras_learning import learn

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
learn("convolutional network", pictures, images.astype("float32"), upright, epochs=8)

sequences, positive = sums(300)
memory = keras.Sequential()
memory.add(layers.LSTM(12, input_shape=sequences.shape[1:]))
memory.add(layers.Dense(2, activation="softmax"))
learn("LSTM", memory, sequences, positive, epochs=25)
