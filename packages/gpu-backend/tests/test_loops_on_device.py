"""Loops on the device, against the same on the CPU: values, gradients, what is moved, and where it is decided."""

from __future__ import annotations

import numpy as np
import pytest
from compare import MODE, ON_CPU, TOLERANCES

import theano
import theano.tensor as T
from theano.gpuarray import GpuArrayType
from theano.gpuarray.variables import gpuarray_shared_constructor
from theano.ifelse import IfElse, ifelse
from theano.scan.op import Scan
from theano.scan.run import _layout
from theano.tensor.device.ops import FromDevice, ToDevice

RNG = np.random.default_rng(7)


def random(*shape, dtype="float32"):
    return (RNG.normal(size=shape) * 0.7).astype(dtype)


def loops(f):
    """Return the loops of a function."""
    return [n for n in f.maker.fgraph.toposort() if isinstance(n.op, Scan)]


def transfers(node):
    """Return the transfers in the compiled step of a loop."""
    step = _layout(node.op).step
    return [n for n in step.maker.fgraph.toposort() if isinstance(n.op, (ToDevice, FromDevice))]


def moved(context, f, *values):
    """Return how many transfers a call makes, to the device and back."""
    f(*values)
    before = context.counts()
    f(*values)
    after = context.counts()
    return after["to"] - before["to"], after["from"] - before["from"]


def same(inputs, outputs, values, tolerance=None, updates=()):
    """Assert that a function gives on the device what it gives on the CPU; return it."""
    outputs = outputs if isinstance(outputs, list) else [outputs]
    f = theano.function(inputs, outputs, mode=MODE, on_unused_input="ignore", updates=list(updates))
    wanted = theano.function(inputs, outputs, mode=ON_CPU, on_unused_input="ignore")(*values)
    assert all(n.op.including == ("gpuarray",) for n in loops(f))
    for _ in range(2):
        for got, want in zip(f(*values), wanted, strict=True):
            assert got.dtype == want.dtype and got.shape == want.shape
            tol = tolerance or TOLERANCES.get(str(got.dtype), 0)
            np.testing.assert_allclose(got, want, rtol=10 * tol, atol=10 * tol)
        if updates:
            break
    return f


def recurrent(step_count=None, taps=(-1,), dtype="float32", **options):
    """Return inputs, the states and a cost of a small recurrent network."""
    x, w, first = T.TensorType(dtype, (False,) * 3)("x"), T.matrix("w", dtype), T.TensorType(dtype, (False,) * (2 + (len(taps) > 1 or taps != (-1,))))("h")

    def step(x_t, *rest):
        *past, w = rest
        return T.tanh(T.dot(sum(past), w) + x_t)

    info = first if taps == (-1,) else {"initial": first, "taps": list(taps)}
    h, updates = theano.scan(step, x, [info], w, n_steps=step_count, **options)
    assert not updates
    return [x, first, w], h, T.sqr(h).sum()


@pytest.mark.parametrize("steps", [0, 1, 2, 9])
@pytest.mark.parametrize("taps", [(-1,), (-2,), (-3, -1)])
def test_recurrent_states_and_gradients(context, steps, taps):
    inputs, h, cost = recurrent(taps=taps)
    depth = -min(taps)
    first = random(3, 5) if taps == (-1,) else random(depth, 3, 5)
    values = [random(steps, 3, 5), first, random(5, 5)]
    f = same(inputs, [h, cost, *T.grad(cost, inputs)], values)
    # Forwards and backwards, with all that goes between them on the device.
    assert len(loops(f)) == 2
    if steps:
        assert [transfers(node) for node in loops(f)] == [[], []]
        # The gradient of the first rows, where there are several, is written into zeros, which are made there.
        assert moved(context, f, *values) == (3, 5)


@pytest.mark.parametrize(
    "options", [{"go_backwards": True}, {"truncate_gradient": 3}, {"truncate_gradient": 1, "go_backwards": True}], ids=str
)
def test_options(context, options):
    inputs, h, cost = recurrent(**options)
    values = [random(6, 3, 5), random(3, 5), random(5, 5)]
    f = same(inputs, [h[-1], cost, *T.grad(cost, inputs)], values)
    assert moved(context, f, *values) == (3, 5)


