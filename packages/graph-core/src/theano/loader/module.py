"""The compiled machine as Python sees it: load libraries, make callable programs.

A program is given to :class:`Function` as a mapping, or as keywords. :mod:`theano.loader.schema` declares and explains
its entries: those of :class:`~theano.loader.schema.MachineProgram`, and those that only a running process has. Where
it says that an entry is a list of records, plain tuples with the same fields will do.

Results are ndarrays, or NumPy scalars where ``spec.scalar``. A result that views an argument has it as base; one that
is the argument, computed in place, is the argument itself. Nothing handed out is ever written again
while a reference outside exists. An array that a result or an update leaves behind is written again by a later call
once no reference outside is left (results: up to 1 MiB).

Examples
--------
>>> from theano.loader.module import Function
>>> def add(node, inputs, outputs):
...     outputs[0][0] = inputs[0] + inputs[1]
>>> total = [10]
>>> f = Function(
...     slots=[("input", None, None), ("shared", None, total), ("temp", None, None)],
...     instructions=[("perform", add, None, [0, 1], [2])],
...     inputs=[(0, "step", True, None, None)],
...     outputs=[2],
...     returns="one",
...     updates=[(total, 2)],
... )
>>> f(1), f(step=5), total
(11, 16, [16])
"""

from __future__ import annotations

import os

from theano.graph.signals import deferred_signals

try:
    # A module of C++ registers its types once in a process: interrupted, it could not be imported again.
    with deferred_signals():
        from theano.loader import _loader
except ImportError as error:
    raise ImportError(
        f"the compiled part of theano.loader cannot be loaded ({error}). It is built when theano-graph-core is"
        " installed; from a source tree, run: pip install -e packages/graph-core (needs a C++ compiler)"
    ) from error

ABI_VERSION: int = _loader.ABI_VERSION
DeviceArray = _loader.DeviceArray
Function = _loader.Function
KernelShapeError = _loader.KernelShapeError
Library = _loader.Library
NativeThunk = _loader.NativeThunk
run_cthunk = _loader.run_cthunk
enable_vectorcall = _loader.enable_vectorcall
get_threads = _loader.get_threads
set_threads = _loader.set_threads
cpu_level = _loader.cpu_level
numpy_sort = _loader.numpy_sort
set_threads_least = _loader.set_threads_least
add_device = _loader.add_device
device_array_class = _loader.device_array_class
direct_message = _loader.direct_message
has_device = _loader.has_device
read_capsule = _loader.read_capsule
empty = _loader.empty
memory_cached = _loader.memory_cached
memory_get_limit = _loader.memory_get_limit
memory_set_limit = _loader.memory_set_limit
memory_trim = _loader.memory_trim
profile_clock = _loader.profile_clock
store = _loader.store

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_loader.locks_after_fork)

__all__ = [
    "ABI_VERSION",
    "DeviceArray",
    "Function",
    "KernelShapeError",
    "Library",
    "NativeThunk",
    "add_device",
    "cpu_level",
    "device_array_class",
    "direct_message",
    "empty",
    "enable_vectorcall",
    "get_threads",
    "has_device",
    "include_directory",
    "memory_cached",
    "memory_get_limit",
    "memory_set_limit",
    "memory_trim",
    "numpy_sort",
    "profile_clock",
    "read_capsule",
    "run_cthunk",
    "set_threads",
    "set_threads_least",
    "store",
]


def include_directory() -> str:
    """Return the folder of ``abi.h``.

    Examples
    --------
    >>> from pathlib import Path
    >>> (Path(include_directory()) / "abi.h").is_file()
    True
    """
    return os.path.dirname(os.path.abspath(__file__))
