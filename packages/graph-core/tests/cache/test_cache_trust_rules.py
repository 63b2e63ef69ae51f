"""The rules by which places and processes are trusted, one by one: both sides of each, on this system and on others."""

from __future__ import annotations

import os
import pwd
import stat
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from systems import System

from theano.cache import trust

pytestmark = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
STRANGER = 54321


def on(monkeypatch: pytest.MonkeyPatch, *without: str, **answers: Any) -> None:
    monkeypatch.setattr(trust, "os", System(without, **answers))


# -- opening -----------------------------------------------------------------------------------------------------

OPTIONAL = ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_BINARY")


@pytest.mark.parametrize("missing", [None, *OPTIONAL])
def test_files_are_opened_with_all_caution_that_the_system_knows(
    missing: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []

    def opened(path: str, flags: int) -> int:
        found.append(flags)
        return os.open(path, os.O_RDONLY)

    (tmp_path / "file").touch()
    bits = {name: 1 << (20 + k) for k, name in enumerate(OPTIONAL)}
    on(monkeypatch, *([missing] if missing else []), open=opened, O_RDONLY=1 << 10, **bits)
    os.close(trust.open_regular(str(tmp_path / "file")))
    assert found == [(1 << 10) + sum(bit for name, bit in bits.items() if name != missing)]


def test_what_is_no_file_is_closed_again(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    for path in (tmp_path, tmp_path / "fifo"):
        with pytest.raises(OSError, match="not a regular file"):
            trust.open_regular(str(path))
    assert before == [] or os.listdir("/proc/self/fd") == before


# -- processes ---------------------------------------------------------------------------------------------------


def auxiliary(*pairs: tuple[int, int]) -> bytes:
    """What a kernel tells a process, with the end of a word that is not whole."""
    return b"".join(struct.pack("@LL", *pair) for pair in pairs) + b"\0\0\0"


@pytest.mark.parametrize(("users", "groups", "told", "privileged"), [
    ((5, 5), (6, 6), auxiliary((23, 0)), False), ((5, 5), (6, 6), auxiliary((23, 1)), True),
    ((5, 5), (6, 6), auxiliary((6, 4096), (23, 1), (0, 0)), True), ((5, 5), (6, 6), auxiliary((22, 1), (24, 1)), False),
    ((5, 5), (6, 6), auxiliary((1, 23), (23, 0), (3, 1)), False), ((5, 5), (6, 6), None, False),
    ((5, 0), (6, 6), None, True), ((5, 5), (6, 0), None, True), ((5, 0), (6, 0), None, True),
])  # fmt: skip
def test_privileged_is_what_has_more_rights_than_its_user(
    users: tuple[int, int], groups: tuple[int, int], told: bytes | None, privileged: bool, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def opened(path: str, mode: str) -> Any:
        assert path == "/proc/self/auxv"
        if told is None:
            raise FileNotFoundError(path)
        return open(tmp_path / "auxv", mode)

    (tmp_path / "auxv").write_bytes(told or b"")
    monkeypatch.setattr(trust, "open", opened, raising=False)
    ids = {"getuid": users[0], "geteuid": users[1], "getgid": groups[0], "getegid": groups[1]}
    answers = {name: lambda value=value: value for name, value in ids.items()}
    on(monkeypatch, **answers)
    assert trust.process_is_privileged.__wrapped__() is privileged
    on(monkeypatch, name="nt", **answers)
    assert trust.process_is_privileged.__wrapped__() is False


# -- what is ours ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "root", "below"), [
    ("/a/b", "/a", True), ("/a", "/a", True), ("/a/", "/a", True), ("/a", "/a/", True), ("/ab", "/a", False),
    ("/a/../b", "/a", False), ("/a", "/a/b", False), ("/a", "/", True), ("/", "/", True),
])  # fmt: skip
def test_below(path: str, root: str, below: bool) -> None:
    assert trust._is_below(path, root) is below


@pytest.mark.parametrize(("root", "ours"), [
    ("/x/theano", True), ("/x/My-Theano-2", True), ("/x/theano/compiled", True), ("/x/theano/compiled/", True),
    ("/x/theano/other", False), ("/x/theano/y/compiled", False), ("/x/compiled", False), ("/x", False), ("/", False),
    ("/compiled", False), ("/theano", True), ("/compiled/x", False),
    ("/home/theano", False), ("/home/theano/compiled", True),  # a home, and a place in it
])  # fmt: skip
def test_what_carries_our_name(root: str, ours: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "_homes", lambda: ["/home/theano"])
    assert trust._carries_our_name(root) is ours


def test_homes_are_named_by_the_environment_and_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    monkeypatch.setattr(pwd, "getpwuid", lambda user: SimpleNamespace(pw_dir=f"/home/{user}/"))
    assert trust._homes() == [str(tmp_path / "link"), "/home/0", str(tmp_path), "/home/0"]
    monkeypatch.setenv("HOME", "relative")
    assert trust._homes() == ["/home/0", "/home/0"]

    def unknown(user: int) -> Any:
        raise KeyError(user)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert trust._homes() == []


def usual(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Directory and entry are this user's."""


def foreign_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.chown(root, STRANGER, STRANGER)


def foreign_entry(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.chown(root / "entry", STRANGER, STRANGER)


def sticky_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root.chmod(0o1700)


def sticky_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "entry").chmod(0o1700)  # says nothing of a file


def fifo(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "entry").unlink()
    os.mkfifo(root / "entry")


def link(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "entry").unlink()
    (root.parent / "other").touch()
    (root / "entry").symlink_to("../other")


def mounted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "ismount", lambda path: path == str(root))


def read_only(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, statvfs=lambda path: SimpleNamespace(f_flag=os.ST_RDONLY | 2))


def another_flag(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, statvfs=lambda path: SimpleNamespace(f_flag=2))


def read_only_without_a_name_for_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, "ST_RDONLY", statvfs=lambda path: SimpleNamespace(f_flag=1))


