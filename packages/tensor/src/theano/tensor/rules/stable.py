"""Exponentials, logarithms and their relatives, in forms that neither overflow nor cancel.

A rule here states an identity. Where Python's operators can say it, it is a pattern; sums appear in their canonical
form (constants first, ``1 - x`` as it is, ``x - 1`` as ``-1 + x``), since that is what the rule will meet.
"""

from __future__ import annotations

from typing import Any

from theano import scalar as scal
from theano.graph import Apply
from theano.rewriting import Phase, local_rule, pattern_vars, phases, rule
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.careduce import Sum
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.nnet.activation import sigmoid, softplus
from theano.tensor.reduce.logsumexp import LogSumExp
from theano.tensor.rules.words import (
    E,
    filled_with,
    fit,
    is_float,
    made_by,
    not_complex_x,
    number_like,
    number_of,
    of_shared_sigmoid,
    only_used_by,
    real_x,
    scalar_of,
    uniform,
)

x, y = pattern_vars("x y")
exp, log, log1p, expm1 = E(F.exp), E(F.log), E(F.log1p), E(F.expm1)
erf, erfc = E(F.erf), E(F.erfc)
S, softplus_ = E(sigmoid), E(softplus)
EVERYWHERE = ("canonicalize", "stabilize", "specialize")
LATE = ("stabilize", "specialize")



def in_reals(x: Any) -> Any:
    """Return ``x`` in the dtype that functions like exp have of it, in which it can be negated whatever it was."""
    return x if is_float(x) else F.cast(x, F.exp(x).type.dtype)


def minus(x: Any) -> Any:
    """Return the negative of ``x`` as a real number."""
    return F.neg(in_reals(x))


# -- logarithms and exponentials of sums ------------------------------------------------------------------------

rule("local_log1p", log(1 - x), log1p(-x), keeps="close", when=real_x, phases=LATE)
rule("local_log1p_plus", log(1 + x), log1p(x), keeps="close", when=real_x, phases=LATE)
rule("local_expm1", -1 + exp(x), expm1(x), keeps="close", when=not_complex_x, phases=EVERYWHERE)
rule("local_expm1_sub", exp(x) - 1, expm1(x), keeps="close", when=not_complex_x, phases=EVERYWHERE)
rule("local_one_minus_exp", 1 - exp(x), -expm1(x), keeps="close", when=not_complex_x, phases=LATE)

# -- the sigmoid ------------------------------------------------------------------------------------------------

rule("local_inv_1_plus_exp", E(F.inv)(1 + exp(x)), lambda x: sigmoid(minus(x)), keeps="finite", when=not_complex_x,
     phases=("stabilize",))  # fmt: skip
rule("local_sigm_times_exp", S(x) * exp(-x), S(-x), keeps="finite", when=real_x, phases=("stabilize",))
rule("local_sigm_times_exp_neg", S(-x) * exp(x), S(x), keeps="finite", when=real_x, phases=("stabilize",))
rule("local_1msigmoid", 1 - S(x), lambda x: sigmoid(minus(x)), keeps="close", phases=("stabilize",))
rule("logsigm_to_softplus", log(S(x)), lambda x: F.neg(softplus(minus(x))), keeps="finite", phases=("stabilize",))
rule("log1msigm_to_softplus", log(1 - S(x)), -softplus_(x), keeps="finite", phases=("stabilize",))
rule("log1p_neg_sigmoid", log1p(-S(x)), -softplus_(x), keeps="finite", phases=("stabilize",))
rule("log1pexp_to_softplus", log1p(exp(x)), softplus_(x), keeps="finite", when=not_complex_x, phases=("stabilize",))


@local_rule([F.log, F.log1p, F.neg, F.sub], phases=("canonicalize", "stabilize"))
def local_sigmoid_before_dimshuffle(node: Apply) -> Any:
    """``log(p)``, ``1 - p`` and ``-p`` of a rearranged sigmoid p are computed first and rearranged then.

    So they meet the rules above, and in gradients the factors that they cancel with. That is for a p that is needed
    as it is, too: otherwise the rearrangement moves into the sigmoid.
    """
    *ones, arranged = node.inputs
    shuffle = arranged.owner
    if shuffle is None or not isinstance(shuffle.op, DimShuffle) or not all(filled_with(v, 1) for v in ones):
        return None
    p: Any = shuffle.inputs[0]
    if not of_shared_sigmoid(p):
        return None
    inner = node.op(*[number_of(1, v.type.dtype, p.type.ndim) for v in ones], p)  # type: ignore[attr-defined]
    return [fit(shuffle.op(inner), node.outputs[0])]



