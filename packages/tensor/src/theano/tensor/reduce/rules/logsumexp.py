"""Logarithms of sums of exponentials, and quotients by such sums, relative to the largest: nothing overflows.

If the sum has another use, it is computed as it is as well: the rules do not ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.rewriting import P, Phase, local_rule, pattern_vars, phases, rule
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.rules.moved import logarithm
from theano.tensor.elemwise.rules.stable import log_of_one_minus_exp
from theano.tensor.nnet.activation import sigmoid
from theano.tensor.reduce.axes import restore_axes
from theano.tensor.reduce.careduce import Max, Sum
from theano.tensor.reduce.logsumexp import LogSumExp
from theano.tensor.rules.moves import moved_alike, sources
from theano.tensor.rules.predicates import (
    E,
    combine,
    conform,
    factors_of,
    filled_with,
    in_dtype,
    in_reals,
    is_complex,
    is_float,
    is_real,
    made_by,
    number_like,
    scalar_of,
    uniform,
)
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.fgraph import FunctionGraph
    from theano.rewriting.rule import Answer
    from theano.tensor.elemwise.op import Elemwise
    from theano.tensor.type import Tensor

x, y = pattern_vars("x y")
real = x.where(is_real)
exp, log = E(F.exp), E(F.log)
EVERYWHERE = ("canonicalize", "stabilize", "specialize")


def _power(v: Tensor) -> tuple[Any, list[Any]] | None:
    """Return x and the factors w if ``v`` is ``exp(x) * w``; a positive number c is ``exp(log(c))``."""
    factors = factors_of(v)
    exponents = [_exponent(factor) for factor in factors]
    found = [t for t in exponents if t is not None]
    if found:
        rest = [factor for factor, t in zip(factors, exponents, strict=True) if t is None]
        return found[0] if len(found) == 1 else F.add(*map(in_reals, found)), rest
    number = uniform(v)
    return (F.log(v), []) if number is not None and is_float(v) and number > 0 else None


def _exponent(v: Any) -> Any:
    """Return x if ``v`` is ``exp(x)``, or consists of moved elements of it, else None."""
    power = made_by(v, F.exp)
    if power is not None:
        return power.inputs[0]
    inner = _exponent(v.owner.inputs[0]) if sources(v) == (0,) else None
    return None if inner is None else moved_alike(v, {0: inner})


def _relative(t: Tensor, largest: Tensor) -> Tensor:
    """Return ``t - largest``; 0 where both are the same infinity, whose difference is not a number."""
    apart = F.sub(t, largest)
    return F.switch(F.eq(t, largest), number_like(0, apart), apart)


@local_rule([F.log], keeps="finite", phases=EVERYWHERE, needs=[F.exp])
def local_log_add(node: TensorApply) -> Any:
    """``log(exp(a) + exp(b))`` is ``max(a, b) + log1p(exp(-|a - b|))``; of a difference, ``a + log(1 - exp(b - a))``.

    With more terms, or factors, ``log(w * exp(a) + ...)`` is ``m + log(w * exp(a - m) + ...)`` with m the largest of
    the exponents.
    """
    out = node.outputs[0]
    added, taken = _signed(node.inputs[0])
    found = [] if is_complex(out) else [_power(term) for term in added + taken]
    if len(found) < 2 or any(each is None or is_complex(each[0]) for each in found):
        return None
    terms = [(in_reals(t), w) for t, w in found]  # type: ignore[misc]
    if all(uniform(t) is not None for t, _ in terms) or all(_is_relative(t) for t, _ in terms):
        return None
    (a, v), (b, w) = terms[:2]
    if len(terms) == 2 and not v and not w:
        if any(filled_with(term, 1) for term in added + taken):
            return None  # other rules make it softplus, or the logarithm of expm1
        if taken:
            return [conform(F.add(a, log_of_one_minus_exp(_relative(b, a))), out)]
        small = F.log1p(F.exp(F.neg(F.abs_(_relative(a, b)))))
        return [conform(F.add(F.maximum(a, b), small), out)]
    largest = a
    for t, _ in terms[1:]:
        largest = F.maximum(largest, t)
    powers = [combine(F.mul, [F.exp(_relative(t, largest)), *w], out.type.dtype) for t, w in terms]
    rest = combine(F.add, powers[: len(added)], out.type.dtype)
    if taken:
        rest = F.sub(rest, combine(F.add, powers[len(added) :], out.type.dtype))
    return [conform(F.add(largest, F.log(rest)), out)]


def _signed(v: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Return the terms that are added to ``v``, and those that are subtracted: of anything else than a sum, none."""
    apart = made_by(v, F.sub)
    if apart is not None:
        added, taken = ([w] if made_by(w, F.add) is None else list(w.owner.inputs) for w in apart.inputs)
        return added, taken
    total = made_by(v, F.add)
    return [] if total is None else list(total.inputs), []


