"""Slots in a device's memory: transfers, buffers that are shared, and programs that are refused."""

from __future__ import annotations

import ctypes
import gc
import weakref
from typing import Any

import numpy as np
import pytest
from loader_specs import MATRIX, SCALAR, VECTOR, given

from theano.errors import DeviceError, DeviceMemoryError
from theano.loader.module import DeviceArray, Function, add_device, device_array_class, has_device, read_capsule


@pytest.fixture
def device(kernels: Any) -> Any:
    """The specification of a vector there, after the device was added."""
    add_device("toy", kernels.device)
    return (*VECTOR, "toy")


def there_and_back(kernels: Any, spec: Any, inside: Any, kind: str = "input") -> dict[str, Any]:
    """Return a program that moves its input to a device and what is there back."""
    return {
        "slots": [(kind, spec, None), ("temp", inside, None), ("temp", spec, None)],
        "instructions": [("c", kernels.transfer, None, [0], [1], 1.0), ("c", kernels.transfer, None, [1], [2], 1.0)],
        "inputs": [given(0, "x")],
        "outputs": [2],
        "returns": "one",
    }


def bytes_there(kernels: Any) -> int:
    return ctypes.c_int64.from_address(kernels.device_bytes).value


def read(value: Any) -> Any:
    made = np.empty(value.shape, value.dtype_name)
    value.read_into(made)
    return made


def test_a_device_is_known_once_it_was_added(kernels: Any, device: Any) -> None:
    assert has_device("toy") and not has_device("no such device") and not has_device("cpu")
    add_device("toy", kernels.device)
    assert has_device("toy")


def test_values_come_back(kernels: Any, device: Any) -> None:
    f = Function(there_and_back(kernels, VECTOR, device))
    for n in (1, 2, 0, 1000, 5, 300_000, 5):
        x = np.arange(float(n))
        np.testing.assert_array_equal(f(x), x)
        np.testing.assert_array_equal(f(np.repeat(x, 3)[::3]), x)
        np.testing.assert_array_equal(f(x[::-1]), x[::-1])


def test_matrices_of_any_strides(kernels: Any, device: Any) -> None:
    f = Function(there_and_back(kernels, MATRIX, (*MATRIX, "toy")))
    x = np.arange(60.0).reshape(5, 12)
    for value in (x, x.T, x[::2, ::-3], x[:, :1], x[:1], np.broadcast_to(x[0], (4, 12)), np.broadcast_to(x[:, :1], (5, 7)), x[:0], x[:, :0]):
        np.testing.assert_array_equal(f(value), value)


def test_numbers_lie_in_the_devices_memory_as_well(kernels: Any, device: Any) -> None:
    f = Function(there_and_back(kernels, ("float64", 0, ()), ("float64", 0, (), False, "toy")))
    assert [f(np.asarray(2.5)).item(), f(np.asarray(-1.0)).item()] == [2.5, -1.0]


def test_memory_is_given_back_with_the_function(kernels: Any, device: Any) -> None:
    before = bytes_there(kernels)
    f = Function(there_and_back(kernels, VECTOR, device))
    f(np.zeros(1000))
    assert bytes_there(kernels) >= before + 8000
    f(np.zeros(400_000))
    f(np.zeros(2))
    assert bytes_there(kernels) < before + 400_000
    del f
    assert bytes_there(kernels) == before


def test_a_transfer_that_fails(kernels: Any, device: Any) -> None:
    f = Function(there_and_back(kernels, VECTOR, device))
    with pytest.raises(DeviceError, match="a transfer of 24 bytes failed: it was to fail"):
        f(np.zeros(3))
    np.testing.assert_array_equal(f(np.ones(4)), np.ones(4))


