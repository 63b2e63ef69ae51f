"""Streams on NumPy's RandomState: the same numbers as NumPy, bit for bit, and what functions do with states."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest

import theano
import theano.tensor as T
from portion import portion
from theano.compile import In
from theano.graph.canonical import form_of, object_of
from theano.tensor.random import distributions
from theano.tensor.random.function import RandomFunction, random_function
from theano.tensor.random.streams import RandomStreams
from theano.tensor.random.type import RandomStateType, copy_of, random_state_type

SEED = 4321

#: By name: a draw of a size, and what NumPy draws for it.
DRAWS = {
    "uniform": (lambda s, size, dt: s.uniform(size, -2, 3, dtype=dt), lambda r, size: r.uniform(-2, 3, size)),
    "uniform_vector": (lambda s, size, dt: s.uniform(size, np.arange(4.0), 9.0, dtype=dt), lambda r, size: r.uniform(np.arange(4.0), 9.0, size)),
    "normal": (lambda s, size, dt: s.normal(size, 1, 2, dtype=dt), lambda r, size: r.normal(1, 2, size)),
    "binomial": (lambda s, size, dt: s.binomial(size, 7, 0.3, dtype=dt), lambda r, size: r.binomial(7, 0.3, size)),
    "random_integers": (lambda s, size, dt: s.random_integers(size, -3, 60, dtype=dt), lambda r, size: r.randint(-3, 61, size)),
    "poisson": (lambda s, size, dt: s.poisson(size, 3.5, dtype=dt), lambda r, size: r.poisson(3.5, size)),
    "choice": (lambda s, size, dt: s.choice(size, 30, dtype=dt), lambda r, size: r.choice(30, size)),
    "choice_p": (lambda s, size, dt: s.choice(size, np.array([5, 6, 9]), p=np.array([0.2, 0.5, 0.3]), dtype=dt), lambda r, size: r.choice([5, 6, 9], size, p=[0.2, 0.5, 0.3])),
    "permutation": (lambda s, size, dt: s.permutation(size, 6, dtype=dt), lambda r, size: np.array([r.permutation(6) for _ in range(int(np.prod(size)))]).reshape(*size, 6)),
    "multinomial": (lambda s, size, dt: s.multinomial(size, 8, [0.5, 0.25, 0.25], dtype=dt), lambda r, size: r.multinomial(8, [0.5, 0.25, 0.25], size)),
}  # fmt: skip

FORMS = {
    "constant": lambda shape: (shape, None, {}),
    "mixed": lambda shape: ((T.lscalar("n"), *shape[1:]), None, {0: shape[0]}),
    "vector": lambda shape: (T.lvector("size"), len(shape), {0: np.array(shape)}),
}


def numpy_state(seed=SEED, stream=0):
    """Return the state of a stream of RandomStreams(seed)."""
    seeds = np.random.RandomState(seed)
    for _ in range(stream):
        seeds.randint(2**30)
    return np.random.RandomState(int(seeds.randint(2**30)))


@pytest.mark.parametrize(
    ("name", "shape", "form", "dtype"),
    portion(product(DRAWS, [(5, 4), (1, 4), (0, 4), (2, 3, 4)], FORMS, ["float32", "float64", "int8", "int64", "uint16"]), always=0),
)
def test_the_numbers_are_numpys(name, shape, form, dtype):
    if name.startswith(("uniform", "normal")) and dtype[0] in "iu":
        dtype = "float16"
    draw, wanted = DRAWS[name]
    size, ndim, given = FORMS[form](shape)
    streams = RandomStreams(SEED)
    if ndim is not None:  # the symbolic vector does not tell its length
        streams.gen, gen = (lambda op, *a, **k: gen(op, *a, **{**k, "ndim": ndim})), streams.gen
    numbers = draw(streams, size, dtype)
    inputs = [size] if form == "vector" else [size[0]] if form == "mixed" else []
    f = theano.function(inputs, numbers)
    state = numpy_state()
    for _ in range(2):
        found, right = f(*given.values()), np.asarray(wanted(state, shape)).astype(dtype)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, right)
    assert numbers.type.ndim == right.ndim
    if form == "constant":
        ones = [i for i, n in enumerate(shape) if n == 1 and name != "binomial"]  # of which Theano knows no lengths
        assert [i for i, one in enumerate(numbers.type.broadcastable) if one] == ones


@pytest.mark.parametrize("name", ["uniform", "normal", "binomial"])
def test_parameters_tell_the_shape(name):
    a, b = (np.array([[1.0], [2.0]]), np.array([0.1, 0.2, 0.3])) if name != "binomial" else (np.array([[3], [9]]), np.array([0.1, 0.2, 0.3]))
    x, y = T.TensorType(a.dtype.name, (False, True))(), T.dvector()
    f = theano.function([x, y], getattr(RandomStreams(SEED), name)(None, x, y, dtype="float64"))
    right = getattr(numpy_state(), name)(a, b)
    np.testing.assert_array_equal(f(a, b), right)


def test_a_length_of_a_parameter():
    low = T.dmatrix("low")
    numbers = RandomStreams(SEED).uniform((-1, -1), low, 10.0)
    value = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(theano.function([low], numbers)(value), numpy_state().uniform(value, 10.0))
    with pytest.raises(ValueError, match="-1 where no parameter"):
        RandomStreams(1).uniform((-1,), 0.0, 1.0)


def test_bounds_of_integers_may_be_arrays():
    low, high = T.lvectors("low", "high")
    f = theano.function([low, high], RandomStreams(SEED).random_integers((2, 3), low, high))
    state = numpy_state()
    right = [[state.randint(a, b + 1) for a, b in zip([0, 10, 20], [5, 15, 2**40], strict=True)] for _ in range(2)]
    np.testing.assert_array_equal(f([0, 10, 20], [5, 15, 2**40]), right)
    with pytest.raises(ValueError, match=r"low of shape \(2,\) does not fit"):
        f([0, 1], [5, 6])


def test_rows_of_probabilities():
    p = np.array([[0.5, 0.5, 0.0], [0.1, 0.1, 0.8]], "float32")
    f = theano.function([], RandomStreams(SEED).multinomial(None, 100, p))
    counts = f()
    assert counts.shape == (2, 3)
    assert (counts.sum(axis=1) == 100).all()
    g = theano.function([], RandomStreams(SEED).multinomial_wo_replacement((4, 2), 3, p + np.float32(0.01)))
    assert (np.sort(g(), axis=-1) == np.arange(3)).all()


@pytest.mark.parametrize("shape", [(7,), (3, 7), (2, 3, 7)])
def test_rows_are_shuffled(shape):
    x = T.TensorType("float64", (False,) * len(shape))("x")
    shuffled = RandomStreams(SEED).shuffle_row_elements(x)
    value = np.arange(np.prod(shape), dtype="float64").reshape(shape)
    found, order = theano.function([x], [shuffled, shuffled.permutation])(value)
    np.testing.assert_array_equal(found, np.take_along_axis(value, order, -1))
    np.testing.assert_array_equal(np.sort(found), value)


# -- states ------------------------------------------------------------------------------------------------------------


def test_functions_advance_states_unless_told_not_to():
    streams = RandomStreams(SEED)
    u = streams.uniform((3,))
    f, g = theano.function([], u), theano.function([], u, no_default_updates=True)
    first = numpy_state()
    np.testing.assert_array_equal(g(), g())
    np.testing.assert_array_equal(f(), first.uniform(size=3))
    after = g()
    np.testing.assert_array_equal(after, g())
    np.testing.assert_array_equal(f(), after)
    h = theano.function([], u + u - 2 * u)
    assert (h() == 0).all()  # one draw, used twice
    k = theano.function([], u, no_default_updates=[u.rng])
    np.testing.assert_array_equal(k(), k())
    told = theano.function([], u, updates=[u.update], no_default_updates=True)
    assert (told() != told()).all()


def test_seeds():
    streams = RandomStreams(SEED)
    u, v = streams.uniform((3,)), streams.normal((2,))
    f = theano.function([], [u, v])
    first = f()
    np.testing.assert_array_equal(first[1], numpy_state(stream=1).normal(size=2))
    f()
    streams.seed()
    for a, b in zip(first, f(), strict=True):
        np.testing.assert_array_equal(a, b)
    streams.seed(5)
    np.testing.assert_array_equal(f()[0], numpy_state(5).uniform(size=3))
    assert streams.updates() == streams.state_updates == [u.update, v.update]
    assert streams.updates() is not streams.state_updates


def test_states_can_be_read_and_set():
    streams = RandomStreams(SEED)
    u = streams.uniform((3,))
    f = theano.function([], u)
    state = u.rng.get_value(borrow=True)
    assert streams[u.rng] is state
    state.seed(89)
    u.rng.set_value(state, borrow=True)
    np.testing.assert_array_equal(f(), np.random.RandomState(89).uniform(size=3))
    streams[u.rng] = np.random.RandomState(90)
    copy = u.rng.get_value()
    assert copy is not streams[u.rng]
    np.testing.assert_array_equal(f(), copy.uniform(size=3))
    other = RandomStreams(SEED + 1)
    w = other.uniform((3,))
    w.rng.get_value(borrow=True).set_state(u.rng.get_value().get_state())
    np.testing.assert_array_equal(theano.function([], w)(), f())


def test_a_call_that_fails_leaves_the_state():
    streams = RandomStreams(SEED)
    u, x = streams.uniform((3,)), T.dvector("x")
    f = theano.function([x], u + x)
    with pytest.raises(ValueError):
        f(np.zeros(4))
    np.testing.assert_array_equal(f(np.zeros(3)), numpy_state().uniform(size=3))


def test_shared_states():
    state = np.random.RandomState(3)
    kept, copied = theano.shared(state, borrow=True), theano.shared(state, name="s")
    assert kept.get_value(borrow=True) is state
    assert copied.get_value(borrow=True) is not state
    assert copied.name == "s"
    state.uniform()
    assert not random_state_type.values_eq(kept.get_value(), copied.get_value())
    with pytest.raises(TypeError, match="RandomState is wanted"):
        kept.set_value(3)


def test_the_type():
    a = np.random.RandomState(1)
    b = copy_of(a)
    assert RandomStateType() == random_state_type
    assert random_state_type.values_eq(a, b)
    a.normal()  # NumPy keeps a second number
    assert not random_state_type.values_eq(a, b)
    b.normal()
    assert random_state_type.values_eq_approx(a, b)
    assert random_state_type.is_valid_value(a)
    assert not random_state_type.is_valid_value(np.random.default_rng())
    assert random_state_type.may_share_memory(a, a)
    assert not random_state_type.may_share_memory(a, b)
    assert random_state_type.get_size(random_state_type.get_shape_info(a)) > 2496
    assert random_state_type.values_eq(a, object_of(form_of(a)))
    assert object_of(form_of(random_state_type)) == random_state_type
    assert random_state_type.constant_signature(a) == random_state_type.constant_signature(copy_of(a))
    assert str(random_state_type) == "RandomStateType"


def test_states_may_be_advanced_themselves():
    r = random_state_type("r")
    after, numbers = distributions.uniform(r, (3,))
    f = theano.function([In(r, mutable=True)], [after, numbers])
    assert any(n.op.inplace for n in f.maker.fgraph.toposort() if isinstance(n.op, RandomFunction))
    state = np.random.RandomState(1)
    found, _ = f(state)
    assert found is state
    g = theano.function([r], [after, numbers])
    state, before = np.random.RandomState(1), np.random.RandomState(1)
    found, numbers = g(state)
    assert random_state_type.values_eq(state, before)
    np.testing.assert_array_equal(numbers, before.uniform(size=3))
    assert random_state_type.values_eq(found, before)


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", "DebugMode"])
def test_modes(mode):
    streams = RandomStreams(SEED)
    x = streams.normal((4, 2)) + streams.uniform((2,))
    f = theano.function([], [x, streams.permutation((2,), 5), streams.choice((3,), 9)], mode=mode)
    state = numpy_state()
    for _ in range(2):
        state.normal(size=(4, 2))
        f()
    assert random_state_type.values_eq(streams[streams.updates()[0][0]], state)


def test_functions_are_pickled_with_their_streams():
    f = theano.function([], RandomStreams(SEED).uniform((3,)))
    f()
    g = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(f(), g())
    np.testing.assert_array_equal(f(), g())


# -- what is known before anything is drawn ----------------------------------------------------------------------------


def test_shapes_are_known_without_drawing():
    n = T.lscalar("n")
    u = RandomStreams(SEED).uniform((n, 3))
    f = theano.function([n], u.shape, mode="FAST_RUN", no_default_updates=True)
    assert not any(isinstance(node.op, RandomFunction) for node in f.maker.fgraph.toposort())
    assert f(5).tolist() == [5, 3]


def test_derivatives():
    streams, w, x = RandomStreams(SEED), T.dscalar("w"), T.dvector("x")
    mask = streams.binomial(x.shape, p=0.5, dtype="float64")
    g = theano.grad((mask * x * w).sum(), x)
    value = g.eval({x: np.ones(5), w: 3.0})
    assert set(value.tolist()) <= {0.0, 3.0}
    with pytest.raises(theano.gradient.NullTypeGradError, match="no smooth function"):
        theano.grad(streams.uniform((), low=w), w)
    assert T.Rop(mask * x, x, x).eval({x: np.ones(5)}).shape == (5,)
    node = mask.owner.inputs[0].owner if mask.owner.op.__class__.__name__ == "Elemwise" else mask.owner
    assert node.op.R_op(node.inputs, [None] * len(node.inputs)) == [None, None]


def test_functions_of_the_users_draw():
    def pairs(state, scale, size):
        return np.stack([state.uniform(size=size) * scale] * 2, axis=-1)

    draw = random_function(pairs, "float64", 2.0, ndim_added=1)
    after, numbers = draw(theano.shared(np.random.RandomState(7)), (3,))
    right = np.random.RandomState(7).uniform(size=3) * 2
    np.testing.assert_array_equal(numbers.eval(), np.stack([right, right], axis=-1))
    exponential = random_function("exponential", "float64", 1.0)
    _, numbers = exponential(theano.shared(np.random.RandomState(7)), (3,), 4.0)
    np.testing.assert_array_equal(numbers.eval(), np.random.RandomState(7).exponential(4.0, 3))
    with pytest.raises(TypeError, match="no option"):
        random_function("uniform", "float64", nd=1)


# -- what is wrong is said ---------------------------------------------------------------------------------------------

r = random_state_type("r")
WRONG = {
    "no state": (TypeError, "draws from a random state", lambda: distributions.uniform(T.dscalar(), (2,))),
    "no size": (TypeError, "pass size", lambda: distributions.poisson(r, None)),
    "ndim": (ValueError, "ndim is 2", lambda: distributions.uniform(r, (4,), ndim=2)),
    "negative": (ValueError, "length 0 of size is -3", lambda: distributions.uniform(r, (-3,))),
    "fraction": (TypeError, "whole number", lambda: distributions.uniform(r, (2.5,))),
    "float vector": (TypeError, "whole numbers", lambda: distributions.uniform(r, T.dvector(), ndim=1)),
    "matrix": (TypeError, "must be a vector", lambda: distributions.uniform(r, T.lmatrix())),
    "too small": (ValueError, "has 2 dimensions", lambda: distributions.uniform(r, (3,), low=T.dmatrix())),
    "no length": (ValueError, "say ndim", lambda: distributions.uniform(r, T.lvector())),
    "permutation": (TypeError, "one order", lambda: distributions.permutation(r, None, ndim=2)),
    "pvals": (TypeError, "last one for outcomes", lambda: distributions.multinomial(r, pvals=0.5)),
    "method": (TypeError, "no method 'unifrom'", lambda: RandomFunction("unifrom", T.dvector)),
    "fn": (TypeError, "must be the name", lambda: RandomFunction(3, T.dvector)),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name):
    kind, text, make = WRONG[name]
    with pytest.raises(kind, match=text) as caught:
        make()
    assert len(str(caught.value).splitlines()) <= 10


def test_sizes_that_do_not_agree_are_refused_when_drawn():
    size = T.lvector("size")
    f = theano.function([size], RandomStreams(1).uniform(size, ndim=2))
    with pytest.raises(ValueError, match="lengths, and 2 were promised"):
        f([3])
    with pytest.raises(ValueError):
        f([-3, 2])


def test_probabilities_are_checked():
    p = T.dvector("p")
    f = theano.function([p], RandomStreams(1).multinomial((), 1, p))
    with pytest.raises(AssertionError, match="add up"):
        f([0.9, 0.9])
    with pytest.raises(AssertionError, match="negative"):
        f([-0.5, 0.5])
    with pytest.warns(DeprecationWarning, match="called p"):
        RandomStreams(1).binomial((2,), prob=0.3)


def test_streams_that_nobody_needs_are_left_alone():
    streams = RandomStreams(SEED)
    u, v = streams.uniform((3,)), streams.normal((3,))
    f = theano.function([], u)
    before = streams[v.rng].get_state()[1].copy()
    f()
    assert not any(isinstance(n.op, RandomFunction) and n.op.fn == "normal" for n in f.maker.fgraph.toposort())
    np.testing.assert_array_equal(streams[v.rng].get_state()[1], before)
