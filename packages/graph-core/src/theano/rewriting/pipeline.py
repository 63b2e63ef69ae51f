"""From a graph to a rewritten graph: what `theano.function` calls, and how one rule is repeated alone."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.graph.fgraph import FunctionGraph
from theano.graph.gc_pause import gc_restorer
from theano.graph.source import tracing
from theano.rewriting.context import Context, RewriteSettings, current
from theano.rewriting.phases import Phases, phases
from theano.rewriting.query import Query, query_of
from theano.rewriting.report import Report
from theano.rewriting.rule import Rule
from theano.rewriting.source_lines import CheckStackTraceFeature

if TYPE_CHECKING:
    from theano.graph.features import Feature


def rewrite(
    fgraph: FunctionGraph,
    query: str | Query | None = "fast_run",
    settings: RewriteSettings | None = None,
    sequence: Phases | None = None,
) -> Report:
    """Rewrite ``fgraph`` in place.

    Parameters
    ----------
    fgraph : FunctionGraph
    query : Query or str
        What takes part: a query, or the name of one (``"fast_run"``, ``"fast_compile"``, ``"o1"`` to ``"o4"``, ...).
    settings : RewriteSettings, optional
    sequence : Phases, optional
        Instead of the common sequence; for tests.

    Returns
    -------
    Report
        What was done, how long it took, and why it ended.
    """
    context = Context(settings)
    report = Report(warnings=context.warnings, failures=context.failures, provenance=context.provenance)
    start = time.perf_counter()
    watchers: list[Feature] = [context.provenance]
    if context.settings.check_stack_trace != "off":
        watchers.append(CheckStackTraceFeature(context.settings.check_stack_trace))
    for watcher in watchers:
        fgraph.attach_feature(watcher)
    # What is restored comes first and without a call into Python, so that Ctrl-C cannot come between.
    release, untraced, around = gc_restorer(), tracing.untraced, current.get()
    try:
        gc.disable()
        current.set(context)
        tracing.untraced = True
        (phases if sequence is None else sequence).run(fgraph, context, query_of(query), report)
    finally:
        tracing.untraced = untraced
        try:
            current.set(around)
        finally:  # Ctrl-C comes when a builtin has ended
            release()
        for watcher in watchers:
            fgraph.remove_feature(watcher)
    report.seconds = time.perf_counter() - start
    return report


def show_again(name: str, inputs: Sequence[Any], outputs: Sequence[Any], sequence: Phases | None = None) -> Any:
    """Show an expression to the rule called ``name``, as it was when the rule failed; see ``RuleFailure.reproducer``.

    Returns
    -------
    object
        What the rule answers; the error comes through if it fails again.

    Raises
    ------
    LookupError
        No rule has that name: the module that registers it has to be imported first.
    """
    rule = (phases if sequence is None else sequence).find(name)
    if not isinstance(rule, Rule):
        raise LookupError(f"no rule is called {name!r}; import the module that registers it")
    fgraph = FunctionGraph(inputs, outputs, clone=False)
    rule.add_requirements(fgraph)
    node = fgraph.outputs[0].owner
    assert node is not None
    return rule.answer(fgraph, node)
