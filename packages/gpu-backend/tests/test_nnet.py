"""Networks that are trained on the device: batch normalisation, and which values are moved in a step of training."""

from __future__ import annotations

import numpy as np
import pytest
from compare import MODE, ON_CPU, TOLERANCES, agree, nodes

import theano
import theano.tensor as T
from theano import gpuarray
from theano.tensor.device.ops import FromDevice, ToDevice
from theano.tensor.nnet import (
    batch_normalization,
    batch_normalization_test,
    batch_normalization_train,
    conv2d,
    relu,
)
from theano.tensor.pool import pool_2d

# -- batch normalisation ----------------------------------------------------------------------------------------------


def parameters(shape, axes, dtype):
    """Return numbers for each place that is not normalised along: scale, shift, mean and variance."""
    rng, lengths = np.random.default_rng(1), [1 if d in axes else n for d, n in enumerate(shape)]
    drawn = [rng.normal(size=lengths), rng.normal(size=lengths), rng.normal(size=lengths), rng.random(lengths) + 0.5]
    return [v.astype(dtype) for v in drawn]


@pytest.mark.parametrize(("axes", "shape", "dtype"), [
    ((0,), (5, 7), "float16"), ((0, 2, 3), (4, 3, 5, 6), "float32"), ((0, 1), (3, 5, 4), "float64"),
])  # fmt: skip
def test_batches_are_normalised(axes, shape, dtype):
    x = T.TensorType(dtype, (False,) * len(shape))("x")
    scale, shift, mean, variance = (T.TensorType(dtype, [d in axes for d in range(len(shape))])(n) for n in "abmv")
    trained = batch_normalization_train(x, scale, shift, axes, 1e-3, 0.2, mean, variance)
    loss = T.sum(T.cast(T.tanh(trained[0]), dtype) * x)
    known = batch_normalization_test(x, scale, shift, mean, variance, axes, 1e-3)
    plain = batch_normalization(x, scale, shift, mean, variance)
    outputs = [*trained, *T.grad(loss, [x, scale, shift]), known, plain]
    outputs += T.grad(T.sqr(known).sum(), [x, scale, shift, mean, variance])
    values = [np.random.default_rng(0).normal(size=shape).astype(dtype), *parameters(shape, axes, dtype)]
    close = 0.03 if dtype == "float16" else 50 * TOLERANCES[dtype]
    f = agree([x, scale, shift, mean, variance], outputs, values, close, all_there=False)
    arrays = [v for n in nodes(f)[1] for v in n.outputs if v.type.ndim and not all(v.type.broadcastable)]
    assert {v.type.dtype for v in arrays} <= {"int64"}, "the host has lengths"


def test_second_derivatives_of_batch_normalisation():
    x, scale, shift = T.dtensor4("x"), T.dvector("scale"), T.dvector("shift")
    y, *_ = batch_normalization_train(x, scale, shift, "spatial")
    slope = T.grad(T.sum(T.tanh(y)), x)
    values = [np.random.default_rng(0).normal(size=s) for s in ((3, 2, 4, 5), (2,), (2,))]
    agree([x, scale, shift], [slope, *T.grad(T.sqr(slope).sum(), [x, scale])], values, 1e-9, all_there=False)


# -- training ---------------------------------------------------------------------------------------------------------


class Perceptron:
    """Two layers of units."""

    def __init__(self, make):
        rng = np.random.default_rng(0)
        self.params = [make(rng.normal(size=s).astype("float32") / 4) for s in ((64, 32), (32,), (32, 10), (10,))]
        self.averages = []

    def scores(self, images):
        inner, bias, outer, outer_bias = self.params
        return T.dot(relu(T.dot(images.flatten(2), inner) + bias), outer) + outer_bias


