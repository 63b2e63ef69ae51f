"""Element-wise computation, views of other dimensions, reductions."""

from __future__ import annotations

from theano.layers import lazily
from theano.tensor.reduce.careduce import (
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
from theano.tensor.shape.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise, frozendict
from theano.tensor.elemwise.scalars import MulWithoutZeros, mul_without_zeros
from theano.tensor.elemwise.symbols import scalar_elemwise
from theano.tensor.type import TensorType

Any = Any_

__getattr__, __dir__ = lazily(globals())

__all__ = [
    "All", "Any", "CAReduce", "CAReduceDtype", "DimShuffle", "Elemwise", "Max", "Min", "MulWithoutZeros", "Prod",
    "ProdWithoutZeros", "Sum", "TensorType", "frozendict", "mul_without_zeros", "scalar_elemwise",
]  # fmt: skip
