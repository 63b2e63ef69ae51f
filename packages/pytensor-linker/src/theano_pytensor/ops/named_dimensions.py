"""Tensors whose dimensions have names. The module is imported with the first type of these (`types.OPTIONAL`).

PyTensor replaces their ops by those of tensors. Conversions are left, which change names and no values.
"""

from __future__ import annotations

from pytensor.xtensor.type import XTensorType

import theano.tensor as T
from theano.graph import Type
from theano_pytensor.types import type_of


@type_of.register(XTensorType)
def _(kind: XTensorType) -> Type:
    return T.TensorType(kind.dtype, [length == 1 for length in kind.shape])
