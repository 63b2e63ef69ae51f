"""What a result with an initial value is, whether or not a step reads its past; what ``strict`` refuses."""

import warnings
from itertools import product

import numpy as np
import pytest

import theano
import theano.tensor as T
from portion import portion
from theano.errors import MissingInputError
from theano.scan import until
from theano.tensor.index.basic import Subtensor
from theano.tensor.random.distributions import normal

STEPS = 4
# The taps of two states, which of them a step reads, whether they are vectors, whether the loop may end early.
KINDS = [
    kind
    for kind in product(((-1,), (-2,), (-3, -1)), ((-1,), (-2, -1)), product((False, True), repeat=2), (False, True), (False, True))
    if not all(kind[2])
]


def new(x, past, read, m):
    """Return a row of both states."""
    a, b = (sum(m.sin(v) * (k + 1) for k, v in enumerate(values)) if r else 0.0 for values, r in zip(past, read, strict=True))
    return x * 0.5 + a + b, m.tanh(x + b)


def rows(first, x, taps, read):
    """Return both states from the first row to the last."""
    found = [list(v) for v in first]
    for t in range(STEPS):
        past = [[v[len(v) + k] for k in ks] for v, ks in zip(found, taps, strict=True)]
        for v, row in zip(found, new(x[t], past, read, np), strict=True):
            v.append(row)
    return [np.array(v) for v in found]


def test_states_are_parts_of_a_buffer_read_or_not():
    rng, inputs, outputs, given, wanted = np.random.default_rng(5), [], [], [], []
    for *taps, read, wide, ends in portion(KINDS, one_in=9, always=0):
        row = (3,) if wide else ()
        x, *first = (rng.uniform(-1, 1, (n, *row)) for n in (STEPS, *(-min(ks) for ks in taps)))
        values = [x, *(v[0] if ks == (-1,) else v for v, ks in zip(first, taps, strict=True))]
        own = [T.TensorType("float64", (False,) * v.ndim)() for v in values]

        def step(x, *past, taps=taps, read=read, ends=ends):
            made = list(new(x, (past[: len(taps[0])], past[len(taps[0]) :]), read, T))
            return (made, until(made[0].sum() > 1e9)) if ends else made

        info = [{"initial": v, "taps": list(ks)} for v, ks in zip(own[1:], taps, strict=True)]
        results, _ = theano.scan(step, own[0], info)
        assert all(isinstance(v.owner.op, Subtensor) for v in results)
        buffers = [v.owner.inputs[0] for v in results]
        slopes = T.grad(sum(T.sin(v).sum() for v in buffers) + T.tanh(results[1]).sum(), own)
        directions = [rng.standard_normal(v.shape) for v in values]
        outputs += [*buffers, *results, sum((g * d).sum() for g, d in zip(slopes, directions, strict=True))]

        def cost(e, given=(x, *first), directions=directions, taps=taps, read=read):
            moved = [v + e * d.reshape(v.shape) for v, d in zip(given, directions, strict=True)]
            found = rows(moved[1:], moved[0], taps, read)
            return sum(np.sin(v).sum() for v in found) + np.tanh(found[1][-STEPS:]).sum()

        found = rows(first, x, taps, read)
        wanted += [*found, *(v[-STEPS:] for v in found), (cost(1e-5) - cost(-1e-5)) / 2e-5]
        inputs += own
        given += values
    f = theano.function(inputs, outputs)
    for v, w in zip(f(*given), wanted, strict=True):
        np.testing.assert_allclose(v, w, rtol=1e-7, atol=1e-8)
    alone = theano.function(inputs, outputs[::5], mode="FAST_COMPILE", on_unused_input="ignore")
    for v, w in zip(alone(*given), wanted[::5], strict=True):
        np.testing.assert_allclose(v, w, rtol=1e-7)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_rows_are_as_long_as_what_they_begin_with(mode):
    X, b = T.dmatrix("X"), T.dvector("b")
    y, _ = theano.scan(lambda x, before: x * 2, X, b)
    f = theano.function([X, b], y, mode=mode)
    np.testing.assert_array_equal(f(np.ones((2, 3)), np.zeros(3)), np.full((2, 3), 2.0))
    with pytest.raises(ValueError, match="shape|length"):
        f(np.ones((2, 3)), np.zeros(2))


def test_a_result_without_a_past_is_computed_without_a_loop():
    X = T.dmatrix("X")
    y, _ = theano.scan(lambda x, before: T.tanh(x), X, T.zeros_like(X[0]))
    f = theano.function([X], [y, T.grad(y.sum(), X)])
    assert not any(isinstance(node.op, theano.scan.op.Scan) for node in f.maker.fgraph.apply_nodes)


def test_strict_is_about_shared_variables():
    x, m = T.dvector("x"), T.dscalar("m")
    w, s, u = (theano.shared(v, name) for v, name in ((2.0, "w"), (3.0, "s"), (1.0, "u")))
    u.default_update, both = u + 1, w * s
    used = {"input": m, "expression": m * 2 + x[0], "of a given one": both * m, "updated": s, "constant": T.constant(2.0),
            "its own update": u}  # fmt: skip
    given = {"of a given one": [w, both], "updated": [w]}
    loops = {}
    for name, v in used.items():
        def step(e, before, *_, v=v, name=name):
            new = before * 0.5 + e * v
            return (new, {s: s + e}) if name == "updated" else new

        loops[name], _ = theano.scan(step, x, np.float64(0), given.get(name, [w]), strict=True)
    found = theano.function([x, m], [v[-1] for v in loops.values()])([1.0, 2.0], 1.5)
    factors = [(1.5, 1.5), (4, 4), (9, 9), (3, 4), (2, 2), (1, 2)]
    np.testing.assert_allclose(found, [0.5 * a + 2 * b for a, b in factors])
    single, _ = theano.scan(lambda e: e * w, x, strict=True, n_steps=1)  # without a loop there is nothing to pass it to
    assert single.eval({x: [2.0]}) == [4.0]
    for v in (w, w * 2, m + w):
        with pytest.raises(MissingInputError, match="uses the shared variable w .*non_sequences") as info:
            theano.scan(lambda e, *_, v=v: e * v, x, non_sequences=[s], strict=True)
        assert info.value.variable is w


def test_a_state_of_random_numbers_that_no_step_changes():
    rng = theano.shared(np.random.RandomState(3), name="rng")
    rng.default_update = rng
    y, updates = theano.scan(lambda before, state: normal(state, avg=before)[1], outputs_info=[T.constant(0.0, dtype="float64")], non_sequences=[rng], n_steps=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = theano.function([], y, updates=updates)()
    np.testing.assert_allclose(found, np.random.RandomState(3).normal() * np.arange(1, 5))
    assert rng.get_value().get_state()[2] == np.random.RandomState(3).get_state()[2]
