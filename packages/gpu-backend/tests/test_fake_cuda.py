"""What is asked of CUDA's driver, in which order, on a driver that writes it down (``fake_cuda.c``): no card is needed.

Copies are real there, and launches do nothing: what kernels compute, the other tests see.
"""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest
from compare import MODE
from host_device import build_fake

import theano
import theano.tensor as T
from theano import gpuarray
from theano.gpuarray import GpuArrayType, GpuContext, GpuToGpu, from_dlpack
from theano.gpuarray.drivers import CudaDriver
from theano.gpuarray.kernels.library import library
from theano.loader.module import read_capsule

pytest.importorskip("cuda.bindings.nvrtc", reason="the programs that move elements are compiled by NVRTC")


class Fake:
    """The library, and two contexts on its two devices."""

    def __init__(self, path):
        self.path, self.library = str(path), ctypes.CDLL(str(path))
        self.library.fake_log.restype = ctypes.c_char_p
        self.library.fake_live.restype = ctypes.c_int64
        self.first, self.second = (GpuContext(f"fake{k}", CudaDriver(k, self.path)) for k in range(2))
        for context in (self.first, self.second):
            gpuarray.reg_context(context.name, context)

    def asked(self):
        """Return what was asked since the last time."""
        lines = self.library.fake_log().decode().splitlines()
        self.library.fake_clear()
        return lines

    def fails(self, function, code=700):
        self.library.fake_fail(function.encode(), code)


@pytest.fixture(scope="session")
def fake(tmp_path_factory):
    return Fake(build_fake(tmp_path_factory.mktemp("fake"), "fake_cuda.c"))


@pytest.fixture
def first(fake):
    fake.asked()
    yield fake.first
    fake.fails("")


def vector(n=6):
    return np.arange(n, dtype="float32")


def streams(fake):
    return fake.first.driver.stream, fake.second.driver.stream


def test_a_device(fake, first):
    driver = first.driver
    assert (driver.name, driver.capability, driver.total_memory) == ("fake 0", 80, 1 << 22)
    assert driver.dlpack_device == (2, 0) and driver.stream and fake.second.driver.dlpack_device == (2, 1)
    with pytest.raises(gpuarray.GpuUnavailableError, match="101"):
        CudaDriver(5, fake.path)


def test_copies_wait_for_their_own_stream(fake, first):
    there = gpuarray.asarray(vector(), first.name)
    ours, _ = streams(fake)
    asked = [line for line in fake.asked() if not line.startswith("allocate")]
    assert asked == [f"to 24 {ours}", f"wait {ours}"]
    np.testing.assert_array_equal(np.asarray(there), vector())
    assert fake.asked() == [f"from 24 {ours}", f"wait {ours}"]


def test_launches_return_at_once(fake, first):
    v = GpuArrayType("float32", (False,), first.name)("v")
    f = theano.function([v], gpuarray.as_gpuarray_variable(T.exp(v * 2), first.name), mode=MODE)
    there = gpuarray.asarray(vector(), first.name)
    fake.asked()
    result = f(there)
    ours, _ = streams(fake)
    asked = fake.asked()
    assert [line.split()[0] for line in asked if not line.startswith("allocate")] == ["launch"]
    assert result.shape == (6,) and asked[-1].endswith(f" {ours}")


def test_programs_are_unloaded_when_nobody_needs_them_and_their_work_is_done(fake, first, monkeypatch):
    monkeypatch.setattr("theano.gpuarray.context.PROGRAMS_KEPT", 0)
    first.trim()
    v = GpuArrayType("float32", (False,), first.name)("v")
    there = gpuarray.asarray(vector(), first.name)
    for release in (first.trim, lambda: theano.function([v], gpuarray.as_gpuarray_variable(T.exp(v), first.name), mode=MODE)):
        f = theano.function([v], gpuarray.as_gpuarray_variable(T.cosh(v * 2), first.name), mode=MODE)
        f(there)
        fake.asked()
        del f
        gc.collect()
        assert not [line for line in fake.asked() if line.startswith("unload")]
        release()
        asked = [line.split()[0] for line in fake.asked()]
        assert asked.count("unload") == 1 and "wait" in asked[: asked.index("unload")]


