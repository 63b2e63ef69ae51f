"""A cache as one file: what is taken in, and what is refused whole."""

from __future__ import annotations

import os
import random
import stat
import zipfile
from pathlib import Path

import pytest

from theano.cache import transfer
from theano.cache.command import main
from theano.cache.contents import survey
from theano.cache.names import EntryName
from theano.cache.store import Cache, CacheSettings
from theano.cache.transfer import LIST, TransferError, pack, unpack

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes are POSIX")
KEYS = [f"{number:02x}" * 16 for number in range(3)]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(CacheSettings(root=str(tmp_path / "cache")))


@pytest.fixture
def export(tmp_path: Path) -> Path:
    filled = Cache(CacheSettings(root=str(tmp_path / "filled")))
    for number, key in enumerate(KEYS):
        with filled.stage() as stage:
            staged = Path(stage, "unit.so")
            staged.write_bytes(b"\x7fELF" + key.encode() + bytes([number]) * 500)
            filled.publish_unit(str(staged), key, [f"{number:032x}"], "int f;")
    filled.add_plan("a" * 32, "a plan")
    filled.add_note("b" * 32, "a note")
    assert pack(filled.root, str(tmp_path / "export.zip")) == 3 + 3 + 3 + 2
    return tmp_path / "export.zip"


def held(root: str) -> dict[str, bytes]:
    """Return all entries of a cache by their paths."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in Path(root).rglob("*") if path.is_file() and path.name not in ("CACHEDIR.TAG", ".swept")
    }  # fmt: skip


def test_there_and_back(export: Path, cache: Cache, tmp_path: Path) -> None:
    assert unpack(str(export), cache) == (11, 11)
    assert held(cache.root) == held(str(tmp_path / "filled"))
    contents = survey(cache.root)
    assert {stat.S_IMODE(os.stat(item.path).st_mode) for item in contents.units} == {0o500}
    assert cache.plans("a" * 32) == ["a plan"] and cache.notes("b" * 32) == ["a note"]
    assert len(list(cache.units(KEYS[0]))) == 1 and len(list(cache.references("0" * 32))) == 1
    assert unpack(str(export), cache) == (0, 11)
    assert sorted(path.name for path in export.parent.iterdir()) == ["cache", "export.zip", "filled"]


def test_only_what_is_right_is_written(export: Path, tmp_path: Path) -> None:
    unit = Path(survey(str(tmp_path / "filled")).units[0].path)
    unit.chmod(0o700)
    unit.write_bytes(b"\x7fELFdamaged")
    assert pack(str(tmp_path / "filled"), str(export)) == 8  # without its source and its reference
    other = Cache(CacheSettings(root=str(tmp_path / "other")))
    unpack(str(export), other)
    assert len(survey(other.root).units) == 2 and list(other.units(KEYS[0])) == []


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_file_is_refused_whole_or_means_the_same(seed: int, export: Path, cache: Cache) -> None:
    rng, data = random.Random(seed), bytearray(export.read_bytes())
    if seed % 3:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    else:
        del data[rng.randrange(len(data)) :]
    export.write_bytes(data)
    try:
        taken = unpack(str(export), cache)
    except TransferError as error:
        assert "was not imported" in str(error) and held(cache.root) == {}
    else:  # of a zip archive not every byte means something: times, rights, versions
        assert taken == (11, 11) and held(cache.root) == held(str(export.parent / "filled"))


def rewritten(export: Path, change: object) -> None:
    with zipfile.ZipFile(export) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != LIST}
    change(members)  # type: ignore[operator]
    with zipfile.ZipFile(export, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.writestr(LIST, transfer._list(members))


def test_who_makes_a_list_of_their_own_is_refused_for_the_entries(export: Path, cache: Cache) -> None:
    def out(members: dict[str, bytes]) -> None:
        members["../../evil.so"] = b"x"

    def elsewhere(members: dict[str, bytes]) -> None:
        members["ff/" + EntryName(KEYS[0], "0" * 32, "so").file] = b"x"

    def other_bytes(members: dict[str, bytes]) -> None:
        members[next(name for name in members if name.endswith(".so"))] += b"x"

    def under_another_key(members: dict[str, bytes]) -> None:
        name = next(name for name in members if name.endswith(".plan"))
        moved = EntryName("c" * 32, name.split(".")[1], "plan")
        members[moved.relative] = members.pop(name)

    def to_nothing(members: dict[str, bytes]) -> None:
        del members[next(name for name in members if name.endswith(".so"))]

    original = export.read_bytes()
    for change in (out, elsewhere, other_bytes, under_another_key, to_nothing):
        export.write_bytes(original)
        rewritten(export, change)
        with pytest.raises(TransferError):
            unpack(str(export), cache)
        assert held(cache.root) == {}, change.__name__


@pytest.mark.parametrize(("spoil", "reason"), [
    (lambda path: path.chmod(0o620), "is writable by other users"),
    (lambda path: os.link(path, path.with_name("second")), "has 2 names"),
    (lambda path: os.chown(path, 54321, 54321) if os.geteuid() == 0 else pytest.skip("needs root"), "belongs to user"),
])  # fmt: skip
def test_a_file_that_may_be_somebody_elses_is_refused(
    spoil: object, reason: str, export: Path, cache: Cache, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(export)  # type: ignore[operator]
    assert main(["import", str(export)], cache.settings) == 1
    assert reason in (said := capsys.readouterr().err) and "cp" in said and held(cache.root) == {}


def test_links_and_other_things_are_refused(export: Path, cache: Cache, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(export)
    with pytest.raises(OSError):
        unpack(str(tmp_path / "link"), cache)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError):
        unpack(str(tmp_path / "fifo"), cache)
    (tmp_path / "text").write_text("years of work")
    with pytest.raises(TransferError, match="no export of a cache"):
        unpack(str(tmp_path / "text"), cache)
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        archive.writestr("photo", b"x")
    with pytest.raises(TransferError, match="no export of a cache"):
        unpack(str(tmp_path / "photos.zip"), cache)


def test_where_there_is_no_space_nothing_is_left(
    export: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real, calls = transfer._read, []

    def read(archive: zipfile.ZipFile, member: str) -> bytes:
        calls.append(member)
        if len(calls) > 17:  # all are judged, some are written
            raise OSError(28, "No space left on device")
        return real(archive, member)

    monkeypatch.setattr(transfer, "_read", read)
    assert main(["import", str(export)], cache.settings) == 1
    assert "No space left" in capsys.readouterr().err
    assert held(cache.root) == {} and [path for path in os.listdir(cache.root) if path.startswith(".stage")] == []


def test_the_command(export: Path, cache: Cache, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(export)], cache.settings) == 0
    assert capsys.readouterr().out == f"{cache.root}: 11 new entries of 11\n"
    again = tmp_path / "again.zip"
    assert main(["export", str(again)], cache.settings) == 0
    assert capsys.readouterr().out.startswith(f"{again}: 11 entries, ")
    assert stat.S_IMODE(again.stat().st_mode) == 0o600
    assert main(["export", str(tmp_path / "no" / "folder")], cache.settings) == 1
    assert "was not written" in capsys.readouterr().err
    os.chmod(cache.root, 0o777)
    assert main(["import", str(export)], cache.settings) == 1
    assert "cannot be used" in capsys.readouterr().err
