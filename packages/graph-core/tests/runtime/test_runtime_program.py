"""Programs: slots, and the plan of memory."""

import json
from itertools import pairwise

import pytest
from numbers_toy import Native, OwnThunk, PythonOnly, small, vector

from theano.compile.mode import predefined_linkers
from theano.graph import Apply, FunctionGraph, generic
from theano.runtime.link import link
from theano.runtime.program import Argument, build, in_slots
from theano.runtime.serialized import serialize

f, g, h = Native("f"), Native("g"), Native("h")
view, into = Native("view", views=[0]), Native("into", inplace=[0])


def program(*args, **options):
    """Return the program of a graph."""
    return program_and_slots(*args, **options)[0]


def program_and_slots(inputs, outputs, cells=(), updates=(), n_outputs=None, **options):
    """Return the program of a graph whose last inputs are implicit, with the values of ``cells``, and all slots' numbers."""
    fgraph = FunctionGraph(inputs, outputs)
    linked = link(fgraph.toposort(), predefined_linkers["cvm"], lambda kernels: range(len(kernels)))
    explicit = len(inputs) - len(cells)
    arguments = [
        Argument(v, v.name, None if i < explicit else cells[i - explicit], i >= explicit, i < explicit)
        for i, v in enumerate(fgraph.inputs)
    ]
    count = len(outputs) if n_outputs is None else n_outputs
    made = build(fgraph, linked, arguments, count, updates, "list", **options)
    return made, {v: i for i, v in enumerate(in_slots(fgraph.inputs, linked.nodes, fgraph.outputs))}


def test_slots():
    x, s = vector("x"), vector("s")
    cell = ["value"]
    constant = vector.make_constant((1, 2))
    p = program([x, s], [f(x, constant), s], [cell])
    assert [slot.kind for slot in p.slots] == ["input", "shared", "constant", "temp"]
    assert p.slots[1].value is cell and p.slots[2].value == (1, 2) and p.slots[0].spec.dtype == "float64"
    assert p.inputs == [(0, "x", True, None, None, False)]
    assert p.outputs == [3, 1]
    (i,) = p.instructions
    assert (i.kind, i.params, i.inputs, i.outputs, i.work) == ("c", b"p", [0, 2], [3], 2.0)


def test_updates_name_cells_and_slots():
    s = vector("s")
    cell = ["old"]
    p = program([s], [f(s), g(s)], [cell], updates=[(cell, 1)], n_outputs=1)
    assert p.outputs == [1] and p.updates == [(cell, 2)] and p.updates[0][0] is cell


@pytest.mark.parametrize(("update", "writable"), [
    (lambda x: x, 2), (view, 2), (lambda x: view(view(x)), 2), (into, 2), (lambda x: view(into(x)), 2),
    (f, 0), (lambda x: view(f(x)), 0), (lambda x: f(view(x)), 0),
])  # fmt: skip
def test_an_argument_in_whose_memory_an_update_lives_is_said_to_be_stored(update, writable):
    """It must share memory with nothing else; one that is only returned may."""
    x, y, s = vector("x"), vector("y"), vector("s")
    cell = ["old"]
    p = program([x, y, s], [view(y), update(x)], [cell], updates=[(cell, 1)], n_outputs=1)
    assert [(i.name, i.writable) for i in p.inputs] == [("x", writable), ("y", 0)]


@pytest.mark.parametrize("number", [0, 1])
def test_each_output_says_for_itself_what_it_views(number):
    class Two(Native):
        __props__ = ()
        view_map = {1: [0]}

        def make_node(self, x):
            return Apply(self, [x], [vector(), vector()])

    x, s = vector("x"), vector("s")
    cell = ["old"]
    p = program([x, s], [Two()(x)[number]], [cell], updates=[(cell, 0)], n_outputs=0)
    assert p.inputs[0].writable == (2 if number == 1 else 0)


def test_instructions_of_other_kinds():
    x = vector("x")
    p = program([x], [OwnThunk()(PythonOnly()(x))])
    assert [i.kind for i in p.instructions] == ["perform", "thunk"]
    assert [(i.inputs, i.outputs) for i in p.instructions] == [([0], [1]), ([1], [2])]


def test_values_are_freed_after_their_last_use():
    x = vector("x")
    a = f(x)
    p = program([x], [h(g(a), a)])
    assert p.frees == [[], [], [1, 2]]
    kept = program([x], [h(g(a), a)], allow_gc=False)
    assert kept.frees == [[], [], []] and set(kept.reuse) == {-1}


