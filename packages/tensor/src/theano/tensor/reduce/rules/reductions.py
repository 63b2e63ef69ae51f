"""Sums, products and other reductions: merged, made smaller, or dropped."""

from __future__ import annotations

from typing import Any

from theano import scalar as scal
from theano.graph import Constant
from theano.rewriting import P, local_rule, pattern_vars, rule
from theano.tensor.blas.dot import dot
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
    conform,
    is_discrete,
    is_float,
    made_by,
    number_of,
    only_used_by,
    scalar_of,
    uniform,
)
from theano.tensor.shape.basic import shape_i
from theano.tensor.sort.op import TopKOp
from theano.tensor.type import TensorApply


@local_rule([CAReduce], phases=("canonicalize", "uncanonicalize"), keeps="close")
def local_reduce_broadcastable(node: TensorApply) -> Any:
    """Along an axis of length 1 there is nothing to combine. (A sum of a negative zero is a positive one.)"""
    x: Any = node.inputs[0]
    op: Any = node.op
    axes = op.axes_of(x.type.ndim)
    single = x.owner is not None and isinstance(x.owner.op, MakeVector) and len(x.owner.inputs) == 1
    ones = [a for a in axes if single or x.type.broadcastable[a]]
    if not ones or scal.upcast(x.type.dtype) == "bool" and isinstance(op, (Sum, Prod)) and len(ones) == len(axes):
        return None
    kept = [i for i in range(x.type.ndim) if i not in ones]
    dropped = x.owner.inputs[0] if single else DimShuffle(x.type.broadcastable, kept)(x)
    left = [a - sum(o < a for o in ones) for a in axes if a not in ones]
    new = type(op)(*op._arguments(tuple(left)))(dropped) if left else dropped
    return [conform(new, node.outputs[0])]


def _combines_nothing(op: Any, x: Any) -> bool:
    return op.axes_of(x.type.ndim) == () and not isinstance(op, (All, Any_))


(x,) = pattern_vars("x")
rule("local_useless_reduce", P(CAReduce, "op")(x), x, when=_combines_nothing,
     tags=("fast_run", "fast_compile", "local_cut_useless_reduce"), doc="A reduction along no axis.")  # fmt: skip


def _names_all_axes(op: Any, x: Any) -> bool:
    return op.axis is not None and bool(x.type.ndim) and op.axis == tuple(range(x.type.ndim))


rule("local_sum_prod_all_to_none", P((Sum, Prod, Max, Min), "op")(x), lambda op, x: type(op)(*op._arguments(None))(x),
     when=_names_all_axes, doc="All axes are written as None, so that equal reductions are equal ops.")  # fmt: skip


@local_rule([Sum, Prod, Max, Min, All, Any_], phases=("canonicalize",), keeps="close")
def local_op_of_op(node: TensorApply) -> Any:
    """A sum of a sum (product of a product, ...) goes along the axes of both."""
    inner = node.inputs[0].owner
    op: Any = node.op
    if inner is None or type(inner.op) is not type(op) or not only_used_by(node.inputs[0], node):
        return None
    if getattr(op, "acc_dtype", None) != getattr(inner.op, "acc_dtype", None):
        return None
    x: Any = inner.inputs[0]
    if getattr(op, "dtype", None) not in (None, getattr(inner.op, "dtype", None)):
        return None
    first = inner.op.axes_of(x.type.ndim)
    kept = [a for a in range(x.type.ndim) if a not in first]
    axes = tuple(sorted([*first, *(kept[a] for a in op.axes_of(len(kept)))]))
    return [conform(type(op)(*op._arguments(axes))(x), node.outputs[0])]


