"""The request for a compilation: a closed graph, and how it is to be computed."""

from __future__ import annotations

from collections.abc import Sequence

from theano.compile.arguments import ArgumentFilter
from theano.compile.closed_graph import ClosedGraph
from theano.compile.inputs import SymbolicInput
from theano.compile.mode import Mode
from theano.compile.shared import Container, SharedVariable
from theano.graph.op_contract import check_maps
from theano.graph.traverse import toposort, view_roots
from theano.lowering.targets import CPU
from theano.records import record
from theano.rewriting import RewriteSettings
from theano.runtime.program import Argument
from theano.settings import config


@record(frozen=True)
class Request:
    """A closed graph, and how it is to be computed.

    Attributes
    ----------
    closed : ClosedGraph
        The closed graph.
    mode : Mode
    accept_inplace : bool
        Whether the user's graph may hold ops that overwrite their inputs.
    name : str
        What the function is called.
    """

    closed: ClosedGraph
    mode: Mode
    accept_inplace: bool = False
    name: str = ""

    @property
    def allow_gc(self) -> bool:
        """Whether memory is given back during a call."""
        chosen = self.mode.linker.allow_gc
        return bool(config.allow_gc) if chosen is None else chosen

    def rewrite_settings(self) -> RewriteSettings:
        """Return what the flags say about rewriting."""
        return RewriteSettings(
            max_use_ratio=config.optdb.max_use_ratio,
            on_error=config.on_opt_error,
            verbose=config.optimizer_verbose,
            profile=config.profile_optimizer,
            check_stack_trace=config.check_stack_trace,
        )

    def containers(self) -> list[Container]:
        """Return a container for each input: the shared variable's own, or one with the default value."""
        return [_container(spec) for spec in self.closed.inputs]

    def arguments(self, containers: Sequence[Container]) -> list[Argument]:
        """Return where the value of each input comes from, if defaults and shared values are in ``containers``."""
        originals = self.closed.originals
        return [
            Argument(
                spec.variable,
                spec.name,
                cell=cell.storage if spec.implicit or spec.value is not None or spec.update is not None else None,
                implicit=spec.implicit,
                required=not spec.implicit and spec.value is None,
                filter=None if spec.implicit else ArgumentFilter(spec, i, self.name, originals.get(spec.variable)),
                writable=is_expendable(spec),
            )
            for i, (spec, cell) in enumerate(zip(self.closed.inputs, containers, strict=True))
        ]


def give_up_overwritten(closed: ClosedGraph) -> None:
    """Let those arguments be overwritten that ops of the user's own graph overwrite: ``accept_inplace`` says so.

    Rules may do the same then. A shared variable that is overwritten, and has no update, gets the result as its new
    value; the promises about updates hold for it. What views one is not given up, nor is a default value.
    """
    given = {spec.variable: spec for spec in closed.inputs if not spec.implicit}
    shared = {spec.variable: spec for spec in closed.inputs if spec.implicit and spec.update is None}
    outputs = [*(o.variable for o in closed.outputs), *(i.update for i in closed.inputs if i.update is not None)]
    for node in toposort(outputs):
        check_maps(node)
        for number, overwritten in node.op.destroy_map.items():
            for i in overwritten:
                v = node.inputs[i]
                for root in view_roots(v):
                    if root in given:
                        given[root].mutable = given[root].borrow = True
                if v in shared and number is not None and node.outputs[number].type == v.type:
                    # What the next one overwrites is the memory of this result.
                    shared[node.outputs[number]] = spec = shared.pop(v)
                    spec.update = node.outputs[number]


def is_expendable(spec: SymbolicInput) -> bool:
    """Return whether the memory of an input may be overwritten: where the user says so and no default is at stake.

    A default that each call replaces is not at stake, if it is an object that the machine knows nothing of, such as the
    state of random numbers; arrays that are replaced have rules of their own (:mod:`theano.runtime.updates`). Memory
    of a device never is: there, new memory costs no more than old.
    """
    if spec.implicit or not spec.mutable or spec.variable.type.device != CPU.device:
        return False
    return spec.value is None or (spec.update is not None and spec.variable.type.buffer_spec() is None)


def _container(spec: SymbolicInput) -> Container:
    value = spec.value
    if isinstance(value, SharedVariable):
        return value.container
    if isinstance(value, Container):
        return value
    container = Container(spec.variable, [None], strict=spec.strict, allow_downcast=spec.allow_downcast, name=spec.name)
    if value is not None:
        container.value = value
    return container
