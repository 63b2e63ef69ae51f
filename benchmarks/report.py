"""Tables of what was measured: ``python benchmarks/report.py out.json`` prints, ``--into PAGE`` puts them there."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.rating import (
    EQUAL,
    INTERPRETERS,
    NEEDED_SHARE,
    NOT_PEERS,
    OURS,
    YARDSTICKS,
    best_peer,
    floor,
    geometric_mean,
    losses,
    rate_of_machine,
    ratio,
    right,
    share,
    tried,
)
from benchmarks.workloads import GROUPS

BEGIN = "<!-- begin of what benchmarks/report.py wrote -->"
END = "<!-- end of what benchmarks/report.py wrote -->"
Measured = dict[str, Any]


def table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    head = list(head)
    return "\n".join(["| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *lines)]) + "\n"


def duration(milliseconds: float) -> str:
    """Return a duration with three digits.

    Examples
    --------
    >>> duration(0.00031), duration(0.4567), duration(12.3), duration(4567.0)
    ('310 ns', '457 µs', '12.3 ms', '4.57 s')
    """
    for limit, factor, unit in ((1e-3, 1e6, "ns"), (1, 1e3, "µs"), (1e3, 1, "ms"), (float("inf"), 1e-3, "s")):
        if milliseconds < limit:
            return f"{milliseconds * factor:.3g} {unit}"
    raise AssertionError


def label(row: Measured) -> str:
    """Return a row's name with its dtype and, if there are several, its threads."""
    return f"`{row['name']}` {row['dtype']}" + (f", {row['threads']} threads" if row.get("threads", 1) > 1 else "")


def cell(found: Measured) -> str:
    """Return what a framework made of a row."""
    if "median_ms" in found:
        return duration(found["median_ms"]) + ("" if found.get("right", True) else " WRONG")
    if "not_available" in found:
        return ""
    return "too long" if found.get("timeout") else "failed"


def number(value: float | None) -> str:
    """Return a ratio with two digits behind the point."""
    return "" if value is None else f"{value:.2f}"


def peers_of(rows: Iterable[Measured]) -> list[str]:
    """Return the names of the others that had a part in some rows."""
    return [*dict.fromkeys(name for row in rows for name in row["cells"] if name not in NOT_PEERS)]


def machine(measured: Measured) -> Iterator[str]:
    """Yield where, when and with what it was measured."""
    m = measured["machine"]
    versions = ", ".join(
        f"{'this Theano' if name == OURS else name} {said.get('version', '')}"
        for name, said in measured["frameworks"].items()
        if name not in YARDSTICKS
    )
    yield (
        f"Measured on {measured['date']} on {m['cores']} cores of {m['processor']} ({m['caches']}, {m['memory']}), "
        f"{m['system']}, {m['compiler']}, CPython {m['python']}. {versions}.\n"
    )
    o = measured["options"]
    yield (
        f"Each figure is the median of {o['rounds']} rounds of {o['seconds']:g} s in which the frameworks took turns; "
        "every result was compared with NumPy's in float64. A ratio is the best peer's time by ours: above 1, we are "
        "faster.\n"
    )


def by_group(measured: Measured, threads: int) -> list[tuple[str, list[Measured]]]:
    """Return the rows of a number of threads by the titles of their groups, and all of them."""
    rows = [row for row in measured["rows"] if row["threads"] == threads]
    groups = [(title, [row for row in rows if row["group"] == letter]) for letter, title in GROUPS.items()]
    return [*groups, ("all", rows)]


def summary(measured: Measured) -> Iterator[str]:
    """Yield one line for each group."""
    for threads in sorted({row["threads"] for row in measured["rows"]}):
        lines = [summary_line(title, rows) for title, rows in by_group(measured, threads) if rows]
        yield f"### Against the best peer of each row, {threads} thread{'s' * (threads > 1)}\n"
        yield table(["group", "rows", "geometric mean", "ratio ≥ 1", "0.97 to 1", "below 0.97", "worst", ""], lines)


