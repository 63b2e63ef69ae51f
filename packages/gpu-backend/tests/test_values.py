"""Arrays of a device in Python's hands, shared variables, contexts, and what is moved when."""

from __future__ import annotations

import copy
import gc
import importlib
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from compare import nodes

import theano
import theano.tensor as T
from conftest import DEVICE
from theano import gpuarray
from theano.gpuarray import (
    GpuArray,
    GpuArrayType,
    GpuFromHost,
    GpuToGpu,
    HostFromGpu,
    as_gpuarray_variable,
    gpuarray_shared_constructor,
    ops,
)
from theano.gpuarray.placement import NAMES
from theano.legacy.tables.gpu_backend import OLD_NAMES
from theano.tensor.device.ops import FromDevice, ToDevice


@pytest.mark.parametrize(
    "key", [0, -1, slice(1, None), slice(None, None, -2), (slice(None), 1), (..., 0), (None, 1), (0, 1, 2), ()], ids=str
)
def test_parts_are_windows(key):
    value = np.arange(24.0).reshape(2, 3, 4)
    there = gpuarray.asarray(value)
    np.testing.assert_array_equal(np.asarray(there[key]), value[key])
    assert there[key].memory == there.memory


def test_arrays_have_the_usual_attributes():
    value = np.arange(6, dtype="float32").reshape(2, 3)
    there = gpuarray.asarray(value)
    assert (there.dtype, there.nbytes, there.itemsize, len(there), there.context_name) == (value.dtype, 24, 4, 2, None)
    np.testing.assert_array_equal(there.T, value.T)
    np.testing.assert_array_equal(there.transpose(1, 0).copy(), value.T)
    np.testing.assert_array_equal(there.T.reshape(3, -1), value.T)
    np.testing.assert_array_equal(copy.copy(there), value)
    np.testing.assert_array_equal(copy.deepcopy(there), value)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(there.T)), value.T)
    assert float(there[1, 1]) == 4 and int(there[0, 2]) == 2 and not bool(there[0, 0])
    assert "GpuArray" in repr(there) and str(there) == str(value)
    assert gpuarray.asarray(there) is there and gpuarray.asarray(there, dtype="float64").dtype == "float64"
    for wrong in (
        lambda: there[[0, 1]],
        lambda: there[there],
        lambda: there.reshape(4, 4),
        lambda: len(there[0, 0]),
        lambda: there.transpose(0, 0),
        lambda: there[7],
    ):
        with pytest.raises((TypeError, ValueError, IndexError)):
            wrong()


def test_types():
    kind = GpuArrayType("float32", (False, True))
    assert kind == GpuArrayType("float32", (False, True)) != GpuArrayType("float32", (False, True), "dev1")
    assert str(kind) == "GpuArrayType<None>(float32, col)" and kind.context is gpuarray.get_context(None)
    assert kind.clone(dtype="int8") == GpuArrayType("int8", (False, True)) and kind.on_host() == T.fcol().type
    value = kind.filter(np.ones((3, 1), "float32"))
    assert isinstance(value, GpuArray) and kind.filter(value) is value
    for wrong in (np.ones((3, 1)), np.ones((3, 2), "float32"), gpuarray.asarray(np.ones((3, 2), "float32")), "text"):
        with pytest.raises(TypeError):
            kind.filter(wrong)
    with pytest.raises(TypeError):
        kind.filter(np.ones((3, 1), "float32"), strict=True)


def test_variables_have_the_operators_of_arrays(on_device):
    x = GpuArrayType("float64", (False, False))("x")
    f = on_device([x], [(x * 2 + 1).sum(axis=0), -x, T.dot(x, x.T), x[0], x.shape[0]])
    value = np.arange(6.0).reshape(2, 3)
    wanted = [(value * 2 + 1).sum(0), -value, value @ value.T, value[0], 2]
    for got, want in zip(f(gpuarray.asarray(value)), wanted, strict=True):
        np.testing.assert_allclose(got, want)


def test_transfers(on_device):
    x = T.dvector("x")
    there = GpuFromHost(None)(x)
    assert isinstance(there.type, GpuArrayType) and str(there.owner.op) == "GpuFromHost<None>"
    assert as_gpuarray_variable(HostFromGpu()(there)) is there and as_gpuarray_variable(there) is there
    f = on_device([x], as_gpuarray_variable(T.exp(x)))
    assert isinstance(f(np.zeros(2)), GpuArray)
    assert not [n for n in f.maker.fgraph.toposort() if isinstance(n.op, FromDevice)]
    g = theano.function([x], theano.grad(HostFromGpu()(GpuFromHost(None)(T.sin(x))).sum(), x))
    np.testing.assert_allclose(g(np.ones(2)), np.cos(np.ones(2)))
    for wrong in (lambda: HostFromGpu()(x), lambda: GpuToGpu(None)(x)):
        with pytest.raises(TypeError):
            wrong()
    np.testing.assert_array_equal(
        theano.function([x], HostFromGpu()(there), mode=theano.Mode("py", None))(np.ones(2)), np.ones(2)
    )


