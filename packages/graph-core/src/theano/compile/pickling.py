"""Functions and graphs as data: what is pickled, and the way back.

A graph is written as a list of nodes in the order in which they can be made, each with the numbers of its
inputs. So the depth of a graph does not matter, where following its pointers would end Python's stack. No
path and no machine code goes into a pickle: a function that is loaded finds its kernels in the cache of the
machine where it is, or compiles them; it is not rewritten.
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
from theano.graph.apply import Apply
from theano.graph.source import SourceLine
from theano.graph.traverse import toposort
from theano.graph.variable import Constant, Scratchpad, Variable
from theano.records import record


@record
class FlatGraph:
    """A graph as tables.

    Attributes
    ----------
    leaves : list
        What nothing computes: ``(class, type, name, value, line)``; the value is that of a constant.
    nodes : list
        ``(op, numbers of the inputs, [(class, type, name)] of the outputs, line)``. Variables are numbered: the
        leaves first, then the outputs of each node.
    inputs, outputs : list of int
    """

    leaves: list[tuple[Any, ...]]
    nodes: list[tuple[Any, ...]]
    inputs: list[int]
    outputs: list[int]


def flatten(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> FlatGraph:
    """Return the graph between some variables as tables."""
    number: dict[Variable, int] = {}
    leaves: list[tuple[Any, ...]] = []

    def leaf(v: Variable) -> None:
        if v not in number:
            number[v] = len(number)
            # Shared variables are inputs like others here: their values are in the function's containers.
            cls = v.type.Variable if isinstance(v, SharedVariable) else type(v)
            leaves.append((cls, v.type, v.name, v.data if isinstance(v, Constant) else None, _line(v)))

    order = toposort(outputs, inputs)
    for v in inputs:
        leaf(v)
    inner = {v for node in order for v in node.outputs}
    for v in (*(v for node in order for v in node.inputs), *outputs):
        if v not in inner:
            leaf(v)
    nodes = []
    for node in order:
        for v in node.outputs:
            number[v] = len(number)
        kinds = [(type(v), v.type, v.name) for v in node.outputs]
        lines = _line(node.outputs[0]) if node.outputs else None
        nodes.append((node.op, [number[v] for v in node.inputs], kinds, lines))
    return FlatGraph(leaves, nodes, [number[v] for v in inputs], [number[v] for v in outputs])


def unflatten(flat: FlatGraph) -> tuple[list[Variable], list[Variable]]:
    """Return the inputs and outputs of the graph that the tables describe."""
    variables: list[Variable] = []
    for cls, kind, name, value, line in flat.leaves:
        made = cls(kind, value, name=name) if issubclass(cls, Constant) else cls(kind, None, None, name)
        variables.append(_marked(made, line))
    for op, ins, kinds, line in flat.nodes:
        outs = [_marked(cls(kind, None, None, name), line) for cls, kind, name in kinds]
        variables += Apply(op, [variables[i] for i in ins], outs).outputs
    return [variables[i] for i in flat.inputs], [variables[i] for i in flat.outputs]


def _line(v: Variable) -> tuple[str, int, str] | None:
    trace = getattr(v.tag, "trace", ())
    return tuple(trace[0]) if trace else None


def _marked(v: Variable, line: tuple[str, int, str] | None) -> Variable:
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
    graph : FlatGraph
        Rewritten, with the copies put in.
    inputs : list of (class, dict)
        The specifications, without their variables.
    containers : list of Container
        The stored values. A shared variable that is pickled beside the function has the same container.
    users : list of (int, Variable)
        What the program calls the inputs by, with their positions: a variable that is pickled beside the function finds
        its value there. Those that are expressions are left out, since what they are computed from would come along.
    """

    graph: FlatGraph
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
