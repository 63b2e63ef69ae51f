"""A pass, and what it is given: the one interface between the sequence and what changes a graph."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Protocol

from theano.errors import InconsistencyError, RewriteError, RewriteWarning
from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.text import text_of
from theano.graph.variable import Variable
from theano.records import record
from theano.rewriting.failure import RuleFailure
from theano.rewriting.needs import OpsPresent
from theano.rewriting.provenance import Provenance, describe
from theano.rewriting.query import Query
from theano.rewriting.report import PhaseReport
from theano.rewriting.rule import Rule


class Pass(Protocol):
    """One step of rewriting: a callable that changes a graph in place and returns nothing.

    It is given the graph and the :class:`Context`: the settings, the query that says what takes part, and the report
    that it adds to. Replacements made by :meth:`Context.replace` are reported and traced to the rule in whose name they
    are made. What it raises ends rewriting; a rule that fails is handed to :meth:`Context.failed` instead.

    A function is a pass, and so is a :class:`~theano.rewriting.phase.Phase`.

    Examples
    --------
    >>> from theano.graph import FunctionGraph, generic
    >>> def count(fgraph, context):
    ...     context.note("count", growth=0)
    >>> x, context = generic("x"), Context()
    >>> count(FunctionGraph([x], [x]), context)
    >>> context.report.uses
    {'count': 1}
    """

    def __call__(self, fgraph: FunctionGraph, context: Context, /) -> None:
        """Change ``fgraph``."""


@record(frozen=True)
class RewriteSettings:
    """What bounds rewriting, and what happens when a rule fails.

    Attributes
    ----------
    max_use_ratio : float
        How often one rule may be used in one phase, per node of the graph at its start.
    spare_uses : int
        How often more. Small graphs need space as well: a rule may need a hundred steps to get anywhere.
    max_growth : float
        How many times larger than at the start of a phase the graph may become.
    max_sweeps : int
        How often a fixpoint looks through the whole graph.
    max_seconds : float or None
        How long one phase may last.
    on_error : "raise", "warn", "ignore" or "pdb"
        What to do with a rule that raises: tests raise; otherwise the rule is switched off, with or without a warning.
        With pdb, the debugger is opened where it failed.
    check : bool
        Check the graph's books after each change; slow.
    verbose : bool
        Print each change.
    profile : bool
        Measure how long each rule takes.
    check_stack_trace : "off", "log", "warn" or "raise"
        What to do when a node comes in that knows no line of the user's program.
    """

    max_use_ratio: float = 8.0
    spare_uses: int = 100
    max_growth: float = 20.0
    max_sweeps: int = 50
    max_seconds: float | None = None
    on_error: str = "warn"
    check: bool = False
    verbose: bool = False
    profile: bool = False
    check_stack_trace: str = "off"

    def __post_init__(self) -> None:
        if self.on_error not in ("raise", "warn", "ignore", "pdb"):
            raise ValueError(f"on_error is {self.on_error!r}; it must be 'raise', 'warn', 'ignore' or 'pdb'")


class Context:
    """What drivers and passes share while one graph is rewritten."""

    def __init__(self, settings: RewriteSettings | None = None, provenance: Provenance | None = None):
        self.settings = settings or RewriteSettings()
        self.provenance = provenance or Provenance()
        #: Which rules take part in the pass that runs.
        self.query = Query()
        #: Of the pass that runs.
        self.report = PhaseReport("(none)")
        self.warnings: list[str] = []
        self.failures: list[RuleFailure] = []
        #: Rules that failed; they are not asked again.
        self.switched_off: set[Rule] = set()
        #: What the graph refused in this phase. Taking a change back lets nodes come in as if they were new, and
        #: rules for new nodes would try the same for ever.
        self.refused: set[tuple[Rule, Apply]] = set()
        #: The ops of the graph: rules about others are not asked.
        self.ops = OpsPresent()
        #: The graph that was merged last and its version then: an unchanged graph needs no merge.
        self.merged: tuple[FunctionGraph, int] | None = None

    def failed(self, rule: Rule, node: Apply, error: BaseException) -> None:
        """Deal with a rule that raised, as the settings say."""
        failure = RuleFailure(rule, node, error)
        self.failures.append(failure)
        self._report(failure.message(), failure, error)
        self.switched_off.add(rule)

    def pass_failed(self, name: str, error: BaseException) -> None:
        """Deal with a pass over the whole graph that raised; the graph is as it was before."""
        said = f"{type(error).__name__}: {text_of(error)}"
        self._report(f"the optimizer {name} failed: {said}. What it did is undone for this function.", None, error)

    def _report(self, message: str, failure: RuleFailure | None, error: BaseException) -> None:
        if self.settings.on_error == "raise":
            raise RewriteError(message) from error
        if self.settings.on_error == "pdb":
            print(message, file=sys.stderr)
            # Loaded for those who ask for it: it brings in much.
            import pdb  # noqa: T100

            pdb.post_mortem(error.__traceback__)
        self.warnings.append(message)
        if self.settings.on_error == "warn":
            hint = "" if failure is None else " A program that repeats it: f.maker.rewriting.failures[0].reproducer()."
            warnings.warn(message + hint, RewriteWarning, stacklevel=3)

    def replace(
        self,
        fgraph: FunctionGraph,
        pairs: Sequence[tuple[Variable, Variable]],
        rule: str,
        remove: Sequence[Variable] = (),
    ) -> bool:
        """Make replacements in the name of ``rule``, after which the graph must not hold the variables ``remove``.

        Return whether the graph accepted them.
        """
        if not pairs:
            return False
        before = len(fgraph.apply_nodes)
        self.provenance.begin(rule, self.report.name, pairs[0][0])
        try:
            fgraph.replace_all_validate_remove(pairs, remove, reason=rule)
        except InconsistencyError:
            self.provenance.cancel()
            self.report.refused[rule] = self.report.refused.get(rule, 0) + 1
            return False
        finally:
            self.provenance.end()
        if self.settings.check:
            fgraph.check_integrity()
        if self.settings.verbose:
            for old, new in pairs:
                print(f"rewriting: {rule} ({self.report.name}) replaces {describe(old)} with {describe(new)}")
        self.note(rule, len(fgraph.apply_nodes) - before)
        return True

    def note(self, rule: str, growth: int) -> None:
        """Count one use of ``rule``."""
        report = self.report
        report.uses[rule] = report.uses.get(rule, 0) + 1
        report.growth[rule] = report.growth.get(rule, 0) + growth


#: The context of the rewriting that this thread is in, for graph rewriters that are handed nothing but a graph.
current: ContextVar[Context | None] = ContextVar("current", default=None)
