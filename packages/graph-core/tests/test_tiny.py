"""A tour of this layer in one file: a type, an op, an expression, its derivative, a function, state, printing.

Nothing here needs another layer, a compiler or an array: it is all the machinery, at work on plain numbers.
"""

import pytest

import theano
from theano.graph import Apply, Op, Type


class Number(Type):
    """The type of whole and broken numbers."""

    __props__ = ()

    def filter(self, value, strict=False, allow_downcast=None):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
        raise TypeError(f"{value!r} is no number")


number = Number()


class Arithmetic(Op):
    """One operation on numbers, with its derivative."""

    __props__ = ("sign",)

    def __init__(self, sign):
        self.sign = sign

    def make_node(self, *inputs):
        return Apply(self, [number.filter_variable(v) for v in inputs], [number()])

    def perform(self, node, inputs, output_storage):
        a, b = inputs
        output_storage[0][0] = a + b if self.sign == "+" else a * b

    def grad(self, inputs, output_grads):
        (g,), (a, b) = output_grads, inputs
        return [g, g] if self.sign == "+" else [times(g, b), times(g, a)]

    def __str__(self):
        return "plus" if self.sign == "+" else "times"


plus, times = Arithmetic("+"), Arithmetic("*")


@pytest.fixture
def x():
    return number("x")


def test_an_expression_is_a_graph(x):
    y = plus(times(x, x), 3)
    assert y.owner.op == plus and y.owner.inputs[0].owner.op == times
    assert y.owner.inputs[1].data == 3
    assert theano.printing.debugprint(y, file="str").splitlines()[1] == " |times [id B] ''   "


def test_a_function_computes_it(x):
    f = theano.function([x], plus(times(x, x), 3))
    assert f(2) == 7 and f(x=0.5) == 3.25


def test_the_graph_is_rewritten(x):
    square = times(x, x)
    f = theano.function([x], plus(square, times(x, x)))
    assert len(f.maker.fgraph.toposort()) == 2, "x * x is computed once"


def test_state_lives_between_calls(x):
    from theano.compile import SharedVariable

    total = SharedVariable("total", number, 0, strict=False)
    add = theano.function([x], total, updates=[(total, plus(total, x))])
    assert [add(1), add(10), add(100)] == [0, 1, 11] and total.get_value() == 111


def test_errors_name_the_line(x):
    f = theano.function([x], plus(x, x), name="double")
    with pytest.raises(TypeError) as caught:
        f("two")
    text = str(caught.value)
    assert "'x'" in text and "double" in text and "Number" in text and __file__ in text


def test_a_function_without_all_its_inputs(x):
    y = number("y")
    with pytest.raises(theano.errors.MissingInputError, match="the variable y of type Number"):
        theano.function([x], plus(x, y))
    with pytest.raises(theano.errors.UnusedInputError, match="the input y"):
        theano.function([x, y], x)


def test_expressions_can_be_exchanged(x):
    y = number("y")
    z = times(x, y)
    assert theano.function([x], z, givens={y: plus(x, x)})(3) == 18
    assert z.eval({x: 2, y: 5}) == 10
