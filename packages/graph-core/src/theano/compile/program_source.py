"""Where the program of a function comes from: a graph that was rewritten here, or the cache of programs.

`RewrittenGraph` has rewritten the graph and linked it; `CachedProgram` has the serialized program, and a
`RewrittenGraph` only after a request for the graph. ``FunctionMaker`` asks both the same.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

from theano.compile.aliasing import insert_deepcopy
from theano.compile.compiling import compile_blocks, compile_kernels
from theano.compile.inputs import SymbolicInput
from theano.compile.request import Request, is_expendable
from theano.errors import CycleError, InconsistencyError
from theano.graph.aliasing import DestroyHandler
from theano.graph.apply import Apply
from theano.graph.canonical import NoCanonicalForm
from theano.graph.clone import clone_get_equiv
from theano.graph.features import Supervisor
from theano.graph.fgraph import FunctionGraph
from theano.graph.op import Op
from theano.graph.signals import let_signals_through
from theano.graph.source import created_at
from theano.graph.text import text_of
from theano.graph.variable import Variable
from theano.loader.schema import MachineProgram
from theano.lowering.targets import CPU
from theano.messages import logger
from theano.rewriting import Report
from theano.runtime.failure import Explainer
from theano.runtime.interpreter import build_opaque
from theano.runtime.link import Linked, Linker, Performed, link
from theano.runtime.profile import CompileTimes
from theano.runtime.program import Argument, build, in_slots
from theano.settings import config

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.runtime.serialized import SerializedProgram


def explainer(request: Request, source: RewrittenGraph | CachedProgram) -> Explainer:
    """Return what explains a failure of a function."""

    def variables() -> Sequence[Variable]:
        nodes = source.nodes_in_order()
        inputs = [spec.variable for spec in request.closed.inputs]
        return in_slots(inputs, nodes, source.graph.fgraph.outputs) if nodes else ()

    return Explainer(request.name, source.nodes_in_order, variables)


# -- from the graph -------------------------------------------------------------------------------------------


class RewrittenGraph:
    """A graph that is rewritten and linked.

    Parameters
    ----------
    request : Request
    times : CompileTimes
        Where the seconds go.
    fgraph : FunctionGraph
        The closed graph.
    report : Report or None
        What rewriting did to it; None where it came rewritten.

    Attributes
    ----------
    linked : Linked
        What computes each node.
    """

    is_made = True

    def __init__(self, request: Request, times: CompileTimes, fgraph: FunctionGraph, report: Report | None = None):
        self._request, self.fgraph, self.report = request, fgraph, report
        _watch(fgraph)
        if report is not None:
            _protect_results(request, fgraph, times)
        self.linked: Linked = _link(request, fgraph, times)

    @classmethod
    def rewrite(cls, request: Request, times: CompileTimes, copied: bool = False) -> RewrittenGraph:
        """Rewrite the request: its nodes themselves, or copies, which leave it as it is."""
        fgraph = _close(request, times, copied)
        return cls(request, times, fgraph, _rewrite(request, fgraph, times))

    @property
    def graph(self) -> RewrittenGraph:
        """This."""
        return self

    @property
    def keepalive(self) -> Linked:
        """What keeps the machine code of the program loaded."""
        return self.linked

    def nodes_in_order(self) -> list[Apply]:
        """Return the node of each instruction."""
        return self.linked.nodes

    def ops_in_order(self) -> list[Op]:
        """Return the op of each instruction."""
        return [node.op for node in self.linked.nodes]

    def kinds_of_nodes(self) -> Mapping[str, int]:
        """Return how many nodes are computed in which way, by the names of the classes of ``runtime.link``."""
        return Counter(type(how).__name__ for how in self.linked.how)

    def program(self, arguments: Sequence[Argument]) -> MachineProgram:
        """Return the program for some arguments."""
        closed, request = self._request.closed, self._request
        evaluator = request.mode.evaluator(self.fgraph, self._link_with, explainer(request, self), self.report)
        if evaluator is None:
            return self.laid_out(self.linked, arguments)
        n, updates = len(closed.outputs), self._updates(arguments)
        return build_opaque(self.fgraph, evaluator, arguments, n, updates, closed.returns, closed.keys, request.name)

    def laid_out(self, linked: Linked, arguments: Sequence[Argument]) -> MachineProgram:
        """Return the program in which the nodes are computed as ``linked`` says: by kernels of another process, say."""
        closed, request = self._request.closed, self._request
        n, updates = len(closed.outputs), self._updates(arguments)
        return build(
            self.fgraph, linked, arguments, n, updates, closed.returns, closed.keys, request.name, request.allow_gc
        )

    def _updates(self, arguments: Sequence[Argument]) -> list[tuple[list[Any], int]]:
        mapping = self.fgraph.update_mapping or {}
        # Each input with an update has a cell, the default's or the shared variable's.
        return [(cell, out) for out, i in sorted(mapping.items()) if (cell := arguments[i].cell) is not None]

    def _link_with(self, linker: Linker) -> Linked:
        # What has been linked already need not be compiled twice.
        same = linker.compiled == self._request.mode.linker.compiled and not linker.inspects_nodes
        return self.linked if same else _link_with(linker, self.fgraph)


def _close(request: Request, times: CompileTimes, copied: bool) -> FunctionGraph:
    start = perf_counter()
    closed = request.closed
    inputs = [i.variable for i in closed.inputs]
    outputs = [*(o.variable for o in closed.outputs), *(i.update for i in closed.inputs if i.update is not None)]
    if copied:
        outputs = _copies(inputs, outputs)
    fgraph = FunctionGraph(inputs, outputs, clone=False)
    fgraph.name = request.name
    updated = [i for i, spec in enumerate(closed.inputs) if spec.update is not None]
    fgraph.update_mapping = {len(closed.outputs) + k: i for k, i in enumerate(updated)}
    _refuse_inplace(fgraph, request.accept_inplace)
    protected = [v for v, spec in zip(fgraph.inputs, closed.inputs, strict=True) if not is_expendable(spec)]
    replaced = [v for v, spec in zip(fgraph.inputs, closed.inputs, strict=True) if _is_replaced(spec)]
    fgraph.attach_feature(Supervisor(protected, replaced))
    times.packing += perf_counter() - start
    return fgraph


def _copies(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> list[Variable]:
    """Return ``outputs`` computed by nodes of their own from the same inputs and constants, which no graph owns."""
    copies = clone_get_equiv(inputs, outputs, copy_inputs=False)
    for v in copies.values():
        if isinstance(v, Variable) and v.owner is None:
            v.fgraph = None  # an earlier try may not have come to its end
    return [copies[v] for v in outputs]


def _is_replaced(spec: SymbolicInput) -> bool:
    """Return whether a call stores a new value where the old one was, in the host's memory, which can be copied."""
    kept = spec.variable.type.buffer_spec()
    return spec.implicit and spec.update is not None and kept is not None and kept.device == CPU.device