def test_shared_variables(context):
    s = gpuarray_shared_constructor(np.arange(3, dtype="float32"), name="s")
    np.testing.assert_array_equal(s.get_value(), np.arange(3))
    assert isinstance(s.get_value(return_internal_type=True), GpuArray)
    inside = s.get_value(borrow=True, return_internal_type=True)
    assert inside is s.container.value and s.get_value(return_internal_type=True).address != inside.address
    s.set_value(np.ones(4, "float32"))
    s.set_value(inside)
    assert s.container.value.address != inside.address
    s.set_value(inside, borrow=True)
    assert s.container.value is inside
    with pytest.raises(TypeError):
        s.set_value(np.ones((2, 2), "float32"))
    np.testing.assert_array_equal(s.get_value(), np.arange(3))
    assert gpuarray_shared_constructor(np.ones((1, 3)), broadcastable=(True, False)).type.broadcastable == (True, False)
    for wrong in (
        lambda: gpuarray_shared_constructor([1.0]),
        lambda: gpuarray_shared_constructor(np.ones(2), target="cpu"),
    ):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(gpuarray.ContextNotDefined, match="'moon'"):
        gpuarray_shared_constructor(np.ones(2), target="moon")
    again = pickle.loads(pickle.dumps(s))
    np.testing.assert_array_equal(again.get_value(), s.get_value())


def test_training_moves_the_batch_and_the_loss_alone(context, on_device):
    rng = np.random.default_rng(0)
    x, y, rate = T.fmatrix("x"), T.ivector("y"), T.fscalar("rate")
    shapes = [(20, 30), (30,), (30, 4), (4,)]
    starts = [rng.normal(size=shape).astype("float32") * 0.3 for shape in shapes]

    def step(shared, function):
        w1, b1, w2, b2 = (shared(start) for start in starts)
        p = T.nnet.softmax(T.dot(T.nnet.relu(T.dot(x, w1) + b1), w2) + b2)
        cost = T.nnet.categorical_crossentropy(p, y).mean()
        params = [w1, b1, w2, b2]
        updates = [(w, w - rate * g) for w, g in zip(params, T.grad(cost, params), strict=True)]
        return function([x, y, rate], cost, updates=updates), params

    f, params = step(gpuarray_shared_constructor, on_device)
    g, others = step(theano.shared, theano.function)
    moves = [n for n in f.maker.fgraph.toposort() if isinstance(n.op, (ToDevice, FromDevice))]
    assert [type(n.op).__name__ for n in moves] == ["GpuFromHost", "GpuFromHost", "HostFromGpu"]
    assert all(n.inputs[0] in f.maker.fgraph.inputs for n in moves[:2])
    batch = rng.normal(size=(50, 20)).astype("float32"), rng.integers(0, 4, 50).astype("int32")
    before = context.counts()
    losses = [(float(f(*batch, np.float32(0.1))), float(g(*batch, np.float32(0.1)))) for _ in range(20)]
    after = context.counts()
    assert (after["to"] - before["to"], after["from"] - before["from"]) == (40, 20)
    np.testing.assert_allclose(*zip(*losses), rtol=1e-4)
    assert losses[-1][0] < losses[0][0]
    for mine, other in zip(params, others):
        np.testing.assert_allclose(mine.get_value(), other.get_value(), rtol=1e-3, atol=1e-5)
    assert not [n for n in nodes(f)[1] if any(v.type.ndim and not all(v.type.broadcastable) for v in n.outputs)]


def test_memory_is_used_again(context, on_device):
    s = gpuarray_shared_constructor(np.zeros(100_000))
    f = on_device([], s.sum(), updates=[(s, T.exp(s) - 1)])
    for _ in range(3):
        f()
    gc.collect()
    before = context.counts()
    for _ in range(30):
        f()
    gc.collect()
    after = context.counts()
    assert after["live"] == before["live"] and after["waiting"] == before["waiting"]
    del f, s
    gc.collect()
    assert context.counts()["live"] <= before["live"] - 800_000


