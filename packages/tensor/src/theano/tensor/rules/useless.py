"""Computations that change nothing: identities, casts to what is there already, choices that are made."""

from __future__ import annotations

from typing import Any

import numpy as np

from theano import scalar as scal
from theano.gradient import ViewOp
from theano.graph import Apply, Constant, FunctionGraph
from theano.rewriting import Context, local_rule, phases
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.linalg.hints import Hint
from theano.tensor.rules.words import (
    FAST,
    constant_like,
    filled_with,
    fit,
    in_dtype,
    is_discrete,
    made_by,
    number_of,
    only_used_by,
    scalar_of,
    uniform,
)
from theano.tensor.shape.basic import Rebroadcast
from theano.tensor.type import TensorType


def read_hints(fgraph: FunctionGraph, context: Context) -> None:
    """Let what hints say be known of the variables, before any rule asks."""
    for node in fgraph.toposort():
        if isinstance(node.op, Hint):
            node.op.tell(node.inputs[0])
            node.op.tell(node.outputs[0])


phases.register("HintsOpt", read_hints, -1, "HintsOptimizer", *FAST)


@local_rule([Hint], tags=FAST, phases=("canonicalize",))
def remove_hint_nodes(node: Apply) -> Any:
    """A hint has done its work once its matrix knows what it says."""
    node.op.tell(node.inputs[0])  # type: ignore[attr-defined]
    return [node.inputs[0]]


@local_rule([ViewOp], tags=FAST, phases=("canonicalize",))
def local_view_op(node: Apply) -> Any:
    """A view has done its work once gradients are taken."""
    return [node.inputs[0]]


# -- element-wise -------------------------------------------------------------------------------------------------


@local_rule([Elemwise], phases=("canonicalize",))
def local_useless_composite(node: Apply) -> Any:
    """What a joined expression computes for nobody is not computed."""
    op = scalar_of(node)
    wanted = [i for i, v in enumerate(node.outputs) if v.clients]
    if not isinstance(op, scal.Composite) or len(wanted) in (0, len(node.outputs)):
        return None
    graph = op.fgraph
    fewer = scal.Composite(graph.inputs, [graph.outputs[i] for i in wanted])
    made = Elemwise(fewer).make_node(*node.inputs).outputs
    return {node.outputs[i]: fit(new, node.outputs[i]) for i, new in zip(wanted, made, strict=True)}


def _one_input(node: Apply) -> Any:
    """Return the input that a node of one remaining input, or an identity, hands on."""
    op = scalar_of(node)
    if op in (scal.add, scal.mul) and len(node.inputs) == 1:
        return node.inputs[0]
    if isinstance(op, scal.Cast) and node.inputs[0].type == node.outputs[0].type:
        return node.inputs[0]
    x: Any = node.inputs[0]
    if op in (scal.maximum, scal.minimum) and node.inputs[0] is node.inputs[1]:
        return node.inputs[0]
    if op in (scal.real, scal.conj) and x.type.dtype not in scal.complex_dtypes:
        return x
    if op in (scal.ceil, scal.floor, scal.trunc) and is_discrete(x):
        return x
    return None


@local_rule([Elemwise], tags=FAST, phases=("canonicalize", "specialize"))
def local_useless_elemwise(node: Apply) -> Any:
    """What changes nothing is its input, whole numbers are equal to themselves, logic with a constant is decided."""
    op = scalar_of(node)
    if op is None or len(node.outputs) != 1:
        return None
    out: Any = node.outputs[0]
    kept = _one_input(node)
    if kept is not None:
        new = fit(kept, out)
        return None if new is None or new is out else [new]
    if op in (scal.eq, scal.neq, scal.le, scal.ge, scal.lt, scal.gt, scal.xor):
        return _compared(node, op)
    if op in (scal.and_, scal.or_):
        return _decided(node, op)
    return None


def _compared(node: Apply, op: Any) -> Any:
    a, b = node.inputs
    # nan is not equal to itself, but neither is it less.
    if a is not b or not (is_discrete(a) or op in (scal.lt, scal.gt)):
        return None
    new = constant_like(int(op in (scal.eq, scal.le, scal.ge)), node.outputs[0])
    return None if new is None else [new]


