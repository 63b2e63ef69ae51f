"""Fusion: element-wise nodes that work on the same elements become one node, with as many outputs as are needed.

Which nodes may be joined without a cycle is decided by *levels*. An edge of the graph is *open* if it leads from one
element-wise node to another of the same broadcast pattern, so that both loop over the same elements; every other edge
is *closed*. Each node gets a level that never falls along an open edge and rises along a closed one. Nodes of one
level that open edges connect can then be joined: a path that left such a group through a closed edge would have risen,
and could not come back. Levels are taken as late as possible, so that what is computed for one user joins that user.

Groups of one level that read the same full-sized input are joined as well: no path leads between them, and the input
is read once. All of it is one walk up and one walk down the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from theano import scalar as scal
from theano.graph import Apply, Constant, FunctionGraph, Variable
from theano.rewriting import Context, Phases, phases
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.rules.words import scalar_of

#: More operands than this and the pointers no longer fit in registers; more steps and the compiler takes long.
MAX_OPERANDS = 24
MAX_STEPS = 64


def fuse(fgraph: FunctionGraph, context: Context) -> None:
    """Join element-wise nodes."""
    order = fgraph.toposort()
    fusible = {node for node in order if is_fusible(node)}
    if len(fusible) < 2:
        return
    levels = _levels(order, fusible)
    # Where something is computed only on demand, a node must not compute for one user what another one asked for.
    lazy = any(getattr(node.op, "lazy", False) for node in order)
    pieces: list[list[Apply]] = []
    for group in _groups(order, fusible, levels, alone=lazy):
        pieces.extend(_cut(group))
    for piece in pieces:
        if len(piece) > 1:
            _join(fgraph, piece, context)


def is_fusible(node: Apply) -> bool:
    """Return whether ``node`` is an element-wise node that C can compute, writing over nothing."""
    op = scalar_of(node)
    if op is None or not node.inputs:
        return False
    if len(node.outputs) != 1 and not isinstance(op, scal.Composite):
        return False
    return _has_c(op, tuple(v.type.dtype for v in node.inputs), tuple(v.type.dtype for v in node.outputs))  # type: ignore[attr-defined]


_known_c: dict[Any, bool] = {}


def _has_c(op: Any, in_dtypes: tuple[str, ...], out_dtypes: tuple[str, ...]) -> bool:
    key = (op, in_dtypes, out_dtypes)
    if key not in _known_c:
        ins, outs = [f"x{i}" for i in range(len(in_dtypes))], [f"y{i}" for i in range(len(out_dtypes))]
        _known_c[key] = op.c_statements(ins, in_dtypes, outs, out_dtypes) is not None
    return _known_c[key]


def _pattern(node: Apply) -> tuple[bool, ...]:
    return node.outputs[0].type.broadcastable  # type: ignore[attr-defined, no-any-return]


def _open(producer: Apply, node: Apply, fusible: set[Apply]) -> bool:
    return producer in fusible and node in fusible and _pattern(producer) == _pattern(node)


def _levels(order: Sequence[Apply], fusible: set[Apply]) -> dict[Apply, int]:
    """Return a level for each node: as early as its inputs allow, then as late as its users allow."""
    early: dict[Apply, int] = {}
    for node in order:
        needs = [(v.owner, early[v.owner]) for v in node.inputs if v.owner is not None]
        early[node] = max((level + (not _open(p, node, fusible)) for p, level in needs), default=0)
    late: dict[Apply, int] = {}
    for node in reversed(order):
        users = [c for v in node.outputs for c, _ in v.clients if isinstance(c, Apply)]
        late[node] = min((late[c] - (not _open(node, c, fusible)) for c in users), default=early[node])
    return late


class _Sets:
    """Disjoint sets of nodes."""

    def __init__(self, nodes: Sequence[Apply]):
        self.parent = {node: node for node in nodes}

    def find(self, node: Apply) -> Apply:
        root = node
        while self.parent[root] is not root:
            root = self.parent[root]
        while self.parent[node] is not root:
            self.parent[node], node = root, self.parent[node]
        return root

    def join(self, a: Apply, b: Apply) -> None:
        self.parent[self.find(b)] = self.find(a)


def _groups(
    order: Sequence[Apply], fusible: set[Apply], levels: dict[Apply, int], alone: bool
) -> list[list[Apply]]:
    """Return the nodes that may become one, in order of computation.

    Parameters
    ----------
    alone : bool
        Join a node only with its only user.
    """
    nodes = [node for node in order if node in fusible]
    sets = _Sets(nodes)
    readers: dict[tuple[Variable, int, tuple[bool, ...]], Apply] = {}
    for node in nodes:
        pattern = _pattern(node)
        for v in node.inputs:
            producer = v.owner
            if producer is not None and _open(producer, node, fusible) and levels[producer] == levels[node]:
                if not alone or len({c for w in producer.outputs for c, _ in w.clients}) == 1:
                    sets.join(producer, node)
            if not alone and not all(pattern) and v.type.broadcastable == pattern:  # type: ignore[attr-defined]
                sets.join(readers.setdefault((v, levels[node], pattern), node), node)
    found: dict[Apply, list[Apply]] = {}
    for node in nodes:
        found.setdefault(sets.find(node), []).append(node)
    return list(found.values())


def _cut(group: Sequence[Apply]) -> list[list[Apply]]:
    """Return a group in pieces that respect the limits, each needing only the ones before it."""
    pieces: list[list[Apply]] = []
    piece: list[Apply] = []
    read: set[Variable] = set()  # what the piece takes from outside
    users: dict[Variable, int] = {}  # its own values, and how many users of each are not in it (yet)
    wanted = steps = 0  # how many of its own values have such users
    for node in group:
        fresh = {v for v in node.inputs if v not in users and not _inlined(v)}
        if piece and (steps + _steps(node) > MAX_STEPS or len(read | fresh) + wanted + 1 > MAX_OPERANDS):
            pieces.append(piece)
            piece, read, users, wanted, steps = [], set(), {}, 0, 0
            fresh = {v for v in node.inputs if not _inlined(v)}
        piece.append(node)
        read |= fresh
        steps += _steps(node)
        for v in node.inputs:
            if v in users:
                users[v] -= 1
                wanted -= users[v] == 0
        users.update((v, len(v.clients)) for v in node.outputs)
        wanted += len(node.outputs)
    return [*pieces, piece]


def _steps(node: Apply) -> int:
    op = scalar_of(node)
    return len(op.program.steps) if isinstance(op, scal.Composite) else max(len(node.inputs) - 1, 1)


def _inlined(v: Any) -> bool:
    """Return whether ``v`` is a number that can stand in the code."""
    return isinstance(v, Constant) and v.data.size == 1


def _leaves(v: Variable, members: set[Apply]) -> bool:
    """Return whether somebody who is not among ``members`` uses ``v``."""
    return any(not isinstance(c, Apply) or c not in members for c, _ in v.clients)


def _join(fgraph: FunctionGraph, piece: Sequence[Apply], context: Context) -> None:
    """Put one node in the place of the nodes of ``piece``."""
    outside: dict[Any, Any] = {}
    known: dict[Any, Any] = {}
    for node in piece:
        arguments = []
        for v in node.inputs:
            if v not in known:
                stand_in = scal.get_scalar_type(v.type.dtype)  # type: ignore[attr-defined]
                if _inlined(v):
                    known[v] = stand_in.make_constant(v.data.flat[0])  # type: ignore[attr-defined]
                else:
                    known[v] = outside[v] = stand_in.make_variable()
            arguments.append(known[v])
        made = scalar_of(node).make_node(*arguments)
        known.update(zip(node.outputs, made.outputs, strict=True))
    members = set(piece)
    wanted = [v for node in piece for v in node.outputs if _leaves(v, members)]
    if not outside or not wanted:
        return
    op = Elemwise(scal.Composite(list(outside.values()), [known[v] for v in wanted]))
    fused = op.make_node(*outside)
    pairs = list(zip(wanted, fused.outputs, strict=True))
    # The inputs that are constants or broadcast may have been all that said a dimension is not 1 long.
    if all(old.type == new.type for old, new in pairs):
        context.replace(fgraph, pairs, "composite_elemwise_fusion")


def _fusion_phases() -> Phases:
    sequence = Phases("elemwise_fusion")
    sequence.register("composite_elemwise_fusion", fuse, 1, "fast_run", "fusion")
    return sequence


phases.register("elemwise_fusion", _fusion_phases(), 49, "fast_run", "fusion", "local_elemwise_fusion")

