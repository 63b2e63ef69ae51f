"""Who may overwrite what: each sentence of the aliasing module's introduction, and random graphs against brute force."""

import gc
import itertools
import random
import weakref

import pytest
from toy import Combine, add, add_into, either, number, view

from theano.errors import InconsistencyError
from theano.graph import FunctionGraph
from theano.graph.aliasing import DestroyHandler
from theano.graph.features import Supervisor
from theano.graph.traverse import ancestors, toposort


def graph(inputs, outputs, *features):
    handler = DestroyHandler()
    fgraph = FunctionGraph(inputs, outputs, [handler, *features])
    return fgraph, handler


def test_readers_come_before_the_destroyer():
    x, y = number("x"), number("y")
    fgraph, _ = graph([x, y], [add_into(x, y), add(x, y)])
    fgraph.validate()
    assert [str(n.op) for n in fgraph.toposort()] == ["add", "add_into"]


def test_a_reader_of_the_new_value_comes_after():
    x = number("x")
    fgraph, _ = graph([x], [add(add_into(x, 1), x)])
    with pytest.raises(InconsistencyError):
        fgraph.validate()


def test_two_destroyers_of_one_memory_are_refused():
    x = number("x")
    fgraph, _ = graph([x], [add_into(x, 1), add_into(view(x), 2)])
    with pytest.raises(InconsistencyError, match="overwritten by 2 nodes"):
        fgraph.validate()


def test_destroying_what_was_destroyed_is_fine_in_a_row():
    x = number("x")
    fgraph, _ = graph([x], [add_into(add_into(x, 1), 2)])
    fgraph.validate()


def test_views_pass_the_damage_on():
    x = number("x")
    v = view(view(x))
    fgraph, handler = graph([x], [add_into(v, 1), add(x, 5)])
    fgraph.validate()
    assert [str(n.op) for n in fgraph.toposort()][-1] == "add_into"
    assert handler.roots_of(fgraph.outputs[0].owner.inputs[0]) == {fgraph.inputs[0]}


def test_a_view_that_is_gone_shares_nothing():
    x = number("x")
    old = view(view(x))
    old.tag.indestructible = True
    fgraph, handler = graph([x], [add(old, 1)])
    inside = fgraph.inputs[0]
    assert len(handler.sharing_with(inside)) == 3
    fgraph.replace(fgraph.outputs[0], add_into(inside, 1))
    assert handler.sharing_with(inside) == [inside]
    fgraph.validate()


def test_what_is_gone_is_forgotten():
    x = number("x")
    made = add(x, 1)
    fgraph, handler = graph([x], [add_into(view(made), 2)])
    gone = weakref.ref(fgraph.outputs[0].owner.inputs[0].owner.inputs[0])
    assert list(handler.orderings(fgraph)) == [fgraph.outputs[0].owner]
    fgraph.replace(fgraph.outputs[0], fgraph.inputs[0])
    assert handler.orderings(fgraph) == {}
    del made
    gc.collect()
    assert gone() is None


def test_an_output_may_view_several_inputs():
    x, y = number("x"), number("y")
    e = either(x, y)
    fgraph, handler = graph([x, y], [add_into(e, 1), add(y, 5), add(x, 6)])
    fgraph.validate()
    assert [str(n.op) for n in fgraph.toposort()][-1] == "add_into"
    assert handler.roots_of(fgraph.outputs[0].owner.inputs[0]) == set(fgraph.inputs)
    fgraph, _ = graph([x, y], [add_into(e, 1), add_into(x, 1)])
    with pytest.raises(InconsistencyError):
        fgraph.validate()


@pytest.mark.parametrize("victim", ["constant", "output", "indestructible", "protected"])
def test_some_things_must_stay(victim):
    x = number("x")
    if victim == "constant":
        fgraph, _ = graph([x], [add_into(number.make_constant(3), x)])
    elif victim == "output":
        y = add(x, 1)
        fgraph, _ = graph([x], [add_into(y, x), y])
    elif victim == "indestructible":
        x.tag.indestructible = True
        fgraph, _ = graph([x], [add_into(x, 1)])
    else:
        fgraph, _ = graph([x], [add(x, 1)])
        fgraph.attach_feature(Supervisor(fgraph.inputs))
        with pytest.raises(InconsistencyError, match="belongs to the caller"):
            fgraph.replace_validate(fgraph.outputs[0], add_into(fgraph.inputs[0], 1))
        return
    with pytest.raises(InconsistencyError, match="would overwrite"):
        fgraph.validate()


