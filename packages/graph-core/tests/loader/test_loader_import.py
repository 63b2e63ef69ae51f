"""Ctrl-C while the compiled machine is imported: it is an interruption, and afterwards the import works."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from portion import portion
from theano.graph.signals import deferred_signals

INTERRUPTED = """
import signal, sys
import theano.errors, theano.graph, theano.codegen.key

def handler(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, handler)
try:
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))
    import theano.loader.module
    signal.pause()  # it came too late: now, then
except KeyboardInterrupt:
    from theano.loader.module import Function
    print("interrupted, then", Function.__name__)
"""


@pytest.mark.parametrize("delay", portion((0.0005 * k for k in range(1, 17)), one_in=5))
def test_the_import_can_be_interrupted(delay: float) -> None:
    """At moments spread over the time that it takes (before, at half of these it failed for ever)."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, str(delay)], capture_output=True, text=True, check=False)
    assert done.stdout == "interrupted, then Function\n", done.stderr


def test_each_handler_is_called_once_and_is_back() -> None:
    came: list[int] = []
    both = (signal.SIGUSR1, signal.SIGUSR2)

    def handler(number: int, frame: object) -> None:
        came.append(number)
        if number == signal.SIGUSR1:
            raise TimeoutError

    before = [signal.signal(number, handler) for number in both]
    try:
        with pytest.raises(TimeoutError), deferred_signals():
            for number in (*both, *both):
                signal.raise_signal(number)
            assert came == []
        assert sorted(came) == sorted(both)
        assert all(signal.getsignal(number) is handler for number in both)
    finally:
        for number, old in zip(both, before, strict=True):
            signal.signal(number, old)
