"""Demand-driven evaluation: only what a result needs is computed."""

import numpy
import pytest
from arrays_toy import add, add_into, in_python, mul, vector

from theano import Mode, function
from theano.graph import Apply, Op, generic

ran = []


class Watched(Op):
    """Lets its input through and notes that it ran."""

    __props__ = ("name",)
    itypes, otypes = [vector], [vector]

    def __init__(self, name):
        self.name = name

    def perform(self, node, inputs, output_storage):
        ran.append(self.name)
        if self.name == "fails":
            raise ValueError("this branch fails")
        output_storage[0][0] = inputs[0]


class IfElse(Op):
    """Asks for its condition, then for one branch."""

    __props__ = ()
    view_map = {0: [1, 2]}

    def make_node(self, condition, then, otherwise):
        return Apply(self, [condition, then, otherwise], [then.type()])

    def make_thunk(self, node, storage_map, compute_map, no_recycling):
        cells = [storage_map[v] for v in node.inputs]
        computed = [compute_map[v] for v in node.inputs]
        target, done = storage_map[node.outputs[0]], compute_map[node.outputs[0]]

        def thunk():
            if not computed[0][0]:
                return [0]
            branch = 1 if cells[0][0] else 2
            if not computed[branch][0]:
                return [branch]
            target[0] = cells[branch][0]
            done[0] = 1
            return []

        thunk.lazy = True
        return thunk


class Earliest(IfElse):
    """The same in the earliest form of the interface."""

    __props__ = ()

    def make_thunk(self, node, input_computed, output_computed, input_registers, output_registers):
        def thunk():
            if not input_computed[0][0]:
                return [0]
            branch = 1 if input_registers[0][0] else 2
            if not input_computed[branch][0]:
                return [branch]
            output_registers[0][0] = input_registers[branch][0]
            output_computed[0][0] = 1
            return None

        thunk.lazy = True
        return thunk


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


@pytest.fixture(params=[IfElse(), Earliest()], ids=["maps", "cells"])
def ifelse(request):
    return request.param


@pytest.fixture
def cxy():
    return generic("c"), vector("x"), vector("y")


@pytest.mark.parametrize("linker", ["py", "vm", "cvm", "vm_nogc", "cvm_nogc"])
def test_one_branch_is_computed(ifelse, cxy, linker):
    c, x, y = cxy
    f = function([c, x, y], ifelse(c, Watched("a")(mul(x, x)), Watched("b")(add(y, y))), mode=Mode(linker))
    assert f.lazy
    assert f(True, [3.0], [5.0]).tolist() == [9.0] and ran == ["a"]
    assert f(0, [3.0], [5.0]).tolist() == [10.0] and ran == ["a", "b"]


def test_a_branch_that_is_not_taken_may_fail(ifelse, cxy):
    c, x, _ = cxy
    f = function([c, x], ifelse(c, x, Watched("fails")(x)))
    assert f(True, [1.0]).tolist() == [1.0]
    with pytest.raises(ValueError, match=r"this branch fails\n  while computing"):
        f(False, [1.0])
    assert f(True, [2.0]).tolist() == [2.0]


def test_the_cost_is_linear(ifelse, cxy):
    c, x, _ = cxy
    value = x
    for i in range(200):
        value = ifelse(c, Watched(f"then {i}")(value), Watched(f"else {i}")(value))
    f = function([c, x], value)
    f(True, [1.0])
    assert len(ran) == 200 and all(name.startswith("then") for name in ran)


def test_other_outputs_keep_what_they_need(ifelse, cxy):
    c, x, y = cxy
    b = Watched("b")(add(x, y))
    f = function([c, x, y], [ifelse(c, Watched("a")(x), b), in_python(b)])
    one, two = f(True, [1.0], [2.0])
    assert (one.tolist(), two.tolist()) == ([1.0], [4.0]) and sorted(ran) == ["a", "b"]


def test_results_do_not_share_memory_with_arguments(ifelse, cxy):
    c, x, y = cxy
    mine = numpy.ones(2)
    assert not numpy.shares_memory(function([c, x, y], ifelse(c, x, y))(True, mine, mine), mine)


def test_readers_come_before_those_who_overwrite(ifelse, cxy):
    c, x, y = cxy
    z = mul(x, x)
    f = function([c, x, y], [add_into(z, y), ifelse(c, add(z, z), y)], accept_inplace=True)
    for _ in range(3):
        total, double = f(True, [3.0], [1.0])
        assert (total.tolist(), double.tolist()) == ([10.0], [18.0])


def test_many_calls(ifelse, cxy):
    c, x, y = cxy
    f = function([c, x, y], add(ifelse(c, mul(x, y), add(x, y)), ifelse(c, y, x)))
    for n in range(200):
        a, b = numpy.full(n % 7, float(n)), numpy.full(n % 7, 2.0)
        want = a * b + b if n % 2 else a + b + a
        assert numpy.array_equal(f(n % 2, a, b), want)
