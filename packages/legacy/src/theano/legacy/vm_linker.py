"""A linker that calls functions of the user's with what each node has computed, and at the start of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from theano.graph.fgraph import FunctionGraph
from theano.graph.variable import Variable
from theano.runtime.failure import Explainer
from theano.runtime.interpreter import Cells, Interpreter
from theano.runtime.link import Linked, Linker, LinkWith, Schedule, plain_linkers


class _Computed(Mapping[Variable, list[bool]]):
    """For each variable of a graph, whether it is computed by now: what programs call a compute map."""

    def __init__(self, fgraph: FunctionGraph, cells: Cells):
        self._fgraph, self._cells = fgraph, cells

    def __getitem__(self, v: Variable) -> list[bool]:
        return [v in self._cells]

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._fgraph.variables)

    def __len__(self) -> int:
        return len(self._fgraph.variables)


class _Reporting(Interpreter):
    """Computes nodes, and tells the two functions of a `VM_Linker` of values."""

    def __init__(self, fgraph: FunctionGraph, way: Linked, explainer: Explainer, linker: VM_Linker):
        super().__init__(fgraph, [way], lambda i, node, thunk: thunk(), explainer, None, linker.allow_gc is not False)
        self._after, self._at_start = linker.callback, linker.callback_input

    def _cells(self, values: Sequence[Any], copied: bool) -> Cells:
        cells = super()._cells(values, copied)
        if self._at_start is not None:
            for v, cell in cells.items():
                self._at_start(v, cell[0])
        return cells

    def _step(self, i: int, worlds: Sequence[Cells]) -> None:
        node, cells = self.nodes[i], worlds[0]
        thunk = self._thunk(i, 0, cells)
        thunk()
        if self._after is not None:
            self._after(node=node, thunk=thunk, storage_map=cells, compute_map=_Computed(self.fgraph, cells))


class _Kinds(type):
    """The class of linkers of which the ready-made ones for this machine are some: programs ask for them by it."""

    def __instancecheck__(cls, linker: Any) -> bool:
        ready_made = cls is VM_Linker and type(linker) is Linker and linker.name.removesuffix("_nogc") in ("vm", "cvm")
        return ready_made or super().__instancecheck__(linker)


class VM_Linker(Linker, metaclass=_Kinds):
    """Uses compiled code where there is some, or none at all with ``c_thunks=False``.

    Parameters
    ----------
    allow_gc : bool, optional
        Whether memory of intermediate results is given back during a call. None: as ``config.allow_gc`` says.
    use_cloop : bool
        Taken: the same machine runs functions in any case.
    callback : callable, optional
        Called after each node as ``callback(node=, thunk=, storage_map=, compute_map=)``. The values of the node are
        ``thunk.inputs[k][0]`` and ``thunk.outputs[k][0]``; ``storage_map`` has the cells of all variables that have a
        value, ``compute_map`` a list of one bool for each, whether it has. Nodes then run one by one, in Python's
        loop.
    callback_input : callable, optional
        Called at the start of a call as ``callback_input(variable, value)`` for each input, shared variable and
        constant.
    schedule : callable, optional
        From a graph to its nodes in the order in which they run.
    c_thunks : bool, optional
        False: every op runs in Python.
    lazy, allow_partial_eval : bool, optional
        Taken, and change nothing: nodes that are lazy run on demand, and every function takes
        ``output_subset``.

    Examples
    --------
    >>> import theano
    >>> from theano.compile import view_op
    >>> def after(node, thunk, storage_map, compute_map):
    ...     print(node.op, thunk.outputs[0][0])
    >>> x = theano.generic("x")
    >>> mode = theano.Mode(VM_Linker(callback=after), None)
    >>> theano.function([x], view_op(x), mode=mode)(5)
    ViewOp 5
    DeepCopyOp 5
    5
    """

    callback: Callable[..., Any] | None = None  # as in pickles from before there were these
    callback_input: Callable[..., Any] | None = None

    def __init__(
        self,
        allow_gc: bool | None = None,
        use_cloop: bool = False,
        callback: Callable[..., Any] | None = None,
        callback_input: Callable[..., Any] | None = None,
        lazy: bool | None = None,
        schedule: Schedule = None,
        c_thunks: bool | None = None,
        allow_partial_eval: bool | None = None,
    ):
        compiled: Literal["never", "where possible"] = "never" if c_thunks is False else "where possible"
        super().__init__("cvm" if use_cloop else "vm", compiled, allow_gc, schedule=schedule)
        self.callback, self.callback_input = callback, callback_input

    def clone(self, allow_gc: bool | None = None) -> Linker:
        """Return a linker like this one, with another ``allow_gc``."""
        compiles = self.compiled != "never"
        return VM_Linker(
            allow_gc, self.name == "cvm", self.callback, self.callback_input, None, self.schedule, compiles
        )

    @property
    def inspects_nodes(self) -> bool:
        """Whether nodes are run one by one: for those who want to be called."""
        return self.callback is not None or self.callback_input is not None

    def evaluator(self, fgraph: FunctionGraph, link_with: LinkWith, explainer: Any) -> Interpreter | None:
        """Return what runs a graph, or None: then the machine does."""
        return _Reporting(fgraph, link_with(self), explainer, self) if self.inspects_nodes else None

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._all() == other._all()

    def __hash__(self) -> int:
        return hash(self._all())

    def _all(self) -> tuple[Any, ...]:
        return self.name, self.compiled, self.allow_gc, self.schedule, self.callback, self.callback_input


# Without functions to call it is a linker like any other.
plain_linkers.add(VM_Linker)
