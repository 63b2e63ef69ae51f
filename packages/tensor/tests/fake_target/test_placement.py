"""What runs on a device, what is moved there and back, and what becomes of its memory.

Only where the fake target is: ``pytest -p fake_target.plugin`` (`nox -s tests(tensor)` does that).
"""

from __future__ import annotations

import ctypes
import gc
import warnings
from typing import Any

import numpy as np
import pytest
from random_graphs import Writer, well_behaved

import theano
import theano.tensor as T
from fake_target.plugin import FAKE, LIBRARY, counts
from theano.errors import MethodNotDefined
from theano.lowering.targets import CPU, target_of
from theano.tensor.device.ops import FromDevice, ToDevice
from theano.tensor.device.type import DeviceTensorType

ON_FAKE = theano.compile.get_default_mode().including("fake")
UNFUSED = ON_FAKE.excluding("fusion", "inplace")


def nodes_of(f: Any) -> dict[str, list[Any]]:
    """Return the nodes of a function by where they run."""
    found: dict[str, list[Any]] = {"fake": [], "cpu": [], "moves": []}
    for node in f.maker.fgraph.toposort():
        place = "moves" if isinstance(node.op, (ToDevice, FromDevice)) else target_of(node).name
        found[place].append(node)
    return found


def moved(f: Any, *args: Any) -> tuple[int, int]:
    """Return how many transfers to the device and from it one call takes."""
    f(*args)
    before = counts()
    f(*args)
    after = counts()
    return after["to"] - before["to"], after["from"] - before["from"]


def test_what_stays_on_the_device_is_not_moved():
    x, y = T.dmatrices("x", "y")
    f = theano.function([x, y], T.sqr(T.tanh(x * y) + 1).sum(axis=0), mode=UNFUSED)
    nodes = nodes_of(f)
    assert len(nodes["fake"]) == 5 and not nodes["cpu"]
    a, b = np.random.default_rng(0).normal(size=(2, 3, 4))
    assert moved(f, a, b) == (2, 1)
    np.testing.assert_allclose(f(a, b), ((np.tanh(a * b) + 1) ** 2).sum(axis=0))


def test_what_both_need_is_moved_once():
    x = T.dmatrix("x")
    y = T.exp(x)
    f = theano.function([x], [y + 1, T.dot(y, y), y - x, y], mode=UNFUSED)
    for found, wanted in zip(f(np.ones((2, 2))), (np.e + 1, 2 * np.e**2, np.e - 1, np.e)):
        np.testing.assert_allclose(found, np.full((2, 2), wanted))
    there = [n for n in nodes_of(f)["moves"] if isinstance(n.op, ToDevice) and n.inputs[0].owner is None]
    assert sum(n.inputs[0] in f.maker.fgraph.inputs for n in there) == 1
    assert sum(n.inputs[0].owner is not None and n.inputs[0].owner.op == T.exp for n in nodes_of(f)["moves"]) == 1


PARTS = {
    "all of it transposed, too": (lambda x: T.exp(x) + T.exp(x.T), 1, 72),
    "a part of what is not moved": (lambda x: T.exp(x[1]), 1, 24),
    "elements by index": (lambda x: T.exp(x[[0, 2, 0]]), 1, 72),
    "elements by two indices": (lambda x: T.exp(x[[0, 2, 0], [1, 1, 2]]), 1, 24),
    "the diagonal": (lambda x: T.exp(T.diag(x)), 1, 24),
    "a part of what is moved anyway": (lambda x: T.exp(x) + T.exp(x[1]), 1, 72),
    "a transposed part": (lambda x: T.exp(x[:2].T), 1, 48),
    "stretched there": (lambda x: T.exp(x) + T.set_subtensor(T.zeros((3, 3))[1], x[0]), 1, 72),
    "one that both need": (lambda x: T.exp(x.T) + x.T.sum(), 1, 72),
}


@pytest.mark.parametrize("name", PARTS)
def test_no_more_is_moved_than_what_is_read(name):
    build, transfers, size = PARTS[name]
    x = T.dmatrix("x")
    f = theano.function([x], build(x), mode=ON_FAKE)
    value = np.arange(9.0).reshape(3, 3)
    assert moved(f, value)[0] == transfers
    graph = f.maker.fgraph
    sent = [n.inputs[0] for n in graph.toposort() if isinstance(n.op, ToDevice)]
    assert [v.nbytes for v in theano.function(graph.inputs, sent, mode="FAST_COMPILE")(value)] == [size]
    np.testing.assert_allclose(f(value), theano.function([x], build(x))(value))


