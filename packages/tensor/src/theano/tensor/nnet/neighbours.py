"""Neighbourhoods of images as rows of a matrix, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.alloc import alloc
from theano.tensor.create.arange import arange
from theano.tensor.elemwise.functions import maximum
from theano.tensor.index.functions import inc_subtensor, set_subtensor
from theano.tensor.messages import describe
from theano.tensor.shape.basic import shape_i
from theano.tensor.shape.reshape import reshape
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor

__all__ = ["Images2Neibs", "images2neibs", "neibs2images"]

MODES = ("valid", "half", "full", "wrap_centered", "ignore_borders")


def _reach(mode: str, size: Any) -> Any:
    """Return how far before the image the first neighbourhood begins."""
    return {"half": size // 2, "wrap_centered": size // 2, "full": size - 1}.get(mode, 0)


def _count(mode: str, n: Any, size: Any, step: Any) -> Any:
    """Return how many neighbourhoods there are along an axis, for numbers or variables."""
    if mode == "wrap_centered":
        return (n + step - 1) // step
    count = 1 + (n + 2 * _reach(mode, size) - size) // step
    return maximum(count, 0) if hasattr(count, "type") else max(count, 0)


class Images2Neibs(Op):
    """The neighbourhoods of images, each as a row of a matrix; see `images2neibs`.

    Parameters
    ----------
    mode : 'valid', 'half', 'full', 'wrap_centered' or 'ignore_borders'

    Examples
    --------
    >>> import theano.tensor as T
    >>> Images2Neibs()(T.arange(8).reshape((1, 1, 2, 4)), (2, 2)).eval()
    array([[0, 1, 4, 5],
           [2, 3, 6, 7]])
    """

    __props__ = ("mode",)
    linear_in = (0,)

    def __init__(self, mode: str = "valid"):
        if mode not in MODES:
            raise NotImplementedError(f"Images2Neibs: mode must be one of {', '.join(MODES)}, not {mode!r}")
        self.mode = mode

    def make_node(self, ten4: TensorLike, neib_shape: Any, neib_step: Any = None) -> Apply:
        """Return the node; the step is the shape of a neighbourhood where it is not given."""
        ten4, neib_shape = as_tensor_variable(ten4), as_tensor_variable(neib_shape)
        neib_step = neib_shape if neib_step is None else as_tensor_variable(neib_step)
        if ten4.type.ndim != 4:
            raise ArgumentError(f"{self}: images must be a tensor of 4 dimensions:\n{describe(ten4)}")
        for name, v in (("neib_shape", neib_shape), ("neib_step", neib_step)):
            if v.type.ndim != 1 or v.type.dtype not in scal.integer_dtypes:
                raise TypeError(f"{self}: {name} must be two whole numbers:\n{describe(v)}")
        return Apply(self, [ten4, neib_shape, neib_step], [TensorType(ten4.type.dtype, (False, False)).make_variable()])

    def _check(self, n: int, size: int, step: int) -> None:
        if step <= 0 or size <= 0:
            raise ValueError(f"{self}: neib_shape and neib_step must be positive; along an axis: {size} and {step}")
        if self.mode == "wrap_centered" and size % 2 == 0:
            raise TypeError(f"{self}: neib_shape must be odd, not {size}")
        if n < size and self.mode != "ignore_borders":
            raise TypeError(f"{self}: the image has {n} elements along an axis, the neighbourhood {size}")
        if self.mode in ("valid", "half", "full") and (n + 2 * _reach(self.mode, size) - size) % step:
            raise TypeError(
                f"{self}: an axis of {n} elements, with neib_shape {size} and neib_step {step}, is not covered to its "
                "end; mode 'ignore_borders' leaves the rest out"
            )

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Take the elements by their places."""
        x, shape, step = inputs
        if len(shape) != 2 or len(step) != 2:
            raise ValueError(f"{self}: neib_shape and neib_step must be two numbers each: {shape}, {step}")
        places, inside = [], []
        for n, size, by in zip(x.shape[2:], map(int, shape), map(int, step), strict=True):
            self._check(n, size, by)
            count = _count(self.mode, n, size, by)
            where = np.arange(count)[:, None] * by + np.arange(size) - _reach(self.mode, size)
            if self.mode == "wrap_centered":
                where %= n
            inside.append((where >= 0) & (where < n))
            places.append(np.clip(where, 0, max(n - 1, 0)))
        rows, columns = places[0][:, None, :, None], places[1][None, :, None, :]
        if x.size:
            found = np.where(inside[0][:, None, :, None] & inside[1][None, :, None, :], x[:, :, rows, columns], 0)
        else:
            found = np.zeros((*x.shape[:2], *np.broadcast_shapes(rows.shape, columns.shape)))
        count = int(np.prod(found.shape[:4]))
        output_storage[0][0] = found.reshape(count, int(shape[0] * shape[1])).astype(x.dtype, copy=False)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return how many neighbourhoods there are, and how many elements they have."""
        batch, channels, rows, columns = shapes[0]
        _, size, step = node.inputs
        along = [_count(self.mode, n, size[k], step[k]) for k, n in enumerate((rows, columns))]
        return [(batch * channels * along[0] * along[1], size[0] * size[1])]

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that sizes have no gradient."""
        return [[True], [False], [False]]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return each element's share: the sum over its neighbourhoods."""
        x, size, step = inputs
        counts, places, borders = [], [], []
        for k in range(2):
            n = shape_i(x, 2 + k)
            count, before = _count(self.mode, n, size[k], step[k]), _reach(self.mode, size[k])
            where = arange(count).dimshuffle(0, "x") * step[k] + arange(size[k])
            if self.mode == "wrap_centered":
                where, before = (where - before) % n, 0
            counts.append(count)
            places.append(where)
            borders.append((before, n))
        g = reshape(output_grads[0], [shape_i(x, 0), shape_i(x, 1), *counts, size[0], size[1]], ndim=6)
        padded = alloc(np.zeros((), g.type.dtype), shape_i(x, 0), shape_i(x, 1), *(n + 2 * p for p, n in borders))
        rows, columns = places[0].dimshuffle(0, "x", 1, "x"), places[1].dimshuffle("x", 0, "x", 1)
        found = inc_subtensor(padded[:, :, rows, columns], g)
        (top, height), (left, width) = borders
        return [found[:, :, top : top + height, left : left + width], DisconnectedType()(), DisconnectedType()()]


