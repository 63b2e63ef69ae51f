"""Tensors whose dimensions have names. The module is imported with the first type of these (`types.OPTIONAL`).

PyTensor replaces their ops by those of tensors. Conversions are left, which change names and no values.
"""

from __future__ import annotations

from pytensor.tensor.type import TensorType
from pytensor.xtensor.type import XTensorType

from theano_pytensor.types import type_of

type_of.register(XTensorType)(type_of.dispatch(TensorType))
