"""Checkpoints: values and derivatives stay, what is between is computed again, and less memory is needed at a time."""

from __future__ import annotations

import pickle
from collections import namedtuple

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.compile.checkpoint import Checkpoint, ControlDependency
from theano.compile.debugmode import DebugMode
from theano.graph.traverse import toposort
from theano.runtime.peak import memory_of
from theano.tensor.shared_randomstreams import RandomStreams

rng = np.random.RandomState(7)
X = rng.randn(3, 4)


def weights(n=6):
    return [theano.shared(rng.randn(4, 4) / 2, f"W{i}") for i in range(n)]


def layers_of(Ws):
    return [lambda h, W=W: T.tanh(T.dot(h, W)) for W in Ws]


def count(f, op):
    return sum(isinstance(node.op, op) for node in f.maker.fgraph.toposort())


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE", theano.Mode("py", None), DebugMode()], ids=str)
def test_derivatives_of_both_orders_are_those_without(mode):
    Ws, x, d = weights(4), T.dmatrix("x"), T.dmatrix("d")
    found = []
    for segments in (None, 1, 2, 4):
        h = x
        for layer in layers_of(Ws) if segments is None else ():
            h = layer(h)
        if segments is not None:
            h = theano.checkpoint_sequential(layers_of(Ws), segments, x)
        cost = (h**2).sum() + T.sin(h).sum()
        first = T.grad(cost, [x, *Ws])
        second = T.grad((first[0] * d).sum() + (first[1] * 2).sum(), [x, Ws[0], Ws[-1]])
        found.append(theano.function([x, d], [cost, *first, *second, T.Rop(cost, x, d)], mode=mode)(X, X[::-1].copy()))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-11, atol=1e-13)