def test_calls_begin_and_end_on_devices(kernels: Any, device: Any) -> None:
    """A call that fails ends, too; and one whose device fails at the end fails, before anything is stored."""
    ctypes_function = ctypes.CFUNCTYPE(ctypes.POINTER(ctypes.c_int64))
    calls = ctypes_function(kernels.calls_of_device)()
    cell = [None]
    f = Function({**there_and_back(kernels, VECTOR, device), "updates": [(cell, 2)]})
    before = calls[0], calls[1]
    f(np.ones(4))
    assert (calls[0], calls[1]) == (before[0] + 1, before[1] + 1) and cell[0] is not None
    with pytest.raises(DeviceError, match="it was to fail"):
        f(np.zeros(3))
    assert (calls[0], calls[1]) == (before[0] + 2, before[1] + 2)
    calls[2] = 1
    with pytest.raises(DeviceError, match="the device failed: it was to fail"):
        f(np.zeros(5))
    assert (calls[0], calls[1]) == (before[0] + 3, before[1] + 3)
    np.testing.assert_array_equal(cell[0], np.ones(4))
    other = Function({**there_and_back(kernels, VECTOR, VECTOR)})  # no device is used
    with pytest.raises(ValueError):
        other(np.zeros(4))
    assert calls[0] == before[0] + 3


def test_a_transfer_is_between_two_memories(kernels: Any, device: Any) -> None:
    f = Function(there_and_back(kernels, VECTOR, VECTOR))
    with pytest.raises(ValueError, match="to a device's memory or from it"):
        f(np.zeros(4))


@pytest.mark.parametrize("value", [np.arange(4.0), np.arange(8.0)[::-2], np.zeros(0)])
def test_from_device_to_device(kernels: Any, device: Any, value: Any) -> None:
    f = Function({
        **there_and_back(kernels, VECTOR, device),
        "slots": [("input", VECTOR, None), ("temp", device, None), ("temp", device, None), ("temp", VECTOR, None)],
        "instructions": [("c", kernels.transfer, None, [i], [i + 1], 1.0) for i in range(3)],
        "outputs": [3],
    })  # fmt: skip
    np.testing.assert_array_equal(f(value), value)


def test_a_transfer_between_devices_that_fails(kernels: Any, device: Any) -> None:
    there = Function({**there_and_back(kernels, VECTOR, device), "outputs": [1]})(np.arange(6.0))
    across = Function(
        slots=[("input", device, None), ("temp", device, None)],
        instructions=[("c", kernels.transfer, None, [0], [1], 1.0)],
        inputs=[given(0, "x")], outputs=[1], returns="one",
    )  # fmt: skip
    np.testing.assert_array_equal(read(across(there)), np.arange(6.0))
    before = bytes_there(kernels)
    with pytest.raises(DeviceError, match="a transfer of 24 bytes failed: it was to fail"):
        across(there.window(0, (3,), (16,)))
    assert bytes_there(kernels) <= before + 24
    np.testing.assert_array_equal(read(across(there.window(0, (2,), (24,)))), [0, 3])


def test_programs_that_are_refused(kernels: Any, device: Any) -> None:
    program = there_and_back(kernels, VECTOR, device)
    slots = program["slots"]
    refused = "what is in a device's memory is no NumPy scalar, and is not overwritten in a shared variable"
    for changes, message in [
        ({"slots": [slots[0], ("temp", (*VECTOR, "nowhere"), None), slots[2]]}, "unknown device 'nowhere'"),
        ({"slots": [slots[0], ("temp", (*SCALAR, "toy"), None), slots[2]]}, refused),
        ({"slots": [*slots, ("shared", device, [None])], "overwritten": [(3, 2)]}, refused),
    ]:
        with pytest.raises(ValueError, match=message):
            Function({**program, **changes})


def test_results_and_arguments_on_a_device(kernels: Any, device: Any) -> None:
    there = Function({**there_and_back(kernels, VECTOR, device), "outputs": [1]})(np.arange(4.0))
    assert type(there) is DeviceArray and there.device == "toy" and there.shape == (4,)
    back = Function(
        slots=[("input", device, None), ("temp", VECTOR, None)],
        instructions=[("c", kernels.transfer, None, [0], [1], 1.0)],
        inputs=[given(0, "x")], outputs=[1], returns="one",
    )  # fmt: skip
    np.testing.assert_array_equal(back(there), np.arange(4.0))
    np.testing.assert_array_equal(back(there.window(24, (2,), (-16,))), [3.0, 1.0])
    for wrong in (np.arange(4.0), there.window(0, (2, 2), (16, 8)), there.window(0, (4,), (8,), "int64")):
        with pytest.raises(TypeError, match="expected float64 with 1 dimensions"):
            back(wrong)


