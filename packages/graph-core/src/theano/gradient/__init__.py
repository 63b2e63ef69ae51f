"""Derivatives of expressions, as expressions.

``reverse`` holds the gradient, ``forward`` the derivative along a direction, ``absent`` what stands for a gradient
that is not there (and what a type needs to offer), ``barriers`` the ops that change what flows back.
"""

from __future__ import annotations

from theano import layers
from theano.errors import DisconnectedInputError, GradientError, NullTypeGradError
from theano.gradient.absent import (
    DisconnectedType,
    NullType,
    disconnected_type,
    grad_not_implemented,
    grad_undefined,
    null_type,
)
from theano.gradient.barriers import (
    ConsiderConstant,
    DisconnectedGrad,
    GradClip,
    GradScale,
    IdentityOp,
    UndefinedGrad,
    ZeroGrad,
    consider_constant,
    consider_constant_,
    disconnected_grad,
    disconnected_grad_,
    grad_clip,
    grad_scale,
    undefined_grad,
    undefined_grad_,
    zero_grad,
    zero_grad_,
)
from theano.gradient.forward import Rop
from theano.gradient.reverse import Lop, format_as, grad, subgraph_grad

__all__ = [
    "ConsiderConstant",
    "DisconnectedGrad",
    "DisconnectedInputError",
    "DisconnectedType",
    "GradClip",
    "GradScale",
    "GradientError",
    "IdentityOp",
    "Lop",
    "NullType",
    "NullTypeGradError",
    "Rop",
    "UndefinedGrad",
    "ZeroGrad",
    "consider_constant",
    "consider_constant_",
    "disconnected_grad",
    "disconnected_grad_",
    "disconnected_type",
    "format_as",
    "grad",
    "grad_clip",
    "grad_not_implemented",
    "grad_scale",
    "grad_undefined",
    "null_type",
    "subgraph_grad",
    "undefined_grad",
    "undefined_grad_",
    "zero_grad",
    "zero_grad_",
]


__getattr__, __dir__ = layers.lazily(globals(), {})
