"""Which nodes run last, so that they may write new values of shared variables over the old ones."""

from __future__ import annotations

import pytest
from numbers_toy import FIT, OTHERS, UNFIT, VIEWS, Declared, OwnThunk, linked_without_compiler, random_graph, vector

from theano.graph import FunctionGraph
from theano.graph.aliasing import DestroyHandler
from theano.runtime.link import Compiled
from theano.runtime.updates import destroyed_inputs, last_nodes, overwritten, put_last, result_bases

SEEDS = range(60)
total, rows, f, python = FIT[0], FIT[1], UNFIT[0], UNFIT[1]
view, either, python_view = VIEWS[0], VIEWS[2], VIEWS[3]
total_into, rows_into, f_into, python_into = (op.overwriting(0, 0) for op in (total, rows, f, python))


def some_graph(seed):
    """Return a random graph of ops most of which are fit to be last."""
    return random_graph(seed, [*FIT * 6, *UNFIT, *VIEWS, *OTHERS], 8)


def checks_first(node):
    return node.op.checks is not None


def as_it_is_said(fgraph, n_outputs, fit):
    """Return which nodes can be last: of all that are fit, take out one that cannot stay until all can.

    A node can stay if its results are not returned, those who use them are last too and do not look at them to see
    whether they will fail, and those who overwrite what it reads are last too.
    """
    chosen = {node for node in fgraph.apply_nodes if fit(node)}

    def stays(node):
        users = [user for v in node.outputs for user in v.clients]
        returned = any(user == "output" and i < n_outputs for user, i in users)
        others = [(user, i) for user, i in users if user != "output"]
        late = all(user in chosen and i not in (user.op.checks or ()) for user, i in others)
        writers = {w for v in node.inputs for w in fgraph.destroyers(v)} if fgraph.destroyers else set()
        return not returned and late and writers <= chosen | {node}

    while leaving := {node for node in chosen if not stays(node)}:
        chosen -= leaving
    return chosen


@pytest.mark.parametrize("seed", SEEDS)
def test_the_last_nodes(seed):
    fgraph, n_outputs = some_graph(seed)
    for fit in (checks_first, lambda node: True):
        assert last_nodes(fgraph, fgraph.toposort(), n_outputs, fit) == as_it_is_said(fgraph, n_outputs, fit)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_put_last(seed):
    """The nodes that can write over inputs at the end, with all that has to come after one of them; nothing else moves."""
    fgraph, n_outputs = some_graph(seed)
    linked = linked_without_compiler(fgraph)
    before, how = list(linked.nodes), dict(zip(linked.nodes, linked.how, strict=True))
    fit = as_it_is_said(fgraph, n_outputs, lambda node: checks_first(node) and node.op.native)
    wanted = {node for node in fit if any(node.inputs[i] in fgraph.inputs for i in destroyed_inputs(node))}
    follow = lambda node: {
        *(user for v in node.outputs for user, _ in v.clients if user != "output"),
        *(writer for v in node.inputs for writer in fgraph.destroyers(v)),
    }
    while more := set().union(*map(follow, wanted)) - wanted:
        wanted |= more
    last = put_last(fgraph, linked, n_outputs)
    assert linked.nodes == [n for n in before if n not in wanted] + [n for n in before if n in wanted]
    assert set(linked.nodes[last:]) == wanted and wanted <= fit
    assert [how[node] for node in linked.nodes] == linked.how
    place = {node: k for k, node in enumerate(linked.nodes)}
    for node in linked.nodes:
        assert all(v.owner is None or place[v.owner] < place[node] for v in node.inputs)
        writers = {w for v in node.inputs for w in fgraph.destroyers(v)} - {node}
        assert all(place[node] < place[writer] for writer in writers if writer in place)


@pytest.mark.parametrize("seed", SEEDS)
def test_who_overwrites_a_shared_variable(seed):
    """The loader calls it 1 where a node that is last writes over the variable itself, and 2 where any other does."""
    fgraph, n_outputs = some_graph(seed)
    linked = linked_without_compiler(fgraph)
    last = put_last(fgraph, linked, n_outputs)
    found = dict(overwritten(fgraph, linked, last, fgraph.inputs[2:]))
    for v in fgraph.inputs:
        writers = fgraph.destroyers(v) if v in fgraph.inputs[2:] else []
        itself = [any(w.inputs[i] is v for i in destroyed_inputs(w)) and w in linked.nodes[last:] for w in writers]
        assert found.get(v) == ((1 if itself[0] else 2) if writers else None)


