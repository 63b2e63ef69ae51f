"""What a measurement has found: a table by group, and what the short run or both let live."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any

from mutation import groups

#: The least share of the mutants that all tests catch, and of these the least share for the short run.
LEAST_WHOLE, LEAST_SHORT = 0.95, 0.97

Row = dict[str, Any]


def reasons() -> dict[tuple[str, str, str], str]:
    """Return why some mutants cannot be told from the original."""
    text = (groups.ROOT / "tools" / "mutants.toml").read_text(encoding="utf-8")
    return {(e["path"], e["line"], e["mutant"]): e["reason"] for e in tomllib.loads(text).get("equivalent", [])}


def counted(rows: Iterable[Row]) -> list[Row]:
    """Leave out survivors that cannot be told from the original."""
    known = reasons()
    return [row for row in rows if row["caught"] or (row["path"], row["before"], row["after"]) not in known]


def table(rows: list[Row]) -> list[str]:
    """Return the lines of a table: mutants by group, and how many of them each run catches.

    Examples
    --------
    >>> caught = ("short", "short", "whole", "")
    >>> print(*table([{"group": "scan", "caught": each} for each in caught]), sep=chr(10))
    group                mutants   short   whole   short/whole   whole/mutants
    scan                       4       2       3         66.7%           75.0%
    in all                     4       2       3         66.7%           75.0%
    """
    lines = [f"{'group':20}{'mutants':>8}{'short':>8}{'whole':>8}{'short/whole':>14}{'whole/mutants':>16}"]
    for group in [*dict.fromkeys(row["group"] for row in rows), None]:
        short, whole, total = _counts([row for row in rows if group in (None, row["group"])])
        shares = f"{_share(short, whole):14.1%}{_share(whole, total):16.1%}"
        lines.append(f"{group or 'in all':20}{total:8}{short:8}{whole:8}{shares}")
    return lines


def passes(rows: list[Row]) -> bool:
    """Tell whether the tests catch enough."""
    short, whole, total = _counts(rows)
    return _share(short, whole) >= LEAST_SHORT and _share(whole, total) >= LEAST_WHOLE


def details(rows: list[Row]) -> list[str]:
    """Return the lines that name the mutants which the short run does not catch."""
    lines = []
    for caught, title in (("whole", "only the whole run catches"), ("", "survived")):
        for row in sorted((row for row in rows if row["caught"] == caught), key=lambda row: (row["path"], row["line"])):
            lines.append(f"{title}: {row['path']}:{row['line']} {row['operator']}")
            lines += [f"    - {row['before']}", f"    + {row['after']}"]
            lines += [f"    caught by {row['test']}"] if caught else []
            lines += ["    not all tests fitted into the budget"] if row["is_cut"] else []
    return lines


def _counts(rows: list[Row]) -> tuple[int, int, int]:
    caught = [row["caught"] for row in rows]
    return caught.count("short"), len(caught) - caught.count(""), len(caught)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
