"""Element-wise computation: scalar operations over the elements of arrays."""

from __future__ import annotations

from theano.layers import lazily

_REDUCTIONS = (
    "All", "CAReduce", "CAReduceDtype", "Max", "Min", "Prod", "ProdWithoutZeros", "Sum",
)  # fmt: skip

#: What programs look for here, in families that are built on this one, too.
__getattr__, __dir__ = lazily(
    globals(),
    {
        **{name: f"theano.tensor.reduce.careduce:{name}" for name in _REDUCTIONS},
        "Any": "theano.tensor.reduce.careduce:Any_",
        "DimShuffle": "theano.tensor.elemwise.dimshuffle:DimShuffle",
        "Elemwise": "theano.tensor.elemwise.op:Elemwise",
        "MulWithoutZeros": "theano.tensor.elemwise.scalars:MulWithoutZeros",
        "TensorType": "theano.tensor.type:TensorType",
        "frozendict": "theano.tensor.elemwise.op:frozendict",
        "mul_without_zeros": "theano.tensor.elemwise.scalars:mul_without_zeros",
    },
)

__all__ = [
    "All", "Any", "CAReduce", "CAReduceDtype", "DimShuffle", "Elemwise", "Max", "Min", "MulWithoutZeros", "Prod",
    "ProdWithoutZeros", "Sum", "TensorType", "frozendict", "mul_without_zeros",
]  # fmt: skip
