"""A program: interrupts what a process does once. ``interrupted_once.py SAMPLES OFFSET NAME...``

The process that forks has imported nothing of Theano but what is prepared, so that each child does the rest for the first
time.
"""

from __future__ import annotations

import sys

import numpy as np
from interrupts import first_time


def nothing():
    """Prepare nothing."""


def imported():
    """Import the names that a program has."""
    import theano
    import theano.tensor  # noqa: F401


def compiled():
    """Compile and call a function, with nothing found anywhere."""
    import theano
    import theano.tensor as T
    from theano.cache.names import digest_of
    from theano.rewriting.phases import phases

    x, s = T.dmatrix("x"), theano.shared(np.eye(2))
    f = theano.function([x], [T.dot(x, s), T.exp(x)], updates=[(s, s + 1)])
    return f(np.ones((2, 2))), s.get_value(), digest_of(repr(phases.contents()).encode())


def first_shared():
    """Make the first shared variable, which brings the layer of arrays."""
    import theano

    s = theano.shared(np.ones(3))
    s.set_value([1, 2, 3])
    return type(s).__name__, s.get_value()


def only_core():
    """Import the public module alone."""
    import theano  # noqa: F401


def cached():
    """Fill the cache in the process before this one."""
    import os

    child = os.fork()
    if child == 0:
        compiled()
        os._exit(0)
    os.waitpid(child, 0)


WAYS = {
    "import": (nothing, compiled),
    "first shared": (only_core, first_shared),
    "first function": (imported, compiled),
    "first function with a cache": (cached, compiled),
}

if __name__ == "__main__":
    samples, offset, *names = sys.argv[1:]
    for name in names:
        for problem in first_time(*WAYS[name], int(samples), float(offset)):
            print(f"{name}: {problem}")
