"""Calls functions of users' C ten thousand times and lets each of their blocks fail, for `sanitise`.

    python tools/sanitise_user_c.py          all must be well
    python tools/sanitise_user_c.py leak     the same, with an op that forgets what it has allocated: must be found

What the calls allocate is watched by the sanitiser of leaks, where it is loaded; all else is not, since Python leaves
much to the end of the process.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import theano
import theano.tensor as T

TESTS = Path(__file__).resolve().parent.parent / "packages"
sys.path += [str(TESTS / "graph-core" / "tests" / "codegen"), str(TESTS / "tensor" / "tests" / "c_contract")]

# The toys of the tests, found by the path above.
import c_toys as toys  # noqa: E402
import test_c_ops_on_our_types as ours  # noqa: E402

CALLS = 10_000
Case = tuple[Callable[[], Any], list[str]]


class Forgets(toys.WatchedAdd):
    """Adds, and forgets a piece of memory."""

    def c_code(self, node: Any, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        """Allocate once more."""
        rest = super().c_code(node, name, inputs, outputs, sub)
        return f"void *volatile forgotten = malloc(24); forgotten = NULL;\n{rest}"


def watched(linker: str, op: type = toys.WatchedAdd) -> Case:
    """Return a function of ops that note their steps, and the steps."""
    x, y, z = (toys.watched(name) for name in "xyz")
    a = op(1)(x, y)
    outputs = [op(2)(a, z), op(3)(a, x)]
    toys.told()
    f = theano.function([x, y, z], outputs, mode=theano.Mode(linker=linker, optimizer=None))
    log = toys.told()
    f(1.0, 2.0, 3.0)
    steps = [text for text in log if not text.startswith("cleanup")]
    return (lambda: f(1.0, 2.0, 3.0)), list(dict.fromkeys(steps))


def arrays() -> list[Case]:
    """Return functions over arrays, of which some fail by themselves."""
    x, y, v, w, i, n = T.dvector(), T.dscalar(), T.fvector(), T.lvector(), T.fvector(), ours.ts.int64()
    value, mine = np.arange(9.0), np.float32([1, 2])
    product = theano.function([x, y], ours.VectorTimesScalar()(ours.VectorTimesScalar()(x, y), y))
    in_file = theano.function([v, w], ours.VectorTimesVector()(v, w))
    quadratic = theano.function([x], ours.Quadratic(1, 2.0, 3.0)(x))
    pointers = theano.function([i], ours.OfPointer()(ours.ToPointer()(i)))
    lost = theano.function([i], ours.ToPointer(fails=True)(i))
    counting = theano.function([n], ours.Counting(1)(n))
    calls: list[Callable[[], Any]] = [
        lambda: product(value, 2.0), lambda: in_file(mine, [1, 2]), lambda: in_file(mine, [1, 2, 3]),
        lambda: quadratic(value), lambda: pointers(mine), lambda: lost(mine), lambda: counting(-1), lambda: counting(3),
    ]  # fmt: skip
    return [(call, []) for call in calls]


#: How many calls succeeded and failed. Not local variables: the sanitiser does not look into Python's stack.
COUNTS = {"done": 0, "failed": 0}


def run(cases: list[Case]) -> None:
    """Make all calls, with each step failing in its turn, and count them."""
    ways: list[tuple[Callable[[], Any], str | None]] = []
    for call, steps in cases:
        ways += [(call, step) for step in [None, *steps]]
    while sum(COUNTS.values()) < CALLS:
        for call, step in ways:
            toys.told(fail=step)
            try:
                call()
                COUNTS["done"] += 1
            except ValueError:
                COUNTS["failed"] += 1
    toys.told()


def main(wanted: list[str]) -> int:
    """Run, look for leaks, and say what was found."""
    whole = ctypes.CDLL(None)
    watching = hasattr(whole, "__lsan_do_recoverable_leak_check")
    if watching:
        whole.__lsan_disable()
    if wanted == ["leak"]:
        cases = [watched("c", Forgets)]
    else:
        cases = [watched("c"), watched("c|py"), watched("cvm"), *arrays()]
    for call, _ in cases[:3]:
        call()
    gc.collect()
    if watching:
        whole.__lsan_enable()
    run(cases)
    gc.collect()
    if watching:
        whole.__lsan_disable()
    leaks = whole.__lsan_do_recoverable_leak_check() if watching else 0
    found = "leaks" if leaks else "no leaks" if watching else "leaks not watched"
    print(f"user C: {COUNTS['done']} calls succeeded, {COUNTS['failed']} failed where they were told to, {found}")
    return 1 if leaks else 0


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)  # without the check of leaks at the end of Python
