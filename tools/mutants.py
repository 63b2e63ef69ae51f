"""Change one token of the sources, and see that a test fails: mutation testing of what wrong numbers come from.

    python tools/mutants.py [--group rules ...] [--keep FOLDER [--resume]] [--jobs 2]
    python tools/mutants.py --count 200 [--seed N] [--group rules ...]
    python tools/mutants.py --renew [--count 320] [--seed N]

The mutants are those of mutants.json, a fixed list over all layers; with --count or --seed they are a sample. A mutant
has two answers: whether the short run catches it, which every check does, and whether the whole one does, with all
cases and slow tests. The list names a mutant by the text of its line, so it lasts while files change. A mutant whose
line is gone is reported, and --renew puts another one in its place.

The tests of the short run are traced once by coverage.py, which notes who reaches which line. A mutant is given to
those tests alone, and the first failure ends it. If there is none, the whole run's other cases of the same functions
follow, and the slow tests of their files. For a fixed list all tests are traced, for a sample those of its groups.

With --keep, the notes and each answer stay in a folder. The notes serve again while sources and tests are the same.
--resume asks only for the answers that are missing.

The tests that caught a mutant run once more without one. What a test that fails then has caught is asked again.

A mutant that no test catches is a survivor. One that cannot be told from the original has its reason in mutants.toml
and does not count. Exit status 1 says that the whole run catches less than 95 % of the others, or the short run less
than 97 % of what the whole one catches.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from mutation import groups, report
from mutation.changes import Mutant, Name, find, name_of, sample
from mutation.reach import Reach
from mutation.trees import Measurement, Tree, digest

#: How many mutants the fixed list has, and a sample.
FIXED, SAMPLE = 320, 200


# -- the fixed list ----------------------------------------------------------------------------------------------------


def fixed_list() -> Path:
    """Return the file of the fixed list."""
    return groups.ROOT / "tools" / "mutants.json"


def read_fixed() -> list[Name]:
    """Return the names of the fixed list."""
    path = fixed_list()
    return [Name(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))] if path.exists() else []


def renew(count: int, seed: int) -> None:
    """Keep the mutants whose lines are still there, and fill up each group."""
    found = {name: find(name) for name in tqdm(read_fixed(), "mutants of the list")}
    there = {name: mutant for name, mutant in found.items() if mutant is not None and name.group in groups.GROUPS}
    print(f"{len(found) - len(there)} of {len(found)} are gone")
    share = -(-count // len(groups.GROUPS))
    has = Counter(name.group for name in there)
    rng = random.Random(seed)
    for group in tqdm(groups.GROUPS, "groups"):
        for mutant in sample([group], max(0, share - has[group]), rng, there.values()):
            there[name_of(mutant)] = mutant
    names = sorted(there, key=lambda n: (list(groups.GROUPS).index(n.group), n.path, n.before, n.after, n.which))
    lines = ",\n".join(json.dumps(asdict(name)) for name in names)
    fixed_list().write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(names)} mutants are in {fixed_list().relative_to(groups.ROOT)}")


def choose(asked: argparse.Namespace) -> dict[Name, Mutant]:
    """Return the mutants that are asked for, and say which of the fixed list are gone."""
    if asked.count is not None or asked.seed is not None:
        seed = asked.seed if asked.seed is not None else time.time_ns() % 2**31
        print(f"seed {seed}", flush=True)
        share = -(-(asked.count or SAMPLE) // len(asked.group))
        return {name_of(mutant): mutant for mutant in sample(asked.group, share, random.Random(seed))}
    of_groups = [name for name in read_fixed() if name.group in asked.group]
    equal = report.reasons()
    names = [name for name in of_groups if (name.path, name.before, name.after) not in equal]
    print(f"{len(of_groups) - len(names)} of the list cannot be told from the original, and are not asked about")
    found = {name: find(name) for name in tqdm(names, "mutants of the list")}
    for name, mutant in found.items():
        if mutant is None:
            print(f"gone: {name.path} {name.operator}\n    - {name.before}\n    + {name.after}")
    return {name: mutant for name, mutant in found.items() if mutant is not None}


# -- a measurement -----------------------------------------------------------------------------------------------------


def answers(asked: argparse.Namespace, folder: Path) -> list[report.Row]:
    """Return what became of each mutant; each answer is appended to a file as it comes."""
    chosen = choose(asked)
    is_sample = asked.count is not None or asked.seed is not None
    tests = sorted({t for group in asked.group for t in groups.GROUPS[group][1]}) if is_sample else [
        f"packages/{layer}/tests" for layer in groups.LAYERS]  # fmt: skip
    _keep_what_serves(folder, digest(asked.cases, *tests, *groups.patterns()))
    results = folder / "results.jsonl"
    if not asked.resume:
        results.unlink(missing_ok=True)
    # Notes name files by their path, so trees lie where they lay before.
    shutil.rmtree(folder / "trees", ignore_errors=True)
    # A cache belongs to a tree: a mutant may write wrong files into it.
    tree = Tree(folder / "trees" / "plain", folder / "cache")
    print("tests as they are ...", flush=True)
    reach = Measurement(tree, folder, tests, asked.cases, asked.jobs).reach()
    for failed in sorted(reach.short.failed):
        print(f"left out, since it fails in a copy without any mutant: {failed}", flush=True)
    lines = results.read_text("utf-8").splitlines() if results.exists() else []
    rows = {_name_in(row): row for row in map(json.loads, lines)}  # of two answers the later one counts
    rows = {name: row for name, row in rows.items() if name in chosen}
    reach.look_up(chosen.values())
    free = _trees(asked.jobs, folder)
    new = list(rows.values())
    while True:
        new += _ask({name: mutant for name, mutant in chosen.items() if name not in rows}, reach, asked, free, results)
        rows |= {_name_in(row): row for row in new}
        failing = control(tree, new, asked.cases)
        if not failing:
            return list(rows.values())
        for test in sorted(failing):
            print(f"fails without any mutant, too, so what it caught is asked again: {test}", flush=True)
        reach.leave_out(failing)
        rows = {name: row for name, row in rows.items() if row["test"] not in failing}
        new = []


def control(tree: Tree, rows: list[report.Row], cases: str) -> set[str]:
    """Run the tests that have caught something as they ran then, without a mutant; return those that fail."""
    found: set[str] = set()
    for stage, which in (("short", cases), ("whole", "all")):
        tests = sorted({row["test"] for row in rows if row["caught"] == stage and "::" in row["test"]})
        for layer in sorted({groups.layer_of(test) for test in tests}):
            found.update(tree.failing([test for test in tests if groups.layer_of(test) == layer], which))
    return found


def _trees(jobs: int, folder: Path) -> list[Tree]:
    """Return a tree for each job, with a cache of its own."""
    for k in range(jobs if (folder / "cache").exists() else 0):
        shutil.copytree(folder / "cache", folder / "trees" / f"cache-{k}", symlinks=True)
    return [Tree(folder / "trees" / str(k), folder / "trees" / f"cache-{k}") for k in range(jobs)]


def _ask(missing: dict[Name, Mutant], reach: Reach, asked: argparse.Namespace, free: list[Tree],
         results: Path) -> list[report.Row]:  # fmt: skip
    """Ask the tests about each mutant, as many at a time as there are trees."""
    lock = threading.Lock()

    def in_a_tree(name: Name) -> report.Row:
        tree = free.pop()
        try:
            verdict = tree.judge(missing[name], reach, asked.cases, asked.budget)
        finally:
            free.append(tree)
        row = asdict(name) | {"line": missing[name].line} | asdict(verdict)
        with lock, results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        return row

    with ThreadPoolExecutor(asked.jobs) as pool:
        return list(tqdm(pool.map(in_a_tree, missing), "mutants", len(missing)))


def _name_in(row: report.Row) -> Name:
    return Name(**{key: row[key] for key in Name.__dataclass_fields__})


def _keep_what_serves(folder: Path, state: str) -> None:
    """Empty a folder of notes that were taken of other sources or tests."""
    stamp = folder / "state.txt"
    if stamp.exists() and stamp.read_text() == state:
        return
    if folder.exists() and any(folder.iterdir()):
        if not stamp.exists():
            raise SystemExit(f"{folder} holds something else")
        print("sources or tests are not those of the notes, which are taken again", flush=True)
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    stamp.write_text(state)


def parser() -> argparse.ArgumentParser:
    """Return what reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, help="take a sample, so many mutants in all")
    parser.add_argument("--seed", type=int, help="take this sample; the clock decides where it is not given")
    parser.add_argument("--group", nargs="+", choices=sorted(groups.GROUPS), default=list(groups.GROUPS))
    parser.add_argument("--renew", action="store_true", help="write the fixed list, and measure nothing")
    parser.add_argument("--cases", default="0", metavar="NUMBER", help="which part of large tables the short run tries")
    parser.add_argument("--budget", type=float, default=120.0, metavar="S",
                        help="seconds of tests for a mutant, for each of the two runs")  # fmt: skip
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where notes and answers stay")
    parser.add_argument("--resume", action="store_true", help="ask only for the answers that --keep does not have")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Make mutants, and say which of them survive."""
    asked = parser().parse_args(arguments)
    if asked.resume and not asked.keep:
        parser().error("--resume needs --keep")
    if asked.renew:
        renew(asked.count or FIXED, asked.seed or 0)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        rows = report.counted(found := answers(asked, asked.keep.resolve() if asked.keep else Path(scratch, "notes")))
    print(*report.details(rows), *report.table(rows), sep="\n")
    print(f"{len(found) - len(rows)} more cannot be told from the original")
    print(f"a mutant took {sum(row['seconds'] for row in found) / max(1, len(found)):.0f} s on average")
    return 0 if report.passes(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
