"""What it brings that kernels choose by what was measured on the machine (`theano.tensor.kernels.tuning`).

    python -m benchmarks.calibration --threads 1

Rows of the benchmark are computed with the careful values, which a CPU has that is not known, with those stored for
the CPU's family, and with those that a calibration finds at the start, in turns in one process. Printed are, for each
group, the time with the careful values by that with the others, and the rows that gain or lose most.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.process import LIMITS
from benchmarks.rating import geometric_mean
from benchmarks.report import table
from benchmarks.runner import REST
from benchmarks.workloads import GROUPS, WORKLOADS

ROUNDS, FEW = 9, 3
"""With one thread, and with several: before each turn those of the library have to come to rest."""
TURN = 0.004
"""Seconds of a turn at least."""
WORTH = 1.05
"""A row counts as gained or lost from this ratio on."""

Values = Mapping[str, int]


def ratios(call: Any, ways: Mapping[str, Values], threads: int) -> dict[str, float]:
    """Return how much faster a call is with each way than with the first one, by medians of turns."""
    from theano.tensor.kernels import tuning  # once the environment says how many threads there are

    before = time.perf_counter()
    call()
    several = max(1, math.ceil(TURN / (time.perf_counter() - before)))
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(FEW if threads > 1 else ROUNDS):
        for name, values in ways.items():
            with tuning.tuned(**values):
                time.sleep(REST if threads > 1 else 0)
                call()
                before = time.perf_counter()
                for _ in range(several):
                    call()
                taken[name].append((time.perf_counter() - before) / several)
    first, *_ = taken.values()
    return {name: statistics.median(a / b for a, b in zip(first, some, strict=True)) for name, some in taken.items()}


def rows(wanted: str, threads: int) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Yield the name and the group of each row, and its ratios."""
    from benchmarks import frameworks
    from theano.tensor import calibration
    from theano.tensor.kernels import tuning

    for line in calibration.calibrate():
        print(f"- {line.text}")
    ways = {"careful": tuning.CAREFUL, "family": tuning.stored().values, "measured": tuning.current()}
    ours = frameworks.start("theano")
    for name, workload in WORKLOADS.items():
        if not re.search(wanted, name):
            continue
        for dtype in workload.dtypes:
            built = ours.build(workload, dtype)
            if not built.times_itself:
                found = ratios(lambda built=built: built.function(*built.arguments), ways, threads)
                yield f"{name} {dtype}", workload.group, found
                print(name, dtype, found, file=sys.stderr, flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("-w", "--workloads", default="^[cdefgh]_", help="regular expression on the names")
    chosen = parser.parse_args()
    limits = dict.fromkeys((*LIMITS, "BENCH_THREADS"), str(chosen.threads))
    if not limits.items() <= os.environ.items():  # libraries read them when they are loaded, as NumPy's is already
        os.environ |= limits
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.calibration", *sys.argv[1:]])
    with tempfile.TemporaryDirectory() as cache:
        flags = os.environ.get("THEANO_FLAGS", ""), f"threads={chosen.threads}", f"base_compiledir={cache}"
        os.environ["THEANO_FLAGS"] = ",".join(filter(None, flags))
        measured = list(rows(chosen.workloads, chosen.threads))
    lines = []
    for letter, title in [*GROUPS.items(), ("", "all")]:
        of_group = [found for _, group, found in measured if not letter or group == letter]
        if of_group:
            lines.append([title, str(len(of_group))])
            for way in ("family", "measured"):
                found = [each[way] for each in of_group]
                counts = sum(r >= WORTH for r in found), sum(r <= 1 / WORTH for r in found)
                lines[-1] += [f"{geometric_mean(found):.3f}", *map(str, counts)]
    print()
    print(table(["group", "rows", "by the CPU's family", "gain", "lose", "measured here", "gain", "lose"], lines))
    ordered = sorted(measured, key=lambda row: row[2]["measured"])
    for text, some in (("Most is lost by", ordered[:5]), ("Most is gained by", ordered[:-6:-1])):
        print(text, ", ".join(f"`{name}` {found['measured']:.2f}" for name, _, found in some), end=".\n")


if __name__ == "__main__":
    main()
