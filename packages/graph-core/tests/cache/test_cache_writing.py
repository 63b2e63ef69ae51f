"""What a writer does: when it sweeps and looks for what the dead have left, and what it does with things in its way."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from systems import System

from theano.cache import store
from theano.cache.names import EntryName, ReferenceName
from theano.cache.store import Cache, CacheSettings

KEY, KERNEL = "0123456789abcdef" * 2, "fedcba9876543210" * 2
pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and rights are POSIX")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(CacheSettings(root=str(tmp_path / "cache"), size_cap=4711))


def publish(cache: Cache, data: bytes, kernels: tuple[str, ...] = (), source: str = "") -> Path:
    with cache.stage() as stage:
        staged = Path(stage, "unit.so")
        staged.write_bytes(data)
        return Path(cache.publish_unit(str(staged), KEY, kernels, source)[1])


def test_what_was_published_since_the_last_sweep_is_counted(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    """Units and plans count with all their bytes, notes do not; a sweep begins anew."""
    calls: list[tuple[str, int, int]] = []
    due = False

    def sweep_if_due(root: str, size_cap: int, published: int) -> bool:
        calls.append((root, size_cap, published))
        return due

    monkeypatch.setattr(store, "sweep_if_due", sweep_if_due)
    head = len(EntryName(KEY, "", "plan").head)
    for write in (lambda: cache.add_plan(KEY, "ü" * 50), lambda: publish(cache, bytes(100))):
        del calls[:]
        cache.add_note(KEY, "x" * 1000)
        due = False
        write()
        due = True
        write()
        due = False
        write()
        size = calls[0][2]
        assert calls == [(cache.root, 4711, size), (cache.root, 4711, 2 * size), (cache.root, 4711, size)]
        assert size in (head + 100, 100)
        due = True
        write()


def test_what_could_not_be_published_is_not_counted(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    published = []
    monkeypatch.setattr(store, "sweep_if_due", lambda root, cap, count: published.append(count))
    with monkeypatch.context() as patch:
        for way in (lambda *paths: False, lambda *paths: exec("raise OSError(28, 'full')")):
            patch.setattr(store, "rename", way)
            cache.add_plan(KEY, "a plan")
    assert published == [0, 0] and not list(Path(cache.root).glob(".stage*"))


@pytest.mark.parametrize(("later", "looks"), [(0.0, 1), (599.0, 1), (600.0, 2), (1e6, 2)])
def test_who_compiles_looks_for_what_the_dead_have_left_every_ten_minutes(
    cache: Cache, later: float, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At first at once, even where the system was started a moment ago."""
    found = []
    clock = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: clock)
    monkeypatch.setattr(store, "reclaim_stages", found.append)
    with cache.stage(elsewhere=True):
        assert found == [], "a private directory holds nobody else's"
    for clock in (0.0, later):  # noqa: B007
        with cache.stage():
            pass
    assert found == [cache.root] * looks


def test_without_a_mark_nothing_is_looked_for(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "reclaim_stages", lambda root: pytest.fail("it may be anybody's directory"))
    Path(cache.root, "CACHEDIR.TAG").unlink()
    with cache.stage():
        pass


