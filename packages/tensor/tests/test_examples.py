"""Every public function and op has an example in its documentation; those of ops, which doctest does not find, run here."""

from __future__ import annotations

import check_examples
from theano.graph import Op


def failing(ops):
    """Return what the examples of ops print that they should not, by the names of these."""
    return {name: said for name, op in ops.items() if (said := check_examples.run(op, name))}


def ops():
    return {name: thing for name, thing in check_examples.public() if isinstance(thing, Op)}


def test_everything_public_has_an_example():
    assert check_examples.without_example() == []


def test_examples_of_ops():
    """Of those with documentation of their own, and of those whose class has none that doctest finds."""
    own, others = {}, {}
    for name, op in ops().items():
        if check_examples.documentation(op) != check_examples.documentation(type(op)):
            own[name] = op
        elif not isinstance(vars(type(op)).get("__doc__"), str):
            others[name] = op
    assert {"theano.tensor.exp", "theano.tensor.add", "theano.tensor.switch"} <= set(own)
    assert others
    assert failing(own | others) == {}
