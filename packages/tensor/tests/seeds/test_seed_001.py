"""Op.make_thunk and lazy evaluation, as the proposal describes them."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.gof import Apply, Op, PureOp


class Thunk:
    """The interface of the proposal, in Python."""

    lazy = True

    def __init__(self, input_computed, output_computed, input_registers, output_registers):
        self.input_computed, self.output_computed = input_computed, output_computed
        self.input_registers, self.output_registers = input_registers, output_registers
        self.asked = []

    def __call__(self):
        """A conditional: it needs its first input, then one of the others."""
        if not self.input_computed[0][0]:
            return [0]
        chosen = 1 if self.input_registers[0][0] else 2
        if not self.input_computed[chosen][0]:
            return [chosen]
        self.output_registers[0][0] = self.input_registers[chosen][0]
        self.output_computed[0][0] = 1
        return []  # or None: finished


class Cond(PureOp):
    """The expression that the proposal calls cond; ``make_thunk`` takes the proposal's arguments."""

    __props__ = ()

    def make_node(self, c, a, b):
        return Apply(self, [c, a, b], [a.type()])

    def make_thunk(self, node, input_computed, output_computed, input_registers, output_registers):
        return Thunk(input_computed, output_computed, input_registers, output_registers)


class CondByMaps(Op):
    """The same with the arguments that came of the proposal."""

    __props__ = ()

    def make_node(self, c, a, b):
        return Apply(self, [c, a, b], [a.type()])

    def make_thunk(self, node, storage_map, compute_map, no_recycling):
        return Thunk(
            [compute_map[v] for v in node.inputs],
            [compute_map[v] for v in node.outputs],
            [storage_map[v] for v in node.inputs],
            [storage_map[v] for v in node.outputs],
        )


class Counted(Op):
    """Adds one, and counts how often."""

    __props__ = ("key",)

    def __init__(self, key):
        self.key, self.runs = key, 0

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        self.runs += 1
        output_storage[0][0] = inputs[0] + 1


@pytest.fixture(params=[Cond, CondByMaps])
def cond(request):
    return request.param()


@pytest.mark.parametrize("linker", ["vm", "cvm", "vm_nogc", "cvm_nogc"])
def test_only_what_is_asked_for_is_computed(cond, linker):
    c, x = T.bscalar("c"), T.dvector("x")
    left, right = Counted("left"), Counted("right")
    f = theano.function([c, x], cond(c, left(x), right(x * 10)), mode=theano.Mode(linker, None))
    for _ in range(3):
        np.testing.assert_array_equal(f(1, [1.0, 2.0]), [2.0, 3.0])
        np.testing.assert_array_equal(f(0, [1.0, 2.0]), [11.0, 21.0])
    assert (left.runs, right.runs) == (3, 3)


def test_time_is_linear_in_the_number_of_conditionals(cond):
    """Each branch is itself a conditional: without lazy evaluation all of them would be computed."""
    number = count()
    counted = []

    def tree(depth):
        if depth == 0:
            counted.append(Counted(next(number)))
            return counted[-1](x)
        return cond(c, tree(depth - 1), tree(depth - 1))

    c, x = T.bscalar("c"), T.dvector("x")
    f = theano.function([c, x], tree(6), mode=theano.Mode("vm", None))
    np.testing.assert_array_equal(f(1, [1.0]), [2.0])
    assert len(counted) == 64 and sum(op.runs for op in counted) == 1


def test_a_thunk_that_is_not_lazy_returns_none_and_runs_everywhere():
    class Twice(Op):
        __props__ = ()

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def make_thunk(self, node, storage_map, compute_map, no_recycling):
            (x,), (z,) = ([storage_map[v] for v in vs] for vs in (node.inputs, node.outputs))
            (done,) = (compute_map[v] for v in node.outputs)

            def thunk():
                z[0] = x[0] * 2
                done[0] = 1

            thunk.lazy = False
            return thunk

    x = T.dvector("x")
    for linker in ("py", "c|py", "vm", "cvm"):
        f = theano.function([x], Twice()(x), mode=theano.Mode(linker, None))
        np.testing.assert_array_equal(f([1.0, 2.0]), [2.0, 4.0])


def test_outputs_hold_none_or_what_the_thunk_computed_before():
    seen = []

    class Sees(Cond):
        def make_thunk(self, node, input_computed, output_computed, input_registers, output_registers):
            thunk = Thunk(input_computed, output_computed, input_registers, output_registers)

            def looking():
                seen.append(output_registers[0][0])
                return thunk()

            looking.lazy = True
            return looking

    c, x = T.bscalar("c"), T.dvector("x")
    f = theano.function([c, x], Sees()(c, x + 1, x + 2), mode=theano.Mode("vm", None))
    for _ in range(3):
        np.testing.assert_array_equal(f(1, [1.0]), [2.0])
    assert all(old is None or np.array_equal(old, [2.0]) for old in seen)


def test_code_is_made_between_make_node_and_the_run():
    """What PyCUDA's ops needed: compile once for a node, run often; ``perform`` is not asked."""
    made, ran = [], []

    class Compiles(Op):
        __props__ = ()

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            raise AssertionError("make_thunk wins over perform")

        def make_thunk(self, node, storage_map, compute_map, no_recycling):
            made.append(node)
            kernel = eval("lambda x: x + 5")  # stands for the compiler
            (x,), (z,) = ([storage_map[v] for v in vs] for vs in (node.inputs, node.outputs))

            def thunk():
                ran.append(1)
                z[0] = kernel(x[0])
                compute_map[node.outputs[0]][0] = 1

            thunk.lazy = False
            return thunk

    x = T.dvector("x")
    y = Compiles()(x)
    assert not made
    f = theano.function([x], y)
    times = len(made)
    for _ in range(4):
        np.testing.assert_array_equal(f([1.0]), [6.0])
    assert len(made) <= max(times, 1) + 1 and len(ran) == 4


def test_which_implementation_belongs_to_the_op():
    """An op is at most one implementation: which one is a parameter of the op, so two choices are two ops."""

    class Chosen(Op):
        __props__ = ("impl",)

        def __init__(self, impl):
            self.impl = impl

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
            factor = {"py": 2, "c|py": 3}[self.impl]
            (x,), (z,) = ([storage_map[v] for v in vs] for vs in (node.inputs, node.outputs))

            def thunk():
                z[0] = x[0] * factor
                compute_map[node.outputs[0]][0] = 1

            thunk.lazy = False
            return thunk

    x = T.dvector("x")
    assert Chosen("py") != Chosen("c|py")
    f = theano.function([x], [Chosen("py")(x), Chosen("c|py")(x)])
    np.testing.assert_array_equal(f([1.0]), [[2.0], [3.0]])
