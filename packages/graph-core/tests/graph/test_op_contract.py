"""What an op may tell about itself: defaults, answers of a class, answers that are set on an op."""

from __future__ import annotations

from typing import Any

import pytest

from theano.errors import MethodNotDefined
from theano.graph import Apply, FunctionGraph, Op, Variable, generic
from theano.graph.op_contract import OpContract, answers

METHODS = sorted(name for name, value in vars(OpContract).items() if callable(value) and not name.startswith("_"))


class Silent(Op):
    """An op that says nothing about itself."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(self, list(inputs), [generic(), generic()])


def test_an_op_that_says_nothing_answers_nothing_of_its_own() -> None:
    assert len(METHODS) > 8
    assert not [method for method in METHODS if answers(Silent(), method)]


def test_the_defaults_are_those_that_cost_nothing() -> None:
    node = Silent().make_node(generic("x"), generic("y"), generic("z"))
    op = node.op
    assert op.connection_pattern(node) == [[True, True]] * 3
    assert op.infer_shape(node, [(), (), ()]) == [None, None]
    assert op.static_value(node, 0, None) is op.static_length(node, 0) is op.static_element(node, 0, None) is None
    assert op.do_constant_folding(node) and op.checked_inputs(node) is None
    assert (op.view_map, op.destroy_map, op.default_output, op.lazy, op.is_length) == ({}, {}, None, None, False)
    for method, arguments in (("grad", (node.inputs, node.outputs)), ("R_op", (node.inputs, node.inputs))):
        with pytest.raises(MethodNotDefined):
            getattr(op, method)(*arguments)


@pytest.mark.parametrize("method", METHODS)
def test_an_answer_may_be_inherited_mixed_in_or_set_on_the_op(method: str) -> None:
    mixin = type("Mixin", (), {method: lambda self, *args: None})
    assert answers(type("Mixed", (mixin, Silent), {})(), method)
    assert answers(type("Inherited", (type("Own", (Silent,), {method: lambda self, *args: None}),), {})(), method)
    late = type("Late", (Silent, mixin), {})
    assert answers(late(), method) and answers(type("Later", (late,), {})(), method)
    op = Silent()
    setattr(op, method, lambda *args: None)
    assert answers(op, method) and not answers(Silent(), method)


def test_type_parameters_are_for_checkers_alone() -> None:
    x = generic("x")
    node = Silent().make_node(x)
    assert Variable[Any](generic).type is generic
    assert type(x) is Variable and type(node) is Apply
    assert not hasattr(x, "__orig_class__") and not hasattr(node, "__orig_class__")


@pytest.mark.parametrize("name", ["view_map", "destroy_map"])
@pytest.mark.parametrize(("declared", "problem"), [
    ({2: [0]}, "2 is the number of no output"), ({-1: [0]}, "-1 is the number of no output"),
    ({"a": [0]}, "'a' is the number of no output"), ({0: [1]}, "1 is the number of no input"),
    ({0: [-1]}, "-1 is the number of no input"), ({0: ["x"]}, "'x' is the number of no input"),
    ({0: [0, None]}, "None is the number of no input"), ({0: 0}, "for output 0 there is no list of inputs but 0"),
    ({0: {0}}, "for output 0 there is no list"), ([0], "it is of type list"), ("abc", "it is of type str"),
])  # fmt: skip
def test_maps_that_name_what_a_node_does_not_have(name: str, declared: Any, problem: str) -> None:
    """The message has op, node, line and what to write; the graph takes the node in no more than before."""
    op = type("Careless", (Silent,), {name: declared})()
    x = generic("x")
    wrong = op(x)[0]
    with pytest.raises(TypeError) as error:
        FunctionGraph([x], [wrong], clone=False)
    said = str(error.value)
    assert all(part in said for part in (f"Careless.{name}", problem, "Careless(x)", "1 inputs and 2 outputs", "{0: [0]}"))
    assert f"{__file__}:" in said
    op = Silent()
    setattr(op, name, {0: (0,), 1: []})
    FunctionGraph([x], op(x), clone=True)


def test_working_space_belongs_to_no_output() -> None:
    op = Silent()
    op.destroy_map = {None: [0]}
    FunctionGraph([x := generic("x")], op(x), clone=True)
    op.view_map, op.destroy_map = {None: [0]}, {}  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="None is the number of no output"):
        FunctionGraph([x], op(x), clone=True)
