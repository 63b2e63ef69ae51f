"""Tables of measurements: ``python benchmarks/report.py docs/data/benchmark_NAME.json`` prints them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.frameworks import on_device
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
    ours,
    rate_of_machine,
    ratio,
    reason,
    right,
    share,
)
from benchmarks.workloads import GROUPS

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
        f"{'this Theano' if name in OURS else name} {said.get('version', '')}"
        for name, said in measured["frameworks"].items()
        if name not in YARDSTICKS
    )
    devices = {said["device"]: None for said in measured["frameworks"].values() if "device" in said}
    device = f" on {', '.join(devices)}, asked by programs" if devices else ""
    yield (
        f"Measured on {measured['date']}{device} on {m['cores']} cores of {m['processor']} "
        f"({m['caches']}, {m['memory']}), {m['system']}, {m['compiler']}, CPython {m['python']}. {versions}.\n"
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
    cells = [ours(row) for row in rows]
    missing = sum("not_available" in found for found in cells)
    failed = sum(not right(found, "median_ms") for found in cells) - missing
    counts = (sum(r >= 1 for r in ratios), sum(EQUAL <= r < 1 for r in ratios), sum(r < EQUAL for r in ratios))
    remarks = [f"{missing} not written yet"] * bool(missing) + [f"{failed} failed"] * bool(failed)
    mean = number(geometric_mean(ratios) if ratios else None)
    return [title, str(len(ratios)), mean, *map(str, counts), number(min(ratios, default=None)), ", ".join(remarks)]


def lost(measured: Measured) -> Iterator[str]:
    """Yield the rows on which a peer is faster."""
    found, rated = losses(measured["rows"]), [row for row in measured["rows"] if ratio(row) is not None]
    yield f"### Where a peer is faster ({len(found)} of {len(rated)} rows)\n"
    yield from _lost_rows(measured)
    own = [(label(row), ours(row)) for row in measured["rows"]]
    wrong = [(name, c) for name, c in own if "failure" in c or not c.get("right", True)]
    if wrong:
        yield "Rows that fail here:\n"
        yield table(["workload", "what"], [[name, c.get("failure", "wrong result")] for name, c in wrong])


def _lost_rows(measured: Measured) -> Iterator[str]:
    yield table(
        ["ratio", "workload", "ours", "best peer", "its time", "floor", "why"],
        [[number(value), label(row), cell(ours(row)), (best := str(best_peer(row))), cell(row["cells"][best]),
          duration(least[0]) if (least := floor(row)) else "", reason(row) if value < EQUAL else ""]
         for value, row in losses(measured["rows"])],
    )  # fmt: skip


def calls(measured: Measured) -> Iterator[str]:
    """Yield nanoseconds of single calls."""
    rows = [row for row in measured["rows"] if row["threads"] == 1 and "kept_ns" in ours(row)]
    peers = peers_of(rows)

    def nanoseconds(found: Measured, kind: str) -> str:
        return f"{found[kind]:.0f}" if kind in found else ""

    if rows:
        yield "### One call, nanoseconds (the loop around it not counted; peers with the result kept)\n"
        yield table(
            ["workload", "ours, result dropped", "ours, result kept", *peers],
            [[f"`{row['name']}`", nanoseconds(ours(row), "dropped_ns"), nanoseconds(ours(row), "kept_ns"),
              *(nanoseconds(row["cells"].get(name, {}), "kept_ns") for name in peers)] for row in rows],
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
        [[f"`{row['name']}`", both(ours(row)), *(both(row["cells"].get(p, {})) for p in peers),
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
        [[number(reached), label(row), cell(ours(row)), duration(least),
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
                [[*_cells(row, peers), number(ratio(row))] for row in rows],
            )


def _cells(row: Measured, peers: Iterable[str]) -> list[str]:
    return [label(row), cell(ours(row)), *(cell(row["cells"].get(name, {})) for name in peers)]


def of_device(measured: Measured) -> Iterator[str]:
    """Yield the rows of a device, with what ours reaches there."""
    rows, peers = measured["rows"], peers_of(measured["rows"])
    yield (
        "The floor of a row that only moves numbers is the time in which PyTorch copies half as many bytes from one "
        "array on the device to another.\n"
    )
    yield table(
        ["workload", "ours", *peers, "ratio", "ours reaches", "of the floor"],
        [[*_cells(row, peers), number(ratio(row)), rate_reached(row), number(share(row))] for row in rows],
    )
    failed = [(label(row), ours(row)["failure"]) for row in rows if "failure" in ours(row)]
    if failed:
        yield "Rows that fail here:\n"
        yield table(["workload", "what"], failed)


def rate_reached(row: Measured) -> str:
    """Return at which rate ours moves or computes.

    Examples
    --------
    >>> rate_reached({"flops": 4e9, "cells": {"theano-gpu": {"median_ms": 2.0}}})
    '2 TFLOP/s'
    >>> copy = {"median_ms": 1.0, "build_s": {"bytes": 3e9}}
    >>> rate_reached({"flops": 0, "cells": {"theano-gpu": {"median_ms": 2.0}, "copy-gpu": copy}})
    '1500 GB/s'
    """
    if not right(own := ours(row), "median_ms"):
        return ""
    if row["flops"]:
        return f"{row['flops'] / own['median_ms'] / 1e9:.3g} TFLOP/s"
    moved = max((row["cells"].get(name, {}).get("build_s", {}).get("bytes", 0) for name in YARDSTICKS), default=0)
    return f"{moved / own['median_ms'] / 1e6:.0f} GB/s" if moved else ""


def first_calls(measured: Measured) -> Iterator[str]:
    """Yield how long it took until a first result was there."""
    peers = peers_of(measured["rows"])

    def seconds(found: Measured) -> str:
        return f"{found['build_s']['total']:.2f}" if "build_s" in found else ""

    yield "Seconds until the first result was there, with an empty cache:\n"
    yield table(
        ["workload", "ours", *peers],
        [[label(row), seconds(ours(row)), *(seconds(row["cells"].get(name, {})) for name in peers)]
         for row in measured["rows"]],
    )  # fmt: skip


SECTIONS = (machine, summary, lost, calls, compiling, roofline, everything)
DEVICE_SECTIONS = (machine, of_device, first_calls)


def is_of_device(measured: Measured) -> bool:
    """Tell whether something was measured on a device."""
    return any(map(on_device, measured["frameworks"]))


def markdown(measured: Measured, every_row: bool = True) -> str:
    """Return the report, with or without the table of all rows."""
    sections = DEVICE_SECTIONS if is_of_device(measured) else SECTIONS if every_row else SECTIONS[:-1]
    return "\n".join(part for section in sections for part in section(measured))


def main() -> None:
    """Read measurements, print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("measured", type=Path, help="what `nox -s bench` wrote")
    print(markdown(json.loads(parser.parse_args().measured.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
