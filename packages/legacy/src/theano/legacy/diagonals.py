"""Diagonals along two axes of a tensor: what ``theano.tensor.nnet.conv3d2d`` of older versions sums products over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import eq, maximum, switch
from theano.tensor.join.op import stack
from theano.tensor.messages import shape_error
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike, Tensors

__all__ = [
    "DiagonalSubtensor", "IncDiagonalSubtensor", "get_diagonal_subtensor_view", "local_inplace_DiagonalSubtensor",
]  # fmt: skip


def get_diagonal_subtensor_view(x: np.ndarray, i0: int, i1: int) -> np.ndarray:
    """Return a view of the diagonals that two axes span: element (t, k) along them is element (n + t - k, k) of ``x``.

    Parameters
    ----------
    x : array
    i0, i1 : int
        The axes. With ``m`` elements along ``i0`` and ``n + 1`` along ``i1``, the view has ``m - n`` along ``i0``.

    Returns
    -------
    array

    Raises
    ------
    NotImplementedError
        The first axis is the shorter one.

    Examples
    --------
    >>> get_diagonal_subtensor_view(np.arange(20).reshape(5, 4), 0, 1)
    array([[12,  9,  6,  3],
           [16, 13, 10,  7]])
    """
    if x.shape[i0] < x.shape[i1]:
        raise NotImplementedError(f"axis {i0} has {x.shape[i0]} elements, fewer than axis {i1} with {x.shape[i1]}")
    count = max(x.shape[i1] - 1, 0)
    first: list[slice] = [slice(None)] * x.ndim
    first[i0] = slice(count, None)
    strides = list(x.strides)
    strides[i1] -= strides[i0]
    part = x[tuple(first)]
    return np.lib.stride_tricks.as_strided(part, part.shape, strides)


class _Diagonals(Op):
    """The property of both: whether the result shares the memory of the first input."""

    __props__ = ("inplace",)

    def __init__(self, inplace: bool = False):
        self.inplace = bool(inplace)
        if inplace:
            self._alias()

    def _alias(self) -> None:
        raise NotImplementedError

    def __str__(self) -> str:
        return f"{type(self).__name__}{{inplace}}" if self.inplace else type(self).__name__

    def _view(self, node: TensorApply, inputs: Sequence[np.ndarray], x: np.ndarray) -> np.ndarray:
        i0, i1 = int(inputs[1]), int(inputs[2])
        if x.shape[i0] < x.shape[i1]:
            raise shape_error(
                node, inputs, f"axis {i0} has {x.shape[i0]} elements, fewer than axis {i1} with {x.shape[i1]}.",
                "The first axis must be the longer one.",
            )  # fmt: skip
        return get_diagonal_subtensor_view(x, i0, i1)


class DiagonalSubtensor(_Diagonals):
    """The diagonals that two axes of a tensor span; see `get_diagonal_subtensor_view`.

    Parameters
    ----------
    inplace : bool
        Whether the result is a view.

    Examples
    --------
    >>> import theano.tensor as T
    >>> DiagonalSubtensor()(T.arange(6).reshape((3, 2)), 0, 1).eval()
    array([[2, 1],
           [4, 3]])
    """

    def _alias(self) -> None:
        self.view_map = {0: [0]}

    def make_node(self, x: TensorLike, i0: Any, i1: TensorLike) -> Apply:
        """Return the node for a tensor and two axes."""
        x = as_tensor_variable(x)
        return Apply(self, [x, as_tensor_variable(i0), as_tensor_variable(i1)], [x.type()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Look at the elements by other strides."""
        view = self._view(node, inputs, inputs[0])
        output_storage[0][0] = view if self.inplace else view.copy()

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the lengths: only the first axis is shorter, by what the second one is longer than one."""
        _, i0, i1 = node.inputs
        lengths = shapes[0]
        shorter = maximum(stack(lengths)[i1] - 1, 0)
        return [tuple(switch(eq(i0, d), length - shorter, length) for d, length in enumerate(lengths))]

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that axes have no influence in the sense of derivatives."""
        return [[True], [False], [False]]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return zeros but for the diagonals."""
        x, i0, i1 = inputs
        return [IncDiagonalSubtensor()(x.zeros_like(), i0, i1, output_grads[0]), *_disconnected(2)]


class IncDiagonalSubtensor(_Diagonals):
    """A tensor, to whose diagonals another one is added.

    Parameters
    ----------
    inplace : bool
        Whether the tensor itself is overwritten.

    Examples
    --------
    >>> import theano.tensor as T
    >>> IncDiagonalSubtensor()(T.zeros((3, 2)), 0, 1, T.ones((2, 2))).eval()
    array([[0., 1.],
           [1., 1.],
           [1., 0.]])
    """

    shapes = "A->A"

    def _alias(self) -> None:
        self.destroy_map = {0: [0]}

    def make_node(self, x: TensorLike, i0: Any, i1: TensorLike, amt: TensorLike) -> Apply:
        """Return the node for a tensor, two axes and what is added."""
        x, amt = as_tensor_variable(x), as_tensor_variable(amt)
        return Apply(self, [x, as_tensor_variable(i0), as_tensor_variable(i1), amt], [x.type()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Add to the elements, seen by other strides."""
        x = inputs[0] if self.inplace else inputs[0].copy()
        view = self._view(node, inputs, x)
        if inputs[3].shape != view.shape:
            raise shape_error(
                node, inputs, f"what is added has shape {inputs[3].shape}, the diagonals have {view.shape}.",
                "They must be the same.",
            )  # fmt: skip
        view += inputs[3]
        output_storage[0][0] = x

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that axes have no influence in the sense of derivatives."""
        return [[True], [False], [False], [True]]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient as it is, and its diagonals."""
        _, i0, i1, _ = inputs
        return [output_grads[0], *_disconnected(2), DiagonalSubtensor()(output_grads[0], i0, i1)]


def _disconnected(count: int) -> list[Variable]:
    return [DisconnectedType()() for _ in range(count)]


def local_inplace_DiagonalSubtensor(node: Apply) -> list[Any] | bool:
    """Return what stands for a node of these two ops if it may work on its input's memory; else False.

    Examples
    --------
    >>> import theano.tensor as T
    >>> local_inplace_DiagonalSubtensor(DiagonalSubtensor()(T.matrix(), 0, 1).owner)[0].owner.op.inplace
    True
    """
    if isinstance(node.op, (DiagonalSubtensor, IncDiagonalSubtensor)) and not node.op.inplace:
        return [type(node.op)(inplace=True)(*node.inputs)]
    return False
