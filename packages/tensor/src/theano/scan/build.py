"""From a step as it was written to a loop: what of it is inside, what is the same in each step, and types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.compile.builders import OpFromGraph
from theano.compile.shared import SharedVariable
from theano.compile.test_values import inherit_test_value
from theano.errors import ArgumentError, MissingInputError
from theano.gradient.barriers import GradClip
from theano.graph.apply import Apply
from theano.graph.canonical import is_ours
from theano.graph.clone import clone_replace
from theano.graph.traverse import independent_of, toposort
from theano.graph.traverse import inputs as inputs_of
from theano.graph.variable import Constant, Variable
from theano.printing import one_line
from theano.scan.arguments import OutputInfo, SequenceInfo, sort_returned
from theano.scan.op import Scan
from theano.scan.spec import InnerOutputs, LoopSpec, OuterInputs, OuterOutputs
from theano.tensor.convert import is_tensor
from theano.tensor.elemwise.functions import cast
from theano.tensor.random.draw import Draw
from theano.tensor.shape.basic import patternbroadcast

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def refuse_undeclared(inside: Sequence[Variable], declared: Sequence[Variable], outputs: Sequence[Variable]) -> None:
    """Raise MissingInputError if a step depends on a shared variable that is not among its arguments."""
    known = {*inside, *declared}
    for v in inputs_of(outputs, known):
        if v not in known and isinstance(v, SharedVariable):
            raise MissingInputError(
                f"scan: a step uses the shared variable {v} of type {v.type}, which is not among its arguments, and "
                "strict=True wants shared variables to be. Add it to non_sequences, or leave out strict",
                variable=v,
            )


def refuse_same_draws(known: Sequence[Variable], outputs: Sequence[Variable]) -> None:
    """Raise ValueError if a step draws random numbers from a state that nothing updates: each draws the same ones."""
    for node in toposort(outputs, known):
        state = node.inputs[0] if isinstance(node.op, Draw) else None
        if isinstance(state, SharedVariable) and state not in known:
            raise ValueError(
                f"scan: a step draws {one_line(node.outputs[1], 60)} from the state {state}, which has no update, so "
                "that all steps would draw the same numbers. Return the update {state: next state} from the step; if "
                "they are to be the same, add the state to non_sequences"
            )


def default_updates(
    outputs: Sequence[Variable], updates: Sequence[tuple[SharedVariable, Any]], declared: Sequence[Variable]
) -> list[tuple[Any, Any]]:
    """Return the updates of a step, those included that shared variables of the step have of their own.

    What is ``declared`` as an argument is computed before the loop, and so is what it is made of.
    """
    found: dict[SharedVariable, Any] = {}
    for v, new in updates:
        if v in found and found[v] is not new:
            raise ValueError(f"scan: a step updates {v} twice, to {found[v]} and to {new}")
        found[v] = new
    seen: set[Variable] = set()
    todo: list[Variable] = [*outputs, *found.values()]
    while todo:
        used = [v for v in inputs_of(todo, declared) if isinstance(v, SharedVariable) and v not in seen]
        seen.update(used)
        fresh = {v: v.default_update for v in used if v not in found and getattr(v, "default_update", None) is not None}
        found.update(fresh)
        todo = list(fresh.values())
    return list(found.items())


class WrittenStep:
    """What the function of a step writes: variables for what the step sees, and what it makes of them.

    Parameters
    ----------
    sequences : list of SequenceInfo
    past : list of OutputInfo
        For each result; may be empty, or a single one without taps, where no result has a past.
    others : list of Variable
        Further arguments.

    Attributes
    ----------
    arguments : list of Variable
        What the function is called with, in its order.
    places : list of int
        Which results are states.
    rows, taps : list of list of Variable
        What the step sees of each sequence, and of each state.
    shared, carried : list of Variable
        The shared variables that it updates, and what stands for them.
    results : InnerOutputs
        What it makes of these.
    """

    def __init__(
        self,
        sequences: Sequence[SequenceInfo],
        past: Sequence[OutputInfo],
        others: Sequence[Variable],
    ):
        self.sequences, self.past, self.others = list(sequences), list(past), list(others)
        self.rows = [list(map(_row_of, repeat(s.rows), s.names(), s.offsets)) for s in sequences]
        self.taps = [
            [_row_of(info.initial, name, info.depth + k) for name, k in zip(info.names(), info.taps, strict=True)]
            for info in past
            if info.taps
        ]
        self.arguments = [*(v for group in (*self.rows, *self.taps) for v in group), *others]

    def returned(self, what: Any, strict: bool = False) -> None:
        """Take what the function returned; ``strict`` says whether shared variables must be arguments."""
        made, others = sort_returned(what), self.others
        self.infos = _past_of(self.past, made.outputs)
        self.places = [i for i, info in enumerate(self.infos) if info.taps]
        results = [*made.outputs, *([] if made.condition is None else [made.condition])]
        updates = default_updates(results, made.updates, others)
        self.shared = [v for v, _ in updates]
        if strict:
            # What it updates it says itself.
            refuse_undeclared(self.arguments, self.shared, [*made.outputs, *(new for _, new in updates)])
        refuse_same_draws([*self.arguments, *self.shared], [*results, *(new for _, new in updates)])
        self.results = InnerOutputs(
            [v for v, info in zip(made.outputs, self.infos, strict=True) if info.taps],
            [v for v, info in zip(made.outputs, self.infos, strict=True) if not info.taps],
            [_new_value(v, new) for v, new in updates],
            made.condition,
        )
        self.carried = [inherit_test_value(v.type(v.name), v) for v in self.shared]
        # Arguments are computed before the loop, with what shared variables were then.
        if self.shared:
            self._write({**{v: v for v in others}, **dict(zip(self.shared, self.carried, strict=True))})
        self._settle()

    def _write(self, replace: Mapping[Variable, Variable]) -> None:
        """Write the step again, on other variables."""
        if replace:
            until = () if self.results.until is None else (self.results.until,)
            made = clone_replace(self.results.flat(), replace, strict=False)
            self.results = self._spec(bool(until)).inner_outputs(made)

    def _spec(self, until: bool, fixed: int = 0) -> LoopSpec:
        infos = [self.infos[i] for i in self.places]
        return LoopSpec(
            tuple(s.offsets for s in self.sequences), tuple(info.taps for info in infos), len(self.results.mapped),
            len(self.carried), fixed, until,
        )  # fmt: skip

    # -- types -----------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Make results and the values that they take the place of agree in type, or say where they do not."""
        for _ in range(8):
            replace: dict[Variable, Any] = {}
            for k, place in enumerate(self.places):
                kind = self._wider(k, place)
                if kind is not None:
                    new = [
                        inherit_test_value(kind(v.name), v, partial(np.asarray, dtype=kind.dtype)) for v in self.taps[k]
                    ]
                    replace.update(zip(self.taps[k], new, strict=True))
                    self.taps[k] = new
            if not replace:
                break
            self._write(replace)
        pairs = zip(self.results.states, self.taps, strict=True)
        self.results = self.results._replace(
            states=[patternbroadcast(v, taps[0].type.broadcastable) for v, taps in pairs]
        )

    def _wider(self, k: int, place: int) -> Any:
        """Return the type that the values of a state must have for its result to be one of them; None: it is."""
        result, info = self.results.states[k], self.infos[place]
        seen, made, shown = self.taps[k][0].type, result.type, one_line(result, 60)
        if not is_tensor(result):
            raise TypeError(
                f"scan: output {place}, {shown}, is of type {made}, but outputs_info[{place}], {info.shown}, "
                "is a tensor"
            )
        if made.ndim != seen.ndim:
            raise ArgumentError(
                f"scan: output {place}, {shown}, has {made.ndim} dimensions in each step, but what it begins with, "
                f"{info.shown}, has {seen.ndim}. Give outputs_info[{place}] a value of {made.ndim} dimensions"
                + ("" if info.taps == (-1,) else f", and {info.depth} rows of these")
            )
        if made.dtype != seen.dtype and not info.weak:
            raise ArgumentError(
                f"scan: output {place}, {shown}, has dtype {made.dtype} in each step, but what it begins with, "
                f"outputs_info[{place}], {info.shown}, has {seen.dtype}. Cast the one or the other with "
                "theano.tensor.cast"
            )
        both = tuple(a and b for a, b in zip(seen.broadcastable, made.broadcastable, strict=True))
        if made.dtype == seen.dtype and both == seen.broadcastable:
            return None
        return seen.clone(dtype=made.dtype, broadcastable=both)

    # -- the loop --------------------------------------------------------------------------------------------

    def loop(self, n_steps: TensorLike, **options: Any) -> tuple[Scan, list[Variable]]:
        """Return the op of the loop, and what it is applied to.

        Parameters
        ----------
        n_steps : int or Variable
        **options
            Those of :class:`~theano.scan.op.Scan`.
        """
        inside = [*(v for group in (*self.rows, *self.taps) for v in group), *self.carried]
        outputs = self.results.flat()
        # Unused arguments stay inputs until rewriting, so that functions know them.
        given = dict.fromkeys([*independent_of(inside, outputs, self.others, _own_slope), *self.others])
        fixed = [v for v in given if v not in self.shared and not isinstance(v, Constant)]
        spec = self._spec(self.results.until is not None, len(fixed))
        op = Scan(spec, [*inside, *fixed], outputs, **options)
        states = [_as_initial(self.infos[i], group[0]) for i, group in zip(self.places, self.taps, strict=True)]
        outer = OuterInputs(n_steps, [s.rows for s in self.sequences], states, self.shared, fixed)
        return op, op.convert(*outer.flat())

    def in_order(self, outputs: OuterOutputs) -> list[Tensor]:
        """Return results by kind in the order in which the function of the step has them."""
        states, mapped = iter(outputs.states), iter(outputs.mapped)
        return [next(states) if info.taps else next(mapped) for info in self.infos]


