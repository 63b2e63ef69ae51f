"""One node at a time, in Python, for the inspection of every value that passes.

The machine runs a whole program without coming up for air. A linker that wants to look (`WrapLinker`) has the same
nodes, compiled in the same way, called one after the other by a `Interpreter`; to the machine the whole graph is then a
single instruction in Python, so that arguments, shared variables, updates and results are handled as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.signals import let_signals_through
from theano.graph.variable import Constant, Variable
from theano.loader.schema import Cell, Input, MachineProgram, Overwritten, PerformInstruction, Slot, Update
from theano.runtime.blocks import BlockFactory
from theano.runtime.failure import Explainer
from theano.runtime.link import (
    Compiled,
    Implementation,
    Linked,
    Linker,
    LinkWith,
    Performed,
    Thunked,
    thunk_of,
)
from theano.runtime.program import Argument, explicit_inputs, instruction
from theano.runtime.updates import BY_ANY

if TYPE_CHECKING:
    from theano.graph.annotations import Value

Cells = dict[Variable, Cell]


class Evaluator(Protocol):
    """Computes a graph: from the values of its inputs to those of its outputs."""

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """Return the values of the outputs."""


_NAMES = ((Performed, "perform"), (Thunked, "make_thunk"))


class NodeFunction:
    """What computes one node, by itself.

    Parameters
    ----------
    node : Apply
    how : Implementation
        As linking found it out.

    Attributes
    ----------
    name : str
        Which of an op's forms it is: ``perform``, ``c_code``, ``make_thunk`` or ``compiled`` (``c_kernel``).
    """

    def __init__(self, node: Apply, how: Implementation):
        if isinstance(how, Compiled) and how.lazy:
            how = thunk_of(node)  # only the machine can answer a kernel that asks for its inputs
        self.node, self.how = node, how
        self.name = next((name for kind, name in _NAMES if isinstance(how, kind)), "compiled")
        if isinstance(how, Thunked) and isinstance(how.factory, BlockFactory):
            self.name = "c_code"
        self._machine = self._alone() if self.name == "compiled" else None

    def _alone(self) -> Callable[..., Any]:
        # The loader is a compiled module that brings in NumPy: `import theano` does without.
        from theano.loader.module import Function

        node = self.node
        # A node that reads one variable twice is given it once, so that it sees the same memory.
        slots: dict[Variable, int] = {}
        for v in (*node.inputs, *node.outputs):
            slots.setdefault(v, len(slots))
        # A constant that is no array (None, a slice) is the kernel's to know, not to be given.
        fixed = [v for v in slots if isinstance(v, Constant) and v.type.buffer_spec() is None]
        self._taken = [v for v in dict.fromkeys(node.inputs) if v not in fixed]
        written = {node.inputs[i] for many in node.op.destroy_map.values() for i in many}
        program = MachineProgram(
            slots=[
                Slot("constant", None, v.data)
                if v in fixed
                else Slot("temp" if v in node.outputs else "input", v.type.buffer_spec(), None)
                for v in slots
            ],
            instructions=[instruction(node, self.how, slots)],
            inputs=[Input(slots[v], None, True, None, None, v in written) for v in self._taken],
            outputs=[slots[v] for v in node.outputs],
        )
        made: Callable[..., Any] = Function(program.description() | {"keepalive": self.how})
        return made

    def __call__(self, inputs: Sequence[Cell], outputs: Sequence[Cell]) -> None:
        """Compute, from cells into cells; what is in ``outputs`` may be reused."""
        if isinstance(self.how, Performed):
            self.how.perform(self.node, [cell[0] for cell in inputs], outputs)
        elif isinstance(self.how, Thunked):
            wanted = self.bind(inputs, [[1] for _ in inputs], outputs)()
            if wanted:
                raise RuntimeError(f"{self.node.op} asks for its inputs {list(wanted)}, which are there")
        else:
            assert self._machine is not None
            values = dict(zip(self.node.inputs, inputs, strict=True))
            for cell, value in zip(outputs, self._machine(*(values[v][0] for v in self._taken)), strict=True):
                cell[0] = value

    def bind(self, inputs: Sequence[Cell], computed: Sequence[Cell], outputs: Sequence[Cell]) -> Callable[[], Any]:
        """Return the op's own thunk for some cells."""
        assert isinstance(self.how, Thunked)
        return self.how.factory(inputs, computed, outputs, [[0] for _ in outputs])


