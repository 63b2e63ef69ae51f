"""Graphs as tables: what is read from a table gives the same table again."""

from __future__ import annotations

from typing import Any

import pytest

from theano.graph import Apply, Op, Variable, generic
from theano.graph.table import table_of
from theano.graph.variable import Constant


class Fork(Op):
    __props__ = ("n",)

    def __init__(self, n: int):
        self.n = n

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(self, list(inputs), [generic(f"{len(inputs)}.{k}") for k in range(self.n)])


def look(v: Variable) -> tuple[Any, ...]:
    return type(v), v.name


def made(look: tuple[Any, ...], value: Any) -> Variable:
    cls, name = look
    return cls(generic, value, name=name) if issubclass(cls, Constant) else cls(generic, None, None, name)


def graphs() -> dict[str, tuple[list[Variable], list[Variable]]]:
    x, y, c, none = generic("x"), generic("y"), Constant(generic, 3), Constant(generic, None, name="none")
    a, b = Fork(2)(x, c, x)
    (d,) = [Fork(1)(b, a, none)]
    return {
        "nothing": ([], []), "an input": ([x, y], [y, x, y]), "a constant": ([], [c, none, c]), "unused": ([y, x], [a]),
        "several results": ([x], [b, d, a]), "in the middle": ([x, a], [Fork(1)(a, x)]), "twice": ([x], [d, d]),
    }  # fmt: skip


@pytest.mark.parametrize("name", graphs())
def test_a_table_gives_the_graph_that_it_was_made_of(name: str) -> None:
    inputs, outputs = graphs()[name]
    table = table_of(inputs, outputs, look)
    new_inputs, new_outputs = table.graph(made)
    assert not {*new_inputs, *new_outputs} & {*inputs, *outputs} and [v.name for v in new_inputs] == [v.name for v in inputs]
    assert table_of(new_inputs, new_outputs, look) == table
    assert table.n_inputs == len(inputs) and len(table.outputs) == len(outputs)


def test_leaves_and_results_have_numbers_of_their_own() -> None:
    x, y = generic("x"), generic("y")
    a, b = Fork(2)(y, x)
    c = Fork(1)(b, Constant(generic, 5))
    table = table_of([x, y], [c, x], look)
    assert table.leaves == [((Variable, "x"), None), ((Variable, "y"), None), ((Constant, None), 5)]
    assert [(op.n, operands) for op, operands, _ in table.nodes] == [(2, [-2, -1]), (1, [1, -3])]
    assert table.outputs == [2, -1]


def test_nodes_in_a_wrong_order_are_refused() -> None:
    x = generic("x")
    one = Fork(1)(x)
    two = Fork(1)(one)
    with pytest.raises(ValueError, match="before it is computed"):
        table_of([x], [two], look, [two.owner, one.owner])
