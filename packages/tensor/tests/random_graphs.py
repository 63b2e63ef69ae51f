"""Random graphs: expressions of a few inputs, written by a seed, and whether rounding decides what they are worth.

Graphs mix dtypes, broadcasting, reductions, views and gradients; a third of them contain the left side of a rule.
"""

from __future__ import annotations

import numpy as np

from theano.gradient import grad
from theano.graph import Constant
from theano.graph.traverse import toposort
from theano.tensor.blas.dot import dot
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.alloc import alloc
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.index.functions import inc_subtensor, set_subtensor
from theano.tensor.join.op import join, split, stack
from theano.tensor.nnet.activation import sigmoid, softplus
from theano.tensor.nnet.softmax import softmax
from theano.tensor.type import TensorType

LENGTHS = (3, 4)

UNARY = [F.neg, F.abs_, F.exp, F.log1p, F.sqr, F.sqrt, F.tanh, F.sin, F.inv, sigmoid, softplus, F.floor, F.sgn, F.expm1]
BINARY = [F.add, F.sub, F.mul, F.true_div, F.maximum, F.minimum, F.add, F.mul, F.sub]
COMPARE = [F.lt, F.ge, F.eq]
NUMBERS = [0, 1, -1, 2, 3, 0.5, -2.5]


class Writer:
    """Writes a random expression over a few inputs, for a seed or with a generator of random numbers."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.inputs, self.values = [], []
        for i in range(int(self.rng.integers(2, 5))):
            self.new_input(f"x{i}")
        self.pool = list(self.inputs)

    def new_input(self, name):
        rng = self.rng
        dtype = str(rng.choice(["float64", "float64", "float64", "float32", "int64", "int8", "bool"]))
        shape = [(), (4,), (3, 4), (3, 4), (1, 4), (3, 1)][int(rng.integers(6))]
        x = TensorType(dtype, [n == 1 for n in shape])(name)
        if dtype == "bool":
            value = rng.random(shape) < 0.5
        elif dtype.startswith("int"):
            value = rng.integers(-3, 4, shape)
        else:
            value = np.round(rng.uniform(-2, 2, shape), 1)
        self.inputs.append(x)
        self.values.append(np.asarray(value, dtype))

    def pick(self):
        # Recent ones more often, so that graphs grow deep as well as wide.
        n = len(self.pool)
        return self.pool[-1 - min(int(self.rng.exponential(3)), n - 1)] if self.rng.random() < 0.7 else self.pool[int(self.rng.integers(n))]

    def number(self):
        return as_tensor_variable(np.asarray(self.rng.choice(NUMBERS)).astype(str(self.rng.choice(["float64", "float32", "float64"]))))

    def step(self):
        rng = self.rng
        kind = rng.random()
        if kind < 0.3:
            return self.unary()
        if kind < 0.65:
            other = self.number() if rng.random() < 0.3 else self.pick()
            pair = [self.pick(), other]
            rng.shuffle(pair)
            return BINARY[int(rng.integers(len(BINARY)))](*pair)
        if kind < 0.72:
            condition = COMPARE[int(rng.integers(3))](self.pick(), self.pick())
            return F.switch(condition, self.pick(), self.number() if rng.random() < 0.5 else self.pick())
        if kind < 0.80:
            return self.reduction()
        if kind < 0.88:
            return self.view()
        if kind < 0.91:
            return self.arranged()
        if kind < 0.94:
            return F.pow(F.abs_(self.pick()), as_tensor_variable(float(rng.choice([0, 1, 2, 3, 0.5, -1, -2, 7]))))
        return self.seeded()

    def unary(self):
        x = self.pick()
        op = UNARY[int(self.rng.integers(len(UNARY)))]
        if x.type.dtype == "bool":
            x = F.cast(x, "float64")
        if op in (F.sqrt, F.log1p):
            x = F.abs_(x)
        return op(x)

    def reduction(self):
        x = self.pick()
        if x.type.ndim == 0:
            return F.exp(x)
        axis = None if self.rng.random() < 0.4 else int(self.rng.integers(x.type.ndim))
        if x.type.dtype == "bool":
            x = F.cast(x, "int64")
        # What is left of a matrix along axis 1 would be as long as the columns, and fit nothing.
        keepdims = bool(self.rng.random() < 0.6) or (axis == 1)
        return getattr(x, str(self.rng.choice(["sum", "max", "mean", "sum"])))(axis=axis, keepdims=keepdims)

    def view(self):
        x = self.pick()
        choice = self.rng.random()
        if x.type.ndim == 2 and choice < 0.3:
            return x.T.T
        if x.type.ndim and choice < 0.6:
            return x[0] if self.rng.random() < 0.4 else x[::1]
        if choice < 0.8:
            return F.second(x, self.number())
        order = ["x", *range(x.type.ndim)] if x.type.ndim < 2 else list(range(x.type.ndim))
        return DimShuffle(x.type.broadcastable, order)(x)

    def of_type(self, *pattern):
        """Return something in float64 that has a broadcast pattern, made for the purpose where there is none."""
        fitting = [v for v in self.pool if v.type.broadcastable == pattern and v.type.dtype != "bool"]
        if not fitting:
            x = self.pick()
            x = F.cast(x, "float64")
            shape = (4,) if len(pattern) == 1 else LENGTHS
            lead = x if x.type.ndim <= len(pattern) else x[0]
            return alloc(lead, *shape)
        return F.cast(fitting[int(self.rng.integers(len(fitting)))], "float64")

    def arranged(self):
        """Return something joined, written into, repeated, multiplied or cut."""
        a, b = self.of_type(False), self.of_type(False)
        m, n = self.of_type(False, False), self.of_type(False, False)
        row = int(self.rng.integers(-3, 3))
        zeros = m.zeros_like()
        return [
            lambda: stack([a, b, a]).sum(axis=0), lambda: stack([a, b]).max(axis=0), lambda: join(0, a, b)[2:6],
            lambda: join(1, m, n)[:, 1:5], lambda: set_subtensor(m[row], a), lambda: inc_subtensor(m[1:], n[:2]),
            lambda: inc_subtensor(zeros[row], a) + inc_subtensor(zeros[0], b) + n,
            lambda: inc_subtensor(zeros[row], a) + inc_subtensor(zeros[1:, ::2], 2.0),
            lambda: set_subtensor(m[row], m[row] + b), lambda: set_subtensor(zeros[:, 1:3], 0.0),
            lambda: inc_subtensor(m[:], alloc(a, 3, 4)), lambda: set_subtensor(m[:], n), lambda: inc_subtensor(m[1], 0.0),
            lambda: F.exp(alloc(a, 3, 4)), lambda: alloc(a.dimshuffle("x", 0), 3, 4), lambda: alloc(a, 1, 4),
            lambda: dot(m, a).dimshuffle(0, "x"), lambda: dot(m.T, n)[row], lambda: dot(m, n.T)[1:, :2].sum(),
            lambda: dot(m.T, n).T[:3], lambda: m.reshape((12,)).reshape((3, 4)), lambda: F.exp(m).reshape((4, 3)).T,
            lambda: m[[0, 2, row]], lambda: inc_subtensor(m[[0, 0, 2]], n), lambda: set_subtensor(m[:, 1], a[:3]),
            lambda: abs(m) * abs(n) * 2, lambda: abs(m) / abs(n), lambda: F.log(F.erfc(m)), lambda: 1 - F.erf(a),
            lambda: (m / a.dimshuffle("x", 0)).sum(axis=0), lambda: m.prod(axis=0), lambda: (m * 3).sum(axis=0),
            lambda: F.maximum(m.shape[0], 0) * a, lambda: F.switch(F.lt(m.shape[1], 0), a, b),
            lambda: split(a, [1, 3], 2)[1].sum() + b, lambda: softmax(m), lambda: F.log(softmax(m)),
        ][int(self.rng.integers(37))]()  # fmt: skip

    def seeded(self):
        """Return the left side of some rule."""
        x, y = self.pick(), self.pick()
        x, y = (F.cast(v, "float64") if v.type.dtype == "bool" else v for v in (x, y))
        return [
            lambda: (x * y) / y, lambda: F.log(1 + F.exp(x)), lambda: F.log(sigmoid(x)), lambda: 1 / (1 + F.exp(-x)),
            lambda: F.exp(x) - 1, lambda: x - x, lambda: x * 0, lambda: -(-x), lambda: x + 0, lambda: F.log(F.exp(x)),
            lambda: F.log(1 - sigmoid(x)), lambda: F.exp(x).shape.sum() + x, lambda: x.zeros_like() + y,
            lambda: F.sqr(x) * x / x, lambda: -(x * -2) + x * 3, lambda: F.switch(F.eq(x, x), x, y),
            lambda: x.sum() * 2 + (x * 2).sum(), lambda: F.cast(F.cast(x, "float64"), "float32"),
        ][int(self.rng.integers(18))]()  # fmt: skip

    def write(self):
        target = int(self.rng.integers(5, 40))
        while len(self.pool) < target:
            try:
                v = self.step()
            except TypeError:
                continue  # an op that does not take this dtype
            if v.type.ndim <= 2:
                self.pool.append(v)
        made = [v for v in self.pool if v.owner is not None]
        outputs = [made[-1]]
        if len(made) > 3 and self.rng.random() < 0.5:
            outputs.append(made[int(self.rng.integers(len(made)))])
        if self.rng.random() < 0.3:
            outputs += self.gradients(outputs[0])
        return outputs

    def gradients(self, v):
        if v.type.dtype not in ("float64", "float32"):
            return []
        wrt = [x for x in self.inputs if x.type.dtype == "float64"]
        return grad(v.sum(), wrt, disconnected_inputs="ignore") if wrt else []


# Comparisons that no graph is written with come from gradients, of a minimum for one.
COMPARED = dict.fromkeys([*COMPARE, F.gt, F.le, F.neq], np.subtract)
JUMPS = {F.floor: lambda x: x - np.round(x), F.sgn: lambda x: x, **COMPARED}


def near_a_jump(node, arguments):
    """Return whether rounding could decide the value of ``node``: a comparison of numbers that are nearly equal."""
    if node.op == F.log and arguments[0].dtype == "float32":
        return bool(np.any(np.abs(arguments[0]) < 1e-3))  # what is left of 1 - sigmoid(15) has no digits
    distance = JUMPS.get(node.op)
    if distance is None or all(a.dtype.kind != "f" for a in arguments):
        return False
    return bool(np.any(np.abs(distance(*[a.astype("float64") for a in arguments])) < 1e-3))


def well_behaved(outputs, inputs, values):
    """Return the values of the graph, or None where rounding decides: huge numbers, or infinities on the way."""
    with np.errstate(all="ignore"):
        known = dict(zip(inputs, values, strict=True))
        for node in toposort(outputs, inputs):
            cells = [[None] for _ in node.outputs]
            arguments = [v.data if isinstance(v, Constant) else known[v] for v in node.inputs]
            try:
                node.op.perform(node, arguments, cells)
            except ValueError:
                return None  # lengths that do not fit
            for v, cell in zip(node.outputs, cells, strict=True):
                known[v] = cell[0]
                if near_a_jump(node, arguments):
                    return None
                if cell[0].dtype.kind == "f" and cell[0].size and not np.all(np.abs(cell[0]) < 1e6):
                    return None
    return [v.data if isinstance(v, Constant) else known[v] for v in outputs]
