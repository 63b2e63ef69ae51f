"""Sparse matrices. The module is imported with the first type or op of these (`types.OPTIONAL`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytensor.sparse.basic as sb
import pytensor.sparse.math as sm
from pytensor.sparse.type import SparseTensorType

from theano import sparse
from theano.graph import Type
from theano_pytensor.convert import convert
from theano_pytensor.types import type_of


@type_of.register(SparseTensorType)
def _(kind: SparseTensorType) -> Type:
    return sparse.SparseType(kind.format, kind.dtype)


def _plain(make: Callable[[], Any]) -> Callable[[Any], Any]:
    return lambda op: make()


_COMPARED = ("Equal", "NotEqual", "LessThan", "GreaterThan", "LessEqual", "GreaterEqual")

#: For ops of PyTensor the op that takes their place on the same inputs.
OPS: dict[type, Callable[[Any], Any]] = {
    sb.CSM: lambda op: sparse.CSM(op.format),
    sb.CSMProperties: _plain(sparse.CSMProperties),
    sb.Cast: lambda op: sparse.Cast(op.out_type),
    sb.ColScaleCSC: _plain(sparse.ColScaleCSC),
    sb.DenseFromSparse: _plain(sparse.DenseFromSparse),
    sb.Diag: _plain(sparse.Diag),
    sb.EnsureSortedIndices: lambda op: sparse.EnsureSortedIndices(False),
    sb.HStack: lambda op: sparse.HStack(op.format, op.dtype),
    sb.Remove0: lambda op: sparse.Remove0(False),
    sb.RowScaleCSC: _plain(sparse.RowScaleCSC),
    sb.SparseFromDense: lambda op: sparse.SparseFromDense(op.format),
    sb.Transpose: _plain(sparse.Transpose),
    sb.VStack: lambda op: sparse.VStack(op.format, op.dtype),
    sm.AddSparseDense: _plain(sparse.AddSD),
    sm.AddSparseSparse: _plain(sparse.AddSS),
    sm.AddSparseSparseData: _plain(sparse.AddSSData),
    sm.Dot: _plain(sparse.Dot),
    sm.MultiplySparseDense: _plain(sparse.MulSD),
    sm.MultiplySparseDenseVector: _plain(sparse.MulSV),
    sm.MultiplySparseSparse: _plain(sparse.MulSS),
    sm.SamplingDot: _plain(sparse.SamplingDot),
    sm.SpSum: lambda op: sparse.SpSum(op.axis),
    sm.StructuredAddSparseDenseVector: _plain(sparse.StructuredAddSV),
    sm.StructuredDot: _plain(sparse.StructuredDot),
    sm.StructuredDotGradCSC: _plain(sparse.StructuredDotGradCSC),
    sm.StructuredDotGradCSR: _plain(sparse.StructuredDotGradCSR),
    sm.TrueDot: _plain(sparse.TrueDot),
    sm.Usmm: _plain(sparse.Usmm),
    **{getattr(sm, f"{name}SparseSparse"): _plain(getattr(sparse, f"{name}SS")) for name in _COMPARED},
    **{getattr(sm, f"{name}SparseDense"): _plain(getattr(sparse, f"{name}SD")) for name in _COMPARED},
}


def _entry(op: Any, node: Any, *inputs: Any) -> Any:
    return OPS[type(op)](op)(*inputs, return_list=True)


for _kind in OPS:
    convert.register(_kind)(_entry)
