"""Graph structures, as the page of that name shows them: each block with the output it prints."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano import gof


def printed(thing):
    """Return what Python's prompt would print."""
    return repr(thing)


def test_the_first_graph():
    x = T.dmatrix("x")
    y = T.dmatrix("y")
    z = x + y
    # The diagram: an Apply with an op, inputs that nothing computes, and an output that points back.
    node = z.owner
    assert isinstance(node, gof.Apply) and node.inputs == [x, y] and node.outputs == [z]
    assert x.owner is None and y.owner is None and z.index == 0
    assert x.type == y.type == z.type == T.dmatrix


def test_traversing():
    x = theano.tensor.dmatrix("x")
    y = x * 2.0
    assert printed(type(y.owner)) == "<class 'theano.gof.graph.Apply'>"
    assert y.owner.op.name == "Elemwise{mul,no_inplace}"
    assert len(y.owner.inputs) == 2
    assert printed(y.owner.inputs[0]) == "x"
    # As Theano 1.0.5 prints it, and its version of this page; the seed is from before and leaves out that it is a view.
    assert printed(y.owner.inputs[1]) == "InplaceDimShuffle{x,x}.0"
    assert printed(type(y.owner.inputs[1])) == "<class 'theano.tensor.var.TensorVariable'>"
    assert printed(type(y.owner.inputs[1].owner)) == "<class 'theano.gof.graph.Apply'>"
    assert type(y.owner.inputs[1].owner.op).__name__ == "DimShuffle"
    assert type(y.owner.inputs[1].owner.op).__module__.startswith("theano.tensor.elemwise")
    assert printed(y.owner.inputs[1].owner.inputs) == "[TensorConstant{2.0}]"


def test_apply_nodes_are_made_by_hand_too():
    x, y = T.dmatrices("x", "y")
    node = gof.Apply(T.add, [x, y], [T.dmatrix()])
    assert node.op is T.add and node.inputs == [x, y] and node.outputs[0].owner is node
    assert T.add.make_node(x, y).op == T.add


def test_what_the_type_irow_says():
    irow = T.irow
    good = np.zeros((1, 5), "int32")
    assert irow.filter(good) is good
    for wrong in (np.zeros((1, 5), "int64") + 2**40, np.zeros((2, 5), "int32"), np.zeros(5, "int32")):
        with pytest.raises(TypeError):
            irow.filter(wrong)
    with pytest.raises(TypeError):
        irow.filter([[1, 2]], strict=True)
    assert irow != T.dmatrix and T.dmatrix.filter(np.zeros((3, 4))).shape == (3, 4)


def test_variables():
    x = theano.tensor.ivector()
    y = -x
    for v in (x, y):
        assert isinstance(v, gof.Variable) and v.type == theano.tensor.ivector
    assert x.owner is None and y.owner.inputs == [x] and y.owner.outputs[y.index] is y and x.name is None


def test_a_constant_is_no_input():
    c = T.constant(2.0)
    assert isinstance(c, gof.Constant) and isinstance(c, gof.Variable) and c.data == 2.0
    assert theano.function([], c * 2)() == 4.0  # it need not be given
    with pytest.raises(TypeError):
        theano.function([c], c * 2)


@pytest.fixture
def f():
    v = theano.tensor.vector()
    # The page was printed before reductions were joined with what they reduce.
    return theano.function([v], (v + 1).sum(), mode=theano.compile.get_default_mode().excluding("fusion"))


def test_the_compiled_graph_as_a_tree(f):
    out = io.StringIO()
    with redirect_stdout(out):
        theano.printing.debugprint(f)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert lines == [
        "Sum{acc_dtype=float64} [id A] ''   1",
        " |Elemwise{add,no_inplace} [id B] ''   0",
        "   |TensorConstant{(1,) of 1.0} [id C]",
        "   |<TensorType(float64, vector)> [id D]",
    ]


def test_clients(f):
    topo = f.maker.fgraph.toposort()
    assert printed(topo[0].outputs[0].clients) == "[(Sum{acc_dtype=float64}(Elemwise{add,no_inplace}.0), 0)]"
    assert printed(topo[1].outputs[0].clients) == "[('output', 0)]"
    # An internal variable
    var = topo[0].outputs[0]
    client = var.clients[0]
    assert printed(client) == "(Sum{acc_dtype=float64}(Elemwise{add,no_inplace}.0), 0)"
    assert printed(type(client[0])) == "<class 'theano.gof.graph.Apply'>"
    assert client[0].inputs[client[1]] is var
    # An output of the graph
    var = topo[1].outputs[0]
    client = var.clients[0]
    assert printed(client) == "('output', 0)"
    assert f.maker.fgraph.outputs[client[1]] is var


def test_the_users_graph_is_not_touched():
    v = theano.tensor.vector()
    total = (v + 1).sum()
    before = theano.printing.debugprint(total, file="str")
    theano.function([v], total)
    assert theano.printing.debugprint(total, file="str") == before


def test_a_quotient_is_cancelled():
    """The page's example of a rule: x y / y is x."""
    x, y = T.vectors("x", "y")
    f = theano.function([x, y], x * y / y, on_unused_input="ignore")
    assert f.maker.fgraph.toposort() == [] or all("div" not in str(n.op) for n in f.maker.fgraph.toposort())


@pytest.fixture
def powers():
    a = theano.tensor.vector("a")  # declare symbolic variable
    b = a + a**10  # build symbolic expression
    f = theano.function([a], b)  # compile function
    return b, f


def test_the_example(powers, capsys):
    b, f = powers
    with np.printoptions(legacy="1.13"):
        print(f([0, 1, 2]))  # prints `array([0,2,1026])`
    assert capsys.readouterr().out == "[    0.     2.  1026.]\n"


def test_its_pictures(powers, tmp_path, capsys):
    pytest.importorskip("pydot")
    b, f = powers
    for graph, name in ((b, "symbolic_graph_unopt.png"), (f, "symbolic_graph_opt.png")):
        path = tmp_path / name
        try:
            theano.printing.pydotprint(graph, outfile=str(path), var_with_name_simple=True)
        except RuntimeError as problem:
            assert re.search("[Gg]raphviz", str(problem))
            pytest.skip("Graphviz is not installed")
        assert capsys.readouterr().out == f"The output file is available at {path}\n"
        assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    nodes = len(f.maker.fgraph.apply_nodes)
    # The optimized graph (right) is much more compact than the unoptimized graph (left).
    assert nodes < len(theano.graph.traverse.applys_between([theano.graph.traverse.inputs([b])[0]], [b]))
