"""Arrays that other libraries share: DLPack on OpenCL, whose capsules are read as a consumer in C reads them."""

from __future__ import annotations

import copy
import ctypes
import gc
import sys
import weakref

import numpy as np
import pytest

import theano
import theano.tensor as T
from conftest import CONTEXT, DEVICE
from theano import gpuarray
from theano.gpuarray import GpuArrayType, from_dlpack
from theano.gpuarray.exchange import HOST
from theano.loader.module import read_capsule

pytestmark = pytest.mark.skipif(not DEVICE.startswith("opencl"), reason="test_fake_cuda.py is the same for CUDA")

#: Code and bits of DLPack (dlpack.h) by dtype.
KINDS = {
    "bool": (6, 8), "int8": (0, 8), "uint8": (1, 8), "int16": (0, 16), "uint16": (1, 16), "int32": (0, 32),
    "uint32": (1, 32), "int64": (0, 64), "uint64": (1, 64), "float16": (2, 16), "float32": (2, 32),
    "float64": (2, 64), "complex64": (5, 64), "complex128": (5, 128),
}  # fmt: skip
LAYOUTS = {
    "C": lambda a: a, "F": lambda a: a.T, "reversed": lambda a: a[::-1, ::-1], "strided": lambda a: a[::2, 1::2],
    "offset": lambda a: a[1:], "vector": lambda a: a[1], "number": lambda a: a[2, 3], "empty": lambda a: a[:0],
    "one": lambda a: a[2:, 3:4], "new axis": lambda a: a[:, None],
}  # fmt: skip


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("flags", ctypes.c_uint64), ("tensor", Tensor),
    ]  # fmt: skip


FORMS = {None: (b"dltensor", Managed), (1, 0): (b"dltensor_versioned", Versioned), (0, 8): (b"dltensor", Managed)}
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
rename = ctypes.pythonapi.PyCapsule_SetName
rename.argtypes = [ctypes.py_object, ctypes.c_char_p]


def tensor_in(capsule, version):
    name, form = FORMS[version]
    return form.from_address(pointer_of(capsule, name))


def matrix(dtype="float64"):
    return np.arange(20).reshape(4, 5).astype(dtype)


