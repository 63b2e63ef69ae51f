"""Schedules: an order by need, and within that by priority or by comparing."""

from __future__ import annotations

import itertools
import random

import pytest

import theano
from theano.graph import FunctionGraph, Op, generic
from theano.graph.schedule import by_priority, sort_nodes, sort_schedule_fn


class Step(Op):
    """Adds up its inputs, and says when it runs."""

    __props__ = ("name", "priority")
    log: list[str] = []

    def __init__(self, name: str, priority: int = 0):
        self.name, self.priority = name, priority

    def make_node(self, *inputs):
        return theano.Apply(self, list(inputs), [generic()])

    def perform(self, node, inputs, output_storage):
        self.log.append(self.name)
        output_storage[0][0] = sum(inputs)

    def do_constant_folding(self, node):
        return False


def names(nodes):
    return "".join(node.op.name for node in nodes)


def test_what_begins_early_and_what_ends_late():
    x = generic("x")
    work = Step("w")(Step("v")(x))
    received = Step("R", -1)(x)
    got = Step("G", 1)(received)
    sent = Step("S", -1)(Step("p")(x))
    waited = Step("W", 1)(sent)
    used = Step("u")(got, work)
    graph = FunctionGraph([x], [used, waited], clone=True)
    order = by_priority(graph.toposort())
    assert names(graph.toposort()) == "vwRGupSW"
    # What is sent is computed early, and what is received is waited for when nothing else is left.
    assert names(order) in ("RpSvwGuW", "RpSvwWGu", "pRSvwGuW")
    f = theano.function([x], [used, waited], mode=theano.Mode("py", None))
    Step.log.clear()
    f(1)
    assert "".join(Step.log) == names(order)
    plain = FunctionGraph([x], [work], clone=True)
    assert theano.OpWiseCLinker().order(plain) == plain.toposort() == by_priority(plain.toposort())


def test_a_schedule_of_a_linker_is_kept():
    x = generic("x")
    outputs = [Step(name)(x) for name in "acb"]
    compare = lambda a, b: (a.op.name < b.op.name) - (a.op.name > b.op.name)
    schedule = sort_schedule_fn(lambda a, b: 0, compare)
    for linker in (theano.OpWiseCLinker(schedule=schedule), theano.PerformLinker(schedule=schedule)):
        for mode in (theano.Mode(linker, None), theano.Mode(linker.clone(allow_gc=False), None)):
            Step.log.clear()
            theano.function([x], outputs, mode=mode)(1)
            assert Step.log == ["c", "b", "a"]


@pytest.mark.parametrize("seed", range(5))
def test_any_key_keeps_what_nodes_need(seed):
    rng = random.Random(seed)
    known, nodes = [generic("x")], []
    for i in range(60):
        v = Step(f"{i}")(*rng.sample(known, min(len(known), rng.randrange(1, 4))))
        known.append(v)
        nodes.append(v.owner)
    keys = {node: rng.randrange(4) for node in nodes}
    further = {nodes[40]: [nodes[3]], nodes[55]: [nodes[54]]}
    order = sort_nodes(nodes, keys.__getitem__, further)
    assert sorted(map(id, order)) == sorted(map(id, nodes))
    place = {node: i for i, node in enumerate(order)}
    for node in nodes:
        needs = [v.owner for v in node.inputs if v.owner is not None] + further.get(node, [])
        assert all(place[need] < place[node] for need in needs)
    for before, after in itertools.pairwise(order):
        # Who comes first although its key is larger makes what follows possible.
        needed = {v.owner for v in after.inputs} | set(further.get(after, ()))
        assert keys[before] <= keys[after] or before in needed
