"""Loops. PyTensor's hand buffers over in which their results are written; ours return what the steps made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.scalar.loop import ScalarLoop
from pytensor.scan.op import Scan as PyTensorScan

import theano.tensor as T
from theano.scan.op import Scan
from theano.scan.spec import LoopSpec
from theano_pytensor.convert import convert, standing_for, translate
from theano_pytensor.ops.elemwise import scalar_step
from theano_pytensor.types import cast, fitted, type_of


class _Revised:
    """A buffer of which steps read and write any rows (``mit_mot``), as states: one for each row that they write.

    Step i reads row i + k. Of the writes to it, the latest before this step is that of the smallest offset o above k,
    o - k steps ago. Where no step has written it, the row is what the buffer began with.

    Parameters
    ----------
    buffer : Variable
        What stands in it before the loop.
    reads, writes : sequence of int
        The offsets from the number of the step.
    """

    def __init__(self, buffer: Any, reads: Sequence[int], writes: Sequence[int], n_steps: Any):
        self.buffer, self.writes = buffer, tuple(writes)
        self.sources: list[tuple[int | None, int]] = []  # of each read: which write, and how long ago; or its offset
        for k in reads:
            above = [o for o in writes if o > k]
            self.sources.append((writes.index(min(above)), min(above) - k) if above else (None, k))
        lags = [[lag for w, lag in self.sources if w == j] for j in range(len(writes))]
        self.taps = [tuple(sorted({-lag for lag in of} or {-1})) for of in lags]
        #: The rows before the first step; a write that is not read again has none, and its rows are only stacked.
        self.read_again = [bool(of) for of in lags]
        self.initial = [buffer[o + taps[0] : o] for o, taps in zip(writes, self.taps, strict=True)]
        self.sequences = [buffer[k : k + n_steps] for w, k in self.sources if w is None]

    def written(self, rows: Sequence[Any]) -> Any:
        """Return the buffer after all steps; a row that several have written is the one of the smallest offset."""
        final = self.buffer
        for o, made in sorted(zip(self.writes, rows, strict=True), key=lambda pair: -pair[0]):
            final = T.set_subtensor(final[o : o + made.shape[0]], made)
        return final


@convert.register(PyTensorScan)
def _(op: Any, node: Any, *inputs: Any) -> Any:
    info, inner, outer = op.info, list(op.fgraph.inputs), list(inputs)
    n = T.cast(inputs[0], "int64")
    offsets = zip(info.normalized_mit_mot_in_slices, info.normalized_mit_mot_out_slices, strict=True)
    revised = [_Revised(b, *of, n) for b, of in zip(op.outer_mitmot(outer), offsets, strict=True)]
    kept = [*op.outer_mitsot(outer), *op.outer_sitsot(outer)]
    taps = [*map(tuple, info.mit_sot_in_slices), *((-1,) for _ in range(info.n_sit_sot))]
    loop = _loop(op, revised, taps)

    given = [n, *(s[:n] for s in op.outer_seqs(outer)), *(s for r in revised for s in r.sequences)]
    given += _chosen(revised, [r.initial for r in revised], True)
    given += [b[: -min(t)] for b, t in zip(kept, taps, strict=True)]
    carried = zip(op.outer_untraced_sit_sot(outer), op.inner_untraced_sit_sot(inner), strict=True)
    given += [fitted(x, v.type, exact=True) for x, v in carried]
    given += [fitted(x, v.type) for x, v in zip(op.outer_non_seqs(outer), op.inner_non_seqs(inner), strict=True)]
    outputs = loop.spec.outer_outputs(loop(*given, return_list=True) if loop.outputs else [])

    n_again = sum(again for r in revised for again in r.read_again)
    rows = {True: [v[m:] for v, m in zip(outputs.states, loop.spec.depths, strict=True)], False: list(outputs.mapped)}
    found = [r.written([rows[again].pop(0) for again in r.read_again]) for r in revised]
    found += [_last(v, b.shape[0]) for v, b in zip(outputs.states[n_again:], kept, strict=True)]
    counts = op.outer_nitsot(list(node.inputs))
    for v, m, count in zip(rows[False], op.outer_nitsot(outer), counts, strict=True):
        whole = info.as_while or _never_more(count, node.inputs[0])
        found.append(_last(v, m) if whole else _last(_with_zeros(v, m), m))
    return [*found, *outputs.carried]


def _chosen(revised: Sequence[_Revised], of: Sequence[Sequence[Any]], again: bool) -> list[Any]:
    """Return of what belongs to the writes of each buffer that of the ones which steps read again, or do not."""
    pairs = [pair for r, group in zip(revised, of, strict=True) for pair in zip(group, r.read_again, strict=True)]
    return [v for v, is_read in pairs if is_read == again]


def _loop(op: Any, revised: Sequence[_Revised], taps: Sequence[tuple[int, ...]]) -> Scan:
    """Return the op of our loop: the same step, with its inputs and outputs in our order."""
    info, given, made = op.info, list(op.fgraph.inputs), list(op.fgraph.outputs)
    known: dict[Any, Any] = {}

    def inside(v: Any) -> Any:
        known[v] = standing_for(v)
        return known[v]

    rows = [[inside(v)] for v in op.inner_seqs(given)]
    written = op.inner_mitmot_outs_grouped(made)
    states: list[list[Any]] = []
    for r, reads, writes in zip(revised, op.inner_mitmot_grouped(given), written, strict=True):
        mine = [[type_of(v.type)() for _ in of] for v, of in zip(writes, r.taps, strict=True)]
        for v, (j, lag) in zip(reads, r.sources, strict=True):
            if j is None:
                rows.append([inside(v)])
            else:
                known[v] = mine[j][r.taps[j].index(-lag)]
        states += [of for of, again in zip(mine, r.read_again, strict=True) if again]
    grouped = [*op.inner_mitsot_grouped(given), *([v] for v in op.inner_sitsot(given))]
    states += _in_order(grouped, taps, inside)
    carried = [inside(v) for v in op.inner_untraced_sit_sot(given)]
    fixed = [inside(v) for v in op.inner_non_seqs(given)]

    again, once = _chosen(revised, written, True), _chosen(revised, written, False)
    order = [*again, *op.inner_mitsot_outs(made), *op.inner_sitsot_outs(made), *once, *op.inner_nitsot_outs(made),
             *op.inner_untraced_sit_sot_outs(made), *(made[-1:] if info.as_while else [])]  # fmt: skip
    results = [fitted(x, v.type, exact=True) for x, v in zip(translate(order, known), order, strict=True)]
    # A state is of one type in all steps, whatever is known of its first rows and of what a step makes.
    for k, of in enumerate(states):
        results[k] = T.patternbroadcast(results[k], of[0].type.broadcastable)
    spec = LoopSpec(
        sequences=((0,),) * len(rows), mapped=len(once) + info.n_nit_sot, carried=len(carried), fixed=len(fixed),
        states=(*_chosen(revised, [r.taps for r in revised], True), *map(_sorted, taps)), until=info.as_while,
    )  # fmt: skip
    return Scan(spec, [*(v for group in (*rows, *states) for v in group), *carried, *fixed], results, name=op.name)


def _sorted(taps: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(taps))


def _in_order(grouped: Sequence[Any], taps: Sequence[tuple[int, ...]], inside: Any) -> list[list[Any]]:
    """Return the variables of states, those of each by their taps."""
    found = []
    for group, of in zip(grouped, taps, strict=True):
        variables = [inside(v) for v in group]
        found.append([variables[of.index(k)] for k in sorted(of)])
    return found


def _never_more(count: Any, n_steps: Any) -> bool:
    """Return whether it is known that no more rows are wanted than there are steps, as it nearly always is."""
    rows, steps = getattr(count, "data", None), getattr(n_steps, "data", None)
    return count is n_steps or (rows is not None and steps is not None and bool(rows <= steps))


def _with_zeros(rows: Any, count: Any) -> Any:
    """Return ``count`` rows at least: of a gradient that was cut off, the rows that no step made are zeros."""
    missing = T.maximum(T.cast(count, "int64") - rows.shape[0], 0)
    return T.join(0, rows, T.zeros([missing, *(rows.shape[k] for k in range(1, rows.type.ndim))], rows.type.dtype))


def _last(rows: Any, count: Any) -> Any:
    """Return the last ``count`` rows; all of them where there are fewer, as after a loop that ended early."""
    n = rows.shape[0]
    return rows[T.maximum(n - T.cast(count, "int64"), 0) :]


@convert.register(ScalarLoop)
def _(op: Any, node: Any, n_steps: Any, *inputs: Any) -> Any:
    """Return a loop for each element as one loop of all: elements that have ended stay as they are."""
    count = op.nout - op.is_while
    shape: Any = n_steps
    for x in inputs:
        shape = shape + T.zeros_like(x, dtype="int64")  # as large as all together
    kinds = [kind.dtype for kind in op.inputs_type]
    states = [T.second(shape, cast(x, kind)) for x, kind in zip(inputs[:count], kinds, strict=False)]
    fixed = [cast(n_steps, "int64"), *(cast(x, kind) for x, kind in zip(inputs[count:], kinds[count:], strict=True))]
    given = [T.constant(np.int64(0)), T.zeros_like(shape, dtype="bool"), *states]
    i, ended, *before = (x.type() for x in given)
    n, *constants = (x.type() for x in fixed)
    made = translate(op.fgraph.outputs, dict(zip(op.fgraph.inputs, [*before, *constants], strict=True)), scalar_step)
    runs = T.and_(T.lt(i, n), T.invert(ended))
    after = [T.switch(runs, x, old) for x, old in zip(made, before, strict=False)]
    ends = T.switch(runs, made[-1], ended) if op.is_while else ended
    results = [i + 1, ends, *after]
    results = [T.patternbroadcast(cast(x, v.type.dtype), v.type.broadcastable)
               for x, v in zip(results, given, strict=True)]  # fmt: skip
    spec = LoopSpec(sequences=(), states=(), mapped=0, carried=len(given), fixed=len(fixed), until=True)
    over = T.all(T.or_(results[1], T.ge(i + 1, n)))
    loop = Scan(spec, [i, ended, *before, n, *constants], [*results, over], name=op.name)
    most = T.join(0, [0], fixed[0].flatten()).max()  # of no elements, too
    final = loop.spec.outer_outputs(loop(most, *given, *fixed, return_list=True)).carried
    return [*final[2:], *([final[1]] if op.is_while else [])]
