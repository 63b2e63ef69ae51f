"""What users type: ``python -m hostile``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from hostile.attacker import KINDS, Attacker
from hostile.campaign import Campaign, Count
from hostile.finding import Finding, write

SHOWN = 5  # programs written of findings that read alike


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hostile", description="Attack Theano in random ways.")
    parser.add_argument("--minutes", type=float, default=60, help="how long; an hour unless given")
    parser.add_argument("--attacks", type=int, help="instead of a time: so many attacks of each kind")
    parser.add_argument("--seed", type=int, help="what all attacks follow from; the clock unless given")
    parser.add_argument("--only", metavar="KIND,...", help=f"some of {', '.join(KINDS)}")
    parser.add_argument("--jobs", type=int, default=1, help="attacks side by side; 1 unless given")
    parser.add_argument("--limit", type=float, help="seconds for one attack, instead of each kind's own limit")
    parser.add_argument("--to", type=Path, default=Path("hostile-findings"), help="folder for what is found")
    parser.add_argument("--repeat", metavar="KIND:SEED", action="append", help="carry out one attack again")
    parser.add_argument("--fault", default="", help="plant a fault (see hostile/faults.py), which must be found")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack, and return 1 if anything was found."""
    options = _parser().parse_args(arguments)
    kinds = options.only.split(",") if options.only else list(KINDS)
    wrong = [kind for kind in kinds if kind not in KINDS]
    if wrong:
        raise SystemExit(f"no kind of attack is called {', '.join(wrong)}; there are {', '.join(KINDS)}")
    with tempfile.TemporaryDirectory(prefix="hostile-", ignore_cleanup_errors=True) as folder:
        if options.repeat:
            return _repeat(options, Path(folder))
        return _campaign(options, kinds, Path(folder))


def _repeat(options: argparse.Namespace, folder: Path) -> int:
    status = 0
    for word in options.repeat:
        kind, _, seed = word.partition(":")
        attacker = Attacker(kind, folder, options.fault, options.limit)
        found, printed = attacker.attack(int(seed))
        attacker.close()
        print(f"{word}: {found or 'nothing found'}\n{printed if found else ''}".rstrip(), flush=True)
        status |= found is not None
    return status


def _campaign(options: argparse.Namespace, kinds: list[str], folder: Path) -> int:
    from tqdm import tqdm  # the tests of this package do without

    seed = options.seed if options.seed is not None else time.time_ns() // 1000 % 10**9
    print(f"seed {seed}", flush=True)
    campaign = Campaign(kinds, seed, folder, seconds=options.minutes * 60, attacks=options.attacks,
                        fault=options.fault, limit=options.limit)  # fmt: skip
    total = len(kinds) * options.attacks if options.attacks else round(options.minutes * 60)
    bar = tqdm(total=total, unit="" if options.attacks else "s", mininterval=1, file=sys.stderr)

    def tell(kind: str, seed: int, found: Finding, printed: str) -> None:
        if len(campaign.counts[kind].findings[found.what]) <= SHOWN:
            path = write(options.to, kind, seed, found, printed)
            bar.write(f"{kind}: {found.what}\n    python {path}", file=sys.stdout)
            sys.stdout.flush()

    def step() -> None:
        counts = campaign.counts
        done = sum(c.attacks for c in counts.values())
        bar.update((done if options.attacks else min(round(campaign.elapsed), total)) - bar.n)
        bar.set_postfix(attacks=done, findings=sum(c.found for c in counts.values()), refresh=False)

    campaign.run(options.jobs, tell, step)
    bar.close()
    print(table(campaign.counts))
    return int(any(count.found for count in campaign.counts.values()))


def table(counts: dict[str, Count]) -> str:
    """Return what was done and found, a line for each kind.

    Examples
    --------
    >>> print(table({"graphs": Count(attacks=3, seconds=2.0, findings={"an output is wrong": [5]})}))
    kind        attacks  seconds  findings
    graphs            3        2         1
    all               3        2         1
    graphs: an output is wrong (1 time, seed 5)
    """
    lines = ["kind        attacks  seconds  findings"]
    together = Count()
    for kind, count in counts.items():
        lines.append(f"{kind:<10} {count.attacks:8d} {count.seconds:8.0f} {count.found:9d}")
        together.attacks += count.attacks
        together.seconds += count.seconds
    found = sum(count.found for count in counts.values())
    lines.append(f"{'all':<10} {together.attacks:8d} {together.seconds:8.0f} {found:9d}")
    for kind, count in counts.items():
        for what, seeds in sorted(count.findings.items(), key=lambda item: -len(item[1])):
            times = "1 time" if len(seeds) == 1 else f"{len(seeds)} times"
            lines.append(f"{kind}: {what} ({times}, seed {seeds[0]})")
    return "\n".join(lines)
