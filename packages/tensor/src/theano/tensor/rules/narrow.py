"""Ops whose kernels take one dtype, and not float16: what they are given is converted before, their results after.

float16 is how numbers are stored. What is made of many of them is computed in float32 and rounded once, as ``perform``
does it; the conversions are element-wise, and join their neighbours in one kernel.
"""

from __future__ import annotations

from typing import Any

from theano.graph import Apply
from theano.rewriting import local_rule
from theano.tensor.arange import ARange
from theano.tensor.blas.dot import BatchedDot, Dot
from theano.tensor.blas.routines import Dot22
from theano.tensor.elemwise.functions import cast
from theano.tensor.nnet.crossentropy import CrossentropySoftmax1HotWithBiasDx, CrossentropySoftmaxArgmax1HotWithBias
from theano.tensor.nnet.softmax import LogSoftmax, Softmax, SoftmaxGrad, SoftmaxWithBias
from theano.tensor.reduce.logsumexp import LogSumExp
from theano.tensor.rules.words import fit

_IN_SINGLE = (
    BatchedDot, CrossentropySoftmax1HotWithBiasDx, CrossentropySoftmaxArgmax1HotWithBias, Dot, Dot22, LogSoftmax,
    LogSumExp, Softmax, SoftmaxGrad, SoftmaxWithBias,
)  # fmt: skip


@local_rule(list(_IN_SINGLE), keeps="close", phases=("specialize",))
def local_float16_in_float32(node: Apply) -> Any:
    """An op of float16 is one of float32 between conversions."""
    if all(_dtype(v) != "float16" for v in (*node.inputs, *node.outputs)):
        return None
    found = node.op.make_node(*[cast(v, "float32") if _dtype(v) == "float16" else v for v in node.inputs]).outputs
    return [fit(cast(v, _dtype(old)), old) for v, old in zip(found, node.outputs, strict=True)]


@local_rule([ARange], keeps="close", phases=("specialize",))
def local_arange_in_float32(node: Apply) -> Any:
    """Numbers counted in float16 are counted in float32."""
    (out,) = node.outputs
    if _dtype(out) != "float16":
        return None
    return [fit(cast(ARange("float32")(*node.inputs), "float16"), out)]


@local_rule([Dot], keeps="close", phases=("specialize",))
def local_dot_of_one_dtype(node: Apply) -> Any:
    """A product of two dtypes is one of the dtype in which they meet."""
    x, y = node.inputs
    dtype = _dtype(node.outputs[0])
    if _dtype(x) == _dtype(y) == dtype:
        return None
    return [fit(node.op(cast(x, dtype), cast(y, dtype)), node.outputs[0])]


def _dtype(v: Any) -> str:
    return str(v.type.dtype)
