"""What a loop is given and what it hands back, step by step and as a whole: the description that all others read.

One step of a loop is an expression, the *inner* graph; the node of the loop has *outer* inputs and outputs. Both are
plain lists. Which part of them is what follows from a :class:`LoopSpec`, and is said here alone:

=============== ================================= =================================== =========================
part            outer input                       inner inputs, at step t             inner and outer output
=============== ================================= =================================== =========================
number of steps one                               none                                none
sequence        a tensor                          its rows t + k, for each tap k      none
state           its first rows, the oldest first  its values at t + k, for each tap k its value at t; all its
                                                                                      rows, the first ones too
mapped          none                              none                                its value at t; all rows
carried         a value                           what the step before made of it     its new value; the
                                                                                      last one
fixed           a value                           that value                          none
until           none                              none                                whether this is the last
                                                                                      step; no outer output
=============== ================================= =================================== =========================
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from theano.records import NamedTuple, record


class OuterInputs(NamedTuple):
    """The inputs of a loop, by kind."""

    n_steps: Any
    sequences: list[Any]
    states: list[Any]
    carried: list[Any]
    fixed: list[Any]

    def flat(self) -> list[Any]:
        """Return them as the list that the node has."""
        return [self.n_steps, *self.sequences, *self.states, *self.carried, *self.fixed]


class InnerInputs(NamedTuple):
    """The inputs of a step, by kind; a list of taps for each sequence and each state."""

    sequences: list[list[Any]]
    states: list[list[Any]]
    carried: list[Any]
    fixed: list[Any]

    def flat(self) -> list[Any]:
        """Return them as the list that the inner graph has."""
        taps = (v for group in (*self.sequences, *self.states) for v in group)
        return [*taps, *self.carried, *self.fixed]


class InnerOutputs(NamedTuple):
    """What a step computes, by kind."""

    states: list[Any]
    mapped: list[Any]
    carried: list[Any]
    until: Any = None

    def flat(self) -> list[Any]:
        """Return them as the list that the inner graph has."""
        return [*self.states, *self.mapped, *self.carried, *([] if self.until is None else [self.until])]


class OuterOutputs(NamedTuple):
    """The outputs of a loop, by kind."""

    states: list[Any]
    mapped: list[Any]
    carried: list[Any]

    def flat(self) -> list[Any]:
        """Return them as the list that the node has."""
        return [*self.states, *self.mapped, *self.carried]


@record(frozen=True)
class LoopSpec:
    """The description of a loop.

    Parameters
    ----------
    sequences : tuple of tuple of int
        For each sequence its taps, 0 or more: a step t sees the rows t + k.
    states : tuple of tuple of int
        For each output that is computed from its own past its taps, below 0.
    mapped : int
        How many outputs are not.
    carried : int
        How many values each step replaces; only the last ones are outputs.
    fixed : int
        How many inputs are the same in each step.
    until : bool
        Whether a step says if it is the last one.
    keep : tuple of int or None
        For each state and then each mapped output, how many of its last rows are stored; None: all of them.

    Examples
    --------
    >>> spec = LoopSpec(sequences=((0, 2),), states=((-3, -1),), mapped=1, fixed=1)
    >>> spec.inner_inputs(["x[t]", "x[t+2]", "y[t-3]", "y[t-1]", "w"]).states
    [['y[t-3]', 'y[t-1]']]
    >>> spec.depths, spec.reach, spec.keep
    ((3,), (3,), (None, None))
    """

    sequences: tuple[tuple[int, ...], ...] = ()
    states: tuple[tuple[int, ...], ...] = ()
    mapped: int = 0
    carried: int = 0
    fixed: int = 0
    until: bool = False
    keep: tuple[int | None, ...] = ()

    def __post_init__(self) -> None:
        if not self.keep:
            object.__setattr__(self, "keep", (None,) * (len(self.states) + self.mapped))
        if any(k < 0 for taps in self.sequences for k in taps):
            raise ValueError(f"the taps of sequences are 0 or more, not {self.sequences}")
        if any(not taps or max(taps) >= 0 for taps in self.states):
            raise ValueError(f"a state has taps, and these are below 0, not {self.states}")
        if len(self.keep) != len(self.states) + self.mapped:
            raise ValueError(f"{self.keep} does not say of each state and mapped output how much of it is stored")

    @property
    def depths(self) -> tuple[int, ...]:
        """For each state, how many rows it begins with: as far back as a step looks."""
        return tuple(-min(taps) for taps in self.states)

    @property
    def reach(self) -> tuple[int, ...]:
        """For each sequence, how many of its rows the first step needs to be there."""
        return tuple(max(taps, default=0) + 1 for taps in self.sequences)

    @property
    def stacked(self) -> int:
        """How many outputs have a row for each step."""
        return len(self.states) + self.mapped

    def outer_inputs(self, inputs: Sequence[Any]) -> OuterInputs:
        """Return the inputs of the node by kind."""
        n_steps, *parts = _cut(inputs, 1, len(self.sequences), len(self.states), self.carried, self.fixed)
        return OuterInputs(n_steps[0], *parts)

    def inner_inputs(self, inputs: Sequence[Any]) -> InnerInputs:
        """Return the inputs of a step by kind."""
        groups = [len(taps) for taps in (*self.sequences, *self.states)]
        *taps, carried, fixed = _cut(inputs, *groups, self.carried, self.fixed)
        n = len(self.sequences)
        return InnerInputs(taps[:n], taps[n:], carried, fixed)

    def inner_outputs(self, outputs: Sequence[Any]) -> InnerOutputs:
        """Return what a step computes by kind."""
        states, mapped, carried, last = _cut(outputs, len(self.states), self.mapped, self.carried, int(self.until))
        return InnerOutputs(states, mapped, carried, last[0] if last else None)

    def outer_outputs(self, outputs: Sequence[Any]) -> OuterOutputs:
        """Return the outputs of the node by kind."""
        return OuterOutputs(*_cut(outputs, len(self.states), self.mapped, self.carried))


def _cut(things: Sequence[Any], *sizes: int) -> list[list[Any]]:
    """Return a list cut into parts of given sizes, which are all of it."""
    if sum(sizes) != len(things):
        raise ValueError(f"{len(things)} values are no {' + '.join(map(str, sizes))}")
    rest = iter(things)
    return [list(islice(rest, size)) for size in sizes]
