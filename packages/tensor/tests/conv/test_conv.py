"""Convolution in C against NumPy, its gradients by what defines them, over all geometries, layouts and dtypes.

A geometry is tried in one of two dtypes, which chance says once and for all; with ``SIZES=sweep``, in both.
"""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import pytest
from arrays import lay
from numpy.lib.stride_tricks import sliding_window_view

import theano
import theano.tensor as T
from portion import portion
from theano.tensor.conv.derived import causal_conv1d
from theano.tensor.conv.geometry import Geometry
from theano.tensor.conv.op import AbstractConv2d, AbstractConv3d

SWEEP = os.environ.get("SIZES") == "sweep"
BORDERS: dict[int, list[Any]] = {
    2: ["valid", "full", "half", 1, (2, 0), ((0, 1), (2, 1))],
    3: ["valid", "full", "half", (1, 0, 2), ((0, 1), 1, (2, 0))],
}
STEPS = {2: [(1, 1), (2, 1), (3, 2)], 3: [(1, 1, 1), (2, 1, 2)]}
DILATIONS = {2: [(1, 1), (2, 1), (1, 3)], 3: [(1, 1, 1), (1, 2, 1)]}
GEOMETRIES = [
    (ndim, *geometry)
    for ndim in (2, 3)
    for geometry in itertools.product(BORDERS[ndim], STEPS[ndim], DILATIONS[ndim], (True, False), (1, 2))
]
LAID = ("C", "F", "transposed", "reversed", "step2", "offset", "unaligned")
ROUNDING = {"float32": 2e-4, "float64": 1e-11}


def named(case: Any) -> str:
    ndim, border, step, dilation, flip, groups = case
    return f"{ndim}d-{border}-{step}-{dilation}-{'flip' if flip else 'plain'}-{groups}".replace(" ", "")


