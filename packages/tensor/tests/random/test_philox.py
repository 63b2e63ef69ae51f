"""Philox 4x32-10: the published answers, C against NumPy, and the methods of its streams."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.settings import change_flags
from theano.tensor.random.draw import Draw
from theano.tensor.random.philox import GROUP, PhiloxDraw, PhiloxStreams, philox_blocks

SEED = 99

#: Key, counter and block, as the authors' kat_vectors has them: all bits 0, all 1, and those of pi.
KNOWN = [
    ((0, 0), (0, 0, 0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 4, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0xA4093822, 0x299F31D0), (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
]  # fmt: skip

KINDS = [("bits", "uint32"), ("bits", "uint64"), ("uniform", "float32"), ("uniform", "float64"), ("normal", "float32"), ("normal", "float64")]


def plain(key, counter):
    """Return a block in Python's whole numbers, as the paper writes it."""
    (k0, k1), (a, b, c, d) = key, counter
    for i in range(10):
        if i:
            k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
        p, q = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = (q >> 32) ^ b ^ k0, q % 2**32, (p >> 32) ^ d ^ k1, p % 2**32
    return a, b, c, d


def state_of(key, stream, counter):
    return np.array([key, stream, counter], "uint64")


def drawn(kind, dtype, state, size, **options):
    after, numbers = PhiloxDraw(kind, T.TensorType(dtype, (False,) * len(size)))(theano.shared(state), size)
    return theano.function([], [numbers, after], **options)()


@pytest.mark.parametrize(("key", "counter", "block"), KNOWN)
def test_the_published_answers(key, counter, block):
    assert plain(key, counter) == block
    k, low, high = (a | b << 32 for a, b in (key, counter[:2], counter[2:]))
    assert tuple(philox_blocks(k, np.array([low], "uint64"), high)[0]) == block
    words, _ = drawn("bits", "uint32", state_of(k, high, low), (2 * GROUP + 2,))
    assert tuple(words[[0, 1, 2 * GROUP, 2 * GROUP + 1]]) == block


def test_numbers_are_those_of_numpys_philox_where_both_are_the_same_generator():
    """NumPy has the form with 64-bit words; the plain form here is held to it where that is published: not at all.

    What is compared instead are all words of a few groups with the plain form.
    """
    state = state_of(2**63 + 12345, 7, 2**32 - 3)
    words, after = drawn("bits", "uint64", state, (3 * 2 * GROUP,))
    key = (12345, 2**31)
    for group in range(3):
        for block in range(GROUP):
            counter = 2**32 - 3 + group * GROUP + block
            a, b, c, d = plain(key, (counter % 2**32, counter >> 32, 7, 0))
            first = words[group * 2 * GROUP + block], words[group * 2 * GROUP + GROUP + block]
            assert first == (a | b << 32, c | d << 32)
    assert after.tolist() == [2**63 + 12345, 7, 2**32 - 3 + 3 * GROUP]