def summary_line(title: str, rows: list[Measured]) -> list[str]:
    """Return how many of some rows are won and lost, and by how much."""
    ratios = [value for row in rows if (value := ratio(row)) is not None]
    cells = [row["cells"].get(OURS, {}) for row in rows]
    missing = sum("not_available" in found for found in cells)
    failed = sum(not right(found, "median_ms") for found in cells) - missing
    counts = (sum(r >= 1 for r in ratios), sum(EQUAL <= r < 1 for r in ratios), sum(r < EQUAL for r in ratios))
    remarks = [f"{missing} not written yet"] * bool(missing) + [f"{failed} failed"] * bool(failed)
    mean = number(geometric_mean(ratios) if ratios else None)
    return [title, str(len(ratios)), mean, *map(str, counts), number(min(ratios, default=None)), ", ".join(remarks)]


def machines(measured: Measured, others: Iterable[Measured]) -> Iterator[str]:
    """Yield the groups as several machines see them, side by side, and the rows that are lost on the others."""
    all_of_them = [measured, *others]
    if len(all_of_them) == 1:
        return
    lines = []
    for of_machines in zip(*(by_group(found, 1) for found in all_of_them), strict=True):
        line = [of_machines[0][0]]
        for title, rows in of_machines:
            _, count, mean, _, _, below, *_ = summary_line(title, rows)
            line += [mean, f"{below} of {count}"] if mean else ["", ""]
        lines.append(line)
    yield "### Machines side by side, 1 thread\n"
    named = [f"{found['machine']['processor']}, {found['date']}" for found in all_of_them]
    yield table(["group", *(head for name in named for head in (name, f"below {EQUAL}"))], lines)
    for found in others:
        yield f"#### On {found['machine']['processor']}\n"
        yield from machine(found)
        yield from _lost_rows(found)


def lost(measured: Measured) -> Iterator[str]:
    """Yield the rows on which a peer is faster."""
    found, rated = losses(measured["rows"]), [row for row in measured["rows"] if ratio(row) is not None]
    yield f"### Where a peer is faster ({len(found)} of {len(rated)} rows)\n"
    yield from _lost_rows(measured)
    ours = [(label(row), row["cells"].get(OURS, {})) for row in measured["rows"]]
    wrong = [(name, c) for name, c in ours if "failure" in c or not c.get("right", True)]
    if wrong:
        yield "Rows that fail here:\n"
        yield table(["workload", "what"], [[name, c.get("failure", "wrong result")] for name, c in wrong])


def _lost_rows(measured: Measured) -> Iterator[str]:
    yield table(
        ["ratio", "workload", "ours", "best peer", "its time", "floor", "what was tried"],
        [[number(value), label(row), cell(row["cells"][OURS]), (best := str(best_peer(row))), cell(row["cells"][best]),
          duration(least[0]) if (least := floor(row)) else "", tried(row) if value < EQUAL else ""]
         for value, row in losses(measured["rows"])],
    )  # fmt: skip


def calls(measured: Measured) -> Iterator[str]:
    """Yield nanoseconds of single calls."""
    rows = [row for row in measured["rows"] if row["threads"] == 1 and "kept_ns" in row["cells"].get(OURS, {})]
    peers = peers_of(rows)

    def nanoseconds(row: Measured, name: str, kind: str) -> str:
        found = row["cells"].get(name, {})
        return f"{found[kind]:.0f}" if kind in found else ""

    if rows:
        yield "### One call, nanoseconds (the loop around it not counted; peers with the result kept)\n"
        yield table(
            ["workload", "ours, result dropped", "ours, result kept", *peers],
            [[f"`{row['name']}`", nanoseconds(row, OURS, "dropped_ns"),
              *(nanoseconds(row, name, "kept_ns") for name in (OURS, *peers))] for row in rows],
        )  # fmt: skip


