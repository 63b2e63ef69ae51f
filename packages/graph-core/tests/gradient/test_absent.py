"""What stands for a gradient that is not there, and the words in which errors speak of expressions."""

import pytest
from smooth import add, pair, real, sin, vector

from theano.compile import function
from theano.errors import NullTypeGradError
from theano.gradient import DisconnectedType, NullType, disconnected_type, grad_not_implemented, grad_undefined
from theano.gradient.absent import (
    connection_pattern,
    describe,
    expression,
    is_disconnected,
    is_discrete,
    is_null,
    stand_in,
)
from theano.graph import Apply, Op, generic
from theano.settings import config


class Wired(Op):
    """An op of two inputs and two outputs that says of its connections what it is told to say."""

    __props__ = ("answer",)

    def __init__(self, answer):
        self.answer = answer

    def make_node(self, x, y):
        return Apply(self, [x, y], [real(), real()])

    def connection_pattern(self, node):
        return self.answer


def test_kinds_of_absence():
    number, apart, null = real("x"), disconnected_type(), grad_undefined(sin, 0, real("x"))
    assert [is_disconnected(v) for v in (None, number, apart, null)] == [False, False, True, False]
    assert [is_null(v) for v in (None, number, apart, null)] == [False, False, False, True]
    for type_ in (DisconnectedType(), NullType("why")):
        with pytest.raises((AssertionError, ValueError), match="gradient"):
            type_.filter(1.0)


@pytest.mark.parametrize(("make", "what"), [(grad_undefined, "undefined"), (grad_not_implemented, "not implemented")])
def test_why_there_is_none(make, what):
    x = real("x")
    assert make(sin, 3, x).type.why_null == f"the gradient of sin with respect to its input 3 (x) is {what}"
    assert make(sin, 3, x, "so it is").type.why_null.endswith(f"is {what}: so it is")


@pytest.mark.parametrize("make", [grad_undefined, grad_not_implemented])
def test_a_function_of_none_says_why(make):
    x = real("x")
    with pytest.raises(NullTypeGradError, match=r"f needs a gradient that does not exist, because the gradient of sin with"):
        function([x], make(sin, 0, x), name="f", on_unused_input="ignore")


def test_what_a_caller_wants_to_see():
    x = real("x")
    assert str(stand_in(x, "zero").owner.op) == "zero"
    assert stand_in(x, "none") is None
    assert is_disconnected(stand_in(x, "disconnected"))


def test_discrete_types_are_told_by_their_dtype():
    assert not is_discrete(generic) and not is_discrete(real)
    for dtype, wanted in (("bool", True), ("int8", True), ("uint64", True), ("float16", False), ("complex64", False)):
        assert is_discrete(type(real)(dtype)) is wanted


def test_the_connections_of_an_op_have_the_size_of_its_node():
    x, y = real("x"), real("y")
    assert connection_pattern(add(x, y).owner) == [[True], [True]]
    assert connection_pattern(pair(x, y)[0].owner) == [[True, False], [False, True]]
    good = [[True, False], [False, False]]
    assert connection_pattern(Wired(good)(x, y)[0].owner) == good
    for bad in ([[True, True]], [[True, True], [True]], [[True]] * 2, [[True, True]] * 3):
        with pytest.raises(ValueError, match="a list of 2 booleans for each of the 2 inputs"):
            connection_pattern(Wired(bad)(x, y)[0].owner)


def test_expressions_in_errors_are_cut_in_depth_and_width():
    x = real("x")
    nested = [x]
    for _ in range(5):
        nested.append(sin(nested[-1]))
    assert [expression(v) for v in nested] == [
        "x",
        "sin(x)",
        "sin(sin(x))",
        "sin(sin(sin(x)))",
        "sin(sin(sin(...)))",
        "sin(sin(sin(...)))",
    ]
    assert expression(nested[2], 1) == "sin(...)" and expression(nested[1], 0) == "..."
    nested[3].name = "inner"
    assert expression(nested[5]) == "sin(sin(inner))"
    for count, more in ((4, ""), (5, ""), (6, ", ..."), (7, ", ...")):
        shown = ", ".join(f"v{i}" for i in range(min(count, 5)))
        assert expression(add(*(real(f"v{i}") for i in range(count)))) == f"add({shown}{more})"


def test_a_description_has_the_source_line_where_one_is_known():
    assert describe(vector("v")).startswith("v : float64[1], written at ")
    with config.change_flags(traceback__limit=0):
        assert describe(vector("v")) == "v : float64[1]"
