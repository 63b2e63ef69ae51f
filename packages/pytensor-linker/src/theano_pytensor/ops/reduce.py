"""Reductions, places of the largest, running sums, order."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.scalar import basic as ps
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.extra_ops import CumOp, Repeat, SearchsortedOp, Unique
from pytensor.tensor.math import Argmax, MaxAndMinCAReduce, MulWithoutZeros
from pytensor.tensor.sort import ArgSortOp, SortOp

import theano.tensor as T
from theano import scalar as scal
from theano_pytensor.convert import convert
from theano_pytensor.types import cast


@convert.register(CAReduce)
def _(op: Any, node: Any, x: Any) -> Any:
    dtype = node.outputs[0].type.dtype
    if not x.type.ndim:  # an axis may be named that it has not
        return cast(x, dtype)
    acc = op.acc_dtype if op.acc_dtype not in (None, "float16") else None
    axis = None if op.axis is None else tuple(op.axis)
    kind = type(op.scalar_op)
    if kind is ps.Add:
        return T.Sum(axis=axis, dtype=dtype, acc_dtype=acc or dtype)(x)
    if kind is ps.Mul:
        return T.Prod(axis=axis, dtype=dtype, acc_dtype=acc or dtype,
                      no_zeros_in_input=getattr(op, "no_zeros_in_input", False))(x)  # fmt: skip
    if kind is MulWithoutZeros:
        return T.ProdWithoutZeros(axis=axis, dtype=dtype, acc_dtype=acc or dtype)(x)
    if kind in (ps.Maximum, ps.Minimum):
        return T.CAReduce(scal.maximum if kind is ps.Maximum else scal.minimum, axis)(x)
    others = {ps.AND: scal.and_, ps.OR: scal.or_, ps.XOR: scal.xor}
    if kind not in others:
        raise NotImplementedError(f"no reduction by {op.scalar_op} exists in PyTensor")
    if dtype == "bool" and kind is not ps.XOR:
        return (T.all if kind is ps.AND else T.any)(x, axis=axis)
    return T.CAReduce(others[kind], axis)(cast(x, dtype))


@convert.register(MaxAndMinCAReduce)
def _(op: Any, node: Any, x: Any) -> Any:
    largest = type(op.scalar_op) is ps.Maximum
    reduction = T.Max if largest else T.Min
    return reduction(None if op.axis is None else tuple(op.axis), bool(getattr(op, "initial", False)))(x)


@convert.register(Argmax)
def _(op: Any, node: Any, x: Any) -> Any:
    axes = None if op.axis is None else list(op.axis)
    if axes is None or len(axes) == x.type.ndim:
        return T.argmax(x.flatten(), axis=0) if x.type.ndim else T.constant(np.int64(0))
    return T.argmax(x, axis=axes)


@convert.register(SortOp)
def _(op: Any, node: Any, x: Any) -> Any:
    return T.sort(x, op.axis, op.kind)


@convert.register(ArgSortOp)
def _(op: Any, node: Any, x: Any) -> Any:
    return T.argsort(x, op.axis, op.kind)


@convert.register(CumOp)
def _(op: Any, node: Any, x: Any) -> Any:
    x = cast(x, node.outputs[0].type.dtype)
    return T.CumOp(op.axis, op.mode)(x)


@convert.register(Repeat)
def _(op: Any, node: Any, x: Any, repeats: Any) -> Any:
    return T.repeat(x, repeats, op.axis)


@convert.register(Unique)
def _(op: Any, node: Any, x: Any) -> Any:
    if op.axis is not None and x.type.ndim > 1:
        raise NotImplementedError("unique along an axis")
    return T.Unique(op.return_index, op.return_inverse, op.return_counts)(x, return_list=True)


@convert.register(SearchsortedOp)
def _(op: Any, node: Any, x: Any, *others: Any) -> Any:
    return T.searchsorted(x, others[0], op.side, *others[1:])
