"""Functions that PyTensor has as graphs of its own (`SymbolicOp`), where we have an op or a rule for them."""

from __future__ import annotations

from typing import Any

from pytensor.tensor.special import LogSumExp

import theano.tensor as T
from theano.tensor.nnet.softmax import LogSoftmax, Softmax
from theano_pytensor.convert import convert

__all__ = ["LogSoftmax", "Softmax"]


@convert.register(LogSumExp)
def _(op: Any, node: Any, x: Any) -> Any:
    return T.logsumexp(x, axis=tuple(op.axis))