class NodeThunk:
    """A node within one call: what a wrapper is given, to call when it likes.

    Attributes
    ----------
    node : Apply
    inputs, outputs : list of lists of one value
        Where the values are: ``thunk.inputs[0][0]``.
    """

    def __init__(self, node: Apply, compute: Callable[[], None], inputs: list[Cell], outputs: list[Cell]):
        self.node, self.inputs, self.outputs = node, inputs, outputs
        self._compute = compute

    def __call__(self) -> None:
        """Compute the node."""
        self._compute()


#: Called as ``wrapper(number, node, *thunks)``, with one thunk for each linker; it calls them.
Wrapper = Callable[..., Any]


class Interpreter:
    """Runs a graph node by node, each through a wrapper.

    Parameters
    ----------
    fgraph : FunctionGraph
    ways : list of Linked
        The graph as one or several linkers see it. Each has values of its own; the results are those of the first.
    wrapper : callable
    on_input : callable, optional
        Called with each input and its value at the start of a call.
    explainer : Explainer
    allow_gc : bool
        Drop values after their last use.
    """

    def __init__(
        self,
        fgraph: FunctionGraph,
        ways: Sequence[Linked],
        wrapper: Wrapper,
        explainer: Explainer,
        on_input: Callable[[Variable, Any], Any] | None = None,
        allow_gc: bool = True,
    ):
        self.fgraph, self.wrapper, self.on_input, self.explainer = fgraph, wrapper, on_input, explainer
        self.nodes = ways[0].nodes
        self.functions = [
            [NodeFunction(node, how) for node, how in zip(way.nodes, way.how, strict=True)] for way in ways
        ]
        self.lazy = ways[0].lazy
        self._number = {node: i for i, node in enumerate(self.nodes)}
        self._dead = dead_after(fgraph, self.nodes) if allow_gc and not self.lazy else [[] for _ in self.nodes]

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """Compute the outputs of the graph."""
        worlds = [self._cells(values, copied=bool(k)) for k in range(len(self.functions))]
        for v, value in zip(self.fgraph.inputs, values, strict=True):
            if self.on_input is not None:
                self.on_input(v, value)
        if self.lazy:
            self._on_demand(worlds)
        else:
            for i in range(len(self.nodes)):
                self._step(i, worlds)
                for v in self._dead[i]:
                    for world in worlds:
                        world.pop(v, None)
        return [worlds[0][v][0] for v in self.fgraph.outputs]

    def _cells(self, values: Sequence[object], copied: bool) -> Cells:
        pairs = zip(self.fgraph.inputs, values, strict=True)
        cells = {v: [v.type.value_copy(value) if copied else value] for v, value in pairs}
        for v in (*(v for node in self.nodes for v in node.inputs), *self.fgraph.outputs):
            if isinstance(v, Constant):
                cells[v] = [v.data]
        return cells

    def _step(self, i: int, worlds: Sequence[Cells]) -> None:
        node = self.nodes[i]
        self.wrapper(i, node, *(self._thunk(i, way, worlds[way]) for way in range(len(worlds))))

    def _thunk(self, i: int, way: int, cells: Cells) -> NodeThunk:
        node, function = self.nodes[i], self.functions[way][i]
        inputs = [cells.get(v, [None]) for v in node.inputs]
        there = all(v in cells for v in node.outputs)
        outputs = [cells.setdefault(v, [None]) for v in node.outputs]

        def compute() -> None:
            if there:  # a lazy node: asking it what it needs has computed it
                return
            try:
                function(inputs, outputs)
            except Exception as error:  # noqa: BLE001  (the boundary to ops that anybody may have written)
                let_signals_through(error)
                raise self._explained(i, error, inputs) from error.__cause__

        return NodeThunk(node, compute, inputs, outputs)

    def _explained(self, i: int, error: BaseException, inputs: Iterable[Cell]) -> BaseException:
        return self.explainer(i, error, [numbers_of(cell[0]) for cell in inputs])

    # -- graphs with lazy nodes ---------------------------------------------------------------------------

    def _on_demand(self, worlds: Sequence[Cells]) -> None:
        before = self.fgraph.orderings()
        pending = [v.owner for v in reversed(self.fgraph.outputs)]
        while pending:
            node = pending[-1]
            if node is None or all(v in worlds[0] for v in node.outputs):
                pending.pop()
                continue
            i = self._number[node]
            wanted = [v for other in before.get(node, ()) for v in other.outputs]
            wanted += self._still_wanted(i, worlds)
            missing = [v.owner for v in wanted if v not in worlds[0] and v.owner is not node]
            if missing:
                pending += missing
                continue
            self._step(i, worlds)
            pending.pop()

    def _still_wanted(self, i: int, worlds: Sequence[Cells]) -> list[Variable]:
        """Return the inputs that a node needs; a lazy one that needs no more is computed."""
        node = self.nodes[i]
        how = self.functions[0][i].how
        if not (isinstance(how, Thunked) and how.lazy):
            return list(node.inputs)
        made: list[list[Cell]] = []
        for functions, cells in zip(self.functions, worlds, strict=True):
            inputs = [cells.get(v, [None]) for v in node.inputs]
            outputs: list[Cell] = [[None] for _ in node.outputs]
            try:
                wanted = functions[i].bind(inputs, [[int(v in cells)] for v in node.inputs], outputs)()
            except Exception as error:  # noqa: BLE001  (as above)
                let_signals_through(error)
                raise self._explained(i, error, inputs) from error.__cause__
            if wanted:
                return [node.inputs[k] for k in wanted]
            made.append(outputs)
        for cells, outputs in zip(worlds, made, strict=True):
            cells.update(zip(node.outputs, outputs, strict=True))
        return []


