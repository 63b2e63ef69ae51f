"""User-defined graph rewriters: classes and functions that change a whole graph, and ways to combine them.

A graph rewriter has ``apply(fgraph)``, which changes a graph, and ``add_requirements(fgraph)``, which attaches what
that needs; ``optimize`` does both. Where one is registered it becomes a pass
(:func:`theano.rewriting.userdefined.adapt.as_pass`). Inside a compilation it works in the context of that: limits,
reports, history and what happens to a rule that fails are the compilation's.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, TextIO

from theano.errors import MethodNotDefined
from theano.graph.apply import Apply
from theano.graph.features import Feature
from theano.graph.fgraph import FunctionGraph
from theano.graph.signals import let_signals_through
from theano.graph.source import tracing
from theano.graph.variable import Variable
from theano.records import replace
from theano.rewriting.context import Context, Pass, current
from theano.rewriting.drive import attempt, fixpoint, prepare, walk
from theano.rewriting.merge import merge
from theano.rewriting.rule import Rule
from theano.rewriting.userdefined.adapt import as_pass, as_rule, name_of
from theano.rewriting.userdefined.node_rewriters import LocalOptGroup, require_destroy_handler
from theano.rewriting.userdefined.profiles import print_profile

if TYPE_CHECKING:
    from theano.rewriting.userdefined.node_rewriters import FromFunctionLocalOptimizer, LocalOptimizer

logger = logging.getLogger("theano")

#: ``(error, optimizer, replacements, rule, node)``
FailureCallback = Callable[..., Any]


class Optimizer:
    """Something that changes a whole graph. Subclasses define :meth:`apply`.

    Examples
    --------
    >>> from theano.graph import FunctionGraph, Op, generic
    >>> class Not(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> class NotNot(Optimizer):
    ...     def apply(self, fgraph):
    ...         for node in fgraph.toposort():
    ...             inner = node.inputs[0].owner
    ...             if node in fgraph.apply_nodes and inner is not None and inner.op == node.op:
    ...                 fgraph.replace_validate(node.outputs[0], inner.inputs[0], reason="not_not")
    >>> x = generic("x")
    >>> fgraph = FunctionGraph([x], [Not()(Not()(x))])
    >>> NotNot().optimize(fgraph)
    >>> fgraph
    [x]
    """

    name: str | None = None

    def apply(self, fgraph: FunctionGraph) -> Any:
        """Change ``fgraph``."""
        raise MethodNotDefined("apply", type(self), type(self).__name__)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach the features that :meth:`apply` needs."""

    def optimize(self, fgraph: FunctionGraph, *args: Any, **kwargs: Any) -> Any:
        """Attach what is needed and change ``fgraph``; return what :meth:`apply` returns."""
        self.add_requirements(fgraph)
        return self.apply(fgraph, *args, **kwargs)

    def __call__(self, fgraph: FunctionGraph) -> Any:
        """Return the same as :meth:`optimize`."""
        return self.optimize(fgraph)

    def __str__(self) -> str:
        return self.name or type(self).__name__

    def print_summary(self, stream: TextIO | None = None, level: int = 0, depth: int = -1) -> None:
        """Print what it is, and what it is made of."""
        print(f"{' ' * level}{type(self).__name__} {self.name or ''} id={id(self)}", file=stream or sys.stdout)
        if depth != 0:
            for part in self._parts():
                show = getattr(part, "print_summary", None)
                if show is not None:
                    show(stream, level + 2, depth - 1)
                else:
                    print(f"{' ' * (level + 2)}{part!r}", file=stream or sys.stdout)

    @staticmethod
    def print_profile(stream: TextIO, prof: Any, level: int = 0) -> None:
        """Print what :meth:`optimize` returned, if it is a profile."""
        print_profile(stream, prof, level)

    def _parts(self) -> Sequence[Any]:
        return ()


class FromFunctionOptimizer(Optimizer):
    """An optimizer written as a function of a graph; :func:`optimizer` makes it."""

    def __init__(self, fn: Callable[[FunctionGraph], Any], requirements: Iterable[Callable[[FunctionGraph], Any]] = ()):
        self.fn, self.requirements = fn, tuple(requirements)
        self.name = self.__name__ = fn.__name__
        self.__doc__, self.__wrapped__ = fn.__doc__, fn

    def apply(self, fgraph: FunctionGraph) -> Any:
        """Call the function."""
        return self.fn(fgraph)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach what was declared."""
        for require in self.requirements:
            require(fgraph)


def optimizer(f: Callable[[FunctionGraph], Any]) -> FromFunctionOptimizer:
    """Declare an optimizer written as a function of a graph.

    Examples
    --------
    >>> @optimizer
    ... def look(fgraph):
    ...     print(len(fgraph.apply_nodes), "nodes")
    >>> from theano.graph import FunctionGraph, generic
    >>> x = generic("x")
    >>> look.optimize(FunctionGraph([x], [x]))
    0 nodes
    """
    return FromFunctionOptimizer(f)


def inplace_optimizer(f: Callable[[FunctionGraph], Any]) -> FromFunctionOptimizer:
    """Declare an optimizer that puts ops in that overwrite their inputs: the graph watches over memory first."""
    return FromFunctionOptimizer(f, (require_destroy_handler,))


# -- where they work -----------------------------------------------------------------------------------------


class _Standalone(Context):
    """The context of an optimizer that runs by hand: its failures are the caller's."""

    def __init__(self, callback: FailureCallback | None, runner: Any):
        super().__init__()
        self._callback, self._runner = callback, runner

    def failed(self, rule: Rule, node: Apply, error: BaseException) -> None:
        """Hand the failure to whom was named for it, or let it through."""
        if self._callback is None:
            raise error
        self._callback(error, self._runner, [(v, None) for v in node.outputs], rule, node)


@contextlib.contextmanager
def working(fgraph: FunctionGraph, runner: Any, callback: FailureCallback | None = None) -> Iterator[Context]:
    """Give ``runner`` the context of the compilation around it, or one of its own."""
    around = current.get()
    if around is not None and callback is None:
        yield around
        return
    context = _Standalone(callback, runner)
    context.report.name = str(runner)
    fgraph.attach_feature(context.provenance)
    untraced = tracing.untraced
    try:
        current.set(context)
        tracing.untraced = True
        yield context
    finally:
        tracing.untraced = untraced
        current.set(around)
        fgraph.remove_feature(context.provenance)


# -- one after the other -------------------------------------------------------------------------------------


class SeqOptimizer(Optimizer, list[Any]):
    """Optimizers one after the other. It is a list of them.

    Parameters
    ----------
    *opts : Optimizer
        A single list is taken, too.
    failure_callback : callable, optional
        Takes the error, this and the optimizer that failed; the next one follows. Without it the error goes to the
        caller.
    """

    def __init__(self, *opts: Any, failure_callback: FailureCallback | None = None, name: str | None = None):
        if len(opts) == 1 and isinstance(opts[0], (list, tuple)):
            opts = tuple(opts[0])
        list.__init__(self, opts)
        self.failure_callback, self.name = failure_callback, name

    def apply(self, fgraph: FunctionGraph) -> tuple[Any, ...]:
        """Use all of them.

        Returns
        -------
        tuple
            This; the seconds of each; those of checks and of callbacks (None: they are not measured); how many nodes
            there were, and are; what each returned; again checks, by each; how many nodes there were and are for each;
            again callbacks, by feature.
        """
        seconds: list[float] = []
        found: list[Any] = []
        sizes: list[tuple[int, int]] = []
        before = len(fgraph.apply_nodes)
        for opt in self:
            size, start = len(fgraph.apply_nodes), perf_counter()
            try:
                found.append(opt.optimize(fgraph))
                seconds.append(perf_counter() - start)
                sizes.append((size, len(fgraph.apply_nodes)))
            except Exception as error:
                let_signals_through(error)
                if self.failure_callback is None:
                    raise
                self.failure_callback(error, self, opt)
        return self, seconds, None, None, before, len(fgraph.apply_nodes), found, [], sizes, {}

    @staticmethod
    def warn(exc: BaseException, self: Any, optimizer: Any) -> None:
        """Report a failure in the log; a ``failure_callback``."""
        logger.error("SeqOptimizer apply %s", optimizer)
        logger.error("the error was %s: %s", type(exc).__name__, exc, exc_info=exc)

    def _parts(self) -> Sequence[Any]:
        return list(self)

    def __hash__(self) -> int:  # type: ignore[override]  # a list has none
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __repr__(self) -> str:
        return f"SeqOpt({', '.join(map(str, self))})"

    def __str__(self) -> str:
        return self.name or repr(self)


# -- rules for nodes -----------------------------------------------------------------------------------------


class NavigatorOptimizer(Optimizer):
    """Base of optimizers that show nodes to a rule. Subclasses define :meth:`apply` by :meth:`process_node`.

    Parameters
    ----------
    local_opt : LocalOptimizer or Rule
    ignore_newtrees : bool or 'auto'
        Whether nodes that come new are passed over. ``'auto'``: unless the rule says so by an attribute ``reentrant``.
    failure_callback : callable, optional
        Takes the error, this, the replacements, the rule and the node; the next node follows. Without it the error goes
        to the caller.
    """

    def __init__(
        self, local_opt: Any, ignore_newtrees: bool | str = "auto", failure_callback: FailureCallback | None = None
    ):
        self.local_opt = local_opt
        self._rule = as_rule(local_opt)
        self.name = getattr(local_opt, "name", None) or self._rule.name
        if ignore_newtrees == "auto":
            ignore_newtrees = not getattr(local_opt, "reentrant", True)
        self.ignore_newtrees = ignore_newtrees
        self.failure_callback = failure_callback

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach what the rule needs."""
        prepare(fgraph, [self._rule])

    def process_node(self, fgraph: FunctionGraph, node: Apply, lopt: Any = None) -> bool:
        """Show one node to the rule (or to ``lopt``); return whether the graph changed."""
        with working(fgraph, self, self.failure_callback) as context:
            return attempt(fgraph, node, self._rule if lopt is None else as_rule(lopt), context)

    def attach_updater(
        self,
        fgraph: FunctionGraph,
        importer: Callable[[Apply], Any] | None,
        pruner: Callable[[Apply], Any] | None,
        chin: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Feature | None:
        """Call ``importer`` with nodes that come, ``pruner`` with those that go, ``chin`` at changes of inputs.

        Returns
        -------
        Feature or None
            The listener; :meth:`detach_updater` removes it. None if new nodes are ignored.
        """
        if self.ignore_newtrees:
            importer = None
        if importer is None and pruner is None:
            return None
        updater = Updater(importer, pruner, chin, name)
        fgraph.attach_feature(updater)
        return updater

    def detach_updater(self, fgraph: FunctionGraph, u: Feature | None) -> None:
        """Listen no more."""
        if u is not None:
            fgraph.remove_feature(u)

    @staticmethod
    def warn(exc: BaseException, nav: Any, repl_pairs: Any, local_opt: Any, node: Apply) -> None:
        """Report a failure in the log; a ``failure_callback``."""
        logger.error("Optimization failure due to: %s", local_opt)
        logger.error("node: %s", node, exc_info=exc)

    warn_inplace = warn

    @staticmethod
    def warn_ignore(exc: BaseException, nav: Any, repl_pairs: Any, local_opt: Any, node: Apply) -> None:
        """Do nothing about a failure; a ``failure_callback``."""

    def _parts(self) -> Sequence[Any]:
        return [self.local_opt]


class Updater(Feature):
    """Calls functions when a node comes, goes, or gets another input."""

    def __init__(self, importer: Any, pruner: Any, chin: Any, name: str | None):
        self._importer, self._pruner, self._chin, self.name = importer, pruner, chin, name

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Call the first."""
        if self._importer is not None:
            self._importer(node)

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Call the second."""
        if self._pruner is not None:
            self._pruner(node)

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | str, i: int, r: Variable, new_r: Variable, reason: Any = None
    ) -> None:
        """Call the third."""
        if self._chin is not None:
            self._chin(node, i, r, new_r, reason)


class TopoOptimizer(NavigatorOptimizer):
    """Shows each node to a rule once, in topological order.

    Parameters
    ----------
    local_opt : LocalOptimizer or Rule
    order : 'in_to_out' or 'out_to_in'
    ignore_newtrees : bool
        Pass over the nodes that come new.
    failure_callback : callable, optional
    """

    def __init__(
        self,
        local_opt: Any,
        order: str = "in_to_out",
        ignore_newtrees: bool | str = False,
        failure_callback: FailureCallback | None = None,
        name: str | None = None,
    ):
        if order not in ("in_to_out", "out_to_in"):
            raise ValueError(f"order is {order!r}; it must be 'in_to_out' or 'out_to_in'")
        super().__init__(local_opt, ignore_newtrees, failure_callback)
        self.order = order
        self.name = name or self.name

    def apply(self, fgraph: FunctionGraph, start_from: Any = None) -> tuple[Any, ...]:
        """Walk over the graph.

        Returns
        -------
        tuple
            This; how often the rule was used; how many nodes there were, and are; the seconds of finding the order,
            which belong to the next, those of the walk, and those of callbacks (None: they are not measured).
        """
        nodes, start = len(fgraph.apply_nodes), perf_counter()
        with working(fgraph, self, self.failure_callback) as context:
            before = sum(context.report.uses.values())
            walk(fgraph, [self._rule], context, self.order, fresh=not self.ignore_newtrees)
            changes = sum(context.report.uses.values()) - before
        return self, changes, nodes, len(fgraph.apply_nodes), 0.0, perf_counter() - start, None


# The documentation prints this class under the name it always had.
TopoOptimizer.__module__ = "theano.gof.opt"


class EquilibriumOptimizer(NavigatorOptimizer):
    """Uses rules and optimizers until none of them changes anything.

    Parameters
    ----------
    optimizers : list of LocalOptimizer, Rule or Optimizer
    failure_callback : callable, optional
    ignore_newtrees, tracks_on_change_inputs : bool
        Without effect: what comes new, and what a change reaches, is always looked at again.
    max_use_ratio : float, optional
        How often one rule may be used, per node of the graph.
    final_optimizers, cleanup_optimizers : list of Optimizer, optional
        What runs between two looks at the whole graph.
    """

    def __init__(
        self,
        optimizers: Sequence[Any],
        failure_callback: FailureCallback | None = None,
        ignore_newtrees: bool = True,
        tracks_on_change_inputs: bool = False,
        max_use_ratio: float | None = None,
        final_optimizers: Sequence[Any] | None = None,
        cleanup_optimizers: Sequence[Any] | None = None,
    ):
        self.optimizers = list(optimizers)
        rewriters = [o for o in self.optimizers if isinstance(o, Optimizer)]
        self._rules = [as_rule(o) for o in self.optimizers if not isinstance(o, Optimizer)]
        self._passes = [*rewriters, *(final_optimizers or ()), *(cleanup_optimizers or ())]
        self.max_use_ratio, self.failure_callback = max_use_ratio, failure_callback
        self.ignore_newtrees, self.local_opt = ignore_newtrees, None

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach what the rules and optimizers need."""
        prepare(fgraph, self._rules)
        for opt in self._passes:
            opt.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph, start_from: Any = None) -> tuple[Any, ...]:
        """Go on until nothing changes.

        Returns
        -------
        tuple
            This; in lists of one element, for there is one loop, its seconds and how often each rule was used; how many
            nodes there were, are, and were before or after at most. What else one may look for there is not
            measured: empty lists and dictionaries.
        """
        passes = [(str(o), as_pass(o)) for o in self._passes]
        nodes, start = len(fgraph.apply_nodes), perf_counter()
        with working(fgraph, self, self.failure_callback) as context:
            before = dict(context.report.uses)
            settings = context.settings
            if self.max_use_ratio is not None:
                context.settings = replace(settings, max_use_ratio=float(self.max_use_ratio), spare_uses=0)
            try:
                fixpoint(fgraph, self._rules, context, passes)
            finally:
                context.settings = settings
            uses = {rule: context.report.uses.get(rule.name, 0) - before.get(rule.name, 0) for rule in self._rules}
        left = len(fgraph.apply_nodes)
        used = {rule: n for rule, n in uses.items() if n}
        return self, [perf_counter() - start], [used], (nodes, left, max(nodes, left)), {}, [], {}, [], {}, [], [], []

    def _parts(self) -> Sequence[Any]:
        return [*self._rules, *self._passes]