def test_an_unused_output_is_freed_at_once():
    class Two(Native):
        __props__ = ()

        def make_node(self, x):
            node = super().make_node(x)
            return type(node)(self, node.inputs, [vector(), vector()])

    x = vector("x")
    p = program([x], [Two()(x)[0]])
    assert p.frees == [[2]]


def test_a_chain_needs_two_buffers():
    x = vector("x")
    y = x
    for _ in range(10):
        y = f(y)
    p = program([x], [y])
    used = p.reuse[1:-1]
    assert set(used) == {0, 1} and all(a != b for a, b in pairwise(used))
    assert p.reuse[0] == p.reuse[-1] == -1, "arguments and results are not ours to use again"


def test_buffers_of_one_dtype_only_are_shared():
    narrow = Native("narrow", out=small)
    x = vector("x")
    p = program([x], [f(narrow(g(f(x))))])
    assert p.reuse == [-1, 0, 1, 2, -1]
    wide = program([x], [f(g(f(narrow(g(f(x))))))])
    assert wide.reuse[5] in (0, 1), "a buffer whose value is gone is used again"


def test_views_keep_buffers():
    x = vector("x")
    a = f(x)
    v = view(a)
    b = g(x)
    p, slots = program_and_slots([x], [h(v, b)])
    by_op = {node.op.name: node.outputs[0] for node in (i.owner for i in slots if i.owner)}
    assert p.reuse[slots[by_op["view"]]] == -1
    assert p.reuse[slots[by_op["f"]]] != p.reuse[slots[by_op["g"]]]


def test_what_lives_in_a_result_is_not_shared():
    x = vector("x")
    p = program([x], [view(f(x))])
    assert set(p.reuse) == {-1}
    assert set(program([x], [into(f(x))]).reuse) == {-1}


def test_python_values_are_not_shared():
    x, o = vector("x"), generic("o")
    p = program([x], [f(PythonOnly()(f(x)))])
    assert set(p.reuse) == {-1}
    assert set(program([o], [PythonOnly(out=generic)(PythonOnly(out=generic)(o))]).reuse) == {-1}


def test_lazy_graphs_have_no_order_to_plan_with():
    x = vector("x")
    p = program([x], [f(g(OwnThunk(True)(f(x))))])
    assert set(p.reuse) == {-1} and p.frees == [[], [1], [2], [3]] and p.after == [[], [], [], []]


@pytest.mark.parametrize("seed", range(20))
def test_no_buffer_holds_two_living_values(seed):
    import random

    choose = random.Random(seed)
    x = vector("x")
    known = [x]
    for _ in range(40):
        op = choose.choice([f, g, h, view, f])
        known.append(op(*choose.choices(known, k=1 if op is view else choose.randint(1, 3))))
    _check_plan(*program_and_slots([x], choose.sample(known[1:], 3)))


def _check_plan(p, slots):
    """Run the plan with values that know who made them, and look at each input when it is read."""
    memory, root = {}, {}
    for number, instruction in enumerate(p.instructions):
        ins, (out,) = instruction.inputs, instruction.outputs
        for slot in ins:
            home, value = root.get(slot, (None, None))
            if home is not None:
                assert memory[home] == value, f"instruction {number} reads slot {slot}, which was overwritten"
        (variable,) = (v for v, s in slots.items() if s == out)
        if variable.owner.op == view:
            root[out] = root.get(ins[0], (None, None))
            continue
        home = ("own", out) if p.reuse[out] < 0 else ("pool", p.reuse[out])
        root[out] = (home, number)
        memory[home] = number
    for slot in p.outputs:
        home, value = root.get(slot, (None, None))
        assert home is None or memory[home] == value


def test_a_program_as_text_says_plain_values_as_they_are():
    x, two = vector("x"), vector.make_constant(2.0)
    fgraph = FunctionGraph([x], [f(x, two)])
    linked = link(fgraph.toposort(), predefined_linkers["cvm"], lambda kernels: range(len(kernels)))
    arguments = [Argument(fgraph.inputs[0], "x")]
    made = build(fgraph, linked, arguments, 1, [], "one")
    fields = json.loads(serialize(made, linked, arguments, []))["fields"]
    assert fields["slots"][2] == ["Slot", "constant", {"spec": ["float64", 1, [False], False]}, 2.0]
    assert fields["instructions"] == ["[", ["KernelInstruction", "c", 0, {"b": "p"}, {"i": [0, 1]}, {"i": [2]}, 2.0, False]]
    assert fields["inputs"] == ["[", ["Input", 0, "x", True, None, None, 0]]
    assert (fields["returns"], fields["keys"], fields["lazy"]) == ("one", None, False)
