"""Merge and constant folding: the two passes that need to know nothing of what the ops mean."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from theano.extensions import Single
from theano.graph.apply import Apply
from theano.graph.canonical import MAX_BYTES
from theano.graph.fgraph import FunctionGraph
from theano.graph.op import Op, has_own_thunk, has_perform, performer
from theano.graph.signals import let_signals_through
from theano.graph.variable import Constant, Variable
from theano.rewriting.context import Context
from theano.rewriting.rule import Answer, FunctionRule

#: A variable with very many users makes each change to one of them slow: equal constants share up to this many.
MANY_USERS = 32

#: From a node of constants to the bytes of its outputs; None where only computing them can tell.
foreseen_bytes: Single[Callable[[Apply], int | None]] = Single(
    "rewriting.merge.foreseen_bytes", "how large results become"
)


def merge(fgraph: FunctionGraph, context: Context) -> None:
    """Let equal constants be one variable, and equal nodes (same op on the same inputs) one node.

    The first in order of computation stays. One walk is enough: when a node is met, its inputs are merged already.
    """
    if context.merged == (fgraph, fgraph.version):
        return
    order = fgraph.toposort()
    kept: dict[Hashable, Constant] = {}
    seen: dict[Hashable, Apply] = {}
    number_of = _numbers()
    # Once nodes overwrite memory, equal nodes need not be worth the same later: leave what is touched alone.
    destroyed = _destroyed(fgraph, order)
    for node in order:
        if node not in fgraph.apply_nodes:
            continue
        try:
            first = seen.setdefault((number_of(node.op), *map(_identity, node.inputs)), node)
        except TypeError:
            continue  # an op that cannot be hashed is equal to nothing
        if first is not node and not (destroyed and any(v in destroyed for n in (first, node) for v in n.outputs)):
            pairs = [(old, new) for old, new in zip(node.outputs, first.outputs, strict=True) if old.type == new.type]
            if len(pairs) == len(node.outputs):
                for old, new in pairs:
                    fgraph.replace(old, new, reason="merge")
                context.note("merge", -1)
                continue
        for v in list(node.inputs):
            if isinstance(v, Constant):
                _merge_constant(fgraph, v, kept, context)
    for v in list(fgraph.outputs):
        if isinstance(v, Constant):
            _merge_constant(fgraph, v, kept, context)
    context.merged = fgraph, fgraph.version


def _numbers() -> Callable[[Op], int]:
    """Return a function that gives equal ops the same number, and hashes each object once only."""
    by_value: dict[Op, int] = {}
    # The op is kept, so that its id stays its own.
    by_identity: dict[int, tuple[Op, int]] = {}

    def number_of(op: Op) -> int:
        known = by_identity.get(id(op))
        if known is None:
            known = by_identity[id(op)] = (op, by_value.setdefault(op, len(by_value)))
        return known[1]

    return number_of


def _identity(v: Variable) -> Hashable:
    """Return an object that is equal for two variables that are worth the same by construction."""
    return _signature(v) if isinstance(v, Constant) else id(v)


def _signature(v: Constant) -> Hashable:
    """Return the signature of a constant; kept, as it may have to look at much data."""
    known: dict[str, Any] = v.tag.__dict__
    signature: Hashable = known.get("_merge_signature")
    if signature is None:
        signature = v.signature()
        try:
            hash(signature)
        except TypeError:
            signature = id(v)  # a value without hash is equal to nothing
        known["_merge_signature"] = signature
    return signature


def _merge_constant(fgraph: FunctionGraph, v: Constant, kept: dict[Hashable, Constant], context: Context) -> None:
    signature = _signature(v)
    first = kept.setdefault(signature, v)
    if first is v:
        return
    if len(first.clients) + len(v.clients) > MANY_USERS:
        kept[signature] = v
    elif first.type == v.type:
        fgraph.replace(v, first, reason="merge")
        context.note("merge", 0)


def _destroyed(fgraph: FunctionGraph, order: list[Apply]) -> set[Variable]:
    """Return the variables whose memory some node overwrites, and the outputs of the nodes that do."""
    destroyers = fgraph.destroyers
    if destroyers is None or not any(node.op.destroy_map for node in order):
        return set()
    touched = {v for v in fgraph.variables if destroyers(v)}
    touched.update(v for node in order if node.op.destroy_map for v in node.outputs)
    return touched


def fold(node: Apply) -> Answer:
    """Compute a node whose inputs are all constants, once and for all.

    Whatever goes wrong in the computation is left to happen when the function runs, where it can be reported with
    the user's values. A large array that is made of small ones is quicker made than loaded: it stays unmade.
    """
    given: list[Constant] = []
    for v in node.inputs:
        if not isinstance(v, Constant):
            return None
        given.append(v)
    if not given:
        return None
    op = node.op
    if not (has_perform(op) or has_own_thunk(op)) or not op.do_constant_folding(node):
        return None
    if any(getattr(v.tag, "unfoldable", False) for v in node.outputs):
        return None
    try:
        allowed = max(MAX_BYTES, _bytes_of(given))
        if foreseen_bytes.answer is not None and (foreseen_bytes.answer(node) or 0) > allowed:
            return None
        values = evaluate(node, [v.data for v in given])
        constants = [v.type.make_constant(value) for v, value in zip(node.outputs, values, strict=True)]
        if _bytes_of(constants) > allowed:  # unforeseeable; the mark avoids a second try
            for v in node.outputs:
                v.tag.__dict__["unfoldable"] = True
            return None
    except Exception as error:  # noqa: BLE001  (the boundary to ops that anybody may have written)
        let_signals_through(error)
        return None
    for constant, v in zip(constants, node.outputs, strict=True):
        constant.tag.__update__(v.tag)
    return dict(zip(node.outputs, constants, strict=True))


def _bytes_of(constants: list[Constant]) -> int:
    """Return how many bytes the arrays among some constants have."""
    return sum(getattr(v.data, "nbytes", 0) for v in constants)


def evaluate(node: Apply, values: list[Any]) -> list[Any]:
    """Return the outputs of ``node`` for ``values`` of its inputs, computed in Python."""
    op = node.op
    if not has_own_thunk(op):
        cells: list[list[Any]] = [[None] for _ in node.outputs]
        performer(node)(node, values, cells)
        return [cell[0] for cell in cells]
    storage = {v: [value] for v, value in zip(node.inputs, values, strict=True)}
    storage.update({v: [None] for v in node.outputs})
    computed: dict[Variable, list[Any]] = {v: [True] for v in node.inputs}
    computed.update({v: [False] for v in node.outputs})
    op.make_thunk(node, storage, computed, [])()
    return [storage[v][0] for v in node.outputs]


#: Constant folding as a rule of the fixpoint phases; its name is the documented one.
constant_folding = FunctionRule(fold, "topo_constant_folding", keeps="exact", tags=("fast_compile", "fast_run"))
