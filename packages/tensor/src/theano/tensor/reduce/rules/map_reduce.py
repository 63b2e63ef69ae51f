"""Reductions take in what they reduce: a sum of squares reads x, and no tensor of squares is ever made.

The *cone* of a reduction is what is computed for it alone: element-wise nodes over the same elements, all of whose
users are in the cone. A node joins though others use it, too, if these can compute it for themselves, and if that takes
less time than to store it and to read it again. All that is computed for it counts, down to what is stored.

Reductions along the same axes that read something in common become one node with several results, so that it is read
once. To make no cycle, they must not need each other. Each node's *level* is the number of reductions on the longest
way to it: a reduction that needs another one has a higher level, so those of one level can be joined.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from theano import scalar as scal
from theano.graph import FunctionGraph, Variable
from theano.lowering.table import Shared, lower
from theano.records import record
from theano.rewriting import Context
from theano.tensor.reduce.careduce import CAReduce
from theano.tensor.reduce.map_reduce import MAX_RESULTS, MapReduce
from theano.tensor.rules.joining import (
    MAX_OPERANDS,
    MAX_STEPS,
    Sets,
    inlined,
    is_fusible,
    loop_pattern,
    scalar_expression,
    step_count,
    work,
)
from theano.tensor.type import Tensor, TensorApply

NS_A_BYTE = 0.045
"""An element is computed again, not stored and read, if that takes less than this for each of its bytes.