def _refuse_inplace(fgraph: FunctionGraph, accept: bool) -> None:
    for node in fgraph.toposort():
        if not node.op.destroy_map:
            continue
        if accept:
            fgraph.attach_feature(DestroyHandler())
            return
        where = created_at(node.outputs[0])
        raise TypeError(
            f"the graph holds an op that overwrites its input: {node.op}, in {node}"[:300]
            + (f", written at {where}" if where else "")
            + ".\nUse the op that does not work in place: rewriting puts the other one in where that is safe. "
            "Or pass accept_inplace=True."
        )


def _rewrite(request: Request, fgraph: FunctionGraph, times: CompileTimes) -> Report:
    start = perf_counter()
    flags = config.all_given()
    if config.compute_test_value != config.compute_test_value_opt:
        flags["compute_test_value"] = config.compute_test_value_opt
    report: Report = config.call_as_given(flags, lambda: request.mode.rewrite(fgraph, request.rewrite_settings()))
    times.rewriting = perf_counter() - start
    if not report.complete:
        logger.warning("theano: rewriting of %s stopped early: %s", request.name, report.stop)
    return report


def _watch(fgraph: FunctionGraph) -> None:
    if any(node.op.destroy_map for node in fgraph.apply_nodes):
        fgraph.attach_feature(DestroyHandler())


def _protect_results(request: Request, fgraph: FunctionGraph, times: CompileTimes) -> None:
    """Have what a caller or a shared variable gets share no memory that it must not, and order the nodes."""
    insert_deepcopy(fgraph, request.closed.inputs, request.closed.outputs)
    try:
        fgraph.validate()
        times.nodes = len(fgraph.toposort())
    except CycleError:
        raise
    except InconsistencyError as problem:
        raise InconsistencyError(f"{request.name} cannot be computed: {text_of(problem)}") from problem


def _link(request: Request, fgraph: FunctionGraph, times: CompileTimes) -> Linked:
    start = perf_counter()
    before = _seconds_in_compiler()
    # A user who disabled the compiler needs no warning.
    linked = _link_with(request.mode.linker, fgraph, quiet=config.given("cxx") == "")
    times.generating = linked.seconds_generating
    times.compiling = linked.seconds_compiling
    times.compiler = _seconds_in_compiler() - before
    times.linking = perf_counter() - start
    return linked


def _link_with(linker: Linker, fgraph: FunctionGraph, quiet: bool = True) -> Linked:
    nodes = linker.order(fgraph)
    linked = link(nodes, linker, compile_kernels, fgraph.outputs, quiet, compile_blocks, config.check_input)
    linked.run_lazily(config.vm.lazy)
    return linked


def _seconds_in_compiler() -> float:
    unit = sys.modules.get("theano.codegen.unit")
    return float(unit.compile_counts().seconds_compiling) if unit is not None else 0.0


# -- from the cache -------------------------------------------------------------------------------------------

