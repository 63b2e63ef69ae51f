"""Convolutions by cuDNN, of a library on the CPU that asks for what cuDNN does, against sums in NumPy and the CPU's kernels."""

from __future__ import annotations

import ctypes
import itertools

import numpy as np
import pytest
from host_device import HostDriver, build_fake, set_capture
from host_device import there as array_there

import theano
import theano.tensor as T
from theano import gpuarray
from theano.gpuarray import GpuArrayType, GpuContext, as_gpuarray_variable, libraries
from theano.tensor.nnet import conv2d, conv3d

TOLERANCES = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-10}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = build_fake(tmp_path_factory.mktemp("fake"), "fake_cudnn.c")
    found = ctypes.CDLL(str(path))
    context = gpuarray.reg_context("dnn", GpuContext("dnn", HostDriver(0, str(path))))
    assert libraries.use_cudnn(context.driver.gpu, found)
    return found


@pytest.fixture
def fake(library):
    yield library
    number(library, "refuses").value = 0
    number(library, "finds").value = 4
    gpuarray.get_context("dnn").trim()


def number(fake, name):
    return ctypes.c_int.in_dll(fake, f"fake_{name}")


def convolved(fake):
    """Return how often outputs, gradients of images, and gradients of filters were computed."""
    return list((ctypes.c_int64 * 3).in_dll(fake, "fake_convolved"))


def expressions(x, w, top, geometry):
    """Return a convolution and both of its gradients."""
    y = (conv2d if x.ndim == 4 else conv3d)(x, w, **geometry)
    return [y, *T.grad(None, [x, w], known_grads={y: top})]