def test_from_device_to_device(fake, first):
    """The target waits for the source's stream, and the source's next work for the copy."""
    there = gpuarray.asarray(vector(), first.name)
    fake.asked()
    moved = gpuarray.asarray(there, fake.second.name)
    one, two = streams(fake)
    asked = [line.split() for line in fake.asked() if not line.startswith("allocate")]
    assert [line[0] for line in asked] == ["record", "follow", "peer", "record", "follow"]
    assert asked[0][2] == str(one) and asked[1][1:] == [str(two), asked[0][1]]
    assert asked[2][1:] == ["24", str(two)]
    assert asked[3][2] == str(two) and asked[4][1:] == [str(one), asked[3][1]]
    np.testing.assert_array_equal(np.asarray(moved), vector())
    counts = fake.second.counts()
    assert counts["between"] == 1 and counts["to"] == 0
    twin = GpuContext("fake0 again", CudaDriver(0, fake.path))
    fake.asked()
    np.testing.assert_array_equal(np.asarray(gpuarray.asarray(there, "fake0 again")), vector())
    assert next(line.split()[0] for line in fake.asked() if line[0] in "wp") == "within" and twin.counts()["between"] == 1


def test_a_node_from_device_to_device(fake, first):
    v = GpuArrayType("float32", (False,), first.name)("v")
    f = theano.function([v], GpuToGpu(fake.second.name)(v))
    before = fake.second.counts()["between"]
    np.testing.assert_array_equal(np.asarray(f(gpuarray.asarray(vector(), first.name))), vector())
    assert fake.second.counts()["between"] == before + 1
    fake.fails("peer", 999)
    with pytest.raises(gpuarray.DeviceError, match="copy from another device \\(999\\)"):
        f(gpuarray.asarray(vector(), first.name))


def test_from_another_driver_by_way_of_the_host(first, fake):
    there = gpuarray.asarray(vector())  # on the device of the other tests
    if gpuarray.get_context(None).driver.language == "cuda":
        pytest.skip("of CUDA's true driver the false one would copy directly")
    before = first.counts()
    np.testing.assert_array_equal(np.asarray(gpuarray.asarray(there, first.name)), vector())
    after = first.counts()
    assert (after["between"], after["to"]) == (before["between"], before["to"] + 1)


@pytest.mark.parametrize("layout", [lambda a: a, lambda a: a[::-1], lambda a: a[1::2], lambda a: a[:0], lambda a: a[3]])
def test_the_interface_of_cuda(fake, first, layout):
    there, want = layout(gpuarray.asarray(vector(), first.name)), layout(vector())
    said = there.__cuda_array_interface__
    assert said["version"] == 3 and said["stream"] == first.driver.stream and said["typestr"] == "<f4"
    assert said["shape"] == want.shape and said["data"] == (there.address if want.size else 0, False)
    assert said["strides"] == (None if want.flags.c_contiguous else want.strides)


class Producer:
    """An array of another library's: memory that the fake driver gives."""

    def __init__(self, array, **more):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **more}


@pytest.mark.parametrize("layout", [lambda a: a, lambda a: a[::-1], lambda a: a[1::2], lambda a: a[:0], lambda a: a[3]])
def test_arrays_that_have_it_are_used_where_they_are(fake, first, layout):
    origin = layout(gpuarray.asarray(vector(), first.name))
    producer = Producer(origin, stream=7)
    fake.asked()
    there = gpuarray.asarray(producer, first.name)
    asked = [line.split() for line in fake.asked()]
    ours, _ = streams(fake)
    assert [line[0] for line in asked] == ["record", "follow"]  # nothing is copied, no memory is taken
    assert asked[0][2] == "7" and asked[1][1] == str(ours)
    assert there.shape == origin.shape and (there.address == origin.address or not origin.size)
    gone = weakref.ref(producer)
    del producer
    gc.collect()
    assert gone() is not None
    fake.asked()
    del there
    gc.collect()
    assert gone() is None and fake.asked()[0] == f"wait {ours}"  # we are done with it


