"""FunctionGraph: closed, consistent after every change, and back where it was after a refused one."""

import operator
import pickle
import random

import pytest
from toy import add, number, split, view

from theano.errors import CycleError, InconsistencyError, MissingInputError
from theano.graph import Constant, FunctionGraph
from theano.graph.features import Feature, NodeFinder, ReplaceValidate
from theano.graph.traverse import ancestors, equal_computations, explicit_inputs, toposort


def chain(length):
    x = number("x")
    y = x
    for _ in range(length):
        y = add(y, 1)
    return x, y


def test_clients_are_nodes_and_outputs():
    x = number("x")
    y = add(x, x)
    fgraph = FunctionGraph([x], [y, y])
    (x,), (y, _) = fgraph.inputs, fgraph.outputs
    assert x.clients == [(y.owner, 0), (y.owner, 1)]
    assert y.clients == [("output", 0), ("output", 1)]
    fgraph.check_integrity()


def test_the_users_graph_stays_as_it_was():
    x, y = chain(3)
    fgraph = FunctionGraph([x], [y])
    fgraph.replace(fgraph.outputs[0], fgraph.inputs[0])
    assert y.owner is not None and x.fgraph is None and str(fgraph) == "[x]"


def test_replacing_prunes_what_nobody_uses():
    x, y = chain(5)
    fgraph = FunctionGraph([x], [y])
    fgraph.replace(fgraph.outputs[0].owner.inputs[0], fgraph.inputs[0])
    assert len(fgraph.apply_nodes) == 1
    fgraph.check_integrity()


def test_a_node_stays_while_one_of_its_outputs_is_used():
    x = number("x")
    a, b = split(x)
    fgraph = FunctionGraph([x], [add(a, b)])
    total = fgraph.outputs[0].owner
    fgraph.change_input(total, 0, fgraph.inputs[0])
    assert len(fgraph.apply_nodes) == 2
    fgraph.change_input(total, 1, fgraph.inputs[0])
    assert fgraph.apply_nodes == {total}
    fgraph.check_integrity()


def test_a_missing_input_is_named_with_its_line():
    x, y = number("x"), number("y")
    with pytest.raises(MissingInputError, match=r"variable y of type Number.*test_fgraph.py:\d+") as caught:
        FunctionGraph([x], [add(x, y)])
    assert caught.value.variable.name == "y"


def test_inputs_are_free_and_different():
    x = number("x")
    with pytest.raises(ValueError, match="twice"):
        FunctionGraph([x, x], [x], clone=False)
    with pytest.raises(ValueError, match="must have no owner"):
        FunctionGraph([add(x)], [x], clone=False)


def test_a_cycle_is_refused_and_taken_back():
    x = number("x")
    y = add(x, 1)
    z = add(y, 2)
    fgraph = FunctionGraph([x], [z])
    before = str(fgraph)
    z = fgraph.outputs[0]
    y = z.owner.inputs[0]

    class Sorted(Feature):
        def validate(self, fgraph):
            fgraph.toposort()

    fgraph.attach_feature(Sorted())
    with pytest.raises(CycleError, match="cycle of 2 nodes: add -> add -> add") as caught:
        fgraph.replace_all_validate([(y, add(z, 3))])
    said = str(caught.value)
    assert f"written at {__file__}:" in said and "add.0 : Number(any)" in said and said.count("\n") < 10
    assert str(fgraph) == before
    fgraph.check_integrity()


def test_refused_groups_leave_no_trace():
    class Refuse(Feature):
        def validate(self, fgraph):
            raise InconsistencyError("no")

    x, y = chain(4)
    fgraph = FunctionGraph([x], [y])
    fgraph.attach_feature(Refuse())
    before = str(fgraph)
    inner = fgraph.outputs[0].owner.inputs[0]
    with pytest.raises(InconsistencyError, match="no"):
        fgraph.replace_all_validate({fgraph.outputs[0]: fgraph.inputs[0], inner: fgraph.inputs[0]})
    assert str(fgraph) == before
    fgraph.check_integrity()


def test_types_are_kept():
    x, y = chain(1)
    fgraph = FunctionGraph([x], [y])
    with pytest.raises(TypeError, match="in the place of"):
        fgraph.change_input(fgraph.outputs[0].owner, 0, type(number)("other")("w"))


def test_a_constant_may_serve_many_graphs():
    shared = Constant(number, 5)
    for _ in range(3):
        x = number("x")
        fgraph = FunctionGraph([x], [add(x, 1)])
        fgraph.replace(fgraph.outputs[0], add(fgraph.inputs[0], shared))
        fgraph.check_integrity()
    fgraph.replace(fgraph.outputs[0], shared)
    fgraph.check_integrity()


@pytest.mark.parametrize("copied", [True, False])
def test_a_constant_that_expressions_share_joins_no_graph(copied):
    """A graph notes in a variable who uses it, and would be kept by it for ever."""
    x, shared = number("x"), Constant(number, 1)
    shared.cached = True
    graphs = [FunctionGraph([y], [add(y, shared), shared], clone=copied) for y in (x, number("y"))]
    for graph in graphs:
        (node,) = graph.apply_nodes
        assert node.inputs[1] is not shared and graph.outputs[1] is not shared
        assert not node.inputs[1].cached and node.inputs[1].equals(shared)
        graph.replace(graph.outputs[0], shared)
        assert graph.outputs[0].equals(shared) and graph.outputs[0] is not shared
        graph.check_integrity()
    assert shared.fgraph is None and not shared.clients


