"""Choice, checks, and ops that are graphs of others."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.raise_op import CheckAndRaise as PyTensorCheckAndRaise

import theano.tensor as T
from theano.raise_op import Raise
from theano.tensor.control.checks import Assert
from theano.tensor.control.choice import IfElse
from theano_pytensor.convert import convert, translate
from theano_pytensor.types import cast, fitted

# Newer ones have it in another place, and warn of the old one.
_place = "pytensor.conditional.op" if find_spec("pytensor.conditional") else "pytensor.ifelse"
PyTensorIfElse: Any = import_module(_place).IfElse


@convert.register(OpFromGraph)
def _(op: Any, node: Any, *inputs: Any) -> Any:
    inner = op.fgraph
    given = {v: fitted(x, v.type) for v, x in zip(inner.inputs, inputs, strict=True)}
    return translate(inner.outputs, given)


@convert.register(PyTensorIfElse)
def _(op: Any, node: Any, condition: Any, *branches: Any) -> Any:
    n = op.n_outs
    kinds = [v.type for v in node.outputs]
    pairs = [fitted(x, kind, exact=True) for x, kind in zip(branches, (*kinds, *kinds), strict=True)]
    return IfElse(n_outs=n)(condition, *pairs, return_list=True)


@convert.register(PyTensorCheckAndRaise)
def _(op: Any, node: Any, value: Any, *conditions: Any) -> Any:
    if op.exc_type is AssertionError and isinstance(value.type, T.TensorType):
        return Assert(op.msg)(value, *conditions)
    holds = conditions[0] if len(conditions) == 1 else T.all(T.stack([cast(c, "bool") for c in conditions]))
    return IfElse(n_outs=1)(holds, value, Raise(op.msg, op.exc_type)(value))