def test_functions_take_them(fake, first):
    v = GpuArrayType("float32", (False,), first.name)("v")
    f = theano.function([v], v.shape[0])
    producer = Producer(gpuarray.asarray(vector(), first.name), stream=None)
    assert f(producer) == 6 and v.type.filter(producer, strict=True).address == producer.array.address
    with pytest.raises(TypeError):
        f(Producer(gpuarray.asarray(np.arange(3.0), first.name)))
    shared = gpuarray.gpuarray_shared_constructor(np.zeros(6, "float32"), target=first.name)
    shared.set_value(producer, borrow=True)
    np.testing.assert_array_equal(shared.get_value(), vector())


def test_what_cannot_be_used(fake, first):
    origin = gpuarray.asarray(vector(), first.name)
    address = origin.address
    elsewhere = address - address % 512 + 64  # which the fake driver takes for memory of device 1
    for more, error, text in (
        ({"mask": origin}, BufferError, "mask"),
        ({"stream": 0}, ValueError, "stream 0"),
        ({"data": (elsewhere, False)}, BufferError, "device 1"),
        ({"data": (8, False)}, BufferError, "the host, or nowhere"),
    ):
        with pytest.raises(error, match=text):
            gpuarray.asarray(Producer(origin, **more), first.name)


@pytest.mark.parametrize(("stream", "known"), [(None, "1"), (1, "1"), (2, "2"), (12345, "12345")])
def test_dlpack_waits_for_streams(fake, first, stream, known):
    origin = gpuarray.asarray(vector(), first.name)
    ours, _ = streams(fake)
    fake.asked()
    capsule = origin.__dlpack__(stream=stream, max_version=(1, 0))
    asked = [line.split() for line in fake.asked()]
    assert [line[0] for line in asked] == ["record", "follow"]
    assert asked[0][2] == str(ours) and asked[1][1] == known  # the consumer's stream waits for ours
    kind, number, data, offset, dtype, shape, strides, flags, keeper = read_capsule(capsule)
    assert (kind, number, data + offset, dtype, shape, strides) == (2, 0, origin.address, "float32", (6,), (4,))
    fake.asked()
    del keeper, capsule
    asked = [line.split() for line in fake.asked()]
    if known in "12":  # ours waits for what the consumer asked for
        assert [line[0] for line in asked] == ["record", "follow"] and asked[0][2] == known
    else:  # whose stream may be gone
        assert asked == [["synchronize", "all"]]


def test_dlpack_without_waiting(fake, first):
    origin = gpuarray.asarray(vector(), first.name)
    fake.asked()
    capsule = origin.__dlpack__(stream=-1)
    assert fake.asked() == []
    del capsule
    assert fake.asked() == ["synchronize all"]
    with pytest.raises(ValueError, match="stream 0"):
        origin.__dlpack__(stream=0)


def test_dlpack_there_and_back(fake, first):
    origin = gpuarray.asarray(vector(), first.name)
    again = from_dlpack(origin[::-2], first.name)
    assert again.address == origin[::-2].address and again.strides == (-8,)
    np.testing.assert_array_equal(np.asarray(again.window(-16, (5,), (4,))), vector()[1:])
    with pytest.raises(BufferError):
        from_dlpack(origin, fake.second.name)


