"""Programs: slots, and the plan of memory."""

import json
from itertools import pairwise

import pytest
from numbers_toy import (
    FIT,
    OTHERS,
    UNFIT,
    VIEWS,
    Native,
    OwnThunk,
    PythonOnly,
    linked_without_compiler,
    random_graph,
    small,
    vector,
)

from theano.graph import Apply, FunctionGraph, generic
from theano.graph.aliasing import DestroyHandler
from theano.runtime.link import Compiled
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
    linked = linked_without_compiler(fgraph)
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


def test_an_argument_is_stored_beside_what_is_stored_twice():
    x, *shared = vector("x"), vector("s"), vector("t"), vector("u")
    new = view(f(shared[0]))
    cells = [["old"], ["old"], ["old"]]
    p = program([x, *shared], [x, new, new], cells, updates=[(cell, i) for i, cell in enumerate(cells)], n_outputs=0)
    assert p.inputs[0].writable == 2


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
    assert set(p.reuse) == {-1} and p.frees == [[], [1], [2], [3]] and p.control_dependencies == [[], [], [], []]


# -- plans of random graphs ---------------------------------------------------------------------------------------------


MOSTLY_COMPILED = [*FIT * 2, UNFIT[0], *VIEWS[:3], VIEWS[4], *OTHERS]
OPS = {"compiled": MOSTLY_COMPILED, "some in Python": [*MOSTLY_COMPILED, *UNFIT, VIEWS[3]]}


def planned(seed, ops):
    """Return the program of a random graph, its nodes in order, and the number of each variable's slot."""
    fgraph, n_outputs = random_graph(seed, OPS[ops], 30)
    linked = linked_without_compiler(fgraph)
    arguments = [Argument(v, v.name, [None], v.name in "st", v.name in "xy") for v in fgraph.inputs]
    updates = [([None], i) for i in range(n_outputs, 4)]
    made = build(fgraph, linked, arguments, n_outputs, updates, "list")
    return made, fgraph, linked, {v: i for i, v in enumerate(in_slots(fgraph.inputs, linked.nodes, fgraph.outputs))}


def lies_in(node):
    """Yield each output of a node with each input in whose memory it may lie."""
    for o, inputs in [*node.op.view_map.items(), *node.op.destroy_map.items()]:
        yield from ((node.outputs[o], node.inputs[i]) for i in inputs if o is not None)


def families(linked):
    """Return, for each variable, all that may lie in the same memory at any time."""
    family = {v: {v} for node in linked.nodes for v in (*node.inputs, *node.outputs)}
    for node in linked.nodes:
        for a, b in lies_in(node):
            both = family[a] | family[b]
            family.update(dict.fromkeys(both, both))
    return family


def uses(linked, variables):
    """Return the numbers of the nodes that read or compute some of the variables."""
    return [i for i, node in enumerate(linked.nodes) if not variables.isdisjoint((*node.inputs, *node.outputs))]


@pytest.mark.parametrize("ops", OPS)
@pytest.mark.parametrize("seed", range(25))
def test_each_value_is_freed_after_its_last_use(seed, ops):
    made, fgraph, linked, slots = planned(seed, ops)
    computed = {v for node in linked.nodes for v in node.outputs} - set(fgraph.outputs)
    wanted = [{slots[v] for v in computed if max(uses(linked, {v})) == i} for i in range(len(linked.nodes))]
    assert [set(freed) for freed in made.frees] == wanted and sum(map(len, made.frees)) == len(computed)


