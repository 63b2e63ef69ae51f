"""The feature that answers for shapes: what it knows, what it keeps, what it forgets, and ops that answer nonsense."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import theano.tensor as T
from theano.graph import Apply, Constant, FunctionGraph, Op
from theano.graph.features import AlreadyThere
from theano.rewriting import Context
from theano.settings import config
from theano.tensor.control.checks import same_length
from theano.tensor.convert import static_int
from theano.tensor.shape.basic import Shape_i
from theano.tensor.shape.rules import shapes
from theano.tensor.shape.rules.shapes import ShapeFeature, _spoken_of


@pytest.fixture(autouse=True)
def variables():
    """A variable belongs to one graph."""
    global x, y, row, n, k, i
    x, y, row, n, k, i = T.dmatrix("x"), T.dmatrix("y"), T.drow("row"), T.lscalar("n"), T.lscalar("k"), T.iscalar("i")


def attached(*outputs):
    fgraph = FunctionGraph([x, y, row, n, k, i], list(outputs), clone=False)
    fgraph.attach_feature(feature := ShapeFeature())
    return fgraph, feature


def test_lengths_of_leaves():
    _, feature = attached(x + y)
    assert [v.owner.op for v in feature.lengths(x)] == [Shape_i(0), Shape_i(1)] and feature.lengths(x)[1].owner.inputs[
        0
    ] is x
    one, other = feature.lengths(row)
    assert static_int(one) == 1 and other.owner.op == Shape_i(1)
    assert [static_int(v) for v in feature.lengths(T.constant(np.zeros((2, 3))))] == [2, 3]
    assert feature.lengths(n) == () and feature.get_shape(x, 1) is feature.lengths(x)[1]
    assert x in feature.shape_of and "x" not in feature.shape_of and feature.shape_of[x] is feature.lengths(x)
    assert set(feature.shape_of) == set(feature.known) and len(feature.shape_of) == len(feature.known)


def test_equal_lengths():
    two, length = T.constant(2, dtype="int64"), Shape_i(0)(x)
    for m, others in (
        (two, [T.constant(2, dtype="int64"), two]), (length, [length, Shape_i(0)(x)]), (n, [n]), (n + k, [n + k]),
        (n * two, [n * two]),
    ):  # fmt: skip
        assert all(same_length(m, o) and same_length(o, m) for o in others)
    different = [
        two,
        T.constant(3, dtype="int64"),
        length,
        Shape_i(1)(x),
        Shape_i(0)(y),
        n,
        k,
        n + k,
        k + n,
        n - k,
        T.add(n, k, n),
    ]
    for i, m in enumerate(different):
        assert [j for j, o in enumerate(different) if same_length(m, o)] == [i]


def test_the_same_shape():
    z, turned, first = T.exp(x), x.T, x[0]
    _, feature = attached(z, turned, first)
    assert feature.same_shape(x, z) and feature.same_shape(z, x)
    for v in (turned, y, row, n, first):
        assert not feature.same_shape(x, v) and not feature.same_shape(v, x)
    assert feature.same_shape(x, turned, 0, 1) and feature.same_shape(x, turned, 1, 0)
    assert not feature.same_shape(x, turned, 0, 0) and not feature.same_shape(x, turned, 0)
    assert feature.same_shape(x, z, 0) and feature.same_shape(x, z, 1) and not feature.same_shape(x, z, 0, 1)
    assert feature.same_shape(n, k)


def test_it_is_there_once_and_forgets():
    fgraph, feature = attached(T.exp(x))
    with pytest.raises(AlreadyThere):
        ShapeFeature().on_attach(fgraph)
    feature.lengths(fgraph.outputs[0])
    assert feature.known and fgraph.shape_feature is feature
    fgraph.remove_feature(feature)
    assert not feature.known and fgraph.shape_feature is None
    fgraph.attach_feature(ShapeFeature())
    shapes.remove_shape_feature(fgraph, Context())
    assert fgraph.shape_feature is None and not any(isinstance(f, ShapeFeature) for f in fgraph.features)


def test_answers_follow_replacements_and_leave_with_what_they_are_of():
    fgraph, feature = attached(T.exp(x), T.sin(y))
    out, other = fgraph.outputs
    found, kept = feature.lengths(out), feature.lengths(other)
    new = T.tanh(y)
    fgraph.replace(out, new)
    assert feature.lengths(new) is found and out not in feature.known
    assert feature.lengths(other) is kept


def test_what_answers_speak_of():
    node = T.alloc(1.0, n + k, 3).owner
    total = node.inputs[1]
    long = total
    for _ in range(300):
        long = long * 2 + 1
    assert _spoken_of((total,), node) == _spoken_of((total * 2, k), node) == {total}
    assert _spoken_of((k, T.constant(3)), node) == set() and _spoken_of(tuple(node.inputs[2:]), node) == set()
    assert _spoken_of((long,), node) == set(node.inputs)
    scalar = x[n:].owner
    assert n in _spoken_of((n + 1,), scalar)
    short = total
    for _ in range(90):
        short = short + 1
    assert total in _spoken_of((short,), node) and not any(isinstance(v, Constant) for v in _spoken_of((short,), node))


@pytest.mark.parametrize("steps", [198, 199, 200, 201])
def test_an_answer_is_followed_for_199_steps(steps):
    node = T.alloc(1.0, n + k, 3).owner
    total = node.inputs[1]
    length = total
    for _ in range(steps):
        length = length + 1
    assert _spoken_of((length,), node) == (set(node.inputs) if steps > 199 else {total})


class Answering(Op):
    """A copy of a matrix that says of shapes what it is told to."""

    __props__ = ("name",)

    def __init__(self, name, answer):
        self.name, self.answer = name, answer

    def make_node(self, v):
        return Apply(self, [v], [v.type()])

    def perform(self, node, inputs, storage):
        storage[0][0] = inputs[0].copy()

    def infer_shape(self, node, given):
        return self.answer(given)

    def __str__(self):
        return self.name


class OfThree(Answering):
    def infer_shape(self, fgraph, node, given):
        assert node.op is self and node in fgraph.apply_nodes
        return self.answer(given)


def unwilling(given):
    raise NotImplementedError


GOOD = lambda given: [given[0]]
BAD = {
    "two": lambda given: [given[0], given[0]], "none": lambda given: [], "raises": lambda given: [given[0][7]],
}  # fmt: skip


@pytest.mark.parametrize("cls", [Answering, OfThree])
def test_both_forms_of_infer_shape(cls):
    out = cls("good", GOOD)(x)
    _, feature = attached(out)
    assert feature.lengths(out) == feature.lengths(x)


@pytest.mark.parametrize("answer", [unwilling, lambda given: [None], lambda given: [given[0][:1]]])
def test_an_op_that_does_not_know_its_shape(answer, caplog):
    out = Answering("unknowing", answer)(x)
    _, feature = attached(out)
    assert [v.owner.inputs[0] for v in feature.lengths(out)] == [out, out]
    assert not caplog.records


@pytest.mark.parametrize("name", BAD)
def test_an_op_whose_infer_shape_fails(name, caplog):
    """It is said once, or raised, as the flag has it."""
    shapes._complained.clear()
    with caplog.at_level(logging.WARNING, "theano"), config.change_flags(on_shape_error="warn"):
        for _ in range(2):
            fgraph = FunctionGraph([x], [Answering(name, BAD[name])(x)])
            shapes.add_shape_feature(fgraph, Context())
            (out,) = fgraph.outputs
            assert [v.owner.inputs[0] for v in fgraph.shape_feature.lengths(out)] == [out, out]
    assert [f"{name}.infer_shape failed" in r.getMessage() for r in caplog.records] == [True]
    with config.change_flags(on_shape_error="raise"), pytest.raises((ValueError, IndexError)) as caught:
        shapes.add_shape_feature(FunctionGraph([x], [Answering(name, BAD[name])(x)]), Context())
    assert any(f"{name}.infer_shape failed on inputs of types" in note for note in caught.value.__notes__)


def test_smaller_whole_numbers_become_lengths():
    out = Answering("narrow", lambda given: [(i, given[0][1])])(x)
    _, feature = attached(out)
    assert [v.dtype for v in feature.lengths(out)] == ["int64", "int64"] and feature.lengths(out)[1] is feature.lengths(
        x
    )[1]


def test_rules_ask_only_where_there_is_a_feature():
    for out in (x.shape, Shape_i(0)(x)):
        fgraph = FunctionGraph([x], [out])
        node = fgraph.outputs[0].owner
        rule = shapes.local_track_shape_i if isinstance(node.op, Shape_i) else shapes.local_shape_to_shape_i
        assert not rule.answer(fgraph, node)
