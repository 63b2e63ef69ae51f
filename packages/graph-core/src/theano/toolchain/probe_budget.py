"""The time that compilers have in all to say what they are and to show that they work.

Each question starts a program. A compiler that hangs would hang at each of them, so they share one limit; and that it
used up its share is noted for later processes. The note holds for some minutes and for these files of the
compiler: one that has been mended is asked again.
"""

from __future__ import annotations

import json
import os
import shlex
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from theano.toolchain.messages import shorten
from theano.toolchain.progress import ProbeLine

if TYPE_CHECKING:
    from theano.toolchain.description import Notes
    from theano.toolchain.run import ProcessResult

USUAL_LIMIT = 60.0
"""Seconds, for a question outside a search."""
VERDICT_LIFE = 600
"""Seconds that later processes believe that a compiler hangs."""


class ProbeBudget:
    r"""The remaining time for probes.

    Parameters
    ----------
    limit : float
        Seconds for all of them.
    progress : {'auto', 'always', 'never'}
        Whether to say what is waited for.

    Examples
    --------
    >>> import sys, tempfile
    >>> budget = ProbeBudget(60)
    >>> with tempfile.TemporaryDirectory() as folder, budget.to("a program"):
    ...     run_probe([sys.executable, "-c", "print('I am')"], folder).output
    'I am\n'
    >>> 0 < budget.left < 60
    True
    """

    def __init__(self, limit: float = USUAL_LIMIT, progress: str = "auto"):
        self.left = self._allowed = limit
        self._progress = progress
        self._line = ProbeLine("a compiler", "never")
        self.hung = ""
        self.failure = ""

    @contextmanager
    def to(self, compiler: str, share: float = 1.0) -> Iterator[None]:
        """Let `run_probe` ask this compiler, which has a share of the remaining time.

        Afterwards `hung` says at what it used up its share, `failure` what went wrong last; both "" if nothing.
        """
        self._allowed, self.hung, self.failure = self.left * share, "", ""
        self._line = ProbeLine(compiler, self._progress)
        _asking.now = self
        try:
            yield
        finally:
            _asking.now = None
            self._line.finish()

    def put(self, arguments: Sequence[str], folder: str, log: str = "log") -> ProcessResult:
        """Start the compiler and return what came of it; it has timed out at once if no time is left.

        Raises
        ------
        OSError
            The disk has no space for its answer.
        """
        # Starting programs brings in much; mostly what they would say is noted in the cache.
        from theano.toolchain.run import NOT_STARTED, ProcessResult, StartError, run_to_end

        if self._allowed <= 0:
            return ProcessResult(-9, "", timed_out=True)
        start = time.monotonic()
        try:
            result = run_to_end(arguments, folder, self._allowed, log, self._line.tick)
        except StartError as error:
            result = ProcessResult(NOT_STARTED, f"it cannot be started: {error.strerror}")
        seconds = time.monotonic() - start
        self.left -= seconds
        self._allowed -= seconds
        if result.status != 0:
            self.failure = f"`{_shortened(arguments)}` {result.ending(seconds)}"
        if result.timed_out or self._allowed <= 0:
            self.hung = self.failure or f"it needs more than {seconds:.3g} s to answer"
        return result


_asking = threading.local()


def run_probe(arguments: Sequence[str], folder: str, log: str = "log") -> ProcessResult:
    """Start a compiler, within the time that is left for the search that is going on; see `ProbeBudget.put`."""
    budget: ProbeBudget = getattr(_asking, "now", None) or ProbeBudget()
    return budget.put(arguments, folder, log)


def _shortened(arguments: Sequence[str]) -> str:
    """Return a command without most of its options."""
    words = [os.path.basename(arguments[0]), *arguments[1:]]
    shown = words if len(words) <= 9 else [*words[:2], "...", *words[-6:]]
    return shorten(shlex.join(shown))


class Verdicts:
    """What is noted about compilers that hang.

    Parameters
    ----------
    notes : Notes
    digest : callable
        Makes a note's key from a list of texts.
    clock : callable, optional
        For tests.

    Examples
    --------
    >>> class Memory(dict):
    ...     def notes(self, key):
    ...         return [self[key]] if key in self else []
    ...     add_note = dict.__setitem__
    >>> verdicts = Verdicts(Memory(), "".join, lambda: 1e9)
    >>> verdicts.add("cc 1", "it hangs")
    >>> verdicts.find("cc 1")
    'it hangs (0 s ago; it is asked again in 600 s, or when it has changed)'
    >>> verdicts.find("cc 2")
    ''
    """

    def __init__(self, notes: Notes, digest: Callable[[list[str]], str], clock: Callable[[], float] = time.time):
        self._notes, self._digest, self._clock = notes, digest, clock

    def _key(self, identity: str, period: int) -> str:
        # Part of the key, so that the notes of the past are not read.
        return self._digest(["compiler that hangs", identity, str(period)])

    def add(self, identity: str, text: str) -> None:
        """Note why a compiler is not to be asked for a while."""
        now = int(self._clock())
        self._notes.add_note(self._key(identity, now // VERDICT_LIFE), json.dumps({"time": now, "why": text}))

    def find(self, identity: str) -> str:
        """Return why a compiler is not to be asked now; "" if nothing speaks against it."""
        now = self._clock()
        period = int(now) // VERDICT_LIFE
        for text in (text for when in (period, period - 1) for text in self._notes.notes(self._key(identity, when))):
            try:
                facts = json.loads(text)
                age, why = now - float(facts["time"]), str(facts["why"])
            except (ValueError, KeyError, TypeError):
                continue
            if -1 < age < VERDICT_LIFE:
                rest = VERDICT_LIFE - age
                return f"{why} ({max(age, 0):.0f} s ago; it is asked again in {rest:.0f} s, or when it has changed)"
        return ""
