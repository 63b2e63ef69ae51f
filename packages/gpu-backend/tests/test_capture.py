"""Launches that come again are recorded and replayed, on a device that runs on the CPU (``host_device.py``).

What a recording does is seen from results: nodes run in the order in which they follow each other (``fake_graphs.h``).
"""

from __future__ import annotations

import ctypes
import gc
import threading

import numpy as np
import pytest
from host_device import HostDriver, build_fake, set_capture

import theano
import theano.tensor as T
from theano import gpuarray
from theano.gpuarray import GpuArrayType, GpuContext, as_gpuarray_variable, libraries

LINKS = 8
GRAPH_FUNCTIONS = ("graph", "node", "instantiate", "replay", "change", "begin_capture", "end_capture", "child", "change_child")


class Fake:
    """The driver, and two contexts on its two devices."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        self.library.fake_log.restype = ctypes.c_char_p
        self.library.fake_graphs.restype = ctypes.c_int64
        self.contexts = [gpuarray.reg_context(f"capture{k}", GpuContext(f"capture{k}", HostDriver(k, str(path)))) for k in (0, 1)]

    def asked(self):
        """Return the names of what was asked for since the last time, but for memory."""
        lines = self.library.fake_log().decode().splitlines()
        self.library.fake_clear()
        return [line.split()[0] for line in lines if not line.startswith(("allocate", "free"))]

    def fails(self, function, code=700):
        self.library.fake_fail(function.encode(), code)

    def changed(self):
        return ctypes.c_int64.in_dll(self.library, "fake_changed").value


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    return Fake(build_fake(tmp_path_factory.mktemp("fake"), "fake_cublas.c"))


@pytest.fixture
def fake(driver):
    """Return the driver without recordings; there are none left afterwards, either."""
    for context in driver.contexts:
        context.trim()
    driver.asked()
    yield driver
    driver.fails("")
    for context in driver.contexts:
        set_capture(context, True)
        context.trim()
    assert driver.library.fake_graphs() == 0


def there(value, number=0):
    return gpuarray.asarray(np.asarray(value, "float32"), f"capture{number}")


def compiled(outputs, inputs, without=("fusion", "canonicalize"), **options):
    # Else the sums become one loop.
    mode = theano.compile.get_default_mode().including("gpuarray").excluding(*without)
    return theano.function(inputs, outputs, mode=mode, on_unused_input="ignore", **options)


def chain(number=0, links=LINKS, **options):
    """Return a function of so many additions, each of the last two results."""
    x, y = (GpuArrayType("float32", (False,), f"capture{number}")(name) for name in "xy")
    terms = [x, y]
    for _ in range(links):
        terms.append(terms[-2] + terms[-1])
    return compiled(as_gpuarray_variable(terms[-1], f"capture{number}"), [x, y], **options)


def wanted(x, y, links=LINKS):
    terms = [np.asarray(x, "float32"), np.asarray(y, "float32")]
    for _ in range(links):
        terms.append(terms[-2] + terms[-1])
    return terms[-1]


def test_recorded_where_it_comes_again(fake):
    f, x, y = chain(), there([1, 2, 3]), there([4, 5, 6])
    seen = []
    for _ in range(4):
        fake.asked()
        result = f(x, y)
        seen.append(fake.asked())
        np.testing.assert_array_equal(np.asarray(result), wanted([1, 2, 3], [4, 5, 6]))
        del result
    assert seen[0] == ["launch"] * LINKS
    assert seen[1] == ["graph", *["node"] * LINKS, "instantiate", "replay"]
    assert seen[2] == seen[3] == ["replay"]
    counts = fake.contexts[0].counts()
    assert counts["recorded"] >= 1 and counts["replayed"] >= 3


def test_values_are_those_of_the_call(fake):
    f, x, y = chain(), there([1, 2, 3]), there([4, 5, 6])
    for k in range(5):
        x.write_from(np.asarray([k, 2, 3], "float32"))
        np.testing.assert_array_equal(np.asarray(f(x, y)), wanted([k, 2, 3], [4, 5, 6]))


def test_few_launches_are_not_recorded(fake):
    f, x = chain(links=3), there([1, 2])
    for _ in range(3):
        fake.asked()
        f(x, x)
        assert fake.asked() == ["launch"] * 3


def test_other_shapes_and_strides(fake):
    f = chain()
    rng = np.random.default_rng(0)
    for length in [3, 5, 3, 5, 3, 5, 1, 2, 7, 8, 9, 3, 600, 5, 3]:
        base = rng.integers(0, 9, size=(2, 2 * length)).astype("float32")
        whole = [there(b) for b in base]
        for cut in (slice(None), slice(None, None, -1), slice(1, None, 2)):
            np.testing.assert_array_equal(np.asarray(f(*(w[cut] for w in whole))), wanted(*(b[cut] for b in base)))


def test_other_addresses(fake):
    """Four recordings at most differ in addresses alone; then nodes are changed."""
    f, kept = chain(), []
    before = fake.changed()
    for k in range(12):
        values = np.arange(4) + k, np.arange(4) * k
        kept.append((f(*map(there, values)), values))
    for result, values in kept:
        np.testing.assert_array_equal(np.asarray(result), wanted(*values))
    assert fake.changed() > before
    assert fake.library.fake_graphs() <= 2 * 4


def test_addresses_that_alternate(fake):
    """A shared variable has the new value in another array: two arrays take turns, and each has its recording."""
    w = gpuarray.gpuarray_shared_constructor(np.ones(3, "float32"), target="capture0")
    x = GpuArrayType("float32", (False,), "capture0")("x")
    terms = [x, w]
    for _ in range(6):
        terms.append(terms[-2] + terms[-1])
    f = compiled([], [x], updates={w: as_gpuarray_variable(terms[-1], "capture0")})
    value, before, given = np.ones(3, "float32"), fake.changed(), there([1, 2, 3])
    for _ in range(8):
        fake.asked()
        f(given)
        value = wanted([1, 2, 3], value, 6)
    assert fake.asked() == ["replay"] and fake.changed() == before
    np.testing.assert_array_equal(w.get_value(), value)


def test_there_is_a_bound(fake):
    functions = [chain(links=links) for links in range(4, 24)]  # each of which has four, one for a length
    for length in range(1, 5):
        x = there(range(length))
        for links, f in enumerate(functions, 4):
            for _ in range(3):
                np.testing.assert_array_equal(np.asarray(f(x, x)), wanted(range(length), range(length), links))
    assert fake.library.fake_graphs() == 2 * 64


def test_a_long_call_is_begun_before_it_ends(fake):
    f, x = chain(links=1100), there([0, 0])
    for _ in range(3):
        fake.asked()
        f(x, x)
    assert fake.asked() == ["replay", "replay"]


class OnHost(theano.Op):
    """One more than what is there, which the host computes."""

    __props__ = ()

    def make_node(self, x):
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] + np.float32(1)


def test_what_is_read_on_the_way(fake):
    """A transfer ends a list: what was asked for before is done by then."""
    x, y = (GpuArrayType("float32", (False,), "capture0")(name) for name in "xy")
    a = x + y
    for _ in range(5):
        a = a + y
    on_host = OnHost()(gpuarray.host_from_gpu(as_gpuarray_variable(a, "capture0")))
    b = as_gpuarray_variable(on_host, "capture0")
    for _ in range(5):
        b = b + y
    f = compiled([as_gpuarray_variable(b, "capture0"), on_host], [x, y])
    for k in range(4):
        got = f(there([k, 1]), there([2, 3]))
        np.testing.assert_array_equal(np.asarray(got[1]), [k + 13, 20])
        np.testing.assert_array_equal(np.asarray(got[0]), [k + 23, 35])


def test_turned_off(fake):
    set_capture(fake.contexts[0], False)
    f, x = chain(), there([1, 2])
    for _ in range(4):
        fake.asked()
        f(x, x)
        assert fake.asked() == ["launch"] * LINKS


def test_memory_that_is_not_kept(fake, tmp_path):
    """What the driver gets back was asked for all that uses it before."""
    context = fake.contexts[0]
    f, x = chain(), there([1, 2])
    context.preallocate(-1.0)
    try:
        for _ in range(4):
            np.testing.assert_array_equal(np.asarray(f(x, x)), wanted([1, 2], [1, 2]))
    finally:
        context.preallocate(0.0)


def products(number=0):
    x, y = (GpuArrayType("float32", (False, False), f"capture{number}")(name) for name in "xy")
    v = y
    for _ in range(4):
        v = T.dot(v + x, y)
    return compiled(as_gpuarray_variable(v, f"capture{number}"), [x, y], without=("fusion", "canonicalize", "BlasOpt"))


def check_products(f, number=0):
    rng = np.random.default_rng(0)
    for size in (2, 3, 2, 2, 3, 3):
        for _ in range(2):
            x, y = rng.integers(0, 3, size=(2, size, size)).astype("float32")
            want = y
            for _ in range(4):
                want = (want + x) @ y
            np.testing.assert_array_equal(np.asarray(f(there(x, number), there(y, number))), want)


@pytest.fixture
def multiplies(fake):
    """Let the first context multiply by the library beside the driver."""
    assert libraries.use_cublas(fake.contexts[0].driver.gpu, fake.library)
    return fake


def test_products_of_a_library_are_captured(multiplies):
    f, fake = products(), multiplies
    check_products(f)
    values = there(np.ones((3, 3))), there(np.eye(3))
    for _ in range(3):
        fake.asked()
        f(*values)
    assert fake.asked() == ["replay"]
    assert ctypes.c_void_p.in_dll(fake.library, "fake_workspace").value  # it needs to take no memory


@pytest.mark.parametrize("function", GRAPH_FUNCTIONS)
@pytest.mark.parametrize("which", ["launches", "products"])
def test_a_driver_that_refuses(multiplies, function, which):
    """Whatever of recording fails: results are right, and nothing is lost."""
    fake = multiplies
    fake.fails(function)
    if which == "products":
        check_products(products())
    else:
        check_chain(chain())
    fake.fails("")
    check_products(products())
    check_chain(chain())


def check_chain(f, number=0, calls=8):
    kept = []
    for k in range(calls):
        values = np.arange(4) + k, np.arange(4) * k
        kept.append((f(*(there(v, number) for v in values)), values))
        f(*(there(v, number) for v in values))
    for result, values in kept:
        np.testing.assert_array_equal(np.asarray(result), wanted(*values))


def test_a_driver_that_fails_at_launches(fake):
    """The call fails by its end, before anything is stored."""
    w = gpuarray.gpuarray_shared_constructor(np.ones(3, "float32"), target="capture0")
    x = GpuArrayType("float32", (False,), "capture0")("x")
    f = compiled([], [x], updates={w: as_gpuarray_variable(w + x, "capture0")})
    f(there([1, 1, 1]))
    fake.fails("launch", 719)
    with pytest.raises(gpuarray.DeviceError, match="719"):
        f(there([1, 1, 1]))
    fake.fails("")
    np.testing.assert_array_equal(w.get_value(), [2, 2, 2])
    f(there([1, 1, 1]))
    np.testing.assert_array_equal(w.get_value(), [3, 3, 3])


def test_a_call_that_fails_on_the_way(fake):
    f = chain()
    x, y = there([1, 2]), there([1, 2, 3])
    for _ in range(3):
        with pytest.raises(ValueError):
            f(x, y)
        np.testing.assert_array_equal(np.asarray(f(x, x)), wanted([1, 2], [1, 2]))


def test_other_libraries_see_what_was_asked_for(fake):
    """Within a call, too: who is told the stream, or waits for it, finds all commands there."""

    class Reads(theano.Op):
        __props__ = ()

        def make_node(self, x):
            return theano.Apply(self, [x], [theano.tensor.fscalar()])

        def perform(self, node, inputs, outputs):
            fake.asked()
            assert inputs[0].__cuda_array_interface__["stream"]
            asked.extend(fake.asked())
            outputs[0][0] = np.float32(0)

    asked = []
    x = GpuArrayType("float32", (False,), "capture0")("x")
    f = compiled(Reads()(as_gpuarray_variable(x + x, "capture0")), [x])
    f(there([1, 2]))
    assert asked == ["launch"]


def test_threads(fake):
    """Calls of several threads on one device, and on two, go into one order each."""
    fake.library.fake_quiet(1)
    functions = [chain(0), chain(1), chain(0)]
    problems = []

    def calls(k):
        try:
            for _ in range(60):
                check_chain(functions[k], k % 2, calls=3)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=calls, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    fake.library.fake_quiet(0)
    assert not problems


def test_two_devices_in_one_function(fake):
    x = GpuArrayType("float32", (False,), "capture0")("x")
    y = GpuArrayType("float32", (False,), "capture0")("y")
    terms = [x, y]
    for _ in range(5):
        terms.append(terms[-2] + terms[-1])
    moved = gpuarray.GpuToGpu("capture1")(as_gpuarray_variable(terms[-1], "capture0"))
    z = GpuArrayType("float32", (False,), "capture1")("z")
    more = [moved, z]
    for _ in range(5):
        more.append(more[-2] + more[-1])
    f = compiled(as_gpuarray_variable(more[-1], "capture1"), [x, y, z])
    for k in range(4):
        got = f(there([k, 2]), there([3, k]), there([5, 6], 1))
        np.testing.assert_array_equal(np.asarray(got), wanted(wanted([k, 2], [3, k], 5), [5, 6], 5))


def test_recordings_go_with_the_programs_that_they_launch(fake, monkeypatch):
    """Another program may get the same addresses, for which a recording would launch what is gone."""
    monkeypatch.setattr("theano.gpuarray.context.PROGRAMS_KEPT", 0)
    x, y = there([1, 2, 3]), there([4, 5, 6])
    f = chain()
    for _ in range(3):
        f(x, y)
    assert fake.library.fake_graphs() > 0
    del f
    gc.collect()
    v = GpuArrayType("float32", (False,), "capture0")("v")
    g = compiled(as_gpuarray_variable(T.sqr(v) * 3 - 1, "capture0"), [v], without=())
    assert fake.library.fake_graphs() == 0
    np.testing.assert_array_equal(np.asarray(g(x)), [2, 11, 26])