def test_what_only_lengths_are_read_of_stays_there(context):
    """The gradient of a part of a row is zeros as long as the row, whose elements nobody reads."""
    x, first, gates, recall = T.ftensor3("x"), T.fmatrix("first"), T.fmatrix("gates"), T.fmatrix("recall")

    def step(row, h):
        both = T.nnet.sigmoid(row[:, :10] + T.dot(h, gates))
        new = T.tanh(row[:, 10:] + T.dot(both[:, 5:] * h, recall))
        return both[:, :5] * h + (1 - both[:, :5]) * new

    h, _ = theano.scan(step, T.sin(x), [first])
    inputs = [x, first, gates, recall]
    values = [random(6, 3, 15), random(3, 5), random(5, 10), random(5, 5)]
    f = same(inputs, [h[-1], *T.grad(T.sqr(h).sum(), inputs)], values)
    assert [transfers(node) for node in loops(f)] == [[], []]
    assert moved(context, f, *values) == (4, 5)


@pytest.mark.parametrize("letters", [4, 9])
def test_training_on_a_batch_of_letters_moves_the_batch_and_the_loss(context, letters):
    """The network of ``examples/text.py``: a row for each letter, gated units, what they are at the end is kept."""
    chars = T.imatrix("chars")
    starts = {"read": (7, 15), "gates": (5, 10), "recall": (5, 5), "say": (5, 7), "memory": (3, 5)}
    values = {name: random(*shape) for name, shape in starts.items()}
    batches = [np.random.default_rng(k).integers(0, 7, (letters + 1, 3)).astype("int32") for k in range(4)]

    def training(shared, mode):
        read, gates, recall, say, memory = (shared(values[name], name=name) for name in starts)

        def step(row, h):
            both = T.nnet.sigmoid(row[:, :10] + T.dot(h, gates))
            return both[:, :5] * h + (1 - both[:, :5]) * T.tanh(row[:, 10:] + T.dot(both[:, 5:] * h, recall))

        h, _ = theano.scan(step, read[chars[:-1]], [memory])
        scores = T.nnet.softmax(T.dot(h.reshape((-1, 5)), say))
        loss = T.nnet.categorical_crossentropy(scores, chars[1:].flatten()).mean()
        weights = [read, gates, recall, say]
        updates = [(w, w - np.float32(0.5) * g) for w, g in zip(weights, T.grad(loss, weights), strict=True)]
        return theano.function([chars], loss, updates=[*updates, (memory, h[-1])], mode=mode)

    f, g = training(gpuarray_shared_constructor, MODE), training(theano.shared, ON_CPU)
    for batch in batches:
        np.testing.assert_allclose(f(batch), g(batch), rtol=1e-5)
    # The letters, and the places that they are in the table, for the reading and for the gradient.
    assert moved(context, f, batches[0]) == (3, 1)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_dtypes(context, dtype):
    inputs, h, cost = recurrent(dtype=dtype)
    values = [random(4, 3, 5, dtype=dtype), random(3, 5, dtype=dtype), random(5, 5, dtype=dtype)]
    same(inputs, [h, *T.grad(cost, inputs)], values)


