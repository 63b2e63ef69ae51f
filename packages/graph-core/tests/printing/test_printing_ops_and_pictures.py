"""The Print op, and pictures through pydot."""

import sys
import types

import pytest

from theano import function
from theano.graph import Op, generic
from theano.printing import Print, picture, pydotprint


class Pair(Op):
    __props__ = ()
    itypes, otypes = [generic, generic], [generic]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = tuple(inputs)


pair = Pair()


def test_print_shows_and_returns(capsys):
    x = generic("x")
    f = function([x], pair(Print("the value")(x), x))
    assert f(3) == (3, 3)
    assert capsys.readouterr().out == "the value __str__ = 3\n"


def test_print_of_attributes(capsys):
    x = generic("x")
    function([x], Print("z", attrs=["real", "conjugate"])(x))(1 + 2j)
    assert capsys.readouterr().out == "z real = 1.0\nz conjugate = (1-2j)\n"


def test_print_to_a_function():
    seen = []
    x = generic("x")
    op = Print("z", global_fn=lambda op, value: seen.append((op.message, value)))
    assert function([x], op(x))(5) == 5 and seen == [("z", 5)]
    assert op.grad([x], ["g"]) == ["g"] and op.R_op([x], [None]) == [None]


def test_print_is_an_op_like_others():
    assert Print("a") == Print("a") != Print("b")
    assert str(Print("a")) == "Print{message='a', attrs=('__str__',)}"
    with pytest.raises(TypeError, match="is none"):
        Print("a")(3)


# -- pictures --------------------------------------------------------------------------------------------


class Graph:
    """What pydot's Dot looks like from here."""

    drawn: list = []

    def __init__(self, graph_type):
        self.nodes, self.edges, self.written = {}, [], []
        Graph.drawn.append(self)

    def add_node(self, node):
        self.nodes[node[0]] = node[1]

    def add_edge(self, edge):
        self.edges.append(edge)

    def write(self, path, prog, format):
        self.written.append((path, format))

    def create(self, format, prog):
        return b"image"


@pytest.fixture
def pydot(monkeypatch):
    fake = types.SimpleNamespace(
        Dot=Graph, Node=lambda name, **style: (name, style), Edge=lambda a, b, **style: (a, b, style)
    )
    monkeypatch.setitem(sys.modules, "pydot", fake)
    Graph.drawn = []
    return Graph


def test_picture_of_an_expression(pydot, capsys, tmp_path):
    x, y = generic("x"), generic("y")
    path = tmp_path / "graph.png"
    pydotprint(pair(pair(x, y), x), outfile=path, var_with_name_simple=True)
    assert capsys.readouterr().out == f"The output file is available at {path}\n"
    (graph,) = pydot.drawn
    labels = sorted(style["label"] for style in graph.nodes.values())
    assert labels == ['"Generic"', '"Pair"', '"Pair"', '"x"', '"y"']
    assert len(graph.edges) == 5 and graph.written == [(str(path), "png")]


def test_names_with_types_and_ids(pydot):
    x = generic("x")
    pydotprint(pair(x, x), outfile="g.svg", format="svg", with_ids=True, print_output_file=False)
    labels = [style["label"] for style in pydot.drawn[0].nodes.values()]
    assert any("name=x Generic" in label and "id=" in label for label in labels)
    assert pydot.drawn[0].written == [("g.svg", "svg")]


def test_functions_and_other_forms(pydot):
    x = generic("x")
    f = function([x], pair(x, x))
    assert pydotprint(f, return_image=True, compact=False) == b"image"
    pydotprint([pair(x, x), x], outfile="a", print_output_file=False)
    pydotprint(pair(x, x).owner, outfile="a", print_output_file=False, high_contrast=False)
    assert pydot.drawn[-1].written == [("a.png", "png")]
    with pytest.raises(TypeError, match="not a int"):
        pydotprint(3)


def test_long_labels_and_quotes(pydot):
    x = generic('a "quoted" name' * 20)
    pydotprint(pair(x, x), outfile="a", print_output_file=False)
    label = next(style["label"] for style in pydot.drawn[0].nodes.values() if "quoted" in style["label"])
    assert len(label) < 100 and '\\"' in label


def test_without_pydot(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydot", None)
    with pytest.raises(RuntimeError, match="pip install pydot"):
        pydotprint(generic("x"))
    assert "graphviz" in picture.pydot_imported_msg
