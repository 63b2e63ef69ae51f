"""Computations that change nothing: identities, casts to the same dtype, choices that are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.gradient import IdentityOp
from theano.graph import Constant, FunctionGraph
from theano.rewriting import Context, P, Pattern, local_rule, pattern_vars, phases, rule
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.linalg.hints import Hint
from theano.tensor.rules.predicates import (
    CASTS,
    FAST,
    E,
    conform,
    filled_with,
    function_of,
    in_dtype,
    is_discrete,
    is_not_complex,
    made_by,
    number_of,
    only_used_by,
    scalar_of,
    uniform,
    worth,
)
from theano.tensor.shape.basic import Rebroadcast
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.rewriting.rule import Answer
    from theano.tensor.type import Tensor


def read_hints(fgraph: FunctionGraph, context: Context) -> None:
    """Let what hints say be known of the variables, before any rule asks."""
    for node in fgraph.toposort():
        if isinstance(node.op, Hint):
            node.op.tell(node.inputs[0])
            node.op.tell(node.outputs[0])


phases.register("HintsOpt", read_hints, -1, "HintsOptimizer", *FAST)


def _told(hint: Hint, x: Tensor) -> Tensor:
    hint.tell(x)
    return x


x, y, n = pattern_vars("x y n")
rule("remove_hint_nodes", P(Hint, "hint")(x), _told, tags=FAST,
     doc="A hint has done its work once its matrix knows what it says.")  # fmt: skip


c, yes, no = pattern_vars("c yes no")
rule("local_view_op", P(IdentityOp)(x), x, tags=FAST, doc="A view has done its work once gradients are taken.")


# -- element-wise -------------------------------------------------------------------------------------------------


@local_rule([Elemwise], phases=("canonicalize",))
def local_useless_composite(node: TensorApply) -> Any:
    """Unused outputs of a joined expression are not computed."""
    if len(node.outputs) == 1:
        return None
    op = scalar_of(node)
    wanted = [i for i, v in enumerate(node.outputs) if v.clients]
    if not isinstance(op, scal.Composite) or len(wanted) in (0, len(node.outputs)):
        return None
    graph = op.fgraph
    fewer = scal.Composite(graph.inputs, [graph.outputs[i] for i in wanted])
    made = Elemwise(fewer).make_node(*node.inputs).outputs
    return {node.outputs[i]: conform(new, node.outputs[i]) for i, new in zip(wanted, made, strict=True)}


def _is_same_type(x: Tensor, out: Tensor) -> bool:
    return bool(x.type == out.type)


def _is_of_result(n: Tensor, out: Tensor) -> bool:
    return bool(n.type.dtype == out.type.dtype)


def _all_bits(v: Tensor) -> int:
    """Return the number all bits of which are set, in the dtype of ``v``."""
    dtype = v.type.dtype
    return 1 if dtype == "bool" else -1 if dtype.startswith("int") else int(np.iinfo(dtype).max)


def _is_no_bit(v: Tensor) -> bool:
    return is_discrete(v) and filled_with(v, 0)


def _is_all_bits(v: Tensor) -> bool:
    return is_discrete(v) and filled_with(v, _all_bits(v))


def _twice(op: Elemwise, v: Pattern) -> Pattern:
    return P(op, commutative=False)(v, v)


whole, not_complex = x.where(is_discrete), x.where(is_not_complex)
zero, ones = n.where(_is_no_bit), n.where(_is_all_bits)
rule(
    "local_useless_elemwise", E(F.add)(x), x,
    also=[
        (E(F.mul)(x), x),
        (P(CASTS)(x), x, _is_same_type),
        *((_twice(op, x), x) for op in (F.maximum, F.minimum)),
        *((E(op)(not_complex), x) for op in (F.real, F.conj)),
        *((E(op)(whole), lambda out, x: F.cast(x, out.type.dtype)) for op in (F.ceil, F.floor, F.trunc)),
        # nan is not equal to itself, but neither is it less.
        *((_twice(op, whole), 1) for op in (F.eq, F.le, F.ge)),
        *((_twice(op, whole), 0) for op in (F.neq, F.xor)),
        *((_twice(op, x), 0) for op in (F.lt, F.gt)),
        (E(F.and_)(zero, x), 0, _is_of_result),
        (E(F.and_)(ones, x), x, _is_of_result),
        (E(F.or_)(ones, x), lambda out: _all_bits(out), _is_of_result),
        (E(F.or_)(zero, x), x, _is_of_result),
    ],
    tags=FAST, phases=("canonicalize", "specialize"),
    doc="What changes nothing is its input, whole numbers are equal to themselves, logic with a constant is decided.",
)  # fmt: skip


rule("remove_tensor_copy", P(F.tensor_copy)(x), x, tags=FAST,
     doc="A copy that a user asked for has done its work once the graph is a function's own.")  # fmt: skip


def _is_true(v: Tensor) -> bool:
    value = uniform(v)
    return value is not None and bool(value)


rule("local_useless_switch", E(F.switch)(c.where(_is_true), yes, no), yes,
     also=[(E(F.switch)(worth(0), yes, no), no), (E(F.switch)(c, x, x), x)],
     tags=(*FAST, "local_remove_switch_const_cond"), phases=("canonicalize", "specialize"),
     doc="A choice whose condition is known, or whose two sides are one.")  # fmt: skip


@local_rule([F.mul], keeps="finite", phases=("canonicalize", "specialize"), needs=[F.switch])
def local_mul_switch_sink(node: TensorApply) -> Answer:
    """``switch(c, 0, y) * z`` multiplies inside, so that what the choice throws away does no harm."""
    return _sink(node, list(range(len(node.inputs))))


@local_rule([F.true_div, F.int_div], keeps="finite", phases=("canonicalize",), needs=[F.switch])
def local_div_switch_sink(node: TensorApply) -> Answer:
    """``switch(c, 0, y) / z`` divides inside."""
    return _sink(node, [0])


def _sink(node: TensorApply, places: list[int]) -> Any:
    for i in places:
        chosen = made_by(node.inputs[i], F.switch)
        if chosen is None:
            continue
        condition, yes, no = chosen.inputs
        for zero, other, order in ((yes, no, 1), (no, yes, -1)):
            if not filled_with(zero, 0):
                continue
            # In the dtype of the choice: a narrower one could wrap around.
            other = in_dtype(other, node.inputs[i].type.dtype)
            inner = node.op(*[other if j == i else v for j, v in enumerate(node.inputs)])
            inner.tag.trace = node.outputs[0].tag.__dict__.get("trace", ())
            nothing = number_of(0, inner.type.dtype, inner.type.ndim)
            new = conform(F.switch(condition, *([nothing, inner] if order == 1 else [inner, nothing])), node.outputs[0])
            return None if new is None else [new]
    return None


#: What moves into choices that are made alike: what is cheap, and may become simpler there.
_INTO_CHOICES = (
    F.add, F.sub, F.mul, F.true_div, F.int_div, F.mod, F.pow, F.maximum, F.minimum, F.and_, F.or_, F.xor, F.lt, F.gt,
    F.le, F.ge, F.eq, F.neq,
)  # fmt: skip


@local_rule([F.switch, *_INTO_CHOICES], phases=("canonicalize",), needs=[F.switch])
def local_merge_switch_same_cond(node: TensorApply) -> Answer:
    """What is done to choices by one condition is done inside; a choice in a choice by the same one is made already."""
    if node.op == F.switch:
        return _chosen_already(node)
    choices = [c for v in node.inputs if (c := made_by(v, F.switch)) is not None and only_used_by(v, node)]
    if len(choices) != len(node.inputs):
        return None
    condition = choices[0].inputs[0]
    if any(c.inputs[0] is not condition for c in choices):
        return None
    # Each side in the dtype of its choice, as for _sink.
    yes, no = ([in_dtype(c.inputs[side], c.outputs[0].type.dtype) for c in choices] for side in (1, 2))
    new = conform(F.switch(condition, node.op(*yes), node.op(*no)), node.outputs[0])
    return None if new is None else [new]


def _chosen_already(node: TensorApply) -> Any:
    condition, yes, no = node.inputs
    inner_yes, inner_no = made_by(yes, F.switch), made_by(no, F.switch)
    new_yes = inner_yes.inputs[1] if inner_yes is not None and inner_yes.inputs[0] is condition else yes
    new_no = inner_no.inputs[2] if inner_no is not None and inner_no.inputs[0] is condition else no
    if new_yes is yes and new_no is no:
        return None
    new = conform(F.switch(condition, new_yes, new_no), node.outputs[0])
    return None if new is None else [new]


def _loses_nothing(x: Tensor, out: Any) -> bool:
    """Return whether the dtype in between holds every value of the first one, as far as the last one would keep it."""
    first, middle, last = x.type.dtype, out.owner.inputs[0].type.dtype, out.type.dtype
    if scal.upcast(first, middle) != middle or (first == "bool") != (middle == "bool") and last == "bool":
        return False
    if first.startswith("int") and middle.startswith("uint"):
        return False
    return first not in ("int64", "uint64") or not middle.startswith("f")


rule("local_cast_cast", P(CASTS)(P(CASTS)(x)), lambda x, out: F.cast(x, out.type.dtype), when=_loses_nothing,
     phases=("canonicalize", "specialize"),
     doc="Two casts are one where the first loses nothing that the second would keep.")  # fmt: skip


@local_rule([F.add, F.sub, F.mul, F.true_div, F.maximum, F.minimum], phases=("canonicalize",))
def local_upcast_elemwise_constant_inputs(node: TensorApply) -> Answer:
    """A constant takes the dtype in which it will be computed with, if that is the dtype of the result."""
    out: Tensor = node.outputs[0]
    dtype = out.type.dtype
    changed = False
    inputs = []
    for v in node.inputs:
        if isinstance(v, Constant) and v.type.dtype != dtype and dtype not in scal.discrete_dtypes:
            changed = True
            v = TensorType(dtype, v.type.broadcastable).make_constant(v.data.astype(dtype))
        inputs.append(v)
    if not changed:
        return None
    new = node.op(*inputs)
    return [new] if new.type == out.type else None


def _says_nothing(x: Tensor, out: Tensor) -> bool:
    return bool(x.type.broadcastable == out.type.broadcastable)


def _may_be_one(outer: Rebroadcast, inner: Rebroadcast, x: Tensor) -> bool:
    """Return whether the outer of two rebroadcasts contradicts nothing that the inner one checks."""
    said = [i for i, one in inner.axis.items() if one and not x.type.broadcastable[i]]
    return not any(outer.axis.get(i) is False for i in said)


rule("local_useless_rebroadcast", P(Rebroadcast)(x), x, when=_says_nothing, phases=("canonicalize", "specialize"),
     also=[(P(Rebroadcast, "outer")(P(Rebroadcast, "inner")(x)),
            lambda outer, inner, x: Rebroadcast(*{**inner.axis, **outer.axis}.items())(x), _may_be_one)],
     doc="What a rebroadcast says is known already, or said by another one under it.")  # fmt: skip


rule("local_rebroadcast_lift", P(Rebroadcast, "op")(function_of(x).single_use()), P("f")(P("op")(x)),
     phases=("specialize",),
     doc="What is declared of a function of one tensor is declared of the tensor, where other rules see it.",
)  # fmt: skip