LAYOUTS = {
    "F": np.asfortranarray,
    "reversed": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "every second": lambda x: np.repeat(x, 2, axis=0)[::2],
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
    "empty rows": lambda x: x[:, :0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_what_is_given(layout):
    inputs, h, cost = recurrent()
    x = LAYOUTS[layout](random(6, 3, 5))
    same(inputs, [h, *T.grad(cost, inputs)], [x, random(x.shape[1], 5), random(5, 5)])


def test_windows_on_what_is_there_already(context):
    """Sequences, states and results are parts of arrays on the device, in any layout."""
    x, w = T.ftensor3("x"), T.fmatrix("w")
    there = T.tanh(x)[::-1, :, 1:].dimshuffle(1, 0, 2)
    h, _ = theano.scan(lambda row, past, w: T.dot(row + past, w), there, T.zeros_like(there[0]), w)
    f = same([x, w], [h[::2].sum(axis=0), T.grad(T.sqr(h[-1]).sum(), w)], [random(4, 6, 6), random(5, 5)])
    assert moved(context, f, random(4, 6, 6), random(5, 5)) == (2, 2)


def test_taps_of_sequences():
    x, w = T.ftensor3("x"), T.fmatrix("w")
    h, _ = theano.scan(lambda a, b, c, w: T.dot(a - b, w) * c, {"input": x, "taps": [-1, 0, 2]}, None, w)
    same([x, w], [h, *T.grad(T.sqr(h).sum(), [x, w])], [random(7, 3, 4), random(4, 4)])


def test_several_results_of_which_rows_are_read(context):
    """Rings: of a state whose last rows alone are read as many are stored as steps look back."""
    x, w = T.ftensor3("x"), T.fmatrix("w")

    def step(x_t, old, before, w):
        new = T.tanh(T.dot(before, w) + x_t + 0.5 * old)
        return new, new.sum(axis=1), T.exp(new[0])

    (h, sums, rows), _ = theano.scan(step, x, [{"initial": T.ones((2, 3, 5), "float32"), "taps": [-2, -1]}, None, None], w)
    for steps in (1, 2, 7):
        values = [random(steps, 3, 5), random(5, 5)]
        f = same([x, w], [h[-1], sums[-1], rows], values)
        assert moved(context, f, *values) == (2, 3)
        assert any(k is not None for k in loops(f)[0].op.spec.keep)


def test_the_condition_alone_is_brought_back_in_each_step(context):
    w, limit = T.fmatrix("w"), T.fscalar("limit")

    def step(h, w, limit):
        new = T.dot(h, w)
        return new, theano.scan_module.until(T.sqr(new).sum() > limit)

    h, _ = theano.scan(step, None, T.ones((3, 4), "float32"), [w, limit], n_steps=50)
    value = 2 * np.eye(4, dtype="float32")
    for bound, steps in ((1e3, 4), (0, 1), (1e30, 49)):
        values = [value, np.float32(bound)]
        f = same([w, limit], [h, h[-1]], values)
        assert [type(n.op).__name__ for n in transfers(loops(f)[0])] == ["HostFromGpu"]
        assert f(*values)[0].shape[0] == steps
        assert moved(context, f, *values) == (1, steps + 2)


def test_numbers_stay_on_the_host(context):
    """Single numbers that the host has are no transfers: they go along with what is launched."""
    x, rates, w = T.ftensor3("x"), T.fvector("rates"), T.fmatrix("w")

    def step(x_t, rate, h, count, w):
        return h + rate * T.dot(x_t, w) / count, count + 1

    (h, count), _ = theano.scan(step, [x, rates], [T.zeros((3, 5), "float32"), T.ones((), "float32")], w)
    values = [random(6, 3, 5), random(6), random(5, 5)]
    f = same([x, rates, w], [h, count], values)
    assert transfers(loops(f)[0]) == []
    assert moved(context, f, *values) == (2, 1)


def test_numbers_that_steps_make_on_the_device_stay_there(context):
    x = T.ftensor3("x")
    (total, norms), _ = theano.scan(lambda x_t, total: (total + T.sqr(x_t).sum(), T.sqr(x_t).mean()), x, [T.zeros((), "float32"), None])
    values = [random(5, 3, 4)]
    f = same([x], [total, norms, total[-1] * 2], values)
    assert all(transfers(node) == [] for node in loops(f))
    assert moved(context, f, *values) == (1, 3)


def test_indices_that_steps_use_stay_on_the_device(context):
    table, chosen, h0 = T.fmatrix("table"), T.imatrix("chosen"), T.fmatrix("h0")
    w = gpuarray_shared_constructor(random(5, 5))
    h, _ = theano.scan(lambda at, h, table, w: T.tanh(table[at] + T.dot(h, w)), chosen, h0, [table, w])
    values = [random(7, 5), RNG.integers(0, 7, (6, 3)).astype("int32"), random(3, 5)]
    f = same([table, chosen, h0], [h, T.grad(h.sum(), table)], values)
    assert all(not transfers(node) for node in loops(f))
    # What each gather and scatter reads back is whether all rows are there: one of either in each of 6 steps.
    assert moved(context, f, *values) == (4, 2 + 2 * 6)
    with pytest.raises(IndexError):
        f(values[0], values[1] + 7, values[2])


def test_loops_over_numbers_and_over_vectors_of_the_host_stay_functions_of_the_cpu(context):
    x, v = T.fvector("x"), T.fmatrix("v")
    numbers, _ = theano.scan(lambda a, s: s * 0.5 + a, x, T.zeros((), "float32"))
    vectors, _ = theano.scan(lambda a, s: T.tanh(s * 0.5 + a), v, T.zeros_like(v[0]))
    f = theano.function([x, v], [numbers, vectors], mode=MODE)
    assert [n.op.including for n in loops(f)] == [(), ()]
    values = [random(6), random(6, 8)]
    assert moved(context, f, *values) == (0, 0)
    for got, want in zip(f(*values), theano.function([x, v], [numbers, vectors], mode=ON_CPU)(*values), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    # Where their elements are on the device, steps run there.
    w = gpuarray_shared_constructor(values[1])
    there, _ = theano.scan(lambda a, s: T.tanh(s * 0.5 + a), w, T.zeros_like(w[0]))
    g = same([], [there.sum()], [])
    assert moved(context, g) == (0, 1)


def test_shared_variables_are_updated_by_a_loop(context):
    w = gpuarray_shared_constructor(random(5, 5), name="w")
    x = T.ftensor3("x")

    def step(x_t, h):
        h = T.tanh(T.dot(x_t, w) + h)
        return h, {w: w * np.float32(0.9) + T.dot(h.T, h) * np.float32(0.01)}

    h, updates = theano.scan(step, x, T.zeros_like(x[0]))
    start, values = w.get_value(), [random(4, 3, 5)]
    on_cpu = theano.shared(start)
    want, wanted = theano.scan(lambda x_t, h: (lambda n: (n, {on_cpu: on_cpu * np.float32(0.9) + T.dot(n.T, n) * np.float32(0.01)}))(T.tanh(T.dot(x_t, on_cpu) + h)), x, T.zeros_like(x[0]))
    expected = theano.function([x], want, updates=wanted, mode=ON_CPU)(*values)
    f = theano.function([x], h, updates=updates, mode=MODE)
    np.testing.assert_allclose(f(*values), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(w.get_value(), on_cpu.get_value(), rtol=1e-4, atol=1e-5)
    assert moved(context, f, *values) == (1, 1)


def test_carried_values_are_copied_and_take_turns():
    """What a loop begins with stays as it was, although steps write over what they carry."""
    a, b = (gpuarray_shared_constructor(random(4, 4)) for _ in range(2))
    before = a.get_value(), b.get_value()
    _, updates = theano.scan(lambda: {a: b, b: T.dot(a, b)}, n_steps=3)
    f = theano.function([], [updates[a], updates[b]], mode=MODE)
    p, q = before
    for _ in range(3):
        p, q = q, p @ q
    for _ in range(2):
        for got, want in zip(f(), (p, q), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(a.get_value(), before[0])
    np.testing.assert_array_equal(b.get_value(), before[1])


def test_random_numbers_inside_a_loop():
    from theano.tensor.random.mrg import MRG_RandomStreams

    def drawn(mode):
        streams = MRG_RandomStreams(3)
        x = T.fmatrix("x")
        h, updates = theano.scan(lambda h: T.tanh(T.dot(h, h)) * (streams.uniform((4, 4)) < 0.5), None, x, n_steps=4)
        f = theano.function([x], h, updates=updates, mode=mode)
        return [f(np.eye(4, dtype="float32")) for _ in range(2)]

    for got, want in zip(drawn(MODE), drawn(ON_CPU), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_a_loop_in_a_loop(context):
    x, w = T.ftensor3("x"), T.fmatrix("w")

    def outer(block, h, w):
        inner, _ = theano.scan(lambda row, s, w: T.tanh(T.dot(s, w) + row), block, h, w)
        return inner[-1]

    h, _ = theano.scan(outer, x, T.zeros((5,), "float32"), w)
    values = [random(3, 4, 5), random(5, 5)]
    f = same([x, w], [h, *T.grad(T.sqr(h).sum(), [x, w])], values)
    assert moved(context, f, *values) == (2, 3)


def test_a_step_with_an_op_that_only_the_cpu_has(context):
    """What has to pass by the host does, in each step; the rest of the step stays on the device."""
    x, w = T.ftensor3("x"), T.fmatrix("w")
    turned = theano.compile.as_op([T.fmatrix], [T.fmatrix])(lambda a: a[::-1].copy())
    h, _ = theano.scan(lambda x_t, h, w: T.tanh(turned(T.dot(h, w)) + x_t), x, T.zeros_like(x[0]), w)
    values = [random(4, 3, 5), random(5, 5)]
    f = same([x, w], [h], values)
    assert len(transfers(loops(f)[0])) == 2
    assert moved(context, f, *values) == (2 + 4, 1 + 4)


def test_errors_name_the_step_and_lose_nothing(context):
    x, w = T.ftensor3("x"), T.fmatrix("w")
    total = gpuarray_shared_constructor(random(3, 5))
    kept = total.get_value()
    h, _ = theano.scan(lambda x_t, h, w: T.dot(h, w) + x_t, x, T.zeros((3, 5), "float32"), w, n_steps=4)
    f = theano.function([x, w], h[-1], updates=[(total, h[-1])], mode=MODE)
    with pytest.raises(ValueError, match="4 steps"):
        f(random(2, 3, 5), random(5, 5))
    with pytest.raises(ValueError, match="step 0"):
        f(random(4, 3, 5), random(4, 5))
    np.testing.assert_array_equal(total.get_value(), kept)
    w3 = T.ftensor3("w3")
    grows, _ = theano.scan(lambda h: T.concatenate([h, h]) * 2, None, T.ones((2, 3), "float32"), n_steps=3)
    g = theano.function([], grows.sum() + 0 * T.zeros(()), mode=MODE)
    with pytest.raises(ValueError, match="what it begins with"):
        g()
    del w3
    live = context.counts()["live"]
    with pytest.raises(ValueError):
        f(random(2, 3, 5), random(5, 5))
    assert context.counts()["live"] <= live


def test_no_room_is_an_error_and_loses_nothing(context):
    inputs, h, cost = recurrent()
    w = gpuarray_shared_constructor(random(5, 5))
    kept = w.get_value()
    f = theano.function(inputs[:2], cost, updates=[(w, w - T.grad(cost, inputs[2]))], givens={inputs[2]: w}, mode=MODE)
    values = [random(4, 3, 5), random(3, 5)]
    wanted = float(f(*values))
    after = w.get_value()
    w.set_value(kept)
    failed = 0
    for k in range(1, 30):
        context.trim()
        context.set_limit(0, k)
        try:
            f(*values)
        except MemoryError:
            failed += 1
            np.testing.assert_array_equal(np.asarray(w.get_value()), kept)
        finally:
            context.set_limit(0, 0)
        if not np.array_equal(w.get_value(), kept):
            break
    assert failed >= 3
    np.testing.assert_allclose(w.get_value(), after, rtol=1e-5, atol=1e-6)
    w.set_value(kept)
    assert float(f(*values)) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("chosen", [0, 1])
def test_a_lazy_choice_moves_nothing_but_its_condition(context, chosen):
    c, x = T.iscalar("c"), T.fmatrix("x")
    w = gpuarray_shared_constructor(random(5, 5))
    there = T.dot(x, w)
    y = ifelse(T.lt(abs(there.sum()), np.float32(1e6) * c), T.dot(there, w), T.exp(there))
    f = same([c, x], [y.sum(), T.grad(y.sum(), x)], [np.int32(chosen), random(3, 5)])
    assert any(isinstance(n.op, IfElse) and n.op.gpu for n in f.maker.fgraph.toposort())
    # There: x. Back: the condition and two results.
    assert moved(context, f, np.int32(chosen), random(3, 5)) == (1, 3)


def test_a_choice_of_some_values_here_and_some_there(context):
    c, x, n = T.iscalar("c"), T.fmatrix("x"), T.ivector("n")
    y, k = ifelse(c, [T.dot(x, x), n], [T.tanh(x), n[::-1]])
    f = same([c, x, n], [y.sum(), k], [np.int32(0), random(4, 4), np.arange(3, dtype="int32")])
    assert moved(context, f, np.int32(1), random(4, 4), np.arange(3, dtype="int32")) == (1, 1)


def test_what_a_device_gives_and_takes():
    """Functions of arrays on the device have loops over them without any transfer."""
    x = GpuArrayType("float32", (False,) * 3)("x")
    h, _ = theano.scan(lambda row, s: T.dot(s, row), x, T.eye(4, dtype="float32"))
    f = theano.function([x], theano.gpuarray.as_gpuarray_variable(h), mode=MODE)
    value = random(3, 4, 4)
    found = f(theano.gpuarray.asarray(value))
    s = np.eye(4, dtype="float32")
    for row, got in zip(value, np.asarray(found), strict=True):
        s = s @ row
        np.testing.assert_allclose(got, s, rtol=1e-4, atol=1e-5)