@pytest.mark.parametrize("version", FORMS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", KINDS)
def test_what_a_capsule_says(dtype, layout, version):
    there = LAYOUTS[layout](gpuarray.asarray(matrix(dtype)))
    want = LAYOUTS[layout](matrix(dtype))
    capsule = there.__dlpack__(max_version=version)
    managed = tensor_in(capsule, version)
    t = managed.tensor
    assert (t.device_type, t.device_id) == there.__dlpack_device__() and t.device_type == 4
    assert (t.code, t.bits, t.lanes) == (*KINDS[dtype], 1)
    assert t.shape[: t.ndim] == list(want.shape)
    assert t.strides[: t.ndim] == [s // want.itemsize for s in there.strides]
    if want.size:
        assert t.strides[: t.ndim] == [s // want.itemsize for s in want.strides]
        handle, offset = CONTEXT.driver.lend(there.memory[0])
        assert t.data == handle and t.byte_offset - offset == there.address - there.memory[0]
    else:
        assert not t.data
    if version == (1, 0):
        assert (managed.major, managed.minor, managed.flags) == (1, 0, 0)


@pytest.mark.parametrize("name", [None, "dev1"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", KINDS)
def test_there_and_back(dtype, layout, name, second):
    there, want = LAYOUTS[layout](gpuarray.asarray(matrix(dtype))), LAYOUTS[layout](matrix(dtype))
    before = CONTEXT.counts()["allocations"], second.counts()["allocations"]
    again = from_dlpack(there, name, copy=False)
    assert (CONTEXT.counts()["allocations"], second.counts()["allocations"]) == before
    assert (again.shape, again.strides, again.dtype, again.context_name) == (there.shape, there.strides, dtype, name)
    np.testing.assert_array_equal(np.asarray(again), want)


def test_memory_is_shared(second):
    there = gpuarray.asarray(matrix())
    again, other = from_dlpack(there), from_dlpack(there[1:], "dev1")
    assert again.memory[0] == there.memory[0] and again.address == there.address
    assert GpuArrayType("float64", (False, False)).may_share_memory(again, there)
    there.write_from(matrix() + 100)
    np.testing.assert_array_equal(np.asarray(again), matrix() + 100)
    np.testing.assert_array_equal(np.asarray(other), (matrix() + 100)[1:])
    other.write_from(np.zeros((3, 5)))
    np.testing.assert_array_equal(np.asarray(there)[1:], np.zeros((3, 5)))
    copied = from_dlpack(there, copy=True)
    assert copied.memory[0] != there.memory[0]
    np.testing.assert_array_equal(np.asarray(copied), np.asarray(there))


def test_who_has_an_array_keeps_its_memory(second):
    """Whichever goes first, the memory lives as long as one of the two, and no longer."""
    gc.collect()
    live = CONTEXT.counts()["live"]
    for name in (None, "dev1"):
        there = gpuarray.asarray(matrix())
        gone = weakref.ref(there)
        again = from_dlpack(there, name)
        del there
        gc.collect()
        assert gone() is not None and CONTEXT.counts()["live"] > live
        filler = [gpuarray.asarray(np.full((4, 5), 7.0)) for _ in range(4)]  # would be given that memory
        np.testing.assert_array_equal(np.asarray(again), matrix())
        part = again[1:]
        del again, filler
        gc.collect()
        assert gone() is not None
        np.testing.assert_array_equal(np.asarray(part), matrix()[1:])
        del part
        gc.collect()
        assert gone() is None and CONTEXT.counts()["live"] == live
        there = gpuarray.asarray(matrix())
        again = from_dlpack(there, name)
        del again
        gc.collect()
        np.testing.assert_array_equal(np.asarray(there), matrix())
        del there
        assert CONTEXT.counts()["live"] == live


@pytest.mark.parametrize("version", [None, (1, 0)], ids=str)
def test_a_consumer_gives_back(version):
    gc.collect()
    there = gpuarray.asarray(matrix())
    references, live = sys.getrefcount(there), CONTEXT.counts()["live"]
    capsule = there.__dlpack__(max_version=version)
    assert sys.getrefcount(there) == references + 1
    name, form = FORMS[version]
    address = pointer_of(capsule, name)
    used = b"used_" + name
    rename(capsule, used)
    del capsule  # taken: it gives nothing back
    assert sys.getrefcount(there) == references + 1
    form.from_address(address).deleter(address)
    assert sys.getrefcount(there) == references
    for _ in range(3):  # nobody took it
        there.__dlpack__(max_version=version)
    assert sys.getrefcount(there) == references and CONTEXT.counts()["live"] == live


def test_no_leak():
    there = gpuarray.asarray(matrix())
    for _ in range(50):
        from_dlpack(there)
    gc.collect()
    live, references = CONTEXT.counts()["live"], sys.getrefcount(there)
    for _ in range(300):
        from_dlpack(from_dlpack(there.T)[1:])
    gc.collect()
    assert CONTEXT.counts()["live"] == live and sys.getrefcount(there) == references


@pytest.mark.parametrize("dtype", [d for d in KINDS if not d.startswith("complex")])
def test_arrays_of_the_host_are_copied(dtype):
    value = matrix(dtype)[::-1, ::2]
    there = from_dlpack(value)
    assert there.device == "gpu"
    np.testing.assert_array_equal(np.asarray(there), value)
    with pytest.raises(BufferError):
        from_dlpack(value, copy=False)


def test_torch():
    torch = pytest.importorskip("torch")
    value = torch.arange(6, dtype=torch.float32).reshape(2, 3).T
    np.testing.assert_array_equal(np.asarray(from_dlpack(value)), value.numpy())


def test_numpy_is_given_a_copy():
    there = gpuarray.asarray(matrix())
    found = np.from_dlpack(_OnHost(there))
    np.testing.assert_array_equal(found, matrix())
    for wrong in (
        lambda: there.__dlpack__(dl_device=HOST, copy=False),
        lambda: there.__dlpack__(dl_device=(2, 0)),
        lambda: there.__dlpack__(stream=3),
        lambda: there.__dlpack__(stream=0),
        lambda: np.from_dlpack(there),
    ):
        with pytest.raises((BufferError, ValueError, RuntimeError)):
            wrong()
    copied = from_dlpack(_Asking(there, copy=True))
    assert copied.memory[0] != there.memory[0]


class _OnHost:
    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return HOST

    def __dlpack__(self, **options):
        return self.array.__dlpack__(dl_device=HOST)


class _Asking:
    """A producer from before version 1, which knows none of the later words."""

    def __init__(self, array, device=None, capsule=None, **options):
        self.array, self.options, self.device, self.capsule = array, options, device, capsule

    def __dlpack_device__(self):
        return self.device or self.array.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self.capsule or self.array.__dlpack__(stream=stream, **self.options)


def test_what_cannot_be_taken():
    there = gpuarray.asarray(matrix())
    for device in ((2, 0), (4, 7), (10, 0)):
        with pytest.raises(BufferError, match="is not on"):
            from_dlpack(_Asking(there, device))
    capsule = there.__dlpack__()
    read_capsule(capsule)
    with pytest.raises(BufferError, match="not taken"):
        read_capsule(capsule)
    with pytest.raises(BufferError, match="not taken"):
        from_dlpack(_Asking(there, capsule=capsule))
    for wrong in ([1.0], 3, None):
        with pytest.raises(TypeError):
            from_dlpack(wrong)
    with pytest.raises(gpuarray.ContextNotDefined, match="moon"):
        from_dlpack(there, "moon")
    # Elements of a kind that no array here has, and of another version.
    for version, field, number in ((None, "code", 4), (None, "lanes", 4), ((1, 0), "bits", 4), ((1, 0), "major", 2)):
        capsule = there.__dlpack__(max_version=version)
        managed = tensor_in(capsule, version)
        setattr(managed if field == "major" else managed.tensor, field, number)
        with pytest.raises(BufferError):
            read_capsule(capsule)
    # The parts of complex numbers are apart by half an element.
    halves = gpuarray.asarray(matrix("complex64")).window(0, (3,), (4,), "complex64")
    with pytest.raises(BufferError, match="between elements"):
        halves.__dlpack__()


def test_no_strides_is_c_order():
    there = gpuarray.asarray(matrix())
    capsule = there.__dlpack__()
    tensor_in(capsule, None).tensor.strides = ctypes.POINTER(ctypes.c_int64)()
    again = from_dlpack(_Asking(there, capsule=capsule))
    assert again.strides == there.strides
    np.testing.assert_array_equal(np.asarray(again), matrix())


def test_a_buffer_of_another_context():
    cl = pytest.importorskip("pyopencl")
    foreign = cl.Context([CONTEXT.driver._device])
    buffer = cl.Buffer(foreign, cl.mem_flags.READ_WRITE, 160)
    there = gpuarray.asarray(matrix())
    capsule = there.__dlpack__()
    tensor_in(capsule, None).tensor.data = buffer.int_ptr
    with pytest.raises(BufferError, match="another context"):
        from_dlpack(_Asking(there, capsule=capsule))


def test_a_buffer_of_another_library():
    """It was made by pyopencl in our context of OpenCL: it lives as long as we have it, and functions compute with it."""
    cl = pytest.importorskip("pyopencl")
    value = matrix("float32")
    ours = CONTEXT.driver._context
    buffer = cl.Buffer(ours, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=value)
    like = gpuarray.asarray(value)
    capsule = like.__dlpack__()
    tensor_in(capsule, None).tensor.data = buffer.int_ptr
    tensor_in(capsule, None).tensor.byte_offset = 0
    references = buffer.get_info(cl.mem_info.REFERENCE_COUNT)
    there = from_dlpack(_Asking(like, capsule=capsule))
    assert there.memory != like.memory and there.memory[1] == value.nbytes
    assert buffer.get_info(cl.mem_info.REFERENCE_COUNT) == references + 1
    v = GpuArrayType("float32", (False, False))("v")
    f = theano.function([v], gpuarray.as_gpuarray_variable(T.exp(v.T) * 2))
    np.testing.assert_allclose(np.asarray(f(there)), np.exp(value.T) * 2, rtol=1e-5)
    np.testing.assert_array_equal(np.asarray(copy.copy(there[1:])), value[1:])
    f.free()
    del there, f
    gc.collect()
    assert buffer.get_info(cl.mem_info.REFERENCE_COUNT) == references


def test_what_is_lent_is_an_argument_and_a_value():
    there = gpuarray.asarray(matrix())
    shared = gpuarray.gpuarray_shared_constructor(np.zeros((4, 5)))
    shared.set_value(from_dlpack(there), borrow=True)
    f = theano.function([], shared.sum(), updates=[(shared, shared + 1)])
    total = f()
    np.testing.assert_allclose(total, matrix().sum())
    np.testing.assert_array_equal(np.asarray(there), matrix())  # the new value is not written over what was lent
    np.testing.assert_array_equal(shared.get_value(), matrix() + 1)


def test_no_cuda_interface_here():
    there = gpuarray.asarray(matrix())
    assert not hasattr(there, "__cuda_array_interface__")

    class Producer:
        __cuda_array_interface__ = {"shape": (3,), "typestr": "<f4", "data": (4096, False), "version": 3}

    with pytest.raises(BufferError, match="CUDA"):
        gpuarray.asarray(Producer())
    v = GpuArrayType("float32", (False,))("v")
    f = theano.function([v], v.shape[0])
    with pytest.raises((BufferError, TypeError)):
        f(Producer())
