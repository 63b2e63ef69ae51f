"""What a framework's adapter gives: a vocabulary, and functions built from workloads.

The vocabulary, by which workloads are said, is NumPy's where NumPy has a name: ``exp log log1p tanh sin cos sqrt erf
sigmoid softplus relu where clip dot batched_dot outer sum mean var std max min prod argmax argmin any all cumsum
concatenate stack reshape sort argsort searchsorted``, and beside these ``logsumexp softmax log_softmax cross_entropy``
of rows, ``take add_rows set_rows set_block where_true largest contiguous``, ``conv2d max_pool2 batch_norm iterate
recurrent states sparse_dot random``, ``cholesky solve solve_lower inverse det eigh svd qr singular_values diagonal``,
and ``value_and_grad``. What is not there raises `NotAvailable`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.workload import Arrays, Workload

clock = time.perf_counter
THREADS = int(os.environ.get("BENCH_THREADS", "1"))
CACHE = os.environ.get("BENCH_CACHE", "")
DEVICE = os.environ.get("BENCH_DEVICE", "")  # as the framework of this process calls it; empty: the processor
SMALLEST = 2**20  # bytes; below, a call costs more than moving the numbers
SIZES = {"float16": 2, "float32": 4, "int32": 4}  # of a number, in bytes; 8 for others


class NotAvailable(Exception):
    """This framework has no way to say this workload."""


@dataclass(frozen=True)
class Built:
    """A workload, ready to be called.

    Parameters
    ----------
    function, arguments
        ``function(*arguments)`` is one call, finished when it returns or, if there is ``finish``, after that.
    results, state
        What the first call gave, as NumPy arrays.
    seconds : dict
        What building and compiling cost, by phase; "total" is all of it.
    times_itself : bool
        Whether the function returns how long it took.
    finish : callable, optional
        Waits for all calls so far, where a call only asks a device for its work.
    """

    function: Callable[..., Any]
    arguments: tuple
    results: list[np.ndarray]
    state: dict[str, np.ndarray]
    seconds: dict[str, float]
    times_itself: bool = False
    finish: Callable[[], Any] | None = None


class Framework:
    """A system that workloads can be said in."""

    version = ""
    device = ""  # what the device calls itself

    def build(self, workload: Workload, dtype: str) -> Built:
        """Compile a workload and call it once."""
        raise NotImplementedError

    def __getattr__(self, word: str) -> Any:
        raise NotAvailable(f"no {word}")


def bytes_moved(workload: Workload, dtype: str) -> float:
    """Return how many bytes a workload reads and writes at least.

    Raises
    ------
    NotAvailable
        Memory is not what limits it.
    """
    moved = (workload.reads + workload.writes) * SIZES.get(dtype, 8)
    if not moved:
        raise NotAvailable("memory is not its limit")
    if moved < SMALLEST:
        raise NotAvailable("so few bytes are no matter of bandwidth")
    return moved


def copies(values: Any) -> list[np.ndarray]:
    """Return results as NumPy arrays that nobody else writes to."""
    return [np.array(value) for value in values]


def copies_by_name(values: Arrays) -> dict[str, np.ndarray]:
    """Return state as NumPy arrays that nobody else writes to."""
    return {name: np.array(value) for name, value in values.items()}
