"""Who may overwrite what: each sentence of the aliasing module's introduction, and random graphs against brute force."""

import gc
import itertools
import random
import weakref
from graphlib import CycleError, TopologicalSorter

import pytest
from toy import Combine, add, add_into, either, number, view

import theano
from theano.errors import InconsistencyError
from theano.graph import Constant, FunctionGraph, Op
from theano.graph.aliasing import DestroyHandler
from theano.graph.features import Supervisor
from theano.graph.traverse import inputs as inputs_of
from theano.graph.traverse import toposort


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
    for other in (view(x), either(x, number("y"))):  # the same is tolerated, another view of it is not
        fgraph, _ = graph(inputs_of([x, other]), [tolerant(x, other)])
        with pytest.raises(InconsistencyError):
            fgraph.validate()


def test_aliased_inputs_that_an_op_takes_care_of():
    x, y = number("x"), number("y")
    careful = Combine("careful", inplace=[0])
    careful.destroyhandler_tolerate_aliased = [(0, 1)]
    for left, right in ((x, x), (x, view(x)), (view(x), view(x)), (view(x), either(x, y))):
        fgraph, _ = graph([x, y], [careful(left, right), add(x, y)])
        fgraph.validate()
        assert [str(n.op) for n in fgraph.toposort()][-1] == "careful"
    twice = Combine("twice", inplace=[0, 1])
    twice.destroyhandler_tolerate_aliased = [(0, 1), (1, 0)]
    fgraph, _ = graph([x], [twice(x, view(x))])
    with pytest.raises(InconsistencyError, match="two of its inputs"):
        fgraph.validate()
    backwards = Combine("backwards", inplace=[0])
    backwards.destroyhandler_tolerate_aliased = [(1, 0)]
    fgraph, _ = graph([x], [backwards(x, x)])
    with pytest.raises(ValueError, match="cycle"):  # as Theano's sort has it
        fgraph.toposort()


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


# -- against brute force ----------------------------------------------------------------------------------------------


class Mixed(Op):
    """Its first output views its first input, its second is written over its second input, its third is new."""

    __props__ = ()
    itypes, otypes = [number] * 3, [number] * 3
    view_map = {0: [0]}
    destroy_map = {1: [1]}


both, mixed = Combine("both", inplace=[0, 1]), Mixed()
tolerant = Combine("tolerant", inplace=[1])
tolerant.destroyhandler_tolerate_same = [(1, 0)]
careful = Combine("careful", inplace=[0])
careful.destroyhandler_tolerate_aliased = [(0, 1)]
OPS = [add, view, either, add_into, both, tolerant, careful]


def lives_in(v):
    """Return the roots of a variable, from the declarations alone."""
    viewed = v.owner.op.view_map.get(v.index) if v.owner is not None else None
    return frozenset().union(*(lives_in(v.owner.inputs[i]) for i in viewed)) if viewed else frozenset({v})


class Facts:
    """What the introduction of the module says, of each variable and node of a graph as it stands."""

    def __init__(self, fgraph):
        self.fgraph = fgraph
        self.roots = {v: lives_in(v) for v in fgraph.variables}
        self.overwritten = {
            n: sorted({i for many in n.op.destroy_map.values() for i in many}) for n in fgraph.apply_nodes
        }

    def family(self, v):
        return {w for w, roots in self.roots.items() if roots & self.roots[v]}

    def destroyers(self, v):
        return {n for n, many in self.overwritten.items() if any(self.roots[n.inputs[i]] & self.roots[v] for i in many)}

    def before(self, node):
        """All who read what the node overwrites; the node itself where it reads that through another input."""
        same, aliased = node.op.destroyhandler_tolerate_same, node.op.destroyhandler_tolerate_aliased
        allowed = lambda d, i, v: i == d or (d, i) in aliased or ((d, i) in same and v is node.inputs[d])
        return {
            client
            for d in self.overwritten[node]
            for v in self.family(node.inputs[d])
            for client, i in v.clients
            if client != "output" and (client is not node or not allowed(d, i, v))
        }

    def allows(self, node, index):
        """Nobody else overwrites the memory, no constant lies there, and all others who look at it make views of it."""
        family = self.family(node.inputs[index])
        others = [c for v in family for c in v.clients if c != (node, index)]
        views = lambda n, i: n != "output" and n is not node and any(i in many for many in n.op.view_map.values())
        constant = any(isinstance(v, Constant) for v in family)
        return not constant and all(views(*c) for c in others) and not self.destroyers(node.inputs[index])

    def has_sense(self):
        for node, many in self.overwritten.items():
            for v in set().union(*(self.family(node.inputs[i]) for i in many)):
                kept = isinstance(v, Constant) or hasattr(v.tag, "indestructible") or "output" in dict(v.clients)
                if kept or v in self.roots[v] and len(self.destroyers(v)) > 1:
                    return False
        needs = {n: {v.owner for v in n.inputs if v.owner} | self.before(n) for n in self.overwritten}
        try:
            list(TopologicalSorter(needs).static_order())
        except CycleError:
            return False
        return True


