"""Convolution and pooling by sparse matrices, window by window in NumPy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.signal import correlate2d

import theano
import theano.tensor as T
from theano.gradient import verify_grad
from theano.legacy.sparse_convolution import ConvolutionIndices, convolution_indices, convolve, max_pool

RNG = np.random.default_rng(0)
#: Shapes of images and of windows, and steps.
CASES = [
    ((5, 4), (2, 3), (1, 1)), ((5, 4), (2, 3), (2, 1)), ((2, 5, 4), (3, 2), (1, 2)), ((3, 4, 7), (2, 3), (3, 2)),
    ((1, 3, 3), (3, 3), (1, 1)), ((2, 3, 5), (1, 1), (2, 3)),
]  # fmt: skip


def windows(image: np.ndarray, window: Any, step: Any, mode: str) -> np.ndarray:
    """Return the windows of an image (channels, height, width): (height, width) of the result, then each window."""
    if mode == "full":
        image = np.pad(image, [(0, 0), *((n - 1, n - 1) for n in window)])
    found = np.lib.stride_tricks.sliding_window_view(image, window, axis=(1, 2))
    return found[:, :: step[0], :: step[1]].transpose(1, 2, 0, 3, 4)


@pytest.mark.parametrize("mode", ["valid", "full"])
@pytest.mark.parametrize(("shape", "window", "step"), CASES)
def test_convolve(shape: Any, window: Any, step: Any, mode: str) -> None:
    channels = shape[0] if len(shape) == 3 else 1
    images = RNG.normal(size=(2, int(np.prod(shape))))
    kernels, bias = RNG.normal(size=(3, channels * window[0] * window[1])), RNG.normal(size=3)
    x, w, b = T.dmatrix("x"), T.dmatrix("w"), T.dvector("b")
    made = [
        convolve(w, window, 3, x, shape, step, bias, mode, flatten)
        for bias, flatten in product((None, b), (True, False))
    ]
    if (mode, step) == ("valid", (1, 1)):
        made.append(convolve(w, window, 3, x, shape))
    found = theano.function([x, w, b], [y for y, _ in made])(images, kernels, bias)
    each = np.stack([windows(i.reshape(channels, *shape[-2:]), window, step, mode) for i in images])
    wanted = np.einsum("nyxcij,kcij->nkyx", each, kernels.reshape(3, channels, *window))
    ways = [(0, True), (0, False), (1, True), (1, False), (0, True)]
    for y, (_, about), (more, flat) in zip(found, made, ways, strict=False):
        assert list(about) == list(wanted.shape[1:])
        values = (wanted + more * bias[:, None, None]).reshape(2, 3, -1)
        np.testing.assert_allclose(y, values.reshape(2, -1) if flat else values, rtol=1e-10, atol=1e-12)


def test_gradients_of_a_convolution() -> None:
    for mode in ("valid", "full"):
        verify_grad(
            lambda w, x, b, mode=mode: convolve(w, (2, 2), 2, x, (2, 3, 3), (1, 1), b, mode)[0],
            [RNG.normal(size=(2, 8)), RNG.normal(size=(2, 18)), RNG.normal(size=2)], rng=np.random.RandomState(0),
        )  # fmt: skip


@pytest.mark.parametrize("patch", [2, (2, 3), (1, 2), (3, 1)])
@pytest.mark.parametrize("shape", [(6, 6), (2, 3, 6), (3, 5, 7)])
def test_max_pool(patch: Any, shape: Any) -> None:
    images = RNG.normal(size=(2, int(np.prod(shape)))) - 3  # below 0, so that no padding is the largest
    y, about = max_pool(images, shape, patch)
    size = (patch, patch) if isinstance(patch, int) else patch
    channels = shape[0] if len(shape) == 3 else 1
    each = np.stack([windows(i.reshape(channels, *shape[-2:]), size, size, "valid") for i in images])
    wanted = each.max(axis=(4, 5)).transpose(0, 3, 1, 2)
    assert about == wanted.shape[1:]
    np.testing.assert_array_equal(y.eval(), wanted.reshape(2, -1))


@pytest.mark.parametrize("mode", ["valid", "full"])
@pytest.mark.parametrize(("shape", "window", "step"), CASES)
def test_places(shape: Any, window: Any, step: Any, mode: str) -> None:
    """The matrix takes the numbers of an image to those of its windows; where kernels differ, once for each."""
    channels = shape[0] if len(shape) == 3 else 1
    image = RNG.normal(size=int(np.prod(shape)))
    wanted = windows(image.reshape(channels, *shape[-2:]), window, step, mode)
    for times, (indices, indptr, size, kind, outshp) in (
        (1, ConvolutionIndices.conv_eval(shape, window, step, mode)),
        (3, ConvolutionIndices.sparse_eval(shape, window, 3, step, mode)),
        (1, ConvolutionIndices.evaluate(shape, window, step, 3, mode)),
        *(
            []
            if (mode, step) != ("valid", (1, 1))
            else [
                (1, ConvolutionIndices.evaluate(shape, window)),
                (1, ConvolutionIndices.conv_eval(shape, window)),
                (2, ConvolutionIndices.sparse_eval(shape, window, 2)),
            ]
        ),
        (3, ConvolutionIndices.evaluate(shape, window, step, 3, mode, ws=False)),
    ):
        assert kind == "csc" and tuple(outshp) == wanted.shape[:2]
        matrix = sp.csc_matrix((np.ones(len(indices)), indices, indptr), shape=size)
        np.testing.assert_array_equal(matrix @ image, np.tile(wanted.ravel(), times))


def test_places_as_an_op() -> None:
    inputs = T.lvectors("images", "windows")
    found = theano.function(inputs, convolution_indices(*inputs))([2, 4, 5], [2, 3])
    for got, wanted in zip(found, ConvolutionIndices.conv_eval((2, 4, 5), (2, 3))[:2], strict=True):
        np.testing.assert_array_equal(got, wanted)
        assert got.dtype == "int32"


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="'valid' or 'full', not 'same'"):
        ConvolutionIndices.conv_eval((3, 3), (2, 2), mode="same")
    for window in ((4, 1), (1, 4)):
        with pytest.raises(ValueError, match=r"windows of \(\d, \d\) do not fit into images of \(3, 3\)"):
            convolve(np.ones((1, 4)), window, 1, np.ones((1, 9)), (3, 3))


@pytest.mark.parametrize(
    ("mode", "strides"), [("valid", (1, 1)), ("valid", (2, 3)), ("full", (1, 1)), ("full", (3, 2))]
)
@pytest.mark.parametrize("window", [(2, 3), (5, 2), (5, 6)])
def test_convolutions_by_products(mode, strides, window):
    """Against SciPy, up to windows as large as the image; larger ones are refused."""
    rng, size = np.random.default_rng(0), 2 * int(np.prod(window))
    images, kernels, bias = rng.normal(size=(2, 2, 5, 6)), rng.normal(size=(3, 2, *window)), rng.normal(size=3)
    found, shape = convolve(
        kernels.reshape(3, size), window, 3, images.reshape(2, 60), (2, 5, 6), strides, bias, mode, flatten=False
    )
    wanted = [[sum(map(lambda x, k: correlate2d(x, k, mode), image, kernel)) for kernel in kernels] for image in images]
    wanted = np.array(wanted)[:, :, :: strides[0], :: strides[1]] + bias[:, None, None]
    assert tuple(shape) == wanted.shape[1:]
    np.testing.assert_allclose(found.eval().reshape(wanted.shape), wanted, 1e-10)
    for kshp in ((6, 2), (2, 7)) if mode == "valid" else ():
        with pytest.raises(ValueError, match=r"do not fit into images of \(5, 6\)"):
            convolve(T.dmatrix(), kshp, 3, T.dmatrix(), (2, 5, 6), strides)