def test_random_graphs_have_something_to_say():
    """Among those above are all answers, each often enough."""
    answers = []
    for seed in SEEDS:
        fgraph, n_outputs = some_graph(seed)
        linked = linked_without_compiler(fgraph)
        last = put_last(fgraph, linked, n_outputs)
        answers += [how for _, how in overwritten(fgraph, linked, last, fgraph.inputs)]
        answers += ["some last"] * (0 < last < len(linked.nodes)) + ["read before"] * (len(linked.nodes) - last > 1)
    assert all(answers.count(answer) >= 5 for answer in (1, 2, "some last", "read before"))


def test_a_graph_that_overwrites_nothing_stays_as_it_is():
    x, s = vector("x"), vector("s")
    fgraph = FunctionGraph([x, s], [f(x), total(s, x)])
    linked = linked_without_compiler(fgraph)
    order = list(linked.nodes)
    assert (put_last(fgraph, linked, 1), linked.nodes) == (2, order) and overwritten(
        fgraph, linked, 2, fgraph.inputs
    ) == []
    assert last_nodes(fgraph, order, 1, checks_first) == {fgraph.outputs[1].owner}, "nobody watches who overwrites what"


@pytest.mark.parametrize("lazy", [False, True])
def test_a_lazy_graph_has_no_last_nodes(lazy):
    x, s = vector("x"), vector("s")
    fgraph = FunctionGraph([x, s], [total_into(s, x), OwnThunk(lazy)(x)], [DestroyHandler()])
    linked = linked_without_compiler(fgraph)
    last = put_last(fgraph, linked, 0)
    assert last == (2 if lazy else 1)
    assert overwritten(fgraph, linked, last, fgraph.inputs) == [(fgraph.inputs[1], 2 if lazy else 1)]


def test_working_space_is_overwritten_too():
    s, x = vector("s"), vector("x")
    fgraph = FunctionGraph([s, x], [total.overwriting(None, 0)(s, x), f(x)], [DestroyHandler()])
    linked = linked_without_compiler(fgraph)
    assert put_last(fgraph, linked, 0) == 1 and overwritten(fgraph, linked, 1, fgraph.inputs) == [(fgraph.inputs[0], 1)]


def test_a_view_that_is_overwritten_is_not_the_variable_itself():
    """The loader looks whether the array of the variable may be written into, not whose memory an instruction gets."""
    s, x = vector("s"), vector("x")
    fgraph = FunctionGraph([s, x], [total_into(view(s), x)], [DestroyHandler()])
    linked = linked_without_compiler(fgraph)
    assert put_last(fgraph, linked, 0) == 2 and overwritten(fgraph, linked, 2, fgraph.inputs) == [(fgraph.inputs[0], 2)]


HALVES = Declared("halves", (vector, vector), views=((1, (0,)),), overwrites=((0, (1,)),))


@pytest.mark.parametrize(("build", "maker"), [
    (lambda x, y: f(x), None),
    (lambda x, y: view(x), None),
    (lambda x, y: total_into(x, y), None),
    (lambda x, y: view(f(x)), "f"),
    (lambda x, y: total_into(f(x), y), "f"),
    (lambda x, y: rows_into(view(total_into(f(x), y)), y), "f"),
    (lambda x, y: view(python(x)), None),
    (lambda x, y: python_view(f(x)), "f"),
    (lambda x, y: view(python_into(total(x), y)), "sum"),
    (lambda x, y: view(rows(python(x))), "rows"),
    # Of several inputs in whose memory it may live, the first that is named.
    (lambda x, y: either(x, f(x)), "f"),
    (lambda x, y: either(f(x), x), None),
    # Each output says for itself.
    (lambda x, y: HALVES(f(x), total(y))[0], "sum"),
    (lambda x, y: HALVES(f(x), total(y))[1], "f"),
    (lambda x, y: Declared("two", (vector, vector), views=((1, (0,)),))(f(x))[0], None),
])  # fmt: skip
def test_in_whose_memory_a_result_lies(build, maker):
    x, y = vector("x"), vector("y")
    fgraph = FunctionGraph([x, y], [f(y), build(x, y), view(f(y))])
    linked = linked_without_compiler(fgraph)
    found = result_bases(fgraph.outputs, linked)
    names = [(v.owner.op.name, fgraph.outputs.index(out)) for v, out in found]
    assert names == [*([(maker, 1)] if maker else []), ("f", 2)]
    assert all(isinstance(linked.how[linked.nodes.index(v.owner)], Compiled) for v, _ in found)
