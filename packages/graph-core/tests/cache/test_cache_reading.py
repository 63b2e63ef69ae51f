"""What a reader takes for an entry: both sides of each condition, each with what becomes of the file."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from systems import System

from theano.cache import store
from theano.cache.names import EntryName, ReferenceName, digest_of
from theano.cache.store import Cache, CacheSettings, open_cache, read_verified

KEY, OTHER = "0123456789abcdef" * 2, "0123456789abcdef" + "f" * 16
STRANGER = 54321
DAY = 86400
pytestmark = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(CacheSettings(root=str(tmp_path / "cache")))


def put(cache: Cache, data: bytes, kind: str = "so", key: str = KEY) -> tuple[str, EntryName]:
    """Lay an entry into a cache, as if it had been published."""
    name = EntryName(key, digest_of(data), kind)
    path = Path(cache.root, name.relative)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o500)
    return str(path), name


def read(path: str, name: EntryName) -> bytes | None:
    return read_verified(path, name, root_may_own=False)


@pytest.mark.parametrize(("size", "read_at_all"), [(1 << 28, True), ((1 << 28) + 1, False)])
def test_the_largest_unit(cache: Cache, size: int, read_at_all: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size that the system tells is made up: nobody writes as much for a test."""
    path, name = put(cache, b"machine code")
    facts = os.stat(path)
    told = {k: getattr(facts, k) for k in ("st_mode", "st_uid", "st_nlink", "st_mtime")}
    monkeypatch.setattr(store, "os", System(fstat=lambda descriptor: SimpleNamespace(**told, st_size=size)))
    assert (read(path, name) == b"machine code") is read_at_all


