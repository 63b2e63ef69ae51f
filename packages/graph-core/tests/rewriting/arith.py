"""Numbers with arithmetic: enough of a layer to write rules for, and an interpreter to hold them to."""

from __future__ import annotations

import math

from theano.graph import Apply, Constant, Op, Type
from theano.graph.traverse import toposort


class Real(Type):
    __props__ = ("kind",)

    def __init__(self, kind="real"):
        self.kind = kind

    def filter(self, value, strict=False, allow_downcast=None):
        if isinstance(value, (int, float)):
            return value
        raise TypeError(f"{value!r} is no number")

    def __str__(self):
        return self.kind


real = Real()
other = Real("other")


class Arithmetic(Op):
    __props__ = ("name",)

    def __init__(self, name, function, commutative=False, associative=False):
        self.name, self.function = name, function
        self.commutative, self.associative = commutative, associative

    def make_node(self, *inputs):
        return Apply(self, [real.filter_variable(i) for i in inputs], [real()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = self.function(*inputs)

    def __str__(self):
        return self.name


add = Arithmetic("add", lambda *xs: sum(xs), True, True)
mul = Arithmetic("mul", lambda *xs: math.prod(xs), True, True)
sub = Arithmetic("sub", lambda x, y: x - y)
div = Arithmetic("div", lambda x, y: x / y)
neg = Arithmetic("neg", lambda x: -x)
exp = Arithmetic("exp", math.exp)
log = Arithmetic("log", math.log)
log1p = Arithmetic("log1p", math.log1p)


class Twice(Op):
    """Two outputs."""

    __props__ = ()
    itypes, otypes = [real], [real, real]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0], output_storage[1][0] = inputs[0], 2 * inputs[0]


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