class PassOptimizer(Optimizer):
    """A pass of ours as a graph rewriter: a query shows it to callers that run passes by hand.

    Parameters
    ----------
    run : Pass
    name : str
    """

    def __init__(self, run: Pass, name: str):
        self._run, self.name = run, name

    def apply(self, fgraph: FunctionGraph) -> None:
        """Run it."""
        with working(fgraph, self) as context:
            self._run(fgraph, context)


def as_graph_rewriter(thing: Any, name: str = "") -> Any:
    """Return a graph rewriter: ``thing`` itself, or one that walks with a node rewriter, or one that runs a pass."""
    if hasattr(thing, "optimize"):
        return thing
    return TopoOptimizer(thing) if hasattr(thing, "transform") else PassOptimizer(thing, name or name_of(thing))


class MergeOptimizer(Optimizer):
    """Lets equal constants be one variable, and equal nodes one node."""

    name = "merge"

    def apply(self, fgraph: FunctionGraph, no_recycling: Any = ()) -> tuple[Any, ...]:
        """Merge.

        Returns
        -------
        tuple
            How often the graph refused, the seconds, those of checks and of callbacks (None: they are not measured),
            the latter by feature, how many nodes became others, how many constants did.
        """
        nodes, start = len(fgraph.apply_nodes), perf_counter()
        with working(fgraph, self) as context:
            before = context.report.uses.get("merge", 0)
            merge(fgraph, context)
            changes = context.report.uses.get("merge", 0) - before
        merged = nodes - len(fgraph.apply_nodes)
        return 0, perf_counter() - start, None, None, {}, merged, changes - merged


