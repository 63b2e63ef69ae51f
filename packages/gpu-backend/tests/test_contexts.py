"""Several devices: what is computed on which, transfers between them, and one model trained on two."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from compare import MODE, ON_CPU, nodes

import theano
import theano.tensor as T
from conftest import DEVICE
from theano.errors import DeviceNotStartedError
from theano.gpuarray import GpuArrayType, GpuFromHost, GpuToGpu, HostFromGpu, as_gpuarray_variable
from theano.tensor.device.ops import FromDevice, ToDevice

pytestmark = pytest.mark.usefixtures("second")


def shared(value, target=None):
    return theano.shared(np.asarray(value, "float32"), target=target)


def contexts_of(f):
    """Return the names of the contexts on which a function computes something."""
    return {n.outputs[0].type.context_name for n in nodes(f)[0]}


def transfers(f):
    return [type(n.op) for n in f.maker.fgraph.toposort() if isinstance(n.op, (ToDevice, FromDevice))]


@pytest.mark.parametrize("name", [None, "dev1"])
def test_it_is_computed_where_the_operands_are(name):
    m, v = shared(np.eye(3) * 2, name), shared([1, 2, 3], name)
    x = T.fvector("x")
    f = theano.function([x], T.tanh(T.dot(m, v + x)).sum(), mode=MODE)
    assert contexts_of(f) == {name} and GpuToGpu not in transfers(f)
    np.testing.assert_allclose(f([0, 1, 0]), np.tanh([2.0, 6, 6]).sum(), rtol=1e-5)


def test_each_part_of_a_function_on_its_own_device():
    a, b = shared(np.eye(2), None), shared(np.ones((2, 2)), "dev1")
    f = theano.function([], [T.dot(a, a), T.dot(b, b)], mode=MODE)
    assert contexts_of(f) == {None, "dev1"} and transfers(f) == [HostFromGpu] * 2
    np.testing.assert_array_equal(f()[0], np.eye(2))
    np.testing.assert_array_equal(f()[1], np.full((2, 2), 2))


def test_operands_on_two_devices_meet_where_the_first_is():
    a, b = shared([1, 2], "dev1"), shared([10, 20], None)
    f = theano.function([], T.exp(a) + T.exp(b), mode=MODE.excluding("fusion"))
    assert contexts_of(f) == {"dev1", None} and transfers(f).count(GpuToGpu) == 1
    np.testing.assert_allclose(f(), np.exp([1.0, 2]) + np.exp([10.0, 20]), rtol=1e-5)


@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 5)])
@pytest.mark.parametrize("dtype", ["float32", "int8", "float64"])
@pytest.mark.parametrize("compiled", [True, False])
def test_from_device_to_device(shape, dtype, compiled):
    value = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    x = T.TensorType(dtype, (False,) * len(shape))("x")
    there = GpuFromHost(None)(x)
    moved = GpuToGpu("dev1")(as_gpuarray_variable(there.T, None))
    assert moved.type == GpuArrayType(dtype, (False,) * len(shape), "dev1")
    mode = MODE if compiled else theano.Mode("py", None)
    np.testing.assert_array_equal(theano.function([x], HostFromGpu()(moved), mode=mode)(value), value.T)


def test_transfers_have_gradients():
    x, w = T.fvector("x"), shared([1, 2, 3], "dev1")
    cost = T.sqr(x.transfer(None).transfer("dev1") * w).sum()
    f = theano.function([x], T.grad(cost, [x, w]), mode=MODE)
    g, h = f([1, 1, 2])
    np.testing.assert_array_equal(g, [2, 8, 36])
    np.testing.assert_array_equal(h, [2, 4, 24])


def test_a_tag_says_where_an_input_is_used():
    x, y = T.fmatrix("x"), T.fmatrix("y")
    x.tag.target, y.tag.target = "dev1", "cpu"
    f = theano.function([x, y], [T.exp(x), T.exp(y)], mode=MODE)
    assert contexts_of(f) == {"dev1"} and len(nodes(f)[1]) == 1
    for found in f(np.zeros((2, 2), "float32"), np.zeros((2, 2), "float32")):
        np.testing.assert_array_equal(found, np.ones((2, 2)))


def test_one_model_trained_on_two_devices():
    """Each device has half of the batch and a copy of the parameters; gradients meet on the first one."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40, 6)).astype("float32")
    start = rng.normal(size=(6, 6)).astype("float32")

    def step_on(places, mode):
        batch, wanted = T.fmatrix("x"), T.fmatrix("y")
        n = batch.shape[0] // len(places)
        copies = [shared(start, place) for place in places]
        losses = [
            T.sqr(T.tanh(T.dot(batch[k * n : (k + 1) * n], w)) - wanted[k * n : (k + 1) * n]).sum()
            for k, w in enumerate(copies)
        ]
        gradients = [T.grad(loss, w) for loss, w in zip(losses, copies)]
        total = sum((g.transfer(places[0]) for g in gradients[1:]), gradients[0])
        updates = [(w, w - np.float32(0.01) * total.transfer(place)) for w, place in zip(copies, places)]
        return theano.function([batch, wanted], sum(losses), updates=updates, mode=mode), copies

    two, copies = step_on([None, "dev1"], MODE)
    one, alone = step_on(["cpu"], ON_CPU)
    for _ in range(20):
        np.testing.assert_allclose(two(x, y), one(x, y), rtol=1e-4)
    for w in copies:
        np.testing.assert_allclose(w.get_value(), alone[0].get_value(), rtol=1e-3, atol=1e-5)
    assert contexts_of(two) == {None, "dev1"}
    # A gradient and a loss to the first one, the sum of the gradients to the second.
    assert transfers(two).count(GpuToGpu) == 3


BY_FLAGS = """
import numpy as np, theano, theano.tensor as T
from theano.gpuarray import GpuArrayType
a, b = (theano.shared(np.ones((4, 4), 'float32'), target=name) for name in ('dev0', 'dev1'))
c = theano.shared(np.ones(3, 'float32'))
f = theano.function([], [T.dot(a, a), T.dot(b, b), T.exp(c)])
kinds = [getattr(n.outputs[0].type, 'context_name', 'cpu') for n in f.maker.fgraph.toposort()]
assert sorted(kinds) == ['cpu', 'cpu', 'cpu', 'dev0', 'dev1'], kinds
assert [float(r.ravel()[0]) for r in f()[:2]] == [4, 4]
"""


def test_contexts_by_flags():
    flags = f"contexts=dev0->{DEVICE};dev1->{DEVICE}"
    done = subprocess.run(
        [sys.executable, "-c", BY_FLAGS], env={**os.environ, "THEANO_FLAGS": flags}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_what_is_on_a_device_that_was_not_started_is_an_error_that_names_it():
    x = GpuArrayType("float32", (False,), "nowhere")("x")
    for y in (T.exp(as_gpuarray_variable(x, "nowhere")), x + 1):
        with pytest.raises(DeviceNotStartedError, match=r"x.* is on the device gpu:nowhere, which was not started \(there are: gpu"):
            theano.function([x], y, mode=MODE)
