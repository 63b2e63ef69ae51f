"""Whatever fails on a device, at each point where it can: the error, what shared variables hold, and memory."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from compare import MODE, ON_CPU

import theano
import theano.tensor as T
from conftest import CONTEXT, DEVICE
from theano import gpuarray
from theano.gpuarray import DeviceCompileError, DeviceError, DeviceMemoryError, GpuToGpu, as_gpuarray_variable
from theano.gpuarray.variables import HostFromGpu
from theano.tensor.linalg.equations import lstsq
from theano.tensor.pool import pool_2d

pytestmark = pytest.mark.usefixtures("second")

RNG = np.random.default_rng(3)
MOST = 200  # calls of a kind within one function


def normal(*shape):
    return RNG.normal(size=shape).astype("float32")


def training():
    x, y = T.fmatrix("x"), T.ivector("y")
    starts = [normal(20, 30) * 0.3, normal(30), normal(30, 4) * 0.3, normal(4)]

    def make(params):
        w1, b1, w2, b2 = params
        p = T.nnet.softmax(T.dot(T.tanh(T.dot(x, w1) + b1), w2) + b2)
        cost = T.nnet.categorical_crossentropy(p, y).mean()
        return cost, [(w, w - np.float32(0.1) * g) for w, g in zip(params, T.grad(cost, params))]

    return [x, y], starts, make, [normal(50, 20), RNG.integers(0, 4, 50).astype("int32")]


def reductions_in_parts():
    """Few results of many terms: accumulators of parts are in memory of their own."""
    x = T.fmatrix("x")
    make = lambda params: ([x.sum(), (x * params[0]).max(axis=0), T.exp(x).mean(axis=1)], [(params[0], params[0] + x.sum())])
    return [x], [normal(1, 3)[0]], make, [normal(40_000, 3)]


def advanced_indexing():
    x, k = T.fmatrix("x"), T.lvector("k")

    def make(params):
        (w,) = params
        read = T.exp(w)[k, k[::-1]]
        return [read.sum(), T.inc_subtensor(T.tanh(x)[k], T.exp(x[k]))], [(w, T.inc_subtensor(w[k], T.sin(x)[k]))]

    return [x, k], [normal(6, 6)], make, [normal(6, 6), np.array([5, 0, 2, 2, 1])]


def pooling():
    x = T.ftensor4("x")

    def make(params):
        (w,) = params
        pooled = pool_2d(T.exp(x * w), (2, 2), ignore_border=True)
        return pooled.sum(axis=(2, 3)), [(w, w - T.grad(pooled.sum(), w))]

    return [x], [normal(3, 2, 6, 6)], make, [normal(3, 2, 6, 6)]


def cumulative_sums_and_argmax():
    x = T.fmatrix("x")
    make = lambda params: ([T.argmax(x * params[0], axis=1), T.cumsum(T.exp(x).flatten())], [(params[0], T.exp(params[0]))])
    return [x], [normal(7)], make, [normal(3000, 7)]


def order_and_counts():
    x, k = T.fmatrix("x"), T.lvector("k")

    def make(params):
        (w,) = params
        chosen = T.exp(w)[T.argsort(x[:, 0])]
        return [T.sort(T.exp(x), axis=0), T.extra_ops.bincount(k), chosen], [(w, T.inc_subtensor(w[T.argsort(x[:, 1])], x))]

    return [x, k], [normal(6, 3)], make, [normal(6, 3), np.array([5, 0, 2, 2, 1])]


def sums_of_convolutions_in_parts():
    x = T.ftensor4("x")

    def make(params):
        (w,) = params
        cost = T.sqr(T.nnet.conv2d(T.exp(x), w)).mean()
        return cost, [(w, w - T.grad(cost, w))]

    return [x], [normal(2, 1, 3, 3) / 9], make, [normal(4, 1, 40, 40)]


def linear_algebra():
    """Memory of one call, and numbers that the host reads in between."""
    x = T.fmatrix("x")

    def make(params):
        (w,) = params
        solved = lstsq()(T.exp(x), w, -1)
        return [solved[0], solved[1], T.nlinalg.pinv(x)], [(w, T.slinalg.expm(w))]

    return [x], [normal(3, 3)], make, [normal(3, 2)]


def two_devices():
    x = T.fmatrix("x")

    def make(params):
        (w,) = params
        other = T.exp(w).T
        if hasattr(w.type, "context_name"):
            other = HostFromGpu()(GpuToGpu("dev1")(as_gpuarray_variable(other, None)))
        return (T.sin(other) + x).sum(axis=0), [(w, T.tanh(w))]

    return [x], [normal(4, 3)], make, [normal(3, 4)]


CASES = [training, reductions_in_parts, advanced_indexing, pooling, cumulative_sums_and_argmax, order_and_counts, sums_of_convolutions_in_parts,
         linear_algebra, two_devices]  # fmt: skip


class Case:
    """A function on the device and the same on the CPU, whose shared variables have the values of the start."""

    def __init__(self, case):
        inputs, self.starts, make, self.values = case()
        self.on_both = case is two_devices
        self.params = [gpuarray.gpuarray_shared_constructor(start) for start in self.starts]
        outputs, updates = make(self.params)
        self.f = theano.function(inputs, outputs, updates=updates, mode=MODE)
        others = [theano.shared(start) for start in self.starts]
        outputs, updates = make(others)
        self.wanted = theano.function(inputs, outputs, updates=updates, mode=ON_CPU)(*self.values)
        self.new = [other.get_value() for other in others]

    def reset(self):
        for w, start in zip(self.params, self.starts):
            w.set_value(start)
        self.f.free()

    def unchanged(self):
        return all(np.array_equal(w.get_value(), start) for w, start in zip(self.params, self.starts))

    def check(self, found):
        """The results of a call, and what it stored."""
        several = isinstance(self.wanted, list)
        for got, want in zip(found if several else [found], self.wanted if several else [self.wanted], strict=True):
            np.testing.assert_allclose(got, want, rtol=2e-4, atol=1e-4)
        for w, want in zip(self.params, self.new):
            np.testing.assert_allclose(w.get_value(), want, rtol=2e-4, atol=1e-4)


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.__name__)
def case(request):
    return Case(request.param)


@pytest.mark.parametrize(("what", "error"), [("allocate", DeviceMemoryError), ("launch", DeviceError), ("copy", DeviceError)])
def test_each_point_that_can_fail(case, what, error):
    failures = fail_each(case, what, error, CONTEXT)
    if case.on_both:
        failures += fail_each(case, what, error, gpuarray.get_context("dev1"))
    assert failures >= 2


def fail_each(case, what, error, context):
    """Let the first call of a kind fail, then the second one, until none does; return how many there were."""
    case.reset()
    case.check(case.f(*case.values))
    failures = 0
    for n in range(1, MOST):
        case.reset()
        live = [c.counts()["live"] for c in (CONTEXT, gpuarray.get_context("dev1"))]
        context.fail(what, n)
        try:
            found = case.f(*case.values)
        except error as problem:
            failures += 1
            text = str(problem)
            assert "while computing" in text and type(problem) is error
            del problem
        else:
            break
        finally:
            context.fail(what, 0)
        assert case.unchanged()
        case.f.free()
        # At first there may also be what the last call, which was right, has returned.
        after = [c.counts()["live"] for c in (CONTEXT, gpuarray.get_context("dev1"))]
        assert all(now <= then for now, then in zip(after, live))
        if n % 3 == 1:
            case.check(case.f(*case.values))
    assert failures < MOST - 1
    case.check(found)
    return failures


def test_waiting_fails():
    CONTEXT.fail("wait")
    with pytest.raises(DeviceError, match="a fault"):
        CONTEXT.wait()
    CONTEXT.wait()


@pytest.mark.parametrize("what", ["allocate", "copy"])
def test_values_from_python(what):
    error = DeviceMemoryError if what == "allocate" else DeviceError
    w = gpuarray.gpuarray_shared_constructor(normal(4, 3))
    gc.collect()
    before, live = w.get_value(), CONTEXT.counts()["live"]
    for act in (lambda: w.set_value(normal(4, 3)), lambda: gpuarray.asarray(normal(5)),
                lambda: gpuarray.gpuarray_shared_constructor(normal(5))):  # fmt: skip
        CONTEXT.fail(what)
        with pytest.raises(error) as caught:
            act()
        del caught
        gc.collect()
        assert CONTEXT.counts()["live"] == live
        np.testing.assert_array_equal(w.get_value(), before)
    there = w.get_value(borrow=True, return_internal_type=True)
    if what == "copy":
        CONTEXT.fail("copy")
        with pytest.raises(DeviceError):
            w.get_value()
        CONTEXT.fail("launch")
        with pytest.raises(DeviceError):
            there.T.copy()
    np.testing.assert_array_equal(w.get_value(), before)


def test_copies_between_devices_fail():
    there = gpuarray.asarray(normal(5))
    other = gpuarray.get_context("dev1")
    live = other.counts()["live"]
    other.fail("copy")
    with pytest.raises(DeviceError, match="a fault"):
        gpuarray.asarray(there, "dev1")
    gc.collect()
    assert other.counts()["live"] == live
    np.testing.assert_array_equal(np.asarray(gpuarray.asarray(there, "dev1")), np.asarray(there))


def nothing_compiled(patched):
    patched.setattr(CONTEXT, "_loaded", {})
    patched.setattr(CONTEXT, "_known", lambda key: None)


def test_a_kernel_that_is_not_compiled(monkeypatch):
    """The function is not made; the expression and the compiler's words are in the error; next time it is."""
    w, x = gpuarray.gpuarray_shared_constructor(normal(3)), T.fvector("x")
    expression = T.erfc(T.cosh(x) * 3.25 + T.log1p(abs(w)))
    gc.collect()
    before, live = w.get_value(), CONTEXT.counts()["live"]
    make = lambda: theano.function([x], expression, updates=[(w, w * 2)], mode=MODE)
    # The device's own compiler refuses it.
    with monkeypatch.context() as patched:
        nothing_compiled(patched)
        plain = CONTEXT.driver.compile
        patched.setattr(CONTEXT.driver, "compile", lambda text: plain(text + "\nthis is no C;\n"), raising=False)
        with pytest.raises(DeviceCompileError, match=r"erfc[\s\S]*error") as caught:
            make()
        assert "this is no C" in caught.value.text
    del caught
    gc.collect()
    np.testing.assert_array_equal(w.get_value(), before)
    assert CONTEXT.counts()["live"] == live
    make()(normal(3))
    np.testing.assert_array_equal(w.get_value(), before * 2)


