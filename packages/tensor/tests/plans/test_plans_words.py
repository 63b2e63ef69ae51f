"""What a key is taken over can be read back: no two graphs have one description.

The reader here knows the format and nothing of the code that writes it. A description that it reads without a rest, and
that gives the graph again, says everything about it once.
"""

from __future__ import annotations

import json
from array import array
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.compile import key as keys
from theano.compile.closed_graph import close_graph
from theano.compile.key import GraphDescription, function_key
from theano.compile.mode import Mode
from theano.compile.shared import Container, SharedVariable
from theano.graph.apply import Apply
from theano.graph.canonical import NoCanonicalForm, bytes_of, form_of, text_of
from theano.graph.traverse import toposort
from theano.graph.variable import Constant
from theano.rewriting import RewriteSettings
from theano.runtime.link import CLinker, Linker, OpWiseCLinker

NOTHING = -1


class Description:
    """A description, read from the first word to the last."""

    def __init__(self, parts):
        texts, words, *self.data = parts
        *self.texts, self.names = json.loads(texts)
        self.words = array("q", words).tolist()
        n_inputs, n_leaves, n_nodes, n_wanted = (self.next() for _ in range(4))
        self.leaves = [self.variable() for _ in range(n_leaves)]
        self.nodes = [self.node() for _ in range(n_nodes)]
        wanted = [self.next() for _ in range(n_wanted)]
        said = [self.specification() for _ in range(n_inputs)]
        n_outputs = n_wanted - sum(updated for *_, updated in said)
        updates = iter(wanted[n_outputs:])
        self.inputs = [(*rest, next(updates) if updated else None) for *rest, updated in said]
        self.outputs = [(number, self.next()) for number in wanted[:n_outputs]]
        assert self.words == [], "all has been read"
        self.returns, self.keys = json.loads(self.texts[-1])

    def next(self):
        return self.words.pop(0)

    def variable(self):
        cls, kind, name, tags = (self.next() for _ in range(4))
        return self.texts[cls], self.texts[kind], self.names[name], None if tags == NOTHING else self.texts[tags]

    def node(self):
        op = self.texts[self.next()]
        operands = [self.next() for _ in range(self.next())]
        return op, operands, [self.variable() for _ in range(self.next())]

    def specification(self):
        options, place, updated = self.next(), self.next(), self.next()
        assert place == NOTHING or place >= 0
        return json.loads(self.texts[options]), None if place == NOTHING else place, updated


def expected(closed):
    """Say of a graph what its description says, from the graph."""
    number, leaves, data = {}, [], []

    def look(v):
        tags = {k: x for k, x in vars(v.tag).items() if k not in keys.derived_tags}
        bare = not vars(v.tag) or set(vars(v.tag)) == {"trace"}
        return text_of(type(v)), text_of(v.type), repr(v.name), None if bare else text_of(tags)

    def meet(v):
        if v not in number:
            leaves.append(look(v))
            number[v] = -len(leaves)
            if isinstance(v, Constant):
                data.append(bytes_of(v.data))
        return number[v]

    for spec in closed.inputs:
        meet(spec.variable)
    wanted = [o.variable for o in closed.outputs] + [i.update for i in closed.inputs if i.update is not None]
    order = closed.nodes if closed.nodes is not None else toposort(wanted, [i.variable for i in closed.inputs])
    nodes = []
    for n in order:
        nodes.append((text_of(n.op), [meet(v) for v in n.inputs], [look(v) for v in n.outputs]))
        for v in n.outputs:
            number[v] = sum(k >= 0 for k in number.values())
    outputs = [(meet(o.variable), int(o.borrow)) for o in closed.outputs]
    updates = [None if i.update is None else meet(i.update) for i in closed.inputs]
    return leaves, nodes, data, updates, outputs


def _x(name="x"):
    return T.dvector(name)


def _everything():
    x, y, s = _x(), _x("y"), theano.shared(np.zeros(3), "s")
    z = T.exp(x) * y + T.constant(np.arange(3.0)) - s
    z.tag.unfoldable = True
    return close_graph([x, theano.In(y, value=np.ones(3))], {"b": z, "a": theano.Out(z + 1, borrow=True)}, {s: s + z})