def test_only_what_the_gradient_needs_is_computed_again():
    Ws, x = weights(6), T.dmatrix("x")
    h = theano.checkpoint_sequential(layers_of(Ws), 3, x)
    assert sum(isinstance(node.op, Checkpoint) and node.op.again for node in toposort([h])) == 2
    forward = theano.function([x], h)
    assert count(forward, (Checkpoint, ControlDependency)) == 0
    f = theano.function([x], T.grad(h.sum(), Ws))
    plain = theano.function([x], T.grad(theano.checkpoint_sequential(layers_of(Ws), 1, x).sum(), Ws))
    tanh = lambda g: sum("tanh" in str(node.op).lower() for node in g.maker.fgraph.toposort())
    assert tanh(plain) == 6 and tanh(f) == 10 and count(f, Checkpoint) == 0 and count(f, ControlDependency) > 0
    for a, b in zip(f(X), plain(X), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def peak(f):
    """Return how many matrices as large as the input are there at one time, in the order in which the nodes run."""
    nodes = f.maker.fgraph.toposort()
    large = {v: 1 for node in nodes for v in node.outputs if v.type.ndim == 2 and not any(v.type.broadcastable)}
    for node in nodes:
        if "W" in str(node.inputs[-1]) and node.outputs[0].type.ndim == 2 and "Dot" not in str(node.op):
            large[node.outputs[0]] = 0
    # What a product of a transposed matrix gives is as large as a weight: nothing beside a batch.
    for node in nodes:
        made = node.inputs[0].owner
        if "Dot" in str(node.op) and made is not None and "InplaceDimShuffle{1,0}" in str(made.op):
            large[node.outputs[0]] = 0
    return memory_of(nodes, f.maker.fgraph.outputs, large).peak


def test_memory_grows_as_the_root_of_the_depth():
    def of(n, segments):
        Ws, x = weights(n), T.dmatrix("x")
        cost = theano.checkpoint_sequential(layers_of(Ws), segments, x).sum()
        return peak(theano.function([x], T.grad(cost, Ws)))

    assert of(16, 1) >= 16 and of(64, 1) >= 64
    assert of(16, 4) <= 5 * 4 and of(64, 8) <= 5 * 8


def test_what_a_section_does_not_influence_is_computed_once_outside():
    W, x = T.dmatrix("W"), T.dmatrix("x")
    seen = []

    @theano.checkpoint
    def section(h, *, scale, more):
        """A section."""
        seen.append(h)
        wide = T.exp(W)
        return {"h": T.tanh(T.dot(h, wide)) * scale + more[0], "W": W}

    assert section.__doc__ == "A section."
    made = section(x, scale=2.0, more=[x.sum(), None])
    node = made["h"].owner
    assert seen == [x] and list(made) == ["h", "W"] and len(node.inputs) == 4 and set(node.inputs) >= {x, W}
    cost = (made["h"] ** 2).sum() + made["W"].sum()
    f = theano.function([x, W], [cost, *T.grad(cost, [x, W])])
    plain = section.__wrapped__(x, scale=2.0, more=[x.sum()])
    cost = (plain["h"] ** 2).sum() + plain["W"].sum()
    for a, b in zip(f(X, np.eye(4)), theano.function([x, W], [cost, *T.grad(cost, [x, W])])(X, np.eye(4))):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_what_it_takes_and_returns():
    Pair = namedtuple("Pair", "a b")
    x, y = T.dvectors("x", "y")
    pair = theano.checkpoint(lambda p: Pair(p.a * 2, [p.b, p.a + p.b]))(Pair(x, y))
    assert isinstance(pair, Pair) and isinstance(pair.b, list)
    got = theano.function([x, y], [pair.a, *pair.b, *T.grad(pair.a.sum() + (pair.b[1] ** 2).sum(), [x, y])])([1], [2])
    np.testing.assert_array_equal(np.ravel(got), [2, 2, 3, 8, 6])
    constant = theano.checkpoint(lambda v: T.constant(1.0))(x)
    assert constant.owner is None
    assert theano.checkpoint(lambda v: T.exp(y))(x).owner.op == T.exp(y).owner.op
    with pytest.raises(TypeError, match=r"checkpoint: wrong must return variables .* not 3"):

        @theano.checkpoint
        def wrong(v):
            return [v, 3]

        wrong(x)
    for segments in (0, 3):
        with pytest.raises(ValueError, match=f"segments is {segments}; it must be from 1 to the number of functions, 2"):
            theano.checkpoint_sequential([T.sin, T.exp], segments, x)


def test_checkpoints_may_be_inside_checkpoints_and_beside_other_ops():
    x = T.dvector("x")
    inner = theano.checkpoint(lambda v: T.sin(v) * T.exp(v))
    cost = theano.checkpoint(lambda v: inner(inner(v) + v) ** 2)(x).sum()
    plain = x
    for last in (False, True):
        plain = T.sin(plain) * T.exp(plain)
        plain = plain if last else plain + x
    wanted = (plain**2).sum()
    at = np.array([0.3, -0.2])
    each = [f(v) for v in (cost, wanted) for f in (lambda v: v, lambda v: T.grad(v, x), lambda v: T.hessian(v, x))]
    both = theano.function([x], each)(at)
    for a, b in zip(both[:3], both[3:], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11)
    states, _ = theano.scan(lambda h: theano.checkpoint(lambda v: T.tanh(T.sin(v)) + v)(h), outputs_info=x, n_steps=3)
    again, _ = theano.scan(lambda h: T.tanh(T.sin(h)) + h, outputs_info=x, n_steps=3)
    a, b = theano.function([x], [T.grad(states[-1].sum(), x), T.grad(again[-1].sum(), x)])(at)
    np.testing.assert_allclose(a, b, rtol=1e-12)
    rows = T.dmatrix("rows")
    many = theano.vectorize(lambda v: theano.checkpoint(T.exp)(v) * 2)(rows)
    np.testing.assert_allclose(theano.function([rows], many)(X), np.exp(X) * 2)


def test_random_numbers_are_drawn_once():
    streams, x = RandomStreams(3), T.dvector("x")

    @theano.checkpoint
    def noisy(v):
        return T.tanh(v * streams.uniform(v.shape)) * v

    y = noisy(x)
    f = theano.function([x], [y, T.grad(y.sum(), x)])
    state = np.random.RandomState(np.random.RandomState(3).randint(2**30))
    at = np.array([0.5, -1.5, 2.0])
    for _ in range(3):
        u = state.uniform(size=3)
        value, slope = f(at)
        np.testing.assert_allclose(value, np.tanh(at * u) * at, rtol=1e-12)
        np.testing.assert_allclose(slope, np.tanh(at * u) + at * u / np.cosh(at * u) ** 2, rtol=1e-12)


def test_training_steps_are_the_same_and_functions_can_be_kept():
    start, x = [w.get_value() for w in weights(4)], T.dmatrix("x")
    ends = []
    for segments in (1, 2):
        Ws = [theano.shared(w, f"W{i}") for i, w in enumerate(start)]
        cost = (theano.checkpoint_sequential(layers_of(Ws), segments, x) ** 2).mean()
        step = theano.function([x], cost, updates=[(W, W - 0.5 * g) for W, g in zip(Ws, T.grad(cost, Ws))])
        step = pickle.loads(pickle.dumps(step)) if segments == 2 else step
        ends.append([float(step(X)) for _ in range(5)])
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-12)
    assert ends[0][0] > ends[0][-1]
