"""``FunctionMaker``: a closed graph becomes a program, which it takes from the cache or makes."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from theano.compile.closed_graph import ClosedGraph, Returns
from theano.compile.inputs import SymbolicInput, SymbolicOutput
from theano.compile.mode import Mode, get_mode
from theano.compile.program_cache import Lookup, keep, look_up
from theano.compile.program_source import CachedProgram, RewrittenGraph, explainer
from theano.compile.request import Request, give_up_overwritten
from theano.compile.shared import Container, SharedVariable
from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.variable import Variable
from theano.loader.schema import MachineProgram
from theano.rewriting import Report
from theano.runtime.failure import Explainer, set_verbosity
from theano.runtime.link import Linked, Linker
from theano.runtime.profile import CompileTimes, ProfileStats
from theano.runtime.program import Argument
from theano.settings import config

if TYPE_CHECKING:
    from theano.runtime.serialized import SerializedProgram


class FunctionMaker:
    """Everything that is decided once about a function; ``executable.make_function`` makes functions of it.

    Parameters
    ----------
    closed : ClosedGraph
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
    source : RewrittenGraph or CachedProgram
        Where the program comes from: a graph that was rewritten, or the cache. The attributes that follow ask it.
    plan : SerializedProgram or None
        The program as it was found in the cache. The attributes that follow are then made on first access.
    fgraph : FunctionGraph
        The rewritten graph: its outputs are those of the function, then the updates.
    rewriting : Report or None
        What rewriting did.
    linked : Linked
        What computes each node.
    """

    def __init__(
        self,
        closed: ClosedGraph,
        mode: Mode | str | None = None,
        accept_inplace: bool = False,
        profile: ProfileStats | None = None,
        name: str = "",
        fgraph: FunctionGraph | None = None,
        times: CompileTimes | None = None,
    ):
        self.mode = get_mode(mode)
        if accept_inplace:
            give_up_overwritten(closed)
        self.inputs: list[SymbolicInput] = closed.inputs
        self.outputs: list[SymbolicOutput] = closed.outputs
        self.returns: Returns = closed.returns
        self.output_keys = closed.keys
        self.shared: list[SharedVariable] = closed.shared
        self.originals: dict[Variable, Variable] = closed.originals
        self.accept_inplace = accept_inplace
        self.profile = profile
        self.name = name
        self.times = times or CompileTimes()
        self._request = Request(closed, self.mode, accept_inplace, name)
        self.lookup: Lookup
        self.source: RewrittenGraph | CachedProgram
        if fgraph is not None:
            self.lookup = Lookup(reason="its graph was rewritten before")
            self.source = RewrittenGraph(self._request, self.times, fgraph)
            return
        self.lookup = found = look_up(self._request, self.times)
        if found.plan is not None:
            self.source = CachedProgram(self._request, found.plan, found.constants, found.flags)
        else:
            self.source = RewrittenGraph.rewrite(self._request, self.times)

    # -- where the program comes from ---------------------------------------------------------------------

    @property
    def expanded_inputs(self) -> list[SymbolicInput]:
        """The inputs, those that stand for shared variables among them."""
        return self.inputs

    @property
    def plan(self) -> SerializedProgram | None:
        """The program as it was found in the cache."""
        return self.lookup.plan

    @property
    def is_made(self) -> bool:
        """Whether the rewritten graph is there, or would be made if it were asked for."""
        return self.source.is_made

    @property
    def fgraph(self) -> FunctionGraph:
        """The rewritten graph."""
        return self.source.graph.fgraph

    @property
    def rewriting(self) -> Report | None:
        """What rewriting did."""
        return self.source.graph.report

    @property
    def linked(self) -> Linked:
        """What computes each node."""
        return self.source.graph.linked

    def nodes_in_order(self) -> list[Apply]:
        """Return the node of each instruction; nothing where that cannot be known any more."""
        return self.source.nodes_in_order()

    @property
    def explainer(self) -> Explainer:
        """What explains a failure."""
        return explainer(self._request, self.source)

    # -- the program --------------------------------------------------------------------------------------

    @property
    def allow_gc(self) -> bool:
        """Whether memory is given back during a call."""
        return self._request.allow_gc

    @property
    def linker(self) -> Linker:
        """How nodes are computed: the mode's linker, which has accepted this graph."""
        linker = copy(self.mode.linker)
        linker.accept(self.fgraph)
        return linker

    @property
    def keepalive(self) -> Any:
        """What keeps the machine code of the program loaded."""
        return self.source.keepalive

    def containers(self) -> list[Container]:
        """Return a container for each input: the shared variable's own, or one with the default value."""
        return self._request.containers()

    def lay_out(self, containers: Sequence[Container]) -> MachineProgram:
        """Return the program for some containers."""
        arguments = self._request.arguments(containers)
        program = self.source.program(arguments)
        if self.lookup.may_be_kept:
            self._keep(program, arguments)
        return program

    def lay_out_linked(self, linked: Linked, containers: Sequence[Container]) -> MachineProgram:
        """Return the program in which the nodes are computed as ``linked`` says, for some containers."""
        return self.source.graph.laid_out(linked, self._request.arguments(containers))

    def _keep(self, program: MachineProgram, arguments: Sequence[Argument]) -> None:
        graph = self.source.graph
        report = graph.report
        if report is None or not report.complete or report.warnings or graph.linked.no_compiler:
            # The next process should repeat the warning, so the program is not kept.
            self.lookup.forget("the compilation warned the user")
            return
        keep(self.lookup, program, graph.linked, arguments)


config.watch("exception_verbosity", set_verbosity)