def _constants():
    x = _x()
    zero = T.constant(0.0)
    return close_graph([x], [x + zero, T.constant(0.0) + x, zero, T.constant(np.float32(7))])


def _leaves_among_updates():
    s, t = theano.shared(np.zeros(3), "s"), theano.shared(np.zeros(3), "t")
    return close_graph([], [], {s: t, t: T.constant(np.ones(3))})


def _several_outputs():
    x = _x()
    values, indices = T.max_and_argmax(x)
    return close_graph([x], [indices, values, x], givens=[])


GRAPHS = [_everything, _constants, _leaves_among_updates, _several_outputs, lambda: close_graph([x := _x()], x),
          lambda: close_graph([], None), lambda: close_graph([], [T.constant(1.0)])]  # fmt: skip


@pytest.mark.parametrize("order", ["as made", "by need"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_a_description_is_read_back(graph, order):
    closed = graph()
    if order == "by need":
        closed = replace(closed, nodes=None)
    made = GraphDescription(closed)
    read = Description(made.parts())
    leaves, nodes, data, updates, outputs = expected(closed)
    assert read.leaves == leaves and read.nodes == nodes and read.data == data and read.outputs == outputs
    assert [update for *_, update in read.inputs] == updates
    assert [value.tobytes() for value in made.constants] == [c.data.tobytes() for c in _constants_of(closed)]
    assert (read.returns, read.keys) == (closed.returns, closed.keys)
    assert [(options[0], options[1]) for options, *_ in read.inputs] == [
        (type(spec).__name__, _kind(spec)) for spec in closed.inputs
    ]
    for spec, ((_, _, told), *_) in zip(closed.inputs, read.inputs, strict=True):
        wanted = {k: v for k, v in vars(spec).items() if k not in ("variable", "update", "value", "default")}
        assert told == json.loads(json.dumps(form_of(wanted)))


def _constants_of(closed):
    met = {}
    for node in closed.nodes or toposort([o.variable for o in closed.outputs]):
        met.update((v, None) for v in node.inputs if isinstance(v, Constant))
    met.update((o.variable, None) for o in closed.outputs if isinstance(o.variable, Constant))
    met.update((i.update, None) for i in closed.inputs if isinstance(i.update, Constant))
    return met


def _kind(spec):
    classes = {SharedVariable: "shared", Container: "container", type(None): "none"}
    return next((name for cls, name in classes.items() if isinstance(spec.value, cls)), "value")


def test_inputs_whose_values_lie_in_one_place():
    s, t = theano.shared(np.zeros(3), "s"), theano.shared(np.zeros(3), "t")
    x, y, z = _x(), _x("y"), _x("z")
    given = [theano.In(v, value=c, implicit=False) for v, c in ((x, t.container), (y, s), (z, s.container))]
    read = Description(GraphDescription(close_graph([*given, _x("w")], [x + y + z + s, s * t])).parts())
    assert [place for _, place, _ in read.inputs] == [0, 1, 1, None, 1, 0]
    assert [options[1] for options, *_ in read.inputs] == [
        "container", "shared", "container", "none", "container", "container",
    ]  # fmt: skip


def test_parts_have_their_lengths_before_them():
    """Bytes that move from one part to the next change the key."""
    found = []
    state = SimpleNamespace(update=found.append)
    keys._add(state, b"abc")
    keys._add(state, b"")
    assert b"".join(found) == b"3:abc0:"


def test_a_key_is_128_bits_in_hexadecimal():
    key = function_key(GraphDescription(_everything()), Mode("cvm", None), RewriteSettings(), False, True, ["around"])
    assert len(key) == 32 and int(key, 16) >= 0


@pytest.mark.parametrize(("sizes", "described"), [
    ([1 << 26], True), ([(1 << 26) + 1], False), ([1 << 25, 1 << 25], True), ([1 << 25, 1 << 25, 1], False), ([0, 1 << 26], True),
])  # fmt: skip
def test_large_constants_leave_no_key(sizes, described, monkeypatch):
    """Describing them would take as long as rewriting; the sizes are made up."""
    left = list(sizes)
    monkeypatch.setattr(keys, "bytes_of", lambda data: range(left.pop(0)))
    closed = close_graph([], [T.constant(float(k)) for k in range(len(sizes))])
    if described:
        assert len(GraphDescription(closed).constants) == len(sizes)
    else:
        with pytest.raises(NoCanonicalForm, match="very large"):
            GraphDescription(closed)


# -- how it is computed ------------------------------------------------------------------------------------------------


def with_linker(linker):
    mode = Mode("cvm", "fast_run")
    mode.linker = linker
    return mode


def with_query(**changes):
    mode = Mode("cvm", "fast_run")
    mode.optimizer = replace(mode.optimizer, **changes)
    return mode


def key(mode):
    return function_key(GraphDescription(_constants()), mode, RewriteSettings(), False, True, [])


def test_each_field_of_mode_and_linker_is_in_the_key():
    linkers = [Linker("a"), Linker("b"), Linker("a", "always"), Linker("a", allow_gc=True), Linker("a", allow_gc=False),
               Linker("a", one_block=True)]  # fmt: skip
    modes = [with_linker(linker) for linker in linkers]
    modes += [Mode("cvm", query) for query in ("fast_run", "fast_compile", None)]
    modes += [Mode("cvm", "fast_run").excluding("a"), Mode("cvm", "fast_run").including("a"), Mode("cvm", "fast_run").requiring("a"),
              with_query(position_cutoff=3.0)]  # fmt: skip
    assert len({key(mode) for mode in modes}) == len(modes)
    assert key(with_query(include=frozenset(["a", "b"]))) == key(with_query(include=frozenset(["b", "a"])))
    for cls in (CLinker, OpWiseCLinker):
        key(with_linker(cls()))


class Watched(Linker):
    pass


@pytest.mark.parametrize(("mode", "reason"), [
    (with_linker(Watched("cvm")), "the effect of"), (with_query(subquery={"a": Mode("cvm", None).optimizer}), "of its own"),
    (with_query(extra_optimizations=((lambda fgraph: None, 1.0),)), "of its own"),
    *((Mode("cvm", "fast_run").including(tag), "prints the graph") for tag in sorted(keys.PRINTING_TAGS)),
])  # fmt: skip
def test_what_is_done_by_others_leaves_no_key(mode, reason):
    with pytest.raises(NoCanonicalForm, match=reason):
        key(mode)


# -- what cannot be described ------------------------------------------------------------------------------------------


class OtherNode(Apply):
    pass


class OtherInput(theano.In):
    pass


def test_nodes_and_inputs_of_other_classes_leave_no_key():
    x = _x()
    with pytest.raises(NoCanonicalForm, match="an input of class OtherInput"):
        GraphDescription(close_graph([OtherInput(x)], [x * 2]))
    closed = close_graph([x], [x * 2])
    closed.nodes[0].__class__ = OtherNode
    with pytest.raises(NoCanonicalForm, match="a node of class OtherNode"):
        GraphDescription(closed)


@pytest.mark.parametrize(("tags", "described"), [
    ({}, True), ({"destroyed_roots": 1}, True), ({"note": 1}, False), ({"destroyed_roots": 1, "note": 2}, False),
])  # fmt: skip
def test_what_a_node_carries_leaves_no_key(tags, described):
    x = _x()
    closed = close_graph([x], [x * 2])
    vars(closed.nodes[0].tag).update(tags)
    if described:
        GraphDescription(closed)
    else:
        with pytest.raises(NoCanonicalForm, match="carries something"):
            GraphDescription(closed)


def test_nodes_in_a_wrong_order_leave_no_key():
    x = _x()
    closed = close_graph([x], [T.exp(T.log(x))])
    with pytest.raises(NoCanonicalForm, match="before it is computed"):
        GraphDescription(replace(closed, nodes=closed.nodes[::-1]))
