"""Averages, correlations, and integrals of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano.graph import Variable
from theano.scalar import complex_dtypes, discrete_dtypes
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise import functions as el
from theano.tensor.messages import axis_of
from theano.tensor.numpy_functions import cov, mean, sum
from theano.tensor.shape.diagonals import diagonal
from theano.tensor.shape.reshape import vector_along

if TYPE_CHECKING:
    from theano.tensor.annotations import Axis, TensorLike
    from theano.tensor.type import Tensor


def average(
    a: TensorLike, axis: Axis = None, weights: TensorLike | None = None, returned: bool = False,
    keepdims: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """Return the weighted average of elements.

    Parameters
    ----------
    a : tensor
        Of any shape.
    axis : int or sequence of int, optional
        All axes by default.
    weights : tensor, optional
        Of the shape of ``a``, or a vector along the one axis.
    returned : bool
        Return the sum of the weights, too.
    keepdims : bool
        Keep the axes, with length 1.

    Returns
    -------
    TensorVariable, or tuple of TensorVariable
        Without the axes; with ``returned`` also the sum of the weights.

    See Also
    --------
    mean, numpy.average

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.average(T.constant([1.0, 4.0]), weights=[3, 1]).eval()
    array(1.75)
    """
    a = as_tensor_variable(a)
    if weights is None:
        found: Tensor = mean(a, axis, keepdims=keepdims)
        total = el.cast(a.size / el.maximum(found.size, 1), found.type.dtype)
    else:
        w = as_tensor_variable(weights)
        if w.type.ndim != a.type.ndim:
            if w.type.ndim != 1 or not isinstance(axis, (int, np.integer)):
                raise TypeError(
                    f"average: weights has {w.type.ndim} dimensions, and the tensor {a.type.ndim}; give weights of its "
                    f"shape, or a vector and the axis"
                )
            at = axis_of(a, int(axis), "average")
            w = vector_along(w, at, a.type.ndim)
        dtypes = [a.type.dtype, w.type.dtype]
        dtype = np.result_type(*dtypes, *(["float64"] if a.type.dtype in discrete_dtypes else [])).name
        numbers: Tensor = el.cast(a, dtype)
        w = el.cast(w, dtype) + numbers.zeros_like()
        total = sum(w, axis, None, keepdims)
        found = sum(numbers * w, axis, None, keepdims) / total
    return (found, total + found.zeros_like()) if returned else found


def corrcoef(x: TensorLike, y: TensorLike | None = None, rowvar: bool = True) -> Tensor:
    """Return the matrix of Pearson's correlations of variables.

    Parameters
    ----------
    x : matrix or vector
        Observations; each row is a variable.
    y : matrix or vector, optional
        Further variables.
    rowvar : bool
        False: each column is a variable.

    Returns
    -------
    TensorVariable
        A symmetric matrix with ones on the diagonal; NaN for a variable that does not vary.

    See Also
    --------
    cov, numpy.corrcoef

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.corrcoef(T.constant([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])).eval()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    c: Tensor = cov(x, y, rowvar)
    if c.type.ndim == 0:
        return c / c
    spread = el.sqrt(el.real(diagonal(c)) if c.type.dtype in complex_dtypes else diagonal(c))
    c = c / spread.dimshuffle(0, "x") / spread.dimshuffle("x", 0)
    if c.type.dtype in complex_dtypes:
        return el.complex(el.clip(el.real(c), -1.0, 1.0), el.clip(el.imag(c), -1.0, 1.0))
    return el.clip(c, -1.0, 1.0)


def trapezoid(y: TensorLike, x: TensorLike | None = None, dx: TensorLike = 1.0, axis: int = -1) -> Tensor:
    """Return the integral of samples by the trapezoidal rule.

    Parameters
    ----------
    y : tensor
        The samples.
    x : tensor, optional
        Where they are: a vector, or of the shape of ``y``.
    dx : number
        The distance between samples, where ``x`` is not given.
    axis : int
        Along which samples follow each other.

    Returns
    -------
    TensorVariable
        Without the axis.

    See Also
    --------
    sum, cumsum, numpy.trapezoid

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.trapezoid(T.constant([1.0, 2.0, 3.0])).eval()
    array(4.)
    """
    y = as_tensor_variable(y)
    axis = axis_of(y, axis, "trapezoid")
    before = tuple([slice(None)] * axis + [slice(None, -1)])
    after = tuple([slice(None)] * axis + [slice(1, None)])
    if x is not None:
        at = as_tensor_variable(x)
        if at.type.ndim == 1:
            at = vector_along(at, axis, y.type.ndim)
        dx = at[after] - at[before]
    elif not isinstance(dx, Variable):
        dx = np.asarray(dx, _fractions(y))
    area = dx * (y[after] + y[before])
    return sum(area / np.asarray(2.0, _fractions(area)), axis)


def _fractions(v: Tensor) -> str:
    """Return the dtype of a tensor's products with fractions of Python's."""
    return "float64" if v.type.dtype in discrete_dtypes else v.type.dtype