def test_out_of_memory(fake, first):
    live = first.counts()["live"]
    with pytest.raises(gpuarray.DeviceMemoryError, match=r"cuMemAlloc \(2\)"):
        gpuarray.asarray(np.zeros(1 << 23, "uint8"), first.name)
    assert isinstance(gpuarray.DeviceMemoryError(""), MemoryError) and first.counts()["live"] == live
    kept = [gpuarray.asarray(np.zeros(800_000, "uint8"), first.name) for _ in range(4)]
    del kept
    assert first.counts()["waiting"] >= 3_200_000
    refused = first.counts()["refused"]
    big = gpuarray.asarray(np.zeros(3_600_000, "uint8"), first.name)  # for which all that waits is given back
    assert first.counts()["refused"] == refused + 1 and big.nbytes == 3_600_000


def test_a_lost_context(fake, first):
    there = gpuarray.asarray(vector(), first.name)
    fake.fails("wait", 700)
    with pytest.raises(gpuarray.DeviceError, match="700"):
        np.asarray(there)
    with pytest.raises(gpuarray.DeviceError, match="700"):
        first.wait()
    fake.fails("launch", 719)
    v = GpuArrayType("float32", (False,), first.name)("v")
    f = theano.function([v], gpuarray.as_gpuarray_variable(T.exp(v), first.name), mode=MODE)
    with pytest.raises(gpuarray.DeviceError, match="719"):
        f(there)


SCHED = """
import ctypes, sys, theano
from theano.gpuarray.drivers import CudaDriver
CudaDriver(0, sys.argv[1])
fake = ctypes.CDLL(sys.argv[1])
fake.fake_log.restype = ctypes.c_char_p
print([line for line in fake.fake_log().decode().splitlines() if line.startswith("flags")])
"""


@pytest.mark.parametrize(("flag", "want"), [("default", "[]"), ("multi", "['flags 0 4']"), ("single", "['flags 0 1']")])
def test_how_threads_wait(fake, flag, want):
    done = subprocess.run(
        [sys.executable, "-c", SCHED, fake.path], capture_output=True, text=True, check=True,
        env={**os.environ, "THEANO_FLAGS": f"gpuarray.sched={flag}"},
    )  # fmt: skip
    assert done.stdout.strip() == want


def test_preallocated(fake):
    fake.first.trim()
    context = GpuContext("fake, in one piece", CudaDriver(0, fake.path))
    fake.asked()
    context.preallocate(1 / 16)
    assert fake.asked() == [f"allocate {1 << 18}"] and context.counts()["taken"] == 1 << 18
    pieces = [gpuarray.asarray(vector(5000), context.name) for _ in range(10)]
    assert not [line for line in fake.asked() if line.startswith("allocate")]
    for piece in pieces:
        np.testing.assert_array_equal(np.asarray(piece), vector(5000))
    outside = gpuarray.asarray(vector(30_000), context.name)
    assert [line.split()[0] for line in fake.asked() if line.startswith("allocate")] == ["allocate"]
    del pieces, piece, outside
    context.trim()
    assert context.counts()["taken"] == 1 << 18 and fake.asked()[-1].startswith("free")
    whole = gpuarray.asarray(vector(50_000), context.name)  # the pieces are one again
    assert not [line for line in fake.asked() if line.startswith("allocate")] and whole.size == 50_000
    assert library().th_gpu_preallocate(context.driver.gpu, 1 << 18) == 0  # once only
    assert fake.asked() == []


def test_nothing_is_kept(fake):
    context = GpuContext("fake, without a pool", CudaDriver(0, fake.path))
    context.preallocate(-1.0)
    there = gpuarray.asarray(vector(), context.name)
    fake.asked()
    del there
    assert fake.asked() == ["free 1"]
    assert context.counts()["waiting"] == 0 == context.counts()["taken"]


def test_more_than_there_is(fake):
    context = GpuContext("fake, too small", CudaDriver(0, fake.path))
    fake.fails("allocate", 2)
    with pytest.raises(gpuarray.DeviceMemoryError, match="at once"):
        context.preallocate(0.5)
    fake.fails("")
