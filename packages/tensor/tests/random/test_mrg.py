"""MRG31k3p: the published sequence, the numbers that Theano made of it, and what users do with its streams."""

from __future__ import annotations

import pickle

import numpy as np
import plain_mrg
import pytest

import theano
import theano.tensor as T
from theano.tensor.random.draw import Draw
from theano.tensor.random.mrg import MRG_RandomStreams, guess_n_streams, mrg_uniform
from theano.tensor.random.mrg31k3p import converted, jump, substreams

SEED = [12345, 2, 3, 4, 5, 2147462578]


def plain(states, count, dtype):
    """Return numbers and states after them, stream by stream."""
    n = len(states)
    drawn, after = np.zeros(count, "int64"), []
    for i, state in enumerate(states):
        here, last = plain_mrg.draws(state, len(range(i, count, n)))
        drawn[i::n] = here
        after.append(last)
    if dtype == "float64":
        return np.array([d / 2**31 for d in drawn]), np.array(after)
    return np.array([np.float32(d) * np.float32(4.6566126e-10) for d in drawn], dtype), np.array(after)


def drawn(states, size, dtype, **options):
    """Return what a compiled function draws: numbers, and the states after them."""
    shared = theano.shared(np.asarray(states, "int32"))
    after, numbers = mrg_uniform.new(shared, None, dtype, size)
    return theano.function([], [numbers, after], **options)()


# -- the sequence ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("streams", [1, 3, 16, 100, 511, 512, 513, 1030])
def test_the_sequence_is_the_published_one(streams, dtype):
    states = substreams(SEED, streams)
    for count in (0, 1, 2, streams - 1, streams, streams + 1, 3 * streams + 5):
        right, after = plain(states, count, dtype)
        for mode in ("FAST_RUN", "FAST_COMPILE"):
            numbers, found = drawn(states, (count,), dtype, mode=mode)
            assert numbers.dtype == dtype
            np.testing.assert_array_equal(numbers, right)
            np.testing.assert_array_equal(found, after)


def test_extreme_states():
    """The largest numbers, and those whose difference is 0."""
    states = np.array([[plain_mrg.M1 - 1] * 3 + [plain_mrg.M2 - 1] * 3, [1, 0, 0, 1, 0, 0], [0, 0, 1, 0, 0, 1], [0, 1, 0, 1, 0, 0]])
    for dtype in ("float32", "float64"):
        right, after = plain(states, 4000, dtype)
        numbers, found = drawn(states, (4000,), dtype)
        np.testing.assert_array_equal(numbers, right)
        np.testing.assert_array_equal(found, after)
        assert numbers.min() > 0
        assert numbers.max() < 1


def test_conversions_stay_inside():
    for dtype in ("float16", "float32", "float64"):
        edges = converted(np.array([1, 2**15 - 1, 2**15, plain_mrg.M1]), dtype)
        assert edges.min() > 0
        assert edges.max() < 1


@pytest.mark.parametrize("exponent", [0, 1, 72, 134])
def test_jumps(exponent):
    a, b = jump(exponent)
    assert a.tolist() == plain_mrg.power([[0, 2**22, 129], [1, 0, 0], [0, 1, 0]], 2**exponent, plain_mrg.M1)
    assert b.tolist() == plain_mrg.power([[2**15, 0, 2**15 + 1], [1, 0, 0], [0, 1, 0]], 2**exponent, plain_mrg.M2)


def test_where_streams_begin():
    states = substreams(SEED, 9)
    for i, state in enumerate(states):
        assert tuple(state) == plain_mrg.jump(SEED, i * 2**72)
    streams = MRG_RandomStreams(SEED)
    np.testing.assert_array_equal(streams.get_substream_rstates(3, "float64", inc_rstate=False), states[:3])
    np.testing.assert_array_equal(streams.get_substream_rstates(9, "float32"), states)
    assert tuple(streams.rstate) == plain_mrg.jump(SEED, 2**134)
    assert streams.rstate.dtype == np.int32


# -- what Theano 1.0.5 makes of it (recorded there, with seed 42 and three streams) ------------------------------------

