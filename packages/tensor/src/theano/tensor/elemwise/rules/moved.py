"""Stable forms of logarithms, and of their gradients, where elements were moved in between.

Users reshape, select, join and mask probabilities before they take the logarithm. The rules of `stable` and of other
families see a function next to the one that it undoes. Here both come together: a logarithm is taken before the move,
and in gradients a quotient is divided after elements were moved back, next to the factor that it cancels with.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.graph import Apply
from theano.rewriting import local_rule, phases
from theano.rewriting.registration import ChangeCount
from theano.rewriting.rule import Rule
from theano.tensor.convert import static_int
from theano.tensor.create.alloc import Alloc
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.elemwise.rules.algebra import divisors
from theano.tensor.index.basic import Subtensor
from theano.tensor.join.op import Join, MakeVector, Split
from theano.tensor.join.rules import joint
from theano.tensor.nnet.softmax import Softmax, SoftmaxWithBias
from theano.tensor.reduce.careduce import Prod, Sum
from theano.tensor.rules.moves import MOVES, READS, moved_alike, replaces, same_part, sources
from theano.tensor.rules.predicates import (
    conform,
    factors_of,
    filled_with,
    in_dtype,
    made_by,
    number_of,
    scalar_of,
    times,
    uniform,
)
from theano.tensor.shape.basic import Rebroadcast
from theano.tensor.shape.reshape import Reshape
from theano.tensor.shape.rules.layout import is_length_of, keeps_long_axes, lengths_in
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.fgraph import FunctionGraph
    from theano.graph.variable import Variable
    from theano.rewriting.rule import Answer
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor

TAGS = ("fast_run", "fast_compile", "stabilize")
Function = Callable[[Any], Any]


@local_rule([F.log, F.log1p], keeps="finite", phases=("stabilize", "specialize"), tags=TAGS, needs=MOVES)
def local_log_of_moved(fgraph: FunctionGraph, node: TensorApply) -> Answer:
    """The logarithm of moved elements is taken before the move where a rule knows it, as of probabilities."""
    new = _taken_first(fgraph, node.op, node.inputs[0])
    return None if new is None else [conform(new, node.outputs[0])]


def logarithm(fgraph: FunctionGraph, v: TensorLike) -> Tensor:
    """Return a better form of the logarithm of ``v`` than to compute ``v``; None where no rule knows one."""
    return _known(fgraph, F.log, v)


def _taken_first(fgraph: Any, function: Function, v: Any) -> Any:
    """Return ``function(v)``, computed before elements were moved; None where no rule knows a better form of it."""
    positions = sources(v)
    if positions:
        pieces = {i: in_dtype(v.owner.inputs[i], v.type.dtype) for i in positions}
        found = {i: _known(fgraph, function, p) for i, p in pieces.items()}
        if all(new is None for new in found.values()):
            return None
        return moved_alike(v, {i: function(pieces[i]) if new is None else new for i, new in found.items()})
    place = _only_argument(v)
    if place is None:
        return None
    return _taken_first(fgraph, lambda p: function(_applied(v.owner, place, p)), v.owner.inputs[place])


def _known(fgraph: FunctionGraph, function: Function, p: Any) -> Any:
    deeper = _taken_first(fgraph, function, p)
    if deeper is not None:
        return deeper
    plain = function(p)
    for rule in _rules_of(plain.owner.op, ChangeCount.count):
        answer = rule.answer(fgraph, plain.owner)
        new = answer.get(plain) if isinstance(answer, dict) else answer[0] if isinstance(answer, list) else None
        if new is not None:
            return new
    return None


@lru_cache(8)
def _rules_of(op: Elemwise, changes: int) -> list[Rule]:
    """Return the rules that know better forms of a logarithm, as of now."""
    known = phases.all_rules().values()
    return [r for r in known if op in (r.tracks or ()) and r.keeps != "approximate" and r is not local_log_of_moved]


def _only_argument(v: Any) -> int | None:
    """Return the position of the input that decides what ``v`` is, the others being numbers: as x in ``1 - x``."""
    if scalar_of(v.owner) not in (scal.sub, scal.add, scal.neg, scal.mul):
        return None
    open_ = [i for i, w in enumerate(v.owner.inputs) if uniform(w) is None]
    return open_[0] if len(open_) == 1 else None


def _applied(node: TensorApply, place: int, p: Tensor) -> Variable:
    """Return what a node, of one argument beside numbers, computes of ``p``: the same variable if that is there."""
    numbers = [None if i == place else uniform(w) for i, w in enumerate(node.inputs)]
    for client, _ in getattr(p, "clients", ()):
        if isinstance(client, Apply) and client.op == node.op and len(client.inputs) == len(numbers):
            pairs = list(zip(client.inputs, numbers, strict=True))
            if all(w is p if i == place else filled_with(w, number) for i, (w, number) in enumerate(pairs)):
                return client.outputs[0]
    pairs = list(zip(node.inputs, numbers, strict=True))
    return node.op(*[p if n is None else number_of(n, w.type.dtype, p.type.ndim) for w, n in pairs])


# -- gradients ------------------------------------------------------------------------------------------------------


@local_rule([DimShuffle, Rebroadcast, Reshape, Split, Join, F.switch, Sum, Subtensor, *READS], keeps="finite",
            phases=("canonicalize",), needs=[F.true_div, F.inv])  # fmt: skip
def local_quotient_moved_back(fgraph: FunctionGraph, node: TensorApply) -> Answer:
    """``back(a / move(b))`` is ``back(a) / b`` where ``back`` undoes the move, and the gradient is multiplied by b.

    That is what the chain rule does unless the gradient with respect to b itself is asked for.
    """
    place = _quotient(node)
    if place is None or any(client == "output" for v in node.outputs for client, _ in v.clients):
        return None
    quotient = node.inputs[place]
    for divisor in dict.fromkeys(divisors(quotient)):
        if divisor.type != quotient.type and not isinstance(node.op, (Sum, Rebroadcast)):
            continue
        unmoved = [_unmoved(fgraph, divisor, node, k) for k in range(len(node.outputs))]
        if any(b is None or not _cancels(b) for b in unmoved):
            continue
        a = conform(times(quotient, divisor), quotient)
        if a is None or divisor in divisors(a):  # b is a factor once, so zeros would be divided by it
            continue
        # Where elements stay in their places, the factor enters the switch, unless others use it.
        if isinstance(node.op, Elemwise) and len(node.outputs[0].clients) == 1:
            return [conform(moved_alike(node.outputs[0], {place: F.true_div(a, unmoved[0])}), node.outputs[0])]
        inputs = [a if i == place else v for i, v in enumerate(node.inputs)]
        if type(node.op) in READS and place and not filled_with(inputs[0], 0):
            inputs[0] = times(inputs[0], unmoved[0])
            if inputs[0] is None:
                continue
        made = node.op.make_node(*inputs).outputs
        new = [conform(F.true_div(*pair), out) for *pair, out in zip(made, unmoved, node.outputs, strict=True)]
        return None if any(v is None for v in new) else new
    return None


@local_rule([DimShuffle, Reshape], phases=("canonicalize",))
def local_divisor_moved_back(fgraph: FunctionGraph, node: TensorApply) -> Answer:
    """``back(1 + move(b))`` is ``1 + b``, also where the sum has other users: a quotient came apart."""
    b = _unmoved(fgraph, node.inputs[0], node)
    return [conform(b, node.outputs[0])] if b is not None and _cancels(b) else None


@local_rule([F.add, F.sub], keeps="finite", phases=("canonicalize",), needs=[F.true_div])
def local_sum_of_quotients(node: TensorApply) -> Answer:
    """``a / s + b / s`` is ``(a + b) / s``, as where a tensor was used in several places, and gradients add up."""
    first, *others = [divisors(v) for v in node.inputs]
    for divisor in first:
        if node.op == F.sub and made_by(divisor, F.sub) is None:
            continue  # of a softmax the gradient is a difference as well, and its terms cancel one by one
        if _cancels(divisor) and all(divisor in found for found in others):
            terms = [times(v, divisor) for v in node.inputs]
            return [conform(F.true_div(node.op(*terms), divisor), node.outputs[0])]
    return None


def _quotient(node: TensorApply) -> int | None:
    """Return the position of the input whose elements are moved back; all others become zeros."""
    zero = [filled_with(v, 0) for v in node.inputs]
    if type(node.op) in READS:
        return 0 if zero[1] and not zero[0] and replaces(node.op) else 1
    if isinstance(node.op, Elemwise):
        return 1 if zero[2] else 2 if zero[1] else None
    if isinstance(node.op, Join):
        others = [i for i, is_zero in enumerate(zero) if i and not is_zero]
        return others[0] if len(others) == 1 else None
    return 0


def _unmoved(fgraph: Any, divisor: Any, node: TensorApply, k: int = 0) -> Any:
    """Return what ``divisor`` was before the move that output ``k`` of a node undoes; None if it was not moved so.

    The node is known to move elements of something as long as ``divisor``.
    """
    moved, op = divisor.owner, node.op
    at = _only_argument(divisor)
    if at is not None:
        inner = _unmoved(fgraph, moved.inputs[at], node, k)
        return None if inner is None else _applied(moved, at, inner)
    undone = next((test for kind, test in _UNDONE.items() if isinstance(op, kind)), None)
    b = None if moved is None or undone is None else undone(fgraph, node, divisor, k)
    return b if b is not None and b.type.ndim == node.outputs[k].type.ndim else None


def _unshuffled(fgraph: object, node: TensorApply, divisor: Any, k: int) -> Any:
    moved = divisor.owner
    if not isinstance(moved.op, DimShuffle):
        return None
    before, after = moved.op.new_order, node.op.new_order  # type: ignore[attr-defined]
    back = ["x" if d == "x" else before[d] for d in after]
    return moved.inputs[0] if back == list(range(moved.inputs[0].type.ndim)) else None


def _reshaped(fgraph: Any, node: TensorApply, divisor: Any, k: int) -> Any:
    moved = divisor.owner
    b, lengths = moved.inputs[0], lengths_in(node.inputs[1])
    in_order = isinstance(moved.op, Reshape) or isinstance(moved.op, DimShuffle) and keeps_long_axes(moved.op, b)
    if not in_order or lengths is None or len(lengths) != b.type.ndim:
        return None
    return b if all(is_length_of(n, b, i, fgraph) for i, n in enumerate(lengths)) else None


def _split(fgraph: Any, node: TensorApply, divisor: Any, k: int) -> Any:
    moved = divisor.owner
    axis, lengths = joint(node), lengths_in(node.inputs[2])
    if axis is None or lengths is None or not isinstance(moved.op, Join) or joint(moved) != axis:
        return None
    _, *pieces = moved.inputs
    return pieces[k] if len(lengths) == len(pieces) and is_length_of(lengths[k], pieces[k], axis, fgraph) else None


def _element(fgraph: object, node: TensorApply, divisor: Any, k: int) -> Any:
    """Of a vector of numbers."""
    vector, place = divisor.owner, static_int(node.inputs[1]) if len(node.inputs) == 2 else None
    if not isinstance(vector.op, MakeVector) or place is None or not -len(vector.inputs) <= place < len(vector.inputs):
        return None
    return vector.inputs[place] if node.outputs[0].type.ndim == 0 else None


def _joined(fgraph: Any, node: TensorApply, divisor: Any, k: int) -> Any:
    moved = divisor.owner
    place, axis = _quotient(node), joint(node)
    whole = isinstance(moved.op, Split) and len(moved.outputs) == len(node.inputs) - 1
    if not whole or place is None or divisor is not moved.outputs[place - 1] or joint(moved) != axis:
        return None
    others = [(v, w) for v, w in zip(node.inputs[1:], moved.outputs, strict=True) if w is not divisor]
    return moved.inputs[0] if all(fgraph.shape_feature.same_shape(v, w) for v, w in others) else None


def _summed(fgraph: object, node: TensorApply, divisor: Any, k: int) -> Any:
    moved = divisor.owner
    op: Any = node.op
    v = moved.inputs[0] if isinstance(moved.op, Alloc) else divisor
    axes = op.axes_of(node.inputs[0].type.ndim)
    if v.type.ndim != node.inputs[0].type.ndim or not all(v.type.broadcastable[axis] for axis in axes):
        return None
    return DimShuffle(v.type.broadcastable, [i for i in range(v.type.ndim) if i not in axes])(v)


def _chosen(fgraph: object, node: TensorApply, divisor: Any, k: int) -> Any:
    moved = divisor.owner
    place = _quotient(node)
    same = scalar_of(node) == scalar_of(moved) == scal.switch and moved.inputs[0] is node.inputs[0]
    return moved.inputs[place] if same and place is not None else None


def _written(fgraph: object, node: TensorApply, divisor: Any, k: int) -> Any:
    moved = divisor.owner
    op: Any = node.op
    base, b = node.inputs[0], moved.inputs[0]
    if not same_part(node, moved):
        return None
    if _quotient(node) == 0:
        return b if type(moved.op) is type(op) else None
    if type(moved.op) is not READS[type(op)]:
        return None
    if not filled_with(base, 0):
        return None if replaces(op) else b  # more is added to parts that were divided already
    feature = getattr(fgraph, "shape_feature", None)
    return b if feature is not None and feature.same_shape(base, b) else None


def _itself(fgraph: FunctionGraph, node: TensorApply, divisor: Tensor, k: int) -> Tensor:
    return divisor


#: For each kind of ops the function that returns, if one of them undoes the move of a node, what was moved there.
_UNDONE: dict[Any, Callable[..., Any]] = {
    Rebroadcast: _itself, DimShuffle: _unshuffled, Reshape: _reshaped, Split: _split, Join: _joined, Sum: _summed,
    Elemwise: _chosen, Subtensor: _element, tuple(READS): _written,
}  # fmt: skip


def _cancels(b: Tensor) -> bool:
    """Return whether the gradient of ``b`` has ``b`` for a factor, or is divided by it where it is a sum of powers."""
    node = b.owner
    if node is None:
        return False
    functions = (scal.sigmoid, scal.exp, scal.expm1, scal.erfc)
    if isinstance(node.op, (Softmax, SoftmaxWithBias, Prod)) or scalar_of(node) in functions:
        return True
    if isinstance(node.op, Sum):
        return any(made_by(v, F.exp) is not None for v in factors_of(node.inputs[0]))
    if scalar_of(node) in (scal.add, scal.sub):
        return any(_cancels(v) for v in node.inputs)
    if scalar_of(node) in (scal.mul, scal.true_div):
        powers = factors_of(b if scalar_of(node) == scal.mul else node.inputs[0])
        if any(made_by(v, F.exp) is not None for v in powers):
            return True
    at = _only_argument(b)
    return any(_cancels(node.inputs[i]) for i in (sources(b) if at is None else (at,)))