@local_rule([F.log], keeps="finite", phases=("specialize",), needs=[F.exp])
def local_log_of_power(node: TensorApply) -> Answer:
    """``log(exp(x) * w / s)`` is ``x + log(w / s)``, where the exponential may underflow or overflow.

    Late, so that quotients which have a form of their own have found it: softmax, sigmoid, sums of exponentials.
    """
    v, out = node.inputs[0], node.outputs[0]
    over = made_by(v, F.true_div)
    above, *below = (v,) if over is None else over.inputs
    power = None if uniform(above) is not None or is_complex(out) else _power(above)
    if power is None or is_complex(power[0]) or not power[1] + below:
        return None
    t, weights = in_reals(power[0]), power[1]
    # Whole numbers have logarithms of fewer digits than the whole.
    below = [in_dtype(s, v.type.dtype) for s in below]
    rest = in_dtype(combine(F.mul, weights, v.type.dtype), v.type.dtype) if weights else None
    if rest is None:
        return [conform(F.sub(t, F.log(*below)), out)]
    return [conform(F.add(t, F.log(F.true_div(rest, *below) if below else rest)), out)]


def _is_relative(t: Tensor) -> bool:
    """Return whether ``t`` is what :func:`_relative` makes: the sum has been taken care of."""
    chosen = made_by(t, F.switch)
    return chosen is not None and filled_with(chosen.inputs[1], 0) and made_by(chosen.inputs[0], F.eq) is not None


phases.register("local_log_sum_exp", Phase("local_log_sum_exp", "in_to_out"), 1.6, "fast_run")


def _has_axes(total: Sum, x: Tensor) -> bool:
    return bool(total.axes_of(x.type.ndim))


def _log_sum_exp(total: Sum, x: Tensor) -> Tensor:
    return LogSumExp(total.axes_of(x.type.ndim))(x)


_total = P(Sum, "total")(exp(real))
rule("local_log_sum_exp", log(_total), _log_sum_exp, when=_has_axes, keeps="finite", phases=("local_log_sum_exp",),
     also=[(log(P(DimShuffle, "keepdims")(_total)),
            lambda keepdims, total, x: keepdims(_log_sum_exp(total, x)), _has_axes)],
     doc="``log(sum(exp(x)))`` is computed relative to the largest element, so that no exponential overflows.",
)  # fmt: skip


def _is_shifted(t: Tensor) -> bool:
    """Return whether something large is subtracted, so that exponentials of ``t`` do not overflow."""
    apart = made_by(t, F.sub)
    largest = None if apart is None else apart.inputs[1].owner
    while largest is not None and (isinstance(largest.op, DimShuffle) or scalar_of(largest) == scal.switch):
        largest = largest.inputs[-1].owner
    return largest is not None and isinstance(largest.op, (Max, LogSumExp))


def _weighted(total: Sum, x: Tensor) -> Any:
    power = _power(x)
    if power is None or not power[1] or not is_real(power[0]) or _is_shifted(power[0]):
        return None
    t, weights = power
    axes = total.axes_of(x.type.ndim)
    largest = LogSumExp(axes)(t)  # minus infinity over no elements, which have no maximum
    largest = F.switch(F.isinf_(largest), number_like(0, largest), largest)
    relative = F.exp(F.sub(t, restore_axes(largest, t, axes)))
    return F.add(largest, F.log(total(combine(F.mul, [relative, *weights], x.type.dtype))))


rule("local_log_sum_exp_weighted", log(P(Sum, "total")(x)), _weighted, keeps="finite", phases=("local_log_sum_exp",),
     doc="``log(sum(w * exp(x)))`` is ``m + log(sum(w * exp(x - m)))`` with m being ``log(sum(exp(x)))``.",
)  # fmt: skip


@local_rule([F.add], keeps="finite", phases=("local_log_sum_exp",))
def local_log_sum_exp_shifted(node: TensorApply) -> Answer:
    """``LogSumExp(x - m) + m``, as users write it who know that exponentials overflow, is ``LogSumExp(x)``."""
    for reduced in (v.owner for v in node.inputs):
        if reduced is None:
            continue
        inner = reduced.inputs[0].owner if isinstance(reduced.op, DimShuffle) else reduced
        if inner is None or not isinstance(inner.op, LogSumExp):
            continue
        apart = made_by(inner.inputs[0], F.sub)
        rest = list(node.inputs)
        rest.remove(reduced.outputs[0])
        if apart is None:
            continue
        x, shift = apart.inputs
        for v in rest:
            if x.type == inner.inputs[0].type and _same_shift(shift, v, inner, reduced):
                rest.remove(v)
                whole: Tensor = LogSumExp(inner.op.axis)(x)
                if inner is not reduced:
                    whole = reduced.op(whole)
                return [conform(F.add(whole, *rest) if rest else whole, node.outputs[0])]
    return None