def images2neibs(ten4: TensorLike, neib_shape: TensorLike, neib_step: Any = None, mode: str = "valid") -> Tensor:
    """Return the neighbourhoods of images, each as a row of a matrix.

    Parameters
    ----------
    ten4 : tensor of 4 dimensions
        (batch, channels, rows, columns)
    neib_shape : vector of two integers
        How many rows and columns a neighbourhood has.
    neib_step : vector of two integers, optional
        From one neighbourhood to the next; by default they are adjacent.
    mode : str
        'valid': all are in the image, and reach to its end. 'ignore_borders': the remainder at the end is not used.
        'half' and 'full': the image has zeros around it, half of ``neib_shape`` or one less than that wide.
        'wrap_centered': around each element, the image going on at its other side.

    Returns
    -------
    matrix
        Rows for each image, channel, and place by rows and columns, in this order.

    Raises
    ------
    TypeError
        While running: neighbourhoods do not fit.
    ValueError
        While running: sizes are not positive.

    Examples
    --------
    >>> import theano.tensor as T
    >>> images2neibs(T.arange(9).reshape((1, 1, 3, 3)), (2, 2), (1, 1)).eval()
    array([[0, 1, 3, 4],
           [1, 2, 4, 5],
           [3, 4, 6, 7],
           [4, 5, 7, 8]])
    """
    return Images2Neibs(mode)(ten4, neib_shape, neib_step)


def neibs2images(neibs: TensorLike, neib_shape: Any, original_shape: Any, mode: str = "valid") -> Tensor:
    """Return the images of which `images2neibs` made rows of adjacent neighbourhoods.

    Parameters
    ----------
    neibs : matrix
    neib_shape : vector of two integers
    original_shape : vector of four integers
        Of the images.
    mode : 'valid' or 'ignore_borders'
        With the second, what is not in ``neibs`` is 0.

    Returns
    -------
    tensor of 4 dimensions

    Raises
    ------
    NotImplementedError
        Another mode.

    Examples
    --------
    >>> import theano.tensor as T
    >>> neibs2images(T.constant([[0, 1, 4, 5], [2, 3, 6, 7]]), (2, 2), (1, 1, 2, 4)).eval()
    array([[[[0, 1, 2, 3],
             [4, 5, 6, 7]]]])
    """
    if mode not in ("valid", "ignore_borders"):
        raise NotImplementedError(f"neibs2images: mode must be 'valid' or 'ignore_borders', not {mode!r}")
    neibs, size, shape = (as_tensor_variable(v) for v in (neibs, neib_shape, original_shape))
    counts = [shape[2 + k] // size[k] for k in range(2)]
    pieces = reshape(neibs, [shape[0], shape[1], *counts, size[0], size[1]], ndim=6).dimshuffle(0, 1, 2, 4, 3, 5)
    if mode == "valid":
        return reshape(pieces, shape, ndim=4)
    lengths = [n * size[k] for k, n in enumerate(counts)]
    found = reshape(pieces, [shape[0], shape[1], *lengths], ndim=4)
    whole = alloc(np.zeros((), neibs.type.dtype), *(shape[d] for d in range(4)))
    return set_subtensor(whole[:, :, : lengths[0], : lengths[1]], found)
