"""Measure this Theano beside other systems: ``nox -s bench -- --help``."""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import machine, report
from benchmarks.frameworks import FRAMEWORKS, IMPORTED_AS, on_device
from benchmarks.process import ROOT
from benchmarks.rating import OURS, YARDSTICKS, best_peer, ratio, share
from benchmarks.runner import Plan, Row, Session, compile_times
from benchmarks.workload import Workload
from benchmarks.workloads import OF_DEVICES, WORKLOADS

DATA = ROOT / "docs" / "data"
# The peers that ``nox -s peers`` installs.
PEERS = ROOT / ".nox" / "peers" / "peers.json"
# What frameworks that compile for tens of seconds are given unless --limit says otherwise.
SLOW = {
    "pytensor-numba": r"^[abcd]_(?!dot_500)|^e_logreg|^l_one",
    "torch-compile": r"^b_(poly|transc|gelu|sigmoid)_1e[36]$|^c_(sum|sqdiff_sum|logsumexp_ax1|max_ax1|var)$"
    r"|^g_softmax$|^g_xent_fwdbwd|^[el]_(logreg_b60|mlp_b60|one_kernel)$|^m_logp30_grad",
    # Products are the library's that eager PyTorch calls, and the steps of a loop would all be compiled.
    "torch-compile-gpu": r"^(?!o_(dot|batched|lstm))",
}


def options(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="nox -s bench --", description=__doc__)
    add = parser.add_argument
    add("-w", "--workloads", default="", help="regular expression on the names; c_sum, ^[bc]_")
    add("-f", "--frameworks", help=f"comma-separated, of {', '.join(FRAMEWORKS)}; default: all that are there, but "
        "for those on a device, which BENCH_DEVICE names (cuda)")  # fmt: skip
    add("-p", "--peers", type=Path, default=PEERS if PEERS.is_file() else None,
        help='JSON: {"jax": PYTHON, "torch": {"python": PYTHON, "env": {...}}}; {cache} in a value is a folder to keep '
        "compiled code in. Ours is always the running interpreter. Default: what `nox -s peers` installed, if it did.")
    add("-d", "--dtypes", default="float64,float32")
    add("-t", "--threads", default="1,2", help="each number is a series of rows of its own")
    add("-r", "--rounds", type=int, default=3)
    add("-s", "--seconds", type=float, default=0.02, help="a turn of one framework on one row")
    add("--compile-only", action="store_true", help="measure only how long it takes to compile")
    add("--no-compile", action="store_true", help="do not measure how long it takes to compile")
    add("--build-limit", type=float, default=120, help="seconds for a framework to make a workload ready")
    add("--limit", action="append", default=[], metavar="FRAMEWORK=WORKLOADS",
        help="give a framework only the workloads that match, as torch-compile='^[be]_'; may be repeated; "
        f"those that compile slowly have limits of their own ({', '.join(SLOW)}), lifted by NAME=.")
    add("--cache", type=Path, help="a folder kept for compiled code; default: a temporary one")
    add("-o", "--out", type=Path, help="where the JSON goes; default: benchmark.json in the current folder")
    add("--publish", metavar="NAME",
        help="write docs/data/benchmark_NAME.json, of which the documentation makes its pictures and tables; "
        "measurements of some workloads replace those rows of it and leave the others")  # fmt: skip
    return parser.parse_args(arguments)


def chosen_frameworks(wanted: str | None, peers: Path | None) -> dict[str, Any]:
    """Return the names of the frameworks to compare, ours first, and where their interpreters are."""
    given = json.loads(peers.read_text(encoding="utf-8")) if peers else {}
    for name in OURS:
        given.pop(name, None)
    here = [name for name, module in IMPORTED_AS.items() if importlib.util.find_spec(module)]
    names = wanted.split(",") if wanted else [*dict.fromkeys(["theano", "numpy", *here, *given]), *YARDSTICKS]
    if not wanted:  # a device is there only if somebody says so
        names = [name for name in names if not on_device(name)]
    unknown = [name for name in names if name not in FRAMEWORKS]
    if unknown:
        raise SystemExit(f"No framework is called {', '.join(unknown)}; there are {', '.join(FRAMEWORKS)}.")
    places = {name: given.get(name) for name in FRAMEWORKS if name in names}
    where = {name: given.get("torch-gpu" if on_device(name) else "numpy") for name in YARDSTICKS}
    places |= {name: place for name, place in where.items() if name in places}
    return places


