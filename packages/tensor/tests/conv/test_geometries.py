"""Convolutions of random geometry, shape and layout against the NumPy reference, many shapes a compiled function.

Shapes are drawn so that each of the ways to compute is taken: few and many channels and filters, one and several groups,
rows shorter and longer than vectors, empty batches. ``SIZES=sweep`` draws 30,000.
"""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.conv import reference
from theano.tensor.conv.geometry import get_conv_gradinputs_shape, get_conv_output_shape
from theano.tensor.conv.op import AbstractConv2d, AbstractConv3d

FUNCTIONS = 500 if os.environ.get("SIZES") == "sweep" else 20
SHAPES = 60
TOLERANCE = {"float32": 1e-3, "float64": 1e-10}


def drawn(choices: Any, rng: np.random.Generator) -> Any:
    return choices[rng.integers(len(choices))]


def convolution(ndim: int, rng: np.random.Generator) -> Any:
    """Return an op of random geometry."""
    each = lambda choices: tuple(drawn(choices, rng) for _ in range(ndim))
    border = drawn(["valid", "full", "half", 1, each([0, 1, 2]), each([(0, 2), (3, 0), (1, 1)])], rng)
    return (AbstractConv2d if ndim == 2 else AbstractConv3d)(
        border_mode=border, subsample=each([1, 1, 2, 3]), filter_dilation=each([1, 1, 2]),
        filter_flip=bool(rng.integers(2)), num_groups=drawn([1, 1, 2, 3, 5], rng),
    )  # fmt: skip


def laid(a: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the same values in a random layout."""
    how = rng.integers(4)
    if how == 1:
        return np.asfortranarray(a)
    if how == 2:
        return np.ascontiguousarray(a[..., ::-1])[..., ::-1]
    return np.repeat(a, 2, axis=-1)[..., ::2] if how == 3 else a


def test_lengths_of_the_image_follow_from_those_of_filters_and_output() -> None:
    for ndim, groups, dilation in itertools.product((2, 3), (1, 3), (1, 2)):
        image, kernel = (2, 4 * groups, *range(9, 9 + ndim)), (6, 4, *range(2, 2 + ndim))
        for border in ("valid", "full", 1, (2, 1, 0)[:ndim]):
            told = (border, (1,) * ndim, (dilation,) * ndim)
            output = get_conv_output_shape(image, kernel, *told)
            assert get_conv_gradinputs_shape(kernel, output, *told, groups) == image, told
    found = get_conv_gradinputs_shape((6, None, 3, 3), (None, 6, 8, 8), "valid", (1, 2), num_groups=3)
    assert found == (None, None, 10, None)


@pytest.mark.parametrize("seed", range(FUNCTIONS))
def test_values_and_gradients_of_random_shapes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ndim, dtype = drawn([2, 2, 3], rng), drawn(["float32", "float64"], rng)
    op = convolution(ndim, rng)
    x, w, top = (T.TensorType(dtype, (False,) * (ndim + 2))() for _ in range(3))
    y = op(x, w)
    f = theano.function([x, w, top], [y, *theano.grad(None, [x, w], known_grads={y: top})])
    done = 0
    while done < SHAPES:
        kernel = tuple(drawn([1, 2, 3, 4], rng) for _ in range(ndim))
        image = tuple(drawn([1, 3, 5, 9, 17, 20, 33] if ndim == 2 else [1, 3, 5, 9, 18], rng) for _ in range(ndim))
        output = op.geometry.output(image, kernel)
        if min(output) < 1:
            continue
        batch, channels, filters = drawn([0, 1, 2, 3], rng), drawn([1, 1, 2, 3, 17], rng), drawn([1, 1, 2, 3, 5, 8, 17, 40], rng)
        shapes = (
            (batch, channels * op.num_groups, *image), (filters * op.num_groups, channels, *kernel),
            (batch, filters * op.num_groups, *output),
        )  # fmt: skip
        a, b, c = (laid(rng.normal(size=shape).astype(dtype), rng) for shape in shapes)
        wanted = (
            reference.forward(op.geometry, a, b), reference.grad_inputs(op.geometry, b, c, image),
            reference.grad_weights(op.geometry, a, c, kernel),
        )  # fmt: skip
        for found, expected in zip(f(a, b, c), wanted, strict=True):
            assert found.shape == expected.shape
            np.testing.assert_allclose(found, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype], err_msg=str((op, shapes)))
        done += 1