def _one_plus_exp(v: Any) -> Any:
    """Return x if ``v`` is ``1 + exp(x)``, else None."""
    total = made_by(v, F.add)
    if total is None or len(total.inputs) != 2 or not filled_with(total.inputs[0], 1):
        return None
    power = made_by(total.inputs[1], F.exp)
    return None if power is None else power.inputs[0]


def _factors(v: Any) -> list[Any]:
    """Return the factors of a product; a square counts twice."""
    product, square = made_by(v, F.mul), made_by(v, F.sqr)
    if product is not None:
        return [f for w in product.inputs for f in ([w] if made_by(w, F.mul) is not None else _factors(w))]
    return _factors(square.inputs[0]) * 2 if square is not None and made_by(square.inputs[0], F.mul) is None else [v]


@local_rule([F.true_div], keeps="finite", phases=("stabilize",))
def local_exp_over_1_plus_exp(node: Apply) -> Any:
    """``exp(x) / (1 + exp(x))`` is sigmoid(x), and ``1 / (1 + exp(x))`` is sigmoid(-x), in any product."""
    out: Any = node.outputs[0]
    if not is_float(out) or out.type.dtype in scal.complex_dtypes:
        return None
    above, below = _factors(node.inputs[0]), _factors(node.inputs[1])
    if all(_one_plus_exp(d) is None for d in below):
        return None
    rest = []
    for d in below:
        x = _one_plus_exp(d)
        if x is None:
            rest.append(d)
            continue
        met = next((f for f in above if made_by(f, F.exp) is not None and f.owner.inputs[0] is x), None)
        if met is not None:
            above.remove(met)
        above.append(sigmoid(x) if met is not None else sigmoid(minus(x)))
    top = above[0] if len(above) == 1 else F.mul(*above)
    return [fit(F.true_div(top, rest[0] if len(rest) == 1 else F.mul(*rest)) if rest else top, out)]


# -- the error function -----------------------------------------------------------------------------------------

less = E(F.mul)(-1, erf(x)), E(F.mul)(-1, erfc(x))  # how a canonical sum subtracts a product's only factor
erfcx = E(F.erfcx)
rule("local_one_minus_erf", 1 - erf(x), erfc(x), keeps="close", phases=EVERYWHERE)
rule("local_one_minus_erf2", 1 + less[0], erfc(x), keeps="close", phases=EVERYWHERE)
rule("local_one_plus_neg_erf", 1 + -erf(x), erfc(x), keeps="close", phases=EVERYWHERE)
rule("local_one_plus_erf", 1 + erf(x), lambda x: F.erfc(minus(x)), keeps="close", phases=EVERYWHERE)
rule("local_one_minus_erfc", 1 - erfc(x), erf(x), keeps="close", phases=EVERYWHERE)
rule("local_one_minus_erfc2", 1 + -erfc(x), erf(x), keeps="close", phases=EVERYWHERE)
rule("local_one_minus_erfc3", 1 + less[1], erf(x), keeps="close", phases=EVERYWHERE)
rule("local_one_add_neg_erfc", -erfc(x) + 1, erf(x), keeps="close", phases=EVERYWHERE)
rule("local_erf_minus_one", -1 + erf(x), -erfc(x), keeps="close", phases=EVERYWHERE)
rule("local_erf_neg_minus_one", -1 + erf(-x), -erfc(-x), keeps="close", phases=("specialize",))
rule("local_erf_neg_minus_one2", -1 + less[0], lambda x: F.neg(F.erfc(minus(x))), keeps="close", phases=EVERYWHERE)


def _is_real(x: Any) -> bool:
    return x.type.dtype in scal.float_dtypes  # type: ignore[no-any-return]


@local_rule([F.log], keeps="finite", phases=LATE)
def local_log_erfc(node: Apply) -> Any:
    """``log(erfc(x))`` of a large x is ``log(erfcx(x)) - x ** 2``: erfc underflows there, erfcx does not."""
    inner = made_by(node.inputs[0], F.erfc)
    if inner is None or not _is_real(inner.inputs[0]) or _is_chosen(node):
        return None
    x: Any = inner.inputs[0]
    # From 1 on erfcx falls slowly; below, erfc has no bad place, and above x ** 2 may be subtracted without loss.
    large = F.gt(x, number_like(1, x))
    tail = F.sub(F.log(F.erfcx(F.maximum(x, number_like(1, x)))), F.sqr(x))
    return [fit(F.switch(large, tail, F.log(F.erfc(F.minimum(x, number_like(1, x))))), node.outputs[0])]


