"""Graphs of any depth can be pickled and copied, and what was one thing stays one thing."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise, product

import pytest

from portion import portion
from theano.graph import Apply, Op, generic
from theano.graph.traverse import toposort


class Next(Op):
    __props__ = ()
    itypes = otypes = [generic]


class Both(Op):
    __props__ = ()

    def make_node(self, a, b):
        return Apply(self, [a, b], [generic(), generic()])


def chain(n, x):
    for _ in range(n):
        x = Next()(x)
    return x


def by_pickle(thing):
    return pickle.loads(pickle.dumps(thing))


def in_python(thing):
    """Pickle with the form that is written in Python, whose every call is on the stack."""
    import io

    file = io.BytesIO()
    pickle._Pickler(file).dump(thing)
    return pickle.loads(file.getvalue())


ways = pytest.mark.parametrize("way", [by_pickle, in_python, copy.deepcopy])


@ways
@pytest.mark.parametrize("n", [0, 1, 19, 20, 21, 3000])
def test_a_chain(way, n):
    x = generic("x")
    copied = way(chain(n, x))
    order = toposort([copied])
    assert len(order) == n
    if n:
        assert order[0].inputs[0].name == "x" and copied is order[-1].outputs[0]
        assert all(a.outputs[0] is b.inputs[0] for a, b in pairwise(order))
        assert set(vars(copied)) == set(vars(chain(1, x))) and set(vars(order[0])) == set(vars(chain(1, x).owner))


def test_a_chain_of_ten_thousand():
    assert len(toposort([by_pickle(chain(10_000, generic("x")))])) == 10_000


@ways
def test_a_node(way):
    node = way(chain(2000, generic("x")).owner)
    assert isinstance(node, Apply) and node.outputs[0].owner is node and len(toposort(node.outputs)) == 2000


@ways
def test_what_is_shared_stays_shared(way):
    x = generic("x")
    middle = chain(3000, x)
    ends = [chain(40, middle), chain(3000, middle)]
    copied_x, copied_middle, first, second = way([x, middle, *ends])
    for end, length in ((first, 3040), (second, 6000)):
        order = toposort([end])
        assert len(order) == length
        assert order[0].inputs[0] is copied_x and any(copied_middle is node.outputs[0] for node in order)


@ways
def test_nodes_of_several_outputs_and_wide_graphs(way):
    a, b = generic("a"), generic("b")
    for _ in range(800):
        a, b = Both()(a, b)
    copied = way((a, b))
    assert copied[0].owner is copied[1].owner and [v.index for v in copied] == [0, 1]
    order = toposort(copied)
    assert len(order) == 800 and all(n.inputs[0].owner is n.inputs[1].owner for n in order[1:])


def test_an_attempt_that_failed_leaves_no_trace():
    x = generic("x")
    inner = chain(2000, x)
    x.tag.obstacle = lambda: None
    end = chain(2000, inner)
    for _ in range(2):
        with pytest.raises((pickle.PicklingError, AttributeError)):
            pickle.dumps(end)
    del x.tag.obstacle
    assert len(toposort([by_pickle(end)])) == 4000
    assert len(toposort([by_pickle(inner)])) == 2000


@pytest.mark.parametrize("way", [by_pickle, copy.deepcopy])
@pytest.mark.parametrize(
    ("obstacle", "begun_again"), portion(product([700, 0, 1300], [700, 699, 701, 1, 1499]), always=3)
)
def test_an_attempt_that_failed_is_not_continued_by_the_next(way, obstacle, begun_again):
    steps = [generic("x")]
    for _ in range(1500):
        steps.append(Next()(steps[-1]))

    class Refuses:
        def __reduce_ex__(self, protocol):
            raise TypeError("no")

    steps[obstacle].tag.obstacle = Refuses()
    with pytest.raises(TypeError, match="no"):
        way(steps[-1])
    del steps[obstacle].tag.obstacle
    assert len(toposort([way(steps[begun_again])])) == begun_again
    assert len(toposort([way(steps[-1].owner.outputs)[0]])) == 1500
