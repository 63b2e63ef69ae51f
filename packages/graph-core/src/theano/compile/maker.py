"""``FunctionMaker``: a closed graph becomes a function. Rewrite, protect, link, lay out."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

from theano.compile.aliasing import insert_deepcopy
from theano.compile.arguments import ArgumentFilter
from theano.compile.compiling import compile_blocks, compile_kernels
from theano.compile.inputs import SymbolicInput, SymbolicOutput
from theano.compile.mode import Mode, get_mode
from theano.compile.pack import Packed, Returns
from theano.compile.plans import CarefulPerform, Lookup, keep, look_up
from theano.compile.shared import Container, SharedVariable
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
from theano.rewriting import Report, RewriteSettings
from theano.runtime.failure import Explainer, set_verbosity
from theano.runtime.link import Linked, Linker, Performed, link
from theano.runtime.profile import CompileTimes, ProfileStats
from theano.runtime.program import Argument, Program, build, in_slots
from theano.runtime.stepwise import Evaluator, build_opaque
from theano.settings import config

if TYPE_CHECKING:
    from theano.runtime.plan import Plan

logger = logging.getLogger("theano")

_making = threading.RLock()
"""Held while a graph that a plan has saved is made after all."""


def _renew_lock() -> None:
    """Another thread may have held the lock when this process was forked."""
    global _making
    _making = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


class FunctionMaker:
    """Everything that is decided once about a function; ``executable.make_function`` makes functions of it.

    Parameters
    ----------
    packed : Packed
        The closed graph.
    mode : Mode, str or None
    accept_inplace : bool
        Whether the user's graph may hold ops that overwrite their inputs.
    profile : ProfileStats or None
    name : str
        What the function is called.
    fgraph : FunctionGraph, optional
        The graph as it was rewritten before; it is not rewritten again.

    Attributes
    ----------
    inputs : list of SymbolicInput
        One for each input of ``fgraph``.
    outputs : list of SymbolicOutput
    mode : Mode
    plan : Plan or None
        The program as it was found in the cache. The attributes that follow are then made when somebody asks.
    fgraph : FunctionGraph
        The rewritten graph: its outputs are those of the function, then the updates.
    rewriting : Report or None
        What rewriting did.
    linked : Linked
        What computes each node.
    """

    def __init__(
        self,
        packed: Packed,
        mode: Mode | str | None = None,
        accept_inplace: bool = False,
        profile: ProfileStats | None = None,
        name: str = "",
        fgraph: FunctionGraph | None = None,
        times: CompileTimes | None = None,
    ):
        self.mode = get_mode(mode)
        self.inputs: list[SymbolicInput] = packed.inputs
        self.outputs: list[SymbolicOutput] = packed.outputs
        self.returns: Returns = packed.returns
        self.output_keys = packed.keys
        self.shared: list[SharedVariable] = packed.shared
        self.originals: dict[Variable, Variable] = packed.originals
        self.accept_inplace = accept_inplace
        self.profile = profile
        self.name = name
        self.times = times or CompileTimes()
        self._fgraph = fgraph
        self._report: Report | None = None
        self._linked: Linked | None = None
        self._as_run = True
        self.lookup = Lookup(reason="its graph was rewritten before")
        if fgraph is None:
            settings = self._rewrite_settings()
            self.lookup = look_up(packed, self.mode, settings, accept_inplace, self.allow_gc, self.times)
        if self.plan is None:
            self._make()

    @property
    def plan(self) -> Plan | None:
        """The program as it was found in the cache."""
        return self.lookup.plan

    # -- what a plan makes superfluous --------------------------------------------------------------------

    @property
    def is_made(self) -> bool:
        """Whether the rewritten graph is there, or would be made if it were asked for."""
        return self._linked is not None

    @property
    def fgraph(self) -> FunctionGraph:
        """The rewritten graph."""
        self._make_later()
        assert self._fgraph is not None
        return self._fgraph

    @property
    def rewriting(self) -> Report | None:
        """What rewriting did."""
        self._make_later()
        return self._report

    @property
    def linked(self) -> Linked:
        """What computes each node."""
        self._make_later()
        assert self._linked is not None
        return self._linked

    def _make(self) -> None:
        if self._fgraph is None:
            self._fgraph = self._close()
            self._rewrite(self._fgraph)
        else:
            _watch(self._fgraph)
        self._linked = self._link(self._fgraph)

    def _make_later(self) -> None:
        """Rewrite and link now what a plan has saved so far, as it would have been done then.

        Nothing is kept of a try that did not end, for whatever reason: the next one begins with the graph as it was.
        """
        with _making:
            if self._linked is None:
                times, self.times = self.times, CompileTimes()
                try:
                    config.call_as_given(self.lookup.flags, self._make_and_compare)
                except BaseException:
                    self._fgraph = self._report = self._linked = None
                    raise
                finally:
                    self.times = times

    def _make_and_compare(self) -> None:
        self._make()
        self._as_run = self._agrees()

    def _agrees(self) -> bool:
        """Return whether the program of the graph is the one that runs: rules may have come since it was kept."""
        # The loader is a compiled module that brings in NumPy: `import theano` does without.
        from theano.runtime.plan import freeze, same_program

        assert self.plan is not None and self._linked is not None
        arguments = self._arguments(self.containers())
        try:
            again = freeze(self._build(arguments), self._linked, arguments, self.lookup.constants)
            return same_program(again, self.plan.text)
        except NoCanonicalForm:
            return False

    def kinds_of_nodes(self) -> Mapping[str, int]:
        """Return how many nodes are computed in which way, by the names of the classes of ``runtime.link``."""
        if self.plan is not None:
            return self.plan.kinds
        return Counter(type(how).__name__ for how in self.linked.how)

    def nodes_in_order(self) -> list[Apply]:
        """Return the node of each instruction; nothing where that cannot be known any more."""
        try:
            nodes = self.linked.nodes
        except Exception as problem:
            let_signals_through(problem)
            logger.warning("theano: the graph of %s cannot be made again", self.name, exc_info=True)
            return []
        return nodes if self._as_run else []

    def _performed(self, number: int) -> Apply | None:
        """Return one of the nodes that run in Python."""
        ways = zip(self.nodes_in_order(), self.linked.how, strict=False) if self.nodes_in_order() else ()
        return next(islice((node for node, how in ways if isinstance(how, Performed)), number, None), None)

    # -- the graph --------------------------------------------------------------------------------------

    def _close(self) -> FunctionGraph:
        start = perf_counter()
        inputs = [i.variable for i in self.inputs]
        outputs = [*(o.variable for o in self.outputs), *(i.update for i in self.inputs if i.update is not None)]
        if self.plan is not None:
            outputs = _copies(inputs, outputs)
        fgraph = FunctionGraph(inputs, outputs, clone=False)
        updated = [i for i, spec in enumerate(self.inputs) if spec.update is not None]
        fgraph.update_mapping = {len(self.outputs) + k: i for k, i in enumerate(updated)}
        _refuse_inplace(fgraph, self.accept_inplace)
        protected = [v for v, spec in zip(fgraph.inputs, self.inputs, strict=True) if not _expendable(spec)]
        replaced = [v for v, spec in zip(fgraph.inputs, self.inputs, strict=True) if _is_replaced(spec)]
        fgraph.attach_feature(Supervisor(protected, replaced))
        self.times.packing += perf_counter() - start
        return fgraph

    def _rewrite_settings(self) -> RewriteSettings:
        return RewriteSettings(
            max_use_ratio=config.optdb.max_use_ratio,
            on_error=config.on_opt_error,
            verbose=config.optimizer_verbose,
            profile=config.profile_optimizer,
            check_stack_trace=config.check_stack_trace,
        )

    def _rewrite(self, fgraph: FunctionGraph) -> None:
        start = perf_counter()
        flags = config.all_given()
        if config.compute_test_value != config.compute_test_value_opt:
            flags["compute_test_value"] = config.compute_test_value_opt
        report = config.call_as_given(flags, lambda: self.mode.rewrite(fgraph, self._rewrite_settings()))
        self._report = report
        self.times.rewriting = perf_counter() - start
        if not report.complete:
            logger.warning("theano: rewriting of %s stopped early: %s", self.name, report.stop)
        _watch(fgraph)
        insert_deepcopy(fgraph, self.inputs, self.outputs)
        try:
            fgraph.validate()
            self.times.nodes = len(fgraph.toposort())
        except CycleError:
            raise
        except InconsistencyError as problem:
            raise InconsistencyError(f"{self.name} cannot be computed: {text_of(problem)}") from problem

    # -- the program --------------------------------------------------------------------------------------

    @property
    def allow_gc(self) -> bool:
        """Whether memory is given back during a call."""
        chosen = self.mode.linker.allow_gc
        return bool(config.allow_gc) if chosen is None else chosen

    @property
    def linker(self) -> Linker:
        """How nodes are computed."""
        return self.mode.linker

    def _link(self, fgraph: FunctionGraph) -> Linked:
        start = perf_counter()
        # Who has switched the compiler off needs no telling.
        quiet = config.given("cxx") == ""
        before = _seconds_in_compiler()
        linked = self._link_with(self.linker, fgraph, quiet)
        self.times.generating = linked.seconds_generating
        self.times.compiling = linked.seconds_compiling
        self.times.compiler = _seconds_in_compiler() - before
        self.times.linking = perf_counter() - start
        return linked

    def _link_with(self, linker: Linker, fgraph: FunctionGraph, quiet: bool = True) -> Linked:
        linked = link(
            fgraph.toposort(), linker, compile_kernels, fgraph.outputs, quiet, compile_blocks, config.check_input
        )
        linked.run_lazily(config.vm.lazy)
        return linked

    def containers(self) -> list[Container]:
        """Return a container for each input: the shared variable's own, or one with the default value."""
        return [_container(spec) for spec in self.inputs]

    def lay_out(self, containers: Sequence[Container]) -> Program:
        """Return the program for some containers."""
        arguments = self._arguments(containers)
        if self.plan is not None:
            return self.plan.program(self.name, arguments, self.lookup.constants, self._careful)
        program = self._build(arguments)
        if self.lookup.key:
            self._keep(program, arguments)
        return program

    @property
    def keepalive(self) -> Any:
        """What keeps the machine code of the program loaded."""
        return self.linked if self.plan is None else self.plan.keepalive

    def _careful(self, number: int, op: Op) -> CarefulPerform:
        return CarefulPerform(op, lambda: self._performed(number))

    def _keep(self, program: Program, arguments: Sequence[Argument]) -> None:
        report, linked = self._report, self.linked
        if report is None or not report.complete or report.warnings or linked.no_compiler:
            # The next process should be told of this, too.
            self.lookup.key, self.lookup.reason = "", "something was amiss that the user was told about"
            return
        keep(self.lookup, program, linked, arguments)

    def _arguments(self, containers: Sequence[Container]) -> list[Argument]:
        return [
            Argument(
                spec.variable,
                spec.name,
                cell=cell.storage if spec.implicit or spec.value is not None or spec.update is not None else None,
                implicit=spec.implicit,
                required=not spec.implicit and spec.value is None,
                filter=None
                if spec.implicit
                else ArgumentFilter(spec, i, self.name, self.originals.get(spec.variable)),
                writable=_expendable(spec),
            )
            for i, (spec, cell) in enumerate(zip(self.inputs, containers, strict=True))
        ]

    @property
    def explainer(self) -> Explainer:
        """What explains a failure."""
        return Explainer(self.name, self.nodes_in_order, self._in_slots)

    def _in_slots(self) -> Sequence[Variable]:
        """Return the variable of each slot of the machine; nothing where that cannot be known any more."""
        nodes = self.nodes_in_order()
        return in_slots([spec.variable for spec in self.inputs], nodes, self.fgraph.outputs) if nodes else ()

    def _evaluator(self) -> Evaluator | None:
        """Return what runs the graph where it is not the machine."""

        def link_with(linker: Linker) -> Linked:
            # What has been linked already need not be compiled twice.
            same = linker.compiled == self.linker.compiled and not linker.looks
            return self.linked if same else self._link_with(linker, self.fgraph)

        found: Evaluator | None = self.mode.evaluator(self.fgraph, link_with, self.explainer, self._report)
        return found

    def _build(self, arguments: Sequence[Argument]) -> Program:
        mapping = self.fgraph.update_mapping or {}
        # Each input with an update has a cell, the default's or the shared variable's.
        updates = [(cell, out) for out, i in sorted(mapping.items()) if (cell := arguments[i].cell) is not None]
        evaluator = self._evaluator()
        if evaluator is not None:
            return build_opaque(
                self.fgraph, evaluator, arguments, len(self.outputs), updates, self.returns, self.output_keys, self.name
            )
        return build(
            self.fgraph,
            self.linked,
            arguments,
            len(self.outputs),
            updates,
            self.returns,
            self.output_keys,
            self.name,
            self.allow_gc,
        )


