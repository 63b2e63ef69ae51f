"""Sums of scaled matrices and vectors, term by term: what a routine of BLAS can take is seen best in that form.

The rules of `theano.tensor.blas` match patterns and do without; rewriters of older programs call these functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.settings import config
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.functions import add, cast, mul, neg, sub

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor

_REAL = ("float16", "float32", "float64")
_FLOATS = (*_REAL, "complex64", "complex128")


def as_scalar(res: Tensor, dtype: str | None = None) -> Any:
    """Return a variable of which each length is 1 as a number, or None if it is not one.

    Parameters
    ----------
    res : Variable
    dtype : str, optional
        Integers become numbers of this dtype; floatX.

    Examples
    --------
    >>> import theano.tensor as T
    >>> a = T.dscalar("a")
    >>> as_scalar(a.dimshuffle("x", "x")) is a, as_scalar(T.dvector())
    (True, None)
    """
    if not all(res.type.broadcastable):
        return None
    while res.owner is not None and isinstance(res.owner.op, DimShuffle):
        res = res.owner.inputs[0]
    found = res.dimshuffle() if res.type.broadcastable else res
    if found.type.dtype in scal.integer_dtypes:
        return cast(found, scal.upcast(found.type.dtype, dtype or config.floatX))
    return found


def is_real_matrix(res: Tensor) -> bool:
    """Tell whether a variable is a matrix of real floating-point numbers of which no length is known to be 1.

    Examples
    --------
    >>> import theano.tensor as T
    >>> is_real_matrix(T.dmatrix()), is_real_matrix(T.drow())
    (True, False)
    """
    return res.type.dtype in _REAL and tuple(res.type.broadcastable) == (False, False)


def is_real_vector(res: Tensor) -> bool:
    """Tell whether a variable is a vector of real floating-point numbers whose length is not known to be 1.

    Examples
    --------
    >>> import theano.tensor as T
    >>> is_real_vector(T.dvector()), is_real_vector(T.lvector())
    (True, False)
    """
    return res.type.dtype in _REAL and tuple(res.type.broadcastable) == (False,)


def scaled_terms(r: Any, scale: Any, found: list[Any], most_clients: int) -> list[Any] | None:
    """Take an expression as a sum of matrices and vectors, each times a number; append ``(number, term)`` to a list.

    Parameters
    ----------
    r : Variable
    scale : float or Variable
        By what all of it is multiplied.
    found : list
        What is neither a matrix nor a vector of floating-point numbers is appended as it is, scaled.
    most_clients : int
        What more nodes than this use is a term, and not looked into; 0: everything is.

    Returns
    -------
    list or None
        ``found``; None if ``r`` has no dimensions that one could ask for.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, y = T.dmatrices("x", "y")
    >>> scaled_terms(x - y, 1.0, [], 0)
    [(1.0, x), (-1.0, y)]
    """
    if not hasattr(r.type, "broadcastable"):
        return None
    if r.type.ndim not in (1, 2) or r.type.dtype not in _FLOATS:
        found.append(_scaled(scale, r))
    elif r.owner is None or (most_clients and len(r.clients) > most_clients):
        found.append((scale, r))
    elif r.owner.op == add:
        for term in r.owner.inputs:
            scaled_terms(term, scale, found, most_clients)
    elif r.owner.op == sub:
        first, second = r.owner.inputs
        scaled_terms(first, scale, found, most_clients)
        scaled_terms(second, -scale, found, most_clients)
    elif r.owner.op == neg:
        scaled_terms(r.owner.inputs[0], -scale, found, most_clients)
    else:
        scalars, others = _factors(r.owner) if r.owner.op == mul else ([], [])
        if len(others) == 1 and others[0].type.ndim == r.type.ndim:
            for number in scalars:
                scale = _scaled(scale, number)
            scaled_terms(others[0], scale, found, most_clients)
        else:
            found.append((scale, r))
    return found


def _factors(product: Any) -> tuple[list[Any], list[Any]]:
    """Return those factors that are numbers, as numbers, and the others."""
    scalars, others = [], []
    for factor in product.inputs:
        number = as_scalar(factor)
        if number is None:
            others.append(factor)
        else:
            scalars.append(number)
    return scalars, others


def _scaled(scale: Any, v: Any) -> Any:
    if isinstance(scale, (int, float)) and scale == 1:
        return v
    return -v if isinstance(scale, (int, float)) and scale == -1 else scale * v


def factored(terms: Sequence[Any]) -> list[Any]:
    """Return terms of a sum in which none occurs twice: the numbers of equal ones are added.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> factored([(1.0, x), (1.0, x)])
    [(2.0, x)]
    """
    found: list[Any] = []
    for term in terms:
        place = next((i for i, other in enumerate(found) if _is_same(term, other)), None)
        if place is None:
            found.append(term)
        else:
            found[place] = (found[place][0] + term[0], term[1])
    return found


def _is_same(term: TensorLike, other: TensorLike) -> bool:
    return isinstance(term, tuple) and isinstance(other, tuple) and term[1] is other[1]