@pytest.mark.parametrize("ops", OPS)
@pytest.mark.parametrize("seed", range(25))
def test_who_shares_a_buffer_and_when(seed, ops):
    """What kernels allocate, where only kernels look at that memory and no result lies in it, has a numbered buffer.

    No buffer is given away while something that lies in it is needed; no new one is begun while an old one would do.
    """
    made, fgraph, linked, slots = planned(seed, ops)
    family, how = families(linked), dict(zip(linked.nodes, linked.how, strict=True))
    owner, begun = {}, set()  # which family has each buffer until when
    for i, node in enumerate(linked.nodes):
        for o, v in enumerate(node.outputs):
            ours = all(w.owner is not None and w not in fgraph.outputs for w in family[v])
            native = all(isinstance(how[linked.nodes[k]], Compiled) for k in uses(linked, family[v]))
            number = made.reuse[slots[v]]
            assert (number >= 0) == (ours and native and o not in node.op.view_map and o not in node.op.destroy_map)
            if number < 0:
                continue
            kind = (v.type.dtype, v.type.ndim)
            free = {n for n, (what, until) in owner.items() if what == kind and until < i}
            assert number in free if free else number == len(begun)
            begun.add(number)
            owner[number] = kind, max(uses(linked, family[v]))
    assert {i for i, number in enumerate(made.reuse) if number >= 0} <= {
        slots[v] for v in family if v.owner is not None
    }


def test_random_graphs_share_buffers():
    """Those above do, and some of their buffers hold views or are written over while they do."""
    shared = handed_on = 0
    for seed in range(25):
        made, fgraph, linked, slots = planned(seed, "compiled")
        numbers = [n for n in made.reuse if n >= 0]
        shared += len(numbers) > len(set(numbers))
        handed_on += any(len(family) > 1 and made.reuse[slots[v]] >= 0 for v, family in families(linked).items())
    assert shared > 5 and handed_on > 5


# -- the rest -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("destroyed", [False, True])
@pytest.mark.parametrize("writable", [False, True])
def test_which_arguments_share_memory_with_nothing(writable, destroyed, stored, named):
    """1: the user lets it be overwritten, and it is; 2: an update stores it; 0: neither."""
    x, s = vector("x"), vector("s")
    outputs = [(into if destroyed else f)(x), view(x) if stored else s]
    fgraph = FunctionGraph([x, s], outputs, [DestroyHandler()] if destroyed else [])
    arguments = [
        Argument(fgraph.inputs[0], "x", writable=writable),
        Argument(fgraph.inputs[1], "s", ["old"], True, False),
    ]
    made = build(
        fgraph, linked_without_compiler(fgraph), arguments, 1, [(["old"], 1)], "one", ["key"] if named else None, "p"
    )
    assert made.inputs == [(0, "x", True, None, None, 1 if writable and destroyed else 2 if stored else 0)]
    assert (made.returns, made.keys, made.name, made.lazy, made.control_dependencies) == (
        "dict" if named else "one",
        ["key"] if named else None,
        "p",
        False,
        [],
    )
    assert Argument(x) == Argument(x, None, None, False, True, None, False)


def test_a_lazy_program_says_what_comes_before_an_instruction():
    """Its order is known to the call only: who reads what is overwritten has to be named."""
    x, y = vector("x"), vector("y")
    fgraph = FunctionGraph([x, y], [into(x, y), g(x), OwnThunk(True)(y)], [DestroyHandler()])
    linked = linked_without_compiler(fgraph)
    made = build(fgraph, linked, [Argument(v, v.name) for v in fgraph.inputs], 3, [], "list")
    slots = {v: i for i, v in enumerate(in_slots(fgraph.inputs, linked.nodes, fgraph.outputs))}
    reader = slots[fgraph.outputs[1]]
    assert made.lazy and made.control_dependencies == [[reader] if node.op == into else [] for node in linked.nodes]


def test_a_program_as_text_says_plain_values_as_they_are():
    x, two = vector("x"), vector.make_constant(2.0)
    fgraph = FunctionGraph([x], [f(x, two)])
    linked = linked_without_compiler(fgraph)
    arguments = [Argument(fgraph.inputs[0], "x")]
    made = build(fgraph, linked, arguments, 1, [], "one")
    fields = json.loads(serialize(made, linked, arguments, []))["fields"]
    assert fields["slots"][2] == ["Slot", "constant", {"spec": ["float64", 1, [False], False, "cpu"]}, 2.0]
    assert fields["instructions"] == [
        "[",
        ["KernelInstruction", "c", 0, {"b": "p"}, {"i": [0, 1]}, {"i": [2]}, 2.0, False],
    ]
    assert fields["inputs"] == ["[", ["Input", 0, "x", True, None, None, 0]]
    assert (fields["returns"], fields["keys"], fields["lazy"]) == ("one", None, False)
