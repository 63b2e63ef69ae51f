"""Random numbers: the device draws what the CPU draws, and keeps the states of its streams."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from compare import MODE, ON_CPU, TOLERANCES, agree, nodes

import theano
import theano.tensor as T
from theano import gpuarray
from theano.gpuarray.ops import GPUA_mrg_uniform, GPUAChoiceFromUniform, GPUAMultinomialFromUniform
from theano.tensor.random.categories import ChoiceFromUniform, MultinomialFromUniform
from theano.tensor.random.mrg import MRG_RandomStreams, mrg_uniform
from theano.tensor.random.philox import PhiloxDraw, PhiloxStreams

FLOATS = ("float16", "float32", "float64")


def shared_there(value):
    return gpuarray.gpuarray_shared_constructor(value)


def states(count, seed=5):
    rng = np.random.default_rng(seed)
    return rng.integers(1, 2**31 - 30_000, (count, 6)).astype("int32")


def drawn(make, state, size, times=2):
    """Return what draws on the device and on the CPU leave, each of them twice, with the states behind them."""
    found = []
    for shared, mode in ((shared_there, MODE), (theano.shared, ON_CPU)):
        kept = shared(state.copy())
        op = make()
        lengths = T.lvector("lengths")
        after, numbers = op(kept, lengths)
        f = theano.function([lengths], numbers, updates=[(kept, after)], mode=mode)
        if mode is MODE:
            there, here = nodes(f)
            assert there and not [n for n in here if isinstance(n.op, type(op))], here
        found.append([*(f(np.array(size, "int64")) for _ in range(times)), kept.get_value()])
    return found


def same(found):
    for got, want in zip(*found, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "streams, size", [(1, (5,)), (7, (3, 4)), (300, (0,)), (300, (2, 149)), (300, (7, 100)), (257, ())]
)
@pytest.mark.parametrize("dtype", FLOATS)
def test_mrg_to_the_bit(dtype, streams, size):
    same(drawn(lambda: mrg_uniform(T.TensorType(dtype, (False,) * len(size))), states(streams), size))


KINDS = {"bits": ("uint32", "uint64"), "uniform": ("float32", "float64"), "normal": ("float32", "float64")}
# Both sides of a group: 128 numbers of 8 bytes, 256 of 4.
SIZES = [(), (0, 3), (1,), (127,), (128,), (129,), (255,), (257,), (5, 211)]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kind, dtype", [(kind, dtype) for kind in KINDS for dtype in KINDS[kind]])
def test_philox(kind, dtype, size):
    state = np.array([2**63 + 17, 2**33 + 5, 2**64 - 70], "uint64")  # the counter runs over
    found = drawn(lambda: PhiloxDraw(kind, T.TensorType(dtype, (False,) * len(size))), state, size)
    if kind != "normal":
        same(found)
        return
    for got, want in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12 if dtype == "float64" else 4e-6, atol=1e-6)
    np.testing.assert_array_equal(found[0][-1], found[1][-1])


def in_both(program, *values):
    """Return what a program of streams gives on the device and on the CPU, called twice."""
    found = []
    for shared, mode in ((shared_there, MODE), (theano.shared, ON_CPU)):
        with pytest.MonkeyPatch.context() as patch:
            for module in ("mrg", "states"):
                patch.setattr(f"theano.tensor.random.{module}.shared", lambda value, shared=shared, **_: shared(value))
            inputs, outputs = program()
        f = theano.function(inputs, outputs, mode=mode)
        found.append((f, [f(*values), f(*values)]))
    return found


def distributions(streams):
    """Return numbers of each distribution that is made of uniform ones."""
    rows = np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]] * 20, "float32")
    return {
        "uniform": streams.uniform((31, 5), -1, 3, dtype="float32"),
        "half": streams.uniform((31, 5), dtype="float16"),
        "normal": streams.normal((33, 3), avg=2.0, std=3.0, dtype="float32"),
        "wide": streams.normal((33, 3), dtype="float64"),
        "truncated": streams.normal((40,), dtype="float32", truncate=True),
        "binomial": streams.binomial((50,), p=0.3),
        "multinomial": streams.multinomial(pvals=rows, n=4),
        "choice": streams.choice(2, replace=False, p=rows),
    }


@pytest.mark.parametrize("streams", [MRG_RandomStreams, PhiloxStreams])
def test_distributions(streams):
    names = list(distributions(streams(7)))

    def program():
        return [], list(distributions(streams(7)).values())

    (f, there), (_, here) = in_both(program)
    for got, want in zip(there, here, strict=True):
        for name, x, y in zip(names, got, want, strict=True):
            assert x.dtype == y.dtype, name
            tol = 0 if x.dtype.kind in "iu" else TOLERANCES[str(x.dtype)]
            np.testing.assert_allclose(x, y, rtol=tol, atol=tol, err_msg=name)
    assert not [n for n in nodes(f)[1] if isinstance(n.op, (mrg_uniform, PhiloxDraw))]


def test_choices_of_philox():
    def program():
        streams, p = PhiloxStreams(3), np.array([0.1, 0.2, 0.3, 0.4])
        return [], [
            streams.choice((40,), 4, p=p), streams.choice((3,), 4, replace=False), streams.permutation((5,), n=7),
            streams.random_integers((30,), 3, 9), streams.shuffle_row_elements(T.arange(20).reshape((4, 5))),
        ]  # fmt: skip

    (_, there), (_, here) = in_both(program)
    for got, want in zip(there, here, strict=True):
        for x, y in zip(got, want, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rows, outcomes, n", [(1, 1, 1), (3, 7, 5), (257, 4, 2), (0, 3, 2), (3, 2, 0), (5, 40, 17)])
def test_categories(rows, outcomes, n, dtype):
    rng = np.random.default_rng(rows)
    values = (
        rng.dirichlet(np.ones(outcomes), rows).astype(dtype).reshape(rows, outcomes),
        rng.random(rows * n).astype(dtype),
    )
    values[1][:1] = 0.9999  # beyond some sums
    p, unis = T.TensorType(dtype, (False, False))("p"), T.TensorType(dtype, (False,))("unis")
    inputs = p + 0, unis + 0
    outputs = [MultinomialFromUniform(odtype)(*inputs, n) for odtype in ("auto", "int64", "uint8")]
    outputs += [ChoiceFromUniform(odtype, True)(*inputs, n) for odtype in ("auto", "int32")]
    if n <= outcomes:
        outputs += [ChoiceFromUniform("int64", False)(inputs[0].T.T[::-1], inputs[1], n)]
    f = agree([p, unis], outputs, values, all_there=False)
    assert {GPUAMultinomialFromUniform, GPUAChoiceFromUniform} <= {type(node.op) for node in nodes(f)[0]}


def test_wrong_sizes_are_errors_and_lose_nothing():
    kept = shared_there(states(3))
    before = kept.get_value()
    lengths = T.lvector("lengths")
    after, numbers = mrg_uniform(T.TensorType("float32", (False,)))(kept, lengths)
    f = theano.function([lengths], numbers, updates=[(kept, after)], mode=MODE)
    with pytest.raises(ValueError, match="length 0 of the size is -1"):
        f(np.array([-1]))
    with pytest.raises(ValueError, match="1 lengths|2 lengths"):
        f(np.array([1, 2]))
    np.testing.assert_array_equal(kept.get_value(), before)
    p, unis = T.fmatrix("p"), T.fvector("unis")
    g = theano.function(
        [p, unis], gpuarray.as_gpuarray_variable(MRG_RandomStreams(3).multinomial(pvals=p) + unis.sum()), mode=MODE
    )
    with pytest.raises(ValueError):
        theano.function([p, unis], GPUAMultinomialFromUniform("int64")(p, unis, 2), mode=MODE)(
            np.ones((2, 2), "float32"), np.ones(3, "float32")
        )
    assert np.asarray(g(np.full((2, 2), 0.5, "float32"), np.ones(3, "float32"))).shape == (2, 2)


@pytest.mark.parametrize("streams", [MRG_RandomStreams, PhiloxStreams])
def test_a_step_with_dropout_moves_the_batch_and_the_loss_alone(streams, context):
    rng = np.random.default_rng(0)
    start = [rng.normal(size=shape).astype("float32") / 4 for shape in ((20, 30), (30,))]
    batches = [(rng.normal(size=(8, 20)).astype("float32"), rng.normal(size=8).astype("float32")) for _ in range(4)]

    def program():
        x, y = T.fmatrix("x"), T.fvector("y")
        v, w = program.parameters = [program.shared(value.copy()) for value in start]
        h = T.tanh(T.dot(x, v))
        mask = streams(11).binomial(h.shape, p=0.5, dtype="float32")
        return x, y, T.sqr(T.dot(h * mask * 2, w) - y).mean()

    results = []
    for shared, mode in ((shared_there, MODE), (theano.shared, ON_CPU)):
        program.shared = shared
        with pytest.MonkeyPatch.context() as patch:
            for module in ("mrg", "states"):
                patch.setattr(f"theano.tensor.random.{module}.shared", lambda value, shared=shared, **_: shared(value))
            x, y, loss = program()
        updates = [(p, p - np.float32(0.1) * T.grad(loss, p)) for p in program.parameters]
        f = theano.function([x, y], loss, updates=updates, mode=mode)
        before = context.counts()
        losses = [float(f(*batch)) for batch in batches]
        after = context.counts()
        if mode is MODE:
            assert (after["to"] - before["to"], after["from"] - before["from"]) == (2 * len(batches), len(batches))
        results.append([losses, *(p.get_value() for p in program.parameters)])
    for got, want in zip(*results, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_seeds_begin_again_on_the_device():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("theano.tensor.random.mrg.shared", lambda value, **_: shared_there(value))
        streams = MRG_RandomStreams(9)
        f = theano.function([], streams.uniform((6,), dtype="float32"), mode=MODE)
    first = f()
    assert not np.array_equal(f(), first)
    streams.seed()
    np.testing.assert_array_equal(f(), first)
    assert type(nodes(f)[0][0].op) is GPUA_mrg_uniform


def test_documented_names():
    assert importlib.import_module("theano.gpuarray.rng_mrg").GPUA_mrg_uniform is GPUA_mrg_uniform
    multinomial = importlib.import_module("theano.gpuarray.multinomial")
    assert multinomial.GPUAChoiceFromUniform is GPUAChoiceFromUniform
    assert multinomial.GPUAMultinomialWOReplacementFromUniform("int64") == GPUAChoiceFromUniform("int64", replace=False)
