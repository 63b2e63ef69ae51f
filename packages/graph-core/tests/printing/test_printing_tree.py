"""debugprint: the documented format, line by line."""

from io import StringIO

import pytest

from theano import function, shared
from theano.graph import Apply, FunctionGraph, Op, generic
from theano.printing import debugprint
from theano.printing.tree import letters


class Named(Op):
    __props__ = ("name",)

    def __init__(self, name, outputs=1):
        self.name, self.outputs = name, outputs

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [generic() for _ in range(self.outputs)])

    def perform(self, node, inputs, output_storage):
        for cell in output_storage:
            cell[0] = (self.name, *inputs)

    def __str__(self):
        return self.name


div, add, exp, neg, split = Named("div"), Named("add"), Named("exp"), Named("neg"), Named("split", 2)


def text(obj, **options):
    """Return the tree without the spaces at the ends of lines."""
    return [line.rstrip() for line in debugprint(obj, file="str", **options).splitlines()]


@pytest.fixture
def x():
    return generic("x")


@pytest.fixture
def logistic(x):
    one = generic("one")
    return div(one, add(one, exp(neg(x))))


def test_expression(logistic):
    assert text(logistic) == [
        "div [id A] ''",
        " |one [id B]",
        " |add [id C] ''",
        "   |one [id B]",
        "   |exp [id D] ''",
        "     |neg [id E] ''",
        "       |x [id F]",
    ]


def test_bars_go_on_beside_later_inputs(x):
    assert text(add(exp(neg(x)), neg(x))) == [
        "add [id A] ''",
        " |exp [id B] ''",
        " | |neg [id C] ''",
        " |   |x [id D]",
        " |neg [id E] ''",
        "   |x [id D]",
    ]


def test_exact_spaces(x):
    # The three spaces stand for what destroys, what views, and the position: all absent.
    assert debugprint(neg(x), file="str") == "neg [id A] ''   \n |x [id B]\n"


def test_functions_end_with_positions(x):
    f = function([x], exp(neg(x)))
    assert debugprint(f, file="str") == "exp [id A] ''   1\n |neg [id B] ''   0\n   |x [id C]\n"


def test_graphs_and_nodes_and_lists(x):
    y = neg(x)
    assert debugprint(FunctionGraph([x], [y]), file="str") == "neg [id A] ''   0\n |x [id B]\n"
    assert text(y.owner) == ["neg [id A] ''", " |x [id B]"]
    assert text([y, x]) == ["neg [id A] ''", " |x [id B]", "x [id B]"]
    with pytest.raises(TypeError, match="not a int"):
        debugprint(3)


def test_what_is_printed_once_is_not_expanded_again(x):
    y = neg(x)
    assert text(add(y, y)) == ["add [id A] ''", " |neg [id B] ''", " | |x [id C]", " |neg [id B] ''"]


def test_several_outputs(x):
    a, b = split(x)
    assert text([a, b]) == ["split.0 [id A] ''", " |x [id B]", "split.1 [id A] ''"]


def test_names_and_types(x):
    y = neg(x)
    y.name = "minus"
    assert text(y, print_type=True) == ["neg [id A] <Generic> 'minus'", " |x [id B] <Generic>"]
    assert text(exp(y), stop_on_name=True) == ["exp [id A] ''", " |neg [id B] 'minus'"]


def test_depth(logistic):
    assert text(logistic, depth=2) == ["div [id A] ''", " |one [id B]", " |add [id C] ''"]
    assert text(logistic, depth=0) == []
    with pytest.raises(TypeError, match="number of levels"):
        debugprint(logistic, depth="all")


def test_ids(x):
    y = neg(x)
    assert text(y, ids="int") == ["neg [id 0] ''", " |x [id 1]"]
    assert text(y, ids="id") == [f"neg [id {id(y.owner)}] ''", f" |x [id {id(x)}]"]
    assert text(y, ids="") == ["neg  ''", " |x"]
    with pytest.raises(ValueError, match="ids is"):
        debugprint(y, ids="roman")


def test_letters():
    assert [letters(n) for n in (0, 25, 26, 27, 51, 52, 676)] == ["A", "Z", "BA", "BB", "BZ", "CA", "BAA"]


def test_done_and_used_ids(x):
    y = neg(x)
    done = {}
    text(y, done=done)
    assert text(exp(y), done=done) == ["exp [id C] ''", " |neg [id A] ''"]
    used = {}
    text(y, used_ids=used)
    assert text(exp(y), used_ids=used) == ["exp [id C] ''", " |neg [id A] ''", "   |x [id B]"]


def test_where_it_goes(x, capsys):
    out = StringIO()
    assert debugprint(x, file=out) is out and out.getvalue() == "x [id A]\n"
    assert debugprint(x) is None
    assert capsys.readouterr().out == "x [id A]\n"


def test_clients_and_maps_and_storage(x):
    class InPlace(Named):
        destroy_map = {0: [0]}

    state = shared({"a": 1}, name="state")
    f = function([x], [neg(x), exp(neg(x)), state])
    assert "clients:[('output', 0), (1, 0)]" in debugprint(f, file="str", print_clients=True)
    assert text(InPlace("f")(x), print_destroy_map=True)[0] == "f [id A] '' d={0: [0]}"
    assert "state [id E] [{'a': 1}]" in debugprint(f, file="str", print_storage=True)


def test_deep_graphs(x):
    y = x
    for _ in range(3000):
        y = neg(y)
    assert len(text(y)) == 3001


# -- deep graphs -----------------------------------------------------------------------------------------------


def chain(n, branches=False):
    """Return n steps of an op, each on the result of the one before."""
    v = x = generic("x")
    step = Plus() if branches else Minus()
    for _ in range(n):
        v = step(v, x) if branches else step(v)
    return v


class Plus(Op):
    __props__ = ()
    itypes, otypes = [generic, generic], [generic]


class Minus(Op):
    __props__ = ()
    itypes = otypes = [generic]


@pytest.mark.parametrize("branches", [False, True])
def test_a_text_grows_as_the_graph_does(branches):
    small, large = (len(debugprint(chain(n, branches), file="str")) for n in (5_000, 10_000))
    assert large < 2.2 * small
    assert large < 200 * 10_000


def test_the_first_hundred_levels_are_indented_in_full_and_the_others_say_how_far():
    text = debugprint(chain(150, branches=True), file="str", ids="")
    lines = [line.rstrip() for line in text.splitlines()]
    levels = [line for line in lines if "Plus" in line]
    assert levels[:101] == [" |" * k + "Plus  ''" for k in range(101)]
    assert levels[101:] == [f"[+{k - 20}]" + " |" * 20 + "Plus  ''" for k in range(101, 150)]
    # The other operand of a step stands beside the first one.
    assert lines[-1] == " |x" and lines[150] == "[+130]" + " |" * 20 + "x"


def test_a_variable_with_many_users_names_some():
    x = generic("x")
    y = Minus()(x)
    fgraph = FunctionGraph([x], [Plus()(y, Minus()(y)) for _ in range(60)], clone=False)
    text = debugprint(fgraph, file="str", print_clients=True)
    assert "and 70 more" in text and len(text) < 200_000
