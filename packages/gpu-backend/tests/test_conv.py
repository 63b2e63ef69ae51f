"""Convolution and its gradients: the device against the CPU."""

from __future__ import annotations

import gc
import importlib
from functools import cache

import numpy as np
import pytest
from compare import LAYOUTS, MODE, ON_CPU, TOLERANCES, agree, nodes

import theano
import theano.tensor as T
from theano.gpuarray import ops as there
from theano.tensor.conv.conv_elemwise import ConvElemwise
from theano.tensor.conv.products import (
    Corr3dMM,
    Corr3dMM_gradInputs,
    Corr3dMM_gradWeights,
    CorrMM,
    CorrMM_gradInputs,
    CorrMM_gradWeights,
)
from theano.tensor.nnet import conv2d, conv3d

DTYPES = ("float16", "float32", "float64")
OPS = {2: (CorrMM, CorrMM_gradWeights, CorrMM_gradInputs), 3: (Corr3dMM, Corr3dMM_gradWeights, Corr3dMM_gradInputs)}


def numbers(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@cache
def compiled(op, dtype, ndims, mode):
    arrays = [T.TensorType(dtype, (False,) * ndim)() for ndim in ndims]
    lengths = [] if isinstance(op, (CorrMM, Corr3dMM)) else [T.lvector()]
    return theano.function([*arrays, *lengths], op(*arrays, *lengths), mode=mode)


def same(op, *given):
    """Return what the CPU computes, having seen that the device computes the same."""
    ndims = tuple(v.ndim for v in given[:2])
    on_device, on_cpu = (compiled(op, given[0].dtype.name, ndims, mode) for mode in (MODE, ON_CPU))
    assert [type(n.op).__name__ for n in nodes(on_device)[0]] == [f"Gpu{type(op).__name__}"]
    found, wanted = (f(*given) for f in (on_device, on_cpu))
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    # The order of a sum is another one: its error is one of its terms, not of what is left of them.
    close, size = TOLERANCES[found.dtype.name], np.abs(wanted).max(initial=1.0)
    np.testing.assert_allclose(found, wanted, close, close * size, err_msg=f"{op} of {[v.shape for v in given]}")
    return wanted


def all_three(image, kernel, layout=np.asarray, **geometry):
    """Convolve, and take both gradients."""
    nd = image.ndim - 2
    forward, by_filters, by_images = (op(**geometry) for op in OPS[nd])
    top = layout(numbers(same(forward, image, kernel).shape, image.dtype, 1))
    same(by_filters, image, top, np.array(kernel.shape[-nd:]))
    same(by_images, kernel, top, np.array(image.shape[-nd:]))


#: Shapes of images and filters: the sizes are on both sides of those of a tile, and the last sums are cut into parts.
SIZES = [
    ((1, 1, 1, 1), (1, 1, 1, 1)),
    ((2, 1, 5, 6), (1, 1, 3, 2)),
    ((2, 3, 8, 9), (16, 3, 1, 1)),
    ((1, 2, 10, 15), (17, 2, 3, 3)),
    ((4, 16, 6, 6), (64, 16, 3, 3)),
    ((1, 65, 9, 9), (65, 65, 2, 2)),
    ((3, 130, 3, 4), (2, 130, 3, 4)),
    ((9, 2, 24, 25), (3, 2, 5, 5)),
    ((2, 300, 4, 4), (3, 300, 3, 3)),
]
EMPTY = [((0, 2, 5, 5), (3, 2, 2, 2)), ((2, 0, 5, 5), (3, 0, 2, 2)), ((2, 2, 5, 5), (0, 2, 2, 2))]


@pytest.mark.parametrize(("image", "kernel"), SIZES + EMPTY, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sizes(dtype, image, kernel):
    scale = np.dtype(dtype).type(0.2)
    all_three(numbers(image, dtype), numbers(kernel, dtype, 2) * scale)


@pytest.mark.parametrize("border_mode", ["valid", "full", "half", (2, 1), ((0, 3), (2, 1))], ids=str)
@pytest.mark.parametrize(
    "steps", [((1, 1), (1, 1)), ((2, 3), (1, 1)), ((1, 1), (2, 3)), ((2, 3), (2, 2)), ((4, 6), (6, 4))], ids=str
)
@pytest.mark.parametrize("groups", [1, 2])
def test_geometries(groups, steps, border_mode):
    subsample, dilation = steps
    for flip in (True, False):
        geometry = {"border_mode": border_mode, "subsample": subsample, "filter_dilation": dilation}
        all_three(
            numbers((2, 2 * groups, 14, 11)), numbers((3 * groups, 2, 3, 2), seed=1), filter_flip=flip,
            num_groups=groups, **geometry,
        )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("nd", [2, 3])
def test_layouts_of_arguments(nd, layout):
    image, kernel = numbers((2, 4, *(6, 7, 5)[:nd])), numbers((6, 2, *(2, 3, 2)[:nd]))
    all_three(LAYOUTS[layout](image), LAYOUTS[layout](kernel), LAYOUTS[layout], num_groups=2, border_mode="half")


@pytest.mark.parametrize("axes", [(3, 2, 1, 0), (2, 0, 3, 1)], ids=str)
def test_views_on_the_device(axes):
    """Strides of any order and sign, and stretched axes."""
    x, w = T.dtensor4("x"), T.dtensor4("w")
    image = T.exp(x).dimshuffle(axes)[::-1, :, ::2, 1:]
    kernel = T.tanh(w).dimshuffle(axes)[:, ::-1, ::-1]
    stretched = T.alloc(T.exp(x)[:, 0, 0].dimshuffle(0, "x", "x", 1), x.shape[0], 3, 6, x.shape[3])
    y, z = conv2d(image, kernel, border_mode="full"), conv2d(stretched, stretched[:2, :, :3, :1])
    shape, of_kernel = ([s[axes.index(d)] for d in range(4)] for s in ((4, 3, 6, 7), (2, 3, 2, 3)))
    outputs = [y, z, *T.grad((y * T.sin(y)).sum() + T.sqr(z).sum(), [x, w])]
    f = agree([x, w], outputs, [numbers(shape, "float64"), numbers(of_kernel, "float64")], 1e-9, all_there=False)
    assert not [n for n in nodes(f)[1] if isinstance(n.op, (CorrMM, CorrMM_gradInputs, CorrMM_gradWeights))]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("geometry", [{}, {"border_mode": ((1, 2), (0, 1)), "subsample": (2, 1), "filter_dilation": (1, 2)}, {
    "border_mode": "half", "subsample": (2, 3), "filter_dilation": (4, 1), "filter_flip": True,
}], ids=str)  # fmt: skip
def test_filters_of_their_own_for_each_place(geometry, groups, dtype):
    image = (2, 2 * groups, 7, 6)
    op = CorrMM(num_groups=groups, **geometry)
    places = op.geometry.output(image[2:], (3, 2))
    kernel = numbers((3 * groups, *places, 2, 3, 2), dtype, 1)
    all_three(numbers(image, dtype), kernel, num_groups=groups, unshared=True, **geometry)


def drawn(rng):
    """Return an image, filters and a geometry."""
    nd, groups = int(rng.integers(2, 4)), int(rng.choice([1, 1, 2, 3]))
    kernel, dilation, step = rng.integers(1, 5, nd), rng.integers(1, 4, nd), rng.integers(1, 5, nd)
    pads = tuple((int(a), int(b)) for a, b in rng.integers(0, 4, (nd, 2)))
    border_mode = [*("valid", "full", "half"), pads, tuple(a for a, _ in pads)][rng.integers(5)]
    least = (kernel - 1) * dilation + 1 if border_mode == "valid" or not isinstance(border_mode, str) else 1
    if border_mode == "half":
        least = np.maximum((kernel - 1) * dilation + 1 - 2 * (((kernel - 1) * dilation + 1) // 2), 1)
    image = least + rng.integers(0, 7, nd)
    channels, filters, batch = (int(n) for n in rng.integers(1, 6, 3))
    dtype = str(rng.choice(["float32", "float64"]))
    geometry = {
        "border_mode": border_mode, "subsample": tuple(map(int, step)), "filter_dilation": tuple(map(int, dilation)),
        "num_groups": groups, "filter_flip": bool(rng.integers(2)),
    }  # fmt: skip
    x = rng.normal(size=(batch, channels * groups, *image)).astype(dtype)
    w = rng.normal(size=(filters * groups, channels, *kernel)).astype(dtype)
    if nd == 2 and rng.random() < 0.2:
        places = CorrMM(**geometry).geometry.output(x.shape[2:], w.shape[2:])
        w = rng.normal(size=(len(w), *places, channels, *kernel)).astype(dtype)
        geometry["unshared"] = True
    return x, w, geometry


@pytest.mark.parametrize("seed", range(4))
def test_geometries_drawn_at_random(seed):
    rng = np.random.default_rng(seed)
    for _ in range(15):
        x, w, geometry = drawn(rng)
        all_three(x, w, **geometry)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("convolve", [conv2d, conv3d])
def test_derivatives_of_graphs(convolve, dtype):
    """Gradients, second derivatives and derivatives along a direction: the host has only the lengths."""
    nd = 3 if convolve is conv3d else 2
    x, w, d = (T.TensorType(dtype, (False,) * (nd + 2))(name) for name in "xwd")
    y = T.tanh(convolve(x, w, border_mode="half", subsample=(2,) * nd, num_groups=2))
    slopes = T.grad(T.sqr(y).sum(), [x, w])
    second = T.grad(sum(T.sqr(s).sum() for s in slopes), [x, w])
    outputs = [y, *slopes, *second, T.Rop(y, x, d), T.Rop(slopes[1], x, d)]
    shape, of_kernel = (2, 4, *range(4, 4 + nd)), (6, 2, *(3, 2, 3)[:nd])
    values = [numbers(shape, dtype), numbers(of_kernel, dtype, 1) / 4, numbers(shape, dtype, 2)]
    f = agree([x, w, d], outputs, [v.astype(dtype) for v in values], 100 * TOLERANCES[dtype], all_there=False)
    assert {v.type.dtype for node in nodes(f)[1] for v in node.outputs} == {"int64"}
    assert {f"Gpu{op.__name__}" for op in OPS[nd]} <= {type(n.op).__name__ for n in nodes(f)[0]}


@pytest.mark.parametrize("dtype", DTYPES)
def test_upsampling_and_separable_convolution(dtype):
    x = T.TensorType(dtype, (False,) * 4)("x")
    up = T.nnet.abstract_conv.bilinear_upsampling(x, ratio=3, num_input_channels=2)
    deep, points = numbers((4, 1, 3, 3), dtype) / 4, numbers((5, 4, 1, 1), dtype) / 2
    parts = T.nnet.abstract_conv.separable_conv2d(x, deep.astype(dtype), points.astype(dtype), 2)
    f = agree([x], [up, parts], [numbers((2, 2, 5, 4), dtype)], all_there=False)
    assert not [n for n in nodes(f)[1] if any(v.type.dtype.startswith("float") and v.type.ndim > 1 for v in n.outputs)]


def test_what_is_done_with_results_is_fused_on_the_host_alone():
    x, w, b = T.ftensor4("x"), T.ftensor4("w"), T.fvector("b")
    bias = b.dimshuffle("x", 0, "x", "x")
    y = T.tanh(conv2d(x, w) + bias)
    values = [numbers((2, 3, 6, 5)), numbers((4, 3, 3, 2)), numbers(4)]
    f = agree([x, w, b], y, values)
    assert [type(n.op).__name__ for n in nodes(f)[0] if "Shuffle" not in str(n.op)] == ["GpuCorrMM", "GpuElemwise"]
    for v in (x, w, b, bias):
        v.tag.target = "cpu"
    f = theano.function([x, w, b], y, mode=MODE)
    assert [type(n.op) for n in f.maker.fgraph.toposort() if n.inputs[0].type.ndim > 1] == [ConvElemwise]
    np.testing.assert_allclose(f(*values), theano.function([x, w, b], y, mode=ON_CPU)(*values), 1e-5)


def test_nothing_is_moved_in_between(context):
    x, w = T.ftensor4("x"), T.ftensor4("w")
    y = T.nnet.relu(conv2d(x, w, border_mode="half"))
    loss = T.sqr(conv2d(y, w, subsample=(2, 2))).sum()
    f = theano.function([x, w], [loss, *T.grad(loss, [x, w])], mode=MODE)
    before = context.counts()
    f(numbers((2, 3, 8, 9)), numbers((3, 3, 3, 3)))
    after = context.counts()
    assert (after["to"] - before["to"], after["from"] - before["from"]) == (2, 3)


def test_results_are_the_same_each_time():
    """Also those of sums that are cut into parts."""
    f = compiled(CorrMM_gradWeights(), "float32", (4, 4), MODE)
    given = numbers((9, 2, 24, 25)), numbers((9, 3, 20, 21)), np.array([5, 5])
    first = f(*given)
    assert all(np.array_equal(first, f(*given)) for _ in range(5))


WRONG = [
    (CorrMM(), [(2, 3, 5, 5), (4, 2, 2, 2)]),
    (CorrMM(), [(2, 3, 5, 5), (4, 3, 6, 2)]),
    (CorrMM(num_groups=2), [(2, 4, 5, 5), (3, 2, 2, 2)]),
    (CorrMM(border_mode="full"), [(2, 4, 5, 5), (3, 4, 0, 2)]),
    (Corr3dMM(), [(2, 3, 5, 5, 5), (4, 3, 2, 7, 2)]),
    (CorrMM_gradWeights(), [(2, 3, 5, 5), (3, 4, 4, 4)], [2, 2]),
    (CorrMM_gradWeights(), [(2, 3, 5, 5), (2, 4, 4, 4)], [2, 3]),
    (CorrMM_gradWeights(), [(2, 3, 5, 5), (2, 4, 4, 4)], [2, -2]),
    (CorrMM_gradWeights(), [(2, 3, 5, 5), (2, 4, 4, 4)], [2, 2, 2]),
    (CorrMM_gradInputs(), [(4, 3, 2, 2), (2, 5, 4, 4)], [5, 5]),
    (CorrMM_gradInputs(), [(4, 3, 2, 2), (2, 4, 4, 4)], [5, 6]),
    (CorrMM_gradInputs(), [(4, 3, 2, 2), (2, 4, 4, 4)], [1, 5]),
]


@pytest.mark.parametrize("case", WRONG, ids=str)
def test_what_does_not_fit_is_said_as_on_the_cpu(case):
    op, shapes, *lengths = case
    said = []
    for mode in (MODE, ON_CPU):
        with pytest.raises(theano.errors.ShapeError) as found:
            compiled(op, "float32", tuple(map(len, shapes)), mode)(*map(numbers, shapes), *map(np.array, lengths))
        said.append(str(found.value).splitlines()[0])
    assert said[0] == said[1]


@pytest.mark.parametrize("places", [(4, 3), (3, 4)])
def test_unshared_filters_of_other_places(places):
    op = CorrMM(unshared=True)
    for mode in (MODE, ON_CPU):
        with pytest.raises(theano.errors.ShapeError, match="unshared filters for"):
            compiled(op, "float32", (4, 6), mode)(numbers((2, 3, 5, 5)), numbers((4, *places, 3, 2, 2)))


def test_no_memory_for_parts_is_said_and_leaves_everything_as_it_was(context):
    f = compiled(CorrMM_gradWeights(), "float32", (4, 4), MODE)
    given = numbers((9, 2, 24, 25)), numbers((9, 3, 20, 21)), np.array([5, 5])
    gc.collect()  # what other tests left would be freed while this counts
    wanted, live = f(*given), context.counts()["live"]
    before = context.counts()["allocations"]
    f(*given)
    count = context.counts()["allocations"] - before
    for k in range(1, count + 1):
        context.set_limit(0, fail_in=k)
        with pytest.raises(MemoryError):
            f(*given)
        context.set_limit(0)
        assert context.counts()["live"] == live
    np.testing.assert_array_equal(f(*given), wanted)


def test_names_that_programs_look_for():
    old = importlib.import_module("theano.gpuarray.blas")
    for op in (*OPS[2], *OPS[3]):
        cls = getattr(there, f"Gpu{op.__name__}")
        assert issubclass(cls, op) and getattr(old, cls.__name__) is cls