UNIFORM = {
    "float16": ["0x1.4f80000000000p-3", "0x1.9f00000000000p-2", "0x1.3280000000000p-1", "0x1.4540000000000p-3", "0x1.b2c0000000000p-2", "0x1.7d40000000000p-1", "0x1.3380000000000p-2"],
    "float32": ["0x1.4ac29e0000000p-4", "0x1.da80ce0000000p-1", "0x1.b82d320000000p-1", "0x1.49128a0000000p-4", "0x1.63adb20000000p-2", "0x1.718df60000000p-3", "0x1.3f14ce0000000p-4"],
    "float64": ["0x1.4ac2a00000000p-4", "0x1.da80cff000000p-1", "0x1.b82d332000000p-1", "0x1.49128bc000000p-4", "0x1.63adb39000000p-2", "0x1.718df7a000000p-3", "0x1.3f14cfe000000p-4"],
}  # fmt: skip
NORMAL = ["-0x1.49c3359f84afep+0", "0x1.52103864d318bp-3", "0x1.f0e7bd34f257bp-2", "-0x1.eddf4fde8be8bp-4", "0x1.d631ba004da49p+0", "0x1.69d7aa7d98cdap-2", "0x1.08b3a35a7f3a5p-2"]  # fmt: skip
TRUNCATED = ["0x1.f1c52bded3a62p-2", "0x1.07954dba58922p+1", "0x1.10387aedf0681p+2", "-0x1.86546688dba82p+0", "0x1.574e7cab93dfep+2"]  # fmt: skip


def floats(texts):
    return np.array([float.fromhex(t) for t in texts])


@pytest.mark.parametrize("dtype", UNIFORM)
def test_uniform_numbers_are_theanos(dtype):
    numbers = theano.function([], MRG_RandomStreams(42).uniform((7,), dtype=dtype, nstreams=3))()
    np.testing.assert_array_equal(numbers.astype("float64"), floats(UNIFORM[dtype]))


def test_other_numbers_are_theanos():
    streams = lambda: MRG_RandomStreams(42)
    normal = theano.function([], streams().normal((7,), dtype="float64", nstreams=3))()
    np.testing.assert_allclose(normal, floats(NORMAL), rtol=2e-15)
    truncated = theano.function([], streams().truncated_normal((41,), avg=1.0, std=2.0, dtype="float64", nstreams=3))()
    np.testing.assert_allclose(truncated[:5], floats(TRUNCATED), rtol=2e-15)
    p = np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    assert theano.function([], streams().multinomial(pvals=p, n=20, nstreams=3))().tolist() == [[7, 6, 7], [3, 3, 14]]
    assert theano.function([], streams().choice(p=p, size=2, replace=False, nstreams=3))().tolist() == [[0, 2], [2, 0]]
    binomial = theano.function([], streams().binomial((3, 4), p=0.3, nstreams=3, dtype="int8"))()
    assert binomial.tolist() == [[1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]]


# -- streams -----------------------------------------------------------------------------------------------------------


def test_how_many_streams():
    assert [guess_n_streams(s) for s in ((2, 3), (5, 6), (10**4, 10**4))] == [6, 5, 15360]
    with pytest.warns(UserWarning, match="cannot be guessed"):
        assert guess_n_streams(T.lvector(), warn=True) == 15360
    assert MRG_RandomStreams().n_streams((12,)) == 2


@pytest.mark.parametrize("threads", [1, 4])
def test_threads_change_nothing(threads):
    from theano.settings import change_flags

    with change_flags(threads=threads):
        numbers, after = drawn(substreams(SEED, 15360), (3, 200_001), "float64")
    right, last = drawn(substreams(SEED, 15360), (3, 200_001), "float64", mode="FAST_COMPILE")
    np.testing.assert_array_equal(numbers, right)
    np.testing.assert_array_equal(after, last)


def test_functions_advance_streams():
    streams = MRG_RandomStreams(SEED)
    u = streams.uniform((4,), dtype="float64", nstreams=2)
    f, g = theano.function([], u), theano.function([], u, no_default_updates=True)
    right, _ = plain(substreams(SEED, 2), 8, "float64")
    np.testing.assert_array_equal(f(), right[:4])
    np.testing.assert_array_equal(g(), right[4:])
    np.testing.assert_array_equal(f(), right[4:])
    streams.seed()
    np.testing.assert_array_equal(f(), right[:4])
    streams.seed(77)
    np.testing.assert_array_equal(f(), plain(substreams([77] * 6, 2), 4, "float64")[0])
    ((states, after, size, nstreams),) = streams.updates()
    assert (size, nstreams) == ((4,), 2)
    assert states.default_update is after
    assert states.tag.is_rng


def test_draws_of_one_call_do_not_meet():
    streams = MRG_RandomStreams(SEED)
    both = [streams.uniform((50,)), streams.uniform((50,))]
    assert tuple(streams.state_updates[1][0].get_value()[0]) == plain_mrg.jump(SEED, 2**134)
    a, b = theano.function([], both)()
    assert not set(a.tolist()) & set(b.tolist())


