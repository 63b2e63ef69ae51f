"""Functions and graphs as data: what is pickled, and the way back.

A graph is written as its table (:mod:`theano.graph.table`). No path and no machine code goes into a pickle: a function
that is loaded finds its kernels in the cache of the machine where it is, or compiles them; it is not rewritten.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from theano.compile.closed_graph import Returns
from theano.compile.inputs import SymbolicInput
from theano.compile.maker import FunctionMaker
from theano.compile.mode import Mode
from theano.compile.shared import Container, SharedVariable
from theano.graph.source import SourceLine
from theano.graph.table import GraphTable, table_of
from theano.graph.type import Type
from theano.graph.variable import Constant, Scratchpad, Variable
from theano.records import record

Look = tuple[type[Variable[Any]], Type, str | None, tuple[str, int, str] | None]
"""Class, type and name of a variable, and the line where it was written."""


def flatten(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> GraphTable:
    """Return the graph between some variables as a table that can be pickled."""
    return table_of(inputs, outputs, _look)


def unflatten(table: GraphTable) -> tuple[list[Variable], list[Variable]]:
    """Return the inputs and outputs of the graph that a table describes."""
    return table.graph(_made)


def _look(v: Variable) -> Look:
    trace = getattr(v.tag, "trace", ())
    # Shared variables are inputs like others here: their values are in the function's containers.
    cls = v.type.Variable if isinstance(v, SharedVariable) else type(v)
    return cls, v.type, v.name, tuple(trace[0]) if trace else None


def _made(look: Look, value: Any) -> Variable:
    cls, kind, name, line = look
    v = cls(kind, value, name=name) if issubclass(cls, Constant) else cls(kind, None, None, name)
    if line is not None:
        v.tag.trace = (SourceLine(*line),)
    return v


class StripPickler(pickle.Pickler):
    """Pickles graphs without what belongs to the machine where they were made.

    Parameters
    ----------
    file : file, open for writing bytes
    protocol : int, optional
    extra_tag_to_remove : str or list of str, optional
        Tags that are left out, apart from the lines of the user's program and test values.

    Examples
    --------
    >>> import io, pickle, theano
    >>> x = theano.generic("x")
    >>> x.tag.note, x.tag.keep = (lambda: "cannot be pickled"), "kept"
    >>> file = io.BytesIO()
    >>> StripPickler(file, extra_tag_to_remove="note").dump(x)
    >>> vars(pickle.loads(file.getvalue()).tag)
    {'keep': 'kept'}
    """

    def __init__(
        self, file: Any, protocol: int | None = None, extra_tag_to_remove: str | Sequence[str] | None = None
    ):
        super().__init__(file, protocol)
        extra = [extra_tag_to_remove] if isinstance(extra_tag_to_remove, str) else extra_tag_to_remove or ()
        self.unwanted = {"trace", "test_value", *extra}

    def reducer_override(self, obj: Any) -> Any:
        """Leave tags out of scratchpads; all else is pickled as usual."""
        if type(obj) is not Scratchpad:
            return NotImplemented
        kept = {name: value for name, value in vars(obj).items() if name not in self.unwanted}
        return Scratchpad, (), kept


# -- functions ------------------------------------------------------------------------------------------------


@record
class FunctionState:
    """All that a function is made of, apart from machine code.

    Attributes
    ----------
    graph : GraphTable
        Rewritten, with the copies put in.
    inputs : list of (class, dict)
        The specifications, without their variables.
    containers : list of Container
        The stored values. A shared variable that is pickled beside the function has the same container.
    users : list of (int, Variable)
        What the program calls the inputs by, with their positions: a variable that is pickled beside the function finds
        its value there. Those that are expressions are left out, since what they are computed from would come along.
    """

    graph: GraphTable
    inputs: list[tuple[type[SymbolicInput], dict[str, Any]]]
    borrow: list[bool]
    returns: Returns
    keys: list[str] | None
    update_mapping: dict[int, int]
    containers: list[Container]
    users: list[tuple[int, Variable]]
    mode: Mode
    name: str
    accept_inplace: bool


def state_of(maker: FunctionMaker, containers: list[Container]) -> FunctionState:
    """Return what is kept of a function in a pickle."""
    position = {v: i for i, v in enumerate(maker.fgraph.inputs)}
    users = {position[v]: user for v, user in maker.originals.items()}
    return FunctionState(
        flatten(maker.fgraph.inputs, maker.fgraph.outputs),
        [(type(spec), _without_variables(spec)) for spec in maker.inputs],
        [o.borrow for o in maker.outputs],
        maker.returns,
        maker.output_keys,
        dict(maker.fgraph.update_mapping or {}),
        containers,
        [(i, user) for i, user in users.items() if user.owner is None],
        maker.mode,
        maker.name,
        maker.accept_inplace,
    )


def _without_variables(spec: SymbolicInput) -> dict[str, Any]:
    state = dict(spec.__dict__)
    # The value of an argument with a default is in its container; here only whether there is one matters.
    state.update(variable=None, update=None, value=spec.value is not None)
    return state
