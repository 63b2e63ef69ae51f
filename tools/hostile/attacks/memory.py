"""Calls without memory: MemoryError, shared values unchanged, and the next call right."""

from __future__ import annotations

import contextlib
import gc
import resource
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from hostile.finding import Finding, expect
from theano.loader.module import memory_trim

MB = 1 << 20

PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "outer": lambda lib, x: lib.outer(x, x) + 1,
    "product": lambda lib, x: lib.dot(lib.outer(x, x), x),
    "twice": lambda lib, x: lib.sort(lib.outer(x, x).flatten())[::-1],
    "joined": lambda lib, x: lib.concatenate([x] * 400) * 2,
    "indexed": lambda lib, x: lib.outer(x, x)[[0, 1, 0]],
    "exponents": lambda lib, x: lib.exp(lib.outer(x, x)).sum(axis=0),
}


def attack(rng: np.random.Generator) -> Finding | None:
    """Take memory away from calls of a function with updates."""
    name = str(rng.choice(sorted(PROGRAMS)))
    x = T.dvector("x")
    state = theano.shared(np.zeros(5), "state")
    big = theano.shared(np.ones(10), "big")
    program = PROGRAMS[name]
    f = theano.function([x], program(T, x), updates=[(state, state + 1), (big, T.concatenate([x, x]))])
    expected = 0.0
    for _ in range(6):
        value = np.round(rng.uniform(-1, 1, int(rng.choice([500, 1500, 3000]))), 2)
        space = int(rng.choice([0, 1, 4, 16, 64])) * MB
        before = big.get_value()
        said = f"{name} of {len(value)} with {space // MB} MB"
        wanted = program(np, value)
        memory_trim()
        gc.collect()
        try:
            with limited(space):
                found = np.asarray(f(value))
        except MemoryError as error:
            expect(len(str(error).splitlines()) <= 10, "a MemoryError of more than 10 lines", f"{said}\n{error}")
            kept = (state.get_value() == expected).all() and np.array_equal(big.get_value(), before)
            expect(kept, "a shared value changed without memory", said)
        else:
            expected += 1
            expect(np.allclose(found, wanted), "wrong with little memory", said)
        small = np.array([1.0, 2.0])
        expect(np.allclose(f(small), program(np, small)), "wrong after a lack of memory", said)
        expected += 1
        expect((state.get_value() == expected).all(), "an update was lost after a lack of memory", said)
    return None


@contextlib.contextmanager
def limited(space: int) -> Iterator[None]:
    """Let this process have so many bytes more of address space than it has."""
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    old = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + space, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, old)
