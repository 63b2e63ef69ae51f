"""Products and sums that are in their form already are told without writing them anew, and only these."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theano.tensor as T
from theano.graph import FunctionGraph
from theano.tensor.elemwise.rules import algebra

LEAVES = [
    T.dvector("x"),
    T.dvector("y"),
    T.dscalar("s"),
    T.fvector("f"),
    T.constant(2.0),
    T.constant(1.0),
    T.constant(0.5),
]
JOINS = [T.add, T.sub, T.mul, T.true_div]


@st.composite
def expressions(draw):
    """Draw an expression of sums and products, some terms of which are used more than once."""
    terms = list(LEAVES)
    for _ in range(draw(st.integers(1, 6))):
        terms.append(draw(st.sampled_from(JOINS))(draw(st.sampled_from(terms)), draw(st.sampled_from(terms))))
    return terms[-1]


@given(expressions())
@settings(max_examples=400, deadline=None)
def test_what_is_told_at_once_would_be_written_as_it_is(expression):
    graph = FunctionGraph([v for v in LEAVES if not hasattr(v, "data")], [expression], clone=True)
    quick = algebra._is_plain
    with pytest.MonkeyPatch.context() as patch:
        for node in graph.toposort():
            for family in (algebra.sums, algebra.products):
                told = []
                patch.setattr(algebra, "_is_plain", lambda *given: told.append(quick(*given)) or False)  # noqa: B023
                written = algebra.canonical(node, family)
                assert written is None or not any(told)


def test_the_usual_forms_are_told_at_once(monkeypatch):
    x, y, s = LEAVES[:3]
    told, quick = [], algebra._is_plain
    monkeypatch.setattr(algebra, "_is_plain", lambda *given: told.append(quick(*given)) or told[-1])
    usual = [x * y, x / y, (x * s) / y, x / (y * s), (x * y) / (y + s), x - (y + s), (x + y) - s, (x + y) - (x * s)]
    for expression in usual:
        graph = FunctionGraph([x, y, s], [expression], clone=True)
        for family in (algebra.sums, algebra.products):
            algebra.canonical(graph.outputs[0].owner, family)
    assert told == [True] * len(usual)