@local_rule([Sum, Prod, Max, Min, All, Any_], phases=("canonicalize",), keeps="close")
def local_reduce_dimshuffle(node: TensorApply) -> Any:
    """What is reduced after its dimensions were moved is reduced where they are, and what is left is moved."""
    op: Any = node.op
    shuffled: Any = node.inputs[0].owner
    if shuffled is None or not isinstance(shuffled.op, DimShuffle):
        return None
    y: Any = shuffled.inputs[0]
    order = shuffled.op.new_order
    axes = op.axes_of(len(order))
    gone = sorted(order[a] for a in axes if order[a] != "x")
    # Dimensions that were dropped are 1 long: see local_reduce_broadcastable.
    if not gone or any(d not in order for d in range(y.type.ndim)):
        return None
    kept = [d for d in range(y.type.ndim) if d not in gone]
    reduced: Any = type(op)(*op._arguments(tuple(gone)))(y)
    left = [kept.index(d) if isinstance(d, int) else d for a, d in enumerate(order) if a not in axes]
    return [conform(DimShuffle(reduced.type.broadcastable, left)(reduced), node.outputs[0])]


@local_rule([Sum, Prod], phases=("canonicalize", "specialize"), keeps="finite")
def local_sum_prod_mul_by_scalar(node: TensorApply) -> Any:
    """A number that multiplies all terms of a sum multiplies the sum; a negation goes outside as well."""
    op: Any = node.op
    x: Any = node.inputs[0]
    if not isinstance(op, Sum) or not only_used_by(x, node) or is_discrete(x):
        return None
    negated = made_by(x, F.neg)
    if negated is not None:
        return [conform(F.neg(op(negated.inputs[0])), node.outputs[0])]
    product = made_by(x, F.mul)
    if product is None:
        return None
    alike = [v for v in product.inputs if all(v.type.broadcastable)]
    rest = [v for v in product.inputs if v not in alike]
    if not alike or not rest or not is_float(x):
        return None
    terms = combine(F.mul, rest, x.type.dtype)
    if terms.type.dtype != x.type.dtype or terms.type.broadcastable != x.type.broadcastable:
        return None
    total = op(terms)
    factors = [DimShuffle(v.type.broadcastable, ["x"] * total.type.ndim)(v) for v in alike]
    return [conform(F.mul(*factors, total), node.outputs[0])]


@local_rule([Sum, Prod], phases=("canonicalize", "specialize"), keeps="close")
def local_opt_alloc(fgraph: Any, node: TensorApply) -> Any:
    """The sum of one number repeated is that number times how often, their product its power."""
    x: Any = node.inputs[0]
    if isinstance(x, Constant) or x.owner is None or not is_float(x):
        return None
    if scalar_of(x.owner) != scal.second and not isinstance(x.owner.op, Alloc):
        return None
    op: Any = node.op
    out: Any = node.outputs[0]
    axes = op.axes_of(x.type.ndim)
    value = uniform(x)
    repeated: Any = x.owner.inputs[0] if isinstance(x.owner.op, Alloc) else x.owner.inputs[1]
    if value is not None:
        total: Any = number_of(value, out.type.dtype, 0)
    elif all(repeated.type.broadcastable):
        total = F.cast(DimShuffle(repeated.type.broadcastable, ())(repeated), out.type.dtype)
    else:
        return None
    times = [shape_i(x, a, fgraph) for a in axes if not x.type.broadcastable[a]]
    if times:
        plain = [unchecked(n) for n in times]
        count = F.cast(F.mul(*plain) if len(plain) > 1 else plain[0], out.type.dtype)
        # The count may be multiplied by 0, or be divided by: its check must not go with it.
        total = guarded(F.mul(total, count) if isinstance(op, Sum) else F.pow(total, count), times)
    rest = [shape_i(x, a, fgraph) for a in range(x.type.ndim) if a not in axes]
    return [conform(alloc(total, *rest) if rest else total, out)]


