"""Ops with one fault each, as users plant them: whoever checks ops must find every one."""

from __future__ import annotations

import itertools

import numpy as np

import theano
import theano.tensor as T


class Sound(theano.Op):
    """Twice its input, by the book; the faulty ones differ from it in one thing."""

    __props__ = ()

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0] * 2, dtype=node.outputs[0].dtype)

    def infer_shape(self, node, shapes):
        return shapes

    def grad(self, inputs, output_grads):
        return [output_grads[0] * 2]

    def R_op(self, inputs, eval_points):
        return [None if eval_points[0] is None else eval_points[0] * 2]


class WrongGradient(Sound):
    def grad(self, inputs, output_grads):
        return [output_grads[0] * 3]


class WrongSecondGradient(Sound):
    """Its square: the gradient is right, that of the gradient is not."""

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] ** 2

    def grad(self, inputs, output_grads):
        return [output_grads[0] * 2 * theano.gradient.disconnected_grad(inputs[0])]

    def R_op(self, inputs, eval_points):
        return [None if eval_points[0] is None else 2 * inputs[0] * eval_points[0]]


class GradientOfWrongShape(Sound):
    def grad(self, inputs, output_grads):
        return [(output_grads[0] * 2).sum()]


class GradientMissing(Sound):
    def grad(self, inputs, output_grads):
        return []


class WrongRop(Sound):
    def R_op(self, inputs, eval_points):
        return [None if eval_points[0] is None else eval_points[0] * 5]


class WrongDestroyMap(Sound):
    """Works in place without saying so."""

    def perform(self, node, inputs, output_storage):
        inputs[0][...] = inputs[0] * 2
        output_storage[0][0] = inputs[0].copy()


class DestroysTheOther(Sound):
    """Says that it overwrites its first input, and overwrites its second."""

    destroy_map = {0: [0]}

    def make_node(self, x, y):
        x, y = T.as_tensor_variable(x), T.as_tensor_variable(y)
        return theano.Apply(self, [x, y], [x.type()])

    def perform(self, node, inputs, output_storage):
        inputs[1][...] = 7
        inputs[0][...] *= 2
        output_storage[0][0] = inputs[0]

    def infer_shape(self, node, shapes):
        return [shapes[0]]

    def grad(self, inputs, output_grads):
        return [output_grads[0] * 2, inputs[1].zeros_like()]

    def R_op(self, inputs, eval_points):
        return [None if eval_points[0] is None else eval_points[0] * 2]


class UndeclaredView(Sound):
    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0]

    def grad(self, inputs, output_grads):
        return [output_grads[0]]

    def R_op(self, inputs, eval_points):
        return eval_points


class OutputsShareMemory(Sound):
    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return theano.Apply(self, [x], [x.type(), x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = output_storage[1][0] = inputs[0] * 2

    def infer_shape(self, node, shapes):
        return shapes * 2

    def grad(self, inputs, output_grads):
        return [sum(g * 2 for g in output_grads)]

    def R_op(self, inputs, eval_points):
        return [eval_points[0] * 2] * 2


class WrongShape(Sound):
    """Its infer_shape takes the axes in the wrong order."""

    def infer_shape(self, node, shapes):
        return [tuple(reversed(shapes[0]))]


class ShapeTooShort(Sound):
    def infer_shape(self, node, shapes):
        return [shapes[0][:-1]]


class WrongDtype(Sound):
    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = (inputs[0] * 2).astype("float32" if inputs[0].dtype == "float64" else "float64")


class WrongDimensions(Sound):
    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = (inputs[0] * 2)[None]


class WrongBroadcastPattern(Sound):
    """Promises length 1 where it returns more."""

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return theano.Apply(self, [x], [T.TensorType(x.dtype, (True,) * x.ndim)()])


class NoValue(Sound):
    def perform(self, node, inputs, output_storage):
        pass


class NoArray(Sound):
    """A list where an array is promised."""

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = (inputs[0] * 2).tolist()


class Stateful(Sound):
    """Counts its calls, and lets the result know."""

    calls = itertools.count()

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * 2 + next(self.calls)


class ResizedStorage(Sound):
    def perform(self, node, inputs, output_storage):
        output_storage[0].append(inputs[0])
        output_storage[0][0] = inputs[0] * 2


class ReplacedStorage(Sound):
    def perform(self, node, inputs, output_storage):
        output_storage[0] = [inputs[0] * 2]


class BelievesOldMemory(Sound):
    """Adds to what it finds in the output storage."""

    def perform(self, node, inputs, output_storage):
        z = output_storage[0]
        if z[0] is None or z[0].shape != inputs[0].shape:
            z[0] = np.zeros_like(inputs[0])
        z[0] += inputs[0] * 2


class BelievesOldShape(Sound):
    """Writes into the output storage whatever its shape."""

    def perform(self, node, inputs, output_storage):
        z = output_storage[0]
        if z[0] is None:
            z[0] = np.empty_like(inputs[0])
        z[0][:2] = inputs[0][:2] * 2
        z[0][2:] = inputs[0][2:] * 2


class BelievesContiguity(Sound):
    """Takes its input for one block of memory in C order."""

    def perform(self, node, inputs, output_storage):
        x = inputs[0]
        compact = np.empty(x.shape, x.dtype).strides
        output_storage[0][0] = np.lib.stride_tricks.as_strided(x, x.shape, compact) * 2


class UnequalEqual(Sound):
    """Two of a kind that are not equal, although their parameters are."""

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return id(self)


class ForgottenProperty(Sound):
    """A parameter that changes the result and is not among the properties."""

    def __init__(self, factor=2):
        self.factor = factor

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * self.factor

    def grad(self, inputs, output_grads):
        return [output_grads[0] * self.factor]

    def R_op(self, inputs, eval_points):
        return [None if eval_points[0] is None else eval_points[0] * self.factor]


class UnhashableProperty(Sound):
    __props__ = ("weights",)

    def __init__(self, weights=(1, 2)):
        self.weights = list(weights)


class NoPickle(Sound):
    def __init__(self):
        self.helper = lambda x: x

    __props__ = ()


class AcceptsAnything(Sound):
    """Takes a list of words for a number: make_node checks nothing, perform fails with whatever NumPy says."""

    def make_node(self, x):
        x = x if isinstance(x, theano.Variable) else theano.generic.make_constant(x)
        return theano.Apply(self, [x], [T.dvector()])


class ChangesItself(Sound):
    """A property that calls change: the op is another one afterwards."""

    __props__ = ("count",)

    def __init__(self, count=0):
        self.count = count

    def perform(self, node, inputs, output_storage):
        self.count += 1
        output_storage[0][0] = inputs[0] * 2


class ConnectedInSecret(Sound):
    """Says that its output does not depend on its input."""

    def connection_pattern(self, node):
        return [[False]]

    def grad(self, inputs, output_grads):
        return [theano.gradient.disconnected_type()]