def line(row: Row) -> str:
    """Return a row for users who wait."""
    cells = [f"{name} {report.cell(found) or '-'}" for name, found in row["cells"].items() if name not in YARDSTICKS]
    rate, reached, peer = ratio(row), share(row), best_peer(row)
    end = f"  ratio {rate:.2f} ({peer})" if rate is not None else ""
    end += f"  of the floor {reached:.2f}" if reached is not None else ""
    return f"{row['name']:<24} {row['dtype']:<8} t{row['threads']}  " + "  ".join(cells) + end


def run(plan: Plan, chosen: argparse.Namespace, measured: dict[str, Any], save: Any) -> None:
    """Measure everything, saving after each row."""
    for threads in [] if chosen.compile_only else map(int, chosen.threads.split(",")):
        session = Session(plan, threads)
        try:
            for workload, dtype in plan.rows(threads):
                row = session.row(workload, dtype)
                print(line(row), flush=True)
                measured["rows"].append(row)
                measured["frameworks"] |= session.said
                save()
        finally:
            session.close()
    for workload in [] if chosen.no_compile else plan.workloads:
        if workload.compiled:
            row = compile_times(plan, workload)
            found = [f"{n} {c['cold_s']:.2f}/{c['warm_s']:.2f} s" for n, c in row["cells"].items() if "warm_s" in c]
            print(f"{row['name']:<24} compiled cold/warm  " + "  ".join(found), flush=True)
            measured["compile"].append(row)
            save()


def main(arguments: list[str]) -> int:
    """Measure, print, write."""
    chosen = options(arguments)
    frameworks = chosen_frameworks(chosen.frameworks, chosen.peers)
    any_device = any(map(on_device, frameworks))
    found = [w for name, w in WORKLOADS.items() if re.search(chosen.workloads, name)]
    found = [w for w in found if any_device or w.group != OF_DEVICES]
    if not found:
        raise SystemExit(f"No workload matches {chosen.workloads!r}.")
    out = chosen.out or (DATA / f"benchmark_{chosen.publish}.json" if chosen.publish else Path("benchmark.json"))
    out.parent.mkdir(parents=True, exist_ok=True)
    measured: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "machine": machine.describe(),
        "options": {"rounds": chosen.rounds, "seconds": chosen.seconds, "build_limit": chosen.build_limit},
        "frameworks": {}, "rows": [], "compile": [],
    }  # fmt: skip
    before = json.loads(out.read_text(encoding="utf-8")) if chosen.publish and out.is_file() else None

    def save() -> None:
        found = merged(before, _rounded(measured)) if before and chosen.workloads else _rounded(measured)
        out.write_text(json.dumps(found, indent=None, separators=(",", ":")) + "\n", encoding="utf-8")

    limits = SLOW | {name: expression for name, _, expression in (text.partition("=") for text in chosen.limit)}

    def left_out(name: str, workload: Workload) -> bool:
        return name in limits and not re.search(limits[name], workload.name)

    with tempfile.TemporaryDirectory() as folder, open(Path(folder) / "log", "w", encoding="utf-8") as log:
        cache = (chosen.cache or Path(folder)).resolve()
        dtypes = tuple(chosen.dtypes.split(","))
        plan = Plan(frameworks, found, dtypes, chosen.rounds, chosen.seconds, chosen.build_limit, cache, log, left_out)
        run(plan, chosen, measured, save)
    save()
    print("\n" + report.markdown(measured, every_row=False))
    print(f"All figures are in {os.path.relpath(out)}.")
    if chosen.publish:
        print("`python docs/generate.py` writes them into the documentation.")
    return 0


def merged(before: dict[str, Any], measured: dict[str, Any]) -> dict[str, Any]:
    """Return the measurements of before with the new ones in place of those of the same rows.

    Examples
    --------
    >>> row = {"name": "c_sum", "dtype": "float64", "cells": {"theano": {"median_ms": 2.0}, "jax": {"median_ms": 3.0}}}
    >>> again = row | {"cells": {"theano": {"median_ms": 1.0}}}
    >>> merged({"frameworks": {}, "rows": [row]}, {"frameworks": {}, "rows": [again]})["rows"][0]["cells"]
    {'theano': {'median_ms': 1.0}}
    """
    found = {**before, "frameworks": before["frameworks"] | measured["frameworks"]}
    for kind in ("rows", "compile"):
        rows = [*before.get(kind, []), *measured.get(kind, [])]
        found[kind] = list({(row["name"], row["dtype"], row.get("threads")): row for row in rows}.values())
    return found


def _rounded(value: Any) -> Any:
    """Return measurements with as many digits as they deserve."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