@pytest.mark.parametrize("size", [(7,), (3, 4), (2, 1, 5)])
@pytest.mark.parametrize("kind", ["uniform", "normal", "truncated_normal", "binomial"])
def test_sizes(kind, size):
    n = T.lscalar("n")
    draw = lambda size, **k: getattr(MRG_RandomStreams(SEED), kind)(size=size, nstreams=3, **k)
    constant = theano.function([], draw(size))()
    assert constant.shape == size
    np.testing.assert_array_equal(theano.function([n], draw((n, *size[1:])))(size[0]), constant)
    vector = T.lvector("size")
    np.testing.assert_array_equal(theano.function([vector], draw(vector, ndim=len(size)))(size), constant)
    assert draw(size).type.broadcastable == tuple(k == 1 for k in size)


def test_of_one_outcome_one_is_chosen():
    p = T.dcol("p")
    streams = MRG_RandomStreams(SEED)
    once, counts = streams.choice(1, replace=False, p=p), streams.multinomial(pvals=p)
    assert once.type.broadcastable == counts.type.broadcastable == (False, True)
    assert theano.function([p], once)([[1.0], [1.0]]).tolist() == [[0], [0]]
    assert not streams.choice(2, replace=False, p=T.dmatrix()).type.broadcastable[1]


def test_values_between_bounds():
    low, high = T.dvector("low"), T.dscalar("high")
    x = MRG_RandomStreams(SEED).uniform((1000, 2), low, high)
    numbers = theano.function([low, high], x)([1.0, 5.0], 7.0)
    assert (numbers > [1, 5]).all()
    assert (numbers < 7).all()
    wide = MRG_RandomStreams(SEED).normal((20000,), avg=T.constant(3.0), std=0.5).eval()
    assert abs(wide.mean() - 3) < 0.02
    assert abs(wide.std() - 0.5) < 0.01
    cut = MRG_RandomStreams(SEED).truncated_normal((20000,), avg=3.0, std=0.5).eval()
    assert np.abs(cut - 3).max() <= 2 * 0.5 / 0.8796 + 1e-3
    assert abs(cut.std() - 0.5) < 0.01


def test_different_outcomes():
    p = np.array([[0.1, 0.2, 0.3, 0.4], [0.25] * 4])
    chosen = theano.function([], MRG_RandomStreams(SEED).choice(p=p, size=4, replace=False))()
    assert (np.sort(chosen) == np.arange(4)).all()
    with pytest.warns(DeprecationWarning, match="called choice"):
        again = MRG_RandomStreams(SEED).multinomial_wo_replacement(pvals=p, n=4)
    np.testing.assert_array_equal(again.eval(), chosen)