def _is_chosen(node: Apply) -> bool:
    """Return whether the argument of the function under ``node`` is cut off already, as by the rule itself."""
    x = node.inputs[0].owner.inputs[0]  # type: ignore[union-attr]
    return made_by(x, F.minimum) is not None and filled_with(x.owner.inputs[1], 1)  # type: ignore[union-attr]


@local_rule([F.true_div], keeps="finite", phases=LATE)
def local_grad_log_erfc_neg(node: Apply) -> Any:
    """``exp(-x ** 2) / erfc(x)``, the derivative of ``log(erfc(x))``, is ``1 / erfcx(x)``, in any product."""
    above, below = _factors(node.inputs[0]), _factors(node.inputs[1])
    for i, d in enumerate(below):
        inner = made_by(d, F.erfc)
        met = None if inner is None else next((f for f in above if _is_bell(f, inner.inputs[0])), None)
        if inner is None or met is None or not _is_real(inner.inputs[0]):
            continue
        above.remove(met)
        rest = [F.erfcx(inner.inputs[0]) if j == i else v for j, v in enumerate(below)]
        top = F.mul(*above) if len(above) > 1 else above[0] if above else number_like(1, node.outputs[0])
        return [fit(F.true_div(top, F.mul(*rest) if len(rest) > 1 else rest[0]), node.outputs[0])]
    return None


def _is_bell(v: Any, x: Any) -> bool:
    """Return whether ``v`` is ``exp(-x ** 2)``."""
    power = made_by(v, F.exp)
    negated = None if power is None else made_by(power.inputs[0], F.neg)
    if negated is None:
        return False
    square, product = made_by(negated.inputs[0], F.sqr), made_by(negated.inputs[0], F.mul)
    return list(square.inputs) == [x] if square is not None else product is not None and list(product.inputs) == [x, x]


# -- an inverse after its function ------------------------------------------------------------------------------

_INVERSES = {
    scal.deg2rad: (scal.rad2deg,), scal.rad2deg: (scal.deg2rad,), scal.inv: (scal.inv,), scal.neg: (scal.neg,),
    scal.cosh: (scal.arccosh,), scal.sinh: (scal.arcsinh,), scal.tanh: (scal.arctanh,), scal.arcsinh: (scal.sinh,),
    scal.arctanh: (scal.tanh,), scal.log: (scal.exp,), scal.log1p: (scal.expm1,), scal.expm1: (scal.log1p,),
    scal.invert: (scal.invert,), scal.conj: (scal.conj,),
}  # fmt: skip
_OUTER = (
    F.deg2rad, F.rad2deg, F.inv, F.neg, F.cosh, F.sinh, F.tanh, F.arcsinh, F.arctanh, F.log, F.log1p, F.expm1,
    F.invert, F.conj,
)  # fmt: skip


@local_rule(_OUTER, keeps="finite", phases=("canonicalize", "specialize"))
def local_func_inv(node: Apply) -> Any:
    """A function of its inverse is the identity, where both are defined."""
    inner = node.inputs[0].owner
    if inner is None or scalar_of(inner) not in _INVERSES[node.op.scalar_op]:  # type: ignore[attr-defined]
        return None
    x = inner.inputs[0]
    if x.type.dtype in scal.complex_dtypes and node.op.scalar_op not in (scal.neg, scal.conj, scal.inv):  # type: ignore[attr-defined]
        return None  # a logarithm has branches there
    return [fit(x, node.outputs[0])]


# -- logarithms of powers and of sums of exponentials -----------------------------------------------------------


@local_rule([F.log], keeps="finite", phases=EVERYWHERE)
def local_log_pow(node: Apply) -> Any:
    """``log(x ** n)`` is ``n * log(|x|)`` for even n, ``n * log(x)`` for other numbers."""
    power = made_by(node.inputs[0], F.pow)
    square = made_by(node.inputs[0], F.sqr)
    inner = power or square
    if inner is None or not is_float(inner.inputs[0]) or node.outputs[0].type.dtype in scal.complex_dtypes:  # type: ignore[attr-defined]
        return None
    exponent = 2 if power is None else uniform(power.inputs[1])
    if exponent is None or exponent == 0:
        return None
    base = inner.inputs[0]
    result = F.log(F.abs_(base) if exponent % 2 == 0 else base)
    return [fit(F.mul(number_like(exponent, result), result), node.outputs[0])]


