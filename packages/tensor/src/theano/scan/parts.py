"""A loop taken apart, for rules to edit: each sequence, state, ... with all that belongs to it, inside and outside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from theano.graph.apply import Apply
from theano.graph.clone import clone_replace
from theano.graph.traverse import ancestors
from theano.graph.variable import Constant, Variable
from theano.records import field, record
from theano.scan.spec import InnerInputs, LoopSpec, OuterInputs
from theano.tensor.index.basic import Subtensor

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.tensor.type import Tensor


@record(eq=False)
class SequencePart:
    """A sequence: the tensor outside, and what stands for its rows inside, with taps."""

    outer: Any
    taps: list[tuple[int, Any]]


@record(eq=False)
class StatePart:
    """A state: what it begins with, what stands for its past values, with taps, and its new value."""

    outer: Any
    taps: list[tuple[int, Any]]
    result: Any
    keep: int | None = None
    outputs: list[Any] = field(default_factory=list)


@record(eq=False)
class MappedPart:
    """A result that is stacked."""

    result: Any
    keep: int | None = None
    outputs: list[Any] = field(default_factory=list)


@record(eq=False)
class CarriedPart:
    """A carried value: what it begins with, what stands for it, and its new value."""

    outer: Any
    inner: Any
    result: Any
    outputs: list[Any] = field(default_factory=list)


@record(eq=False)
class FixedPart:
    """What is the same in each step, outside and inside."""

    outer: Any
    inner: Any


class Parts:
    """The parts of a loop; ``outputs`` of each are the outer variables that :meth:`build` puts new ones in place of.

    Parameters
    ----------
    node : Apply[Scan]
    fresh : bool
        Use variables of their own inside, so that parts of other loops can join.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> sums, _ = theano.scan(lambda x_t, s: s + x_t, x, T.zeros(()))
    >>> parts = Parts(sums.owner.inputs[0].owner)
    >>> parts.sequences[0].outer, parts.states[0].result
    (x, Elemwise{add,no_inplace}.0)
    """

    def __init__(self, node: Node, fresh: bool = False):
        op = self.op = node.op
        spec: LoopSpec = op.spec
        inside = [v.type(v.name) for v in op.inner.inputs] if fresh else op.inner.inputs
        own, made = spec.inner_inputs(inside), spec.inner_outputs(op.inner.on(inside) if fresh else op.inner.outputs)
        given, outputs = spec.outer_inputs(node.inputs), spec.outer_outputs(node.outputs)
        keep = dict(enumerate(spec.keep))
        states = len(spec.states)
        self.n_steps, self.until = given.n_steps, made.until
        self.sequences = [
            SequencePart(v, list(zip(taps, rows, strict=True)))
            for v, taps, rows in zip(given.sequences, spec.sequences, own.sequences, strict=True)
        ]
        self.states = [
            StatePart(v, list(zip(taps, rows, strict=True)), made.states[i], keep[i], [outputs.states[i]])
            for i, (v, taps, rows) in enumerate(zip(given.states, spec.states, own.states, strict=True))
        ]
        self.mapped = [
            MappedPart(v, keep[states + i], [out])
            for i, (v, out) in enumerate(zip(made.mapped, outputs.mapped, strict=True))
        ]
        self.carried = [
            CarriedPart(v, inner, result, [out])
            for v, inner, result, out in zip(given.carried, own.carried, made.carried, outputs.carried, strict=True)
        ]
        self.fixed = [FixedPart(*each) for each in zip(given.fixed, own.fixed, strict=True)]

    @property
    def making(self) -> list[Any]:
        """The parts that have results: states, mapped results, carried values."""
        return [*self.states, *self.mapped, *self.carried]

    @property
    def stacked(self) -> list[StatePart | MappedPart]:
        """The states and the mapped results."""
        return [*self.states, *self.mapped]

    def outputs(self) -> list[Any]:
        """Return what a step makes."""
        results = [part.result for part in self.making]
        return results if self.until is None else [*results, self.until]

    def moving(self) -> list[Variable]:
        """Return what differs from step to step: the inner variables of all parts but the fixed ones."""
        taps = [taps for parts in (self.sequences, self.states) for taps in (part.taps for part in parts)]
        return [*(v for each in taps for _, v in each), *(part.inner for part in self.carried)]

    def used(self, results: Iterable[Variable] | None = None) -> set[Variable]:
        """Return all that ``results``, by default all of them, are computed from."""
        return set(ancestors(self.outputs() if results is None else results))

    def substitute(self, replace: Mapping[Variable, Variable]) -> None:
        """Put other variables in the place of some, in what the step makes."""
        made = iter(clone_replace(self.outputs(), replace, strict=False))
        for part in self.making:
            part.result = next(made)
        if self.until is not None:
            self.until = next(made)

    def build(self) -> dict[Variable, Any]:
        """Return what takes the place of each output: those of the loop made of these parts."""
        spec = LoopSpec(
            tuple(tuple(k for k, _ in part.taps) for part in self.sequences),
            tuple(tuple(k for k, _ in part.taps) for part in self.states),
            len(self.mapped), len(self.carried), len(self.fixed), self.until is not None,
            tuple(part.keep for part in self.stacked),
        )  # fmt: skip
        inside = InnerInputs(
            [[v for _, v in part.taps] for part in self.sequences], [[v for _, v in part.taps] for part in self.states],
            [part.inner for part in self.carried], [part.inner for part in self.fixed],
        )  # fmt: skip
        outside = OuterInputs(
            self.n_steps, [part.outer for part in self.sequences], [part.outer for part in self.states],
            [part.outer for part in self.carried], [part.outer for part in self.fixed],
        )  # fmt: skip
        op = self.op
        loop = type(op)(spec, inside.flat(), self.outputs(), op.name, truncate=op.truncate, **op.options)
        made = loop(*outside.flat(), return_list=True)
        return {old: new for part, new in zip(self.making, made, strict=True) for old in part.outputs}


# -- reads of a result -----------------------------------------------------------------------------------------------


def rows_read(v: Tensor) -> int | None:
    """Return how many of the last rows of ``v`` are read at most; None: any."""
    most = 0
    for client, _ in v.clients:
        rows = _rows_read_by(client, v) if isinstance(client, Apply) else None
        if rows is None:
            return None
        most = max(most, rows)
    return most


def _rows_read_by(client: Node, v: Tensor) -> int | None:
    if not isinstance(client.op, Subtensor) or client.inputs[0] is not v:
        return None
    first = client.op.idx_list[0] if client.op.idx_list else None
    if isinstance(first, slice):
        if first.step is not None or first.stop is not None:
            return None
        start = _number(client, first.start)
        if start is None:
            return None
        if start < 0:
            return -start
        rows = rows_read(client.outputs[0])
        return None if rows is None else rows + start
    at = _number(client, first)
    return -at if at is not None and at < 0 else None


def _number(client: Node, entry: object) -> int | None:
    """Return the number that the first entry of an index is worth, if it is known."""
    if isinstance(entry, int):
        return entry
    given = client.inputs[1] if entry is not None and len(client.inputs) > 1 else None
    return int(given.data) if isinstance(given, Constant) else None
