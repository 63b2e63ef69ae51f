"""The arguments of :func:`theano.scan` in the one form that the rest works with, and what a step may return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.compile.shared import SharedVariable
from theano.errors import ArgumentError
from theano.graph.variable import Variable
from theano.records import NamedTuple, record
from theano.scan.utils import until
from theano.tensor.convert import NotScalarConstantError, as_tensor_variable, get_scalar_constant_value
from theano.tensor.elemwise import functions as F
from theano.tensor.shape.basic import shape_i
from theano.tensor.shape.reshape import shape_padleft

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def as_list(given: Any) -> list[Any]:
    """Return one or several arguments as a list."""
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]


@record(frozen=True)
class SequenceInfo:
    """A sequence: a tensor, and which of its rows a step sees.

    Parameters
    ----------
    variable : TensorVariable
    taps : tuple of int
        At step t the rows t + k. Tap 0 counts as one of them where it says how many steps there can be.
    backwards : bool
        Begin at the end.
    """

    variable: Any
    taps: tuple[int, ...]
    backwards: bool = False

    @property
    def span(self) -> int:
        """How many rows more than steps there are."""
        return max(0, *self.taps) - min(0, *self.taps)

    @property
    def rows(self) -> Any:
        """The tensor in the order in which steps go along it."""
        return self.variable[::-1] if self.backwards else self.variable

    @property
    def offsets(self) -> tuple[int, ...]:
        """The taps counted from the row at which the first step is, all 0 or more."""
        own = tuple(k - min(0, *self.taps) for k in self.taps)
        return tuple(self.span - k for k in own) if self.backwards else own

    def steps(self) -> Any:
        """Return for how many steps there are rows."""
        n = shape_i(self.variable, 0)
        return n - self.span if self.span else n

    def names(self) -> list[str | None]:
        """Return what to call the rows of a step."""
        return [_tap_name(self.variable.name, k) for k in self.taps]


@record(frozen=True)
class OutputInfo:
    """A result that steps compute from its past, or, without ``initial``, one that they do not.

    Parameters
    ----------
    initial : TensorVariable or None
        The rows before the first step, as many as the taps look back.
    taps : tuple of int
        A step sees the values at t + k.
    weak : bool
        The initial value was a number or an array, and takes the dtype of what steps make of it.
    shown : str
        What errors call the initial value: as it was given.
    """

    initial: Any = None
    taps: tuple[int, ...] = ()
    weak: bool = False
    shown: str = ""

    @property
    def depth(self) -> int:
        """How many rows it begins with."""
        return -min(self.taps)

    def names(self) -> list[str | None]:
        """Return what to call the values that a step sees."""
        return [_tap_name(self.initial.name, k) for k in self.taps]


def _tap_name(name: str | None, k: int) -> str | None:
    return f"{name}[t{k:+d}]" if name and k else f"{name}[t]" if name else None


def as_sequence(given: TensorLike, backwards: bool = False, i: int = 0) -> SequenceInfo | None:
    """Return the entry of sequence ``i``; None if no step uses it."""
    taps: list[int] = [0]
    if isinstance(given, Mapping):
        if given.get("input") is None:
            raise ValueError(f"scan: sequences[{i}], {given!r}, has no 'input'")
        taps = given.get("taps", [0])
        given = given["input"]
    if taps is None:
        return None
    variable = as_tensor_variable(given)
    if variable.type.ndim == 0:
        raise ArgumentError(
            f"scan: sequences[{i}], {variable} of type {variable.type}, has no dimension to go along. "
            "Pass it as one of non_sequences"
        )
    found = tuple(int(k) for k in as_list(taps))
    return SequenceInfo(variable, found or (0,), backwards)


def as_output(given: TensorLike, i: int) -> OutputInfo:
    """Return the initial state of output ``i``."""
    taps: Any = None
    if isinstance(given, Mapping):
        taps, given = given.get("taps"), given.get("initial")
        if given is None and taps is not None:
            raise ValueError(f"scan: outputs_info[{i}] has taps {taps}, and so needs an 'initial' value to begin with")
    if given is None:
        return OutputInfo()
    found = (-1,) if taps is None else tuple(int(k) for k in as_list(taps))
    if not found or max(found) >= 0 or len(set(found)) != len(found):
        raise ValueError(
            f"scan: the taps of outputs_info[{i}] are {list(found)}: they must be below 0, since a step sees the past "
            "of a result, and different from each other"
        )
    initial = as_tensor_variable(given)
    weak = not isinstance(given, Variable)
    if found == (-1,):
        padded = shape_padleft(initial)
        padded.name = initial.name
        return OutputInfo(padded, found, weak, str(given))
    if initial.type.ndim == 0:
        raise ArgumentError(
            f"scan: outputs_info[{i}] has taps {list(found)}, so its initial value needs {-min(found)} rows, but "
            f"{initial} is a scalar"
        )
    rows = initial[: -min(found)]
    rows.name = initial.name
    return OutputInfo(rows, found, weak, str(given))


def as_steps(n_steps: Any) -> Any:
    """Return the number of steps as an int where it is known, else as a variable; None where it is not given.

    Raises
    ------
    IndexError
        It is negative.
    """
    if n_steps is None or (isinstance(n_steps, (float, np.floating)) and not np.isfinite(n_steps)):
        return None
    try:
        n = get_scalar_constant_value(n_steps)
    except NotScalarConstantError:
        return as_tensor_variable(n_steps)
    if int(n) != n:
        raise TypeError(f"scan: n_steps is {n_steps}, and must be a whole number")
    if n < 0:
        raise IndexError(
            f"scan: n_steps is {int(n)}, and cannot be negative. To go from the end, say go_backwards=True"
        )
    return int(n)


def steps_of(n_steps: Any, sequences: Sequence[SequenceInfo]) -> Any:
    """Return how many steps there are.

    Raises
    ------
    ValueError
        Nothing tells.
    """
    if n_steps is not None:
        return n_steps
    if not sequences:
        raise ValueError("scan: nothing says how many steps there are: give n_steps or a sequence")
    n = sequences[0].steps()
    for s in sequences[1:]:
        n = F.minimum(n, s.steps())
    return n


# -- what a step returns -----------------------------------------------------------------------------------------


class Returned(NamedTuple):
    """What the function of a step returned, by kind."""

    outputs: list[Any]
    updates: list[tuple[SharedVariable, Any]]
    condition: Any


def sort_returned(given: Any) -> Returned:
    """Tell results, updates and the condition apart, which come in any order."""
    parts = list(given) if isinstance(given, (list, tuple)) and _is_mixed(given) else [given]
    outputs: list[Tensor] = []
    updates: list[tuple[Any, Any]] = []
    condition = None
    for part in parts:
        if isinstance(part, until):
            condition = part.condition
        elif _is_updates(part):
            updates.extend(part.items() if isinstance(part, Mapping) else part)
        else:
            outputs.extend(as_list(part))
    for v, _ in updates:
        if not isinstance(v, SharedVariable):
            raise TypeError(f"scan: a step updates shared variables, and {v!r} is none")
    return Returned([_as_variable(v) for v in outputs], [(v, _as_variable(new)) for v, new in updates], condition)


def _is_updates(part: Any) -> bool:
    if isinstance(part, Mapping):
        return True
    pairs = isinstance(part, (list, tuple)) and part and all(isinstance(p, (list, tuple)) and len(p) == 2 for p in part)
    return bool(pairs) and all(isinstance(v, SharedVariable) for v, _ in part)


def _is_mixed(given: Sequence[TensorLike | until | Mapping[Variable, Variable]]) -> bool:
    """Return whether there are things of different kinds rather than results alone."""
    pairs = _is_updates(given)
    return not pairs and any(isinstance(part, (until, Mapping, list, tuple)) for part in given)


def _as_variable(value: TensorLike) -> Variable:
    return value if isinstance(value, Variable) else as_tensor_variable(value)
