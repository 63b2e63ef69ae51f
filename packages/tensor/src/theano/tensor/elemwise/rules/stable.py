"""Exponentials, logarithms and their relatives, in forms that neither overflow nor cancel.

A rule here states an identity, once. Sums appear in their canonical form (constants first, ``1 - x`` as it is,
``x - 1`` as ``-1 + x``), since that is what the rule will meet, or as a ``difference``: all the ways to write one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.rewriting import P, local_rule, one_of, pattern_vars, rule
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.nnet.activation import sigmoid, softplus
from theano.tensor.reduce.careduce import Prod, Sum
from theano.tensor.rules.predicates import (
    E,
    combine,
    conform,
    difference,
    factors_of,
    filled_with,
    in_reals,
    is_complex,
    is_float,
    is_not_complex,
    is_real,
    made_by,
    number_like,
    uniform,
)
from theano.tensor.rules.signs import not_negative
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.rewriting.rule import Answer
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor

x, y, n = pattern_vars("x y n")
real, no_complex, a_float = x.where(is_real), x.where(is_not_complex), x.where(is_float)
exp, log, log1p, expm1 = E(F.exp), E(F.log), E(F.log1p), E(F.expm1)
erf, erfc = E(F.erf), E(F.erfc)
tanh = E(F.tanh)
S, softplus_ = E(sigmoid), E(softplus)
EVERYWHERE = ("canonicalize", "stabilize", "specialize")
LATE = ("stabilize", "specialize")


def minus(x: TensorLike) -> Tensor:
    """Return the negative of ``x`` as a real number."""
    return F.neg(in_reals(x))


# -- logarithms and exponentials of sums ------------------------------------------------------------------------

rule("local_log1p", log(1 - real), log1p(-x), keeps="close", phases=LATE)
rule("local_log1p_plus", log(1 + real), log1p(x), keeps="close", phases=LATE)
rule("local_expm1", one_of(exp(no_complex) - 1, -1 + exp(no_complex)), expm1(x), keeps="close", phases=EVERYWHERE,
     tags=("fast_run", "local_expm1_sub"))  # fmt: skip
rule("local_one_minus_exp", 1 - exp(no_complex), -expm1(x), keeps="close", phases=LATE)


def log_of_one_minus_exp(x: Tensor) -> Tensor:
    """Return ``log(1 - exp(x))`` in a form that keeps its digits near 0 and far below."""
    # Near 0 exp(x) rounds to 1, far below 1 - exp(x) does (Maechler, "Accurately computing log(1 - exp(-|a|))", 2012).
    argument = in_reals(x)
    middle = number_like(-np.log(2), argument)
    near = F.log(F.neg(F.expm1(F.maximum(argument, middle))))
    return F.switch(F.gt(argument, middle), near, F.log1p(F.neg(F.exp(F.minimum(argument, middle)))))


def _is_whole(x: Tensor) -> bool:
    """Return whether ``x`` is not one of the parts that :func:`log_of_one_minus_exp` takes."""
    part = made_by(x, F.maximum) or made_by(x, F.minimum)
    return part is None or all(uniform(v) != number_like(-np.log(2), v).data.item() for v in part.inputs)


rule("local_log_one_minus_exp", log(-expm1(no_complex.where(_is_whole))), log_of_one_minus_exp, keeps="finite",
     phases=LATE, also=[(log1p(-exp(no_complex.where(_is_whole))), log_of_one_minus_exp),
                        (log(1 - exp(no_complex.where(_is_whole))), log_of_one_minus_exp)],
     doc="``log(1 - exp(x))`` keeps its digits near 0 and far below.")  # fmt: skip
rule("local_log_expm1", log(expm1(no_complex)), lambda x: F.add(in_reals(x), log_of_one_minus_exp(minus(x))),
     keeps="finite", phases=LATE, doc="``log(exp(x) - 1)`` is ``x + log(1 - exp(-x))``, in which nothing overflows.",
)  # fmt: skip

# -- the sigmoid ------------------------------------------------------------------------------------------------

rule("local_inv_1_plus_exp", E(F.inv)(1 + exp(no_complex)), lambda x: sigmoid(minus(x)), keeps="finite",
     phases=("stabilize",))  # fmt: skip
rule("local_sigm_times_exp", S(real) * exp(-x), S(-x), keeps="finite", phases=("stabilize",))
rule("local_sigm_times_exp_neg", S(-real) * exp(x), S(x), keeps="finite", phases=("stabilize",))
rule("local_1msigmoid", 1 - S(x), lambda x: sigmoid(minus(x)), keeps="close", phases=("stabilize",))
rule("logsigm_to_softplus", log(S(x)), lambda x: F.neg(softplus(minus(x))), keeps="finite", phases=("stabilize",))
rule("log1msigm_to_softplus", log(1 - S(x)), -softplus_(x), keeps="finite", phases=("stabilize",))
rule("log1p_neg_sigmoid", log1p(-S(x)), -softplus_(x), keeps="finite", phases=("stabilize",))
rule("log1pexp_to_softplus", log1p(exp(no_complex)), softplus_(x), keeps="finite", phases=("stabilize",))


def _one_plus_exp(v: Tensor) -> Any:
    """Return x if ``v`` is ``1 + exp(x)``, else None."""
    total = made_by(v, F.add)
    if total is None or len(total.inputs) != 2 or not filled_with(total.inputs[0], 1):
        return None
    power = made_by(total.inputs[1], F.exp)
    return None if power is None else power.inputs[0]


def _factors(v: Variable) -> list[Any]:
    """Return the factors of a product; a square counts twice."""
    product, square = made_by(v, F.mul), made_by(v, F.sqr)
    if product is not None:
        return [f for w in product.inputs for f in ([w] if made_by(w, F.mul) is not None else _factors(w))]
    return _factors(square.inputs[0]) * 2 if square is not None and made_by(square.inputs[0], F.mul) is None else [v]


@local_rule([F.true_div], keeps="finite", phases=LATE)
def local_exp_over_1_plus_exp(node: TensorApply) -> Answer:
    """``exp(x) / (1 + exp(x))`` is sigmoid(x), and ``1 / (1 + exp(x))`` is sigmoid(-x), in any product.

    In the same way ``exp(x) / (exp(x) - 1)`` is ``-1 / expm1(-x)``.
    """
    out: Tensor = node.outputs[0]
    if not is_float(out) or out.type.dtype in scal.complex_dtypes:
        return None
    above, below = _factors(node.inputs[0]), _factors(node.inputs[1])
    rest = []
    for d in below:
        x, less_one = _one_plus_exp(d), made_by(d, F.expm1)
        x = x if less_one is None else less_one.inputs[0]
        met = next((f for f in above if made_by(f, F.exp) is not None and f.owner.inputs[0] is x), None)
        if x is None or (less_one is not None and met is None):
            rest.append(d)
            continue
        if met is not None:
            above.remove(met)
        if less_one is None:
            above.append(sigmoid(x) if met is not None else sigmoid(minus(x)))
        else:
            rest.append(F.neg(F.expm1(minus(x))))
    if rest == below:
        return None
    top = combine(F.mul, above, out.type.dtype) if above else number_like(1, out)
    return [conform(F.true_div(top, combine(F.mul, rest, out.type.dtype)) if rest else top, out)]


# -- the hyperbolic tangent -------------------------------------------------------------------------------------


def _for_this_alone(x: Tensor, out: Any) -> bool:
    """Return whether the tangent has no other use, for which it would be computed beside the sigmoid."""
    return all(len(v.clients) == 1 for v in out.owner.inputs if v.owner is not None)


def _sigmoid_of_twice(x: Tensor, sign: int) -> Tensor:
    argument = in_reals(x)
    return F.mul(number_like(2, argument), sigmoid(F.mul(number_like(2 * sign, argument), argument)))


# 1 + tanh(x) cancels where x is far below zero, and takes longer: activations of networks are written so.
rule("local_one_plus_tanh", 1 + tanh(no_complex), lambda x: _sigmoid_of_twice(x, 1), when=_for_this_alone,
     keeps="close", phases=EVERYWHERE)  # fmt: skip
rule("local_one_minus_tanh", difference(1, tanh(no_complex)), lambda x: _sigmoid_of_twice(x, -1),
     when=_for_this_alone, keeps="close", phases=EVERYWHERE)  # fmt: skip


# -- the error function -----------------------------------------------------------------------------------------

# Each identity once, for real numbers, since erfc takes no others. Its other documented names, which are those of other
# ways to write it, are tags.
rule("local_one_minus_erf", difference(1, erf(no_complex)), erfc(x), keeps="close", phases=EVERYWHERE,
     tags=("fast_run", "local_one_minus_erf2", "local_one_plus_neg_erf"))  # fmt: skip
rule("local_one_plus_erf", 1 + erf(no_complex), lambda x: F.erfc(minus(x)), keeps="close", phases=EVERYWHERE)
rule("local_one_minus_erfc", difference(1, erfc(x)), erf(x), keeps="close", phases=EVERYWHERE,
     tags=("fast_run", "local_one_minus_erfc2", "local_one_minus_erfc3", "local_one_add_neg_erfc"))  # fmt: skip
rule("local_erf_minus_one", -1 + erf(no_complex), -erfc(x), keeps="close", phases=EVERYWHERE,
     tags=("fast_run", "local_erf_neg_minus_one"))  # fmt: skip
rule("local_erfc_neg_minus_one", one_of(-1 + erfc(-a_float), erfc(-a_float) - 1), erf(x), keeps="close",
     phases=EVERYWHERE)  # fmt: skip
rule("local_erf_neg_minus_one2", difference(-1, erf(no_complex)), lambda x: F.neg(F.erfc(minus(x))), keeps="close",
     phases=EVERYWHERE)  # fmt: skip


def _log_of_erfc(x: Tensor) -> Tensor:
    # From 1 on erfcx falls slowly; below, erfc has no bad place, and above x ** 2 may be subtracted without loss.
    large = F.gt(x, number_like(1, x))
    tail = F.sub(F.log(F.erfcx(F.maximum(x, number_like(1, x)))), F.sqr(x))
    return F.switch(large, tail, F.log(F.erfc(F.minimum(x, number_like(1, x)))))


def _is_not_chosen(x: Any) -> bool:
    """Return whether ``x`` is not cut off already, as by the rule itself."""
    return made_by(x, F.minimum) is None or not filled_with(x.owner.inputs[1], 1)


rule("local_log_erfc", log(erfc(real.where(_is_not_chosen))), _log_of_erfc, keeps="finite", phases=LATE,
     doc="``log(erfc(x))`` of a large x is ``log(erfcx(x)) - x ** 2``: erfc underflows there, erfcx does not.",
)  # fmt: skip


@local_rule([F.true_div], keeps="finite", phases=LATE, needs=[F.erfc])
def local_grad_log_erfc_neg(node: TensorApply) -> Answer:
    """``exp(-x ** 2) / erfc(x)``, the derivative of ``log(erfc(x))``, is ``1 / erfcx(x)``, in any product."""
    above, below = _factors(node.inputs[0]), _factors(node.inputs[1])
    for i, d in enumerate(below):
        inner = made_by(d, F.erfc)
        met = None if inner is None else next((f for f in above if _is_bell(f, inner.inputs[0])), None)
        if inner is None or met is None or not is_real(inner.inputs[0]):
            continue
        above.remove(met)
        rest = [F.erfcx(inner.inputs[0]) if j == i else v for j, v in enumerate(below)]
        out: Tensor = node.outputs[0]
        top = combine(F.mul, above, out.type.dtype) if above else number_like(1, out)
        return [conform(F.true_div(top, combine(F.mul, rest, out.type.dtype)), out)]
    return None


def _is_bell(v: Tensor, x: Tensor) -> bool:
    """Return whether ``v`` is ``exp(-x ** 2)``."""
    power = made_by(v, F.exp)
    negated = None if power is None else made_by(power.inputs[0], F.neg)
    if negated is None:
        return False
    square, product = made_by(negated.inputs[0], F.sqr), made_by(negated.inputs[0], F.mul)
    return list(square.inputs) == [x] if square is not None else product is not None and list(product.inputs) == [x, x]


# -- an inverse after its function ------------------------------------------------------------------------------

#: A function, and the one that it undoes.
INVERSES = {
    F.deg2rad: F.rad2deg, F.rad2deg: F.deg2rad, F.inv: F.inv, F.neg: F.neg, F.cosh: F.arccosh, F.sinh: F.arcsinh,
    F.tanh: F.arctanh, F.arcsinh: F.sinh, F.arctanh: F.tanh, F.log: F.exp, F.log1p: F.expm1, F.expm1: F.log1p,
    F.invert: F.invert, F.conj: F.conj, F.sqr: F.sqrt,
}  # fmt: skip


def _is_inverse(x: Tensor, out: Any) -> bool:
    # Logarithms of complex numbers have branches.
    return not is_complex(x) or out.owner.op in (F.neg, F.conj, F.inv)


_first, *_others = [(E(outer)(E(inner)(x)), x, _is_inverse) for outer, inner in INVERSES.items()]
rule("local_func_inv", _first[0], x, when=_is_inverse, keeps="finite", phases=("canonicalize", "specialize"),
     also=_others,
     doc="A function of its inverse is the identity, where both are defined.")  # fmt: skip


# -- logarithms of powers and of sums of exponentials -----------------------------------------------------------


def _is_exponent(n: Tensor) -> bool:
    value = uniform(n)
    return value is not None and bool(value != 0)


def _log_of_power(x: Tensor, exponent: Any) -> Tensor:
    result = F.log(F.abs_(x) if exponent % 2 == 0 else x)
    return F.mul(number_like(exponent, result), result)


def _gives_reals(out: Tensor) -> bool:
    return not is_complex(out)


rule("local_log_pow", log(x.where(is_float) ** n.where(_is_exponent)), lambda x, n: _log_of_power(x, uniform(n)),
     when=_gives_reals, keeps="finite", phases=EVERYWHERE,
     also=[(log(E(F.sqr)(x.where(is_float))), lambda x: _log_of_power(x, 2), _gives_reals)],
     doc="``log(x ** n)`` is ``n * log(|x|)`` for even n, ``n * log(x)`` for other numbers.")  # fmt: skip


def _log_of_product(product: Prod, x: Tensor) -> Tensor:
    total = Sum(axis=product.axis)(F.log(F.abs_(x)))
    return F.mul(number_like(2, total), total)


rule("local_log_prod", log(P(Prod, "product")(real.where(not_negative))),
     lambda product, x: Sum(axis=product.axis)(F.log(x)), when=lambda product, x: product.dtype == x.type.dtype,
     keeps="finite", phases=EVERYWHERE,
     doc="The logarithm of a product of what is never negative is the sum of the logarithms.")  # fmt: skip


@local_rule([F.true_div], keeps="finite", phases=("canonicalize",), needs=[F.switch])
def local_others_over_product(node: TensorApply) -> Answer:
    """The product of all but x, as gradients of products have it, divided by the product of all is ``1 / x``."""
    out: Tensor = node.outputs[0]
    above, below = factors_of(node.inputs[0]), factors_of(node.inputs[1])
    for i, v in enumerate(above):
        x, product = _of_others(v) or (v, None)
        if product in below:
            below[below.index(product)] = x
            rest: list[Any] = above[:i] + above[i + 1 :]
            top = combine(F.mul, rest, out.type.dtype) if rest else number_like(1, out)
            return [conform(F.true_div(top, combine(F.mul, below, out.type.dtype)), out)]
    return None


def _of_others(v: Tensor) -> tuple[Tensor, Tensor] | None:
    """Return x and the product of all if ``v`` is that of all but x: ``switch(zeros == 0, product / x, ...)``."""
    chosen = made_by(v, F.switch)
    over = None if chosen is None else made_by(chosen.inputs[1], F.true_div)
    none = None if chosen is None else made_by(chosen.inputs[0], F.eq)
    if over is None or none is None or not filled_with(none.inputs[1], 0):
        return None
    product, x = over.inputs
    zeros, product_of = _reduced(none.inputs[0], Sum), _reduced(product, Prod)
    is_zero = None if zeros is None else made_by(zeros, F.eq)
    counted = is_zero is not None and is_zero.inputs[0] is x and filled_with(is_zero.inputs[1], 0)
    return (product_of, product) if product_of is not None and counted and product_of is x else None


def _reduced(v: Tensor, kind: type) -> Tensor | None:
    """Return what ``v`` is a reduction of, whose axes may be there again; else None."""
    node = v.owner
    if node is not None and isinstance(node.op, DimShuffle):
        node = node.inputs[0].owner
    return node.inputs[0] if node is not None and isinstance(node.op, kind) else None


rule("local_log_prod_sqr", log(P(Prod, "product")(E(F.sqr)(real))), _log_of_product,
     when=lambda product, x: product.dtype == x.type.dtype, keeps="finite", phases=EVERYWHERE,
     doc="The logarithm of a product of squares is twice the sum of the logarithms of absolute values.")  # fmt: skip
