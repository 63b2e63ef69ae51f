"""Plans in the cache: one file each, found by key, checked like units, swept with them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from theano.cache.command import main
from theano.cache.contents import survey
from theano.cache.names import PLAN, EntryName, digest_of
from theano.cache.store import Cache, CacheSettings
from theano.cache.sweep import sweep

KEY = "0123456789abcdef" * 2


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(CacheSettings(root=str(tmp_path / "cache")))


def files(cache: Cache) -> list[Path]:
    return sorted(Path(cache.root).rglob("*.plan"))


def test_kept_and_found(cache: Cache) -> None:
    assert cache.plans(KEY) == []
    cache.add_plan(KEY, "one, with ünï\x00\xff")
    cache.add_plan(KEY, "two")
    cache.add_plan(KEY, "two")
    assert sorted(cache.plans(KEY)) == ["one, with ünï\x00\xff", "two"]
    assert cache.plans("f" * 32) == [] and cache.notes(KEY) == [] and list(cache.units(KEY)) == []
    assert len(files(cache)) == 2
    for file in files(cache):
        name = EntryName.parse(file.name)
        assert name is not None and name.kind == PLAN and name.key == KEY
        assert digest_of(file.read_bytes()) == name.digest
        assert file.stat().st_mode & 0o777 == 0o400
    assert survey(cache.root).stages == [], "staging is gone"


def test_whether_it_holds_any(cache: Cache, tmp_path: Path) -> None:
    """Also one that was filled before; notes are none, and what cannot be listed may hold some."""
    assert not cache.holds_plans()
    cache.add_note(KEY, "a note")
    assert not cache.holds_plans()
    cache.add_plan(KEY, "a plan")
    assert cache.holds_plans()
    behind = Cache(CacheSettings(root=str(tmp_path / "other"), readonly=(cache.root,)))
    assert behind.holds_plans()
    cache.folders = lambda: [(str(tmp_path / "gone"), True)]  # type: ignore[method-assign]
    assert cache.holds_plans()


WRONG = ["empty", "zeros", "cut", "flipped", "flipped head", "directory", "link", "writable", "two names", "renamed"]


@pytest.mark.parametrize("damage", WRONG)
def test_what_is_wrong_is_a_miss_and_is_replaced(cache: Cache, tmp_path: Path, damage: str) -> None:
    cache.add_plan(KEY, "a plan")
    (file,) = files(cache)
    data = file.read_bytes()
    file.chmod(0o600)
    if damage == "directory":
        file.unlink()
        file.mkdir()
    elif damage == "link":
        file.unlink()
        (tmp_path / "elsewhere").write_bytes(data)
        file.symlink_to(tmp_path / "elsewhere")
    elif damage == "writable":
        file.chmod(0o622)
    elif damage == "two names":
        os.link(file, tmp_path / "another name")
    elif damage == "renamed":
        file.rename(file.with_name(EntryName(KEY, "f" * 32, PLAN).file))
    else:
        flipped = bytes([data[0] ^ 1]) + data[1:], data[:-1] + bytes([data[-1] ^ 1])
        damaged = {"empty": b"", "zeros": bytes(len(data)), "cut": data[:-1], "flipped head": flipped[0]}
        file.write_bytes(damaged.get(damage, flipped[1]))
    assert cache.plans(KEY) == []
    # What is not recognised as the cache's own is left where it is until its place is needed.
    assert bool(files(cache)) == (damage in ("directory", "link", "flipped head"))
    cache.add_plan(KEY, "a plan")
    assert cache.plans(KEY) == ["a plan"]
    assert [path.read_bytes() for path in files(cache)] == [data]
    if damage == "link":
        assert (tmp_path / "elsewhere").read_bytes() == data


def test_a_disk_that_takes_nothing_is_borne(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    for module, function in (("builtins", "open"), ("os", "chmod"), ("os", "replace")):
        with monkeypatch.context() as patch:
            patch.setattr(f"{module}.{function}", full)
            cache.add_plan(KEY, "a plan")
        assert cache.plans(KEY) == []
        assert not list(Path(cache.root).glob(".stage-*"))


def test_plans_count_against_the_cap_and_the_oldest_go(cache: Cache) -> None:
    for i in range(10):
        cache.add_plan(f"{i:032x}", str(i) * 1000)
        (file,) = (f for f in files(cache) if f.name.startswith(f"{i:032x}"))
        stamp = time.time() - 86400 * (10 - i)
        os.utime(file, (stamp, stamp))
    result = sweep(cache.root, 5000)
    size = files(cache)[0].stat().st_size
    assert size < 1100 and result.bytes == 10 * size and result.removed_bytes == 6 * size and result.removed_units == 0
    left = sorted(EntryName.parse(f.name).key for f in files(cache))  # type: ignore[union-attr]
    assert left == [f"{i:032x}" for i in range(6, 10)]


def test_the_command_knows_them(cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    cache.add_plan(KEY, "x" * 2048)
    cache.add_plan("f" * 32, "y" * 2048)
    where = ["--root", cache.root]
    assert main([*where, "list"]) == 0
    assert "0 units and 2 plans of functions, 4.1 kB of 1.0 GB" in capsys.readouterr().out
    files(cache)[0].chmod(0o600)
    files(cache)[0].write_bytes(files(cache)[0].read_bytes() + b"damage")
    assert main([*where, "verify"]) == 1
    assert "1 entries are right, 1 wrong" in capsys.readouterr().out
    assert main([*where, "clear"]) == 0
    assert files(cache) == []


def test_pre_filled_caches_have_plans_too(cache: Cache, tmp_path: Path) -> None:
    cache.add_plan(KEY, "from there")
    other = Cache(CacheSettings(root=str(tmp_path / "other"), readonly=(cache.root,)))
    assert other.plans(KEY) == ["from there"]
    other.add_plan(KEY, "from here")
    assert sorted(other.plans(KEY)) == ["from here", "from there"] and cache.plans(KEY) == ["from there"]
