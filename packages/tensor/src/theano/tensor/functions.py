"""Functions made of other functions: a few lines each."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.settings import config
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.alloc import alloc
from theano.tensor.create.arange import arange
from theano.tensor.elemwise.functions import (
    abs_,
    cast,
    eq,
    int_div,
    isinf_,
    isnan_,
    le,
    maximum,
    mod,
    neq,
    pow,
    round_half_away_from_zero,
    round_half_to_even,
    switch,
    true_div,
)
from theano.tensor.index.functions import getitem
from theano.tensor.join.op import join, stack
from theano.tensor.reduce.functions import all as all_of
from theano.tensor.shape.basic import patternbroadcast
from theano.tensor.shape.reshape import vector_along

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def of_one_truth(a: Tensor, value: bool) -> Tensor:
    """Return a truth value for each element, in a form that depends on the shape only."""
    return alloc(np.asarray(value), *[a.shape[i] for i in range(a.type.ndim)])


def isnan(a: TensorLike) -> Tensor:
    """Return where ``a`` is not a number.

    Parameters
    ----------
    a : tensor
        Of any shape.

    Returns
    -------
    TensorVariable
        Bool, of the shape of ``a``; false of integers.

    See Also
    --------
    isinf, isfinite, numpy.isnan

    Examples
    --------
    >>> import theano.tensor as T
    >>> isnan(T.dvector("x")).type, isnan(T.ivector("i")).type
    (TensorType(bool, vector), TensorType(bool, vector))
    """
    a = as_tensor_variable(a)
    return of_one_truth(a, False) if a.type.dtype in scal.discrete_dtypes else isnan_(a)


def isinf(a: TensorLike) -> Tensor:
    """Return where ``a`` is plus or minus infinity.

    Parameters
    ----------
    a : tensor
        Of any shape.

    Returns
    -------
    TensorVariable
        Bool, of the shape of ``a``; false of integers.

    See Also
    --------
    isnan, isfinite, numpy.isinf

    Examples
    --------
    >>> import theano.tensor as T
    >>> isinf(T.constant([1.0, float("inf")])).eval()
    array([False,  True])
    """
    a = as_tensor_variable(a)
    return of_one_truth(a, False) if a.type.dtype in scal.discrete_dtypes else isinf_(a)


def round(a: TensorLike, mode: str | None = None) -> Tensor:
    """Return ``a`` rounded to whole numbers.

    Parameters
    ----------
    a : tensor
        Of any shape.
    mode : "half_to_even" or "half_away_from_zero"
        What to do half way between two; "half_to_even" by default, as NumPy does.

    Returns
    -------
    TensorVariable
        Of the shape of ``a``; its derivative is 0.

    See Also
    --------
    iround, floor, ceil, trunc, numpy.round

    Examples
    --------
    >>> import theano.tensor as T
    >>> round(T.constant([0.5, 1.5])).eval()
    array([0., 2.])
    >>> round(T.constant([0.5, 1.5]), mode="half_away_from_zero").eval()
    array([1., 2.])
    """
    if mode is None or mode == "half_to_even":
        return round_half_to_even(a)
    if mode == "half_away_from_zero":
        return round_half_away_from_zero(a)
    raise ValueError(f"round: mode is {mode!r}; it must be 'half_to_even' or 'half_away_from_zero'")


def iround(a: TensorLike, mode: str | None = None) -> Tensor:
    """Return ``a`` rounded to whole numbers, as int64.

    Parameters
    ----------
    a : tensor
        Of any shape.
    mode : str, optional
        As for :func:`round`.

    Returns
    -------
    TensorVariable
        Of int64, of the shape of ``a``.

    See Also
    --------
    round

    Examples
    --------
    >>> import theano.tensor as T
    >>> iround(T.constant([0.5, 1.6])).eval()
    array([0, 2])
    """
    return cast(round(a, mode), "int64")


def divmod(x: TensorLike, y: int) -> tuple[Tensor, Tensor]:
    """Return the whole quotient and the remainder.

    Parameters
    ----------
    x : tensor
        What is divided.
    y : tensor
        By what; both broadcast against each other.

    Returns
    -------
    tuple of TensorVariable
        ``x // y`` and ``x % y``.

    See Also
    --------
    int_div, mod, numpy.divmod

    Examples
    --------
    >>> import theano.tensor as T
    >>> quotient, rest = divmod(T.constant([7, -7]), 3)
    >>> quotient.eval(), rest.eval()
    (array([ 2, -3]), array([1, 2]))
    """
    rest = mod_check(x, y)
    return int_div(x, y), rest


def mod_check(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the remainder; complex numbers have none.

    Parameters
    ----------
    x, y : tensor
        They broadcast.

    Returns
    -------
    TensorVariable
        Element by element.

    Examples
    --------
    >>> import theano.tensor as T
    >>> mod_check(T.constant([7, -7]), 3).eval()
    array([1, 2])
    """
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if x.type.dtype in scal.complex_dtypes or y.type.dtype in scal.complex_dtypes:
        raise scal.ComplexError("complex numbers have no remainder")
    return mod(x, y)