@local_rule([F.log], keeps="finite", phases=EVERYWHERE)
def local_log_add(node: Apply) -> Any:
    """``log(exp(a) + exp(b))`` is ``max(a, b) + log1p(exp(-|a - b|))``."""
    total = made_by(node.inputs[0], F.add)
    if total is None or len(total.inputs) != 2 or node.outputs[0].type.dtype in scal.complex_dtypes:  # type: ignore[attr-defined]
        return None
    powers = [made_by(v, F.exp) for v in total.inputs]
    if None in powers or not only_used_by(node.inputs[0], node):
        return None
    a, b = (in_reals(p.inputs[0]) for p in powers if p is not None)
    # Where both are the same infinity, their difference is not a number.
    apart = F.switch(F.eq(a, b), number_like(0, F.sub(a, b)), F.sub(a, b))
    new = F.add(F.maximum(a, b), F.log1p(F.exp(F.neg(F.abs_(apart)))))
    return [fit(new, node.outputs[0])]


phases.register("local_log_sum_exp", Phase("local_log_sum_exp", "in_to_out"), 1.6, "fast_run")


@local_rule([F.log], keeps="finite", phases=("local_log_sum_exp",))
def local_log_sum_exp(node: Apply) -> Any:
    """``log(sum(exp(x)))`` is computed relative to the largest element, so that no exponential overflows."""
    summed: Any = node.inputs[0].owner
    arranged = summed if summed is not None and isinstance(summed.op, DimShuffle) else None
    if arranged is not None:  # keepdims
        summed = arranged.inputs[0].owner
    if summed is None or not isinstance(summed.op, Sum) or not only_used_by(node.inputs[0], node):
        return None
    powers = made_by(summed.inputs[0], F.exp)
    if powers is None or arranged is not None and not only_used_by(summed.outputs[0], arranged):
        return None
    x: Any = powers.inputs[0]
    axes = summed.op.axes_of(x.type.ndim)
    if not axes or x.type.dtype not in scal.float_dtypes:
        return None
    new = LogSumExp(axes)(x)
    return [fit(new if arranged is None else arranged.op(new), node.outputs[0])]


@local_rule([F.add], keeps="finite", phases=("local_log_sum_exp",))
def local_log_sum_exp_shifted(node: Apply) -> Any:
    """``LogSumExp(x - m) + m``, as people write it who know that exponentials overflow, is ``LogSumExp(x)``."""
    for reduced in (v.owner for v in node.inputs):
        inner = reduced
        if inner is not None and isinstance(inner.op, DimShuffle):
            inner = inner.inputs[0].owner
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
                whole: Any = LogSumExp(inner.op.axis)(x)
                if inner is not reduced:
                    whole = reduced.op(whole)
                return [fit(F.add(whole, *rest) if rest else whole, node.outputs[0])]
    return None


def _same_shift(shift: Any, v: Any, inner: Any, reduced: Any) -> bool:
    """Return whether ``shift``, before the sum, and ``v``, after it, are one tensor without the axes of the sum."""
    axes = inner.op.axes_of(shift.type.ndim)
    if not all(shift.type.broadcastable[a] for a in axes):
        return False
    if inner is not reduced:
        return v is shift
    kept = [a for a in range(shift.type.ndim) if a not in axes]
    restored = tuple(kept.index(a) if a in kept else "x" for a in range(shift.type.ndim))
    return _arranged(shift, v, restored) or _arranged(v, shift, tuple(kept))


def _arranged(new: Any, old: Any, order: tuple[Any, ...]) -> bool:
    node = new.owner
    return node is not None and isinstance(node.op, DimShuffle) and node.inputs[0] is old and node.op.new_order == order


@local_rule([F.log], keeps="finite", phases=EVERYWHERE)
def local_log_prod_sqr(node: Apply) -> Any:
    """The logarithm of a product of squares is twice the sum of the logarithms of absolute values."""
    product: Any = node.inputs[0].owner
    from_prod = product is not None and type(product.op).__name__ == "Prod"
    square = made_by(product.inputs[0], F.sqr) if from_prod else None
    if square is None or product.op.dtype != square.inputs[0].type.dtype or not _is_real(square.inputs[0]):  # type: ignore[attr-defined]
        return None
    logs = F.log(F.abs_(square.inputs[0]))
    total = Sum(axis=product.op.axis)(logs)
    return [fit(F.mul(number_like(2, total), total), node.outputs[0])]

