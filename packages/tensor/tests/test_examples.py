"""Every public function and op has an example in its documentation; those of ops, which doctest does not find, run here."""

from __future__ import annotations

import pytest

import check_examples
import theano.scalar as ts
from theano.graph import Op

OPS = {name: thing for name, thing in check_examples.public() if isinstance(thing, Op)}
#: What doctest finds, as the documentation of a class.
CLASSES = {name for name, op in OPS.items() if isinstance(vars(type(op)).get("__doc__"), str)}
SENTENCES = {name: op for name, op in OPS.items() if check_examples.documentation(op) != check_examples.documentation(type(op))}


def test_everything_public_has_an_example():
    assert check_examples.without_example() == []


def test_element_wise_functions_have_documentation_of_their_own():
    assert {"theano.tensor.exp", "theano.tensor.add", "theano.tensor.switch"} <= set(SENTENCES)


@pytest.mark.parametrize("name", SENTENCES)
def test_examples_of_ops(name):
    assert check_examples.run(SENTENCES[name], name) == ""


@pytest.mark.parametrize("name", [n for n, op in OPS.items() if isinstance(op, ts.ScalarOp) and n not in CLASSES])
def test_examples_of_scalar_ops(name):
    assert check_examples.run(OPS[name], name) == ""