@pytest.mark.parametrize("without", [(), ("O_NONBLOCK",)])
def test_references_are_opened_so_that_no_fifo_is_waited_for(
    cache: Cache, without: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = []

    def opened(path: str, how: int, mode: int) -> int:
        flags.append((os.path.basename(path), how, mode))
        return os.open(path, os.O_CREAT | os.O_WRONLY, mode)

    path = publish(cache, b"machine code")
    bits = {"O_CREAT": 1 << 20, "O_WRONLY": 1 << 21, "O_CLOEXEC": 1 << 22, "O_NONBLOCK": 1 << 23}
    monkeypatch.setattr(store, "os", System(without, open=opened, **bits))
    assert publish(cache, b"machine code", (KERNEL,)) == path
    monkeypatch.undo()
    (unit,) = [name for name, *_ in cache.units(KEY)]
    wanted = sum(bit for name, bit in bits.items() if name not in without)
    assert flags == [(ReferenceName(KERNEL, unit).file, wanted, 0o400)]


def test_a_source_is_kept_if_there_is_one(cache: Cache) -> None:
    path = publish(cache, b"machine code")
    assert not path.with_suffix(".c").exists()
    publish(cache, b"machine code", source="int f; \udcff")
    assert path.with_suffix(".c").read_bytes() == f"/* theano-cache c {KEY} */\nint f; ".encode() + b"\xff"


def test_without_its_references_a_unit_is_published_all_the_same(cache: Cache) -> None:
    Path(cache.root, KERNEL[:2]).write_text("a file in the place of a folder")
    with cache.stage() as stage:
        Path(stage, "unit.so").write_bytes(b"machine code")
        name, path = cache.publish_unit(os.path.join(stage, "unit.so"), KEY, (KERNEL,))
    assert [found[:2] for found in cache.units(KEY)] == [(name, path)]


def test_folders_are_made_for_this_user_alone(tmp_path: Path) -> None:
    """Each of them, whatever the process's mask."""
    old = os.umask(0)
    try:
        store._make_private_directories(str(tmp_path / "a" / "b" / "c"), str(tmp_path))
        store._make_bucket(str(tmp_path / "ab"))
        store._make_bucket(str(tmp_path / "ab"))
    finally:
        os.umask(old)
    for name in ("a", "a/b", "a/b/c", "ab"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700
    (tmp_path / "ab").chmod(0o777)
    with pytest.raises(PermissionError, match="other hands"):
        store._make_bucket(str(tmp_path / "ab"))


# -- giving a file its final name ------------------------------------------------------------------------------


def nothing(target: Path) -> None:
    pass


def file(target: Path) -> None:
    target.write_text("old")


def empty_folder(target: Path) -> None:
    target.mkdir()


def folder_with_something(target: Path) -> None:
    target.mkdir()
    (target / "thesis").touch()


def link_to_a_folder(target: Path) -> None:
    (target.parent / "elsewhere").mkdir()
    target.symlink_to("elsewhere")


@pytest.mark.parametrize(("in_the_way", "done"), [
    (nothing, True), (file, True), (empty_folder, True), (folder_with_something, False), (link_to_a_folder, True),
])  # fmt: skip
def test_what_is_in_the_way_of_a_file(in_the_way: Callable[[Path], None], done: bool, tmp_path: Path) -> None:
    (tmp_path / "01").mkdir(mode=0o700)
    source, target = tmp_path / "source", tmp_path / "01" / "target"
    source.write_text("new")
    in_the_way(target)
    assert store.rename(str(source), str(target)) is done
    assert target.is_file() is done and source.exists() is not done
    assert not done or target.read_text() == "new" and not target.is_symlink()


@pytest.mark.parametrize(("system", "there", "borne"), [
    ("posix", file, False), ("posix", nothing, False), ("posix", link_to_a_folder, False),
    ("nt", file, True), ("nt", nothing, False), ("nt", link_to_a_folder, False),
])  # fmt: skip
def test_a_system_that_refuses_to_replace(
    system: str, there: Callable[[Path], None], borne: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Windows a library that is loaded somewhere cannot be replaced, nor need it be: its name says its bytes."""

    def refuse(source: str, target: str) -> None:
        raise PermissionError(13, "Access is denied", target)

    (tmp_path / "01").mkdir(mode=0o700)
    target = tmp_path / "01" / "target"
    there(target)
    monkeypatch.setattr(store, "os", System(name=system, replace=refuse))
    if borne:
        assert store.rename("source", str(target))
    else:
        with pytest.raises(PermissionError):
            store.rename("source", str(target))
    assert target.is_symlink() is (there is link_to_a_folder)
