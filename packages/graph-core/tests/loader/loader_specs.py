"""Specifications and helpers that the tests of the machine share."""

from __future__ import annotations

import gc
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

VECTOR = ("float64", 1, (False,), False)
MATRIX = ("float64", 2, (False, False), False)
ZERO = ("float64", 0, (), False)
SCALAR = ("float64", 0, (), True)


def number(value: float) -> bytes:
    """Parameters of kernels that take one double."""
    return struct.pack("d", value)


def integer(value: int) -> bytes:
    """Parameters of kernels that take one 64-bit integer."""
    return struct.pack("q", value)


def given(slot: int, name: str, filter: Callable[[Any], Any] | None = None, **more: Any) -> tuple[Any, ...]:
    """A required input."""
    return (slot, name, True, None, filter, more.get("writable", False))


def resident_kb() -> int:
    """Memory of this process, after collecting garbage."""
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def in_threads(count: int, body: Any) -> None:
    errors: list[BaseException] = []
    barrier = threading.Barrier(count)

    def run(k: int) -> None:
        try:
            barrier.wait()
            body(k)
        except BaseException as error:  # handed to the test's own thread
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]