class Convolutional:
    """Convolution, batch normalisation and pooling, twice; then a layer of units."""

    def __init__(self, make):
        rng = np.random.default_rng(0)
        shapes = ((6, 1, 3, 3), (8, 6, 3, 3), (6,), (8,), (6,), (8,), (32, 10), (10,))
        self.params = [make(rng.normal(size=s).astype("float32") / 3) for s in shapes]
        self.means = [make(np.zeros(n, "float32")) for n in (6, 8)]
        self.variances = [make(np.ones(n, "float32")) for n in (6, 8)]
        self.averages = []

    def scores(self, images):
        x = images
        for k, border in enumerate(("half", "half")):
            filters, scale, shift = self.params[k], self.params[2 + k], self.params[4 + k]
            x, _, _, mean, variance = batch_normalization_train(
                conv2d(x, filters, border_mode=border), scale, shift, "spatial",
                running_mean=self.means[k], running_var=self.variances[k],
            )  # fmt: skip
            self.averages += [(self.means[k], mean), (self.variances[k], variance)]
            x = pool_2d(relu(x), (2, 2), ignore_border=True)
        return T.dot(x.flatten(2), self.params[6]) + self.params[7]


def training(network, make, mode):
    """Return a step of training by momentum, as the examples have it."""
    images, labels, rate = T.ftensor4("images"), T.ivector("labels"), T.fscalar("rate")
    loss = T.nnet.categorical_crossentropy(T.nnet.softmax(network.scores(images)), labels).mean()
    updates = list(network.averages)
    for param, slope in zip(network.params, T.grad(loss, network.params), strict=True):
        velocity = make(np.zeros_like(param.get_value()))
        faster = np.float32(0.9) * velocity - rate * slope
        updates += [(velocity, faster), (param, param + faster)]
    return theano.function([images, labels, rate], loss, updates=updates, mode=mode)


def batches(count):
    """Return images of ten kinds, and which they are of."""
    rng = np.random.default_rng(2)
    kinds = rng.normal(size=(10, 1, 8, 8))
    for _ in range(count):
        labels = rng.integers(0, 10, 16).astype("int32")
        yield (kinds[labels] + 0.3 * rng.normal(size=(16, 1, 8, 8))).astype("float32"), labels


@pytest.mark.parametrize("kind", [Perceptron, Convolutional])
def test_a_step_of_training_moves_the_batch_and_the_loss(kind, context):
    there, here = kind(gpuarray.gpuarray_shared_constructor), kind(theano.shared)
    step = training(there, gpuarray.gpuarray_shared_constructor, MODE)
    order = step.maker.fgraph.toposort()
    to = [n for n in order if isinstance(n.op, ToDevice)]
    assert sorted(n.inputs[0].name for n in to) == ["images", "labels"], "the rate goes along with launches"
    back = [n for n in order if isinstance(n.op, FromDevice)]
    assert [n.outputs[0] for n in back] == [step.maker.fgraph.outputs[0]], "the loss"
    arrays = [n for n in nodes(step)[1] if any(v.type.ndim and v.type.dtype == "float32" for v in n.outputs)]
    assert not [n for n in arrays if not all(n.outputs[0].type.broadcastable)], "nothing else is on the host"
    on_cpu = training(here, theano.shared, ON_CPU)
    losses = []
    for images, labels in batches(20):
        before = context.counts()
        losses.append((float(step(images, labels, np.float32(0.02))), float(on_cpu(images, labels, np.float32(0.02)))))
        after = context.counts()
        assert (after["to"] - before["to"], after["from"] - before["from"]) == (2, 1)
    np.testing.assert_allclose(*zip(*losses), rtol=2e-3)
    assert losses[-1][0] < 0.75 * losses[0][0], "it learns"
    for ours, theirs in zip(there.params, here.params, strict=True):
        np.testing.assert_allclose(ours.get_value(), theirs.get_value(), rtol=5e-3, atol=5e-3)


