"""Arrays of a device in the hands of Python: arguments, results, values of shared variables, constants."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T
from fake_target.plugin import counts
from theano.compile.shared import SharedVariable
from theano.loader.module import DeviceArray
from theano.tensor.device.ops import FromDevice, ToDevice
from theano.tensor.device.type import DeviceTensorType, on_device, on_host

ON_FAKE = theano.compile.get_default_mode().including("fake")
DTYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64", "complex128"]


def vector(dtype="float64"):
    return DeviceTensorType(dtype, (False,), "fake")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3), (2, 0, 3), (1, 2, 1, 3)])
def test_there_and_back(shape, dtype):
    value = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    there = on_device("fake", value)
    assert (there.shape, there.dtype_name, there.device, there.ndim, there.size) == (shape, dtype, "fake", len(shape), value.size)
    assert there.in_one_piece and there.strides == (value.strides if value.size else there.strides)
    np.testing.assert_array_equal(on_host(there), value)


@pytest.mark.parametrize("window", [
    (0, (2, 3), (24, 8)), (8, (2,), (24,)), (40, (6,), (-8,)), (0, (3, 2), (8, 24)), (16, (2, 2), (0, -8)), (0, (0, 3), (8, 8)), (40, (), ()),
])  # fmt: skip
def test_windows_see_the_same_memory(window):
    value = np.arange(6.0).reshape(2, 3)
    there = on_device("fake", value)
    offset, shape, strides = window
    wanted = np.lib.stride_tricks.as_strided(value.ravel()[offset // 8 :], shape, strides)
    seen = there.window(*window)
    assert seen.memory == there.memory
    np.testing.assert_array_equal(on_host(seen), wanted)
    np.testing.assert_array_equal(on_host(seen.packed()), wanted)
    assert vector().may_share_memory(seen, there) and not vector().may_share_memory(seen, seen.packed())


@pytest.mark.parametrize("window", [(-8, (1,), (8,)), (0, (7,), (8,)), (0, (2,), (-8,)), (48, (), ()), (0, (2**62, 2), (8, 8)), (0, (-1,), (8,))])
def test_windows_end_where_the_memory_ends(window):
    with pytest.raises(ValueError):
        on_device("fake", np.arange(6.0)).window(*window)


def test_a_window_keeps_the_memory():
    gc.collect()
    before = counts()["bytes"]
    seen = on_device("fake", np.arange(1000.0)).window(8, (2,), (8,))
    assert counts()["bytes"] == before + 8000
    np.testing.assert_array_equal(on_host(seen), [1, 2])
    del seen
    assert counts()["bytes"] == before


def test_what_is_no_array_there_is_refused():
    with pytest.raises(ValueError, match="unknown device 'nowhere'"):
        on_device("nowhere", np.zeros(2))
    with pytest.raises(TypeError, match="dtype 'object'"):
        DeviceArray.empty("fake", "object", (2,))
    with pytest.raises(ValueError, match="negative"):
        DeviceArray.empty("fake", "float64", (-2,))
    with pytest.raises(ValueError, match="addressed"):
        DeviceArray.empty("fake", "float64", (2**62, 2**10))
    with pytest.raises(ValueError, match="in one piece"):
        on_device("fake", np.zeros((2, 3))).window(0, (3, 2), (8, 24)).read_into(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="same bytes"):
        on_device("fake", np.zeros(3)).read_into(np.zeros(2))
    with pytest.raises(TypeError):
        DeviceArray()
    there = on_device("fake", np.zeros((2, 3), "float32"))
    for kind in (vector(), vector("float32"), DeviceTensorType("float32", (True, False), "fake"), DeviceTensorType("float32", (False, False), "other")):
        with pytest.raises(TypeError):
            kind.filter(there)


def test_arguments_and_results():
    x = vector()("x")
    f = theano.function([x], [ToDevice("fake")(T.exp(FromDevice()(x))), x, FromDevice()(x).sum()], mode=ON_FAKE)
    value = on_device("fake", np.arange(3.0))
    results = f(value)
    assert type(results[0]) is DeviceArray
    np.testing.assert_allclose(on_host(results[0]), np.exp(np.arange(3.0)))
    np.testing.assert_allclose(on_host(results[1]), np.arange(3.0))
    assert results[2] == 3
    first = results[0]
    f(on_device("fake", np.ones(3)))
    np.testing.assert_allclose(on_host(first), np.exp(np.arange(3.0)), err_msg="a result was written again")
    np.testing.assert_allclose(on_host(f([2, 3])[0]), np.exp([2, 3]))
    with pytest.raises(TypeError, match="fake"):
        f(on_device("fake", np.ones((3, 1))))


def test_results_are_kept_from_the_next_call_for_any_size():
    x = vector()("x")
    f = theano.function([x], ToDevice("fake")(FromDevice()(x) + 1), mode=ON_FAKE)
    for size in (1, 10, 200_000):
        kept = [f(on_device("fake", np.full(size, float(k)))) for k in range(4)]
        for k, one in enumerate(kept):
            np.testing.assert_array_equal(on_host(one), np.full(size, k + 1.0))


def shared_there(value):
    kind = DeviceTensorType(value.dtype.name, (False,) * value.ndim, "fake")
    return SharedVariable("s", kind, on_device("fake", value), False)


def test_shared_variables_are_updated_where_they_are():
    s = shared_there(np.arange(4.0))
    f = theano.function([], FromDevice()(s).sum(), updates=[(s, ToDevice("fake")(FromDevice()(s) * 2))], mode=ON_FAKE)
    assert [float(f()) for _ in range(3)] == [6, 12, 24]
    np.testing.assert_array_equal(on_host(s.get_value(borrow=True)), np.arange(4.0) * 8)
    s.set_value(np.ones(4))
    assert f() == 4
    before = counts()
    f()
    after = counts()
    assert (after["to"] - before["to"], after["from"] - before["from"]) == (0, 1), "only the result comes back"


def test_two_shared_variables_are_exchanged():
    a, b = shared_there(np.arange(3.0)), shared_there(np.ones(3))
    theano.function([], updates=[(a, b), (b, a)], mode=ON_FAKE)()
    np.testing.assert_array_equal(on_host(a.get_value()), np.ones(3))
    np.testing.assert_array_equal(on_host(b.get_value()), np.arange(3.0))


def test_a_failed_call_leaves_them_alone():
    s, x = shared_there(np.arange(4.0)), T.dvector("x")
    f = theano.function([x], updates=[(s, ToDevice("fake")(FromDevice()(s) + x))], mode=ON_FAKE)
    with pytest.raises(ValueError):
        f(np.zeros(3))
    np.testing.assert_array_equal(on_host(s.get_value()), np.arange(4.0))


def test_memory_does_not_grow():
    s = shared_there(np.arange(1000.0))
    f = theano.function([], ToDevice("fake")(FromDevice()(s) - 1), updates=[(s, ToDevice("fake")(FromDevice()(s) * 2))], mode=ON_FAKE)
    for _ in range(3):
        f()
    gc.collect()
    before = counts()["bytes"]
    for _ in range(50):
        f()
    gc.collect()
    assert counts()["bytes"] == before
    del f, s
    gc.collect()
    assert counts()["bytes"] <= before - 8000


def test_values_are_compared_and_copied():
    kind = vector()
    a = on_device("fake", np.array([1.0, np.nan]))
    assert kind.values_eq(a, kind.value_copy(a)) and not kind.values_eq(a, on_device("fake", np.zeros(2)))
    assert kind.values_eq_approx(a, on_device("fake", np.array([1.0 + 1e-12, np.nan])))
    assert kind.value_copy(a).address != a.address
    np.testing.assert_array_equal(on_host(kind.value_zeros((3,))), np.zeros(3))
    assert kind.constant_signature(a) == kind.constant_signature(kind.value_copy(a)) != kind.constant_signature(kind.value_zeros((2,)))


def test_constants():
    x = T.dvector("x")
    c = vector().make_constant(on_device("fake", np.arange(3.0)))
    f = theano.function([x], FromDevice()(c) * x, mode=ON_FAKE)
    for _ in range(2):
        np.testing.assert_array_equal(f(np.ones(3)), np.arange(3.0))
    again = pickle.loads(pickle.dumps(on_device("fake", np.arange(6.0).reshape(2, 3)).window(0, (3, 2), (8, 24))))
    np.testing.assert_array_equal(on_host(again), np.arange(6.0).reshape(2, 3).T)