def test_features_hear_everything():
    heard = []

    class Listen(Feature):
        def on_import(self, fgraph, node, reason):
            heard.append(("in", str(node.op), reason))

        def on_prune(self, fgraph, node, reason):
            heard.append(("out", str(node.op), reason))

        def on_change_input(self, fgraph, node, i, r, new_r, reason=None):
            heard.append(("change", i, reason))

    x, y = chain(1)
    fgraph = FunctionGraph([x], [y])
    fgraph.attach_feature(Listen())
    fgraph.replace(fgraph.outputs[0], view(fgraph.inputs[0]), reason="why not")
    assert heard == [("in", "view", "why not"), ("change", 0, "why not"), ("out", "add", "why not")]


def test_node_finder_follows():
    x, y = chain(3)
    fgraph = FunctionGraph([x], [y])
    finder = NodeFinder()
    fgraph.attach_feature(finder)
    fgraph.attach_feature(ReplaceValidate())
    assert len(finder.get_nodes(add)) == 3
    fgraph.replace_validate(fgraph.outputs[0], view(fgraph.inputs[0]))
    assert finder.get_nodes(add) == [] and len(finder.get_nodes(view)) == 1


def test_copies_are_equal_and_independent():
    x, y = chain(6)
    fgraph = FunctionGraph([x], [y, x])
    copy, memo = fgraph.clone_get_equiv(check_integrity=True)
    assert memo[fgraph.outputs[0]] is copy.outputs[0]
    assert equal_computations(fgraph.outputs, copy.outputs, fgraph.inputs, copy.inputs)
    copy.replace(copy.outputs[0], copy.inputs[0])
    assert len(fgraph.apply_nodes) == 6


def test_ten_thousand_nodes_in_a_row():
    x, y = chain(10_000)
    fgraph = FunctionGraph([x], [y])
    assert len(fgraph.toposort()) == 10_000
    fgraph.clone(check_integrity=True)
    assert explicit_inputs([y]) == [x] and len(list(ancestors([y]))) == 20_001
    assert "..." in str(fgraph)


@pytest.mark.parametrize("seed", range(5))
def test_random_changes_keep_the_graph_whole(seed):
    rng = random.Random(seed)
    inputs = [number(f"x{i}") for i in range(3)]
    pool = list(inputs)
    for _ in range(40):
        pool.append(add(rng.choice(pool), rng.choice(pool)))
    fgraph = FunctionGraph(inputs, pool[-3:])
    for _ in range(60):
        order = {v: i for i, v in enumerate([*fgraph.inputs, *(o for n in fgraph.toposort() for o in n.outputs)])}
        old = rng.choice(list(order))
        # Only what comes earlier can stand in without making a cycle.
        earlier = [v for v in order if order[v] <= order[old]]
        fgraph.replace(old, rng.choice([add(rng.choice(earlier), 1), rng.choice(earlier)]) if old.owner else old)
        fgraph.check_integrity()
        assert set(toposort(fgraph.outputs)) == fgraph.apply_nodes


def test_users_are_a_list_to_whoever_looks_at_them():
    x, y = number("x"), number("y")
    first, second = add(x, y), add(y, x)
    fgraph = FunctionGraph([x, y], [first, second], clone=False)
    users = [(first.owner, 0), (second.owner, 1)]
    assert x.clients == users and users == x.clients and x.clients != users[:1] and fgraph.clients[x] == users
    assert [x.clients[0], x.clients[-1], *x.clients[1:]] == [users[0], users[1], users[1]]
    assert users[1] in x.clients and x.clients.index(users[1]) == 1 and list(reversed(x.clients)) == users[::-1]
    assert operator.add(x.clients, [1]) == [*users, 1]
    assert operator.add([1], x.clients) == [1, *users] and x.clients.copy() == users
    assert repr(x.clients) == repr(users)
    with pytest.raises(IndexError, match="no user 2"):
        x.clients[2]
    with pytest.raises(ValueError, match="no user of the variable"):
        x.clients.remove(("output", 0))
    copied = pickle.loads(pickle.dumps(fgraph))
    copied.check_integrity()
    assert len(copied.inputs[0].clients) == 2


def test_the_order_of_nodes_stays_while_listeners_come_and_go():
    """Unless they have a say in it themselves."""
    x, y = chain(3)
    fgraph = FunctionGraph([x], [y])
    order, version = fgraph._order or fgraph.toposort(), fgraph.version
    known = fgraph._order
    listener = Feature()
    fgraph.attach_feature(listener)
    fgraph.remove_feature(listener)
    assert fgraph._order is known and fgraph.version == version and fgraph.toposort() == order

    class Turned(Feature):
        def orderings(self, fgraph):
            return {}

    turned = Turned()
    for change in (fgraph.attach_feature, fgraph.remove_feature):
        fgraph.toposort()
        change(turned)
        assert fgraph._order is None