def div_proxy(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the quotient, rounded down where both are whole numbers (as the flag ``int_division`` says).

    Parameters
    ----------
    x, y : tensor
        They broadcast.

    Returns
    -------
    TensorVariable
        Element by element.

    Examples
    --------
    >>> import theano.tensor as T
    >>> div_proxy(T.constant([6, 7]), 2).eval()
    array([3, 3])
    """
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    whole = x.type.dtype in scal.discrete_dtypes and y.type.dtype in scal.discrete_dtypes
    if whole and config.int_division == "raise":
        raise scal.IntegerDivisionError(
            f"{x} / {y} divides whole numbers: write x // y to round down, or cast one of them to a float"
        )
    return int_div(x, y) if whole and config.int_division == "int" else true_div(x, y)


def power(x: TensorLike, y: int) -> Tensor:
    """Return ``x ** y``.

    Parameters
    ----------
    x : tensor
        The bases.
    y : tensor
        The exponents; both broadcast against each other.

    Returns
    -------
    TensorVariable
        Of the common shape; the derivative by ``x`` is ``y * x**(y - 1)``.

    See Also
    --------
    pow, sqr, sqrt, numpy.power

    Examples
    --------
    >>> import theano.tensor as T
    >>> power(T.constant([2, 3]), 2).eval()
    array([4, 9])
    """
    return pow(x, y)


def ceil_intdiv(a: TensorLike, b: TensorLike) -> Tensor:
    """Return the quotient of whole numbers, rounded up, without a float in between.

    Parameters
    ----------
    a : tensor of int
        What is divided.
    b : tensor of int
        By what.

    Returns
    -------
    TensorVariable
        Integers, of the common shape.

    See Also
    --------
    int_div

    Examples
    --------
    >>> import theano.tensor as T
    >>> ceil_intdiv(T.constant([6, 7]), 3).eval()
    array([2, 3])
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    rest, quotient = mod_check(a, b), int_div(a, b)
    return quotient + cast(neq(rest, 0), quotient.type.dtype)


def isclose(a: TensorLike, b: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Return where two tensors are the same within a tolerance: ``|a - b| <= atol + rtol * |b|``.

    Parameters
    ----------
    a, b : tensor
        What is compared; they broadcast against each other.
    rtol, atol : float
        The tolerances: relative to ``|b|``, and added.
    equal_nan : bool
        Whether NaN is close to NaN.

    Returns
    -------
    TensorVariable
        Bool, of the common shape.

    See Also
    --------
    allclose, numpy.isclose

    Examples
    --------
    >>> import theano.tensor as T
    >>> isclose(T.dvector("a"), T.dvector("b")).type
    TensorType(bool, vector)
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    whole = a.type.dtype in scal.discrete_dtypes and b.type.dtype in scal.discrete_dtypes
    if b.type.dtype in scal.discrete_dtypes:
        b = cast(b, "float64")  # differences of unsigned numbers would wrap
    close = le(abs_(a - b), atol + rtol * abs_(b))
    if whole:
        return close
    infinite = isinf(a) | isinf(b)
    # Infinities are close to themselves only; their difference says nothing.
    close = (close & ~infinite) | (infinite & eq(a, b))
    nan = isnan(a) & isnan(b)
    return close | nan if equal_nan else close


def allclose(a: TensorLike, b: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Return whether two tensors are the same within a tolerance; see :func:`isclose`.

    Parameters
    ----------
    a : tensor
        What is compared.
    b : tensor
        What it is compared with.
    rtol : float, optional
        Tolerance relative to ``|b|``.
    atol : float, optional
        Tolerance that is added.
    equal_nan : bool, optional
        Whether NaN is close to NaN.

    Returns
    -------
    TensorVariable
        A bool without dimensions; true of empty tensors.

    See Also
    --------
    isclose, all, numpy.allclose

    Examples
    --------
    >>> import theano.tensor as T
    >>> allclose(T.constant([1.0, 2.0]), T.constant([1.0, 2.0 + 1e-9])).eval()
    array(True)
    """
    return all_of(isclose(a, b, rtol, atol, equal_nan))


def choose(a: TensorLike, choices: TensorLike, out: None = None, mode: str = "raise") -> Tensor:
    """Return for each element of ``a`` the element of the tensor among ``choices`` that it names.

    Parameters
    ----------
    a : tensor of int
        The number of a choice for each element.
    choices : tensor, or sequence of tensors that broadcast against each other and ``a``
        What is chosen from.
    out : None
        Accepted for programs that write it.
    mode : "raise", "wrap" or "clip"
        What to do about numbers that name no choice: an error at run time, or take them modulo the number of choices,
        or the first or last choice for them.

    Returns
    -------
    TensorVariable
        Of the common shape of ``a`` and the choices.

    See Also
    --------
    switch, take, numpy.choose

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> i, x, y = T.lvector("i"), T.dvector("x"), T.dvector("y")
    >>> theano.function([i, x, y], choose(i, [x, y]))([0, 1, 0], [1, 2, 3], [4, 5, 6])
    array([1., 5., 3.])
    """
    if out is not None:
        raise NotImplementedError("choose: the result goes into a new variable; out must be None")
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"choose: mode is {mode!r}; it must be 'raise', 'wrap' or 'clip'")
    a = as_tensor_variable(a)
    if a.type.dtype not in scal.discrete_dtypes:
        raise TypeError(f"choose: what chooses must be whole numbers, not {a} of dtype {a.type.dtype}")
    table = table_of_choices(a, choices)
    index = cast(a, "int64") + cast(table[0].zeros_like(), "int64")
    count = table.shape[0]
    if mode == "wrap":
        index = mod(index, count)
    elif mode == "clip":
        index = switch(index < 0, np.int64(0), switch(index >= count, count - 1, index))
    else:
        index = switch(index < 0, count, index)  # a negative index is out of bounds
    n = index.type.ndim
    grids = [vector_along(arange(index.shape[i]), i, n) for i in range(n)]
    return patternbroadcast(getitem(_as_wide_as(table, index), (index, *grids)), index.type.broadcastable)


def table_of_choices(a: Tensor, choices: TensorLike) -> Tensor:
    """Return choices as one tensor, the first dimension of which goes through them."""
    if not isinstance(choices, (list, tuple)):
        table = as_tensor_variable(choices)
        if table.type.ndim == 0:
            raise ArgumentError(f"choose: there must be several choices, but {table} is one number")
        return table
    if not choices:
        raise ValueError("choose: the list of choices is empty")
    options = [as_tensor_variable(c) for c in choices]
    nothing: Any = cast(a.zeros_like(), "int64")
    for c in options:
        nothing = nothing + cast(c.zeros_like(), "int64")
    return stack([c + cast(nothing, c.type.dtype) for c in options])


def _as_wide_as(table: Tensor, index: Tensor) -> Tensor:
    """Return a table whose choices are stretched to the shape of what chooses."""
    missing = index.type.ndim - (table.type.ndim - 1)
    wide = table.dimshuffle(0, *["x"] * missing, *range(1, table.type.ndim)) if missing else table
    return wide + cast(index.zeros_like(), table.type.dtype).dimshuffle("x", *range(index.type.ndim))


def cov(
    m: TensorLike, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
    fweights: object = None, aweights: object = None,
) -> Tensor:  # fmt: skip
    """Return the covariance matrix of variables.

    Parameters
    ----------
    m : matrix or vector
        Observations; each row is a variable.
    y : matrix or vector, optional
        Further variables.
    rowvar : bool
        False: each column is a variable.
    bias : bool
        Divide by the number of observations, not by one less.
    ddof : int, optional
        Divide by the number of observations less this.
    fweights, aweights : None
        Not implemented, as documented.

    Returns
    -------
    TensorVariable
        A symmetric matrix with a row and a column for each variable; without dimensions for one variable.

    See Also
    --------
    corrcoef, var, numpy.cov

    Examples
    --------
    >>> import theano.tensor as T
    >>> cov(T.constant([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])).eval()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if fweights is not None or aweights is not None:
        raise NotImplementedError("cov: weights are not implemented")
    if ddof is not None and ddof != int(ddof):
        raise ValueError(f"cov: ddof must be a whole number, not {ddof}")
    rows = _variables_in_rows(m, rowvar)
    if rows.type.dtype in ("float16", "float32"):
        rows = cast(rows, "float64")  # as NumPy and Theano do, and give a number for one variable
    if y is not None:
        rows = join(0, rows, _variables_in_rows(y, rowvar))
    removed = (0 if bias else 1) if ddof is None else ddof
    centred = rows - rows.mean(axis=1, keepdims=True)
    dtype = centred.type.dtype if centred.type.dtype in scal.float_dtypes else "float64"
    count = cast(maximum(rows.shape[1] - removed, 0), dtype)
    return (centred.dot(centred.T.conj()) / count).squeeze()


def _variables_in_rows(m: TensorLike, rowvar: bool) -> Tensor:
    m = as_tensor_variable(m)
    if m.type.ndim > 2:
        raise ArgumentError(f"cov needs a vector or a matrix, but {m} has {m.type.ndim} dimensions")
    if m.type.ndim == 1:
        return m.dimshuffle("x", 0)
    return m if rowvar else m.T


class _Grid:
    """What ``mgrid`` and ``ogrid`` share.

    Parameters
    ----------
    sparse : bool
        Each axis by itself (True), or all of them spread out (False).
    """

    def __init__(self, sparse: bool = False):
        self.sparse = sparse

    def __getitem__(self, args: Any) -> Any:
        parts = args if isinstance(args, tuple) else (args,)
        axes = []
        for part in parts:
            if not isinstance(part, slice) or part.stop is None:
                raise ArgumentError("a grid is made of slices such as 0:5 or 0:1:0.1, with a stop")
            if any(isinstance(n, builtins.complex) for n in (part.start, part.stop, part.step)):
                raise NotImplementedError("a complex step (a number of points) is not implemented")
            axes.append(arange(part.start or 0, part.stop, 1 if part.step is None else part.step))
        if len(axes) == 1:
            return axes[0]
        n = len(axes)
        open_axes = [vector_along(a, i, n) for i, a in enumerate(axes)]
        if self.sparse:
            return open_axes
        nothing: Any = 0
        for a in open_axes:
            nothing = nothing + cast(a, "int64").zeros_like()
        return [a + cast(nothing, a.type.dtype) for a in open_axes]


mgrid = _Grid()
ogrid = _Grid(sparse=True)
