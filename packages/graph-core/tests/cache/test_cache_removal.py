"""What is recognised as the cache's own, what is swept and when: each decision on both sides."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest
from systems import System

from theano.cache import ownership
from theano.cache import sweep as sweeping
from theano.cache.contents import survey
from theano.cache.names import EntryName, ReferenceName, StageName, digest_of
from theano.cache.ownership import (
    MARK,
    MARK_BYTES,
    STAMP,
    adopt,
    foreign_files,
    is_marked,
    refusal_to_manage,
    refusal_to_remove,
    remove_entry,
    scan,
)
from theano.cache.sweep import Sweep, sweep, sweep_if_due

KEY, KERNEL = "0123456789abcdef" * 2, "fedcba9876543210" * 2
DAY = 86400
pytestmark = pytest.mark.skipif(os.name != "posix", reason="links are POSIX")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory that is marked."""
    path = tmp_path / "cache"
    path.mkdir(mode=0o700)
    assert adopt(str(path))
    return path


def put(root: Path, data: bytes, kind: str = "so", key: str = KEY, age: float = 0.0, now: float | None = None) -> Path:
    """Lay an entry into a cache that was last used some seconds ago."""
    path = root / EntryName(key, digest_of(data), kind).relative
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    used = (time.time() if now is None else now) - age
    os.utime(path, (used, used))
    return path


# -- what is the cache's own -------------------------------------------------------------------------------------

UNIT = EntryName(KEY, "0" * 32, "so")
REFERENCE = ReferenceName(KERNEL, UNIT)
CONTENTS: dict[str, tuple[EntryName | ReferenceName, bytes, str]] = {
    "a library": (UNIT, b"\x7fELF and more", ""),
    "a library of another system": (UNIT, b"MZ and more", ""),
    "a text for a library": (UNIT, b"theano-cache plan ", "holds something that is not the cache's"),
    "a plan": (UNIT._replace(kind="plan"), b"theano-cache plan x", ""),
    "a library for a plan": (UNIT._replace(kind="plan"), b"\x7fELF", "holds something that is not the cache's"),
    "a note": (UNIT._replace(kind="txt"), b"theano-cache txt ", ""),
    "a note for a plan": (UNIT._replace(kind="plan"), b"theano-cache txt ", "holds something that is not the cache's"),
    "a source": (UNIT._replace(kind="c"), b"/* theano-cache c x", ""),
    "a source from before there were heads": (UNIT._replace(kind="c"), b"char theano_unit_key[];", ""),
    "such a text in another file": (UNIT, b"char theano_unit_key[];", "holds something that is not the cache's"),
    "somebody's source": (UNIT._replace(kind="c"), b"int f;", "holds something that is not the cache's"),
    "right digest": (UNIT._replace(digest=digest_of(b"thesis")), b"thesis", ""),
    "nothing": (UNIT, b"", ""),
    "zeros": (UNIT, bytes(10000), ""),
    "zeros, then something": (UNIT, bytes(10000) + b"thesis", "holds something that is not the cache's"),
    "an empty reference": (REFERENCE, b"", ""),
    "a reference with content": (REFERENCE, b"thesis", "is not empty, as references are"),
    "a reference of zeros": (REFERENCE, bytes(10), "is not empty, as references are"),
}


