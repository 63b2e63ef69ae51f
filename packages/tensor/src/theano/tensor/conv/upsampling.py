"""Bilinear upsampling: a transposed convolution with a triangle, whose images repeat their last elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import TYPE_CHECKING

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.graph import Constant
from theano.settings import config
from theano.tensor.conv.derived import conv2d_transpose
from theano.tensor.convert import as_tensor_variable, whole_number
from theano.tensor.create.arange import arange
from theano.tensor.elemwise.functions import cast
from theano.tensor.join.op import concatenate

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def bilinear_kernel_1D(ratio: TensorLike, normalize: bool = True) -> Tensor:
    """Return the triangle that interpolates between elements ``ratio`` apart.

    Parameters
    ----------
    ratio : int or symbolic integer
    normalize : bool
        Whether the highest element is 1, not ``ratio``.

    Returns
    -------
    vector of ``2 ratio - 1`` elements, of floatX

    Examples
    --------
    >>> bilinear_kernel_1D(2).eval()
    array([0.5, 1. , 0.5])
    """
    ratio = as_tensor_variable(ratio)
    rising = cast(arange(1, ratio + 1), str(config.floatX))
    triangle = concatenate([rising, rising[:-1][::-1]])
    return triangle / cast(ratio, str(config.floatX)) if normalize else triangle


def bilinear_kernel_2D(ratio: int | Sequence[int], normalize: bool = True) -> Tensor:
    """Return the pyramid that interpolates between pixels.

    Parameters
    ----------
    ratio : int, symbolic integer, or pair of them
        How far apart they are along rows and columns.
    normalize : bool
        Whether the highest element is 1.

    Examples
    --------
    >>> bilinear_kernel_2D((1, 2)).eval()
    array([[0.5, 1. , 0.5]])
    """
    rows, columns = ratio if isinstance(ratio, tuple) else (ratio, ratio)
    first, second = bilinear_kernel_1D(rows, normalize), bilinear_kernel_1D(columns, normalize)
    return first.dimshuffle(0, "x") * second.dimshuffle("x", 0)


def _along_rows(x: Tensor, up: int, step: int) -> Tensor:
    """Return images of one channel, (n, 1, rows, columns), upsampled along rows, every ``step``-th row of it."""
    n, rows, columns = x.shape[0], x.shape[2], x.shape[3]
    wide = concatenate([x[:, :, :1, :], x, x[:, :, -1:, :]], axis=2)
    kernel = bilinear_kernel_1D(up).dimshuffle("x", "x", 0, "x")
    length = (rows + 1) * up + 2 * up - 1
    steps = (int(up), 1)
    full = conv2d_transpose(wide, kernel, (n, 1, length, columns), input_dilation=steps)
    first = up + up // 2
    return full[:, :, first : first + rows * up : step, :]


def _upsampled(input: TensorLike, rows: tuple[int, int], columns: tuple[int, int]) -> Tensor:
    x = as_tensor_variable(input)
    if x.type.ndim != 4:
        raise ArgumentError(
            f"upsampling takes a tensor of 4 dimensions, (batch, channels, rows, columns), not of {x.type.ndim}"
        )
    if x.type.dtype in scal.discrete_dtypes:
        x = cast(x, scal.upcast(x.type.dtype, config.floatX))  # the weights are fractions
    one = x.reshape((x.shape[0] * x.shape[1], 1, x.shape[2], x.shape[3]), ndim=4)
    one = _along_rows(one, *rows)
    one = _along_rows(one.dimshuffle(0, 1, 3, 2), *columns).dimshuffle(0, 1, 3, 2)
    return one.reshape((x.shape[0], x.shape[1], one.shape[2], one.shape[3]), ndim=4)


def frac_bilinear_upsampling(input: TensorLike, frac_ratio: object) -> Tensor:
    """Return images upsampled by a fraction.

    Parameters
    ----------
    input : tensor of 4 dimensions
        Of shape (batch, channels, rows, columns).
    frac_ratio : pair of int, or pair of pairs
        Numerator and denominator; of rows and of columns, if they differ.

    Returns
    -------
    TensorVariable
        Of shape (batch, channels, rows, columns).

    Raises
    ------
    ValueError
        ``frac_ratio`` is no tuple.

    See Also
    --------
    nnet.bilinear_upsampling

    Examples
    --------
    >>> import theano.tensor as T
    >>> frac_bilinear_upsampling(T.ones((1, 1, 2, 4)), (3, 2)).eval().shape
    (1, 1, 3, 6)
    """
    if not isinstance(frac_ratio, tuple) or len(frac_ratio) != 2:
        raise ValueError(f"frac_ratio must be a tuple, (numerator, denominator) or two such, not {frac_ratio!r}")
    both = frac_ratio if isinstance(frac_ratio[0], tuple) else (frac_ratio, frac_ratio)
    rows, columns = ((p // gcd(p, q), q // gcd(p, q)) for p, q in both)
    return _upsampled(input, rows, columns)


def bilinear_upsampling(
    input: TensorLike, ratio: int | None = None, frac_ratio: object = None, batch_size: int | None = None,
    num_input_channels: int | None = None, use_1D_kernel: bool = True,
) -> Tensor:  # fmt: skip
    """Return images upsampled by bilinear interpolation.

    Parameters
    ----------
    input : tensor of 4 dimensions
        Of shape (batch, channels, rows, columns).
    ratio : int, optional
        How many times as many rows and columns the result has.
    frac_ratio : pair of int, or pair of pairs, optional
        A fraction in its place; see `frac_bilinear_upsampling`.
    batch_size : int, optional
        Without effect.
    num_input_channels : int, optional
        Without effect.
    use_1D_kernel : bool, optional
        Without effect on the result.

    Returns
    -------
    TensorVariable
        Of shape (batch, channels, rows, columns).

    Raises
    ------
    ValueError
        Neither of ``ratio`` and ``frac_ratio`` is given, or both are.

    See Also
    --------
    nnet.frac_bilinear_upsampling

    Examples
    --------
    >>> import numpy as np, theano.tensor as T
    >>> bilinear_upsampling(T.constant(np.array([[[[0.0, 4.0]]]])), ratio=2).eval()
    array([[[[0., 2., 4., 4.],
             [0., 2., 4., 4.]]]])
    """
    if (ratio is None) == (frac_ratio is None):
        raise ValueError("bilinear_upsampling takes either ratio or frac_ratio")
    if frac_ratio is not None:
        return frac_bilinear_upsampling(input, frac_ratio)
    number = whole_number(ratio.data if isinstance(ratio, Constant) else ratio)
    if number is None:
        raise TypeError(
            "bilinear_upsampling: ratio must be known when the graph is made: a step of a convolution depends on it"
        )
    return _upsampled(input, (number, 1), (number, 1))
