"""What rewriting reports: of each pass by itself, and of all of them together."""

from __future__ import annotations

from collections.abc import Mapping

from theano.graph.apply import Apply
from theano.records import field, record
from theano.rewriting.failure import RuleFailure
from theano.rewriting.provenance import Provenance, RewriteStep


@record
class PhaseReport:
    """What one phase did.

    Attributes
    ----------
    stop : str
        "nothing left to do", "walked", or the limit that was met, with the rule to blame.
    uses, growth : dict from str to int
        By rule: how often it was used, and by how many nodes the graph grew through it.
    refused : dict from str to int
        By rule: replacements that the graph refused.
    rule_seconds, rule_calls : dict from str to float, and to int
        By rule: how long it was asked, and how often; empty unless that is measured.
    """

    name: str
    seconds: float = 0.0
    nodes_before: int = 0
    nodes_after: int = 0
    stop: str = ""
    complete: bool = True
    uses: dict[str, int] = field(default_factory=dict)
    growth: dict[str, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    rule_seconds: dict[str, float] = field(default_factory=dict)
    rule_calls: dict[str, int] = field(default_factory=dict)

    def time(self, rule: str, seconds: float) -> None:
        """Count one time that ``rule`` was asked."""
        self.rule_seconds[rule] = self.rule_seconds.get(rule, 0.0) + seconds
        self.rule_calls[rule] = self.rule_calls.get(rule, 0) + 1

    def __str__(self) -> str:
        most = sorted(self.uses.items(), key=lambda item: (-item[1], item[0]))
        used = ", ".join(f"{name} x{n}" for name, n in most[:8]) or "no rule used"
        change = f"{self.nodes_before} -> {self.nodes_after} nodes, {self.seconds * 1e3:.1f} ms"
        return f"{self.name}: {change}, {self.stop}; {used}"


@record
class Report:
    """What rewriting did to one graph.

    Attributes
    ----------
    phases : list of PhaseReport
        One for each phase and pass, in the order in which they ran.
    warnings : list of str
        What failed.
    failures : list of RuleFailure
        The rules among that: each can write a program that makes it fail again.
    provenance : Provenance
        Answers :meth:`why`.
    """

    phases: list[PhaseReport] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    failures: list[RuleFailure] = field(default_factory=list)
    provenance: Provenance = field(default_factory=Provenance)
    seconds: float = 0.0

    @property
    def uses(self) -> Mapping[str, int]:
        """How often each rule was used, over all phases."""
        total: dict[str, int] = {}
        for phase in self.phases:
            for name, n in phase.uses.items():
                total[name] = total.get(name, 0) + n
        return total

    @property
    def complete(self) -> bool:
        """Whether every phase ended by itself; otherwise a limit did, and :attr:`stop` says which."""
        return all(phase.complete for phase in self.phases)

    @property
    def stop(self) -> str:
        """Why rewriting ended: the limits that were met, or "nothing left to do"."""
        return "; ".join(f"{p.name} {p.stop}" for p in self.phases if not p.complete) or "nothing left to do"

    def why(self, node: Apply) -> list[RewriteStep]:
        """Return the replacements that led to ``node``, the latest first."""
        return self.provenance.why(node)

    def explain(self, node: Apply) -> str:
        """Return :meth:`why` as text."""
        return self.provenance.explain(node)

    def __str__(self) -> str:
        return "\n".join([f"rewriting: {self.seconds * 1e3:.1f} ms, {self.stop}", *(f"  {p}" for p in self.phases)])
