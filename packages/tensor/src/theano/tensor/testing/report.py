"""What `theano.tensor.testing.check_op` found, and how it is printed."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Literal

Outcome = Literal["ok", "fault", "skipped"]


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Attributes
    ----------
    check : str
    outcome : {'ok', 'fault', 'skipped'}
    said : str
        What is wrong, or why nothing was checked.
    """

    check: str
    outcome: Outcome
    said: str = ""


class OpFault(AssertionError):
    """An op does not keep what it promises; the text is the report, and ``report`` the findings.

    Remedy: each fault in the report says what to change in the op.
    """

    def __init__(self, report: OpReport):
        super().__init__(str(report))
        self.report = report


@dataclass
class OpReport:
    """All that was found about one op.

    Examples
    --------
    >>> report = OpReport("Double")
    >>> report.add("gradient", "fault", "it is three times what it should be")
    >>> report.add("R-operator", "skipped", "the op has none")
    >>> print(report)
    check_op(Double): 1 fault
      FAULT    gradient
               it is three times what it should be
      skipped  R-operator: the op has none
    """

    op: str
    findings: list[Finding] = field(default_factory=list)

    def add(self, check: str, outcome: Outcome, said: str = "") -> None:
        """Note what a check found."""
        finding = Finding(check, outcome, said)
        if finding not in self.findings:
            self.findings.append(finding)

    @property
    def faults(self) -> list[Finding]:
        """What is wrong."""
        return [f for f in self.findings if f.outcome == "fault"]

    def raise_faults(self) -> None:
        """Raise `OpFault` if something is wrong."""
        if self.faults:
            raise OpFault(self)

    def __str__(self) -> str:
        count = len(self.faults)
        summary = f"{count} fault{'s' * (count != 1)}" if count else "no fault"
        lines = [f"check_op({self.op}): {summary}"]
        order = {"fault": 0, "ok": 1, "skipped": 2}
        for finding in sorted(self.findings, key=lambda f: order[f.outcome]):
            lines += _lines(finding)
        return "\n".join(lines)


def _lines(finding: Finding) -> list[str]:
    name = "FAULT" if finding.outcome == "fault" else finding.outcome
    if finding.outcome != "fault":
        return [f"  {name:<7}  {finding.check}" + (f": {finding.said}" if finding.said else "")]
    return [f"  {name:<7}  {finding.check}", *textwrap.indent(finding.said, " " * 11).splitlines()]