def test_reading_through_another_input_of_the_same_node():
    x = number("x")
    fgraph, _ = graph([x], [add_into(x, x)])
    with pytest.raises(InconsistencyError):
        fgraph.validate()
    tolerant = Combine("tolerant", inplace=[0])
    tolerant.destroyhandler_tolerate_same = [(0, 1)]
    fgraph, _ = graph([x], [tolerant(x, x)])
    fgraph.validate()


def test_working_space_under_none():
    scratch = Combine("scratch")
    scratch.destroy_map = {None: [0]}
    x = number("x")
    fgraph, _ = graph([x], [scratch(x, 1), add(x, 1)])
    assert [str(n.op) for n in fgraph.toposort()] == ["add", "scratch"]


def test_would_allow_is_never_wrong_when_it_says_yes():
    for seed in range(30):
        rng = random.Random(seed)
        inputs = [number(f"x{i}") for i in range(2)]
        pool = list(inputs)
        for _ in range(9):
            op = rng.choice([add, add, view, either])
            pool.append(op(rng.choice(pool), rng.choice(pool)))
        fgraph, handler = graph(inputs, pool[-2:])
        for node, i in itertools.product(fgraph.toposort(), (0, 1)):
            if node.op is not add or not handler.would_allow(fgraph, node, i):
                continue
            fgraph.replace_all_validate([(node.outputs[0], Combine("into", inplace=[i])(*node.inputs))])


def run(order, values, cells):
    """Compute with real shared cells, so that a wrong order shows in the numbers."""
    for node in order:
        ins = [values[v] for v in node.inputs]
        total = sum(cells[c] for c in ins)
        if node.op.view_map:
            values[node.outputs[0]] = ins[0]
        elif node.op.destroy_map:
            cells[ins[0]] = total
            values[node.outputs[0]] = ins[0]
        else:
            cells.append(total)
            values[node.outputs[0]] = len(cells) - 1


@pytest.mark.parametrize("seed", range(40))
def test_whatever_validates_computes_the_same_as_without_overwriting(seed):
    rng = random.Random(1000 + seed)
    inputs = [number(f"x{i}") for i in range(3)]

    def build(ops):
        gen = random.Random(seed)
        pool = list(inputs)
        for op in ops:
            pool.append(op(gen.choice(pool), gen.choice(pool)) if op is not view else op(gen.choice(pool)))
        return pool[-2:]

    ops = [rng.choice([add, view, add_into]) for _ in range(7)]
    fgraph, _ = graph(inputs, build(ops))
    try:
        fgraph.validate()
    except InconsistencyError:
        return
    results = []
    for g in (fgraph, FunctionGraph(inputs, build([add if op is add_into else op for op in ops]))):
        cells = [2.0, 30.0, 400.0]
        values = {v: i for i, v in enumerate(g.inputs)}
        run(g.toposort(), values, cells)
        results.append([cells[values[v]] for v in g.outputs])
    assert results[0] == results[1]


@pytest.mark.parametrize("seed", range(10))
def test_what_is_kept_change_by_change_equals_what_a_new_handler_finds(seed):
    rng = random.Random(seed)
    inputs = [number(f"x{i}") for i in range(3)]
    pool = list(inputs)
    for _ in range(30):
        op = rng.choice([add, view, either, add_into])
        pool.append(op(rng.choice(pool), rng.choice(pool)))
    fgraph, handler = graph(inputs, pool[-3:])
    for _ in range(40):
        nodes = [n for out in fgraph.outputs for n in toposort([out])]
        if not nodes:
            break
        order = [*fgraph.inputs, *(o for n in toposort(fgraph.outputs) for o in n.outputs)]
        node = rng.choice(nodes)
        earlier = order[: order.index(node.outputs[0])]
        op = rng.choice([view, either, add_into])
        fgraph.replace(node.outputs[0], op(rng.choice(earlier), rng.choice(earlier)))
        other = DestroyHandler()
        copy = FunctionGraph(fgraph.inputs, fgraph.outputs, [other])
        for v, w in zip(fgraph.outputs, copy.outputs, strict=True):
            for a, b in zip(ancestors([v]), ancestors([w]), strict=True):
                assert sorted(map(str, handler.roots_of(a))) == sorted(map(str, other.roots_of(b)))
                assert sorted(map(str, handler.sharing_with(a))) == sorted(map(str, other.sharing_with(b)))
                assert len(handler.destroyers_of(a)) == len(other.destroyers_of(b))
