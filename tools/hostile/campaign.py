"""Sharing the time among the kinds of attacks."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from hostile.attacker import Attacker
from hostile.finding import Finding

SLICE = 30.0
"""Seconds that one child works at most: what it leaves in memory ends with it."""


@dataclass
class Count:
    """What was done in one way."""

    begun: int = 0
    attacks: int = 0
    seconds: float = 0.0
    findings: dict[str, list[int]] = field(default_factory=dict)  # what it is, and the seeds that show it

    @property
    def found(self) -> int:
        """The number of attacks that found something."""
        return sum(map(len, self.findings.values()))


def seed_of(seed: int, kind: str, number: int) -> int:
    """Return the seed of one attack of a campaign.

    Examples
    --------
    >>> seed_of(1, "graphs", 0) == seed_of(1, "graphs", 0) != seed_of(1, "graphs", 1)
    True
    """
    digest = hashlib.sha256(f"{seed} {kind} {number}".encode()).digest()
    return int.from_bytes(digest[:6], "big")


class Campaign:
    """Attacks of several kinds, for some time or of some number each.

    Parameters
    ----------
    kinds : sequence of str
        Which attacks.
    seed : int
        What all of them follow from.
    folder : Path
        Where children may write.
    seconds : float
        How long, all together. The kind that had least of it comes next.
    attacks : int or None
        Instead: so many of each kind.
    fault, limit
        What to plant, and seconds for one attack other than the kind's own.
    """

    def __init__(self, kinds: Sequence[str], seed: int, folder: Path, *, seconds: float = 0, attacks: int | None = None,
                 fault: str = "", limit: float | None = None) -> None:  # fmt: skip
        self.seed, self.folder, self.seconds, self.attacks = seed, folder, seconds, attacks
        self.fault, self.limit = fault, limit
        self.counts = {kind: Count() for kind in kinds}
        self.slice = min(SLICE, max(seconds / 4 / len(kinds), 2.0)) if attacks is None else SLICE
        self._guard = threading.Lock()
        self._began = 0.0
        self._busy: list[str] = []

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._began

    def run(self, jobs: int, tell: Callable[[str, int, Finding, str], None], step: Callable[[], None]) -> None:
        """Attack; each finding is told with its kind, seed and the child's output, each step is announced."""
        self._began = time.monotonic()
        with ThreadPoolExecutor(jobs) as pool:
            works = [pool.submit(self._work, number, tell, step) for number in range(jobs)]
            try:
                wait(works)
            except KeyboardInterrupt:
                self.stop()
        for work in works:
            work.result()

    def stop(self) -> None:
        """Begin nothing more."""
        self.seconds, self.attacks = 0, None

    def _work(self, number: int, tell: Callable[[str, int, Finding, str], None], step: Callable[[], None]) -> None:
        folder = self.folder / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        while (kind := self._next()) is not None:
            attacker = Attacker(kind, folder, self.fault, self.limit)
            until = time.monotonic() + self.slice
            try:
                while time.monotonic() < until and (seed := self._take(kind)) is not None:
                    began = time.monotonic()
                    found, printed = attacker.attack(seed)
                    with self._guard:
                        self._note(kind, seed, time.monotonic() - began, found)
                        if found is not None:
                            tell(kind, seed, found, printed)
                        step()
            finally:
                attacker.close()
                with self._guard:
                    self._busy.remove(kind)

    def _next(self) -> str | None:
        """Return the kind that had least, or None at the end."""
        with self._guard:
            if self._over():
                return None
            open_kinds = [k for k, c in self.counts.items() if self.attacks is None or c.begun < self.attacks]
            if not open_kinds:
                return None
            kind = min(open_kinds, key=lambda k: (self._busy.count(k), self.counts[k].seconds))
            self._busy.append(kind)
            return kind

    def _over(self) -> bool:
        return self.attacks is None and self.elapsed >= self.seconds

    def _take(self, kind: str) -> int | None:
        """Return the seed of the next attack of a kind, or None if there is none."""
        with self._guard:
            count = self.counts[kind]
            if self._over() or (self.attacks is not None and count.begun >= self.attacks):
                return None
            count.begun += 1
            return seed_of(self.seed, kind, count.begun - 1)

    def _note(self, kind: str, seed: int, seconds: float, found: Finding | None) -> None:
        count = self.counts[kind]
        count.attacks += 1
        count.seconds += seconds
        if found is not None:
            count.findings.setdefault(found.what, []).append(seed)