def test_python_sees_what_is_on_a_device_and_updates_store_it(kernels: Any, device: Any) -> None:
    seen: list[Any] = []
    cell: list[Any] = [None]

    def perform(node: Any, inputs: Any, outputs: Any) -> None:
        seen.append(inputs[0])
        outputs[0][0] = inputs[0].packed()

    program = there_and_back(kernels, VECTOR, device)
    f = Function(
        slots=[("input", VECTOR, None), ("temp", device, None), ("temp", device, None), ("temp", VECTOR, None)],
        instructions=[program["instructions"][0], ("perform", perform, None, [1], [2]), ("c", kernels.transfer, None, [2], [3], 1.0)],
        inputs=[given(0, "x")], outputs=[3], returns="one", updates=[(cell, 2)],
    )  # fmt: skip
    for n in (4, 2, 200_000):
        value = np.arange(float(n))
        np.testing.assert_array_equal(f(value), value)
        assert type(cell[0]) is DeviceArray and cell[0].shape == (n,) and cell[0].address != seen[-1].address


def test_classes_of_arrays(kernels: Any) -> None:
    class Mine(DeviceArray):
        pass

    add_device("mine", kernels.device, Mine)
    assert device_array_class("mine") is Mine and type(Mine.empty("mine", "float64", (2,))) is Mine
    with pytest.raises(TypeError, match="subclass"):
        add_device("other", kernels.device, int)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown device"):
        device_array_class("other")


def test_slots_share_buffers_of_one_memory_only(kernels: Any, device: Any) -> None:
    program = {
        "slots": [("input", VECTOR, None), ("temp", device, None), ("temp", VECTOR, None), ("temp", device, None), ("temp", VECTOR, None)],
        "instructions": [
            ("c", kernels.transfer, None, [0], [1], 1.0), ("c", kernels.transfer, None, [1], [2], 1.0),
            ("c", kernels.transfer, None, [2], [3], 1.0), ("c", kernels.transfer, None, [3], [4], 1.0),
        ],
        "inputs": [given(0, "x")], "outputs": [4], "returns": "one", "frees": [[], [1], [2], [3]],
    }  # fmt: skip
    with pytest.raises(ValueError, match="slots that share a buffer are in one memory"):
        Function({**program, "reuse": [-1, 0, 0, -1, -1]})
    f = Function({**program, "reuse": [-1, 0, 1, 0, -1]})
    for n in (1, 50, 4, 300_000, 4):
        np.testing.assert_array_equal(f(np.arange(float(n))), np.arange(float(n)))


def direct_copies(kernels: Any) -> int:
    return int(ctypes.CFUNCTYPE(ctypes.c_int64)(kernels.direct_copies)())


def test_a_device_copies_from_another_one(kernels: Any, device: Any) -> None:
    """By a node and from Python: directly where it can, by way of the host where it cannot."""
    add_device("other toy", kernels.other_device)
    add_device("silent toy", kernels.silent_device)
    there = Function({**there_and_back(kernels, VECTOR, device), "outputs": [1]})(np.arange(6.0))
    for name, direct in (("other toy", 1), ("silent toy", 0)):
        across = Function(
            slots=[("input", device, None), ("temp", (*VECTOR, name), None)],
            instructions=[("c", kernels.transfer, None, [0], [1], 1.0)],
            inputs=[given(0, "x")], outputs=[1], returns="one",
        )  # fmt: skip
        before = direct_copies(kernels)
        np.testing.assert_array_equal(read(across(there)), np.arange(6.0))
        np.testing.assert_array_equal(read(across(there.window(40, (6,), (-8,)))), np.arange(6.0)[::-1])
        assert direct_copies(kernels) == before + 2 * direct
        made = DeviceArray.empty(name, "float64", (6,))
        assert made.copy_from(there) is bool(direct) and direct_copies(kernels) == before + 3 * direct
        if direct:
            np.testing.assert_array_equal(read(made), np.arange(6.0))
            with pytest.raises(DeviceError, match="a transfer of 40 bytes failed: it was to fail"):
                across(there.window(0, (5,), (8,)))
            with pytest.raises(DeviceError, match="it was to fail"):
                DeviceArray.empty(name, "float64", (5,)).copy_from(there.window(0, (5,), (8,)))
    for wrong, error in ((np.arange(6.0), TypeError), (there.window(0, (3,), (16,)), ValueError), (there.window(0, (2,), (8,)), ValueError)):
        with pytest.raises(error):
            DeviceArray.empty("other toy", "float64", (6,)).copy_from(wrong)
    assert issubclass(DeviceMemoryError, MemoryError) and issubclass(DeviceError, RuntimeError)


