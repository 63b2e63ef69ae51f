"""What of a loop is computed for all its steps at once, before it or after it.

A loop whose steps know nothing of each other becomes a :class:`~theano.tensor.rows.op.MapRows`, which other rules
compute for all rows together where they can. Of other loops products of matrices leave: those of rows of sequences
before the loop, those of results after it, and sums of products (the gradients of weights are some) as one product of
all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from theano.batching import NoRuleError, batch, has_batch_axis
from theano.graph.clone import clone_replace
from theano.graph.traverse import ancestors, toposort
from theano.graph.variable import Constant, Variable
from theano.rewriting import local_rule
from theano.scan.lengths import is_length_of
from theano.scan.op import Scan
from theano.scan.parts import CarriedPart, FixedPart, MappedPart, Parts, SequencePart, StatePart, rows_read
from theano.tensor.blas.dot import Dot, dot
from theano.tensor.control.checks import CheckedShape
from theano.tensor.convert import is_tensor
from theano.tensor.create.alloc import alloc
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.index.basic import IncSubtensor
from theano.tensor.join.op import join
from theano.tensor.rows.op import map_rows
from theano.tensor.rules.predicates import conform, filled_with, made_by
from theano.tensor.shape.basic import patternbroadcast, shape_i, shape_tuple
from theano.tensor.shape.reshape import reshape, shape_padleft
from theano.tensor.sort.cumulative import CumOp

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.graph.fgraph import FunctionGraph
    from theano.rewriting.rule import Answer
    from theano.tensor.type import Tensor

_EVERYWHERE = ("canonicalize", "specialize")
_FAST_RUN = ("fast_run", "scan")


def _rows(parts: Parts, part: SequencePart, k: int, fgraph: object) -> Any:
    """Return the rows of a sequence that the steps see at tap ``k``, as a tensor."""
    v, n = part.outer, parts.n_steps
    reach = max(j for j, _ in part.taps) + 1
    length = shape_i(v, 0, fgraph)
    if reach == 1 and (n is length or is_length_of(n, v)):
        return v
    if reach != 1 or not _is_at_most(n, v):
        # Slices end where the tensor does; a loop would have refused it.
        i = parts.sequences.index(part)
        message = f"{parts.op}: sequence {i} has fewer rows than the steps (n_steps) and its taps need"
        n = CheckedShape(message)(n, F.ge(n, 0), F.le(n + (reach - 1), length))
    return v[k : n + k if k else n]


def _is_at_most(n: Variable, v: Tensor) -> bool:
    """Return whether ``n`` is written as the length of ``v``, or as the least of several lengths, it among them."""
    node = made_by(n, F.minimum)
    return is_length_of(n, v) or (node is not None and any(_is_at_most(m, v) for m in node.inputs))


@local_rule(
    [Scan], keeps="close", tags=(*_FAST_RUN, "fast_compile", "scanOp_pushout_seqs_ops", "PushOutSeqScan"),
    phases=_EVERYWHERE,
)  # fmt: skip
def scan_to_rows(fgraph: FunctionGraph, node: Node) -> Answer:
    """A loop whose steps know nothing of each other goes over rows, in any order."""
    spec = node.op.spec
    if spec.states or spec.carried or spec.until or any(k is not None for k in spec.keep):
        return None
    parts = Parts(node)
    fixed = {part.inner: part.outer for part in parts.fixed}
    results = clone_replace(parts.outputs(), fixed, strict=False)
    if spec.sequences:
        seen = [(v, _rows(parts, part, k, fgraph)) for part in parts.sequences for k, v in part.taps]
        made = map_rows([v for v, _ in seen], [rows for _, rows in seen], results, node.op.name, node.op.mode)
    else:
        n = CheckedShape(f"{node.op}: the number of steps is negative")(parts.n_steps, F.ge(parts.n_steps, 0))
        made = [alloc(v, n, *shape_tuple(v)) for v in results]
    return [conform(v, old) for v, old in zip(made, node.outputs, strict=True)]


@local_rule([Scan], keeps="close", tags=_FAST_RUN, phases=_EVERYWHERE)
def scan_to_cumulative(fgraph: FunctionGraph, node: Node) -> Answer:
    """A loop that adds up the rows of a sequence, or multiplies them, is a cumulative sum or product.

    So is the gradient of such a sum, which carries what it adds up. A loop over numbers is as quick; and one of which
    only the last rows are read needs no memory for all.
    """
    spec = node.op.spec
    if spec.until or len(spec.sequences) != 1 or spec.stacked != 1 or spec.keep != (None,):
        return None
    parts = Parts(node)
    (stacked,), (sequence,) = parts.stacked, parts.sequences
    if stacked.result.type.ndim == 0 or rows_read(stacked.outputs[0]) is not None:
        return None
    if spec.states == ((-1,),) and not spec.carried:
        first, past = parts.states[0].outer, parts.states[0].taps[0][1]
    elif spec.carried == 1 and parts.carried[0].result is stacked.result:
        first, past = shape_padleft(parts.carried[0].outer), parts.carried[0].inner
    else:
        return None
    taps = {v: k for k, v in sequence.taps}
    for op, mode in ((F.add, "add"), (F.mul, "mul")):
        factors = made_by(stacked.result, op)
        if factors is None or len(factors.inputs) != 2 or past not in factors.inputs:
            continue
        row = factors.inputs[1 if factors.inputs[0] is past else 0]
        if row not in taps or row.type != past.type:
            continue
        rows = _rows(parts, sequence, taps[row], fgraph)
        if mode == "add" and filled_with(first, 0):
            made = join(0, first, CumOp(0)(rows))
        else:
            made = CumOp(0, mode)(join(0, first, rows))
        found = [made] if spec.states else [made[1:], made[-1]]
        return [conform(new, old) for new, old in zip(found, node.outputs, strict=True)]
    return None


# -- products --------------------------------------------------------------------------------------------------------


def _at_once(outputs: Sequence[Variable], replace: dict[Variable, Variable]) -> list[Variable] | None:
    """Return expressions for all steps, or None where an op has no form for that."""
    try:
        return batch(outputs, replace, by_loop=False)
    except NoRuleError:
        return None


def _products(outputs: Iterable[Tensor], known: set[Variable]) -> list[Any]:
    """Return the products that are computed from ``known`` alone, without those that others of them are made of."""
    computed: set[Variable] = set()
    found: list[Any] = []
    for node in toposort(list(outputs), known):
        if all(v in known or v in computed or isinstance(v, Constant) for v in node.inputs):
            computed.update(node.outputs)
            if isinstance(node.op, Dot):
                found.append(node.outputs[0])
    below = {v for p in found for v in ancestors(p.owner.inputs, known)}
    return [v for v in found if v not in below]


@local_rule([Scan], "scanOp_pushout_seqs_ops", keeps="close", tags=(*_FAST_RUN, "PushOutSeqScan"), phases=_EVERYWHERE)
def push_out_sequences(fgraph: FunctionGraph, node: Node) -> Answer:
    """Products of the rows of sequences are computed before the loop, all in one."""
    spec = node.op.spec
    if spec.until or not spec.sequences:
        return None
    parts = Parts(node)
    fixed = {part.inner: part.outer for part in parts.fixed}
    rows = {v for part in parts.sequences for _, v in part.taps}
    products = [v for v in _products(parts.outputs(), rows | set(fixed)) if not rows.isdisjoint(ancestors([v], rows))]
    if not products:
        return None
    used = rows.intersection(ancestors(products, rows))
    seen = {v: _rows(parts, part, k, fgraph) for part in parts.sequences for k, v in part.taps if v in used}
    made = _at_once(products, {**fixed, **seen})
    if made is None or not all(has_batch_axis(new, v) for new, v in zip(made, products, strict=True)):
        return None
    inside = [v.type(v.name) for v in products]
    parts.sequences = [*parts.sequences, *(SequencePart(out, [(0, v)]) for out, v in zip(made, inside, strict=True))]
    parts.substitute(dict(zip(products, inside, strict=True)))
    return parts.build()


@local_rule(
    [Scan],
    "scanOp_pushout_output",
    keeps="close",
    tags=(*_FAST_RUN, "PushOutScanOutput", "more_mem"),
    phases=_EVERYWHERE,
)
def push_out_results(fgraph: FunctionGraph, node: Node) -> Answer:
    """Results made of products of states, or of their past, are computed after the loop, from all states together."""
    spec = node.op.spec
    if not spec.states or not spec.mapped:
        return None
    parts = Parts(node)
    own = {part.inner for part in parts.fixed}
    rows: dict[Variable, Any] = {}
    for state in parts.states:
        if state.keep is None:
            depth = -min(k for k, _ in state.taps)
            rows.update((past, state.outputs[0][depth + k : k]) for k, past in state.taps)
            if state.result not in own and not isinstance(state.result, Constant):
                rows[state.result] = state.outputs[0][depth:]
    known = {*rows, *own}
    # A product that a later step needs is computed in the loop anyhow.
    mapped = {id(part) for part in parts.mapped}
    inside = parts.used([*(part.result for part in parts.making if id(part) not in mapped),
                         *([] if parts.until is None else [parts.until])])  # fmt: skip
    leaving = [
        part for part in parts.mapped
        if part.keep is None and part.result not in rows
        and _is_made_of(part.result, known) and _has_product(part.result, known, inside)
    ]  # fmt: skip
    if not leaving:
        return None
    fixed = {part.inner: part.outer for part in parts.fixed}
    parts.mapped = [part for part in parts.mapped if part not in leaving]
    found = parts.build()
    rows = {result: clone_replace([v], found)[0] for result, v in rows.items()}
    made = _at_once([part.result for part in leaving], {**fixed, **rows})
    if made is None:
        return None
    for part, v in zip(leaving, made, strict=True):
        if not has_batch_axis(v, part.result):
            return None
        found.update((old, conform(v, old)) for old in part.outputs)
    return found


def _is_made_of(v: Variable, known: set[Variable]) -> bool:
    return all(w in known or w.owner is not None or isinstance(w, Constant) for w in ancestors([v], known))


def _has_product(v: Variable, known: set[Variable], inside: set[Variable]) -> bool:
    """Return whether ``v`` is made of products, none of which is ``inside`` as well."""
    made = [w for w in ancestors([v], known) if w not in known and w.owner is not None and isinstance(w.owner.op, Dot)]
    return bool(made) and inside.isdisjoint(made)


# -- sums ------------------------------------------------------------------------------------------------------------


def _terms(v: Tensor) -> list[Variable]:
    node = made_by(v, F.add)
    return [v] if node is None else [t for w in node.inputs for t in _terms(w)]


def _summed(part: CarriedPart, outputs: Sequence[Tensor]) -> list[Any] | None:
    """Return what each step adds to a carried value that it uses for nothing else; None where that is not so."""
    if not is_tensor(part.inner) or part.result.type.dtype != part.inner.type.dtype:
        return None
    terms = _terms(part.result)
    rest = [t for t in terms if t is not part.inner]
    others = list(outputs)
    others.remove(part.result)
    if len(rest) != len(terms) - 1 or not rest or part.inner in set(ancestors([*rest, *others])):
        return None
    return rest


@local_rule(
    [Scan], "scan_pushout_dot1", keeps="close", tags=(*_FAST_RUN, "PushOutDot1", "more_mem"), phases=_EVERYWHERE
)
def push_out_sums_of_products(fgraph: FunctionGraph, node: Node) -> Answer:
    """A sum of products over the steps is one product of all their rows, after the loop."""
    if not node.op.spec.carried:
        return None
    parts = Parts(node)
    outputs = parts.outputs()
    added: list[tuple[CarriedPart, list[list[MappedPart]]]] = []
    for part in parts.carried:
        terms = _summed(part, outputs) or []
        products = [t for t in terms if _is_product(t, part.inner)]
        if not products:
            continue
        rest = [t for t in terms if t not in products]
        added.append((part, [[MappedPart(_as_rows(v, i)) for i, v in enumerate(t.owner.inputs)] for t in products]))
        part.result = part.inner
        for t in rest:
            part.result = part.result + t
    if not added:
        return None
    for mapped in (mapped for _, pairs in added for pair in pairs for mapped in pair):
        mapped.outputs = [mapped.result.type()]  # stands for the new output
        parts.mapped.append(mapped)
    found = parts.build()
    for part, pairs in added:
        (old,) = part.outputs
        total = found[old]
        for left, right in pairs:
            a, b = (_flat(found.pop(mapped.outputs[0])) for mapped in (left, right))
            total = total + dot(a.T, b)
        found[old] = conform(total, old)
    return found


def _is_product(t: Tensor, like: Tensor) -> bool:
    return (
        t.owner is not None and isinstance(t.owner.op, Dot) and t.type == like.type
        and all(v.type.ndim == 2 and v.type.dtype == t.type.dtype for v in t.owner.inputs)
    )  # fmt: skip


def _as_rows(v: Any, place: int) -> Any:
    """Return a factor of a product as rows: vectors or matrices whose rows are multiplied and added up."""
    shuffle = v.owner.op if v.owner is not None and isinstance(v.owner.op, DimShuffle) else None
    order = () if shuffle is None else tuple(shuffle.new_order)
    if place == 0:
        if order in ((1, 0), (0, "x")):
            return v.owner.inputs[0]
        return v.dimshuffle(1, 0)
    return v.owner.inputs[0] if order == ("x", 0) else v


def _flat(v: Any) -> Any:
    """Return the rows of all steps as one matrix."""
    if v.type.ndim == 2:
        return v
    return reshape(v, (v.shape[0] * v.shape[1], v.shape[2]), ndim=2)


@local_rule([Scan], keeps="close", tags=_FAST_RUN, phases=_EVERYWHERE)
def scan_pushout_sums(fgraph: FunctionGraph, node: Node) -> Answer:
    """Where steps do nothing together but add up, they are rows of a sum: the loop goes over rows then.

    What each step adds to one part of zeros, as the gradient of an element does, is added up before it is written.
    """
    spec = node.op.spec
    if spec.until or not spec.sequences or not (spec.carried or spec.states):
        return None
    parts = Parts(node)
    outputs = parts.outputs()
    last = [part for state in parts.states if (part := _last_of(state)) is not None]
    if len(last) != len(parts.states):
        return None
    sums = [*parts.carried, *last]
    fixed = {part.inner: part.outer for part in parts.fixed}
    largest = max(_order(v) for part in parts.sequences for _, v in part.taps)
    added: list[list[tuple[MappedPart, Any]]] = []
    for part in sums:
        terms = _summed(part, outputs)
        if not terms:
            return None
        each = [_written_once(t, fixed) or (t, t) for t in terms]
        if any(_order(v) > largest for v, _ in each):
            return None
        added.append([(MappedPart(v, outputs=[v.type()]), t) for v, t in each])
    parts.mapped = [*parts.mapped, *(mapped for each in added for mapped, _ in each)]
    parts.carried, parts.states = [], []
    found = parts.build()
    for part, each in zip(sums, added, strict=True):
        total = part.outer
        for mapped, term in each:
            rows = found.pop(mapped.outputs[0])
            row = rows.sum(axis=0, dtype=rows.type.dtype)
            total = total + clone_replace([term], {**fixed, mapped.result: row})[0]
        (old,) = part.outputs
        if part in last:
            # The initial value is a row, too; with zero steps it is the only one.
            rows = join(0, shape_padleft(part.outer), shape_padleft(total))
            total = patternbroadcast(rows[: parts.n_steps + 1], old.type.broadcastable)
        found[old] = conform(total, old)
    return found


def _last_of(state: StatePart) -> CarriedPart | None:
    """Return a state of which only the last value is read as a carried value; None if it is something else."""
    if state.keep is not None or [k for k, _ in state.taps] != [-1] or _reads_more(state.outputs[0]):
        return None
    return CarriedPart(state.outer[0], state.taps[0][1], state.result, state.outputs)


def _reads_more(v: Tensor) -> bool:
    """Return whether other rows of a state are read than the last; ``v[1:][-1]`` is written for it, too."""
    rows = rows_read(v)
    return rows is None or rows > 2 or any(rows_read(c.outputs[0]) != 1 for c, _ in v.clients if _takes_rows(c))


def _takes_rows(node: Node) -> bool:
    return isinstance(node.op.idx_list[0], slice)


def _written_once(t: Any, fixed: Mapping[Variable, Any]) -> tuple[Any, Any] | None:
    """Return what a term adds to the same part of zeros in each step, and the term; None if it is something else."""
    if t.owner is None or not isinstance(t.owner.op, IncSubtensor) or t.owner.op.set_instead_of_inc:
        return None
    base, value, *index = t.owner.inputs
    if value.type.dtype != t.type.dtype or not filled_with(fixed.get(base, base), 0):
        return None
    known = all(v in fixed or isinstance(v, Constant) for v in (base, *index))
    return (value, t) if known and value not in fixed and not isinstance(value, Constant) else None


def _order(v: Tensor) -> int:
    return list(getattr(v.type, "broadcastable", ())).count(False)


@local_rule(
    [Scan], tags=(*_FAST_RUN, "fast_compile", "scanOp_pushout_seqs_ops", "PushOutSeqScan"), phases=_EVERYWHERE
)  # fmt: skip
def scan_results_outside(fgraph: FunctionGraph, node: Node) -> Answer:
    """A carried value that no step changes is what it was; a result that is a row of a sequence is that sequence."""
    parts = Parts(node)
    still = [part for part in parts.carried if part.result is part.inner]
    found: dict[Variable, Any] = {}
    if still:
        parts.carried = [part for part in parts.carried if part not in still]
        parts.fixed = [*parts.fixed, *(FixedPart(part.outer, part.inner) for part in still)]
        for kept in still:
            same = kept.outer.type == kept.outputs[0].type  # also states of random numbers, which are no tensors
            found[kept.outputs[0]] = kept.outer if same else conform(kept.outer, kept.outputs[0])
    if parts.until is None:
        taps = {v: (part, k) for part in parts.sequences for k, v in part.taps}
        direct = [part for part in parts.mapped if part.result in taps and part.keep is None]
        for part in direct:
            found.update((old, conform(_rows(parts, *taps[part.result], fgraph), old)) for old in part.outputs)
        parts.mapped = [part for part in parts.mapped if part not in direct]
    if not found:
        return None
    return {**found, **parts.build()} if parts.stacked or parts.carried else found
