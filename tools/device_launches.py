"""How long the host takes to ask for one launch, besides the driver: python tools/device_launches.py

The functions run on a driver of CUDA's that does nothing (``packages/gpu-backend/tests/fake_cuda.c``), so that what is
left is ours: a call's own time, the outputs, lengths and strides, the struct, the stream. Each function is a chain of
launches of one kind; the time of a call with few of them is taken from that of a call with many.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from theano import gpuarray
from theano.gpuarray import GpuArrayType, GpuContext
from theano.gpuarray.drivers import CudaDriver

FAKE = Path(__file__).resolve().parents[1] / "packages/gpu-backend/tests/fake_cuda.c"
SHORT, LONG = 5, 45  # links
CALLS = 2000


def start() -> GpuContext:
    """Return a context on the driver that does nothing."""
    path = Path(tempfile.mkdtemp()) / "libcuda.so"
    command = [os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", str(FAKE), "-o", str(path)]
    subprocess.run(command, check=True)
    ctypes.CDLL(str(path)).fake_quiet(1)
    return gpuarray.reg_context(None, GpuContext(None, CudaDriver(0, str(path))))


CHAINS: dict[str, Callable[[Any, Any], Any]] = {
    "products": lambda x, y: T.dot(x, y),
    "element-wise loops, in one piece": lambda x, y: x + y,
    "element-wise loops, transposed": lambda x, y: x + y.T,
    "reductions": lambda x, y: x.max(axis=0, keepdims=True) + y,
    "cumulative sums": lambda x, y: T.cumsum(x, axis=0),
}


def chain(link: Callable[[Any, Any], Any], n: int) -> tuple[float, int]:
    """Return how long a call of a function of ``n`` links takes at best, in seconds, and its launches."""
    kind = GpuArrayType("float32", (False, False))
    x, y = kind("x"), kind("y")
    v: Any = x
    for _ in range(n):
        v = link(v, y)
    # Else sums of sums become one sum, and neighbours one loop.
    mode = theano.compile.get_default_mode().including("gpuarray").excluding("fusion", "canonicalize")
    f = theano.function([x, y], gpuarray.as_gpuarray_variable(v), mode=mode, on_unused_input="ignore")
    values = [gpuarray.asarray(np.ones((4, 4), "float32")) for _ in range(2)]
    count = gpuarray.get_context(None).counts
    before = count()["launches"]
    f(*values)
    launches = count()["launches"] - before
    best = float("inf")
    for _ in range(CALLS):
        begin = time.perf_counter()
        f(*values)
        best = min(best, time.perf_counter() - begin)
    return best, launches


def main() -> None:
    """Print a line for each kind of launch."""
    start()
    print(f"{'a chain of':36} {'ns per launch':>14}")
    for name, link in CHAINS.items():
        (short, few), (long, many) = (chain(link, n) for n in (SHORT, LONG))
        if many == few:
            sys.exit(f"{name}: the chain became {few} launches")
        print(f"{name:36} {(long - short) / (many - few) * 1e9:14.0f}   ({many} launches in {long * 1e6:.1f} us)")


if __name__ == "__main__":
    main()