@pytest.mark.parametrize("shape", [(), (1,), (0,), (7,), (3, 4), (0, 4), (2, 3, 4), (2, 1, 3, 2)])
@pytest.mark.parametrize("layout", ["C", "F", "reversed", "every second", "stretched"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "bool", "complex128"])
def test_arrays_of_any_layout_come_there_and_back(shape, layout, dtype):
    x = T.TensorType(dtype, (False,) * len(shape))("x")
    f = theano.function([x], FromDevice()(ToDevice("fake")(x)))
    value = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    if layout == "F" and shape:
        value = np.asfortranarray(value)
    elif layout == "reversed" and shape:
        value = value[::-1]
    elif layout == "every second" and shape:
        value = np.repeat(value, 2, axis=-1)[..., ::2]
    elif layout == "stretched" and value.size:
        value = np.broadcast_to(value.flat[0], shape)
    np.testing.assert_array_equal(f(value), value)


def test_memory_is_given_back():
    gc.collect()
    before = counts()["bytes"]
    x = T.dvector("x")
    f = theano.function([x], T.exp(x).sum() + T.cos(x), mode=UNFUSED)
    for size in (3, 300_000, 10, 1000):
        f(np.zeros(size))
    assert counts()["bytes"] > before
    del f
    gc.collect()
    assert counts()["bytes"] == before


def test_a_device_without_memory_loses_nothing():
    s = theano.shared(np.arange(4.0))
    f = theano.function([], s.sum(), updates=[(s, T.exp(s) * 2)], mode=ON_FAKE)
    full = ctypes.c_int64.in_dll(LIBRARY, "fake_limit")
    full.value = counts()["bytes"]
    try:
        with pytest.raises(MemoryError):
            f()
        np.testing.assert_array_equal(s.get_value(), np.arange(4.0))
    finally:
        full.value = -1
    assert f() == 6
    np.testing.assert_allclose(s.get_value(), 2 * np.exp(np.arange(4.0)))


def test_buffers_are_shared_within_one_memory():
    x = T.dmatrix("x")
    y = x
    for _ in range(4):
        y = T.dot(T.exp(T.tanh(T.sin(y))), x)
    f = theano.function([x], y, mode=UNFUSED)
    value = np.random.default_rng(1).normal(size=(5, 5)) / 9
    wanted = value
    for _ in range(4):
        wanted = np.exp(np.tanh(np.sin(wanted))) @ value
    np.testing.assert_allclose(f(value), wanted)


def test_shapes_that_do_not_fit_are_refused_as_on_the_cpu():
    x, y = T.dvectors("x", "y")
    f = theano.function([x, y], T.exp(x + y), mode=ON_FAKE)
    with pytest.raises(ValueError, match=r"Input dimension mis-match: .* has length 3 but .* has 2"):
        f(np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum"):
        theano.function([x], x.max(), mode=ON_FAKE)(np.zeros(0))


def test_python_does_not_see_a_devices_memory():
    kind = DeviceTensorType("float64", (False,), "fake")
    with pytest.raises(TypeError, match="in the memory of fake"):
        kind.filter(np.zeros(2), strict=True)
    x = T.dvector("x")
    with pytest.raises(TypeError, match="takes an array, not"):
        ToDevice("fake")(theano.graph.generic("g"))
    with pytest.raises(TypeError, match="takes an array in the memory of a device"):
        FromDevice()(x)
    with pytest.raises(MethodNotDefined, match="perform"):
        theano.function([x], FromDevice()(ToDevice("fake")(x)), mode=theano.Mode("py", None))(np.zeros(2))


def test_gradients_go_through_transfers():
    x = T.dvector("x")
    y = FromDevice()(ToDevice("fake")(T.sin(x)))
    f = theano.function([x], [theano.grad((y**2).sum(), x), theano.Rop(y, x, T.ones_like(x))])
    value = np.arange(3.0)
    np.testing.assert_allclose(f(value)[0], 2 * np.sin(value) * np.cos(value))
    np.testing.assert_allclose(f(value)[1], np.cos(value))


def test_a_target_is_found_by_the_memory_of_all_operands():
    x = T.dvector("x")
    there = ToDevice("fake")(x)
    assert target_of(there.owner) == FAKE and target_of(T.exp(x).owner) is CPU
    assert target_of(FromDevice()(there).owner) is CPU
    f = theano.function([x], T.exp(x), mode=ON_FAKE)
    (node,) = nodes_of(f)["fake"]
    assert target_of(node) == FAKE and type(node.op) is type(T.exp)


@pytest.mark.parametrize("block", range(4))
def test_random_graphs(block):
    worth = 0
    for seed in range(40 * block, 40 * block + 40):
        writer = Writer(seed)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            outputs = writer.write()
            wanted = well_behaved(outputs, writer.inputs, writer.values)
            if wanted is None:
                continue
            f = theano.function(writer.inputs, outputs, mode=ON_FAKE, on_unused_input="ignore")
            worth += bool(nodes_of(f)["fake"])
            for w, found in zip(wanted, f(*writer.values), strict=True):
                np.testing.assert_allclose(found, w, rtol=2e-3, atol=2e-3, err_msg=f"seed {seed}")
    assert worth > 10
