"""Tensors made of nothing, of numbers, and of others."""

from __future__ import annotations

from typing import Any

from pytensor.tensor.basic import Alloc, AllocEmpty, ARange, Eye, Join, MakeVector, Nonzero, Split
from pytensor.tensor.extra_ops import Bartlett
from pytensor.tensor.type_other import MakeSlice as PyTensorMakeSlice

import theano.tensor as T
from theano.settings import change_flags
from theano.tensor.type_other import MakeSlice
from theano_pytensor.convert import convert
from theano_pytensor.types import cast, type_of


@convert.register(Alloc)
def _(op: Any, node: Any, value: Any, *lengths: Any) -> Any:
    return T.alloc(value, *lengths)


@convert.register(AllocEmpty)
def _(op: Any, node: Any, *lengths: Any) -> Any:
    return T.AllocEmpty(op.dtype)(*lengths)


@convert.register(MakeVector)
def _(op: Any, node: Any, *elements: Any) -> Any:
    if not elements:
        kind = type_of(node.outputs[0].type)
        return T.patternbroadcast(T.zeros((0,), kind.dtype), kind.broadcastable)
    return T.stack([cast(x, op.dtype) for x in elements])


@convert.register(Join)
def _(op: Any, node: Any, *tensors: Any) -> Any:
    return T.join(op.axis, *(cast(x, node.outputs[0].type.dtype) for x in tensors))


@convert.register(Split)
def _(op: Any, node: Any, x: Any, lengths: Any) -> Any:
    return T.Split(op.len_splits)(x, op.axis, lengths, return_list=True)


@convert.register(Eye)
def _(op: Any, node: Any, n: Any, m: Any, k: Any) -> Any:
    return T.eye(n, m, k, dtype=op.dtype)


@convert.register(ARange)
def _(op: Any, node: Any, start: Any, stop: Any, step: Any) -> Any:
    return T.arange(start, stop, step, dtype=op.dtype)


@convert.register(Nonzero)
def _(op: Any, node: Any, x: Any) -> Any:
    return T.nonzero(x)


@convert.register(PyTensorMakeSlice)
def _(op: Any, node: Any, *parts: Any) -> Any:
    return MakeSlice()(*parts)


@convert.register(Bartlett)
def _(op: Any, node: Any, n: Any) -> Any:
    with change_flags(floatX="float64"):
        return T.bartlett(n)
