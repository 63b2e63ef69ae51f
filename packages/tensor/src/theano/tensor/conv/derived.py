"""Convolutions made of others: transposed, separable, causal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.tensor.conv.functions import conv2d, conv2d_grad_wrt_inputs, conv3d
from theano.tensor.conv.geometry import normal_steps
from theano.tensor.convert import as_tensor_variable

if TYPE_CHECKING:
    from theano.tensor.annotations import Border, TensorLike
    from theano.tensor.type import Tensor


def conv2d_transpose(
    input: TensorLike, filters: TensorLike, output_shape: Any, filter_shape: Any = None, border_mode: Border = "valid",
    input_dilation: Sequence[int] = (1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1),
    num_groups: int = 1, unshared: bool = False,
) -> Tensor:  # fmt: skip
    """Return a transposed convolution: the map that `conv2d` has as its gradient.

    Parameters
    ----------
    input : tensor of 4 dimensions
        Of shape (batch, channels, rows, columns).
    filters : tensor of 4 dimensions
        Of shape (channels of the input, channels of the output, rows, columns).
    output_shape : tuple of 4 ints
        Of the result; int scalars for what is symbolic. The last two may not be None.
    filter_shape : tuple of int or None, optional
        The known lengths of the filters' shape.
    border_mode : str, int or tuple
        As for :func:`conv2d`.
    input_dilation : tuple of two integers
        The step from one element of the input to the next in the output: ``subsample`` of the convolution.
    filter_flip : bool, optional
        As for :func:`conv2d`.
    filter_dilation : int or tuple of int, optional
        As for :func:`conv2d`.
    num_groups : int, optional
        As for :func:`conv2d`.
    unshared : bool, optional
        As for :func:`conv2d`.

    Returns
    -------
    TensorVariable
        Of ``output_shape``.

    See Also
    --------
    nnet.conv2d, nnet.conv2d_grad_wrt_inputs

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, w = T.ones((1, 1, 2, 2)), T.ones((1, 1, 2, 2))
    >>> conv2d_transpose(x, w, (1, 1, 4, 4), input_dilation=(2, 2)).eval().sum()
    np.float64(16.0)
    """
    return conv2d_grad_wrt_inputs(
        input, filters, output_shape, filter_shape, border_mode, input_dilation, filter_flip, filter_dilation,
        num_groups, unshared,
    )  # fmt: skip


def separable_conv2d(
    input: TensorLike, depthwise_filters: TensorLike, pointwise_filters: TensorLike, num_channels: int,
    input_shape: Any = None, depthwise_filter_shape: Any = None, pointwise_filter_shape: Any = None,
    border_mode: Border = "valid", subsample: Any = (1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1),
) -> Tensor:  # fmt: skip
    """Return a convolution of each channel by itself, and then one of single pixels over all channels.

    Parameters
    ----------
    input : tensor of 4 dimensions
        Of shape (batch, channels, rows, columns).
    depthwise_filters : tensor of 4 dimensions
        Of shape (channels times multiplier, 1, rows, columns).
    pointwise_filters : tensor of 4 dimensions
        Of shape (filters, channels times multiplier, 1, 1).
    num_channels : int
        Of the input.
    input_shape, depthwise_filter_shape, pointwise_filter_shape : tuple, optional
        The known lengths of the shapes.
    border_mode : str, int or tuple
        As for :func:`conv2d`.
    subsample : int or tuple of int, optional
        As for :func:`conv2d`.
    filter_flip : bool, optional
        As for :func:`conv2d`.
    filter_dilation : int or tuple of int, optional
        As for :func:`conv2d`.

    Returns
    -------
    TensorVariable
        Of shape (batch, filters, rows, columns).

    See Also
    --------
    nnet.conv2d

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, deep, point = T.ones((1, 2, 3, 3)), T.ones((2, 1, 2, 2)), T.ones((1, 2, 1, 1))
    >>> separable_conv2d(x, deep, point, num_channels=2).eval().ravel()
    array([8., 8., 8., 8.])
    """
    return _separable(2, conv2d, input, depthwise_filters, pointwise_filters, num_channels,
                      (input_shape, depthwise_filter_shape, pointwise_filter_shape),
                      (border_mode, subsample, filter_flip, filter_dilation))  # fmt: skip


def separable_conv3d(
    input: Tensor, depthwise_filters: Tensor, pointwise_filters: Tensor, num_channels: int, input_shape: Any = None,
    depthwise_filter_shape: Any = None, pointwise_filter_shape: Any = None, border_mode: Any = "valid",
    subsample: Any = (1, 1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1, 1),
) -> Tensor:  # fmt: skip
    """Return a convolution of each channel of volumes by itself, and then one of single voxels; see `separable_conv2d`.

    Parameters
    ----------
    input : tensor of 5 dimensions
        Of shape (batch, channels, depth, rows, columns).
    depthwise_filters : tensor
        Of shape (channels times multiplier, 1, ...).
    pointwise_filters : tensor
        Of shape (filters, channels times multiplier, 1, ...).
    num_channels : int
        Of the input.
    input_shape : tuple, optional
        The known lengths of the input's shape.
    depthwise_filter_shape : tuple, optional
        The known lengths of the filters' shape.
    pointwise_filter_shape : tuple, optional
        The known lengths of the filters' shape.
    border_mode : str, int or tuple
        As for :func:`conv3d`.
    subsample : int or tuple of int, optional
        As for :func:`conv3d`.
    filter_flip : bool, optional
        As for :func:`conv3d`.
    filter_dilation : int or tuple of int, optional
        As for :func:`conv3d`.

    Returns
    -------
    TensorVariable
        Of shape (batch, filters, depth, rows, columns).

    See Also
    --------
    nnet.conv3d, nnet.separable_conv2d

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, deep, point = T.ones((1, 2, 1, 2, 2)), T.ones((2, 1, 1, 2, 2)), T.ones((1, 2, 1, 1, 1))
    >>> separable_conv3d(x, deep, point, num_channels=2).eval().ravel()
    array([8.])
    """
    return _separable(3, conv3d, input, depthwise_filters, pointwise_filters, num_channels,
                      (input_shape, depthwise_filter_shape, pointwise_filter_shape),
                      (border_mode, subsample, filter_flip, filter_dilation))  # fmt: skip


def _separable(
    ndim: int, conv: Any, input: Any, depthwise: Any, pointwise: Any, num_channels: int, shapes: Any, options: Any
) -> Any:
    pointwise, one = as_tensor_variable(pointwise), (1,) * ndim
    known = (
        shapes[2][-ndim:] if shapes[2] is not None else [1 if b else None for b in pointwise.type.broadcastable[-ndim:]]
    )
    if any(n not in (1, None) for n in known):
        raise ValueError(
            f"separable_conv{ndim}d: the pointwise filters must be 1 long along rows and columns, not {tuple(known)}"
        )
    border_mode, subsample, flip, dilation = options
    between = conv(input, depthwise, shapes[0], shapes[1], border_mode, subsample, flip, dilation, num_channels)
    return conv(between, pointwise, None, shapes[2], "valid", one, flip, one, 1)


def causal_conv1d(
    input: TensorLike, filters: TensorLike, filter_shape: Any, input_shape: Any = None, subsample: int = 1,
    filter_flip: bool = True, filter_dilation: int = 1, num_groups: int = 1, unshared: bool = False,
) -> Tensor:  # fmt: skip
    """Return the convolution of a batch of sequences with filters that see no later element than that of their place.

    Parameters
    ----------
    input : tensor of 3 dimensions
        Of shape (batch, channels, length).
    filters : tensor of 3 dimensions
        Of shape (filters, channels, length).
    filter_shape : tuple of int or None, optional
        The last is needed: as many zeros, less one and dilated, are put before each sequence.
    input_shape : tuple of int or None, optional
        The known lengths of the input's shape.
    subsample : int
        As for :func:`conv2d`.
    filter_flip : bool, optional
        As for :func:`conv2d`.
    filter_dilation : int
        As for :func:`conv2d`.
    num_groups : int, optional
        As for :func:`conv2d`.
    unshared : bool, optional
        As for :func:`conv2d`.

    Returns
    -------
    tensor of 3 dimensions
        (batch, filters, places)

    See Also
    --------
    nnet.conv2d

    Examples
    --------
    >>> import theano.tensor as T
    >>> causal_conv1d(T.ones((1, 1, 4)), T.ones((1, 1, 2)), (1, 1, 2)).eval().ravel()
    array([1., 2., 2., 2.])
    """
    input, filters = as_tensor_variable(input), as_tensor_variable(filters)
    if not all(isinstance(n, (int, np.integer)) for n in (subsample, filter_dilation)):
        raise ValueError(
            f"causal_conv1d: subsample and filter_dilation are integers, not {subsample} and {filter_dilation}"
        )
    normal_steps((subsample, filter_dilation), 2, "subsample and filter_dilation")
    if filter_shape is None or filter_shape[-1] is None:
        raise ValueError("causal_conv1d: the last entry of filter_shape is needed: padding depends on it")
    left = (int(filter_shape[-1]) - 1) * filter_dilation
    if unshared:
        wide = filters.dimshuffle(0, "x", 1, 2, "x", 3)
    else:
        wide = filters.dimshuffle(0, 1, "x", 2)
    return conv2d(
        input.dimshuffle(0, 1, "x", 2), wide, _with_row(input_shape), None if unshared else _with_row(filter_shape),
        ((0, 0), (left, 0)), (1, subsample), filter_flip, (1, filter_dilation), num_groups, unshared,
    )[:, :, 0, :]  # fmt: skip


def _with_row(shape: Any) -> Any:
    return None if shape is None else (shape[0], shape[1], 1, shape[2])