@pytest.mark.parametrize("what", CONTENTS)
def test_a_file_by_its_content(what: str, tmp_path: Path) -> None:
    name, data, refusal = CONTENTS[what]
    path = tmp_path / "file"
    path.write_bytes(data)
    assert refusal_to_remove(str(path), name) == remove_entry(str(path), name) == refusal
    assert path.exists() is bool(refusal)


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nothing")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    said = {name: remove_entry(str(tmp_path / name), UNIT) for name in ("link", "fifo", "folder", "nothing")}
    assert said == {"link": "is a symbolic link", "fifo": "is not a regular file", "folder": "is not a regular file",
                    "nothing": ""}  # fmt: skip
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(("error", "said"), [
    (FileNotFoundError(), ""), (OSError(5, "Input/output error"), "Input/output error"), (OSError("odd"), "odd"),
])  # fmt: skip
@pytest.mark.parametrize("call", ["lstat", "unlink"])
def test_a_system_that_does_not_do_it(
    call: str, error: OSError, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(path: str) -> Any:
        raise error

    path = tmp_path / "file"
    path.touch()
    monkeypatch.setattr(ownership, "os", System(**{call: fails}))
    assert remove_entry(str(path), UNIT) == said


def test_a_file_that_cannot_be_opened_is_nobodys_mark(root: Path) -> None:
    assert is_marked(str(root))
    for make in (Path.mkdir, os.mkfifo, lambda path: path.symlink_to(root.parent / "mark")):
        (root / MARK).unlink() if not (root / MARK).is_dir() else (root / MARK).rmdir()
        make(root / MARK)
        assert not is_marked(str(root))


@pytest.mark.parametrize(("data", "marked"), [
    (MARK_BYTES, True), (MARK_BYTES[:61], True), (MARK_BYTES[:60], False), (b" " + MARK_BYTES, False), (b"", False),
])  # fmt: skip
def test_the_mark(data: bytes, marked: bool, tmp_path: Path) -> None:
    (tmp_path / MARK).write_bytes(data)
    assert is_marked(str(tmp_path)) is marked
    (tmp_path / "link").symlink_to(".")
    assert not is_marked(str(tmp_path / "link")) and not adopt(str(tmp_path / "link"))
    assert MARK_BYTES[:61].endswith(b"\n# theano-cache 1\n")


def test_a_directory_is_marked_for_everybody_to_read(root: Path) -> None:
    assert stat.S_IMODE((root / MARK).stat().st_mode) == 0o444 and os.listdir(root) == [MARK]
    before = (root / MARK).stat()
    assert adopt(str(root)) and (root / MARK).stat() == before, "once is enough"


@pytest.mark.parametrize("call", ["chmod", "replace"])
def test_a_mark_that_cannot_be_set(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ownership, "os", System(**{call: fails}))
    assert adopt(str(tmp_path)) is False and os.listdir(tmp_path) == []
    monkeypatch.setattr(ownership, "os", System(**{call: fails, "unlink": fails}))
    assert adopt(str(tmp_path)) is False


def test_what_may_be_managed(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to("cache")
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "older").mkdir()
    put(tmp_path / "older", b"\x7fELF")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "thesis").touch()
    said = {path.name: refusal_to_manage(str(path)) for path in tmp_path.iterdir()}
    none = f"does not carry the mark of a cache ({MARK}) and"
    assert said == {
        "cache": "", "older": "", "link": f"is a symbolic link (to {root})", "file": "Not a directory",
        "empty": f"{none} is empty", "theirs": f"{none} holds other things, {tmp_path / 'theirs' / 'thesis'} among them",
    }  # fmt: skip
    monkeypatch.setattr(ownership, "os", System(listdir=lambda path: exec("raise OSError('odd')")))
    assert refusal_to_manage(str(tmp_path / "empty")) == "odd"


def lay(root: Path, name: str, kind: str) -> None:
    path = root / name
    path.parent.mkdir(exist_ok=True)
    if kind == "link":
        path.symlink_to(root)
    elif kind == "link to a file":
        outside = root.parent / "outside"
        outside.touch()
        path.symlink_to(outside)
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text(kind)


NOT_OURS, THEIRS, LINK = "is not the cache's", "is a directory of another user", "is a symbolic link"
STAGE = StageName(1, 2, "0" * 16, "abc").file


@pytest.mark.parametrize(("name", "kind", "said"), [
    (UNIT.relative, "", None), (UNIT.relative, "x", None), (f"00/{UNIT.file}", "", NOT_OURS),
    (UNIT.relative, "folder", THEIRS), (UNIT.relative, "link", LINK), (UNIT.file, "", NOT_OURS),
    (REFERENCE.relative, "", None), (REFERENCE.relative, "x", "is not empty, as references are"),
    (f"01/{REFERENCE.file}", "", NOT_OURS), (REFERENCE.relative, "link", LINK),
    (REFERENCE.relative, "link to a file", LINK), (UNIT.relative, "link to a file", LINK), (f"01/{STAMP}", "", NOT_OURS),
    ("01", "folder", None), ("01", "", NOT_OURS), ("01", "link", LINK), ("1", "folder", THEIRS),
    (STAGE, "folder", None), (STAGE, "", None), (STAGE, "link", LINK),
    (STAMP, "", None), (STAMP, "folder", NOT_OURS), (STAMP, "link", NOT_OURS),
    (STAMP, "link to a file", NOT_OURS), (MARK, "link to a file", NOT_OURS), (STAGE, "link to a file", LINK),
    (MARK, MARK_BYTES.decode(), None), (MARK, "x", NOT_OURS), (MARK, "folder", NOT_OURS), (MARK, "link", NOT_OURS),
])  # fmt: skip
def test_strangers(name: str, kind: str, said: str | None, tmp_path: Path) -> None:
    root = tmp_path / "cache"
    root.mkdir()
    lay(root, name, kind)
    assert list(foreign_files(str(root))) == ([] if said is None else [(str(root / name), said)])


