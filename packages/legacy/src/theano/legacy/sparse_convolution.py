"""Convolution and pooling of images as products with sparse matrices.

Images are rows of a matrix, channel after channel. `theano.tensor.nnet` has convolutions that are meant to be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from theano.graph import Apply, Op
from theano.sparse.convert import constant
from theano.sparse.parts.elements import INDEX, Cells
from theano.sparse.parts.op import CSC
from theano.sparse.product.op import structured_dot
from theano.tensor.convert import as_tensor_variable
from theano.tensor.shape.reshape import reshape

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Values
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


class ConvolutionIndices(Op):
    """The places of a convolution's weights in the sparse matrix that it is."""

    __props__ = ()

    @staticmethod
    def sparse_eval(
        inshp: Sequence[int], kshp: Sequence[int], nkern: int, step: Sequence[int] = (1, 1), mode: str = "valid"
    ) -> tuple[Any, ...]:
        """Return the places, without the weights; see `evaluate`."""
        return ConvolutionIndices.evaluate(inshp, kshp, step, nkern, mode=mode, ws=False)

    @staticmethod
    def conv_eval(
        inshp: Sequence[int], kshp: Sequence[int], step: Sequence[int] = (1, 1), mode: str = "valid"
    ) -> tuple[Any, ...]:
        """Return the places for kernels that are the same everywhere; see `evaluate`."""
        return ConvolutionIndices.evaluate(inshp, kshp, step, mode=mode, ws=True)

    @staticmethod
    def evaluate(
        inshp: Sequence[int], kshp: Sequence[int], strides: Sequence[int] = (1, 1), nkern: int = 1,
        mode: str = "valid", ws: bool = True,
    ) -> tuple[Any, ...]:  # fmt: skip
        """Return where the pixels of each window are.

        Parameters
        ----------
        inshp : (channels, height, width) or (height, width)
        kshp : (height, width)
            Of a window.
        strides : (int, int)
            From a window to the next.
        nkern : int
            How many kernels there are, where each window has weights of its own.
        mode : "valid" or "full"
        ws : bool
            Whether all windows share the weights.

        Returns
        -------
        indices, indptr, shape, sptype, outshp
            A csc matrix of a column for each pixel of the image and a row for each place of each window, what it says
            ("csc"), and the height and width of the result.
        """
        channels, height, width = inshp if len(inshp) == 3 else (1, *inshp)
        if mode not in ("valid", "full"):
            raise ValueError(f"a convolution is 'valid' or 'full', not {mode!r}")
        less = np.subtract((height, width), kshp) if mode == "valid" else np.add((height, width), kshp) - 2
        outshp = np.array([-(-(n + 1) // s) for n, s in zip(less, strides, strict=True)])
        if np.any(outshp <= 0):
            raise ValueError(f"windows of {tuple(kshp)} do not fit into images of {(height, width)}")
        rows, columns = _windows((channels, height, width), tuple(kshp), tuple(strides), outshp, mode)
        size = int(np.prod(outshp)) * channels * int(np.prod(kshp))
        if not ws:
            rows = (rows[None] + np.arange(nkern)[:, None] * size).reshape(-1)
            columns = np.tile(columns, nkern)
        shape = (size * (1 if ws else nkern), channels * height * width)
        places = sp.coo_matrix((np.ones(len(rows)), (rows, columns)), shape=shape).tocsc()
        return places.indices, places.indptr, shape, "csc", outshp

    def make_node(self, *inputs: TensorLike) -> Apply:
        """Return the node: lengths of images, windows and steps as vectors of integers."""
        return Apply(self, [as_tensor_variable(v) for v in inputs], [INDEX(), INDEX()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Find the places."""
        inshp, kshp = (tuple(map(int, v)) for v in inputs[:2])
        indices, indptr, *_ = self.evaluate(inshp, kshp)
        output_storage[0][0], output_storage[1][0] = indices.astype("int32"), indptr.astype("int32")


convolution_indices = ConvolutionIndices()


def _windows(
    image: tuple[int, ...], window: tuple[int, ...], strides: tuple[int, ...], outshp: np.ndarray, mode: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each place of each window that is on the image, its number and the pixel there."""
    channels, height, width = image
    y, x, c, i, j = np.indices((*outshp, channels, *window)).reshape(5, -1)
    before = (0, 0) if mode == "valid" else (window[0] - 1, window[1] - 1)
    row, column = y * strides[0] + i - before[0], x * strides[1] + j - before[1]
    there = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    pixel = (c * height + row) * width + column
    return np.flatnonzero(there), pixel[there]


def convolve(
    kerns: TensorLike, kshp: Sequence[int], nkern: int, images: TensorLike, imgshp: Sequence[int],
    step: Sequence[int] = (1, 1), bias: TensorLike | None = None, mode: str = "valid", flatten: bool = True,
) -> tuple[Tensor, np.ndarray]:  # fmt: skip
    """Return the products of each window of images with some kernels.

    Parameters
    ----------
    kerns : matrix
        A row for each kernel, channel after channel; they are not flipped.
    kshp : (height, width)
    nkern : int
    images : matrix
        A row for each image, channel after channel.
    imgshp : (channels, height, width) or (height, width)
    step : (int, int)
    bias : vector, optional
        A number for each kernel.
    mode : "valid" or "full"
    flatten : bool
        Return a row for each image, kernel after kernel; else three dimensions.

    Returns
    -------
    tensor, numpy.ndarray
        The results, and their number of kernels, height and width.

    Examples
    --------
    >>> y, shape = convolve(np.ones((1, 4)), (2, 2), 1, np.arange(9.0).reshape(1, 9), (3, 3))
    >>> y.eval(), shape
    (array([[ 8., 12., 20., 24.]]), array([1, 2, 2]))
    """
    indices, indptr, spmat_shape, _, outshp = ConvolutionIndices.conv_eval(imgshp, kshp, step, mode)
    places = CSC(np.ones(len(indices)), indices, indptr, np.array(spmat_shape, "int32"))
    kerns, images = as_tensor_variable(kerns), as_tensor_variable(images)
    patches = structured_dot(places, images.T).T
    count, size = int(np.prod(outshp)), spmat_shape[0] // int(np.prod(outshp))
    n = images.shape[0]
    found = reshape(patches, (n * count, size), ndim=2).dot(kerns.T)
    if bias is not None:
        found = found + as_tensor_variable(bias)
    found = reshape(found, (n, count, nkern), ndim=3).dimshuffle(0, 2, 1)
    found = reshape(found, (n, nkern * count), ndim=2) if flatten else found
    return found, np.hstack((nkern, outshp))


def max_pool(images: object, imgshp: Sequence[int], maxpoolshp: int | Sequence[int]) -> tuple[Any, Any]:
    """Return the largest pixel of each patch of images.

    Parameters
    ----------
    images : matrix
        A row for each image, channel after channel.
    imgshp : (channels, height, width) or (height, width)
    maxpoolshp : int or (height, width)
        Of a patch.

    Returns
    -------
    tensor, tuple
        A row for each image; channels, height and width of the result.

    Examples
    --------
    >>> y, shape = max_pool(np.arange(16.0).reshape(1, 16), (4, 4), (2, 2))
    >>> y.eval()
    array([[ 5.,  7., 13., 15.]])
    """
    patch = (maxpoolshp, maxpoolshp) if isinstance(maxpoolshp, int) else tuple(maxpoolshp)
    channels, height, width = imgshp if len(imgshp) == 3 else (1, *imgshp)
    indices, indptr, shape, _, outshp = ConvolutionIndices.conv_eval((channels, height, width), patch, patch)
    images = as_tensor_variable(images)
    places = constant(sp.csc_matrix((np.ones(len(indices), images.type.dtype), indices, indptr), shape=shape))
    count, size = int(np.prod(outshp)), patch[0] * patch[1]
    patches = reshape(structured_dot(places, images.T).T, (images.shape[0], count, channels, size), ndim=4)
    found = reshape(patches.max(axis=3).dimshuffle(0, 2, 1), (images.shape[0], channels * count), ndim=2)
    return found, (channels, *map(int, outshp))
