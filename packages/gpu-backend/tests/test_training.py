"""Steps of training, in the forms that programs have them: what is computed on the host, and what is moved.

A rule that brings a new op, or a new form of one, would otherwise send a step's largest arrays to the host and back
unnoticed: results are right there, too.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from compare import MODE, ONLY_SOURCES, nodes

import theano
import theano.tensor as T
from theano.gpuarray import gpuarray_shared_constructor
from theano.tensor.device.ops import FromDevice, ToDevice
from theano.tensor.nnet import (
    batch_normalization_train,
    binary_crossentropy,
    categorical_crossentropy,
    conv2d,
    relu,
    sigmoid,
    softmax,
)
from theano.tensor.pool import pool_2d
from theano.tensor.random.mrg import MRG_RandomStreams

X, LABELS, TARGETS = T.fmatrix("x"), T.lvector("labels"), T.fmatrix("targets")
RNG = np.random.RandomState(0)
BATCH, UNITS, CLASSES = 4, 6, 5


def shared(*shape):
    """Return a parameter on the device."""
    return gpuarray_shared_constructor((0.3 * RNG.normal(size=shape)).astype("float32"))


def single(number):
    return np.float32(number)


def descent(cost, parameters):
    return [(p, p - single(0.1) * g) for p, g in zip(parameters, T.grad(cost, parameters), strict=True)]


def adam(cost, parameters):
    """Return the updates of Adam, with its moments and its count as further parameters."""
    t = theano.shared(single(0))
    updates, count = [(t, t + single(1))], t + single(1)
    for p, g in zip(parameters, T.grad(cost, parameters), strict=True):
        m, v = shared(*p.get_value().shape), gpuarray_shared_constructor(np.ones(p.get_value().shape, "float32"))
        m_new, v_new = single(0.9) * m + single(0.1) * g, single(0.999) * v + single(0.001) * T.sqr(g)
        scaled = m_new / (single(1) - single(0.9) ** count) / (T.sqrt(v_new) + single(1e-8))
        updates += [(m, m_new), (v, v_new), (p, p - single(0.01) * scaled)]
    return updates


def layers():
    """Return the scores of a network of two layers, and its parameters."""
    w, b, v = shared(UNITS, 8), shared(8), shared(8, CLASSES)
    return T.dot(relu(T.dot(X, w) + b), v), [w, b, v]


def with_adam():
    scores, parameters = layers()
    cost = categorical_crossentropy(softmax(scores), LABELS).mean()
    return [X, LABELS], cost, adam(cost, parameters)


#: Costs of the scores of two layers, beside labels or beside targets.
OF_LABELS = {
    "by an index": lambda scores: -T.mean(T.log(softmax(scores))[T.arange(LABELS.shape[0]), LABELS]),
    "cut off": lambda scores: categorical_crossentropy(T.clip(softmax(scores), single(1e-6), single(1 - 1e-6)), LABELS).mean(),
}
OF_TARGETS = {
    "of distributions": lambda scores: categorical_crossentropy(softmax(scores), TARGETS).mean(),
    "of log sums": lambda scores: (T.log(T.sum(T.exp(scores), axis=1)) - T.sum(scores * TARGETS, axis=1)).mean(),
    "of two classes": lambda scores: binary_crossentropy(sigmoid(scores), TARGETS).mean(),
    "of margins": lambda scores: T.maximum(single(0), single(1) - TARGETS * scores).mean(),
}


def of_layers(cost_of, beside):
    scores, parameters = layers()
    cost = cost_of(scores)
    return [X, beside], cost, descent(cost, parameters)


def with_dropout():
    w, v, streams = shared(UNITS, 8), shared(8, CLASSES), MRG_RandomStreams(1)
    h = relu(T.dot(X, w))
    cost = categorical_crossentropy(softmax(T.dot(h * streams.binomial(h.shape, p=0.5, dtype="float32"), v)), LABELS).mean()
    return [X, LABELS], cost, descent(cost, [w, v])


def of_an_autoencoder():
    to_mean, to_scale, back, streams = shared(UNITS, 3), shared(UNITS, 3), shared(3, UNITS), MRG_RandomStreams(2)
    mean, scale = T.dot(X, to_mean), T.dot(X, to_scale)
    z = mean + T.exp(single(0.5) * scale) * streams.normal(mean.shape, dtype="float32")
    divergence = single(0.5) * (T.exp(scale) + T.sqr(mean) - single(1) - scale).sum(axis=1)
    cost = (binary_crossentropy(sigmoid(T.dot(z, back)), sigmoid(X)).sum(axis=1) + divergence).mean()
    return [X], cost, descent(cost, [to_mean, to_scale, back])


def of_words():
    words, table, v = T.imatrix("words"), shared(20, UNITS), shared(UNITS, CLASSES)
    mean = table[words.flatten()].reshape((words.shape[0], words.shape[1], UNITS)).mean(axis=1)
    cost = categorical_crossentropy(softmax(T.dot(T.tanh(mean), v)), LABELS).mean()
    return [words, LABELS], cost, descent(cost, [table, v])


def of_images():
    images, w, v = T.ftensor4("images"), shared(3, 2, 3, 3), shared(3, CLASSES)
    gamma, beta = (T.addbroadcast(shared(1, 3, 1, 1), 0, 2, 3) for _ in range(2))
    normal, *_ = batch_normalization_train(conv2d(images, w), gamma, beta, "spatial")
    features = pool_2d(relu(normal), (2, 2), ignore_border=True).mean(axis=(2, 3))
    cost = categorical_crossentropy(softmax(T.dot(features, v)), LABELS).mean()
    return [images, LABELS], cost, descent(cost, [w, v])


def of_sequences():
    sequences, mask = T.ftensor3("sequences"), T.fmatrix("mask")
    w, u, v = shared(UNITS, 8), shared(8, 8), shared(8, CLASSES)

    def step(x, m, h):
        new = T.tanh(T.dot(x, w) + T.dot(h, u))
        return m[:, None] * new + (single(1) - m[:, None]) * h

    states, _ = theano.scan(step, [sequences, mask], [T.zeros((sequences.shape[1], 8), "float32")])
    cost = categorical_crossentropy(softmax(T.dot(states[-1], v)), LABELS).mean()
    return [sequences, mask, LABELS], cost, descent(cost, [w, u, v])


STEPS = {
    **{name: partial(of_layers, cost_of, LABELS) for name, cost_of in OF_LABELS.items()},
    **{name: partial(of_layers, cost_of, TARGETS) for name, cost_of in OF_TARGETS.items()},
    "with Adam": with_adam, "with dropout": with_dropout, "of an autoencoder": of_an_autoencoder, "of words": of_words,
    "of images": of_images, "of sequences": of_sequences,
}  # fmt: skip


def value_of(v):
    """Return a value for an input."""
    if v.type.dtype.startswith("int"):
        return RNG.randint(0, CLASSES, (BATCH, 3)[: v.type.ndim]).astype(v.type.dtype)
    shape = {"x": (BATCH, UNITS), "targets": (BATCH, CLASSES), "images": (BATCH, 2, 8, 8), "sequences": (7, BATCH, UNITS), "mask": (7, BATCH)}
    return RNG.random_sample(shape[v.name]).astype("float32")


def floats(variables):
    return [v for v in variables if v.type.ndim and v.type.dtype.startswith("float") and not all(v.type.broadcastable)]


def is_given(v, inputs):
    """Return whether a variable is an input, or a view of one."""
    while v.owner is not None and getattr(v.owner.op, "view_map", None):
        v = v.owner.inputs[0]
    return v in inputs


@pytest.mark.parametrize("make", STEPS.values(), ids=STEPS.keys())
def test_a_step_stays_on_the_device(make):
    """Arrays of floats are moved there if they are given, and nothing but the cost comes back; the host computes none."""
    inputs, cost, updates = make()
    f = theano.function(inputs, cost, updates=updates, mode=MODE)
    fgraph = f.maker.fgraph
    there = [n for n in fgraph.toposort() if isinstance(n.op, ToDevice)]
    back = [n for n in fgraph.toposort() if isinstance(n.op, FromDevice)]
    computed = [n for n in nodes(f)[1] if floats(n.outputs) and not getattr(n.op, "view_map", None)]
    assert not computed, computed
    assert all(is_given(v, fgraph.inputs) for n in there for v in floats(n.inputs)), there
    assert not floats(v for n in back for v in n.outputs), back
    if not ONLY_SOURCES:
        values = [value_of(v) for v in inputs]
        assert np.isfinite([f(*values) for _ in range(4)]).all()
