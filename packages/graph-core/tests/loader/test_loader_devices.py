"""Slots in a device's memory: transfers, buffers that are shared, and programs that are refused."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from loader_specs import MATRIX, SCALAR, VECTOR, given

from theano.loader.module import DeviceArray, Function, add_device, device_array_class, has_device


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
    with pytest.raises(MemoryError, match="a transfer of 24 bytes failed"):
        f(np.zeros(3))
    np.testing.assert_array_equal(f(np.ones(4)), np.ones(4))


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
    with pytest.raises(MemoryError, match="a transfer of 24 bytes failed"):
        across(there.window(0, (3,), (16,)))
    assert bytes_there(kernels) <= before + 24
    np.testing.assert_array_equal(read(across(there.window(0, (2,), (24,)))), [0, 3])


def test_programs_that_are_refused(kernels: Any, device: Any) -> None:
    program = there_and_back(kernels, VECTOR, device)
    slots = program["slots"]
    refused = "what is in a device's memory is no NumPy scalar, and is not overwritten in a shared variable"
    for changes, message in [
        ({"slots": [slots[0], ("temp", (*VECTOR, "nowhere"), None), slots[2]]}, "there is no device 'nowhere'"),
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
    with pytest.raises(ValueError, match="no device"):
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
