"""What a layer says of its kernels for exported models, in the module that its description names (``exports=``).

The module has one `Exports` under the name ``EXPORTS``. It is loaded by the first export of a function.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

from theano.graph.apply import Apply
from theano.layers import installed
from theano.records import field, record


@record(frozen=True)
class SourceTree:
    """The C sources of a library of kernels.

    Parameters
    ----------
    name : str
        The folder that they get beside others.
    files : dict from str to str
        From the names of the ``.c`` files, and those by which headers are included, to their paths.
    written : dict from str to str
        Headers that are written from declarations: their texts.
    flags : tuple of str
        The options with which they are compiled, without those that choose a CPU.
    level : tuple of str
        The options that choose the CPU for which the library that runs here was built.
    archives : dict from tuple of str to str
        From options that choose a CPU to the path at which an archive has all files compiled for it, if it is there.
    """

    name: str
    files: Mapping[str, str]
    written: Mapping[str, str]
    flags: tuple[str, ...]
    level: tuple[str, ...] = ()
    archives: Mapping[tuple[str, ...], str] = field(default_factory=dict)


@record(frozen=True)
class StateRows:
    """A state of a loop: the input with its first rows, how many these are, its taps, and how many rows are kept."""

    input: int
    depth: int
    taps: tuple[int, ...]
    keep: int | None


@record(frozen=True)
class Loop:
    """A node that runs another function again and again, as data; inputs are those of the node.

    Parameters
    ----------
    name : str
    step : Function
        Of the rows that taps see, of sequences first, then of states, the carried and the fixed values; it returns rows
        of the states and of the mapped results, carried values, and perhaps whether to stop.
    taps : list of (int, int)
        Rows of sequences that a step sees: the input, and how far ahead.
    needed : list of (int, int)
        Of inputs that are sequences, how many rows more than steps there must be.
    states : list of StateRows
    keep : list of int or None
        Of each mapped result, how many of the last rows are kept.
    lengths : list of Function or None
        For each mapped result, what returns the lengths of a row, from what a step is given; None: it is a number.
    carried, fixed : range
        Inputs.
    until : bool
        Whether a step says when to stop.
    count : int or None
        The input that says how many steps there are; None: as many as the shortest of the sequences has rows.
    """

    name: str
    step: Any
    taps: list[tuple[int, int]]
    needed: list[tuple[int, int]]
    states: list[StateRows]
    keep: list[int | None]
    lengths: list[Any]
    carried: range
    fixed: range
    until: bool
    count: int | None


@record(frozen=True)
class FunctionCall:
    """A node that calls another function, of the same inputs."""

    function: Any


@record(frozen=True)
class Exports:
    """What a layer answers.

    Parameters
    ----------
    trees : dict from str to callable
        From the package of a library of kernels to a function that returns its sources for its path.
    nested : callable
        From a node without a kernel to the `Loop` or `FunctionCall` that it is, or None.
    lowered_apart : callable
        Returns a context in which nodes are lowered for another process: with a BLAS that is linked there if its
        argument is true, else with none.
    symbols : dict from str to callable
        For a family of pointers (`theano.graph.pointers.pointer_families`), what C calls the one of a name; None: it
        cannot come along.
    numbers : dict from str to callable
        For a family of pointers that lead to numbers of 64 bits, what they are in this process: they come along.
    """

    trees: Mapping[str, Callable[[str], SourceTree]] = field(default_factory=dict)
    nested: Callable[[Apply], Loop | FunctionCall | None] = lambda node: None
    lowered_apart: Callable[[bool], AbstractContextManager[Any]] = lambda linked: nullcontext()
    symbols: Mapping[str, Callable[[str], str | None]] = field(default_factory=dict)
    numbers: Mapping[str, Callable[[str], Sequence[int]]] = field(default_factory=dict)


def answers() -> list[Exports]:
    """Return what the installed layers say."""
    named = [layer.exports for layer in installed() if layer.exports]
    return [importlib.import_module(module).EXPORTS for module in named]


@contextmanager
def lowered_apart(linked: bool) -> Iterator[None]:
    """Lower nodes for another process: see `Exports`."""
    with ExitStack() as stack:
        for each in answers():
            stack.enter_context(each.lowered_apart(linked))
        yield
