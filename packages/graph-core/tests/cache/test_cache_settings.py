"""Where the cache is to be: what settings, user and rights of the process make of it."""

from __future__ import annotations

import os
import pwd
import stat
import tempfile
from pathlib import Path
from types import SimpleNamespace

import platformdirs
import pytest
from systems import System

from theano.cache import private, trust
from theano.cache.ownership import adopt
from theano.cache.private import private_directory
from theano.cache.staging import remove_tree
from theano.cache.store import CacheSettings

pytestmark = pytest.mark.skipif(os.name != "posix", reason="users and their homes are POSIX")


@pytest.mark.parametrize(("root", "directory"), [
    ("/fast/compiled", "/fast/compiled"), ("/fast/../slow/", "/slow"), ("~/mine", "/home/me/mine"),
    ("relative", os.path.join(os.getcwd(), "relative")),
])  # fmt: skip
def test_a_directory_that_is_named(root: str, directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert CacheSettings(root).directory() == directory
    assert CacheSettings(readonly=(root, "/other")).pre_filled() == (directory, "/other")


def test_a_pre_filled_cache_may_be_named_by_its_base(tmp_path: Path) -> None:
    (tmp_path / "base" / "compiled").mkdir(parents=True)
    (tmp_path / "cache").mkdir()
    named = tuple(str(tmp_path / name) for name in ("base", "cache", "missing", "base"))
    assert CacheSettings(readonly=named).pre_filled() == (f"{named[0]}/compiled", named[1], named[2])


def test_a_pre_filled_cache_in_which_another_was_made_is_read(tmp_path: Path) -> None:
    """As by a process that named a warmed cache as its `base_compiledir`."""
    assert adopt(str(tmp_path))
    (tmp_path / "compiled").mkdir()
    assert CacheSettings(readonly=(str(tmp_path),)).pre_filled() == (f"{tmp_path}/compiled", str(tmp_path))


@pytest.mark.parametrize(("usual", "directory"), [
    ("/home/me/.cache/theano", "/home/me/.cache/theano"), ("~/.cache/theano", "/home/me/.cache/theano"),
    (".cache/theano", ""),  # whoever knows no home names a place relative to wherever the process was started
])  # fmt: skip
def test_the_directory_of_the_platform(usual: str, directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def user_cache_dir(name: str, appauthor: object) -> str:
        asked.append((name, appauthor))
        return usual

    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setattr(platformdirs, "user_cache_dir", user_cache_dir)
    assert CacheSettings().directory() == directory
    assert asked == [("theano", False)], "without an author no folder of one lies between"


@pytest.mark.parametrize("known", [True, False])
def test_a_privileged_process_asks_the_system_for_the_home(known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def getpwuid(user: int) -> object:
        if not known:
            raise KeyError(user)
        return SimpleNamespace(pw_dir=f"/home/{user}")

    monkeypatch.setattr(trust, "process_is_privileged", lambda: True)
    monkeypatch.setattr(pwd, "getpwuid", getpwuid)
    monkeypatch.setattr(os, "geteuid", lambda: 12)
    assert CacheSettings("/named").directory() == ("/home/12/.cache/theano" if known else "")


# -- private directories -------------------------------------------------------------------------------------


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """Collects what is to be done at the end of the process, instead of doing it."""
    found: list[tuple[object, ...]] = []
    monkeypatch.setattr(private.atexit, "register", lambda *call: found.append(call))
    return found


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What TMPDIR names."""
    path = tmp_path / "temporary"
    path.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


def test_a_private_directory(temporary: Path, registered: list[tuple[object, ...]]) -> None:
    path = private_directory()
    assert os.path.dirname(path) == str(temporary) and stat.S_IMODE(os.stat(path).st_mode) == 0o700
    assert registered == [(private._remove_own, path, os.getpid())]
    private._remove_own(path, os.getpid() + 1)
    assert os.path.isdir(path), "a forked child leaves its parent's directory alone"
    private._remove_own(path, os.getpid())
    assert not os.path.exists(path)


def missing(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary.rmdir()


def writable_by_all(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary.chmod(0o777)


def without_programs(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = trust.Refusal(str(temporary), "is mounted noexec")
    monkeypatch.setattr(trust, "mount_refusal", lambda path: refusal if path.startswith(str(temporary)) else None)


def privileged(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "process_is_privileged", lambda: True)


@pytest.mark.parametrize("why", [missing, writable_by_all, without_programs, privileged])
def test_where_the_place_for_temporary_files_is_not_fit_another_is_taken(
    why, temporary: Path, registered: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    why(temporary, monkeypatch)
    path = private_directory()
    try:
        assert os.path.dirname(path) in ("/tmp", "/var/tmp")
        assert not temporary.exists() or list(temporary.iterdir()) == []
        assert registered == [(private._remove_own, path, os.getpid())]
    finally:
        remove_tree(path)


@pytest.mark.parametrize(("system", "rights", "named", "tried"), [
    ("posix", "usual", "/mine", ["/mine", "/tmp", "/var/tmp"]), ("posix", "usual", "/tmp", ["/tmp", "/var/tmp"]),
    ("posix", "privileged", "/mine", ["/tmp", "/var/tmp"]),
    ("nt", "usual", "/mine", ["/mine"]), ("nt", "privileged", "/mine", []),
])  # fmt: skip
def test_all_places_are_tried(
    system: str, rights: str, named: str, tried: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []

    def full(prefix: str, dir: str) -> str:
        found.append(dir)
        raise OSError(28, "No space left on device", dir)

    monkeypatch.setattr(private, "os", System(name=system))
    monkeypatch.setattr(trust, "process_is_privileged", lambda: rights == "privileged")
    monkeypatch.setattr(tempfile, "tempdir", named)
    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with pytest.raises(OSError) as caught:
        private_directory()
    assert found == tried
    assert (caught.value.errno, caught.value.filename) == ((28, tried[-1]) if tried else (2, None))


def test_where_no_place_is_fit_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "mount_refusal", lambda path: trust.Refusal(path, "is mounted noexec"))
    with pytest.raises(PermissionError, match="noexec") as caught:
        private_directory()
    assert not os.path.lexists(caught.value.filename)
