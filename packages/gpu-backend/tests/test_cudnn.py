"""Convolutions and pooling by cuDNN, for which a library on the CPU stands, against sums in NumPy and the CPU's kernels."""

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
from theano.tensor.nnet import causal_conv1d, conv2d, conv3d
from theano.tensor.pool import Pool

TOLERANCES = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-10}


@pytest.fixture(scope="session")
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
    """Return a convolution, by sums of products in NumPy; filters of more dimensions have others for each place."""
    x, w = x.astype("float64"), w.astype("float64")
    nd = x.ndim - 2
    kernel, own_places = w.shape[-nd:], "xyz"[:nd] if w.ndim > x.ndim else ""
    covered = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    named = {"valid": [0] * nd, "full": [c - 1 for c in covered], "half": [c // 2 for c in covered]}
    padding = named[border] if isinstance(border, str) else border
    x = np.pad(x, [(0, 0), (0, 0), *(p if isinstance(p, tuple) else (p, p) for p in padding)])
    lengths = [(n - c) // s + 1 for n, c, s in zip(x.shape[2:], covered, step, strict=True)]
    y = np.zeros((x.shape[0], w.shape[0], *lengths))
    filters, channels = w.shape[0] // groups, w.shape[-nd - 1]
    for place in itertools.product(*map(range, kernel)):
        at = [k - 1 - p if flip else p for k, p in zip(kernel, place, strict=True)]
        window = tuple(slice(p * d, p * d + (n - 1) * s + 1, s) for p, d, n, s in zip(place, dilation, lengths, step, strict=True))
        for g in range(groups):
            part = x[(slice(None), slice(g * channels, (g + 1) * channels), *window)]
            own = slice(g * filters, (g + 1) * filters)
            terms = f"nc{'xyz'[:nd]},f{own_places}c->nf{'xyz'[:nd]}"
            y[:, own] += np.einsum(terms, part, w[(own, ..., *at)])
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
    dtype = x.dtype.name
    border, flip, groups = (geometry[name] for name in ("border_mode", "filter_flip", "num_groups"))
    want = summed(x, w, border, geometry["subsample"], geometry["filter_dilation"], flip, groups)
    top = np.random.default_rng(1).normal(size=want.shape).astype(dtype)
    symbols = [GpuArrayType(dtype, (False,) * v.ndim, "dnn")() for v in (x, w, top)]
    plain = [T.TensorType("float64", (False,) * v.ndim)() for v in (x, w, top)]
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


@pytest.mark.parametrize("geometry", [{}, {"border_mode": (0, 2), "subsample": (1, 2)}, {"filter_dilation": (1, 3)}], ids=str)
def test_one_dimension(fake, geometry):
    """Images of one line."""
    check(fake, numbers("float32", 3, 2, 1, 11), numbers("float32", 4, 2, 1, 3), True, **plain_geometry(2, **geometry))


def test_causal_convolutions_are_ours(fake):
    """Zeros are before a line alone."""
    x, w = numbers("float64", 2, 3, 9), numbers("float64", 4, 3, 3)
    symbols = [GpuArrayType("float64", (False,) * 3, "dnn")() for _ in range(2)]
    y = causal_conv1d(*(T.as_tensor_variable(v) for v in symbols), w.shape, filter_dilation=2)
    before = convolved(fake)
    mode = theano.compile.get_default_mode().including("gpuarray")
    got = theano.function(symbols, as_gpuarray_variable(y, "dnn"), mode=mode)(there(x), there(w))
    want = summed(x[:, :, None], w[:, :, None], ((0, 0), (4, 0)), (1, 1), (1, 2), True, 1)[:, :, 0]
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-9, atol=1e-9)
    assert convolved(fake) == before


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("border", [((1, 2), (0, 0)), ((0, 0), (3, 1))], ids=str)
def test_more_zeros_on_one_side_are_ours(fake, border, dtype):
    check(fake, numbers(dtype, 2, 3, 6, 7), numbers(dtype, 4, 3, 2, 3), False, **plain_geometry(2, border_mode=border, subsample=(2, 1)))


@pytest.mark.parametrize("groups", [1, 2])
def test_filters_for_each_place_are_ours(fake, groups):
    w = numbers("float32", 4, 5, 3, 2, 2, 3)  # for 5 by 3 places
    check(fake, numbers("float32", 2, 2 * groups, 6, 5), w, False, **plain_geometry(2, num_groups=groups, unshared=True))


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
    pool = theano.function([x], as_gpuarray_variable(Pool(True, "average_inc_pad")(T.as_tensor_variable(x), (2, 2)), "dnn"), mode=mode)
    with pytest.raises(gpuarray.DeviceError, match=r"pooling by cuDNN \(8\)"):
        pool(values[0])


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


# -- pooling ---------------------------------------------------------------------------------------------------------


def pooled(fake):
    """Return how often windows and gradients were computed."""
    return list((ctypes.c_int64 * 2).in_dll(fake, "fake_pooled"))


def windows(length, size, step, pad, ignore_border):
    """Return where the windows along an axis begin and end: of those that the border cuts the last is the one that reaches it."""
    if ignore_border:
        return [(k - pad, k - pad + size) for k in range(0, length + 2 * pad - size + 1, step)]
    begins = range(0, length, step)
    return [(k, min(k + size, length)) for k in begins if k == 0 or k - step + size < length]


def pooled_by_numpy(x, top, mode, ws, stride, pad, ignore_border):
    """Return what windows along the last axes give, and the gradient of that: each of the largest elements gets it."""
    x, nd = x.astype("float64"), len(ws)
    axes = [windows(*a, ignore_border) for a in zip(x.shape[-nd:], ws, stride, pad, strict=True)]
    y, gradient = np.zeros((*x.shape[:-nd], *map(len, axes))), np.zeros(x.shape)
    for place in itertools.product(*(range(len(a)) for a in axes)):
        spans = [a[k] for a, k in zip(axes, place, strict=True)]
        inside = (..., *(slice(max(b, 0), max(e, 0)) for b, e in spans))
        part, over = x[inside], tuple(range(-nd, 0))
        g = 1 if top is None else np.expand_dims(top[(..., *place)].astype("float64"), over)
        if mode == "max":
            y[(..., *place)] = part.max(axis=over)
            gradient[inside] += g * (part == part.max(axis=over, keepdims=True))
            continue
        count = {"sum": 1, "average_inc_pad": np.prod([e - b for b, e in spans])}.get(mode, np.prod(part.shape[-nd:]))
        y[(..., *place)] = part.sum(axis=over) / count
        gradient[inside] += g / count
    return y, gradient


def check_pooling(fake, x, mode, ws, stride=None, pad=None, ignore_border=True, by_library=True, layout=np.copy):
    """Pool on the device, with the gradient, and hold both to NumPy's and the CPU's."""
    dtype, nd = x.dtype.name, len(ws)
    stride, pad = stride or ws, pad or (0,) * nd
    sizes = (mode, ws, stride, pad, ignore_border)
    y, _ = pooled_by_numpy(x, None, *sizes)
    top = np.random.default_rng(1).normal(size=y.shape).astype(dtype)
    want = pooled_by_numpy(x, top, *sizes)

    def both(v, t):
        z = Pool(ignore_border, mode, nd)(v, ws, stride, pad)
        return [z, T.grad(None, v, known_grads={z: t})]

    symbols = [GpuArrayType(dtype, (False,) * x.ndim, "dnn")() for _ in range(2)]
    plain = [T.TensorType("float64", (False,) * x.ndim)() for _ in range(2)]
    outputs = [as_gpuarray_variable(v, "dnn") for v in both(*(T.as_tensor_variable(s) for s in symbols))]
    on_device = theano.function(symbols, outputs, mode=theano.compile.get_default_mode().including("gpuarray"))
    before = pooled(fake)
    got = [np.asarray(v) for v in on_device(there(layout(x)), there(layout(top)))]
    done = [n - b for n, b in zip(pooled(fake), before, strict=True)]
    assert done == [by_library and mode.startswith("average")] * 2
    on_cpu = theano.function(plain, both(*plain))(*(v.astype("float64") for v in (x, top)))
    for g, v, w in zip(got, on_cpu, want, strict=True):
        np.testing.assert_allclose(v, w, rtol=1e-12, atol=1e-12)
        assert g.dtype == dtype
        np.testing.assert_allclose(g.astype("float64"), w, rtol=TOLERANCES[dtype], atol=TOLERANCES[dtype])


MODES = ["max", "sum", "average_inc_pad", "average_exc_pad"]

#: Shape, ws, stride, pad, whether the border is ignored, and whether cuDNN has words for it.
POOLINGS = [
    ((2, 3, 6, 8), (2, 2), (2, 2), (0, 0), True, True),
    ((2, 3, 7, 9), (2, 3), (2, 3), (0, 0), True, True),  # what is over is in no window
    ((2, 3, 7, 9), (3, 2), (1, 2), (2, 1), True, True),
    ((2, 3, 5, 6), (5, 6), (1, 1), (0, 0), True, True),
    ((2, 3, 5, 6), (2, 1), (3, 4), (1, 0), True, True),
    ((2, 3, 6, 8), (2, 2), (2, 2), (0, 0), False, True),  # all fit
    ((2, 3, 6, 7), (2, 2), (3, 5), (0, 0), False, True),
    ((2, 3, 7, 8), (2, 2), (2, 2), (0, 0), False, False),  # the last one is cut
    ((2, 3, 4, 7), (2, 2), (1, 3), (0, 0), False, False),
    ((2, 3, 2, 2), (3, 3), (1, 1), (0, 0), False, False),
    ((2, 3, 4, 5, 6), (2, 2, 3), (1, 2, 2), (1, 0, 2), True, True),
    ((2, 3, 4, 5, 6), (2, 2, 3), (2, 2, 3), (0, 0, 0), False, False),
    ((2, 3, 9), (3,), (2,), (1,), True, True),
    ((6, 8), (2, 3), (2, 2), (1, 1), True, True),
    ((5, 6, 8), (2, 3), (2, 2), (1, 1), True, True),
    ((2, 3, 2, 6, 8), (2, 3), (2, 2), (1, 1), True, True),  # images of images
    ((2, 3, 3, 4, 3, 4), (2, 2, 2, 2), (1, 2, 1, 2), (1, 0, 1, 0), True, False),
]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", POOLINGS, ids=str)
def test_pooling(fake, case, mode, dtype):
    shape, *sizes = case
    check_pooling(fake, numbers(dtype, *shape), mode, *sizes)


POOLED_LAYOUTS = {**LAYOUTS, "backwards": lambda x: np.flip(np.flip(x).copy()), "F": np.asfortranarray}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("layout", list(POOLED_LAYOUTS))
def test_pooling_of_any_strides(fake, layout, mode):
    """Of both operands; what cuDNN computes needs neighbours along the last axis."""
    x, neighbours = numbers("float32", 2, 3, 6, 7), layout in ("C", "apart")
    check_pooling(fake, x, mode, (2, 3), (1, 2), (1, 1), by_library=neighbours, layout=POOLED_LAYOUTS[layout])


@pytest.mark.parametrize("mode", ["sum", "average_inc_pad"])
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 3, 0, 5)], ids=str)
def test_windows_in_the_padding_are_ours(fake, shape, mode):
    check_pooling(fake, numbers("float64", *shape), mode, (2, 2), (1, 1), (3, 1), by_library=False)


