"""The public module: documented spellings lead to the same things, and formulas look as they are documented."""

from __future__ import annotations

import importlib

import pytest

import theano
import theano.tensor as T
from theano.layers import documented_graph_core, documented_scalar, documented_tensor
from theano.layers.spellings import named, place, spellings


@pytest.mark.parametrize("module", ["basic", "elemwise", "subtensor", "var", "nnet", "nnet.nnet", "nnet.sigm", "blas", "opt",
                                    "inplace", "sharedvar", "type", "type_other", "extra_ops", "sort", "xlogx"])  # fmt: skip
def test_documented_spellings(module):
    importlib.import_module(f"theano.tensor.{module}")


TABLES = [documented_graph_core, documented_scalar, documented_tensor]
ENTRIES = [(module, entry) for table in TABLES for module, entry in table.OLD_NAMES.items()]


@pytest.mark.parametrize(("module", "entry"), ENTRIES, ids=[module for module, _ in ENTRIES])
def test_documented_names_need_no_upper_layer(module, entry):
    found = importlib.import_module(module)
    for name, where in spellings(entry):
        assert not where.startswith("theano.legacy") and getattr(found, name) is named(place(entry, name))


def test_names_are_the_same_things():
    assert T.basic.dmatrix is T.dmatrix and T.basic.exp is T.exp
    assert T.elemwise.Sum is type(T.dvector().sum().owner.op)
    assert T.nnet.nnet.softmax is T.nnet.softmax and T.nnet.sigm.sigmoid is T.nnet.sigmoid
    assert T.subtensor.set_subtensor is T.set_subtensor
    assert callable(T.var) and callable(T.shape) and callable(T.join) and callable(T.sort)


def test_formulas():
    x = T.dscalar("x")
    assert theano.pp(T.grad(x**2, x)) == (
        "((fill((x ** TensorConstant{2}), TensorConstant{1.0}) * TensorConstant{2}) * "
        "(x ** (TensorConstant{2} - TensorConstant{1})))"
    )
    m, w, b = T.dmatrix("x"), T.dvector("w"), T.dscalar("b")
    assert theano.pp((1 / (1 + T.exp(-T.dot(m, w) - b))) > 0.5) == (
        "gt((TensorConstant{1} / (TensorConstant{1} + exp(((-(x \\dot w)) - b)))), TensorConstant{0.5})"
    )
    assert theano.pp(m[1:, 0].sum()) == "sum(x[1:, 0])"
    assert theano.pp(m.T.max(axis=0)) == "max(x.T, axis=(0,))"


def test_inplace_functions():
    op = T.inplace.exp_inplace
    assert str(op) == "exp_inplace" and op.destroy_map == {0: [0]}
    assert op != T.exp and T.elemwise.Elemwise(theano.scalar.exp, {0: 0}) == op
