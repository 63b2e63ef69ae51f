"""Jacobians and Hessians: the gradient of each element of a vector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.compile.test_values import inherit_test_value
from theano.errors import ArgumentError
from theano.gradient import DisconnectedInputError, format_as, grad
from theano.gradient.absent import is_discrete
from theano.graph import Variable
from theano.tensor.convert import is_tensor
from theano.tensor.create.alloc import zeros
from theano.tensor.create.diagonals import eye
from theano.tensor.elemwise import functions as F
from theano.tensor.rows.op import map_rows
from theano.tensor.shape.basic import shape_tuple

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def jacobian(
    expression: Tensor,
    wrt: TensorLike,
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: str = "raise",
) -> Tensor:
    """Return the derivative of each element of a vector with respect to one or several variables.

    Parameters
    ----------
    expression : vector, or tensor without dimensions
        What is differentiated. Of one without dimensions, this is the gradient.
    wrt : Variable or list of Variable
        What it is differentiated by.
    consider_constant : list of Variable, optional
        Variables that the gradient does not flow through.
    disconnected_inputs : "raise", "warn" or "ignore"
        What to do about a variable that the expression does not depend on.

    Returns
    -------
    Variable, or list or tuple of Variable
        In the form of ``wrt``: for each variable a tensor whose first axis counts the elements of the expression,
        and whose others are those of the variable.

    See Also
    --------
    hessian, theano.grad, theano.Rop, theano.Lop

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> theano.function([x], jacobian(x ** 2, x))([1, 2, 3])
    array([[2., 0., 0.],
           [0., 4., 0.],
           [0., 0., 6.]])
    """
    if not isinstance(expression, Variable) or getattr(expression.type, "ndim", None) is None:
        raise ArgumentError(f"jacobian: the expression must be a tensor, not {expression!r}")
    ndim = expression.type.ndim
    if ndim > 1:
        raise ArgumentError(
            f"jacobian: the expression {expression} has {ndim} dimensions; it must be a vector, or have none. "
            "Its elements as a vector: expression.flatten()."
        )
    options: dict[str, Any] = {"consider_constant": consider_constant, "disconnected_inputs": disconnected_inputs}
    if ndim == 0:
        return grad(expression, wrt, **options)
    wanted = list(wrt) if isinstance(wrt, (list, tuple)) else [wrt]
    return format_as(isinstance(wrt, list), isinstance(wrt, tuple), _rows(expression, wanted, options))


def _rows(expression: Any, wanted: list[Any], options: dict[str, Any]) -> list[Variable]:
    n = expression.shape[0]
    if is_discrete(expression.type):
        # Discrete values jump or stay constant, so no gradient flows back: all is zero where it is connected.
        grad(expression.sum(), wanted, **options)
        return [zeros((n, *shape_tuple(v)), dtype=_floating(v)) for v in wanted]
    # What flows back is one where the element is and zero elsewhere: nothing that does not depend on it is computed
    # more than once.
    start = inherit_test_value(expression.type(), expression, np.ones_like)
    grads = grad(None, wanted, known_grads={expression: start}, **options)
    return map_rows([start], [eye(n, dtype=expression.type.dtype)], grads, name="jacobian")


def _floating(v: Variable) -> str:
    return str(F.true_div(v, v).type.dtype)


def hessian(
    cost: Tensor,
    wrt: TensorLike,
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: str = "raise",
) -> Tensor:
    """Return the second derivatives of a cost with respect to one or several vectors, each by itself.

    Parameters
    ----------
    cost : tensor without dimensions
        What is differentiated twice.
    wrt : vector or list of vector
        What by.
    consider_constant : list of Variable, optional
        Variables that the gradient does not flow through.
    disconnected_inputs : "raise", "warn" or "ignore"
        What to do about a vector that the cost does not depend on.

    Returns
    -------
    Variable, or list or tuple of Variable
        In the form of ``wrt``: a matrix for each vector.

    See Also
    --------
    jacobian, theano.grad

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> theano.function([x], hessian((x ** 3).sum() + x[0] * x[1], x))([1, 2])
    array([[ 6.,  1.],
           [ 1., 12.]])
    """
    if not isinstance(cost, Variable) or getattr(cost.type, "ndim", None) != 0:
        raise ArgumentError(f"hessian: the cost must be a tensor without dimensions, not {cost!r}")
    wanted = list(wrt) if isinstance(wrt, (list, tuple)) else [wrt]
    found = []
    for v in wanted:
        if not is_tensor(v) or v.type.ndim != 1:
            raise ArgumentError(f"hessian: wrt must be a vector or a list of vectors, not {v!r}")
        slope = grad(cost, v, consider_constant=consider_constant, disconnected_inputs=disconnected_inputs)
        try:
            found.append(jacobian(slope, v, consider_constant))
        except DisconnectedInputError:
            # A cost that is linear in the vector: its slope is the same everywhere.
            found.append(zeros((v.shape[0], v.shape[0]), dtype=slope.type.dtype))
    return format_as(isinstance(wrt, list), isinstance(wrt, tuple), found)
