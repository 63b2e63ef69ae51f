"""Files of a cache that got each other's names, as by a copy or a tool that renames: misses, never wrong results."""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from theano.cache.names import EntryName, ReferenceName
from theano.cache.store import Cache, CacheSettings
from theano.codegen import unit as units
from theano.errors import NoCompilerError
from theano.graph.kernel import Kernel
from theano.toolchain import select

KEYS = ["0123456789abcdef" * 2, "01" * 16, "fedcba9876543210" * 2]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(CacheSettings(root=str(tmp_path / "cache")))


def entries(cache: Cache, kind: str) -> list[Path]:
    return sorted(Path(cache.root).glob(f"*/*.{kind}"))


@pytest.mark.parametrize("keep_digest", [True, False], ids=["with digest", "whole name"])
@pytest.mark.parametrize(("source", "target"), [(s, t) for s in ("plan", "txt") for t in ("plan", "txt")])
def test_texts_under_each_others_names(cache: Cache, source: str, target: str, keep_digest: bool) -> None:
    """Each text under each other text's name, of its own kind and of the other."""
    for first, second in itertools.product(KEYS, repeat=2):
        shutil.rmtree(cache.root)
        os.mkdir(cache.root, 0o700)
        for key in KEYS:
            cache.add_plan(key, f"plan of {key}")
            cache.add_note(key, f"note of {key}")
        (old,) = (path for path in entries(cache, source) if path.name.startswith(first))
        (other,) = (path for path in entries(cache, target) if path.name.startswith(second))
        if old == other:
            continue
        name = EntryName.parse(old.name)
        assert name is not None
        old.rename(other.parent / f"{second}.{name.digest}.{target}" if keep_digest else other)
        right = {"plan": f"plan of {second}", "txt": f"note of {second}"}[target]
        found = cache.plans(second) if target == "plan" else cache.notes(second)
        assert found == ([right] if keep_digest else [])
        again = {"plan": cache.add_plan, "txt": cache.add_note}[target]
        again(second, right)
        assert (cache.plans(second) if target == "plan" else cache.notes(second)) == [right]


# -- units and references ------------------------------------------------------------------------------------

KERNELS = [Kernel(f"{n}", f"int KERNEL(th_ctx *ctx) {{ return ctx == 0 ? {n} : 0; }}") for n in (11, 22, 33)]


class Process:
    """What another process would find."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch):
        self.settings, self.monkeypatch = CacheSettings(root=str(root)), monkeypatch

    def values(self) -> list[int]:
        select.forget()
        self.monkeypatch.setattr(units, "_loaded", units._Loaded())
        found = []
        for kernel in KERNELS:
            (address,) = units.compile_kernels([kernel], None, self.settings)
            found.append(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address)(None))
        return found


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    try:
        units.current_toolchain()
    except NoCompilerError:
        pytest.skip("no C compiler")
    yield Process(tmp_path / "cache", monkeypatch)
    select.forget()


def renamed(path: Path, other: Path, how: str) -> Path:
    """Return the name under which a file shall lie that is mistaken for another."""
    if how == "whole name":
        return other
    mine, theirs = path.name.split("."), other.name.split(".")
    return other.parent / ".".join([*theirs[:-2], mine[-2], theirs[-1]])


@pytest.mark.parametrize("how", ["with digest", "whole name"])
def test_units_under_each_others_names(process: Process, how: str) -> None:
    right = [11, 22, 33]
    assert process.values() == right
    root = Path(process.settings.root)
    all_units = sorted(root.glob("*/*.so"))
    assert len(all_units) == 3
    kept = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    for first, second in itertools.permutations(all_units, 2):
        data = kept[first]
        target = renamed(first, second, how)
        second.unlink()
        target.write_bytes(data)
        target.chmod(0o500)
        reference = next(path for path in root.glob("*/*.ref") if second.name.split(".")[0] in path.name)
        named = ReferenceName.parse(reference.name)
        unit = EntryName.parse(target.name)
        assert named is not None and unit is not None
        # The reference, too, leads there.
        reference.rename(root / ReferenceName(named.kernel, unit).relative)
        assert process.values() == right
        for path in list(root.glob("*/*.so")) + list(root.glob("*/*.ref")):
            path.unlink()
        for path, content in kept.items():
            path.write_bytes(content) if not path.exists() else None
            path.chmod(0o500)


def test_references_to_each_others_units(process: Process) -> None:
    right = [11, 22, 33]
    assert process.values() == right
    root = Path(process.settings.root)
    references = [ReferenceName.parse(path.name) for path in sorted(root.glob("*/*.ref"))]
    for first, second in itertools.permutations(references, 2):
        assert first is not None and second is not None
        for path in root.glob("*/*.ref"):
            path.unlink()
        for reference in references:
            assert reference is not None
            wrong = ReferenceName(first.kernel, second.unit) if reference == first else reference
            (root / wrong.relative).touch(0o400)
        assert process.values() == right


def test_what_is_noted_of_a_compiler_under_anothers_name(process: Process) -> None:
    """A note of one compiler is not taken for one of another."""
    process.values()
    root = Path(process.settings.root)
    shutil.rmtree(root)
    compilers = [select.ToolchainSettings(extra_flags=(flag,)) for flag in ("-DONE", "-DTWO", "-DTHREE")]

    def flags() -> list[str]:
        select.forget()
        store = Cache(process.settings)
        return [units.current_toolchain(settings, store).flags[-1] for settings in compilers]

    right = ["-DONE", "-DTWO", "-DTHREE"]
    assert flags() == right
    notes = sorted(root.glob("*/*.txt"))
    kept = {path: path.read_bytes() for path in notes}
    for first, second in itertools.permutations(notes, 2):
        target = renamed(first, second, "with digest")
        second.unlink()
        target.write_bytes(kept[first])
        target.chmod(0o400)
        assert flags() == right
        for path in root.glob("*/*.txt"):
            path.unlink()
        for path, content in kept.items():
            path.write_bytes(content)
            path.chmod(0o400)


def test_entries_hold_their_keys(process: Process) -> None:
    """In whatever is kept its key is written, so that a new kind cannot be forgotten here."""
    process.values()
    store = Cache(process.settings)
    store.add_plan(KEYS[0], "a plan")
    seen = set()
    for path in Path(process.settings.root).glob("*/*"):
        name = EntryName.parse(path.name) or ReferenceName.parse(path.name)
        assert name is not None, path
        kind = path.suffix
        seen.add(kind)
        if kind != ".ref":
            assert re.search(path.name.partition(".")[0].encode(), path.read_bytes()), path
    assert seen == {".so", ".plan", ".txt", ".c", ".ref"}
