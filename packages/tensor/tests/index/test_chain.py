"""Parts of parts: one view, whatever the ends of the slices are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.index.basic import Subtensor
from theano.tensor.index.chain import SubtensorChain

x = T.dmatrix("x")
NUMBERS = T.lscalars("abcdef")


def subtensors(f):
    return [node.op for node in f.maker.fgraph.toposort() if isinstance(node.op, Subtensor)]


def index_of(kinds, numbers):
    """Return the index that has numbers where ``kinds`` says so: one for ``i``, a slice with ends for the others."""
    rest = iter(numbers)
    if kinds == "i":
        return next(rest)
    return slice(*(next(rest) if part in kinds else None for part in "bes"))


KINDS = ["i", "b", "e", "s", "be", "bs", "es", "bes", ""]


@pytest.mark.parametrize("first, second", list(itertools.product([k for k in KINDS if k != "i"], KINDS)))
def test_a_slice_of_a_slice_is_one_view(first, second):
    a, b = NUMBERS[: len(first)], NUMBERS[len(first) : len(first) + len(second)]
    f = theano.function([x, *a, *b], x[index_of(first, a)][index_of(second, b)])
    assert len(subtensors(f)) <= 1
    rng = np.random.default_rng(len(first) * 8 + len(second))
    for shape in ((0, 2), (1, 2), (2, 1), (5, 3)):
        value = rng.normal(size=shape)
        for _ in range(20):
            given = [int(n) or 1 for n in rng.integers(-6, 7, len(a) + len(b))]
            try:
                wanted = value[index_of(first, given)][index_of(second, given[len(a) :])]
            except IndexError:
                with pytest.raises(IndexError):
                    f(value, *given)
                continue
            np.testing.assert_array_equal(f(value, *given), wanted)


@pytest.mark.parametrize("second", ["i", "e", "bes"])
def test_a_part_of_a_part_of_each_row_is_one_view(second):
    a, b = NUMBERS[:2], NUMBERS[2 : 2 + len(second)]
    inner = theano.function([x, *a, *b], x[index_of("be", a)][index_of(second, b)], mode="FAST_RUN").maker.fgraph
    chain = next(v for v in inner.variables if v.owner is not None and isinstance(v.owner.op, SubtensorChain))
    many = T.dtensor3("many")
    out = theano.vectorize_graph(chain, {inner.inputs[0]: many})
    f = theano.function([many, *inner.inputs[1:]], out, mode="FAST_RUN")
    assert len(subtensors(f)) == 1
    value, given = np.arange(24.0).reshape(2, 4, 3), [1, 4, -1, 2, 1][: 2 + len(second)]
    np.testing.assert_array_equal(f(value, *given), [row[1:4][index_of(second, given[2:])] for row in value])


@pytest.mark.parametrize("start, stop", list(itertools.product((-4, -1, 0, 2, 5), repeat=2)))
def test_known_numbers_that_count_from_the_end(start, stop):
    f = theano.function([x], x[start:][:stop])
    assert len(subtensors(f)) <= 1
    for rows in range(6):
        value = np.arange(2.0 * rows).reshape(rows, 2)
        np.testing.assert_array_equal(f(value), value[start:][:stop])


def test_more_than_two():
    a, b = NUMBERS[:2]
    f = theano.function([x, a, b], x[a:][b:][::2][1], mode="FAST_RUN")
    (op,) = subtensors(f)
    assert str(op) == "Subtensor{int64::}{int64::}{::int64}{int64}" and len(op.parts) == 4
    value = np.arange(20.0).reshape(10, 2)
    np.testing.assert_array_equal(f(value, 1, 2), value[1:][2:][::2][1])


def test_what_others_read_stays():
    a = NUMBERS[0]
    part = x[a:]
    f = theano.function([x, a], [part, part[-1]])
    assert not [op for op in subtensors(f) if isinstance(op, SubtensorChain)]
    assert not [op for op in subtensors(theano.function([x, a], part[-1], mode="FAST_COMPILE")) if hasattr(op, "parts")]


def test_writing_into_what_a_chain_reads():
    state = theano.shared(np.arange(8.0).reshape(4, 2), "state")
    a = NUMBERS[0]
    f = theano.function([a], state[a:][-1] * 2, updates=[(state, T.set_subtensor(state[-1], 0.0))])
    np.testing.assert_array_equal(f(1), [12, 14])
    np.testing.assert_array_equal(f(1), [0, 0])
    np.testing.assert_array_equal(state.get_value()[-1], [0, 0])


def test_a_compiled_graph_compiled_again():
    a, b = NUMBERS[:2]
    f = theano.function([x, a, b], x[a:][b:][-1], mode="FAST_RUN")
    graph = f.maker.fgraph
    (view,) = [node.outputs[0] for node in graph.apply_nodes if isinstance(node.op, SubtensorChain)]
    assert theano.pprint(view).startswith("x[") and theano.pprint(view).endswith(":][-1]")
    again = theano.function(list(graph.inputs), [v.copy() for v in graph.outputs], mode="FAST_RUN")
    value = np.arange(10.0).reshape(5, 2)
    np.testing.assert_array_equal(again(value, 1, 2)[0], f(value, 1, 2))
    with pytest.raises(IndexError, match="out of bounds") as caught:
        f(value, 9, 0)
    assert "while computing x[" in str(caught.value) and "test_chain.py" in str(caught.value)


def test_as_an_op():
    n = T.scal.int64
    op = SubtensorChain([[slice(n, None)], [n]])
    assert op == SubtensorChain([[slice(n, None)], [n]]) and hash(op) == hash(SubtensorChain([[slice(n, None)], [n]]))
    assert op != SubtensorChain([[n], [slice(n, None)]]) and not hasattr(op, "idx_list")
    with pytest.raises(IndexError, match="needs 2 whole numbers, got 1"):
        op(x, np.int64(1))
    with pytest.raises(IndexError, match="out of bounds"):
        theano.function([x], op(x, *np.int64([1, 3])), mode=theano.Mode("py", None))(np.zeros((2, 2)))