These are seven additions in float64 and three in float32; a truth value is always stored. Two sums of a matrix, along
either axis, that both compute four additions and products take 1.3, 1.6, 0.6 and 0.7 of the time with stored terms (of
60 x 60, 200 x 200, 500 x 500 and 1000 x 1000 float64), eight 1.5, 1.6, 0.6 and 0.7, twelve 1.6, 1.2, 0.9 and 1.0, an
exponential 1.6, 1.5, 1.1 and 1.4.
"""
_WIDEST = 16

Loop = tuple[int, tuple[int, ...], tuple[bool, ...]]


@record(frozen=True)
class _Graph:
    """The properties of a graph.

    Attributes
    ----------
    position : dict from Apply to int
        In the order of computation.
    reductions, fusible : set of Apply
        What may be joined.
    stored : set of Apply
        The element-wise nodes whose results are stored for several loops, if these are not joined to one.
    lazy : bool
        Something is computed only on demand: a node must not compute for one user what another one asked for.
    """

    position: dict[TensorApply, int]
    reductions: set[TensorApply]
    fusible: set[TensorApply]
    stored: set[TensorApply]
    lazy: bool


def fuse_reductions(fgraph: FunctionGraph, context: Context) -> None:
    """Join reductions with what they reduce, and with each other."""
    order = fgraph.toposort()
    shared: Shared = {}
    reductions = {node for node in order if _reduces(node, shared)}
    if not reductions:
        return
    fusible = {node for node in order if len(node.outputs) == 1 and is_fusible(node)}
    lazy = any(bool(node.op.lazy) for node in order)
    stored = fusible if lazy else _stored(order, reductions, fusible)
    graph = _Graph({node: i for i, node in enumerate(order)}, reductions, fusible, stored, lazy)
    for group in _groups(graph):
        for part in _parts(group, graph):
            cone = _cone(part, graph)
            if cone or len(part) > 1:
                _join(fgraph, cone, part, context)


def _reduces(node: TensorApply, shared: Shared) -> bool:
    """Return whether ``node`` is a reduction that C can compute."""
    if not isinstance(node.op, CAReduce):
        return False
    return node.inputs[0].type.ndim > 0 and lower(node, shared=shared) is not None


def _axes(node: TensorApply[Any]) -> tuple[int, ...]:
    return node.op.axes_of(node.inputs[0].type.ndim)


# -- which reductions go together -----------------------------------------------------------------------------------


def _groups(graph: _Graph) -> list[list[TensorApply]]:
    """Return the reductions that loop over the same elements and read something in common, in order of computation."""
    nodes = [node for node in graph.position if node in graph.reductions]
    if graph.lazy:
        return [[node] for node in nodes]
    sets = Sets(nodes)
    readers: dict[tuple[Variable, Loop], TensorApply] = {}
    for node, loop in _loops(graph):
        for v in _read(node.inputs[0], loop[2], graph.fusible):
            sets.join(readers.setdefault((v, loop), node), node)
    found: dict[TensorApply, list[TensorApply]] = {}
    for node in nodes:
        found.setdefault(sets.find(node), []).append(node)
    return list(found.values())


def _loops(graph: _Graph) -> Iterator[tuple[TensorApply[Any], Loop]]:
    """Yield each reduction with its level, its axes and the pattern of what it reduces."""
    levels: dict[TensorApply, int] = {}
    node: TensorApply[Any]
    for node in graph.position:
        owners = [v.owner for v in node.inputs if v.owner is not None]
        levels[node] = max((levels[o] + (o in graph.reductions) for o in owners), default=0)
        if node in graph.reductions:
            yield node, (levels[node], _axes(node), node.inputs[0].type.broadcastable)


def _read(term: Tensor, full: tuple[bool, ...], fusible: set[TensorApply]) -> set[Tensor]:
    """Return all that the element-wise expression ``term`` is made of and that has its full size."""
    found: set[Tensor] = set()
    pending = [term]
    while pending:
        v = pending.pop()
        if v in found or v.type.broadcastable != full:
            continue
        found.add(v)
        if v.owner in fusible:
            pending.extend(v.owner.inputs)
    return found


def _parts(group: Sequence[TensorApply], graph: _Graph) -> Iterator[list[TensorApply]]:
    """Yield a group in parts that respect the limits, those that compute the same things side by side."""
    part: list[TensorApply] = []
    for node in _by_kinship(group, graph.fusible):
        more = [*part, node]
        if part and (len(more) > MAX_RESULTS or not _fits(_cone(more, graph), more)):
            yield part
            more = [node]
        part = more
    yield part


def _by_kinship(group: Sequence[TensorApply], fusible: set[TensorApply]) -> list[TensorApply]:
    """Return reductions that compute something in common side by side, else in the given order."""
    sets = Sets(group)
    makers: dict[TensorApply, TensorApply] = {}
    for node in group:
        pending = [node.inputs[0].owner]
        while pending:
            maker = pending.pop()
            if maker in fusible and maker not in makers:
                makers[maker] = node
                pending.extend(v.owner for v in maker.inputs)
            elif maker in fusible:
                sets.join(makers[maker], node)
    first: dict[TensorApply, int] = {}
    for i, node in enumerate(group):
        first.setdefault(sets.find(node), i)
    return sorted(group, key=lambda node: first[sets.find(node)])


# -- what is stored -------------------------------------------------------------------------------------------------


def _stored(order: Sequence[TensorApply], reductions: set[TensorApply], fusible: set[TensorApply]) -> set[TensorApply]:
    """Return the element-wise nodes with a user that cannot compute them, or would take too long for that.

    Of those that take too long, all that one of them is used for may go through another one, as in ``e = exp(x)`` and
    ``e * (1 + e)``: then only the last is stored.
    """
    within = {node: _within(node, fusible) for node in order if node in fusible}
    exits = _exits(within)
    stored: set[TensorApply] = set()
    again: dict[TensorApply, set[TensorApply] | None] = {}  # nodes computed along with each; None: too much
    for node in within:
        clients = {client for client, _ in node.outputs[0].clients}
        if not clients <= {*within[node], *reductions}:
            stored.add(node)
            continue
        makers = [again[v.owner] for v in node.inputs if v.owner in again and node in within[v.owner]]
        parts = [part for part in makers if part is not None]
        whole = {node}.union(*parts)
        took = sum(map(work, whole)) if len(parts) == len(makers) else math.inf
        light = took < NS_A_BYTE * np.dtype(node.outputs[0].type.dtype).itemsize
        if not light and len(clients) > 1 and exits[node] is None:
            stored.add(node)
        else:
            again[node] = whole if took < NS_A_BYTE * _WIDEST else None
    return stored


def _within(node: TensorApply, fusible: set[TensorApply]) -> list[TensorApply]:
    """Return the users of an element-wise node that are such, too, and loop over the same elements."""
    users = dict.fromkeys(client for client, _ in node.outputs[0].clients)
    return [user for user in users if user in fusible and loop_pattern(user) == loop_pattern(node)]


def _exits(within: dict[TensorApply, list[TensorApply]]) -> dict[TensorApply, TensorApply | None]:
    """Return for each node the next one of its loop that all its users lead to, None if none exists."""
    exits: dict[TensorApply, TensorApply | None] = {}
    depth: dict[TensorApply | None, int] = {None: 0}
    for node, users in reversed(within.items()):
        found: TensorApply | None = None
        if len(users) == len({client for client, _ in node.outputs[0].clients}):
            found, *others = users
            for user in others:
                found = _meeting(found, user, exits, depth)
        exits[node] = found
        depth[node] = depth[found] + 1
    return exits


def _meeting(
    a: TensorApply | None,
    b: TensorApply | None,
    exits: dict[TensorApply, TensorApply | None],
    depth: dict[TensorApply | None, int],
) -> TensorApply | None:
    """Return the first node that two nodes, or their exits, have in common."""
    while a is not b:
        if depth[b] > depth[a]:
            a, b = b, a
        a = exits[a] if a is not None else None
    return a


# -- what they take in ----------------------------------------------------------------------------------------------


def _cone(part: Sequence[TensorApply], graph: _Graph) -> list[TensorApply]:
    """Return the element-wise nodes that some reductions take in, in order of computation."""
    full = part[0].inputs[0].type.broadcastable
    inside: set[Any] = set(part)
    cone: list[TensorApply] = []
    total = 0
    pending: set[TensorApply] = graph.fusible.intersection(node.inputs[0].owner for node in part)
    while pending:
        # The last first: all its users have been decided about.
        node = max(pending, key=graph.position.__getitem__)
        pending.discard(node)
        if loop_pattern(node) != full or total + step_count(node) > MAX_STEPS or not _fits([*cone, node], part):
            continue
        if all(client in inside for client, _ in node.outputs[0].clients):
            inside.add(node)
        elif node in graph.stored:
            continue
        cone.append(node)
        total += step_count(node)
        pending |= graph.fusible.intersection(v.owner for v in node.inputs)
    return sorted(cone, key=graph.position.__getitem__)


def _fits(cone: Sequence[TensorApply], part: Sequence[TensorApply]) -> bool:
    made = {v for node in cone for v in node.outputs}
    read = {v for node in [*cone, *part] for v in node.inputs if v not in made and not inlined(v)}
    return len(read) + len(part) <= MAX_OPERANDS


def _join(
    fgraph: FunctionGraph, cone: Sequence[TensorApply], part: Sequence[TensorApply[Any]], context: Context
) -> None:
    """Put one node in the place of reductions and of their cone."""
    outside, known = scalar_expression(cone, [node.inputs[0] for node in part])
    if not outside:
        return
    expression = scal.Composite(list(outside.values()), [known[node.inputs[0]] for node in part])
    fused = MapReduce(expression, [node.op for node in part]).make_node(*outside)
    pairs = [(node.outputs[0], new) for node, new in zip(part, fused.outputs, strict=True)]
    # The inputs that are constants or broadcast may have been all that said a dimension is not 1 long.
    if all(old.type == new.type for old, new in pairs):
        context.replace(fgraph, pairs, "map_reduce_fusion")