@pytest.mark.parametrize(("age", "noted"), [(DAY, False), (DAY + 1, True), (-DAY, False), (-DAY - 1, True), (0, False)])
def test_the_last_use_is_noted_once_a_day(cache: Cache, age: int, noted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    path, name = put(cache, b"machine code")
    now = 1 << 30
    os.utime(path, (now - age, now - age))
    monkeypatch.setattr(time, "time", lambda: float(now))
    assert read(path, name) == b"machine code"
    assert (os.stat(path).st_mtime != now - age) is noted


def test_where_the_last_use_cannot_be_noted_it_is_not(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    path, name = put(cache, b"machine code")
    os.utime(path, (1, 1))

    def refuse(descriptor: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    for utime, able in ((refuse, {refuse}), (lambda descriptor: pytest.fail("not by descriptor"), set())):
        monkeypatch.setattr(store, "os", System(utime=utime, supports_fd=able))
        assert read(path, name) == b"machine code" and os.stat(path).st_mtime == 1


ELF = b"\x7fELF...."


@pytest.mark.parametrize(("data", "kind", "right"), [
    (ELF + KEY.encode(), "so", True), (ELF + OTHER.encode(), "so", False), (ELF, "so", False),
    (b"MZ", "so", True),  # another system's library, whose symbols only its loader finds
    (b"theano-cache plan " + KEY.encode() + b"\n...", "plan", True),
    (b"theano-cache plan " + OTHER.encode() + b"\n...", "plan", False),
    (b"theano-cache txt " + KEY.encode() + b"\n...", "plan", False), (b"", "plan", False),
])  # fmt: skip
def test_an_entry_holds_its_key(cache: Cache, data: bytes, kind: str, right: bool) -> None:
    path, name = put(cache, data, kind)
    assert (read(path, name) == data) is right


@pytest.mark.parametrize(("owner", "mode", "user", "trusted"), [
    (0, 0o700, 0, True), (STRANGER, 0o700, 0, False), (STRANGER, 0o700, STRANGER, True), (0, 0o755, STRANGER, True),
    (STRANGER + 1, 0o700, STRANGER, False), (STRANGER - 1, 0o700, STRANGER, False), (1, 0o700, STRANGER, False),
    (0, 0o720, 0, False), (0, 0o702, 0, False), (0, 0o777, 0, False), (0, 0o755, 0, True),
])  # fmt: skip
def test_the_folder_of_an_entry(
    owner: int, mode: int, user: int, trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the user's or root's, and nobody else may write to it."""
    bucket = tmp_path / "01"
    bucket.mkdir()
    (bucket / KEY).touch()
    os.chown(bucket, owner, owner)
    bucket.chmod(mode)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert store._listing(str(bucket), KEY) == ([KEY] if trusted else [])
    facts = os.stat(bucket)
    assert (store._bucket_refusal(str(bucket), facts) is None) is trusted
    monkeypatch.setattr(store, "os", System(name="nt"))
    assert store._bucket_refusal(str(bucket), facts) is None, "elsewhere neither users nor modes say anything"
    assert store._bucket_refusal(str(bucket / KEY), os.stat(bucket / KEY)) is not None


@pytest.mark.parametrize("lists", [True, False])
def test_a_link_in_the_place_of_a_folder_is_not_followed(
    lists: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = tmp_path / "01"
    bucket.mkdir(0o700)
    (bucket / KEY).touch()
    (tmp_path / "02").symlink_to(bucket)
    if not lists:
        monkeypatch.setattr(store, "os", System(supports_fd=set()))
    assert store._listing(str(bucket), KEY) == [KEY] and store._listing(str(tmp_path / "02"), KEY) == []


def test_names_that_begin_with_a_key_and_are_none(cache: Cache) -> None:
    path, name = put(cache, b"machine code")
    (found,) = [ReferenceName(OTHER, name)]
    for relative in (found.relative, found.relative + ".old", f"01/{KEY}.tmp", f"01/{OTHER}"):
        Path(cache.root, relative).touch()
    assert list(cache.references(OTHER)) == [(name, path)]
    assert [found[:2] for found in cache.units(KEY)] == [(name, path)] and cache.plans(KEY) == cache.notes(KEY) == []
    assert list(cache.references("0" * 32)) == []


def test_each_kind_is_found_for_itself(cache: Cache) -> None:
    path, name = put(cache, b"machine code")
    for kind, add, find in (("plan", cache.add_plan, cache.plans), ("txt", cache.add_note, cache.notes)):
        add(KEY, f"a {kind}")
        add(OTHER, f"another {kind}")
        assert find(KEY) == [f"a {kind}"] and find(OTHER) == [f"another {kind}"]
    assert [found[:2] for found in cache.units(KEY)] == [(name, path)] and list(cache.units(OTHER)) == []


# -- whose an entry is -----------------------------------------------------------------------------------------


@pytest.fixture
def filled(tmp_path: Path) -> Cache:
    """A pre-filled cache of root's."""
    cache = Cache(CacheSettings(root=str(tmp_path / "filled")))
    put(cache, b"machine code")
    return cache


def test_root_may_own_what_is_pre_filled_and_nothing_else(
    cache: Cache, filled: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = Cache(CacheSettings(root=cache.root, readonly=(filled.root,)))
    (there, name), (here, _) = put(filled, b"machine code"), put(cache, b"machine code")
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    assert both.read(there, name) and not both.read(here, name)
    assert os.path.exists(there) and not os.path.exists(here), "what is wrong in a cache of ours is removed"
    assert [path for _, path, _ in both.units(KEY)] == [there]


def test_only_what_lies_in_a_cache_of_ours_is_discarded(cache: Cache, filled: Cache, tmp_path: Path) -> None:
    both = Cache(CacheSettings(root=cache.root, readonly=(filled.root,)))
    beside = tmp_path / "cache-beside"  # begins as the cache's own path does
    (beside / "01").mkdir(parents=True)
    here, name = put(cache, b"machine code")
    places = [here, put(filled, b"machine code")[0], str(beside / name.relative), str(Path(cache.root, "01", "x.so"))]
    for path in places:
        Path(path).write_bytes(b"")
        both.discard(path)
    assert [os.path.exists(path) for path in places] == [False, True, True, True]


def test_what_is_right_stays_and_what_is_missing_is_a_miss(cache: Cache) -> None:
    path, name = put(cache, b"machine code")
    assert cache.read(path, name) and os.path.exists(path)
    os.unlink(path)
    assert not cache.read(path, name)
    assert list(cache.units(KEY)) == []


# -- one cache for each place ----------------------------------------------------------------------------------


def test_one_object_for_each_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_caches", {})
    here = str(tmp_path / "cache")
    first = open_cache(CacheSettings(here))
    assert first.root == here
    for root in (here, here + "/", str(tmp_path / "x" / ".." / "cache")):
        assert open_cache(CacheSettings(root)) is open_cache(CacheSettings(root)) is first
    others = [CacheSettings(here + "2"), CacheSettings(here, size_cap=1), CacheSettings(here, readonly=(here + "2",))]
    assert len({id(open_cache(settings)) for settings in others} | {id(first)}) == 4
    assert [open_cache(settings).settings for settings in others] == others


def test_no_settings_are_the_usual_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(store, "_caches", {})
    monkeypatch.setattr(store, "Cache", lambda settings: made.append(settings) or object())
    open_cache()
    assert made == [CacheSettings()] and open_cache() is open_cache(CacheSettings()) and len(made) == 1


def test_a_forked_child_does_not_wait_for_the_threads_of_its_parent(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They hold locks that nobody in the child will ever release."""
    monkeypatch.setattr(store, "_caches", {cache.settings: cache})
    guard = store._guard
    with guard, cache._lock:
        child = os.fork()
        if child == 0:
            free = store._guard.acquire(blocking=False) and cache._lock.acquire(blocking=False)
            os._exit(0 if free else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store._guard is guard, "the parent has kept its own"
