"""Softmax and what is done with it: its logarithm, its cross entropy with classes, and the gradients of both.

Users write ``log(softmax(x))`` or ``categorical_crossentropy(softmax(x + b), y)``; computed like that, a probability
that is rounded to 0 gives an infinite cost. Each rule here finds one such expression and puts the op in its place that
goes from ``x`` to the result in one step. Gradients are met as gradients: of the softmax, given the gradient of the
logarithm or of the cross entropy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.graph import Apply
from theano.rewriting import P, Rest, Var, local_rule, pattern_vars, rule
from theano.tensor.control.checks import same_length
from theano.tensor.create.alloc import Alloc, alloc
from theano.tensor.create.arange import ARange
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.index.advanced import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
)
from theano.tensor.nnet.activation import sigmoid, softplus
from theano.tensor.nnet.crossentropy import CrossentropyCategorical1Hot, crossentropy_categorical_1hot_grad
from theano.tensor.nnet.ctc import ConnectionistTemporalClassification
from theano.tensor.nnet.likelihood import (
    CrossentropySoftmax1HotWithBiasDx,
    CrossentropySoftmaxArgmax1HotWithBias,
    crossentropy_softmax_1hot_with_bias_dx,
    crossentropy_softmax_argmax_1hot_with_bias,
)
from theano.tensor.nnet.softmax import (
    LogSoftmax,
    Softmax,
    SoftmaxGrad,
    SoftmaxWithBias,
    along,
    logsoftmax_op,
    softmax_op,
    softmax_with_bias,
)
from theano.tensor.reduce.argmax import Argmax, MaxAndArgmax
from theano.tensor.reduce.careduce import CAReduce, Max, Sum
from theano.tensor.reduce.logsumexp import LogSumExp
from theano.tensor.rules.predicates import (
    combine,
    conform,
    factors_of,
    filled_with,
    made_by,
    number_of,
    only_used_by,
    scalar_of,
    times,
    uniform,
)
from theano.tensor.shape.basic import Shape_i, shape_i
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.fgraph import FunctionGraph
    from theano.graph.variable import Variable
    from theano.rewriting.rule import Answer
    from theano.tensor.type import Tensor

x, b = pattern_vars("x b")
value, dy, sm, classes = pattern_vars("value dy sm classes")
ALWAYS = ("fast_run", "fast_compile_gpu")
LOGARITHM = ("fast_run", "fast_compile", "stabilize")


def _is_softmax(v: Variable) -> bool:
    return v.owner is not None and isinstance(v.owner.op, (Softmax, SoftmaxWithBias))


# -- the logarithm --------------------------------------------------------------------------------------------------

rule("local_logsoftmax", P(F.log)(P(softmax_op)(x)), P(logsoftmax_op)(x), keeps="finite",
     phases=("stabilize", "specialize"), tags=LOGARITHM)  # fmt: skip
rule("local_logsoftmax_with_bias", P(F.log)(P(softmax_with_bias)(x, b)), lambda x, b: logsoftmax_op(F.add(x, b)),
     keeps="finite", phases=("stabilize", "specialize"), tags=LOGARITHM)  # fmt: skip


def _without_quotient(dy: Tensor, sm: Tensor, fgraph: FunctionGraph) -> Any:
    if _written_to_classes(dy, sm, fgraph) is not None:
        return None  # the rule for cross entropies knows better
    g: Any = times(dy, sm)
    if g is not None and g.type.broadcastable != sm.type.broadcastable:
        g = F.second(sm, g)  # one number for all
    g = None if g is None else conform(g, sm)
    return None if g is None else F.sub(g, F.mul(g.sum(axis=1, keepdims=True), sm))


rule("local_logsoftmax_grad", P(SoftmaxGrad)(dy, sm.where(_is_softmax)), _without_quotient, keeps="finite",
     phases=("stabilize", "specialize"), tags=LOGARITHM,
     doc="The gradient of ``log(softmax(x))``: what is divided by the softmax is multiplied by it again at once.",
)  # fmt: skip


@local_rule([F.true_div], keeps="finite", phases=("stabilize", "specialize"), tags=LOGARITHM)
def local_softmax_grad_over_softmax(node: TensorApply) -> Answer:
    """The derivative of ``log(softmax(x))`` along a direction, not multiplied and divided by the softmax."""
    above, sm = node.inputs
    factors = factors_of(above)
    for i, factor in enumerate(factors):
        if factor.owner is not None and isinstance(factor.owner.op, SoftmaxGrad) and factor.owner.inputs[1] is sm:
            dy = factor.owner.inputs[0]
            factors[i] = F.sub(dy, F.mul(dy, sm).sum(axis=1, keepdims=True))
            return [conform(combine(F.mul, factors, above.type.dtype), node.outputs[0])]
    return None


@local_rule([F.true_div], keeps="finite", phases=("stabilize",), tags=(*LOGARITHM,))
def softmax_simplifier(node: TensorApply) -> Any:
    """Exponentials divided by their sums along an axis of a matrix or larger tensor, as users write a softmax.

    Factors beside both stay: the slope of a mean of ``log(sum(exp(x)))`` has the number of rows in its denominator.
    """
    above, divisors = node.inputs[0], factors_of(node.inputs[1])
    factors = factors_of(above)
    powers = [made_by(v, F.exp) for v in factors]
    for k, divisor in enumerate(divisors):
        found = _summed_exponent(divisor)
        places = [i for i, p in enumerate(powers) if found is not None and p is not None and p.inputs[0] is found[0]]
        if found is not None and places:
            x, axis = found
            factors[places[0]] = along(softmax_op, _without_largest(x, axis), axis)
            new = combine(F.mul, factors, above.type.dtype)
            others = divisors[:k] + divisors[k + 1 :]
            if others:
                new = F.true_div(new, combine(F.mul, others, node.inputs[1].type.dtype))
            new = conform(new, node.outputs[0])
            return None if new is None else [new]
    return None


def _reduced_along(v: Tensor, kind: type[CAReduce | LogSumExp]) -> tuple[Tensor, int] | None:
    """Return what ``v``, which has all axes again, is a reduction of along one of several axes; and that axis."""
    restored = v.owner
    node = restored.inputs[0].owner if restored is not None and isinstance(restored.op, DimShuffle) else None
    if node is None or not isinstance(node.op, kind) or node.inputs[0].type.ndim < 2:
        return None
    (x,), axes = node.inputs, node.op.axes_of(node.inputs[0].type.ndim)
    order = tuple("x" if d in axes else d - sum(a < d for a in axes) for d in range(x.type.ndim))
    return (x, axes[0]) if len(axes) == 1 and v.owner is not None and v.owner.op.new_order == order else None


def _summed_exponent(v: Tensor) -> tuple[Tensor, int] | None:
    """Return x and the axis where ``v`` has the sums of ``exp(x)`` along an axis; or None."""
    found = _reduced_along(v, Sum)
    exponential = None if found is None else made_by(found[0], F.exp)
    if found is None or exponential is None:
        return None
    x = exponential.inputs[0]
    return (x, found[1]) if x.type.dtype == v.type.dtype and x.type.dtype in ("float32", "float64") else None


def _without_largest(x: Tensor, axis: int) -> Tensor:
    """Return y where ``x`` is y less the largest of y along an axis, which a softmax subtracts itself."""
    apart = made_by(x, F.sub)
    y = x if apart is None else apart.inputs[0]
    return y if apart is not None and _reduced_along(apart.inputs[1], Max) == (y, axis) else x


def _of_shifted(op: Softmax | LogSoftmax, x: Tensor, shift: Tensor) -> Tensor | None:
    known = _reduced_along(shift, LogSumExp)
    if known is None or known[0] is not x or x.type.dtype not in ("float32", "float64"):
        return None
    alone = shift.owner is not None and only_used_by(shift.owner.inputs[0], shift.owner) and len(shift.clients) == 1
    return along(op, x, known[1]) if alone else None


def _is_no_exponent(out: Tensor) -> bool:
    return not any(isinstance(c, Apply) and scalar_of(c) == scal.exp for c, _ in out.clients)


rule("local_softmax_of_logsumexp", P(F.exp)(P(F.sub)(x, b).single_use()), lambda x, b: _of_shifted(softmax_op, x, b),
     also=[(P(F.sub)(x, b), lambda x, b: _of_shifted(logsoftmax_op, x, b), _is_no_exponent)], keeps="finite",
     phases=("specialize",),
     doc="``exp(x - log(sum(exp(x))))`` along an axis is a softmax; ``x - log(sum(exp(x)))`` is its logarithm.",
)  # fmt: skip


_largest = P(DimShuffle, new_order=(0, "x"))(P(Max, "largest")(x))
rule("local_softmax_of_shifted", P((Softmax, LogSoftmax), "f")(P(F.sub)(x, _largest)), P("f")(x),
     when=lambda largest: largest.axes_of(2) == (1,), keeps="finite", phases=("stabilize", "specialize"),
     tags=LOGARITHM,
     doc="A softmax subtracts the maximum of each row itself, so an earlier subtraction is dropped.")  # fmt: skip


# -- a bias ---------------------------------------------------------------------------------------------------------


def _with_bias(total: Tensor) -> Any:
    found = _matrix_and_bias(total)
    return None if found is None else softmax_with_bias(*found)


rule("local_softmax_with_bias", P(Softmax)(P(F.add)(Rest("terms")).single_use().named("total")), _with_bias,
     keeps="close", phases=("specialize",), tags=ALWAYS,
     doc="The softmax of a sum of a matrix and a row, in one step.")  # fmt: skip


def _matrix_and_bias(v: Tensor) -> tuple[Any, Any] | None:
    """Return m and b if ``v`` is the sum of the matrix m and the vector b, which is added to each row."""
    total = made_by(v, F.add)
    if total is None:
        return None
    rows = [t for t in total.inputs if _as_vector(t) is not None]
    if len(rows) == len(total.inputs):
        rows = rows[1:]  # a matrix of one row is one, too
    if not rows:
        return None
    # The vectors are added to each other, not each of them to all rows.
    bias: Tensor = combine(F.add, [_as_vector(t) for t in rows], v.type.dtype)
    matrix: Tensor = combine(F.add, [t for t in total.inputs if t not in rows], v.type.dtype)
    if bias.type.dtype != v.type.dtype or matrix.type != v.type:
        return None
    return matrix, bias


def _as_vector(v: Tensor) -> Any:
    """Return the vector that a row was made of, or None."""
    node = v.owner
    if node is None or not isinstance(node.op, DimShuffle) or node.op.new_order != ("x", 0):
        return None
    return node.inputs[0] if node.inputs[0].type.broadcastable == (False,) else None


def _rows_of(sm: Any) -> tuple[Any, Any] | None:
    """Return the matrix and the bias that a softmax is taken of."""
    if not _is_softmax(sm):
        return None
    node = sm.owner
    if isinstance(node.op, SoftmaxWithBias):
        return node.inputs[0], node.inputs[1]
    matrix = node.inputs[0]
    return _matrix_and_bias(matrix) or (matrix, _no_bias(matrix))


def _no_bias(matrix: Tensor) -> Variable:
    """Return zeros as long as the rows of ``matrix``."""
    zero = number_of(0, matrix.type.dtype, 1)
    return alloc(zero, shape_i(matrix, 1)) if not matrix.type.broadcastable[1] else zero


# -- cross entropy with classes -------------------------------------------------------------------------------------


def _entropy_of(sm: Any, classes: Any, out: Any) -> Any:
    rows = _rows_of(sm)
    assert rows is not None
    nll, new_sm, _ = crossentropy_softmax_argmax_1hot_with_bias(*rows, classes, return_list=True)
    # The softmax as well, for its other clients.
    return {out: nll} if only_used_by(sm, out.owner) else {out: nll, sm: conform(new_sm, sm)}


rule("crossentropy_to_crossentropy_with_softmax_with_bias",
     P(CrossentropyCategorical1Hot)(P(SoftmaxWithBias)(x, b).named("sm"), classes), _entropy_of, keeps="finite",
     phases=("stabilize", "specialize"), tags=(*ALWAYS, "xent"),
     doc="The cross entropy of a softmax with a bias, and the softmax itself, from the rows in one step.",
)  # fmt: skip


rule("crossentropy_to_crossentropy_with_softmax", P(CrossentropyCategorical1Hot)(P(Softmax)(x).named("sm"), classes),
     _entropy_of, keeps="finite", phases=("stabilize", "specialize"), tags=(*ALWAYS, "xent"),
     doc="The cross entropy of a softmax, and the softmax itself, from the rows in one step.")  # fmt: skip


def _is_repeated_for_rows(value: Tensor, sm: Tensor, classes: Tensor, out: Any, fgraph: FunctionGraph) -> bool:
    # As many as there are rows, or classes, for certain: otherwise the error would be lost.
    feature = getattr(fgraph, "shape_feature", None)
    dy = out.owner.inputs[0]
    if feature is None or not all(value.type.broadcastable):
        return False
    return any(feature.same_shape(dy, v, 0, 0) for v in (sm, classes))


rule("local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc",
     P(CrossentropySoftmax1HotWithBiasDx, "op")(P(Alloc)(value, Rest("lengths")), sm, classes, Rest("how")),
     lambda op, value, sm, classes, how: op(value if value.type.ndim else value.dimshuffle("x"), sm, classes, *how),
     when=_is_repeated_for_rows, phases=("stabilize", "specialize"), tags=ALWAYS,
     doc="One gradient for all rows need not be repeated: the op reads it for each.")  # fmt: skip


rule("local_softmax_grad_to_crossentropy_with_softmax_grad",
     P(SoftmaxGrad)(P(crossentropy_categorical_1hot_grad)(value, sm, classes), sm),
     P(crossentropy_softmax_1hot_with_bias_dx)(value, sm, classes), keeps="finite", phases=("stabilize", "specialize"),
     tags=(*ALWAYS, "local_crossentropy_to_crossentropy_with_softmax_grad"),
     doc="The gradient of the cross entropy of a softmax, without the division that the two parts would need.",
)  # fmt: skip


@local_rule([Softmax, SoftmaxWithBias], keeps="close", phases=("specialize",), tags=ALWAYS)
def graph_merge_softmax_with_crossentropy_softmax(node: TensorApply) -> Answer:
    """A softmax that a cross entropy computes on its way is not computed again."""
    rows = _rows_of(node.outputs[0])
    assert rows is not None
    for client, i in rows[0].clients:
        if isinstance(client, Apply) and i == 0 and isinstance(client.op, CrossentropySoftmaxArgmax1HotWithBias):
            same_bias = client.inputs[1] is rows[1] or (filled_with(client.inputs[1], 0) and filled_with(rows[1], 0))
            if same_bias and client.outputs[1].type == node.outputs[0].type:
                return [client.outputs[1]]
    return None


def _nobody_uses_others(out: Any) -> bool:
    return not any(v.clients for v in out.owner.outputs if v is not out)


rule("local_softmax_of_unused_crossentropy", P(CrossentropySoftmaxArgmax1HotWithBias, output=1)(x, b, Rest("how")),
     lambda x, b: softmax_op(x) if filled_with(b, 0) else softmax_with_bias(x, b), when=_nobody_uses_others,
     keeps="close", phases=("specialize",), tags=ALWAYS,
     doc="A cross entropy of which only the softmax is used becomes that softmax.")  # fmt: skip


# -- classes chosen by an index -------------------------------------------------------------------------------------


def _counts_rows(v: Variable, classes: Tensor, sm: Tensor, fgraph: FunctionGraph) -> str | None:
    """Return whether ``v`` is 0, 1, 2, ... up to the number of classes given ("first"), or of rows ("all")."""
    node = v.owner
    if node is None or not isinstance(node.op, ARange) or uniform(node.inputs[0]) != 0 or uniform(node.inputs[2]) != 1:
        return None
    stop = node.inputs[1]
    if stop.type.dtype not in scal.integer_dtypes:
        return None
    feature = getattr(fgraph, "shape_feature", None)
    for how, model in (("first", classes), ("all", sm)):
        length = stop.owner
        if length is not None and length.op == Shape_i(0) and length.inputs[0] is model:
            return how
        if feature is not None and same_length(feature.lengths(model)[0], stop):
            return how
    return None


def _is_class(v: Tensor) -> bool:
    return v.type.ndim == 1 and v.type.dtype.startswith(("int", "uint"))


def _of_classes(x: Tensor, log_sm: Tensor, rows: Variable, classes: Tensor, fgraph: FunctionGraph) -> Any:
    how = _counts_rows(rows, classes, log_sm, fgraph)
    if how is None:
        return None
    matrix, bias = _matrix_and_bias(x) or (x, _no_bias(x))
    return [F.neg(crossentropy_softmax_argmax_1hot_with_bias(matrix, bias, classes, how, return_list=True)[0])]


rule("local_advanced_indexing_crossentropy_onehot",
     P(AdvancedSubtensor)(P(logsoftmax_op)(x).named("log_sm"), Var("rows"), classes.where(_is_class)), _of_classes,
     keeps="finite", phases=("specialize",), tags=ALWAYS,
     doc="``log(softmax(x))[arange(n), y]``, the log-likelihood of classes, as minus a cross entropy.")  # fmt: skip


def _written_to_classes(dy: Tensor, sm: Tensor, fgraph: FunctionGraph) -> tuple[Any, Any, str] | None:
    """Return v, classes and how rows are counted if ``dy`` is v at the classes of rows, over the softmax there."""
    over = made_by(dy, F.true_div)
    node = over.inputs[0].owner if over is not None and over.inputs[1] is sm else None
    if node is None or not isinstance(node.op, AdvancedIncSubtensor) or len(node.inputs) != 4:
        return None
    base, values, places, classes = node.inputs
    how = _counts_rows(places, classes, sm, fgraph)
    if not filled_with(base, 0) or not _is_class(classes) or how is None:
        return None
    # What is written into zeros of a narrower dtype is rounded there.
    if values.type.ndim > 1 or not values.type.dtype == base.type.dtype == sm.type.dtype:
        return None
    return values, classes, how


def _at_classes(dy: Tensor, sm: Tensor, fgraph: FunctionGraph) -> Any:
    found = _written_to_classes(dy, sm, fgraph)
    if found is None:
        return None
    values, classes, how = found
    return crossentropy_softmax_1hot_with_bias_dx(F.neg(values), sm, classes, how)


rule("local_advanced_indexing_crossentropy_onehot_grad", P(SoftmaxGrad)(dy, sm), _at_classes, keeps="finite",
     phases=("specialize",), tags=ALWAYS,
     doc="The gradient of ``log(softmax(x))[arange(n), y]`` with respect to ``x``, the logarithm before or after.",
)  # fmt: skip


# -- the place of the largest ---------------------------------------------------------------------------------------

_INCREASING = (sigmoid.scalar_op, softplus.scalar_op, scal.tanh, scal.exp)


def _unshifted(total: TensorApply, axes: Any) -> Any:
    """Return a sum or difference without what is one number along ``axes``; None if it is none."""
    terms = list(total.inputs)
    if scalar_of(total) not in (scal.add, scal.sub):
        return None
    varying = [v for v in terms if not all(v.type.broadcastable[axis] for axis in axes)]
    if len(varying) == len(terms) or not varying or (scalar_of(total) == scal.sub and varying[0] is not terms[0]):
        return None
    x: Tensor = combine(F.add, varying, total.outputs[0].type.dtype)
    return x if x.type == total.outputs[0].type else None


local_ctc_no_grad = rule(
    "local_ctc_no_grad", P(ConnectionistTemporalClassification, compute_grad=True)(Rest("inputs")),
    lambda inputs: ConnectionistTemporalClassification(compute_grad=False)(*inputs), when=_nobody_uses_others,
    tags=("fast_run", "fast_compile"), doc="An unused gradient is not computed with the costs.",
)  # fmt: skip


def _pushed_down(op: Argmax | MaxAndArgmax, inner: Tensor, out: Tensor) -> Any:
    node = inner.owner
    if node is None:
        return None
    if isinstance(node.op, (Softmax, SoftmaxWithBias, LogSoftmax)):
        if op.axis is None or tuple(op.axis) != (1,):
            return None  # the largest of all rows depends on what each is divided by
        x = node.inputs[0]
        if isinstance(node.op, SoftmaxWithBias):
            x = F.add(x, node.inputs[1].dimshuffle("x", 0))
    elif scalar_of(node) in _INCREASING:
        x = node.inputs[0]
    else:
        x = _unshifted(node, range(inner.type.ndim) if op.axis is None else op.axis)
    return None if x is None or x.type.dtype not in scal.float_dtypes else Argmax(op.axis)(x)


# Where rounding makes several values of the function equal, that is still the place of the largest argument.
inner = Var("inner")
rule("local_argmax_pushdown", P(Argmax, "op")(inner), _pushed_down,
     also=[(P(MaxAndArgmax, "op", output=1)(inner), _pushed_down, _nobody_uses_others)], keeps="finite",
     phases=("specialize",), tags=ALWAYS,
     doc="The largest of a softmax, of any increasing function, or of a shifted row, is where that of the argument is.",
)  # fmt: skip
