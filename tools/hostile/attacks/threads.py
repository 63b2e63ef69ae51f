"""Functions with and without updates, called by several threads at once, and forks in the middle.

No update is lost, an update sees what the one before it left, and a reader sees an array of one moment.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from hostile.finding import Finding, expect

SIZES = (1, 3, 1000, 30_000, 100_000, 300_000)
FORK_LIMIT = 30  # seconds that a child may take for one call


def attack(rng: np.random.Generator) -> Finding | None:
    """Call a few functions of the same shared variables from several threads."""
    scene = Scene(rng)
    threads, calls = int(rng.integers(2, 9)), int(rng.integers(3, 60))
    forks = int(rng.integers(0, 4)) if rng.random() < 0.4 else 0
    plan = [[str(k) for k in rng.choice(list(scene.functions), calls)] for _ in range(threads)]
    start = threading.Barrier(threads + 1)
    problems: list[Finding] = []

    def work(words: list[str]) -> None:
        start.wait()
        try:
            for word in words:
                scene.call(word)
        except Finding as found:
            problems.append(found)
        except Exception as error:  # noqa: BLE001  (told to the main thread)
            problems.append(Finding(f"{type(error).__name__} in a thread", str(error)))

    workers = [threading.Thread(target=work, args=(words,), daemon=True) for words in plan]
    for worker in workers:
        worker.start()
    start.wait()
    for _ in range(forks):
        time.sleep(rng.uniform(0, 0.02))
        _fork(scene)
    for worker in workers:
        worker.join()
    if problems:
        raise problems[0]
    scene.compare([word for words in plan for word in words])
    return None


class Scene:
    """Shared variables of one random size and functions of them whose calls commute."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.size = int(rng.choice(SIZES))
        self.dtype = str(rng.choice(["float64", "float32", "int64"]))
        self.a, self.b = (theano.shared(np.zeros(self.size, self.dtype), name) for name in "ab")
        self.x = np.arange(self.size).astype(self.dtype)
        a, b, x = self.a, self.b, T.TensorType(self.dtype, (False,))("x")
        one = np.asarray(1, self.dtype)
        self.said = f"{self.size} of {self.dtype}"
        makers: dict[str, Callable[[], Any]] = {
            "count": lambda: theano.function([], a + 0, updates=[(a, a + one)]),
            "count both": lambda: theano.function([], [], updates=[(a, a + one), (b, b + one)]),
            "count b": lambda: theano.function([theano.In(x, borrow=True)], b * one, updates=[(b, b + one + 0 * x)]),
            "write": lambda: theano.function([], [], updates=[(a, T.inc_subtensor(a[:], one))]),
            "read": lambda: theano.function([], [a + 0, b * one]),
            "sum": lambda: theano.function([x], (x + one).sum()),
        }
        chosen = rng.choice(list(makers), int(rng.integers(1, len(makers) + 1)), replace=False)
        self.functions = {str(word): makers[str(word)]() for word in chosen}

    def call(self, word: str) -> None:
        """Call one function and look at what can be said of its answer."""
        f = self.functions[word]
        if word == "sum":
            total = self.size * (self.size + 1) / 2
            expect(np.isclose(float(f(self.x)), total, rtol=1e-3), "a sum is wrong", self.said)
            return
        found = f(self.x) if word == "count b" else f()
        for value in found if isinstance(found, list) else [found]:
            expect(value.min() == value.max(), "a call saw a shared value half written", f"{self.said} {word} {value}")

    def compare(self, called: list[str]) -> None:
        """See that each call counts."""
        counting = {self.a: ("count", "count both", "write"), self.b: ("count both", "count b")}
        for shared, words in counting.items():
            wanted = sum(called.count(word) for word in words)
            value = shared.get_value()
            expect((value == wanted).all(), "updates were lost", f"{self.said} {shared}: {value} instead of {wanted}")


def _fork(scene: Scene) -> None:
    """Fork while threads are at work; the child calls each function once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of forks beside threads
        pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(FORK_LIMIT)
        status = 1
        try:
            for word in scene.functions:
                scene.call(word)
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    expect(status != -signal.SIGALRM, "a forked child hangs", scene.said)
    expect(status == 0, "a forked child fails", f"{scene.said} {status}")