def dead_after(fgraph: FunctionGraph, nodes: Sequence[Apply]) -> list[list[Variable]]:
    """Return, for each node in order, the variables whose last use it is."""
    kept = {*fgraph.inputs, *fgraph.outputs}
    last: dict[Variable, int] = {}
    for i, node in enumerate(nodes):
        last.update(dict.fromkeys((*node.inputs, *node.outputs), i))
    dead: list[list[Variable]] = [[] for _ in nodes]
    for v, i in last.items():
        if v not in kept and not isinstance(v, Constant):
            dead[i].append(v)
    return dead


def numbers_of(value: Value) -> tuple[tuple[int, ...], tuple[int, ...], str] | None:
    """Return shape, strides and dtype of an array, as errors tell them; None of anything else."""
    dtype, strides = getattr(value, "dtype", None), getattr(value, "strides", None)
    return (tuple(value.shape), tuple(strides), str(dtype)) if dtype is not None and strides is not None else None


# -- the program -------------------------------------------------------------------------------------------


def build_opaque(
    fgraph: FunctionGraph,
    evaluator: Evaluator,
    arguments: Sequence[Argument],
    n_outputs: int,
    updates: Sequence[tuple[Cell, int]],
    returns: Any,
    keys: list[str] | None = None,
    name: str = "",
) -> MachineProgram:
    """Lay a graph out as a program of one instruction, in which ``evaluator`` computes all of it.

    Parameters
    ----------
    fgraph, arguments, n_outputs, updates, returns, keys, name
        As for :func:`theano.runtime.program.build`.
    evaluator : callable
    """

    def perform(node: object, inputs: Sequence[object], outputs: Sequence[Cell]) -> None:
        for cell, value in zip(outputs, evaluator(inputs), strict=True):
            cell[0] = value

    given = len(arguments)
    outs = list(range(given, given + len(fgraph.outputs)))
    slots = [
        Slot("shared", a.variable.type.buffer_spec(), a.cell)
        if a.implicit
        else Slot("input", a.variable.type.buffer_spec(), None)
        for a in arguments
    ]
    slots += [Slot("temp", v.type.buffer_spec(), None) for v in fgraph.outputs]
    destroyers = fgraph.destroyers
    return MachineProgram(
        name=name,
        slots=slots,
        instructions=[PerformInstruction("perform", perform, None, list(range(given)), outs)],
        inputs=explicit_inputs(fgraph, arguments, {a.variable: i for i, a in enumerate(arguments)}, n_outputs),
        outputs=outs[:n_outputs],
        returns=returns if keys is None else "dict",
        keys=keys,
        updates=[Update(cell, given + i) for cell, i in updates],
        overwritten=[
            Overwritten(i, BY_ANY)
            for i, a in enumerate(arguments)
            if a.implicit and destroyers is not None and destroyers(a.variable)
        ],
    )


