"""Lazy choice: of two branches only the one is computed that a condition says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from theano.errors import ArgumentError
from theano.graph import Apply as Apply
from theano.graph import Variable
from theano.graph.clone import clone as clone
from theano.layers import lazily
from theano.tensor.control.choice import IfElse as IfElse
from theano.tensor.control.choice import alike, is_tensor_like
from theano.tensor.control.rules.choices import *  # noqa: F403
from theano.tensor.convert import as_tensor_variable
from theano.tensor.type import TensorType as TensorType

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def _together(t: Any, f: Any) -> tuple[Variable, Variable]:
    """Return the values of two branches as variables, of one type where that loses nothing."""
    pair = [t, f]
    fixed = [isinstance(v, Variable) or hasattr(v, "_as_TensorVariable") for v in pair]
    for i in (0, 1):
        if fixed[i] and not is_tensor_like(pair[i]):
            # A type of another layer knows best what fits it; without one, values must agree as they are.
            return (t, pair[0].type.filter_variable(f)) if i == 0 else (pair[1].type.filter_variable(t), f)
        if fixed[i]:
            pair[i] = as_tensor_variable(pair[i])
    for i in (0, 1):
        if not fixed[i]:
            like = pair[1 - i] if fixed[1 - i] else None
            pair[i] = _value_like(pair[i], like)
    if not any(fixed) and pair[0].type.dtype != pair[1].type.dtype:
        dtype = np.result_type(pair[0].type.dtype, pair[1].type.dtype).name
        pair = [as_tensor_variable(np.asarray(v.data, dtype)) for v in pair]
    return alike(*pair)


def _value_like(value: Any, like: Any) -> Variable:
    """Return a number or an array as a constant; in the dtype of ``like`` if it holds the value exactly."""
    made: Any = as_tensor_variable(value)
    if like is None or made.type.dtype == like.type.dtype or not hasattr(made, "data"):
        return made
    # A Python float has no width of its own: NumPy lets it take that of the array it meets.
    data, weak = np.asarray(made.data), isinstance(value, float) and like.type.dtype in ("float16", "float32")
    if np.iscomplexobj(data) and not like.type.dtype.startswith("complex"):
        return made
    with np.errstate(all="ignore"):
        fitted = data.astype(like.type.dtype)
    if weak or np.array_equal(fitted.astype(data.dtype), data, equal_nan=data.dtype.kind in "fc"):
        return as_tensor_variable(fitted)
    return made


@overload
def ifelse(condition: TensorLike, then_branch: Tensor, else_branch: TensorLike, name: str | None = None) -> Tensor: ...
@overload
def ifelse(condition: TensorLike, then_branch: object, else_branch: object, name: str | None = None) -> Any: ...
def ifelse(condition: TensorLike, then_branch: Any, else_branch: object, name: str | None = None) -> object:
    """Return one of two branches; the other one is not computed.

    Parameters
    ----------
    condition : scalar
        0 stands for False, anything else for True.
    then_branch, else_branch : variable, number, array, or list or tuple of these
        What is returned if the condition is true, and if it is not. Both have the same number of values, and values
        in the same place have the same type: dtype and number of dimensions. Where only one of the two is known to
        have length 1 along a dimension, the result is not; numbers take the dtype of the other branch if that holds
        them. Their lengths may differ.
    name : str, optional
        Shown where the graph is printed.

    Returns
    -------
    Variable, or list or tuple of Variable
        As the branches were given.

    Raises
    ------
    ValueError
        The branches have different numbers of values.
    TypeError
        Two values have types that do not fit, or the condition has dimensions.

    See Also
    --------
    theano.tensor.switch : chooses element by element, and computes both branches.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> a, b, x = T.dscalars("a", "b", "x")
    >>> f = theano.function([a, b, x], ifelse(a < b, x + 1, x * 100))
    >>> f(1, 2, 5), f(2, 1, 5)
    (array(6.), array(500.))
    """
    grouped = type(then_branch) if isinstance(then_branch, (list, tuple)) else None
    then = list(then_branch) if grouped else [then_branch]
    other = list(else_branch) if isinstance(else_branch, (list, tuple)) else [else_branch]
    if grouped is None and isinstance(else_branch, (list, tuple)):
        grouped = type(else_branch)
    if len(then) != len(other):
        raise ArgumentError(f"the branches of ifelse must have as many values each, got {len(then)} and {len(other)}")
    if not then:
        return [] if grouped is list else ()
    pairs = [_together(t, f) for t, f in zip(then, other, strict=True)]
    made = IfElse(len(pairs), name=name)(
        condition, *(t for t, _ in pairs), *(f for _, f in pairs), return_list=True
    )
    if grouped is None:
        return made[0]
    return made if grouped is list else tuple(made)


__getattr__, __dir__ = lazily(globals())
