"""A small Theano from scratch: expressions, gradients, rewriting, C, and a function to call, in the order of invention.

Everything is a number or a vector of float64. The real thing has types, broadcasting, in-place work, a cache, threads
and six hundred rules more; its packages are the sections of this file, under the same names.

    python docs/from_scratch.py
"""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import math
import os
import shutil
import subprocess
import tempfile

import numpy as np

# -- 1. graph: variables, ops, and nodes between them ---------------------------------------------------------
#
# An expression is written before there are numbers. So `x * y` cannot multiply: it notes that somebody wants a product.
# A Variable stands for a value to come. A Node is one use of an op: which variables go in, which one comes out.
# The variable that comes out points back at its node; following those pointers finds the whole expression again.


class Variable:
    """A value to come: a number (ndim 0) or a vector (ndim 1)."""

    def __init__(self, ndim, name=None, owner=None):
        self.ndim, self.name, self.owner = ndim, name, owner

    def __add__(self, other):
        return add(self, other)

    def __mul__(self, other):
        return mul(self, other)

    def __neg__(self):
        return neg(self)

    def __sub__(self, other):
        return add(self, neg(as_variable(other)))

    def __truediv__(self, other):
        return mul(self, reciprocal(as_variable(other)))

    __radd__, __rmul__ = __add__, __mul__

    def __repr__(self):
        if self.name is not None or self.owner is None:
            return self.name or f"<{'vector' if self.ndim else 'number'}>"
        return f"{self.owner.op.name}({', '.join(map(repr, self.owner.inputs))})"


class Constant(Variable):
    """A value that is there already."""

    def __init__(self, value):
        super().__init__(0, name=f"{float(value):g}")
        self.value = float(value)


class Node:
    """One use of an op."""

    def __init__(self, op, inputs):
        self.op, self.inputs = op, inputs
        self.output = Variable(op.ndim(inputs), owner=self)


def as_variable(x):
    """Let Python's numbers stand in expressions."""
    return x if isinstance(x, Variable) else Constant(x)


def vector(name):
    """A vector that the caller will give."""
    return Variable(1, name)


def number(name):
    """A number that the caller will give."""
    return Variable(0, name)


# An op says everything about itself in one place: its name, what it computes with NumPy, what it is in C, and how a
# small change of each input changes the output. That last one is a function of the inputs, the output, and the
# gradient g that arrives at the output; it returns one gradient for each input.


class Op:
    """An operation that works element by element."""

    reduces = False

    def __init__(self, name, py, c, grad):
        self.name, self.py, self.c, self.grad = name, py, c, grad

    def __call__(self, *inputs):
        return Node(self, [as_variable(x) for x in inputs]).output

    def ndim(self, inputs):
        return max(x.ndim for x in inputs)

    def __repr__(self):
        return self.name


class Sum(Op):
    """The only op that is not element by element: it makes one number of a vector."""

    reduces = True

    def ndim(self, inputs):
        return 0


add = Op("add", np.add, "({0} + {1})", lambda x, y, out, g: [g, g])
mul = Op("mul", np.multiply, "({0} * {1})", lambda x, y, out, g: [g * y, g * x])
neg = Op("neg", np.negative, "(-{0})", lambda x, out, g: [-g])
exp = Op("exp", np.exp, "exp({0})", lambda x, out, g: [g * out])
log = Op("log", np.log, "log({0})", lambda x, out, g: [g / x])
reciprocal = Op("reciprocal", np.reciprocal, "(1.0 / {0})", lambda x, out, g: [-g * out * out])
tanh = Op("tanh", np.tanh, "tanh({0})", lambda x, out, g: [g * (Constant(1) - out * out)])
# `like` makes a vector as long as its second input, filled with its first: what a sum's gradient is.
like = Op("like", lambda v, x: np.broadcast_to(v, np.shape(x)), "{0}", lambda v, x, out, g: [g, None])
total = Sum("sum", np.sum, None, lambda x, out, g: [like(g, x)])


def toposort(outputs):
    """Return all nodes, each after those that it needs. A stack, not recursion: expressions are deep."""
    order, done, stack = [], set(), [v.owner for v in outputs if v.owner]
    while stack:
        node = stack[-1]
        waiting = [v.owner for v in node.inputs if v.owner and v.owner not in done]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        if node not in done:
            done.add(node)
            order.append(node)
    return order


# -- 2. runtime, the slow way: an interpreter, which everything after it is held against ----------------------


def evaluate(outputs, values):
    """Compute `outputs` node by node with NumPy; `values` maps variables to arrays."""
    known = dict(values)

    def value(v):
        return v.value if isinstance(v, Constant) else known[v]

    for node in toposort(outputs):
        known[node.output] = node.op.py(*(value(v) for v in node.inputs))
    return [np.asarray(value(v), dtype=float) for v in outputs]


# -- 3. gradient: one walk back --------------------------------------------------------------------------------
#
# The chain rule, from the cost to the inputs. A variable that is used in several places gets a gradient from each of
# them; they add up. Since every node comes after those it needs, a walk in reverse order meets each variable only when
# all who use it have had their say. What comes out is an expression like any other.


