"""Parameters of distributions, held to the numbers for which there is a distribution.

A constant is checked where it is given, anything else when it is computed; both raise a ValueError.

Examples
--------
>>> import theano.tensor as T
>>> std = T.dscalar("std")
>>> float(scale("normal: std", std).eval({std: 2.0}))
2.0
>>> scale("normal: std", -1.0)
Traceback (most recent call last):
ValueError: normal: std must be 0 or more, not -1.0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import Constant
from theano.tensor.control.checks import Assert
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.dimshuffle import DimShuffle

if TYPE_CHECKING:
    from theano.graph.annotations import Value
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor

#: What makes numbers from 0 to 1, rows of such that add up to 1, and numbers that are not negative.
_PROBABILITY = frozenset(("ScalarSigmoid", "UltraFastScalarSigmoid"))
_PROBABILITIES = frozenset(("Softmax",))
_NOT_NEGATIVE = _PROBABILITY | _PROBABILITIES | {"Exp", "Exp2", "Sqrt", "Abs", "Sqr", "ScalarSoftplus"}


class CheckedParameter(Assert):
    """A parameter of a distribution, if it is one.

    Raises
    ------
    ValueError
        While running: a condition is false.

    Examples
    --------
    >>> import theano.tensor as T
    >>> std = T.dscalar("std")
    >>> float(CheckedParameter("std must be 0 or more")(std, std >= 0).eval({std: 2.0}))
    2.0
    """

    error = ValueError


def scale(what: str, v: TensorLike) -> Tensor:
    """Return a standard deviation, which is 0 or more; NaN may be one, as in NumPy."""
    return _checked(v, lambda v: (~(v < 0)).all(), f"{what} must be 0 or more", _NOT_NEGATIVE)


def not_negative(what: str, v: TensorLike) -> Tensor:
    """Return a number that counts, or a mean of such numbers."""
    return _checked(v, lambda v: (v >= 0).all(), f"{what} must be 0 or more", _NOT_NEGATIVE)


def probability(what: str, v: TensorLike) -> Tensor:
    """Return probabilities of success."""
    known = _PROBABILITY | _PROBABILITIES
    return _checked(v, lambda v: ((v >= 0) & (v <= 1)).all(), f"{what} must be from 0 to 1", known)


def probabilities(what: str, v: TensorLike, whole: bool = False) -> Tensor:
    """Return probabilities of outcomes along the last axis.

    Their sums may exceed 1 by the rounding that NumPy allows (``numpy.random.choice``); with ``whole`` they may not be
    smaller, either.
    """
    v = as_tensor_variable(v)
    # What is of float64 here is often computed in float32.
    off = float(np.finfo("float16" if v.type.dtype == "float16" else "float32").eps) ** 0.5

    def holds(v: np.ndarray) -> np.generic:
        total = v.sum(axis=-1, dtype="float64")
        fits = (total <= 1 + off) & (total >= 1 - off) if whole else total <= 1 + off
        return (v >= 0).all() & fits.all()

    how = "add up to 1" if whole else "not add up to more than 1"
    return _checked(v, holds, f"{what} must be 0 or more, and {how} along the last axis", _PROBABILITIES)


def ordered(what: str, high: TensorLike, low: TensorLike) -> Tensor:
    """Return an upper bound of whole numbers that is not below the lower bound."""
    low, high = as_tensor_variable(low), as_tensor_variable(high)
    msg = f"{what}: low must not exceed high"
    if isinstance(low, Constant):
        return _checked(high, lambda high: (low.data <= high).all(), msg)
    return CheckedParameter(f"{msg}.")(high, (low <= high).all())


def if_known(check: Callable[..., Any], what: str, v: Any, *more: Any) -> Any:
    """Return a parameter of one of NumPy's methods, which checks it when it draws: constants are checked now."""
    v = as_tensor_variable(v)
    return check(what, v, *more) if isinstance(v, Constant) else v


def _checked(v: TensorLike, holds: Callable[[Any], Any], msg: str, known: frozenset[str] = frozenset()) -> Value:
    v = as_tensor_variable(v)
    if isinstance(v, Constant):
        if not holds(v.data):
            raise ValueError(f"{msg}, not {v.data.tolist() if v.data.size < 9 else v}")
        return v
    return v if _made_by(v) in known or v.type.dtype == "bool" else CheckedParameter(f"{msg}.")(v, holds(v))


def _made_by(v: Tensor) -> str:
    """Return the class of the operation that makes values, before they are converted or moved."""
    while v.owner is not None and (isinstance(v.owner.op, DimShuffle) or _class(v) == "Cast"):
        v = v.owner.inputs[0]
    return _class(v)


def _class(v: Tensor) -> str:
    op = v.owner.op if v.owner is not None else None
    return type(getattr(op, "scalar_op", op)).__name__