def _own_slope(node: Apply) -> bool:
    """Return whether a gradient may not be linear in that of the outputs: a sum over steps is then another one."""
    op = node.op
    if isinstance(op, GradClip) or not is_ours(type(op).__module__):
        return True
    if isinstance(op, OpFromGraph) and op.is_overridden:
        return True
    graph = getattr(op, "inner", None)
    return graph is not None and any(map(_own_slope, toposort(graph.outputs)))


def _row_of(v: Tensor, name: str | None, place: int) -> Any:
    """Return what stands for a row of ``v``, at ``place`` in the first step."""
    row = v.type.clone(broadcastable=v.type.broadcastable[1:])(name)
    return inherit_test_value(row, v, itemgetter(place))


def _past_of(past: Sequence[OutputInfo], outputs: Sequence[Tensor]) -> list[OutputInfo]:
    """Return the taps and initial values of each result."""
    if not past or (len(past) == 1 and not past[0].taps):
        return [OutputInfo()] * len(outputs)
    if len(past) != len(outputs):
        raise ValueError(
            f"scan: a step returns {len(outputs)} results, but outputs_info says of {len(past)} what they begin with. "
            "Give outputs_info one value for each, None where a result does not depend on its past"
        )
    return list(past)


def _new_value(v: SharedVariable, new: Any) -> Any:
    """Return the new value of a shared variable as one of its type."""
    try:
        return v.type.filter_variable(new)
    except TypeError as error:
        raise TypeError(f"scan: a step updates {v} of type {v.type} to {new} of type {new.type}: {error}") from None


def _as_initial(info: OutputInfo, tap: Any) -> Any:
    """Return what a state begins with, in the dtype that its values have."""
    return info.initial if info.initial.type.dtype == tap.type.dtype else cast(info.initial, tap.type.dtype)