def _same_shift(shift: Tensor, v: Tensor, inner: Any, reduced: Any) -> bool:
    """Return whether ``shift``, before the sum, and ``v``, after it, are one tensor without the axes of the sum."""
    axes = inner.op.axes_of(shift.type.ndim)
    if not all(shift.type.broadcastable[a] for a in axes):
        return False
    if inner is not reduced:
        return v is shift
    kept = [a for a in range(shift.type.ndim) if a not in axes]
    restored = tuple(kept.index(a) if a in kept else "x" for a in range(shift.type.ndim))
    return _arranged(shift, v, restored) or _arranged(v, shift, tuple(kept))


def _arranged(new: Tensor, old: Tensor, order: tuple[int | str, ...]) -> bool:
    node = new.owner
    return node is not None and isinstance(node.op, DimShuffle) and node.inputs[0] is old and node.op.new_order == order


# -- quotients ------------------------------------------------------------------------------------------------------


@local_rule([F.true_div], keeps="finite", phases=("stabilize",), needs=[F.exp])
def local_exp_over_sum_exp(fgraph: FunctionGraph, node: TensorApply) -> Answer:
    """``exp(x) / s`` with s a sum of exponentials is ``exp(x - log(s))``, and sigmoid(x - y) where s has two.

    Gradients of their logarithms look like this.
    """
    above, below = node.inputs
    out = node.outputs[0]
    if not is_real(out) or not _adds_exponentials(below):
        return None
    new = _over(fgraph, above, below)
    return None if new is None else [conform(new, out)]


def _over(fgraph: FunctionGraph, v: Tensor, below: Tensor) -> Any:
    """Return ``v / below`` where each term of ``v`` has an exponential for a factor, else None."""
    product, t = made_by(v, F.mul), _exponent(v)
    total = made_by(v, F.add) or made_by(v, F.sub) or made_by(v, F.neg)
    if t is not None:
        new = _weight_of_two(t, below)
        if new is None:
            new = _over_difference(t, below)
        if new is None:
            whole = logarithm(fgraph, below)
            new = None if whole is None else F.exp(F.sub(in_reals(t), whole))
        return new
    if total is not None:
        terms = [_over(fgraph, term, below) for term in total.inputs]
        return None if any(term is None for term in terms) else total.op(*terms)
    for i, factor in enumerate(() if product is None else product.inputs):
        new = _over(fgraph, factor, below)
        if new is not None:
            return F.mul(*[new if i == j else w for j, w in enumerate(product.inputs)])  # type: ignore[union-attr]
    return None


def _adds_exponentials(v: Tensor) -> bool:
    """Return whether ``v`` consists of sums of exponentials, wherever they were moved to."""
    node = v.owner
    if node is None:
        return False
    if isinstance(node.op, Sum):
        power = _power(node.inputs[0])
        return power is not None and is_real(power[0]) and not _is_shifted(power[0])
    total = made_by(v, F.add)
    if total is not None:
        return all(_power(term) is not None for term in total.inputs)
    if made_by(v, F.sub) is not None:
        return _two_exponents(v, F.sub) is not None
    places = sources(v)
    return bool(places) and all(_adds_exponentials(node.inputs[i]) for i in places)


def _two_exponents(v: Tensor, op: Elemwise) -> tuple[Tensor, Tensor] | None:
    """Return a and b where ``v`` is ``op`` of ``exp(a)`` and ``exp(b)``."""
    total = made_by(v, op)
    powers = [] if total is None else [_power(term) for term in total.inputs]
    if len(powers) != 2 or any(p is None or p[1] or not is_real(p[0]) for p in powers):
        return None
    (a, _), (b, _) = powers  # type: ignore[misc]
    return a, b


def _over_difference(t: Tensor, below: Tensor) -> Tensor | None:
    """Return ``exp(t) / (exp(a) - exp(b))``, relative to the larger of both."""
    found = _two_exponents(below, F.sub)
    if found is None or is_complex(t):
        return None
    a, b = found
    apart = F.sub(a, b)
    return F.true_div(
        F.exp(F.sub(in_reals(t), F.maximum(a, b))), F.mul(F.sgn(apart), F.neg(F.expm1(F.neg(F.abs_(apart)))))
    )


def _weight_of_two(t: Tensor, below: Tensor) -> Any:
    found = _two_exponents(below, F.add)
    if found is None:
        return None
    a, b = found
    return sigmoid(F.sub(a, b)) if t is a else sigmoid(F.sub(b, a)) if t is b else None
