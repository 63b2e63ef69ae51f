"""Ops whose kernels take one dtype, and not float16: what they are given is converted before, their results after.

float16 is a storage format. Computations of several steps run in float32 and round once, as ``perform``
does it; the conversions are element-wise, and join their neighbours in one kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.rewriting import P, Rest, pattern_vars, rule
from theano.tensor.blas.dot import BatchedDot, Dot
from theano.tensor.blas.routines import Dot22
from theano.tensor.create.arange import ARange
from theano.tensor.elemwise.functions import cast
from theano.tensor.nnet.likelihood import CrossentropySoftmax1HotWithBiasDx, CrossentropySoftmaxArgmax1HotWithBias
from theano.tensor.nnet.softmax import LogSoftmax, Softmax, SoftmaxGrad, SoftmaxWithBias
from theano.tensor.reduce.logsumexp import LogSumExp
from theano.tensor.rules.predicates import conform

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.type import Tensor

_IN_SINGLE = (
    BatchedDot, CrossentropySoftmax1HotWithBiasDx, CrossentropySoftmaxArgmax1HotWithBias, Dot, Dot22, LogSoftmax,
    LogSumExp, Softmax, SoftmaxGrad, SoftmaxWithBias,
)  # fmt: skip


def _in_float32(op: Any, inputs: tuple[Variable, ...], out: Any) -> Any:
    if all(_dtype(v) != "float16" for v in (*inputs, *out.owner.outputs)):
        return None
    found = op.make_node(*[cast(v, "float32") if _dtype(v) == "float16" else v for v in inputs]).outputs
    return [conform(cast(v, _dtype(old)), old) for v, old in zip(found, out.owner.outputs, strict=True)]


rule("local_float16_in_float32", P(_IN_SINGLE, "op")(Rest("inputs")), _in_float32, keeps="close",
     phases=("specialize",), doc="An op of float16 is one of float32 between conversions.")  # fmt: skip


start, stop, step, x, y = pattern_vars("start stop step x y")
rule("local_arange_in_float32", P(ARange)(start, stop, step),
     lambda start, stop, step: cast(ARange("float32")(start, stop, step), "float16"),
     when=lambda out: _dtype(out) == "float16", keeps="close", phases=("specialize",),
     doc="Numbers counted in float16 are counted in float32.")  # fmt: skip


def _have_to_meet(x: Tensor, y: Tensor, out: Tensor) -> bool:
    return not _dtype(x) == _dtype(y) == _dtype(out)


rule("local_dot_of_one_dtype", P(Dot, "dot")(x, y),
     lambda dot, x, y, out: dot(cast(x, _dtype(out)), cast(y, _dtype(out))), when=_have_to_meet,
     keeps="close", phases=("specialize",),
     doc="A product of two dtypes is one of the dtype in which they meet.")  # fmt: skip


def _dtype(v: Any) -> str:
    return str(v.type.dtype)
