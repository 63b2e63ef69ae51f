"""pp: formulas, and the printers that layers assign."""

import pytest

from theano.graph import Apply, Op, generic
from theano.printing import (
    FunctionPrinter,
    IgnorePrinter,
    OperatorPrinter,
    PatternPrinter,
    PPrinter,
    PrinterState,
    one_line,
    pp,
    pprint,
)


class Named(Op):
    __props__ = ("name",)

    def __init__(self, name, outputs=1):
        self.name, self.outputs = name, outputs

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [generic() for _ in range(self.outputs)])

    def __str__(self):
        return self.name


add, neg, gt, fill, cast, split = (Named(n) for n in ("Add", "Neg", "Gt", "Fill", "Cast", "Split"))
split.outputs = 2


@pytest.fixture
def pretty():
    printer = PPrinter()
    printer.assign(add, OperatorPrinter("+", -2, "either"))
    printer.assign(neg, OperatorPrinter("-", 0, "either"))
    printer.assign(gt, FunctionPrinter("gt"))
    printer.assign(fill, PatternPrinter("fill(%(0)s by %(1)s)"))
    printer.assign(cast, IgnorePrinter())
    printer.assign(split, FunctionPrinter("first", "second"))
    return printer


@pytest.fixture
def xy():
    return generic("x"), generic("y")


def test_without_assignments(xy):
    x, y = xy
    assert pp(add(x, neg(y))) == "Add(x, Neg(y))"
    assert pp(x) == "x"
    assert pp(generic()) == "<Generic>"
    assert pp(split(x)[1]) == "Split.1(x)"


def test_operators_are_in_parentheses(pretty, xy):
    x, y = xy
    assert pretty(add(x, neg(y), x)) == "(x + (-y) + x)"


def test_functions_patterns_and_what_is_left_out(pretty, xy):
    x, y = xy
    assert pretty(gt(cast(x), add(x, y))) == "gt(x, (x + y))"
    assert pretty(fill(x, y)) == "fill(x by y)"
    assert [pretty(v) for v in split(x)] == ["first(x)", "second(x)"]


def test_conditions_and_classes(pretty, xy):
    x, y = xy
    other = pretty.clone_assign(lambda state, v: v.name == "y", FunctionPrinter("never"))
    with pytest.raises(TypeError, match="nothing computes y"):
        other(y)
    assert pretty.clone_assign(Named, FunctionPrinter("f"))(Named("new")(x)) == "f(x)"
    with pytest.raises(TypeError, match="a printer is assigned to"):
        pretty.assign(3, IgnorePrinter())
    with pytest.raises(ValueError, match="assoc is one of"):
        OperatorPrinter("+", 1, "middle")


def test_a_condition_is_asked_where_op_and_class_have_no_printer(pretty, xy):
    x, y = xy
    known = fill(add(neg(x), cast(y)), y)
    before = pretty(known)
    pretty.assign(lambda state, v: v.owner is not None, FunctionPrinter("any"))
    assert pretty(known) == before
    assert pretty(Named("other")(known)) == f"any({before})"


def test_a_state_of_the_callers(pretty, xy):
    x, y = xy
    assert pretty(add(x, y), PrinterState(pprinter=pretty)) == "(x + y)"
    assert pretty(add(x, y), PrinterState(pprinter=pretty, precedence=10)) == "(x + y)"


def test_a_clone_prints_inner_parts_too(pretty, xy):
    x, y = xy
    french = pretty.clone_assign(add, OperatorPrinter("plus", 1))
    assert french(neg(add(x, y))) == "(-(x plus y))"
    assert pretty(neg(add(x, y))) == "(-(x + y))"


def test_graphs(pretty, xy):
    x, y = xy
    z = add(x, y)
    z.name = "z"
    assert pretty([x, y], [z]) == "z = (x + y)"
    assert pretty.process_graph([x], [z, x], {x: y}, display_inputs=True).splitlines() == [
        "inputs: x, x",
        "out[0] = (x + y)",
        "out[1] = x",
        "x <- y",
    ]
    with pytest.raises(TypeError, match="pp takes"):
        pprint()


def test_deep_and_shared_expressions_end(xy):
    x, _ = xy
    y = x
    for _ in range(5000):
        y = neg(y)
    assert pp(y).count("Neg") == 101 and "..." in pp(y)
    z = x
    for _ in range(60):
        z = add(z, z)
    assert len(pp(z)) < 1_000_000


def test_one_line_fits(xy):
    x, y = xy
    z = x
    for _ in range(50):
        z = add(z, y)
    assert len(one_line(z, 40)) <= 40 and one_line(z, 40).startswith("Add(")
    assert one_line(x) == "x"