def convolved(geometry: Geometry, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the convolution as it is defined: the product of each window with the filters, of each group by itself."""
    ndim, groups = x.ndim - 2, geometry.num_groups
    wide = np.pad(x.astype("float64"), [(0, 0), (0, 0), *geometry.pads(w.shape[2:])])
    spread = np.zeros((*w.shape[:2], *((n - 1) * d + 1 for n, d in zip(w.shape[2:], geometry.filter_dilation, strict=True))))
    spread[(..., *(slice(None, None, d) for d in geometry.filter_dilation))] = w
    if geometry.filter_flip:
        spread = spread[(..., *(slice(None, None, -1),) * ndim)]
    windows = sliding_window_view(wide, spread.shape[2:], tuple(range(2, 2 + ndim)))
    windows = windows[(..., *(slice(None, None, s) for s in geometry.subsample), *(slice(None),) * ndim)]
    summed = [(1, *range(2 + ndim, 2 + 2 * ndim)), (1, *range(2, 2 + ndim))]
    parts = zip(np.split(windows, groups, axis=1), np.split(spread, groups), strict=True)
    return np.concatenate([np.moveaxis(np.tensordot(*part, summed), -1, 1) for part in parts], axis=1)


def shapes(ndim: int, groups: int, rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return shapes of images and filters that fit, with lengths 1 among them."""
    channels, filters = int(rng.integers(1, 4)), int(rng.choice([1, 2, 5, 19]))
    kernel = tuple(int(k) for k in rng.integers(1, 4, ndim))
    image = tuple(int(n) for n in rng.integers(9 if ndim == 2 else 6, 14 if ndim == 2 else 9, ndim))
    return (int(rng.integers(1, 4)), channels * groups, *image), (filters * groups, channels, *kernel)


@pytest.mark.parametrize("case", GEOMETRIES if SWEEP else portion(GEOMETRIES, always=0), ids=named)
def test_values_and_gradients(case: Any) -> None:
    """The values are as defined. A gradient is linear, and is the one for which <g, f(x, w)> is <its gradient, x>."""
    ndim, border, step, dilation, flip, groups = case
    op = (AbstractConv2d if ndim == 2 else AbstractConv3d)(None, None, border, step, flip, dilation, groups)
    rng = np.random.default_rng(list(named(case).encode()))
    for dtype in ROUNDING if SWEEP else [str(rng.choice(list(ROUNDING)))]:
        kind = T.TensorType(dtype, (False,) * (ndim + 2))
        x, w, g = kind("x"), kind("w"), kind("g")
        y = op(x, w)
        f = theano.function([x, w, g], [y, *T.grad(None, [x, w], known_grads={y: g}), y.shape])
        assert any(isinstance(n.op, type(op)) for n in f.maker.fgraph.toposort())
        for _ in range(2):
            of_x, of_w = shapes(ndim, groups, rng)
            X, W = (lay(rng.normal(size=s).astype(dtype), rng.choice(LAID)) for s in (of_x, of_w))
            wanted = convolved(op.geometry, X, W)
            G = lay(rng.normal(size=wanted.shape).astype(dtype), rng.choice(LAID))
            value, of_images, of_filters, shape = f(X, W, G)
            near = ROUNDING[dtype] * (1 + np.abs(wanted).max())
            assert tuple(shape) == value.shape == wanted.shape and value.dtype == dtype
            np.testing.assert_allclose(value, wanted, atol=near, rtol=0)
            other_x, other_w = rng.normal(size=of_x), rng.normal(size=of_w)
            for gradient, moved in ((of_images, (other_x, W)), (of_filters, (X, other_w))):
                expected = (convolved(op.geometry, *moved) * G).sum()
                direction = other_x if gradient is of_images else other_w
                assert gradient.shape == direction.shape
                terms = np.abs(gradient * direction).sum()
                assert abs((gradient * direction).sum() - expected) <= ROUNDING[dtype] * (1 + terms)


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize(("filters", "channels", "columns"), [
    (f, c, n) for f in (1, 15, 16, 17, 31, 33, 48, 49, 97) for c, n in ((1, 1), (3, 7), (8, 8), (9, 13), (17, 40))
])  # fmt: skip
def test_edges_of_blocks(ndim: int, filters: int, channels: int, columns: int) -> None:
    """Both sides of each width of a tile, and lengths that no block divides."""
    rng = np.random.default_rng(filters * 100 + channels)
    op = (AbstractConv2d if ndim == 2 else AbstractConv3d)(border_mode="half")
    x, w, g = (T.TensorType("float64", (False,) * (ndim + 2))() for _ in range(3))
    y = op(x, w)
    f = theano.function([x, w, g], [y, *T.grad(None, [x, w], known_grads={y: g})])
    image = (5, columns) if ndim == 2 else (2, 3, columns)
    X, W = rng.normal(size=(2, channels, *image)), rng.normal(size=(filters, channels, *(3,) * ndim))
    G = rng.normal(size=(2, filters, *image))
    slow = theano.function([x, w, g], [y, *T.grad(None, [x, w], known_grads={y: g})], mode=theano.Mode("py", "fast_compile"))
    for ours, plain in zip(f(X, W, G), slow(X, W, G), strict=True):
        np.testing.assert_allclose(ours, plain, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("layout", LAID)
@pytest.mark.parametrize("which", [0, 1, 2])
def test_layouts(layout: str, which: int) -> None:
    """Each operand of each product in each layout."""
    rng = np.random.default_rng(5)
    x, w, g = T.tensor4(), T.tensor4(), T.tensor4()
    y = AbstractConv2d(border_mode="half", subsample=(2, 1))(x, w)
    f = theano.function([x, w, g], [y, *T.grad(None, [x, w], known_grads={y: g})])
    values = [rng.normal(size=s).astype(theano.config.floatX) for s in ((2, 9, 8, 10), (4, 9, 3, 3), (2, 4, 4, 10))]
    wanted = f(*values)
    values[which] = lay(values[which], layout)
    for ours, plain in zip(f(*values), wanted, strict=True):
        np.testing.assert_array_equal(ours, plain)


def test_nothing_to_sum_or_to_compute() -> None:
    x, w, g = T.tensor4(), T.tensor4(), T.tensor4()
    y = AbstractConv2d()(x, w)
    f = theano.function([x, w, g], [y, *T.grad(None, [x, w], known_grads={y: g})])
    floatX = theano.config.floatX
    for of_x, of_w in (((0, 2, 4, 4), (3, 2, 2, 2)), ((2, 0, 4, 4), (3, 0, 2, 2)), ((2, 2, 4, 4), (0, 2, 2, 2))):
        out = (of_x[0], of_w[0], 3, 3)
        value, of_images, of_filters = f(np.ones(of_x, floatX), np.ones(of_w, floatX), np.ones(out, floatX))
        assert value.shape == out and of_images.shape == of_x and of_filters.shape == of_w
        assert not value.any() and not of_images.any() and not of_filters.any()


@pytest.mark.parametrize("case", [("valid", 1), ("full", 1), ("half", 2), (((1, 0), (0, 2)), 2)], ids=str)
def test_derivatives_of_derivatives(case: Any) -> None:
    """Second order and forward, by finite differences."""
    border, groups = case
    rng = np.random.default_rng(3)
    op = AbstractConv2d(border_mode=border, subsample=(2, 1), num_groups=groups)
    x, w = rng.normal(size=(2, 2 * groups, 4, 3)), rng.normal(size=(2 * groups, 2, 2, 2))

    def norm_of_gradients(a: Any, b: Any) -> Any:
        grads = T.grad(T.tanh(op(a, b)).sum(), [a, b])
        return sum((v * v).sum() for v in grads)

    theano.gradient.verify_grad(norm_of_gradients, [x, w], rng=rng)
    a, b, u, v = (T.TensorType("float64", (False,) * 4)() for _ in range(4))
    y = op(a, b)
    along = theano.function([a, b, u, v], theano.gradient.Rop(y, [a, b], [u, v]))
    value = theano.function([a, b], y)
    dx, dw = rng.normal(size=x.shape), rng.normal(size=w.shape)
    expected = (value(x + 1e-6 * dx, w + 1e-6 * dw) - value(x - 1e-6 * dx, w - 1e-6 * dw)) / 2e-6
    np.testing.assert_allclose(along(x, w, dx, dw), expected, atol=1e-6)


@pytest.mark.parametrize(("flip", "groups"), portion([(True, 1), (True, 2), (False, 2), (False, 1)], one_in=2, always=0))
def test_unshared(flip: bool, groups: int) -> None:
    """Each place with filters of its own: as many convolutions of one place."""
    rng = np.random.default_rng(4)
    x, w = T.tensor4("x"), T.TensorType(theano.config.floatX, (False,) * 6)("w")
    op = AbstractConv2d(border_mode=1, subsample=(2, 1), filter_flip=flip, num_groups=groups, unshared=True)
    y = op(x, w)
    X = rng.normal(size=(2, 2 * groups, 5, 4)).astype(theano.config.floatX)
    W = rng.normal(size=(3 * groups, 3, 5, 2, 3, 2)).astype(theano.config.floatX)
    f = theano.function([x, w], [y, *T.grad((y**2).sum(), [x, w])])
    value, of_images, of_filters = f(X, W)
    shared = AbstractConv2d(border_mode=1, subsample=(2, 1), filter_flip=flip, num_groups=groups)
    for i, j in np.ndindex(*value.shape[2:]):
        np.testing.assert_allclose(value[:, :, i, j], convolved(shared.geometry, X, W[:, i, j])[:, :, i, j], rtol=1e-4, atol=1e-4)
    assert of_images.shape == X.shape and of_filters.shape == W.shape
    theano.gradient.verify_grad(lambda a, b: op(a, b), [X.astype("float64"), W.astype("float64")], rng=rng)


def test_one_thread_and_two_compute_the_same() -> None:
    rng = np.random.default_rng(6)
    X, W = rng.normal(size=(6, 16, 30, 30)).astype("float32"), rng.normal(size=(32, 16, 3, 3)).astype("float32")
    G = rng.normal(size=(6, 32, 30, 30)).astype("float32")
    found = []
    for threads in (1, 2):
        with theano.config.change_flags(threads=threads):
            x, w, g = T.ftensor4(), T.ftensor4(), T.ftensor4()
            y = AbstractConv2d(border_mode="half")(x, w)
            found.append(theano.function([x, w, g], [y, *T.grad(None, [x, w], known_grads={y: g})])(X, W, G))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("border", ["valid", "full", "half", ((0, 2), (4, 1))], ids=str)
@pytest.mark.parametrize(("columns", "dilation"), [(1, 1), (2, 1), (3, 1), (3, 3), (7, 1), (7, 2), (8, 1)])
def test_filters_of_three_rows_for_each_channel(columns: int, dilation: int, border: Any, dtype: str) -> None:
    """Both sides of each number of vectors in a row, and of each number of rows in a tile."""
    rng = np.random.default_rng(columns)
    op = AbstractConv2d(border_mode=border, filter_dilation=(1, dilation), num_groups=2)
    kind = T.TensorType(dtype, (False,) * 4)
    x, w, g = kind(), kind(), kind()
    y = op(x, w)
    outputs = [y, *T.grad(None, [x, w], known_grads={y: g})]
    fast, slow = theano.function([x, w, g], outputs), theano.function([x, w, g], outputs, mode=theano.Mode("py", "fast_compile"))
    for length, rows, multiplier in zip([15, 16, 17, 31, 32, 33, 48, 50], [3, 4, 5, 6, 7, 8, 9, 3], [1, 2, 3, 4, 1, 2, 3, 1], strict=True):
        X, W = rng.normal(size=(2, 2, rows, length)).astype(dtype), rng.normal(size=(2 * multiplier, 1, 3, columns)).astype(dtype)
        G = rng.normal(size=(2, 2 * multiplier, *op.geometry.output((rows, length), (3, columns)))).astype(dtype)
        for ours, wanted in zip(fast(X, W, G), slow(X, W, G), strict=True):
            np.testing.assert_allclose(ours, wanted, rtol=0, atol=ROUNDING[dtype] * 10)


FILTERS_AND_STEPS = [((3, 3), (1, 1)), ((5, 2), (2, 1)), ((1, 1), (1, 2)), ((1, 3, 2), (1, 2, 1))]


@pytest.mark.parametrize(
    ("filters", "channels", "multiplier", "dtype"),
    portion(itertools.product(FILTERS_AND_STEPS, [2, 7, 8, 9, 16, 17, 33], [1, 2], ROUNDING), always=0), ids=str,
)  # fmt: skip
def test_each_channel_by_itself(filters: Any, channels: int, multiplier: int, dtype: str) -> None:
    rng, (kernel, step) = np.random.default_rng(channels), filters
    ndim = len(kernel)
    op = (AbstractConv2d if ndim == 2 else AbstractConv3d)(border_mode="half", subsample=step, num_groups=channels)
    x, w, g = (T.TensorType(dtype, (False,) * (ndim + 2))() for _ in range(3))
    y = op(x, w)
    outputs = [y, *T.grad(None, [x, w], known_grads={y: g})]
    X = rng.normal(size=(2, channels, *(7, 9, 8)[:ndim])).astype(dtype)
    W = rng.normal(size=(channels * multiplier, 1, *kernel)).astype(dtype)
    G = rng.normal(size=convolved(op.geometry, X, W).shape).astype(dtype)
    plain = theano.function([x, w, g], outputs, mode=theano.Mode("py", "fast_compile"))(X, W, G)
    for ours, wanted in zip(theano.function([x, w, g], outputs)(X, W, G), plain, strict=True):
        np.testing.assert_allclose(ours, wanted, atol=ROUNDING[dtype] * 10)


def test_shapes_of_numpy_integers():
    # np.int64 has an attribute `data`, as a constant has; Lasagne gives its shapes so.
    x, w = T.tensor4("x"), T.tensor4("w")
    given = T.nnet.conv2d(
        x, w, input_shape=tuple(np.array([1, 2, 5, 6])), filter_shape=(np.int32(3), T.constant(2), None, np.array(2)),
        border_mode=(np.int64(1), np.int8(0)), subsample=np.array([2, 1]),
    )  # fmt: skip
    op = given.owner.op
    assert (op.imshp, op.kshp) == ((1, 2, 5, 6), (3, 2, None, 2)) and op.subsample == (2, 1)
    X, W = np.arange(60.0).reshape(1, 2, 5, 6), np.arange(24.0).reshape(3, 2, 2, 2)
    wanted = convolved(Geometry((1, 0), (2, 1), (1, 1), True, 1, False), X, W)
    np.testing.assert_allclose(theano.function([x, w], given)(X, W), wanted)
    step = causal_conv1d(T.ones((1, 1, 4)), T.ones((1, 1, 2)), (1, 1, np.int64(2)), subsample=np.int64(1))
    np.testing.assert_allclose(step.eval().ravel(), [1, 2, 2, 2])


def test_a_gradient_of_given_lengths_takes_the_images_all_the_same():
    # It needs no value of them; in Theano it asks for their lengths, so that programs pass them.
    x, w, g = T.tensor4("x"), T.tensor4("w"), T.tensor4("g")
    out = T.nnet.conv2d(x, w, input_shape=(1, 1, 4, 4), filter_shape=(1, 1, 2, 2))
    X, W, G = np.ones((1, 1, 4, 4)), np.ones((1, 1, 2, 2)), np.ones((1, 1, 3, 3))
    of_x, of_w = T.grad(out.sum(), [x, w], known_grads={out: g})
    assert theano.function([x, w, g], of_x)(X, W, G).sum() == theano.function([w, g], of_x)(W, G).sum() == 36
    assert theano.function([x, w, g], of_w)(X, W, G).sum() == 36


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool"])
def test_images_of_whole_numbers_are_upsampled_between_them(dtype):
    value = (np.random.default_rng(0).integers(0, 9, (2, 1, 3, 4)) % (2 if dtype == "bool" else 9)).astype(dtype)
    whole, real = T.TensorType(dtype, (False,) * 4)("whole"), T.dtensor4("real")
    hows = [{"frac_ratio": (3, 2)}, {"frac_ratio": ((2, 1), (5, 3))}, {"ratio": 2}]
    made = [T.nnet.abstract_conv.bilinear_upsampling(v, **how) for how in hows for v in (whole, real)]
    found = theano.function([whole, real], made)(value, value.astype("float64"))
    for a, b in zip(found[::2], found[1::2], strict=True):
        assert a.dtype == "float64"
        np.testing.assert_allclose(a, b, atol=1e-12)