def grad(cost, wrt):
    """Return the expressions of the derivatives of a number with respect to variables."""
    if cost.ndim != 0:
        raise ValueError(f"a gradient is of one number, and {cost!r} is a vector: take its total first")
    arrived = {cost: Constant(1)}
    for node in reversed(toposort([cost])):
        g = arrived.get(node.output)
        if g is None:
            continue
        for v, piece in zip(node.inputs, node.op.grad(*node.inputs, node.output, g), strict=True):
            if piece is None or isinstance(v, Constant):
                continue
            if v.ndim < piece.ndim:  # a number that met a vector was used once for each of its elements
                piece = total(piece)
            elif v.ndim > piece.ndim:
                piece = like(piece, v)
            arrived[v] = arrived[v] + piece if v in arrived else piece
    return [arrived.get(v, Constant(0)) for v in wrt]


# -- 4. rewriting: rules, and a driver that uses them until nothing changes -------------------------------------
#
# Derivatives are clumsy: multiplied by one, the same thing computed twice. A rule looks at one node and may offer
# something else in its place. Rules need not know of each other; together they go far.


def constant_of(v, value):
    """Tell whether `v` is the constant `value`."""
    return isinstance(v, Constant) and v.value == value


def applied(v, op):
    """Return what `op` was applied to, if `v` is that."""
    return v.owner.inputs[0] if v.owner and v.owner.op is op else None


def rule_fold(node):
    """Compute at once what depends on nothing."""
    if all(isinstance(v, Constant) for v in node.inputs) and not node.op.reduces and node.op is not like:
        return Constant(node.op.py(*(v.value for v in node.inputs)))
    return None


def rule_one(node):
    """1 * x is x."""
    if node.op is mul:
        for x, y in itertools.permutations(node.inputs):
            if constant_of(x, 1) and y.ndim == node.output.ndim:
                return y
    return None


def rule_zero(node):
    """0 + x is x."""
    if node.op is add:
        for x, y in itertools.permutations(node.inputs):
            if constant_of(x, 0) and y.ndim == node.output.ndim:
                return y
    return None


def rule_inverse(node):
    """-(-x), log(exp(x)) and 1 / (1 / x) are x; exp(log(x)) is not, for a negative x."""
    for outer, inner in ((neg, neg), (log, exp), (reciprocal, reciprocal)):
        if node.op is outer:
            return applied(node.inputs[0], inner)
    return None


def rule_like_number(node):
    """A number as long as a vector, times or plus a vector, is the number times or plus the vector."""
    if node.op in (add, mul):
        for x, y in itertools.permutations(node.inputs):
            v = applied(x, like)
            if v is not None and v.ndim == 0 and y.ndim == 1:
                return node.op(v, y)
    return None


RULES = [rule_fold, rule_one, rule_zero, rule_inverse, rule_like_number]


def rewrite(outputs, rules=RULES):
    """Use rules until none has anything to say, and compute nothing twice."""
    while True:
        new, changed = {}, False
        merged = {}
        for node in toposort(outputs):
            inputs = [new.get(v, v) for v in node.inputs]
            at = node if inputs == node.inputs else Node(node.op, inputs)
            better = next((b for rule in rules if (b := rule(at)) is not None), None)
            changed |= better is not None
            if better is None:
                # The same op on the same inputs is the same value; equal constants are the same input.
                key = (at.op, *(v.value if isinstance(v, Constant) else id(v) for v in inputs))
                better = merged.setdefault(key, at.output)
            new[node.output] = better
        outputs = [new.get(v, v) for v in outputs]
        if not changed:
            return outputs


# -- 5. codegen: the whole expression as loops in C --------------------------------------------------------------
#
# What runs element by element can share one loop: then nothing between its nodes is ever stored. Only a sum needs all
# elements before its value can be used. So nodes are put on levels, one higher after each sum; a level is one loop.


def levels_of(order):
    """Return the level of each variable: how many sums must be complete before it can be computed."""
    level = {}
    for node in order:
        own = max((level.get(v, 0) for v in node.inputs), default=0)
        level[node.output] = own + 1 if node.op.reduces else own
    return level