def test_memory_of_somebody_else(kernels: Any, device: Any) -> None:
    """It is read where it is, is not given to the device's allocator, and its owner lives as long as a window on it."""

    class Owner:
        pass

    origin, owner = Function({**there_and_back(kernels, VECTOR, device), "outputs": [1]})(np.arange(6.0)), Owner()
    before, gone = bytes_there(kernels), weakref.ref(owner)
    adopted = DeviceArray.adopt("toy", origin.address, 48, owner)
    assert (adopted.dtype_name, adopted.shape, adopted.memory) == ("uint8", (48,), (origin.address, 48))
    part = adopted.window(8, (2,), (16,), "float64")
    np.testing.assert_array_equal(read(part.packed()), [1, 3])
    del adopted, owner
    gc.collect()
    back = Function(there_and_back(kernels, VECTOR, device))
    assert back(read(part.packed())).tolist() == [1, 3] and gone() is not None
    with pytest.raises(ValueError, match="beyond"):
        part.window(0, (6,), (8,))
    del part, back
    gc.collect()
    assert gone() is None and bytes_there(kernels) == before
    for wrong in (("nowhere", 0, 8, None), ("toy", 0, -1, None)):
        with pytest.raises(ValueError, match="unknown device|negative"):
            DeviceArray.adopt(*wrong)
    with pytest.raises(TypeError):
        DeviceArray.adopt("toy", "address", 8, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("layout", [lambda a: a, lambda a: a.T, lambda a: a[::-1, 1:], lambda a: a[:0], lambda a: a[1, 1, ...]])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64", "complex64", "complex128"])
def test_capsules_of_numpy(dtype: str, layout: Any, versioned: bool) -> None:
    value = layout(np.arange(6).reshape(2, 3).astype(dtype))
    if versioned and np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip("NumPy before 2.1 has no capsules with a version")
    capsule = value.__dlpack__(max_version=(1, 0)) if versioned else value.__dlpack__()
    kind, number, data, offset, name, shape, strides, flags, keeper = read_capsule(capsule)
    assert (kind, number, name, shape, flags) == (1, 0, dtype, value.shape, 0)
    if value.size:
        assert data + offset == value.ctypes.data and strides == value.strides
    with pytest.raises(BufferError):
        read_capsule(capsule)
    gone = weakref.ref(value)
    del value, capsule
    gc.collect()
    assert gone() is not None  # the tensor keeps it
    del keeper
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("wrong", [None, 3, "dltensor"])
def test_what_is_no_capsule(wrong: Any) -> None:
    with pytest.raises(BufferError):
        read_capsule(wrong)


def test_capsules_of_arrays(kernels: Any, device: Any) -> None:
    class Owner:
        pass

    there = DeviceArray.empty("toy", "int16", (2, 3))
    for versioned in (False, True):
        owner = Owner()
        gone = weakref.ref(owner)
        capsule = there.capsule(10, 3, 4096, 6, owner, versioned)
        del owner
        gc.collect()
        assert gone() is not None
        found = read_capsule(capsule)
        assert found[:8] == (10, 3, 4096, 6, "int16", (2, 3), (6, 2), 0)
        del found, capsule
        gc.collect()
        assert gone() is None
