"""Lengths, and tensors of the same elements in other shapes."""

from __future__ import annotations

from typing import Any

from pytensor.compile.ops import DeepCopyOp, TypeCastingOp
from pytensor.tensor.basic import ExtractDiag, ScalarFromTensor, TensorFromScalar
from pytensor.tensor.extra_ops import CpuContiguous
from pytensor.tensor.reshape import JoinDims, SplitDims
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.type_other import NoneTypeT

import theano.tensor as T
from theano_pytensor.convert import convert
from theano_pytensor.types import cast, fitted


@convert.register(TensorFromScalar)
@convert.register(ScalarFromTensor)
@convert.register(DeepCopyOp)
@convert.register(TypeCastingOp)
@convert.register(CpuContiguous)
def _(op: Any, node: Any, x: Any) -> Any:
    return x


@convert.register(Shape)
def _(op: Any, node: Any, x: Any) -> Any:
    return T.shape(x)


@convert.register(Shape_i)
def _(op: Any, node: Any, x: Any) -> Any:
    return T.shape_i(x, op.i)


@convert.register(SpecifyShape)
def _(op: Any, node: Any, x: Any, *lengths: Any) -> Any:
    if not lengths:
        return x
    wanted = []
    for k, (v, n) in enumerate(zip(node.inputs[1:], lengths, strict=True)):
        wanted.append(T.shape_i(x, k) if isinstance(v.type, NoneTypeT) else T.cast(n, "int64"))
    return T.specify_shape(fitted(x, node.outputs[0].type), T.stack(wanted))


@convert.register(Reshape)
def _(op: Any, node: Any, x: Any, shape: Any) -> Any:
    return T.reshape(x, cast(shape, "int64"), ndim=op.ndim)  # the constant [] is of floating-point numbers


@convert.register(JoinDims)
def _(op: Any, node: Any, x: Any) -> Any:
    lengths = [T.shape_i(x, k) for k in range(x.type.ndim)]
    first, last = op.start_axis, op.start_axis + op.n_axes
    joined = T.prod(T.stack(lengths[first:last])) if op.n_axes > 1 else (lengths[first] if op.n_axes else 1)
    return T.reshape(x, [*lengths[:first], joined, *lengths[last:]], ndim=x.type.ndim - op.n_axes + 1)


@convert.register(SplitDims)
def _(op: Any, node: Any, x: Any, shape: Any) -> Any:
    count = node.outputs[0].type.ndim - x.type.ndim + 1
    lengths = [T.shape_i(x, k) for k in range(x.type.ndim)]
    parts = [shape[k] for k in range(count)]
    return T.reshape(x, [*lengths[: op.axis], *parts, *lengths[op.axis + 1 :]], ndim=node.outputs[0].type.ndim)


@convert.register(ExtractDiag)
def _(op: Any, node: Any, x: Any) -> Any:
    return T.diagonal(x, op.offset, op.axis1, op.axis2)
