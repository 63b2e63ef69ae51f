"""Element-wise computation, views of other dimensions, reductions."""

from __future__ import annotations

from theano.tensor.elemwise.careduce import (
    All,
    Any_,
    CAReduce,
    CAReduceDtype,
    Max,
    Min,
    Prod,
    ProdWithoutZeros,
    Sum,
)
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise, frozendict
from theano.tensor.elemwise.scalars import MulWithoutZeros, mul_without_zeros
from theano.tensor.type import TensorType

Any = Any_

__all__ = [
    "All", "Any", "CAReduce", "CAReduceDtype", "DimShuffle", "Elemwise", "Max", "Min", "MulWithoutZeros", "Prod",
    "ProdWithoutZeros", "Sum", "TensorType", "frozendict", "mul_without_zeros",
]  # fmt: skip