def compiling(measured: Measured) -> Iterator[str]:
    """Yield seconds of compiling, cold and warm."""
    rows = measured.get("compile", [])
    peers = [p for p in peers_of(rows) if p not in INTERPRETERS]
    if not rows:
        return

    def both(found: Measured) -> str:
        if "warm_s" not in found:
            return "too long" if "not done" in str(found.get("failure")) else ("failed" if "failure" in found else "")
        return f"{found['cold_s']:.2f} / {found['warm_s']:.2f}"

    yield "### Compiling, seconds: with an empty cache / in a new process with a full one\n"
    yield table(
        ["workload", "ours", *peers, "ratio cold", "ratio warm"],
        [[f"`{row['name']}`", *(both(row["cells"].get(p, {})) for p in (OURS, *peers)),
          *(number(ratio(_compilers_only(row), key)) for key in ("cold_s", "warm_s"))] for row in rows],
    )  # fmt: skip


def _compilers_only(row: Measured) -> Measured:
    return {"cells": {name: c for name, c in row["cells"].items() if name not in INTERPRETERS}}


def roofline(measured: Measured) -> Iterator[str]:
    """Yield the share that is reached of what the machine gives."""
    rows = [(reached, row) for row in measured["rows"] if (reached := share(row)) is not None]
    if not rows:
        return
    enough = sum(reached >= NEEDED_SHARE for reached, _ in rows)
    yield f"### Share of what the machine gives ({enough} of {len(rows)} rows reach {NEEDED_SHARE})\n"
    yield (
        "The floor of a row is the longer of two times taken in the same rounds: that of moving as many bytes by the "
        "best of NumPy's copy and addition into existing memory (or, for rows that write little, by its dot product), "
        "and that of as many operations in a product of two matrices by NumPy's BLAS. "
        f"Rows below {NEEDED_SHARE} are findings, whoever wins them.\n"
    )
    yield table(
        ["share", "workload", "ours", "floor", "limited by"],
        [[number(reached), label(row), cell(row["cells"][OURS]), duration(least),
          f"{YARDSTICKS[limit]}, {rate_of_machine(row)}"]
         for reached, row in sorted(rows, key=lambda pair: pair[0]) for least, limit in [floor(row) or (0.0, "")]],
    )  # fmt: skip


def everything(measured: Measured) -> Iterator[str]:
    """Yield all rows."""
    peers = peers_of(measured["rows"])
    yield "### All rows\n"
    for letter, title in GROUPS.items():
        rows = [row for row in measured["rows"] if row["group"] == letter]
        if rows:
            yield f"#### {title}\n"
            yield table(
                ["workload", "ours", *peers, "ratio"],
                [[label(row), *(cell(row["cells"].get(name, {})) for name in (OURS, *peers)), number(ratio(row))]
                 for row in rows],
            )  # fmt: skip


SECTIONS = (machine, summary, lost, calls, compiling, roofline, everything)


def markdown(measured: Measured, sections: Iterable[Any] = SECTIONS, others: Iterable[Measured] = ()) -> str:
    """Return the report; of other machines, their groups and what is lost there."""
    parts = [part for section in sections for part in section(measured)]
    return "\n".join([*parts, *machines(measured, list(others))])


def of_other_machines(data: Path) -> list[Measured]:
    """Return what was measured on others: ``benchmark_NAME.json`` beside ``benchmark.json``."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(data.parent.glob(f"{data.stem}_*.json"))]


def put_into(page: Path, text: str) -> None:
    """Replace what stands between the two markers of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{page} has no place for it between {BEGIN!r} and {END!r}")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", encoding="utf-8")


def main() -> None:
    """Read measurements, write tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("measured", type=Path, help="what `nox -s bench` wrote")
    parser.add_argument("--into", type=Path, help="a page with a place for it")
    options = parser.parse_args()
    others = of_other_machines(options.measured) if options.into else []
    text = markdown(json.loads(options.measured.read_text(encoding="utf-8")), others=others)
    if options.into:
        put_into(options.into, text)
    else:
        print(text)


if __name__ == "__main__":
    main()
