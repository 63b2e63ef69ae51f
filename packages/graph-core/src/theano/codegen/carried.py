"""Compiled units that go to another process as data, where no file system is shared.

Sending is explicit: a pickle carries no machine code. A receiver puts a unit into its cache only if it would have built
the same one: for the same compiler, options, CPU level and C library, against the same ABI, with the digest,
the key and the headers that an entry must have. The rest is left alone, and is compiled.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from theano.cache.names import UNIT, EntryName
from theano.cache.store import Cache, CacheSettings, is_what_it_says, open_cache, read_verified
from theano.codegen.key import digest_parts
from theano.codegen.unit import KernelAddress, LoadedUnit, current_toolchain
from theano.errors import NoCompilerError
from theano.graph.apply import Apply
from theano.graph.signals import let_signals_through
from theano.graph.variable import Variable
from theano.loader.abi import abi_text
from theano.records import NamedTuple
from theano.toolchain.description import ToolchainSettings
from theano.toolchain.library import problem_of_library
from theano.toolchain.select import note_for_others

#: What neither holds addresses of kernels nor leads to what does.
_ELSEWHERE = (
    type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, Variable, Apply, LoadedUnit, str, bytes, int, float
)  # fmt: skip


class CarriedUnit(NamedTuple):
    """A unit: its name in the cache, its bytes, and the keys of the kernels that are wanted of it."""

    file: str
    data: bytes
    kernels: tuple[str, ...]


class Carried(NamedTuple):
    """Units, and for whom they are.

    Parameters
    ----------
    identity : str
        Of the toolchain that has compiled them.
    abi : str
        The digest of the header that they were compiled against.
    note : tuple of str
        Key and text by which a machine of this kind without a compiler knows the toolchain; empty if unknown.
    units : tuple of CarriedUnit
    """

    identity: str = ""
    abi: str = ""
    note: tuple[str, ...] = ()
    units: tuple[CarriedUnit, ...] = ()


def collect(holders: Iterable[Any], toolchain: ToolchainSettings, cache: CacheSettings) -> Carried:
    """Return the units of all kernels whose addresses are held, as far as they are in a cache.

    Parameters
    ----------
    holders : iterable of object
        ``maker.keepalive`` of functions.
    toolchain : ToolchainSettings
    cache : CacheSettings
    """
    wanted: dict[EntryName, tuple[LoadedUnit, set[str]]] = {}
    for address in _addresses(holders):
        if address.unit is not None:
            wanted.setdefault(address.unit.name, (address.unit, set()))[1].add(address.key)
    if not wanted:
        return Carried()
    store = open_cache(cache)
    try:
        tools = current_toolchain(toolchain, store)
    except NoCompilerError:
        return Carried()
    units = []
    for name, (unit, keys) in sorted(wanted.items()):
        try:
            data = read_verified(unit.path, name, root_may_own=True)
        except OSError as error:
            let_signals_through(error)
            data = None  # removed meanwhile: the receiver compiles
        if data is not None:
            units.append(CarriedUnit(name.file, data, tuple(sorted(keys))))
    return Carried(tools.identity, digest_parts([abi_text()]), note_for_others(tools, digest_parts), tuple(units))


def _addresses(holders: Iterable[Any]) -> list[KernelAddress]:
    """Return the addresses that some objects hold: of nodes, of nested programs, of programs from the cache."""
    found, seen, pending = [], set(), list(holders)
    while pending:
        each = pending.pop()
        if isinstance(each, KernelAddress):
            found.append(each)
        elif not isinstance(each, _ELSEWHERE) and id(each) not in seen:
            seen.add(id(each))
            pending.extend(gc.get_referents(each))
    return found


def take(carried: Carried, toolchain: ToolchainSettings, cache: CacheSettings) -> int:
    """Put units into the cache of this process; return how many were new there. What does not fit is left alone.

    Parameters
    ----------
    carried : Carried
        From a sender who is trusted to run code here.
    toolchain : ToolchainSettings
    cache : CacheSettings
    """
    store = open_cache(cache)
    if len(carried.note) == 2 and not store.notes(carried.note[0]):
        store.add_note(*carried.note)
    try:
        tools = current_toolchain(toolchain, store)
    except NoCompilerError:
        return 0
    if carried.identity != tools.identity or carried.abi != digest_parts([abi_text()]):
        return 0
    return sum(_take_unit(unit, store) for unit in carried.units)


def _take_unit(unit: CarriedUnit, store: Cache) -> bool:
    name = EntryName.parse(unit.file)
    if name is None or name.kind != UNIT:
        return False
    if not is_what_it_says(unit.data, name) or problem_of_library(unit.data):
        return False
    if all(name in (found for found, _ in store.references(key)) for key in unit.kernels):
        return False  # it is here
    try:
        with store.stage() as stage:
            staged = os.path.join(stage, name.file)
            with open(staged, "wb") as file:
                file.write(unit.data)
            store.publish_unit(staged, name.key, unit.kernels)
    except OSError as error:
        let_signals_through(error)
        return False  # a full disk, which the next compilation reports
    return True