def _decided(node: Apply, op: Any) -> Any:
    out: Any = node.outputs[0]
    dtype = out.type.dtype
    all_bits = 1 if dtype == "bool" else -1 if dtype.startswith("int") else np.iinfo(dtype).max
    absorbing = {scal.and_: 0, scal.or_: all_bits}
    neutral = {scal.and_: absorbing[scal.or_], scal.or_: 0}
    for i, v in enumerate(node.inputs):
        if filled_with(v, absorbing[op]) and v.type.dtype == dtype:  # type: ignore[attr-defined]
            new = constant_like(absorbing[op], out)
            return None if new is None else [new]
        if filled_with(v, neutral[op]) and v.type.dtype == dtype:  # type: ignore[attr-defined]
            rest = [w for j, w in enumerate(node.inputs) if j != i]
            new = fit(rest[0] if len(rest) == 1 else node.op(*rest), out)
            return None if new is None else [new]
    return None


@local_rule([F.tensor_copy], tags=FAST, phases=("canonicalize",))
def remove_tensor_copy(node: Apply) -> Any:
    """A copy that a user asked for has done its work once the graph is a function's own."""
    return [node.inputs[0]]


@local_rule([F.switch], tags=(*FAST, "local_remove_switch_const_cond"), phases=("canonicalize", "specialize"))
def local_useless_switch(node: Apply) -> Any:
    """A choice whose condition is known, or whose two sides are one."""
    condition, yes, no = node.inputs
    value = uniform(condition)
    if value is not None:
        chosen = yes if value else no
    elif yes is no or (isinstance(yes, Constant) and yes.equals(no)):
        chosen = yes
    else:
        return None
    new = fit(chosen, node.outputs[0])
    return None if new is None else [new]


@local_rule([F.mul], keeps="finite", phases=("canonicalize", "specialize"))
def local_mul_switch_sink(node: Apply) -> Any:
    """``switch(c, 0, y) * z`` multiplies inside, so that what the choice throws away does no harm."""
    return _sink(node, list(range(len(node.inputs))))


@local_rule([F.true_div, F.int_div], keeps="finite", phases=("canonicalize",))
def local_div_switch_sink(node: Apply) -> Any:
    """``switch(c, 0, y) / z`` divides inside."""
    return _sink(node, [0])


def _sink(node: Apply, places: list[int]) -> Any:
    for i in places:
        chosen = made_by(node.inputs[i], F.switch)
        if chosen is None or len(node.inputs[i].clients) > 1:
            continue
        condition, yes, no = chosen.inputs
        for zero, other, order in ((yes, no, 1), (no, yes, -1)):
            if not filled_with(zero, 0):
                continue
            # In the dtype of the choice: a narrower one could wrap around.
            other = in_dtype(other, node.inputs[i].type.dtype)  # type: ignore[attr-defined]
            inner = node.op(*[other if j == i else v for j, v in enumerate(node.inputs)])
            inner.tag.trace = node.outputs[0].tag.__dict__.get("trace", ())
            nothing = number_of(0, inner.type.dtype, inner.type.ndim)
            new = fit(F.switch(condition, *([nothing, inner] if order == 1 else [inner, nothing])), node.outputs[0])
            return None if new is None else [new]
    return None


#: What moves into choices that are made alike: what is cheap, and may become simpler there.
_INTO_CHOICES = (
    F.add, F.sub, F.mul, F.true_div, F.int_div, F.mod, F.pow, F.maximum, F.minimum, F.and_, F.or_, F.xor, F.lt, F.gt,
    F.le, F.ge, F.eq, F.neq,
)  # fmt: skip


@local_rule([F.switch, *_INTO_CHOICES], phases=("canonicalize",))
def local_merge_switch_same_cond(node: Apply) -> Any:
    """What is done to choices by one condition is done inside; a choice in a choice by the same one is made already."""
    if node.op == F.switch:
        return _chosen_already(node)
    choices = [made_by(v, F.switch) for v in node.inputs]
    if any(c is None or not only_used_by(v, node) for c, v in zip(choices, node.inputs, strict=True)):
        return None
    condition = choices[0].inputs[0]  # type: ignore[union-attr]
    if any(c.inputs[0] is not condition for c in choices):  # type: ignore[union-attr]
        return None
    # Each side in the dtype of its choice, as for _sink.
    yes, no = (
        [in_dtype(c.inputs[side], c.outputs[0].type.dtype) for c in choices]  # type: ignore[union-attr, attr-defined]
        for side in (1, 2)
    )
    new = fit(F.switch(condition, node.op(*yes), node.op(*no)), node.outputs[0])
    return None if new is None else [new]