@pytest.mark.parametrize("mode", ["max", "average_inc_pad"])
def test_axes_that_are_not_two(fake, mode):
    """Three axes that are not pooled, in an order that makes no fewer of them."""
    turned = lambda x: np.ascontiguousarray(x.transpose(2, 1, 0, 3, 4)).transpose(2, 1, 0, 3, 4)
    check_pooling(fake, numbers("float64", 2, 3, 4, 6, 6), mode, (2, 2), by_library=False, layout=turned)


def test_each_of_the_largest_gets_the_gradient(fake):
    """So it is on the CPU: cuDNN may give it to one of them, and is not asked."""
    x = np.random.default_rng(2).integers(0, 2, (2, 3, 6, 6)).astype("float32")
    check_pooling(fake, x, "max", (3, 3), (2, 2), (1, 1))
    check_pooling(fake, np.zeros_like(x), "max", (2, 2))


@pytest.mark.parametrize("mode", ["average_inc_pad", "average_exc_pad"])
def test_pooling_is_recorded(fake, mode):
    """A call of some of them that comes again is one call of the driver, and has the values of its own operands."""
    context = gpuarray.get_context("dnn")
    set_capture(context, True)
    x = GpuArrayType("float64", (False,) * 4, "dnn")()
    sizes = (3, 3), (1, 1), (1, 1)
    y = T.as_tensor_variable(x)
    for _ in range(5):
        y = Pool(True, mode)(y, *sizes)
    f = theano.function([x], as_gpuarray_variable(y, "dnn"), mode=theano.compile.get_default_mode().including("gpuarray"))
    before = context.counts()["replayed"]
    for k in range(8):
        image = numbers("float64", 2, 2, 5, 6 + k % 2)
        want = image
        for _ in range(5):
            want, _ = pooled_by_numpy(want, None, mode, *sizes, True)
        np.testing.assert_allclose(np.asarray(f(there(image))), want, rtol=1e-9, atol=1e-9)
    assert context.counts()["replayed"] > before
