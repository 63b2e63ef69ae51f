"""Element-wise computation, views of other dimensions, reductions."""

from __future__ import annotations

from theano.layers import lazily
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
from theano.tensor.elemwise.symbols import scalar_elemwise
from theano.tensor.type import TensorType

Any = Any_

#: What older programs find here.
__getattr__, __dir__ = lazily(
    globals(),
    {
        "Apply": "theano.graph:Apply",
        "DimShufflePrinter": "theano.tensor.formulas:DimShufflePrinter",
        "DisconnectedType": "theano.gradient:DisconnectedType",
        "FunctionPrinter": "theano.printing:FunctionPrinter",
        "NullType": "theano.gradient:NullType",
        "Op": "theano.graph:Op",
        "TensorConstant": "theano.tensor.var:TensorConstant",
        "TensorVariable": "theano.tensor.var:TensorVariable",
        "as_tensor_variable": "theano.tensor.convert:as_tensor_variable",
        "change_flags": "theano.settings:change_flags",
        "config": "theano.settings:config",
        "get_scalar_type": "theano.scalar:get_scalar_type",
        "COp": "theano.graph.external_op:ExternalCOp",
        "ParamsType": "theano.graph.params_type:ParamsType",
        "ExternalCOp": "theano.graph.external_op:ExternalCOp",
        "OpenMPOp": "theano.graph.external_op:OpenMPOp",
        "gof": "theano.gof",
        "integer_types": "theano.compat:integer_types",
        "pprint": "theano.printing:pprint",
        "scalar": "theano.scalar",
        "theano": "theano",
        "uniq": "theano.gof.utils:uniq",
    },
)

__all__ = [
    "All", "Any", "CAReduce", "CAReduceDtype", "DimShuffle", "Elemwise", "Max", "Min", "MulWithoutZeros", "Prod",
    "ProdWithoutZeros", "Sum", "TensorType", "frozendict", "mul_without_zeros", "scalar_elemwise",
]  # fmt: skip
