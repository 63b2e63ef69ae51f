"""Activation functions, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.settings import config
from theano.tensor.convert import as_tensor_variable, constant
from theano.tensor.elemwise.functions import abs_, cast, clip, expm1, switch
from theano.tensor.elemwise.op import Elemwise

if TYPE_CHECKING:
    from theano.scalar.annotations import Number
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor

scalar_sigmoid = scal.sigmoid
scalar_softplus = scal.softplus
ScalarSigmoid, ScalarSoftplus = type(scalar_sigmoid), type(scalar_softplus)

sigmoid = Elemwise(scal.sigmoid, name="sigmoid")
sigmoid_inplace = Elemwise(scal.sigmoid, {0: 0}, name="sigmoid_inplace")
softplus = Elemwise(scal.softplus, name="softplus")


def _softsign_gradient(x: Number, out: Number, g: Number) -> Number:
    d = 1 + abs(x)
    return g / (d * d)


scalar_softsign = scal.scalar_op(
    "softsign", "x",
    types=scal.upgrade_to_float_no_complex,
    py=lambda x: x / (1 + np.abs(x)),
    c="{x} / (1 + fabs({x}))",
    grad=_softsign_gradient,
    ulp=2,
    class_name="ScalarSoftsign",
    doc="Quotient x / (1 + abs(x)): a sigmoid from -1 to 1 with heavy tails.",
)  # fmt: skip
ScalarSoftsign = type(scalar_softsign)
softsign = Elemwise(scalar_softsign, name="softsign")


def _ultra_fast_sigmoid(x: np.ndarray) -> Any:
    half = 0.5 * x
    size = np.abs(half)
    middle = 0.935409070603099 + 0.0458812946797165 * (size - 1.7)
    curve = np.where(size < 1.7, 1.5 * size / (1 + size), np.where(size < 3, middle, 0.99505475368673))
    return (0.5 * (np.copysign(curve, half) + 1.0)).astype(np.asarray(x).dtype)


scalar_ultra_fast_sigmoid = scal.scalar_op(
    "ultra_fast_sigmoid", "x",
    types=scal.upgrade_to_float_no_complex,
    py=_ultra_fast_sigmoid,
    c="({T})0.5 * (copysign(fabs({x}) < ({T})3.4 ? ({T})0.75 * fabs({x}) / (1 + ({T})0.5 * fabs({x})) : fabs({x}) < 6"
      " ? ({T})0.935409070603099 + ({T})0.0458812946797165 * (({T})0.5 * fabs({x}) - ({T})1.7)"
      " : ({T})0.99505475368673, {x}) + 1)",
    ulp=4,
    # The slope of the sigmoid itself: the approximation has corners.
    grad=lambda x, out, g: g * scal.sigmoid(x) * (1 - scal.sigmoid(x)),
    class_name="UltraFastScalarSigmoid",
    doc="An approximation of the sigmoid by three pieces, within 0.07 of it.",
)  # fmt: skip
UltraFastScalarSigmoid = type(scalar_ultra_fast_sigmoid)
ultra_fast_sigmoid = Elemwise(scalar_ultra_fast_sigmoid, name="ultra_fast_sigmoid")
for _op in (sigmoid, sigmoid_inplace, softplus, softsign, ultra_fast_sigmoid):
    _op.shown_as = f"T.nnet.{_op.name}"


def _number(value: float, like: Tensor) -> Tensor:
    """Return a constant of the dtype of ``like``, or of the float in which such integers are computed."""
    (kind,) = scal.upgrade_to_float(scal.get_scalar_type(like.type.dtype))
    dtype = kind.dtype if kind.dtype in scal.float_dtypes else str(config.floatX)
    return constant(np.asarray(value, dtype=dtype))


def hard_sigmoid(x: TensorLike) -> Tensor:
    """Return ``clip(0.2 * x + 0.5, 0, 1)``: the sigmoid as three straight lines.

    Parameters
    ----------
    x : tensor
        Of any shape.

    Returns
    -------
    TensorVariable
        Of the shape of ``x``.

    See Also
    --------
    nnet.sigmoid, nnet.ultra_fast_sigmoid

    Examples
    --------
    >>> import theano.tensor as T
    >>> hard_sigmoid(T.fvector("x")).type
    TensorType(float32, vector)
    """
    x = as_tensor_variable(x)
    return clip(x * _number(0.2, x) + _number(0.5, x), _number(0.0, x), _number(1.0, x))


def relu(x: Any, alpha: Any = 0) -> Tensor:
    """Return the rectifier: ``x`` where it is positive, ``alpha * x`` where it is negative.

    Parameters
    ----------
    x : tensor
        Of any shape.
    alpha : number or tensor
        Slope for negative elements.

    Returns
    -------
    TensorVariable
        Of the shape of ``x``. The derivative at 0 is ``(1 + alpha) / 2``.

    See Also
    --------
    nnet.elu, nnet.softplus, maximum

    Examples
    --------
    >>> import theano.tensor as T
    >>> relu(T.fmatrix("x"), 0.1).type
    TensorType(float32, matrix)
    """
    x = as_tensor_variable(x)
    if x.type.dtype == "bool":
        x = cast(x, "int8")  # True and True is True, not 2
    if not hasattr(alpha, "type") and np.ndim(alpha) == 0 and alpha == 0:
        return 0.5 * (x + abs_(x))
    alpha = as_tensor_variable(alpha)
    if x.type.dtype in scal.float_dtypes and alpha.type.dtype in scal.float_dtypes and alpha.type.ndim == 0:
        alpha = cast(alpha, x.type.dtype)
    return 0.5 * (1 + alpha) * x + 0.5 * (1 - alpha) * abs_(x)


def elu(x: TensorLike, alpha: TensorLike = 1) -> Tensor:
    """Return the exponential linear unit: ``x`` where it is positive, ``alpha * (exp(x) - 1)`` elsewhere.

    Parameters
    ----------
    x : tensor
        Of any shape.
    alpha : number or tensor, optional
        Minus the limit for large negative elements.

    Returns
    -------
    TensorVariable
        Of the shape of ``x``.

    See Also
    --------
    nnet.relu, nnet.selu

    Examples
    --------
    >>> import theano.tensor as T
    >>> elu(T.constant([-1.0, 2.0])).eval().round(4)
    array([-0.6321,  2.    ])
    """
    x = as_tensor_variable(x)
    return switch(x > 0, x, alpha * expm1(switch(x > 0, x.zeros_like(), x)))


def selu(x: TensorLike) -> Tensor:
    """Return the scaled exponential linear unit, which keeps zero mean and unit variance.

    Parameters
    ----------
    x : tensor
        Of any shape.

    Returns
    -------
    TensorVariable
        Of the shape of ``x``.

    See Also
    --------
    nnet.elu, nnet.relu

    Examples
    --------
    >>> import theano.tensor as T
    >>> selu(T.constant([-1.0, 2.0])).eval().round(4)
    array([-1.1113,  2.1014])
    """
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)
