"""What is fastest on this machine: one struct a process, ``th_tuning`` in C, which kernels read at each call.

Its values are those that `theano.tensor.calibration` has measured here and kept in the cache, or else those of a table
of CPU families, or else the most careful ones. The flag ``calibration`` can leave out the first, so that every machine
of a kind computes the same bits. Compiled programs hold the address of the struct and none of its values: what is
measured counts at once, for programs out of the cache too.
"""

from __future__ import annotations

import ctypes
import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache

from theano.cache.store import Cache, CacheSettings, open_cache
from theano.codegen.key import digest_parts
from theano.graph.parameters import Pointer
from theano.records import NamedTuple
from theano.settings import config
from theano.tensor.kernels.common import library_level
from theano.tensor.kernels.parameters import Tuning
from theano.toolchain.build import core_count
from theano.toolchain.flags import cpu_description

FORMAT = 1
"""Of what is kept in the cache; another number where the same name means something else."""
CAREFUL = {
    "own_float32": 500**3, "own_float64": 500**3,
    "small_above_float32": 0, "small_above_float64": 0, "small_up_to_float32": 0, "small_up_to_float64": 0,
    "row_by_row": True, "row_by_row_widened": False,
}  # fmt: skip
"""Values that lose little on any machine.

One row after the other is as fast as one pass over the memory everywhere. Where float32 is added up in float64,
arithmetic takes longer than memory.
"""
FAMILIES: dict[str, dict[str, int]] = {
    # AMD Zen 3: 2,000 x 2,000 float64 are summed over the rows in 0.6 of the time of one row after the other; products
    # as fast as OpenBLAS's or faster up to these sizes.
    r"x86_64 AuthenticAMD 25 (\d|1[0-5]) ": {"row_by_row": False, "own_float64": 1200**3, "own_float32": 2500**3},
    # Sapphire and Emerald Rapids: in float64 ours take 0.95 of OpenBLAS's time up to this size, in float32 as long.
    r"x86_64 GenuineIntel 6 (143|207) ": {"own_float64": 1000**3},
    # Other Intel servers with AVX512-FP16, such as Granite Rapids, of which a hypervisor may hide the model: products
    # of 600 to 2,000 rows take 0.84 to 0.96 of OpenBLAS's time.
    r"x86_64 GenuineIntel 6 .* avx512_fp16 ": {"own_float64": 2500**3, "own_float32": 2500**3},
    # Zen 5: the way that was found best when these kernels were written on one.
    r"x86_64 AuthenticAMD 26 \d+ ": {"row_by_row": False},
}
"""Values for kinds of CPU, by how `cpu_description` begins there, where they are better than the careful ones."""


class Found(NamedTuple):
    """Values, and where they come from."""

    values: Mapping[str, int]
    source: str


def current() -> dict[str, int]:
    """Return the values that kernels see.

    Examples
    --------
    >>> sorted(current()) == sorted(CAREFUL)
    True
    """
    return {name: int(number) for name, number in zip(Tuning.fields, _state().numbers, strict=True)}


def source() -> str:
    """Return where the values come from, in words."""
    return _state().source


def pointer() -> Pointer:
    """Return the address of the struct."""
    return Pointer(find(""), "tuning:")


def find(name: str) -> int:
    """Return the address of the struct, which has no other name."""
    return ctypes.addressof(_state().numbers)


@contextmanager
def tuned(**values: int) -> Iterator[None]:
    """Let all kernels of this process see other values for a while.

    Parameters
    ----------
    **values : int
        By the names of the fields of `Tuning`.

    Examples
    --------
    >>> with tuned(own_float64=10**6):
    ...     current()["own_float64"]
    1000000
    """
    before = current()
    _state().write(before | values)
    try:
        yield
    finally:
        _state().write(before)


def keep(values: Mapping[str, int], place: Cache | None = None) -> None:
    """Use what was measured, and let later processes find it in the cache."""
    now = int(time.time())
    (place or _cache()).add_note(_key(), json.dumps({"time": now, "values": dict(values)}))
    _state().write(values)
    _state().source = _measured_at(now)


def chosen(place: Cache | None = None) -> Found:
    """Return what a new process would use: values that were measured, of a family, or the careful ones."""
    measured = _measured(place) if config.calibration == "measured" else None
    return stored() if measured is None else measured


def stored() -> Found:
    """Return what is used where nothing was measured: values of a family, or the careful ones."""
    for start, values in FAMILIES.items():
        if re.match(start, cpu_description()):
            return Found(CAREFUL | values, "known for this family of CPU")
    return Found(CAREFUL, "the careful ones, for a CPU that is not known")


class _State:
    """The struct in the memory of this process, and where its values come from."""

    def __init__(self, found: Found):
        self.numbers = (ctypes.c_int64 * len(Tuning.fields))()
        self.source = found.source
        self.write(found.values)

    def write(self, values: Mapping[str, int]) -> None:
        """Let kernels see these values."""
        self.numbers[:] = [int(values[name]) for name in Tuning.fields]  # each takes 64 bits, whatever its kind


@cache
def _state() -> _State:
    return _State(chosen())


def _cache() -> Cache:
    return open_cache(CacheSettings.from_config(config))


def _key() -> str:
    """Return under what measurements are kept: all that they may depend on."""
    import numpy  # its wheel brings the library that products are compared with

    threads = str(config.threads or core_count())
    facts = (cpu_description(), str(library_level()), numpy.__version__, config.blas.ldflags, threads)
    return digest_parts(["calibration", str(FORMAT), *facts])


def _measured(place: Cache | None) -> Found | None:
    notes = []
    for text in (place or _cache()).notes(_key()):
        try:
            note = json.loads(text)
            notes.append((int(note["time"]), {name: int(note["values"][name]) for name in Tuning.fields}))
        except (ValueError, KeyError, TypeError):
            continue  # of another make
    if not notes:
        return None
    when, values = max(notes, key=lambda note: note[0])
    return Found(values, _measured_at(when))


def _measured_at(when: int) -> str:
    return f"measured here on {time.strftime('%Y-%m-%d', time.localtime(when))}"
