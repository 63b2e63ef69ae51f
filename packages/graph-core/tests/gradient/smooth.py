"""Real and whole numbers with operators: the least that differentiation asks of a layer (see theano.gradient.absent)."""

from __future__ import annotations

import math

from theano.gradient import DisconnectedType, disconnected_type, grad_not_implemented
from theano.graph import Apply, Constant, Op, Type, Variable
from theano.graph.traverse import toposort


class RealVariable(Variable):
    def zeros_like(self, dtype=None):
        return zero(self)

    def ones_like(self, dtype=None):
        return add(zero(self), 1.0)

    def astype(self, dtype):
        return to_real(self)

    def clip(self, low, high):
        return clip(self, low, high)

    def __add__(self, other):
        return add(self, other)

    def __mul__(self, other):
        return mul(self, other)


class RealConstant(RealVariable, Constant):
    pass


class Number(Type):
    __props__ = ("dtype", "ndim")
    Variable, Constant = RealVariable, RealConstant

    def __init__(self, dtype="float64", ndim=0):
        self.dtype, self.ndim = dtype, ndim

    def filter(self, value, strict=False, allow_downcast=None):
        return value

    def __str__(self):
        return self.dtype if not self.ndim else f"{self.dtype}[{self.ndim}]"


real, whole, vector = Number(), Number("int64"), Number(ndim=1)


def is_value(g):
    return not isinstance(g.type, DisconnectedType)


class Smooth(Op):
    """An op with one real output, its gradient a function of inputs and the output's gradient."""

    __props__ = ("name",)

    def __init__(self, name, value, slope=None, out=real):
        self.name, self.value, self.slope, self.out = name, value, slope, out

    def make_node(self, *inputs):
        inputs = [i if isinstance(i, Variable) else real.make_constant(i) for i in inputs]
        return Apply(self, inputs, [self.out()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = self.value(*inputs)

    def grad(self, inputs, output_grads):
        if self.slope is None:
            return super().grad(inputs, output_grads)
        (g,) = output_grads
        return self.slope(g, *inputs)

    def __str__(self):
        return self.name


add = Smooth("add", lambda x, y: x + y, lambda g, x, y: [g, g])
mul = Smooth("mul", lambda x, y: x * y, lambda g, x, y: [g * y, g * x])
sin = Smooth("sin", math.sin, lambda g, x: [g * cos(x)])
cos = Smooth("cos", math.cos, lambda g, x: [g * (sin(x) * -1.0)])
zero = Smooth("zero", lambda x: 0.0, lambda g, x: [zero(x)])
clip = Smooth("clip", lambda x, low, high: min(max(x, low), high))
to_real = Smooth("to_real", float, lambda g, x: [g])
floor = Smooth("floor", math.floor, lambda g, x: 1 / 0, out=whole)
mystery = Smooth("mystery", lambda x: x)
total = Smooth("total", sum, lambda g, x: [g], out=real)
silent = Smooth("silent", lambda x: x, lambda g, x: [None])
unwritten = Smooth("unwritten", lambda x, y: x, lambda g, x, y: [g, grad_not_implemented(unwritten, 1, y, "later")])
short = Smooth("short", lambda x, y: x, lambda g, x, y: [g])


class Pair(Op):
    """Two outputs, sin(x) and y; the second does not depend on x."""

    __props__ = ()
    itypes, otypes = [real, real], [real, real]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0], output_storage[1][0] = math.sin(inputs[0]), inputs[1]

    def connection_pattern(self, node):
        return [[True, False], [False, True]]

    def grad(self, inputs, output_grads):
        g, h = output_grads
        return [g * cos(inputs[0]) if is_value(g) else disconnected_type(), h if is_value(h) else disconnected_type()]


pair = Pair()


def run(outputs, values):
    """Return what ``outputs`` are worth, computed node by node."""
    known = dict(values)

    def value(v):
        return v.data if isinstance(v, Constant) else known[v]

    for node in toposort(outputs, list(values)):
        cells = [[None] for _ in node.outputs]
        node.op.perform(node, [value(v) for v in node.inputs], cells)
        known.update((v, cell[0]) for v, cell in zip(node.outputs, cells, strict=True))
    return [value(v) for v in outputs]
