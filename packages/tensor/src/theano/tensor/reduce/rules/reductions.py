"""Sums, products and other reductions: merged, made smaller, or dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.graph import Constant
from theano.rewriting import P, Rest, pattern_vars, rule
from theano.tensor.blas.dot import Dot, dot
from theano.tensor.control.checks import guarded, unchecked
from theano.tensor.create.alloc import Alloc, alloc
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.join.op import MakeVector
from theano.tensor.reduce.argmax import Argmax, MaxAndArgmax
from theano.tensor.reduce.careduce import All, Any_, CAReduce, Max, Min, Prod, Sum
from theano.tensor.rules.predicates import (
    E,
    combine,
    is_float,
    number_of,
    uniform,
)
from theano.tensor.shape.basic import shape_i
from theano.tensor.sort.op import TopKOp

if TYPE_CHECKING:
    from theano.graph.fgraph import FunctionGraph
    from theano.graph.op import Op
    from theano.rewriting.pattern import Call
    from theano.tensor.reduce.careduce import CAReduceDtype
    from theano.tensor.type import Tensor

x, y = pattern_vars("x y")


def _along(op: Any, axes: object) -> Op:
    """Return a reduction like another one, along other axes."""
    return type(op)(*op._arguments(axes))


def _without_ones(op: Any, x: Any) -> Any:
    axes = op.axes_of(x.type.ndim)
    single = x.owner is not None and isinstance(x.owner.op, MakeVector) and len(x.owner.inputs) == 1
    ones = [a for a in axes if single or x.type.broadcastable[a]]
    if not ones or scal.upcast(x.type.dtype) == "bool" and isinstance(op, (Sum, Prod)) and len(ones) == len(axes):
        return None
    kept = [i for i in range(x.type.ndim) if i not in ones]
    dropped = x.owner.inputs[0] if single else DimShuffle(x.type.broadcastable, kept)(x)
    left = [a - sum(o < a for o in ones) for a in axes if a not in ones]
    return _along(op, tuple(left))(dropped) if left else dropped


rule("local_reduce_broadcastable", P(CAReduce, "op")(x), _without_ones, keeps="close",
     phases=("canonicalize", "uncanonicalize"),
     doc="A reduction along an axis of length 1 is dropped. (A sum of a negative zero is a positive one.)",
)  # fmt: skip


def _combines_nothing(op: Any, x: Tensor) -> bool:
    return op.axes_of(x.type.ndim) == () and not isinstance(op, (All, Any_))


rule("local_useless_reduce", P(CAReduce, "op")(x), x, when=_combines_nothing,
     tags=("fast_run", "fast_compile", "local_cut_useless_reduce"), doc="A reduction along no axis.")  # fmt: skip


def _names_all_axes(op: CAReduce, x: Tensor) -> bool:
    return op.axis is not None and bool(x.type.ndim) and op.axis == tuple(range(x.type.ndim))


rule("local_sum_prod_all_to_none", P((Sum, Prod, Max, Min), "op")(x), lambda op, x: _along(op, None)(x),
     when=_names_all_axes, doc="All axes are written as None, so that equal reductions are equal ops.")  # fmt: skip


REDUCTIONS = (Sum, Prod, Max, Min, All, Any_)


def _along_both(op: Any, inner: Any, x: Tensor) -> Any:
    if type(inner) is not type(op) or (op.acc_dtype, op.may_be_empty) != (inner.acc_dtype, inner.may_be_empty):
        return None
    if getattr(op, "dtype", None) not in (None, getattr(inner, "dtype", None)):
        return None
    first = inner.axes_of(x.type.ndim)
    kept = [a for a in range(x.type.ndim) if a not in first]
    return _along(op, tuple(sorted([*first, *(kept[a] for a in op.axes_of(len(kept)))])))(x)


rule("local_op_of_op", P(REDUCTIONS, "op")(P(REDUCTIONS, "inner")(x).single_use()), _along_both, keeps="close",
     doc="A sum of a sum (product of a product, ...) goes along the axes of both.")  # fmt: skip


def _reduced_before(op: CAReduce, shuffle: DimShuffle, x: Tensor) -> Any:
    order = shuffle.new_order
    axes = op.axes_of(len(order))
    gone = sorted(order[a] for a in axes if order[a] != "x")
    # Dimensions that were dropped are 1 long: see local_reduce_broadcastable.
    if not gone or any(d not in order for d in range(x.type.ndim)):
        return None
    kept = [d for d in range(x.type.ndim) if d not in gone]
    reduced: Tensor = _along(op, tuple(gone))(x)
    left = [kept.index(d) if isinstance(d, int) else d for a, d in enumerate(order) if a not in axes]
    return DimShuffle(reduced.type.broadcastable, left)(reduced)


rule("local_reduce_dimshuffle", P(REDUCTIONS, "op")(P(DimShuffle, "shuffle")(x)), _reduced_before, keeps="close",
     doc="A reduction of a transposed tensor is the transpose of a reduction.",
)  # fmt: skip


def _multiplied_outside(op: Sum, factors: tuple[Tensor, ...], product: Tensor) -> Any:
    axes = op.axes_of(product.type.ndim)
    alike = [v for v in factors if all(v.type.broadcastable[a] for a in axes)]
    rest = [v for v in factors if v not in alike]
    if not alike or not rest:
        return None
    terms = combine(F.mul, rest, product.type.dtype)
    if terms.type.dtype != product.type.dtype or terms.type.broadcastable != product.type.broadcastable:
        return None
    kept = [i for i in range(product.type.ndim) if i not in axes]
    return F.mul(*[DimShuffle(v.type.broadcastable, kept)(v) for v in alike], op(terms))


_negated = E(F.neg)(x).where(is_float).single_use()
_product = P(F.mul)(Rest("factors")).where(is_float).single_use()
rule("local_sum_prod_mul_by_scalar", P(Sum, "op")(_negated), lambda op, x: F.neg(op(x)),
     also=[(P(Sum, "op")(_product.named("product")), _multiplied_outside)], keeps="finite",
     phases=("canonicalize", "specialize"),
     doc="A number that multiplies all terms of a sum multiplies the sum; a negation goes outside as well.",
)  # fmt: skip


def _counted(op: CAReduceDtype, whole: Tensor, x: Any, out: Any, fgraph: FunctionGraph) -> Any:
    axes, value = op.axes_of(whole.type.ndim), uniform(whole)
    if value is not None:
        total: Any = number_of(value, out.type.dtype, 0)
    elif all(x.type.broadcastable):
        total = F.cast(DimShuffle(x.type.broadcastable, ())(x), out.type.dtype)
    else:
        return None
    times = [shape_i(whole, a, fgraph) for a in axes if not whole.type.broadcastable[a]]
    if times:
        plain = [unchecked(n) for n in times]
        count = F.cast(F.mul(*plain) if len(plain) > 1 else plain[0], out.type.dtype)
        # The count may be multiplied by 0, or be divided by: its check must not go with it.
        total = guarded(F.mul(total, count) if isinstance(op, Sum) else F.pow(total, count), times)
    rest = [shape_i(whole, a, fgraph) for a in range(whole.type.ndim) if a not in axes]
    return alloc(total, *rest) if rest else total


rule("local_opt_alloc", P((Sum, Prod), "op")(P(Alloc)(x, Rest("lengths")).where(is_float).named("whole")), _counted,
     also=[(P((Sum, Prod), "op")(P(F.second)(y, x).where(is_float).named("whole")), _counted)], keeps="close",
     phases=("canonicalize", "specialize"),
     doc="The sum of one number repeated is that number times how often, their product its power.")  # fmt: skip


def _divided_outside(op: Sum, quotient: Tensor, x: Tensor, y: Tensor, out: Tensor) -> Any:
    axes = op.axes_of(quotient.type.ndim)
    if x.type != quotient.type or not all(y.type.broadcastable[a] for a in axes) or isinstance(y, Constant):
        return None
    total = op(x)
    if total.type.dtype != out.type.dtype:
        return None
    kept = [i for i in range(quotient.type.ndim) if i not in axes]
    return F.true_div(total, DimShuffle(y.type.broadcastable, kept)(y))


# In a product it does so as often as there are factors, which only floats of moderate size survive: sums alone.
_quotient = (x / y).where(is_float).single_use().named("quotient")
rule("local_sum_prod_div_dimshuffle", P(Sum, "op")(_quotient), _divided_outside, keeps="finite",
     phases=("canonicalize", "specialize"),
     doc="What all terms of a sum are divided by divides the sum: one division instead of many.")  # fmt: skip


a, b = pattern_vars("a b")


def _of_one_dtype(a: Tensor, b: Tensor, product: Tensor, out: Tensor) -> bool:
    dtypes = {a.type.dtype, b.type.dtype, product.type.dtype, out.type.dtype}
    return a.type.ndim == b.type.ndim == 2 and len(dtypes) == 1 and "float16" not in dtypes  # whose sums overflow soon


# n * m * k multiplications become n * k + k * m additions and one row times one matrix. The terms are added in another
# order: the error stays within that of the whole product, which is a bound on the sum of the terms' absolute values.
# In float32 the sums, which were taken in float64, are rounded once more before they are multiplied.
_products = P(Dot)(a, b).where(is_float).single_use().named("product")
rule("local_sum_dot", P(Sum, "op", axis=(0,))(_products), lambda op, a, b: dot(op(a), b), when=_of_one_dtype,
     also=[(P(Sum, "op", axis=(1,))(_products), lambda op, a, b: dot(a, op(b)), _of_one_dtype),
           (P(Sum, "op", axis=None)(_products), lambda op, a, b: dot(_along(op, (0,))(a), _along(op, (1,))(b)),
            _of_one_dtype)], keeps="finite", phases=("canonicalize", "specialize"),
     doc="``dot(a, b).sum(axis=0)`` is ``dot(a.sum(axis=0), b)``, along axis 1 it is ``dot(a, b.sum(axis=1))``: the "
     "whole product is not computed.")  # fmt: skip


W, G = pattern_vars("W G")


def _norms(op: Sum, W: Tensor, G: Tensor, along: int) -> Any:
    if op.axes_of(3) != (1, 2) or W.type.dtype != G.type.dtype:
        return None
    if W.type.broadcastable[1 - along] != G.type.broadcastable[1]:
        return None  # a product repeats nothing
    if any(dtype not in (None, G.type.dtype) for dtype in (op.acc_dtype, op.dtype)):
        return None
    return dot(F.sqr(G), Sum(axis=(along,))(F.sqr(W)))


def _squares(order: tuple[int | str, ...]) -> Call:
    product = E(F.mul)(P(DimShuffle, new_order=("x", 0, 1))(W), P(DimShuffle, new_order=order)(G))
    return P(Sum, "op")(E(F.sqr)(product.single_use()).where(is_float).single_use())


# That is the norms of the gradients of each example, without a tensor of three dimensions. With ``G[:, None, :]`` it is
# the sum along axis 0.
rule("local_sumsqr2dot", _squares((0, 1, "x")), lambda op, W, G: _norms(op, W, G, 1), keeps="finite",
     also=[(_squares((0, "x", 1)), lambda op, W, G: _norms(op, W, G, 0))], phases=("specialize",),
     doc="``sqr(W[None, :, :] * G[:, :, None]).sum(axis=(1, 2))`` is ``dot(sqr(G), sqr(W).sum(axis=1))``.",
)  # fmt: skip


def _extreme_negative(kind: type[Max | Min]) -> Any:
    return E(F.neg)(P(kind, "op")(E(F.neg)(x.where(is_float))).single_use())


rule("local_max_to_min", _extreme_negative(Max), lambda op, x: Min(op.axis, op.may_be_empty)(x),
     when=lambda op: type(op) is Max,
     also=[(_extreme_negative(Min), lambda op, x: Max(op.axis, op.may_be_empty)(x), lambda op: type(op) is Min)],
     phases=("uncanonicalize",),
     doc="The negative of the largest negative is the smallest, and the other way round.")  # fmt: skip


def _nobody_uses(output: int) -> Callable[..., object]:
    return lambda out: not out.owner.outputs[output].clients


rule("local_max_and_argmax", P(MaxAndArgmax, "op")(x), lambda op, x: Max(op.axis)(x), when=_nobody_uses(1),
     also=[(P(MaxAndArgmax, "op", output=1)(x), lambda op, x: Argmax(op.axis)(x), _nobody_uses(0))],
     phases=("uncanonicalize",),
     doc="Of the largest elements and their indices, compute only the used output.")  # fmt: skip


def _two_of_best(output: int) -> Call:
    return P(TopKOp, "op", output=output, return_values=True, return_indices=True)(x, y)


def _best(op: TopKOp, x: Tensor, y: Tensor, **wanted: bool) -> Tensor:
    return TopKOp(op.axis, op.sorted, op.idx_dtype, **wanted)(x, y)


rule("local_useless_topk", _two_of_best(0), lambda op, x, y: _best(op, x, y, return_indices=False),
     when=_nobody_uses(1),
     also=[(_two_of_best(1), lambda op, x, y: _best(op, x, y, return_values=False), _nobody_uses(0))],
     phases=("uncanonicalize",),
     doc="Of the top-k elements and their indices, compute only the used output: values alone need no order.",
)  # fmt: skip
