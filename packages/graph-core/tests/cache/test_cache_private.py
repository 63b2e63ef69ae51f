"""A process that cannot use the cache works in a private directory: when it begins to, and what it does there."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
from systems import System

from theano.cache import store, trust
from theano.cache.store import Cache, CacheSettings, create_trusted
from theano.errors import CacheWarning

pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights and file systems are POSIX")
KEY = "0123456789abcdef" * 2


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """A cache whose place is a file."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("theano.cache.private.atexit.register", lambda *call: None)
    (tmp_path / "file").touch()
    with pytest.warns(CacheWarning):
        return Cache(CacheSettings(root=str(tmp_path / "file")))


def test_it_is_made_when_it_is_needed_and_once(private: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    assert private.is_private and private.folders() == []
    root = private.writable_root()
    assert private.writable_root() == root and private.folders() == [(root, True)]
    shutil.rmtree(root)
    again = private.writable_root()
    assert again != root and private.writable_root() == again, "somebody has tidied up"
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    assert private.writable_root() not in (root, again), "a forked child has one of its own"


def test_pre_filled_caches_come_after_it(private: Cache, tmp_path: Path) -> None:
    filled = Cache(CacheSettings(root=str(tmp_path / "filled")))
    filled.add_note(KEY, "from there")
    place = str(tmp_path / "file")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cache = Cache(CacheSettings(root=place, readonly=(filled.root,)))
    assert cache.folders() == [(filled.root, False)] and cache.notes(KEY) == ["from there"]
    cache.add_note(KEY, "from here")
    assert cache.folders() == [(cache.writable_root(), True), (filled.root, False)]
    assert cache.notes(KEY) == ["from here", "from there"] and filled.notes(KEY) == ["from there"]


def test_it_is_never_swept(private: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "sweep_if_due", lambda *call: pytest.fail("it goes with the process"))
    private.add_plan(KEY, "a plan")
    with private.stage() as stage:
        Path(stage, "unit.so").write_bytes(b"code")
        private.publish_unit(os.path.join(stage, "unit.so"), KEY)
    assert private.plans(KEY) == ["a plan"] and len(list(private.units(KEY))) == 1


def test_a_stage_elsewhere_is_in_a_private_directory(tmp_path: Path) -> None:
    cache = Cache(CacheSettings(root=str(tmp_path / "cache")))
    with cache.stage() as here, cache.stage(elsewhere=True) as there:
        assert os.path.dirname(here) == cache.root and not cache.is_private
        assert os.path.dirname(there) == cache._private_root() != cache.root
    assert not os.path.exists(here) and not os.path.exists(there)


@pytest.mark.parametrize(("error", "full", "place", "reason", "remedy"), [
    (OSError(5, "Input/output error", "/a/file"), False, "/a/file", "failed (Input/output error)", ""),
    (OSError("something"), False, "the root", "failed (something)", ""),
    (OSError(5, "Input/output error", b"/bytes"), False, "the root", "failed (Input/output error)", ""),
    (OSError(28, "No space left", "/a/file"), True, "/a/file", "is on a file system that is full", "theano-cache clear"),
])  # fmt: skip
def test_giving_up_says_what_failed(
    error: OSError, full: bool, place: str, reason: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(CacheSettings(root=str(tmp_path / "cache")))
    root = cache.root
    asked = []
    monkeypatch.setattr(store, "_is_full", lambda path: asked.append(path) or full)
    with pytest.warns(CacheWarning) as caught:
        cache.give_up(error)
    assert set(asked) == {root} and cache.is_private
    assert cache.refusal == (root if place == "the root" else place, reason, remedy)
    assert (f" To mend it: {remedy}" in str(caught[0].message)) == bool(remedy)
    refusal = cache.refusal
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.give_up(OSError(errno.EROFS, "another problem", "/elsewhere"))
    assert cache.refusal is refusal, "the first failure is the one to know of"


FREE = SimpleNamespace(f_bavail=1 << 30, f_frsize=4096, f_files=100, f_favail=50)


@pytest.mark.parametrize(("facts", "full"), [
    ({}, False),
    ({"f_bavail": 256}, False), ({"f_bavail": 255}, True), ({"f_bavail": 1 << 20, "f_frsize": 1}, False),
    ({"f_bavail": 0}, True), ({"f_bavail": 1 << 19, "f_frsize": 1}, True),
    ({"f_favail": 10}, False), ({"f_favail": 9}, True), ({"f_files": 1, "f_favail": 0}, True),
    ({"f_files": 0, "f_favail": 0}, False),  # file systems that make inodes as they need them
])  # fmt: skip
def test_full_is_what_has_less_than_a_megabyte_or_ten_files(
    facts: dict[str, int], full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "os", System(statvfs=lambda path: SimpleNamespace(**{**vars(FREE), **facts})))
    assert store._is_full("/place") is full


def test_what_nothing_is_known_of_is_not_full(monkeypatch: pytest.MonkeyPatch) -> None:
    assert store._is_full("/nothing/there") is False
    monkeypatch.setattr(store, "os", System(without=("statvfs",)))
    assert store._is_full("/") is False


# -- what a place has to be ----------------------------------------------------------------------------------


def test_a_place_of_ours_may_lie_directly_in_a_shared_one(tmp_path: Path) -> None:
    """The parent is fit to hold a cache though not to be one; one without the sticky bit is neither."""
    shared = tmp_path / "theano-shared"
    shared.mkdir()
    shared.chmod(0o1777)
    assert create_trusted(str(shared / "cache")) is None
    found = create_trusted(str(shared))
    assert found is not None and "share" in found.reason
    shared.chmod(0o777)
    found = create_trusted(str(shared / "other" / "cache"))
    assert found is not None and found.path == str(shared) and not (shared / "other").exists()


@pytest.mark.parametrize("which", ["directory_refusal", "mount_refusal"])
def test_what_speaks_against_a_place_is_said(which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = trust.Refusal("/here", "is not fit")
    asked = []
    monkeypatch.setattr(trust, which, lambda path: asked.append(path) or refusal)
    assert create_trusted(str(tmp_path)) == refusal and asked == [str(tmp_path)]


@pytest.mark.parametrize(("error", "refusal"), [
    (OSError(5, "Input/output error", "/a"), ("/a", "Input/output error")), (OSError("something"), (None, "something")),
])  # fmt: skip
def test_a_system_that_does_not_answer(
    error: OSError, refusal: tuple[str | None, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(path: str) -> None:
        raise error

    monkeypatch.setattr(trust, "mount_refusal", fails)
    assert create_trusted(str(tmp_path)) == (refusal[0] or str(tmp_path), refusal[1], trust.ELSEWHERE)


def test_what_another_process_makes_meanwhile_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mkdir = os.mkdir

    def late(path: str, mode: int) -> None:
        mkdir(path, mode)
        raise FileExistsError(errno.EEXIST, "File exists", path)

    monkeypatch.setattr(os, "mkdir", late)
    root = tmp_path / "a" / "b"
    assert create_trusted(str(root)) is None and root.is_dir()
