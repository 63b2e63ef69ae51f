"""A small convolutional network in Lasagne 0.1: trained for some steps, saved, loaded, and asked again."""

from __future__ import annotations

import io

import lasagne
import numpy as np
from data import stripes

import theano
import theano.tensor as T

IMAGES, LABELS = stripes(200)


def network(images: T.TensorVariable) -> lasagne.layers.Layer:
    """Return the last layer of two convolutions with pooling and a dense layer."""
    layer = lasagne.layers.InputLayer((None, 1, 12, 12), input_var=images)
    for filters in (8, 16):
        layer = lasagne.layers.Conv2DLayer(layer, filters, (3, 3), pad="same")
        layer = lasagne.layers.MaxPool2DLayer(layer, (2, 2))
    layer = lasagne.layers.DropoutLayer(layer, p=0.2)
    return lasagne.layers.DenseLayer(layer, 2, nonlinearity=lasagne.nonlinearities.softmax)


lasagne.random.set_rng(np.random.RandomState(1))
x, y = T.tensor4("x"), T.ivector("y")
net = network(x)
loss = lasagne.objectives.categorical_crossentropy(lasagne.layers.get_output(net), y).mean()
loss += 1e-4 * lasagne.regularization.regularize_network_params(net, lasagne.regularization.l2)
parameters = lasagne.layers.get_all_params(net, trainable=True)
train = theano.function([x, y], loss, updates=lasagne.updates.adam(loss, parameters, 0.01))
answer = theano.function([x], lasagne.layers.get_output(net, deterministic=True))

losses = [float(train(IMAGES, LABELS)) for _ in range(25)]
accuracy = np.mean(answer(IMAGES).argmax(axis=1) == LABELS)
print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, accuracy {accuracy:.3f}")
assert losses[-1] < losses[0] / 3 and accuracy > 0.95

stored = io.BytesIO()
np.savez(stored, *lasagne.layers.get_all_param_values(net))
stored.seek(0)
other = network(x)
with np.load(stored) as values:
    lasagne.layers.set_all_param_values(other, [values[f"arr_{i}"] for i in range(len(values.files))])
again = theano.function([x], lasagne.layers.get_output(other, deterministic=True))
np.testing.assert_allclose(again(IMAGES), answer(IMAGES), rtol=1e-6)
