"""``FunctionMaker``: a closed graph becomes a function. Rewrite, protect, link, lay out."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from time import perf_counter

from theano.codegen.kernel import Kernel
from theano.compile.aliasing import insert_deepcopy
from theano.compile.arguments import ArgumentFilter
from theano.compile.inputs import SymbolicInput, SymbolicOutput
from theano.compile.mode import Mode, get_mode
from theano.compile.pack import Packed, Returns
from theano.compile.shared import Container, SharedVariable
from theano.errors import CycleError, InconsistencyError
from theano.graph.aliasing import DestroyHandler
from theano.graph.features import Supervisor
from theano.graph.fgraph import FunctionGraph
from theano.graph.source import created_at
from theano.graph.variable import Variable
from theano.rewriting import Report, RewriteSettings, rewrite
from theano.runtime.link import Linked, Linker, link
from theano.runtime.profile import CompileTimes, ProfileStats
from theano.runtime.program import Argument, Program, build
from theano.settings import config

logger = logging.getLogger("theano")


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
    fgraph : FunctionGraph
        The rewritten graph: its outputs are those of the function, then the updates.
    inputs : list of SymbolicInput
        One for each input of ``fgraph``.
    outputs : list of SymbolicOutput
    mode : Mode
    rewriting : Report or None
        What rewriting did.
    linked : Linked
        What computes each node.
    program : Program
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
        self.rewriting: Report | None = None
        if fgraph is None:
            self.fgraph = self._close()
            self._rewrite()
        else:
            self.fgraph = fgraph
            _watch(fgraph)
        self.linked = self._link()

    # -- the graph --------------------------------------------------------------------------------------

    def _close(self) -> FunctionGraph:
        start = perf_counter()
        updates = [i.update for i in self.inputs if i.update is not None]
        fgraph = FunctionGraph(
            [i.variable for i in self.inputs], [*(o.variable for o in self.outputs), *updates], clone=False
        )
        updated = [i for i, spec in enumerate(self.inputs) if spec.update is not None]
        fgraph.update_mapping = {len(self.outputs) + k: i for k, i in enumerate(updated)}
        _refuse_inplace(fgraph, self.accept_inplace)
        protected = [v for v, spec in zip(fgraph.inputs, self.inputs, strict=True) if not _expendable(spec)]
        replaced = [v for v, spec in zip(fgraph.inputs, self.inputs, strict=True) if _is_replaced(spec)]
        fgraph.attach_feature(Supervisor(protected, replaced))
        self.times.packing += perf_counter() - start
        return fgraph

    def _rewrite(self) -> None:
        start = perf_counter()
        fgraph = self.fgraph
        settings = RewriteSettings(
            max_use_ratio=config.optdb.max_use_ratio,
            on_error=config.on_opt_error if config.on_opt_error != "pdb" else "raise",
        )
        report = self.rewriting = rewrite(fgraph, self.mode.optimizer, settings)
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
            raise InconsistencyError(f"{self.name} cannot be computed: {problem}") from problem

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

    def _link(self) -> Linked:
        start = perf_counter()
        # Who has switched the compiler off needs no telling.
        quiet = config.given("cxx") == ""
        linked = link(self.fgraph.toposort(), self.linker, _compile, self.fgraph.outputs, quiet)
        self.times.generating = linked.seconds_generating
        self.times.compiling = linked.seconds_compiling
        self.times.linking = perf_counter() - start
        return linked

    def containers(self) -> list[Container]:
        """Return a container for each input: the shared variable's own, or one with the default value."""
        return [_container(spec) for spec in self.inputs]

    def lay_out(self, containers: Sequence[Container]) -> Program:
        """Return the program for some containers."""
        arguments = [
            Argument(
                variable,
                spec.name,
                cell=cell.storage if spec.implicit or spec.value is not None or spec.update is not None else None,
                implicit=spec.implicit,
                required=not spec.implicit and spec.value is None,
                filter=None if spec.implicit else ArgumentFilter(spec, i, self.name, self.originals.get(variable)),
                writable=_expendable(spec),
            )
            for i, (variable, spec, cell) in enumerate(zip(self.fgraph.inputs, self.inputs, containers, strict=True))
        ]
        mapping = self.fgraph.update_mapping or {}
        updates = [(containers[i].storage, out) for out, i in sorted(mapping.items())]
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


def _compile(kernels: Sequence[Kernel]) -> Sequence[int]:
    # All that speaks to a compiler and to the disk: `import theano` does without.
    from theano.cache.store import CacheSettings
    from theano.codegen.unit import compile_kernels
    from theano.toolchain.select import ToolchainSettings

    return compile_kernels(kernels, ToolchainSettings.from_config(config), CacheSettings.from_config(config))


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