def _copies(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> list[Variable]:
    """Return ``outputs`` computed by nodes of their own from the same inputs and constants, which no graph owns."""
    copies = clone_get_equiv(inputs, outputs, copy_inputs=False)
    for v in copies.values():
        if isinstance(v, Variable) and v.owner is None:
            v.fgraph = None  # an earlier try may not have come to its end
    return [copies[v] for v in outputs]  # type: ignore[misc]


def _seconds_in_compiler() -> float:
    unit = sys.modules.get("theano.codegen.unit")
    return float(unit.compile_counts().seconds_compiling) if unit is not None else 0.0


def _expendable(spec: SymbolicInput) -> bool:
    """Return whether the memory of an input may be overwritten: where the user says so and no default is at stake."""
    return spec.mutable and not spec.implicit and spec.value is None


def _is_replaced(spec: SymbolicInput) -> bool:
    """Return whether a call stores a new value where the old one was, in memory that the machine can copy."""
    return spec.implicit and spec.update is not None and spec.variable.type.buffer_spec() is not None


def _watch(fgraph: FunctionGraph) -> None:
    if any(node.op.destroy_map for node in fgraph.apply_nodes):
        fgraph.attach_feature(DestroyHandler())


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


def _container(spec: SymbolicInput) -> Container:
    value = spec.value
    if isinstance(value, SharedVariable):
        return value.container
    if isinstance(value, Container):
        return value
    container = Container(
        spec.variable, [None], strict=spec.strict, allow_downcast=spec.allow_downcast, name=spec.name
    )
    if value is not None:
        container.value = value
    return container


config.watch("exception_verbosity", set_verbosity)
