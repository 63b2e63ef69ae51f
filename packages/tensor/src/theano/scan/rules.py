"""The rules of loops: invariant nodes leave the loop, equal ones are merged, unused results are not stored.

Inside, a step is rewritten like any other expression, when it is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from theano.graph.clone import clone_replace
from theano.graph.fgraph import FunctionGraph
from theano.graph.traverse import ancestors, equal_computations, independent_of, toposort
from theano.graph.variable import Constant, Variable
from theano.rewriting import Context, families, local_rule, phases
from theano.scan.lengths import asks_for_lengths, lengths_within
from theano.scan.op import Scan
from theano.scan.parts import FixedPart, MappedPart, Parts, rows_read
from theano.tensor.create.alloc import alloc
from theano.tensor.join.op import join
from theano.tensor.rules.predicates import conform
from theano.tensor.shape.basic import Shape_i, patternbroadcast

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.rewriting.rule import Answer
    from theano.scan.parts import CarriedPart, SequencePart
    from theano.tensor.type import Tensor

families.in_order(__name__, "theano.scan.at_once")

_EVERYWHERE = ("canonicalize", "specialize")
_FAST = ("fast_run", "fast_compile", "scan")


@local_rule(
    [Scan], "scanOp_remove_constants_and_unused_inputs0", tags=(*_FAST, "remove_constants_and_unused_inputs_scan"),
    phases=_EVERYWHERE,
)  # fmt: skip
def remove_unused(node: Node) -> Answer:
    """Unused results and inputs are removed from a loop."""
    parts = Parts(node)
    needed = {id(part) for part in (*parts.stacked, *parts.carried) if any(v.clients for v in part.outputs)}
    if not needed:
        return None
    recurrent: list[Any] = [(part, [v for _, v in part.taps]) for part in parts.states]
    recurrent += [(part, [part.inner]) for part in parts.carried]
    used: set[Variable] = set()
    while True:
        wanted = [part.result for part in (*parts.stacked, *parts.carried) if id(part) in needed]
        used = parts.used([*wanted, *([] if parts.until is None else [parts.until])])
        more = {id(part) for part, inside in recurrent if not used.isdisjoint(inside)} - needed
        if not more:
            break
        needed |= more
    before = _size(parts)
    parts.states = [part for part in parts.states if id(part) in needed]
    parts.mapped = [part for part in parts.mapped if id(part) in needed]
    parts.carried = [part for part in parts.carried if id(part) in needed]
    parts.fixed = [part for part in parts.fixed if part.inner in used]
    for sequence in parts.sequences:
        sequence.taps = [(k, v) for k, v in sequence.taps if v in used]
    parts.sequences = [part for part in parts.sequences if part.taps]
    for state in parts.states:
        # As far back as a step looks says how many rows there are before the first step.
        deepest = min(k for k, _ in state.taps)
        state.taps = [(k, v) for k, v in state.taps if v in used or k == deepest]
    return parts.build() if _size(parts) != before else None


def _size(parts: Parts) -> tuple[int, ...]:
    taps = [len(part.taps) for part in parts.sequences] + [len(part.taps) for part in parts.states]
    return len(parts.mapped), len(parts.carried), len(parts.fixed), len(taps), sum(taps)


@local_rule([Scan], tags=_FAST, phases=_EVERYWHERE)
def scan_forget_unused_past(node: Node) -> Answer:
    """A result that does not depend on the row before needs no past: what it begins with is joined to it."""
    parts = Parts(node)
    used = parts.used()
    lost = [part for part in parts.states if part.keep is None and [k for k, _ in part.taps] == [-1]
            and part.taps[0][1] not in used]  # fmt: skip
    if not lost:
        return None
    parts.states = [part for part in parts.states if part not in lost]
    parts.mapped = [*(MappedPart(part.result, outputs=part.outputs) for part in lost), *parts.mapped]
    found = parts.build()
    # The rows have to be as long as the first one, which `join` checks where that is not known.
    found.update((old, conform(join(0, part.outer, found[old]), old)) for part in lost for old in part.outputs)
    return found


@local_rule([Scan], "scanOp_merge_inouts", tags=(*_FAST, "scan_merge_inouts"), phases=_EVERYWHERE)
def merge_inouts(node: Node) -> Answer:
    """Equal inputs are one, as are equal results; constants are known inside."""
    parts = Parts(node)
    before = _size(parts)
    _merge_inputs(parts)
    _merge_results(parts)
    return parts.build() if _size(parts) != before else None


def _is_same(a: Variable, b: Variable) -> bool:
    return a is b or (isinstance(a, Constant) and isinstance(b, Constant) and a.equals(b))


def _merge_inputs(parts: Parts) -> None:
    replace: dict[Variable, Variable] = {}
    fixed: list[FixedPart] = []
    for part in parts.fixed:
        first = next((p for p in fixed if _is_same(p.outer, part.outer)), None)
        if isinstance(part.outer, Constant):
            replace[part.inner] = part.outer
        elif first is not None:
            replace[part.inner] = first.inner
        else:
            fixed.append(part)
    parts.fixed = fixed
    sequences: list[SequencePart] = []
    for sequence in parts.sequences:
        taps, sequence.taps = sequence.taps, []
        one = next((p for p in sequences if _is_same(p.outer, sequence.outer)), None)
        if one is None:
            one = sequence
            sequences.append(one)
        for k, v in taps:
            known = next((w for j, w in one.taps if j == k and w.type == v.type), None)
            if known is None:
                one.taps = [*one.taps, (k, v)]
            else:
                replace[v] = known
    parts.sequences = sequences
    if replace:
        parts.substitute(replace)


def _merge_results(parts: Parts) -> None:
    """Let equal states, carried values and mapped results be one."""
    classes = _classes([*parts.states, *parts.carried], _is_same_past)
    while True:
        # Equal are those that are equal if all of them are: states may be made of each other.
        replace: dict[Variable, Tensor] = {}
        for first, *others in classes:
            for part in others:
                replace.update(zip(_inside(part), _inside(first), strict=True))
        members = [part for group in classes for part in group]
        made = dict(zip(map(id, members), clone_replace([p.result for p in members], replace), strict=True))
        finer = [c for group in classes for c in _classes(group, partial(_is_made_equal, made))]
        if len(finer) == len(classes):
            break
        classes = finer
    lost = {id(part) for _, *others in classes for part in others}
    if lost:
        for first, *others in classes:
            first.outputs = [v for part in (first, *others) for v in part.outputs]
        parts.states = [part for part in parts.states if id(part) not in lost]
        parts.carried = [part for part in parts.carried if id(part) not in lost]
        parts.substitute(replace)
    groups = _classes(parts.mapped, lambda a, b: a.keep == b.keep and _is_equal(a.result, b.result))
    for first, *same in groups:
        first.outputs = [v for part in (first, *same) for v in part.outputs]
    parts.mapped = [first for first, *_ in groups]


def _is_made_equal(made: dict[int, Any], a: CarriedPart, b: CarriedPart) -> bool:
    return _is_equal(made[id(a)], made[id(b)])


def _is_equal(a: Tensor, b: Tensor) -> bool:
    return bool(equal_computations([a], [b]))


def _classes(things: Iterable[Any], is_same: Callable[[Any, Any], bool]) -> list[list[Any]]:
    """Return things sorted into lists of equal ones."""
    classes: list[list[Any]] = []
    for thing in things:
        group = next((group for group in classes if is_same(group[0], thing)), None)
        if group is None:
            classes.append([thing])
        else:
            group.append(thing)
    return classes


def _inside(part: Any) -> list[Tensor]:
    return [v for _, v in part.taps] if hasattr(part, "taps") else [part.inner]


def _is_same_past(a: Any, b: Any) -> bool:
    """Return whether two states, or two carried values, begin alike and are seen alike."""
    if (
        type(a) is not type(b)
        or not _is_same(a.outer, b.outer)
        or [v.type for v in _inside(a)] != [v.type for v in _inside(b)]
    ):
        return False
    return not hasattr(a, "taps") or (a.keep == b.keep and [k for k, _ in a.taps] == [k for k, _ in b.taps])


@local_rule([Scan], "scanOp_pushout_nonseqs_ops", tags=("fast_run", "scan", "PushOutNonSeqScan"), phases=_EVERYWHERE)
def push_out_invariant(node: Node) -> Answer:
    """What is the same in each step is computed once, before the loop."""
    parts = Parts(node)
    moving = parts.moving()
    own = {part.inner for part in parts.fixed}
    borders = [v for v in independent_of(moving, parts.outputs()) if v not in own]
    if not borders:
        return None
    outside = clone_replace(borders, {part.inner: part.outer for part in parts.fixed}, strict=False)
    inside = [v.type(v.name) for v in borders]
    parts.fixed.extend(FixedPart(v.type.filter_variable(out), v) for v, out in zip(inside, outside, strict=True))
    parts.substitute(dict(zip(borders, inside, strict=True)))
    return parts.build()


@local_rule([Scan], tags=("fast_run", "scan"), phases=("canonicalize",))
def scan_lengths_inside(node: Node) -> Answer:
    """How long something is that a step computes follows from the lengths of what the step sees."""
    parts = Parts(node)
    asked = [n for n in toposort(parts.outputs()) if asks_for_lengths(n) and n.inputs[0].owner is not None]
    if not asked:
        return None
    inputs = [*parts.moving(), *(part.inner for part in parts.fixed)]
    replace: dict[Variable, Any] = {}
    for n, lengths in zip(asked, lengths_within(inputs, [n.inputs[0] for n in asked]), strict=True):
        wanted = (lengths[n.op.i],) if isinstance(n.op, Shape_i) else lengths
        if any(asks_for_lengths(m) and m.inputs[0].owner is not None for m in toposort(wanted)):
            continue
        old = n.outputs[0]
        # A fill of another pattern would be written as a fill of `old`, which asks the same again.
        replace[old] = (
            conform(wanted[0], old) if isinstance(n.op, Shape_i)
            else patternbroadcast(alloc(n.inputs[1], *wanted), old.type.broadcastable)
        )  # fmt: skip
    if not replace:
        return None
    parts.substitute(replace)
    return parts.build()


# -- what is stored ------------------------------------------------------------------------------------------------


def save_mem(fgraph: FunctionGraph, context: Context) -> None:
    """Of a result of which only the last rows are read, no more are stored."""
    for node in [n for n in fgraph.toposort() if isinstance(n.op, Scan)]:
        parts = Parts(node)
        changed = False
        for part in parts.stacked:
            rows = rows_read(part.outputs[0])
            if rows is not None and (part.keep is None or max(rows, 1) < part.keep):
                part.keep = max(rows, 1)
                changed = True
        if changed:
            context.replace(fgraph, list(parts.build().items()), "scan_keep_last")


# After lengths are known no more: a result that is stored in part is shorter, and its rows have other numbers.
phases.register("scan_keep_last", save_mem, 10.5, "fast_run", "scan", "scanOp_save_mem", "ScanSaveMem")


# -- several loops -------------------------------------------------------------------------------------------------


def merge_loops(fgraph: FunctionGraph, context: Context) -> None:
    """Loops of equally many steps that do not depend on each other are one."""
    while pair := _mergeable(fgraph):
        first, second = (Parts(node, fresh=True) for node in pair)
        for name in ("sequences", "states", "mapped", "carried", "fixed"):
            getattr(first, name).extend(getattr(second, name))
        _merge_inputs(first)
        _merge_results(first)
        if not context.replace(fgraph, list(first.build().items()), "scanOp_merge"):
            return


def _mergeable(fgraph: FunctionGraph) -> tuple[Any, Any] | None:
    nodes: list[Any] = [n for n in fgraph.toposort() if isinstance(n.op, Scan)]
    for j, later in enumerate(nodes):
        for earlier in nodes[:j]:
            if can_be_one(earlier, later):
                return earlier, later
    return None


def can_be_one(earlier: Any, later: Any) -> bool:
    """Return whether two loops can be one, of which the first does not need the second."""
    a, b = earlier.op, later.op
    n, m = earlier.inputs[0], later.inputs[0]
    if a.truncate != b.truncate or a.options != b.options or not (_is_same(n, m) or _is_equal(n, m)):
        return False
    if any(v.owner is earlier for v in ancestors(later.inputs)):
        return False
    return bool(a.spec.until == b.spec.until and (not a.spec.until or _stop_alike(earlier, later)))


def _stop_alike(first: Any, second: Any) -> bool:
    """Return whether two loops end at the same step: with one condition, of the same."""
    a, b = Parts(first, fresh=True), Parts(second, fresh=True)
    condition = MappedPart(b.until)
    for name in ("sequences", "states", "carried", "fixed"):
        getattr(a, name).extend(getattr(b, name))
    a.mapped = [condition]
    _merge_inputs(a)
    _merge_results(a)
    return equal_computations([condition.result], [a.until])


phases.register("scanOp_merge", merge_loops, 1.7, "fast_run", "scan", "ScanMerge")

from theano.scan import at_once  # noqa: E402, F401  (below what says the order)
