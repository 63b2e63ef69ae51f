"""Functions for tests of `theano.distributed.map`, in a module that workers can import."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np

import theano
import theano.tensor as T


class Odd(Exception):
    """An exception that pickles, and cannot be made again from its pickle."""

    def __init__(self, a: int, b: int):
        super().__init__(f"{a} and {b}")
        self.what = CannotBeLoaded()  # with Dask loaded, another number of arguments is no obstacle


class Fit:
    """Some steps of descent, and what else a task may do to its worker."""

    def __init__(self, folder: str | None = None):
        self.folder = folder
        rate, self.w = T.dscalar("rate"), theano.shared(np.array([1.0, 2.0]), "w")
        cost = T.sum(self.w**4)
        self.step = theano.function([rate], cost, updates={self.w: self.w - rate * T.grad(cost, self.w)})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.folder is not None:
            (Path(self.folder) / f"{os.getpid()}-{os.urandom(4).hex()}").touch()

    def __call__(self, what: str, rate: float = 0.01, steps: int = 3) -> Any:
        if what == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "exit":
            sys.exit(3)
        if what == "raise":
            raise ValueError(f"rate {rate} is not good")
        if what == "odd":
            raise Odd(1, 2)
        if what == "lambda":
            return threading.Lock()  # cannot be pickled
        costs = [float(self.step(rate)) for _ in range(steps)]
        return costs, self.w.get_value()


class Chain:
    """Numbers of random streams that are seeded by the parameter."""

    def __init__(self, streams: Any):
        self.streams = streams
        self.draw = theano.function([], streams.normal((3,)))

    def __call__(self, seed: int | None) -> Any:
        if seed is not None:
            self.streams.seed(seed)
        return [self.draw() for _ in range(2)]


class CannotBeLoaded:
    """What pickles, and fails in the worker."""

    def __call__(self, x: Any) -> Any:
        return x

    def __setstate__(self, state: Any) -> None:
        raise OSError("no such device")

    def __getstate__(self) -> dict[str, int]:
        return {"a": 1}


def expected(rate: float, steps: int) -> tuple[list[float], np.ndarray]:
    """Return what `Fit` returns, by NumPy."""
    w, costs = np.array([1.0, 2.0]), []
    for _ in range(steps):
        costs.append(float(np.sum(w**4)))
        w = w - rate * 4 * w**3
    return costs, w