def check_against_brute_force(fgraph, handler):
    facts = Facts(fgraph)
    for v in fgraph.variables:
        assert handler.roots_of(v) == facts.roots[v]
        assert set(handler.sharing_with(v)) == facts.family(v) and len(handler.sharing_with(v)) == len(facts.family(v))
        assert set(handler.destroyers_of(v)) == set(fgraph.destroyers(v)) == facts.destroyers(v)
    orderings = handler.orderings(fgraph)
    assert set(orderings) == {n for n, many in facts.overwritten.items() if many}
    for node in fgraph.apply_nodes:
        assert set(orderings.get(node, ())) == facts.before(node)
        for i in range(len(node.inputs)):
            assert handler.would_allow(fgraph, node, i) == facts.allows(node, i)
    try:
        fgraph.validate()
    except (InconsistencyError, theano.errors.CycleError):
        assert not facts.has_sense()
    else:
        assert facts.has_sense()


def grown(rng, pool, ops, count):
    """Return ``pool`` and what ``count`` random nodes make of it."""
    pool = list(pool)
    for _ in range(count):
        op = rng.choice(ops)
        pool += op(*rng.choices(pool, k=3)) if op is mixed else [op(*rng.choices(pool, k=2))]
    return pool


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_what_is_kept_change_by_change_is_what_brute_force_finds(seed, late):
    """Graphs where little is overwritten, so that some make sense, and graphs where much is."""
    rng = random.Random(seed)
    ops = [[add, view, either, mixed], [*OPS, mixed], [add, view] * 6 + OPS][seed % 3]
    inputs = [number(f"x{i}") for i in range(3)]
    one = number.make_constant(1.0)
    pool = grown(rng, [*inputs, one], ops, 10)
    if seed % 2:
        rng.choice(pool).tag.indestructible = True
    outputs = rng.sample(pool[4:], 2)
    handler = DestroyHandler()
    fgraph = FunctionGraph(inputs, outputs, [] if late else [handler])
    fgraph.attach_feature(handler)
    for _ in range(25):
        check_against_brute_force(fgraph, handler)
        order = fgraph_order(fgraph)
        node = rng.choice([v.owner for v in order if v.owner] or [None])
        if node is None:
            break
        old = rng.choice(node.outputs)
        fgraph.replace(old, grown(rng, order[: order.index(node.outputs[0])], ops, rng.choice([1, 1, 2]))[-1])


def fgraph_order(fgraph):
    """Return the variables of a graph, each after those that it is computed from, whatever is overwritten."""
    return [*fgraph.inputs, *(v for node in toposort(fgraph.outputs) for v in node.outputs)]


def test_a_change_reaches_the_views_of_an_output():
    x, y = number("x"), number("y")
    fgraph, handler = graph([x, y], [view(x), add(y, 1)])
    viewing = fgraph.outputs[0]
    fgraph.replace(fgraph.outputs[1], view(viewing))
    assert [client for client, _ in viewing.clients] == ["output", fgraph.outputs[1].owner]
    fgraph.change_input(viewing.owner, 0, fgraph.inputs[1])
    assert handler.roots_of(fgraph.outputs[1]) == {fgraph.inputs[1]}


def test_a_graph_has_one_handler_and_forgets_the_one_that_leaves():
    x = number("x")
    fgraph, handler = graph([x], [add(add_into(view(x), 1), 2)])
    (inside,) = fgraph.inputs
    fgraph.attach_feature(DestroyHandler())
    assert [type(f) for f in fgraph.features].count(DestroyHandler) == 1 and len(fgraph.destroyers(inside)) == 1
    fgraph.remove_feature(handler)
    assert (
        fgraph.destroyers is None and handler.destroyers_of(inside) == [] and handler.sharing_with(inside) == [inside]
    )
    fgraph.attach_feature(handler)
    check_against_brute_force(fgraph, handler)
