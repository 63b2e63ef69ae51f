"""Lazy choices: those that are made already, those between equals, and how far they reach.

A choice is a wall to other rules, so it is moved where it can do most: what is zero in one branch (gradients are, of
the branch that is not taken) stays zero through all that is linear, and a sum of such choices is one choice between
sums. So no part of the way back through a branch is walked that has not been walked forward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import Apply, Constant, FunctionGraph, Op, Variable
from theano.rewriting import Context, P, Rest, Var, local_rule, phases, rule
from theano.scalar.casting import Cast
from theano.tensor.blas.dot import BatchedDot, Dot
from theano.tensor.control.choice import IfElse
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.alloc import Alloc
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.index.basic import IncSubtensor, Subtensor
from theano.tensor.reduce.careduce import Sum
from theano.tensor.rules.inplace import MayTake, work_in_place
from theano.tensor.rules.predicates import FAST, combine, conform, filled_with, is_float, scalar_of, uniform
from theano.tensor.shape.basic import Rebroadcast, SpecifyShape
from theano.tensor.shape.reshape import Reshape
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.rewriting.rule import Answer
    from theano.tensor.type import Tensor

__all__ = [
    "acceptable_ops", "cond_drop_unused", "cond_join_zeros", "cond_lift_common", "cond_lift_zeros",
    "cond_make_inplace", "cond_merge_ifs_false", "cond_merge_ifs_true", "cond_merge_sums", "cond_remove_identical",
    "cond_remove_known",
]  # fmt: skip

_EVERYWHERE = ("canonicalize", "specialize")


def _parts(node: Apply) -> tuple[Any, Any, list[Any], list[Any]]:
    op: Any = node.op
    then, other = op.branches(node)
    return op, node.inputs[0], then, other


def _same(a: Variable, b: Variable) -> bool:
    return a is b or (isinstance(a, Constant) and a.equals(b))


def _keep(node: Apply, kept: list[int]) -> dict[Variable, Variable]:
    """Return what takes the place of some outputs: a choice between these alone."""
    op, condition, then, other = _parts(node)
    if not kept:
        return {}
    made = op.like(len(kept))(condition, *(then[k] for k in kept), *(other[k] for k in kept), return_list=True)
    return {node.outputs[k]: new for k, new in zip(kept, made, strict=True)}


condition = Var("condition")
values = Rest("values")
_choice = P(IfElse, "op", as_view=False)
choice = _choice(condition, values)


cond_remove_known = rule(
    "cond_remove_known", _choice(condition.where(lambda v: uniform(v) is not None), values),
    lambda op, condition, values: values[: op.n_outs] if uniform(condition) else values[op.n_outs :], tags=FAST,
    phases=_EVERYWHERE, doc="A choice whose condition is known has been made.",
)  # fmt: skip


def _where_different(out: Any) -> Any:
    op, _, then, other = _parts(out.owner)
    alike = {k for k in range(op.n_outs) if _same(then[k], other[k])}
    if not alike:
        return None
    kept = _keep(out.owner, [k for k in range(op.n_outs) if k not in alike])
    return {**kept, **{out.owner.outputs[k]: then[k] for k in alike}}


cond_remove_identical = rule(
    "cond_remove_identical", choice, _where_different, tags=FAST, phases=_EVERYWHERE,
    doc="A choice between a value and itself is that value.",
)  # fmt: skip


def _wanted(op: Any, out: Any) -> Any:
    wanted = [k for k, v in enumerate(out.owner.outputs) if v.clients]
    return _keep(out.owner, wanted) if len(wanted) < op.n_outs else None


cond_drop_unused = rule(
    "cond_drop_unused", choice, _wanted, tags=FAST, phases=_EVERYWHERE,
    doc="Unused outputs of a choice are dropped, so their branches need not be computed.",
)  # fmt: skip


def _decided(out: Any, side: int) -> Any:
    """Put, in one branch, the value that an inner choice by the same condition has there in its place."""
    op, condition, *branches = _parts(out.owner)
    new: list[Any] = []
    for v in branches[side]:
        while v.owner is not None and isinstance(v.owner.op, IfElse) and v.owner.inputs[0] is condition:
            v = v.owner.op.branches(v.owner)[side][v.index]
        new.append(v)
    if new == branches[side]:
        return None
    branches[side] = new
    return op.like(op.n_outs)(condition, *branches[0], *branches[1], return_list=True)


cond_merge_ifs_true = rule(
    "cond_merge_ifs_true", choice, lambda out: _decided(out, 0), tags=FAST, phases=_EVERYWHERE,
    doc="Where a condition is true, it is true for an inner choice as well.",
)  # fmt: skip


cond_merge_ifs_false = rule(
    "cond_merge_ifs_false", choice, lambda out: _decided(out, 1), tags=FAST, phases=_EVERYWHERE,
    doc="Where a condition is false, it is false for an inner choice as well.",
)  # fmt: skip


# -- moving choices outwards ----------------------------------------------------------------------------------------

#: Ops that make zeros of zeros in some of their inputs, and these inputs.
_LINEAR: dict[type[Op], tuple[int, ...]] = {
    Dot: (0, 1), BatchedDot: (0, 1), Sum: (0,), DimShuffle: (0,), Reshape: (0,), Subtensor: (0,), Alloc: (0,),
    Rebroadcast: (0,), SpecifyShape: (0,), IncSubtensor: (1,),
}  # fmt: skip
acceptable_ops = (*_LINEAR, Elemwise)
"""The ops that a choice with zeros in one branch may be moved through, as far as they are linear."""


def _is_linear(node: Apply, i: int) -> bool:
    """Return whether the output is zero where input ``i`` is."""
    if isinstance(node.op, Elemwise):
        op = scalar_of(node)
        casts = isinstance(op, Cast) and is_float(node.outputs[0])
        if op == F.mul.scalar_op or op in (F.neg.scalar_op, F.tensor_copy.scalar_op) or casts:
            return True
        return (op, i) in ((F.true_div.scalar_op, 0), (F.fill.scalar_op, 1))
    if isinstance(node.op, IncSubtensor) and not filled_with(node.inputs[0], 0):
        return False
    return i in _LINEAR.get(type(node.op), ())


def _is_zero(v: Variable) -> bool:
    return filled_with(v, 0)


def _inside(node: Apply, i: int, choice: Apply, k: int) -> list[Tensor] | None:
    """Return the choice, between what ``node`` makes of the one value and of the other."""
    op, condition, then, other = _parts(choice)
    made = [node.op(*[v if j == i else w for j, w in enumerate(node.inputs)]) for v in (then[k], other[k])]
    # Zeros are said to be zeros at once: nothing but their lengths is read of what they would be computed from.
    made = [m.zeros_like() if _is_zero(v) else m for m, v in zip(made, (then[k], other[k]), strict=True)]
    old = node.outputs[0]
    trace = old.tag.__dict__.get("trace", ())
    values: list[Any] = [conform(v, old) for v in made]
    if any(v is None for v in values):
        return None
    for v in values:
        v.tag.trace = trace
    new: list[Tensor] = op.like(1)(condition, *values, return_list=True)
    return new


@local_rule([IfElse], keeps="finite", tags=FAST, phases=_EVERYWHERE)
def cond_lift_zeros(node: Apply) -> Answer:
    """What is linear in a choice with zeros in one branch is done inside, in the other branch only."""
    op, _, then, other = _parts(node)
    if op.as_view:
        return None
    found: dict[Variable, Variable] = {}
    for k, v in enumerate(node.outputs):
        if not (is_float(v) if hasattr(v.type, "dtype") else False) or not (_is_zero(then[k]) or _is_zero(other[k])):
            continue
        for client, i in v.clients:
            if not isinstance(client, Apply) or len(client.outputs) != 1 or not _is_linear(client, i):
                continue
            if client.inputs.count(v) > 1 or client.outputs[0] in found:
                continue
            new = _inside(client, i, node, k)
            if new is not None:
                found[client.outputs[0]] = new[0]
    return found or None


@local_rule([IfElse], keeps="close", tags=FAST, phases=_EVERYWHERE)
def cond_join_zeros(node: Apply) -> Any:
    """Where two choices in turn leave something of a value or zeros, one choice by both conditions does.

    So the way back through choices inside each other stays a line: each has the condition of the one before, and its
    own, which is not computed unless the one before lets something through.
    """
    op, condition, then, other = _parts(node)
    if op.as_view or op.n_outs != 1 or _is_zero(then[0]) == _is_zero(other[0]):
        return None
    outer = _is_zero(other[0])
    value, zero = (then[0], other[0]) if outer else (other[0], then[0])
    choice = value.owner
    if choice is None or not isinstance(choice.op, IfElse) or choice.op.as_view:
        return None
    _, first, *sides = _parts(choice)
    left, right = (side[value.index] for side in sides)
    inner = _is_zero(right)
    if inner == _is_zero(left) or not (value.type.ndim == 0 or _same(right if inner else left, zero)):
        return None  # zeros of other lengths, perhaps
    ours = F.neq(condition, 0) if outer else F.eq(condition, 0)
    no = as_tensor_variable(np.False_)
    both = op.like(1)(first, *((ours, no) if inner else (no, ours)))
    return [op.like(1)(both, left if inner else right, zero)]


@local_rule([IfElse], keeps="close", tags=FAST, phases=_EVERYWHERE)
def cond_lift_common(node: Apply) -> Any:
    """Where both branches are zero by the same condition, that one is asked first."""
    op, condition, then, other = _parts(node)
    choices = [then[0].owner, other[0].owner]
    if op.as_view or op.n_outs != 1 or any(c is None or not isinstance(c.op, IfElse) for c in choices):
        return None
    first = choices[0].inputs[0]
    if choices[1].inputs[0] is not first or first is condition:
        return None
    a, b = ([s[v.index] for s in c.op.branches(c)] for c, v in zip(choices, (then[0], other[0]), strict=True))
    for side in (0, 1):
        if _is_zero(a[side]) and _is_zero(b[side]) and (a[side].type.ndim == 0 or _same(a[side], b[side])):
            between = op.like(1)(condition, a[1 - side], b[1 - side])
            return [op.like(1)(first, *((between, a[1]) if side else (a[0], between)))]
    return None


@local_rule([IfElse], keeps="close", tags=FAST, phases=_EVERYWHERE)
def cond_merge_sums(node: Apply) -> Answer:
    """A sum of choices by one condition is one choice between sums, where zeros stand in their branches."""
    op, condition, then, other = _parts(node)
    if op.as_view or op.n_outs != 1 or not (_is_zero(then[0]) or _is_zero(other[0])):
        return None
    for client, _ in node.outputs[0].clients:
        if isinstance(client, Apply) and scalar_of(client) == F.add.scalar_op:
            new = _summed(client, condition, op)
            if new is not None:
                return {client.outputs[0]: new}
    return None


def _summed(total: TensorApply, condition: Variable, op: IfElse) -> Any:
    ours: list[tuple[Any, Any]] = []
    rest: list[Tensor] = []
    for v in total.inputs:
        choice, index = v.owner, v.index
        if choice is not None and index is not None and isinstance(choice.op, IfElse) and choice.inputs[0] is condition:
            sides = choice.op.branches(choice)
            pair = (sides[0][index], sides[1][index])
            if v.type == total.outputs[0].type and (_is_zero(pair[0]) or _is_zero(pair[1])):
                ours.append(pair)
                continue
        rest.append(v)
    if len(ours) < 2:
        return None
    # A zero in a sum adds nothing but its lengths, which are those of the others.
    added = [[v for v in (pair[side] for pair in ours) if not _is_zero(v)] for side in (0, 1)]
    sums = [
        combine(F.add, terms, total.outputs[0].type.dtype) if terms else ours[0][side]
        for side, terms in enumerate(added)
    ]
    values = [conform(v, total.outputs[0]) for v in sums]
    if any(v is None for v in values):
        return None
    made = op.like(1)(condition, *values)
    return conform(F.add(made, *rest), total.outputs[0]) if rest else made


# -- memory -----------------------------------------------------------------------------------------------------------


def cond_make_inplace(fgraph: FunctionGraph, context: Context) -> None:
    """Let choices hand on memory that is not overwritten later."""
    destroyers = fgraph.destroyers

    def as_view(node: Apply, may_take: MayTake) -> Op | None:
        op = node.op
        if not isinstance(op, IfElse) or op.as_view:
            return None
        # An op that overwrites a copy would have to wait for all readers of both branches, taken or not.
        if destroyers is not None and any(destroyers(v) for v in node.outputs):
            return None
        return IfElse(op.n_outs, as_view=True, gpu=op.gpu, name=op.name)

    work_in_place(fgraph, context, "cond_make_inplace", as_view)


phases.register("cond_make_inplace", cond_make_inplace, 95, "fast_run", "inplace")