def test_a_program_that_is_not_loaded(monkeypatch):
    x = T.fvector("x")
    with monkeypatch.context() as patched:
        nothing_compiled(patched)
        patched.setattr(CONTEXT.driver, "load", lambda *args: (_ for _ in ()).throw(DeviceCompileError("not loaded")))
        with pytest.raises(DeviceCompileError, match="not loaded"):
            theano.function([x], T.erf(T.sinh(x) * 7.5), mode=MODE)
    value = normal(3)
    f = theano.function([x], T.erf(T.sinh(x) * 7.5), mode=MODE)
    np.testing.assert_allclose(f(value), theano.function([x], T.erf(T.sinh(x) * 7.5), mode=ON_CPU)(value), rtol=1e-5)


# ---------------------------------------------------------------------------------------------- the allocator


def rounded(size):
    """Return the bytes of the size class: eight for each doubling, from 512."""
    size = max(size, 512)
    step = 1 << (size.bit_length() - 4)
    return -(-size // step) * step


@pytest.mark.parametrize("seed", range(4))
def test_a_request_fails_only_where_there_is_no_room(seed):
    """Whatever was given back before is in nobody's way, and a piece is an eighth longer than asked for at most."""
    rng = np.random.default_rng(seed)
    gc.collect()
    CONTEXT.trim()
    start = CONTEXT.counts()["live"]
    limit = start + 1_000_000
    CONTEXT.set_limit(limit)
    kept: list = []
    refused = 0
    try:
        for _ in range(600):
            if kept and rng.random() < 0.45:
                kept.pop(rng.integers(len(kept)))
                continue
            size = int(np.exp(rng.uniform(0, np.log(400_000))))
            live = CONTEXT.counts()["live"]
            assert live == start + sum(rounded(a.nbytes) for a in kept)
            try:
                kept.append(gpuarray.GpuArray.empty("gpu", "uint8", (size,)))
            except DeviceMemoryError as problem:
                refused += 1
                assert live + rounded(size) > limit and "limit" in str(problem)
            else:
                counts = CONTEXT.counts()
                assert counts["live"] + counts["waiting"] <= limit
                assert counts["live"] - live <= max(512, size * 9 / 8)
    finally:
        CONTEXT.set_limit(0)
    assert refused > 3
    kept.clear()
    gc.collect()
    counts = CONTEXT.counts()
    assert counts["live"] == start
    CONTEXT.trim()
    assert CONTEXT.counts()["waiting"] == 0 and CONTEXT.counts()["taken"] == start


def test_the_flag_preallocates(tmp_path):
    import os
    import subprocess
    import sys

    program = (
        "import numpy as np, theano, theano.gpuarray as g\n"
        "c = g.get_context(None)\n"
        "before = c.counts()['taken']\n"
        "kept = [g.asarray(np.arange(1000.0) + k) for k in range(50)]\n"
        "assert all(np.array_equal(np.asarray(a), np.arange(1000.0) + k) for k, a in enumerate(kept))\n"
        "x = theano.tensor.dvector()\n"
        "assert np.allclose(theano.function([x], (theano.tensor.exp(x)).sum())(np.zeros(5)), 5)\n"
        "print(before, c.counts()['taken'], c.counts()['waiting'])\n"
    )

    def run(amount):
        flags = f"device={DEVICE},force_device=True,print_active_device=False,gpuarray.preallocate={amount}"
        env = {**os.environ, "THEANO_FLAGS": flags}
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return [int(word) for word in done.stdout.split()]

    before, after, _ = run("3")
    assert before == after == 3 << 20
    before, after, waiting = run("-1")
    assert before == waiting == 0 < after