def generate(inputs, outputs):
    """Return the C text of a function of arrays of pointers, and of the length of the vectors."""
    order = toposort(outputs)
    level = levels_of(order)
    names = {v: f"v{i}" for i, v in enumerate(dict.fromkeys([*inputs, *(n.output for n in order)]))}
    lines = ["#include <math.h>", "", "void run(const double **in, double **out, long n) {"]
    lines += [f"    const double *{names[v]} = in[{i}];  /* {v!r} */" for i, v in enumerate(inputs)]

    def term(v):
        if isinstance(v, Constant):
            return repr(v.value) if math.isfinite(v.value) else "NAN" if v.value != v.value else f"{v.value}".upper()
        return (f"{names[v]}[i]" if v.ndim else f"{names[v]}[0]") if v in inputs else names[v]

    def statement(node):
        text = node.op.c.format(*map(term, node.inputs))
        return f"double {names[node.output]} = {text};"

    def needed(v, seen):
        """Return the nodes of v's loop that it takes, in order: a later loop computes again what it uses."""
        if v.owner is None or v in seen or v.owner.op.reduces or v.ndim == 0:
            return []
        seen.add(v)
        return [*itertools.chain.from_iterable(needed(u, seen) for u in v.owner.inputs), v.owner]

    for k in range(max(level.values(), default=0) + 1):
        numbers = [n for n in order if not n.output.ndim and not n.op.reduces and level[n.output] == k]
        lines += [f"    {statement(n)}" for n in numbers]
        sums = [n for n in order if n.op.reduces and level[n.output] == k + 1]
        stores = [(i, v) for i, v in enumerate(outputs) if v.ndim and level.get(v, 0) == k]
        if not sums and not stores:
            continue
        lines += [f"    double {names[n.output]} = 0.0;" for n in sums]
        seen = set()
        body = [statement(n) for v in [*(n.inputs[0] for n in sums), *(v for _, v in stores)] for n in needed(v, seen)]
        body += [f"{names[n.output]} += {term(n.inputs[0])};" for n in sums]
        body += [f"out[{i}][i] = {term(v)};" for i, v in stores]
        lines += ["    for (long i = 0; i < n; ++i) {", *(f"        {line}" for line in body), "    }"]
    lines += [f"    out[{i}][0] = {term(v)};" for i, v in enumerate(outputs) if not v.ndim]
    return "\n".join([*lines, "}", ""])


# -- 6. toolchain and cache: to machine code, once ---------------------------------------------------------------

CACHE = os.path.join(tempfile.gettempdir(), f"theano-from-scratch-{os.getuid() if hasattr(os, 'getuid') else 0}")


def compile_c(text):
    """Return the compiled function; the name of the file says what is in it, so that equal text is compiled once."""
    os.makedirs(CACHE, mode=0o700, exist_ok=True)
    path = os.path.join(CACHE, hashlib.sha256(text.encode()).hexdigest()[:32] + ".so")
    if not os.path.exists(path):
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            source, made = os.path.join(folder, "unit.c"), os.path.join(folder, "unit.so")
            with open(source, "w") as file:
                file.write(text)
            command = [shutil.which("cc") or "cc", "-O3", "-shared", "-fPIC", source, "-o", made, "-lm"]
            subprocess.run(command, check=True)
            os.replace(made, path)  # in one step: nobody ever sees half a file
    run = ctypes.CDLL(path).run
    run.restype = None
    return run


# -- 7. compile: the function ---------------------------------------------------------------------------------------


class Function:
    """What the user calls."""

    def __init__(self, inputs, outputs):
        self.inputs, self.single = inputs, isinstance(outputs, Variable)
        self.outputs = rewrite([outputs] if self.single else list(outputs))
        missing = {v for n in toposort(self.outputs) for v in n.inputs if not v.owner} - set(inputs)
        if any(not isinstance(v, Constant) for v in missing):
            raise TypeError(f"not among the inputs: {sorted(map(repr, missing))}")
        self.c = generate(inputs, self.outputs)
        self._run = compile_c(self.c)

    def __call__(self, *values):
        """Convert, check, allocate the results, run."""
        arrays = [np.array(v, dtype=float, order="C") for v in values]
        lengths = {a.size for a, v in zip(arrays, self.inputs, strict=True) if v.ndim}
        if len(lengths) > 1 or any(a.ndim != v.ndim for a, v in zip(arrays, self.inputs, strict=True)):
            raise ValueError(f"shapes {[a.shape for a in arrays]} do not fit {self.inputs}")
        n = lengths.pop() if lengths else 0
        results = [np.empty(n if v.ndim else 1) for v in self.outputs]
        self._run(_pointers(arrays), _pointers(results), ctypes.c_long(n))
        results = [r if v.ndim else r[0] for r, v in zip(results, self.outputs, strict=True)]
        return results[0] if self.single else results


def _pointers(arrays):
    pointer = ctypes.POINTER(ctypes.c_double)
    return (pointer * len(arrays))(*(a.ctypes.data_as(pointer) for a in arrays))


def function(inputs, outputs):
    """Compile expressions into a function."""
    return Function(inputs, outputs)


# -- 8. all of it: a line through points, found by descent ------------------------------------------------------------


def fit(steps=400, rate=0.002):
    """Find a and b of y = tanh(a x + b) by following the gradient down."""
    x, y, a, b = vector("x"), vector("y"), number("a"), number("b")
    error = tanh(a * x + b) - y
    cost = total(error * error)
    step = function([x, y, a, b], [cost, *grad(cost, [a, b])])
    rng = np.random.default_rng(0)
    points = rng.uniform(-2, 2, 100)
    values = np.tanh(1.5 * points - 0.5)
    at = np.zeros(2)
    for _ in range(steps):
        found, *slopes = step(points, values, *at)
        at -= rate * np.array(slopes)
    return at, found


if __name__ == "__main__":
    (slope, offset), left = fit()
    print(f"a = {slope:.3f}, b = {offset:.3f}, error {left:.2e}")