LABELS_AS_INDEX = {
    "all rows": lambda p, y: T.log(p)[T.arange(p.shape[0]), y],
    "as many as labels": lambda p, y: T.log(p)[T.arange(y.shape[0]), y],
    "one for all": lambda p, y: T.log(p)[T.arange(p.shape[0]), y[:1]],
    "cross entropy": lambda p, y: -T.nnet.categorical_crossentropy(p, y),
}


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("form", list(LABELS_AS_INDEX))
def test_likelihoods_by_an_index(form, dtype):
    """The form of the tutorials: a label chooses as an index does, also from the end, and perhaps of the first rows only."""
    x, w, y = T.fmatrix("x"), T.fmatrix("w"), T.vector("y", dtype)
    likelihood = LABELS_AS_INDEX[form](T.nnet.softmax(T.dot(x, w)), y)
    outputs = [likelihood, T.grad(-likelihood.mean(), w), T.grad((likelihood * T.arange(likelihood.shape[0])).sum(), w)]
    numbers = np.random.default_rng(0).normal(size=(7, 5)).astype("float32")
    labels = np.array([0, 4, 2, 2, 1, 3, 0] if form == "cross entropy" else [0, -5, 4, -1, 2, 2, 1], dtype)
    f = agree([x, w, y], outputs, [numbers, numbers.T.copy()[:, :6], labels], 1e-5, all_there=False)
    assert any("Crossentropy" in str(n.op) for n in nodes(f)[0])
    if form == "as many as labels":
        for k in (0, 1, 6):
            agree([x, w, y], outputs[0], [numbers, numbers.T.copy()[:, :6], labels[:k]], 1e-5, all_there=False)
        with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 7"):
            f(numbers, numbers.T.copy(), np.zeros(8, dtype))
    if form == "all rows":
        with pytest.raises(IndexError, match="7 rows and 6 labels"):
            f(numbers, numbers.T.copy(), labels[:6])


@pytest.mark.parametrize("labels", ["int8", "int64"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_logarithms_at_labels(dtype, labels):
    """Of probabilities that are no softmax, such as those that a program has cut off."""
    p, w, y = T.matrix("p", dtype), T.vector("w", dtype), T.vector("y", labels)
    cost = T.nnet.categorical_crossentropy(T.clip(p, 0.1, 0.9).astype(dtype), y)
    outputs = [cost, T.grad((cost * w).sum(), p)]
    values = [np.random.default_rng(0).random((7, 5)).astype(dtype), np.arange(7, dtype=dtype), np.array([0, 4, 2, 2, 1, 3, 0], labels)]
    f = agree([p, w, y], outputs, values)
    assert sum("CrossentropyCategorical1Hot" in type(n.op).__name__ for n in nodes(f)[0]) == 2
    agree([p, w, y], outputs, [values[0][:0], values[1][:0], values[2][:0]])
    with pytest.raises(ValueError, match="6 labels where there are 7"):
        f(values[0], values[1], values[2][:6])


def test_a_step_of_the_tutorial_stays_on_the_device():
    """Only the batch and the cost are moved."""
    rng = np.random.default_rng(0)
    x, y = T.fmatrix("x"), T.lvector("y")
    w, b = (gpuarray.gpuarray_shared_constructor(v.astype("float32")) for v in (rng.normal(size=(6, 4)), np.zeros(4)))
    p = T.nnet.softmax(T.dot(x, w) + b)
    cost = -T.log(p)[T.arange(y.shape[0]), y].sum()
    f = theano.function([x, y], cost, updates=[(v, v - T.cast(0.1, "float32") * T.grad(cost, v)) for v in (w, b)], mode=MODE)
    moved = [n.op for n in f.maker.fgraph.toposort() if isinstance(n.op, (ToDevice, FromDevice))]
    assert len(moved) == 3 and sum(isinstance(op, FromDevice) for op in moved) == 1, moved
    assert not [n for n in nodes(f)[1] if any(v.type.ndim and not all(v.type.broadcastable) for v in n.outputs)]
    values = rng.normal(size=(5, 6)).astype("float32"), np.array([0, 3, 1, 1, 2])
    assert f(*values) > f(*values)
