"""Modes that look at each node, without arrays: lists, lazy ops, rules of one's own."""

from __future__ import annotations

import pytest
from rows import Plus, row

import theano
from theano.compile import DebugMode, MonitorMode
from theano.compile.debugmode import BadDestroyMap, BadThunkOutput, BadViewMap, InvalidValueError
from theano.graph import Apply, Op, generic
from theano.runtime.interpreter import WrapLinker

x, y = row("x"), row("y")


class RowOp(Op):
    __props__ = ()

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [row()])


class Adds(RowOp):
    """Appends to its input without saying so."""

    def perform(self, node, inputs, output_storage):
        inputs[0].append(1.0)
        output_storage[0][0] = [0.0]


class Hands(RowOp):
    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0]


class Whole(RowOp):
    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = [1]


class Drifts(RowOp):
    calls = [0.0]

    def perform(self, node, inputs, output_storage):
        self.calls[0] += 1
        output_storage[0][0] = list(self.calls)


class Refuses(RowOp):
    def perform(self, node, inputs, output_storage):
        raise ValueError("this branch fails")


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


@pytest.mark.parametrize(("op", "error"), [
    (Adds(), BadDestroyMap), (Hands(), BadViewMap), (Whole(), InvalidValueError), (Drifts(), BadThunkOutput),
])  # fmt: skip
def test_faults(op, error):
    f = theano.function([x], op(x), mode=DebugMode(stability_patience=1))
    with pytest.raises(error, match=type(op).__name__):
        f([1.0])


def test_no_fault():
    f = theano.function([x, y], Plus()(Plus()(x, y), x), mode=DebugMode(check_preallocated_output="ALL"))
    assert f([1.0, 2.0], [3.0, 4.0]) == [5.0, 8.0]
    with pytest.raises(ValueError, match="lengths 1 and 2 differ"):
        f([1.0], [3.0, 4.0])


@pytest.mark.parametrize("mode", ["DebugMode", MonitorMode(), theano.Mode("py")])
def test_lazy_nodes(mode):
    c = generic("c")
    f = theano.function([c, x], IfElse()(c, Plus()(x, x), Refuses()(x)), mode=mode)
    assert f(True, [2.0]) == [4.0]
    with pytest.raises(ValueError, match="this branch fails"):
        f(False, [2.0])
    assert f(True, [3.0]) == [6.0]


def test_a_branch_that_is_not_taken_is_not_computed():
    ran = []
    c = generic("c")

    def look(i, node, thunk):
        thunk()
        ran.append((str(node.op), [cell[0] for cell in thunk.outputs]))

    f = theano.function([c, x], Plus()(IfElse()(c, Plus()(x, x), Refuses()(x)), x), mode=theano.Mode(WrapLinker([theano.PerformLinker()], look), None))
    assert f(1, [2.0]) == [6.0]
    assert ran == [("plus", [[4.0]]), ("IfElse", [[4.0]]), ("plus", [[6.0]])]


def test_objects_that_cannot_be_compared():
    """An object that does not equal its own copy is neither changed nor different."""

    class Thing:
        pass

    class Pass(Op):
        __props__ = ()
        itypes = otypes = [generic]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = Thing()

    g = generic("g")
    assert isinstance(theano.function([g], Pass()(g), mode="DebugMode")(Thing()), Thing)


def test_constants():
    one = row.make_constant([1.0])
    assert theano.function([], Plus()(one, one), mode=DebugMode(optimizer=None))() == [2.0]


def test_linker_needs_a_linker():
    with pytest.raises(ValueError, match="needs a linker"):
        WrapLinker([], lambda *args: None)
    one = WrapLinker([theano.PerformLinker()], print)
    assert one == WrapLinker([theano.PerformLinker()], print) and hash(one) == hash(one.clone())
    assert one != WrapLinker([theano.PerformLinker()], repr)