def summed(x, w, border, step, dilation, flip, groups):
    """Return a convolution, by sums of products in NumPy."""
    x, w = x.astype("float64"), w.astype("float64")
    nd = x.ndim - 2
    covered = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilation, strict=True)]
    named = {"valid": [0] * nd, "full": [c - 1 for c in covered], "half": [c // 2 for c in covered]}
    padding = named[border] if isinstance(border, str) else border
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    lengths = [(n - c) // s + 1 for n, c, s in zip(x.shape[2:], covered, step, strict=True)]
    y = np.zeros((x.shape[0], w.shape[0], *lengths))
    filters, channels = w.shape[0] // groups, w.shape[1]
    for place in itertools.product(*map(range, w.shape[2:])):
        at = [k - 1 - p if flip else p for k, p in zip(w.shape[2:], place, strict=True)]
        window = tuple(slice(p * d, p * d + (n - 1) * s + 1, s) for p, d, n, s in zip(place, dilation, lengths, step, strict=True))
        for g in range(groups):
            part = x[(slice(None), slice(g * channels, (g + 1) * channels), *window)]
            own = slice(g * filters, (g + 1) * filters)
            y[:, own] += np.einsum("nc...,fc->nf...", part, w[(own, slice(None), *at)])
    return y


LAYOUTS = {
    "C": lambda x: x.copy(),
    "channels last": lambda x: np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1),
    "apart": lambda x: np.concatenate([x, x], axis=-1)[..., : x.shape[-1]],
}


def there(x):
    """Return an array on the device with the strides of one of NumPy's."""
    return array_there(x, "dnn")


def check(fake, x, w, by_library, **geometry):
    """Compute a convolution and its gradients on the device, and hold them to NumPy's and the CPU's."""
    dtype, nd = x.dtype.name, x.ndim - 2
    border, flip, groups = (geometry[name] for name in ("border_mode", "filter_flip", "num_groups"))
    want = summed(x, w, border, geometry["subsample"], geometry["filter_dilation"], flip, groups)
    top = np.random.default_rng(1).normal(size=want.shape).astype(dtype)
    symbols = [GpuArrayType(dtype, (False,) * (nd + 2), "dnn")() for _ in range(3)]
    plain = [T.TensorType("float64", (False,) * (nd + 2))() for _ in range(3)]
    outputs = [as_gpuarray_variable(v, "dnn") for v in expressions(*(T.as_tensor_variable(s) for s in symbols), geometry)]
    mode = theano.compile.get_default_mode().including("gpuarray")
    on_device = theano.function(symbols, outputs, mode=mode)
    on_cpu = theano.function(plain, expressions(*plain, geometry))
    before = convolved(fake)
    got = [np.asarray(v) for v in on_device(there(x), there(w), there(top))]
    done = [n - b for n, b in zip(convolved(fake), before, strict=True)]
    assert done == ([1, 1, 1] if by_library else [0, 0, 0])
    wanted = on_cpu(*(v.astype("float64") for v in (x, w, top)))
    np.testing.assert_allclose(wanted[0], want, rtol=1e-9, atol=1e-9)
    for g, v in zip(got, wanted, strict=True):
        size = np.abs(v).max(initial=1.0) * TOLERANCES[dtype]
        np.testing.assert_allclose(g.astype("float64"), v, rtol=TOLERANCES[dtype], atol=size)


def plain_geometry(nd, **more):
    return {"border_mode": "valid", "subsample": (1,) * nd, "filter_dilation": (1,) * nd, "filter_flip": True, "num_groups": 1, **more}


def numbers(dtype, *shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


GEOMETRIES = [
    {},
    {"filter_flip": False},
    {"border_mode": "full"},
    {"border_mode": "half", "filter_flip": False},
    {"border_mode": (2, 1)},
    {"subsample": (2, 3)},
    {"filter_dilation": (2, 1), "border_mode": (1, 2)},
    {"num_groups": 2, "subsample": (1, 2), "filter_flip": False},
]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_two_dimensions(fake, dtype, geometry):
    groups = geometry.get("num_groups", 1)
    check(fake, numbers(dtype, 2, 2 * groups, 8, 9), numbers(dtype, 4, 2, 3, 2), True, **plain_geometry(2, **geometry))
    assert number(fake, "math").value == (3 if dtype == "float32" else 0)  # with all digits


@pytest.mark.parametrize("geometry", [{}, {"border_mode": (1, 0, 2), "subsample": (1, 2, 1)}, {"filter_dilation": (1, 2, 2)}], ids=str)
def test_three_dimensions(fake, geometry):
    check(fake, numbers("float64", 2, 2, 4, 6, 7), numbers("float64", 3, 2, 2, 3, 2), True, **plain_geometry(3, **geometry))


@pytest.mark.parametrize("layout", list(LAYOUTS))
def test_images_of_any_strides(fake, layout):
    check(fake, LAYOUTS[layout](numbers("float32", 2, 3, 6, 7)), numbers("float32", 4, 3, 2, 3), True, **plain_geometry(2))


def test_what_cudnn_has_no_words_for(fake):
    x, w = numbers("float32", 2, 3, 6, 7), numbers("float32", 4, 3, 2, 3)
    number(fake, "finds").value = 3  # no algorithm will do
    check(fake, x[:1], w, False, **plain_geometry(2, border_mode=(1, 1)))


def test_a_library_that_refuses(fake):
    x, w = (GpuArrayType("float32", (False,) * 4, "dnn")() for _ in range(2))
    mode = theano.compile.get_default_mode().including("gpuarray")
    f = theano.function([x, w], as_gpuarray_variable(conv2d(x, w), "dnn"), mode=mode)
    values = there(numbers("float32", 3, 3, 6, 5)), there(numbers("float32", 4, 3, 2, 3))
    f(*values)
    number(fake, "refuses").value = 8
    with pytest.raises(gpuarray.DeviceError, match=r"a convolution by cuDNN \(8\)"):
        f(*values)


def test_convolutions_are_recorded(fake):
    """A call of some of them that comes again is one call of the driver, and has the values of its own operands."""
    context = gpuarray.get_context("dnn")
    set_capture(context, True)
    x, w = (GpuArrayType("float64", (False,) * 4, "dnn")() for _ in range(2))
    y = x
    for _ in range(5):
        y = conv2d(y, w, border_mode=(1, 1))
    mode = theano.compile.get_default_mode().including("gpuarray")
    f = theano.function([x, w], as_gpuarray_variable(y, "dnn"), mode=mode)
    before = context.counts()["replayed"]
    for k in range(8):
        image, kernel = numbers("float64", 2, 2, 5, 6 + k % 2), numbers("float64", 2, 2, 3, 3)
        want = image
        for _ in range(5):
            want = summed(want, kernel, (1, 1), (1, 1), (1, 1), True, 1)
        np.testing.assert_allclose(np.asarray(f(there(image), there(kernel))), want, rtol=1e-9, atol=1e-6)
    assert context.counts()["replayed"] > before


def test_a_library_without_the_functions(fake):
    assert not libraries.use_cudnn(gpuarray.get_context("dnn").driver.gpu, ctypes.CDLL(None))