@pytest.mark.parametrize(("kind", "dtype"), KINDS)
def test_c_and_numpy_draw_the_same(kind, dtype):
    state = state_of(2**64 - 5, 3, 2**64 - 2 * GROUP)  # the counter runs over
    each = 16 * GROUP // np.dtype(dtype).itemsize
    for size in ((), (0,), (1,), (each - 1,), (each,), (each + 1,), (5, 3, 41)):
        found, after = drawn(kind, dtype, state, size)
        right, last = drawn(kind, dtype, state, size, mode="FAST_COMPILE")
        assert found.dtype == dtype
        np.testing.assert_array_equal(after, last)
        if kind == "normal":
            tolerance = 3e-6 if dtype == "float32" else 1e-13
            np.testing.assert_allclose(found, right, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize(("kind", "dtype"), KINDS)
def test_a_longer_draw_begins_with_a_shorter_one(kind, dtype):
    state = state_of(1, 2, 3)
    short, _ = drawn(kind, dtype, state, (300,))
    long, _ = drawn(kind, dtype, state, (5000,))
    np.testing.assert_array_equal(short, long[:300])


@pytest.mark.parametrize(("kind", "dtype"), KINDS)
def test_threads_change_nothing(kind, dtype):
    found = []
    for threads in (1, 4):
        with change_flags(threads=threads):
            found.append(drawn(kind, dtype, state_of(1, 2, 3), (300_007,))[0])
    np.testing.assert_array_equal(*found)


def test_numbers_lie_where_they_should():
    for dtype in ("float32", "float64"):
        u = PhiloxStreams(SEED).uniform((10**6,), dtype=dtype).eval()
        assert 0 <= u.min() < 1e-4
        assert 1 - 1e-4 < u.max() < 1
        z = PhiloxStreams(SEED).normal((10**6,), dtype=dtype).eval()
        assert np.isfinite(z).all()
        assert 4 < np.abs(z).max() < 7


# -- streams -----------------------------------------------------------------------------------------------------------


def test_functions_advance_streams():
    streams = PhiloxStreams(SEED)
    u, v = streams.uniform((3,)), streams.normal((2,), avg=1.0)
    f, g = theano.function([], [u, v]), theano.function([], u, no_default_updates=True)
    first = f()
    np.testing.assert_array_equal(g(), g())
    again = g()
    np.testing.assert_array_equal(f()[0], again)
    streams.seed()
    for a, b in zip(f(), first, strict=True):
        np.testing.assert_array_equal(a, b)
    streams.seed(5)
    assert (f()[0] != first[0]).all()
    assert streams.updates() == [u.update, v.update]
    assert u.rng.get_value().tolist() == [5, 0, GROUP]
    assert v.rng.get_value().tolist() == [5, 1, GROUP]
    assert PhiloxStreams().default_instance_seed != PhiloxStreams().default_instance_seed


#: By name: a draw of a size, its mean and standard deviation.
DRAWS = {
    "uniform": (lambda s, size, **k: s.uniform(size, -1.0, 3.0, **k), 1.0, 4 / 12**0.5),
    "normal": (lambda s, size, **k: s.normal(size, 2.0, 3.0, **k), 2.0, 3.0),
    "truncated": (lambda s, size, **k: s.truncated_normal(size, 2.0, 3.0, **k), 2.0, 3.0),
    "binomial": (lambda s, size, **k: s.binomial(size, 1, 0.3, **k), 0.3, (0.3 * 0.7) ** 0.5),
    "trials": (lambda s, size, **k: s.binomial(size, 12, 0.3, **k), 3.6, (12 * 0.3 * 0.7) ** 0.5),
    "random_integers": (lambda s, size, **k: s.random_integers(size, -2, 7, **k), 2.5, (99 / 12) ** 0.5),
    "choice": (lambda s, size, **k: s.choice(size, 10, **k), 4.5, (99 / 12) ** 0.5),
    "choice_p": (lambda s, size, **k: s.choice(size, np.array([1, 5]), p=[0.25, 0.75], **k), 4.0, 3**0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWS)
def test_distributions(name):
    draw, mean, std = DRAWS[name]
    f = theano.function([], draw(PhiloxStreams(SEED), (300, 400)))
    numbers = f()
    assert numbers.shape == (300, 400)
    assert abs(numbers.mean() - mean) < 5 * std / 120000**0.5
    assert abs(numbers.std() - std) < 0.02 * std
    n, size = T.lscalar("n"), T.lvector("size")
    np.testing.assert_array_equal(theano.function([n], draw(PhiloxStreams(SEED), (n, 400)))(300), numbers)
    if name != "truncated":
        np.testing.assert_array_equal(theano.function([size], draw(PhiloxStreams(SEED), size, ndim=2))([300, 400]), numbers)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("kind", ["uniform", "normal"])
def test_dtypes(kind, dtype):
    x = getattr(PhiloxStreams(SEED), kind)((5,), dtype=dtype)
    assert x.eval().dtype == x.type.dtype == dtype


def test_parameters_tell_the_shape():
    low, high = T.dvector("low"), T.dscalar("high")
    x = PhiloxStreams(SEED).uniform(None, low, high)
    found = theano.function([low, high], x)([0.0, 10.0, 20.0], 30.0)
    assert (found >= [0, 10, 20]).all()
    p = PhiloxStreams(SEED).binomial(None, 1, np.array([[0.0, 1.0]])).eval()
    assert p.tolist() == [[0, 1]]


def test_orders():
    streams = PhiloxStreams(SEED)
    x = T.dmatrix("x")
    shuffled = streams.shuffle_row_elements(x)
    value = np.arange(12.0).reshape(3, 4)
    found, order = theano.function([x], [shuffled, shuffled.permutation])(value)
    np.testing.assert_array_equal(found, np.take_along_axis(value, order, -1))
    orders = streams.permutation((500, 2), 5).eval()
    assert (np.sort(orders, axis=-1) == np.arange(5)).all()
    assert len(np.unique(orders.reshape(-1, 5), axis=0)) == 120
    assert sorted(streams.permutation(n=6).eval()) == list(range(6))
    different = streams.choice((2, 3), 6, replace=False).eval()
    assert sorted(different.ravel()) == list(range(6))
    weighted = streams.choice((2,), np.array([7, 8, 9]), replace=False, p=np.array([0.5, 0.5, 0.0])).eval()
    assert sorted(weighted) == [7, 8]
    assert (np.sort(streams.choice(2, replace=False, p=np.full((3, 2), 0.5)).eval()) == [0, 1]).all()
    assert streams.multinomial(n=20, pvals=np.full((3, 2), 0.5)).eval().sum(axis=1).tolist() == [20] * 3
    assert streams.bits((4,)).eval().dtype == np.uint64


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", "DebugMode"])
def test_modes(mode):
    streams = PhiloxStreams(SEED)
    f = theano.function([], [streams.normal((3, 3)), streams.uniform((5,)), streams.bits((2,), dtype="uint32")], mode=mode)
    assert all((a != b).all() for a, b in zip(f(), f(), strict=True))
    g = pickle.loads(pickle.dumps(f))
    for a, b in zip(f(), g(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_states_may_be_overwritten():
    state = T.TensorType("uint64", (False,))("state")
    after, numbers = PhiloxDraw("uniform", T.dvector)(state, (5,))
    f = theano.function([theano.In(state, mutable=True)], [after, numbers])
    assert [n.op.inplace for n in f.maker.fgraph.toposort() if isinstance(n.op, Draw)] == [True]
    given = state_of(1, 2, 3)
    assert f(given)[0].tolist() == [1, 2, 3 + GROUP]
    np.testing.assert_array_equal(f(state_of(1, 2, 3))[1], drawn("uniform", "float64", state_of(1, 2, 3), (5,))[0])
    strided = np.repeat(state_of(1, 2, 3), 2)[::2]
    np.testing.assert_array_equal(f(strided)[1], drawn("uniform", "float64", state_of(1, 2, 3), (5,))[0])


def test_derivatives():
    streams, w, x = PhiloxStreams(SEED), T.dscalar("w"), T.dvector("x")
    g = theano.grad((streams.normal(x.shape, ndim=1, dtype="float64") * x).sum(), x)
    assert g.eval({x: np.ones(9)}).shape == (9,)
    with pytest.raises(theano.gradient.NullTypeGradError):
        theano.grad(streams.normal((), avg=w), w)


WRONG = {
    "seed": (ValueError, "from 0 to", lambda: PhiloxStreams(-1)),
    "fraction": (ValueError, "whole number from 0", lambda: PhiloxStreams(1.5)),
    "kind": (ValueError, "one of bits", lambda: PhiloxDraw("poisson", T.dvector)),
    "dtype": (TypeError, "uint32 or uint64", lambda: PhiloxDraw("bits", T.dvector)),
    "state": (TypeError, "vector of 3 uint64", lambda: PhiloxDraw("uniform", T.dvector)(T.dvector(), (2,))),
    "size": (TypeError, "whole number", lambda: PhiloxStreams(1).uniform((2.5,))),
    "fractions": (TypeError, "whole numbers", lambda: PhiloxDraw("uniform", T.dvector)(T.constant(state_of(1, 2, 3)), T.dvector())),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name):
    kind, text, make = WRONG[name]
    with pytest.raises(kind, match=text):
        make()


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_sizes_that_cannot_be_drawn(mode):
    size, state = T.lvector("size"), T.TensorType("uint64", (False,))("state")
    f = theano.function([state, size], PhiloxDraw("uniform", T.dvector)(state, size)[1], mode=mode)
    for given, value in ((state_of(1, 2, 3), [-1]), (state_of(1, 2, 3), [2, 3]), (state_of(1, 2, 3)[:2], [4])):
        with pytest.raises(ValueError):
            f(given, value)
