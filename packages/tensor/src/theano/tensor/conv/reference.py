"""Convolution and its derivatives in NumPy, a loop over the elements of a filter: ``perform``, and what C is tested by.

Arrays are split by groups: an image is (batch, group, channel, *image), filters are (group, filter, channel, *kernel),
or (group, filter, *output, channel, *kernel) where they are not shared, an output is (batch, group, filter, *output).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from theano.tensor.conv.geometry import Geometry


def _elements(geometry: Geometry, kernel: Sequence[int], output: Sequence[int]) -> Iterator[tuple[Any, Any]]:
    """Yield, for each element of a filter, its index and the part of the padded image that it meets."""
    for k in np.ndindex(*kernel):
        part = tuple(
            slice(at * d, at * d + (n - 1) * s + 1, s)
            for at, d, n, s in zip(k, geometry.filter_dilation, output, geometry.subsample, strict=True)
        )
        flipped = tuple(n - 1 - at for n, at in zip(kernel, k, strict=True))
        yield flipped if geometry.filter_flip else k, (..., *part)


def _padded(geometry: Geometry, image: np.ndarray, kernel: Sequence[int]) -> np.ndarray:
    """Return an image with zeros around it, its channels in groups."""
    wide = np.pad(image, [(0, 0), (0, 0), *geometry.pads(kernel)])
    groups = geometry.num_groups
    return wide.reshape(wide.shape[0], groups, wide.shape[1] // groups, *wide.shape[2:])


def _grouped(geometry: Geometry, a: np.ndarray, axis: int) -> np.ndarray:
    groups = geometry.num_groups
    return a.reshape(*a.shape[:axis], groups, a.shape[axis] // groups, *a.shape[axis + 1 :])


def _mixed(geometry: Geometry, weights: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return the channels of ``a``, at each place mixed by weights: (group, to, from), or (group, to, *place, from)."""
    if geometry.unshared:
        places = "xyz"[: a.ndim - 3]
        return np.einsum(f"bgi{places},go{places}i->bgo{places}", a, weights, optimize=True)
    # To look for an order of products takes einsum longer than such a product itself.
    flat = a.reshape(*a.shape[:3], math.prod(a.shape[3:]))
    return np.matmul(weights, flat).reshape(a.shape[0], *weights.shape[:2], *a.shape[3:])


def _met(geometry: Geometry, x: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return the sums of products of channels of ``x`` with those of ``g``, over a batch, and its places if shared."""
    if geometry.unshared:
        places = "xyz"[: x.ndim - 3]
        return np.einsum(f"bgc{places},bgf{places}->gf{places}c", x, g, optimize=True)
    by_group = (1, 2, 0, *range(3, x.ndim))
    terms = x.shape[0] * math.prod(x.shape[3:])
    of_g, of_x = (a.transpose(by_group).reshape(*a.shape[1:3], terms) for a in (g, x))
    return np.matmul(of_g, of_x.swapaxes(1, 2))


def _wide(dtype: object) -> Any:
    return np.float32 if dtype == np.float16 else dtype


def forward(geometry: Geometry, image: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Return the convolution of a batch of images, (batch, channels, ...), with filters."""
    ndim, dtype = image.ndim - 2, np.result_type(image, kernel)
    lengths = kernel.shape[-ndim:]
    output = geometry.output(image.shape[2:], lengths)
    x, w = _padded(geometry, image, lengths).astype(_wide(dtype)), _grouped(geometry, kernel, 0)
    out = np.zeros((x.shape[0], w.shape[0], w.shape[1], *output), _wide(dtype))
    for at, part in _elements(geometry, lengths, output):
        out += _mixed(geometry, w[(..., *at)], x[part])
    return out.reshape(out.shape[0], kernel.shape[0], *output).astype(dtype)


def grad_weights(geometry: Geometry, image: np.ndarray, top: np.ndarray, lengths: Sequence[int]) -> np.ndarray:
    """Return the gradient with respect to filters of these lengths, from that with respect to the output."""
    dtype, output = np.result_type(image, top), top.shape[2:]
    x, g = _padded(geometry, image, lengths).astype(_wide(dtype)), _grouped(geometry, top, 1).astype(_wide(dtype))
    own = output if geometry.unshared else ()
    grad = np.zeros((*g.shape[1:3], *own, x.shape[2], *lengths), _wide(dtype))
    for at, part in _elements(geometry, lengths, output):
        grad[(..., *at)] = _met(geometry, x[part], g)
    return grad.reshape(top.shape[1], *grad.shape[2:]).astype(dtype)


def grad_inputs(geometry: Geometry, kernel: np.ndarray, top: np.ndarray, lengths: Sequence[int]) -> np.ndarray:
    """Return the gradient with respect to images of these lengths, from that with respect to the output."""
    ndim, dtype = top.ndim - 2, np.result_type(kernel, top)
    of_kernel = kernel.shape[-ndim:]
    pads, output = geometry.pads(of_kernel), top.shape[2:]
    w, g = _grouped(geometry, kernel, 0).astype(_wide(dtype)), _grouped(geometry, top, 1).astype(_wide(dtype))
    channels = kernel.shape[-ndim - 1]
    wide = [n + sum(pad) for n, pad in zip(lengths, pads, strict=True)]
    grad = np.zeros((top.shape[0], geometry.num_groups, channels, *wide), _wide(dtype))
    for at, part in _elements(geometry, of_kernel, output):
        grad[part] += _mixed(geometry, w[(..., *at)].swapaxes(1, -1), g)
    inside: Any = tuple(slice(before, before + n) for (before, _), n in zip(pads, lengths, strict=True))
    image = np.ascontiguousarray(grad[(..., *inside)])
    return image.reshape(top.shape[0], channels * geometry.num_groups, *lengths).astype(dtype)
