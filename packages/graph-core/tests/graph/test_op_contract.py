"""What an op may tell about itself: defaults, answers of a class, answers that are set on an op."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import isfunction, signature
from typing import Any

import pytest

from theano.errors import MethodNotDefined
from theano.graph import Apply, FunctionGraph, Op, Variable, generic
from theano.graph.c_contract import CLinkerObject
from theano.graph.canonical import is_ours
from theano.graph.op_contract import OpContract, answers
from theano.graph.type import Generic, ParamsType, Type

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
    said = {name: getattr(op, name) for name in vars(OpContract)["__annotations__"]}
    assert said == {
        "view_map": {}, "views_contiguous": False, "destroy_map": {}, "destroyhandler_tolerate_same": (),
        "destroyhandler_tolerate_aliased": (), "commutative": False, "associative": False, "lazy": None, "is_length": False,
        "priority": 0, "moves_only": False, "slopes_of_whole": False, "linear_in": None, "shapes": None, "check_input": None, "params_type": None, "default_output": None,
        "inner_profiles": (),
    }  # fmt: skip
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


@pytest.mark.parametrize(("linear_in", "moving", "wanted"), [
    ((), {0, 1, 2}, None), ((0,), {1, 2}, None), ((0, 2), {0}, "o(u0, x1, x2)"), ((0, -1), {0, 2}, "o(u0, x1, x2) + o(x0, x1, u2)"),
    ((slice(1, None),), {2}, "o(x0, 0, u2)"), ((0, slice(1, None)), {0, 1, 2}, "o(u0, x1, x2) + o(x0, u1, u2)"),
])  # fmt: skip
def test_directions_of_what_is_linear_in_some_inputs(linear_in: Any, moving: set[int], wanted: str | None) -> None:
    class Text(Variable[Any]):
        def zeros_like(self) -> Any:
            return text("0")

        def __add__(self, other: Any) -> Any:
            return text(f"{self.name} + {other.name}")

    def text(name: str) -> Any:
        return Text(generic, None, None, name)

    class Linear(Silent):
        def make_node(self, *inputs: Any) -> Apply[Any, Any]:
            return Apply(self, inputs, [text(f"{name}({', '.join(v.name for v in inputs)})") for name in "op"])

    op, inputs = Linear(), [text(f"x{k}") for k in range(3)]
    op.linear_in = linear_in
    assert answers(op, "R_op") and not answers(Silent(), "R_op")
    found = op.R_op(inputs, [text(f"u{k}") if k in moving else None for k in range(3)])
    assert [None if v is None else v.name for v in found] == [wanted, wanted and wanted.replace("o(", "p(")]


@pytest.mark.parametrize(("method", "statement"), [("R_op", "linear_in"), ("infer_shape", "shapes")])
def test_a_statement_counts_more_than_what_is_inherited_and_less_than_a_method(method: str, statement: str) -> None:
    own = {method: lambda self, *args: "said"}
    stated = type("Stated", (type("Base", (Silent,), own),), {statement: () if statement == "linear_in" else "->,"})
    x = generic()
    arguments = (stated().make_node(x), [()]) if method == "infer_shape" else ([x], [x])
    assert getattr(stated(), method)(*arguments) == ([None, None] if method == "R_op" else [(), ()])
    assert getattr(type("Below", (stated,), own)(), method)(*arguments) == "said"


@pytest.mark.parametrize(("statement", "kept"), [
    ("shapes", [(2, 3)]), ("shapes", "2x3"), ("linear_in", [0]), ("linear_in", "time"), ("linear_in", ("t",)),
])  # fmt: skip
def test_an_attribute_of_that_name_that_states_nothing_is_left_alone(statement: str, kept: Any) -> None:
    method = {"shapes": "infer_shape", "linear_in": "R_op"}[statement]
    late = Silent()
    setattr(late, statement, kept)
    assert not answers(late, method)
    own = {method: lambda self, *args: "said"}
    op = type("Mine", (type("Base", (Silent,), own),), {statement: kept})()
    assert answers(op, method) and getattr(op, method)(None, None) == "said"
    if statement == "shapes":
        assert late.infer_shape(late.make_node(generic()), [()]) == [None, None]
    else:
        with pytest.raises(MethodNotDefined):
            late.R_op([generic()], [generic()])


def test_type_parameters_are_for_checkers_alone() -> None:
    x = generic("x")
    node = Silent().make_node(x)
    assert Variable[Any](generic).type is generic
    assert type(x) is Variable and type(node) is Apply
    assert not hasattr(x, "__orig_class__") and not hasattr(node, "__orig_class__")


def below(cls: type) -> Iterator[type]:
    for sub in cls.__subclasses__():
        yield sub
        yield from below(sub)


def defaults(method: Any) -> dict[str, Any]:
    return {p.name: p.default for p in signature(method).parameters.values()} if isfunction(method) else {}


def test_what_a_call_leaves_out_means_the_same_for_each_type_and_op() -> None:
    seen = 0
    for cls in {Type, Op, *below(CLinkerObject)}:
        for name, method in vars(cls).items():
            base = next((vars(c)[name] for c in cls.__mro__[1:-1] if name in vars(c)), None)
            if is_ours(cls.__module__) and not name.startswith("_"):
                said, wanted = defaults(method), defaults(base)
                assert said == {**said, **{k: v for k, v in wanted.items() if k in said}}, f"{cls.__module__}.{cls.__name__}.{name}"
                seen += bool(wanted)
    assert seen > 25


class Asks(Generic):
    """A type that needs something for each question about compiling, of which two types may ask for the same."""

    __props__ = ("number",)

    def __init__(self, number: int):
        self.number = number


GATHERED = ("c_headers", "c_header_dirs", "c_libraries", "c_lib_dirs", "c_compile_args", "c_no_compile_args", "c_init_code")


@pytest.mark.parametrize("method", [*GATHERED, "c_support_code"])
def test_parameters_need_what_their_types_need(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(self: Asks, c_compiler: str) -> Any:
        return f"text {self.number}" if self.number == 1 else [c_compiler, f"part {self.number}"] if self.number else None

    monkeypatch.setattr(Asks, method, answer)
    kind = ParamsType(a=Asks(0), b=Asks(1), c=Asks(2), d=Asks(3))
    found = getattr(kind, method)(c_compiler="cc")
    assert found[:4] == ["text 1", "cc", "part 2", "part 3"] and len(found) == 4 + (method == "c_support_code")


@pytest.mark.parametrize("name", ["view_map", "destroy_map"])
@pytest.mark.parametrize(("declared", "problem"), [
    ({2: [0]}, "2 is the number of no output"), ({-1: [0]}, "-1 is the number of no output"),
    ({"a": [0]}, "'a' is the number of no output"), ({0: [1]}, "1 is the number of no input"),
    ({0: [-1]}, "-1 is the number of no input"), ({0: ["x"]}, "'x' is the number of no input"),
    ({0: [0, None]}, "None is the number of no input"), ({0: 0}, "output 0 maps to 0, which is not a list of inputs"),
    ({0: {0}}, "output 0 maps to "), ([0], "it is of type list"), ("abc", "it is of type str"),
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
