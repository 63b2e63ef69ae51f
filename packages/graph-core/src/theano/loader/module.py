"""The Python door of the compiled machine: load libraries, make callable programs.

A program is a mapping (or the same entries as keywords) given to :class:`Function`:

``slots``
    List of ``(kind, spec, value)``: the values of one call. ``kind`` is ``'input'``, ``'constant'`` (``value``
    is the object), ``'shared'`` (``value`` is the storage, a one-element list, read when a call starts) or
    ``'temp'`` (computed by exactly one instruction). ``spec`` is a
    :class:`~theano.graph.type.BufferSpec` (or such a tuple), or None for values that only Python
    instructions touch.
``instructions``
    List of tuples, in an order in which each value is computed before it is read:

    ``('c', address, params, in_slots, out_slots, work[, lazy])``
        A compiled kernel (``abi.h``). ``params`` is bytes or None; ``work`` the estimated ns per element of the
        largest buffer, which decides when the GIL is given away (0: never).
    ``('perform', perform, node, in_slots, out_slots)``
        Calls ``perform(node, inputs, output_storage)``; each storage cell is ``[None]`` before the call.
    ``('thunk', factory, in_slots, out_slots[, lazy])``
        ``factory(storage_in, computed_in, storage_out, computed_out)`` is called once for each call in flight, with
        lists of one-element lists, and returns a callable without arguments. It computes into
        ``storage_out`` and returns None; a lazy one may instead return a list of the numbers of those
        inputs it still wants (``computed_in[k][0]`` says which are there) and is called again.

    One lazy instruction makes the whole program demand-driven: what no result needs is not run.
``inputs``
    List of ``(slot, name, required, default_cell, filter[, writable])``. A value that is exactly what the spec says
    (ndarray itself, not a subclass; dtype, dimensions, aligned, native byte order) is used
    as it is. Any other goes through ``filter(value)`` first (None: it must then fit by itself); but if
    ``filter.casts_safely`` is there and true, a number that the dtype holds exactly and an array that NumPy
    casts safely to it are cast at once.
    ``default_cell`` is a one-element list or None, read at each call that leaves the input out (``required``
    false). ``writable``: 1 where the program writes into it, 2 where an update stores it as it comes. A read-only array
    is then copied; so is one that shares memory with another value of the call, or with what a default or an updated
    cell holds (``separate``).
``outputs``, ``returns``, ``keys``
    Slots returned; ``returns`` is ``'one'``, ``'list'`` (default), ``'none'`` or ``'dict'`` (with one key per output).
``updates``
    List of ``(cell, slot)``: stored into the one-element lists when everything has succeeded. A failed call leaves
    each cell as it was. Calls that update the same cell run one after the other, in whatever threads and of whatever
    functions; :func:`store` waits for them, too.
``frees``
    Per instruction the slots whose values are dead after it (in demand-driven programs: after all their readers).
``reuse``
    Per slot the number of a buffer shared with slots that live at other times, or -1.
    Only ``temp`` slots that no Python instruction touches and that are no results take part; a slot gives its buffer on
    when ``frees`` names it. A wrong plan costs memory, never a wrong result.
``after``
    Per instruction further slots that must be computed before it runs (demand-driven programs with
    in-place ops: everything that reads what the instruction overwrites).
``last``, ``overwritten``
    The instructions from number ``last`` on (default: none) are compiled kernels that write over arrays of shared
    variables. They run when everything else is done and the results are made; each first checks all that can go
    wrong, then asks for its outputs, and then cannot fail. What they compute is read by each other and stored by
    updates, and by nobody else. ``overwritten`` lists ``(slot, how)`` for shared slots: ``how`` is 1 where only these
    instructions write into it (a copy is taken if anybody else holds the array), 2 where others do (a copy is taken at
    the start of each call).
``makers``
    Pairs ``(slot, result)``: the result lies in the memory of that ``temp`` slot, which therefore becomes a NumPy
    array that can be written again like any other result.
``on_error``
    ``on_error(index, exception, inputs, slots)`` returns the exception to raise for a failed instruction; both list
    ``(shape, strides, dtype name)`` or None per input. Errors of compiled kernels carry their ``TH_ERR_*``
    number as ``exception.kind``. Not called for KeyboardInterrupt and its kin.
``on_bad_call``
    ``on_bad_call(kind, detail)`` may return the exception for a wrong call: kind ``'missing'`` or ``'duplicate'``
    (detail: the input's number), ``'unknown'`` (the keyword) or ``'too_many'`` (how many were given).
    Anything but an exception leaves it to a TypeError that names the input.
``separate``
    ``separate(slot, value, others)`` is asked about a ``writable`` input if the memory it spans meets
    that of an array among the values of the call, or there are values that are no arrays; ``others`` lists them as
    ``(slot, value)``. It returns a copy if ``value`` shares memory with one of them, else None. Without it, arrays
    whose spans meet are copied.
``lazy``
    Whether only what results need is computed although no instruction is lazy.
``options``
    Dict from a keyword to ``handler(function, args, kwargs)``. A call with such a keyword, which no input has for a
    name, is handed to it, and what it returns is the result: for what is said about a call rather than to it.
``name``, ``profile``, ``keepalive``
    For messages; whether to count and time calls and each instruction (True), or calls and what of ``"nodes"``,
    ``"shapes"`` (the largest value of each) and ``"skip_first"`` (leave the first call out) it names; any object to
    keep (a list of :class:`Library`).

Results are ndarrays, or NumPy scalars where ``spec.scalar``. A result that views an argument has it as base; one that
is the argument, computed in place, is the argument itself. Nothing handed out is ever written again
while somebody else holds it. An array that a result or an update leaves behind is written again by a later call once
nobody else refers to it (results: up to 1 MiB).

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

try:
    from theano.loader import _loader
except ImportError as error:
    raise ImportError(
        f"the compiled part of theano.loader cannot be loaded ({error}). It is built when theano-graph-core is"
        " installed; from a source tree, run: pip install -e packages/graph-core (needs a C++ compiler)"
    ) from error

ABI_VERSION: int = _loader.ABI_VERSION
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
    "Function",
    "KernelShapeError",
    "Library",
    "NativeThunk",
    "cpu_level",
    "enable_vectorcall",
    "get_threads",
    "include_directory",
    "memory_cached",
    "memory_get_limit",
    "memory_set_limit",
    "memory_trim",
    "numpy_sort",
    "profile_clock",
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
