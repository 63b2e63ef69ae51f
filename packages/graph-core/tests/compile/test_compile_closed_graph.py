"""From what users write to a closed graph: each form of it, what is refused, and what errors say."""

from __future__ import annotations

import inspect

import pytest
from rows import Row, plus, row

import theano
from theano import In, function
from theano.compile.closed_graph import check_unused, close_graph
from theano.compile.shared import SharedVariable
from theano.errors import MissingInputError, UnusedInputError
from theano.graph import Apply, Op


def shared_row(value, name=None):
    return SharedVariable(name, row, list(value), strict=False)


def untraced(name):
    """Return a variable of which nobody knows where it was made."""
    v = row(name)
    v.tag.trace = ()
    return v


def defaults(called):
    return {p.name: p.default for p in inspect.signature(called).parameters.values() if p.default is not p.empty}


def test_what_is_left_out():
    assert defaults(close_graph) == {
        "updates": None, "givens": None, "no_default_updates": False, "rebuild_strict": True,
        "allow_input_downcast": None, "function": "the function",
    }  # fmt: skip


def test_a_shared_variable_is_an_input_that_nobody_gives():
    """Its memory may be lent, and is written over only where the value is replaced."""
    x, s, t = row("x"), shared_row([1.0], "s"), shared_row([2.0], "t")
    closed = close_graph([x], plus(plus(s, x), t), updates=[(t, plus(t, x))])
    assert [(i.name, i.implicit, i.shared, i.borrow, i.mutable) for i in closed.inputs] == [
        ("x", False, False, False, False), ("s", True, True, True, False), ("t", True, True, True, False),
    ]  # fmt: skip
    assert [i.update is not None for i in closed.inputs] == [False, False, True]
    assert closed.shared == [s, t] and [i.value for i in closed.inputs] == [None, s.container, t.container]
    copies = [i.variable for i in closed.inputs]
    assert closed.originals == dict(zip(copies, [x, s, t], strict=True)) and not {x, s, t} & {*copies}
    assert [node.op for node in closed.nodes] == [plus] * 3 and closed.returns == "one" and closed.keys is None


def test_an_input_with_an_update_keeps_it():
    x, y = row("x"), row("y")
    closed = close_graph([x, In(y, value=[0.0], update=plus(x, y))], y)
    updates = [i.update for i in closed.inputs]
    assert updates[0] is None and updates[1].owner.inputs == [i.variable for i in closed.inputs]


@pytest.mark.parametrize("given", [None, True, False])
@pytest.mark.parametrize("for_all", [None, True, False])
def test_what_an_input_says_of_precision_goes_before_what_the_function_says(given, for_all):
    x, y = row("x"), row("y")
    closed = close_graph([In(x, allow_downcast=given), y], plus(x, y), allow_input_downcast=for_all)
    assert [i.allow_downcast for i in closed.inputs] == [for_all if given is None else given, for_all]


# -- what is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [
    lambda s, x: ((s,),), lambda s, x: ((s, x, x),), lambda s, x: (s, x), lambda s, x: ("no", "pair"), lambda s, x: ((s, x), s),
])  # fmt: skip
def test_updates_come_in_pairs(make):
    x, s = row("x"), shared_row([0.0], "s")
    with pytest.raises(TypeError, match="is not a .shared variable, expression. pair"):
        close_graph([x], x, updates=make(s, x))


@pytest.mark.parametrize("without", [3, "s", 0, None])
def test_default_updates_are_left_out_of_all_or_of_listed_ones(without):
    with pytest.raises(TypeError, match="no_default_updates is True, False or a list"):
        close_graph([], shared_row([0.0], "s"), no_default_updates=without)


@pytest.mark.parametrize(("make", "where"), [(row, True), (untraced, False)])
def test_a_variable_without_a_value_is_named_with_who_needs_it_and_where_it_was_made(make, where):
    x, y = row("x"), make("y")
    for outputs, user in ((plus(x, y), " plus needs it."), ([x, y], "")):
        with pytest.raises(MissingInputError) as caught:
            close_graph([x], outputs, function="total")
        text = str(caught.value).partition("Add it to the inputs")[0]
        assert ("created at" in text) == where and (__file__ in text) == where
        assert text.startswith("the variable y of type Row(float)") and text.endswith(f"neither an input of total nor given a value.{user} ")