def test_a_listing_is_in_order_and_follows_no_link(tmp_path: Path) -> None:
    for name in "bca":
        (tmp_path / name).mkdir()
    assert [entry.name for entry in scan(str(tmp_path))] == ["a", "b", "c"]
    (tmp_path / "b" / "link").symlink_to("..")
    assert scan(str(tmp_path / "b" / "link")) == scan(str(tmp_path / "nothing")) == []


def test_contents_are_what_has_a_name_of_ours_in_the_right_place(root: Path) -> None:
    """Whatever it holds: what is damaged is found too. A reference that holds something is none."""
    kinds = {kind: put(root, kind.encode() * 9, kind) for kind in ("so", "plan", "txt", "c")}
    names = [
        REFERENCE.relative, f"fe/{ReferenceName(KERNEL, UNIT._replace(digest='1' * 32)).file}", f"02/{REFERENCE.file}",
        f"02/{UNIT.file}", UNIT.file, "01/thesis", "thesis",
    ]  # fmt: skip
    for name, content in zip(names, ["", "x", "", "", "", "", ""], strict=True):
        lay(root, name, content)
    lay(root, STAGE, "folder")
    lay(root, f".stage-1-3-{'0' * 16}-abc", "link")
    lay(root, "03", "link")
    lay(root, UNIT._replace(digest="2" * 32).relative, "link")
    lay(root, UNIT._replace(digest="3" * 32).relative, "folder")
    lay(root, UNIT._replace(digest="4" * 32).relative, "link to a file")
    lay(root, ReferenceName(KERNEL, UNIT._replace(digest="5" * 32)).relative, "link to a file")
    found = survey(str(root))
    lists = {"so": found.units, "plan": found.plans, "txt": found.notes, "c": found.sources}
    for kind, path in kinds.items():
        name = EntryName.parse(path.name)
        assert lists[kind] == [(str(path), name, path.stat().st_size, path.stat().st_mtime)]
    assert found.entries == [item for items in lists.values() for item in items]
    assert (found.unit_bytes, found.plan_bytes) == (18, 36)
    assert found.references == [(str(root / REFERENCE.relative), REFERENCE)]
    assert found.stages == [(str(root / STAGE), StageName.parse(STAGE))]
    assert found.buckets == [str(root / bucket) for bucket in ("01", "02", "fe")]


# -- when is swept ---------------------------------------------------------------------------------------------


@pytest.fixture
def swept(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Notes what is swept, in the place of a sweep."""
    found: list[tuple[str, int]] = []
    monkeypatch.setattr(sweeping, "sweep", lambda root, size_cap: found.append((root, size_cap)))
    return found


@pytest.mark.parametrize(("age", "published", "due"), [
    (0, 0, False), (DAY - 1, 0, False), (DAY, 0, True), (-DAY + 1, 0, False), (-DAY, 0, True),
    (0, 50, False), (0, 51, True), (DAY, 51, True),  # a twentieth of 1000
])  # fmt: skip
def test_a_sweep_is_due(
    age: int, published: int, due: bool, root: Path, swept: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1 << 30
    (root / STAMP).touch()
    os.utime(root / STAMP, (now - age, now - age))
    monkeypatch.setattr(time, "time", lambda: float(now))
    assert sweep_if_due(str(root), 1000, published) is due
    assert swept == ([(str(root), 1000)] if due else [])
    assert ((root / STAMP).stat().st_mtime != now - age) is due, "others need not sweep then"


@pytest.mark.parametrize(("published", "due"), [(0, False), (50, False), (51, True)])
def test_a_new_cache_gets_a_stamp(published: int, due: bool, root: Path, swept: list[tuple[str, int]]) -> None:
    old = os.umask(0)
    try:
        assert sweep_if_due(str(root), 1000, published) is due
    finally:
        os.umask(old)
    assert stat.S_IMODE((root / STAMP).stat().st_mode) == 0o600 and (root / STAMP).read_bytes() == b""
    assert swept == ([(str(root), 1000)] if due else [])


def test_a_stamp_is_opened_for_this_process_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = []

    def opened(path: str, how: int, mode: int) -> int:
        flags.append(how)
        return os.open(path, how, mode)

    monkeypatch.setattr(sweeping, "os", System(open=opened))
    sweep_if_due(str(root), 1000, 0)
    assert flags == [os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC]


def test_where_nothing_may_or_can_be_swept(root: Path, swept: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    for call in ("open", "stat"):
        monkeypatch.setattr(sweeping, "os", System(**{call: fails}))
        assert sweep_if_due(str(root), 0, 1 << 40) is False
    monkeypatch.undo()
    (root / MARK).unlink()
    assert sweep_if_due(str(root), 0, 1 << 40) is False and os.listdir(root) == [] and swept == []


# -- what is swept ---------------------------------------------------------------------------------------------

NOW = float(1 << 30)
MINUTE = 60


def fill(root: Path, ages: list[float], kinds: str = "") -> list[Path]:
    """Lay units ("u") or plans ("p") of 100 bytes each into a cache, used some seconds ago."""
    made = []
    for k, age in enumerate(ages):
        kind, head = ("plan", b"theano-cache plan ") if kinds[k : k + 1] == "p" else ("so", b"\x7fELF")
        made.append(put(root, head + bytes([k]) * (100 - len(head)), kind, f"{k:032x}", age, NOW))
    return made


@pytest.mark.parametrize(("cap", "left"), [
    (1000, 10), (999, 9),  # nothing if all fits; else there is space for a tenth
    (900, 8), (501, 4), (500, 4), (445, 4), (444, 4), (443, 3), (0, 0),
])  # fmt: skip
def test_the_oldest_go_until_there_is_space(cap: int, left: int, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the cap, whole bytes, is left free: of 444 bytes it is 44, and 400 fit exactly."""
    monkeypatch.setattr(time, "time", lambda: NOW)
    paths = fill(root, [DAY * (10 - k) for k in range(10)])
    assert sweep(str(root), cap) == Sweep(10, 1000, 10 - left, 100 * (10 - left), 0, 0)
    assert [path.exists() for path in paths] == [False] * (10 - left) + [True] * left


def test_units_and_plans_go_by_their_age_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW)
    paths = fill(root, [500, 400, 300, 200], "upup")
    assert sweep(str(root), 111) == Sweep(2, 400, 2, 300, 0, 0)
    assert [path.exists() for path in paths] == [False, False, False, True]


