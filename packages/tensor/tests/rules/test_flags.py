"""Flags that speak of rules: what they turn off is off, and what they leave alone is right."""

import logging

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.graph import Apply, Op
from theano.rewriting import phases
from theano.tensor.shape.rules import shapes

v, m = T.dvector("v"), T.dmatrix("m")


def ops(f):
    return [type(node.op).__name__ for node in f.maker.fgraph.toposort()]


@pytest.mark.parametrize("wanted", [True, False])
def test_fusion(wanted):
    with theano.config.change_flags({"tensor.local_elemwise_fusion": wanted}):
        f = theano.function([v], T.exp(v) * 2 + T.sin(v))
        g = theano.function([v], T.sum(T.exp(v) * 2))
    assert ops(f).count("Elemwise") == (1 if wanted else 4)
    assert ("MapReduce" in ops(g)) == wanted
    x = np.linspace(-1, 1, 5)
    np.testing.assert_allclose(f(x), np.exp(x) * 2 + np.sin(x))
    np.testing.assert_allclose(g(x), (np.exp(x) * 2).sum())


def test_allocations_are_dropped_with_a_check_unless_told():
    n = T.lscalar("n")
    expression = T.alloc(np.float64(2), n) * v
    f = theano.function([n, v], expression)
    assert "Alloc" not in ops(f) and "CheckedShape" in ops(f)
    with pytest.raises(ValueError, match="mul: the operands have different shapes"):
        f(3, [1.0, 2.0])
    with theano.config.change_flags({"experimental.local_alloc_elemwise_assert": False}):
        g = theano.function([n, v], expression)
    assert "Alloc" not in ops(g) and "CheckedShape" not in ops(g)
    np.testing.assert_array_equal(g(2, [1.0, 2.0]), f(2, [1.0, 2.0]))
    np.testing.assert_array_equal(g(3, [1.0, 2.0]), [2, 4])  # what the flag's help says


class WrongShape(Op):
    """Doubles, but cannot say its shape."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, storage):
        storage[0][0] = inputs[0] * 2

    def infer_shape(self, node, given):
        raise KeyError("no such shape")


def test_an_infer_shape_that_fails_is_told_once_and_done_without(caplog):
    shapes._complained.clear()
    with caplog.at_level(logging.WARNING, "theano"):
        f = theano.function([m], (WrongShape()(m) + 1).shape)
        theano.function([m], WrongShape()(m).shape[0])
    said = [r.getMessage() for r in caplog.records if "infer_shape" in r.getMessage()]
    assert len(said) == 1 and "no such shape" in said[0] and "on_shape_error" in said[0]
    assert f(np.ones((2, 3))).tolist() == [2, 3]


def test_an_infer_shape_that_fails_is_an_error_if_wanted():
    with theano.config.change_flags(on_shape_error="raise"), pytest.raises(KeyError) as caught:
        theano.function([m], WrongShape()(m) + 1)
    assert any("on_shape_error=warn" in note for note in caught.value.__notes__)


def test_print_passes_print_each_time(capsys):
    for name, title in (("Print1.21", "Post-canonicalize"), ("Print1.51", "Post-stabilize")):
        assert phases.tags(name) >= {"PrintCurrentFunctionGraph"}
        for _ in range(2):  # a function that was found in the cache would show nothing
            theano.function([v], T.exp(v) + 1, mode=theano.Mode().including(name))
            out = capsys.readouterr().out
            assert title in out and "Elemwise{exp,no_inplace}" in out
    theano.function([v], T.exp(v) + 1)
    assert capsys.readouterr().out == ""