class AddFeatureOptimizer(Optimizer):
    """Attaches a feature.

    Parameters
    ----------
    feature : Feature
    """

    def __init__(self, feature: Any):
        self.feature = feature

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach it."""
        fgraph.attach_feature(self.feature)

    def apply(self, fgraph: FunctionGraph) -> None:
        """Change nothing."""


class AddDestroyHandler(Optimizer):
    """Lets a graph watch over memory from there on: the rules that follow work in place."""

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach the watcher."""
        require_destroy_handler(fgraph)

    def apply(self, fgraph: FunctionGraph) -> None:
        """Change nothing."""


# -- short forms ---------------------------------------------------------------------------------------------


def _topo(local_opts: Sequence[Any], order: str, name: str | None, **options: Any) -> TopoOptimizer:
    one = local_opts[0] if len(local_opts) == 1 else LocalOptGroup(*local_opts)
    return TopoOptimizer(one, order=order, name=name or (str(one) if len(local_opts) > 1 else None), **options)


def in2out(*local_opts: LocalOptimizer, name: str | None = None, **kwargs: object) -> TopoOptimizer:
    """Return an optimizer that shows nodes to some rules, those nearest to the inputs first."""
    return _topo(local_opts, "in_to_out", name, **kwargs)


def out2in(*local_opts: FromFunctionLocalOptimizer, name: str | None = None, **kwargs: object) -> TopoOptimizer:
    """Return an optimizer that shows nodes to some rules, those nearest to the outputs first."""
    return _topo(local_opts, "out_to_in", name, **kwargs)
