"""Signals at random moments: to a process that compiles, calls, pickles and sweeps, beside another one.

Who was killed leaves nothing running and nothing wrong in the cache; who was interrupted can try again; who shares the
cache is not disturbed.
"""

from __future__ import annotations

import signal
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from hostile.attacks.cache import environment
from hostile.finding import Finding, expect
from hostile.victim import WRONG, command, end_of, ended, hold_to_right, left_behind

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def attack(rng: np.random.Generator) -> Finding | None:
    """Start two that work, send one of them signals, and look at what is left."""
    with tempfile.TemporaryDirectory(prefix="kills-", ignore_cleanup_errors=True) as name:
        env = environment(Path(name))
        seed = int(rng.integers(10**6))
        beside = _started(seed + 1, env)
        victim = _started(seed, env)
        last = SIGNALS[rng.integers(2)]
        sent = []
        for _ in range(int(rng.integers(0, 6))):
            time.sleep(rng.uniform(0, 0.7))
            sent.append(signal.SIGINT)
            victim.send_signal(signal.SIGINT)
        time.sleep(rng.uniform(0, 1.5))
        said = f"sent {[s.name for s in [*sent, last]]}"
        early = victim.poll()
        victim.send_signal(last)
        end = end_of(victim, 30)
        try:
            expect(not end.hung, "a victim does not end", end.said)
            expect(end.status != WRONG and ": wrong" not in end.out, "wrong after interruptions", end.said)
            expect(early is None, "the victim ended at an interruption", end.said)
            expect(end.status == -last, f"{last.name} did not end the victim as it does others", end.said)
            time.sleep(rng.uniform(0, 0.5))
            expect(beside.poll() is None, "the process beside it ended", "")
            beside.kill()
            neighbour = end_of(beside, 30)
            fell = neighbour.hung or neighbour.status != -signal.SIGKILL
            expect(not fell, "the process beside it fell", neighbour.said)
            lost = left_behind(30)
            expect(not lost, "something is left running", lost)
            for other in (seed, seed + 1):
                hold_to_right(ended(command("check", other, 3), env), "the next process")
            verify = ended(command("cache", "verify"), env)
            expect(verify.status == 0, "a wrong entry is left in the cache", verify.said)
        except Finding as found:
            found.details = f"{said}\n{found.details}"
            raise
        finally:
            for child in (victim, beside):
                child.kill()
            left_behind(1)
    return None


def _started(seed: int, env: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a worker and wait until it has begun."""
    child = subprocess.Popen(
        command("work", seed), env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout is not None
    expect(child.stdout.readline() == b"ready\n", "a worker did not begin")
    return child