# -- linkers that look ---------------------------------------------------------------------------------------


class WrapLinker(Linker):
    """Has each node computed through a function of the user's, which may look at what goes in and what comes out.

    Parameters
    ----------
    linkers : list of Linker
        How the nodes are computed; by several of them, each on values of its own, to compare.
    wrapper : callable
        ``wrapper(i, node, *thunks)`` is called for each node in order, with one thunk for each linker. It calls the
        thunks; before and after, ``thunk.inputs[k][0]`` and ``thunk.outputs[k][0]`` are the values. The
        results of the function are those of the first linker.

    Examples
    --------
    >>> import theano
    >>> from theano.graph import Op, generic
    >>> class Add(Op):
    ...     __props__ = ()
    ...     itypes, otypes = [generic, generic], [generic]
    ...     def perform(self, node, inputs, output_storage):
    ...         output_storage[0][0] = inputs[0] + inputs[1]
    >>> def show(i, node, thunk):
    ...     thunk()
    ...     print(i, node.op, [cell[0] for cell in thunk.inputs], "->", thunk.outputs[0][0])
    >>> x = generic("x")
    >>> mode = theano.Mode(WrapLinker([theano.PerformLinker()], show), None)
    >>> theano.function([x], Add()(Add()(x, x), x), mode=mode)(5)
    0 Add [5, 5] -> 10
    1 Add [10, 5] -> 15
    15
    """

    linkers: list[Linker]
    wrapper: Wrapper

    def __init__(self, linkers: Sequence[Linker], wrapper: Wrapper, allow_gc: bool | None = None):
        if not linkers:
            raise ValueError("WrapLinker needs a linker that says how the nodes are computed")
        first = linkers[0]
        super().__init__("wrap", first.compiled, first.allow_gc if allow_gc is None else allow_gc)
        self.linkers, self.wrapper = list(linkers), wrapper

    def clone(self, allow_gc: bool | None = None) -> Linker:
        """Return a linker like this one, with another ``allow_gc``."""
        return WrapLinker(self.linkers, self.wrapper, allow_gc)

    @property
    def inspects_nodes(self) -> bool:
        """Whether nodes are run one by one: they are."""
        return True

    def evaluator(self, fgraph: FunctionGraph, link_with: LinkWith, explainer: Explainer) -> Interpreter:
        """Return what runs a graph."""
        ways = [link_with(linker) for linker in self.linkers]
        return Interpreter(fgraph, ways, self.wrapper, explainer, self.on_input, self.allow_gc is not False)

    def on_input(self, variable: Variable, value: Value) -> None:
        """Look at an input of the graph at the start of a call; subclasses may."""

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and isinstance(other, WrapLinker)
            and (self.linkers, self.wrapper, self.allow_gc) == (other.linkers, other.wrapper, other.allow_gc)
        )

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.linkers), self.allow_gc))


def WrapLinkerMany(linkers: Sequence[Linker], wrappers: Sequence[Wrapper]) -> WrapLinker:
    """Return a `WrapLinker` whose wrapper calls several, in order."""
    wrappers = list(wrappers)

    def call_all(i: int, node: Apply, *thunks: NodeThunk) -> None:
        for wrapper in wrappers:
            wrapper(i, node, *thunks)

    return WrapLinker(linkers, call_all)