@pytest.mark.parametrize(("age", "stays"), [
    (MINUTE, False), (MINUTE - 1, True), (0, True), (-DAY, True), (MINUTE + 1, False),
])  # fmt: skip
def test_what_was_published_a_moment_ago_stays(
    age: float, stays: bool, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW)
    (path,) = fill(root, [age])
    sweep(str(root), 0)
    assert path.exists() is stays


def test_of_one_age_the_first_by_name_goes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times to come count as now: what bears one goes in the order of the names, too."""
    monkeypatch.setattr(time, "time", lambda: NOW)
    monkeypatch.setattr(sweeping, "YOUNG", -2.0 * DAY)
    paths = fill(root, [-DAY, 0, -DAY / 2])
    sweep(str(root), 222)
    assert [path.exists() for path in paths] == [False, True, True]


def test_what_cannot_be_removed_is_passed_over(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW)
    paths = fill(root, [500, 400, 300])
    paths[0].write_bytes(b"thesis" * 20)
    os.utime(paths[0], (NOW - 500, NOW - 500))
    assert sweep(str(root), 299) == Sweep(3, 320, 1, 100, 0, 0)
    assert [path.exists() for path in paths] == [True, False, True]


def test_what_belongs_to_no_unit_goes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """References and sources of units that are gone; not those of one that another process has just published."""
    monkeypatch.setattr(time, "time", lambda: NOW)
    old, new = fill(root, [500, 400])
    units = [EntryName.parse(path.name) for path in (old, new)] + [UNIT]
    beside = []
    for k, unit in enumerate(units):
        assert unit is not None
        for name in (ReferenceName(f"{k:032x}", unit), unit._replace(kind="c")):
            beside.append(root / name.relative)
            beside[-1].parent.mkdir(exist_ok=True)
            beside[-1].touch()
    theirs = root / UNIT._replace(kind="c", digest="1" * 32).relative
    theirs.write_text("thesis")
    assert sweep(str(root), 150) == Sweep(2, 200, 1, 100, 0, 4)
    assert [path.exists() for path in beside] == [False, False, True, True, False, False] and theirs.exists()
    listed = survey(str(root))
    listed.units.clear()
    monkeypatch.setattr(sweeping, "survey", lambda root: listed)
    assert sweep(str(root), 150).removed_references == 0 and beside[2].exists() and beside[3].exists()


def test_working_directories_of_the_dead_are_counted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for pid in (1, 2, 3):
        (root / StageName(pid, 1, "0" * 16, "abc").file).mkdir()
    monkeypatch.setattr(sweeping, "reclaim_stage", lambda path, name: "alive" if name.pid == 2 else "")
    assert sweep(str(root), 0) == Sweep(removed_stages=2)
    (root / MARK).unlink()
    assert sweep(str(root), 0) == Sweep() == Sweep(0, 0, 0, 0, 0, 0), "without a mark nothing is touched"