def test_every_allocation_that_can_fail(context, on_device):
    s = gpuarray_shared_constructor(np.arange(1000.0))
    x = T.dmatrix("x")
    f = on_device([x], T.dot(x, T.cos(s)).sum() + (x * x).sum(), updates=[(s, s + x.sum(axis=0))])
    value = np.ones((5, 1000))
    failed = 0
    try:
        for k in range(1, 40):
            f.free()  # what it keeps between calls
            context.set_limit(0, k)
            try:
                result = f(value)
            except MemoryError as problem:
                failed += 1
                assert "no memory" in str(problem)
                np.testing.assert_array_equal(s.get_value(), np.arange(1000.0))
            else:
                break
    finally:
        context.set_limit(0)
    assert failed > 3
    np.testing.assert_allclose(result, 5 * np.cos(np.arange(1000.0)).sum() + 5000)
    np.testing.assert_array_equal(s.get_value(), np.arange(1000.0) + 5)


def test_a_limit_of_memory(context):
    context.trim()
    live = context.counts()["live"]
    context.set_limit(live + 1_000_000)
    try:
        kept = gpuarray.asarray(np.zeros(50_000))
        with pytest.raises(MemoryError):
            gpuarray.asarray(np.zeros(200_000))
    finally:
        context.set_limit(0)
    del kept


def test_contexts():
    other = gpuarray.init_dev(DEVICE, "other")
    assert set(gpuarray.list_contexts()) >= {None, "other"} and gpuarray.get_context("other") is other
    with pytest.raises(ValueError, match="already"):
        gpuarray.reg_context("other", gpuarray.get_context(None))
    with pytest.raises(gpuarray.ContextNotDefined):
        gpuarray.get_context("none such")
    a, b = gpuarray_shared_constructor(np.ones(3)), gpuarray_shared_constructor(np.arange(3.0), target="other")
    assert b.container.value.context_name == "other"
    f = theano.function([], HostFromGpu()(a) + HostFromGpu()(b) + HostFromGpu()(GpuToGpu("other")(a)))
    np.testing.assert_array_equal(f(), [2, 3, 4])
    with pytest.raises(TypeError):
        b.container.value = a.container.value


@pytest.mark.parametrize("name", ["tpu", "cuda99", "opencl99:0", "opencl0:99", "opencl0"])
def test_devices_that_are_not_there(name):
    with pytest.raises(gpuarray.GpuUnavailableError):
        gpuarray.init_dev(name, "nowhere")
    assert "nowhere" not in list(gpuarray.list_contexts())
    assert gpuarray.use(name, name="nowhere") is None


def test_a_program_comes_out_of_the_cache(tmp_path):
    program = f"""
import numpy as np, theano, theano.tensor as T
from theano import gpuarray
context = gpuarray.init_dev({DEVICE!r})
compiled = []
driver = type(context.driver)
original = driver.compile
driver.compile = lambda self, text: compiled.append(text) or original(self, text)
x = T.dmatrix("x")
mode = theano.compile.get_default_mode().including("gpuarray")
f = theano.function([x], T.tanh(x * 3).sum(axis=0), mode=mode)
print(len(compiled), f(np.ones((2, 2))).sum().round(6), f.maker.source.__class__.__name__)
"""
    run = lambda: subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "THEANO_FLAGS": f"base_compiledir={tmp_path}"},
        capture_output=True,
        text=True,
    )
    first, second = run(), run()
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert int(first.stdout.split()[0]) > 0 and int(second.stdout.split()[0]) == 0
    assert first.stdout.split()[1] == second.stdout.split()[1]


def test_a_kernel_that_cannot_be_compiled_names_the_expression(context, on_device, monkeypatch):
    x = T.dmatrix("x")
    refuse = lambda text: (_ for _ in ()).throw(gpuarray.DeviceCompileError("no", text))
    monkeypatch.setattr(context.driver, "compile", refuse, raising=False)
    with pytest.raises(gpuarray.DeviceCompileError, match="log1p"):
        on_device([x], T.log1p(abs(x) * 17.25 + T.cosh(x)))


@pytest.mark.parametrize("place", NAMES)
def test_named_classes(place):
    module, _, name = place.partition(":")
    base, there = getattr(importlib.import_module(module), name), getattr(ops, NAMES[place])
    assert issubclass(there, base) and there.__name__ == NAMES[place] and NAMES[place] in dir(ops)
    assert not hasattr(ops, "GpuNothing")


@pytest.mark.parametrize("module", OLD_NAMES)
def test_old_spellings(module):
    for home, names in OLD_NAMES[module].items():
        for word in names.split():
            old, _, new = word.partition("=")
            assert getattr(importlib.import_module(module), old) is getattr(importlib.import_module(home), new or old)
