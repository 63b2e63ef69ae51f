"""Functions of parts that are read or written: differences, masks, one-hot rows, diagonals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.tensor.control.checks import Assert
from theano.tensor.convert import (
    as_tensor_variable,
    constant,
)
from theano.tensor.create.alloc import zeros
from theano.tensor.create.arange import arange
from theano.tensor.elemwise.functions import cast, eq, ge, minimum, switch, xor
from theano.tensor.index.functions import flatnonzero, getitem, set_subtensor
from theano.tensor.messages import axis_of
from theano.tensor.reduce.functions import all as all_of
from theano.tensor.shape.basic import patternbroadcast

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def diff(x: Any, n: int = 1, axis: int = -1) -> Tensor:
    """Return the differences of neighbours along an axis, ``n`` times over; of bool whether they differ.

    Parameters
    ----------
    x : tensor
        Of any shape.
    n : int, optional
        How many times.
    axis : int, optional
        Along which axis.

    Returns
    -------
    TensorVariable
        Shorter by ``n`` along the axis.

    See Also
    --------
    cumsum, numpy.diff

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.diff(T.constant([1, 4, 9, 16])).eval()
    array([3, 5, 7])
    """
    x = as_tensor_variable(x)
    if n < 0:
        raise ValueError(f"diff: n is {n}; differences are taken 0 times or more")
    before = (slice(None),) * axis_of(x, axis, "diff")
    for _ in range(n):
        later, sooner = getitem(x, (*before, slice(1, None))), getitem(x, (*before, slice(None, -1)))
        x = xor(later, sooner) if x.type.dtype == "bool" else later - sooner
    return x


def compress(condition: TensorLike, x: TensorLike, axis: int | None = None) -> Tensor:
    """Return the slices of ``x`` along an axis (of the flat tensor for None) for which ``condition`` is true.

    Parameters
    ----------
    condition : vector
        Which slices; those past its end are left out.
    x : tensor
        Of any shape.
    axis : int or None, optional
        Along which axis; None for the flat tensor.

    Returns
    -------
    TensorVariable
        Shorter along the axis.

    See Also
    --------
    take, nonzero, numpy.compress

    Examples
    --------
    >>> import theano.tensor as T
    >>> compress([True, False, True], T.constant([[1, 2], [3, 4], [5, 6]]), axis=0).eval()
    array([[1, 2],
           [5, 6]])
    """
    places = flatnonzero(condition)
    x = as_tensor_variable(x)
    if axis is None:
        return getitem(x.flatten(), places)
    return getitem(x, (slice(None),) * axis_of(x, axis, "compress") + (places,))


def to_one_hot(y: Any, nb_class: int, dtype: str | None = None) -> Tensor:
    """Return a matrix with a row for each class in ``y``: 1 in its column, 0 elsewhere.

    Parameters
    ----------
    y : vector of tensor of int
        From 0 to ``nb_class - 1``.
    nb_class : int
        The number of columns.
    dtype : str, optional
        Of the result; floatX by default.

    Returns
    -------
    TensorVariable
        Of shape (len(y), nb_class).

    Raises
    ------
    IndexError
        While running: a class is too large.
    AssertionError
        While running: a class is negative. It would count from the end, and put the 1 into a wrong column.

    See Also
    --------
    eye, nnet.categorical_crossentropy

    Examples
    --------
    >>> to_one_hot(np.array([0, 2]), 3).eval().astype("int8")
    array([[1, 0, 0],
           [0, 0, 1]], dtype=int8)
    """
    y = as_tensor_variable(y)
    if y.type.ndim != 1 or y.type.dtype not in scal.integer_dtypes:
        raise ArgumentError(f"to_one_hot needs a vector of whole numbers, not {y} of type {y.type}")
    if y.type.dtype in scal.int_dtypes:
        y = Assert("to_one_hot: a class is negative; classes are counted from 0")(y, all_of(ge(y, 0)))
    rows = zeros((y.shape[0], nb_class), dtype=dtype)
    return set_subtensor(getitem(rows, (arange(y.shape[0]), y)), constant(np.array(1, dtype=rows.type.dtype)))


def fill_diagonal(a: TensorLike, val: TensorLike) -> Tensor:
    """Return a tensor with its diagonal, where all indexes are equal, set to a number.

    Parameters
    ----------
    a : tensor of 2 dimensions or more
        Of more than 2, all must be equally long.
    val : number
        Of the dtype of ``a``, or of one that fits in it.

    Returns
    -------
    TensorVariable
        Of the shape and dtype of ``a``, which stays as it is.

    Raises
    ------
    TypeError
        ``a`` has less than 2 dimensions, or ``val`` is no number, or one that does not fit in the dtype of ``a``.
    AssertionError
        When the function is called: the lengths of more than 2 dimensions differ.

    See Also
    --------
    fill_diagonal_offset, set_subtensor, diag, numpy.fill_diagonal

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> theano.function([x], fill_diagonal(x, 9))([[1, 2, 3], [4, 5, 6]])
    array([[9., 2., 3.],
           [4., 9., 6.]])
    """
    a = as_tensor_variable(a)
    if a.type.ndim < 2:
        raise TypeError(f"fill_diagonal needs 2 dimensions or more, but {a} has {a.type.ndim}")
    count = a.shape[0]
    if a.type.ndim == 2:
        count = minimum(count, a.shape[1])
    else:
        equal = [eq(count, a.shape[i]) for i in range(1, a.type.ndim)]
        count = Assert("fill_diagonal: a tensor of more than 2 dimensions must have equal lengths")(count, *equal)
    places = arange(count)
    return set_subtensor(getitem(a, (places,) * a.type.ndim), _on_diagonal("fill_diagonal", a, val))


def fill_diagonal_offset(a: TensorLike, val: TensorLike, offset: TensorLike) -> Tensor:
    """Return a matrix with one of its diagonals set to a number.

    Parameters
    ----------
    a : matrix
        The matrix.
    val : number
        Of the dtype of ``a``, or of one that fits in it.
    offset : whole number
        How many places to the right of the main diagonal; negative: below it.

    Returns
    -------
    TensorVariable
        Of the shape and dtype of ``a``, which stays as it is.

    Raises
    ------
    TypeError
        ``a`` is no matrix, ``offset`` no whole number, or ``val`` does not fit in the dtype of ``a``.

    See Also
    --------
    fill_diagonal

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> theano.function([x], fill_diagonal_offset(x, 9, 1))([[1, 2, 3], [4, 5, 6]])
    array([[1., 9., 3.],
           [4., 5., 9.]])
    """
    a, offset = as_tensor_variable(a), as_tensor_variable(offset)
    if a.type.ndim != 2:
        raise TypeError(f"fill_diagonal_offset needs a matrix, but {a} has {a.type.ndim} dimensions")
    if offset.type.ndim or offset.type.dtype not in scal.integer_dtypes:
        raise TypeError(f"fill_diagonal_offset: the offset is one whole number, not {offset} of type {offset.type}")
    rows = arange(a.shape[0]).dimshuffle(0, "x")
    columns = arange(a.shape[1]).dimshuffle("x", 0)
    value = _on_diagonal("fill_diagonal_offset", a, val)
    return patternbroadcast(switch(eq(columns - rows, cast(offset, "int64")), value, a), a.type.broadcastable)


def _on_diagonal(what: str, a: Tensor, val: TensorLike) -> Tensor:
    val = as_tensor_variable(val)
    if val.type.ndim:
        raise TypeError(f"{what} puts one number on the diagonal, but {val} has {val.type.ndim} dimensions")
    if scal.upcast(a.type.dtype, val.type.dtype) != a.type.dtype:
        raise TypeError(f"{what}: values of dtype {val.type.dtype} do not fit in {a} of dtype {a.type.dtype}")
    return cast(val, a.type.dtype)