def another_flag_without_a_name(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, "ST_RDONLY", statvfs=lambda path: SimpleNamespace(f_flag=2))


def missing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "entry").unlink()


def not_posix(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, name="nt")


@pytest.mark.parametrize(("how", "root_ours", "entry_ours"), [
    (usual, True, True), (sticky_file, True, True), (another_flag, True, True), (another_flag_without_a_name, True, True),
    (foreign_entry, True, False), (fifo, True, False), (link, True, False), (missing, True, False),
    (foreign_root, False, False), (sticky_root, False, False), (mounted, False, False), (read_only, False, False),
    (read_only_without_a_name_for_it, False, False), (not_posix, False, False),
])  # fmt: skip
def test_what_may_be_changed_is_ours(
    how: Any, root_ours: bool, entry_ours: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "theano"
    root.mkdir(0o700)
    (root / "entry").touch()
    how(root, monkeypatch)
    for path, ours in ((root, root_ours), (root / "entry", entry_ours)):
        assert trust.is_ours(str(path), str(root)) is ours
        advice = f"chmod go-w {path}" if ours else trust.ELSEWHERE
        assert trust.change_of_rights("go-w", str(path), str(root)) == advice


def test_nothing_beside_the_root_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, beside, other = (tmp_path / name for name in ("theano", "theano-2", "other"))
    for path in (root, beside, other):
        path.mkdir(0o700)
    assert not trust.is_ours(str(beside), str(root)) and not trust.is_ours(str(other), str(other))
    assert not trust.is_ours(str(tmp_path), str(root))
    monkeypatch.chdir(tmp_path)
    assert not trust.is_ours("theano", "theano")


@pytest.mark.parametrize(("without", "flags", "expected"), [
    ((), os.ST_RDONLY if hasattr(os, "ST_RDONLY") else 1, True), ((), 2, False), (("ST_RDONLY",), 1, True),
    (("ST_RDONLY",), 2, False), (("statvfs",), 1, False),
])  # fmt: skip
def test_mounted_read_only(
    without: tuple[str, ...], flags: int, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, *without, statvfs=lambda path: SimpleNamespace(f_flag=flags))
    assert trust.read_only("/") is expected


def test_what_is_not_there_is_not_read_only() -> None:
    assert trust.read_only("/nothing/there") is False


@pytest.mark.parametrize(("without", "flag", "flags", "refused"), [
    ((), 8, 8, True), ((), 8, 9, True), ((), 8, 7, False), ((), 0, 255, False), (("ST_NOEXEC",), 8, 255, False),
])  # fmt: skip
def test_mounted_without_programs(
    without: tuple[str, ...], flag: int, flags: int, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, *without, ST_NOEXEC=flag, statvfs=lambda path: SimpleNamespace(f_flag=flags))
    found = trust.mount_refusal("/place")
    assert found == (("/place", "is on a file system mounted noexec", trust.ELSEWHERE) if refused else None)


@pytest.mark.parametrize(("refusal", "remedy"), [
    (None, None), (trust.Refusal("/p", "r", "chmod"), "chmod"), (trust.Refusal("/p", "r"), ""),
    (trust.Refusal("/p", "r", trust.ELSEWHERE), "name another directory in the flag cache.readonly"),
])  # fmt: skip
@pytest.mark.parametrize("which", ["directory_refusal", "mount_refusal"])
def test_the_advice_for_a_pre_filled_directory(
    which: str, refusal: trust.Refusal | None, remedy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("directory_refusal", "mount_refusal"):
        monkeypatch.setattr(trust, name, lambda path, name=name: refusal if name == which else None)
    found = trust.pre_filled_refusal("/place")
    assert (found and found.remedy) == remedy and (found is None) is (refusal is None)


# -- the way to a directory ----------------------------------------------------------------------------------------


def test_the_root_of_the_file_system_and_what_is_below() -> None:
    assert trust.directory_refusal("/") is None
    found = trust.directory_refusal("/nothing/there")
    assert found == ("/nothing", "No such file or directory", "")
    assert str(found) == "/nothing: No such file or directory"
    assert str(trust.Refusal("/a", "b", "c")) == "/a: b (to mend it: c)"


@pytest.mark.parametrize(("owner", "user", "accepted"), [
    (0, 0, True), (STRANGER, 0, False), (1, 0, False), (0, STRANGER, True), (STRANGER, STRANGER, True), (1, STRANGER, False),
])  # fmt: skip
def test_a_directory_is_the_users_or_roots(
    owner: int, user: int, accepted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    os.chown(place, owner, owner)
    on(monkeypatch, geteuid=lambda: user)
    assert (trust.directory_refusal(str(place)) is None) is accepted


def test_elsewhere_a_directory_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o777)
    (tmp_path / "file").touch()
    on(monkeypatch, name="nt")
    assert trust.directory_refusal(str(tmp_path)) is None
    assert trust.directory_refusal(str(tmp_path / "file")) == (str(tmp_path / "file"), "is not a directory", "")
    assert trust.directory_refusal("relative") is not None


@pytest.mark.parametrize(("target", "refused"), [
    ("real", None), ("./real", None), ("../top/real", None), ("real/../real", None), ("{top}/real", None),
    ("second", None),  # a link to a link
    ("bad", "bad"), ("real/../bad", "bad"), ("{top}/bad/../real", "bad"),  # whoever can write there, leads elsewhere
    ("link", "link"),  # to itself
    ("nothing", "nothing"), ("file", "file"), ("theirs", "theirs"),
])  # fmt: skip
def test_where_a_link_on_the_way_leads(target: str, refused: str | None, tmp_path: Path) -> None:
    top = tmp_path / "top"
    for folder in ("real/a/b", "bad/a/b"):
        (top / folder).mkdir(parents=True)
    (top / "bad").chmod(0o777)
    (top / "second").symlink_to("real")
    (top / "theirs").symlink_to("real")
    os.lchown(top / "theirs", STRANGER, STRANGER)
    (top / "file").touch()
    (top / "link").symlink_to(target.format(top=top))
    found = trust.directory_refusal(str(top / "link" / "a" / "b"))
    assert (found and found.path) == (refused and str(top / refused))


@pytest.mark.parametrize(("count", "accepted"), [(40, True), (41, False)])
def test_as_many_links_as_the_kernel_follows(count: int, accepted: bool, tmp_path: Path) -> None:
    place = tmp_path / "0"
    (place / "a" / "b").mkdir(parents=True)
    for k in range(count):
        (tmp_path / str(k + 1)).symlink_to(str(k))
    way = tmp_path / str(count) / "a" / "b"
    assert os.path.isdir(way) is accepted, "the kernel says the same"
    found = trust.directory_refusal(str(way))
    assert (found is None) is accepted and (accepted or "too many" in str(found))


@pytest.mark.parametrize(("depth", "accepted"), [(0, False), (1, False), (2, True), (3, True)])
def test_the_last_two_components_are_no_links(depth: int, accepted: bool, tmp_path: Path) -> None:
    (tmp_path / "real" / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    found = trust.directory_refusal(str(Path(tmp_path, "link", *"abc"[:depth])))
    assert (found is None) is accepted
    if found is not None:
        assert (found.path, found.remedy) == (str(tmp_path / "link"), trust.ELSEWHERE)
        assert str(tmp_path / "real") in found.reason


# -- files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("facts", "user", "root_may_own", "refused"), [
    ({}, 5, False, None), ({}, 5, True, None), ({"st_uid": 0}, 0, False, None), ({"st_uid": 0}, 5, True, None),
    ({"st_uid": 0}, 5, False, "belongs to user 0"), ({"st_uid": 1}, 5, True, "belongs to user 1"),
    ({"st_uid": 7}, 5, False, "belongs to user 7"),
    ({"st_mode": stat.S_IFREG | 0o755}, 5, False, None), ({"st_mode": stat.S_IFREG | 0o620}, 5, False, "writable"),
    ({"st_mode": stat.S_IFREG | 0o602}, 5, False, "writable"), ({"st_mode": stat.S_IFIFO | 0o600}, 5, False, "regular"),
    ({"st_nlink": 0}, 5, False, "0 names"), ({"st_nlink": 2}, 5, False, "2 names"),
])  # fmt: skip
def test_facts_of_an_entry(
    facts: dict[str, int], user: int, root_may_own: bool, refused: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"st_mode": stat.S_IFREG | 0o500, "st_uid": 5, "st_nlink": 1, **facts}
    info: Any = SimpleNamespace(**own)
    on(monkeypatch, geteuid=lambda: user)
    found = trust.file_refusal("/entry", info, root_may_own=root_may_own)
    assert (found is None) if refused is None else refused in str(found)
    on(monkeypatch, name="nt")
    found = trust.file_refusal("/entry", info, root_may_own=root_may_own)
    assert (found is None) is (refused != "regular"), "elsewhere neither users nor modes say anything"