def _chosen_already(node: Apply) -> Any:
    condition, yes, no = node.inputs
    inner_yes, inner_no = made_by(yes, F.switch), made_by(no, F.switch)
    new_yes = inner_yes.inputs[1] if inner_yes is not None and inner_yes.inputs[0] is condition else yes
    new_no = inner_no.inputs[2] if inner_no is not None and inner_no.inputs[0] is condition else no
    if new_yes is yes and new_no is no:
        return None
    new = fit(F.switch(condition, new_yes, new_no), node.outputs[0])
    return None if new is None else [new]


@local_rule([Elemwise], phases=("canonicalize", "specialize"))
def local_cast_cast(node: Apply) -> Any:
    """Two casts are one where the first loses nothing that the second would keep."""
    op = scalar_of(node)
    if not isinstance(op, scal.Cast):
        return None
    inner = node.inputs[0].owner
    if not isinstance(scalar_of(inner), scal.Cast):
        return None
    first, middle, last = inner.inputs[0].type.dtype, node.inputs[0].type.dtype, node.outputs[0].type.dtype  # type: ignore[attr-defined, union-attr]
    if last in scal.complex_dtypes and first not in scal.complex_dtypes and middle in scal.complex_dtypes:
        return None
    # Nothing is lost where the middle dtype holds every value of the first one.
    if scal.upcast(first, middle) != middle or (first == "bool") != (middle == "bool") and last == "bool":
        return None
    if first.startswith("int") and middle.startswith("uint") or first in ("int64", "uint64") and middle.startswith("f"):
        return None
    return [fit(F.cast(inner.inputs[0], last), node.outputs[0])]  # type: ignore[union-attr]


@local_rule([Elemwise], phases=("canonicalize",))
def local_upcast_elemwise_constant_inputs(node: Apply) -> Any:
    """A constant takes the dtype in which it will be computed with, if that is the dtype of the result."""
    op = scalar_of(node)
    out: Any = node.outputs[0]
    if op not in (scal.add, scal.sub, scal.mul, scal.true_div, scal.maximum, scal.minimum):
        return None
    dtype = out.type.dtype
    changed = False
    inputs = []
    for v in node.inputs:
        if isinstance(v, Constant) and v.type.dtype != dtype and dtype not in scal.discrete_dtypes:  # type: ignore[attr-defined]
            changed = True
            v = TensorType(dtype, v.type.broadcastable).make_constant(v.data.astype(dtype))  # type: ignore[attr-defined]
        inputs.append(v)
    if not changed:
        return None
    new = node.op(*inputs)
    return [new] if new.type == out.type else None


@local_rule([Rebroadcast], phases=("canonicalize", "specialize"))
def local_useless_rebroadcast(node: Apply) -> Any:
    """What a rebroadcast says is known already, or said by another one under it."""
    x: Any = node.inputs[0]
    out: Any = node.outputs[0]
    if x.type.broadcastable == out.type.broadcastable:
        return [x]
    inner = x.owner
    if inner is not None and isinstance(inner.op, Rebroadcast):
        said = [i for i, one in inner.op.axis.items() if one and not inner.inputs[0].type.broadcastable[i]]
        if any(node.op.axis.get(i) is False for i in said):  # type: ignore[attr-defined]
            return None  # what was said is checked
        merged = {**inner.op.axis, **node.op.axis}  # type: ignore[attr-defined]
        return [fit(Rebroadcast(*merged.items())(inner.inputs[0]), out)]
    return None


@local_rule([Rebroadcast], phases=("specialize",))
def local_rebroadcast_lift(node: Apply) -> Any:
    """What is declared of a function of one tensor is declared of the tensor, where other rules see it."""
    x: Any = node.inputs[0]
    inner = x.owner
    if inner is None or scalar_of(inner) is None or len(inner.inputs) != 1 or len(inner.outputs) != 1:
        return None
    if not only_used_by(x, node):
        return None
    return [fit(inner.op(node.op(inner.inputs[0])), node.outputs[0])]