@pytest.mark.parametrize(("make", "where"), [(row, True), (untraced, False)])
def test_an_argument_that_nothing_needs_is_named(make, where):
    x, y = row("x"), make("y")
    closed = close_graph([x, In(y, name="other")], x)
    with pytest.raises(UnusedInputError) as caught:
        check_unused(closed, "raise", "total")
    text = str(caught.value)
    made = f", created at {__file__}" if where else ") of total"
    assert text.startswith(f"the input other (number 1, of type Row(float){made}") and ") of total is not used" in text
    said = []
    check_unused(closed, "warn", "total", said.append)
    assert said == [text]
    check_unused(closed, "ignore", "total", said.append)
    assert said == [text]
    nameless = In(y, autoname=False)
    with pytest.raises(UnusedInputError, match=r"the input y \(number 0"):
        check_unused(close_graph([nameless, x], x), "raise")


def test_what_nobody_gives_and_what_is_updated_need_not_be_used():
    x, y, s = row("x"), row("y"), shared_row([0.0], "s")
    for given in (In(y, value=s), In(y, value=[0.0], update=x), In(y, value=s, update=x)):
        check_unused(close_graph([given, x], x), "raise")
    # What only an update needs is used.
    for more in ({"updates": [(s, plus(s, y))]}, {"updates": {s: y}}):
        check_unused(close_graph([x, y], x, **more), "raise")
    check_unused(close_graph([In(x, value=[0.0], update=plus(x, y)), y], []), "raise")


# -- replacing ------------------------------------------------------------------------------------------------------------


def test_replacements_speak_of_what_was_before():
    """What stands for a variable is the graph as written; what is computed then is the replaced one, alike or not."""
    s, y = shared_row([1.0], "s"), row("y")
    double = plus(s, s)
    f = function([], [double, y, plus(double, y)], givens={s: double, y: double})
    assert f() == [[4.0], [2.0], [6.0]]
    middle, x = plus(y, y), row("x")
    f = function([middle, x], [plus(middle, x), plus(y, x)], givens={y: plus(middle, x)})
    assert f([5.0], [1.0]) == [[6.0], [7.0]]


@pytest.mark.parametrize("strict", [True, False])
def test_a_value_that_replaces_becomes_a_constant(strict):
    x, y = row("x"), row("y")
    assert function([x], plus(x, y), givens={y: [7.0]}, rebuild_strict=strict)([1.0]) == [8.0]


class Remade(Op):
    """Counts how often it is applied anew."""

    __props__ = ()
    made = 0

    def make_node(self, x):
        Remade.made += 1
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0]


@pytest.mark.parametrize(("other", "strict", "made"), [(row, True, 0), (row, False, 0), (Row(float, 2), False, 1)])
def test_nodes_are_made_anew_where_types_change(other, strict, made):
    x, given = row("x"), other("given")
    out = Remade()(x)
    Remade.made = 0
    closed = close_graph([given], out, givens={x: given}, rebuild_strict=strict)
    assert Remade.made == made and closed.outputs[0].variable.type == other
    assert [node.outputs for node in closed.nodes] == [[closed.outputs[0].variable]]


# -- default updates ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset])
def test_each_variable_has_its_own_default_update(kind):
    """One that has none, or is exempt, or has another update, says nothing of those behind it."""
    plain, exempt, other, last = variables = [shared_row([float(k)], name) for k, name in enumerate("abcd")]
    for v in variables[1:]:
        v.default_update = plus(v, v)
    total = plus(plus(plain, exempt), plus(other, last))
    closed = close_graph([], total, updates=[(other, plain)], no_default_updates=kind([exempt]))
    updates = {i.name: i.update for i in closed.inputs}
    copies = {i.name: i.variable for i in closed.inputs}
    assert updates["a"] is updates["b"] is None and updates["c"] is copies["a"]
    assert updates["d"].owner.inputs == [copies["d"]] * 2
    assert all(i.update is None for i in close_graph([], total, no_default_updates=True).inputs)
    assert [i.name for i in close_graph([], total).inputs if i.update is not None] == ["b", "c", "d"]


def test_an_update_brings_its_own_variables():
    s, t, u = shared_row([0.0], "s"), shared_row([1.0], "t"), shared_row([2.0], "u")
    s.default_update, t.default_update = t, u
    closed = close_graph([], s)
    assert closed.shared == [s, t, u] and [i.update is not None for i in closed.inputs] == [True, True, False]
    s.default_update = None
    assert close_graph([], s).shared == [s]
    s.default_update = theano.generic("g")
    with pytest.raises(TypeError, match="the update of the shared variable s must be of its type"):
        close_graph([], s)