_making = threading.RLock()
"""Held while the graph of a cached program is made after all."""


def _renew_lock() -> None:
    """Another thread may have held the lock when this process was forked."""
    global _making
    _making = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


class CachedProgram:
    """A program that was found in the cache; its graph is made on demand.

    Parameters
    ----------
    request : Request
    serialized : SerializedProgram
        The program as it was found, with all addresses.
    constants : list
        The values of those of the user's graph, which a serialized program knows by number.
    flags : dict
        The flags that were set, for the graph to be rewritten as it would have been then.
    """

    def __init__(
        self, request: Request, serialized: SerializedProgram, constants: Sequence[Any], flags: Mapping[str, str]
    ):
        self._request, self._serialized, self._constants, self._flags = request, serialized, constants, dict(flags)
        self._made: tuple[RewrittenGraph, bool] | None = None
        self._running: dict[int, Op] = {}

    @property
    def is_made(self) -> bool:
        """Whether the rewritten graph was requested."""
        return self._made is not None

    @property
    def graph(self) -> RewrittenGraph:
        """The rewritten graph."""
        return self._graph_and_agreement()[0]

    @property
    def keepalive(self) -> Any:
        """What keeps the machine code of the program loaded."""
        return self._serialized.keepalive

    def program(self, arguments: Sequence[Argument]) -> MachineProgram:
        """Return the program for some arguments."""
        return self._serialized.program(self._request.name, arguments, self._constants, self._careful)

    def kinds_of_nodes(self) -> Mapping[str, int]:
        """Return how many nodes are computed in which way, by the names of the classes of ``runtime.link``."""
        return self._serialized.kinds

    def nodes_in_order(self) -> list[Apply]:
        """Return the node of each instruction.

        None where the graph cannot be made, or where its program is another one than the one that runs.
        """
        try:
            graph, agrees = self._graph_and_agreement()
        except Exception as problem:
            let_signals_through(problem)
            logger.warning("theano: the graph of %s cannot be made again", self._request.name, exc_info=True)
            return []
        return graph.nodes_in_order() if agrees else []

    def ops_in_order(self) -> list[Op]:
        """Return the op of each instruction: one that runs in Python is another object than that of the graph."""
        nodes = self.nodes_in_order()
        ways = self.graph.linked.how if nodes else ()
        running = iter(sorted(self._running.items()))
        return [
            next(running)[1] if isinstance(how, Performed) else node.op for node, how in zip(nodes, ways, strict=True)
        ]

    def _graph_and_agreement(self) -> tuple[RewrittenGraph, bool]:
        """Return the graph, and whether its program is the one that runs.

        They are kept together and only when both are there, so nothing is left of a try that did not end, for
        whatever reason: the next one begins with the graph as it was.
        """
        with _making:
            if self._made is None:
                self._made = config.call_as_given(self._flags, self._make)
            return self._made

    def _make(self) -> tuple[RewrittenGraph, bool]:
        # The seconds are not those that compiling the function took.
        graph = RewrittenGraph.rewrite(self._request, CompileTimes(), copied=True)
        return graph, self._agrees(graph)

    def _agrees(self, graph: RewrittenGraph) -> bool:
        """Return whether the program of a graph is the one that runs: rules may have come since it was kept."""
        # The loader is a compiled module that brings in NumPy: `import theano` does without.
        from theano.runtime.serialized import same_program, serialize

        arguments = self._request.arguments(self._request.containers())
        try:
            again = serialize(graph.program(arguments), graph.linked, arguments, self._constants)
            return same_program(again, self._serialized.text)
        except NoCanonicalForm:
            return False

    def _careful(self, number: int, op: Op) -> CarefulPerform:
        self._running[number] = op
        return CarefulPerform(op, lambda: self._performed(number))

    def _performed(self, number: int) -> Apply | None:
        """Return one of the nodes that run in Python."""
        nodes = self.nodes_in_order()
        ways = zip(nodes, self.graph.linked.how, strict=True) if nodes else ()
        return next(islice((node for node, how in ways if isinstance(how, Performed)), number, None), None)


class CarefulPerform:
    """``op.perform`` on a node that stands for one of the rewritten graph.

    The stand-in has the op and the types. If the computation fails, the error may want to speak of
    names and lines: then the real node is asked.

    Parameters
    ----------
    op : Op
    real : callable
        Returns the real node, or None.
    """

    def __init__(self, op: Op, real: Any):
        self._op, self._real = op, real

    def __call__(self, node: Node, inputs: Sequence[Any], outputs: Sequence[list[Any]]) -> None:
        """Compute."""
        try:
            self._op.perform(node, inputs, outputs)
        except Exception as error:
            let_signals_through(error)
            # What is sent to another process is not sent twice.
            real = None if getattr(self._op, "performs_once", False) else self._real()
            if real is None:
                raise
            try:
                real.op.perform(real, inputs, [[None] for _ in outputs])
            except type(error) as better:
                raise better.with_traceback(better.__traceback__) from None
            raise
