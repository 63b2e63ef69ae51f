"""The derivatives of loops, which are loops.

Backward, a loop goes from the last step to the first. Its step is the gradient of the forward step. It carries what
the later steps have found out: for each state the *pending* adjoints, one for each row that a step may look back, and
the sums for what is the same in all steps. The gradients with respect to sequences are results of the steps; where a
sequence has several taps, their sum is put together outside. If of a state only the last row has a gradient, that is
pending before the first backward step, and no stack of adjoints is needed.

What the backward step needs of the forward one it reads: rows of sequences, of states, and of results. What cannot be
computed from these (carried values, and random numbers drawn with them) the forward loop stores as further results, and
products of matrices, too; everything else is computed again. :meth:`_Backward.stored` decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.compile.test_values import inherit_test_value
from theano.gradient import DisconnectedType, Rop, grad, grad_undefined
from theano.gradient.absent import is_discrete, is_null, zeros_like
from theano.gradient.barriers import IdentityOp
from theano.graph.traverse import ancestors, toposort, walk
from theano.graph.variable import Constant, Variable
from theano.records import replace
from theano.scan.lengths import asks_for_lengths, is_length_of
from theano.scan.spec import LoopSpec, OuterInputs, OuterOutputs
from theano.tensor.blas.dot import Dot
from theano.tensor.convert import as_tensor_variable, is_tensor, static_int
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.index.basic import IncSubtensor, fill_entries
from theano.tensor.index.functions import inc_subtensor
from theano.tensor.join.op import stack
from theano.tensor.shape.basic import patternbroadcast, shape_i

if TYPE_CHECKING:
    from theano.scan.op import Scan
    from theano.scan.spec import InnerOutputs
    from theano.tensor.type import Tensor


def connections(op: Scan) -> list[list[bool]]:
    """Return for each outer input and output whether the one influences the other, be it some steps later."""
    spec = op.spec
    inside = spec.inner_inputs(op.inner.connections())
    states = len(spec.states)
    # What influences an output influences all that is computed from it later.
    through: dict[int, list[list[bool]]] = dict(enumerate(inside.states))
    through.update((spec.stacked + i, [row]) for i, row in enumerate(inside.carried))
    count = spec.stacked + spec.carried

    def closure(rows: Iterable[Sequence[bool]], also: Iterable[int] = ()) -> list[bool]:
        found = {o for row in rows for o in range(count) if row[o]} | set(also)
        todo = list(found)
        while todo:
            for row in through.get(todo.pop(), ()):
                new = {o for o in range(count) if row[o]} - found
                found |= new
                todo.extend(new)
        return [o in found for o in range(count)]

    return [
        [False] * count,
        *(closure(rows) for rows in inside.sequences),
        *(closure((), [i]) for i in range(states)),
        *(closure((), [spec.stacked + i]) for i in range(spec.carried)),
        *(closure([row]) for row in inside.fixed),
    ]


def _like(v: Tensor) -> Any:
    """Return a variable of the type of ``v``."""
    return inherit_test_value(v.type(), v)


def _is_smooth(v: Variable) -> bool:
    """Return whether there can be a gradient with respect to ``v``."""
    return hasattr(v.type, "dtype") and not is_discrete(v.type)


def _is_absent(g: Variable) -> bool:
    return g is None or isinstance(g.type, DisconnectedType)


def _fit(g: Any, like: Any) -> Any:
    """Return ``g`` as a variable of the type of ``like``."""
    if g.type.dtype != like.type.dtype:
        g = g.astype(like.type.dtype)
    return patternbroadcast(g, like.type.broadcastable) if is_tensor(g) else g


def _plus(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


def _added_to_zeros(g: Tensor) -> tuple[Any, Any]:
    """Return the index and the value, if ``g`` is written as zeros with something added to a part; else None twice."""
    node = g.owner
    if node is None or not isinstance(node.op, IncSubtensor) or not _is_zeros(node.inputs[0]):
        return None, None
    index = fill_entries(node.op.idx_list, node.inputs[2:], static_int)
    return (index[0], node.inputs[1]) if len(index) == 1 else (None, None)


def _is_zeros(v: Tensor) -> bool:
    while v.owner is not None and (isinstance(v.owner.op, DimShuffle) or v.owner.op == F.second):
        v = v.owner.inputs[-1]
    return isinstance(v, Constant) and not np.any(v.data)


def _only_last_row(g: Tensor, depth: int) -> Any:
    """Return the last row of a gradient with respect to the rows of a state, if all others are written as zeros.

    That is the gradient of what is computed from ``result[-1]``, where the result has no row of those that the state
    begins with.
    """
    at, value = (None, None) if g is None else _added_to_zeros(g)
    if at == slice(depth, None):
        at, value = _added_to_zeros(value)
    return value if at == -1 else None


# -- backward ------------------------------------------------------------------------------------------------------


class _Backward:
    """The gradient of one step, in variables of the step.

    Parameters
    ----------
    op : Scan
    grads : OuterOutputs
        The gradients with respect to the outputs of the loop, None if disconnected.

    Attributes
    ----------
    rows : dict from int to Variable
        For a stacked output, what stands for the row of its gradient.
    forgotten : set of int
        The states of whose past no step sees anything: as for a mapped result, no gradient goes from step to step.
    last : dict from int to Variable
        For a state of which only the last row has a gradient, that gradient.
    pending : dict from int to list of Variable
        For a state, what stands for the gradients of later steps with respect to its last values, the last first.
    carried : dict from int to Variable
        For a carried value, what stands for the gradient with respect to it.
    terms : dict from Variable to Variable
        The gradients with respect to the inner inputs.
    null : list of (int or None, Variable)
        The undefined ones.
    """

    def __init__(self, op: Scan, grads: OuterOutputs):
        spec = op.spec
        self.own, self.made = spec.inner_inputs(op.inner.inputs), spec.inner_outputs(op.inner.outputs)
        stacked = [*self.made.states, *self.made.mapped]
        seen = set(ancestors(op.inner.outputs))
        self.forgotten = {i for i, taps in enumerate(self.own.states) if seen.isdisjoint(taps)}
        found = ((i, _only_last_row(g, m)) for i, (g, m) in enumerate(zip(grads.states, spec.depths, strict=True)))
        self.last = {i: _fit(g, self.made.states[i]) for i, g in found if g is not None and i not in self.forgotten}
        self.rows = {
            i: _like(v)
            for i, (v, g) in enumerate(zip(stacked, [*grads.states, *grads.mapped], strict=True))
            if g is not None and i not in self.last
        }
        self.pending: dict[int, list[Any]] = {}
        self.carried = {
            i: _like(v) for i, (v, g) in enumerate(zip(self.made.carried, grads.carried, strict=True)) if g is not None
        }
        self.terms: dict[Variable, Variable] = {}
        self.null: dict[Variable, Any] = {}
        for i in (*self.last, *self.rows):
            if i < len(spec.states) and i not in self.forgotten:
                self._follow(i, spec)
        while self._differentiate(spec):
            pass

    def _follow(self, i: int, spec: LoopSpec) -> None:
        self.pending[i] = [_like(self.made.states[i]) for _ in range(spec.depths[i])]

    def _differentiate(self, spec: LoopSpec) -> bool:
        """Ask for all gradients; return whether one goes on to the step before that was not known to."""
        seeds: dict[Variable, Tensor] = {}
        for i, v in enumerate((*self.made.states, *self.made.mapped)):
            total = _plus(self.rows.get(i), self.pending[i][0] if i in self.pending else None)
            if total is not None:
                seeds[IdentityOp()(v)] = total
        seeds.update((IdentityOp()(self.made.carried[i]), g) for i, g in self.carried.items())
        smooth = [v for v in self.own.flat() if _is_smooth(v)]
        found = grad(
            None, smooth, known_grads=seeds, disconnected_inputs="ignore", return_disconnected="disconnected",
            null_gradients="return",
        ) if seeds else [None for _ in smooth]  # fmt: skip
        self.null = {v: g for v, g in zip(smooth, found, strict=True) if is_null(g)}
        self.terms = {
            v: _fit(g, v) for v, g in zip(smooth, found, strict=True) if not _is_absent(g) and v not in self.null
        }
        more = False
        for i, taps in enumerate(self.own.states):
            if i not in self.pending and any(v in self.terms for v in taps):
                self._follow(i, spec)
                more = True
        for i, v in enumerate(self.own.carried):
            if i not in self.carried and v in self.terms:
                self.carried[i] = _like(v)
                more = True
        return more

    def results(self, spec: LoopSpec) -> tuple[list[Any], list[Any], list[Any]]:
        """Return what the backward step makes: for sequences, of what it carries, and what stands for that."""
        for_rows = [self.terms[v] for taps in self.own.sequences for v in taps if v in self.terms]
        before: list[Tensor] = []
        after: list[Any] = []
        for i, pending in self.pending.items():
            term = {-k: self.terms.get(v) for k, v in zip(spec.states[i], self.own.states[i], strict=True)}
            for j, v in enumerate(pending, 1):
                total = _plus(pending[j] if j < len(pending) else None, term.get(j))
                before.append(v)
                after.append(zeros_like(v) if total is None else _fit(total, v))
        for i, v in self.carried.items():
            term_of = self.terms.get(self.own.carried[i])
            before.append(v)
            after.append(zeros_like(v) if term_of is None else term_of)
        for v in self.own.fixed:
            if v in self.terms:
                sum_so_far = _like(v)
                before.append(sum_so_far)
                after.append(_fit(sum_so_far + self.terms[v], v))
        return for_rows, before, after

    def stored(self, outputs: Sequence[Tensor]) -> list[Tensor]:
        """Return what the forward loop stores beside its results, for the backward step to read.

        These are the carried values, which are lost later; where such a value is no tensor, the tensors made of it. And
        what products of matrices went into, for these cost more than the memory of what the step makes of them. All
        else is computed again.
        """
        free = {v for v in (*self.made.states, *self.made.mapped) if v.owner is not None}
        found = [v for v in self.own.carried if is_tensor(v) and v in set(ancestors(outputs, free))]
        lost = {v for v in self.own.carried if not is_tensor(v)}
        for node in toposort(outputs, free):
            if not lost.isdisjoint(node.inputs):
                lost.update(v for v in node.outputs if not is_tensor(v))
                found.extend(v for v in node.outputs if is_tensor(v))
        found.extend(self._costly(outputs, free))
        needed = set(ancestors(outputs, {*free, *found}))
        return [v for v in dict.fromkeys(found) if v in needed and v not in free]

    def _costly(self, outputs: Sequence[Variable], free: set[Variable]) -> list[Tensor]:
        """Return what the backward step reads of the forward one that is computed from a product of matrices."""
        forward = set(ancestors(self.made.flat())) - free
        read: list[Any] = []

        def below(v: Variable) -> list[Variable] | None:
            if v.owner is None or v in free:
                return None
            if v in forward:
                read.append(v)
                return None
            # Lengths are known without the value.
            return v.owner.inputs[1:] if asks_for_lengths(v.owner) else v.owner.inputs

        for _ in walk(outputs, below):
            pass
        costly: set[Variable] = set()
        for node in toposort(read, free):
            if isinstance(node.op, Dot) or not costly.isdisjoint(node.inputs):
                costly.update(node.outputs)
        largest = max((v.type.ndim for v in (*self.made.states, *self.made.mapped)), default=0)
        return [v for v in read if v in costly and is_tensor(v) and v.type.ndim <= largest]


def gradients(
    op: Scan, inputs: Sequence[Variable], outputs: Sequence[Tensor], output_grads: Sequence[Variable]
) -> list[Variable]:
    """Return the gradients of a cost with respect to the inputs of a loop."""
    spec = op.spec
    if any(k is not None for k in spec.keep):
        op = op.like(replace(spec, keep=()))
        spec, outputs = op.spec, op(*inputs, return_list=True)
    smooth = [None if _is_absent(g) or not _is_smooth(v) else g for v, g in zip(outputs, output_grads, strict=True)]
    grads = spec.outer_outputs(smooth)
    step = _Backward(op, grads)
    found = _run(op, step, inputs, outputs, grads) if step.terms or step.pending or step.carried else {}
    for o in step.forgotten:
        if grads.states[o] is not None:
            found[1 + len(spec.sequences) + o] = grads.states[o][: spec.depths[o]]
    reached = connections(op)
    moving = [o for o, g in enumerate(output_grads) if not _is_absent(g)]
    answers: list[Variable] = []
    for i, (v, row) in enumerate(zip(inputs, reached, strict=True)):
        broken = _undefined(op, step, i, reached)
        if not any(row[o] for o in moving) and i not in found:
            answers.append(DisconnectedType()())
        elif broken is not None:
            answers.append(broken)
        elif i in found:
            answers.append(found[i])
        elif hasattr(v.type, "dtype"):
            answers.append(zeros_like(v) if is_discrete(v.type) else DisconnectedType()())
        else:
            answers.append(grad_undefined(op, i, v, f"{v.type} has no derivative"))
    return answers


def _undefined(op: Scan, step: _Backward, i: int, reached: Sequence[Sequence[bool]]) -> Any:
    """Return the undefined gradient with respect to outer input ``i``, or None where it is defined."""
    if not step.null:
        return None
    spec = op.spec
    own = step.own
    groups = [[], *own.sequences, *own.states, *([v] for v in own.carried), *([v] for v in own.fixed)]
    for v in groups[i]:
        if v in step.null:
            return step.null[v]
    for o, group in ((o, own.states[o]) for o in range(len(spec.states))):
        if reached[i][o]:
            for v in group:
                if v in step.null:
                    return step.null[v]
    for o, v in enumerate(own.carried):
        if reached[i][spec.stacked + o] and v in step.null:
            return step.null[v]
    return None


def _run(
    op: Scan, step: _Backward, inputs: Sequence[Variable], outputs: Sequence[Tensor], grads: OuterOutputs
) -> dict[int, Any]:
    """Return the gradients that the backward loop computes, by outer input."""
    spec = op.spec
    given = spec.outer_inputs(inputs)
    for_rows, before, after = step.results(spec)
    stored = step.stored([*for_rows, *after])
    if spec.until and not spec.stacked and not stored:
        stored = [as_tensor_variable(0)]  # its rows are counted
    stores: list[Tensor] = []
    if stored:
        longer = op.storing(stored)
        made = longer.spec.outer_outputs(longer(*inputs, return_list=True))
        stores = made.mapped[spec.mapped :]
    else:
        made = spec.outer_outputs(outputs)
    n: Tensor = given.n_steps
    if spec.until:
        n = shape_i(made.states[0], 0) - spec.depths[0] if made.states else shape_i(made.mapped[0], 0)
    steps = n if op.truncate == -1 else F.minimum(n, op.truncate)

    # What the step sees: for each outer sequence, from its end, inner variables and their taps.
    needed = set(ancestors([*for_rows, *after], {*step.made.states, *step.made.mapped, *stored}))
    along: list[tuple[Any, list[tuple[int, Any]]]] = []
    for v, taps, rows, reach in zip(given.sequences, spec.sequences, step.own.sequences, spec.reach, strict=True):
        along.append((v[: n + reach - 1][::-1], [(reach - 1 - k, row) for k, row in zip(taps, rows, strict=True)]))
    for i, (v, taps, rows) in enumerate(zip(made.states, spec.states, step.own.states, strict=True)):
        past = [(-k, row) for k, row in zip(taps, rows, strict=True)]
        last = (0, step.made.states[i])
        along.append((v[spec.depths[i] :][::-1], [last]) if i in step.forgotten else (v[::-1], [*past, last]))
    results = zip((*made.mapped[: spec.mapped], *stores), (*step.made.mapped, *stored), strict=True)
    along.extend((v[::-1], [(0, row)]) for v, row in results)
    depths = [*spec.depths, *(0 for _ in grads.mapped)]
    for i, g in enumerate((*grads.states, *grads.mapped)):
        if i in step.rows:
            along.append((g[depths[i] :][::-1], [(0, step.rows[i])]))
    seen: set[Any] = set()
    sequences: list[Tensor] = []
    seen_taps: list[tuple[int, ...]] = []
    inner: list[Tensor] = []
    for v, pairs in along:
        used = [(k, row) for k, row in pairs if row in needed and row not in seen and not isinstance(row, Constant)]
        seen.update(row for _, row in used)
        if used:
            sequences.append(v)
            seen_taps.append(tuple(k for k, _ in used))
            inner.extend(row for _, row in used)
    fixed = [(v, own) for v, own in zip(given.fixed, step.own.fixed, strict=True) if own in needed and own not in seen]
    begin = _begin(spec, step, given, made, grads)
    back = LoopSpec(tuple(seen_taps), (), len(for_rows), len(before), len(fixed))
    loop = type(op)(
        back,
        [*inner, *before, *(own for _, own in fixed)],
        [*for_rows, *after],
        f"grad_of_{op.name or 'scan_fn'}",
        **op.options,
    )
    node_inputs = OuterInputs(steps, sequences, [], begin, [v for v, _ in fixed])
    result = back.outer_outputs(loop(*node_inputs.flat(), return_list=True))
    return _sorted(op, step, given, grads, result, n, steps)


def _begin(
    spec: LoopSpec, step: _Backward, given: OuterInputs, made: OuterOutputs, grads: OuterOutputs
) -> list[Tensor]:
    """Return what the backward loop carries before its first step."""
    begin: list[Any] = []
    for i in step.pending:
        pending = [zeros_like(given.states[i][0])] * spec.depths[i]
        begin.extend([step.last[i], *pending[1:]] if i in step.last else pending)
    for i in step.carried:
        g = grads.carried[i]
        begin.append(zeros_like(made.carried[i]) if g is None else g)
    begin.extend(zeros_like(v) for v, own in zip(given.fixed, step.own.fixed, strict=True) if own in step.terms)
    return begin


def _sorted(
    op: Scan, step: _Backward, given: OuterInputs, grads: OuterOutputs, result: OuterOutputs, n: Any, steps: Any
) -> dict[int, Tensor]:
    """Return the results of the backward loop by the outer input that they are the gradient of."""
    spec = op.spec
    found: dict[int, Any] = {}
    for_rows, last = iter(result.mapped), iter(result.carried)
    whole = op.truncate == -1
    for i, (v, taps, rows) in enumerate(zip(given.sequences, spec.sequences, step.own.sequences, strict=True), 1):
        total: Any = None
        for k, row in zip(taps, rows, strict=True):
            if row in step.terms:
                g = next(for_rows)[::-1]
                if whole and taps == (0,) and is_length_of(n, v):
                    total = g
                    break
                total = zeros_like(v) if total is None else total
                total = inc_subtensor(total[k + n - steps : k + n] if not whole else total[k : k + n], g)
        if total is not None:
            found[i] = total
    first = 1 + len(spec.sequences)
    for i in step.pending:
        rest = [next(last) for _ in range(spec.depths[i])]
        rest = rest if whole else [F.switch(F.lt(steps, n), zeros_like(v), v) for v in rest]
        direct = None if i in step.last else grads.states[i]
        total = stack(rest[::-1])
        found[first + i] = total if direct is None else direct[: spec.depths[i]] + total
    first += len(spec.states)
    for i in step.carried:
        g = next(last)
        found[first + i] = g if whole else F.switch(F.lt(steps, n), zeros_like(g), g)
    first += spec.carried
    for i, own in enumerate(step.own.fixed):
        if own in step.terms:
            found[first + i] = next(last)
    return found


# -- forward -------------------------------------------------------------------------------------------------------


def directions(op: Scan, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
    """Return the directions in which the outputs of a loop move: those of a loop over values and directions."""
    spec = op.spec
    given = spec.outer_inputs(inputs)
    pairs = zip(inputs, eval_points, strict=True)
    along = spec.outer_inputs([None if _is_absent(d) or not _is_smooth(v) else d for v, d in pairs])
    own = spec.inner_inputs(op.inner.inputs)
    moved: dict[Variable, Any] = {}
    for group, d in zip((*own.sequences, *own.states), (*along.sequences, *along.states), strict=True):
        moved.update((v, _like(v)) for v in group if d is not None)
    for v, d in zip((*own.carried, *own.fixed), (*along.carried, *along.fixed), strict=True):
        if d is not None:
            moved[v] = _like(v)
    while True:
        found = spec.inner_outputs(_moved(op, moved))
        more = False
        for group, d in zip((*own.states, *([v] for v in own.carried)), (*found.states, *found.carried), strict=True):
            if d is not None and group[0] not in moved:
                moved.update((v, _like(v)) for v in group)
                more = True
        if not more:
            break
    if not any(d is not None for d in found.flat()) and not moved:
        return [None] * len(op.output_types(inputs))
    return _both(op, given, along, moved, found)


def _moved(op: Scan, moved: dict[Variable, Variable]) -> list[Any]:
    """Return the directions of the results of a step."""
    outputs = op.inner.outputs
    smooth = [v for v in outputs if _is_smooth(v)]
    if not moved or not smooth:
        return [None] * len(outputs)
    found = Rop(smooth, list(moved), list(moved.values()), disconnected_outputs="ignore", return_disconnected="none")
    answers = dict(zip(smooth, found, strict=True))
    return [answers.get(v) for v in outputs]


def _both(
    op: Scan, given: OuterInputs, along: OuterInputs, moved: dict[Variable, Variable], found: InnerOutputs
) -> list[Variable]:
    """Return the directions of the outputs from a loop that computes values and directions side by side."""
    spec = op.spec
    own, made = spec.inner_inputs(op.inner.inputs), spec.inner_outputs(op.inner.outputs)
    sequences = [i for i, d in enumerate(along.sequences) if d is not None]
    states = [i for i, group in enumerate(own.states) if group[0] in moved]
    mapped = [i for i, d in enumerate(found.mapped) if d is not None]
    carried = [i for i, v in enumerate(own.carried) if v in moved]
    fixed = [i for i, d in enumerate(along.fixed) if d is not None]

    def or_zero(d: Any, v: Variable) -> Variable:
        return zeros_like(v) if d is None else _fit(d, v)

    pair = LoopSpec(
        (*spec.sequences, *(spec.sequences[i] for i in sequences)), (*spec.states, *(spec.states[i] for i in states)),
        spec.mapped + len(mapped), spec.carried + len(carried), spec.fixed + len(fixed), spec.until,
    )  # fmt: skip
    inner_inputs = own._replace(
        sequences=[*own.sequences, *([moved[v] for v in own.sequences[i]] for i in sequences)],
        states=[*own.states, *([moved[v] for v in own.states[i]] for i in states)],
        carried=[*own.carried, *(moved[own.carried[i]] for i in carried)],
        fixed=[*own.fixed, *(moved[own.fixed[i]] for i in fixed)],
    )
    inner_outputs = made._replace(
        states=[*made.states, *(or_zero(found.states[i], made.states[i]) for i in states)],
        mapped=[*made.mapped, *(_fit(found.mapped[i], made.mapped[i]) for i in mapped)],
        carried=[*made.carried, *(or_zero(found.carried[i], made.carried[i]) for i in carried)],
    )
    outer = OuterInputs(
        given.n_steps,
        [*given.sequences, *(along.sequences[i] for i in sequences)],
        [*given.states, *(or_zero(along.states[i], given.states[i]) for i in states)],
        [*given.carried, *(or_zero(along.carried[i], given.carried[i]) for i in carried)],
        [*given.fixed, *(along.fixed[i] for i in fixed)],
    )
    name = f"rop_of_{op.name or 'scan_fn'}"
    loop = type(op)(pair, inner_inputs.flat(), inner_outputs.flat(), name, **op.options)
    result = pair.outer_outputs(loop(*outer.flat(), return_list=True))
    answers = OuterOutputs([None] * len(spec.states), [None] * spec.mapped, [None] * spec.carried)
    for part, places, values, skip in (
        (answers.states, states, result.states, len(spec.states)),
        (answers.mapped, mapped, result.mapped, spec.mapped),
        (answers.carried, carried, result.carried, spec.carried),
    ):
        for i, v in zip(places, values[skip:], strict=True):
            part[i] = v
    return answers.flat()
