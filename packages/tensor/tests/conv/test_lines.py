"""Filters that are nearly as long as the image or have one line, beside the NumPy reference.

Shapes are generated along each axis from what a filter may be there: the whole image, nearly so, a few elements, or one. Few
and many channels and filters make each way to compute the cheapest one for some of them.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from arrays import lay

import theano
import theano.tensor as T
from theano.tensor.conv import reference
from theano.tensor.conv.op import AbstractConv2d, AbstractConv3d

ROUNDING = {"float32": 3e-5, "float64": 1e-13}
IMAGES = [(9, 35), (35, 9), (1, 40), (40, 1)]
SIZES = [(3, 1, 20), (2, 3, 2), (1, 17, 9), (40, 1, 1)]


def lengths(n: int) -> list[int]:
    """Return lengths of a filter for an image of length n: a line, a few, nearly all, all."""
    return sorted({1, min(3, n), max(1, n - 2), n})


def products(dtype: str, op: Any) -> Any:
    """Return a function of images, filters and the gradient of results: results and both gradients."""
    x, w, g = (T.TensorType(dtype, (False,) * (op.convdim + 2))() for _ in range(3))
    y = op(x, w)
    return theano.function([x, w, g], [y, *T.grad(None, [x, w], known_grads={y: g})])


def hold(f: Any, op: Any, dtype: str, image: Any, kernel: Any, sizes: Any, layout: str = "C") -> None:
    """Compare all three products of random numbers with the reference, of shapes (batch, channels, filters)."""
    batch, channels, filters = sizes
    output, groups = op.geometry.output(image, kernel), op.num_groups
    if min(output) < 1:
        return
    rng = np.random.default_rng(5)
    shapes = (batch, groups * channels, *image), (groups * filters, channels, *kernel), (batch, groups * filters, *output)
    x, w, g = (lay(rng.normal(size=shape).astype(dtype), layout) for shape in shapes)
    expected = (
        reference.forward(op.geometry, x.astype(float), w.astype(float)),
        reference.grad_inputs(op.geometry, w.astype(float), g.astype(float), image),
        reference.grad_weights(op.geometry, x.astype(float), g.astype(float), kernel),
    )
    for found, wanted in zip(f(x, w, g), expected, strict=True):
        assert found.shape == wanted.shape and found.dtype == dtype
        atol = ROUNDING[dtype] * max(1.0, np.abs(wanted).max())
        np.testing.assert_allclose(found, wanted, rtol=0, atol=atol, err_msg=str((op, image, kernel, sizes)))


@pytest.mark.parametrize("step", [(1, 1), (2, 1), (2, 3)])
@pytest.mark.parametrize("border", ["valid", "full", "half", ((1, 2), (0, 3))], ids=str)
def test_lengths(border: Any, step: Any) -> None:
    dtype = "float32" if step == (2, 1) else "float64"
    op = AbstractConv2d(border_mode=border, subsample=step, filter_flip=step != (2, 3))
    f = products(dtype, op)
    for i, image in enumerate(IMAGES):
        for j, kernel in enumerate(itertools.product(*map(lengths, image))):
            hold(f, op, dtype, image, kernel, SIZES[(i + j) % len(SIZES)])


@pytest.mark.parametrize("layout", ["F", "reversed", "step2", "stretched", "unaligned"])
def test_layouts(layout: str) -> None:
    op = AbstractConv2d()
    f = products("float32", op)
    for kernel in [(3, 40), (3, 38), (11, 1), (11, 40), (1, 40)]:
        hold(f, op, "float32", (11, 40), kernel, (3, 2, 20), layout)


@pytest.mark.parametrize("options", [{"num_groups": 2}, {"filter_dilation": (2, 3)}, {"border_mode": (1, 45)}], ids=str)
def test_groups_dilations_and_borders_wider_than_the_filter(options: dict[str, Any]) -> None:
    op = AbstractConv2d(**options)
    f = products("float64", op)
    for kernel in [(3, 40), (2, 14), (5, 13), (11, 40), (11, 1)]:
        hold(f, op, "float64", (11, 40), kernel, (3, 2, 18))


def test_volumes() -> None:
    op = AbstractConv3d()
    f = products("float64", op)
    for kernel in itertools.product((1, 5), (2, 6), (1, 7)):
        hold(f, op, "float64", (5, 6, 7), kernel, (3, 2, 18))


@pytest.mark.parametrize("shape", [(40, 1, 50), (1, 4, 150)], ids=str)
def test_threads_change_nothing(shape: tuple[int, ...]) -> None:
    batch, channels, filters = shape
    rng = np.random.default_rng(1)
    given = [rng.normal(size=s) for s in [(batch, channels, 20, 40), (filters, channels, 3, 40), (batch, filters, 18, 1)]]
    found = []
    for threads in (1, 2, 3):
        with theano.config.change_flags(threads=threads):
            found.append([a.tobytes() for a in products("float64", AbstractConv2d())(*given)])
    assert found[0] == found[1] == found[2]
