"""Fusion: element-wise nodes that work on the same elements become one node, with as many outputs as are needed.

Which nodes may be joined without a cycle is decided by *levels*. An edge of the graph is *open* if it leads from one
element-wise node to another of the same broadcast pattern, so that both loop over the same elements; every other edge
is *closed*. Each node gets a level that never falls along an open edge and rises along a closed one. Nodes of one
level that open edges connect can then be joined: a path that left such a group through a closed edge would have risen,
and could not come back. Levels are taken as late as possible, so that what is computed for one user joins that user.

Groups of one level that read the same full-sized input are joined as well: no path leads between them, and the input
is read once. All of it is one walk up and one walk down the graph.

The numbers of one level are joined even if they have nothing in common: a node costs more than its few operations.
(`numbers` computes what has one element without dimensions before.)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from theano import scalar as scal
from theano.graph import Apply, FunctionGraph, Variable
from theano.graph.traverse import toposort_nodes
from theano.rewriting import Context, Phase, Phases, Query, Report, local_rule, phases
from theano.settings import config
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.reduce.rules.map_reduce import fuse_reductions
from theano.tensor.rules.joining import (
    MAX_NUMBERS,
    MAX_OPERANDS,
    MAX_STEPS,
    Sets,
    inlined,
    is_fusible,
    loop_pattern,
    scalar_expression,
    step_count,
)
from theano.tensor.rules.predicates import conform, only_used_by, scalar_of
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.rewriting.rule import Answer

#: Fewer numbers that have nothing in common are left to the kernels of single operations, which are compiled already.
_NUMBERS = 4


def fuse(fgraph: FunctionGraph, context: Context) -> None:
    """Join element-wise nodes."""
    order = fgraph.toposort()
    fusible = {node for node in order if is_fusible(node)}
    if len(fusible) < 2:
        return
    # Where something is computed only on demand, a node must not compute for one user what another one asked for.
    lazy = any(node.op.lazy for node in order)
    levels = _levels(order, fusible, lazy)
    pieces: list[list[TensorApply]] = []
    for group in _groups(order, fusible, levels, alone=lazy):
        whole = _cut(group)
        pieces.extend(whole if len(whole) == 1 else _cut(_depth_first(group)))
    for piece in pieces:
        if len(piece) > 1:
            _join(fgraph, piece, context)


def _open(producer: TensorApply, node: TensorApply, fusible: set[TensorApply]) -> bool:
    return producer in fusible and node in fusible and loop_pattern(producer) == loop_pattern(node)


def _levels(order: Sequence[TensorApply], fusible: set[TensorApply], lazy: bool) -> dict[TensorApply, int]:
    """Return a level for each node: as early as its inputs allow, then as late as its users allow; few for numbers."""
    early: dict[TensorApply, int] = {}
    for node in order:
        needs = [(v.owner, early[v.owner]) for v in node.inputs if v.owner is not None]
        early[node] = max((level + (not _open(p, node, fusible)) for p, level in needs), default=0)
    late: dict[TensorApply, int] = {}
    for node in reversed(order):
        users = [c for v in node.outputs for c, _ in v.clients if isinstance(c, Apply)]
        late[node] = min((late[c] - (not _open(node, c, fusible)) for c in users), default=early[node])
    numbers = [] if lazy else [node for node in order if node in fusible and not loop_pattern(node)]
    return late if len(numbers) < _NUMBERS else _gathered(order, numbers, fusible, early, late)


def _gathered(
    order: Sequence[TensorApply], numbers: Sequence[TensorApply], fusible: set[TensorApply],
    early: dict[TensorApply, int], late: dict[TensorApply, int],
) -> dict[TensorApply, int]:  # fmt: skip
    """Return levels in which those of numbers, anywhere between the earliest and the latest, are as few as may be."""
    chosen: list[int] = []
    for node in sorted(numbers, key=late.__getitem__):
        if not chosen or chosen[-1] < early[node]:
            chosen.append(late[node])
    free = set(numbers)
    levels: dict[TensorApply, int] = {}
    for node in order:
        needs = [(v.owner, levels[v.owner]) for v in node.inputs if v.owner is not None]
        first = max((level + (not _open(p, node, fusible)) for p, level in needs), default=0)
        if node in free:
            k = bisect_left(chosen, first)
            levels[node] = min(chosen[k], late[node]) if k < len(chosen) else late[node]
        else:
            levels[node] = late[node] if node in fusible else first
    return levels


def _groups(
    order: Sequence[TensorApply], fusible: set[TensorApply], levels: dict[TensorApply, int], alone: bool
) -> list[list[TensorApply]]:
    """Return the nodes that may become one, in order of computation.

    Parameters
    ----------
    alone : bool
        Join a node only with its only user.
    """
    nodes = [node for node in order if node in fusible]
    sets = Sets(nodes)
    readers: dict[tuple[Variable, int, tuple[bool, ...]], TensorApply] = {}
    for node in nodes:
        pattern = loop_pattern(node)
        for v in node.inputs:
            producer = v.owner
            if producer is not None and _open(producer, node, fusible) and levels[producer] == levels[node]:
                if not alone or len({c for w in producer.outputs for c, _ in w.clients}) == 1:
                    sets.join(producer, node)
            if not alone and not all(pattern) and v.type.broadcastable == pattern:
                sets.join(readers.setdefault((v, levels[node], pattern), node), node)
    if not alone:
        for numbers in _numbers(nodes, levels):
            for node in numbers[1:]:
                sets.join(numbers[0], node)
    found: dict[TensorApply, list[TensorApply]] = {}
    for node in nodes:
        found.setdefault(sets.find(node), []).append(node)
    return list(found.values())


def _numbers(nodes: Sequence[TensorApply], levels: dict[TensorApply, int]) -> list[list[TensorApply]]:
    """Return the nodes of each level that compute numbers, where these are worth a kernel of their own."""
    found: dict[int, list[TensorApply]] = {}
    for node in nodes:
        if not loop_pattern(node):
            found.setdefault(levels[node], []).append(node)
    return [numbers for numbers in found.values() if len(numbers) >= _NUMBERS]


def _depth_first(group: Sequence[TensorApply]) -> list[TensorApply]:
    """Return a group in an order of computation in which what a node needs comes right before it.

    Where a group is cut, few values are then under way: what many nodes need of the inputs alone (``c * x`` for as many
    numbers ``c``) would all be computed, and stored, before anything else.
    """
    members = set(group)
    outside = {v for node in group for v in node.inputs if v.owner not in members}
    last = [node for node in group if not any(client in members for v in node.outputs for client, _ in v.clients)]
    return toposort_nodes(last, outside)


def _cut(group: Sequence[TensorApply]) -> list[list[TensorApply]]:
    """Return a group in pieces that respect the limits, each needing only the ones before it."""
    pieces: list[list[TensorApply]] = []
    piece: list[TensorApply] = []
    most, longest = (MAX_OPERANDS, MAX_STEPS) if loop_pattern(group[0]) else (MAX_NUMBERS, 4 * MAX_STEPS)
    read: set[Variable] = set()  # what the piece takes from outside
    users: dict[Variable, int] = {}  # its own values, and how many users of each are not in it (yet)
    wanted = steps = 0  # how many of its own values have such users
    for node in group:
        fresh = {v for v in node.inputs if v not in users and not inlined(v)}
        if piece and (steps + step_count(node) > longest or len(read | fresh) + wanted + 1 > most):
            pieces.append(piece)
            piece, read, users, wanted, steps = [], set(), {}, 0, 0
            fresh = {v for v in node.inputs if not inlined(v)}
        piece.append(node)
        read |= fresh
        steps += step_count(node)
        for v in node.inputs:
            if v in users:
                users[v] -= 1
                wanted -= users[v] == 0
        users.update((v, len(v.clients)) for v in node.outputs)
        wanted += len(node.outputs)
    return [*pieces, piece]


def _leaves(v: Variable, members: set[TensorApply]) -> bool:
    """Return whether a node that is not among ``members`` uses ``v``."""
    return any(not isinstance(c, Apply) or c not in members for c, _ in v.clients)


def _join(fgraph: FunctionGraph, piece: Sequence[TensorApply], context: Context) -> None:
    """Put one node in the place of the nodes of ``piece``."""
    outside, known = scalar_expression(piece, [])
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


class _UnlessTurnedOff(Phases):
    """Entries that run as long as the flag ``tensor.local_elemwise_fusion`` says so."""

    def run(self, fgraph: FunctionGraph, context: Context, query: Query, report: Report) -> None:
        """Run the entries that ``query`` picks."""
        if config.tensor.local_elemwise_fusion:
            super().run(fgraph, context, query, report)


fusion_phases = _UnlessTurnedOff("elemwise_fusion")
fusion_phases.register(
    "local_wide_sum", Phase("local_wide_sum", "in_to_out"), -1, "fast_run", "fusion", "FusionOptimizer"
)
fusion_phases.register(
    "local_add_mul_fusion", Phase("local_add_mul_fusion", "in_to_out"), 0, "fast_run", "fusion", "FusionOptimizer"
)
# Before element-wise nodes are joined, so that what a reduction alone needs is not joined to what others need as well.
fusion_phases.register("map_reduce_fusion", fuse_reductions, 0.5, "fast_run", "fusion")
fusion_phases.register("composite_elemwise_fusion", fuse, 1, "fast_run", "fusion", "FusionOptimizer")
phases.register("elemwise_fusion", fusion_phases, 49, "fast_run", "fusion", "local_elemwise_fusion", "FusionOptimizer")


@local_rule([F.add, F.mul], phases=("local_wide_sum",), tags=("fast_run", "fusion"), into=fusion_phases)
def local_wide_sum(node: TensorApply) -> Answer:
    """A sum of more terms than a loop can hold is a sum of a sum, of the same bits; products likewise.

    The time of the C compiler grows faster than the number of operands, and what reads the same few variables again
    and again is then joined to loops that read them once.
    """
    dtype = node.outputs[0].type.dtype
    # Half precision is rounded once for all terms, other dtypes at each.
    if len(node.inputs) <= MAX_STEPS or dtype == "float16":
        return None
    if any(v.type.dtype != dtype for v in node.inputs):
        return None
    limit = MAX_OPERANDS - 2
    total, rest = node.inputs[0], node.inputs[1:]
    for i in range(0, len(rest), limit):
        total = node.op(total, *rest[i : i + limit])
    return [conform(total, node.outputs[0])]


@local_rule([F.add, F.mul], phases=("local_add_mul_fusion",), tags=("fast_run", "fusion"), into=fusion_phases)
def local_add_mul_fusion(node: TensorApply) -> Answer:
    """A sum that begins with a sum without other uses is one sum, of the same bits; products likewise.

    Not of float16, which is rounded once for each node, and not beyond the limits of a loop: a sum of thousands, put
    together term by term, would be copied as often.
    """
    first, *rest = node.inputs
    inner = first.owner
    if first.type.dtype == "float16":
        return None
    if inner is None or scalar_of(inner) != scalar_of(node) or not only_used_by(first, node):
        return None
    if first.type != node.outputs[0].type:
        return None
    if len(inner.inputs) + len(rest) + 1 > MAX_OPERANDS:
        return None
    return [conform(node.op(*inner.inputs, *rest), node.outputs[0])]