def test_states_may_be_overwritten():
    states = T.imatrix("states")
    after, numbers = mrg_uniform.new(states, 1, "float64", (5,))
    f = theano.function([theano.In(states, mutable=True)], [after, numbers])
    assert [node.op.inplace for node in f.maker.fgraph.toposort() if isinstance(node.op, Draw)] == [True]
    first = substreams(SEED, 3)
    right, last = plain(first, 5, "float64")
    given = first.copy()
    found, numbers = f(given)
    np.testing.assert_array_equal(found, last)
    np.testing.assert_array_equal(numbers, right)
    for laid_out in (np.asfortranarray(first), first[::-1].copy()[::-1], np.repeat(first, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(f(laid_out)[1], right)


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", "DebugMode"])
def test_modes(mode):
    streams = MRG_RandomStreams(SEED)
    f = theano.function([], [streams.normal((3, 3)), streams.uniform((5,), dtype="float32")], mode=mode)
    assert (f()[0] != f()[0]).all()
    g = pickle.loads(pickle.dumps(theano.function([], streams.uniform((3,)), mode=mode)))
    assert g().shape == (3,)


def test_derivatives():
    streams, low, x = MRG_RandomStreams(SEED), T.dscalar("low"), T.dvector("x")
    g = theano.grad((streams.binomial(x.shape, p=0.5, dtype="float64", ndim=1) * x).sum(), x)
    assert set(g.eval({x: np.ones(9)}).tolist()) <= {0.0, 1.0}
    for draw in (
        streams.uniform((), low=low), streams.normal((), avg=low), streams.binomial((), p=low, dtype="float64"),
        streams.multinomial(pvals=[[low, 1 - low]], dtype="float64").sum(),
    ):  # fmt: skip
        with pytest.raises(theano.gradient.NullTypeGradError):
            theano.grad(draw, low)


def test_shapes_are_known_without_drawing():
    n = T.lscalar("n")
    f = theano.function([n], MRG_RandomStreams(SEED).uniform((n, 3)).shape, no_default_updates=True)
    assert not any(isinstance(node.op, Draw) for node in f.maker.fgraph.toposort())
    assert f(4).tolist() == [4, 3]


# -- what is wrong is said ---------------------------------------------------------------------------------------------

streams = MRG_RandomStreams(1)
WRONG = {
    "seed 0": (ValueError, "must not be 0", lambda: MRG_RandomStreams(0)),
    "seed": (ValueError, "must be less than 2147462579", lambda: MRG_RandomStreams(2**31)),
    "first three": (ValueError, "first three numbers", lambda: MRG_RandomStreams([0, 0, 0, 1, 1, 1])),
    "last three": (ValueError, "last three numbers", lambda: MRG_RandomStreams([1, 1, 1, 1, 1, 2147462579])),
    "five": (TypeError, "one whole number or six", lambda: MRG_RandomStreams([1] * 5)),
    **{
        f"seed {seed!r}": (TypeError, f"one whole number or six, not {seed!r}", lambda seed=seed: MRG_RandomStreams(seed=seed))
        for seed in (None, 1.5, "a text")
    },
    "list": (TypeError, "tuple of whole numbers", lambda: streams.uniform([3])),
    "scalar": (TypeError, "must be a vector", lambda: streams.uniform(T.lscalar())),
    "fraction": (AssertionError, "is none", lambda: streams.uniform((2.5,))),
    "negative": (ValueError, "must be positive", lambda: streams.uniform((3, -1))),
    "zero": (ValueError, "must be positive", lambda: streams.uniform((0,))),
    "keyword": (TypeError, "no parameter 'sizes'", lambda: streams.uniform((2,), sizes=3)),
    "bounds": (NotImplementedError, "Increase the size", lambda: streams.uniform((1,), low=T.dvector())),
    "integers": (TypeError, "float dtype", lambda: streams.uniform((2,), dtype="int32")),
    "trials": (NotImplementedError, "knows n=1 alone", lambda: streams.binomial((2,), n=3)),
    "no pvals": (TypeError, "needs pvals", lambda: streams.multinomial()),
    "size of multinomial": (ValueError, "must be None", lambda: streams.multinomial((3,), pvals=np.eye(2))),
    "vector of pvals": (NotImplementedError, "needs a matrix", lambda: streams.multinomial(pvals=[0.5, 0.5])),
    "replace": (NotImplementedError, "replace=False", lambda: streams.choice(p=np.eye(2))),
    "a": (TypeError, "a must be None", lambda: streams.choice(a=3, replace=False, p=np.eye(2))),
    "states": (TypeError, "matrix of int32", lambda: mrg_uniform.new(T.dmatrix(), None, "float64", (2,))),
    "nstreams": (AssertionError, "must be positive", lambda: streams.uniform((2,), nstreams=0)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name):
    kind, text, make = WRONG[name]
    with pytest.raises(kind, match=text) as caught:
        make()
    assert len(str(caught.value).splitlines()) <= 10


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_sizes_that_cannot_be_drawn(mode):
    size, states = T.lvector("size"), T.imatrix("states")
    _, numbers = mrg_uniform.new(states, 1, "float32", size)
    f = theano.function([states, size], numbers, mode=mode)
    for value, given in (([-1], substreams(SEED, 2)), ([2**31], substreams(SEED, 2)), ([2, 3], substreams(SEED, 2)), ([4], np.zeros((0, 6), "int32"))):
        with pytest.raises(ValueError):
            f(given, value)


def test_probabilities_that_do_not_fit():
    p = T.dmatrix("p")
    f = theano.function([p], MRG_RandomStreams(1).choice(p=p, size=3, replace=False))
    with pytest.raises(ValueError, match="3 different outcomes"):
        f(np.full((2, 2), 0.5))
    from theano.tensor.random.categories import MultinomialFromUniform

    with pytest.raises(ValueError, match="Give 4"):
        MultinomialFromUniform("auto")(np.eye(2), np.zeros(3), 2).eval()
    counts = MultinomialFromUniform("auto")(np.array([[0.5, 0.25]]), np.array([0.9, 0.6]), 2)
    assert counts.eval().tolist() == [[0.0, 1.0]]  # 0.9 is beyond the sum
    assert counts.type.dtype == "float64"
