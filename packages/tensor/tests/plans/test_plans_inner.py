"""Functions with ops that hold a graph: their form, and programs that a later process finds."""

from __future__ import annotations

import numpy as np
import pytest
from plan_keys import key_of

import theano
import theano.tensor as T
from theano.compile.expression import InnerGraph
from theano.graph.canonical import NoCanonicalForm, form_of, object_of
from theano.graph.props import Structural
from theano.tensor.rows.op import map_rows

x, y, X = T.dvector("x"), T.dvector("y"), T.dmatrix("X")


def graphs():
    yield "expression", [x, y], [T.exp(x) * 2 + y, T.dot(x, y)]
    yield "input and constant", [x, y], [y, T.constant([1.0, 2.0]), x]
    yield "unused input, one output twice", [x, y], [x + x, x + x]
    yield "inside each other", [x, y], [theano.OpFromGraph([x], [T.sort(x)])(x * y)]
    yield "rows", [X, y], [map_rows([x], [X], [T.sort(x) + y])[0]]
    yield "several outputs", [X], list(T.nlinalg.eigh(T.dot(X, X.T)))


@pytest.mark.parametrize(("inputs", "outputs"), [pytest.param(*g[1:], id=g[0]) for g in graphs()])
def test_a_graph_is_read_back(inputs, outputs):
    graph = InnerGraph("a test", inputs, outputs)
    again = object_of(form_of(graph))
    assert form_of(again) == form_of(graph)
    assert again == graph or any(isinstance(v.owner.op, theano.OpFromGraph) for v in outputs)  # equal to itself alone
    assert [v.name for v in again.inputs] == [v.name for v in inputs]
    values = [np.ones(v.type.ndim * (2,)) for v in inputs]
    for a, b in zip(graph.evaluate(values), again.evaluate(values), strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_cannot_be_named_has_no_form():
    class Own(theano.gof.Op):
        __props__ = ()

        def make_node(self, v):
            return theano.gof.Apply(self, [v], [v.type()])

    with pytest.raises(NoCanonicalForm):
        form_of(InnerGraph("a test", [x], [Own()(x)]))


@pytest.mark.parametrize("make", [
    lambda e, name: theano.OpFromGraph([x, y], [e], name=name)(x, y), lambda e, name: map_rows([x], [X], [e], name)[0],
])  # fmt: skip
def test_keys_tell_graphs_apart(make):
    expressions = [T.sort(x) + y, y + T.sort(x), T.sort(x) + 2 * y, T.sort(x) + 3 * y, T.sort(x + y), T.sort(x) + y]
    keys = [key_of([x, y, X], make(e, "f")) for e in expressions]
    assert len(set(keys)) == len(keys) - 1 and keys[0] == keys[-1]
    assert key_of([x, y, X], make(expressions[0], "g")) != keys[0]
    assert issubclass(theano.OpFromGraph, Structural)
