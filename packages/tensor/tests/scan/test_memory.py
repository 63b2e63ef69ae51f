"""Memory of loops: that of the last state does not depend on the number of steps, and calls leave nothing behind."""

import gc
from pathlib import Path

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.loader.module import memory_trim
from theano.scan import until
from theano.scan.op import Scan

PEAK, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")
pytestmark = pytest.mark.skipif(not PEAK.exists(), reason="the system does not tell the peak of a process")

n, z, v = T.lscalar("n"), T.dscalar("z"), T.dvector("v")
W = np.random.default_rng(1).normal(size=(20, 20)) / 9


def of_process(what):
    for line in STATUS.read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1])
    raise LookupError(what)


def peak_kb(f, *values):
    """Return by how much the memory of the process rises at most in a call."""
    gc.collect()
    memory_trim()
    PEAK.write_text("5")  # the peak is what there is now
    before = of_process("VmRSS:")
    f(*values)
    return of_process("VmHWM:") - before


def numbers():
    states, updates = theano.scan(lambda h: 0.5 * h + 1, outputs_info=z, n_steps=n)
    return [n, z], states[-1], updates, (1.0,)


def vectors():
    states, updates = theano.scan(lambda h: 0.5 * h + 1, outputs_info=v, n_steps=n)
    return [n, v], states[-1], updates, (np.ones(20),)


def products():
    states, updates = theano.scan(lambda h: T.tanh(T.dot(W, h)), outputs_info=v, n_steps=n)
    return [n, v], states[-1], updates, (np.ones(20),)


def further_back():
    X = T.dmatrix("X")
    states, updates = theano.scan(lambda a, b: T.sort(a - 0.5 * b), outputs_info={"initial": X, "taps": [-3, -1]}, n_steps=n)
    return [n, X], states[-1], updates, (np.ones((3, 20)),)


def two_of_which_one_is_asked():
    (states, _), updates = theano.scan(lambda h: [T.sort(0.5 * h), T.exp(h)], outputs_info=[v, None], n_steps=n)
    return [n, v], states[-1].sum(), updates, (np.ones(20),)


def with_a_condition():
    states, updates = theano.scan(lambda h: (T.sort(0.5 * h + 1), until(h[0] > 5)), outputs_info=v, n_steps=n)
    return [n, v], states[-1], updates, (np.ones(20),)


def with_updates():
    total = theano.shared(np.zeros(20))
    states, updates = theano.scan(lambda h: (T.sort(0.5 * h), {total: total + h}), outputs_info=v, n_steps=n)
    return [n, v], states[-1], updates, (np.ones(20),)


def with_random_numbers():
    stream = T.shared_randomstreams.RandomStreams(3)
    states, updates = theano.scan(lambda h: 0.5 * h + stream.uniform(size=(20,)), outputs_info=v, n_steps=n)
    return [n, v], states[-1], updates, (np.ones(20),)


def nested():
    def step(h):
        inner, _ = theano.scan(lambda a, p: T.tanh(a + p), h, z * 0)
        return T.sort(h + inner[-1])

    states, updates = theano.scan(step, outputs_info=v, n_steps=n)
    return [n, v, z], states[-1], updates, (np.ones(20), 1.0)


LOOPS = [numbers, vectors, products, further_back, two_of_which_one_is_asked, with_a_condition, with_updates,
         with_random_numbers, nested]  # fmt: skip


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_the_last_state_takes_as_much_memory_after_any_number_of_steps(loop):
    inputs, result, updates, values = loop()
    f = theano.function(inputs, result, updates=updates)
    assert any(isinstance(node.op, Scan) for node in f.maker.fgraph.toposort())
    f(10, *values)
    few = peak_kb(f, 1_000, *values)
    # All rows of so many steps would be 0.8 MB of numbers, 16 MB of vectors. Draws from this stream are slow.
    many = 20_000 if loop is with_random_numbers else 100_000
    # Pages of code that are read for the first time count as well: not so in a second call.
    assert any(peak_kb(f, many, *values) <= few + 512 for _ in range(2))


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_calls_leave_nothing_behind(loop):
    inputs, result, updates, values = loop()
    f = theano.function(inputs, [result, n], updates=updates)

    def call(count):
        for k in range(count):
            f(4, *values)
            if k % 100 == 0:  # a failing one
                with pytest.raises(IndexError):
                    f(-1, *values)
        gc.collect()
        memory_trim()
        return of_process("VmRSS:")

    before = call(500 if loop is with_random_numbers else 2_000)
    # 10,000 calls, or draws, that each lose the smallest object would lose 400 kB.
    assert call(2_500 if loop is with_random_numbers else 10_000) <= before + 256
