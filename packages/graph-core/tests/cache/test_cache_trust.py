"""Each reason to refuse a place has a test, and each says how to mend it."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from theano.cache import trust
from theano.cache.store import create_trusted

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes are POSIX")
needs_root = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
STRANGER = 54321


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "theano"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A directory directly below the shared temporary one."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def refusal(path: Path) -> trust.Refusal:
    found = trust.directory_refusal(str(path))
    assert found is not None
    return found


def test_own_directory_is_trusted(place: Path) -> None:
    assert trust.directory_refusal(str(place)) is None


@pytest.mark.parametrize(("mode", "command"), [(0o770, "g-w"), (0o707, "o-w"), (0o777, "go-w")])
def test_writable_by_others(place: Path, mode: int, command: str) -> None:
    place.chmod(mode)
    found = refusal(place)
    assert "writable by other users" in found.reason
    assert found.remedy == f"chmod {command} {place}"
    assert os.system(found.remedy) == 0  # the advice is the cure
    assert trust.directory_refusal(str(place)) is None


def test_world_writable_parent_without_sticky_bit(place: Path) -> None:
    parent = place.parent / "shared"
    parent.mkdir()
    inner = parent / "cache"
    inner.mkdir(mode=0o700)
    parent.chmod(0o777)
    assert refusal(inner).path == str(parent)
    parent.chmod(0o1777)
    assert trust.directory_refusal(str(inner)) is None


def test_a_shared_directory_is_no_cache_itself(place: Path) -> None:
    place.chmod(0o1777)
    assert "share" in refusal(place).reason and "chmod" not in refusal(place).remedy


@needs_root
def test_foreign_owner(place: Path) -> None:
    os.chown(place, STRANGER, STRANGER)
    found = refusal(place)
    assert f"belongs to user {STRANGER}" in found.reason
    assert found.remedy == trust.ELSEWHERE


@needs_root
def test_foreign_parent(place: Path) -> None:
    inner = place / "inner"
    inner.mkdir(mode=0o700)
    os.chown(place, STRANGER, STRANGER)
    assert refusal(inner).path == str(place)


def test_links_in_the_last_two_components(place: Path) -> None:
    inner = place / "inner"
    inner.mkdir(mode=0o700)
    link = place.parent / "link"
    link.symlink_to(place)
    assert "symbolic link" in refusal(link).reason
    assert "symbolic link" in refusal(link / "inner").reason
    deep = inner / "deep"
    deep.mkdir(mode=0o700)
    assert trust.directory_refusal(str(link / "inner" / "deep")) is None


def test_what_a_higher_link_leads_to_is_checked(place: Path) -> None:
    deep = place / "bad" / "a" / "b"
    deep.mkdir(parents=True, mode=0o700)
    link = place.parent / "link"
    link.symlink_to(Path("theano") / "bad")
    (place / "bad").chmod(0o777)
    assert refusal(link / "a" / "b").path == str(place / "bad")


def test_a_circle_of_links_ends(place: Path) -> None:
    (place / "a").symlink_to(place / "b")
    (place / "b").symlink_to(place / "a")
    assert trust.directory_refusal(str(place / "a" / "x" / "y")) is not None


@pytest.mark.parametrize("path", ["", "relative/path"])
def test_relative_paths(path: str) -> None:
    assert trust.directory_refusal(path) is not None


def test_file_instead_of_directory(place: Path) -> None:
    (place / "file").write_text("")
    assert "not a directory" in refusal(place / "file").reason


def test_missing_directory_is_created_for_us_alone(place: Path) -> None:
    target = place / "a" / "b" / "c"
    old = os.umask(0)
    try:
        assert create_trusted(str(target)) is None
    finally:
        os.umask(old)
    for path in (target, target.parent, target.parent.parent):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_nothing_is_created_in_a_bad_place(place: Path) -> None:
    place.chmod(0o777)
    assert create_trusted(str(place / "cache")) is not None
    assert list(place.iterdir()) == []


def test_directly_in_the_shared_temporary_directory(open_place: Path) -> None:
    assert create_trusted(str(open_place / "cache")) is None


def test_unknown_home() -> None:
    found = create_trusted("")
    assert found is not None and "HOME" in found.remedy


class TestFiles:
    def check(self, path: Path, *, root_may_own: bool = False) -> trust.Refusal | None:
        return trust.file_refusal(str(path), path.lstat(), root_may_own=root_may_own)

    def test_own(self, place: Path) -> None:
        path = place / "x"
        path.write_text("")
        path.chmod(0o500)
        assert self.check(path) is None

    @pytest.mark.parametrize("mode", [0o520, 0o502])
    def test_writable(self, place: Path, mode: int) -> None:
        path = place / "x"
        path.write_text("")
        path.chmod(mode)
        assert "writable" in str(self.check(path))

    def test_second_name(self, place: Path) -> None:
        path = place / "x"
        path.write_text("")
        os.link(path, place / "y")
        assert "2 names" in str(self.check(path))

    def test_not_regular(self, place: Path) -> None:
        os.mkfifo(place / "x")
        assert "regular" in str(self.check(place / "x"))

    @needs_root
    def test_foreign(self, place: Path) -> None:
        path = place / "x"
        path.write_text("")
        os.chown(path, STRANGER, STRANGER)
        assert "belongs to" in str(self.check(path))
        assert "belongs to" in str(self.check(path, root_may_own=True))

    def test_root_may_own_a_pre_filled_entry(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = place / "x"
        path.write_text("")
        owner = path.stat().st_uid
        monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
        assert self.check(path) is not None
        assert (self.check(path, root_may_own=True) is None) == (owner == 0)


def test_this_process_is_not_privileged() -> None:
    assert trust.process_is_privileged() is False


def test_different_effective_user_is_privileged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert trust.process_is_privileged.__wrapped__() is True
