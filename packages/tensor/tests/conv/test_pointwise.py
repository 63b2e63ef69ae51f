"""Filters of one element: products of matrices, whatever the arrays' layouts, beside NumPy's sums of products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import lay

import theano
import theano.tensor as T
from theano.tensor.conv.op import AbstractConv2d, AbstractConv3d

ROUNDING = {"float32": 1e-5, "float64": 1e-14}
rng = np.random.default_rng(3)


def products(dtype: str, groups: int, axes: int = 2) -> Any:
    """Return a function of images, filters and the gradient of results: results and both gradients."""
    kind = T.TensorType(dtype, (False,) * (axes + 2))
    x, w, g = kind("x"), kind("w"), kind("g")
    y = (AbstractConv2d if axes == 2 else AbstractConv3d)(num_groups=groups)(x, w)
    return theano.function([x, w, g], [y, *T.grad(None, [x, w], known_grads={y: g})])


def expected(x: np.ndarray, w: np.ndarray, g: np.ndarray, groups: int) -> list[np.ndarray]:
    """Return the three products by einsum in float64: images are (b, g, c, p), filters (g, f, c)."""
    filters, channels, pixels = len(w) // groups, w.shape[1], int(np.prod(x.shape[2:]))
    xs = x.astype(float).reshape(len(x), groups, channels, pixels)
    ws = w.astype(float).reshape(groups, filters, channels)
    gs = g.astype(float).reshape(len(x), groups, filters, pixels)
    return [
        np.einsum("gfc,bgcp->bgfp", ws, xs).reshape(g.shape),
        np.einsum("gfc,bgfp->bgcp", ws, gs).reshape(x.shape),
        np.einsum("bgfp,bgcp->gfc", gs, xs).reshape(w.shape),
    ]


def hold(f: Any, x: np.ndarray, w: np.ndarray, g: np.ndarray, groups: int) -> None:
    for ours, wanted in zip(f(x, w, g), expected(x, w, g, groups), strict=True):
        assert ours.dtype == x.dtype
        np.testing.assert_allclose(ours, wanted, rtol=0, atol=ROUNDING[x.dtype.name] * max(1.0, np.abs(wanted).max(initial=0)))


def arrays(dtype: str, batch: int, groups: int, channels: int, filters: int, *pixels: int) -> list[np.ndarray]:
    shapes = [(batch, groups * channels, *pixels), (groups * filters, channels, *(1 for _ in pixels)), (batch, groups * filters, *pixels)]
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("groups", [1, 2])
def test_sizes(dtype: str, groups: int) -> None:
    """Channels and filters on both sides of those from which it is a product, images of less than a vector to several pieces."""
    f = products(dtype, groups)
    for channels, filters in [(7, 8), (8, 7), (8, 8), (9, 17), (8, 127), (8, 128), (130, 8), (33, 50)]:
        for batch, rows, columns in [(1, 1, 1), (4, 3, 5), (5, 4, 4), (2, 17, 1), (3, 1, 31), (1, 32, 32), (2, 25, 41), (1, 45, 46), (0, 5, 5)]:
            hold(f, *arrays(dtype, batch, groups, channels, filters, rows, columns), groups)


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("layout", ["F", "transposed", "reversed", "step2", "offset", "stretched", "unaligned"])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_layouts(dtype: str, layout: str, which: int) -> None:
    given = arrays(dtype, 3, 2, 12, 10, 9, 8)
    given[which] = lay(given[which], layout)
    hold(products(dtype, 2), *given, 2)


@pytest.mark.parametrize("axes", [(0, 2, 3, 1), (3, 0, 1, 2), (0, 1, 3, 2), (2, 3, 0, 1)])
def test_axes_in_another_order(axes: tuple[int, ...]) -> None:
    """Channels as neighbours, images that lie between each other's pixels, columns before rows."""
    given = [np.ascontiguousarray(a.transpose(axes)).transpose(np.argsort(axes)) for a in arrays("float64", 3, 1, 12, 10, 9, 8)]
    hold(products("float64", 1), *given, 1)


@pytest.mark.parametrize("axis", [1, 2, 3])
def test_one_line_for_all(axis: int) -> None:
    """An axis of images that NumPy stretches has no step."""
    x, w, g = arrays("float64", 3, 1, 12, 10, 9, 8)
    hold(products("float64", 1), np.broadcast_to(x.take([0], axis), x.shape), w, g, 1)


def test_volumes() -> None:
    hold(products("float64", 2, axes=3), *arrays("float64", 2, 2, 9, 11, 3, 4, 6), 2)


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("shape", [(5, 1, 64, 70, 30, 40), (1, 2, 40, 40, 60, 60)], ids=str)
def test_threads_change_nothing(dtype: str, shape: tuple[int, ...]) -> None:
    given, found = arrays(dtype, *shape), []
    for threads in (1, 2, 3):
        with theano.config.change_flags(threads=threads):
            found.append([a.tobytes() for a in products(dtype, shape[1])(*given)])
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("what", [np.nan, np.inf])
def test_what_is_not_finite_stays_where_it_meets(what: float) -> None:
    x, w, g = arrays("float64", 3, 1, 12, 10, 9, 8)
    x[1, 2, 3, 4] = what
    with np.errstate(all="ignore"):
        for ours, wanted in zip(products("float64", 1)(x, w, g), expected(x, w, g, 1), strict=True):
            np.testing.assert_array_equal(np.isfinite(ours), np.isfinite(wanted))