@local_rule([Sum, Prod], phases=("canonicalize", "specialize"), keeps="finite")
def local_sum_prod_div_dimshuffle(node: TensorApply) -> Any:
    """What all terms of a sum are divided by divides the sum: one division instead of many.

    In a product it does so as often as there are factors, which only floats of moderate size survive: sums alone.
    """
    op: Any = node.op
    x: Any = node.inputs[0]
    over = made_by(x, F.true_div)
    if not isinstance(op, Sum) or over is None or not only_used_by(x, node) or not is_float(x):
        return None
    above, below = over.inputs
    axes = op.axes_of(x.type.ndim)
    if above.type != x.type or not all(below.type.broadcastable[a] for a in axes) or isinstance(below, Constant):
        return None
    total = op(above)
    if total.type.dtype != node.outputs[0].type.dtype:
        return None
    kept = [i for i in range(x.type.ndim) if i not in axes]
    return [conform(F.true_div(total, DimShuffle(below.type.broadcastable, kept)(below)), node.outputs[0])]


@local_rule([Sum], phases=("specialize",), keeps="finite")
def local_sumsqr2dot(node: TensorApply) -> Any:
    """``sqr(W[None, :, :] * G[:, :, None]).sum(axis=(1, 2))`` is ``dot(sqr(G), sqr(W).sum(axis=1))``.

    With ``G[:, None, :]`` it is the sum along axis 0.
    That is the norms of the gradients of each example, without a tensor of three dimensions.
    """
    x: Any = node.inputs[0]
    square = made_by(x, F.sqr)
    product = None if square is None else made_by(square.inputs[0], F.mul)
    if product is None or len(product.inputs) != 2 or x.type.ndim != 3 or not is_float(x):
        return None
    op: Any = node.op
    found: dict[Any, Any] = {}
    for v in product.inputs:
        if v.owner is not None and isinstance(v.owner.op, DimShuffle):
            found[v.owner.op.new_order] = v.owner.inputs[0]
    W, G = found.get(("x", 0, 1)), found.get((0, 1, "x"), found.get((0, "x", 1)))
    if W is None or G is None or op.axes_of(3) != (1, 2) or W.type.dtype != G.type.dtype:
        return None
    along = 1 if (0, 1, "x") in found else 0
    if W.type.broadcastable[1 - along] != G.type.broadcastable[1]:
        return None  # a product repeats nothing
    if op.acc_dtype not in (None, x.type.dtype) or op.dtype not in (None, x.type.dtype):
        return None
    if square is None or not only_used_by(x, node) or not only_used_by(square.inputs[0], x.owner):
        return None
    return [conform(dot(F.sqr(G), Sum(axis=(along,))(F.sqr(W))), node.outputs[0])]


rule("local_max_to_min", E(F.neg)(P(Max, "op")(E(F.neg)(x.where(is_float))).single_use()),
     lambda op, x: Min(op.axis)(x),
     when=lambda op: type(op) is Max, phases=("uncanonicalize",),
     doc="The negative of the largest negative is the smallest.")  # fmt: skip


@local_rule([MaxAndArgmax], phases=("uncanonicalize",), keeps="exact")
def local_max_and_argmax(node: TensorApply) -> Any:
    """Of the largest elements and their places, compute only what somebody wants."""
    value, place = node.outputs
    op: Any = node.op
    if not place.clients:
        return {value: conform(Max(op.axis)(node.inputs[0]), value)}
    if not value.clients:
        return {place: conform(Argmax(op.axis)(node.inputs[0]), place)}
    return None


@local_rule([TopKOp], phases=("uncanonicalize",), keeps="exact")
def local_useless_topk(node: TensorApply) -> Any:
    """Of the best elements and their places, compute only what somebody wants: values alone need no order of places."""
    op: Any = node.op
    unused = [i for i, v in enumerate(node.outputs) if not v.clients]
    if len(node.outputs) != 2 or len(unused) != 1:
        return None
    kept = node.outputs[1 - unused[0]]
    wanted = {"return_values": unused[0] == 1, "return_indices": unused[0] == 0}
    return {kept: conform(TopKOp(op.axis, op.sorted, op.idx_dtype, **wanted)(*node.inputs), kept)}
